#pragma once
/// \file
/// How many blocks a version launches: as many as the GPU runs at one time.

#include <cuda_runtime.h>

#include <cstdint>

namespace launch {

/// Allows `shared_bytes` of dynamic shared memory per block and writes to *blocks how many blocks
/// of `kernel` all SMs of the current device hold at one time. \returns cudaErrorInvalidValue where
/// not even one block fits on an SM, or an error of CUDA.
template <class... P>
cudaError_t resident_blocks(void (*kernel)(P...), int block_size, std::size_t shared_bytes,
                            std::int64_t* blocks) {
  int device = 0, sms = 0, per_sm = 0, largest = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device)) {
    return error;
  }
  if (cudaError_t error =
          cudaDeviceGetAttribute(&largest, cudaDevAttrMaxSharedMemoryPerBlockOptin, device)) {
    return error;
  }
  if (shared_bytes > static_cast<std::size_t>(largest)) return cudaErrorInvalidValue;
  if (cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                               static_cast<int>(shared_bytes))) {
    return error;
  }
  if (cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, block_size,
                                                                        shared_bytes)) {
    return error;
  }
  if (per_sm == 0) return cudaErrorInvalidValue;
  *blocks = std::int64_t{sms} * per_sm;
  return cudaSuccess;
}

/// Blocks for `work` items, `each` of them per block: at most `most`, but at least one.
inline unsigned blocks_for(std::int64_t work, std::int64_t each, std::int64_t most) {
  const std::int64_t needed = (work + each - 1) / each, blocks = needed < most ? needed : most;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks);
}

/// Whether a pointer is at a multiple of 16 bytes.
inline bool aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; }

}  // namespace launch
