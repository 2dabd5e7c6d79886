#pragma once
/// \file
/// The problems of this chapter, in host C++: inputs, reference, least traffic, tolerance. Versions
/// never include it.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "chapter/input.hpp"
#include "chapter/problem.hpp"

/// The launcher of every version.
template <class In, class Out = In>
using Reduce = cudaError_t(void* workspace, std::size_t& workspace_bytes, const In* in, Out* out,
                           std::int64_t n, cudaStream_t stream);
using ReduceToIndex = Reduce<float, std::int64_t>;

namespace reduction {

template <class T>
constexpr course::Type type_of =
    std::is_same<T, float>::value ? course::Type::f32 : course::Type::u32;

/// The longest chain of additions in any version: the trees, and what one of at least 2^14 threads
/// adds up on its own.
inline double depth(std::int64_t n) { return 64 + static_cast<double>(n) / (1 << 14); }

}  // namespace reduction

/// sum = in[0] + ... + in[n - 1], of float, or of unsigned modulo 2^32.
template <class T>
class Sum : public course::Problem {
 public:
  using Problem::Problem;
  std::vector<course::Array> inputs() const override {
    return {{"in", n(), reduction::type_of<T>, seed()}};
  }
  std::vector<course::Array> outputs() const override {
    return {{"sum", 1, reduction::type_of<T>}};
  }
  double bytes_read() const override { return 4.0 * static_cast<double>(n()); }
  double bytes_written() const override { return 4; }
  double flops() const override { return static_cast<double>(std::max<std::int64_t>(n() - 1, 0)); }
  void expected(int, double* sum) const override {
    if (std::is_same<T, float>::value) {
      sum[0] = course::total_of<double>(n(), [this](std::int64_t first, std::int64_t last) {
        double part = 0;
        for (std::int64_t i = first; i < last; ++i) part += static_cast<double>(element(i));
        return part;
      });
    } else {
      const auto total =
          course::total_of<std::uint64_t>(n(), [this](std::int64_t first, std::int64_t last) {
            std::uint64_t part = 0;
            for (std::int64_t i = first; i < last; ++i)
              part += static_cast<std::uint64_t>(element(i));
            return part;
          });
      sum[0] = static_cast<double>(static_cast<std::uint32_t>(total));
    }
  }
  /// Each addition of a float rounds by at most 2^-24 of a partial sum, and no partial sum exceeds
  /// the sum of the magnitudes. Small integers are exact: all partial sums stay below 2^24.
  course::Tolerance tolerance(int) const override {
    const bool exact = input() == course::Input::integers || !std::is_same<T, float>::value;
    if (exact) return {0, 0, true};
    const double magnitudes =
        course::total_of<double>(n(), [this](std::int64_t first, std::int64_t last) {
          double part = 0;
          for (std::int64_t i = first; i < last; ++i)
            part += std::fabs(static_cast<double>(element(i)));
          return part;
        });
    return {reduction::depth(n()) * 0x1p-24 * magnitudes, 0, false};
  }

 private:
  T element(std::int64_t i) const { return course::value<T>(input(), seed(), i); }
};

/// The sum as version 09 may give it: an atomic addition of floats in global memory takes
/// denormals, arguments and results, for zero (PTX ISA, "atom"). There is one per block of 1024
/// threads.
class SumByAtomics : public Sum<float> {
 public:
  using Sum::Sum;
  course::Tolerance tolerance(int output) const override {
    course::Tolerance tolerance = Sum::tolerance(output);
    if (!tolerance.bits) tolerance.absolute += 0x1p-126 * (1 + static_cast<double>(n()) / 1024);
    return tolerance;
  }
};

namespace reduction {

/// Of NaN and a number the number; -0.0 is smaller than 0.0.
inline double smaller(double a, double b) {
  return a == b ? (std::signbit(a) ? a : b) : std::fmin(a, b);
}
inline double larger(double a, double b) { return -smaller(-a, -b); }

}  // namespace reduction

/// The smallest or largest element that is a number: exact in any order.
class Extreme : public course::Problem {
 public:
  Extreme(course::Size size, std::uint64_t seed, course::Input input, bool largest)
      : Problem(std::move(size), seed, input), largest_(largest) {}
  std::vector<course::Array> inputs() const override {
    return {{"in", n(), course::Type::f32, seed()}};
  }
  std::vector<course::Array> outputs() const override {
    return {{largest_ ? "max" : "min", 1, course::Type::f32}};
  }
  double bytes_read() const override { return 4.0 * static_cast<double>(n()); }
  double bytes_written() const override { return 4; }
  void expected(int, double* out) const override {
    out[0] = largest_ ? -HUGE_VAL : HUGE_VAL;  // of no elements
    for (std::int64_t i = 0; i < n(); ++i) {
      const double x = course::value<float>(input(), seed(), i);
      out[0] = largest_ ? reduction::larger(out[0], x) : reduction::smaller(out[0], x);
    }
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }

 private:
  bool largest_;
};

/// The index of the smallest element, where NaN counts as infinity; of several, the first.
class IndexOfMin : public course::Problem {
 public:
  using Problem::Problem;
  std::vector<course::Array> inputs() const override {
    return {{"in", n(), course::Type::f32, seed()}};
  }
  std::vector<course::Array> outputs() const override { return {{"index", 1, course::Type::i64}}; }
  double bytes_read() const override { return 4.0 * static_cast<double>(n()); }
  double bytes_written() const override { return 8; }
  void expected(int, double* out) const override {
    std::int64_t best = 0;
    float least = HUGE_VALF;
    for (std::int64_t i = 0; i < n(); ++i) {
      const float x = course::value<float>(input(), seed(), i);
      if (x < least) least = x, best = i;
    }
    out[0] = static_cast<double>(best);
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }
};
