#pragma once
/// \file
/// The problems of this chapter, in host C++: inputs, reference, least traffic, tolerance. Versions
/// never include it.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include "chapter/input.hpp"
#include "chapter/problem.hpp"
#include "filter.hpp"
#include "smooth.hpp"

using Convolve = cudaError_t(const float* image, const Filter& filter, float* out,
                             std::int64_t rows, std::int64_t cols, std::int64_t width,
                             std::int64_t rule, cudaStream_t stream);
/// The launcher of version 01: the filter in device memory.
using ConvolveFromMemory = cudaError_t(const float* image, const float* filter, float* out,
                                       std::int64_t rows, std::int64_t cols, std::int64_t width,
                                       std::int64_t rule, cudaStream_t stream);
using ConvolveSeparable = cudaError_t(const float* image, const SeparableFilter& filter, float* out,
                                      std::int64_t rows, std::int64_t cols, std::int64_t width,
                                      std::int64_t rule, cudaStream_t stream);
using ConvolveSeparableIn = cudaError_t(void* workspace, std::size_t& workspace_bytes,
                                        const float* image, const SeparableFilter& filter,
                                        float* out, std::int64_t rows, std::int64_t cols,
                                        std::int64_t width, std::int64_t rule, cudaStream_t stream);
using ConvolveBytes = cudaError_t(const std::uint8_t* image, const ByteFilter& filter,
                                  std::uint8_t* out, std::int64_t rows, std::int64_t cols,
                                  std::int64_t width, std::int64_t rule, cudaStream_t stream);

/// The launchers of libraries that have one border.
using ConvolveReversed = cudaError_t(const float* image, const float* reversed, float* out,
                                     std::int64_t rows, std::int64_t cols, std::int64_t width,
                                     cudaStream_t stream);
using ConvolveBytesReversed = cudaError_t(const std::uint8_t* image, const std::int32_t* reversed,
                                          const ByteFilter& filter, std::uint8_t* out,
                                          std::int64_t rows, std::int64_t cols, std::int64_t width,
                                          cudaStream_t stream);
using ConvolveInWorkspace = cudaError_t(void* workspace, std::size_t& workspace_bytes,
                                        const float* image, const float* filter, float* out,
                                        std::int64_t rows, std::int64_t cols, std::int64_t width,
                                        cudaStream_t stream);
using ConvolveByFft = cudaError_t(void* workspace, std::size_t& workspace_bytes, const float* image,
                                  const float* filter, float* out, std::int64_t rows,
                                  std::int64_t cols, std::int64_t width, std::int64_t rule,
                                  cudaStream_t stream);
using ConvolveBySpectrum = cudaError_t(void* workspace, std::size_t& workspace_bytes,
                                       const float* image, const float* filter,
                                       const float* spectrum, float* out, std::int64_t rows,
                                       std::int64_t cols, std::int64_t width, std::int64_t rule,
                                       cudaStream_t stream);

/// The rules at the border, as the dimension `border` gives them.
enum : std::int64_t { by_clamp = 0, by_zero = 1, by_reflect = 2 };

/// The size of a problem of this chapter.
inline course::Size image_size(std::int64_t rows, std::int64_t cols, std::int64_t width,
                               std::int64_t border = by_clamp) {
  return {{{"rows", rows}, {"cols", cols}, {"width", width}, {"border", border}}};
}

/// Pixel i of n, continued to both sides; -1 where it is zero.
inline std::int64_t continued(std::int64_t i, std::int64_t n, std::int64_t rule) {
  if (i >= 0 && i < n) return i;
  if (rule == by_zero) return -1;
  if (rule == by_clamp) return std::clamp<std::int64_t>(i, 0, n - 1);
  const std::int64_t period = std::max<std::int64_t>(2 * (n - 1), 1);
  const std::int64_t at = (i % period + period) % period;
  return std::min(at, period - at);
}

/// out[y][x] = the sum of filter[i][j] image[y + i - radius][x + j - radius], in double: rows x
/// cols pixels, a filter of width x width coefficients.
class Convolution : public course::Problem {
 public:
  Convolution(course::Size size, std::uint64_t seed, course::Input input)
      : Problem(std::move(size), seed, input),
        rows_(this->size()["rows"]),
        cols_(this->size()["cols"]),
        width_(this->size()["width"]),
        rule_(this->size()["border"]) {
    for (std::int64_t k = 0; k < taps(); ++k) {
      const std::int64_t i = k / width(), j = k % width();
      filter_.at[k] = static_cast<float>(coefficient(i, j));
    }
  }
  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  std::int64_t width() const { return width_; }
  std::int64_t rule() const { return rule_; }
  std::int64_t pixels() const { return rows() * cols(); }
  /// Those that the filter may have; a launcher refuses other widths.
  std::int64_t taps() const {
    const std::int64_t w = std::clamp<std::int64_t>(width(), 0, largest_width);
    return w * w;
  }
  /// No symmetry; whole numbers for inputs that are whole.
  double coefficient(std::int64_t i, std::int64_t j) const {
    const course::Input kind = input() == course::Input::integers ? input() : course::Input::random;
    return course::value<float>(kind, seed() + 1, i * largest_width + j);
  }
  const void* object() const override { return &filter_; }

  std::vector<course::Array> inputs() const override {
    course::Array filter{"filter", taps(), course::Type::f32, seed()};
    filter.values = [this](void* host) {
      std::copy(filter_.at, filter_.at + taps(), static_cast<float*>(host));
    };
    return {{"image", pixels(), course::Type::f32, seed()}, filter};
  }
  std::vector<course::Array> outputs() const override {
    return {{"out", pixels(), course::Type::f32}};
  }
  double bytes_read() const override { return 4.0 * static_cast<double>(pixels()); }
  double bytes_written() const override { return bytes_read(); }
  /// A multiplication and an addition for each coefficient and pixel.
  double flops() const override {
    return 2.0 * static_cast<double>(taps()) * static_cast<double>(pixels());
  }
  Work work() const override { return {static_cast<double>(pixels()), 1e9, "Gpixel/s"}; }

  /// Of large images, all pixels of some rows and columns at and near the border, and some
  /// anywhere.
  std::vector<std::int64_t> sample(int) const override {
    if (pixels() * taps() < (1 << 27)) return {};
    std::vector<std::int64_t> places;
    for (std::int64_t k = 0; k < 1 << 16; ++k) {
      const std::uint64_t bits = course::mix(seed() + 7, static_cast<std::uint64_t>(k));
      const auto y = static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(rows()));
      const auto x = static_cast<std::int64_t>((bits >> 32) % static_cast<std::uint64_t>(cols()));
      const std::int64_t near = static_cast<std::int64_t>(bits >> 24) % 20;
      places.push_back(k % 8 == 0   ? std::min(near, rows() - 1) * cols() + x
                       : k % 8 == 1 ? std::max(rows() - 1 - near, std::int64_t{0}) * cols() + x
                       : k % 8 == 2 ? y * cols() + std::min(near, cols() - 1)
                       : k % 8 == 3 ? y * cols() + std::max(cols() - 1 - near, std::int64_t{0})
                                    : y * cols() + x);
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    return places;
  }
  void expected(int, double* out) const override {
    const std::vector<std::int64_t> places = sample(0);
    const std::int64_t count = places.empty() ? pixels() : static_cast<std::int64_t>(places.size());
    course::parallel_for(
        count,
        [&](std::int64_t first, std::int64_t last) {
          for (std::int64_t k = first; k < last; ++k) {
            const std::int64_t at = places.empty() ? k : places[static_cast<std::size_t>(k)];
            out[k] = result(at / cols(), at % cols());
          }
        },
        1 << 10);
  }
  /// Products of numbers below 1 with random signs: a partial sum is about width() / 3, and seldom
  /// more than four times that. So a rounding is at most epsilon / 2 * 4 / 3 * width(); there are
  /// taps() of them with random signs, which come together to width() times that, seldom to three
  /// times as much. Sums of small whole numbers are exact.
  course::Tolerance tolerance(int) const override {
    if (input() == course::Input::integers) return {0, 0, true};
    const double each = std::numeric_limits<float>::epsilon() * static_cast<double>(2 * taps());
    return {input() == course::Input::denormal ? each * 0x1p-126 : each, 0, false};
  }

 protected:
  /// A pixel of the image, or of what stands for it outside.
  double pixel(std::int64_t y, std::int64_t x) const {
    const std::int64_t row = continued(y, rows(), rule()), col = continued(x, cols(), rule());
    return row < 0 || col < 0 ? 0.0 : at(row * cols() + col);
  }
  virtual double at(std::int64_t i) const { return course::value<float>(input(), seed(), i); }
  virtual double result(std::int64_t y, std::int64_t x) const {
    const std::int64_t radius = width() / 2;
    double sum = 0;
    for (std::int64_t i = 0; i < width(); ++i) {
      for (std::int64_t j = 0; j < width(); ++j) {
        sum += static_cast<double>(filter_.at[i * width() + j]) *
               pixel(y + i - radius, x + j - radius);
      }
    }
    return sum;
  }

  std::int64_t rows_, cols_, width_, rule_;
  Filter filter_ = {};
};

/// The same for NPP: always clamped, whatever the size says, and the filter last to first.
class OfNpp : public Convolution {
 public:
  OfNpp(const course::Size& size, std::uint64_t seed, course::Input input)
      : Convolution(size, seed, input) {
    rule_ = by_clamp;
  }
  std::vector<course::Array> inputs() const override {
    std::vector<course::Array> both = Convolution::inputs();
    both[1].values = [this](void* host) {
      std::reverse_copy(filter_.at, filter_.at + taps(), static_cast<float*>(host));
    };
    return both;
  }
};

/// Two transforms of the whole image: each result has a share of the errors of all pixels, some
/// units in the last place of a typical one, which is about width() / 3; whole numbers, up to 7 and
/// 7, are not exact. Transforms of numbers below the normal ones are not, either.
class ForFft : public Convolution {
 public:
  using Convolution::Convolution;
  course::Tolerance tolerance(int) const override {
    const double typical =
        std::numeric_limits<float>::epsilon() * static_cast<double>(2 * taps() + 32 * width());
    const double unit = input() == course::Input::integers   ? 49
                        : input() == course::Input::denormal ? 0x1p-120
                                                             : 1;
    return {typical * unit, 0, false};
  }
};

/// For cuDNN, some of whose algorithms also transform: always zeros outside.
class OfCudnn : public ForFft {
 public:
  OfCudnn(const course::Size& size, std::uint64_t seed, course::Input input)
      : ForFft(size, seed, input) {
    rule_ = by_zero;
  }
};

/// A third input is the spectrum of the filter on the grid of version 92: complex numbers, rows() +
/// width() - 1 rows of half of cols() + width() - 1, plus one; both made even and smooth.
class WithSpectrum : public ForFft {
 public:
  using ForFft::ForFft;
  std::vector<course::Array> inputs() const override {
    std::vector<course::Array> all = Convolution::inputs();
    const std::int64_t height = fft::smooth(rows() + width() - 1);
    const std::int64_t length = fft::smooth(cols() + width() - 1);
    const std::int64_t columns = length / 2 + 1;
    course::Array spectrum{"spectrum", 2 * height * columns, course::Type::f32, seed()};
    spectrum.values = [=](void* host) {
      const auto turn = [](std::int64_t k, std::int64_t n) {
        return std::polar(
            1.0, -2 * 3.14159265358979323846 * static_cast<double>(k % n) / static_cast<double>(n));
      };
      course::parallel_for(
          columns,
          [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t v = first; v < last; ++v) {
              std::vector<std::complex<double>> of_row(static_cast<std::size_t>(width()));
              for (std::int64_t i = 0; i < width(); ++i) {
                for (std::int64_t j = 0; j < width(); ++j) {
                  of_row[static_cast<std::size_t>(i)] +=
                      static_cast<double>(filter_.at[i * width() + j]) * turn(v * j, length);
                }
              }
              for (std::int64_t u = 0; u < height; ++u) {
                std::complex<double> sum, at = 1;
                const std::complex<double> step = turn(u, height);
                for (const std::complex<double>& each : of_row) sum += each * at, at *= step;
                auto* const to = static_cast<float*>(host) + 2 * (u * columns + v);
                to[0] = static_cast<float>(sum.real()), to[1] = static_cast<float>(sum.imag());
              }
            }
          },
          16);
    };
    all.push_back(spectrum);
    return all;
  }
};

/// The coefficients are products of a column and a row.
class SeparableConvolution : public Convolution {
 public:
  SeparableConvolution(const course::Size& size, std::uint64_t seed, course::Input input)
      : Convolution(size, seed, input) {
    const bool whole = input == course::Input::integers;
    for (std::int64_t i = 0; i < largest_width; ++i) {
      const auto value = [&](std::uint64_t of) {
        const float full = course::value<float>(course::Input::random, seed + of, i);
        return whole ? std::round(2 * full) : full;  // -2 to 2: sums stay below 2^24
      };
      separable_.column[i] = value(2), separable_.row[i] = value(3);
    }
    for (std::int64_t i = 0; i < width(); ++i) {
      for (std::int64_t j = 0; j < width(); ++j) {
        filter_.at[i * width() + j] = separable_.column[i] * separable_.row[j];
      }
    }
  }
  const void* object() const override { return &separable_; }
  double flops() const override {
    return 4.0 * static_cast<double>(width()) * static_cast<double>(pixels());
  }

 protected:
  double result(std::int64_t y, std::int64_t x) const override {
    const std::int64_t radius = width() / 2;
    double sum = 0;
    for (std::int64_t i = 0; i < width(); ++i) {
      double of_row = 0;
      for (std::int64_t j = 0; j < width(); ++j) {
        of_row += static_cast<double>(separable_.row[j]) * pixel(y + i - radius, x + j - radius);
      }
      sum += separable_.column[i] * of_row;
    }
    return sum;
  }

 private:
  SeparableFilter separable_ = {};
};

/// 8-bit pixels: the sum of whole coefficients and pixels, divided by 2^shift, rounded to the
/// nearest (halves up), and limited to 0 to 255. Exact.
class ByteConvolution : public Convolution {
 public:
  ByteConvolution(const course::Size& size, std::uint64_t seed, course::Input input)
      : Convolution(size, seed, input) {
    double sum = 0;
    for (std::int64_t k = 0; k < taps(); ++k) {
      const int full = static_cast<int>(course::mix(seed + 1, static_cast<std::uint64_t>(k)) >> 56);
      bytes_.at[k] = static_cast<std::int8_t>(seed % 2 == 0 ? full - 128 : full % 64 - 16);
      sum += bytes_.at[k];
    }
    while (bytes_.shift < 30 && std::exp2(bytes_.shift) < sum) ++bytes_.shift;
    if (input == course::Input::integers) bytes_.shift = 0;
  }
  const void* object() const override { return &bytes_; }
  std::vector<course::Array> inputs() const override {
    return {{"image", pixels(), course::Type::u8, seed()}};
  }
  std::vector<course::Array> outputs() const override {
    return {{"out", pixels(), course::Type::u8}};
  }
  double bytes_read() const override { return static_cast<double>(pixels()); }
  double flops() const override { return 0; }  // of floats
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }

 protected:
  double at(std::int64_t i) const override {
    return course::value<std::uint8_t>(input(), seed(), i);
  }
  double result(std::int64_t y, std::int64_t x) const override {
    const std::int64_t radius = width() / 2;
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < width(); ++i) {
      for (std::int64_t j = 0; j < width(); ++j) {
        sum += bytes_.at[i * width() + j] *
               static_cast<std::int64_t>(pixel(y + i - radius, x + j - radius));
      }
    }
    const double quotient = static_cast<double>(sum) / std::exp2(bytes_.shift);
    return std::clamp(std::floor(quotient + half_), 0.0, 255.0);
  }

  ByteFilter bytes_ = {};
  double half_ = 0.5;  // halves up
};

/// The same for NPP: its border, the coefficients as a second input, last to first, and the sums
/// rounded down.
class BytesOfNpp : public ByteConvolution {
 public:
  BytesOfNpp(const course::Size& size, std::uint64_t seed, course::Input input)
      : ByteConvolution(size, seed, input) {
    rule_ = by_clamp;
    half_ = 0;
  }
  std::vector<course::Array> inputs() const override {
    std::vector<course::Array> both = ByteConvolution::inputs();
    both.push_back({"filter", taps(), course::Type::i32, seed()});
    both[1].values = [this](void* host) {
      std::reverse_copy(bytes_.at, bytes_.at + taps(), static_cast<std::int32_t*>(host));
    };
    return both;
  }
};
