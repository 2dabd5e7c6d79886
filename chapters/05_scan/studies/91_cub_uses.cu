// The peers of the uses: CUB's DeviceSelect for pack, one bit of its DeviceRadixSort for split.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>

namespace cub_uses {

struct AboveZero {
  __device__ bool operator()(float x) const { return x > 0; }
};

/// out = the elements of in that are above 0, in their order; *kept = how many. Device pointers.
/// With workspace == nullptr: only writes the bytes of scratch memory that it needs. \returns
/// cudaErrorInvalidValue for n < 0, or the error of the launch.
cudaError_t pack(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                 std::int64_t* kept, std::int64_t n, cudaStream_t stream) {
  if (n < 0) return cudaErrorInvalidValue;
  return cub::DeviceSelect::If(workspace, workspace_bytes, in, out, kept, n, AboveZero{}, stream);
}

/// out = the even numbers of in, then the odd ones, both in their order. Otherwise as pack.
cudaError_t split(void* workspace, std::size_t& workspace_bytes, const unsigned* in, unsigned* out,
                  std::int64_t n, cudaStream_t stream) {
  if (n < 0) return cudaErrorInvalidValue;
  return cub::DeviceRadixSort::SortKeys(workspace, workspace_bytes, in, out, n, 0, 1, stream);
}

}  // namespace cub_uses
