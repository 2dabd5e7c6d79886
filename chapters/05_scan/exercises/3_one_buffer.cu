// Exercise 3: mend a bug. The scan of doubling steps, in one buffer.
//   ./chapters/run 05 --exercise 3          builds and checks it; --hint helps
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

constexpr int block_size = 1024;

/// Thread t gets the sum of x of threads 0 to t; all threads of the block must call.
__device__ unsigned block_scan(unsigned x) {
  __shared__ unsigned s[block_size];
  const int t = static_cast<int>(threadIdx.x);
  s[t] = x;
  __syncthreads();
  for (int step = 1; step < block_size; step *= 2) {
    if (t >= step) s[t] += s[t - step];
    __syncthreads();
  }
  return s[t];
}

/// out[i] = in[0] + ... + in[i], modulo 2^32.
__global__ void scan_block(const unsigned* in, unsigned* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  const unsigned x = t < n ? in[t] : 0;
  const unsigned upto = block_scan(x);
  if (t < n) out[t] = upto;
}

/// Scans up to 1024 elements with one block.
cudaError_t scan(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  if (n < 0 || n > block_size) return cudaErrorInvalidValue;
  scan_block<<<1, block_size, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}

}  // namespace exercise
