#pragma once
/// \file
/// The sizes at which Fourier transforms are fast. Host C++: version 92 and the problem whose input
/// is a spectrum must agree on them.

#include <cstdint>

namespace fft {

/// The least even number from n on without another factor than 2, 3, 5 and 7.
inline std::int64_t smooth(std::int64_t n) {
  for (n += n % 2;; n += 2) {
    std::int64_t rest = n;
    for (const int factor : {2, 3, 5, 7}) {
      while (rest % factor == 0) rest /= factor;
    }
    if (rest == 1) return n;
  }
}

}  // namespace fft
