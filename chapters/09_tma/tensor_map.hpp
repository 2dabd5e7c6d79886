#pragma once
/// \file
/// Makes tensor maps: what the TMA must know to find a box of an array of up to five axes.
/// Host code. Says which rule a description breaks before the driver says "invalid value".
/// Source of the rules: CUDA Driver API, "Tensor Map Object Management"; those marked "we" are
/// ours.

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <string>

namespace tensor_map {

constexpr int most_axes = 5;

/// An array and a box of it. Axis 0 is the one whose elements are neighbours.
struct Description {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  const void* address = nullptr;  ///< in device memory
  int axes = 2;
  std::uint64_t size[most_axes] = {1, 1, 1, 1, 1};     ///< elements along each axis
  std::uint64_t stride[most_axes - 1] = {0, 0, 0, 0};  ///< bytes between neighbours of axis 1, 2...
  std::uint32_t box[most_axes] = {1, 1, 1, 1, 1};      ///< elements along each axis
  std::uint32_t every[most_axes] = {1, 1, 1, 1, 1};    ///< k: only every k-th element of the box
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;  ///< NONE: zeros
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_NONE;
};

/// Bytes of an element; 0 for a type that this course does not use.
inline std::uint64_t bytes_of(CUtensorMapDataType type) {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8:
      return 1;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
      return 2;
    case CU_TENSOR_MAP_DATA_TYPE_UINT32:
    case CU_TENSOR_MAP_DATA_TYPE_INT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ:
      return 4;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
      return 8;
    default:
      return 0;
  }
}

inline bool is_floating(CUtensorMapDataType type) {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
      return true;
    default:
      return false;
  }
}

/// Bytes of the longest row that a swizzle takes; 0: no limit, or a swizzle not of this course.
inline std::uint64_t span_of(CUtensorMapSwizzle swizzle) {
  switch (swizzle) {
    case CU_TENSOR_MAP_SWIZZLE_32B:
      return 32;
    case CU_TENSOR_MAP_SWIZZLE_64B:
      return 64;
    case CU_TENSOR_MAP_SWIZZLE_128B:
      return 128;
    default:
      return 0;
  }
}

/// Bytes of a box that count at a barrier: all of it, outside of the array, too.
inline std::uint64_t bytes_of_box(const Description& d) {
  std::uint64_t bytes = bytes_of(d.type) * d.box[0];
  for (int a = 1; a < d.axes; ++a) bytes *= (d.box[a] + d.every[a] - 1) / d.every[a];
  return bytes;
}

/// Bytes of shared memory that a box takes: with a swizzle each row has the swizzle's length.
inline std::uint64_t footprint(const Description& d) {
  const std::uint64_t row = bytes_of(d.type) * d.box[0], span = span_of(d.swizzle);
  return span > row ? bytes_of_box(d) / row * span : bytes_of_box(d);
}

/// The first rule that a description breaks, with the value and what to do; "": none.
inline std::string broken_rule(const Description& d) {
  const auto text = [](auto value) { return std::to_string(value); };
  const auto of_axis = [&](const char* what, int axis, std::uint64_t value) {
    return std::string(what) + " of axis " + text(axis) + " is " + text(value);
  };
  const std::uint64_t element = bytes_of(d.type);
  const bool interleaved = d.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE;
  const std::uint64_t unit = d.interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
  if (element == 0) {
    return "type " + text(static_cast<int>(d.type)) +
           " is not handled here: take one of 1, 2, 4 or 8 bytes per element";
  }
  if (d.axes < 1 || d.axes > most_axes) {
    return text(d.axes) + " axes: a tensor map has 1 to 5";
  }
  if (interleaved && d.axes < 3) {
    return text(d.axes) + " axes with an interleave: it needs 3 to 5, or INTERLEAVE_NONE";
  }
  const auto address = reinterpret_cast<std::uintptr_t>(d.address);
  if (address == 0) return "the address is null: pass the array in device memory";  // we
  if (address % unit != 0) {
    return "the address is " + text(address % unit) + " bytes after a multiple of " + text(unit) +
           ": begin the array at one (cudaMalloc does), and a window by the box's coordinates";
  }
  for (int a = 0; a < d.axes; ++a) {
    if (d.size[a] < 1 || d.size[a] > std::uint64_t{1} << 32) {
      return of_axis("the size", a, d.size[a]) + ": 1 to 2^32 elements; skip a launch with nothing";
    }
  }
  std::uint64_t row = element * d.size[0];  // bytes up to the end of the axes so far
  for (int a = 1; a < d.axes; ++a) {
    const std::uint64_t stride = d.stride[a - 1];
    if (stride % unit != 0) {
      return of_axis("the stride", a, stride) + " bytes: a multiple of " + text(unit) +
             "; pad the rows (cudaMallocPitch does)";
    }
    if (stride >= std::uint64_t{1} << 40) {
      return of_axis("the stride", a, stride) + " bytes: less than 2^40";
    }
    if (d.size[a] > 1 && stride < row) {  // we: the driver lets rows overlap
      return of_axis("the stride", a, stride) + " bytes, and what it steps over has " + text(row) +
             ": strides are in bytes, not in elements";
    }
    row = stride * (d.size[a] - 1) + row;
  }
  for (int a = 0; a < d.axes; ++a) {
    if (d.box[a] < 1 || d.box[a] > 256) {
      return of_axis("the box", a, d.box[a]) + ": 1 to 256 elements; order several boxes";
    }
    if (d.every[a] < 1 || d.every[a] > 8) {
      return of_axis("the element stride", a, d.every[a]) + ": 1 to 8";
    }
  }
  if (!interleaved && d.every[0] != 1) {  // we: the TMA ignores it
    return of_axis("the element stride", 0, d.every[0]) +
           ": the TMA ignores it on this axis; make it 1, and pick elements in the kernel";
  }
  const std::uint64_t inner = element * d.box[0];
  if (inner % 16 != 0) {
    return "a row of the box has " + text(inner) + " bytes: a multiple of 16, so a box of " +
           text((inner + 15) / 16 * 16 / element) + " elements";
  }
  switch (d.swizzle) {
    case CU_TENSOR_MAP_SWIZZLE_NONE:
    case CU_TENSOR_MAP_SWIZZLE_32B:
    case CU_TENSOR_MAP_SWIZZLE_64B:
    case CU_TENSOR_MAP_SWIZZLE_128B:
      break;
    default:
      return "swizzle " + text(static_cast<int>(d.swizzle)) +
             " is not of Hopper: NONE, 32B, 64B or 128B";
  }
  if (span_of(d.swizzle) != 0 && inner > span_of(d.swizzle)) {
    return "a row of the box has " + text(inner) + " bytes, and swizzle " +
           text(span_of(d.swizzle)) + "B takes at most " + text(span_of(d.swizzle)) +
           ": a smaller box, several of them, or a larger swizzle";
  }
  if (d.interleave == CU_TENSOR_MAP_INTERLEAVE_32B && d.swizzle != CU_TENSOR_MAP_SWIZZLE_32B) {
    return "INTERLEAVE_32B goes with SWIZZLE_32B only";
  }
  if (d.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE && !is_floating(d.type)) {
    return "NaN as the fill of a type that has none: FLOAT_OOB_FILL_NONE, which is zeros";
  }
  if (footprint(d) > 227 * 1024) {
    return "the box takes " + text(footprint(d)) +
           " bytes of shared memory: at most 227 KiB (232448 bytes); order several boxes";
  }
  return "";
}

using Encode = CUresult(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                        const cuuint64_t*, const cuuint32_t*, const cuuint32_t*,
                        CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                        CUtensorMapFloatOOBfill);

/// The driver's function, looked up at run time: a program that links the driver's library (-lcuda)
/// does not start where there is no driver. Null if the driver has none (before 12.0).
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

/// Makes a tensor map. It goes to the kernel as `const __grid_constant__ CUtensorMap`. \returns
/// cudaErrorInvalidValue for a broken rule, with the rule in `why`; cudaErrorNotSupported if the
/// driver knows no tensor maps.
inline cudaError_t make(CUtensorMap* map, const Description& d, std::string* why = nullptr) {
  const std::string rule = broken_rule(d);
  if (why != nullptr) *why = rule;
  if (!rule.empty()) return cudaErrorInvalidValue;
  static Encode* const encode = find_encode();
  if (encode == nullptr) {
    if (why != nullptr) *why = "the driver has no cuTensorMapEncodeTiled: install 525 or later";
    return cudaErrorNotSupported;
  }
  cuuint64_t size[most_axes], stride[most_axes];
  cuuint32_t box[most_axes], every[most_axes];
  for (int a = 0; a < most_axes; ++a) {
    size[a] = d.size[a], box[a] = d.box[a], every[a] = d.every[a];
    if (a > 0) stride[a - 1] = d.stride[a - 1];
  }
  const CUresult result =
      encode(map, d.type, static_cast<cuuint32_t>(d.axes), const_cast<void*>(d.address), size,
             stride, box, every, d.interleave, d.swizzle, d.promotion, d.fill);
  if (result == CUDA_SUCCESS) return cudaSuccess;
  if (why != nullptr) {
    *why = "the driver refuses the tensor map: error " + std::to_string(static_cast<int>(result));
  }
  return cudaErrorInvalidValue;
}

/// A matrix of floats, rows x cols without gaps, in boxes of box_rows x box_cols.
inline Description matrix(const float* address, std::int64_t rows, std::int64_t cols, int box_rows,
                          int box_cols, CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE) {
  Description d;
  d.address = address;
  d.size[0] = static_cast<std::uint64_t>(cols), d.size[1] = static_cast<std::uint64_t>(rows);
  d.stride[0] = d.size[0] * sizeof(float);
  d.box[0] = static_cast<std::uint32_t>(box_cols), d.box[1] = static_cast<std::uint32_t>(box_rows);
  d.swizzle = swizzle;
  return d;
}

}  // namespace tensor_map
