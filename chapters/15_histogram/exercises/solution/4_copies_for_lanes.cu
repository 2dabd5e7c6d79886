// Exercise 4, solved: counter `bin` of lane l is word 32 bin + l, so it is in bank l for every bin.
// A thread adds up the 32 copies of its bin; each lane of a warp begins with another bank.
#include <cuda_runtime.h>

#include <cstdint>

#include "launch.hpp"

namespace exercise {

constexpr int block_size = 1024;
constexpr int loads = 2;  // of 16 bytes, in flight at the same time per thread
constexpr int all_bins = 256;
constexpr int copies = 32;  // of the counters: one per lane, in the lane's own bank

__device__ void count(unsigned* mine, unsigned sample) { atomicAdd(&mine[copies * sample], 1u); }

/// The four samples of a word.
__device__ void count_word(unsigned* mine, unsigned word) {
  for (int byte = 0; byte < 4; ++byte) count(mine, word >> (8 * byte) & 0xffu);
}

__device__ void count_sixteen(unsigned* mine, uint4 v) {
  count_word(mine, v.x);
  count_word(mine, v.y);
  count_word(mine, v.z);
  count_word(mine, v.w);
}

__global__ void __launch_bounds__(block_size, 2)
    count_samples(const std::uint8_t* samples, unsigned* counts, std::int64_t n, unsigned bins) {
  __shared__ unsigned counters[copies * all_bins];
  const unsigned t = threadIdx.x;
  for (unsigned c = t; c < copies * all_bins; c += block_size) counters[c] = 0;
  unsigned* const mine = &counters[t % 32];
  __syncthreads();
  const uint4* const in = reinterpret_cast<const uint4*>(samples);
  const std::int64_t all = n / 16, step = std::int64_t{gridDim.x} * block_size;
  std::int64_t i = std::int64_t{blockIdx.x} * block_size + t;
  for (; i + (loads - 1) * step < all; i += loads * step) {
    uint4 v[loads];
    for (int k = 0; k < loads; ++k) v[k] = __ldcs(&in[i + k * step]);
    for (int k = 0; k < loads; ++k) count_sixteen(mine, v[k]);
  }
  for (; i < all; i += step) count_sixteen(mine, in[i]);
  if (blockIdx.x == 0 && t < n % 16) count(mine, samples[16 * all + t]);
  __syncthreads();
  if (t < bins) {
    unsigned sum = 0;
    for (int k = 0; k < copies; ++k) sum += counters[copies * t + (t + k) % copies];
    if (sum != 0) atomicAdd(&counts[t], sum);
  }
}

/// counts[b] = how many of the n samples are b, for b < bins; larger samples are not counted.
/// Device pointers, samples at a multiple of 16 bytes. \returns cudaErrorInvalidValue for another
/// pointer, n or bins below 0, n above 2^32 - 1, bins above 256; or an error of CUDA.
cudaError_t histogram(const std::uint8_t* samples, unsigned* counts, std::int64_t n,
                      std::int64_t bins, cudaStream_t stream) {
  if (n < 0 || n > UINT32_MAX || bins < 0 || bins > all_bins || !launch::aligned(samples)) {
    return cudaErrorInvalidValue;
  }
  if (bins == 0) return cudaSuccess;
  const std::size_t size = static_cast<std::size_t>(bins) * sizeof(unsigned);
  std::int64_t resident = 0;
  if (cudaError_t error = launch::resident_blocks(count_samples, block_size, 0, &resident)) {
    return error;
  }
  if (cudaError_t error = cudaMemsetAsync(counts, 0, size, stream)) return error;
  if (n == 0) return cudaSuccess;
  count_samples<<<launch::blocks_for(n / 16, block_size, resident), block_size, 0, stream>>>(
      samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}

}  // namespace exercise
