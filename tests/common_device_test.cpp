// The tests of common/ on a device, a GPU or the CPU backend: inputs and comparison, buffers, the
// check of a version. Tests with "Expects" in the name cause errors that compute-sanitizer reports.
#include "common_device_test.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>

#include "chapter/input.hpp"
#include "chapter/sizes.hpp"
#include "count/most_counted.hpp"
#include "error_of.hpp"
#include "kernels/device_ops.hpp"
#include "program/model_table.hpp"
#include "program/report.hpp"
#include "program/run.hpp"

#ifdef SIMT
/// In place of what a chapter's build generates from its results.
const course::Record& course::recorded() {
  static const Record record = {"NVIDIA X", "2026-01-01", "abc1234", {{"sequence", "v", 0, 4321}}};
  return record;
}
#endif

namespace {

constexpr Input families[] = {Input::random,    Input::integers,   Input::equal,
                              Input::ascending, Input::descending, Input::few_distinct,
                              Input::denormal,  Input::large};

template <class T>
Buffer to_device(const std::vector<T>& host) {
  Buffer buffer(host.size() * sizeof(T));
  if (!host.empty()) {
    COURSE_CHECK(cudaMemcpy(buffer.data(), host.data(), buffer.bytes(), cudaMemcpyHostToDevice));
  }
  return buffer;
}

template <class T>
constexpr Type type_of() {
  if (std::is_same_v<T, double>) return Type::f64;
  if (std::is_same_v<T, std::int32_t>) return Type::i32;
  if (std::is_same_v<T, std::uint32_t>) return Type::u32;
  return std::is_same_v<T, std::int64_t> ? Type::i64 : Type::f32;
}

// Texts, which need no GPU

cudaError_t fails() { return cudaErrorInvalidConfiguration; }

TEST(Check, ExpectsFileLineCallNameAndHint) {
  const int line = __LINE__ + 1;
  const course::Error error = error_of([] { COURSE_CHECK(fails()); });
  const std::string text = error.what();
  const std::string start = "common_device_test.cpp:" + std::to_string(line) + ": fails(): ";
  EXPECT_EQ(text.rfind(start, 0), 0u) << text << "\ndoes not start with\n" << start;
  EXPECT_TRUE(has(text, "cudaErrorInvalidConfiguration (")) << text;
  EXPECT_TRUE(has(text, "Hint: ") && has(text, "1024 threads")) << text;
  EXPECT_FALSE(has(text, "\n")) << text;
  EXPECT_EQ(error.exit_code, 1);
}

TEST(Check, EvaluatesTheCallOnce) {
  int calls = 0;
  const auto succeeds = [&] {
    ++calls;
    return cudaSuccess;
  };
  COURSE_CHECK(succeeds());
  EXPECT_EQ(calls, 1);
}

TEST(Check, HintsSayWhatToDo) {
  EXPECT_TRUE(has(course::describe(cudaErrorMemoryAllocation), "--size"));
  EXPECT_TRUE(has(course::describe(cudaErrorNoKernelImageForDevice), "architecture"));
#ifdef SIMT  // its checkers have already reported it
  EXPECT_TRUE(has(course::describe(cudaErrorIllegalAddress), "a line that begins with 'simt:'"));
  EXPECT_FALSE(has(course::describe(cudaErrorLaunchTimeout), "display"));
#else
  EXPECT_TRUE(has(course::describe(cudaErrorIllegalAddress), "compute-sanitizer"));
#endif
  EXPECT_TRUE(has(course::describe(cudaErrorNoDevice), "doctor"));
  const std::string plain = course::describe(cudaErrorNotReady);
  EXPECT_TRUE(has(plain, "cudaErrorNotReady (")) << plain;
  EXPECT_FALSE(has(plain, "Hint")) << plain;
}

TEST(DeviceText, Capability) {
  course::Device device;
  for (const auto& [capability, text] :
       {std::make_pair(75, "7.5"), {90, "9.0"}, {103, "10.3"}, {120, "12.0"}}) {
    device.capability = capability;
    EXPECT_EQ(device.capability_text(), text);
  }
}

TEST(DeviceText, ShortName) {
  const std::pair<const char*, const char*> names[] = {
      {"NVIDIA H200", "h200"},
      {"NVIDIA GeForce RTX 4090", "rtx4090"},
      {"NVIDIA GeForce RTX 3060 Laptop GPU", "rtx3060laptopgpu"},
      {"NVIDIA A100-SXM4-80GB", "a100sxm4"},
      {"NVIDIA H100 80GB HBM3", "h100"},
      {"NVIDIA H100 PCIe", "h100pcie"},
      {"Tesla T4", "t4"},
      {"Quadro RTX 6000", "rtx6000"},
      {"NVIDIA", "gpu"},
      {"", "gpu"}};
  course::Device device;
  for (const auto& [name, text] : names) {
    device.name = name;
    EXPECT_EQ(device.short_name(), text) << name;
  }
}

TEST(Missing, SaysWhatIsMissing) {
  course::Device device;
  device.capability = 80;
  const CopyProblem problem(size_n(1 << 20), 1, Input::random);
  Version version = copy_but("01_copy", 0);
  EXPECT_EQ(course::missing(version, problem, device), "");
  version.needs.capability = 80;
  EXPECT_EQ(course::missing(version, problem, device), "");
  version.needs.max_n = 1 << 20;
  EXPECT_EQ(course::missing(version, problem, device), "");
  version.needs.max_n = 1 << 19;
  EXPECT_TRUE(has(course::missing(version, problem, device), "2^19"));
  version.needs.capability = 90;
  const std::string why = course::missing(version, problem, device);
  EXPECT_TRUE(has(why, "needs compute capability 9.0") && has(why, "8.0")) << why;
  version = Version{};
  EXPECT_TRUE(has(course::missing(version, problem, device), "did not compile"));
}

TEST(MemoryLimit, IsTheAnchorsForWhatTheyMeasured) {
  course::Anchors anchors;
  anchors.read_gbs = 4400;
  anchors.copy_gbs = 4000;
  const course::ReadProblem read(size_n(1 << 20), 1, Input::random);
  const CopyProblem copy(size_n(1 << 20), 1, Input::random);
  const course::Limit of_reads = course::memory_limit(anchors, read);
  const course::Limit of_copies = course::memory_limit(anchors, copy);
  EXPECT_NEAR(of_reads.value, 4400, 1e-6);
  EXPECT_NEAR(of_copies.value, 4000, 1e-6);
  EXPECT_EQ(of_copies.unit, "GB/s");
  EXPECT_TRUE(has(of_copies.how, "4400") && has(of_copies.how, "4000")) << of_copies.how;
}

TEST(Table, Times) {
  EXPECT_EQ(course::time_text(1.2344e-6), "1.234 us");
  EXPECT_EQ(course::time_text(12.346e-6), "12.35 us");
  EXPECT_EQ(course::time_text(732.04e-6), "732.0 us");
  EXPECT_EQ(course::time_text(1.5e-3), "1.500 ms");
  EXPECT_EQ(course::time_text(2.5), "2.500 s");
}

/// Every line of a text ends with a newline and fits into the terminal.
void expect_lines(const std::string& text) {
  ASSERT_FALSE(text.empty());
  EXPECT_EQ(text.back(), '\n') << "no end of line: " << text;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(Table, LinesFitEightyColumns) {
  Study study;
  course::Result result;
  result.version = "07_a_version_with_a_name_that_is_far_too_long";
  result.size = size_n(1 << 28);
  result.work = {3.2e9, 1e9, "GB/s"};
  result.seconds = {736.1e-6, 736.2e-6, 736.3e-6};
  result.limit = course::Limit{"copy", 4400, "GB/s", "measured"};
  result.verified = true;
  for (const char* axis : {"", "n"}) {
    study.axis = axis;
    expect_lines(course::table_header(study, "Mlaunch/s"));
    expect_lines(course::table_row(study, result, 4000));
  }
  EXPECT_TRUE(has(course::table_row(study, result, 4000), "736.2 us"));
  result.seconds.clear();
  expect_lines(course::table_row(study, result, 0));
  result.skipped = "needs compute capability 9.0, this GPU has 8.0";
  expect_lines(course::table_row(study, result, 0));
}

TEST(Table, ALimitInBytesCountsBytesWhateverTheRateCounts) {
  course::Result result;
  result.seconds = {1e-3};
  result.bytes = 2e9;
  result.work = {2e9, 1e9, "GB/s"};
  result.limit = course::Limit{"read and write mix", 4000, "GB/s", "measured"};
  EXPECT_DOUBLE_EQ(result.of_limit(), 0.5);
  result.work = {2.5e8, 1e9, "Gkeys/s"};
  EXPECT_DOUBLE_EQ(result.rate(), 250);
  EXPECT_DOUBLE_EQ(result.of_limit(), 0.5);
  result.limit = course::Limit{"as many keys", 500, "Gkeys/s", "derived"};
  EXPECT_DOUBLE_EQ(result.of_limit(), 0.5);
}

TEST(Table, AFailureEndsItsLineHoweverLong) {
  Study study;
  course::Result result;
  result.version = "07_wrong";
  for (const std::size_t length : {30u, 150u, 171u, 172u, 200u, 1000u}) {
    result.failure = std::string(length, 'x');
    const std::string row = course::table_row(study, result, 0);
    EXPECT_TRUE(has(row, "FAILED"));
    EXPECT_EQ(row.back(), '\n') << length << " characters";
  }
}

#ifdef SIMT
TEST(ModelTable, HidesWhatWasRecordedFromThoseWhoGuess) {
  Study study;
  study.name = "sequence";
  course::Result result;
  for (const bool hide : {false, true}) {
    result.version = "v";
    EXPECT_EQ(has(course::model_row(study, result, hide), "4321"), !hide);
    EXPECT_EQ(has(course::model_row(study, result, hide), "?"), hide);
    EXPECT_EQ(has(course::model_footer(true, hide), "--hide-recorded"), hide);
    result.version = "unrecorded";
    EXPECT_FALSE(has(course::model_row(study, result, hide), "?"));
  }
}

TEST(ModelTable, LinesFitEightyColumns) {
  Study study;
  course::Result result;
  result.version = "07_a_version_with_a_name_that_is_far_too_long";
  result.size = size_n(1 << 28);
  result.verified = true;
  course::Model model;
  model.global_loads = model.global_stores = {3, 96};
  model.shared_loads = model.shared_stores = {3, 96};
  model.warps = 7;
  model.barriers = 700;
  model.warp_steps = 10;
  model.lane_steps = 320;
  result.model = model;
  for (const char* axis : {"", "n"}) {
    study.axis = axis;
    expect_lines(course::model_header(study, "Mlaunch/s"));
    expect_lines(course::model_row(study, result));
    result.verified = !result.verified;
  }
  study.axis = "n";
  const std::string row = course::model_row(study, result);
  for (const char* part : {"07_a_version", " 2^28", "32.00", "100", "100%", "ok"}) {
    EXPECT_TRUE(has(row, part)) << row;
  }
  result.skipped = "needs compute capability 99.9, this GPU has 9.0";
  expect_lines(course::model_row(study, result));
  expect_lines(course::model_footer(true));
}

TEST(ModelTable, TheLegendNamesTheColumnsOfAnyReport) {
  course::Model global, shared;
  global.global_stores.requests = 1;
  shared.shared_atomics.requests = 1;
  shared.exact = false;
  const auto legend = [](const std::vector<course::Model>& models) {
    return course::report_legend(models);
  };
  EXPECT_TRUE(has(legend({global}), "sectors"));
  EXPECT_FALSE(has(legend({global}), "wavefronts"));
  EXPECT_FALSE(has(legend({shared}), "sectors"));
  for (const char* part : {"sectors", "wavefronts", "not exact"}) {
    EXPECT_TRUE(has(legend({global, shared}), part)) << part;
  }
  expect_lines(legend({global, shared}));
}

TEST(MostCounted, NamesTheFirstFinding) {
  course::Model counts;  // of a kernel of 10 blocks of 64 threads, twice as much as would do
  counts.global_loads = counts.global_stores = {10, 80, 10};
  counts.shared_loads = counts.shared_stores = {20, 40, 20};
  counts.global_atomics = {40, 40, 40};
  counts.engine_read = 640 * 8;
  counts.warps = 20;
  counts.barriers = 40;
  counts.parts = {counts};
  course::MostCounted most;
  EXPECT_FALSE(most.any());
  EXPECT_EQ(course::too_many(most, counts, 640), "") << "nothing is judged";
  const auto expect = [&](double course::MostCounted::*bound, double few, const char* text) {
    most = {};
    most.*bound = 2 * few;
    EXPECT_TRUE(most.any());
    EXPECT_EQ(course::too_many(most, counts, 640, 1280), "");
    most.*bound = 1.99 * few;  // one count in a hundred too many
    EXPECT_NE(course::too_many(most, counts, 640, 1280), "") << text;
    most.*bound = few;
    EXPECT_EQ(course::too_many(most, counts, 640, 1280), text);
  };
  using M = course::MostCounted;
  expect(&M::load_sectors, 4, "uncoalesced: 8 sectors per load request, 4 would do");
  expect(&M::store_sectors, 4, "uncoalesced: 8 sectors per store request, 4 would do");
  expect(&M::read_wavefronts, 1,
         "bank conflicts: 2 wavefronts per read of shared memory, 1 would do");
  expect(&M::write_wavefronts, 1,
         "bank conflicts: 2 wavefronts per write of shared memory, 1 would do");
  counts.shared_atomics = {20, 40, 20};
  expect(&M::atomic_wavefronts, 1,
         "bank conflicts: 2 wavefronts per atomic of shared memory, 1 would do");
  expect(&M::load_requests, 0.25, "0.5 load requests per 32 elements, 0.25 would do");
  expect(&M::atomic_requests, 1, "2 atomics per 32 elements, 1 would do");
  expect(&M::read_requests, 0.5, "1 reads of shared memory per 32 elements, 0.5 would do");
  expect(&M::read_wavefronts_per_multiply, 1,
         "2 wavefronts of shared memory per multiplication of a warp, 1 would do");
  expect(&M::bytes_per_element, 4, "it moves 8 bytes per element, 4 would do");
  expect(&M::bulk_bytes_per_element, 4, "bulk copies read 8 bytes per element, 4 would do");
  expect(&M::barriers_per_block, 1, "2 barriers per block, 1 would do");
  counts.blocks = 10;
  counts.engine_read_most = 2048;
  expect(&M::bulk_bytes_per_block, 1024, "bulk copies read 2 KiB per block, 1 would do");
  counts.shared_bytes = 256;
  expect(&M::shared_bytes, 128, "256 bytes of shared memory per block, 128 would do");
  counts.launches = 2;
  expect(&M::launches, 1, "2 launches, 1 would do");
}

TEST(Totals, AreJudgedBesideTheSolutions) {
  const course::Totals solution = {1000, 100, 50};
  course::Model counts;  // the same counts as the solution
  counts.global_loads = {200, 500, 200};
  counts.global_stores = {200, 400, 200};
  counts.engine_read = 3200;
  counts.shared_loads = {100, 100, 100};
  counts.busiest = 50;
  counts.lanes = 500 * 32;
  counts.blocks = 2;
  counts.launches = 1;
  const auto judged = [&] {
    const std::string few = course::too_few_at_work(solution, {}, counts);
    return few.empty() ? course::too_much(solution, {}, counts) : few;
  };
  EXPECT_EQ(judged(), "");
  counts.busiest = 217;
  EXPECT_EQ(judged(),
            "one after the other: 217 requests to memory in turn, 50 would do; 2 blocks, 1 "
            "launch, 32 of 32 lanes at work");
  counts.busiest = 216;
  EXPECT_EQ(judged(), "");
  counts.global_loads.words = 512 * 217;  // by more warps than run at the same time
  EXPECT_EQ(judged().substr(0, 26), "one after the other: 218 r");
  counts.global_loads = {200, 1001, 200};
  EXPECT_EQ(judged(), "it moves 1501 sectors in all, 1000 would do");
  counts.global_loads.units = 500;
  counts.shared_loads.units = 1001;
  EXPECT_EQ(judged(), "shared memory takes 1001 wavefronts in all, 100 would do");
  counts.shared_loads.units = 1000;  // no more than sectors
  EXPECT_EQ(judged(), "");
  counts.shared_loads.units = 4000;
  counts.global_loads.units = 3000;  // 2.3 times the limit, and the others four times
  EXPECT_EQ(judged(), "shared memory takes 4000 wavefronts in all, 100 would do");
  counts.lanes = 8 * 500;
  EXPECT_EQ(judged(),
            "shared memory takes 4000 wavefronts in all, 100 would do; 2 blocks, 1 launch, "
            "8 of 32 lanes at work");
}

TEST(MostCounted, AllowsWideAccessesAsManyBytes) {
  course::Model counts;
  counts.global_loads = {10, 160, 40};  // of 16 bytes, contiguous
  course::MostCounted most;
  most.load_sectors = 4;
  EXPECT_EQ(course::too_many(most, counts, 0), "");
  counts.global_loads.units = 320;
  EXPECT_EQ(course::too_many(most, counts, 0),
            "uncoalesced: 32 sectors per load request, 16 would do");
}

TEST(MostCounted, TakesTheKernelWithMostBarriers) {
  course::Model few, many;
  few.warps = 99;
  many.warps = 1;
  many.barriers = 3;
  course::Model counts;
  counts.parts = {few, many, few};
  course::MostCounted most;
  most.barriers_per_block = 1;
  EXPECT_EQ(course::too_many(most, counts, 1), "3 barriers per block, 1 would do");
}

TEST(CpuSizes, AreTheMeasuredOnesMadeSmaller) {
  Study study;
  study.make = course::make_problem<CopyProblem>();
  study.sizes = {size_n(1000), size_n(1 << 28), size_n(1 << 26), size_n(1 << 25)};
  const std::vector<Size> sizes = {size_n(1000), size_n(1 << 20), size_n(1 << 19)};
  EXPECT_TRUE(course::own_sizes(study) == sizes) << "each once";
  study.cpu_sizes = {size_n(77)};
  EXPECT_TRUE(course::own_sizes(study) == study.cpu_sizes);
}

TEST(Missing, SaysWhatNeedsAGpu) {
  course::Device device;
  device.capability = 90;
  device.simulated = true;
  const CopyProblem problem(size_n(1 << 20), 1, Input::random);
  Version version;
  EXPECT_EQ(course::missing(version, problem, device), "did not compile");
  version.needs.capability = 90;
  EXPECT_EQ(course::missing(version, problem, device), "needs a GPU");
  version.role = Role::peer;
  version.needs.library = "CUB";
  EXPECT_EQ(course::missing(version, problem, device), "peer: needs a GPU and CUB");
}
#endif

// Inputs on the device

template <class T>
class OnDevice : public testing::Test {};
using AllTypes = testing::Types<float, double, std::int32_t, std::uint32_t, std::int64_t>;
TYPED_TEST_SUITE(OnDevice, AllTypes);

TYPED_TEST(OnDevice, FillWritesTheValuesOfTheHost) {
  COURSE_NEEDS_GPU(gpu);
  for (const Input input : families) {
    for (const std::int64_t n : {1, 255, 100003}) {
      Array array{"a", n, type_of<TypeParam>(), 20261120};
      const Buffer buffer(static_cast<std::size_t>(array.bytes()));
      course::fill(array, input, buffer.data(), nullptr);
      const auto got = to_host<TypeParam>(buffer.data(), n);
      std::vector<TypeParam> want(got.size());
      for (std::int64_t i = 0; i < n; ++i) {
        want[static_cast<std::size_t>(i)] = course::value<TypeParam>(input, array.seed, i);
      }
      EXPECT_EQ(std::memcmp(got.data(), want.data(), want.size() * sizeof(TypeParam)), 0)
          << name_of(input) << ", n = " << n;
    }
  }
}

TYPED_TEST(OnDevice, FillLeavesOutTheSignsThatTheArrayNames) {
  COURSE_NEEDS_GPU(gpu);
  for (const std::int64_t every : {1, 4, 7}) {
    Array array{"a", 1003, type_of<TypeParam>(), 3};
    array.magnitude_every = every;
    const Buffer buffer(static_cast<std::size_t>(array.bytes()));
    course::fill(array, Input::random, buffer.data(), nullptr);
    const auto got = to_host<TypeParam>(buffer.data(), array.count);
    for (std::int64_t i = 0; i < array.count; ++i) {
      ASSERT_EQ(got[static_cast<std::size_t>(i)],
                course::value<TypeParam>(Input::random, 3, i, every))
          << i << ", every " << every;
    }
  }
}

TEST(Fill, StaysInsideItsArray) {
  COURSE_NEEDS_GPU(gpu);
  const Buffer buffer(4 * 1000);
  COURSE_CHECK(cudaMemset(buffer.data(), 0xFF, buffer.bytes()));
  float* middle = static_cast<float*>(buffer.data()) + 100;
  course::fill({"none", 0, Type::f32, 1}, Input::equal, middle, nullptr);
  course::fill({"a", 257, Type::f32, 1}, Input::equal, middle, nullptr);
  const auto got = to_host<float>(buffer.data(), 1000);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool inside = i >= 100 && i < 357;
    EXPECT_TRUE(inside ? got[i] == 1 : std::isnan(got[i])) << i << ": " << got[i];
  }
}

TEST(Fill, AndCompareStrideOverLargeArrays) {  // more elements than threads in their grids
  COURSE_NEEDS_GPU(gpu);
  const std::int64_t n = (1 << 23) + 5;
  const Array array{"a", n, Type::f32, 3};
  const Buffer buffer(static_cast<std::size_t>(array.bytes()));
  course::fill(array, Input::random, buffer.data(), nullptr);
  std::vector<double> want(static_cast<std::size_t>(n));
  CopyProblem(size_n(n), 3, Input::random).expected(0, want.data());
  const Buffer wanted = to_device(want);
  const auto compare = [&] {
    return course::compare(array, buffer.data(), static_cast<const double*>(wanted.data()),
                           {0, 0, true}, nullptr);
  };
  EXPECT_TRUE(compare().ok()) << course::text(compare(), n, "a");
  const float two = 2;
  COURSE_CHECK(cudaMemcpy(static_cast<float*>(buffer.data()) + n - 1, &two, sizeof two,
                          cudaMemcpyHostToDevice));
  const Mismatch found = compare();
  EXPECT_EQ(found.count, 1u);
  EXPECT_EQ(found.first, n - 1);
  EXPECT_EQ(found.got, 2);
  EXPECT_EQ(found.want, want.back());
  EXPECT_EQ(found.largest_error, 2 - want.back());
}

// Comparison on the device

template <class T>
Mismatch on_host(const std::vector<T>& got, const std::vector<double>& want, Tolerance t) {
  const auto count = static_cast<std::int64_t>(got.size());
  if constexpr (std::is_floating_point_v<T>) {
    if (!t.bits) return course::close(got.data(), want.data(), count, t.absolute, t.relative);
  }
  return course::same_bits(got.data(), want.data(), count);
}

/// The device must find the same as the host, in every field.
template <class T>
void expect_same_finding(const std::vector<T>& got, const std::vector<double>& want) {
  std::vector<Tolerance> tolerances = {{0, 0, true}};
  if (std::is_floating_point_v<T>) tolerances.push_back({1e-3, 1e-4, false});
  const Buffer device_got = to_device(got), device_want = to_device(want);
  const Array array{"a", static_cast<std::int64_t>(got.size()), type_of<T>()};
  for (const Tolerance& tolerance : tolerances) {
    SCOPED_TRACE(tolerance.bits ? "same bits" : "close");
    const Mismatch host = on_host(got, want, tolerance);
    const Mismatch device =
        course::compare(array, device_got.data(), static_cast<const double*>(device_want.data()),
                        tolerance, nullptr);
    EXPECT_EQ(device.count, host.count);
    EXPECT_EQ(device.first, host.first);
    EXPECT_EQ(device.largest_error, host.largest_error);
    EXPECT_TRUE(device.got == host.got || (std::isnan(device.got) && std::isnan(host.got)));
    EXPECT_TRUE(device.want == host.want || (std::isnan(device.want) && std::isnan(host.want)));
    EXPECT_EQ(text(device, array.count, "a"), text(host, array.count, "a"));
  }
}

/// Arrays of `n` values and their exact reference.
template <class T>
std::pair<std::vector<T>, std::vector<double>> right(std::int64_t n) {
  std::vector<T> got;
  for (std::int64_t i = 0; i < n; ++i) got.push_back(course::value<T>(Input::random, 9, i));
  return {got, std::vector<double>(got.begin(), got.end())};
}

TYPED_TEST(OnDevice, CompareFindsWhatTheHostFinds) {
  COURSE_NEEDS_GPU(gpu);
  for (const std::int64_t n : {1, 33, 256, 70001}) {
    SCOPED_TRACE("n = " + std::to_string(n));
    const auto [got, want] = right<TypeParam>(n);
    expect_same_finding(got, want);
    for (const int faults : {1, 7, 1000}) {
      auto wrong = got;
      for (int k = 0; k < faults; ++k) {
        const std::uint64_t bits = course::mix(5, static_cast<std::uint64_t>(k));
        const auto at = static_cast<std::size_t>(bits % static_cast<std::uint64_t>(n));
        wrong[at] = static_cast<TypeParam>(wrong[at] + static_cast<TypeParam>(1 + bits % 100));
      }
      expect_same_finding(wrong, want);
    }
    auto tail = got;
    tail.back() = static_cast<TypeParam>(tail.back() - 1);
    expect_same_finding(tail, want);
    expect_same_finding(std::vector<TypeParam>(got.size(), 0), want);
    expect_same_finding(std::vector<TypeParam>(got.size(), 0), std::vector<double>(got.size(), 0));
  }
}

template <class T>
class FloatsOnDevice : public testing::Test {};
using FloatTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(FloatsOnDevice, FloatTypes);

TYPED_TEST(FloatsOnDevice, CompareKnowsNanInfinityZerosAndDenormals) {
  COURSE_NEEDS_GPU(gpu);
  using Limits = std::numeric_limits<TypeParam>;
  const auto [got, want] = right<TypeParam>(70001);
  const TypeParam tiny = Limits::denorm_min(), zero = 0;
  for (const TypeParam odd :
       {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), Limits::max(), tiny, -zero}) {
    SCOPED_TRACE(odd);
    auto one = got;
    one[12345] = odd;
    expect_same_finding(one, want);
    auto tail = got;
    std::fill(tail.begin() + 69000, tail.end(), odd);
    expect_same_finding(tail, want);
    expect_same_finding(std::vector<TypeParam>(got.size(), odd), want);
    // all are expected values: infinity is close to nothing, -0 is close to +0 but has other bits
    const std::vector<TypeParam> few = {odd, zero, -zero, tiny, -tiny, 1};
    expect_same_finding(few, std::vector<double>(few.begin(), few.end()));
    expect_same_finding(few, {static_cast<double>(odd), -0.0, 0.0, 0, 0, 1});
    expect_same_finding(few, {HUGE_VAL, HUGE_VAL, 0, 0, 0, -HUGE_VAL});
  }
}

TEST(Compare, OfNothingIsRight) {
  COURSE_NEEDS_GPU(gpu);
  EXPECT_TRUE(course::compare({"a", 0, Type::f32}, nullptr, nullptr, {0, 0, true}, nullptr).ok());
}

TYPED_TEST(OnDevice, CompareLooksAtASampleOnly) {
  COURSE_NEEDS_GPU(gpu);
  const auto [all, reference] = right<TypeParam>(1003);
  const std::vector<std::int64_t> sample = {0, 7, 500, 501, 1002};
  std::vector<double> want;
  for (const std::int64_t i : sample) want.push_back(reference[static_cast<std::size_t>(i)]);
  const Buffer device_want = to_device(want), device_sample = to_device(sample);
  const Array array{"a", 1003, type_of<TypeParam>()};
  const auto compare = [&](const std::vector<TypeParam>& got) {
    return course::compare_sample(
        array, to_device(got).data(), static_cast<const double*>(device_want.data()),
        static_cast<const std::int64_t*>(device_sample.data()), 5, {0, 0, true}, nullptr);
  };
  EXPECT_TRUE(compare(all).ok());
  auto got = all;
  for (std::size_t i = 1; i < 7; ++i) got[i] = static_cast<TypeParam>(got[i] + 1);
  EXPECT_TRUE(compare(got).ok()) << "wrong outside of the sample";
  got[501] = static_cast<TypeParam>(got[501] + 1);
  got[1002] = static_cast<TypeParam>(got[1002] + 1);
  const Mismatch found = compare(got);
  EXPECT_EQ(found.count, 2u);
  EXPECT_EQ(found.first, 501) << "the element, not its place in the sample";
  EXPECT_EQ(found.got, static_cast<double>(got[501]));
  EXPECT_EQ(found.want, want[3]);
}

// Buffers

TEST(Buffers, HaveTheSizeAndTheOffset) {
  COURSE_NEEDS_GPU(gpu);
  for (const std::size_t bytes : {0, 1, 3, 4, 255, 256, 257, 4100, 5000001}) {
    for (const std::size_t offset : {0, 4, 16, 100, 252}) {
      const Buffer buffer(bytes, offset);
      EXPECT_EQ(buffer.bytes(), bytes);
      EXPECT_NE(buffer.data(), nullptr);
      EXPECT_EQ(misalignment(buffer.data()), offset);
      COURSE_CHECK(cudaMemset(buffer.data(), 1, bytes));
    }
  }
}

TEST(Buffers, PoisonIsNanInEveryByte) {
  COURSE_NEEDS_GPU(gpu);
  if (course::under_initcheck()) GTEST_SKIP() << "initcheck looks for unwritten memory itself";
  for (const std::size_t bytes : {1, 4, 1001, 1 << 20}) {
    Buffer buffer(bytes, 4);
    COURSE_CHECK(cudaMemset(buffer.data(), 0, bytes));
    buffer.poison();
    const auto got = to_host<unsigned char>(buffer.data(), static_cast<std::int64_t>(bytes));
    EXPECT_EQ(std::count(got.begin(), got.end(), 0xFF), static_cast<std::ptrdiff_t>(bytes));
  }
  Buffer nothing(0);
  nothing.poison();
  COURSE_CHECK(cudaDeviceSynchronize());
}

TEST(Buffers, Move) {
  COURSE_NEEDS_GPU(gpu);
  Buffer first(100, 4);
  void* data = first.data();
  const Buffer second(std::move(first));
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(second.bytes(), 100u);
  EXPECT_EQ(first.data(), nullptr);
  EXPECT_EQ(first.bytes(), 0u);
}

/// On a GPU that has such memory, and on the CPU backend, which gives ordinary memory.
TEST(Buffers, MayBeCompressible) {
  COURSE_NEEDS_GPU(gpu);
  const std::size_t bytes = (3 << 20) + 5;  // no whole pages
  std::optional<Buffer> first;
  try {
    first.emplace(Buffer::compressible(bytes));
  } catch (const course::Error& error) {
    ASSERT_TRUE(has(error.what(), "this GPU has no compressible memory")) << error.what();
    GTEST_SKIP() << error.what();
  }
  EXPECT_EQ(first->bytes(), bytes);
  void* const data = first->data();
  const Buffer second(std::move(*first));
  first.reset();  // it owns nothing any more
  EXPECT_EQ(second.data(), data);
  COURSE_CHECK(cudaMemset(second.data(), 7, bytes));
  const auto got = to_host<unsigned char>(second.data(), static_cast<std::int64_t>(bytes));
  EXPECT_EQ(std::count(got.begin(), got.end(), 7), static_cast<std::ptrdiff_t>(bytes));
}

TEST(Buffers, ExpectsAnErrorWhenTheDeviceIsFull) {
  COURSE_NEEDS_GPU(gpu);
  const course::Error error = error_of([] { Buffer(std::size_t{1} << 50); });
  EXPECT_TRUE(has(error.what(), "cudaErrorMemoryAllocation")) << error.what();
  EXPECT_TRUE(has(error.what(), "--size")) << error.what();
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "a later call would report it once more";
  const Buffer next(100);
  EXPECT_NE(next.data(), nullptr);
}

// The course's own versions

TEST(OwnVersions, CopyEveryElementOfAnySize) {
  COURSE_NEEDS_GPU(gpu);
  const Version versions[] = {course::copy_version("copy", Role::limit),
                              course::bulk_copy_version("bulk_copy", Role::limit),
                              course::memcpy_version("memcpy", Role::limit)};
  for (const Version& version : versions) {
    if (gpu->simulated && version.id == "bulk_copy") continue;  // inline PTX
    for (const std::int64_t n : {0, 1, 2, 3, 4, 5, 31, 32, 33, 2047, 2048, 2049, 65537, 1000003}) {
      SCOPED_TRACE(version.id + ", n = " + std::to_string(n));
      const CopyProblem problem(size_n(n), 1, Input::random);
      const Outcome outcome = course::verify(version, problem, *gpu);
      if (outcome.state != Outcome::skipped) {
        EXPECT_EQ(outcome.state, Outcome::passed) << outcome.why;
      }
    }
  }
}

TEST(OwnVersions, ReadsWriteNothing) {
  COURSE_NEEDS_GPU(gpu);
  for (const Input input : {Input::random, Input::integers, Input::equal}) {
    for (const std::int64_t n : {0, 1, 5, 65536, 1000003}) {
      const course::ReadProblem problem(size_n(n), 1, input);
      const Outcome outcome =
          course::verify(course::read_version("read", Role::limit), problem, *gpu);
      EXPECT_EQ(outcome.state, Outcome::passed) << name_of(input) << " " << n << outcome.why;
    }
  }
}

/// One more kernel, the same result; and an error of the row itself, with nothing after it.
TEST(OwnVersions, ThenReadPutsAReaderBehind) {
  COURSE_NEEDS_GPU(gpu);
  course::Study study;
  study.versions = {course::copy_version("copy", Role::limit)};
  const Version both = course::then_read(study).versions.front();
  EXPECT_EQ(both.id, "copy");
  for (const std::int64_t n : {0, 1, 5, 2049, 65537}) {
    const CopyProblem problem(size_n(n), 1, Input::random);
    const Outcome outcome = course::verify(both, problem, *gpu);
    EXPECT_EQ(outcome.state, Outcome::passed) << n << outcome.why;
  }
  const Buffer in(4 * 2049), out(4 * 2049);
  course::Arguments arguments;
  arguments.inputs = {in.data()};
  arguments.outputs = {out.data()};
  EXPECT_NE(both.launch(CopyProblem(size_n(-1), 1, Input::random), arguments), cudaSuccess);
#ifndef SIMT
  const CopyProblem problem(size_n(2049), 1, Input::random);
  const auto nodes = [&](const Version& version) {
    return course_test::captured_nodes([&](cudaStream_t stream) {
      arguments.stream = stream;
      COURSE_CHECK(version.launch(problem, arguments));
    });
  };
  EXPECT_EQ(nodes(both), nodes(study.versions.front()) + 1);
#endif
}

// The check of a version

constexpr std::int64_t checked_n = 1003;

Outcome verify(const Version& version, const course::Device& gpu) {
  return course::verify(version, CopyProblem(size_n(checked_n), 1, Input::random), gpu);
}

/// Verifies that a version fails and that the reason says so.
void expect_failure(const Version& version, const course::Device& gpu, const std::string& reason) {
  const Outcome outcome = verify(version, gpu);
  EXPECT_EQ(outcome.state, Outcome::failed);
  EXPECT_TRUE(has(outcome.why, reason)) << outcome.why;
  EXPECT_FALSE(has(outcome.why, "\n")) << outcome.why;
}

/// Overwrites 4 bytes after the copy, in the output or in the input.
Spoil overwrite(bool output, std::int64_t element, int byte) {
  return [=](const Problem&, const Arguments& a) {
    char* base = static_cast<char*>(output ? a.outputs[0] : a.inputs[0]);
    return cudaMemsetAsync(base + 4 * element, byte, 4, a.stream);
  };
}

TEST(Verify, PassesWhatIsRight) {
  COURSE_NEEDS_GPU(gpu);
  const Outcome outcome = verify(copy_but("01_right", 0), *gpu);
  EXPECT_EQ(outcome.state, Outcome::passed) << outcome.why;
  EXPECT_EQ(outcome.why, "");
}

TEST(Verify, CatchesAWrongElementAtTheTail) {
  COURSE_NEEDS_GPU(gpu);
  expect_failure(copy_but("01_tail", 0, overwrite(true, checked_n - 1, 0)), *gpu,
                 "1 of 1003 wrong in out, first at 1002: got 0,");
}

TEST(Verify, CatchesNan) {
  COURSE_NEEDS_GPU(gpu);
  expect_failure(copy_but("01_nan", 0, overwrite(true, 500, 0xFF)), *gpu, "NaN");
  expect_failure(copy_but("01_nan", 0, overwrite(true, 500, 0xFF)), *gpu,
                 "1 of 1003 wrong in out, first at 500: got");
}

TEST(Verify, ExpectsToCatchAnElementThatNobodyWrote) {
  COURSE_NEEDS_GPU(gpu);
  expect_failure(copy_but("01_short", 1), *gpu, "1 of 1003 wrong in out, first at 1002");
  expect_failure(copy_but("01_short", 1), *gpu, "tail was never written");
  expect_failure(copy_but("01_nothing", checked_n), *gpu, "1003 of 1003 wrong");
}

/// A copy of which only the first, a middle and the last element are compared.
class SampledCopy : public CopyProblem {
 public:
  using CopyProblem::CopyProblem;
  std::vector<std::int64_t> sample(int) const override { return {0, n() / 2, n() - 1}; }
  void expected(int, double* values) const override {
    for (const std::int64_t i : sample(0)) *values++ = course::value<float>(input(), seed(), i);
  }
};

TEST(Verify, ComparesTheSampleOfAProblem) {
  COURSE_NEEDS_GPU(gpu);
  const SampledCopy problem(size_n(checked_n), 1, Input::random);
  const auto verify = [&](std::int64_t wrong) {
    return course::verify(copy_but("01_sampled", 0, overwrite(true, wrong, 0)), problem, *gpu);
  };
  EXPECT_EQ(verify(1).state, Outcome::passed) << verify(1).why;
  for (const std::int64_t wrong : {std::int64_t{0}, checked_n / 2, checked_n - 1}) {
    EXPECT_EQ(verify(wrong).state, Outcome::failed);
    const std::string text = "1 of 3 wrong in out, first at " + std::to_string(wrong) + ": got 0,";
    EXPECT_TRUE(has(verify(wrong).why, text)) << verify(wrong).why;
  }
}

/// A copy of words in two segments, each of which may come in any order.
class UnorderedCopy : public CopyProblem {
 public:
  UnorderedCopy(std::int64_t second, Type type)
      : CopyProblem(size_n(checked_n), 1, Input::random), second_(second), type_(type) {}
  std::vector<course::Array> inputs() const override { return {{"in", n(), type_, seed()}}; }
  std::vector<course::Array> outputs() const override { return {{"out", n(), type_}}; }
  std::vector<std::int64_t> any_order(int) const override { return {0, second_}; }
  void expected(int, double* out) const override {
    for (std::int64_t i = 0; i < n(); ++i) out[i] = course::value<unsigned>(input(), seed(), i);
    std::sort(out, out + second_);
    std::sort(out + second_, out + n());
  }

 private:
  std::int64_t second_;
  Type type_;
};

TEST(Verify, TakesPartsInAnyOrder) {
  COURSE_NEEDS_GPU(gpu);
  const auto copies = [](std::int64_t to, std::int64_t from) -> Spoil {
    return [=](const Problem&, const Arguments& a) {
      return cudaMemcpyAsync(a.out<unsigned>(0) + to, a.in<unsigned>(0) + from, 4,
                             cudaMemcpyDeviceToDevice, a.stream);
    };
  };
  for (const std::int64_t second : {std::int64_t{0}, std::int64_t{500}, checked_n}) {
    const UnorderedCopy problem(second, Type::u32);
    const auto why = [&](const Spoil& spoil) {
      return course::verify(copy_but("01_unordered", 0, spoil), problem, *gpu).why;
    };
    EXPECT_EQ(why(nullptr), "");
    EXPECT_TRUE(has(why(copies(0, 1)), " wrong in out")) << "one is there twice";
    EXPECT_TRUE(has(why(copies(499, 500)), " wrong in out")) << "from the other part";
  }
  const auto verify_floats = [&] {
    course::verify(copy_but("01_unordered", 0), UnorderedCopy(500, Type::f32), *gpu);
  };
  EXPECT_TRUE(has(error_of(verify_floats).what(), "out: only u32 outputs"));
}

TEST(Verify, CatchesAWriteToAnInput) {
  COURSE_NEEDS_GPU(gpu);
  Version version;
  version.launch = [](const Problem& p, const Arguments& a) {
    course::fill(p.inputs()[0], p.input(), a.outputs[0], a.stream);  // right, in both launches
    return overwrite(false, checked_n - 1, 0)(p, a);
  };
  expect_failure(version, *gpu, "wrote to its input in");
}

TEST(Verify, CatchesAnErrorOfTheLauncher) {
  COURSE_NEEDS_GPU(gpu);
  const auto returns = [](cudaError_t error) {
    return copy_but("01_error", 0, [error](const Problem&, const Arguments&) { return error; });
  };
  expect_failure(returns(cudaErrorInvalidConfiguration), *gpu, "cudaErrorInvalidConfiguration");
  expect_failure(returns(cudaErrorInvalidConfiguration), *gpu, "1024 threads");
  expect_failure(returns(cudaErrorNotYetImplemented), *gpu, "not written yet");
  EXPECT_EQ(verify(returns(cudaErrorNotYetImplemented), *gpu).why, "not written yet");
}

TEST(Verify, CatchesWhatIsRightOnlyOnce) {
  COURSE_NEEDS_GPU(gpu);
  int calls = 0;
  const Version version = copy_but("01_once", 0, [&](const Problem& p, const Arguments& a) {
    return ++calls == 1 ? cudaSuccess : overwrite(true, 7, 0)(p, a);
  });
  expect_failure(version, *gpu, "1 of 1003 wrong in out, first at 7");
  EXPECT_EQ(calls, 2);
}

/// The second launch must not find the results of the first one.
TEST(Verify, ExpectsToCatchWhatIsWrittenOnlyOnce) {
  COURSE_NEEDS_GPU(gpu);
  int calls = 0;
  const Version right = copy_but("01_first", 0);
  Version version = right;
  version.launch = [&](const Problem& p, const Arguments& a) {
    return ++calls == 1 ? right.launch(p, a) : cudaSuccess;
  };
  expect_failure(version, *gpu, "1003 of 1003 wrong in out");
  EXPECT_EQ(calls, 2);
}

TEST(Verify, ExpectsToCatchTrustInAnEmptyWorkspace) {
  COURSE_NEEDS_GPU(gpu);
  Version version = copy_but("01_workspace", 0, [](const Problem&, const Arguments& a) {
    return cudaMemcpyAsync(a.outputs[0], a.workspace, 4, cudaMemcpyDeviceToDevice, a.stream);
  });
  version.workspace_bytes = [](const Problem&) { return std::size_t{4}; };
  expect_failure(version, *gpu, "1 of 1003 wrong in out, first at 0: got");
}

TEST(Verify, SkipsWhatCannotRunHere) {
  COURSE_NEEDS_GPU(gpu);
  Version version = copy_but("01_future", 0);
  version.needs.capability = 999;
  const Outcome outcome = verify(version, *gpu);
  EXPECT_EQ(outcome.state, Outcome::skipped);
  EXPECT_TRUE(has(outcome.why, "needs compute capability 99.9")) << outcome.why;
}

TEST(Verify, GivesArraysAtTheirOffsets) {
  COURSE_NEEDS_GPU(gpu);
  class Shifted : public CopyProblem {
   public:
    using CopyProblem::CopyProblem;
    std::vector<Array> inputs() const override { return {{"in", n(), Type::f32, seed(), 4}}; }
    std::vector<Array> outputs() const override { return {{"out", n(), Type::f32, 0, 20}}; }
  };
  const Version version = copy_but("01_offsets", 0, [](const Problem&, const Arguments& a) {
    EXPECT_EQ(misalignment(a.inputs[0]), 4u);
    EXPECT_EQ(misalignment(a.outputs[0]), 20u);
    return cudaSuccess;
  });
  const Outcome outcome =
      course::verify(version, Shifted(size_n(checked_n), 1, Input::random), *gpu);
  EXPECT_EQ(outcome.state, Outcome::passed) << outcome.why;
}

TEST(Verify, TakesEmptyProblems) {
  COURSE_NEEDS_GPU(gpu);
  const Outcome outcome =
      course::verify(copy_but("01_empty", 0), CopyProblem(size_n(0), 1, Input::random), *gpu);
  EXPECT_EQ(outcome.state, Outcome::passed) << outcome.why;
}

}  // namespace
