// The program behind an exercise: one file of yours, next to the version that it has to match or to
// beat. Passed means: right on every size below, and, where the exercise asks for it, fast enough:
// by its rate on a GPU, by what is counted on the CPU backend.
#include "chapter/rows.hpp"
#include "exercise/exercise.hpp"
#include "exercises/problems346.hpp"

COURSE_LAUNCHERS(PassOfPairs, (sort_by_digit), exercise);
COURSE_LAUNCHERS(Sort<unsigned>, (sort), exercise, radix_bytes, radix_runs);

namespace {

using namespace course;

}  // namespace

int main(int argc, char** argv) {
  Exercise exercise;
  exercise.chapter = "17_radix_sort";
  // sectors, wavefronts and requests in turn
  exercise.solutions = {
      {}, {}, {170099, 30069, 208}, {340952, 343024, 876}, {}, {209000, 340665, 800}};
  if (exercise.number == 3) {
    exercise.make = make_problem<PairsProblem<unsigned, unsigned>>();
    exercise.yours = row("yours", "your version", exercise::sort_by_digit, {"n", "first"});
    exercise.test_sizes = sizes_of_passes();
  }
  if (exercise.number == 4 || exercise.number == 6) {
    exercise.make = make_problem<SortProblem<unsigned>>();
    exercise.yours = row("yours", "your version", exercise::sort, {"n"});
    exercise.test_sizes = sizes_of_sorts();
  }
  if (exercise.number == 4) {
    exercise.compared = row("03_bytes", "8 bits, ranks by match", radix_bytes::sort, {"n"});
    exercise.size = {{{"n", 1 << 28}}};
  }
  if (exercise.number == 6) {
    exercise.compared = row("04_runs", "stores in runs", radix_runs::sort, {"n"});
    exercise.size = {{{"n", 1 << 28}}};
  }
  return run_exercise(argc, argv, exercise);
}
