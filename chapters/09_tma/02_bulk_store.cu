// Idea: results leave by an order, too. The threads put them where the tile was; a fence makes what
//   they wrote visible to the TMA; one thread orders the way back, closes the group of its orders
//   (commit), and waits until the TMA has read the tile.
// Predicts: no faster, memory is the limit; but half the instructions per float, and a block's
//   threads are free as soon as the tile is in shared memory.
// Still wrong: a block ends when its one tile is done, and starts with nothing on its way.
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

namespace bulk_store {

namespace ptx = cuda::ptx;

constexpr int block_size = 128;
constexpr int tile = 8 * block_size;  // floats: two float4 per thread
constexpr int tile_bytes = tile * static_cast<int>(sizeof(float));

__device__ float4 doubled(float4 v) { return make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w); }

/// out = 2 in. A block of block_size threads per tile; a tile that is not full, the last, is left
/// to the threads.
__global__ void __launch_bounds__(block_size)
    double_tile(const float* in, float* out, std::int64_t n) {
  __shared__ alignas(128) float4 s[tile / 4];
  __shared__ std::uint64_t there;  // an mbarrier: counts arrivals and bytes
  const int t = static_cast<int>(threadIdx.x);
  const std::int64_t first = std::int64_t{blockIdx.x} * tile;
  if (n - first < tile) {
    for (std::int64_t i = first + t; i < n; i += block_size) out[i] = 2 * in[i];
    return;
  }
  if (t == 0) {
    ptx::mbarrier_init(&there, 1);  // one arrival: this thread's
    // The TMA must see the barrier before it counts there.
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, in + first, tile_bytes, &there);
    // Arrives, and lets the phase end only after so many bytes.
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                   tile_bytes);
  }
  __syncthreads();  // nobody waits at a barrier before it is initialised
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  s[t] = doubled(s[t]);
  s[t + block_size] = doubled(s[t + block_size]);
  ptx::fence_proxy_async(ptx::space_shared);  // what this thread wrote is there for the TMA
  __syncthreads();                            // all have written
  if (t == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + first, s, tile_bytes);
    ptx::cp_async_bulk_commit_group();
    // The block's shared memory is another's as soon as it ends: not before the tile is read.
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
  }
}

bool is_aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; }

/// out[i] = 2 in[i] for n floats. Device pointers, multiples of 16 bytes; out must not overlap in.
/// \returns cudaErrorInvalidValue for other pointers, for n < 0 and for more tiles than a grid has
/// blocks (2^41 floats), or the error of the launch.
cudaError_t scale(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (n < 0 || n > std::int64_t{INT32_MAX} * tile || !is_aligned(in) || !is_aligned(out)) {
    return cudaErrorInvalidValue;
  }
  if (n == 0) return cudaSuccess;
  const unsigned blocks = static_cast<unsigned>((n + tile - 1) / tile);
  double_tile<<<blocks, block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}

}  // namespace bulk_store
