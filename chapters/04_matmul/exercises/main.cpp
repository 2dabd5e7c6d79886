// The program behind an exercise: one file of yours, beside the version that it has to match or to
// beat. Passed means: right on every size below, and, where the exercise asks for it, fast enough:
// by its rate on a GPU, by what is counted on the CPU backend.
#include "chapter/rows.hpp"
#include "exercise/exercise.hpp"
#include "matmul.hpp"

using course::Size;
using course::Version;

COURSE_LAUNCHERS(Multiply, (multiply), exercise, coalesced, shared_tile, square_per_thread);

static Size product(std::int64_t rows, std::int64_t cols, std::int64_t depth) {
  return {{{"rows", rows}, {"cols", cols}, {"depth", depth}}};
}

/// C = -A B / 2 + 2 C, with `gap` elements between the end of a row and the beginning of the next.
static Size window(std::int64_t rows, std::int64_t cols, std::int64_t depth, std::int64_t gap) {
  Size size = product(rows, cols, depth);
  size.dimensions.push_back({"lda", depth + gap});
  size.dimensions.push_back({"ldb", cols + gap});
  size.dimensions.push_back({"ldc", cols + gap});
  size.dimensions.push_back({"shift", 0});
  return size;
}
static bool is_window(const Size& size) { return size.dimensions.size() > 3; }

static std::unique_ptr<course::Problem> problem_of(const Size& size, std::uint64_t seed,
                                                   course::Input input) {
  if (is_window(size)) return std::make_unique<Window>(size, seed, input);
  return std::make_unique<Product>(size, seed, input);
}

/// A row for products and for windows, whose C is first made what it was before.
static Version row_of(const char* id, const char* title, Multiply* multiply) {
  Version version =
      course::row(id, title, multiply, {"rows", "cols", "depth", "depth", "cols", "cols"});
  if (!version.launch) return version;
  const auto of_product = version.launch;
  const auto of_window =
      course::row(id, title, multiply, {"rows", "cols", "depth", "lda", "ldb", "ldc"}).launch;
  version.launch = [=](const course::Problem& problem, const course::Arguments& arguments) {
    if (!is_window(problem.size())) return of_product(problem, arguments);
    const auto bytes = static_cast<std::size_t>(4 * problem.outputs()[0].count);
    const cudaError_t error = cudaMemcpyAsync(arguments.out<float>(0), arguments.in<float>(2),
                                              bytes, cudaMemcpyDeviceToDevice, arguments.stream);
    return error == cudaSuccess ? of_window(problem, arguments) : error;
  };
  return version;
}

/// What counts, and how much faster than which version a GPU must be.
static void judge_speed(course::Exercise& exercise) {
  // The 32 floats of a warp are 128 bytes; side by side they fill 4 sectors. The last test size is
  // a multiple of all tiles, so no row begins inside a sector.
  if (exercise.number == 1 || exercise.number >= 4) exercise.most.load_sectors = 4;
  if (exercise.number == 1) {
    // A right answer is version 02. With neighbours below each other a warp's load of A moves 32
    // sectors instead of 1, and its store 32 instead of 4: less than half as fast everywhere.
    exercise.most.store_sectors = 4;
    exercise.compared = row_of("02_coalesced", "neighbours side by side", coalesced::multiply);
    exercise.least_ratio = 0.5;
    exercise.size = product(2048, 2048, 2048);
  }
  if (exercise.number == 3) {  // other tiles, and several elements for a thread
    exercise.room.sectors = 2;
    exercise.room.in_turn = 10;
  }
  if (exercise.number < 4) return;
  exercise.compared = row_of("03_shared_tile", "tiles in shared memory", shared_tile::multiply);
  // 128 / tile blocks side by side load A once each, and as many below each other B, which is as
  // large: with tiles of 32, 8 loads per 32 elements of A. Without tiles, 128 and more.
  exercise.most.load_requests = 8;
  // Wavefronts of shared memory for each multiplication of a warp. In version 03: 2 as it is
  // written; nvcc reads A four at a time, 2 + 4 wavefronts for 4 multiplications: 1.5. An SM needs
  // at least a clock for a wavefront, and half of one (64 lanes: compute capability 7.5, 8.0) or a
  // quarter (128) for the multiplication.
  if (exercise.number == 4) {
    // Four rows per thread: an element of B serves 4, 5/4; by nvcc 4 * 2 + 4 for 16, half of
    // version 03.
    exercise.most.read_wavefronts_per_multiply = 1.25;
    exercise.least_ratio = 1.2;
  }
  if (exercise.number == 5) {
    exercise.room.in_turn = 3;
    // 4 + 4 for 16: a half; by nvcc at most that, a third of version 03. And 8 loads and 16
    // multiplications take 24 / 4 = 6 clocks to issue, or 8 to multiply in 64 lanes, where version
    // 03 takes 24 for its wavefronts.
    exercise.most.read_wavefronts_per_multiply = 0.5;
    exercise.most.read_wavefronts = 1;
    exercise.least_ratio = 2;
  }
  if (exercise.number == 6) {
    // Version 05: 16 for 64. In reads of 16 bytes two of A take 2 and two of B 4 each: 12 for 64.
    // (8, if the lanes agree in pairs: version 07.) The stores of A's transposed tile may conflict
    // in pairs. Of instructions, 05 issues 64 + 16 for 64 multiplications (64 + 10, where nvcc
    // reads four of A at a time), with 16 bytes 64 + 4: 20 or 18.5 clocks against 17. So the factor
    // is small. Where an SM has 64 lanes the multiplications take 32 clocks anyway, and gain what
    // they wait less for the loads between the barriers: 8 for a thread, or 2 of 16 bytes.
    exercise.compared =
        row_of("05_square_per_thread", "8 x 8 per thread", square_per_thread::multiply);
    exercise.most.read_wavefronts_per_multiply = 12.0 / 64;
    exercise.test_sizes.push_back(product(256, 256, 32));
    exercise.room = {3, 2, 3};
    exercise.most.write_wavefronts = 2;
    exercise.least_ratio = 1.05;
  }
}

int main(int argc, char** argv) {
  course::Exercise exercise;
  exercise.chapter = "04_matmul";
  // sectors, wavefronts and requests in turn
  exercise.solutions = {{165888, 0, 129},    {165888, 0, 129},   {10240, 67584, 137},
                        {10240, 43008, 356}, {6144, 17408, 592}, {12288, 9216, 640}};
  exercise.make = problem_of;
  exercise.yours = row_of("yours", "your version", exercise::multiply);
  // Around tiles of 32, 64 and 128. In a window C has a past, and rows do not follow each other.
  exercise.test_sizes = {product(32, 32, 32),   product(1, 1, 1),     product(2, 3, 4),
                         product(0, 5, 3),      product(31, 32, 33),  product(33, 31, 8),
                         product(4, 65, 31),    product(65, 7, 70),   product(129, 130, 9),
                         window(1, 1, 1, 1),    window(5, 0, 3, 1),   window(3, 5, 0, 1),
                         window(33, 65, 17, 3), window(64, 32, 8, 4), product(128, 128, 64)};
  exercise.size = product(4096, 4096, 4096);
  judge_speed(exercise);
  return course::run_exercise(argc, argv, exercise);
}
