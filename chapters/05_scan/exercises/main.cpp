// The program behind an exercise: one file of yours, beside a version to compare it with. Passed
// means: right on every size below, and, where the exercise asks for it, fast enough: by its rate
// on a GPU, by what is counted on the CPU backend.
#include <cstdlib>

#include "chapter/rows.hpp"
#include "exercise/exercise.hpp"
#include "problems.hpp"
#include "scan.hpp"

using course::Arguments;
using course::Problem;
using course::row;
using course::Version;

using ScanOfBlock = cudaError_t(const unsigned* in, unsigned* out, std::int64_t n,
                                cudaStream_t stream);
using RunsLauncher = cudaError_t(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                                 unsigned* keys, unsigned* lengths, unsigned* runs, std::int64_t n,
                                 cudaStream_t stream);
COURSE_LAUNCHERS(Launcher<float>, (inclusive), exercise, reduce_first);
COURSE_LAUNCHERS(Launcher<float>, (exclusive), exercise, blelloch);
COURSE_LAUNCHERS(ScanOfBlock, (scan), exercise);
COURSE_LAUNCHERS(RunsLauncher, (run_lengths), exercise);
COURSE_LAUNCHERS(Launcher<unsigned>, (segmented_scan), exercise);
COURSE_LAUNCHERS(Launcher<unsigned>, (exclusive), reduce_first);
COURSE_LAUNCHERS(Launcher<unsigned>, (inclusive), prefetch);

/// What exercise 6 cannot do without: a scan of n words, into scratch memory.
static Version scan_alone() {
  const auto scan = [](void* workspace, std::size_t& bytes, const unsigned* in, std::int64_t n,
                       cudaStream_t stream) {
    const auto own = static_cast<std::size_t>((n + 63) / 64 * 64) * sizeof(unsigned);
    auto* const out = static_cast<unsigned*>(workspace);
    void* rest = workspace == nullptr ? nullptr : static_cast<char*>(workspace) + own;
    std::size_t left = workspace == nullptr ? 0 : bytes - own;
    const cudaError_t error = reduce_first::exclusive(rest, left, in, out, n, stream);
    if (workspace == nullptr) bytes = own + left;
    return error;
  };
  return row("08_reduce_first", "its scan alone", +scan);
}

int main(int argc, char** argv) {
  course::Exercise exercise;
#ifdef SIMT  // blocks that run at the same time, also on one core: exercise 5 is about them
  if (exercise.number == 5) setenv("SIMT_THREADS", "8", 0);
#endif
  exercise.chapter = "05_scan";
  // sectors, wavefronts and requests in turn
  exercise.solutions = {{256, 998, 34},    {256, 65, 5},      {256, 998, 135}, {69792, 42957, 165},
                        {16480, 3196, 31}, {61759, 3061, 50}, {16410, 444, 79}};
  // Around tiles of 1024, 4096 and 16384 elements; more tiles than a warp looks back over at once.
  std::vector<std::int64_t> sizes = {0,    1,    2,    31,   32,   33,    1023,  1024,  1025,
                                     4095, 4096, 4097, 8192, 8193, 16383, 16384, 16385, 65537};
#ifndef SIMT  // what waits for others goes wrong most easily where many run
  sizes.insert(sizes.end(), {5000011, (1 << 24) + 3});
#endif
  sizes.push_back(exercise.number == 5 ? 1000003 : exercise.number == 6 ? 200003 : 600011);
  if (exercise.number == 4) sizes.back() = 1 << 17;  // full tiles: no bank that nobody asks
  if (exercise.number <= 3) sizes = {2, 1, 3, 31, 32, 33, 255, 1000, 0, 1024};  // of one block
  for (const std::int64_t n : sizes) {
    if (exercise.number <= 5) exercise.test_sizes.push_back({{{"n", n}}});
    if (exercise.number <= 5) continue;
    for (const std::int64_t distinct : {1, 4, 15, 0}) {
      if (n > 100000 && distinct > 1) continue;  // short runs and segments need no large n
#ifdef SIMT  // fewer of the large ones where every access is checked
      if (n > 10000 && distinct > (n > 100000 ? 0 : 1)) continue;
#endif
      exercise.test_sizes.push_back({{{"n", n}, {"distinct", distinct}}});
    }
  }
  exercise.size = {{{"n", std::int64_t{1} << 28}}};
  if (exercise.number <= 3) {
    exercise.make = course::make_problem<Scan<unsigned, false>>();
    exercise.yours = row("yours", "your version", exercise::scan);
  }
  if (exercise.number == 1) exercise.make = course::make_problem<Scan<unsigned, true>>();
  if (exercise.number == 2) exercise.most.barriers_per_block = 2;
  if (exercise.number == 4) {
    exercise.make = course::make_problem<Scan<float, true>>();
    exercise.yours = row("yours", "your version", exercise::exclusive);
    exercise.compared = row("04_blelloch", "a tree, up and down", blelloch::exclusive);
    exercise.room.in_turn = 2;
    exercise.most.read_wavefronts = exercise.most.write_wavefronts = 1;
    exercise.least_ratio = 1.2;
  }
  if (exercise.number == 5) {
    exercise.make = course::make_problem<Scan<float, false>>();
    exercise.yours = row("yours", "your version", exercise::inclusive);
    exercise.compared =
        row("08_reduce_first", "the first pass only adds up", reduce_first::inclusive);
    exercise.room.in_turn = 13;  // three launches, of which the second has one block
  }
  if (exercise.number == 6) {
    exercise.make = course::make_problem<RunLengths>();
    exercise.yours = row("yours", "your version", exercise::run_lengths);
    exercise.compared = scan_alone();
    exercise.most.atomic_requests = 0.1;                     // none for each element
    exercise.counted = {{{{"n", 65537}, {"distinct", 1}}}};  // runs that no thread may walk along
    exercise.size = {{{"n", std::int64_t{1} << 24}, {"distinct", 4}}};
  }
  if (exercise.number == 7) {
    exercise.make = course::make_problem<SegmentedScan>();
    exercise.yours = row("yours", "your version", exercise::segmented_scan);
    exercise.compared = row("13_prefetch", "a scan without segments", prefetch::inclusive);
    exercise.room.in_turn = 2;
    exercise.room.wavefronts = 50;  // pairs of 8 bytes conflict, and time is what counts
    exercise.size.set("distinct", 0);
    exercise.least_ratio = 0.8;
    // 8 bytes per element are read and written once; whoever reads the input twice moves 12. What
    // lies between is for blocks that look at the sums of others again and again.
    exercise.most.bytes_per_element = 11;
  }
  return course::run_exercise(argc, argv, exercise);
}
