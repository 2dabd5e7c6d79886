// Answers to exercise 1 of chapter 12, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstdint>

#include "edge.cuh"

__device__ float five(const float* now, const Star& star, const edge::Field& f, int y, int x) {
  return star.centre * edge::point(now, f, 0, y, x) +
         star.x[1] * (edge::point(now, f, 0, y, x - 1) + edge::point(now, f, 0, y, x + 1)) +
         star.y[1] * (edge::point(now, f, 0, y - 1, x) + edge::point(now, f, 0, y + 1, x));
}

namespace one_thread {
// 1: NOT YET: right, but one after the other
__global__ void step_all(const float* now, const __grid_constant__ Star star, float* next,
                         edge::Field f) {
  for (int i = 0; i < f.rows * f.cols; ++i) next[i] = five(now, star, f, i / f.cols, i % f.cols);
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  (void)radius;
  step_all<<<1, 1, 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace one_thread

namespace one_lane_per_warp {
// 1: NOT YET: right, but one after the other
__global__ void step_runs(const float* now, const __grid_constant__ Star star, float* next,
                          edge::Field f) {
  const int first = blockIdx.x * 256 + threadIdx.x;
  if (threadIdx.x % 32 != 0) return;
  for (int i = first; i < first + 32 && i < f.rows * f.cols; ++i)
    next[i] = five(now, star, f, i / f.cols, i % f.cols);
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  (void)radius;
  step_runs<<<static_cast<unsigned>((rows * cols + 255) / 256), 256, 0, stream>>>(now, star, next,
                                                                                  f);
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp

namespace one_block {
// 1: NOT YET: right, but one after the other
__global__ void step_by_block(const float* now, const __grid_constant__ Star star, float* next,
                              edge::Field f) {
  for (int i = threadIdx.x; i < f.rows * f.cols; i += 1024)
    next[i] = five(now, star, f, i / f.cols, i % f.cols);
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  (void)radius;
  step_by_block<<<1, 1024, 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace one_block

namespace a_thread_per_row {
// 1: NOT YET: right, but one after the other
__global__ void step_rows(const float* now, const __grid_constant__ Star star, float* next,
                          edge::Field f) {
  const int y = blockIdx.x * 32 + threadIdx.x;
  if (y >= f.rows) return;
  for (int x = 0; x < f.cols; ++x) next[edge::offset(f, 0, y, x)] = five(now, star, f, y, x);
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  (void)radius;
  step_rows<<<static_cast<unsigned>((rows + 31) / 32), 32, 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace a_thread_per_row

namespace lanes_along_a_column {
// 1: NOT YET: right, but it moves
__global__ void step_columns(const float* now, const __grid_constant__ Star star, float* next,
                             edge::Field f) {
  const int y = blockIdx.y * 32 + threadIdx.x, x = blockIdx.x * 8 + threadIdx.y;
  if (y < f.rows && x < f.cols) next[edge::offset(f, 0, y, x)] = five(now, star, f, y, x);
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  (void)radius;
  step_columns<<<edge::grid(f, 1, 32, 8), dim3(32, 8), 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace lanes_along_a_column

namespace a_column_of_the_plane_goes_on {
// 1: NOT YET: wrong at rows=35 cols=131 radius=1 edge=0:
// The end of a row is taken for the neighbour of the next row.
__global__ void step_flat(const float* now, const __grid_constant__ Star star, float* next,
                          edge::Field f) {
  const int i = blockIdx.x * 256 + threadIdx.x, n = f.rows * f.cols;
  if (i >= n) return;
  const auto at = [&](int k) {
    return k >= 0 && k < n ? now[k] : f.rule == edge::fixed ? 0 : now[(k + n) % n];
  };
  next[i] = star.centre * at(i) + star.x[1] * (at(i - 1) + at(i + 1)) +
            star.y[1] * (at(i - f.cols) + at(i + f.cols));
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  (void)radius;
  step_flat<<<static_cast<unsigned>((rows * cols + 255) / 256), 256, 0, stream>>>(now, star, next,
                                                                                  f);
  return cudaGetLastError();
}
}  // namespace a_column_of_the_plane_goes_on

namespace periodic_by_minus_one {
// 1: NOT YET:
// The remainder of -1 is -1.
__global__ void step_remainders(const float* now, const __grid_constant__ Star star, float* next,
                                edge::Field f) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= f.cols || y >= f.rows) return;
  const auto at = [&](int v, int u) {
    const bool is_inside = v >= 0 && v < f.rows && u >= 0 && u < f.cols;
    if (!is_inside && f.rule == edge::fixed) return 0.0f;
    return now[edge::offset(f, 0, v % f.rows, u % f.cols)];
  };
  next[edge::offset(f, 0, y, x)] = star.centre * at(y, x) +
                                   star.x[1] * (at(y, x - 1) + at(y, x + 1)) +
                                   star.y[1] * (at(y - 1, x) + at(y + 1, x));
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  (void)radius;
  step_remainders<<<edge::grid(f, 1, 8, 32), dim3(32, 8), 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace periodic_by_minus_one

namespace a_thread_per_point {
// 1: PASSED
__global__ void step_points(const float* now, const __grid_constant__ Star star, float* next,
                            edge::Field f) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < f.cols && y < f.rows) next[edge::offset(f, 0, y, x)] = five(now, star, f, y, x);
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  (void)radius;
  step_points<<<edge::grid(f, 1, 8, 32), dim3(32, 8), 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace a_thread_per_point

namespace three_rows_in_registers {
// 1: PASSED
__global__ void step_strips(const float* now, const __grid_constant__ Star star, float* next,
                            edge::Field f) {
  const int x = blockIdx.x * 64 + threadIdx.x, first = blockIdx.y * 8;
  if (x >= f.cols) return;
  float above = edge::point(now, f, 0, first - 1, x), own = edge::point(now, f, 0, first, x);
  for (int y = first; y < min(first + 8, f.rows); ++y) {
    const float below = edge::point(now, f, 0, y + 1, x);
    next[edge::offset(f, 0, y, x)] =
        star.centre * own + star.y[1] * (above + below) +
        star.x[1] * (edge::point(now, f, 0, y, x - 1) + edge::point(now, f, 0, y, x + 1));
    above = own, own = below;
  }
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  (void)radius;
  step_strips<<<edge::grid(f, 1, 8, 64), 64, 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace three_rows_in_registers

namespace tile_of_34_by_10 {
// 1: PASSED
__global__ void step_tile(const float* now, const __grid_constant__ Star star, float* next,
                          edge::Field f) {
  __shared__ float tile[10][34];
  const int x0 = blockIdx.x * 32 - 1, y0 = blockIdx.y * 8 - 1;
  for (int k = threadIdx.y * 32 + threadIdx.x; k < 340; k += 256)
    tile[k / 34][k % 34] = edge::point(now, f, 0, y0 + k / 34, x0 + k % 34);
  __syncthreads();
  const int ty = threadIdx.y + 1, tx = threadIdx.x + 1;
  if (x0 + tx >= f.cols || y0 + ty >= f.rows) return;
  next[edge::offset(f, 0, y0 + ty, x0 + tx)] = star.centre * tile[ty][tx] +
                                               star.x[1] * (tile[ty][tx - 1] + tile[ty][tx + 1]) +
                                               star.y[1] * (tile[ty - 1][tx] + tile[ty + 1][tx]);
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  (void)radius;
  step_tile<<<edge::grid(f, 1, 8, 32), dim3(32, 8), 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace tile_of_34_by_10
