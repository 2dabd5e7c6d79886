// The calls that the compiler adds to instrumented kernels. -fsanitize=thread makes it report every
// load and store before it happens; this file defines the functions of those names, so the
// sanitizer's library is not linked. -fsanitize-coverage=trace-pc reports every basic block.
#include <bitset>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "engine.hpp"
#include "errors.hpp"
#include "findings.hpp"
#include "trace.hpp"

// From SIMT_TYPE: a function for each structure of the kernels' files, if there is any.
extern "C" {
__attribute__((weak)) extern void (*__start_simt_types[])();
__attribute__((weak)) extern void (*__stop_simt_types[])();
}

namespace simt {

namespace {

Event::Kind event_of(Access kind, const Thread& thread) {
  if (kind == Access::load) return Event::load;
  if (kind == Access::store) return Event::store;
  return thread.in_loop ? Event::atomic_loop : Event::atomic;
}

/// For the counters, if they are on. `piece`: how many bytes a GPU moves at once.
__attribute__((always_inline)) inline void count(Thread& thread, std::uintptr_t address,
                                                 std::size_t bytes, Access kind, std::size_t piece,
                                                 ProgramCounter pc) {
  std::size_t word = 0;
  if (!counting || !word_of(address, &word)) return;
  const bool shared = is_window(address);
  for (std::size_t k = 0; k < bytes; k += piece) {
    record(thread,
           {pc, event_of(kind, thread), shared, static_cast<std::uint16_t>(piece), address + k});
  }
}

__attribute__((always_inline)) inline void on_access(std::uintptr_t address, std::size_t bytes,
                                                     Access kind, Strength strength,
                                                     std::size_t piece,
                                                     const void* return_address) {
  Thread* thread = observed_thread;
  if (thread == nullptr) {
    if (is_of_device(address)) check_host_access(address, bytes, kind, counter_of(return_address));
    return;
  }
  if (bytes == 0 || is_local(address)) return;
  const ProgramCounter pc = counter_of(return_address);
  thread->site = pc;
  if (checking) check_access(*thread, address, bytes, kind, strength, pc);
  count(*thread, address, bytes, kind, piece, pc);
}

/// Alignments of the program's structures, as bits, by size.
std::uint8_t alignments[largest_type + 1];
std::bitset<largest_type + 1> unions;                   // sizes
std::bitset<largest_type>* paddings[largest_type + 1];  // bytes that are padding in some structure

/// The common alignment of all structures of this size, among those with one of the alignments
/// `among` (bits); 0 if there is none, or they differ.
std::size_t alignment_of(std::size_t bytes, unsigned among) {
  const unsigned seen = bytes <= largest_type ? alignments[bytes] & among : 0;
  return (seen & (seen - 1)) == 0 ? seen : 0;
}

/// For a copy whose type the compiler does not tell: from the alignment of a structure of that
/// size, else from the address.
std::size_t piece_of(std::uintptr_t address, std::size_t bytes) {
  const std::size_t known = alignment_of(bytes, bytes == 16 ? 7 : 31);
  if (known != 0 && address % known == 0) return known;
  return address % 4 == 0 && bytes % 4 == 0 ? 4 : 1;
}

void in_pieces(void* p, std::size_t bytes, Access kind, const void* pc) {
  const auto a = reinterpret_cast<std::uintptr_t>(p);
  on_access(a, bytes, kind, Strength::plain, piece_of(a, bytes), pc);
}

/// `alignment`: the address must be a multiple of it.
__attribute__((always_inline)) inline void plain(void* p, std::size_t bytes, std::size_t alignment,
                                                 Access kind, const void* pc) {
  const auto a = reinterpret_cast<std::uintptr_t>(p);
  if (__builtin_expect((a & (alignment - 1)) != 0, 0) && observed_thread != nullptr && checking &&
      !is_local(a)) {
    note_culprit("misaligned", a, bytes, kind);
    report_misaligned(*current_thread, alignment, counter_of(pc));
  }
  const bool in_halves = bytes == 16 && alignment == 8 && alignment_of(16, 8 | 16) == 8;
  on_access(a, bytes, kind, Strength::plain, in_halves ? 8 : bytes, pc);
}

/// GCC reports 16 bytes at once for a structure that it knows to be a multiple of 8. If the type is
/// aligned to 16 and the address is not, the processor's own instruction fails: see worker.cpp.
/// CUDA's vectors report themselves, with their own alignment.
constexpr std::size_t least_alignment(std::size_t bytes) { return bytes < 8 ? bytes : 8; }

/// A kernel relies on undefined behaviour of C++. Host code is not reported.
void note_undefined(const std::string& what, const void* pc) {
  Thread* thread = observed_thread;
  if (thread == nullptr || !checking) return;
  const Unobserved unobserved;
  const ProgramCounter at = counter_of(pc);
  find("undefined", *thread->block->grid,
       name_of(*thread) + " " + what + ", at " + source_line(at).text(), at, 0);
}

/// A volatile load may be a flag that a thread polls, and a volatile store may set one.
void of_volatile(void* p, std::size_t bytes, Access kind, const void* pc) {
  Thread* thread = observed_thread;
  const auto a = reinterpret_cast<std::uintptr_t>(p);
  on_access(a, bytes, kind, Strength::is_volatile, bytes, pc);
  if (thread == nullptr || is_local(a)) return;
  if (kind == Access::store && checking) release_fenced(*thread, p);
  if (kind == Access::load) {
    poll();
    thread->acquires = p;  // the load happens after this call: see settle_acquire()
    thread->acquires_at = counter_of(pc);
    thread->unsettled = true;
  }
}

}  // namespace

void know_type(std::size_t bytes, std::size_t alignment, const unsigned char* padding) {
  if (bytes > largest_type) return;
  if (alignment <= 16) alignments[bytes] |= static_cast<std::uint8_t>(alignment);
  for (std::size_t k = 0; padding != nullptr && k < bytes; ++k) {
    if (padding[k] != 0) continue;
    if (paddings[bytes] == nullptr) paddings[bytes] = new std::bitset<largest_type>;  // never freed
    paddings[bytes]->set(k);
  }
}

void know_union(std::size_t bytes) {
  if (bytes <= largest_type) unions.set(bytes);
}

namespace {
const bool types_are_known = [] {
  for (auto know = __start_simt_types; know != __stop_simt_types; ++know) (*know)();
  return true;
}();
}  // namespace

bool may_be_padding(std::size_t bytes, std::size_t k) {
  return bytes <= largest_type && paddings[bytes] != nullptr && (*paddings[bytes])[k];
}

bool may_be_union(std::size_t bytes) { return bytes <= largest_type && unions[bytes]; }

void report_misaligned(Thread& thread, std::size_t alignment, ProgramCounter pc) {
  const Unobserved unobserved;
  const std::string bytes = std::to_string(alignment);
  find("misaligned", *thread.block->grid,
       name_of(thread) + " accesses " + bytes + " bytes at " + source_line(pc).text() +
           " at an address that is no multiple of " + bytes,
       pc, 0);
  abandon(*thread.block->grid, error_misaligned);
}

void observe_range(const void* address, std::size_t bytes, Access kind,
                   const void* return_address) {
  in_pieces(const_cast<void*>(address), bytes, kind, return_address);
}

void count_copy(const void* to, const void* from, std::size_t bytes, ProgramCounter pc) {
  Thread& thread = *current_thread;
  count(thread, reinterpret_cast<std::uintptr_t>(from), bytes, Access::load, bytes, pc);
  count(thread, reinterpret_cast<std::uintptr_t>(to), bytes, Access::store, bytes, pc);
}

void access(const volatile void* address, std::size_t size, Access kind, const void* pc,
            bool strong) {
  auto* p = const_cast<void*>(address);
  if (strong) {
    on_access(reinterpret_cast<std::uintptr_t>(p), size, kind, Strength::atomic, size, pc);
  } else {
    plain(p, size, size, kind, pc);
  }
}

}  // namespace simt

using simt::Access;

#define RETURN_ADDRESS __builtin_return_address(0)

extern "C" {

void __tsan_init() { simt::mark_instrumented(); }

#define ACCESS_HOOKS(BYTES)                                                             \
  void __tsan_read##BYTES(void* p) {                                                    \
    simt::plain(p, BYTES, simt::least_alignment(BYTES), Access::load, RETURN_ADDRESS);  \
  }                                                                                     \
  void __tsan_write##BYTES(void* p) {                                                   \
    simt::plain(p, BYTES, simt::least_alignment(BYTES), Access::store, RETURN_ADDRESS); \
  }                                                                                     \
  void __tsan_unaligned_read##BYTES(void* p) {                                          \
    simt::in_pieces(p, BYTES, Access::load, RETURN_ADDRESS);                            \
  }                                                                                     \
  void __tsan_unaligned_write##BYTES(void* p) {                                         \
    simt::in_pieces(p, BYTES, Access::store, RETURN_ADDRESS);                           \
  }                                                                                     \
  void __tsan_volatile_read##BYTES(void* p) {                                           \
    simt::of_volatile(p, BYTES, Access::load, RETURN_ADDRESS);                          \
  }                                                                                     \
  void __tsan_volatile_write##BYTES(void* p) {                                          \
    simt::of_volatile(p, BYTES, Access::store, RETURN_ADDRESS);                         \
  }                                                                                     \
  void __tsan_unaligned_volatile_read##BYTES(void* p) {                                 \
    simt::of_volatile(p, BYTES, Access::load, RETURN_ADDRESS);                          \
  }                                                                                     \
  void __tsan_unaligned_volatile_write##BYTES(void* p) {                                \
    simt::of_volatile(p, BYTES, Access::store, RETURN_ADDRESS);                         \
  }
ACCESS_HOOKS(1)
ACCESS_HOOKS(2)
ACCESS_HOOKS(4)
ACCESS_HOOKS(8)
ACCESS_HOOKS(16)

void __tsan_read_range(void* p, std::size_t bytes) {
  simt::in_pieces(p, bytes, Access::load, RETURN_ADDRESS);
}
void __tsan_write_range(void* p, std::size_t bytes) {
  simt::in_pieces(p, bytes, Access::store, RETURN_ADDRESS);
}
void* __tsan_memcpy(void* to, const void* from, std::size_t bytes) {
  __tsan_read_range(const_cast<void*>(from), bytes);
  __tsan_write_range(to, bytes);
  return std::memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, std::size_t bytes) {
  __tsan_read_range(const_cast<void*>(from), bytes);
  __tsan_write_range(to, bytes);
  return std::memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, std::size_t bytes) {
  __tsan_write_range(to, bytes);
  return std::memset(to, value, bytes);
}
// The pointer to an object's virtual functions: a constructor writes it.
void __tsan_vptr_update(void** p, void*) {
  simt::plain(p, sizeof *p, sizeof *p, Access::store, RETURN_ADDRESS);
}
void __tsan_vptr_read(void** p) {
  simt::plain(p, sizeof *p, sizeof *p, Access::load, RETURN_ADDRESS);
}

/// -fsanitize=return: a function that returns a value ends without one.
struct Place {
  const char* file;
  std::uint32_t line, column;
};
void __ubsan_handle_missing_return(const Place* end) {
  const simt::Unobserved unobserved;
  const std::string what =
      "reaches the end of a function that returns a value, without return, at " +
      simt::SourceLine{end->file, static_cast<int>(end->line)}.text();
  if (simt::in_kernel()) simt::fail_kernel("uninitialised", 719, what.c_str(), nullptr);
  std::fprintf(stderr, "simt: the host %s\n", what.c_str());
  std::abort();
}

/// -fsanitize=shift-exponent and -fsanitize=float-cast-overflow: undefined in C++, but defined on a
/// GPU.
void __ubsan_handle_shift_out_of_bounds(void*, std::uintptr_t, std::uintptr_t by) {
  const std::string bits = std::to_string(static_cast<std::int64_t>(by));
  simt::note_undefined("shifts by " + bits +
                           ", and the value has no more bits: a GPU shifts all of them "
                           "out, this processor does not",
                       RETURN_ADDRESS);
}
void __ubsan_handle_float_cast_overflow(void*, std::uintptr_t) {
  simt::note_undefined(
      "makes an integer of a floating-point value that does not fit: a GPU takes the nearest "
      "one that does, or 0 for NaN, this processor another",
      RETURN_ADDRESS);
}

void __tsan_func_entry(void* caller) {
  simt::Thread* thread = simt::observed_thread;
  if (thread != nullptr && simt::counting) {
    simt::record(*thread, {simt::counter_of(caller), simt::Event::enter, false, 0, 0});
  }
}
void __tsan_func_exit() {
  simt::Thread* thread = simt::observed_thread;
  if (thread != nullptr && simt::counting) {
    simt::record(*thread, {simt::counter_of(RETURN_ADDRESS), simt::Event::leave, false, 0, 0});
  }
}

void __sanitizer_cov_trace_pc() {
  simt::Thread* thread = simt::observed_thread;
  if (thread == nullptr) return;
  const simt::ProgramCounter pc = simt::counter_of(RETURN_ADDRESS);
  if (simt::somebody_is_stuck.load(std::memory_order_relaxed)) simt::stop_if_stuck(*thread, pc);
  if (simt::counting) simt::record(*thread, {pc, simt::Event::basic_block, false, 0, 0});
}

// Kernels use the CUDA atomics of the API headers; these are the C++ ones, of host code and of
// libraries in the same file.
#define ATOMIC_HOOKS(BITS, T)                                                                 \
  T __tsan_atomic##BITS##_load(const volatile T* p, int) {                                    \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                              \
  }                                                                                           \
  void __tsan_atomic##BITS##_store(volatile T* p, T v, int) {                                 \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                 \
  }                                                                                           \
  T __tsan_atomic##BITS##_exchange(volatile T* p, T v, int) {                                 \
    return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                       \
  }                                                                                           \
  T __tsan_atomic##BITS##_fetch_add(volatile T* p, T v, int) {                                \
    return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);                                        \
  }                                                                                           \
  T __tsan_atomic##BITS##_fetch_sub(volatile T* p, T v, int) {                                \
    return __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST);                                        \
  }                                                                                           \
  T __tsan_atomic##BITS##_fetch_and(volatile T* p, T v, int) {                                \
    return __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST);                                        \
  }                                                                                           \
  T __tsan_atomic##BITS##_fetch_or(volatile T* p, T v, int) {                                 \
    return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST);                                         \
  }                                                                                           \
  T __tsan_atomic##BITS##_fetch_xor(volatile T* p, T v, int) {                                \
    return __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST);                                        \
  }                                                                                           \
  int __tsan_atomic##BITS##_compare_exchange_strong(volatile T* p, T* old, T v, int, int) {   \
    return __atomic_compare_exchange_n(p, old, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                           \
  int __tsan_atomic##BITS##_compare_exchange_weak(volatile T* p, T* old, T v, int, int) {     \
    return __atomic_compare_exchange_n(p, old, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                           \
  T __tsan_atomic##BITS##_compare_exchange_val(volatile T* p, T old, T v, int, int) {         \
    __atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);       \
    return old;                                                                               \
  }
ATOMIC_HOOKS(8, std::uint8_t)
ATOMIC_HOOKS(16, std::uint16_t)
ATOMIC_HOOKS(32, std::uint32_t)
ATOMIC_HOOKS(64, std::uint64_t)
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) {}

}  // extern "C"
