// The peers: what a user would call instead. CUB's DeviceHistogram, DeviceReduce and DeviceScan.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

namespace cub_clusters {

/// counts[b] = how many of the n samples are b, for b < bins. Device pointers. With workspace ==
/// nullptr: only writes the bytes of scratch memory that it needs. \returns cudaErrorInvalidValue
/// for n or bins below 0, n above 2^31 - 1 (the 32-bit sizes are its faster ones) or bins above
/// 2^24, or the error of the launch.
cudaError_t histogram(void* workspace, std::size_t& workspace_bytes, const unsigned* samples,
                      unsigned* counts, std::int64_t n, std::int64_t bins, cudaStream_t stream) {
  if (n < 0 || n > INT32_MAX || bins < 0 || bins > 1 << 24) return cudaErrorInvalidValue;
  if (bins == 0) {
    if (workspace == nullptr) workspace_bytes = 1;
    return cudaSuccess;
  }
  return cub::DeviceHistogram::HistogramEven(
      workspace, workspace_bytes, samples, counts, static_cast<int>(bins) + 1, 0u,
      static_cast<unsigned>(bins), static_cast<int>(n), stream);
}

/// out[0] = the sum of n floats.
cudaError_t sum(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                std::int64_t n, cudaStream_t stream) {
  if (n < 0 || n > INT32_MAX) return cudaErrorInvalidValue;
  return cub::DeviceReduce::Sum(workspace, workspace_bytes, in, out, static_cast<int>(n), stream);
}

/// out = the inclusive scan of n floats.
cudaError_t scan(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                 std::int64_t n, cudaStream_t stream) {
  if (n < 0 || n > INT32_MAX) return cudaErrorInvalidValue;
  return cub::DeviceScan::InclusiveSum(workspace, workspace_bytes, in, out, static_cast<int>(n),
                                       stream);
}

}  // namespace cub_clusters
