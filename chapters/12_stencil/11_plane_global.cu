// Idea: the same in a plane, as a start: no shared memory. Blocks whose window lies inside read it
//   without a question; those at the edges ask for each point.
// Predicts: with one point per thread 4 radius + 1 loads per result, all but one from a cache:
//   faster than a tile with radius 1 or 2, slower with 8.
// Still wrong: neighbours load what they could share.
#include <cuda_runtime.h>

#include <cstdint>

#include "edge.cuh"

namespace plane_global {

constexpr int block_x = 32, block_y = 8;

/// per x per points per thread, block_x or block_y apart.
template <int radius, int per>
__global__ void step_plane(const float* now, const __grid_constant__ Star star, float* next,
                           edge::Field f) {
  const int x0 = blockIdx.x * block_x * per, y0 = blockIdx.y * block_y * per;
  const auto add_up = [&](auto point) {
#pragma unroll
    for (int i = 0; i < per; ++i) {
#pragma unroll
      for (int j = 0; j < per; ++j) {
        const int y = y0 + threadIdx.y + i * block_y, x = x0 + threadIdx.x + j * block_x;
        if (y >= f.rows || x >= f.cols) continue;
        float sum = star.centre * point(y, x);
#pragma unroll
        for (int k = 1; k <= radius; ++k) {
          sum += star.x[k] * (point(y, x - k) + point(y, x + k));
          sum += star.y[k] * (point(y - k, x) + point(y + k, x));
        }
        next[edge::offset(f, 0, y, x)] = sum;
      }
    }
  };
  if (x0 >= radius && x0 + block_x * per + radius <= f.cols && y0 >= radius &&
      y0 + block_y * per + radius <= f.rows) {
    add_up([&](int y, int x) { return now[edge::offset(f, 0, y, x)]; });
  } else {
    add_up([&](int y, int x) { return edge::point(now, f, 0, y, x); });
  }
}

template <int per>
cudaError_t launch(const float* now, const Star& star, float* next, std::int64_t rows,
                   std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (!edge::fit(1, rows, cols, rule, 1, block_y * per) || radius < 1 || radius > largest_radius)
    return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule);
  edge::choose<largest_radius>(radius, [&](auto r) {
    step_plane<r(), per>
        <<<edge::grid(f, 1, block_y * per, block_x * per), dim3(block_x, block_y), 0, stream>>>(
            now, star, next, f);
  });
  return cudaGetLastError();
}

/// next = star(now): the sum of a point and its neighbours along both axes, times their
/// coefficients; a point per thread. Planes of rows x cols floats, device pointers; next must not
/// overlap now. rule: an edge::Rule. \returns cudaErrorInvalidValue for a radius that is not 1 to
/// 8, rows above 524,280, cols above 2^31 - 4097, another rule; or the error of the launch.
cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  return launch<1>(now, star, next, rows, cols, radius, rule, stream);
}

/// The same with 4 x 4 points per thread.
cudaError_t step_many(const float* now, const Star& star, float* next, std::int64_t rows,
                      std::int64_t cols, std::int64_t radius, std::int64_t rule,
                      cudaStream_t stream) {
  return launch<4>(now, star, next, rows, cols, radius, rule, stream);
}

}  // namespace plane_global
