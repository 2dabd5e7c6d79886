#include "chapter/sizes.hpp"

#include <algorithm>

#include "chapter/error.hpp"

namespace course {

#ifdef SIMT
namespace {

/// Arrays of a run have at most this many elements, unless --size or Study::cpu_sizes says more.
constexpr std::int64_t most_elements = 1 << 20;

std::int64_t largest_array(const Study& study, const Size& size) {
  const auto problem = study.make(size, 1, Input::random);
  std::int64_t most = 0;
  for (const auto& arrays : {problem->inputs(), problem->outputs()}) {
    for (const Array& array : arrays) most = std::max(most, array.count);
  }
  return most;
}

}  // namespace

std::vector<Size> own_sizes(const Study& study) {
  if (!study.cpu_sizes.empty()) return study.cpu_sizes;
  std::vector<Size> sizes;
  for (Size size : study.sizes) {
    while (largest_array(study, size) > most_elements) {
      const Size next = smaller(size);
      if (next == size) break;
      size = next;
    }
    if (std::find(sizes.begin(), sizes.end(), size) == sizes.end()) sizes.push_back(size);
  }
  return sizes;
}
#else
std::vector<Size> own_sizes(const Study& study) { return study.sizes; }
#endif

std::vector<Size> sizes_of(const Study& study,
                           const std::vector<std::vector<std::int64_t>>& asked_for) {
  const std::vector<Size> own = own_sizes(study);
  if (asked_for.empty()) return own;
  std::vector<Size> sizes;
  for (const auto& asked : asked_for) {
    for (Size size : own) {
      if (asked.size() > size.dimensions.size()) {
        throw Error("--size has " + std::to_string(asked.size()) + " dimensions, the study '" +
                        study.name + "' has " + std::to_string(size.dimensions.size()) + " (" +
                        size.text() + ")",
                    2);
      }
      for (std::size_t k = 0; k < asked.size(); ++k) size.dimensions[k].second = asked[k];
      if (std::find(sizes.begin(), sizes.end(), size) == sizes.end()) sizes.push_back(size);
    }
  }
  return sizes;
}

Size smaller(Size size) {
  for (auto& [name, value] : size.dimensions) {
    if (name != "n" && name != "rows" && name != "cols" && name != "m" && name != "k") continue;
    value = std::max<std::int64_t>(1, value / (name == "n" ? 4 : 2));
  }
  return size;
}

Size within_limit(const Version& version, Size size) {
  for (auto& [name, value] : size.dimensions) {
    if (name == "n") value = std::min(value, version.needs.most());
  }
  return size;
}

Size size_for(const Study& study, const Version& version, const Size& asked) {
  return study.axis.empty() ? within_limit(version, asked) : asked;
}

Size fitting(const Size& asked, const std::function<bool(const Size&)>& fits) {
  Size size = asked;
  for (int k = 0; k < 40 && !fits(size); ++k) size.dimensions[0].second /= 2;
  return size;
}

Size fast_enough(const Size& asked, double slow, const Pace& pace, double* at_asked) {
  constexpr double small_bytes = 1 << 20;
  std::vector<Size> ladder = {asked};
  while (pace.bytes(ladder.back()) > small_bytes) {
    const Size next = smaller(ladder.back());
    if (next == ladder.back() || (pace.takes && !pace.takes(next))) break;
    ladder.push_back(next);
  }
  *at_asked = 0;
  for (; ladder.size() > 1; ladder.pop_back()) {
    const double seconds = pace.seconds(ladder.back());
    const double per_work = seconds / pace.work(ladder.back());
    const double expected = per_work * pace.work(asked);
    if (expected <= slow) return asked;
    if (per_work * pace.work(ladder[ladder.size() - 2]) > slow && seconds > 1e-3) {
      *at_asked = expected;
      return ladder.back();
    }
  }
  return asked;
}

}  // namespace course
