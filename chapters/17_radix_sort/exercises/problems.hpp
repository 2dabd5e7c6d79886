#pragma once
/// \file
/// Launchers, problems and sizes of the exercises.

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

/// One pass over pairs: by bits `bit` to `bit` + 7 of the keys.
using PassOfPairs = cudaError_t(void* workspace, std::size_t& workspace_bytes, const unsigned* keys,
                                const unsigned* values, unsigned* keys_out, unsigned* values_out,
                                std::int64_t n, int bit, cudaStream_t stream);

/// n keys in an order of radix_chapter::Order, and the bits of a pass.
inline std::vector<course::Size> sizes_of_passes() {
  std::vector<course::Size> sizes;
  const auto add = [&](std::int64_t n, int first, radix_chapter::Order order) {
    sizes.push_back({{{"n", n},
                      {"first", first},
                      {"last", first + 8},
                      {"order", static_cast<std::int64_t>(order)}}});
  };
  using radix_chapter::Order;
  add(5003, 8, Order::random);
  for (const std::int64_t n : {1, 2, 33, 0, 257, 4095, 4096, 4097}) add(n, 0, Order::random);
  add(8193, 24, Order::sixteen_values);
  add(4100, 16, Order::constant);
  add(9001, 0, Order::reversed);
  add(1 << 16, 8, Order::random);
  return sizes;
}

/// n keys in an order of radix_chapter::Order; the last size has `last` keys.
inline std::vector<course::Size> sizes_of_sorts(std::int64_t last) {
  std::vector<course::Size> sizes;
  const auto add = [&](std::int64_t n, radix_chapter::Order order) {
    sizes.push_back({{{"n", n}, {"order", static_cast<std::int64_t>(order)}}});
  };
  using radix_chapter::Order;
  add(5003, Order::random);
  for (const std::int64_t n : {1, 2, 33, 0, 4095, 4096, 4097}) add(n, Order::random);
  add(8193, Order::sixteen_values);
  add(4100, Order::constant);
  add(20011, Order::reversed);
  add(last, Order::random);
  return sizes;
}
