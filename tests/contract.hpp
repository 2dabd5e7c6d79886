#pragma once
/// \file
/// The contract of every launcher of every chapter: sizes that it refuses, arrays that begin
/// anywhere, a workspace with any contents, two streams at once, capture, another GPU. One
/// GoogleTest per study: "contract.sequence".

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "chapter/sizes.hpp"
#include "chapter_test.hpp"

namespace course_test {

/// Instead of a number of elements: 8 bytes, half of what a vector is aligned to.
constexpr std::int64_t half_a_vector = -1;

/// The same problem in arrays that begin some elements later.
class Shifted : public course::Problem {
 public:
  Shifted(const course::Problem& other, std::int64_t inputs, std::int64_t outputs)
      : Problem(other.size(), other.seed(), other.input()),
        other_(other),
        inputs_(inputs),
        outputs_(outputs) {}
  std::vector<course::Array> inputs() const override { return shifted(other_.inputs(), inputs_); }
  std::vector<course::Array> outputs() const override {
    return shifted(other_.outputs(), outputs_);
  }
  double bytes_read() const override { return other_.bytes_read(); }
  double bytes_written() const override { return other_.bytes_written(); }
  double scalar(int k) const override { return other_.scalar(k); }
  const void* object() const override { return other_.object(); }
  std::vector<std::int64_t> sample(int output) const override { return other_.sample(output); }
  void expected(int output, double* values) const override { other_.expected(output, values); }
  course::Tolerance tolerance(int output) const override { return other_.tolerance(output); }

 private:
  static std::vector<course::Array> shifted(std::vector<course::Array> arrays,
                                            std::int64_t elements) {
    for (course::Array& array : arrays) {
      const auto bytes = static_cast<std::int64_t>(course::bytes_of(array.type));
      array.offset_bytes += elements == half_a_vector ? 8 : elements * bytes;
    }
    return arrays;
  }
  const course::Problem& other_;
  std::int64_t inputs_, outputs_;
};

/// The checks of one row at one size.
class Contract {
 public:
  Contract(const course::Study& study, const course::Version& version, const course::Size& size,
           const course::Device& gpu)
      : study_(study),
        version_(version),
        size_(size),
        gpu_(gpu),
        problem_(problem_of(study, version, size, course::Input::integers)) {}

  void check() {
    refuses_sizes();
    takes_nothing();
    takes_arrays_that_begin_anywhere();
    if (version_.workspace_bytes) takes_any_workspace();
    runs_on_two_streams();
#ifndef SIMT  // the CPU backend has no graphs
    if (version_.needs.capturable) can_be_captured();
#endif
  }

  /// Runs on a GPU that was not current before, and again on the first one.
  void runs_on(const course::Device& other) {
    for (const course::Device* device : {&gpu_, &other, &gpu_, &other}) {
      COURSE_CHECK(cudaSetDevice(device->index));
      const course::Outcome outcome = course::verify(version_, *problem_, *device);
      EXPECT_EQ(outcome.state, course::Outcome::passed)
          << "GPU " << device->index << ": " << outcome.why;
    }
    COURSE_CHECK(cudaSetDevice(gpu_.index));
  }

 private:
  /// One launch into poisoned outputs. "" if they are right, "refused" if the launcher returned
  /// cudaErrorInvalidValue and left them unchanged, otherwise what is wrong.
  std::string launch(const course::Problem& problem, course::DeviceArrays& arrays,
                     const course::Arguments& arguments) const {
    arrays.poison_outputs();
    const cudaError_t error = version_.launch(problem, arguments);
    const cudaError_t later = cudaDeviceSynchronize();
    const cudaError_t last = cudaGetLastError();
    if (later != cudaSuccess || (error == cudaSuccess && last != cudaSuccess)) {
      const cudaError_t worst = later != cudaSuccess ? later : last;
      return std::string("an error afterwards: ") + cudaGetErrorName(worst);
    }
    if (error == cudaErrorInvalidValue) return untouched(problem, arguments) ? "refused" : "wrote";
    if (error != cudaSuccess) return cudaGetErrorName(error);
    return course::References(problem, nullptr).mismatch(arguments);
  }

  static bool untouched(const course::Problem& problem, const course::Arguments& arguments) {
    if (course::under_initcheck()) return true;  // nothing is poisoned
    const auto outputs = problem.outputs();
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      for (const unsigned char byte :
           to_host<unsigned char>(arguments.outputs[k], outputs[k].bytes())) {
        if (byte != 0xFF) return false;
      }
    }
    return true;
  }

  /// Negative sizes, sizes just above the row's limit, and sizes that no memory holds.
  void refuses_sizes() const {
    const course::Buffer dummy(1024);
    course::Arguments arguments;
    arguments.inputs.assign(8, dummy.data());
    arguments.outputs.assign(8, dummy.data());
    arguments.workspace = dummy.data();
    arguments.workspace_bytes = SIZE_MAX;  // only the size can be the reason
    const auto expect_refused = [&](const course::Size& size) {
      const auto problem = problem_of(study_, version_, size);
      EXPECT_EQ(version_.launch(*problem, arguments), cudaErrorInvalidValue) << size.text();
      ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess) << size.text();
      cudaGetLastError();
    };
    const std::int64_t huge = std::int64_t{1} << 62;
    for (const auto& [name, value] : size_.dimensions) {
      course::Size size = size_;
      if (name != "n" && name != "rows" && name != "cols") continue;
      size.set(name, -4);
      expect_refused(size);
      if (name == "n") {
        const std::int64_t most = version_.needs.max_n;
        EXPECT_GT(most, 0) << "its largest n is not declared: .up_to(n), or any_n";
        if (most <= 0 || most == course::any_n) continue;
        size.set(name, most + 1);
        expect_refused(size);
      }
      size.set(name, huge);
      expect_refused(size);
    }
    // Queries and bins, which no launcher takes more of: chapters 10 and 15.
    for (const auto& [name, most] : {std::pair("m", 1 << 24), std::pair("bins", INT32_MAX)}) {
      const bool has = std::any_of(size_.dimensions.begin(), size_.dimensions.end(),
                                   [name = name](const auto& one) { return one.first == name; });
      if (!has || version_.role == course::Role::peer) continue;
      for (const std::int64_t value : {std::int64_t{-4}, std::int64_t{most} + 1}) {
        course::Size size = size_;
        size.set(name, value);
        expect_refused(size);
      }
    }
    course::Size square = size_;
    if (square.dimensions.front().first == "rows") {
      square.set("rows", std::int64_t{1} << 40);
      square.set("cols", std::int64_t{1} << 40);
      expect_refused(square);
    }
  }

  /// Size 0 is a valid call, without any arrays except those that get a result.
  void takes_nothing() const {
    course::Size size = size_;
    for (auto& [name, value] : size.dimensions) {
      if (name == "n" || name == "rows" || name == "cols") value = 0;
    }
    const auto problem = problem_of(study_, version_, size);
    course::DeviceArrays arrays(version_, *problem, nullptr);
    course::Arguments arguments = arrays.arguments();
    std::size_t k = 0;
    for (void*& input : arguments.inputs) input = nullptr;
    for (const course::Array& array : problem->outputs()) {
      if (array.count == 0) arguments.outputs[k] = nullptr;
      ++k;
    }
    EXPECT_EQ(launch(*problem, arrays, arguments), "") << "nothing to do";
  }

  /// Or refuses them, if its row says so; then all of them, however few elements it would take at
  /// once: a small array may never come to the accesses that need the alignment.
  void takes_arrays_that_begin_anywhere() const {
    for (const bool both : {false, true}) {
      for (const bool inputs : {true, false}) {
        if (both && !inputs) continue;
        bool refused_first = false;
        for (const std::int64_t shift : {std::int64_t{1}, std::int64_t{3}, half_a_vector}) {
          const Shifted problem(*problem_, both || inputs ? shift : 0, both || !inputs ? shift : 0);
          course::DeviceArrays arrays(version_, problem, nullptr);
          const std::string said = launch(problem, arrays, arrays.arguments());
          const std::string where =
              std::string(", with ") + (both || inputs ? "inputs " : "") +
              (both || !inputs ? "outputs " : "") +
              (shift == half_a_vector ? "8 bytes" : std::to_string(shift) + " elements") + " later";
          const bool fine = said.empty() || (said == "refused" && version_.needs.alignment > 0);
          EXPECT_TRUE(fine) << said << where;
          if (shift == 1) refused_first = said == "refused";
          if (shift == half_a_vector && refused_first && version_.needs.alignment == 16) {
            EXPECT_EQ(said, "refused") << "as a vector of 16 bytes has to be" << where;
          }
        }
      }
    }
  }

  void takes_any_workspace() const {
    course::DeviceArrays arrays(version_, *problem_, nullptr);
    const std::size_t bytes = arrays.arguments().workspace_bytes;
    EXPECT_GT(bytes, 0u) << "no workspace would be a question";
    const course::Buffer larger(bytes + 256);
    const auto with = [&](std::size_t offset, std::size_t size) {
      course::Arguments arguments = arrays.arguments();
      arguments.workspace = static_cast<char*>(larger.data()) + offset;
      arguments.workspace_bytes = size;
      return launch(*problem_, arrays, arguments);
    };
    for (const int byte : {0x00, 0xFF, 0x5A}) {
      COURSE_CHECK(cudaMemset(larger.data(), byte, larger.bytes()));
      for (int run = 0; run < 2; ++run) {
        EXPECT_EQ(with(0, bytes), "") << "workspace full of " << byte << ", run " << run;
      }
    }
    EXPECT_EQ(with(0, bytes + 256), "") << "more than it needs";
    const std::string less = with(0, bytes - 1);  // CUB asks for a byte even where it needs none
    EXPECT_TRUE(less == "refused" || (less.empty() && version_.role == course::Role::peer))
        << less << ", a byte too few";
    for (const std::size_t offset : {1, 4}) {
      const std::string said = with(offset, bytes);
      EXPECT_TRUE(said.empty() || said == "refused") << said << ", " << offset << " bytes later";
    }
    arrays.poison_outputs();
    EXPECT_EQ(version_.workspace_bytes(*problem_), bytes);
    COURSE_CHECK(cudaDeviceSynchronize());
    EXPECT_TRUE(untouched(*problem_, arrays.arguments())) << "a question writes only the size";
#ifndef SIMT
    EXPECT_EQ(captured_nodes([&](cudaStream_t) { version_.workspace_bytes(*problem_); }), 0u);
#endif
  }

  void runs_on_two_streams() const {
    cudaStream_t streams[2];
    std::vector<std::unique_ptr<course::Problem>> problems;
    std::vector<course::DeviceArrays> arrays;
    for (int k = 0; k < 2; ++k) {
      COURSE_CHECK(cudaStreamCreateWithFlags(&streams[k], cudaStreamNonBlocking));
      const course::MakeProblem& make = version_.make ? version_.make : study_.make;
      problems.push_back(
          make(problem_->size(), static_cast<std::uint64_t>(k + 1), course::Input::integers));
      arrays.emplace_back(version_, *problems.back(), streams[k]);
      arrays.back().poison_outputs();
    }
    COURSE_CHECK(cudaDeviceSynchronize());
    for (int round = 0; round < 3; ++round) {
      for (std::size_t k = 0; k < 2; ++k) {
        EXPECT_EQ(version_.launch(*problems[k], arrays[k].arguments()), cudaSuccess);
      }
    }
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_EQ(course::References(*problems[k], nullptr).mismatch(arrays[k].arguments()), "")
          << "stream " << k << " of two at once";
      COURSE_CHECK(cudaStreamDestroy(streams[k]));
    }
  }

#ifndef SIMT
  /// A launcher neither allocates nor synchronizes, so it can be captured and replayed.
  void can_be_captured() const {
    cudaStream_t stream{};
    COURSE_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    course::DeviceArrays arrays(version_, *problem_, stream);
    const course::References references(*problem_, stream);  // not in the capture: it waits
    cudaGraph_t graph{};
    cudaGraphExec_t replay{};
    COURSE_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT_EQ(version_.launch(*problem_, arrays.arguments()), cudaSuccess);
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess) << "what it did is not allowed";
    COURSE_CHECK(cudaGraphInstantiate(&replay, graph, 0));
    for (int round = 0; round < 2; ++round) {
      arrays.poison_outputs();
      COURSE_CHECK(cudaGraphLaunch(replay, stream));
      COURSE_CHECK(cudaStreamSynchronize(stream));
      EXPECT_EQ(references.mismatch(arrays.arguments()), "") << "replayed";
    }
    COURSE_CHECK(cudaGraphExecDestroy(replay));
    COURSE_CHECK(cudaGraphDestroy(graph));
    COURSE_CHECK(cudaStreamDestroy(stream));
  }
#endif

  const course::Study& study_;
  const course::Version& version_;
  const course::Size&
      size_;  // in the study's dimensions; a row may solve a problem of another size
  const course::Device& gpu_;
  std::unique_ptr<course::Problem> problem_;
};

/// The largest test size that is still quick here; nullptr if the version takes none.
inline const course::Size* contract_size(const course::Study& study, const course::Version& version,
                                         const course::Device& gpu) {
  const std::int64_t most = slow(gpu) ? 5000 : small_n;
  const double most_flops = slow(gpu) ? 2e6 : 1e9;
  const course::Size* best = nullptr;
  for (const course::Size& size : study.test_sizes) {
    if (version.takes && !version.takes(size)) continue;
    if (elements(size) > most || !(course::within_limit(version, size) == size)) continue;
    if (problem_of(study, version, size)->flops() > most_flops) continue;
    if (best == nullptr || elements(size) >= elements(*best)) best = &size;
  }
  return best;
}

/// Calls body(contract) for every row of the study that can run here.
template <class Body>
void for_each_contract(const course::Study& study, const course::Device& gpu, Body body) {
  int checked = 0;
  for (const course::Version& version : study.versions) {
    SCOPED_TRACE(study.name + "." + version.id);
    const course::Size* const size = contract_size(study, version, gpu);
    if (size == nullptr) {
      ADD_FAILURE() << "no test size fits";
      continue;
    }
    if (!course::missing(version, *problem_of(study, version, *size), gpu).empty()) continue;
    body(Contract(study, version, *size, gpu));
    ++checked;
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess) << "the error sticks";
  }
  if (checked == 0) GTEST_SKIP() << "no row of this study runs here";
}

/// Why contracts are not checked again in this process; "" if they are.
inline std::string contracts_are_known() {
#ifdef SIMT
  if (simt::order() != "forward") return "once is enough: not in " + simt::order() + " order";
#endif
  return "";
}

/// Registers "contract.STUDY", and "second_gpu.STUDY" for a GPU that is not current at first.
/// Studies with a reason to be skipped are skipped with it.
inline void register_contracts(const course::Chapter& chapter, const SkipReason& skip_reason = {}) {
  class Checks : public testing::Test {
   public:
    Checks(course::Study study, bool on_second_gpu, SkipReason skip_reason)
        : study_(std::move(study)),
          on_second_gpu_(on_second_gpu),
          skip_reason_(std::move(skip_reason)) {}
    void TestBody() override {
      const std::string reason = skip_reason_ ? skip_reason_(study_) : "";
      if (!reason.empty()) GTEST_SKIP() << reason;
      COURSE_NEEDS_GPU(gpu);
      if (const std::string why = contracts_are_known(); !why.empty()) GTEST_SKIP() << why;
      if (!on_second_gpu_) {
        for_each_contract(study_, *gpu, [](Contract contract) { contract.check(); });
        return;
      }
      int count = 0;
      COURSE_CHECK(cudaGetDeviceCount(&count));
      if (count < 2) GTEST_SKIP() << "needs a second GPU";
      const course::Device second = course::open_device(1);
      COURSE_CHECK(cudaSetDevice(0));
      for_each_contract(study_, *gpu, [&](Contract contract) { contract.runs_on(second); });
    }

   private:
    const course::Study study_;
    const bool on_second_gpu_;
    const SkipReason skip_reason_;
  };
  for (const course::Study& study : chapter.studies) {
    if (study.test_sizes.empty()) continue;
    for (const bool second : {false, true}) {
#ifdef SIMT
      if (second) continue;  // one GPU is simulated
#endif
      testing::RegisterTest(
          second ? "second_gpu" : "contract", study.name.c_str(), nullptr, nullptr, __FILE__,
          __LINE__, [=]() -> testing::Test* { return new Checks(study, second, skip_reason); });
    }
  }
}

}  // namespace course_test
