// The program behind an exercise: one file of yours, beside the version that it has to match or to
// beat. Passed means: right on every size below, and, where the exercise asks for it, fast enough:
// by its rate on a GPU, by what is counted on the CPU backend.
#include "chapter/rows.hpp"
#include "exercise/exercise.hpp"
#include "matmul.hpp"

using bf16_t = __nv_bfloat16;
COURSE_LAUNCHERS(Multiply<__nv_bfloat16>, (multiply), exercise, mma_swizzle, ring);

namespace {

using namespace course;

/// Multiplies; in windows C is first made what it was before.
Version row_of(const char* id, const char* title, Multiply<bf16_t>* multiply) {
  Version version{id, title};
  if (multiply == nullptr) return version;
  version.launch = [multiply](const Problem& problem, const Arguments& arguments) {
    const auto& p = static_cast<const Multiplied<bf16_t>&>(problem);
    bf16_t* const c = arguments.out<bf16_t>(0);
    if (p.in_windows()) {
      const auto bytes = static_cast<std::size_t>(p.rows() * p.ldc()) * sizeof(bf16_t);
      const cudaError_t error = cudaMemcpyAsync(c, arguments.in<bf16_t>(2), bytes,
                                                cudaMemcpyDeviceToDevice, arguments.stream);
      if (error != cudaSuccess) return error;
    }
    return multiply({arguments.in<bf16_t>(0), arguments.in<bf16_t>(1), c, p.rows(), p.cols(),
                     p.depth(), p.lda(), p.lda(), p.ldc(), static_cast<float>(p.scalar(0)),
                     static_cast<float>(p.scalar(1))},
                    arguments.stream);
  };
  return version;
}

Size product(std::int64_t rows, std::int64_t cols, std::int64_t depth) {
  return {{{"rows", rows}, {"cols", cols}, {"depth", depth}}};
}
/// C = -A B^T / 2 + 2 C, with 16 bytes and more between rows.
Size window(std::int64_t rows, std::int64_t cols, std::int64_t depth) {
  Size size = product(rows, cols, depth);
  size.dimensions.push_back({"gap", 1});
  return size;
}

/// In whole tiles and around them, with more steps than a ring has stages. The last one is counted.
std::vector<Size> sizes_of(int number) {
  const Size no_rows = product(0, 5, 3), no_cols = product(5, 0, 3), no_depth = product(3, 5, 0);
  switch (number) {
    case 1:
      return {product(16, 8, 16),
              no_rows,
              no_cols,
              no_depth,
              product(1, 1, 1),
              window(18, 9, 40),
              product(33, 31, 17),
              product(64, 64, 64),
              product(256, 128, 64)};
    case 2:
      return {no_rows,
              no_cols,
              no_depth,
              product(65, 40, 130),
              window(9, 130, 33),
              product(128, 128, 64)};
    case 3:
      return {product(128, 128, 384), no_rows, no_cols, no_depth, window(70, 20, 100),
              product(256, 512, 64)};
    case 4:
      return {product(128, 128, 100),
              product(128, 128, 64),
              no_rows,
              no_cols,
              no_depth,
              product(65, 40, 33),
              window(3, 129, 70),
              product(256, 512, 64)};
    case 5:
      return {no_rows, no_cols, no_depth, window(9, 40, 260), product(256, 128, 64)};
    default:
      return {no_rows, no_cols, no_depth, window(9, 130, 66), product(128, 128, 256)};
  }
}

/// What counts, and how much faster than which version a GPU must be.
void judge_speed(Exercise& exercise) {
  if (exercise.number == 2) {
    // A matrix of ldmatrix has 128 bytes: one wavefront, if its 8 rows lie in different banks. If
    // they all lie in the same ones, 8: then what a warp reads per 16 of its products, 24 matrices,
    // takes 192 clocks of shared memory, and these products 32 of tensor cores as slow as an
    // A100's. A right answer is version 02.
    exercise.most.read_wavefronts = 1;
    exercise.compared = row_of("02_mma", "mma, ldmatrix, swizzle", mma_swizzle::multiply);
    exercise.least_ratio = 0.6;
    exercise.size = product(4096, 4096, 4096);
  } else if (exercise.number == 5) {
    // Per element of A: the 2 bytes of A itself, and of B, of which there is half as much at the
    // last size, each element once: 1 byte. Without multicast each of two blocks reads it. Time
    // does not tell: on an H200 the answer has 0.95 of version 04's rate.
    exercise.most.bulk_bytes_per_element = 3;
    exercise.untimed = "bytes of bulk copies";
  } else if (exercise.number == 6) {
    // 16 tiles of 128 x 128, so 16 of 132 SMs are busy in version 04, and here 64.
    exercise.compared = row_of("04_ring", "a warp orders, four stages", ring::multiply);
    exercise.least_ratio = 2.5;
    exercise.size = product(512, 512, 65536);
    // 128 rows of A and 128 of B; of each a quarter of the columns.
    exercise.most.bulk_bytes_per_block =
        2 * 128 * sizeof(bf16_t) * static_cast<double>(exercise.test_sizes.back()["depth"]) / 4;
  }
}

}  // namespace

int main(int argc, char** argv) {
  Exercise exercise;
  exercise.chapter = "11_matmul_tensor_cores";
  exercise.tensor_cores = true;
  if (exercise.number >= 3) exercise.brings = Exercise::Brings::bulk_copies;
  // sectors, wavefronts and requests in turn
  exercise.solutions = {{106496, 0, 52}, {3072, 1024, 192}, {24576, 0, 32},
                        {24576, 0, 32},  {5632, 0, 32},     {6144, 4096, 136}};
  exercise.make = make_problem<Multiplied<bf16_t>>();
  exercise.yours = row_of("yours", "your version", exercise::multiply);
  exercise.test_sizes = sizes_of(exercise.number);
  judge_speed(exercise);
  return run_exercise(argc, argv, exercise);
}
