#pragma once
/// \file
/// From the accumulators of a warp to C, as mma and wgmma leave them: what is no version's idea.

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

#include "operands.hpp"
#include "ptx.cuh"

/// C where it is stored: `rows` x `cols` elements, and what the sums are combined with.
template <class T>
struct Result {
  T* c;
  std::int64_t ldc;
  int rows, cols;
  float alpha, beta;

  /// The new value of an element that has this sum: alpha sum + beta C; beta = 0 does not read C.
  __device__ float combined(float sum, int row, int col) const {
    if (beta == 0) return alpha * sum;
    return alpha * sum + beta * static_cast<float>(c[row * ldc + col]);
  }
  /// Stores two neighbours of a row, where they exist. col is even.
  __device__ void store_pair(int row, int col, float x, float y) const {
    if (row >= rows || col >= cols) return;
    T* const place = c + row * ldc + col;
    if (col + 1 >= cols) {
      *place = static_cast<T>(combined(x, row, col));
      return;
    }
    const float first = combined(x, row, col), second = combined(y, row, col + 1);
    if constexpr (sizeof(T) == 4) {
      *reinterpret_cast<float2*>(place) = make_float2(first, second);
    } else {
      *reinterpret_cast<__nv_bfloat162*>(place) = __floats2bfloat162_rn(first, second);
    }
  }
  /// Stores 16 rows from `row` on and n columns from `col` on: those of a warp, whose lane l has
  /// columns 8 j + l % 4 * 2 and the next: d[4 j], d[4 j + 1] in row l / 4, d[4 j + 2], d[4 j + 3]
  /// in row l / 4 + 8.
  template <int n>
  __device__ void store(const float* d, int row, int col) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int j = 0; j < n / 8; ++j) {
      store_pair(row + lane / 4, col + 8 * j + lane % 4 * 2, d[4 * j], d[4 * j + 1]);
      store_pair(row + lane / 4 + 8, col + 8 * j + lane % 4 * 2, d[4 * j + 2], d[4 * j + 3]);
    }
  }

  /// How many of C's columns the TMA may store. It writes whole groups of 16 bytes, seen on an
  /// H200: where a row ends within one, also what stands behind the row.
  __host__ __device__ int in_groups() const {
    return cols - cols % static_cast<int>(16 / sizeof(T));
  }
  /// Lays 16 rows from `row` on and n columns, 128 bytes at most, from `col` on into shared memory,
  /// as the TMA stores them from there: row below row, swizzled. For a warp whose sums are arranged
  /// as above. box: a multiple of 1024 bytes.
  template <int n>
  __device__ void lay_down(char* box, const float* d, int row, int col) const {
    static_assert(n % 8 == 0 && n * sizeof(T) <= 128, "the rows of a swizzle");
    const int lane = static_cast<int>(threadIdx.x) % 32;
    float value[(n + 8) / 16 * 8] = {};  // matrices of 8 columns go out in pairs
#pragma unroll
    for (int i = 0; i < n / 2; ++i) value[i] = alpha * d[i];
    // Read before the TMA writes there: a box is sent when all of it is laid down.
    if (beta != 0) {
#pragma unroll
      for (int i = 0; i < n / 2; ++i) {
        const int r = row + lane / 4 + i / 2 % 2 * 8, s = col + i / 4 * 8 + lane % 4 * 2 + i % 2;
        if (r < rows && s < cols) value[i] += beta * static_cast<float>(c[r * ldc + s]);
      }
    }
    if constexpr (sizeof(T) == 4) {
      const int r = lane / 4;  // r + 8 has the same swizzle
#pragma unroll
      for (int j = 0; j < n / 8; ++j) {
        const int chunk = 2 * j + lane % 4 / 2;
        char* const place = box + r * 128 + (chunk ^ r % 8) * 16 + lane % 2 * 8;
        *reinterpret_cast<float2*>(place) = make_float2(value[4 * j], value[4 * j + 1]);
        *reinterpret_cast<float2*>(place + 8 * 128) =
            make_float2(value[4 * j + 2], value[4 * j + 3]);
      }
    } else {
      const int r = lane % 16;
#pragma unroll
      for (int j = 0; j < n / 8; j += 2) {  // matrices: above, below, and the same to the right
        const int chunk = j + lane / 16;
        const float* const v = value + 4 * j;
        store_matrices(box + r * 128 + (chunk ^ r % 8) * 16, as_pair(v[0], v[1]),
                       as_pair(v[2], v[3]), as_pair(v[4], v[5]), as_pair(v[6], v[7]));
      }
    }
  }
  /// Stores the columns behind those in whole groups, from a box that lay_down() has filled.
  template <int n>
  __device__ void store_rest(const char* box, int row, int col) const {
    const int lane = static_cast<int>(threadIdx.x) % 32, r = lane % 16;
    if (row + r >= rows || col >= cols) return;
    for (int x = in_groups() - col + lane / 16; x < n && x < cols - col; x += 2) {
      const int byte = x * static_cast<int>(sizeof(T));
      c[(row + r) * ldc + col + x] =
          *reinterpret_cast<const T*>(box + r * 128 + (byte / 16 ^ r % 8) * 16 + byte % 16);
    }
  }
  /// Two bf16 in a register.
  __device__ static unsigned as_pair(float x, float y) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(x, y);
    unsigned bits;
    memcpy(&bits, &pair, sizeof bits);
    return bits;
  }
};

template <class T>
Result<T> result_of(const operands::Product<T>& of) {
  return {of.c, of.ldc, static_cast<int>(of.m), static_cast<int>(of.n), of.alpha, of.beta};
}
