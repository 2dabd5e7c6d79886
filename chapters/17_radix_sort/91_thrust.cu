// The peer that most programs call: thrust::sort, with scratch memory of the caller instead of its
//   own cudaMalloc. For numbers and `<` Thrust calls CUB's DeviceRadixSort, with n of 64 bits.
// Sorts in place, so the launcher first copies the keys to the output.
#include <cuda_runtime.h>
#include <thrust/sort.h>

#include <cstddef>
#include <cstdint>
#include <cub/device/device_radix_sort.cuh>

#include "thrust_workspace.hpp"
#include "workspace.hpp"

namespace thrust_sort {

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
  const std::size_t of_keys = static_cast<std::size_t>(n) * sizeof(unsigned);
  bytes += (of_keys + 127) / 128 * 128 + thrust_workspace::slack;  // Thrust takes a second array
  if (workspace == nullptr) {
    workspace_bytes = bytes;
    return cudaSuccess;
  }
  if (workspace_bytes < bytes) return cudaErrorInvalidValue;
  if (workspace::misaligned(in, out)) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  if (cudaError_t error = cudaMemcpyAsync(out, in, of_keys, cudaMemcpyDeviceToDevice, stream)) {
    return error;
  }
  return thrust_workspace::call(workspace, workspace_bytes, stream,
                                [=](const auto& policy) { thrust::sort(policy, out, out + n); });
}

}  // namespace thrust_sort
