// The second half of an exercise on the CPU backend, which has no times to judge by.
#include <cstdio>

#include "correct/verify.hpp"
#include "device/cuda_check.hpp"
#include "exercise/exercise.hpp"
#include "simt/findings.hpp"

namespace course {
namespace {

/// Counts one launch of the learner's version at the last of its test sizes; shows them if asked.
/// \returns what it does too much of, or nothing.
std::string judge_counts(const Exercise& exercise, const Options& options) {
  const auto problem = exercise.make(exercise.test_sizes.back(), options.seed, Input::random);
  const DeviceArrays arrays(exercise.yours, *problem, nullptr);
  const Model counts =
      counts_during([&] { COURSE_CHECK(exercise.yours.launch(*problem, arrays.arguments())); });
  if (options.model) std::puts(counts.report.c_str());
  if (!counts.exact) std::puts("not every count is exact: docs/cpu_backend.md, Where it works");
  const std::vector<Array> inputs = problem->inputs();
  return too_many(exercise.most, counts, inputs.empty() ? 0 : inputs[0].count);
}

}  // namespace

int judge_speed(const Exercise& exercise, const Options& options, const Device&) {
  const bool counted = simt::instrumented();
  if (counted && (exercise.most.any() || options.model)) {
    const std::string why = judge_counts(exercise, options);
    if (!why.empty()) return not_yet("right, but " + why);
  }
  if (exercise.least_ratio == 0) return passed();
  char rate[120];
  std::snprintf(rate, sizeof rate, "%.2fx of %s", exercise.least_ratio,
                exercise.compared.id.c_str());
  if (counted && exercise.most.any() && exercise.unseen.empty()) {
    std::printf("and by its counts fast; on a GPU time decides: it takes %s\n", rate);
    return passed();
  }
  const std::string unseen =
      exercise.unseen.empty() ? "" : "no count shows " + exercise.unseen + ", so ";
  std::printf("RIGHT; %swhether it reaches %s, only a GPU can tell\n", unseen.c_str(), rate);
  return 3;
}

}  // namespace course
