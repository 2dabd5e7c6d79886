// Idea: a thread moves four elements, eight rows apart: four loads on their way before it waits.
// Predicts: as in chapter 01: the address and the barrier are paid once for four elements, and a
//   block's 256 threads leave room for seven others that load while this one waits.
// Still wrong: 4-byte accesses, and tiles whose rows are 128 bytes. Next: 09.
#include <cuda_runtime.h>

#include <cstdint>

namespace rows_per_thread {

constexpr int tile = 32;  // a block moves tile x tile elements,
constexpr int step = 8;   // with tile x step threads

/// out = in transposed. in: rows x cols, out: cols x rows, both row by row.
__global__ void transpose_tiles(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  __shared__ float s[tile][tile];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::int64_t tiles_across = (cols + tile - 1) / tile;
  const std::int64_t row = blockIdx.x / tiles_across * tile;  // of the tile's first element
  const std::int64_t col = blockIdx.x % tiles_across * tile;
#pragma unroll
  for (int k = 0; k < tile; k += step) {  // unrolled: four loads before the first store
    const int r = y + k;
    if (row + r < rows && col + x < cols) s[r][x ^ r] = in[(row + r) * cols + col + x];
  }
  __syncthreads();  // the tile is complete before anyone reads what another thread stored
#pragma unroll
  for (int k = 0; k < tile; k += step) {
    const int c = y + k;
    if (col + c < cols && row + x < rows) out[(col + c) * rows + row + x] = s[x][c ^ x];
  }
}

/// How many tiles a matrix has; -1 for a negative size, and if a grid cannot have as many blocks.
std::int64_t tiles_of(std::int64_t rows, std::int64_t cols) {
  if (rows < 0 || cols < 0) return -1;
  const std::int64_t down = (rows + tile - 1) / tile, across = (cols + tile - 1) / tile;
  return down > 0 && across > INT32_MAX / down ? -1 : down * across;
}

/// Transposes rows x cols floats. Device pointers; in and out may not overlap. \returns
/// cudaErrorInvalidValue for a negative size or more tiles than a grid has blocks, or the error of
/// the launch.
cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  const std::int64_t tiles = tiles_of(rows, cols);
  if (tiles < 0) return cudaErrorInvalidValue;
  if (tiles == 0) return cudaSuccess;
  transpose_tiles<<<static_cast<unsigned>(tiles), dim3(tile, step), 0, stream>>>(in, out, rows,
                                                                                 cols);
  return cudaGetLastError();
}

}  // namespace rows_per_thread
