// A barrier in two halves: arrive, do something else, wait.
//
// In each round every thread writes a value, all meet, and every thread reads its neighbour's. The
// warps have unequal work before they meet: one has none, the last one seven portions. And every
// thread has four portions that need nothing of the others. __syncthreads() is both halves at once:
// these four come before or after. cuda::barrier lets a thread arrive, do them, and wait then.
//
// Expect: nothing to win if the same warp is the last in every round, since it does all of its work
// in any case, one thing after the other. Where the last one changes, its four portions overlap
// with the next round of the others. Who arrives and reads without having waited reads what the
// neighbour wrote two rounds before, or not: that is a race.
//
//   nvcc -O3 split_barrier.cu -o split_barrier
//   ./split_barrier
//   compute-sanitizer --tool racecheck ./split_barrier     looks for races in shared memory

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda/barrier>
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

#ifdef SIMT  // the CPU backend has no times: it checks
constexpr bool has_times = false;
#else
constexpr bool has_times = true;
#endif

constexpr int warps = 8, block_size = 32 * warps;
constexpr int rounds = has_times ? 256 : 4;
constexpr int portion = has_times ? 64 : 2;  // steps; each needs the one before
constexpr int independent = 4;               // portions that need nothing of the others

using Barrier = cuda::barrier<cuda::thread_scope_block>;

/// `portions` of work on x.
__host__ __device__ unsigned work(unsigned x, int portions) {
  for (int step = 0; step < portions * portion; ++step) x = (x ^ x >> 15) * 0x2c1b3c6du + 1;
  return x;
}

/// What a warp does before all meet. in_turn: in each round another one is the last.
__host__ __device__ int portions_before(int warp, int round, bool in_turn) {
  return in_turn ? (warp + round) % warps : warp;
}

/// The thread whose value thread t reads: of the next warp.
__host__ __device__ int neighbour_of(int t) { return (t + 32) % block_size; }

enum Form { whole, halves, read_too_early };

/// One block. out[t] = what came of thread t's work; *clocks = those of all rounds.
template <Form form>
__global__ void exchange(bool in_turn, unsigned* out, long long* clocks) {
  __shared__ unsigned s[2][block_size];  // in turns: one barrier a round is enough
  __shared__ Barrier written;
  const int t = threadIdx.x;
  s[0][t] = s[1][t] = 0;
  if (t == 0) init(&written, block_size);
  __syncthreads();  // nobody uses a barrier before it is initialised
  unsigned x = t, y = t;
  const long long start = clock64();
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    unsigned* values = s[round % 2];
    x = work(x, portions_before(t / 32, round, in_turn));
    values[t] = x;
    if constexpr (form == whole) {
      __syncthreads();
      y = work(y, independent);
      x ^= values[neighbour_of(t)];
    } else if constexpr (form == halves) {
      Barrier::arrival_token token = written.arrive();
      y = work(y, independent);
      written.wait(std::move(token));
      x ^= values[neighbour_of(t)];
    } else {
      Barrier::arrival_token token = written.arrive();
      x ^= values[neighbour_of(t)];  // wrong: the neighbour may not have arrived
      y = work(y, independent);
      written.wait(std::move(token));  // so that at least the phases stay in step
    }
  }
  __syncthreads();
  if (t == 0) *clocks = clock64() - start;
  out[t] = x ^ y;
}

/// The same on the host.
std::vector<unsigned> compute(bool in_turn) {
  std::vector<unsigned> x(block_size), y(block_size), values(block_size);
  for (int t = 0; t < block_size; ++t) x[t] = y[t] = t;
  for (int round = 0; round < rounds; ++round) {
    for (int t = 0; t < block_size; ++t) {
      values[t] = work(x[t], portions_before(t / 32, round, in_turn));
      y[t] = work(y[t], independent);
    }
    for (int t = 0; t < block_size; ++t) x[t] = values[t] ^ values[neighbour_of(t)];
  }
  for (int t = 0; t < block_size; ++t) x[t] ^= y[t];
  return x;
}

struct Row {
  bool in_turn;
  const char* barrier;
  void (*launch)(bool in_turn, unsigned* out, long long* clocks);
  bool allowed;
};
void launch_whole(bool in_turn, unsigned* out, long long* clocks) {
  exchange<whole><<<1, block_size>>>(in_turn, out, clocks);
}
void launch_halves(bool in_turn, unsigned* out, long long* clocks) {
  exchange<halves><<<1, block_size>>>(in_turn, out, clocks);
}
void launch_too_early(bool in_turn, unsigned* out, long long* clocks) {
  exchange<read_too_early><<<1, block_size>>>(in_turn, out, clocks);
}
const Row rows[] = {
    {false, "__syncthreads()", launch_whole, true},
    {false, "arrive, work, wait", launch_halves, true},
    {true, "__syncthreads()", launch_whole, true},
    {true, "arrive, work, wait", launch_halves, true},
    {true, "arrive, read, wait", launch_too_early, false},
};

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "split_barrier: bad argument '%s'; usage: split_barrier\n", argv[1]);
    return 2;
  }
  int gpus = 0;
  CHECK(cudaGetDeviceCount(&gpus));  // without a GPU the program ends here

  unsigned* device_out = nullptr;
  long long* device_clocks = nullptr;
  CHECK(cudaMalloc(&device_out, block_size * sizeof(unsigned)));
  CHECK(cudaMalloc(&device_clocks, sizeof *device_clocks));
  const std::vector<unsigned> expected[] = {compute(false), compute(true)};
  std::vector<unsigned> out(block_size);

  std::printf("%d warps, %d rounds%s\n", warps, rounds, has_times ? ", the best of 5 runs" : "");
  std::printf("%-18s  %-18s %14s  %s\n", "the last warp", "barrier", "clocks a round", "result");
  int wrong_but_allowed = 0, wrong_by_race = 0;
  for (const Row& row : rows) {
    long long least = 0;
    int most_wrong = 0;
    for (int run = 0; run < (has_times ? 5 : 1); ++run) {  // the first one loads the code
      long long clocks = 0;
      row.launch(row.in_turn, device_out, device_clocks);
      CHECK(cudaGetLastError());
      CHECK(cudaMemcpy(&clocks, device_clocks, sizeof clocks, cudaMemcpyDeviceToHost));
      CHECK(cudaMemcpy(out.data(), device_out, block_size * sizeof(unsigned),
                       cudaMemcpyDeviceToHost));
      int wrong = 0;
      for (int t = 0; t < block_size; ++t) wrong += out[t] != expected[row.in_turn][t];
      most_wrong = std::max(most_wrong, wrong);
      least = run == 0 ? clocks : std::min(least, clocks);
    }
    (row.allowed ? wrong_but_allowed : wrong_by_race) += most_wrong;
    std::printf("%-18s  %-18s ", row.in_turn ? "another each round" : "always the same",
                row.barrier);
    if (has_times) std::printf("%14lld  ", least / rounds);
    if (!has_times) std::printf("%14s  ", "-");
    if (most_wrong == 0) std::printf("right\n");
    if (most_wrong > 0) std::printf("WRONG: %d of %d threads\n", most_wrong, block_size);
  }
  CHECK(cudaFree(device_out));
  CHECK(cudaFree(device_clocks));
  if (!has_times) std::puts("no clocks without a GPU, and none of these is recorded yet");
  std::puts(wrong_by_race ? "reading before the wait: wrong, and never promised to be right"
                          : "reading before the wait: right this time; that proves nothing");
  return wrong_but_allowed ? 1 : 0;
}
