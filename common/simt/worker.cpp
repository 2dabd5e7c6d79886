// OS threads that run grids, and the watch over them: kernels that hang, and signals.
#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine.hpp"
#include "errors.hpp"

namespace simt {

__thread Worker* current_worker __attribute__((tls_model("initial-exec")));
std::atomic<bool> somebody_is_stuck{false};

namespace {

/// An empty variable is one that is not set.
unsigned number_from_environment(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return otherwise;
  return static_cast<unsigned>(number_from(name, 1, 1u << 20, otherwise));
}

unsigned timeout_s() {
  static const unsigned seconds = number_from_environment("SIMT_TIMEOUT", 30);
  return seconds;
}

// ---- Kernels that hang ----

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
  unsigned returned = 0;
  for (std::size_t k = 0; k + Gang::look_ahead < gang.order.size(); ++k) {
    const Thread* thread = gang.order[k];
    if (thread->state == Thread::done) {
      ++returned;
      continue;
    }
    const bool runs = thread->runnable();
    std::string what = runs ? "running" : waits_in(*thread);
    if (runs && thread->polls > 0) what = "a loop that looks at memory";
    if (runs && thread->tested_at > 0) what = "a wait on a memory barrier";
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
  if (returned > 0) text += "; " + std::to_string(returned) + " have returned";
  return text;
}

}  // namespace

void stop_if_stuck(Thread& thread, ProgramCounter pc) {
  Gang& gang = *thread.block->gang;
  if (!gang.worker->stuck.exchange(false)) return;
  const Unobserved unobserved;
  thread.state = Thread::ready;
  const std::string where = pc == 0 ? "a loop" : "the loop at " + source_line(pc).text();
  find("spin", *gang.grid,
       name_of(thread) + " has been in " + where + " for " + std::to_string(timeout_s()) +
           " s (SIMT_TIMEOUT) and no thread of its block has moved on: " + who_waits(gang) +
           ". A loop that reads a plain variable may never see it change: a volatile or atomic one "
           "it does. Who holds a lock and meets others at a barrier waits for ever. CUDA does not "
           "promise that all blocks run at the same time; and what the host writes after a launch "
           "comes too late here, where the kernel is over by then",
       0, 0);
  abandon(*gang.grid, error_timeout);
}

void report_deadlock(Gang& gang, const std::string& why) {
  find("deadlock", *gang.grid, "no thread can go on: " + who_waits(gang) + why, 0, 0);
  if (!gang.grid->failed.exchange(true)) kernel_failed(error_timeout);
}

namespace {

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

/// Before a handler leaves for good, by ending the launch.
void let_come_again(int signal_number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal_number);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

/// A structure aligned to 16 bytes is copied by an instruction that requires this alignment. The
/// system gives no address for the fault.
bool is_alignment_fault(const siginfo_t& info) {
#if defined(__x86_64__) && defined(__linux__)
  return info.si_code == SI_KERNEL && info.si_addr == nullptr;
#else
  return info.si_signo == SIGBUS;
#endif
}

/// An access to a guard page below the fibers' stacks, or by a pointer that no check has seen.
void on_segmentation_fault(int, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (Thread* thread = current_thread) {
    const bool stack = is_local(address);
    const ProgramCounter pc = checking ? thread->site : interrupted_at(context);
    if (checking && is_alignment_fault(*info)) {
      let_come_again(SIGSEGV);
      report_misaligned(*thread, 16, pc);
    }
    current_thread = observed_thread = nullptr;
    const std::string where = pc == 0 ? "" : " at " + source_line(pc).text();
    find(stack ? "stack" : "bounds", *thread->block->grid,
         name_of(*thread) + where +
             (stack ? ": more than 64 KiB of stack; recursion too deep, or local arrays too large"
                    : ": touched memory that does not exist"),
         0, 0);
    std::_Exit(66);
  }
  signal(SIGSEGV, SIG_DFL);  // not the kernel's: it happens again and ends the program
}

/// A division that C++ leaves undefined; a GPU computes some number instead.
void on_bad_division(int, siginfo_t*, void* context) {
  if (Thread* thread = current_thread) {
    const Unobserved unobserved;
    const ProgramCounter pc = interrupted_at(context);
    const std::string where = pc == 0 ? "" : " at " + source_line(pc).text();
    find("division", *thread->block->grid,
         name_of(*thread) + where +
             " divides an integer by zero, or the smallest integer by -1. A GPU goes on with a "
             "number that means nothing",
         pc, 0);
    let_come_again(SIGFPE);
    abandon(*thread->block->grid, error_launch_failure);
  }
  signal(SIGFPE, SIG_DFL);  // not the kernel's: it happens again and ends the program
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
  action.sa_sigaction = on_bad_division;
  sigaction(SIGFPE, &action, nullptr);
  struct sigaction stuck {};
  stuck.sa_sigaction = on_stuck;
  stuck.sa_flags = SA_SIGINFO | SA_NODEFER;  // the handler is left by switching stacks
  sigaction(SIGUSR2, &stuck, nullptr);
}

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// ---- Workers ----

/// OS threads that wait for grids. The thread that launches works as well.
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

  /// Detects kernels in which no thread makes progress. Code that reads the flag ends itself; an
  /// empty loop does not, so after another second a signal ends it.
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

}  // namespace

unsigned worker_count() { return Pool::get().size(); }

void run_on_workers(unsigned wanted, const std::function<void(Worker&)>& job) {
  Pool::get().run(wanted, job);
}

}  // namespace simt
