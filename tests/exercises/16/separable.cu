// Answers to exercise 5 of chapter 16, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstdint>

#include "border.cuh"

/// Loads the pixels of a tile and its halo, by all threads of a block.
__device__ void load_halo(float* halo, int height, int pitch, const float* image, int rows,
                          int cols, int top, int left, int rule) {
  const int threads = blockDim.x * blockDim.y;
  for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < height * pitch; k += threads) {
    halo[k] = border::pixel(image, rows, cols, top + k / pitch, left + k % pitch, rule);
  }
}

__device__ float separable_window(const float* image, const SeparableFilter& filter, int rows,
                                  int cols, int y, int x, int width, int rule) {
  float sum = 0;
  for (int i = 0; i < width; ++i) {
    float of_row = 0;
    for (int j = 0; j < width; ++j) {
      of_row += filter.row[j] *
                border::pixel(image, rows, cols, y + i - width / 2, x + j - width / 2, rule);
    }
    sum += filter.column[i] * of_row;
  }
  return sum;
}

/// All products of a window, as in version 04.
template <int per_thread>
__global__ void convolve_points(const float* image, const __grid_constant__ SeparableFilter filter,
                                float* out, int rows, int cols, int width, int rule) {
  extern __shared__ float halo[];
  constexpr int tile_rows = 64;
  const int pitch = 32 + width - 1, first_x = blockIdx.x * 32, first_y = blockIdx.y * tile_rows;
  load_halo(halo, tile_rows + width - 1, pitch, image, rows, cols, first_y - width / 2,
            first_x - width / 2, rule);
  __syncthreads();
  float sums[per_thread] = {};
  const int first = threadIdx.y * per_thread;
  for (int j = 0; j < width; ++j) {
    for (int y = 0; y < per_thread + width - 1; ++y) {
      const float pixel = filter.row[j] * halo[(first + y) * pitch + threadIdx.x + j];
      for (int k = 0; k < per_thread; ++k) {
        if (y >= k && y - k < width) sums[k] += filter.column[y - k] * pixel;
      }
    }
  }
  const int x = first_x + threadIdx.x, y = first_y + first;
  for (int k = 0; k < per_thread; ++k) {
    if (x < cols && y + k < rows) out[(y + k) * cols + x] = sums[k];
  }
}

template <int per_thread>
cudaError_t launch_points(const float* image, const SeparableFilter& filter, float* out,
                          std::int64_t rows, std::int64_t cols, std::int64_t width,
                          std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const auto bytes = static_cast<unsigned>((64 + width - 1) * (32 + width - 1) * 4);
  convolve_points<per_thread>
      <<<border::grid(rows, cols, 64, 32), dim3(32, 64 / per_thread), bytes, stream>>>(
          image, filter, out, static_cast<int>(rows), static_cast<int>(cols),
          static_cast<int>(width), static_cast<int>(rule));
  return cudaGetLastError();
}

namespace one_thread_for_rows_and_columns {
// 5: NOT YET: right, but one after the other
__global__ void convolve_all(const float* image, const __grid_constant__ SeparableFilter filter,
                             float* out, int rows, int cols, int width, int rule) {
  for (int i = 0; i < rows * cols; ++i) {
    out[i] = separable_window(image, filter, rows, cols, i / cols, i % cols, width, rule);
  }
}

cudaError_t convolve(const float* image, const SeparableFilter& filter, float* out,
                     std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  convolve_all<<<1, 1, 0, stream>>>(image, filter, out, static_cast<int>(rows),
                                    static_cast<int>(cols), static_cast<int>(width),
                                    static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace one_thread_for_rows_and_columns

namespace one_lane_for_rows_and_columns {
// 5: NOT YET: right, but one after the other
// Factored, 32 pixels of a column per warp: the other lanes have nothing to do.
__global__ void convolve_runs(const float* image, const __grid_constant__ SeparableFilter filter,
                              float* out, int rows, int cols, int width, int rule) {
  const int run = (blockIdx.x * 256 + threadIdx.x) / 32, x = run % cols, first = run / cols * 32;
  if (threadIdx.x % 32 != 0 || first >= rows) return;
  float sums[32 + largest_width - 1];
  for (int k = 0; k < 32 + width - 1; ++k) {
    sums[k] = 0;
    for (int j = 0; j < width; ++j) {
      sums[k] += filter.row[j] *
                 border::pixel(image, rows, cols, first + k - width / 2, x + j - width / 2, rule);
    }
  }
  for (int y = first; y < first + 32 && y < rows; ++y) {
    float sum = 0;
    for (int i = 0; i < width; ++i) sum += filter.column[i] * sums[y - first + i];
    out[y * cols + x] = sum;
  }
}

cudaError_t convolve(const float* image, const SeparableFilter& filter, float* out,
                     std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const std::int64_t runs = (rows + 31) / 32 * cols;
  convolve_runs<<<static_cast<unsigned>((runs + 7) / 8), 256, 0, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace one_lane_for_rows_and_columns

namespace one_block_for_rows_and_columns {
// 5: NOT YET: right, but one after the other
__global__ void convolve_by_block(const float* image,
                                  const __grid_constant__ SeparableFilter filter, float* out,
                                  int rows, int cols, int width, int rule) {
  extern __shared__ float halo[];
  const int pitch = 32 + width - 1, height = 64 + width - 1;
  float* const sums = halo + height * pitch;
  for (int first_y = 0; first_y < rows; first_y += 64) {
    for (int first_x = 0; first_x < cols; first_x += 32) {
      load_halo(halo, height, pitch, image, rows, cols, first_y - width / 2, first_x - width / 2,
                rule);
      __syncthreads();
      for (int y = threadIdx.y; y < height; y += 32) {
        float sum = 0;
        for (int j = 0; j < width; ++j) sum += filter.row[j] * halo[y * pitch + threadIdx.x + j];
        sums[y * 32 + threadIdx.x] = sum;
      }
      __syncthreads();
      const int x = first_x + threadIdx.x;
      for (int y = threadIdx.y; y < 64; y += 32) {
        float sum = 0;
        for (int i = 0; i < width; ++i) sum += filter.column[i] * sums[(y + i) * 32 + threadIdx.x];
        if (x < cols && first_y + y < rows) out[(first_y + y) * cols + x] = sum;
      }
      __syncthreads();
    }
  }
}

cudaError_t convolve(const float* image, const SeparableFilter& filter, float* out,
                     std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const auto bytes = static_cast<unsigned>((64 + width - 1) * (64 + width - 1) * 4);
  convolve_by_block<<<1, dim3(32, 32), bytes, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace one_block_for_rows_and_columns

namespace products_from_global_memory {
// 5: NOT YET: right, but it moves
__global__ void convolve_directly(const float* image,
                                  const __grid_constant__ SeparableFilter filter, float* out,
                                  int rows, int cols, int width, int rule) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < cols && y < rows)
    out[y * cols + x] = separable_window(image, filter, rows, cols, y, x, width, rule);
}

cudaError_t convolve(const float* image, const SeparableFilter& filter, float* out,
                     std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  convolve_directly<<<border::grid(rows, cols, 8, 32), dim3(32, 8), 0, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace products_from_global_memory

namespace row_sums_of_each_thread {
// 5: NOT YET: right, but 15.5 wavefronts of shared memory per multiplication of a warp, 1.5 would
// Factors the sum, but each thread adds up the rows of its own window.
__global__ void convolve_factored(const float* image,
                                  const __grid_constant__ SeparableFilter filter, float* out,
                                  int rows, int cols, int width, int rule) {
  extern __shared__ float halo[];
  const int pitch = 32 + width - 1, first_x = blockIdx.x * 32, first_y = blockIdx.y * 16;
  load_halo(halo, 16 + width - 1, pitch, image, rows, cols, first_y - width / 2,
            first_x - width / 2, rule);
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < width; ++i) {
    float of_row = 0;
    for (int j = 0; j < width; ++j)
      of_row += filter.row[j] * halo[(threadIdx.y + i) * pitch + threadIdx.x + j];
    sum += filter.column[i] * of_row;
  }
  const int x = first_x + threadIdx.x, y = first_y + threadIdx.y;
  if (x < cols && y < rows) out[y * cols + x] = sum;
}

cudaError_t convolve(const float* image, const SeparableFilter& filter, float* out,
                     std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const auto bytes = static_cast<unsigned>((16 + width - 1) * (32 + width - 1) * 4);
  convolve_factored<<<border::grid(rows, cols, 16, 32), dim3(32, 16), bytes, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace row_sums_of_each_thread

namespace eight_pixels_by_all_products {
// 5: NOT YET: right, but 2.375 wavefronts of shared memory per multiplication of a warp, 1.5 would
cudaError_t convolve(const float* image, const SeparableFilter& filter, float* out,
                     std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  return launch_points<8>(image, filter, out, rows, cols, width, rule, stream);
}
}  // namespace eight_pixels_by_all_products

namespace sixteen_pixels_by_all_products {
// 5: NOT YET: right, but one after the other
cudaError_t convolve(const float* image, const SeparableFilter& filter, float* out,
                     std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  return launch_points<16>(image, filter, out, rows, cols, width, rule, stream);
}
}  // namespace sixteen_pixels_by_all_products

namespace border_after_the_rows {
// 5: NOT YET: wrong at rows=
// The row pass leaves out the rows of the halo that lie outside of the image.
__global__ void convolve_inside(const float* image, const __grid_constant__ SeparableFilter filter,
                                float* out, int rows, int cols, int width, int rule) {
  extern __shared__ float halo[];
  const int radius = width / 2, pitch = 32 + width - 1, height = 64 + width - 1;
  float* const sums = halo + height * pitch;
  const int first_x = blockIdx.x * 32, first_y = blockIdx.y * 64;
  load_halo(halo, height, pitch, image, rows, cols, first_y - radius, first_x - radius, rule);
  __syncthreads();
  for (int y = threadIdx.y; y < height; y += 16) {
    const int row = first_y + y - radius;
    float sum = 0;
    if (row >= 0 && row < rows) {
      for (int j = 0; j < width; ++j) sum += filter.row[j] * halo[y * pitch + threadIdx.x + j];
    }
    sums[y * 32 + threadIdx.x] = sum;
  }
  __syncthreads();
  const int x = first_x + threadIdx.x;
  for (int y = threadIdx.y; y < 64; y += 16) {
    float sum = 0;
    for (int i = 0; i < width; ++i) sum += filter.column[i] * sums[(y + i) * 32 + threadIdx.x];
    if (x < cols && first_y + y < rows) out[(first_y + y) * cols + x] = sum;
  }
}

cudaError_t convolve(const float* image, const SeparableFilter& filter, float* out,
                     std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const auto bytes = static_cast<unsigned>((64 + width - 1) * (64 + width - 1) * 4);
  convolve_inside<<<border::grid(rows, cols, 64, 32), dim3(32, 16), bytes, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace border_after_the_rows

namespace columns_then_rows {
// 5: PASSED
// The columns first: of a wide tile, whose halo has few columns.
__global__ void convolve_columns_first(const float* image,
                                       const __grid_constant__ SeparableFilter filter, float* out,
                                       int rows, int cols, int width, int rule) {
  extern __shared__ float halo[];
  const int radius = width / 2, pitch = 128 + width - 1;
  float* const sums = halo + (16 + width - 1) * pitch;
  const int first_x = blockIdx.x * 128, first_y = blockIdx.y * 16;
  load_halo(halo, 16 + width - 1, pitch, image, rows, cols, first_y - radius, first_x - radius,
            rule);
  __syncthreads();
  const int threads = blockDim.x * blockDim.y, t = threadIdx.y * 128 + threadIdx.x;
  for (int k = t; k < 16 * pitch; k += threads) {
    float sum = 0;
    for (int i = 0; i < width; ++i) sum += filter.column[i] * halo[k + i * pitch];
    sums[k] = sum;
  }
  __syncthreads();
  const int x = first_x + threadIdx.x;
  for (int y = threadIdx.y; y < 16 && x < cols && first_y + y < rows; y += 4) {
    float sum = 0;
    for (int j = 0; j < width; ++j) sum += filter.row[j] * sums[y * pitch + threadIdx.x + j];
    out[(first_y + y) * cols + x] = sum;
  }
}

cudaError_t convolve(const float* image, const SeparableFilter& filter, float* out,
                     std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const auto bytes = static_cast<unsigned>((16 + 16 + width - 1) * (128 + width - 1) * 4);
  convolve_columns_first<<<border::grid(rows, cols, 16, 128), dim3(128, 4), bytes, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace columns_then_rows

namespace four_results_of_a_column {
// 5: PASSED
// A small tile, but the second pass uses each sum for four results.
__global__ void convolve_reusing(const float* image, const __grid_constant__ SeparableFilter filter,
                                 float* out, int rows, int cols, int width, int rule) {
  extern __shared__ float halo[];
  const int radius = width / 2, pitch = 32 + width - 1, height = 32 + width - 1;
  float* const sums = halo + height * pitch;
  const int first_x = blockIdx.x * 32, first_y = blockIdx.y * 32;
  load_halo(halo, height, pitch, image, rows, cols, first_y - radius, first_x - radius, rule);
  __syncthreads();
  for (int y = threadIdx.y; y < height; y += 8) {
    float sum = 0;
    for (int j = 0; j < width; ++j) sum += filter.row[j] * halo[y * pitch + threadIdx.x + j];
    sums[y * 32 + threadIdx.x] = sum;
  }
  __syncthreads();
  float results[4] = {};
  for (int i = 0; i < width + 3; ++i) {
    const float sum = sums[(threadIdx.y * 4 + i) * 32 + threadIdx.x];
    for (int k = 0; k < 4; ++k) {
      if (i >= k && i - k < width) results[k] += filter.column[i - k] * sum;
    }
  }
  const int x = first_x + threadIdx.x, y = first_y + threadIdx.y * 4;
  for (int k = 0; k < 4; ++k) {
    if (x < cols && y + k < rows) out[(y + k) * cols + x] = results[k];
  }
}

cudaError_t convolve(const float* image, const SeparableFilter& filter, float* out,
                     std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const auto bytes = static_cast<unsigned>((32 + width - 1) * (64 + width - 1) * 4);
  convolve_reusing<<<border::grid(rows, cols, 32, 32), dim3(32, 8), bytes, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace four_results_of_a_column
