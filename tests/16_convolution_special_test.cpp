// Chapter 16: images with NaN and infinities in them, and borders against a third implementation.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "chapter_test.hpp"
#include "convolution.hpp"

namespace {

using course::Input;
using course::Size;
using course::Version;

/// An image whose pixels the class itself gives, by at().
template <class Base>
class OfPixels : public Base {
 public:
  using Base::Base;
  std::vector<course::Array> inputs() const override {
    std::vector<course::Array> all = Base::inputs();
    all[0].values = [this](void* host) {
      for (std::int64_t i = 0; i < this->pixels(); ++i)
        static_cast<float*>(host)[i] = static_cast<float>(this->at(i));
    };
    return all;
  }
};

/// Two infinities and a NaN, so that some windows have none of them, some one, and some more.
template <class Base>
class WithSpecials : public OfPixels<Base> {
 public:
  using OfPixels<Base>::OfPixels;

 protected:
  double at(std::int64_t i) const override {
    const std::int64_t y = i / this->cols(), x = i % this->cols();
    const double infinity = std::numeric_limits<double>::infinity();
    if (y == 1 && x == 2) return infinity;
    if (y == 20 && x == 150) return std::numeric_limits<double>::quiet_NaN();
    if (y == this->rows() - 2 && (x == 3 || x == 130)) return -infinity;
    if (y == this->rows() - 3 && x == 131) return infinity;
    return Base::at(i);
  }
};

/// Every row but the peers', in their own words: finite, infinite or NaN where the definition is.
template <class Problem>
void check_specials(const char* name) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  const course::Study study = course_test::study_of(course::chapter(), name);
  for (const Size& size : {image_size(41, 300, 3, by_reflect), image_size(37, 299, 7, by_clamp),
                           image_size(35, 288, 17, by_zero), image_size(33, 161, 9, by_reflect)}) {
    const Problem problem(size, 16, Input::random);
    std::vector<double> expected(static_cast<std::size_t>(problem.pixels()));
    problem.expected(0, expected.data());
    const auto count = [&](auto is) { return std::count_if(expected.begin(), expected.end(), is); };
    ASSERT_GT(count([](double v) { return std::isnan(v); }), size["width"]) << size.text();
    ASSERT_GT(count([](double v) { return std::isinf(v); }), size["width"]) << size.text();
    ASSERT_GT(count([](double v) { return std::isfinite(v); }), problem.pixels() / 2);
    const double most = problem.tolerance(0).absolute;
    course_test::for_each_version(study, size, *gpu, [&](const Version& version) {
      if (version.role == course::Role::peer) return;
      course::DeviceArrays arrays(version, problem, nullptr);
      arrays.poison_outputs();
      ASSERT_EQ(version.launch(problem, arrays.arguments()), cudaSuccess);
      const std::vector<float> out =
          course_test::to_host<float>(arrays.arguments().outputs[0], problem.pixels());
      for (std::size_t i = 0; i < out.size(); ++i) {
        const double got = out[i], want = expected[i];
        const bool right = std::isnan(want)   ? std::isnan(got)
                           : std::isinf(want) ? got == want
                                              : std::abs(got - want) <= most;
        ASSERT_TRUE(right) << got << " in place of " << want << " in row " << i / problem.cols()
                           << ", column " << i % problem.cols();
      }
    });
  }
}

TEST(Specials, AnyFilter) { check_specials<WithSpecials<Convolution>>("sequence"); }

TEST(Specials, SeparableFilter) { check_specials<WithSpecials<SeparableConvolution>>("separable"); }

/// What scipy.ndimage.correlate of SciPy 1.10.1 makes of an image that is smaller than the filter,
/// with the modes "nearest", "constant" and "mirror".
class OfSciPy : public OfPixels<Convolution> {
 public:
  OfSciPy(std::int64_t border, std::array<double, 15> expected)
      : OfPixels(image_size(3, 5, 5, border), 1, Input::integers), expected_(expected) {
    constexpr int coefficients[] = {2,  3, -3, -3, 2,  -3, -2, 2,  1, 0,  -2, -2, 1,
                                    -2, 3, 0,  3,  -1, 1,  -2, -2, 3, -1, 2,  -2};
    std::copy(std::begin(coefficients), std::end(coefficients), filter_.at);
  }
  void expected(int, double* out) const override {
    std::copy(expected_.begin(), expected_.end(), out);
  }
  /// What the chapter's own reference says.
  std::vector<double> reference() const {
    std::vector<double> values(15);
    Convolution::expected(0, values.data());
    return values;
  }

 protected:
  double at(std::int64_t i) const override {
    constexpr int pixels[] = {5, 5, 8, 4, 7, 0, 5, 3, 0, 6, 4, 0, 2, 8, 0};
    return pixels[i];
  }

 private:
  std::array<double, 15> expected_;
};

TEST(Borders, AreThoseOfSciPy) {
  COURSE_NEEDS_GPU(gpu);
  const std::pair<std::int64_t, std::array<double, 15>> borders[] = {
      {by_clamp, {-5, -42, 5, -15, -13, 0, -24, 21, -15, 39, 10, 1, -11, 0, 33}},
      {by_zero, {10, -11, 7, -23, -3, 6, 5, 12, -46, 6, 1, 9, -23, -10, -10}},
      {by_reflect, {-23, -1, -19, -44, 30, -19, -43, 30, -50, -1, 11, 10, -32, 53, -47}}};
  const course::Study study = course_test::study_of(course::chapter(), "sequence");
  for (const auto& [border, expected] : borders) {
    const OfSciPy problem(border, expected);
    EXPECT_EQ(problem.reference(), std::vector<double>(expected.begin(), expected.end()));
    course_test::for_each_version(study, problem.size(), *gpu, [&](const Version& version) {
      if (version.role == course::Role::peer) return;
      const course::Outcome outcome = course::verify(version, problem, *gpu);
      EXPECT_EQ(outcome.state, course::Outcome::passed) << outcome.why;
    });
  }
}

}  // namespace
