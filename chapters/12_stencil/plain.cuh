#pragma once
/// \file
/// A step for each field that a fast version does not take: any edges, any alignment, any of the
/// equations of version 80.

#include <cuda_runtime.h>

#include <cstdint>

#include "edge.cuh"

namespace plain {

constexpr int block_cols = 32, block_rows = 16;

/// next = speed star(now), and + 2 now - before where there is one. A thread per point. Without
/// `before` or `speed` (null), they are left out.
template <int radius>
__global__ void step(const float* now, const float* before, const float* speed,
                     const __grid_constant__ Star star, float* next, edge::Field f) {
  const int x = blockIdx.x * block_cols + threadIdx.x, y = blockIdx.y * block_rows + threadIdx.y;
  const int z = blockIdx.z;
  if (x >= f.cols || y >= f.rows) return;
  const std::int64_t at = edge::offset(f, z, y, x);
  float sum = star.centre * now[at];
#pragma unroll
  for (int k = 1; k <= radius; ++k) {
    sum += star.x[k] * (edge::point(now, f, z, y, x - k) + edge::point(now, f, z, y, x + k));
    sum += star.y[k] * (edge::point(now, f, z, y - k, x) + edge::point(now, f, z, y + k, x));
    sum += star.z[k] * (edge::point(now, f, z - k, y, x) + edge::point(now, f, z + k, y, x));
  }
  if (speed != nullptr) sum *= speed[at];
  next[at] = before == nullptr ? sum : 2 * now[at] - before[at] + sum;
}

/// Launches a step for a field that edge::fit() takes with a plane per block and block_rows.
/// \returns the error of the launch.
inline cudaError_t launch(const float* now, const float* before, const float* speed,
                          const Star& star, float* next, const edge::Field& f, std::int64_t radius,
                          cudaStream_t stream) {
  edge::choose<4>(radius, [&](auto r) {
    step<r()>
        <<<edge::grid(f, 1, block_rows, block_cols), dim3(block_cols, block_rows), 0, stream>>>(
            now, before, speed, star, next, f);
  });
  return cudaGetLastError();
}

}  // namespace plain
