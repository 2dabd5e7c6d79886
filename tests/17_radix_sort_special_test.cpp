// Chapter 17, version 80: every type of key with all its special values, bit for bit as a stable
// sort of the host; pairs, ranges of bits, passes that can be left out, inputs that are hard, and
// what must be refused.
#include <cuda_fp16.h>

#include <algorithm>
#include <functional>
#include <ios>
#include <numeric>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "chapter/launchers.hpp"
#include "chapter_test.hpp"
#include "guarded.hpp"
#include "radix_sort.hpp"

namespace radix_test {
using SortWords = SortPairs<unsigned, unsigned>;
using SortWordsWithLongs = SortPairs<unsigned, std::int64_t>;
using SortLongsWithWords = SortPairs<std::int64_t, unsigned>;
}  // namespace radix_test

COURSE_TYPED_LAUNCHERS(Sort, (sort), radix_limit);
COURSE_LAUNCHERS(Sort<std::uint64_t>, (sort), radix_limit);
COURSE_LAUNCHERS(Sort<__half>, (sort), radix_limit);
COURSE_LAUNCHERS(Sort<unsigned>, (sort_descending), radix_limit);
COURSE_LAUNCHERS(Sort<float>, (sort_descending), radix_limit);
COURSE_LAUNCHERS(SortByBits, (sort_by_bits), radix_limit);
COURSE_LAUNCHERS(radix_test::SortWords, (sort_pairs), radix_limit);
COURSE_LAUNCHERS(radix_test::SortWordsWithLongs, (sort_pairs), radix_limit);
COURSE_LAUNCHERS(radix_test::SortLongsWithWords, (sort_pairs), radix_limit);

namespace {

using course::Buffer;
using course_test::Guarded;
using course_test::in_another_order;
using course_test::sizes_here;
using course_test::slow;
using course_test::to_device;
using course_test::to_host;
using course_test::Workspace;
using radix_chapter::all_is_checked;
using radix_chapter::Order;

// ---- Keys as bits, and their order ----

/// The unsigned integer with the bits of a key.
template <class K>
using Bits = std::conditional_t<
    sizeof(K) == 1, std::uint8_t,
    std::conditional_t<sizeof(K) == 2, std::uint16_t,
                       std::conditional_t<sizeof(K) == 4, std::uint32_t, std::uint64_t>>>;
template <class K>
using Keys = std::vector<Bits<K>>;

template <class K>
constexpr bool is_float = std::is_floating_point<K>::value || std::is_same<K, __half>::value;
/// Bits of the fraction of a floating-point type.
template <class K>
constexpr int fraction = sizeof(K) == 8   ? 52
                         : sizeof(K) == 4 ? 23
                                          : 10;

template <class K>
constexpr Bits<K> top_bit = static_cast<Bits<K>>(Bits<K>{1} << (sizeof(K) * 8 - 1));
template <class K>
constexpr Bits<K> all_bits = static_cast<Bits<K>>(~Bits<K>{0});

/// A number that grows with the key: the integer itself, or of floating-point types the bits as
/// sign and magnitude, where -0.0 is below 0.0 (the totalOrder of IEEE 754).
template <class K>
auto place(Bits<K> bits) {
  if constexpr (is_float<K>) {
    const auto magnitude = static_cast<std::int64_t>(bits & (top_bit<K> - 1));
    return (bits & top_bit<K>) == 0 ? magnitude : -magnitude - 1;
  } else {
    return static_cast<K>(bits);
  }
}

/// n keys of any bits, NaN included.
template <class K>
Keys<K> random_keys(std::int64_t n, std::uint64_t seed) {
  Keys<K> keys(static_cast<std::size_t>(n));
  course::parallel_for(n, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) {
      keys[static_cast<std::size_t>(i)] =
          static_cast<Bits<K>>(course::mix(seed, static_cast<std::uint64_t>(i)));
    }
  });
  return keys;
}

/// Keys at which an order may go wrong.
template <class K>
Keys<K> special_keys() {
  std::vector<Bits<K>> keys;
  if constexpr (is_float<K>) {
    const Bits<K> infinity = static_cast<Bits<K>>(top_bit<K> - (Bits<K>{1} << fraction<K>));
    const Bits<K> least_normal = static_cast<Bits<K>>(Bits<K>{1} << fraction<K>);
    const Bits<K> quiet = static_cast<Bits<K>>(infinity | least_normal >> 1);
    const Bits<K> one = static_cast<Bits<K>>(infinity >> 1 & ~(least_normal - 1));
    for (const Bits<K> positive :
         {Bits<K>{0}, Bits<K>{1}, Bits<K>{2}, static_cast<Bits<K>>(least_normal - 1), least_normal,
          static_cast<Bits<K>>(least_normal + 1), one, static_cast<Bits<K>>(infinity - 1), infinity,
          static_cast<Bits<K>>(infinity + 1), static_cast<Bits<K>>(quiet - 1), quiet,
          static_cast<Bits<K>>(quiet + 1), static_cast<Bits<K>>(top_bit<K> - 1)}) {
      keys.push_back(positive);
      keys.push_back(static_cast<Bits<K>>(positive | top_bit<K>));
    }
  } else {
    for (const Bits<K> middle : {Bits<K>{0}, top_bit<K>}) {
      for (const int step : {-2, -1, 0, 1, 2}) keys.push_back(static_cast<Bits<K>>(middle + step));
    }
  }
  for (unsigned bit = 0; bit < sizeof(K) * 8; ++bit) {  // one bit, and all but one
    const auto key = static_cast<Bits<K>>(Bits<K>{1} << bit);
    keys.push_back(key);
    keys.push_back(static_cast<Bits<K>>(~key));
  }
  return keys;
}

/// n keys that are all special, in random order.
template <class K>
Keys<K> some_specials(std::int64_t n, std::uint64_t seed) {
  const Keys<K> specials = special_keys<K>();
  Keys<K> keys = random_keys<K>(n, seed);
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = specials[course::mix(seed + 1, i) % specials.size()];
  return keys;
}

/// n keys in one of the chapter's orders.
template <class K>
Keys<K> keys_in(Order order, std::int64_t n) {
  Keys<K> keys(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    const K key = radix_chapter::key_in<K>(order, 17, i, n);
    std::memcpy(&keys[static_cast<std::size_t>(i)], &key, sizeof key);
  }
  return keys;
}

// ---- A way to sort, and the check of it ----

/// A launcher of keys alone, and the order that it promises.
template <class K>
struct Way {
  std::string name;
  std::function<Sort<K>> sort;
  std::function<bool(Bits<K>, Bits<K>)> before;
};

/// Only for its type: decltype(key_of(way)) is K*.
template <class K>
K* key_of(const Way<K>& way);

/// Calls body(way) if the launcher is in this build.
template <class K, class Body>
void with(const char* name, Sort<K>* sort, bool descending, Body body) {
  SCOPED_TRACE(name);
  ASSERT_TRUE(sort != nullptr) << "80_limit.cu does not define it, or was not built";
  body(Way<K>{name, sort, [=](Bits<K> a, Bits<K> b) {
                return descending ? place<K>(b) < place<K>(a) : place<K>(a) < place<K>(b);
              }});
}

/// sort() of every type. `body` gets a Way<K>.
template <class Body>
void for_each_type(Body body) {
  with<std::uint8_t>("uint8_t", radix_limit::sort, false, body);
  with<std::uint16_t>("uint16_t", radix_limit::sort, false, body);
  with<unsigned>("unsigned", radix_limit::sort, false, body);
  with<int>("int", radix_limit::sort, false, body);
  with<std::int64_t>("int64_t", radix_limit::sort, false, body);
  with<std::uint64_t>("uint64_t", radix_limit::sort, false, body);
  with<__half>("half", radix_limit::sort, false, body);
  with<float>("float", radix_limit::sort, false, body);
  with<double>("double", radix_limit::sort, false, body);
}
template <class Body>
void for_each_descending(Body body) {
  with<unsigned>("unsigned, descending", radix_limit::sort_descending, true, body);
  with<float>("float, descending", radix_limit::sort_descending, true, body);
}
template <class Body>
void for_each_way(Body body) {
  for_each_type(body);
  for_each_descending(body);
}

/// sort_by_bits() with this range.
Way<unsigned> by_bits(int first, int last) {
  const std::uint64_t mask = (std::uint64_t{1} << last) - (std::uint64_t{1} << first);
  return {"bits " + std::to_string(first) + " to " + std::to_string(last),
          [=](void* workspace, std::size_t& bytes, const unsigned* in, unsigned* out,
              std::int64_t n, cudaStream_t stream) {
            return radix_limit::sort_by_bits(workspace, bytes, in, out, n, first, last, stream);
          },
          [=](unsigned a, unsigned b) { return (a & mask) < (b & mask); }};
}

template <class T>
std::string hex(const T& key) {
  std::ostringstream text;
  text << "0x" << std::hex << +key;
  return text.str();
}

/// True if two arrays are the same; otherwise the test fails, and names the first difference.
template <class T>
bool expect_same(const std::vector<T>& got, const std::vector<T>& want, const char* what) {
  if (got == want) return true;
  const auto i = static_cast<std::size_t>(
      std::mismatch(got.begin(), got.end(), want.begin(), want.end()).first - got.begin());
  if (i >= got.size() || i >= want.size()) {
    ADD_FAILURE() << what << ": " << got.size() << " elements instead of " << want.size();
  } else {
    ADD_FAILURE() << what << ": " << hex(got[i]) << " instead of " << hex(want[i]) << " at " << i
                  << " of " << got.size();
  }
  return false;
}

/// What fills results before a launch. A second launch finds another byte, so that a place that no
/// thread writes is found even if its key would look like the first; its workspace is as the first
/// launch left it.
constexpr int fresh_bytes[] = {0xA5, 0x3C};

/// A workspace of the bytes that the launcher asks for, without a pattern in it. call(workspace,
/// bytes) is the launch.
template <class Call>
Workspace workspace_for(Call call) {
  std::size_t bytes = 0, again = 1;
  COURSE_CHECK(call(nullptr, bytes));
  COURSE_CHECK(call(nullptr, again));
  EXPECT_GT(bytes, 0u);
  EXPECT_EQ(again, bytes) << "a second question";
  Workspace workspace(bytes);
  if (bytes < std::size_t{1} << 30)
    workspace.scramble(bytes);
  else
    workspace.fill(0x5A);
  return workspace;
}

/// The keys come out as a stable sort of the host puts them; the input stays as it was.
template <class K>
void check(const Way<K>& way, const Keys<K>& in, const std::string& what) {
  if (testing::Test::HasFailure()) return;  // one is enough
  const auto n = static_cast<std::int64_t>(in.size());
  SCOPED_TRACE(way.name + ", " + what + ", n = " + std::to_string(n));
  Keys<K> want = in;
  radix_chapter::sort_on_host(want, way.before);
  const Buffer keys = to_device(in);
  const auto call = [&](void* workspace, std::size_t& bytes, Bits<K>* out) {
    return way.sort(workspace, bytes, static_cast<const K*>(keys.data()), reinterpret_cast<K*>(out),
                    n, nullptr);
  };
  const Workspace workspace =
      workspace_for([&](void* p, std::size_t& bytes) { return call(p, bytes, nullptr); });
  for (const int fresh : fresh_bytes) {
    const Guarded<Bits<K>> out(n, 0, fresh);
    std::size_t bytes = workspace.bytes();
    ASSERT_EQ(call(workspace.data(), bytes, out.data()), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    if (!expect_same(out.values(), want, fresh == fresh_bytes[0] ? "keys" : "keys, second run"))
      return;
    if (!expect_same(to_host<Bits<K>>(keys.data(), n), in, "the input was changed")) return;
    if (course_test::sanitized() || (n > 5000 && all_is_checked)) return;
  }
}

/// A value for the key at place i, different from all others; of 64 bits in both halves.
template <class V>
V mark(std::size_t i) {
  return static_cast<V>((std::uint64_t{i} + 1) * 0x9E3779B97F4A7C15ull);
}

/// A launcher of pairs. Keys come out sorted and each value with its key; values of equal keys stay
/// in order.
template <class K, class V>
void check_pairs(SortPairs<K, V>* sort, const Keys<K>& in, const std::string& what) {
  if (testing::Test::HasFailure()) return;
  const auto n = static_cast<std::int64_t>(in.size());
  SCOPED_TRACE(what + ", n = " + std::to_string(n));
  std::vector<V> marks(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) marks[i] = mark<V>(i);
  std::vector<std::uint32_t> order(in.size());
  std::iota(order.begin(), order.end(), 0u);
  radix_chapter::sort_on_host(
      order, [&](std::uint32_t a, std::uint32_t b) { return place<K>(in[a]) < place<K>(in[b]); });
  Keys<K> want_keys;
  std::vector<V> want_values;
  for (const std::uint32_t i : order) {
    want_keys.push_back(in[i]);
    want_values.push_back(marks[i]);
  }
  const Buffer keys = to_device(in), values = to_device(marks);
  const auto call = [&](void* workspace, std::size_t& bytes, Bits<K>* keys_out, V* values_out) {
    return sort(workspace, bytes, static_cast<const K*>(keys.data()),
                static_cast<const V*>(values.data()), reinterpret_cast<K*>(keys_out), values_out, n,
                nullptr);
  };
  const Workspace workspace =
      workspace_for([&](void* p, std::size_t& bytes) { return call(p, bytes, nullptr, nullptr); });
  for (const int fresh : fresh_bytes) {
    const Guarded<Bits<K>> keys_out(n, 0, fresh);
    const Guarded<V> values_out(n, 0, fresh);
    std::size_t bytes = workspace.bytes();
    ASSERT_EQ(call(workspace.data(), bytes, keys_out.data(), values_out.data()), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    if (!expect_same(keys_out.values(), want_keys, "keys")) return;
    if (!expect_same(values_out.values(), want_values, "values")) return;
    if (!expect_same(to_host<Bits<K>>(keys.data(), n), in, "the keys were changed")) return;
    if (!expect_same(to_host<V>(values.data(), n), marks, "the values were changed")) return;
    if (course_test::sanitized() || (n > 5000 && all_is_checked)) return;
  }
}

/// Calls body(key, check) for each launcher of pairs: a key for its type, and a function that
/// checks keys and takes a name for them.
template <class Body>
void for_each_pairs(Body body) {
  const auto of = [&](const char* name, auto key, auto value, auto* sort) {
    using K = decltype(key);
    using V = decltype(value);
    SCOPED_TRACE(name);
    ASSERT_TRUE(sort != nullptr) << "80_limit.cu does not define it, or was not built";
    body(key,
         [=](const Keys<K>& in, const std::string& what) { check_pairs<K, V>(sort, in, what); });
  };
  of("unsigned with unsigned", 0u, 0u,
     static_cast<radix_test::SortWords*>(radix_limit::sort_pairs));
  of("unsigned with int64_t", 0u, std::int64_t{0},
     static_cast<radix_test::SortWordsWithLongs*>(radix_limit::sort_pairs));
  of("int64_t with unsigned", std::int64_t{0}, 0u,
     static_cast<radix_test::SortLongsWithWords*>(radix_limit::sort_pairs));
}

/// Around a warp, a block, and tiles of 4096 and 8192 keys.
const std::vector<std::int64_t> sizes = {0,   1,    2,    31,   32,   33,   255,  256,
                                         257, 4095, 4096, 4097, 8191, 8192, 8193, 20011};

/// The least size here that one block does not sort at once, but tile by tile, in passes.
constexpr std::int64_t some_tiles = 4200;

// ---- Keys ----

TEST(Keys, AllSizes) {
  COURSE_NEEDS_GPU(gpu);
  if (in_another_order()) {
    for (const std::int64_t n : {33, 8193}) {
      with<unsigned>("unsigned", radix_limit::sort, false, [&](const Way<unsigned>& way) {
        check(way, random_keys<unsigned>(n, 1), "random keys");
      });
    }
    return;
  }
  for_each_way([&](const auto& way) {
    using K = std::remove_pointer_t<decltype(key_of(way))>;
    const bool all = std::is_same<K, unsigned>::value;  // each size is slow if each access is
    for (const std::int64_t n : sizes_here(*gpu, sizes, all ? 20011 : 8193)) {
      if (slow(*gpu) && !all && n != 1 && n != 33 && n != 4097 && n != 8193) continue;
      check(way, random_keys<K>(n, static_cast<std::uint64_t>(n)), "random keys");
    }
  });
}

TEST(Keys, SpecialKeysOfEveryType) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  if (in_another_order()) GTEST_SKIP() << "about values: once is enough";
  for_each_way([&](const auto& way) {
    using K = std::remove_pointer_t<decltype(key_of(way))>;
    const Keys<K> specials = special_keys<K>();
    check(way, specials, "each special key");
    check(way, Keys<K>(specials.rbegin(), specials.rend()), "each special key, from the end");
    check(way, some_specials<K>(1000, 3), "special keys");
    check(way, some_specials<K>(some_tiles, 3), "special keys");
    if (!slow(*gpu)) check(way, some_specials<K>(300007, 4), "special keys");
    for (const Bits<K> key : specials) {
      if (slow(*gpu) && key % 3 != 0) continue;
      check(way, Keys<K>(3, key), "three times " + hex(key));
    }
  });
}

/// Narrow types have few keys: all of them, each several times.
TEST(Keys, AllKeysOfNarrowTypes) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  if (in_another_order()) GTEST_SKIP() << "about values: once is enough";
  for_each_type([&](const auto& way) {
    using K = std::remove_pointer_t<decltype(key_of(way))>;
    if constexpr (sizeof(K) <= 2) {
      const std::int64_t count = sizeof(K) == 1 ? 256 : 65536;
      Keys<K> keys;
      for (std::int64_t i = 0; i < count; ++i) keys.push_back(static_cast<Bits<K>>(i * 40503));
      check(way, keys, "every key");
      if (sizeof(K) == 2 && slow(*gpu)) return;
      for (int times = 0; times < 5; ++times) keys.insert(keys.end(), keys.begin(), keys.end());
      keys.resize(keys.size() - 1);
      check(way, keys, "every key 32 times, but the last");
    }
  });
}

// ---- Inputs that are hard ----

/// At least two of the largest tiles, whose size is 8192.
std::int64_t hard_size(const course::Device& gpu) { return slow(gpu) ? 8300 : 200003; }

/// Inputs in which a digit is where a kernel might not expect it.
template <class Check>
void check_hard(std::int64_t n, bool all, Check check) {
  const std::pair<const char*, Order> orders[] = {{"sorted", Order::sorted},
                                                  {"reversed", Order::reversed},
                                                  {"organ pipe", Order::organ_pipe},
                                                  {"constant", Order::constant},
                                                  {"nearly sorted", Order::nearly_sorted},
                                                  {"sixteen values", Order::sixteen_values},
                                                  {"skewed", Order::skewed},
                                                  {"zipf", Order::zipf}};
  for (const auto& [name, order] : orders) {
    if (!all && order >= Order::nearly_sorted) continue;
    check(order, n, name);
  }
}

TEST(Hard, Orders) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  if (in_another_order()) GTEST_SKIP() << "about values: once is enough";
  for_each_way([&](const auto& way) {
    using K = std::remove_pointer_t<decltype(key_of(way))>;
    const bool all = std::is_same<K, unsigned>::value || !slow(*gpu);
    if constexpr (std::is_arithmetic<K>::value) {  // half has no such keys
      check_hard(all ? hard_size(*gpu) : some_tiles, all,
                 [&](Order order, std::int64_t n, const char* name) {
                   check(way, keys_in<K>(order, n), name);
                 });
    }
  });
}

/// One key differs from all others, in one byte: first, last, or at the end of a tile.
TEST(Hard, AllEqualButOne) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  if (in_another_order()) GTEST_SKIP() << "about values: once is enough";
  for_each_way([&](const auto& way) {
    using K = std::remove_pointer_t<decltype(key_of(way))>;
    const bool all = std::is_same<K, unsigned>::value || !slow(*gpu);
    const std::size_t n = all ? 8300 : some_tiles;
    for (const Bits<K> common :
         {Bits<K>{0}, all_bits<K>, static_cast<Bits<K>>(0x5A5A5A5A5A5A5A5A)}) {
      for (unsigned byte = 0; byte < sizeof(K); ++byte) {
        for (const std::size_t i : {std::size_t{0}, std::size_t{4096}, std::size_t{8191}, n - 1}) {
          if (i >= n || (slow(*gpu) && i != (byte % 2 == 0 ? n - 1 : 0))) continue;
          Keys<K> keys(n, common);
          keys[i] = static_cast<Bits<K>>(keys[i] ^ Bits<K>{0x81} << 8 * byte);
          check(way, keys, "all but key " + std::to_string(i) + " are " + hex(common));
        }
      }
    }
  });
}

/// Only the highest two bits differ, or only the lowest two.
TEST(Hard, FewBitsDiffer) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  if (in_another_order()) GTEST_SKIP() << "about values: once is enough";
  for_each_way([&](const auto& way) {
    using K = std::remove_pointer_t<decltype(key_of(way))>;
    const bool all = std::is_same<K, unsigned>::value || !slow(*gpu);
    for (const bool high : {true, false}) {
      Keys<K> keys = random_keys<K>(all ? hard_size(*gpu) : some_tiles, 5);
      const auto two = static_cast<Bits<K>>(high ? all_bits<K> << (sizeof(K) * 8 - 2) : 3);
      for (Bits<K>& key : keys) key = static_cast<Bits<K>>((key & two) | (0x2B & ~two));
      check(way, keys, high ? "the highest bits differ" : "the lowest bits differ");
    }
  });
}

// ---- Passes in which all digits are the same ----

/// Keys whose bytes differ where `bytes` has a bit; the others are those of `common`.
template <class K>
Keys<K> keys_with(unsigned bytes, std::uint64_t common, std::int64_t n) {
  std::uint64_t mask = 0;
  for (unsigned byte = 0; byte < sizeof(K); ++byte) {
    if ((bytes >> byte & 1) == 1) mask |= std::uint64_t{0xFF} << 8 * byte;
  }
  Keys<K> keys = random_keys<K>(n, 100 + bytes);
  for (Bits<K>& key : keys) key = static_cast<Bits<K>>((key & mask) | (common & ~mask));
  return keys;
}

/// Which bytes differ: each set of up to four bytes; of eight bytes a few sets of each size.
template <class K>
std::vector<unsigned> sets_of_bytes() {
  if (sizeof(K) == 8) {
    return {0x00, 0x01, 0x02, 0x80, 0x03, 0x81, 0x18, 0x07, 0xE0, 0x92, 0x0F,
            0xF0, 0x55, 0x1F, 0xAE, 0x3F, 0xFC, 0xB7, 0x7F, 0xFE, 0xEF, 0xFF};
  }
  std::vector<unsigned> sets(std::size_t{1} << sizeof(K));
  std::iota(sets.begin(), sets.end(), 0u);
  return sets;
}

/// However many passes are left, and whichever: the result is in out.
TEST(Passes, AnySetOfBytesDiffers) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  if (in_another_order()) {
    with<unsigned>("unsigned", radix_limit::sort, false, [&](const Way<unsigned>& way) {
      for (const unsigned bytes : {0u, 4u, 5u})
        check(way, keys_with<unsigned>(bytes, 0, 8300), "bytes " + hex(bytes) + " differ");
    });
    return;
  }
  for_each_way([&](const auto& way) {
    using K = std::remove_pointer_t<decltype(key_of(way))>;
    const bool all = std::is_same<K, unsigned>::value || !slow(*gpu);
    for (const unsigned bytes : sets_of_bytes<K>()) {
      const std::string what = "bytes " + hex(bytes) + " differ";
      check(way, keys_with<K>(bytes, 0, all ? 8300 : some_tiles), what + ", the others are 0");
      if (all || bytes % 3 == 0) {
        check(way, keys_with<K>(bytes, ~std::uint64_t{0}, some_tiles),
              what + ", the others are 0xFF");
      }
      const std::int64_t n = slow(*gpu) ? 257 : some_tiles;
      if (all) check(way, keys_with<K>(bytes, 0xD3C5B7A993857761ull, n), what);
    }
  });
}

TEST(Passes, AnySetOfBytesOfPairs) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  if (in_another_order()) GTEST_SKIP() << "about values: once is enough";
  for_each_pairs([&](auto key, auto check) {
    using K = decltype(key);
    for (const unsigned bytes : sets_of_bytes<K>()) {
      check(keys_with<K>(bytes, 0xD3C5B7A993857761ull, slow(*gpu) ? some_tiles : 20011),
            "bytes " + hex(bytes) + " differ");
    }
  });
}

// ---- Ranges of bits ----

/// n keys with random bits from first to last - 1; the other bits are their index, as far as it
/// goes. So keys with equal digits tell in which order they were.
Keys<unsigned> numbered_keys(std::int64_t n, int first, int last) {
  Keys<unsigned> keys = random_keys<unsigned>(n, 7);
  const std::uint64_t mask = (std::uint64_t{1} << last) - (std::uint64_t{1} << first);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::uint64_t key = keys[i] & mask, left = i;
    for (int bit = 0; bit < 32; ++bit) {
      if ((mask >> bit & 1) == 1) continue;
      key |= (left & 1) << bit;
      left >>= 1;
    }
    keys[i] = static_cast<unsigned>(key);
  }
  return keys;
}

TEST(BitRanges, AreSortedStably) {
  COURSE_NEEDS_GPU(gpu);
  ASSERT_TRUE(radix_limit::sort_by_bits != nullptr) << "80_limit.cu does not define it";
  const auto check_range = [](int first, int last, std::int64_t n) {
    check(by_bits(first, last), numbered_keys(n, first, last), "keys with numbers");
  };
  if (in_another_order()) return check_range(3, 14, 8193);
  std::vector<int> ends = {0, 1, 3, 7, 8, 9, 15, 16, 17, 24, 31, 32};
  if (!slow(*gpu)) {
    ends.resize(33);
    std::iota(ends.begin(), ends.end(), 0);
  }
  for (const int first : ends) {
    for (const int last : ends) {
      if (first > last) continue;
      check_range(first, last, slow(*gpu) ? 600 : 20011);
      check_range(first, last, slow(*gpu) && (first + last) % 11 != 0 ? some_tiles : 8193);
    }
  }
  for (const std::int64_t n : sizes_here(*gpu, sizes, 257)) {
    check_range(5, 5, n);
    check_range(2, 12, n);
    check_range(0, 32, n);
  }
}

/// A pass that could be left out, in a range that begins and ends within bytes.
TEST(BitRanges, DigitsMayBeTheSame) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  if (in_another_order()) GTEST_SKIP() << "about values: once is enough";
  ASSERT_TRUE(radix_limit::sort_by_bits != nullptr) << "80_limit.cu does not define it";
  for (const auto& [first, last] : {std::pair(4, 28), std::pair(0, 24), std::pair(8, 32)}) {
    for (unsigned zero = 0; zero < 8; ++zero) {
      Keys<unsigned> keys = numbered_keys(some_tiles, first, last);
      for (unsigned part = 0; part < 3; ++part) {
        if ((zero >> part & 1) == 0) continue;
        for (unsigned& key : keys) key &= ~(0xFFu << (first + 8 * static_cast<int>(part)));
      }
      check(by_bits(first, last), keys, "parts " + hex(zero) + " are zero");
    }
  }
}

// ---- Pairs ----

TEST(Pairs, EqualKeysKeepTheirOrder) {
  COURSE_NEEDS_GPU(gpu);
  const std::vector<std::int64_t> all =
      slow(*gpu) ? std::vector<std::int64_t>{0, 1, 2, 33, 257, 4097, 8193}
                 : std::vector<std::int64_t>{0,    1,     2,     31,    32,    33,     255,
                                             256,  257,   4095,  4096,  4097,  8191,   8192,
                                             8193, 16384, 16385, 20011, 65537, 300007, 1000003};
  for_each_pairs([&](auto key, auto check) {
    using K = decltype(key);
    for (const std::int64_t n : all) {
      if (in_another_order() && n != 8193) continue;
      Keys<K> few = random_keys<K>(n, 11);
      for (auto& bits : few) bits &= top_bit<K> | 0x0300;
      check(few, "eight values");
      if (in_another_order()) continue;
      check(Keys<K>(few.size(), 5), "one value");
      check(random_keys<K>(n, 12), "random keys");
    }
  });
}

/// The same over three tiles or more.
TEST(Pairs, EqualKeysOfManyTiles) {
  COURSE_NEEDS_GPU(gpu);
  const std::int64_t n = slow(*gpu) ? (in_another_order() ? 17001 : 36011) : 5000011;
  for_each_pairs([&](auto key, auto check) {
    using K = decltype(key);
    if (slow(*gpu) && sizeof(K) == 8) return;
    Keys<K> keys = random_keys<K>(n, 13);
    for (auto& bits : keys) bits &= 0x1F1F;
    check(keys, "1024 values");
  });
}

TEST(Pairs, SpecialKeysAndOrders) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  if (in_another_order()) GTEST_SKIP() << "about values: once is enough";
  for_each_pairs([&](auto key, auto check) {
    using K = decltype(key);
    check(special_keys<K>(), "each special key");
    check(some_specials<K>(some_tiles, 14), "special keys");
    check_hard(
        slow(*gpu) ? some_tiles : hard_size(*gpu), true,
        [&](Order order, std::int64_t n, const char* name) { check(keys_in<K>(order, n), name); });
  });
}

// ---- What is refused ----

/// What a refusal must be: the error, and an output as it was. launch() has just returned `error`.
template <class T>
void expect_refused(cudaError_t error, const Guarded<T>& out, const std::string& what) {
  EXPECT_EQ(error, cudaErrorInvalidValue) << what;
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << what;
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << what << ": an error is left";
  out.values(0);
}

constexpr std::int64_t no_sizes[] = {-1, INT64_MIN, std::int64_t{1} << 62, INT64_MAX};

/// A launcher that asks for no more than this does not use its workspace.
constexpr std::size_t unused_workspace = 256;

template <class K>
void check_refusals(const Way<K>& way, std::int64_t n) {
  SCOPED_TRACE(way.name + ", n = " + std::to_string(n));
  const Keys<K> in = random_keys<K>(n, 21);
  const Buffer keys((static_cast<std::size_t>(n) + 1) * sizeof(K));
  course_test::copy_to(keys, in);
  Guarded<Bits<K>> out(n + 1, 0, fresh_bytes[0]);
  const auto launch = [&](void* workspace, std::size_t bytes, std::size_t in_shift,
                          std::size_t out_shift, std::int64_t count) {
    const char* const from = static_cast<const char*>(keys.data()) + in_shift;
    char* const to = reinterpret_cast<char*>(out.data()) + out_shift;
    return way.sort(workspace, bytes, reinterpret_cast<const K*>(from), reinterpret_cast<K*>(to),
                    count, nullptr);
  };
  std::size_t bytes = 0;
  ASSERT_EQ(way.sort(nullptr, bytes, static_cast<const K*>(keys.data()),
                     reinterpret_cast<K*>(out.data()), n, nullptr),
            cudaSuccess);
  out.values(0);  // a question writes no key
  const Workspace larger(bytes + 256);
  void* const workspace = larger.data();
  for (const std::int64_t count : no_sizes) {
    expect_refused(launch(workspace, SIZE_MAX, 0, 0, count), out, std::to_string(count) + " keys");
    expect_refused(launch(nullptr, 0, 0, 0, count), out, std::to_string(count) + " keys, asked");
  }
  expect_refused(launch(workspace, bytes - 1, 0, 0, n), out, "a byte too few");
  expect_refused(launch(workspace, 0, 0, 0, n), out, "no bytes");
  if (bytes > unused_workspace) {
    expect_refused(launch(static_cast<char*>(workspace) + 1, bytes, 0, 0, n), out,
                   "a workspace at an odd address");
  }
  for (std::size_t shift = 1; shift < sizeof(K); ++shift) {
    const std::string later = std::to_string(shift) + " bytes later";
    expect_refused(launch(workspace, bytes, shift, 0, n), out, "in " + later);
    expect_refused(launch(workspace, bytes, 0, shift, n), out, "out " + later);
  }
  // Whole keys later: refused or right, and right with more workspace than needed.
  Keys<K> want = in;
  std::stable_sort(want.begin(), want.end(), way.before);
  for (const std::size_t shift : {std::size_t{0}, sizeof(K)}) {
    const cudaError_t error = launch(workspace, bytes + 256, 0, shift, n);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    if (shift > 0 && error == cudaErrorInvalidValue) continue;
    ASSERT_EQ(error, cudaSuccess);
    Keys<K> got = out.values();
    const std::size_t other = shift == 0 ? got.size() - 1 : 0;
    Bits<K> fresh;
    std::memset(&fresh, fresh_bytes[0], sizeof fresh);
    EXPECT_EQ(got[other], fresh) << "written outside";
    got.erase(got.begin() + static_cast<std::ptrdiff_t>(other));
    expect_same(got, want, "keys");
    out.reset();
  }
}

TEST(Refused, EveryType) {
  COURSE_NEEDS_GPU(gpu);
  if (in_another_order()) GTEST_SKIP() << "once is enough";
  for_each_way([&](const auto& way) {
    check_refusals(way, 1000);
    check_refusals(way, 8200);
  });
  ASSERT_TRUE(radix_limit::sort_by_bits != nullptr) << "80_limit.cu does not define it";
  for (const std::int64_t n : {1000, 8200}) {
    check_refusals(by_bits(3, 19), n);
    check_refusals(by_bits(9, 9), n);
  }
}

TEST(Refused, RangesOfBits) {
  COURSE_NEEDS_GPU(gpu);
  if (in_another_order()) GTEST_SKIP() << "once is enough";
  ASSERT_TRUE(radix_limit::sort_by_bits != nullptr) << "80_limit.cu does not define it";
  const Keys<unsigned> in = random_keys<unsigned>(1000, 22);
  const Buffer keys = to_device(in);
  const Guarded<unsigned> out(1000, 0, fresh_bytes[0]);
  const auto launch = [&](void* workspace, std::size_t bytes, std::int64_t n, int first, int last) {
    return radix_limit::sort_by_bits(workspace, bytes, static_cast<const unsigned*>(keys.data()),
                                     out.data(), n, first, last, nullptr);
  };
  const Workspace workspace(1 << 22);  // enough
  for (const auto& [first, last] :
       {std::pair(-1, 8), std::pair(9, 8), std::pair(32, 31), std::pair(0, 33), std::pair(0, -1),
        std::pair(33, 33), std::pair(-1, -1), std::pair(32, 0), std::pair(INT32_MIN, INT32_MAX),
        std::pair(INT32_MAX, INT32_MIN)}) {
    const std::string range = std::to_string(first) + " to " + std::to_string(last);
    for (const std::int64_t n : {0, 1000}) {
      expect_refused(launch(workspace.data(), workspace.bytes(), n, first, last), out, range);
      expect_refused(launch(nullptr, 0, n, first, last), out, range + ", asked");
    }
  }
}

template <class K, class V>
void check_refused_pairs(SortPairs<K, V>* sort, std::int64_t n) {
  ASSERT_TRUE(sort != nullptr) << "80_limit.cu does not define it, or was not built";
  const Buffer keys = to_device(random_keys<K>(n + 1, 23));
  const Buffer values = to_device(random_keys<V>(n + 1, 24));
  const Guarded<Bits<K>> keys_out(n + 1, 0, fresh_bytes[0]);
  const Guarded<V> values_out(n + 1, 0, fresh_bytes[0]);
  std::size_t shifts[4] = {};  // in bytes: keys, values, keys_out, values_out
  const auto launch = [&](void* workspace, std::size_t& bytes, std::int64_t count) {
    const auto moved = [&](const void* p, int k) {
      return static_cast<void*>(static_cast<char*>(const_cast<void*>(p)) + shifts[k]);
    };
    return sort(workspace, bytes, static_cast<const K*>(moved(keys.data(), 0)),
                static_cast<const V*>(moved(values.data(), 1)),
                static_cast<K*>(moved(keys_out.data(), 2)),
                static_cast<V*>(moved(values_out.data(), 3)), count, nullptr);
  };
  const auto refuse = [&](void* workspace, std::size_t bytes, std::int64_t count,
                          const std::string& what) {
    const cudaError_t error = launch(workspace, bytes, count);
    expect_refused(error, keys_out, what);
    expect_refused(error, values_out, what);
  };
  std::size_t bytes = 0;
  ASSERT_EQ(launch(nullptr, bytes, n), cudaSuccess);
  const Workspace larger(bytes + 256);
  for (const std::int64_t count : no_sizes) {
    refuse(larger.data(), SIZE_MAX, count, std::to_string(count) + " pairs");
    refuse(nullptr, 0, count, std::to_string(count) + " pairs, asked");
  }
  refuse(larger.data(), bytes - 1, n, "a byte too few");
  if (bytes > unused_workspace)
    refuse(static_cast<char*>(larger.data()) + 1, bytes, n, "a workspace at an odd address");
  for (int k = 0; k < 4; ++k) {
    for (std::size_t shift = 1; shift < (k % 2 == 0 ? sizeof(K) : sizeof(V)); ++shift) {
      shifts[k] = shift;
      refuse(larger.data(), bytes, n,
             "array " + std::to_string(k) + ", " + std::to_string(shift) + " bytes later");
      shifts[k] = 0;
    }
  }
}

TEST(Refused, Pairs) {
  COURSE_NEEDS_GPU(gpu);
  if (in_another_order()) GTEST_SKIP() << "once is enough";
  for (const std::int64_t n : {1000, 8200}) {
    check_refused_pairs<unsigned, unsigned>(radix_limit::sort_pairs, n);
    check_refused_pairs<unsigned, std::int64_t>(radix_limit::sort_pairs, n);
    check_refused_pairs<std::int64_t, unsigned>(radix_limit::sort_pairs, n);
  }
}

// ---- Many keys, on a GPU ----

#ifndef SIMT

constexpr std::int64_t many = (1 << 24) + 3;

TEST(Special, ManyKeysOfEveryType) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  for_each_way([&](const auto& way) {
    using K = std::remove_pointer_t<decltype(key_of(way))>;
    check(way, random_keys<K>(many, 31), "random keys");
    check(way, some_specials<K>(many, 32), "special keys");
  });
}

TEST(Special, ManyPairs) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  for_each_pairs([&](auto key, auto check) {
    using K = decltype(key);
    check(random_keys<K>(many, 33), "random keys");
    Keys<K> few = random_keys<K>(many, 34);
    for (auto& bits : few) bits &= top_bit<K> | 0x0703;
    check(few, "64 values");
  });
}

/// More than 2^31 bytes, made and checked in parts: their order is known from their counts.
void check_many_bytes(const std::function<std::uint8_t(std::int64_t)>& byte_at) {
  const std::int64_t n = (std::int64_t{1} << 31) + 5, part = std::int64_t{1} << 26;
  const auto bytes_of_keys = static_cast<std::size_t>(n);
  const Buffer in(bytes_of_keys), out(bytes_of_keys + 256);
  COURSE_CHECK(cudaMemset(out.data(), fresh_bytes[0], out.bytes()));
  std::vector<std::uint8_t> keys;
  std::vector<std::int64_t> counts(256, 0);
  for (std::int64_t begin = 0; begin < n; begin += part) {
    keys.resize(static_cast<std::size_t>(std::min(part, n - begin)));
    course::parallel_for(static_cast<std::int64_t>(keys.size()),
                         [&](std::int64_t from, std::int64_t to) {
                           for (std::int64_t i = from; i < to; ++i)
                             keys[static_cast<std::size_t>(i)] = byte_at(begin + i);
                         });
    for (const std::uint8_t key : keys) ++counts[key];
    COURSE_CHECK(cudaMemcpy(static_cast<std::uint8_t*>(in.data()) + begin, keys.data(), keys.size(),
                            cudaMemcpyHostToDevice));
  }
  std::size_t bytes = 0;
  Sort<std::uint8_t>* const sort = radix_limit::sort;
  const auto* const from = static_cast<const std::uint8_t*>(in.data());
  auto* const to = static_cast<std::uint8_t*>(out.data());
  ASSERT_EQ(sort(nullptr, bytes, from, to, n, nullptr), cudaSuccess);
  Workspace workspace(bytes);
  workspace.fill(0x5A);
  ASSERT_EQ(sort(workspace.data(), bytes, from, to, n, nullptr), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  std::size_t key = 0;
  for (std::int64_t begin = 0; begin < n; begin += part) {
    const auto got = to_host<std::uint8_t>(to + begin, std::min(part, n - begin));
    for (std::size_t i = 0; i < got.size();) {
      while (counts[key] == 0) ++key;
      const std::size_t run = std::min(got.size() - i, static_cast<std::size_t>(counts[key]));
      const auto end = got.begin() + static_cast<std::ptrdiff_t>(i + run);
      const auto wrong = std::find_if(got.begin() + static_cast<std::ptrdiff_t>(i), end,
                                      [=](std::uint8_t one) { return one != key; });
      ASSERT_TRUE(wrong == end) << +*wrong << " instead of " << key << " at "
                                << begin + (wrong - got.begin());
      counts[key] -= static_cast<std::int64_t>(run);
      i += run;
    }
  }
  for (const std::uint8_t after : to_host<std::uint8_t>(to + n, 256))
    ASSERT_EQ(after, fresh_bytes[0]) << "written after the last key";
}

TEST(Special, MoreThanTwoBillionBytes) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  std::size_t free = 0, all = 0;
  COURSE_CHECK(cudaMemGetInfo(&free, &all));
  if (free < std::size_t{12} << 30) GTEST_SKIP() << "needs 12 GiB of free memory on the GPU";
  ASSERT_TRUE(static_cast<Sort<std::uint8_t>*>(radix_limit::sort) != nullptr)
      << "80_limit.cu: no sort";
  check_many_bytes([](std::int64_t i) {
    return static_cast<std::uint8_t>(course::mix(35, static_cast<std::uint64_t>(i)));
  });
  // A digit that nearly all keys have.
  check_many_bytes([](std::int64_t i) {
    return static_cast<std::uint8_t>(i % ((1 << 20) + 7) == 4 ? i >> 20 : 200);
  });
}

#endif

}  // namespace
