// Chapter 07: no input makes the time quadratic. An adversary simulates how a version partitions
// its keys and makes each pivot one of the smallest keys that are left; other tests use plans for
// 07 that fit badly. They check the result, the number of segments that were sorted by the bounded
// method, and, if accesses are counted, the work.
#include <cmath>
#include <numeric>

#include "07_quicksort_test.hpp"
#include "count/model.hpp"

namespace {

using quicksort_chapter::all_is_checked;

using course_test::in_another_order;
using namespace quicksort_test;

constexpr std::uint64_t known_seed = 20261120;

// ---- Where versions look for pivots ----

/// The finaliser of SplitMix64, as the versions have it: without the counter of course::mix.
std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

using Places = std::vector<std::int64_t>;

/// A segment as the adversary knows it.
struct Known {
  std::int64_t first, count;
  int level;  // how many times its keys were partitioned
};

/// How a version chooses pivots: the places in the segment that it samples, and the rank of the
/// pivot among those keys.
struct Rule {
  std::function<Places(const Known&)> samples;
  std::size_t rank;
  int levels;               // by pivots, of an array of n keys
  std::int64_t leaf;        // a segment up to this length is not partitioned
  bool three_ways = false;  // keys equal to the pivot are final
};

/// Levels of 02 to 06: twice the number that halving would take, and two more.
int twice_halving(std::int64_t n, std::int64_t leaf) {
  int levels = 2;
  for (std::int64_t size = leaf; size < n; size *= 2) levels += 2;
  return levels;
}

/// 02 and 03: the first, the middle and the last key.
Rule median_of_three(std::int64_t n) {
  const auto samples = [](const Known& s) { return Places{0, s.count / 2, s.count - 1}; };
  return {samples, 1, twice_halving(n, 2048), 2048};
}

/// 04 to 06: 32 keys at hashed places.
Rule median_of_32(int levels, bool three_ways) {
  const auto samples = [](const Known& s) {
    Places places;
    const auto number = static_cast<std::uint64_t>(s.first * 64 + s.level);
    for (std::uint64_t lane = 0; lane < 32; ++lane) {
      places.push_back(static_cast<std::int64_t>(mix(mix(known_seed + number) + lane) %
                                                 static_cast<std::uint64_t>(s.count)));
    }
    return places;
  };
  return {samples, 16, levels, 2048, three_ways};
}

/// 07's place k of the sample of a segment.
std::int64_t place_of_07(const Known& s, std::uint64_t seed, int k) {
  const std::uint64_t number = mix(seed + static_cast<std::uint64_t>(s.first) * 64);
  return static_cast<std::int64_t>(mix(number + static_cast<std::uint64_t>(k)) %
                                   static_cast<std::uint64_t>(s.count));
}

/// 07 if one block partitions a leaf that is too long.
Rule long_leaf_of_07() {
  const auto samples = [](const Known& s) {
    Places places;
    for (int lane = 0; lane < 32; ++lane)
      places.push_back(place_of_07(s, known_seed + static_cast<std::uint64_t>(s.level), lane));
    return places;
  };
  return {samples, 16, 24, 4096};
}

// ---- The adversary ----

/// The adversary's result: an order of the numbers from 0 to n - 1. After all levels by pivots, the
/// largest `left` numbers are still in one segment; all of them are at least `low`.
struct Worst {
  std::vector<unsigned> keys;
  std::int64_t low, left;
};

/// An input that is decided step by step: keys get the numbers 0, 1, ... in the order in which the
/// version reads them. Keys that were never read are larger.
class Adversary {
 public:
  explicit Adversary(std::int64_t n)
      : keys_(static_cast<std::size_t>(n), undecided), segment_(keys_.size()) {
    std::iota(segment_.begin(), segment_.end(), std::size_t{0});
  }

  /// Against a version that partitions in order: first the keys that go left, in their order, then
  /// the others in reverse order. The segment of few keys is dropped, the other one is partitioned
  /// again.
  Worst against(const Rule& rule) {
    Known known{0, static_cast<std::int64_t>(keys_.size()), 0};
    for (; known.level < rule.levels && known.count > rule.leaf; ++known.level) {
      const unsigned pivot = poison(rule.samples(known), rule.rank);
      const bool stays = rule.three_ways || pivot == low_;  // left, or where it belongs
      const unsigned least = stays ? pivot + 1 : pivot;     // the least key that goes right
      low_ = least;
      std::vector<std::size_t> right;
      for (auto place = segment_.rbegin(); place != segment_.rend(); ++place) {
        if (keys_[*place] >= least) right.push_back(*place);
      }
      segment_ = right;
      const auto count = static_cast<std::int64_t>(right.size());
      known.first += known.count - count;
      known.count = count;
    }
    EXPECT_GT(known.count, rule.leaf) << "the adversary has lost";
    return {decided(), low_, known.count};
  }

  /// Against 01: the key in the middle is the least, so it is swapped with the first one and is the
  /// only key that goes left.
  Worst against_the_middle() {
    const std::size_t n = keys_.size();
    for (std::size_t first = 0; first + 1 < n; ++first) {
      const std::size_t middle = first + (n - first - 1) / 2;
      keys_[segment_[middle]] = next_++;
      std::swap(segment_[first], segment_[middle]);
    }
    return {decided(), 0, 0};
  }

  /// The smallest keys at these places.
  std::vector<unsigned> with_least_at(const Places& places) {
    poison(places, places.size() - 1);
    return decided();
  }

 private:
  static constexpr unsigned undecided = ~0u;

  /// Decides sampled keys until the one of this rank is decided. Returns it.
  unsigned poison(const Places& samples, std::size_t rank) {
    const auto key_at = [&](std::int64_t place) -> unsigned& {
      return keys_[segment_[static_cast<std::size_t>(place)]];
    };
    const auto is_decided = [&](std::int64_t place) { return key_at(place) != undecided; };
    for (const std::int64_t place : samples) {
      const auto known = std::count_if(samples.begin(), samples.end(), is_decided);
      if (static_cast<std::size_t>(known) > rank) break;
      if (!is_decided(place)) key_at(place) = next_++;
    }
    std::vector<unsigned> found;
    for (const std::int64_t place : samples) found.push_back(key_at(place));
    std::sort(found.begin(), found.end());
    return found[rank];
  }

  /// All keys. Those that are still open get adjacent numbers, in any order, so that halving the
  /// range of values separates no keys for many levels.
  std::vector<unsigned> decided() {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (keys_[i] == undecided) open.push_back(i);
    }
    for (std::size_t k = open.size(); k > 1; --k)
      std::swap(open[k - 1], open[course::mix(71, k) % k]);
    for (const std::size_t i : open) keys_[i] = next_++;
    return keys_;
  }

  std::vector<unsigned> keys_;
  std::vector<std::size_t> segment_;  // which of the keys are in it, in their order
  unsigned next_ = 0, low_ = 0;
};

/// The adversary's input for a version.
Worst worst_for(const Sorter<unsigned>& sorter, std::int64_t n) {
  Adversary adversary(n);
  if (sorter.is("01")) return adversary.against_the_middle();
  if (sorter.is("02") || sorter.is("03")) return adversary.against(median_of_three(n));
  if (sorter.is("07")) return adversary.against(long_leaf_of_07());
  const bool is_04 = sorter.is("04");  // counts levels up to where one block continues, with 6
  const int levels = is_04 ? twice_halving(n, 8 * 2048) + 6 : twice_halving(n, 2048);
  return adversary.against(median_of_32(levels, sorter.is("06")));
}

/// 07 with a plan and the known seed. (08 and 09 choose their samples in the same way, but a block
/// sorts 8192 keys of them: what is computed here would be other numbers.)
std::vector<Sorter<unsigned>> told_07(const Told& plan) {
  std::vector<Sorter<unsigned>> found = told(plan, known_seed);
  found.erase(std::remove_if(found.begin(), found.end(),
                             [](const Sorter<unsigned>& sorter) { return !sorter.is("07"); }),
              found.end());
  return found;
}

/// 01 to 07, those with hashed places by the known seed; 07 by this plan.
std::vector<Sorter<unsigned>> with_known_seed(const Told& plan) {
  std::vector<Sorter<unsigned>> all = sorters<unsigned>();
  all.erase(std::remove_if(all.begin(), all.end(),
                           [](const Sorter<unsigned>& sorter) { return sorter.name >= "04"; }),
            all.end());
  for (const Sorter<unsigned>& sorter : seeded(known_seed)) all.push_back(sorter);
  for (const Sorter<unsigned>& sorter : told_07(plan)) all.push_back(sorter);
  return all;
}

/// The keys 0 .. n - 1.
std::vector<unsigned> counted(std::int64_t n) {
  std::vector<unsigned> keys(static_cast<std::size_t>(n));
  std::iota(keys.begin(), keys.end(), 0u);
  return keys;
}

// ---- Work ----

/// What a launch left, and how many times it loaded all keys: by sectors of 8 keys; by 01, whose
/// warps have one thread, key by key. 0 if nothing is counted, on a GPU.
struct Work {
  Sorted<unsigned> sorted;
  double passes = 0;
};

Work work(const Sorter<unsigned>& sorter, const std::vector<unsigned>& in) {
  Work done;
  const auto sort = [&] { done.sorted = run(sorter.call, in); };
#ifdef SIMT
  const course::Requests loads = course::counts_during(sort).global_loads;
  const double keys = static_cast<double>(sorter.is("01") ? loads.requests : 8 * loads.units);
  done.passes = keys / static_cast<double>(in.size());
#else
  sort();
#endif
  return done;
}

/// The most passes over n keys of 32 bits for any input: one for each level by pivots and each of
/// the 32 that halve the range of values, half as many again for places that are not aligned and
/// for the words that describe segments, and 8 for samples and leaves. 01: a level reads a key at
/// most 4 times, heap sort 8 times in each of log2(n) levels.
double most_passes(const Sorter<unsigned>& sorter, std::int64_t n) {
  if (sorter.is("01")) return 24 * 4 + 8 * std::log2(static_cast<double>(n));
  const int by_pivots = sorter.is("07") ? 24 : twice_halving(n, 2048);
  return 1.5 * (by_pivots + 32) + 8;
}

/// How many segments are partitioned by halving the range of values from `low` to `high` if the
/// keys are all the numbers from `first` up to `end`.
std::uint64_t halvings(std::int64_t low, std::int64_t high, std::int64_t first, std::int64_t end,
                       bool three_ways) {
  if (end - first <= 2048) return 0;
  const std::int64_t middle = low + (high - low) / 2;
  const auto parted = [&](std::int64_t at) { return std::min(std::max(at, first), end); };
  return 1 + halvings(low, middle - three_ways, first, parted(middle + !three_ways), three_ways) +
         halvings(middle + 1, high, parted(middle + 1), end, three_ways);
}

// ---- Tests ----

/// Every pivot is one of the smallest keys: without a bounded method, each level would remove 1 to
/// 17 keys, and the keys would be read n / 34 times or more (at n = 20011: 588). Blocks partition
/// in order on one thread of the CPU backend, in the first order; elsewhere those of 04 to 06 do
/// not, and only their first pivots are known to be bad.
TEST(Special, NoInputIsQuadratic) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  const std::int64_t n = in_another_order() ? 6007 : 20011;
  const bool in_order = gpu->simulated && !in_another_order();
  for (const Sorter<unsigned>& sorter : with_known_seed({0, 1, 1})) {
    SCOPED_TRACE(sorter.name);
    if (sorter.is("01") && in_another_order()) continue;  // a single thread, but a slow one
    const Worst worst = worst_for(sorter, n);
    const Work done = work(sorter, worst.keys);
    expect_same(done.sorted.keys, counted(n), "adversary");
    EXPECT_LE(done.passes, most_passes(sorter, n));
    const unsigned long long fallbacks = done.sorted.fallbacks;
    if (sorter.is("01") || sorter.is("07")) {
      EXPECT_EQ(fallbacks, 1u);
    } else if (sorter.is("02")) {
      EXPECT_GT(fallbacks, 0u);  // launches that were too deep count as well
    } else if (sorter.is("03") || in_order) {
      EXPECT_EQ(fallbacks, halvings(worst.low, ~0u, n - worst.left, n, sorter.is("06")));
    }
  }
}

/// The smallest keys are where the first sample is taken, in an array for many blocks.
TEST(Special, FirstSamplesArePoisoned) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  const std::int64_t n = in_another_order() ? 17011 : gpu->simulated ? 60011 : 3000017;
  const Known all{0, n, 0};
  const std::vector<unsigned> in = Adversary(n).with_least_at(median_of_32(1, false).samples(all));
  for (const Sorter<unsigned>& sorter : seeded(known_seed)) {
    SCOPED_TRACE(sorter.name);
    check(sorter, in, counted(n), "first pivot");
  }
  Places sample;
  for (int k = 0; k < 4096; ++k) sample.push_back(place_of_07(all, known_seed, k));
  const std::vector<unsigned> poisoned = Adversary(n).with_least_at(sample);
  for (const Told& plan : {Told{1, 16, 1}, Told{2, 8, 2}}) {
    for (const Sorter<unsigned>& sorter : told_07(plan)) {
      SCOPED_TRACE(sorter.name);
      const unsigned long long fallbacks = check(sorter, poisoned, counted(n), "first sample");
      if (plan.levels == 1)
        EXPECT_EQ(fallbacks, 1u) << "the last bucket has all keys but the sample";
      else
        EXPECT_GT(fallbacks, 0u);
    }
  }
}

/// 07 with too few buckets, so that a block partitions what it cannot sort, and with more buckets
/// than keys.
TEST(Special, PlansThatFitBadly) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  struct Case {
    Told plan;
    std::int64_t n;
    int fallbacks;  // for keys that differ
  };
  // A sample for each of 512 segments and a block for each leaf: too many if each is simulated.
  const int many = gpu->simulated ? 32 : 512;
  std::vector<Case> cases = {
      {{2, 2, 2}, 60000, 4},  {{2, many, many}, 5000, 0}, {{1, 2, 1}, 20011, 2},
      {{0, 1, 1}, 5000, 1},   {{0, 1, 1}, 20011, 1},      {{1, 512, 1}, 3, 0},
      {{2, 2, 512}, 9001, 0}, {{2, many, 2}, 9001, 0},    {{2, 64, 32}, 1, 0}};
  if (in_another_order()) cases = {{{2, 2, 2}, 20011, 4}, {{2, 16, 16}, 1000, 0}};
  for (const Case& one : cases) {
    for (const Sorter<unsigned>& sorter : told(one.plan, known_seed)) {
      SCOPED_TRACE(sorter.name);
      // 08 and 09 follow plans as 07 does; where they sort longer leaves, fewer are too long.
      const std::int64_t leaves = one.plan.first_buckets * one.plan.second_buckets;
      if (!sorter.is("07") && one.n < 2 * 4096 * leaves) continue;
      const std::vector<unsigned> in = random_keys<unsigned>(one.n, 81);
      EXPECT_EQ(check(sorter, in, sorted(in), "random"),
                static_cast<unsigned long long>(one.fallbacks));
      if (one.n > 20011) continue;
      std::vector<unsigned> few = in;
      for (std::size_t i = 0; i < few.size(); ++i) few[i] = few[i] % 3 == 0 ? ~0u : few[i] % 5;
      check(sorter, few, sorted(few), "few values");
    }
  }
}

/// Random keys are sorted without a fallback, in every version and type. 01 partitions by a single
/// key, and reaches its deepest level with 20011 of them. (07 aims at leaves of half the length
/// that a block sorts, and misses if it has hundreds of buckets; sizes here give it few.)
template <class T>
void check_without_fallback(std::int64_t n) {
  std::vector<T> in(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < in.size(); ++i)
    in[i] = quicksort_chapter::any_key<T>(course::mix(91, i));
  const std::vector<T> want = sorted(in);
  for_each_sorter<T>([&](const Sorter<T>& sorter) {
    if (sorter.is("01") && n > 5003) return;
    EXPECT_EQ(check(sorter, in, want, "random"), 0u) << "n = " << n;
  });
}
TEST(Special, RandomKeysNeedNoFallback) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  if (in_another_order()) GTEST_SKIP() << "about values: once is enough";
  check_without_fallback<unsigned>(20011);
  check_without_fallback<unsigned>(40009);
  check_without_fallback<int>(5003);
  check_without_fallback<float>(5003);
  check_without_fallback<std::int64_t>(5003);
}

/// Few values are few levels. If all keys are equal, 02 to 05 partition them into nothing and all,
/// once more to see that they are one value, and once to get them to the output. 06 reads them
/// once, 07 to 09 twice, and their sample. Sixteen values: about log2(16) more levels, 07 to 09 at
/// most one pass, over those that are no splitters. (Descriptions of segments and places that are
/// not aligned add a third.)
TEST(Special, EqualKeysAreLittleWork) {
  COURSE_NEEDS_GPU(gpu);
  if (!gpu->simulated) GTEST_SKIP() << "work is counted by the CPU backend";
  if (in_another_order()) GTEST_SKIP() << "about values: once is enough";
  const std::int64_t n = 20011;
  const std::vector<unsigned> one(static_cast<std::size_t>(n), 12345u);
  std::vector<unsigned> sixteen(one.size());
  for (std::size_t i = 0; i < sixteen.size(); ++i)
    sixteen[i] = static_cast<unsigned>(course::mix(95, i) >> 60) * 0x0fedcba9u;
  for_each_sorter<unsigned>([&](const Sorter<unsigned>& sorter) {
    if (sorter.is("01")) return;
    const Work of_one = work(sorter, one), of_sixteen = work(sorter, sixteen);
    EXPECT_EQ(of_one.sorted.fallbacks, 0u);
    EXPECT_EQ(of_sixteen.sorted.fallbacks, 0u);
    if (sorter.name < "07") {
      EXPECT_LE(of_one.passes, sorter.is("06") ? 1.5 : 4);
      EXPECT_LE(of_sixteen.passes, sorter.is("06") ? 7 : 10);
    } else {  // a key of the sample is a sector of 8
      const double sample = 8.0 * (sorter.is("07") ? 4096 : 8192) / static_cast<double>(n);
      const double ids = sorter.is("80") ? 0.75 : 0;  // 2 bytes per key, and the tiles' counts
      // 07: the seed of a run decides about 0.002, and half of all runs were above 2.3
      EXPECT_LE(of_one.passes, (sorter.is("07") ? 2.31 : 2.3) + ids + sample);
      EXPECT_LE(of_sixteen.passes, 3.3 + ids + sample);  // fewer splitters than values
    }
  });
}

}  // namespace
