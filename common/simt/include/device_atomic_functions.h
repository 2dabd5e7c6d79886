#pragma once
/// \file
/// atomicAdd() and its kin, for the types that CUDA has them for.

#include "../simt.hpp"

// What an atomic computes is no step of the kernel.
#if SIMT_INSTRUMENTED
#define SIMT_STEP SIMT_RAW
#else
#define SIMT_STEP
#endif

/// An atomic function of one operand `v`, with its forms for a block and for the whole system.
#define SIMT_ATOMIC(name, T, result)                                                    \
  SIMT_INLINE T name(T* p, T v) {                                                       \
    return simt::atomic_update(p, [v](const T& old) SIMT_STEP -> T { return result; }); \
  }                                                                                     \
  SIMT_INLINE T name##_block(T* p, T v) {                                               \
    return simt::atomic_update(p, [v](const T& old) SIMT_STEP -> T { return result; }); \
  }                                                                                     \
  SIMT_INLINE T name##_system(T* p, T v) {                                              \
    return simt::atomic_update(p, [v](const T& old) SIMT_STEP -> T { return result; }); \
  }
#define SIMT_ATOMIC_CAS(T, form)                                                      \
  SIMT_INLINE T form(T* p, T compare, T v) {                                          \
    simt::will_compare(p);                                                            \
    return simt::atomic_update(                                                       \
        p, [compare, v](const T& old) SIMT_STEP { return old == compare ? v : old; }, \
        simt::Order::relaxed, true);                                                  \
  }
#define SIMT_ATOMICS(T)                                   \
  SIMT_ATOMIC(atomicExch, T, (static_cast<void>(old), v)) \
  SIMT_ATOMIC(atomicMin, T, v < old ? v : old)            \
  SIMT_ATOMIC(atomicMax, T, old < v ? v : old)            \
  SIMT_ATOMIC(atomicAnd, T, old& v)                       \
  SIMT_ATOMIC(atomicOr, T, old | v)                       \
  SIMT_ATOMIC(atomicXor, T, old ^ v)

using simt_ull = unsigned long long;

SIMT_ATOMICS(int)
SIMT_ATOMICS(unsigned)
SIMT_ATOMICS(simt_ull)
SIMT_ATOMIC(atomicMin, long long, v < old ? v : old)
SIMT_ATOMIC(atomicMax, long long, old < v ? v : old)
SIMT_ATOMIC(atomicExch, float, (static_cast<void>(old), v))
// Overflow wraps, as on the hardware.
SIMT_ATOMIC(atomicAdd, int, static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(v)))
SIMT_ATOMIC(atomicAdd, unsigned, old + v)
SIMT_ATOMIC(atomicAdd, simt_ull, old + v)
SIMT_ATOMIC(atomicAdd, float, old + v)
SIMT_ATOMIC(atomicAdd, double, old + v)
SIMT_ATOMIC(atomicSub, int, static_cast<int>(static_cast<unsigned>(old) - static_cast<unsigned>(v)))
SIMT_ATOMIC(atomicSub, unsigned, old - v)
SIMT_ATOMIC(atomicInc, unsigned, old >= v ? 0 : old + 1)
SIMT_ATOMIC(atomicDec, unsigned, old == 0 || old > v ? v : old - 1)
SIMT_ATOMIC_CAS(int, atomicCAS)
SIMT_ATOMIC_CAS(int, atomicCAS_block)
SIMT_ATOMIC_CAS(int, atomicCAS_system)
SIMT_ATOMIC_CAS(unsigned, atomicCAS)
SIMT_ATOMIC_CAS(unsigned, atomicCAS_block)
SIMT_ATOMIC_CAS(unsigned, atomicCAS_system)
SIMT_ATOMIC_CAS(simt_ull, atomicCAS)
SIMT_ATOMIC_CAS(simt_ull, atomicCAS_block)
SIMT_ATOMIC_CAS(simt_ull, atomicCAS_system)
SIMT_ATOMIC_CAS(unsigned short, atomicCAS)
SIMT_ATOMIC_CAS(unsigned short, atomicCAS_block)
SIMT_ATOMIC_CAS(unsigned short, atomicCAS_system)

#undef SIMT_ATOMICS
#undef SIMT_ATOMIC_CAS
#undef SIMT_ATOMIC

// Vectors: each element is atomic, the whole is not.
SIMT_INLINE float2 atomicAdd(float2* p, float2 v) {
  return simt::atomic_update(p, [v](const float2& old) SIMT_STEP {
    return float2{old.x + v.x, old.y + v.y};
  });
}
SIMT_INLINE float4 atomicAdd(float4* p, float4 v) {
  auto* half = reinterpret_cast<float2*>(p);
  const float2 low = atomicAdd(half, float2{v.x, v.y}),
               high = atomicAdd(half + 1, float2{v.z, v.w});
  return float4{low.x, low.y, high.x, high.y};
}

// 16 bytes: any type of that size and alignment, compared by its bits.
namespace simt {
__extension__ typedef unsigned __int128 Bits16;

/// If the bits at p are `compare`, `next` takes their place, atomically; the bits before. `always`:
/// whatever they are.
Bits16 exchange_16(volatile void* p, Bits16 compare, Bits16 next, bool always) noexcept;

template <class T>
SIMT_RAW T atomic_16(T* p, const T* compare, const T* next) {
  before_atomic(p, 16, Access::atomic, Order::relaxed, __builtin_return_address(0), true);
  Bits16 bits[2] = {};
  std::memcpy(&bits[0], static_cast<const void*>(compare), 16);
  std::memcpy(&bits[1], static_cast<const void*>(next), 16);
  bits[0] = exchange_16(p, bits[0], bits[1], compare == next);
  T before;
  std::memcpy(static_cast<void*>(&before), &bits[0], 16);
  after_atomic(p, Access::atomic, Order::relaxed);
  return before;
}
template <class T>
using If16 = std::enable_if_t<sizeof(T) == 16 && alignof(T) >= 16, T>;
}  // namespace simt
#define SIMT_ATOMIC_16(scope)                                                        \
  template <class T>                                                                 \
  SIMT_INLINE simt::If16<T> atomicCAS##scope(T* p, T compare, T v) {                 \
    simt::will_compare(p);                                                           \
    return simt::atomic_16(p, __builtin_addressof(compare), __builtin_addressof(v)); \
  }                                                                                  \
  template <class T>                                                                 \
  SIMT_INLINE simt::If16<T> atomicExch##scope(T* p, T v) {                           \
    return simt::atomic_16(p, __builtin_addressof(v), __builtin_addressof(v));       \
  }
SIMT_ATOMIC_16()
SIMT_ATOMIC_16(_block)
SIMT_ATOMIC_16(_system)
#undef SIMT_ATOMIC_16

#undef SIMT_STEP
