#pragma once
/// \file
/// CUDA's functions of the device, without mathematics: barriers, fences, warps, cache hints,
/// integer instructions, the bits of floating-point numbers, address spaces, clocks.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "../async.hpp"
#include "../simt.hpp"
#include "device_atomic_functions.h"
#include "host_defines.h"
#include "vector_functions.h"

// ---- Barriers and fences ----

SIMT_INLINE void __syncthreads() { simt::block_barrier(0); }
SIMT_INLINE int __syncthreads_count(int predicate) { return simt::block_barrier(predicate).votes; }
SIMT_INLINE int __syncthreads_and(int predicate) {
  const simt::BarrierResult result = simt::block_barrier(predicate);
  return result.votes == result.threads;
}
SIMT_INLINE int __syncthreads_or(int predicate) {
  return simt::block_barrier(predicate).votes != 0;
}
SIMT_INLINE void __threadfence() { simt::fence(); }
SIMT_INLINE void __threadfence_block() { simt::fence(true); }
SIMT_INLINE void __threadfence_system() { simt::fence(); }
SIMT_INLINE void __nanosleep(unsigned) { simt::yield(); }

// ---- Warps ----

SIMT_INLINE void __syncwarp(unsigned mask = 0xffffffff) {
  simt::warp_call(
      mask, 0, 0, 32, [](simt::WarpCall&) {}, "__syncwarp");
}
/// The lanes at this line. On a GPU it may be fewer: those that run together just now.
SIMT_INLINE unsigned __activemask(const char* file = __builtin_FILE(),
                                  int line = __builtin_LINE()) {
  return simt::active_lanes(file, line);
}

namespace simt {

/// Lanes exchange 8 bytes.
template <class T>
SIMT_INLINE std::uint64_t to_bits(const T& value) {
  static_assert(sizeof(T) <= 8, "warp functions take at most 8 bytes");
  std::uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const void*>(&value), sizeof(T));
  return bits;
}
template <class T>
SIMT_INLINE T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
  return value;
}
/// What a warp function returns for a T: small integers become int, as with CUDA's overloads.
template <class T>
using Promoted = std::conditional_t<std::is_integral_v<T> && (sizeof(T) < 4), int, T>;

/// Calls f(lane) for the lanes of a mask.
template <class F>
void for_lanes(std::uint32_t mask, F f) {
  for (; mask != 0; mask &= mask - 1) f(__builtin_ctz(mask));
}

// What the lanes get. `segment` is the first lane of a lane's group of `width`.
void shuffle_index(WarpCall& call);
void shuffle_up(WarpCall& call);
void shuffle_down(WarpCall& call);
void shuffle_xor(WarpCall& call);
void vote_ballot(WarpCall& call);
void match_any(WarpCall& call);
void match_all(WarpCall& call);  ///< the mask, or 0 if there are several values
void reduce_add(WarpCall& call);
void reduce_and(WarpCall& call);
void reduce_or(WarpCall& call);
void reduce_xor(WarpCall& call);
void reduce_min_signed(WarpCall& call);
void reduce_max_signed(WarpCall& call);
void reduce_min_unsigned(WarpCall& call);
void reduce_max_unsigned(WarpCall& call);

}  // namespace simt

#define SIMT_SHUFFLE(name, function)                                                            \
  template <class T>                                                                            \
  SIMT_INLINE simt::Promoted<T> name(unsigned mask, T value, int lane, int width = 32) {        \
    using Result = simt::Promoted<T>;                                                           \
    return simt::from_bits<Result>(simt::warp_call(                                             \
        mask, simt::to_bits(static_cast<const Result&>(value)), lane, width, function, #name)); \
  }
SIMT_SHUFFLE(__shfl_sync, simt::shuffle_index)
SIMT_SHUFFLE(__shfl_up_sync, simt::shuffle_up)
SIMT_SHUFFLE(__shfl_down_sync, simt::shuffle_down)
SIMT_SHUFFLE(__shfl_xor_sync, simt::shuffle_xor)
#undef SIMT_SHUFFLE

SIMT_INLINE unsigned __ballot_sync(unsigned mask, int predicate) {
  return static_cast<unsigned>(
      simt::warp_call(mask, predicate != 0, 0, 32, simt::vote_ballot, "__ballot_sync"));
}
SIMT_INLINE int __any_sync(unsigned mask, int predicate) {
  return simt::warp_call(mask, predicate != 0, 0, 32, simt::vote_ballot, "__any_sync") != 0;
}
SIMT_INLINE int __all_sync(unsigned mask, int predicate) {
  return simt::warp_call(mask, predicate == 0, 0, 32, simt::vote_ballot, "__all_sync") == 0;
}
template <class T>
SIMT_INLINE unsigned __match_any_sync(unsigned mask, T value) {
  return static_cast<unsigned>(
      simt::warp_call(mask, simt::to_bits(value), 0, 32, simt::match_any, "__match_any_sync"));
}
template <class T>
SIMT_INLINE unsigned __match_all_sync(unsigned mask, T value, int* predicate) {
  const auto lanes = static_cast<unsigned>(
      simt::warp_call(mask, simt::to_bits(value), 0, 32, simt::match_all, "__match_all_sync"));
  *predicate = lanes != 0;
  return lanes;
}

#define SIMT_REDUCE(name, T, function)                                                          \
  SIMT_INLINE T name(unsigned mask, T value) {                                                  \
    return static_cast<T>(simt::warp_call(mask, simt::to_bits(value), 0, 32, function, #name)); \
  }
SIMT_REDUCE(__reduce_add_sync, unsigned, simt::reduce_add)
SIMT_REDUCE(__reduce_add_sync, int, simt::reduce_add)
SIMT_REDUCE(__reduce_min_sync, unsigned, simt::reduce_min_unsigned)
SIMT_REDUCE(__reduce_min_sync, int, simt::reduce_min_signed)
SIMT_REDUCE(__reduce_max_sync, unsigned, simt::reduce_max_unsigned)
SIMT_REDUCE(__reduce_max_sync, int, simt::reduce_max_signed)
SIMT_REDUCE(__reduce_and_sync, unsigned, simt::reduce_and)
SIMT_REDUCE(__reduce_or_sync, unsigned, simt::reduce_or)
SIMT_REDUCE(__reduce_xor_sync, unsigned, simt::reduce_xor)
#undef SIMT_REDUCE

// ---- Loads and stores with a hint for the caches, which the CPU has no use for ----

namespace simt {

template <class T>
struct Same {
  using type = T;
};
/// A parameter that the compiler converts instead of deducing its type.
template <class T>
using SameAs = typename Same<T>::type;

#if SIMT_INSTRUMENTED
template <class T>
SIMT_RAW T hinted_load(const T* p) noexcept {
  constexpr std::size_t width = sizeof(T) < 16 ? sizeof(T) : 16;
  const void* pc = __builtin_return_address(0);
  for (std::size_t i = 0; i < sizeof(T); i += width) {
    access(reinterpret_cast<const char*>(p) + i, width, Access::load, pc);
  }
  T value;
  __builtin_memcpy(static_cast<void*>(&value), static_cast<const void*>(p), sizeof(T));
  return value;
}
template <class T>
SIMT_RAW void hinted_store(T* p, const T& value) noexcept {
  constexpr std::size_t width = sizeof(T) < 16 ? sizeof(T) : 16;
  const void* pc = __builtin_return_address(0);
  for (std::size_t i = 0; i < sizeof(T); i += width) {
    access(reinterpret_cast<char*>(p) + i, width, Access::store, pc);
  }
  __builtin_memcpy(static_cast<void*>(p), static_cast<const void*>(&value), sizeof(T));
}
#else
template <class T>
SIMT_INLINE T hinted_load(const T* p) {
  return *p;
}
template <class T>
SIMT_INLINE void hinted_store(T* p, const T& value) {
  *p = value;
}
#endif

}  // namespace simt

#define SIMT_HINTED_LOAD(name)     \
  template <class T>               \
  SIMT_INLINE T name(const T* p) { \
    return simt::hinted_load(p);   \
  }
#define SIMT_HINTED_STORE(name)                        \
  template <class T>                                   \
  SIMT_INLINE void name(T* p, simt::SameAs<T> value) { \
    simt::hinted_store(p, value);                      \
  }
SIMT_HINTED_LOAD(__ldg)
SIMT_HINTED_LOAD(__ldca)
SIMT_HINTED_LOAD(__ldcg)
SIMT_HINTED_LOAD(__ldcs)
SIMT_HINTED_LOAD(__ldlu)
SIMT_HINTED_LOAD(__ldcv)
SIMT_HINTED_STORE(__stwb)
SIMT_HINTED_STORE(__stcg)
SIMT_HINTED_STORE(__stcs)
SIMT_HINTED_STORE(__stwt)
#undef SIMT_HINTED_LOAD
#undef SIMT_HINTED_STORE

// ---- Integers ----

SIMT_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
SIMT_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
SIMT_INLINE int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
SIMT_INLINE int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
SIMT_INLINE int __ffs(int x) { return __builtin_ffs(x); }
SIMT_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
SIMT_INLINE unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
SIMT_INLINE unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}
/// Four bytes chosen out of eight; bit 3 of a selector asks for copies of the byte's sign.
SIMT_INLINE unsigned __byte_perm(unsigned x, unsigned y, unsigned selectors) {
  const unsigned long long both = static_cast<unsigned long long>(y) << 32 | x;
  unsigned result = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned selector = selectors >> 4 * k & 0xf;
    unsigned byte = static_cast<unsigned>(both >> 8 * (selector & 7)) & 0xff;
    if (selector & 8) byte = byte & 0x80 ? 0xff : 0;
    result |= byte << 8 * k;
  }
  return result;
}
// Shifts of 64 bits that keep the high (l) or low (r) half; c: shifts of more than 32 become 32.
SIMT_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned>(both << (shift & 31) >> 32);
}
SIMT_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned>(both >> (shift & 31));
}
SIMT_INLINE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
SIMT_INLINE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
SIMT_INLINE int __mulhi(int x, int y) {
  return static_cast<int>(static_cast<long long>(x) * y >> 32);
}
SIMT_INLINE unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32);
}
SIMT_INLINE long long __mul64hi(long long x, long long y) {
  __extension__ typedef __int128 wide;
  return static_cast<long long>(static_cast<wide>(x) * y >> 64);
}
SIMT_INLINE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  __extension__ typedef unsigned __int128 wide;
  return static_cast<unsigned long long>(static_cast<wide>(x) * y >> 64);
}
SIMT_INLINE unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffff) * (y & 0xffffff); }
SIMT_INLINE int __mul24(int x, int y) {
  const auto low_24 = [](int v) { return static_cast<int>(static_cast<unsigned>(v) << 8) >> 8; };
  return static_cast<int>(static_cast<unsigned>(low_24(x)) * static_cast<unsigned>(low_24(y)));
}
SIMT_INLINE unsigned __sad(int x, int y, unsigned z) {
  return z + (x < y ? static_cast<unsigned>(y) - static_cast<unsigned>(x)
                    : static_cast<unsigned>(x) - static_cast<unsigned>(y));
}
SIMT_INLINE unsigned __usad(unsigned x, unsigned y, unsigned z) {
  return z + (x < y ? y - x : x - y);
}
SIMT_INLINE int __hadd(int x, int y) {
  return static_cast<int>((static_cast<long long>(x) + y) >> 1);
}
SIMT_INLINE int __rhadd(int x, int y) {
  return static_cast<int>((static_cast<long long>(x) + y + 1) >> 1);
}
SIMT_INLINE unsigned __uhadd(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<unsigned long long>(x) + y) >> 1);
}
SIMT_INLINE unsigned __urhadd(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<unsigned long long>(x) + y + 1) >> 1);
}
/// c plus the products of four signed bytes.
SIMT_INLINE int __dp4a(int a, int b, int c) {
  auto sum = static_cast<unsigned>(c);
  for (int k = 0; k < 32; k += 8) {
    sum +=
        static_cast<unsigned>(static_cast<signed char>(a >> k) * static_cast<signed char>(b >> k));
  }
  return static_cast<int>(sum);
}
SIMT_INLINE unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int k = 0; k < 32; k += 8) c += (a >> k & 0xff) * (b >> k & 0xff);
  return c;
}
SIMT_INLINE int __dp4a(char4 a, char4 b, int c) {
  return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
SIMT_INLINE unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
  return c + static_cast<unsigned>(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
}

/// c plus the products of two halves of `a` and two bytes of `b`, the low ones or the high ones.
#define SIMT_DP2A(name, shift)                                                             \
  SIMT_INLINE int name(int a, int b, int c) {                                              \
    const int low = static_cast<short>(a) * static_cast<signed char>(b >> shift);          \
    const int high = (a >> 16) * static_cast<signed char>(b >> (shift + 8));               \
    return static_cast<int>(static_cast<unsigned>(c) + static_cast<unsigned>(low) +        \
                            static_cast<unsigned>(high));                                  \
  }                                                                                        \
  SIMT_INLINE unsigned name(unsigned a, unsigned b, unsigned c) {                          \
    return c + (a & 0xffff) * (b >> shift & 0xff) + (a >> 16) * (b >> (shift + 8) & 0xff); \
  }
SIMT_DP2A(__dp2a_lo, 0)
SIMT_DP2A(__dp2a_hi, 16)
#undef SIMT_DP2A
SIMT_INLINE int __dp2a_lo(short2 a, char4 b, int c) { return c + a.x * b.x + a.y * b.y; }
SIMT_INLINE int __dp2a_hi(short2 a, char4 b, int c) { return c + a.x * b.z + a.y * b.w; }
SIMT_INLINE unsigned __dp2a_lo(ushort2 a, uchar4 b, unsigned c) {
  return c + unsigned{a.x} * b.x + unsigned{a.y} * b.y;
}
SIMT_INLINE unsigned __dp2a_hi(ushort2 a, uchar4 b, unsigned c) {
  return c + unsigned{a.x} * b.z + unsigned{a.y} * b.w;
}
/// The place of the n-th bit set from bit `base` on, upwards for n > 0 and downwards for n < 0; n
/// is 0: that of `base` itself. All bits, if there is none.
SIMT_INLINE unsigned __fns(unsigned mask, unsigned base, int n) {
  const unsigned step = n < 0 ? ~0u : 1;
  unsigned left = n < 0 ? 0u - static_cast<unsigned>(n) : static_cast<unsigned>(n);
  if (n == 0) return base < 32 && mask >> base & 1 ? base : ~0u;
  for (unsigned at = base; at < 32; at += step) {
    if (mask >> at & 1 && --left == 0) return at;
  }
  return ~0u;
}

// ---- The bits of floating-point numbers ----

#define SIMT_BITS(name, To, From)                 \
  SIMT_INLINE To name(From x) {                   \
    static_assert(sizeof(To) == sizeof(From));    \
    return simt::from_bits<To>(simt::to_bits(x)); \
  }
SIMT_BITS(__float_as_int, int, float)
SIMT_BITS(__float_as_uint, unsigned, float)
SIMT_BITS(__int_as_float, float, int)
SIMT_BITS(__uint_as_float, float, unsigned)
SIMT_BITS(__double_as_longlong, long long, double)
SIMT_BITS(__longlong_as_double, double, long long)
#undef SIMT_BITS
SIMT_INLINE int __double2hiint(double x) { return static_cast<int>(simt::to_bits(x) >> 32); }
SIMT_INLINE int __double2loint(double x) { return static_cast<int>(simt::to_bits(x)); }
SIMT_INLINE double __hiloint2double(int high, int low) {
  return simt::from_bits<double>(static_cast<std::uint64_t>(static_cast<unsigned>(high)) << 32 |
                                 static_cast<unsigned>(low));
}

// ---- Address spaces ----

namespace simt {
bool in_shared_memory(const void* address);
bool in_global_memory(const void* address);
bool in_constant_memory(const void* address);
std::size_t shared_offset(const void* address);  ///< in the window of its block
}  // namespace simt

SIMT_INLINE unsigned __isShared(const void* p) { return simt::in_shared_memory(p); }
SIMT_INLINE unsigned __isGlobal(const void* p) { return simt::in_global_memory(p); }
SIMT_INLINE unsigned __isConstant(const void* p) { return simt::in_constant_memory(p); }
SIMT_INLINE unsigned __isLocal(const void* p) {
  return !__isShared(p) && !__isGlobal(p) && !__isConstant(p);
}
SIMT_INLINE std::size_t __cvta_generic_to_shared(const void* p) { return simt::shared_offset(p); }
SIMT_INLINE void* __cvta_shared_to_generic(std::size_t offset) {
  char* start = static_cast<char*>(simt::dynamic_shared_memory());
  return start - simt::shared_offset(start) + offset;
}
SIMT_INLINE std::size_t __cvta_generic_to_global(const void* p) {
  return reinterpret_cast<std::size_t>(p);
}
SIMT_INLINE void* __cvta_global_to_generic(std::size_t address) {
  return reinterpret_cast<void*>(address);
}

// ---- Time, and the end ----

// Kernels run one after another here, so there is nothing to wait for and nothing to allow.
SIMT_INLINE void cudaGridDependencySynchronize() {}
SIMT_INLINE void cudaTriggerProgrammaticLaunchCompletion() {}

/// Nanoseconds: a GPU's clock has nothing that corresponds to it here. clock() is the C library's.
long long clock64();

[[noreturn]] void __trap();
void __brkpt();
