#pragma once
/// \file
/// What lies beyond the edges of a field, and which sizes all launchers refuse.

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "star.hpp"

namespace edge {

/// How a row `a b c d` goes on to both sides:
enum Rule {
  fixed,    ///< 0 0 0 | a b c d | 0 0 0
  periodic  ///< b c d | a b c d | a b c
};

/// A field of planes x rows x cols floats, row by row, plane by plane.
struct Field {
  int planes, rows, cols, rule;
  bool vectors;  ///< all rows of all arrays begin at multiples of 16 bytes
};

/// Which of the n points along an axis stands for point i. -1: none of them, its value is 0.
__device__ inline int inside(int i, int n, int rule) {
  if (i >= 0 && i < n) return i;
  if (rule == fixed) return -1;
  i %= n;
  return i < 0 ? i + n : i;
}

/// Where point (z, y, x) lies in memory, which must be inside.
__device__ inline std::int64_t offset(const Field& f, int z, int y, int x) {
  return (std::int64_t{z} * f.rows + y) * f.cols + x;
}

/// Point (z, y, x), which may lie outside.
__device__ inline float point(const float* values, const Field& f, int z, int y, int x) {
  const int plane = inside(z, f.planes, f.rule), row = inside(y, f.rows, f.rule);
  const int col = inside(x, f.cols, f.rule);
  return plane < 0 || row < 0 || col < 0 ? 0 : values[offset(f, plane, row, col)];
}

/// Whether a launcher takes a field: no size is negative, and a grid has at most 65,535 blocks
/// along y, of `block_rows` rows, and along z, of `block_planes` planes.
inline bool fit(std::int64_t planes, std::int64_t rows, std::int64_t cols, std::int64_t rule,
                std::int64_t block_planes, std::int64_t block_rows) {
  return planes >= 0 && planes <= 65535 * block_planes && rows >= 0 && rows <= 65535 * block_rows &&
         cols >= 0 && cols <= INT32_MAX - 4096 && (rule == fixed || rule == periodic);
}

/// The field of a launcher that took these sizes and has these arrays.
template <class... Arrays>
Field field(std::int64_t planes, std::int64_t rows, std::int64_t cols, std::int64_t rule,
            Arrays... arrays) {
  const bool aligned = ((reinterpret_cast<std::uintptr_t>(arrays) % 16 == 0) && ...);
  return {static_cast<int>(planes), static_cast<int>(rows), static_cast<int>(cols),
          static_cast<int>(rule), aligned && cols % 4 == 0};
}

/// The grid of blocks for a field.
inline dim3 grid(const Field& f, int block_planes, int block_rows, int block_cols) {
  const auto blocks = [](int points, int each) {
    return static_cast<unsigned>((std::int64_t{points} + each - 1) / each);
  };
  return dim3(blocks(f.cols, block_cols), blocks(f.rows, block_rows),
              blocks(f.planes, block_planes));
}

/// Calls body(std::integral_constant<int, r>()) for r == radius, from 1 to `most`: a template of
/// body knows r when it is compiled. Does nothing for another radius.
template <int most, class Body>
void choose(std::int64_t radius, Body body) {
  if (radius == most) {
    body(std::integral_constant<int, most>());
  } else if constexpr (most > 1) {
    choose<most - 1>(radius, body);
  }
}

}  // namespace edge
