// The program behind an exercise: one file of yours. Passed means: right on every size below, and
// by what is counted on the CPU backend no worse than the exercise asks for.
#include <cstdlib>

#include "chapter/rows.hpp"
#include "exercise/exercise.hpp"
#include "problems125.hpp"

using SortGroups = cudaError_t(const unsigned* in, unsigned* out, std::int64_t n,
                               cudaStream_t stream);
COURSE_LAUNCHERS(SortGroups, (sort_groups), exercise);
COURSE_LAUNCHERS(Sort<unsigned>, (sort), exercise);
using CountDigits = cudaError_t(const unsigned* keys, unsigned* counts, std::int64_t n,
                                cudaStream_t stream);
COURSE_LAUNCHERS(CountDigits, (count_all_digits), exercise);

namespace {

using namespace course;

void sort_in_warps(Exercise& exercise) {
  exercise.make = make_problem<GroupsProblem>();
  exercise.yours = row("yours", "your version", exercise::sort_groups);
  exercise.test_sizes = sizes_of_n({32, 1, 33, 31, 0, 1000, 257, 1 << 14});
  exercise.most.load_sectors = exercise.most.store_sectors = 4;
  // A thread that sorts a group loads, exchanges and stores its 32 keys one after the other, three
  // times as many requests as the two per bit.
  exercise.room.in_turn = 2;
}

void find_two_mistakes(Exercise& exercise) {
#ifdef SIMT
  // Each launch has another order. In the order of the lanes, ranks by atomics would be right.
  setenv("SIMT_ORDER", "random:17", 1);
#endif
  exercise.make = make_problem<SortProblem<unsigned>>();
  exercise.yours = row("yours", "your version", exercise::sort);
  exercise.test_sizes = sizes_of_n({100, 1, 0, 33, 256, 257, 4099, 1 << 13});
  exercise.most.barriers_per_block = 48;  // a scan of 256 flags per bit: 8 steps of them, and more
  exercise.room.wavefronts = 4;           // a split by each of the four bits
  exercise.room.sectors = 2;              // tiles of 32 keys have as many counts as keys
}

void count_with_one_read(Exercise& exercise) {
  exercise.make = make_problem<DigitsProblem>();
  exercise.yours = row("yours", "your version", exercise::count_all_digits);
  exercise.test_sizes = sizes_of_n({4099, 1, 0, 33, 70001, 255 << 10});
  // Its time on a GPU depends on the keys: nothing has been measured from which to ask a rate.
  exercise.untimed = "atomics in global memory";
  // A block adds 1024 counters by 32 requests for 8192 keys, 256 warps of them: an eighth. For 2048
  // keys it is a half.
  exercise.most.atomic_requests = 0.75;
}

}  // namespace

int main(int argc, char** argv) {
  Exercise exercise;
  exercise.chapter = "17_radix_sort";
  // sectors, wavefronts and requests in turn
  exercise.solutions = {{4096, 32768, 66}, {86802, 23516, 264}, {}, {}, {36736, 117383, 86}};
  if (exercise.number == 1) {
    sort_in_warps(exercise);
  } else if (exercise.number == 2) {
    find_two_mistakes(exercise);
  } else if (exercise.number == 5) {
    count_with_one_read(exercise);
  }
  return run_exercise(argc, argv, exercise);
}
