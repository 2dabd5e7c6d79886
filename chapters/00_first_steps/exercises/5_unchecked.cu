// Exercise 5: find the error that nobody reads. The caller picks the number of threads in a block.
//   ./chapters/run 00 --exercise 5          builds and checks it; --hint helps
#include <cuda_runtime.h>

namespace exercise {

__global__ void double_elements(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}

/// out[i] = 2 in[i], n > 0, threads > 0. in, out: host memory. Returns the first error.
cudaError_t double_on_gpu(const float* in, float* out, int n, int threads) {
  const size_t bytes = n * sizeof(float);
  float *device_in = nullptr, *device_out = nullptr;
  cudaMalloc(&device_in, bytes);
  cudaMalloc(&device_out, bytes);
  cudaMemset(device_out, 0, bytes);
  cudaMemcpy(device_in, in, bytes, cudaMemcpyHostToDevice);
  double_elements<<<(n + threads - 1) / threads, threads>>>(device_in, device_out, n);
  cudaMemcpy(out, device_out, bytes, cudaMemcpyDeviceToHost);
  cudaFree(device_in);
  return cudaFree(device_out);
}

}  // namespace exercise
