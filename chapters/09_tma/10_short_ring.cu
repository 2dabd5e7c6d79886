// Idea: the ring of 09 in blocks that end. A block takes eight neighbouring tiles; when it ends,
//   the GPU starts the next in the order of the array.
// Predicts: what is on its way stays together, and memory likes neighbours (chapter 08 found it
//   so): several percent more. The price: a block begins and ends with an empty ring.
// Still wrong: results push what was read out of the L2 cache, and leave it late.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

namespace short_ring {

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

constexpr int consumers = 128;
constexpr int block_size = 32 + consumers;  // the first warp produces
constexpr int tile = 1024;                  // floats
constexpr int tile_bytes = tile * static_cast<int>(sizeof(float));
constexpr int stages = 4;
constexpr int blocks_per_sm = 3;  // 3 x 4 x 4 KiB = 48 KiB on their way
constexpr int tiles_per_block = 8;

__device__ float4 doubled(float4 v) { return make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w); }

__device__ void wait(std::uint64_t* barrier, unsigned parity) {
  while (!ptx::mbarrier_try_wait_parity(barrier, parity)) {
  }
}

/// out = 2 in, whole tiles: this block the next tiles_per_block ones.
__global__ void __launch_bounds__(block_size)
    double_tiles(const float* in, float* out, std::int64_t tiles) {
  extern __shared__ __align__(128) float4 shared[];
  float4(*const s)[tile / 4] = reinterpret_cast<float4(*)[tile / 4]>(shared);  // s[stages]
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
  const std::int64_t first = std::int64_t{blockIdx.x} * tiles_per_block;
  const std::int64_t end = tiles < first + tiles_per_block ? tiles : first + tiles_per_block;
  int stage = 0;
  unsigned round = 0;  // its lowest bit is the parity of `full`
  if (t < 32) {
    cg::invoke_one(cg::coalesced_threads(), [&] {
      for (std::int64_t i = first; i < end; ++i) {
        wait(&empty[stage], (round & 1) ^ 1);  // passes at once in round 0: nothing to wait for
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s[stage], in + i * tile,
                           tile_bytes, &full[stage]);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                       &full[stage], tile_bytes);
        if (++stage == stages) stage = 0, ++round;
      }
    });
    return;
  }
  for (std::int64_t i = first; i < end; ++i) {
    wait(&full[stage], round & 1);
    float4* const to = reinterpret_cast<float4*>(out + i * tile);
    for (int k = t - 32; k < tile / 4; k += consumers) to[k] = doubled(s[stage][k]);
    ptx::fence_proxy_async(ptx::space_shared);  // the TMA overwrites what this thread has read
    __syncwarp();                               // all lanes have read
    if (t % 32 == 0) ptx::mbarrier_arrive(&empty[stage]);
    if (++stage == stages) stage = 0, ++round;
  }
}

/// out = 2 in for the floats from `first` on: less than a tile.
__global__ void double_rest(const float* in, float* out, std::int64_t first, std::int64_t n) {
  for (std::int64_t i = first + threadIdx.x; i < n; i += blockDim.x) out[i] = 2 * in[i];
}

bool is_aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; }

/// out[i] = 2 in[i] for n floats. Device pointers, multiples of 16 bytes; out must not overlap in.
/// \returns cudaErrorInvalidValue for other pointers, for n < 0 and for more tiles than the blocks
/// of a grid take (2^44 floats), or an error of CUDA.
cudaError_t scale(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  const std::int64_t tiles = n / tile;
  const std::int64_t blocks = tiles / tiles_per_block + (tiles % tiles_per_block != 0);
  if (n < 0 || blocks > INT32_MAX || !is_aligned(in) || !is_aligned(out)) {
    return cudaErrorInvalidValue;
  }
  if (blocks > 0) {
    int device = 0, per_sm = 0;
    if (cudaError_t error = cudaGetDevice(&device)) return error;
    if (cudaError_t error =
            cudaDeviceGetAttribute(&per_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device)) {
      return error;
    }
    // More shared memory than the ring needs, so that exactly blocks_per_sm blocks fit on an SM (1
    // KiB each is the system's).
    const int bytes = (per_sm / blocks_per_sm - 2048) / 128 * 128;
    if (cudaError_t error = cudaFuncSetAttribute(
            double_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)) {
      return error;
    }
    double_tiles<<<static_cast<unsigned>(blocks), block_size, static_cast<unsigned>(bytes),
                   stream>>>(in, out, tiles);
  }
  if (n % tile != 0) double_rest<<<1, 256, 0, stream>>>(in, out, tiles * tile, n);
  return cudaGetLastError();
}

}  // namespace short_ring
