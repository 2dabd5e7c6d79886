#pragma once
/// \file
/// What stands for the pixels outside of the image, and which sizes all launchers refuse.

#include <cuda_runtime.h>

#include <cstdint>

#include "filter.hpp"

namespace border {

/// The rules, by which the image `a b c d` continues to both sides:
enum Rule {
  clamp,   ///< a a a | a b c d | d d d
  zero,    ///< 0 0 0 | a b c d | 0 0 0
  reflect  ///< d c b | a b c d | c b a
};

/// Which of the n pixels of a row or column stands for pixel i. -1: none of them, its value is 0.
__device__ inline int inside(int i, int n, int rule) {
  if (i >= 0 && i < n) return i;
  if (rule == zero) return -1;
  if (rule == clamp || n == 1) return i < 0 ? 0 : n - 1;
  while (i < 0 || i >= n) i = i < 0 ? -i : n - 1 - (i - (n - 1));
  return i;
}

/// Pixel (y, x) of an image of rows x cols pixels. It may lie outside of it.
template <class T>
__device__ T pixel(const T* image, int rows, int cols, int y, int x, int rule) {
  const int row = inside(y, rows, rule), col = inside(x, cols, rule);
  return row < 0 || col < 0 ? T{0} : image[std::int64_t{row} * cols + col];
}

/// Whether a launcher takes these sizes: width is odd, 1 to 31; rows and cols are at least 0. Its
/// blocks compute `block_rows` x `block_cols` pixels, and a grid has at most 65,535 rows of blocks.
inline bool fit(std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                std::int64_t block_rows) {
  return rows >= 0 && rows <= 65535 * block_rows && cols >= 0 && cols <= INT32_MAX - 4096 &&
         width >= 1 && width <= largest_width && width % 2 == 1 && rule >= clamp && rule <= reflect;
}

/// Whether all rows of such an image begin at multiples of 16 bytes.
template <class T>
bool rows_are_aligned(const T* image, std::int64_t cols) {
  constexpr std::int64_t per_vector = 16 / sizeof(T);
  return reinterpret_cast<std::uintptr_t>(image) % 16 == 0 && cols % per_vector == 0;
}

/// The grid of blocks for an image.
inline dim3 grid(std::int64_t rows, std::int64_t cols, int block_rows, int block_cols) {
  return dim3(static_cast<unsigned>((cols + block_cols - 1) / block_cols),
              static_cast<unsigned>((rows + block_rows - 1) / block_rows));
}

}  // namespace border
