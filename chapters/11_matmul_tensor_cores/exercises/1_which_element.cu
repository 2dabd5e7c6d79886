// Exercise 1: replace two expressions. Which elements of C does a lane hold after an mma?
//   ./chapters/run 11 --exercise 1          builds and checks it; --hint helps
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "fragments.cuh"
#include "operands.hpp"
#include "ptx.cuh"

namespace exercise {

using operands::Product;

constexpr int tile_m = 16, tile_n = 8;  // rows and columns of an mma
constexpr int step = 16;                // its depth: 32 bytes of each row of A and B
constexpr int warps = 4;                // of a block, each with a tile of C of its own

/// Two neighbours of a row in a register; zeros where the matrix has none.
__device__ unsigned load_pair(const __nv_bfloat16* from, std::int64_t pitch, int row, int col,
                              int rows, int cols) {
  const auto one = [&](int j) {
    return row < rows && j < cols ? static_cast<float>(from[row * pitch + j]) : 0.0f;
  };
  return Result<__nv_bfloat16>::as_pair(one(col), one(col + 1));
}

/// C = alpha A B^T + beta C, a tile of 16 x 8 per warp; `across` tiles lie side by side.
__global__ void __launch_bounds__(32 * warps)
    multiply_tiles(const __nv_bfloat16* a, const __nv_bfloat16* b, Result<__nv_bfloat16> c, int k,
                   std::int64_t lda, std::int64_t ldb, int across) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t tile = std::int64_t{blockIdx.x} * warps + warp;
  const int row0 = static_cast<int>(tile / across * tile_m);
  const int col0 = static_cast<int>(tile % across * tile_n);
  float d[4] = {};
  for (int first = 0; first < k; first += step) {
    const int y = lane / 4, x = first + lane % 4 * 2;
    const unsigned left[] = {load_pair(a, lda, row0 + y, x, c.rows, k),
                             load_pair(a, lda, row0 + y + 8, x, c.rows, k),
                             load_pair(a, lda, row0 + y, x + 8, c.rows, k),
                             load_pair(a, lda, row0 + y + 8, x + 8, c.rows, k)};
    mma<__nv_bfloat16>(d, left, load_pair(b, ldb, col0 + y, x, c.cols, k),
                       load_pair(b, ldb, col0 + y, x + 8, c.cols, k));
  }
  for (int i = 0; i < 4; ++i) {
    const int row = row0;  // FILL IN: the row of d[i]
    const int col = col0;  // FILL IN: its column
    if (row < c.rows && col < c.cols) {
      c.c[row * c.ldc + col] = static_cast<__nv_bfloat16>(c.combined(d[i], row, col));
    }
  }
}

/// C = alpha A B^T + beta C. \returns cudaErrorInvalidValue for what operands::valid() refuses and
/// for more than 2^31 - 1 tiles; or the error of the launch.
cudaError_t multiply(const Product<__nv_bfloat16>& product, cudaStream_t stream) {
  if (!operands::valid(product)) return cudaErrorInvalidValue;
  if (product.m == 0 || product.n == 0) return cudaSuccess;
  const Product<__nv_bfloat16> of = operands::needed(product);
  const std::int64_t down = (of.m + tile_m - 1) / tile_m, across = (of.n + tile_n - 1) / tile_n;
  if (down > INT32_MAX / across) return cudaErrorInvalidValue;
  const std::int64_t blocks = (down * across + warps - 1) / warps;
  multiply_tiles<<<static_cast<unsigned>(blocks), 32 * warps, 0, stream>>>(
      of.a, of.b, result_of(of), static_cast<int>(of.k), of.lda, of.ldb, static_cast<int>(across));
  return cudaGetLastError();
}

}  // namespace exercise
