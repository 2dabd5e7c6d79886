// Exercise 6, solved: four elements per thread, eight rows apart, and a block of 256 threads
// instead of 1024.
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

constexpr int tile = 32;  // a block moves tile x tile elements,
constexpr int step = 8;   // with tile x step threads

/// out = in transposed. in: rows x cols, out: cols x rows, both row by row.
__global__ void transpose_tiles(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  __shared__ float s[tile][tile + 1];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::int64_t tiles_across = (cols + tile - 1) / tile;
  const std::int64_t row = blockIdx.x / tiles_across * tile;  // of the tile's first element
  const std::int64_t col = blockIdx.x % tiles_across * tile;
#pragma unroll
  for (int k = y; k < tile; k += step) {
    if (row + k < rows && col + x < cols) s[k][x] = in[(row + k) * cols + col + x];
  }
  __syncthreads();  // the tile is complete before anyone reads what another thread stored
#pragma unroll
  for (int k = y; k < tile; k += step) {
    if (col + k < cols && row + x < rows) out[(col + k) * rows + row + x] = s[x][k];
  }
}

/// Transposes rows x cols floats.
cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  const std::int64_t tiles = (rows + tile - 1) / tile * ((cols + tile - 1) / tile);
  if (tiles == 0) return cudaSuccess;
  transpose_tiles<<<static_cast<unsigned>(tiles), dim3(tile, step), 0, stream>>>(in, out, rows,
                                                                                 cols);
  return cudaGetLastError();
}

}  // namespace exercise
