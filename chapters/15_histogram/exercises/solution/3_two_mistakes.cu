// Exercise 3, solved: a thread zeroes and adds every blockDim.x-th counter, whatever the number of
// bins is; and a block adds its counters to the result, to which other blocks add as well.
#include <cuda_runtime.h>

#include <cstdint>

#include "launch.hpp"

namespace exercise {

__global__ void count_samples(const unsigned* samples, unsigned* counts, std::int64_t n,
                              unsigned bins) {
  extern __shared__ unsigned mine[];
  for (unsigned b = threadIdx.x; b < bins; b += blockDim.x) mine[b] = 0;
  __syncthreads();
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    const unsigned sample = samples[i];
    if (sample < bins) atomicAdd(&mine[sample], 1u);
  }
  __syncthreads();
  for (unsigned b = threadIdx.x; b < bins; b += blockDim.x) {
    if (mine[b] != 0) atomicAdd(&counts[b], mine[b]);
  }
}

/// counts[b] = how many of the n samples are b, for b < bins; larger samples are not counted. By
/// blocks of `size` threads, 1 to 1024. Device pointers. \returns cudaErrorInvalidValue for n or
/// bins below 0, n above 2^32 - 1, bins above 4096, another size; or an error of CUDA.
cudaError_t histogram_by(const unsigned* samples, unsigned* counts, std::int64_t n,
                         std::int64_t bins, std::int64_t size, cudaStream_t stream) {
  if (n < 0 || n > UINT32_MAX || bins < 0 || bins > 4096 || size < 1 || size > 1024) {
    return cudaErrorInvalidValue;
  }
  if (bins == 0) return cudaSuccess;
  const std::size_t bytes = static_cast<std::size_t>(bins) * sizeof(unsigned);
  std::int64_t resident = 0;  // as many blocks as the GPU runs at one time
  if (cudaError_t error =
          launch::resident_blocks(count_samples, static_cast<int>(size), bytes, &resident)) {
    return error;
  }
  if (cudaError_t error = cudaMemsetAsync(counts, 0, bytes, stream)) return error;
  if (n == 0) return cudaSuccess;
  count_samples<<<launch::blocks_for(n, size, resident), static_cast<unsigned>(size), bytes,
                  stream>>>(samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}

}  // namespace exercise
