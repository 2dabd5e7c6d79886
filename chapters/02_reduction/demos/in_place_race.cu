// A pass that writes its sums into the array that it reads: right by luck.
//
// A thread overwrites what another has yet to read, and nothing orders the two. The luck may hold
// for years.
//
//   nvcc in_place_race.cu -o race
//   ./race

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <utility>
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

#ifdef SIMT  // the CPU backend checks each access, which takes time
constexpr bool on_gpu = false;
#else
constexpr bool on_gpu = true;
#endif

constexpr int block_size = 256;

/// out[i] = in[2 i] + in[2 i + 1] for i < pairs: version 01. Right while out is not in. With out ==
/// in, thread 2 i writes the entry that thread i reads.
__global__ void add_pairs(const float* in, float* out, int pairs) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  if (i < pairs) out[i] = in[2 * i] + in[2 * i + 1];
}

/// a[i] += a[i + stride] for every i, as a textbook has it: thread i + stride changes what thread i
/// reads.
__global__ void add_neighbours(float* a, int n, int stride) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  if (i + stride < n) a[i] += a[i + stride];
}

int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

/// Each sums the n floats of `a` and returns where the sum stands. `other`: n / 2 floats.
float* two_arrays(float* a, float* other, int n) {
  for (; n > 1; n /= 2) {
    add_pairs<<<blocks_for(n / 2), block_size>>>(a, other, n / 2);
    std::swap(a, other);
  }
  return a;
}
float* in_place(float* a, float*, int n) {
  for (; n > 1; n /= 2) add_pairs<<<blocks_for(n / 2), block_size>>>(a, a, n / 2);
  return a;
}
float* in_place_neighbours(float* a, float*, int n) {
  for (int stride = 1; stride < n; stride *= 2) {
    add_neighbours<<<blocks_for(n), block_size>>>(a, n, stride);
  }
  return a;
}

struct Method {
  const char* name;
  float* (*sum)(float* a, float* other, int n);
};
const Method ways[] = {
    {"pairs, two arrays", two_arrays},
    {"pairs, in place", in_place},
    {"neighbours, in place", in_place_neighbours},
};

/// Zeros and ones: every partial sum is below 2^24, so exact in float in any order.
std::vector<float> make_input(int n) {
  std::vector<float> values(n);
  unsigned state = 1;
  for (float& value : values) value = static_cast<float>((state = state * 1664525u + 1u) >> 31);
  return values;
}

/// How many of `runs` sums of n floats are not exactly `expected`.
int count_wrong(const Method& way, const float* device_in, int n, int runs, float expected) {
  float *device_a = nullptr, *device_other = nullptr;
  CHECK(cudaMalloc(&device_a, n * sizeof(float)));
  CHECK(cudaMalloc(&device_other, n / 2 * sizeof(float)));
  int wrong = 0;
  for (int run = 0; run < runs; ++run) {
    CHECK(cudaMemcpy(device_a, device_in, n * sizeof(float), cudaMemcpyDeviceToDevice));
    const float* where = way.sum(device_a, device_other, n);
    CHECK(cudaGetLastError());
    float sum = 0;
    CHECK(cudaMemcpy(&sum, where, sizeof(float), cudaMemcpyDeviceToHost));
    wrong += sum != expected;
  }
  CHECK(cudaFree(device_a));
  CHECK(cudaFree(device_other));
  return wrong;
}

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "in_place_race: bad argument '%s'; usage: in_place_race\n", argv[1]);
    return 2;
  }
  int gpus = 0;
  CHECK(cudaGetDeviceCount(&gpus));  // without a GPU the program ends here

  const int runs = on_gpu ? 200 : 3;
  const std::vector<int> sizes = on_gpu ? std::vector<int>{1 << 10, 1 << 16, 1 << 20, 1 << 24}
                                        : std::vector<int>{1 << 10, 1 << 12};
  const std::vector<float> in = make_input(sizes.back());
  float* device_in = nullptr;
  CHECK(cudaMalloc(&device_in, in.size() * sizeof(float)));
  CHECK(cudaMemcpy(device_in, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice));

  std::printf("%-22s %10s  wrong of %d runs\n", "pass", "floats", runs);
  int wrong_without_race = 0, wrong_with_race = 0;
  for (const Method& way : ways) {
    for (const int n : sizes) {
      const float expected = std::accumulate(in.begin(), in.begin() + n, 0.0f);
      const int wrong = count_wrong(way, device_in, n, runs, expected);
      std::printf("%-22s %10d  %d\n", way.name, n, wrong);
      (way.sum == two_arrays ? wrong_without_race : wrong_with_race) += wrong;
    }
  }
  CHECK(cudaFree(device_in));
  std::printf(wrong_with_race ? "in place: wrong in %d runs, and never promised to be right\n"
                              : "in place: wrong in %d runs this time; that proves nothing\n",
              wrong_with_race);
  std::printf(
      "the CPU backend sees the race in any run; with SIMT_ORDER=reverse the sums are wrong, too\n"
      "compute-sanitizer's racecheck does not: it looks at shared memory, and this is global\n");
  return wrong_without_race ? 1 : 0;
}
