#pragma once
/// \file
/// The problem of this chapter, in host C++: inputs, reference, least traffic. Versions never
/// include it.

#include <cuda_runtime.h>

#include <cmath>

#include "chapter/input.hpp"
#include "chapter/problem.hpp"

/// The launcher of every version but 10.
using TransposeFloats = cudaError_t(const float* in, float* out, std::int64_t rows,
                                    std::int64_t cols, cudaStream_t stream);
/// The launcher of version 10.
template <class T>
using TransposePitched = cudaError_t(const T* in, std::int64_t in_pitch, T* out,
                                     std::int64_t out_pitch, std::int64_t rows, std::int64_t cols,
                                     cudaStream_t stream);

namespace transposition {

template <class T>
struct TypeOf;
template <>
struct TypeOf<std::uint8_t> {
  static constexpr course::Type value = course::Type::u8;
};
template <>
struct TypeOf<std::uint16_t> {
  static constexpr course::Type value = course::Type::u16;
};
template <>
struct TypeOf<std::uint32_t> {
  static constexpr course::Type value = course::Type::u32;
};
template <>
struct TypeOf<float> {
  static constexpr course::Type value = course::Type::f32;
};
template <>
struct TypeOf<double> {
  static constexpr course::Type value = course::Type::f64;
};

}  // namespace transposition

/// out[c][r] = in[r][c]: rows x cols elements of T into cols x rows.
template <class T>
class Transpose : public course::Problem {
 public:
  using Problem::Problem;
  std::int64_t rows() const { return size()["rows"]; }
  std::int64_t cols() const { return size()["cols"]; }
  std::vector<course::Array> inputs() const override {
    return {{"in", rows() * cols(), transposition::TypeOf<T>::value, seed()}};
  }
  std::vector<course::Array> outputs() const override {
    return {{"out", rows() * cols(), transposition::TypeOf<T>::value}};
  }
  double bytes_read() const override {
    return static_cast<double>(sizeof(T)) * static_cast<double>(rows()) *
           static_cast<double>(cols());
  }
  double bytes_written() const override { return bytes_read(); }
  void expected(int, double* out) const override {
    course::parallel_for(rows() * cols(), [=](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        out[i] = static_cast<double>(
            course::value<T>(input(), seed(), i % rows() * cols() + i / rows()));
      }
    });
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }
};

/// A copy of rows x cols floats: the ceiling of a transposition.
class Copy : public Transpose<float> {
 public:
  using Transpose::Transpose;
  void expected(int, double* out) const override {
    course::parallel_for(rows() * cols(), [=](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) out[i] = course::value<float>(input(), seed(), i);
    });
  }
};

/// The window of rows x cols in a matrix whose rows begin every in_pitch elements, to a window of a
/// matrix whose rows begin every out_pitch elements. Both begin `shift` elements after an aligned
/// address. Elements outside of the window must stay as they were: poisoned, all bits set.
class Window : public course::Problem {
 public:
  using Problem::Problem;
  std::int64_t rows() const { return size()["rows"]; }
  std::int64_t cols() const { return size()["cols"]; }
  std::int64_t in_pitch() const { return size()["in_pitch"]; }
  std::int64_t out_pitch() const { return size()["out_pitch"]; }
  std::int64_t shift() const { return size()["shift"]; }
  std::vector<course::Array> inputs() const override {
    return {{"in", shift() + rows() * in_pitch(), course::Type::u32, seed()}};
  }
  std::vector<course::Array> outputs() const override {
    return {{"out", shift() + cols() * out_pitch(), course::Type::u32}};
  }
  double bytes_read() const override {
    return 4.0 * static_cast<double>(rows()) * static_cast<double>(cols());
  }
  double bytes_written() const override { return bytes_read(); }
  void expected(int, double* out) const override {
    for (std::int64_t i = 0; i < shift() + cols() * out_pitch(); ++i) out[i] = UINT32_MAX;
    for (std::int64_t c = 0; c < cols(); ++c) {
      for (std::int64_t r = 0; r < rows(); ++r) {
        out[shift() + c * out_pitch() + r] =
            course::value<std::uint32_t>(input(), seed(), shift() + r * in_pitch() + c);
      }
    }
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }
};
