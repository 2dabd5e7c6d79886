// Two questions about addresses, each with the same copy: what if neighbouring threads do not read
// neighbouring words, and what if a warp's words start in the middle of a sector?
#include <cuda_runtime.h>

#include <cstdint>

namespace stride_study {

constexpr int block_size = 256;

/// out[i] = in[i * stride].
__global__ void copy_every(const float* in, float* out, std::int64_t n, std::int64_t stride) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  if (i < n) out[i] = in[i * stride];
}

/// Copies every stride-th of n * stride floats. Device pointers. \returns
/// cudaErrorInvalidValue for n < 0 or for more blocks than a grid has, or the error of the launch.
cudaError_t copy(const float* in, float* out, std::int64_t n, std::int64_t stride,
                 cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const std::int64_t blocks = (n + block_size - 1) / block_size;
  if (n < 0 || blocks > INT32_MAX) return cudaErrorInvalidValue;
  copy_every<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(in, out, n, stride);
  return cudaGetLastError();
}

}  // namespace stride_study

namespace offset_study {

constexpr int block_size = 256;

/// out[i] = in[i + offset].
__global__ void copy_shifted(const float* in, float* out, std::int64_t n, std::int64_t offset) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  if (i < n) out[i] = in[i + offset];
}

/// Copies n floats, the first of them at in + offset. Device pointers. \returns
/// cudaErrorInvalidValue for n < 0 or for more blocks than a grid has, or the error of the launch.
cudaError_t copy(const float* in, float* out, std::int64_t n, std::int64_t offset,
                 cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const std::int64_t blocks = (n + block_size - 1) / block_size;
  if (n < 0 || blocks > INT32_MAX) return cudaErrorInvalidValue;
  copy_shifted<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(in, out, n, offset);
  return cudaGetLastError();
}

}  // namespace offset_study
