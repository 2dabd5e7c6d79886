#pragma once
/// \file
/// The correctness test that every chapter shares: each version of each study, one GoogleTest each,
/// so one process each under ctest; sizes, seeds and families of inputs loop inside.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "chapter/error.hpp"
#include "chapter/input.hpp"
#include "chapter/sizes.hpp"
#include "correct/verify.hpp"
#include "device/buffer.hpp"
#include "device/cuda_check.hpp"
#include "device/device.hpp"
#ifdef SIMT
#include "simt/findings.hpp"
#endif

namespace course_test {

/// The GPU, or nullptr if there is none; `why` then says what is missing.
inline const course::Device* find_gpu(std::string* why) {
  static std::string reason;
  static const course::Device* found = [] {
    try {
      return new course::Device(course::open_device(0));
    } catch (const course::Error& error) {
      reason = error.what();
      return static_cast<course::Device*>(nullptr);
    }
  }();
  *why = reason;
  return found;
}

/// Skips the running test, with the reason, if there is no GPU.
#define COURSE_NEEDS_GPU(gpu)                                     \
  std::string course_why;                                         \
  const course::Device* gpu = course_test::find_gpu(&course_why); \
  if (gpu == nullptr) GTEST_SKIP() << course_why

using Inputs = std::vector<course::Input>;

/// True under compute-sanitizer, which is slow: few and small sizes.
inline bool sanitized() { return std::getenv("COURSE_SANITIZE") != nullptr; }

/// For tests about values, which make no difference to compute-sanitizer: skips them under it.
#define COURSE_ABOUT_VALUES() \
  if (course_test::sanitized()) GTEST_SKIP() << "about values: no difference to a sanitizer"

/// Copies elements to the front of device memory.
template <class T>
void copy_to(const course::Buffer& device, const std::vector<T>& host) {
  if (host.empty()) return;
  COURSE_CHECK(
      cudaMemcpy(device.data(), host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
}

/// A copy on the device, in a buffer of exactly its size.
template <class T>
course::Buffer to_device(const std::vector<T>& host) {
  course::Buffer device(host.size() * sizeof(T));
  copy_to(device, host);
  return device;
}

/// `count` elements of device memory, after all earlier launches on any blocking stream.
template <class T>
std::vector<T> to_host(const void* device, std::int64_t count) {
  std::vector<T> host(static_cast<std::size_t>(count));
  if (host.empty()) return host;
  COURSE_CHECK(cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
  return host;
}

/// True if every access is checked: then sizes are few and small.
inline bool slow(const course::Device& gpu) { return gpu.simulated || sanitized(); }

/// The sizes of a list that a test can use here: all, or up to `most` if checks are slow.
inline std::vector<std::int64_t> sizes_here(const course::Device& gpu,
                                            const std::vector<std::int64_t>& list,
                                            std::int64_t most = 5000) {
  std::vector<std::int64_t> sizes;
  for (const std::int64_t n : list) {
    if (n <= most || !slow(gpu)) sizes.push_back(n);
  }
  return sizes;
}

#ifndef SIMT
/// The number of nodes of a graph that captures the work launch(stream) puts into the stream.
template <class Launch>
std::size_t captured_nodes(Launch launch) {
  cudaStream_t stream{};
  cudaGraph_t graph{};
  std::size_t nodes = 0;
  COURSE_CHECK(cudaStreamCreate(&stream));
  COURSE_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  launch(stream);
  COURSE_CHECK(cudaStreamEndCapture(stream, &graph));
  COURSE_CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  COURSE_CHECK(cudaGraphDestroy(graph));
  COURSE_CHECK(cudaStreamDestroy(stream));
  return nodes;
}
#endif

/// The size of a problem with one dimension.
inline course::Size size_n(std::int64_t n) { return {{{"n", n}}}; }

/// Integers from 1 to `most`, never 0, so each lost element changes a sum.
template <class T>
std::vector<T> small_numbers(std::int64_t n, std::uint64_t seed, std::uint64_t most = 15) {
  std::vector<T> in(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<T>(1 + course::mix(seed, i) % most);
  return in;
}

/// Scratch memory of exactly the given size.
class Workspace {
 public:
  explicit Workspace(std::size_t bytes) : buffer_(bytes) { poison(); }
  void poison() { buffer_.poison(); }
  /// Fills with one byte, or with bytes without a pattern.
  void fill(int byte) { COURSE_CHECK(cudaMemset(buffer_.data(), byte, buffer_.bytes())); }
  void scramble(std::uint64_t seed) {
    std::vector<unsigned char> noise(buffer_.bytes());
    for (std::size_t i = 0; i < noise.size(); ++i)
      noise[i] = static_cast<unsigned char>(course::mix(seed, i));
    copy_to(buffer_, noise);
  }
  void* data() const { return buffer_.data(); }
  std::size_t bytes() const { return buffer_.bytes(); }

 private:
  course::Buffer buffer_;
};

/// The study of a chapter by its name.
inline course::Study study_of(const course::Chapter& chapter, const std::string& name) {
  for (const course::Study& study : chapter.studies) {
    if (study.name == name) return study;
  }
  throw course::Error("no study " + name, 1);
}

/// The problem that a version of a study solves.
inline std::unique_ptr<course::Problem> problem_of(const course::Study& study,
                                                   const course::Version& version,
                                                   const course::Size& size,
                                                   course::Input input = course::Input::random) {
  return (version.make ? version.make : study.make)(size, 1, input);
}

/// Calls body(version) for each version of a study that can run here and takes the size.
template <class Body>
void for_each_version(const course::Study& study, const course::Size& size,
                      const course::Device& gpu, Body body) {
  int ran = 0;
  for (const course::Version& version : study.versions) {
    if (version.takes && !version.takes(size)) continue;
    if (!course::missing(version, *problem_of(study, version, size), gpu).empty()) continue;
    SCOPED_TRACE(study.name + "." + version.id + ", " + size.text());
    body(version);
    ++ran;
  }
  EXPECT_GT(ran, 0) << "no version of " << study.name << " runs here";
}

/// CPU backend: takes --order=forward, reverse or random from the end of the command line, restarts
/// the program with the environment for this order, on one host thread, and ends it if the backend
/// then reports another order. The device is small, so that loops over tiles or units have several
/// iterations at small n.
inline void take_order(int* argc, char** argv) {
#ifdef SIMT
  const std::string option = "--order=";
  if (*argc < 2 || std::string(argv[*argc - 1]).rfind(option, 0) != 0) return;
  std::string order = std::string(argv[*argc - 1]).substr(option.size());
  if (order == "random") order += ":20261120";
  const char* now = std::getenv("SIMT_ORDER");
  if (now == nullptr || now != order) {
    setenv("SIMT_ORDER", order.c_str(), 1);
    setenv("SIMT_THREADS", "1", 1);
    setenv("SIMT_SMS", order == "reverse" ? "1" : "2", 0);
    execvp(argv[0], argv);
    std::perror(argv[0]);
    std::exit(1);
  }
  if (simt::order() != order) {
    std::cerr << "the order is " << simt::order() << ", not " << order << "\n";
    std::exit(1);
  }
  argv[--*argc] = nullptr;
#else
  (void)argc, (void)argv;
#endif
}

/// The bound for large sizes, which are few if every access is checked.
constexpr std::int64_t small_n = 70000;
/// Sizes above this test indices: one seed and two families of inputs are enough.
constexpr std::int64_t large_n = 1 << 20;

/// The number of elements of a test size: n, or rows times columns.
inline std::int64_t elements(const course::Size& size) {
  std::int64_t count = 1;
  for (const auto& [name, value] : size.dimensions) {
    if (name == "n" || name == "rows" || name == "cols") count *= value;
  }
  return count;
}

/// True on the CPU backend in an order of threads other than the first: tests about sizes and
/// values run only in the first order.
inline bool in_another_order() {
#ifdef SIMT
  return simt::order() != "forward";
#else
  return false;
#endif
}

/// The sizes that test an order: the largest of up to 100, 1100 and 5000 elements.
inline std::vector<course::Size> sizes_for_an_order(const std::vector<course::Size>& all) {
  std::vector<course::Size> few;
  for (const std::int64_t most : {100, 1100, 5000}) {
    const course::Size* best = nullptr;
    for (const course::Size& size : all) {
      if (elements(size) <= most && (best == nullptr || elements(size) >= elements(*best)))
        best = &size;
    }
    if (best != nullptr && (few.empty() || !(few.back() == *best))) few.push_back(*best);
  }
  return few;
}

/// compute-sanitizer's racecheck follows each access to shared memory: a version of chapter 10 with
/// all its sizes took longer than 8 minutes. Long lists are reduced to 16 sizes, evenly chosen,
/// including the first and the last.
inline std::vector<course::Size> sizes_for_racecheck(const std::vector<course::Size>& all) {
  constexpr std::size_t most = 16;
  if (!course::under_sanitizer("racecheck") || all.size() <= most) return all;
  std::vector<course::Size> some;
  for (std::size_t k = 0; k < most; ++k) some.push_back(all[k * (all.size() - 1) / (most - 1)]);
  return some;
}

/// Checks one version on all test sizes of its study; in another order of threads on a few.
inline void check_version(const course::Study& study, const course::Version& version,
                          const Inputs& inputs) {
  COURSE_NEEDS_GPU(gpu);
  const bool quick = sanitized();  // small sizes, one seed, two families of inputs
  const course::MakeProblem& make = version.make ? version.make : study.make;
  std::vector<course::Size> sizes;
  for (const course::Size& size : study.test_sizes) {
    if (version.takes && !version.takes(size)) continue;
    if (course::within_limit(version, size) == size) sizes.push_back(size);
  }
  // In a library's row a sanitizer checks our call, not the library's kernels.
  const bool is_library = quick && version.role == course::Role::peer;
  if (in_another_order() || is_library) sizes = sizes_for_an_order(sizes);
  const bool has_integers = std::count(inputs.begin(), inputs.end(), course::Input::integers) > 0;
  const course::Input exact = has_integers ? course::Input::integers : inputs.front();
  int checked = 0, large = 0;
  for (const course::Size& size : sizes_for_racecheck(sizes)) {
    const std::int64_t n = elements(size);
    if (n > small_n && (quick || (gpu->simulated && ++large > 1))) continue;
    const bool once = slow(*gpu) && n > 5000;
    if (quick && make(size, 1, course::Input::random)->flops() > 5e8) continue;
    for (const course::Input input : inputs) {
      for (const std::uint64_t seed : {1u, 20261120u}) {
        const bool plain = input == course::Input::random || input == course::Input::integers;
        // values make no difference to a sanitizer
        if ((quick || n > large_n) && (seed != 1 || !plain)) continue;
        if (gpu->simulated && seed != 1 && n > 1100) continue;  // a second seed tests values only
        if (once && (seed != 1 || input != course::Input::random)) continue;
        if (in_another_order() && (seed != 1 || input != exact)) continue;
        SCOPED_TRACE(size.text() + ", " + name_of(input) + ", seed " + std::to_string(seed));
        const auto problem = make(size, seed, input);
        const course::Outcome outcome = course::verify(version, *problem, *gpu);
        if (outcome.state == course::Outcome::skipped) GTEST_SKIP() << outcome.why;
        ASSERT_EQ(outcome.state, course::Outcome::passed) << outcome.why;
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 0) << "this version has no test size";
}

/// The words of a text with commas between them.
inline std::set<std::string> words_of(const std::string& text) {
  std::set<std::string> words;
  std::stringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) words.insert(word);
  return words;
}

/// The rows of a chapter that are absent, a line each. built: the files that are in this build,
/// listed: all of CMakeLists.txt. A launcher whose declaration differs from its definition is
/// missing from the link, like one whose file did not compile.
inline std::vector<std::string> absent_rows(const course::Chapter& chapter,
                                            const std::set<std::string>& built,
                                            const std::set<std::string>& listed) {
  std::vector<std::string> absent;
  std::set<std::string> shown;
  for (const course::Study& study : chapter.studies) {
    for (const course::Version& version : study.versions) {
      shown.insert(version.source());
      if (version.launch || version.declared.empty()) continue;
      const std::string row = study.name + "." + version.id;
      if (built.count(version.source()) > 0) {
        absent.push_back(row + ": declared as " + version.declared + ", not defined so in " +
                         version.source() + ".cu");
      } else if (listed.count(version.source()) == 0) {
        absent.push_back(row + ": " + version.source() + ".cu is not listed in CMakeLists.txt");
      }
    }
  }
  for (const std::string& file : listed) {
    if (shown.count(file) == 0) absent.push_back(file + ".cu: no study has a row of it");
  }
  return absent;
}

/// Why a study cannot be tested here; empty if it can.
using SkipReason = std::function<std::string(const course::Study&)>;

/// Registers a test for every version of every study that has test sizes: "sequence.01_one_thread"
/// and so on. Studies with a reason to be skipped are skipped with it. One more test,
/// "rows.AllAreThere", checks that no row is absent.
inline void register_chapter(const course::Chapter& chapter, const Inputs& inputs,
                             const SkipReason& skip_reason = {}) {
  class Check : public testing::Test {
   public:
    Check(const course::Study& study, const course::Version& version, Inputs inputs,
          SkipReason skip_reason)
        : study_(study),
          version_(version),
          inputs_(std::move(inputs)),
          skip_reason_(std::move(skip_reason)) {}
    void TestBody() override {
      const std::string why = skip_reason_ ? skip_reason_(study_) : "";
      if (!why.empty()) GTEST_SKIP() << why;
      check_version(study_, version_, inputs_);
    }

   private:
    const course::Study study_;
    const course::Version version_;
    const Inputs inputs_;
    const SkipReason skip_reason_;
  };
#ifdef COURSE_BUILT
  class AllAreThere : public testing::Test {
   public:
    explicit AllAreThere(course::Chapter chapter) : chapter_(std::move(chapter)) {}
    void TestBody() override {
      for (const std::string& line :
           absent_rows(chapter_, words_of(COURSE_BUILT), words_of(COURSE_LISTED))) {
        ADD_FAILURE() << line;
      }
    }

   private:
    const course::Chapter chapter_;
  };
  testing::RegisterTest("rows", "AllAreThere", nullptr, nullptr, __FILE__, __LINE__,
                        [=]() -> testing::Test* { return new AllAreThere(chapter); });
#endif
  for (const course::Study& study : chapter.studies) {
    if (study.test_sizes.empty()) continue;
    for (const course::Version& version : study.versions) {
      testing::RegisterTest(
          study.name.c_str(), version.id.c_str(), nullptr, nullptr, __FILE__, __LINE__,
          [=]() -> testing::Test* { return new Check(study, version, inputs, skip_reason); });
    }
  }
}

}  // namespace course_test
