// Exercise 5, solved: a launch per colour. The second kernel begins when the first has ended, so
// all red points have their new values. Each thread has a point of that colour: no lane is idle.
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

/// Updates the points whose x + y is `colour`, modulo 2. `neighbours` may be next: it is read at
/// points of the other colour only.
__global__ void update_colour(const float* now, const float* neighbours,
                              const __grid_constant__ Star star, float* next, edge::Field f,
                              int colour) {
  const int y = blockIdx.y * block_y + threadIdx.y;
  const int x = 2 * (blockIdx.x * block_x + threadIdx.x) + (y + colour) % 2;
  if (y >= f.rows || x >= f.cols) return;
  next[edge::offset(f, 0, y, x)] = star_at(star, now, neighbours, f, y, x);
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
  const dim3 grid = edge::grid(f, 1, block_y, 2 * block_x), block(block_x, block_y);
  update_colour<<<grid, block, 0, stream>>>(now, now, star, next, f, 0);
  update_colour<<<grid, block, 0, stream>>>(now, next, star, next, f, 1);
  return cudaGetLastError();
}

}  // namespace exercise
