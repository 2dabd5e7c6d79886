// Idea: a block loads a 32 x 32 tile of A and one of B into shared memory, then every thread walks
//   along a row of the one and down a column of the other. Outside of the matrices stand zeros.
// Predicts: an element is loaded from global memory once per block and used 32 times: 2 loads per
//   32 multiplications and additions.
// Still wrong: now each of them needs two loads from shared memory. Next: 04.
#include <cuda_runtime.h>

#include <cstdint>

#include "operands.hpp"

namespace shared_tile {

constexpr int tile = 32;  // a block computes tile x tile elements of C, one per thread

/// C = alpha A B + beta C. A is m x k, B k x n, C m x n, row major; beta = 0 does not read C.
/// Blocks of tile x tile threads, one per tile of C, row after row of tiles.
__global__ void multiply_matrices(const float* a, const float* b, float* c, int m, int n, int k,
                                  std::int64_t lda, std::int64_t ldb, std::int64_t ldc, float alpha,
                                  float beta) {
  __shared__ float a_tile[tile][tile];
  __shared__ float b_tile[tile][tile];
  const int across = (n - 1) / tile + 1;
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = static_cast<int>(blockIdx.x) / across * tile + y;
  const int col = static_cast<int>(blockIdx.x) % across * tile + x;
  float sum = 0;
  for (int first = 0; first < k; first += tile) {
    a_tile[y][x] = row < m && first + x < k ? a[row * lda + first + x] : 0;
    b_tile[y][x] = first + y < k && col < n ? b[(first + y) * ldb + col] : 0;
    __syncthreads();  // A: the tiles are there before anyone reads them
    for (int i = 0; i < tile; ++i) sum += a_tile[y][i] * b_tile[i][x];
    __syncthreads();  // B: all have read them before anyone overwrites them
  }
  if (row >= m || col >= n) return;
  float* const out = c + row * ldc + col;
  *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
}

/// C = alpha A B + beta C, row major: A is m x k, B k x n, C m x n; lda, ldb and ldc elements lie
/// between the beginnings of two rows. beta = 0 does not read C, alpha = 0 neither A nor B. Device
/// pointers. \returns cudaErrorInvalidValue for what operands::valid() refuses and for more than
/// 2^31 - 1 tiles; or the error of the launch.
cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (!operands::valid(a, b, c, m, n, k, lda, ldb, ldc)) return cudaErrorInvalidValue;
  if (m == 0 || n == 0) return cudaSuccess;
  if (alpha == 0) k = 0;
  if (k == 0) alpha = 0;  // it may be no number
  const std::int64_t blocks = ((m - 1) / tile + 1) * ((n - 1) / tile + 1);
  if (blocks > INT32_MAX) return cudaErrorInvalidValue;
  multiply_matrices<<<static_cast<unsigned>(blocks), dim3(tile, tile), 0, stream>>>(
      a, b, c, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), lda, ldb, ldc, alpha,
      beta);
  return cudaGetLastError();
}

}  // namespace shared_tile
