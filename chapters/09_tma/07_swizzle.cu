// Idea: look at what the TMA writes. A box goes into shared memory with a swizzle of 32, 64 or 128
//   bytes; the kernel stores shared memory as it is.
// Predicts: byte b of row r lies at the address that swizzled() computes: in rows of the swizzle's
//   length, the chunks of 16 bytes change places by an exclusive or with bits of the address.
// Still wrong: it only looks. 13 and 14 use it.
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

#include "tensor_map.hpp"

namespace swizzle {

namespace ptx = cuda::ptx;

constexpr int block_size = 128;
constexpr int tile_rows = 16;

/// Where byte b of row r of a box lies after the box's first byte, which lies at a multiple of 1024
/// bytes. `length`: 32, 64 or 128, of the swizzle. Bits 4 and up count chunks of 16 bytes; as many
/// as a row has are changed by those three bits above, which count rows of 128 bytes.
__host__ __device__ inline int swizzled(int length, int r, int b) {
  const int at = r * length + b;
  return at ^ (at >> 7 << 4 & (length - 1));
}

/// Stores tile_rows x length bytes as they lie in shared memory; where the TMA writes nothing,
/// zeros. A block per box.
__global__ void __launch_bounds__(block_size)
    show_box(const __grid_constant__ CUtensorMap in, unsigned* out, int bytes, int length) {
  __shared__ alignas(1024) unsigned s[tile_rows * 128 / 4];
  __shared__ std::uint64_t there;
  const int t = static_cast<int>(threadIdx.x);
  const int words = tile_rows * length / 4;
  for (int i = t; i < words; i += block_size) s[i] = 0;
  ptx::fence_proxy_async(ptx::space_shared);  // the zeros come before what the TMA writes
  if (t == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (t == 0) {
    const std::int32_t at[] = {0, static_cast<int>(blockIdx.x) * tile_rows};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &in, at, &there);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                   static_cast<std::uint32_t>(tile_rows * bytes));
  }
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  for (int i = t; i < words; i += block_size) out[std::int64_t{blockIdx.x} * words + i] = s[i];
}

/// Boxes of 16 rows of a matrix as they lie in shared memory: rows x length bytes, for rows of
/// `bytes` bytes in elements of `element` bytes (1, 2, 4 or 8). length: 32, 64 or 128. Device
/// pointers, multiples of 16 bytes. \returns cudaErrorInvalidValue for rows no multiple of 16 or
/// beyond 2^30, bytes no multiple of 16 or more than length, other values and other pointers; or an
/// error of CUDA.
cudaError_t show(const std::uint8_t* in, std::uint32_t* out, std::int64_t rows, std::int64_t bytes,
                 std::int64_t length, std::int64_t element, cudaStream_t stream) {
  tensor_map::Description d;
  switch (element) {
    case 1:
      d.type = CU_TENSOR_MAP_DATA_TYPE_UINT8;
      break;
    case 2:
      d.type = CU_TENSOR_MAP_DATA_TYPE_UINT16;
      break;
    case 4:
      d.type = CU_TENSOR_MAP_DATA_TYPE_UINT32;
      break;
    case 8:
      d.type = CU_TENSOR_MAP_DATA_TYPE_UINT64;
      break;
    default:
      return cudaErrorInvalidValue;
  }
  d.swizzle = length == 32   ? CU_TENSOR_MAP_SWIZZLE_32B
              : length == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                             : CU_TENSOR_MAP_SWIZZLE_128B;
  if (length != 32 && length != 64 && length != 128) return cudaErrorInvalidValue;
  if (rows < 0 || rows > 1 << 30 || rows % tile_rows != 0) return cudaErrorInvalidValue;
  if (bytes < 16 || bytes > length || reinterpret_cast<std::uintptr_t>(out) % 4 != 0) {
    return cudaErrorInvalidValue;
  }
  if (rows == 0) return cudaSuccess;
  d.address = in;
  d.size[0] = d.box[0] = static_cast<std::uint32_t>(bytes / element);
  d.size[1] = static_cast<std::uint64_t>(rows);
  d.stride[0] = static_cast<std::uint64_t>(bytes);
  d.box[1] = tile_rows;
  CUtensorMap from;
  if (cudaError_t error = tensor_map::make(&from, d)) return error;
  show_box<<<static_cast<unsigned>(rows / tile_rows), block_size, 0, stream>>>(
      from, out, static_cast<int>(bytes), static_cast<int>(length));
  return cudaGetLastError();
}

}  // namespace swizzle
