// Chapter 01: every version on every test size and family of inputs, and the special properties of
// some versions.
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "chapter_test.hpp"
#include "contract.hpp"
#include "device/buffer.hpp"
#include "device/cuda_check.hpp"

namespace {

const course_test::Inputs inputs = {course::Input::random, course::Input::integers,
                                    course::Input::denormal, course::Input::large,
                                    course::Input::equal};

/// A version of the sequence by its id.
course::Version version(const std::string& id) {
  const course::Chapter chapter = course::chapter();
  for (const course::Version& v : chapter.studies.front().versions) {
    if (v.id == id) return v;
  }
  throw std::out_of_range(id);
}

/// NaN, infinities and -0.0 give the same results as the CPU's addition, in every version: at each
/// place in a vector, in each lane, on both sides of the edges of tiles.
TEST(Special, WhatIsNoOrdinaryNumber) {
  COURSE_NEEDS_GPU(gpu);
  const float inf = std::numeric_limits<float>::infinity(),
              nan = std::numeric_limits<float>::quiet_NaN();
  const std::pair<float, float> kinds[] = {{inf, 1},  {inf, -inf},        {nan, 1},
                                           {1, nan},  {-0.0f, -0.0f},     {-0.0f, 0.0f},
                                           {-inf, 2}, {3.0e38f, 3.0e38f}, {0x1p-149f, 0}};
  const std::int64_t n = 4099;
  for (std::size_t first = 0; first < std::size(kinds); ++first) {
    std::vector<float> a(n), b(n);
    for (std::size_t i = 0; i < a.size(); ++i) {
      std::tie(a[i], b[i]) = kinds[(first + i) % std::size(kinds)];
    }
    const course::Buffer da = course_test::to_device(a), db = course_test::to_device(b),
                         dc(a.size() * sizeof(float));
    const auto study = course::chapter().studies.front();
    const auto problem = study.make({{{"n", n}}}, 1, course::Input::random);
    for (const course::Version& v : study.versions) {
      if (v.id == "91_memcpy" || !course::missing(v, *problem, *gpu).empty()) continue;
      SCOPED_TRACE(v.id);
      course::Arguments arguments;
      arguments.inputs = {da.data(), db.data()};
      arguments.outputs = {dc.data()};
      COURSE_CHECK(v.launch(*problem, arguments));
      const auto c = course_test::to_host<float>(dc.data(), n);
      for (std::size_t i = 0; i < c.size(); ++i) {
        const float want = a[i] + b[i];
        const bool same = std::isnan(want)
                              ? std::isnan(c[i])
                              : c[i] == want && std::signbit(c[i]) == std::signbit(want);
        ASSERT_TRUE(same) << a[i] << " + " << b[i] << " at " << i << " gave " << c[i];
      }
    }
  }
}

/// The versions count elements in 64 bits: 2^32 + 5 elements, where memory allows (48 GiB).
TEST(Special, MoreThanFourGigaElements) {
  COURSE_NEEDS_GPU(gpu);
  if (std::getenv("COURSE_SANITIZE") != nullptr) GTEST_SKIP() << "too large for a sanitizer";
  if (gpu->simulated) GTEST_SKIP() << "too large for the CPU backend";
  const std::int64_t n = (std::int64_t{1} << 32) + 5;
  std::size_t free = 0, total = 0;
  COURSE_CHECK(cudaMemGetInfo(&free, &total));
  if (free < std::size_t(13) * std::size_t(n)) GTEST_SKIP() << "needs 56 GB of free device memory";
  const course::Buffer a(4 * std::size_t(n)), b(4 * std::size_t(n));
  course::Buffer c(4 * std::size_t(n));
  const auto study = course::chapter().studies.front();
  const auto problem = study.make({{{"n", n}}}, 1, course::Input::random);
  const std::int64_t probes[] = {0,
                                 (std::int64_t{1} << 31) - 1,
                                 std::int64_t{1} << 31,
                                 (std::int64_t{1} << 32) - 1,
                                 std::int64_t{1} << 32,
                                 n - 1};
  auto* pa = static_cast<float*>(a.data());
  auto* pb = static_cast<float*>(b.data());
  COURSE_CHECK(cudaMemset(pa, 0, a.bytes()));
  COURSE_CHECK(cudaMemset(pb, 0, b.bytes()));
  for (const std::int64_t i : probes) {
    const float x = static_cast<float>(i % 1000 + 1), y = 0.5f;
    COURSE_CHECK(cudaMemcpy(pa + i, &x, sizeof x, cudaMemcpyHostToDevice));
    COURSE_CHECK(cudaMemcpy(pb + i, &y, sizeof y, cudaMemcpyHostToDevice));
  }
  for (const course::Version& v : study.versions) {
    if (v.role != course::Role::version || v.id == "01_one_thread")
      continue;  // 01 would take minutes
    if (!course::missing(v, *problem, *gpu).empty()) continue;
    SCOPED_TRACE(v.id);
    c.poison();
    course::Arguments arguments;
    arguments.inputs = {pa, pb};
    arguments.outputs = {c.data()};
    COURSE_CHECK(v.launch(*problem, arguments));
    COURSE_CHECK(cudaDeviceSynchronize());
    for (const std::int64_t i : probes) {
      float got = 0;
      COURSE_CHECK(
          cudaMemcpy(&got, static_cast<float*>(c.data()) + i, sizeof got, cudaMemcpyDeviceToHost));
      EXPECT_EQ(got, static_cast<float>(i % 1000 + 1) + 0.5f) << "at " << i;
    }
  }
}

#ifndef SIMT  // the CPU backend has no graphs
#endif

TEST(Special,
     TheSequenceHasItsNames) {  // needs no GPU: lessons and results refer to these names
  EXPECT_EQ(version("06_vectors").title, "one float4 per thread");
  EXPECT_EQ(course::chapter().studies.front().name, "sequence");
}

}  // namespace

int main(int argc, char** argv) {
  course_test::take_order(&argc, argv);
  testing::InitGoogleTest(&argc, argv);
  course_test::register_chapter(course::chapter(), inputs);
  course_test::register_contracts(course::chapter());
  return RUN_ALL_TESTS();
}
