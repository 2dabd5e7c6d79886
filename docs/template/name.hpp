#pragma once
/// \file
/// The problem of this chapter, in host C++: inputs, reference, least traffic, tolerance. Versions
/// never include it.

#include <cuda_runtime.h>

#include "chapter/input.hpp"
#include "chapter/problem.hpp"

/// The launcher of every version.
using Apply = cudaError_t(const float* in, float* out, std::int64_t n, float factor,
                          cudaStream_t stream);

/// out = factor in, n floats: rounded once, so off by half a unit in the last place at most.
class Scale : public course::Problem {
 public:
  using Problem::Problem;
  std::vector<course::Array> inputs() const override {
    return {{"in", n(), course::Type::f32, seed()}};
  }
  std::vector<course::Array> outputs() const override { return {{"out", n(), course::Type::f32}}; }
  double scalar(int) const override { return 1.5; }
  double bytes_read() const override { return 4.0 * static_cast<double>(n()); }
  double bytes_written() const override { return bytes_read(); }
  void expected(int, double* out) const override {
    for (std::int64_t i = 0; i < n(); ++i) {
      out[i] = scalar(0) * course::value<float>(input(), seed(), i);
    }
  }
  course::Tolerance tolerance(int) const override { return {0x1p-150, 0x1p-24, false}; }
};
