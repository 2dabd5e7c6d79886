#pragma once
/// \file
/// Shared by the files of chapter 07's tests: the launchers, the order of keys as the tests define
/// it, and a run of a sort.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <ios>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "../chapters/07_quicksort/quicksort.hpp"
#include "chapter/launchers.hpp"
#include "chapter_test.hpp"
#include "guarded.hpp"

COURSE_TYPED_LAUNCHERS(Launcher, (sort), one_thread, block_per_segment, level_by_level,
                       reserve_places, work_queue, three_ways, many_splitters, register_leaves,
                       staged, limit);
COURSE_TYPED_LAUNCHERS(PairLauncher, (sort_pairs), many_splitters, register_leaves, staged, limit);

namespace quicksort_test {

using SeededLauncher = cudaError_t(void* workspace, std::size_t& workspace_bytes,
                                   const unsigned* in, unsigned* out, std::int64_t n,
                                   std::uint64_t seed, cudaStream_t stream);
using ToldPairLauncher = cudaError_t(void* workspace, std::size_t& workspace_bytes,
                                     const unsigned* keys_in, const unsigned* values_in,
                                     unsigned* keys_out, unsigned* values_out, std::int64_t n,
                                     int levels, int first_buckets, int second_buckets,
                                     std::uint64_t seed, cudaStream_t stream);
using ToldLauncher = cudaError_t(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                                 unsigned* out, std::int64_t n, int levels, int first_buckets,
                                 int second_buckets, std::uint64_t seed, cudaStream_t stream);

}  // namespace quicksort_test

COURSE_LAUNCHERS(quicksort_test::SeededLauncher, (sort_seeded), reserve_places, work_queue,
                 three_ways);
COURSE_LAUNCHERS(quicksort_test::ToldLauncher, (sort_as_told), many_splitters, register_leaves,
                 staged, limit);
COURSE_LAUNCHERS(quicksort_test::ToldPairLauncher, (sort_pairs_as_told), many_splitters,
                 register_leaves, staged, limit);

namespace quicksort_test {

/// A launcher, or a call of one with further arguments besides the array.
template <class T>
using Call = std::function<Launcher<T>>;

/// A way to sort keys of type T.
template <class T>
struct Sorter {
  std::string name;  ///< the version, "04 reserve"
  Call<T> call;

  bool is(const char* number) const { return name.compare(0, 2, number) == 0; }
};

/// All versions that are in this build.
template <class T>
std::vector<Sorter<T>> sorters() {
  std::vector<Sorter<T>> found;
  const auto add = [&](const char* name, Launcher<T>* sort) {
    if (sort != nullptr) found.push_back({name, sort});
  };
  add("01 one thread", one_thread::sort);
  add("02 block", block_per_segment::sort);
  add("03 level by level", level_by_level::sort);
  add("04 reserve", reserve_places::sort);
  add("05 work queue", work_queue::sort);
  add("06 three ways", three_ways::sort);
  add("07 many splitters", many_splitters::sort);
  add("08 register leaves", register_leaves::sort);
  add("09 staged", staged::sort);
  add("80 limit", limit::sort);
  return found;
}

/// Calls body(sorter) for each of them.
template <class T, class Body>
void for_each_sorter(Body body) {
  const auto all = sorters<T>();
  EXPECT_FALSE(all.empty()) << "no version was built";
  for (const Sorter<T>& sorter : all) {
    SCOPED_TRACE(sorter.name);
    body(sorter);
  }
}

/// 04 to 06, as they sort with this seed.
inline std::vector<Sorter<unsigned>> seeded(std::uint64_t seed) {
  std::vector<Sorter<unsigned>> found;
  const auto add = [&](const char* name, SeededLauncher* sort) {
    if (sort == nullptr) return;
    found.push_back({name, [=](void* workspace, std::size_t& bytes, const unsigned* in,
                               unsigned* out, std::int64_t n, cudaStream_t stream) {
                       return sort(workspace, bytes, in, out, n, seed, stream);
                     }});
  };
  add("04 reserve", reserve_places::sort_seeded);
  add("05 work queue", work_queue::sort_seeded);
  add("06 three ways", three_ways::sort_seeded);
  return found;
}

/// The arguments that 07 and later versions get: a plan.
struct Told {
  int levels, first_buckets, second_buckets;
  std::string text() const {
    return std::to_string(levels) + " levels, " + std::to_string(first_buckets) + " x " +
           std::to_string(second_buckets) + " buckets";
  }
};

/// 07 and later with a plan and a seed; without those that were not built.
inline std::vector<Sorter<unsigned>> told(const Told& plan, std::uint64_t seed) {
  std::vector<Sorter<unsigned>> found;
  const auto add = [&](const char* name, ToldLauncher* sort) {
    if (sort == nullptr) return;
    found.push_back({std::string(name) + ", " + plan.text(),
                     [=](void* workspace, std::size_t& bytes, const unsigned* in, unsigned* out,
                         std::int64_t n, cudaStream_t stream) {
                       return sort(workspace, bytes, in, out, n, plan.levels, plan.first_buckets,
                                   plan.second_buckets, seed, stream);
                     }});
  };
  add("07 many splitters", many_splitters::sort_as_told);
  add("08 register leaves", register_leaves::sort_as_told);
  add("09 staged", staged::sort_as_told);
  add("80 limit", limit::sort_as_told);
  return found;
}

// ---- Keys ----

/// The bits of a key, as an integer without a sign.
template <class T>
std::uint64_t bits_of(T key) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &key, sizeof key);
  return bits;
}

/// The float with these bits.
inline float float_of(std::uint32_t bits) {
  float key;
  std::memcpy(&key, &bits, sizeof key);
  return key;
}

/// a < b; of floats as totalOrder of IEEE 754 says: sign and magnitude, as integers.
template <class T>
bool before(T a, T b) {
  return a < b;
}
template <>
inline bool before(float a, float b) {
  const auto place = [](float key) {
    const auto bits = static_cast<std::int64_t>(bits_of(key));
    const std::int64_t magnitude = bits & 0x7fffffff;
    return bits == magnitude ? magnitude : -1 - magnitude;
  };
  return place(a) < place(b);
}

template <class T>
std::vector<T> sorted(std::vector<T> keys) {
  std::sort(keys.begin(), keys.end(), before<T>);
  return keys;
}

/// The first and the last of all keys: either may be used as padding.
template <class T>
std::pair<T, T> ends() {
  return {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()};
}
template <>
inline std::pair<float, float> ends() {
  return {float_of(0xffffffffu), float_of(0x7fffffffu)};
}

/// n keys of any bits.
template <class T>
std::vector<T> random_keys(std::int64_t n, std::uint64_t seed) {
  std::vector<T> keys(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::uint64_t bits = course::mix(seed, i);
    std::memcpy(&keys[i], &bits, sizeof(T));
  }
  return keys;
}

/// Compares bit by bit, and names the first key that differs.
template <class T>
void expect_same(const std::vector<T>& got, const std::vector<T>& want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  if (got.empty() || std::memcmp(got.data(), want.data(), got.size() * sizeof(T)) == 0) return;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (bits_of(got[i]) == bits_of(want[i])) continue;
    std::ostringstream bits;
    bits << std::hex << bits_of(got[i]) << ") and should be " << std::dec << want[i] << std::hex
         << " (" << bits_of(want[i]) << ")";
    ADD_FAILURE() << what << ": key " << i << " of " << got.size() << " is " << got[i] << " ("
                  << bits.str();
    return;
  }
}

// ---- Runs ----

/// The output and the counts of a launch.
template <class T>
struct Sorted {
  std::vector<T> keys;
  /// How many segments were sorted by the method that is bounded for every input.
  unsigned long long fallbacks = 0;
};

/// The number that a launch left in the first 8 bytes of its workspace.
inline unsigned long long fallbacks_in(const course_test::Workspace& workspace) {
  return course_test::to_host<unsigned long long>(workspace.data(), 1)[0];
}

/// The bytes of a fresh output: none of the tests' special keys.
constexpr int fresh_byte = 0x5A;

template <class T>
std::size_t workspace_bytes(const Call<T>& call, std::int64_t n) {
  std::size_t bytes = 0;
  COURSE_CHECK(call(nullptr, bytes, nullptr, nullptr, n, nullptr));
  return bytes;
}

/// One launch on a workspace of exactly its size, between guards.
template <class T>
Sorted<T> run(const Call<T>& call, const std::vector<T>& in) {
  const auto n = static_cast<std::int64_t>(in.size());
  const course::Buffer device = course_test::to_device(in);
  const course_test::Workspace workspace(workspace_bytes(call, n));
  const course_test::Guarded<T> out(n, 0, fresh_byte);
  std::size_t bytes = workspace.bytes();
  COURSE_CHECK(
      call(workspace.data(), bytes, static_cast<const T*>(device.data()), out.data(), n, nullptr));
  COURSE_CHECK(cudaDeviceSynchronize());
  return {out.values(), fallbacks_in(workspace)};
}

/// One launch, its result compared with `want`. Returns the number of fallbacks.
template <class T>
unsigned long long check(const Sorter<T>& sorter, const std::vector<T>& in,
                         const std::vector<T>& want, const std::string& what) {
  const Sorted<T> got = run(sorter.call, in);
  expect_same(got.keys, want, what + ", n = " + std::to_string(in.size()));
  return got.fallbacks;
}

/// All versions on one array.
template <class T>
void check_all(const std::vector<T>& in, const std::string& what) {
  const std::vector<T> want = sorted(in);
  for_each_sorter<T>([&](const Sorter<T>& sorter) { check(sorter, in, want, what); });
}

}  // namespace quicksort_test
