// What dynamic parallelism has: levels, waiting launches, memory for them.
//
// A kernel launches itself until it is refused; a thread launches kernels that cannot start until
// it is refused. Both say what cudaGetLastError() told the thread that was refused: nobody else
// hears of it.
//
//   nvcc -rdc=true limits.cu -o limits
//   ./limits

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

/// What the kernels find: how far they came, and the error of the launch that was refused.
struct Found {
  int levels, waiting, level_error, waiting_error;
};

/// Launches itself. One thread.
__global__ void go_deeper(Found* found, int level) {
  found->levels = level;
  go_deeper<<<1, 1>>>(found, level + 1);
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) found->level_error = error;
}

__global__ void do_nothing() {}

/// Launches kernels that start when it has ended: they can only wait. One thread.
__global__ void fill_the_queue(Found* found) {
  for (int launched = 0; launched < 1 << 20; ++launched) {
    do_nothing<<<1, 1, 0, cudaStreamTailLaunch>>>();
    const cudaError_t error = cudaGetLastError();
    found->waiting = launched;
    found->waiting_error = error;
    if (error != cudaSuccess) return;
  }
}

/// Megabytes of the GPU's memory that are free.
double free_megabytes() {
  std::size_t free = 0, all = 0;
  CHECK(cudaMemGetInfo(&free, &all));
  return static_cast<double>(free) / (1 << 20);
}

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "limits: bad argument '%s'; usage: limits\n", argv[1]);
    return 2;
  }
  int gpus = 0;
  CHECK(cudaGetDeviceCount(&gpus));  // without a GPU the program ends here
  Found* device = nullptr;
  Found found{};
  CHECK(cudaMalloc(&device, sizeof found));
  CHECK(cudaMemset(device, 0, sizeof found));
  const double at_first = free_megabytes();
  go_deeper<<<1, 1>>>(device, 0);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  fill_the_queue<<<1, 1>>>(device);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(&found, device, sizeof found, cudaMemcpyDeviceToHost));
  std::printf("deepest kernel: level %d (the host's is 0); the next launch: %s\n", found.levels,
              cudaGetErrorName(static_cast<cudaError_t>(found.level_error)));
  std::printf("launches that wait: %d; the next one: %s\n", found.waiting,
              cudaGetErrorName(static_cast<cudaError_t>(found.waiting_error)));
  const double used = free_megabytes();
  std::size_t most = 0;
  CHECK(cudaDeviceGetLimit(&most, cudaLimitDevRuntimePendingLaunchCount));
  CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 16 * most));
  fill_the_queue<<<1, 1>>>(device);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(&found, device, sizeof found, cudaMemcpyDeviceToHost));
  std::printf("with a limit of %zu: %d wait\n", 16 * most, found.waiting);
#ifndef SIMT  // the CPU backend's memory is the computer's
  std::printf("memory taken for it: %.1f MB, then %.1f MB more\n", at_first - used,
              used - free_megabytes());
#else
  (void)at_first, (void)used;
#endif
  CHECK(cudaFree(device));
  return 0;
}
