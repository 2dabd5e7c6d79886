#pragma once
/// \file
/// The tensor maps of this chapter: a matrix in boxes of 128 bytes per row, swizzled. Host code.
/// Chapter 09 explains them, and checks every rule; here operands::valid() has checked the rules.

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace box_map {

constexpr int row_bytes = 128;  ///< of a box: the longest row of a swizzle

template <class T>
constexpr CUtensorMapDataType type_of();
template <>
constexpr CUtensorMapDataType type_of<float>() {
  return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
}
template <>
constexpr CUtensorMapDataType type_of<__nv_bfloat16>() {
  return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
}

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

/// A matrix of rows x cols elements, whose rows begin every `pitch` elements, in boxes of box_rows
/// rows of box_cols elements, 128 bytes at most: in shared memory each row has 128. What lies
/// outside of it is read as zeros and never written. A matrix without elements gets a map of one
/// element, which nobody may use.
template <class T>
cudaError_t make(CUtensorMap* map, const T* address, std::int64_t rows, std::int64_t cols,
                 std::int64_t pitch, int box_rows, int box_cols = row_bytes / sizeof(T)) {
  static Encode* const encode = find_encode();
  if (encode == nullptr) return cudaErrorNotSupported;
  const bool empty = rows == 0 || cols == 0;
  const cuuint64_t size[] = {static_cast<cuuint64_t>(empty ? 1 : cols),
                             static_cast<cuuint64_t>(empty ? 1 : rows)};
  const cuuint64_t stride[] = {empty ? 16 : static_cast<cuuint64_t>(pitch) * sizeof(T)};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(box_cols), static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t every[] = {1, 1};
  void* const from = empty ? reinterpret_cast<void*>(std::uintptr_t{256}) : const_cast<T*>(address);
  const CUresult result =
      encode(map, type_of<T>(), 2, from, size, stride, box, every, CU_TENSOR_MAP_INTERLEAVE_NONE,
             CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace box_map
