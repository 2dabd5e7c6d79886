// The program behind an exercise: one file of yours, beside the version that it has to match or to
// beat. Passed means: right on every size below, and, where the exercise asks for it, fast enough:
// by its rate on a GPU, by what is counted on the CPU backend.
#include "chapter/rows.hpp"
#include "exercise/exercise.hpp"
#include "histogram.hpp"

using Words = Histogram<std::uint32_t>;
COURSE_LAUNCHERS(Words, (histogram), exercise, global_atomics);

namespace {

using namespace course;

std::vector<Size> sizes(const std::vector<std::string>& names,
                        const std::vector<std::vector<std::int64_t>>& list) {
  std::vector<Size> all;
  for (const auto& values : list) {
    Size size;
    for (std::size_t k = 0; k < names.size(); ++k) size.dimensions.push_back({names[k], values[k]});
    all.push_back(size);
  }
  return all;
}

/// Counting samples of four bytes, every bin as likely.
void count_words(Exercise& exercise) {
  exercise.make = make_problem<HistogramProblem<std::uint32_t>>();
  Words* const histogram = exercise::histogram;
  exercise.yours = row("yours", "your version", histogram);
}

}  // namespace

int main(int argc, char** argv) {
  Exercise exercise;
  exercise.chapter = "15_histogram";
  // sectors, wavefronts and requests in turn
  exercise.solutions = {{53648, 0, 8}, {17408, 15057, 19}};
  if (exercise.number == 1) {
    count_words(exercise);
    exercise.test_sizes =
        sizes({"n", "bins"},
              {{256, 1}, {1, 1}, {4099, 255}, {0, 7}, {33, 0}, {20483, 1000}, {1 << 16, 256}});
  } else if (exercise.number == 2) {
    count_words(exercise);
    exercise.test_sizes = sizes({"n", "bins"}, {{4099, 255},
                                                {1, 1},
                                                {20483, 4096},
                                                {0, 7},
                                                {33, 0},
                                                {9001, 1000},
                                                {3, 4096},
                                                {1 << 17, 256}});
    exercise.size = {{{"n", 1 << 27}, {"bins", 256}}};
    exercise.compared =
        row("01_global_atomics", "atomics in the L2 cache", global_atomics::histogram);
    exercise.least_ratio = 2;
    // 64 blocks of 256 threads are on the device at one time. Each adds 256 counters by 8 warps:
    // 512 atomics for 2^12 warps of samples, an eighth. Blocks of 128 threads take twice as many.
    exercise.most.atomic_requests = 0.25;
  }
  return run_exercise(argc, argv, exercise);
}
