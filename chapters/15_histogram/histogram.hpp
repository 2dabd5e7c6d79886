#pragma once
/// \file
/// The problems of this chapter, in host C++: inputs, reference, least traffic. Versions never
/// include it.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "chapter/input.hpp"
#include "chapter/problem.hpp"

template <class T>
using Histogram = cudaError_t(const T* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                              cudaStream_t stream);
template <class T>
using HistogramIn = cudaError_t(void* workspace, std::size_t& workspace_bytes, const T* samples,
                                unsigned* counts, std::int64_t n, std::int64_t bins,
                                cudaStream_t stream);
using HistogramBy = cudaError_t(const unsigned* samples, unsigned* counts, std::int64_t n,
                                std::int64_t bins, std::int64_t size, cudaStream_t stream);
using Even = cudaError_t(const unsigned* samples, unsigned* counts, std::int64_t n,
                         std::int64_t bins, std::int64_t lower, std::int64_t upper,
                         cudaStream_t stream);
using EvenIn = cudaError_t(void* workspace, std::size_t& workspace_bytes, const unsigned* samples,
                           unsigned* counts, std::int64_t n, std::int64_t bins, std::int64_t lower,
                           std::int64_t upper, cudaStream_t stream);
using ByLevels = cudaError_t(const unsigned* samples, const unsigned* levels, unsigned* counts,
                             std::int64_t n, std::int64_t bins, cudaStream_t stream);
using ByLevelsIn = cudaError_t(void* workspace, std::size_t& workspace_bytes,
                               const unsigned* samples, const unsigned* levels, unsigned* counts,
                               std::int64_t n, std::int64_t bins, cudaStream_t stream);
using Channels = cudaError_t(const std::uint8_t* pixels, unsigned* counts, std::int64_t n,
                             std::int64_t channels, cudaStream_t stream);
using ChannelsIn = cudaError_t(void* workspace, std::size_t& workspace_bytes,
                               const std::uint8_t* pixels, unsigned* counts, std::int64_t n,
                               std::int64_t channels, cudaStream_t stream);

/// What the samples of a row look like.
enum class Spread {
  uniform,   ///< every bin is as likely
  constant,  ///< all samples are in one bin
  two,       ///< one of two bins, at random
  zipf,      ///< the k-th most frequent bin is k times rarer than the most frequent one
  runs,      ///< runs of 4096 equal samples
  sorted,    ///< ascending
  cyclic     ///< 0, 1, 2, ..., bins - 1, 0, ...
};

/// Sample i of n. Input::random: all below bins. Input::integers: about one in nine is no bin.
/// Input::large: any 32 bits.
inline std::uint32_t sample_of(Spread spread, course::Input input, std::uint64_t seed,
                               std::int64_t i, std::int64_t n, std::int64_t bins) {
  const std::uint64_t bits = course::mix(seed, static_cast<std::uint64_t>(i));
  if (input == course::Input::large) return static_cast<std::uint32_t>(bits >> 32);
  const auto many = static_cast<std::uint64_t>(bins < 1 ? 1 : bins);
  const auto at = static_cast<std::uint64_t>(i);
  switch (spread) {
    case Spread::constant:
      return static_cast<std::uint32_t>(course::mix(seed, 1) % many);
    case Spread::two:
      return static_cast<std::uint32_t>(course::mix(seed, 1 + (bits >> 40 & 1)) % many);
    case Spread::zipf: {
      const double uniform = static_cast<double>(bits >> 11) * 0x1p-53;
      const auto rank =
          static_cast<std::uint64_t>(std::exp2(std::log2(static_cast<double>(many)) * uniform));
      return static_cast<std::uint32_t>(course::mix(7, rank) % many);  // anywhere
    }
    case Spread::runs:
      return static_cast<std::uint32_t>(course::mix(seed, at / 4096) % many);
    case Spread::sorted:
      return static_cast<std::uint32_t>(static_cast<double>(i) / static_cast<double>(n) *
                                        static_cast<double>(many));
    case Spread::cyclic:
      return static_cast<std::uint32_t>(at % many);
    default:
      break;
  }
  const bool some_outside = input == course::Input::integers;
  return static_cast<std::uint32_t>((bits >> 20) % (some_outside ? many + (many + 7) / 8 : many));
}

/// counts[b] = how many of n samples are in bin b: exact. Here bin b has the samples that are b.
template <class T>
class HistogramProblem : public course::Problem {
 public:
  HistogramProblem(course::Size size, std::uint64_t seed, course::Input input,
                   Spread spread = Spread::uniform)
      : Problem(std::move(size), seed, input), spread_(spread) {}
  virtual std::int64_t bins() const { return size()["bins"]; }
  /// Sample i, as the array holds it.
  virtual T sample(std::int64_t i) const {
    return static_cast<T>(sample_of(spread_, input(), seed(), i, n(), bins()));
  }
  /// The bin of a sample that is at i, or -1.
  virtual std::int64_t bin_of(T sample, std::int64_t i) const {
    (void)i;
    return std::int64_t{sample} < bins() ? std::int64_t{sample} : -1;
  }
  virtual std::int64_t samples() const { return n(); }
  std::vector<course::Array> inputs() const override {
    const course::Type type = sizeof(T) == 1   ? course::Type::u8
                              : sizeof(T) == 2 ? course::Type::u16
                                               : course::Type::u32;
    course::Array array{"samples", samples(), type, seed()};
    array.values = [this](void* host) {
      auto* const to = static_cast<T*>(host);
      course::parallel_for(samples(), [=](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) to[i] = sample(i);
      });
    };
    return {array};
  }
  std::vector<course::Array> outputs() const override {
    return {{"counts", bins(), course::Type::u32}};
  }
  double bytes_read() const override { return sizeof(T) * static_cast<double>(samples()); }
  double bytes_written() const override { return 4.0 * static_cast<double>(bins()); }
  void expected(int, double* counts) const override {
    std::fill(counts, counts + bins(), 0.0);
    std::mutex mutex;
    course::parallel_for(
        samples(),
        [&](std::int64_t first, std::int64_t last) {
          std::vector<double> some(static_cast<std::size_t>(bins()), 0.0);
          for (std::int64_t i = first; i < last; ++i) {
            const std::int64_t bin = bin_of(sample(i), i);
            if (bin >= 0) ++some[static_cast<std::size_t>(bin)];
          }
          const std::lock_guard<std::mutex> lock(mutex);
          for (std::int64_t b = 0; b < bins(); ++b) counts[b] += some[static_cast<std::size_t>(b)];
        },
        1 << 20);
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }

 private:
  Spread spread_;
};

/// Samples of the kind that the dimension `kind` says: a number of Spread.
template <class T>
class AnyProblem : public HistogramProblem<T> {
 public:
  AnyProblem(const course::Size& size, std::uint64_t seed, course::Input input)
      : HistogramProblem<T>(size, seed, input, static_cast<Spread>(size["kind"])) {}
};

/// Bins of equal width between the dimensions lower and upper; samples of any 32 bits.
class EvenProblem : public HistogramProblem<std::uint32_t> {
 public:
  using HistogramProblem::HistogramProblem;
  std::uint32_t sample(std::int64_t i) const override {
    const std::uint64_t bits = course::mix(seed(), static_cast<std::uint64_t>(i));
    const std::int64_t lower = size()["lower"], upper = size()["upper"];
    // One in eight is at, or next to, a boundary between two bins.
    if (bits % 8 != 0 || upper <= lower) return static_cast<std::uint32_t>(bits >> 32);
    const double width = static_cast<double>(upper - lower) / static_cast<double>(bins());
    const double at =
        width * static_cast<double>(bits / 8 % static_cast<std::uint64_t>(bins() + 1));
    return static_cast<std::uint32_t>(lower + static_cast<std::int64_t>(at) +
                                      static_cast<std::int64_t>(bits >> 60) % 3 - 1);
  }
  std::int64_t bin_of(std::uint32_t sample, std::int64_t) const override {
    const std::int64_t lower = size()["lower"], upper = size()["upper"];
    if (sample < lower || sample >= upper) return -1;
    return (sample - lower) * bins() / (upper - lower);
  }
};

/// Bins by a list of levels that ascend, each with a width of its own, some of them empty.
class LevelsProblem : public HistogramProblem<std::uint32_t> {
 public:
  using HistogramProblem::HistogramProblem;
  /// Between 2^24 and 2^24 + 2^31, not evenly spaced.
  std::uint32_t level(std::int64_t k) const {
    const double share = static_cast<double>(k) / static_cast<double>(bins());
    const auto at = static_cast<std::uint32_t>(0x1p31 * share * share);
    return (1u << 24) + at / 64 * 64;
  }
  std::uint32_t sample(std::int64_t i) const override {
    const std::uint64_t bits = course::mix(seed(), static_cast<std::uint64_t>(i));
    // One in eight is at, or next to, a level.
    if (bits % 8 != 0) return static_cast<std::uint32_t>(bits >> 32) >> (bits >> 20 & 1);
    const auto k = static_cast<std::int64_t>(bits / 8 % static_cast<std::uint64_t>(bins() + 1));
    return level(k) + static_cast<std::uint32_t>(bits >> 60) % 3 - 1;
  }
  std::vector<course::Array> inputs() const override {
    std::vector<course::Array> both = HistogramProblem::inputs();
    course::Array levels{"levels", bins() + 1, course::Type::u32, seed()};
    levels.values = [this](void* host) {
      for (std::int64_t k = 0; k <= bins(); ++k) static_cast<std::uint32_t*>(host)[k] = level(k);
    };
    both.push_back(levels);
    return both;
  }
  std::int64_t bin_of(std::uint32_t sample, std::int64_t) const override {
    std::int64_t below = 0, above = bins() + 1;  // level(k) <= sample for k < below
    while (below < above) {
      const std::int64_t middle = (below + above) / 2;
      if (level(middle) <= sample) {
        below = middle + 1;
      } else {
        above = middle;
      }
    }
    return below - 1 < bins() ? below - 1 : -1;
  }
};

/// n pixels of `channels` bytes, 256 bins per channel. The channels are spread differently.
class ChannelsProblem : public HistogramProblem<std::uint8_t> {
 public:
  using HistogramProblem::HistogramProblem;
  std::int64_t channels() const { return size()["channels"]; }
  std::int64_t bins() const override { return 256 * channels(); }
  std::int64_t samples() const override { return n() * channels(); }
  std::uint8_t sample(std::int64_t i) const override {
    const std::uint64_t bits = course::mix(seed(), static_cast<std::uint64_t>(i));
    const auto channel = static_cast<std::uint64_t>(i % channels());
    return static_cast<std::uint8_t>((bits >> 20) % (256 - 50 * channel));
  }
  std::int64_t bin_of(std::uint8_t sample, std::int64_t i) const override {
    return 256 * (i % channels()) + sample;
  }
};
