// One kernel, timed in four wrong ways and in the right one.
//
//   nvcc 05_timing.cu -o timing
//   ./timing

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

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

/// Inputs that are not all alike, small whole numbers whose sums are exact in float.
__global__ void fill(float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  a[i] = static_cast<float>(i % 1021);
  b[i] = static_cast<float>(i % 509);
}

/// The kernel to be timed: reads 8 bytes and writes 4 for each element.
__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

/// Counts the elements of c that are not the sum of what fill() wrote.
__global__ void count_wrong(const float* c, int n, int* wrong) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && c[i] != static_cast<float>(i % 1021 + i % 509)) atomicAdd(wrong, 1);
}

const int threads = 256;
float *device_a = nullptr, *device_b = nullptr, *device_c = nullptr;

int blocks(int n) { return (n + threads - 1) / threads; }

void launch(int n) {
  add<<<blocks(n), threads>>>(device_a, device_b, device_c, n);
  CHECK(cudaGetLastError());
}

/// Seconds by the host's clock around one launch, with or without waiting for the kernel.
double host_seconds(int n, bool wait) {
  const auto start = std::chrono::steady_clock::now();
  launch(n);
  if (wait) CHECK(cudaDeviceSynchronize());
  const auto stop = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(stop - start).count();
}

/// Seconds for each launch by the GPU's clock: events around many, after as many to warm up.
double event_seconds(int n, int launches) {
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  for (int i = 0; i < launches; ++i) launch(n);
  CHECK(cudaEventRecord(start));
  for (int i = 0; i < launches; ++i) launch(n);
  CHECK(cudaEventRecord(stop));
  CHECK(cudaEventSynchronize(stop));
  float milliseconds = 0;
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  return milliseconds / 1e3 / launches;
}

/// How many of the n sums are wrong.
int wrong_sums(int n) {
  int *device_wrong = nullptr, wrong = 0;
  CHECK(cudaMalloc(&device_wrong, sizeof(int)));
  CHECK(cudaMemset(device_wrong, 0, sizeof(int)));
  count_wrong<<<blocks(n), threads>>>(device_c, n, device_wrong);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&wrong, device_wrong, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device_wrong));
  return wrong;
}

/// A row of the table: each element stands for 12 bytes moved.
void print_row(const char* how, int n, double seconds, double right_rate) {
  const double rate = 12.0 * n / seconds / 1e9;
  std::printf("%-34s %7.1f MB %9.1f us %11.1f %9.2f\n", how, 12.0 * n / 1e6, seconds * 1e6, rate,
              rate / right_rate);
}

const int least = 1 << 16, most = 1 << 26;  // at most three arrays of 256 MiB

/// Reads `--n N` from the command line. A bad value is one line and exit code 2.
int read_n(int argc, char** argv) {
  if (argc == 1) return most;
  const bool named = argc == 3 && std::strcmp(argv[1], "--n") == 0;
  char* end = nullptr;
  const long long n = named ? std::strtoll(argv[2], &end, 10) : 0;
  if (named && *end == '\0' && n >= least && n <= most) return static_cast<int>(n);
  std::fprintf(stderr, "05_timing: bad argument '%s'; usage: 05_timing [--n N], %d to %d\n",
               argv[argc - 1], least, most);
  std::exit(2);
}

int main(int argc, char** argv) {
  const int n = read_n(argc, argv);
#ifdef SIMT  // the course's CPU backend, whose times would be the CPU's
  std::fprintf(stderr,
               "05_timing: the CPU backend has nothing to time: it needs a GPU; the lesson has a "
               "recorded table\n");
  return 3;
#endif
  int gpus = 0, l2_bytes = 0;
  CHECK(cudaGetDeviceCount(&gpus));  // without a GPU the program ends here
  CHECK(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0));

  const std::size_t bytes = n * sizeof(float);
  for (float** array : {&device_a, &device_b, &device_c}) {
    CHECK(cudaMalloc(array, bytes));
    CHECK(cudaMemset(*array, 0xff, bytes));  // all NaN: a sum that nobody writes is seen
  }
  CHECK(cudaDeviceSynchronize());
  const double first = host_seconds(n, true);  // the first launch in this process
  fill<<<blocks(n), threads>>>(device_a, device_b, n);
  CHECK(cudaGetLastError());
  const double right = event_seconds(n, 20);
  if (const int wrong = wrong_sums(n)) {
    std::printf("FAILED: %d of %d sums are wrong, so no time is shown\n", wrong, n);
    return 1;
  }
  const int half_l2 = std::min(n, std::max(l2_bytes, 1 << 20) / 2 / 12);  // 12 bytes per element
  const double in_l2 = event_seconds(half_l2, 200);
  const double one_short = host_seconds(least, true);
  const double no_wait = host_seconds(n, false);
  CHECK(cudaDeviceSynchronize());
  for (float* array : {device_a, device_b, device_c}) CHECK(cudaFree(array));

  const double rate = 12.0 * n / right / 1e9;
  std::printf("%-34s %10s %12s %11s %9s\n", "how it was timed", "moved", "time", "GB/s", "x right");
  print_row("wrong 1: no synchronise", n, no_wait, rate);
  print_row("wrong 2: first launch, no warm-up", n, first, rate);
  print_row("wrong 3: data stays in L2", half_l2, in_l2, rate);
  print_row("wrong 4: one short launch", least, one_short, rate);
  print_row("right: events, many, warm, cold L2", n, right, rate);
  if (12.0 * n < 3.0 * l2_bytes) {
    std::printf("note: L2 holds much of this data: the last row is wrong too\n");
  }
  return 0;
}
