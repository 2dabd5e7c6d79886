// Idea: a box may begin anywhere, at negative coordinates, too. What lies outside of the matrix
//   arrives as zeros or, for floating-point types, as NaN. Cut a window out of a matrix, with a
//   margin where the matrix ends.
// Predicts: no branch in the kernel, at no edge. A store may reach beyond the end, but it may not
//   begin before the first element: the TMA stops the kernel with an error.
// Still wrong: along a row a box begins at a multiple of 16 bytes, four floats.
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

#include "tensor_map.hpp"

namespace fill {

namespace ptx = cuda::ptx;

constexpr int tile_rows = 16, tile_cols = 64;
constexpr int tile_bytes = tile_rows * tile_cols * static_cast<int>(sizeof(float));

/// Copies a tile of a window that begins at (row0, col0) of the matrix. One thread per block:
/// nobody else has anything to do.
__global__ void copy_tile(const __grid_constant__ CUtensorMap in,
                          const __grid_constant__ CUtensorMap out, int across, int row0, int col0) {
  __shared__ alignas(128) float s[tile_rows * tile_cols];
  __shared__ std::uint64_t there;
  const std::int32_t to[] = {static_cast<int>(blockIdx.x % across) * tile_cols,
                             static_cast<int>(blockIdx.x / across) * tile_rows};
  const std::int32_t from[] = {col0 + to[0], row0 + to[1]};
  ptx::mbarrier_init(&there, 1);
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &in, from, &there);
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                 tile_bytes);
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  // No fence: the TMA wrote the tile, and the TMA reads it.
  ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &out, to, s);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
}

/// out[r][c] = in[row0 + r][col0 + c] for a window of height x width floats; where the matrix, rows
/// x cols, has no such element: NaN (bits 7ff77ff7) if `nan`, otherwise 0. Device pointers,
/// multiples of 16 bytes; out must not overlap in. \returns cudaErrorInvalidValue for a negative
/// size, a matrix without elements, sizes and corners beyond 2^30, cols, width or col0 that are no
/// multiples of four, and other pointers; or an error of CUDA.
cudaError_t cut(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                std::int64_t height, std::int64_t width, std::int64_t row0, std::int64_t col0,
                std::int64_t nan, cudaStream_t stream) {
  constexpr std::int64_t most = 1 << 30;
  for (const std::int64_t size : {rows, cols, height, width}) {
    if (size < 0 || size > most) return cudaErrorInvalidValue;
  }
  if (row0 < -most || row0 > most || col0 < -most || col0 > most || col0 % 4 != 0) {
    return cudaErrorInvalidValue;
  }
  if (height == 0 || width == 0) return cudaSuccess;
  tensor_map::Description matrix = tensor_map::matrix(in, rows, cols, tile_rows, tile_cols);
  if (nan != 0) matrix.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  const tensor_map::Description window =
      tensor_map::matrix(out, height, width, tile_rows, tile_cols);
  CUtensorMap from, to;
  if (cudaError_t error = tensor_map::make(&from, matrix)) return error;
  if (cudaError_t error = tensor_map::make(&to, window)) return error;
  const std::int64_t across = (width + tile_cols - 1) / tile_cols;
  const std::int64_t down = (height + tile_rows - 1) / tile_rows;
  if (across > INT32_MAX / down) return cudaErrorInvalidValue;
  copy_tile<<<static_cast<unsigned>(across * down), 1, 0, stream>>>(
      from, to, static_cast<int>(across), static_cast<int>(row0), static_cast<int>(col0));
  return cudaGetLastError();
}

}  // namespace fill
