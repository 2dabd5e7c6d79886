#pragma once
/// \file
/// The problems of this chapter, in host C++: keys, values, the reference, least traffic. Versions
/// never include it.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "chapter/chapter.hpp"
#include "chapter/input.hpp"

/// The launcher of every sort of keys alone.
template <class K>
using Sort = cudaError_t(void* workspace, std::size_t& workspace_bytes, const K* in, K* out,
                         std::int64_t n, cudaStream_t stream);
/// Keys with a value each, which moves with its key. Equal keys keep their order.
template <class K, class V>
using SortPairs = cudaError_t(void* workspace, std::size_t& workspace_bytes, const K* keys_in,
                              const V* values_in, K* keys_out, V* values_out, std::int64_t n,
                              cudaStream_t stream);
/// By bits first to last - 1 of the keys only.
using SortByBits = cudaError_t(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                               unsigned* out, std::int64_t n, int first, int last,
                               cudaStream_t stream);

namespace radix_chapter {

/// True on the CPU backend, where every access takes its time.
#ifdef SIMT
constexpr bool all_is_checked = true;
#else
constexpr bool all_is_checked = false;
#endif

/// How the keys of an array lie.
enum class Order {
  random,    ///< as the course's family of inputs says
  constant,  ///< all equal
  sorted,
  reversed,
  nearly_sorted,   ///< ascending, but one key in 1024 is random
  organ_pipe,      ///< up to the middle, then down again
  skewed,          ///< a bit is 1 in one key of eight: most digits are 0 or have a single 1
  sixteen_values,  ///< at random
  zipf  ///< the k-th most frequent of 2^20 values is k times rarer than the most frequent one
};
constexpr int orders = static_cast<int>(Order::zipf) + 1;

template <class T>
constexpr course::Type type_of = std::is_same<T, float>::value           ? course::Type::f32
                                 : std::is_same<T, double>::value        ? course::Type::f64
                                 : std::is_same<T, unsigned>::value      ? course::Type::u32
                                 : std::is_same<T, int>::value           ? course::Type::i32
                                 : std::is_same<T, std::uint8_t>::value  ? course::Type::u8
                                 : std::is_same<T, std::uint16_t>::value ? course::Type::u16
                                                                         : course::Type::i64;

/// A key for each 32-bit number, in the same order or, of narrow types, in one with equal keys.
template <class T>
T spread(std::uint32_t x) {
  if (std::is_floating_point<T>::value) {
    return static_cast<T>(static_cast<double>(x >> 8) - 0x1p23);
  }
  if (std::is_unsigned<T>::value) return static_cast<T>(x >> (32 - 8 * sizeof(T)) % 32);
  const std::int64_t centred = std::int64_t{x} - (std::int64_t{1} << 31);
  return static_cast<T>(sizeof(T) == 8 ? centred * (1 << 20) : centred);
}

/// Any key that a double holds: all bits, but no NaN, infinity or zero of floating-point types (the
/// special tests have them); of 64-bit integers 53 bits, shifted by 0 to 11.
template <class T>
T any_key(std::uint64_t bits) {
  if constexpr (std::is_floating_point<T>::value) {
    using U = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    constexpr int width = sizeof(T) * 8, mantissa = sizeof(T) == 8 ? 52 : 23;
    constexpr U exponent = ((U{1} << (width - 1 - mantissa)) - 1) << mantissa;
    U word = static_cast<U>(bits >> (64 - width));
    if ((word & exponent) == exponent) word ^= U{1} << mantissa;
    if ((word & exponent) == 0) word |= U{1} << mantissa;
    T key;
    std::memcpy(&key, &word, sizeof key);
    return key;
  } else if constexpr (sizeof(T) == 8) {
    return static_cast<T>((static_cast<std::int64_t>(bits) >> 11) * (1 << (bits % 12)));
  } else {
    return static_cast<T>(bits >> (64 - sizeof(T) * 8));
  }
}

/// Element i of n in an order other than `random`.
template <class T>
T key_in(Order order, std::uint64_t seed, std::int64_t i, std::int64_t n) {
  const std::uint64_t bits = course::mix(seed, static_cast<std::uint64_t>(i));
  const auto step = [](std::int64_t k, std::int64_t of) {
    return spread<T>(static_cast<std::uint32_t>(static_cast<double>(k) / static_cast<double>(of) *
                                                4294967295.0));
  };
  switch (order) {
    case Order::constant:
      return spread<T>(0x12345678u);
    case Order::reversed:
      return step(n - 1 - i, n);
    case Order::nearly_sorted:
      if (bits % 1024 == 0) return spread<T>(static_cast<std::uint32_t>(bits >> 32));
      return step(i, n);
    case Order::organ_pipe:
      return step(std::min(i, n - 1 - i), n);
    case Order::skewed: {
      const std::uint64_t more = course::mix(seed + 1, static_cast<std::uint64_t>(i));
      return spread<T>(static_cast<std::uint32_t>(bits & bits >> 32 & more));
    }
    case Order::sixteen_values:
      return spread<T>(static_cast<std::uint32_t>(bits >> 60) * 0x0fedcba9u);
    case Order::zipf: {
      const double uniform = static_cast<double>(bits >> 11) * 0x1p-53;
      const auto rank = static_cast<std::uint64_t>(std::exp2(20 * uniform));
      return spread<T>(static_cast<std::uint32_t>(course::mix(7, rank)));
    }
    default:
      return step(i, n);
  }
}

/// Sorts on all threads of the host, stably: parts of the array, then pairs of sorted parts.
template <class T, class Less>
void sort_on_host(std::vector<T>& all, Less less) {
  const auto n = static_cast<std::int64_t>(all.size());
  std::int64_t parts = 1;
  while (parts < 16 && n / parts > 1 << 16) parts *= 2;
  const auto begin = [&](std::int64_t part) { return all.begin() + n * part / parts; };
  course::parallel_for(
      parts,
      [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t p = from; p < to; ++p) std::stable_sort(begin(p), begin(p + 1), less);
      },
      1);
  std::vector<T> merged(parts > 1 ? all.size() : 0);
  for (std::int64_t width = 1; width < parts; width *= 2) {
    course::parallel_for(
        parts / (2 * width),
        [&](std::int64_t from, std::int64_t to) {
          for (std::int64_t p = 2 * width * from; p < 2 * width * to; p += 2 * width) {
            std::merge(begin(p), begin(p + width), begin(p + width), begin(p + 2 * width),
                       merged.begin() + (begin(p) - all.begin()), less);
          }
        },
        1);
    all.swap(merged);
  }
}

}  // namespace radix_chapter

/// out = the n keys of in, in ascending order, or with `descending` the other way. A size with
/// "first" and "last" orders by these bits of unsigned keys alone; equal digits keep their order.
/// A size with "order" says how the keys lie.
template <class K>
class SortProblem : public course::Problem {
 public:
  using Order = radix_chapter::Order;
  SortProblem(course::Size size, std::uint64_t seed, course::Input input,
              Order order = Order::random, bool descending = false)
      : Problem(std::move(size), seed, input), order_(order), descending_(descending) {
    for (const auto& [name, value] : this->size().dimensions) {
      if (name == "order") order_ = static_cast<Order>(value);
      if (name == "first") first_ = static_cast<int>(value);
      if (name == "last") last_ = static_cast<int>(value);
    }
  }

  std::vector<course::Array> inputs() const override {
    course::Array in{"in", n(), radix_chapter::type_of<K>, seed()};
    in.values = [problem = *this](void* host) { problem.write_keys(static_cast<K*>(host)); };
    return {in};
  }
  std::vector<course::Array> outputs() const override {
    return {{"out", n(), radix_chapter::type_of<K>}};
  }
  double bytes_read() const override { return sizeof(K) * static_cast<double>(n()); }
  double bytes_written() const override { return bytes_read(); }
  Work work() const override { return {static_cast<double>(n()), 1e9, "Gkeys/s"}; }

  void expected(int, double* out) const override {
    std::vector<K> keys(static_cast<std::size_t>(n()));
    write_keys(keys.data());
    radix_chapter::sort_on_host(keys, [this](K a, K b) { return before(a, b); });
    std::copy(keys.begin(), keys.end(), out);
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }

 protected:
  K key(std::int64_t i) const {
    if (order_ != Order::random) return radix_chapter::key_in<K>(order_, seed(), i, n());
    if (input() == course::Input::random) {
      return radix_chapter::any_key<K>(course::mix(seed(), static_cast<std::uint64_t>(i)));
    }
    return course::value<K>(input(), seed(), i);
  }
  bool before(K a, K b) const {
    if constexpr (std::is_unsigned<K>::value && sizeof(K) == 4) {
      const std::uint64_t mask = (std::uint64_t{1} << (last_ - first_)) - 1;
      const std::uint64_t a_bits = std::uint64_t{a} >> first_, b_bits = std::uint64_t{b} >> first_;
      return descending_ ? (b_bits & mask) < (a_bits & mask) : (a_bits & mask) < (b_bits & mask);
    } else {
      return descending_ ? b < a : a < b;
    }
  }

  void write_keys(K* keys) const {
    course::parallel_for(n(), [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = from; i < to; ++i) keys[i] = key(i);
    });
  }

 private:
  Order order_;
  bool descending_;
  int first_ = 0, last_ = 32;
};

/// The same with a value for each key: the key's index at the start. So the values that are
/// expected tell a stable sort from another one.
template <class K, class V>
class PairsProblem : public SortProblem<K> {
 public:
  using SortProblem<K>::SortProblem;
  std::vector<course::Array> inputs() const override {
    std::vector<course::Array> arrays = SortProblem<K>::inputs();
    course::Array values{"values", this->n(), radix_chapter::type_of<V>, this->seed()};
    values.values = [n = this->n()](void* host) {
      course::parallel_for(n, [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t i = from; i < to; ++i) static_cast<V*>(host)[i] = static_cast<V>(i);
      });
    };
    arrays.push_back(values);
    return arrays;
  }
  std::vector<course::Array> outputs() const override {
    std::vector<course::Array> arrays = SortProblem<K>::outputs();
    arrays.push_back({"values_out", this->n(), radix_chapter::type_of<V>});
    return arrays;
  }
  double bytes_read() const override {
    return (sizeof(K) + sizeof(V)) * static_cast<double>(this->n());
  }
  void expected(int output, double* out) const override {
    if (output == 0) return SortProblem<K>::expected(0, out);
    using Pair = std::pair<K, std::uint32_t>;
    std::vector<Pair> pairs(static_cast<std::size_t>(this->n()));
    course::parallel_for(this->n(), [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = from; i < to; ++i) {
        pairs[static_cast<std::size_t>(i)] = {this->key(i), static_cast<std::uint32_t>(i)};
      }
    });
    radix_chapter::sort_on_host(
        pairs, [this](const Pair& a, const Pair& b) { return this->before(a.first, b.first); });
    for (const Pair& pair : pairs) *out++ = pair.second;
  }
};

/// Even keys, then odd keys, each half in ascending order.
class EvenFirstProblem : public SortProblem<unsigned> {
 public:
  using SortProblem::SortProblem;
  void expected(int, double* out) const override {
    std::vector<unsigned> keys(static_cast<std::size_t>(n()));
    write_keys(keys.data());
    radix_chapter::sort_on_host(
        keys, [](unsigned a, unsigned b) { return a % 2 != b % 2 ? a % 2 < b % 2 : a < b; });
    std::copy(keys.begin(), keys.end(), out);
  }
};
