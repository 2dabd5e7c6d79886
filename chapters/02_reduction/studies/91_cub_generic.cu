// The peers of the generic study: CUB's Min, Max and ArgMin.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cub/device/device_reduce.cuh>

namespace cub_generic {

cudaError_t minimum(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                    std::int64_t n, cudaStream_t stream) {
  return cub::DeviceReduce::Min(workspace, workspace_bytes, in, out, n, stream);
}

cudaError_t maximum(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                    std::int64_t n, cudaStream_t stream) {
  return cub::DeviceReduce::Max(workspace, workspace_bytes, in, out, n, stream);
}

/// The smallest value, which CUB writes, too, goes to the front of the workspace.
cudaError_t index_of_minimum(void* workspace, std::size_t& workspace_bytes, const float* in,
                             std::int64_t* out, std::int64_t n, cudaStream_t stream) {
#if CUB_VERSION >= 300000
  constexpr std::size_t front = 256;
  char* const rest = workspace == nullptr ? nullptr : static_cast<char*>(workspace) + front;
  std::size_t bytes = workspace_bytes - front;
  const cudaError_t error =
      cub::DeviceReduce::ArgMin(rest, bytes, in, static_cast<float*>(workspace), out, n, stream);
  if (workspace == nullptr) workspace_bytes = bytes + front;
  return error;
#else  // earlier CUBs return a pair
  (void)workspace, (void)in, (void)out, (void)n, (void)stream;
  workspace_bytes = 1;
  return workspace == nullptr ? cudaSuccess : cudaErrorNotSupported;
#endif
}

}  // namespace cub_generic
