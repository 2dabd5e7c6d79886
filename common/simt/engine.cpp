// Runs CUDA threads on fibers, and lets them wait for each other.
//
// A worker (worker.cpp) runs one gang of blocks at a time (grid.cpp). A fiber starts CUDA threads
// one after the other and runs each to its end. Only if a thread has to wait does its fiber wait
// with it, and another fiber continues. So a kernel without barriers never switches stacks.
#define SIMT_ENGINE
#include "engine.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "errors.hpp"

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

}  // namespace

inline Thread* Gang::pick() {
  if (live == 0) return nullptr;
  const std::size_t n = order.size() - look_ahead;
  for (std::size_t k = 0; k < n; ++k) {
    Thread* thread = order[cursor];
    // The next ones will be needed soon, and each is in cache lines of its own.
    __builtin_prefetch(order[cursor + look_ahead]);
    prefetch_stack(order[cursor + look_ahead / 2]->context);
    if (++cursor == n) cursor = 0;
    if (thread->runnable()) return thread;
  }
  return nullptr;
}

namespace {

// ---- Fibers ----

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

/// All stacks of a worker are in one range, so that a local variable is recognised by its address.
void know_stacks(const Worker& worker) {
  stacks_low = reinterpret_cast<std::uintptr_t>(worker.stacks);
  stacks_high = stacks_low + most_fibers() * stack_bytes;
}

void add_fibers(Worker& worker) {
  if (worker.stacks == nullptr) {
    worker.stacks = static_cast<char*>(reserve(most_fibers() * stack_bytes));
    know_stacks(worker);
  }
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

// ---- Barriers of blocks, clusters and grids ----

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
    if (&meeting == block.cluster) {
      note_cluster(gang);
    } else {
      note_grid(gang);
    }
    gang.cursor = 0;
  }
  release(gang, meeting);
}

/// Two barriers in the source are one to the hardware, but hardly ever to their author.
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
  if (thread.unsettled) settle(thread);
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
    --meeting.arrived;  // it arrived and ended without waiting
  }
  if (meeting.arrived == 0 || meeting.arrived != meeting.members) return;
  Block& block = *thread.block;
  complete(*block.gang, block, meeting);
}

// ---- Warp functions ----

/// Shuffles and votes synchronize the lanes but do not order memory accesses.
/// True for the warp calls by which tensor cores multiply.
bool is_product(const char* call) {
  return std::strcmp(call, "mma") == 0 || std::strcmp(call, "wmma::mma_sync") == 0;
}

bool orders_memory(const OpenCall& open) {
  return std::strcmp(open.name, "__syncwarp") == 0 || std::strcmp(open.name, "group.sync()") == 0;
}

/// Ends a warp call if every lane that can arrive has arrived.
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
  if (counting && is_product(open.name)) count_product();
  if (orders_memory(open)) note_warp_call(block, warp, call.mask);
  for (unsigned l = 0; l < 32; ++l) {
    if ((call.mask >> l & 1) == 0) continue;
    Thread& thread = *warp.lanes[l];
    thread.result = call.result[l];
    thread.state = Thread::ready;
    if (call.bad_lanes >> l & 1 && checking) {
      char text[120];
      std::snprintf(text, sizeof text, " (lane %u) reads lane %u, which is not in the mask 0x%08x",
                    l, call.asked[l], wanted);
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
  if (thread.has_groups) end_groups(thread);
  if (thread.unsettled) settle(thread);
  Block& block = *thread.block;
  Gang& gang = *block.gang;
  Warp& warp = block.warps[thread.warp];
  thread.state = Thread::done;
  warp.live &= ~(1u << thread.lane);
  --gang.live;
  move_on(gang);
  if (thread.has_copies) {  // its last copies were never waited for
    thread.has_copies = false;
    thread.copies.clear();
    thread.tasks.clear();
  }
  leave(thread, block.meeting);
  const dim3& cluster = block.grid->launch.cluster;
  if (checking && block.meeting.members == 0) {
    check_copies_into(block);
    if (cluster.x * cluster.y * cluster.z > 1) {
      check_leaving(thread);
      check_leaving_barriers(thread);
    }
  }
  if (gang.wide) leave(thread, *block.cluster);  // grid barriers wait for ended threads
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
    worker.idle.push_back(mine);  // the next thread to use it takes it from here
    switch_context(mine->context, next == nullptr ? worker.home : start_or_resume(*next, worker));
  }
}

}  // namespace

void step_aside(Thread& thread) {
  thread.state = Thread::ready;
  let_others_run(thread);
}

void move_on(Gang& gang) {
  std::atomic<std::uint64_t>& progress = gang.worker->progress;
  progress.store(progress.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void abandon(Grid& grid, int cuda_error) {
  if (!grid.failed.exchange(true)) kernel_failed(cuda_error);
  leave_grid();
}

void leave_grid() {
  Context nowhere;
  switch_context(nowhere, current_worker->home);
  __builtin_unreachable();
}

void drop_fibers(Worker& worker) {
  worker.idle.clear();
  for (Fiber& fiber : worker.fibers) {
    reset(fiber);
    worker.idle.push_back(&fiber);
  }
  for (Thread& thread : worker.gang.threads) {
    thread.events.clear();
    thread.copies.clear();
    thread.tasks.clear();
    thread.has_copies = thread.has_groups = false;
  }
  for (const auto& block : worker.gang.blocks) {
    for (Warp& warp : block->warps) {
      for (LaneCursor& cursor : warp.cursors) cursor = {};
    }
  }
}

void run_threads_of(Gang& gang) {
  Worker& worker = *gang.worker;
  if (worker.stacks != nullptr) know_stacks(worker);  // another host thread may have made them
  blockDim = gang.grid->launch.block;
  gridDim = gang.grid->launch.grid;
  while (!gang.grid->failed && gang.live > 0) {
    Thread* next = gang.pick();
    if (next == nullptr) {
      report_deadlock(gang);
      break;
    }
    switch_context(worker.home, start_or_resume(*next, worker));
  }
  current_thread = observed_thread = nullptr;
}

Unobserved::Unobserved() : before_(observed_thread) { observed_thread = nullptr; }
Unobserved::~Unobserved() { observed_thread = static_cast<Thread*>(before_); }

// ---- What kernels call ----

BarrierResult block_barrier(int predicate) {
  Meeting& meeting = current_thread->block->meeting;
  meet(meeting, predicate, counter_of(__builtin_return_address(0)));
  return current_thread->block->meeting.result;
}

void grid_barrier() {
  Thread& thread = *current_thread;
  if (!thread.block->grid->launch.cooperative) {
    fail_kernel("barrier", error_cooperative,
                "calls grid.sync(), but was not launched cooperatively,",
                __builtin_return_address(0));
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
  if (thread.unsettled) settle(thread);
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

void fail_kernel(const char* kind, int cuda_error, const char* what, const void* caller) {
  const Unobserved unobserved;
  Thread& thread = *current_thread;
  const ProgramCounter pc = caller == nullptr ? 0 : counter_of(caller);
  find(kind, *thread.block->grid,
       name_of(thread) + " " + what + (pc == 0 ? "" : " at " + source_line(pc).text()), pc, 0);
  abandon(*thread.block->grid, cuda_error);
}

}  // namespace simt
