// The peers that compare: CUB's DeviceMergeSort, and the fastest version of chapter 07.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cub/device/device_merge_sort.cuh>

#include "../07_quicksort/80_limit.cu"

namespace comparing_sorts {

struct Less {
  __device__ bool operator()(unsigned a, unsigned b) const { return a < b; }
};

/// out = the n keys of in, in ascending order. Device pointers. With workspace == nullptr: only
/// writes the bytes of scratch memory that it needs. \returns cudaErrorInvalidValue for n < 0, or
/// the error of a launch.
cudaError_t sort_by_merge(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                          unsigned* out, std::int64_t n, cudaStream_t stream) {
  using Merge = cub::DeviceMergeSort;
  if (n < 0) return cudaErrorInvalidValue;
  if (n <= INT32_MAX) {
    return Merge::SortKeysCopy(workspace, workspace_bytes, in, out, static_cast<int>(n), Less{},
                               stream);
  }
  return Merge::SortKeysCopy(workspace, workspace_bytes, in, out, n, Less{}, stream);
}

/// The same by chapter 07.
cudaError_t sort_by_07(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                       unsigned* out, std::int64_t n, cudaStream_t stream) {
  return limit::sort(workspace, workspace_bytes, in, out, n, stream);
}

}  // namespace comparing_sorts
