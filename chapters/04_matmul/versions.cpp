// The versions of this chapter and its studies: the one list behind tables, tests and plots.
#include <algorithm>
#include <array>
#include <cstdio>

#include "chapter/rows.hpp"
#include "matmul.hpp"
#include "measure/anchors.hpp"

using namespace course;

COURSE_LAUNCHERS(Multiply, (multiply), wrong_order, coalesced, shared_tile, column_per_thread,
                 square_per_thread, vector_loads, warp_tiles, double_buffered, wide_tiles,
                 cublas_gemm);
COURSE_LAUNCHERS(Multiply,
                 (multiply, multiply_large, multiply_medium, multiply_small, multiply_deep,
                  multiply_medium_split, multiply_small_split, multiply_deep_split),
                 limit);
COURSE_LAUNCHERS(Multiply, (multiply_two, multiply_four, multiply_eight), launch_bounds);

namespace {

struct Listed {
  const char *id, *title;
  Multiply* launcher;
};

const Listed record = {"80_limit", "more warps, shared depth", limit::multiply};

std::vector<Listed> ladder() {
  return {{"01_wrong_order", "neighbours below each other", wrong_order::multiply},
          {"02_coalesced", "neighbours side by side", coalesced::multiply},
          {"03_shared_tile", "tiles in shared memory", shared_tile::multiply},
          {"04_column_per_thread", "8 elements per thread", column_per_thread::multiply},
          {"05_square_per_thread", "8 x 8 per thread", square_per_thread::multiply},
          {"06_vectors", "16-byte accesses", vector_loads::multiply},
          {"07_warp_tiles", "a square for each warp", warp_tiles::multiply},
          {"08_double_buffered", "copies while it computes", double_buffered::multiply},
          {"09_wide_tiles", "16 x 8 per thread", wide_tiles::multiply}};
}

/// Ways of 80 that its own choice would not take at the sizes of tests.
std::vector<Listed> methods() {
  return {{"large", "tiles of 96 x 128", limit::multiply_large},
          {"medium", "tiles of 64 x 128", limit::multiply_medium},
          {"small", "tiles of 64 x 64", limit::multiply_small},
          {"deep", "64 x 64, teams of threads", limit::multiply_deep},
          {"medium_split", "64 x 128, 4 blocks each", limit::multiply_medium_split},
          {"small_split", "64 x 64, 8 blocks each", limit::multiply_small_split},
          {"deep_split", "64 x 64, 8 blocks of teams", limit::multiply_deep_split}};
}

Version product_row(const Listed& of) {
  return row(of.id, of.title, of.launcher, {"rows", "cols", "depth", "depth", "cols", "cols"});
}

/// What rows of 80 need: clusters, and the shared memory of its teams.
Version of_80(const Version& version) {
  return version.in_file("80_limit").needing(90).sharing(152064);
}

Version peer_row() {
  return product_row({"90_cublas", "cublasSgemm, fp32", cublas_gemm::multiply}).peer("cuBLAS");
}

/// Multiplies in windows; first C is made what it was before.
Version window_row(const Listed& of) {
  Version version{of.id, of.title};
  Multiply* const multiply = of.launcher;
  if (multiply == nullptr) return version;
  version.launch = [multiply](const Problem& p, const Arguments& a) {
    const Size& size = p.size();
    const std::int64_t shift = size["shift"];
    if (size["rows"] > 0 && size["rows"] < INT32_MAX) {
      const std::size_t bytes =
          sizeof(float) * static_cast<std::size_t>(shift + size["rows"] * size["ldc"]);
      const cudaError_t error = cudaMemcpyAsync(a.out<float>(0), a.in<float>(2), bytes,
                                                cudaMemcpyDeviceToDevice, a.stream);
      if (error != cudaSuccess) return error;
    }
    return multiply(a.in<float>(0) + shift, a.in<float>(1) + shift, a.out<float>(0) + shift,
                    size["rows"], size["cols"], size["depth"], size["lda"], size["ldb"],
                    size["ldc"], static_cast<float>(p.scalar(0)), static_cast<float>(p.scalar(1)),
                    a.stream);
  };
  return version;
}

Size product(std::int64_t rows, std::int64_t cols, std::int64_t depth) {
  return Size{{{"rows", rows}, {"cols", cols}, {"depth", depth}}};
}
Size cube(std::int64_t side) { return product(side, side, side); }

/// Around the tiles of all versions along each side; and longer than all stages of tiles together.
std::vector<Size> test_sizes() {
  std::vector<Size> sizes;
  for (const auto& [rows, cols, depth] : std::vector<std::array<int, 3>>{{0, 0, 0},
                                                                         {0, 5, 3},
                                                                         {5, 0, 3},
                                                                         {3, 5, 0},
                                                                         {1, 1, 1},
                                                                         {1, 1, 100},
                                                                         {1, 33, 2},
                                                                         {33, 1, 7},
                                                                         {2, 3, 4},
                                                                         {31, 32, 33},
                                                                         {32, 32, 32},
                                                                         {33, 31, 8},
                                                                         {4, 4, 1},
                                                                         {64, 64, 64},
                                                                         {63, 65, 17},
                                                                         {65, 68, 9},
                                                                         {5, 260, 12},
                                                                         {129, 4, 40},
                                                                         {128, 128, 8},
                                                                         {127, 129, 15},
                                                                         {97, 260, 33},
                                                                         {96, 128, 500},
                                                                         {132, 132, 4},
                                                                         {8, 8, 300},
                                                                         {130, 257, 23},
                                                                         {257, 65, 71}
#ifndef SIMT  // they take long there
                                                                         ,
                                                                         {256, 256, 256},
                                                                         {511, 513, 127},
                                                                         {1000, 1003, 1001},
                                                                         {1021, 7, 4099},
                                                                         {3, 3001, 517},
                                                                         {2048, 2048, 64}
#endif
       }) {
    sizes.push_back(product(rows, cols, depth));
  }
  return sizes;
}

/// All lanes multiply and add, every clock.
Limit multiply_add_bound(const Anchors& anchors, const Problem&) {
  const double each = float_lanes(anchors.capability);
  const double rate = 2 * each * anchors.sm_count * anchors.clock_mhz * 1e6 / 1e12;
  char how[160];
  std::snprintf(
      how, sizeof how,
      "derived: %.0f multiplications and additions per clock on each of %d SMs at %.0f MHz", each,
      anchors.sm_count, anchors.clock_mhz);
  return {"all lanes busy", rate, "TFLOP/s", how};
}

Study sequence() {
  Study study{"sequence", "C = A B, floats", Type::f32, make_problem<Product>()};
  for (const Listed& each : ladder()) study.versions.push_back(product_row(each));
  study.versions.push_back(of_80(product_row(record)));
  study.versions.push_back(peer_row());
  study.sizes = {cube(4096), cube(8192)};
  study.cpu_sizes = {cube(128)};
  study.test_sizes = test_sizes();
  study.slow_launch_s = 1;
  study.limit = multiply_add_bound;
  return study;
}

Study size_sweep() {
  std::vector<Size> sizes;
  for (std::int64_t side = 128; side <= 16384; side *= 2) sizes.push_back(cube(side));
  Study study = at_sizes(sequence(), "size", "Rate over the side of a square",
                         "02-03,05,07,09,80,90", sizes, "rows", "rows, columns and depth");
  study.cpu_sizes = {cube(64), cube(128)};
  return study;
}

/// Squares, odd and prime sides, tall, flat, little depth, much depth.
Study shapes() {
  Study study =
      at_sizes(sequence(), "shapes", "Sixteen shapes", "09,80,90",
               {cube(512), cube(1024), cube(2048), cube(4096), cube(8192), cube(16384), cube(1001),
                cube(4093), product(65536, 256, 1024), product(256, 65536, 1024),
                product(100003, 64, 512), product(64, 100003, 512), product(8192, 8192, 64),
                product(4096, 4096, 16), product(256, 256, 65536), product(511, 1021, 32749)});
  study.cpu_sizes = {cube(128), product(129, 65, 33), product(512, 16, 40), product(16, 512, 40)};
  return study;
}

/// 80 beside the peer, for few and many rows and columns.
Study shape_map() {
  std::vector<Size> sizes;
  for (const std::int64_t rows : {100, 512, 1000, 2048, 4096, 10000}) {
    for (const std::int64_t cols : {100, 512, 1000, 2048, 4096, 10000}) {
      sizes.push_back(product(rows, cols, 2048));
    }
  }
  Study study = at_sizes(sequence(), "map", "Rows and columns, depth 2048", "80,90", sizes);
  study.cpu_sizes = {product(20, 30, 64), product(20, 130, 64), product(100, 30, 64),
                     product(100, 130, 64)};
  return study;
}

/// The ways of 80, each at all sizes.
Study methods_of_80() {
  Study study = at_sizes(sequence(), "methods", "Version 80 with tiles of three sizes, and split",
                         "80", {cube(256), cube(512), cube(1024), cube(2048), cube(4096)}, "rows",
                         "rows, columns and depth");
  study.versions.clear();
  for (const Listed& each : methods()) study.versions.push_back(of_80(product_row(each)));
  study.cpu_sizes = {cube(64), cube(128)};
  study.test_sizes = test_sizes();
  return study;
}

/// Version 05 with fewer and fewer registers.
Study registers() {
  Study study = at_sizes(sequence(), "registers", "Version 05 with fewer and fewer registers", "05",
                         {cube(4096)});
  study.versions.clear();
  for (const Listed& each :
       std::vector<Listed>{{"two", "2 blocks: 128", launch_bounds::multiply_two},
                           {"four", "4 blocks: 64", launch_bounds::multiply_four},
                           {"eight", "8 blocks: 32", launch_bounds::multiply_eight}}) {
    study.versions.push_back(product_row(each).in_file("studies/launch_bounds"));
  }
  study.cpu_sizes = {cube(128)};
  study.test_sizes = {product(0, 5, 3), product(3, 5, 0), product(31, 32, 33), product(65, 68, 9),
                      product(127, 129, 15)};
  return study;
}

Study windows() {
  const auto window = [](std::int64_t rows, std::int64_t cols, std::int64_t depth, std::int64_t lda,
                         std::int64_t ldb, std::int64_t ldc, std::int64_t shift) {
    return Size{{{"rows", rows},
                 {"cols", cols},
                 {"depth", depth},
                 {"lda", lda},
                 {"ldb", ldb},
                 {"ldc", ldc},
                 {"shift", shift}}};
  };
  Study study{"windows", "C = -A B / 2 + 2 C in windows of larger matrices; C is copied first",
              Type::f32, make_problem<Window>()};
  for (const Listed& each : ladder()) study.versions.push_back(window_row(each));
  study.versions.push_back(of_80(window_row(record)));
  for (const Listed& each : methods()) {
    study.versions.push_back(of_80(window_row(each)));
  }
  study.versions.push_back(
      window_row({"90_cublas", "cublasSgemm, fp32", cublas_gemm::multiply}).peer("cuBLAS"));
  study.sizes = {window(4096, 4096, 4096, 4096, 4096, 4096, 0),
                 window(4096, 4096, 4096, 8192, 8192, 8192, 0),
                 window(4095, 4095, 4095, 5001, 4097, 4095, 3)};
  study.cpu_sizes = {window(128, 128, 64, 128, 132, 160, 0), window(65, 70, 33, 41, 99, 71, 3)};
  study.test_sizes = {window(0, 0, 0, 1, 1, 1, 0),         window(1, 1, 1, 1, 1, 1, 0),
                      window(2, 3, 0, 5, 3, 3, 1),         window(1, 1, 1, 5, 6, 7, 1),
                      window(64, 64, 16, 64, 68, 64, 4),   window(33, 65, 10, 11, 70, 66, 3),
                      window(130, 40, 30, 32, 44, 48, 0),  window(40, 132, 24, 24, 132, 135, 0),
                      window(129, 129, 9, 16, 133, 140, 2)};
  study.slow_launch_s = 1;
  study.limit = multiply_add_bound;
  return study;
}

}  // namespace

course::Chapter course::chapter() {
  return {
      "04_matmul",
      "C = alpha A B + beta C",
      {sequence(), size_sweep(), shapes(), shape_map(), methods_of_80(), registers(), windows()}};
}
