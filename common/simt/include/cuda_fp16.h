#pragma once
/// \file
/// __half and __half2: binary16 numbers, 5 bits of exponent and 10 of fraction.

#include "simt_small_float.h"
#include "vector_types.h"

using __half = simt::SmallFloat<5, 10>;
using __half2 = simt::SmallFloat2<__half>;
using half = __half;
using half2 = __half2;

SIMT_CONVERSIONS(__half, half)
SIMT_INLINE float __half2float(__half a) { return a; }

SIMT_INLINE __half2 make_half2(__half a, __half b) { return {a, b}; }
SIMT_INLINE __half2 __halves2half2(__half a, __half b) { return {a, b}; }
SIMT_INLINE __half2 __half2half2(__half a) { return {a, a}; }
SIMT_INLINE __half __low2half(__half2 a) { return a.x; }
SIMT_INLINE __half __high2half(__half2 a) { return a.y; }
SIMT_INLINE __half2 __float2half2_rn(float a) { return {__half(a), __half(a)}; }
SIMT_INLINE __half2 __floats2half2_rn(float a, float b) { return {__half(a), __half(b)}; }
SIMT_INLINE __half2 __float22half2_rn(float2 a) { return {__half(a.x), __half(a.y)}; }
SIMT_INLINE float2 __half22float2(__half2 a) { return float2{a.x, a.y}; }

#define CUDART_ZERO_FP16 __ushort_as_half(0x0000)
#define CUDART_ONE_FP16 __ushort_as_half(0x3C00)
#define CUDART_INF_FP16 __ushort_as_half(0x7C00)
#define CUDART_NAN_FP16 __ushort_as_half(0x7FFF)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7BFF)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001)
