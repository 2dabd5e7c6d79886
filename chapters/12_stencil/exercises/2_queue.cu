// Exercise 2: right, but a thread loads all 17 points of its star from global memory. Let it march
// down a column and keep the points of the column that it needs in registers, a queue.
// ./chapters/run 12 --exercise 2          builds and checks it; --hint helps
#include <cuda_runtime.h>

#include <cstdint>

#include "edge.cuh"

namespace exercise {

constexpr int reach = 4;
constexpr int block_cols = 32, block_rows = 8;

// FIX: a result for each thread, 17 loads for each result
__global__ void step_plane(const float* now, const __grid_constant__ Star star, float* next,
                           edge::Field f) {
  const int y = blockIdx.y * block_rows + threadIdx.y, x = blockIdx.x * block_cols + threadIdx.x;
  if (y >= f.rows || x >= f.cols) return;
  float sum = star.centre * edge::point(now, f, 0, y, x);
#pragma unroll
  for (int k = 1; k <= reach; ++k) {
    sum += star.x[k] * (edge::point(now, f, 0, y, x - k) + edge::point(now, f, 0, y, x + k));
    sum += star.y[k] * (edge::point(now, f, 0, y - k, x) + edge::point(now, f, 0, y + k, x));
  }
  next[edge::offset(f, 0, y, x)] = sum;
}

/// next = star(now): the sum of a point and its neighbours up to 4 points away along both axes,
/// times their coefficients. Planes of rows x cols floats, device pointers; next must not overlap
/// now. rule: an edge::Rule. \returns cudaErrorInvalidValue for a radius that is not 4, rows above
/// 524,280, cols above 2^31 - 4097, another rule; or the error of the launch.
cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (!edge::fit(1, rows, cols, rule, 1, block_rows) || radius != reach)
    return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule);
  step_plane<<<edge::grid(f, 1, block_rows, block_cols), dim3(block_cols, block_rows), 0, stream>>>(
      now, star, next, f);
  return cudaGetLastError();
}

}  // namespace exercise
