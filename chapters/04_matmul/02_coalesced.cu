// Idea: the first index of a thread is the column: neighbours in a warp compute neighbours in a
//   row of C. Nothing else changes.
// Predicts: all 32 lanes read the same element of A, 1 sector; their elements of B, and of C, are
//   4 full sectors. Still two loads per multiplication and addition.
// Still wrong: each element of A is loaded by n threads, each of B by m. Next: 03.
#include <cuda_runtime.h>

#include <cstdint>

#include "operands.hpp"

namespace coalesced {

constexpr int tile = 32;  // a block computes tile x tile elements of C, one per thread

/// C = alpha A B + beta C. A is m x k, B k x n, C m x n, row major; beta = 0 does not read C.
/// Blocks of tile x tile threads, one per tile of C, row after row of tiles.
__global__ void multiply_matrices(const float* a, const float* b, float* c, int m, int n, int k,
                                  std::int64_t lda, std::int64_t ldb, std::int64_t ldc, float alpha,
                                  float beta) {
  const int across = (n - 1) / tile + 1;
  const int row = static_cast<int>(blockIdx.x) / across * tile + threadIdx.y;
  const int col = static_cast<int>(blockIdx.x) % across * tile + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * lda + i] * b[i * ldb + col];
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

}  // namespace coalesced
