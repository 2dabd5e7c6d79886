// Exercise 3: a ring with two mistakes. Find and mend them.
//   ./chapters/run 09 --exercise 3          builds and checks it; --hint helps
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

namespace exercise {

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

constexpr int consumers = 128;
constexpr int block_size = 32 + consumers;  // the first warp produces
constexpr int tile = 1024;                  // floats
constexpr int tile_bytes = tile * static_cast<int>(sizeof(float));
constexpr int stages = 4;
constexpr int blocks_per_sm = 3;  // 3 x 4 x 4 KiB = 48 KiB on their way

__device__ float4 doubled(float4 v) { return make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w); }

__device__ void wait(std::uint64_t* barrier, unsigned parity) {
  while (!ptx::mbarrier_try_wait_parity(barrier, parity)) {
  }
}

/// out = 2 in, whole tiles: this block those from blockIdx.x on, gridDim.x apart.
__global__ void __launch_bounds__(block_size)
    double_tiles(const float* in, float* out, std::int64_t tiles) {
  __shared__ alignas(128) float4 s[stages][tile / 4];
  __shared__ std::uint64_t full[stages], empty[stages];
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    for (int stage = 0; stage < stages; ++stage) {
      ptx::mbarrier_init(&full[stage], 1);                // the producer, and bytes
      ptx::mbarrier_init(&empty[stage], consumers / 32);  // a thread of each warp
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  int stage = 0;
  unsigned round = 0;  // its lowest bit is the parity of `full`
  if (t < 32) {
    cg::invoke_one(cg::coalesced_threads(), [&] {
      for (std::int64_t i = blockIdx.x; i < tiles; i += gridDim.x) {
        if (round > 0) wait(&empty[stage], round & 1);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s[stage], in + i * tile,
                           tile_bytes, &full[stage]);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                       &full[stage], tile_bytes);
        if (++stage == stages) stage = 0, ++round;
      }
    });
    return;
  }
  for (std::int64_t i = blockIdx.x; i < tiles; i += gridDim.x) {
    wait(&full[stage], round & 1);
    float4* const to = reinterpret_cast<float4*>(out + i * tile);
    for (int k = t - 32; k < tile / 4; k += consumers) to[k] = doubled(s[stage][k]);
    ptx::fence_proxy_async(ptx::space_shared);  // the TMA overwrites what this thread has read
    __syncwarp();                               // all lanes have read
    if (++stage == stages) stage = 0, ++round;
    if (t % 32 == 0) ptx::mbarrier_arrive(&empty[stage]);
  }
}

/// out = 2 in for the floats from `first` on: less than a tile.
__global__ void double_rest(const float* in, float* out, std::int64_t first, std::int64_t n) {
  for (std::int64_t i = first + threadIdx.x; i < n; i += blockDim.x) out[i] = 2 * in[i];
}

bool is_aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; }

/// out[i] = 2 in[i] for n floats. Device pointers, multiples of 16 bytes; out must not overlap in.
/// \returns cudaErrorInvalidValue for other pointers and for n < 0, or an error of CUDA.
cudaError_t scale(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (n < 0 || !is_aligned(in) || !is_aligned(out)) return cudaErrorInvalidValue;
  int device = 0, sms = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device)) {
    return error;
  }
  const std::int64_t tiles = n / tile, most = std::int64_t{sms} * blocks_per_sm;
  if (tiles > 0) {
    const unsigned blocks = static_cast<unsigned>(tiles < most ? tiles : most);
    double_tiles<<<blocks, block_size, 0, stream>>>(in, out, tiles);
  }
  if (n % tile != 0) double_rest<<<1, 256, 0, stream>>>(in, out, tiles * tile, n);
  return cudaGetLastError();
}

}  // namespace exercise
