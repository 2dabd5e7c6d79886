// The program behind an exercise: one file of yours, next to the version that it has to match or to
// beat. Passed means: right on every size below, and, where the exercise asks for it, fast enough:
// by its rate on a GPU, by what is counted on the CPU backend.
#include "chapter/rows.hpp"
#include "exercise/exercise.hpp"
#include "exercises/problems.hpp"
#include "stencil.hpp"

COURSE_LAUNCHERS(StepPlane, (step), exercise);
COURSE_LAUNCHERS(StepFixed, (sweep, step_twice), exercise);

namespace {

using namespace course;

Size fixed_size(std::int64_t rows, std::int64_t cols) { return {{{"rows", rows}, {"cols", cols}}}; }

/// Both edges, rows of whole vectors and others, planes smaller than a star; then one whose
/// requests are counted. A periodic edge loads as much as the inside.
std::vector<Size> plane_sizes() {
  std::vector<Size> sizes;
  for (const std::int64_t edge : {by_fixed, by_periodic}) {
    for (const auto& [rows, cols] : std::vector<std::pair<int, int>>{
             {32, 128}, {35, 131}, {70, 260}, {1, 1}, {3, 2}, {1, 140}, {41, 3}, {0, 5}, {5, 0}})
      sizes.push_back(plane_size(rows, cols, 4, edge));
  }
  sizes.push_back(plane_size(64, 256, 4, by_periodic));
  return sizes;
}

/// Both edges, sizes that divide nothing, planes smaller than a star; then one whose requests are
/// counted: a multiple of most tiles, where no point beyond an edge saves a load.
std::vector<Size> sizes_of(const std::vector<std::int64_t>& radii) {
  std::vector<Size> sizes;
  for (const std::int64_t radius : radii) {
    for (const std::int64_t edge : {by_fixed, by_periodic}) {
      sizes.push_back(plane_size(35, 131, radius, edge));
      sizes.push_back(plane_size(70, 33, radius, edge));
      sizes.push_back(plane_size(3, 2, radius, edge));
      sizes.push_back(plane_size(1, 259, radius, edge));
      sizes.push_back(plane_size(133, 1, radius, edge));
    }
  }
  const std::int64_t last = radii.back();
  sizes.push_back(plane_size(0, 5, last));
  sizes.push_back(plane_size(5, 0, last, by_periodic));
  sizes.push_back(plane_size(64, 128, last, by_periodic));
  return sizes;
}

/// Several blocks each way, sizes that divide nothing, single rows and columns.
std::vector<Size> fixed_sizes() {
  return {fixed_size(32, 64), fixed_size(1, 1),  fixed_size(2, 3),    fixed_size(1, 131),
          fixed_size(70, 1),  fixed_size(0, 5),  fixed_size(5, 0),    fixed_size(67, 131),
          fixed_size(33, 66), fixed_size(19, 7), fixed_size(128, 256)};
}

}  // namespace

int main(int argc, char** argv) {
  Exercise exercise;
  exercise.chapter = "12_stencil";
  // sectors, wavefronts and requests in turn
  exercise.solutions = {{26624, 0, 24},     {204800, 0, 168}, {57344, 147456, 320},
                        {13408, 9088, 124}, {49792, 0, 12},   {12520, 21344, 49}};
  if (exercise.number == 1) {
    exercise.make = make_problem<Heat>();
    exercise.yours = row("yours", "your version", static_cast<StepPlane*>(exercise::step));
    exercise.test_sizes = sizes_of({1});
    exercise.counted = plane_size(128, 256, 1, by_periodic);
  } else if (exercise.number == 2) {
    exercise.make = make_problem<Heat>();
    exercise.yours = row("yours", "your version", static_cast<StepPlane*>(exercise::step));
    exercise.test_sizes = sizes_of({4});
    // So large that one block takes more requests in turn than strips of 64 rows.
    exercise.counted = plane_size(512, 256, 4, by_periodic);
    exercise.untimed = "requests to global memory";
    // In a strip of h rows a column takes h + 8 loads, neighbours along x 8 h: 10 per row for h =
    // 8, 9.5 for 16, 11 for 4. A queue for half of the column: 13.
    exercise.most.load_requests = 10.1;
  } else if (exercise.number == 3) {
    exercise.make = make_problem<Heat>();
    exercise.yours = row("yours", "your version", static_cast<StepPlane*>(exercise::step));
    exercise.test_sizes = sizes_of({1, 3, 4, 7, 8});
    // So large that several points per thread do not count as one after the other.
    exercise.counted = plane_size(512, 256, 8, by_periodic);
    exercise.untimed = "bytes of global memory";
    // For 32 x 16 results: 16 rows of 48 points and 16 of 32 are 10 bytes per result, and 4 for the
    // result itself. With the corners: 16. Blocks of 32 x 32 take 12, or 13 with the corners.
    exercise.most.bytes_per_element = 15;
    // Three per row of 32 results; four with both sides of the halo in turn. No tile: 33.
    exercise.most.load_requests = 6;
  } else if (exercise.number == 4) {
    exercise.make = make_problem<PlaneByTaps>();
    exercise.yours = row("yours", "your version", static_cast<StepPlane*>(exercise::step));
    exercise.test_sizes = plane_sizes();
    exercise.counted = plane_size(128, 256, 4, by_periodic);
    exercise.untimed = "wavefronts of shared memory";
    // The starter reads 17 points for 17 multiplications, a wavefront each. Vectors of four points
    // take 4 wavefronts each: 8 along y and 3 along x, 11 / 17 = 0.65. Two rows per thread need 10
    // and 6 vectors for 8 results, 0.47, or 14, 0.41, if the middles serve both; four rows 0.29.
    // Points of a column, read one by one, cannot fall below 9 / 17 = 0.53.
    exercise.most.read_wavefronts_per_multiply = 0.5;
    exercise.most.read_wavefronts = 1.5;
    exercise.room.sectors = exercise.room.wavefronts = 2;  // small tiles
    exercise.room.in_turn = 2.5;  // eight rows per thread; one block takes more
  } else if (exercise.number == 5) {
    exercise.make = make_problem<RedBlackSweep>();
    exercise.yours = row("yours", "your version", exercise::sweep);
    exercise.test_sizes = fixed_sizes();
    // More blocks than any host has threads: they cannot all begin together and be right by chance.
    exercise.test_sizes.front() = fixed_size(64, 256);
    exercise.counted = fixed_size(128, 256);
  } else if (exercise.number == 6) {
    exercise.make = make_problem<TwoSteps>();
    exercise.yours = row("yours", "your version", exercise::step_twice);
    exercise.test_sizes = fixed_sizes();
    exercise.counted = fixed_size(128, 256);
    exercise.untimed = "bytes of global memory";
    // Two kernels read and write each point twice: at least 16 bytes, with halos 20. A tile of 32 x
    // 16 with a halo of 2 reads 20 rows of 6 sectors for 512 points: 7.5, and 4 more are written.
    // Tiles of 16 x 16 move 14, of 32 x 8 13.
    exercise.most.bytes_per_element = 15;
    exercise.most.launches = 1;  // what bulk copies read is not counted here
    // The solution reads 16.25 times for 32 points. Without stored results of the first step: 25.
    exercise.most.read_requests = 20;
    exercise.room.wavefronts = 1.6;  // smaller tiles
  }
  return run_exercise(argc, argv, exercise);
}
