// The part of a chapter's program that is the same on every backend: command line, selection, and
// how a run ends.
#include "program/run.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "chapter/error.hpp"
#include "chapter/selection.hpp"
#include "chapter/write_file.hpp"
#include "correct/verify.hpp"

namespace course {

volatile std::sig_atomic_t interrupted = 0;

namespace {

void on_interrupt(int) { interrupted = 1; }

std::vector<Study> selected_studies(const Chapter& chapter, const Options& options) {
  std::vector<std::string> names = options.studies;
  if (names.empty() && !options.record) names = {chapter.studies.front().name};
  const bool all = names.empty() || std::find(names.begin(), names.end(), "all") != names.end();
  std::vector<Study> studies;
  for (const Study& study : chapter.studies) {
    if (all || std::find(names.begin(), names.end(), study.name) != names.end())
      studies.push_back(study);
  }
  for (const std::string& name : names) {
    if (name == "all") continue;
    const bool known = std::any_of(chapter.studies.begin(), chapter.studies.end(),
                                   [&](const Study& study) { return study.name == name; });
    if (known) continue;
    std::string line = "--study '" + name + "' is not a study of " + chapter.name + "; there are:";
    for (const Study& study : chapter.studies) line += " " + study.name;
    throw Error(line, 2);
  }
  return studies;
}

void select_versions(std::vector<Study>& studies, const Options& options) {
  if (options.only.empty()) return;
  for (const std::string& asked : options.only) {
    const bool known = std::any_of(studies.begin(), studies.end(), [&](const Study& study) {
      return std::any_of(study.versions.begin(), study.versions.end(),
                         [&](const Version& version) { return selects({asked}, version.id); });
    });
    if (known) continue;
    std::string line = "--only '" + asked + "' names no version; there are:";
    for (const Study& study : studies) {
      for (const Version& version : study.versions) line += " " + version.id;
    }
    throw Error(line, 2);
  }
  for (Study& study : studies) {
    study.versions.erase(
        std::remove_if(study.versions.begin(), study.versions.end(),
                       [&](const Version& v) { return !selects(options.only, v.id); }),
        study.versions.end());
  }
}

void print_list(const Chapter& chapter) {
  std::printf("%s: %s\n", chapter.name.c_str(), chapter.title.c_str());
  for (const Study& study : chapter.studies) {
    std::printf("\n%s: %s\n", study.name.c_str(), study.title.c_str());
    for (const Version& version : study.versions) {
      std::printf("  %-28s %s%s\n", version.id.c_str(), version.title.c_str(),
                  version.launch ? "" : " (not built)");
    }
  }
}

}  // namespace

void progress_line(const std::string& text) {
  if (!isatty(STDERR_FILENO)) return;
  std::fprintf(stderr, "\r%-78s\r%s", "", text.c_str());
  std::fflush(stderr);
}

void set_problem(Result& result, const Problem& problem) {
  result.input = problem.input();
  result.size = problem.size();
  result.bytes = problem.bytes();
  result.flops = problem.flops();
  result.work = problem.work();
}

Result blank_result(const Study& study, const Version& version) {
  Result result;
  result.study = study.name;
  result.version = version.id;
  result.title = version.title;
  result.file = version.source();
  result.role = version.role;
  result.type = study.type;
  return result;
}

int finish_run(const Chapter& chapter, Report& report) {
  report.interrupted = interrupted != 0;
  std::string others;
  for (const Study& study : chapter.studies) {
    const bool ran = std::any_of(report.studies.begin(), report.studies.end(),
                                 [&](const Study& s) { return s.name == study.name; });
    if (!ran) others += " " + study.name;
  }
  if (!others.empty() && !report.interrupted) {
    std::printf("\nside studies (--study NAME):%s\n", others.c_str());
  }
  const std::string& file = report.options.json;
  if (!file.empty()) write_report(file, report);
  if (report.interrupted) {
    std::fprintf(stderr, "interrupted: what was finished stands above%s\n",
                 file.empty() ? "" : " and is saved");
    return 130;
  }
  const auto failed =
      std::count_if(report.results.begin(), report.results.end(),
                    [](const Result& r) { return r.skipped.empty() && !r.verified; });
  if (failed > 0) std::fprintf(stderr, "%lld row(s) FAILED\n", static_cast<long long>(failed));
  return failed > 0 ? 1 : 0;
}

int run(int argc, char** argv, const Chapter& chapter) {
  return run_reporting_errors(chapter.name, [&] {
    const Options options = parse_options(argc, argv);
    if (options.help) {
      std::fputs(usage(chapter.name).c_str(), stdout);
      return 0;
    }
    if (options.list) {
      print_list(chapter);
      return 0;
    }
    std::vector<Study> studies = selected_studies(chapter, options);
    select_versions(studies, options);
    for (const Study& study : studies)
      sizes_of(study, options.sizes);  // reports a bad size at once
    std::signal(SIGINT, on_interrupt);
    if (!options.json.empty()) check_writable(options.json);
    return run_studies(chapter, options, studies);
  });
}

}  // namespace course
