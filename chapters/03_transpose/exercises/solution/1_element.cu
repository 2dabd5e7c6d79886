// Exercise 1, solved: what stood in row `row`, column `col` stands in row `col`, column `row`, and
// a row of the result has `rows` elements.
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

constexpr int tile = 32;  // a block moves tile x tile elements, one per thread

/// out = in transposed. in: rows x cols, out: cols x rows, both row by row.
__global__ void transpose_elements(const float* in, float* out, std::int64_t rows,
                                   std::int64_t cols) {
  const std::int64_t tiles_across = (cols + tile - 1) / tile;
  const std::int64_t row = blockIdx.x / tiles_across * tile + threadIdx.y;
  const std::int64_t col = blockIdx.x % tiles_across * tile + threadIdx.x;
  if (row < rows && col < cols) out[col * rows + row] = in[row * cols + col];
}

/// Transposes rows x cols floats.
cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  const std::int64_t tiles = (rows + tile - 1) / tile * ((cols + tile - 1) / tile);
  if (tiles == 0) return cudaSuccess;
  transpose_elements<<<static_cast<unsigned>(tiles), dim3(tile, tile), 0, stream>>>(in, out, rows,
                                                                                    cols);
  return cudaGetLastError();
}

}  // namespace exercise
