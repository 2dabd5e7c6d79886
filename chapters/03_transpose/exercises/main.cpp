// The program behind an exercise: one file of yours, beside the version that it has to match or to
// beat. Passed means: right on every size below, and, where the exercise asks for it, fast enough
// or, on the CPU backend, without bank conflicts.
#include "chapter.hpp"
#include "exercise.hpp"
#include "transpose.hpp"

using TransposeFloats = cudaError_t(const float* in, float* out, std::int64_t rows,
                                    std::int64_t cols, cudaStream_t stream);
namespace exercise {
COURSE_OPTIONAL TransposeFloats transpose;
}
namespace shared_tile {
TransposeFloats transpose;
}
namespace padded {
TransposeFloats transpose;
}

static course::Version row(const char* id, const char* title, TransposeFloats* transpose,
                           course::Role role) {
  course::Version version{id, title, {}, role};
  if (!transpose) return version;
  version.launch = [transpose](const course::Problem& p, const course::Arguments& a) {
    return transpose(a.in<float>(0), a.out<float>(0), p.size()["rows"], p.size()["cols"], a.stream);
  };
  return version;
}

static course::Size matrix(std::int64_t rows, std::int64_t cols) {
  return {{{"rows", rows}, {"cols", cols}}};
}

int main(int argc, char** argv) {
  course::Exercise exercise;
  exercise.chapter = "03_transpose";
  exercise.number = EXERCISE;
  exercise.make = course::make_problem<Transpose<float>>();
  exercise.yours = row("yours", "your version", exercise::transpose, course::Role::exercise);
  exercise.reference = row("06_padded", "a column more", padded::transpose, course::Role::version);
  // tall ones first: the starter of exercise 1 gets them wrong without leaving its arrays
  exercise.test_sizes = {matrix(32, 32),   matrix(64, 96),   matrix(33, 32),  matrix(1000, 1),
                         matrix(1, 1),     matrix(0, 5),     matrix(31, 33),  matrix(127, 129),
                         matrix(129, 257), matrix(300, 100), matrix(256, 320)};
  exercise.size = matrix(16384, 16384);
  if (EXERCISE == 2) {
    exercise.reference = row("05_shared_tile", "tiles in shared memory", shared_tile::transpose,
                             course::Role::version);
    exercise.least_ratio = 1.2;
    exercise.most_wavefronts = 1;
  }
  if (EXERCISE == 3) exercise.least_ratio = 1.1;
  return course::run_exercise(argc, argv, exercise);
}
