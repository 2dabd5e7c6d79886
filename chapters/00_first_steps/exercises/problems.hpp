#pragma once
/// \file
/// What the first three exercises compute, in host C++.

#include <cuda_runtime.h>

#include "chapter/input.hpp"
#include "chapter/problem.hpp"

using Apply = cudaError_t(const float* in, float* out, int n);
using Paint = cudaError_t(float* picture, int rows, int columns);

/// out = 2 in, n floats; exact.
class Doubled : public course::Problem {
 public:
  using Problem::Problem;
  std::vector<course::Array> inputs() const override {
    return {{"in", n(), course::Type::f32, seed()}};
  }
  std::vector<course::Array> outputs() const override { return {{"out", n()}}; }
  double bytes_read() const override { return 4.0 * static_cast<double>(n()); }
  double bytes_written() const override { return bytes_read(); }
  void expected(int, double* out) const override {
    for (std::int64_t i = 0; i < n(); ++i) out[i] = 2 * course::value<float>(input(), seed(), i);
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }
};

/// A chessboard with squares of 8 x 8 pixels, row by row.
class Chessboard : public course::Problem {
 public:
  using Problem::Problem;
  std::vector<course::Array> inputs() const override { return {}; }
  std::vector<course::Array> outputs() const override {
    return {{"picture", size()["rows"] * size()["columns"]}};
  }
  double bytes_read() const override { return 0; }
  double bytes_written() const override {
    return 4.0 * static_cast<double>(size()["rows"] * size()["columns"]);
  }
  void expected(int, double* picture) const override {
    const std::int64_t rows = size()["rows"], columns = size()["columns"];
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns; ++column)
        picture[row * columns + column] = static_cast<double>((row / 8 + column / 8) % 2);
    }
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }
};
