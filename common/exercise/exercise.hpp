#pragma once
/// \file
/// The program behind an exercise of a chapter.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "chapter/chapter.hpp"
#include "count/most_counted.hpp"
#include "device/device.hpp"
#include "measure/anchors.hpp"
#include "program/report.hpp"

namespace course {

/// Which exercise this program is for: 3 for 3_name.cu. Each program's build defines it.
extern const int exercise_number;

struct Exercise {
  std::string chapter;
  int number = exercise_number;
  /// For an exercise that is no launcher on a problem: what is wrong with it, or nothing. If set,
  /// it alone judges, together with the findings of the CPU backend's checkers.
  std::function<std::string()> judge;
  MakeProblem make;
  /// The learner's version, and the version it is compared with; without one, results decide.
  Version yours, compared;
  std::vector<Size> test_sizes;  ///< checked, in order
  Size size;                     ///< measured
  /// Or the size that is measured on a GPU, where it depends on the number of SMs.
  std::function<Size(const Device&)> size_on;
  /// On a GPU: yours must reach this many times the other's rate. 0: no rate is asked.
  double least_ratio = 0;
  /// On the CPU backend: what may be counted at the last of the test sizes.
  MostCounted most;
  /// What the rate depends on and no count shows: "loads in flight". The CPU backend then still
  /// refuses by `most`, but only a GPU can pass an answer. Empty: the counts decide.
  std::string unseen;
  /// The reverse: what no time shows: "bytes of bulk copies". Then only the counts of the CPU
  /// backend can pass an answer. Empty: the rate decides, where one is asked.
  std::string untimed;
  /// The totals of the solutions of exercises 1, 2, ... at the largest test size of up to 1 MiB, as
  /// the CPU backend reports them. `room`: how many times as much an answer may take.
  std::vector<Totals> solutions;
  std::optional<Size> counted;  ///< the size of those totals, if it is another
  Room room;
  /// The least number of launches at that size that kernels must make.
  std::uint64_t least_by_kernels = 0;
  bool tensor_cores = false;  ///< tensor cores must multiply: mma, wmma, wgmma
  /// How most of the input must reach shared memory: in any way, by asynchronous copies, by bulk
  /// copies.
  enum class Brings { anything, copies, bulk_copies } brings = Brings::anything;

  bool asks_for_speed() const { return least_ratio > 0 || most.any(); }
};

/// Checks the learner's version on every size, then its speed: a GPU measures both versions
/// alternately and prints the table, the CPU backend counts. One last line: PASSED, or NOT YET with
/// the reason. Returns 0 only for PASSED; 3 for a version that is right and that only the other
/// backend can pass.
int run_exercise(int argc, char** argv, const Exercise& exercise);

/// Its parts. `report` takes the verdict and the rows for the result file. Each backend links its
/// own judge_speed(), vary_schedule() and once_is_enough().
int passed(Report& report);
int not_yet(Report& report, const std::string& why);
int judge_speed(const Exercise& exercise, const Options& options, const Device& device,
                Report& report);
void vary_schedule(Input input);  ///< for the launches of the following checks
/// After a check with one kind of values: is this problem so large that a second one, with the same
/// schedule, would take too long?
bool once_is_enough(const Problem& problem);
/// The row of a version on a problem, before it ran.
Result row_of(const Exercise& exercise, const Version& version, const Problem& problem);

}  // namespace course
