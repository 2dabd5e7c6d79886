// The smallest program with a cluster: each block asks its neighbour.
//
// A cluster is a few blocks that run at the same time, on SMs that can reach each other. Its size
// is part of the kernel (__cluster_dims__) or of the launch (an attribute). Here both, 4 blocks
// each: each block writes its rank into its own shared memory, all meet, and each reads the next
// one's.
//
//   nvcc -O3 -arch=sm_90 smallest_cluster.cu -o smallest_cluster
//   ./smallest_cluster

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

constexpr int blocks = 4;

/// Every block of the cluster calls this; thread 0 of it does the work.
__device__ void ask_the_next(int* out) {
  __shared__ int mine;
  const cg::cluster_group cluster = cg::this_cluster();
  const int rank = static_cast<int>(cluster.block_rank());
  const int next = (rank + 1) % static_cast<int>(cluster.num_blocks());
  if (threadIdx.x == 0) mine = 100 + rank;
  cluster.sync();  // all have begun, all have written
  if (threadIdx.x == 0) out[rank] = *cluster.map_shared_rank(&mine, next);
  cluster.sync();  // all have read: only now may a block leave
}

/// The size of the cluster is part of the kernel.
__global__ void __cluster_dims__(blocks, 1, 1) of_the_kernel(int* out) { ask_the_next(out); }

/// The size of the cluster comes with the launch.
__global__ void of_the_launch(int* out) { ask_the_next(out); }

/// Prints what came; \returns how many answers are wrong.
int show(const char* name, const int* device_out) {
  int out[blocks] = {};
  CHECK(cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost));
  int wrong = 0;
  std::printf("%-14s", name);
  for (int rank = 0; rank < blocks; ++rank) {
    std::printf(" %d->%d", rank, out[rank]);
    wrong += out[rank] != 100 + (rank + 1) % blocks;
  }
  std::printf("\n");
  return wrong;
}

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "smallest_cluster: bad argument '%s'; usage: smallest_cluster\n", argv[1]);
    return 2;
  }
  need_clusters();
  int* out = nullptr;
  CHECK(cudaMalloc(&out, blocks * sizeof(int)));
  of_the_kernel<<<blocks, 32>>>(out);  // a grid of one cluster
  CHECK(cudaGetLastError());
  int wrong = show("of the kernel", out);

  CHECK(cudaMemset(out, 0, blocks * sizeof(int)));
  cudaLaunchAttribute size;
  size.id = cudaLaunchAttributeClusterDimension;
  size.val.clusterDim.x = blocks;
  size.val.clusterDim.y = size.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);  // counts blocks, a multiple of the cluster's size
  config.blockDim = dim3(32);
  config.attrs = &size;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, of_the_launch, out));
  wrong += show("of the launch", out);
  CHECK(cudaFree(out));
  return wrong == 0 ? 0 : 1;
}
