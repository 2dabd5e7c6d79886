// Runs grids: blocks on OS threads, CUDA threads on fibers.
//
// A worker (OS thread) runs one gang of blocks at a time: one block, or all blocks of a cluster or
// of a cooperative grid. A fiber starts CUDA threads one after the other and runs each straight to
// its end; only when one has to wait does its fiber wait with it, and another fiber goes on. So a
// kernel without barriers never switches stacks.
#define SIMT_ENGINE
#include "engine.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>
#include <thread>

#include "errors.hpp"
#include "report.hpp"

__thread uint3 threadIdx __attribute__((tls_model("initial-exec")));
__thread uint3 blockIdx __attribute__((tls_model("initial-exec")));
__thread dim3 blockDim __attribute__((tls_model("initial-exec")));
__thread dim3 gridDim __attribute__((tls_model("initial-exec")));

namespace simt {

__thread std::uintptr_t stacks_low __attribute__((tls_model("initial-exec")));
__thread std::uintptr_t stacks_high __attribute__((tls_model("initial-exec")));
__thread Thread* current_thread __attribute__((tls_model("initial-exec")));
__thread Thread* observed_thread __attribute__((tls_model("initial-exec")));

namespace {

constexpr std::size_t stack_bytes = 68 << 10;  // 64 KiB and a guard page
constexpr unsigned fibers_per_slab = 64;
constexpr unsigned look_ahead = 8;      // threads, for prefetching
constexpr unsigned largest_depth = 24;  // of nested launches, as CUDA has it
constexpr int error_invalid_value = 1, error_invalid_configuration = 9, error_timeout = 702,
              error_illegal_address = 700, error_cooperative = 720, error_pending_launches = 69;

// ---- SIMT_ORDER ----

struct Order {
  enum { forward, reverse, random } kind = forward;
  std::uint64_t seed = 0;
  std::string text = "forward";
};

Order read_order() {
  Order order;
  const char* asked = std::getenv("SIMT_ORDER");
  if (asked == nullptr || *asked == '\0') return order;
  order.text = asked;
  char* end = nullptr;
  if (order.text == "forward") return order;
  if (order.text == "reverse") {
    order.kind = Order::reverse;
    return order;
  }
  if (order.text.rfind("random:", 0) == 0 && order.text.size() > 7) {
    order.kind = Order::random;
    order.seed = std::strtoull(asked + 7, &end, 10);
    if (*end == '\0') return order;
  }
  std::fprintf(stderr, "simt: SIMT_ORDER is '%s': it can be forward, reverse or random:SEED\n",
               asked);
  std::exit(2);
}

const Order& the_order() {
  static const Order order = read_order();
  return order;
}

/// An empty variable is one that is not set.
unsigned number_from_environment(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return otherwise;
  return static_cast<unsigned>(number_from(name, 1, 1u << 20, otherwise));
}

}  // namespace

inline Thread* Gang::pick() {
  if (live == 0) return nullptr;
  const std::size_t n = order.size() - look_ahead;
  for (std::size_t k = 0; k < n; ++k) {
    Thread* thread = order[cursor];
    // The next ones will be wanted soon, and each lies in lines of its own.
    __builtin_prefetch(order[cursor + look_ahead]);
    prefetch_stack(order[cursor + look_ahead / 2]->context);
    if (++cursor == n) cursor = 0;
    if (thread->runnable()) return thread;
  }
  return nullptr;
}

namespace {

// ---- Fibers ----

thread_local Worker* current_worker = nullptr;

void run_threads();

/// Makes a fiber start anew. Stacks start at different offsets in their pages, five cache lines
/// apart: equal frames would compete for the same sets of the cache, and loads from one stack would
/// wait for stores to the other.
void reset(Fiber& fiber) {
  const std::size_t number = reinterpret_cast<std::uintptr_t>(fiber.stack) / stack_bytes;
  const std::size_t shift = (5 * number % 64 + 1) * 64;
  make_context(fiber.context, fiber.stack, stack_bytes - shift, run_threads);
}

/// The most threads that can be alive at once on a worker: a cooperative grid, or a cluster.
std::size_t most_fibers() {
  const std::size_t grid = std::size_t{limits().sms} * limits().threads_per_sm;
  return std::max<std::size_t>(grid, 16 * 1024) + fibers_per_slab;
}

/// All stacks of a worker lie in one range, so that a local variable is known by its address.
void reserve_stacks(Worker& worker) {
  worker.stacks = static_cast<char*>(reserve(most_fibers() * stack_bytes));
  stacks_low = reinterpret_cast<std::uintptr_t>(worker.stacks);
  stacks_high = stacks_low + most_fibers() * stack_bytes;
}

void add_fibers(Worker& worker) {
  if (worker.stacks == nullptr) reserve_stacks(worker);
  if (worker.fibers.size() + fibers_per_slab > most_fibers()) {
    std::fprintf(stderr, "simt: more than %zu threads alive at once\n", most_fibers());
    std::exit(4);
  }
  const bool guarded = worker.fibers.size() < 4096;  // each guard costs the system a mapping
  for (unsigned k = 0; k < fibers_per_slab; ++k) {
    char* stack = worker.stacks + worker.fibers.size() * stack_bytes;
    Fiber& fiber = worker.fibers.emplace_back();
    fiber.stack = stack;
    if (guarded) mprotect(fiber.stack, 4096, PROT_NONE);
    reset(fiber);
    worker.idle.push_back(&fiber);
  }
}

Fiber* take_fiber(Worker& worker) {
  if (worker.idle.empty()) add_fibers(worker);
  Fiber* fiber = worker.idle.back();
  worker.idle.pop_back();
  return fiber;
}

void become(Thread& thread) {
  current_thread = observed_thread = &thread;
  threadIdx = thread.index;
  blockIdx = thread.block->index;
}

/// Makes `next` the running thread; returns the context to switch to.
inline Context& start_or_resume(Thread& next, Worker& worker) {
  become(next);
  if (next.state != Thread::fresh) {
    next.state = Thread::ready;
    return next.context;
  }
  worker.started = take_fiber(worker);
  return worker.started->context;
}

/// Lets others run until the current thread may go on.
__attribute__((always_inline)) inline void let_others_run(Thread& thread) {
  Gang& gang = *thread.block->gang;
  Thread* next = gang.pick();
  if (next == &thread) {
    thread.state = Thread::ready;
    return;
  }
  Worker& worker = *gang.worker;
  switch_context(thread.context, next == nullptr ? worker.home : start_or_resume(*next, worker));
}

// ---- Meetings: barriers of blocks, clusters and grids ----

void release(Gang& gang, Meeting& meeting) {
  meeting.result = {static_cast<int>(meeting.votes), static_cast<int>(meeting.arrived)};
  meeting.arrived = 0;
  meeting.votes = 0;
  ++meeting.phase;
  move_on(gang);
}

__attribute__((noinline)) void complete(Gang& gang, Block& block, Meeting& meeting) {
  const Unobserved unobserved;
  if (counting) {
    for (Warp& warp : block.warps) match_events(warp);
  }
  if (&meeting == &block.meeting) {
    if (counting) count_barrier(*gang.worker, block);
    note_barrier(block);
    gang.cursor = block.first_in_order;
  } else {
    note_cluster_or_grid(gang);
    gang.cursor = 0;
  }
  release(gang, meeting);
}

/// Two barriers in the source are one to the hardware, but hardly to whoever wrote them.
__attribute__((noinline, cold)) void report_other_barrier(const Thread& thread, ProgramCounter here,
                                                          ProgramCounter there) {
  const Unobserved unobserved;
  const SourceLine first = source_line(there), second = source_line(here);
  if (first.file == second.file && first.line == second.line) return;
  find("barrier", *thread.block->grid,
       name_of(thread) + " is at the barrier at " + second.text() +
           " while other threads of its block are at the one at " + first.text(),
       there, here);
}

inline void arrive(Thread& thread, Meeting& meeting, int predicate, ProgramCounter site) {
  if (meeting.arrived == 0) {
    meeting.site = site;
  } else if (meeting.site != site && checking && &meeting == &thread.block->meeting) {
    report_other_barrier(thread, site, meeting.site);
  }
  meeting.votes += predicate != 0;
  ++meeting.arrived;
}

inline void wait_for(Thread& thread, Meeting& meeting, std::uint32_t phase, ProgramCounter site) {
  thread.state = Thread::at_meeting;
  thread.meeting = &meeting;
  thread.ticket = phase;
  thread.site = site;
}

inline void meet(Meeting& meeting, int predicate, ProgramCounter site) {
  Thread& thread = *current_thread;
  if (thread.acquires != nullptr) settle_acquire(thread);
  wait_for(thread, meeting, meeting.phase, site);
  arrive(thread, meeting, predicate, site);
  if (meeting.arrived == meeting.members) complete(*thread.block->gang, *thread.block, meeting);
  let_others_run(thread);
}

/// After a thread has returned: barriers wait for those that have not, as on compute capability 7.0
/// and later.
void leave(Thread& thread, Meeting& meeting) {
  --meeting.members;
  if (thread.at_cluster && &meeting == thread.block->cluster &&
      thread.cluster_ticket == meeting.phase) {
    --meeting.arrived;  // it arrived and left without waiting
  }
  if (meeting.arrived == 0 || meeting.arrived != meeting.members) return;
  Block& block = *thread.block;
  complete(*block.gang, block, meeting);
}

// ---- Warp functions ----

/// Shuffles and votes bring the lanes together but promise nothing about memory.
bool orders_memory(const OpenCall& open) {
  return std::strcmp(open.name, "__syncwarp") == 0 || std::strcmp(open.name, "group.sync()") == 0;
}

/// Ends a warp call if all lanes that can come have come.
void try_to_complete(Block& block, Warp& warp, OpenCall& open) {
  if (open.wanted == 0 || open.arrived != (open.wanted & warp.live)) return;
  const Unobserved unobserved;
  WarpCall& call = open.call;
  call.mask = open.arrived;
  call.bad_lanes = 0;
  open.function(call);
  const std::uint32_t wanted = open.wanted;
  open.wanted = 0;
  if (counting) match_events(warp);
  if (orders_memory(open)) note_warp_call(block, warp, call.mask);
  for (unsigned l = 0; l < 32; ++l) {
    if ((call.mask >> l & 1) == 0) continue;
    Thread& thread = *warp.lanes[l];
    thread.result = call.result[l];
    thread.state = Thread::ready;
    if (call.bad_lanes >> l & 1 && checking) {
      char text[120];
      std::snprintf(text, sizeof text, " reads from a lane that is not in the mask 0x%08x", wanted);
      find("mask", *block.grid,
           std::string(open.name) + " at " + source_line(thread.site).text() + ": " +
               name_of(thread) + text + " or has returned",
           thread.site, 0);
    }
  }
  move_on(*block.gang);
}

OpenCall& call_for(Thread& thread, Warp& warp, std::uint32_t mask, ProgramCounter site,
                   void (*function)(WarpCall&), const char* name) {
  const Unobserved unobserved;
  OpenCall* empty = nullptr;
  for (OpenCall& open : warp.calls) {
    if (open.wanted == 0) {
      empty = &open;
      continue;
    }
    if (open.wanted == mask && open.function == function && std::strcmp(open.name, name) == 0) {
      return open;
    }
    // Each waits for the other. (Lanes may run ahead of those that a smaller mask holds back.)
    if (checking && (open.wanted >> thread.lane & 1) != 0 && (open.arrived & mask) != 0) {
      char text[200];
      std::snprintf(text, sizeof text,
                    "calls %s with the mask 0x%08x while lanes wait in %s with 0x%08x", name, mask,
                    open.name, open.wanted);
      const Thread& other = *warp.lanes[__builtin_ctz(open.arrived)];
      find("mask", *thread.block->grid,
           name_of(thread) + " at " + source_line(site).text() + " " + text + " at " +
               source_line(other.site).text(),
           site, other.site);
    }
  }
  if (empty == nullptr) {
    warp.calls.emplace_back();
    empty = &warp.calls.back();
  }
  empty->wanted = mask;
  empty->arrived = 0;
  empty->function = function;
  empty->name = name;
  return *empty;
}

// ---- The life of a thread ----

void finish(Thread& thread) {
  observed_thread = nullptr;
  Block& block = *thread.block;
  Gang& gang = *block.gang;
  Warp& warp = block.warps[thread.warp];
  thread.state = Thread::done;
  warp.live &= ~(1u << thread.lane);
  --gang.live;
  move_on(gang);
  if (thread.has_copies) {  // nobody waited for the last ones
    thread.has_copies = false;
    thread.copies.clear();
  }
  leave(thread, block.meeting);
  if (gang.wide) leave(thread, *block.cluster);  // a grid's barrier waits for all, for ever
  for (OpenCall& open : warp.calls) {
    if (open.arrived != 0) try_to_complete(block, warp, open);
  }
  if (warp.live == 0 && counting) match_events(warp);
}

/// What every fiber runs: threads, one after the other.
void run_threads() {
  Worker& worker = *current_worker;
  Fiber* mine = worker.started;
  for (;;) {
    const Body& body = worker.gang.grid->body;
    current_thread->state = Thread::ready;
    body.call(body.arguments);
    finish(*current_thread);
    Thread* next = worker.gang.pick();
    if (next != nullptr && next->state == Thread::fresh) {
      become(*next);
      continue;
    }
    worker.idle.push_back(mine);  // whoever takes it finds it here
    switch_context(mine->context, next == nullptr ? worker.home : start_or_resume(*next, worker));
  }
}

}  // namespace

void step_aside(Thread& thread) {
  thread.state = Thread::ready;
  let_others_run(thread);
}

namespace {

std::string waits_in(const Thread& thread) {
  const Block& block = *thread.block;
  if (thread.state == Thread::at_warp_call) return thread.calls;
  if (thread.meeting == &block.meeting) return "__syncthreads()";
  return thread.meeting == block.cluster ? "cluster.sync()" : "grid.sync()";
}

std::string who_waits(const Gang& gang) {
  struct Place {
    std::string what;
    unsigned threads = 0;
    std::string first;
  };
  std::vector<Place> places;
  for (std::size_t k = 0; k + look_ahead < gang.order.size(); ++k) {
    const Thread* thread = gang.order[k];
    if (thread->state == Thread::done) continue;
    const bool runs = thread->runnable();
    std::string what = runs ? "running" : waits_in(*thread);
    if (runs && thread->polls > 0) what = "polling";
    if (what != "running") what += " at " + source_line(thread->site).text();
    auto place =
        std::find_if(places.begin(), places.end(), [&](const Place& p) { return p.what == what; });
    if (place == places.end()) place = places.insert(places.end(), {what, 0, name_of(*thread)});
    ++place->threads;
  }
  std::string text;
  for (const Place& place : places) {
    text += (text.empty() ? "" : "; ") + std::to_string(place.threads) + " thread(s) in " +
            place.what + ", the first is " + place.first;
  }
  return text;
}

unsigned timeout_s() {
  static const unsigned seconds = number_from_environment("SIMT_TIMEOUT", 30);
  return seconds;
}

}  // namespace

std::atomic<bool> somebody_is_stuck{false};

void move_on(Gang& gang) {
  std::atomic<std::uint64_t>& progress = gang.worker->progress;
  progress.store(progress.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void stop_if_stuck(Thread& thread, ProgramCounter pc) {
  Gang& gang = *thread.block->gang;
  if (!gang.worker->stuck.exchange(false)) return;
  const Unobserved unobserved;
  thread.state = Thread::ready;
  const std::string where = pc == 0 ? "a loop" : "the loop at " + source_line(pc).text();
  find("spin", *gang.grid,
       name_of(thread) + " has been in " + where + " for " + std::to_string(timeout_s()) +
           " s (SIMT_TIMEOUT) and no thread of its block has moved on. CUDA does not promise that "
           "all blocks run at the same time. " +
           who_waits(gang),
       0, 0);
  abandon(*gang.grid, error_timeout);
}

void abandon(Grid& grid, int cuda_error) {
  if (!grid.failed.exchange(true)) kernel_failed(cuda_error);
  Context nowhere;
  switch_context(nowhere, current_worker->home);
  __builtin_unreachable();
}

namespace {

// ---- Gangs ----

void deadlock(Gang& gang) {
  find("deadlock", *gang.grid, "no thread can go on: " + who_waits(gang), 0, 0);
  if (!gang.grid->failed.exchange(true)) kernel_failed(error_timeout);
}

/// Puts the threads of a gang into the order they run in.
void put_in_order(Gang& gang, std::uint64_t salt) {
  const Order& order = the_order();
  gang.order.clear();
  for (const auto& block : gang.blocks) {
    block->first_in_order = gang.order.size();
    for (Warp& warp : block->warps) {
      for (Thread* lane : warp.lanes) {
        if (lane != nullptr) gang.order.push_back(lane);
      }
    }
  }
  if (order.kind == Order::reverse) {
    std::reverse(gang.order.begin(), gang.order.end());
    for (const auto& block : gang.blocks) {
      block->first_in_order = gang.order.size() - block->first_in_order - gang.grid->threads;
    }
  } else if (order.kind == Order::random) {
    std::mt19937_64 random(salt);
    std::shuffle(gang.order.begin(), gang.order.end(), random);
    for (const auto& block : gang.blocks) block->first_in_order = 0;
  }
  gang.cursor = 0;
  for (unsigned k = 0; k < look_ahead; ++k) gang.order.push_back(gang.order[k]);
}

unsigned take_window(Worker& worker, unsigned blocks) {
  static std::atomic<unsigned> next{0};
  const std::size_t wanted = blocks + 8;  // reused late, so that stale pointers are noticed
  while (worker.windows.size() < wanted) {
    const unsigned window = next++;
    if (window >= window_count) {
      std::fprintf(stderr, "simt: more than %u blocks alive at once\n", window_count);
      std::exit(4);
    }
    worker.windows.push_back(window);
  }
  worker.next_window = (worker.next_window + 1) % worker.windows.size();
  return worker.windows[worker.next_window];
}

void open_shared_memory(Worker& worker, Block& block, unsigned blocks) {
  const std::size_t window = take_window(worker, blocks);
  const std::uintptr_t address = ranges.windows + window * window_bytes;
  block.memory = reinterpret_cast<char*>(address);
  block.variables.clear();
  block.used = (block.grid->launch.shared_bytes + 127) / 128 * 128;
  if (checking) std::memset(block.memory, 0xCB, block.grid->launch.shared_bytes);
  set_state(address, block.grid->launch.shared_bytes, true);
}

/// Makes the gang's blocks and threads; false if those of the gang before can stay.
bool set_up(Worker& worker, Grid& grid, unsigned blocks) {
  Gang& gang = worker.gang;
  gang.worker = &worker;
  const bool same_shape = gang.blocks.size() == blocks && gang.grid == &grid;
  gang.grid = &grid;
  if (same_shape) return false;
  gang.blocks.clear();
  if (gang.threads.size() < std::size_t{blocks} * grid.threads) {
    gang.threads = std::vector<Thread>(std::size_t{blocks} * grid.threads);
  }
  const unsigned warps = (grid.threads + 31) / 32;
  const dim3& c = grid.launch.cluster;
  const unsigned cluster_blocks = c.x * c.y * c.z;
  gang.clusters.clear();
  for (unsigned b = 0; b < blocks; ++b) {
    gang.blocks.push_back(std::make_unique<Block>());
    Block& block = *gang.blocks.back();
    block.gang = &gang;
    block.grid = &grid;
    block.rank = b % cluster_blocks;
    if (block.rank == 0) gang.clusters.push_back(std::make_unique<Meeting>());
    block.cluster = gang.clusters.back().get();
    block.warps.resize(warps);
    for (unsigned t = 0; t < grid.threads; ++t) {
      Thread& thread = gang.threads[std::size_t{b} * grid.threads + t];
      thread.block = &block;
      thread.rank = static_cast<std::uint16_t>(t);
      thread.lane = t % 32;
      thread.warp = static_cast<std::uint8_t>(t / 32);
      thread.index = position(t, grid.launch.block);
      block.warps[t / 32].lanes[t % 32] = &thread;
      block.warps[t / 32].all |= 1u << t % 32;
    }
  }
  return true;
}

/// `numbers`: the blocks of the grid that are to run now.
void prepare(Worker& worker, Grid& grid, const unsigned* numbers, unsigned blocks) {
  const bool is_new = set_up(worker, grid, blocks);
  Gang& gang = worker.gang;
  gang.live = blocks * grid.threads;
  gang.wide = grid.launch.cooperative || worker.gang.clusters.size() < blocks;
  gang.meeting = {};
  gang.meeting.members = gang.live;
  gang.knows.clear();
  for (const auto& cluster : gang.clusters) *cluster = {};
  for (unsigned b = 0; b < blocks; ++b) {
    Block& block = *gang.blocks[b];
    block.index = position(numbers[b], grid.launch.grid);
    block.serial = grid.first_serial + numbers[b];
    block.meeting = {};
    block.meeting.members = grid.threads;
    block.cluster->members += grid.threads;
    block.time = 1;
    block.barrier_time = 0;
    block.knows.clear();
    block.knows_all = false;
    open_shared_memory(worker, block, blocks);
    for (Warp& warp : block.warps) {
      warp.live = warp.all;
      warp.known = warp.acquired = 0;
      warp.lane_knows.reset();
      for (OpenCall& open : warp.calls) open.wanted = open.arrived = 0;
      for (Thread* thread : warp.lanes) {
        if (thread == nullptr) break;
        thread->state = Thread::fresh;
        thread->acquires = nullptr;
        thread->at_cluster = false;
        if (checking) thread->fenced = thread->block_fenced = thread->polls = 0;
      }
    }
  }
  if (!is_new && the_order().kind != Order::random) {
    gang.cursor = 0;
    return;
  }
  put_in_order(gang, the_order().seed * 0x9E3779B97F4A7C15u + grid.number * 1000003u + numbers[0]);
}

/// After a launch that failed: fibers stopped in the middle start anew.
void drop_fibers(Worker& worker) {
  worker.idle.clear();
  for (Fiber& fiber : worker.fibers) {
    reset(fiber);
    worker.idle.push_back(&fiber);
  }
  for (Thread& thread : worker.gang.threads) {
    thread.events.clear();
    thread.copies.clear();
    thread.has_copies = false;
  }
  for (const auto& block : worker.gang.blocks) {
    for (Warp& warp : block->warps) {
      for (LaneCursor& cursor : warp.cursors) cursor = {};
    }
  }
}

void close_shared_memory(Gang& gang) {
  for (const auto& block : gang.blocks) {
    set_state(reinterpret_cast<std::uintptr_t>(block->memory), block->used, false);
  }
}

void run_gang(Worker& worker, Grid& grid, const unsigned* numbers, unsigned blocks) {
  prepare(worker, grid, numbers, blocks);
  Gang& gang = worker.gang;
  blockDim = grid.launch.block;
  gridDim = grid.launch.grid;
  while (!grid.failed && gang.live > 0) {
    Thread* next = gang.pick();
    if (next == nullptr) {
      deadlock(gang);
      break;
    }
    switch_context(worker.home, start_or_resume(*next, worker));
  }
  current_thread = observed_thread = nullptr;
  close_shared_memory(gang);
  if (grid.failed) drop_fibers(worker);
}

// ---- Signals ----

/// Where a signal found the program; 0 if this machine does not tell.
ProgramCounter interrupted_at(void* context) {
#if defined(__x86_64__) && defined(__linux__)
  const auto at = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
  return counter_of(reinterpret_cast<void*>(at + 1));
#else
  (void)context;
  return 0;
#endif
}

/// Guard pages below the fibers' stacks, and pointers that no check has seen.
void on_segmentation_fault(int, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (Thread* thread = current_thread) {
    const bool stack = is_local(address);
    const ProgramCounter pc = checking ? thread->site : interrupted_at(context);
    current_thread = observed_thread = nullptr;
    const std::string where = pc == 0 ? "" : " at " + source_line(pc).text();
    find(stack ? "stack" : "bounds", *thread->block->grid,
         name_of(*thread) + where +
             (stack ? ": more than 64 KiB of stack; recursion too deep, or local arrays too large"
                    : ": touched memory that does not exist"),
         0, 0);
    std::_Exit(66);
  }
  signal(SIGSEGV, SIG_DFL);  // not ours: happens again, and ends the program
}

/// From the watchdog, for a kernel that never looks at its flag.
void on_stuck(int, siginfo_t*, void* context) {
  if (Thread* thread = current_thread) stop_if_stuck(*thread, interrupted_at(context));
}

void watch_for_faults() {
  static thread_local bool watched = false;
  if (watched) return;
  watched = true;
  constexpr std::size_t bytes = 64 << 10;
  stack_t alternative{};
  alternative.ss_sp = std::malloc(bytes);
  alternative.ss_size = bytes;
  sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_segmentation_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, nullptr);
  struct sigaction stuck {};
  stuck.sa_sigaction = on_stuck;
  stuck.sa_flags = SA_SIGINFO | SA_NODEFER;  // it leaves the handler by switching stacks
  sigaction(SIGUSR2, &stuck, nullptr);
}

// ---- Workers ----

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// OS threads that wait for grids. The thread that launches works, too.
class Pool {
 public:
  static Pool& get() {
    static Pool* pool = new Pool;  // never destroyed: its threads may outlive main
    return *pool;
  }

  unsigned size() const { return size_; }

  /// Runs job(worker) on up to `wanted` workers.
  void run(unsigned wanted, const std::function<void(Worker&)>& job) {
    const unsigned helpers = std::min(wanted, size_) - 1;
    if (helpers == 0) {
      run_here(*workers_[0], job);
      return;
    }
    start_threads();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      job_ = &job;
      open_ = helpers;
      working_ = helpers;
      ++round_;
    }
    wake_.notify_all();
    run_here(*workers_[0], job);
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [&] { return working_ == 0; });
  }

 private:
  Pool() {
    size_ =
        number_from_environment("SIMT_THREADS", std::max(1u, std::thread::hardware_concurrency()));
    for (unsigned k = 0; k < size_; ++k) workers_.push_back(std::make_unique<Worker>());
    std::thread([this] { watch(); }).detach();
  }

  static void run_here(Worker& worker, const std::function<void(Worker&)>& job) {
    current_worker = &worker;
    worker.os_thread = pthread_self();
    watch_for_faults();
    worker.running = true;
    job(worker);
    worker.running = false;
    current_worker = nullptr;
  }

  /// Notices kernels in which nothing moves. Code that looks at the flag ends itself; an empty loop
  /// does not, so after another second a signal ends it.
  void watch() {
    struct Seen {
      std::uint64_t progress = 0;
      double since = 0;
    };
    std::vector<Seen> seen(size_, {0, now_s()});
    for (;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      const double now = now_s();
      bool any = false;
      for (unsigned k = 0; k < size_; ++k) {
        Worker& worker = *workers_[k];
        const std::uint64_t progress = worker.progress;
        if (!worker.running || progress != seen[k].progress) seen[k] = {progress, now};
        const double stuck_s = now - seen[k].since - timeout_s();
        if (stuck_s < 0) continue;
        worker.stuck = any = true;
        if (stuck_s > 1) {
          pthread_kill(worker.os_thread, SIGUSR2);
          seen[k].since = now;
        }
      }
      somebody_is_stuck = any;
    }
  }

  void start_threads() {
    while (threads_ + 1 < size_) {
      Worker* worker = workers_[++threads_].get();
      std::thread([this, worker] { serve(*worker); }).detach();
    }
  }

  void serve(Worker& worker) {
    for (std::uint64_t seen = 0;;) {
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [&] { return round_ != seen && open_ > 0; });
      seen = round_;
      --open_;
      const auto* job = job_;
      lock.unlock();
      run_here(worker, *job);
      lock.lock();
      if (--working_ == 0) done_.notify_one();
    }
  }

  unsigned size_ = 1, threads_ = 0;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(Worker&)>* job_ = nullptr;
  unsigned open_ = 0, working_ = 0;
  std::uint64_t round_ = 0;
};

// ---- Grids ----

/// 0, or the error with which CUDA refuses the launch.
int refusal(const Launch& l) {
  const auto volume = [](const dim3& d) { return std::uint64_t{d.x} * d.y * d.z; };
  if (l.grid.x == 0 || l.grid.y == 0 || l.grid.z == 0) return error_invalid_configuration;
  if (l.block.x == 0 || l.block.y == 0 || l.block.z == 0) return error_invalid_configuration;
  if (l.block.x > 1024 || l.block.y > 1024 || l.block.z > 64) return error_invalid_configuration;
  if (volume(l.block) > 1024) return error_invalid_configuration;
  if (l.grid.x > 0x7FFFFFFF || l.grid.y > 65535 || l.grid.z > 65535)
    return error_invalid_configuration;
  if (l.shared_bytes > shared_allowed(l.kernel)) return error_invalid_value;
  if (volume(l.cluster) > 16 || volume(l.cluster) == 0) return error_invalid_configuration;
  if (l.grid.x % l.cluster.x != 0 || l.grid.y % l.cluster.y != 0 || l.grid.z % l.cluster.z != 0)
    return error_invalid_configuration;
  return 0;
}

/// The grid's blocks in the order they start: those of a cluster one after the other.
std::vector<unsigned> block_order(const Grid& grid) {
  const dim3 &g = grid.launch.grid, &c = grid.launch.cluster;
  std::vector<unsigned> order;
  order.reserve(grid.blocks);
  for (unsigned z = 0; z < g.z; z += c.z) {
    for (unsigned y = 0; y < g.y; y += c.y) {
      for (unsigned x = 0; x < g.x; x += c.x) {
        for (unsigned k = 0; k < c.x * c.y * c.z; ++k) {
          const uint3 in = position(k, c);
          order.push_back(x + in.x + g.x * (y + in.y + g.y * (z + in.z)));
        }
      }
    }
  }
  return order;
}

void run_blocks(Grid& grid) {
  const unsigned cluster = grid.launch.cluster.x * grid.launch.cluster.y * grid.launch.cluster.z;
  const Order& order = the_order();
  unsigned gang = grid.launch.cooperative ? grid.blocks : cluster;
  if (order.kind == Order::random && !grid.launch.cooperative && cluster == 1) {
    gang = std::min(4u, grid.blocks);  // several blocks at once, mixed
  }
  const unsigned gangs = (grid.blocks + gang - 1) / gang;
  std::vector<unsigned> numbers;  // empty: 0, 1, 2, ...
  if (cluster > 1 || grid.launch.cooperative || order.kind == Order::random) {
    numbers = block_order(grid);
  }
  std::vector<unsigned> gang_order;
  if (order.kind == Order::random) {
    gang_order.resize(gangs);
    std::iota(gang_order.begin(), gang_order.end(), 0u);
    std::mt19937_64 random(order.seed + grid.number);
    if (cluster == 1) std::shuffle(numbers.begin(), numbers.end(), random);
    std::shuffle(gang_order.begin(), gang_order.end(), random);
  }
  std::atomic<unsigned> next{0};
  const std::function<void(Worker&)> work = [&](Worker& worker) {
    for (unsigned k; !grid.failed && (k = next++) < gangs;) {
      if (order.kind == Order::reverse) k = gangs - 1 - k;
      if (!gang_order.empty()) k = gang_order[k];
      const unsigned first = k * gang, count = std::min(gang, grid.blocks - first);
      run_gang(worker, grid, numbers.empty() ? &first : &numbers[first], count);
    }
    worker.gang.grid = nullptr;
    if (counting) merge_counters(worker, grid);
  };
  const bool small = std::uint64_t{grid.blocks} * grid.threads < 1024;
  const unsigned workers = small ? 1 : std::min(gangs, Pool::get().size());
  several_workers = workers > 1;
  Pool::get().run(workers, work);
}

void run_grid(const Launch& launch, Body body, unsigned depth) {
  const int refused = refusal(launch);
  if (refused != 0 || sticky_error() != 0) {
    if (refused != 0) launch_refused(refused);
    body.destroy(body.arguments);
    return;
  }
  static std::atomic<std::uint32_t> next_serial{1};
  static std::atomic<std::uint64_t> next_number{0};
  Grid grid;
  grid.launch = launch;
  grid.body = body;
  grid.depth = depth;
  grid.blocks = launch.grid.x * launch.grid.y * launch.grid.z;
  grid.threads = launch.block.x * launch.block.y * launch.block.z;
  grid.first_serial = next_serial.fetch_add(grid.blocks);
  grid.number = next_number++;
  if (counting) count_launch(grid);
  const int error_before = exchange_last_error(0);  // what kernels do to theirs is not the host's
  run_blocks(grid);
  exchange_last_error(error_before);
  body.destroy(body.arguments);
  // Kernels that this one launched: as late as CUDA allows, when all of its blocks have ended.
  for (Child& child : grid.children) run_grid(child.launch, child.body, depth + 1);
  for (Child& child : grid.tail) run_grid(child.launch, child.body, depth);
}

}  // namespace

Unobserved::Unobserved() : before_(observed_thread) { observed_thread = nullptr; }
Unobserved::~Unobserved() { observed_thread = static_cast<Thread*>(before_); }

void launch_body(const Launch& launch, Body body) {
  if (Thread* thread = current_thread) {
    Grid& grid = *thread->block->grid;
    if (const int refused =
            grid.depth >= largest_depth ? error_pending_launches : refusal(launch)) {
      launch_refused(refused);
      body.destroy(body.arguments);
      return;
    }
    const bool tail = reinterpret_cast<std::uintptr_t>(launch.stream) == 3;  // cudaStreamTailLaunch
    const std::lock_guard<std::mutex> lock(grid.mutex);
    (tail ? grid.tail : grid.children).push_back({launch, body});
    return;
  }
  static std::mutex one_at_a_time;  // host threads take turns
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  set_up_memory();
  set_up_checks();
  run_grid(launch, body, 0);
}

// ---- What kernels call ----

BarrierResult block_barrier(int predicate) {
  Meeting& meeting = current_thread->block->meeting;
  meet(meeting, predicate, counter_of(__builtin_return_address(0)));
  return current_thread->block->meeting.result;
}

void grid_barrier() {
  Thread& thread = *current_thread;
  if (!thread.block->grid->launch.cooperative) {
    fail_kernel(error_cooperative, "grid.sync() in a kernel that was not launched cooperatively");
  }
  meet(thread.block->gang->meeting, 0, counter_of(__builtin_return_address(0)));
}

void cluster_arrive() {
  Thread& thread = *current_thread;
  Meeting& meeting = *thread.block->cluster;
  thread.cluster_ticket = meeting.phase;
  thread.at_cluster = true;
  arrive(thread, meeting, 0, counter_of(__builtin_return_address(0)));
  if (meeting.arrived == meeting.members) complete(*thread.block->gang, *thread.block, meeting);
}

void cluster_wait() {
  Thread& thread = *current_thread;
  thread.at_cluster = false;
  wait_for(thread, *thread.block->cluster, thread.cluster_ticket,
           counter_of(__builtin_return_address(0)));
  let_others_run(thread);
}

void cluster_barrier() {
  meet(*current_thread->block->cluster, 0, counter_of(__builtin_return_address(0)));
}

std::uint64_t warp_call(std::uint32_t mask, std::uint64_t value, int argument, int width,
                        void (*f)(WarpCall&), const char* name) {
  Thread& thread = *current_thread;
  Block& block = *thread.block;
  Warp& warp = block.warps[thread.warp];
  thread.site = counter_of(__builtin_return_address(0));
  if (thread.acquires != nullptr) settle_acquire(thread);
  if ((mask >> thread.lane & 1) == 0) {
    char text[100];
    std::snprintf(text, sizeof text, " calls %s with the mask 0x%08x, which lacks its lane %u at ",
                  name, mask, thread.lane);
    if (checking) {
      find("mask", *block.grid, name_of(thread) + text + source_line(thread.site).text(),
           thread.site, 0);
    }
    mask |= 1u << thread.lane;
  }
  OpenCall& open = call_for(thread, warp, mask, thread.site, f, name);
  const unsigned l = thread.lane;
  open.call.value[l] = value;
  open.call.argument[l] = argument;
  open.call.width[l] = width;
  open.arrived |= 1u << l;
  thread.state = Thread::at_warp_call;
  thread.calls = name;
  try_to_complete(block, warp, open);
  if (thread.state != Thread::ready) let_others_run(thread);
  return thread.result;
}

void give_way(Thread& thread) {
  ++thread.polls;
  if (somebody_is_stuck) stop_if_stuck(thread, thread.site);
  if (thread.polls % 256 == 0) std::this_thread::yield();
  Grid& grid = *thread.block->grid;
  if (grid.failed) abandon(grid, error_timeout);
  step_aside(thread);
}

void yield() {
  Thread* thread = current_thread;
  if (thread == nullptr) return;
  thread->site = counter_of(__builtin_return_address(0));
  give_way(*thread);
}

void poll() {
  Thread* thread = current_thread;
  if (thread != nullptr && ++thread->polls % 32 == 0) give_way(*thread);
}

void* shared_variable(const void* key, std::size_t bytes, std::size_t alignment) {
  Block& block = *current_thread->block;
  for (const Block::Variable& variable : block.variables) {
    if (variable.key == key) return block.memory + variable.offset;
  }
  const std::size_t offset = (block.used + alignment - 1) / alignment * alignment;
  if (offset + bytes > limits().shared_opt_in) {
    fail_kernel(error_invalid_value, "more shared memory than a block has");
  }
  block.variables.push_back({key, offset});
  block.used = offset + (bytes + 3) / 4 * 4;
  if (checking) std::memset(block.memory + offset, 0xCB, bytes);
  set_state(reinterpret_cast<std::uintptr_t>(block.memory + offset), bytes, true);
  return block.memory + offset;
}

void* dynamic_shared_memory() { return current_thread->block->memory; }

void* map_shared(const void* address, unsigned rank) {
  Block& mine = *current_thread->block;
  const std::size_t offset = static_cast<const char*>(address) - mine.memory;
  for (const auto& block : mine.gang->blocks) {
    if (block->cluster == mine.cluster && block->rank == rank) return block->memory + offset;
  }
  fail_kernel(error_illegal_address, "map_shared_rank() of a block that its cluster does not have");
}

unsigned lane() { return current_thread->lane; }
unsigned thread_rank() { return current_thread->rank; }
unsigned live_lanes() { return current_thread->block->warps[current_thread->warp].live; }
unsigned cluster_rank() { return current_thread->block->rank; }
dim3 cluster_shape() { return current_thread->block->grid->launch.cluster; }
unsigned cluster_size() {
  const dim3 shape = cluster_shape();
  return shape.x * shape.y * shape.z;
}
unsigned block_count() { return current_thread->block->grid->blocks; }
bool in_kernel() { return current_thread != nullptr; }

void async_copy(void* to, const void* from, std::size_t bytes) {
  Thread& thread = *current_thread;
  if (thread.copies.empty()) thread.copies.emplace_back();
  thread.has_copies = true;
  thread.copies.back().push_back({to, from, bytes});
}

void async_commit() { current_thread->copies.emplace_back(); }

void async_wait(unsigned pending) {
  Thread& thread = *current_thread;
  auto& groups = thread.copies;
  const std::size_t closed = groups.empty() ? 0 : groups.size() - 1;
  if (closed <= pending) return;
  const std::size_t land = closed - pending;
  for (std::size_t g = 0; g < land; ++g) {
    for (const Thread::Copy& copy : groups[g]) {
      access(copy.from, copy.bytes, Access::load, __builtin_return_address(0));
      access(copy.to, copy.bytes, Access::store, __builtin_return_address(0));
      std::memcpy(copy.to, copy.from, copy.bytes);
    }
  }
  groups.erase(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(land));
}

void fail_kernel(int cuda_error, const char* what) {
  const Unobserved unobserved;
  Thread& thread = *current_thread;
  std::fprintf(stderr, "simt: %s, %s: %s\n", thread.block->grid->launch.kernel,
               name_of(thread).c_str(), what);
  abandon(*thread.block->grid, cuda_error);
}

std::string order() { return the_order().text; }

}  // namespace simt
