// Idea: half a word per counter: 16 bits are enough for what a block counts, if one that has come
//   to 2^15 is emptied at once. An addition returns what was there before, so exactly one thread
//   sees 2^15 - 1: it takes 2^15 away again and adds them in global memory.
// Predicts: 75,000 bins fit into one SM (150,000 bytes), one window, each sample enters one SM: up
//   to twice as fast as 02. Additions that return something cost no more in shared memory.
// Still wrong: it ends at 116,224 bins, and at the memory of one SM.
#include <cuda_runtime.h>

#include <cstdint>

namespace packed {

constexpr int block_size = 1024;
constexpr int loads = 4;               // of 16 bytes, on their way at once per thread
constexpr std::int64_t room = 116224;  // counters in the 227 KiB of a block
constexpr unsigned full = 1u << 15;    // a counter that has come so far is emptied

/// Counts a sample: bin b is half b % 2 of word b / 2. No half overflows into the other one: from
/// full on, a counter has room for 2^15 additions more, and between two barriers a block makes
/// 1024 threads x 16 = 2^14; whoever made it full has emptied it before the next barrier.
__device__ void count(unsigned* s, unsigned* counts, unsigned bins, unsigned sample) {
  if (sample >= bins) return;
  const unsigned shift = sample % 2 * 16;
  const unsigned before = atomicAdd(&s[sample / 2], 1u << shift) >> shift & 0xffffu;
  if (before == full - 1) {
    atomicSub(&s[sample / 2], full << shift);
    atomicAdd(&counts[sample], full);
  }
}

__global__ void __launch_bounds__(block_size)
    count_samples(const unsigned* samples, unsigned* counts, std::int64_t n, unsigned bins) {
  extern __shared__ unsigned s[];
  const int t = static_cast<int>(threadIdx.x);
  const unsigned words = (bins + 1) / 2;
  for (unsigned i = t; i < words; i += block_size) s[i] = 0;
  const uint4* const in = reinterpret_cast<const uint4*>(samples);
  const uint4 none = make_uint4(~0u, ~0u, ~0u, ~0u);  // no bin's
  const std::int64_t vectors = n / 4, step = std::int64_t{gridDim.x} * block_size;
  // All threads of the block go round equally often: i - t is the same for all of them.
  for (std::int64_t i = std::int64_t{blockIdx.x} * block_size + t; i - t < vectors;
       i += loads * step) {
    uint4 v[loads];
    for (int k = 0; k < loads; ++k) v[k] = i + k * step < vectors ? in[i + k * step] : none;
    __syncthreads();  // counters are 0, or those that were full have been emptied
    for (int k = 0; k < loads; ++k) {
      count(s, counts, bins, v[k].x);
      count(s, counts, bins, v[k].y);
      count(s, counts, bins, v[k].z);
      count(s, counts, bins, v[k].w);
    }
  }
  __syncthreads();
  if (blockIdx.x == 0 && t < n % 4) count(s, counts, bins, samples[4 * vectors + t]);
  __syncthreads();
  for (unsigned i = t; i < words; i += block_size) {
    const unsigned low = s[i] & 0xffffu, high = s[i] >> 16;
    if (low != 0) atomicAdd(&counts[2 * i], low);
    if (high != 0) atomicAdd(&counts[2 * i + 1], high);
  }
}

/// counts[b] = how many of the n samples are b, for b < bins; larger samples are not counted.
/// Device pointers, samples at a multiple of 16 bytes. \returns cudaErrorInvalidValue for another
/// pointer, n or bins below 0, n above 2^32 - 1, bins above 116,224, or an error of CUDA.
cudaError_t histogram(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  if (n < 0 || n > UINT32_MAX || bins < 0 || bins > room ||
      reinterpret_cast<std::uintptr_t>(samples) % 16 != 0) {
    return cudaErrorInvalidValue;
  }
  if (bins == 0) return cudaSuccess;
  const std::size_t bytes = static_cast<std::size_t>(bins) * sizeof(unsigned);
  if (cudaError_t error = cudaMemsetAsync(counts, 0, bytes, stream)) return error;
  if (n == 0) return cudaSuccess;
  const int shared = static_cast<int>((bins + 1) / 2) * 4;
  int device = 0, sms = 0, per_sm = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device)) {
    return error;
  }
  if (cudaError_t error = cudaFuncSetAttribute(
          count_samples, cudaFuncAttributeMaxDynamicSharedMemorySize, shared)) {
    return error;
  }
  if (cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          &per_sm, count_samples, block_size, static_cast<std::size_t>(shared))) {
    return error;
  }
  const std::int64_t needed = (n / 4 + block_size - 1) / block_size, most = sms * per_sm;
  const std::int64_t blocks = needed < 1 ? 1 : needed < most ? needed : most;
  count_samples<<<static_cast<unsigned>(blocks), block_size, static_cast<std::size_t>(shared),
                  stream>>>(samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}

}  // namespace packed
