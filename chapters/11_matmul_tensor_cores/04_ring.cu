// Idea: one warp does nothing but order copies, ahead of time, into a ring of four stages; two
//   warpgroups do nothing but multiply. A barrier per stage says that it is full, another that it
//   is empty. setmaxnreg moves registers from who orders to who multiplies.
// Predicts: copies and products overlap within a block: the tensor cores wait no more for a load
//   to come, but for the L2 cache to deliver 64 bytes per clock and SM.
// Still wrong: at each end of a tile nobody multiplies; and 64 bytes per clock are much.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

#include "box_map.hpp"
#include "fragments.cuh"
#include "operands.hpp"
#include "ptx.cuh"

namespace ring {

namespace ptx = cuda::ptx;
using operands::Product;

constexpr int tile_m = 128, tile_n = 128;
constexpr int consumers = 2;                       // warpgroups, each 64 rows of the tile
constexpr int block_size = 128 * (1 + consumers);  // a warpgroup that orders copies comes first
constexpr int stages = 4;
constexpr int row_bytes = box_map::row_bytes;
constexpr int a_bytes = tile_m * row_bytes, b_bytes = tile_n * row_bytes;
constexpr int stage_bytes = a_bytes + b_bytes;
constexpr int shared_bytes = 1024 + stages * stage_bytes;

/// A place in the ring, and the parity of the phase in which it is filled.
struct Stage {
  int index = 0;
  unsigned parity = 0;
  __device__ void next() {
    if (++index == stages) index = 0, parity ^= 1;
  }
};

/// C = alpha A B^T + beta C, a tile per block, in `steps` times 128 bytes of each row of A and B;
/// `across` tiles lie side by side.
template <class T>
__global__ void __launch_bounds__(block_size, 1)
    multiply_tile(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                  Result<T> c, int steps, int across) {
  constexpr int step = row_bytes / sizeof(T);
  extern __shared__ char unaligned[];
  __shared__ std::uint64_t full[stages], empty[stages];
  char* const shared = aligned_to_1024(unaligned);
  const int row = static_cast<int>(blockIdx.x) / across * tile_m;
  const int col = static_cast<int>(blockIdx.x) % across * tile_n;
  const int group = static_cast<int>(threadIdx.x) / 128;
  const int warp = static_cast<int>(threadIdx.x) / 32 % 4,
            lane = static_cast<int>(threadIdx.x) % 32;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      ptx::mbarrier_init(&full[s], 1);               // the copies' bytes, and who orders them
      ptx::mbarrier_init(&empty[s], 4 * consumers);  // the warps that multiply
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  Stage stage;
  if (group == 0) {
    fewer_registers<40>();
    if (threadIdx.x == 0) {
      for (int i = 0; i < steps; ++i, stage.next()) {
        wait(&empty[stage.index], stage.parity ^ 1);  // the first time at once
        char* const tiles = shared + stage.index * stage_bytes;
        std::uint64_t* const barrier = &full[stage.index];
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier,
                                       stage_bytes);
        load_box(tiles, &a, i * step, row, barrier);
        load_box(tiles + a_bytes, &b, i * step, col, barrier);
      }
    }
  } else {
    more_registers<232>();
    float d[tile_n / 2] = {};
    for (int i = 0; i < steps; ++i, stage.next()) {
      wait(&full[stage.index], stage.parity);
      const char* const tiles = shared + stage.index * stage_bytes;
      const std::uint64_t left = matrix_at(tiles + (group - 1) * 64 * row_bytes);
      const std::uint64_t right = matrix_at(tiles + a_bytes);
      wgmma_fence();
#pragma unroll
      for (int part = 0; part < 4; ++part) {  // 32 bytes of each row
        wgmma<T, tile_n>(d, left + 2 * part, right + 2 * part);
      }
      wgmma_commit();
      wgmma_wait<0>();
      if (lane == 0) ptx::mbarrier_arrive(&empty[stage.index]);
    }
    c.template store<tile_n>(d, row + (group - 1) * 64 + warp * 16, col);
  }
}

template <class T>
cudaError_t run(Product<T> of, cudaStream_t stream) {
  if (!operands::valid(of)) return cudaErrorInvalidValue;
  if (of.m == 0 || of.n == 0) return cudaSuccess;
  of = operands::needed(of);
  const std::int64_t down = (of.m + tile_m - 1) / tile_m, across = (of.n + tile_n - 1) / tile_n;
  if (down > INT32_MAX / across) return cudaErrorInvalidValue;
  CUtensorMap a, b;
  if (cudaError_t error = box_map::make(&a, of.a, of.m, of.k, of.lda, tile_m)) return error;
  if (cudaError_t error = box_map::make(&b, of.b, of.n, of.k, of.ldb, tile_n)) return error;
  if (cudaError_t error = cudaFuncSetAttribute(
          multiply_tile<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes)) {
    return error;
  }
  constexpr int step = row_bytes / sizeof(T);
  multiply_tile<<<static_cast<unsigned>(down * across), block_size, shared_bytes, stream>>>(
      a, b, result_of(of), static_cast<int>((of.k + step - 1) / step), static_cast<int>(across));
  return cudaGetLastError();
}

/// C = alpha A B^T + beta C. \returns cudaErrorInvalidValue for what operands::valid() refuses and
/// for more than 2^31 - 1 tiles; or an error of CUDA.
cudaError_t multiply(const Product<__nv_bfloat16>& of, cudaStream_t stream) {
  return run(of, stream);
}
/// The same of floats, of which the 10 highest bits of the fraction take part (tf32).
cudaError_t multiply(const Product<float>& of, cudaStream_t stream) { return run(of, stream); }

}  // namespace ring
