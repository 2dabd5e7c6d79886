// The program behind an exercise: one file of yours, beside the version that it has to match or to
// beat. Passed means: right on every size below, and, where the exercise asks for it, fast enough.
#include <algorithm>
#include <cmath>

#include "chapter/rows.hpp"
#include "exercise/exercise.hpp"
#include "nbody.hpp"

COURSE_LAUNCHERS(AccelerateFloat, (accelerate), exercise, shared_tile, unrolled);

/// {ax, ay, az, potential} of each body: minus the sum over j other than i of m_j / distance.
class GravityAndPotential : public GravityOfVectors {
 public:
  using GravityOfVectors::GravityOfVectors;
  void expected(int output, double* values) const override {
    GravityOfVectors::expected(output, values);
    const std::vector<nbody::Body> all = bodies();
    std::size_t k = 0;
    for (const std::int64_t i : bodies_compared()) {
      const nbody::Body& me = all[static_cast<std::size_t>(i)];
      double sum = 0;
      for (const nbody::Body& other : all) {
        if (&other != &me) sum -= depth(me, other);
      }
      values[4 * k++ + 3] = sum;
    }
  }
  /// As for accelerations: a term is off by at most 24 roundings of itself (it has fewer), and n
  /// additions by 4 sqrt(n) + n / 256 of the sum of the magnitudes. The larger of the two.
  course::Tolerance tolerance(int output) const override {
    const std::vector<nbody::Body> all = bodies();
    double deepest = 0;
    for (const std::int64_t i : bodies_compared()) {
      double sum = 0;
      for (const nbody::Body& other : all) sum += depth(all[static_cast<std::size_t>(i)], other);
      deepest = std::max(deepest, sum);
    }
    course::Tolerance tolerance = GravityOfVectors::tolerance(output);
    const double count = static_cast<double>(n());
    const double roundings = 24 + std::min(count, 4 * std::sqrt(count) + count / 256);
    tolerance.absolute = std::max(tolerance.absolute, roundings * 0x1p-24 * deepest);
    return tolerance;
  }

 private:
  std::vector<nbody::Body> bodies() const {
    const course::Array array = inputs()[0];
    const auto element = [&](std::int64_t i) -> double {
      return course::value<float>(input(), array.seed, i, array.magnitude_every);
    };
    std::vector<nbody::Body> all;
    for (std::int64_t i = 0; i < n(); ++i) {
      all.push_back({element(4 * i), element(4 * i + 1), element(4 * i + 2), element(4 * i + 3)});
    }
    return all;
  }
  static double depth(const nbody::Body& me, const nbody::Body& other) {
    const double dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
    return other.m / std::sqrt(dx * dx + dy * dy + dz * dz + nbody::softening * nbody::softening);
  }
};

int main(int argc, char** argv) {
  course::Exercise exercise;
  exercise.chapter = "06_nbody";
  // sectors, wavefronts and requests in turn
  exercise.solutions = {{34851, 0, 4108},    {35877, 0, 4107},    {3633, 103360, 5169},
                        {3591, 82645, 4148}, {2084, 41274, 5192}, {26178, 110682, 464}};
  exercise.size = {{{"n", 1 << 17}}};
  std::vector<std::int64_t> sizes = {0, 1, 2, 3, 31, 32, 33, 255, 256, 257, 511, 512, 513, 1025};
  exercise.make = course::make_problem<GravityOfVectors>();
  exercise.yours = course::row("yours", "your version", exercise::accelerate);
  exercise.compared = course::row("05_unrolled", "full tiles, unrolled", unrolled::accelerate);
  if (exercise.number <= 4) exercise.room = {3, 1.5, 1.5};  // tiles of other sizes
  if (exercise.number == 2) {
    sizes.push_back(1024);
    // A warp loads 1024 bodies for each of its 32; that is 256 for each 8, which are 32 floats. And
    // its own three floats or, by another kind of answer, four.
    exercise.most.load_requests = 260;
  }
  if (exercise.number == 3) sizes = {256, 512, 1, 0, 1024, 257, 255, 2, 3, 31, 33, 513, 1025};
  if (exercise.number == 4) exercise.make = course::make_problem<GravityAndPotential>();
  if (exercise.number == 5) {
    exercise.compared =
        course::row("04_shared_tile", "tiles in shared memory", shared_tile::accelerate);
    sizes.push_back(1024);
    exercise.room = {4, 2, 2};
    exercise.most.read_requests = 128;  // half of what one body per thread takes
    exercise.least_ratio = 1.03;
    // Eight blocks of 256 bodies per SM, two of 1024: no SM is idle while others end their turn.
    // With 2^18 bodies, 1024 per block, a third of a GPU of 114 SMs would be.
    exercise.size_on = [](const course::Device& device) {
      return course::Size{{{"n", std::int64_t{2048} * device.sm_count}}};
    };
  }
  if (exercise.number == 6) {
    exercise.compared =
        course::row("04_shared_tile", "tiles in shared memory", shared_tile::accelerate);
#ifndef SIMT
    sizes.insert(sizes.end(), {2047, 4095, 4096, 4097, 20011});
#endif
    exercise.size = {{{"n", 1 << 12}}};
    exercise.least_ratio = 4;
    exercise.room.sectors = 2;
    exercise.most.atomic_requests = course::MostCounted::none;
    exercise.unseen = "how many SMs have work";
  }
  for (const std::int64_t n : sizes) exercise.test_sizes.push_back({{{"n", n}}});
  return course::run_exercise(argc, argv, exercise);
}
