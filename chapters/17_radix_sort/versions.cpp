// The versions of this chapter and its studies: the one list behind tables, tests and plots.
#include <cmath>

#include "chapter/rows.hpp"
#include "radix_sort.hpp"

using namespace course;
using namespace radix_chapter;

COURSE_LAUNCHERS(Sort<unsigned>, (sort), bit_by_bit, radix_digits, radix_bytes, radix_runs,
                 one_sweep, thrust_sort, comparing_sorts);
COURSE_TYPED_LAUNCHERS(Sort, (sort), radix_limit, cub_radix_sort);
COURSE_LAUNCHERS(Sort<unsigned>, (sort_descending), radix_limit, cub_radix_sort);
COURSE_LAUNCHERS(SortByBits, (sort_by_bits), radix_limit, cub_radix_sort);
using OfWords = SortPairs<unsigned, unsigned>;
using OfWide = SortPairs<unsigned, std::int64_t>;
using OfLong = SortPairs<std::int64_t, unsigned>;
COURSE_LAUNCHERS(OfWords, (sort_pairs), radix_limit, cub_radix_sort);
COURSE_LAUNCHERS(OfWide, (sort_pairs), radix_limit, cub_radix_sort);
COURSE_LAUNCHERS(OfLong, (sort_pairs), radix_limit, cub_radix_sort);
COURSE_LAUNCHERS(Sort<unsigned>, (sort_by_merge, sort_by_07), comparing_sorts);
COURSE_LAUNCHERS(Sort<unsigned>, (by_comparator, by_radix), even_first);

namespace {

constexpr std::int64_t most = std::int64_t{1} << 36;

/// The fastest version and CUB's. `named`: as in row().
template <class Launcher>
std::vector<Version> rows_of(Launcher* ours, Launcher* theirs,
                             const std::vector<std::string>& named = {}) {
  return {row("80_limit", "votes, early counts", ours, named).up_to(most),
          row("90_cub", "CUB radix sort", theirs, named).peer("CUB").up_to(any_n)};
}

/// For keys of type K alone.
template <class K>
std::vector<Version> both(const std::vector<std::string>& named = {}) {
  return rows_of<Sort<K>>(radix_limit::sort, cub_radix_sort::sort, named);
}

/// Around the tiles of all versions.
std::vector<Size> test_sizes() {
  const std::vector<std::int64_t> small = {0,    1,    2,    3,    31,   32,   33,
                                           255,  257,  1023, 1025, 2047, 2049, 4095,
                                           4096, 4097, 8191, 8192, 8193, 20011};
  std::vector<std::int64_t> large = {262145, 1000003, (1 << 21) + 1, 5000011, (1 << 24) + 3};
  large.insert(large.begin(), small.begin(), small.end());
  return sizes_of_n(all_is_checked ? small : large);
}

/// For keys that differ from others in their order alone, and for values.
std::vector<Size> few_test_sizes() {
  std::vector<std::int64_t> sizes = {0, 1, 33, 257, 1025, 4096, 4097, 9001};
  if (!all_is_checked) sizes.insert(sizes.end(), {262145, (1 << 21) + 12345});
  return sizes_of_n(sizes);
}

Study sequence() {
  Study study{"sequence", "Keys of 32 bits, random", Type::u32,
              make_problem<SortProblem<unsigned>>()};
  study.versions = {
      row("01_bit_by_bit", "32 passes of one bit", bit_by_bit::sort).up_to(UINT32_MAX),
      row("02_digits", "4 bits per pass", radix_digits::sort).up_to(UINT32_MAX),
      row("03_bytes", "8 bits, ranks by match", radix_bytes::sort).up_to(UINT32_MAX),
      row("04_runs", "stores in runs", radix_runs::sort).up_to(UINT32_MAX),
      row("05_one_sweep", "one launch per pass", one_sweep::sort).up_to((1 << 30) - 1),
  };
  for (const Version& version : both<unsigned>()) study.versions.push_back(version);
  study.versions.push_back(
      row("91_thrust", "thrust::sort", thrust_sort::sort).peer("Thrust").up_to(any_n));
  study.sizes = powers_of_two({28});
  study.cpu_sizes = powers_of_two({14});
  study.test_sizes = test_sizes();
  return study;
}

/// 80 and CUB for another type of keys.
template <class K>
Study of_type(const char* name, const char* title, int power) {
  Study study{name, title, type_of<K>, make_problem<SortProblem<K>>()};
  study.versions = both<K>();
  study.sizes = powers_of_two({power});
  study.cpu_sizes = powers_of_two({14});
  study.test_sizes = few_test_sizes();
  return study;
}

template <class K, class V>
Study of_pairs(const char* name, const char* title, SortPairs<K, V>* ours,
               SortPairs<K, V>* theirs) {
  Study study = of_type<K>(name, title, 26);
  study.make = make_problem<PairsProblem<K, V>>();
  study.sizes = powers_of_two({20, 26});
  study.versions = rows_of(ours, theirs);
  return study;
}

Study descending() {
  Study study = of_type<unsigned>("descending", "In descending order", 26);
  study.make = make_problem<SortProblem<unsigned>>(Order::random, true);
  study.versions = rows_of(radix_limit::sort_descending, cub_radix_sort::sort_descending);
  return study;
}

Study by_bits() {
  Study study = of_type<unsigned>("bits", "By a range of bits", 26);
  study.versions = rows_of(radix_limit::sort_by_bits, cub_radix_sort::sort_by_bits);
  const auto size = [](std::int64_t n, int first, int last) {
    return Size{{{"n", n}, {"first", first}, {"last", last}}};
  };
  study.sizes = {size(1 << 26, 0, 8), size(1 << 26, 4, 20)};
  study.cpu_sizes = {size(1 << 13, 4, 20)};
  study.test_sizes = {size(9001, 0, 0), size(9001, 0, 1),   size(4000, 31, 32), size(9001, 3, 30),
                      size(257, 8, 16), size(4097, 16, 32), size(0, 3, 5)};
  return study;
}

/// Over powers of two.
Study over_n() {
  Study study = at_sizes(sequence(), "size", "Rate over size, random keys", "80,90",
                         powers_of_two({10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22, 24, 26}),
                         "n", "keys");
  study.cpu_sizes = powers_of_two({12});
  return study;
}

/// Keys in an order that is not random, next to random ones.
Study in_order(Order order, const char* name, const char* title) {
  Study study = at_sizes(sequence(), name, title, "80,90", powers_of_two({20, 26}));
  study.make = make_problem<SortProblem<unsigned>>(order);
  study.cpu_sizes = powers_of_two({13});
  study.test_sizes = sizes_of_n({1, 4095, 9001});
  return study;
}

/// Even keys before odd ones: by an own comparator, and by digits of rotated keys.
Study even_first_study() {
  Study study = of_type<unsigned>("even_first", "Even keys first", 26);
  study.make = make_problem<EvenFirstProblem>();
  const auto of = [](const char* id, const char* title, Sort<unsigned>* sort) {
    return row(id, title, sort).in_file("studies/93_even_first").peer("Thrust").up_to(UINT32_MAX);
  };
  study.versions = {of("by_comparator", "thrust::sort, comparator", even_first::by_comparator),
                    of("by_radix", "CUB radix, keys rotated", even_first::by_radix)};
  return study;
}

/// Sizes and orders by chance; no choice of 80 was tuned on them.
Study by_chance() {
  Study study = at_sizes(sequence(), "any", "Any size and order", "80,90", {});
  study.versions = both<unsigned>({"n"});
  for (int k = 0; k < 16; ++k) {
    const auto chance = [k](int what) {  // from 0 to below 1
      return static_cast<double>(mix(17, static_cast<std::uint64_t>(8 * k + what)) >> 11) * 0x1p-53;
    };
    study.sizes.push_back(Size{{{"n", static_cast<std::int64_t>(std::exp2(10 + 16 * chance(0)))},
                                {"order", static_cast<std::int64_t>(orders * chance(1))}}});
  }
  study.cpu_sizes = {Size{{{"n", 5000}, {"order", 6}}}};
  for (int order = 0; order < orders; ++order) {
    study.test_sizes.push_back(Size{{{"n", 4999}, {"order", order}}});
  }
  return study;
}

/// Which sort when: the comparing ones as well.
Study which() {
  Study study = over_n();
  study.name = "which";
  study.title = "Sorts by digits and by comparison";
  study.versions.push_back(
      row("07_quicksort", "chapter 07's version 80", comparing_sorts::sort_by_07)
          .in_file("92_comparing")
          .peer("chapter 07")
          .up_to(any_n));
  study.versions.push_back(row("92_merge", "CUB merge sort", comparing_sorts::sort_by_merge)
                               .in_file("92_comparing")
                               .peer("CUB")
                               .up_to(any_n));
  study.sizes = powers_of_two({10, 13, 16, 19, 22, 26});
  study.test_sizes = sizes_of_n({0, 1, 4097, 20011});
  return study;
}

Study which_in(Order order, const char* name, const char* title) {
  Study study = which();
  study.name = name;
  study.title = title;
  study.make = make_problem<SortProblem<unsigned>>(order);
  study.sizes = powers_of_two({20, 24});
  study.axis = "";
  study.test_sizes = sizes_of_n({1, 4095, 9001});
  return study;
}

}  // namespace

course::Chapter course::chapter() {
  return {"17_radix_sort",
          "sort an array by digits",
          {sequence(),
           over_n(),
           of_type<std::uint8_t>("u8", "Keys of 8 bits", 26),
           of_type<std::uint16_t>("u16", "Keys of 16 bits", 26),
           of_type<int>("int", "Integers with a sign", 26),
           of_type<float>("float", "Floats", 26),
           of_type<std::int64_t>("int64", "Integers of 64 bits", 26),
           of_type<double>("double", "Doubles", 26),
           of_pairs<unsigned, unsigned>("pairs", "Keys and values of 32 bits",
                                        radix_limit::sort_pairs, cub_radix_sort::sort_pairs),
           of_pairs<unsigned, std::int64_t>("wide_values", "Keys of 32 bits, values of 64",
                                            radix_limit::sort_pairs, cub_radix_sort::sort_pairs),
           of_pairs<std::int64_t, unsigned>("int64_pairs", "Keys of 64 bits, values of 32",
                                            radix_limit::sort_pairs, cub_radix_sort::sort_pairs),
           descending(),
           by_bits(),
           even_first_study(),
           in_order(Order::constant, "constant", "Keys that are all the same"),
           in_order(Order::skewed, "skewed", "Digits that are mostly 0"),
           in_order(Order::zipf, "zipf", "Some keys are very frequent (Zipf)"),
           which(),
           which_in(Order::sorted, "sorted", "Sorted keys"),
           which_in(Order::nearly_sorted, "nearly_sorted", "Nearly sorted keys"),
           which_in(Order::organ_pipe, "organ_pipe", "Up to the middle, then down again"),
           by_chance()}};
}
