#pragma once
/// \file
/// Four points of a row, side by side, in one vector of 16 bytes.

#include <cuda_runtime.h>

#include "edge.cuh"

namespace four {

/// The points (z, y, x) to (z, y, x + 3), any of which may lie outside. x is a multiple of 4.
__device__ inline float4 load(const float* values, const edge::Field& f, int z, int y, int x) {
  if (f.vectors && z >= 0 && z < f.planes && y >= 0 && y < f.rows && x >= 0 && x < f.cols) {
    return *reinterpret_cast<const float4*>(values + edge::offset(f, z, y, x));
  }
  return make_float4(edge::point(values, f, z, y, x), edge::point(values, f, z, y, x + 1),
                     edge::point(values, f, z, y, x + 2), edge::point(values, f, z, y, x + 3));
}

/// Writes four results from (z, y, x) on, those that lie inside. x is a multiple of 4.
__device__ inline void store(float* values, const edge::Field& f, int z, int y, int x, float4 v) {
  if (y >= f.rows || x < 0 || x >= f.cols) return;
  float* const to = values + edge::offset(f, z, y, x);
  if (f.vectors) {
    *reinterpret_cast<float4*>(to) = v;
    return;
  }
  const float each[] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    if (x + k < f.cols) to[k] = each[k];
  }
}

/// to += c a.
__device__ inline void add(float4& to, float c, float4 a) {
  to.x += c * a.x, to.y += c * a.y, to.z += c * a.z, to.w += c * a.w;
}

/// to += c (a + b).
__device__ inline void add(float4& to, float c, float4 a, float4 b) {
  to.x += c * (a.x + b.x), to.y += c * (a.y + b.y);
  to.z += c * (a.z + b.z), to.w += c * (a.w + b.w);
}

/// a b + c, point by point.
__device__ inline float4 multiply_add(float4 a, float4 b, float4 c) {
  return make_float4(a.x * b.x + c.x, a.y * b.y + c.y, a.z * b.z + c.z, a.w * b.w + c.w);
}

/// 2 now - before.
__device__ inline float4 extrapolated(float4 now, float4 before) {
  return make_float4(2 * now.x - before.x, 2 * now.y - before.y, 2 * now.z - before.z,
                     2 * now.w - before.w);
}

/// Adds the neighbours along x: window holds the points from x - 4 to x + 7.
template <int radius>
__device__ void add_along_x(float4& to, const float (&c)[largest_radius + 1],
                            const float (&window)[12]) {
#pragma unroll
  for (int k = 1; k <= radius; ++k) {
    to.x += c[k] * (window[4 - k] + window[4 + k]);
    to.y += c[k] * (window[5 - k] + window[5 + k]);
    to.z += c[k] * (window[6 - k] + window[6 + k]);
    to.w += c[k] * (window[7 - k] + window[7 + k]);
  }
}

}  // namespace four
