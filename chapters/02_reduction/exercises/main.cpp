// The program behind an exercise: one file of yours, beside the version that it has to match or to
// beat. Passed means: right on every size below, and, where the exercise asks for it, fast enough:
// by its rate on a GPU, by what is counted on the CPU backend.
#include "chapter/rows.hpp"
#include "exercise/exercise.hpp"
#include "reduction.hpp"

COURSE_LAUNCHERS(Reduce<float>, (maximum), exercise);
COURSE_LAUNCHERS(Reduce<float>, (sum), exercise, shared_memory, grid_stride_sum, warp_shuffle,
                 single_pass);

/// Of the small ones, which need no workspace.
using AddUp = cudaError_t(const float* in, float* out, std::int64_t n, cudaStream_t stream);
COURSE_LAUNCHERS(AddUp, (add_up), exercise);

/// The first seed from `seed` on that makes every element negative. One in about 2^n does.
static std::uint64_t seed_of_negatives(std::int64_t n, std::uint64_t seed, course::Input input) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (course::value<float>(input, seed, i) >= 0) ++seed, i = -1;
  }
  return seed;
}

/// The largest of n elements: of up to 16 negative ones, or of any.
static std::unique_ptr<course::Problem> largest(const course::Size& size, std::uint64_t seed,
                                                course::Input input) {
  if (size["n"] <= 16) seed = seed_of_negatives(size["n"], seed, input);
  return std::make_unique<Extreme>(size, seed, input, true);
}

int main(int argc, char** argv) {
  course::Exercise exercise;
  exercise.chapter = "02_reduction";
  // sectors, wavefronts and requests in turn
  exercise.solutions = {{8450, 11565, 28}, {8450, 11565, 28},  {8487, 39000, 84},
                        {8212, 561, 12},   {67584, 18432, 72}, {8265, 603, 18}};
  exercise.size = {{{"n", std::int64_t{1} << 28}}};
  std::vector<std::int64_t> sizes = {0,   1,   2,   3,    31,   32,    33,
                                     255, 256, 257, 1024, 1025, 65537, 1 << 18};
  // 1, 2 and 5 have the short launcher, and add the sums of their blocks by atomics.
  exercise.make = course::make_problem<SumByAtomics>();
  exercise.yours = course::row("yours", "your version", exercise::add_up);
  // One for each warp; a right answer needs one for each block.
  if (exercise.number <= 2) exercise.most.atomic_requests = 0.5;
  if (exercise.number == 2) exercise.most.read_wavefronts = 1;
  if (exercise.number == 3) {
    sizes = {256, 257, 65536, 65537, 1000003, 16, 13, 2, 1, 0};
    exercise.make = largest;
    exercise.yours = course::row("yours", "your version", exercise::maximum);
    exercise.compared =
        course::row("02_shared_memory", "the same tree, adding", shared_memory::sum);
  }
  if (exercise.number == 4 || exercise.number == 6) {
    sizes.push_back(1000003);
    exercise.make = course::make_problem<Sum<float>>();
    exercise.yours = course::row("yours", "your version", exercise::sum);
  }
  if (exercise.number == 4) {
    exercise.compared = course::row("07_warp_shuffle", "shuffles for the tree", warp_shuffle::sum);
    // One, between the sums of the warps and the warp that adds them up. A tree of 1024 threads in
    // shared memory takes one before each of its 10 steps, or more.
    exercise.most.barriers_per_block = 1;
    // For the sums of the warps alone. Trees of the warps in shared memory take four times that.
    exercise.most.read_requests = 0.05;
  }
  if (exercise.number == 5) {
    exercise.compared = course::row("06_grid_stride", "many per thread", grid_stride_sum::sum);
    exercise.most.load_sectors = 4;
    exercise.most.atomic_requests = 0.125;  // one for each block of 256
    exercise.most.launches = 1;
    exercise.least_ratio = 0.9;
    // So large that a grid of a few hundred blocks, which strides, takes few trees.
    exercise.counted = course::Size{{{"n", 1 << 19}}};
  }
  if (exercise.number == 6) {
    exercise.compared = course::row("10_single_pass", "the last block adds up", single_pass::sum);
    // Around a tile, around the size that is measured, and many tiles per block.
    sizes.insert(sizes.end(), {2047, 2048, 2049, 16383, 16384, 16385, 1048575, 1048576, 1048577});
#ifndef SIMT
    sizes.push_back(5000011);
#endif
    exercise.size = {{{"n", 1 << 20}}};
    exercise.least_ratio = 1.25;
    exercise.most.load_sectors = 4;  // 32 floats side by side; vectors take as many per float
    exercise.room.in_turn = 2.5;     // idle SMs are what the exercise is about
    exercise.unseen = "idle SMs and waiting";
  }
  exercise.test_sizes = course::sizes_of_n(sizes);
  return course::run_exercise(argc, argv, exercise);
}
