// Exercise 4, solved: a thread computes four points in each of two rows. Ten vectors of its columns
// serve both rows; the two vectors in the middle are also the middles of the windows along x.
#include <cuda_runtime.h>

#include <cstdint>

#include "edge.cuh"
#include "four.cuh"

namespace exercise {

constexpr int radius = 4;
constexpr int threads_x = 32, threads_y = 8, per_thread = 2;  // rows
constexpr int block_cols = 4 * threads_x, block_rows = threads_y * per_thread;

__global__ void step_plane(const float* now, const __grid_constant__ Star star, float* next,
                           edge::Field f) {
  constexpr int rows = block_rows + 2 * radius, vectors = threads_x + 2;
  __shared__ float4 s[rows][vectors];  // from four columns before the block on
  const int x0 = blockIdx.x * block_cols, y0 = blockIdx.y * block_rows;
  for (int row = threadIdx.y; row < rows; row += threads_y) {
    for (int v = threadIdx.x; v < vectors; v += threads_x)
      s[row][v] = four::load(now, f, 0, y0 + row - radius, x0 + 4 * v - 4);
  }
  __syncthreads();
  const int v = threadIdx.x + 1, ty = threadIdx.y * per_thread;
  float4 column[per_thread + 2 * radius];
#pragma unroll
  for (int k = 0; k < per_thread + 2 * radius; ++k) column[k] = s[ty + k][v];
#pragma unroll
  for (int r = 0; r < per_thread; ++r) {
    const float4 own = column[r + radius];
    const float4 left = s[ty + r + radius][v - 1], right = s[ty + r + radius][v + 1];
    const float window[] = {left.x, left.y, left.z,  left.w,  own.x,   own.y,
                            own.z,  own.w,  right.x, right.y, right.z, right.w};
    float4 sum = make_float4(0, 0, 0, 0);
    four::add(sum, star.centre, own);
    four::add_along_x<radius>(sum, star.x, window);
#pragma unroll
    for (int k = 1; k <= radius; ++k)
      four::add(sum, star.y[k], column[r + radius - k], column[r + radius + k]);
    four::store(next, f, 0, y0 + ty + r, x0 + 4 * static_cast<int>(threadIdx.x), sum);
  }
}

/// next = star(now): the sum of a point and its neighbours along both axes, times their
/// coefficients. Planes of rows x cols floats, device pointers; next must not overlap now. rule: an
/// edge::Rule. \returns cudaErrorInvalidValue for a radius other than 4, rows above 1,048,560, cols
/// above 2^31 - 4097, another rule; or the error of the launch.
cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius_, std::int64_t rule, cudaStream_t stream) {
  if (!edge::fit(1, rows, cols, rule, 1, block_rows) || radius_ != radius)
    return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  step_plane<<<edge::grid(f, 1, block_rows, block_cols), dim3(threads_x, threads_y), 0, stream>>>(
      now, star, next, f);
  return cudaGetLastError();
}

}  // namespace exercise
