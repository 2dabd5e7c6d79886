// Answers to exercises 3 and 4 of chapter 16, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstdint>

#include "border.cuh"

__device__ float window_by_filter(const float* image, const Filter& filter, int rows, int cols,
                                  int y, int x, int width, int rule) {
  float sum = 0;
  for (int i = 0; i < width; ++i) {
    for (int j = 0; j < width; ++j) {
      sum += filter.at[i * width + j] *
             border::pixel(image, rows, cols, y + i - width / 2, x + j - width / 2, rule);
    }
  }
  return sum;
}

/// Loads the pixels of a tile and its halo, by all threads of a block.
__device__ void load_tile(float* halo, int tile_rows, int pitch, const float* image, int rows,
                          int cols, int first_y, int first_x, int width, int rule) {
  const int threads = blockDim.x * blockDim.y, all = (tile_rows + width - 1) * pitch;
  for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < all; k += threads) {
    halo[k] = border::pixel(image, rows, cols, first_y + k / pitch - width / 2,
                            first_x + k % pitch - width / 2, rule);
  }
}

namespace one_thread_for_all {
// 3 4: NOT YET: right, but one after the other
__global__ void convolve_all(const float* image, const __grid_constant__ Filter filter, float* out,
                             int rows, int cols, int width, int rule) {
  for (int i = 0; i < rows * cols; ++i) {
    out[i] = window_by_filter(image, filter, rows, cols, i / cols, i % cols, width, rule);
  }
}

cudaError_t convolve(const float* image, const Filter& filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  convolve_all<<<1, 1, 0, stream>>>(image, filter, out, static_cast<int>(rows),
                                    static_cast<int>(cols), static_cast<int>(width),
                                    static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace one_thread_for_all

namespace one_lane_per_warp_for_all {
// 3 4: NOT YET: right, but one after the other
__global__ void convolve_runs(const float* image, const __grid_constant__ Filter filter, float* out,
                              int rows, int cols, int width, int rule) {
  const int first = blockIdx.x * 256 + threadIdx.x;
  if (threadIdx.x % 32 != 0) return;
  for (int i = first; i < first + 32 && i < rows * cols; ++i) {
    out[i] = window_by_filter(image, filter, rows, cols, i / cols, i % cols, width, rule);
  }
}

cudaError_t convolve(const float* image, const Filter& filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  convolve_runs<<<static_cast<unsigned>((rows * cols + 255) / 256), 256, 0, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp_for_all

namespace one_block_for_all {
// 3 4: NOT YET: right, but one after the other
__global__ void convolve_by_block(const float* image, const __grid_constant__ Filter filter,
                                  float* out, int rows, int cols, int width, int rule) {
  extern __shared__ float halo[];
  const int pitch = 32 + width - 1;
  for (int first_y = 0; first_y < rows; first_y += 32) {
    for (int first_x = 0; first_x < cols; first_x += 32) {
      __syncthreads();
      load_tile(halo, 32, pitch, image, rows, cols, first_y, first_x, width, rule);
      __syncthreads();
      const int x = first_x + threadIdx.x, y = first_y + threadIdx.y;
      if (x >= cols || y >= rows) continue;
      float sum = 0;
      for (int i = 0; i < width; ++i) {
        for (int j = 0; j < width; ++j) {
          sum += filter.at[i * width + j] * halo[(threadIdx.y + i) * pitch + threadIdx.x + j];
        }
      }
      out[y * cols + x] = sum;
    }
  }
}

cudaError_t convolve(const float* image, const Filter& filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const auto side = static_cast<unsigned>(32 + width - 1);
  convolve_by_block<<<1, dim3(32, 32), side * side * 4, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace one_block_for_all

namespace one_block_of_points {
// 4: NOT YET: right, but one after the other
__global__ void convolve_columns(const float* image, const __grid_constant__ Filter filter,
                                 float* out, int rows, int cols, int width, int rule) {
  extern __shared__ float halo[];
  constexpr int per_thread = 4, tile_rows = 32 * per_thread;
  for (int first_x = 0; first_x < cols; first_x += 32) {
    for (int first_y = 0; first_y < rows; first_y += tile_rows) {
      const int pitch = 32 + width - 1;
      __syncthreads();
      load_tile(halo, tile_rows, pitch, image, rows, cols, first_y, first_x, width, rule);
      __syncthreads();
      float sums[per_thread] = {};
      for (int j = 0; j < width; ++j) {
        for (int y = 0; y < per_thread + width - 1; ++y) {
          const float pixel = halo[(threadIdx.y * per_thread + y) * pitch + threadIdx.x + j];
          for (int k = 0; k < per_thread; ++k) {
            if (y >= k && y - k < width) sums[k] += filter.at[(y - k) * width + j] * pixel;
          }
        }
      }
      const int x = first_x + threadIdx.x, y = first_y + threadIdx.y * per_thread;
      for (int k = 0; k < per_thread; ++k) {
        if (x < cols && y + k < rows) out[(y + k) * cols + x] = sums[k];
      }
    }
  }
}

cudaError_t convolve(const float* image, const Filter& filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const auto bytes = static_cast<unsigned>((128 + width - 1) * (32 + width - 1) * 4);
  cudaFuncSetAttribute(convolve_columns, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10);
  convolve_columns<<<1, dim3(32, 32), bytes, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace one_block_of_points

namespace without_a_tile {
// 3 4: NOT YET: right, but it moves
__global__ void convolve_directly(const float* image, const __grid_constant__ Filter filter,
                                  float* out, int rows, int cols, int width, int rule) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < cols && y < rows)
    out[y * cols + x] = window_by_filter(image, filter, rows, cols, y, x, width, rule);
}

cudaError_t convolve(const float* image, const Filter& filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  convolve_directly<<<border::grid(rows, cols, 8, 32), dim3(32, 8), 0, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace without_a_tile

namespace tile_of_the_block_only {
// 3: NOT YET: right, but it moves
// The halo is not in shared memory: its pixels come from global memory.
__global__ void convolve_mixed(const float* image, const __grid_constant__ Filter filter,
                               float* out, int rows, int cols, int width, int rule) {
  __shared__ float tile[16][32];
  const int first_x = blockIdx.x * 32, first_y = blockIdx.y * 16, radius = width / 2;
  const int x = first_x + threadIdx.x, y = first_y + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = border::pixel(image, rows, cols, y, x, rule);
  __syncthreads();
  if (x >= cols || y >= rows) return;
  float sum = 0;
  for (int i = 0; i < width; ++i) {
    for (int j = 0; j < width; ++j) {
      const int dy = static_cast<int>(threadIdx.y) + i - radius;
      const int dx = static_cast<int>(threadIdx.x) + j - radius;
      const bool is_here = dx >= 0 && dx < 32 && dy >= 0 && dy < 16;
      sum += filter.at[i * width + j] *
             (is_here ? tile[dy][dx]
                      : border::pixel(image, rows, cols, first_y + dy, first_x + dx, rule));
    }
  }
  out[y * cols + x] = sum;
}

cudaError_t convolve(const float* image, const Filter& filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  convolve_mixed<<<border::grid(rows, cols, 16, 32), dim3(32, 16), 0, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace tile_of_the_block_only

namespace padded_tile {
// 3: PASSED
// 4: NOT YET: right, but 1 wavefronts of shared memory per multiplication of a warp, 0.4 would do
// In an array of fixed size, and by all threads of the block as one row.
__global__ void convolve_padded(const float* image, const __grid_constant__ Filter filter,
                                float* out, int rows, int cols, int width, int rule) {
  __shared__ float halo[(8 + 30) * (32 + 31)];
  const int pitch = 32 + width, t = threadIdx.x, dx = t % 32, dy = t / 32;
  load_tile(halo, 8, pitch, image, rows, cols, blockIdx.y * 8, blockIdx.x * 32, width, rule);
  __syncthreads();
  const int x = blockIdx.x * 32 + dx, y = blockIdx.y * 8 + dy;
  if (x >= cols || y >= rows) return;
  float sum = 0;
  for (int i = 0; i < width; ++i) {
    for (int j = 0; j < width; ++j)
      sum += filter.at[i * width + j] * halo[(dy + i) * pitch + dx + j];
  }
  out[y * cols + x] = sum;
}

cudaError_t convolve(const float* image, const Filter& filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  convolve_padded<<<border::grid(rows, cols, 8, 32), 256, 0, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace padded_tile

namespace window_of_each_pixel {
// 4: NOT YET: right, but 1 wavefronts of shared memory per multiplication of a warp, 0.4 would do
// Four pixels per thread, but each load serves one of them.
__global__ void convolve_points(const float* image, const __grid_constant__ Filter filter,
                                float* out, int rows, int cols, int width, int rule) {
  extern __shared__ float halo[];
  constexpr int per_thread = 4, tile_rows = 32;
  const int pitch = 32 + width - 1, first_x = blockIdx.x * 32, first_y = blockIdx.y * tile_rows;
  load_tile(halo, tile_rows, pitch, image, rows, cols, first_y, first_x, width, rule);
  __syncthreads();
  float sums[per_thread] = {};
  const int first = threadIdx.y * per_thread;
  for (int i = 0; i < width; ++i) {
    for (int j = 0; j < width; ++j) {
      for (int k = 0; k < per_thread; ++k) {
        sums[k] += filter.at[i * width + j] * halo[(first + k + i) * pitch + threadIdx.x + j];
      }
    }
  }
  const int x = first_x + threadIdx.x, y = first_y + first;
  for (int k = 0; k < per_thread; ++k) {
    if (x < cols && y + k < rows) out[(y + k) * cols + x] = sums[k];
  }
}

cudaError_t convolve(const float* image, const Filter& filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const auto bytes = static_cast<unsigned>((32 + width - 1) * (32 + width - 1) * 4);
  convolve_points<<<border::grid(rows, cols, 32, 32), dim3(32, 8), bytes, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace window_of_each_pixel

namespace column_of_each_row {
// 4: NOT YET: right, but 1 wavefronts of shared memory per multiplication of a warp, 0.4 would do
// Four pixels per thread, but each load serves one of them.
__global__ void convolve_points(const float* image, const __grid_constant__ Filter filter,
                                float* out, int rows, int cols, int width, int rule) {
  extern __shared__ float halo[];
  constexpr int per_thread = 4, tile_rows = 32;
  const int pitch = 32 + width - 1, first_x = blockIdx.x * 32, first_y = blockIdx.y * tile_rows;
  load_tile(halo, tile_rows, pitch, image, rows, cols, first_y, first_x, width, rule);
  __syncthreads();
  float sums[per_thread] = {};
  const int first = threadIdx.y * per_thread;
  for (int j = 0; j < width; ++j) {
    for (int i = 0; i < width; ++i) {
      float column[per_thread];
      for (int k = 0; k < per_thread; ++k)
        column[k] = halo[(first + k + i) * pitch + threadIdx.x + j];
      for (int k = 0; k < per_thread; ++k) sums[k] += filter.at[i * width + j] * column[k];
    }
  }
  const int x = first_x + threadIdx.x, y = first_y + first;
  for (int k = 0; k < per_thread; ++k) {
    if (x < cols && y + k < rows) out[(y + k) * cols + x] = sums[k];
  }
}

cudaError_t convolve(const float* image, const Filter& filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const auto bytes = static_cast<unsigned>((32 + width - 1) * (32 + width - 1) * 4);
  convolve_points<<<border::grid(rows, cols, 32, 32), dim3(32, 8), bytes, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace column_of_each_row

namespace four_side_by_side {
// 4: NOT YET: right, but bank conflicts: 4 wavefronts per read of shared memory, 1.5 would do
__global__ void convolve_row_of_pixels(const float* image, const __grid_constant__ Filter filter,
                                       float* out, int rows, int cols, int width, int rule) {
  extern __shared__ float halo[];
  constexpr int per_thread = 4, tile_cols = 32 * per_thread;
  const int pitch = tile_cols + width - 1, first_x = blockIdx.x * tile_cols,
            first_y = blockIdx.y * 8;
  load_tile(halo, 8, pitch, image, rows, cols, first_y, first_x, width, rule);
  __syncthreads();
  float sums[per_thread] = {};
  for (int i = 0; i < width; ++i) {
    const float* const from = &halo[(threadIdx.y + i) * pitch + threadIdx.x * per_thread];
    for (int j = 0; j < per_thread + width - 1; ++j) {
      const float pixel = from[j];
      for (int k = 0; k < per_thread; ++k) {
        if (j >= k && j - k < width) sums[k] += filter.at[i * width + j - k] * pixel;
      }
    }
  }
  const int x = first_x + threadIdx.x * per_thread, y = first_y + threadIdx.y;
  for (int k = 0; k < per_thread; ++k) {
    if (x + k < cols && y < rows) out[y * cols + x + k] = sums[k];
  }
}

cudaError_t convolve(const float* image, const Filter& filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const auto bytes = static_cast<unsigned>((8 + width - 1) * (32 * 4 + width - 1) * 4);
  convolve_row_of_pixels<<<border::grid(rows, cols, 8, 32 * 4), dim3(32, 8), bytes, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace four_side_by_side

namespace five_side_by_side {
// 4: NOT YET: right, but it moves
// An odd number of words between lanes: no bank conflict. But the stores are uncoalesced.
__global__ void convolve_row_of_pixels(const float* image, const __grid_constant__ Filter filter,
                                       float* out, int rows, int cols, int width, int rule) {
  extern __shared__ float halo[];
  constexpr int per_thread = 5, tile_cols = 32 * per_thread;
  const int pitch = tile_cols + width - 1, first_x = blockIdx.x * tile_cols,
            first_y = blockIdx.y * 8;
  load_tile(halo, 8, pitch, image, rows, cols, first_y, first_x, width, rule);
  __syncthreads();
  float sums[per_thread] = {};
  for (int i = 0; i < width; ++i) {
    const float* const from = &halo[(threadIdx.y + i) * pitch + threadIdx.x * per_thread];
    for (int j = 0; j < per_thread + width - 1; ++j) {
      const float pixel = from[j];
      for (int k = 0; k < per_thread; ++k) {
        if (j >= k && j - k < width) sums[k] += filter.at[i * width + j - k] * pixel;
      }
    }
  }
  const int x = first_x + threadIdx.x * per_thread, y = first_y + threadIdx.y;
  for (int k = 0; k < per_thread; ++k) {
    if (x + k < cols && y < rows) out[y * cols + x + k] = sums[k];
  }
}

cudaError_t convolve(const float* image, const Filter& filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const auto bytes = static_cast<unsigned>((8 + width - 1) * (32 * 5 + width - 1) * 4);
  convolve_row_of_pixels<<<border::grid(rows, cols, 8, 32 * 5), dim3(32, 8), bytes, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace five_side_by_side

namespace row_by_row {
// 4: PASSED
// Row by row of the tile: a pixel is added to all sums that it is in.
__global__ void convolve_rolling(const float* image, const __grid_constant__ Filter filter,
                                 float* out, int rows, int cols, int width, int rule) {
  extern __shared__ float halo[];
  constexpr int per_thread = 8, tile_rows = 32;
  const int pitch = 32 + width - 1, first_x = blockIdx.x * 32, first_y = blockIdx.y * tile_rows;
  load_tile(halo, tile_rows, pitch, image, rows, cols, first_y, first_x, width, rule);
  __syncthreads();
  float sums[per_thread] = {};
  const int first = threadIdx.y * per_thread;
  for (int y = 0; y < per_thread + width - 1; ++y) {
    for (int j = 0; j < width; ++j) {
      const float pixel = halo[(first + y) * pitch + threadIdx.x + j];
      for (int k = 0; k < per_thread; ++k) {
        const int i = y - k;
        if (i >= 0 && i < width) sums[k] += filter.at[i * width + j] * pixel;
      }
    }
  }
  const int x = first_x + threadIdx.x;
  for (int k = 0; k < per_thread; ++k) {
    const int y = first_y + first + k;
    if (x < cols && y < rows) out[y * cols + x] = sums[k];
  }
}

cudaError_t convolve(const float* image, const Filter& filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const auto bytes = static_cast<unsigned>((32 + width - 1) * (32 + width - 1) * 4);
  convolve_rolling<<<border::grid(rows, cols, 32, 32), dim3(32, 4), bytes, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace row_by_row

namespace by_shuffles {
// 4: PASSED
// A row of the tile is read once per row of the filter; shuffles bring the neighbours' pixels.
__global__ void convolve_shuffled(const float* image, const __grid_constant__ Filter filter,
                                  float* out, int rows, int cols, int width, int rule) {
  extern __shared__ float halo[];
  constexpr int tile_rows = 16;
  const int pitch = 64, radius = width / 2, lane = threadIdx.x;
  const int first_x = blockIdx.x * 32, first_y = blockIdx.y * tile_rows;
  for (int k = threadIdx.y * 32 + lane; k < (tile_rows + width - 1) * pitch; k += 512) {
    const int y = first_y + k / pitch - radius, x = first_x + k % pitch - radius;
    halo[k] = border::pixel(image, rows, cols, y, x, rule);
  }
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < width; ++i) {
    const float left = halo[(threadIdx.y + i) * pitch + lane];
    const float right = halo[(threadIdx.y + i) * pitch + 32 + lane];
    for (int j = 0; j < width; ++j) {
      const float a = __shfl_sync(~0u, left, (lane + j) % 32);
      const float b = __shfl_sync(~0u, right, (lane + j) % 32);
      sum += filter.at[i * width + j] * (lane + j < 32 ? a : b);
    }
  }
  const int x = first_x + lane, y = first_y + threadIdx.y;
  if (x < cols && y < rows) out[y * cols + x] = sum;
}

cudaError_t convolve(const float* image, const Filter& filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const auto bytes = static_cast<unsigned>((16 + width - 1) * 64 * 4);
  convolve_shuffled<<<border::grid(rows, cols, 16, 32), dim3(32, 16), bytes, stream>>>(
      image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(width),
      static_cast<int>(rule));
  return cudaGetLastError();
}
}  // namespace by_shuffles
