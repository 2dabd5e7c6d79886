// The peers: CUB's DeviceHistogram, with the 32-bit sizes that are its faster ones.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cub/device/device_histogram.cuh>
#include <type_traits>

namespace cub_histogram {

template <class T>
cudaError_t run(void* workspace, std::size_t& workspace_bytes, const T* samples, unsigned* counts,
                std::int64_t n, std::int64_t bins, std::int64_t lower, std::int64_t upper,
                cudaStream_t stream) {
  if (n < 0 || n > INT32_MAX || bins < 0 || bins > 1 << 24 || upper > UINT32_MAX) {
    return cudaErrorInvalidValue;
  }
  if (bins == 0) {
    if (workspace == nullptr) workspace_bytes = 1;
    return cudaSuccess;
  }
  using Level = std::conditional_t<sizeof(T) < 4, int, unsigned>;
  return cub::DeviceHistogram::HistogramEven(
      workspace, workspace_bytes, samples, counts, static_cast<int>(bins) + 1,
      static_cast<Level>(lower), static_cast<Level>(upper), static_cast<int>(n), stream);
}

/// counts[b] = how many of the n samples are b, for b < bins. Device pointers. With workspace ==
/// nullptr: only writes the bytes of scratch memory that it needs. \returns cudaErrorInvalidValue
/// for n or bins below 0, n above 2^31 - 1, bins above 2^24; or the error of the launch.
cudaError_t histogram(void* workspace, std::size_t& workspace_bytes, const std::uint8_t* samples,
                      unsigned* counts, std::int64_t n, std::int64_t bins, cudaStream_t stream) {
  return run(workspace, workspace_bytes, samples, counts, n, bins, 0, bins, stream);
}
cudaError_t histogram(void* workspace, std::size_t& workspace_bytes, const std::uint16_t* samples,
                      unsigned* counts, std::int64_t n, std::int64_t bins, cudaStream_t stream) {
  return run(workspace, workspace_bytes, samples, counts, n, bins, 0, bins, stream);
}
cudaError_t histogram(void* workspace, std::size_t& workspace_bytes, const unsigned* samples,
                      unsigned* counts, std::int64_t n, std::int64_t bins, cudaStream_t stream) {
  return run(workspace, workspace_bytes, samples, counts, n, bins, 0, bins, stream);
}

/// Ranges of equal width between lower and upper. \returns as histogram(), and for upper above
/// 2^32 - 1.
cudaError_t even(void* workspace, std::size_t& workspace_bytes, const unsigned* samples,
                 unsigned* counts, std::int64_t n, std::int64_t bins, std::int64_t lower,
                 std::int64_t upper, cudaStream_t stream) {
  return run(workspace, workspace_bytes, samples, counts, n, bins, lower, upper, stream);
}

/// Ranges by bins + 1 ascending levels. \returns as histogram().
cudaError_t by_levels(void* workspace, std::size_t& workspace_bytes, const unsigned* samples,
                      const unsigned* levels, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  if (n < 0 || n > INT32_MAX || bins < 0 || bins > 1 << 24) return cudaErrorInvalidValue;
  if (bins == 0) {
    if (workspace == nullptr) workspace_bytes = 1;
    return cudaSuccess;
  }
  return cub::DeviceHistogram::HistogramRange(workspace, workspace_bytes, samples, counts,
                                              static_cast<int>(bins) + 1, levels,
                                              static_cast<int>(n), stream);
}

// CUB 3 prefers arrays of its own to these; CUDA 12's CUB has only these.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

template <int of>
cudaError_t of_channels(void* workspace, std::size_t& workspace_bytes, const std::uint8_t* pixels,
                        unsigned* counts, int n, cudaStream_t stream) {
  unsigned* to[of];
  int levels[of], lower[of], upper[of];
  for (int c = 0; c < of; ++c) {
    to[c] = counts + 256 * c;
    levels[c] = 257, lower[c] = 0, upper[c] = 256;
  }
  return cub::DeviceHistogram::MultiHistogramEven<of, of>(workspace, workspace_bytes, pixels, to,
                                                          levels, lower, upper, n, stream);
}

/// counts[256 c + b] = in how many of the n pixels channel c is b. \returns cudaErrorInvalidValue
/// for n below 0 or above 2^31 - 1 and for more than 4 channels; or the error of the launch.
cudaError_t histogram_of_channels(void* workspace, std::size_t& workspace_bytes,
                                  const std::uint8_t* pixels, unsigned* counts, std::int64_t n,
                                  std::int64_t channels, cudaStream_t stream) {
  if (n < 0 || n > INT32_MAX / 4) return cudaErrorInvalidValue;
  const int size = static_cast<int>(n);
  switch (channels) {
    case 1:
      return of_channels<1>(workspace, workspace_bytes, pixels, counts, size, stream);
    case 2:
      return of_channels<2>(workspace, workspace_bytes, pixels, counts, size, stream);
    case 3:
      return of_channels<3>(workspace, workspace_bytes, pixels, counts, size, stream);
    case 4:
      return of_channels<4>(workspace, workspace_bytes, pixels, counts, size, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace cub_histogram
