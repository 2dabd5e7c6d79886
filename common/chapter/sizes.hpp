#pragma once
/// \file
/// The size at which a row runs. It follows from the study, the command line, what the version
/// takes, what fits into memory, and what would take too long.

#include <functional>
#include <vector>

#include "chapter/chapter.hpp"

namespace course {

/// The sizes that a study runs at if the command line does not say. On the CPU backend those of
/// cpu_sizes, or the measured ones made smaller().
std::vector<Size> own_sizes(const Study& study);

/// The study's sizes; sizes from the command line replace their leading dimensions.
/// \throws Error for a --size of too many dimensions.
std::vector<Size> sizes_of(const Study& study,
                           const std::vector<std::vector<std::int64_t>>& asked_for);

/// The size with n a quarter, or each side of a matrix half, as large.
Size smaller(Size size);

/// The size with n cut to the largest that the version can take.
Size within_limit(const Version& version, Size size);

/// The size at which a version's row runs: the asked one or, where no plot compares sizes, at most
/// the largest n that the version can take.
Size size_for(const Study& study, const Version& version, const Size& asked);

/// The asked size if it fits; otherwise the first that fits of the sizes whose first dimension is a
/// half, a quarter, ... as large.
Size fitting(const Size& asked, const std::function<bool(const Size&)>& fits);

/// What fast_enough() needs to know about a version: at a size, the bytes and the work of its
/// problem, the seconds of one launch, and whether the size has a meaning for it.
struct Pace {
  std::function<double(const Size&)> bytes, work, seconds;
  std::function<bool(const Size&)> takes;
};

/// The asked size, unless one launch would take more than `slow` seconds: then the largest of its
/// smaller() ones that does not. Climbs from a small size, because the time of a small launch says
/// little about a large one. `at_asked`: the seconds expected at the asked size; 0: at most slow.
Size fast_enough(const Size& asked, double slow, const Pace& pace, double* at_asked);

}  // namespace course
