// The peer that compares keys, too: CUB's DeviceMergeSort, with n of 32 bits where that is enough.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cub/device/device_merge_sort.cuh>

namespace cub_merge {

struct Less {
  template <class T>
  __device__ bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

/// out = the keys of in, in ascending order; no NaN among them, and -0.0 and 0.0 are equal. Stable.
/// Device pointers. With workspace == nullptr: only writes the bytes of scratch memory that it
/// needs. \returns cudaErrorInvalidValue for n < 0, or the error of a launch.
template <class T>
cudaError_t sort_keys(void* workspace, std::size_t& workspace_bytes, const T* in, T* out,
                      std::int64_t n, cudaStream_t stream) {
  using Sort = cub::DeviceMergeSort;
  if (n < 0) return cudaErrorInvalidValue;
  if (n <= INT32_MAX) {
    return Sort::SortKeysCopy(workspace, workspace_bytes, in, out, static_cast<int>(n), Less{},
                              stream);
  }
  return Sort::SortKeysCopy(workspace, workspace_bytes, in, out, n, Less{}, stream);
}

/// The same with a value for each key.
template <class T>
cudaError_t sort_both(void* workspace, std::size_t& workspace_bytes, const T* keys_in,
                      const unsigned* values_in, T* keys_out, unsigned* values_out, std::int64_t n,
                      cudaStream_t stream) {
  using Sort = cub::DeviceMergeSort;
  if (n < 0) return cudaErrorInvalidValue;
  if (n <= INT32_MAX) {
    return Sort::SortPairsCopy(workspace, workspace_bytes, keys_in, values_in, keys_out, values_out,
                               static_cast<int>(n), Less{}, stream);
  }
  return Sort::SortPairsCopy(workspace, workspace_bytes, keys_in, values_in, keys_out, values_out,
                             n, Less{}, stream);
}

cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const unsigned* in, unsigned* out,
                 std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, stream);
}

cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                 std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, stream);
}

cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const std::int64_t* in,
                 std::int64_t* out, std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, stream);
}

cudaError_t sort_pairs(void* workspace, std::size_t& workspace_bytes, const unsigned* keys_in,
                       const unsigned* values_in, unsigned* keys_out, unsigned* values_out,
                       std::int64_t n, cudaStream_t stream) {
  return sort_both(workspace, workspace_bytes, keys_in, values_in, keys_out, values_out, n, stream);
}

cudaError_t sort_pairs(void* workspace, std::size_t& workspace_bytes, const std::int64_t* keys_in,
                       const unsigned* values_in, std::int64_t* keys_out, unsigned* values_out,
                       std::int64_t n, cudaStream_t stream) {
  return sort_both(workspace, workspace_bytes, keys_in, values_in, keys_out, values_out, n, stream);
}

}  // namespace cub_merge
