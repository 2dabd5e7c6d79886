// Exercise 6, solved: a tile with halo as in version 03, and one exponential function per weight:
// the exponents of both factors are added. A thread keeps its own pixel and both sums in registers.
#include <cuda_runtime.h>

#include <cstdint>

#include "border.cuh"

namespace exercise {

constexpr int block_cols = 32, block_rows = 16;

__global__ void smooth_image(const float* image, float* out, int rows, int cols, int width,
                             int rule, float by_distance, float by_difference) {
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
  const float own = halo[(threadIdx.y + radius) * pitch + threadIdx.x + radius];
  float sum = 0, weights = 0;
  for (int i = 0; i < width; ++i) {
    for (int j = 0; j < width; ++j) {
      const float pixel = halo[(threadIdx.y + i) * pitch + threadIdx.x + j];
      const float distance2 =
          static_cast<float>((i - radius) * (i - radius) + (j - radius) * (j - radius));
      const float difference = pixel - own;
      const float weight =
          expf(-(by_distance * distance2 + by_difference * difference * difference));
      sum += weight * pixel;
      weights += weight;
    }
  }
  out[std::int64_t{y} * cols + x] = sum / weights;
}

/// out[y][x] = the mean of the pixels p of a window of width x width pixels around pixel (y, x),
/// which is c, with weights exp(-distance^2 / (2 s^2)) exp(-(p - c)^2 / (2 t^2)). distance: that of
/// the two pixels, in pixels. s and t are above 0. Device pointers, images row by row. rule: a
/// border::Rule, for pixels outside of the image, which have weights as all others.
/// \returns cudaErrorInvalidValue for a width that is even or not 1 to 31, rows above 1,048,560,
/// cols above 2^31 - 4097, another rule; or the error of the launch.
cudaError_t smooth(const float* image, float* out, std::int64_t rows, std::int64_t cols,
                   std::int64_t width, std::int64_t rule, float s, float t, cudaStream_t stream) {
  if (!border::fit(rows, cols, width, rule, block_rows)) return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  const auto w = static_cast<int>(width);
  const std::size_t bytes = sizeof(float) * (block_rows + w - 1) * (block_cols + w - 1);
  smooth_image<<<border::grid(rows, cols, block_rows, block_cols), dim3(block_cols, block_rows),
                 bytes, stream>>>(image, out, static_cast<int>(rows), static_cast<int>(cols), w,
                                  static_cast<int>(rule), 1 / (2 * s * s), 1 / (2 * t * t));
  return cudaGetLastError();
}

}  // namespace exercise
