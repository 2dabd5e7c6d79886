#include "measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace course {
namespace {

double quantile(const std::vector<double>& sorted, double fraction) {
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

Statistics statistics(std::vector<double> samples) {
  Statistics s;
  if (samples.empty()) return s;
  std::sort(samples.begin(), samples.end());
  s.count = samples.size();
  s.minimum = samples.front();
  s.q1 = quantile(samples, 0.25);
  s.median = quantile(samples, 0.5);
  s.q3 = quantile(samples, 0.75);
  const double n = static_cast<double>(s.count);
  s.mean = std::accumulate(samples.begin(), samples.end(), 0.0) / n;
  double squares = 0;
  for (const double x : samples) squares += (x - s.mean) * (x - s.mean);
  s.relative_error = s.count < 2 ? 1.0 : std::sqrt(squares / (n - 1) / n) / s.mean;
  return s;
}

double of_one_launch(double sample_s, int launches, double before_s) {
  constexpr double shortest_s = 1e-9;
  return std::max(sample_s / launches - before_s, shortest_s);
}

}  // namespace course
