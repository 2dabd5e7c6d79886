// Exercise 5, solved: a block has counters of all four digits in shared memory. It reads each of
// its keys once, and adds its counters to the result at the end.
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

constexpr int block_size = 512;
constexpr int each = 16;                 // keys per thread
constexpr int tile = block_size * each;  // keys
constexpr int bits = 8;                  // per digit
constexpr int digits = 1 << bits;
constexpr int passes = 32 / bits;

/// A block per tile.
__global__ void __launch_bounds__(block_size)
    count_tile(const unsigned* keys, unsigned* counts, std::int64_t n) {
  __shared__ unsigned mine[passes * digits];
  for (int c = threadIdx.x; c < passes * digits; c += block_size) mine[c] = 0;
  __syncthreads();  // all counters are zero
  for (int k = 0; k < each; ++k) {
    const std::int64_t i = std::int64_t{blockIdx.x} * tile + k * block_size + threadIdx.x;
    if (i >= n) break;
    const unsigned key = keys[i];
    for (int d = 0; d < passes; ++d) {
      atomicAdd(&mine[d * digits + (key >> bits * d & (digits - 1))], 1u);
    }
  }
  __syncthreads();  // all keys are counted
  for (int c = threadIdx.x; c < passes * digits; c += block_size) {
    if (mine[c] != 0) atomicAdd(&counts[c], mine[c]);
  }
}

/// counts[256 d + v] = how many of the n keys have v in byte d, for d = 0 (the lowest) to 3. Device
/// pointers. \returns cudaErrorInvalidValue for n below 0 or above 2^32 - 1, or an error of CUDA.
cudaError_t count_all_digits(const unsigned* keys, unsigned* counts, std::int64_t n,
                             cudaStream_t stream) {
  if (n < 0 || n > UINT32_MAX) return cudaErrorInvalidValue;
  constexpr std::size_t bytes = passes * digits * sizeof(unsigned);
  if (cudaError_t error = cudaMemsetAsync(counts, 0, bytes, stream)) return error;
  if (n == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>((n + tile - 1) / tile);
  count_tile<<<blocks, block_size, 0, stream>>>(keys, counts, n);
  return cudaGetLastError();
}

}  // namespace exercise
