// The peer: what a user would call instead. CUB's DeviceScan. (n of 32 bits is not faster here.)
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cub/device/device_scan.cuh>
#if __has_include(<cuda/functional>)
#include <cuda/functional>
#endif

namespace cub_scan {

#if CUB_VERSION >= 300000
using Largest = cuda::maximum<>;
#else
using Largest = cub::Max;
#endif

/// Of maps x -> a x + b modulo 2^16, each held as a << 16 | b: first f, then g. As in version 80.
struct Compose {
  __device__ unsigned operator()(unsigned f, unsigned g) const {
    const unsigned a = (f >> 16) * (g >> 16), b = (g >> 16) * (f & 0xffffu) + g;
    return a << 16 | (b & 0xffffu);
  }
};

/// Of NaN and a number the number, as in version 80.
struct LargerNumber {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

// Each: out = the scan of n elements. Device pointers. With workspace == nullptr: only writes the
// bytes of scratch memory that it needs. Returns cudaErrorInvalidValue for n < 0, or the error of
// the launch.

cudaError_t inclusive(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                      std::int64_t n, cudaStream_t stream) {
  if (n < 0) return cudaErrorInvalidValue;
  return cub::DeviceScan::InclusiveSum(workspace, workspace_bytes, in, out, n, stream);
}

cudaError_t exclusive(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                      std::int64_t n, cudaStream_t stream) {
  if (n < 0) return cudaErrorInvalidValue;
  return cub::DeviceScan::ExclusiveSum(workspace, workspace_bytes, in, out, n, stream);
}

cudaError_t inclusive(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                      unsigned* out, std::int64_t n, cudaStream_t stream) {
  if (n < 0) return cudaErrorInvalidValue;
  return cub::DeviceScan::InclusiveSum(workspace, workspace_bytes, in, out, n, stream);
}

cudaError_t exclusive(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                      unsigned* out, std::int64_t n, cudaStream_t stream) {
  if (n < 0) return cudaErrorInvalidValue;
  return cub::DeviceScan::ExclusiveSum(workspace, workspace_bytes, in, out, n, stream);
}

cudaError_t inclusive(void* workspace, std::size_t& workspace_bytes, const std::int64_t* in,
                      std::int64_t* out, std::int64_t n, cudaStream_t stream) {
  if (n < 0) return cudaErrorInvalidValue;
  return cub::DeviceScan::InclusiveSum(workspace, workspace_bytes, in, out, n, stream);
}

cudaError_t exclusive(void* workspace, std::size_t& workspace_bytes, const std::int64_t* in,
                      std::int64_t* out, std::int64_t n, cudaStream_t stream) {
  if (n < 0) return cudaErrorInvalidValue;
  return cub::DeviceScan::ExclusiveSum(workspace, workspace_bytes, in, out, n, stream);
}

/// The call for arrays of numbers: CUB has tunings for operators that it knows, such as this one.
/// What NaN does depends on the order in which it compares.
cudaError_t inclusive_max(void* workspace, std::size_t& workspace_bytes, const float* in,
                          float* out, std::int64_t n, cudaStream_t stream) {
  if (n < 0) return cudaErrorInvalidValue;
  return cub::DeviceScan::InclusiveScan(workspace, workspace_bytes, in, out, Largest{}, n, stream);
}

/// By the rule of version 80 for NaN, with an operator that CUB does not know.
cudaError_t inclusive_max_of_numbers(void* workspace, std::size_t& workspace_bytes, const float* in,
                                     float* out, std::int64_t n, cudaStream_t stream) {
  if (n < 0) return cudaErrorInvalidValue;
  return cub::DeviceScan::InclusiveScan(workspace, workspace_bytes, in, out, LargerNumber{}, n,
                                        stream);
}

cudaError_t inclusive_compose(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                              unsigned* out, std::int64_t n, cudaStream_t stream) {
  if (n < 0) return cudaErrorInvalidValue;
  return cub::DeviceScan::InclusiveScan(workspace, workspace_bytes, in, out, Compose{}, n, stream);
}

cudaError_t exclusive_compose(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                              unsigned* out, std::int64_t n, cudaStream_t stream) {
  if (n < 0) return cudaErrorInvalidValue;
  return cub::DeviceScan::ExclusiveScan(workspace, workspace_bytes, in, out, Compose{}, 1u << 16, n,
                                        stream);
}

}  // namespace cub_scan
