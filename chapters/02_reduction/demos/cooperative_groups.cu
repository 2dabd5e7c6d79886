// The tree of version 07, by hand and with cooperative groups.
//
// A group is an object that names who takes part; it knows its lanes, its size and how to wait.
//
//   nvcc -O3 cooperative_groups.cu -o groups
//   ./groups

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace cg = cooperative_groups;

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

#ifdef SIMT  // the CPU backend has no times: it checks and counts
constexpr bool has_times = false;
#else
constexpr bool has_times = true;
#endif

constexpr int block_size = 256;
constexpr int warps = block_size / 32;
constexpr int n = has_times ? 1 << 24 : 1 << 16;
constexpr int blocks = has_times ? 1 << 10 : 1 << 4;

/// Lane 0 gets the sum of its warp's values; all 32 lanes must call.
__device__ float warp_sum(float x) {
  for (int step = 16; step > 0; step /= 2) x += __shfl_down_sync(0xffffffffu, x, step);
  return x;
}

/// out[b] = the sum of the elements that block b strides over: warps, masks and lanes by hand.
__global__ void reduce_by_hand(const float* in, float* out) {
  __shared__ float s[warps];
  const unsigned t = threadIdx.x;
  float x = 0;
  for (int i = blockIdx.x * block_size + t; i < n; i += gridDim.x * block_size) x += in[i];
  x = warp_sum(x);
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  if (t >= 32) return;
  x = warp_sum(t < warps ? s[t] : 0.0f);
  if (t == 0) out[blockIdx.x] = x;
}

/// The same with groups. A tile knows its lanes, so there is no mask to get wrong, and reduce()
/// picks the instructions. Every lane of the tile gets the sum.
__global__ void reduce_by_groups(const float* in, float* out) {
  __shared__ float s[warps];
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  float x = 0;
  for (int i = blockIdx.x * block_size + block.thread_rank(); i < n; i += gridDim.x * block_size)
    x += in[i];
  x = cg::reduce(warp, x, cg::plus<float>());
  if (warp.thread_rank() == 0) s[warp.meta_group_rank()] = x;
  block.sync();
  if (warp.meta_group_rank() > 0) return;
  x = cg::reduce(warp, warp.thread_rank() < warps ? s[warp.thread_rank()] : 0.0f,
                 cg::plus<float>());
  if (block.thread_rank() == 0) out[blockIdx.x] = x;
}

/// Microseconds of launch(): the median of eleven, after two to warm up.
template <class Launch>
float microseconds(Launch launch) {
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  std::vector<float> times;
  for (int run = -2; run < 11; ++run) {
    CHECK(cudaEventRecord(start));
    launch();
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    if (run >= 0) times.push_back(milliseconds * 1e3f);
  }
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  std::nth_element(times.begin(), times.begin() + 5, times.end());
  return times[5];
}

/// Zeros and ones: every partial sum is below 2^24, so exact in float in any order.
std::vector<float> make_input(int n) {
  std::vector<float> values(n);
  unsigned state = 1;
  for (float& value : values) value = static_cast<float>((state = state * 1664525u + 1u) >> 31);
  return values;
}

struct Method {
  const char* name;
  void (*launch)(const float* in, float* out);
};
const Method ways[] = {
    {"by hand",
     [](const float* in, float* out) { reduce_by_hand<<<blocks, block_size>>>(in, out); }},
    {"groups",
     [](const float* in, float* out) { reduce_by_groups<<<blocks, block_size>>>(in, out); }},
};

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "cooperative_groups: bad argument '%s'; usage: cooperative_groups\n",
                 argv[1]);
    return 2;
  }
  int gpus = 0;
  CHECK(cudaGetDeviceCount(&gpus));  // without a GPU the program ends here

  const std::vector<float> in = make_input(n);
  const float expected = std::accumulate(in.begin(), in.end(), 0.0f);
  std::vector<float> out(blocks);
  float *device_in = nullptr, *device_out = nullptr;
  CHECK(cudaMalloc(&device_in, n * sizeof(float)));
  CHECK(cudaMalloc(&device_out, blocks * sizeof(float)));
  CHECK(cudaMemcpy(device_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice));

  std::printf("%d floats to %d sums, blocks of %d threads\n", n, blocks, block_size);
  std::printf("%-10s %12s  %s\n", "written", "time", "result");
  bool right = true;
  for (const Method& way : ways) {
    CHECK(cudaMemset(device_out, 0xff, blocks * sizeof(float)));  // all NaN
    way.launch(device_in, device_out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out.data(), device_out, blocks * sizeof(float), cudaMemcpyDeviceToHost));
    const bool same = std::accumulate(out.begin(), out.end(), 0.0f) == expected;
    right = right && same;
    const char* result = same ? "right" : "WRONG";
    if (!has_times) {
      std::printf("%-10s %12s  %s\n", way.name, "-", result);
      continue;
    }
    const float time = microseconds([&] {
      way.launch(device_in, device_out);
      CHECK(cudaGetLastError());
    });
    std::printf("%-10s %9.1f us  %s\n", way.name, time, result);
  }
  if (!has_times) {
    std::puts("no times without a GPU, and none of these is recorded yet.");
    std::puts("both ask the same of the memory; to see it, from the top of the course:");
    std::puts("./chapters/run chapters/02_reduction/demos/cooperative_groups.cu --model");
  }
  CHECK(cudaFree(device_in));
  CHECK(cudaFree(device_out));
  return right ? 0 : 1;
}
