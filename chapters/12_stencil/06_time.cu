// Idea: several time steps while a plane is on the chip. The block marches along z; with each plane
//   that arrives it computes the plane before it one step later, the one before that two steps
//   later, and so on. Only the last step is written. (Known as temporal blocking.)
// Predicts: 8 bytes per point for `steps` steps instead of 8 for each. The rim of a block's points
//   is computed by two blocks: 4 points left and right, `steps` above, below, in front and behind.
// Still wrong: for radius 1 and heat only; a rim grows with the radius and the steps.
#include <cuda_runtime.h>

#include <cstdint>

#include "edge.cuh"
#include "four.cuh"
#include "pieces.hpp"

namespace in_time {

constexpr int most_steps = 4;
constexpr int warps = 16, per_thread = 2;  // a warp computes two rows of 32 vectors
constexpr int rows = warps * per_thread;
constexpr int halo_cols = 4;  // columns left and right of the results: a vector
constexpr int block_cols = 128 - 2 * halo_cols;

/// Four points of a row, in plane after plane. `whole`: rows of whole vectors, zeros beyond the
/// edges.
template <bool whole>
struct Row {
  const float* now;
  const edge::Field& f;
  int y, x;
  bool there;  // of whole vectors: all four points lie inside along x and y

  __device__ float4 load(int z) const {
    if (!whole) return four::load(now, f, z, y, x);
    if (z < 0 || z >= f.planes || !there) return make_float4(0, 0, 0, 0);
    return *reinterpret_cast<const float4*>(now + edge::offset(f, z, y, x));
  }
  /// Makes points beyond a fixed edge zero, as they are at any time.
  __device__ void clear(float4& v, int z) const {
    const bool plane = z >= 0 && z < f.planes;
    const auto point = [&](float value, int col) {
      const bool inside = whole ? there : y >= 0 && y < f.rows && col >= 0 && col < f.cols;
      return (plane && inside) || f.rule != edge::fixed ? value : 0;
    };
    v = make_float4(point(v.x, x), point(v.y, x + 1), point(v.z, x + 2), point(v.w, x + 3));
  }
};

template <int steps, bool whole>
__global__ void __launch_bounds__(32 * warps, steps == 1 ? 2 : 1)
    step_heat(const float* now, const __grid_constant__ Star star, float* next, edge::Field f,
              int block_planes) {
  constexpr int block_rows = rows - 2 * steps;
  // The newest plane of each time but the last; two, so that one barrier per plane is enough.
  extern __shared__ float4 shared[];
  const int lane = threadIdx.x, row0 = threadIdx.y * per_thread;
  const auto tile = [&](int buffer, int time, int row) -> float4& {
    return shared[((buffer * steps + time) * rows + row) * 32 + lane];
  };
  const int x0 = blockIdx.x * block_cols - halo_cols, y0 = blockIdx.y * block_rows - steps;
  const int x = x0 + 4 * lane, y = y0 + row0;
  const int first = blockIdx.z * block_planes, last = min(first + block_planes, f.planes);
  const bool at_edge = x0 < 0 || x0 + 128 > f.cols || y0 < 0 || y0 + rows > f.rows ||
                       first < steps || last + steps > f.planes;
  bool there[per_thread];
#pragma unroll
  for (int r = 0; r < per_thread; ++r)
    there[r] = y + r >= 0 && y + r < f.rows && x >= 0 && x < f.cols;
  const auto row = [&](int r) { return Row<whole>{now, f, y + r, x, there[r]}; };
  float4 queue[2][steps][per_thread];  // of each time, the two planes before the newest
  float4 ahead[per_thread];
#pragma unroll
  for (int r = 0; r < per_thread; ++r) {
    const float4 points = row(r).load(first - steps);
#pragma unroll
    for (int time = 0; time < steps; ++time) {  // of use for time 0 only; the others come later
      tile(1, time, row0 + r) = points;
      queue[0][time][r] = queue[1][time][r] = points;
    }
    ahead[r] = row(r).load(first - steps + 1);
  }
  __syncthreads();
  for (int base = first - steps + 1; base < last + steps; base += 2) {
#pragma unroll
    for (int j = 0; j < 2; ++j) {  // planes alternate between the two halves of queue and tile
      const int plane = base + j;
      if (plane >= last + steps) break;
      float4 newest[per_thread];
#pragma unroll
      for (int r = 0; r < per_thread; ++r) {
        newest[r] = ahead[r];
        ahead[r] = row(r).load(plane + 1);
      }
#pragma unroll
      for (int time = 0; time < steps; ++time) {
        float4(&older)[per_thread] = queue[j][time];
        const float4(&middle)[per_thread] = queue[j ^ 1][time];
        const float4 above = tile(j ^ 1, time, max(row0 - 1, 0));
        const float4 below = tile(j ^ 1, time, min(row0 + per_thread, rows - 1));
#pragma unroll
        for (int r = 0; r < per_thread; ++r) {
          const float4 own = middle[r], arrived = newest[r];
          tile(j, time, row0 + r) = arrived;
          const float left = __shfl_up_sync(~0u, own.w, 1);
          const float right = __shfl_down_sync(~0u, own.x, 1);
          float4 sum = make_float4(star.centre * own.x, star.centre * own.y, star.centre * own.z,
                                   star.centre * own.w);
          four::add(sum, star.y[1], r > 0 ? middle[r - 1] : above,
                    r + 1 < per_thread ? middle[r + 1] : below);
          four::add(sum, star.x[1], make_float4(left, own.x, own.y, own.z),
                    make_float4(own.y, own.z, own.w, right));
          four::add(sum, star.z[1], older[r], arrived);
          if (at_edge) row(r).clear(sum, plane - time - 1);
          newest[r] = sum;
          older[r] = arrived;
        }
      }
#pragma unroll
      for (int r = 0; r < per_thread; ++r) {
        const int z = plane - steps;
        if (z >= first && lane > 0 && lane < 31 && row0 + r >= steps && row0 + r < rows - steps)
          four::store(next, f, z, y + r, x, newest[r]);
      }
      __syncthreads();  // the tiles are written; all have read those of the plane before
    }
  }
}

/// `steps` times the step next = star(now), with the neighbours at distance 1. Fields of planes x
/// rows x cols floats, device pointers; next must not overlap now. rule: an edge::Rule.
/// \returns cudaErrorInvalidValue for steps other than 1 to 4, planes above 65,535, rows above
/// 1,572,840, cols above 2^31 - 4097, another rule; or an error of CUDA.
cudaError_t step(const float* now, const Star& star, float* next, std::int64_t planes,
                 std::int64_t rows_, std::int64_t cols, std::int64_t steps, std::int64_t rule,
                 cudaStream_t stream) {
  if (steps < 1 || steps > most_steps ||
      !edge::fit(planes, rows_, cols, rule, 1, rows - 2 * most_steps))
    return cudaErrorInvalidValue;
  if (planes == 0 || rows_ == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(planes, rows_, cols, rule, now, next);
  cudaError_t error = cudaSuccess;
  edge::choose<most_steps>(steps, [&](auto s) {
    constexpr int bytes = 2 * s() * rows * 32 * static_cast<int>(sizeof(float4));
    const bool whole = f.vectors && rule == edge::fixed;
    const auto kernel = whole ? step_heat<s(), true> : step_heat<s(), false>;
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error != cudaSuccess) return;
    dim3 grid = edge::grid(f, 1, rows - 2 * s(), block_cols);
    int each = 0;  // planes per block
    error = pieces::choose(f.planes, std::int64_t{grid.x} * grid.y, s() == 1 ? 2 : 1, 2 * s(),
                           f.planes, &each);
    if (error != cudaSuccess) return;
    grid.z = static_cast<unsigned>((f.planes + each - 1) / each);
    kernel<<<grid, dim3(32, warps), bytes, stream>>>(now, star, next, f, each);
    error = cudaGetLastError();
  });
  return error;
}

}  // namespace in_time
