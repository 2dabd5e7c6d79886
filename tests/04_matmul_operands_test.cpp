// Chapter 04: what launchers refuse, and which matrices may overlap: C shares no element with A or
// B.
#include <climits>
#include <set>

#include "04_matmul_test.hpp"
#include "device/cuda_check.hpp"
#include "operands.hpp"

namespace {

using namespace matmul_test;

/// Sizes and leading dimensions that are refused, each alone, and misaligned pointers.
TEST(Special, RefusesBadArguments) {
  COURSE_NEEDS_GPU(gpu);
  IN_ONE_ORDER();
  const Case of{20, 24, 28, 1, 1, 4, 4, 4};
  const Placed placed(of, Matrices(of));
  using Six = std::vector<std::int64_t>;
  const Six right = {20, 24, 28, 32, 28, 28};
  std::vector<Six> wrong;
  const std::int64_t most = operands::most, bit = 1;
  for (std::size_t k = 0; k < 6; ++k) {
    for (const std::int64_t bad : {std::int64_t{-1}, -right[k], INT64_MIN, bit << 31, bit << 62,
                                   most + 1, right[k] + (bit << 32), INT64_MAX}) {
      wrong.push_back(right);
      wrong.back()[k] = bad;
    }
    if (k < 3) continue;
    for (const std::int64_t bad : {std::int64_t{0}, k == 3 ? of.k - 1 : of.n - 1}) {
      wrong.push_back(right);
      wrong.back()[k] = bad;
    }
  }
  wrong.push_back({0, 24, 28, 27, 28, 28});         // refused even if there is nothing to compute
  wrong.push_back({20, 24, 0, 0, 0, 23});           // refused even if only C is read
  wrong.push_back({-20, -24, 28, 32, 28, 28});      // their product is positive
  wrong.push_back({most, most, 0, 0, most, most});  // more tiles than a grid has blocks
  for_each_form(*gpu, [&](const Form& form) {
    const auto call = [&](const Six& s, int off_a, int off_b, int off_c) {
      const auto moved = [](float* p, int bytes) {
        return reinterpret_cast<float*>(reinterpret_cast<char*>(p) + bytes);
      };
      return form.launcher(moved(placed.a.data(), off_a), moved(placed.b.data(), off_b),
                           moved(placed.c.data(), off_c), s[0], s[1], s[2], s[3], s[4], s[5], 1, 1,
                           nullptr);
    };
    for (const Six& six : wrong) {
      if (form.is_peer() && six[0] == most) continue;  // a library may accept them; no such C
      EXPECT_EQ(call(six, 0, 0, 0), cudaErrorInvalidValue)
          << six[0] << ' ' << six[1] << ' ' << six[2] << ", leading dimensions " << six[3] << ' '
          << six[4] << ' ' << six[5];
    }
    for (const int off : {1, 2, 3}) {
      EXPECT_EQ(call(right, off, 0, 0), cudaErrorInvalidValue) << "A " << off << " bytes later";
      EXPECT_EQ(call(right, 0, off, 0), cudaErrorInvalidValue) << "B " << off << " bytes later";
      EXPECT_EQ(call(right, 0, 0, off), cudaErrorInvalidValue) << "C " << off << " bytes later";
    }
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_TRUE(placed.a.untouched() && placed.b.untouched() && placed.c.untouched());
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  });
}

/// Where a window lies: its first element in a matrix that all share, and its leading dimension.
struct Spot {
  std::int64_t first, pitch;
};

/// True if the windows of C and of an operand share an element, by looking at each.
bool shared(Spot x, std::int64_t x_rows, std::int64_t x_cols, Spot y, std::int64_t y_rows,
            std::int64_t y_cols) {
  std::set<std::int64_t> of_x;
  for (std::int64_t i = 0; i < x_rows * x_cols; ++i)
    of_x.insert(x.first + i / x_cols * x.pitch + i % x_cols);
  for (std::int64_t i = 0; i < y_rows * y_cols; ++i) {
    if (of_x.count(y.first + i / y_cols * y.pitch + i % y_cols) > 0) return true;
  }
  return false;
}

/// overlap() compared with a check of all elements, for all small windows at all distances. If
/// leading dimensions differ, it may report windows that only lie in each other's gaps, but never
/// windows that are apart.
TEST(Special, OverlapOfAllSmallWindows) {
  Values memory(64);
  for (int code = 0; code < 3 * 3 * 3 * 3 * 5 * 5; ++code) {
    int rest = code;
    const auto digit = [&](int base) {
      const int value = rest % base;
      rest /= base;
      return value;
    };
    const std::int64_t rows = 1 + digit(3), cols = 1 + digit(3), other_rows = 1 + digit(3),
                       other_cols = digit(3);  // an empty one shares nothing
    const std::int64_t pitch = cols + digit(5), other_pitch = other_cols + digit(5);
    const std::int64_t extent = (rows - 1) * pitch + cols;
    const std::int64_t other_extent =
        other_cols == 0 ? 0 : (other_rows - 1) * other_pitch + other_cols;
    for (std::int64_t at = 0; at <= 40; ++at) {
      const Spot x{20, pitch}, y{at, other_pitch};
      const bool said = operands::overlap(&memory[20], rows, cols, pitch, memory.data() + at,
                                          other_rows, other_cols, other_pitch);
      const bool is = shared(x, rows, cols, y, other_rows, other_cols);
      const bool apart = other_extent == 0 || at >= 20 + extent || at + other_extent <= 20;
      ASSERT_TRUE(said == is || (said && pitch != other_pitch && !apart))
          << rows << " x " << cols << " of " << pitch << " at 20, " << other_rows << " x "
          << other_cols << " of " << other_pitch << " at " << at;
      ASSERT_EQ(said, operands::overlap(memory.data() + at, other_rows, other_cols, other_pitch,
                                        &memory[20], rows, cols, pitch));
    }
  }
  const std::int64_t most = operands::most;  // 2^62 elements, 2^64 bytes
  EXPECT_TRUE(operands::overlap(&memory[0], most, most, most, &memory[9], 1, 1, 1));
  EXPECT_TRUE(operands::overlap(&memory[9], 1, 1, 1, &memory[0], most, most, most));
  EXPECT_FALSE(operands::overlap(&memory[9], most, most, most, &memory[0], 1, 9, 9));
}

/// A, B and C in one matrix. If C shares an element with A or B it is refused, and nothing is
/// written; windows next to each other do not overlap; and A may be B.
TEST(Special, OperandsOfOneMatrix) {
  COURSE_NEEDS_GPU(gpu);
  IN_ONE_ORDER();
  const Case of{9, 9, 9, 2, 3};
  const std::int64_t pitch = 40, width = 9, below = 9 * pitch;
  const Matrices in(of);
  const Values want = reference(of, in);
  struct Try {
    const char* what;
    Spot a, b, c;
    bool refused;
  };
  const Try tries[] = {
      {"side by side", {0, pitch}, {width, pitch}, {2 * width, pitch}, false},
      {"side by side, aligned", {0, pitch}, {12, pitch}, {24, pitch}, false},
      {"C in the first columns", {12, pitch}, {24, pitch}, {0, pitch}, false},
      {"over the end of a row", {0, pitch}, {width, pitch}, {pitch - width, pitch}, false},
      {"below each other", {0, pitch}, {below, pitch}, {2 * below, pitch}, false},
      {"C first, then densely A and B", {81, 9}, {162, 9}, {0, 9}, false},
      {"C is A", {0, pitch}, {12, pitch}, {0, pitch}, true},
      {"C is B", {0, pitch}, {12, pitch}, {12, pitch}, true},
      {"a column of A", {0, pitch}, {20, pitch}, {width - 1, pitch}, true},
      {"a column of B", {0, pitch}, {20, pitch}, {20 - width + 1, pitch}, true},
      {"C's end in A's next row", {0, pitch}, {12, pitch}, {pitch - width + 1, pitch}, true},
      {"the last row of A", {0, pitch}, {12, pitch}, {below - pitch, pitch}, true},
      {"A's last element", {0, 9}, {200, 9}, {80, 9}, true},
      {"C's last element", {80, 9}, {200, 9}, {0, 9}, true},
      {"B's last element", {300, 9}, {0, 9}, {80, 9}, true},
      {"another leading dimension", {0, pitch}, {below, pitch}, {9, pitch + 1}, true},
  };
  for (const Try& each : tries) {
    SCOPED_TRACE(each.what);
    Values all(static_cast<std::size_t>(3 * below + 40), nan_value);
    Values after = all;
    const auto place = [&](Values& to, Spot at, const Values& from) {
      for (std::size_t i = 0; i < from.size(); ++i)
        to[static_cast<std::size_t>(at.first) + i / 9 * static_cast<std::size_t>(at.pitch) +
           i % 9] = from[i];
    };
    place(all, each.c, in.c), place(all, each.a, in.a), place(all, each.b, in.b);
    after = all;
    if (!each.refused) place(after, each.c, want);
    Banded memory(all);
    float* const base = static_cast<float*>(memory.data());
    for_each_form(*gpu, [&](const Form& form) {
      memory.reset();
      EXPECT_EQ(
          form.launcher(base + each.a.first, base + each.b.first, base + each.c.first, of.m, of.n,
                        of.k, each.a.pitch, each.b.pitch, each.c.pitch, of.alpha, of.beta, nullptr),
          each.refused ? cudaErrorInvalidValue : cudaSuccess);
      const Case whole{1, static_cast<std::int64_t>(all.size()), 1};
      EXPECT_EQ(difference(whole, memory.values<float>(), after), "");
    });
  }
  Matrices squared = in;
  squared.b = squared.a;
  const Placed placed(of, squared);
  for_each_form(*gpu, [&](const Form& form) {
    Matrix c(9, 9, 0, 0, in.c);
    EXPECT_EQ(form.launcher(placed.a.data(), placed.a.data(), c.data(), 9, 9, 9, 9, 9, 9, of.alpha,
                            of.beta, nullptr),
              cudaSuccess);
    EXPECT_EQ(difference(of, c.values(), reference(of, squared)), "") << "A is B";
  });
}

}  // namespace
