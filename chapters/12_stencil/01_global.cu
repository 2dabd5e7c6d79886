// Idea: one thread per point. It reads the point and its 6 radius neighbours from global memory.
// Predicts: right for every size, radius and edge. With radius 4 a thread loads 26 floats for one
//   result; all but two of them come from a cache.
// Still wrong: the neighbours along z lie whole planes apart. A point is loaded by 25 threads, 9 of
//   them in as many planes.
#include <cuda_runtime.h>

#include <cstdint>

#include "edge.cuh"

namespace global {

constexpr int block_cols = 32, block_rows = 8;

__global__ void step_wave(const float* now, const float* before, const __grid_constant__ Star star,
                          float* next, edge::Field f, int radius) {
  const int x = blockIdx.x * block_cols + threadIdx.x, y = blockIdx.y * block_rows + threadIdx.y;
  const int z = blockIdx.z;
  if (x >= f.cols || y >= f.rows) return;
  const std::int64_t at = edge::offset(f, z, y, x);
  float sum = star.centre * now[at];
  for (int k = 1; k <= radius; ++k) {
    sum += star.x[k] * (edge::point(now, f, z, y, x - k) + edge::point(now, f, z, y, x + k));
    sum += star.y[k] * (edge::point(now, f, z, y - k, x) + edge::point(now, f, z, y + k, x));
    sum += star.z[k] * (edge::point(now, f, z - k, y, x) + edge::point(now, f, z + k, y, x));
  }
  next[at] = 2 * now[at] - before[at] + sum;
}

/// One step of a wave: next = 2 now - before + star(now), point by point, where star(now) is the
/// sum of a point and its neighbours, times their coefficients. Fields of planes x rows x cols
/// floats, device pointers; next must not overlap the others. rule: an edge::Rule.
/// \returns cudaErrorInvalidValue for a radius that is not 1 to 4, planes above 65,535, rows above
/// 524,280, cols above 2^31 - 4097, another rule; or the error of the launch.
cudaError_t step(const float* now, const float* before, const Star& star, float* next,
                 std::int64_t planes, std::int64_t rows, std::int64_t cols, std::int64_t radius,
                 std::int64_t rule, cudaStream_t stream) {
  if (!edge::fit(planes, rows, cols, rule, 1, block_rows) || radius < 1 || radius > 4)
    return cudaErrorInvalidValue;
  if (planes == 0 || rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(planes, rows, cols, rule);
  step_wave<<<edge::grid(f, 1, block_rows, block_cols), dim3(block_cols, block_rows), 0, stream>>>(
      now, before, star, next, f, static_cast<int>(radius));
  return cudaGetLastError();
}

}  // namespace global
