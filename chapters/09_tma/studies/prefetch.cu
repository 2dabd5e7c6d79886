// Study: bulk prefetch into the L2 cache. Too few blocks for the memory, two of 4 KiB per SM; each
//   also orders a tile that a later block will load, `ahead` tiles further on, into the L2 cache.
// Predicts: loads that find their tile in the L2 cache come back sooner, so that 8 KiB per SM move
//   more. Too near: it is still on its way. Too far: nothing gained, and the cache is full at last.
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

namespace prefetch_study {

namespace ptx = cuda::ptx;

constexpr int tile_bytes = 4096;
constexpr int blocks_per_sm = 2;

/// Orders a tile into the L2 cache; nobody waits. PTX ISA, "cp.async.bulk.prefetch".
__device__ void prefetch_tile(const char* from) {
#ifdef SIMT
  static_cast<void>(from);  // the CPU backend has no cache
#else
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(tile_bytes));
#endif
}

/// out = in, a tile per block.
__global__ void copy_tile(const char* in, char* out, std::int64_t tiles, std::int64_t ahead) {
  extern __shared__ __align__(128) char s[];
  __shared__ std::uint64_t there;
  const std::int64_t tile = blockIdx.x;
  if (ahead > 0 && tile + ahead < tiles) prefetch_tile(in + (tile + ahead) * tile_bytes);
  ptx::mbarrier_init(&there, 1);
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, in + tile * tile_bytes, tile_bytes,
                     &there);
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                 tile_bytes);
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + tile * tile_bytes, s, tile_bytes);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
}

bool is_aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; }

/// Copies n floats, a multiple of 1024; each block prefetches the tile of 4 KiB that lies `ahead`
/// tiles further on (0: nothing). Device pointers, multiples of 16 bytes; out must not overlap in.
/// \returns cudaErrorInvalidValue for other values and more blocks than a grid has, or an error of
/// CUDA.
cudaError_t copy(const float* in, float* out, std::int64_t n, std::int64_t ahead,
                 cudaStream_t stream) {
  const std::int64_t tiles = n / (tile_bytes / 4);
  if (n < 0 || n % (tile_bytes / 4) != 0 || ahead < 0 || tiles > INT32_MAX) {
    return cudaErrorInvalidValue;
  }
  if (!is_aligned(in) || !is_aligned(out)) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  int device = 0, per_sm = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error =
          cudaDeviceGetAttribute(&per_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device)) {
    return error;
  }
  // So much that exactly blocks_per_sm blocks fit on an SM (1 KiB each is the system's).
  const int bytes = (per_sm / blocks_per_sm - 2048) / 128 * 128;
  if (cudaError_t error =
          cudaFuncSetAttribute(copy_tile, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)) {
    return error;
  }
  copy_tile<<<static_cast<unsigned>(tiles), 1, static_cast<unsigned>(bytes), stream>>>(
      reinterpret_cast<const char*>(in), reinterpret_cast<char*>(out), tiles, ahead);
  return cudaGetLastError();
}

}  // namespace prefetch_study
