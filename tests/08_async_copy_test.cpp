// Chapter 08: every version on every test size and family of inputs, held to its contract. What is
// special about this chapter comes between the includes and main().
#include <algorithm>
#include <cstdio>
#include <string>

#include "chapter_test.hpp"
#include "contract.hpp"

namespace {

/// Under compute-sanitizer's synccheck the rows whose copies arrive at a barrier themselves
/// (cp.async.mbarrier.arrive) are left out: the tool takes such an arrival for one of the thread,
/// and reports "Missing wait" at the thread's own arrival, including inside cuda::pipeline. The
/// other three tools test these rows.
const char* const copies_arrive[] = {"04_pipeline", "05_producers", "08_mbarrier",
                                     "by_warps",    "by_threads",   "block"};

course::Chapter tested() {
  course::Chapter chapter = course::chapter();
  if (!course::under_sanitizer("synccheck")) return chapter;
  for (const char* id : copies_arrive) {
    testing::GTEST_FLAG(filter) += std::string(":*.") + id;  // the filter ends with exceptions
    for (course::Study& study : chapter.studies) {
      auto& rows = study.versions;
      rows.erase(std::remove_if(rows.begin(), rows.end(),
                                [&](const course::Version& row) { return row.id == id; }),
                 rows.end());
    }
    std::printf("synccheck: without %s, whose copies arrive at a barrier\n", id);
  }
  return chapter;
}

}  // namespace

int main(int argc, char** argv) {
  course_test::take_order(&argc, argv);
  testing::InitGoogleTest(&argc, argv);
  course_test::register_chapter(
      course::chapter(), {course::Input::random, course::Input::integers, course::Input::denormal});
  course_test::register_contracts(tested());
  return RUN_ALL_TESTS();
}
