// The peer that most programs call: thrust::sort, with scratch memory of the caller instead of its
//   own cudaMalloc. For numbers and `<` Thrust calls CUB's DeviceRadixSort, with n of 64 bits.
// Sorts in place, so the launcher first copies the keys to the output.
#include <cuda_runtime.h>
#include <thrust/sort.h>

#include <cstddef>
#include <cstdint>
#include <cub/device/device_radix_sort.cuh>
#include <utility>

#include "thrust_workspace.hpp"
#include "workspace.hpp"

namespace thrust_sort {

/// Bytes of a second array of n keys or values. Thrust takes such arrays besides what CUB needs.
std::size_t bytes_of(std::int64_t n) {
  return (static_cast<std::size_t>(n) * sizeof(unsigned) + 127) / 128 * 128;
}

/// out = the n keys of in, in ascending order. Stable. Device pointers; in is not out. With
/// workspace == nullptr: only writes the bytes of scratch memory that it needs. Thrust cannot be
/// asked for them: it takes a second array and what CUB needs to sort from one to the other.
/// \returns cudaErrorInvalidValue for n < 0, a misaligned pointer or too little
/// scratch memory, cudaErrorMemoryAllocation if Thrust wants more, or the error of a launch.
cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const unsigned* in, unsigned* out,
                 std::int64_t n, cudaStream_t stream) {
  if (n < 0) return cudaErrorInvalidValue;
  std::size_t bytes = 0;
  cub::DoubleBuffer<unsigned> keys;
  if (cudaError_t error = cub::DeviceRadixSort::SortKeys(nullptr, bytes, keys, n)) return error;
  bytes += bytes_of(n) + thrust_workspace::slack;
  if (workspace == nullptr) {
    workspace_bytes = bytes;
    return cudaSuccess;
  }
  if (workspace_bytes < bytes) return cudaErrorInvalidValue;
  for (const void* p : {static_cast<const void*>(in), static_cast<const void*>(out)}) {
    if (workspace::misaligned(p, sizeof(unsigned))) return cudaErrorInvalidValue;
  }
  if (n == 0) return cudaSuccess;
  const std::size_t of_keys = static_cast<std::size_t>(n) * sizeof(unsigned);
  if (cudaError_t error = cudaMemcpyAsync(out, in, of_keys, cudaMemcpyDeviceToDevice, stream)) {
    return error;
  }
  return thrust_workspace::call(workspace, workspace_bytes, stream,
                                [=](const auto& policy) { thrust::sort(policy, out, out + n); });
}

/// The same with a value for each key: thrust::sort_by_key.
cudaError_t sort_pairs(void* workspace, std::size_t& workspace_bytes, const unsigned* keys_in,
                       const unsigned* values_in, unsigned* keys_out, unsigned* values_out,
                       std::int64_t n, cudaStream_t stream) {
  if (n < 0) return cudaErrorInvalidValue;
  std::size_t bytes = 0;
  cub::DoubleBuffer<unsigned> keys, values;
  if (cudaError_t error = cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, values, n)) {
    return error;
  }
  bytes += 2 * bytes_of(n) + thrust_workspace::slack;
  if (workspace == nullptr) {
    workspace_bytes = bytes;
    return cudaSuccess;
  }
  if (workspace_bytes < bytes) return cudaErrorInvalidValue;
  for (const void* p : {static_cast<const void*>(keys_in), static_cast<const void*>(values_in),
                        static_cast<const void*>(keys_out), static_cast<const void*>(values_out)}) {
    if (workspace::misaligned(p, sizeof(unsigned))) return cudaErrorInvalidValue;
  }
  if (n == 0) return cudaSuccess;
  const std::size_t of_keys = static_cast<std::size_t>(n) * sizeof(unsigned);
  for (const auto& [to, from] : {std::pair(keys_out, keys_in), std::pair(values_out, values_in)}) {
    if (cudaError_t error = cudaMemcpyAsync(to, from, of_keys, cudaMemcpyDeviceToDevice, stream)) {
      return error;
    }
  }
  return thrust_workspace::call(workspace, workspace_bytes, stream, [=](const auto& policy) {
    thrust::stable_sort_by_key(policy, keys_out, keys_out + n, values_out);
  });
}

}  // namespace thrust_sort
