// Idea: a warp computes 32 x 64 elements instead of 16 x 128, and its lanes are laid out so that
//   lane xor 1 has the same rows and lane xor 2 the same columns: which thread computes what, and
//   nothing else.
// Predicts: a load of 16 bytes whose lanes agree in pairs takes 2 wavefronts instead of 4: 8 per 64
//   multiplications and additions.
// Still wrong: between two barriers all wait for global memory, then all compute. Next: 08.
#include <cuda_runtime.h>

#include <cstdint>

#include "operands.hpp"

namespace warp_tiles {

constexpr int tile_m = 128, tile_n = 128;  // a block's tile of C
constexpr int tile_k = 8;                  // columns of A and rows of B at a time
constexpr int rows = 8, cols = 8;          // elements of C per thread, in groups of four
constexpr int lanes_m = 4, lanes_n = 8;    // the lanes of a warp, in rows and columns
constexpr int warp_m = lanes_m * rows, warp_n = lanes_n * cols;  // a warp's tile
constexpr int warps_n = tile_n / warp_n;
constexpr int block_size = tile_m / warp_m * warps_n * 32;
constexpr int pad = 4;  // so that lanes that store four rows apart do not meet in a bank
static_assert(block_size * 4 == tile_m * tile_k && block_size * 4 == tile_k * tile_n, "one load");
constexpr int gap_m = 4 * lanes_m, gap_n = 4 * lanes_n;  // from group to group

/// Elements col to col + 3 of a row, zero from `cols` on. vectors: `row` + col is a multiple of 16
/// bytes.
template <bool vectors>
__device__ float4 load_four(const float* row, int col, int cols) {
  if (vectors && col + 3 < cols) return *reinterpret_cast<const float4*>(row + col);
  float4 four = make_float4(0, 0, 0, 0);
  if (col < cols) four.x = row[col];
  if (col + 1 < cols) four.y = row[col + 1];
  if (col + 2 < cols) four.z = row[col + 2];
  if (col + 3 < cols) four.w = row[col + 3];
  return four;
}

/// Four elements of C, of which those from `cols` on do not exist.
template <bool vectors>
__device__ void store_four(float* row, int col, int cols, const float* sums, float alpha,
                           float beta) {
  float4 four = make_float4(alpha * sums[0], alpha * sums[1], alpha * sums[2], alpha * sums[3]);
  if (beta != 0) {
    const float4 before = load_four<vectors>(row, col, cols);
    four.x += beta * before.x;
    four.y += beta * before.y;
    four.z += beta * before.z;
    four.w += beta * before.w;
  }
  if (vectors && col + 3 < cols) {
    *reinterpret_cast<float4*>(row + col) = four;
    return;
  }
  if (col < cols) row[col] = four.x;
  if (col + 1 < cols) row[col + 1] = four.y;
  if (col + 2 < cols) row[col + 2] = four.z;
  if (col + 3 < cols) row[col + 3] = four.w;
}

/// C = alpha A B + beta C. A is m x k, B k x n, C m x n, row major; beta = 0 does not read C.
/// One block per tile of C, row after row of tiles. vectors: all rows begin at multiples of 16
/// bytes.
template <bool vectors>
__global__ void __launch_bounds__(block_size, 2)
    multiply_matrices(const float* a, const float* b, float* c, int m, int n, int k,
                      std::int64_t lda, std::int64_t ldb, std::int64_t ldc, float alpha,
                      float beta) {
  __shared__ __align__(16) float a_tile[tile_k][tile_m + pad];  // transposed
  __shared__ __align__(16) float b_tile[tile_k][tile_n];
  const int across = (n - 1) / tile_n + 1;
  const int first_row = static_cast<int>(blockIdx.x) / across * tile_m;
  const int first_col = static_cast<int>(blockIdx.x) % across * tile_n;
  const int t = threadIdx.x;
  const int a_y = t / (tile_k / 4), a_x = t % (tile_k / 4) * 4;  // what this thread loads
  const int b_y = t / (tile_n / 4), b_x = t % (tile_n / 4) * 4;
  // What it computes, in its warp's tile: groups of four rows and of four columns. Lane xor 1 has
  // the same rows, lane xor 2 the same columns.
  const int warp = t / 32, lane = t % 32;
  const int lane_y = lane / 2 % 2 + lane / 16 * 2, lane_x = lane % 2 + lane / 4 % 4 * 2;
  const int y = warp / warps_n * warp_m + lane_y * 4;
  const int x = warp % warps_n * warp_n + lane_x * 4;

  float sums[rows][cols] = {};
  for (int first = 0; first < k; first += tile_k) {
    const float4 zero = make_float4(0, 0, 0, 0);
    const float4 a_four = first_row + a_y < m
                              ? load_four<vectors>(a + (first_row + a_y) * lda, first + a_x, k)
                              : zero;
    const float4 b_four =
        first + b_y < k ? load_four<vectors>(b + (first + b_y) * ldb, first_col + b_x, n) : zero;
    a_tile[a_x][a_y] = a_four.x;
    a_tile[a_x + 1][a_y] = a_four.y;
    a_tile[a_x + 2][a_y] = a_four.z;
    a_tile[a_x + 3][a_y] = a_four.w;
    *reinterpret_cast<float4*>(&b_tile[b_y][b_x]) = b_four;
    __syncthreads();  // A: the tiles are there before anyone reads them
#pragma unroll
    for (int i = 0; i < tile_k; ++i) {
      float4 a_values[rows / 4], b_values[cols / 4];
#pragma unroll
      for (int r = 0; r < rows / 4; ++r) {
        a_values[r] = *reinterpret_cast<const float4*>(&a_tile[i][y + r * gap_m]);
      }
#pragma unroll
      for (int s = 0; s < cols / 4; ++s) {
        b_values[s] = *reinterpret_cast<const float4*>(&b_tile[i][x + s * gap_n]);
      }
      const float* const a_value = reinterpret_cast<const float*>(a_values);
      const float* const b_value = reinterpret_cast<const float*>(b_values);
#pragma unroll
      for (int r = 0; r < rows; ++r) {
#pragma unroll
        for (int s = 0; s < cols; ++s) sums[r][s] += a_value[r] * b_value[s];
      }
    }
    __syncthreads();  // B: all have read them before anyone overwrites them
  }
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const int row = first_row + y + r / 4 * gap_m + r % 4;
    if (row >= m) continue;
#pragma unroll
    for (int s = 0; s < cols; s += 4) {
      store_four<vectors>(c + row * ldc, first_col + x + s / 4 * gap_n, n, &sums[r][s], alpha,
                          beta);
    }
  }
}

/// True if 16-byte accesses may be used: all rows begin at a multiple of 16 bytes.
bool in_groups(const float* a, const float* b, const float* c, std::int64_t lda, std::int64_t ldb,
               std::int64_t ldc) {
  return operands::in_groups_of_four(a, lda) && operands::in_groups_of_four(b, ldb) &&
         operands::in_groups_of_four(c, ldc);
}

/// C = alpha A B + beta C, row major: A is m x k, B k x n, C m x n; lda, ldb and ldc elements lie
/// between the beginnings of two rows; where not all of them begin at a multiple of 16 bytes, it
/// is slower. beta = 0 does not read C, alpha = 0 neither A nor B. Device pointers. \returns
/// cudaErrorInvalidValue for what operands::valid() refuses and for more than 2^31 - 1 tiles; or
/// the error of the launch.
cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (!operands::valid(a, b, c, m, n, k, lda, ldb, ldc)) return cudaErrorInvalidValue;
  if (m == 0 || n == 0) return cudaSuccess;
  if (alpha == 0) k = 0;
  if (k == 0) alpha = 0;  // it may be no number
  const std::int64_t blocks = ((m - 1) / tile_m + 1) * ((n - 1) / tile_n + 1);
  if (blocks > INT32_MAX) return cudaErrorInvalidValue;
  const auto kernel =
      in_groups(a, b, c, lda, ldb, ldc) ? multiply_matrices<true> : multiply_matrices<false>;
  kernel<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(
      a, b, c, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), lda, ldb, ldc, alpha,
      beta);
  return cudaGetLastError();
}

}  // namespace warp_tiles
