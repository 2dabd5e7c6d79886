#pragma once
/// \file
/// The problems of exercises 1 and 5.

#include <algorithm>

#include "radix_sort.hpp"

/// Each group of 32 keys, sorted by itself. The last group may be smaller.
class GroupsProblem : public SortProblem<unsigned> {
 public:
  using SortProblem::SortProblem;
  void expected(int, double* out) const override {
    for (std::int64_t i = 0; i < n(); ++i) out[i] = key(i);
    for (std::int64_t first = 0; first < n(); first += 32) {
      std::sort(out + first, out + std::min<std::int64_t>(first + 32, n()));
    }
  }
};

/// counts[256 d + v] = how many keys have v in byte d, the lowest of which is byte 0.
class DigitsProblem : public SortProblem<unsigned> {
 public:
  using SortProblem::SortProblem;
  std::vector<course::Array> outputs() const override {
    return {{"counts", 4 * 256, course::Type::u32}};
  }
  double bytes_written() const override { return 4 * 4 * 256; }
  void expected(int, double* counts) const override {
    std::fill(counts, counts + 4 * 256, 0.0);
    for (std::int64_t i = 0; i < n(); ++i) {
      for (unsigned d = 0; d < 4; ++d) ++counts[256 * d + (key(i) >> 8 * d & 255)];
    }
  }
};
