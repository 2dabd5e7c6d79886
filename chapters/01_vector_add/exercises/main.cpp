// The program behind an exercise: one file of yours, beside the version that it has to match or to
// beat. Passed means: right on every size below, and, where the exercise asks for it, fast enough.
#include <cstdio>
#include <cstdlib>

#include "check.hpp"
#include "exercise.hpp"
#include "vector_add.hpp"

using Add = cudaError_t(const float* a, const float* b, float* c, std::int64_t n,
                        cudaStream_t stream);
namespace exercise {
COURSE_OPTIONAL Add add;
}
namespace one_thread_per_element {
Add add;
}

static course::Version row(const char* id, const char* title, Add* add, course::Role role) {
  return {id, title,
          [add](const course::Problem& p, const course::Arguments& a) {
            return add(a.in<float>(0), a.in<float>(1), a.out<float>(0), p.n(), a.stream);
          },
          role};
}

int main(int argc, char** argv) {
  course::Exercise exercise;
  exercise.chapter = "01_vector_add";
  exercise.number = EXERCISE;
  exercise.make = course::make_problem<VectorAdd>();
  exercise.yours = row("yours", "your version", exercise::add, course::Role::exercise);
  exercise.reference = row("02_one_thread_per_element", "one thread an element",
                           one_thread_per_element::add, course::Role::version);
  for (const std::int64_t n : {0, 1, 31, 32, 33, 255, 256, 257, 1000003})
    exercise.test_sizes.push_back({{{"n", n}}});
  exercise.size = {{{"n", std::int64_t{1} << 28}}};
  if (EXERCISE == 2) exercise.least_ratio = 0.9;
  if (EXERCISE == 3) exercise.least_ratio = 1.15;
  return course::run_exercise(argc, argv, exercise);
}
