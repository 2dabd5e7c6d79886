// The program behind an exercise: one file of yours, beside the version that it has to match.
#include "chapter/rows.hpp"
#include "exercise/exercise.hpp"
#include "histogram.hpp"

COURSE_LAUNCHERS(Apply, (apply), exercise, first);

int main(int argc, char** argv) {
  course::Exercise exercise;
  exercise.chapter = "15_histogram";
  exercise.make = course::make_problem<Scale>();
  exercise.yours = course::row("yours", "your version", exercise::apply);
  exercise.compared = course::row("01_first", "one thread per element", first::apply);
  exercise.test_sizes = course::sizes_of_n({0, 1, 255, 256, 257, 1000003});
  exercise.size = {{{"n", std::int64_t{1} << 28}}};
  return course::run_exercise(argc, argv, exercise);
}
