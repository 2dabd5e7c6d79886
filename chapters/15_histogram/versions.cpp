// The versions of this chapter and its studies: the one list behind tables, tests and plots.
#include <cmath>

#include "chapter/rows.hpp"
#include "histogram.hpp"

using namespace course;

using Words = Histogram<std::uint32_t>;
using Bytes = Histogram<std::uint8_t>;
COURSE_LAUNCHERS(Words, (histogram), global_atomics, shared_counters, vectors, windows, packed,
                 aggregated);
COURSE_LAUNCHERS(Bytes, (histogram), bytes, warp_copies, lane_copies);
COURSE_TYPED_LAUNCHERS(Histogram, (histogram), limit);
COURSE_TYPED_LAUNCHERS(HistogramIn, (histogram), cub_histogram);
COURSE_LAUNCHERS(Words, (by_alone, by_few, by_private, by_global), limit);
COURSE_LAUNCHERS(Words, (match_any, two_leaders, whole_warp), aggregation_study);
COURSE_LAUNCHERS(HistogramBy, (histogram_by), shared_counters);
COURSE_LAUNCHERS(Even, (even), ranges);
COURSE_LAUNCHERS(EvenIn, (even), cub_histogram);
COURSE_LAUNCHERS(ByLevels, (by_levels), ranges);
COURSE_LAUNCHERS(ByLevelsIn, (by_levels), cub_histogram);
COURSE_LAUNCHERS(Channels, (histogram), channels);
COURSE_LAUNCHERS(ChannelsIn, (histogram_of_channels), cub_histogram);

namespace {

#ifdef SIMT
constexpr bool all_is_checked = true;  // access by access
#else
constexpr bool all_is_checked = false;
#endif

constexpr std::int64_t most = UINT32_MAX;
constexpr std::int64_t room = 58112, packed_room = 2 * room;  // counters in 227 KiB

Size size_of(std::int64_t n, std::int64_t bins) { return Size{{{"n", n}, {"bins", bins}}}; }

std::function<bool(const Size&)> up_to_bins(std::int64_t bins) {
  return [bins](const Size& size) { return size["bins"] <= bins; };
}

Version few_bins(Version version, std::int64_t bins) {
  version.takes = up_to_bins(bins);
  return version;
}

/// All rows for samples of four bytes.
std::vector<Version> words() {
  Words* const best = limit::histogram;  // of three
  HistogramIn<std::uint32_t>* const peer = cub_histogram::histogram;
  const auto in_shared = [](const Version& version) {
    return version.sharing(227 * 1024).up_to(most).aligned(16);
  };
  return {
      row("01_global_atomics", "atomics in the L2 cache", global_atomics::histogram).up_to(most),
      few_bins(row("02_shared_counters", "counters per block", shared_counters::histogram)
                   .sharing(227 * 1024)
                   .up_to(most),
               room),
      few_bins(in_shared(row("03_vectors", "16-byte loads", vectors::histogram)), room),
      in_shared(row("07_windows", "windows of bins", windows::histogram)),
      few_bins(in_shared(row("08_packed", "16 bits per counter", packed::histogram)), packed_room),
      few_bins(in_shared(row("09_aggregated", "equal lanes added up", aggregated::histogram)),
               packed_room),
      in_shared(row("80_limit", "the way that costs least", best)),
      row("90_cub", "DeviceHistogram", peer).peer("CUB").up_to(INT32_MAX),
  };
}

std::vector<Size> word_sizes() {
  std::vector<Size> sizes;
  for (const std::int64_t bins : {0, 1, 2, 3, 255, 1000, 41601}) {
    for (const std::int64_t n : {0, 1, 3, 4, 5, 33, 4095, 4099, 20483}) {
      if (bins < 10000 || n == 3 || n == 20483) sizes.push_back(size_of(n, bins));
    }
  }
  for (const std::int64_t bins : {1000, 5000, 58117}) sizes.push_back(size_of(69999, bins));
  sizes.push_back(size_of(300007, 1));  // counters of 16 bits would come to 2^16
  sizes.push_back(size_of(9001, 116224));
  sizes.push_back(size_of(9001, 116225));
  if (!all_is_checked) {
    for (const std::int64_t bins : {58112, 58113, 300001, 1000000}) {
      sizes.push_back(size_of(1000003, bins));
    }
    sizes.push_back(size_of((1 << 23) + 5, 1000));  // all loops of all blocks turn
    sizes.push_back(size_of((1 << 25) + 3, 1));
    sizes.push_back(size_of(1003, 1 << 24));
  }
  return sizes;
}

Study sequence() {
  Study study{"sequence", "A histogram of 256 bins", Type::u32,
              make_problem<HistogramProblem<std::uint32_t>>()};
  study.versions = words();
  study.sizes = {size_of(1 << 27, 256)};
  study.cpu_sizes = {size_of(1 << 16, 256)};
  study.test_sizes = word_sizes();
  return study;
}

/// Some of the rows for samples of another kind, at 256, 2048 and 75,000 bins.
Study spread(const char* name, const char* title, Spread of, const char* only) {
  Study study = sequence();
  study.name = name;
  study.title = title;
  study.make = make_problem<HistogramProblem<std::uint32_t>>(of);
  study.versions = chosen(study.versions, only);
  study.sizes = {size_of(1 << 27, 256), size_of(1 << 27, 2048), size_of(1 << 27, 75000)};
  study.cpu_sizes = {size_of(1 << 14, 256)};
  study.test_sizes = {size_of(99, 7), size_of(40003, 1000), size_of(20483, 75000)};
  if (of == Spread::constant || of == Spread::runs) {
    study.test_sizes.push_back(size_of(300007, 1000));  // counters of 16 bits are emptied
  }
  if (of == Spread::two) study.test_sizes.push_back(size_of(600007, 1000));  // in both halves
  if (of == Spread::cyclic) study.test_sizes.push_back(size_of((1 << 23) + 5, 1000));
  if (of == Spread::constant && !all_is_checked) {
    study.test_sizes.push_back(size_of((1 << 25) + 3, 1000));
  }
  return study;
}

Study many() {
  std::vector<Size> sizes;
  for (const int bins : {2, 2048, 16384, 75000, 116224, 1 << 20}) {
    sizes.push_back(size_of(1 << 27, bins));
  }
  Study study = at_sizes(sequence(), "bins", "Rate over the number of bins", "01,03,07,08,09,80,90",
                         sizes, "bins", "bins");
  study.cpu_sizes = {size_of(1 << 14, 256)};
  return study;
}

Study over_n() {
  std::vector<Size> sizes;
  for (const int k : {10, 16, 22, 28}) {
    sizes.push_back(size_of(std::int64_t{1} << k, 256));
  }
  Study study =
      at_sizes(sequence(), "size", "Rate over size, 256 bins", "03,80,90", sizes, "n", "samples");
  study.cpu_sizes = {size_of(1 << 14, 256)};
  return study;
}

/// The ways among which 80 chooses.
Study ways() {
  Study study = sequence();
  study.name = "ways";
  study.title = "Four ways, over the number of samples and of bins";
  const auto way = [](const char* id, const char* title, Words* launcher) {
    return row(id, title, launcher).in_file("80_limit").sharing(227 * 1024).up_to(most).aligned(16);
  };
  study.versions = {few_bins(way("alone", "one block", limit::by_alone), room),
                    few_bins(way("few", "a short kernel", limit::by_few), room),
                    way("private", "private counters", limit::by_private),
                    way("global", "global additions", limit::by_global)};
  study.sizes.clear();
  for (const int n : {1 << 10, 1 << 20}) {
    for (const int bins : {256, 1 << 20}) study.sizes.push_back(size_of(n, bins));
  }
  study.cpu_sizes = {size_of(1 << 14, 256)};
  return study;
}

/// Samples of one or two bytes.
template <class T>
Study narrow(const char* name, const char* title, Spread of) {
  Study study{name, title, sizeof(T) == 1 ? Type::u8 : Type::u16,
              make_problem<HistogramProblem<T>>(of)};
  constexpr std::int64_t bins = sizeof(T) == 1 ? 256 : 65536;
  const auto of_bytes = [](const char* id, const char* text, Bytes* launcher) {
    return few_bins(row(id, text, launcher).up_to(most).aligned(16), 256);
  };
  if constexpr (sizeof(T) == 1) {
    study.versions = {of_bytes("04_bytes", "16 samples per load", bytes::histogram),
                      of_bytes("05_warp_copies", "counters per warp", warp_copies::histogram),
                      of_bytes("06_lane_copies", "counters per lane", lane_copies::histogram)};
  }
  Histogram<T>* const best = limit::histogram;
  HistogramIn<T>* const peer = cub_histogram::histogram;
  study.versions.push_back(row("80_limit", "the way that costs least", best)
                               .sharing(227 * 1024)
                               .up_to(most)
                               .aligned(16));
  study.versions.push_back(
      few_bins(row("90_cub", "DeviceHistogram", peer).peer("CUB").up_to(INT32_MAX), bins));
  study.sizes = {size_of(std::int64_t{1 << 29} / static_cast<int>(sizeof(T)), bins)};
  study.cpu_sizes = {size_of(1 << 16, 256)};
  for (const std::int64_t some : {0, 1, 2, 255, 256}) {
    for (const std::int64_t n : {0, 1, 15, 16, 17, 33, 4095, 20483}) {
      study.test_sizes.push_back(size_of(n, some));
    }
  }
  for (const std::int64_t some : {300, 20000}) study.test_sizes.push_back(size_of(4095, some));
  for (const std::int64_t some : {255, 60000}) study.test_sizes.push_back(size_of(69999, some));
  study.test_sizes.push_back(size_of(69999, bins));
  // One size above 70,000 for the CPU backend, in each study another of 80's launches.
  const int large = sizeof(T) == 2 ? 1 << 23 : of == Spread::uniform ? 1 << 22 : 1 << 20;
  study.test_sizes.push_back(size_of(large + 5, 256));
  if (!all_is_checked) {
    study.test_sizes.push_back(size_of((1 << 20) - 5, 256));
    study.test_sizes.push_back(size_of((1 << 25) + 5, 256));  // all loops of all blocks turn
  }
  return study;
}

/// Sizes, numbers of bins and kinds of samples by chance; no choice of 80 was tuned on them.
template <class T>
Study by_chance(const char* name, const char* title, int count) {
  Study study{name, title, sizeof(T) == 1 ? Type::u8 : Type::u32, make_problem<AnyProblem<T>>()};
  Histogram<T>* const best = limit::histogram;
  HistogramIn<T>* const peer = cub_histogram::histogram;
  study.versions = {
      row("80_limit", "", best, {"n", "bins"}).sharing(227 * 1024).up_to(most).aligned(16),
      row("90_cub", "", peer, {"n", "bins"}).peer("CUB").up_to(INT32_MAX)};
  const auto chance = [](int k, int what) {  // from 0 to below 1
    return static_cast<double>(mix(15 + sizeof(T), static_cast<std::uint64_t>(8 * k + what)) >>
                               11) *
           0x1p-53;
  };
  const auto size = [](double n, double bins, int kind) {
    return Size{{{"n", static_cast<std::int64_t>(n)},
                 {"bins", static_cast<std::int64_t>(bins)},
                 {"kind", kind}}};
  };
  for (int k = 0; k < count; ++k) {
    const double bins = sizeof(T) == 1 ? 256 : std::exp2(20 * chance(k, 1));
    study.sizes.push_back(
        size(std::exp2(10 + 17 * chance(k, 0)), bins, static_cast<int>(7 * chance(k, 2))));
  }
  study.cpu_sizes = {size(5000, 100, 3)};
  for (int kind = 0; kind < 7; ++kind) study.test_sizes.push_back(size(4003, 255, kind));
  study.test_sizes.push_back(size(69999, 4, 6));  // equal words of bytes that differ
  return study;
}

Study blocks() {
  Study study{"block", "02 with blocks of any size", Type::u32,
              make_problem<HistogramProblem<std::uint32_t>>()};
  study.versions = {row("02_shared_counters", "counters per block", shared_counters::histogram_by)
                        .sharing(227 * 1024)
                        .up_to(most)};
  const auto size = [](std::int64_t n, std::int64_t threads) {
    return Size{{{"n", n}, {"bins", 256}, {"size", threads}}};
  };
  for (const int threads : {32, 96, 256, 1024}) {
    study.sizes.push_back(size(1 << 27, threads));
  }
  study.cpu_sizes = {size(1 << 14, 96), size(1 << 14, 1024)};
  for (const int threads : {1, 31, 33, 100, 1000, 1024}) {
    for (const int n : {0, 5, 5003}) study.test_sizes.push_back(size(n, threads));
  }
  study.axis = "size";
  study.axis_label = "threads per block";
  return study;
}

/// Three ways to add up equal lanes, in front of 08's additions.
Study aggregation(const char* name, const char* title, Spread of) {
  Study study = spread(name, title, of, "08");
  const auto way = [](const char* id, const char* text, Words* launcher) {
    return few_bins(row(id, text, launcher)
                        .in_file("studies/aggregation")
                        .sharing(227 * 1024)
                        .up_to(most)
                        .aligned(16),
                    packed_room);
  };
  study.versions = {way("match_any", "all equal lanes", aggregation_study::match_any),
                    way("two_leaders", "the samples of two lanes", aggregation_study::two_leaders),
                    way("whole_warp", "whole warps only", aggregation_study::whole_warp)};
  study.sizes = {size_of(1 << 27, 75000)};
  study.cpu_sizes = {size_of(1 << 14, 2048)};
  return study;
}

Study even() {
  Study study{"even", "Ranges of equal width", Type::u32, make_problem<EvenProblem>()};
  const auto size = [](std::int64_t n, std::int64_t bins, std::int64_t lower, std::int64_t upper) {
    return Size{{{"n", n}, {"bins", bins}, {"lower", lower}, {"upper", upper}}};
  };
  study.versions = {
      row("10_ranges", "a multiplication", ranges::even)
          .sharing(227 * 1024)
          .up_to(most)
          .aligned(16),
      row("90_cub", "HistogramEven", cub_histogram::even).peer("CUB").up_to(INT32_MAX)};
  constexpr std::int64_t all = UINT32_MAX;
  for (Version& version : study.versions) {
    const std::int64_t highest = version.role == Role::peer ? all : all + 1;
    version.takes = [=](const Size& s) {
      return s["bins"] <= room && s["lower"] >= 0 && s["upper"] <= highest &&
             s["bins"] <= s["upper"] - s["lower"];
    };
  }
  study.sizes = {size(1 << 27, 1000, 1 << 20, 3000000000)};
  study.cpu_sizes = {size(1 << 14, 256, 0, all)};
  for (const std::int64_t n : {0, 3, 4099, 50001}) {
    for (const std::int64_t bins : {1, 7, 256, 1000}) {
      if (n > 5000 && bins != 256) continue;
      study.test_sizes.push_back(size(n, bins, 5, 3 * bins + 5));    // of 3 samples each
      study.test_sizes.push_back(size(n, bins, 1000, 1000 + bins));  // as wide as many
      study.test_sizes.push_back(size(n, bins, 17, all));
      study.test_sizes.push_back(size(n, bins, 5, 3 * bins + 6));
    }
  }
  for (const int bins : {7, 256}) study.test_sizes.push_back(size(4099, bins, 0, all + 1));
  if (!all_is_checked) {
    study.test_sizes.push_back(size((1 << 23) + 5, 1000, 17, all));
    study.test_sizes.push_back(size(4099, room, 17, all));
  }
  return study;
}

Study levels() {
  Study study{"levels", "Ranges by a sorted list", Type::u32, make_problem<LevelsProblem>()};
  study.versions = {
      row("10_ranges", "a binary search", ranges::by_levels)
          .sharing(227 * 1024)
          .up_to(most)
          .aligned(16),
      row("90_cub", "HistogramRange", cub_histogram::by_levels).peer("CUB").up_to(INT32_MAX)};
  for (Version& version : study.versions) version.takes = up_to_bins(room / 2 - 1);
  study.sizes = {size_of(1 << 27, 256)};
  study.cpu_sizes = {size_of(1 << 14, 256)};
  for (const std::int64_t bins : {1, 2, 3, 255, 256, 1000}) {
    for (const std::int64_t n : {0, 3, 4099, 20001}) study.test_sizes.push_back(size_of(n, bins));
  }
  study.test_sizes.push_back(size_of(69999, 256));
  if (!all_is_checked) {
    study.test_sizes.push_back(size_of((1 << 23) + 5, 256));
    study.test_sizes.push_back(size_of(4099, room / 2 - 1));
  }
  return study;
}

Study images() {
  Study study{"channels", "Images of 1 to 4 channels", Type::u8, make_problem<ChannelsProblem>()};
  study.versions = {row("11_channels", "counters per channel", channels::histogram)
                        .sharing(2 * 64 * 1024)
                        .up_to(most)
                        .aligned(16),
                    row("90_cub", "MultiHistogramEven", cub_histogram::histogram_of_channels)
                        .peer("CUB")
                        .up_to(INT32_MAX / 4)};
  const auto size = [](std::int64_t n, std::int64_t of) {
    return Size{{{"n", n}, {"channels", of}}};
  };
  for (const int of : {1, 2, 3, 4}) {
    study.sizes.push_back(size((1 << 28) / of, of));
    study.cpu_sizes.push_back(size(1 << 14, of));
    for (const int n : {0, 1, 5, 16, 4097, 30011}) study.test_sizes.push_back(size(n, of));
    if (of > 1) study.test_sizes.push_back(size(69999, of));
    if (!all_is_checked) study.test_sizes.push_back(size((10 << 20) + 7, of));
  }
  study.test_sizes.push_back(size(200003, 1));
  study.axis = "channels";
  study.axis_label = "channels";
  study.log_axis = false;
  return study;
}

}  // namespace

course::Chapter course::chapter() {
  return {"15_histogram",
          "counts[b] = how many samples are b",
          {sequence(),
           spread("constant", "All samples in one bin", Spread::constant, "01,03,08,09,80,90"),
           spread("two", "Two values in random order", Spread::two, "08,09,80,90"),
           spread("zipf", "Some bins are very frequent (Zipf)", Spread::zipf, "09,80,90"),
           spread("runs", "Runs of 4096 equal samples", Spread::runs, "08,09,80,90"),
           spread("sorted", "Ascending samples", Spread::sorted, "80,90"),
           spread("cyclic", "One bin after the other", Spread::cyclic, "80,90"),
           narrow<std::uint8_t>("bytes", "Bytes, every bin as likely", Spread::uniform),
           narrow<std::uint8_t>("bytes_constant", "Bytes, all in one bin", Spread::constant),
           narrow<std::uint8_t>("bytes_zipf", "Bytes, some very frequent", Spread::zipf),
           narrow<std::uint16_t>("u16", "65,536 bins of 16-bit samples", Spread::uniform),
           many(),
           over_n(),
           ways(),
           blocks(),
           aggregation("adding_up", "Equal lanes added up: Zipf", Spread::zipf),
           aggregation("adding_up_two", "Equal lanes added up: two values", Spread::two),
           even(),
           levels(),
           images(),
           by_chance<std::uint32_t>("any", "Any size, bins and samples", 16),
           by_chance<std::uint8_t>("any_bytes", "Any size and samples of bytes", 8)}};
}
