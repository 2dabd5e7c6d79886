// Provokes one CUDA error on purpose and shows what each call returned. One process for each error:
// after some of them a process cannot use the GPU any more.
//
//   nvcc 04_errors.cu -o errors
//   ./errors list
//   ./errors late_error

#undef NDEBUG  // where it is defined (release builds), assert() does nothing
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <string>
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

/// Prints what a call returned and hands it on.
cudaError_t show(const char* call, cudaError_t status) {
  std::printf("  %s\n      %s (%d): %s\n", call, cudaGetErrorName(status), static_cast<int>(status),
              cudaGetErrorString(status));
  return status;
}
#define SHOW(call) show(#call, (call))

/// Prints a launch, then does it. ("...": the comma in <<<1, 1>>> would end a parameter.)
#define LAUNCH(...) std::printf("  %s\n", #__VA_ARGS__), __VA_ARGS__

/// Stores one number, wherever it is told to.
__global__ void store(int* data, long long i) { data[i] = 1; }

/// Computes for a while, so that the host is long past the launch, and then stores.
__global__ void compute_then_store(int* data, int rounds) {
  unsigned x = 1;
  for (int round = 0; round < rounds; ++round) x = x * 1664525u + 1013904223u;
  *data = static_cast<int>(x);
}

/// Stops with an error unless i is below n.
__global__ void promise(int i, int n) { assert(i < n); }

cudaError_t bad_configuration() {
  LAUNCH(store<<<1, 2048>>>(nullptr, 0));
  const cudaError_t seen = SHOW(cudaGetLastError());
  SHOW(cudaGetLastError());       // reading the error has cleared it
  SHOW(cudaDeviceSynchronize());  // no kernel ran, so none failed
  return seen;
}

cudaError_t zero_grid() {
  LAUNCH(store<<<100 / 256, 256>>>(nullptr, 0));
  return SHOW(cudaGetLastError());
}

cudaError_t late_error() {
  int host = 0, *innocent = nullptr;
  CHECK(cudaMalloc(&innocent, 4));
  LAUNCH(compute_then_store<<<1, 1>>>(nullptr, 1 << 20));
  SHOW(cudaGetLastError());
  return SHOW(cudaMemcpy(&host, innocent, 4, cudaMemcpyDeviceToHost));
}

cudaError_t out_of_bounds() {
  int* data = nullptr;
  SHOW(cudaMalloc(&data, 256 * sizeof(int)));
  LAUNCH(store<<<1, 1>>>(data, 256));  // one element too far
  SHOW(cudaDeviceSynchronize());
  LAUNCH(store<<<1, 1>>>(data, 1LL << 40));  // 4 TiB too far
  return SHOW(cudaDeviceSynchronize());
}

cudaError_t sticky() {
  int *data = nullptr, *more = nullptr;
  CHECK(cudaMalloc(&data, 4));
  LAUNCH(store<<<1, 2048>>>(data, 0));  // refused: an error that does not stick
  SHOW(cudaGetLastError());
  LAUNCH(store<<<1, 1>>>(data, 0));  // a correct launch
  SHOW(cudaDeviceSynchronize());
  LAUNCH(store<<<1, 1>>>(nullptr, 0));  // crashes: an error that sticks
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaGetLastError());
  SHOW(cudaMalloc(&more, 4));
  LAUNCH(store<<<1, 1>>>(data, 0));  // the correct launch of before
  return SHOW(cudaDeviceSynchronize());
}

cudaError_t bad_device() {
  const cudaError_t seen = SHOW(cudaSetDevice(99));
  SHOW(cudaSetDevice(0));
  return seen;
}

cudaError_t out_of_memory() {
  int *huge = nullptr, *data = nullptr;
  const cudaError_t seen = SHOW(cudaMalloc(&huge, 1ULL << 46));  // 64 TiB
  SHOW(cudaMalloc(&data, 4));
  LAUNCH(store<<<1, 1>>>(data, 0));  // a correct launch
  SHOW(cudaGetLastError());          // nobody read the error of the first call: here it is again
  SHOW(cudaDeviceSynchronize());
  return seen;
}

cudaError_t wrong_kind() {
  int host = 0, *data = nullptr;
  CHECK(cudaMalloc(&data, 4));
  return SHOW(cudaMemcpy(data, &host, 4, cudaMemcpyDeviceToHost));
}

cudaError_t host_pointer() {
  std::vector<int> host(256);
  LAUNCH(store<<<1, 1>>>(host.data(), 0));
  return SHOW(cudaDeviceSynchronize());
}

cudaError_t device_assert() {
  LAUNCH(promise<<<2, 4>>>(5, 5));
  return SHOW(cudaDeviceSynchronize());
}

/// Whether a case went as it should. A refused launch has two names: CUDA 13.0 may say invalid
/// value where other versions say invalid configuration. Your programs: just test != cudaSuccess.
bool is_expected(cudaError_t seen, cudaError_t expected) {
  if (expected == cudaErrorInvalidConfiguration && seen == cudaErrorInvalidValue) return true;
  return seen == expected;
}

struct Case {
  const char* name;
  cudaError_t expected;
  cudaError_t (*provoke)();
  const char *means, *remedy;
};
const Case cases[] = {
    {"bad_configuration", cudaErrorInvalidConfiguration, bad_configuration,
     "a block has at most 1024 threads; the launch was refused",
     "use more blocks; read cudaGetLastError() after each launch"},
    {"zero_grid", cudaErrorInvalidConfiguration, zero_grid,
     "a grid has at least one block; 100 / 256 is 0 in whole numbers",
     "round up, (n + 255) / 256, and launch nothing for n = 0"},
    {"late_error", cudaErrorIllegalAddress, late_error,
     "the kernel crashed after its launch had returned; an innocent copy reports it",
     "suspect the launches before the call named; run with CUDA_LAUNCH_BLOCKING=1"},
    {"launch_blocking", cudaErrorIllegalAddress, late_error,
     "with CUDA_LAUNCH_BLOCKING=1 each launch waits for its kernel: the culprit reports it",
     "find the launch with it, then unset it: it forbids all overlap"},
    {"out_of_bounds", cudaErrorIllegalAddress, out_of_bounds,
     "a GPU notices only addresses that no allocation is near; the CPU backend sees each one",
     "guard with if (i < n); on a GPU compute-sanitizer sees the first one, too"},
    {"sticky", cudaErrorIllegalAddress, sticky,
     "after a crashed kernel every call of the process fails; a refused launch is forgotten",
     "end the process: no CUDA call can repair it"},
    {"bad_device", cudaErrorInvalidDevice, bad_device, "there is no GPU of that number",
     "numbers go from 0 to cudaGetDeviceCount() - 1"},
    {"out_of_memory", cudaErrorMemoryAllocation, out_of_memory,
     "no room on the GPU; left unread, the error was blamed on a correct launch",
     "check each call where it stands; cudaMemGetInfo() says what is free"},
    {"wrong_kind", cudaErrorInvalidValue, wrong_kind,
     "the direction says device to host, but the source is a host pointer",
     "destination, source, then the direction that fits them, or cudaMemcpyDefault"},
    {"host_pointer", cudaErrorIllegalAddress, host_pointer,
     "the GPU cannot follow a pointer from malloc, new or std::vector",
     "cudaMalloc and cudaMemcpy; pointer names that say where they point"},
    {"device_assert", cudaErrorAssert, device_assert,
     "an assert() in a kernel was false; its file, line, block and thread were printed",
     "mend what it names; the error sticks, so this process is over"},
};

int main(int argc, char** argv) {
  const std::string name = argc == 2 ? argv[1] : "";
  const Case* chosen = nullptr;
  for (const Case& one : cases) {
    if (name == one.name) chosen = &one;
    if (name == "list") std::printf("%-18s %s\n", one.name, one.means);
  }
  if (name == "list") return 0;
  if (!chosen) {
    std::fprintf(stderr, "04_errors: bad argument '%s'; usage: 04_errors NAME, or 04_errors list\n",
                 argc > 1 ? argv[argc - 1] : "(none)");
    return 2;
  }
  // Now, because CUDA reads the variable only once, at its first call.
  if (name == "launch_blocking") setenv("CUDA_LAUNCH_BLOCKING", "1", 1);

  int gpus = 0, reads_host_memory = 0;
  CHECK(cudaGetDeviceCount(&gpus));  // without a GPU the program ends here
  CHECK(cudaDeviceGetAttribute(&reads_host_memory, cudaDevAttrPageableMemoryAccess, 0));
  std::printf("%s\n", chosen->name);
  const cudaError_t seen = chosen->provoke();
  std::printf("means: %s\ndo:    %s\n", chosen->means, chosen->remedy);
  if (is_expected(seen, chosen->expected)) return 0;
  if (seen == cudaSuccess && reads_host_memory) {
    std::printf("note:  here the GPU can read all host memory, so nothing failed\n");
    return 0;
  }
  std::printf("but:   expected was %s\n", cudaGetErrorName(chosen->expected));
  return 1;
}
