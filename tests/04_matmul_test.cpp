// Chapter 04: every version on every test size and family of inputs; and the special cases of
// C = alpha A B + beta C: windows with NaN around them, values that are not finite, operands that
// alpha = 0 and beta = 0 leave unread. Which matrices may overlap: 04_matmul_operands_test.cpp.
// Sizes too large for a reference, and the choice of 80: 04_matmul_large_test.cpp.
#include "04_matmul_test.hpp"

#include <set>
#include <utility>

#include "contract.hpp"
#include "device/buffer.hpp"
#include "device/cuda_check.hpp"

namespace {

using namespace matmul_test;

const course_test::Inputs inputs = {Input::random, Input::integers,
#ifndef SIMT  // it takes long there
                                    Input::denormal
#endif
};

/// The launchers called here are those of the chapter.
TEST(Special, NoVersionIsForgotten) {
  std::set<std::string> built, called;
  for (const course::Study& study : course::chapter().studies) {
    for (const course::Version& version : study.versions) {
      if (version.launch) built.insert(version.id);
    }
  }
  for (const Form& form : all_forms()) {
    if (form.launcher) called.insert(form.id);
  }
  EXPECT_EQ(called, built);
}

/// Sizes on both sides of the edges of tiles, in windows that begin anywhere, with NaN around all
/// three; C in place. Values are integers, so a single product too many or too few is detected.
TEST(Special, AnyWindow) {
  COURSE_NEEDS_GPU(gpu);
  IN_ONE_ORDER();
  const std::vector<std::int64_t> sides = {1,  2,  3,  4,  5,  31,  32,  33,  60,  63,  64,  65,
                                           67, 68, 95, 96, 97, 127, 128, 129, 131, 193, 255, 257};
  const std::vector<std::int64_t> depths = {1, 2, 4, 7, 8, 9, 15, 16, 17, 24, 25, 31, 33, 40};
  const int cases = gpu->simulated ? 32 : sanitized() ? 12 : 500;
  std::uint64_t next = 0;
  const auto below = [&](std::uint64_t most) { return course::mix(20261122, next++) % most; };
  for (int k = 0; k < cases; ++k) {
    Case of{sides[below(sides.size())], sides[below(sides.size())], depths[below(depths.size())]};
    if (slow(*gpu) && of.m * of.n * of.k > 200000) of.k = depths[below(6)];
    for (std::int64_t* const gap : {&of.gap_a, &of.gap_b, &of.gap_c})
      *gap = static_cast<std::int64_t>(below(7));
    const bool aligned = k % 3 == 0;  // all 16-byte accesses
    if (aligned) {
      of.gap_a += 3 - (of.k + of.gap_a + 3) % 4;
      of.gap_b += 3 - (of.n + of.gap_b + 3) % 4;
      of.gap_c += 3 - (of.n + of.gap_c + 3) % 4;
    }
    for (std::int64_t* const shift : {&of.shift_a, &of.shift_b, &of.shift_c})
      *shift = aligned ? 4 * static_cast<std::int64_t>(below(3)) : static_cast<int>(below(6));
    of.alpha = k % 2 == 0 ? 1 : -2;
    of.beta = k % 4 < 2 ? 0 : k % 4 == 2 ? 1 : 3;
    expect_right(*gpu, of, Matrices(of, next));
    if (HasFailure()) return;
  }
}

/// A window in memory that ends with its last element, and whose gaps are unwritten: a tool that
/// checks accesses finds an access there, even if the kernel drops the value.
class Bare {
 public:
  Bare(std::int64_t rows, std::int64_t cols, std::int64_t gap, Values values)
      : memory_(static_cast<std::size_t>((rows - 1) * (cols + gap) + cols) * sizeof(float)),
        pitch_(cols + gap) {
    for (std::int64_t r = 0; r < rows; ++r) {
      COURSE_CHECK(cudaMemcpy(data() + r * pitch_, &values[static_cast<std::size_t>(r * cols)],
                              static_cast<std::size_t>(cols) * sizeof(float),
                              cudaMemcpyHostToDevice));
    }
  }
  float* data() const { return static_cast<float*>(memory_.data()); }
  std::int64_t pitch() const { return pitch_; }

 private:
  course::Buffer memory_;
  std::int64_t pitch_;
};

/// Between the rows and after the last one nothing is read, with 16-byte accesses and without. The
/// CPU backend detects it, and so do compute-sanitizer's memcheck and initcheck.
TEST(Special, GapsAreNotRead) {
  COURSE_NEEDS_GPU(gpu);
  IN_ONE_ORDER();
  for (const Case& of : {Case{9, 42, 19, 2, 3, 1, 2, 2}, Case{33, 259, 5, 1, 0, 3, 1, 1},
                         Case{6, 7, 9, 1, 2, 1, 0, 3}}) {
    const Matrices in(of);
    const Bare a(of.m, of.k, of.gap_a, in.a), b(of.k, of.n, of.gap_b, in.b);
    for_each_form(*gpu, [&](const Form& form) {
      if (form.is_peer()) return;
      const Bare c(of.m, of.n, of.gap_c, in.c);
      EXPECT_EQ(form.launcher(a.data(), b.data(), c.data(), of.m, of.n, of.k, a.pitch(), b.pitch(),
                              c.pitch(), of.alpha, of.beta, nullptr),
                cudaSuccess);
      EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << text(of);
#ifdef SIMT
      for (const auto& finding : simt::take_findings()) ADD_FAILURE() << finding.text;
#endif
    });
  }
}

/// Each size 0 alone, without the arrays that have no element. k = 0 gives beta C.
TEST(Special, NothingToMultiply) {
  COURSE_NEEDS_GPU(gpu);
  IN_ONE_ORDER();
  const Values c = integers(15, 3);
  for (const Case& of : {Case{0, 5, 3}, Case{3, 0, 5}, Case{0, 0, 3}, Case{3, 5, 0, 2, 0, 0, 0, 2},
                         Case{3, 5, 0, 2, -3, 0, 0, 0}, Case{3, 5, 0, 2, 1, 0, 0, 3}}) {
    SCOPED_TRACE(text(of));
    Matrices in(of);
    if (of.beta != 0) in.c = c;
    Matrix before(of.m, of.n, of.gap_c, 0, in.c);
    for_each_form(*gpu, [&](const Form& form) {
      if (form.is_peer()) return;               // a library may refuse null pointers
      for (const std::int64_t more : {0, 2}) {  // leading dimensions may be 0, but need not
        before.reset();
        EXPECT_EQ(form.launcher(nullptr, nullptr, of.m * of.n == 0 ? nullptr : before.data(), of.m,
                                of.n, of.k, of.k + more, of.n + more, before.pitch(), of.alpha,
                                of.beta, nullptr),
                  cudaSuccess);
        EXPECT_EQ(difference(of, before.values(), reference(of, in)), "");
      }
    });
  }
}

/// alpha = 0 reads neither A nor B, beta = 0 does not read C, with either sign of zero: NaN in them
/// has no effect.
TEST(Special, ZeroReadsNothing) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  IN_ONE_ORDER();
  for (const float alpha : {0.0f, -0.0f, 2.0f}) {
    for (const float beta : {0.0f, -0.0f, 1.0f, -3.0f}) {
      const Case of{67, 70, 21, alpha, beta, 3, 2, 2};
      if (alpha != 0 && beta != 0) continue;
      Matrices in(of);
      if (alpha == 0) {
        in.a.assign(in.a.size(), nan_value);
        in.b.assign(in.b.size(), nan_value);
      }
      expect_right(*gpu, of, in, but_the_peer);
    }
  }
}

/// NaN or an infinity in one element of A reaches its row of C, in B its column, in C itself: as
/// infinity, or as NaN if it is multiplied by 0 or added to its opposite. At positions in full
/// tiles and in the tails of rows, columns and depth; all other sums stay exact.
TEST(Special, WhatIsNotFiniteStaysInItsRowAndColumn) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  IN_ONE_ORDER();
  struct Place {
    std::int64_t row, col, depth_a, depth_b;
  };
  int kind = 0;
  for (Case of : {Case{130, 70, 19, 1, 0, 1, 2, 3}, Case{68, 260, 11, 2, 1, 1, 0, 0},
                  Case{33, 36, 8, -1, 2}, Case{3, 5, 66, 1, 0, 2, 3, 7}}) {
    const std::vector<Place> places = {{of.m - 1, of.n - 1, of.k - 1, of.k - 1},
                                       {0, 0, 0, of.k - 1},
                                       {of.m / 2, of.n - 2, of.k - 2, 2},
                                       {of.m - 2, of.n / 2, 2, of.k - 3},
                                       {of.m - 3, 3, 7, 7}};
    for (const Place& at : places) {
      if (gpu->simulated && of.m * of.n > 5000 && &at - places.data() > 1) continue;
      const float first = kind % 3 == 0 ? infinity : kind % 3 == 1 ? -infinity : nan_value;
      const float second = kind++ % 2 == 0 ? infinity : nan_value;
      Matrices in(of);
      in.a[static_cast<std::size_t>(at.row * of.k + at.depth_a)] = first;
      in.b[static_cast<std::size_t>(at.depth_b * of.n + at.col)] = second;
      if (of.beta != 0) in.c[static_cast<std::size_t>(of.n + 1)] = first;
      const Values want = reference(of, in);
      ASSERT_EQ(std::count_if(want.begin(), want.end(), [](float x) { return !std::isfinite(x); }),
                of.m + of.n - 1 + (of.beta != 0 && at.row != 1 && at.col != 1 ? 1 : 0));
      expect_right(*gpu, of, in, but_the_peer);
    }
  }
  const Case of{5, 6, 3, 1, 2};
  for (const auto& [alpha, beta] : {std::pair(nan_value, 2.0f), std::pair(1.0f, nan_value)}) {
    Case other = of;
    other.alpha = alpha, other.beta = beta;
    expect_right(*gpu, other, Matrices(of), but_the_peer);
  }
}

/// The same bits in every run: the order of each sum is fixed.
TEST(Special, SameBitsInEveryRun) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  std::vector<Case> cases = {{66, 70, 75, 0.3f, 0.7f}};
  if (!gpu->simulated) cases.insert(cases.end(), {{300, 200, 5000, 0.3f, 0.7f}, {900, 1100, 600}});
  for (const Case& of : cases) {
    Matrices in(of);
    std::uint64_t next = 0;
    for (Values* const values : {&in.a, &in.b, &in.c}) {
      for (float& x : *values) x = static_cast<float>(course::uniform(course::mix(5, next++)));
    }
    Placed placed(of, in);
    for_each_form(*gpu, [&](const Form& form) {
      if (form.is_peer()) return;
      Values first;
      for (int run = 0; run < (gpu->simulated ? 2 : 10); ++run) {
        placed.c.reset();
        ASSERT_EQ(placed.launch(form, of), cudaSuccess);
        const Values got = placed.c.values();
        if (run == 0) first = got;
        ASSERT_EQ(std::memcmp(got.data(), first.data(), got.size() * sizeof(float)), 0)
            << "run " << run << ", " << text(of);
      }
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  course_test::take_order(&argc, argv);
  testing::InitGoogleTest(&argc, argv);
  const course_test::SkipReason reason = [](const course::Study& study) {
    return study.name == "windows" && course::under_initcheck()
               ? "the gaps are seen by poison, and initcheck looks for unwritten memory itself"
               : "";
  };
  course_test::register_chapter(course::chapter(), inputs, reason);
  course_test::register_contracts(course::chapter(), reason);
  return RUN_ALL_TESTS();
}
