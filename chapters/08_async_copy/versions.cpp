// The versions of this chapter and its studies: the one list behind tables, tests and plots.
#include "async_copy.hpp"
#include "chapter/rows.hpp"
#include "measure/anchors.hpp"

using namespace course;

COURSE_LAUNCHERS(Filter, (apply), synchronous, group_copy, barrier_copy, staged, producers,
                 four_barriers, primitives, mbarrier);
COURSE_LAUNCHERS(Filter, (apply_by_threads), producers);
COURSE_LAUNCHERS(FilterStaged, (apply_staged), staged, primitives, mbarrier);
COURSE_LAUNCHERS(Filter, (synchronous, unstaged, two_stages), one_float);
COURSE_LAUNCHERS(Work, (copy), work_study);
COURSE_LAUNCHERS(CopyPieces, (copy), pieces_study);

namespace {

/// A copy of as many bytes as the filter reads and writes: the ceiling.
Version bulk_copy_row() {
  return bulk_copy_version("92_bulk_copy", Role::limit)
      .solving([](const Size& size, std::uint64_t seed, Input input) {
        return std::make_unique<CopyProblem>(Size{{{"n", size["n"]}}}, seed, input);
      });
}

#ifdef SIMT
constexpr bool all_is_checked = true;  // access by access
#else
constexpr bool all_is_checked = false;
#endif

/// Edges of groups, halos and tiles; enough tiles for several rounds of all blocks.
std::vector<Size> test_sizes() {
  std::vector<std::int64_t> sizes = {0,    1,    2,    3,    5,    8,    9,    17,    33,   1015,
                                     1016, 1023, 1024, 1025, 1033, 4099, 8200, 20483, 70001};
  if (!all_is_checked) sizes.insert(sizes.end(), {65537, 1000003, (1 << 22) + 5});
  return sizes_of_n(sizes);
}

Study sequence() {
  Study study{"sequence", "A filter, from synchronous loads to copies that arrive", Type::f32,
              make_problem<FilterProblem>()};
  const auto filter_row = [](const char* id, const char* title, Filter* apply) {
    return row(id, title, apply).up_to(any_n).aligned(16);
  };
  study.versions = {
      filter_row("01_synchronous", "load, store, wait, compute", synchronous::apply),
      filter_row("02_group_copy", "copied by the group", group_copy::apply),
      filter_row("03_barrier", "copied to a barrier", barrier_copy::apply),
      filter_row("04_pipeline", "pipeline, two stages", staged::apply),
      filter_row("05_producers", "a warp produces", producers::apply),
      filter_row("06_four_barriers", "two buffers, four barriers", four_barriers::apply),
      filter_row("07_primitives", "commit and wait_prior", primitives::apply),
      filter_row("08_mbarrier", "copies arrive at an mbarrier", mbarrier::apply),
      bulk_copy_row(),
  };
  study.sizes = {Size{{{"n", std::int64_t{1} << 28}}}};
  study.test_sizes = test_sizes();
  return study;
}

Study size_sweep() {
  return at_sizes(sequence(), "size", "Rate over size, L2 cold", "01,03,04,07,08,92",
                  powers_of_two({12, 14, 16, 18, 20, 22, 24, 26, 28, 30}), "n", "floats");
}

Study roles() {
  Study study{"roles", "Producers by whole warps and by threads", Type::f32,
              make_problem<FilterProblem>()};
  study.versions = {
      row("by_warps", "the last of nine warps", producers::apply)
          .in_file("05_producers")
          .up_to(any_n)
          .aligned(16),
      row("by_threads", "every ninth thread", producers::apply_by_threads)
          .in_file("05_producers")
          .up_to(any_n)
          .aligned(16),
  };
  study.sizes = {Size{{{"n", std::int64_t{1} << 28}}}};
  study.test_sizes = test_sizes();
  return study;
}

Study stages() {
  Study study{"stages", "One to four stages", Type::f32, make_problem<FilterProblem>()};
  const auto staged_row = [](const char* id, const char* title, FilterStaged* apply) {
    return row(id, title, apply, {"n", "stages"}).up_to(any_n).aligned(16);
  };
  study.versions = {
      staged_row("04_pipeline", "cuda::pipeline", staged::apply_staged),
      staged_row("07_primitives", "commit and wait_prior", primitives::apply_staged),
      staged_row("08_mbarrier", "copies arrive at an mbarrier", mbarrier::apply_staged),
  };
  for (const int s : {1, 2, 3, 4}) {
    study.sizes.push_back(Size{{{"n", std::int64_t{1} << 28}, {"stages", s}}});
    for (const std::int64_t n : {0, 5, 1033, 20483, 70001}) {
      study.test_sizes.push_back(Size{{{"n", n}, {"stages", s}}});
    }
  }
  study.axis = "stages";
  study.axis_label = "stages";
  study.log_axis = false;
  return study;
}

Study conditional_loads() {
  Study study{"one_float", "One float per thread and load, in conditional code", Type::f32,
              make_problem<FilterProblem>()};
  const auto one_row = [](const char* id, const char* title, Filter* apply) {
    return row(id, title, apply).in_file("studies/one_float").up_to(any_n);
  };
  study.versions = {
      one_row("synchronous", "through registers", one_float::synchronous),
      one_row("unstaged", "asynchronous, one buffer", one_float::unstaged),
      one_row("two_stages", "asynchronous, two buffers", one_float::two_stages),
  };
  study.sizes = {Size{{{"n", std::int64_t{1} << 28}}}};
  study.test_sizes = sizes_of_n({0, 1, 7, 8, 9, 255, 256, 257, 264, 265, 4099, 20483});
  return study;
}

Study work() {
  Study study{"work", "Stages, bytes per stage, work per float", Type::f32,
              make_problem<WorkedCopy>()};
  study.versions = {row("staged_copy", "one block per SM", work_study::copy)
                        .in_file("studies/work")
                        .up_to(any_n)
                        .aligned(16)
                        .sharing(4 * 48 * 1024)};
  const auto size = [](std::int64_t n, int stages, int kib, int steps) {
    return Size{{{"n", n}, {"stages", stages}, {"kib", kib}, {"work", steps}}};
  };
  for (const int steps : {0, 16, 64, 256}) {
    for (const int kib : {4, 8, 16, 32, 48}) {
      for (const int s : {1, 2, 3, 4}) study.sizes.push_back(size(1 << 26, s, kib, steps));
    }
  }
  study.cpu_sizes = {size(1 << 16, 1, 4, 0), size(1 << 16, 2, 8, 16)};
  for (const int s : {1, 2, 4}) {
    for (const std::int64_t n : {0, 4, 1028, 20000}) study.test_sizes.push_back(size(n, s, 8, 2));
  }
  return study;
}

Study pieces() {
  Study study{"pieces", "Copies of 4, 8 and 16 bytes", Type::f32, make_problem<CopyProblem>()};
  study.make = [](const Size& size, std::uint64_t seed, Input input) {
    return std::make_unique<CopyProblem>(size, seed, input);
  };
  study.versions = {row("pieces", "4 KiB per block and stage", pieces_study::copy, {"n", "bytes"})
                        .in_file("studies/pieces")
                        .up_to(any_n)
                        .aligned(16)};
  for (const int bytes : {4, 8, 16}) {
    study.sizes.push_back(Size{{{"n", std::int64_t{1} << 28}, {"bytes", bytes}}});
    for (const std::int64_t n : {0, 4, 1024, 1028, 20000}) {
      study.test_sizes.push_back(Size{{{"n", n}, {"bytes", bytes}}});
    }
  }
  study.axis = "bytes";
  study.axis_label = "bytes per copy";
  return study;
}

Study offsets() {
  Study study{"offset", "Inputs that begin between multiples of 128 bytes", Type::f32,
              make_problem<OffsetCopy>()};
  study.versions = {row("pieces", "16 bytes per copy", pieces_study::copy, {"n", "bytes"})
                        .in_file("studies/pieces")
                        .up_to(any_n)
                        .aligned(16)};
  for (const int offset : {0, 16, 32, 64, 96, 128}) {
    study.sizes.push_back(Size{{{"n", std::int64_t{1} << 28}, {"bytes", 16}, {"offset", offset}}});
  }
  study.test_sizes = {Size{{{"n", 4}, {"bytes", 16}, {"offset", 16}}},
                      Size{{{"n", 20000}, {"bytes", 16}, {"offset", 48}}}};
  study.axis = "offset";
  study.axis_label = "bytes after a multiple of 256";
  study.log_axis = false;
  return study;
}

}  // namespace

course::Chapter course::chapter() {
  return {"08_async_copy",
          "a filter over an array, copied and computed at the same time",
          {sequence(), stages(), roles(), conditional_loads(), pieces(), offsets(), work(),
           size_sweep()}};
}
