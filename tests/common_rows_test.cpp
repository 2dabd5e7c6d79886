// Rows made of launchers (common/rows.hpp), and how the shared tests report absent rows.
#include <gtest/gtest.h>

#include "chapter/rows.hpp"
#include "chapter_test.hpp"

using course::Chapter;
using course::row;
using course::Study;

/// Defined below for std::int64_t; declared for int as well, without a definition.
using Launcher = cudaError_t(const float* in, float* out, std::int64_t n, cudaStream_t stream);
using Narrow = cudaError_t(const float* in, float* out, int n, cudaStream_t stream);
namespace there {
cudaError_t copy(const float*, float*, std::int64_t, cudaStream_t) { return cudaSuccess; }
}  // namespace there
COURSE_LAUNCHERS(Narrow, (copy), narrow);

namespace {

Chapter chapter_of(std::vector<course::Version> versions) {
  Study study;
  study.name = "sequence";
  study.versions = std::move(versions);
  return {"99_test", "rows", {study}};
}

using Lines = std::vector<std::string>;

TEST(Rows, AllThere) {
  const Chapter chapter = chapter_of({row("01_copy", "", there::copy)});
  EXPECT_EQ(course_test::absent_rows(chapter, {"01_copy"}, {"01_copy"}), Lines{});
}

TEST(Rows, ALauncherDeclaredOtherwiseIsNamed) {
  const Chapter chapter = chapter_of({row("01_copy", "", narrow::copy)});
  const Lines lines = course_test::absent_rows(chapter, {"01_copy"}, {"01_copy"});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines.front().rfind("sequence.01_copy: declared as cudaError", 0), 0u) << lines[0];
  EXPECT_NE(lines.front().find("float*, int, "), std::string::npos) << lines[0];
  EXPECT_NE(lines.front().find(", not defined so in 01_copy.cu"), std::string::npos) << lines[0];
}

TEST(Rows, AFileLeftOutOfThisBuildIsNoFault) {
  const Chapter chapter = chapter_of({row("90_peer", "", narrow::copy)});
  EXPECT_EQ(course_test::absent_rows(chapter, {}, {"90_peer"}), Lines{});
}

TEST(Rows, AFileThatNobodyLists) {
  const Chapter chapter = chapter_of({row("side", "", narrow::copy).in_file("studies/side")});
  EXPECT_EQ(course_test::absent_rows(chapter, {}, {}),
            Lines{"sequence.side: studies/side.cu is not listed in CMakeLists.txt"});
}

TEST(Rows, AFileWithoutARow) {
  const Chapter chapter = chapter_of({row("01_copy", "", there::copy)});
  EXPECT_EQ(course_test::absent_rows(chapter, {"01_copy", "02_new"}, {"01_copy", "02_new"}),
            Lines{"02_new.cu: no study has a row of it"});
}

}  // namespace
