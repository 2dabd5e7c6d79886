// What the measuring engine must be able to do before its results can be trusted, as studies: the
// length of a kernel whose cycles are known, the same version twice, bandwidth over sizes, whether
// a table favours a version for the way it is launched, and what naive timing would have reported.
#include <chrono>

#include "chapter/chapter.hpp"
#include "device/cuda_check.hpp"
#include "measure/anchors.hpp"
#include "measure/measure.hpp"
#include "timer.hpp"

namespace harness {
cudaError_t spin_programmatic(std::int64_t cycles, float* done, cudaStream_t stream);
cudaError_t spin(std::int64_t cycles, float* done, cudaStream_t stream);
cudaError_t copy_by_a_new_kernel(const float* in, float* out, std::int64_t n, cudaStream_t stream);
}  // namespace harness

namespace {

using course::Arguments;
using course::Problem;
using course::Role;
using course::Size;
using course::Study;
using course::Version;
using Launch = std::function<void()>;

/// A kernel that takes size["cycles"] cycles of the SM clock; its rate is cycles per second.
class Spin : public Problem {
 public:
  using Problem::Problem;
  std::int64_t cycles() const { return size()["cycles"]; }
  std::vector<course::Array> inputs() const override { return {}; }
  std::vector<course::Array> outputs() const override { return {{"done", 1, course::Type::f32}}; }
  double bytes_read() const override { return 0; }
  double bytes_written() const override { return 4; }
  Work work() const override { return {static_cast<double>(cycles()), 1e6, "Mcycle/s"}; }
  void expected(int, double* done) const override { *done = 1; }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }
};

Study known_cycles() {
  Study study;
  study.name = "known_cycles";
  study.title = "A kernel of known length: cycles per second must be the SM clock";
  study.make = course::make_problem<Spin>();
  const Version spin{"spin", "one thread that watches the clock",
                     [](const Problem& p, const Arguments& a) {
                       return harness::spin(p.size()["cycles"], a.out<float>(0), a.stream);
                     }};
  study.versions = {spin.in_file("harness_kernels")};
  for (const int cycles : {2000, 20000, 200000, 2000000})
    study.sizes.push_back({{{"cycles", cycles}}});
  study.axis = "cycles";
  study.axis_label = "SM clock cycles the kernel spins";
  study.limit = nullptr;
  return study;
}

/// The same work by an ordinary and by a programmatic launch: a table that shows the second as
/// faster shows what it gains from a copy of itself in front of it.
Study programmatic() {
  Study study = known_cycles();
  study.name = "programmatic";
  study.title = "The same cycles by ordinary and by programmatic launches";
  Version ordinary = study.versions.front();
  ordinary.id = "ordinary";
  ordinary.title = "behind an empty kernel";
  Version early = ordinary;
  early.id = "programmatic";
  early.launch = [](const Problem& p, const Arguments& a) {
    return harness::spin_programmatic(p.size()["cycles"], a.out<float>(0), a.stream);
  };
  early.needs.capability = 90;
  study.versions = {ordinary, early};
  for (Version version : {ordinary, early}) {
    version.id = "itself_" + version.id;
    version.title = "behind itself";
    version.behind = course::Behind::itself;
    study.versions.push_back(version);
  }
  study.sizes.clear();
  for (const int cycles : {500, 2000, 6000}) study.sizes.push_back({{{"cycles", cycles}}});
  return study;
}

Study twice() {
  Study study;
  study.name = "twice";
  study.title = "The same version under three names";
  study.make = course::make_problem<course::CopyProblem>();
  for (const char* id : {"copy_a", "copy_b", "copy_c"})
    study.versions.push_back(course::copy_version(id, Role::version));
  study.sizes = {{{{"n", 1 << 20}}}, {{{"n", 1 << 24}}}, {{{"n", 1 << 28}}}};
  study.axis = "n";
  study.axis_label = "floats";
  return study;
}

Study memory() {
  Study study;
  study.name = "memory";
  study.title = "What the memory can do, over sizes, L2 cold";
  study.make = course::make_problem<course::CopyProblem>();
  study.versions = {course::read_version("read", Role::limit),
                    course::copy_version("copy", Role::limit),
                    course::bulk_copy_version("bulk_copy", Role::limit),
                    course::memcpy_version("cudaMemcpy", Role::peer)};
  study.versions.front().make = course::make_problem<course::ReadProblem>();
  for (int k = 12; k <= 30; k += 2) study.sizes.push_back({{{"n", std::int64_t{1} << k}}});
  study.axis = "n";
  study.axis_label = "floats";
  study.limit = nullptr;
  return study;
}

double host_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A copy whose sample is taken by `timer` on one buffer, which stays in the L2 cache if it fits.
Version naive(const char* id, const char* title,
              std::function<double(const Launch&, cudaStream_t)> timer) {
  Version version = course::copy_version(id, Role::version);
  version.title = title;
  version.timer = std::move(timer);
  return version;
}

/// Events around one launch, which starts at an arbitrary time between them.
double time_by_events(const Launch& launch, cudaStream_t stream) {
  static course::GpuTimer timer;
  COURSE_CHECK(cudaStreamSynchronize(stream));
  timer.start(stream);
  launch();
  return timer.stop(stream);
}

Study naive_timing() {
  Study study;
  study.name = "naive_timing";
  study.title = "The same copy, timed in ways that look right";
  study.make = course::make_problem<course::CopyProblem>();
  study.versions = {
      course::copy_version("engine", Role::version),
      naive("no_synchronise", "host clock, nobody waits",
            [](const Launch& launch, cudaStream_t stream) {
              COURSE_CHECK(cudaStreamSynchronize(stream));
              const double start = host_seconds();
              launch();
              return host_seconds() - start;
            }),
      naive("host_clock", "host clock around launch and wait",
            [](const Launch& launch, cudaStream_t stream) {
              COURSE_CHECK(cudaStreamSynchronize(stream));
              const double start = host_seconds();
              launch();
              COURSE_CHECK(cudaStreamSynchronize(stream));
              return host_seconds() - start;
            }),
      naive("events_one_launch", "events around one launch", time_by_events),
      naive("warm_l2", "many launches on one buffer",
            [](const Launch& launch, cudaStream_t stream) {
              static course::GpuTimer timer;
              constexpr int launches = 200;
              timer.start(stream);
              for (int k = 0; k < launches; ++k) launch();
              return timer.stop(stream) / launches;
            }),
  };
  // a kernel's first launch loads its code; each sample launches one that never ran before
  Version first = naive("no_warm_up", "events around a kernel's first launch", time_by_events);
  first.launch = [](const Problem& p, const Arguments& a) {
    return harness::copy_by_a_new_kernel(a.in<float>(0), a.out<float>(0), p.n(), a.stream);
  };
  first.file = "harness_kernels";
  study.versions.push_back(first);
  study.sizes = {{{{"n", 1 << 18}}}, {{{"n", 1 << 20}}}, {{{"n", 1 << 22}}}, {{{"n", 1 << 28}}}};
  study.axis = "n";
  study.axis_label = "floats copied";
  return study;
}

/// The same kernel on zeros and on random numbers: data that do not change cost less power.
Study zeros() {
  class ZeroCopy : public course::CopyProblem {
   public:
    ZeroCopy(Size size, std::uint64_t seed, course::Input)
        : CopyProblem(std::move(size), seed, course::Input::zeros) {}
  };
  Study study;
  study.name = "zeros";
  study.title = "The same copy of random numbers and of zeros";
  study.make = course::make_problem<course::CopyProblem>();
  study.versions = {
      course::copy_version("random", Role::version),
      course::copy_version("zeros", Role::version).solving(course::make_problem<ZeroCopy>())};
  study.sizes = {{{{"n", 1 << 28}}}};
  return study;
}

/// The order of launches, by plain launches and by a replayed graph: what a launch costs.
class Nothing : public Problem {
 public:
  using Problem::Problem;
  std::vector<course::Array> inputs() const override { return {}; }
  std::vector<course::Array> outputs() const override { return {{"done", 1, course::Type::f32}}; }
  double bytes_read() const override { return 0; }
  double bytes_written() const override { return 4; }
  Work work() const override { return {1, 1e6, "Mlaunch/s"}; }
  void expected(int, double* done) const override { *done = 1; }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }
};

Study launches() {
  Study study;
  study.name = "launches";
  study.title = "A kernel that stores one float: what a launch costs";
  study.make = course::make_problem<Nothing>();
  const auto launch = [](const Problem&, const Arguments& a) {
    return harness::spin(0, a.out<float>(0), a.stream);
  };
  const auto row = [&](const char* id, const char* title, course::Behind behind) {
    Version version = Version{id, title, launch}.in_file("harness_kernels");
    version.behind = behind;
    return version;
  };
  Version queued =
      row("queued", "plain launches, all queued before the first begins", course::Behind::empty);
  queued.needs.capturable = false;
  study.versions = {
      row("behind_empty", "replayed graph, behind an empty kernel", course::Behind::empty),
      row("behind_itself", "replayed graph, behind itself", course::Behind::itself), queued,
      row("host", "plain launches, as fast as the host can", course::Behind::host)};
  study.sizes = {{{{"n", 1}}}};
  study.limit = nullptr;
  return study;
}

/// Seconds of one of 1000 empty kernels in a replayed graph.
double time_empty_kernels(cudaStream_t stream, bool beside_an_uploaded_graph) {
  const auto empty_kernels = [&] {
    for (int k = 0; k < 1000; ++k) COURSE_CHECK(course::launch_empty(stream));
  };
  COURSE_CHECK(course::launch_empty(stream));
  const course::Replay replay(stream, empty_kernels);
  cudaGraphExec_t waiting = nullptr;
  if (beside_an_uploaded_graph) {
    cudaGraph_t graph = course::capture(stream, empty_kernels);
    COURSE_CHECK(cudaGraphInstantiate(&waiting, graph, 0));
    COURSE_CHECK(cudaGraphDestroy(graph));
    COURSE_CHECK(cudaGraphUpload(waiting, stream));
    COURSE_CHECK(cudaStreamSynchronize(stream));
  }
  static course::GpuTimer timer;
  replay.launch();
  timer.start(stream);
  replay.launch();
  const double seconds = timer.stop(stream) / 1000;
  if (waiting != nullptr) {  // a graph that never ran would still slow the others
    COURSE_CHECK(cudaGraphLaunch(waiting, stream));
    COURSE_CHECK(cudaStreamSynchronize(stream));
    COURSE_CHECK(cudaGraphExecDestroy(waiting));
  }
  return seconds;
}

/// A graph that was uploaded and has not run slows all others (common/replay.hpp).
Study pending_upload() {
  Study study = launches();
  study.name = "pending_upload";
  study.title = "An empty kernel in a graph, beside a graph that waits for its first launch";
  const auto row = [&](const char* id, const char* title, bool beside) {
    Version version = study.versions.front();
    version.id = id;
    version.title = title;
    version.timer = [beside](const Launch&, cudaStream_t stream) {
      return time_empty_kernels(stream, beside);
    };
    return version;
  };
  study.versions = {row("all_have_run", "all graphs have run", false),
                    row("one_waits", "one is uploaded and has not run", true)};
  return study;
}

/// A copy right after another one of 2^27 floats, whose last lines are still in the L2 cache.
Version right_after(const char* id, const char* title, Version other) {
  Version version = course::copy_version(id, Role::version);
  version.title = title;
  version.needs.capability = other.needs.capability;
  version.timer = [other](const Launch& launch, cudaStream_t stream) {
    const course::CopyProblem large(Size{{{"n", 1 << 27}}}, 1, course::Input::random);
    static course::GpuTimer timer;
    static const course::Sets arrays(large, 0, stream);
    COURSE_CHECK(other.launch(large, arrays.arguments(0, stream)));
    timer.start(stream);
    launch();
    return timer.stop(stream);
  };
  return version;
}

/// What a kernel with cache hints leaves to the next one: chapter 01's fastest version and the bulk
/// copy ask the L2 cache to keep their inputs (evict_last).
Study leftovers() {
  Study study = twice();
  study.name = "leftovers";
  study.title = "One copy right after another kernel";
  study.versions = {
      right_after("after_copy", "after a copy", course::copy_version("copy", Role::version)),
      right_after("after_hints", "after a copy with evict_last",
                  course::bulk_copy_version("bulk", Role::version))};
  study.sizes = {{{{"n", 1 << 20}}}, {{{"n", 1 << 22}}}, {{{"n", 1 << 24}}}};
  return study;
}

}  // namespace

int main(int argc, char** argv) {
  return course::run(argc, argv,
                     {"harness",
                      "the measuring engine measures itself",
                      {known_cycles(), launches(), programmatic(), pending_upload(), twice(),
                       leftovers(), memory(), naive_timing(), zeros()}});
}
