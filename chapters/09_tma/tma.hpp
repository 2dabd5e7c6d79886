#pragma once
/// \file
/// The problems of this chapter, in host C++: inputs, reference, least traffic, tolerance. Versions
/// never include it.

#include <cuda_runtime.h>

#include <cmath>

#include "chapter/input.hpp"
#include "chapter/problem.hpp"

using Scale = cudaError_t(const float* in, float* out, std::int64_t n, cudaStream_t stream);
using ScaleMatrix = cudaError_t(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                                cudaStream_t stream);
using SumColumns = cudaError_t(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                               std::int64_t deep, cudaStream_t stream);
using CutWindow = cudaError_t(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                              std::int64_t height, std::int64_t width, std::int64_t row0,
                              std::int64_t col0, std::int64_t nan, cudaStream_t stream);
using PickRows = cudaError_t(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                             std::int64_t every, cudaStream_t stream);
using ShowSwizzle = cudaError_t(const std::uint8_t* in, std::uint32_t* out, std::int64_t rows,
                                std::int64_t bytes, std::int64_t length, std::int64_t element,
                                cudaStream_t stream);
using SumNeighbours = cudaError_t(const float* in, float* out, std::int64_t nz, std::int64_t ny,
                                  std::int64_t nx, cudaStream_t stream);
using CopyInFlight = cudaError_t(const float* in, float* out, std::int64_t n, std::int64_t chunk,
                                 std::int64_t kib, cudaStream_t stream);
using CopyAhead = cudaError_t(const float* in, float* out, std::int64_t n, std::int64_t ahead,
                              cudaStream_t stream);

namespace tma {

/// The largest magnitude of a family of inputs, for tolerances.
inline double largest(course::Input input) {
  switch (input) {
    case course::Input::denormal:
      return 0x1p-126;
    case course::Input::random:
      return 1;
    case course::Input::large:
      return 0x1p120;
    default:
      return 0x1p24;
  }
}

/// Calls f(i) for all 0 <= i < n.
template <class F>
void for_each_index(std::int64_t n, F f) {
  course::parallel_for(n, [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) f(i);
  });
}

}  // namespace tma

/// out[i] = factor in[i], floats: as many as the sizes multiply to; factor is 1 or 2, so exact.
template <int factor>
class ScaleProblem : public course::Problem {
 public:
  using Problem::Problem;
  std::int64_t count() const {
    const course::Size& s = size();
    for (const auto& [name, value] : s.dimensions) {
      if (name == "rows") return value * s["cols"];
    }
    return n();
  }
  std::vector<course::Array> inputs() const override {
    return {{"in", count(), course::Type::f32, seed()}};
  }
  std::vector<course::Array> outputs() const override {
    return {{"out", count(), course::Type::f32}};
  }
  double bytes_read() const override { return 4.0 * static_cast<double>(count()); }
  double bytes_written() const override { return bytes_read(); }
  void expected(int, double* out) const override {
    tma::for_each_index(count(), [=](std::int64_t i) {
      out[i] = factor * static_cast<double>(course::value<float>(input(), seed(), i));
    });
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }
};

/// out[c] = the sum of column c of a matrix of rows x cols floats, in any order: at most deep
/// additions one after the other in a block, then one per block. An addition in the L2 cache takes
/// numbers below 2^-126 for zero.
class ColumnSums : public course::Problem {
 public:
  using Problem::Problem;
  std::int64_t rows() const { return size()["rows"]; }
  std::int64_t cols() const { return size()["cols"]; }
  std::vector<course::Array> inputs() const override {
    return {{"in", rows() * cols(), course::Type::f32, seed()}};
  }
  std::vector<course::Array> outputs() const override {
    return {{"out", cols(), course::Type::f32}};
  }
  double bytes_read() const override {
    return 4.0 * static_cast<double>(rows()) * static_cast<double>(cols());
  }
  double bytes_written() const override { return 4.0 * static_cast<double>(cols()); }
  double flops() const override {
    return static_cast<double>(rows()) * static_cast<double>(cols());
  }
  void expected(int, double* out) const override {
    course::parallel_for(
        cols(),
        [=](std::int64_t first, std::int64_t last) {
          for (std::int64_t c = first; c < last; ++c) {
            out[c] = 0;
            for (std::int64_t r = 0; r < rows(); ++r) {
              out[c] += course::value<float>(input(), seed(), r * cols() + c);
            }
          }
        },
        1 << 6);
  }
  course::Tolerance tolerance(int) const override {
    if (input() == course::Input::integers) return {0, 0, true};
    const double n = static_cast<double>(rows()), deep = static_cast<double>(size()["deep"]);
    const double depth = std::min(n, deep) + std::ceil(n / deep);
    const double flushed = (std::ceil(n / deep) + 1) * 0x1p-126;
    return {depth * 0x1p-24 * n * tma::largest(input()) + flushed, 0, false};
  }
};

/// A window of rows x cols that begins at (row0, col0) of a matrix of in_rows x in_cols; outside of
/// the matrix the bits 7ff77ff7 (a NaN, as measured) or 0. Compared as bits.
class Window : public course::Problem {
 public:
  using Problem::Problem;
  std::vector<course::Array> inputs() const override {
    return {{"in", size()["in_rows"] * size()["in_cols"], course::Type::u32, seed()}};
  }
  std::vector<course::Array> outputs() const override {
    return {{"out", size()["rows"] * size()["cols"], course::Type::u32}};
  }
  double bytes_read() const override {
    const auto inside = [](std::int64_t first, std::int64_t count, std::int64_t end) {
      const std::int64_t from = std::max<std::int64_t>(first, 0);
      return static_cast<double>(std::max<std::int64_t>(std::min(first + count, end) - from, 0));
    };
    return 4.0 * inside(size()["row0"], size()["rows"], size()["in_rows"]) *
           inside(size()["col0"], size()["cols"], size()["in_cols"]);
  }
  double bytes_written() const override {
    return 4.0 * static_cast<double>(size()["rows"]) * static_cast<double>(size()["cols"]);
  }
  void expected(int, double* out) const override {
    const std::int64_t rows = size()["in_rows"], cols = size()["in_cols"], width = size()["cols"];
    const std::int64_t row0 = size()["row0"], col0 = size()["col0"];
    const double outside = size()["nan"] != 0 ? 0x7ff77ff7 : 0;
    tma::for_each_index(size()["rows"] * width, [=](std::int64_t i) {
      const std::int64_t r = row0 + i / width, c = col0 + i % width;
      const bool inside = r >= 0 && r < rows && c >= 0 && c < cols;
      out[i] = inside ? course::value<std::uint32_t>(input(), seed(), r * cols + c) : outside;
    });
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }
};

/// out[r][c] = in[every * r][c].
class EveryKthRow : public course::Problem {
 public:
  using Problem::Problem;
  std::int64_t picked() const { return (size()["rows"] + size()["every"] - 1) / size()["every"]; }
  std::int64_t cols() const { return size()["cols"]; }
  std::vector<course::Array> inputs() const override {
    return {{"in", size()["rows"] * cols(), course::Type::f32, seed()}};
  }
  std::vector<course::Array> outputs() const override {
    return {{"out", picked() * cols(), course::Type::f32}};
  }
  double bytes_read() const override {
    return 4.0 * static_cast<double>(picked()) * static_cast<double>(cols());
  }
  double bytes_written() const override { return bytes_read(); }
  void expected(int, double* out) const override {
    const std::int64_t wide = cols(), every = size()["every"];
    tma::for_each_index(picked() * wide, [=](std::int64_t i) {
      out[i] = course::value<float>(input(), seed(), i / wide * every * wide + i % wide);
    });
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }
};

/// Boxes of 16 rows as a swizzle lays them into shared memory: chunk c of row r, 16 bytes each,
/// lies in place c ^ k of its row, where k counts rows of 128 bytes and takes as many bits as a row
/// has places. Rows shorter than the swizzle leave gaps: zeros.
class SwizzledRows : public course::Problem {
 public:
  using Problem::Problem;
  std::vector<course::Array> inputs() const override {
    return {{"in", size()["rows"] * size()["bytes"], course::Type::u8, seed()}};
  }
  std::vector<course::Array> outputs() const override {
    return {{"out", size()["rows"] * size()["length"] / 4, course::Type::u32}};
  }
  double bytes_read() const override {
    return static_cast<double>(size()["rows"]) * static_cast<double>(size()["bytes"]);
  }
  double bytes_written() const override {
    return static_cast<double>(size()["rows"]) * static_cast<double>(size()["length"]);
  }
  void expected(int, double* out) const override {
    const std::int64_t bytes = size()["bytes"], length = size()["length"], chunks = length / 16;
    tma::for_each_index(size()["rows"] * length / 4, [=](std::int64_t i) {
      const std::int64_t row = 4 * i / length, place = 4 * i % length / 16;
      const std::int64_t k = row % 16 * length / 128;  // rows of 128 bytes since the box began
      const std::int64_t chunk = place ^ (k % chunks);
      std::uint32_t word = 0;
      for (int b = 3; b >= 0; --b) {
        const std::int64_t at = 16 * chunk + 4 * i % 16 + b;
        const std::uint8_t byte =
            at < bytes ? course::value<std::uint8_t>(input(), seed(), row * bytes + at) : 0;
        word = word << 8 | byte;
      }
      out[i] = word;
    });
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }
};

/// out = the sum of an element of a volume and its six neighbours; zero outside. Six additions of
/// sums of at most seven magnitudes.
class NeighbourSums : public course::Problem {
 public:
  using Problem::Problem;
  std::int64_t nz() const { return size()["planes"]; }
  std::int64_t ny() const { return size()["rows"]; }
  std::int64_t nx() const { return size()["cols"]; }
  std::vector<course::Array> inputs() const override {
    return {{"in", nz() * ny() * nx(), course::Type::f32, seed()}};
  }
  std::vector<course::Array> outputs() const override {
    return {{"out", nz() * ny() * nx(), course::Type::f32}};
  }
  double bytes_read() const override {
    return 4.0 * static_cast<double>(nz()) * static_cast<double>(ny()) * static_cast<double>(nx());
  }
  double bytes_written() const override { return bytes_read(); }
  double flops() const override { return 6 * bytes_read() / 4; }
  void expected(int, double* out) const override {
    tma::for_each_index(nz() * ny() * nx(), [=](std::int64_t i) {
      const std::int64_t x = i % nx(), y = i / nx() % ny(), z = i / nx() / ny();
      const auto in = [=](std::int64_t dz, std::int64_t dy, std::int64_t dx) {
        const bool inside = z + dz >= 0 && z + dz < nz() && y + dy >= 0 && y + dy < ny() &&
                            x + dx >= 0 && x + dx < nx();
        if (!inside) return 0.0;
        return static_cast<double>(
            course::value<float>(input(), seed(), i + (dz * ny() + dy) * nx() + dx));
      };
      out[i] = in(0, 0, 0) + in(0, 0, -1) + in(0, 0, 1) + in(0, -1, 0) + in(0, 1, 0) +
               in(-1, 0, 0) + in(1, 0, 0);
    });
  }
  course::Tolerance tolerance(int) const override {
    if (input() == course::Input::integers) return {0, 0, true};
    return {6 * (7 * tma::largest(input()) * 0x1p-24 + 0x1p-150), 0, false};
  }
};

/// out[c][r] = in[r][c]: rows x cols floats into cols x rows.
class Transpose : public course::Problem {
 public:
  using Problem::Problem;
  std::int64_t rows() const { return size()["rows"]; }
  std::int64_t cols() const { return size()["cols"]; }
  std::vector<course::Array> inputs() const override {
    return {{"in", rows() * cols(), course::Type::f32, seed()}};
  }
  std::vector<course::Array> outputs() const override {
    return {{"out", rows() * cols(), course::Type::f32}};
  }
  double bytes_read() const override {
    return 4.0 * static_cast<double>(rows()) * static_cast<double>(cols());
  }
  double bytes_written() const override { return bytes_read(); }
  void expected(int, double* out) const override {
    tma::for_each_index(rows() * cols(), [=](std::int64_t i) {
      out[i] = course::value<float>(input(), seed(), i % rows() * cols() + i / rows());
    });
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }
};
