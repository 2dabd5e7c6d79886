// Exercise 4, solved: 4_describe_it.md says what it is about.
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

#include "tensor_map.hpp"

namespace exercise {

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
  tensor_map::Description matrix;
  matrix.address = in;
  matrix.axes = 2;
  matrix.size[0] = static_cast<std::uint64_t>(cols);
  matrix.size[1] = static_cast<std::uint64_t>(rows);
  matrix.stride[0] = static_cast<std::uint64_t>(cols) * sizeof(float);
  matrix.box[0] = tile_cols;
  matrix.box[1] = tile_rows;
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

}  // namespace exercise
