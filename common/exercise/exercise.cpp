#include "exercise/exercise.hpp"

#include <cstdio>

#include "chapter/write_file.hpp"
#include "correct/verify.hpp"
#include "device/cuda_check.hpp"
#include "device/device.hpp"
#include "exercise/teacher.hpp"
#include "program/run.hpp"

namespace course {

int not_yet(Report& report, const std::string& why) {
  std::printf("NOT YET: %s\n", why.c_str());
  report.judged->reason = why;
  return 1;
}

int passed(Report& report) {
  std::printf("PASSED\n");
  report.judged->verdict = "passed";
  return 0;
}

Result row_of(const Exercise& exercise, const Version& version, const Problem& problem) {
  Study study;
  study.name = "exercise_" + std::to_string(exercise.number);
  Result result = blank_result(study, version);
  if (version.id == exercise.yours.id) result.role = Role::exercise;
  set_problem(result, problem);
  return result;
}

namespace {

Report blank_report(const Exercise& exercise, const Options& options, const Device& device) {
  Report report;
  report.chapter = exercise.chapter;
  report.options = options;
  report.device = device;
  Study study;
  study.name = "exercise_" + std::to_string(exercise.number);
  study.title = exercise.chapter + ", exercise " + std::to_string(exercise.number);
  report.studies.push_back(study);
  Judged judged;
  judged.number = exercise.number;
  judged.compared = exercise.compared.id;
  judged.asked_ratio = exercise.least_ratio;
  report.judged = judged;
  return report;
}

const char* const unwritten = "not written yet";  // as verify() says it

/// What precedes the text of a failure: "wrong at n=257: ".
std::string where(const std::string& why, const Size& size) {
  if (why == unwritten) return "";
  return (why.rfind("right, but", 0) == 0 ? "" : "wrong at ") + size.text() + ": ";
}

int wrong(const Exercise& exercise, const Problem& problem, const Outcome& outcome,
          Report& report) {
  Result result = row_of(exercise, exercise.yours, problem);
  result.failure = outcome.why;
  result.findings = outcome.findings;
  report.results.push_back(result);
  const char* const then =
      outcome.why == unwritten ? " (written? delete the line that returns this error)" : "";
  return not_yet(report, where(outcome.why, problem.size()) + outcome.why + then);
}

/// An exercise that judges itself.
int judge_itself(const Exercise& exercise, Report& report) {
  std::string why = exercise.judge();
  const std::vector<Finding> findings = take_findings();
  if (why.empty() && !findings.empty()) {
    why = "right, but not by the rules: " + findings.front().text;
  }
  return why.empty() ? passed(report) : not_yet(report, why);
}

int check_and_judge(const Exercise& exercise, const Options& options, const Device& device,
                    Report& report) {
  if (exercise.judge) return judge_itself(exercise, report);
  if (!exercise.yours.launch) {
    return not_yet(report, "the starter's function is missing from namespace exercise");
  }
  if (exercise.least_ratio > 0 && !exercise.compared.launch) {
    throw Error(exercise.compared.id + ", which it is compared with, is not in this program");
  }
  for (const Size& size : exercise.test_sizes) {
    for (const Input input : {Input::integers, Input::random}) {
      const auto problem = exercise.make(size, options.seed, input);
      vary_schedule(input);
      const Outcome outcome = verify(exercise.yours, *problem, device);
      if (outcome.state != Outcome::passed) return wrong(exercise, *problem, outcome, report);
      if (once_is_enough(*problem)) break;
    }
  }
  std::printf("right at all %zu sizes\n", exercise.test_sizes.size());
  if (options.check_only) {
    return exercise.asks_for_speed() ? not_yet(report, "right; --check leaves out how fast it is")
                                     : 0;
  }
  return judge_speed(exercise, options, device, report);
}

int run_and_report(const Exercise& exercise, const Options& options, const Teacher& teacher) {
  if (!options.json.empty()) check_writable(options.json);
  const Device device = open_device(options.device);
  std::printf("%s, exercise %d, on %s\n", exercise.chapter.c_str(), exercise.number,
              device.name.c_str());
  Report report = blank_report(exercise, options, device);
  const int code = check_and_judge(exercise, options, device, report);
  if (code == 3) report.judged->verdict = "right";
  if (!options.json.empty()) write_report(options.json, report);
  teacher.tell(json_document(report));
  return code;
}

}  // namespace

int run_exercise(int argc, char** argv, const Exercise& exercise) {
  const Teacher teacher;
  return run_reporting_errors(exercise.chapter, [&] {
    return run_and_report(exercise, parse_options(argc, argv), teacher);
  });
}

}  // namespace course
