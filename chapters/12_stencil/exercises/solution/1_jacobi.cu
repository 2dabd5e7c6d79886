// Exercise 1, solved: a row has cols points, the loop runs to the last row of the strip, and the
// second neighbour along y lies below.
#include <cuda_runtime.h>

#include <cstdint>

#include "edge.cuh"

namespace exercise {

constexpr int block_cols = 128, strip = 4;

__global__ void step_jacobi(const float* now, const __grid_constant__ Star star, float* next,
                            int rows, int cols, int rule) {
  const int x = blockIdx.x * block_cols + threadIdx.x;
  if (x >= cols) return;
  const auto point = [&](int y, int x) {
    const int row = edge::inside(y, rows, rule), col = edge::inside(x, cols, rule);
    return row < 0 || col < 0 ? 0 : now[std::int64_t{row} * cols + col];
  };
  const int first = blockIdx.y * strip, last = min(first + strip, rows);
  for (int y = first; y < last; ++y) {
    float sum = star.centre * point(y, x);
    sum += star.x[1] * (point(y, x - 1) + point(y, x + 1));
    sum += star.y[1] * (point(y - 1, x) + point(y + 1, x));
    next[std::int64_t{y} * cols + x] = sum;
  }
}

/// next[y][x] = star.centre now[y][x] + star.x[1] (now[y][x - 1] + now[y][x + 1])
///            + star.y[1] (now[y - 1][x] + now[y + 1][x]).
/// Planes of rows x cols floats, row by row, device pointers; next must not overlap now. rule: an
/// edge::Rule, for the points beyond the edges. \returns cudaErrorInvalidValue for a radius that is
/// not 1, rows above 262,140, cols above 2^31 - 4097, another rule; or the error of the launch.
cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (!edge::fit(1, rows, cols, rule, 1, strip) || radius != 1) return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule);
  step_jacobi<<<edge::grid(f, 1, strip, block_cols), block_cols, 0, stream>>>(
      now, star, next, f.rows, f.cols, f.rule);
  return cudaGetLastError();
}

}  // namespace exercise
