// Exercise 6, solved: __match_any_sync names the lanes that have the same bin, __reduce_add_sync
// adds up their weights, and the lowest of them adds the sum. All lanes of a warp stay in the loop,
// so those past the end have no bin.
#include <cuda_runtime.h>

#include <cstdint>

#include "launch.hpp"

namespace exercise {

constexpr int block_size = 512;

/// Adds the weight of each lane to its bin. Called by all lanes of a warp together.
__device__ void add(unsigned* mine, unsigned bins, unsigned bin, unsigned weight) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned equal = __match_any_sync(~0u, bin);
  const unsigned sum = __reduce_add_sync(equal, weight);
  const bool is_lowest = (equal & ((1u << lane) - 1)) == 0;
  if (is_lowest && bin < bins) atomicAdd(&mine[bin], sum);
}

__global__ void __launch_bounds__(block_size)
    add_all(const unsigned* samples, const unsigned* weights, unsigned* sums, std::int64_t n,
            unsigned bins) {
  extern __shared__ unsigned mine[];
  for (unsigned b = threadIdx.x; b < bins; b += block_size) mine[b] = 0;
  __syncthreads();
  const std::int64_t step = std::int64_t{gridDim.x} * block_size;
  for (std::int64_t first = std::int64_t{blockIdx.x} * block_size; first < n; first += step) {
    const std::int64_t i = first + threadIdx.x;
    const bool is_there = i < n;
    add(mine, bins, is_there ? samples[i] : ~0u, is_there ? weights[i] : 0);
  }
  __syncthreads();
  for (unsigned b = threadIdx.x; b < bins; b += block_size) {
    if (mine[b] != 0) atomicAdd(&sums[b], mine[b]);
  }
}

/// sums[b] = the sum, modulo 2^32, of the weights[i] for which samples[i] is b, for b < bins;
/// larger samples are not added. Device pointers. \returns cudaErrorInvalidValue for n or bins
/// below 0, n above 2^32 - 1, bins above 4096; or an error of CUDA.
cudaError_t add_weights(const unsigned* samples, const unsigned* weights, unsigned* sums,
                        std::int64_t n, std::int64_t bins, cudaStream_t stream) {
  if (n < 0 || n > UINT32_MAX || bins < 0 || bins > 4096) return cudaErrorInvalidValue;
  if (bins == 0) return cudaSuccess;
  const std::size_t bytes = static_cast<std::size_t>(bins) * sizeof(unsigned);
  std::int64_t resident = 0;  // as many blocks as the GPU runs at one time
  if (cudaError_t error = launch::resident_blocks(add_all, block_size, bytes, &resident)) {
    return error;
  }
  if (cudaError_t error = cudaMemsetAsync(sums, 0, bytes, stream)) return error;
  if (n == 0) return cudaSuccess;
  add_all<<<launch::blocks_for(n, block_size, resident), block_size, bytes, stream>>>(
      samples, weights, sums, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}

}  // namespace exercise
