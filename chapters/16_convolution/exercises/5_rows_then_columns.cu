// Exercise 5: right, but width x width multiplications per pixel. The filter is a column times a
// row: do a pass over the rows and a pass over the columns, in one kernel, by shared memory.
// ./chapters/run 16 --exercise 5          builds and checks it; --hint helps
#include <cuda_runtime.h>

#include <cstdint>

#include "border.cuh"

namespace exercise {

constexpr int block_cols = 32, block_rows = 16;

__global__ void convolve_image(const float* image, const __grid_constant__ SeparableFilter filter,
                               float* out, int rows, int cols, int width, int rule) {
  extern __shared__ float halo[];  // row by row
  const int radius = width / 2, pitch = block_cols + width - 1;
  const int first_x = blockIdx.x * block_cols, first_y = blockIdx.y * block_rows;
  for (int y = threadIdx.y; y < block_rows + width - 1; y += block_rows) {
    for (int x = threadIdx.x; x < pitch; x += block_cols) {
      halo[y * pitch + x] =
          border::pixel(image, rows, cols, first_y + y - radius, first_x + x - radius, rule);
    }
  }
  __syncthreads();

  const int x = first_x + threadIdx.x, y = first_y + threadIdx.y;
  if (x >= cols || y >= rows) return;
  float sum = 0;
  for (int i = 0; i < width; ++i) {
    for (int j = 0; j < width; ++j) {
      sum += filter.column[i] * filter.row[j] * halo[(threadIdx.y + i) * pitch + threadIdx.x + j];
    }
  }
  out[std::int64_t{y} * cols + x] = sum;
}

/// out[y][x] = the sum of column[i] row[j] image[y + i - radius][x + j - radius], radius = width /
/// 2, all row by row. image and out: device pointers. rule: a border::Rule.
/// \returns cudaErrorInvalidValue for a width that is even or not 1 to 31, rows above 1,048,560,
/// cols above 2^31 - 4097, another rule; or the error of the launch.
cudaError_t convolve(const float* image, const SeparableFilter& filter, float* out,
                     std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (!border::fit(rows, cols, width, rule, block_rows)) return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  const auto w = static_cast<int>(width);
  const std::size_t bytes = sizeof(float) * (block_rows + w - 1) * (block_cols + w - 1);
  convolve_image<<<border::grid(rows, cols, block_rows, block_cols), dim3(block_cols, block_rows),
                   bytes, stream>>>(image, filter, out, static_cast<int>(rows),
                                    static_cast<int>(cols), w, static_cast<int>(rule));
  return cudaGetLastError();
}

}  // namespace exercise
