// Chapter 10: every version on every test size and family of inputs, held to its contract. Its
// special cases, counters that reach their limit and clusters of all sizes, are sizes of its
// studies.
#include "chapter_test.hpp"
#include "contract.hpp"

int main(int argc, char** argv) {
  course_test::take_order(&argc, argv);
  testing::InitGoogleTest(&argc, argv);
  course_test::register_chapter(
      course::chapter(), {course::Input::random, course::Input::integers, course::Input::large});
  course_test::register_contracts(course::chapter());
  return RUN_ALL_TESTS();
}
