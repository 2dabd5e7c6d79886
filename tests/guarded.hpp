#pragma once
/// \file
/// An array of results for tests, between guard bytes that no kernel may write.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "chapter_test.hpp"
#include "device/buffer.hpp"
#include "device/cuda_check.hpp"

namespace course_test {

/// n elements on the device between guard bytes that no kernel may write, `shift` elements past a
/// boundary of 256 bytes. Each byte of the elements is `fresh` at first: 0xFF is NaN or the largest
/// number; a test with such results chooses another value.
template <class T>
class Guarded {
 public:
  explicit Guarded(std::int64_t n, std::int64_t shift = 0, int fresh = 0xFF)
      : n_(n),
        first_(guard + shift),
        fresh_(fresh),
        buffer_(static_cast<std::size_t>(n + first_ + guard) * sizeof(T)) {
    reset();
  }
  /// Restores the first contents.
  void reset() {
    COURSE_CHECK(cudaMemset(buffer_.data(), 0xA5, buffer_.bytes()));
    if (n_ > 0) COURSE_CHECK(cudaMemset(data(), fresh_, static_cast<std::size_t>(n_) * sizeof(T)));
  }
  T* data() const { return static_cast<T*>(buffer_.data()) + first_; }
  /// The first `count` elements, after a check that the guards and all other elements are unchanged
  /// since reset().
  std::vector<T> values(std::int64_t count) const {
    T around, fresh;
    std::memset(&around, 0xA5, sizeof around);
    std::memset(&fresh, fresh_, sizeof fresh);
    expect_all(-first_, 0, around, count);
    expect_all(count, n_, fresh, count);
    expect_all(n_, n_ + guard, around, count);
    return to_host<T>(data(), count);
  }
  std::vector<T> values() const { return values(n_); }

 private:
  static constexpr std::int64_t guard = 256 / sizeof(T);

  /// Checks elements from to end - 1 against their first contents; `count` elements may differ.
  void expect_all(std::int64_t from, std::int64_t end, const T& want, std::int64_t count) const {
    const std::vector<T> there = to_host<T>(data() + from, end - from);
    for (std::int64_t k = from; k < end; ++k) {
      const T& got = there[static_cast<std::size_t>(k - from)];
      if (std::memcmp(&got, &want, sizeof want) == 0) continue;
      ADD_FAILURE() << "written outside of " << count << " elements, at " << k;
      return;
    }
  }

  std::int64_t n_, first_;
  int fresh_;
  course::Buffer buffer_;
};

}  // namespace course_test
