#pragma once
/// \file
/// make_float4 and its kin.

#include "vector_types.h"

#define SIMT_MAKE(name, T)                                                        \
  SIMT_INLINE name##1 make_##name##1(T x) { return name##1 {x}; }                 \
  SIMT_INLINE name##2 make_##name##2(T x, T y) { return name##2 {x, y}; }         \
  SIMT_INLINE name##3 make_##name##3(T x, T y, T z) { return name##3 {x, y, z}; } \
  SIMT_INLINE name##4 make_##name##4(T x, T y, T z, T w) { return name##4 {x, y, z, w}; }
#define SIMT_MAKE_LONG(name, T)                                    \
  SIMT_MAKE(name, T)                                               \
  SIMT_INLINE name##4_16a make_##name##4_16a(T x, T y, T z, T w) { \
    return name##4_16a {x, y, z, w};                               \
  }                                                                \
  SIMT_INLINE name##4_32a make_##name##4_32a(T x, T y, T z, T w) { \
    return name##4_32a {x, y, z, w};                               \
  }

SIMT_MAKE(char, signed char)
SIMT_MAKE(uchar, unsigned char)
SIMT_MAKE(short, short)
SIMT_MAKE(ushort, unsigned short)
SIMT_MAKE(int, int)
SIMT_MAKE(uint, unsigned)
SIMT_MAKE_LONG(long, long)
SIMT_MAKE_LONG(ulong, unsigned long)
SIMT_MAKE_LONG(longlong, long long)
SIMT_MAKE_LONG(ulonglong, unsigned long long)
SIMT_MAKE(float, float)
SIMT_MAKE_LONG(double, double)

#undef SIMT_MAKE_LONG
#undef SIMT_MAKE
