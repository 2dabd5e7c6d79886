// The smallest complete program with a bulk copy: one block, one order.
//
// Thread 0 initialises a barrier, orders the copy, and tells the barrier how many bytes to expect.
// All threads wait there. Then the tile is in shared memory, and each thread looks at its element.
//
//   nvcc -O3 -arch=sm_90 smallest.cu -o smallest
//   ./smallest

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda/ptx>
#include <vector>

namespace ptx = cuda::ptx;

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

/// Ends the program, exit code 3, on a GPU without a TMA of this kind.
void need_hopper() {
  int device = 0, major = 0;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  if (major >= 9) return;
  std::fprintf(stderr, "this GPU has compute capability %d.x: bulk copies need 9.0\n", major);
  std::exit(3);
}

constexpr int n = 1024;
constexpr int bytes = n * static_cast<int>(sizeof(int));

__global__ void reverse(const int* in, int* out) {
  __shared__ alignas(16) int tile[n];
  __shared__ std::uint64_t there;  // the barrier: 8 bytes that count arrivals and bytes
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    ptx::mbarrier_init(&there, 1);                                   // one arrival
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);  // the TMA sees it
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in, bytes, &there);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                   bytes);
  }
  __syncthreads();  // nobody waits at a barrier before it is initialised
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  out[t] = tile[n - 1 - t];
}

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "smallest: bad argument '%s'; usage: smallest\n", argv[1]);
    return 2;
  }
  need_hopper();
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i * i;
  int *in = nullptr, *out = nullptr;
  CHECK(cudaMalloc(&in, bytes));
  CHECK(cudaMalloc(&out, bytes));
  CHECK(cudaMemcpy(in, host.data(), bytes, cudaMemcpyHostToDevice));
  reverse<<<1, n>>>(in, out);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(host.data(), out, bytes, cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += host[i] != (n - 1 - i) * (n - 1 - i);
  std::printf("%d of %d numbers are where they should be\n", n - wrong, n);
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return wrong == 0 ? 0 : 1;
}
