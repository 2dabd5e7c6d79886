// The phases of a barrier: tokens, parity, how many it expects, who leaves.
//
// A barrier counts arrivals. With the last one that it expects, a phase ends and the next begins:
// 0, 1, 2, ... The barrier keeps the number's lowest bit, the parity. wait(token) waits for the end
// of the phase in which the token was handed out. wait_parity(p) waits until the current phase is
// not of parity p: the caller keeps count itself, with one bit that it flips.
//
//   a  wait(token)
//   b  wait_parity() with a bit that is flipped after each round
//   c  the wrong parity, before the phase is over: that means the phase before, which is over, so
//      nobody waits
//   d  one arrival expected that never comes: nobody gets on
//   e  arrive_and_drop(): a warp leaves, this phase has its arrival and the next ones do not expect
//      it any more
//   f  the wrong parity again, after the phase is over: that means the next one, and nobody gets on
//
// Expect: a, b and e right; c stale values; d and f hang, which the CPU backend calls a deadlock.
// What the wrong ones do is what this program saw, here and now: c is f if the thread that waits
// comes late (on the CPU backend with SIMT_ORDER=reverse).
//
//   nvcc -O3 phases.cu -o phases
//   ./phases      all six, each in a process of its own, because a kernel that hangs ends with it
//   ./phases c    one of them, a to f

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda/barrier>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#ifdef __CUDACC__
#pragma nv_diag_suppress static_var_with_dynamic_init  // barriers in shared memory: init() does it
#endif

/// Ends the program if a CUDA call failed: one line names the call and its error, or says what this
/// machine lacks. Exit code 3: no usable GPU; 1: any other error.
void check(cudaError_t status, const char* call, int line) {
  if (status == cudaSuccess) return;
  int driver = 0;  // the newest CUDA that the driver supports (13000 is 13.0), 0 without a driver
  cudaDriverGetVersion(&driver);
  if (status == cudaErrorNoDevice) {
    std::fprintf(stderr, "no NVIDIA GPU found: its driver sees none (CUDA_VISIBLE_DEVICES set?)\n");
  } else if (status == cudaErrorInsufficientDriver && driver == 0) {
    std::fprintf(stderr, "no NVIDIA driver found: CUDA needs an NVIDIA GPU and its driver\n");
  } else if (status == cudaErrorInsufficientDriver) {
    std::fprintf(stderr, "NVIDIA driver too old: it serves CUDA %d.%d, not %d.%d; update it\n",
                 driver / 1000, driver % 100 / 10, CUDART_VERSION / 1000,
                 CUDART_VERSION % 100 / 10);
  } else {
    std::fprintf(stderr, "%s:%d: %s failed: %s: %s\n", __FILE__, line, call,
                 cudaGetErrorName(status), cudaGetErrorString(status));
    std::exit(1);
  }
  std::exit(3);
}
#define CHECK(call) check((call), #call, __LINE__)

#ifdef SIMT
constexpr int steps = 4;
#else
constexpr int steps = 2000;  // so that who waits comes long before who writes
#endif

constexpr int warps = 4, block_size = 32 * warps;
constexpr int rounds = 8;

using Barrier = cuda::barrier<cuda::thread_scope_block>;

/// What thread t writes in a round.
__host__ __device__ unsigned value(int round, int t) {
  unsigned x = 1000 * round + t + 1;
  for (int step = 0; step < steps; ++step) x = (x ^ x >> 15) * 0x2c1b3c6du + 1;
  return x;
}

enum Form { by_token, by_parity, wrong_parity, wrong_parity_late };

/// In each round warps 1 to 3 write a value per thread, and warp 0 reads them. All arrive, warp 0
/// alone waits. out[round * block_size + t] = what it read of thread t.
template <Form form>
__global__ void hand_over(int expected, unsigned* out) {
  __shared__ unsigned s[block_size];
  __shared__ Barrier written;
  const int t = threadIdx.x;
  s[t] = 0;
  if (t == 0) init(&written, expected);
  __syncthreads();      // nobody uses a barrier before it is initialised
  bool parity = false;  // of the phase of this round
  for (int round = 0; round < rounds; ++round) {
    if (t >= 32) s[t] = value(round, t);
    [[maybe_unused]] Barrier::arrival_token token = written.arrive();
    if (form == wrong_parity_late) __syncthreads();  // all have arrived: the phase is over
    if (t < 32) {
      if constexpr (form == by_token) {
        written.wait(std::move(token));
      } else {
        written.wait_parity(form == by_parity ? parity : !parity);
      }
      for (int k = t + 32; k < block_size; k += 32) out[round * block_size + k] = s[k];
    }
    parity = !parity;
    __syncthreads();  // s has been read
  }
}

constexpr int leaver = 3, last_round = 3;  // this warp takes part in rounds 0 to 3

/// All threads write, all wait, and each adds what its lane wrote in all warps: those that are
/// still there. out[round * block_size + t] = that sum.
__global__ void leave_early(unsigned* out) {
  __shared__ unsigned s[2][block_size];  // in turns: one barrier a round is enough
  __shared__ Barrier written;
  const int t = threadIdx.x, lane = t % 32;
  if (t == 0) init(&written, block_size);
  __syncthreads();
  for (int round = 0; round < rounds; ++round) {
    if (t / 32 == leaver && round > last_round) {
      written.arrive_and_drop();  // with a mere return the others would wait for ever
      return;
    }
    s[round % 2][t] = value(round, t);
    written.arrive_and_wait();
    unsigned sum = 0;
    for (int w = 0; w < warps; ++w) {
      if (w != leaver || round <= last_round) sum += s[round % 2][32 * w + lane];
    }
    out[round * block_size + t] = sum;
  }
}

/// What thread t's place in `out` must hold; 0 where nobody writes.
unsigned expect_value(int round, int t) { return t < 32 ? 0 : value(round, t); }
unsigned expect_sum(int round, int t) {
  if (t / 32 == leaver && round > last_round) return 0;
  unsigned sum = 0;
  for (int w = 0; w < warps; ++w) {
    if (w != leaver || round <= last_round) sum += value(round, 32 * w + t % 32);
  }
  return sum;
}

struct Part {
  const char* name;
  const char* what;
  void (*launch)(unsigned* out);
  unsigned (*expect)(int round, int t);
  bool allowed;
};
const Part parts[] = {
    {"a", "wait(token)",
     [](unsigned* out) { hand_over<by_token><<<1, block_size>>>(block_size, out); }, expect_value,
     true},
    {"b", "wait_parity(), flipped",
     [](unsigned* out) { hand_over<by_parity><<<1, block_size>>>(block_size, out); }, expect_value,
     true},
    {"c", "the wrong parity",
     [](unsigned* out) { hand_over<wrong_parity><<<1, block_size>>>(block_size, out); },
     expect_value, false},
    {"d", "one too many expected",
     [](unsigned* out) { hand_over<by_token><<<1, block_size>>>(block_size + 1, out); },
     expect_value, false},
    {"e", "arrive_and_drop()", [](unsigned* out) { leave_early<<<1, block_size>>>(out); },
     expect_sum, true},
    {"f", "the wrong parity, late",
     [](unsigned* out) { hand_over<wrong_parity_late><<<1, block_size>>>(block_size, out); },
     expect_value, false},
};

/// Waits for the kernel, but not for ever. \returns cudaErrorNotReady if it is still running after
/// two seconds; it needs much less than one.
cudaError_t wait_two_seconds() {
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + std::chrono::seconds(2);
  cudaError_t status = cudaStreamQuery(nullptr);
  while (status == cudaErrorNotReady && clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    status = cudaStreamQuery(nullptr);
  }
  return status;
}

/// Runs one kernel in this process and says what happened. \returns whether its result was right.
bool try_part(const Part& part) {
  std::vector<unsigned> out(rounds * block_size);
  unsigned* device_out = nullptr;
  CHECK(cudaMalloc(&device_out, out.size() * sizeof(unsigned)));
  CHECK(cudaMemset(device_out, 0, out.size() * sizeof(unsigned)));
  part.launch(device_out);
  CHECK(cudaGetLastError());
  const cudaError_t status = wait_two_seconds();
  std::printf("%s: %-22s  ", part.name, part.what);
  if (status == cudaErrorNotReady) {
    std::printf("still waiting after two seconds: this process ends\n");
    std::fflush(stdout);
    std::_Exit(0);  // no clean-up: cudaFree() would wait for the kernel
  }
  if (status != cudaSuccess) {
    std::printf("no result: %s\n", cudaGetErrorName(status));
    return false;
  }
  CHECK(cudaMemcpy(out.data(), device_out, out.size() * sizeof(unsigned), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device_out));
  int wrong = 0, stale = 0, all = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int t = 0; t < block_size; ++t) {
      const unsigned found = out[round * block_size + t], right = part.expect(round, t);
      all += right != 0;
      wrong += found != right;
      stale += found != right && found == (round > 0 ? part.expect(round - 1, t) : 0);
    }
  }
  if (wrong == 0) {
    std::printf("%d of %d values right%s\n", all, all, part.allowed ? "" : ", this time");
  } else {
    std::printf("WRONG: %d of %d values, %d of them a round old\n", wrong, all, stale);
  }
  return wrong == 0;
}

/// Runs this program again for one part. \returns its exit code; -1 if a signal ended it.
int run_child(char* program, const Part& part) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    std::string name = part.name;
    char* arguments[] = {program, &name[0], nullptr};
    execvp(program, arguments);
    std::_Exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

int main(int argc, char** argv) {
  const std::string wanted = argc == 2 ? argv[1] : "";
  const Part* chosen = nullptr;
  for (const Part& part : parts) {
    if (wanted == part.name) chosen = &part;
  }
  if (argc > 2 || (argc == 2 && !chosen)) {
    std::fprintf(stderr, "phases: bad argument '%s'; usage: phases [a-f]\n", argv[argc - 1]);
    return 2;
  }
  int gpus = 0;
  CHECK(cudaGetDeviceCount(&gpus));  // without a GPU the program ends here

  if (chosen) return try_part(*chosen) || !chosen->allowed ? 0 : 1;

  std::printf("c, d and f are wrong: another GPU, compiler or day may show something else\n");
  const int found = 66;  // a process in which the CPU backend found a mistake
  int code = 0;
  for (const Part& part : parts) {
    const int child = run_child(argv[0], part);
    if (child == found) {
      std::printf("   and the CPU backend says what is wrong with it: see above\n");
      if (code == 0) code = found;
    } else if (child != 0) {
      std::printf("%s: the process failed (%d)\n", part.name, child);
    }
    if (part.allowed && child != 0) code = 1;
  }
  return code;
}
