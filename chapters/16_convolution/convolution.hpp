#pragma once
/// \file
/// The problems of this chapter, in host C++: inputs, reference, least traffic, tolerance. Versions
/// never include it.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "chapter/input.hpp"
#include "chapter/problem.hpp"
#include "filter.hpp"

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

/// The rules at the border, as the dimension `border` gives them.
enum : std::int64_t { by_clamp = 0, by_zero = 1, by_reflect = 2 };

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
      : Problem(std::move(size), seed, input) {
    for (std::int64_t k = 0; k < taps(); ++k) {
      const std::int64_t i = k / width(), j = k % width();
      filter_.at[k] = static_cast<float>(coefficient(i, j));
    }
  }
  std::int64_t rows() const { return size()["rows"]; }
  std::int64_t cols() const { return size()["cols"]; }
  std::int64_t width() const { return size()["width"]; }
  std::int64_t rule() const { return size()["border"]; }
  std::int64_t pixels() const { return rows() * cols(); }
  /// Those that the filter may have; a launcher refuses other widths.
  std::int64_t taps() const {
    const std::int64_t w = std::clamp<std::int64_t>(width(), 0, largest_width);
    return w * w;
  }
  /// No symmetry; whole numbers for inputs that are whole.
  virtual double coefficient(std::int64_t i, std::int64_t j) const {
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
  /// Products of two numbers in [-1, 1), added in any order. A product has a variance of 1/9, so a
  /// sum of taps() has a standard deviation of width / 3: of all pixels it stays below 2 width. An
  /// addition rounds by up to half a unit in its last place, width epsilon. taps() of these, of
  /// random signs, have a standard deviation below 0.6 width width epsilon, as long as all partial
  /// sums are that large. Sums of small whole numbers are exact.
  course::Tolerance tolerance(int) const override {
    if (input() == course::Input::integers) return {0, 0, true};
    const double each = std::numeric_limits<float>::epsilon() * static_cast<double>(taps()) * 2;
    const double unit = input() == course::Input::denormal ? 0x1p-126
                        : input() == course::Input::large  ? 0x1p120
                                                           : 1.0;
    return {(each + std::numeric_limits<float>::epsilon()) * unit, 0, false};
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

  Filter filter_ = {};
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
  const void* whole() const { return &filter_; }
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
    // Input::large: all 8 bits, so that many results are limited.
    double sum = 0;
    for (std::int64_t k = 0; k < taps(); ++k) {
      const int full = static_cast<int>(course::mix(seed + 1, static_cast<std::uint64_t>(k)) >> 56);
      bytes_.at[k] =
          static_cast<std::int8_t>(input == course::Input::large ? full - 128 : full % 64 - 16);
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
    return std::clamp(std::floor(quotient + 0.5), 0.0, 255.0);
  }

 private:
  ByteFilter bytes_ = {};
};
