// Idea: 22 in another order. Each thread first loads all that it needs from the tile. After the
//   barrier the next plane comes to the same tile, while the threads compute the derivatives along
//   x and z and store.
// Predicts: a plane travels while the block executes three quarters of its additions and FMAs.
// Still wrong: one plane per block in flight. Needs what 22 needs.
// Calls 21_tilted_async.cu
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

#include "box.hpp"
#include "tilted.cuh"

namespace tilted_async {
cudaError_t step(const float* now, const float* before, const Tilted& c, float* next,
                 std::int64_t planes, std::int64_t rows, std::int64_t cols, std::int64_t radius,
                 std::int64_t rule, cudaStream_t stream);
}

namespace tilted_order {

namespace ptx = cuda::ptx;
using namespace tilted;

template <int radius>
__global__ void __launch_bounds__(32 * warps)
    step_tilted(const __grid_constant__ CUtensorMap now, const float* before,
                const __grid_constant__ Tilted c, float* next, edge::Field f) {
  __shared__ alignas(128) float tile[tile_size<radius>];
  __shared__ std::uint64_t full;
  const int x = blockIdx.x * block_cols + 4 * threadIdx.x;
  const int y = blockIdx.y * block_rows + threadIdx.y;
  const int first = blockIdx.z * block_planes, last = min(first + block_planes, f.planes);
  const int count = last - first + 2 * radius;  // planes from first - radius on
  const bool producer = threadIdx.x == 0 && threadIdx.y == 0;
  const auto fetch = [&](int p) {
    const std::int32_t at[] = {static_cast<int>(blockIdx.x) * block_cols - halo_cols,
                               static_cast<int>(blockIdx.y) * block_rows - radius,
                               first - radius + p};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &now, at, &full);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full,
                                   static_cast<unsigned>(sizeof tile));
  };
  if (producer) {
    ptx::mbarrier_init(&full, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    fetch(0);
  }
  __syncthreads();  // no thread waits at the barrier before it is initialised
  const bool there = x < f.cols && y < f.rows;
  std::int64_t at = edge::offset(f, first, y, x);
  float4 queue[2 * radius + 1] = {}, past = {};
  if (there) past = *reinterpret_cast<const float4*>(before + at);
  // snippet: loop
  for (int p = 0; p < count; ++p) {
    while (!ptx::mbarrier_try_wait_parity(&full, p % 2)) {
    }
    const Parts parts = read<radius>(tile, c);
    ptx::fence_proxy_async(ptx::space_shared);  // the TMA overwrites what this thread has read
    __syncthreads();                            // all have read it
    if (producer && p + 1 < count) fetch(p + 1);
    add<radius>(queue, parts, c);
    if (there && p >= 2 * radius) {  // the sum of a plane of this block is complete
      *reinterpret_cast<float4*>(next + at) = minus(queue[0], past);
      at += std::int64_t{f.rows} * f.cols;
      if (p + 1 < count) past = *reinterpret_cast<const float4*>(before + at);
    }
  }
  // /snippet
}

/// One step of a wave in tilted directions: next = 2 now - before + star(now) + xy Dx Dy now
/// + xz Dx Dz now + yz Dy Dz now, as tilted.hpp explains. Fields of planes x rows x cols floats,
/// device pointers; next must not overlap the others. rule: an edge::Rule.
/// \returns cudaErrorInvalidValue for a radius that is not 1 to 4, planes above 4,194,240, rows
/// above 524,280, cols above 2^31 - 4097, another rule; or an error of CUDA.
cudaError_t step(const float* now, const float* before, const Tilted& c, float* next,
                 std::int64_t planes, std::int64_t rows, std::int64_t cols, std::int64_t radius,
                 std::int64_t rule, cudaStream_t stream) {
  if (!edge::fit(planes, rows, cols, rule, block_planes, block_rows) || radius < 1 || radius > 4)
    return cudaErrorInvalidValue;
  if (planes == 0 || rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(planes, rows, cols, rule, now, before, next);
  if (!f.vectors || rule != edge::fixed)
    return tilted_async::step(now, before, c, next, planes, rows, cols, radius, rule, stream);
  cudaError_t error = cudaSuccess;
  edge::choose<4>(radius, [&](auto r) {
    CUtensorMap map;
    error = box::make(&map, now, f, block_rows + 2 * r(), tile_cols);
    if (error != cudaSuccess) return;
    step_tilted<r()>
        <<<edge::grid(f, block_planes, block_rows, block_cols), dim3(32, warps), 0, stream>>>(
            map, before, c, next, f);
    error = cudaGetLastError();
  });
  return error;
}

}  // namespace tilted_order
