#pragma once
/// \file
/// The problem of this chapter in host C++: bodies in three layouts, float or double; reference,
/// least traffic, tolerance. Versions never include it.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <type_traits>
#include <vector>

#include "chapter/input.hpp"
#include "chapter/problem.hpp"

/// The launcher of every version for bodies of one array: In is a body, Out an acceleration.
template <class In, class Out, class T>
using Accelerate = cudaError_t(const In* bodies, Out* acceleration, std::int64_t n, T softening,
                               cudaStream_t stream);
using AccelerateFloat = Accelerate<float4, float4, float>;
using AccelerateArrays = cudaError_t(const float* xs, const float* ys, const float* zs,
                                     const float* masses, float4* acceleration, std::int64_t n,
                                     float softening, cudaStream_t stream);
namespace array_of_structures {
struct Body;
using AccelerateBodies = Accelerate<Body, float4, float>;
}  // namespace array_of_structures
namespace double_precision {
struct Body;
struct Vector;
using AccelerateDouble = Accelerate<Body, Vector, double>;
}  // namespace double_precision

namespace nbody {

/// The length below which gravity fades. Positions lie in [-1, 1), so that among 2^17 bodies the
/// nearest is as far away as this; and its square, 2^-12, is exact in float.
constexpr double softening = 0x1p-6;

constexpr double flops_per_interaction = 20;  // as the field counts: the root as some of them

/// Position and mass.
struct Body {
  double x, y, z, m;
};

/// What a problem expects of the bodies that are compared.
struct Reference {
  std::vector<double> values;  ///< {x, y, z, 0} of each
  double magnitude = 0;        ///< the largest sum of the magnitudes of what a body's sum adds up
};

enum class Layout { structures, arrays, vectors };

}  // namespace nbody

/// Accelerations of n bodies that attract each other:
/// a_i = sum over j of m_j (p_j - p_i) / (|p_j - p_i|^2 + softening^2)^(3/2), j = i included, which
/// adds zero. Output: n times {x, y, z, 0}.
template <class T, nbody::Layout layout>
class Gravity : public course::Problem {
 public:
  using Problem::Problem;
  std::vector<course::Array> inputs() const override {
    if (layout == nbody::Layout::arrays) {
      return {{"x", n(), type, seed()},
              {"y", n(), type, seed() + 1},
              {"z", n(), type, seed() + 2},
              {"m", n(), type, seed() + 3, 0, 1}};
    }
    return {{"bodies", stride * n(), type, seed(), 0, stride}};  // the mass is last
  }
  std::vector<course::Array> outputs() const override { return {{"acceleration", 4 * n(), type}}; }
  double bytes_read() const override { return 4.0 * sizeof(T) * static_cast<double>(n()); }
  double bytes_written() const override { return bytes_read(); }
  double interactions() const { return static_cast<double>(n()) * static_cast<double>(n()); }
  double flops() const override { return nbody::flops_per_interaction * interactions(); }
  Work work() const override { return {flops(), 1e12, "TFLOP/s"}; }
  double scalar(int) const override { return nbody::softening; }

  /// All bodies up to 2^13; of more bodies 1024: the first, the last, and one at random of each of
  /// 1022 parts between.
  std::vector<std::int64_t> bodies_compared() const {
    constexpr std::int64_t all = 1 << 13, some = 1024;
    std::vector<std::int64_t> bodies;
    for (std::int64_t k = 0; k < std::min(n(), n() <= all ? n() : some); ++k) {
      if (n() <= all) {
        bodies.push_back(k);
      } else if (k == some - 1) {
        bodies.push_back(n() - 1);
      } else {
        const std::int64_t first = n() * k / some, next = n() * (k + 1) / some;
        const std::uint64_t bits = course::mix(seed() + 4, static_cast<std::uint64_t>(k));
        bodies.push_back(k == 0 ? 0
                                : first + static_cast<std::int64_t>(bits >> 33) % (next - first));
      }
    }
    return bodies;
  }
  std::vector<std::int64_t> sample(int) const override {
    std::vector<std::int64_t> elements;
    const std::vector<std::int64_t> bodies = bodies_compared();
    if (static_cast<std::int64_t>(bodies.size()) == n()) return {};
    for (const std::int64_t body : bodies) {
      for (int k = 0; k < 4; ++k) elements.push_back(4 * body + k);
    }
    return elements;
  }
  void expected(int, double* values) const override {
    std::copy(reference().values.begin(), reference().values.end(), values);
  }

  /// With u = 2^-24 (2^-53 for double) and S = the sum of the magnitudes of what all bodies j add:
  /// - What one body adds is off by at most 24 u of itself. The sum of squares has 4 roundings
  ///   (differences of these positions are exact), so its root 2 u, and the root's instruction less
  ///   than 4 u; three times that for the cube; 3 products, and 3 for terms of second order.
  /// - n additions round by at most u times a partial sum, which S bounds: n u S. That is the bound
  ///   for inputs with a pattern, where many errors go the same way.
  /// - Of random bodies and of integers they go either way, as sqrt(n) u S; 4 times that is beyond
  ///   reach. What goes one way is what vanishes: a body adds about S / n, and from some 2^18
  ///   bodies on the smallest of these are lost in the last bit of the sum. We allow n / 256 u S
  ///   for it, a few times what a plain loop in float loses at 2^20.
  ///   A body that is left out counts about S / n, which is more than all that up to some 10^4
  ///   bodies.
  /// - Numbers below 2^-126 may count as zero. Here a mass of 2^-126 makes less than 2^-115, and
  ///   one comes from every body.
  course::Tolerance tolerance(int) const override {
    if (input() == course::Input::equal) return {0, 0, true};  // all in one place
    const double u = std::is_same<T, float>::value ? 0x1p-24 : 0x1p-53;
    const double reference_too = std::is_same<T, float>::value ? 1 : 2;  // it is in double
    const double count = static_cast<double>(n());
    const bool patternless = input() == course::Input::random || input() == course::Input::integers;
    const double sum = patternless ? std::min(count, 4 * std::sqrt(count) + count / 256) : count;
    return {reference_too * (24 + sum) * u * reference().magnitude + count * 0x1p-115, 0, false};
  }

 private:
  static constexpr course::Type type =
      std::is_same<T, float>::value ? course::Type::f32 : course::Type::f64;
  static constexpr std::int64_t stride = layout == nbody::Layout::structures ? 7 : 4;

  std::vector<nbody::Body> bodies() const {
    std::vector<nbody::Body> all(static_cast<std::size_t>(n()));
    const std::vector<course::Array> arrays = inputs();
    const auto element = [&](std::size_t array, std::int64_t i) {
      return static_cast<double>(
          course::value<T>(input(), arrays[array].seed, i, arrays[array].magnitude_every));
    };
    course::parallel_for(n(), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        all[static_cast<std::size_t>(i)] =
            layout == nbody::Layout::arrays
                ? nbody::Body{element(0, i), element(1, i), element(2, i), element(3, i)}
                : nbody::Body{element(0, stride * i), element(0, stride * i + 1),
                              element(0, stride * i + 2), element(0, stride * i + stride - 1)};
      }
    });
    return all;
  }

  /// Computed once: it takes n interactions for each body that is compared.
  const nbody::Reference& reference() const {
    if (reference_) return *reference_;
    reference_.emplace();
    if (n() == 0) return *reference_;
    const std::vector<nbody::Body> all = bodies();
    const std::vector<std::int64_t> compared = bodies_compared();
    reference_->values.resize(4 * compared.size());
    std::mutex mutex;
    const auto some = [&](std::int64_t first, std::int64_t last) {
      double magnitude = 0;
      for (std::int64_t k = first; k < last; ++k) {
        const std::int64_t i = compared[static_cast<std::size_t>(k)];
        magnitude =
            std::max(magnitude, accelerate(all, all[static_cast<std::size_t>(i)],
                                           &reference_->values[static_cast<std::size_t>(4 * k)]));
      }
      const std::lock_guard<std::mutex> lock(mutex);
      reference_->magnitude = std::max(reference_->magnitude, magnitude);
    };
    // as many bodies as make 2^16 interactions are worth a thread
    course::parallel_for(static_cast<std::int64_t>(compared.size()), some, (1 << 16) / n() + 1);
    return *reference_;
  }

  /// Writes {x, y, z, 0} of one body. \returns the sum of the magnitudes of what is added up.
  static double accelerate(const std::vector<nbody::Body>& all, const nbody::Body& me,
                           double* acceleration) {
    constexpr double softening2 = nbody::softening * nbody::softening;
    double ax = 0, ay = 0, az = 0, magnitude = 0;
    for (const nbody::Body& other : all) {
      const double dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
      const double distance2 = dx * dx + dy * dy + dz * dz;
      const double softened = distance2 + softening2;
      const double pull = other.m / (softened * std::sqrt(softened));
      ax += pull * dx;
      ay += pull * dy;
      az += pull * dz;
      magnitude += pull * std::max({std::fabs(dx), std::fabs(dy), std::fabs(dz)});
    }
    acceleration[0] = ax, acceleration[1] = ay, acceleration[2] = az, acceleration[3] = 0;
    return magnitude;
  }

  mutable std::optional<nbody::Reference> reference_;
};

using GravityOfStructures = Gravity<float, nbody::Layout::structures>;
using GravityOfArrays = Gravity<float, nbody::Layout::arrays>;
using GravityOfVectors = Gravity<float, nbody::Layout::vectors>;
/// The same, its rate in interactions: flops make no sense for a version that saves some of them.
class GravityInPairs : public GravityOfVectors {
 public:
  using Gravity::Gravity;
  Work work() const override { return {interactions(), 1e12, "T/s"}; }
};
using GravityInDouble = Gravity<double, nbody::Layout::vectors>;
