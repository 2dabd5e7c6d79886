// The versions of this chapter and its studies: the one list behind tables, tests and plots.
#include <memory>

#include "anchors.hpp"
#include "reduction.hpp"
#include "rows.hpp"

using course::any_n;
using course::chosen;
using course::powers_of_two;
using course::row;
using course::Size;
using course::sizes_of_n;
using course::Study;
using course::Version;

/// The launcher of every version.
template <class In, class Out = In>
using Reduce = cudaError_t(void* workspace, std::size_t& workspace_bytes, const In* in, Out* out,
                           std::int64_t n, cudaStream_t stream);
using ReduceToIndex = Reduce<float, std::int64_t>;
COURSE_LAUNCHERS(global_memory, Reduce<float>, sum);
COURSE_LAUNCHERS(global_memory, Reduce<unsigned>, sum);
COURSE_LAUNCHERS(shared_memory, Reduce<float>, sum);
COURSE_LAUNCHERS(shared_memory, Reduce<unsigned>, sum);
COURSE_LAUNCHERS(bit_mask, Reduce<float>, sum);
COURSE_LAUNCHERS(bit_mask, Reduce<unsigned>, sum);
COURSE_LAUNCHERS(strided_index, Reduce<float>, sum);
COURSE_LAUNCHERS(strided_index, Reduce<unsigned>, sum);
COURSE_LAUNCHERS(sequential, Reduce<float>, sum);
COURSE_LAUNCHERS(sequential, Reduce<unsigned>, sum);
COURSE_LAUNCHERS(grid_stride_sum, Reduce<float>, sum);
COURSE_LAUNCHERS(grid_stride_sum, Reduce<unsigned>, sum);
COURSE_LAUNCHERS(warp_shuffle, Reduce<float>, sum);
COURSE_LAUNCHERS(warp_shuffle, Reduce<unsigned>, sum);
COURSE_LAUNCHERS(vector_loads, Reduce<float>, sum);
COURSE_LAUNCHERS(vector_loads, Reduce<unsigned>, sum);
COURSE_LAUNCHERS(atomic_per_block, Reduce<float>, sum);
COURSE_LAUNCHERS(atomic_per_block, Reduce<unsigned>, sum);
COURSE_LAUNCHERS(single_pass, Reduce<float>, sum);
COURSE_LAUNCHERS(single_pass, Reduce<unsigned>, sum);
COURSE_LAUNCHERS(limit, Reduce<float>, sum);
COURSE_LAUNCHERS(limit, Reduce<unsigned>, sum);
COURSE_LAUNCHERS(cub_reduce, Reduce<float>, sum);
COURSE_LAUNCHERS(cub_reduce, Reduce<unsigned>, sum);
COURSE_LAUNCHERS(generic_study, Reduce<float>, minimum, maximum);
COURSE_LAUNCHERS(generic_study, ReduceToIndex, index_of_minimum);
COURSE_LAUNCHERS(cub_generic, Reduce<float>, minimum, maximum);
COURSE_LAUNCHERS(cub_generic, ReduceToIndex, index_of_minimum);

namespace {

/// The largest n of a launcher whose blocks take `each` elements: a grid has less than 2^31 blocks.
constexpr std::int64_t grid_of(std::int64_t each) { return INT32_MAX * each; }

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
          .solving(course::make_problem<OfAtomics>())
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
  Study study;
  study.name = "sequence";
  study.title = "Sum of floats, from pairs to the limit";
  study.make = course::make_problem<Sum<float>>();
  study.versions = ladder<float>();
  study.sizes = sizes_of_n({std::int64_t{1} << 28});
  study.test_sizes = test_sizes();
  return study;
}

Study of_unsigned() {
  Study study = sequence();
  study.name = "unsigned";
  study.title = "The same for unsigned, modulo 2^32";
  study.type = course::Type::u32;
  study.make = course::make_problem<Sum<unsigned>>();
  study.versions = ladder<unsigned>();
  return study;
}

Study size_sweep() {
  Study study = sequence();
  study.name = "size";
  study.title = "Rate over size, L2 cold";
  study.versions = chosen(study.versions, "05,08-10,80,90");
  study.sizes.clear();
  for (int k = 10; k <= 30; ++k) study.sizes.push_back(Size{{{"n", std::int64_t{1} << k}}});
  study.test_sizes.clear();  // the sequence tests the same launchers
  study.axis = "n";
  study.axis_label = "floats";
  return study;
}

/// The same calls behind an empty kernel, behind themselves, and from the host with nothing hidden.
Study launches() {
  Study study = sequence();
  study.name = "launches";
  study.title = "Small arrays: behind an empty kernel, behind themselves, from the host";
  study.versions = course::in_three_ways(chosen(study.versions, "10,80,90"));
  study.sizes = powers_of_two({10, 12, 14, 16, 18, 20});
  study.test_sizes.clear();
  study.axis = "n";
  study.axis_label = "floats";
  return study;
}

Study generic() {
  const auto extreme = [](bool largest) -> course::MakeProblem {
    return [largest](const Size& size, std::uint64_t seed, course::Input input) {
      return std::make_unique<Extreme>(size, seed, input, largest);
    };
  };
  const course::MakeProblem least = extreme(false), most = extreme(true),
                            index = course::make_problem<IndexOfMin>();
  const auto ours = [](const Version& version) {
    return version.in_file("studies/generic").up_to(any_n).aligned(16);
  };
  const auto of_cub = [](const Version& version) {
    return version.in_file("studies/91_cub_generic").up_to(any_n).peer("CUB");
  };
  Study study;
  study.name = "generic";
  study.title = "Other operators with the kernel of version 10";
  study.versions = {
      ours(row("minimum", "smallest", generic_study::minimum).solving(least)),
      ours(row("maximum", "largest", generic_study::maximum).solving(most)),
      ours(row("index_of_minimum", "index of the smallest", generic_study::index_of_minimum)
               .solving(index)),
      of_cub(row("cub_minimum", "CUB Reduce, fminf", cub_generic::minimum).solving(least)),
      of_cub(row("cub_maximum", "CUB Reduce, fmaxf", cub_generic::maximum).solving(most)),
      of_cub(
          row("cub_index_of_minimum", "CUB ArgMin", cub_generic::index_of_minimum).solving(index)),
  };
  study.make = study.versions.front().make;
  study.sizes = sizes_of_n({std::int64_t{1} << 28});
  study.test_sizes = sizes_of_n({1, 2, 31, 32, 33, 1023, 1025, 16384, 16385, 65537, 1000003});
  return study;
}

}  // namespace

course::Chapter course::chapter() {
  return {"02_reduction",
          "sum of an array",
          {sequence(), of_unsigned(), size_sweep(), launches(), generic()}};
}
