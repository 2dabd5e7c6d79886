// Exercise 4, solved: the size of a matrix is what it has, not what its boxes cover. Then the TMA
// fills the tails of the tiles with zeros, whatever lies there in memory.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

#include "box_map.hpp"
#include "fragments.cuh"
#include "operands.hpp"
#include "ptx.cuh"

namespace exercise {

namespace ptx = cuda::ptx;
using operands::Product;

constexpr int tile_m = 128, tile_n = 128;
constexpr int block_size = 256;  // two warpgroups, each 64 rows of the tile
constexpr int row_bytes = box_map::row_bytes;
constexpr int a_bytes = tile_m * row_bytes, b_bytes = tile_n * row_bytes;
constexpr int shared_bytes = 1024 + a_bytes + b_bytes;  // a swizzle begins at a multiple of 1024

/// Describes a matrix of rows x cols elements, of which a row begins every `pitch` elements, for
/// boxes of box_rows rows of 128 bytes. What lies outside of it comes as zeros.
cudaError_t describe(CUtensorMap* map, const __nv_bfloat16* address, std::int64_t rows,
                     std::int64_t cols, std::int64_t pitch, int box_rows) {
  static box_map::Encode* const encode = box_map::find_encode();
  if (encode == nullptr) return cudaErrorNotSupported;
  const std::int64_t size[] = {cols, rows};
  const std::int64_t stride = pitch * static_cast<std::int64_t>(sizeof(__nv_bfloat16));
  // Numbers as the driver takes them.
  const cuuint64_t elements[] = {static_cast<cuuint64_t>(size[0]),
                                 static_cast<cuuint64_t>(size[1])};
  const cuuint64_t bytes[] = {static_cast<cuuint64_t>(stride)};
  const cuuint32_t box[] = {row_bytes / sizeof(__nv_bfloat16), static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t every[] = {1, 1};
  const CUresult result =
      encode(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<__nv_bfloat16*>(address),
             elements, bytes, box, every, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

/// C = alpha A B^T + beta C, a tile per block, in `steps` times 128 bytes of each row of A and B;
/// `across` tiles lie side by side.
__global__ void __launch_bounds__(block_size, 2)
    multiply_tile(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                  Result<__nv_bfloat16> c, int steps, int across) {
  constexpr int step = row_bytes / sizeof(__nv_bfloat16);
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
      wgmma<__nv_bfloat16, tile_n>(d, left + 2 * part, right + 2 * part);
    }
    wgmma_commit();
    wgmma_wait<0>();
    __syncthreads();  // all have read the tiles
  }
  c.store<tile_n>(d, row + group * 64 + warp * 16, col);
}

/// C = alpha A B^T + beta C. \returns cudaErrorInvalidValue for what operands::valid() refuses and
/// for more than 2^31 - 1 tiles; or an error of CUDA.
cudaError_t multiply(const Product<__nv_bfloat16>& product, cudaStream_t stream) {
  if (!operands::valid(product)) return cudaErrorInvalidValue;
  if (product.m == 0 || product.n == 0) return cudaSuccess;
  const Product<__nv_bfloat16> of = operands::needed(product);
  const std::int64_t down = (of.m + tile_m - 1) / tile_m, across = (of.n + tile_n - 1) / tile_n;
  if (down > INT32_MAX / across) return cudaErrorInvalidValue;
  CUtensorMap a = {}, b = {};
  if (of.k > 0) {  // otherwise there is no step, and nothing to describe
    if (cudaError_t error = describe(&a, of.a, of.m, of.k, of.lda, tile_m)) return error;
    if (cudaError_t error = describe(&b, of.b, of.n, of.k, of.ldb, tile_n)) return error;
  }
  if (cudaError_t error = cudaFuncSetAttribute(
          multiply_tile, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes)) {
    return error;
  }
  constexpr int step = row_bytes / sizeof(__nv_bfloat16);
  multiply_tile<<<static_cast<unsigned>(down * across), block_size, shared_bytes, stream>>>(
      a, b, result_of(of), static_cast<int>((of.k + step - 1) / step), static_cast<int>(across));
  return cudaGetLastError();
}

}  // namespace exercise
