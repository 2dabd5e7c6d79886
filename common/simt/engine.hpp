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

/// Threads that meet at a barrier: a block, a cluster or a grid.
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
  Context context;  ///< while it has no thread
  char* stack = nullptr;
};

/// One CUDA thread. What a switch touches comes first, in one cache line.
struct alignas(64) Thread {
  enum State : std::uint8_t { fresh, ready, at_meeting, at_warp_call, done };
  State state = fresh;
  std::uint8_t lane = 0, warp = 0;
  bool at_cluster = false;  ///< arrived at the cluster's barrier and has not waited yet
  std::uint16_t rank = 0;
  bool has_copies = false;   ///< asynchronous ones, see below
  bool unsettled = false;    ///< something is known only at its next step: settle()
  std::uint32_t ticket = 0;  ///< at_meeting: the phase that must end
  ProgramCounter site = 0;   ///< where it waits
  uint3 index = {0, 0, 0};
  Meeting* meeting = nullptr;
  Block* block = nullptr;
  const volatile void* acquires = nullptr;  ///< a volatile load whose acquire() is still to come
  Context context;                          ///< while it waits

  ProgramCounter acquires_at = 0;  ///< where that load is
  std::vector<Loaded> loaded;      ///< strong loads since its last fence that acquired nothing
  std::vector<Suspect> suspects;
  struct Load {
    std::uintptr_t address = 0;
    ProgramCounter pc = 0;
  };
  Load last_load;          ///< plain
  Load volatile_loads[4];  ///< by place
  Turns turns;
  ProxyFence proxy_fence;
  std::uint64_t result = 0;     ///< of its last warp call
  const char* calls = "";       ///< the warp function it waits in
  std::uint64_t tested_at = 0;  ///< the progress + 1 at which a memory barrier kept it waiting
  bool exposed = false;         ///< does a task whose reads an arrival has not covered
  bool in_loop = false;         ///< its atomic is one that GPUs do by compare-and-swap
  bool has_groups = false;      ///< of bulk copies; perhaps nobody has waited for the last
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
  std::vector<std::vector<Task>> tasks;  ///< groups of what later() was given; the last is open

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

/// A lane's place while its events are matched with those of the other lanes.
struct LaneCursor {
  std::size_t next = 0;
  std::uint32_t path = 0;            ///< hash of the calls it is in
  std::vector<std::uint32_t> calls;  ///< the hashes to go back to
};

struct Warp {
  std::uint32_t all = 0, live = 0;
  Thread* lanes[32] = {};
  std::vector<OpenCall> calls;
  /// Block time up to which all lanes know all lanes; and, after calls of some lanes, which knows
  /// which.
  std::uint32_t known = 0;
  std::unique_ptr<std::uint32_t[]> lane_knows;
  Known acquired;  ///< what it knows of the block by strong loads
  LaneCursor cursors[32];
  std::uint64_t words = 0;   ///< its requests to memory, each times the 4-byte words of a lane
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
  std::uint64_t engine_read = 0;  ///< bytes of global memory, by bulk copies
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
  // time, for the race checks: moves on with everything that orders threads of this block
  std::uint32_t time = 1, barrier_time = 0;
  std::uint32_t before_cluster = 0;  ///< barrier_time without the last barrier of its cluster
  KnownBlocks knows;                 ///< other blocks, by strong loads
  bool knows_all = false;  ///< too many to keep apart: no race with other blocks is reported
  std::vector<EarlyLoad> early_loads;
  std::vector<ProgramCounter> polls;  ///< volatile loads that a thread did twice at one address
  std::shared_ptr<BlockTrace> trace;  ///< null unless its requests are kept for drawing
};

/// Blocks that are alive at once on one OS thread.
struct Gang {
  Grid* grid = nullptr;
  Worker* worker = nullptr;
  std::vector<std::unique_ptr<Block>> blocks;
  std::vector<std::unique_ptr<Meeting>> clusters;
  bool wide = false;  ///< clusters or a cooperative grid: more than one block can meet
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
  std::mutex mutex;     ///< of what follows
  std::string refused;  ///< why CUDA would not have launched it, if a block found out
  std::atomic<bool> any_proxy_fence{false};
  std::uint64_t busiest = 0;  ///< the most words of a warp, if it is counted
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
/// give the engine an instrumented copy of a library's template.
extern __thread Thread* observed_thread __attribute__((tls_model("initial-exec")));

/// Is this a local variable of a CUDA thread?
inline bool is_local(std::uintptr_t address) {
  return address - stacks_low < stacks_high - stacks_low;
}
/// Of a block in its grid, or of a thread in its block.
inline uint3 position(unsigned number, const dim3& shape) {
  return {number % shape.x, number / shape.x % shape.y, number / shape.x / shape.y};
}

// ---- engine.cpp ----

/// Runs the threads of a gang that was made ready, until the last has returned or the launch
/// failed.
void run_threads_of(Gang& gang);
/// After a launch that failed: fibers stopped in the middle start anew.
void drop_fibers(Worker& worker);
/// Leaves the running fiber for good: the launch is over.
[[noreturn]] void abandon(Grid& grid, int cuda_error);
/// The same, after grid.failed was set.
[[noreturn]] void leave_grid();
/// Tells the watchdog that a thread has got somewhere.
void move_on(Gang& gang);
/// Stays runnable, but lets the others of the gang run first.
void step_aside(Thread& thread);
/// The same for a thread that polls; ends the launch if nothing moves.
void give_way(Thread& thread);

// ---- async.cpp ----

/// At the end of a thread: lands its bulk copies that have read their sources; the others it should
/// have waited for.
void end_groups(Thread& thread);

// ---- worker.cpp ----

/// The one of this OS thread while it runs a grid.
extern __thread Worker* current_worker __attribute__((tls_model("initial-exec")));
/// SIMT_THREADS, or as many as the machine has.
unsigned worker_count();
/// Runs job(worker) on up to `wanted` workers; the OS thread that calls is one of them.
void run_on_workers(unsigned wanted, const std::function<void(Worker&)>& job);
/// Set while a worker has not got anywhere for SIMT_TIMEOUT seconds.
extern std::atomic<bool> somebody_is_stuck;
/// Ends the launch with a report if this worker is stuck.
void stop_if_stuck(Thread& thread, ProgramCounter pc);
/// Reports who waits where, and marks the launch as failed.
void report_deadlock(Gang& gang, const std::string& why = "");

// ---- grid.cpp ----

/// The byte of a block's shared memory as the kernel sees it: without the gaps.
std::size_t shared_byte(const Block& block, std::uintptr_t address);
/// What lies around an address of a block's shared memory that no variable has.
std::string describe_shared(const Block& block, std::uintptr_t address);

// ---- check.cpp ----

extern bool checking, counting, several_workers;
void mark_instrumented();
void set_up_checks();
/// copied: by the copy engine, which races like plain accesses, but is seen without a proxy fence.
enum class Strength : std::uint8_t { plain, is_volatile, atomic, copied };
void check_access(Thread& thread, std::uintptr_t address, std::size_t bytes, Access kind,
                  Strength strength, ProgramCounter pc);
/// The thread begins a bulk copy into shared memory: what was read there before must be ordered
/// before that. (Its landing is an access of the thread that waits for it, which may be one of the
/// readers.)
void check_refill(Thread& thread, const void* to, std::size_t bytes, ProgramCounter pc);
/// Counts a copy that the running thread starts (LDGSTS); who waits for it has it checked.
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
/// Finds accesses to such memory by code of the host.
void check_host_access(std::uintptr_t address, std::size_t bytes, Access kind, ProgramCounter pc);
/// A number of the launch that is no other's of those before it that left traces.
std::uint8_t launch_tag(std::uint64_t number);
/// Judges what was only known after the thread's last access.
void settle(Thread& thread);
/// Will the copy that `thread` starts at `pc` see what was written? Reads `bytes`, or writes them.
void check_copy(const Thread& thread, std::uintptr_t address, std::size_t bytes, Access kind,
                ProgramCounter pc);
/// The last thread of a block leaves: may a bulk copy still write to its shared memory?
void check_copies_into(const Block& block);
/// The same of a cluster's block: may another block still use its shared memory?
void check_leaving(const Thread& thread);
/// The same of its barriers.
void check_leaving_barriers(const Thread& thread);
/// The finding. `what`: who did what at `pc`.
void report_leaving(const Block& block, const std::string& what, ProgramCounter pc);
std::string block_name(const Block& block);  ///< "block (1,0,0)"
std::string name_of(const Thread& thread);   ///< "block (1,0,0), thread (32,0,0)"
/// The same, with the kernel where it is another grid's.
std::string name_of(const Grid& grid, std::uint32_t serial, unsigned rank);
std::string place_of(const Block& block, std::uintptr_t address);  ///< "shared memory, byte 12"

// ---- order.cpp ----

/// Has the thread arrived at a barrier of its cluster that is over by now, and not waited for it?
/// Then the barrier tells it nothing.
bool is_over_unawaited(const Thread& thread);
/// The time of the last barrier of its block that the thread knows of.
inline std::uint32_t barrier_time_of(const Thread& thread) {
  const Block& block = *thread.block;
  return thread.at_cluster && is_over_unawaited(thread) ? block.before_cluster : block.barrier_time;
}
void note_barrier(Block& block);
void note_cluster(Gang& gang);
void note_grid(Gang& gang);
void note_warp_call(Block& block, Warp& warp, std::uint32_t mask);

// ---- findings.cpp ----

bool checks_wanted();  ///< SIMT_CHECK
void want_checks(bool on);
bool counts_wanted();  ///< SIMT_COUNT
bool silent();         ///< nobody wants to read of findings
/// Prints the table of counts, if it is wanted, and sees to the exit code.
void report_at_exit();
/// A finding that is known only at the end of the program.
void find_at_exit(const std::string& text);
/// Prints and keeps a finding once for each pair of places.
void find(const char* kind, const std::string& kernel, const std::string& text,
          ProgramCounter first, ProgramCounter second);
void find(const char* kind, Grid& grid, const std::string& text, ProgramCounter first,
          ProgramCounter second);

/// The first launch of the host that nobody has waited for since; serial 0: there is none.
struct Unwaited {
  std::uint32_t serial = 0;
  std::string kernel;
  ProgramCounter caller = 0;
};
Unwaited unwaited();
bool stream_exists(cudaStream_t stream);  ///< host_streams.cpp
void all_waited_for();
/// Has a kernel of this serial, or a later one, written the word at the address last?
bool written_since(std::uintptr_t address, std::uint32_t serial);
bool read_since(std::uintptr_t address, std::uint32_t serial);

// ---- hooks.cpp ----

/// An access at an address that is no multiple of `alignment`: ends the launch.
[[noreturn]] void report_misaligned(Thread& thread, std::size_t alignment, ProgramCounter pc);
/// Does a structure of that many bytes leave byte k free? Copied whole, it need not be written.
bool may_be_padding(std::size_t bytes, std::size_t k);
bool may_be_union(std::size_t bytes);
/// An access by the running thread, if any, of many bytes of unknown alignment.
void observe_range(const void* address, std::size_t bytes, Access kind, const void* return_address);

// ---- count.cpp ----

void record(Thread& thread, const Event& event);
/// Matches the events of a warp's lanes as far as they are known, and counts them.
void match_events(Warp& warp);
void count_barrier(Worker& worker, const Block& block);
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
/// Many at once, for source_line(): much faster than one by one.
void find_source_lines(const std::vector<ProgramCounter>& pcs);

}  // namespace simt
