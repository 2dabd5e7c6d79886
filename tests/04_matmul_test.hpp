#pragma once
/// \file
/// What the files of chapter 04's tests share: all launchers, matrices with NaN around them, the
/// reference.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "banded.hpp"
#include "chapter/launchers.hpp"
#include "chapter_test.hpp"
#include "matmul.hpp"

// The launchers themselves: a problem has only one alpha, one beta, and separate matrices.
COURSE_LAUNCHERS(Multiply, (multiply), wrong_order, coalesced, shared_tile, column_per_thread,
                 square_per_thread, vector_loads, warp_tiles, double_buffered, wide_tiles,
                 cublas_gemm);
COURSE_LAUNCHERS(Multiply,
                 (multiply, multiply_large, multiply_medium, multiply_small, multiply_deep,
                  multiply_medium_split, multiply_small_split, multiply_deep_split),
                 limit);
COURSE_LAUNCHERS(Multiply, (multiply_two, multiply_four, multiply_eight), launch_bounds);

namespace matmul_test {

using course::Device;
using course::Input;
using course_test::Banded;
using course_test::sanitized;
using course_test::slow;
using Values = std::vector<float>;

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN(),
                infinity = std::numeric_limits<float>::infinity();

/// For tests whose result cannot depend on the order of the threads: they run in one order.
#define IN_ONE_ORDER() \
  if (course_test::in_another_order()) GTEST_SKIP() << "in the first order of the threads only"

struct Form {
  std::string id;
  Multiply* launcher;
  bool is_record() const { return id == "80_limit"; }
  bool is_peer() const { return id == "90_cublas"; }
};

/// All launchers of the chapter.
inline std::vector<Form> all_forms() {
  return {{"01_wrong_order", wrong_order::multiply},
          {"02_coalesced", coalesced::multiply},
          {"03_shared_tile", shared_tile::multiply},
          {"04_column_per_thread", column_per_thread::multiply},
          {"05_square_per_thread", square_per_thread::multiply},
          {"06_vectors", vector_loads::multiply},
          {"07_warp_tiles", warp_tiles::multiply},
          {"08_double_buffered", double_buffered::multiply},
          {"09_wide_tiles", wide_tiles::multiply},
          {"90_cublas", cublas_gemm::multiply},
          {"two", launch_bounds::multiply_two},
          {"four", launch_bounds::multiply_four},
          {"eight", launch_bounds::multiply_eight},
          {"80_limit", limit::multiply},
          {"large", limit::multiply_large},
          {"medium", limit::multiply_medium},
          {"small", limit::multiply_small},
          {"deep", limit::multiply_deep},
          {"medium_split", limit::multiply_medium_split},
          {"small_split", limit::multiply_small_split},
          {"deep_split", limit::multiply_deep_split}};
}

/// Calls body(form) for each launcher that was built and can run here.
template <class Body>
void for_each_form(const Device& gpu, Body body) {
  int ran = 0;
  for (const Form& form : all_forms()) {
    const bool clusters = form.id == "80_limit" || form.id.find('_') != 2;
    if (form.launcher == nullptr || (clusters && gpu.capability < 90)) continue;
    SCOPED_TRACE(form.id);
    body(form);
    ++ran;
  }
  EXPECT_GT(ran, 0) << "no version runs here";
}

/// A window of a larger matrix whose other elements are all NaN, between bands of NaN. Element 0
/// lies `shift` floats after an aligned address.
class Matrix {
 public:
  Matrix(std::int64_t rows, std::int64_t cols, std::int64_t gap, std::int64_t shift,
         const Values& values)
      : rows_(rows), cols_(cols), pitch_(cols + gap), shift_(shift), all_(spread(values)) {}

  float* data() const { return static_cast<float*>(all_.data()) + shift_; }
  std::int64_t pitch() const { return pitch_; }
  bool untouched() const { return all_.untouched(); }
  void reset() { all_.reset(); }

  /// The elements of the window, after a check that everything around them is unchanged.
  Values values() const {
    const Values all = all_.values<float>();
    Values values;
    std::size_t next = 0;  // the first element not yet checked
    const auto skip_to = [&](std::size_t end) {
      for (; next < end; ++next) {
        if (std::memcmp(&all[next], "\xFF\xFF\xFF\xFF", 4) != 0) {
          ADD_FAILURE() << "written between the rows, at " << next << ": " << all[next];
          next = end - 1;
        }
      }
    };
    for (std::int64_t r = 0; r < rows_ && cols_ > 0; ++r) {
      const auto row = static_cast<std::size_t>(shift_ + r * pitch_);
      skip_to(row);
      next = row + static_cast<std::size_t>(cols_);
      values.insert(values.end(), &all[row], &all[row] + cols_);
    }
    return values;
  }

 private:
  Values spread(const Values& values) const {
    const bool empty = rows_ == 0 || cols_ == 0;
    Values all(static_cast<std::size_t>(shift_ + (empty ? 0 : (rows_ - 1) * pitch_ + cols_)));
    std::memset(all.data(), 0xFF, all.size() * sizeof(float));
    for (std::int64_t r = 0; r < rows_ && !empty; ++r) {
      std::copy_n(&values[static_cast<std::size_t>(r * cols_)], cols_,
                  &all[0] + shift_ + r * pitch_);
    }
    return all;
  }
  std::int64_t rows_, cols_, pitch_, shift_;
  Banded all_;
};

/// The arguments of a launcher: sizes, scalars, and the layout of the matrices.
struct Case {
  std::int64_t m, n, k;
  float alpha = 1, beta = 0;
  std::int64_t gap_a = 0, gap_b = 0, gap_c = 0;  // leading dimension minus length of a row
  std::int64_t shift_a = 0, shift_b = 0, shift_c = 0;
};

inline std::string text(const Case& of) {
  std::ostringstream out;
  out << of.m << " x " << of.n << " x " << of.k << ", alpha " << of.alpha << ", beta " << of.beta
      << ", gaps " << of.gap_a << ' ' << of.gap_b << ' ' << of.gap_c << ", shifts " << of.shift_a
      << ' ' << of.shift_b << ' ' << of.shift_c;
  return out.str();
}

/// Integers from -7 to 7: sums of fewer than 2^18 products of them are exact.
inline Values integers(std::int64_t count, std::uint64_t seed) {
  Values values(static_cast<std::size_t>(count));
  course::parallel_for(count, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      values[static_cast<std::size_t>(i)] = course::value<float>(Input::integers, seed, i);
  });
  return values;
}

/// The three matrices on the host, C as it is before; C is NaN if beta = 0, which must not read it.
struct Matrices {
  Values a, b, c;
  explicit Matrices(const Case& of, std::uint64_t seed = 1)
      : a(integers(of.m * of.k, seed)),
        b(integers(of.k * of.n, seed + 1)),
        c(of.beta == 0 ? Values(static_cast<std::size_t>(of.m * of.n), nan_value)
                       : integers(of.m * of.n, seed + 2)) {}
};

/// The expected C. A product with alpha = 0 is not computed, nor is a C that beta = 0 multiplies.
inline Values reference(const Case& of, const Matrices& in) {
  Values want;
  for (std::int64_t r = 0; r < of.m; ++r) {
    for (std::int64_t c = 0; c < of.n; ++c) {
      double sum = 0;
      for (std::int64_t i = 0; i < of.k; ++i) {
        sum += static_cast<double>(in.a[static_cast<std::size_t>(r * of.k + i)]) *
               static_cast<double>(in.b[static_cast<std::size_t>(i * of.n + c)]);
      }
      const double before = static_cast<double>(in.c[want.size()]);
      double element = of.alpha == 0 || of.k == 0 ? 0 : static_cast<double>(of.alpha) * sum;
      if (of.beta != 0) element += static_cast<double>(of.beta) * before;
      want.push_back(static_cast<float>(element));
    }
  }
  return want;
}

/// Empty, or which element is the first wrong one. An expected NaN must be a NaN.
inline std::string difference(const Case& of, const Values& got, const Values& want) {
  if (got.size() != want.size()) return "sizes differ";
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]))) continue;
    const auto cols = static_cast<std::size_t>(of.n);
    return "row " + std::to_string(i / cols) + ", column " + std::to_string(i % cols) + " is " +
           std::to_string(got[i]) + " instead of " + std::to_string(want[i]);
  }
  return "";
}

/// The matrices of a case on the device.
struct Placed {
  Matrix a, b, c;
  Placed(const Case& of, const Matrices& in)
      : a(of.m, of.k, of.gap_a, of.shift_a, in.a),
        b(of.k, of.n, of.gap_b, of.shift_b, in.b),
        c(of.m, of.n, of.gap_c, of.shift_c, in.c) {}
  cudaError_t launch(const Form& form, const Case& of) const {
    return form.launcher(a.data(), b.data(), c.data(), of.m, of.n, of.k, a.pitch(), b.pitch(),
                         c.pitch(), of.alpha, of.beta, nullptr);
  }
};

inline bool all_of(const Form&) { return true; }
inline bool but_the_peer(const Form& form) { return !form.is_peer(); }

/// Each launcher that `wanted` names computes the right result and writes nothing else.
inline void expect_right(const Device& gpu, const Case& of, const Matrices& in,
                         bool (*wanted)(const Form&) = all_of) {
  SCOPED_TRACE(text(of));
  const Values want = reference(of, in);
  Placed placed(of, in);
  for_each_form(gpu, [&](const Form& form) {
    if (!wanted(form)) return;
    placed.c.reset();
    ASSERT_EQ(placed.launch(form, of), cudaSuccess);
    EXPECT_EQ(difference(of, placed.c.values(), want), "");
  });
  EXPECT_TRUE(placed.a.untouched() && placed.b.untouched()) << "A or B was written";
}
inline void expect_right(const Device& gpu, const Case& of, bool (*wanted)(const Form&) = all_of) {
  expect_right(gpu, of, Matrices(of), wanted);
}

}  // namespace matmul_test
