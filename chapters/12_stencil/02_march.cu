// Idea: a thread per column of points. It marches along z and keeps the 2 radius + 1 points of its
//   column that the stencil needs in registers: a queue. Each step loads one new point. A template
//   knows the radius, so that the queue has fixed places.
// Predicts: of 26 loads per result with radius 4, 18 are left. A column is cut into pieces of 64
//   planes, which gives enough blocks; each piece loads 8 planes more than it computes.
// Still wrong: the neighbours along x and y are loaded by 17 threads of one block.
#include <cuda_runtime.h>

#include <cstdint>

#include "edge.cuh"

namespace march {

constexpr int block_cols = 32, block_rows = 8, block_planes = 64;

template <int radius>
__global__ void step_wave(const float* now, const float* before, const __grid_constant__ Star star,
                          float* next, edge::Field f) {
  const int x = blockIdx.x * block_cols + threadIdx.x, y = blockIdx.y * block_rows + threadIdx.y;
  if (x >= f.cols || y >= f.rows) return;
  const int first = blockIdx.z * block_planes, last = min(first + block_planes, f.planes);
  float queue[2 * radius + 1];  // the points from z - radius to z + radius
#pragma unroll
  for (int k = 0; k < 2 * radius; ++k) queue[k + 1] = edge::point(now, f, first - radius + k, y, x);
  for (int z = first; z < last; ++z) {
#pragma unroll
    for (int k = 0; k < 2 * radius; ++k) queue[k] = queue[k + 1];
    queue[2 * radius] = edge::point(now, f, z + radius, y, x);
    float sum = star.centre * queue[radius];
#pragma unroll
    for (int k = 1; k <= radius; ++k) {
      sum += star.x[k] * (edge::point(now, f, z, y, x - k) + edge::point(now, f, z, y, x + k));
      sum += star.y[k] * (edge::point(now, f, z, y - k, x) + edge::point(now, f, z, y + k, x));
      sum += star.z[k] * (queue[radius - k] + queue[radius + k]);
    }
    const std::int64_t at = edge::offset(f, z, y, x);
    next[at] = 2 * queue[radius] - before[at] + sum;
  }
}

/// One step of a wave: next = 2 now - before + star(now), point by point, where star(now) is the
/// sum of a point and its neighbours, times their coefficients. Fields of planes x rows x cols
/// floats, device pointers; next must not overlap the others. rule: an edge::Rule.
/// \returns cudaErrorInvalidValue for a radius that is not 1 to 4, planes above 4,194,240, rows
/// above 524,280, cols above 2^31 - 4097, another rule; or the error of the launch.
cudaError_t step(const float* now, const float* before, const Star& star, float* next,
                 std::int64_t planes, std::int64_t rows, std::int64_t cols, std::int64_t radius,
                 std::int64_t rule, cudaStream_t stream) {
  if (!edge::fit(planes, rows, cols, rule, block_planes, block_rows) || radius < 1 || radius > 4)
    return cudaErrorInvalidValue;
  if (planes == 0 || rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(planes, rows, cols, rule);
  edge::choose<4>(radius, [&](auto r) {
    step_wave<r()><<<edge::grid(f, block_planes, block_rows, block_cols),
                     dim3(block_cols, block_rows), 0, stream>>>(now, before, star, next, f);
  });
  return cudaGetLastError();
}

}  // namespace march
