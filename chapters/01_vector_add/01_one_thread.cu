// Idea: the loop of the CPU, moved to the GPU unchanged: one block of one thread.
// Predicts: 12 bytes an element, yet only one element's loads in flight at a time, so every element
//   waits for the whole latency of the memory, some 600 ns or more. Bandwidth has nothing to do
//   with it.
// Still wrong: 131 of 132 SMs of an H200, and 2047 of the 2048 threads of the last one, do nothing.
//   Next: 02.
#include <cuda_runtime.h>

#include <cstdint>

namespace one_thread {

/// c[i] = a[i] + b[i] for 0 <= i < n, one after the other. Launch with one block of one thread.
__global__ void add_one_by_one(const float* a, const float* b, float* c, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

/// Adds n floats. Device pointers, arrays of n; c may not overlap a or b. \returns the error of the
/// launch.
cudaError_t add(const float* a, const float* b, float* c, std::int64_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  add_one_by_one<<<1, 1, 0, stream>>>(a, b, c, n);
  return cudaGetLastError();
}

}  // namespace one_thread
