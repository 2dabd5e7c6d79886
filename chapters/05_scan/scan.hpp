#pragma once
/// \file
/// The problems of this chapter, in host C++: inputs, reference, least traffic, tolerance. Versions
/// never include it.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <type_traits>
#include <vector>

#include "chapter/input.hpp"
#include "chapter/problem.hpp"

/// The launcher of every scan.
template <class T>
using Launcher = cudaError_t(void* workspace, std::size_t& workspace_bytes, const T* in, T* out,
                             std::int64_t n, cudaStream_t stream);
using PackLauncher = cudaError_t(void* workspace, std::size_t& workspace_bytes, const float* in,
                                 float* out, std::int64_t* kept, std::int64_t n,
                                 cudaStream_t stream);
using UnpackLauncher = cudaError_t(void* workspace, std::size_t& workspace_bytes, const float* in,
                                   const float* packed, float* out, std::int64_t n,
                                   cudaStream_t stream);

namespace scan_chapter {

template <class T>
constexpr course::Type type_of = std::is_same<T, float>::value      ? course::Type::f32
                                 : std::is_same<T, unsigned>::value ? course::Type::u32
                                                                    : course::Type::i64;

/// What sums of T are added up in: double for float; integers wrap as on the GPU.
template <class T>
using Sum = std::conditional_t<
    std::is_same<T, float>::value, double,
    std::conditional_t<std::is_same<T, unsigned>::value, std::uint32_t, std::int64_t>>;

constexpr int most_parts = 64;
/// How many elements of n a part has.
inline std::int64_t part_of(std::int64_t n) {
  return std::max<std::int64_t>((n + most_parts - 1) / most_parts, 1 << 12);
}

/// Calls body(i, before) for every i of [0, n), where before = first op element(0) op ... op
/// element(i - 1). On all threads of the host: first the parts' totals, then each part again, in
/// order.
template <class Total, class Element, class Op, class Body>
void for_each_prefix(std::int64_t n, Total first, Element element, Op op, Body body) {
  const std::int64_t part = part_of(n);
  const std::int64_t parts = (n + part - 1) / part;
  std::vector<Total> total(static_cast<std::size_t>(parts));
  const auto of_parts = [&](auto of_part) {
    const auto some_parts = [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t p = from; p < to; ++p)
        of_part(static_cast<std::size_t>(p), p * part, std::min(n, (p + 1) * part));
    };
    course::parallel_for(parts, some_parts, 1);
  };
  of_parts([&](std::size_t p, std::int64_t from, std::int64_t to) {
    Total sum = element(from);
    for (std::int64_t i = from + 1; i < to; ++i) sum = op(sum, element(i));
    total[p] = sum;
  });
  std::vector<Total> before(total.size());
  Total sum = first;
  for (std::size_t p = 0; p < total.size(); ++p) {
    before[p] = sum;
    sum = op(sum, total[p]);
  }
  of_parts([&](std::size_t p, std::int64_t from, std::int64_t to) {
    Total upto = before[p];
    for (std::int64_t i = from; i < to; ++i) {
      body(i, upto);
      upto = op(upto, element(i));
    }
  });
}

}  // namespace scan_chapter

/// out[i] = in[0] + ... + in[i], or without the last term if exclusive; of float, unsigned modulo
/// 2^32, or std::int64_t.
template <class T, bool exclusive>
class Scan : public course::Problem {
 public:
  using Problem::Problem;
  std::vector<course::Array> inputs() const override {
    return {{"in", n(), scan_chapter::type_of<T>, seed()}};
  }
  std::vector<course::Array> outputs() const override {
    return {{"out", n(), scan_chapter::type_of<T>}};
  }
  double bytes_read() const override { return sizeof(T) * static_cast<double>(n()); }
  double bytes_written() const override { return bytes_read(); }
  double flops() const override { return static_cast<double>(std::max<std::int64_t>(n() - 1, 0)); }

  void expected(int, double* out) const override {
    for_each([this, out](std::int64_t i, scan_chapter::Sum<T> before) {
      out[i] = static_cast<double>(
          exclusive ? before
                    : static_cast<scan_chapter::Sum<T>>(before + scan_chapter::Sum<T>(element(i))));
    });
  }

  /// Each addition of floats rounds by at most 2^-24 of its result. The result is the sum of some
  /// range of the input, no larger than the distance between the largest and the smallest prefix;
  /// or, where lanes add elements or tiles that do not lie side by side, the sum of some elements
  /// of at most 32 tiles: of these families of inputs not larger either. Small integers are exact:
  /// all sums stay below 2^24. Sums of 64-bit integers must be equal once both are rounded to the
  /// 53 bits of a double, as they are here.
  course::Tolerance tolerance(int) const override {
    if (std::is_same<T, unsigned>::value) return {0, 0, true};
    if (input() == course::Input::integers) return {0, 0, true};
    if (!std::is_same<T, float>::value) return {0, 0, false};
    struct alignas(64) Range {  // a cache line each: threads write to them at the same time
      double low = 0, high = 0;
    };
    Range parts[scan_chapter::most_parts], all;
    const std::int64_t of_a_part = scan_chapter::part_of(n());
    for_each([&](std::int64_t i, scan_chapter::Sum<T> before) {
      Range& part = parts[i / of_a_part];
      const auto prefix = static_cast<double>(before) + (exclusive ? 0.0 : double(element(i)));
      part.low = std::min(part.low, prefix), part.high = std::max(part.high, prefix);
    });
    for (const Range& part : parts)
      all.low = std::min(all.low, part.low), all.high = std::max(all.high, part.high);
    return {depth() * 0x1p-24 * (all.high - all.low), 0, false};
  }

 protected:
  /// The longest chain of additions in any version: within a tile, and from tile to tile.
  virtual double depth() const { return 160 + static_cast<double>(n()) / (1 << 12); }

 private:
  T element(std::int64_t i) const { return course::value<T>(input(), seed(), i); }
  template <class Body>
  void for_each(Body body) const {
    using Total = scan_chapter::Sum<T>;
    scan_chapter::for_each_prefix<Total>(
        n(), Total{0}, [this](std::int64_t i) { return static_cast<Total>(element(i)); },
        [](Total a, Total b) { return static_cast<Total>(a + b); }, body);
  }
};

/// As version 01 computes it: one addition after the other.
template <class T, bool exclusive>
class OneByOne : public Scan<T, exclusive> {
 public:
  using Scan<T, exclusive>::Scan;

 protected:
  double depth() const override { return static_cast<double>(this->n()); }
};

/// The largest number of in[0] ... in[i], NaN as long as there is none; 0.0 is larger than -0.0.
class ScanOfMax : public course::Problem {
 public:
  using Problem::Problem;
  std::vector<course::Array> inputs() const override {
    return {{"in", n(), course::Type::f32, seed()}};
  }
  std::vector<course::Array> outputs() const override { return {{"out", n(), course::Type::f32}}; }
  double bytes_read() const override { return 4.0 * static_cast<double>(n()); }
  double bytes_written() const override { return bytes_read(); }
  void expected(int, double* out) const override {
    const auto element = [this](std::int64_t i) {
      return static_cast<double>(course::value<float>(input(), seed(), i));
    };
    const auto larger = [](double a, double b) {
      return a == b ? (std::signbit(a) ? b : a) : std::fmax(a, b);
    };
    scan_chapter::for_each_prefix<double>(
        n(), NAN, element, larger,
        [&](std::int64_t i, double before) { out[i] = larger(before, element(i)); });
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }
};

/// Maps x -> a x + b modulo 2^16, held as a << 16 | b, one after the other: order matters, exact.
template <bool exclusive>
class ScanOfMaps : public course::Problem {
 public:
  using Problem::Problem;
  std::vector<course::Array> inputs() const override {
    return {{"in", n(), course::Type::u32, seed()}};
  }
  std::vector<course::Array> outputs() const override { return {{"out", n(), course::Type::u32}}; }
  double bytes_read() const override { return 4.0 * static_cast<double>(n()); }
  double bytes_written() const override { return bytes_read(); }
  void expected(int, double* out) const override {
    const auto element = [this](std::int64_t i) {
      return course::value<unsigned>(input(), seed(), i);
    };
    const auto then = [](std::uint32_t f, std::uint32_t g) {
      const std::uint32_t a = (f >> 16) * (g >> 16), b = (g >> 16) * (f & 0xffffu) + (g & 0xffffu);
      return a << 16 | (b & 0xffffu);
    };
    const std::uint32_t unchanged = 1u << 16;
    scan_chapter::for_each_prefix<std::uint32_t>(
        n(), unchanged, element, then, [&](std::int64_t i, std::uint32_t before) {
          out[i] = static_cast<double>(exclusive ? before : then(before, element(i)));
        });
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }
};

/// out = the elements above 0, in their order; kept = their number.
class Pack : public course::Problem {
 public:
  using Problem::Problem;
  std::vector<course::Array> inputs() const override {
    return {{"in", n(), course::Type::f32, seed()}};
  }
  std::vector<course::Array> outputs() const override {
    return {{"out", kept(), course::Type::f32}, {"kept", 1, course::Type::i64}};
  }
  double bytes_read() const override { return 4.0 * static_cast<double>(n()); }
  double bytes_written() const override { return 4.0 * static_cast<double>(kept()) + 8; }
  Work work() const override { return {static_cast<double>(n()), 1e9, "Gelem/s"}; }
  void expected(int output, double* out) const override {
    if (output == 1) {
      out[0] = static_cast<double>(kept());
      return;
    }
    scan_chapter::for_each_prefix<std::int64_t>(
        n(), 0, [this](std::int64_t i) { return std::int64_t{element(i) > 0}; }, std::plus<>(),
        [&](std::int64_t i, std::int64_t before) {
          if (element(i) > 0) out[before] = static_cast<double>(element(i));
        });
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }

 protected:
  /// How many elements are kept: counted once, when somebody asks.
  std::int64_t kept() const {
    if (kept_ < 0) {
      kept_ = course::total_of<std::int64_t>(n(), [this](std::int64_t from, std::int64_t to) {
        std::int64_t kept = 0;
        for (std::int64_t i = from; i < to; ++i) kept += element(i) > 0;
        return kept;
      });
    }
    return kept_;
  }
  float element(std::int64_t i) const { return course::value<float>(input(), seed(), i); }

 private:
  mutable std::int64_t kept_ = -1;
};

/// The inverse of Pack: out[i] = the next element of packed where in[i] is above 0, elsewhere 0.
class Unpack : public Pack {
 public:
  using Pack::Pack;
  std::vector<course::Array> inputs() const override {
    return {{"in", n(), course::Type::f32, seed()},
            {"packed", kept(), course::Type::f32, seed() + 1}};
  }
  std::vector<course::Array> outputs() const override { return {{"out", n(), course::Type::f32}}; }
  double bytes_read() const override { return 4.0 * static_cast<double>(n() + kept()); }
  double bytes_written() const override { return 4.0 * static_cast<double>(n()); }
  void expected(int, double* out) const override {
    scan_chapter::for_each_prefix<std::int64_t>(
        n(), 0, [this](std::int64_t i) { return std::int64_t{element(i) > 0}; }, std::plus<>(),
        [&](std::int64_t i, std::int64_t before) {
          const bool filled = element(i) > 0;
          out[i] =
              filled ? static_cast<double>(course::value<float>(input(), seed() + 1, before)) : 0.0;
        });
  }
};

/// The even numbers first, then the odd ones, both in their order: a pass of a radix sort for one
/// bit.
class Split : public course::Problem {
 public:
  using Problem::Problem;
  std::vector<course::Array> inputs() const override {
    return {{"in", n(), course::Type::u32, seed()}};
  }
  std::vector<course::Array> outputs() const override { return {{"out", n(), course::Type::u32}}; }
  double bytes_read() const override { return 4.0 * static_cast<double>(n()); }
  double bytes_written() const override { return bytes_read(); }
  Work work() const override { return {static_cast<double>(n()), 1e9, "Gelem/s"}; }
  void expected(int, double* out) const override {
    const auto even = [this](std::int64_t i) { return std::int64_t{element(i) % 2 == 0}; };
    const auto zeros = course::total_of<std::int64_t>(n(), [&](std::int64_t from, std::int64_t to) {
      std::int64_t count = 0;
      for (std::int64_t i = from; i < to; ++i) count += even(i);
      return count;
    });
    scan_chapter::for_each_prefix<std::int64_t>(
        n(), 0, even, std::plus<>(), [&](std::int64_t i, std::int64_t before) {
          out[even(i) ? before : zeros + i - before] = static_cast<double>(element(i));
        });
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }

 private:
  unsigned element(std::int64_t i) const { return course::value<unsigned>(input(), seed(), i); }
};
