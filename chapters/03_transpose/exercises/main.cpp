// The program behind an exercise: one file of yours, beside the version that it has to match or to
// beat. Passed means: right on every size below, and, where the exercise asks for it, fast enough:
// by its rate on a GPU, by what is counted on the CPU backend.
#include "chapter/rows.hpp"
#include "exercise/exercise.hpp"
#include "transpose.hpp"

COURSE_LAUNCHERS(TransposeFloats, (transpose), exercise, coalesced_reads, shared_tile, padded);

static course::Size matrix(std::int64_t rows, std::int64_t cols) {
  return {{{"rows", rows}, {"cols", cols}}};
}

int main(int argc, char** argv) {
  course::Exercise exercise;
  exercise.chapter = "03_transpose";
  // sectors, wavefronts and requests in turn
  exercise.solutions = {{96200, 0, 12},    {23948, 5776, 23}, {23948, 5776, 23},
                        {23948, 5776, 23}, {23948, 5776, 23}, {23948, 5776, 23}};
  exercise.make = course::make_problem<Transpose<float>>();
  exercise.yours = course::row("yours", "your version", exercise::transpose);
  exercise.compared = course::row("06_padded", "a column more", padded::transpose);
  // tall ones first: the starter of exercise 3 gets them wrong without leaving its arrays
  exercise.test_sizes = {matrix(32, 32),   matrix(64, 96),   matrix(33, 32),   matrix(1000, 1),
                         matrix(1, 1),     matrix(0, 5),     matrix(31, 33),   matrix(127, 129),
                         matrix(129, 257), matrix(300, 100), matrix(260, 324), matrix(256, 320)};
  exercise.size = matrix(16384, 16384);
  if (exercise.number > 1) exercise.room.in_turn = 6;       // a warp may move a tile alone
  if (exercise.number == 4) exercise.room.wavefronts = 17;  // conflicts are for exercises 2 and 5
  if (exercise.number == 5) exercise.most.shared_bytes = 4096;
  // The 32 floats of a warp are 128 bytes; side by side they fill 4 sectors. The last test size is
  // a multiple of 32 both ways, so no row begins inside a sector.
  if (exercise.number >= 4) exercise.most.load_sectors = exercise.most.store_sectors = 4;
  if (exercise.number == 2 || exercise.number == 5) {
    exercise.compared =
        course::row("05_shared_tile", "tiles in shared memory", shared_tile::transpose);
    exercise.least_ratio = 1.2;
    exercise.most.read_wavefronts = exercise.most.write_wavefronts = 1;  // 32 floats in 32 banks
  }
  if (exercise.number == 4) {
    exercise.compared =
        course::row("03_coalesced_reads", "neighbours read a row", coalesced_reads::transpose);
    exercise.least_ratio = 1.3;
  }
  if (exercise.number == 6) {  // of shared memory nothing is asked: a small conflict hides
    exercise.least_ratio = 1.1;
    exercise.unseen = "loads in flight";
  }
  return course::run_exercise(argc, argv, exercise);
}
