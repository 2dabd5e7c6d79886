// The program behind an exercise: one file of yours, beside a version to compare it with. Passed
// means: right on every size below, and, where the exercise asks for it, fast enough or, on the CPU
// backend, with no byte too many.
#include <cstdio>
#include <cstdlib>

#include "exercise.hpp"
#include "problems.hpp"
#include "rows.hpp"
#include "scan.hpp"
#ifdef SIMT
#include "check.hpp"
#include "model.hpp"
#include "simt/report.hpp"
#include "verify.hpp"
#endif

using course::Arguments;
using course::Problem;
using course::row;
using course::Version;

using RunsLauncher = cudaError_t(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                                 unsigned* keys, unsigned* lengths, unsigned* runs, std::int64_t n,
                                 cudaStream_t stream);
COURSE_LAUNCHERS(Launcher<float>, (inclusive), exercise, reduce_first);
COURSE_LAUNCHERS(RunsLauncher, (run_lengths), exercise);
COURSE_LAUNCHERS(Launcher<unsigned>, (segmented_scan), exercise);
COURSE_LAUNCHERS(Launcher<unsigned>, (exclusive), reduce_first);
COURSE_LAUNCHERS(Launcher<unsigned>, (inclusive), prefetch);

/// What exercise 2 cannot do without: a scan of n words, into scratch memory.
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

#ifdef SIMT
/// The CPU backend has no times, but it can count bytes: 8 per element and those of the blocks that
/// ask for others' words, again and again; 12 or more where the input is read twice. \returns the
/// exit code: 1 for too many.
static int judge_bytes(const course::Exercise& exercise, double most) {
  const course::Size& size = exercise.test_sizes.back();
  const auto problem = exercise.make(size, 1, course::Input::random);
  const course::DeviceArrays arrays(exercise.yours, *problem, nullptr);
  const course::Model counts = course::counts_during(
      [&] { COURSE_CHECK(exercise.yours.launch(*problem, arrays.arguments())); });
  const auto sectors = counts.global_loads.units + counts.global_stores.units;
  const double bytes = 32.0 * static_cast<double>(sectors) / static_cast<double>(problem->n());
  char text[120];
  std::snprintf(text, sizeof text, "%.1f bytes per element move, and it takes at most %.1f", bytes,
                most);
  if (bytes > most) return course::not_yet(text);
  std::printf("%s: so far so good\n", text);
  return 3;
}
#endif

int main(int argc, char** argv) {
#ifdef SIMT  // blocks that run at the same time, also on one core: exercise 1 is about them
  if (EXERCISE == 1) setenv("SIMT_THREADS", "8", 0);
#endif
  course::Exercise exercise;
  exercise.chapter = "05_scan";
  exercise.number = EXERCISE;
  // Around tiles of 1024, 4096 and 16384 elements; more tiles than a warp looks back over at once.
  std::vector<std::int64_t> sizes = {0,    1,    2,    31,   32,   33,    1023,  1024,  1025,
                                     4095, 4096, 4097, 8192, 8193, 16383, 16384, 16385, 65537};
#ifndef SIMT  // what waits for others goes wrong most easily where many run
  sizes.insert(sizes.end(), {5000011, (1 << 24) + 3});
#endif
  sizes.push_back(EXERCISE == 1 ? 1000003 : 600011);
  for (const std::int64_t n : sizes) {
    if (EXERCISE == 1) exercise.test_sizes.push_back({{{"n", n}}});
    if (EXERCISE == 1) continue;
    for (const std::int64_t distinct : {1, 4, 15, 0}) {
      if (n > 100000 && distinct > 1) continue;  // short runs and segments need no large n
      exercise.test_sizes.push_back({{{"n", n}, {"distinct", distinct}}});
    }
  }
  exercise.size = {{{"n", std::int64_t{1} << 28}}};
  if (EXERCISE == 1) {
    exercise.make = course::make_problem<Scan<float, false>>();
    exercise.yours = row("yours", "your version", exercise::inclusive);
    exercise.reference =
        row("08_reduce_first", "the first pass only adds up", reduce_first::inclusive);
  }
  if (EXERCISE == 2) {
    exercise.make = course::make_problem<RunLengths>();
    exercise.yours = row("yours", "your version", exercise::run_lengths);
    exercise.reference = scan_alone();
    exercise.size = {{{"n", std::int64_t{1} << 24}, {"distinct", 4}}};
  }
  if (EXERCISE == 3) {
    exercise.make = course::make_problem<SegmentedScan>();
    exercise.yours = row("yours", "your version", exercise::segmented_scan);
    exercise.reference = row("13_prefetch", "a scan without segments", prefetch::inclusive);
    exercise.size.set("distinct", 0);
    exercise.least_ratio = 0.8;
  }
  const int code = course::run_exercise(argc, argv, exercise);
#ifdef SIMT
  if (EXERCISE == 3 && code == 3 && simt::instrumented()) return judge_bytes(exercise, 11);
#endif
  return code;
}
