// Answers to exercise 2 of chapter 12, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstdint>

#include "edge.cuh"
#include "four.cuh"

__device__ float star_of_17(const float* now, const Star& star, const edge::Field& f, int y,
                            int x) {
  float sum = star.centre * edge::point(now, f, 0, y, x);
  for (int k = 1; k <= 4; ++k) {
    sum += star.x[k] * (edge::point(now, f, 0, y, x - k) + edge::point(now, f, 0, y, x + k));
    sum += star.y[k] * (edge::point(now, f, 0, y - k, x) + edge::point(now, f, 0, y + k, x));
  }
  return sum;
}

/// The neighbours along x.
__device__ float eight(const float* now, const Star& star, const edge::Field& f, int y, int x) {
  float sum = 0;
  for (int k = 1; k <= 4; ++k)
    sum += star.x[k] * (edge::point(now, f, 0, y, x - k) + edge::point(now, f, 0, y, x + k));
  return sum;
}

namespace one_thread_for_the_star {
// 2: NOT YET: right, but one after the other
__global__ void step_all(const float* now, const __grid_constant__ Star star, float* next,
                         edge::Field f) {
  for (int i = 0; i < f.rows * f.cols; ++i)
    next[i] = star_of_17(now, star, f, i / f.cols, i % f.cols);
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  (void)radius;
  step_all<<<1, 1, 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace one_thread_for_the_star

namespace one_lane_per_warp_for_the_star {
// 2: NOT YET: right, but one after the other
__global__ void step_runs(const float* now, const __grid_constant__ Star star, float* next,
                          edge::Field f) {
  const int first = blockIdx.x * 256 + threadIdx.x;
  if (threadIdx.x % 32 != 0) return;
  for (int i = first; i < first + 32 && i < f.rows * f.cols; ++i)
    next[i] = star_of_17(now, star, f, i / f.cols, i % f.cols);
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
}  // namespace one_lane_per_warp_for_the_star

namespace one_block_for_the_star {
// 2: NOT YET: right, but one after the other
__global__ void step_by_block(const float* now, const __grid_constant__ Star star, float* next,
                              edge::Field f) {
  for (int i = threadIdx.x; i < f.rows * f.cols; i += 1024)
    next[i] = star_of_17(now, star, f, i / f.cols, i % f.cols);
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  (void)radius;
  step_by_block<<<1, 1024, 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace one_block_for_the_star

namespace marches_without_a_queue {
// 2: NOT YET: right, but 17 load requests per 32 elements, 10.1 would do
__global__ void step_strips(const float* now, const __grid_constant__ Star star, float* next,
                            edge::Field f) {
  const int x = blockIdx.x * 128 + threadIdx.x, first = blockIdx.y * 16;
  if (x >= f.cols) return;
  for (int y = first; y < min(first + 16, f.rows); ++y)
    next[edge::offset(f, 0, y, x)] = star_of_17(now, star, f, y, x);
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  (void)radius;
  step_strips<<<edge::grid(f, 1, 16, 128), 128, 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace marches_without_a_queue

namespace read_only_loads {
// 2: NOT YET: right, but 17 load requests per 32 elements, 10.1 would do
__global__ void step_read_only(const float* __restrict__ now, const __grid_constant__ Star star,
                               float* __restrict__ next, edge::Field f) {
  const int y = blockIdx.y * 8 + threadIdx.y, x = blockIdx.x * 32 + threadIdx.x;
  if (y >= f.rows || x >= f.cols) return;
  const auto point = [&](int v, int u) {
    const int row = edge::inside(v, f.rows, f.rule), col = edge::inside(u, f.cols, f.rule);
    return row < 0 || col < 0 ? 0 : __ldg(now + edge::offset(f, 0, row, col));
  };
  float sum = star.centre * point(y, x);
  for (int k = 1; k <= 4; ++k) {
    sum += star.x[k] * (point(y, x - k) + point(y, x + k)) +
           star.y[k] * (point(y - k, x) + point(y + k, x));
  }
  next[edge::offset(f, 0, y, x)] = sum;
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  (void)radius;
  step_read_only<<<edge::grid(f, 1, 8, 32), dim3(32, 8), 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace read_only_loads

namespace queue_of_the_upper_half {
// 2: NOT YET: right, but 13.25 load requests per 32 elements, 10.1 would do
__global__ void step_upper(const float* now, const __grid_constant__ Star star, float* next,
                           edge::Field f) {
  const int x = blockIdx.x * 128 + threadIdx.x, first = blockIdx.y * 16;
  if (x >= f.cols) return;
  float queue[5];  // the points from y - 4 to y
  for (int k = 0; k < 4; ++k) queue[k + 1] = edge::point(now, f, 0, first - 4 + k, x);
  for (int y = first; y < min(first + 16, f.rows); ++y) {
    for (int k = 0; k < 4; ++k) queue[k] = queue[k + 1];
    queue[4] = edge::point(now, f, 0, y, x);
    float sum = star.centre * queue[4] + eight(now, star, f, y, x);
    for (int k = 1; k <= 4; ++k)
      sum += star.y[k] * (queue[4 - k] + edge::point(now, f, 0, y + k, x));
    next[edge::offset(f, 0, y, x)] = sum;
  }
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  (void)radius;
  step_upper<<<edge::grid(f, 1, 16, 128), 128, 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace queue_of_the_upper_half

namespace two_rows_per_thread {
// 2: NOT YET: right, but 13 load requests per 32 elements, 10.1 would do
__global__ void step_two(const float* now, const __grid_constant__ Star star, float* next,
                         edge::Field f) {
  const int y = (blockIdx.y * 8 + threadIdx.y) * 2, x = blockIdx.x * 32 + threadIdx.x;
  if (y >= f.rows || x >= f.cols) return;
  float column[10];
  for (int k = 0; k < 10; ++k) column[k] = edge::point(now, f, 0, y - 4 + k, x);
  for (int i = 0; i < 2 && y + i < f.rows; ++i) {
    float sum = star.centre * column[4 + i] + eight(now, star, f, y + i, x);
    for (int k = 1; k <= 4; ++k) sum += star.y[k] * (column[4 + i - k] + column[4 + i + k]);
    next[edge::offset(f, 0, y + i, x)] = sum;
  }
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  (void)radius;
  step_two<<<edge::grid(f, 1, 16, 32), dim3(32, 8), 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace two_rows_per_thread

namespace marches_along_the_row {
// 2: NOT YET: right, but it moves
// The queue lies along x: 32 lanes load points of 32 rows.
__global__ void step_along_x(const float* now, const __grid_constant__ Star star, float* next,
                             edge::Field f) {
  const int y = blockIdx.y * 128 + threadIdx.x, first = blockIdx.x * 16;
  if (y >= f.rows) return;
  float queue[9];
  for (int k = 0; k < 8; ++k) queue[k + 1] = edge::point(now, f, 0, y, first - 4 + k);
  for (int x = first; x < min(first + 16, f.cols); ++x) {
    for (int k = 0; k < 8; ++k) queue[k] = queue[k + 1];
    queue[8] = edge::point(now, f, 0, y, x + 4);
    float sum = star.centre * queue[4];
    for (int k = 1; k <= 4; ++k) {
      sum += star.x[k] * (queue[4 - k] + queue[4 + k]);
      sum += star.y[k] * (edge::point(now, f, 0, y - k, x) + edge::point(now, f, 0, y + k, x));
    }
    next[edge::offset(f, 0, y, x)] = sum;
  }
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  (void)radius;
  step_along_x<<<edge::grid(f, 1, 128, 16), 128, 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace marches_along_the_row

namespace each_thread_its_star_in_shared_memory {
// 2: NOT YET: right, but 17 load requests per 32 elements, 10.1 would do
__global__ void step_stars(const float* now, const __grid_constant__ Star star, float* next,
                           edge::Field f) {
  __shared__ float of_thread[17][128];
  const int y = blockIdx.y * 4 + threadIdx.y, x = blockIdx.x * 32 + threadIdx.x;
  if (y >= f.rows || x >= f.cols) return;
  const int t = threadIdx.y * 32 + threadIdx.x;
  of_thread[0][t] = edge::point(now, f, 0, y, x);
  for (int k = 1; k <= 4; ++k) {
    of_thread[4 * k - 3][t] = edge::point(now, f, 0, y, x - k);
    of_thread[4 * k - 2][t] = edge::point(now, f, 0, y, x + k);
    of_thread[4 * k - 1][t] = edge::point(now, f, 0, y - k, x);
    of_thread[4 * k][t] = edge::point(now, f, 0, y + k, x);
  }
  float sum = star.centre * of_thread[0][t];
  for (int k = 1; k <= 4; ++k) {
    sum += star.x[k] * (of_thread[4 * k - 3][t] + of_thread[4 * k - 2][t]);
    sum += star.y[k] * (of_thread[4 * k - 1][t] + of_thread[4 * k][t]);
  }
  next[edge::offset(f, 0, y, x)] = sum;
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  (void)radius;
  step_stars<<<edge::grid(f, 1, 4, 32), dim3(32, 4), 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace each_thread_its_star_in_shared_memory

namespace one_lane_with_a_queue {
// 2: NOT YET: right, but
// Blocks of one thread.
__global__ void step_lane(const float* now, const __grid_constant__ Star star, float* next,
                          edge::Field f) {
  const int x = blockIdx.x, first = blockIdx.y * 16;
  float queue[9];
  for (int k = 0; k < 8; ++k) queue[k + 1] = edge::point(now, f, 0, first - 4 + k, x);
  for (int y = first; y < min(first + 16, f.rows); ++y) {
    for (int k = 0; k < 8; ++k) queue[k] = queue[k + 1];
    queue[8] = edge::point(now, f, 0, y + 4, x);
    float sum = star.centre * queue[4] + eight(now, star, f, y, x);
    for (int k = 1; k <= 4; ++k) sum += star.y[k] * (queue[4 - k] + queue[4 + k]);
    next[edge::offset(f, 0, y, x)] = sum;
  }
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  (void)radius;
  step_lane<<<edge::grid(f, 1, 16, 1), 1, 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace one_lane_with_a_queue

namespace a_point_ahead {
// 2: PASSED
__global__ void step_ahead(const float* now, const __grid_constant__ Star star, float* next,
                           edge::Field f) {
  const int x = blockIdx.x * 64 + threadIdx.x, first = blockIdx.y * 32;
  if (x >= f.cols) return;
  float queue[9], ahead = edge::point(now, f, 0, first + 4, x);
  for (int k = 0; k < 8; ++k) queue[k + 1] = edge::point(now, f, 0, first - 4 + k, x);
  for (int y = first; y < min(first + 32, f.rows); ++y) {
    for (int k = 0; k < 8; ++k) queue[k] = queue[k + 1];
    queue[8] = ahead;
    ahead = edge::point(now, f, 0, y + 5, x);
    float sum = star.centre * queue[4] + eight(now, star, f, y, x);
    for (int k = 1; k <= 4; ++k) sum += star.y[k] * (queue[4 - k] + queue[4 + k]);
    next[edge::offset(f, 0, y, x)] = sum;
  }
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  (void)radius;
  step_ahead<<<edge::grid(f, 1, 32, 64), 64, 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace a_point_ahead

namespace sums_in_a_queue {
// 2: PASSED
// The queue holds results that are not complete.
__global__ void step_sums(const float* now, const __grid_constant__ Star star, float* next,
                          edge::Field f) {
  const int x = blockIdx.x * 64 + threadIdx.x, first = blockIdx.y * 16;
  if (x >= f.cols) return;
  const int last = min(first + 16, f.rows);
  float sums[9] = {};  // of the rows from y - 4 to y + 4
  for (int y = first - 4; y < last + 4; ++y) {
    const float own = edge::point(now, f, 0, y, x);
    sums[4] += star.centre * own;
    for (int k = 1; k <= 4; ++k) sums[4 - k] += star.y[k] * own, sums[4 + k] += star.y[k] * own;
    if (y >= first && y < last) sums[4] += eight(now, star, f, y, x);
    if (y - 4 >= first) next[edge::offset(f, 0, y - 4, x)] = sums[0];
    for (int k = 0; k < 8; ++k) sums[k] = sums[k + 1];
    sums[8] = 0;
  }
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  (void)radius;
  step_sums<<<edge::grid(f, 1, 16, 64), 64, 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace sums_in_a_queue

namespace neighbours_by_shuffles {
// 2: PASSED
__global__ void step_shuffles(const float* now, const __grid_constant__ Star star, float* next,
                              edge::Field f) {
  const int lane = threadIdx.x;
  const int x = (blockIdx.x * 4 + threadIdx.y) * 24 - 4 + lane, first = blockIdx.y * 32;
  const bool has_result = lane >= 4 && lane < 28 && x < f.cols;
  float queue[9];
  for (int k = 0; k < 8; ++k) queue[k + 1] = edge::point(now, f, 0, first - 4 + k, x);
  for (int y = first; y < min(first + 32, f.rows); ++y) {
    for (int k = 0; k < 8; ++k) queue[k] = queue[k + 1];
    queue[8] = edge::point(now, f, 0, y + 4, x);
    float sum = star.centre * queue[4];
    for (int k = 1; k <= 4; ++k) {
      sum += star.x[k] * (__shfl_up_sync(~0u, queue[4], k) + __shfl_down_sync(~0u, queue[4], k));
      sum += star.y[k] * (queue[4 - k] + queue[4 + k]);
    }
    if (has_result) next[edge::offset(f, 0, y, x)] = sum;
  }
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  (void)radius;
  step_shuffles<<<edge::grid(f, 1, 32, 96), dim3(32, 4), 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace neighbours_by_shuffles

namespace row_in_shared_memory {
// 2: PASSED
__global__ void step_rows(const float* now, const __grid_constant__ Star star, float* next,
                          edge::Field f) {
  __shared__ float row[136];
  const int x0 = blockIdx.x * 128, x = x0 + threadIdx.x, first = blockIdx.y * 16;
  float queue[9];
  for (int k = 0; k < 8; ++k) queue[k + 1] = edge::point(now, f, 0, first - 4 + k, x);
  for (int y = first; y < min(first + 16, f.rows); ++y) {
    for (int k = 0; k < 8; ++k) queue[k] = queue[k + 1];
    queue[8] = edge::point(now, f, 0, y + 4, x);
    row[threadIdx.x + 4] = queue[4];
    if (threadIdx.x < 4) row[threadIdx.x] = edge::point(now, f, 0, y, x - 4);
    if (threadIdx.x >= 124) row[threadIdx.x + 8] = edge::point(now, f, 0, y, x + 4);
    __syncthreads();
    float sum = star.centre * queue[4];
    for (int k = 1; k <= 4; ++k) {
      sum += star.x[k] * (row[threadIdx.x + 4 - k] + row[threadIdx.x + 4 + k]);
      sum += star.y[k] * (queue[4 - k] + queue[4 + k]);
    }
    if (x < f.cols) next[edge::offset(f, 0, y, x)] = sum;
    __syncthreads();
  }
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  (void)radius;
  step_rows<<<edge::grid(f, 1, 16, 128), 128, 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace row_in_shared_memory

namespace tile_instead_of_a_queue {
// 2: PASSED
__global__ void step_tile(const float* now, const __grid_constant__ Star star, float* next,
                          edge::Field f) {
  __shared__ float tile[24][40];
  const int x0 = blockIdx.x * 32 - 4, y0 = blockIdx.y * 16 - 4;
  for (int k = threadIdx.y * 32 + threadIdx.x; k < 24 * 40; k += 512)
    tile[k / 40][k % 40] = edge::point(now, f, 0, y0 + k / 40, x0 + k % 40);
  __syncthreads();
  const int ty = threadIdx.y + 4, tx = threadIdx.x + 4;
  if (x0 + tx >= f.cols || y0 + ty >= f.rows) return;
  float sum = star.centre * tile[ty][tx];
  for (int k = 1; k <= 4; ++k) {
    sum += star.x[k] * (tile[ty][tx - k] + tile[ty][tx + k]);
    sum += star.y[k] * (tile[ty - k][tx] + tile[ty + k][tx]);
  }
  next[edge::offset(f, 0, y0 + ty, x0 + tx)] = sum;
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  (void)radius;
  step_tile<<<edge::grid(f, 1, 16, 32), dim3(32, 16), 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace tile_instead_of_a_queue

namespace queue_of_vectors {
// 2: PASSED
__global__ void step_vectors(const float* now, const __grid_constant__ Star star, float* next,
                             edge::Field f) {
  const int x = (blockIdx.x * 32 + threadIdx.x) * 4, first = blockIdx.y * 16;
  if (x >= f.cols) return;
  float4 queue[9];
  for (int k = 0; k < 8; ++k) queue[k + 1] = four::load(now, f, 0, first - 4 + k, x);
  for (int y = first; y < min(first + 16, f.rows); ++y) {
    for (int k = 0; k < 8; ++k) queue[k] = queue[k + 1];
    queue[8] = four::load(now, f, 0, y + 4, x);
    const float4 left = four::load(now, f, 0, y, x - 4), own = queue[4];
    const float4 right = four::load(now, f, 0, y, x + 4);
    const float window[12] = {left.x, left.y, left.z,  left.w,  own.x,   own.y,
                              own.z,  own.w,  right.x, right.y, right.z, right.w};
    float4 sum = make_float4(0, 0, 0, 0);
    four::add(sum, star.centre, own);
    for (int k = 1; k <= 4; ++k) four::add(sum, star.y[k], queue[4 - k], queue[4 + k]);
    four::add_along_x<4>(sum, star.x, window);
    four::store(next, f, 0, y, x, sum);
  }
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  (void)radius;
  step_vectors<<<edge::grid(f, 1, 16, 128), 32, 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace queue_of_vectors
