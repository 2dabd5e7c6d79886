// Idea: the tile of 12, filled by asynchronous copies: each goes from global to shared memory and
//   waits in no register. Where a point lies beyond the edge, the copy writes zeros.
// Predicts: all copies of a thread are in flight at once, so the tile fills in one latency.
// Still wrong: an instruction and an address for every four bytes.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "edge.cuh"

namespace plane_async {

constexpr int block_x = 32, block_y = 8;

/// per x per points per thread, block_x or block_y apart.
template <int radius, int per>
__global__ void step_plane(const float* now, const __grid_constant__ Star star, float* next,
                           edge::Field f) {
  constexpr int rows = block_y * per + 2 * radius, cols = block_x * per + 2 * radius;
  __shared__ float s[rows][cols];
  const int x0 = blockIdx.x * block_x * per, y0 = blockIdx.y * block_y * per;
  const bool inside = x0 >= radius && x0 + block_x * per + radius <= f.cols && y0 >= radius &&
                      y0 + block_y * per + radius <= f.rows;
  for (int row = threadIdx.y; row < rows; row += block_y) {
    for (int col = threadIdx.x; col < cols; col += block_x) {
      int y = y0 + row - radius, x = x0 + col - radius;
      if (!inside) y = edge::inside(y, f.rows, f.rule), x = edge::inside(x, f.cols, f.rule);
      const bool there = y >= 0 && x >= 0;
      __pipeline_memcpy_async(&s[row][col], there ? now + edge::offset(f, 0, y, x) : now, 4,
                              there ? 0 : 4);
    }
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < per; ++i) {
#pragma unroll
    for (int j = 0; j < per; ++j) {
      const int ty = threadIdx.y + i * block_y, tx = threadIdx.x + j * block_x;
      if (y0 + ty >= f.rows || x0 + tx >= f.cols) continue;
      const auto point = [&](int dy, int dx) { return s[ty + radius + dy][tx + radius + dx]; };
      float sum = star.centre * point(0, 0);
#pragma unroll
      for (int k = 1; k <= radius; ++k) {
        sum += star.x[k] * (point(0, -k) + point(0, k));
        sum += star.y[k] * (point(-k, 0) + point(k, 0));
      }
      next[edge::offset(f, 0, y0 + ty, x0 + tx)] = sum;
    }
  }
}

template <int per>
cudaError_t launch(const float* now, const Star& star, float* next, std::int64_t rows,
                   std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (!edge::fit(1, rows, cols, rule, 1, block_y * per) || radius < 1 || radius > largest_radius)
    return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule);
  edge::choose<largest_radius>(radius, [&](auto r) {
    step_plane<r(), per>
        <<<edge::grid(f, 1, block_y * per, block_x * per), dim3(block_x, block_y), 0, stream>>>(
            now, star, next, f);
  });
  return cudaGetLastError();
}

/// next = star(now): the sum of a point and its neighbours along both axes, times their
/// coefficients; a point per thread. Planes of rows x cols floats, device pointers; next must not
/// overlap now. rule: an edge::Rule. \returns cudaErrorInvalidValue for a radius that is not 1 to
/// 8, rows above 524,280, cols above 2^31 - 4097, another rule; or the error of the launch.
cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  return launch<1>(now, star, next, rows, cols, radius, rule, stream);
}

/// The same with 4 x 4 points per thread.
cudaError_t step_many(const float* now, const Star& star, float* next, std::int64_t rows,
                      std::int64_t cols, std::int64_t radius, std::int64_t rule,
                      cudaStream_t stream) {
  return launch<4>(now, star, next, rows, cols, radius, rule, stream);
}

}  // namespace plane_async
