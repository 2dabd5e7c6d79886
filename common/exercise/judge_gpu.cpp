// The second half of an exercise on a GPU: is the learner's version fast enough?
#include <cstdio>

#include "chapter/sizes.hpp"
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
Size size_here(const Exercise& exercise, const Device& device) {
  const std::int64_t free = free_device_bytes();
  return fitting(exercise.size, [&](const Size& size) {
    return size.dimensions[0].second <= 1024 ||
           Sets::bytes_needed(*exercise.make(size, 1, Input::random), device.l2_bytes) <= free / 2;
  });
}

}  // namespace

int judge_speed(const Exercise& exercise, const Options& options, const Device& device,
                Report& report) {
  if (!exercise.compared.launch) return passed(report);
  Bench bench(device);
  const auto problem = exercise.make(size_here(exercise, device), options.seed, Input::random);
  auto sets = std::make_shared<Sets>(*problem, device.l2_bytes, bench.stream());
  std::vector<std::unique_ptr<Row>> rows;
  for (const Version* version : {&exercise.compared, &exercise.yours}) {
    rows.push_back(std::make_unique<Row>(*version, *problem, sets, bench));
    rows.back()->prepare(Plan{});
  }
  measure_in_turn(rows, Plan{}, [](int, int) { return true; });
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
  if (ratio < exercise.least_ratio) {
    // What counts can judge, they judge on any machine; a factor may be out of reach on some GPU.
    const bool counted = exercise.most.any() && exercise.unseen.empty();
    char why[160];
    std::snprintf(why, sizeof why, "%.2fx of %s, and it takes %.2fx%s", ratio,
                  compared.version.c_str(), exercise.least_ratio,
                  counted ? " (or few enough counts: --backend cpu)" : "");
    return not_yet(report, why);
  }
  return passed(report);
}

}  // namespace course
