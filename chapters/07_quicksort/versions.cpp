// The versions of this chapter and its studies: the one list behind tables, tests and plots.
#include "chapter/rows.hpp"
#include "quicksort.hpp"

using namespace course;
using quicksort_chapter::Order;

COURSE_TYPED_LAUNCHERS(Launcher, (sort), one_thread, block_per_segment, level_by_level,
                       reserve_places, work_queue, three_ways, many_splitters, register_leaves);
COURSE_TYPED_LAUNCHERS(PairLauncher, (sort_pairs), many_splitters, register_leaves);

namespace {

/// No launcher takes more keys.
constexpr std::int64_t most_keys = (std::int64_t{1} << 40) - 1;

/// All versions, for keys of type T.
template <class T>
std::vector<Version> ladder() {
  const auto of = [](const char* id, const char* title, Launcher<T>* sort) {
    return row(id, title, sort).up_to(most_keys);
  };
#ifdef SIMT
  constexpr std::int64_t slow = 1 << 14;
#else
  constexpr std::int64_t slow = 1 << 22;
#endif
  return {
      of("01_one_thread", "one thread per segment", one_thread::sort).slow_above(slow),
      of("02_block", "a block per segment", block_per_segment::sort),
      of("03_level_by_level", "levels from the host", level_by_level::sort),
      of("04_reserve", "many blocks per segment", reserve_places::sort),
      of("05_work_queue", "one launch, a queue", work_queue::sort),
      of("06_three_ways", "equal keys stay", three_ways::sort),
      of("07_many_splitters", "up to 511 splitters", many_splitters::sort),
      of("08_register_leaves", "leaves in registers", register_leaves::sort),
  };
}

std::vector<Size> test_sizes() {
  return sizes_of_n({0,     1,     2,     3,      31,      32,      33,           63,    64,
                     65,    127,   255,   256,    257,     1023,    1024,         2047,  2048,
                     2049,  4095,  4096,  4097,   5000,    8193,    16383,        16384, 16385,
                     16411, 65537, 98311, 262145, 1000003, 2097153, (1 << 24) + 3});
}

template <class T>
Study of_type(const char* name, const char* title) {
  Study study{name, title, quicksort_chapter::type_of<T>, make_problem<Sort<T>>()};
  study.versions = ladder<T>();
  study.sizes = powers_of_two({28});
  study.cpu_sizes = powers_of_two({14});
  study.test_sizes = test_sizes();
  return study;
}

/// Keys with values.
template <class T>
Study of_pairs(const char* name, const char* title) {
  Study study = of_type<T>(name, title);
  study.make = make_problem<SortPairs<T>>();
  const auto of = [](const char* id, const char* title_, PairLauncher<T>* sort) {
    return row(id, title_, sort).up_to(most_keys);
  };
  study.versions = {
      of("07_many_splitters", "up to 511 splitters", many_splitters::sort_pairs),
      of("08_register_leaves", "leaves in registers", register_leaves::sort_pairs),
  };
  return study;
}

}  // namespace

course::Chapter course::chapter() {
  return {"07_quicksort",
          "sort an array",
          {of_type<unsigned>("sequence", "Keys of 32 bits, random"),
           of_type<int>("int", "Integers with a sign"), of_type<float>("float", "Floats"),
           of_type<std::int64_t>("int64", "Integers of 64 bits"),
           of_pairs<unsigned>("pairs", "Keys of 32 bits with values of 32 bits"),
           of_pairs<std::int64_t>("int64_pairs", "Keys of 64 bits with values of 32 bits")}};
}
