// What is special about chapter 07. Sizes, families of inputs, orders and contracts are tested by
// the suites that every chapter shares.
#include "../chapters/07_quicksort/quicksort.hpp"
#include "chapter_test.hpp"
#include "contract.hpp"

namespace {

using course::Input;

#ifdef SIMT
const course_test::Inputs inputs = {Input::random, Input::integers};
#else
const course_test::Inputs inputs = {Input::random,    Input::integers,   Input::equal,
                                    Input::ascending, Input::descending, Input::few_distinct,
                                    Input::denormal,  Input::large};
#endif

}  // namespace

int main(int argc, char** argv) {
  course_test::take_order(&argc, argv);
  testing::InitGoogleTest(&argc, argv);
  course_test::register_chapter(course::chapter(), inputs);
  course_test::register_contracts(course::chapter());
  return RUN_ALL_TESTS();
}
