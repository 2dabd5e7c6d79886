#pragma once
/// \file
/// Values that the tests of common/ share.

#include <limits>

#include "chapter/problem.hpp"

namespace course_test {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

using course::Input;
constexpr Input families[] = {Input::random,    Input::integers,   Input::equal,
                              Input::ascending, Input::descending, Input::few_distinct,
                              Input::denormal,  Input::large};

}  // namespace course_test
