#pragma once
/// \file
/// Memory barriers that count bytes (mbarrier), bulk copies, and the part of cooperative groups
/// that needs the engine. Copies land as late as CUDA allows: when a thread waits for them.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "simt.hpp"

namespace simt {

// ---- mbarrier: one word of 8 bytes, in shared memory or anywhere else ----

/// Makes the word a barrier that expects `count` arrivals per phase, 1 to 2^20 - 1.
void mbarrier_init(std::uint64_t* barrier, unsigned count);
/// Ends the use of the word as a barrier.
void mbarrier_invalidate(std::uint64_t* barrier);
/// Expects `bytes` more in the current phase, then arrives `count` times. With `drop`, the next
/// phases expect that many fewer arrivals. \returns a token of the phase, for mbarrier_test().
std::uint64_t mbarrier_arrive(std::uint64_t* barrier, unsigned count = 1, std::int64_t bytes = 0,
                              bool drop = false);
/// Expects `bytes` more in the current phase; does not arrive.
void mbarrier_expect(std::uint64_t* barrier, std::int64_t bytes);
/// Has the phase of this parity ended? If so, its copies have landed.
bool mbarrier_test(std::uint64_t* barrier, bool parity);
bool mbarrier_parity(std::uint64_t token);       ///< of the phase that the token belongs to
unsigned mbarrier_pending(std::uint64_t token);  ///< arrivals that were missing
/// A copy that belongs to the barrier's current phase. `counted`: mbarrier_expect() covers its
/// bytes; otherwise it lands before a wait for the phase ends, without a count. `again`: to one
/// more block of a multicast, so its source was read before.
void mbarrier_copy(std::uint64_t* barrier, void* to, const void* from, std::size_t bytes,
                   bool counted, bool again = false);
/// The same as an instruction of the running thread (LDGSTS) of 4, 8 or 16 bytes, not by the copy
/// engine, so the counters see it. `pc`: a return address into the kernel.
void mbarrier_copy_piece(std::uint64_t* barrier, void* to, const void* from, std::size_t bytes,
                         const void* pc);
/// The copies that the running thread has issued and no thread has waited for join the barrier's
/// current phase (cp.async.mbarrier.arrive). Does not arrive.
void mbarrier_take_copies(std::uint64_t* barrier);

/// A value that a thread stores into any block of its cluster (st.async), or combines with the old
/// value (red.async). Its bytes are counted by the barrier in the same block. Lands at once.
void mbarrier_store(std::uint64_t* barrier, void* to, const void* value, std::size_t bytes,
                    void (*combine)(void* to, const void* from) = nullptr);

/// Waits; always inlined, so that a report names the kernel's line.
SIMT_INLINE void mbarrier_wait(std::uint64_t* barrier, bool parity) {
  while (!mbarrier_test(barrier, parity)) yield();
}

// ---- Groups of bulk copies of the running thread ----

/// Queues a copy in the open group. Multiples of 16 bytes.
void bulk_copy(void* to, const void* from, std::size_t bytes);

/// How a reduction combines values with an element in global memory.
enum class Reduction : std::uint8_t { add, min, max, inc, dec, bit_and, bit_or, bit_xor };

/// Does CUDA have this reduction for elements of T? Bits count as integers of their size.
template <class T>
constexpr bool is_reducible(Reduction op) {
  constexpr bool whole = std::is_integral_v<T> && sizeof(T) >= 4;
  constexpr bool small_float = std::is_class_v<T> && sizeof(T) == 2;  // __half, __nv_bfloat16
  switch (op) {
    case Reduction::add:
      return whole || small_float || std::is_floating_point_v<T>;
    case Reduction::min:
    case Reduction::max:
      return whole || small_float;
    case Reduction::inc:
    case Reduction::dec:
      return std::is_same_v<T, std::uint32_t>;
    default:
      return whole;
  }
}

template <Reduction op, class T>
T reduced(T a, T b) {
  static_assert(is_reducible<T>(op), "CUDA has no such bulk reduction");
  if constexpr (op == Reduction::min) {
    return b < a ? b : a;
  } else if constexpr (op == Reduction::max) {
    return a < b ? b : a;
  } else if constexpr (op == Reduction::inc) {
    return a >= b ? 0 : a + 1;
  } else if constexpr (op == Reduction::dec) {
    return a == 0 || a > b ? b : a - 1;
  } else if constexpr (op == Reduction::bit_and) {
    return a & b;
  } else if constexpr (op == Reduction::bit_or) {
    return a | b;
  } else if constexpr (op == Reduction::bit_xor) {
    return a ^ b;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<Bits<T>>(a) + static_cast<Bits<T>>(b));  // wraps
  } else {
    return a + b;
  }
}

/// One element, atomically: other OS threads run other blocks.
template <Reduction op, class T>
SIMT_RAW void reduce_one(void* to, const void* from) {
  T value, old, next;
  std::memcpy(static_cast<void*>(&value), from, sizeof value);
  __atomic_load(static_cast<T*>(to), &old, __ATOMIC_RELAXED);
  do {
    next = reduced<op>(old, value);
  } while (!__atomic_compare_exchange(static_cast<T*>(to), &old, &next, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED));
}

/// Combines elements in global memory with those in shared memory, each by reduce_one().
void bulk_reduce(void* to, const void* from, std::size_t bytes, std::size_t element,
                 void (*combine)(void* to, const void* from));
SIMT_INLINE void bulk_reduce_add(float* to, const float* from, std::size_t bytes) {
  bulk_reduce(to, from, bytes, sizeof(float), reduce_one<Reduction::add, float>);
}
/// Closes the open group.
void bulk_commit();
void bulk_wait(unsigned pending);  ///< lands all but the newest `pending` groups
/// Reads the sources of these copies, so that they may be overwritten. The copies land at
/// bulk_wait(), or when their thread ends.
void bulk_wait_read(unsigned pending);

// ---- Asynchronous instructions, which end by the time the thread waits for them (wgmma) ----

/// Defers call(to, a, b) by the running thread as late as CUDA allows: to later_wait(). Deferred
/// calls form groups, as copies do.
void later(Later* call, void* to, std::uint64_t a, std::uint64_t b);
/// Closes the open group.
void later_commit();
/// Reads shared memory through the async proxy, as the copy engine and the tensor cores do.
void read_by_proxy(void* to, const void* from, std::size_t bytes);
void later_wait(unsigned pending);  ///< runs all but the newest `pending` groups

// ---- For cooperative groups ----

/// Lanes of this warp that are at this line. Lets the others run first until they get here, wait
/// elsewhere or return. (Not at this address: compilers merge equal calls of different branches.)
std::uint32_t active_lanes(const char* file = __builtin_FILE(), int line = __builtin_LINE());
bool cooperative();  ///< was the kernel launched so?
/// Rank in the cluster of the block that owns a shared variable; -1 if none does.
int shared_rank(const void* address);

}  // namespace simt
