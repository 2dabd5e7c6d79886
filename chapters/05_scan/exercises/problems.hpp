#pragma once
/// \file
/// The problems of exercises 6 and 7. Both have a dimension "distinct" beside n: how many different
/// values their elements can have, 0 for 2^31. It chooses the family of inputs.

#include "chapter/input.hpp"
#include "chapter/problem.hpp"

inline course::Input family_of(const course::Size& size) {
  switch (size["distinct"]) {
    case 1:
      return course::Input::equal;  // all elements are 1
    case 4:
      return course::Input::few_distinct;  // 0 to 3
    case 15:
      return course::Input::integers;  // 0 to 14
    default:
      return course::Input::random;  // 31 bits
  }
}

/// Runs of equal neighbours: the key of each, its length, and how many there are.
class RunLengths : public course::Problem {
 public:
  RunLengths(const course::Size& size, std::uint64_t seed, course::Input input)
      : Problem(size, seed + (input == course::Input::random), family_of(size)) {
    for (std::int64_t i = 0; i < n(); ++i) runs_ += begins(i);
  }
  std::vector<course::Array> inputs() const override {
    return {{"in", n(), course::Type::u32, seed()}};
  }
  std::vector<course::Array> outputs() const override {
    return {{"keys", runs_, course::Type::u32},
            {"lengths", runs_, course::Type::u32},
            {"runs", 1, course::Type::u32}};
  }
  double bytes_read() const override { return 4.0 * static_cast<double>(n()); }
  double bytes_written() const override { return 8.0 * static_cast<double>(runs_) + 4; }
  void expected(int output, double* out) const override {
    if (output == 2) {
      out[0] = static_cast<double>(runs_);
      return;
    }
    std::int64_t run = -1, start = 0;
    for (std::int64_t i = 0; i < n(); ++i) {
      if (begins(i)) ++run, start = i;
      out[run] = static_cast<double>(output == 0 ? element(i) : i + 1 - start);
    }
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }

 private:
  unsigned element(std::int64_t i) const { return course::value<unsigned>(input(), seed(), i); }
  bool begins(std::int64_t i) const { return i == 0 || element(i) != element(i - 1); }
  std::int64_t runs_ = 0;
};

/// out[i] = the sum, modulo 2^32, of in[i] and what stands before it in its segment. A segment
/// begins wherever the low 16 bits of an element are 0.
class SegmentedScan : public course::Problem {
 public:
  SegmentedScan(const course::Size& size, std::uint64_t seed, course::Input input)
      : Problem(size, seed + (input == course::Input::random), family_of(size)) {}
  std::vector<course::Array> inputs() const override {
    return {{"in", n(), course::Type::u32, seed()}};
  }
  std::vector<course::Array> outputs() const override { return {{"out", n(), course::Type::u32}}; }
  double bytes_read() const override { return 4.0 * static_cast<double>(n()); }
  double bytes_written() const override { return bytes_read(); }
  void expected(int, double* out) const override {
    std::uint32_t sum = 0;
    for (std::int64_t i = 0; i < n(); ++i) {
      const auto x = course::value<unsigned>(input(), seed(), i);
      sum = x % 65536 == 0 ? x : sum + x;
      out[i] = sum;
    }
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }
};
