#pragma once
/// \file
/// CUDA's vector types, char1 to double4, and dim3.
///
/// In instrumented code a copy of a vector reports one access of the width that the hardware uses.
/// The compiler alone would report its elements. Elsewhere the types are plain aggregates.

#include <cstring>

#include "../access.hpp"

struct uint3 {
  unsigned x, y, z;
};

/// Extents of a grid or a block. What is left out is 1.
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
};

#if SIMT_INSTRUMENTED
namespace simt {
/// Copies a vector, as hardware does: 16 bytes at a time at most.
template <class V>
SIMT_RAW void copy_vector(V* to, const V* from) noexcept {
  constexpr std::size_t width = sizeof(V) < 16 ? sizeof(V) : 16;
  const void* pc = __builtin_return_address(0);
  for (std::size_t i = 0; i < sizeof(V); i += width) {
    access(reinterpret_cast<const char*>(from) + i, width, Access::load, pc);
  }
  for (std::size_t i = 0; i < sizeof(V); i += width) {
    access(reinterpret_cast<char*>(to) + i, width, Access::store, pc);
  }
  __builtin_memcpy(static_cast<void*>(to), static_cast<const void*>(from), sizeof(V));
}
}  // namespace simt

#define SIMT_COPY(V)                                                 \
  SIMT_INLINE V(const V& other) { simt::copy_vector(this, &other); } \
  SIMT_INLINE V& operator=(const V& other) {                         \
    simt::copy_vector(this, &other);                                 \
    return *this;                                                    \
  }
#define SIMT_MEMBERS2(V, T)                                  \
  T x, y;                                                    \
  V() = default;                                             \
  SIMT_INLINE constexpr V(T x_, T y_ = {}) : x(x_), y(y_) {} \
  SIMT_COPY(V)
// No hardware access moves three elements: a copy is three accesses.
#define SIMT_MEMBERS3(V, T)                                                       \
  T x, y, z;                                                                      \
  V() = default;                                                                  \
  SIMT_INLINE constexpr V(T x_, T y_ = {}, T z_ = {}) : x(x_), y(y_), z(z_) {}    \
  SIMT_INLINE constexpr V(const V& other) : x(other.x), y(other.y), z(other.z) {} \
  SIMT_INLINE constexpr V& operator=(const V& other) {                            \
    x = other.x, y = other.y, z = other.z;                                        \
    return *this;                                                                 \
  }
#define SIMT_MEMBERS4(V, T)                                                                      \
  T x, y, z, w;                                                                                  \
  V() = default;                                                                                 \
  SIMT_INLINE constexpr V(T x_, T y_ = {}, T z_ = {}, T w_ = {}) : x(x_), y(y_), z(z_), w(w_) {} \
  SIMT_COPY(V)
#else
#define SIMT_MEMBERS2(V, T) T x, y;
#define SIMT_MEMBERS3(V, T) T x, y, z;
#define SIMT_MEMBERS4(V, T) T x, y, z, w;
#endif

#define SIMT_VECTOR1(V, T) \
  struct V {               \
    T x;                   \
  };
#define SIMT_VECTOR2(V, T, alignment) \
  struct alignas(alignment) V {       \
    SIMT_MEMBERS2(V, T)               \
  };
#define SIMT_VECTOR3(V, T) \
  struct V {               \
    SIMT_MEMBERS3(V, T)    \
  };
#define SIMT_VECTOR4(V, T, alignment) \
  struct alignas(alignment) V {       \
    SIMT_MEMBERS4(V, T)               \
  };
/// name1 to name4 of one element type, without uint3, with the alignments of name2 and name4.
#define SIMT_VECTORS(name, T, alignment2, alignment4) \
  SIMT_VECTOR1(name##1, T)                            \
  SIMT_VECTOR2(name##2, T, alignment2)                \
  SIMT_VECTOR3(name##3, T)                            \
  SIMT_VECTOR4(name##4, T, alignment4)
/// Four elements of 8 bytes have forms that name their alignment.
#define SIMT_LONG_VECTORS(name, T) \
  SIMT_VECTORS(name, T, 16, 16)    \
  SIMT_VECTOR4(name##4_16a, T, 16) \
  SIMT_VECTOR4(name##4_32a, T, 32)

SIMT_VECTORS(char, signed char, 2, 4)
SIMT_VECTORS(uchar, unsigned char, 2, 4)
SIMT_VECTORS(short, short, 4, 8)
SIMT_VECTORS(ushort, unsigned short, 4, 8)
SIMT_VECTORS(int, int, 8, 16)
SIMT_VECTOR1(uint1, unsigned)
SIMT_VECTOR2(uint2, unsigned, 8)
SIMT_VECTOR4(uint4, unsigned, 16)
SIMT_LONG_VECTORS(long, long)
SIMT_LONG_VECTORS(ulong, unsigned long)
SIMT_LONG_VECTORS(longlong, long long)
SIMT_LONG_VECTORS(ulonglong, unsigned long long)
SIMT_VECTORS(float, float, 8, 16)
SIMT_LONG_VECTORS(double, double)

#undef SIMT_LONG_VECTORS
#undef SIMT_VECTORS
#undef SIMT_VECTOR4
#undef SIMT_VECTOR3
#undef SIMT_VECTOR2
#undef SIMT_VECTOR1
#undef SIMT_MEMBERS4
#undef SIMT_MEMBERS3
#undef SIMT_MEMBERS2
#undef SIMT_COPY
