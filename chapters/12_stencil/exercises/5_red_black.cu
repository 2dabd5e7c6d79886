// Exercise 5: a sweep of Gauss-Seidel in red-black order. The black points need new red values of
// other blocks. Where can a block wait for them?
// ./chapters/run 12 --exercise 5          builds and checks it; --hint helps
#include <cuda_runtime.h>

#include <cstdint>

#include "edge.cuh"

namespace exercise {

constexpr int block_x = 32, block_y = 8;

/// The star of point (y, x): its old value, and its neighbours as `neighbours` has them.
__device__ float star_at(const Star& star, const float* now, const float* neighbours,
                         const edge::Field& f, int y, int x) {
  return star.centre * now[edge::offset(f, 0, y, x)] +
         star.x[1] *
             (edge::point(neighbours, f, 0, y, x - 1) + edge::point(neighbours, f, 0, y, x + 1)) +
         star.y[1] *
             (edge::point(neighbours, f, 0, y - 1, x) + edge::point(neighbours, f, 0, y + 1, x));
}

__global__ void sweep_plane(const float* now, const __grid_constant__ Star star, float* next,
                            edge::Field f) {
  const int x = blockIdx.x * block_x + threadIdx.x, y = blockIdx.y * block_y + threadIdx.y;
  const bool inside = x < f.cols && y < f.rows, red = (x + y) % 2 == 0;
  if (inside && red) next[edge::offset(f, 0, y, x)] = star_at(star, now, now, f, y, x);
  __syncthreads();
  if (inside && !red) next[edge::offset(f, 0, y, x)] = star_at(star, now, next, f, y, x);
}

/// A sweep: each red point (x + y is even) gets the sum of its own old value and its four
/// neighbours', times their coefficients; then each black point the same with the new values of its
/// red neighbours. Points beyond the edges are 0. Planes of rows x cols floats, device pointers;
/// next must not overlap now. \returns cudaErrorInvalidValue for rows above 524,280, cols above
/// 2^31 - 4097; or the error of the launch.
cudaError_t sweep(const float* now, const Star& star, float* next, std::int64_t rows,
                  std::int64_t cols, cudaStream_t stream) {
  if (!edge::fit(1, rows, cols, edge::fixed, 1, block_y)) return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, edge::fixed);
  sweep_plane<<<edge::grid(f, 1, block_y, block_x), dim3(block_x, block_y), 0, stream>>>(now, star,
                                                                                         next, f);
  return cudaGetLastError();
}

}  // namespace exercise
