#pragma once
/// \file
/// The problem of this chapter, in host C++: inputs, reference, least traffic, tolerance. Versions
/// never include it.

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "chapter/input.hpp"
#include "chapter/problem.hpp"
#include "operands.hpp"

/// The launcher of every version.
template <class T>
using Multiply = cudaError_t(const operands::Product<T>& of, cudaStream_t stream);

/// C = alpha A B^T + beta C: A is rows x depth, B cols x depth, C rows x cols, of T: __nv_bfloat16,
/// or float. Rows begin at multiples of 16 bytes; with a dimension "gap", so many times 16 bytes
/// lie between them. Then alpha is -0.5, beta 2, and C first holds what `before` is: a product in
/// windows of larger matrices, outside of which nothing may change.
template <class T>
class Multiplied : public course::Problem {
 public:
  using Problem::Problem;
  static constexpr bool is_float = std::is_same_v<T, float>;
  using Host = std::conditional_t<is_float, float, course::bf16>;
  static constexpr course::Type type = is_float ? course::Type::f32 : course::Type::bf16;
  static constexpr std::int64_t group = 16 / sizeof(T);

  std::int64_t rows() const { return size()["rows"]; }
  std::int64_t cols() const { return size()["cols"]; }
  std::int64_t depth() const { return size()["depth"]; }
  bool in_windows() const { return size().dimensions.size() > 3; }
  std::int64_t pitch_of(std::int64_t columns) const {
    const std::int64_t gap = in_windows() ? size()["gap"] : 0;
    return ((columns + group - 1) / group + gap) * group;
  }
  std::int64_t lda() const { return pitch_of(depth()); }
  std::int64_t ldc() const { return pitch_of(cols()); }

  std::vector<course::Array> inputs() const override {
    std::vector<course::Array> arrays = {{"a", rows() * lda(), type, seed()},
                                         {"b", cols() * lda(), type, seed() + 1}};
    if (in_windows()) arrays.push_back({"before", rows() * ldc(), type, seed() + 2});
    for (course::Array& array : arrays) array.normal = true;
    return arrays;
  }
  std::vector<course::Array> outputs() const override { return {{"c", rows() * ldc(), type}}; }
  /// alpha and beta.
  double scalar(int k) const override {
    return k == 0 ? (in_windows() ? -0.5 : 1) : in_windows() ? 2 : 0;
  }
  double bytes_read() const override {
    const double c = in_windows() ? bytes_written() : 0;
    return static_cast<double>(sizeof(T)) * static_cast<double>(depth()) *
               (static_cast<double>(rows()) + static_cast<double>(cols())) +
           c;
  }
  double bytes_written() const override {
    return static_cast<double>(sizeof(T)) * static_cast<double>(rows()) *
           static_cast<double>(cols());
  }
  /// A multiplication and an addition for each triple of indices.
  double flops() const override {
    return 2 * static_cast<double>(rows()) * static_cast<double>(cols()) *
           static_cast<double>(depth());
  }
  Work work() const override { return {flops(), 1e12, "TFLOP/s"}; }

  /// Of large products an element in each of 64 x 64 parts, another one in each: the whole
  /// reference would take longer than all versions. Of others all elements; without a window, not
  /// what stands behind a row.
  std::vector<std::int64_t> sample(int) const override {
    std::vector<std::int64_t> places;
    const bool large = flops() >= 1e9 && rows() * cols() >= 1 << 16;
    if (!large && (in_windows() || ldc() == cols())) return {};
    const std::int64_t down = large ? 64 : rows(), across = large ? 64 : cols();
    for (std::int64_t i = 0; i < down; ++i) {
      for (std::int64_t j = 0; j < across; ++j) {
        const std::uint64_t bits =
            large ? course::mix(seed() + 7, static_cast<std::uint64_t>(64 * i + j)) : 0;
        places.push_back(place(rows(), i, down, bits & 0xFFFF) * ldc() +
                         place(cols(), j, across, bits >> 48));
      }
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    return places;
  }
  void expected(int, double* out) const override {
    std::vector<std::int64_t> places = sample(0);
    if (places.empty()) {
      places.resize(static_cast<std::size_t>(rows() * ldc()));
      for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::int64_t>(i);
    }
    course::parallel_for(
        static_cast<std::int64_t>(places.size()),
        [&](std::int64_t first, std::int64_t last) {
          for (std::int64_t i = first; i < last; ++i) {
            out[i] = expected_at(places[static_cast<std::size_t>(i)]);
          }
        },
        64);
  }
  /// Sums of small whole numbers are exact. Otherwise: the result is rounded to a bf16 (half a unit
  /// in the 8th bit), or products are of floats of which 13 bits are dropped (relative errors up to
  /// 2^-9 of each product, of one sign: the result is as much nearer to zero, and what is left has
  /// random signs). Sums are rounded, or cut off, at 24 bits in any order: `depth` times a unit of
  /// what partial sums come to, which is about sqrt(depth); 8 of these, since there are many
  /// elements.
  course::Tolerance tolerance(int) const override {
    if (input() == course::Input::integers) return {0, 0, true};
    const double root = std::sqrt(static_cast<double>(depth()) + 1);
    const double sums = static_cast<double>(depth() + 8) * 0x1p-23;
    const double dropped = is_float ? 8 * 0x1p-11 : 0;
    return {root * (dropped + sums) + 0x1p-8, is_float ? 0x1p-9 : 0x1p-8, false};
  }

 private:
  double element(std::uint64_t array, std::int64_t i) const {
    return static_cast<double>(
        static_cast<float>(course::normal_value<Host>(input(), seed() + array, i)));
  }
  double expected_at(std::int64_t at) const {
    const std::int64_t row = at / ldc(), col = at % ldc();
    const double before = in_windows() ? element(2, at) : 0;
    if (col >= cols()) return before;
    double sum = 0;
    for (std::int64_t j = 0; j < depth(); ++j) {
      sum += element(0, row * lda() + j) * element(1, col * lda() + j);
    }
    const double exact = scalar(0) * sum + scalar(1) * before;
    if (input() != course::Input::integers) return exact;
    return static_cast<double>(static_cast<float>(Host(static_cast<float>(exact))));  // as a bf16
  }
  /// A place in the i-th of `parts` parts of [0, n).
  static std::int64_t place(std::int64_t n, std::int64_t i, std::int64_t parts,
                            std::uint64_t bits) {
    const std::int64_t from = n * i / parts, to = n * (i + 1) / parts;
    return to <= from ? from : from + static_cast<std::int64_t>(bits) % (to - from);
  }
};

/// The same for cuBLAS, which may share k among blocks and add up their parts as bf16. So each part
/// is rounded, too; together they err by several units in the 8th bit of what sums come to, about
/// sqrt(depth) products.
template <class T>
class RoundedParts : public Multiplied<T> {
 public:
  using Multiplied<T>::Multiplied;
  course::Tolerance tolerance(int k) const override {
    course::Tolerance tolerance = Multiplied<T>::tolerance(k);
    if (Multiplied<T>::is_float) return tolerance;
    const double each = this->input() == course::Input::integers ? 20 : 1;  // a product, about
    tolerance.absolute += each * std::sqrt(static_cast<double>(this->depth()) + 1) * 0x1p-6;
    tolerance.relative = 0x1p-7;
    tolerance.bits = false;
    return tolerance;
  }
};
