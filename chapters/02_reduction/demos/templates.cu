// A block size known to the compiler: % and & become the same machine code.
//
// The loop of the tree is unrolled, and each step's remainder by a constant power of two is a mask.
//
//   nvcc -O3 templates.cu -o templates
//   ./templates

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

constexpr int n = has_times ? 1 << 24 : 1 << 14;
constexpr unsigned the_block_size = 256;
constexpr int blocks = n / the_block_size;

/// Two ways to ask whether t is a multiple of width, a power of two.
struct Remainder {
  static __device__ bool divides(unsigned width, unsigned t) { return t % width == 0; }
};
struct Mask {
  static __device__ bool divides(unsigned width, unsigned t) { return (t & (width - 1)) == 0; }
};

/// out[b] = the sum of block b's elements of in. The block size is a variable: the loop stays.
template <class Multiple>
__global__ void reduce_variable(const float* in, float* out) {
  __shared__ float s[the_block_size];  // the launch takes no larger block
  const unsigned t = threadIdx.x;
  s[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    if (Multiple::divides(2 * stride, t)) s[t] += s[t + stride];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

/// The same with a block size that the compiler knows: it writes out the steps, each with its own
/// constant.
template <class Multiple, unsigned block_size>
__global__ void reduce_constant(const float* in, float* out) {
  __shared__ float s[block_size];
  const unsigned t = threadIdx.x;
  s[t] = in[blockIdx.x * block_size + t];
  __syncthreads();
#pragma unroll
  for (unsigned stride = 1; stride < block_size; stride *= 2) {
    if (Multiple::divides(2 * stride, t)) s[t] += s[t + stride];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
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
  const char* block_size;
  const char* test;
  void (*launch)(const float* in, float* out);
};
const Method ways[] = {
    {"variable", "%",
     [](const float* in, float* out) {
       reduce_variable<Remainder><<<blocks, the_block_size>>>(in, out);
     }},
    {"variable", "&",
     [](const float* in, float* out) {
       reduce_variable<Mask><<<blocks, the_block_size>>>(in, out);
     }},
    {"constant", "%",
     [](const float* in, float* out) {
       reduce_constant<Remainder, the_block_size><<<blocks, the_block_size>>>(in, out);
     }},
    {"constant", "&",
     [](const float* in, float* out) {
       reduce_constant<Mask, the_block_size><<<blocks, the_block_size>>>(in, out);
     }},
};

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "templates: bad argument '%s'; usage: templates\n", argv[1]);
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

  std::printf("%d floats to %d sums, a block of %u threads each\n", n, blocks, the_block_size);
  std::printf("%-11s %-5s %12s  %s\n", "block size", "test", "time", "result");
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
      std::printf("%-11s %-5s %12s  %s\n", way.block_size, way.test, "-", result);
      continue;
    }
    const float time = microseconds([&] {
      way.launch(device_in, device_out);
      CHECK(cudaGetLastError());
    });
    std::printf("%-11s %-5s %9.1f us  %s\n", way.block_size, way.test, time, result);
  }
  if (has_times) {
    std::printf("their machine code: cuobjdump -sass %s\n", argv[0]);
  } else {
    std::puts("no times without a GPU, and none of these is recorded yet.");
    std::puts("% and & with a variable are the trees of versions 02 (shared memory) and");
    std::puts("03 (bit mask), recorded on an H200: see the lesson");
  }
  CHECK(cudaFree(device_in));
  CHECK(cudaFree(device_out));
  return right ? 0 : 1;
}
