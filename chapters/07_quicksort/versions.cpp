// The versions of this chapter and its studies: the one list behind tables, tests and plots.
#include "chapter/rows.hpp"
#include "quicksort.hpp"

using namespace course;
using namespace quicksort_chapter;

COURSE_TYPED_LAUNCHERS(Launcher, (sort), one_thread, block_per_segment, level_by_level,
                       reserve_places, work_queue, three_ways, many_splitters, register_leaves,
                       staged, limit, cub_merge, cub_radix);
COURSE_LAUNCHERS(Launcher<unsigned>, (sort), sample_form);
COURSE_TYPED_LAUNCHERS(PairLauncher, (sort_pairs), many_splitters, register_leaves, staged, limit,
                       cub_merge, cub_radix);
COURSE_LAUNCHERS(HostSort, (sort_on_host), std_sort);

namespace {

/// No launcher takes more keys.
constexpr std::int64_t most_keys = (std::int64_t{1} << 40) - 1;

/// Shared memory of 09's blocks.
constexpr std::int64_t stage_bytes = 70 << 10;

/// Above this n a version would take too long.
constexpr std::int64_t slow(std::int64_t n) { return all_is_checked ? 1 << 14 : n; }

Version of_cub(const Version& version) { return version.peer("CUB").up_to(any_n).saying({}); }

/// All versions, for keys of type T.
template <class T>
std::vector<Version> ladder() {
  const auto of = [](const char* id, const char* title, Launcher<T>* sort) {
    return row(id, title, sort).up_to(most_keys).saying(fallbacks);
  };
  std::vector<Version> rows = {
      of("01_one_thread", "one thread per segment", one_thread::sort).slow_above(slow(1 << 20)),
      of("02_block", "a block per segment", block_per_segment::sort),
      of("03_level_by_level", "levels from the host", level_by_level::sort),
      of("04_reserve", "many blocks per segment", reserve_places::sort),
      of("05_work_queue", "one launch, a queue", work_queue::sort),
      of("06_three_ways", "equal keys stay", three_ways::sort),
      of("07_many_splitters", "up to 511 splitters", many_splitters::sort),
      of("08_register_leaves", "leaves in registers", register_leaves::sort),
      of("09_staged", "tiles in order, then runs", staged::sort).sharing(stage_bytes),
      of("80_limit", "buckets remembered", limit::sort).sharing(stage_bytes),
  };
  if (std::is_same_v<T, int>) return rows;  // for a library like unsigned
  rows.push_back(of_cub(of("90_cub_merge", "CUB merge sort", cub_merge::sort)));
  rows.push_back(of_cub(of("91_cub_radix", "CUB radix sort", cub_radix::sort)));
  return rows;
}

/// std::sort says itself how long it took.
Version of_host() {
  Version version = row("std_sort", "std::sort, one core", std_sort::sort_on_host);
  version.timer = [](auto& launch, cudaStream_t) { return launch(), std_sort::last_seconds; };
  version.needs.capturable = false;
  return version.peer("the host").in_file("studies/std_sort").up_to(most_keys);
}

/// Around the tiles of 2048, 4096 and 8192 keys; above 5 * 2^19 all of 07 to 09 have two levels.
std::vector<Size> test_sizes() {
  const std::vector<std::int64_t> small = {0,    1,    2,    3,    31,   32,   33,    64,   65,
                                           255,  256,  257,  1023, 1025, 2047, 2048,  2049, 4095,
                                           4096, 4097, 5000, 8191, 8192, 8193, 16411, 40009};
  std::vector<std::int64_t> large = {262145, 1000003, 5 * (1 << 19) + 1, 5000011, (1 << 24) + 3};
  large.insert(large.begin(), small.begin(), small.end());
  return sizes_of_n(all_is_checked ? small : large);
}

/// For keys that differ from others in their order alone, and for values.
std::vector<Size> few_test_sizes() {
  if (!all_is_checked) return test_sizes();
  return sizes_of_n({0, 1, 2, 33, 257, 2049, 5000, 8193, 20011});
}

template <class T>
Study of_type(const char* name, const char* title, int power = 26) {
  Study study{name, title, type_of<T>, make_problem<Sort<T>>()};
  study.versions = ladder<T>();
  study.sizes = powers_of_two({power});
  study.cpu_sizes = powers_of_two({14});
  study.test_sizes = std::is_same_v<T, unsigned> ? test_sizes() : few_test_sizes();
  return study;
}

Study sequence() {
  Study study = of_type<unsigned>("sequence", "Keys of 32 bits, random", 28);
  study.versions.push_back(row("sample_form", "form of the CUDA sample", sample_form::sort)
                               .peer("the CUDA sample's form")
                               .in_file("studies/sample_form")
                               .slow_above(slow(1 << 22))
                               .up_to(INT32_MAX));
  study.versions.push_back(of_host().slow_above(slow(1 << 22)));
  return study;
}

/// Keys with values.
template <class T>
Study of_pairs(const char* name, const char* title) {
  Study study = of_type<T>(name, title);
  study.make = make_problem<SortPairs<T>>();
  study.test_sizes = few_test_sizes();
  const auto of = [](const char* id, const char* title_, PairLauncher<T>* sort) {
    return row(id, title_, sort).up_to(most_keys).saying(fallbacks);
  };
  study.versions = {
      of("07_many_splitters", "up to 511 splitters", many_splitters::sort_pairs),
      of("08_register_leaves", "leaves in registers", register_leaves::sort_pairs),
      of("09_staged", "tiles in order, then runs", staged::sort_pairs).sharing(stage_bytes),
      of("80_limit", "buckets remembered", limit::sort_pairs).sharing(stage_bytes),
      of_cub(of("90_cub_merge", "CUB merge sort", cub_merge::sort_pairs)),
      of_cub(of("91_cub_radix", "CUB radix sort", cub_radix::sort_pairs)),
  };
  return study;
}

Study size_sweep() {
  return at_sizes(sequence(), "size", "Rate over size, random keys, L2 cold",
                  "01,02,03,04,06,07,09,80,90,91,sample_form,std_sort",
                  powers_of_two({10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 29}), "n", "keys");
}

/// Keys in an order that is not random, for the versions with an idea about it.
Study in_order(Order order, const char* name, const char* title) {
  Study study = at_sizes(sequence(), name, title, "05,06,09,80,90", powers_of_two({24, 28}));
  study.make = make_problem<Sort<unsigned>>(order);
  study.cpu_sizes = powers_of_two({14});
  return study;
}

/// Keys that an adversary chose who knows where a version looks for its pivots.
Study adversarial(Order order, const char* name, const char* title, const char* only) {
  Study study = in_order(order, name, title);
  study.versions = chosen(sequence().versions, only);
  study.sizes = powers_of_two({20, 24});
  return study;
}

}  // namespace

course::Chapter course::chapter() {
  return {
      "07_quicksort",
      "sort an array",
      {sequence(), of_type<int>("int", "Integers with a sign"), of_type<float>("float", "Floats"),
       of_type<std::int64_t>("int64", "Integers of 64 bits"),
       of_pairs<unsigned>("pairs", "Keys of 32 bits with values of 32 bits"),
       of_pairs<std::int64_t>("int64_pairs", "Keys of 64 bits with values of 32 bits"),
       size_sweep(), in_order(Order::sorted, "sorted", "Sorted keys"),
       in_order(Order::reversed, "reversed", "Keys in descending order"),
       in_order(Order::constant, "constant", "Keys that are all the same"),
       in_order(Order::one_differs, "one_differs", "All the same but one"),
       in_order(Order::two_values, "two_values", "Two values"),
       in_order(Order::sixteen_values, "sixteen_values", "Sixteen values"),
       in_order(Order::organ_pipe, "organ_pipe", "Up to the middle, then down again"),
       in_order(Order::zipf, "zipf", "Some keys are very frequent (Zipf)"),
       adversarial(Order::against_middle, "against_middle", "Made against 01's pivots", "01-09,80"),
       adversarial(Order::against_three, "against_three", "Made against 02's and 03's pivots",
                   "02-09,80")}};
}
