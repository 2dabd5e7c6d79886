// Exercise 6: right, but the field between the two steps goes to global memory and back. Do both
// steps in one kernel: the first one's results stay in shared memory.
// ./chapters/run 12 --exercise 6          builds and checks it; --hint helps
#include <cuda_runtime.h>

#include <cstdint>

#include "edge.cuh"

namespace exercise {

constexpr int block_x = 32, block_y = 16;

__global__ void step_plane(const float* now, const __grid_constant__ Star star, float* next,
                           edge::Field f) {
  __shared__ float s[block_y + 2][block_x + 2];
  const int x0 = blockIdx.x * block_x, y0 = blockIdx.y * block_y;
  for (int row = threadIdx.y; row < block_y + 2; row += block_y) {
    for (int col = threadIdx.x; col < block_x + 2; col += block_x)
      s[row][col] = edge::point(now, f, 0, y0 + row - 1, x0 + col - 1);
  }
  __syncthreads();
  const int row = threadIdx.y + 1, col = threadIdx.x + 1;  // in the tile
  const int y = y0 + threadIdx.y, x = x0 + threadIdx.x;
  if (y >= f.rows || x >= f.cols) return;
  next[edge::offset(f, 0, y, x)] = star.centre * s[row][col] +
                                   star.x[1] * (s[row][col - 1] + s[row][col + 1]) +
                                   star.y[1] * (s[row - 1][col] + s[row + 1][col]);
}

/// next = star(star(now)): two steps, each the sum of a point and its four neighbours, times their
/// coefficients. Points beyond the edges are 0 at any time. Planes of rows x cols floats, device
/// pointers; next must not overlap now. \returns cudaErrorInvalidValue for rows above 1,048,560,
/// cols above 2^31 - 4097; or an error of CUDA.
cudaError_t step_twice(const float* now, const Star& star, float* next, std::int64_t rows,
                       std::int64_t cols, cudaStream_t stream) {
  if (!edge::fit(1, rows, cols, edge::fixed, 1, block_y)) return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, edge::fixed);
  const dim3 grid = edge::grid(f, 1, block_y, block_x), block(block_x, block_y);
  float* between = nullptr;
  const auto bytes = static_cast<std::size_t>(rows * cols) * sizeof(float);
  const cudaError_t error = cudaMallocAsync(reinterpret_cast<void**>(&between), bytes, stream);
  if (error != cudaSuccess) return error;
  step_plane<<<grid, block, 0, stream>>>(now, star, between, f);
  step_plane<<<grid, block, 0, stream>>>(between, star, next, f);
  const cudaError_t launched = cudaGetLastError();
  const cudaError_t freed = cudaFreeAsync(between, stream);
  return launched != cudaSuccess ? launched : freed;
}

}  // namespace exercise
