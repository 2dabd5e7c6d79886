// NOT YET: right, but its kernels do not read all of the inputs and write all of the outputs
// The host computes, and a kernel is launched for show.
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

__global__ void nothing(float* c, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) c[i] = 0;
}

cudaError_t add(const float* a, const float* b, float* c, std::int64_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  nothing<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(c, n);
  cudaStreamSynchronize(stream);
  for (std::int64_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
  return cudaGetLastError();
}

}  // namespace exercise
