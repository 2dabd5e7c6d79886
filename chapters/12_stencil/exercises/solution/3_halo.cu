// Exercise 3, solved: each warp loads a row of the tile, the halo on both sides of this row, and a
// row of the halo above or below.
#include <cuda_runtime.h>

#include <cstdint>

#include "edge.cuh"

namespace exercise {

constexpr int block_cols = 32, block_rows = 16;

template <int radius>
__global__ void step_plane(const float* now, const __grid_constant__ Star star, float* next,
                           edge::Field f) {
  constexpr int rows = block_rows + 2 * radius, cols = block_cols + 2 * radius;
  static_assert(2 * radius <= block_rows && 2 * radius <= block_cols);
  __shared__ float tile[rows][cols];
  const int y0 = blockIdx.y * block_rows - radius, x0 = blockIdx.x * block_cols - radius;
  const int ty = threadIdx.y + radius, tx = threadIdx.x + radius;
  const auto load = [&](int row, int col) {
    tile[row][col] = edge::point(now, f, 0, y0 + row, x0 + col);
  };
  load(ty, tx);
  if (threadIdx.x < 2 * radius)  // on the left, on the right
    load(ty, threadIdx.x < radius ? threadIdx.x : threadIdx.x + block_cols);
  if (threadIdx.y < 2 * radius)  // above, below
    load(threadIdx.y < radius ? threadIdx.y : threadIdx.y + block_rows, tx);
  __syncthreads();

  const int y = y0 + ty, x = x0 + tx;
  if (y >= f.rows || x >= f.cols) return;
  float sum = star.centre * tile[ty][tx];
#pragma unroll
  for (int k = 1; k <= radius; ++k) {
    sum += star.x[k] * (tile[ty][tx - k] + tile[ty][tx + k]);
    sum += star.y[k] * (tile[ty - k][tx] + tile[ty + k][tx]);
  }
  next[edge::offset(f, 0, y, x)] = sum;
}

/// next = star(now): the sum of a point and its neighbours along both axes, times their
/// coefficients. Planes of rows x cols floats, device pointers; next must not overlap now. rule: an
/// edge::Rule. \returns cudaErrorInvalidValue for a radius that is not 1 to 8, rows above
/// 1,048,560, cols above 2^31 - 4097, another rule; or the error of the launch.
cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (!edge::fit(1, rows, cols, rule, 1, block_rows) || radius < 1 || radius > largest_radius)
    return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule);
  edge::choose<largest_radius>(radius, [&](auto r) {
    step_plane<r()>
        <<<edge::grid(f, 1, block_rows, block_cols), dim3(block_cols, block_rows), 0, stream>>>(
            now, star, next, f);
  });
  return cudaGetLastError();
}

}  // namespace exercise
