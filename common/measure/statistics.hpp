#pragma once
/// \file
/// Times of one launch, and order statistics of a list of them.

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

/// The summary of samples in any order.
Statistics statistics(std::vector<double> samples);

/// Seconds of one of `launches` launches that took `sample_s` together; before each ran a kernel of
/// `before_s`, which does not count. At least a nanosecond: the difference of an empty launch may
/// be negative.
double of_one_launch(double sample_s, int launches, double before_s);

}  // namespace course
