// Idea: more bins than a block has room for are divided into windows of neighbouring bins. Each
//   block counts for one window and skips the samples of the others.
// Predicts: with W windows every sample is loaded W times, mostly from the L2 cache, and examined
//   by W blocks. The additions stay as many as before. With two windows DRAM still sets the pace.
// Still wrong: the rate falls with the number of windows.
#include <cuda_runtime.h>

#include <cstdint>

#include "launch.hpp"

namespace windows {

constexpr int block_size = 1024;
constexpr int loads = 4;              // of 16 bytes, in flight at the same time per thread
constexpr std::int64_t room = 58112;  // counters in the 227 KiB of a block

/// Counts a sample of the `size` bins from `first` on.
__device__ void count(unsigned* mine, unsigned first, unsigned size, unsigned sample) {
  if (sample - first < size) atomicAdd(&mine[sample - first], 1u);
}

__device__ void count_four(unsigned* mine, unsigned first, unsigned size, uint4 v) {
  count(mine, first, size, v.x);
  count(mine, first, size, v.y);
  count(mine, first, size, v.z);
  count(mine, first, size, v.w);
}

/// Block b counts for window b % windows, of `per` bins. The blocks of a window share the samples.
__global__ void __launch_bounds__(block_size, 1)
    count_samples(const unsigned* samples, unsigned* counts, std::int64_t n, unsigned bins,
                  unsigned windows, unsigned per) {
  extern __shared__ unsigned mine[];
  const int t = static_cast<int>(threadIdx.x);
  const unsigned first = blockIdx.x % windows * per, size = min(per, bins - first);
  for (unsigned b = t; b < size; b += block_size) mine[b] = 0;
  __syncthreads();
  const uint4* const in = reinterpret_cast<const uint4*>(samples);
  const unsigned share = blockIdx.x / windows, shares = gridDim.x / windows;
  const std::int64_t all = n / 4, step = std::int64_t{shares} * block_size;
  std::int64_t i = std::int64_t{share} * block_size + t;
  for (; i + (loads - 1) * step < all; i += loads * step) {
    uint4 v[loads];
    for (int k = 0; k < loads; ++k) v[k] = in[i + k * step];
    for (int k = 0; k < loads; ++k) count_four(mine, first, size, v[k]);
  }
  for (; i < all; i += step) count_four(mine, first, size, in[i]);
  if (share == 0 && t < n % 4) count(mine, first, size, samples[4 * all + t]);
  __syncthreads();
  for (unsigned b = t; b < size; b += block_size) {
    if (mine[b] != 0) atomicAdd(&counts[first + b], mine[b]);
  }
}

/// counts[b] = how many of the n samples are b, for b < bins; larger samples are not counted.
/// Device pointers, samples at a multiple of 16 bytes. \returns cudaErrorInvalidValue for another
/// pointer, n or bins below 0, n above 2^32 - 1, bins above 2^24, a GPU with less than 227 KiB of
/// shared memory per block where that many are needed; or an error of CUDA.
cudaError_t histogram(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  if (n < 0 || n > UINT32_MAX || bins < 0 || bins > 1 << 24 || !launch::aligned(samples)) {
    return cudaErrorInvalidValue;
  }
  if (bins == 0) return cudaSuccess;
  const std::int64_t windows = (bins + room - 1) / room, per = (bins + windows - 1) / windows;
  const std::size_t bytes = static_cast<std::size_t>(per) * sizeof(unsigned);
  std::int64_t resident = 0;
  if (cudaError_t error = launch::resident_blocks(count_samples, block_size, bytes, &resident)) {
    return error;
  }
  if (cudaError_t error =
          cudaMemsetAsync(counts, 0, static_cast<std::size_t>(bins) * sizeof(unsigned), stream)) {
    return error;
  }
  if (n == 0) return cudaSuccess;
  const unsigned shares = launch::blocks_for(n / 4, block_size, resident / windows);
  count_samples<<<shares* static_cast<unsigned>(windows), block_size, bytes, stream>>>(
      samples, counts, n, static_cast<unsigned>(bins), static_cast<unsigned>(windows),
      static_cast<unsigned>(per));
  return cudaGetLastError();
}

}  // namespace windows
