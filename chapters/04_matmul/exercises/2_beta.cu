// Exercise 2: mend a line. C = alpha A B + beta C, but for beta = 0 it is wrong.
//   ./chapters/run 04 --exercise 2          builds and checks it; --hint helps
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

constexpr int tile = 32;  // a block computes tile x tile elements of C, one per thread

/// C = alpha A B + beta C. A is m x k, B k x n, C m x n, row major; beta = 0 must not read C.
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
  *out = alpha * sum + beta * *out;  // MEND ME
}

/// A is m x k, B k x n, C m x n, row major; their rows begin every lda, ldb and ldc elements.
cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const std::int64_t blocks = ((m - 1) / tile + 1) * ((n - 1) / tile + 1);
  multiply_matrices<<<static_cast<unsigned>(blocks), dim3(tile, tile), 0, stream>>>(
      a, b, c, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), lda, ldb, ldc, alpha,
      beta);
  return cudaGetLastError();
}

}  // namespace exercise
