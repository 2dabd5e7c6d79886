// The copy anchor of Hopper and later: bulk asynchronous copies move the data; threads only issue
// them and wait. Needs compute capability 9.0. Chapter 09 teaches every line of it.
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

namespace course {
namespace {

namespace ptx = cuda::ptx;

constexpr int block_size = 128;
constexpr int tile = 8 * block_size;  // floats: two float4 per thread
constexpr int tile_bytes = tile * 4;
constexpr int blocks_per_sm = 10;  // 10 x 4 KiB = 40 KiB in flight per SM

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

/// A block moves one tile: bulk copy into shared memory, 16-byte stores out of it. The cache policy
/// makes the L2 write results back sooner (chapters/01_vector_add/80_limit.cu explains it).
__global__ void __launch_bounds__(block_size) bulk_copy(const float* in, float* out) {
  extern __shared__ __align__(128) float4 shared[];
  __shared__ std::uint64_t arrived;
  const std::int64_t first = std::int64_t{blockIdx.x} * tile;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    std::uint64_t policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    ptx::mbarrier_init(&arrived, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &arrived,
                                   tile_bytes);
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
        " [%0], [%1], %2, [%3], %4;"
        :
        : "r"(shared_address(shared)), "l"(in + first), "r"(tile_bytes),
          "r"(shared_address(&arrived)), "l"(policy)
        : "memory");
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&arrived, 0)) {
  }
  float4* target = reinterpret_cast<float4*>(out + first);
  target[t] = shared[t];
  target[t + block_size] = shared[t + block_size];
}

}  // namespace

/// Copies the whole tiles of n floats; the rest, less than 4 KiB, by cudaMemcpyAsync.
cudaError_t launch_bulk_copy_90(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  const std::int64_t blocks = n / tile;
  // Dynamic shared memory beyond the tile limits the blocks per SM, and with them the bytes in
  // flight.
  constexpr int shared_bytes = (228 * 1024 / blocks_per_sm - 2048) / 128 * 128;
  static_assert(shared_bytes >= tile_bytes, "a tile fits");
  if (blocks > 0) {
    bulk_copy<<<static_cast<unsigned>(blocks), block_size, shared_bytes, stream>>>(in, out);
    if (const cudaError_t error = cudaGetLastError()) return error;
  }
  const std::int64_t rest = n - blocks * tile;
  if (rest == 0) return cudaSuccess;
  return cudaMemcpyAsync(out + blocks * tile, in + blocks * tile,
                         static_cast<std::size_t>(4 * rest), cudaMemcpyDeviceToDevice, stream);
}

}  // namespace course
