// Exercise 1: mend a bug. This version is right for some n only.
//   ./chapters/run 04 --exercise 1          builds and checks it; --hint helps
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

constexpr int block_size = 256;

/// out[i] = factor in[i]. Launch with at least n threads.
__global__ void scale(const float* in, float* out, std::int64_t n, float factor) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  out[i] = factor * in[i];
}

cudaError_t apply(const float* in, float* out, std::int64_t n, float factor, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const std::int64_t blocks = n / block_size;
  if (n < 0 || blocks > INT32_MAX) return cudaErrorInvalidValue;
  scale<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(in, out, n, factor);
  return cudaGetLastError();
}

}  // namespace exercise
