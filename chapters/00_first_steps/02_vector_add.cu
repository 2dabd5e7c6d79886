// c = a + b on the GPU: allocate, copy, launch, check, free.
//
//   nvcc 02_vector_add.cu -o vector_add
//   ./vector_add --n 1000000

#include <cstdio>
#include <cstdlib>
#include <cstring>
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

/// c[i] = a[i] + b[i] for i < n. Launch at least n threads in all; those beyond n do nothing.
__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

/// Reads `--n N` from the command line. A bad value is one line and exit code 2.
int read_n(int argc, char** argv) {
  const int most = 1 << 28;  // three arrays of 1 GiB
  if (argc == 1) return 1000000;
  const bool named = argc == 3 && std::strcmp(argv[1], "--n") == 0;
  char* end = nullptr;
  const long long n = named ? std::strtoll(argv[2], &end, 10) : 0;
  if (named && *end == '\0' && n >= 1 && n <= most) return static_cast<int>(n);
  std::fprintf(stderr, "02_vector_add: bad argument '%s'; usage: 02_vector_add [--n N], 1 to %d\n",
               argv[argc - 1], most);
  std::exit(2);
}

int main(int argc, char** argv) {
  const int n = read_n(argc, argv);
  int gpus = 0;
  CHECK(cudaGetDeviceCount(&gpus));  // without a GPU the program ends here

  // 1. The inputs, in host memory. Small whole numbers: their sums are exact in float.
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) {
    a[i] = static_cast<float>(i % 1000);
    b[i] = static_cast<float>(i % 777);
  }

  // 2. Three arrays in device memory. The host must not follow these pointers.
  const std::size_t bytes = n * sizeof(float);
  float *device_a = nullptr, *device_b = nullptr, *device_c = nullptr;
  CHECK(cudaMalloc(&device_a, bytes));
  CHECK(cudaMalloc(&device_b, bytes));
  CHECK(cudaMalloc(&device_c, bytes));
  CHECK(cudaMemset(device_c, 0xff, bytes));  // all NaN: an element that nobody writes is seen

  // 3. Copy the inputs over: destination first, as in memcpy.
  CHECK(cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice));

  // 4. Launch one thread per element. Rounding the blocks up covers the last elements.
  const int threads = 256;
  const int blocks = (n + threads - 1) / threads;
  add<<<blocks, threads>>>(device_a, device_b, device_c, n);
  CHECK(cudaGetLastError());       // was the launch accepted?
  CHECK(cudaDeviceSynchronize());  // did the kernel run to its end?

  // 5. Copy the result back, free what was allocated.
  CHECK(cudaMemcpy(c.data(), device_c, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device_a));
  CHECK(cudaFree(device_b));
  CHECK(cudaFree(device_c));

  // 6. Verify every element on the host.
  for (int i = 0; i < n; ++i) {
    if (c[i] != a[i] + b[i]) {
      std::printf("FAILED: c[%d] is %g, should be %g\n", i, c[i], a[i] + b[i]);
      return 1;
    }
  }
  std::printf("n = %d: %d blocks of %d threads, every sum is right\n", n, blocks, threads);
  return 0;
}
