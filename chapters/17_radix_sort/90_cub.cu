// The peer: CUB's DeviceRadixSort, with the 32-bit sizes that are its faster ones.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cub/device/device_radix_sort.cuh>

namespace cub_radix_sort {

using Cub = cub::DeviceRadixSort;

/// Calls `run` with n as an int if it fits, otherwise with 64 bits.
template <class Run>
cudaError_t with_size(std::int64_t n, Run run) {
  if (n < 0) return cudaErrorInvalidValue;
  return n <= INT32_MAX ? run(static_cast<int>(n)) : run(n);
}

/// out = the n keys of in, in ascending order; -0.0 and 0.0 are equal. Stable. Device pointers.
/// With workspace == nullptr: only writes the bytes of scratch memory that it needs. \returns
/// cudaErrorInvalidValue for n < 0, or the error of a launch.
template <class K>
cudaError_t sort_keys(void* workspace, std::size_t& workspace_bytes, const K* in, K* out,
                      std::int64_t n, cudaStream_t stream) {
  return with_size(n, [&](auto size) {
    constexpr int bits = sizeof(K) * 8;
    return Cub::SortKeys(workspace, workspace_bytes, in, out, size, 0, bits, stream);
  });
}

/// The same with a value for each key.
template <class K, class V>
cudaError_t sort_both(void* workspace, std::size_t& workspace_bytes, const K* keys_in,
                      const V* values_in, K* keys_out, V* values_out, std::int64_t n,
                      cudaStream_t stream) {
  return with_size(n, [&](auto size) {
    constexpr int bits = sizeof(K) * 8;
    return Cub::SortPairs(workspace, workspace_bytes, keys_in, keys_out, values_in, values_out,
                          size, 0, bits, stream);
  });
}

cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const std::uint8_t* in,
                 std::uint8_t* out, std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, stream);
}
cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const std::uint16_t* in,
                 std::uint16_t* out, std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, stream);
}
cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const unsigned* in, unsigned* out,
                 std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, stream);
}
cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const int* in, int* out,
                 std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, stream);
}
cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const std::int64_t* in,
                 std::int64_t* out, std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, stream);
}
cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                 std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, stream);
}
cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const double* in, double* out,
                 std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, stream);
}

/// In descending order.
cudaError_t sort_descending(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                            unsigned* out, std::int64_t n, cudaStream_t stream) {
  return with_size(n, [&](auto size) {
    return Cub::SortKeysDescending(workspace, workspace_bytes, in, out, size, 0, 32, stream);
  });
}

/// By bits first to last - 1. \returns cudaErrorInvalidValue also for other bits than 0 to 31.
cudaError_t sort_by_bits(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                         unsigned* out, std::int64_t n, int first, int last, cudaStream_t stream) {
  if (first < 0 || last < first || last > 32) return cudaErrorInvalidValue;
  return with_size(n, [&](auto size) {
    return Cub::SortKeys(workspace, workspace_bytes, in, out, size, first, last, stream);
  });
}

cudaError_t sort_pairs(void* workspace, std::size_t& workspace_bytes, const unsigned* keys_in,
                       const unsigned* values_in, unsigned* keys_out, unsigned* values_out,
                       std::int64_t n, cudaStream_t stream) {
  return sort_both(workspace, workspace_bytes, keys_in, values_in, keys_out, values_out, n, stream);
}
cudaError_t sort_pairs(void* workspace, std::size_t& workspace_bytes, const unsigned* keys_in,
                       const std::int64_t* values_in, unsigned* keys_out, std::int64_t* values_out,
                       std::int64_t n, cudaStream_t stream) {
  return sort_both(workspace, workspace_bytes, keys_in, values_in, keys_out, values_out, n, stream);
}
cudaError_t sort_pairs(void* workspace, std::size_t& workspace_bytes, const std::int64_t* keys_in,
                       const unsigned* values_in, std::int64_t* keys_out, unsigned* values_out,
                       std::int64_t n, cudaStream_t stream) {
  return sort_both(workspace, workspace_bytes, keys_in, values_in, keys_out, values_out, n, stream);
}

}  // namespace cub_radix_sort
