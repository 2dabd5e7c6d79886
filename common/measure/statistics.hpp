#pragma once
/// \file
/// Order statistics of a list of times.

#include <cstddef>
#include <vector>

namespace course {

/// Summary of samples; all zero for an empty list. Quartiles interpolate linearly between order
/// statistics.
struct Statistics {
  std::size_t count = 0;
  double minimum = 0, q1 = 0, median = 0, q3 = 0, mean = 0;
  double relative_error =
      0;  ///< standard error of the mean over the mean; 1 with fewer than two samples
};

Statistics statistics(std::vector<double> samples);

}  // namespace course
