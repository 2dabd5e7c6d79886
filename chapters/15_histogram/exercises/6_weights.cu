// Exercise 6: sums in place of counts. It is right, but where many neighbours are in one bin their
// additions go one after the other. Let the lanes of a warp that have the same bin add up first.
// ./chapters/run 15 --exercise 6          builds and checks it; --hint helps
#include <cuda_runtime.h>

#include <cstdint>

#include "launch.hpp"

namespace exercise {

constexpr int block_size = 512;

/// Adds the weight of each lane to its bin.
__device__ void add(unsigned* mine, unsigned bins, unsigned bin, unsigned weight) {
  // CHANGE: one addition for all lanes that have the same bin
  if (bin < bins) atomicAdd(&mine[bin], weight);
}

__global__ void __launch_bounds__(block_size)
    add_all(const unsigned* samples, const unsigned* weights, unsigned* sums, std::int64_t n,
            unsigned bins) {
  extern __shared__ unsigned mine[];
  for (unsigned b = threadIdx.x; b < bins; b += block_size) mine[b] = 0;
  __syncthreads();
  const std::int64_t step = std::int64_t{gridDim.x} * block_size;
  for (std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x; i < n; i += step) {
    add(mine, bins, samples[i], weights[i]);
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
