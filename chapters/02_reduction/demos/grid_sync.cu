// Both passes in one launch, with a barrier for the whole grid.
//
// A block that waits keeps its place on an SM, so the whole grid must fit on the GPU at once.
//
//   nvcc -O3 grid_sync.cu -o grid_sync
//   ./grid_sync

#include <cooperative_groups.h>

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

/// Lane 0 gets the sum of its warp's values; all 32 lanes must call.
__device__ float warp_sum(float x) {
  for (int step = 16; step > 0; step /= 2) x += __shfl_down_sync(0xffffffffu, x, step);
  return x;
}

/// Thread 0 gets the sum of the elements that this block strides over; all threads must call.
__device__ float block_sum(const float* in, int n, int first_block, int step_blocks) {
  __shared__ float s[warps];
  const int t = threadIdx.x;
  float x = 0;
  for (int i = first_block * block_size + t; i < n; i += step_blocks * block_size) x += in[i];
  x = warp_sum(x);
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  x = t < 32 ? warp_sum(t < warps ? s[t] : 0.0f) : 0.0f;
  __syncthreads();  // s may be used again
  return x;
}

/// out[b] = the sum of what block b strides over: one pass per launch.
__global__ void reduce_pass(const float* in, float* out, int n) {
  const float x = block_sum(in, n, blockIdx.x, gridDim.x);
  if (threadIdx.x == 0) out[blockIdx.x] = x;
}

/// *out = the sum of in: both passes. To be launched by cudaLaunchCooperativeKernel() alone.
__global__ void reduce_once(const float* in, float* partial, float* out, int n) {
  float x = block_sum(in, n, blockIdx.x, gridDim.x);
  if (threadIdx.x == 0) partial[blockIdx.x] = x;
  cg::this_grid().sync();  // all partial sums are written, and seen by all
  if (blockIdx.x > 0) return;
  x = block_sum(partial, gridDim.x, 0, 1);
  if (threadIdx.x == 0) *out = x;
}

float *device_in = nullptr, *device_partial = nullptr, *device_out = nullptr;

cudaError_t launch_once(int blocks, int n) {
  void* arguments[] = {&device_in, &device_partial, &device_out, &n};
  return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(reduce_once), blocks, block_size,
                                     arguments, 0, nullptr);
}

cudaError_t launch_twice(int blocks, int n) {
  reduce_pass<<<blocks, block_size>>>(device_in, device_partial, n);
  reduce_pass<<<1, block_size>>>(device_partial, device_out, blocks);
  return cudaGetLastError();
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

/// A row for each way to sum n elements. \returns whether both sums are right.
bool compare(const std::vector<float>& in, int n, int blocks) {
  const float expected = std::accumulate(in.begin(), in.begin() + n, 0.0f);
  const struct {
    const char* name;
    cudaError_t (*launch)(int blocks, int n);
  } ways[] = {{"two launches", launch_twice}, {"grid.sync()", launch_once}};
  bool right = true;
  for (const auto& way : ways) {
    CHECK(cudaMemset(device_out, 0xff, sizeof(float)));  // NaN
    CHECK(way.launch(blocks, n));
    float sum = 0;
    CHECK(cudaMemcpy(&sum, device_out, sizeof(float), cudaMemcpyDeviceToHost));
    right = right && sum == expected;
    const char* result = sum == expected ? "right" : "WRONG";
    if (has_times) {
      const float time = microseconds([&] { CHECK(way.launch(blocks, n)); });
      std::printf("%10d  %-14s %9.1f us  %s\n", n, way.name, time, result);
    } else {
      std::printf("%10d  %-14s %12s  %s\n", n, way.name, "-", result);
    }
  }
  return right;
}

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "grid_sync: bad argument '%s'; usage: grid_sync\n", argv[1]);
    return 2;
  }
  int gpus = 0;
  CHECK(cudaGetDeviceCount(&gpus));  // without a GPU the program ends here
  int sms = 0, per_sm = 0, cooperative = 0;
  CHECK(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0));
  if (!cooperative) {
    std::fprintf(stderr, "grid_sync: this GPU cannot launch a grid that waits for itself\n");
    return 3;
  }
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, reduce_once, block_size, 0));
  const int resident = sms * per_sm;
  std::printf("%d SMs, %d blocks of %d threads on each: %d blocks run at once\n", sms, per_sm,
              block_size, resident);

  const int small = 1 << 12, large = has_times ? 1 << 24 : 1 << 16;
  const std::vector<float> in = make_input(large);
  CHECK(cudaMalloc(&device_in, large * sizeof(float)));
  CHECK(cudaMalloc(&device_partial, (resident + 1) * sizeof(float)));
  CHECK(cudaMalloc(&device_out, sizeof(float)));
  CHECK(cudaMemcpy(device_in, in.data(), large * sizeof(float), cudaMemcpyHostToDevice));

  std::printf("%10s  %-14s %12s  %s\n", "floats", "passes by", "time", "result");
  bool shown = true;
  for (const int n : {small, large}) shown = compare(in, n, resident) && shown;
  if (!has_times) {
    std::puts("no times without a GPU, and none of these is recorded yet.");
    std::puts("a textbook's, on a V100: more.md, \"Advice ages\"");
  }

  const cudaError_t refused = launch_once(resident + 1, large);
  cudaGetLastError();  // a refused launch does not stick: forget it
  std::printf("one block more, %d: %s: %s\n", resident + 1, cudaGetErrorName(refused),
              cudaGetErrorString(refused));
  shown = shown && refused == cudaErrorCooperativeLaunchTooLarge;

  for (float* array : {device_in, device_partial, device_out}) CHECK(cudaFree(array));
  return shown ? 0 : 1;
}
