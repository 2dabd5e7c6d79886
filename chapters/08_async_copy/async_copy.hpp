#pragma once
/// \file
/// The problems of this chapter, in host C++: inputs, reference, least traffic, tolerance. Versions
/// never include it.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdlib>

#include "chapter/input.hpp"
#include "chapter/problem.hpp"

using Filter = cudaError_t(const float* in, float* out, std::int64_t n, cudaStream_t stream);
using FilterWithBlocks = cudaError_t(const float* in, float* out, std::int64_t n, int per_sm,
                                     cudaStream_t stream);
using FilterStaged = cudaError_t(const float* in, float* out, std::int64_t n, int stages,
                                 int per_sm, cudaStream_t stream);
template <class T>
using Halo = cudaError_t(const T* in, T* out, std::int64_t n, int block_size, cudaStream_t stream);
using Work = cudaError_t(const float* in, float* out, std::int64_t n, int stages, int kib, int work,
                         cudaStream_t stream);
using CopyPieces = cudaError_t(const float* in, float* out, std::int64_t n, int bytes,
                               cudaStream_t stream);

/// out[i] = sum of (9 - |k|) in[i + k] for |k| <= 8; in is zero outside. The weights add up to 81.
/// 17 products, exact but for the last of each (a weight has at most four bits, a float 24), and 16
/// additions: at most 33 roundings of a sum of magnitudes. For small integers all sums are exact.
class FilterProblem : public course::Problem {
 public:
  using Problem::Problem;
  std::vector<course::Array> inputs() const override {
    return {{"in", n(), course::Type::f32, seed()}};
  }
  std::vector<course::Array> outputs() const override { return {{"out", n(), course::Type::f32}}; }
  double bytes_read() const override { return 4.0 * static_cast<double>(n()); }
  double bytes_written() const override { return bytes_read(); }
  double flops() const override { return 34.0 * static_cast<double>(n()); }
  void expected(int, double* out) const override {
    course::parallel_for(n(), [=](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        out[i] = 0;
        for (int k = -8; k <= 8; ++k) {
          if (i + k < 0 || i + k >= n()) continue;
          out[i] += (9 - std::abs(k)) * course::value<float>(input(), seed(), i + k);
        }
      }
    });
  }
  course::Tolerance tolerance(int) const override {
    if (input() == course::Input::integers) return {0, 0, true};
    const double largest = input() == course::Input::denormal ? 0x1p-126
                           : input() == course::Input::random ? 1
                           : input() == course::Input::large  ? 0x1p120
                                                              : 0x1p24;
    return {33 * (81 * largest * 0x1p-24 + 0x1p-150), 0, false};
  }
};

/// out[i] = in[i - 1] + 2 in[i] + in[i + 1], floats or doubles; in is zero outside. The product is
/// exact: two roundings, each of a sum of magnitudes of at most 4. For small integers all is exact.
template <class T>
class ThreePoints : public course::Problem {
 public:
  using Problem::Problem;
  static constexpr course::Type type = sizeof(T) == 4 ? course::Type::f32 : course::Type::f64;
  std::vector<course::Array> inputs() const override { return {{"in", n(), type, seed()}}; }
  std::vector<course::Array> outputs() const override { return {{"out", n(), type}}; }
  double bytes_read() const override {
    return static_cast<double>(sizeof(T)) * static_cast<double>(n());
  }
  double bytes_written() const override { return bytes_read(); }
  double flops() const override { return 4.0 * static_cast<double>(n()); }
  void expected(int, double* out) const override {
    course::parallel_for(n(), [=](std::int64_t first, std::int64_t last) {
      const auto in = [=](std::int64_t i) {
        return i < 0 || i >= n() ? T{0} : course::value<T>(input(), seed(), i);
      };
      for (std::int64_t i = first; i < last; ++i) {
        out[i] = static_cast<double>(in(i - 1)) + 2 * static_cast<double>(in(i)) + in(i + 1);
      }
    });
  }
  course::Tolerance tolerance(int) const override {
    if (input() == course::Input::integers) return {0, 0, true};
    const double largest = input() == course::Input::denormal ? 0x1p-126
                           : input() == course::Input::random ? 1
                           : input() == course::Input::large  ? 0x1p120
                                                              : 0x1p24;
    const double rounding = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;
    return {2 * (4 * largest * rounding + (sizeof(T) == 4 ? 0x1p-150 : 0)), 0, false};
  }
};

/// out = in, n floats, after an even number size["work"] of steps x = 0 - x.
class WorkedCopy : public course::Problem {
 public:
  using Problem::Problem;
  std::vector<course::Array> inputs() const override {
    return {{"in", n(), course::Type::f32, seed()}};
  }
  std::vector<course::Array> outputs() const override { return {{"out", n(), course::Type::f32}}; }
  double bytes_read() const override { return 4.0 * static_cast<double>(n()); }
  double bytes_written() const override { return bytes_read(); }
  double flops() const override {
    return 2.0 * static_cast<double>(size()["work"]) * static_cast<double>(n());
  }
  void expected(int, double* out) const override {
    course::parallel_for(n(), [=](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) out[i] = course::value<float>(input(), seed(), i);
    });
  }
  course::Tolerance tolerance(int) const override { return {0, 0, false}; }
};

/// out = in, n floats; the input begins size["offset"] bytes after a multiple of 256.
class OffsetCopy : public course::Problem {
 public:
  using Problem::Problem;
  std::vector<course::Array> inputs() const override {
    return {{"in", n(), course::Type::f32, seed(), size()["offset"]}};
  }
  std::vector<course::Array> outputs() const override { return {{"out", n(), course::Type::f32}}; }
  double bytes_read() const override { return 4.0 * static_cast<double>(n()); }
  double bytes_written() const override { return bytes_read(); }
  void expected(int, double* out) const override {
    course::parallel_for(n(), [=](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) out[i] = course::value<float>(input(), seed(), i);
    });
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }
};
