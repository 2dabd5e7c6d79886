// A block leaves while another one still reads its shared memory.
//
// Shared memory belongs to its block. When the block ends, the SM gives it to another block, and
// who still reads it reads something else, or the kernel stops with an error. So the last thing
// that a cluster does together is to meet: cluster.sync().
//
//   variant        last meeting
//   forgotten      none: a block reads its neighbour and leaves
//   meets          cluster.sync() behind the last read
//
// Expect: the CPU backend says which block had left ("lifetime"). A GPU may be lucky for years: the
// neighbour must be late, so here odd blocks are.
//
//   nvcc -O3 -arch=sm_90 left_early.cu -o left_early
//   ./left_early

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

constexpr int n = 1024, clusters = 512, blocks = 2;

template <bool meets>
__global__ void __cluster_dims__(blocks, 1, 1) swap_tiles(const int* in, int* out) {
  __shared__ int tile[n];
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x);
  const int rank = static_cast<int>(cluster.block_rank());
  tile[t] = in[blockIdx.x * n + t];
  cluster.sync();
#ifndef SIMT
  if (rank == 1) {
    const long long begin = clock64();
    while (clock64() - begin < 20000) {  // late, for 10 us
    }
  }
#endif
  out[blockIdx.x * n + t] = *cluster.map_shared_rank(&tile[t], 1 - rank);
  if (meets) cluster.sync();
}

template <bool meets>
int wrong_values(const char* name, const int* in, int* out) {
  static int host[blocks * clusters * n];
  swap_tiles<meets><<<blocks * clusters, n>>>(in, out);
  cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  if (error != cudaSuccess) {
    std::printf("%-10s stopped: %s\n", name, cudaGetErrorName(error));
    return -1;
  }
  CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < blocks * clusters * n; ++i) wrong += host[i] != (i ^ n);
  std::printf("%-10s %d of %d values are wrong\n", name, wrong, blocks * clusters * n);
  return wrong;
}

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "left_early: bad argument '%s'; usage: left_early\n", argv[1]);
    return 2;
  }
  need_clusters();
  int *in = nullptr, *out = nullptr;
  CHECK(cudaMalloc(&in, blocks * clusters * n * sizeof(int)));
  CHECK(cudaMalloc(&out, blocks * clusters * n * sizeof(int)));
  static int host[blocks * clusters * n];
  for (int i = 0; i < blocks * clusters * n; ++i) host[i] = i;
  CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
  const int wrong = wrong_values<true>("meets", in, out);
  wrong_values<false>("forgotten", in, out);  // last: an error would stop what comes behind it
  return wrong == 0 ? 0 : 1;
}
