// Idea: the tile of 12 as a box: one thread issues one copy, and the TMA fills in zeros beyond the
//   edges. No thread compares indices with the edges.
// Predicts: the copy costs the threads nothing, whatever the radius; so it wins where the halo is
//   large, with radius 8 and one point per thread.
// Still wrong: the whole block waits for its box; nothing is fetched ahead. Needs compute
//   capability 9.0, rows of whole vectors and zeros beyond the edges; other planes go to 12.
// Calls 12_plane_tile.cu
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

#include "box.hpp"
#include "edge.cuh"

namespace plane_tile {
cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream);
cudaError_t step_many(const float* now, const Star& star, float* next, std::int64_t rows,
                      std::int64_t cols, std::int64_t radius, std::int64_t rule,
                      cudaStream_t stream);
}  // namespace plane_tile

namespace plane_tma {

constexpr int block_x = 32, block_y = 8;

namespace ptx = cuda::ptx;

template <int radius, int per>
struct Box {
  static constexpr int halo_cols = (radius + 3) / 4 * 4;  // a box begins at a multiple of 16 bytes
  static constexpr int rows = block_y * per + 2 * radius, cols = block_x * per + 2 * halo_cols;
};

/// per x per points per thread, block_x or block_y apart.
template <int radius, int per>
__global__ void step_plane(const __grid_constant__ CUtensorMap now,
                           const __grid_constant__ Star star, float* next, edge::Field f) {
  using B = Box<radius, per>;
  __shared__ alignas(128) float s[B::rows][B::cols];
  __shared__ std::uint64_t there;
  const int x0 = blockIdx.x * block_x * per, y0 = blockIdx.y * block_y * per;
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    const std::int32_t at[] = {x0 - B::halo_cols, y0 - radius, 0};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &now, at, &there);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                   static_cast<unsigned>(sizeof s));
  }
  __syncthreads();  // no thread waits at a barrier before it is initialised
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
#pragma unroll
  for (int i = 0; i < per; ++i) {
#pragma unroll
    for (int j = 0; j < per; ++j) {
      const int ty = threadIdx.y + i * block_y, tx = threadIdx.x + j * block_x;
      if (y0 + ty >= f.rows || x0 + tx >= f.cols) continue;
      const auto point = [&](int dy, int dx) {
        return s[ty + radius + dy][tx + B::halo_cols + dx];
      };
      float sum = star.centre * point(0, 0);
#pragma unroll
      for (int k = 1; k <= radius; ++k) {
        sum += star.x[k] * (point(0, -k) + point(0, k));
        sum += star.y[k] * (point(-k, 0) + point(k, 0));
      }
      next[edge::offset(f, 0, y0 + ty, x0 + tx)] = sum;
    }
  }
}

template <int per>
cudaError_t launch(const float* now, const Star& star, float* next, std::int64_t rows,
                   std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (!edge::fit(1, rows, cols, rule, 1, block_y * per) || radius < 1 || radius > largest_radius)
    return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now);
  if (!f.vectors || rule != edge::fixed) {
    const auto tile = per == 1 ? plane_tile::step : plane_tile::step_many;
    return tile(now, star, next, rows, cols, radius, rule, stream);
  }
  cudaError_t error = cudaSuccess;
  edge::choose<largest_radius>(radius, [&](auto r) {
    CUtensorMap map;
    using B = Box<r(), per>;
    error = box::make(&map, now, f, B::rows, B::cols);
    if (error != cudaSuccess) return;
    step_plane<r(), per>
        <<<edge::grid(f, 1, block_y * per, block_x * per), dim3(block_x, block_y), 0, stream>>>(
            map, star, next, f);
    error = cudaGetLastError();
  });
  return error;
}

/// next = star(now): the sum of a point and its neighbours along both axes, times their
/// coefficients; a point per thread. Planes of rows x cols floats, device pointers; next must not
/// overlap now. rule: an edge::Rule. \returns cudaErrorInvalidValue for a radius that is not 1 to
/// 8, rows above 524,280, cols above 2^31 - 4097, another rule; or an error of CUDA.
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

}  // namespace plane_tma
