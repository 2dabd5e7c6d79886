// Idea: the block shares the plane that it computes. Each thread writes its point to a tile in
//   shared memory. The first warps and the first lanes also load the halo, the points around the
//   block. All neighbours along x and y come from the tile. (The CUDA sample FDTD3d works so.)
// Predicts: a thread loads its column. A block of 16 x 32 points with radius 4 adds 8 rows and 8
//   columns of halo, 0.75 floats per result. So 2.75 loads are left of 18.
// Still wrong: a thread reads 16 floats from shared memory for one result, and the block waits
//   twice in each plane.
#include <cuda_runtime.h>

#include <cstdint>

#include "edge.cuh"

namespace tile {

constexpr int block_cols = 32, block_rows = 16, block_planes = 64;

template <int radius>
__global__ void step_wave(const float* now, const float* before, const __grid_constant__ Star star,
                          float* next, edge::Field f) {
  __shared__ float s[block_rows + 2 * radius][block_cols + 2 * radius];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * block_cols + tx, y = blockIdx.y * block_rows + ty;
  const int first = blockIdx.z * block_planes, last = min(first + block_planes, f.planes);
  float queue[2 * radius + 1];  // the points from z - radius to z + radius
#pragma unroll
  for (int k = 0; k < 2 * radius; ++k) queue[k + 1] = edge::point(now, f, first - radius + k, y, x);
  for (int z = first; z < last; ++z) {
#pragma unroll
    for (int k = 0; k < 2 * radius; ++k) queue[k] = queue[k + 1];
    queue[2 * radius] = edge::point(now, f, z + radius, y, x);
    s[ty + radius][tx + radius] = queue[radius];
    if (ty < radius) {
      s[ty][tx + radius] = edge::point(now, f, z, y - radius, x);
      s[ty + block_rows + radius][tx + radius] = edge::point(now, f, z, y + block_rows, x);
    }
    if (tx < radius) {
      s[ty + radius][tx] = edge::point(now, f, z, y, x - radius);
      s[ty + radius][tx + block_cols + radius] = edge::point(now, f, z, y, x + block_cols);
    }
    __syncthreads();  // the tile is filled
    float sum = star.centre * queue[radius];
#pragma unroll
    for (int k = 1; k <= radius; ++k) {
      sum += star.x[k] * (s[ty + radius][tx + radius - k] + s[ty + radius][tx + radius + k]);
      sum += star.y[k] * (s[ty + radius - k][tx + radius] + s[ty + radius + k][tx + radius]);
      sum += star.z[k] * (queue[radius - k] + queue[radius + k]);
    }
    if (x < f.cols && y < f.rows) {
      const std::int64_t at = edge::offset(f, z, y, x);
      next[at] = 2 * queue[radius] - before[at] + sum;
    }
    __syncthreads();  // all have read it
  }
}

/// One step of a wave: next = 2 now - before + star(now), point by point, where star(now) is the
/// sum of a point and its neighbours, times their coefficients. Fields of planes x rows x cols
/// floats, device pointers; next must not overlap the others. rule: an edge::Rule.
/// \returns cudaErrorInvalidValue for a radius that is not 1 to 4, planes above 4,194,240, rows
/// above 1,048,560, cols above 2^31 - 4097, another rule; or the error of the launch.
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

}  // namespace tile
