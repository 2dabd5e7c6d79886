// Idea: chapter 03's transpose, loaded by the TMA. A tile of 32 x 32 floats arrives as it lies in
//   the matrix; a warp reads a column of it and stores a row of the result.
// Predicts: all 32 floats of a column lie in one bank, 32 wavefronts per request: as slow as 05 of
//   chapter 03, whose tile had no column more.
// Still wrong: the TMA writes rows densely; a padded tile, chapter 03's first cure, it cannot.
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

#include "tensor_map.hpp"

namespace transpose_plain {

namespace ptx = cuda::ptx;

constexpr int side = 32;
constexpr int block_rows = 8;
constexpr int tile_bytes = side * side * static_cast<int>(sizeof(float));

/// Where the element in row r and column c of the tile lies.
__device__ int place(int r, int c) { return r * side + c; }

/// out = in transposed, a tile per block of 32 x 8 threads; `down` tiles lie below each other.
__global__ void __launch_bounds__(side* block_rows)
    transpose_tile(const __grid_constant__ CUtensorMap in, float* out, int rows, int cols,
                   int down) {
  __shared__ alignas(1024) float s[side * side];
  __shared__ std::uint64_t there;
  const int row0 = static_cast<int>(blockIdx.x) % down * side;
  const int col0 = static_cast<int>(blockIdx.x) / down * side;
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  if (x == 0 && y == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    const std::int32_t at[] = {col0, row0};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &in, at, &there);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                   tile_bytes);
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  for (int c = y; c < side; c += block_rows) {
    if (col0 + c < cols && row0 + x < rows) {
      out[std::int64_t{col0 + c} * rows + row0 + x] = s[place(x, c)];
    }
  }
}

/// out = in transposed: rows x cols floats to cols x rows. Device pointers, in a multiple of 16
/// bytes; out must not overlap in. \returns cudaErrorInvalidValue for a negative size or one beyond
/// 2^30, cols no multiple of four, another pointer, or more than 2^31 - 1 tiles; or an error of
/// CUDA.
cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  constexpr std::int64_t most = 1 << 30;
  if (rows < 0 || cols < 0 || rows > most || cols > most) return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  CUtensorMap map;
  if (cudaError_t error = tensor_map::make(&map, tensor_map::matrix(in, rows, cols, side, side))) {
    return error;
  }
  const std::int64_t down = (rows + side - 1) / side, across = (cols + side - 1) / side;
  if (across > INT32_MAX / down) return cudaErrorInvalidValue;
  transpose_tile<<<static_cast<unsigned>(across * down), dim3(side, block_rows), 0, stream>>>(
      map, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(down));
  return cudaGetLastError();
}

}  // namespace transpose_plain
