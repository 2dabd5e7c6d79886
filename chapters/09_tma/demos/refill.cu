// A tile is refilled while it is read, behind a barrier of all threads.
//
// Each block reads tile after tile through two places. All threads load their values from a place,
// meet at __syncthreads(), and then one thread orders the next tile into it. Is that right? A
// barrier orders what the threads do. The TMA is no thread: it does not wait for loads that
// have been issued and have not come back. A proxy fence between the loads and the barrier makes
// the two wait for each other: fence.proxy.async, by every thread that has read.
//
//   variant                  what comes before the order for the next tile
//   barrier                  __syncthreads()
//   mbarrier                 each thread arrives at an mbarrier (release), the orderer waits there
//   fence, then barrier      fence_proxy_async() by each thread, then __syncthreads()
//
// Expect: on an H200 a few values in a thousand are the next tile's in the first variant, fewer in
// the second, none in the third. On the CPU backend all values are right, and the first two are
// findings: "right, but not by the rules".
//
//   nvcc -O3 -arch=sm_90 refill.cu -o refill
//   ./refill

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda/ptx>

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

enum class Before { barrier, mbarrier, fence };

constexpr int block_size = 256;
constexpr int loads = 4;                  // of 16 bytes, by each thread from each tile
constexpr int tile = block_size * loads;  // float4
constexpr int tile_bytes = tile * 16;
constexpr int places = 2;
#ifdef SIMT
constexpr int tiles_per_block = 4, blocks = 2, runs = 1;
#else
constexpr int tiles_per_block = 16, blocks = 2048, runs = 5;
#endif
constexpr std::int64_t n = std::int64_t{tile} * tiles_per_block * blocks;

/// Which element of a tile a thread loads in its k-th load.
__host__ __device__ int chosen(int thread, int k) { return (thread * 37 + k * 64) % tile; }

__device__ void wait(std::uint64_t* barrier, unsigned parity) {
  while (!ptx::mbarrier_try_wait_parity(barrier, parity)) {
  }
}

template <Before before>
__global__ void copy_chosen(const float4* in, float4* out) {
  extern __shared__ __align__(128) float4 s[];  // s[places * tile]
  __shared__ std::uint64_t full[places], empty[places];
  const int t = static_cast<int>(threadIdx.x);
  const std::int64_t first = std::int64_t{blockIdx.x} * tiles_per_block;
  const auto order = [&](int i) {  // a tile into its place
    const int p = i % places;
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s + p * tile, in + (first + i) * tile,
                       tile_bytes, &full[p]);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[p],
                                   tile_bytes);
  };
  if (t == 0) {
    for (int p = 0; p < places; ++p) {
      ptx::mbarrier_init(&full[p], 1);
      ptx::mbarrier_init(&empty[p], block_size);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    for (int i = 0; i < places; ++i) order(i);
  }
  __syncthreads();
  for (int i = 0; i < tiles_per_block; ++i) {
    const int p = i % places;
    const unsigned parity = static_cast<unsigned>(i / places % 2);
    wait(&full[p], parity);
    float4 v[loads];
    for (int k = 0; k < loads; ++k) v[k] = s[p * tile + chosen(t, k)];
    if (before == Before::fence) ptx::fence_proxy_async(ptx::space_shared);
    if (before == Before::mbarrier) {
      ptx::mbarrier_arrive(&empty[p]);
      if (t == 0) wait(&empty[p], parity);
    } else {
      __syncthreads();
    }
    if (t == 0 && i + places < tiles_per_block) order(i + places);
    for (int k = 0; k < loads; ++k) out[(first + i) * tile + t * loads + k] = v[k];
  }
}

__global__ void fill(float4* in) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) in[i] = make_float4(static_cast<float>(i / tile), static_cast<float>(i % tile), 1, 1);
}

__global__ void count_wrong(const float4* out, unsigned long long* wrong) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int in_tile = static_cast<int>(i % tile);
  const float4 v = out[i];
  const bool right = v.x == static_cast<float>(i / tile) &&
                     v.y == static_cast<float>(chosen(in_tile / loads, in_tile % loads));
  if (!right) atomicAdd(wrong, 1ull);
}

template <Before before>
unsigned long long wrong_values(const char* name, const float4* in, float4* out,
                                unsigned long long* counter) {
  constexpr int bytes = places * tile_bytes;
  CHECK(cudaFuncSetAttribute(copy_chosen<before>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             bytes));
  CHECK(cudaMemset(counter, 0, sizeof *counter));
  for (int run = 0; run < runs; ++run) {
    copy_chosen<before><<<blocks, block_size, bytes>>>(in, out);
    count_wrong<<<static_cast<unsigned>((n + 255) / 256), 256>>>(out, counter);
  }
  CHECK(cudaGetLastError());
  unsigned long long wrong = 0;
  CHECK(cudaMemcpy(&wrong, counter, sizeof wrong, cudaMemcpyDeviceToHost));
  std::printf("%-22s %10llu of %lld values are another tile's\n", name, wrong,
              static_cast<long long>(runs) * n);
  return wrong;
}

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "refill: bad argument '%s'; usage: refill\n", argv[1]);
    return 2;
  }
  need_hopper();
  float4 *in = nullptr, *out = nullptr;
  unsigned long long* counter = nullptr;
  CHECK(cudaMalloc(&in, n * sizeof(float4)));
  CHECK(cudaMalloc(&out, n * sizeof(float4)));
  CHECK(cudaMalloc(&counter, sizeof *counter));
  fill<<<static_cast<unsigned>((n + 255) / 256), 256>>>(in);
  wrong_values<Before::barrier>("barrier", in, out, counter);
  wrong_values<Before::mbarrier>("mbarrier", in, out, counter);
  const auto wrong = wrong_values<Before::fence>("fence, then barrier", in, out, counter);
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  CHECK(cudaFree(counter));
  return wrong == 0 ? 0 : 1;
}
