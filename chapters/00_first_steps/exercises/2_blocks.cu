// Exercise 2: mend the launch that works on Mondays. It is right for some n only.
//   ./chapters/run 00 --exercise 2          builds and checks it; --hint helps
#include <cuda_runtime.h>

namespace exercise {

__global__ void double_elements(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2 * in[i];
}

/// out[i] = 2 in[i], n > 0. in, out: device memory. Returns the error of the launch.
cudaError_t apply(const float* in, float* out, int n) {
  const int threads = 256, blocks = n / threads;
  double_elements<<<blocks, threads>>>(in, out, n);
  return cudaGetLastError();
}

}  // namespace exercise
