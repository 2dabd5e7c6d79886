// Exercise 5: beat a row. Right, but each element goes to the sum by an atomic of its own.
// ./chapters/run 02 --exercise 5          passes when it is right and at least 0.9x as fast as
// version 06 (GPU), or has an eighth of the atomics at most (CPU backend)
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

constexpr int block_size = 256;

/// *out += the sum of n elements.
__global__ void sum_elements(const float* in, float* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  if (i < n) atomicAdd(out, in[i]);
}

/// *out = the sum of n elements.
cudaError_t add_up(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (cudaError_t error = cudaMemsetAsync(out, 0, sizeof(float), stream)) return error;
  if (n == 0) return cudaSuccess;
  const std::int64_t blocks = (n + block_size - 1) / block_size;
  sum_elements<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}

}  // namespace exercise
