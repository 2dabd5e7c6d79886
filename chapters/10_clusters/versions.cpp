// The versions of this chapter and its studies: the one list behind tables, tests and plots.
#include "chapter/rows.hpp"
#include "clusters.hpp"

using namespace course;

COURSE_LAUNCHERS(Histogram, (histogram), global_atomics, windows, packed, remote_atomics, reduced,
                 histogram_limit);
COURSE_LAUNCHERS(HistogramBy, (histogram_by), remote_atomics, reduced);
COURSE_LAUNCHERS(HistogramIn, (histogram), cub_clusters);
COURSE_LAUNCHERS(RanksBy, (rank_of_each), multicast);
COURSE_LAUNCHERS(Ranks, (rank_of_each), rank_by_loads_study);
COURSE_LAUNCHERS(FloatsToFloats, (add_rings), ring_sync, ring_async, ring_free);
COURSE_LAUNCHERS(FloatsToFloats, (sum), cluster_sum);
COURSE_LAUNCHERS(FloatsToFloats, (scan), cluster_scan);
COURSE_LAUNCHERS(FloatsIn, (sum), global_sum_study, cub_clusters);
COURSE_LAUNCHERS(FloatsIn, (scan), global_scan_study, cub_clusters);
COURSE_LAUNCHERS(Exchange, (load, store, add, red_async, st_async, bulk), exchange_study);
COURSE_LAUNCHERS(Exchange, (own_memory, other_memory, l2_cache), latency_study);
COURSE_LAUNCHERS(Exchange, (meet_in_block, meet_in_cluster, arrive_for_block, arrive_for_cluster),
                 latency_study);
COURSE_LAUNCHERS(Throws, (ball_by_st_async, ball_through_global), latency_study);

namespace {

using clusters::Spread;

#ifdef SIMT
constexpr bool all_is_checked = true;  // access by access
#else
constexpr bool all_is_checked = false;
#endif

constexpr std::int64_t most_samples = UINT32_MAX;
constexpr std::int64_t all_of_an_sm = 227 * 1024;  // bytes of shared memory

Size histogram_size(std::int64_t n, std::int64_t bins) { return Size{{{"n", n}, {"bins", bins}}}; }

std::vector<Version> histograms() {
  const auto in_shared = [](const char* id, const char* title, Histogram* launcher) {
    return row(id, title, launcher).sharing(all_of_an_sm).up_to(most_samples).aligned(16);
  };
  return {
      row("01_global_atomics", "atomics in the L2 cache", global_atomics::histogram)
          .up_to(most_samples)
          .aligned(16),
      in_shared("02_windows", "shared memory, a window per block", windows::histogram),
      in_shared("03_packed", "16 bits per counter", packed::histogram),
      in_shared("04_remote_atomics", "windows in a cluster", remote_atomics::histogram).needing(90),
      in_shared("05_reduced", "clusters add up their counters", reduced::histogram).needing(90),
      in_shared("80_limit", "05, and skewed samples", histogram_limit::histogram).needing(90),
      row("90_cub", "DeviceHistogram", cub_clusters::histogram).peer("CUB").up_to(INT32_MAX),
  };
}

Study sequence() {
  Study study{"sequence", "A histogram of 75,000 bins", Type::u32,
              make_problem<HistogramProblem>()};
  study.versions = histograms();
  study.sizes = {histogram_size(1 << 28, 75000)};
  study.cpu_sizes = {histogram_size(1 << 16, 75000)};
  for (const std::int64_t bins : {0, 1, 2, 3, 255, 1000, 41601, 75000}) {
    for (const std::int64_t n : {0, 1, 3, 4, 5, 33, 4095, 4099, 20483}) {
      if (bins < 10000 || n == 3 || n == 20483) {
        study.test_sizes.push_back(histogram_size(n, bins));
      }
    }
  }
  study.test_sizes.push_back(histogram_size(200003, 1));  // counters of 16 bits come to 2^15
  study.test_sizes.push_back(histogram_size(9001, 116225));
  if (!all_is_checked) {
    for (const std::int64_t bins : {116224, 300001, 464896, 1000000}) {
      study.test_sizes.push_back(histogram_size(1000003, bins));
    }
    study.test_sizes.push_back(histogram_size((1 << 25) + 3, 1));
  }
  return study;
}

/// The same histograms of samples that are not spread evenly.
Study skewed(const char* name, const char* title, Spread spread) {
  Study study = sequence();
  study.name = name;
  study.title = title;
  study.make = make_problem<HistogramProblem>(spread);
  study.test_sizes = {histogram_size(99, 7), histogram_size(40003, 1000),
                      histogram_size(20483, 75000)};
  if (spread != Spread::zipf) study.test_sizes.push_back(histogram_size(300007, 1000));  // emptied
  return study;
}

/// A study over the number of bins, of n samples.
Study bins_sweep(const char* name, const char* title, std::int64_t n) {
  std::vector<Size> sizes;
  for (const int bins : {256, 2048, 16384, 75000, 200000, 464896, 1000000}) {
    sizes.push_back(histogram_size(n, bins));
  }
  Study study = at_sizes(sequence(), name, title, "01-03,05,80,90", sizes, "bins", "bins");
  study.cpu_sizes = {histogram_size(1 << 14, 256)};
  return study;
}

Study size_sweep() {
  std::vector<Size> sizes;
  for (const int k : {16, 18, 20, 22, 24, 26, 28}) {
    sizes.push_back(histogram_size(std::int64_t{1} << k, 75000));
  }
  Study study = at_sizes(sequence(), "size", "Rate over size, 75,000 bins", "01-03,05,80,90", sizes,
                         "n", "samples");
  study.cpu_sizes = {histogram_size(1 << 14, 75000)};
  return study;
}

Study cluster_sizes() {
  Study study{"cluster", "Clustered histograms over the size of a cluster", Type::u32,
              make_problem<HistogramProblem>()};
  const auto by = [](const char* id, const char* title, HistogramBy* launcher) {
    return row(id, title, launcher, {"n", "bins", "size"})
        .needing(90)
        .sharing(all_of_an_sm)
        .up_to(most_samples)
        .aligned(16);
  };
  study.versions = {by("04_remote_atomics", "remote atomics", remote_atomics::histogram_by),
                    by("05_reduced", "counters added up", reduced::histogram_by)};
  const auto size = [](std::int64_t n, std::int64_t bins, std::int64_t blocks) {
    return Size{{{"n", n}, {"bins", bins}, {"size", blocks}}};
  };
  for (const int blocks : {1, 2, 4, 8, 16}) study.sizes.push_back(size(1 << 24, 75000, blocks));
  study.cpu_sizes = {size(1 << 14, 4096, 2), size(1 << 14, 4096, 8)};
  for (const int blocks : {1, 2, 4, 8, 16}) {
    for (const std::int64_t bins : {0, 5, 1003}) {
      study.test_sizes.push_back(size(9001, bins, blocks));
    }
  }
  study.test_sizes.push_back(size(9001, 150000, 1));  // windows one after the other
  study.test_sizes.push_back(size(120003, 1003, 4));
  study.test_sizes.push_back(size(200003, 1, 1));  // counters of 16 bits come to 2^15
  study.test_sizes.push_back(size(0, 100, 4));
  study.test_sizes.push_back(size(77, 6, 4));
  study.axis = "size";
  study.axis_label = "blocks per cluster";
  return study;
}

Study ranks() {
  Study study{"ranks", "The same values for all blocks: ranks of queries", Type::u32,
              make_problem<RankProblem>()};
  study.versions = {row("06_multicast", "multicast in the cluster", multicast::rank_of_each)
                        .needing(90)
                        .sharing(192 * 1024)
                        .up_to(most_samples)
                        .aligned(16),
                    row("by_loads", "ordinary loads", rank_by_loads_study::rank_of_each, {"n", "m"})
                        .in_file("studies/rank_by_loads")
                        .up_to(most_samples)
                        .aligned(16)};
  const auto size = [](std::int64_t n, std::int64_t m, std::int64_t blocks) {
    return Size{{{"n", n}, {"m", m}, {"size", blocks}}};
  };
  for (const int blocks : {1, 2, 4, 8, 16}) study.sizes.push_back(size(1 << 22, 1056, blocks));
  study.cpu_sizes = {size(1 << 14, 8, 1), size(1 << 14, 8, 4)};
  for (const int blocks : {1, 2, 4, 8, 16}) {
    for (const std::int64_t n : {0, 3, 8192, 24579}) {
      study.test_sizes.push_back(size(n, 11, blocks));
    }
  }
  study.test_sizes.push_back(
      size(120001, 3, 2));  // tiles are refilled, the last query is asked twice
  study.test_sizes.push_back(size(120001, 5, 4));
  study.test_sizes.push_back(size(100, 0, 2));
  study.test_sizes.push_back(size(55, 9, 4));
  study.axis = "size";
  study.axis_label = "blocks per cluster";
  return study;
}

Study rings() {
  Study study{"ring", "Chunks go round a ring of eight blocks", Type::f32,
              make_problem<RingProblem>()};
  const auto ring = [](const char* id, const char* title, FloatsToFloats* launcher,
                       std::int64_t shared) {
    return row(id, title, launcher)
        .needing(90)
        .sharing(shared)
        .up_to(std::int64_t{1} << 40)
        .aligned(16);
  };
  study.versions = {
      ring("07_ring_sync", "stores and cluster.sync()", ring_sync::add_rings, 0),
      ring("08_ring_async", "st.async, a place per step", ring_async::add_rings, 112 * 1024),
      ring("09_ring_free", "two places, two barriers each", ring_free::add_rings, 0)};
  study.sizes = {Size{{{"n", std::int64_t{1} << 28}}}, Size{{{"n", 1 << 15}}}};
  study.cpu_sizes = {Size{{{"n", 1 << 15}}}};
  study.test_sizes = sizes_of_n({0, 1, 3, 4097, 32768, 33001});
  if (!all_is_checked) {
    for (const int n : {4, 4095, 32767, 1000003}) study.test_sizes.push_back(Size{{{"n", n}}});
  }
  return study;
}

Study sums() {
  Study study{"sum", "A sum by eight blocks", Type::f32, make_problem<SumProblem>()};
  study.versions = {
      row("10_cluster_sum", "one cluster", cluster_sum::sum).needing(90).up_to(any_n).aligned(16),
      row("through_global", "through global memory", global_sum_study::sum)
          .in_file("studies/global_sum")
          .needing(90)
          .up_to(any_n)
          .aligned(16),
      row("90_cub_sum", "DeviceReduce", cub_clusters::sum)
          .in_file("90_cub")
          .peer("CUB")
          .up_to(INT32_MAX)};
  study.sizes = powers_of_two({10, 12, 14, 16, 18, 20});
  study.cpu_sizes = {Size{{{"n", 1 << 14}}}};
  study.test_sizes = sizes_of_n({0, 1, 2, 3, 31, 33, 1023, 1025, 4099, 32767, 32769, 65549});
  study.axis = "n";
  study.axis_label = "floats";
  return study;
}

Study scans() {
  Study study{"scan", "A scan by eight blocks", Type::f32, make_problem<ScanProblem>()};
  study.versions = {row("11_cluster_scan", "one cluster", cluster_scan::scan)
                        .needing(90)
                        .up_to(any_n)
                        .aligned(16),
                    row("through_global", "through global memory", global_scan_study::scan)
                        .in_file("studies/global_scan")
                        .needing(90)
                        .up_to(any_n)
                        .aligned(16),
                    row("90_cub_scan", "DeviceScan", cub_clusters::scan)
                        .in_file("90_cub")
                        .peer("CUB")
                        .up_to(INT32_MAX)};
  study.sizes = powers_of_two({10, 12, 14, 16, 18, 20});
  study.cpu_sizes = {Size{{{"n", 1 << 14}}}};
  study.test_sizes = sizes_of_n({0, 1, 2, 3, 31, 33, 511, 513, 16383, 16385, 65549});
  if (!all_is_checked) {
    for (const int n : {65535, 65536}) study.test_sizes.push_back(Size{{{"n", n}}});
  }
  study.axis = "n";
  study.axis_label = "floats";
  return study;
}

/// Each way as a row; the reference depends on the way, so there are three studies of one size.
Study exchange(const char* name, const char* title, ExchangeProblem::Result result,
               const std::vector<std::pair<const char*, Exchange*>>& ways) {
  Study study{name, title, Type::u32, make_problem<ExchangeProblem>(result)};
  for (const auto& [id, launcher] : ways) {
    Version version = row(id, id, launcher)
                          .in_file("studies/exchange")
                          .needing(90)
                          .sharing(144 * 1024)
                          .up_to(std::int64_t{1} << 40)
                          .aligned(16);
    version.takes = [](const Size& size) { return size["n"] % (4096 * size["size"]) == 0; };
    study.versions.push_back(version);
  }
  const auto size = [](std::int64_t n, std::int64_t blocks) {
    return Size{{{"n", n}, {"size", blocks}}};
  };
  for (const int blocks : {1, 2, 4, 8, 16}) {
    study.sizes.push_back(size(112 * 4096, blocks));  // as many tiles as fit at once at any size
    study.test_sizes.push_back(size(32 * 4096, blocks));
  }
  study.cpu_sizes = {size(8 * 4096, 2), size(8 * 4096, 8)};
  study.test_sizes.push_back(size(0, 2));
  study.axis = "size";
  study.axis_label = "blocks per cluster";
  return study;
}

/// Steps one after the other, in a cluster of each size: n steps, so a launch takes n times as long
/// as one.
Study steps(const char* name, const char* title, Study study, int least_blocks) {
  study.name = name;
  study.title = title;
  study.type = Type::u32;
  for (Version& version : study.versions) {
    version.takes = [least_blocks](const Size& size) { return size["size"] >= least_blocks; };
  }
  const auto size = [](std::int64_t n, std::int64_t blocks) {
    return Size{{{"n", n}, {"size", blocks}}};
  };
  for (const int blocks : {1, 2, 4, 8, 16}) {
    if (blocks < least_blocks) continue;
    study.sizes.push_back(size(10000, blocks));
    for (const int n : {0, 1, 2, 101}) study.test_sizes.push_back(size(n, blocks));
  }
  study.cpu_sizes = {size(100, 2), size(100, 8)};
  study.axis = "size";
  study.axis_label = "blocks per cluster";
  return study;
}

Version step_row(const char* id, const char* title, Exchange* launcher) {
  return row(id, title, launcher, {"n", "size"})
      .in_file("studies/latency")
      .needing(90)
      .up_to(INT32_MAX);
}

Study chains() {
  Study study;
  study.make = make_problem<ChainProblem>();
  study.versions = {
      step_row("own_memory", "own shared memory", latency_study::own_memory),
      step_row("other_memory", "another block's shared memory", latency_study::other_memory),
      step_row("l2_cache", "L2 cache", latency_study::l2_cache)};
  return steps("chain", "A chain of 10,000 loads", std::move(study), 1);
}

Study balls() {
  const auto ball_row = [](const char* id, const char* title, Throws* launcher) {
    return row(id, title, launcher, {"n", "size"})
        .in_file("studies/latency")
        .needing(90)
        .up_to(INT32_MAX);
  };
  Study study;
  study.make = make_problem<StepProblem>();
  study.versions = {ball_row("st_async", "st.async", latency_study::ball_by_st_async),
                    ball_row("global_memory", "global memory", latency_study::ball_through_global)};
  return steps("ball", "A ball that two blocks throw 10,000 times", std::move(study), 2);
}

Study meetings() {
  Study study;
  study.make = make_problem<StepProblem>();
  study.versions = {
      step_row("syncthreads", "__syncthreads()", latency_study::meet_in_block),
      step_row("cluster_sync", "cluster.sync()", latency_study::meet_in_cluster),
      step_row("arrive_block", "an arrival for the block", latency_study::arrive_for_block),
      step_row("arrive_cluster", "an arrival for the cluster", latency_study::arrive_for_cluster)};
  return steps("meeting", "10,000 meetings, or arrivals at a barrier", std::move(study), 1);
}

}  // namespace

course::Chapter course::chapter() {
  using Result = ExchangeProblem::Result;
  return {"10_clusters",
          "blocks that reach each other's shared memory",
          {sequence(), skewed("constant", "All samples in one bin", Spread::constant),
           skewed("zipf", "Some bins are very frequent (Zipf)", Spread::zipf), size_sweep(),
           bins_sweep("bins", "Rate over the number of bins", std::int64_t{1} << 28),
           bins_sweep("bins_24", "Rate over the number of bins, 2^24 samples", 1 << 24),
           cluster_sizes(), ranks(), rings(), sums(), scans(), chains(), balls(), meetings(),
           exchange("pull", "Pulling tiles from the next block", Result::rotated,
                    {{"load", exchange_study::load}}),
           exchange("push", "Pushing tiles to the next block", Result::eight,
                    {{"store", exchange_study::store},
                     {"st_async", exchange_study::st_async},
                     {"bulk", exchange_study::bulk}}),
           exchange("atomic", "Adding tiles to the next block's", Result::all,
                    {{"add", exchange_study::add}, {"red_async", exchange_study::red_async}})}};
}
