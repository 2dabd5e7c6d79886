// Idea: mma, the instruction behind wmma, with its fragments in the open. Copies of 16 bytes go
//   straight to shared memory, three stages deep; ldmatrix brings fragments from there, and a
//   swizzle keeps its rows in different banks.
// Predicts: copies and products overlap, and shared memory gives 128 bytes per clock: several
//   times 01.
// Still wrong: mma takes its operands from registers, so every element passes through them.
#include <cuda_bf16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "fragments.cuh"
#include "operands.hpp"
#include "ptx.cuh"

namespace mma_swizzle {

using operands::Product;

constexpr int side = 128;                     // rows and columns of a block's tile of C
constexpr int warp_m = 64, warp_n = 32;       // of a warp's
constexpr int block_size = 256;               // 2 x 4 warps
constexpr int row_bytes = 128;                // of a row of A or B at a time: 8 chunks of 16
constexpr int stages = 3;                     // under way or in use
constexpr int tile_bytes = side * row_bytes;  // of A; as many of B

/// Where chunk x of row y lies in a tile: rows that follow each other have it in different banks.
__device__ int place(int y, int x) { return y * row_bytes + (x ^ y % 8) * 16; }

/// Begins to copy 128 bytes of 128 rows from column col on. What the matrix does not have is zero.
template <class T>
__device__ void copy_tile(char* to, const T* from, std::int64_t ld, int row0, int col, int rows,
                          int cols) {
  constexpr int group = 16 / sizeof(T);
  const int x = static_cast<int>(threadIdx.x) % 8;
  const int there = min(max(cols - (col + x * group), 0), group) * static_cast<int>(sizeof(T));
#pragma unroll
  for (int y = static_cast<int>(threadIdx.x) / 8; y < side; y += block_size / 8) {
    const bool exists = row0 + y < rows && there > 0;
    copy_async(to + place(y, x), exists ? from + (row0 + y) * ld + col + x * group : from,
               exists ? there : 0);
  }
}

/// C = alpha A B^T + beta C, a tile per block; `across` tiles lie side by side.
template <class T>
__global__ void __launch_bounds__(block_size, 2)
    multiply_tile(const T* a, const T* b, Result<T> c, int k, std::int64_t lda, std::int64_t ldb,
                  int across) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  constexpr int step = row_bytes / sizeof(T);
  extern __shared__ __align__(128) char shared[];
  const int row0 = static_cast<int>(blockIdx.x) / across * side;
  const int col0 = static_cast<int>(blockIdx.x) % across * side;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int y = warp / 4 * warp_m, x = warp % 4 * warp_n;
  const int steps = (k + step - 1) / step;
  const auto begin = [&](int i) {
    if (i < steps) {
      char* const stage = shared + i % stages * 2 * tile_bytes;
      copy_tile(stage, a, lda, row0, i * step, c.rows, k);
      copy_tile(stage + tile_bytes, b, ldb, col0, i * step, c.cols, k);
    }
    __pipeline_commit();  // empty at the end, so that the count of those under way is right
  };
  for (int i = 0; i < stages - 1; ++i) begin(i);
  float d[warp_m / 16][warp_n / 8][4] = {};
  for (int i = 0; i < steps; ++i) {
    __pipeline_wait_prior(stages - 2);
    __syncthreads();  // everybody's copies are there, and everybody has done with the stage before
    begin(i + stages - 1);
    const char* const a_tile = shared + i % stages * 2 * tile_bytes;
    const char* const b_tile = a_tile + tile_bytes;
#pragma unroll
    for (int part = 0; part < 4; ++part) {  // 32 bytes, two chunks, of each row
      unsigned left[warp_m / 16][4], right[warp_n / 16][4];
#pragma unroll
      for (int r = 0; r < warp_m / 16; ++r) {
        load_matrices(left[r], a_tile + place(y + 16 * r + lane % 16, 2 * part + lane / 16));
      }
#pragma unroll
      for (int s = 0; s < warp_n / 16; ++s) {  // rows 0 to 7 of both chunks, then 8 to 15
        const int row = x + 16 * s + lane % 8 + lane / 16 * 8;
        load_matrices(right[s], b_tile + place(row, 2 * part + lane / 8 % 2));
      }
#pragma unroll
      for (int r = 0; r < warp_m / 16; ++r) {
#pragma unroll
        for (int s = 0; s < warp_n / 8; ++s) {
          mma<T>(d[r][s], left[r], right[s / 2][s % 2 * 2], right[s / 2][s % 2 * 2 + 1]);
        }
      }
    }
  }
#pragma unroll
  for (int r = 0; r < warp_m / 16; ++r) {
#pragma unroll
    for (int s = 0; s < warp_n / 8; ++s) {
      c.template store<8>(d[r][s], row0 + y + 16 * r, col0 + x + 8 * s);
    }
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
  constexpr int bytes = stages * 2 * tile_bytes;
  if (cudaError_t error = cudaFuncSetAttribute(
          multiply_tile<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)) {
    return error;
  }
  multiply_tile<<<static_cast<unsigned>(down * across), block_size, bytes, stream>>>(
      of.a, of.b, result_of(of), static_cast<int>(of.k), of.lda, of.ldb, static_cast<int>(across));
  return cudaGetLastError();
}

/// C = alpha A B^T + beta C. \returns cudaErrorInvalidValue for what operands::valid() refuses and
/// for more than 2^31 - 1 tiles; or the error of the launch.
cudaError_t multiply(const Product<__nv_bfloat16>& of, cudaStream_t stream) {
  return run(of, stream);
}
/// The same of floats, of which the 10 highest bits of the fraction take part (tf32).
cudaError_t multiply(const Product<float>& of, cudaStream_t stream) { return run(of, stream); }

}  // namespace mma_swizzle
