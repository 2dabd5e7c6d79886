#pragma once
/// \file
/// The two comparators. The same test of one element runs on the host (unit tests, references) and
/// on the device.

#include <cstdint>
#include <string>

#include "chapter/input.hpp"

namespace course {

/// What a comparison found. `largest_error` is infinite when an element is not finite.
struct Mismatch {
  std::uint64_t count = 0;
  std::int64_t first = -1;  ///< index of the first wrong element, -1 if there is none
  double got = 0, want = 0;
  double largest_error = 0;
  bool ok() const { return count == 0; }
};

/// True if got is as close to want as the tolerance asks. NaN and infinity are never close, not
/// even to themselves.
template <class T>
COURSE_HOST_DEVICE bool element_matches(T got, double want, Tolerance tolerance, double* error) {
  const double difference = static_cast<double>(got) - want;
  *error = difference < 0 ? -difference : difference;
  const double magnitude = want < 0 ? -want : want;
  if (tolerance.bits) {
    const T exact = static_cast<T>(want);
    return got == exact && (got != T{0} || 1 / static_cast<double>(got) ==
                                               1 / static_cast<double>(exact));  // -0 is not +0
  }
  const double bound = tolerance.absolute + tolerance.relative * magnitude;
  return *error <= bound && bound <= 1.7976931348623157e308;  // false for a NaN error or bound
}

/// |got - want| <= absolute + relative * |want| for every element, on the host.
template <class T>
Mismatch close(const T* got, const double* want, std::int64_t count, double absolute,
               double relative);

/// The same bit pattern in every element (NaN fails all the same), on the host.
template <class T>
Mismatch same_bits(const T* got, const double* want, std::int64_t count);

/// One line: "3 of 1000 wrong, first at 17: got 2, want 3"; empty if there is no mismatch.
std::string text(const Mismatch& mismatch, std::int64_t count, const std::string& array);

}  // namespace course
