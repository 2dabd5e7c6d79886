#pragma once
/// \file
/// Filters as arguments of a kernel: the arguments lie in constant memory. A kernel may have 4096
/// bytes of them.

#include <cstdint>

constexpr int largest_width = 31;

/// Row i, column j of a filter of odd width is at[i * width + j].
struct Filter {
  float at[largest_width * largest_width];
};

/// A filter whose coefficient in row i and column j is column[i] * row[j].
struct SeparableFilter {
  float column[largest_width], row[largest_width];
};

/// A filter for 8-bit pixels: coefficients as whole numbers, in units of 2^-shift.
struct ByteFilter {
  std::int8_t at[largest_width * largest_width];
  int shift;  ///< 0 to 30
};
