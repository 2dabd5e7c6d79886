// The host half of common/: statistics, comparators, inputs, threads, the reference program.
#include "common_test.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "chapter/input.hpp"
#include "chapter/problem.hpp"
#include "kernels/comparators.hpp"
#include "measure/statistics.hpp"

namespace {

using course::Input;
using course::Mismatch;
using course::Size;
using course::Type;
using course_test::families;
using course_test::infinity;
using course_test::not_a_number;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Statistics

TEST(Statistics, OfOneLaunch) {
  EXPECT_DOUBLE_EQ(course::of_one_launch(6e-3, 3, 0), 2e-3);
  EXPECT_DOUBLE_EQ(course::of_one_launch(6e-3, 3, 5e-4), 1.5e-3) << "taken off each launch";
  EXPECT_DOUBLE_EQ(course::of_one_launch(6e-3, 3, 3e-3), 1e-9) << "less than no time";
}

TEST(Statistics, OddCountInAnyOrder) {
  const course::Statistics s = course::statistics({9, 1, 5, 3, 7});
  EXPECT_EQ(s.count, 5u);
  EXPECT_DOUBLE_EQ(s.minimum, 1);
  EXPECT_DOUBLE_EQ(s.q1, 3);
  EXPECT_DOUBLE_EQ(s.median, 5);
  EXPECT_DOUBLE_EQ(s.q3, 7);
  EXPECT_DOUBLE_EQ(s.mean, 5);
}

TEST(Statistics, EvenCountInterpolates) {
  const course::Statistics s = course::statistics({4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(s.q1, 1.75);
  EXPECT_DOUBLE_EQ(s.median, 2.5);
  EXPECT_DOUBLE_EQ(s.q3, 3.25);
}

TEST(Statistics, TwoSamples) {
  const course::Statistics s = course::statistics({3, 1});
  EXPECT_DOUBLE_EQ(s.q1, 1.5);
  EXPECT_DOUBLE_EQ(s.median, 2);
  EXPECT_DOUBLE_EQ(s.q3, 2.5);
  EXPECT_DOUBLE_EQ(s.relative_error, 0.5);  // deviation sqrt(2), over sqrt(2) samples, over mean 2
}

TEST(Statistics, OneSample) {
  const course::Statistics s = course::statistics({7});
  EXPECT_EQ(s.count, 1u);
  for (const double value : {s.minimum, s.q1, s.median, s.q3, s.mean}) EXPECT_EQ(value, 7);
  EXPECT_EQ(s.relative_error, 1) << "one sample tells nothing about the spread";
}

TEST(Statistics, NoSample) {
  const course::Statistics s = course::statistics({});
  EXPECT_EQ(s.count, 0u);
  for (const double value : {s.minimum, s.q1, s.median, s.q3, s.mean}) EXPECT_EQ(value, 0);
}

TEST(Statistics, RelativeError) {
  const course::Statistics s = course::statistics({2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_DOUBLE_EQ(s.mean, 5);
  EXPECT_NEAR(s.relative_error, std::sqrt(32.0 / 7 / 8) / 5, 1e-15);
  EXPECT_EQ(course::statistics({3, 3, 3}).relative_error, 0);
}

TEST(Statistics, AnOutlierMovesTheMeanAlone) {
  const course::Statistics s = course::statistics({1, 1, 1, 1, 1, 1, 1, 1, 1000});
  EXPECT_EQ(s.median, 1);
  EXPECT_EQ(s.q3, 1);
  EXPECT_GT(s.mean, 100);
}

// Comparators

/// 0.5, 1.5, 2.5, ...: no zero, no two equal, exact as float.
std::vector<double> wanted(std::int64_t count) {
  std::vector<double> want(static_cast<std::size_t>(count));
  std::iota(want.begin(), want.end(), 0.5);
  return want;
}

template <class T>
std::vector<T> as(const std::vector<double>& want) {
  return std::vector<T>(want.begin(), want.end());
}

template <class T>
Mismatch close(const std::vector<T>& got, const std::vector<double>& want, double absolute = 0,
               double relative = 0) {
  return course::close(got.data(), want.data(), static_cast<std::int64_t>(got.size()), absolute,
                       relative);
}

template <class T>
Mismatch same_bits(const std::vector<T>& got, const std::vector<double>& want) {
  return course::same_bits(got.data(), want.data(), static_cast<std::int64_t>(got.size()));
}

std::string line(const Mismatch& mismatch, const std::vector<double>& want) {
  return course::text(mismatch, static_cast<std::int64_t>(want.size()), "c");
}

TEST(Numbers, WholeNumbersHaveAllDigits) {
  const std::vector<double> want = {4294967294.0};
  const std::string said = line(same_bits(std::vector<std::uint32_t>{4294967295u}, want), want);
  EXPECT_TRUE(has(said, "got 4294967295, want 4294967294")) << said;
  const std::vector<double> small = {1e-45}, large = {1e30};
  EXPECT_TRUE(has(line(close(std::vector<double>{-0.5}, small), small), "got -0.5, want 1e-45"));
  EXPECT_TRUE(has(line(close(std::vector<double>{1}, large), large), "got 1, want 1e+30"));
}

template <class T>
class Comparators : public testing::Test {};
using FloatTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(Comparators, FloatTypes);

TYPED_TEST(Comparators, AllRight) {
  const auto want = wanted(1000);
  const auto got = as<TypeParam>(want);
  for (const Mismatch& found :
       {close(got, want, 1e-3, 1e-3), close(got, want), same_bits(got, want)}) {
    EXPECT_TRUE(found.ok());
    EXPECT_EQ(found.count, 0u);
    EXPECT_EQ(found.first, -1);
    EXPECT_EQ(found.largest_error, 0);
    EXPECT_EQ(line(found, want), "");
  }
}

TYPED_TEST(Comparators, NothingToCompare) {
  EXPECT_TRUE(close(std::vector<TypeParam>{}, {}).ok());
  EXPECT_TRUE(same_bits(std::vector<TypeParam>{}, {}).ok());
}

TYPED_TEST(Comparators, OneNan) {
  const auto want = wanted(1000);
  auto got = as<TypeParam>(want);
  got[17] = std::numeric_limits<TypeParam>::quiet_NaN();
  for (const Mismatch& found : {close(got, want, 1e300, 0), same_bits(got, want)}) {
    EXPECT_EQ(found.count, 1u);
    EXPECT_EQ(found.first, 17);
    EXPECT_TRUE(std::isnan(found.got));
    EXPECT_EQ(found.want, 17.5);
    EXPECT_EQ(found.largest_error, infinity);
    EXPECT_TRUE(has(line(found, want), "NaN")) << line(found, want);
    EXPECT_FALSE(has(line(found, want), "tail")) << line(found, want);
  }
}

TYPED_TEST(Comparators, NanEverywhere) {
  const auto want = wanted(1000);
  const std::vector<TypeParam> got(1000, std::numeric_limits<TypeParam>::quiet_NaN());
  for (const Mismatch& found : {close(got, want, 1e300, 1), same_bits(got, want)}) {
    EXPECT_EQ(found.count, 1000u);
    EXPECT_EQ(found.first, 0);
    EXPECT_TRUE(has(line(found, want), "never written")) << line(found, want);
  }
}

TYPED_TEST(Comparators, NanIsNotEvenCloseToNan) {
  const std::vector<TypeParam> got = {std::numeric_limits<TypeParam>::quiet_NaN()};
  EXPECT_EQ(close(got, {not_a_number}, 1, 1).count, 1u);
  EXPECT_EQ(same_bits(got, {not_a_number}).count, 1u);
  EXPECT_EQ(close(std::vector<TypeParam>{1}, {not_a_number}, 1, 1).count, 1u);
}

TYPED_TEST(Comparators, InfinityIsCloseToNothing) {
  const TypeParam big = std::numeric_limits<TypeParam>::infinity();
  EXPECT_EQ(close(std::vector<TypeParam>{big}, {infinity}, 1, 1).count, 1u);
  EXPECT_EQ(close(std::vector<TypeParam>{-big}, {-infinity}).count, 1u);
  EXPECT_EQ(close(std::vector<TypeParam>{big}, {1}, 1e300, 1).count, 1u);
  EXPECT_EQ(close(std::vector<TypeParam>{1}, {infinity}, 1, 1).count, 1u) << "an infinite bound";
  EXPECT_EQ(same_bits(std::vector<TypeParam>{big}, {1}).count, 1u);
  EXPECT_EQ(same_bits(std::vector<TypeParam>{big}, {-infinity}).count, 1u);
  EXPECT_EQ(close(std::vector<TypeParam>{big}, {1}, 1, 1).largest_error, infinity);
}

TYPED_TEST(Comparators, InfinityHasTheBitsOfInfinity) {
  const TypeParam big = std::numeric_limits<TypeParam>::infinity();
  EXPECT_TRUE(same_bits(std::vector<TypeParam>{big, -big}, {infinity, -infinity}).ok());
}

TYPED_TEST(Comparators, ATolerancePastTheLargestNumberAcceptsNothing) {
  EXPECT_EQ(close(std::vector<TypeParam>{0}, {1e300}, 0, 1e10).count, 1u);
}

TYPED_TEST(Comparators, Zeros) {
  const std::vector<TypeParam> zeros(1000, 0);
  const std::vector<double> none(1000, 0.0);
  EXPECT_TRUE(close(zeros, none).ok());
  EXPECT_TRUE(same_bits(zeros, none).ok());
  const auto want = wanted(1000);
  EXPECT_EQ(close(zeros, want, 0.25, 0.25).count, 1000u) << "nothing was computed";
  EXPECT_EQ(same_bits(zeros, want).count, 1000u);
  EXPECT_EQ(close(as<TypeParam>(want), none, 0.25, 0.25).count, 1000u);
}

TYPED_TEST(Comparators, MinusZeroHasOtherBits) {
  const TypeParam zero = 0;
  EXPECT_EQ(same_bits(std::vector<TypeParam>{-zero}, {0.0}).count, 1u);
  EXPECT_EQ(same_bits(std::vector<TypeParam>{zero}, {-0.0}).count, 1u);
  EXPECT_TRUE(same_bits(std::vector<TypeParam>{-zero, zero}, {-0.0, 0.0}).ok());
  EXPECT_TRUE(close(std::vector<TypeParam>{-zero, zero}, {0.0, -0.0}).ok()) << "equal as numbers";
}

TYPED_TEST(Comparators, ShiftedByOne) {
  const auto want = wanted(1000);
  auto got = as<TypeParam>(want);
  std::rotate(got.begin(), got.begin() + 1, got.end());
  for (const Mismatch& found : {close(got, want, 0.5, 0), same_bits(got, want)}) {
    EXPECT_EQ(found.count, 1000u);
    EXPECT_EQ(found.first, 0);
    EXPECT_EQ(found.got, 1.5);
    EXPECT_EQ(found.want, 0.5);
    EXPECT_EQ(found.largest_error, 999);
  }
}

TYPED_TEST(Comparators, LastElementWrong) {
  const auto want = wanted(1000);
  auto got = as<TypeParam>(want);
  got.back() += 2;
  for (const Mismatch& found : {close(got, want, 1, 0), same_bits(got, want)}) {
    EXPECT_EQ(found.count, 1u);
    EXPECT_EQ(found.first, 999);
    EXPECT_EQ(found.largest_error, 2);
    EXPECT_EQ(line(found, want), "1 of 1000 wrong in c, first at 999: got 1001.5, want 999.5");
  }
}

TYPED_TEST(Comparators, NanUpToTheEndIsATailThatNobodyWrote) {
  const auto want = wanted(1000);
  auto got = as<TypeParam>(want);
  std::fill(got.begin() + 992, got.end(), std::numeric_limits<TypeParam>::quiet_NaN());
  for (const Mismatch& found : {close(got, want, 1, 0), same_bits(got, want)}) {
    EXPECT_EQ(found.count, 8u);
    EXPECT_EQ(found.first, 992);
    EXPECT_TRUE(has(line(found, want), "8 of 1000")) << line(found, want);
    EXPECT_TRUE(has(line(found, want), "tail")) << line(found, want);
  }
  got[996] = static_cast<TypeParam>(want[996]);  // a gap in the errors: not the tail of a loop
  EXPECT_FALSE(has(line(same_bits(got, want), want), "tail"));
}

TYPED_TEST(Comparators, ExactlyAtTheBound) {
  const auto matches = [](TypeParam got, double want, double absolute, double relative) {
    return close(std::vector<TypeParam>{got}, {want}, absolute, relative).ok();
  };
  const auto above = [](TypeParam x) { return std::nextafter(x, TypeParam{1000}); };
  const auto below = [](TypeParam x) { return std::nextafter(x, TypeParam{-1000}); };
  EXPECT_TRUE(matches(1.25, 1, 0.25, 0));
  EXPECT_FALSE(matches(above(1.25), 1, 0.25, 0));
  EXPECT_TRUE(matches(0.75, 1, 0.25, 0));
  EXPECT_FALSE(matches(below(0.75), 1, 0.25, 0));
  EXPECT_TRUE(matches(-9, -8, 0, 0.125)) << "relative to the size of a negative number";
  EXPECT_FALSE(matches(below(-9), -8, 0, 0.125));
  EXPECT_TRUE(matches(4.75, 4, 0.25, 0.125)) << "both bounds add up";
  EXPECT_FALSE(matches(above(4.75), 4, 0.25, 0.125));
  EXPECT_TRUE(matches(3, 3, 0, 0));
  EXPECT_FALSE(matches(above(3), 3, 0, 0));
  EXPECT_FALSE(matches(above(0), 0, 0, 0.5)) << "a relative bound of nothing is nothing";
}

TYPED_TEST(Comparators, Denormals) {
  const TypeParam tiny = std::numeric_limits<TypeParam>::denorm_min();
  const std::vector<double> want = {static_cast<double>(tiny), -3 * static_cast<double>(tiny)};
  const std::vector<TypeParam> right = {tiny, -3 * tiny}, flushed = {0, 0};
  EXPECT_TRUE(same_bits(right, want).ok());
  EXPECT_TRUE(close(right, want).ok());
  EXPECT_EQ(same_bits(flushed, want).count, 2u) << "denormals flushed to zero";
  EXPECT_EQ(close(flushed, want).count, 2u);
  EXPECT_EQ(close(flushed, want, want[0], 0).count, 1u);
}

TEST(FloatBits, TheReferenceIsRoundedToTheTypeFirst) {
  EXPECT_TRUE(same_bits(std::vector<float>{0.1f}, {0.1}).ok());
  EXPECT_EQ(same_bits(std::vector<float>{std::nextafter(0.1f, 1.0f)}, {0.1}).count, 1u);
  EXPECT_TRUE(same_bits(std::vector<float>{0.0f, -0.0f}, {1e-60, -1e-60}).ok())
      << "too small for a float: the float nearest to it is zero";
}

template <class T>
class IntegerBits : public testing::Test {};
using IntegerTypes = testing::Types<std::int32_t, std::uint32_t, std::int64_t>;
TYPED_TEST_SUITE(IntegerBits, IntegerTypes);

TYPED_TEST(IntegerBits, Extremes) {
  using Limits = std::numeric_limits<TypeParam>;
  // 2^53 is where a reference in double stops being exact
  const TypeParam largest =
      sizeof(TypeParam) == 8 ? static_cast<TypeParam>(1ll << 53) : Limits::max();
  const TypeParam least =
      sizeof(TypeParam) == 8 ? static_cast<TypeParam>(-(1ll << 53)) : Limits::min();
  const std::vector<TypeParam> got = {0, 1, 2, largest, least};
  const std::vector<double> want(got.begin(), got.end());
  EXPECT_TRUE(same_bits(got, want).ok());
  for (std::size_t k = 0; k < got.size(); ++k) {
    auto wrong = got;
    wrong[k] = static_cast<TypeParam>(k == 3 ? largest - 1 : got[k] + 1);
    const Mismatch found = same_bits(wrong, want);
    EXPECT_EQ(found.count, 1u) << "element " << k;
    EXPECT_EQ(found.first, static_cast<std::int64_t>(k));
    EXPECT_EQ(found.largest_error, 1);
  }
}

TYPED_TEST(IntegerBits, ThereIsOneZero) {
  EXPECT_TRUE(same_bits(std::vector<TypeParam>{0, 0}, {0.0, -0.0}).ok())
      << "-1 * 0 is -0 in a reference in double, and 0 in integers";
}

/// A reduction that drops one element of a million: the reason for the integer inputs.
TEST(LostElement, HidesInALooseToleranceButNotInIntegers) {
  constexpr std::int64_t n = 1 << 20;
  const auto sum = [](Input input, std::int64_t left_out) {
    double total = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      if (i != left_out) total += course::value<float>(input, 1, i);
    }
    return total;
  };
  const auto element = [](Input input) {  // neither zero nor conspicuous
    std::int64_t i = n / 3;
    while (std::abs(course::value<float>(input, 1, i)) < 0.1f ||
           std::abs(course::value<float>(input, 1, i)) > 1.5f) {
      ++i;
    }
    return i;
  };
  double magnitude = 0;
  for (std::int64_t i = 0; i < n; ++i)
    magnitude += std::abs(course::value<float>(Input::random, 1, i));
  // the bound for a plain loop in float: every one of n roundings as bad as can be
  const double loose = static_cast<double>(n) * 0x1p-24 * magnitude;
  const std::vector<double> random = {sum(Input::random, -1)};
  const std::vector<float> lost = {static_cast<float>(sum(Input::random, element(Input::random)))};
  EXPECT_TRUE(close(lost, random, loose, 0).ok()) << "the loose tolerance hides it";
  EXPECT_FALSE(close(lost, random, 0x1p-24 * std::abs(random[0]), 0).ok()) << "yet it is wrong";

  const std::vector<double> integers = {sum(Input::integers, -1)};
  const std::vector<float> whole = {static_cast<float>(integers[0])};
  const std::vector<float> short_of_one = {
      static_cast<float>(sum(Input::integers, element(Input::integers)))};
  EXPECT_TRUE(same_bits(whole, integers).ok());
  EXPECT_FALSE(same_bits(short_of_one, integers).ok());
}

// Inputs

template <class T>
class Inputs : public testing::Test {};
using AllTypes = testing::Types<float, double, std::int32_t, std::uint32_t, std::int64_t>;
TYPED_TEST_SUITE(Inputs, AllTypes);

TYPED_TEST(Inputs, AreAPureFunctionOfTheIndex) {
  for (const Input input : families) {
    for (const std::int64_t i : {std::int64_t{0}, std::int64_t{12345}, std::int64_t{1} << 33}) {
      const TypeParam first = course::value<TypeParam>(input, 7, i);
      course::value<TypeParam>(input, 8, i + 1);  // no state that another call could change
      EXPECT_EQ(course::value<TypeParam>(input, 7, i), first) << name_of(input);
    }
  }
}

TYPED_TEST(Inputs, StayInTheirRanges) {
  constexpr bool whole = std::numeric_limits<TypeParam>::is_integer;
  const std::map<Input, std::pair<double, double>> ranges = {
      {Input::random, whole ? std::make_pair(0.0, 0x1p31) : std::make_pair(-1.0, 1.0)},
      {Input::integers, whole ? std::make_pair(0.0, 15.0) : std::make_pair(-8.0, 7.0)},
      {Input::equal, {1, 1}},
      {Input::ascending, {0, 0x1p24 - 1}},
      {Input::descending, {0, 0x1p24 - 1}},
      {Input::few_distinct, {0, 3}},
      {Input::denormal, {whole ? 0 : -0x1p-126, whole ? 0 : 0x1p-126}},
      {Input::large, {whole ? 0 : -0x1p120, 0x1p120}}};
  for (const Input input : families) {
    const auto [least, largest] = ranges.at(input);
    for (std::int64_t i = 0; i < 100000; ++i) {
      const double x = static_cast<double>(course::value<TypeParam>(input, 1, i));
      ASSERT_TRUE(x >= least && x <= largest) << name_of(input) << " at " << i << ": " << x;
    }
  }
}

TYPED_TEST(Inputs, LoseTheirSignWhereAsked) {
  for (const Input input : families) {
    for (const std::int64_t every : {0, 1, 4, 7}) {
      std::int64_t changed = 0;
      for (std::int64_t i = 0; i < 1000; ++i) {
        const TypeParam plain = course::value<TypeParam>(input, 3, i);
        const TypeParam got = course::value<TypeParam>(input, 3, i, every);
        const bool chosen = every > 0 && i % every == every - 1;
        ASSERT_EQ(got, chosen && plain < TypeParam{0} ? static_cast<TypeParam>(0 - plain) : plain)
            << name_of(input) << " at " << i << ", every " << every;
        changed += got != plain;
      }
      if (input == Input::random && std::is_floating_point<TypeParam>::value && every > 0) {
        EXPECT_GT(changed, 1000 / every / 4) << "half of them are below zero";
      }
    }
  }
}

TEST(InputValues, AreExactAsFloat) {
  for (const Input input : families) {
    for (std::int64_t i = 0; i < 100000; ++i) {
      const double x = course::value<double>(input, 3, i);
      ASSERT_EQ(x, static_cast<double>(static_cast<float>(x))) << name_of(input) << " at " << i;
      ASSERT_EQ(x, static_cast<double>(course::value<float>(input, 3, i))) << name_of(input);
    }
  }
}

TEST(InputValues, AreWhatTheFamilyIsNamedAfter) {
  int denormal = 0, large = 0;
  std::set<float> few;
  for (std::int64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(course::value<float>(Input::equal, 5, i), 1);
    EXPECT_LT(course::value<float>(Input::ascending, 5, i),
              course::value<float>(Input::ascending, 5, i + 1));
    EXPECT_GT(course::value<float>(Input::descending, 5, i),
              course::value<float>(Input::descending, 5, i + 1));
    few.insert(course::value<float>(Input::few_distinct, 5, i));
    denormal += std::fpclassify(course::value<float>(Input::denormal, 5, i)) == FP_SUBNORMAL;
    large += std::abs(course::value<float>(Input::large, 5, i)) > 1e30f;
    EXPECT_TRUE(std::isfinite(course::value<float>(Input::large, 5, i) * 64)) << "sums overflow";
  }
  EXPECT_EQ(few.size(), 4u);
  EXPECT_GT(denormal, 990);
  EXPECT_GT(large, 990);
}

TEST(InputValues, SumsOfIntegersAreExactInAnyOrder) {
  constexpr std::int64_t n = 1 << 20;
  std::int64_t exact = 0;
  float forward = 0, backward = 0, strided = 0;
  std::vector<float> tree(n);
  for (std::int64_t i = 0; i < n; ++i) {
    const float x = course::value<float>(Input::integers, 1, i);
    tree[static_cast<std::size_t>(i)] = x;
    exact += static_cast<std::int64_t>(x);
    forward += x;
    backward += course::value<float>(Input::integers, 1, n - 1 - i);
    strided += course::value<float>(Input::integers, 1, i * 4099 % n);  // odd: visits each i once
  }
  for (std::size_t half = n / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) tree[i] += tree[i + half];
  }
  for (const float sum : {forward, backward, strided, tree[0]}) {
    EXPECT_EQ(static_cast<std::int64_t>(sum), exact);
  }
}

TEST(InputValues, MixIsSplitMix64) {  // its published first outputs for the state 0
  EXPECT_EQ(course::mix(0, 0), 0xE220A8397B1DCDAFull);
  EXPECT_EQ(course::mix(0, 1), 0x6E789E6AA1B965F4ull);
  EXPECT_EQ(course::mix(0, 2), 0x06C45D188009454Full);
}

TEST(InputValues, SeedsGiveUnrelatedArrays) {
  constexpr int n = 4096;
  const std::uint64_t seeds[] = {0, 1, 2, 3, 1000003, 1000004, 20261120, ~0ull};
  for (const std::uint64_t a : seeds) {
    for (const std::uint64_t b : seeds) {
      if (a == b) continue;
      int same = 0;
      double product = 0;
      for (int i = 0; i < n; ++i) {
        const float x = course::value<float>(Input::random, a, i);
        const float y = course::value<float>(Input::random, b, i);
        same += x == y;
        product += double{x} * y;
      }
      EXPECT_LE(same, 1) << a << " and " << b;
      EXPECT_LT(std::abs(product / n), 6 * (1.0 / 3) / std::sqrt(n)) << a << " and " << b;
    }
  }
  for (int shift = -100; shift <= 100; ++shift) {
    EXPECT_NE(course::mix(1, 1000), course::mix(2, static_cast<std::uint64_t>(1000 + shift)))
        << "one array is the other, shifted";
  }
}

TEST(InputValues, MeanAndVariance) {
  constexpr int n = 1 << 20;
  for (const std::uint64_t seed : {1u, 2u, 20261120u}) {
    double sum = 0, squares = 0;
    for (int i = 0; i < n; ++i) {
      const double x = course::value<float>(Input::random, seed, i);
      sum += x;
      squares += x * x;
    }
    // five standard deviations of each estimate
    EXPECT_NEAR(sum / n, 0, 5 * std::sqrt(1.0 / 3 / n));
    EXPECT_NEAR(squares / n, 1.0 / 3, 5 * std::sqrt((1.0 / 5 - 1.0 / 9) / n));
  }
}

TEST(InputValues, EveryBitAndEveryIntegerIsAsLikelyAsTheOthers) {
  constexpr int n = 1 << 18;
  std::vector<int> ones(64), seen(15);
  for (int i = 0; i < n; ++i) {
    const std::uint64_t bits = course::mix(1, static_cast<std::uint64_t>(i));
    for (std::size_t b = 0; b < 64; ++b) ones[b] += static_cast<int>(bits >> b & 1);
    ++seen[static_cast<std::size_t>(course::value<float>(Input::integers, 1, i) + 7)];
  }
  for (const int count : ones) EXPECT_NEAR(count, n / 2, 5 * std::sqrt(n / 4));
  for (const int count : seen) EXPECT_NEAR(count, n / 15, 5 * std::sqrt(n / 15));
}

TEST(InputValues, DoNotRepeat) {
  constexpr int n = 1 << 18;
  std::vector<std::uint64_t> bits(n);
  std::vector<float> x(n);
  for (int i = 0; i < n; ++i) {
    bits[static_cast<std::size_t>(i)] = course::mix(1, static_cast<std::uint64_t>(i));
    x[static_cast<std::size_t>(i)] = course::value<float>(Input::random, 1, i);
  }
  for (const std::size_t lag : {1, 2, 3, 31, 32, 33, 256, 1024, 4096, 65536, 131072}) {
    double product = 0;
    int equal_in_a_row = 0, longest = 0;
    for (std::size_t i = 0; i + lag < n; ++i) {
      product += double{x[i]} * x[i + lag];
      equal_in_a_row = x[i] == x[i + lag] ? equal_in_a_row + 1 : 0;
      longest = std::max(longest, equal_in_a_row);
    }
    const double pairs = static_cast<double>(n - lag);
    EXPECT_LT(std::abs(product / pairs), 5 * (1.0 / 3) / std::sqrt(pairs)) << "lag " << lag;
    EXPECT_LE(longest, 1) << "lag " << lag;
  }
  std::sort(bits.begin(), bits.end());
  EXPECT_EQ(std::adjacent_find(bits.begin(), bits.end()), bits.end());
  for (const std::int64_t i : {0, 5, 1000}) {  // an index cut to 32 bits would repeat here
    EXPECT_NE(course::value<float>(Input::random, 1, i),
              course::value<float>(Input::random, 1, i + (std::int64_t{1} << 32)));
  }
}

// Threads

TEST(ParallelFor, CoversEachIndexOnce) {
  for (const std::int64_t n : {0, 1, 2, 3, 31, 1000, 65535, 65536, 65537, 131071, 131072, 131073,
                               196609, 1000003, (1 << 22) + 1}) {
    std::vector<std::atomic<unsigned char>> visits(static_cast<std::size_t>(n));
    std::mutex guard;
    std::vector<std::pair<std::int64_t, std::int64_t>> parts;
    course::parallel_for(n, [&](std::int64_t first, std::int64_t last) {
      const std::lock_guard<std::mutex> lock(guard);
      parts.emplace_back(first, last);
    });
    for (const auto& [first, last] : parts) {
      ASSERT_TRUE(0 <= first && first <= last && last <= n) << first << " to " << last;
    }
    course::parallel_for(n, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) ++visits[static_cast<std::size_t>(i)];
    });
    for (std::size_t i = 0; i < visits.size(); ++i) ASSERT_EQ(visits[i], 1) << i << " of " << n;
  }
}

TEST(ParallelFor, ResultsAreThereWhenItReturns) {
  for (int round = 0; round < 20; ++round) {
    std::vector<int> x(1 << 19, 0);
    course::parallel_for(1 << 19, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) x[static_cast<std::size_t>(i)] = 1;
    });
    ASSERT_EQ(std::accumulate(x.begin(), x.end(), 0), 1 << 19);
  }
}

// The reference program

}  // namespace
