// The versions of this chapter and its studies: the one list behind tables, tests and plots.
#include <array>
#include <cstdio>

#include "chapter/rows.hpp"
#include "matmul.hpp"
#include "narrow.hpp"

using namespace course;
using operands::Product;

#define LAUNCHERS(names, ...)                                    \
  COURSE_LAUNCHERS(Multiply<__nv_bfloat16>, names, __VA_ARGS__); \
  COURSE_LAUNCHERS(Multiply<float>, names, __VA_ARGS__)
LAUNCHERS((multiply), wmma_tiles, mma_swizzle, single_buffer, ring, wide_tile, persistent,
          multicast, async_store, take_turns, full_rounds, full_turns, limit, cublas_lt);
LAUNCHERS((multiply_large, multiply_medium, multiply_small), limit);
LAUNCHERS((multiply_by_search), cublas_lt);
COURSE_LAUNCHERS(FloatsTimesVector, (multiply_floats), narrow_study);
COURSE_LAUNCHERS(HalvesTimesVector, (multiply_halves), narrow_study);
COURSE_LAUNCHERS(BytesTimesVector, (multiply_bytes), narrow_study);

namespace {

constexpr std::int64_t all_of_an_sm = 227 * 1024;  // bytes of shared memory

/// Multiplies; in windows C is first made what it was before.
template <class T>
Version product_row(const char* id, const char* title, Multiply<T>* multiply) {
  Version version{id, title};
  version.declared = type_text<Multiply<T>>();
  version = version.aligned(16);
  if (multiply == nullptr) return version;
  version.launch = [multiply](const Problem& problem, const Arguments& arguments) {
    const auto& p = static_cast<const Multiplied<T>&>(problem);
    T* const c = arguments.out<T>(0);
    const Product<T> of = {arguments.in<T>(0),
                           arguments.in<T>(1),
                           c,
                           p.rows(),
                           p.cols(),
                           p.depth(),
                           p.lda(),
                           p.lda(),
                           p.ldc(),
                           static_cast<float>(p.scalar(0)),
                           static_cast<float>(p.scalar(1))};
    if (p.in_windows() && p.rows() > 0 && operands::valid(of)) {
      const std::size_t bytes = static_cast<std::size_t>(p.rows() * p.ldc()) * sizeof(T);
      const cudaError_t error =
          cudaMemcpyAsync(c, arguments.in<T>(2), bytes, cudaMemcpyDeviceToDevice, arguments.stream);
      if (error != cudaSuccess) return error;
    }
    return multiply(of, arguments.stream);
  };
  return version;
}

/// wgmma is Hopper's alone.
Version of_hopper(const Version& version, std::int64_t shared_bytes = all_of_an_sm) {
  Version row = version.needing(90).sharing(shared_bytes);
  row.needs.no_later = true;
  return row;
}

template <class T>
Version record_row() {
  return of_hopper(product_row<T>("80_limit", "a block per tile, or 10, or 11", limit::multiply));
}
template <class T>
Version peer_row() {
  return product_row<T>("90_cublas", "cublasLtMatmul, first heuristic", cublas_lt::multiply)
      .peer("cuBLAS")
      .solving(make_problem<RoundedParts<T>>());
}
template <class T>
Version best_peer_row() {
  return product_row<T>("search", "cublasLtMatmul, best of its list", cublas_lt::multiply_by_search)
      .peer("cuBLAS")
      .solving(make_problem<RoundedParts<T>>())
      .in_file("90_cublas");
}

template <class T>
std::vector<Version> products() {
  const auto row = product_row<T>;
  return {
      row("01_wmma", "wmma", wmma_tiles::multiply).needing(80),
      row("02_mma", "mma, ldmatrix, swizzle", mma_swizzle::multiply).needing(80).sharing(96 * 1024),
      of_hopper(row("03_wgmma", "wgmma and TMA, one buffer", single_buffer::multiply)),
      of_hopper(row("04_ring", "a warp orders, four stages", ring::multiply)),
      of_hopper(row("05_wide_tile", "128 x 256 per block", wide_tile::multiply)),
      of_hopper(row("06_persistent", "a block per SM, in bands", persistent::multiply)),
      of_hopper(row("07_multicast", "clusters of two", multicast::multiply)),
      of_hopper(row("08_async_store", "the TMA stores", async_store::multiply)),
      of_hopper(row("09_take_turns", "two warpgroups take turns", take_turns::multiply)),
      of_hopper(row("10_full_rounds", "as many tiles as rounds hold", full_rounds::multiply)),
      of_hopper(
          row("11_full_turns", "turns, and as many tiles as rounds hold", full_turns::multiply)),
      record_row<T>(),
      peer_row<T>()};
}

/// The block per tile of 80, in the three sizes.
template <class T>
std::vector<Version> blocks_per_tile() {
  return {of_hopper(product_row<T>("large", "a block per 128 x 256", limit::multiply_large))
              .in_file("80_limit"),
          of_hopper(product_row<T>("medium", "a block per 64 x 128", limit::multiply_medium))
              .in_file("80_limit"),
          of_hopper(product_row<T>("small", "a block per 64 x 64", limit::multiply_small))
              .in_file("80_limit")};
}

Size product(std::int64_t rows, std::int64_t cols, std::int64_t depth) {
  return Size{{{"rows", rows}, {"cols", cols}, {"depth", depth}}};
}
Size cube(std::int64_t side) { return product(side, side, side); }

/// Around the tiles of all versions along each side, and longer than all stages of a ring.
std::vector<Size> test_sizes() {
  std::vector<Size> sizes = {product(0, 0, 0),    product(0, 5, 3),      product(5, 0, 3),
                             product(3, 5, 0),    product(1, 1, 200),    product(33, 1, 7),
                             product(3, 250, 12), product(9, 247, 20),   product(63, 66, 65),
                             product(5, 260, 12), product(127, 131, 100)};
#ifndef SIMT  // they take long there
  for (const auto& [rows, cols, depth] : std::vector<std::array<int, 3>>{{1, 1, 1},
                                                                         {1, 33, 2},
                                                                         {8, 16, 32},
                                                                         {64, 64, 64},
                                                                         {129, 4, 40},
                                                                         {128, 128, 16},
                                                                         {300, 700, 520},
                                                                         {256, 256, 256},
                                                                         {511, 513, 127},
                                                                         {1000, 1003, 1001},
                                                                         {1021, 7, 4099},
                                                                         {3, 3001, 517},
                                                                         {2048, 2048, 64},
                                                                         {1024, 4096, 72},
                                                                         {1024, 2048, 40},
                                                                         {4100, 2304, 72}}) {
    sizes.push_back(product(rows, cols, depth));
  }
#endif
  return sizes;
}

/// Tensor cores' multiplications and additions per clock and SM, of bf16 with sums in fp32.
double tensor_rate(int capability) {
  switch (capability) {
    case 90:
      return 2048;
    case 80:
      return 1024;
    default:
      return 512;
  }
}

/// All tensor cores multiply, every clock.
template <class T>
Limit tensor_bound(const Anchors& anchors, const Problem&) {
  const double each = tensor_rate(anchors.capability) / (sizeof(T) == 4 ? 2 : 1);
  const double rate = 2 * each * anchors.sm_count * anchors.clock_mhz * 1e6 / 1e12;
  char how[160];
  std::snprintf(how, sizeof how,
                "derived: %.0f multiplications and additions per clock on each of %d SMs at %.0f "
                "MHz, which power does not allow",
                each, anchors.sm_count, anchors.clock_mhz);
  return {"all tensor cores busy", rate, "TFLOP/s", how};
}

template <class T>
Study sequence(const char* name, const char* title) {
  Study study{name, title, Multiplied<T>::type, make_problem<Multiplied<T>>()};
  study.versions = products<T>();
  study.sizes = {cube(4096), cube(8192)};
  study.cpu_sizes = {cube(64)};
  study.test_sizes = test_sizes();
  study.slow_launch_s = 1;
  study.limit = tensor_bound<T>;
  return study;
}
Study of_bf16() { return sequence<__nv_bfloat16>("sequence", "C = A B^T, bf16"); }
Study of_tf32() { return sequence<float>("tf32", "C = A B^T, floats as tf32"); }

/// Rows of a study, and cublasLt's best.
template <class T>
Study and_search(Study study) {
  study.versions.push_back(best_peer_row<T>());
  return study;
}

template <class T>
Study size_sweep(const Study& of, const char* name, const char* title, const char* only) {
  std::vector<Size> sizes;
  for (std::int64_t side = 2048; side <= 16384; side *= 2) sizes.push_back(cube(side));
  Study study =
      and_search<T>(at_sizes(of, name, title, only, sizes, "rows", "rows, columns and depth"));
  study.cpu_sizes = {cube(32), cube(64)};
  return study;
}

/// Squares, odd ones, tall, flat, little depth, much depth.
template <class T>
Study shapes(const Study& of, const char* name, const char* title) {
  Study study =
      at_sizes(of, name, title, "80,90",
               {cube(512), cube(1024), cube(2048), cube(4096), cube(8192), cube(16384), cube(1001),
                cube(4093), product(65536, 256, 1024), product(256, 65536, 1024),
                product(8192, 8192, 256), product(2048, 2048, 16384)});
  study.cpu_sizes = {cube(64), product(129, 65, 33)};
  return study;
}

/// One element more or less: what begins rows where 16-byte accesses may not.
Study odd_sides() {
  Study study = at_sizes(of_bf16(), "odd", "8192, and two less along one side", "80,90",
                         {cube(8192), product(8190, 8192, 8192), product(8192, 8190, 8192),
                          product(8192, 8192, 8190)});
  study.cpu_sizes = {cube(64), product(62, 64, 64), product(64, 62, 64), product(64, 64, 62)};
  return study;
}

/// All ways that 80 chooses among.
template <class T>
Study ways(const Study& of, const char* name, const char* title) {
  Study study = at_sizes(of, name, title, "08-11,80",
                         {cube(512), cube(1024), cube(2048), cube(4096), cube(8192)}, "rows",
                         "rows, columns and depth");
  for (const Version& each : blocks_per_tile<T>()) study.versions.push_back(each);
  study.cpu_sizes = {cube(64), cube(128)};
  study.test_sizes = test_sizes();
#ifdef SIMT
  study.test_sizes = {product(0, 5, 3), product(63, 66, 65), product(127, 131, 100)};
#endif
  return study;
}

/// Each row alone for 0.4 s at a time: it has the clock that its own power allows.
Study alone() {
  Study study = at_sizes(of_bf16(), "alone", "Each row for 0.4 s at a time, bf16", "08-11,80,90",
                         {cube(4096), cube(8192)}, "rows", "rows, columns and depth");
  study.sample_s = 0.4;
  study.cpu_sizes = {cube(64)};
  return study;
}

/// The same product of other numbers: power, and so the clock, depends on them.
Study other_numbers() {
  Study study =
      at_sizes(of_bf16(), "numbers", "The same kernel, other numbers", "80,90", {cube(8192)});
  std::vector<Version> rows;
  for (const auto& [suffix, input] :
       std::vector<std::pair<const char*, Input>>{{"", Input::random}, {"_zeros", Input::zeros}}) {
    for (Version row : study.versions) {
      row = row.in_file(row.id.c_str());
      row.id += suffix;
      if (input != Input::random) {
        const Input of = input;
        row = row.solving([of](const Size& size, std::uint64_t seed, Input) {
          return std::make_unique<Multiplied<__nv_bfloat16>>(size, seed, of);
        });
      }
      rows.push_back(row);
    }
  }
  study.versions = rows;
  study.cpu_sizes = {cube(64)};
  return study;
}

template <class T>
Study windows(const char* name, const char* title) {
  const auto window = [](std::int64_t rows, std::int64_t cols, std::int64_t depth,
                         std::int64_t gap) {
    return Size{{{"rows", rows}, {"cols", cols}, {"depth", depth}, {"gap", gap}}};
  };
  Study study{name, title, Multiplied<T>::type, make_problem<Multiplied<T>>()};
  study.versions = chosen(products<T>(), "01,02,08-11,80,90");  // all ways to store C
  for (const Version& each : blocks_per_tile<T>()) study.versions.push_back(each);
  study.sizes = {window(1023, 1023, 1023, 1)};
  study.cpu_sizes = {window(64, 64, 64, 0), window(65, 70, 33, 1)};
  study.test_sizes = {window(0, 0, 0, 0),     window(1, 1, 1, 1),    window(2, 3, 0, 1),
                      window(33, 65, 10, 2),  window(64, 66, 70, 1), window(130, 40, 30, 3),
                      window(129, 129, 9, 1), window(40, 261, 24, 1)};
  study.slow_launch_s = 1;
  study.limit = tensor_bound<T>;
  return study;
}

/// A matrix times a vector, of floats, halves and bytes. Each row has a problem of its own, so
/// there are three studies of one size.
template <class P>
Study matrix_times_vector(const char* name, const char* title, Type type, Version version) {
  const auto matrix = [](std::int64_t rows, std::int64_t cols) {
    return Size{{{"rows", rows}, {"cols", cols}}};
  };
  Study study{name, title, type, make_problem<P>()};
  study.versions = {version.in_file("studies/narrow").aligned(16)};
  study.sizes = {matrix(1 << 14, 1 << 14)};
  study.cpu_sizes = {matrix(64, 4096)};
  study.test_sizes = {matrix(0, 0),    matrix(0, 5),    matrix(3, 0),    matrix(1, 1),
                      matrix(8, 3),    matrix(7, 4),    matrix(9, 8),    matrix(5, 16),
                      matrix(17, 15),  matrix(16, 255), matrix(1, 1024), matrix(9, 1027),
                      matrix(8, 4096), matrix(3, 4112), matrix(2, 8196), matrix(33, 272)};
#ifndef SIMT
  study.test_sizes.push_back(matrix(2, 65536));
#endif
  return study;
}

}  // namespace

course::Chapter course::chapter() {
  const Study bf16 = of_bf16(), tf32 = of_tf32();
  return {
      "11_matmul_tensor_cores",
      "C = alpha A B^T + beta C on tensor cores",
      {bf16, tf32,
       and_search<__nv_bfloat16>(shapes<__nv_bfloat16>(bf16, "shapes", "Twelve shapes, bf16")),
       size_sweep<__nv_bfloat16>(bf16, "size", "Rate over the side of a square, bf16", "08,80,90"),
       alone(), other_numbers(), odd_sides(),
       ways<__nv_bfloat16>(bf16, "ways", "What version 80 chooses among, bf16"),
       matrix_times_vector<NarrowFloat>("floats", "A matrix of floats times a vector", Type::f32,
                                        row("float", "float", narrow_study::multiply_floats)),
       matrix_times_vector<NarrowHalf>("halves", "A matrix of halves times a vector", Type::u16,
                                       row("half2", "half2", narrow_study::multiply_halves)),
       matrix_times_vector<NarrowByte>("bytes", "A matrix of bytes times a vector", Type::u8,
                                       row("dp4a", "dp4a", narrow_study::multiply_bytes)),
       shapes<float>(tf32, "shapes_tf32", "Twelve shapes, tf32"),
       size_sweep<float>(tf32, "size_tf32", "Rate over the side of a square, tf32", "80,90"),
       ways<float>(tf32, "ways_tf32", "What version 80 chooses among, tf32"),
       windows<__nv_bfloat16>("windows",
                              "C = -A B^T / 2 + 2 C in larger matrices, bf16; C is "
                              "copied first"),
       windows<float>("windows_tf32",
                      "C = -A B^T / 2 + 2 C in larger matrices, tf32; C is "
                      "copied first")}};
}
