#pragma once
/// \file
/// The program behind an exercise of a chapter.

#include <string>
#include <vector>

#include "anchors.hpp"
#include "chapter.hpp"
#include "device.hpp"
#include "options.hpp"

namespace course {

struct Exercise {
  std::string chapter;
  int number = 0;
  MakeProblem make;
  Version yours, reference;      ///< the learner's version, and the one it is compared with
  std::vector<Size> test_sizes;  ///< checked, in order
  Size size;                     ///< measured
  double least_ratio =
      0;  ///< yours must reach this many times the reference's rate; 0: only be right
  /// Of a warp's accesses of shared memory, on average. The CPU backend, which has no times, counts
  /// these and judges by them; 0: it does not.
  double most_wavefronts = 0;
};

/// Checks the learner's version on every size, measures both versions in turn, prints the table and
/// one last line: PASSED, or NOT YET with the reason. Returns 0 only for PASSED; 3 on the CPU
/// backend for a version that is right and has to be fast, too, unless wavefronts decide.
int run_exercise(int argc, char** argv, const Exercise& exercise);

/// Its parts. Each backend links its own judge_speed().
int not_yet(const std::string& why);
int judge_speed(const Exercise& exercise, const Options& options, const Device& device);

}  // namespace course
