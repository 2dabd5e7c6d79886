// Idea: the box of 14, read as vectors: a thread has four columns and eight rows side by side (four
//   rows from radius 5 on). A vector of the box is added to all results that it belongs to.
// Predicts: with radius 4, 32 results take 32 vectors of 16 bytes; as single floats 544, four times
//   as many bytes. So shared memory is no limit any more, and the rate is that of a copy.
// Still wrong: needs compute capability 9.0, rows of whole vectors and zeros beyond the edges;
//   other planes go to 12.
// Calls 12_plane_tile.cu
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

#include "box.hpp"
#include "edge.cuh"
#include "four.cuh"

namespace plane_tile {
cudaError_t step_many(const float* now, const Star& star, float* next, std::int64_t rows,
                      std::int64_t cols, std::int64_t radius, std::int64_t rule,
                      cudaStream_t stream);
}

namespace plane_vectors {

namespace ptx = cuda::ptx;

constexpr int warps = 8, block_cols = 128;

template <int radius>
constexpr int each = radius <= 4 ? 8 : 4;  // rows of a thread

template <int radius>
struct Box {
  static constexpr int block_rows = warps * each<radius>;
  static constexpr int halo_cols = (radius + 3) / 4 * 4;  // a box begins at a multiple of 16 bytes
  static constexpr int rows = block_rows + 2 * radius;
};

template <int radius>
__global__ void __launch_bounds__(32 * warps)
    step_plane(const __grid_constant__ CUtensorMap now,
               const __grid_constant__ CUtensorMap halo_map, const __grid_constant__ Star star,
               float* next, edge::Field f) {
  using B = Box<radius>;
  constexpr int near = B::halo_cols;
  // The block's columns with the halo above and below, whole lines of 128 bytes; and the halo left
  // and right of the block's rows.
  __shared__ alignas(128) float s[B::rows][block_cols], sides[2][B::block_rows][near];
  __shared__ std::uint64_t there;
  const int lane = threadIdx.x, first = threadIdx.y * each<radius>;
  const int x0 = blockIdx.x * block_cols, y0 = blockIdx.y * B::block_rows;
  if (lane == 0 && first == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    const auto copy = [&](void* to, const CUtensorMap& map, int x, int y) {
      const std::int32_t at[] = {x, y, 0};
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, &map, at, &there);
    };
    copy(s, now, x0, y0 - radius);
    copy(sides[0], halo_map, x0 - near, y0);
    copy(sides[1], halo_map, x0 + block_cols, y0);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                   static_cast<unsigned>(sizeof s + sizeof sides));
  }
  __syncthreads();  // no thread waits at a barrier before it is initialised
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  float4 sums[each<radius>] = {};
#pragma unroll
  for (int i = 0; i < each<radius> + 2 * radius; ++i) {  // rows of the box from `first` on
    const float4 own = *reinterpret_cast<const float4*>(&s[first + i][4 * lane]);
#pragma unroll
    for (int r = 0; r < each<radius>; ++r) {
      const int k = i - radius < r ? r - i + radius : i - radius - r;
      if (k >= 1 && k <= radius) four::add(sums[r], star.y[k], own);
      if (k != 0) continue;
      four::add(sums[r], star.centre, own);
      alignas(16) float window[4 + 2 * near];  // from x - near to x + 3 + near
#pragma unroll
      for (int w = 0; w < 4 + 2 * near; w += 4) {
        const int x = 4 * lane + w - near;  // in the block
        const float* const from = x < 0             ? &sides[0][first + r][x + near]
                                  : x >= block_cols ? &sides[1][first + r][x - block_cols]
                                                    : &s[first + i][x];
        *reinterpret_cast<float4*>(window + w) =
            w == near ? own : *reinterpret_cast<const float4*>(from);
      }
#pragma unroll
      for (int l = 1; l <= radius; ++l) {
        sums[r].x += star.x[l] * (window[near - l] + window[near + l]);
        sums[r].y += star.x[l] * (window[near + 1 - l] + window[near + 1 + l]);
        sums[r].z += star.x[l] * (window[near + 2 - l] + window[near + 2 + l]);
        sums[r].w += star.x[l] * (window[near + 3 - l] + window[near + 3 + l]);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < each<radius>; ++r)
    four::store(next, f, 0, y0 + first + r, x0 + 4 * lane, sums[r]);
}

/// next = star(now): the sum of a point and its neighbours along both axes, times their
/// coefficients. Planes of rows x cols floats, device pointers; next must not overlap now. rule: an
/// edge::Rule. \returns cudaErrorInvalidValue for a radius that is not 1 to 8, rows above
/// 2,097,120, cols above 2^31 - 4097, another rule; or an error of CUDA.
cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (!edge::fit(1, rows, cols, rule, 1, warps * each<largest_radius>) || radius < 1 ||
      radius > largest_radius)
    return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  if (!f.vectors || rule != edge::fixed)
    return plane_tile::step_many(now, star, next, rows, cols, radius, rule, stream);
  cudaError_t error = cudaSuccess;
  edge::choose<largest_radius>(radius, [&](auto r) {
    CUtensorMap map, halo_map;
    using B = Box<r()>;
    error = box::make(&map, now, f, B::rows, block_cols, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
    if (error != cudaSuccess) return;
    error = box::make(&halo_map, now, f, B::block_rows, B::halo_cols,
                      CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
    if (error != cudaSuccess) return;
    step_plane<r()><<<edge::grid(f, 1, B::block_rows, block_cols), dim3(32, warps), 0, stream>>>(
        map, halo_map, star, next, f);
    error = cudaGetLastError();
  });
  return error;
}

}  // namespace plane_vectors
