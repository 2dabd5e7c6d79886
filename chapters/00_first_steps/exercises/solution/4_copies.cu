// Exercise 4, solved: bytes, not elements; the direction that fits the two pointers; and the
// destination first, also on the way back.
#include <cuda_runtime.h>

namespace exercise {

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

/// c[i] = a[i] + b[i], n > 0. a, b, c: host memory. Returns the first error.
cudaError_t add_on_gpu(const float* a, const float* b, float* c, int n) {
  const size_t bytes = n * sizeof(float);
  float* device = nullptr;  // room for three arrays, one behind the other
  if (cudaError_t error = cudaMalloc(&device, 3 * bytes)) return error;
  float *device_a = device, *device_b = device + n, *device_c = device + 2 * n;
  cudaError_t error = cudaMemcpy(device_a, a, bytes, cudaMemcpyHostToDevice);
  if (!error) error = cudaMemcpy(device_b, b, bytes, cudaMemcpyHostToDevice);
  if (!error) add<<<(n + 255) / 256, 256>>>(device_a, device_b, device_c, n);
  if (!error) error = cudaGetLastError();
  if (!error) error = cudaMemcpy(c, device_c, bytes, cudaMemcpyDeviceToHost);
  cudaFree(device);
  return error;
}

}  // namespace exercise
