// The versions of this chapter and its studies: the one list behind tables, tests and plots.
#include "chapter/rows.hpp"
#include "name.hpp"

using namespace course;

COURSE_LAUNCHERS(Apply, (apply), first);

namespace {

Study sequence() {
  return {
      "sequence",
      "Scale an array",
      Type::f32,
      make_problem<Scale>(),
      {row("01_first", "one thread per element", first::apply).up_to(grid_of(256))},
      powers_of_two({28}),
      sizes_of_n({0, 1, 2, 31, 32, 33, 255, 256, 257, 1000003}),
  };
}

}  // namespace

course::Chapter course::chapter() { return {"NN_name", "out = factor in", {sequence()}}; }
