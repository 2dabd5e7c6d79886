// Exercise 5: right, but a launch per digit reads all keys again, and every key is an atomic in
// global memory. Count all four digits with one read of the keys, in shared memory.
// ./chapters/run 17 --exercise 5          builds and checks it; --hint helps
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

constexpr int block_size = 512;
constexpr int each = 16;                 // keys per thread
constexpr int tile = block_size * each;  // keys
constexpr int bits = 8;                  // per digit
constexpr int digits = 1 << bits;
constexpr int passes = 32 / bits;

/// Counts one digit. A block per tile.
__global__ void __launch_bounds__(block_size)
    count_tile(const unsigned* keys, unsigned* counts, std::int64_t n, int bit) {
  // FILL IN: counters of all digits in shared memory, all of them zero
  for (int k = 0; k < each; ++k) {
    const std::int64_t i = std::int64_t{blockIdx.x} * tile + k * block_size + threadIdx.x;
    if (i >= n) break;
    // CHANGE: count four digits of the key, in the block's counters
    atomicAdd(&counts[keys[i] >> bit & (digits - 1)], 1u);
  }
  // FILL IN: add the block's counters to counts
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
  for (int d = 0; d < passes; ++d) {  // CHANGE: one launch
    count_tile<<<blocks, block_size, 0, stream>>>(keys, counts + d * digits, n, bits * d);
  }
  return cudaGetLastError();
}

}  // namespace exercise
