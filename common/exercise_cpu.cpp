// The second half of an exercise on the CPU backend, which has no times to judge by.
#include <cstdio>

#include "check.hpp"
#include "exercise.hpp"
#include "simt/report.hpp"
#include "verify.hpp"

namespace course {
namespace {

/// Counts of one launch of the learner's version at the last of its test sizes.
Model counts_of(const Exercise& exercise, const Options& options) {
  const auto problem = exercise.make(exercise.test_sizes.back(), options.seed, Input::random);
  const DeviceArrays arrays(exercise.yours, *problem, nullptr);
  return counts_during([&] { COURSE_CHECK(exercise.yours.launch(*problem, arrays.arguments())); });
}

/// Empty, or why the version takes more wavefronts than the exercise allows.
std::string too_many_wavefronts(const Exercise& exercise, const Model& counts) {
  const std::pair<const char*, Requests> kinds[] = {{"read", counts.shared_loads},
                                                    {"write", counts.shared_stores}};
  for (const auto& [kind, done] : kinds) {
    if (done.requests == 0) return std::string("no ") + kind + " of shared memory was counted";
    const double each = static_cast<double>(done.units) / static_cast<double>(done.requests);
    if (each <= exercise.most_wavefronts) continue;
    char why[120];
    std::snprintf(why, sizeof why, "a %s of shared memory takes %.2f wavefronts, and %.2f is asked",
                  kind, each, exercise.most_wavefronts);
    return why;
  }
  return "";
}

int passed() {
  std::printf("PASSED\n");
  return 0;
}

}  // namespace

int judge_speed(const Exercise& exercise, const Options& options, const Device&) {
  const bool judge_counts = exercise.most_wavefronts > 0 && simt::instrumented();
  if (judge_counts || options.model) {
    const Model counts = counts_of(exercise, options);
    if (options.model) std::puts(counts.report.c_str());
    if (judge_counts) {
      const std::string why = too_many_wavefronts(exercise, counts);
      return why.empty() ? passed() : not_yet(why);
    }
  }
  if (exercise.least_ratio == 0) return passed();
  std::printf("RIGHT; whether it reaches %.2fx of %s, only a GPU can tell\n", exercise.least_ratio,
              exercise.reference.id.c_str());
  return 3;
}

}  // namespace course
