// Exercise 2: fill a gap, the scan of a warp.
//   ./chapters/run 05 --exercise 2          builds and checks it; --hint helps
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

constexpr int block_size = 1024;

constexpr int warps = block_size / 32;

/// Lane k gets the sum of x of lanes 0 to k; all 32 lanes must call.
__device__ unsigned warp_scan(unsigned x) {
  // FILL ME IN: steps of 1, 2, 4, 8 and 16 with __shfl_up_sync(0xffffffffu, x, step).
  return x;
}

/// Thread t gets the sum of x of threads 0 to t; all threads of the block must call.
__device__ unsigned block_scan(unsigned x) {
  __shared__ unsigned s[warps];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  x = warp_scan(x);
  if (lane == 31) s[warp] = x;
  __syncthreads();
  if (warp == 0) s[lane] = warp_scan(s[lane]);
  __syncthreads();
  return warp > 0 ? s[warp - 1] + x : x;
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
