// The versions of this chapter and its studies: the one list behind tables, tests and plots.
#include "async_copy.hpp"
#include "chapter/rows.hpp"
#include "measure/anchors.hpp"

using namespace course;

COURSE_LAUNCHERS(Filter, (apply), synchronous, group_copy, barrier_copy, staged, producers,
                 four_barriers, primitives, mbarrier, short_blocks, thread_scope_study);
COURSE_LAUNCHERS(Filter, (apply_by_threads), producers);
COURSE_LAUNCHERS(FilterWithBlocks, (apply_with_blocks), synchronous);
COURSE_LAUNCHERS(FilterStaged, (apply_staged), staged, primitives, mbarrier);
COURSE_LAUNCHERS(Halo<float>, (synchronous, unstaged, two_stages, three_stages), halo_study);
COURSE_LAUNCHERS(Halo<double>, (synchronous, unstaged, two_stages, three_stages), halo_study);
COURSE_LAUNCHERS(Work, (copy), work_study);
COURSE_LAUNCHERS(CopyPieces, (copy), pieces_study);
COURSE_LAUNCHERS(CopyPieces, (by_threads, by_engine), chunks_study);

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
      row("09_short_blocks", "blocks that end, as many as fit", short_blocks::apply)
          .up_to(4096 * std::int64_t{INT32_MAX})
          .aligned(16),
      bulk_copy_row(),
  };
  study.sizes = {Size{{{"n", std::int64_t{1} << 28}}}};
  study.test_sizes = test_sizes();
  return study;
}

Study size_sweep() {
  return at_sizes(sequence(), "size", "Rate over size, L2 cold", "01,03,04,07,08,09,92",
                  powers_of_two({12, 16, 20, 22, 24, 26, 28, 30}), "n", "floats");
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

/// The pipeline's scopes: who shares one?
Study scope() {
  Study study{"scope", "A pipeline of the block, and one of each thread", Type::f32,
              make_problem<FilterProblem>()};
  study.versions = {
      row("block", "state in shared memory", staged::apply)
          .in_file("04_pipeline")
          .up_to(any_n)
          .aligned(16),
      row("thread", "counted groups, __syncthreads()", thread_scope_study::apply)
          .in_file("studies/thread_scope")
          .up_to(any_n)
          .aligned(16),
      row("no_pipeline", "the same by hand", primitives::apply)
          .in_file("07_primitives")
          .up_to(any_n)
          .aligned(16),
  };
  study.sizes = {Size{{{"n", std::int64_t{1} << 28}}}};
  study.test_sizes = sizes_of_n({0, 5, 1033, 20483, 70001});
  return study;
}

Study stages() {
  Study study{"stages", "One to four stages", Type::f32, make_problem<FilterProblem>()};
  const auto staged_row = [](const char* id, const char* title, FilterStaged* apply) {
    return row(id, title, apply, {"n", "stages", "per_sm"}).up_to(any_n).aligned(16);
  };
  study.versions = {
      staged_row("04_pipeline", "cuda::pipeline", staged::apply_staged),
      staged_row("07_primitives", "commit and wait_prior", primitives::apply_staged),
      staged_row("08_mbarrier", "copies arrive at an mbarrier", mbarrier::apply_staged),
  };
  for (const int s : {1, 2, 3, 4}) {
    study.sizes.push_back(Size{{{"n", std::int64_t{1} << 28}, {"stages", s}, {"per_sm", 2}}});
    for (const std::int64_t n : {0, 5, 1033, 20483, 70001}) {
      study.test_sizes.push_back(Size{{{"n", n}, {"stages", s}, {"per_sm", 2}}});
    }
  }
  study.axis = "stages";
  study.axis_label = "stages";
  study.log_axis = false;
  return study;
}

/// Blocks per SM in place of stages: the other way to have more on its way.
Study blocks() {
  Study study{"blocks", "Blocks per SM", Type::f32, make_problem<FilterProblem>()};
  study.versions = {
      row("01_synchronous", "synchronous", synchronous::apply_with_blocks, {"n", "per_sm"})
          .up_to(any_n)
          .aligned(16),
      row("07_primitives", "two stages", primitives::apply_staged, {"n", "stages", "per_sm"})
          .up_to(any_n)
          .aligned(16),
  };
  for (const int per_sm : {1, 2, 3, 4, 6, 8}) {
    study.sizes.push_back(Size{{{"n", std::int64_t{1} << 28}, {"stages", 2}, {"per_sm", per_sm}}});
  }
  study.test_sizes = {Size{{{"n", 1033}, {"stages", 2}, {"per_sm", 1}}},
                      Size{{{"n", 20483}, {"stages", 2}, {"per_sm", 1}}},
                      Size{{{"n", 70001}, {"stages", 2}, {"per_sm", 8}}}};
  study.axis = "per_sm";
  study.axis_label = "blocks of 256 threads per SM";
  study.log_axis = false;
  return study;
}

template <class T>
Study halo(const char* id, const char* title, Type type) {
  Study study{id, title, type, make_problem<ThreePoints<T>>()};
  const auto halo_row = [](const char* id, const char* title, Halo<T>* apply) {
    return row(id, title, apply, {"n", "block"}).in_file("studies/halo").up_to(1 << 30);
  };
  study.versions = {
      halo_row("synchronous", "through registers", halo_study::synchronous),
      halo_row("unstaged", "asynchronous, one buffer", halo_study::unstaged),
      halo_row("two_stages", "asynchronous, two buffers", halo_study::two_stages),
      halo_row("three_stages", "asynchronous, three buffers", halo_study::three_stages),
  };
  for (const int block : {256, 512, 1024}) {
    study.sizes.push_back(
        Size{{{"n", (std::int64_t{1} << 30) / std::int64_t{sizeof(T)}}, {"block", block}}});
    for (const std::int64_t n : {0, 1, 2, 255, 256, 257, 1023, 1025, 2049, 20483}) {
      study.test_sizes.push_back(Size{{{"n", n}, {"block", block}}});
    }
  }
  study.axis = "block";
  study.axis_label = "threads per block";
  return study;
}

Study work() {
  Study study{"work", "Stages, bytes per stage, work per float", Type::f32,
              make_problem<WorkedCopy>()};
  study.versions = {row("staged_copy", "one block per SM", work_study::copy)
                        .in_file("studies/work")
                        .up_to(any_n)
                        .aligned(16)
                        .sharing(4 * 32 * 1024)};
  const auto size = [](std::int64_t n, int stages, int kib, int steps) {
    return Size{{{"n", n}, {"stages", stages}, {"kib", kib}, {"work", steps}}};
  };
  for (const int steps : {0, 32, 128}) {
    for (const int kib : {4, 8, 16, 32}) {
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

Study chunks() {
  Study study{"chunks", "Copied by threads and by the engine", Type::f32,
              make_problem<CopyProblem>()};
  study.make = [](const Size& size, std::uint64_t seed, Input input) {
    return std::make_unique<CopyProblem>(size, seed, input);
  };
  const auto chunks_row = [](const char* id, const char* title, CopyPieces* copy) {
    return row(id, title, copy, {"n", "chunk"}).in_file("studies/chunks").up_to(any_n).aligned(16);
  };
  study.versions = {
      chunks_row("by_threads", "16 bytes per thread", chunks_study::by_threads),
      chunks_row("by_engine", "a chunk at once", chunks_study::by_engine),
  };
  for (const int bytes : {512, 1024, 2048, 4096, 8192}) {
    study.sizes.push_back(Size{{{"n", std::int64_t{1} << 28}, {"chunk", bytes}}});
    for (const std::int64_t n : {0, 4, 1024, 1028, 20000, 70000}) {
      study.test_sizes.push_back(Size{{{"n", n}, {"chunk", bytes}}});
    }
  }
  study.axis = "chunk";
  study.axis_label = "bytes per chunk";
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
          {sequence(), stages(), blocks(), roles(), scope(),
           halo<float>("halo", "A halo in conditional code, 4 bytes per thread", Type::f32),
           halo<double>("halo_f64", "A halo in conditional code, 8 bytes per thread", Type::f64),
           pieces(), chunks(), offsets(), work(), size_sweep()}};
}
