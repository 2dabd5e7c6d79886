// The peers: NPP, the toolkit's library for images, with the border that it has.
#include <cuda_runtime.h>
#include <nppi_filtering_functions.h>

#include <cstdint>

#include "filter.hpp"

namespace npp {

/// What NPP asks of a call: the stream and what it would otherwise ask the GPU for.
cudaError_t context_of(cudaStream_t stream, NppStreamContext* context) {
  *context = {};
  context->hStream = stream;
  if (cudaError_t error = cudaGetDevice(&context->nCudaDeviceId)) return error;
  const int device = context->nCudaDeviceId;
  const struct {
    int* to;
    cudaDeviceAttr attribute;
  } wanted[] = {{&context->nMultiProcessorCount, cudaDevAttrMultiProcessorCount},
                {&context->nMaxThreadsPerMultiProcessor, cudaDevAttrMaxThreadsPerMultiProcessor},
                {&context->nMaxThreadsPerBlock, cudaDevAttrMaxThreadsPerBlock},
                {&context->nCudaDevAttrComputeCapabilityMajor, cudaDevAttrComputeCapabilityMajor},
                {&context->nCudaDevAttrComputeCapabilityMinor, cudaDevAttrComputeCapabilityMinor}};
  for (const auto& each : wanted) {
    if (cudaError_t error = cudaDeviceGetAttribute(each.to, each.attribute, device)) return error;
  }
  int shared = 0;
  if (cudaError_t error =
          cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlock, device)) {
    return error;
  }
  context->nSharedMemPerBlock = static_cast<std::size_t>(shared);
  context->nStreamFlags = cudaStreamNonBlocking;  // a stream that is captured may not be asked
  return cudaSuccess;
}

/// out[y][x] = the sum of filter[i][j] image[y + i - radius][x + j - radius]. NPP takes the
/// coefficients in reverse order, last to first, in device memory. The border is clamped. \returns
/// cudaErrorInvalidValue for sizes that NPP does not take, cudaErrorUnknown if NPP fails.
cudaError_t convolve(const float* image, const float* reversed, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, cudaStream_t stream) {
  if (rows < 0 || rows > INT32_MAX / 8 || cols < 0 || cols > INT32_MAX / 8 || width < 1 ||
      width > largest_width || width % 2 == 0) {
    return cudaErrorInvalidValue;
  }
  if (rows == 0 || cols == 0) return cudaSuccess;
  NppStreamContext context;
  if (cudaError_t error = context_of(stream, &context)) return error;
  const auto w = static_cast<int>(width), pitch = static_cast<int>(4 * cols);
  const NppiSize size = {static_cast<int>(cols), static_cast<int>(rows)}, mask = {w, w};
  const NppStatus status =
      nppiFilterBorder_32f_C1R_Ctx(image, pitch, size, {0, 0}, out, pitch, size, reversed, mask,
                                   {w / 2, w / 2}, NPP_BORDER_REPLICATE, context);
  return status == NPP_NO_ERROR ? cudaSuccess : cudaErrorUnknown;
}

/// The same for 8-bit pixels and whole coefficients, last to first in device memory: sums divided
/// by 2^filter.shift, rounded down, limited to 0 to 255.
cudaError_t convolve_bytes(const std::uint8_t* image, const std::int32_t* reversed,
                           const ByteFilter& filter, std::uint8_t* out, std::int64_t rows,
                           std::int64_t cols, std::int64_t width, cudaStream_t stream) {
  if (rows < 0 || rows > INT32_MAX / 8 || cols < 0 || cols > INT32_MAX / 8 || width < 1 ||
      width > largest_width || width % 2 == 0 || filter.shift < 0 || filter.shift > 30) {
    return cudaErrorInvalidValue;
  }
  if (rows == 0 || cols == 0) return cudaSuccess;
  NppStreamContext context;
  if (cudaError_t error = context_of(stream, &context)) return error;
  const auto w = static_cast<int>(width), pitch = static_cast<int>(cols);
  const NppiSize size = {pitch, static_cast<int>(rows)}, mask = {w, w};
  const NppStatus status =
      nppiFilterBorder_8u_C1R_Ctx(image, pitch, size, {0, 0}, out, pitch, size, reversed, mask,
                                  {w / 2, w / 2}, 1 << filter.shift, NPP_BORDER_REPLICATE, context);
  return status == NPP_NO_ERROR ? cudaSuccess : cudaErrorUnknown;
}

}  // namespace npp
