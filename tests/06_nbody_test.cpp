// Chapter 06: every version on every test size and family of inputs; special cases of gravity:
// bodies in pairs, in one place, far away, in a shell; the memory that launchers read and write.
// The simulation, run as a program: 06_nbody_simulate_test.cpp.

#include "06_nbody_test.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "banded.hpp"
#include "chapter/launchers.hpp"
#include "chapter_test.hpp"
#include "contract.hpp"
#include "device/cuda_check.hpp"
#include "nbody.hpp"

// The launchers themselves: a problem has only one softening, but they accept any.
namespace array_of_structures {
struct Body {
  float x, y, z, vx, vy, vz, m;
};
}  // namespace array_of_structures
namespace double_precision {
struct alignas(16) Body {
  double x, y, z, m;
};
struct alignas(16) Vector {
  double x, y, z, zero;
};
}  // namespace double_precision
COURSE_LAUNCHERS(AccelerateBodies, (accelerate), array_of_structures);
COURSE_LAUNCHERS(AccelerateArrays, (accelerate), structure_of_arrays);
COURSE_LAUNCHERS(AccelerateFloat, (accelerate), float4_loads, shared_tile, unrolled,
                 bodies_per_thread, fast_rsqrt, folded, third_law, sample_form);
COURSE_LAUNCHERS(AccelerateFloat, (accelerate, accelerate_few, accelerate_some, accelerate_many),
                 limit);
COURSE_LAUNCHERS(AccelerateDouble, (global_memory, shared_tile, fast_root), double_precision);

namespace {

using course::Device;
using course::Input;
using course_test::Banded;
using course_test::sanitized;
using course_test::sizes_here;
using course_test::slow;
using nbody::Body;
using Bodies = std::vector<Body>;

// `large` is not here: the squares of such distances are infinite.
const course_test::Inputs inputs = {
    Input::random,    Input::integers,     Input::equal,    Input::descending,
#ifndef SIMT  // they take long on the CPU backend
    Input::ascending, Input::few_distinct, Input::denormal,
#endif
};

struct Vector {
  double x, y, z;
};
using Vectors = std::vector<Vector>;

using Arrays = std::vector<Banded>;

/// A version in the form in which these tests call it.
struct Form {
  std::string id;
  bool in_double;
  std::function<Arrays(const Bodies&)> upload;
  std::function<cudaError_t(const Arrays&, void* out, std::int64_t n, double softening,
                            cudaStream_t)>
      launch;
  std::size_t bytes_out() const { return in_double ? sizeof(double_precision::Vector) : 16; }
};

template <class To, class Convert>
std::vector<To> converted(const Bodies& bodies, Convert convert) {
  std::vector<To> result;
  for (const Body& body : bodies) result.push_back(convert(body));
  return result;
}
float narrow(double x) { return static_cast<float>(x); }

template <class In, class Out, class T, class Convert>
void add(std::vector<Form>& forms, const char* id,
         cudaError_t (*launcher)(const In*, Out*, std::int64_t, T, cudaStream_t), Convert convert) {
  if (!launcher) return;
  Form form{id, sizeof(T) == 8, {}, {}};
  form.upload = [convert](const Bodies& bodies) {
    Arrays arrays;
    arrays.emplace_back(converted<In>(bodies, convert));
    return arrays;
  };
  form.launch = [launcher](const Arrays& in, void* out, std::int64_t n, double softening,
                           cudaStream_t stream) {
    return launcher(static_cast<const In*>(in[0].data()), static_cast<Out*>(out), n,
                    static_cast<T>(softening), stream);
  };
  forms.push_back(form);
}

Form form_of_arrays() {
  Form form{"02_structure_of_arrays", false, {}, {}};
  form.upload = [](const Bodies& bodies) {
    Arrays arrays;
    for (double Body::*const member : {&Body::x, &Body::y, &Body::z, &Body::m}) {
      arrays.emplace_back(
          converted<float>(bodies, [&](const Body& body) { return narrow(body.*member); }));
    }
    return arrays;
  };
  form.launch = [](const Arrays& in, void* out, std::int64_t n, double softening,
                   cudaStream_t stream) {
    const auto at = [&](std::size_t k) { return static_cast<const float*>(in[k].data()); };
    return structure_of_arrays::accelerate(at(0), at(1), at(2), at(3), static_cast<float4*>(out), n,
                                           narrow(softening), stream);
  };
  return form;
}

/// All launchers of the chapter that were built.
std::vector<Form> all_forms() {
  std::vector<Form> forms;
  const float nan = std::nanf("");  // for the velocity, which must not be used
  add(forms, "01_array_of_structures", array_of_structures::accelerate, [nan](const Body& b) {
    return array_of_structures::Body{narrow(b.x), narrow(b.y), narrow(b.z), nan,
                                     nan,         nan,         narrow(b.m)};
  });
  if (structure_of_arrays::accelerate) forms.push_back(form_of_arrays());
  const std::pair<const char*, AccelerateFloat*> of_vectors[] = {
      {"03_float4", float4_loads::accelerate},
      {"04_shared_tile", shared_tile::accelerate},
      {"05_unrolled", unrolled::accelerate},
      {"06_bodies_per_thread", bodies_per_thread::accelerate},
      {"07_fast_rsqrt", fast_rsqrt::accelerate},
      {"08_folded", folded::accelerate},
      {"80_limit", limit::accelerate},
      {"few", limit::accelerate_few},  // the kernels that 80 chooses from, by n
      {"some", limit::accelerate_some},
      {"many", limit::accelerate_many},
      {"81_third_law", third_law::accelerate},
      {"sample_form", sample_form::accelerate}};
  for (const auto& [id, launcher] : of_vectors) {
    add(forms, id, launcher, [](const Body& b) {
      return make_float4(narrow(b.x), narrow(b.y), narrow(b.z), narrow(b.m));
    });
  }
  const std::pair<const char*, double_precision::AccelerateDouble*> of_doubles[] = {
      {"global_memory", double_precision::global_memory},
      {"shared_tile", double_precision::shared_tile},
      {"fast_root", double_precision::fast_root}};
  for (const auto& [id, launcher] : of_doubles) {
    add(forms, id, launcher, [](const Body& b) {
      return double_precision::Body{b.x, b.y, b.z, b.m};
    });
  }
  return forms;
}

/// Calls body(form) for each launcher that was built.
template <class Call>
void for_each_form(Call call) {
  const std::vector<Form> forms = all_forms();
  EXPECT_FALSE(forms.empty());
  for (const Form& form : forms) {
    SCOPED_TRACE(form.id);
    call(form);
  }
}

/// One of the three kernels that 80 chooses from.
bool is_unit(const Form& form) {
  return form.id == "few" || form.id == "some" || form.id == "many";
}

bool is_limit(const Form& form) { return form.id == "80_limit" || is_unit(form); }

/// Versions whose sums have no fixed order: 80 only where three blocks share a row, but these tests
/// always count it as one, with one exception (Determinism).
bool in_any_order(const Form& form) { return is_limit(form) || form.id == "81_third_law"; }

/// The accelerations in an array, after a check of its guards and of each fourth number.
template <class T>
Vectors vectors_in(const Banded& out) {
  const std::vector<T> numbers = out.values<T>();
  Vectors result;
  for (std::size_t i = 0; i + 3 < numbers.size(); i += 4) {
    const T zero{};
    EXPECT_EQ(std::memcmp(&numbers[i + 3], &zero, sizeof zero), 0)
        << "w of body " << i / 4 << " is " << numbers[i + 3];
    result.push_back({numbers[i], numbers[i + 1], numbers[i + 2]});
  }
  return result;
}
Vectors vectors_in(const Form& form, const Banded& out) {
  return form.in_double ? vectors_in<double>(out) : vectors_in<float>(out);
}

Vectors accelerate(const Form& form, const Bodies& bodies, double softening = nbody::softening) {
  const auto n = static_cast<std::int64_t>(bodies.size());
  const Arrays in = form.upload(bodies);
  const Banded out(bodies.size() * form.bytes_out());
  COURSE_CHECK(form.launch(in, out.data(), n, softening, nullptr));
  const Vectors result = vectors_in(form, out);
  for (const Banded& array : in) EXPECT_TRUE(array.untouched()) << "an input was written";
  return result;
}

/// The expected acceleration of one body, in double, and the sum of the magnitudes of its terms.
struct Want {
  Vector a;
  double magnitude;
};
Want pull_on(const Body& me, const Bodies& all, double softening) {
  Want want{};
  for (const Body& other : all) {
    const double dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
    const double softened = dx * dx + dy * dy + dz * dz + softening * softening;
    const double pull = other.m / (softened * std::sqrt(softened));
    want.a.x += pull * dx, want.a.y += pull * dy, want.a.z += pull * dz;
    want.magnitude += pull * std::max({std::fabs(dx), std::fabs(dy), std::fabs(dz)});
  }
  return want;
}

/// How far a component may be off: Gravity::tolerance() of nbody.hpp for one body, with n u S for
/// additions in any order; and, because these positions have any distance, one more rounding for
/// each difference, which counts up to four times.
double bound(const Form& form, std::size_t n, double magnitude) {
  const double u = form.in_double ? 2 * 0x1p-53 : 0x1p-24;  // for double plus that of the reference
  return (28 + static_cast<double>(n)) * u * magnitude + static_cast<double>(n) * 0x1p-115;
}

double distance(const Vector& a, const Vector& b) {
  return std::sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) +
                   (a.z - b.z) * (a.z - b.z));
}
/// The largest of the three, or NaN if one of them is.
double largest_difference(const Vector& a, const Vector& b) {
  const double x = std::fabs(a.x - b.x), y = std::fabs(a.y - b.y), z = std::fabs(a.z - b.z);
  return std::isnan(x + y + z) ? x + y + z : std::max({x, y, z});
}
std::string text(const Vector& a) {
  std::ostringstream out;
  out.precision(9);
  out << "(" << a.x << ", " << a.y << ", " << a.z << ")";
  return out.str();
}
bool operator==(const Vector& a, const Vector& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

using Wants = std::vector<Want>;
Wants wants_of(const Bodies& bodies, double softening = nbody::softening) {
  Wants wants;
  for (const Body& body : bodies) wants.push_back(pull_on(body, bodies, softening));
  return wants;
}

/// True, or which body is wrong. NaN is wrong.
testing::AssertionResult near(const Form& form, const Vectors& got, const Wants& wants) {
  if (got.size() != wants.size()) return testing::AssertionFailure() << got.size() << " results";
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double allowed = bound(form, got.size(), wants[i].magnitude);
    if (!(largest_difference(got[i], wants[i].a) <= allowed)) {
      return testing::AssertionFailure()
             << "body " << i << " of " << got.size() << ": " << text(got[i]) << ", not "
             << text(wants[i].a) << " +- " << allowed;
    }
  }
  return testing::AssertionSuccess();
}

/// True if the first bodies of two systems have the same acceleration: to the bit, or within twice
/// the bound. The size of `wants` says how many bodies.
testing::AssertionResult same(const Form& form, const Vectors& a, const Vectors& b,
                              const Wants& wants, bool loosely) {
  for (std::size_t i = 0; i < wants.size(); ++i) {
    const double allowed = loosely ? 2 * bound(form, b.size(), wants[i].magnitude) : 0;
    if (!(largest_difference(a[i], b[i]) <= allowed)) {
      return testing::AssertionFailure() << "body " << i << " of " << wants.size() << ": "
                                         << text(a[i]) << " and " << text(b[i]);
    }
  }
  return testing::AssertionSuccess();
}

/// Bodies in [-1, 1)^3 with masses above zero, all of them exact in float.
Bodies random_bodies(std::int64_t n, std::uint64_t seed) {
  Bodies bodies;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto number = [&](std::uint64_t k) {
      return course::uniform(course::mix(seed, 4 * static_cast<std::uint64_t>(i) + k));
    };
    bodies.push_back({number(0), number(1), number(2), std::fabs(number(3)) + 0x1p-8});
  }
  return bodies;
}

/// The launchers called here are those of the chapter.
TEST(Special, NoVersionIsForgotten) {
  std::set<std::string> built, called;
  for (const course::Study& study : course::chapter().studies) {
    for (const course::Version& version : study.versions) {
      if (version.launch) built.insert(version.id);
      EXPECT_LT(version.needs.max_n, INT_MAX) << version.id << " counts bodies as int";
    }
  }
  for (const Form& form : all_forms()) called.insert(form.id);
  EXPECT_EQ(called, built);
}

/// Two bodies against the formula: along each axis, both ways, near, far, and in one place.
TEST(Special, TwoBodies) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  for_each_form([&](const Form& form) {
    for (const double d : {0.0, 0x1p-20, 0x1p-6, 0.75, 3.0, 1024.0}) {
      for (int axis = 0; axis < 6; ++axis) {
        if (gpu->simulated && axis != 1 && d != 0.75) continue;
        const double shift = axis < 3 ? d : -d;
        const Body one{0.5, -0.25, 2, 3};
        Body two{0.5, -0.25, 2, 0.625};
        double& moved = axis % 3 == 0 ? two.x : axis % 3 == 1 ? two.y : two.z;
        moved += shift;
        const double cube = std::pow(d * d + nbody::softening * nbody::softening, 1.5);
        Vector on_one{}, on_two{};
        double& a = axis % 3 == 0 ? on_one.x : axis % 3 == 1 ? on_one.y : on_one.z;
        double& b = axis % 3 == 0 ? on_two.x : axis % 3 == 1 ? on_two.y : on_two.z;
        a = two.m * shift / cube;
        b = -one.m * shift / cube;
        const Vectors got = accelerate(form, {one, two});
        ASSERT_EQ(got.size(), 2u);
        EXPECT_LE(largest_difference(got[0], on_one), bound(form, 2, std::fabs(a)))
            << text(got[0]) << ", not " << text(on_one) << ", distance " << shift;
        EXPECT_LE(largest_difference(got[1], on_two), bound(form, 2, std::fabs(b)))
            << text(got[1]) << ", not " << text(on_two) << ", distance " << shift;
      }
    }
  });
}

/// Only body j has a mass: all others feel it once, and it feels nothing. Names a pair that is
/// lost.
TEST(Special, EachBodyPullsEach) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  const bool few = slow(*gpu);
  for (const std::int64_t n : sizes_here(*gpu, {3, 35, 261, 1030, 2500}, 261)) {
    Bodies bodies = random_bodies(n, 41);
    for (Body& body : bodies) body.m = 0;
    std::set<std::int64_t> places = {0, 1, 31, 32, 127, 128, 255, 256, 1023, 1024, n - 2, n - 1};
    for (std::int64_t j = 0; j < n; j += n / 100 + 1) places.insert(j);
    if (few) places = n > 100 ? std::set<std::int64_t>{128, n - 1} : std::set<std::int64_t>{1};
    for (const std::int64_t j : places) {
      if (j >= n) continue;
      Body& heavy = bodies[static_cast<std::size_t>(j)];
      heavy.m = 5;
      Wants wants;
      for (const Body& body : bodies) wants.push_back(pull_on(body, {heavy}, nbody::softening));
      for_each_form([&](const Form& form) {
        const Vectors got = accelerate(form, bodies);
        EXPECT_TRUE(near(form, got, wants)) << "only body " << j << " has a mass";
        EXPECT_TRUE(got[static_cast<std::size_t>(j)] == (Vector{0, 0, 0})) << "body " << j;
      });
      heavy.m = 0;
    }
  }
}

/// Each n around every block, tile and row, with NaN after the last body.
TEST(Special, EverySize) {
  COURSE_NEEDS_GPU(gpu);
  std::vector<std::int64_t> sizes;
  if (slow(*gpu)) {
    sizes = {0, 1, 4, 30, 32, 64, 65, 128, 130, 256, 300};
  } else {
    for (std::int64_t n = 0; n <= 300; ++n) sizes.push_back(n);
    for (const std::int64_t edge : {384, 512, 640, 768, 896, 1024, 1152, 1280, 2048, 3072, 4096}) {
      for (std::int64_t n = edge - 2; n <= edge + 2; ++n) sizes.push_back(n);
    }
  }
  const Bodies most = random_bodies(sizes.back(), 3);
  for (const std::int64_t n : sizes) {
    const Bodies bodies(most.begin(), most.begin() + n);
    const Wants wants = wants_of(bodies);
    for_each_form([&](const Form& form) {
      ASSERT_TRUE(near(form, accelerate(form, bodies), wants)) << "n = " << n;
    });
  }
}

/// Rows of 1024 bodies, an odd and an even number of them, shared by blocks in many ways.
TEST(Special, RowsThatBlocksShare) {
  COURSE_NEEDS_GPU(gpu);
  for (const std::int64_t n : sizes_here(*gpu, {1500, 2049, 3100, 4097, 5000, 7000, 8200}, 3100)) {
    if (sanitized() && n > 2049) continue;
    const Bodies bodies = random_bodies(n, 17);
    const Wants wants = wants_of(bodies);
    for_each_form([&](const Form& form) {
      if (slow(*gpu) && !in_any_order(form)) return;
      EXPECT_TRUE(near(form, accelerate(form, bodies), wants)) << "n = " << n;
    });
  }
}

/// Without an external force the sum of mass times acceleration is zero. The error of a body counts
/// by its mass.
TEST(Special, MomentumStaysZero) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  for (const std::int64_t n : sizes_here(*gpu, {2, 33, 300, 1500, 4097}, 300)) {
    const Bodies bodies = random_bodies(n, 5);
    const Wants wants = wants_of(bodies);
    for_each_form([&](const Form& form) {
      const Vectors got = accelerate(form, bodies);
      Vector sum{};
      double allowed = 0;
      for (std::size_t i = 0; i < bodies.size(); ++i) {
        const double m = bodies[i].m;
        sum.x += m * got[i].x, sum.y += m * got[i].y, sum.z += m * got[i].z;
        allowed += m * bound(form, bodies.size(), wants[i].magnitude);
      }
      EXPECT_LE(largest_difference(sum, {0, 0, 0}), allowed) << text(sum) << ", n = " << n;
    });
  }
}

/// Bodies at one place feel nothing at all, wherever it is and whatever their masses are.
TEST(Special, OnePlace) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  for (const Body& place : {Body{0, 0, 0, 0}, Body{-3, 0.1, 7, 0}, Body{1e6, -1e6, 1e-6, 0}}) {
    for (const std::int64_t n : {1, 2, 131, 300}) {
      if (gpu->simulated && n == 131) continue;
      Bodies bodies = random_bodies(n, 7);
      for (Body& body : bodies) body = {place.x, place.y, place.z, body.m};
      for_each_form([&](const Form& form) {
        for (const Vector& a : accelerate(form, bodies)) {
          ASSERT_TRUE(a == (Vector{0, 0, 0})) << text(a) << " of " << n;
        }
      });
    }
  }
}

/// A body without mass exerts no force: if it is the last one, the others get the same bits.
TEST(Special, BodiesWithoutMassCountNothing) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  const Bodies bodies = random_bodies(200, 9);
  Bodies more = bodies;
  for (const Body& body : random_bodies(90, 10)) more.push_back({body.x, body.y, body.z, 0});
  const Wants wants = wants_of(bodies), wants_of_more = wants_of(more);
  for_each_form([&](const Form& form) {
    const Vectors alone = accelerate(form, bodies), together = accelerate(form, more);
    EXPECT_TRUE(same(form, alone, together, wants, in_any_order(form)));
    EXPECT_TRUE(near(form, together, wants_of_more)) << "they feel the others";
  });
}

/// A body with a coordinate or a mass that is NaN makes every acceleration NaN; with an infinite
/// mass it leaves none finite; infinitely far along y, none along y. At any index: in each lane, on
/// both sides of the edges of tiles and rows.
TEST(Special, WhatIsNotFiniteReachesAll) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  const double nan = std::nan(""), inf = HUGE_VAL;
  const std::int64_t n = slow(*gpu) ? 130 : 4201;
  std::set<std::int64_t> places = {0, 1, 31, 63, 64, 127, 128, n - 1};
  for (std::int64_t k = 0; !slow(*gpu) && k < 32; ++k) places.insert(k);
  if (!slow(*gpu)) places.insert({255, 256, 511, 512, 1023, 1024, 4095, 4096});
  const Bodies ordinary = random_bodies(n, 11);
  for (const std::int64_t at : places) {
    for (const int kind : {0, 1, 2, 3}) {
      if (slow(*gpu) && kind != at % 4) continue;
      Bodies bodies = ordinary;
      Body& body = bodies[static_cast<std::size_t>(at)];
      if (kind == 0) body.x = nan;
      if (kind == 1) body.m = nan;
      if (kind == 2) body.m = inf;
      if (kind == 3) body.y = inf;
      for_each_form([&](const Form& form) {
        const Vectors got = accelerate(form, bodies);
        for (std::size_t i = 0; i < got.size(); ++i) {
          const Vector& a = got[i];
          const bool right = kind < 2 ? std::isnan(a.x) && std::isnan(a.y) && std::isnan(a.z)
                             : kind == 2
                                 ? !std::isfinite(a.x) && !std::isfinite(a.y) && !std::isfinite(a.z)
                                 : !std::isfinite(a.y);
          ASSERT_TRUE(right) << "kind " << kind << " at " << at << ": body " << i << " feels "
                             << text(a);
        }
      });
    }
  }
}

/// A heavy body far away pulls all others alike, and their forces on each other are negligible
/// compared with it; to it they are like a single body.
TEST(Special, HeavyAndFarAway) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  const std::int64_t n = 140;
  for (const double far : {0x1p10, 0x1p20, 0x1p30}) {
    Bodies bodies = random_bodies(n, 11);
    double mass = 0;
    for (Body& body : bodies) body.m *= 0x1p-8, mass += body.m;
    const Body heavy{0, -far, 0, far * far};
    bodies[77] = heavy;
    const Wants wants = wants_of(bodies);
    for_each_form([&](const Form& form) {
      const Vectors got = accelerate(form, bodies);
      EXPECT_TRUE(near(form, got, wants)) << "distance " << far;
      EXPECT_LT(got[0].y, 0) << "it is pulled towards it";
      EXPECT_NEAR(got[77].y * far * far, mass, 0.1 * mass) << "it is pulled, too";
    });
  }
}

/// Points of a sphere with weights that integrate every polynomial below degree 2 L over it: Gauss'
/// in z, equal angles about it. Total weight 1.
Bodies shell(int l) {
  constexpr double pi = 3.14159265358979323846;
  Bodies bodies;
  for (int k = 0; k < l; ++k) {
    double z = std::cos(pi * (k + 0.75) / (l + 0.5)), slope = 1;
    for (int pass = 0; pass < 50; ++pass) {  // Newton's method for the roots of Legendre's P_l
      double p = 1, before = 0;
      for (int j = 1; j <= l; ++j) {
        const double next = ((2 * j - 1) * z * p - (j - 1) * before) / j;
        before = p, p = next;
      }
      slope = l * (z * p - before) / (z * z - 1);
      z -= p / slope;
    }
    const double weight = 2 / ((1 - z * z) * slope * slope) / 2 / (2 * l);
    for (int j = 0; j < 2 * l; ++j) {
      const double angle = pi * (j + 0.5) / l, across = std::sqrt(1 - z * z);
      bodies.push_back({across * std::cos(angle), across * std::sin(angle), z, weight});
    }
  }
  return bodies;
}

/// Newton: inside a shell its force is zero; outside it pulls as if all mass were in its centre.
/// With points for a shell the sum is wrong from degree 16 on: at a quarter of the radius and at
/// four times it by less than the sum over k >= 16 of (k + 1) 4^(1 - k), which is below 2^-23. The
/// softening is too small to matter: less than 24 softening^2.
TEST(Special, ShellOfBodies) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  constexpr double softening = 0x1p-20;
  Bodies bodies = shell(8);
  const std::size_t count = bodies.size();
  double mass = 0;
  for (const Body& body : bodies) mass += body.m;
  ASSERT_NEAR(mass, 1, 1e-12);
  for (const double r : {0.25, 0.125, 4.0}) {
    for (const Vector& to : {Vector{1, 0, 0}, Vector{0, -0.6, 0.8}, Vector{-0.48, 0.64, 0.6}}) {
      bodies.push_back({r * to.x, r * to.y, r * to.z, 0});
    }
  }
  bodies.push_back({0, 0, 0, 0});
  for_each_form([&](const Form& form) {
    const Vectors got = accelerate(form, bodies, softening);
    ASSERT_EQ(got.size(), bodies.size());
    for (std::size_t i = count; i < got.size(); ++i) {
      const Body& p = bodies[i];
      const double r = std::sqrt(p.x * p.x + p.y * p.y + p.z * p.z),
                   pull = r > 1 ? -1 / (r * r * r) : 0;
      const double magnitude = pull_on(p, bodies, softening).magnitude;
      // positions and masses of the points are rounded as well
      const double allowed = bound(form, bodies.size(), magnitude) + 0x1p-23 +
                             (form.in_double ? 0 : 0x1p-21 * magnitude);
      EXPECT_LE(largest_difference(got[i], {pull * p.x, pull * p.y, pull * p.z}), allowed)
          << text(got[i]) << " at radius " << r;
    }
  });
}

/// A shift by numbers that leave every difference exact changes no bit.
TEST(Special, MovedAsAWhole) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  Bodies bodies = random_bodies(290, 13);
  for (Body& body : bodies) {
    for (double* x : {&body.x, &body.y, &body.z}) *x = std::floor(*x * 1024) / 1024;
  }
  const Wants wants = wants_of(bodies);
  Bodies moved = bodies;
  for (Body& body : moved) body.x += 2, body.y -= 40, body.z += 1024;
  for_each_form([&](const Form& form) {
    EXPECT_TRUE(
        same(form, accelerate(form, bodies), accelerate(form, moved), wants, in_any_order(form)));
  });
}

/// In another order the same bodies get the same accelerations, up to the rounding of the sums.
TEST(Special, InAnotherOrder) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  for (const std::int64_t n : sizes_here(*gpu, {7, 290, 1333}, 290)) {
    const Bodies bodies = random_bodies(n, 19);
    const Wants wants = wants_of(bodies);
    std::vector<std::size_t> order(bodies.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (std::size_t i = order.size() - 1; i > 0; --i) {
      std::swap(order[i], order[course::mix(23, i) % (i + 1)]);
    }
    Bodies shuffled;
    for (const std::size_t i : order) shuffled.push_back(bodies[i]);
    for_each_form([&](const Form& form) {
      const Vectors got = accelerate(form, shuffled), plain = accelerate(form, bodies);
      Vectors back(got.size());
      for (std::size_t i = 0; i < order.size(); ++i) back[order[i]] = got[i];
      EXPECT_TRUE(same(form, back, plain, wants, true)) << "n = " << n;
    });
  }
}

/// The softening is an argument, and squared once.
TEST(Special, AnySoftening) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  const Bodies bodies = random_bodies(140, 29);
  for (const double softening : {0x1p-20, 0x1p-10, 0.1875, 1.0, 16.0}) {
    const Wants wants = wants_of(bodies, softening);
    for_each_form([&](const Form& form) {
      EXPECT_TRUE(near(form, accelerate(form, bodies, softening), wants))
          << "softening " << softening;
    });
  }
}

/// The same bits in 20 runs, where that is promised: by all but 81, and by 80 if no three blocks
/// share a row, for example with as many bodies as a block takes. The others stay within the
/// bounds.
TEST(Special, Determinism) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  for (const std::int64_t n : sizes_here(*gpu, {100, 300, 8193, 30011}, 300)) {
    const Bodies bodies = random_bodies(n, 31);
    const Wants wants = n < 10000 ? wants_of(bodies) : Wants(bodies.size());
    const int runs = slow(*gpu) ? 3 : 20;
    for_each_form([&](const Form& form) {
      const bool loosely = form.id == "81_third_law" || (is_limit(form) && n > 100);
      if (loosely && n > 10000) return;  // the reference would take long
      const Arrays in = form.upload(bodies);
      Banded out(bodies.size() * form.bytes_out());
      Vectors first;
      for (int run = 0; run < runs; ++run) {
        out.reset();
        COURSE_CHECK(form.launch(in, out.data(), n, nbody::softening, nullptr));
        const Vectors got = vectors_in(form, out);
        if (run == 0) first = got;
        ASSERT_TRUE(same(form, first, got, wants, loosely)) << "run " << run << ", n = " << n;
      }
    });
  }
}

#ifndef SIMT  // too many bodies for a CPU
/// 80 with at least one row per block: no row has a third block, and the order of two does not
/// matter. Rows are at most 4096 bodies, and an SM has one block.
TEST(Special, LimitIsTheSameWithManyBodies) {
  COURSE_NEEDS_GPU(gpu);
  if (sanitized()) GTEST_SKIP() << "too many bodies for a sanitizer";
  int sms = 0;
  COURSE_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  const std::int64_t n = std::int64_t{sms} * 4096 + 77;
  for_each_form([&](const Form& form) {
    if (form.id != "80_limit") return;
    const Arrays in = form.upload(random_bodies(n, 37));
    std::vector<float> first;
    for (int run = 0; run < 3; ++run) {
      const Banded out(static_cast<std::size_t>(n) * form.bytes_out());
      COURSE_CHECK(form.launch(in, out.data(), n, nbody::softening, nullptr));
      const auto got = out.values<float>();
      if (run == 0) first = got;
      ASSERT_TRUE(got == first) << "run " << run;
    }
  });
}
#endif

#ifndef SIMT  // the CPU backend has no graphs
#endif

/// Float compared with double on the device. Bodies are spread evenly, where sums of 2^16 terms in
/// float have a typical error of 3e-6 (a plain loop on a CPU); some bodies near the middle feel
/// almost no force, and for them the error is larger.
TEST(Special, FloatIsNearDouble) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  const std::int64_t n = slow(*gpu) ? 300 : 1 << 16;
  const Bodies bodies = random_bodies(n, 59);
  Vectors want;
  for_each_form([&](const Form& form) {
    if (form.id == "global_memory") want = accelerate(form, bodies);
  });
  if (want.empty()) GTEST_SKIP() << "double_precision is not built";
  for_each_form([&](const Form& form) {
    const Vectors got = accelerate(form, bodies);
    std::vector<double> errors;
    for (std::size_t i = 0; i < want.size(); ++i) {
      errors.push_back(distance(got[i], want[i]) / distance(want[i], {0, 0, 0}));
      ASSERT_TRUE(std::isfinite(errors.back())) << "body " << i << ": " << text(got[i]);
    }
    std::sort(errors.begin(), errors.end());
    EXPECT_LE(errors[errors.size() / 2], form.in_double ? 1e-13 : 1e-5) << "median";
    EXPECT_LE(errors[errors.size() * 99 / 100], form.in_double ? 1e-12 : 5e-5) << "99 of 100";
    EXPECT_LE(errors.back(), form.in_double ? 1e-10 : 1e-2) << "largest";
  });
}

}  // namespace

std::set<std::string> nbody_test::versions_of_vectors() {
  std::set<std::string> found;
  for (const Form& form : all_forms()) {
    if (!form.in_double && form.id > "03" && !is_unit(form)) found.insert(form.id);
  }
  return found;
}

int main(int argc, char** argv) {
  course_test::take_order(&argc, argv);
  testing::InitGoogleTest(&argc, argv);
  course_test::register_chapter(course::chapter(), inputs);
  course_test::register_contracts(course::chapter());
  return RUN_ALL_TESTS();
}
