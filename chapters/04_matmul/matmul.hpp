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
  /// How far apart rows begin; and where, after an aligned address, the matrices do.
  virtual std::int64_t lda() const { return depth(); }
  virtual std::int64_t ldb() const { return cols(); }
  virtual std::int64_t ldc() const { return cols(); }
  virtual std::int64_t shift() const { return 0; }

  std::vector<course::Array> inputs() const override {
    return {{"a", floats(rows(), lda()), course::Type::f32, seed()},
            {"b", floats(depth(), ldb()), course::Type::f32, seed() + 1}};
  }
  std::vector<course::Array> outputs() const override {
    return {{"c", floats(rows(), ldc()), course::Type::f32}};
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

  /// Of large products an element in each of 64 x 64 parts, another one in each, and what stands
  /// behind its row, if anything: the whole reference would take longer than all versions. (The
  /// tests compare whole products.)
  std::vector<std::int64_t> sample(int) const override {
    if (flops() < 1e9 || rows() * cols() < (1 << 16)) return {};
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < 64; ++i) {
      for (std::int64_t j = 0; j < 64; ++j) {
        const std::uint64_t bits = course::mix(seed() + 7, static_cast<std::uint64_t>(64 * i + j));
        const std::int64_t row = place(rows(), i, bits & 0xFFFF),
                           col = place(cols(), j, bits >> 48);
        places.push_back(shift() + row * ldc() + col);
        if (ldc() > cols()) places.push_back(shift() + row * ldc() + cols());
      }
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    return places;
  }
  void expected(int, double* out) const override {
    const std::vector<std::int64_t> places = sample(0);
    if (places.empty()) {
      expected_everywhere(out);
      return;
    }
    course::parallel_for(
        static_cast<std::int64_t>(places.size()),
        [&](std::int64_t first, std::int64_t last) {
          for (std::int64_t i = first; i < last; ++i) {
            out[i] = expected_at(places[static_cast<std::size_t>(i)]);
          }
        },
        16);
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
  /// The length of an array; without rows it has no element, whatever `shift` is.
  std::int64_t floats(std::int64_t rows, std::int64_t pitch) const {
    return rows == 0 ? 0 : shift() + rows * pitch;
  }
  /// Element i of an input.
  double element(int array, std::int64_t i) const {
    return static_cast<double>(
        course::value<float>(input(), seed() + static_cast<std::uint64_t>(array), i));
  }
  /// Element i of C before the product; beta = 0 does not ask.
  virtual double before(std::int64_t) const { return 0; }

 private:
  double expected_at(std::int64_t at) const {
    const std::int64_t row = (at - shift()) / ldc(), col = (at - shift()) % ldc();
    if (at < shift() || col >= cols()) return before(at);
    double sum = 0;
    for (std::int64_t j = 0; j < depth(); ++j) {
      sum += element(0, shift() + row * lda() + j) * element(1, shift() + j * ldb() + col);
    }
    return scalar(0) * sum + scalar(1) * before(at);
  }
  void expected_everywhere(double* out) const {
    for (std::int64_t i = 0; i < floats(rows(), ldc()); ++i) out[i] = before(i);
    const std::vector<double> a = all(0), b = all(1);
    course::parallel_for(
        rows(),
        [&](std::int64_t first, std::int64_t last) {
          std::vector<double> sums(static_cast<std::size_t>(cols()));
          for (std::int64_t r = first; r < last; ++r) {
            std::fill(sums.begin(), sums.end(), 0.0);
            for (std::int64_t j = 0; j < depth(); ++j) {
              const double left = a[static_cast<std::size_t>(shift() + r * lda() + j)];
              const double* const right = b.data() + shift() + j * ldb();
              for (std::int64_t c = 0; c < cols(); ++c) {
                sums[static_cast<std::size_t>(c)] += left * right[c];
              }
            }
            double* const row = out + shift() + r * ldc();
            for (std::int64_t c = 0; c < cols(); ++c) {
              row[c] = scalar(0) * sums[static_cast<std::size_t>(c)] + scalar(1) * row[c];
            }
          }
        },
        8);
  }
  /// All elements of an input.
  std::vector<double> all(int array) const {
    std::vector<double> values(
        static_cast<std::size_t>(inputs()[static_cast<std::size_t>(array)].count));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = element(array, static_cast<std::int64_t>(i));
    }
    return values;
  }
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
  std::int64_t lda() const override { return size()["lda"]; }
  std::int64_t ldb() const override { return size()["ldb"]; }
  std::int64_t ldc() const override { return size()["ldc"]; }
  std::int64_t shift() const override { return size()["shift"]; }
  double scalar(int k) const override { return k == 0 ? -0.5 : 2; }

  std::vector<course::Array> inputs() const override {
    std::vector<course::Array> arrays = Product::inputs();
    arrays.push_back({"before", floats(rows(), ldc()), course::Type::f32, seed() + 2});
    return arrays;
  }
  double bytes_read() const override { return Product::bytes_read() + bytes_written(); }
  /// As above, and two more roundings of numbers up to 3 or so.
  course::Tolerance tolerance(int k) const override {
    course::Tolerance tolerance = Product::tolerance(k);
    if (!tolerance.bits) tolerance.absolute += 4.0 * std::numeric_limits<float>::epsilon();
    return tolerance;
  }

 protected:
  double before(std::int64_t i) const override { return element(2, i); }
};
