// Chapter 01: every version on every test size and family of inputs, and what is special about some
// of them.
#include <limits>
#include <vector>

#include "buffer.hpp"
#include "chapter_test.hpp"
#include "check.hpp"

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

/// NaN and infinity travel through every version like through the CPU's addition.
TEST(Special, NanAndInfinityPropagate) {
  COURSE_NEEDS_GPU(gpu);
  const float inf = std::numeric_limits<float>::infinity(),
              nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> a = {inf, inf, nan, 1, -0.0f, 3.0e38f},
                           b = {1, -inf, 1, nan, -0.0f, 3.0e38f};
  const std::size_t bytes = a.size() * sizeof(float);
  const auto study = course::chapter().studies.front();
  const auto problem =
      study.make({{{"n", static_cast<std::int64_t>(a.size())}}}, 1, course::Input::random);
  for (const course::Version& v : study.versions) {
    if (v.role != course::Role::version || !course::missing(v, *problem, *gpu).empty()) continue;
    SCOPED_TRACE(v.id);
    const course::Buffer da(bytes), db(bytes), dc(bytes);
    COURSE_CHECK(cudaMemcpy(da.data(), a.data(), bytes, cudaMemcpyHostToDevice));
    COURSE_CHECK(cudaMemcpy(db.data(), b.data(), bytes, cudaMemcpyHostToDevice));
    course::Arguments arguments;
    arguments.inputs = {da.data(), db.data()};
    arguments.outputs = {dc.data()};
    COURSE_CHECK(v.launch(*problem, arguments));
    std::vector<float> c(a.size());
    COURSE_CHECK(cudaMemcpy(c.data(), dc.data(), bytes, cudaMemcpyDeviceToHost));
    EXPECT_EQ(c[0], inf);
    EXPECT_TRUE(c[1] != c[1]) << "inf - inf is NaN, got " << c[1];
    EXPECT_TRUE(c[2] != c[2]);
    EXPECT_TRUE(c[3] != c[3]);
    EXPECT_EQ(1 / c[4], -inf) << "-0 + -0 is -0";
    EXPECT_EQ(c[5], inf);
  }
}

/// The ladder counts elements in 64 bits: 2^32 + 5 elements, where memory allows (48 GiB).
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
/// A launcher must not synchronise or allocate, so that it can be captured into a graph.
TEST(Special, LaunchersCanBeCaptured) {
  COURSE_NEEDS_GPU(gpu);
  const auto study = course::chapter().studies.front();
  const auto problem = study.make({{{"n", 1000}}}, 1, course::Input::random);
  cudaStream_t stream{};
  COURSE_CHECK(cudaStreamCreate(&stream));
  for (const course::Version& v : study.versions) {
    if (!course::missing(v, *problem, *gpu).empty() || !v.needs.capturable) continue;
    SCOPED_TRACE(v.id);
    const course::Buffer a(4000), b(4000), c(4000);
    course::Arguments arguments;
    arguments.inputs = {a.data(), b.data()};
    arguments.outputs = {c.data()};
    arguments.stream = stream;
    cudaGraph_t graph{};
    COURSE_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT_EQ(v.launch(*problem, arguments), cudaSuccess);
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    if (graph) COURSE_CHECK(cudaGraphDestroy(graph));
  }
  COURSE_CHECK(cudaStreamDestroy(stream));
}
#endif

TEST(Special,
     TheSequenceHasItsNames) {  // needs no GPU: numbers in lessons and results rely on them
  EXPECT_EQ(version("06_vectors").title, "one float4 a thread");
  EXPECT_EQ(course::chapter().studies.front().name, "sequence");
}

}  // namespace

int main(int argc, char** argv) {
  course_test::take_order(&argc, argv);
  testing::InitGoogleTest(&argc, argv);
  course_test::register_chapter(course::chapter(), inputs);
  return RUN_ALL_TESTS();
}
