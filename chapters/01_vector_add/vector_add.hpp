#pragma once
/// \file
/// The problems of this chapter, in host C++: inputs, reference, least traffic, tolerance. Versions
/// never include it.

#include <cuda_runtime.h>

#include "chapter/input.hpp"
#include "chapter/problem.hpp"

using Add = cudaError_t(const float* a, const float* b, float* c, std::int64_t n,
                        cudaStream_t stream);
using AddInFlight = cudaError_t(const float* a, const float* b, float* c, std::int64_t n, int kib,
                                cudaStream_t stream);
using Copy = cudaError_t(const float* in, float* out, std::int64_t n, std::int64_t step,
                         cudaStream_t stream);
using MakeGrey = cudaError_t(const float* in, float* out, std::int64_t n, cudaStream_t stream);
using AddLoads = cudaError_t(const float* x, const float* y, const float* z, float* out,
                             std::int64_t n, int loads, cudaStream_t stream);

/// c = a + b, n floats. A sum of two floats is rounded once, so the error is at most half a unit in
/// the last place: 2^-24 of the result, or half the smallest denormal.
class VectorAdd : public course::Problem {
 public:
  using Problem::Problem;
  std::vector<course::Array> inputs() const override {
    return {{"a", n(), course::Type::f32, seed()}, {"b", n(), course::Type::f32, seed() + 1}};
  }
  std::vector<course::Array> outputs() const override { return {{"c", n(), course::Type::f32}}; }
  double bytes_read() const override { return 8.0 * static_cast<double>(n()); }
  double bytes_written() const override { return 4.0 * static_cast<double>(n()); }
  double flops() const override { return static_cast<double>(n()); }
  void expected(int, double* c) const override {
    course::parallel_for(n(), [=](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) c[i] = element(0, i) + element(1, i);
    });
  }
  course::Tolerance tolerance(int) const override {
    if (input() == course::Input::integers) return {0, 0, true};
    return {0x1p-150, 0x1p-24, false};
  }

 protected:
  /// Element i of input k, as a double.
  double element(std::uint64_t k, std::int64_t i) const {
    return course::value<float>(input(), seed() + k, i);
  }
};

/// out[i] = in[i * stride]: n floats out of n * stride.
class StridedCopy : public course::Problem {
 public:
  using Problem::Problem;
  std::int64_t stride() const { return size()["stride"]; }
  std::vector<course::Array> inputs() const override {
    return {{"in", n() * stride(), course::Type::f32, seed()}};
  }
  std::vector<course::Array> outputs() const override { return {{"out", n(), course::Type::f32}}; }
  double bytes_read() const override { return 4.0 * static_cast<double>(n()); }
  double bytes_written() const override { return bytes_read(); }
  void expected(int, double* out) const override {
    for (std::int64_t i = 0; i < n(); ++i)
      out[i] = course::value<float>(input(), seed(), i * stride());
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }
};

/// out[i] = in[i + offset]: n floats out of n + 32, whatever the offset, so that all offsets find
/// the output at the same place.
class ShiftedCopy : public course::Problem {
 public:
  using Problem::Problem;
  std::int64_t offset() const { return size()["offset"]; }
  std::vector<course::Array> inputs() const override {
    return {{"in", n() + 32, course::Type::f32, seed()}};
  }
  std::vector<course::Array> outputs() const override { return {{"out", n(), course::Type::f32}}; }
  double bytes_read() const override { return 4.0 * static_cast<double>(n()); }
  double bytes_written() const override { return bytes_read(); }
  void expected(int, double* out) const override {
    for (std::int64_t i = 0; i < n(); ++i)
      out[i] = course::value<float>(input(), seed(), i + offset());
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }
};

/// Grey values of n pixels of eight fields, of which three are needed: 1/4 red + 1/2 green + 1/4
/// blue. The two layouts hold the same kind of numbers in another order. Three roundings of sums
/// whose terms add up to 1 at most.
class Grey : public course::Problem {
 public:
  Grey(course::Size size, std::uint64_t seed, course::Input input, bool structures)
      : Problem(std::move(size), seed, input), structures_(structures) {}
  std::vector<course::Array> inputs() const override {
    return {{"pixels", 8 * n(), course::Type::f32, seed()}};
  }
  std::vector<course::Array> outputs() const override { return {{"grey", n(), course::Type::f32}}; }
  double bytes_read() const override { return 12.0 * static_cast<double>(n()); }
  double bytes_written() const override { return 4.0 * static_cast<double>(n()); }
  double flops() const override { return 5.0 * static_cast<double>(n()); }
  void expected(int, double* grey) const override {
    for (std::int64_t i = 0; i < n(); ++i)
      grey[i] = 0.25 * field(0, i) + 0.5 * field(1, i) + 0.25 * field(2, i);
  }
  course::Tolerance tolerance(int) const override {
    const double largest = input() == course::Input::large    ? 0x1p120
                           : input() == course::Input::random ? 1
                                                              : 0x1p24;
    return {3 * 0x1p-24 * largest, 0, false};
  }

 private:
  double field(std::int64_t f, std::int64_t i) const {
    return course::value<float>(input(), seed(), structures_ ? 8 * i + f : f * n() + i);
  }
  bool structures_;
};

/// The sum of the first size["loads"] of three arrays.
class SumOfLoads : public course::Problem {
 public:
  using Problem::Problem;
  int loads() const { return static_cast<int>(size()["loads"]); }
  std::vector<course::Array> inputs() const override {
    const course::Type f32 = course::Type::f32;
    return {{"x", n(), f32, seed()},
            {"y", loads() > 1 ? n() : 0, f32, seed() + 1},
            {"z", loads() > 2 ? n() : 0, f32, seed() + 2}};
  }
  std::vector<course::Array> outputs() const override { return {{"out", n(), course::Type::f32}}; }
  double bytes_read() const override { return 4.0 * loads() * static_cast<double>(n()); }
  double bytes_written() const override { return 4.0 * static_cast<double>(n()); }
  double flops() const override { return (loads() - 1.0) * static_cast<double>(n()); }
  void expected(int, double* out) const override {
    course::parallel_for(n(), [=](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        out[i] = 0;
        for (int k = 0; k < loads(); ++k) {
          out[i] += course::value<float>(input(), seed() + static_cast<std::uint64_t>(k), i);
        }
      }
    });
  }
  /// Two roundings; the partial sum may be larger than the result, so the bound is in terms of the
  /// inputs.
  course::Tolerance tolerance(int) const override {
    const double largest = input() == course::Input::large    ? 0x1p120
                           : input() == course::Input::random ? 1
                                                              : 0x1p24;
    return {loads() < 2 ? 0 : 2 * loads() * 0x1p-24 * largest, 0, false};
  }
};
