// Idea: a thread computes 8 elements below each other. It loads an element of B once for all 8,
//   and keeps it and the 8 sums in registers.
// Predicts: 9 loads from shared memory per 8 multiplications and additions, instead of 16. The
//   compiler reads 4 of A's elements at a time along k: fewer instructions still.
// Still wrong: A's elements are loaded for one use each. Next: 05.
#include <cuda_runtime.h>

#include <cstdint>

#include "operands.hpp"

namespace column_per_thread {

constexpr int tile_m = 64, tile_n = 64;  // a block's tile of C
constexpr int tile_k = 8;                // columns of A and rows of B at a time
constexpr int rows = 8;                  // elements of C per thread, below each other
constexpr int block_size = tile_m / rows * tile_n;
static_assert(block_size == tile_m * tile_k && block_size == tile_k * tile_n, "one load each");

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
  const int a_y = t / tile_k, a_x = t % tile_k;  // what this thread loads
  const int b_y = t / tile_n, b_x = t % tile_n;
  const int y = t / tile_n * rows, x = t % tile_n;  // what it computes: column x, rows y to y + 7
  const int a_row = first_row + a_y, b_col = first_col + b_x;

  float sums[rows] = {};
  for (int first = 0; first < k; first += tile_k) {
    a_tile[a_y][a_x] = a_row < m && first + a_x < k ? a[a_row * lda + first + a_x] : 0;
    b_tile[b_y][b_x] = first + b_y < k && b_col < n ? b[(first + b_y) * ldb + b_col] : 0;
    __syncthreads();  // A: the tiles are there before anyone reads them
#pragma unroll
    for (int i = 0; i < tile_k; ++i) {
      const float b_value = b_tile[i][x];
#pragma unroll
      for (int r = 0; r < rows; ++r) sums[r] += a_tile[y + r][i] * b_value;
    }
    __syncthreads();  // B: all have read them before anyone overwrites them
  }
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const int row = first_row + y + r, col = first_col + x;
    if (row >= m || col >= n) continue;
    float* const out = c + row * ldc + col;
    *out = beta == 0 ? alpha * sums[r] : alpha * sums[r] + beta * *out;
  }
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
  const std::int64_t blocks = ((m - 1) / tile_m + 1) * ((n - 1) / tile_n + 1);
  if (blocks > INT32_MAX) return cudaErrorInvalidValue;
  multiply_matrices<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(
      a, b, c, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), lda, ldb, ldc, alpha,
      beta);
  return cudaGetLastError();
}

}  // namespace column_per_thread
