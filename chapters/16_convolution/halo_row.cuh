#pragma once
/// \file
/// A row of a tile with its halo, from global to shared memory.

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "border.cuh"

namespace halo {

/// How many columns a tile has on each side of its 128: the radius, rounded up to a multiple of
/// eight. So the tile's first column is where a sector of 32 bytes begins.
template <int radius>
constexpr int margin = (radius + 7) / 8 * 8;

/// The 32 lanes of a warp copy `count` pixels, from (y, x) on, to shared memory, asynchronously
/// where they lie in the image. `vectors`: the image and all its rows begin at multiples of 16
/// bytes. Before a thread reads them, the lanes wait with
/// __pipeline_wait_prior(0), and a barrier follows.
template <int count>
__device__ void copy_row(float* to, const float* image, int rows, int cols, int y, int x, int rule,
                         bool vectors) {
  const int row = border::inside(y, rows, rule), lane = threadIdx.x % 32;
  const float* const from = image + std::int64_t{row} * cols;
  if (vectors && row >= 0 && x >= 0 && x + count <= cols) {
    for (int k = 4 * lane; k < count; k += 128) {
      __pipeline_memcpy_async(to + k, from + x + k, 16);
    }
    return;
  }
  for (int k = lane; k < count; k += 32) {
    const int col = border::inside(x + k, cols, rule);
    if (row < 0 || col < 0) {
      to[k] = 0;
    } else {
      __pipeline_memcpy_async(to + k, from + col, 4);
    }
  }
}

}  // namespace halo
