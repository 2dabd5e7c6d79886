// The program behind an exercise: one file of yours, next to the version that it has to match or to
// beat. Passed means: right on every size below, and, where the exercise asks for it, fast enough:
// by its rate on a GPU, by what is counted on the CPU backend.
#include <cstdlib>

#include "chapter/rows.hpp"
#include "exercise/exercise.hpp"
#include "exercises/problems.hpp"

using SortGroups = cudaError_t(const unsigned* in, unsigned* out, std::int64_t n,
                               cudaStream_t stream);
COURSE_LAUNCHERS(SortGroups, (sort_groups), exercise);
COURSE_LAUNCHERS(PassOfPairs, (sort_by_digit), exercise);
COURSE_LAUNCHERS(Sort<unsigned>, (sort), exercise, radix_bytes, radix_runs);
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

void keep_the_order(Exercise& exercise) {
  exercise.make = make_problem<PairsProblem<unsigned, unsigned>>();
  exercise.yours = row("yours", "your version", exercise::sort_by_digit, {"n", "first"});
  exercise.test_sizes = sizes_of_passes();
  // Three around the ranks and up to four in the scan. Warps that rank one after the other take
  // one each.
  exercise.most.barriers_per_block = 8;
}

/// Your sort of n keys, at least so many times as fast as another.
void sort_faster(Exercise& exercise, std::int64_t last_size, Version than, double ratio) {
  exercise.make = make_problem<SortProblem<unsigned>>();
  exercise.yours = row("yours", "your version", exercise::sort, {"n"});
  exercise.test_sizes = sizes_of_sorts(last_size);
  exercise.compared = std::move(than);
  exercise.size = {{{"n", 1 << 28}}};
  exercise.least_ratio = ratio;
}

void store_runs(Exercise& exercise) {
  sort_faster(exercise, 1 << 16,
              row("03_bytes", "8 bits, ranks by match", radix_bytes::sort, {"n"}), 1.2);
  // A row of 32 keys in a tile of 4096 has two or three runs: 6.6 sectors. The counters of a tile
  // are stored far apart, by 8 requests of 32 sectors for 128 rows. That makes 8.5; tiles of half
  // the size take 12, and tiles of a warp, 512 keys, 17.
  exercise.most.store_sectors = 12;
  exercise.room.in_turn = 2;  // one warp that stores all keys of its tile
}

void sweep_once(Exercise& exercise) {
  sort_faster(exercise, 1 << 17, row("04_runs", "stores in runs", radix_runs::sort, {"n"}), 1.03);
  // Four bytes for the histograms, and per pass 4 to read and 6.6 to store a key, and 1 for the
  // words: 51. Marks in words of their own take 7 more. Keys that are read once more in three
  // passes or in four take 12 or 16 more.
  exercise.most.bytes_per_element = 60;
  exercise.room.in_turn = 4.5;  // one block may count 64 tiles
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
  exercise.solutions = {{4096, 32768, 66},     {86802, 23516, 264}, {170099, 30069, 208},
                        {170438, 171638, 876}, {36736, 117383, 86}, {213037, 342649, 780}};
  void (*const declare[])(Exercise&) = {sort_in_warps, find_two_mistakes,   keep_the_order,
                                        store_runs,    count_with_one_read, sweep_once};
  declare[exercise.number - 1](exercise);
  return run_exercise(argc, argv, exercise);
}
