// Idea: tensor cores, by the functions that CUDA C++ has for them. A warp multiplies 16 x 16 by
//   16 x 16 elements in one instruction or two; where a fragment's elements are, nobody says.
// Predicts: far beyond the floats of chapter 04, whose cores do 128 multiplications per clock and
//   SM: these do 2048 of bf16, 1024 of tf32.
// Still wrong: the tiles come by single elements through registers, and everybody waits for them.
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <cstdint>
#include <type_traits>

#include "operands.hpp"

namespace wmma_tiles {

using operands::Product;
namespace wmma = nvcuda::wmma;

constexpr int side = 64;         // rows and columns of a block's tile of C
constexpr int warp_side = 32;    // of a warp's: 2 x 2 fragments of 16 x 16
constexpr int block_size = 128;  // 2 x 2 warps
constexpr int step_bytes = 64;   // of a row of A or B at a time
constexpr int pad_bytes = 16;    // rows begin in different banks

/// Copies `side` rows and `step` columns to shared memory; what the matrix does not have is zero.
template <class T, int step, int pitch>
__device__ void copy_tile(T* to, const T* from, std::int64_t ld, int row0, int col0, int rows,
                          int cols) {
  for (int i = static_cast<int>(threadIdx.x); i < side * step; i += block_size) {
    const int row = row0 + i / step, col = col0 + i % step;
    to[i / step * pitch + i % step] =
        row < rows && col < cols ? from[row * ld + col] : static_cast<T>(0.0f);
  }
}

/// C = alpha A B^T + beta C, a tile per block; `across` tiles lie side by side.
template <class T>
__global__ void __launch_bounds__(block_size)
    multiply_tile(const T* a, const T* b, T* c, int m, int n, int k, std::int64_t lda,
                  std::int64_t ldb, std::int64_t ldc, float alpha, float beta, int across) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  constexpr int step = step_bytes / sizeof(T), pitch = (step_bytes + pad_bytes) / sizeof(T);
  constexpr int fragment_k = 32 / sizeof(T);  // columns of A
  using Element = std::conditional_t<std::is_same_v<T, float>, wmma::precision::tf32, T>;
  __shared__ __align__(128) T a_tile[side * pitch], b_tile[side * pitch];
  __shared__ __align__(128) float sums[side * side];
  const int row0 = static_cast<int>(blockIdx.x) / across * side;
  const int col0 = static_cast<int>(blockIdx.x) % across * side;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int y = warp / 2 * warp_side, x = warp % 2 * warp_side;
  wmma::fragment<wmma::accumulator, 16, 16, fragment_k, float> d[2][2];
  for (auto& row : d) {
    for (auto& fragment : row) wmma::fill_fragment(fragment, 0.0f);
  }
  for (int col = 0; col < k; col += step) {
    copy_tile<T, step, pitch>(a_tile, a, lda, row0, col, m, k);
    copy_tile<T, step, pitch>(b_tile, b, ldb, col0, col, n, k);
    __syncthreads();
    for (int i = 0; i < step; i += fragment_k) {
      wmma::fragment<wmma::matrix_a, 16, 16, fragment_k, Element, wmma::row_major> left[2];
      wmma::fragment<wmma::matrix_b, 16, 16, fragment_k, Element, wmma::col_major> right[2];
      for (int r = 0; r < 2; ++r) {
        wmma::load_matrix_sync(left[r], a_tile + (y + 16 * r) * pitch + i, pitch);
        wmma::load_matrix_sync(right[r], b_tile + (x + 16 * r) * pitch + i, pitch);
        if constexpr (sizeof(T) == 4) {  // rounds to the 10 bits of a tf32
          for (auto& value : left[r].x) value = wmma::__float_to_tf32(value);
          for (auto& value : right[r].x) value = wmma::__float_to_tf32(value);
        }
      }
      for (int r = 0; r < 2; ++r) {
        for (int s = 0; s < 2; ++s) wmma::mma_sync(d[r][s], left[r], right[s], d[r][s]);
      }
    }
    __syncthreads();  // all have read the tiles
  }
  for (int r = 0; r < 2; ++r) {
    for (int s = 0; s < 2; ++s) {
      wmma::store_matrix_sync(sums + (y + 16 * r) * side + x + 16 * s, d[r][s], side,
                              wmma::mem_row_major);
    }
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < side * side; i += block_size) {
    const int row = row0 + i / side, col = col0 + i % side;
    if (row >= m || col >= n) continue;
    T* const place = c + row * ldc + col;
    const float before = beta == 0 ? 0 : beta * static_cast<float>(*place);
    *place = static_cast<T>(alpha * sums[i] + before);
  }
#endif
}

template <class T>
cudaError_t run(Product<T> of, cudaStream_t stream) {
  if (!operands::valid(of)) return cudaErrorInvalidValue;
  if (of.m == 0 || of.n == 0) return cudaSuccess;
  of = operands::needed(of);
  const std::int64_t down = (of.m + side - 1) / side, across = (of.n + side - 1) / side;
  if (down > INT32_MAX / across) return cudaErrorInvalidValue;
  multiply_tile<<<static_cast<unsigned>(down * across), block_size, 0, stream>>>(
      of.a, of.b, of.c, static_cast<int>(of.m), static_cast<int>(of.n), static_cast<int>(of.k),
      of.lda, of.ldb, of.ldc, of.alpha, of.beta, static_cast<int>(across));
  return cudaGetLastError();
}

/// C = alpha A B^T + beta C. \returns cudaErrorInvalidValue for what operands::valid() refuses and
/// for more than 2^31 - 1 tiles; or the error of the launch.
cudaError_t multiply(const Product<__nv_bfloat16>& of, cudaStream_t stream) {
  return run(of, stream);
}
/// The same of floats, of which the 10 highest bits of the fraction take part (tf32).
cudaError_t multiply(const Product<float>& of, cudaStream_t stream) { return run(of, stream); }

}  // namespace wmma_tiles
