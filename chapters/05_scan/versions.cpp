// The versions of this chapter and its studies: the one list behind tables, tests and plots.
#include "chapter/rows.hpp"
#include "measure/anchors.hpp"
#include "scan.hpp"

using namespace course;

COURSE_TYPED_LAUNCHERS(Launcher, (inclusive, exclusive), sum_all_before, hillis_steele, many_blocks,
                       blelloch, padded, warp_shuffle, rows_of_warps, reduce_first, chained,
                       look_back_scan, vectors, streaming, prefetch, limit, cub_scan);
COURSE_LAUNCHERS(Launcher<float>, (inclusive_max), limit, cub_scan);
COURSE_LAUNCHERS(Launcher<float>, (inclusive_max_of_numbers), cub_scan);
COURSE_LAUNCHERS(Launcher<unsigned>, (inclusive_compose, exclusive_compose), limit, cub_scan);
COURSE_LAUNCHERS(Launcher<float>, (inclusive_large), limit);
COURSE_LAUNCHERS(Launcher<unsigned>, (inclusive_compose_large), limit);
COURSE_LAUNCHERS(Launcher<std::int64_t>, (exclusive_large), limit);
COURSE_LAUNCHERS(PackLauncher, (pack), pack_study, cub_uses);
COURSE_LAUNCHERS(UnpackLauncher, (unpack), unpack_study);
COURSE_LAUNCHERS(Launcher<unsigned>, (split), split_study, cub_uses);

namespace {

/// Elements of T in the tiles of version 80's kernel for large arrays.
template <class T>
constexpr std::int64_t large_tile = 320 * 9 * 16 / sizeof(T);

/// What is said of any row that calls a function of version 80.
template <class T>
Version of_80(const Version& version) {
  return version.needing(90)
      .sharing(227 << 10)
      .aligned(16)
      .up_to(grid_of(large_tile<T>))
      .in_file("80_limit");
}

Version of_cub(const Version& version) { return version.peer("CUB").up_to(any_n); }

/// All versions, for float or for unsigned, inclusive or exclusive.
template <class T, bool exclusive>
std::vector<Version> ladder() {
  const auto of = [](const char* id, const char* title, Launcher<T>* inclusive_,
                     Launcher<T>* exclusive_, std::int64_t max_n) {
    return row(id, title, exclusive ? exclusive_ : inclusive_).up_to(max_n);
  };
#ifdef SIMT  // half a square of additions, each checked
  constexpr std::int64_t slow = 1 << 12;
#else
  constexpr std::int64_t slow = 1 << 20;
#endif
  return {
      of("01_sum_all_before", "each thread adds up all before", sum_all_before::inclusive,
         sum_all_before::exclusive, grid_of(256))
          .slow_above(slow)
          .solving(make_problem<OneByOne<T, exclusive>>()),
      of("02_hillis_steele", "one block, doubling steps", hillis_steele::inclusive,
         hillis_steele::exclusive, 1024),
      of("03_many_blocks", "blocks, their sums, blocks again", many_blocks::inclusive,
         many_blocks::exclusive, grid_of(1024)),
      of("04_blelloch", "a tree, up and down", blelloch::inclusive, blelloch::exclusive,
         grid_of(1024)),
      of("05_padded", "the tree without conflicts", padded::inclusive, padded::exclusive,
         grid_of(1024)),
      of("06_warp_shuffle", "warps scan by shuffles", warp_shuffle::inclusive,
         warp_shuffle::exclusive, grid_of(1024)),
      of("07_rows", "eight rows per warp", rows_of_warps::inclusive, rows_of_warps::exclusive,
         grid_of(4096)),
      of("08_reduce_first", "the first pass only adds up", reduce_first::inclusive,
         reduce_first::exclusive, grid_of(4096)),
      of("09_chained", "one pass, tile after tile", chained::inclusive, chained::exclusive,
         grid_of(4096)),
      of("10_look_back", "looking back over the sums", look_back_scan::inclusive,
         look_back_scan::exclusive, grid_of(4096)),
      of("11_vectors", "16-byte loads, larger tiles", vectors::inclusive, vectors::exclusive,
         grid_of(16384))
          .aligned(16),
      of("12_streaming", "nothing is needed twice", streaming::inclusive, streaming::exclusive,
         grid_of(16384))
          .aligned(16),
      of("13_prefetch", "the next tile into the L2 cache", prefetch::inclusive, prefetch::exclusive,
         grid_of(16384))
          .aligned(16),
      of_80<T>(of("80_limit", "roles for warps", limit::inclusive, limit::exclusive, any_n)),
      of_cub(of("90_cub", "CUB DeviceScan", cub_scan::inclusive, cub_scan::exclusive, any_n)),
  };
}

/// Beside the usual: around every version's tile, and around 80's changes of method that do not
/// depend on the GPU (2^12, 2^15 and 2^16 elements of 4 bytes).
std::vector<Size> test_sizes() {
  return sizes_of_n(
      {0,      1,       2,       3,       4,       5,       31,      32,           33,     127,
       128,    129,     255,     257,     511,     1023,    1024,    1025,         4095,   4096,
       4097,   8193,    16383,   16384,   16385,   32769,   65537,   98311,        262144, 262145,
       524289, 1000003, 2097152, 2097153, 4194304, 4194305, 5000011, (1 << 24) + 3});
}

Study sequence() {
  Study study{"sequence", "Inclusive scan of floats", Type::f32,
              make_problem<Scan<float, false>>()};
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
  study.make = make_problem<Scan<float, true>>();
  study.versions = ladder<float, true>();
  return study;
}

Study of_unsigned() {
  Study study = sequence();
  study.name = "unsigned";
  study.title = "Inclusive scan of unsigned, modulo 2^32";
  study.type = Type::u32;
  study.make = make_problem<Scan<unsigned, false>>();
  study.versions = ladder<unsigned, false>();
  study.sizes = powers_of_two({24});
  return study;
}

Study of_unsigned_exclusive() {
  Study study = of_unsigned();
  study.name = "unsigned_exclusive";
  study.title = "Exclusive scan of unsigned, modulo 2^32";
  study.make = make_problem<Scan<unsigned, true>>();
  study.versions = ladder<unsigned, true>();
  return study;
}

template <bool exclusive>
Study of_int64(const char* name, const char* title) {
  using T = std::int64_t;
  const auto kind = [](Launcher<T>* inclusive_, Launcher<T>* exclusive_) {
    return exclusive ? exclusive_ : inclusive_;
  };
  Study study{name, title, Type::i64, make_problem<Scan<T, exclusive>>()};
  study.versions = {
      row("08_reduce_first", "the first pass only adds up",
          kind(reduce_first::inclusive, reduce_first::exclusive))
          .up_to(grid_of(4096)),
      of_80<T>(row("80_limit", "roles for warps", kind(limit::inclusive, limit::exclusive))),
      of_cub(row("90_cub", "CUB DeviceScan", kind(cub_scan::inclusive, cub_scan::exclusive))),
  };
  study.sizes = exclusive ? powers_of_two({25})
                          : powers_of_two({10, 12, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 25, 27});
  study.test_sizes = test_sizes();
  study.axis = "n";
  study.axis_label = "64-bit integers";
  return study;
}

Study size_sweep() {
  return at_sizes(sequence(), "size", "Rate over size, L2 cold", "08,10,13,80,90",
                  powers_of_two({10, 12, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 26, 28, 30}),
                  "n", "floats");
}

/// The same calls behind an empty kernel, behind themselves, and from the host with nothing hidden.
Study launches() {
  Study study = at_sizes(sequence(), "launches",
                         "Small arrays: behind an empty kernel, behind themselves, from the host",
                         "08,80,90", powers_of_two({10, 12, 14, 16, 18, 20, 22}), "n", "floats");
  study.versions = in_three_ways(study.versions);
  study.cpu_sizes = powers_of_two({10, 14});
  return study;
}

Study followed() {
  return then_read(
      at_sizes(sequence(), "followed", "A scan, and a kernel that reads its result", "13,80,90",
               powers_of_two({10, 12, 14, 16, 18, 20, 21, 22, 23, 24, 26, 28}), "n", "floats"));
}

/// Operators beside addition: the largest so far, and one whose order matters.
Study operators() {
  const MakeProblem largest = make_problem<ScanOfMax>(), maps = make_problem<ScanOfMaps<false>>(),
                    maps_exclusive = make_problem<ScanOfMaps<true>>();
  const auto of_our_cub = [](const Version& version) { return of_cub(version).in_file("90_cub"); };
  Study study;
  study.name = "operators";
  study.title = "Other operators with the kernel of version 80";
  study.versions = {
      of_80<float>(row("largest", "largest so far", limit::inclusive_max).solving(largest)),
      of_80<unsigned>(
          row("maps", "maps, one after the other", limit::inclusive_compose).solving(maps)),
      of_80<unsigned>(row("maps_exclusive", "the same, exclusive", limit::exclusive_compose)
                          .solving(maps_exclusive)),
      of_our_cub(
          row("cub_largest", "CUB, cuda::maximum", cub_scan::inclusive_max).solving(largest)),
      of_our_cub(row("cub_largest_number", "CUB, fmaxf", cub_scan::inclusive_max_of_numbers)
                     .solving(largest)),
      of_our_cub(row("cub_maps", "CUB, maps", cub_scan::inclusive_compose).solving(maps)),
      of_our_cub(row("cub_maps_exclusive", "CUB, exclusive", cub_scan::exclusive_compose)
                     .solving(maps_exclusive)),
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
      of_80<float>(row("floats", "floats", limit::inclusive_large)
                       .solving(make_problem<Scan<float, false>>())),
      of_80<std::int64_t>(
          row("int64_exclusive", "64-bit integers, exclusive", limit::exclusive_large)
              .solving(make_problem<Scan<std::int64_t, true>>())),
      of_80<unsigned>(row("maps", "maps, one after the other", limit::inclusive_compose_large)
                          .solving(make_problem<ScanOfMaps<false>>())),
  };
  study.make = study.versions.front().make;
  study.sizes = powers_of_two({20});
  return study;
}

Study packing() {
  Study study{"pack", "Keep the elements above 0", Type::f32, make_problem<Pack>()};
  study.versions = {
      row("pack", "count, gather, store", pack_study::pack)
          .in_file("studies/pack")
          .needing(90)
          .sharing(195 << 10)  // of the two blocks that each SM has to hold
          .aligned(16)
          .up_to(grid_of(8192)),
      of_cub(row("cub_select", "CUB DeviceSelect", cub_uses::pack).in_file("studies/91_cub_uses")),
  };
  study.sizes = powers_of_two({12, 14, 16, 18, 20, 22, 23, 24, 26, 28});
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
  study.make = make_problem<Unpack>();
  study.versions = {row("unpack", "with look-back", unpack_study::unpack)
                        .in_file("studies/unpack")
                        .aligned(16)
                        .up_to(grid_of(16384))};
  return study;
}

Study splitting() {
  Study study = packing();
  study.name = "split";
  study.title = "Even numbers first, in their order";
  study.type = Type::u32;
  study.make = make_problem<Split>();
  study.versions = {
      row("split", "count, then place", split_study::split)
          .in_file("studies/split")
          .aligned(16)
          .up_to(grid_of(16384)),
      of_cub(row("cub_radix_sort", "CUB radix sort, one bit", cub_uses::split)
                 .in_file("studies/91_cub_uses")),
  };
  study.axis_label = "unsigned";
  return study;
}

}  // namespace

course::Chapter course::chapter() {
  return {
      "05_scan",
      "prefix sums of an array",
      {sequence(), of_exclusive(), of_unsigned(), of_unsigned_exclusive(),
       of_int64<false>("int64", "Inclusive scan of 64-bit integers"),
       of_int64<true>("int64_exclusive", "Exclusive scan of 64-bit integers"), size_sweep(),
       launches(), followed(), operators(), large_kernel(), packing(), unpacking(), splitting()}};
}
