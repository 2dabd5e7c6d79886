// Idea: four points per thread, side by side along x, loaded, exchanged and stored as one vector of
//   16 bytes. What a thread needs beyond its own points is fetched a plane ahead, into registers.
//   Two tiles in turn leave one barrier per plane.
// Predicts: with radius 4 a thread reads ten vectors from shared memory for four results instead of
//   64 floats: five eighths of the bytes, a sixth of the instructions.
// Still wrong: every load from global memory waits in a register of the thread that asked for it;
//   one plane ahead is all that the registers hold. Rows that are not whole vectors go to 03.
// Calls 03_tile.cu
#include <cuda_runtime.h>

#include <cstdint>

#include "edge.cuh"
#include "four.cuh"

namespace tile {
cudaError_t step(const float* now, const float* before, const Star& star, float* next,
                 std::int64_t planes, std::int64_t rows, std::int64_t cols, std::int64_t radius,
                 std::int64_t rule, cudaStream_t stream);
}

namespace vectors {

constexpr int warps = 16, block_planes = 64;  // a warp per row
constexpr int block_cols = 128, block_rows = warps;
constexpr int halo_cols = 4;  // floats on each side of a tile's row: as many as the largest radius

/// The part of the halo that this thread brings to the tile: for radius 4, each of the first eight
/// warps a row above or below the block, the ninth the vectors left and right of it. `row` stays -1
/// for the others.
template <int radius>
__device__ float4 halo(const float* now, const edge::Field& f, int z, int* row, int* col) {
  const int lane = threadIdx.x, warp = threadIdx.y;
  const int x0 = blockIdx.x * block_cols, y0 = blockIdx.y * block_rows;
  if (warp < 2 * radius) {
    *row = warp < radius ? warp : block_rows + warp;
    *col = halo_cols + 4 * lane;
  } else if (warp == 2 * radius) {
    *row = radius + lane / 2;
    *col = lane % 2 == 0 ? 0 : halo_cols + block_cols;
  } else {
    return make_float4(0, 0, 0, 0);
  }
  return four::load(now, f, z, y0 + *row - radius, x0 + *col - halo_cols);
}

template <int radius>
__global__ void __launch_bounds__(32 * warps, 2)
    step_wave(const float* now, const float* before, const __grid_constant__ Star star, float* next,
              edge::Field f) {
  __shared__ alignas(16) float s[2][block_rows + 2 * radius][block_cols + 2 * halo_cols];
  const int lane = threadIdx.x, warp = threadIdx.y;
  const int x = blockIdx.x * block_cols + 4 * lane, y = blockIdx.y * block_rows + warp;
  const int first = blockIdx.z * block_planes, last = min(first + block_planes, f.planes);
  const auto vector = [&](int tile, int row, int col) -> float4& {
    return *reinterpret_cast<float4*>(&s[tile][row][col]);
  };
  float4 queue[2 * radius + 1];  // four points each, from z - radius to z + radius
#pragma unroll
  for (int k = 0; k <= 2 * radius; ++k) queue[k] = four::load(now, f, first - radius + k, y, x);
  int row = -1, col = 0;  // where this thread's part of the halo belongs
  float4 rim = halo<radius>(now, f, first, &row, &col);
  float4 past = four::load(before, f, first, y, x);
  for (int z = first; z < last; ++z) {
    const int tile = z % 2;
    vector(tile, warp + radius, halo_cols + 4 * lane) = queue[radius];
    if (row >= 0) vector(tile, row, col) = rim;
    __syncthreads();  // the tile is filled; all have read the other one
    float4 sum = four::extrapolated(queue[radius], past);
    const float4 ahead = four::load(now, f, z + radius + 1, y, x);
    if (z + 1 < last) {
      rim = halo<radius>(now, f, z + 1, &row, &col);
      past = four::load(before, f, z + 1, y, x);
    }
    four::add(sum, star.centre, queue[radius]);
    alignas(16) float window[12];  // from x - 4 to x + 7
    *reinterpret_cast<float4*>(window) = vector(tile, warp + radius, 4 * lane);
    *reinterpret_cast<float4*>(window + 4) = queue[radius];
    *reinterpret_cast<float4*>(window + 8) = vector(tile, warp + radius, 4 * lane + 8);
    four::add_along_x<radius>(sum, star.x, window);
#pragma unroll
    for (int k = 1; k <= radius; ++k) {
      four::add(sum, star.y[k], vector(tile, warp + radius - k, halo_cols + 4 * lane),
                vector(tile, warp + radius + k, halo_cols + 4 * lane));
      four::add(sum, star.z[k], queue[radius - k], queue[radius + k]);
    }
    four::store(next, f, z, y, x, sum);
#pragma unroll
    for (int k = 0; k < 2 * radius; ++k) queue[k] = queue[k + 1];
    queue[2 * radius] = ahead;
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
  const edge::Field f = edge::field(planes, rows, cols, rule, now, before, next);
  if (!f.vectors)
    return tile::step(now, before, star, next, planes, rows, cols, radius, rule, stream);
  edge::choose<4>(radius, [&](auto r) {
    step_wave<r()>
        <<<edge::grid(f, block_planes, block_rows, block_cols), dim3(32, warps), 0, stream>>>(
            now, before, star, next, f);
  });
  return cudaGetLastError();
}

}  // namespace vectors
