// The versions of this chapter and its studies: the one list behind tables, tests and plots.
#include <memory>

#include "anchors.hpp"
#include "chapter.hpp"
#include "reduction.hpp"

using course::Arguments;
using course::Problem;
using course::Role;
using course::Size;
using course::Study;
using course::Version;

/// The launcher of every version.
template <class In, class Out = In>
using Reduce = cudaError_t(void* workspace, std::size_t& workspace_bytes, const In* in, Out* out,
                           std::int64_t n, cudaStream_t stream);

namespace global_memory {
COURSE_OPTIONAL Reduce<float> sum;
COURSE_OPTIONAL Reduce<unsigned> sum;
}  // namespace global_memory
namespace shared_memory {
COURSE_OPTIONAL Reduce<float> sum;
COURSE_OPTIONAL Reduce<unsigned> sum;
}  // namespace shared_memory
namespace bit_mask {
COURSE_OPTIONAL Reduce<float> sum;
COURSE_OPTIONAL Reduce<unsigned> sum;
}  // namespace bit_mask
namespace strided_index {
COURSE_OPTIONAL Reduce<float> sum;
COURSE_OPTIONAL Reduce<unsigned> sum;
}  // namespace strided_index
namespace sequential {
COURSE_OPTIONAL Reduce<float> sum;
COURSE_OPTIONAL Reduce<unsigned> sum;
}  // namespace sequential
namespace grid_stride_sum {
COURSE_OPTIONAL Reduce<float> sum;
COURSE_OPTIONAL Reduce<unsigned> sum;
}  // namespace grid_stride_sum
namespace warp_shuffle {
COURSE_OPTIONAL Reduce<float> sum;
COURSE_OPTIONAL Reduce<unsigned> sum;
}  // namespace warp_shuffle
namespace vector_loads {
COURSE_OPTIONAL Reduce<float> sum;
COURSE_OPTIONAL Reduce<unsigned> sum;
}  // namespace vector_loads
namespace atomic_per_block {
COURSE_OPTIONAL Reduce<float> sum;
COURSE_OPTIONAL Reduce<unsigned> sum;
}  // namespace atomic_per_block
namespace single_pass {
COURSE_OPTIONAL Reduce<float> sum;
COURSE_OPTIONAL Reduce<unsigned> sum;
}  // namespace single_pass
namespace limit {
COURSE_OPTIONAL Reduce<float> sum;
COURSE_OPTIONAL Reduce<unsigned> sum;
}  // namespace limit
namespace cub_reduce {
COURSE_OPTIONAL Reduce<float> sum;
COURSE_OPTIONAL Reduce<unsigned> sum;
}  // namespace cub_reduce

namespace generic_study {
COURSE_OPTIONAL Reduce<float> minimum, maximum;
COURSE_OPTIONAL Reduce<float, std::int64_t> index_of_minimum;
}  // namespace generic_study
namespace cub_generic {
COURSE_OPTIONAL Reduce<float> minimum, maximum;
COURSE_OPTIONAL Reduce<float, std::int64_t> index_of_minimum;
}  // namespace cub_generic

namespace {

template <class In, class Out>
Version row(const char* id, const char* title, Reduce<In, Out>* reduce, Role role = Role::version) {
  Version version{id, title, {}, role};
  if (role == Role::peer) version.needs.library = "CUB";
  if (reduce) {
    version.launch = [reduce](const Problem& p, const Arguments& a) {
      std::size_t bytes = a.workspace_bytes;
      return reduce(a.workspace, bytes, a.in<In>(0), a.out<Out>(0), p.n(), a.stream);
    };
    version.workspace_bytes = [reduce](const Problem& p) {
      std::size_t bytes = 0;
      reduce(nullptr, bytes, nullptr, nullptr, p.n(), nullptr);
      return bytes;
    };
  }
  return version;
}

/// All versions, for float or for unsigned.
template <class T>
std::vector<Version> ladder() {
  std::vector<Version> versions = {
      row<T, T>("01_global_memory", "pairs, pass by pass", global_memory::sum),
      row<T, T>("02_shared_memory", "a tree in shared memory", shared_memory::sum),
      row<T, T>("03_bit_mask", "AND for the remainder", bit_mask::sum),
      row<T, T>("04_strided_index", "adding lanes side by side", strided_index::sum),
      row<T, T>("05_sequential", "neighbours read neighbours", sequential::sum),
      row<T, T>("06_grid_stride", "few blocks, many elements", grid_stride_sum::sum),
      row<T, T>("07_warp_shuffle", "shuffles for the tree", warp_shuffle::sum),
      row<T, T>("08_vector_loads", "four 16-byte loads in flight", vector_loads::sum),
      row<T, T>("09_atomic_per_block", "an atomic a block", atomic_per_block::sum),
      row<T, T>("10_single_pass", "the last block finishes", single_pass::sum),
      row<T, T>("80_limit", "each size its own", limit::sum),
      row<T, T>("90_cub", "CUB DeviceReduce", cub_reduce::sum, Role::peer),
  };
  if (std::is_same<T, float>::value) versions[8].make = course::make_problem<SumByAtomics>();
  versions[10].needs.capability = 90;
  return versions;
}

/// Those of the ladder whose numbers are given.
std::vector<Version> chosen(const std::vector<std::string>& numbers) {
  std::vector<Version> versions;
  for (const Version& version : ladder<float>()) {
    for (const std::string& number : numbers) {
      if (version.id.substr(0, 2) == number) versions.push_back(version);
    }
  }
  return versions;
}

std::vector<Size> sizes_of_n(const std::vector<std::int64_t>& list) {
  std::vector<Size> sizes;
  for (const std::int64_t n : list) sizes.push_back(Size{{{"n", n}}});
  return sizes;
}

std::vector<Size> powers_of_two(int first, int last) {
  std::vector<Size> sizes;
  for (int k = first; k <= last; ++k) sizes.push_back(Size{{{"n", std::int64_t{1} << k}}});
  return sizes;
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
  study.versions = chosen({"05", "08", "09", "10", "80", "90"});
  study.sizes = powers_of_two(10, 30);
  study.test_sizes.clear();  // the sequence tests the same launchers
  study.axis = "n";
  study.axis_label = "floats";
  return study;
}

/// What a caller gets who launches once, then again: by plain launches the CPU's work counts, too.
Study launches() {
  Study study = sequence();
  study.name = "launches";
  study.title = "Small arrays: replayed graph against plain launches";
  study.versions = chosen({"10", "80", "90"});
  for (Version version : chosen({"10", "80", "90"})) {
    version.id = "plain_" + version.id;
    version.title += ", plain launches";
    version.needs.capturable = false;
    study.versions.push_back(version);
  }
  study.sizes = sizes_of_n({1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20});
  study.test_sizes.clear();
  study.axis = "n";
  study.axis_label = "floats";
  return study;
}

Study generic() {
  const auto of = [](Version version, course::MakeProblem make) {
    version.make = std::move(make);
    return version;
  };
  const auto extreme = [](bool largest) -> course::MakeProblem {
    return [largest](const Size& size, std::uint64_t seed, course::Input input) {
      return std::make_unique<Extreme>(size, seed, input, largest);
    };
  };
  const course::MakeProblem index = course::make_problem<IndexOfMin>();
  Study study;
  study.name = "generic";
  study.title = "Other operators with the kernel of version 10";
  study.versions = {
      of(row("minimum", "smallest", generic_study::minimum), extreme(false)),
      of(row("maximum", "largest", generic_study::maximum), extreme(true)),
      of(row("index_of_minimum", "index of the smallest", generic_study::index_of_minimum), index),
      of(row("cub_minimum", "CUB Min", cub_generic::minimum, Role::peer), extreme(false)),
      of(row("cub_maximum", "CUB Max", cub_generic::maximum, Role::peer), extreme(true)),
      of(row("cub_index_of_minimum", "CUB ArgMin", cub_generic::index_of_minimum, Role::peer),
         index),
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
