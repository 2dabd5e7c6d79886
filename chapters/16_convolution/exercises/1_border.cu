// Exercise 1: pixels at the border of the image come out wrong. One line of inside() is wrong.
// ./chapters/run 16 --exercise 1          builds and checks it; --hint helps
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

constexpr int block_cols = 32, block_rows = 8;
enum Rule { clamp, zero, reflect };

/// FIX: one line is wrong. Which of the n pixels of a row or column stands for pixel i. -1: none of
/// them, its value is 0.
__device__ int inside(int i, int n, int rule) {
  if (i >= 0 && i < n) return i;
  if (rule == zero) return -1;
  if (rule == clamp || n == 1) return i < 0 ? 0 : n;
  while (i < 0 || i >= n) i = i < 0 ? -i : 2 * (n - 1) - i;
  return i;
}

__global__ void convolve_image(const float* image, const float* filter, float* out, int rows,
                               int cols, int width, int rule) {
  const int x = blockIdx.x * block_cols + threadIdx.x, y = blockIdx.y * block_rows + threadIdx.y;
  if (x >= cols || y >= rows) return;
  const int radius = width / 2;
  float sum = 0;
  for (int i = 0; i < width; ++i) {
    for (int j = 0; j < width; ++j) {
      const int row = inside(y + i - radius, rows, rule), col = inside(x + j - radius, cols, rule);
      const bool is_zero = row < 0 || col < 0;
      sum += filter[i * width + j] * (is_zero ? 0 : image[std::int64_t{row} * cols + col]);
    }
  }
  out[std::int64_t{y} * cols + x] = sum;
}

/// out[y][x] = the sum of filter[i][j] image[y + i - radius][x + j - radius], radius = width / 2,
/// all row by row. Device pointers. Outside, the image `a b c d` continues by `rule`: 0, clamp: a a
/// a | a b c d | d d d; 1, zero: 0 0 0 | a b c d | 0 0 0; 2, reflect: d c b | a b c d | c b a.
/// \returns cudaErrorInvalidValue for a width that is even or not 1 to 31, rows below 0 or above
/// 524,280, cols below 0 or above 2^30, another rule; or the error of the launch.
cudaError_t convolve(const float* image, const float* filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (width < 1 || width > 31 || width % 2 == 0 || rule < clamp || rule > reflect || rows < 0 ||
      rows > 524280 || cols < 0 || cols > 1 << 30) {
    return cudaErrorInvalidValue;
  }
  if (rows == 0 || cols == 0) return cudaSuccess;
  const dim3 grid(static_cast<unsigned>((cols + block_cols - 1) / block_cols),
                  static_cast<unsigned>((rows + block_rows - 1) / block_rows));
  convolve_image<<<grid, dim3(block_cols, block_rows), 0, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}

}  // namespace exercise
