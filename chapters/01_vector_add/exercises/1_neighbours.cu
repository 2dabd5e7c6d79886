// Exercise 1: change one line. Right for every n, and slow: look at who takes which element.
//   ./chapters/run 01 --exercise 1          passes when it is right and at least 0.9x as fast as
// version 02 (GPU), or its accesses are coalesced (CPU backend)
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

constexpr int block_size = 256;

__global__ void add_one(const float* a, const float* b, float* c, std::int64_t n) {
  const std::int64_t i = std::int64_t{threadIdx.x} * gridDim.x + blockIdx.x;  // CHANGE ME
  if (i < n) c[i] = a[i] + b[i];
}

cudaError_t add(const float* a, const float* b, float* c, std::int64_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const std::int64_t blocks = (n + block_size - 1) / block_size;
  add_one<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(a, b, c, n);
  return cudaGetLastError();
}

}  // namespace exercise
