// Idea: a thread computes eight pixels, one below the other. Eight pixels of one column of the
//   image wait in its registers; for the next row of the filter they move up by one. The filter
//   arrives column by column, in the order in which its coefficients are read.
// Predicts: with width 17, 24 loads from shared memory for 136 multiplications.
// Still wrong: the loops are counted, and the pixels moved, by instructions that compute nothing.
#include <cuda_runtime.h>

#include <cstdint>

#include "border.cuh"

namespace points {

constexpr int per_thread = 8, block_cols = 32, threads_y = 8, block_rows = threads_y * per_thread;

/// Row i, column j of the filter is by_columns.at[j * width + i].
__global__ void convolve_image(const float* image, const __grid_constant__ Filter by_columns,
                               float* out, int rows, int cols, int width, int rule) {
  extern __shared__ float halo[];  // row by row
  const int radius = width / 2, pitch = block_cols + width - 1;
  const int first_x = blockIdx.x * block_cols, first_y = blockIdx.y * block_rows;
  for (int y = threadIdx.y; y < block_rows + width - 1; y += threads_y) {
    for (int x = threadIdx.x; x < pitch; x += block_cols) {
      halo[y * pitch + x] =
          border::pixel(image, rows, cols, first_y + y - radius, first_x + x - radius, rule);
    }
  }
  __syncthreads();

  float sums[per_thread] = {};
  for (int j = 0; j < width; ++j) {
    const float* from = &halo[threadIdx.y * per_thread * pitch + threadIdx.x + j];
    float column[per_thread];
    for (int k = 0; k < per_thread - 1; ++k, from += pitch) column[k + 1] = *from;
    for (int i = 0; i < width; ++i, from += pitch) {
      for (int k = 0; k < per_thread - 1; ++k) column[k] = column[k + 1];
      column[per_thread - 1] = *from;
      const float coefficient = by_columns.at[j * width + i];
      for (int k = 0; k < per_thread; ++k) sums[k] += coefficient * column[k];
    }
  }

  const int x = first_x + threadIdx.x, y = first_y + threadIdx.y * per_thread;
  for (int k = 0; k < per_thread; ++k) {
    if (x < cols && y + k < rows) out[std::int64_t{y + k} * cols + x] = sums[k];
  }
}

/// out[y][x] = the sum of filter[i][j] image[y + i - radius][x + j - radius], radius = width / 2,
/// all row by row. image and out: device pointers. rule: a border::Rule.
/// \returns cudaErrorInvalidValue for a width that is even or not 1 to 31, rows above 4,194,240,
/// cols above 2^31 - 4097, another rule; or the error of the launch.
cudaError_t convolve(const float* image, const Filter& filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (!border::fit(rows, cols, width, rule, block_rows)) return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  const auto w = static_cast<int>(width);
  Filter by_columns;
  for (int j = 0; j < w; ++j) {
    for (int i = 0; i < w; ++i) by_columns.at[j * w + i] = filter.at[i * w + j];
  }
  const std::size_t bytes = sizeof(float) * (block_rows + w - 1) * (block_cols + w - 1);
  convolve_image<<<border::grid(rows, cols, block_rows, block_cols), dim3(block_cols, threads_y),
                   bytes, stream>>>(image, by_columns, out, static_cast<int>(rows),
                                    static_cast<int>(cols), w, static_cast<int>(rule));
  return cudaGetLastError();
}

}  // namespace points
