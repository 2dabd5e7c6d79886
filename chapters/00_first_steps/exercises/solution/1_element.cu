// Exercise 1, solved: count the threads of all blocks before this one, then this one's place.
#include <cuda_runtime.h>

namespace exercise {

__global__ void double_elements(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}

/// out[i] = 2 in[i]. in, out: device memory. Returns the error of the launch.
cudaError_t apply(const float* in, float* out, int n) {
  const int threads = 256, blocks = (n + threads - 1) / threads;
  double_elements<<<blocks, threads>>>(in, out, n);
  return cudaGetLastError();
}

}  // namespace exercise
