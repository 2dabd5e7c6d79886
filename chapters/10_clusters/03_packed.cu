// Idea: half a word per counter: 16 bits are enough for what a block counts, if one that has come
//   to 2^15 is emptied at once. An addition returns what was there before, so a thread sees the
//   highest bit appear; it takes the bit away again and adds 2^15 in global memory.
// Predicts: half as many windows as 02: 75,000 bins fit into one SM (150,000 bytes), and a sample
//   enters one SM. Additions that return something cost no more in shared memory.
// Still wrong: lanes that add to the same counter queue up (02's are merged). And all blocks add
//   all their counters to the result: 132 x 75,000 additions in the L2 cache.
#include <cuda_runtime.h>

#include <cstdint>

namespace packed {

constexpr int block_size = 1024;
constexpr int loads = 4;               // of 16 bytes, on their way at once per thread
constexpr std::int64_t room = 116224;  // counters in the 227 KiB of a block
constexpr unsigned tops = 0x80008000;  // the highest bits of both halves

/// Where a sample is counted, if it is one of the `mine` bins from `first` on. The first `words`
/// counters are low halves, the others high ones.
struct Place {
  unsigned word, one;  ///< one: 1, 2^16, or 0 for a sample of another window or no bin's
};
__device__ Place place_of(unsigned words, unsigned first, unsigned mine, unsigned sample) {
  const unsigned counter = sample - first;
  const bool high = counter >= words;
  if (counter >= mine) return {threadIdx.x % 32, 0};  // adds 0 anywhere, each lane in its own bank
  return {high ? counter - words : counter, high ? 1u << 16 : 1u};
}

/// \returns the highest bits that have appeared.
__device__ unsigned count(unsigned* s, Place p) {
  const unsigned before = atomicAdd(&s[p.word], p.one);
  return (before + p.one) & ~before & tops;
}

/// Moves 2^15 to the result if the half's highest bit is set: for one of the threads that ask.
__device__ void empty(unsigned* s, Place p, unsigned* counts, unsigned sample) {
  const unsigned top = p.one << 15;
  if (atomicAnd(&s[p.word], ~top) & top) atomicAdd(&counts[sample], 1u << 15);
}

template <class PlaceOf>
__device__ void count_four(unsigned* s, unsigned* counts, uint4 v, PlaceOf place_of) {
  const Place x = place_of(v.x), y = place_of(v.y), z = place_of(v.z), w = place_of(v.w);
  if ((count(s, x) | count(s, y) | count(s, z) | count(s, w)) == 0) return;
  empty(s, x, counts, v.x);
  empty(s, y, counts, v.y);
  empty(s, z, counts, v.z);
  empty(s, w, counts, v.w);
}

/// Blocks b, b + W, b + 2W, ... share the samples among them, for window b % W of W windows, `per`
/// bins each. No half overflows into the other one: between two barriers a block counts 1024 x 16 =
/// 2^14 samples, and a counter whose highest bit appears is emptied before the next barrier.
__global__ void __launch_bounds__(block_size, 1)
    count_window(const unsigned* samples, unsigned* counts, std::int64_t n, unsigned bins,
                 unsigned windows, unsigned per, unsigned words) {
  extern __shared__ unsigned s[];
  const int t = static_cast<int>(threadIdx.x);
  const unsigned first = blockIdx.x % windows * per, mine = min(per, bins - first);
  const unsigned share = blockIdx.x / windows, shares = gridDim.x / windows;
  for (unsigned i = t; i < words; i += block_size) s[i] = 0;
  const uint4* const in = reinterpret_cast<const uint4*>(samples);
  const uint4 none = make_uint4(~0u, ~0u, ~0u, ~0u);  // no bin's
  const std::int64_t vectors = n / 4, step = std::int64_t{shares} * block_size;
  std::int64_t i = std::int64_t{share} * block_size + t;
  uint4 v[loads];
  for (int k = 0; k < loads; ++k) v[k] = i + k * step < vectors ? in[i + k * step] : none;
  // All threads of the block go round equally often: i - t is the same for all of them.
  for (; i - t < vectors; i += loads * step) {
    const auto place = [&](unsigned sample) { return place_of(words, first, mine, sample); };
    uint4 next[loads];  // on their way while this round is counted: the barrier stops all warps
    for (int k = 0; k < loads; ++k) {
      const std::int64_t j = i + (loads + k) * step;
      next[k] = j < vectors ? in[j] : none;
    }
    __syncthreads();  // counters are 0, or those that were full have been emptied
    for (int k = 0; k < loads; ++k) count_four(s, counts, v[k], place);
    for (int k = 0; k < loads; ++k) v[k] = next[k];
  }
  __syncthreads();
  if (share == 0 && t < n % 4) {
    const unsigned sample = samples[4 * vectors + t];
    count(s, place_of(words, first, mine, sample));
  }
  __syncthreads();
  for (unsigned i = t; i < words; i += block_size) {
    const unsigned low = s[i] & 0xffffu, high = s[i] >> 16;
    if (low != 0) atomicAdd(&counts[first + i], low);
    if (high != 0) atomicAdd(&counts[first + i + words], high);
  }
}

/// counts[b] = how many of the n samples are b, for b < bins; larger samples are not counted.
/// Device pointers, samples at a multiple of 16 bytes. \returns cudaErrorInvalidValue for another
/// pointer, n or bins below 0, n above 2^32 - 1, bins above 2^24, or an error of CUDA.
cudaError_t histogram(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  if (n < 0 || n > UINT32_MAX || bins < 0 || bins > 1 << 24 ||
      reinterpret_cast<std::uintptr_t>(samples) % 16 != 0) {
    return cudaErrorInvalidValue;
  }
  if (bins == 0) return cudaSuccess;
  const std::size_t bytes = static_cast<std::size_t>(bins) * sizeof(unsigned);
  if (cudaError_t error = cudaMemsetAsync(counts, 0, bytes, stream)) return error;
  if (n == 0) return cudaSuccess;
  const std::int64_t windows = (bins + room - 1) / room, per = (bins + windows - 1) / windows;
  const int half = static_cast<int>(per + 1) / 2;
  const int words = half < 32 ? 32 : half;  // lanes add nothing to one each
  const int shared = words * 4;
  int device = 0, sms = 0, per_sm = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device)) {
    return error;
  }
  if (cudaError_t error =
          cudaFuncSetAttribute(count_window, cudaFuncAttributeMaxDynamicSharedMemorySize, shared)) {
    return error;
  }
  if (cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          &per_sm, count_window, block_size, static_cast<std::size_t>(shared))) {
    return error;
  }
  const std::int64_t needed = (n / 4 + block_size - 1) / block_size;
  const std::int64_t most = sms * per_sm < windows ? 1 : sms * per_sm / windows;
  const std::int64_t shares = needed < 1 ? 1 : needed < most ? needed : most;
  count_window<<<static_cast<unsigned>(shares * windows), block_size,
                 static_cast<std::size_t>(shared), stream>>>(
      samples, counts, n, static_cast<unsigned>(bins), static_cast<unsigned>(windows),
      static_cast<unsigned>(per), static_cast<unsigned>(words));
  return cudaGetLastError();
}

}  // namespace packed
