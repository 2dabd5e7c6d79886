// What this machine's GPUs are: facts that later chapters use.
//
//   nvcc 06_device.cu -o device
//   ./device

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

/// A number that the driver knows, divided to get a handy unit.
struct Fact {
  const char* name;
  cudaDeviceAttr attribute;
  int divisor;
  const char* unit;
};
const Fact facts[] = {
    {"multiprocessors (SMs)", cudaDevAttrMultiProcessorCount, 1, ""},
    {"warp size", cudaDevAttrWarpSize, 1, " threads"},
    {"most threads in a block", cudaDevAttrMaxThreadsPerBlock, 1, ""},
    {"most threads in a block, x", cudaDevAttrMaxBlockDimX, 1, ""},
    {"most threads in a block, y", cudaDevAttrMaxBlockDimY, 1, ""},
    {"most threads in a block, z", cudaDevAttrMaxBlockDimZ, 1, ""},
    {"most blocks in a grid, x", cudaDevAttrMaxGridDimX, 1, ""},
    {"most blocks in a grid, y", cudaDevAttrMaxGridDimY, 1, ""},
    {"most blocks in a grid, z", cudaDevAttrMaxGridDimZ, 1, ""},
    {"most threads on an SM", cudaDevAttrMaxThreadsPerMultiProcessor, 1, ""},
    {"most blocks on an SM", cudaDevAttrMaxBlocksPerMultiprocessor, 1, ""},
    {"registers of an SM", cudaDevAttrMaxRegistersPerMultiprocessor, 1, " of 4 bytes"},
    {"shared memory of an SM", cudaDevAttrMaxSharedMemoryPerMultiprocessor, 1024, " KiB"},
    {"shared memory of a block", cudaDevAttrMaxSharedMemoryPerBlock, 1024, " KiB"},
    {"shared memory of a block, on request", cudaDevAttrMaxSharedMemoryPerBlockOptin, 1024, " KiB"},
    {"constant memory", cudaDevAttrTotalConstantMemory, 1024, " KiB"},
    {"L2 cache", cudaDevAttrL2CacheSize, 1024, " KiB"},
    {"copy engines", cudaDevAttrAsyncEngineCount, 1, ""},
    {"SM clock, at most", cudaDevAttrClockRate, 1000, " MHz"},
    {"memory clock, at most", cudaDevAttrMemoryClockRate, 1000, " MHz"},
    {"memory bus", cudaDevAttrGlobalMemoryBusWidth, 1, " bits"},
};
const Fact abilities[] = {
    {"error-correcting memory (ECC) is on", cudaDevAttrEccEnabled, 1, ""},
    {"unified memory", cudaDevAttrManagedMemory, 1, ""},
    {"GPU can read all host memory", cudaDevAttrPageableMemoryAccess, 1, ""},
};

/// Reads one attribute. cudaDeviceProp has most of them too, but CUDA 13 removed its clock rates.
int attribute_of(cudaDeviceAttr attribute, int gpu) {
  int value = 0;
  CHECK(cudaDeviceGetAttribute(&value, attribute, gpu));
  return value;
}

void print_gpu(int gpu) {
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, gpu));
  std::printf("\nGPU %d\n", gpu);
  std::printf("  %-38s %s\n", "name", properties.name);
  std::printf("  %-38s %d.%d\n", "compute capability", properties.major, properties.minor);
  std::printf("  %-38s %.1f GiB\n", "memory",
              static_cast<double>(properties.totalGlobalMem) / (1 << 30));
  for (const Fact& fact : facts) {
    const int value = attribute_of(fact.attribute, gpu);
    if (value > 0) {
      std::printf("  %-38s %d%s\n", fact.name, value / fact.divisor, fact.unit);
    } else {
      std::printf("  %-38s unknown\n", fact.name);
    }
  }
  for (const Fact& ability : abilities) {
    std::printf("  %-38s %s\n", ability.name, attribute_of(ability.attribute, gpu) ? "yes" : "no");
  }

  // Memory of GPUs moves data twice per clock, on every line of the bus.
  const double kilohertz = attribute_of(cudaDevAttrMemoryClockRate, gpu);
  const double bus_bytes = attribute_of(cudaDevAttrGlobalMemoryBusWidth, gpu) / 8.0;
  const double gigabytes = 2 * kilohertz * 1e3 * bus_bytes / 1e9;
  if (gigabytes > 0) {
    std::printf("  %-38s %.1f GB/s\n", "theoretical memory bandwidth", gigabytes);
  } else {
    std::printf("  %-38s unknown\n", "theoretical memory bandwidth");
  }
}

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "06_device: bad argument '%s'; usage: 06_device\n", argv[1]);
    return 2;
  }
  int gpus = 0, driver = 0, runtime = 0;
  CHECK(cudaGetDeviceCount(&gpus));
  CHECK(cudaDriverGetVersion(&driver));
  CHECK(cudaRuntimeGetVersion(&runtime));
  std::printf("driver: supports CUDA %d.%d\n", driver / 1000, driver % 1000 / 10);
  std::printf("program: built with CUDA %d.%d\n", runtime / 1000, runtime % 1000 / 10);
  for (int gpu = 0; gpu < gpus; ++gpu) print_gpu(gpu);
  return 0;
}
