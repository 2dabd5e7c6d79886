// Exercise 1: change one line. Floats, compared as unsigned integers.
//   ./chapters/run 07 --exercise 1          builds and checks it; --hint helps
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

constexpr int block_size = 1024;

/// An unsigned integer that is less than another one if, and only if, its float comes before the
/// other's: -infinity, ..., -0.0, 0.0, ..., infinity.
__device__ unsigned ordered(float key) {
  const unsigned bits = __float_as_uint(key);
  return bits;  // CHANGE ME: right as long as no key has a minus sign
}

/// Each thread counts the keys that come before its own: that is where its own belongs.
__global__ void sort_block(const float* in, float* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  if (t >= n) return;
  const unsigned mine = ordered(in[t]);
  int before = 0;
  for (int i = 0; i < n; ++i) {
    const unsigned other = ordered(in[i]);
    if (other < mine || (other == mine && i < t)) ++before;
  }
  out[before] = in[t];
}

/// Sorts up to 1024 floats with one block; none is NaN.
cudaError_t sort(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (n < 0 || n > block_size) return cudaErrorInvalidValue;
  sort_block<<<1, block_size, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}

}  // namespace exercise
