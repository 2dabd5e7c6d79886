// Answers to exercise 6 of chapter 12, and the verdicts that the CPU backend must give.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "edge.cuh"

__device__ bool is_inside(const edge::Field& f, int y, int x) {
  return y >= 0 && y < f.rows && x >= 0 && x < f.cols;
}

/// The star around point (y, x), which may lie outside, from global memory.
__device__ float star_from_memory(const float* now, const Star& star, const edge::Field& f, int y,
                                  int x) {
  return star.centre * edge::point(now, f, 0, y, x) +
         star.x[1] * (edge::point(now, f, 0, y, x - 1) + edge::point(now, f, 0, y, x + 1)) +
         star.y[1] * (edge::point(now, f, 0, y - 1, x) + edge::point(now, f, 0, y + 1, x));
}

/// The star around s[row * pitch + col].
__device__ float star_in_tile(const Star& star, const float* s, int pitch, int row, int col) {
  const float* const at = s + row * pitch + col;
  return star.centre * at[0] + star.x[1] * (at[-1] + at[1]) + star.y[1] * (at[-pitch] + at[pitch]);
}

/// Loads a tile whose first point is (y0, x0), by all threads of a block.
__device__ void load_tile(float* s, int rows, int pitch, const float* now, const edge::Field& f,
                          int y0, int x0) {
  const int threads = blockDim.x * blockDim.y;
  for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < rows * pitch; k += threads)
    s[k] = edge::point(now, f, 0, y0 + k / pitch, x0 + k % pitch);
}

__global__ void step_once(const float* now, Star star, float* next, edge::Field f) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (y < f.rows && x < f.cols)
    next[edge::offset(f, 0, y, x)] = star_from_memory(now, star, f, y, x);
}

using KernelOfPlane = void(const float*, Star, float*, edge::Field);

/// Launches a kernel whose blocks compute block_rows x block_cols points.
inline cudaError_t launch_plane(KernelOfPlane* kernel, dim3 block, int block_rows, int block_cols,
                                const float* now, const Star& star, float* next, std::int64_t rows,
                                std::int64_t cols, cudaStream_t stream, bool one_block = false) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, edge::fixed, now, next);
  const dim3 grid = one_block ? dim3(1) : edge::grid(f, 1, block_rows, block_cols);
  kernel<<<grid, block, 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}

namespace one_thread_for_all {
// 6: NOT YET: right, but one after the other
__global__ void step_all(const float* now, Star star, float* next, edge::Field f) {
  for (int y = 0; y < f.rows; ++y) {
    for (int x = 0; x < f.cols; ++x) {
      const auto once = [&](int row, int col) {
        return is_inside(f, row, col) ? star_from_memory(now, star, f, row, col) : 0.0f;
      };
      next[edge::offset(f, 0, y, x)] = star.centre * once(y, x) +
                                       star.x[1] * (once(y, x - 1) + once(y, x + 1)) +
                                       star.y[1] * (once(y - 1, x) + once(y + 1, x));
    }
  }
}

cudaError_t step_twice(const float* now, const Star& star, float* next, std::int64_t rows,
                       std::int64_t cols, cudaStream_t stream) {
  return launch_plane(step_all, dim3(1), 1, 1, now, star, next, rows, cols, stream, true);
}
}  // namespace one_thread_for_all

namespace one_block_for_all {
// 6: NOT YET: right, but one after the other
__global__ void step_by_block(const float* now, Star star, float* next, edge::Field f) {
  __shared__ float before[36 * 36], once[34 * 34];
  for (int y0 = 0; y0 < f.rows; y0 += 32) {
    for (int x0 = 0; x0 < f.cols; x0 += 32) {
      __syncthreads();
      load_tile(before, 36, 36, now, f, y0 - 2, x0 - 2);
      __syncthreads();
      for (int k = threadIdx.y * 32 + threadIdx.x; k < 34 * 34; k += 1024) {
        const int row = k / 34, col = k % 34;
        const bool inside = is_inside(f, y0 + row - 1, x0 + col - 1);
        once[k] = inside ? star_in_tile(star, before, 36, row + 1, col + 1) : 0;
      }
      __syncthreads();
      const int y = y0 + threadIdx.y, x = x0 + threadIdx.x;
      if (is_inside(f, y, x)) {
        next[edge::offset(f, 0, y, x)] =
            star_in_tile(star, once, 34, threadIdx.y + 1, threadIdx.x + 1);
      }
    }
  }
}

cudaError_t step_twice(const float* now, const Star& star, float* next, std::int64_t rows,
                       std::int64_t cols, cudaStream_t stream) {
  return launch_plane(step_by_block, dim3(32, 32), 1, 1, now, star, next, rows, cols, stream, true);
}
}  // namespace one_block_for_all

namespace two_launches {
// 6: NOT YET: right, but it moves
cudaError_t step_twice(const float* now, const Star& star, float* next, std::int64_t rows,
                       std::int64_t cols, cudaStream_t stream) {
  float* between = nullptr;
  const auto bytes = static_cast<std::size_t>(rows * cols) * sizeof(float);
  cudaMallocAsync(reinterpret_cast<void**>(&between), bytes, stream);
  launch_plane(step_once, dim3(32, 8), 8, 32, now, star, between, rows, cols, stream);
  launch_plane(step_once, dim3(32, 8), 8, 32, between, star, next, rows, cols, stream);
  return cudaFreeAsync(between, stream);
}
}  // namespace two_launches

namespace from_global_memory {
// 6: NOT YET: right, but it moves
// Each thread computes the first step of its five points itself.
__global__ void step_points(const float* now, Star star, float* next, edge::Field f) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (!is_inside(f, y, x)) return;
  const auto once = [&](int row, int col) {
    return is_inside(f, row, col) ? star_from_memory(now, star, f, row, col) : 0.0f;
  };
  next[edge::offset(f, 0, y, x)] = star.centre * once(y, x) +
                                   star.x[1] * (once(y, x - 1) + once(y, x + 1)) +
                                   star.y[1] * (once(y - 1, x) + once(y + 1, x));
}

cudaError_t step_twice(const float* now, const Star& star, float* next, std::int64_t rows,
                       std::int64_t cols, cudaStream_t stream) {
  return launch_plane(step_points, dim3(32, 8), 8, 32, now, star, next, rows, cols, stream);
}
}  // namespace from_global_memory

namespace first_step_from_global_memory {
// 6: NOT YET: right, but it moves
// Only the results of the first step are in shared memory.
__global__ void step_tile(const float* now, Star star, float* next, edge::Field f) {
  __shared__ float once[18 * 34];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 16;
  for (int k = threadIdx.y * 32 + threadIdx.x; k < 18 * 34; k += 512) {
    const int y = y0 + k / 34 - 1, x = x0 + k % 34 - 1;
    once[k] = is_inside(f, y, x) ? star_from_memory(now, star, f, y, x) : 0;
  }
  __syncthreads();
  const int y = y0 + threadIdx.y, x = x0 + threadIdx.x;
  if (is_inside(f, y, x)) {
    next[edge::offset(f, 0, y, x)] = star_in_tile(star, once, 34, threadIdx.y + 1, threadIdx.x + 1);
  }
}

cudaError_t step_twice(const float* now, const Star& star, float* next, std::int64_t rows,
                       std::int64_t cols, cudaStream_t stream) {
  return launch_plane(step_tile, dim3(32, 16), 16, 32, now, star, next, rows, cols, stream);
}
}  // namespace first_step_from_global_memory

namespace first_step_again_for_each_point {
// 6: NOT YET: right, but 24.92 reads of shared memory per 32 elements, 20 would do
// From the tile, but each thread computes the first step of its five points itself.
__global__ void step_tile(const float* now, Star star, float* next, edge::Field f) {
  __shared__ float before[20 * 36];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 16;
  load_tile(before, 20, 36, now, f, y0 - 2, x0 - 2);
  __syncthreads();
  const int ty = threadIdx.y, tx = threadIdx.x, y = y0 + ty, x = x0 + tx;
  if (!is_inside(f, y, x)) return;
  const auto once = [&](int dy, int dx) {
    const bool inside = is_inside(f, y + dy, x + dx);
    return inside ? star_in_tile(star, before, 36, ty + 2 + dy, tx + 2 + dx) : 0.0f;
  };
  next[edge::offset(f, 0, y, x)] = star.centre * once(0, 0) +
                                   star.x[1] * (once(0, -1) + once(0, 1)) +
                                   star.y[1] * (once(-1, 0) + once(1, 0));
}

cudaError_t step_twice(const float* now, const Star& star, float* next, std::int64_t rows,
                       std::int64_t cols, cudaStream_t stream) {
  return launch_plane(step_tile, dim3(32, 16), 16, 32, now, star, next, rows, cols, stream);
}
}  // namespace first_step_again_for_each_point

namespace tiny_tiles {
// 6: NOT YET: right, but it moves
// Tiles of 8 x 8: a halo of 80 points for 64.
__global__ void step_tile(const float* now, Star star, float* next, edge::Field f) {
  __shared__ float before[12 * 12], once[10 * 10];
  const int x0 = blockIdx.x * 8, y0 = blockIdx.y * 8;
  load_tile(before, 12, 12, now, f, y0 - 2, x0 - 2);
  __syncthreads();
  for (int k = threadIdx.y * 8 + threadIdx.x; k < 100; k += 64) {
    const bool inside = is_inside(f, y0 + k / 10 - 1, x0 + k % 10 - 1);
    once[k] = inside ? star_in_tile(star, before, 12, k / 10 + 1, k % 10 + 1) : 0;
  }
  __syncthreads();
  const int y = y0 + threadIdx.y, x = x0 + threadIdx.x;
  if (is_inside(f, y, x)) {
    next[edge::offset(f, 0, y, x)] = star_in_tile(star, once, 10, threadIdx.y + 1, threadIdx.x + 1);
  }
}

cudaError_t step_twice(const float* now, const Star& star, float* next, std::int64_t rows,
                       std::int64_t cols, cudaStream_t stream) {
  return launch_plane(step_tile, dim3(8, 8), 8, 8, now, star, next, rows, cols, stream);
}
}  // namespace tiny_tiles

namespace halo_of_one {
// 6: NOT YET: wrong at rows=32 cols=64:
// The first step is computed for the tile only; around it are old values.
__global__ void step_tile(const float* now, Star star, float* next, edge::Field f) {
  __shared__ float before[18 * 34], once[18 * 34];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 16;
  load_tile(before, 18, 34, now, f, y0 - 1, x0 - 1);
  load_tile(once, 18, 34, now, f, y0 - 1, x0 - 1);
  __syncthreads();
  const int row = threadIdx.y + 1, col = threadIdx.x + 1;
  const int y = y0 + threadIdx.y, x = x0 + threadIdx.x;
  if (is_inside(f, y, x)) once[row * 34 + col] = star_in_tile(star, before, 34, row, col);
  __syncthreads();
  if (is_inside(f, y, x)) next[edge::offset(f, 0, y, x)] = star_in_tile(star, once, 34, row, col);
}

cudaError_t step_twice(const float* now, const Star& star, float* next, std::int64_t rows,
                       std::int64_t cols, cudaStream_t stream) {
  return launch_plane(step_tile, dim3(32, 16), 16, 32, now, star, next, rows, cols, stream);
}
}  // namespace halo_of_one

namespace asynchronous_copies_twice {
// 6: NOT YET: right, but it moves
__global__ void step_tile(const float* now, Star star, float* next, edge::Field f) {
  __shared__ float s[18 * 34];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 16;
  for (int k = threadIdx.y * 32 + threadIdx.x; k < 18 * 34; k += 512) {
    const int y = y0 + k / 34 - 1, x = x0 + k % 34 - 1;
    const bool inside = is_inside(f, y, x);
    __pipeline_memcpy_async(&s[k], inside ? now + edge::offset(f, 0, y, x) : now, 4,
                            inside ? 0 : 4);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  const int y = y0 + threadIdx.y, x = x0 + threadIdx.x;
  if (is_inside(f, y, x))
    next[edge::offset(f, 0, y, x)] = star_in_tile(star, s, 34, threadIdx.y + 1, threadIdx.x + 1);
}

cudaError_t step_twice(const float* now, const Star& star, float* next, std::int64_t rows,
                       std::int64_t cols, cudaStream_t stream) {
  float* between = nullptr;
  const auto bytes = static_cast<std::size_t>(rows * cols) * sizeof(float);
  cudaMallocAsync(reinterpret_cast<void**>(&between), bytes, stream);
  launch_plane(step_tile, dim3(32, 16), 16, 32, now, star, between, rows, cols, stream);
  launch_plane(step_tile, dim3(32, 16), 16, 32, between, star, next, rows, cols, stream);
  return cudaFreeAsync(between, stream);
}
}  // namespace asynchronous_copies_twice

namespace tiles_of_the_threads {
// 6: PASSED
// A thread per point of the tile with its halo; only 28 x 28 of 32 x 32 threads have a result.
__global__ void step_tile(const float* now, Star star, float* next, edge::Field f) {
  __shared__ float before[32 * 32], once[32 * 32];
  const int row = threadIdx.y, col = threadIdx.x;
  const int y = blockIdx.y * 28 + row - 2, x = blockIdx.x * 28 + col - 2;
  before[row * 32 + col] = edge::point(now, f, 0, y, x);
  __syncthreads();
  const bool inside = is_inside(f, y, x);
  if (row >= 1 && row < 31 && col >= 1 && col < 31)
    once[row * 32 + col] = inside ? star_in_tile(star, before, 32, row, col) : 0;
  __syncthreads();
  if (row >= 2 && row < 30 && col >= 2 && col < 30 && inside)
    next[edge::offset(f, 0, y, x)] = star_in_tile(star, once, 32, row, col);
}

cudaError_t step_twice(const float* now, const Star& star, float* next, std::int64_t rows,
                       std::int64_t cols, cudaStream_t stream) {
  return launch_plane(step_tile, dim3(32, 32), 28, 28, now, star, next, rows, cols, stream);
}
}  // namespace tiles_of_the_threads

namespace small_tiles {
// 6: PASSED
__global__ void step_tile(const float* now, Star star, float* next, edge::Field f) {
  __shared__ float before[20 * 20], once[18 * 18];
  const int x0 = blockIdx.x * 16, y0 = blockIdx.y * 16;
  load_tile(before, 20, 20, now, f, y0 - 2, x0 - 2);
  __syncthreads();
  for (int k = threadIdx.y * 16 + threadIdx.x; k < 18 * 18; k += 256) {
    const bool inside = is_inside(f, y0 + k / 18 - 1, x0 + k % 18 - 1);
    once[k] = inside ? star_in_tile(star, before, 20, k / 18 + 1, k % 18 + 1) : 0;
  }
  __syncthreads();
  const int y = y0 + threadIdx.y, x = x0 + threadIdx.x;
  if (is_inside(f, y, x)) {
    next[edge::offset(f, 0, y, x)] = star_in_tile(star, once, 18, threadIdx.y + 1, threadIdx.x + 1);
  }
}

cudaError_t step_twice(const float* now, const Star& star, float* next, std::int64_t rows,
                       std::int64_t cols, cudaStream_t stream) {
  return launch_plane(step_tile, dim3(16, 16), 16, 16, now, star, next, rows, cols, stream);
}
}  // namespace small_tiles

namespace flat_tiles {
// 6: PASSED
__global__ void step_tile(const float* now, Star star, float* next, edge::Field f) {
  __shared__ float before[12 * 36], once[10 * 34];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 8;
  load_tile(before, 12, 36, now, f, y0 - 2, x0 - 2);
  __syncthreads();
  for (int k = threadIdx.y * 32 + threadIdx.x; k < 10 * 34; k += 256) {
    const bool inside = is_inside(f, y0 + k / 34 - 1, x0 + k % 34 - 1);
    once[k] = inside ? star_in_tile(star, before, 36, k / 34 + 1, k % 34 + 1) : 0;
  }
  __syncthreads();
  const int y = y0 + threadIdx.y, x = x0 + threadIdx.x;
  if (is_inside(f, y, x)) {
    next[edge::offset(f, 0, y, x)] = star_in_tile(star, once, 34, threadIdx.y + 1, threadIdx.x + 1);
  }
}

cudaError_t step_twice(const float* now, const Star& star, float* next, std::int64_t rows,
                       std::int64_t cols, cudaStream_t stream) {
  return launch_plane(step_tile, dim3(32, 8), 8, 32, now, star, next, rows, cols, stream);
}
}  // namespace flat_tiles

namespace in_one_array {
// 6: PASSED
// The results of the first step wait in registers until all threads have read the tile.
__global__ void step_tile(const float* now, Star star, float* next, edge::Field f) {
  __shared__ float s[36 * 36];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 32, t = threadIdx.y * 32 + threadIdx.x;
  load_tile(s, 36, 36, now, f, y0 - 2, x0 - 2);
  __syncthreads();
  float once[5];
  for (int i = 0; i < 5; ++i) {
    const int k = t + 256 * i, row = k / 34 + 1, col = k % 34 + 1;
    const bool inside = k < 34 * 34 && is_inside(f, y0 + row - 2, x0 + col - 2);
    once[i] = inside ? star_in_tile(star, s, 36, row, col) : 0;
  }
  __syncthreads();
  for (int i = 0; i < 5; ++i) {
    const int k = t + 256 * i, row = k / 34 + 1, col = k % 34 + 1;
    if (k < 34 * 34) s[row * 36 + col] = once[i];
  }
  __syncthreads();
  for (int ty = threadIdx.y; ty < 32; ty += 8) {
    const int y = y0 + ty, x = x0 + threadIdx.x;
    if (is_inside(f, y, x))
      next[edge::offset(f, 0, y, x)] = star_in_tile(star, s, 36, ty + 2, threadIdx.x + 2);
  }
}

cudaError_t step_twice(const float* now, const Star& star, float* next, std::int64_t rows,
                       std::int64_t cols, cudaStream_t stream) {
  return launch_plane(step_tile, dim3(32, 8), 32, 32, now, star, next, rows, cols, stream);
}
}  // namespace in_one_array

namespace warps_alone {
// 6: PASSED
// A warp marches down a strip of 16 rows; neighbours along x come by shuffles.
__global__ void march_twice(const float* now, Star star, float* next, edge::Field f) {
  const int lane = threadIdx.x, x = (blockIdx.x * 4 + threadIdx.y) * 28 + lane - 2;
  const int first = blockIdx.y * 16;
  const auto row = [&](float above, float middle, float below, int y) {
    const float left = __shfl_up_sync(~0u, middle, 1), right = __shfl_down_sync(~0u, middle, 1);
    const float sum =
        star.centre * middle + star.x[1] * (left + right) + star.y[1] * (above + below);
    return is_inside(f, y, x) ? sum : 0.0f;
  };
  float before[3] = {0, edge::point(now, f, 0, first - 2, x), edge::point(now, f, 0, first - 1, x)};
  float once[3] = {};
  for (int y = first - 1; y < first + 17; ++y) {  // the row of the first step
    before[0] = before[1], before[1] = before[2];
    before[2] = edge::point(now, f, 0, y + 1, x);
    once[0] = once[1], once[1] = once[2];
    once[2] = row(before[0], before[1], before[2], y);
    const float twice = row(once[0], once[1], once[2], y - 1);
    if (y > first && lane >= 2 && lane < 30 && is_inside(f, y - 1, x))
      next[edge::offset(f, 0, y - 1, x)] = twice;
  }
}

cudaError_t step_twice(const float* now, const Star& star, float* next, std::int64_t rows,
                       std::int64_t cols, cudaStream_t stream) {
  return launch_plane(march_twice, dim3(32, 4), 16, 112, now, star, next, rows, cols, stream);
}
}  // namespace warps_alone

namespace asynchronous_copies {
// 6: PASSED
__global__ void step_tile(const float* now, Star star, float* next, edge::Field f) {
  __shared__ float before[20 * 36], once[18 * 34];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 16;
  for (int k = threadIdx.y * 32 + threadIdx.x; k < 20 * 36; k += 512) {
    const int y = y0 + k / 36 - 2, x = x0 + k % 36 - 2;
    const bool inside = is_inside(f, y, x);
    __pipeline_memcpy_async(&before[k], inside ? now + edge::offset(f, 0, y, x) : now, 4,
                            inside ? 0 : 4);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int k = threadIdx.y * 32 + threadIdx.x; k < 18 * 34; k += 512) {
    const bool inside = is_inside(f, y0 + k / 34 - 1, x0 + k % 34 - 1);
    once[k] = inside ? star_in_tile(star, before, 36, k / 34 + 1, k % 34 + 1) : 0;
  }
  __syncthreads();
  const int y = y0 + threadIdx.y, x = x0 + threadIdx.x;
  if (is_inside(f, y, x)) {
    next[edge::offset(f, 0, y, x)] = star_in_tile(star, once, 34, threadIdx.y + 1, threadIdx.x + 1);
  }
}

cudaError_t step_twice(const float* now, const Star& star, float* next, std::int64_t rows,
                       std::int64_t cols, cudaStream_t stream) {
  return launch_plane(step_tile, dim3(32, 16), 16, 32, now, star, next, rows, cols, stream);
}
}  // namespace asynchronous_copies
