// The simple kernel of version 02 with one, two and three inputs: nothing changes but the loads
// that a thread has in flight. out = in0, out = in0 + in1, out = in0 + in1 + in2.
#include <cuda_runtime.h>

#include <cstdint>

namespace loads_study {

constexpr int block_size = 256;

__global__ void one_load(const float* x, float* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  if (i < n) out[i] = x[i];
}

__global__ void two_loads(const float* x, const float* y, float* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  if (i < n) out[i] = x[i] + y[i];
}

__global__ void three_loads(const float* x, const float* y, const float* z, float* out,
                            std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  if (i < n) out[i] = x[i] + y[i] + z[i];
}

/// Adds the first `loads` (1 to 3) of x, y, z: n floats each. Device pointers. \returns
/// cudaErrorInvalidValue for n < 0 or for more blocks than a grid has, or the error of the launch.
cudaError_t add(const float* x, const float* y, const float* z, float* out, std::int64_t n,
                int loads, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const std::int64_t blocks = (n + block_size - 1) / block_size;
  if (n < 0 || blocks > INT32_MAX) return cudaErrorInvalidValue;
  if (loads == 1) {
    one_load<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(x, out, n);
  } else if (loads == 2) {
    two_loads<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(x, y, out, n);
  } else {
    three_loads<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(x, y, z, out, n);
  }
  return cudaGetLastError();
}

}  // namespace loads_study
