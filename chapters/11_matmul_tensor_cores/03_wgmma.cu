// Idea: wgmma, Hopper's instruction: four warps together multiply 64 x 32 bytes by 128 x 32 bytes,
//   both read from shared memory by the tensor cores themselves. Tiles come by the TMA, which
//   writes the swizzle that wgmma reads.
// Predicts: no fragment passes through registers, no thread copies: past 02's limit.
// Still wrong: a block loads, then multiplies, then loads. Only another block on its SM fills the
//   gaps.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

#include "box_map.hpp"
#include "fragments.cuh"
#include "operands.hpp"
#include "ptx.cuh"

namespace single_buffer {

namespace ptx = cuda::ptx;
using operands::Product;

constexpr int tile_m = 128, tile_n = 128;
constexpr int block_size = 256;  // two warpgroups, each 64 rows of the tile
constexpr int row_bytes = box_map::row_bytes;
constexpr int a_bytes = tile_m * row_bytes, b_bytes = tile_n * row_bytes;
constexpr int shared_bytes = 1024 + a_bytes + b_bytes;  // a swizzle begins at a multiple of 1024

// snippet: head
/// C = alpha A B^T + beta C, a tile per block, in `steps` times 128 bytes of each row of A and B;
/// `across` tiles lie side by side.
template <class T>
__global__ void __launch_bounds__(block_size, 2)
    multiply_tile(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                  Result<T> c, int steps, int across) {
  constexpr int step = row_bytes / sizeof(T);
  extern __shared__ char unaligned[];
  __shared__ std::uint64_t there;
  char* const a_tile = aligned_to_1024(unaligned);
  char* const b_tile = a_tile + a_bytes;
  const int row = static_cast<int>(blockIdx.x) / across * tile_m;
  const int col = static_cast<int>(blockIdx.x) % across * tile_n;
  const int group = static_cast<int>(threadIdx.x) / 128;
  const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  // /snippet
  // snippet: steps
  float d[tile_n / 2] = {};
  for (int i = 0; i < steps; ++i) {
    if (threadIdx.x == 0) {
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                     a_bytes + b_bytes);
      load_box(a_tile, &a, i * step, row, &there);
      load_box(b_tile, &b, i * step, col, &there);
    }
    wait(&there, i & 1);
    const std::uint64_t left = matrix_at(a_tile + group * 64 * row_bytes);
    const std::uint64_t right = matrix_at(b_tile);
    wgmma_fence();
#pragma unroll
    for (int part = 0; part < 4; ++part) {  // 32 bytes of each row
      wgmma<T, tile_n>(d, left + 2 * part, right + 2 * part);
    }
    wgmma_commit();
    wgmma_wait<0>();
    __syncthreads();  // all have read the tiles
  }
  // /snippet
  c.template store<tile_n>(d, row + group * 64 + warp * 16, col);
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

}  // namespace single_buffer
