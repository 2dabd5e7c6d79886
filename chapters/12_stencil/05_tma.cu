// Idea: the TMA brings each plane with its halo, by one bulk copy of one thread, into a ring of
//   planes in shared memory. Several planes are in flight while the block computes, and occupy no
//   register. Beyond the edges the TMA fills in zeros.
// Predicts: the time that the bytes take. With radius 4 a block keeps five planes and fetches three
//   more ahead, 39 KiB.
// Still wrong: needs compute capability 9.0, rows of whole vectors, and zeros beyond the edges;
//   other fields go to 04.
// Calls 04_vectors.cu
// Calls 03_tile.cu
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

#include "box.hpp"
#include "edge.cuh"
#include "four.cuh"

namespace vectors {
cudaError_t step(const float* now, const float* before, const Star& star, float* next,
                 std::int64_t planes, std::int64_t rows, std::int64_t cols, std::int64_t radius,
                 std::int64_t rule, cudaStream_t stream);
}

namespace tma {

namespace ptx = cuda::ptx;

constexpr int warps = 16, block_planes = 64;  // a warp per row
constexpr int block_cols = 128, block_rows = warps;
constexpr int halo_cols = 4;  // floats on each side of a box's row: as many as the largest radius
constexpr int fetched = 3;    // planes in flight

template <int radius>
struct Ring {
  static constexpr int stages = radius + 1 + fetched;
  static constexpr int rows = block_rows + 2 * radius, cols = block_cols + 2 * halo_cols;
  static constexpr int bytes = rows * cols * static_cast<int>(sizeof(float));
  static constexpr int pitch = (bytes + 127) / 128 * 128;  // each box begins at a multiple of 128
  static constexpr int shared_bytes = stages * pitch;
};

template <int radius>
__global__ void __launch_bounds__(32 * warps, 2)
    step_wave(const __grid_constant__ CUtensorMap now, const float* before,
              const __grid_constant__ Star star, float* next, edge::Field f) {
  using R = Ring<radius>;
  extern __shared__ __align__(128) char ring[];
  __shared__ std::uint64_t full[R::stages];
  const int lane = threadIdx.x, warp = threadIdx.y;
  const int x0 = blockIdx.x * block_cols, y0 = blockIdx.y * block_rows;
  const int x = x0 + 4 * lane, y = y0 + warp;
  const int first = blockIdx.z * block_planes, last = min(first + block_planes, f.planes);
  const bool producer = lane == 0 && warp == 0;
  // Planes are counted from first - radius on; plane p lies in stage p % stages.
  const int count = last - first + 2 * radius;
  const auto fetch = [&](int p) {
    const int stage = p % R::stages;
    const std::int32_t at[] = {x0 - halo_cols, y0 - radius, first - radius + p};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, ring + stage * R::pitch, &now,
                              at, &full[stage]);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                   &full[stage], R::bytes);
  };
  const auto vector = [&](int p, int row, int col) {
    const float* const box = reinterpret_cast<const float*>(ring + p % R::stages * R::pitch);
    return *reinterpret_cast<const float4*>(box + row * R::cols + col);
  };
  if (producer) {
    for (int stage = 0; stage < R::stages; ++stage) ptx::mbarrier_init(&full[stage], 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    for (int p = 0; p < min(R::stages, count); ++p) fetch(p);
  }
  __syncthreads();                    // no thread waits at a barrier before it is initialised
  float4 queue[2 * radius + 1] = {};  // the planes p - 2 radius to p
  float4 past = four::load(before, f, first, y, x);
  for (int p = 0; p < count; ++p) {
    while (!ptx::mbarrier_try_wait_parity(&full[p % R::stages], p / R::stages % 2)) {
    }
#pragma unroll
    for (int k = 0; k < 2 * radius; ++k) queue[k] = queue[k + 1];
    queue[2 * radius] = vector(p, warp + radius, halo_cols + 4 * lane);
    const int middle = p - radius;  // the plane that is computed
    if (middle >= radius) {
      const int z = first + middle - radius, row = warp + radius, col = halo_cols + 4 * lane;
      float4 sum = four::extrapolated(queue[radius], past);
      if (z + 1 < last) past = four::load(before, f, z + 1, y, x);
      four::add(sum, star.centre, queue[radius]);
      alignas(16) float window[12];  // from x - 4 to x + 7
      *reinterpret_cast<float4*>(window) = vector(middle, row, col - 4);
      *reinterpret_cast<float4*>(window + 4) = queue[radius];
      *reinterpret_cast<float4*>(window + 8) = vector(middle, row, col + 4);
      four::add_along_x<radius>(sum, star.x, window);
#pragma unroll
      for (int k = 1; k <= radius; ++k) {
        four::add(sum, star.y[k], vector(middle, row - k, col), vector(middle, row + k, col));
        four::add(sum, star.z[k], queue[radius - k], queue[radius + k]);
      }
      four::store(next, f, z, y, x, sum);
    }
    if (middle >= 0) {
      ptx::fence_proxy_async(ptx::space_shared);  // the TMA overwrites what this thread has read
      __syncthreads();                            // all have read it
      if (producer && middle + R::stages < count) fetch(middle + R::stages);
    }
  }
}

/// One step of a wave: next = 2 now - before + star(now), point by point, where star(now) is the
/// sum of a point and its neighbours, times their coefficients. Fields of planes x rows x cols
/// floats, device pointers; next must not overlap the others. rule: an edge::Rule.
/// \returns cudaErrorInvalidValue for a radius that is not 1 to 4, planes above 4,194,240, rows
/// above 1,048,560, cols above 2^31 - 4097, another rule; or an error of CUDA.
cudaError_t step(const float* now, const float* before, const Star& star, float* next,
                 std::int64_t planes, std::int64_t rows, std::int64_t cols, std::int64_t radius,
                 std::int64_t rule, cudaStream_t stream) {
  if (!edge::fit(planes, rows, cols, rule, block_planes, block_rows) || radius < 1 || radius > 4)
    return cudaErrorInvalidValue;
  if (planes == 0 || rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(planes, rows, cols, rule, now, before, next);
  if (!f.vectors || rule != edge::fixed)
    return vectors::step(now, before, star, next, planes, rows, cols, radius, rule, stream);
  cudaError_t error = cudaSuccess;
  edge::choose<4>(radius, [&](auto r) {
    CUtensorMap map;
    error = box::make(&map, now, f, Ring<r()>::rows, Ring<r()>::cols);
    if (error != cudaSuccess) return;
    constexpr int bytes = Ring<r()>::shared_bytes;
    error =
        cudaFuncSetAttribute(step_wave<r()>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error != cudaSuccess) return;
    step_wave<r()>
        <<<edge::grid(f, block_planes, block_rows, block_cols), dim3(32, warps), bytes, stream>>>(
            map, before, star, next, f);
    error = cudaGetLastError();
  });
  return error;
}

}  // namespace tma
