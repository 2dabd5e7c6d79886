// Idea: 16 bits per counter, two counters per word: twice the bins in one window. A counter that
//   reaches 2^15 is emptied into global memory at once. atomicAdd returns the old value, so the
//   thread whose addition sets the highest bit sees that and empties the counter.
// Predicts: 75,000 bins need 150,000 bytes, one window: each sample is examined once.
// Still wrong: this addition returns a value and adds 1 or 65,536, so the hardware cannot merge the
//   lanes that add to the same counter: a constant input takes 32 wavefronts per warp.
#include <cuda_runtime.h>

#include <cstdint>

#include "launch.hpp"

namespace packed {

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

__device__ void count_four(const Counters& counters, uint4 v) {
  unsigned full = counters.add(v.x, 1) | counters.add(v.y, 1);
  full |= counters.add(v.z, 1) | counters.add(v.w, 1);
  if (full == 0) return;
  counters.empty(v.x);
  counters.empty(v.y);
  counters.empty(v.z);
  counters.empty(v.w);
}

/// Between two barriers a block counts 1024 x 16 = 2^14 samples. A counter whose highest bit is set
/// is emptied before the next barrier, so no half reaches 2^16.
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
    for (int k = 0; k < loads; ++k) count_four(counters, v[k]);
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

/// counts[b] = how many of the n samples are b, for b < bins; larger samples are not counted.
/// Device pointers, samples at a multiple of 16 bytes. \returns cudaErrorInvalidValue for another
/// pointer, n or bins below 0, n above 2^32 - 1, bins whose counters of 16 bits do not fit into a
/// block's shared memory; or an error of CUDA.
cudaError_t histogram(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  if (n < 0 || n > UINT32_MAX || bins < 0 || bins > 1 << 24 || !launch::aligned(samples)) {
    return cudaErrorInvalidValue;
  }
  if (bins == 0) return cudaSuccess;
  const std::size_t bytes = static_cast<std::size_t>((bins + 1) / 2) * sizeof(unsigned);
  std::int64_t resident = 0;
  if (cudaError_t error = launch::resident_blocks(count_samples, block_size, bytes, &resident)) {
    return error;
  }
  if (cudaError_t error =
          cudaMemsetAsync(counts, 0, static_cast<std::size_t>(bins) * sizeof(unsigned), stream)) {
    return error;
  }
  if (n == 0) return cudaSuccess;
  count_samples<<<launch::blocks_for(n / 4, block_size, resident), block_size, bytes, stream>>>(
      samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}

}  // namespace packed
