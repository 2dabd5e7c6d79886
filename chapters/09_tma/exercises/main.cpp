// The program behind an exercise: one file of yours, beside the version that it has to beat. Passed
// means: right on every size below, and, where the exercise asks for it, fast enough: by its rate
// on a GPU, by what is counted on the CPU backend.
#include "chapter/rows.hpp"
#include "exercise/exercise.hpp"
#include "tma.hpp"

COURSE_LAUNCHERS(Scale, (scale), exercise);
COURSE_LAUNCHERS(ScaleMatrix, (scale, transpose), exercise);
COURSE_LAUNCHERS(ScaleMatrix, (transpose), transpose_plain, transpose_swizzled);
COURSE_LAUNCHERS(CutWindow, (cut), exercise);

namespace {

using namespace course;

std::vector<Size> matrices(const std::vector<std::pair<std::int64_t, std::int64_t>>& list) {
  std::vector<Size> sizes;
  for (const auto& [rows, cols] : list) sizes.push_back(Size{{{"rows", rows}, {"cols", cols}}});
  return sizes;
}

Version window_row() {
  Version version{"yours", "your version"};
  CutWindow* const cut = exercise::cut;
  if (cut) {
    version.launch = [cut](const Problem& p, const Arguments& a) {
      const Size& s = p.size();
      return cut(a.in<float>(0), a.out<float>(0), s["in_rows"], s["in_cols"], s["rows"], s["cols"],
                 s["row0"], s["col0"], s["nan"], a.stream);
    };
  }
  return version;
}

std::vector<Size> windows() {
  std::vector<Size> sizes;
  for (const auto& v : std::vector<std::vector<std::int64_t>>{{64, 128, 64, 128, 0, 0, 0},
                                                              {100, 60, 40, 20, 30, 16, 0},
                                                              {100, 60, 130, 100, -7, -8, 1},
                                                              {33, 68, 20, 8, -50, 100, 0},
                                                              {70, 300, 70, 300, 1, -300, 1},
                                                              {33, 68, 0, 0, 0, 0, 0},
                                                              {128, 256, 128, 256, 0, 0, 0}}) {
    sizes.push_back(Size{{{"in_rows", v[0]},
                          {"in_cols", v[1]},
                          {"rows", v[2]},
                          {"cols", v[3]},
                          {"row0", v[4]},
                          {"col0", v[5]},
                          {"nan", v[6]}}});
  }
  return sizes;
}

}  // namespace

int main(int argc, char** argv) {
  Exercise exercise;
  exercise.chapter = "09_tma";
  exercise.brings = Exercise::Brings::bulk_copies;
  if (exercise.number == 3) exercise.room.in_turn = 2;  // as many blocks as places on the device
  // sectors, wavefronts and requests in turn
  exercise.solutions = {{17502, 2176, 16}, {30401, 9728, 19}, {17502, 2176, 52},
                        {8192, 0, 0},      {8100, 3900, 8},   {8100, 1280, 32}};
  const int number = exercise.number;
  if (number == 1 || number == 3) {
    exercise.make = make_problem<ScaleProblem<2>>();
    Scale* const scale = exercise::scale;
    exercise.yours = row("yours", "your version", scale);
    std::vector<std::int64_t> sizes = {1024, 1, 3, 5, 1023, 1025, 2048, 4099, 20483, 70001, 0};
#ifndef SIMT  // there a ring turns only with millions of floats
    sizes.insert(sizes.end(), {5000011, (1 << 24) + 3});
#endif
    sizes.push_back(1 << 18);
    exercise.test_sizes = sizes_of_n(sizes);
    exercise.size = {{{"n", std::int64_t{1} << 28}}};
  } else if (number == 2) {
    exercise.make = make_problem<ScaleProblem<2>>();
    ScaleMatrix* const scale = exercise::scale;
    exercise.yours = row("yours", "your version", scale);
    exercise.test_sizes = matrices(
        {{64, 256}, {1, 4}, {8, 128}, {9, 132}, {100, 300}, {257, 20}, {0, 8}, {301, 404}});
    exercise.size = {{{"rows", 16384}, {"cols", 16384}}};
  } else if (number == 4) {
    exercise.make = make_problem<Window>();
    exercise.yours = window_row();
    exercise.test_sizes = windows();
    exercise.most.bulk_bytes_per_block = 4096;  // a tile for a block
    exercise.most.launches = 1;
    exercise.size = exercise.test_sizes.front();
  } else {
    exercise.make = make_problem<Transpose>();
    ScaleMatrix* const transpose = exercise::transpose;
    exercise.yours = row("yours", "your version", transpose);
    exercise.test_sizes = matrices({{64, 64},
                                    {4, 4},
                                    {60, 68},
                                    {132, 4},
                                    {4, 260},
                                    {128, 64},
                                    {100, 300},
                                    {0, 8},
                                    {512, 512}});
    exercise.size = {{{"rows", 16384}, {"cols", 16384}}};
    exercise.compared =
        number == 5 ? row("12_transpose", "a tile as it lies", transpose_plain::transpose)
                    : row("13_transpose_swizzled", "swizzled", transpose_swizzled::transpose);
    // Measured: 1.84 times as fast on an H200, 1.6 on an H100; and, without cache hints, 1.2 and
    // 1.04.
    exercise.least_ratio = number == 5 ? 1.4 : 1.03;
    exercise.most.read_wavefronts = number == 5 ? 4 : 1;
    if (number == 6) exercise.most.read_requests = 0.25;
    if (number == 6) exercise.most.store_sectors = 4;
  }
  return run_exercise(argc, argv, exercise);
}
