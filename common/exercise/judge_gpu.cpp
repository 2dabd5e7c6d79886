// The second half of an exercise on a GPU: is the learner's version fast enough?
#include <cstdio>

#include "chapter/sizes.hpp"
#include "correct/verify.hpp"
#include "exercise/exercise.hpp"
#include "measure/measure.hpp"
#include "program/report.hpp"

namespace course {
namespace {

Result measured_result(const Exercise& exercise, const Row& row) {
  Result result = row_of(exercise, row.version(), row.problem());
  result.seconds = row.seconds();
  result.mode = row.by_graph() ? "graph" : "launch";
  result.behind = row.behind();
  result.behind_s = row.behind_seconds();
  result.instantiations = row.instantiations();
  result.launches_per_sample = row.launches_per_sample();
  result.clock_mhz = row.clock_mhz();
  result.shape = row.shape();
  result.verified = true;
  return result;
}

/// The exercise's size, or the largest that fits.
Size fitting_size(const Exercise& exercise, const Device& device) {
  const Size asked = exercise.size_on ? exercise.size_on(device) : exercise.size;
  const std::int64_t free = free_device_bytes();
  return fitting(asked, [&](const Size& size) {
    return size.dimensions[0].second <= 1024 ||
           Sets::bytes_needed(*exercise.make(size, 1, Input::random), device.l2_bytes) <= free / 2;
  });
}

/// As estimate_seconds(); nothing for a launch that fails, about which the check says more.
double seconds_of(const Version& version, const Problem& problem, Bench& bench) {
  try {
    return estimate_seconds(version, problem, bench);
  } catch (const Error&) {
    return 0;
  }
}

/// The asked size, or a smaller one that does not take too long: a first attempt may be a thousand
/// times as slow as the version that it is compared with.
Size size_in_time(const Exercise& exercise, const Size& asked, Bench& bench) {
  constexpr double slow_launch_s = 1;
  Size size = asked;
  for (const Version* version : {&exercise.compared, &exercise.yours}) {
    const auto problem = [&](const Size& at) { return exercise.make(at, 1, Input::random); };
    const Pace pace = {[&](const Size& at) { return problem(at)->bytes(); },
                       [&](const Size& at) { return problem(at)->work().amount; },
                       [&](const Size& at) { return seconds_of(*version, *problem(at), bench); },
                       version->takes};
    double at_asked = 0;
    size = fast_enough(size, slow_launch_s, pace, &at_asked);
  }
  if (!(size == asked)) {
    std::printf("measured at %s: a launch at %s takes more than %g s\n", size.text().c_str(),
                asked.text().c_str(), slow_launch_s);
  }
  return size;
}

/// What is wrong with one launch at the measured size, or nothing: the sizes checked before are
/// smaller.
std::string wrong_once(Row& row, const References& references) {
  row.poison();
  const cudaError_t error = row.launch_once();
  return error == cudaSuccess ? references.mismatch(row.first_set()) : failure_text(error);
}

int not_right(const Exercise& exercise, const Problem& problem, const std::string& why,
              Report& report) {
  report.results = {row_of(exercise, exercise.yours, problem)};
  report.results[0].failure = why;
  return not_yet(report, why);
}

/// "0.98x of 02_one_thread_per_element, and it takes 1.15x", and what else may help. On other GPUs
/// than an H100 or H200 the text adds that the factor holds on these: others may not reach it.
std::string too_slow(const Exercise& exercise, bool hopper, double ratio) {
  char why[160];
  std::snprintf(why, sizeof why, "%.2fx of %s, and it takes %.2fx", ratio,
                exercise.compared.id.c_str(), exercise.least_ratio);
  const std::string text = std::string(why) + (hopper ? "" : " on an H100 or H200");
  // Where counts can judge, they do so on any machine.
  const bool counted = exercise.most.any() && exercise.unseen.empty();
  return text + (counted ? " (or few enough counts: --backend cpu)" : "");
}

}  // namespace

void vary_schedule(Input) {}  // a GPU varies its schedule itself
bool once_is_enough(const Problem&) { return false; }

int judge_speed(const Exercise& exercise, const Options& options, const Device& device,
                Report& report) {
  if (!exercise.untimed.empty()) {
    std::printf("RIGHT; no time shows %s: only --backend cpu, which counts, can tell\n",
                exercise.untimed.c_str());
    return 3;
  }
  if (!exercise.compared.launch) return passed(report);
  Bench bench(device);
  const Size size = size_in_time(exercise, fitting_size(exercise, device), bench);
  const auto problem = exercise.make(size, options.seed, Input::random);
  auto sets = std::make_shared<Sets>(*problem, device.l2_bytes, bench.stream());
  const References references(*problem, bench.stream());
  std::vector<std::unique_ptr<Row>> rows;
  for (const Version* version : {&exercise.compared, &exercise.yours}) {
    rows.push_back(std::make_unique<Row>(*version, *problem, sets, bench));
  }
  if (const std::string why = wrong_once(*rows[1], references); !why.empty()) {
    return not_right(exercise, *problem, "wrong at " + size.text() + ": " + why, report);
  }
  for (const auto& row : rows) row->prepare(Plan{});
  measure_in_turn(rows, Plan{}, [](int, int) { return true; });
  rows[1]->replay();
  if (const std::string why = references.mismatch(rows[1]->first_set()); !why.empty()) {
    return not_right(exercise, *problem, "wrong after the measurement: " + why, report);
  }
  Study study;
  std::fputs(table_header(study, problem->work().unit).c_str(), stdout);
  const Result compared = measured_result(exercise, *rows[0]),
               yours = measured_result(exercise, *rows[1]);
  report.results = {compared, yours};
  std::fputs(table_row(study, compared, 0).c_str(), stdout);
  std::fputs(table_row(study, yours, compared.rate()).c_str(), stdout);
  const double ratio = yours.rate() / compared.rate();
  if (yours.shape && yours.shape->kernels == 0) {
    return not_yet(report, "right, but no kernel was launched");
  }
  if (!(ratio >= exercise.least_ratio)) {
    const bool hopper = device.capability == 90;
    const std::string why = too_slow(exercise, hopper, ratio);
    if (hopper) return not_yet(report, why);
    std::printf("RIGHT; %s\n", why.c_str());
    return 3;
  }
  return passed(report);
}

}  // namespace course
