// Idea: 23 with a ring of four planes, as in version 80. Three planes are in flight while the block
//   reads one, and only the warp that fetches waits for the others of its block.
// Predicts: the time that the bytes take.
// Still wrong: with radius 4 the sums of nine planes take 36 registers. So 16 warps fit on an SM,
//   and they do not fill its issue slots. Needs what 22 needs.
// Calls 21_tilted_async.cu
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

#include "box.hpp"
#include "pieces.hpp"
#include "tilted.cuh"

namespace tilted_async {
cudaError_t step(const float* now, const float* before, const Tilted& c, float* next,
                 std::int64_t planes, std::int64_t rows, std::int64_t cols, std::int64_t radius,
                 std::int64_t rule, cudaStream_t stream);
}

namespace tilted_ring {

namespace ptx = cuda::ptx;
using namespace tilted;

constexpr int stages = 4;

/// Each tile begins at a multiple of 128 bytes.
template <int radius>
constexpr int pitch = (tile_size<radius> * 4 + 127) / 128 * 128;

__device__ void wait(std::uint64_t* barrier, int parity) {
  while (!ptx::mbarrier_try_wait_parity(barrier, parity)) {
  }
}

template <int radius>
__global__ void __launch_bounds__(32 * warps)
    step_tilted(const __grid_constant__ CUtensorMap now, const float* before,
                const __grid_constant__ Tilted c, float* next, edge::Field f, int planes_each) {
  extern __shared__ __align__(128) char ring[];
  __shared__ std::uint64_t full[stages], empty[stages];
  const int x = blockIdx.x * block_cols + 4 * threadIdx.x;
  const int y = blockIdx.y * block_rows + threadIdx.y;
  const int first = blockIdx.z * planes_each, last = min(first + planes_each, f.planes);
  const int count = last - first + 2 * radius;  // planes from first - radius on
  const bool producer = threadIdx.x == 0 && threadIdx.y == 0;
  const auto fetch = [&](int p) {
    const std::int32_t at[] = {static_cast<int>(blockIdx.x) * block_cols - halo_cols,
                               static_cast<int>(blockIdx.y) * block_rows - radius,
                               first - radius + p};
    std::uint64_t* const there = &full[p % stages];
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global,
                              ring + p % stages * pitch<radius>, &now, at, there);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, there,
                                   tile_size<radius> * 4);
  };
  if (producer) {
    for (int stage = 0; stage < stages; ++stage) {
      ptx::mbarrier_init(&full[stage], 1);
      ptx::mbarrier_init(&empty[stage], warps);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    for (int p = 0; p < min(stages, count); ++p) fetch(p);
  }
  __syncthreads();  // no thread uses a barrier before it is initialised
  const bool there = x < f.cols && y < f.rows;
  std::int64_t at = edge::offset(f, first, y, x);
  float4 queue[2 * radius + 1] = {}, past = {};
  if (there) past = *reinterpret_cast<const float4*>(before + at);
  for (int p = 0; p < count; ++p) {
    const int stage = p % stages, parity = p / stages % 2;
    wait(&full[stage], parity);
    const Parts parts =
        read<radius>(reinterpret_cast<const float*>(ring + stage * pitch<radius>), c);
    ptx::fence_proxy_async(ptx::space_shared);  // the TMA overwrites what this thread has read
    __syncwarp();
    if (threadIdx.x == 0) ptx::mbarrier_arrive(&empty[stage]);
    add<radius>(queue, parts, c);
    if (there && p >= 2 * radius) {  // the sum of a plane of this block is complete
      *reinterpret_cast<float4*>(next + at) = minus(queue[0], past);
      at += std::int64_t{f.rows} * f.cols;
      if (p + 1 < count) past = *reinterpret_cast<const float4*>(before + at);
    }
    if (producer && p + stages < count) {
      wait(&empty[stage], parity);
      fetch(p + stages);
    }
  }
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
    const auto kernel = step_tilted<r()>;
    constexpr int bytes = stages * pitch<r()>;
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error != cudaSuccess) return;
    dim3 grid = edge::grid(f, 1, block_rows, block_cols);
    int each = block_planes;
    // From radius 3 on the work is the limit, and a plane that two blocks add is work twice.
    if (r() > 2)
      error = pieces::choose(f.planes, std::int64_t{grid.x} * grid.y, 2, 2 * r(), f.planes, &each);
    if (error != cudaSuccess) return;
    grid.z = static_cast<unsigned>((f.planes + each - 1) / each);
    kernel<<<grid, dim3(32, warps), bytes, stream>>>(map, before, c, next, f, each);
    error = cudaGetLastError();
  });
  return error;
}

}  // namespace tilted_ring
