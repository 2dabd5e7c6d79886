// Hello from the GPU: a kernel prints from every thread of its launch.
//
//   nvcc 01_hello.cu -o hello
//   ./hello              waits for the GPU, so its lines appear
//   ./hello --no-sync    leaves at once, so they do not

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

/// A kernel: code that runs on the GPU, once in each thread of a launch.
__global__ void hello() {
  printf("device: hello from block %u of %u, thread %u of %u\n", blockIdx.x, gridDim.x, threadIdx.x,
         blockDim.x);
}

int main(int argc, char** argv) {
  const bool no_sync = argc == 2 && std::strcmp(argv[1], "--no-sync") == 0;
  if (argc > 1 && !no_sync) {
    std::fprintf(stderr, "01_hello: bad argument '%s'; usage: 01_hello [--no-sync]\n",
                 argv[argc - 1]);
    return 2;
  }
  int gpus = 0;
  CHECK(cudaGetDeviceCount(&gpus));  // without a GPU the program ends here

  std::printf("host:   launching 2 blocks of 4 threads\n");
  hello<<<2, 4>>>();
  CHECK(cudaGetLastError());  // a launch returns nothing, so ask whether it was accepted
  std::printf("host:   the launch has returned; nobody has waited for the GPU yet\n");

  if (no_sync) {
    std::printf("host:   leaving without waiting\n");
    std::fflush(stdout);
    std::_Exit(0);  // ends the process now: no clean-up, and nobody fetches what the GPU printed
  }

  CHECK(cudaDeviceSynchronize());  // waits for the kernel, and shows what it printed
  std::printf("host:   the GPU has finished\n");
  return 0;
}
