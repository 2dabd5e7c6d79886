// A kernel cannot wait for what it launches; its tail launch comes after it.
//
// A parent launches a child that writes 1000 numbers. Then the sum is taken in two ways: by the
// parent itself, which finds what was there before, or something in between; and by a kernel that
// the parent launched into cudaStreamTailLaunch, which starts when the parent and its child are
// done.
//
//   nvcc -rdc=true tail_launch.cu -o tail_launch
//   ./tail_launch

#include <cstdio>
#include <cstdlib>

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

constexpr int n = 1000;

/// data[i] = 1.
__global__ void write_ones(int* data) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = 1;
}

/// *sum = data[0] + ... + data[n - 1]. One thread.
__global__ void add_up(const int* data, int* sum) {
  int all = 0;
  for (int i = 0; i < n; ++i) all += data[i];
  *sum = all;
}

/// Adds up what its child writes, too early: nothing makes the child come first. One thread.
__global__ void parent_reads(int* data, int* sum) {
  write_ones<<<8, 128>>>(data);
  int all = 0;
  for (int i = 0; i < n; ++i) all += data[i];
  *sum = all;
}

/// Leaves that to a tail launch. One thread.
__global__ void tail_reads(int* data, int* sum) {
  add_up<<<1, 1, 0, cudaStreamTailLaunch>>>(data, sum);  // in any order: it comes last
  write_ones<<<8, 128>>>(data);
}

struct Method {
  const char* name;
  void (*kernel)(int* data, int* sum);
  bool is_right;
};

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "tail_launch: bad argument '%s'; usage: tail_launch\n", argv[1]);
    return 2;
  }
  int gpus = 0;
  CHECK(cudaGetDeviceCount(&gpus));  // without a GPU the program ends here
  int* data = nullptr;
  int* device_sum = nullptr;
  CHECK(cudaMalloc(&data, n * sizeof(int)));
  CHECK(cudaMalloc(&device_sum, sizeof(int)));
  const Method ways[] = {{"the parent reads", parent_reads, false},
                         {"a tail launch reads", tail_reads, true}};
  bool right = true;
  std::printf("a child writes %d ones; their sum, when\n", n);
  for (const Method& way : ways) {
    int sum = -1;
    CHECK(cudaMemset(data, 0, n * sizeof(int)));
    way.kernel<<<1, 1>>>(data, device_sum);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&sum, device_sum, sizeof sum, cudaMemcpyDeviceToHost));
    std::printf("  %-22s %4d%s\n", way.name, sum, way.is_right ? "" : "   (undefined: by luck)");
    if (way.is_right) right = right && sum == n;
  }
  CHECK(cudaFree(data));
  CHECK(cudaFree(device_sum));
  return right ? 0 : 1;
}
