#pragma once
/// \file
/// Device memory of the CPU backend: one range of addresses with a heap and the windows of shared
/// memory. A second table says for each word of 4 bytes which bytes are touchable and written.

#include <cstddef>
#include <cstdint>

namespace simt {

constexpr std::size_t window_bytes = 256 << 10;  ///< a block's shared memory with room to spare
constexpr unsigned window_count = 8192;

// ---- For the host API ----

/// Device memory, 256-byte aligned, with a gap to its neighbours; nullptr if it does not fit.
/// `host_accessible`: managed or pinned memory, zeroed and taken as written.
void* device_allocate(std::size_t bytes, bool host_accessible);
bool host_may_use(const void* address);  ///< managed, pinned or registered memory
bool is_managed_variable(std::uintptr_t address);
bool device_free(void* address);  ///< false: not the start of an allocation
std::size_t device_bytes_in_use();
/// Is all of it device memory: one allocation, or a __device__ or __constant__ variable?
bool is_device(const void* address, std::size_t bytes);
/// The start and the size of the allocation that holds the address; false if none does.
bool allocation_of(const void* address, void** base, std::size_t* bytes);
bool is_constant(std::uintptr_t address, std::size_t bytes);  ///< in a __constant__ variable
/// Marks bytes as written; does nothing for memory of the host.
void mark_written(void* address, std::size_t bytes);
/// The first run of 16 or more unwritten bytes: its start, counted from the address, and its
/// length; length 0 if there is none. Shorter runs may be the padding of structures.
struct Unwritten {
  std::size_t start = 0, bytes = 0;
};
Unwritten unwritten_in(const void* address, std::size_t bytes);
/// After a copy: each byte at `to` is as written or unwritten as its source.
void copy_written_state(void* to, const void* from, std::size_t bytes);

// ---- For the engine ----

/// Where an address lies.
enum class Place : std::uint8_t { heap, window, variable, elsewhere };

/// The ranges, set once before the first kernel.
struct Ranges {
  std::uintptr_t heap = 0, heap_bytes = 0;            ///< device memory
  std::uintptr_t windows = 0, windows_bytes = 0;      ///< directly after the heap
  std::uintptr_t variables = 0, variables_bytes = 0;  ///< section simt_device
  std::uintptr_t constants = 0, constants_bytes = 0;  ///< section simt_constant
  std::uintptr_t image = 0;                           ///< where the program starts
  std::uintptr_t tables = 0, tables_bytes = 0;        ///< its read-only part: code, tables, strings
  std::uint8_t* state = nullptr;  ///< one byte per word: low half touchable, high half written
};
extern Ranges ranges;
using ProgramCounter = std::uint32_t;  ///< offset of a return address in the program's image
inline ProgramCounter counter_of(const void* address) {
  return static_cast<ProgramCounter>(reinterpret_cast<std::uintptr_t>(address) - ranges.image);
}
/// Reserves the ranges, at the first call.
void set_up_memory();

/// The word of an address; false if it is neither heap, window nor variable.
inline bool word_of(std::uintptr_t address, std::size_t* word) {
  if (address - ranges.heap < ranges.heap_bytes + ranges.windows_bytes) {
    *word = (address - ranges.heap) >> 2;
    return true;
  }
  if (address - ranges.variables < ranges.variables_bytes) {
    *word = (ranges.heap_bytes + ranges.windows_bytes + (address - ranges.variables)) >> 2;
    return true;
  }
  return false;
}
inline bool is_window(std::uintptr_t address) {
  return address - ranges.windows < ranges.windows_bytes;
}
/// The number of words with a state.
std::size_t word_count();

/// Makes bytes touchable and unwritten (or, with `touchable` false, neither).
void set_state(std::uintptr_t address, std::size_t bytes, bool touchable);
/// What lies around a bad address, for a report: "4 bytes behind the end of the nearest allocation,
/// of 400 bytes". At most 300 characters. True if the address lies in freed memory.
bool describe_address(std::uintptr_t address, char* text, std::size_t size);
/// Reserves address space that costs nothing until it is touched.
void* reserve(std::size_t bytes);

}  // namespace simt
