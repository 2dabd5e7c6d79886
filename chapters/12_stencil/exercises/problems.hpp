#pragma once
/// \file
/// The problems of exercises 4 to 6, in host C++.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "chapter/input.hpp"
#include "chapter/problem.hpp"
#include "star.hpp"
#include "stencil.hpp"

/// A launcher for planes with fixed edges and radius 1.
using StepFixed = cudaError_t(const float* now, const Star& star, float* next, std::int64_t rows,
                              std::int64_t cols, cudaStream_t stream);

/// A step of heat in a plane. Its work is counted as one multiply-add per point of the star, so
/// that a kernel that reads each point of a star has one read per multiplication.
class PlaneByTaps : public Heat {
 public:
  using Heat::Heat;
  double flops() const override {
    return 2 * static_cast<double>(taps()) * static_cast<double>(points());
  }
};

/// A plane with fixed edges and a star of radius 1, whose points are updated twice in some way.
class FixedPlane : public course::Problem {
 public:
  FixedPlane(course::Size size, std::uint64_t seed, course::Input input)
      : Problem(std::move(size), seed, input) {
    rows_ = this->size()["rows"], cols_ = this->size()["cols"];
    const bool whole = input == course::Input::integers;
    const auto coefficient = [&](std::uint64_t k) {
      return course::value<float>(whole ? input : course::Input::random, seed + 1, k);
    };
    star_.centre = coefficient(0), star_.x[1] = coefficient(1), star_.y[1] = coefficient(2);
  }
  const void* object() const override { return &star_; }
  std::vector<course::Array> inputs() const override {
    return {{"now", points(), course::Type::f32, seed()}};
  }
  std::vector<course::Array> outputs() const override {
    return {{"next", points(), course::Type::f32}};
  }
  double bytes_read() const override { return 4.0 * static_cast<double>(points()); }
  double bytes_written() const override { return 4.0 * static_cast<double>(points()); }
  void expected(int, double* out) const override {
    std::vector<double> now(static_cast<std::size_t>(points()));
    for (std::int64_t k = 0; k < points(); ++k)
      now[static_cast<std::size_t>(k)] = course::value<float>(input(), seed(), k);
    const std::vector<double> next = twice(now);
    std::copy(next.begin(), next.end(), out);
  }
  /// Whole numbers stay below 2^24, so floats hold them. Random numbers and coefficients are below
  /// 1: a value is below 5 after the first update and below 25 after the second. With 6 roundings
  /// per term, of half an epsilon each, the first is off by up to 15 epsilon. Five such errors
  /// reach the second, which adds 75. The rest allows for other orders of the additions.
  course::Tolerance tolerance(int) const override {
    if (input() == course::Input::integers) return {0, 0, true};
    return {200 * static_cast<double>(std::numeric_limits<float>::epsilon()), 0, false};
  }

 protected:
  using Plane = std::vector<double>;
  std::int64_t points() const { return rows_ * cols_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  /// Point (y, x); 0 beyond an edge.
  double point(const Plane& values, std::int64_t y, std::int64_t x) const {
    const bool inside = y >= 0 && y < rows_ && x >= 0 && x < cols_;
    return inside ? values[static_cast<std::size_t>(y * cols_ + x)] : 0;
  }
  /// The new value of point (y, x), from its neighbours and its old value.
  double star_at(const Plane& values, std::int64_t y, std::int64_t x) const {
    return star_.centre * point(values, y, x) +
           star_.x[1] * (point(values, y, x - 1) + point(values, y, x + 1)) +
           star_.y[1] * (point(values, y - 1, x) + point(values, y + 1, x));
  }
  virtual Plane twice(const Plane& now) const = 0;

 private:
  std::int64_t rows_, cols_;
  Star star_ = {};
};

/// A sweep of Gauss-Seidel in red-black order: each red point, whose x + y is even, gets star(now).
/// Then each black point gets the star of its old value and its new red neighbours.
class RedBlackSweep : public FixedPlane {
 public:
  using FixedPlane::FixedPlane;
  /// Per point a multiplication, two multiply-adds and two additions.
  double flops() const override { return 7 * static_cast<double>(points()); }

 protected:
  Plane twice(const Plane& now) const override {
    Plane next = now;
    for (const std::int64_t colour : {0, 1}) {  // a point has neighbours of the other colour only
      for (std::int64_t y = 0; y < rows(); ++y) {
        for (std::int64_t x = (y + colour) % 2; x < cols(); x += 2)
          next[static_cast<std::size_t>(y * cols() + x)] = star_at(next, y, x);
      }
    }
    return next;
  }
};

/// Two steps of heat: next = star(star(now)). Points beyond the edges are 0 at any time.
class TwoSteps : public FixedPlane {
 public:
  using FixedPlane::FixedPlane;
  double flops() const override { return 14 * static_cast<double>(points()); }

 protected:
  Plane twice(const Plane& now) const override { return step(step(now)); }

 private:
  Plane step(const Plane& now) const {
    Plane next(now.size());
    for (std::int64_t y = 0; y < rows(); ++y) {
      for (std::int64_t x = 0; x < cols(); ++x)
        next[static_cast<std::size_t>(y * cols() + x)] = star_at(now, y, x);
    }
    return next;
  }
};
