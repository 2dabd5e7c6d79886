// The versions of this chapter and its studies: the one list behind tables, tests and plots.
#include <algorithm>
#include <cstdio>

#include "chapter/rows.hpp"
#include "measure/anchors.hpp"
#include "nbody.hpp"

using namespace course;

COURSE_LAUNCHERS(AccelerateBodies, (accelerate), array_of_structures);
COURSE_LAUNCHERS(AccelerateArrays, (accelerate), structure_of_arrays);
COURSE_LAUNCHERS(AccelerateFloat, (accelerate), float4_loads, shared_tile, unrolled,
                 bodies_per_thread, fast_rsqrt, folded, third_law, sample_form);
COURSE_LAUNCHERS(AccelerateFloat, (accelerate, accelerate_few, accelerate_some, accelerate_many),
                 limit);
COURSE_LAUNCHERS(AccelerateDouble, (global_memory, shared_tile, fast_root), double_precision);

namespace {

/// The largest n of a launcher whose last block may hold `span` bodies: they are counted as int.
constexpr std::int64_t ints(std::int64_t span) { return (std::int64_t{1} << 31) - span; }

std::vector<Version> ladder() {
  const auto of = [](const char* id, const char* title, AccelerateFloat* accelerate,
                     std::int64_t span) {
    return row(id, title, accelerate).up_to(ints(span)).aligned(16);
  };
  return {
      row("01_array_of_structures", "structures of 28 bytes", array_of_structures::accelerate)
          .solving(make_problem<GravityOfStructures>())
          .up_to(ints(256))
          .aligned(16),
      row("02_structure_of_arrays", "four arrays", structure_of_arrays::accelerate)
          .solving(make_problem<GravityOfArrays>())
          .up_to(ints(256))
          .aligned(16),
      of("03_float4", "one load per body", float4_loads::accelerate, 256),
      of("04_shared_tile", "tiles in shared memory", shared_tile::accelerate, 256),
      of("05_unrolled", "full tiles, unrolled", unrolled::accelerate, 256),
      of("06_bodies_per_thread", "four bodies per thread", bodies_per_thread::accelerate, 1024),
      of("07_fast_rsqrt", "the root alone", fast_rsqrt::accelerate, 1024),
      of("08_folded", "softening in the sum", folded::accelerate, 1024),
      of("80_limit", "equal shares, 8 bodies", limit::accelerate, 4096),
      of("sample_form", "form of the CUDA sample", sample_form::accelerate, 256)
          .peer("its library")
          .in_file("studies/sample_form"),
  };
}

/// Around the blocks, tiles and rows of all versions. Work grows with n * n, and on the CPU backend
/// an interaction takes as long as a hundred thousand on a GPU: few and small sizes there.
std::vector<Size> test_sizes() {
#ifdef SIMT
  return sizes_of_n({0, 1, 2, 3, 31, 33, 127, 129, 255, 257, 1025});
#else
  return sizes_of_n({0,    1,    2,    3,    31,   32,   33,    127,   128,
                     129,  255,  256,  257,  511,  513,  1023,  1024,  1025,
                     2047, 2049, 3077, 4099, 8191, 8193, 30011, 65536, 200003});
#endif
}

/// Lanes of an SM that add and multiply in double (CUDA C++ Programming Guide, "arithmetic
/// instructions").
double double_lanes(int capability) {
  if (capability == 90 || capability == 100) return 64;
  for (const int half : {60, 70, 72, 80}) {
    if (capability == half) return 32;
  }
  return 2;
}

/// An SM starts 4 instructions of a warp a clock, so 128 of a lane.
double issue_slots() { return 4 * 32; }

/// The rate of so many interactions per clock and SM.
Limit limit_of(const Anchors& anchors, const Problem& problem, double per_clock, const char* name,
               const char* why) {
  const Problem::Work work = problem.work();
  const double each = work.amount / (static_cast<double>(problem.n()) * problem.n());
  const double rate = per_clock * anchors.sm_count * anchors.clock_mhz * 1e6 * each / work.scale;
  char how[200];
  std::snprintf(how, sizeof how,
                "derived: %s; %.2f interactions per clock on each of %d SMs at %.0f MHz", why,
                per_clock, anchors.sm_count, anchors.clock_mhz);
  return {name, rate, work.unit, how};
}

/// An interaction takes 12 additions, multiplications and fused ones, and a root: 13 instructions.
/// Nothing issues faster; what the registers can deliver is less (issue_slots, its last column).
Limit issue_bound(const Anchors& anchors, const Problem& problem) {
  const double per_clock = std::min(issue_slots() / 13, float_lanes(anchors.capability) / 12);
  return limit_of(anchors, problem, per_clock, "issue bound", "12 instructions and a root");
}

/// A pair is two interactions: 3 differences, 3 for the square of the distance, 2 for the cube, 2
/// for the masses, 6 for the sums, and a root.
Limit pair_bound(const Anchors& anchors, const Problem& problem) {
  const double per_clock = 2 * std::min(issue_slots() / 17, float_lanes(anchors.capability) / 16);
  return limit_of(anchors, problem, per_clock, "issue bound of pairs",
                  "16 instructions and a root for two interactions");
}

/// In double: 9 for differences, squares and sums, and 7 from the guess of the root to the pull.
Limit double_bound(const Anchors& anchors, const Problem& problem) {
  const double per_clock = std::min(issue_slots() / 17, double_lanes(anchors.capability) / 16);
  return limit_of(anchors, problem, per_clock, "lanes for double", "16 instructions in double");
}

Study sequence() {
  Study study{"sequence", "All pairs of n bodies, 20 flops each", Type::f32,
              make_problem<GravityOfVectors>()};
  study.versions = ladder();
  study.sizes = sizes_of_n({1 << 18});
  study.test_sizes = test_sizes();
  study.cpu_sizes = sizes_of_n({1 << 10});
  study.slow_launch_s = 0.25;
  study.limit = issue_bound;
  return study;
}

Study size_sweep() {
  Study study =
      at_sizes(sequence(), "size", "Rate over the number of bodies", "04,06,08,80,sample_form",
               powers_of_two({10, 12, 14, 16, 17, 18, 20}), "n", "bodies");
  study.cpu_sizes = powers_of_two({8, 9, 10});
  study.slow_launch_s = 0.7;
  return study;
}

/// Version 80 with units of three sizes: which is the fastest for how many bodies.
Study units_of_80() {
  Study study = size_sweep();
  study.name = "units";
  study.title = "Version 80 with small and large units";
  study.versions = {
      row("few", "64 x 64 interactions", limit::accelerate_few),
      row("some", "256 x 64", limit::accelerate_some),
      row("many", "4096 x 512", limit::accelerate_many),
  };
  for (Version& version : study.versions) {
    version = version.in_file("80_limit").up_to(ints(4096)).aligned(16);
  }
  study.sizes = powers_of_two({10, 12, 13, 14, 15, 16, 17});
  study.test_sizes = test_sizes();
  return study;
}

/// Newton's third law: beside 80, and counted in interactions. The bound of 13 instructions is for
/// versions that compute each of them by itself.
Study third_law_study() {
  Study study{"third_law", "Each pair once", Type::f32, make_problem<GravityInPairs>()};
  study.versions = chosen(ladder(), "80");
  study.versions.push_back(
      row("81_third_law", "each pair once", third_law::accelerate).up_to(ints(1024)).aligned(16));
  study.sizes = sizes_of_n({1 << 16, 1 << 18, 1 << 20});
  study.test_sizes = test_sizes();
  study.cpu_sizes = sizes_of_n({1 << 10});
  study.slow_launch_s = 0.7;
  study.limit = pair_bound;
  return study;
}

Study in_double() {
  Study study{"double", "The same in double", Type::f64, make_problem<GravityInDouble>()};
  study.slow_launch_s = 0.25;
  study.versions = {
      row("global_memory", "one body per thread", double_precision::global_memory),
      row("shared_tile", "tiles in shared memory", double_precision::shared_tile),
      row("fast_root", "two bodies, own root", double_precision::fast_root),
  };
  for (Version& version : study.versions) {
    version = version.in_file("studies/double_precision").up_to(ints(512)).aligned(16);
  }
  study.sizes = sizes_of_n({1 << 17});
  study.test_sizes = test_sizes();
  study.cpu_sizes = sizes_of_n({1 << 9});
  study.test_sizes.pop_back();  // the largest: minutes on a GPU with few lanes for double
  study.limit = double_bound;
  return study;
}

}  // namespace

course::Chapter course::chapter() {
  return {"06_nbody",
          "gravity of n bodies, all pairs",
          {sequence(), size_sweep(), units_of_80(), in_double(), third_law_study()}};
}
