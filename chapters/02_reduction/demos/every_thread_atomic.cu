// Atomics to one address: one per thread, one per warp, one per block.
//
// An address takes one atomic after the other, so their number decides.
//
//   nvcc every_thread_atomic.cu -o atomics
//   ./atomics

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
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

#ifdef SIMT  // the CPU backend has no times: it checks and counts
constexpr bool has_times = false;
#else
constexpr bool has_times = true;
#endif

constexpr int block_size = 256;
constexpr int warps = block_size / 32;
constexpr int n = has_times ? 1 << 24 : 1 << 16;  // a multiple of the block
constexpr int blocks = n / block_size;

/// Lane 0 gets the sum of its warp's values; all 32 lanes must call.
__device__ float warp_sum(float x) {
  for (int step = 16; step > 0; step /= 2) x += __shfl_down_sync(0xffffffffu, x, step);
  return x;
}

/// Thread 0 gets the sum of its block's values; all threads must call.
__device__ float block_sum(float x) {
  __shared__ float s[warps];
  const unsigned t = threadIdx.x;
  x = warp_sum(x);
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  return t < 32 ? warp_sum(t < warps ? s[t] : 0.0f) : 0.0f;
}

/// *sum += in[i], each thread by itself.
__global__ void add_threads(const float* in, float* sum) {
  atomicAdd(sum, in[blockIdx.x * block_size + threadIdx.x]);
}

/// The lanes of a warp add up their elements first.
__global__ void add_warps(const float* in, float* sum) {
  const float x = warp_sum(in[blockIdx.x * block_size + threadIdx.x]);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, x);
}

/// The threads of a block add up their elements first.
__global__ void add_blocks(const float* in, float* sum) {
  const float x = block_sum(in[blockIdx.x * block_size + threadIdx.x]);
  if (threadIdx.x == 0) atomicAdd(sum, x);
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
  void (*launch)(const float* in, float* sum);
  int atomics;
};
const Method ways[] = {
    {"thread", [](const float* in, float* sum) { add_threads<<<blocks, block_size>>>(in, sum); },
     n},
    {"warp", [](const float* in, float* sum) { add_warps<<<blocks, block_size>>>(in, sum); },
     n / 32},
    {"block", [](const float* in, float* sum) { add_blocks<<<blocks, block_size>>>(in, sum); },
     blocks},
};

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "every_thread_atomic: bad argument '%s'; usage: every_thread_atomic\n",
                 argv[1]);
    return 2;
  }
  int gpus = 0;
  CHECK(cudaGetDeviceCount(&gpus));  // without a GPU the program ends here

  const std::vector<float> in = make_input(n);
  const float expected = std::accumulate(in.begin(), in.end(), 0.0f);
  float *device_in = nullptr, *device_sum = nullptr;
  CHECK(cudaMalloc(&device_in, n * sizeof(float)));
  CHECK(cudaMalloc(&device_sum, sizeof(float)));
  CHECK(cudaMemcpy(device_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice));

  std::printf("the sum of %d floats, added to one address\n", n);
  std::printf("%-14s %10s %12s  %s\n", "one atomic per", "atomics", "time", "result");
  bool right = true;
  for (const Method& way : ways) {
    CHECK(cudaMemset(device_sum, 0, sizeof(float)));
    way.launch(device_in, device_sum);
    CHECK(cudaGetLastError());
    float sum = 0;
    CHECK(cudaMemcpy(&sum, device_sum, sizeof(float), cudaMemcpyDeviceToHost));
    right = right && sum == expected;
    const char* result = sum == expected ? "right" : "WRONG";
    if (!has_times) {
      std::printf("%-14s %10d %12s  %s\n", way.name, way.atomics, "-", result);
      continue;
    }
    const float time = microseconds([&] {
      way.launch(device_in, device_sum);
      CHECK(cudaGetLastError());
    });
    std::printf("%-14s %10d %9.1f us  %s\n", way.name, way.atomics, time, result);
  }
  if (!has_times) {
    std::puts("no times without a GPU, and none of these is recorded yet.");
    std::puts("compare the numbers of atomics; one per block is version 09 (atomic per block),");
    std::puts("recorded on an H200: see the lesson");
  }
  CHECK(cudaFree(device_in));
  CHECK(cudaFree(device_sum));
  return right ? 0 : 1;
}
