#pragma once
/// \file
/// The problem of this chapter, in host C++: families of keys, the reference, least traffic.
/// Versions never include it.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "chapter/chapter.hpp"
#include "chapter/input.hpp"

/// The launcher of every sort.
template <class T>
using Launcher = cudaError_t(void* workspace, std::size_t& workspace_bytes, const T* in, T* out,
                             std::int64_t n, cudaStream_t stream);
/// std::sort on the host, and what its last call took without the copies.
using HostSort = cudaError_t(const unsigned* in, unsigned* out, std::int64_t n,
                             cudaStream_t stream);
namespace std_sort {
extern __attribute__((weak)) double last_seconds;
}
/// Keys with a value each, which goes where its key goes.
template <class T>
using PairLauncher = cudaError_t(void* workspace, std::size_t& workspace_bytes, const T* keys_in,
                                 const unsigned* values_in, T* keys_out, unsigned* values_out,
                                 std::int64_t n, cudaStream_t stream);

namespace quicksort_chapter {

/// True on the CPU backend, where every access takes its time.
#ifdef SIMT
constexpr bool all_is_checked = true;
#else
constexpr bool all_is_checked = false;
#endif

/// What every version leaves in the first 8 bytes of its workspace, in words.
inline std::string fallbacks(const course::Arguments& arguments) {
  unsigned long long count = 0;
  if (arguments.workspace == nullptr || arguments.workspace_bytes < sizeof count) return "";
  if (cudaMemcpy(&count, arguments.workspace, sizeof count, cudaMemcpyDeviceToHost) != cudaSuccess)
    return "";
  return count == 0 ? "" : std::to_string(count) + " segments took the way that bounds the work";
}

/// How the keys of an array lie. `any`: as the course's family of inputs says.
enum class Order {
  any,
  against_middle,  ///< version 01 finds the least key in the middle, level after level
  against_three,   ///< 02 and 03: two of the least keys among the first, the middle, the last
  sorted,
  reversed,
  constant,
  organ_pipe,      ///< up to the middle, then down again
  one_differs,     ///< all equal but one
  two_values,      ///< at random
  sixteen_values,  ///< at random
  zipf  ///< the k-th most frequent of 2^20 values is k times rarer than the most frequent one
};

template <class T>
constexpr course::Type type_of = std::is_same<T, float>::value      ? course::Type::f32
                                 : std::is_same<T, unsigned>::value ? course::Type::u32
                                 : std::is_same<T, int>::value      ? course::Type::i32
                                                                    : course::Type::i64;

/// A key for each 32-bit number, in the same order.
template <class T>
T spread(std::uint32_t x) {
  if (std::is_same<T, float>::value) return static_cast<T>(static_cast<float>(x >> 8) - 0x1p23f);
  if (std::is_same<T, unsigned>::value) return static_cast<T>(x);
  const std::int64_t centred = std::int64_t{x} - (std::int64_t{1} << 31);
  return static_cast<T>(sizeof(T) == 8 ? centred * (1 << 20) : centred);
}

/// Any key that a double holds: all bits of 32, but for NaN and zeros of floats; of 64-bit integers
/// 53 bits, shifted by 0 to 11.
template <class T>
T any_key(std::uint64_t bits) {
  if (std::is_same<T, float>::value) {
    auto word = static_cast<std::uint32_t>(bits >> 32);
    if ((word >> 23 & 0xffu) == 0xffu) word ^= 1u << 23;  // finite
    if (word << 1 == 0) word = 1;                         // no zeros: libraries take -0.0 for 0.0
    float key;
    std::memcpy(&key, &word, sizeof key);
    return static_cast<T>(key);
  }
  if (sizeof(T) == 4) return static_cast<T>(bits >> 32);
  return static_cast<T>((static_cast<std::int64_t>(bits) >> 11) * (1 << (bits % 12)));
}

/// Element i of n in an order other than `any`.
template <class T>
T key_in(Order order, std::uint64_t seed, std::int64_t i, std::int64_t n) {
  const std::uint64_t bits = course::mix(seed, static_cast<std::uint64_t>(i));
  const auto step = [](std::int64_t k, std::int64_t of) {
    return spread<T>(static_cast<std::uint32_t>(static_cast<double>(k) / static_cast<double>(of) *
                                                4294967295.0));
  };
  switch (order) {
    case Order::sorted:
      return step(i, n);
    case Order::reversed:
      return step(n - 1 - i, n);
    case Order::organ_pipe:
      return step(std::min(i, n - 1 - i), n);
    case Order::constant:
      return spread<T>(0x12345678u);
    case Order::one_differs:
      return spread<T>(
          i == static_cast<std::int64_t>(course::mix(seed, 0) % static_cast<std::uint64_t>(n))
              ? 0x12345678u
              : 0x87654321u);
    case Order::two_values:
      return spread<T>(bits >> 63 != 0 ? 0x87654321u : 0x12345678u);
    case Order::sixteen_values:
      return spread<T>(static_cast<std::uint32_t>(bits >> 60) * 0x0fedcba9u);
    case Order::zipf: {
      const double uniform = static_cast<double>(bits >> 11) * 0x1p-53;
      const auto rank = static_cast<std::uint64_t>(std::exp2(20 * uniform));
      return spread<T>(static_cast<std::uint32_t>(course::mix(7, rank)));
    }
    default:
      break;
  }
  return T{};
}

/// What an adversary does who knows the pivots of 01, or of 02 and 03: parts the places of n keys
/// as the version does, and gives the least ranks that are left to where it looks for its pivot.
/// Other places get the remaining ranks at random. Ranks are 0 to n - 1.
inline std::vector<std::uint32_t> adversarial_ranks(Order order, std::int64_t n,
                                                    std::uint64_t seed) {
  constexpr std::uint32_t none = UINT32_MAX;
  constexpr std::size_t leaf = 2048;
  std::vector<std::uint32_t> rank(static_cast<std::size_t>(n), none);
  std::vector<std::size_t> places(rank.size()),
      rights;  // of a segment: where its keys were at first
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
  std::uint32_t next = 0;
  for (int level = 0; level < 64 && places.size() > leaf; ++level) {
    const std::size_t middle = places.size() / 2, count = places.size();
    if (order == Order::against_middle) {  // Hoare's partition strips the least key off the front
      std::swap(places[0], places[(count - 1) / 2]);
      if (rank[places[0]] == none) rank[places[0]] = next++;
      places.erase(places.begin());
      continue;
    }
    std::uint32_t least[2] = {none, none};  // of the three keys
    for (const std::size_t i : {places[0], places[middle], places[count - 1]}) {
      if (rank[i] == none && least[1] == none) rank[i] = next++;
      if (rank[i] < least[1]) least[1] = rank[i];
      if (least[1] < least[0]) std::swap(least[0], least[1]);
    }
    rights.clear();
    for (const std::size_t i : places) {
      if (rank[i] >= least[1]) rights.push_back(i);
    }
    places.assign(rights.rbegin(), rights.rend());  // a block writes them backwards
  }
  std::vector<std::uint32_t> left;
  for (std::uint32_t r = next; r < rank.size(); ++r) left.push_back(r);
  for (std::size_t k = left.size(); k > 1; --k)
    std::swap(left[k - 1], left[course::mix(seed, k) % k]);
  for (std::uint32_t& r : rank) {
    if (r != none) continue;
    r = left.back();
    left.pop_back();
  }
  return rank;
}

/// Sorts on all threads of the host: parts of the array, then pairs of sorted parts into one.
template <class T>
void sort_on_host(std::vector<T>& keys) {
  const auto n = static_cast<std::int64_t>(keys.size());
  std::int64_t parts = 1;
  while (parts < 16 && n / parts > 1 << 16) parts *= 2;
  const auto begin = [&](std::int64_t part) { return keys.begin() + n * part / parts; };
  course::parallel_for(
      parts,
      [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t p = from; p < to; ++p) std::sort(begin(p), begin(p + 1));
      },
      1);
  std::vector<T> merged(parts > 1 ? keys.size() : 0);
  for (std::int64_t width = 1; width < parts; width *= 2) {
    course::parallel_for(
        parts / (2 * width),
        [&](std::int64_t from, std::int64_t to) {
          for (std::int64_t p = 2 * width * from; p < 2 * width * to; p += 2 * width) {
            std::merge(begin(p), begin(p + width), begin(p + width), begin(p + 2 * width),
                       merged.begin() + (begin(p) - keys.begin()));
          }
        },
        1);
    keys.swap(merged);
  }
}

}  // namespace quicksort_chapter

/// out = the n keys of in, in ascending order.
template <class T>
class Sort : public course::Problem {
 public:
  using Order = quicksort_chapter::Order;
  Sort(course::Size size, std::uint64_t seed, course::Input input, Order order = Order::any)
      : Problem(std::move(size), seed, input), order_(order) {}

  std::vector<course::Array> inputs() const override {
    course::Array in{"in", n(), quicksort_chapter::type_of<T>, seed()};
    in.values = [problem = *this](void* host) { problem.write_keys(static_cast<T*>(host)); };
    return {in};
  }
  std::vector<course::Array> outputs() const override {
    return {{"out", n(), quicksort_chapter::type_of<T>}};
  }
  double bytes_read() const override { return sizeof(T) * static_cast<double>(n()); }
  double bytes_written() const override { return bytes_read(); }
  Work work() const override { return {static_cast<double>(n()), 1e9, "Gkeys/s"}; }

  void expected(int, double* out) const override {
    const std::vector<T> keys = sorted();
    course::parallel_for(n(), [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = from; i < to; ++i)
        out[i] = static_cast<double>(keys[static_cast<std::size_t>(i)]);
    });
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }

 protected:
  void write_keys(T* keys) const {
    using quicksort_chapter::spread;
    if (order_ == Order::against_middle || order_ == Order::against_three) {
      const double distance = 4294967295.0 / static_cast<double>(n());
      for (const std::uint32_t rank : quicksort_chapter::adversarial_ranks(order_, n(), seed()))
        *keys++ = spread<T>(static_cast<std::uint32_t>(rank * distance));
      return;
    }
    course::parallel_for(n(), [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = from; i < to; ++i) keys[i] = key(i);
    });
  }
  std::vector<T> sorted() const {
    std::vector<T> keys(static_cast<std::size_t>(n()));
    write_keys(keys.data());
    quicksort_chapter::sort_on_host(keys);
    return keys;
  }
  T key(std::int64_t i) const {
    if (order_ != Order::any) return quicksort_chapter::key_in<T>(order_, seed(), i, n());
    if (input() == course::Input::random)
      return quicksort_chapter::any_key<T>(course::mix(seed(), static_cast<std::uint64_t>(i)));
    return course::value<T>(input(), seed(), i);
  }

 private:
  Order order_;
};

/// The same with a value for each key. Equal keys have equal values, so that their order among each
/// other, which is nobody's promise, makes no difference.
template <class T>
class SortPairs : public Sort<T> {
 public:
  using Sort<T>::Sort;
  std::vector<course::Array> inputs() const override {
    std::vector<course::Array> arrays = Sort<T>::inputs();
    course::Array values{"values", this->n(), course::Type::u32, this->seed()};
    values.values = [problem = *this](void* host) {
      auto* const out = static_cast<std::uint32_t*>(host);
      course::parallel_for(problem.n(), [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t i = from; i < to; ++i) out[i] = value_of(problem.key(i));
      });
    };
    arrays.push_back(values);
    return arrays;
  }
  std::vector<course::Array> outputs() const override {
    std::vector<course::Array> arrays = Sort<T>::outputs();
    arrays.push_back({"values_out", this->n(), course::Type::u32});
    return arrays;
  }
  double bytes_read() const override { return (sizeof(T) + 4.0) * static_cast<double>(this->n()); }
  void expected(int output, double* out) const override {
    if (output == 0) return Sort<T>::expected(0, out);
    const std::vector<T> keys = this->sorted();
    course::parallel_for(this->n(), [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = from; i < to; ++i) out[i] = value_of(keys[static_cast<std::size_t>(i)]);
    });
  }

 private:
  static std::uint32_t value_of(T key) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &key, sizeof key);
    return static_cast<std::uint32_t>(course::mix(1, bits) >> 32);
  }
};
