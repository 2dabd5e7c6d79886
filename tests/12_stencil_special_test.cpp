// Chapter 12: what a scheme must do whatever its kernel: a wave keeps its energy, heat its sum, a
// derivative has its order, a NaN moves one star per step, an impulse becomes the stencil, rows
// begin anywhere.
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "chapter_test.hpp"
#include "stencil.hpp"

namespace {

using course::Size;
using course::Version;
using Floats = std::vector<float>;
using Doubles = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A point, or the extent of a field, along z, y and x.
struct Triple {
  std::int64_t z, y, x;
};

/// A field, a star, and a rule at the edge. A plane has no neighbours along z. If tilt has slopes,
/// its mixed derivatives are added to the star; tilt.star is not used.
struct Scheme {
  Triple n;
  Star star;
  std::int64_t radius, rule;
  bool flat = false;
  Tilted tilt = {};

  std::int64_t points() const { return n.z * n.y * n.x; }
  std::size_t place(const Triple& p) const {
    return static_cast<std::size_t>((p.z * n.y + p.y) * n.x + p.x);
  }
  /// Whether a point of the field stands for p; if so, p becomes that point.
  bool find(Triple* p) const {
    const auto along = [this](std::int64_t* i, std::int64_t count) {
      if (rule == by_periodic) *i = ((*i % count) + count) % count;
      return *i >= 0 && *i < count;
    };
    return along(&p->z, n.z) && along(&p->y, n.y) && along(&p->x, n.x);
  }
  /// Calls body(p, coefficient) for the point at p and each other point of its stencil.
  template <class Body>
  void for_star(const Triple& p, Body body) const {
    body(p, star.centre);
    for (std::int64_t k = -radius; k <= radius; ++k) {
      if (k == 0) continue;
      const std::int64_t distance = std::abs(k);
      body(Triple{p.z, p.y, p.x + k}, star.x[distance]);
      body(Triple{p.z, p.y + k, p.x}, star.y[distance]);
      if (!flat) body(Triple{p.z + k, p.y, p.x}, star.z[distance]);
    }
    if (tilt.slope[1] == 0) return;
    const auto slope = [this](std::int64_t k) {
      return (k < 0 ? -1.0 : 1.0) * static_cast<double>(tilt.slope[std::abs(k)]);
    };
    for (std::int64_t a = -radius; a <= radius; ++a) {
      for (std::int64_t b = -radius; b <= radius; ++b) {
        if (a == 0 || b == 0) continue;
        body(Triple{p.z, p.y + b, p.x + a}, tilt.xy * slope(a) * slope(b));
        body(Triple{p.z + b, p.y, p.x + a}, tilt.xz * slope(a) * slope(b));
        body(Triple{p.z + b, p.y + a, p.x}, tilt.yz * slope(a) * slope(b));
      }
    }
  }
  template <class Body>
  void for_points(Body body) const {
    for (std::int64_t z = 0; z < n.z; ++z) {
      for (std::int64_t y = 0; y < n.y; ++y) {
        for (std::int64_t x = 0; x < n.x; ++x) body(Triple{z, y, x});
      }
    }
  }
  /// The stencil applied to now. Beyond a fixed edge nothing is added, so that no infinity meets a
  /// zero.
  Doubles apply(const Doubles& now) const {
    Doubles sum(now.size());
    for_points([&](const Triple& p) {
      for_star(p, [&](Triple from, double coefficient) {
        if (find(&from)) sum[place(p)] += coefficient * now[place(from)];
      });
    });
    return sum;
  }
};

/// What the rows of a study compute.
enum class Kind { wave, heat, several, plane, layers, tilted };

const char* study_name(Kind kind) {
  switch (kind) {
    case Kind::wave:
      return "sequence";
    case Kind::heat:
      return "heat";
    case Kind::several:
      return "time";
    case Kind::plane:
      return "plane";
    case Kind::layers:
      return "layers";
    default:
      return "tilted";
  }
}

/// How many fields a row reads: now; before; the speed of each point.
std::size_t inputs_of(Kind kind) {
  if (kind == Kind::layers) return 3;
  return kind == Kind::wave || kind == Kind::tilted ? 2 : 1;
}

/// A scheme with arrays of the caller's choice, for one launch.
class Given : public course::Problem {
 public:
  /// inputs: see inputs_of. steps: of several. offsets: in bytes, of the inputs and, last, next.
  Given(Kind kind, const Scheme& scheme, std::vector<Floats> inputs, std::int64_t steps = 1,
        std::vector<std::int64_t> offsets = {0, 0, 0, 0})
      : Problem(size_of(kind, scheme, steps), 1, course::Input::random),
        kind_(kind),
        coefficients_(scheme.tilt),
        values_(std::move(inputs)),
        offsets_(std::move(offsets)) {
    coefficients_.star = scheme.star;
  }
  const void* object() const override {
    if (kind_ == Kind::tilted) return &coefficients_;
    return &coefficients_.star;
  }
  std::vector<course::Array> inputs() const override {
    std::vector<course::Array> all;
    for (const Floats& values : values_) {
      course::Array array{"input", static_cast<std::int64_t>(values.size())};
      array.offset_bytes = offsets_[all.size()];
      array.values = [&values](void* host) {
        std::copy(values.begin(), values.end(), static_cast<float*>(host));
      };
      all.push_back(array);
    }
    return all;
  }
  std::vector<course::Array> outputs() const override {
    course::Array next{"next", static_cast<std::int64_t>(values_[0].size())};
    next.offset_bytes = offsets_.back();
    return {next};
  }
  double bytes_read() const override { return 0; }
  double bytes_written() const override { return 0; }
  void expected(int, double*) const override { FAIL() << "the test has its own reference"; }
  course::Tolerance tolerance(int) const override { return {}; }

 private:
  static Size size_of(Kind kind, const Scheme& scheme, std::int64_t steps) {
    const Triple& n = scheme.n;
    if (kind == Kind::plane) return plane_size(n.y, n.x, scheme.radius, scheme.rule);
    if (kind == Kind::several) return steps_size(n.z, n.y, n.x, steps, scheme.rule);
    return field_size(n.z, n.y, n.x, scheme.radius, scheme.rule);
  }
  Kind kind_;
  Tilted coefficients_;
  std::vector<Floats> values_;
  std::vector<std::int64_t> offsets_;
};

/// Calls body(version) for each row of the study that can run here.
template <class Body>
void for_each_row(Kind kind, const Given& given, const course::Device& gpu, Body body) {
  const course::Study study = course_test::study_of(course::chapter(), study_name(kind));
  course_test::for_each_version(study, given.size(), gpu, [&](const Version& version) {
    if (version.role != course::Role::peer) body(version);
  });
}

/// next, as one launch writes it.
Floats next_of(const Version& version, const Given& given) {
  course::DeviceArrays arrays(version, given, nullptr);
  arrays.poison_outputs();
  EXPECT_EQ(version.launch(given, arrays.arguments()), cudaSuccess);
  return course_test::to_host<float>(arrays.arguments().outputs[0], given.outputs()[0].count);
}

Doubles widened(const Floats& values) { return Doubles(values.begin(), values.end()); }
Floats narrowed(const Doubles& values) {
  Floats floats;
  for (const double value : values) floats.push_back(static_cast<float>(value));
  return floats;
}

/// The next step of a wave: 2 now - before + the stencil applied to now.
Doubles wave_after(const Scheme& scheme, const Doubles& now, const Doubles& before) {
  Doubles next = scheme.apply(now);
  for (std::size_t i = 0; i < next.size(); ++i) next[i] += 2 * now[i] - before[i];
  return next;
}

/// One step from the inputs of a row.
Doubles after(Kind kind, const Scheme& scheme, const std::vector<Doubles>& inputs) {
  Doubles next = scheme.apply(inputs[0]);
  for (std::size_t i = 0; i < next.size(); ++i) {
    if (kind == Kind::layers) next[i] *= inputs[2][i];
    if (inputs.size() > 1) next[i] += 2 * inputs[0][i] - inputs[1][i];
  }
  return next;
}

/// Fails at the first point that is not what it must be: NaN for NaN, the same infinity, or at most
/// `most` away from a number.
void expect_field(const Floats& got, const Doubles& want, const Scheme& scheme, double most) {
  ASSERT_EQ(got.size(), want.size());
  bool right = true;
  scheme.for_points([&](const Triple& p) {
    const double is = got[scheme.place(p)], must = want[scheme.place(p)];
    const bool fine = std::isnan(must)   ? std::isnan(is)
                      : std::isinf(must) ? is == must
                                         : std::abs(is - must) <= most;
    if (!fine && right) {
      ADD_FAILURE() << is << " in place of " << must << " in plane " << p.z << ", row " << p.y
                    << ", column " << p.x;
    }
    right = right && fine;
  });
}

/// Values between -1 and 1.
Floats noise(std::int64_t count, std::uint64_t seed) {
  Floats values;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto bits =
        static_cast<std::int64_t>(course::mix(seed, static_cast<std::uint64_t>(i)) >> 40);
    values.push_back(static_cast<float>(bits) * 0x1p-23f - 1);
  }
  return values;
}

/// Whole numbers from -4 to 4.
Floats whole_numbers(std::int64_t count, std::uint64_t seed) {
  Floats values;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = course::mix(seed, static_cast<std::uint64_t>(i));
    values.push_back(static_cast<float>(bits % 9) - 4);
  }
  return values;
}

/// A whole coefficient for each place of a star. No two are equal, none is 0.
Star numbered_star() {
  Star star = {};
  star.centre = 1;
  for (int k = 1; k <= largest_radius; ++k) {
    star.x[k] = static_cast<float>(3 * k - 1);
    star.y[k] = static_cast<float>(-3 * k);
    star.z[k] = static_cast<float>(3 * k + 1);
  }
  return star;
}

/// Whole slopes and factors, no two equal, none 0.
Tilted numbered_tilt() {
  Tilted tilt = {};
  const float slopes[] = {0, 2, -3, 5, 7};
  std::copy(std::begin(slopes), std::end(slopes), tilt.slope);
  tilt.xy = -2, tilt.xz = 3, tilt.yz = 4;
  return tilt;
}

/// Coefficient k of the second derivative of order 2 radius, on a grid of spacing 1.
double second_derivative(std::int64_t radius, std::int64_t k) {
  if (k == 0) {
    double centre = 0;
    for (std::int64_t i = 1; i <= radius; ++i) centre -= 2 * second_derivative(radius, i);
    return centre;
  }
  // 2 (-1)^(k + 1) / k^2 times (radius!)^2 / ((radius - k)! (radius + k)!)
  double value = (k % 2 == 1 ? 2.0 : -2.0) / static_cast<double>(k * k);
  for (std::int64_t i = 1; i <= k; ++i)
    value *= static_cast<double>(radius - k + i) / static_cast<double>(radius + i);
  return value;
}

/// Coefficient k > 0 of the first derivative of order 2 radius, on a grid of spacing 1:
/// (-1)^(k + 1) / k times (radius!)^2 / ((radius - k)! (radius + k)!).
double first_derivative(std::int64_t radius, std::int64_t k) {
  return second_derivative(radius, k) * static_cast<double>(k) / 2;
}

/// The sum of the second derivatives along the axes, times a factor for each.
Star weighted_derivatives(std::int64_t radius, double along_z, double along_y, double along_x) {
  Star star = {};
  const double centre = second_derivative(radius, 0);
  star.centre = static_cast<float>((along_z + along_y + along_x) * centre);
  for (std::int64_t k = 1; k <= radius; ++k) {
    const double value = second_derivative(radius, k);
    star.z[k] = static_cast<float>(along_z * value);
    star.y[k] = static_cast<float>(along_y * value);
    star.x[k] = static_cast<float>(along_x * value);
  }
  return star;
}

/// The sum of the mixed derivatives, times a factor for each.
Tilted weighted_mixed(std::int64_t radius, double xy, double xz, double yz) {
  Tilted tilt = {};
  for (std::int64_t k = 1; k <= radius; ++k)
    tilt.slope[k] = static_cast<float>(first_derivative(radius, k));
  tilt.xy = static_cast<float>(xy), tilt.xz = static_cast<float>(xz);
  tilt.yz = static_cast<float>(yz);
  return tilt;
}

// ---------------------------------------------------------------- energy

/// With a symmetric stencil S and a positive factor c for each point, leapfrog
/// u+ = 2 u - u- + c S u keeps E = |u+ - u|^2 / 2 - <u+, S u> / 2, where |v|^2 is the sum of
/// v^2 / c. In a step the first term grows by the sum of (u+ - u-) (u+ - 2 u + u-) / (2 c), which
/// is <u+ - u-, S u> / 2. The second grows by -<u+, S u> / 2 + <u, S u-> / 2, and <u, S u-> is <u-,
/// S u>. So E stays. c is 1 where `speed` is empty.
double energy(const Scheme& scheme, const Doubles& next, const Doubles& now,
              const Doubles& speed = {}) {
  const Doubles force = scheme.apply(now);
  double kinetic = 0, potential = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const double c = speed.empty() ? 1 : speed[i];
    kinetic += (next[i] - now[i]) * (next[i] - now[i]) / (2 * c);
    potential -= next[i] * force[i] / 2;
  }
  return kinetic + potential;
}

void check_energy(Kind kind, std::int64_t radius, std::int64_t rule) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  if (course_test::in_another_order()) GTEST_SKIP() << "about values";
  const Triple n = gpu->simulated ? Triple{3, 4, 8} : Triple{21, 37, 140};
  // Stable: the second derivative multiplies a wave by at least -6.6, and 6.6 * 0.5 < 4. A first
  // derivative multiplies it by at most 1.8, so that the mixed ones add less than 1.8^2 * 0.12.
  Scheme scheme{n, weighted_derivatives(radius, 0.1, 0.15, 0.25), radius, rule};
  if (kind == Kind::tilted) scheme.tilt = weighted_mixed(radius, 0.05, -0.03, 0.04);
  const Floats now = noise(scheme.points(), 1);
  Floats before = noise(scheme.points(), 2);
  for (std::size_t i = 0; i < before.size(); ++i) before[i] = now[i] + before[i] / 4;
  std::vector<Floats> inputs = {now, before};
  Doubles speed;  // between 1/4 and 1
  if (kind == Kind::layers) {
    inputs.push_back(noise(scheme.points(), 3));
    for (float& c : inputs[2]) c = 0.625f + 0.375f * c;
    speed = widened(inputs[2]);
  }
  const Given given(kind, scheme, inputs);
  const double first = energy(scheme, widened(now), widened(before), speed);
  ASSERT_GT(first, 0.01 * static_cast<double>(scheme.points()));
  const int steps = !gpu->simulated ? 1000 : kind == Kind::tilted ? 20 : 40;
  for_each_row(kind, given, *gpu, [&](const Version& version) {
    course::DeviceArrays arrays(version, given, nullptr);
    course::Arguments arguments = arrays.arguments();
    const auto host = [&](const void* device) {
      return widened(course_test::to_host<float>(device, scheme.points()));
    };
    for (int t = 1; t <= steps; ++t) {
      ASSERT_EQ(version.launch(given, arguments), cudaSuccess);
      std::swap(arguments.inputs[1], arguments.outputs[0]);  // now, next, before
      std::swap(arguments.inputs[0], arguments.inputs[1]);   // next, now, before
      if (t % 20 != 0) continue;
      const double is = energy(scheme, host(arguments.inputs[0]), host(arguments.inputs[1]), speed);
      ASSERT_NEAR(is, first, 1e-4 * first) << "after " << t << " steps";
    }
  });
}

TEST(Energy, OfAWaveWithFixedEdges) { check_energy(Kind::wave, 4, by_fixed); }

TEST(Energy, OfAWaveWithPeriodicEdges) { check_energy(Kind::wave, 2, by_periodic); }

TEST(Energy, OfAWaveInLayers) {
  check_energy(Kind::layers, 4, by_fixed);
  check_energy(Kind::layers, 3, by_periodic);
}

TEST(Energy, OfATiltedWave) { check_energy(Kind::tilted, 3, by_fixed); }

/// The tests above would see a lost symmetry: with one coefficient changed by a hundredth on one
/// side only, the same sums do not stay.
TEST(Energy, IsLostWithoutSymmetry) {
  const Scheme scheme{{3, 5, 8}, weighted_derivatives(4, 0.1, 0.15, 0.25), 4, by_fixed};
  Doubles now = widened(noise(scheme.points(), 1)), before = now;
  const double first = energy(scheme, now, before);
  for (int t = 0; t < 50; ++t) {
    Doubles next = wave_after(scheme, now, before);
    scheme.for_points([&](const Triple& p) {
      Triple left{p.z, p.y, p.x - 1};
      if (scheme.find(&left)) next[scheme.place(p)] += 0.01 * now[scheme.place(left)];
    });
    before = std::exchange(now, std::move(next));
  }
  EXPECT_GT(std::abs(energy(scheme, now, before) - first), 1e-3 * first);
}

// ---------------------------------------------------------------- order

/// A star applied to a field by each row that has one: a wave whose `before` is 2 now, and a plane.
void for_each_applied(const Scheme& scheme, const Floats& now, const course::Device& gpu,
                      const std::function<void(const Floats&)>& check) {
  Floats twice = now;
  for (float& value : twice) value *= 2;
  const Given wave(Kind::wave, scheme, {now, twice});
  for_each_row(Kind::wave, wave, gpu,
               [&](const Version& version) { check(next_of(version, wave)); });
  if (scheme.n.z > 1) return;
  const Given plane(Kind::plane, scheme, {now});
  for_each_row(Kind::plane, plane, gpu,
               [&](const Version& version) { check(next_of(version, plane)); });
}

/// The largest errors of the second derivative of `waves` waves along an axis of `count` points,
/// relative to the largest second derivative; an error for each row.
Doubles errors_of(std::int64_t radius, char axis, std::int64_t waves, std::int64_t count,
                  const course::Device& gpu) {
  Triple n{1, 1, 1};
  (axis == 'x' ? n.x : axis == 'y' ? n.y : n.z) = count;
  const Star star = weighted_derivatives(radius, axis == 'z', axis == 'y', axis == 'x');
  const Scheme scheme{n, star, radius, by_periodic, axis != 'z'};
  const double turn = 2 * std::acos(-1.0) * static_cast<double>(waves) / static_cast<double>(count);
  Floats now;
  for (std::int64_t i = 0; i < count; ++i)
    now.push_back(static_cast<float>(std::sin(turn * static_cast<double>(i) + 0.3)));
  Doubles errors;
  for_each_applied(scheme, now, gpu, [&](const Floats& got) {
    double largest = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const double want = -turn * turn * std::sin(turn * static_cast<double>(i) + 0.3);
      largest = std::max(largest, std::abs(got[static_cast<std::size_t>(i)] - want));
    }
    errors.push_back(largest / (turn * turn));
  });
  return errors;
}

/// Twice as many points divide the error by about 2^order. The waves are so short that rounding,
/// about 1e-6 of the result, is far below the error.
TEST(Order, OfTheSecondDerivativeOfWaves) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  if (course_test::in_another_order()) GTEST_SKIP() << "about values";
  const std::vector<std::int64_t> waves_of_radius[] = {{}, {1, 2}, {2, 3}, {3}, {4}};
  for (std::int64_t radius = 1; radius <= 4; ++radius) {
    for (const std::int64_t waves : waves_of_radius[radius]) {
      for (const char axis : {'x', 'y', 'z'}) {
        SCOPED_TRACE(std::to_string(waves) + " waves along " + axis + ", radius " +
                     std::to_string(radius));
        const double order = 2.0 * static_cast<double>(radius);
        const Doubles coarse = errors_of(radius, axis, waves, 16, *gpu);
        const Doubles fine = errors_of(radius, axis, waves, 32, *gpu);
        ASSERT_EQ(coarse.size(), fine.size());
        for (std::size_t k = 0; k < fine.size(); ++k) {
          EXPECT_LT(coarse[k], 0.1);
          EXPECT_NEAR(std::log2(coarse[k] / fine[k]), order, order / 10)
              << "row " << k << " of those above: " << coarse[k] << ", then " << fine[k];
        }
      }
    }
  }
}

/// Times 5040 the coefficients of all four orders are whole. At 0 the second derivative of t^d is
/// exactly 2 for d = 2 and 0 for the others, up to d = order + 1; for the next even d it is not.
TEST(Order, OfTheSecondDerivativeOfPowers) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  if (course_test::in_another_order()) GTEST_SKIP() << "about values";
  for (std::int64_t radius = 1; radius <= 4; ++radius) {
    const Scheme scheme{
        {1, 1, 9}, weighted_derivatives(radius, 0, 0, 5040), radius, by_fixed, true};
    for (std::int64_t k = 1; k <= radius; ++k)
      ASSERT_EQ(scheme.star.x[k], std::round(scheme.star.x[k])) << "radius " << radius;
    for (std::int64_t d = 0; d <= 2 * radius + 2; ++d) {
      SCOPED_TRACE("t^" + std::to_string(d) + ", radius " + std::to_string(radius));
      Floats now;
      for (int t = -4; t <= 4; ++t)
        now.push_back(static_cast<float>(std::pow(t, static_cast<int>(d))));
      for_each_applied(scheme, now, *gpu, [&](const Floats& got) {
        if (d == 2 * radius + 2)
          EXPECT_NE(got[4], 0);
        else
          EXPECT_EQ(got[4], d == 2 ? 2 * 5040 : 0);
      });
    }
  }
}

/// The error of star + xy DxDy + xz DxDz + yz DyDz of a plane wave
/// sin(turn (x + 0.8 y - 0.7 z) + 0.3), relative to the result; an error for each tilted row. Fixed
/// edges, so that only the interior counts. The weights let all terms, and all their errors, add
/// up.
Doubles tilted_errors(std::int64_t radius, double turn, const course::Device& gpu) {
  const double weight_z = 1.3, weight_y = 0.8, weight_x = 1, xy = 0.9, xz = -1.1, yz = -0.6;
  const double x = turn, y = 0.8 * turn, z = -0.7 * turn;
  const Scheme scheme{{11, 12, 40}, weighted_derivatives(radius, weight_z, weight_y, weight_x),
                      radius,       by_fixed,
                      false,        weighted_mixed(radius, xy, xz, yz)};
  const auto wave = [&](const Triple& p) {
    return std::sin(x * static_cast<double>(p.x) + y * static_cast<double>(p.y) +
                    z * static_cast<double>(p.z) + 0.3);
  };
  const double result = -(weight_x * x * x + weight_y * y * y + weight_z * z * z + xy * x * y +
                          xz * x * z + yz * y * z);
  Floats now, twice;
  scheme.for_points([&](const Triple& p) {
    now.push_back(static_cast<float>(wave(p)));
    twice.push_back(2 * now.back());
  });
  const Given given(Kind::tilted, scheme, {now, twice});
  Doubles errors;
  for_each_row(Kind::tilted, given, gpu, [&](const Version& version) {
    const Floats got = next_of(version, given);
    double error = 0, whole = 0;
    scheme.for_points([&](const Triple& p) {
      for (const auto& [i, n] :
           {std::pair(p.z, scheme.n.z), std::pair(p.y, scheme.n.y), std::pair(p.x, scheme.n.x)})
        if (i < radius || i >= n - radius) return;
      const double must = result * wave(p);
      error += (got[scheme.place(p)] - must) * (got[scheme.place(p)] - must);
      whole += must * must;
    });
    errors.push_back(std::sqrt(error / whole));
  });
  return errors;
}

/// As for waves along the axes: half the spacing divides the error by about 2^order. All points of
/// a plane wave have the same relative error.
TEST(Order, OfTheMixedDerivativesOfAPlaneWave) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  if (course_test::in_another_order()) GTEST_SKIP() << "about values";
  const double turns[] = {0, 0.6, 1, 1.2, 1.35};
  for (std::int64_t radius = 1; radius <= 4; ++radius) {
    SCOPED_TRACE("radius " + std::to_string(radius));
    const double order = 2.0 * static_cast<double>(radius);
    const Doubles coarse = tilted_errors(radius, turns[radius], *gpu);
    const Doubles fine = tilted_errors(radius, turns[radius] / 2, *gpu);
    ASSERT_EQ(coarse.size(), fine.size());
    for (std::size_t k = 0; k < fine.size(); ++k) {
      EXPECT_LT(coarse[k], 0.1);
      EXPECT_NEAR(std::log2(coarse[k] / fine[k]), order, order / 10)
          << "row " << k << " of those above: " << coarse[k] << ", then " << fine[k];
    }
  }
}

// ---------------------------------------------------------------- sums and speeds

/// Periodic edges and coefficients that add up to 1 keep the sum of the field. Whole numbers below
/// 2^24 keep it exactly; two steps reach 4 * 239^2.
TEST(Sums, OfHeatStay) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  if (course_test::in_another_order()) GTEST_SKIP() << "about values";
  for (std::int64_t radius = 1; radius <= 4; ++radius) {
    for (const Triple& n : {Triple{5, 6, 12}, Triple{9, 18, 13}, Triple{1, 3, 2}}) {
      Scheme scheme{n, numbered_star(), radius, by_periodic};
      for (std::int64_t k = 1; k <= radius; ++k)
        scheme.star.centre -= 2 * (scheme.star.x[k] + scheme.star.y[k] + scheme.star.z[k]);
      const auto sum_of = [](const Floats& field) {
        double sum = 0;
        for (const float value : field) sum += value;
        return sum;
      };
      const Floats now = whole_numbers(scheme.points(), 12);
      const Given given(Kind::heat, scheme, {now});
      for_each_row(Kind::heat, given, *gpu, [&](const Version& version) {
        const Floats next = next_of(version, given);
        EXPECT_NE(next, now);
        EXPECT_EQ(sum_of(next), sum_of(now));
        EXPECT_EQ(sum_of(next_of(version, Given(Kind::heat, scheme, {next}))), sum_of(now));
      });
    }
  }
}

/// Rows of whole vectors with fixed edges, and other fields: a kernel may treat them differently.
void for_each_layered(const std::function<void(const Scheme&)>& body) {
  for (std::int64_t radius = 1; radius <= 4; ++radius) {
    const Star star = weighted_derivatives(radius, 0.1, 0.15, 0.25);
    body({{7, 18, 132}, star, radius, by_fixed});
    body({{3, 5, 11}, star, radius, by_fixed});
    body({{3, 5, 8}, star, radius, by_periodic});
  }
}

/// The speed 1 at each point makes a wave, up to roundings.
TEST(Speeds, OfOneAreAWave) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  if (course_test::in_another_order()) GTEST_SKIP() << "about values";
  for_each_layered([&](const Scheme& scheme) {
    const Floats now = noise(scheme.points(), 13), before = noise(scheme.points(), 14);
    const Doubles want = wave_after(scheme, widened(now), widened(before));
    const Floats ones(now.size(), 1);
    const Given layers(Kind::layers, scheme, {now, before, ones});
    // Sums below 6 with up to 27 roundings of 2^-24 each.
    for_each_row(Kind::layers, layers, *gpu, [&](const Version& version) {
      expect_field(next_of(version, layers), want, scheme, 27 * 6 * 0x1p-24);
    });
  });
}

/// Where the speed is 0 nothing but 2 now - before remains, which needs one rounding only.
TEST(Speeds, OfZeroLeaveTheStarOut) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  if (course_test::in_another_order()) GTEST_SKIP() << "about values";
  for_each_layered([&](const Scheme& scheme) {
    const Floats now = noise(scheme.points(), 15), before = noise(scheme.points(), 16);
    const Given given(Kind::layers, scheme, {now, before, Floats(now.size())});
    Doubles want;
    for (std::size_t i = 0; i < now.size(); ++i)
      want.push_back(static_cast<float>(2.0 * now[i] - before[i]));
    for_each_row(Kind::layers, given, *gpu, [&](const Version& version) {
      expect_field(next_of(version, given), want, scheme, 0);
    });
  });
}

/// The speed of a point is used for this point only: others do not change by a single bit.
TEST(Speeds, OfNaNChangeTheirPointOnly) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for_each_layered([&](const Scheme& scheme) {
    const Triple& n = scheme.n;
    const std::vector<Triple> places = {{0, 0, 0},
                                        {n.z - 1, n.y - 1, n.x - 1},
                                        {n.z / 2, n.y / 2, n.x / 2},
                                        {1, std::min<std::int64_t>(16, n.y - 1), n.x - 1}};
    const std::vector<Floats> fields = {noise(scheme.points(), 17), noise(scheme.points(), 18),
                                        noise(scheme.points(), 19)};
    std::vector<Floats> broken = fields;
    for (const Triple& p : places) broken[2][scheme.place(p)] = static_cast<float>(nan);
    const Given sound(Kind::layers, scheme, fields), given(Kind::layers, scheme, broken);
    for_each_row(Kind::layers, given, *gpu, [&](const Version& version) {
      Doubles want = widened(next_of(version, sound));
      for (const Triple& p : places) want[scheme.place(p)] = nan;
      expect_field(next_of(version, given), want, scheme, 0);
    });
  });
}

// ---------------------------------------------------------------- NaN and infinities

/// Noise with special values at some points.
Doubles with_specials(const Scheme& scheme, const std::vector<std::pair<Triple, double>>& specials,
                      std::uint64_t seed) {
  Doubles values = widened(noise(scheme.points(), seed));
  for (const auto& [p, value] : specials) values[scheme.place(p)] = value;
  return values;
}

/// At edges, at both sides of the first block along each axis, and inside.
std::vector<std::pair<Triple, double>> specials_of(const Triple& n) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return {{{0, 0, 0}, nan},
          {{n.z - 1, n.y - 1, n.x - 1}, infinity},
          {{n.z / 2, n.y / 2, n.x / 2}, -infinity},
          {{n.z / 2, n.y / 2, n.x / 2 + 1}, infinity},
          {{0, std::min<std::int64_t>(8, n.y - 1), 32}, nan}};
}

/// most: how far a finite result may be from the one in double.
void check_specials(Kind kind, double most) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  for (const std::int64_t rule : {by_fixed, by_periodic}) {
    for (const std::int64_t radius : {1, 4}) {
      Scheme scheme{{3, 17, radius == 1 ? 132 : 61}, numbered_star(), radius, rule};
      // Rows of whole vectors with the largest stencil as well, but not on all of its planes.
      if (kind != Kind::wave && radius == 4 && rule == by_fixed) scheme.n = {11, 9, 64};
      if (kind == Kind::tilted) scheme.tilt = numbered_tilt();
      const std::vector<Doubles> all = {
          with_specials(scheme, specials_of(scheme.n), 5),
          with_specials(scheme, {{{1, 3, 9}, infinity}}, 6),
          with_specials(scheme, {{{2, 5, 40}, -infinity}, {{0, 7, 60}, infinity}}, 7)};
      const std::vector<Doubles> used(all.begin(),
                                      all.begin() + static_cast<std::ptrdiff_t>(inputs_of(kind)));
      const Doubles want = after(kind, scheme, used);
      std::vector<Floats> inputs;
      for (const Doubles& values : used) inputs.push_back(narrowed(values));
      const Given given(kind, scheme, inputs);
      for_each_row(kind, given, *gpu, [&](const Version& version) {
        expect_field(next_of(version, given), want, scheme, most);
      });
    }
  }
}

TEST(Specials, OfAWaveReachTheirStarOnly) { check_specials(Kind::wave, 1e-3); }

TEST(Specials, OfHeatReachTheirStarOnly) { check_specials(Kind::heat, 1e-3); }

TEST(Specials, OfLayersReachTheirStarOnly) { check_specials(Kind::layers, 1e-3); }

/// Sums of up to 12000: a rounding is 0.0005.
TEST(Specials, OfATiltedWaveReachThreePlanesOnly) { check_specials(Kind::tilted, 0.01); }

TEST(Specials, OfAPlaneReachTheirStarOnly) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  for (const std::int64_t rule : {by_fixed, by_periodic}) {
    for (const std::int64_t radius : {1, 4, 8}) {
      const Scheme scheme{{1, 35, radius == 1 ? 133 : 132}, numbered_star(), radius, rule, true};
      const Doubles now = with_specials(scheme, specials_of(scheme.n), 7);
      const Doubles want = scheme.apply(now);
      const Given given(Kind::plane, scheme, {narrowed(now)});
      for_each_row(Kind::plane, given, *gpu, [&](const Version& version) {
        expect_field(next_of(version, given), want, scheme, 1e-3);
      });
    }
  }
}

/// How many points are NaN.
template <class Values>
std::int64_t nans(const Values& values) {
  return std::count_if(values.begin(), values.end(), [](auto v) { return std::isnan(v); });
}

/// Of a NaN far from all edges, the points at most s steps of 1 away: an octahedron.
TEST(Specials, SpreadOneStarPerStep) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Star star = weighted_derivatives(1, 0.1, 0.15, 0.25);
  for (const std::int64_t rule : {by_fixed, by_periodic}) {
    for (const std::int64_t cols : {11, 12}) {
      if (gpu->simulated && (cols == 12) != (rule == by_fixed)) continue;
      for (const Triple& at : {Triple{4, 4, 5}, Triple{0, 0, cols - 1}}) {
        const Scheme scheme{{9, 9, cols}, star, 1, rule};
        const Doubles first = with_specials(scheme, {{at, nan}}, 8);
        const Doubles earlier = widened(noise(scheme.points(), 9));
        Doubles heat = first, now = first, before = earlier;
        std::vector<Doubles> waves;
        for (std::int64_t s = 1; s <= 4; ++s) {
          heat = scheme.apply(heat);
          Doubles next = wave_after(scheme, now, before);
          before = std::exchange(now, std::move(next));
          waves.push_back(now);
          if (at.z == 4 || rule == by_periodic) {
            ASSERT_EQ(nans(heat), (2 * s + 1) * (2 * s * s + 2 * s + 3) / 3);
          }
          ASSERT_EQ(nans(now), nans(heat));
          const Given given(Kind::several, scheme, {narrowed(first)}, s);
          for_each_row(Kind::several, given, *gpu, [&](const Version& version) {
            expect_field(next_of(version, given), heat, scheme, 1e-5);
          });
        }
        const Given given(Kind::wave, scheme, {narrowed(first), narrowed(earlier)});
        for_each_row(Kind::wave, given, *gpu, [&](const Version& version) {
          course::DeviceArrays arrays(version, given, nullptr);
          course::Arguments arguments = arrays.arguments();
          for (const Doubles& want : waves) {
            ASSERT_EQ(version.launch(given, arguments), cudaSuccess);
            std::swap(arguments.inputs[1], arguments.outputs[0]);
            std::swap(arguments.inputs[0], arguments.inputs[1]);
            expect_field(course_test::to_host<float>(arguments.inputs[0], scheme.points()), want,
                         scheme, 1e-5);
          }
        });
      }
    }
  }
}

// ---------------------------------------------------------------- impulses

/// Impulses of 1, 2, 3 ... become their stencils, scattered here from the impulses to the points. A
/// wave adds an impulse twice.
void check_impulses_together(Kind kind, const Scheme& scheme, const std::vector<Triple>& places,
                             const course::Device& gpu) {
  std::vector<Floats> inputs(inputs_of(kind), Floats(static_cast<std::size_t>(scheme.points())));
  if (kind == Kind::layers) inputs[2] = whole_numbers(scheme.points(), 20);
  Doubles want(inputs[0].size());
  double impulse = 0;
  for (const Triple& at : places) {
    inputs[0][scheme.place(at)] += static_cast<float>(++impulse);
    scheme.for_star(at, [&](Triple to, double coefficient) {
      if (!scheme.find(&to)) return;
      if (kind == Kind::layers) coefficient *= inputs[2][scheme.place(to)];
      want[scheme.place(to)] += coefficient * impulse;
    });
    if (inputs_of(kind) > 1) want[scheme.place(at)] += 2 * impulse;
  }
  const Given given(kind, scheme, inputs);
  for_each_row(kind, given, gpu, [&](const Version& version) {
    expect_field(next_of(version, given), want, scheme, 0);
  });
}

/// At each corner, each edge, each face, and in the middle. On the CPU backend each of these places
/// is tried with a third of the radii and edges; of a tilted wave, the corners and the middle with
/// a sixth of them, and together with all.
void check_impulses(Kind kind, Scheme scheme, std::int64_t largest) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  for (const std::int64_t rule : {by_fixed, by_periodic}) {
    for (std::int64_t radius = 1; radius <= largest; ++radius) {
      scheme.rule = rule, scheme.radius = radius;
      std::vector<Triple> together;
      const auto along = [](std::int64_t k, std::int64_t n) { return k * (n - 1) / 2; };
      for (std::int64_t k = 0; k < (scheme.flat ? 9 : 27); ++k) {
        const Triple at{along(k / 9, scheme.n.z), along(k / 3 % 3, scheme.n.y),
                        along(k % 3, scheme.n.x)};
        const bool corner = k / 9 != 1 && k / 3 % 3 != 1 && k % 3 != 1;
        if (corner || k == 13) together.push_back(at);
        if (gpu->simulated) {
          const std::int64_t of = kind == Kind::several ? 1 : kind == Kind::tilted ? 6 : 3;
          if ((k + radius + rule) % of != 0) continue;
          if (kind == Kind::tilted && !corner && k != 13) continue;
        }
        SCOPED_TRACE("an impulse in plane " + std::to_string(at.z) + ", row " +
                     std::to_string(at.y) + ", column " + std::to_string(at.x));
        check_impulses_together(kind, scheme, {at}, *gpu);
      }
      if (kind == Kind::tilted) check_impulses_together(kind, scheme, together, *gpu);
    }
  }
}

TEST(Impulse, OfAWave) { check_impulses(Kind::wave, {{5, 6, 7}, numbered_star(), 1, by_fixed}, 4); }

TEST(Impulse, OfAWaveInWholeVectors) {
  check_impulses(Kind::wave, {{3, 5, 8}, numbered_star(), 1, by_fixed}, 4);
}

TEST(Impulse, OfHeat) {
  check_impulses(Kind::several, {{3, 5, 8}, numbered_star(), 1, by_fixed}, 1);
  check_impulses(Kind::heat, {{5, 6, 7}, numbered_star(), 1, by_fixed}, 4);
  check_impulses(Kind::heat, {{3, 5, 8}, numbered_star(), 1, by_fixed}, 4);
}

TEST(Impulse, OfLayers) {
  check_impulses(Kind::layers, {{5, 6, 7}, numbered_star(), 1, by_fixed}, 4);
  check_impulses(Kind::layers, {{3, 5, 8}, numbered_star(), 1, by_fixed}, 4);
}

TEST(Impulse, OfATiltedWave) {
  check_impulses(Kind::tilted, {{5, 6, 7}, numbered_star(), 1, by_fixed, false, numbered_tilt()},
                 4);
}

TEST(Impulse, OfATiltedWaveInWholeVectors) {
  check_impulses(Kind::tilted, {{3, 5, 8}, numbered_star(), 1, by_fixed, false, numbered_tilt()},
                 4);
}

/// In a field of several blocks: at the corners, in the middle, and next to the rims of warps and
/// blocks, whatever their sizes.
TEST(Impulse, OfATiltedWaveBetweenBlocks) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  const Triple n{11, 37, 132};
  const std::vector<Triple> places = {
      {0, 0, 0},   {0, n.y - 1, 0}, {n.z - 1, 0, n.x - 1}, {n.z - 1, n.y - 1, n.x - 1},
      {5, 18, 66}, {5, 15, 31},     {4, 16, 32},           {5, 7, 63},
      {6, 8, 64},  {5, 31, 127},    {4, 32, 128},          {3, 11, 28},
      {2, 12, 96}, {0, 0, n.x - 1}, {n.z - 1, 0, 0}};
  for (const std::int64_t radius : {1, 4}) {
    const Scheme scheme{n, numbered_star(), radius, by_fixed, false, numbered_tilt()};
    check_impulses_together(Kind::tilted, scheme, places, *gpu);
  }
}

TEST(Impulse, OfAPlane) {
  check_impulses(Kind::plane, {{1, 9, 11}, numbered_star(), 1, by_fixed, true}, 8);
}

TEST(Impulse, OfAPlaneInWholeVectors) {
  check_impulses(Kind::plane, {{1, 7, 12}, numbered_star(), 1, by_fixed, true}, 8);
}

// ---------------------------------------------------------------- vectors

/// Rows of whole vectors in arrays that begin at any multiple of 4 bytes, planes of one row, and
/// rows of one vector.
void check_beginnings(Kind kind, const std::vector<Triple>& extents) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  std::vector<std::vector<std::int64_t>> offsets = {{0, 0, 0, 0},     {4, 4, 4, 4}, {8, 8, 8, 8},
                                                    {12, 12, 12, 12}, {4, 0, 0, 0}, {0, 8, 0, 0},
                                                    {0, 0, 0, 12},    {0, 4, 12, 8}};
  if (kind == Kind::layers) offsets.push_back({0, 0, 4, 0});
  for (const Triple& n : extents) {
    for (const std::int64_t rule : {by_fixed, by_periodic}) {
      const std::int64_t radius = kind == Kind::several ? 1 : kind == Kind::tilted ? 2 : 3;
      Scheme scheme{n, numbered_star(), radius, rule, kind == Kind::plane};
      if (kind == Kind::tilted) scheme.tilt = numbered_tilt();
      std::vector<Floats> inputs;
      std::vector<Doubles> wide;
      for (std::uint64_t k = 0; k < inputs_of(kind); ++k) {
        inputs.push_back(whole_numbers(scheme.points(), 10 + k));
        wide.push_back(widened(inputs.back()));
      }
      const std::int64_t steps = kind == Kind::several ? 2 : 1;
      Doubles want = after(kind, scheme, wide);
      if (steps == 2) want = scheme.apply(want);
      for (const std::vector<std::int64_t>& begin : offsets) {
        SCOPED_TRACE("arrays begin at " + testing::PrintToString(begin));
        const Given given(kind, scheme, inputs, steps, begin);
        for_each_row(kind, given, *gpu, [&](const Version& version) {
          expect_field(next_of(version, given), want, scheme, 0);
        });
      }
    }
  }
}

TEST(Vectors, OfAWaveBeginAnywhere) {
  check_beginnings(Kind::wave, {{3, 1, 132}, {2, 17, 4}, {1, 1, 8}});
}

TEST(Vectors, OfHeatBeginAnywhere) {
  check_beginnings(Kind::several, {{3, 1, 124}, {2, 5, 4}});
  check_beginnings(Kind::heat, {{3, 1, 132}, {2, 17, 4}, {1, 1, 8}});
}

TEST(Vectors, OfLayersBeginAnywhere) {
  check_beginnings(Kind::layers, {{3, 1, 132}, {2, 17, 4}, {1, 1, 8}});
}

TEST(Vectors, OfATiltedWaveBeginAnywhere) {
  check_beginnings(Kind::tilted, {{2, 1, 132}, {1, 5, 4}});
}

TEST(Vectors, OfAPlaneBeginAnywhere) {
  check_beginnings(Kind::plane, {{1, 1, 132}, {1, 9, 4}, {1, 1, 4}});
}

}  // namespace
