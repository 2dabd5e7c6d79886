// Exercise 4: right, but each point of the star is loaded from shared memory on its own. Let a
// thread compute four points of a row, and read the tile as vectors of 16 bytes.
// ./chapters/run 12 --exercise 4          builds and checks it; --hint helps
#include <cuda_runtime.h>

#include <cstdint>

#include "edge.cuh"
#include "four.cuh"

namespace exercise {

constexpr int radius = 4;
constexpr int block_x = 32, block_y = 16;

__global__ void step_plane(const float* now, const __grid_constant__ Star star, float* next,
                           edge::Field f) {
  constexpr int rows = block_y + 2 * radius, cols = block_x + 2 * radius;
  __shared__ float s[rows][cols];
  const int x0 = blockIdx.x * block_x, y0 = blockIdx.y * block_y;
  for (int row = threadIdx.y; row < rows; row += block_y) {
    for (int col = threadIdx.x; col < cols; col += block_x)
      s[row][col] = edge::point(now, f, 0, y0 + row - radius, x0 + col - radius);
  }
  __syncthreads();
  const int ty = threadIdx.y, tx = threadIdx.x;
  if (y0 + ty >= f.rows || x0 + tx >= f.cols) return;
  const auto point = [&](int dy, int dx) { return s[ty + radius + dy][tx + radius + dx]; };
  float sum = star.centre * point(0, 0);
#pragma unroll
  for (int k = 1; k <= radius; ++k) {
    sum += star.x[k] * (point(0, -k) + point(0, k));
    sum += star.y[k] * (point(-k, 0) + point(k, 0));
  }
  next[edge::offset(f, 0, y0 + ty, x0 + tx)] = sum;
}

/// next = star(now): the sum of a point and its neighbours along both axes, times their
/// coefficients. Planes of rows x cols floats, device pointers; next must not overlap now. rule: an
/// edge::Rule. \returns cudaErrorInvalidValue for a radius other than 4, rows above 1,048,560, cols
/// above 2^31 - 4097, another rule; or the error of the launch.
cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius_, std::int64_t rule, cudaStream_t stream) {
  if (!edge::fit(1, rows, cols, rule, 1, block_y) || radius_ != radius)
    return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  step_plane<<<edge::grid(f, 1, block_y, block_x), dim3(block_x, block_y), 0, stream>>>(now, star,
                                                                                        next, f);
  return cudaGetLastError();
}

}  // namespace exercise
