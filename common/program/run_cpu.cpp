// The program of a chapter on the CPU backend: checks every version and shows what it counted. It
// shows no times, because times of this backend would say nothing about a GPU.
#include <algorithm>
#include <cstdio>

#include "correct/verify.hpp"
#include "device/cuda_check.hpp"
#include "program/model_table.hpp"
#include "program/run.hpp"
#include "simt/findings.hpp"

namespace course {
namespace {

/// \throws Error if a problem does not fit into the memory of this machine.
void check_fits(const Study& study, const Size& size) {
  const auto problem = study.make(size, 1, Input::random);
  double needed = 0;  // a second copy of the inputs is compared, the reference is in double
  const auto bytes = [](const Array& array) {  // as double: any --size would overflow an integer
    return static_cast<double>(array.count) * static_cast<double>(bytes_of(array.type));
  };
  for (const Array& array : problem->inputs()) needed += 2 * bytes(array);
  for (const Array& array : problem->outputs()) needed += 3 * bytes(array);
  if (needed > static_cast<double>(free_device_bytes())) {
    throw Error("--size " + size.text() + " does not fit into the memory of this machine", 2);
  }
}

/// The version, with its first launch counted.
Version counted(const Version& version, std::optional<Model>& model) {
  Version copy = version;
  copy.launch = [launch = version.launch, &model](const Problem& p, const Arguments& a) {
    if (model) return launch(p, a);
    cudaError_t error = cudaSuccess;
    model = counts_during([&] { error = launch(p, a); });
    return error;
  };
  return copy;
}

class CpuRun {
 public:
  CpuRun(const Chapter& chapter, const Options& options)
      : chapter_(chapter), device_(open_device(options.device)) {
    report_.chapter = chapter.name;
    report_.options = options;
    report_.device = device_;
    simt::expect_findings(true);  // they are shown with their row
  }

  int run(const std::vector<Study>& studies);

 private:
  void run_study(const Study& study);
  Result run_version(const Study& study, const Version& version, const Size& size);
  void profile(const std::vector<Study>& studies);
  void explain() const;

  const Chapter& chapter_;
  Device device_;
  Report report_;
  bool broken_ = false;  // a sticky CUDA error: this process cannot continue
};

Result CpuRun::run_version(const Study& study, const Version& version, const Size& size) {
  const auto problem =
      (version.make ? version.make : study.make)(size, report_.options.seed, Input::random);
  Result result = blank_result(study, version);
  set_problem(result, *problem);
  const bool axis = !study.axis.empty();
  simt::label_trace(version.id + (axis ? " " + std::to_string(size[study.axis]) : ""));
  const bool count = version.launch && !report_.options.check_only && simt::instrumented();
  const Outcome outcome = verify(count ? counted(version, result.model) : version, *problem,
                                 device_, report_.options.strict);
  if (outcome.state == Outcome::skipped) result.skipped = outcome.why;
  result.failure = outcome.state == Outcome::failed ? outcome.why : "";
  result.findings = outcome.findings;
  if (!outcome.remark.empty()) result.notes.push_back(outcome.remark);
  result.verified = result.skipped.empty() && result.failure.empty();
  broken_ = cudaDeviceSynchronize() != cudaSuccess;
  cudaGetLastError();
  return result;
}

void CpuRun::run_study(const Study& study) {
  const std::vector<Size> sizes = sizes_of(study, report_.options.sizes);
  if (study.versions.empty() || sizes.empty()) return;
  const auto problem = study.make(sizes.front(), report_.options.seed, Input::random);
  std::printf("\n%s%s\n", study.title.c_str(),
              sizes.size() == 1 ? (", " + sizes.front().text()).c_str() : "");
  std::fputs(model_header(study, problem->work().unit).c_str(), stdout);
  report_.studies.push_back(study);
  for (const Size& asked : sizes) {
    if (sizes.size() > 1 && study.axis.empty()) std::printf("%s\n", asked.text().c_str());
    for (const Version& version : study.versions) {
      const Size size = size_for(study, version, asked);
      if (version.takes && !version.takes(size)) continue;
      progress_line("running " + version.id + " at " + size.text() + " ...");
      report_.results.push_back(run_version(study, version, size));
      const Result& result = report_.results.back();
      progress_line("");
      std::fputs(model_row(study, result, report_.options.hide_recorded).c_str(), stdout);
      if (report_.options.model && result.model) std::puts(result.model->report.c_str());
      std::fflush(stdout);
      if (broken_) std::printf("    the error sticks, as on a GPU: what follows cannot run\n");
      if (broken_ || interrupted) return;
    }
  }
}

/// What the tables' columns mean.
void CpuRun::explain() const {
  std::vector<Model> reported;
  for (const Result& result : report_.results) {
    if (result.model) reported.push_back(*result.model);
  }
  const bool by_line = report_.options.model && !reported.empty();
  std::printf("\n%s", model_footer(simt::instrumented(), report_.options.hide_recorded).c_str());
  if (by_line) std::printf("line by line:\n%s", report_legend(reported).c_str());
}

/// Plain launches for a profiler or a debugger: no checks.
void CpuRun::profile(const std::vector<Study>& studies) {
  for (const Study& study : studies) {
    for (const Size& asked : sizes_of(study, report_.options.sizes)) {
      for (const Version& version : study.versions) {
        const Size size = size_for(study, version, asked);
        if (version.takes && !version.takes(size)) continue;
        const auto problem =
            (version.make ? version.make : study.make)(size, report_.options.seed, Input::random);
        if (!missing(version, *problem, device_).empty()) continue;
        const DeviceArrays arrays(version, *problem, nullptr);
        for (std::int64_t k = 0; k < report_.options.profile; ++k) {
          COURSE_CHECK(version.launch(*problem, arrays.arguments()));
          COURSE_CHECK(cudaDeviceSynchronize());
        }
        std::printf("launched %s x %lld at %s\n", version.id.c_str(),
                    static_cast<long long>(report_.options.profile), size.text().c_str());
      }
    }
  }
}

int CpuRun::run(const std::vector<Study>& studies) {
  std::printf("%s: %s\n", chapter_.name.c_str(), chapter_.title.c_str());
  std::printf("CPU backend: every CUDA thread runs on the CPU; no times here\n");
  if (!simt::instrumented()) {
    std::printf("built with COURSE_CPU_CHECKS=OFF: results are compared, nothing is counted\n");
  }
  for (const Study& study : studies) {
    for (const Size& size : sizes_of(study, report_.options.sizes)) check_fits(study, size);
  }
  if (report_.options.profile > 0) {
    profile(studies);
    return 0;
  }
  for (const Study& study : studies) {
    run_study(study);
    if (broken_ || interrupted) break;
  }
  if (!report_.options.check_only) explain();
  return finish_run(chapter_, report_);
}

}  // namespace

int run_studies(const Chapter& chapter, const Options& options, const std::vector<Study>& studies) {
  if (options.record) throw Error("--record measures: it needs a GPU", 2);
  return CpuRun(chapter, options).run(studies);
}

}  // namespace course
