// Answers to exercise 1 of chapter 16, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstdint>

#include "border.cuh"

/// One result, computed by one thread.
__device__ float window_of(const float* image, const float* filter, int rows, int cols, int y,
                           int x, int width, int rule) {
  float sum = 0;
  for (int i = 0; i < width; ++i) {
    for (int j = 0; j < width; ++j) {
      sum += filter[i * width + j] *
             border::pixel(image, rows, cols, y + i - width / 2, x + j - width / 2, rule);
    }
  }
  return sum;
}

namespace one_thread {
// 1: NOT YET: right, but one after the other
__global__ void convolve_all(const float* image, const float* filter, float* out, int rows,
                             int cols, int width, int rule) {
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < cols; ++x) {
      out[y * cols + x] = window_of(image, filter, rows, cols, y, x, width, rule);
    }
  }
}

cudaError_t convolve(const float* image, const float* filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  convolve_all<<<1, 1, 0, stream>>>(image, filter, out, static_cast<int>(rows),
                                    static_cast<int>(cols), static_cast<int>(width),
                                    static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace one_thread

namespace one_lane_per_warp {
// 1: NOT YET: right, but one after the other
__global__ void convolve_runs(const float* image, const float* filter, float* out, int rows,
                              int cols, int width, int rule) {
  const int first = blockIdx.x * 256 + threadIdx.x;
  if (threadIdx.x % 32 != 0) return;
  for (int i = first; i < first + 32 && i < rows * cols; ++i) {
    out[i] = window_of(image, filter, rows, cols, i / cols, i % cols, width, rule);
  }
}

cudaError_t convolve(const float* image, const float* filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  convolve_runs<<<static_cast<unsigned>((rows * cols + 255) / 256), 256, 0, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp

namespace one_block {
// 1: NOT YET: right, but one after the other
__global__ void convolve_by_block(const float* image, const float* filter, float* out, int rows,
                                  int cols, int width, int rule) {
  for (int i = threadIdx.x; i < rows * cols; i += 1024) {
    out[i] = window_of(image, filter, rows, cols, i / cols, i % cols, width, rule);
  }
}

cudaError_t convolve(const float* image, const float* filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  convolve_by_block<<<1, 1024, 0, stream>>>(image, filter, out, static_cast<int>(rows),
                                            static_cast<int>(cols), static_cast<int>(width),
                                            static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace one_block

namespace a_launch_per_row {
// 1: NOT YET: right, but one after the other
__global__ void convolve_row(const float* image, const float* filter, float* out, int rows,
                             int cols, int width, int rule, int y) {
  const int x = blockIdx.x * 256 + threadIdx.x;
  if (x < cols) out[y * cols + x] = window_of(image, filter, rows, cols, y, x, width, rule);
}

cudaError_t convolve(const float* image, const float* filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (cols == 0) return cudaSuccess;
  for (int y = 0; y < rows; ++y) {
    convolve_row<<<static_cast<unsigned>((cols + 255) / 256), 256, 0, stream>>>(
        image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
        static_cast<int>(rule), y);
  }
  return cudaGetLastError();
}
}  // namespace a_launch_per_row

namespace neighbours_in_a_column {
// 1: NOT YET: right, but it moves
__global__ void convolve_columns(const float* image, const float* filter, float* out, int rows,
                                 int cols, int width, int rule) {
  const int y = blockIdx.x * 32 + threadIdx.x, x = blockIdx.y * 8 + threadIdx.y;
  if (x < cols && y < rows) {
    out[y * cols + x] = window_of(image, filter, rows, cols, y, x, width, rule);
  }
}

cudaError_t convolve(const float* image, const float* filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const dim3 grid(static_cast<unsigned>((rows + 31) / 32), static_cast<unsigned>((cols + 7) / 8));
  convolve_columns<<<grid, dim3(32, 8), 0, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace neighbours_in_a_column

namespace index_is_clamped {
// 1: NOT YET: wrong at rows=32 cols=64 width=5 border=0:
// The index into the whole image, not the row and the column.
__global__ void convolve_by_index(const float* image, const float* filter, float* out, int rows,
                                  int cols, int width, int rule) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= cols || y >= rows) return;
  float sum = 0;
  for (int i = 0; i < width; ++i) {
    for (int j = 0; j < width; ++j) {
      const int row = y + i - width / 2, col = x + j - width / 2;
      const int at = row * cols + col, last = rows * cols - 1;
      sum += filter[i * width + j] * (rule == border::clamp
                                          ? image[at < 0      ? 0
                                                  : at > last ? last
                                                              : at]
                                          : border::pixel(image, rows, cols, row, col, rule));
    }
  }
  out[y * cols + x] = sum;
}

cudaError_t convolve(const float* image, const float* filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  convolve_by_index<<<border::grid(rows, cols, 8, 32), dim3(32, 8), 0, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace index_is_clamped

namespace border_is_left_out {
// 1: NOT YET: wrong at rows=32 cols=64 width=5 border=1:
__global__ void convolve_interior(const float* image, const float* filter, float* out, int rows,
                                  int cols, int width, int rule) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const int radius = width / 2;
  if (x < radius || x >= cols - radius || y < radius || y >= rows - radius) return;
  out[y * cols + x] = window_of(image, filter, rows, cols, y, x, width, rule);
}

cudaError_t convolve(const float* image, const float* filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  convolve_interior<<<border::grid(rows, cols, 8, 32), dim3(32, 8), 0, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace border_is_left_out

namespace fast_inside {
// 1: PASSED
// Blocks whose windows lie in the image do not ask for the border.
__global__ void convolve_inside(const float* image, const float* filter, float* out, int rows,
                                int cols, int width, int rule) {
  const int first_x = blockIdx.x * 32, first_y = blockIdx.y * 16, radius = width / 2;
  const int x = first_x + threadIdx.x, y = first_y + threadIdx.y;
  if (x >= cols || y >= rows) return;
  if (first_x < radius || first_y < radius || first_x + 32 + radius > cols ||
      first_y + 16 + radius > rows) {
    out[y * cols + x] = window_of(image, filter, rows, cols, y, x, width, rule);
    return;
  }
  float sum = 0;
  for (int i = 0; i < width; ++i) {
    const float* const row = &image[(y + i - radius) * cols + x - radius];
    for (int j = 0; j < width; ++j) sum += filter[i * width + j] * row[j];
  }
  out[y * cols + x] = sum;
}

cudaError_t convolve(const float* image, const float* filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  convolve_inside<<<border::grid(rows, cols, 16, 32), dim3(32, 16), 0, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace fast_inside

namespace tile_for_any_filter {
// 1: PASSED
__global__ void convolve_tile(const float* image, const float* filter, float* out, int rows,
                              int cols, int width, int rule) {
  __shared__ float halo[(16 + 30) * (32 + 30)];
  const int pitch = 32 + width - 1, first_x = blockIdx.x * 32, first_y = blockIdx.y * 16;
  const int t = threadIdx.y * 32 + threadIdx.x;
  for (int k = t; k < pitch * (16 + width - 1); k += 512) {
    halo[k] = border::pixel(image, rows, cols, first_y + k / pitch - width / 2,
                            first_x + k % pitch - width / 2, rule);
  }
  __syncthreads();
  const int x = first_x + threadIdx.x, y = first_y + threadIdx.y;
  if (x >= cols || y >= rows) return;
  float sum = 0;
  for (int i = 0; i < width; ++i) {
    for (int j = 0; j < width; ++j) {
      sum += filter[i * width + j] * halo[(threadIdx.y + i) * pitch + threadIdx.x + j];
    }
  }
  out[y * cols + x] = sum;
}

cudaError_t convolve(const float* image, const float* filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  convolve_tile<<<border::grid(rows, cols, 16, 32), dim3(32, 16), 0, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace tile_for_any_filter

namespace four_of_a_column {
// 1: PASSED
// A thread loads a coefficient once for four pixels, one below the other.
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

cudaError_t convolve(const float* image, const float* filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  convolve_four<<<border::grid(rows, cols, 16, 32), dim3(32, 4), 0, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace four_of_a_column
