// The versions of this chapter and its studies: the one list behind tables, tests and plots.
#include <memory>

#include "anchors.hpp"
#include "chapter.hpp"
#include "scan.hpp"

using course::Arguments;
using course::Problem;
using course::Role;
using course::Size;
using course::Study;
using course::Type;
using course::Version;

/// The launcher of every scan.
template <class T>
using Launcher = cudaError_t(void* workspace, std::size_t& workspace_bytes, const T* in, T* out,
                             std::int64_t n, cudaStream_t stream);
using PackLauncher = cudaError_t(void* workspace, std::size_t& workspace_bytes, const float* in,
                                 float* out, std::int64_t* kept, std::int64_t n,
                                 cudaStream_t stream);
using UnpackLauncher = cudaError_t(void* workspace, std::size_t& workspace_bytes, const float* in,
                                   const float* packed, float* out, std::int64_t n,
                                   cudaStream_t stream);

namespace sum_all_before {
COURSE_OPTIONAL Launcher<float> inclusive, exclusive;
COURSE_OPTIONAL Launcher<unsigned> inclusive, exclusive;
}  // namespace sum_all_before
namespace hillis_steele {
COURSE_OPTIONAL Launcher<float> inclusive, exclusive;
COURSE_OPTIONAL Launcher<unsigned> inclusive, exclusive;
}  // namespace hillis_steele
namespace many_blocks {
COURSE_OPTIONAL Launcher<float> inclusive, exclusive;
COURSE_OPTIONAL Launcher<unsigned> inclusive, exclusive;
}  // namespace many_blocks
namespace blelloch {
COURSE_OPTIONAL Launcher<float> inclusive, exclusive;
COURSE_OPTIONAL Launcher<unsigned> inclusive, exclusive;
}  // namespace blelloch
namespace padded {
COURSE_OPTIONAL Launcher<float> inclusive, exclusive;
COURSE_OPTIONAL Launcher<unsigned> inclusive, exclusive;
}  // namespace padded
namespace warp_shuffle {
COURSE_OPTIONAL Launcher<float> inclusive, exclusive;
COURSE_OPTIONAL Launcher<unsigned> inclusive, exclusive;
}  // namespace warp_shuffle
namespace rows_of_warps {
COURSE_OPTIONAL Launcher<float> inclusive, exclusive;
COURSE_OPTIONAL Launcher<unsigned> inclusive, exclusive;
}  // namespace rows_of_warps
namespace reduce_first {
COURSE_OPTIONAL Launcher<float> inclusive, exclusive;
COURSE_OPTIONAL Launcher<unsigned> inclusive, exclusive;
COURSE_OPTIONAL Launcher<std::int64_t> inclusive, exclusive;
}  // namespace reduce_first
namespace chained {
COURSE_OPTIONAL Launcher<float> inclusive, exclusive;
COURSE_OPTIONAL Launcher<unsigned> inclusive, exclusive;
}  // namespace chained
namespace look_back_scan {
COURSE_OPTIONAL Launcher<float> inclusive, exclusive;
COURSE_OPTIONAL Launcher<unsigned> inclusive, exclusive;
}  // namespace look_back_scan
namespace vectors {
COURSE_OPTIONAL Launcher<float> inclusive, exclusive;
COURSE_OPTIONAL Launcher<unsigned> inclusive, exclusive;
}  // namespace vectors
namespace streaming {
COURSE_OPTIONAL Launcher<float> inclusive, exclusive;
COURSE_OPTIONAL Launcher<unsigned> inclusive, exclusive;
}  // namespace streaming
namespace prefetch {
COURSE_OPTIONAL Launcher<float> inclusive, exclusive;
COURSE_OPTIONAL Launcher<unsigned> inclusive, exclusive;
}  // namespace prefetch
namespace limit {
COURSE_OPTIONAL Launcher<float> inclusive, exclusive;
COURSE_OPTIONAL Launcher<unsigned> inclusive, exclusive;
COURSE_OPTIONAL Launcher<std::int64_t> inclusive, exclusive;
COURSE_OPTIONAL Launcher<float> inclusive_max;
COURSE_OPTIONAL Launcher<unsigned> inclusive_compose, exclusive_compose;
COURSE_OPTIONAL Launcher<float> inclusive_large;
COURSE_OPTIONAL Launcher<std::int64_t> exclusive_large;
COURSE_OPTIONAL Launcher<unsigned> inclusive_compose_large;
}  // namespace limit
namespace cub_scan {
COURSE_OPTIONAL Launcher<float> inclusive, exclusive;
COURSE_OPTIONAL Launcher<unsigned> inclusive, exclusive;
COURSE_OPTIONAL Launcher<std::int64_t> inclusive, exclusive;
COURSE_OPTIONAL Launcher<float> inclusive_max;
COURSE_OPTIONAL Launcher<unsigned> inclusive_compose, exclusive_compose;
}  // namespace cub_scan

namespace pack_study {
COURSE_OPTIONAL PackLauncher pack;
}
namespace unpack_study {
COURSE_OPTIONAL UnpackLauncher unpack;
}
namespace split_study {
COURSE_OPTIONAL Launcher<unsigned> split;
}
namespace cub_uses {
COURSE_OPTIONAL PackLauncher pack;
COURSE_OPTIONAL Launcher<unsigned> split;
}  // namespace cub_uses

namespace {

/// A row whose launcher is called with the arguments that `call` adds to the workspace.
template <class F, class Call>
Version row_of(const char* id, const char* title, F* launcher, Role role, Call call) {
  Version version{id, title, {}, role};
  if (role == Role::peer) version.needs.library = "CUB";
  if (launcher) {
    version.launch = [=](const Problem& p, const Arguments& a) {
      std::size_t bytes = a.workspace_bytes;
      return call(launcher, a.workspace, bytes, p, a);
    };
    version.workspace_bytes = [=](const Problem& p) {
      std::size_t bytes = 0;
      Arguments none;  // a question takes no pointers
      none.inputs = none.outputs = {nullptr, nullptr};
      call(launcher, nullptr, bytes, p, none);
      return bytes;
    };
  }
  return version;
}

template <class T>
Version row(const char* id, const char* title, Launcher<T>* scan, Role role = Role::version) {
  return row_of(
      id, title, scan, role,
      [](auto* f, void* workspace, std::size_t& bytes, const Problem& p, const Arguments& a) {
        return f(workspace, bytes, a.in<T>(0), a.out<T>(0), p.n(), a.stream);
      });
}

Version row_of_pack(const char* id, const char* title, PackLauncher* pack,
                    Role role = Role::version) {
  return row_of(
      id, title, pack, role,
      [](auto* f, void* workspace, std::size_t& bytes, const Problem& p, const Arguments& a) {
        return f(workspace, bytes, a.in<float>(0), a.out<float>(0), a.out<std::int64_t>(1), p.n(),
                 a.stream);
      });
}

Version row_of_unpack(const char* id, const char* title, UnpackLauncher* unpack) {
  return row_of(
      id, title, unpack, Role::version,
      [](auto* f, void* workspace, std::size_t& bytes, const Problem& p, const Arguments& a) {
        return f(workspace, bytes, a.in<float>(0), a.in<float>(1), a.out<float>(0), p.n(),
                 a.stream);
      });
}

/// All versions, for float or for unsigned, inclusive or exclusive.
template <class T, bool exclusive>
std::vector<Version> ladder() {
  const auto of = [](const char* id, const char* title, Launcher<T>* inclusive_,
                     Launcher<T>* exclusive_, Role role = Role::version) {
    return row<T>(id, title, exclusive ? exclusive_ : inclusive_, role);
  };
  std::vector<Version> versions = {
      of("01_sum_all_before", "each thread adds up all before", sum_all_before::inclusive,
         sum_all_before::exclusive),
      of("02_hillis_steele", "one block, doubling steps", hillis_steele::inclusive,
         hillis_steele::exclusive),
      of("03_many_blocks", "blocks, their sums, blocks again", many_blocks::inclusive,
         many_blocks::exclusive),
      of("04_blelloch", "a tree, up and down", blelloch::inclusive, blelloch::exclusive),
      of("05_padded", "the tree without conflicts", padded::inclusive, padded::exclusive),
      of("06_warp_shuffle", "warps scan by shuffles", warp_shuffle::inclusive,
         warp_shuffle::exclusive),
      of("07_rows", "eight rows a warp", rows_of_warps::inclusive, rows_of_warps::exclusive),
      of("08_reduce_first", "the first pass only adds up", reduce_first::inclusive,
         reduce_first::exclusive),
      of("09_chained", "one pass, tile after tile", chained::inclusive, chained::exclusive),
      of("10_look_back", "looking back over the sums", look_back_scan::inclusive,
         look_back_scan::exclusive),
      of("11_vectors", "16-byte loads, larger tiles", vectors::inclusive, vectors::exclusive),
      of("12_streaming", "nothing is needed twice", streaming::inclusive, streaming::exclusive),
      of("13_prefetch", "the next tile into the L2 cache", prefetch::inclusive,
         prefetch::exclusive),
      of("80_limit", "roles for warps", limit::inclusive, limit::exclusive),
      of("90_cub", "CUB DeviceScan", cub_scan::inclusive, cub_scan::exclusive, Role::peer),
  };
#ifdef SIMT  // half a square of additions, each checked
  versions[0].needs.max_n = 1 << 12;
#else
  versions[0].needs.max_n = 1 << 20;
#endif
  versions[0].make = course::make_problem<OneByOne<T, exclusive>>();
  versions[1].needs.max_n = 1024;
  versions[13].needs.capability = 90;
  return versions;
}

/// Those of the ladder whose numbers are given.
template <class T, bool exclusive>
std::vector<Version> chosen(const std::vector<std::string>& numbers) {
  std::vector<Version> versions;
  for (const Version& version : ladder<T, exclusive>()) {
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

std::vector<Size> powers_of_two(const std::vector<int>& exponents) {
  std::vector<Size> sizes;
  for (const int k : exponents) sizes.push_back(Size{{{"n", std::int64_t{1} << k}}});
  return sizes;
}

/// Beside the usual: around every version's tile, and around 80's changes of method (2^18 and 2^21
/// elements of 4 bytes).
std::vector<Size> test_sizes() {
  return sizes_of_n(
      {0,       1,       2,       3,       4,       5,       31,           32,    33,     127,
       128,     129,     255,     257,     511,     1023,    1024,         1025,  4095,   4096,
       4097,    8193,    16383,   16384,   16385,   32769,   65537,        98311, 262144, 262145,
       1000003, 2097152, 2097153, 4194304, 4194305, 5000011, (1 << 24) + 3});
}

Study sequence() {
  Study study;
  study.name = "sequence";
  study.title = "Inclusive scan of floats";
  study.make = course::make_problem<Scan<float, false>>();
  study.versions = ladder<float, false>();
  study.sizes = powers_of_two({28});
  study.cpu_sizes = powers_of_two({17});
  study.test_sizes = test_sizes();
  return study;
}

Study of_exclusive() {
  Study study = sequence();
  study.name = "exclusive";
  study.title = "Exclusive scan of floats";
  study.make = course::make_problem<Scan<float, true>>();
  study.versions = ladder<float, true>();
  return study;
}

Study of_unsigned() {
  Study study = sequence();
  study.name = "unsigned";
  study.title = "Inclusive scan of unsigned, modulo 2^32";
  study.type = Type::u32;
  study.make = course::make_problem<Scan<unsigned, false>>();
  study.versions = ladder<unsigned, false>();
  study.sizes = powers_of_two({24});
  return study;
}

Study of_unsigned_exclusive() {
  Study study = of_unsigned();
  study.name = "unsigned_exclusive";
  study.title = "Exclusive scan of unsigned, modulo 2^32";
  study.make = course::make_problem<Scan<unsigned, true>>();
  study.versions = ladder<unsigned, true>();
  return study;
}

template <bool exclusive>
Study of_int64(const char* name, const char* title) {
  using T = std::int64_t;
  const auto kind = [](Launcher<T>* inclusive_, Launcher<T>* exclusive_) {
    return exclusive ? exclusive_ : inclusive_;
  };
  Study study;
  study.name = name;
  study.title = title;
  study.type = Type::i64;
  study.make = course::make_problem<Scan<T, exclusive>>();
  study.versions = {
      row<T>("08_reduce_first", "the first pass only adds up",
             kind(reduce_first::inclusive, reduce_first::exclusive)),
      row<T>("80_limit", "roles for warps", kind(limit::inclusive, limit::exclusive)),
      row<T>("90_cub", "CUB DeviceScan", kind(cub_scan::inclusive, cub_scan::exclusive),
             Role::peer),
  };
  study.versions[1].needs.capability = 90;
  study.sizes = exclusive ? powers_of_two({25}) : powers_of_two({20, 23, 25, 27});
  study.test_sizes = test_sizes();
  study.axis = "n";
  study.axis_label = "64-bit integers";
  return study;
}

Study size_sweep() {
  Study study = sequence();
  study.name = "size";
  study.title = "Rate over size, L2 cold";
  study.versions = chosen<float, false>({"08", "10", "13", "80", "90"});
  study.sizes = powers_of_two({10, 14, 18, 20, 21, 22, 23, 24, 26, 28, 30});
  study.test_sizes.clear();  // the sequence tests the same launchers
  study.axis = "n";
  study.axis_label = "floats";
  return study;
}

/// Operators beside addition: the largest so far, and one whose order matters.
Study operators() {
  const auto of = [](Version version, course::MakeProblem make) {
    version.make = std::move(make);
    if (version.role == Role::version) version.needs.capability = 90;
    return version;
  };
  const course::MakeProblem largest = course::make_problem<ScanOfMax>(),
                            maps = course::make_problem<ScanOfMaps<false>>(),
                            maps_exclusive = course::make_problem<ScanOfMaps<true>>();
  Study study;
  study.name = "operators";
  study.title = "Other operators with the kernel of version 80";
  study.versions = {
      of(row<float>("largest", "largest so far", limit::inclusive_max), largest),
      of(row<unsigned>("maps", "maps, one after the other", limit::inclusive_compose), maps),
      of(row<unsigned>("maps_exclusive", "the same, exclusive", limit::exclusive_compose),
         maps_exclusive),
      of(row<float>("cub_largest", "CUB, largest so far", cub_scan::inclusive_max, Role::peer),
         largest),
      of(row<unsigned>("cub_maps", "CUB, maps", cub_scan::inclusive_compose, Role::peer), maps),
      of(row<unsigned>("cub_maps_exclusive", "CUB, exclusive", cub_scan::exclusive_compose,
                       Role::peer),
         maps_exclusive),
  };
  study.make = study.versions.front().make;
  study.sizes = powers_of_two({28});
  study.test_sizes = test_sizes();
  return study;
}

/// Version 80's kernel for large arrays, also where 80 takes another: what its start costs.
Study large_kernel() {
  Study study = operators();
  study.name = "large_kernel";
  study.title = "The kernel for large arrays on small ones";
  study.versions = {
      row<float>("floats", "floats", limit::inclusive_large),
      row<std::int64_t>("int64_exclusive", "64-bit integers, exclusive", limit::exclusive_large),
      row<unsigned>("maps", "maps, one after the other", limit::inclusive_compose_large),
  };
  study.versions[0].make = course::make_problem<Scan<float, false>>();
  study.versions[1].make = course::make_problem<Scan<std::int64_t, true>>();
  study.versions[2].make = course::make_problem<ScanOfMaps<false>>();
  for (Version& version : study.versions) version.needs.capability = 90;
  study.make = study.versions.front().make;
  study.sizes = powers_of_two({20});
  return study;
}

Study packing() {
  Study study;
  study.name = "pack";
  study.title = "Keep the elements above 0";
  study.make = course::make_problem<Pack>();
  study.versions = {
      row_of_pack("pack", "with look-back", pack_study::pack),
      row_of_pack("cub_select", "CUB DeviceSelect", cub_uses::pack, Role::peer),
  };
  study.sizes = powers_of_two({20, 24, 28});
  study.cpu_sizes = powers_of_two({17, 20});
  study.test_sizes = test_sizes();
  study.axis = "n";
  study.axis_label = "floats";
  return study;
}

Study unpacking() {
  Study study = packing();
  study.name = "unpack";
  study.title = "Put packed elements back in their places";
  study.make = course::make_problem<Unpack>();
  study.versions = {row_of_unpack("unpack", "with look-back", unpack_study::unpack)};
  return study;
}

Study splitting() {
  Study study = packing();
  study.name = "split";
  study.title = "Even numbers first, in their order";
  study.type = Type::u32;
  study.make = course::make_problem<Split>();
  study.versions = {
      row<unsigned>("split", "count, then place", split_study::split),
      row<unsigned>("cub_radix_sort", "CUB radix sort, one bit", cub_uses::split, Role::peer),
  };
  study.axis_label = "unsigned";
  return study;
}

}  // namespace

course::Chapter course::chapter() {
  return {"05_scan",
          "prefix sums of an array",
          {sequence(), of_exclusive(), of_unsigned(), of_unsigned_exclusive(),
           of_int64<false>("int64", "Inclusive scan of 64-bit integers"),
           of_int64<true>("int64_exclusive", "Exclusive scan of 64-bit integers"), size_sweep(),
           operators(), large_kernel(), packing(), unpacking(), splitting()}};
}
