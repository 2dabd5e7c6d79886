// How long the ways between two SMs take, in clocks: what one thread waits for.
//
// Thread 0 of block 0 follows a chain of 64 places, each of which holds the next one's index: in
// its own shared memory, in that of another block of the cluster, and in global memory (from the L2
// cache). Each load needs the one before, so a step is the latency of a load. Then what a meeting
// costs: __syncthreads(), cluster.sync(), and its two halves with nothing in between.
//
//   nvcc -O3 -arch=sm_90 latency.cu -o latency
//   ./latency

#include <cooperative_groups.h>

#include <cstdio>
#include <cstdlib>

namespace cg = cooperative_groups;

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

#ifdef SIMT  // the CPU backend has no clocks
constexpr bool has_times = false;
#else
constexpr bool has_times = true;
#endif

constexpr int places = 64, steps = 512, meetings = 64, ways = 6;

/// Follows the chain; \returns clocks of a step. `end` keeps the chain from being left out.
__device__ float follow(const int* chain, int* end) {
  int at = 0;
  for (int k = 0; k < places; ++k) at = chain[at];  // the way is warm
  const long long begin = clock64();
  for (int k = 0; k < steps; ++k) at = chain[at];
  const long long clocks = clock64() - begin;
  *end = at;
  return static_cast<float>(clocks) / steps;
}

template <class Meet>
__device__ float clocks_of(Meet meet) {
  meet();
  const long long begin = clock64();
  for (int k = 0; k < meetings; ++k) meet();
  return static_cast<float>(clock64() - begin) / meetings;
}

/// Clocks of each way, and where the chains ended.
__global__ void measure(const int* global, float* clocks, int* ends) {
  __shared__ int chain[places];
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x);
  if (t < places) chain[t] = global[t];
  cluster.sync();
  const bool first = cluster.block_rank() == 0 && t == 0;
  const int last = static_cast<int>(cluster.num_blocks()) - 1;
  if (first) {
    clocks[0] = follow(chain, &ends[0]);
    clocks[1] = follow(cluster.map_shared_rank(chain, last), &ends[1]);
    clocks[2] = follow(global, &ends[2]);
  }
  cluster.sync();
  const float of_block = clocks_of([] { __syncthreads(); });
  const float of_cluster = clocks_of([&] { cluster.sync(); });
  const float of_halves = clocks_of([&] {
    cluster.barrier_arrive();
    cluster.barrier_wait();
  });
  if (first) clocks[3] = of_block, clocks[4] = of_cluster, clocks[5] = of_halves;
}

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "latency: bad argument '%s'; usage: latency\n", argv[1]);
    return 2;
  }
  need_clusters();
  int host_chain[places], host_ends[3];
  for (int k = 0; k < places; ++k) host_chain[k] = (k + 17) % places;  // 17 and 64: all places
  int *chain = nullptr, *ends = nullptr;
  float* clocks = nullptr;
  CHECK(cudaMalloc(&chain, sizeof host_chain));
  CHECK(cudaMalloc(&ends, sizeof host_ends));
  CHECK(cudaMalloc(&clocks, ways * sizeof(float)));
  CHECK(cudaMemcpy(chain, host_chain, sizeof host_chain, cudaMemcpyHostToDevice));
  CHECK(cudaFuncSetAttribute(measure, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  int wrong = 0;
  std::printf("blocks    own    other   L2 cache   __syncthreads   cluster.sync   arrive, wait\n");
  for (int size = 1; size <= 16; size *= 2) {
    cudaLaunchAttribute shape;
    shape.id = cudaLaunchAttributeClusterDimension;
    shape.val.clusterDim.x = static_cast<unsigned>(size);
    shape.val.clusterDim.y = shape.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(static_cast<unsigned>(size));
    config.blockDim = dim3(256);
    config.attrs = &shape;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, measure, chain, clocks, ends));
    float c[ways];
    CHECK(cudaMemcpy(c, clocks, sizeof c, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(host_ends, ends, sizeof host_ends, cudaMemcpyDeviceToHost));
    for (const int end : host_ends) wrong += end != (places + steps) * 17 % places;
    if (has_times) {
      std::printf("%6d %6.0f %8.0f %10.0f %15.0f %14.0f %14.0f\n", size, c[0], c[1], c[2], c[3],
                  c[4], c[5]);
    } else {
      std::printf("%6d      -        -          -               -              -              -\n",
                  size);
    }
  }
  std::printf("%d chain(s) ended elsewhere\n", wrong);
  if (!has_times) std::printf("no clocks here: the chapter's more.md has the recorded figures\n");
  CHECK(cudaFree(chain));
  CHECK(cudaFree(ends));
  CHECK(cudaFree(clocks));
  return wrong == 0 ? 0 : 1;
}
