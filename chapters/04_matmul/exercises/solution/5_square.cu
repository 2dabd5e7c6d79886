// Exercise 5, solved: 4 elements of A and 4 of B, read once each, serve 16 multiplications. A
// thread has every 16th row and column, so that the lanes of a warp read neighbours.
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

constexpr int tile_m = 64, tile_n = 64;  // a block's tile of C
constexpr int tile_k = 16;               // columns of A and rows of B at a time
constexpr int rows = 4, cols = 4;        // elements of C per thread
constexpr int threads_m = tile_m / rows, threads_n = tile_n / cols;
constexpr int block_size = threads_m * threads_n;

/// C = alpha A B + beta C. A is m x k, B k x n, C m x n, row major; beta = 0 does not read C.
/// One block per tile of C, row after row of tiles.
__global__ void __launch_bounds__(block_size)
    multiply_matrices(const float* a, const float* b, float* c, int m, int n, int k,
                      std::int64_t lda, std::int64_t ldb, std::int64_t ldc, float alpha,
                      float beta) {
  __shared__ float a_tile[tile_m][tile_k];
  __shared__ float b_tile[tile_k][tile_n];
  const int across = (n - 1) / tile_n + 1;
  const int first_row = static_cast<int>(blockIdx.x) / across * tile_m;
  const int first_col = static_cast<int>(blockIdx.x) % across * tile_n;
  const int t = threadIdx.x;
  const int a_y = t / tile_k, a_x = t % tile_k;  // what this thread loads first
  const int b_y = t / tile_n, b_x = t % tile_n;
  const int y = t / threads_n, x = t % threads_n;  // rows y, y + 16, ..., columns x, x + 16, ...

  float sums[rows][cols] = {};
  for (int first = 0; first < k; first += tile_k) {
#pragma unroll
    for (int i = 0; i < tile_m; i += block_size / tile_k) {
      const int r = a_y + i, row = first_row + r, col = first + a_x;
      a_tile[r][a_x] = row < m && col < k ? a[row * lda + col] : 0;
    }
#pragma unroll
    for (int i = 0; i < tile_k; i += block_size / tile_n) {
      const int r = b_y + i, row = first + r, col = first_col + b_x;
      b_tile[r][b_x] = row < k && col < n ? b[row * ldb + col] : 0;
    }
    __syncthreads();  // A: the tiles are there before anyone reads them
#pragma unroll
    for (int i = 0; i < tile_k; ++i) {
      float a_values[rows], b_values[cols];
#pragma unroll
      for (int r = 0; r < rows; ++r) a_values[r] = a_tile[y + r * threads_m][i];
#pragma unroll
      for (int s = 0; s < cols; ++s) b_values[s] = b_tile[i][x + s * threads_n];
#pragma unroll
      for (int r = 0; r < rows; ++r) {
#pragma unroll
        for (int s = 0; s < cols; ++s) sums[r][s] += a_values[r] * b_values[s];
      }
    }
    __syncthreads();  // B: all have read them before anyone overwrites them
  }
#pragma unroll
  for (int r = 0; r < rows; ++r) {
#pragma unroll
    for (int s = 0; s < cols; ++s) {
      const int row = first_row + y + r * threads_m, col = first_col + x + s * threads_n;
      if (row >= m || col >= n) continue;
      float* const out = c + row * ldc + col;
      *out = beta == 0 ? alpha * sums[r][s] : alpha * sums[r][s] + beta * *out;
    }
  }
}

/// A is m x k, B k x n, C m x n, row major; their rows begin every lda, ldb and ldc elements.
cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const std::int64_t blocks = ((m - 1) / tile_m + 1) * ((n - 1) / tile_n + 1);
  multiply_matrices<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(
      a, b, c, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), lda, ldb, ldc, alpha,
      beta);
  return cudaGetLastError();
}

}  // namespace exercise
