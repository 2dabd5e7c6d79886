#pragma once
/// \file
/// The problem of this chapter, in host C++: inputs, reference, least traffic, tolerance. Versions
/// never include it.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "chapter/input.hpp"
#include "chapter/problem.hpp"

/// The launcher of every version: C = alpha A B + beta C, row major, with three leading dimensions.
using Multiply = cudaError_t(const float* a, const float* b, float* c, std::int64_t m,
                             std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                             std::int64_t ldc, float alpha, float beta, cudaStream_t stream);

/// C = A B: rows x depth by depth x cols floats.
class Product : public course::Problem {
 public:
  using Problem::Problem;
  std::int64_t rows() const { return size()["rows"]; }
  std::int64_t cols() const { return size()["cols"]; }
  std::int64_t depth() const { return size()["depth"]; }

  std::vector<course::Array> inputs() const override {
    return {{"a", rows() * depth(), course::Type::f32, seed()},
            {"b", depth() * cols(), course::Type::f32, seed() + 1}};
  }
  std::vector<course::Array> outputs() const override {
    return {{"c", rows() * cols(), course::Type::f32}};
  }
  /// alpha and beta.
  double scalar(int k) const override { return k == 0 ? 1 : 0; }
  double bytes_read() const override {
    return 4 * static_cast<double>(depth()) *
           (static_cast<double>(rows()) + static_cast<double>(cols()));
  }
  double bytes_written() const override {
    return 4 * static_cast<double>(rows()) * static_cast<double>(cols());
  }
  /// A multiplication and an addition for each triple of indices.
  double flops() const override {
    return 2 * static_cast<double>(rows()) * static_cast<double>(cols()) *
           static_cast<double>(depth());
  }
  Work work() const override { return {flops(), 1e12, "TFLOP/s"}; }

  /// Of large products an element in each of 64 x 64 parts, another one in each: the whole
  /// reference would take longer than all versions. (The tests compare whole products.)
  std::vector<std::int64_t> sample(int) const override {
    if (flops() < 1e9 || rows() * cols() < (1 << 16)) return {};
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < 64; ++i) {
      for (std::int64_t j = 0; j < 64; ++j) {
        const std::uint64_t bits = course::mix(seed() + 7, static_cast<std::uint64_t>(64 * i + j));
        const std::int64_t row = place(rows(), i, bits & 0xFFFF),
                           col = place(cols(), j, bits >> 48);
        places.push_back(row * cols() + col);
      }
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    return places;
  }
  void expected(int, double* out) const override {
    const std::vector<std::int64_t> places = sample(0);
    const std::int64_t count =
        places.empty() ? rows() * cols() : static_cast<std::int64_t>(places.size());
    if (!places.empty()) {
      course::parallel_for(
          count,
          [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t i = first; i < last; ++i) {
              const std::int64_t at = places[static_cast<std::size_t>(i)];
              out[i] = 0;
              for (std::int64_t j = 0; j < depth(); ++j) {
                out[i] +=
                    element(0, at / cols() * depth() + j) * element(1, j * cols() + at % cols());
              }
            }
          },
          16);
      return;
    }
    std::vector<double> a = all(0, rows() * depth()), b = all(1, depth() * cols());
    course::parallel_for(
        rows(),
        [&](std::int64_t first, std::int64_t last) {
          for (std::int64_t r = first; r < last; ++r) {
            double* const row = out + r * cols();
            std::fill(row, row + cols(), 0.0);
            for (std::int64_t j = 0; j < depth(); ++j) {
              const double left = a[static_cast<std::size_t>(r * depth() + j)];
              const double* const right = b.data() + j * cols();
              for (std::int64_t c = 0; c < cols(); ++c) row[c] += left * right[c];
            }
          }
        },
        8);
  }
  /// A sum of `depth` products of numbers up to 1, added in any order, rounded each time. A
  /// partial sum of products of one sign is at most the result: depth half units in the last place
  /// of it. Random signs: partial sums stay far below depth, and their errors have random signs,
  /// too; depth units in the last place of 1 are several times what comes together. Sums of small
  /// whole numbers are exact.
  course::Tolerance tolerance(int) const override {
    if (input() == course::Input::integers && depth() < (1 << 18)) return {0, 0, true};
    const double each = std::numeric_limits<float>::epsilon() * static_cast<double>(depth());
    const double unit = input() == course::Input::denormal ? 0x1p-149 : 1.0;
    return {each * unit, each / 2, false};
  }

 protected:
  /// Element i of an input.
  double element(int array, std::int64_t i) const {
    return static_cast<double>(
        course::value<float>(input(), seed() + static_cast<std::uint64_t>(array), i));
  }
  std::vector<double> all(int array, std::int64_t count) const {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i)
      values[static_cast<std::size_t>(i)] = element(array, i);
    return values;
  }

 private:
  /// A place in the i-th of 64 parts of [0, n).
  static std::int64_t place(std::int64_t n, std::int64_t i, std::uint64_t bits) {
    const std::int64_t from = n * i / 64, to = n * (i + 1) / 64;
    return to <= from ? from : from + static_cast<std::int64_t>(bits) % (to - from);
  }
};

/// C = alpha A B + beta C in windows of larger matrices: rows begin every lda, ldb and ldc
/// elements, and all three arrays `shift` elements after an aligned address. `before` is what C
/// holds first. What lies outside of the window must stay as it was.
class Window : public Product {
 public:
  using Product::Product;
  std::int64_t lda() const { return size()["lda"]; }
  std::int64_t ldb() const { return size()["ldb"]; }
  std::int64_t ldc() const { return size()["ldc"]; }
  std::int64_t shift() const { return size()["shift"]; }
  double scalar(int k) const override { return k == 0 ? -0.5 : 2; }

  std::vector<course::Array> inputs() const override {
    return {{"a", floats(rows(), lda()), course::Type::f32, seed()},
            {"b", floats(depth(), ldb()), course::Type::f32, seed() + 1},
            {"before", floats(rows(), ldc()), course::Type::f32, seed() + 2}};
  }
  std::vector<course::Array> outputs() const override {
    return {{"c", floats(rows(), ldc()), course::Type::f32}};
  }
  double bytes_read() const override { return Product::bytes_read() + bytes_written(); }
  std::vector<std::int64_t> sample(int) const override { return {}; }
  void expected(int, double* out) const override {
    for (std::int64_t i = 0; i < floats(rows(), ldc()); ++i) out[i] = element(2, i);
    for (std::int64_t r = 0; r < rows(); ++r) {
      for (std::int64_t c = 0; c < cols(); ++c) {
        double sum = 0;
        for (std::int64_t j = 0; j < depth(); ++j) {
          sum += element(0, shift() + r * lda() + j) * element(1, shift() + j * ldb() + c);
        }
        double& place = out[shift() + r * ldc() + c];
        place = scalar(0) * sum + scalar(1) * place;
      }
    }
  }
  /// As above, and two more roundings of numbers up to 3 or so.
  course::Tolerance tolerance(int k) const override {
    course::Tolerance tolerance = Product::tolerance(k);
    if (!tolerance.bits) tolerance.absolute += 4.0 * std::numeric_limits<float>::epsilon();
    return tolerance;
  }

 private:
  /// The length of an array; without rows it has no element, whatever `shift` is.
  std::int64_t floats(std::int64_t rows, std::int64_t pitch) const {
    return rows == 0 ? 0 : shift() + rows * pitch;
  }
};
