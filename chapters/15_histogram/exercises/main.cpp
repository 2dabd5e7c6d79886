// The program behind an exercise: one file of yours, beside the version that it has to match or to
// beat. Passed means: right on every size below, and, where the exercise asks for it, fast enough:
// by its rate on a GPU, by what is counted on the CPU backend.
#include "chapter/rows.hpp"
#include "exercise/exercise.hpp"
#include "histogram.hpp"

using Words = Histogram<std::uint32_t>;
using Bytes = Histogram<std::uint8_t>;
COURSE_LAUNCHERS(Words, (histogram), exercise, global_atomics);
COURSE_LAUNCHERS(HistogramBy, (histogram_by), exercise);
COURSE_LAUNCHERS(Bytes, (histogram), exercise, bytes);

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

/// Samples of one byte, of `greys` values: 256 at random, few of them very frequent, or one.
std::unique_ptr<Problem> make_bytes(const Size& size, std::uint64_t seed, Input input) {
  const std::int64_t greys = size["greys"];
  const Spread spread = greys == 1   ? Spread::constant
                        : greys == 2 ? Spread::two
                        : greys == 3 ? Spread::zipf
                                     : Spread::uniform;
  return std::make_unique<HistogramProblem<std::uint8_t>>(size, seed, input, spread);
}

}  // namespace

int main(int argc, char** argv) {
  Exercise exercise;
  exercise.chapter = "15_histogram";
  // sectors, wavefronts and requests in turn
  exercise.solutions = {{53648, 0, 8}, {17408, 15057, 19}, {17408, 15057, 19}, {16896, 24576, 81}};
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
  } else if (exercise.number == 3) {
    exercise.make = make_problem<HistogramProblem<std::uint32_t>>();
    exercise.yours = row("yours", "your version", exercise::histogram_by);
    exercise.test_sizes = sizes({"n", "bins", "size"}, {{1 << 14, 256, 256},
                                                        {5003, 256, 96},
                                                        {4099, 100, 160},
                                                        {1, 1, 1},
                                                        {20483, 4096, 1000},
                                                        {0, 7, 96},
                                                        {33, 0, 31},
                                                        {3, 4096, 33},
                                                        {1 << 17, 256, 512}});
    exercise.most.atomic_requests = 0.25;  // 32 blocks add 256 counters by 8 warps: a sixteenth
  } else if (exercise.number == 4) {
    exercise.make = make_bytes;
    Bytes* const histogram = exercise::histogram;
    exercise.yours = row("yours", "your version", histogram, {"n", "bins"});
    exercise.test_sizes = sizes({"n", "bins", "greys"}, {{4099, 256, 256},
                                                         {1, 1, 1},
                                                         {70001, 256, 1},
                                                         {15, 2, 2},
                                                         {0, 256, 3},
                                                         {33, 0, 256},
                                                         {20483, 255, 256},
                                                         {1 << 19, 256, 256}});
    exercise.size = {{{"n", 1 << 29}, {"bins", 256}, {"greys", 256}}};
    Bytes* const alone = bytes::histogram;
    exercise.compared = row("04_bytes", "16 samples per load", alone, {"n", "bins"});
    exercise.least_ratio = 1.3;
    exercise.most.atomic_wavefronts = 1;
    exercise.most.read_wavefronts = exercise.most.write_wavefronts = 2;
    exercise.room.wavefronts = 2.5;  // counters that are a thread's own are read and written
  }
  return run_exercise(argc, argv, exercise);
}
