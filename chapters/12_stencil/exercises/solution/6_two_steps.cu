// Exercise 6, solved: a tile with a halo of 2 points. The first step computes the tile and one
// point around it; a barrier later the second step computes the tile from these.
#include <cuda_runtime.h>

#include <cstdint>

#include "edge.cuh"

namespace exercise {

constexpr int block_x = 32, block_y = 16;

/// The star around s[row][col].
template <int rows, int cols>
__device__ float star_at(const Star& star, const float (&s)[rows][cols], int row, int col) {
  return star.centre * s[row][col] + star.x[1] * (s[row][col - 1] + s[row][col + 1]) +
         star.y[1] * (s[row - 1][col] + s[row + 1][col]);
}

__global__ void step_plane_twice(const float* now, const __grid_constant__ Star star, float* next,
                                 edge::Field f) {
  __shared__ float before[block_y + 4][block_x + 4], once[block_y + 2][block_x + 2];
  const int x0 = blockIdx.x * block_x, y0 = blockIdx.y * block_y;
  for (int row = threadIdx.y; row < block_y + 4; row += block_y) {
    for (int col = threadIdx.x; col < block_x + 4; col += block_x)
      before[row][col] = edge::point(now, f, 0, y0 + row - 2, x0 + col - 2);
  }
  __syncthreads();
  for (int row = threadIdx.y; row < block_y + 2; row += block_y) {
    for (int col = threadIdx.x; col < block_x + 2; col += block_x) {
      const int y = y0 + row - 1, x = x0 + col - 1;
      const bool inside = y >= 0 && y < f.rows && x >= 0 && x < f.cols;
      once[row][col] = inside ? star_at(star, before, row + 1, col + 1) : 0;
    }
  }
  __syncthreads();
  const int y = y0 + threadIdx.y, x = x0 + threadIdx.x;
  if (y >= f.rows || x >= f.cols) return;
  next[edge::offset(f, 0, y, x)] = star_at(star, once, threadIdx.y + 1, threadIdx.x + 1);
}

/// next = star(star(now)): two steps, each the sum of a point and its four neighbours, times their
/// coefficients. Points beyond the edges are 0 at any time. Planes of rows x cols floats, device
/// pointers; next must not overlap now. \returns cudaErrorInvalidValue for rows above 1,048,560,
/// cols above 2^31 - 4097; or the error of the launch.
cudaError_t step_twice(const float* now, const Star& star, float* next, std::int64_t rows,
                       std::int64_t cols, cudaStream_t stream) {
  if (!edge::fit(1, rows, cols, edge::fixed, 1, block_y)) return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, edge::fixed);
  step_plane_twice<<<edge::grid(f, 1, block_y, block_x), dim3(block_x, block_y), 0, stream>>>(
      now, star, next, f);
  return cudaGetLastError();
}

}  // namespace exercise
