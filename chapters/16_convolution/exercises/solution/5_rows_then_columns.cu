// Exercise 5, solved: a pass over the rows of the tile leaves its sums in shared memory, and a pass
// over their columns adds them up. The first pass also covers the rows of the halo, so the tile is
// tall.
#include <cuda_runtime.h>

#include <cstdint>

#include "border.cuh"

namespace exercise {

constexpr int block_cols = 32, block_rows = 64, threads_y = 16;

__global__ void convolve_image(const float* image, const __grid_constant__ SeparableFilter filter,
                               float* out, int rows, int cols, int width, int rule) {
  extern __shared__ float halo[];  // row by row; then the sums of its rows
  const int radius = width / 2, pitch = block_cols + width - 1, height = block_rows + width - 1;
  float* const sums = &halo[height * pitch];
  const int first_x = blockIdx.x * block_cols, first_y = blockIdx.y * block_rows;
  for (int y = threadIdx.y; y < height; y += threads_y) {
    for (int x = threadIdx.x; x < pitch; x += block_cols) {
      halo[y * pitch + x] =
          border::pixel(image, rows, cols, first_y + y - radius, first_x + x - radius, rule);
    }
  }
  __syncthreads();

  for (int y = threadIdx.y; y < height; y += threads_y) {
    float sum = 0;
    for (int j = 0; j < width; ++j) sum += filter.row[j] * halo[y * pitch + threadIdx.x + j];
    sums[y * block_cols + threadIdx.x] = sum;
  }
  __syncthreads();

  const int x = first_x + threadIdx.x;
  if (x >= cols) return;
  for (int y = threadIdx.y; y < block_rows && first_y + y < rows; y += threads_y) {
    float sum = 0;
    for (int i = 0; i < width; ++i) {
      sum += filter.column[i] * sums[(y + i) * block_cols + threadIdx.x];
    }
    out[std::int64_t{first_y + y} * cols + x] = sum;
  }
}

/// out[y][x] = the sum of column[i] row[j] image[y + i - radius][x + j - radius], radius = width /
/// 2, all row by row. image and out: device pointers. rule: a border::Rule.
/// \returns cudaErrorInvalidValue for a width that is even or not 1 to 31, rows above 4,194,240,
/// cols above 2^31 - 4097, another rule; or the error of the launch.
cudaError_t convolve(const float* image, const SeparableFilter& filter, float* out,
                     std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (!border::fit(rows, cols, width, rule, block_rows)) return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  const auto w = static_cast<int>(width);
  const std::size_t bytes =
      sizeof(float) * (block_rows + w - 1) * (block_cols + w - 1 + block_cols);
  convolve_image<<<border::grid(rows, cols, block_rows, block_cols), dim3(block_cols, threads_y),
                   bytes, stream>>>(image, filter, out, static_cast<int>(rows),
                                    static_cast<int>(cols), w, static_cast<int>(rule));
  return cudaGetLastError();
}

}  // namespace exercise
