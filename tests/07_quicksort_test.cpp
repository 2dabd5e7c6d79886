// Chapter 07: every possible key in the right order, paddings that are keys, orders of keys, pairs,
// seeds, and many runs. The suites that every chapter shares test sizes, families of inputs, orders
// of threads and contracts; 07_quicksort_adversary_test.cpp tests that no input takes quadratic
// time.
#include "07_quicksort_test.hpp"

#include <cstdio>
#include <numeric>

#include "contract.hpp"
#ifdef SIMT
#include "simt/findings.hpp"
#endif

namespace {

using quicksort_chapter::all_is_checked;

using course::Buffer;
using course::Device;
using course::Input;
using course_test::Guarded;
using course_test::in_another_order;
using course_test::sizes_here;
using course_test::slow;
using course_test::to_device;
using course_test::Workspace;
using quicksort_chapter::Order;
using namespace quicksort_test;

#ifdef SIMT
const course_test::Inputs inputs = {Input::random};  // others: OrdersOfKeys
#else
const course_test::Inputs inputs = {Input::random,    Input::integers,   Input::equal,
                                    Input::ascending, Input::descending, Input::few_distinct,
                                    Input::denormal,  Input::large};
#endif

/// For tests that depend on values and not on the order of threads: they run in one order.
#define ONE_ORDER_OF_THREADS() \
  if (in_another_order()) GTEST_SKIP() << "about values: once is enough"

// ---- Values ----

/// Every kind of float: NaN of both signs, quiet and signalling, with several payloads; infinities;
/// the largest and the smallest numbers of both kinds; both zeros.
std::vector<float> special_floats() {
  std::vector<float> keys;
  for (const std::uint32_t bits :
       {0x00000000u, 0x00000001u, 0x00000002u, 0x007fffffu, 0x00800000u, 0x00800001u, 0x3f800000u,
        0x3f800001u, 0x7f7fffffu, 0x7f800000u, 0x7f800001u, 0x7fa00000u, 0x7fbfffffu, 0x7fc00000u,
        0x7fc00001u, 0x7fd55555u, 0x7ffffffeu, 0x7fffffffu}) {
    keys.push_back(float_of(bits));
    keys.push_back(float_of(bits | 0x80000000u));
  }
  return keys;
}

TEST(Keys, FloatsInTotalOrder) {
  const std::vector<float> want = sorted(special_floats());  // the test's own proof
  const std::vector<std::uint32_t> first = {0xffffffffu, 0xfffffffeu, 0xffd55555u};
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(bits_of(want[i]), first[i]);
  EXPECT_EQ(bits_of(want[want.size() / 2 - 1]), 0x80000000u);
  EXPECT_EQ(bits_of(want[want.size() / 2]), 0u);
  EXPECT_EQ(bits_of(want.back()), 0x7fffffffu);
}

/// Special floats alone, so that each occurs many times; and on both sides of each place where a
/// tile, a warp or a padding may begin, among numbers.
TEST(Keys, FloatsOfEveryKind) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  ONE_ORDER_OF_THREADS();
  const std::vector<float> kinds = special_floats();
  for (const std::int64_t n : sizes_here(
           *gpu, {1, 2, 3, 31, 36, 63, 129, 1000, 2049, 4097, 16387, 100003, 3000001}, 4097)) {
    std::vector<float> alone(static_cast<std::size_t>(n)), among = alone;
    for (std::size_t i = 0; i < alone.size(); ++i) {
      const auto key = static_cast<std::int64_t>(i);
      alone[i] = kinds[course::mix(5, i) % kinds.size()];
      among[i] = quicksort_chapter::any_key<float>(course::mix(6, i));
      if (key % 512 < 2 || key % 512 > 509 || key + 2 > n) among[i] = alone[i];
    }
    check_all(alone, "special floats alone");
    if (n > 3) check_all(among, "special floats among numbers");
  }
}

/// Each special float in each place of a short array, between numbers on both sides of zero.
TEST(Keys, AFloatOfEveryKindInEveryPlace) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  ONE_ORDER_OF_THREADS();
  const std::vector<float> kinds = special_floats();
  const std::int64_t n = 33;
  for (std::size_t k = 0; k < kinds.size(); k += slow(*gpu) ? 5 : 1) {
    for (std::int64_t at = 0; at < n; at += slow(*gpu) ? 8 : 1) {
      std::vector<float> in(static_cast<std::size_t>(n));
      for (std::size_t i = 0; i < in.size(); ++i)
        in[i] = static_cast<float>(i * 7 % 33) - 16;  // 0.0 is one of them
      in[static_cast<std::size_t>(at)] = kinds[k];
      check_all(in, "special float " + std::to_string(k) + " at " + std::to_string(at));
    }
  }
}

/// The first and the last key of a type, which may be used to pad a tile: alone, one among the
/// other, half and half, and next to their neighbours.
template <class T>
std::vector<std::vector<T>> arrays_of_ends(std::int64_t n) {
  const auto [first, last] = ends<T>();
  const auto size = static_cast<std::size_t>(n);
  std::vector<std::vector<T>> arrays = {std::vector<T>(size, last), std::vector<T>(size, first)};
  for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) {
    arrays.push_back(std::vector<T>(size, last));
    arrays.back()[at] = first;
  }
  arrays.push_back(std::vector<T>(size, first));
  arrays.back()[size - 1] = last;
  arrays.push_back(random_keys<T>(n, 11));
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t bits = course::mix(12, i);
    if (bits % 4 != 0) arrays.back()[i] = bits % 4 == 1 ? first : last;
  }
  return arrays;
}

template <class T>
void check_ends(const Device& gpu, const std::vector<std::int64_t>& sizes) {
  for (const std::int64_t n : sizes_here(gpu, sizes)) {
    int kind = 0;
    for (const std::vector<T>& in : arrays_of_ends<T>(n))
      check_all(in, "first and last keys, array " + std::to_string(kind++));
  }
}

TEST(Keys, PaddingsAreKeysToo) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  ONE_ORDER_OF_THREADS();
  const std::vector<std::int64_t> some = {1, 3, 33, 129, 1025, 4099, 100003};
  std::vector<std::int64_t> more = {1,   2,   3,    5,    31,   33,   63,    65,     100,    127,
                                    129, 255, 1023, 1025, 2049, 4095, 16387, 100003, 3000001};
  check_ends<unsigned>(*gpu, more);
  check_ends<int>(*gpu, some);
  check_ends<float>(*gpu, some);
  check_ends<std::int64_t>(*gpu, some);
}

/// The keys 0 and ~0u in every place of a short array.
TEST(Keys, FirstAndLastKeyInEveryPlace) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  ONE_ORDER_OF_THREADS();
  for (const std::int64_t n : {std::int64_t{37}, std::int64_t{70}}) {
    for (std::int64_t at = 0; at < n; at += slow(*gpu) ? 3 : 1) {
      std::vector<unsigned> in = random_keys<unsigned>(n, 3);
      in[static_cast<std::size_t>(at)] = ~0u;
      in[static_cast<std::size_t>((at + n / 2) % n)] = 0;
      check_all(in, "~0u at " + std::to_string(at));
    }
  }
}

/// 64-bit keys that are one and the same as doubles, or as their upper or lower halves.
TEST(Keys, AllBitsOfLongKeys) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  ONE_ORDER_OF_THREADS();
  using Bits = std::uint64_t;
  const std::function<Bits(Bits)> kinds[] = {
      [](Bits bits) { return Bits{0x7ffffffffffff000u} + bits % 4096; },
      [](Bits bits) { return Bits{0x8000000000000000u} + bits % 4096; },
      [](Bits bits) { return Bits{0x1234567800000000u} + (bits >> 32); },
      [](Bits bits) { return (bits << 32) + 0x9abcdef0u; },
      [](Bits bits) { return (bits << 56) + 0x00ffffffffffffffu; },
      [](Bits bits) { return (bits << 63) + (bits >> 63); },
      [](Bits bits) { return (bits % 3 << 31) - 1 + (bits >> 63); },
  };
  for (const std::int64_t n : sizes_here(*gpu, {2, 3, 65, 2049, 4097, 20011, 1000003}, 4097)) {
    int kind = 0;
    for (const auto& key : kinds) {
      std::vector<std::int64_t> in(static_cast<std::size_t>(n));
      for (std::size_t i = 0; i < in.size(); ++i)
        in[i] = static_cast<std::int64_t>(key(course::mix(21, i)));
      check_all(in, "long keys of kind " + std::to_string(kind++));
    }
  }
}

/// Integers that differ in one bit: in each bit.
TEST(Keys, EveryBitOfAKeyCounts) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  ONE_ORDER_OF_THREADS();
  std::vector<unsigned> in;
  std::vector<int> with_sign;
  std::vector<std::int64_t> of_64_bits;
  for (int bit = 63; bit >= 0; --bit) {
    for (const std::uint64_t base : {0x0123456789abcdefu, 0xfedcba9876543210u}) {
      of_64_bits.push_back(static_cast<std::int64_t>(base ^ (std::uint64_t{1} << bit)));
      if (bit >= 32) continue;
      in.push_back(static_cast<unsigned>(base ^ (std::uint64_t{1} << bit)));
      with_sign.push_back(static_cast<int>(in.back()));
    }
  }
  check_all(in, "one bit");
  check_all(with_sign, "one bit");
  check_all(of_64_bits, "one bit");
}

// ---- Orders of keys ----

struct NamedOrder {
  const char* name;
  Order order;
};
constexpr NamedOrder orders[] = {{"sorted", Order::sorted},
                                 {"reversed", Order::reversed},
                                 {"organ pipe", Order::organ_pipe},
                                 {"one differs", Order::one_differs},
                                 {"two values", Order::two_values},
                                 {"sixteen values", Order::sixteen_values},
                                 {"zipf", Order::zipf},
                                 {"all equal", Order::any}};

template <class T>
std::vector<T> keys_in(Order order, std::int64_t n, std::uint64_t seed = 1) {
  std::vector<T> keys(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    keys[static_cast<std::size_t>(i)] = order == Order::any
                                            ? quicksort_chapter::spread<T>(0x10203040u)
                                            : quicksort_chapter::key_in<T>(order, seed, i, n);
  }
  return keys;
}

/// The largest size at which a version runs here: one thread per segment is slow.
template <class T>
bool too_slow(const Sorter<T>& sorter, std::int64_t n) {
  return sorter.is("01") && n > (1 << 20);
}

template <class T>
void check_orders(const std::vector<std::int64_t>& sizes) {
  for (const std::int64_t n : sizes) {
    for (const auto& [name, order] : orders) {
      const std::vector<T> in = keys_in<T>(order, n), want = sorted(in);
      for_each_sorter<T>([&, what = name](const Sorter<T>& sorter) {
        if (!too_slow(sorter, n)) check(sorter, in, want, what);
      });
    }
  }
}

/// In all orders of threads, because the places that threads write, and their order, depend on how
/// the keys lie.
TEST(Keys, OrdersOfKeys) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  if (in_another_order()) return check_orders<unsigned>({2049});
  check_orders<unsigned>(sizes_here(*gpu, {257, 5003, 100003, 1000003, 5000011}, 5003));
  check_orders<int>(sizes_here(*gpu, {2049, 300001}));
  check_orders<float>(sizes_here(*gpu, {2049, 300001}));
  check_orders<std::int64_t>(sizes_here(*gpu, {2049, 300001}));
}

/// Enough keys that many blocks work on one segment, and on many segments at once.
TEST(Keys, OrdersOfKeysForManyBlocks) {
  COURSE_NEEDS_GPU(gpu);
  if (!gpu->simulated) GTEST_SKIP() << "the sizes of OrdersOfKeys do that on a GPU";
  const std::int64_t n = in_another_order() ? 16387 : 40009;
  for (const Order order : {Order::reversed, Order::zipf}) {
    const std::vector<unsigned> in = keys_in<unsigned>(order, n), want = sorted(in);
    for_each_sorter<unsigned>([&](const Sorter<unsigned>& sorter) {
      if (sorter.is("01") || sorter.is("02")) return;
      check(sorter, in, want, order == Order::zipf ? "zipf" : "reversed");
    });
  }
}

// ---- Pairs ----

template <class T>
struct Pairs {
  std::vector<T> keys;
  std::vector<unsigned> values;
};

/// One launch on pairs whose values are their places.
template <class T>
Pairs<T> run_pairs(PairLauncher<T>* sort, const std::vector<T>& in) {
  const auto n = static_cast<std::int64_t>(in.size());
  std::vector<unsigned> places(in.size());
  std::iota(places.begin(), places.end(), 0u);
  std::size_t bytes = 0;
  COURSE_CHECK(sort(nullptr, bytes, nullptr, nullptr, nullptr, nullptr, n, nullptr));
  const Workspace workspace(bytes);
  const Buffer keys_in = to_device(in), values_in = to_device(places);
  const Guarded<T> keys(n, 0, fresh_byte);
  const Guarded<unsigned> values(n, 0, 0xA5);
  COURSE_CHECK(sort(workspace.data(), bytes, static_cast<const T*>(keys_in.data()),
                    static_cast<const unsigned*>(values_in.data()), keys.data(), values.data(), n,
                    nullptr));
  COURSE_CHECK(cudaDeviceSynchronize());
  return {keys.values(), values.values()};
}

/// The versions that sort pairs. On the CPU backend 07 and 80: 08 and 09 treat keys and values as
/// one of these does.
template <class T>
std::vector<PairLauncher<T>*> pair_sorters() {
  std::vector<PairLauncher<T>*> found;
  for (PairLauncher<T>* const sort : {static_cast<PairLauncher<T>*>(many_splitters::sort_pairs),
                                      static_cast<PairLauncher<T>*>(limit::sort_pairs),
                                      static_cast<PairLauncher<T>*>(staged::sort_pairs),
                                      static_cast<PairLauncher<T>*>(register_leaves::sort_pairs)}) {
    if (all_is_checked && found.size() == 2) break;
    if (sort != nullptr) found.push_back(sort);
  }
  return found;
}

/// The keys are sorted, and every value is there exactly once, next to its own key.
template <class T>
void check_pairs(const std::vector<T>& in, const std::string& what) {
  SCOPED_TRACE(what + ", n = " + std::to_string(in.size()));
  EXPECT_FALSE(pair_sorters<T>().empty());
  for (PairLauncher<T>* const sort : pair_sorters<T>()) {
    const Pairs<T> got = run_pairs(sort, in);
    expect_same(got.keys, sorted(in), "keys");
    std::vector<bool> seen(in.size(), false);
    for (std::size_t i = 0; i < in.size(); ++i) {
      const std::size_t place = got.values[i];
      ASSERT_LT(place, in.size()) << "value " << i << " was never one";
      ASSERT_FALSE(seen[place]) << "value " << place << " came twice, the second time to " << i;
      seen[place] = true;
      ASSERT_EQ(bits_of(in[place]), bits_of(got.keys[i])) << "value " << i << " has another's key";
    }
  }
}

template <class T>
void check_kinds_of_pairs(const std::vector<std::int64_t>& sizes) {
  for (const std::int64_t n : sizes) {
    check_pairs(random_keys<T>(n, 31), "random keys");
    int kind = 0;
    for (const std::vector<T>& in : arrays_of_ends<T>(n))
      check_pairs(in, "first and last keys, array " + std::to_string(kind++));
    for (const auto& [name, order] : orders) check_pairs(keys_in<T>(order, n), name);
  }
}

TEST(Keys, ValuesStayWithTheirKeys) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  if (in_another_order()) return check_kinds_of_pairs<unsigned>({1030});
  check_kinds_of_pairs<unsigned>(
      sizes_here(*gpu, {1, 2, 3, 33, 100, 1030, 2049, 5003, 100003, 1000003, 5000011}, 5003));
  check_kinds_of_pairs<std::int64_t>(sizes_here(*gpu, {5, 1030, 4097, 300001}));
}

/// Enough pairs that 07 partitions before it sorts, with few values, and with the last key.
TEST(Keys, ManyPairs) {
  COURSE_NEEDS_GPU(gpu);
  const std::int64_t n = gpu->simulated ? (in_another_order() ? 9001 : 40009) : 20000003;
  std::vector<unsigned> in = keys_in<unsigned>(Order::zipf, n);
  for (std::size_t i = 0; i < in.size(); i += 3) in[i] = ~0u;
  check_pairs(in, "zipf and ~0u");
  if (in_another_order()) return;
  std::vector<std::int64_t> of_64_bits(in.size());
  for (std::size_t i = 0; i < in.size(); ++i)
    of_64_bits[i] = static_cast<std::int64_t>(std::uint64_t{in[i]} << 40 | (i % 5 == 0));
  check_pairs(of_64_bits, "of 64 bits");
}

/// Enough pairs for two levels: keys and values of leaves are already in the output, and are sorted
/// in place.
TEST(Keys, PairsOfTwoLevels) {
  COURSE_NEEDS_GPU(gpu);
  if (gpu->simulated) GTEST_SKIP() << "PairsOfTwoLevelsAsTold does that with fewer keys";
  std::vector<unsigned> in = random_keys<unsigned>(5 * (1 << 19) + 5, 33);
  for (std::size_t i = 0; i < in.size(); i += 7) in[i] %= 3;
  check_pairs(in, "two levels");
}

/// The same with few keys, by a plan. Each key is its own value, so that a separated pair is
/// detected.
TEST(Keys, PairsOfTwoLevelsAsTold) {
  COURSE_NEEDS_GPU(gpu);
  const std::int64_t n = in_another_order() ? 5003 : 20011;
  std::vector<unsigned> in = random_keys<unsigned>(n, 34);
  for (std::size_t i = 0; i < in.size(); i += 7) in[i] %= 3;
  const std::vector<unsigned> want = sorted(in);
  for (ToldPairLauncher* const sort :
       {many_splitters::sort_pairs_as_told, register_leaves::sort_pairs_as_told,
        staged::sort_pairs_as_told, limit::sort_pairs_as_told}) {
    ASSERT_TRUE(sort != nullptr);
    const Buffer keys_in = to_device(in), values_in = to_device(in);
    const Guarded<unsigned> keys(n, 0, 0xA5), values(n, 0, 0xA5);
    const auto call = [&](void* workspace, std::size_t& bytes) {
      return sort(workspace, bytes, static_cast<const unsigned*>(keys_in.data()),
                  static_cast<const unsigned*>(values_in.data()), keys.data(), values.data(), n, 2,
                  5, 7, 3, nullptr);
    };
    std::size_t bytes = 0;
    COURSE_CHECK(call(nullptr, bytes));
    const Workspace workspace(bytes);
    COURSE_CHECK(call(workspace.data(), bytes));
    COURSE_CHECK(cudaDeviceSynchronize());
    expect_same(keys.values(), want, "keys");
    expect_same(values.values(), want, "values");
  }
}

// ---- Seeds ----

/// A seed decides how keys are sorted, never the result: of the first launch, of a second one on
/// the same workspace, or with another seed.
TEST(Keys, NoSeedChangesTheResult) {
  COURSE_NEEDS_GPU(gpu);
  const std::int64_t n = gpu->simulated ? (in_another_order() ? 5003 : 9001) : 3000001;
  std::vector<unsigned> in = random_keys<unsigned>(n, 41);
  for (std::size_t i = 0; i < in.size(); i += 2) in[i] %= 100;
  const std::vector<unsigned> want = sorted(in);
  std::vector<std::uint64_t> seeds = {0, ~std::uint64_t{0}, 1, 1};
  if (in_another_order()) seeds = {77};
  for (const std::uint64_t seed : seeds) {
    for (const Sorter<unsigned>& sorter : seeded(seed)) {
      SCOPED_TRACE(sorter.name);
      check(sorter, in, want, "seed " + std::to_string(seed));
    }
    for (const Told& plan : {Told{1, 16, 2}, Told{2, 8, 8}}) {
      for (const Sorter<unsigned>& sorter : told(plan, seed)) {
        SCOPED_TRACE(sorter.name);
        check(sorter, in, want, "seed " + std::to_string(seed));
      }
    }
  }
}

// ---- Launches ----

/// Launches of different sizes on one stream, one workspace and one pair of arrays, without
/// waiting: no launch may leave anything behind that the next one reads.
TEST(Special, BackToBackOnOneWorkspace) {
  COURSE_NEEDS_GPU(gpu);
  const auto sizes =
      sizes_here(*gpu, {4097, 5, 9001, 33, 2049, 1000003, 100003, 1, 5000011, 65536}, 9001);
  if (in_another_order()) GTEST_SKIP() << "one stream has one order";
  const std::int64_t largest = *std::max_element(sizes.begin(), sizes.end());
  const std::vector<unsigned> keys = random_keys<unsigned>(largest, 43);
  const Buffer in = to_device(keys);
  for_each_sorter<unsigned>([&](const Sorter<unsigned>& sorter) {
    std::size_t most = 0;
    for (const std::int64_t n : sizes) most = std::max(most, workspace_bytes(sorter.call, n));
    const Workspace workspace(most);
    std::vector<Guarded<unsigned>> outs;
    for (const std::int64_t n : sizes) outs.emplace_back(n, 0, fresh_byte);
    COURSE_CHECK(cudaDeviceSynchronize());
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      if (too_slow(sorter, sizes[k])) continue;
      std::size_t bytes = workspace.bytes();
      COURSE_CHECK(sorter.call(workspace.data(), bytes, static_cast<const unsigned*>(in.data()),
                               outs[k].data(), sizes[k], nullptr));
    }
    COURSE_CHECK(cudaDeviceSynchronize());
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      if (too_slow(sorter, sizes[k])) continue;
      const std::vector<unsigned> part(keys.begin(), keys.begin() + sizes[k]);
      expect_same(outs[k].values(), sorted(part), "n = " + std::to_string(sizes[k]));
    }
  });
}

#ifdef SIMT
/// Communication between blocks, in this order of threads. On one host thread a block works until
/// its work is done, so only the processes of SideBySide.FiveOrders test it.
TEST(SideBySide, OneOrder) {
  const char* const threads = std::getenv("SIMT_THREADS");
  if (threads != nullptr && std::string(threads) == "1") GTEST_SKIP() << "needs several threads";
  for (const Order order : {Order::zipf, Order::organ_pipe}) {
    const std::vector<unsigned> in = keys_in<unsigned>(order, 12007), want = sorted(in);
    for_each_sorter<unsigned>([&](const Sorter<unsigned>& sorter) {
      if (!sorter.is("01") && !sorter.is("02")) check(sorter, in, want, "side by side");
    });
  }
}

/// The same in five orders, each in a process of its own, with blocks on two host threads; a
/// missing acquire or release is an error as well.
TEST(SideBySide, FiveOrders) {
  if (simt::order().rfind("random", 0) != 0) GTEST_SKIP() << "once is enough: in random order";
  char self[4096] = {};
  ASSERT_GT(readlink("/proc/self/exe", self, sizeof self - 1), 0);
  for (int seed = 1; seed <= 5; ++seed) {
    const std::string order = "random:" + std::to_string(seed);
    const std::string command = "SIMT_THREADS=2 SIMT_SMS=2 SIMT_STRICT=1 SIMT_ORDER=" + order +
                                " '" + self +
                                "' --gtest_filter=SideBySide.OneOrder --order=" + order + " 2>&1";
    std::FILE* child = popen(command.c_str(), "r");
    ASSERT_NE(child, nullptr);
    std::string said;
    char line[512];
    while (std::fgets(line, sizeof line, child) != nullptr) said += line;
    EXPECT_EQ(pclose(child), 0) << command << "\n" << said;
    EXPECT_NE(said.find("[  PASSED  ] 1 test."), std::string::npos) << said;
    if (testing::Test::HasFailure()) return;
  }
}
#else
/// The same array many times, at sizes that no tile divides, with another seed each time: what
/// depends on the order of blocks differs from run to run.
TEST(Keys, ManyRuns) {
  COURSE_NEEDS_GPU(gpu);
  if (course_test::sanitized()) GTEST_SKIP() << "too long for a sanitizer";
  for (const std::int64_t n :
       {(std::int64_t{1} << 20) + 3, std::int64_t{3} << 20, std::int64_t{5000011}}) {
    for (const bool few : {false, true}) {
      const std::vector<unsigned> in =
          few ? keys_in<unsigned>(Order::zipf, n) : random_keys<unsigned>(n, 51);
      const std::vector<unsigned> want = sorted(in);
      for (int k = 0; k < (few ? 20 : 100); ++k) {
        const auto seed = static_cast<std::uint64_t>(k);
        std::vector<Sorter<unsigned>> all = seeded(seed);
        for (const Sorter<unsigned>& sorter : told({1 + k % 2, 16 << k % 6, 2 << k % 5}, seed))
          all.push_back(sorter);
        for (const Sorter<unsigned>& sorter : all) {
          SCOPED_TRACE(sorter.name);
          check(sorter, in, want, "run " + std::to_string(k));
          if (HasFailure()) return;
        }
      }
    }
  }
}

/// Two launches at once: blocks that wait for work do not keep those of the other launch from
/// running, and neither launch accesses memory of the other.
TEST(Special, TwoStreamsAtOnce) {
  COURSE_NEEDS_GPU(gpu);
  const std::int64_t n[] = {course_test::sanitized() ? 20011 : 3000017,
                            course_test::sanitized() ? 9001 : 1000003};
  const int launches = course_test::sanitized() ? 2 : 20;
  std::vector<unsigned> keys[2];
  std::vector<Buffer> in;
  cudaStream_t streams[2];
  for (int s = 0; s < 2; ++s) {
    keys[s] = random_keys<unsigned>(n[s], 61 + static_cast<std::uint64_t>(s));
    in.push_back(to_device(keys[s]));
    COURSE_CHECK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
  }
  const std::vector<unsigned> want[] = {sorted(keys[0]), sorted(keys[1])};
  for_each_sorter<unsigned>([&](const Sorter<unsigned>& sorter) {
    if (sorter.is("01")) return;
    std::vector<Workspace> workspaces;
    std::vector<Guarded<unsigned>> outs;
    for (int s = 0; s < 2; ++s) {
      workspaces.emplace_back(workspace_bytes(sorter.call, n[s]));
      outs.emplace_back(n[s], 0, fresh_byte);
    }
    COURSE_CHECK(cudaDeviceSynchronize());
    for (int k = 0; k < launches; ++k) {
      for (std::size_t s = 0; s < 2; ++s) {
        std::size_t bytes = workspaces[s].bytes();
        COURSE_CHECK(sorter.call(workspaces[s].data(), bytes,
                                 static_cast<const unsigned*>(in[s].data()), outs[s].data(), n[s],
                                 streams[s]));
      }
    }
    COURSE_CHECK(cudaDeviceSynchronize());
    for (std::size_t s = 0; s < 2; ++s)
      expect_same(outs[s].values(), want[s], "stream " + std::to_string(s));
  });
  for (const cudaStream_t stream : streams) COURSE_CHECK(cudaStreamDestroy(stream));
}
#endif

}  // namespace

int main(int argc, char** argv) {
  course_test::take_order(&argc, argv);
  testing::InitGoogleTest(&argc, argv);
  course_test::register_chapter(course::chapter(), inputs);
  const course_test::SkipReason reason = [](const course::Study& study) {
    const bool twin = study.name == "int" || study.name == "float";
    return std::string(twin && (all_is_checked || course_test::sanitized())
                           ? "its kernels differ from another study's in the order of keys"
                           : "");
  };
  course_test::register_contracts(course::chapter(), reason);
  return RUN_ALL_TESTS();
}
