// Idea: a wave whose speed depends on the direction. A thread reads each plane once and adds it to
//   the sums of the planes around it, which it keeps in a queue. Planes come by asynchronous copies
//   of 16 bytes to two tiles in turn.
// Predicts: with radius 4, 62 instructions that compute for 32 results: 0.25 ms. So the bytes are
//   still the limit.
// Still wrong: each thread computes the addresses of its copies and compares them with the edges.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "tilted.cuh"

namespace tilted_async {

using namespace tilted;

/// Begins to copy the tile of plane z.
template <int radius>
__device__ void fetch(float* tile, const float* now, const edge::Field& f, int z) {
  const int x0 = blockIdx.x * block_cols - halo_cols, y0 = blockIdx.y * block_rows - radius;
  constexpr int vectors = tile_cols / 4;
  z = edge::inside(z, f.planes, f.rule);
  for (int i = threadIdx.y * 32 + threadIdx.x; i < tile_size<radius> / 4; i += 32 * warps) {
    const int y = edge::inside(y0 + i / vectors, f.rows, f.rule);
    const int x = x0 + i % vectors * 4;
    const auto copy = [&](int col, float* to, int bytes) {
      const bool there = z >= 0 && y >= 0 && col >= 0;
      __pipeline_memcpy_async(to, there ? now + edge::offset(f, z, y, col) : now, bytes,
                              there ? 0 : bytes);
    };
    if (f.vectors) {
      copy(edge::inside(x, f.cols, f.rule), tile + 4 * i, 16);
    } else {
      for (int k = 0; k < 4; ++k) copy(edge::inside(x + k, f.cols, f.rule), tile + 4 * i + k, 4);
    }
  }
  __pipeline_commit();
}

template <int radius>
__global__ void __launch_bounds__(32 * warps)
    step_tilted(const float* now, const float* before, const __grid_constant__ Tilted c,
                float* next, edge::Field f) {
  __shared__ alignas(16) float tiles[2][tile_size<radius>];
  const int x = blockIdx.x * block_cols + 4 * threadIdx.x;
  const int y = blockIdx.y * block_rows + threadIdx.y;
  const int first = blockIdx.z * block_planes, last = min(first + block_planes, f.planes);
  float4 queue[2 * radius + 1] = {}, past = four::load(before, f, first, y, x);
  fetch<radius>(tiles[0], now, f, first - radius);
  for (int p = 0; p < last - first + 2 * radius; ++p) {  // planes from first - radius on
    const int z = first + p - 2 * radius;                // the plane whose sum is complete
    __pipeline_wait_prior(0);
    __syncthreads();  // the plane is there for all threads; all have read the one before
    fetch<radius>(tiles[(p + 1) % 2], now, f, first - radius + p + 1);
    add<radius>(queue, read<radius>(tiles[p % 2], c), c);
    if (z < first) continue;
    four::store(next, f, z, y, x, minus(queue[0], past));
    if (z + 1 < last) past = four::load(before, f, z + 1, y, x);
  }
  __pipeline_wait_prior(0);
}

/// One step of a wave in tilted directions: next = 2 now - before + star(now) + xy Dx Dy now
/// + xz Dx Dz now + yz Dy Dz now, as tilted.hpp explains. Fields of planes x rows x cols floats,
/// device pointers; next must not overlap the others. rule: an edge::Rule.
/// \returns cudaErrorInvalidValue for a radius that is not 1 to 4, planes above 4,194,240, rows
/// above 524,280, cols above 2^31 - 4097, another rule; or the error of the launch.
cudaError_t step(const float* now, const float* before, const Tilted& c, float* next,
                 std::int64_t planes, std::int64_t rows, std::int64_t cols, std::int64_t radius,
                 std::int64_t rule, cudaStream_t stream) {
  if (!edge::fit(planes, rows, cols, rule, block_planes, block_rows) || radius < 1 || radius > 4)
    return cudaErrorInvalidValue;
  if (planes == 0 || rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(planes, rows, cols, rule, now, before, next);
  edge::choose<4>(radius, [&](auto r) {
    step_tilted<r()>
        <<<edge::grid(f, block_planes, block_rows, block_cols), dim3(32, warps), 0, stream>>>(
            now, before, c, next, f);
  });
  return cudaGetLastError();
}

}  // namespace tilted_async
