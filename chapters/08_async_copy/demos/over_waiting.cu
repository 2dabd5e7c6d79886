// A commit in a branch: more groups of copies, and waits for too many.
//
// Each thread copies for itself: it begins to copy the next element, closes the group (commit), and
// waits until all groups but the last one have landed: __pipeline_wait_prior(1). But groups belong
// to the warp. Lanes that commit together close one group of the warp; if odd and even lanes commit
// in two branches, they close two. "All but the last one" then leaves out half of what was begun
// just now, and waits for the other half: for copies that nobody needs yet (CUDA C++ Programming
// Guide, "Warp Entanglement").
//
// Three kernels: a commit by all lanes; one in each of two branches; and the branches again, but
// with __syncwarp() and one commit behind them. Expect: the same results in all three. Over-waiting
// costs time, not correctness: after the two branches the wait takes about as long as a copy.
//
// What is counted: the sets of lanes (__activemask()) just before each commit, one group for each.
// This is what the guide says, not a counter of the hardware. What is measured, on a GPU: clocks of
// the wait alone; between a copy and the wait that needs it lies work that takes longer than the
// copy.
//
//   nvcc -O3 -arch=native over_waiting.cu -o over_waiting     asynchronous from sm_80 on
//   ./over_waiting

#include <cuda_pipeline.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

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

constexpr int warps = 4, block_size = 32 * warps;
constexpr int rounds = has_times ? 256 : 8;
constexpr int long_work = has_times ? 400 : 2;  // steps, each of which needs the one before

/// Some work on x.
__device__ unsigned work(unsigned x, int steps) {
#pragma unroll 1
  for (int step = 0; step < steps; ++step) x = (x ^ x >> 15) * 0x2c1b3c6du + 1;
  return x;
}
/// Some other work.
__device__ unsigned other_work(unsigned x, int steps) {
#pragma unroll 1
  for (int step = 0; step < steps; ++step) x = (x ^ x << 7) + 0x9e3779b9u;
  return x;
}

/// 1 for one of the lanes that are here together, 0 for the others.
__device__ int count_once(unsigned lanes) {
  return static_cast<int>(threadIdx.x % 32) == __ffs(static_cast<int>(lanes)) - 1;
}

enum Form { together, in_branches, mended };

/// One block. in: rounds + 1 elements per thread; each adds those of its column. groups[t]: its
/// share of the groups that its warp closed in the loop. clocks[t]: of its waits. left[t]: what
/// came of the work, so that it is needed.
template <Form form>
__global__ void add_columns(const int4* in, int* out, int* groups, long long* clocks,
                            unsigned* left) {
  __shared__ int4 s[2][block_size];
  const int t = threadIdx.x;
  unsigned x = t;
  int sum = 0, closed = 0;
  long long waited = 0;
  __pipeline_memcpy_async(&s[0][t], &in[t], sizeof(int4));
  __pipeline_commit();
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    int4* to = &s[(round + 1) % 2][t];
    const int4* from = &in[(round + 1) * block_size + t];
    if constexpr (form == together) {
      x = work(x, 3);
      __pipeline_memcpy_async(to, from, sizeof(int4));
      closed += count_once(__activemask());
      __pipeline_commit();
    } else if constexpr (form == in_branches) {
      if (t % 2) {
        x = work(x, 3);
        __pipeline_memcpy_async(to, from, sizeof(int4));
        closed += count_once(__activemask());
        __pipeline_commit();
      } else {
        x = other_work(x, 4);
        __pipeline_memcpy_async(to, from, sizeof(int4));
        closed += count_once(__activemask());
        __pipeline_commit();
      }
    } else {
      if (t % 2) {
        x = work(x, 3);
        __pipeline_memcpy_async(to, from, sizeof(int4));
      } else {
        x = other_work(x, 4);
        __pipeline_memcpy_async(to, from, sizeof(int4));
      }
      __syncwarp();  // the lanes are together again
      closed += count_once(__activemask());
      __pipeline_commit();
    }
    __syncwarp();  // in all three, all lanes begin to wait together
    const long long start = clock64();
    __pipeline_wait_prior(1);  // the element of this round, begun in the round before
    waited += clock64() - start;
    const int4 four = s[round % 2][t];
    sum += four.x + four.y + four.z + four.w;
    x = work(x, long_work);
  }
  __pipeline_wait_prior(0);  // no copy is on its way when the block ends
  out[t] = sum;
  groups[t] = closed;
  clocks[t] = waited;
  left[t] = x;
}

struct Row {
  const char* name;
  void (*launch)(const int4* in, int* out, int* groups, long long* clocks, unsigned* left);
};
const Row rows[] = {
    {"all lanes together",
     [](const int4* in, int* out, int* groups, long long* clocks, unsigned* left) {
       add_columns<together><<<1, block_size>>>(in, out, groups, clocks, left);
     }},
    {"in two branches",
     [](const int4* in, int* out, int* groups, long long* clocks, unsigned* left) {
       add_columns<in_branches><<<1, block_size>>>(in, out, groups, clocks, left);
     }},
    {"branches, __syncwarp(), one commit",
     [](const int4* in, int* out, int* groups, long long* clocks, unsigned* left) {
       add_columns<mended><<<1, block_size>>>(in, out, groups, clocks, left);
     }},
};

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "over_waiting: bad argument '%s'; usage: over_waiting\n", argv[1]);
    return 2;
  }
  int gpus = 0;
  CHECK(cudaGetDeviceCount(&gpus));  // without a GPU the program ends here

  std::vector<int4> in((rounds + 1) * block_size);
  std::vector<int> expected(block_size), out(block_size), groups(block_size);
  std::vector<long long> clocks(block_size);
  for (int i = 0; i < static_cast<int>(in.size()); ++i) {
    in[i] = make_int4(i % 7, i % 11, i % 13, 1);
    const int4 four = in[i];
    if (i < rounds * block_size) expected[i % block_size] += four.x + four.y + four.z + four.w;
  }
  int4* device_in = nullptr;
  int *device_out = nullptr, *device_groups = nullptr;
  long long* device_clocks = nullptr;
  unsigned* device_left = nullptr;
  CHECK(cudaMalloc(&device_in, in.size() * sizeof(int4)));
  CHECK(cudaMalloc(&device_out, block_size * sizeof(int)));
  CHECK(cudaMalloc(&device_groups, block_size * sizeof(int)));
  CHECK(cudaMalloc(&device_clocks, block_size * sizeof(long long)));
  CHECK(cudaMalloc(&device_left, block_size * sizeof(unsigned)));
  CHECK(cudaMemcpy(device_in, in.data(), in.size() * sizeof(int4), cudaMemcpyHostToDevice));

  std::printf("a warp, a round: groups closed, and clocks of __pipeline_wait_prior(1)\n");
  std::printf("%-36s %6s %12s  %s\n", "commit", "groups", "clocks", "result");
  bool right = true;
  double groups_a_round[3] = {};
  for (int r = 0; r < 3; ++r) {
    long long least = 0;
    bool right_here = true;
    for (int run = 0; run < (has_times ? 5 : 1); ++run) {  // the first one loads the code
      CHECK(cudaMemset(device_out, 0, block_size * sizeof(int)));
      rows[r].launch(device_in, device_out, device_groups, device_clocks, device_left);
      CHECK(cudaGetLastError());
      CHECK(cudaMemcpy(out.data(), device_out, block_size * sizeof(int), cudaMemcpyDeviceToHost));
      CHECK(cudaMemcpy(groups.data(), device_groups, block_size * sizeof(int),
                       cudaMemcpyDeviceToHost));
      CHECK(cudaMemcpy(clocks.data(), device_clocks, block_size * sizeof(long long),
                       cudaMemcpyDeviceToHost));
      right_here = right_here && out == expected;
      int all_groups = 0;
      for (const int count : groups) all_groups += count;
      groups_a_round[r] = static_cast<double>(all_groups) / (warps * rounds);
      const long long longest = *std::max_element(clocks.begin(), clocks.end());
      least = run == 0 ? longest : std::min(least, longest);
    }
    std::printf("%-36s %6.2f ", rows[r].name, groups_a_round[r]);
    if (has_times) std::printf("%12.1f", static_cast<double>(least) / rounds);
    if (!has_times) std::printf("%12s", "-");
    std::printf("  %s\n", right_here ? "right" : "WRONG");
    right = right && right_here;
  }
  if (!has_times) std::puts("no clocks without a GPU, and none of these is recorded yet");
  CHECK(cudaFree(device_in));
  CHECK(cudaFree(device_out));
  CHECK(cudaFree(device_groups));
  CHECK(cudaFree(device_clocks));
  CHECK(cudaFree(device_left));
  const bool shown = groups_a_round[in_branches] > groups_a_round[mended];
  if (!right) std::fprintf(stderr, "over_waiting: a sum is wrong\n");
  if (!shown) std::fprintf(stderr, "over_waiting: the lanes did not part in the branches\n");
  return right && shown ? 0 : 1;
}
