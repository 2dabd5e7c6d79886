// The program behind an exercise: one file of yours, beside a version to compare it with. Passed
// means: right on every size below, and, where the exercise asks for it, fast enough or, on the CPU
// backend, with no byte too many.
#include <cstdio>
#include <cstdlib>

#include "chapter.hpp"
#include "exercise.hpp"
#include "problems.hpp"
#include "scan.hpp"
#ifdef SIMT
#include "check.hpp"
#include "model.hpp"
#include "simt/report.hpp"
#include "verify.hpp"
#endif

using course::Arguments;
using course::Problem;
using course::Role;
using course::Version;

template <class T>
using Launcher = cudaError_t(void* workspace, std::size_t& workspace_bytes, const T* in, T* out,
                             std::int64_t n, cudaStream_t stream);
using RunsLauncher = cudaError_t(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                                 unsigned* keys, unsigned* lengths, unsigned* runs, std::int64_t n,
                                 cudaStream_t stream);
namespace exercise {
COURSE_OPTIONAL Launcher<float> inclusive;
COURSE_OPTIONAL RunsLauncher run_lengths;
COURSE_OPTIONAL Launcher<unsigned> segmented_scan;
}  // namespace exercise
namespace reduce_first {
Launcher<float> inclusive;
Launcher<unsigned> exclusive;
}  // namespace reduce_first
namespace prefetch {
Launcher<unsigned> inclusive;
}

/// A row whose launcher is called by call(workspace, bytes, problem, arguments). Without `there`:
/// one that is missing.
template <class Call>
static Version row(const char* id, const char* title, bool there, Role role, Call call) {
  Version version{id, title, {}, role};
  if (!there) return version;
  version.launch = [call](const Problem& p, const Arguments& a) {
    std::size_t bytes = a.workspace_bytes;
    return call(a.workspace, bytes, p, a);
  };
  version.workspace_bytes = [call](const Problem& p) {
    std::size_t bytes = 0;
    Arguments none;  // a question takes no pointers
    none.inputs = none.outputs = {nullptr, nullptr, nullptr};
    call(nullptr, bytes, p, none);
    return bytes;
  };
  return version;
}

template <class T>
static Version row_of_scan(const char* id, const char* title, Launcher<T>* scan, Role role) {
  return row(id, title, scan != nullptr, role,
             [scan](void* workspace, std::size_t& bytes, const Problem& p, const Arguments& a) {
               return scan(workspace, bytes, a.in<T>(0), a.out<T>(0), p.n(), a.stream);
             });
}

static Version row_of_runs(const char* id, const char* title, RunsLauncher* runs) {
  return row(id, title, runs != nullptr, Role::exercise,
             [runs](void* workspace, std::size_t& bytes, const Problem& p, const Arguments& a) {
               return runs(workspace, bytes, a.in<unsigned>(0), a.out<unsigned>(0),
                           a.out<unsigned>(1), a.out<unsigned>(2), p.n(), a.stream);
             });
}

/// What exercise 2 cannot do without: a scan of n words, into scratch memory.
static Version scan_alone() {
  return row("08_reduce_first", "its scan alone", true, Role::version,
             [](void* workspace, std::size_t& bytes, const Problem& p, const Arguments& a) {
               const auto own = static_cast<std::size_t>((p.n() + 63) / 64 * 64) * sizeof(unsigned);
               auto* const out = static_cast<unsigned*>(workspace);
               void* rest = workspace == nullptr ? nullptr : static_cast<char*>(workspace) + own;
               std::size_t left = workspace == nullptr ? 0 : bytes - own;
               const cudaError_t error =
                   reduce_first::exclusive(rest, left, a.in<unsigned>(0), out, p.n(), a.stream);
               if (workspace == nullptr) bytes = own + left;
               return error;
             });
}

#ifdef SIMT
/// The CPU backend has no times, but it can count bytes: 8 an element and those of the blocks that
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
  std::snprintf(text, sizeof text, "%.1f bytes an element move, and it takes at most %.1f", bytes,
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
    exercise.yours = row_of_scan("yours", "your version", exercise::inclusive, Role::exercise);
    exercise.reference = row_of_scan<float>("08_reduce_first", "the first pass only adds up",
                                            reduce_first::inclusive, Role::version);
  }
  if (EXERCISE == 2) {
    exercise.make = course::make_problem<RunLengths>();
    exercise.yours = row_of_runs("yours", "your version", exercise::run_lengths);
    exercise.reference = scan_alone();
    exercise.size = {{{"n", std::int64_t{1} << 24}, {"distinct", 4}}};
  }
  if (EXERCISE == 3) {
    exercise.make = course::make_problem<SegmentedScan>();
    exercise.yours = row_of_scan("yours", "your version", exercise::segmented_scan, Role::exercise);
    exercise.reference = row_of_scan<unsigned>("13_prefetch", "a scan without segments",
                                               prefetch::inclusive, Role::version);
    exercise.size.set("distinct", 0);
    exercise.least_ratio = 0.8;
  }
  const int code = course::run_exercise(argc, argv, exercise);
#ifdef SIMT
  if (EXERCISE == 3 && code == 3 && simt::instrumented()) return judge_bytes(exercise, 11);
#endif
  return code;
}
