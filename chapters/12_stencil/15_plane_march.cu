// Idea: each warp works alone. It marches down the plane; a lane has four columns and keeps the
// rows
//   that it needs in registers, a queue. Neighbours along x come from other lanes by shuffles. No
//   shared memory, no barrier.
// Predicts: the rate of a copy for every radius: a row is loaded once by each warp; the first and
//   the last lanes, whose neighbours are missing, repeat the columns of the warps beside it: 8 of
//   128 up to radius 4, 16 beyond. A strip of 64 rows repeats 2 radius rows.
// Still wrong: with radius 8 a lane keeps 17 vectors, 68 registers.
#include <cuda_runtime.h>

#include <cstdint>

#include "edge.cuh"
#include "four.cuh"

namespace plane_march {

constexpr int warps = 4, strip = 64;
constexpr int fetched = 4;  // rows on their way

template <int radius>
constexpr int side = (radius + 3) / 4;  // lanes on each side that have no results

template <int radius>
constexpr int block_cols = warps*(128 - 8 * side<radius>);

/// The points from x - 4 side to x + 3 + 4 side of a row, of which each lane has four.
template <int lanes>
__device__ void gather(float (&window)[8 * lanes + 4], float4 middle) {
  const float own[] = {middle.x, middle.y, middle.z, middle.w};
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    window[4 * lanes + k] = own[k];
#pragma unroll
    for (int l = 1; l <= lanes; ++l) {
      window[4 * (lanes - l) + k] = __shfl_up_sync(~0u, own[k], l);
      window[4 * (lanes + l) + k] = __shfl_down_sync(~0u, own[k], l);
    }
  }
}

template <int radius>
__global__ void __launch_bounds__(32 * warps)
    step_plane(const float* now, const __grid_constant__ Star star, float* next, edge::Field f) {
  constexpr int lanes = side<radius>, near = 4 * lanes;
  const int lane = threadIdx.x;
  const int x = (blockIdx.x * warps + threadIdx.y) * (128 - 2 * near) - near + 4 * lane;
  const int first = blockIdx.y * strip, last = min(first + strip, f.rows);
  float4 queue[2 * radius + 1];  // the rows from y - radius to y + radius
#pragma unroll
  for (int k = 0; k < 2 * radius; ++k) queue[k + 1] = four::load(now, f, 0, first - radius + k, x);
  float4 ahead[fetched];
#pragma unroll
  for (int k = 0; k < fetched; ++k) ahead[k] = four::load(now, f, 0, first + radius + k, x);
  for (int y0 = first; y0 < last; y0 += fetched) {
#pragma unroll
    for (int k = 0; k < fetched; ++k) {
      const int y = y0 + k;
#pragma unroll
      for (int i = 0; i < 2 * radius; ++i) queue[i] = queue[i + 1];
      queue[2 * radius] = ahead[k];
      ahead[k] = four::load(now, f, 0, y + radius + fetched, x);
      float window[8 * lanes + 4];
      gather<lanes>(window, queue[radius]);
      float4 sum = make_float4(0, 0, 0, 0);
      four::add(sum, star.centre, queue[radius]);
#pragma unroll
      for (int i = 1; i <= radius; ++i) {
        sum.x += star.x[i] * (window[near - i] + window[near + i]);
        sum.y += star.x[i] * (window[near + 1 - i] + window[near + 1 + i]);
        sum.z += star.x[i] * (window[near + 2 - i] + window[near + 2 + i]);
        sum.w += star.x[i] * (window[near + 3 - i] + window[near + 3 + i]);
        four::add(sum, star.y[i], queue[radius - i], queue[radius + i]);
      }
      if (lane >= lanes && lane < 32 - lanes && y < last) four::store(next, f, 0, y, x, sum);
    }
  }
}

/// next = star(now): the sum of a point and its neighbours along both axes, times their
/// coefficients. Planes of rows x cols floats, device pointers; next must not overlap now. rule: an
/// edge::Rule. \returns cudaErrorInvalidValue for a radius that is not 1 to 8, rows above
/// 4,194,240, cols above 2^31 - 4097, another rule; or the error of the launch.
cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (!edge::fit(1, rows, cols, rule, 1, strip) || radius < 1 || radius > largest_radius)
    return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  edge::choose<largest_radius>(radius, [&](auto r) {
    step_plane<r()><<<edge::grid(f, 1, strip, block_cols<r()>), dim3(32, warps), 0, stream>>>(
        now, star, next, f);
  });
  return cudaGetLastError();
}

}  // namespace plane_march
