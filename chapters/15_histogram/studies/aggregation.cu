// Three ways to add up equal lanes before 08's additions: the instruction match.any, the samples of
// two lanes, and whole warps only. 09 combines the last two.
#include <cuda_runtime.h>

#include <cstdint>

#include "../launch.hpp"

namespace aggregation_study {

constexpr int block_size = 1024;
constexpr int loads = 4;               // of 16 bytes, in flight at the same time per thread
constexpr unsigned tops = 0x80008000;  // the highest bits of both halves of a word

/// The counters of a block. Bin b is the low half of word b, or the high half of word b - words.
struct Counters {
  unsigned* word;
  unsigned* counts;  ///< the result in global memory
  unsigned words, bins;

  __device__ bool is_high(unsigned sample) const { return sample >= words; }
  __device__ unsigned* word_of(unsigned sample) const {
    return &word[is_high(sample) ? sample - words : sample];
  }
  /// Counts a sample `times` times. \returns the highest bits that this has set.
  __device__ unsigned add(unsigned sample, unsigned times) const {
    if (sample >= bins) return 0;
    const unsigned more = is_high(sample) ? times << 16 : times;
    const unsigned before = atomicAdd(word_of(sample), more);
    return (before + more) & ~before & tops;
  }
  /// Moves 2^15 from a counter whose highest bit is set to the result; one of the threads that ask
  /// for the same counter does.
  __device__ void empty(unsigned sample) const {
    if (sample >= bins) return;
    const unsigned top = is_high(sample) ? 1u << 31 : 1u << 15;
    if (atomicAnd(word_of(sample), ~top) & top) atomicAdd(&counts[sample], 1u << 15);
  }
};

/// How many samples a lane counts for: of the lanes whose sample is a the last one counts for all,
/// of those whose sample is b likewise. Every other lane counts its own.
__device__ unsigned times_of(unsigned sample, unsigned a, unsigned b) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned all_a = __ballot_sync(~0u, sample == a), all_b = __ballot_sync(~0u, sample == b);
  const unsigned equal = sample == a ? all_a : sample == b ? all_b : 1u << lane;
  return equal >> lane == 1 ? __popc(equal) : 0;
}

/// All equal lanes, whatever their samples are: one instruction finds them.
struct MatchAny {
  static __device__ unsigned add(const Counters& counters, unsigned sample) {
    const unsigned lane = threadIdx.x % 32, equal = __match_any_sync(~0u, sample);
    return equal >> lane == 1 ? counters.add(sample, __popc(equal)) : 0;
  }
  static __device__ unsigned add_four(const Counters& counters, uint4 v) {
    return add(counters, v.x) | add(counters, v.y) | add(counters, v.z) | add(counters, v.w);
  }
};

/// The lanes that have the sample of lane 0 or of lane 16.
struct TwoLeaders {
  static __device__ unsigned add(const Counters& counters, unsigned sample, unsigned a,
                                 unsigned b) {
    const unsigned times = times_of(sample, a, b);
    return times != 0 ? counters.add(sample, times) : 0;
  }
  static __device__ unsigned add_four(const Counters& counters, uint4 v) {
    const unsigned a = __shfl_sync(~0u, v.x, 0), b = __shfl_sync(~0u, v.x, 16);
    return add(counters, v.x, a, b) | add(counters, v.y, a, b) | add(counters, v.z, a, b) |
           add(counters, v.w, a, b);
  }
};

/// Only warps whose 128 samples are all equal.
struct WholeWarp {
  static __device__ unsigned add_four(const Counters& counters, uint4 v) {
    const unsigned a = __shfl_sync(~0u, v.x, 0);
    if (__all_sync(~0u, v.x == a && v.y == a && v.z == a && v.w == a)) {
      return threadIdx.x % 32 == 0 ? counters.add(a, 128) : 0;
    }
    return counters.add(v.x, 1) | counters.add(v.y, 1) | counters.add(v.z, 1) |
           counters.add(v.w, 1);
  }
};

/// Called by all lanes of a warp together.
template <class How>
__device__ void count_four(const Counters& counters, uint4 v) {
  if (How::add_four(counters, v) == 0) return;
  counters.empty(v.x);
  counters.empty(v.y);
  counters.empty(v.z);
  counters.empty(v.w);
}

/// Between two barriers a block counts 1024 x 16 = 2^14 samples. A counter whose highest bit is set
/// is emptied before the next barrier, so no half reaches 2^16.
template <class How>
__global__ void __launch_bounds__(block_size, 1)
    count_samples(const unsigned* samples, unsigned* counts, std::int64_t n, unsigned bins) {
  extern __shared__ unsigned word[];
  const Counters counters{word, counts, (bins + 1) / 2, bins};
  const int t = static_cast<int>(threadIdx.x);
  for (unsigned w = t; w < counters.words; w += block_size) word[w] = 0;
  const uint4* const in = reinterpret_cast<const uint4*>(samples);
  const uint4 none = make_uint4(~0u, ~0u, ~0u, ~0u);  // no bin
  const std::int64_t all = n / 4, step = std::int64_t{gridDim.x} * block_size;
  std::int64_t i = std::int64_t{blockIdx.x} * block_size + t;
  uint4 v[loads];
  for (int k = 0; k < loads; ++k) v[k] = i + k * step < all ? __ldcs(&in[i + k * step]) : none;
  for (; i - t < all; i += loads * step) {  // i - t is the same for all threads of the block
    uint4 next[loads];  // in flight while v is counted, because the barrier stops all warps
    for (int k = 0; k < loads; ++k) {
      const std::int64_t j = i + (loads + k) * step;
      next[k] = j < all ? __ldcs(&in[j]) : none;
    }
    __syncthreads();  // the counters are zero, or those that were full have been emptied
    for (int k = 0; k < loads; ++k) count_four<How>(counters, v[k]);
    for (int k = 0; k < loads; ++k) v[k] = next[k];
  }
  __syncthreads();
  if (blockIdx.x == 0 && t < n % 4) counters.add(samples[4 * all + t], 1);
  __syncthreads();
  for (unsigned w = t; w < counters.words; w += block_size) {
    const unsigned low = word[w] & 0xffffu, high = word[w] >> 16;
    if (low != 0) atomicAdd(&counts[w], low);
    if (high != 0) atomicAdd(&counts[w + counters.words], high);
  }
}

template <class How>
cudaError_t run(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                cudaStream_t stream) {
  if (n < 0 || n > UINT32_MAX || bins < 0 || bins > 1 << 24 || !launch::aligned(samples)) {
    return cudaErrorInvalidValue;
  }
  if (bins == 0) return cudaSuccess;
  const std::size_t bytes = static_cast<std::size_t>((bins + 1) / 2) * sizeof(unsigned);
  std::int64_t resident = 0;
  if (cudaError_t error =
          launch::resident_blocks(count_samples<How>, block_size, bytes, &resident)) {
    return error;
  }
  if (cudaError_t error =
          cudaMemsetAsync(counts, 0, static_cast<std::size_t>(bins) * sizeof(unsigned), stream)) {
    return error;
  }
  if (n == 0) return cudaSuccess;
  count_samples<How>
      <<<launch::blocks_for(n / 4, block_size, resident), block_size, bytes, stream>>>(
          samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}

/// As 09's histogram(), by one way to add up equal lanes.
cudaError_t match_any(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  return run<MatchAny>(samples, counts, n, bins, stream);
}
cudaError_t two_leaders(const unsigned* samples, unsigned* counts, std::int64_t n,
                        std::int64_t bins, cudaStream_t stream) {
  return run<TwoLeaders>(samples, counts, n, bins, stream);
}
cudaError_t whole_warp(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                       cudaStream_t stream) {
  return run<WholeWarp>(samples, counts, n, bins, stream);
}

}  // namespace aggregation_study
