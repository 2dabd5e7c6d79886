// Answers to exercise 6 of chapter 16, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "border.cuh"

/// Loads the pixels of a tile and its halo, by all threads of a block.
__device__ void load_pixels(float* halo, int height, int pitch, const float* image, int rows,
                            int cols, int top, int left, int rule) {
  const int threads = blockDim.x * blockDim.y;
  for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < height * pitch; k += threads) {
    halo[k] = border::pixel(image, rows, cols, top + k / pitch, left + k % pitch, rule);
  }
}

__device__ float weight_of(int dx, int dy, float difference, float s, float t) {
  return expf(-static_cast<float>(dx * dx + dy * dy) / (2 * s * s) -
              difference * difference / (2 * t * t));
}

__device__ float mean_of_window(const float* image, int rows, int cols, int y, int x, int width,
                                int rule, float s, float t) {
  const int radius = width / 2;
  const float own = image[y * cols + x];
  float sum = 0, weights = 0;
  for (int dy = -radius; dy <= radius; ++dy) {
    for (int dx = -radius; dx <= radius; ++dx) {
      const float pixel = border::pixel(image, rows, cols, y + dy, x + dx, rule);
      const float weight = weight_of(dx, dy, pixel - own, s, t);
      sum += weight * pixel, weights += weight;
    }
  }
  return sum / weights;
}

namespace one_thread_smooths {
// 6: NOT YET: right, but one after the other
__global__ void smooth_all(const float* image, float* out, int rows, int cols, int width, int rule,
                           float s, float t) {
  for (int i = 0; i < rows * cols; ++i) {
    out[i] = mean_of_window(image, rows, cols, i / cols, i % cols, width, rule, s, t);
  }
}

cudaError_t smooth(const float* image, float* out, std::int64_t rows, std::int64_t cols,
                   std::int64_t width, std::int64_t rule, float s, float t, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  smooth_all<<<1, 1, 0, stream>>>(image, out, static_cast<int>(rows), static_cast<int>(cols),
                                  static_cast<int>(width), static_cast<int>(rule), s, t);
  return cudaGetLastError();
}
}  // namespace one_thread_smooths

namespace one_lane_per_warp_smooths {
// 6: NOT YET: right, but one after the other
__global__ void smooth_runs(const float* image, float* out, int rows, int cols, int width, int rule,
                            float s, float t) {
  const int first = blockIdx.x * 256 + threadIdx.x;
  if (threadIdx.x % 32 != 0) return;
  for (int i = first; i < first + 32 && i < rows * cols; ++i) {
    out[i] = mean_of_window(image, rows, cols, i / cols, i % cols, width, rule, s, t);
  }
}

cudaError_t smooth(const float* image, float* out, std::int64_t rows, std::int64_t cols,
                   std::int64_t width, std::int64_t rule, float s, float t, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  smooth_runs<<<static_cast<unsigned>((rows * cols + 255) / 256), 256, 0, stream>>>(
      image, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule), s, t);
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp_smooths

namespace one_block_smooths {
// 6: NOT YET: right, but one after the other
__global__ void smooth_by_block(const float* image, float* out, int rows, int cols, int width,
                                int rule, float s, float t) {
  for (int i = threadIdx.x; i < rows * cols; i += 1024) {
    out[i] = mean_of_window(image, rows, cols, i / cols, i % cols, width, rule, s, t);
  }
}

cudaError_t smooth(const float* image, float* out, std::int64_t rows, std::int64_t cols,
                   std::int64_t width, std::int64_t rule, float s, float t, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  smooth_by_block<<<1, 1024, 0, stream>>>(image, out, static_cast<int>(rows),
                                          static_cast<int>(cols), static_cast<int>(width),
                                          static_cast<int>(rule), s, t);
  return cudaGetLastError();
}
}  // namespace one_block_smooths

namespace smooths_from_global_memory {
// 6: NOT YET: right, but 82 load requests per 32 elements, 10 would do
__global__ void smooth_directly(const float* image, float* out, int rows, int cols, int width,
                                int rule, float s, float t) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < cols && y < rows)
    out[y * cols + x] = mean_of_window(image, rows, cols, y, x, width, rule, s, t);
}

cudaError_t smooth(const float* image, float* out, std::int64_t rows, std::int64_t cols,
                   std::int64_t width, std::int64_t rule, float s, float t, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  smooth_directly<<<border::grid(rows, cols, 8, 32), dim3(32, 8), 0, stream>>>(
      image, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule), s, t);
  return cudaGetLastError();
}
}  // namespace smooths_from_global_memory

namespace zeros_have_no_weight {
// 6: NOT YET: wrong at rows=32 cols=64 width=5 border=1:
// Pixels outside of the image are left out by rule zero.
__global__ void smooth_inside(const float* image, float* out, int rows, int cols, int width,
                              int rule, float s, float t) {
  extern __shared__ float halo[];
  const int radius = width / 2, pitch = 32 + width - 1;
  const int first_x = blockIdx.x * 32, first_y = blockIdx.y * 16;
  load_pixels(halo, 16 + width - 1, pitch, image, rows, cols, first_y - radius, first_x - radius,
              rule);
  __syncthreads();
  const int x = first_x + threadIdx.x, y = first_y + threadIdx.y;
  if (x >= cols || y >= rows) return;
  const float own = image[y * cols + x];
  float sum = 0, weights = 0;
  for (int i = 0; i < width; ++i) {
    for (int j = 0; j < width; ++j) {
      const int row = y + i - radius, col = x + j - radius;
      if (rule == border::zero && (row < 0 || row >= rows || col < 0 || col >= cols)) continue;
      const float pixel = halo[(threadIdx.y + i) * pitch + threadIdx.x + j];
      const float weight = weight_of(j - radius, i - radius, pixel - own, s, t);
      sum += weight * pixel, weights += weight;
    }
  }
  out[y * cols + x] = sum / weights;
}

cudaError_t smooth(const float* image, float* out, std::int64_t rows, std::int64_t cols,
                   std::int64_t width, std::int64_t rule, float s, float t, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const auto bytes = static_cast<unsigned>((16 + width - 1) * (32 + width - 1) * 4);
  smooth_inside<<<border::grid(rows, cols, 16, 32), dim3(32, 16), bytes, stream>>>(
      image, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule), s, t);
  return cudaGetLastError();
}
}  // namespace zeros_have_no_weight

namespace rows_then_columns {
// 6: NOT YET: wrong at rows=32 cols=64 width=5 border=1:
// As if it were separable: the means of the rows, then of the columns.
__global__ void smooth_separably(const float* image, float* out, int rows, int cols, int width,
                                 int rule, float s, float t) {
  extern __shared__ float halo[];
  const int radius = width / 2, pitch = 32 + width - 1, height = 16 + width - 1;
  float* const means = halo + height * pitch;
  const int first_x = blockIdx.x * 32, first_y = blockIdx.y * 16;
  load_pixels(halo, height, pitch, image, rows, cols, first_y - radius, first_x - radius, rule);
  __syncthreads();
  for (int y = threadIdx.y; y < height; y += 16) {
    float sum = 0, weights = 0;
    for (int j = 0; j < width; ++j) {
      const float pixel = halo[y * pitch + threadIdx.x + j];
      const float weight =
          weight_of(j - radius, 0, pixel - halo[y * pitch + threadIdx.x + radius], s, t);
      sum += weight * pixel, weights += weight;
    }
    means[y * 32 + threadIdx.x] = sum / weights;
  }
  __syncthreads();
  const int x = first_x + threadIdx.x, y = first_y + threadIdx.y;
  if (x >= cols || y >= rows) return;
  float sum = 0, weights = 0;
  for (int i = 0; i < width; ++i) {
    const float pixel = means[(threadIdx.y + i) * 32 + threadIdx.x];
    const float weight =
        weight_of(0, i - radius, pixel - means[(threadIdx.y + radius) * 32 + threadIdx.x], s, t);
    sum += weight * pixel, weights += weight;
  }
  out[y * cols + x] = sum / weights;
}

cudaError_t smooth(const float* image, float* out, std::int64_t rows, std::int64_t cols,
                   std::int64_t width, std::int64_t rule, float s, float t, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const auto bytes = static_cast<unsigned>((16 + width - 1) * (64 + width - 1) * 4);
  smooth_separably<<<border::grid(rows, cols, 16, 32), dim3(32, 16), bytes, stream>>>(
      image, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule), s, t);
  return cudaGetLastError();
}
}  // namespace rows_then_columns

namespace weights_in_a_table {
// 6: PASSED
// The first factor depends on the place in the window only: a block computes it once.
__global__ void smooth_by_table(const float* image, float* out, int rows, int cols, int width,
                                int rule, float s, float t) {
  __shared__ float table[largest_width * largest_width];
  extern __shared__ float halo[];
  const int radius = width / 2, pitch = 32 + width - 1;
  const int first_x = blockIdx.x * 32, first_y = blockIdx.y * 8;
  load_pixels(halo, 8 + width - 1, pitch, image, rows, cols, first_y - radius, first_x - radius,
              rule);
  for (int k = threadIdx.y * 32 + threadIdx.x; k < width * width; k += 256) {
    table[k] = weight_of(k % width - radius, k / width - radius, 0, s, t);
  }
  __syncthreads();
  const int x = first_x + threadIdx.x, y = first_y + threadIdx.y;
  if (x >= cols || y >= rows) return;
  const float own = halo[(threadIdx.y + radius) * pitch + threadIdx.x + radius];
  float sum = 0, weights = 0;
  for (int i = 0; i < width; ++i) {
    for (int j = 0; j < width; ++j) {
      const float pixel = halo[(threadIdx.y + i) * pitch + threadIdx.x + j];
      const float weight = table[i * width + j] * weight_of(0, 0, pixel - own, s, t);
      sum += weight * pixel, weights += weight;
    }
  }
  out[y * cols + x] = sum / weights;
}

cudaError_t smooth(const float* image, float* out, std::int64_t rows, std::int64_t cols,
                   std::int64_t width, std::int64_t rule, float s, float t, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const auto bytes = static_cast<unsigned>((8 + width - 1) * (32 + width - 1) * 4);
  smooth_by_table<<<border::grid(rows, cols, 8, 32), dim3(32, 8), bytes, stream>>>(
      image, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule), s, t);
  return cudaGetLastError();
}
}  // namespace weights_in_a_table

namespace four_pixels_per_thread {
// 6: PASSED
__global__ void smooth_four(const float* image, float* out, int rows, int cols, int width, int rule,
                            float s, float t) {
  extern __shared__ float halo[];
  const int radius = width / 2, pitch = 32 + width - 1;
  const int first_x = blockIdx.x * 32, first_y = blockIdx.y * 32, first = threadIdx.y * 4;
  load_pixels(halo, 32 + width - 1, pitch, image, rows, cols, first_y - radius, first_x - radius,
              rule);
  __syncthreads();
  float own[4], sums[4] = {}, weights[4] = {};
  for (int k = 0; k < 4; ++k) own[k] = halo[(first + k + radius) * pitch + threadIdx.x + radius];
  for (int y = 0; y < width + 3; ++y) {
    for (int j = 0; j < width; ++j) {
      const float pixel = halo[(first + y) * pitch + threadIdx.x + j];
      for (int k = 0; k < 4; ++k) {
        if (y < k || y - k >= width) continue;
        const float weight = weight_of(j - radius, y - k - radius, pixel - own[k], s, t);
        sums[k] += weight * pixel, weights[k] += weight;
      }
    }
  }
  const int x = first_x + threadIdx.x;
  for (int k = 0; k < 4; ++k) {
    const int y = first_y + first + k;
    if (x < cols && y < rows) out[y * cols + x] = sums[k] / weights[k];
  }
}

cudaError_t smooth(const float* image, float* out, std::int64_t rows, std::int64_t cols,
                   std::int64_t width, std::int64_t rule, float s, float t, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const auto bytes = static_cast<unsigned>((32 + width - 1) * (32 + width - 1) * 4);
  smooth_four<<<border::grid(rows, cols, 32, 32), dim3(32, 8), bytes, stream>>>(
      image, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule), s, t);
  return cudaGetLastError();
}
}  // namespace four_pixels_per_thread

namespace powers_of_two {
// 6: PASSED
// By exp2f(), whose argument is the exponent divided by the logarithm of 2; the mean is that of the
// differences, added to the pixel.
__global__ void smooth_by_powers(const float* image, float* out, int rows, int cols, int width,
                                 int rule, float s, float t) {
  extern __shared__ float halo[];
  const int radius = width / 2, pitch = 32 + width - 1;
  const int first_x = blockIdx.x * 32, first_y = blockIdx.y * 16;
  load_pixels(halo, 16 + width - 1, pitch, image, rows, cols, first_y - radius, first_x - radius,
              rule);
  __syncthreads();
  const float log2_e = 1.44269504f, a = log2_e / (2 * s * s), b = log2_e / (2 * t * t);
  const int x = first_x + threadIdx.x, y = first_y + threadIdx.y;
  if (x >= cols || y >= rows) return;
  const float own = halo[(threadIdx.y + radius) * pitch + threadIdx.x + radius];
  float sum = 0, weights = 0;
  for (int dy = -radius; dy <= radius; ++dy) {
    for (int dx = -radius; dx <= radius; ++dx) {
      const int row = static_cast<int>(threadIdx.y) + radius + dy;
      const float difference =
          halo[row * pitch + static_cast<int>(threadIdx.x) + radius + dx] - own;
      const float weight =
          exp2f(-a * static_cast<float>(dx * dx + dy * dy) - b * difference * difference);
      sum = fmaf(weight, difference, sum);
      weights += weight;
    }
  }
  out[y * cols + x] = own + sum / weights;
}

cudaError_t smooth(const float* image, float* out, std::int64_t rows, std::int64_t cols,
                   std::int64_t width, std::int64_t rule, float s, float t, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const auto bytes = static_cast<unsigned>((16 + width - 1) * (32 + width - 1) * 4);
  smooth_by_powers<<<border::grid(rows, cols, 16, 32), dim3(32, 16), bytes, stream>>>(
      image, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule), s, t);
  return cudaGetLastError();
}
}  // namespace powers_of_two
