// Idea: two pairs of tiles in shared memory. While a block computes with one, cp.async brings the
//   next: from global to shared memory without passing through registers.
// Predicts: the wait for global memory hides behind 512 multiplications and additions per thread,
//   and one barrier per tile is left. A's elements are copied one by one, to transpose them.
// Still wrong: an issue slot in six does something else than multiply and add. Next: 09.
#include <cuda_runtime.h>

#include <cstdint>

#include "operands.hpp"
#include "ptx.cuh"

namespace double_buffered {

constexpr int tile_m = 128, tile_n = 128;  // a block's tile of C
constexpr int tile_k = 8;                  // columns of A and rows of B at a time
constexpr int rows = 8, cols = 8;          // elements of C per thread, in groups of four
constexpr int lanes_m = 4, lanes_n = 8;    // the lanes of a warp, in rows and columns
constexpr int warp_m = lanes_m * rows, warp_n = lanes_n * cols;  // a warp's tile
constexpr int warps_n = tile_n / warp_n;
constexpr int block_size = tile_m / warp_m * warps_n * 32;
constexpr int pad = 4;     // so that the 8 columns x 4 rows that a warp copies fall into 32 banks
constexpr int stages = 2;  // tiles of A and of B
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

/// A thread's part of the tiles that a block copies, and where it continues. The first tile along k
/// may be short, all others are full. Rows that A and columns that B do not have are read from
/// inside the matrix (A) or become zero (B): what is computed from them is never stored.
template <bool vectors>
struct Copies {
  static constexpr int group = vectors ? 4 : 1;
  static constexpr int a_rows = block_size / tile_k;  // one copy apart
  static constexpr int b_rows = block_size / (tile_n / group);
  static constexpr int a_count = tile_m / a_rows, b_count = (tile_k - 1) / b_rows + 1;

  const float* a_from[a_count];
  const float* b_from;
  std::int64_t ldb;
  int a_bytes, b_bytes;  // of each copy
  int a_x = threadIdx.x % tile_k, a_y = threadIdx.x / tile_k;
  int b_x = threadIdx.x % (tile_n / group) * group, b_y = threadIdx.x / (tile_n / group);

  __device__ Copies(const float* a, const float* b, int first_row, int first_col, int m, int n,
                    std::int64_t lda, std::int64_t pitch)
      : ldb(pitch) {
#pragma unroll
    for (int i = 0; i < a_count; ++i) {
      const int row = min(first_row + a_y + i * a_rows, m - 1);
      a_from[i] = a + row * lda + a_x;
    }
    const int col = first_col + b_x;
    b_from = b + b_y * ldb + (col < n ? col : 0);
    a_bytes = 4;
    b_bytes = 4 * max(0, min(group, n - col));
  }

  /// Begins to copy the next `columns` columns of A and rows of B.
  __device__ void begin(float (*a_tile)[tile_m + pad], float (*b_tile)[tile_n], int columns) {
#pragma unroll
    for (int i = 0; i < a_count; ++i) {
      copy_async<4>(&a_tile[a_x][a_y + i * a_rows], a_from[i], a_x < columns ? a_bytes : 0);
      a_from[i] += columns;
    }
#pragma unroll
    for (int i = 0; i < b_count; ++i) {
      const int row = b_y + i * b_rows;
      copy_async<4 * group>(&b_tile[row][b_x], b_from + i * b_rows * ldb,
                            row < columns ? b_bytes : 0);
    }
    b_from += columns * ldb;
    __pipeline_commit();
  }
};

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
  __shared__ __align__(16) float a_tile[stages][tile_k][tile_m + pad];  // transposed
  __shared__ __align__(16) float b_tile[stages][tile_k][tile_n];
  const int across = (n - 1) / tile_n + 1;
  const int first_row = static_cast<int>(blockIdx.x) / across * tile_m;
  const int first_col = static_cast<int>(blockIdx.x) % across * tile_n;
  const int t = threadIdx.x;
  // What it computes, in its warp's tile: groups of four rows and of four columns. Lane xor 1 has
  // the same rows, lane xor 2 the same columns.
  const int warp = t / 32, lane = t % 32;
  const int lane_y = lane / 2 % 2 + lane / 16 * 2, lane_x = lane % 2 + lane / 4 % 4 * 2;
  const int y = warp / warps_n * warp_m + lane_y * 4;
  const int x = warp % warps_n * warp_n + lane_x * 4;

  float sums[rows][cols] = {};
  Copies<vectors> copies(a, b, first_row, first_col, m, n, lda, ldb);
  const int tiles = (k + tile_k - 1) / tile_k;
  if (tiles > 0) copies.begin(a_tile[0], b_tile[0], k - (tiles - 1) * tile_k);
  for (int tile = 0; tile < tiles; ++tile) {
    const int stage = tile % stages;
    __pipeline_wait_prior(0);  // what this thread copied is there
    __syncthreads();           // what all did is there, and all have read the other stage
    if (tile + 1 < tiles) copies.begin(a_tile[1 - stage], b_tile[1 - stage], tile_k);
#pragma unroll
    for (int i = 0; i < tile_k; ++i) {
      float4 a_values[rows / 4], b_values[cols / 4];
#pragma unroll
      for (int r = 0; r < rows / 4; ++r) {
        a_values[r] = *reinterpret_cast<const float4*>(&a_tile[stage][i][y + r * gap_m]);
      }
#pragma unroll
      for (int s = 0; s < cols / 4; ++s) {
        b_values[s] = *reinterpret_cast<const float4*>(&b_tile[stage][i][x + s * gap_n]);
      }
      const float* const a_value = reinterpret_cast<const float*>(a_values);
      const float* const b_value = reinterpret_cast<const float*>(b_values);
#pragma unroll
      for (int r = 0; r < rows; ++r) {
#pragma unroll
        for (int s = 0; s < cols; ++s) sums[r][s] += a_value[r] * b_value[s];
      }
    }
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

/// True if 16-byte accesses may be used: all rows begin at a multiple of 16 bytes, and those of B
/// are a multiple of 16 bytes long. (A copy of four of which some do not exist would do; but
/// compute-sanitizer takes it for a read of all four.)
bool in_groups(const float* a, const float* b, const float* c, std::int64_t n, std::int64_t lda,
               std::int64_t ldb, std::int64_t ldc) {
  return n % 4 == 0 && operands::in_groups_of_four(a, lda) && operands::in_groups_of_four(b, ldb) &&
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
      in_groups(a, b, c, n, lda, ldb, ldc) ? multiply_matrices<true> : multiply_matrices<false>;
  kernel<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(
      a, b, c, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), lda, ldb, ldc, alpha,
      beta);
  return cudaGetLastError();
}

}  // namespace double_buffered
