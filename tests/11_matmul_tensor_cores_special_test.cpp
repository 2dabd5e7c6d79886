// Chapter 11: special cases of C = alpha A B^T + beta C on tensor cores: windows with NaN around
// them, memory that ends with the last element, operands that alpha = 0 and beta = 0 leave unread,
// values that are not finite, large products, two host threads, graphs. Values are integers where
// that matters: sums are exact in every order, and a result is rounded once. What launchers refuse:
// 11_matmul_tensor_cores_operands_test.cpp.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "banded.hpp"
#include "chapter/rows.hpp"
#include "chapter_test.hpp"
#include "device/buffer.hpp"
#include "device/cuda_check.hpp"
#include "matmul.hpp"

// The launchers themselves: a problem has only one alpha, one beta and one layout of matrices.
#define LAUNCHERS(names, ...)                                    \
  COURSE_LAUNCHERS(Multiply<__nv_bfloat16>, names, __VA_ARGS__); \
  COURSE_LAUNCHERS(Multiply<float>, names, __VA_ARGS__)
LAUNCHERS((multiply), wmma_tiles, mma_swizzle, single_buffer, ring, wide_tile, persistent,
          multicast, async_store, take_turns, full_rounds, full_turns, limit, cublas_lt);
LAUNCHERS((multiply_large, multiply_medium, multiply_small), limit);
LAUNCHERS((multiply_by_search), cublas_lt);

namespace tensor_test {

/// All launchers of the chapter's products, by the ids of their rows.
template <class T>
std::vector<std::pair<std::string, Multiply<T>*>> all_launchers() {
  return {{"01_wmma", wmma_tiles::multiply},        {"02_mma", mma_swizzle::multiply},
          {"03_wgmma", single_buffer::multiply},    {"04_ring", ring::multiply},
          {"05_wide_tile", wide_tile::multiply},    {"06_persistent", persistent::multiply},
          {"07_multicast", multicast::multiply},    {"08_async_store", async_store::multiply},
          {"09_take_turns", take_turns::multiply},  {"10_full_rounds", full_rounds::multiply},
          {"11_full_turns", full_turns::multiply},  {"80_limit", limit::multiply},
          {"large", limit::multiply_large},         {"medium", limit::multiply_medium},
          {"small", limit::multiply_small},         {"90_cublas", cublas_lt::multiply},
          {"search", cublas_lt::multiply_by_search}};
}

/// Those that were built and can run here: wgmma needs Hopper.
template <class T>
std::vector<std::pair<std::string, Multiply<T>*>> launchers_here(const course::Device& gpu) {
  const std::set<std::string> anywhere = {"01_wmma", "02_mma", "90_cublas", "search"};
  std::vector<std::pair<std::string, Multiply<T>*>> here;
  for (const auto& each : all_launchers<T>()) {
    const bool fits = anywhere.count(each.first) > 0 ? gpu.capability >= 80 : gpu.capability == 90;
    if (each.second != nullptr && fits) here.push_back(each);
  }
  EXPECT_FALSE(here.empty()) << "no version runs here";
  return here;
}
// For the other file of tests.
template std::vector<std::pair<std::string, Multiply<float>*>> launchers_here<float>(
    const course::Device&);
template std::vector<std::pair<std::string, Multiply<__nv_bfloat16>*>>
launchers_here<__nv_bfloat16>(const course::Device&);

}  // namespace tensor_test

namespace {

using course::Device;
using course_test::Banded;
using course_test::sanitized;
using course_test::slow;
using operands::Product;
using Values = std::vector<float>;

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN(),
                infinity = std::numeric_limits<float>::infinity();

/// For tests whose result cannot depend on the order of the threads: they run in one order.
#define IN_ONE_ORDER() \
  if (course_test::in_another_order()) GTEST_SKIP() << "in the first order of the threads only"

template <class T>
using Stored = typename Multiplied<T>::Host;
template <class T>
constexpr std::int64_t group = Multiplied<T>::group;  // elements in 16 bytes

/// Calls body(T()) for both types.
template <class Body>
void for_both_types(Body body) {
  {
    SCOPED_TRACE("bf16");
    body(__nv_bfloat16());
  }
  SCOPED_TRACE("tf32");
  body(float());
}

struct Form {
  std::string id;
  std::size_t number;  // its place in the list
  bool is_peer() const { return id == "90_cublas" || id == "search"; }
};

/// Calls body(form, launcher) for each launcher that runs here.
template <class T, class Body>
void for_each_form(const Device& gpu, Body body) {
  std::size_t number = 0;
  for (const auto& [id, launcher] : tensor_test::launchers_here<T>(gpu)) {
    SCOPED_TRACE(id);
    body(Form{id, number++}, launcher);
  }
}

/// Chooses the cases of a list for launcher `number`: all on a GPU; if checks are slow about
/// `count` from the whole list, different from those of the next launcher.
bool is_chosen(const Device& gpu, std::size_t at, std::size_t cases, std::size_t number,
               std::size_t count = 1) {
  const std::size_t step = std::max<std::size_t>(1, cases / count);
  return !slow(gpu) || at % step == number % step;
}

/// The arguments of a launcher: sizes, scalars, and the layout of the matrices, in units of 16
/// bytes.
struct Case {
  std::int64_t m, n, k;
  float alpha = 1, beta = 0;
  std::int64_t gap_a = 0, gap_b = 0, gap_c = 0;  // between rows, besides the padding to 16 bytes
  std::int64_t shift_a = 0, shift_b = 0, shift_c = 0;
};

std::string text(const Case& of) {
  std::ostringstream out;
  out << of.m << " x " << of.n << " x " << of.k << ", alpha " << of.alpha << ", beta " << of.beta
      << ", gaps " << of.gap_a << ' ' << of.gap_b << ' ' << of.gap_c << ", shifts " << of.shift_a
      << ' ' << of.shift_b << ' ' << of.shift_c;
  return out.str();
}

template <class T>
std::int64_t pitch_of(std::int64_t cols, std::int64_t gap) {
  return ((cols + group<T> - 1) / group<T> + gap) * group<T>;
}

/// A window of a larger matrix between bands of NaN. The gaps between its rows are NaN as well, or
/// in C a pattern whose elements may all differ. Element 0 lies `shift` times 16 bytes after an
/// aligned address.
template <class T>
class Matrix {
 public:
  enum Gaps { are_nan, are_pattern };
  Matrix(std::int64_t rows, std::int64_t cols, std::int64_t gap, std::int64_t shift,
         const Values& values, Gaps gaps = are_nan)
      : rows_(cols == 0 ? 0 : rows),
        cols_(cols),
        pitch_(pitch_of<T>(cols, gap)),
        shift_(shift * group<T>),
        held_(spread(values, gaps)),
        all_(held_) {}

  T* data() const { return static_cast<T*>(all_.data()) + shift_; }
  std::int64_t pitch() const { return pitch_; }
  bool untouched() const { return all_.untouched(); }
  void reset() { all_.reset(); }

  /// The elements of the window, after a check that everything around them is unchanged.
  Values values() const {
    const auto all = all_.template values<Stored<T>>();
    Values values;
    std::size_t next = 0;  // the first element not yet checked
    for (std::int64_t r = 0; r < rows_; ++r) {
      const auto row = static_cast<std::size_t>(shift_ + r * pitch_);
      const bool same =
          std::memcmp(all.data() + next, held_.data() + next, (row - next) * sizeof(T)) == 0;
      EXPECT_TRUE(same) << "written before row " << r;
      if (!same) break;
      next = row + static_cast<std::size_t>(cols_);
      values.insert(values.end(), &all[row], &all[row] + cols_);
    }
    return values;
  }

 private:
  std::vector<Stored<T>> spread(const Values& values, Gaps gaps) const {
    const std::int64_t extent = rows_ == 0 ? 0 : (rows_ - 1) * pitch_ + cols_;
    std::vector<Stored<T>> all(static_cast<std::size_t>(shift_ + extent));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::uint64_t bits = gaps == are_nan ? ~std::uint64_t{0} : course::mix(11, i);
      std::memcpy(&all[i], &bits, sizeof(T));
    }
    for (std::int64_t i = 0; i < rows_ * cols_; ++i) {
      all[static_cast<std::size_t>(shift_ + i / cols_ * pitch_ + i % cols_)] =
          Stored<T>(values[static_cast<std::size_t>(i)]);
    }
    return all;
  }
  std::int64_t rows_, cols_, pitch_, shift_;
  std::vector<Stored<T>> held_;
  Banded all_;
};

/// Integers from -7 to 7: sums of fewer than 2^18 products of them are exact in a float.
Values integers(std::int64_t count, std::uint64_t seed) {
  Values values(static_cast<std::size_t>(count));
  course::parallel_for(count, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      values[static_cast<std::size_t>(i)] = course::value<float>(course::Input::integers, seed, i);
  });
  return values;
}

/// The three matrices on the host, C as it is before; C is NaN if beta = 0, which must not read it.
struct Matrices {
  Values a, b, c;
  explicit Matrices(const Case& of, std::uint64_t seed = 1)
      : a(integers(of.m * of.k, seed)),
        b(integers(of.n * of.k, seed + 1)),
        c(of.beta == 0 ? Values(static_cast<std::size_t>(of.m * of.n), nan_value)
                       : integers(of.m * of.n, seed + 2)) {}
};

/// The expected C, rounded once to T.
template <class T>
Values reference(const Case& of, const Matrices& in) {
  Values want(static_cast<std::size_t>(of.m * of.n));
  const auto element = [&](std::int64_t i) {
    const float *const a = in.a.data() + i / of.n * of.k, *const b = in.b.data() + i % of.n * of.k;
    double sum = 0;
    if (of.alpha != 0 && of.k > 0) {
      for (std::int64_t j = 0; j < of.k; ++j)
        sum += static_cast<double>(a[j]) * static_cast<double>(b[j]);
      sum *= static_cast<double>(of.alpha);
    }
    if (of.beta != 0)
      sum += static_cast<double>(of.beta) * static_cast<double>(in.c[static_cast<std::size_t>(i)]);
    return static_cast<float>(Stored<T>(static_cast<float>(sum)));
  };
  course::parallel_for(
      of.m * of.n,
      [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) want[static_cast<std::size_t>(i)] = element(i);
      },
      1 << 13);
  return want;
}

/// Empty, or which element is the first with an error above `allowed`. An expected NaN must be a
/// NaN.
std::string difference(const Case& of, const Values& got, const Values& want, float allowed = 0) {
  if (got.size() != want.size()) return "sizes differ";
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]))) continue;
    if (std::abs(got[i] - want[i]) <= allowed) continue;
    const auto cols = static_cast<std::size_t>(of.n);
    return "row " + std::to_string(i / cols) + ", column " + std::to_string(i % cols) + " is " +
           std::to_string(got[i]) + " instead of " + std::to_string(want[i]);
  }
  return "";
}

/// The matrices of a case on the device.
template <class T>
struct Placed {
  Matrix<T> a, b, c;
  Product<T> product;
  Placed(const Case& of, const Matrices& in)
      : a(of.m, of.k, of.gap_a, of.shift_a, in.a),
        b(of.n, of.k, of.gap_b, of.shift_b, in.b),
        c(of.m, of.n, of.gap_c, of.shift_c, in.c, Matrix<T>::are_pattern),
        product{a.data(),  b.data(),  c.data(),  of.m,     of.n,   of.k,
                a.pitch(), b.pitch(), c.pitch(), of.alpha, of.beta} {}
};

/// The error that cuBLAS may make. It may round partial sums over k, and C, to bf16: a unit in the
/// 8th bit of the largest result.
template <class T>
float allowed_for(const Form& form, const Values& want) {
  if (!form.is_peer() || sizeof(T) != 2) return 0;
  float largest = 0;
  for (const float x : want) {
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  }
  return 0x1p-7f * largest;
}

/// Each launcher that wanted(form) names computes the right result and writes nothing else.
template <class T, class Wanted>
void expect_right(const Device& gpu, const Case& of, const Matrices& in, Wanted wanted) {
  SCOPED_TRACE(text(of));
  const Values want = reference<T>(of, in);
  Placed<T> placed(of, in);
  for_each_form<T>(gpu, [&](const Form& form, Multiply<T>* multiply) {
    if (!wanted(form)) return;
    placed.c.reset();
    ASSERT_EQ(multiply(placed.product, nullptr), cudaSuccess);
    EXPECT_EQ(difference(of, placed.c.values(), want, allowed_for<T>(form, want)), "");
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  });
  EXPECT_TRUE(placed.a.untouched() && placed.b.untouched()) << "A or B was written";
}

/// The ids of rows of a type's products that are built. A study with another kind of numbers
/// repeats rows under longer names.
template <class T>
std::set<std::string> built_rows() {
  std::set<std::string> built;
  for (const course::Study& study : course::chapter().studies) {
    if (study.name == "numbers") continue;
    for (const course::Version& version : study.versions) {
      if (version.launch && version.declared == course::type_text<Multiply<T>>())
        built.insert(version.id);
    }
  }
  return built;
}

/// The launchers called here are those of the chapter.
TEST(Special, NoVersionIsForgotten) {
  for_both_types([](auto zero) {
    using T = decltype(zero);
    std::set<std::string> called;
    for (const auto& [id, launcher] : tensor_test::all_launchers<T>()) {
      if (launcher != nullptr) called.insert(id);
    }
    EXPECT_EQ(called, built_rows<T>());
  });
}

/// Sizes on both sides of the edges of tiles, in windows that begin at any 16 bytes, with NaN
/// around A and B, and in C a pattern that must not change. A single product too many or too few is
/// detected.
TEST(Special, AnyWindow) {
  COURSE_NEEDS_GPU(gpu);
  IN_ONE_ORDER();
  const std::vector<std::int64_t> sides = {1,   7,   8,   16,  63,  64,  65, 127,
                                           128, 129, 191, 193, 255, 256, 257};
  const std::vector<std::int64_t> depths = {1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 129, 200};
  std::uint64_t next = 0;
  const auto below = [&](std::uint64_t most) { return course::mix(20261123, next++) % most; };
  const auto random_case = [&](std::int64_t most) {
    Case of{1, 1, 1};
    do {
      of.m = sides[below(sides.size())], of.n = sides[below(sides.size())];
      of.k = depths[below(depths.size())];
    } while (of.m * of.n * of.k > most);
    for (std::int64_t* const lies :
         {&of.gap_a, &of.gap_b, &of.gap_c, &of.shift_a, &of.shift_b, &of.shift_c})
      *lies = static_cast<std::int64_t>(below(4));
    of.alpha = std::vector<float>{1, 1, -0.5f, 3}[below(4)];
    of.beta = std::vector<float>{0, 0, 1, -0.5f, 3}[below(5)];
    return of;
  };
  for_both_types([&](auto zero) {
    using T = decltype(zero);
    const std::size_t forms = tensor_test::launchers_here<T>(*gpu).size();
    const std::size_t cases = slow(*gpu) ? forms : 250;
    for (std::size_t k = 0; k < cases; ++k) {
      const Case of = random_case(slow(*gpu) ? 400000 : 20000000);
      expect_right<T>(*gpu, of, Matrices(of, next), [&](const Form& form) {
        if (form.id == "search" && k % 16 != 0) return false;  // each shape needs a search
        return is_chosen(*gpu, k, cases, form.number);
      });
      if (!slow(*gpu) && testing::Test::HasFailure()) return;  // the first wrong case says most
    }
  });
}

/// Windows of more tiles than there are SMs: persistent blocks take a second and a third tile.
TEST(Special, WindowsOfManyTiles) {
  COURSE_NEEDS_GPU(gpu);
  IN_ONE_ORDER();
  std::vector<Case> cases = {{65, 200, 9, 3, -0.5f, 1, 0, 1, 0, 1, 1}};
  if (!slow(*gpu)) {
    cases = {{1537, 1410, 72, 1, 0, 1, 2, 3, 1, 0, 1}, {2049, 2047, 33, -0.5f, 3, 0, 1, 1},
             {130, 20001, 65, 3, 1, 1, 0, 1, 0, 3, 0}, {20001, 130, 65, 1, -0.5f, 0, 1, 2, 1},
             {4095, 4097, 1, 1, 0, 1, 1, 1},           {1000, 5000, 200, 3, 0, 2, 1, 1, 0, 0, 3},
             {257, 70001, 31, 1, 1, 1, 1, 1, 1, 1, 1}, {70001, 65, 64, -0.5f, 0, 1, 1, 1},
             {640, 640, 4101, 1, 0, 1, 1, 1, 0, 1, 0}};
  }
  for_both_types([&](auto zero) {
    using T = decltype(zero);
    const std::size_t few = 4;  // if checks are slow: the cases with several tiles there
    for (const Case& of : cases) {
      expect_right<T>(*gpu, of, Matrices(of), [&](const Form& form) {
        return !slow(*gpu) || (form.number >= 5 && form.number < 5 + few);
      });
    }
  });
}

/// A window in memory that ends with its last element, and whose gaps are unwritten: a tool that
/// checks accesses finds an access there, even if the kernel drops the value.
template <class T>
class Bare {
 public:
  Bare(std::int64_t rows, std::int64_t cols, std::int64_t gap, const Values& values)
      : pitch_(pitch_of<T>(cols, gap)),
        memory_(static_cast<std::size_t>((rows - 1) * pitch_ + cols) * sizeof(T)) {
    for (std::int64_t r = 0; r < rows && !values.empty(); ++r) {
      std::vector<Stored<T>> row;
      for (std::int64_t i = 0; i < cols; ++i)
        row.push_back(Stored<T>(values[static_cast<std::size_t>(r * cols + i)]));
      COURSE_CHECK(cudaMemcpy(data() + r * pitch_, row.data(), row.size() * sizeof(T),
                              cudaMemcpyHostToDevice));
    }
  }
  T* data() const { return static_cast<T*>(memory_.data()); }
  std::int64_t pitch() const { return pitch_; }

  Values values(std::int64_t rows, std::int64_t cols) const {
    Values all;
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto row = course_test::to_host<Stored<T>>(data() + r * pitch_, cols);
      all.insert(all.end(), row.begin(), row.end());
    }
    return all;
  }

 private:
  std::int64_t pitch_;
  course::Buffer memory_;
};

/// Between the rows and after the last one nothing is read; and matrices that alpha = 0 or beta = 0
/// leave unread are unwritten. The CPU backend and compute-sanitizer's memcheck and initcheck
/// detect a read.
TEST(Special, MemoryOfExactSize) {
  COURSE_NEEDS_GPU(gpu);
  IN_ONE_ORDER();
  std::vector<Case> cases = {
      {70, 9, 66, -0.5f, 0, 2}, {33, 65, 5, 2, 3, 1, 1, 1}, {9, 42, 19}, {6, 7, 9, 0, 2, 1, 0, 1},
      {3, 5, 7, 0, 0},          {1, 1, 1, 0, -0.5f}};
  if (!slow(*gpu)) {
    cases.insert(cases.end(), {{65, 17, 33, 1, 1, 0, 2, 0}, {1, 1, 1}, {257, 129, 201, 1, 3, 1}});
  }
  for_both_types([&](auto zero) {
    using T = decltype(zero);
    for (std::size_t k = 0; k < cases.size(); ++k) {
      const Case& of = cases[k];
      SCOPED_TRACE(text(of));
      Matrices in(of);
      const Values want = reference<T>(of, in), none;
      const Bare<T> a(of.m, of.k, of.gap_a, of.alpha == 0 ? none : in.a),
          b(of.n, of.k, of.gap_b, of.alpha == 0 ? none : in.b);
      for_each_form<T>(*gpu, [&](const Form& form, Multiply<T>* multiply) {
        if (form.is_peer() || !is_chosen(*gpu, k, cases.size(), form.number, 2)) return;
        const Bare<T> c(of.m, of.n, of.gap_c, of.beta == 0 ? none : in.c);
        const Product<T> product = {a.data(),  b.data(),  c.data(),  of.m,     of.n,   of.k,
                                    a.pitch(), b.pitch(), c.pitch(), of.alpha, of.beta};
        EXPECT_EQ(multiply(product, nullptr), cudaSuccess);
        ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
        EXPECT_EQ(difference(of, c.values(of.m, of.n), want), "");
#ifdef SIMT
        for (const auto& finding : simt::take_findings()) ADD_FAILURE() << finding.text;
#endif
      });
    }
  });
}

/// alpha = 0 reads neither A nor B, beta = 0 does not read C, with either sign of zero; without a
/// column alpha is not read either. Everything that must not be read is NaN or an infinity here.
TEST(Special, ScalarsOfZeroReadNothing) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  IN_ONE_ORDER();
  const Case shape = slow(*gpu) ? Case{20, 33, 21} : Case{130, 263, 75};
  std::vector<Case> cases;
  for (const float alpha : {0.0f, -0.0f, 1.0f, -0.5f, 3.0f, nan_value, infinity}) {
    for (const float beta : {0.0f, -0.0f, 1.0f, -0.5f, 3.0f}) {
      Case of = shape;
      of.alpha = alpha, of.beta = beta, of.gap_a = 1, of.gap_b = 2, of.gap_c = 1, of.shift_c = 1;
      if (!std::isfinite(alpha)) of.k = 0;
      cases.push_back(of);
    }
  }
  for (const auto& [alpha, beta] : {std::pair(nan_value, 2.0f), std::pair(nan_value, 0.0f),
                                    std::pair(1.0f, nan_value), std::pair(0.0f, nan_value)}) {
    cases.push_back(shape);
    cases.back().alpha = alpha, cases.back().beta = beta;
  }
  for_both_types([&](auto zero) {
    using T = decltype(zero);
    for (std::size_t k = 0; k < cases.size(); ++k) {
      const Case& of = cases[k];
      Matrices in(of);
      const float unread = k % 3 == 0 ? infinity : k % 3 == 1 ? -infinity : nan_value;
      if (of.alpha == 0) {
        in.a.assign(in.a.size(), unread);
        in.b.assign(in.b.size(), unread);
      }
      if (of.beta == 0) in.c.assign(in.c.size(), unread);
      expect_right<T>(*gpu, of, in, [&](const Form& form) {
        if (form.is_peer() && std::isnan(of.alpha + of.beta)) return false;
        if (form.is_peer() && of.beta == 0 && std::signbit(of.beta)) return false;  // it reads C
        return is_chosen(*gpu, k, cases.size(), form.number, 3);
      });
    }
  });
}

/// NaN or an infinity in one element of A reaches its row of C, in B its column, in C itself: as
/// infinity, or as NaN if it is multiplied by 0 or added to its opposite. At positions in full
/// tiles and in the tails of rows, columns and depth; all other sums stay exact.
TEST(Special, WhatIsNotFiniteStaysInItsRowAndColumn) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  IN_ONE_ORDER();
  struct Try {
    Case of;
    std::int64_t row, col, depth_a, depth_b;
  };
  std::vector<Try> tries;
  std::vector<Case> shapes = {{20, 33, 21, 1, 0, 1, 1, 1}, {67, 9, 8, 3, 1}, {8, 65, 35, -0.5f, 3}};
  if (!gpu->simulated) {
    shapes = {{130, 70, 19, 1, 0, 1, 1, 1},
              {68, 260, 11, 3, 1, 1},
              {33, 36, 8, -1, 2},
              {3, 5, 66, 1, 0, 2, 3, 7},
              {257, 385, 200, 1, -0.5f, 0, 1, 1},
              {700, 300, 65}};
  }
  for (const Case& of : shapes) {
    tries.push_back({of, of.m - 1, of.n - 1, of.k - 1, of.k - 1});
    tries.push_back({of, 0, 0, 0, of.k - 1});
    tries.push_back({of, of.m / 2, of.n - 2, of.k - 2, 2});
    tries.push_back({of, of.m - 2, of.n / 2, 2, of.k - 3});
    tries.push_back({of, of.m - 3, 3, 7, 7});
  }
  for_both_types([&](auto zero) {
    using T = decltype(zero);
    for (std::size_t k = 0; k < tries.size(); ++k) {
      const auto& [of, row, col, depth_a, depth_b] = tries[k];
      const float first = k % 3 == 0 ? infinity : k % 3 == 1 ? -infinity : nan_value;
      const float second = k % 2 == 0 ? infinity : nan_value;
      Matrices in(of);
      in.a[static_cast<std::size_t>(row * of.k + depth_a)] = first;
      in.b[static_cast<std::size_t>(col * of.k + depth_b)] = second;
      if (of.beta != 0) in.c[static_cast<std::size_t>(of.n + 1)] = first;
      const Values want = reference<T>(of, in);
      ASSERT_EQ(std::count_if(want.begin(), want.end(), [](float x) { return !std::isfinite(x); }),
                of.m + of.n - 1 + (of.beta != 0 && row != 1 && col != 1 ? 1 : 0));
      expect_right<T>(*gpu, of, in, [&](const Form& form) {
        return !form.is_peer() && is_chosen(*gpu, k, tries.size(), form.number);
      });
    }
  });
}

/// An element depends on its row of A, its row of B and its previous value, not on its place in C:
/// equal rows give rows, and columns, with the same bits; in every run.
TEST(Special, EqualRowsGiveEqualBits) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  IN_ONE_ORDER();
  std::vector<Case> cases = {{131, 40, 37, 0.7f, 0.3f}, {50, 70, 37, 0.7f}};
  if (!gpu->simulated) {
    cases = {{131, 72, 37, 0.7f, 0.3f}, {300, 520, 1001, 0.7f, 0.3f}, {1537, 1410, 333, 0.7f}};
  }
  constexpr std::int64_t rows_of_a = 5, rows_of_b = 3;  // the number of different rows
  const auto random = [](std::uint64_t seed, std::int64_t i) {
    return course::near_normal(course::mix(seed, static_cast<std::uint64_t>(i)));
  };
  for_both_types([&](auto zero) {
    using T = decltype(zero);
    for (std::size_t at = 0; at < cases.size(); ++at) {
      const Case& of = cases[at];
      SCOPED_TRACE(text(of));
      Matrices in(of);
      for (std::int64_t i = 0; i < of.m * of.k; ++i)
        in.a[static_cast<std::size_t>(i)] = random(1, i / of.k % rows_of_a * of.k + i % of.k);
      for (std::int64_t i = 0; i < of.n * of.k; ++i)
        in.b[static_cast<std::size_t>(i)] = random(2, i / of.k % rows_of_b * of.k + i % of.k);
      for (std::int64_t i = 0; i < of.m * of.n && of.beta != 0; ++i)
        in.c[static_cast<std::size_t>(i)] = random(3, i / of.n % rows_of_a * 7 + i % of.n % 3);
      Placed<T> placed(of, in);
      for_each_form<T>(*gpu, [&](const Form& form, Multiply<T>* multiply) {
        if (form.is_peer() || !is_chosen(*gpu, at, cases.size(), form.number)) return;
        Values first;
        for (int run = 0; run < (slow(*gpu) ? 1 : 3); ++run) {
          placed.c.reset();
          ASSERT_EQ(multiply(placed.product, nullptr), cudaSuccess);
          const Values got = placed.c.values();
          ASSERT_EQ(got.size(), static_cast<std::size_t>(of.m * of.n));
          if (run == 0) first = got;
          for (std::int64_t i = 0; i < of.m * of.n; ++i) {
            const std::int64_t twin = i / of.n % rows_of_a * of.n + i % of.n % rows_of_b;
            ASSERT_EQ(std::memcmp(&got[static_cast<std::size_t>(i)],
                                  &first[static_cast<std::size_t>(twin)], sizeof(float)),
                      0)
                << "row " << i / of.n << ", column " << i % of.n << ", run " << run;
          }
        }
      });
    }
  });
}

/// Random integers for a projection. A wrong row stays undetected with a chance below 2^-15.
std::vector<std::int64_t> random_vector(std::int64_t n, std::uint64_t seed) {
  std::vector<std::int64_t> x;
  for (std::int64_t i = 0; i < n; ++i) {
    x.push_back(static_cast<std::int64_t>(course::mix(seed, static_cast<std::uint64_t>(i)) >> 48) -
                32768);
  }
  return x;
}

/// M x, exact, for integers; *odd counts the values that are no integer, or above 2^24.
std::vector<std::int64_t> times(const Values& matrix, const std::vector<std::int64_t>& x,
                                std::int64_t rows, std::int64_t* odd) {
  const auto cols = static_cast<std::int64_t>(x.size());
  std::vector<std::int64_t> y(static_cast<std::size_t>(rows));
  std::atomic<std::int64_t> strange{0};
  course::parallel_for(
      rows,
      [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t r = first; r < last; ++r) {
          const float* const row = matrix.data() + r * cols;
          std::int64_t sum = 0, not_whole = 0;
          for (std::int64_t c = 0; c < cols; ++c) {
            const bool whole = std::fabs(row[c]) <= 0x1p24f && std::floor(row[c]) == row[c];
            not_whole += whole ? 0 : 1;
            sum += whole ? static_cast<std::int64_t>(row[c]) * x[static_cast<std::size_t>(c)] : 0;
          }
          y[static_cast<std::size_t>(r)] = sum;
          strange += not_whole;
        }
      },
      64);
  *odd += strange;
  return y;
}

/// 1 or -1, so each lost product changes the sum. Sums of an even number of products are even and
/// exact in a bf16 up to 512, others up to 256; that is 11 standard deviations here.
Values signs(std::int64_t count, std::uint64_t seed) {
  Values values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = (course::mix(seed, i) >> 63) == 0 ? 1.0f : -1.0f;
  return values;
}

/// Freivalds' check: C x is alpha A (B^T x) + beta C x, for a random x. All elements are used, in a
/// time that is negligible compared with the product's; integers, so there is no tolerance.
TEST(Special, ProjectionsOfLargeProducts) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  IN_ONE_ORDER();
  std::vector<Case> cases = {{70, 40, 20, 1, 0, 1, 1, 1}};
  if (!gpu->simulated) {
    cases = {{4096, 8192, 2048},
             {100003, 72, 520, 1, 0, 0, 1, 0},
             {4099, 4093, 1030, -1, 1, 1, 0, 1},
             {67, 100003, 509, -1, 0, 1},
             {1021, 7, 2050},
             {8192, 8192, 64, 1, 0}};
  }
  for_both_types([&](auto zero) {
    using T = decltype(zero);
    for (const Case& of : cases) {
      SCOPED_TRACE(text(of));
      Matrices in({0, 0, 0});
      in.a = signs(of.m * of.k, 1), in.b = signs(of.n * of.k, 2);
      in.c.assign(static_cast<std::size_t>(of.m * of.n), nan_value);
      if (of.beta != 0) {  // so that the results are even, like the sums
        in.c = signs(of.m * of.n, 3);
        for (float& x : in.c) x *= 2;
      }
      const std::vector<std::int64_t> x = random_vector(of.n, 77);
      std::vector<std::int64_t> through_b(static_cast<std::size_t>(of.k));
      for (std::int64_t i = 0; i < of.n * of.k; ++i) {
        through_b[static_cast<std::size_t>(i % of.k)] +=
            static_cast<std::int64_t>(in.b[static_cast<std::size_t>(i)]) *
            x[static_cast<std::size_t>(i / of.k)];
      }
      std::int64_t odd = 0;
      std::vector<std::int64_t> want = times(in.a, through_b, of.m, &odd);
      for (std::int64_t& sum : want) sum *= static_cast<std::int64_t>(of.alpha);
      if (of.beta != 0) {
        const auto before = times(in.c, x, of.m, &odd);
        for (std::size_t r = 0; r < want.size(); ++r)
          want[r] += static_cast<std::int64_t>(of.beta) * before[r];
      }
      ASSERT_EQ(odd, 0);
      Placed<T> placed(of, in);
      for_each_form<T>(*gpu, [&](const Form& form, Multiply<T>* multiply) {
        if (gpu->simulated && form.number > 1) return;
        placed.c.reset();
        ASSERT_EQ(multiply(placed.product, nullptr), cudaSuccess);
        std::int64_t strange = 0;
        const Values c = placed.c.values();
        ASSERT_EQ(c.size(), in.c.size());
        const auto got = times(c, x, of.m, &strange);
        EXPECT_EQ(strange, 0) << "elements that are no whole numbers";
        std::int64_t wrong = 0, first = -1;
        for (std::size_t r = 0; r < got.size(); ++r) {
          if (got[r] != want[r] && wrong++ == 0) first = static_cast<std::int64_t>(r);
        }
        EXPECT_EQ(wrong, 0) << "rows of C, first " << first;
      });
    }
  });
}

/// Two host threads call the same launcher at once, for the first time in this process, each with
/// its own matrices and stream. They share neither scratch memory nor the launcher's static state.
TEST(Special, TwoHostThreads) {
  COURSE_NEEDS_GPU(gpu);
  IN_ONE_ORDER();
  const Case cases[2] = {
      slow(*gpu) ? Case{9, 40, 17, 1, 0, 1, 0, 1} : Case{300, 400, 333, 1, 0, 1, 0, 1},
      slow(*gpu) ? Case{66, 8, 9, 3, 0, 0, 1, 0} : Case{129, 1030, 64, 3, 0, 0, 1, 0}};
  const int rounds = slow(*gpu) ? 1 : 20;
  for_both_types([&](auto zero) {
    using T = decltype(zero);
    const Matrices in[2] = {Matrices(cases[0], 1), Matrices(cases[1], 5)};
    const Values want[2] = {reference<T>(cases[0], in[0]), reference<T>(cases[1], in[1])};
    for_each_form<T>(*gpu, [&](const Form&, Multiply<T>* multiply) {
      Placed<T> placed[2] = {Placed<T>(cases[0], in[0]), Placed<T>(cases[1], in[1])};
      COURSE_CHECK(cudaDeviceSynchronize());
      std::atomic<int> ready{0};
      cudaError_t errors[2] = {cudaSuccess, cudaSuccess};
      const auto work = [&](int k) {
        const auto note = [&](cudaError_t error) {
          if (errors[k] == cudaSuccess) errors[k] = error;
        };
        cudaStream_t stream{};
        note(cudaSetDevice(gpu->index));
        note(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        ++ready;
        while (ready < 2) std::this_thread::yield();
        for (int round = 0; round < rounds; ++round) note(multiply(placed[k].product, stream));
        note(cudaStreamSynchronize(stream));
        note(cudaStreamDestroy(stream));
      };
      std::thread first(work, 0), second(work, 1);
      first.join(), second.join();
      for (int k = 0; k < 2; ++k) {
        SCOPED_TRACE(text(cases[k]));
        ASSERT_EQ(errors[k], cudaSuccess);
        EXPECT_EQ(difference(cases[k], placed[k].c.values(), want[k]), "");
      }
    });
  });
}

#ifndef SIMT  // the CPU backend has no graphs
/// A launch that was captured, the first one in this process, multiplies the contents that A and C
/// have when it is replayed.
TEST(Special, ReplayedWithOtherContents) {
  COURSE_NEEDS_GPU(gpu);
  const Case of{200, 300, 130, 3, -0.5f, 1, 0, 1};
  for_both_types([&](auto zero) {
    using T = decltype(zero);
    for_each_form<T>(*gpu, [&](const Form& form, Multiply<T>* multiply) {
      Matrices in(of);
      Placed<T> placed(of, in);
      // A library may set up something in its first call; the search is left out.
      if (form.id == "search") return;
      if (form.is_peer()) {
        ASSERT_EQ(multiply(placed.product, nullptr), cudaSuccess);
        COURSE_CHECK(cudaDeviceSynchronize());
      }
      cudaStream_t stream{};
      cudaGraph_t graph{};
      cudaGraphExec_t replay{};
      COURSE_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      COURSE_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
      EXPECT_EQ(multiply(placed.product, stream), cudaSuccess);
      ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess) << "what it did is not allowed";
      COURSE_CHECK(cudaGraphInstantiate(&replay, graph, 0));
      for (std::uint64_t round = 0; round < 3; ++round) {
        in.a = integers(of.m * of.k, 100 + round);
        const Matrix<T> other(of.m, of.k, of.gap_a, of.shift_a, in.a);
        const std::int64_t elements = (of.m - 1) * other.pitch() + of.k;
        COURSE_CHECK(cudaMemcpy(placed.a.data(), other.data(),
                                static_cast<std::size_t>(elements) * sizeof(T),
                                cudaMemcpyDeviceToDevice));
        placed.c.reset();
        COURSE_CHECK(cudaDeviceSynchronize());
        COURSE_CHECK(cudaGraphLaunch(replay, stream));
        COURSE_CHECK(cudaStreamSynchronize(stream));
        EXPECT_EQ(difference(of, placed.c.values(), reference<T>(of, in)), "")
            << "replay " << round;
      }
      COURSE_CHECK(cudaGraphExecDestroy(replay));
      COURSE_CHECK(cudaGraphDestroy(graph));
      COURSE_CHECK(cudaStreamDestroy(stream));
    });
  });
}

/// Copies a dense host matrix to a window on the device, or back.
template <class T>
void copy_window(T* window, std::int64_t pitch, std::vector<Stored<T>>* values, std::int64_t rows,
                 std::int64_t cols, bool to_device) {
  const std::size_t row = static_cast<std::size_t>(cols) * sizeof(T);
  const std::size_t step = static_cast<std::size_t>(pitch) * sizeof(T);
  COURSE_CHECK(to_device ? cudaMemcpy2D(window, step, values->data(), row, row,
                                        static_cast<std::size_t>(rows), cudaMemcpyHostToDevice)
                         : cudaMemcpy2D(values->data(), row, window, step, row,
                                        static_cast<std::size_t>(rows), cudaMemcpyDeviceToHost));
}

/// Rows so long that element 2^31 lies in row 127, of one matrix after the other: 130 rows. Without
/// the library, which need not support such distances.
TEST(Special, LeadingDimensionsOfMillions) {
  COURSE_NEEDS_GPU(gpu);
  if (sanitized()) GTEST_SKIP() << "too large for a sanitizer";
  if (course::free_device_bytes() < 10000000000) GTEST_SKIP() << "needs 10 GB of free memory";
  const Case of{130, 130, 130, 3, -0.5f};
  const Matrices in(of);
  for_both_types([&](auto zero) {
    using T = decltype(zero);
    const Values want = reference<T>(of, in);
    const std::int64_t pitch = 17000000, usual = 144, wide = 160;
    const auto bytes = [](std::int64_t p) { return static_cast<std::size_t>(130 * p) * sizeof(T); };
    for (int longest = 0; longest < 3; ++longest) {
      SCOPED_TRACE(std::string(1, "ABC"[longest]) + " has long rows");
      const std::int64_t lda = longest == 0 ? pitch : usual, ldb = longest == 1 ? pitch : usual,
                         ldc = longest == 2 ? pitch : usual + 32;
      course::Buffer memory_a(bytes(lda)), memory_b(bytes(ldb)), memory_c(bytes(ldc));
      memory_a.poison(), memory_b.poison(), memory_c.poison();
      T* const a = static_cast<T*>(memory_a.data());
      T* const b = static_cast<T*>(memory_b.data());
      T* const c = static_cast<T*>(memory_c.data()) + 16;
      std::vector<Stored<T>> dense_a, dense_b, dense_c;
      for (const float x : in.a) dense_a.push_back(Stored<T>(x));
      for (const float x : in.b) dense_b.push_back(Stored<T>(x));
      for (const float x : in.c) dense_c.push_back(Stored<T>(x));
      copy_window(a, lda, &dense_a, of.m, of.k, true);
      copy_window(b, ldb, &dense_b, of.n, of.k, true);
      for_each_form<T>(*gpu, [&](const Form& form, Multiply<T>* multiply) {
        if (form.is_peer()) return;
        copy_window(c, ldc, &dense_c, of.m, of.n, true);
        const Product<T> product = {a, b, c, of.m, of.n, of.k, lda, ldb, ldc, of.alpha, of.beta};
        ASSERT_EQ(multiply(product, nullptr), cudaSuccess);
        std::vector<Stored<T>> around(static_cast<std::size_t>(of.m * wide));
        copy_window(c - 16, ldc, &around, of.m, wide, false);
        Values got;
        std::int64_t written = 0;
        for (std::int64_t i = 0; i < of.m * wide; ++i) {
          const auto x = static_cast<float>(around[static_cast<std::size_t>(i)]);
          const bool inside = i % wide >= 16 && i % wide < 16 + of.n;
          if (inside) got.push_back(x);
          written += !inside && !std::isnan(x) ? 1 : 0;
        }
        EXPECT_EQ(difference(of, got, want), "");
        EXPECT_EQ(written, 0) << "elements beside C";
      });
    }
  });
}
#endif

}  // namespace
