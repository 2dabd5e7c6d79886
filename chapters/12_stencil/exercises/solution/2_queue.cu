// Exercise 2, solved: a thread marches down a strip of 16 rows. Each row costs one load for the
// queue and eight for the neighbours along x; the first eight points of the queue are loaded
// before.
#include <cuda_runtime.h>

#include <cstdint>

#include "edge.cuh"

namespace exercise {

constexpr int reach = 4;
constexpr int block_cols = 128, strip = 16;

__global__ void step_plane(const float* now, const __grid_constant__ Star star, float* next,
                           edge::Field f) {
  const int x = blockIdx.x * block_cols + threadIdx.x;
  if (x >= f.cols) return;
  const int first = blockIdx.y * strip, last = min(first + strip, f.rows);
  float queue[2 * reach + 1];  // the points from y - reach to y + reach
#pragma unroll
  for (int k = 0; k < 2 * reach; ++k) queue[k + 1] = edge::point(now, f, 0, first - reach + k, x);
  for (int y = first; y < last; ++y) {
#pragma unroll
    for (int k = 0; k < 2 * reach; ++k) queue[k] = queue[k + 1];
    queue[2 * reach] = edge::point(now, f, 0, y + reach, x);
    float sum = star.centre * queue[reach];
#pragma unroll
    for (int k = 1; k <= reach; ++k) {
      sum += star.x[k] * (edge::point(now, f, 0, y, x - k) + edge::point(now, f, 0, y, x + k));
      sum += star.y[k] * (queue[reach - k] + queue[reach + k]);
    }
    next[edge::offset(f, 0, y, x)] = sum;
  }
}

/// next = star(now): the sum of a point and its neighbours up to 4 points away along both axes,
/// times their coefficients. Planes of rows x cols floats, device pointers; next must not overlap
/// now. rule: an edge::Rule. \returns cudaErrorInvalidValue for a radius that is not 4, rows above
/// 1,048,560, cols above 2^31 - 4097, another rule; or the error of the launch.
cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (!edge::fit(1, rows, cols, rule, 1, strip) || radius != reach) return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule);
  step_plane<<<edge::grid(f, 1, strip, block_cols), block_cols, 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}

}  // namespace exercise
