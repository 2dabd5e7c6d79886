// Idea: no loop at all. As many threads as elements; the hardware schedules them.
// Predicts: neighbouring threads read neighbouring floats, so a warp's 32 loads are one request of
//   four 32-byte sectors: no byte moves in vain. 2048 resident threads x 8 bytes of loads = 16 KiB
//   in flight per SM.
// Still wrong: 16 KiB is too little to keep a fast memory busy. First a detour (03), then more in
//   flight (04).
#include <cuda_runtime.h>

#include <cstdint>

namespace one_thread_per_element {

constexpr int block_size = 256;

/// c[i] = a[i] + b[i], one element a thread. Launch with at least n threads.
__global__ void add_one(const float* a, const float* b, float* c, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

/// Adds n floats. Device pointers, arrays of n; c may not overlap a or b. \returns
/// cudaErrorInvalidValue for n < 0 or for more blocks than a grid has, or the error of the launch.
cudaError_t add(const float* a, const float* b, float* c, std::int64_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const std::int64_t blocks = (n + block_size - 1) / block_size;
  if (n < 0 || blocks > INT32_MAX) return cudaErrorInvalidValue;
  add_one<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(a, b, c, n);
  return cudaGetLastError();
}

}  // namespace one_thread_per_element
