// The program behind an exercise: one file of yours, beside the version that it has to match or to
// beat. Passed means: right on every size below, and, where the exercise asks for it, fast enough:
// by its rate on a GPU, by what is counted on the CPU backend.
#include "chapter/rows.hpp"
#include "exercise/exercise.hpp"
#include "vector_add.hpp"

COURSE_LAUNCHERS(Add, (add), exercise, one_thread_per_element);

int main(int argc, char** argv) {
  course::Exercise exercise;
  exercise.chapter = "01_vector_add";
  // sectors, wavefronts and requests in turn
  exercise.solutions = {{26253, 0, 13}, {26253, 0, 13}, {26253, 0, 13},
                        {26253, 0, 13}, {26253, 0, 15}, {26253, 0, 13}};
  exercise.make = course::make_problem<VectorAdd>();
  exercise.yours = course::row("yours", "your version", exercise::add);
  exercise.compared = course::row("02_one_thread_per_element", "one thread per element",
                                  one_thread_per_element::add);
  std::vector<std::int64_t> sizes = {0, 1, 31, 32, 33, 255, 256, 257, 600011, 1 << 20};
#ifdef SIMT  // each access is checked; exercise 4 needs several turns of a grid that fills the
             // device
  sizes[8] = 70001;
  if (exercise.number != 4) sizes[9] = 1 << 18;
  if (exercise.number == 5) ++sizes[9];  // all but the last by vectors here, too
#endif
  exercise.test_sizes = course::sizes_of_n(sizes);
  exercise.size = {{{"n", std::int64_t{1} << 28}}};
  // The 32 floats of a warp are 128 bytes; side by side they fill 4 sectors.
  exercise.most.load_sectors = exercise.most.store_sectors = 4;
  if (exercise.number == 1 || exercise.number == 4) exercise.least_ratio = 0.9;
  if (exercise.number == 5) {
    exercise.most.load_requests = 0.5;  // one of a and one of b, for the 128 floats of a warp
    exercise.least_ratio = 0.95;
  }
  if (exercise.number == 6) {
    exercise.least_ratio = 1.15;
    exercise.unseen = "loads in flight";
  }
  return course::run_exercise(argc, argv, exercise);
}
