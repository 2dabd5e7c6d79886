// The program behind an exercise: one file of yours, beside the version that it has to match or to
// beat. Passed means: right on every size below, and, where the exercise asks for it, fast enough:
// by its rate on a GPU, by what is counted on the CPU backend.
#include "async_copy.hpp"
#include "chapter/rows.hpp"
#include "exercise/exercise.hpp"

COURSE_LAUNCHERS(Filter, (apply), exercise, primitives);

int main(int argc, char** argv) {
  course::Exercise exercise;
  exercise.chapter = "08_async_copy";
  // sectors, wavefronts and requests in turn
  exercise.solutions = {{5168, 4093, 80}, {5168, 4074, 80}, {5168, 4093, 80},
                        {5168, 4093, 80}, {5168, 4093, 80}, {5148, 4255, 72}};
  exercise.make = course::make_problem<FilterProblem>();
  exercise.yours =
      course::row("yours", "your version", exercise::apply).up_to(course::any_n).aligned(16);
  // A full tile first, then its edges and the array's; then more tiles than the GPU holds at once.
  std::vector<std::int64_t> sizes = {1024, 1,    2,    3,    4,    5,    8,    9,     31,
                                     33,   1016, 1023, 1025, 1033, 2048, 4099, 20483, 0};
#ifndef SIMT  // there a ring of buffers turns only with millions of floats
  sizes.insert(sizes.end(), {5000011, (1 << 24) + 3});
#endif
  // On the CPU backend, 8 SMs have two blocks each. 2^18 floats are 16 tiles of 1024 floats for
  // each of the 16 blocks, or 8 of 2048.
  sizes.push_back(1 << 18);
  exercise.test_sizes = course::sizes_of_n(sizes);
  exercise.size = {{{"n", std::int64_t{1} << 28}}};
  if (exercise.number != 2) exercise.brings = course::Exercise::Brings::copies;
  exercise.room.in_turn = 2;  // 16 blocks of 256 threads are a quarter of what runs at once
  if (exercise.number == 2) exercise.most.barriers_per_block = 2;  // none for a tile
  if (exercise.number >= 5) {
    exercise.compared = course::row("07_primitives", "commit and wait_prior", primitives::apply)
                            .up_to(course::any_n)
                            .aligned(16);
    // Measured on an H200: 1.03 and 1.18 times as fast as version 07.
    exercise.least_ratio = exercise.number == 5 ? 1.01 : 1.10;
    // Exercise 5: one for each of 16 tiles. Exercise 6: two for each of 8. And two before or behind
    // the loop, for answers that need them. Version 07 takes 32.
    exercise.most.barriers_per_block = 18;
  }
  // A tile of 1024 floats takes 8 warps' requests and one for each halo: 10 for 32 times 32 floats.
  // One of 2048 takes 16 and 2: 18 for 64 times 32. (Outside of the array nothing is loaded.)
  if (exercise.number == 6) exercise.most.load_requests = 18.0 / 64;
  return course::run_exercise(argc, argv, exercise);
}
