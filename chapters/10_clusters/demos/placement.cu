// Where clusters run, and which SMs stay idle.
//
// The SMs of a GPU come in groups (GPCs), and a cluster lies in one group. Groups differ in size:
// where their SMs do not divide by the size of the cluster, some have nothing to do. For clusters
// of 1 to 16 blocks, each block as large as an SM: how many clusters the runtime says fit at once
// (cudaOccupancyMaxActiveClusters), and how many SMs really work when twice as many are launched.
//
// Expect: all SMs with 1 and 2 blocks, fewer with 4 and 8, still fewer with 16 (which a kernel must
// be allowed: cudaFuncAttributeNonPortableClusterSizeAllowed).
//
//   nvcc -O3 -arch=sm_90 placement.cu -o placement
//   ./placement

#include <cstdio>
#include <cstdlib>
#include <set>
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

/// Ends the program, exit code 3, on a GPU without clusters.
void need_clusters() {
  int device = 0, there = 0;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaDeviceGetAttribute(&there, cudaDevAttrClusterLaunch, device));
  if (there != 0) return;
  std::fprintf(stderr, "this GPU has no clusters: they need compute capability 9.0\n");
  std::exit(3);
}

#ifdef SIMT  // the CPU backend has no SMs
constexpr bool has_sms = false;
#else
constexpr bool has_sms = true;
#endif

/// Writes down on which SM a block runs, and stays there long enough that all SMs get their share.
__global__ void note_sm(unsigned* sms) {
#ifndef SIMT
  if (threadIdx.x == 0) {
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sms[blockIdx.x]));
    const long long begin = clock64();
    while (clock64() - begin < 200000) {
    }
  }
#else
  if (threadIdx.x == 0) sms[blockIdx.x] = 0;
#endif
}

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "placement: bad argument '%s'; usage: placement\n", argv[1]);
    return 2;
  }
  need_clusters();
  int device = 0, all = 0, most = 0;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaDeviceGetAttribute(&all, cudaDevAttrMultiProcessorCount, device));
  CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  CHECK(cudaFuncSetAttribute(note_sm, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  CHECK(cudaFuncSetAttribute(note_sm, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  std::printf("%d SMs\nblocks per cluster   clusters at once   blocks at once   SMs at work\n",
              all);
  for (int size = 1; size <= 16; size *= 2) {
    cudaLaunchAttribute shape;
    shape.id = cudaLaunchAttributeClusterDimension;
    shape.val.clusterDim.x = static_cast<unsigned>(size);
    shape.val.clusterDim.y = shape.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(static_cast<unsigned>(size));
    config.blockDim = dim3(128);
    config.dynamicSmemBytes = static_cast<std::size_t>(most);
    config.attrs = &shape;
    config.numAttrs = 1;
    int clusters = 0;
    CHECK(cudaOccupancyMaxActiveClusters(&clusters, note_sm, &config));
    const int blocks = has_sms ? 2 * clusters * size : size;
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    unsigned* sms = nullptr;
    CHECK(cudaMalloc(&sms, static_cast<std::size_t>(blocks) * sizeof *sms));
    CHECK(cudaLaunchKernelEx(&config, note_sm, sms));
    std::vector<unsigned> host(static_cast<std::size_t>(blocks));
    CHECK(cudaMemcpy(host.data(), sms, host.size() * sizeof *sms, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(sms));
    if (has_sms) {
      const std::set<unsigned> used(host.begin(), host.end());
      std::printf("%18d %18d %16d %13d\n", size, clusters, clusters * size,
                  static_cast<int>(used.size()));
    } else {
      std::printf("%18d                  -                -             -\n", size);
    }
  }
  if (!has_sms)
    std::printf("no SMs here: the lesson has a drawing, results/placement.csv the figures\n");
  return 0;
}
