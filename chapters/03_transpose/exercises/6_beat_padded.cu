// Exercise 6: beat a row. Version 06 as it is: right, and one element a thread.
// ./chapters/run 03 --exercise 6          passes when it is right and at least 1.1x as fast as
// version 06, which only a GPU can tell
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

constexpr int tile = 32;  // a block moves tile x tile elements, one per thread

/// out = in transposed. in: rows x cols, out: cols x rows, both row by row.
__global__ void transpose_tiles(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  __shared__ float s[tile][tile + 1];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::int64_t tiles_across = (cols + tile - 1) / tile;
  const std::int64_t row = blockIdx.x / tiles_across * tile;  // of the tile's first element
  const std::int64_t col = blockIdx.x % tiles_across * tile;
  if (row + y < rows && col + x < cols) s[y][x] = in[(row + y) * cols + col + x];
  __syncthreads();  // the tile is complete before anyone reads what another thread stored
  if (col + y < cols && row + x < rows) out[(col + y) * rows + row + x] = s[x][y];
}

/// Transposes rows x cols floats.
cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  const std::int64_t tiles = (rows + tile - 1) / tile * ((cols + tile - 1) / tile);
  if (tiles == 0) return cudaSuccess;
  transpose_tiles<<<static_cast<unsigned>(tiles), dim3(tile, tile), 0, stream>>>(in, out, rows,
                                                                                 cols);
  return cudaGetLastError();
}

}  // namespace exercise
