// Answers to exercise 3 of chapter 12, and the verdicts that the CPU backend must give.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "edge.cuh"

__device__ float star_by_radius(const float* now, const Star& star, const edge::Field& f, int y,
                                int x, int radius) {
  float sum = star.centre * edge::point(now, f, 0, y, x);
  for (int k = 1; k <= radius; ++k) {
    sum += star.x[k] * (edge::point(now, f, 0, y, x - k) + edge::point(now, f, 0, y, x + k));
    sum += star.y[k] * (edge::point(now, f, 0, y - k, x) + edge::point(now, f, 0, y + k, x));
  }
  return sum;
}

/// The star of a place in a tile with rows of `pitch` points.
__device__ float star_in_tile(const float* at, const Star& star, int pitch, int radius) {
  float sum = star.centre * at[0];
  for (int k = 1; k <= radius; ++k)
    sum += star.x[k] * (at[-k] + at[k]) + star.y[k] * (at[-k * pitch] + at[k * pitch]);
  return sum;
}

namespace one_thread_for_all {
// 3: NOT YET: right, but one after the other
__global__ void step_all(const float* now, const __grid_constant__ Star star, float* next,
                         edge::Field f, int radius) {
  for (int i = 0; i < f.rows * f.cols; ++i)
    next[i] = star_by_radius(now, star, f, i / f.cols, i % f.cols, radius);
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  step_all<<<1, 1, 0, stream>>>(now, star, next, f, static_cast<int>(radius));
  return cudaGetLastError();
}
}  // namespace one_thread_for_all

namespace one_lane_per_warp_for_all {
// 3: NOT YET: right, but one after the other
__global__ void step_runs(const float* now, const __grid_constant__ Star star, float* next,
                          edge::Field f, int radius) {
  const int first = blockIdx.x * 256 + threadIdx.x;
  if (threadIdx.x % 32 != 0) return;
  for (int i = first; i < first + 32 && i < f.rows * f.cols; ++i)
    next[i] = star_by_radius(now, star, f, i / f.cols, i % f.cols, radius);
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  step_runs<<<static_cast<unsigned>((rows * cols + 255) / 256), 256, 0, stream>>>(
      now, star, next, f, static_cast<int>(radius));
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp_for_all

namespace one_block_for_all {
// 3: NOT YET: right, but one after the other
__global__ void step_by_block(const float* now, const __grid_constant__ Star star, float* next,
                              edge::Field f, int radius) {
  for (int i = threadIdx.x; i < f.rows * f.cols; i += 1024)
    next[i] = star_by_radius(now, star, f, i / f.cols, i % f.cols, radius);
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  step_by_block<<<1, 1024, 0, stream>>>(now, star, next, f, static_cast<int>(radius));
  return cudaGetLastError();
}
}  // namespace one_block_for_all

namespace no_tile {
// 3: NOT YET: right, but 33 load requests per 32 elements, 6 would do
__global__ void step_points(const float* now, const __grid_constant__ Star star, float* next,
                            edge::Field f, int radius) {
  const int y = blockIdx.y * 8 + threadIdx.y, x = blockIdx.x * 32 + threadIdx.x;
  if (y < f.rows && x < f.cols)
    next[edge::offset(f, 0, y, x)] = star_by_radius(now, star, f, y, x, radius);
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  step_points<<<edge::grid(f, 1, 8, 32), dim3(32, 8), 0, stream>>>(now, star, next, f,
                                                                   static_cast<int>(radius));
  return cudaGetLastError();
}
}  // namespace no_tile

namespace tile_without_halo {
// 3: NOT YET: right, but
// Neighbours outside of the tile come from global memory, again and again.
__global__ void step_inner(const float* now, const __grid_constant__ Star star, float* next,
                           edge::Field f, int radius) {
  __shared__ float tile[16][32];
  const int y0 = blockIdx.y * 16, x0 = blockIdx.x * 32, ty = threadIdx.y, tx = threadIdx.x;
  tile[ty][tx] = edge::point(now, f, 0, y0 + ty, x0 + tx);
  __syncthreads();
  if (y0 + ty >= f.rows || x0 + tx >= f.cols) return;
  const auto point = [&](int row, int col) {
    const bool is_here = row >= 0 && row < 16 && col >= 0 && col < 32;
    return is_here ? tile[row][col] : edge::point(now, f, 0, y0 + row, x0 + col);
  };
  float sum = star.centre * point(ty, tx);
  for (int k = 1; k <= radius; ++k) {
    sum += star.x[k] * (point(ty, tx - k) + point(ty, tx + k));
    sum += star.y[k] * (point(ty - k, tx) + point(ty + k, tx));
  }
  next[edge::offset(f, 0, y0 + ty, x0 + tx)] = sum;
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  step_inner<<<edge::grid(f, 1, 16, 32), dim3(32, 16), 0, stream>>>(now, star, next, f,
                                                                    static_cast<int>(radius));
  return cudaGetLastError();
}
}  // namespace tile_without_halo

namespace one_thread_loads_the_tile {
// 3: NOT YET: right, but one after the other
__global__ void step_by_one(const float* now, const __grid_constant__ Star star, float* next,
                            edge::Field f, int radius) {
  __shared__ float tile[32][48];
  const int y0 = blockIdx.y * 16 - radius, x0 = blockIdx.x * 32 - radius;
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    for (int row = 0; row < 16 + 2 * radius; ++row) {
      for (int col = 0; col < 32 + 2 * radius; ++col)
        tile[row][col] = edge::point(now, f, 0, y0 + row, x0 + col);
    }
  }
  __syncthreads();
  const int ty = threadIdx.y + radius, tx = threadIdx.x + radius;
  if (y0 + ty < f.rows && x0 + tx < f.cols)
    next[edge::offset(f, 0, y0 + ty, x0 + tx)] = star_in_tile(&tile[ty][tx], star, 48, radius);
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  step_by_one<<<edge::grid(f, 1, 16, 32), dim3(32, 16), 0, stream>>>(now, star, next, f,
                                                                     static_cast<int>(radius));
  return cudaGetLastError();
}
}  // namespace one_thread_loads_the_tile

namespace small_blocks {
// 3: NOT YET: right, but it moves 18 bytes per element, 15 would do
__global__ void step_small(const float* now, const __grid_constant__ Star star, float* next,
                           edge::Field f, int radius) {
  __shared__ float tile[24][48];
  const int y0 = blockIdx.y * 8 - radius, x0 = blockIdx.x * 32 - radius;
  const int ty = threadIdx.y + radius, tx = threadIdx.x + radius, i = threadIdx.x, j = threadIdx.y;
  const auto load = [&](int row, int col) {
    tile[row][col] = edge::point(now, f, 0, y0 + row, x0 + col);
  };
  load(ty, tx);
  if (i < 2 * radius) load(ty, i < radius ? i : i + 32);
  if (j < radius) load(j, tx), load(j + radius + 8, tx);
  __syncthreads();
  if (y0 + ty < f.rows && x0 + tx < f.cols)
    next[edge::offset(f, 0, y0 + ty, x0 + tx)] = star_in_tile(&tile[ty][tx], star, 48, radius);
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  step_small<<<edge::grid(f, 1, 8, 32), dim3(32, 8), 0, stream>>>(now, star, next, f,
                                                                  static_cast<int>(radius));
  return cudaGetLastError();
}
}  // namespace small_blocks

namespace rows_without_corners {
// 3: PASSED
__global__ void step_rows(const float* now, const __grid_constant__ Star star, float* next,
                          edge::Field f, int radius) {
  __shared__ float tile[32][48];
  const int y0 = blockIdx.y * 16 - radius, x0 = blockIdx.x * 32 - radius;
  for (int row = threadIdx.y; row < 16 + 2 * radius; row += 16) {
    const bool is_halo = row < radius || row >= 16 + radius;
    for (int col = threadIdx.x; col < 32 + 2 * radius; col += 32) {
      if (!is_halo || (col >= radius && col < 32 + radius))
        tile[row][col] = edge::point(now, f, 0, y0 + row, x0 + col);
    }
  }
  __syncthreads();
  const int ty = threadIdx.y + radius, tx = threadIdx.x + radius;
  if (y0 + ty < f.rows && x0 + tx < f.cols)
    next[edge::offset(f, 0, y0 + ty, x0 + tx)] = star_in_tile(&tile[ty][tx], star, 48, radius);
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  step_rows<<<edge::grid(f, 1, 16, 32), dim3(32, 16), 0, stream>>>(now, star, next, f,
                                                                   static_cast<int>(radius));
  return cudaGetLastError();
}
}  // namespace rows_without_corners

namespace two_points_per_thread {
// 3: PASSED
__global__ void step_pairs(const float* now, const __grid_constant__ Star star, float* next,
                           edge::Field f, int radius) {
  __shared__ float tile[32][48];
  const int y0 = blockIdx.y * 16 - radius, x0 = blockIdx.x * 32 - radius;
  const int tx = threadIdx.x + radius;
  const auto load = [&](int row, int col) {
    tile[row][col] = edge::point(now, f, 0, y0 + row, x0 + col);
  };
  for (int row = threadIdx.y; row < 16 + 2 * radius; row += 8) {
    load(row, tx);
    if (row < radius || row >= 16 + radius) continue;
    const int i = threadIdx.x;
    if (i < 2 * radius) load(row, i < radius ? i : i + 32);
  }
  __syncthreads();
  for (int ty = threadIdx.y + radius; ty < 16 + radius; ty += 8) {
    if (y0 + ty < f.rows && x0 + tx < f.cols)
      next[edge::offset(f, 0, y0 + ty, x0 + tx)] = star_in_tile(&tile[ty][tx], star, 48, radius);
  }
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  step_pairs<<<edge::grid(f, 1, 16, 32), dim3(32, 8), 0, stream>>>(now, star, next, f,
                                                                   static_cast<int>(radius));
  return cudaGetLastError();
}
}  // namespace two_points_per_thread

namespace large_tile_with_corners {
// 3: PASSED
// Four points per thread: corners cost less than the limit has room for.
__global__ void step_large(const float* now, const __grid_constant__ Star star, float* next,
                           edge::Field f, int radius) {
  __shared__ float tile[48][48];
  const int y0 = blockIdx.y * 32 - radius, x0 = blockIdx.x * 32 - radius;
  for (int row = threadIdx.y; row < 32 + 2 * radius; row += 8) {
    for (int col = threadIdx.x; col < 32 + 2 * radius; col += 32)
      tile[row][col] = edge::point(now, f, 0, y0 + row, x0 + col);
  }
  __syncthreads();
  for (int k = 0; k < 32; k += 8) {
    const int ty = threadIdx.y + k + radius, tx = threadIdx.x + radius;
    if (y0 + ty < f.rows && x0 + tx < f.cols)
      next[edge::offset(f, 0, y0 + ty, x0 + tx)] = star_in_tile(&tile[ty][tx], star, 48, radius);
  }
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  step_large<<<edge::grid(f, 1, 32, 32), dim3(32, 8), 0, stream>>>(now, star, next, f,
                                                                   static_cast<int>(radius));
  return cudaGetLastError();
}
}  // namespace large_tile_with_corners

namespace sixteen_points_per_thread {
// 3: PASSED
__global__ void step_sixteen(const float* now, const __grid_constant__ Star star, float* next,
                             edge::Field f, int radius) {
  extern __shared__ float tile[];
  constexpr int pitch = 144;
  const int y0 = blockIdx.y * 32 - radius, x0 = blockIdx.x * 128 - radius;
  for (int row = threadIdx.y; row < 32 + 2 * radius; row += 8) {
    for (int col = threadIdx.x; col < 128 + 2 * radius; col += 32)
      tile[row * pitch + col] = edge::point(now, f, 0, y0 + row, x0 + col);
  }
  __syncthreads();
  for (int i = 0; i < 32; i += 8) {
    for (int j = 0; j < 128; j += 32) {
      const int ty = threadIdx.y + i + radius, tx = threadIdx.x + j + radius;
      if (y0 + ty < f.rows && x0 + tx < f.cols)
        next[edge::offset(f, 0, y0 + ty, x0 + tx)] =
            star_in_tile(&tile[ty * pitch + tx], star, pitch, radius);
    }
  }
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  step_sixteen<<<edge::grid(f, 1, 32, 128), dim3(32, 8), 48 * 144 * sizeof(float), stream>>>(
      now, star, next, f, static_cast<int>(radius));
  return cudaGetLastError();
}
}  // namespace sixteen_points_per_thread

namespace asynchronous_copies {
// 3: PASSED
__global__ void step_async(const float* now, const __grid_constant__ Star star, float* next,
                           edge::Field f, int radius) {
  __shared__ float tile[32][48];
  const int y0 = blockIdx.y * 16 - radius, x0 = blockIdx.x * 32 - radius;
  const int ty = threadIdx.y + radius, tx = threadIdx.x + radius, i = threadIdx.x, j = threadIdx.y;
  const auto copy = [&](int row, int col) {
    const int y = edge::inside(y0 + row, f.rows, f.rule),
              x = edge::inside(x0 + col, f.cols, f.rule);
    const bool is_zero = y < 0 || x < 0;
    __pipeline_memcpy_async(&tile[row][col], is_zero ? now : now + edge::offset(f, 0, y, x), 4,
                            is_zero ? 4 : 0);
  };
  copy(ty, tx);
  if (i < 2 * radius) copy(ty, i < radius ? i : i + 32);
  if (j < 2 * radius) copy(j < radius ? j : j + 16, tx);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  if (y0 + ty < f.rows && x0 + tx < f.cols)
    next[edge::offset(f, 0, y0 + ty, x0 + tx)] = star_in_tile(&tile[ty][tx], star, 48, radius);
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  step_async<<<edge::grid(f, 1, 16, 32), dim3(32, 16), 0, stream>>>(now, star, next, f,
                                                                    static_cast<int>(radius));
  return cudaGetLastError();
}
}  // namespace asynchronous_copies
