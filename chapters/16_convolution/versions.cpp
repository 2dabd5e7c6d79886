// The versions of this chapter and its studies: the one list behind tables, tests and plots.
#include <cmath>

#include "chapter/rows.hpp"
#include "convolution.hpp"
#include "measure/anchors.hpp"

using namespace course;

COURSE_LAUNCHERS(ConvolveFromMemory, (convolve), global);
COURSE_LAUNCHERS(Convolve, (convolve), constant, tile, points, templates, vectors, sliding, limit);
COURSE_LAUNCHERS(ConvolveSeparable, (convolve), fused, limit);
COURSE_LAUNCHERS(ConvolveSeparableIn, (convolve), two_passes);
COURSE_LAUNCHERS(ConvolveBytes, (convolve), bytes);
COURSE_LAUNCHERS(ConvolveReversed, (convolve), npp);
COURSE_LAUNCHERS(ConvolveBytesReversed, (convolve_bytes), npp);
COURSE_LAUNCHERS(ConvolveInWorkspace, (convolve), cudnn);
COURSE_LAUNCHERS(ConvolveByFft, (convolve), fft);
COURSE_LAUNCHERS(ConvolveBySpectrum, (convolve_by_spectrum), fft);

namespace {

/// In pixels: the time for reading and writing an image at the rates that were measured, or for all
/// multiplications at one per lane and clock, whichever is longer.
Limit roofline(const Anchors& anchors, const Problem& problem) {
  const Limit memory = memory_limit(anchors, problem);
  const double flops =
      2 * float_lanes(anchors.capability) * anchors.sm_count * anchors.clock_mhz * 1e6;
  const double by_bytes = problem.bytes() / (memory.value * 1e9);
  const double by_flops = flops > 0 ? problem.flops() / flops : 0;
  char how[240];
  std::snprintf(how, sizeof how, "derived: an image in %.4f ms by bytes (%s), in %.4f ms by flops",
                by_bytes * 1e3, memory.how.c_str(), by_flops * 1e3);
  return {by_bytes > by_flops ? "bytes" : "multiplications",
          problem.work().amount / std::max(by_bytes, by_flops) / 1e9, "Gpixel/s", how};
}

Version up_to_width(Version version, std::int64_t width) {
  version.takes = [width](const Size& size) { return size["width"] <= width; };
  return version;
}

Version of_npp() {
  return row("90_npp", "FilterBorder, clamp", npp::convolve)
      .peer("NPP")
      .solving(make_problem<OfNpp>());
}

Version of_cudnn() {
  return row("91_cudnn", "ConvolutionForward, zero", cudnn::convolve)
      .peer("cuDNN")
      .solving(make_problem<OfCudnn>());
}

Version of_fft() {
  return row("92_cufft", "two transforms and back", fft::convolve)
      .peer("cuFFT")
      .solving(make_problem<ForFft>());
}

Version of_spectrum() {
  return row("spectrum", "the filter's spectrum given", fft::convolve_by_spectrum)
      .peer("cuFFT")
      .in_file("92_cufft")
      .aligned(8)
      .solving(make_problem<WithSpectrum>());
}

std::vector<Version> direct() {
  Convolve* const best = limit::convolve;  // of two
  return {row("01_global", "all from global memory", global::convolve),
          row("02_constant", "filter in constant memory", constant::convolve),
          row("03_tile", "tile with halo", tile::convolve),
          row("04_points", "eight pixels per thread", points::convolve),
          row("05_templates", "a kernel for each width", templates::convolve),
          row("06_vectors", "16-byte loads", vectors::convolve),
          up_to_width(row("07_sliding", "rows in registers", sliding::convolve), 7),
          row("80_limit", "what fits the width", best),
          of_npp(),
          of_cudnn(),
          of_fft(),
          of_spectrum()};
}

/// Every border and width in more than one block each way, and images smaller than the filter.
std::vector<Size> test_sizes() {
  std::vector<Size> sizes;
  for (const std::int64_t border : {by_clamp, by_zero, by_reflect}) {
    for (const int width : {1, 3, 5, 7, 9, 17}) {
      sizes.push_back(image_size(39, 131, width, border));
      sizes.push_back(image_size(11, 37, width, border));
    }
    for (const int width : {3, 7, 31}) {
      sizes.push_back(image_size(1, 1, width, border));
      sizes.push_back(image_size(2, 3, width, border));
    }
    sizes.push_back(image_size(1, 259, 5, border));
    for (const int width : {7, 9}) sizes.push_back(image_size(67, 1, width, border));
    sizes.push_back(image_size(0, 5, 3, border));
    sizes.push_back(image_size(5, 0, 3, border));
  }
  for (int width = 11; width <= 31; width += 2)
    sizes.push_back(image_size(9, 33, width, width % 3));
  sizes.push_back(image_size(37, 140, 31, by_zero));
  sizes.push_back(image_size(37, 140, 31, by_reflect));
  // Rows that begin at multiples of 16 bytes, if the image does.
  sizes.push_back(image_size(34, 140, 5, by_clamp));
  sizes.push_back(image_size(34, 140, 9, by_reflect));
  sizes.push_back(image_size(40, 300, 3, by_reflect));  // a whole block of 07 inside
  sizes.push_back(image_size(40, 420, 5, by_clamp));
  sizes.push_back(image_size(41, 420, 7, by_reflect));
  for (const int width : {9, 11}) {  // and of 80
    sizes.push_back(image_size(45, 420, width, width == 9 ? by_reflect : by_clamp));
  }
  return sizes;
}

Study sequence() {
  Study study{"sequence", "Convolution with a filter of 17 x 17", Type::f32,
              make_problem<Convolution>()};
  study.versions = direct();
  study.sizes = {image_size(8192, 8192, 17)};
  study.cpu_sizes = {image_size(128, 256, 17)};
  study.test_sizes = test_sizes();
  study.limit = roofline;
  return study;
}

/// Where the copy is the limit, and where the multiplications are.
Study widths() {
  std::vector<Size> sizes;
  for (const int width : {3, 5, 7, 9, 11, 13, 17, 31}) {
    sizes.push_back(image_size(8192, 8192, width));
  }
  Study study = at_sizes(sequence(), "width", "Rate over the width of the filter",
                         "06-07,80,90-92,spectrum", sizes, "width", "width of the filter");
  study.cpu_sizes = {image_size(64, 256, 3), image_size(64, 256, 7)};
  study.log_axis = false;
  return study;
}

Study over_size(const char* name, const char* title, int width) {
  std::vector<Size> sizes;
  for (const int side : {256, 1024, 4096}) {
    sizes.push_back(image_size(side, side, width));
  }
  Study study = at_sizes(sequence(), name, title, "80,90-92", sizes, "rows", "rows and columns");
  study.cpu_sizes = {image_size(64, 256, width)};
  return study;
}

Study borders() {
  Study study =
      at_sizes(sequence(), "border", "The three borders, and columns that divide nothing", "80",
               {image_size(8192, 8192, 5, by_zero), image_size(8192, 8192, 5, by_reflect),
                image_size(8192, 8191, 5), image_size(8192, 8192, 17, by_zero),
                image_size(8192, 8192, 17, by_reflect), image_size(8192, 8191, 17)});
  study.cpu_sizes = {image_size(64, 255, 5, by_reflect)};
  return study;
}

/// Sizes, widths and borders by chance; no choice of 80 was tuned on them.
Study any() {
  Study study = at_sizes(sequence(), "any", "Any size, width and border", "80,90-91", {});
  const auto chance = [](int k, int what) {  // from 0 to below 1
    return static_cast<double>(mix(16, static_cast<std::uint64_t>(8 * k + what)) >> 11) * 0x1p-53;
  };
  const auto side = [&](int k, int what) {
    return static_cast<std::int64_t>(std::exp2(8 + 5 * chance(k, what)));
  };
  for (int k = 0; k < 16; ++k) {
    std::int64_t cols = side(k, 1);
    if (chance(k, 4) < 0.5) cols = (cols + 3) / 4 * 4;  // as most images have
    study.sizes.push_back(image_size(side(k, 0), cols, 3 + 2 * static_cast<int>(15 * chance(k, 2)),
                                     static_cast<int>(3 * chance(k, 3))));
  }
  study.cpu_sizes = {image_size(70, 133, 7, by_reflect)};
  return study;
}

Study separable() {
  Study study{"separable", "Separable filters", Type::f32, make_problem<SeparableConvolution>()};
  ConvolveSeparable* const best = limit::convolve;
  study.versions = {row("08_two_passes", "rows, then columns", two_passes::convolve),
                    row("09_fused", "both in one kernel", fused::convolve),
                    row("80_limit", "what fits the width", best)};
  for (const int width : {3, 5, 9, 17, 23, 31}) {
    study.sizes.push_back(image_size(8192, 8192, width));
  }
  study.cpu_sizes = {image_size(128, 256, 17)};
  study.test_sizes = test_sizes();
  study.test_sizes.push_back(image_size(130, 400, 17, by_clamp));
  study.test_sizes.push_back(image_size(50, 230, 31, by_zero));  // unaligned, warps of 09 inside
  study.axis = "width";
  study.axis_label = "width of the filter";
  study.log_axis = false;
  study.limit = roofline;
  return study;
}

Study of_bytes() {
  Study study{"bytes", "Images of 8 bits", Type::u8, make_problem<ByteConvolution>()};
  study.versions = {row("10_bytes", "four pixels per instruction", bytes::convolve),
                    row("90_npp", "FilterBorder, clamp, rounded down", npp::convolve_bytes)
                        .peer("NPP")
                        .solving(make_problem<BytesOfNpp>())};
  for (const int width : {3, 5, 9, 17, 31}) {
    study.sizes.push_back(image_size(16384, 16384, width));
  }
  study.cpu_sizes = {image_size(128, 1024, 3)};
  study.test_sizes = test_sizes();
  for (const int width : {3, 5, 7, 9}) {
    study.test_sizes.push_back(image_size(11, 1072, width, width % 3));
  }
  study.test_sizes.push_back(image_size(5, 560, 31, by_reflect));
  for (const int width : {11, 13, 15, 17, 29}) {  // rows whose window lies in the image
    study.test_sizes.push_back(image_size(width + 6, 496, width, width % 3));
  }
  study.test_sizes.push_back(image_size(10, 496, 5, by_clamp));  // rows of whole 16 bytes
  study.axis = "width";
  study.axis_label = "width of the filter";
  study.log_axis = false;
  study.limit = roofline;
  return study;
}

}  // namespace

course::Chapter course::chapter() {
  return {"16_convolution",
          "out = image convolved with a filter",
          {sequence(), widths(), over_size("size", "Rate over size, width 5", 5),
           over_size("size17", "Rate over size, width 17", 17), borders(), any(), separable(),
           of_bytes()}};
}
