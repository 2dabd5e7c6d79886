// Tensor maps: what the driver encodes, and the pieces of a box. async.cpp moves them.
#include "tensor.hpp"

#include <cstring>
#include <string>

#include "engine.hpp"
#include "errors.hpp"
#include "include/cuda.h"
#include "include/cuda_runtime_api.h"

namespace simt {
namespace {

constexpr std::uint64_t magic = 0x70616d20726f736eu;
constexpr int most_axes = 5;

/// What lies in a CUtensorMap.
struct Map {
  std::uint64_t magic, address;
  std::uint64_t size[most_axes], stride[most_axes - 1];
  std::uint16_t box[most_axes];
  std::uint8_t every[most_axes];
  std::uint8_t rank, element, swizzle, fill;  ///< swizzle: bytes of its rows; 0: none
};
static_assert(sizeof(Map) <= sizeof(CUtensorMap));

int bytes_of(CUtensorMapDataType type) {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8:
      return 1;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
      return 2;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
      return 8;
    case CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B:
    case CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B:
    case CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B:
      return 0;
    default:
      return 4;
  }
}

bool is_whole_number(CUtensorMapDataType type) { return type <= CU_TENSOR_MAP_DATA_TYPE_INT64; }

[[noreturn]] void refuse(const char* kind, const std::string& text, ProgramCounter pc, int error) {
  Grid& grid = *current_thread->block->grid;
  find(kind, grid, name_of(*current_thread) + " at " + source_line(pc).text() + ": " + text, pc, 0);
  abandon(grid, error);
}

}  // namespace

std::vector<TensorPiece> tensor_pieces(const void* map, const std::int32_t* coordinates, int rank,
                                       void* shared, bool store, const void* pc) {
  const ProgramCounter site = counter_of(pc);
  const auto place = reinterpret_cast<std::uintptr_t>(shared);
  if (place % 128 != 0) {
    refuse("misaligned",
           "a tensor copy needs a place in shared memory that is a multiple of 128 bytes", site,
           error_misaligned);
  }
  Map m;
  std::memcpy(&m, map, sizeof m);
  if (reinterpret_cast<std::uintptr_t>(map) % 64 != 0 || m.magic != magic) {
    refuse(
        "tensor map",
        "no tensor map lies there: encode one on the host and pass it as const __grid_constant__ "
        "CUtensorMap",
        site, error_illegal_instruction);
  }
  if (m.rank != rank) {
    refuse("tensor map",
           std::to_string(rank) + " coordinates for a tensor map of " + std::to_string(m.rank) +
               " axes",
           site, error_illegal_instruction);
  }
  if (coordinates[0] * std::int64_t{m.element} % 16 != 0) {
    refuse("tensor map",
           "the box begins at element " + std::to_string(coordinates[0]) +
               " of axis 0: a multiple of 16 bytes, " + std::to_string(16 / m.element) +
               " elements",
           site, error_illegal_instruction);
  }
  for (int a = 0; store && a < rank; ++a) {
    if (coordinates[a] < 0) {
      refuse("tensor map",
             "stores a box that begins at " + std::to_string(coordinates[a]) + " of axis " +
                 std::to_string(a) + ": it may reach beyond the end, not begin before the start",
             site, error_illegal_instruction);
    }
  }
  std::int64_t count[most_axes] = {m.box[0], 1, 1, 1, 1};  // axis 0 has no stride of its own
  for (int a = 1; a < rank; ++a) count[a] = (m.box[a] + m.every[a] - 1) / m.every[a];
  const std::int64_t inner = std::int64_t{m.box[0]} * m.element;
  const std::int64_t pitch = m.swizzle > inner ? m.swizzle : inner;
  // Elements of a row that the array has.
  const std::int64_t from = coordinates[0] < 0 ? -std::int64_t{coordinates[0]} : 0;
  const std::int64_t left = static_cast<std::int64_t>(m.size[0]) - coordinates[0];
  const std::int64_t until = left < m.box[0] ? left : m.box[0];
  std::vector<TensorPiece> pieces;
  std::int64_t row = 0;
  std::int64_t at[most_axes] = {};
  const auto add = [&](std::int64_t first, std::int64_t last, char* global) {
    while (first < last) {  // bytes of the row; chunks of 16 have places of their own
      std::int64_t end = m.swizzle == 0 ? last : (first / 16 + 1) * 16;
      if (end > last) end = last;
      std::uintptr_t to = place + static_cast<std::uintptr_t>(row * pitch + first);
      if (m.swizzle != 0) to ^= to >> 7 << 4 & (m.swizzle - 1u);
      const std::uint16_t fill = m.fill != 0 ? 0x7ff7 : 0;  // as seen on an H200, for all types
      pieces.push_back({reinterpret_cast<char*>(to), global == nullptr ? nullptr : global + first,
                        static_cast<std::size_t>(end - first), fill});
      first = end;
    }
  };
  for (;;) {
    bool inside = until > from;
    auto global = static_cast<std::int64_t>(m.address) + coordinates[0] * std::int64_t{m.element};
    for (int a = 1; a < rank; ++a) {
      const std::int64_t i = coordinates[a] + at[a] * m.every[a];
      inside = inside && i >= 0 && i < static_cast<std::int64_t>(m.size[a]);
      global += i * static_cast<std::int64_t>(m.stride[a - 1]);
    }
    if (inside) {
      add(0, from * m.element, nullptr);
      add(from * m.element, until * m.element, reinterpret_cast<char*>(global));
      add(until * m.element, inner, nullptr);
    } else {
      add(0, inner, nullptr);
    }
    ++row;
    int a = 1;
    while (a < rank && ++at[a] == count[a]) at[a++] = 0;
    if (a >= rank) return pieces;
  }
}

}  // namespace simt

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* element_strides,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  using namespace simt;
  const int element = bytes_of(type);
  if (map == nullptr || rank < 1 || rank > most_axes) return CUDA_ERROR_INVALID_VALUE;
  if (element == 0 || interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) return CUDA_ERROR_NOT_SUPPORTED;
  if (reinterpret_cast<std::uintptr_t>(address) % 16 != 0) return CUDA_ERROR_INVALID_VALUE;
  if (swizzle > CU_TENSOR_MAP_SWIZZLE_128B) return CUDA_ERROR_INVALID_VALUE;
  if (fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE && is_whole_number(type)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Map m{};
  m.magic = magic;
  m.address = reinterpret_cast<std::uintptr_t>(address);
  m.rank = static_cast<std::uint8_t>(rank);
  m.element = static_cast<std::uint8_t>(element);
  m.swizzle = swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? 0 : static_cast<std::uint8_t>(16 << swizzle);
  m.fill = fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  std::uint64_t bytes = static_cast<std::uint64_t>(element);
  for (cuuint32_t a = 0; a < rank; ++a) {
    if (sizes[a] < 1 || sizes[a] > std::uint64_t{1} << 32) return CUDA_ERROR_INVALID_VALUE;
    if (box[a] < 1 || box[a] > 256) return CUDA_ERROR_INVALID_VALUE;
    if (element_strides[a] < 1 || element_strides[a] > 8) return CUDA_ERROR_INVALID_VALUE;
    if (a > 0 && (strides[a - 1] % 16 != 0 || strides[a - 1] >= std::uint64_t{1} << 40)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    m.size[a] = sizes[a];
    m.box[a] = static_cast<std::uint16_t>(box[a]);
    m.every[a] = static_cast<std::uint8_t>(element_strides[a]);
    if (a > 0) m.stride[a - 1] = strides[a - 1];
    bytes *= a == 0 ? box[0] : (box[a] + element_strides[a] - 1) / element_strides[a];
  }
  const std::uint64_t inner = std::uint64_t{box[0]} * static_cast<unsigned>(element);
  if (inner % 16 != 0 || (m.swizzle != 0 && inner > m.swizzle)) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > 227 * 1024) return CUDA_ERROR_INVALID_VALUE;
  std::memset(map, 0, sizeof *map);
  std::memcpy(map, &m, sizeof m);
  return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  const bool known = std::string(name) == "cuTensorMapEncodeTiled";
  *function = known ? reinterpret_cast<void*>(&cuTensorMapEncodeTiled) : nullptr;
  if (result != nullptr) {
    *result = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  }
  return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* result) {
  return cudaGetDriverEntryPointByVersion(name, function, CUDART_VERSION, flags, result);
}
