// Exercise 1, solved: what comes before an element is the sum up to it without itself. That needs
// an operator that can be undone: for maxima, store upto one place further right instead.
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

constexpr int block_size = 1024;

/// Thread t gets the sum of x of threads 0 to t; all threads of the block must call.
__device__ unsigned block_scan(unsigned x) {
  __shared__ unsigned s[2][block_size];  // what is read, and what is written
  const int t = static_cast<int>(threadIdx.x);
  s[0][t] = x;
  __syncthreads();
  int from = 0;
  for (int step = 1; step < block_size; step *= 2) {
    s[1 - from][t] = t >= step ? s[from][t - step] + s[from][t] : s[from][t];
    from = 1 - from;
    __syncthreads();
  }
  return s[from][t];
}

/// out[i] = in[0] + ... + in[i - 1], which is 0 for i = 0; modulo 2^32.
__global__ void scan_block(const unsigned* in, unsigned* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  const unsigned x = t < n ? in[t] : 0;
  const unsigned upto = block_scan(x);
  if (t < n) out[t] = upto - x;
}

/// Scans up to 1024 elements with one block.
cudaError_t scan(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  if (n < 0 || n > block_size) return cudaErrorInvalidValue;
  scan_block<<<1, block_size, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}

}  // namespace exercise
