// Exercise 2: right, but for each result a thread loads all 17 points of a star from global memory.
// Keep the points of the column in registers, in a queue.
// ./chapters/run 12 --exercise 2          builds and checks it; --hint helps
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
  for (int y = first; y < last; ++y) {
    float column[2 * reach + 1];  // the points from y - reach to y + reach
    // FIX: eight of these nine points were already loaded for the row before
#pragma unroll
    for (int k = 0; k <= 2 * reach; ++k) column[k] = edge::point(now, f, 0, y - reach + k, x);
    float sum = star.centre * column[reach];
#pragma unroll
    for (int k = 1; k <= reach; ++k) {
      sum += star.x[k] * (edge::point(now, f, 0, y, x - k) + edge::point(now, f, 0, y, x + k));
      sum += star.y[k] * (column[reach - k] + column[reach + k]);
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
