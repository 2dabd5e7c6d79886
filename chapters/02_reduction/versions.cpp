// The versions of this chapter and its studies: the one list behind tables, tests and plots.
#include "chapter/rows.hpp"
#include "measure/anchors.hpp"
#include "reduction.hpp"

using namespace course;

COURSE_TYPED_LAUNCHERS(Reduce, (sum), global_memory, shared_memory, bit_mask, strided_index,
                       sequential, grid_stride_sum, warp_shuffle, vector_loads, atomic_per_block,
                       single_pass, limit, cub_reduce);
COURSE_LAUNCHERS(Reduce<float>, (minimum, maximum), generic_study, cub_generic);
COURSE_LAUNCHERS(ReduceToIndex, (index_of_minimum), generic_study, cub_generic);

namespace {

/// All versions, for float or for unsigned.
template <class T>
std::vector<Version> ladder() {
  using OfAtomics = std::conditional_t<std::is_same_v<T, float>, SumByAtomics, Sum<T>>;
  const auto of = [](const char* id, const char* title, Reduce<T>* sum,
                     std::int64_t max_n = any_n) { return row(id, title, sum).up_to(max_n); };
  return {
      of("01_global_memory", "pairs, pass by pass", global_memory::sum, grid_of(512)),
      of("02_shared_memory", "a tree in shared memory", shared_memory::sum, grid_of(256)),
      of("03_bit_mask", "AND for the remainder", bit_mask::sum, grid_of(256)),
      of("04_strided_index", "adding lanes side by side", strided_index::sum, grid_of(256)),
      of("05_sequential", "neighbours read neighbours", sequential::sum, grid_of(256)),
      of("06_grid_stride", "few blocks, many elements", grid_stride_sum::sum),
      of("07_warp_shuffle", "shuffles for the tree", warp_shuffle::sum),
      of("08_vector_loads", "four 16-byte loads in flight", vector_loads::sum).aligned(16),
      of("09_atomic_per_block", "one atomic per block", atomic_per_block::sum)
          .solving(make_problem<OfAtomics>())
          .aligned(16),
      of("10_single_pass", "the last block finishes", single_pass::sum).aligned(16),
      of("80_limit", "each size its own", limit::sum).needing(90).aligned(16),
      of("90_cub", "CUB DeviceReduce", cub_reduce::sum).peer("CUB"),
  };
}

/// Beside the usual: around the tiles of 08 to 10 and 80, and around 80's changes of method.
std::vector<Size> test_sizes() {
  return sizes_of_n(
      {0,     1,     2,     3,     4,     5,     31,    32,      33,      255,
       256,   257,   511,   1023,  1024,  1025,  4095,  4096,    4097,    16383,
       16384, 16385, 32767, 32769, 65535, 65537, 65793, 1000003, 2097153, (1 << 24) + 3});
}

Study sequence() {
  return {
      "sequence",      "Sum of floats, from pairs to the limit",
      Type::f32,       make_problem<Sum<float>>(),
      ladder<float>(), powers_of_two({28}),
      test_sizes(),
  };
}

Study of_unsigned() {
  return {
      "unsigned",         "The same for unsigned, modulo 2^32",
      Type::u32,          make_problem<Sum<unsigned>>(),
      ladder<unsigned>(), powers_of_two({28}),
      test_sizes(),
  };
}

Study size_sweep() {
  return at_sizes(sequence(), "size", "Rate over size, L2 cold", "05,08-10,80,90",
                  powers_of_two(from_to(10, 30)), "n", "floats");
}

/// The same calls behind an empty kernel, behind themselves, and from the host with nothing hidden.
Study launches() {
  Study study = at_sizes(sequence(), "launches",
                         "Small arrays: behind an empty kernel, behind themselves, from the host",
                         "10,80,90", powers_of_two({10, 12, 14, 16, 18, 20}), "n", "floats");
  study.versions = in_three_ways(study.versions);
  return study;
}

Study followed() {
  return then_read(at_sizes(sequence(), "followed", "A sum, and a kernel that reads it", "10,80,90",
                            powers_of_two({10, 12, 14, 16, 18, 20, 22, 24, 26, 28}), "n",
                            "floats"));
}

Study generic() {
  const MakeProblem least = make_problem<Extreme>(false), most = make_problem<Extreme>(true),
                    index = make_problem<IndexOfMin>();
  const auto ours = [](const Version& version) {
    return version.in_file("studies/generic").up_to(any_n).aligned(16);
  };
  const auto of_cub = [](const Version& version) {
    return version.in_file("studies/91_cub_generic").up_to(any_n).peer("CUB");
  };
  return {
      "generic",
      "Other operators with the kernel of version 10",
      Type::f32,
      least,
      {
          ours(row("minimum", "smallest", generic_study::minimum).solving(least)),
          ours(row("maximum", "largest", generic_study::maximum).solving(most)),
          ours(row("index_of_minimum", "index of the smallest", generic_study::index_of_minimum)
                   .solving(index)),
          of_cub(row("cub_minimum", "CUB Reduce, fminf", cub_generic::minimum).solving(least)),
          of_cub(row("cub_maximum", "CUB Reduce, fmaxf", cub_generic::maximum).solving(most)),
          of_cub(row("cub_index_of_minimum", "CUB ArgMin", cub_generic::index_of_minimum)
                     .solving(index)),
      },
      powers_of_two({28}),
      sizes_of_n({1, 2, 31, 32, 33, 1023, 1025, 16384, 16385, 65537, 1000003}),
  };
}

}  // namespace

course::Chapter course::chapter() {
  return {"02_reduction",
          "sum of an array",
          {sequence(), of_unsigned(), size_sweep(), launches(), followed(), generic()}};
}
