// The peer: what a user would call instead. CUB's DeviceReduce, with n of 32 bits where that is
//   enough: the faster of its two.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cub/device/device_reduce.cuh>

namespace cub_reduce {

/// out[0] = the sum of n elements. Device pointers. With workspace == nullptr: only writes the
/// bytes of scratch memory that it needs. \returns cudaErrorInvalidValue for n < 0, or the error of
/// the launch.
template <class T>
cudaError_t sum_of(void* workspace, std::size_t& workspace_bytes, const T* in, T* out,
                   std::int64_t n, cudaStream_t stream) {
  if (n < 0) return cudaErrorInvalidValue;
  if (n <= INT32_MAX) {
    return cub::DeviceReduce::Sum(workspace, workspace_bytes, in, out, static_cast<int>(n), stream);
  }
  return cub::DeviceReduce::Sum(workspace, workspace_bytes, in, out, n, stream);
}

cudaError_t sum(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                std::int64_t n, cudaStream_t stream) {
  return sum_of(workspace, workspace_bytes, in, out, n, stream);
}

/// Modulo 2^32.
cudaError_t sum(void* workspace, std::size_t& workspace_bytes, const unsigned* in, unsigned* out,
                std::int64_t n, cudaStream_t stream) {
  return sum_of(workspace, workspace_bytes, in, out, n, stream);
}

}  // namespace cub_reduce
