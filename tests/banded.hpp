#pragma once
/// \file
/// Arrays for tests, with bands of NaN around them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "chapter_test.hpp"
#include "device/buffer.hpp"

namespace course_test {

/// Device memory between two bands of NaN that are longer than what a block reads at once. A kernel
/// that computes with a value of a band has NaN in its result.
class Banded {
 public:
  static constexpr std::size_t band = 1 << 16;  // bytes

  explicit Banded(std::size_t bytes) : buffer_(bytes + 2 * band), held_(bytes + 2 * band, 0xFF) {
    reset();
  }
  template <class T>
  explicit Banded(const std::vector<T>& values) : Banded(values.size() * sizeof(T)) {
    if (values.empty()) return;
    std::memcpy(&held_[band], values.data(), values.size() * sizeof(T));
    reset();
  }
  void reset() { copy_to(buffer_, held_); }
  void* data() const { return static_cast<unsigned char*>(buffer_.data()) + band; }
  std::size_t bytes() const { return held_.size() - 2 * band; }

  /// The elements between the bands, after a check that the bands are unchanged.
  template <class T>
  std::vector<T> values() const {
    const std::vector<unsigned char> now = all();
    EXPECT_TRUE(std::equal(now.begin(), now.begin() + band, held_.begin())) << "written before it";
    EXPECT_TRUE(std::equal(now.end() - band, now.end(), held_.end() - band)) << "written behind it";
    std::vector<T> values(bytes() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), &now[band], bytes());
    return values;
  }
  /// True if all is unchanged: the bands and the elements between them.
  bool untouched() const { return all() == held_; }

 private:
  std::vector<unsigned char> all() const {
    return to_host<unsigned char>(buffer_.data(), static_cast<std::int64_t>(held_.size()));
  }
  course::Buffer buffer_;
  std::vector<unsigned char> held_;
};

}  // namespace course_test
