#pragma once
/// \file
/// Tensor maps of fields of floats, for boxes that may begin before the field. Host code. Chapter
/// 09 explains them, and checks every rule; here edge::fit() and edge::field() have checked the
/// rules.

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "edge.cuh"

namespace box {

using Encode = CUresult(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                        const cuuint64_t*, const cuuint32_t*, const cuuint32_t*,
                        CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                        CUtensorMapFloatOOBfill);

/// The driver's function, looked up at run time; null if the driver has none (before 12.0).
inline Encode* find_encode() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
  const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found,
                                                             12000, cudaEnableDefault, &result);
#else
  const cudaError_t error =
      cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &result);
#endif
  const bool there = error == cudaSuccess && result == cudaDriverEntryPointSuccess;
  return there ? reinterpret_cast<Encode*>(found) : nullptr;
}

/// A map for boxes of one plane, box_rows x box_cols floats. What lies outside of the field is read
/// as zeros. Only where f.vectors holds.
inline cudaError_t make(CUtensorMap* map, const float* values, const edge::Field& f, int box_rows,
                        int box_cols,
                        CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_256B) {
  static Encode* const encode = find_encode();
  if (encode == nullptr) return cudaErrorNotSupported;
  const cuuint64_t row = static_cast<cuuint64_t>(f.cols) * sizeof(float);
  const cuuint64_t size[] = {static_cast<cuuint64_t>(f.cols), static_cast<cuuint64_t>(f.rows),
                             static_cast<cuuint64_t>(f.planes)};
  const cuuint64_t stride[] = {row, row * static_cast<cuuint64_t>(f.rows)};
  const cuuint32_t extent[] = {static_cast<cuuint32_t>(box_cols), static_cast<cuuint32_t>(box_rows),
                               1};
  const cuuint32_t every[] = {1, 1, 1};
  const CUresult result =
      encode(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, const_cast<float*>(values), size, stride,
             extent, every, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, promotion,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace box
