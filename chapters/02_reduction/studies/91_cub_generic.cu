// The peers of the generic study, by the same rule for NaN. DeviceReduce::Min and Max compare with
//   `<`, so that what NaN does depends on the order; Reduce with fminf and fmaxf is as fast (for
//   compute capability 9.0 CUB's tuning does not look at the operator). ArgMin likewise: here NaN
//   reaches it as infinity.
#include <cuda_runtime.h>
#include <thrust/iterator/transform_iterator.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cub/device/device_reduce.cuh>

namespace cub_generic {

struct Smaller {
  __device__ float operator()(float a, float b) const { return fminf(a, b); }
};

struct Larger {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

struct NanAsInfinity {
  __device__ float operator()(float x) const { return fminf(x, INFINITY); }
};

template <class Op>
cudaError_t reduce(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                   std::int64_t n, Op op, float identity, cudaStream_t stream) {
  if (n < 0) return cudaErrorInvalidValue;
  if (n <= INT32_MAX) {
    return cub::DeviceReduce::Reduce(workspace, workspace_bytes, in, out, static_cast<int>(n), op,
                                     identity, stream);
  }
  return cub::DeviceReduce::Reduce(workspace, workspace_bytes, in, out, n, op, identity, stream);
}

cudaError_t minimum(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                    std::int64_t n, cudaStream_t stream) {
  return reduce(workspace, workspace_bytes, in, out, n, Smaller{}, INFINITY, stream);
}

cudaError_t maximum(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                    std::int64_t n, cudaStream_t stream) {
  return reduce(workspace, workspace_bytes, in, out, n, Larger{}, -INFINITY, stream);
}

/// The smallest value, which CUB writes, too, goes to the front of the workspace. CUB leaves open
/// what the index of nothing is; 0 here.
cudaError_t index_of_minimum(void* workspace, std::size_t& workspace_bytes, const float* in,
                             std::int64_t* out, std::int64_t n, cudaStream_t stream) {
  if (n < 0) return cudaErrorInvalidValue;
#if CUB_VERSION >= 300000
  constexpr std::size_t front = 256;
  char* const rest = workspace == nullptr ? nullptr : static_cast<char*>(workspace) + front;
  std::size_t bytes = workspace_bytes - front;
  if (workspace != nullptr && workspace_bytes < front) return cudaErrorInvalidValue;
  if (reinterpret_cast<std::uintptr_t>(workspace) % alignof(float) != 0) {
    return cudaErrorInvalidValue;  // the smallest value is written there
  }
  if (workspace != nullptr && n == 0) return cudaMemsetAsync(out, 0, sizeof *out, stream);
  const cudaError_t error =
      cub::DeviceReduce::ArgMin(rest, bytes, thrust::make_transform_iterator(in, NanAsInfinity{}),
                                static_cast<float*>(workspace), out, n, stream);
  if (workspace == nullptr) workspace_bytes = bytes + front;
  return error;
#else  // earlier CUBs return a pair
  (void)in, (void)out, (void)stream;
  workspace_bytes = 1;
  return workspace == nullptr ? cudaSuccess : cudaErrorNotSupported;
#endif
}

}  // namespace cub_generic
