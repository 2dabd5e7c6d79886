// The versions of this chapter and its studies: the one list behind tables, tests and plots.
#include <algorithm>

#include "chapter/rows.hpp"
#include "measure/anchors.hpp"
#include "vector_add.hpp"

using namespace course;

COURSE_LAUNCHERS(Add, (add), one_thread, one_thread_per_element, grid_stride, unrolled_x2,
                 unrolled_x4, vectors, vectors_unrolled, limit, cub_transform);
COURSE_LAUNCHERS(AddInFlight, (by_threads, by_unrolling), in_flight_study);
COURSE_LAUNCHERS(AddInFlight, (by_bulk_copies), in_flight_bulk_study);
COURSE_LAUNCHERS(Copy, (copy), stride_study, offset_study);
COURSE_LAUNCHERS(MakeGrey, (array_of_structures, structure_of_arrays), layout_study);
COURSE_LAUNCHERS(AddLoads, (add), loads_study);

namespace {

/// cudaMemcpy moving as many bytes as the addition: 6n read and 6n written.
Version memcpy_row() {
  return memcpy_version("91_memcpy", Role::peer)
      .solving([](const Size& size, std::uint64_t seed, Input input) {
        return std::make_unique<CopyProblem>(Size{{{"n", size["n"] * 3 / 2}}}, seed, input);
      });
}

std::vector<Size> test_sizes(const std::vector<std::pair<std::string, std::int64_t>>& more = {}) {
  std::vector<Size> sizes;
  for (const std::int64_t n :
       {0,   1,   2,    3,    4,    5,    31,   32,    33,      255,
        256, 257, 1023, 1024, 1025, 4095, 4097, 65537, 1000003, (1 << 22) + 1}) {
    Size size{{{"n", n}}};
    for (const auto& dimension : more) size.dimensions.push_back(dimension);
    sizes.push_back(size);
  }
  return sizes;
}

Study sequence() {
  Study study{"sequence", "Vector add, from one thread to the limit", Type::f32,
              make_problem<VectorAdd>()};
  study.versions = {
      row("01_one_thread", "one block of one thread", one_thread::add).up_to(any_n),
      row("02_one_thread_per_element", "one thread per element", one_thread_per_element::add)
          .up_to(grid_of(256)),
      row("03_grid_stride", "grid-stride loop", grid_stride::add).up_to(any_n),
      row("04_unrolled_x2", "two elements per thread", unrolled_x2::add).up_to(grid_of(512)),
      row("05_unrolled_x4", "four elements per thread", unrolled_x4::add).up_to(grid_of(1024)),
      row("06_vectors", "one float4 per thread", vectors::add).up_to(grid_of(1024)).aligned(16),
      row("07_vectors_unrolled", "two float4 per thread", vectors_unrolled::add)
          .up_to(grid_of(2048))
          .aligned(16),
      row("80_limit", "bulk copies, 48 KiB in flight", limit::add)
          .needing(90)
          .up_to(grid_of(1024))
          .aligned(16),
      row("90_cub", "CUB DeviceTransform", cub_transform::add).peer("CUB").up_to(any_n),
      memcpy_row(),
  };
  study.sizes = {Size{{{"n", std::int64_t{1} << 28}}}};
  study.test_sizes = test_sizes();
  return study;
}

Study size_sweep() {
  return at_sizes(sequence(), "size", "Rate over size, L2 cold", "02,06,80,90",
                  powers_of_two(from_to(10, 30)), "n", "floats in each array");
}

Study followed() {
  return then_read(at_sizes(sequence(), "followed", "A sum of arrays, and a kernel that reads it",
                            "06,80,90", powers_of_two({10, 12, 14, 16, 18, 20, 22, 24, 26, 28}),
                            "n", "floats in each array"));
}

Version in_flight_row(const char* id, const char* title, AddInFlight* add, std::vector<int> takes) {
  Version version = row(id, title, add).in_file("studies/in_flight").up_to(grid_of(256));
  version.takes = [takes](const Size& size) {
    return std::find(takes.begin(), takes.end(), size["kib"]) != takes.end();
  };
  return version;
}

Study in_flight() {
  Study study{"in_flight", "Bandwidth over bytes in flight per SM", Type::f32,
              make_problem<VectorAdd>()};
  study.versions = {
      in_flight_row("by_threads", "more threads", in_flight_study::by_threads,
                    {2, 4, 6, 8, 10, 12, 14, 16}),
      in_flight_row("by_unrolling", "more loads per thread", in_flight_study::by_unrolling,
                    {16, 32, 48, 64, 96, 128}),
      in_flight_row("by_bulk_copies", "bulk copies", in_flight_bulk_study::by_bulk_copies,
                    {8, 16, 24, 32, 40, 48, 56, 64, 96, 128})
          .in_file("studies/in_flight_bulk")
          .needing(90)
          .up_to(grid_of(1024))
          .aligned(16),
  };
  for (const int kib : {2, 4, 6, 8, 10, 12, 14, 16, 24, 32, 40, 48, 56, 64, 96, 128}) {
    study.sizes.push_back(Size{{{"n", std::int64_t{1} << 28}, {"kib", kib}}});
  }
  for (const int kib : {2, 14, 16, 48, 128}) {
    for (const std::int64_t n : {1, 257, 1025, 1000003})
      study.test_sizes.push_back(Size{{{"n", n}, {"kib", kib}}});
  }
  study.axis = "kib";
  study.axis_label = "KiB of loads in flight per SM (by construction)";
  return study;
}

Study stride() {
  Study study{"stride", "Copy every s-th float", Type::f32, make_problem<StridedCopy>()};
  study.versions = {row("strided_copy", "out[i] = in[i * stride]", stride_study::copy)
                        .in_file("studies/stride")
                        .up_to(grid_of(256))};
  for (const int s : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32}) {
    study.sizes.push_back(Size{{{"n", 1 << 25}, {"stride", s}}});
  }
  for (const int s : {1, 3, 32}) {
    for (const Size& size : test_sizes({{"stride", s}})) study.test_sizes.push_back(size);
  }
  study.axis = "stride";
  study.axis_label = "stride in floats";
  return study;
}

Study offset() {
  Study study{"offset", "Copy from the middle of a sector", Type::f32, make_problem<ShiftedCopy>()};
  study.versions = {row("shifted_copy", "out[i] = in[i + offset]", offset_study::copy)
                        .in_file("studies/stride")
                        .up_to(grid_of(256))};
  for (const int o : {0, 1, 2, 4, 7, 8, 12, 16, 24, 31, 32}) {
    study.sizes.push_back(Size{{{"n", 1 << 28}, {"offset", o}}});
  }
  for (const int o : {0, 1, 31}) {
    for (const Size& size : test_sizes({{"offset", o}})) study.test_sizes.push_back(size);
  }
  study.axis = "offset";
  study.axis_label = "offset in floats";
  study.log_axis = false;
  return study;
}

Study layout() {
  const auto grey_row = [](const char* id, const char* title, MakeGrey* make_grey,
                           bool structures) {
    return row(id, title, make_grey)
        .in_file("studies/layout")
        .up_to(grid_of(256))
        .solving([structures](const Size& size, std::uint64_t seed, Input input) {
          return std::make_unique<Grey>(size, seed, input, structures);
        });
  };
  Study study{"layout", "Three of eight fields: array of structures, structure of arrays"};
  study.versions = {
      grey_row("array_of_structures", "fields side by side", layout_study::array_of_structures,
               true),
      grey_row("structure_of_arrays", "an array per field", layout_study::structure_of_arrays,
               false),
  };
  study.make = study.versions.back().make;
  study.sizes = {Size{{{"n", 1 << 26}}}};
  study.test_sizes = test_sizes();
  return study;
}

Study loads() {
  Study study{"loads", "The simple kernel with one, two and three loads per thread", Type::f32,
              make_problem<SumOfLoads>()};
  study.versions = {row("simple_kernel", "one element per thread", loads_study::add)
                        .in_file("studies/loads")
                        .up_to(grid_of(256))};
  for (const int k : {1, 2, 3}) {
    study.sizes.push_back(Size{{{"n", 1 << 28}, {"loads", k}}});
    for (const Size& size : test_sizes({{"loads", k}})) study.test_sizes.push_back(size);
  }
  study.axis = "loads";
  study.axis_label = "loads per thread";
  study.log_axis = false;
  return study;
}

}  // namespace

course::Chapter course::chapter() {
  return {
      "01_vector_add",
      "c = a + b",
      {sequence(), in_flight(), loads(), stride(), offset(), layout(), size_sweep(), followed()}};
}
