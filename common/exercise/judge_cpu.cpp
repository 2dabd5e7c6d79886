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
/// outputs. Copies of 4 to 16 bytes are not counted, but their data are read again from shared
/// memory. \returns nothing if the kernels may have computed it.
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

/// The largest of the test sizes that takes only a moment to count.
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
  if (!counts.exact)
    std::puts("not every count is exact: docs/cpu_backend_details.md, Where it works");
  const std::vector<Array> inputs = problem->inputs();
  return too_many(exercise.most, counts, inputs.empty() ? 0 : inputs[0].count, problem->flops());
}

std::string not_brought(const Exercise& exercise, const Problem& problem, const Model& counts) {
  using Brings = Exercise::Brings;
  if (exercise.brings == Brings::anything) return "";
  const bool bulk = exercise.brings == Brings::bulk_copies;
  const double bytes = static_cast<double>(counts.engine_read + (bulk ? 0 : counts.copied));
  if (bytes >= problem.bytes_read() / 2) return "";
  char text[120];
  std::snprintf(text, sizeof text, "%s copies read %.0f bytes of the input's %.0f",
                bulk ? "bulk" : "asynchronous", bytes, problem.bytes_read());
  return text;
}

void tell_totals(const Size& size, const Totals& yours, const Totals& solution) {
  std::printf("in all, at %s: %.0f sectors, %.0f wavefronts, %.0f requests in turn",
              size.text().c_str(), yours.sectors, yours.wavefronts, yours.in_turn);
  std::printf("; the solution: %.0f, %.0f, %.0f\n", solution.sectors, solution.wavefronts,
              solution.in_turn);
}

/// Counts one launch at a large size, and one at the last of the test sizes. \returns why it is no
/// answer, or nothing.
std::string judge_by_counts(const Exercise& exercise, const Options& options, Report& report) {
  const Size size = exercise.counted ? *exercise.counted : large(exercise);
  const auto problem = exercise.make(size, options.seed, Input::random);
  const Model counts = *counted_row(exercise, exercise.yours, *problem).model;
  const std::string hollow = untouched(*problem, counts);
  if (!hollow.empty()) return hollow;
  if (counts.to_host > 0) return "its launcher copies to the host: kernels are to do all of it";
  const auto index = static_cast<std::size_t>(exercise.number - 1);
  const bool known = index < exercise.solutions.size();  // false for an exercise of a teacher's own
  if (known) {
    tell_totals(size, totals_of(counts), exercise.solutions[index]);
    const std::string few = too_few_at_work(exercise.solutions[index], exercise.room, counts);
    if (!few.empty()) return few;
  }
  if (counts.by_kernels < exercise.least_by_kernels) return "no kernel launches another";
  if (exercise.tensor_cores && counts.products == 0) return "no tensor core multiplies";
  if (const std::string why = not_brought(exercise, *problem, counts); !why.empty()) return why;
  const std::string requests = judge_counts(exercise, options, report);
  if (!known) return requests;
  return requests.empty() ? too_much(exercise.solutions[index], exercise.room, counts) : requests;
}

}  // namespace

void vary_schedule(Input input) { simt::set_late_orders(input == Input::random); }
bool once_is_enough(const Problem& problem) {
  return problem.bytes() > 1 << 18 && !simt::late_orders_matter();
}

int judge_speed(const Exercise& exercise, const Options& options, const Device&, Report& report) {
  const bool counted = simt::instrumented();
  if (counted) {
    const std::string why = judge_by_counts(exercise, options, report);
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
