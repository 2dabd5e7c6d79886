// The second half of an exercise on the CPU backend, which has no times to judge by.
#include <cstdio>

#include "correct/verify.hpp"
#include "device/cuda_check.hpp"
#include "exercise/exercise.hpp"
#include "simt/findings.hpp"

namespace course {
namespace {

/// The version, its row with the counts of one launch on a problem.
Result counted_row(const Exercise& exercise, const Version& version, const Problem& problem) {
  Result result = row_of(exercise, version, problem);
  const DeviceArrays arrays(version, problem, nullptr);
  result.model = counts_during([&] { COURSE_CHECK(version.launch(problem, arrays.arguments())); });
  return result;
}

/// Why the kernels cannot have computed it: they read less than the inputs, or wrote less than the
/// outputs. What they read by copies of 4 to 16 bytes, which are not counted, they read from shared
/// memory again. \returns nothing, if they may have.
std::string untouched(const Problem& problem, const Model& counts) {
  const double read = 32.0 * static_cast<double>(counts.global_loads.units) +
                      32.0 * static_cast<double>(counts.global_atomics.units) +
                      128.0 * static_cast<double>(counts.shared_loads.words) +
                      static_cast<double>(counts.engine_read);
  const double written =
      32.0 * static_cast<double>(counts.global_stores.units + counts.global_atomics.units) +
      static_cast<double>(counts.engine_written);
  const bool all = read >= problem.bytes_read() && written >= problem.bytes_written();
  return all ? "" : "its kernels do not read all of the inputs and write all of the outputs";
}

/// The largest of the test sizes that is counted in a moment.
Size large(const Exercise& exercise) {
  constexpr double moment = 1 << 20;  // bytes
  Size most = exercise.test_sizes.front();
  double bytes = 0;
  for (const Size& size : exercise.test_sizes) {
    const double here = exercise.make(size, 1, Input::random)->bytes();
    if (here <= bytes || here > moment) continue;
    most = size;
    bytes = here;
  }
  return most;
}

/// \returns what one launch at a large size does too much of, in all, or that it does not do all of
/// it; or nothing.
std::string judge_totals(const Exercise& exercise, const Options& options) {
  const Size size = large(exercise);
  const auto problem = exercise.make(size, options.seed, Input::random);
  const Model counts = *counted_row(exercise, exercise.yours, *problem).model;
  const std::string hollow = untouched(*problem, counts);
  if (!hollow.empty()) return hollow;
  const auto index = static_cast<std::size_t>(exercise.number - 1);
  if (index >= exercise.solutions.size()) return "";
  const Totals yours = totals_of(counts), &solution = exercise.solutions[index];
  std::printf("in all, at %s: %.0f sectors, %.0f wavefronts, %.0f requests in turn",
              size.text().c_str(), yours.sectors, yours.wavefronts, yours.in_turn);
  std::printf("; the solution: %.0f, %.0f, %.0f\n", solution.sectors, solution.wavefronts,
              solution.in_turn);
  return too_much(solution, exercise.room, counts);
}

/// Counts one launch of the learner's version at the last of its test sizes; shows them if asked.
/// \returns what it does too much of, or nothing.
std::string judge_counts(const Exercise& exercise, const Options& options, Report& report) {
  const auto problem = exercise.make(exercise.test_sizes.back(), options.seed, Input::random);
  report.results = {counted_row(exercise, exercise.yours, *problem)};
  report.results[0].verified = true;
  if (exercise.compared.launch) {
    report.results.push_back(counted_row(exercise, exercise.compared, *problem));
    report.results[1].skipped = "only counted: exercises check your version";
  }
  const Model& counts = *report.results[0].model;
  if (options.model) std::puts((counts.report + "\n" + report_legend({counts})).c_str());
  if (!counts.exact) std::puts("not every count is exact: docs/cpu_backend.md, Where it works");
  const std::vector<Array> inputs = problem->inputs();
  return too_many(exercise.most, counts, inputs.empty() ? 0 : inputs[0].count, problem->flops());
}

}  // namespace

int judge_speed(const Exercise& exercise, const Options& options, const Device&, Report& report) {
  const bool counted = simt::instrumented();
  if (counted) {
    std::string why = judge_counts(exercise, options, report);
    const std::string in_all = judge_totals(exercise, options);
    if (why.empty()) why = in_all;
    if (!why.empty()) return not_yet(report, "right, but " + why);
  }
  if (exercise.least_ratio == 0) return passed(report);
  char rate[120];
  std::snprintf(rate, sizeof rate, "%.2fx the rate of %s", exercise.least_ratio,
                exercise.compared.id.c_str());
  if (counted && exercise.most.any() && exercise.unseen.empty()) {
    std::printf("and by its counts fast; on a GPU time decides: at least %s\n", rate);
    return passed(report);
  }
  const std::string unseen =
      exercise.unseen.empty() ? "" : "no count shows " + exercise.unseen + ", so ";
  std::printf("RIGHT; %swhether it reaches %s, only a GPU can tell\n", unseen.c_str(), rate);
  return 3;
}

}  // namespace course
