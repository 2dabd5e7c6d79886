// The program of a chapter on a GPU: checks, measures, and checks again.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "correct/verify.hpp"
#include "device/cuda_check.hpp"
#include "kernels/device_ops.hpp"
#include "measure/anchors.hpp"
#include "measure/measure.hpp"
#include "program/run.hpp"

namespace course {
namespace {

Plan plan_for(const Options& options) {
  Plan plan;
  if (options.record) {
    plan.budget_s = 1;
    plan.target_error = 5e-4;
    plan.min_samples = 25;
    plan.max_samples = 50;
  }
  return plan;
}

/// Empty, or how far apart the instantiations of the row's graph are.
std::string instantiations_note(const Row& row) {
  constexpr double tolerated = 1.05;
  const std::vector<double>& seconds = row.instantiations();
  if (seconds.empty()) return "";
  const auto [fastest, slowest] = std::minmax_element(seconds.begin(), seconds.end());
  if (*slowest <= tolerated * *fastest) return "";
  return "the fastest of " + std::to_string(seconds.size()) + " graphs; the slowest took " +
         time_text(*slowest);
}

class ChapterRun {
 public:
  ChapterRun(const Chapter& chapter, Options options)
      : chapter_(chapter),
        options_(std::move(options)),
        plan_(plan_for(options_)),
        device_(open_device(options_.device)),
        bench_(device_) {
    report_.chapter = chapter.name;
    report_.options = options_;
    report_.device = device_;
  }

  int run(const std::vector<Study>& studies);

 private:
  struct Job {  // versions that share a problem and its sets
    Size size;
    const MakeProblem* make = nullptr;
    std::unique_ptr<Problem> problem;
    std::shared_ptr<Sets> sets;
    std::unique_ptr<References> references;
  };

  void heading() const;
  Anchors anchors_now();
  void measure_the_anchors();
  void look_back();
  void run_study(const Study& study);
  void run_size(const Study& study, const Size& size);
  void profile(const std::vector<Study>& studies);
  Size fitting(const Study& study, const Size& asked) const;
  Size fast_enough(const Study& study, const Version& version, const Size& asked, Result& result);
  Job& job_for(std::vector<std::unique_ptr<Job>>& jobs, const Study& study, const Version& version,
               const Size& size);
  bool check_before(const Job& job, Row& row, Result& result);
  void finish(const Study& study, const Job& job, Row& row, Result& result);
  double measure_empty();
  void flag_slow_edges(std::vector<Result>& results, double empty_s) const;
  std::unique_ptr<Problem> make(const Study& study, const Version& version,
                                const Size& size) const {
    return (version.make ? version.make : study.make)(size, options_.seed, Input::random);
  }

  const Chapter& chapter_;
  Options options_;
  Plan plan_;
  Device device_;
  Bench bench_;
  Report report_;
  double fastest_empty_s_ = 0;
};

void ChapterRun::heading() const {
  std::printf("%s: %s\n", chapter_.name.c_str(), chapter_.title.c_str());
  std::printf("%s, compute capability %s, %d SMs, %.0f MiB L2, CUDA %s (driver %s)\n",
              device_.name.c_str(), device_.capability_text().c_str(), device_.sm_count,
              static_cast<double>(device_.l2_bytes) / (1 << 20), device_.runtime.c_str(),
              device_.driver.c_str());
}

Anchors ChapterRun::anchors_now() {
  progress_line("measuring what the memory can do ...");
  // 3 GiB show the asymptote; a small GPU uses half of what is free
  const std::int64_t bytes = std::min<std::int64_t>(std::int64_t{3} << 30, free_device_bytes() / 2);
  const Anchors anchors = measure_anchors(bench_, plan_, bytes);
  progress_line("");
  return anchors;
}

void ChapterRun::measure_the_anchors() {
  report_.anchors = anchors_now();
  const Anchors& a = *report_.anchors;
  std::printf("measured here: read only %.0f GB/s; copy %.0f GB/s (%s)\n", a.read_gbs, a.copy_gbs,
              a.copy_by.c_str());
  std::printf("each launch comes behind an empty kernel, whose %.2f us are taken off\n",
              a.empty_kernel_s * 1e6);
  if (device_.peak_dram_gbs) {
    std::printf("the memory's pins: %.0f GB/s by clock and width\n", *device_.peak_dram_gbs);
  }
}

/// After the last row: did the rate of DRAM or the clock change during the run?
void ChapterRun::look_back() {
  constexpr double tolerated = 0.02, clock_floor = 0.95;
  const Anchors now = anchors_now();
  const double drift = std::max(std::abs(now.read_gbs / report_.anchors->read_gbs - 1),
                                std::abs(now.copy_gbs / report_.anchors->copy_gbs - 1));
  if (drift > tolerated) {
    std::printf("warning: the memory's own rates moved by %.1f %% during this run\n", 100 * drift);
  }
  double fastest = 0;
  for (const Result& result : report_.results) {
    fastest = std::max(fastest, result.clock_mhz.value_or(0));
  }
  for (Result& result : report_.results) {
    if (drift > tolerated && result.measured()) result.flags.push_back("anchors_moved");
    if (result.clock_mhz && *result.clock_mhz < clock_floor * fastest) {
      result.flags.push_back("throttled");
      std::printf("warning: %s ran at %.0f MHz, others at %.0f: let the GPU cool down\n",
                  result.version.c_str(), *result.clock_mhz, fastest);
    }
  }
}

/// The asked size if its arrays fit; an error that names the largest that fits if it was asked for
/// on the command line; that largest size otherwise.
Size ChapterRun::fitting(const Study& study, const Size& asked) const {
  const double free = static_cast<double>(free_device_bytes());
  const auto fits = [&](const Size& size) {
    double needed = 0;
    std::vector<const MakeProblem*> makers = {&study.make};
    for (const Version& version : study.versions) {
      if (version.make) makers.push_back(&version.make);
    }
    for (const MakeProblem* maker : makers) {
      const auto problem = (*maker)(size, options_.seed, Input::random);
      if (problem->bytes() > free) return false;  // before anything multiplies sizes as integers
      needed += static_cast<double>(Sets::bytes_needed(*problem, device_.l2_bytes));
    }
    return needed <= 0.85 * free;
  };
  const Size size = course::fitting(asked, fits);
  if (size == asked) return asked;
  if (!options_.sizes.empty()) {
    throw Error("--size " + asked.text() + " does not fit into the memory of this GPU; " +
                    size.text() + " does",
                2);
  }
  return size;
}

/// The asked size, or a smaller one where a launch would take too long; the result says so. A point
/// of a curve is left out rather than measured at another size.
Size ChapterRun::fast_enough(const Study& study, const Version& version, const Size& asked,
                             Result& result) {
  const double slow = study.slow_launch_s > 0 ? study.slow_launch_s : plan_.slow_launch_s;
  const auto problem = [&](const Size& size) { return make(study, version, size); };
  const Pace pace = {
      [&](const Size& size) { return problem(size)->bytes(); },
      [&](const Size& size) { return problem(size)->work().amount; },
      [&](const Size& size) { return estimate_seconds(version, *problem(size), bench_); },
      version.takes};
  double at_asked = 0;
  const Size size = course::fast_enough(asked, slow, pace, &at_asked);
  if (size == asked) return asked;
  if (!study.axis.empty()) {
    result.skipped = "a launch would take about " + time_text(at_asked);
    return asked;
  }
  result.flags.push_back("smaller_size");
  result.notes.push_back("measured at " + size.text() + ": a launch at " + asked.text() +
                         " takes about " + time_text(at_asked));
  return size;
}

ChapterRun::Job& ChapterRun::job_for(std::vector<std::unique_ptr<Job>>& jobs, const Study& study,
                                     const Version& version, const Size& size) {
  const MakeProblem* maker = version.make ? &version.make : &study.make;
  for (const auto& job : jobs) {
    if (job->make == maker && job->size == size) return *job;
  }
  auto job = std::make_unique<Job>();
  job->size = size;
  job->make = maker;
  job->problem = (*maker)(size, options_.seed, Input::random);
  job->sets = std::make_shared<Sets>(*job->problem, device_.l2_bytes, bench_.stream());
  job->references = std::make_unique<References>(*job->problem, bench_.stream());
  jobs.push_back(std::move(job));
  return *jobs.back();
}

/// Two launches on one workspace, outputs poisoned before and compared after each.
bool ChapterRun::check_before(const Job& job, Row& row, Result& result) {
  for (int k = 0; k < 2; ++k) {
    row.poison();
    const cudaError_t error = row.launch_once();
    result.failure =
        error != cudaSuccess ? failure_text(error) : job.references->mismatch(row.first_set());
    if (error != cudaSuccess && cudaDeviceSynchronize() != cudaSuccess) {
      // a sticky error: this process cannot continue
      throw Error(result.version + " broke the GPU's context: " + result.failure);
    }
    cudaGetLastError();
    if (!result.failure.empty()) return false;
  }
  result.verified = true;
  return true;
}

void ChapterRun::finish(const Study& study, const Job& job, Row& row, Result& result) {
  row.replay();
  result.failure = job.references->mismatch(row.first_set());
  result.verified = result.failure.empty();
  if (!result.verified) {
    result.failure = "wrong after the measurement: " + result.failure;
    return;
  }
  result.seconds = row.seconds();
  result.cold = !row.version().timer;
  result.mode = row.version().timer            ? "own"
                : row.by_graph()               ? "graph"
                : row.behind() == Behind::host ? "host"
                                               : "launch";
  if (!row.version().timer) result.behind = row.behind();
  result.behind_s = row.behind_seconds();
  result.instantiations = row.instantiations();
  result.launches_per_sample = row.launches_per_sample();
  result.clock_mhz = row.clock_mhz();
  result.shape = row.shape();
  if (report_.anchors && study.limit) {
    const Limit limit = study.limit(*report_.anchors, *job.problem);
    if (limit.value > 0) result.limit = limit;
  }
  if (const std::string note = instantiations_note(row); !note.empty())
    result.notes.push_back(note);
  const std::string remark = row.version().remark ? row.version().remark(row.first_set()) : "";
  if (!remark.empty()) result.notes.push_back(remark);
  const Statistics s = row.summary();
  if (s.count < 9) result.flags.push_back("few_samples");
  if (s.q3 - s.q1 > 0.05 * s.median) result.flags.push_back("noisy");
  if (device_.display_timeout) result.flags.push_back("display_timeout");
  if (on_battery().value_or(false)) result.flags.push_back("on_battery");
#ifndef NDEBUG
  result.flags.push_back("debug_build");
#endif
}

/// Remembers the fastest of this process.
double ChapterRun::measure_empty() {
  const double now = bench_.measure_empty();
  fastest_empty_s_ = fastest_empty_s_ > 0 ? std::min(fastest_empty_s_, now) : now;
  return now;
}

/// At some times the driver takes longer from kernel to kernel than at others (replay.hpp), which
/// costs a version with two kernels more than one with a single kernel.
void ChapterRun::flag_slow_edges(std::vector<Result>& results, double empty_s) const {
  constexpr double tolerated = 1.05;
  if (empty_s <= tolerated * fastest_empty_s_) return;
  std::printf("warning: an empty kernel took %.2f us beside these rows, and %.2f at other times\n",
              empty_s * 1e6, fastest_empty_s_ * 1e6);
  for (Result& result : results) {
    if (result.measured()) result.flags.push_back("slow_edges");
  }
}

void ChapterRun::run_size(const Study& study, const Size& asked) {
  std::vector<std::unique_ptr<Job>> jobs;
  std::vector<std::unique_ptr<Row>> rows;
  std::vector<std::pair<Job*, std::size_t>> owners;  // of each row: its job and its result
  std::vector<Result> results;
  const Size fits = fitting(study, asked);
  if (!study.axis.empty() && !(fits == asked)) {
    std::printf("%s does not fit into the memory of this GPU: left out\n", asked.text().c_str());
    return;
  }
  const double empty_before = options_.check_only ? 0 : measure_empty();
  Plan plan = plan_;
  plan.sample_s = study.sample_s;
  // All rows together warm up the GPU.
  plan.warm_up_s = std::max(plan_.warm_up_s / static_cast<double>(study.versions.size()), 0.02);
  for (const Version& version : study.versions) {
    const Size size = size_for(study, version, fits);
    if (version.takes && !version.takes(size)) continue;
    progress_line("checking " + version.id + " at " + size.text() + " ...");
    const auto problem = make(study, version, size);
    Result result = blank_result(study, version);
    set_problem(result, *problem);
    result.skipped = missing(version, *problem, device_);
    if (!(fits == asked))
      result.notes.push_back("measured at " + fits.text() + ": " + asked.text() + " does not fit");
    if (!(size == fits)) {
      result.flags.push_back("largest_size");
      result.notes.push_back("measured at " + size.text() + ", the largest that it can take");
    }
    Size measured = size;
    if (result.skipped.empty() && !version.timer)
      measured = fast_enough(study, version, size, result);
    if (!result.skipped.empty()) {
      results.push_back(result);
      continue;
    }
    Job& job = job_for(jobs, study, version, measured);
    set_problem(result, *job.problem);
    auto row = std::make_unique<Row>(version, *job.problem, job.sets, bench_);
    if (check_before(job, *row, result) && !options_.check_only) {
      row->prepare(plan);
      rows.push_back(std::move(row));
      owners.emplace_back(&job, results.size());
    }
    results.push_back(result);
    if (interrupted) break;
  }
  if (!options_.check_only) {
    measure_in_turn(rows, plan, [&](int done, int total) {
      progress_line("measuring at " + fits.text() + ": " + std::to_string(done) + " of " +
                    std::to_string(total) + " rows finished");
      return interrupted == 0;
    });
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if (interrupted && rows[k]->seconds().size() < 3) continue;
      finish(study, *owners[k].first, *rows[k], results[owners[k].second]);
    }
    flag_slow_edges(results, std::max(empty_before, measure_empty()));
  }
  progress_line("");
  double previous = 0;
  for (Result& result : results) {
    const bool alone = std::count(result.flags.begin(), result.flags.end(), "largest_size") > 0;
    const bool of_ladder = result.role == Role::version && !alone;
    std::fputs(table_row(study, result, of_ladder ? previous : 0).c_str(), stdout);
    if (result.measured() && result.role == Role::version && study.axis.empty())
      previous = alone ? 0 : result.rate();
    report_.results.push_back(std::move(result));
  }
  std::fflush(stdout);
}

void ChapterRun::run_study(const Study& study) {
  if (study.versions.empty()) return;
  const std::vector<Size> sizes = sizes_of(study, options_.sizes);
  const auto problem = study.make(sizes.front(), options_.seed, Input::random);
  std::printf("\n%s%s\n", study.title.c_str(),
              sizes.size() == 1 ? (", " + sizes.front().text()).c_str() : "");
  if (report_.anchors && study.limit) {
    const Limit limit = study.limit(*report_.anchors, *problem);
    if (limit.value > 0)
      std::printf("limit: %.4g %s, %s (%s)\n", limit.value, limit.unit.c_str(), limit.name.c_str(),
                  limit.how.c_str());
  }
  std::fputs(table_header(study, problem->work().unit).c_str(), stdout);
  report_.studies.push_back(study);
  for (const Size& size : sizes) {
    if (sizes.size() > 1 && study.axis.empty()) std::printf("%s\n", size.text().c_str());
    run_size(study, size);
    if (interrupted) break;
  }
}

/// Plain launches for a profiler: no checks, no timing, no anchors.
void ChapterRun::profile(const std::vector<Study>& studies) {
  for (const Study& study : studies) {
    for (const Size& asked : sizes_of(study, options_.sizes)) {
      for (const Version& version : study.versions) {
        const Size size = size_for(study, version, asked);
        const auto problem = make(study, version, size);
        if (version.takes && !version.takes(size)) continue;
        if (!missing(version, *problem, device_).empty()) continue;
        auto sets = std::make_shared<Sets>(*problem, 0, bench_.stream());
        Row row(version, *problem, sets, bench_);
        for (std::int64_t k = 0; k < options_.profile; ++k) COURSE_CHECK(row.launch_once());
        std::printf("launched %s x %lld at %s\n", version.id.c_str(),
                    static_cast<long long>(options_.profile), size.text().c_str());
      }
    }
  }
}

int ChapterRun::run(const std::vector<Study>& studies) {
  heading();
  for (const Study& study : studies) {  // a size that does not fit is reported before anything runs
    for (const Size& size : sizes_of(study, options_.sizes)) fitting(study, size);
  }
  if (options_.profile > 0) {
    profile(studies);
    return 0;
  }
  if (!options_.check_only) measure_the_anchors();
  for (const Study& study : studies) {
    run_study(study);
    if (interrupted) break;
  }
  if (report_.anchors && !interrupted) look_back();
  return finish_run(chapter_, report_);
}

}  // namespace

int run_studies(const Chapter& chapter, const Options& options, const std::vector<Study>& studies) {
  if (options.model) {
    throw Error("--model counts on the CPU backend: chapters/run --backend cpu NN -- --model", 2);
  }
  if (options.strict) {
    throw Error("--strict is for the CPU backend: chapters/run --backend cpu NN -- --strict", 2);
  }
  if (options.hide_recorded) {
    throw Error("--hide-recorded is for the table of the CPU backend: chapters/run --backend cpu",
                2);
  }
  return ChapterRun(chapter, options).run(studies);
}

}  // namespace course
