// Idea: the TMA knows the matrix. A tensor map, made on the host, holds address, sizes, strides and
//   the box; an order names the map and two coordinates. What a box has outside of the matrix is
//   read as zero and never written.
// Predicts: a copy's limit again, for any number of rows and columns, without a bounds check and
//   without the arithmetic of addresses in the kernel.
// Still wrong: rows must begin at multiples of 16 bytes, so cols is a multiple of four.
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

#include "tensor_map.hpp"

namespace matrix {

namespace ptx = cuda::ptx;

constexpr int block_size = 128;
constexpr int tile_rows = 8, tile_cols = 128;
constexpr int tile = tile_rows * tile_cols;  // floats: two float4 per thread
constexpr int tile_bytes = tile * static_cast<int>(sizeof(float));

__device__ float4 doubled(float4 v) { return make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w); }

/// out = 2 in. A block per tile; `across` tiles lie beside each other.
__global__ void __launch_bounds__(block_size)
    double_tile(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out,
                int across) {
  __shared__ alignas(128) float4 s[tile / 4];
  __shared__ std::uint64_t there;  // an mbarrier: counts arrivals and bytes
  const int t = static_cast<int>(threadIdx.x);
  // Column first: the map counts axes from the one whose elements are neighbours.
  const std::int32_t at[] = {static_cast<int>(blockIdx.x % across) * tile_cols,
                             static_cast<int>(blockIdx.x / across) * tile_rows};
  if (t == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &in, at, &there);
    // All bytes of the box, also those that lie outside.
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                   tile_bytes);
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  s[t] = doubled(s[t]);
  s[t + block_size] = doubled(s[t + block_size]);
  ptx::fence_proxy_async(ptx::space_shared);  // what this thread wrote is there for the TMA
  __syncthreads();                            // all have written
  if (t == 0) {
    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &out, at, s);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
  }
}

/// out = 2 in, both rows x cols floats without gaps. Device pointers, multiples of 16 bytes; out
/// must not overlap in. \returns cudaErrorInvalidValue for a negative size, more than 2^31 - 256
/// rows or columns, and what tensor_map::broken_rule() names, or an error of CUDA.
cudaError_t scale(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                  cudaStream_t stream) {
  constexpr std::int64_t most = INT32_MAX - 255;  // coordinates are ints
  if (rows < 0 || cols < 0 || rows > most || cols > most) return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  CUtensorMap from, to;
  if (cudaError_t error =
          tensor_map::make(&from, tensor_map::matrix(in, rows, cols, tile_rows, tile_cols))) {
    return error;
  }
  if (cudaError_t error =
          tensor_map::make(&to, tensor_map::matrix(out, rows, cols, tile_rows, tile_cols))) {
    return error;
  }
  const std::int64_t across = (cols + tile_cols - 1) / tile_cols;
  const std::int64_t down = (rows + tile_rows - 1) / tile_rows;
  if (across > INT32_MAX / down) return cudaErrorInvalidValue;
  double_tile<<<static_cast<unsigned>(across * down), block_size, 0, stream>>>(
      from, to, static_cast<int>(across));
  return cudaGetLastError();
}

}  // namespace matrix
