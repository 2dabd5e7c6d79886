#pragma once
/// \file
/// Problems of the study of narrow numbers, in host C++: a matrix times a vector, in float, in half
/// and in bytes. Versions never include it.

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "chapter/input.hpp"
#include "chapter/problem.hpp"

using FloatsTimesVector = cudaError_t(const float* a, const float* x, float* y, std::int64_t rows,
                                      std::int64_t cols, cudaStream_t stream);
using HalvesTimesVector = cudaError_t(const std::uint16_t* a, const std::uint16_t* x, float* y,
                                      std::int64_t rows, std::int64_t cols, cudaStream_t stream);
using BytesTimesVector = cudaError_t(const std::uint8_t* a, const std::uint8_t* x, std::int32_t* y,
                                     std::int64_t rows, std::int64_t cols, cudaStream_t stream);

namespace narrow {

/// The bits of the half next to x, of two the even one.
inline std::uint16_t half_bits(float x) {
  const __half half = __float2half(x);
  std::uint16_t bits;
  std::memcpy(&bits, &half, sizeof bits);
  return bits;
}

/// The number that the bits of a half mean.
inline double half_value(std::uint16_t bits) {
  __half half;
  std::memcpy(static_cast<void*>(&half), &bits, sizeof half);
  return static_cast<double>(__half2float(half));
}

/// Element i of a family of whole numbers, cut to -7 to 7.
inline double whole(course::Input input, std::uint64_t seed, std::int64_t i) {
  return std::fmod(course::value<double>(input, seed, i), 8);
}

/// Element i of A, or of x, for floats and halves. Only A has large and denormal numbers, up to
/// these, so that products are neither infinite nor zeros.
inline double number(course::Input input, std::uint64_t seed, std::int64_t i, double large,
                     double denormal) {
  switch (input) {
    case course::Input::random:
      return course::value<double>(input, seed, i);
    case course::Input::large:
      return large * course::value<double>(course::Input::random, seed, i);
    case course::Input::denormal:
      return denormal * course::value<double>(course::Input::random, seed, i);
    default:
      return whole(input, seed, i);
  }
}

/// The largest magnitude of number().
inline double largest(course::Input input, double large, double denormal) {
  switch (input) {
    case course::Input::random:
      return 1;
    case course::Input::large:
      return large;
    case course::Input::denormal:
      return denormal;
    default:
      return 7;
  }
}

/// True if sums of n products of whole numbers are exact in float.
inline bool exact(course::Input input, std::int64_t n) {
  return input != course::Input::random && input != course::Input::large &&
         input != course::Input::denormal && 49 * n <= 1 << 24;
}

/// What n products of magnitudes up to `most` lose when they are added in float: each product is
/// rounded at most once and takes part in at most n / 256 + 16 additions: n / 256 + 3 in its
/// thread, 5 in its warp and 8 in its block. No partial sum is above n * most. Half a last place of
/// a number up to s is at most 2^-24 s, or 2^-150.
inline double lost_in_float(std::int64_t n, double most) {
  const double all = static_cast<double>(n), times = all / 256 + 17;
  return times * (all * most * 0x1p-24 + 0x1p-150);
}

/// What is known of a type of elements: how it is stored, which numbers are in A and in x, the type
/// of the results and how far they may be off.
struct Float {
  using Bits = float;
  static constexpr course::Type type = course::Type::f32, result = course::Type::f32;
  /// The device makes them itself.
  static bool by_value(course::Input input) {
    return input != course::Input::random && input != course::Input::integers;
  }
  static Bits in_a(course::Input input, std::uint64_t seed, std::int64_t i) {
    return static_cast<float>(number(input, seed, i, 0x1p60, 0x1p-126));
  }
  static Bits in_x(course::Input input, std::uint64_t seed, std::int64_t i) {
    return static_cast<float>(number(input, seed, i, 1, 1));
  }
  static double value(Bits bits) { return static_cast<double>(bits); }
  static course::Tolerance tolerance(course::Input input, std::int64_t cols) {
    if (exact(input, cols)) return {0, 0, true};
    const double most = largest(input, 0x1p60, 0x1p-126) * largest(input, 1, 1);
    return {lost_in_float(cols, most), 0, false};
  }
};

struct Half {
  using Bits = std::uint16_t;
  static constexpr course::Type type = course::Type::u16, result = course::Type::f32;
  static bool by_value(course::Input) { return true; }
  static Bits in_a(course::Input input, std::uint64_t seed, std::int64_t i) {
    return half_bits(static_cast<float>(number(input, seed, i, 0x1p12, 0x1p-14)));
  }
  static Bits in_x(course::Input input, std::uint64_t seed, std::int64_t i) {
    return half_bits(static_cast<float>(number(input, seed, i, 1, 1)));
  }
  static double value(Bits bits) { return half_value(bits); }
  /// Four products up to `most` are added in half, which has 11 bits. Half a last place is 2^-12 of
  /// the power of two above: of 1 for the first product, of 2, 4 and 4 for the sums of two, three
  /// and four, so together 11 / 4096 of `most`; or each time half of the smallest half, 2^-25.
  /// There are n / 4 such sums, each with its own elements of A. A is as often positive as
  /// negative, so their errors are independent, with a mean of 0: Hoeffding's inequality says that
  /// their sum is above 8 sqrt(n / 4) times the bound of one with a probability of 2 exp(-32), once
  /// in 4 * 10^13 results. For few columns the sum of the bounds is less.
  static course::Tolerance tolerance(course::Input input, std::int64_t cols) {
    if (exact(input, cols)) return {0, 0, true};
    const double most = largest(input, 0x1p12, 0x1p-14) * largest(input, 1, 1);
    const double sums = std::ceil(static_cast<double>(cols) / 4);
    const double of_one = 11 * most / 4096 + 4 * 0x1p-25;
    return {std::min(sums, 8 * std::sqrt(sums)) * of_one + lost_in_float(cols, most), 0, false};
  }
};

struct Byte {
  using Bits = std::uint8_t;
  static constexpr course::Type type = course::Type::u8, result = course::Type::i32;
  static bool by_value(course::Input) { return true; }
  /// Input::random and Input::large: all 256 numbers.
  static Bits in_a(course::Input input, std::uint64_t seed, std::int64_t i) {
    if (input == course::Input::random || input == course::Input::large) {
      return static_cast<std::uint8_t>(course::mix(seed, static_cast<std::uint64_t>(i)) >> 56);
    }
    return static_cast<std::uint8_t>(static_cast<int>(whole(input, seed, i)));
  }
  static Bits in_x(course::Input input, std::uint64_t seed, std::int64_t i) {
    return in_a(input, seed, i);
  }
  static double value(Bits bits) { return static_cast<double>(static_cast<std::int8_t>(bits)); }
  /// Whole numbers: exact.
  static course::Tolerance tolerance(course::Input, std::int64_t) { return {0, 0, true}; }
};

}  // namespace narrow

/// y = A x: A is rows x cols, row major.
template <class Format>
class NarrowProblem : public course::Problem {
 public:
  using Problem::Problem;
  using Bits = typename Format::Bits;
  std::int64_t rows() const { return size()["rows"]; }
  std::int64_t cols() const { return size()["cols"]; }

  std::vector<course::Array> inputs() const override {
    course::Array a{"a", rows() * cols(), Format::type, seed()},
        x{"x", cols(), Format::type, seed() + 1};
    if (Format::by_value(input())) {
      a.values = [n = a.count, input = input(), seed = a.seed](void* host) {
        write<Format::in_a>(static_cast<Bits*>(host), n, input, seed);
      };
      x.values = [n = x.count, input = input(), seed = x.seed](void* host) {
        write<Format::in_x>(static_cast<Bits*>(host), n, input, seed);
      };
    }
    return {a, x};
  }
  std::vector<course::Array> outputs() const override { return {{"y", rows(), Format::result}}; }
  /// A once, and x once.
  double bytes_read() const override {
    return static_cast<double>(sizeof(Bits)) * static_cast<double>(cols()) *
           (static_cast<double>(rows()) + 1);
  }
  double bytes_written() const override { return 4.0 * static_cast<double>(rows()); }
  /// From the numbers that are stored, so already rounded to a half.
  void expected(int, double* y) const override {
    const std::int64_t n = cols();
    std::vector<double> x(static_cast<std::size_t>(n));
    for (std::size_t c = 0; c < x.size(); ++c) {
      x[c] = Format::value(Format::in_x(input(), seed() + 1, static_cast<std::int64_t>(c)));
    }
    course::parallel_for(
        rows(),
        [&, input = input(), seed = seed()](std::int64_t first, std::int64_t last) {
          for (std::int64_t r = first; r < last; ++r) {
            double sum = 0;
            for (std::int64_t c = 0; c < n; ++c) {
              sum += Format::value(Format::in_a(input, seed, r * n + c)) *
                     x[static_cast<std::size_t>(c)];
            }
            y[r] = sum;
          }
        },
        1 + (1 << 16) / (n + 1));
  }
  course::Tolerance tolerance(int) const override { return Format::tolerance(input(), cols()); }

 private:
  template <Bits element(course::Input, std::uint64_t, std::int64_t)>
  static void write(Bits* to, std::int64_t n, course::Input input, std::uint64_t seed) {
    course::parallel_for(n, [=](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) to[i] = element(input, seed, i);
    });
  }
};

using NarrowFloat = NarrowProblem<narrow::Float>;
using NarrowHalf = NarrowProblem<narrow::Half>;
using NarrowByte = NarrowProblem<narrow::Byte>;
