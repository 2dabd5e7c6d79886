// The host half of common/: statistics, comparators, inputs, command line, JSON, files, threads.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "compare.hpp"
#include "error.hpp"
#include "error_of.hpp"
#include "input.hpp"
#include "json.hpp"
#include "options.hpp"
#include "problem.hpp"
#include "reference.hpp"
#include "statistics.hpp"

namespace {

namespace fs = std::filesystem;

using course::Input;
using course::Json;
using course::Mismatch;
using course::Size;
using course::Type;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

constexpr Input families[] = {Input::random,    Input::integers,   Input::equal,
                              Input::ascending, Input::descending, Input::few_distinct,
                              Input::denormal,  Input::large};

/// The words of a text, for lists of arguments.
std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Bad usage: exit code 2 and one line that names the argument.
template <class F>
void expect_bad_usage(F call, const std::string& argument) {
  const course::Error error = error_of(call);
  EXPECT_EQ(error.exit_code, 2) << error.what();
  EXPECT_TRUE(has(error.what(), argument)) << "'" << error.what() << "' does not say " << argument;
  EXPECT_FALSE(has(error.what(), "\n")) << "more than one line: " << error.what();
}

// Statistics

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
  got[996] = static_cast<TypeParam>(want[996]);  // a hole in it: not the tail of a loop
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
      course::value<TypeParam>(input, 8, i + 1);  // no state that another call could move
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
    strided += course::value<float>(Input::integers, 1, i * 4099 % n);  // odd: visits each once
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

// Sizes, types and names

TEST(Sizes, Dimensions) {
  Size size{{{"rows", 64}, {"cols", 1 << 20}}};
  EXPECT_EQ(size["rows"], 64);
  EXPECT_EQ(size["cols"], 1 << 20);
  EXPECT_THROW(size["n"], std::out_of_range);
  EXPECT_EQ(size.text(), "rows=64 cols=2^20");
  const Size before = size;
  EXPECT_TRUE(size == before);
  size.set("rows", 48);
  EXPECT_FALSE(size == before);
  size.set("depth", 3);
  EXPECT_EQ(size.text(), "rows=48 cols=2^20 depth=3") << "in reading order";
}

TEST(Sizes, Text) {
  EXPECT_EQ(course::size_text(0), "0");
  EXPECT_EQ(course::size_text(1), "1");
  EXPECT_EQ(course::size_text(512), "512");
  EXPECT_EQ(course::size_text(1023), "1023");
  EXPECT_EQ(course::size_text(1024), "2^10");
  EXPECT_EQ(course::size_text(1025), "1025");
  EXPECT_EQ(course::size_text(3 << 10), "3072");
  EXPECT_EQ(course::size_text(std::int64_t{1} << 32), "2^32");
  EXPECT_EQ(course::size_text(std::int64_t{1} << 62), "2^62");
}

TEST(Sizes, Types) {
  const std::map<Type, std::pair<std::string, std::size_t>> types = {{Type::f32, {"f32", 4}},
                                                                     {Type::f64, {"f64", 8}},
                                                                     {Type::i32, {"i32", 4}},
                                                                     {Type::u32, {"u32", 4}},
                                                                     {Type::i64, {"i64", 8}}};
  for (const auto& [type, facts] : types) {
    EXPECT_EQ(name_of(type), facts.first);
    EXPECT_EQ(course::bytes_of(type), facts.second);
    course::Array array;
    array.count = 3;
    array.type = type;
    EXPECT_EQ(array.bytes(), static_cast<std::int64_t>(3 * facts.second));
  }
  std::set<std::string> names;
  for (const Input input : families) names.insert(name_of(input));
  EXPECT_EQ(names.size(), std::size(families));
  EXPECT_EQ(names.count("?"), 0u);
}

// The command line

TEST(ParseSize, Good) {
  using Dimensions = std::vector<std::int64_t>;
  EXPECT_EQ(course::parse_size("1000003"), Dimensions{1000003});
  EXPECT_EQ(course::parse_size("0"), Dimensions{0});
  EXPECT_EQ(course::parse_size("64K"), Dimensions{64 << 10});
  EXPECT_EQ(course::parse_size("16M"), Dimensions{16 << 20});
  EXPECT_EQ(course::parse_size("16m"), Dimensions{16 << 20});
  EXPECT_EQ(course::parse_size("2G"), Dimensions{std::int64_t{2} << 30});
  EXPECT_EQ(course::parse_size("2^0"), Dimensions{1});
  EXPECT_EQ(course::parse_size("2^28"), Dimensions{1 << 28});
  EXPECT_EQ(course::parse_size("2^62"), Dimensions{std::int64_t{1} << 62});
  EXPECT_EQ(course::parse_size("8192x8192"), (Dimensions{8192, 8192}));
  EXPECT_EQ(course::parse_size("2^10x3Kx5"), (Dimensions{1024, 3072, 5}));
}

TEST(ParseSize, Bad) {
  auto bad = words(
      "x 8x x8 8xx8 -1 +1 1.5 1e6 12Q K 2^ ^2 2^-1 2^63 2^64 2^9999999999999999999 3^4 2^4K "
      "8,8 many 9223372036854775808 99999999999999999999 8589934592G 9007199254740992K");
  for (const char* text : {"", " 8", "8 "}) bad.emplace_back(text);
  for (const std::string& text : bad) {
    SCOPED_TRACE(text);
    expect_bad_usage([&] { course::parse_size(text); }, "--size");
    expect_bad_usage([&] { course::parse_size(text); }, "'" + text + "'");
  }
}

TEST(ParseSelection, Good) {
  using Parts = std::vector<std::string>;
  EXPECT_EQ(course::parse_selection("3,5-7"), (Parts{"3", "5", "6", "7"}));
  EXPECT_EQ(course::parse_selection("3"), Parts{"3"});
  EXPECT_EQ(course::parse_selection("0"), Parts{"0"});
  EXPECT_EQ(course::parse_selection("03"), Parts{"3"});
  EXPECT_EQ(course::parse_selection("03-05"), (Parts{"3", "4", "5"}));
  EXPECT_EQ(course::parse_selection("7-7"), Parts{"7"});
  EXPECT_EQ(course::parse_selection("grid_stride,90_cub"), (Parts{"grid_stride", "90_cub"}));
}

TEST(ParseSelection, Bad) {
  for (const char* text :
       {"", ",", "3,", ",3", "3,,4", "7-5", "a-b", "3-", "-3", "-", "1-2-3", "1-9999", "1 - 3"}) {
    SCOPED_TRACE(text);
    expect_bad_usage([&] { course::parse_selection(text); }, "--only");
  }
}

TEST(Selects, ByNumberOrName) {
  const auto selects = [](const char* text, const char* id) {
    return course::selects(course::parse_selection(text), id);
  };
  for (const char* asked : {"3", "03", "03_grid_stride", "grid_stride", "1-4", "9,3"}) {
    EXPECT_TRUE(selects(asked, "03_grid_stride")) << asked;
  }
  for (const char* asked : {"30", "0", "1", "4-9", "grid", "stride", "03_grid", "3_grid_stride2"}) {
    EXPECT_FALSE(selects(asked, "03_grid_stride")) << asked;
  }
  EXPECT_TRUE(selects("80-99", "90_cub"));
  EXPECT_TRUE(selects("cudaMemcpy", "cudaMemcpy")) << "a name without a number";
  EXPECT_TRUE(selects("bulk_copy", "bulk_copy"));
  EXPECT_FALSE(selects("0", "bulk_copy"));
  EXPECT_FALSE(course::selects({}, "03_grid_stride"));
}

/// The options of a command line without the program's name.
course::Options parse(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv = {"01_vector_add"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  return course::parse_options(static_cast<int>(argv.size()), argv.data());
}

TEST(ParseOptions, Nothing) {
  const course::Options options = parse({});
  EXPECT_FALSE(options.help || options.list || options.check_only || options.record);
  EXPECT_TRUE(options.only.empty() && options.studies.empty() && options.sizes.empty());
  EXPECT_TRUE(options.json.empty() && options.label.empty() && options.commit.empty());
  EXPECT_EQ(options.profile, 0);
  EXPECT_EQ(options.seed, 1u);
  EXPECT_EQ(options.device, 0);
}

TEST(ParseOptions, Everything) {
  const course::Options options =
      parse(words("--list --check --record --only 3,5-6 --only=90_cub --study offset,stride "
                  "--size 2^20,16M --json a.json --label team07 --commit abc1234 --source-hash=ff "
                  "--profile 3 --seed 999999999999999999 --device 1 --help"));
  EXPECT_TRUE(options.help && options.list && options.check_only && options.record);
  EXPECT_EQ(options.only, (std::vector<std::string>{"3", "5", "6", "90_cub"}));
  EXPECT_EQ(options.studies, (std::vector<std::string>{"offset", "stride"}));
  EXPECT_EQ(options.sizes, (std::vector<std::vector<std::int64_t>>{{1 << 20}, {16 << 20}}));
  EXPECT_EQ(options.json, "a.json");
  EXPECT_EQ(options.label, "team07");
  EXPECT_EQ(options.commit, "abc1234");
  EXPECT_EQ(options.source_hash, "ff");
  EXPECT_EQ(options.profile, 3);
  EXPECT_EQ(options.seed, 999999999999999999u);
  EXPECT_EQ(options.device, 1);
  EXPECT_TRUE(parse({"-h"}).help);
}

TEST(ParseOptions, UnknownArguments) {
  for (const char* argument : {"--frobnicate", "--sizes", "-s", "2^20", "", "--", "-"}) {
    SCOPED_TRACE(argument);
    expect_bad_usage([&] { parse({argument}); }, argument);
  }
  expect_bad_usage([] { parse({"--frobnicate=3"}); }, "--frobnicate");
}

TEST(ParseOptions, ValuesThatAreMissing) {
  for (const std::string& option : words("--only --study --size --json --label --commit "
                                         "--source-hash --profile --seed --device")) {
    SCOPED_TRACE(option);
    expect_bad_usage([&] { parse({"--check", option}); }, option);
  }
}

TEST(ParseOptions, ValuesThatAreBad) {
  const auto bad = words(
      "--seed=x --seed=-1 --seed=1e3 --seed=1000000000000000000000 --device=first --device=-1 "
      "--device=1e9 --device=0x1 --profile=0 --profile= --size=big --size=2^20, --size= --only=7-5 "
      "--only= --json=");
  for (const std::string& argument : bad) {
    const auto equals = argument.find('=');
    const std::string option = argument.substr(0, equals), value = argument.substr(equals + 1);
    SCOPED_TRACE(argument);
    expect_bad_usage([&] { parse({argument}); }, option);
    expect_bad_usage([&] { parse({option, value}); }, option);
  }
}

TEST(ParseOptions, AFlagTakesNoValue) {
  for (const std::string& argument : words("--check=no --list=1 --record=false --help=yes")) {
    SCOPED_TRACE(argument);
    expect_bad_usage([&] { parse({argument}); }, argument.substr(0, argument.find('=')));
  }
}

TEST(ParseOptions, TheHelpNamesWhatLearnersUse) {
  const std::string help = course::usage("01_vector_add");
  EXPECT_EQ(help.rfind("usage: 01_vector_add", 0), 0u);
  for (const std::string& option : words("--list --only --study --size --check --json --label "
                                         "--profile --seed --device --record --help")) {
    EXPECT_TRUE(has(help, option)) << option;
  }
}

// JSON

/// A document without the white space between its tokens; the texts in it must have none.
std::string squeezed(std::string text) {
  text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c == ' ' || c == '\n'; }),
             text.end());
  return text;
}

TEST(Json, Escapes) {
  EXPECT_EQ(Json().value("plain").text(), R"("plain")");
  EXPECT_EQ(Json().value("").text(), R"("")");
  EXPECT_EQ(Json().value(R"(a"b\c/d)").text(), R"("a\"b\\c/d")");
  EXPECT_EQ(Json().value("\x01\x1f").text(), R"("\u0001\u001f")");
  const std::string lines = Json().value("one\ntwo\tthree\r").text();
  EXPECT_TRUE(std::none_of(lines.begin(), lines.end(), [](char c) { return c >= 0 && c < 0x20; }));
  EXPECT_EQ(squeezed(Json().begin_object().key("a\"\\").value(1).end_object().text()),
            R"({"a\"\\":1})");
  EXPECT_EQ(Json().value(std::string("a\0b", 3)).text(), R"("a\u0000b")");
}

TEST(Json, NumbersThatAreNotFiniteAreNull) {
  for (const double number : {not_a_number, infinity, -infinity}) {
    EXPECT_EQ(Json().value(number).text(), "null");
  }
  EXPECT_EQ(squeezed(Json().value(std::vector<double>{1, not_a_number, infinity}).text()),
            "[1,null,null]");
  EXPECT_EQ(Json().value(std::optional<double>()).text(), "null");
  EXPECT_EQ(Json().value(std::optional<double>(infinity)).text(), "null");
  EXPECT_EQ(Json().value(std::optional<double>(2)).text(), "2");
  EXPECT_EQ(Json().value_or_null("").text(), "null");
  EXPECT_EQ(Json().value_or_null("x").text(), R"("x")");
}

TEST(Json, Numbers) {
  EXPECT_EQ(Json().value(std::numeric_limits<std::int64_t>::min()).text(), "-9223372036854775808");
  EXPECT_EQ(Json().value(std::numeric_limits<std::int64_t>::max()).text(), "9223372036854775807");
  EXPECT_EQ(Json().value(-7).text(), "-7");
  EXPECT_EQ(Json().value(true).text(), "true");
  EXPECT_EQ(Json().value(false).text(), "false");
  for (const double number : {0.0, 0.1, -1.0 / 3, 1e-9, 12345678.9, 1.7976931348623157e308,
                              2.3e-308, 4917.123456789, 3221225472.0}) {
    const double again = std::strtod(Json().value(number).text().c_str(), nullptr);
    EXPECT_NEAR(again, number, 1e-8 * std::abs(number));
  }
}

TEST(Json, NestsAndSeparates) {
  Json json;
  json.begin_object();
  json.key("a").begin_array().end_array();
  json.key("b").begin_object().end_object();
  json.key("c").begin_array().begin_array().value(1).value(2).end_array();
  json.begin_array().end_array().null().end_array();
  json.key("d").begin_object().key("e").begin_array().begin_object();
  json.key("f").null().key("g").begin_array().begin_array().value(3).begin_object().end_object();
  json.end_array().end_array().end_object().end_array().end_object();
  json.key("h").value(std::vector<std::string>{"x", "y"});
  json.key("i").value(std::vector<double>{}).end_object();
  EXPECT_EQ(squeezed(json.text()),
            R"({"a":[],"b":{},"c":[[1,2],[],null],"d":{"e":[{"f":null,"g":[[3,{}]]}]},)"
            R"("h":["x","y"],"i":[]})");
}

/// tests/python/test_json.py reads this document with Python's json module.
TEST(Json, WritesSampleFile) {
  const char* path = std::getenv("COURSE_JSON_OUT");
  if (path == nullptr) GTEST_SKIP() << "COURSE_JSON_OUT names no file: test_json.py sets it";
  std::string controls;
  for (char c = 1; c < 0x20; ++c) controls += c;
  Json json;
  json.begin_object();
  json.key("schema").value(1);
  json.key("plain").value("vector add");
  json.key("quotes").value(R"("a" \ 'b' / </script>)");
  json.key("controls").value(controls + "\x7f");
  json.key("unicode").value("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x9a\x80 \xe2\x80\xa8");
  json.key("k\xc3\xa9y \"\n").value("");
  json.key("true").value(true).key("false").value(false).key("null").null();
  json.key("least").value(std::numeric_limits<std::int64_t>::min());
  json.key("largest").value(std::numeric_limits<std::int64_t>::max());
  json.key("not_finite").value(std::vector<double>{not_a_number, infinity, -infinity, 1});
  json.key("numbers").value(std::vector<double>{0, -0.0, 0.1, -1.0 / 3, 6.02214076e23,
                                                1.2345678912e-5, 1e300, 2.5e-300, 3221225472.0,
                                                1e22, 123456789});
  json.key("maybe").value(std::optional<double>(0.5)).key("nothing").value(std::optional<double>());
  json.key("no_text").value_or_null("").key("a_text").value_or_null("text");
  json.key("empty").begin_object().key("array").begin_array().end_array();
  json.key("object").begin_object().end_object();
  json.key("texts").value(std::vector<std::string>{}).end_object();
  json.key("deep");
  for (int level = 0; level < 8; ++level) json.begin_array().value(level);
  for (int level = 0; level < 8; ++level) json.end_array();
  json.key("rows").begin_array();
  for (int row = 0; row < 3; ++row) {
    json.begin_object().key("size").begin_object().key("n").value(row).end_object();
    json.key("seconds").value(std::vector<double>(static_cast<std::size_t>(row), 0.25));
    json.key("flags").value(std::vector<std::string>{"noisy", "few_samples"}).end_object();
  }
  json.end_array().end_object();
  course::write_file(path, json.text() + "\n");
}

// Files

/// A folder of its own for each test.
class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "course_files_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_)) found.insert(entry.path().filename());
    return found;
  }

  /// write_file must fail with exit code 4 and one line that names the path.
  static void expect_not_written(const std::string& path) {
    const course::Error error = error_of([&] { course::write_file(path, "new"); });
    EXPECT_EQ(error.exit_code, 4) << error.what();
    EXPECT_TRUE(has(error.what(), path)) << error.what();
    EXPECT_FALSE(has(error.what(), "\n")) << error.what();
  }

  fs::path folder_;
};

using Names = std::set<std::string>;

TEST_F(Files, New) {
  course::write_file(path("a.json"), "contents\n");
  EXPECT_EQ(read(path("a.json")), "contents\n");
  EXPECT_EQ(names(), Names{"a.json"}) << "a temporary file stayed behind";
}

TEST_F(Files, EmptyBinaryAndLarge) {
  course::write_file(path("empty"), "");
  EXPECT_EQ(read(path("empty")), "");
  const std::string binary("\0\n\xff\r\n", 5);
  course::write_file(path("binary"), binary);
  EXPECT_EQ(read(path("binary")), binary);
  const std::string large(5000000, 'x');
  course::write_file(path("large"), large);
  EXPECT_EQ(read(path("large")), large);
}

TEST_F(Files, ReplacedAsAWhole) {
  course::write_file(path("a.json"), "the old and longer contents");
  std::ifstream reader(path("a.json"));
  course::write_file(path("a.json"), "new");
  std::string seen;
  std::getline(reader, seen);
  EXPECT_EQ(seen, "the old and longer contents") << "who has it open keeps the old file";
  EXPECT_EQ(read(path("a.json")), "new");
  EXPECT_EQ(names(), Names{"a.json"});
}

TEST_F(Files, FolderMissing) {
  expect_not_written(path("missing/a.json"));
  EXPECT_TRUE(names().empty());
}

TEST_F(Files, BelowAFile) {  // fails for root, too
  course::write_file(path("file"), "old");
  expect_not_written(path("file/a.json"));
  EXPECT_EQ(read(path("file")), "old");
  EXPECT_EQ(names(), Names{"file"});
}

TEST_F(Files, AFolderIsInTheWay) {
  fs::create_directory(folder_ / "a.json");
  expect_not_written(path("a.json"));
  EXPECT_EQ(names(), Names{"a.json"}) << "a temporary file stayed behind";
  EXPECT_TRUE(fs::is_directory(folder_ / "a.json"));
}

/// A device or a pipe is neither replaced by a file nor written into.
TEST_F(Files, OnlyRegularFilesAreReplaced) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  for (const std::string& special :
       {path("pipe"), std::string("/dev/full"), std::string("/dev/null")}) {
    SCOPED_TRACE(special);
    const fs::file_type before = fs::status(special).type();
    expect_not_written(special);
    const course::Error error = error_of([&] { course::check_writable(special); });
    EXPECT_EQ(error.exit_code, 4);
    EXPECT_TRUE(has(error.what(), special) && has(error.what(), "no regular file")) << error.what();
    EXPECT_EQ(fs::status(special).type(), before);
  }
  EXPECT_EQ(names(), Names{"pipe"}) << "a temporary file stayed behind";
}

TEST_F(Files, ALinkStaysALink) {
  course::write_file(path("file"), "old");
  fs::create_symlink("file", folder_ / "link");
  course::write_file(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read(path("file")), "new");
  fs::create_symlink("missing", folder_ / "dangling");
  course::write_file(path("dangling"), "there");
  EXPECT_EQ(read(path("missing")), "there");
  EXPECT_EQ(names(), (Names{"dangling", "file", "link", "missing"}));
}

TEST_F(Files, CheckWritableTellsWhatWriteFileWouldDo) {
  course::write_file(path("file"), "old");
  fs::create_directory(folder_ / "folder");
  for (const char* good : {"new.json", "file"}) {
    EXPECT_EQ(error_of([&] { course::check_writable(path(good)); }).exit_code, 0) << good;
  }
  for (const char* bad : {"missing/a.json", "file/a.json", "folder"}) {
    const course::Error error = error_of([&] { course::check_writable(path(bad)); });
    EXPECT_EQ(error.exit_code, 4) << bad;
    EXPECT_TRUE(has(error.what(), path(bad))) << error.what();
  }
  EXPECT_EQ(read(path("file")), "old");
  EXPECT_EQ(names(), (Names{"file", "folder"})) << "a temporary file stayed behind";
}

/// What a full disk does, by a limit on the size of files in a child process.
TEST_F(Files, FullDisk) {
  if (std::getenv("COURSE_SANITIZE")) GTEST_SKIP() << "a sanitizer writes files of its own";
  course::write_file(path("a.json"), "old");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(99);
    const course::Error error =
        error_of([&] { course::write_file(path("a.json"), std::string(1 << 20, 'x')); });
    _exit(error.exit_code);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 4);
  EXPECT_EQ(read(path("a.json")), "old") << "the old file must stay";
  EXPECT_EQ(names(), Names{"a.json"}) << "a temporary file stayed behind";
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

/// out = 2 * in, n floats.
class Doubling : public course::Problem {
 public:
  using Problem::Problem;
  std::vector<course::Array> inputs() const override { return {{"in", n(), Type::f32, seed()}}; }
  std::vector<course::Array> outputs() const override { return {{"out", n(), Type::f32}}; }
  double bytes_read() const override { return 4.0 * static_cast<double>(n()); }
  double bytes_written() const override { return bytes_read(); }
  void expected(int, double* out) const override {
    for (std::int64_t i = 0; i < n(); ++i) out[i] = 2.0 * course::value<float>(input(), seed(), i);
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }
};

/// The exit code and the output of a reference program that leaves out the last `missing` elements.
std::pair<int, std::string> run_reference(std::vector<std::string> arguments, std::size_t missing) {
  course::Reference reference;
  reference.chapter = "99_doubling";
  reference.what = "out = 2 in";
  reference.make = [](const Size& size, std::uint64_t seed, Input input) {
    return std::make_unique<Doubling>(size, seed, input);
  };
  reference.solve = [missing](const course::Problem&, course::HostArrays& arrays) {
    const auto& in = arrays.inputs[0];
    for (std::size_t i = 0; i + missing < in.size(); ++i) arrays.outputs[0][i] = 2 * in[i];
  };
  reference.sizes = {Size{{{"n", 1000}}}, Size{{{"n", 200000}}}};
  arguments.insert(arguments.begin(), "99_doubling_reference");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  int code = -1;
  try {
    code = course::run_reference(static_cast<int>(argv.size()), argv.data(), reference);
  } catch (const std::exception& error) {
    std::printf("uncaught: %s\n", error.what());
  }
  const std::string error = testing::internal::GetCapturedStderr();
  return {code, testing::internal::GetCapturedStdout() + error};
}

TEST(ReferenceProgram, Right) {
  const auto [code, text] = run_reference({}, 0);
  EXPECT_EQ(code, 0) << text;
  EXPECT_TRUE(has(text, "n=1000") && has(text, "n=200000") && has(text, "correct")) << text;
  EXPECT_FALSE(has(text, "FAILED")) << text;
}

TEST(ReferenceProgram, Wrong) {
  const auto [code, text] = run_reference({}, 1);
  EXPECT_EQ(code, 1);
  EXPECT_TRUE(has(text, "FAILED: 1 of 1000 wrong in out, first at 999")) << text;
  EXPECT_TRUE(has(text, "tail")) << text;
}

TEST(ReferenceProgram, Sizes) {
  const auto [code, text] = run_reference({"--size", "0,2^10", "--seed", "5"}, 0);
  EXPECT_EQ(code, 0) << text;
  EXPECT_TRUE(has(text, "n=0") && has(text, "n=2^10")) << text;
  EXPECT_FALSE(has(text, "n=200000")) << text;
}

TEST(ReferenceProgram, SizesThatAreBadOrTooLarge) {
  for (const char* size : {"big", "2x2", "2^46", "2^62"}) {
    const auto [code, text] = run_reference({"--size", size}, 0);
    EXPECT_EQ(code, 2) << size << ": " << text;
    EXPECT_TRUE(has(text, "--size")) << text;
  }
}

}  // namespace
