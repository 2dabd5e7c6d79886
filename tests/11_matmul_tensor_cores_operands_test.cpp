// Chapter 11: what launchers refuse, what they accept although there is nothing to compute, and
// which matrices may overlap: nothing between C's first and last element lies between A's or B's.
#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "banded.hpp"
#include "chapter_test.hpp"
#include "device/cuda_check.hpp"
#include "matmul.hpp"

namespace tensor_test {

/// Launchers that were built and can run here, of 11_matmul_tensor_cores_special_test.cpp.
template <class T>
std::vector<std::pair<std::string, Multiply<T>*>> launchers_here(const course::Device& gpu);

}  // namespace tensor_test

namespace {

using course::Device;
using course_test::Banded;
using operands::Product;

/// For tests whose result cannot depend on the order of the threads: they run in one order.
#define IN_ONE_ORDER() \
  if (course_test::in_another_order()) GTEST_SKIP() << "in the first order of the threads only"

template <class T>
using Stored = typename Multiplied<T>::Host;
template <class T>
constexpr std::int64_t group = Multiplied<T>::group;  // elements in 16 bytes

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

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

/// Calls body(launcher, number) for each launcher that runs here.
template <class T, class Body>
void for_each_launcher(const Device& gpu, Body body) {
  std::size_t number = 0;
  for (const auto& [id, launcher] : tensor_test::launchers_here<T>(gpu)) {
    SCOPED_TRACE(id);
    body(launcher, number++);
  }
}

/// An integer from -7 to 7.
float integer(std::uint64_t seed, std::int64_t i) {
  return course::value<float>(course::Input::integers, seed, i);
}

template <class T>
T* moved(T* p, std::int64_t bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(p) +
                              static_cast<std::uintptr_t>(bytes));
}

template <class T>
std::string text(const Product<T>& of) {
  std::string all;
  for (const std::int64_t x : {of.m, of.n, of.k, of.lda, of.ldb, of.ldc})
    all += std::to_string(x) + ' ';
  return all + "(m, n, k, lda, ldb, ldc)";
}

/// Three matrices of integers, 20 x 28, 24 x 28 and 20 x 24, rows 32 elements apart.
template <class T>
struct Three {
  Banded a = numbers(20 * 32, 1), b = numbers(24 * 32, 2), c = numbers(20 * 32, 3);
  Product<T> product{static_cast<T*>(a.data()),
                     static_cast<T*>(b.data()),
                     static_cast<T*>(c.data()),
                     20,
                     24,
                     28,
                     32,
                     32,
                     32,
                     1,
                     1};
  bool untouched() const { return a.untouched() && b.untouched() && c.untouched(); }
  static Banded numbers(std::int64_t count, std::uint64_t seed) {
    std::vector<Stored<T>> all;
    for (std::int64_t i = 0; i < count; ++i) all.push_back(Stored<T>(integer(seed, i)));
    return Banded(all);
  }
};

/// Refused arguments, each with one mistake or a few.
template <class T>
std::vector<std::pair<std::string, Product<T>>> mistakes(const Product<T>& right) {
  std::vector<std::pair<std::string, Product<T>>> all;
  const std::int64_t most = operands::most, bit = 1;
  std::int64_t Product<T>::*const sizes[] = {&Product<T>::m,   &Product<T>::n,   &Product<T>::k,
                                             &Product<T>::lda, &Product<T>::ldb, &Product<T>::ldc};
  const auto with = [&](std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t lda,
                        std::int64_t ldb, std::int64_t ldc) {
    Product<T> wrong = right;
    wrong.m = m, wrong.n = n, wrong.k = k, wrong.lda = lda, wrong.ldb = ldb, wrong.ldc = ldc;
    all.emplace_back("sizes", wrong);
  };
  for (const auto size : sizes) {
    for (const std::int64_t bad :
         {std::int64_t{-1}, -(right.*size), std::int64_t{INT64_MIN}, std::int64_t{INT64_MIN} + 32,
          bit << 31, bit << 32, bit << 62, most + 1, right.*size + (bit << 32),
          std::int64_t{INT64_MAX}, std::int64_t{INT64_MAX} - 15}) {
      all.emplace_back("a size", right);
      all.back().second.*size = bad;
    }
  }
  for (std::int64_t off = 1; off < 2 * group<T>; ++off) {
    if (off == group<T>) continue;
    with(20, 24, 28, 32 + off, 32, 32);
    with(20, 24, 28, 32, 32 + off, 32);
    with(20, 24, 28, 32, 32, 32 + off);
  }
  for (const std::int64_t less : {0, 8, 16}) {  // a multiple of 16 bytes, shorter than a row
    with(20, 24, 28, less, 32, 32);
    with(20, 24, 28, 32, less, 32);
    with(20, 24, 28, 32, 32, less);
  }
  with(20, 24, 28, 24, 32, 32);
  with(0, 24, 28, 24, 32, 32);      // refused even if there is nothing to compute
  with(20, 0, 28, 32, 32 + 1, 32);  // refused even without B and C
  with(20, 24, 0, 0, 0, 16);        // refused even if only C is read
  with(20, 24, 0, 2, 0, 32);
  with(-20, -24, 28, 32, 32, 32);  // their product is positive
  with(most + 1, 0, 0, 0, 0, 0);
  with(0, 0, most, most + 1, most + 1, 0);
  for (const std::int64_t off : {1, 2, 4, 6, 8, 12, 14}) {
    for (int which = 0; which < 3; ++which) {
      Product<T> wrong = right;
      if (which == 0) wrong.a = moved(wrong.a, off);
      if (which == 1) wrong.b = moved(wrong.b, off);
      if (which == 2) wrong.c = moved(wrong.c, off);
      all.emplace_back(std::string(1, "ABC"[which]) + " " + std::to_string(off) + " bytes later",
                       wrong);
    }
  }
  return all;
}

/// Each is refused alone: nothing is written, and no error remains.
TEST(Special, RefusesBadArguments) {
  COURSE_NEEDS_GPU(gpu);
  IN_ONE_ORDER();
  for_both_types([&](auto zero) {
    using T = decltype(zero);
    const Three<T> three;
    ASSERT_TRUE(operands::valid(three.product));
    const auto wrong = mistakes(three.product);
    for (const auto& [what, product] : wrong)
      EXPECT_FALSE(operands::valid(product)) << what << ", " << text(product);
    for_each_launcher<T>(*gpu, [&](Multiply<T>* multiply, std::size_t) {
      for (const auto& [what, product] : wrong) {
        EXPECT_EQ(multiply(product, nullptr), cudaErrorInvalidValue)
            << what << ", " << text(product);
      }
      EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      EXPECT_TRUE(three.untouched());
      EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    });
  });
}

/// Each size 0 alone, without the matrices that have no element; leading dimensions may be 0 if
/// rows are empty. The largest sizes as well, if there is nothing to compute. k = 0 gives beta C.
TEST(Special, NothingToMultiply) {
  COURSE_NEEDS_GPU(gpu);
  IN_ONE_ORDER();
  for_both_types([&](auto zero) {
    using T = decltype(zero);
    const std::int64_t most = operands::most, pitch = most / group<T> * group<T>;
    using Six = std::vector<std::int64_t>;
    const std::vector<Six> sizes = {{0, 24, 28, 32, 32, 32},
                                    {20, 0, 28, 32, 32, 32},
                                    {20, 0, 28, 32, 32, 0},
                                    {0, 0, 28, 32, 32, 0},
                                    {0, 0, 0, 0, 0, 0},
                                    {0, 24, 0, 0, 0, 32},
                                    {20, 0, 0, 0, 0, 0},
                                    {most, 0, 0, 0, 0, 0},
                                    {0, pitch, 0, 0, 0, pitch},
                                    {most, 0, 28, 32, 32, 32},
                                    {0, 0, pitch, pitch, pitch, 0}};
    Three<T> three;
    for_each_launcher<T>(*gpu, [&](Multiply<T>* multiply, std::size_t) {
      for (const Six& s : sizes) {
        const auto filled = [&](T* p, std::int64_t rows, std::int64_t cols) {
          return rows * cols == 0 ? nullptr : p;
        };
        for (const float beta : {0.0f, 1.0f, nan_value}) {
          Product<T> of = three.product;
          of.m = s[0], of.n = s[1], of.k = s[2], of.lda = s[3], of.ldb = s[4], of.ldc = s[5];
          of.a = filled(const_cast<T*>(of.a), of.m, of.k);
          of.b = filled(const_cast<T*>(of.b), of.n, of.k);
          of.c = nullptr;
          of.beta = beta;
          EXPECT_EQ(multiply(of, nullptr), cudaSuccess) << text(of);
        }
      }
      EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      EXPECT_TRUE(three.untouched());
      EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    });
  });
}

TEST(Special, NoColumnsGiveBetaTimesC) {
  COURSE_NEEDS_GPU(gpu);
  IN_ONE_ORDER();
  for_both_types([&](auto zero) {
    using T = decltype(zero);
    Three<T> three;
    const auto before = three.c.template values<Stored<T>>();
    for_each_launcher<T>(*gpu, [&](Multiply<T>* multiply, std::size_t number) {
      const std::vector<float> betas = {0, 1, -0.5f, 3};
      for (std::size_t k = 0; k < betas.size(); ++k) {
        if (course_test::slow(*gpu) && k != number % betas.size()) continue;
        for (const std::int64_t pitch : {0, 32}) {  // of A and B
          three.c.reset();
          const Product<T> of = {nullptr, nullptr, three.product.c, 20,      24, 0, pitch,
                                 pitch,   32,      nan_value,       betas[k]};
          ASSERT_EQ(multiply(of, nullptr), cudaSuccess) << text(of);
          const auto got = three.c.template values<Stored<T>>();
          for (std::size_t i = 0; i < got.size(); ++i) {
            const auto was = static_cast<float>(before[i]);
            ASSERT_EQ(static_cast<float>(got[i]), i % 32 < 24 ? betas[k] * was : was)
                << "element " << i << ", beta " << betas[k];
          }
        }
      }
    });
  });
}

/// needed() leaves out the columns that have no effect, and no others.
TEST(Special, WhatIsNeeded) {
  Product<float> of{nullptr, nullptr, nullptr, 3, 5, 7, 8, 12, 16, 2, 3};
  const auto sizes = [](const Product<float>& p) {
    return std::vector<std::int64_t>{p.m, p.n, p.k, p.lda, p.ldb, p.ldc};
  };
  EXPECT_EQ(sizes(operands::needed(of)), sizes(of));
  EXPECT_EQ(operands::needed(of).alpha, 2);
  EXPECT_EQ(operands::needed(of).beta, 3);
  of.alpha = nan_value;
  EXPECT_TRUE(std::isnan(operands::needed(of).alpha));
  EXPECT_EQ(operands::needed(of).k, 7);
  for (const float alpha : {0.0f, -0.0f}) {
    of.alpha = alpha;
    EXPECT_EQ(operands::needed(of).k, 0);
    EXPECT_EQ(operands::needed(of).alpha, 0);
  }
  of.k = 0;
  for (const float alpha : {1.0f, nan_value, std::numeric_limits<float>::infinity()}) {
    of.alpha = alpha;
    EXPECT_EQ(operands::needed(of).k, 0);
    EXPECT_EQ(operands::needed(of).alpha, 0);
    EXPECT_EQ(operands::needed(of).beta, 3);
  }
}

/// A window of a matrix that all three share: its first element, its size, its leading dimension.
struct Window {
  std::int64_t first, rows, cols, pitch;

  bool empty() const { return rows == 0 || cols == 0; }
  bool has(std::int64_t at) const {  // this element
    const std::int64_t from = at - first;
    return !empty() && from >= 0 && from / pitch < rows && from % pitch < cols;
  }
  bool spans(std::int64_t at) const {  // the span from its first to its last element
    return !empty() && at >= first && at <= first + (rows - 1) * pitch + cols - 1;
  }
};

/// valid() compared with a check of each element, for all small windows at all distances: it
/// refuses C only if an element in C's span lies in that of A or B. So it refuses each C that
/// shares an element.
TEST(Special, OverlapOfAllSmallWindows) {
  for_both_types([](auto zero) {
    using T = decltype(zero);
    constexpr std::int64_t g = group<T>, middle = 10;
    alignas(16) static Stored<T> memory[32 * g];
    T* const base = reinterpret_cast<T*>(memory);
    const auto place = [&](std::int64_t first) { return moved(base, first * 16 / g); };
    int refused = 0, in_gaps = 0;
    const std::int64_t lengths[] = {0, 1, g - 1, g, g + 1};
    for (int code = 0; code < 4 * 5 * 5 * 2 * 2 * 2; ++code) {
      int rest = code;
      const auto digit = [&](int below) {
        const int value = rest % below;
        rest /= below;
        return value;
      };
      const bool is_b = digit(2) == 1;  // which of the two is near C
      const std::int64_t m = digit(4), n = lengths[digit(5)], k = lengths[digit(5)];
      const std::int64_t c_pitch = (n + g - 1) / g * g + 2 * g * digit(2);
      const std::int64_t pitch = (k + g - 1) / g * g + 2 * g * digit(2);
      const Window c{middle * g, m, n, c_pitch};
      for (std::int64_t at = 0; at <= 2 * middle; ++at) {
        const Window near{at * g, is_b ? n : m, k, pitch};
        const Window far{1000 * g, is_b ? m : n, k, pitch};
        Product<T> of{place(near.first),
                      place(far.first),
                      place(c.first),
                      m,
                      n,
                      k,
                      pitch,
                      pitch,
                      c_pitch,
                      1,
                      1};
        if (is_b) std::swap(of.a, of.b);
        bool spans = false, shares = false;
        for (std::int64_t i = 0; i < 32 * g; ++i) {
          spans = spans || (c.spans(i) && near.spans(i));
          shares = shares || (c.has(i) && near.has(i));
        }
        const bool said = !operands::valid(of);
        ASSERT_EQ(said, spans) << text(of) << (is_b ? ", B" : ", A") << " at " << at
                               << " times 16 bytes, C at " << middle;
        ASSERT_TRUE(said || !shares);
        refused += said ? 1 : 0;
        in_gaps += said && !shares ? 1 : 0;
      }
    }
    EXPECT_GT(refused, 1000);
    EXPECT_GT(in_gaps, 100) << "windows that lie in each other's gaps";
  });
}

/// A and B may share elements, or be the same; extents of 2^64 bytes are handled.
TEST(Special, OverlapOfTheLargest) {
  alignas(16) static float memory[64];
  const std::int64_t most = operands::most, pitch = most / 4 * 4;
  EXPECT_TRUE(operands::valid(Product<float>{memory, memory, memory + 32, 2, 2, 2, 8, 8, 8, 1, 0}));
  EXPECT_TRUE(
      operands::valid(Product<float>{memory, memory + 4, memory + 32, 2, 2, 2, 8, 8, 8, 1, 0}));
  // C comes after the first element of an A of 2^62 elements, and A after that of such a C.
  EXPECT_FALSE(operands::valid(
      Product<float>{memory, memory, memory + 32, most, 1, pitch, pitch, pitch, 4, 1, 0}));
  EXPECT_FALSE(operands::valid(
      Product<float>{memory + 32, memory + 32, memory, most, pitch, 4, 4, 4, pitch, 1, 0}));
}

/// A, B and C in one matrix, 9 x 9 each. If C's span overlaps one of theirs it is refused, and
/// nothing is written; spans one after the other do not overlap; and A may be B.
TEST(Special, OperandsOfOneMatrix) {
  COURSE_NEEDS_GPU(gpu);
  IN_ONE_ORDER();
  struct Spot {
    std::int64_t first, pitch;  // in times 16 bytes
  };
  struct Try {
    const char* what;
    Spot a, b, c;
    bool refused;
  };
  for_both_types([&](auto zero) {
    using T = decltype(zero);
    constexpr std::int64_t g = group<T>, side = 9, row = (side + g - 1) / g;  // 16 bytes a row
    const std::int64_t p = 4 * row, end = 8 * p + row, far = 3 * end;
    const Try tries[] = {
        {"below each other", {0, p}, {end, p}, {2 * end, p}, false},
        {"C first", {end, p}, {2 * end, p}, {0, p}, false},
        {"C in the middle", {0, p}, {2 * end, p}, {end, p}, false},
        {"all dense", {0, row}, {9 * row, row}, {18 * row, row}, false},
        {"A is B", {0, p}, {0, p}, {end, p}, false},
        {"A is in B's gaps", {row, p}, {0, p}, {end + row, p}, false},
        {"C is A", {0, p}, {end, p}, {0, p}, true},
        {"C is B", {0, p}, {end, p}, {end, p}, true},
        {"C is all", {0, p}, {0, p}, {0, p}, true},
        {"in A's gaps", {0, p}, {end, p}, {row, p}, true},
        {"in B's gaps", {end + row, p}, {0, p}, {row, p}, true},
        {"the last row of A", {0, p}, {far, p}, {8 * p, p}, true},
        {"the last row of B", {far, p}, {0, p}, {8 * p, p}, true},
        {"the end of A's last row", {0, p}, {far, p}, {8 * p + row - 1, p}, true},
        {"C's end", {8 * p + row - 1, p}, {far, p}, {0, p}, true},
        {"C's end in B", {far, p}, {8 * p + row - 1, p}, {0, p}, true},
        {"another leading dimension", {0, p}, {far, p}, {p, p + 1}, true},
    };
    const auto elements = static_cast<std::size_t>(4 * end * g);
    std::size_t accepted = 0;
    for (const Try& each : tries) {
      SCOPED_TRACE(each.what);
      const auto at = [](Spot spot, std::int64_t i) {
        return static_cast<std::size_t>(spot.first * g + i / side * spot.pitch * g + i % side);
      };
      std::vector<Stored<T>> all(elements);
      for (std::size_t i = 0; i < elements; ++i) {
        const std::uint64_t bits = course::mix(12, i);
        std::memcpy(&all[i], &bits, sizeof(T));
      }
      const Spot spots[] = {each.c, each.a, each.b};
      for (std::uint64_t k = 0; k < 3; ++k) {
        for (std::int64_t i = 0; i < side * side; ++i)
          all[at(spots[k], i)] = Stored<T>(integer(k, i));
      }
      std::vector<Stored<T>> after = all;
      for (std::int64_t i = 0; i < side * side && !each.refused; ++i) {
        float sum = 0;
        for (std::int64_t j = 0; j < side; ++j) {
          sum += static_cast<float>(all[at(each.a, i / side * side + j)]) *
                 static_cast<float>(all[at(each.b, i % side * side + j)]);
        }
        after[at(each.c, i)] = Stored<T>(3 * sum - static_cast<float>(all[at(each.c, i)]) / 2);
      }
      Banded memory(all);
      T* const base = static_cast<T*>(memory.data());
      if (!each.refused) ++accepted;
      for_each_launcher<T>(*gpu, [&](Multiply<T>* multiply, std::size_t number) {
        // If checks are slow, only one of the accepted ones.
        if (!each.refused && course_test::slow(*gpu) && number % 6 != accepted - 1) return;
        memory.reset();
        const Product<T> of = {base + each.a.first * g,
                               base + each.b.first * g,
                               base + each.c.first * g,
                               side,
                               side,
                               side,
                               each.a.pitch * g,
                               each.b.pitch * g,
                               each.c.pitch * g,
                               3,
                               -0.5f};
        EXPECT_EQ(multiply(of, nullptr), each.refused ? cudaErrorInvalidValue : cudaSuccess);
        EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
        EXPECT_EQ(cudaGetLastError(), cudaSuccess);
        const auto got = memory.template values<Stored<T>>();
        const auto same = [&](std::size_t i) {  // the bits, or both are zero
          return std::memcmp(&got[i], &after[i], sizeof(T)) == 0 ||
                 static_cast<float>(got[i]) == static_cast<float>(after[i]);
        };
        std::size_t wrong = 0;
        while (wrong < elements && same(wrong)) ++wrong;
        EXPECT_EQ(wrong, elements) << "element " << wrong << " is "
                                   << static_cast<float>(got[std::min(wrong, elements - 1)]);
      });
    }
    EXPECT_EQ(accepted, 6u);
  });
}

}  // namespace
