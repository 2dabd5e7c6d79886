#pragma once
/// \file
/// What the versions of the tilted wave have in common: what a thread reads from a plane in shared
/// memory, and the queue of sums to which it adds the plane.

#include <cuda_runtime.h>

#include "edge.cuh"
#include "four.cuh"
#include "tilted.hpp"

namespace tilted {

constexpr int warps = 8, block_planes = 64;  // a warp per row
constexpr int block_cols = 128, block_rows = warps;
constexpr int halo_cols = 4;  // floats on each side of a tile's row: as many as the largest radius
constexpr int tile_cols = block_cols + 2 * halo_cols;

/// The floats of a tile with its halo above and below.
template <int radius>
constexpr int tile_size = (block_rows + 2 * radius) * tile_cols;

/// What a thread needs of a plane to compute its four points.
struct Parts {
  float window[12];  // the points from x - 4 to x + 7
  float4 second;     // what the star adds along y
  float4 slope;      // Dy of the four points
  float rim;         // Dy of a point left (lanes 0 to 3) or right (4 to 7) of the warp's 128
};

/// to += c (a - b).
__device__ inline void add_slope(float4& to, float c, float4 a, float4 b) {
  to.x += c * (a.x - b.x), to.y += c * (a.y - b.y);
  to.z += c * (a.z - b.z), to.w += c * (a.w - b.w);
}

/// Reads a tile. All loads of the plane are here.
template <int radius>
__device__ Parts read(const float* tile, const Tilted& c) {
  const int lane = threadIdx.x;
  const float* const middle = tile + (threadIdx.y + radius) * tile_cols + halo_cols + 4 * lane;
  const auto vector = [&](int row, int col) {
    return *reinterpret_cast<const float4*>(middle + row * tile_cols + col);
  };
  Parts parts = {};
#pragma unroll
  for (int w = 0; w < 3; ++w)
    *reinterpret_cast<float4*>(parts.window + 4 * w) = vector(0, 4 * w - 4);
#pragma unroll
  for (int k = 1; k <= radius; ++k) {
    const float4 behind = vector(-k, 0), ahead = vector(k, 0);
    four::add(parts.second, c.star.y[k], behind, ahead);
    add_slope(parts.slope, c.slope[k], ahead, behind);
  }
  const int col = lane % 8 < 4 ? lane % 8 - halo_cols : block_cols + lane % 8 - halo_cols;
  const float* const column = middle - 4 * lane + col;
#pragma unroll
  for (int k = 1; k <= radius; ++k)
    parts.rim += c.slope[k] * (column[k * tile_cols] - column[-k * tile_cols]);
  return parts;
}

/// Dx of four points, from a window of the points from x - 4 to x + 7.
template <int radius>
__device__ float4 slope_along_x(const float (&c)[largest_radius + 1], const float (&window)[12]) {
  float4 sum = {};
#pragma unroll
  for (int k = 1; k <= radius; ++k) {
    sum.x += c[k] * (window[4 + k] - window[4 - k]);
    sum.y += c[k] * (window[5 + k] - window[5 - k]);
    sum.z += c[k] * (window[6 + k] - window[6 - k]);
    sum.w += c[k] * (window[7 + k] - window[7 - k]);
  }
  return sum;
}

/// Adds a plane to the sums of the planes from `radius` before it to `radius` after it. queue[0],
/// of the first of them, is complete then, but for `before`. All lanes of the warp call it.
template <int radius>
__device__ void add(float4 (&queue)[2 * radius + 1], const Parts& parts, const Tilted& c) {
  const int lane = threadIdx.x;
  const float4 own =
      make_float4(parts.window[4], parts.window[5], parts.window[6], parts.window[7]);
  // Dx of Dy: the neighbours' slopes come from other lanes.
  const float4 slope = parts.slope;
  float slopes[12] = {__shfl_up_sync(~0u, slope.x, 1),
                      __shfl_up_sync(~0u, slope.y, 1),
                      __shfl_up_sync(~0u, slope.z, 1),
                      __shfl_up_sync(~0u, slope.w, 1),
                      slope.x,
                      slope.y,
                      slope.z,
                      slope.w,
                      __shfl_down_sync(~0u, slope.x, 1),
                      __shfl_down_sync(~0u, slope.y, 1),
                      __shfl_down_sync(~0u, slope.z, 1),
                      __shfl_down_sync(~0u, slope.w, 1)};
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float neighbour = __shfl_sync(~0u, parts.rim, lane == 31 ? 4 + k : k);
    if (lane == 0) slopes[k] = neighbour;
    if (lane == 31) slopes[8 + k] = neighbour;
  }
  float4 plane = parts.second;  // what the plane adds to its own sum
  four::add(plane, 2 + c.star.centre, own);
  four::add_along_x<radius>(plane, c.star.x, parts.window);
  four::add(plane, c.xy, slope_along_x<radius>(c.slope, slopes));
  float4 across = {};  // xz Dx + yz Dy, of which Dz is taken
  four::add(across, c.xz, slope_along_x<radius>(c.slope, parts.window));
  four::add(across, c.yz, slope);
#pragma unroll
  for (int i = 0; i <= 2 * radius; ++i) {
    const int k = i < radius ? radius - i : i - radius;
    float4 sum = i < 2 * radius ? queue[i + 1] : make_float4(0, 0, 0, 0);
    if (k == 0) {
      four::add(sum, 1, plane);
    } else {
      four::add(sum, c.star.z[k], own);
      four::add(sum, i < radius ? c.slope[k] : -c.slope[k], across);
    }
    queue[i] = sum;
  }
}

/// sum - before.
__device__ inline float4 minus(float4 sum, float4 before) {
  return make_float4(sum.x - before.x, sum.y - before.y, sum.z - before.z, sum.w - before.w);
}

}  // namespace tilted
