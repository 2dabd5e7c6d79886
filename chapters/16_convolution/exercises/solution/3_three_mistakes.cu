// Exercise 3, solved: a side of the tile with its halo has block + width - 1 pixels, the loop runs
// over all of them, and border::pixel() knows what stands for a pixel outside of the image.
#include <cuda_runtime.h>

#include <cstdint>

#include "border.cuh"

namespace exercise {

constexpr int block_cols = 32, block_rows = 16;

/// Pixels along a side of a block's tile with its halo.
__host__ __device__ constexpr int side(int block, int width) { return block + width - 1; }

__global__ void convolve_image(const float* image, const __grid_constant__ Filter filter,
                               float* out, int rows, int cols, int width, int rule) {
  extern __shared__ float halo[];  // row by row
  const int radius = width / 2, pitch = side(block_cols, width);
  const int first_x = blockIdx.x * block_cols, first_y = blockIdx.y * block_rows;
  for (int y = threadIdx.y; y < block_rows + 2 * radius; y += block_rows) {
    for (int x = threadIdx.x; x < block_cols + 2 * radius; x += block_cols) {
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
      sum += filter.at[i * width + j] * halo[(threadIdx.y + i) * pitch + threadIdx.x + j];
    }
  }
  out[std::int64_t{y} * cols + x] = sum;
}

/// out[y][x] = the sum of filter[i][j] image[y + i - radius][x + j - radius], radius = width / 2,
/// all row by row. image and out: device pointers. rule: a border::Rule.
/// \returns cudaErrorInvalidValue for a width that is even or not 1 to 31, rows above 1,048,560,
/// cols above 2^31 - 4097, another rule; or the error of the launch.
cudaError_t convolve(const float* image, const Filter& filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (!border::fit(rows, cols, width, rule, block_rows)) return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  const auto w = static_cast<int>(width);
  const std::size_t bytes = sizeof(float) * side(block_rows, w) * side(block_cols, w);
  convolve_image<<<border::grid(rows, cols, block_rows, block_cols), dim3(block_cols, block_rows),
                   bytes, stream>>>(image, filter, out, static_cast<int>(rows),
                                    static_cast<int>(cols), w, static_cast<int>(rule));
  return cudaGetLastError();
}

}  // namespace exercise
