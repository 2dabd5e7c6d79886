#pragma once
/// \file
/// Grids, blocks, warps and threads as the engine, the checks and the counters share them.

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "context.hpp"
#include "memory.hpp"
#include "order.hpp"
#include "simt.hpp"

namespace simt {

struct Block;
struct Gang;
struct Grid;
struct Worker;
struct BlockTrace;
struct LaunchTrace;

/// Threads that synchronize at a barrier: a block, a cluster or a grid.
struct Meeting {
  unsigned members = 0;  ///< threads that have not returned
  unsigned arrived = 0, votes = 0;
  std::uint32_t phase = 0;
  BarrierResult result = {0, 0};
  ProgramCounter site = 0;  ///< where the first of this phase arrived
};

/// One thing that a thread did, for the counters (count.cpp).
struct Event {
  enum Kind : std::uint8_t { basic_block, enter, leave, load, store, atomic, atomic_loop };
  ProgramCounter pc;
  Kind kind;
  bool shared;
  std::uint16_t bytes;
  std::uintptr_t address;
};

struct Fiber {
  Context context;  ///< saved while it has no thread
  char* stack = nullptr;
};

/// One CUDA thread. The members that a switch accesses come first, in one cache line.
struct alignas(64) Thread {
  enum State : std::uint8_t { fresh, ready, at_meeting, at_warp_call, done };
  State state = fresh;
  std::uint8_t lane = 0, warp = 0;
  bool at_cluster = false;  ///< arrived at the cluster's barrier and has not waited yet
  std::uint16_t rank = 0;
  bool has_copies = false;   ///< asynchronous copies, see below
  bool unsettled = false;    ///< its last access is judged at its next step: settle()
  std::uint32_t ticket = 0;  ///< at_meeting: the phase that must end
  ProgramCounter site = 0;   ///< where it waits
  uint3 index = {0, 0, 0};
  Meeting* meeting = nullptr;
  Block* block = nullptr;
  const volatile void* acquires = nullptr;  ///< a volatile load whose acquire() is still to come
  Context context;                          ///< saved while it waits

  ProgramCounter acquires_at = 0;  ///< where that load is
  std::vector<Loaded> loaded;      ///< strong loads without an acquire since its last fence
  std::vector<Suspect> suspects;
  struct Load {
    std::uintptr_t address = 0;
    ProgramCounter pc = 0;
  };
  Load last_load;          ///< plain
  Load volatile_loads[4];  ///< hashed by place
  Turns turns;
  ProxyFence proxy_fence;
  std::uint64_t result = 0;     ///< of its last warp call
  const char* calls = "";       ///< the warp function it waits in
  std::uint64_t tested_at = 0;  ///< the progress + 1 at which a memory barrier kept it waiting
  bool exposed = false;         ///< runs a task that began before an arrival
  bool in_loop = false;         ///< GPUs do its atomic by compare-and-swap
  bool has_groups = false;      ///< of bulk copies; the last may still be in flight
  std::uint32_t cluster_ticket = 0;
  unsigned polls = 0;
  std::uint32_t fenced = 0;        ///< block time of its last fence for all, 0: none
  std::uint32_t block_fenced = 0;  ///< of its last fence for the block
  std::vector<Event> events;
  struct Copy {
    void* to;
    const void* from;
    std::size_t bytes;
  };
  std::vector<std::vector<Copy>> copies;  ///< groups of asynchronous copies; the last is open
  struct Task {
    Later* call;
    void* to;
    std::uint64_t a, b;
    bool exposed = false;  ///< since it began, its thread has arrived at a barrier
  };
  std::vector<std::vector<Task>> tasks;  ///< groups of calls of later(); the last is open

  bool runnable() const {
    return state <= ready || (state == at_meeting && meeting->phase != ticket);
  }
};

/// Lanes that wait for each other in a warp function.
struct OpenCall {
  std::uint32_t wanted = 0, arrived = 0;  ///< wanted == 0: free
  void (*function)(WarpCall&) = nullptr;
  const char* name = "";
  WarpCall call;
};

/// The position of a lane while its events are matched with those of the other lanes.
struct LaneCursor {
  std::size_t next = 0;
  std::uint32_t path = 0;            ///< hash of the calls it is in
  std::vector<std::uint32_t> calls;  ///< the hashes to go back to
};

struct Warp {
  std::uint32_t all = 0, live = 0;
  Thread* lanes[32] = {};
  std::vector<OpenCall> calls;
  /// Block time up to which all lanes know what all lanes did; after calls of some lanes, which
  /// lane knows of which.
  std::uint32_t known = 0;
  std::unique_ptr<std::uint32_t[]> lane_knows;
  Known acquired;  ///< what it knows of the block by strong loads
  LaneCursor cursors[32];
  std::uint64_t words = 0;   ///< its memory requests, each times the 4-byte words per lane
  std::uintptr_t asked = 0;  ///< the address of the last request, and the place in the code
  ProgramCounter asked_at = 0;
};

struct Block {
  Gang* gang = nullptr;
  Grid* grid = nullptr;
  uint3 index = {0, 0, 0};
  std::uint32_t serial = 0;  ///< unique in the process
  unsigned rank = 0;         ///< in its cluster
  Meeting meeting;           ///< __syncthreads
  Meeting* cluster = nullptr;
  std::uint64_t engine_read = 0;  ///< bytes of global memory that bulk copies read
  std::vector<Warp> warps;
  std::size_t first_in_order = 0;
  // shared memory
  char* memory = nullptr;
  std::size_t used = 0;
  std::size_t padding = 0;  ///< of `used`: gaps that no kernel may touch
  struct Variable {
    const void* key;
    std::size_t offset, bytes, padding;  ///< padding: of all gaps up to here
  };
  std::vector<Variable> variables;
  // Time, for the race checks: everything that orders threads of this block advances it.
  std::uint32_t time = 1, barrier_time = 0;
  std::uint32_t before_cluster = 0;  ///< barrier_time without the last barrier of its cluster
  KnownBlocks knows;                 ///< other blocks, by strong loads
  bool knows_all = false;            ///< too many to distinguish: no race with others is reported
  std::vector<EarlyLoad> early_loads;
  std::vector<ProgramCounter> polls;  ///< volatile loads that a thread repeated at one address
  std::shared_ptr<BlockTrace> trace;  ///< null unless its requests are kept for drawing
};

/// Blocks that are alive at once on one OS thread.
struct Gang {
  Grid* grid = nullptr;
  Worker* worker = nullptr;
  std::vector<std::unique_ptr<Block>> blocks;
  std::vector<std::unique_ptr<Meeting>> clusters;
  bool wide = false;  ///< clusters or a cooperative grid: several blocks synchronize
  std::vector<Thread> threads;
  static constexpr unsigned look_ahead = 8;  ///< threads, for prefetching
  std::vector<Thread*> order;                ///< in which they run; the first few again at the end
  std::size_t cursor = 0;
  unsigned live = 0;
  Meeting meeting;  ///< all of them
  MetBlocks knows;  ///< by the last barrier of all
  MetBlocks knew;   ///< by the one before, if the last one was a cluster's
  std::uint64_t idle_since = 0, idle_tests = 0;  ///< of memory barriers, since that progress + 1

  Thread* pick();
};

struct Counters;
struct Family;
struct Member;

struct Grid {
  Launch launch;
  Body body;
  Family* family = nullptr;  ///< see dynamic.hpp
  Member* member = nullptr;
  Flags* flags = nullptr;                               ///< of the family
  std::atomic<const SharedName*> shared_name{nullptr};  ///< that its kernel used last
  unsigned blocks = 0, threads = 0;
  std::size_t shared_most = 0;  ///< bytes of a block, dynamic and not
  std::uint32_t first_serial = 0;
  std::uint32_t family_serial = 0;  ///< blocks below it ended before the host's launch
  std::uint64_t number = 0;
  std::uint8_t tag = 0;  ///< launch_tag(number)
  std::atomic<bool> failed{false};
  std::mutex mutex;     ///< guards what follows
  std::string refused;  ///< why CUDA would not have launched it; set by a block
  std::atomic<bool> any_proxy_fence{false};
  std::uint64_t busiest = 0;  ///< the most words of a warp, if counts are on
  std::shared_ptr<LaunchTrace> trace;
};

/// An OS thread that runs gangs.
struct Worker {
  Gang gang;
  char* stacks = nullptr;
  std::deque<Fiber> fibers;
  std::vector<Fiber*> idle;
  Fiber* started = nullptr;  ///< the one that starts now
  Context home;
  std::vector<unsigned> windows;  ///< its windows of shared memory, used in turn
  std::size_t next_window = 0;
  std::shared_ptr<Counters> counters;
  std::atomic<std::uint64_t> progress{0};
  std::atomic<bool> running{false}, stuck{false};
  pthread_t os_thread = {};
};

/// The stacks of the fibers of this OS thread.
extern __thread std::uintptr_t stacks_low __attribute__((tls_model("initial-exec")));
extern __thread std::uintptr_t stacks_high __attribute__((tls_model("initial-exec")));
extern __thread Thread* current_thread __attribute__((tls_model("initial-exec")));
/// The same for the compiler's hooks, or null while the engine works for the thread: the linker may
/// use an instrumented copy of a library's template in the engine.
extern __thread Thread* observed_thread __attribute__((tls_model("initial-exec")));

/// Is this a local variable of a CUDA thread?
inline bool is_local(std::uintptr_t address) {
  return address - stacks_low < stacks_high - stacks_low;
}
/// The position of a block in its grid, or of a thread in its block.
inline uint3 position(unsigned number, const dim3& shape) {
  return {number % shape.x, number / shape.x % shape.y, number / shape.x / shape.y};
}

// ---- engine.cpp ----

/// Runs the threads of a gang that was made ready, until the last has returned or the launch
/// failed.
void run_threads_of(Gang& gang);
/// After a launch that failed: resets fibers that stopped in the middle.
void drop_fibers(Worker& worker);
/// Leaves the running fiber for good: the launch is over.
[[noreturn]] void abandon(Grid& grid, int cuda_error);
/// The same, after grid.failed was set.
[[noreturn]] void leave_grid();
/// Tells the watchdog that a thread has made progress.
void move_on(Gang& gang);
/// Stays runnable, but lets the others of the gang run first.
void step_aside(Thread& thread);
/// The same for a thread that polls; ends the launch if no thread makes progress.
void give_way(Thread& thread);

// ---- async.cpp ----

/// At the end of a thread: lands those of its bulk copies that have read their sources. The others
/// are findings, because the thread should have waited for them.
void end_groups(Thread& thread);

// ---- worker.cpp ----

/// The worker of this OS thread while it runs a grid.
extern __thread Worker* current_worker __attribute__((tls_model("initial-exec")));
/// SIMT_THREADS, or the number of the machine's cores.
unsigned worker_count();
/// Runs job(worker) on up to `wanted` workers; the OS thread that calls is one of them.
void run_on_workers(unsigned wanted, const std::function<void(Worker&)>& job);
/// Set while a worker has made no progress for SIMT_TIMEOUT seconds.
extern std::atomic<bool> somebody_is_stuck;
/// Ends the launch with a report if this worker is stuck.
void stop_if_stuck(Thread& thread, ProgramCounter pc);
/// Reports which threads wait where, and marks the launch as failed.
void report_deadlock(Gang& gang, const std::string& why = "");

// ---- grid.cpp ----

/// The offset of an address in a block's shared memory as the kernel sees it: without the gaps.
std::size_t shared_byte(const Block& block, std::uintptr_t address);
/// The surroundings of an address in a block's shared memory that belongs to no variable.
std::string describe_shared(const Block& block, std::uintptr_t address);

// ---- check.cpp ----

extern bool checking, counting, several_workers;
void mark_instrumented();
void set_up_checks();
/// copied: by the copy engine. It races like plain accesses, but is visible without a proxy fence.
enum class Strength : std::uint8_t { plain, is_volatile, atomic, copied };
void check_access(Thread& thread, std::uintptr_t address, std::size_t bytes, Access kind,
                  Strength strength, ProgramCounter pc);
/// The thread issues a bulk copy into shared memory: earlier reads of that memory must be ordered
/// before it. (The copy lands as an access of the thread that waits for it, which may be one of the
/// readers.)
void check_refill(Thread& thread, const void* to, std::size_t bytes, ProgramCounter pc);
/// Counts a copy that the running thread issues (LDGSTS); the checks follow when a thread waits.
void count_copy(const void* to, const void* from, std::size_t bytes, ProgramCounter pc);
// ---- check_address.cpp ----

const char* does(Access kind);  ///< "reads", "writes", "updates"
/// Ends the launch with a finding ("bounds": or "lifetime", if the memory was freed).
[[noreturn]] void bad_address(const Thread& thread, const char* finding, std::uintptr_t address,
                              std::size_t bytes, Access kind, ProgramCounter pc);
/// An address outside of device memory: constants and the kernel's arguments may be read, memory
/// that the host registered may be used, anything else is the host's.
void check_elsewhere(const Thread& thread, std::uintptr_t address, std::size_t bytes, Access kind,
                     ProgramCounter pc);
/// Does the shared memory there belong to a living block of the thread's cluster?
bool in_my_cluster(const Thread& thread, std::uintptr_t address);
/// Memory that the host reaches by cudaMemcpy() alone: cudaMalloc's, or a variable of the device.
inline bool is_of_device(std::uintptr_t address) {
  return address - ranges.heap < ranges.heap_bytes ||
         address - ranges.variables < ranges.variables_bytes ||
         address - ranges.constants < ranges.constants_bytes;
}
/// Finds host code that accesses such memory.
void check_host_access(std::uintptr_t address, std::size_t bytes, Access kind, ProgramCounter pc);
/// A number for the launch that differs from those of earlier launches that left traces.
std::uint8_t launch_tag(std::uint64_t number);
/// Judges the thread's last access, whose effect was not known at the time.
void settle(Thread& thread);
/// Does the copy that `thread` issues at `pc` see all writes to its source? Reads or writes
/// `bytes`.
void check_copy(const Thread& thread, std::uintptr_t address, std::size_t bytes, Access kind,
                ProgramCounter pc);
/// The last thread of a block ends: may a bulk copy still write to its shared memory?
void check_copies_into(const Block& block);
/// An access of shared memory: no bulk copy into it may have begun without having landed.
void check_under_way(const Thread& thread, std::uintptr_t at, std::size_t bytes, Access kind,
                     ProgramCounter pc);
/// The same for a block of a cluster: may another block still use its shared memory?
void check_leaving(const Thread& thread);
/// The same for its barriers.
void check_leaving_barriers(const Thread& thread);
/// Reports this finding. `what`: which access at `pc`.
void report_leaving(const Block& block, const std::string& what, ProgramCounter pc);
std::string block_name(const Block& block);  ///< "block (1,0,0)"
std::string name_of(const Thread& thread);   ///< "block (1,0,0), thread (32,0,0)"
/// The same, with the kernel if it is another grid's.
std::string name_of(const Grid& grid, std::uint32_t serial, unsigned rank);
std::string place_of(const Block& block, std::uintptr_t address);  ///< "shared memory, byte 12"

// ---- order.cpp ----

/// Has the thread arrived at a barrier of its cluster that has since completed, without waiting for
/// it? Then the barrier orders nothing for the thread.
bool is_over_unawaited(const Thread& thread);
/// The time of the last barrier of its block that the thread knows of.
inline std::uint32_t barrier_time_of(const Thread& thread) {
  const Block& block = *thread.block;
  return thread.at_cluster && is_over_unawaited(thread) ? block.before_cluster : block.barrier_time;
}
/// Each records that the threads of a block, a cluster, a grid or a mask have synchronized.
void note_barrier(Block& block);
void note_cluster(Gang& gang);
void note_grid(Gang& gang);
void note_warp_call(Block& block, Warp& warp, std::uint32_t mask);

// ---- findings.cpp ----

bool checks_wanted();  ///< SIMT_CHECK
void want_checks(bool on);
bool counts_wanted();  ///< SIMT_COUNT
bool silent();         ///< findings are not printed
/// Prints the table of counts, if it is wanted, and sets the exit code.
void report_at_exit();
/// A finding that is known only at the end of the program.
void find_at_exit(const std::string& text);
/// Prints and keeps a finding once for each pair of places.
void find(const char* kind, const std::string& kernel, const std::string& text,
          ProgramCounter first, ProgramCounter second);
void find(const char* kind, Grid& grid, const std::string& text, ProgramCounter first,
          ProgramCounter second);

/// The first launch of the host since the last wait; serial 0: there is none.
struct Unwaited {
  std::uint32_t serial = 0;
  std::string kernel;
  ProgramCounter caller = 0;
};
Unwaited unwaited();
bool stream_exists(cudaStream_t stream);  ///< host_streams.cpp
/// The host has waited for all launches.
void all_waited_for();
/// Was the last write to the word by a kernel of this serial, or a later one?
bool written_since(std::uintptr_t address, std::uint32_t serial);
/// The same for the reads that the word's cell has kept.
bool read_since(std::uintptr_t address, std::uint32_t serial);

// ---- hooks.cpp ----

/// Ends the launch for an access at an address that is no multiple of `alignment`.
[[noreturn]] void report_misaligned(Thread& thread, std::size_t alignment, ProgramCounter pc);
/// Has a structure of that many bytes padding at byte k, which a copy need not have written?
bool may_be_padding(std::size_t bytes, std::size_t k);
/// Is a union of that many bytes known?
bool may_be_union(std::size_t bytes);
/// An access of many bytes of unknown alignment by the running thread, if there is one.
void observe_range(const void* address, std::size_t bytes, Access kind, const void* return_address);

// ---- count.cpp ----

void record(Thread& thread, const Event& event);
/// Matches the events of a warp's lanes as far as they are known, and counts them.
void match_events(Warp& warp);
void count_barrier(Worker& worker, const Block& block);
/// Adds the counters of a worker to the totals of the grid's kernel.
void merge_counters(Worker& worker, Grid& grid);
void count_product();                     ///< of matrices, by a warp on tensor cores
void count_to_host(std::uint64_t bytes);  ///< copied from the device
void count_copied(std::uint64_t bytes);   ///< by asynchronous copies of 4 to 16 bytes
void count_launch(const Grid& grid);

// ---- source_line.cpp ----

struct SourceLine {
  std::string file;
  int line = 0;
  std::string text() const;  ///< "name.cu:12"
};
SourceLine source_line(ProgramCounter pc);
/// Looks up many at once for source_line(): much faster than one by one.
void find_source_lines(const std::vector<ProgramCounter>& pcs);

}  // namespace simt
