// The versions of this chapter and its studies: the one list behind tables, tests and plots.
#include "chapter/rows.hpp"
#include "radix_sort.hpp"

using namespace course;
using namespace radix_chapter;

COURSE_LAUNCHERS(Sort<unsigned>, (sort), bit_by_bit, radix_digits, radix_bytes, radix_runs,
                 one_sweep);
COURSE_TYPED_LAUNCHERS(Sort, (sort), cub_radix_sort);

namespace {

Study sequence() {
  Study study{"sequence", "Keys of 32 bits, random", Type::u32,
              make_problem<SortProblem<unsigned>>()};
  study.versions = {
      row("01_bit_by_bit", "32 passes", bit_by_bit::sort).up_to(UINT32_MAX),
      row("02_digits", "4 bits per pass", radix_digits::sort).up_to(UINT32_MAX),
      row("03_bytes", "8 bits, ranks by match", radix_bytes::sort).up_to(UINT32_MAX),
      row("04_runs", "stores in runs", radix_runs::sort).up_to(UINT32_MAX),
      row("05_one_sweep", "one launch per pass", one_sweep::sort).up_to((1 << 30) - 1),
  };
  study.sizes = powers_of_two({28});
  study.cpu_sizes = powers_of_two({14});
  study.test_sizes = sizes_of_n({0,1,2,31,32,33,255,257,2047,2049,4095,4096,4097,8193,20011});
  return study;
}

}  // namespace

course::Chapter course::chapter() {
  return {"17_radix_sort", "sort an array by digits", {sequence()}};
}
