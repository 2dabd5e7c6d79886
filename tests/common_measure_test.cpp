// The measuring engine, which needs a GPU: sets of arrays, rows, anchors, the timer.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "chapter/input.hpp"
#include "common_device_test.hpp"
#include "exercise/exercise.hpp"
#include "kernels/device_ops.hpp"
#include "measure/measure.hpp"
#include "timer.hpp"

namespace harness {
cudaError_t spin(std::int64_t cycles, float* done, cudaStream_t stream);
cudaError_t spin_programmatic(std::int64_t cycles, float* done, cudaStream_t stream);
}  // namespace harness

namespace course {
extern const int exercise_number = 1;
}

namespace {

using course::Behind;
using course::Bench;
using course::Plan;
using course::Row;
using course::Sets;

// Sets

/// Arrays of several types, sizes and offsets.
class Mixed : public Problem {
 public:
  using Problem::Problem;
  std::vector<Array> inputs() const override {
    return {{"a", n(), Type::f32, seed(), 4}, {"b", n() / 2, Type::i64, seed() + 1}};
  }
  std::vector<Array> outputs() const override {
    return {{"c", n(), Type::f32, 0, 12}, {"d", 1, Type::f64}, {"e", n(), Type::i32}};
  }
  double bytes_read() const override { return 8.0 * static_cast<double>(n()); }
  double bytes_written() const override { return 8.0 * static_cast<double>(n()) + 8; }
  void expected(int, double*) const override {}
  Tolerance tolerance(int) const override { return {}; }
};

/// The arrays of a problem, inputs first, as Sets lays them out.
std::vector<Array> arrays_of(const Problem& problem) {
  std::vector<Array> arrays = problem.inputs();
  for (const Array& array : problem.outputs()) arrays.push_back(array);
  return arrays;
}

std::int64_t data_bytes(const Problem& problem) {
  std::int64_t bytes = 0;
  for (const Array& array : arrays_of(problem)) bytes += array.bytes();
  return bytes;
}

constexpr std::int64_t some_l2 = 24 << 20;

TEST(SetsOfArrays, AreAlignedAndApart) {
  COURSE_NEEDS_GPU(gpu);
  for (const std::int64_t n : {0, 1, 100, 100003, 3 << 20}) {
    SCOPED_TRACE("n = " + std::to_string(n));
    const Mixed problem(size_n(n), 1, Input::random);
    const Sets sets(problem, some_l2, nullptr);
    const std::vector<Array> arrays = arrays_of(problem);
    std::vector<std::pair<std::uintptr_t, std::uintptr_t>> ranges;
    for (int set = 0; set < sets.count(); ++set) {
      const Arguments arguments = sets.arguments(set, nullptr);
      ASSERT_EQ(arguments.inputs.size(), 2u);
      ASSERT_EQ(arguments.outputs.size(), 3u);
      std::vector<void*> pointers = arguments.inputs;
      for (void* output : arguments.outputs) pointers.push_back(output);
      for (std::size_t k = 0; k < arrays.size(); ++k) {
        ASSERT_EQ(misalignment(pointers[k]), static_cast<std::size_t>(arrays[k].offset_bytes));
        const auto first = reinterpret_cast<std::uintptr_t>(pointers[k]);
        ranges.emplace_back(first, first + static_cast<std::uintptr_t>(arrays[k].bytes()));
      }
    }
    std::sort(ranges.begin(), ranges.end());
    for (std::size_t k = 1; k < ranges.size(); ++k) {
      ASSERT_GE(ranges[k].first, ranges[k - 1].second) << "two arrays overlap";
    }
  }
}

TEST(SetsOfArrays, HoldInputsAndPoison) {
  COURSE_NEEDS_GPU(gpu);
  const std::int64_t n = 100003;
  const Mixed problem(size_n(n), 5, Input::random);
  Sets sets(problem, some_l2, nullptr);
  ASSERT_GT(sets.count(), 1);
  const auto wrong_outputs = [&](int set) {
    const Arguments arguments = sets.arguments(set, nullptr);
    int wrong = 0;
    for (std::size_t k = 0; k < arguments.outputs.size(); ++k) {
      const auto bytes = to_host<unsigned char>(arguments.outputs[k], problem.outputs()[k].bytes());
      wrong +=
          std::count(bytes.begin(), bytes.end(), 0xFF) != static_cast<std::ptrdiff_t>(bytes.size());
    }
    return wrong;
  };
  std::vector<float> first;
  for (const int set : {0, 1, sets.count() - 1}) {
    const Arguments arguments = sets.arguments(set, nullptr);
    const auto a = to_host<float>(arguments.inputs[0], n);
    if (set == 0) {
      first = a;
      for (std::int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(a[static_cast<std::size_t>(i)], course::value<float>(Input::random, 5, i)) << i;
      }
      const auto b = to_host<std::int64_t>(arguments.inputs[1], n / 2);
      for (std::int64_t i = 0; i < n / 2; ++i) {
        ASSERT_EQ(b[static_cast<std::size_t>(i)], course::value<std::int64_t>(Input::random, 6, i));
      }
    } else {
      EXPECT_EQ(a, first) << "set " << set;
    }
    EXPECT_EQ(wrong_outputs(set), 0) << "set " << set;
  }
  COURSE_CHECK(cudaMemset(sets.arguments(1, nullptr).outputs[1], 0, 8));
  EXPECT_EQ(wrong_outputs(1), 1);
  sets.poison_outputs(1, nullptr);
  COURSE_CHECK(cudaDeviceSynchronize());
  EXPECT_EQ(wrong_outputs(1), 0);
}

/// Cold means: between two launches on a set, three times the L2 cache of other data was accessed.
TEST(SetsOfArrays, AreColdExactlyIfTheirDataExceedThreeCaches) {
  COURSE_NEEDS_GPU(gpu);
  const std::int64_t sizes[] = {0,       1,       1000,           1 << 14, 1 << 18, 1 << 19,
                                1 << 20, 1 << 22, (1 << 19) + 16, 1 << 24, 1 << 25};
  for (const std::int64_t n : sizes) {
    SCOPED_TRACE("n = " + std::to_string(n));
    const CopyProblem problem(size_n(n), 1, Input::random);
    const Sets sets(problem, some_l2, nullptr);
    const std::int64_t data = data_bytes(problem) * sets.count();
    EXPECT_GE(sets.count(), 1);
    EXPECT_EQ(sets.exceed_l2(), data >= 3 * some_l2)
        << sets.count() << " sets with " << data / double(some_l2) << " caches of data";
    if (n >= 1 << 14) {
      EXPECT_TRUE(sets.exceed_l2()) << "large enough for sets to do it";
      EXPECT_LT(data_bytes(problem) * (sets.count() - 1), 3 * some_l2) << "one set too many";
    }
    EXPECT_GE(Sets::bytes_needed(problem, some_l2), data + 8 * n) << "with the reference";
  }
}

TEST(SetsOfArrays, OneIsEnoughWithoutACache) {
  COURSE_NEEDS_GPU(gpu);
  const CopyProblem problem(size_n(1000), 1, Input::random);
  EXPECT_EQ(Sets(problem, 0, nullptr).count(), 1);
}

// The measuring engine

/// A kernel that spins for size["cycles"] SM clock cycles; writes {cycles, nanoseconds} passed.
class Spin : public Problem {
 public:
  using Problem::Problem;
  std::vector<Array> inputs() const override { return {}; }
  std::vector<Array> outputs() const override { return {{"passed", 2, Type::i64}}; }
  double bytes_read() const override { return 0; }
  double bytes_written() const override { return 16; }
  void expected(int, double*) const override {}
  Tolerance tolerance(int) const override { return {}; }
};

Version spin_version() {
  Version version;
  version.id = "01_spin";
  version.launch = [](const Problem& p, const Arguments& a) {
    return course::launch_spin(p.size()["cycles"], a.out<std::int64_t>(0), a.stream);
  };
  return version;
}

/// A row and the objects that it refers to.
struct Measured {
  Measured(Version v, std::unique_ptr<Problem> p, Bench& bench, std::int64_t l2_bytes)
      : version(std::move(v)),
        problem(std::move(p)),
        row(version, *problem, std::make_shared<Sets>(*problem, l2_bytes, bench.stream()), bench) {}
  void measure(const Plan& plan = {}) {
    row.prepare(plan);
    while (row.sample(plan)) {
    }
  }
  Version version;
  std::unique_ptr<Problem> problem;
  Row row;
};

std::unique_ptr<Problem> spin_problem(std::int64_t cycles) {
  return std::make_unique<Spin>(Size{{{"cycles", cycles}}}, 1, Input::random);
}

TEST(Measure, AKernelOfKnownCyclesTakesItsTime) {
  COURSE_NEEDS_GPU(gpu);
  if (sanitized()) GTEST_SKIP() << "a sanitizer changes times";
  Bench bench(*gpu);
  for (const std::int64_t cycles : {20000, 200000, 2000000}) {
    SCOPED_TRACE(std::to_string(cycles) + " cycles");
    Measured spin(spin_version(), spin_problem(cycles), bench, 0);
    spin.measure();
    ASSERT_TRUE(spin.row.clock_mhz().has_value());
    const double want = static_cast<double>(cycles) / *spin.row.clock_mhz() * 1e-6;
    EXPECT_NEAR(spin.row.summary().median, want, 0.005 * want + 1.5e-6)
        << "at " << *spin.row.clock_mhz() << " MHz";
    EXPECT_LE(*spin.row.clock_mhz(), 1.005 * gpu->clock_mhz);
    EXPECT_GE(spin.row.seconds().size(), 10u);
    EXPECT_TRUE(spin.row.by_graph());

    // the kernel's own counters agree with the engine's clock
    const auto passed = to_host<std::int64_t>(spin.row.first_set().outputs[0], 2);
    EXPECT_GE(passed[0], cycles);
    EXPECT_LT(static_cast<double>(passed[0]), 1.02 * static_cast<double>(cycles) + 500);
    if (cycles == 2000000) {
      const double mhz = 1e3 * static_cast<double>(passed[0]) / static_cast<double>(passed[1]);
      EXPECT_NEAR(*spin.row.clock_mhz(), mhz, 0.05 * mhz);
    }
  }
}

TEST(Measure, PlainLaunchesTakeTheSameTimeAsAGraph) {
  COURSE_NEEDS_GPU(gpu);
  if (sanitized()) GTEST_SKIP() << "a sanitizer changes times";
  Bench bench(*gpu);
  Measured graph(spin_version(), spin_problem(200000), bench, 0);
  Measured plain(spin_version(), spin_problem(200000), bench, 0);
  plain.version.needs.capturable = false;
  graph.measure();
  plain.measure();
  EXPECT_TRUE(graph.row.by_graph());
  EXPECT_FALSE(plain.row.by_graph());
  EXPECT_FALSE(plain.row.shape().has_value());
  const double seconds = graph.row.summary().median;
  EXPECT_NEAR(plain.row.summary().median, seconds, 0.03 * seconds + 2.5e-6);
}

/// Seconds of a row with one spinning thread, launched ordinarily or programmatically.
double spin_seconds(Bench& bench, std::int64_t cycles, bool programmatic, Behind behind) {
  Version version = spin_version();
  version.behind = behind;
  version.launch = [programmatic](const Problem& p, const Arguments& a) {
    const auto spin = programmatic ? harness::spin_programmatic : harness::spin;
    return spin(p.size()["cycles"], a.out<float>(0), a.stream);
  };
  Measured row(version, spin_problem(cycles), bench, 0);
  row.measure();
  EXPECT_EQ(row.row.behind(), behind);
  return row.row.summary().median;
}

/// A kernel that may begin before the one in front of it has ended gains from a copy of itself, and
/// not from an ordinary kernel: a table must not show that gain. Launched after itself the kernel
/// does gain, which shows that this test would detect it.
TEST(Measure, ATableDoesNotFlatterProgrammaticLaunches) {
  COURSE_NEEDS_GPU(gpu);
  if (sanitized()) GTEST_SKIP() << "a sanitizer changes times";
  if (gpu->capability < 90) GTEST_SKIP() << "needs compute capability 9.0";
  Bench bench(*gpu);
  for (const std::int64_t cycles : {500, 2000, 6000}) {
    SCOPED_TRACE(std::to_string(cycles) + " cycles");
    const double ordinary = spin_seconds(bench, cycles, false, Behind::empty);
    const double programmatic = spin_seconds(bench, cycles, true, Behind::empty);
    const double ordinary_itself = spin_seconds(bench, cycles, false, Behind::itself);
    const double programmatic_itself = spin_seconds(bench, cycles, true, Behind::itself);
    EXPECT_GT(programmatic, ordinary - 0.1e-6);
    EXPECT_LT(programmatic_itself, ordinary_itself - 0.15e-6);
    EXPECT_NEAR(ordinary, ordinary_itself, 0.1e-6) << "nothing to gain, and nothing to lose";
  }
}

/// If launches are queued, the host's work is hidden, however slow it is; if they come from the
/// host one by one, it counts.
TEST(Measure, TheHostsWorkCountsWhereNothingIsHidden) {
  COURSE_NEEDS_GPU(gpu);
  if (sanitized()) GTEST_SKIP() << "a sanitizer changes times";
  Bench bench(*gpu);
  Version version = spin_version();
  version.launch = [](const Problem&, const Arguments& a) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(30);
    while (std::chrono::steady_clock::now() < end) {
    }
    return course::launch_spin(1000, a.out<std::int64_t>(0), a.stream);
  };
  const auto seconds = [&](bool capturable, Behind behind) {
    Version changed = version;
    changed.needs.capturable = capturable;
    changed.behind = behind;
    Measured row(changed, spin_problem(1000), bench, 0);
    row.measure();
    return row.row.summary().median;
  };
  EXPECT_LT(seconds(true, Behind::empty), 10e-6) << "replayed";
  EXPECT_LT(seconds(false, Behind::empty), 10e-6) << "queued";
  EXPECT_GT(seconds(true, Behind::host), 29e-6) << "from the host";
}

/// The time of the empty kernel is the same at all times, whatever graphs exist.
TEST(Measure, GraphsDoNotSlowEachOther) {
  COURSE_NEEDS_GPU(gpu);
  if (sanitized()) GTEST_SKIP() << "a sanitizer changes times";
  Bench bench(*gpu);
  const auto some = [&] {
    for (int k = 0; k < 500; ++k) COURSE_CHECK(course::launch_empty(bench.stream()));
  };
  const double alone = bench.measure_empty();
  std::vector<std::unique_ptr<course::Replay>> replays;
  for (int k = 0; k < 20; ++k) {
    replays.push_back(std::make_unique<course::Replay>(bench.stream(), some));
    if (k % 3 == 2) replays.erase(replays.begin());
    EXPECT_NEAR(bench.measure_empty(), alone, 0.05 * alone) << "with " << replays.size();
  }
}

TEST(Measure, TheSameVersionTwiceAgreesWithinOnePercent) {
  COURSE_NEEDS_GPU(gpu);
  if (sanitized()) GTEST_SKIP() << "a sanitizer changes times";
  Bench bench(*gpu);
  const CopyProblem problem(size_n(1 << 26), 1, Input::random);
  const Version versions[] = {course::copy_version("copy_a", Role::version),
                              course::copy_version("copy_b", Role::version)};
  auto sets = std::make_shared<Sets>(problem, gpu->l2_bytes, bench.stream());
  std::vector<std::unique_ptr<Row>> rows;
  for (const Version& version : versions) {
    rows.push_back(std::make_unique<Row>(version, problem, sets, bench));
    ASSERT_EQ(rows.back()->launch_once(), cudaSuccess);
    rows.back()->prepare(Plan{});
  }
  int rounds = 0, finished = -1;
  course::measure_in_turn(rows, Plan{}, [&](int done, int total) {
    EXPECT_EQ(total, 2);
    EXPECT_GE(done, finished);
    finished = done;
    ++rounds;
    return true;
  });
  EXPECT_EQ(finished, 2);
  EXPECT_GE(rounds, Plan{}.min_samples);
  const double a = rows[0]->summary().median, b = rows[1]->summary().median;
  EXPECT_NEAR(a, b, 0.01 * a);
  const double gbs = problem.bytes() / a * 1e-9;
  EXPECT_LT(gbs, gpu->peak_dram_gbs.value_or(HUGE_VAL)) << "faster than the pins";
}

TEST(Measure, StopsWhenToldTo) {
  COURSE_NEEDS_GPU(gpu);
  Bench bench(*gpu);
  const Version version = spin_version();
  const auto problem = spin_problem(1000);
  auto sets = std::make_shared<Sets>(*problem, 0, bench.stream());
  Plan plan;
  plan.warm_up_s = 1e-3;
  plan.batch_s = 1e-4;
  std::vector<std::unique_ptr<Row>> rows;
  rows.push_back(std::make_unique<Row>(version, *problem, sets, bench));
  rows[0]->prepare(plan);
  course::measure_in_turn(rows, plan, [](int, int) { return false; });
  EXPECT_EQ(rows[0]->seconds().size(), 1u);
}

TEST(Measure, LaunchesAreWholeTurnsThroughTheSets) {
  COURSE_NEEDS_GPU(gpu);
  if (sanitized()) GTEST_SKIP() << "a sanitizer changes times, and with them the batch";
  Bench bench(*gpu);
  for (const std::int64_t n : {1 << 10, 1 << 20, 1 << 24}) {
    SCOPED_TRACE("n = " + std::to_string(n));
    Measured copy(course::copy_version("copy", Role::version),
                  std::make_unique<CopyProblem>(size_n(n), 1, Input::random), bench, gpu->l2_bytes);
    const Sets sets(*copy.problem, gpu->l2_bytes, bench.stream());
    Plan plan;
    plan.warm_up_s = 1e-3;
    plan.batch_s = 4e-3;
    copy.row.prepare(plan);
    EXPECT_GE(copy.row.launches_per_sample(), 1);
    EXPECT_EQ(copy.row.launches_per_sample() % sets.count(), 0);
  }
}

TEST(Measure, ReadsTheShapeOfALaunch) {
  COURSE_NEEDS_GPU(gpu);
  Bench bench(*gpu);
  Plan plan;
  plan.warm_up_s = 1e-3;
  plan.batch_s = 1e-5;
  Measured copy(course::copy_version("copy", Role::version),
                std::make_unique<CopyProblem>(size_n(1 << 20), 1, Input::random), bench, 0);
  copy.row.prepare(plan);
  ASSERT_TRUE(copy.row.shape().has_value());
  const course::LaunchShape& shape = *copy.row.shape();
  EXPECT_EQ(shape.kernels, 1);
  // 16 bytes per thread: 2^18 threads, whatever the block size
  EXPECT_EQ(std::int64_t{shape.grid.x} * shape.block.x, 1 << 18);
  EXPECT_EQ(shape.grid.y * shape.grid.z * shape.block.y * shape.block.z, 1u);
  EXPECT_GT(shape.registers, 0);
  EXPECT_GE(shape.blocks_per_sm, 1);
  EXPECT_EQ(shape.shared_bytes, 0);

  Version two = spin_version();
  two.launch = [](const Problem&, const Arguments& a) {
    const cudaError_t error = course::launch_empty(a.stream);
    return error != cudaSuccess ? error : course::launch_spin(10, a.out<std::int64_t>(0), a.stream);
  };
  Measured both(two, spin_problem(10), bench, 0);
  both.row.prepare(plan);
  ASSERT_TRUE(both.row.shape().has_value());
  EXPECT_EQ(both.row.shape()->kernels, 2);
  EXPECT_EQ(both.row.shape()->block.x, 32u) << "the kernel with the most threads";
}

TEST(Measure, ReplayLeavesResultsToCheck) {
  COURSE_NEEDS_GPU(gpu);
  Bench bench(*gpu);
  Plan plan;
  plan.warm_up_s = 1e-3;
  plan.batch_s = 1e-5;
  for (const bool capturable : {true, false}) {
    Version version = copy_but("copy", 0);
    version.needs.capturable = capturable;
    Measured copy(version, std::make_unique<CopyProblem>(size_n(100003), 1, Input::random), bench,
                  some_l2);
    const course::References references(*copy.problem, bench.stream());
    EXPECT_EQ(copy.row.launch_once(), cudaSuccess);
    EXPECT_EQ(references.mismatch(copy.row.first_set()), "");
    copy.row.poison();
    EXPECT_TRUE(has(references.mismatch(copy.row.first_set()), "100003 of 100003 wrong in out"));
    copy.row.prepare(plan);
    copy.row.sample(plan);
    copy.row.replay();
    double largest = -1;
    EXPECT_EQ(references.mismatch(copy.row.first_set(), &largest), "");
    EXPECT_LE(largest, 0);
  }
}

TEST(Exercise, ChecksAgainAtTheSizeThatItMeasures) {
  COURSE_NEEDS_GPU(gpu);
  course::Exercise exercise;
  exercise.make = course::make_problem<CopyProblem>();
  exercise.compared = copy_but("compared", 0);
  exercise.size = size_n(1 << 20);
  const auto judge = [&](std::int64_t floats_too_few) {
    exercise.yours = copy_but("yours", floats_too_few);
    course::Report report;
    report.judged = course::Judged{};
    EXPECT_EQ(course::judge_speed(exercise, {}, *gpu, report), 1);
    return report.judged->reason;
  };
  EXPECT_TRUE(has(judge(1), "wrong at n=2^20: 1 of 1048576 wrong in out")) << judge(1);
  EXPECT_EQ(judge(0), "right, but no kernel was launched") << "the driver copies";
  exercise.size_on = [](const course::Device& device) { return size_n(1000 * device.sm_count); };
  const std::string size = std::to_string(1000 * gpu->sm_count);
  EXPECT_TRUE(has(judge(1), "wrong at n=" + size)) << judge(1);
}

TEST(Measure, GivesTheWorkspaceThatWasAskedFor) {
  COURSE_NEEDS_GPU(gpu);
  Bench bench(*gpu);
  Version version = copy_but("copy", 0);
  version.workspace_bytes = [](const Problem& p) { return static_cast<std::size_t>(p.n() + 1); };
  Measured copy(version, std::make_unique<CopyProblem>(size_n(1000), 1, Input::random), bench, 0);
  EXPECT_EQ(copy.row.first_set().workspace_bytes, 1001u);
  ASSERT_NE(copy.row.first_set().workspace, nullptr);
  COURSE_CHECK(cudaMemset(copy.row.first_set().workspace, 0, 1001));
}

TEST(Measure, Anchors) {
  COURSE_NEEDS_GPU(gpu);
  if (sanitized()) GTEST_SKIP() << "a sanitizer changes times";
  Bench bench(*gpu);
  const course::Anchors anchors = course::measure_anchors(
      bench, Plan{}, std::min<std::int64_t>(1 << 30, gpu->memory_bytes / 4));
  EXPECT_GT(anchors.read_gbs, 10);
  EXPECT_GT(anchors.copy_gbs, 10);
  EXPECT_FALSE(anchors.copy_by.empty());
  EXPECT_GT(anchors.empty_kernel_s, 1e-7);
  EXPECT_LT(anchors.empty_kernel_s, 1e-4);
  if (gpu->peak_dram_gbs) {
    EXPECT_LT(anchors.read_gbs, *gpu->peak_dram_gbs);
    EXPECT_LT(anchors.copy_gbs, *gpu->peak_dram_gbs);
    EXPECT_GT(anchors.copy_gbs, 0.3 * *gpu->peak_dram_gbs);
  }
}

TEST(Timer, MeasuresWhatIsBetweenItsMarks) {
  COURSE_NEEDS_GPU(gpu);
  if (sanitized()) GTEST_SKIP() << "a sanitizer changes times";
  const Buffer passed(16);
  auto* counters = static_cast<std::int64_t*>(passed.data());
  course::GpuTimer timer;
  COURSE_CHECK(course::launch_spin(1000, counters, nullptr));
  COURSE_CHECK(cudaDeviceSynchronize());
  timer.start();
  COURSE_CHECK(course::launch_spin(4000000, counters, nullptr));
  const double seconds = timer.stop();
  const double inside = 1e-9 * static_cast<double>(to_host<std::int64_t>(counters, 2)[1]);
  EXPECT_NEAR(seconds, inside, 0.03 * inside + 30e-6);
}

}  // namespace
