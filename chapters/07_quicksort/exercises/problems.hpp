#pragma once
/// \file
/// The problems of the exercises that are no sorts of an array of integers.

#include <cmath>
#include <limits>

#include "quicksort.hpp"

/// Floats in the order of keys.cuh, without NaN: zeros and infinities of both signs, and the
/// smallest and the largest numbers, stand between others.
class SortFloats : public Sort<float> {
 public:
  using Sort<float>::Sort;
  std::vector<course::Array> inputs() const override {
    course::Array in{"in", n(), course::Type::f32, seed()};
    in.values = [problem = *this](void* host) {
      const std::vector<float> keys = problem.keys();
      std::copy(keys.begin(), keys.end(), static_cast<float*>(host));
    };
    return {in};
  }
  void expected(int, double* out) const override {
    std::vector<float> sorted = keys();
    std::sort(sorted.begin(), sorted.end(), [](float a, float b) {
      return a < b || (a == b && std::signbit(a) && !std::signbit(b));
    });
    std::copy(sorted.begin(), sorted.end(), out);
  }

 private:
  std::vector<float> keys() const {
    using Limits = std::numeric_limits<float>;
    const float special[] = {0.0f,          Limits::infinity(),   Limits::max(),
                             Limits::min(), Limits::denorm_min(), 1.0f};
    std::vector<float> keys(static_cast<std::size_t>(n()));
    write_keys(keys.data());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::uint64_t bits = course::mix(seed() + 1, i);
      if (bits % 4 == 0) keys[i] = (bits & 4) != 0 ? -special[bits / 8 % 6] : special[bits / 8 % 6];
    }
    return keys;
  }
};

/// Keys in descending order, or, as Input::random, at random.
class SortReversed : public Sort<unsigned> {
 public:
  SortReversed(const course::Size& size, std::uint64_t seed, course::Input input)
      : Sort(size, seed, input, input == course::Input::integers ? Order::reversed : Order::any) {}
};

/// out = the keys of in: first those below the pivot, `lefts` of them, then the others, or, with
/// three ways, those that equal it and then the `rights` larger ones; in any order among each
/// other. counts = {lefts, rights}. The size has the pivot: keys are from 0 to twice the pivot, or,
/// as Input::integers, all below it (a pivot of 0: all are 0).
template <int ways>
class Partition : public course::Problem {
 public:
  Partition(const course::Size& size, std::uint64_t seed, course::Input input)
      : Problem(size, seed, input), pivot_(static_cast<std::uint64_t>(size["pivot"])) {
    for (std::int64_t i = 0; i < n(); ++i) {
      lefts_ += key(i) < pivot_;
      rights_ += ways == 2 ? key(i) >= pivot_ : key(i) > pivot_;
    }
  }
  std::vector<course::Array> inputs() const override {
    course::Array in{"in", n(), course::Type::u32, seed()};
    in.values = [problem = *this](void* host) {
      auto* const keys = static_cast<unsigned*>(host);
      course::parallel_for(problem.n(), [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t i = from; i < to; ++i) keys[i] = problem.key(i);
      });
    };
    return {in};
  }
  std::vector<course::Array> outputs() const override {
    return {{"out", n(), course::Type::u32}, {"counts", 2, course::Type::u32}};
  }
  double bytes_read() const override { return 4.0 * static_cast<double>(n()); }
  double bytes_written() const override { return bytes_read() + 8; }
  Work work() const override { return {static_cast<double>(n()), 1e9, "Gkeys/s"}; }
  std::vector<std::int64_t> any_order(int output) const override {
    if (output == 1) return {};
    return {0, lefts_, n() - rights_};
  }
  void expected(int output, double* out) const override {
    if (output == 1) {
      out[0] = static_cast<double>(lefts_);
      out[1] = static_cast<double>(rights_);
      return;
    }
    std::vector<unsigned> keys(static_cast<std::size_t>(n()));
    for (std::int64_t i = 0; i < n(); ++i) keys[static_cast<std::size_t>(i)] = key(i);
    quicksort_chapter::sort_on_host(keys);  // the parts lie one after the other
    std::copy(keys.begin(), keys.end(), out);
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }

 private:
  unsigned key(std::int64_t i) const {
    const std::uint64_t bits = course::mix(seed(), static_cast<std::uint64_t>(i)) >> 16;
    if (pivot_ == 0) return 0;
    const bool all_below = input() == course::Input::integers;
    return static_cast<unsigned>(bits % (all_below ? pivot_ : 2 * pivot_ + 1));
  }
  std::uint64_t pivot_;
  std::int64_t lefts_ = 0, rights_ = 0;
};

/// out = the key that has `percent` percent of the others before it when they are sorted.
class Percentile : public Sort<unsigned> {
 public:
  using Sort<unsigned>::Sort;
  std::vector<course::Array> outputs() const override { return {{"out", 1, course::Type::u32}}; }
  double bytes_written() const override { return 4; }
  void expected(int, double* out) const override {
    out[0] = sorted()[static_cast<std::size_t>((n() - 1) * size()["percent"] / 100)];
  }
};
