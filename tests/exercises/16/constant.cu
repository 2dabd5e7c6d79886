// Answers to exercise 2 of chapter 16, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstdint>

#include "border.cuh"

__device__ float weighted(const float* image, const Filter& filter, int rows, int cols, int y,
                          int x, int width, int rule) {
  float sum = 0;
  for (int i = 0; i < width; ++i) {
    for (int j = 0; j < width; ++j) {
      sum += filter.at[i * width + j] *
             border::pixel(image, rows, cols, y + i - width / 2, x + j - width / 2, rule);
    }
  }
  return sum;
}

namespace one_thread_with_constant {
// 2: NOT YET: right, but one after the other
__global__ void convolve_all(const float* image, const __grid_constant__ Filter filter, float* out,
                             int rows, int cols, int width, int rule) {
  for (int i = 0; i < rows * cols; ++i) {
    out[i] = weighted(image, filter, rows, cols, i / cols, i % cols, width, rule);
  }
}

cudaError_t convolve_by(const float* image, const float*, const Filter& filter, float* out,
                        std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                        cudaStream_t stream) {
  convolve_all<<<1, 1, 0, stream>>>(image, filter, out, static_cast<int>(rows),
                                    static_cast<int>(cols), static_cast<int>(width),
                                    static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace one_thread_with_constant

namespace one_lane_per_warp_with_constant {
// 2: NOT YET: right, but one after the other
__global__ void convolve_runs(const float* image, const __grid_constant__ Filter filter, float* out,
                              int rows, int cols, int width, int rule) {
  const int first = blockIdx.x * 256 + threadIdx.x;
  if (threadIdx.x % 32 != 0) return;
  for (int i = first; i < first + 32 && i < rows * cols; ++i) {
    out[i] = weighted(image, filter, rows, cols, i / cols, i % cols, width, rule);
  }
}

cudaError_t convolve_by(const float* image, const float*, const Filter& filter, float* out,
                        std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                        cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  convolve_runs<<<static_cast<unsigned>((rows * cols + 255) / 256), 256, 0, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp_with_constant

namespace one_block_with_constant {
// 2: NOT YET: right, but one after the other
__global__ void convolve_by_block(const float* image, const __grid_constant__ Filter filter,
                                  float* out, int rows, int cols, int width, int rule) {
  for (int i = threadIdx.x; i < rows * cols; i += 1024) {
    out[i] = weighted(image, filter, rows, cols, i / cols, i % cols, width, rule);
  }
}

cudaError_t convolve_by(const float* image, const float*, const Filter& filter, float* out,
                        std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                        cudaStream_t stream) {
  convolve_by_block<<<1, 1024, 0, stream>>>(image, filter, out, static_cast<int>(rows),
                                            static_cast<int>(cols), static_cast<int>(width),
                                            static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace one_block_with_constant

namespace read_only_loads {
// 2: NOT YET: right, but 162 load requests per 32 elements, 85.05 would do
__global__ void convolve_read_only(const float* __restrict__ image,
                                   const float* __restrict__ filter, float* __restrict__ out,
                                   int rows, int cols, int width, int rule) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= cols || y >= rows) return;
  float sum = 0;
  for (int i = 0; i < width; ++i) {
    for (int j = 0; j < width; ++j) {
      sum += __ldg(&filter[i * width + j]) *
             border::pixel(image, rows, cols, y + i - width / 2, x + j - width / 2, rule);
    }
  }
  out[y * cols + x] = sum;
}

cudaError_t convolve_by(const float* image, const float* coefficients, const Filter&, float* out,
                        std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                        cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  convolve_read_only<<<border::grid(rows, cols, 8, 32), dim3(32, 8), 0, stream>>>(
      image, coefficients, out, static_cast<int>(rows), static_cast<int>(cols),
      static_cast<int>(width), static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace read_only_loads

namespace copy_of_each_thread {
// 2: NOT YET: right, but 162 load requests per 32 elements, 85.05 would do
// All coefficients in an array of the thread.
__global__ void convolve_copied(const float* image, const float* coefficients, float* out, int rows,
                                int cols, int width, int rule) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= cols || y >= rows) return;
  Filter filter;
  for (int k = 0; k < width * width; ++k) filter.at[k] = coefficients[k];
  out[y * cols + x] = weighted(image, filter, rows, cols, y, x, width, rule);
}

cudaError_t convolve_by(const float* image, const float* coefficients, const Filter&, float* out,
                        std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                        cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  convolve_copied<<<border::grid(rows, cols, 8, 32), dim3(32, 8), 0, stream>>>(
      image, coefficients, out, static_cast<int>(rows), static_cast<int>(cols),
      static_cast<int>(width), static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace copy_of_each_thread

namespace pointer_to_the_host {
// 2: NOT YET: wrong at rows=32 cols=64 width=5 border=1:
// The address of the filter, which is the host's, instead of the filter.
__global__ void convolve_from_host(const float* image, const float* filter, float* out, int rows,
                                   int cols, int width, int rule) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= cols || y >= rows) return;
  float sum = 0;
  for (int i = 0; i < width; ++i) {
    for (int j = 0; j < width; ++j) {
      sum += filter[i * width + j] *
             border::pixel(image, rows, cols, y + i - width / 2, x + j - width / 2, rule);
    }
  }
  out[y * cols + x] = sum;
}

cudaError_t convolve_by(const float* image, const float*, const Filter& filter, float* out,
                        std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                        cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  convolve_from_host<<<border::grid(rows, cols, 8, 32), dim3(32, 8), 0, stream>>>(
      image, filter.at, out, static_cast<int>(rows), static_cast<int>(cols),
      static_cast<int>(width), static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace pointer_to_the_host

namespace four_pixels_from_memory {
// 2: NOT YET: right, but 101.2 load requests per 32 elements, 85.05 would do
// Coefficients stay in global memory; each serves four pixels.
__global__ void convolve_four(const float* image, const float* filter, float* out, int rows,
                              int cols, int width, int rule) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = (blockIdx.y * 4 + threadIdx.y) * 4;
  if (x >= cols) return;
  float sums[4] = {};
  for (int i = 0; i < width; ++i) {
    for (int j = 0; j < width; ++j) {
      const float coefficient = filter[i * width + j];
      for (int k = 0; k < 4; ++k) {
        sums[k] += coefficient *
                   border::pixel(image, rows, cols, y + k + i - width / 2, x + j - width / 2, rule);
      }
    }
  }
  for (int k = 0; k < 4 && y + k < rows; ++k) out[(y + k) * cols + x] = sums[k];
}

cudaError_t convolve_by(const float* image, const float* coefficients, const Filter&, float* out,
                        std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                        cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  convolve_four<<<border::grid(rows, cols, 16, 32), dim3(32, 4), 0, stream>>>(
      image, coefficients, out, static_cast<int>(rows), static_cast<int>(cols),
      static_cast<int>(width), static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace four_pixels_from_memory

namespace constant_variable {
// 2: PASSED
__constant__ float coefficients_of_all[largest_width * largest_width];

__global__ void convolve_with_variable(const float* image, float* out, int rows, int cols,
                                       int width, int rule) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= cols || y >= rows) return;
  float sum = 0;
  for (int i = 0; i < width; ++i) {
    for (int j = 0; j < width; ++j) {
      sum += coefficients_of_all[i * width + j] *
             border::pixel(image, rows, cols, y + i - width / 2, x + j - width / 2, rule);
    }
  }
  out[y * cols + x] = sum;
}

cudaError_t convolve_by(const float* image, const float* coefficients, const Filter&, float* out,
                        std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                        cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  if (cudaError_t error = cudaMemcpyToSymbolAsync(coefficients_of_all, coefficients,
                                                  static_cast<std::size_t>(width * width) * 4, 0,
                                                  cudaMemcpyDeviceToDevice, stream)) {
    return error;
  }
  convolve_with_variable<<<border::grid(rows, cols, 8, 32), dim3(32, 8), 0, stream>>>(
      image, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace constant_variable

namespace filter_in_shared_memory {
// 2: PASSED
__global__ void convolve_with_shared(const float* image, const float* coefficients, float* out,
                                     int rows, int cols, int width, int rule) {
  __shared__ Filter filter;
  for (int k = threadIdx.y * 32 + threadIdx.x; k < width * width; k += 512) {
    filter.at[k] = coefficients[k];
  }
  __syncthreads();
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < cols && y < rows) {
    out[y * cols + x] = weighted(image, filter, rows, cols, y, x, width, rule);
  }
}

cudaError_t convolve_by(const float* image, const float* coefficients, const Filter&, float* out,
                        std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                        cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  convolve_with_shared<<<border::grid(rows, cols, 16, 32), dim3(32, 16), 0, stream>>>(
      image, coefficients, out, static_cast<int>(rows), static_cast<int>(cols),
      static_cast<int>(width), static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace filter_in_shared_memory

namespace tile_and_constant {
// 2: PASSED
__global__ void convolve_tile(const float* image, const __grid_constant__ Filter filter, float* out,
                              int rows, int cols, int width, int rule) {
  __shared__ float halo[16 + 30][32 + 30];
  const int first_x = blockIdx.x * 32, first_y = blockIdx.y * 16, radius = width / 2;
  for (int y = threadIdx.y; y < 16 + 2 * radius; y += 16) {
    for (int x = threadIdx.x; x < 32 + 2 * radius; x += 32) {
      halo[y][x] =
          border::pixel(image, rows, cols, first_y + y - radius, first_x + x - radius, rule);
    }
  }
  __syncthreads();
  const int x = first_x + threadIdx.x, y = first_y + threadIdx.y;
  if (x >= cols || y >= rows) return;
  float sum = 0;
  for (int i = 0; i < width; ++i) {
    for (int j = 0; j < width; ++j) {
      sum += filter.at[i * width + j] * halo[threadIdx.y + i][threadIdx.x + j];
    }
  }
  out[y * cols + x] = sum;
}

cudaError_t convolve_by(const float* image, const float*, const Filter& filter, float* out,
                        std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                        cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  convolve_tile<<<border::grid(rows, cols, 16, 32), dim3(32, 16), 0, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace tile_and_constant
