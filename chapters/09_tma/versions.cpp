// The versions of this chapter and its studies: the one list behind tables, tests and plots.
#include "chapter/rows.hpp"
#include "measure/anchors.hpp"
#include "tma.hpp"

using namespace course;

COURSE_LAUNCHERS(Scale, (scale), bulk_load, bulk_store, ring, short_ring, cache_hint);
COURSE_LAUNCHERS(ScaleMatrix, (scale), matrix);
COURSE_LAUNCHERS(ScaleMatrix, (transpose), transpose_plain, transpose_swizzled, transpose_groups,
                 by_threads_study, cublas_geam);
COURSE_LAUNCHERS(SumColumns, (sum_columns), bulk_reduction, atomics_study);
COURSE_LAUNCHERS(CutWindow, (cut), fill);
COURSE_LAUNCHERS(PickRows, (pick), every_kth_row);
COURSE_LAUNCHERS(ShowSwizzle, (show), swizzle);
COURSE_LAUNCHERS(SumNeighbours, (sum_neighbours), volume);
COURSE_LAUNCHERS(CopyInFlight, (copy), in_flight_study);
COURSE_LAUNCHERS(CopyAhead, (copy), prefetch_study);

namespace {

#ifdef SIMT
constexpr bool all_is_checked = true;  // access by access
#else
constexpr bool all_is_checked = false;
#endif

Size matrix_size(std::int64_t rows, std::int64_t cols) {
  return Size{{{"rows", rows}, {"cols", cols}}};
}

/// The course's fastest copy of as many bytes: the ceiling.
Version bulk_copy_row() {
  return bulk_copy_version("92_bulk_copy", Role::limit)
      .solving([](const Size& size, std::uint64_t seed, Input input) {
        return std::make_unique<CopyProblem>(Size{{{"n", size["n"]}}}, seed, input);
      });
}

Version bulk_copy_of_matrix() {
  Version version = bulk_copy_row().solving(make_problem<ScaleProblem<1>>());
  if (version.launch) {
    version.launch = [launch = version.launch](const Problem& p, const Arguments& a) {
      const std::int64_t rows = p.size()["rows"], cols = p.size()["cols"];
      if (rows < 0 || cols < 0 || (rows > 0 && cols > INT64_MAX / rows)) {
        return cudaErrorInvalidValue;
      }
      return launch(CopyProblem(Size{{{"n", rows * cols}}}, p.seed(), p.input()), a);
    };
  }
  return version;
}

Version multiples_of_four(Version version) {
  version.takes = [](const Size& size) { return size["rows"] % 4 == 0 && size["cols"] % 4 == 0; };
  return version;
}

Version columns_by_four(Version version) {
  version.takes = [](const Size& size) { return size["cols"] % 4 == 0; };
  return version;
}

/// Edges of groups of four, of tiles and of blocks; enough tiles for several rounds of all blocks.
std::vector<Size> test_sizes() {
  std::vector<std::int64_t> sizes = {0,    1,    2,    3,    4,    5,    31,   33,    127,  129,
                                     1023, 1024, 1025, 2048, 4099, 8191, 8193, 20483, 70001};
  if (!all_is_checked) sizes.insert(sizes.end(), {1000003, (1 << 22) + 5});
  return sizes_of_n(sizes);
}

/// Matrices whose rows are multiples of 16 bytes, and some whose rows are not.
std::vector<Size> test_matrices() {
  std::vector<Size> sizes;
  for (const auto& [rows, cols] : std::vector<std::pair<int, int>>{
           {0, 0},    {0, 8},    {7, 0},    {1, 4},    {4, 4},     {3, 8},     {8, 128}, {7, 132},
           {9, 124},  {33, 32},  {31, 36},  {64, 64},  {68, 60},   {60, 68},   {132, 4}, {4, 260},
           {128, 64}, {1, 1000}, {1000, 4}, {257, 20}, {100, 300}, {129, 256}, {512, 4}}) {
    sizes.push_back(matrix_size(rows, cols));
  }
  if (!all_is_checked) {
    for (const auto& [rows, cols] : std::vector<std::pair<int, int>>{{1001, 1004}, {2048, 1024}}) {
      sizes.push_back(matrix_size(rows, cols));
    }
  }
  return sizes;
}

Study sequence() {
  Study study{"sequence", "A pass over an array, by orders for whole tiles", Type::f32,
              make_problem<ScaleProblem<2>>()};
  study.versions = {
      row("01_bulk_load", "loads by bulk copies", bulk_load::scale).needing(90).up_to(grid_of(128)),
      row("02_bulk_store", "stores, too", bulk_store::scale)
          .needing(90)
          .up_to(grid_of(1024))
          .aligned(16),
      row("09_ring", "a ring of four tiles", ring::scale).needing(90).up_to(any_n).aligned(16),
      row("10_short_ring", "eight neighbouring tiles per block", short_ring::scale)
          .needing(90)
          .up_to(grid_of(8192) + 1023)
          .aligned(16),
      row("11_cache_hint", "loads stay in the L2 cache", cache_hint::scale)
          .needing(90)
          .up_to(grid_of(8192) + 1023)
          .aligned(16),
      bulk_copy_row(),
  };
  study.sizes = {Size{{{"n", std::int64_t{1} << 28}}}};
  study.test_sizes = test_sizes();
  return study;
}

Study size_sweep() {
  return at_sizes(sequence(), "size", "Rate over size, L2 cold", "01,02,09-11,92",
                  powers_of_two({12, 16, 20, 22, 24, 26, 28, 30}), "n", "floats");
}

Study reduction() {
  Study study{"reduction", "Column sums: who adds to global memory?", Type::f32,
              make_problem<ColumnSums>()};
  study.versions = {
      columns_by_four(row("03_bulk_reduction", "an order that adds", bulk_reduction::sum_columns))
          .needing(90)
          .aligned(16),
      columns_by_four(row("by_atomics", "an atomic per float", atomics_study::sum_columns))
          .in_file("studies/atomics")
          .needing(90)
          .aligned(16),
  };
  const auto size = [](std::int64_t rows, std::int64_t cols, std::int64_t deep) {
    return Size{{{"rows", rows}, {"cols", cols}, {"deep", deep}}};
  };
  for (const int deep : {1, 2, 4, 8, 16, 32, 64, 128}) {
    study.sizes.push_back(size(16384, 16384, deep));
  }
  study.cpu_sizes = {size(64, 1024, 1), size(64, 1024, 16)};
  for (const int deep : {1, 7, 64}) {
    for (const auto& [rows, cols] : std::vector<std::pair<int, int>>{
             {0, 0}, {0, 8}, {3, 0}, {1, 4}, {5, 4}, {63, 512}, {65, 516}, {130, 1020}}) {
      study.test_sizes.push_back(size(rows, cols, deep));
    }
  }
  study.axis = "deep";
  study.axis_label = "rows that a block adds before it adds to global memory";
  return study;
}

Study tensor() {
  Study study{"matrix", "A pass over a matrix, by tensor maps", Type::f32,
              make_problem<ScaleProblem<2>>()};
  study.versions = {
      columns_by_four(row("04_tensor_map", "boxes of 8 x 128", matrix::scale))
          .needing(90)
          .aligned(16),
      bulk_copy_of_matrix(),
  };
  study.sizes = {matrix_size(16384, 16384), matrix_size(16001, 16004), matrix_size(1000003, 268),
                 matrix_size(268, 1000004)};
  study.cpu_sizes = {matrix_size(512, 512), matrix_size(301, 404)};
  study.test_sizes = test_matrices();
  return study;
}

Study window() {
  Study study{"window", "A window of a matrix, with what lies outside filled in", Type::u32,
              make_problem<Window>()};
  Version version{"05_fill", "zeros or NaN"};
  version.declared = type_text<CutWindow>();
  CutWindow* const cut = fill::cut;
  if (cut) {
    version.launch = [cut](const Problem& p, const Arguments& a) {
      const Size& s = p.size();
      return cut(a.in<float>(0), a.out<float>(0), s["in_rows"], s["in_cols"], s["rows"], s["cols"],
                 s["row0"], s["col0"], s["nan"], a.stream);
    };
  }
  version.takes = [](const Size& s) {
    return s["cols"] % 4 == 0 && s["in_cols"] % 4 == 0 && s["col0"] % 4 == 0;
  };
  study.versions = {version.needing(90).aligned(16)};
  const auto size = [](std::int64_t rows, std::int64_t cols, std::int64_t height,
                       std::int64_t width, std::int64_t row0, std::int64_t col0, std::int64_t nan) {
    return Size{{{"in_rows", rows},
                 {"in_cols", cols},
                 {"rows", height},
                 {"cols", width},
                 {"row0", row0},
                 {"col0", col0},
                 {"nan", nan}}};
  };
  study.sizes = {size(16384, 16384, 16384, 16384, 0, 0, 0),
                 size(16384, 16384, 16384, 16384, -100, -100, 0),
                 size(16384, 16384, 16384, 16384, 8000, 8000, 1)};
  study.cpu_sizes = {size(300, 300, 256, 256, -20, -20, 0)};
  study.test_sizes = {size(4, 4, 0, 0, 0, 0, 0),          size(4, 4, 1, 4, 0, 0, 0),
                      size(4, 4, 3, 8, -1, -4, 0),        size(4, 4, 3, 8, -1, -4, 1),
                      size(100, 60, 100, 60, 0, 0, 1),    size(100, 60, 40, 20, 30, 16, 0),
                      size(100, 60, 130, 100, -7, -8, 1), size(100, 60, 130, 100, -7, -8, 0),
                      size(33, 68, 17, 68, 20, 4, 1),     size(33, 68, 20, 8, 40, 0, 1),
                      size(33, 68, 20, 8, -50, 100, 0),   size(70, 300, 70, 300, 1, -300, 1)};
  return study;
}

Study rows_study() {
  Study study{"every", "Every k-th row, by an element stride", Type::f32,
              make_problem<EveryKthRow>()};
  study.versions = {
      columns_by_four(row("06_every_kth_row", "boxes of 16 x 64", every_kth_row::pick))
          .needing(90)
          .aligned(16)};
  const auto size = [](std::int64_t rows, std::int64_t cols, std::int64_t every) {
    return Size{{{"rows", rows}, {"cols", cols}, {"every", every}}};
  };
  for (const int every : {1, 2, 3, 4, 5, 6, 7, 8}) {
    study.sizes.push_back(size(16384, 16384, every));
    for (const auto& [rows, cols] :
         std::vector<std::pair<int, int>>{{0, 4}, {1, 4}, {33, 64}, {130, 68}, {257, 20}}) {
      study.test_sizes.push_back(size(rows, cols, every));
    }
  }
  study.cpu_sizes = {size(256, 256, 2), size(256, 256, 5)};
  study.axis = "every";
  study.axis_label = "k";
  study.log_axis = false;
  return study;
}

Study swizzles() {
  Study study{"swizzle", "Where a swizzle puts a box", Type::u32, make_problem<SwizzledRows>()};
  Version version =
      row("07_swizzle", "shared memory as it is", swizzle::show).needing(90).aligned(16);
  study.versions = {version};
  const auto size = [](std::int64_t rows, std::int64_t bytes, std::int64_t length,
                       std::int64_t element) {
    return Size{{{"rows", rows}, {"bytes", bytes}, {"length", length}, {"element", element}}};
  };
  for (const int length : {32, 64, 128}) {
    study.sizes.push_back(size(1 << 22, length, length, 4));
    for (const int element : {1, 2, 4, 8}) {
      for (const int bytes : {16, 32, 48, 64, 96, 112, 128}) {
        if (bytes <= length) study.test_sizes.push_back(size(48, bytes, length, element));
      }
    }
  }
  study.cpu_sizes = {size(1 << 10, 128, 128, 4)};
  study.axis = "length";
  study.axis_label = "bytes per row of the swizzle";
  return study;
}

Study volumes() {
  Study study{"volume", "Sums of neighbours in three dimensions", Type::f32,
              make_problem<NeighbourSums>()};
  Version version =
      row("08_volume", "boxes with a margin", volume::sum_neighbours).needing(90).aligned(16);
  version.takes = [](const Size& size) { return size["cols"] % 4 == 0; };
  study.versions = {version};
  const auto size = [](std::int64_t nz, std::int64_t ny, std::int64_t nx) {
    return Size{{{"planes", nz}, {"rows", ny}, {"cols", nx}}};
  };
  study.sizes = {size(512, 512, 1024), size(301, 403, 1004)};
  study.cpu_sizes = {size(16, 32, 64)};
  study.test_sizes = {size(0, 0, 0),  size(0, 3, 4),  size(1, 1, 4),   size(2, 3, 4),
                      size(4, 8, 32), size(5, 9, 36), size(7, 17, 28), size(9, 20, 100)};
  return study;
}

Study transposes() {
  Study study{"transpose", "Transpose, loaded by tensor maps", Type::f32,
              make_problem<Transpose>()};
  const auto of_study = [](const char* id, const char* title, ScaleMatrix* transpose) {
    return row(id, title, transpose).needing(90);
  };
  study.versions = {
      columns_by_four(of_study("12_transpose", "a tile as it lies", transpose_plain::transpose))
          .aligned(16),
      columns_by_four(of_study("13_transpose_swizzled", "swizzled", transpose_swizzled::transpose))
          .aligned(16),
      multiples_of_four(
          of_study("14_transpose_groups", "4 x 4 per thread", transpose_groups::transpose))
          .aligned(16),
      multiples_of_four(of_study("by_threads", "chapter 03's record", by_threads_study::transpose))
          .in_file("studies/by_threads")
          .aligned(16),
      row("90_cublas", "cublasSgeam", cublas_geam::transpose).peer("cuBLAS"),
      bulk_copy_of_matrix(),
  };
  study.sizes = {matrix_size(16384, 16384), matrix_size(8192, 8192),    matrix_size(16416, 16416),
                 matrix_size(8224, 8224),   matrix_size(1000, 1000004), matrix_size(1000004, 1000)};
  study.cpu_sizes = {matrix_size(512, 512)};
  study.test_sizes = test_matrices();
  return study;
}

Study in_flight() {
  Study study{"in_flight", "Bandwidth over bytes on their way, by size of a bulk copy", Type::f32,
              make_problem<ScaleProblem<1>>()};
  const auto in_flight_row = [](int chunk) {
    Version version{"chunk_" + std::to_string(chunk) + "k",
                    std::to_string(chunk) + " KiB per bulk copy"};
    version.declared = type_text<CopyInFlight>();
    CopyInFlight* const copy = in_flight_study::copy;
    if (copy) {
      version.launch = [copy, chunk](const Problem& p, const Arguments& a) {
        return copy(a.in<float>(0), a.out<float>(0), p.n(), chunk, p.size()["kib"], a.stream);
      };
    }
    version.takes = [chunk](const Size& size) {
      const std::int64_t kib = size["kib"];
      return kib % chunk == 0 && kib / chunk <= 16;
    };
    return version.in_file("studies/in_flight").needing(90).up_to(grid_of(256 * chunk)).aligned(16);
  };
  for (const int chunk : {1, 4, 16, 64}) study.versions.push_back(in_flight_row(chunk));
  for (const int kib : {1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192}) {
    study.sizes.push_back(Size{{{"n", std::int64_t{1} << 28}, {"kib", kib}}});
  }
  for (const int kib : {4, 16, 64}) {
    for (const std::int64_t n : {0, 4, 1024, 5000, 20000, 70000}) {
      study.test_sizes.push_back(Size{{{"n", n}, {"kib", kib}}});
    }
  }
  study.cpu_sizes = {Size{{{"n", 1 << 16}, {"kib", 16}}}};
  study.axis = "kib";
  study.axis_label = "KiB on their way per SM";
  return study;
}

Study prefetches() {
  Study study{"prefetch", "8 KiB per SM on their way, and tiles ordered into the L2 cache",
              Type::f32, make_problem<ScaleProblem<1>>()};
  study.versions = {row("prefetch", "two blocks per SM", prefetch_study::copy, {"n", "ahead"})
                        .in_file("studies/prefetch")
                        .needing(90)
                        .up_to(grid_of(1024))
                        .aligned(16)};
  for (const int ahead : {0, 264, 528, 1056, 2112, 4224, 8448}) {
    study.sizes.push_back(Size{{{"n", std::int64_t{1} << 28}, {"ahead", ahead}}});
  }
  for (const int ahead : {0, 1, 5}) {
    for (const std::int64_t n : {0, 1024, 4096, 20480}) {
      study.test_sizes.push_back(Size{{{"n", n}, {"ahead", ahead}}});
    }
  }
  study.axis = "ahead";
  study.axis_label = "tiles of 4 KiB ahead (264 are loaded at once)";
  study.log_axis = false;
  return study;
}

}  // namespace

course::Chapter course::chapter() {
  return {"09_tma",
          "tiles moved by the TMA",
          {sequence(), reduction(), tensor(), window(), rows_study(), swizzles(), volumes(),
           transposes(), in_flight(), prefetches(), size_sweep()}};
}
