#pragma once
/// \file
/// The problems of this chapter, in host C++: inputs, references, least traffic, tolerances.
/// Versions never include it.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include "chapter/input.hpp"
#include "chapter/problem.hpp"
#include "star.hpp"
#include "tilted.hpp"

using StepHeat = cudaError_t(const float* now, const Star& star, float* next, std::int64_t planes,
                             std::int64_t rows, std::int64_t cols, std::int64_t radius,
                             std::int64_t rule, cudaStream_t stream);
using StepWave = cudaError_t(const float* now, const float* before, const Star& star, float* next,
                             std::int64_t planes, std::int64_t rows, std::int64_t cols,
                             std::int64_t radius, std::int64_t rule, cudaStream_t stream);
using StepLayers = cudaError_t(const float* now, const float* before, const float* speed,
                               const Star& star, float* next, std::int64_t planes,
                               std::int64_t rows, std::int64_t cols, std::int64_t radius,
                               std::int64_t rule, cudaStream_t stream);
using StepTilted = cudaError_t(const float* now, const float* before, const Tilted& coefficients,
                               float* next, std::int64_t planes, std::int64_t rows,
                               std::int64_t cols, std::int64_t radius, std::int64_t rule,
                               cudaStream_t stream);
/// `steps` steps of heat with radius 1.
using StepSeveral = cudaError_t(const float* now, const Star& star, float* next,
                                std::int64_t planes, std::int64_t rows, std::int64_t cols,
                                std::int64_t steps, std::int64_t rule, cudaStream_t stream);
using StepPlane = cudaError_t(const float* now, const Star& star, float* next, std::int64_t rows,
                              std::int64_t cols, std::int64_t radius, std::int64_t rule,
                              cudaStream_t stream);

/// The rules at the edge, as the dimension `edge` gives them.
enum : std::int64_t { by_fixed = 0, by_periodic = 1 };

/// The size of a field, or of a plane, and the radius of a star or the number of steps.
inline course::Size field_size(std::int64_t planes, std::int64_t rows, std::int64_t cols,
                               std::int64_t radius, std::int64_t edge = by_fixed) {
  return {{{"planes", planes}, {"rows", rows}, {"cols", cols}, {"radius", radius}, {"edge", edge}}};
}
/// The size of a field in which a wave has reached the points less than `spread` / 2 away from the
/// middle.
inline course::Size pulse_size(std::int64_t planes, std::int64_t rows, std::int64_t cols,
                               std::int64_t radius, std::int64_t spread) {
  course::Size size = field_size(planes, rows, cols, radius);
  size.dimensions.emplace_back("spread", spread);
  return size;
}
inline course::Size steps_size(std::int64_t planes, std::int64_t rows, std::int64_t cols,
                               std::int64_t steps, std::int64_t edge = by_fixed) {
  return {{{"planes", planes}, {"rows", rows}, {"cols", cols}, {"steps", steps}, {"edge", edge}}};
}
inline course::Size plane_size(std::int64_t rows, std::int64_t cols, std::int64_t radius,
                               std::int64_t edge = by_fixed) {
  return {{{"rows", rows}, {"cols", cols}, {"radius", radius}, {"edge", edge}}};
}

/// next = star(now): the sum of a point, its neighbours along three axes, or two if the size has no
/// planes, times their coefficients, in double. One step of heat, if the coefficients add up to 1.
class Heat : public course::Problem {
 public:
  Heat(course::Size size, std::uint64_t seed, course::Input input)
      : Problem(std::move(size), seed, input) {
    for (const auto& [name, value] : this->size().dimensions) flat_ = flat_ && name != "planes";
    planes_ = flat_ ? 1 : this->size()["planes"];
    rows_ = this->size()["rows"], cols_ = this->size()["cols"];
    rule_ = this->size()["edge"];
    const bool known = this->size().dimensions[flat_ ? 2 : 3].first == "radius";
    radius_ = known ? std::clamp<std::int64_t>(this->size()["radius"], 0, largest_radius) : 1;
    std::int64_t k = 0;
    const auto next = [&] { return static_cast<float>(coefficient(k++)); };
    star_.centre = next();
    for (int r = 1; r <= largest_radius; ++r)
      star_.x[r] = next(), star_.y[r] = next(), star_.z[r] = next();
  }
  std::int64_t points() const { return planes_ * rows_ * cols_; }
  const void* object() const override { return &star_; }
  /// Of the star: a point, and two neighbours for each axis and distance.
  std::int64_t taps() const { return 1 + (flat_ ? 4 : 6) * radius_; }

  std::vector<course::Array> inputs() const override {
    return {{"now", points(), course::Type::f32, seed()}};
  }
  std::vector<course::Array> outputs() const override {
    return {{"next", points(), course::Type::f32}};
  }
  double bytes_read() const override { return 4.0 * static_cast<double>(points()); }
  double bytes_written() const override { return 4.0 * static_cast<double>(points()); }
  /// An addition and a multiply-add for each pair, and a multiplication.
  double flops() const override {
    return (1 + 1.5 * static_cast<double>(taps() - 1)) * static_cast<double>(points());
  }
  Work work() const override { return {static_cast<double>(points()), 1e9, "Gpoint/s"}; }

  /// Of large fields, some points in planes, rows and columns near the edges, and some anywhere.
  std::vector<std::int64_t> sample(int) const override {
    if (points() * taps() < (1 << 26)) return {};
    std::vector<std::int64_t> places;
    for (std::uint64_t k = 0; k < 1 << 16; ++k) {
      const auto along = [&](std::int64_t n, std::uint64_t axis) {
        const std::uint64_t bits = course::mix(seed() + 11 + axis, k);
        const auto near = static_cast<std::int64_t>(bits % 10);
        return bits >> 62 == 0   ? std::min(near, n - 1)
               : bits >> 62 == 1 ? std::max<std::int64_t>(n - 1 - near, 0)
                                 : static_cast<std::int64_t>((bits >> 8) % std::uint64_t(n));
      };
      places.push_back((along(planes_, 0) * rows_ + along(rows_, 1)) * cols_ + along(cols_, 2));
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    return places;
  }
  void expected(int, double* out) const override {
    const std::vector<std::int64_t> places = sample(0);
    const std::int64_t count = places.empty() ? points() : static_cast<std::int64_t>(places.size());
    course::parallel_for(
        count,
        [&](std::int64_t first, std::int64_t last) {
          for (std::int64_t k = first; k < last; ++k) {
            const std::int64_t at = places.empty() ? k : places[static_cast<std::size_t>(k)];
            out[k] = result(at / cols_ / rows_, at / cols_ % rows_, at % cols_);
          }
        },
        1 << 10);
  }
  /// Products of numbers below 1 with random signs; each addition rounds a sum of at most a few
  /// units. Sums of small whole numbers are exact.
  course::Tolerance tolerance(int) const override {
    if (input() == course::Input::integers) return {0, 0, true};
    const double each = std::numeric_limits<float>::epsilon() * static_cast<double>(taps() + 4);
    return {input() == course::Input::denormal ? each * 0x1p-126 : each, 0, false};
  }

 protected:
  /// Coefficient k of the star: no symmetry among the axes; whole where inputs are whole.
  double coefficient(std::int64_t k) const {
    const course::Input kind = input() == course::Input::integers ? input() : course::Input::random;
    return course::value<float>(kind, seed() + 1, k);
  }
  /// Point `at` of input k.
  virtual double value(std::uint64_t k, std::int64_t at) const {
    return course::value<float>(input(), seed() + 2 * k, at);
  }
  std::int64_t place(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return (z * rows_ + y) * cols_ + x;
  }
  /// Where (z, y, x) lies in memory, or what stands for it beyond an edge; -1: a zero does.
  std::int64_t inside(std::int64_t z, std::int64_t y, std::int64_t x) const {
    const std::int64_t n[] = {planes_, rows_, cols_};
    std::int64_t at[] = {z, y, x};
    for (int axis = 0; axis < 3; ++axis) {
      if (at[axis] >= 0 && at[axis] < n[axis]) continue;
      if (rule_ == by_fixed) return -1;
      at[axis] = (at[axis] % n[axis] + n[axis]) % n[axis];
    }
    return place(at[0], at[1], at[2]);
  }
  virtual double result(std::int64_t z, std::int64_t y, std::int64_t x) const {
    const auto point = [&](std::int64_t zz, std::int64_t yy, std::int64_t xx) {
      const std::int64_t at = inside(zz, yy, xx);
      return at < 0 ? 0.0 : value(0, at);
    };
    double sum = star_.centre * point(z, y, x);
    for (std::int64_t k = 1; k <= radius_; ++k) {
      sum += star_.x[k] * (point(z, y, x - k) + point(z, y, x + k));
      sum += star_.y[k] * (point(z, y - k, x) + point(z, y + k, x));
      if (!flat_) sum += star_.z[k] * (point(z - k, y, x) + point(z + k, y, x));
    }
    return sum;
  }

  bool flat_ = true;
  std::int64_t planes_, rows_, cols_, radius_, rule_;
  Star star_ = {};
};

/// next = 2 now - before + star(now): one step of a wave.
class Wave : public Heat {
 public:
  using Heat::Heat;
  std::vector<course::Array> inputs() const override {
    return {{"now", points(), course::Type::f32, seed()},
            {"before", points(), course::Type::f32, seed() + 2}};
  }
  double bytes_read() const override { return 8.0 * static_cast<double>(points()); }
  double flops() const override { return Heat::flops() + 2.0 * static_cast<double>(points()); }

 protected:
  double result(std::int64_t z, std::int64_t y, std::int64_t x) const override {
    const std::int64_t at = place(z, y, x);
    return 2 * value(0, at) - value(1, at) + Heat::result(z, y, x);
  }
};

/// next = 2 now - before + speed star(now): one step of a wave whose speed depends on the point.
class Layers : public Wave {
 public:
  using Wave::Wave;
  std::vector<course::Array> inputs() const override {
    std::vector<course::Array> all = Wave::inputs();
    all.push_back({"speed", points(), course::Type::f32, seed() + 4});
    return all;
  }
  double bytes_read() const override { return 12.0 * static_cast<double>(points()); }
  double flops() const override { return Wave::flops() + static_cast<double>(points()); }

 protected:
  double result(std::int64_t z, std::int64_t y, std::int64_t x) const override {
    const std::int64_t at = place(z, y, x);
    return 2 * value(0, at) - value(1, at) + value(2, at) * Heat::result(z, y, x);
  }
};

/// One step of a wave that began in the middle of the field and has not reached all of it: a sum of
/// sines near the middle, zeros elsewhere. compressible: see Array::compressible.
class Pulse : public Wave {
 public:
  Pulse(course::Size size, std::uint64_t seed, course::Input input, bool compressible)
      : Wave(std::move(size), seed, input), compressible_(compressible) {}
  std::vector<course::Array> inputs() const override {
    std::vector<course::Array> all = Wave::inputs();
    for (std::uint64_t k = 0; k < 2; ++k) {
      all[k].compressible = compressible_;
      all[k].values = [this, k](void* host) {
        course::parallel_for(points(), [&](std::int64_t first, std::int64_t last) {
          for (std::int64_t at = first; at < last; ++at)
            static_cast<float*>(host)[at] = static_cast<float>(value(k, at));
        });
      };
    }
    return all;
  }
  std::vector<course::Array> outputs() const override {
    std::vector<course::Array> all = Wave::outputs();
    all[0].compressible = compressible_;
    return all;
  }

 protected:
  double value(std::uint64_t k, std::int64_t at) const override {
    if (input() != course::Input::random) return Wave::value(k, at);
    const std::int64_t from_middle[] = {2 * (at / cols_ / rows_) - planes_,
                                        2 * (at / cols_ % rows_) - rows_, 2 * (at % cols_) - cols_};
    std::int64_t square = 0;
    for (const std::int64_t d : from_middle) square += d * d;
    if (square >= size()["spread"] * size()["spread"]) return 0;
    const double phase =
        0.2 * std::sqrt(static_cast<double>(square)) + 0.1 * static_cast<double>(k);
    return static_cast<float>(std::sin(phase));
  }

 private:
  bool compressible_;
};

/// next = 2 now - before + star(now) + xy Dx Dy now + xz Dx Dz now + yz Dy Dz now, see tilted.hpp.
class TiltedWave : public Wave {
 public:
  TiltedWave(course::Size size, std::uint64_t seed, course::Input input)
      : Wave(std::move(size), seed, input) {
    std::int64_t k = 3 * largest_radius + 1;
    const auto next = [&] { return static_cast<float>(coefficient(k++)); };
    tilted_.star = star_;
    for (int r = 1; r <= largest_radius; ++r) tilted_.slope[r] = next();
    tilted_.xy = next(), tilted_.xz = next(), tilted_.yz = next();
  }
  const void* object() const override { return &tilted_; }
  /// As the versions compute it: three first derivatives and one of them taken of another, along
  /// each axis; Dz once for xz and yz.
  double flops() const override {
    return Wave::flops() + (10 * static_cast<double>(radius_) + 6) * static_cast<double>(points());
  }
  /// A sum of 1 + 6 radius products of two numbers below 1, and of 12 radius^2 products of four.
  course::Tolerance tolerance(int) const override {
    course::Tolerance one = Wave::tolerance(0);
    const auto terms = [&](std::int64_t more) { return static_cast<double>(taps() + 4 + more); };
    one.absolute *= terms(12 * radius_ * radius_) / terms(0);
    return one;
  }

 protected:
  double result(std::int64_t z, std::int64_t y, std::int64_t x) const override {
    const auto point = [&](std::int64_t dz, std::int64_t dy, std::int64_t dx) {
      const std::int64_t at = inside(z + dz, y + dy, x + dx);
      return at < 0 ? 0.0 : value(0, at);
    };
    double sum = Wave::result(z, y, x);
    for (std::int64_t a = -radius_; a <= radius_; ++a) {
      for (std::int64_t b = -radius_; b <= radius_; ++b) {
        if (a == 0 || b == 0) continue;
        const double both = (a < 0) == (b < 0) ? 1 : -1;
        const double c = both * tilted_.slope[std::abs(a)] * tilted_.slope[std::abs(b)];
        sum += c * (tilted_.xy * point(0, b, a) + tilted_.xz * point(b, 0, a) +
                    tilted_.yz * point(b, a, 0));
      }
    }
    return sum;
  }

 private:
  Tilted tilted_ = {};
};

/// next = the field after `steps` steps of heat, each with the neighbours at distance 1. Points
/// beyond fixed edges are zero at any time. 8 bytes per point, whatever the steps; work is counted
/// in points and steps.
class SeveralSteps : public Heat {
 public:
  SeveralSteps(const course::Size& size, std::uint64_t seed, course::Input input)
      : Heat(size, seed, input), steps_(std::clamp<std::int64_t>(size["steps"], 1, 4)) {}
  double flops() const override { return static_cast<double>(steps_) * Heat::flops(); }
  Work work() const override { return {static_cast<double>(points() * steps_), 1e9, "Gpoint/s"}; }
  /// An error of one step reaches the next through all coefficients, which add up to less than 7.
  course::Tolerance tolerance(int) const override {
    course::Tolerance one = Heat::tolerance(0);
    for (std::int64_t k = 1; k < steps_; ++k) one.absolute *= 7;
    return one;
  }

 protected:
  /// From the cube of points that reach (z, y, x) in time, which shrinks with each step.
  double result(std::int64_t z, std::int64_t y, std::int64_t x) const override {
    const std::int64_t side = 2 * steps_ + 1;
    std::vector<double> now(static_cast<std::size_t>(side * side * side)), next(now);
    const auto cell = [&](std::int64_t dz, std::int64_t dy, std::int64_t dx) {
      return static_cast<std::size_t>(((dz + steps_) * side + dy + steps_) * side + dx + steps_);
    };
    for (std::int64_t t = 0; t <= steps_; ++t) {
      const std::int64_t reach = steps_ - t;
      for (std::int64_t dz = -reach; dz <= reach; ++dz) {
        for (std::int64_t dy = -reach; dy <= reach; ++dy) {
          for (std::int64_t dx = -reach; dx <= reach; ++dx) {
            const std::int64_t at = inside(z + dz, y + dy, x + dx);
            const std::size_t here = cell(dz, dy, dx);
            next[here] =
                at < 0 ? 0
                : t == 0
                    ? value(0, at)
                    : star_.centre * now[here] + star_.x[1] * (now[here - 1] + now[here + 1]) +
                          star_.y[1] * (now[cell(dz, dy - 1, dx)] + now[cell(dz, dy + 1, dx)]) +
                          star_.z[1] * (now[cell(dz - 1, dy, dx)] + now[cell(dz + 1, dy, dx)]);
          }
        }
      }
      now.swap(next);
    }
    return now[cell(0, 0, 0)];
  }

 private:
  std::int64_t steps_;
};
