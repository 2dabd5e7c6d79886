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
      {}, {}, {170099, 30069, 208}, {170438, 171638, 876}, {}, {213037, 342649, 780}};
  if (exercise.number == 3) {
    exercise.make = make_problem<PairsProblem<unsigned, unsigned>>();
    exercise.yours = row("yours", "your version", exercise::sort_by_digit, {"n", "first"});
    exercise.test_sizes = sizes_of_passes();
    // Three around the ranks and up to four in the scan. Warps that rank one after the other take
    // one each.
    exercise.most.barriers_per_block = 8;
  }
  if (exercise.number == 4 || exercise.number == 6) {
    exercise.make = make_problem<SortProblem<unsigned>>();
    exercise.yours = row("yours", "your version", exercise::sort, {"n"});
    exercise.test_sizes = sizes_of_sorts(exercise.number == 4 ? 1 << 16 : 1 << 17);
  }
  if (exercise.number == 4) {
    exercise.compared = row("03_bytes", "8 bits, ranks by match", radix_bytes::sort, {"n"});
    exercise.size = {{{"n", 1 << 28}}};
    exercise.least_ratio = 1.2;
    // A row of 32 keys in a tile of 4096 has two or three runs: 6.6 sectors. The counters of a tile
    // are stored far apart, by 8 requests of 32 sectors for 128 rows. That makes 8.5; tiles of half
    // the size take 12, and tiles of a warp, 512 keys, 17.
    exercise.most.store_sectors = 12;
    exercise.room.in_turn = 2;  // one warp that stores all keys of its tile
  }
  if (exercise.number == 6) {
    exercise.compared = row("04_runs", "stores in runs", radix_runs::sort, {"n"});
    exercise.size = {{{"n", 1 << 28}}};
    exercise.least_ratio = 1.1;
    // Four bytes for the histograms, and per pass 4 to read and 6.6 to store a key, and 1 for the
    // words: 51. Marks in words of their own take 7 more. Keys that are read once more in three
    // passes or in four take 12 or 16 more.
    exercise.most.bytes_per_element = 60;
    exercise.room.in_turn = 4.5;  // one block may count 64 tiles
  }
  return run_exercise(argc, argv, exercise);
}
