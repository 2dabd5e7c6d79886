#pragma once
/// \file
/// The problems of this chapter, in host C++: inputs, reference, least traffic, tolerance. Versions
/// never include it.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "chapter/input.hpp"
#include "chapter/problem.hpp"

using Histogram = cudaError_t(const unsigned* samples, unsigned* counts, std::int64_t n,
                              std::int64_t bins, cudaStream_t stream);
using HistogramBy = cudaError_t(const unsigned* samples, unsigned* counts, std::int64_t n,
                                std::int64_t bins, std::int64_t size, cudaStream_t stream);
using HistogramIn = cudaError_t(void* workspace, std::size_t& workspace_bytes,
                                const unsigned* samples, unsigned* counts, std::int64_t n,
                                std::int64_t bins, cudaStream_t stream);
using Ranks = cudaError_t(const unsigned* values, const unsigned* queries, unsigned* ranks,
                          std::int64_t n, std::int64_t m, cudaStream_t stream);
using RanksBy = cudaError_t(const unsigned* values, const unsigned* queries, unsigned* ranks,
                            std::int64_t n, std::int64_t m, std::int64_t size, cudaStream_t stream);
using FloatsToFloats = cudaError_t(const float* in, float* out, std::int64_t n,
                                   cudaStream_t stream);
using FloatsIn = cudaError_t(void* workspace, std::size_t& workspace_bytes, const float* in,
                             float* out, std::int64_t n, cudaStream_t stream);
/// Also chains and meetings: `in` says where a chain goes, or what each step adds.
using Exchange = cudaError_t(const unsigned* in, unsigned* out, std::int64_t n, std::int64_t size,
                             cudaStream_t stream);
using Throws = cudaError_t(void* workspace, std::size_t& workspace_bytes, const unsigned* add,
                           unsigned* out, std::int64_t n, std::int64_t size, cudaStream_t stream);

namespace clusters {

/// The largest magnitude of a family of inputs, for tolerances.
inline double largest(course::Input input) {
  switch (input) {
    case course::Input::denormal:
      return 0x1p-126;
    case course::Input::random:
      return 1;
    case course::Input::large:
      return 0x1p120;
    default:
      return 0x1p24;
  }
}

/// How samples are spread over the bins.
enum class Spread {
  uniform,
  constant,  ///< all in one bin
  zipf       ///< the k-th most frequent value is k times rarer than the most frequent one
};

/// Sample i. Input::random: all below bins. Input::integers: about one in nine is no bin's.
/// Input::large: any 32 bits.
inline std::uint32_t sample(Spread spread, course::Input input, std::uint64_t seed, std::int64_t i,
                            std::int64_t bins) {
  const std::uint64_t bits = course::mix(seed, static_cast<std::uint64_t>(i));
  if (input == course::Input::large) return static_cast<std::uint32_t>(bits >> 32);
  const auto many = static_cast<std::uint64_t>(bins < 1 ? 1 : bins);
  switch (spread) {
    case Spread::constant:
      return static_cast<std::uint32_t>(course::mix(seed, 1) % many);
    case Spread::zipf: {
      const double uniform = static_cast<double>(bits >> 11) * 0x1p-53;
      const auto rank =
          static_cast<std::uint64_t>(std::exp2(std::log2(static_cast<double>(many)) * uniform));
      return static_cast<std::uint32_t>(course::mix(7, rank) % many);  // anywhere
    }
    default:
      break;
  }
  const bool some_outside = input == course::Input::integers;
  return static_cast<std::uint32_t>((bits >> 20) % (some_outside ? many + (many + 7) / 8 : many));
}

}  // namespace clusters

/// counts[b] = how many of n samples are b, for b < bins: exact.
class HistogramProblem : public course::Problem {
 public:
  HistogramProblem(course::Size size, std::uint64_t seed, course::Input input,
                   clusters::Spread spread = clusters::Spread::uniform)
      : Problem(std::move(size), seed, input), spread_(spread) {}
  std::int64_t bins() const { return size()["bins"]; }
  std::vector<course::Array> inputs() const override {
    course::Array samples{"samples", n(), course::Type::u32, seed()};
    samples.values = [spread = spread_, input = input(), seed = seed(), n = n(),
                      bins = bins()](void* host) {
      auto* const to = static_cast<std::uint32_t*>(host);
      course::parallel_for(n, [=](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
          to[i] = clusters::sample(spread, input, seed, i, bins);
        }
      });
    };
    return {samples};
  }
  std::vector<course::Array> outputs() const override {
    return {{"counts", bins(), course::Type::u32}};
  }
  double bytes_read() const override { return 4.0 * static_cast<double>(n()); }
  double bytes_written() const override { return 4.0 * static_cast<double>(bins()); }
  void expected(int, double* counts) const override {
    std::fill(counts, counts + bins(), 0.0);
    std::mutex mutex;
    course::parallel_for(
        n(),
        [&](std::int64_t first, std::int64_t last) {
          std::vector<double> some(static_cast<std::size_t>(bins()), 0.0);
          for (std::int64_t i = first; i < last; ++i) {
            const std::uint32_t bin = clusters::sample(spread_, input(), seed(), i, bins());
            if (bin < bins()) ++some[bin];
          }
          const std::lock_guard<std::mutex> lock(mutex);
          for (std::int64_t b = 0; b < bins(); ++b) counts[b] += some[static_cast<std::size_t>(b)];
        },
        1 << 20);
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }

 private:
  clusters::Spread spread_;
};

/// ranks[q] = how many of n values are less than queries[q], for m queries: exact.
class RankProblem : public course::Problem {
 public:
  using Problem::Problem;
  std::int64_t m() const { return size()["m"]; }
  std::vector<course::Array> inputs() const override {
    return {{"values", n(), course::Type::u32, seed()},
            {"queries", m(), course::Type::u32, seed() + 1}};
  }
  std::vector<course::Array> outputs() const override {
    return {{"ranks", m(), course::Type::u32}};
  }
  double bytes_read() const override { return 4.0 * static_cast<double>(n() + m()); }
  double bytes_written() const override { return 4.0 * static_cast<double>(m()); }
  /// What all blocks look through.
  Work work() const override {
    return {4.0 * static_cast<double>(n()) * static_cast<double>(m()), 1e9, "GB/s"};
  }
  /// Some queries where there are very many.
  std::vector<std::int64_t> sample(int) const override {
    std::vector<std::int64_t> some;
    if (n() * m() < std::int64_t{1} << 28) return some;
    for (std::int64_t k = 0; k < 8; ++k) some.push_back(k * (m() - 1) / 7);
    some.erase(std::unique(some.begin(), some.end()), some.end());
    return some;
  }
  void expected(int output, double* ranks) const override {
    std::vector<std::int64_t> queries = sample(output);
    if (queries.empty()) {
      for (std::int64_t q = 0; q < m(); ++q) queries.push_back(q);
    }
    for (const std::int64_t q : queries) {
      const auto query = course::value<std::uint32_t>(input(), seed() + 1, q);
      *ranks++ = static_cast<double>(
          course::total_of<std::int64_t>(n(), [=](std::int64_t first, std::int64_t last) {
            std::int64_t less = 0;
            for (std::int64_t i = first; i < last; ++i) {
              less += course::value<std::uint32_t>(input(), seed(), i) < query;
            }
            return less;
          }));
    }
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }
};

/// Rings of eight chunks of 4096 floats each: out = 1 c_r + 2 c_(r-1) + ... + 8 c_(r-7) for chunk r
/// of a ring, in this order. Floats beyond the end count as zeros.
class RingProblem : public course::Problem {
 public:
  using Problem::Problem;
  static constexpr std::int64_t chunk = 4096, blocks = 8;
  std::vector<course::Array> inputs() const override {
    return {{"in", n(), course::Type::f32, seed()}};
  }
  std::vector<course::Array> outputs() const override { return {{"out", n(), course::Type::f32}}; }
  double bytes_read() const override { return 4.0 * static_cast<double>(n()); }
  double bytes_written() const override { return bytes_read(); }
  /// What goes from block to block.
  Work work() const override { return {7 * bytes_read(), 1e9, "GB/s"}; }
  void expected(int, double* out) const override {
    course::parallel_for(n(), [=](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        const std::int64_t ring = i / (chunk * blocks), r = i / chunk % blocks, k = i % chunk;
        double sum = 0;
        for (std::int64_t step = 0; step < blocks; ++step) {
          const std::int64_t at = (ring * blocks + (r + blocks - step) % blocks) * chunk + k;
          if (at < n()) {
            sum += static_cast<double>(step + 1) * course::value<float>(input(), seed(), at);
          }
        }
        out[i] = sum;
      }
    });
  }
  /// Fifteen roundings of sums of at most 36 magnitudes.
  course::Tolerance tolerance(int) const override {
    if (input() == course::Input::integers) return {0, 0, true};
    return {15 * (36 * clusters::largest(input()) * 0x1p-24 + 0x1p-150), 0, false};
  }
};

/// out[0] = the sum of n floats, by 8 x 512 threads in trees: a thread's own additions come first.
class SumProblem : public course::Problem {
 public:
  using Problem::Problem;
  std::vector<course::Array> inputs() const override {
    return {{"in", n(), course::Type::f32, seed()}};
  }
  std::vector<course::Array> outputs() const override { return {{"out", 1, course::Type::f32}}; }
  double bytes_read() const override { return 4.0 * static_cast<double>(n()); }
  double bytes_written() const override { return 4; }
  void expected(int, double* out) const override {
    out[0] = course::total_of<double>(n(), [=](std::int64_t first, std::int64_t last) {
      double sum = 0;
      for (std::int64_t i = first; i < last; ++i) {
        sum += course::value<float>(input(), seed(), i);
      }
      return sum;
    });
  }
  /// An element takes part in at most n / (4 x 4 x 8 x 512) + 32 additions.
  course::Tolerance tolerance(int) const override {
    if (input() == course::Input::integers) return {0, 0, true};
    const double all = static_cast<double>(n()), deep = all / 65536 + 32;
    return {deep * (all * clusters::largest(input()) * 0x1p-24 + 0x1p-150), 0, false};
  }
};

/// out[i] = in[0] + ... + in[i].
class ScanProblem : public course::Problem {
 public:
  using Problem::Problem;
  std::vector<course::Array> inputs() const override {
    return {{"in", n(), course::Type::f32, seed()}};
  }
  std::vector<course::Array> outputs() const override { return {{"out", n(), course::Type::f32}}; }
  double bytes_read() const override { return 4.0 * static_cast<double>(n()); }
  double bytes_written() const override { return bytes_read(); }
  void expected(int, double* out) const override {
    double sum = 0;
    for (std::int64_t i = 0; i < n(); ++i) {
      out[i] = sum += course::value<float>(input(), seed(), i);
    }
  }
  /// An element takes part in at most n / 65536 + 40 additions.
  course::Tolerance tolerance(int) const override {
    if (input() == course::Input::integers) return {0, 0, true};
    const double all = static_cast<double>(n()), deep = all / 65536 + 40;
    return {deep * (all * clusters::largest(input()) * 0x1p-24 + 0x1p-150), 0, false};
  }
};

/// Tiles of 4096 words, exchanged 64 times with the next block of the cluster. See
/// studies/exchange.cu.
class ExchangeProblem : public course::Problem {
 public:
  /// What comes out: the sum of 64 rotated tiles of the next block, of eight copies of the tile of
  /// the block before, or of 64.
  enum class Result { rotated, eight, all };
  ExchangeProblem(course::Size size, std::uint64_t seed, course::Input input, Result result)
      : Problem(std::move(size), seed, input), result_(result) {}
  std::vector<course::Array> inputs() const override {
    return {{"in", n(), course::Type::u32, seed()}};
  }
  std::vector<course::Array> outputs() const override { return {{"out", n(), course::Type::u32}}; }
  double bytes_read() const override { return 4.0 * static_cast<double>(n()); }
  double bytes_written() const override { return bytes_read(); }
  /// What goes from block to block.
  Work work() const override { return {64 * bytes_read(), 1e9, "GB/s"}; }
  void expected(int, double* out) const override {
    const std::int64_t tile = 4096, blocks = size()["size"];
    course::parallel_for(n(), [=](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        const std::int64_t block = i / tile, rank = block % blocks,
                           from_rank =
                               (rank + (result_ == Result::rotated ? 1 : blocks - 1)) % blocks;
        const std::int64_t from = (block - rank + from_rank) * tile;
        const auto word = [=](std::int64_t k) {
          return course::value<std::uint32_t>(input(), seed(), from + k);
        };
        std::uint32_t sum = 0;
        if (result_ == Result::rotated) {
          for (std::int64_t k = 0; k < 64; ++k) sum += word((i % tile + 256 * k) % tile);
        } else {
          sum = word(i % tile) * (result_ == Result::eight ? 8u : 64u);
        }
        out[i] = sum;
      }
    });
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }

 private:
  Result result_;
};

/// A chain through 64 places: n steps from place 0, each to where the place says.
class ChainProblem : public course::Problem {
 public:
  using Problem::Problem;
  static constexpr std::uint32_t places = 64;
  /// Odd, so that the chain goes through all places.
  std::uint32_t stride() const { return static_cast<std::uint32_t>(2 * (seed() % 32) + 1); }
  std::vector<course::Array> inputs() const override {
    course::Array chain{"chain", places, course::Type::u32, seed()};
    chain.values = [stride = stride()](void* host) {
      for (std::uint32_t i = 0; i < places; ++i) {
        static_cast<std::uint32_t*>(host)[i] = (i + stride) % places;
      }
    };
    return {chain};
  }
  std::vector<course::Array> outputs() const override { return {{"end", 1, course::Type::u32}}; }
  double bytes_read() const override { return 4.0 * places; }
  double bytes_written() const override { return 4; }
  Work work() const override { return {static_cast<double>(n()), 1e6, "Msteps/s"}; }
  void expected(int, double* end) const override {
    end[0] = static_cast<double>(n() % places * stride() % places);
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }
};

/// out[0] = n add[0]: each of n steps adds.
class StepProblem : public course::Problem {
 public:
  using Problem::Problem;
  std::vector<course::Array> inputs() const override {
    return {{"add", 1, course::Type::u32, seed()}};
  }
  std::vector<course::Array> outputs() const override { return {{"sum", 1, course::Type::u32}}; }
  double bytes_read() const override { return 4; }
  double bytes_written() const override { return 4; }
  Work work() const override { return {static_cast<double>(n()), 1e6, "Msteps/s"}; }
  void expected(int, double* sum) const override {
    sum[0] = course::value<std::uint32_t>(input(), seed(), 0) * static_cast<std::uint32_t>(n());
  }
  course::Tolerance tolerance(int) const override { return {0, 0, true}; }
};
