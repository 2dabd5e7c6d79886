// Idea: a bin is a range of samples. Ranges of equal width: one multiplication by a number that the
//   host has divided. Any ascending list of levels: a binary search in shared memory.
// Predicts: the multiplication is hidden behind the loads. The search of 256 bins takes eight
//   dependent loads per sample, so shared memory sets the pace and no longer DRAM.
// Still wrong: the search.
#include <cuda_runtime.h>

#include <cstdint>

#include "launch.hpp"

namespace ranges {

constexpr int block_size = 1024;
constexpr int loads = 2;  // of 16 bytes, in flight at the same time per thread

/// Ranges of equal width: bin (x - lower) bins / (upper - lower), rounded down. With factor =
/// 2^64 bins / (upper - lower), rounded up, the upper half of the product is exactly that, because
/// x - lower is below 2^32.
struct Even {
  unsigned lower, last, bins;  ///< last: upper - lower - 1, which 32 bits can hold
  unsigned long long factor;
  __device__ void prepare(unsigned*) {}
  __device__ unsigned operator()(unsigned x) const {
    const unsigned from_lower = x - lower;
    if (from_lower > last) return ~0u;  // no bin
    return factor == 0 ? from_lower : static_cast<unsigned>(__umul64hi(from_lower, factor));
  }
};

/// Ranges by ascending levels: bin b has the samples from levels[b] up to below levels[b + 1].
struct Levels {
  const unsigned* levels;  ///< bins + 1 of them; prepare() copies them into shared memory
  unsigned bins;
  __device__ void prepare(unsigned* shared) {
    for (unsigned k = threadIdx.x; k <= bins; k += block_size) shared[k] = levels[k];
    levels = shared;
  }
  __device__ unsigned operator()(unsigned x) const {
    unsigned below = 0, above = bins + 1;  // levels[k] <= x for k < below, > x from above on
    while (below < above) {
      const unsigned middle = (below + above) / 2;
      if (levels[middle] <= x) {
        below = middle + 1;
      } else {
        above = middle;
      }
    }
    return below - 1 < bins ? below - 1 : ~0u;  // below the first level or from the last one on
  }
};

template <class BinOf>
__device__ void count(unsigned* mine, const BinOf& bin_of, unsigned sample) {
  const unsigned bin = bin_of(sample);
  if (bin != ~0u) atomicAdd(&mine[bin], 1u);
}

template <class BinOf>
__device__ void count_four(unsigned* mine, const BinOf& bin_of, uint4 v) {
  count(mine, bin_of, v.x);
  count(mine, bin_of, v.y);
  count(mine, bin_of, v.z);
  count(mine, bin_of, v.w);
}

template <class BinOf>
__global__ void __launch_bounds__(block_size, 2)
    count_samples(const unsigned* samples, unsigned* counts, std::int64_t n, BinOf bin_of) {
  extern __shared__ unsigned mine[];
  const unsigned bins = bin_of.bins;
  const int t = static_cast<int>(threadIdx.x);
  for (unsigned b = t; b < bins; b += block_size) mine[b] = 0;
  bin_of.prepare(&mine[bins]);
  __syncthreads();
  const uint4* const in = reinterpret_cast<const uint4*>(samples);
  const std::int64_t all = n / 4, step = std::int64_t{gridDim.x} * block_size;
  std::int64_t i = std::int64_t{blockIdx.x} * block_size + t;
  for (; i + (loads - 1) * step < all; i += loads * step) {
    uint4 v[loads];
    for (int k = 0; k < loads; ++k) v[k] = __ldcs(&in[i + k * step]);
    for (int k = 0; k < loads; ++k) count_four(mine, bin_of, v[k]);
  }
  for (; i < all; i += step) count_four(mine, bin_of, in[i]);
  if (blockIdx.x == 0 && t < n % 4) count(mine, bin_of, samples[4 * all + t]);
  __syncthreads();
  for (unsigned b = t; b < bins; b += block_size) {
    if (mine[b] != 0) atomicAdd(&counts[b], mine[b]);
  }
}

/// Counts into the bins of bin_of, which needs `more` words of shared memory besides the counters.
template <class BinOf>
cudaError_t run(const unsigned* samples, unsigned* counts, std::int64_t n, const BinOf& bin_of,
                std::int64_t more, cudaStream_t stream) {
  const std::int64_t bins = bin_of.bins;
  const std::size_t bytes = static_cast<std::size_t>(bins + more) * sizeof(unsigned);
  std::int64_t resident = 0;
  if (cudaError_t error =
          launch::resident_blocks(count_samples<BinOf>, block_size, bytes, &resident)) {
    return error;
  }
  if (cudaError_t error =
          cudaMemsetAsync(counts, 0, static_cast<std::size_t>(bins) * sizeof(unsigned), stream)) {
    return error;
  }
  if (n == 0) return cudaSuccess;
  count_samples<<<launch::blocks_for(n / 4, block_size, resident), block_size, bytes, stream>>>(
      samples, counts, n, bin_of);
  return cudaGetLastError();
}

/// counts[b] = how many of the n samples are in bin b of `bins` ranges of equal width between lower
/// and upper: those x with (x - lower) bins / (upper - lower) = b, rounded down. Samples below
/// lower or from upper on are not counted. Device pointers, samples at a multiple of 16 bytes.
/// \returns cudaErrorInvalidValue for another pointer, n or bins below 0, n above 2^32 - 1, lower
/// below 0, upper above 2^32, upper - lower below bins, bins whose counters do not fit into a
/// block's shared memory; or an error of CUDA.
cudaError_t even(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                 std::int64_t lower, std::int64_t upper, cudaStream_t stream) {
  if (n < 0 || n > UINT32_MAX || bins < 0 || bins > 1 << 24 || lower < 0 ||
      upper > std::int64_t{1} << 32 || upper - lower < bins || !launch::aligned(samples)) {
    return cudaErrorInvalidValue;
  }
  if (bins == 0) return cudaSuccess;
  const auto size = static_cast<std::uint64_t>(upper - lower);
  // 2^64 bins / size, rounded up, in two steps of 32 bits; 0 stands for 2^64.
  const auto b = static_cast<std::uint64_t>(bins);
  const std::uint64_t high = (b << 32) / size, rest = (b << 32) % size;
  const std::uint64_t low = (rest << 32) / size, more = (rest << 32) % size != 0;
  const Even bin_of{static_cast<unsigned>(lower), static_cast<unsigned>(size - 1),
                    static_cast<unsigned>(bins), size == b ? 0 : (high << 32) + low + more};
  return run(samples, counts, n, bin_of, 0, stream);
}

/// counts[b] = how many of the n samples are from levels[b] on and below levels[b + 1], for b <
/// bins. The bins + 1 levels ascend; equal levels make an empty bin. Device pointers, samples at a
/// multiple of 16 bytes. \returns as even().
cudaError_t by_levels(const unsigned* samples, const unsigned* levels, unsigned* counts,
                      std::int64_t n, std::int64_t bins, cudaStream_t stream) {
  if (n < 0 || n > UINT32_MAX || bins < 0 || bins > 1 << 24 || !launch::aligned(samples)) {
    return cudaErrorInvalidValue;
  }
  if (bins == 0) return cudaSuccess;
  return run(samples, counts, n, Levels{levels, static_cast<unsigned>(bins)}, bins + 1, stream);
}

}  // namespace ranges
