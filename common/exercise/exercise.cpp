#include "exercise/exercise.hpp"

#include <cstdio>

#include "correct/verify.hpp"
#include "device/cuda_check.hpp"
#include "device/device.hpp"

namespace course {

int not_yet(const std::string& why) {
  std::printf("NOT YET: %s\n", why.c_str());
  return 1;
}

int passed() {
  std::printf("PASSED\n");
  return 0;
}

namespace {

/// What stands in front of a failure: "wrong at n=257: ".
std::string where(const std::string& why, const Size& size) {
  if (why == "not written yet") return "";
  return (why.rfind("right, but", 0) == 0 ? "" : "wrong at ") + size.text() + ": ";
}

int check_and_judge(const Exercise& exercise, const Options& options) {
  const Device device = open_device(options.device);
  std::printf("%s, exercise %d, on %s\n", exercise.chapter.c_str(), exercise.number,
              device.name.c_str());
  if (exercise.judge) {
    std::string why = exercise.judge();
    const std::vector<Finding> findings = take_findings();
    if (why.empty() && !findings.empty()) {
      why = "right, but not by the rules: " + findings.front().text;
    }
    return why.empty() ? passed() : not_yet(why);
  }
  if (!exercise.yours.launch) {
    return not_yet("the starter's function is missing from namespace exercise");
  }
  if (exercise.least_ratio > 0 && !exercise.compared.launch) {
    throw Error(exercise.compared.id + ", which it is compared with, is not in this program");
  }
  for (const Size& size : exercise.test_sizes) {
    for (const Input input : {Input::integers, Input::random}) {
      const auto problem = exercise.make(size, options.seed, input);
      const Outcome outcome = verify(exercise.yours, *problem, device);
      if (outcome.state != Outcome::passed) {
        return not_yet(where(outcome.why, size) + outcome.why);
      }
    }
  }
  std::printf("right at all %zu sizes\n", exercise.test_sizes.size());
  if (options.check_only) {
    return exercise.asks_for_speed() ? not_yet("right; --check leaves out how fast it is") : 0;
  }
  return judge_speed(exercise, options, device);
}

}  // namespace

int run_exercise(int argc, char** argv, const Exercise& exercise) {
  return run_reporting_errors(exercise.chapter,
                              [&] { return check_and_judge(exercise, parse_options(argc, argv)); });
}

}  // namespace course
