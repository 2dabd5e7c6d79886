// Idea: a thread loads four samples at once (16 bytes) and issues four such loads before it counts
//   any of them.
// Predicts: 64 bytes in flight per thread in place of 4, 128 KiB per SM: more than the latency of
//   DRAM asks for (chapter 01). So DRAM sets the pace.
// Still wrong: nothing for samples of 4 bytes. Samples of 1 byte arrive four times as fast.
#include <cuda_runtime.h>

#include <cstdint>

#include "launch.hpp"

namespace vectors {

constexpr int block_size = 1024;
constexpr int loads = 4;  // of 16 bytes, in flight at the same time per thread

__device__ void count(unsigned* mine, unsigned bins, unsigned sample) {
  if (sample < bins) atomicAdd(&mine[sample], 1u);
}

__device__ void count_four(unsigned* mine, unsigned bins, uint4 v) {
  count(mine, bins, v.x);
  count(mine, bins, v.y);
  count(mine, bins, v.z);
  count(mine, bins, v.w);
}

__global__ void __launch_bounds__(block_size, 2)
    count_samples(const unsigned* samples, unsigned* counts, std::int64_t n, unsigned bins) {
  extern __shared__ unsigned mine[];
  const int t = static_cast<int>(threadIdx.x);
  for (unsigned b = t; b < bins; b += block_size) mine[b] = 0;
  __syncthreads();
  const uint4* const in = reinterpret_cast<const uint4*>(samples);
  const std::int64_t all = n / 4, step = std::int64_t{gridDim.x} * block_size;
  std::int64_t i = std::int64_t{blockIdx.x} * block_size + t;
  for (; i + (loads - 1) * step < all; i += loads * step) {
    uint4 v[loads];
    for (int k = 0; k < loads; ++k) v[k] = __ldcs(&in[i + k * step]);
    for (int k = 0; k < loads; ++k) count_four(mine, bins, v[k]);
  }
  for (; i < all; i += step) count_four(mine, bins, in[i]);
  if (blockIdx.x == 0 && t < n % 4) count(mine, bins, samples[4 * all + t]);
  __syncthreads();
  for (unsigned b = t; b < bins; b += block_size) {
    if (mine[b] != 0) atomicAdd(&counts[b], mine[b]);
  }
}

/// counts[b] = how many of the n samples are b, for b < bins; larger samples are not counted.
/// Device pointers, samples at a multiple of 16 bytes. \returns cudaErrorInvalidValue for another
/// pointer, n or bins below 0, n above 2^32 - 1, bins whose counters do not fit into a block's
/// shared memory; or an error of CUDA.
cudaError_t histogram(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  if (n < 0 || n > UINT32_MAX || bins < 0 || bins > 1 << 24 || !launch::aligned(samples)) {
    return cudaErrorInvalidValue;
  }
  if (bins == 0) return cudaSuccess;
  const std::size_t bytes = static_cast<std::size_t>(bins) * sizeof(unsigned);
  std::int64_t resident = 0;
  if (cudaError_t error = launch::resident_blocks(count_samples, block_size, bytes, &resident)) {
    return error;
  }
  if (cudaError_t error = cudaMemsetAsync(counts, 0, bytes, stream)) return error;
  if (n == 0) return cudaSuccess;
  count_samples<<<launch::blocks_for(n / 4, block_size, resident), block_size, bytes, stream>>>(
      samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}

}  // namespace vectors
