// The program behind an exercise: one file of yours, beside a version to compare it with. Passed
// means: right on every size below, and, where the exercise asks for it, fast enough: by its rate
// on a GPU, by what is counted on the CPU backend.
#include "chapter/rows.hpp"
#include "exercise/exercise.hpp"
#include "exercises/problems.hpp"

using course::row;
using course::Version;

template <class T>
using SortInPlace = cudaError_t(const T* in, T* out, std::int64_t n, cudaStream_t stream);
using PartLauncher = cudaError_t(const unsigned* in, unsigned* out, unsigned* counts,
                                 std::int64_t n, unsigned pivot, cudaStream_t stream);
using PercentileLauncher = cudaError_t(void* workspace, std::size_t& workspace_bytes,
                                       const unsigned* in, unsigned* out, std::int64_t n,
                                       int percent, cudaStream_t stream);
COURSE_LAUNCHERS(SortInPlace<float>, (sort), exercise);
COURSE_LAUNCHERS(SortInPlace<unsigned>, (sort), exercise);
COURSE_LAUNCHERS(PartLauncher, (partition), exercise);
COURSE_LAUNCHERS(PercentileLauncher, (percentile), exercise);
COURSE_LAUNCHERS(Launcher<unsigned>, (sort), reserve_places, three_ways, many_splitters);

namespace {

/// A sort into scratch memory: what a percentile is compared with.
Version sort_alone() {
  const auto sort = [](void* workspace, std::size_t& bytes, const unsigned* in, std::int64_t n,
                       cudaStream_t stream) {
    const auto own = static_cast<std::size_t>((n + 63) / 64 * 64) * sizeof(unsigned);
    auto* const out = static_cast<unsigned*>(workspace);
    void* rest = workspace == nullptr ? nullptr : static_cast<char*>(workspace) + own;
    std::size_t left = workspace == nullptr ? 0 : bytes - own;
    const cudaError_t error = many_splitters::sort(rest, left, in, out, n, stream);
    if (workspace == nullptr) bytes = own + left;
    return error;
  };
  return row("07_many_splitters", "sorts all keys", +sort);
}

/// Around rows of 32 keys and tiles of 256 and 2048, with half of the keys below the pivot, none,
/// and a third each below, equal and above.
std::vector<course::Size> sizes_to_part(std::int64_t last, std::int64_t last_pivot) {
  std::vector<course::Size> sizes;
  for (const std::int64_t n : {1, 2, 31, 32, 33, 255, 256, 257, 2047, 2048, 2049, 4097, 0, 10007}) {
    for (const std::int64_t pivot : {std::int64_t{1} << 30, std::int64_t{0}, std::int64_t{1}})
      sizes.push_back({{{"n", n}, {"pivot", pivot}}});
  }
  sizes.push_back({{{"n", last}, {"pivot", last_pivot}}});
  return sizes;
}

/// Exercises 5 and 6. A version that sorts all of the 2^25 keys parts them by many blocks eleven
/// times or more, until they lie in segments of 2^14 or less, and then goes on. Each time it moves
/// the bytes that are asked for here once. That makes a factor of 11 where a GPU waits for its
/// memory; half of it is asked.
void part_many_tiles(course::Exercise& exercise) {
  exercise.size = {{{"n", std::int64_t{1} << 25}, {"pivot", std::int64_t{1} << 30}}};
  exercise.least_ratio = 5;
  // Two for 256 keys or more: for a block of 256 threads that has one key each, or for a tile.
  exercise.most.atomic_requests = 0.25;
}

}  // namespace

int main(int argc, char** argv) {
  course::Exercise exercise;
  exercise.chapter = "07_quicksort";
  // sectors, wavefronts and requests in turn
  exercise.solutions = {{33777, 0, 1026},    {512, 13762, 1066}, {19964, 3200, 1024},
                        {194691, 0, 194691}, {20044, 3776, 34},  {20567, 6976, 68},
                        {53493, 24735, 189}};
  if (exercise.number == 1) {
    exercise.make = course::make_problem<SortFloats>();
    exercise.yours = row("yours", "your version", static_cast<SortInPlace<float>*>(exercise::sort));
    exercise.test_sizes = course::sizes_of_n({2, 1, 3, 10, 33, 100, 0, 1024});
    exercise.room.sectors = 4.5;  // the order of keys is the point, not where they lie meanwhile
  }
  if (exercise.number == 2 || exercise.number == 4) {
    exercise.make = course::make_problem<Sort<unsigned>>();
    exercise.yours =
        row("yours", "your version", static_cast<SortInPlace<unsigned>*>(exercise::sort));
    exercise.test_sizes =
        course::sizes_of_n({2, 1, 3, 4, 7, 8, 31, 33, 64, 255, 257, 1000, 0, 2047, 2048});
  }
  if (exercise.number == 4) {
    exercise.make = course::make_problem<SortReversed>();
    exercise.test_sizes.push_back({{{"n", 5000}}});
    exercise.least_by_kernels = 1;
  }
  if (exercise.number == 3 || exercise.number == 5) {
    exercise.make = course::make_problem<Partition<2>>();
    exercise.yours = row("yours", "your version", exercise::partition);
    exercise.room.wavefronts = 10;  // of a thread that adds up what the warps before its own have
    exercise.test_sizes = sizes_to_part(65536, 1 << 30);
  }
  if (exercise.number == 5) {
    exercise.compared = row("04_reserve", "sorts all keys", reserve_places::sort);
    part_many_tiles(exercise);
  }
  if (exercise.number == 6) {
    exercise.make = course::make_problem<Partition<3>>();
    exercise.yours = row("yours", "your version", exercise::partition);
    exercise.compared = row("06_three_ways", "sorts all keys", three_ways::sort);
    exercise.test_sizes = sizes_to_part(65536, 1);
    part_many_tiles(exercise);
    // A row of 32 keys, a third of them equal: 128 bytes are read; each side has 43 bytes, which
    // begin anywhere in a sector and touch 2.2; the middle takes 43 bytes. That makes 9.8 per key,
    // and 2 more where each warp of a tile of 256 keys reads both counts. Who reads all keys twice
    // moves 14.
    exercise.most.bytes_per_element = 12;
    exercise.room.in_turn = 2;  // a block that writes all of the middle
  }
  if (exercise.number == 7) {
    exercise.make = course::make_problem<Percentile>();
    exercise.yours = row("yours", "your version", exercise::percentile);
    exercise.compared = sort_alone();
    for (const std::int64_t n : {1, 2, 10, 33, 1000, 4097}) {
      for (const std::int64_t percent : {50, 0, 100})
        exercise.test_sizes.push_back({{{"n", n}, {"percent", percent}}});
    }
    exercise.test_sizes.push_back({{{"n", 100003}, {"percent", 37}}});
    // Version 07 moves 32 bytes per key in two levels and its leaves, and sorts those besides;
    // three passes that only read move 12.
    exercise.least_ratio = 2;
    exercise.room.in_turn = 6;  // one warp may add up all 256 counts
    // Twelve, and what the counts take; who halves what is left by pivots moves 16, and some 4 more
    // where both sides of a row of keys end within sectors.
    exercise.most.bytes_per_element = 22;
    exercise.size = {{{"n", std::int64_t{1} << 28}, {"percent", 50}}};
  }
  return course::run_exercise(argc, argv, exercise);
}
