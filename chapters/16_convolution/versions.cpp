// The versions of this chapter and its studies: the one list behind tables, tests and plots.
#include <cmath>

#include "chapter/rows.hpp"
#include "convolution.hpp"

using namespace course;

COURSE_LAUNCHERS(ConvolveFromMemory, (convolve), global);
COURSE_LAUNCHERS(Convolve, (convolve), constant, tile, points);

namespace {

Size image(std::int64_t rows, std::int64_t cols, std::int64_t width,
           std::int64_t border = by_clamp) {
  return Size{{{"rows", rows}, {"cols", cols}, {"width", width}, {"border", border}}};
}

/// Every border and width at sizes that divide nothing, and images smaller than the filter.
std::vector<Size> test_sizes() {
  std::vector<Size> sizes;
  for (const std::int64_t border : {by_clamp, by_zero, by_reflect}) {
    for (const int width : {1, 3, 5, 9, 17, 31}) sizes.push_back(image(67, 131, width, border));
    for (const int width : {3, 7, 31}) {
      sizes.push_back(image(1, 1, width, border));
      sizes.push_back(image(2, 3, width, border));
      sizes.push_back(image(1, 259, width, border));
      sizes.push_back(image(133, 1, width, border));
    }
    sizes.push_back(image(0, 5, 3, border));
    sizes.push_back(image(5, 0, 3, border));
  }
  for (int width = 11; width <= 29; width += 2) sizes.push_back(image(37, 70, width, width % 3));
  sizes.push_back(image(64, 128, 5, by_reflect));
  sizes.push_back(image(129, 260, 9, by_clamp));
  return sizes;
}

Study sequence() {
  Study study{"sequence", "Convolution with a filter of 17 x 17", Type::f32,
              make_problem<Convolution>()};
  study.versions = {row("01_global", "all from global memory", global::convolve),
                    row("02_constant", "filter in constant memory", constant::convolve),
                    row("03_tile", "tile with halo", tile::convolve),
                    row("04_points", "eight pixels per thread", points::convolve)};
  study.sizes = {image(8192, 8192, 17)};
  study.cpu_sizes = {image(128, 256, 17)};
  study.test_sizes = test_sizes();
  return study;
}

}  // namespace

course::Chapter course::chapter() {
  return {"16_convolution", "out = image convolved with a filter", {sequence()}};
}
