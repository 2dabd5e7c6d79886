// Idea: no padding; row y stores its column x at place x ^ y (exclusive or). That is a permutation
//   of the row, another one for each row: a swizzle.
// Predicts: a row has 32 different places, so 32 banks; so has a column, since x ^ y takes each
//   value once when y stays and x runs, and when x stays and y runs. One turn for both.
// Still wrong: one element a thread: a barrier, an address and a place for each. Next: 08.
#include <cuda_runtime.h>

#include <cstdint>

namespace swizzled {

constexpr int tile = 32;  // a block moves tile x tile elements, one per thread

/// out = in transposed. in: rows x cols, out: cols x rows, both row by row.
__global__ void transpose_tiles(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  __shared__ float s[tile][tile];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::int64_t tiles_across = (cols + tile - 1) / tile;
  const std::int64_t row = blockIdx.x / tiles_across * tile;  // of the tile's first element
  const std::int64_t col = blockIdx.x % tiles_across * tile;
  if (row + y < rows && col + x < cols) s[y][x ^ y] = in[(row + y) * cols + col + x];
  __syncthreads();  // the tile is complete before anyone reads what another thread stored
  if (col + y < cols && row + x < rows) out[(col + y) * rows + row + x] = s[x][y ^ x];
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
  transpose_tiles<<<static_cast<unsigned>(tiles), dim3(tile, tile), 0, stream>>>(in, out, rows,
                                                                                 cols);
  return cudaGetLastError();
}

}  // namespace swizzled
