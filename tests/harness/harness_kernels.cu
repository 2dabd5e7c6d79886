// Kernels that the harness proves itself with: one of known length, and one that only launches.
#include <cuda_runtime.h>

#include <cstdint>

namespace harness {

/// One thread spins until `cycles` SM clock cycles have passed, then writes that it did.
__global__ void spin_for(std::int64_t cycles, float* done) {
  const std::int64_t start = clock64();
  while (clock64() - start < cycles) {
  }
  *done = 1;
}

/// \returns the error of the launch.
cudaError_t spin(std::int64_t cycles, float* done, cudaStream_t stream) {
  spin_for<<<1, 1, 0, stream>>>(cycles, done);
  return cudaGetLastError();
}

}  // namespace harness
