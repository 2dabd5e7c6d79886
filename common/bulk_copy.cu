// The copy anchor of Hopper and later: bulk asynchronous copies move the data, threads only start them and wait.
// Compiled for compute capability 9.0 alone. Chapter 09 teaches every line of it.
#include <cuda_runtime.h>

#include <cstdint>

namespace course {
namespace {

constexpr int tile_bytes = 8192;
constexpr int blocks_per_sm = 6;  // 6 x 8 KiB = 48 KiB in flight per SM

__device__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

/// A block of one warp moves one tile: global -> shared -> global.
__global__ void bulk_copy_kernel(const char* in, char* out, std::int64_t bytes) {
  extern __shared__ __align__(128) char tile[];
  __shared__ std::uint64_t arrived;
  const std::int64_t first = std::int64_t{blockIdx.x} * tile_bytes;
  const auto count = static_cast<std::uint32_t>(bytes - first < tile_bytes ? bytes - first : tile_bytes);
  if (threadIdx.x != 0) return;
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&arrived)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(&arrived)), "r"(count)
               : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          shared_address(tile)),
      "l"(in + first), "r"(count), "r"(shared_address(&arrived))
      : "memory");
  std::uint32_t done = 0;
  while (done == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(shared_address(&arrived))
        : "memory");
  }
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + first),
               "r"(shared_address(tile)), "r"(count)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

}  // namespace

cudaError_t launch_bulk_copy_90(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  const std::int64_t bytes = n / 4 * 16;
  if (bytes == 0) return cudaSuccess;
  // Dynamic shared memory beyond the tile limits the blocks per SM, and with them the bytes in flight.
  constexpr int shared_bytes = 227 * 1024 / blocks_per_sm / 1024 * 1024 - 2048;
  static_assert(shared_bytes >= tile_bytes, "a tile fits");
  cudaError_t error =
      cudaFuncSetAttribute(bulk_copy_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (error != cudaSuccess) return error;
  const auto blocks = static_cast<unsigned>((bytes + tile_bytes - 1) / tile_bytes);
  bulk_copy_kernel<<<blocks, 32, shared_bytes, stream>>>(reinterpret_cast<const char*>(in),
                                                         reinterpret_cast<char*>(out), bytes);
  return cudaGetLastError();
}

}  // namespace course
