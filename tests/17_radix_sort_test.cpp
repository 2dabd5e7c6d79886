// Chapter 17: every version on every test size and family of inputs, held to its contract; what is
// special about this chapter comes between the includes and main().
#include "chapter_test.hpp"
#include "contract.hpp"

int main(int argc, char** argv) {
  course_test::take_order(&argc, argv);
  testing::InitGoogleTest(&argc, argv);
  course_test::register_chapter(
      course::chapter(), {course::Input::random, course::Input::integers, course::Input::denormal});
  course_test::register_contracts(course::chapter());
  return RUN_ALL_TESTS();
}
