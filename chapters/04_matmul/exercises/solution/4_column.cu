// Exercise 4, solved: an element of B is read once and multiplied by four of A. 5 reads per 4
// multiplications, instead of 8.
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

constexpr int tile = 32;                // a block computes tile x tile elements of C
constexpr int rows = 4;                 // elements of C per thread, in one column
constexpr int threads_y = tile / rows;  // a block has tile x threads_y threads

/// C = alpha A B + beta C. A is m x k, B k x n, C m x n, row major; beta = 0 does not read C.
/// Blocks of tile x threads_y threads, one per tile of C, row after row of tiles.
__global__ void multiply_matrices(const float* a, const float* b, float* c, int m, int n, int k,
                                  std::int64_t lda, std::int64_t ldb, std::int64_t ldc, float alpha,
                                  float beta) {
  __shared__ float a_tile[tile][tile];
  __shared__ float b_tile[tile][tile];
  const int across = (n - 1) / tile + 1;
  const int x = threadIdx.x, y = threadIdx.y;
  const int first_row = static_cast<int>(blockIdx.x) / across * tile;
  const int col = static_cast<int>(blockIdx.x) % across * tile + x;
  float sums[rows] = {};
  for (int first = 0; first < k; first += tile) {
    for (int r = y; r < tile; r += threads_y) {  // every thread loads `rows` elements of each
      a_tile[r][x] = first_row + r < m && first + x < k ? a[(first_row + r) * lda + first + x] : 0;
      b_tile[r][x] = first + r < k && col < n ? b[(first + r) * ldb + col] : 0;
    }
    __syncthreads();  // A: the tiles are there before anyone reads them
    for (int i = 0; i < tile; ++i) {
      const float b_value = b_tile[i][x];
#pragma unroll
      for (int r = 0; r < rows; ++r) sums[r] += a_tile[y + r * threads_y][i] * b_value;
    }
    __syncthreads();  // B: all have read them before anyone overwrites them
  }
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const int row = first_row + y + r * threads_y;
    if (row >= m || col >= n) continue;
    float* const out = c + row * ldc + col;
    *out = beta == 0 ? alpha * sums[r] : alpha * sums[r] + beta * *out;
  }
}

/// A is m x k, B k x n, C m x n, row major; their rows begin every lda, ldb and ldc elements.
cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const std::int64_t blocks = ((m - 1) / tile + 1) * ((n - 1) / tile + 1);
  multiply_matrices<<<static_cast<unsigned>(blocks), dim3(tile, threads_y), 0, stream>>>(
      a, b, c, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), lda, ldb, ldc, alpha,
      beta);
  return cudaGetLastError();
}

}  // namespace exercise
