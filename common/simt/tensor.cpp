// Tensor maps: what the driver encodes, and how a box is split into pieces. async.cpp moves them.
#include "tensor.hpp"

#include <cstring>
#include <string>

#include "engine.hpp"
#include "errors.hpp"
#include "host.hpp"
#include "include/cuda.h"
#include "include/cuda_bf16.h"
#include "include/cuda_fp16.h"

namespace simt {
namespace {

constexpr std::uint64_t magic = 0x70616d20726f736eu;
constexpr int most_axes = 5;

/// The contents of a CUtensorMap.
struct Map {
  std::uint64_t magic, address;
  std::uint64_t size[most_axes], stride[most_axes - 1];
  std::uint16_t box[most_axes];
  std::uint8_t every[most_axes];
  std::uint8_t rank, element, swizzle, fill;  ///< swizzle: bytes of its rows; 0: none
  std::uint8_t type;
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

/// `text`: a literal, or a function that makes it: constructing a std::string before Unobserved
/// would be an access of the running thread.
template <class Text>
[[noreturn]] void refuse(const char* kind, Text text, ProgramCounter pc, int error) {
  const Unobserved unobserved;
  Grid& grid = *current_thread->block->grid;
  std::string what;
  if constexpr (std::is_invocable_v<Text>) {
    what = text();
  } else {
    what = text;
  }
  find(kind, grid, name_of(*current_thread) + " at " + source_line(pc).text() + ": " + what, pc, 0);
  abandon(grid, error);
}

/// The map that the kernel gives; `pc`: of the copy.
Map map_at(const void* map, ProgramCounter pc) {
  const auto address = reinterpret_cast<std::uintptr_t>(map);
  Map m{};
  if (address % 64 == 0 && address >= 4096 && !is_window(address)) {
    // A kernel's parameter is a local variable here.
    if (checking && !is_local(address)) {
      check_access(*current_thread, address, sizeof(CUtensorMap), Access::load, Strength::plain,
                   pc);
    }
    std::memcpy(&m, map, sizeof m);
  }
  if (m.magic != magic) {
    refuse(
        "tensor map",
        "no tensor map lies there: encode one on the host and pass it as const __grid_constant__ "
        "CUtensorMap",
        pc, error_illegal_instruction);
  }
  return m;
}

void check_rank(const Map& m, int rank, ProgramCounter pc) {
  if (m.rank == rank) return;
  refuse(
      "tensor map",
      [&] {
        return std::to_string(rank) + " coordinates for a tensor map of " + std::to_string(m.rank) +
               " axes";
      },
      pc, error_illegal_instruction);
}

template <Reduction op, class T>
TensorReduction reduction_if_any() {
  if constexpr (is_reducible<T>(op)) {
    return {sizeof(T), reduce_one<op, T>};
  } else {
    return {0, nullptr};
  }
}
template <class T>
TensorReduction reduction_of(Reduction op) {
  switch (op) {
    case Reduction::add:
      return reduction_if_any<Reduction::add, T>();
    case Reduction::min:
      return reduction_if_any<Reduction::min, T>();
    case Reduction::max:
      return reduction_if_any<Reduction::max, T>();
    case Reduction::inc:
      return reduction_if_any<Reduction::inc, T>();
    case Reduction::dec:
      return reduction_if_any<Reduction::dec, T>();
    case Reduction::bit_and:
      return reduction_if_any<Reduction::bit_and, T>();
    case Reduction::bit_or:
      return reduction_if_any<Reduction::bit_or, T>();
    default:
      return reduction_if_any<Reduction::bit_xor, T>();
  }
}
TensorReduction reduction_of(CUtensorMapDataType type, Reduction op) {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT32:
      return reduction_of<std::uint32_t>(op);
    case CU_TENSOR_MAP_DATA_TYPE_INT32:
      return reduction_of<std::int32_t>(op);
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
      return reduction_of<std::uint64_t>(op);
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
      return reduction_of<std::int64_t>(op);
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
      return reduction_of<__half>(op);
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
      return reduction_of<__nv_bfloat16>(op);
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
      return reduction_of<double>(op);
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ:
      return reduction_of<float>(op);
    default:
      return {0, nullptr};
  }
}

}  // namespace

TensorReduction tensor_reduction(const void* map, Reduction op, const void* pc) {
  const ProgramCounter site = counter_of(pc);
  const Map m = map_at(map, site);
  const TensorReduction reduction = reduction_of(static_cast<CUtensorMapDataType>(m.type), op);
  if (reduction.combine == nullptr) {
    refuse("tensor map", "CUDA has no such reduction for elements of the map's type", site,
           error_illegal_instruction);
  }
  return reduction;
}

void tensor_prefetch(const void* map, const std::int32_t*, int rank) {
  const ProgramCounter site = counter_of(__builtin_return_address(0));
  check_rank(map_at(map, site), rank, site);
}

std::vector<TensorPiece> tensor_pieces(const void* map, const std::int32_t* coordinates, int rank,
                                       void* shared, bool store, const void* pc) {
  const ProgramCounter site = counter_of(pc);
  const auto place = reinterpret_cast<std::uintptr_t>(shared);
  if (place % 128 != 0) {
    refuse("misaligned",
           "a tensor copy needs a place in shared memory that is a multiple of 128 bytes", site,
           error_misaligned);
  }
  if (!is_window(place)) {
    refuse("bounds", "the box's place is not in shared memory", site, error_illegal_address);
  }
  const Map m = map_at(map, site);
  check_rank(m, rank, site);
  if (coordinates[0] * std::int64_t{m.element} % 16 != 0) {
    refuse(
        "tensor map",
        [&] {
          return "the box begins at element " + std::to_string(coordinates[0]) +
                 " of axis 0: a multiple of 16 bytes, " + std::to_string(16 / m.element) +
                 " elements";
        },
        site, error_illegal_instruction);
  }
  for (int a = 0; store && a < rank; ++a) {
    if (coordinates[a] < 0) {
      refuse(
          "tensor map",
          [&] {
            return "stores a box that begins at " + std::to_string(coordinates[a]) + " of axis " +
                   std::to_string(a) + ": it may reach beyond the end, not begin before the start";
          },
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
    while (first < last) {  // bytes of the row; each chunk of 16 has its own place
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
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  using namespace simt;
  const int element = bytes_of(type);
  if (map == nullptr || reinterpret_cast<std::uintptr_t>(map) % 64 != 0 || rank < 1 ||
      rank > most_axes || sizes == nullptr || box == nullptr || element_strides == nullptr ||
      (rank > 1 && strides == nullptr)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (type > CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B || interleave > CU_TENSOR_MAP_INTERLEAVE_32B ||
      fill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA ||
      promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE && rank < 3) return CUDA_ERROR_INVALID_VALUE;
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
  m.type = static_cast<std::uint8_t>(type);
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
  if (name == nullptr || function == nullptr) return simt::end(cudaErrorInvalidValue);
  const bool known = std::strcmp(name, "cuTensorMapEncodeTiled") == 0;
  *function = known ? reinterpret_cast<void*>(&cuTensorMapEncodeTiled) : nullptr;
  if (result != nullptr) {
    *result = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  }
  return simt::end(cudaSuccess);
}

cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* result) {
  return cudaGetDriverEntryPointByVersion(name, function, CUDART_VERSION, flags, result);
}
