// Idea: the loop of the CPU, moved to the GPU unchanged: one block of one thread.
// Predicts: the thread waits for its loads. Eight neighbours share a 32-byte sector, so each eighth
//   element waits for the memory (650 clock cycles, 330 ns) and the others for the cache (20 ns):
//   about 60 ns an element. Bandwidth has nothing to do with it.
// Still wrong: 131 of the 132 SMs of an H200 do nothing, and the last one has room for 2047 more
//   threads. Next: 02.
#include <cuda_runtime.h>

#include <cstdint>

namespace one_thread {

/// c[i] = a[i] + b[i] for 0 <= i < n, one after the other. Launch with one block of one thread.
__global__ void add_one_by_one(const float* a, const float* b, float* c, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

/// Adds n floats. Device pointers, arrays of n; c may not overlap a or b. \returns
/// cudaErrorInvalidValue for n < 0, or the error of the launch.
cudaError_t add(const float* a, const float* b, float* c, std::int64_t n, cudaStream_t stream) {
  if (n < 0) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  add_one_by_one<<<1, 1, 0, stream>>>(a, b, c, n);
  return cudaGetLastError();
}

}  // namespace one_thread
