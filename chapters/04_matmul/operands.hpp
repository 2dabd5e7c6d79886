#pragma once
/// \file
/// What every launcher of this chapter checks on the host before it launches.

#include <cstdint>
#include <initializer_list>

namespace operands {

/// The largest m, n, k and leading dimension: kernels count rows and columns as int, also those
/// that fill up the last tile.
constexpr std::int64_t most = INT32_MAX - 1024;

/// The bytes from the first to the last element of a window of rows x cols floats: up to 2^64 - 1.
inline std::uintptr_t extent(std::int64_t rows, std::int64_t cols, std::int64_t pitch) {
  if (rows == 0 || cols == 0) return 0;
  return 4 * static_cast<std::uintptr_t>((rows - 1) * pitch + cols);
}

/// True if two windows share an element. Windows of one matrix, side by side, do not. Where the
/// pitches differ, windows whose first and last elements enclose a common address count as shared.
inline bool overlap(const float* a, std::int64_t rows, std::int64_t cols, std::int64_t pitch,
                    const float* b, std::int64_t b_rows, std::int64_t b_cols,
                    std::int64_t b_pitch) {
  const auto from = reinterpret_cast<std::uintptr_t>(a);
  const auto b_from = reinterpret_cast<std::uintptr_t>(b);
  const std::uintptr_t bytes = extent(rows, cols, pitch);
  const std::uintptr_t b_bytes = extent(b_rows, b_cols, b_pitch);
  if (bytes == 0 || b_bytes == 0) return false;
  if (from <= b_from ? b_from - from >= bytes : from - b_from >= b_bytes) return false;
  if (pitch != b_pitch || (b_from - from) % 4 != 0) return true;
  // The column of b's first element in a matrix that begins with a.
  const std::int64_t distance =
      (static_cast<std::int64_t>(b_from) - static_cast<std::int64_t>(from)) / 4;
  const std::int64_t column = (distance % pitch + pitch) % pitch;
  return column < cols || column + b_cols > pitch;
}

/// True if C = alpha A B + beta C can be computed: A is m x k, B k x n and C m x n, row major, and
/// their rows begin every lda, ldb and ldc elements. Sizes from 0 to `most`, no row longer than its
/// leading dimension (which may be 0 only where a row has no element), float-aligned pointers, and
/// no element of C is one of A or B.
inline bool valid(const float* a, const float* b, const float* c, std::int64_t m, std::int64_t n,
                  std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc) {
  for (const std::int64_t size : {m, n, k}) {
    if (size < 0 || size > most) return false;
  }
  if (lda < k || lda > most || ldb < n || ldb > most || ldc < n || ldc > most) return false;
  for (const float* p : {a, b, c}) {
    if (reinterpret_cast<std::uintptr_t>(p) % alignof(float) != 0) return false;
  }
  return !overlap(a, m, k, lda, c, m, n, ldc) && !overlap(b, k, n, ldb, c, m, n, ldc);
}

/// True if 16-byte loads may read the rows of a matrix.
inline bool in_groups_of_four(const float* p, std::int64_t pitch) {
  return reinterpret_cast<std::uintptr_t>(p) % 16 == 0 && pitch % 4 == 0;
}

}  // namespace operands
