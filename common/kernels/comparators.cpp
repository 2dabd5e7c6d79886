#include "kernels/comparators.hpp"

#include <cmath>
#include <cstdio>
#include <limits>

namespace course {
namespace {

template <class T>
Mismatch compare(const T* got, const double* want, std::int64_t count, Tolerance tolerance) {
  Mismatch mismatch;
  for (std::int64_t i = 0; i < count; ++i) {
    double error = 0;
    const bool matches = element_matches(got[i], want[i], tolerance, &error);
    if (!std::isfinite(error)) error = std::numeric_limits<double>::infinity();
    if (error > mismatch.largest_error) mismatch.largest_error = error;
    if (matches) continue;
    if (mismatch.count++ == 0) {
      mismatch.first = i;
      mismatch.got = static_cast<double>(got[i]);
      mismatch.want = want[i];
    }
  }
  return mismatch;
}

/// Whole numbers with all digits, so that two keys that differ look different; others with nine.
std::string number_text(double number) {
  if (std::isnan(number)) return "NaN";
  const bool whole = number == std::trunc(number) && std::fabs(number) < 0x1p53;
  char text[32];
  std::snprintf(text, sizeof text, whole ? "%.0f" : "%.9g", number);
  return text;
}

/// What a wrong first element often means.
const char* hint(const Mismatch& mismatch, std::int64_t count) {
  if (std::isnan(mismatch.got)) {
    const bool tail =
        mismatch.first > 0 && mismatch.count == static_cast<std::uint64_t>(count - mismatch.first);
    return tail ? " (NaN up to the end: the tail was never written?)" : " (NaN: never written?)";
  }
  return "";
}

}  // namespace

template <class T>
Mismatch close(const T* got, const double* want, std::int64_t count, double absolute,
               double relative) {
  return compare(got, want, count, {absolute, relative, false});
}

template <class T>
Mismatch same_bits(const T* got, const double* want, std::int64_t count) {
  return compare(got, want, count, {0, 0, true});
}

std::string text(const Mismatch& mismatch, std::int64_t count, const std::string& array) {
  if (mismatch.ok()) return "";
  return std::to_string(mismatch.count) + " of " + std::to_string(count) + " wrong in " + array +
         ", first at " + std::to_string(mismatch.first) + ": got " + number_text(mismatch.got) +
         ", want " + number_text(mismatch.want) + hint(mismatch, count);
}

template Mismatch close(const float*, const double*, std::int64_t, double, double);
template Mismatch close(const double*, const double*, std::int64_t, double, double);
template Mismatch same_bits(const float*, const double*, std::int64_t);
template Mismatch same_bits(const double*, const double*, std::int64_t);
template Mismatch same_bits(const std::int32_t*, const double*, std::int64_t);
template Mismatch same_bits(const std::uint32_t*, const double*, std::int64_t);
template Mismatch same_bits(const std::int64_t*, const double*, std::int64_t);

}  // namespace course
