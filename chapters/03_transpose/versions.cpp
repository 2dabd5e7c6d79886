// The versions of this chapter and its studies: the one list behind tables, tests and plots.

#include "chapter/rows.hpp"
#include "measure/anchors.hpp"
#include "transpose.hpp"

using namespace course;

COURSE_LAUNCHERS(TransposeFloats, (transpose), copy_floats, copy_vectors, coalesced_reads,
                 coalesced_writes, shared_tile, padded, swizzled, rows_per_thread,
                 vectors_transposed, whole_sectors, limit, cublas_geam);
COURSE_TYPED_LAUNCHERS(TransposePitched, (transpose), any_matrix);

namespace {

/// A copy: a ceiling, no transposition.
Version copy_row(const char* id, const char* title, TransposeFloats* copy) {
  Version version = row(id, title, copy).solving(make_problem<Copy>());
  version.role = Role::limit;
  return version;
}

/// The course's fastest copy.
Version bulk_copy_row() {
  Version version = bulk_copy_version("92_bulk_copy", Role::limit).solving(make_problem<Copy>());
  if (version.launch) {
    version.launch = [launch = version.launch](const Problem& p, const Arguments& a) {
      const std::int64_t rows = p.size()["rows"], cols = p.size()["cols"];
      if (rows < 0 || cols < 0 || (rows > 0 && cols > INT64_MAX / rows)) {
        return cudaErrorInvalidValue;
      }
      const Size flat{{{"n", rows * cols}}};
      return launch(CopyProblem(flat, p.seed(), p.input()), a);
    };
  }
  return version;
}

/// A version that takes only multiples of four.
Version row_of_groups(const char* id, const char* title, TransposeFloats* transpose) {
  Version version = row(id, title, transpose).aligned(16);
  version.takes = [](const Size& size) { return size["rows"] % 4 == 0 && size["cols"] % 4 == 0; };
  return version;
}

template <class T>
Version any_row(const char* id, const char* title, TransposePitched<T>* transpose) {
  const Version version =
      row(id, title, transpose, {"cols", "rows", "rows", "cols"}).in_file("10_any");
  return std::is_same<T, float>::value ? version : version.solving(make_problem<Transpose<T>>());
}

Size matrix(std::int64_t rows, std::int64_t cols) { return Size{{{"rows", rows}, {"cols", cols}}}; }

std::vector<Size> test_sizes() {
  std::vector<Size> sizes;
  for (const auto& [rows, cols] : std::vector<std::pair<int, int>>{
           {0, 0},     {0, 5},    {7, 0},     {1, 1},     {1, 2},       {2, 1},       {3, 5},
           {4, 4},     {31, 33},  {32, 32},   {33, 31},   {1, 1000},    {1000, 1},    {64, 64},
           {63, 65},   {60, 68},  {4, 260},   {132, 4},   {127, 129},   {128, 64},    {8, 1028},
           {257, 19},  {100, 99}, {129, 257}, {512, 4},   {1000, 1003}, {2048, 1024}, {66, 4001},
           {4001, 66}, {7, 301},  {301, 7},   {97, 2711}, {2711, 97},   {513, 515}}) {
    sizes.push_back(matrix(rows, cols));
  }
  return sizes;
}

Study sequence() {
  Study study{"sequence", "Transpose, from copies to the limit", Type::f32,
              make_problem<Transpose<float>>()};
  study.versions = {
      copy_row("01_copy", "copy, one float per thread", copy_floats::transpose),
      copy_row("02_copy_vectors", "copy, one float4 per thread", copy_vectors::transpose)
          .aligned(16),
      row("03_coalesced_reads", "neighbours read neighbours", coalesced_reads::transpose),
      row("04_coalesced_writes", "neighbours write neighbours", coalesced_writes::transpose),
      row("05_shared_tile", "tiles in shared memory", shared_tile::transpose),
      row("06_padded", "a column more", padded::transpose),
      row("07_swizzled", "places by exclusive or", swizzled::transpose),
      row("08_rows_per_thread", "four elements per thread", rows_per_thread::transpose),
      row_of_groups("09_vectors", "16-byte accesses, 64 x 64", vectors_transposed::transpose),
      any_row<float>("10_any", "any size, pitch and type", any_matrix::transpose),
      row("11_whole_sectors", "whole sectors, any size", whole_sectors::transpose),
      row_of_groups("80_limit", "09, keeping the input in L2", limit::transpose).needing(90),
      row("90_cublas", "cublasSgeam", cublas_geam::transpose).peer("cuBLAS"),
      bulk_copy_row(),
  };
  study.sizes = {matrix(16384, 16384)};
  study.cpu_sizes = {matrix(512, 512)};
  study.test_sizes = test_sizes();
  return study;
}

Study size_sweep() {
  std::vector<Size> sizes;
  for (std::int64_t side = 256; side <= 16384; side *= 2) sizes.push_back(matrix(side, side));
  Study study = at_sizes(sequence(), "size", "Rate over size, square, L2 cold",
                         "02,04,06,08-11,80,90,92", sizes, "rows", "rows and columns");
  study.cpu_sizes = {matrix(256, 256), matrix(512, 512)};
  return study;
}

/// Powers of two are the sizes where all rows begin in the same part of the memory.
Study shapes() {
  Study study = at_sizes(
      sequence(), "shapes", "Powers of two and their neighbours, primes, tall and flat",
      "02,08-11,80,90,92",
      {matrix(8192, 8192), matrix(8224, 8224), matrix(8193, 8193), matrix(16384, 16384),
       matrix(16416, 16416), matrix(16385, 16385), matrix(12289, 8191), matrix(20011, 12007),
       matrix(1001, 3001), matrix(1000, 1000003), matrix(1000003, 1000), matrix(64, 1 << 22),
       matrix(1 << 22, 64), matrix(33, 4000037), matrix(4000037, 33), matrix(5, 10000019)});
  study.cpu_sizes = {matrix(512, 512),  matrix(544, 544),  matrix(513, 513), matrix(101, 307),
                     matrix(100, 2003), matrix(2003, 100), matrix(33, 1009), matrix(1009, 33)};
  return study;
}

/// The same calls behind an empty kernel, behind themselves, and from the host with nothing hidden.
Study launches() {
  Study study = at_sizes(
      sequence(), "launches",
      "Small matrices: behind an empty kernel, behind themselves, from the host", "09,80,90",
      {matrix(256, 256), matrix(512, 512), matrix(1024, 1024), matrix(2048, 2048)}, "rows",
      "rows and columns");
  study.versions = in_three_ways(study.versions);
  study.cpu_sizes = {matrix(256, 256)};
  return study;
}

Study followed() {
  Study study = then_read(at_sizes(
      sequence(), "followed", "A transpose, and a kernel that reads its result", "09,11,80,90",
      {matrix(256, 256), matrix(512, 512), matrix(1024, 1024), matrix(2048, 2048),
       matrix(4096, 4096), matrix(8192, 8192), matrix(16384, 16384), matrix(1001, 3001),
       matrix(12289, 8191), matrix(1000, 1000003), matrix(1 << 22, 64), matrix(33, 4000037),
       matrix(4000037, 33)}));
  study.cpu_sizes = {matrix(256, 256), matrix(101, 307)};
  return study;
}

Study elements() {
  Study study{"elements", "Version 10 for elements of 1, 2, 4 and 8 bytes", Type::f32,
              make_problem<Transpose<float>>()};
  study.versions = {
      any_row<std::uint8_t>("u8", "1 byte", any_matrix::transpose),
      any_row<std::uint16_t>("u16", "2 bytes", any_matrix::transpose),
      any_row<float>("f32", "4 bytes", any_matrix::transpose),
      any_row<double>("f64", "8 bytes", any_matrix::transpose),
  };
  study.sizes = {matrix(16384, 16384), matrix(16385, 16385)};
  study.cpu_sizes = {matrix(512, 512), matrix(513, 513)};
  study.test_sizes = test_sizes();
  return study;
}

Study windows() {
  const auto window = [](std::int64_t rows, std::int64_t cols, std::int64_t in_pitch,
                         std::int64_t out_pitch, std::int64_t shift) {
    return Size{{{"rows", rows},
                 {"cols", cols},
                 {"in_pitch", in_pitch},
                 {"out_pitch", out_pitch},
                 {"shift", shift}}};
  };
  Study study{"windows", "Version 10 on windows of larger matrices", Type::u32,
              make_problem<Window>()};
  Version version{"10_any", "any size, pitch and type"};
  TransposePitched<std::uint32_t>* const transpose = any_matrix::transpose;
  if (transpose) {
    version.launch = [transpose](const Problem& p, const Arguments& a) {
      const Size& size = p.size();
      return transpose(a.in<std::uint32_t>(0) + size["shift"], size["in_pitch"],
                       a.out<std::uint32_t>(0) + size["shift"], size["out_pitch"], size["rows"],
                       size["cols"], a.stream);
    };
  }
  study.versions = {version};
  study.sizes = {window(8192, 8192, 8192, 8192, 0),   window(8192, 8192, 16384, 16384, 0),
                 window(8192, 8192, 16384, 16384, 1), window(8192, 8192, 8200, 8200, 0),
                 window(8192, 8192, 8193, 8192, 0),   window(8192, 8192, 8192, 8193, 0),
                 window(8191, 8191, 10000, 10000, 3)};
  study.cpu_sizes = {window(512, 512, 512, 512, 0), window(512, 512, 1024, 1024, 1),
                     window(511, 511, 625, 625, 3)};
  study.test_sizes = {window(0, 0, 1, 1, 0),       window(1, 1, 1, 1, 0),
                      window(1, 1, 5, 7, 3),       window(64, 64, 64, 64, 1),
                      window(64, 64, 128, 64, 0),  window(64, 64, 64, 128, 4),
                      window(63, 65, 68, 64, 0),   window(100, 30, 33, 104, 2),
                      window(130, 70, 72, 132, 4), window(31, 257, 260, 33, 1)};
  return study;
}

}  // namespace

course::Chapter course::chapter() {
  return {"03_transpose",
          "out = in, transposed",
          {sequence(), size_sweep(), launches(), followed(), shapes(), elements(), windows()}};
}
