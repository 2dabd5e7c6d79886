#pragma once
/// \file
/// Floating-point numbers of 16 bits: what cuda_fp16.h and cuda_bf16.h share. Arithmetic is done in
/// float or double and rounded once, to nearest even, so results are those of the hardware.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "../simt.hpp"
#include "vector_types.h"

namespace simt {

enum class Rounding : std::uint8_t { nearest, zero, down, up };

/// The bits of x in a format with these exponent and fraction bits.
template <int exponent_bits, int fraction_bits>
SIMT_RAW std::uint16_t encode(double x, Rounding rounding = Rounding::nearest) {
  constexpr int lowest = 2 - (1 << (exponent_bits - 1));  // exponent of the smallest normal number
  constexpr std::uint64_t infinity = ((std::uint64_t{1} << exponent_bits) - 1) << fraction_bits;
  if (x != x) return 0x7FFF;
  std::uint64_t word;
  std::memcpy(&word, &x, sizeof word);
  const std::uint64_t sign = word >> 63;
  if (std::isinf(x)) return static_cast<std::uint16_t>(sign << 15 | infinity);
  const int exponent = static_cast<int>(word >> 52 & 0x7FF) - 1023;
  std::uint64_t fraction = word & ((std::uint64_t{1} << 52) - 1);
  if (exponent > -1023) fraction |= std::uint64_t{1} << 52;
  int drop = 52 - fraction_bits;
  if (exponent < lowest) drop += lowest - exponent;
  if (drop > 60) drop = 60;  // all of it, but a trace remains for rounding up
  std::uint64_t kept = fraction >> drop;
  const std::uint64_t rest = fraction - (kept << drop), half = std::uint64_t{1} << (drop - 1);
  const bool nearest = rounding == Rounding::nearest;
  const bool away = rounding == (sign != 0 ? Rounding::down : Rounding::up);  // from zero
  const bool half_way = rest == half && (kept & 1) != 0;
  if (nearest ? rest > half || half_way : away && rest != 0) ++kept;
  // The leading 1 of a normal number, and a carry, count the exponent up by one.
  if (exponent > lowest) kept += static_cast<std::uint64_t>(exponent - lowest) << fraction_bits;
  if (kept >= infinity) kept = nearest || away ? infinity : infinity - 1;
  return static_cast<std::uint16_t>(sign << 15 | kept);
}

template <int exponent_bits, int fraction_bits>
SIMT_RAW float decode(std::uint16_t bits) {
  constexpr int bias = (1 << (exponent_bits - 1)) - 1;
  const std::uint32_t sign = static_cast<std::uint32_t>(bits) >> 15 << 31;
  const std::uint32_t exponent = bits >> fraction_bits & ((1u << exponent_bits) - 1);
  const std::uint32_t fraction = bits & ((1u << fraction_bits) - 1);
  std::uint32_t word = sign | fraction << (23 - fraction_bits);
  if (exponent == (1u << exponent_bits) - 1) {
    word |= 0x7F800000;
  } else if (exponent != 0) {
    word |= (exponent + 127 - bias) << 23;
  } else if (exponent_bits < 8) {
    const float x = std::ldexp(static_cast<float>(fraction), 1 - bias - fraction_bits);
    std::memcpy(&word, &x, sizeof word);
    word |= sign;
  }
  float x;
  std::memcpy(&x, &word, sizeof x);
  return x;
}

/// a * b + c, not rounded to double but to its odd neighbour, so that a second rounding is right.
/// For numbers of 16 bits, whose product a double holds.
SIMT_RAW inline double multiply_add(double a, double b, double c) {
  const double product = a * b, sum = product + c;
  const double part = sum - product, error = (product - (sum - part)) + (c - part);
  if (!std::isfinite(sum) || error == 0) return sum;
  std::uint64_t word;
  std::memcpy(&word, &sum, sizeof word);
  if ((word & 1) != 0) return sum;
  return std::nextafter(sum, error > 0 ? HUGE_VAL : -HUGE_VAL);
}

/// A float as an integer; NaN is 0, what is too large is the largest.
template <class T>
SIMT_RAW T to_integer(float x, Rounding rounding) {
  const double r = rounding == Rounding::nearest ? std::nearbyint(double{x})
                   : rounding == Rounding::zero  ? std::trunc(double{x})
                   : rounding == Rounding::down  ? std::floor(double{x})
                                                 : std::ceil(double{x});
  if (r != r) return 0;
  if (r <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  if (r >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(r);
}

SIMT_RAW inline float larger(float a, float b, bool keep_nan) {
  if (keep_nan && (a != a || b != b)) return std::numeric_limits<float>::quiet_NaN();
  if (a == 0 && b == 0) return std::signbit(a) ? b : a;  // +0 is larger than -0
  return std::fmax(a, b);
}

/// __half and __nv_bfloat16. CUDA's functions are friends, found by their arguments.
template <int exponent_bits, int fraction_bits>
struct SmallFloat {
  using Self = SmallFloat;
  std::uint16_t bits;

  SmallFloat() = default;
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  SIMT_INLINE SmallFloat(T x)
      : bits(encode<exponent_bits, fraction_bits>(static_cast<double>(x))) {}
  SIMT_INLINE operator float() const { return decode<exponent_bits, fraction_bits>(bits); }

  SIMT_INLINE static constexpr Self from_bits(std::uint16_t bits) { return Self(bits, Bits{}); }
  SIMT_INLINE static Self rounded(double x, Rounding rounding) {
    return from_bits(encode<exponent_bits, fraction_bits>(x, rounding));
  }

#define SIMT_OPERATOR(op)                                        \
  friend SIMT_INLINE Self operator op(Self a, Self b) {          \
    return Self(static_cast<float>(a) op static_cast<float>(b)); \
  }                                                              \
  friend SIMT_INLINE Self& operator op##=(Self& a, Self b) { return a = a op b; }
  SIMT_OPERATOR(+)
  SIMT_OPERATOR(-)
  SIMT_OPERATOR(*)
  SIMT_OPERATOR(/)
#undef SIMT_OPERATOR
  friend SIMT_INLINE Self operator+(Self a) { return a; }
  friend SIMT_INLINE Self operator-(Self a) {
    return from_bits(static_cast<std::uint16_t>(a.bits ^ 0x8000u));
  }
  friend SIMT_INLINE Self& operator++(Self& a) { return a = a + Self(1); }
  friend SIMT_INLINE Self& operator--(Self& a) { return a = a - Self(1); }
  friend SIMT_INLINE Self operator++(Self& a, int) {
    const Self before = a;
    a = a + Self(1);
    return before;
  }
  friend SIMT_INLINE Self operator--(Self& a, int) {
    const Self before = a;
    a = a - Self(1);
    return before;
  }

// The operator, CUDA's name, and the form that is true for NaN.
#define SIMT_COMPARE(op, name)                                                                    \
  friend SIMT_INLINE bool operator op(Self a, Self b) {                                           \
    return static_cast<float>(a) op static_cast<float>(b);                                        \
  }                                                                                               \
  friend SIMT_INLINE bool name(Self a, Self b) { return a op b && !__hisnan(a) && !__hisnan(b); } \
  friend SIMT_INLINE bool name##u(Self a, Self b) { return a op b || __hisnan(a) || __hisnan(b); }
  SIMT_COMPARE(==, __heq)
  SIMT_COMPARE(!=, __hne)
  SIMT_COMPARE(<, __hlt)
  SIMT_COMPARE(<=, __hle)
  SIMT_COMPARE(>, __hgt)
  SIMT_COMPARE(>=, __hge)
#undef SIMT_COMPARE
  friend SIMT_INLINE bool __hisnan(Self a) {
    return (a.bits & 0x7FFFu) > ((1u << exponent_bits) - 1) << fraction_bits;
  }
  friend SIMT_INLINE int __hisinf(Self a) {
    const bool infinite = (a.bits & 0x7FFFu) == ((1u << exponent_bits) - 1) << fraction_bits;
    return infinite ? (a.bits >> 15 != 0 ? -1 : 1) : 0;
  }

  friend SIMT_INLINE Self __hadd(Self a, Self b) { return a + b; }
  friend SIMT_INLINE Self __hsub(Self a, Self b) { return a - b; }
  friend SIMT_INLINE Self __hmul(Self a, Self b) { return a * b; }
  friend SIMT_INLINE Self __hdiv(Self a, Self b) { return a / b; }
  friend SIMT_INLINE Self __hadd_rn(Self a, Self b) { return a + b; }
  friend SIMT_INLINE Self __hsub_rn(Self a, Self b) { return a - b; }
  friend SIMT_INLINE Self __hmul_rn(Self a, Self b) { return a * b; }
  friend SIMT_INLINE Self __hfma(Self a, Self b, Self c) {
    return Self(multiply_add(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c)));
  }
  friend SIMT_INLINE Self simt_saturate(Self a) {
    return __hisnan(a) ? Self(0) : __hmin(__hmax(a, Self(0)), Self(1));
  }
  friend SIMT_INLINE Self __hadd_sat(Self a, Self b) { return simt_saturate(a + b); }
  friend SIMT_INLINE Self __hsub_sat(Self a, Self b) { return simt_saturate(a - b); }
  friend SIMT_INLINE Self __hmul_sat(Self a, Self b) { return simt_saturate(a * b); }
  friend SIMT_INLINE Self __hfma_sat(Self a, Self b, Self c) {
    return simt_saturate(__hfma(a, b, c));
  }
  friend SIMT_INLINE Self __hfma_relu(Self a, Self b, Self c) {
    return __hmax_nan(__hfma(a, b, c), Self(0));
  }
  friend SIMT_INLINE Self __hneg(Self a) { return -a; }
  friend SIMT_INLINE Self __habs(Self a) {
    return from_bits(static_cast<std::uint16_t>(a.bits & 0x7FFFu));
  }
  /// NaN loses.
  friend SIMT_INLINE Self __hmax(Self a, Self b) { return Self(larger(a, b, false)); }
  friend SIMT_INLINE Self __hmin(Self a, Self b) {
    const Self m = __hmax(-a, -b);
    return __hisnan(m) ? m : -m;
  }
  /// NaN wins.
  friend SIMT_INLINE Self __hmax_nan(Self a, Self b) { return Self(larger(a, b, true)); }
  friend SIMT_INLINE Self __hmin_nan(Self a, Self b) {
    return __hisnan(a) || __hisnan(b) ? from_bits(0x7FFF) : __hmin(a, b);
  }

// A function of double, rounded once.
#define SIMT_FUNCTION(name, value)          \
  friend SIMT_INLINE Self name(Self a) {    \
    const double x = static_cast<float>(a); \
    return Self(value);                     \
  }
  SIMT_FUNCTION(hsqrt, std::sqrt(x))
  SIMT_FUNCTION(hrsqrt, 1 / std::sqrt(x))
  SIMT_FUNCTION(hrcp, 1 / x)
  SIMT_FUNCTION(hexp, std::exp(x))
  SIMT_FUNCTION(hexp2, std::exp2(x))
  SIMT_FUNCTION(hexp10, std::pow(10.0, x))
  SIMT_FUNCTION(hlog, std::log(x))
  SIMT_FUNCTION(hlog2, std::log2(x))
  SIMT_FUNCTION(hlog10, std::log10(x))
  SIMT_FUNCTION(hsin, std::sin(x))
  SIMT_FUNCTION(hcos, std::cos(x))
  SIMT_FUNCTION(htanh, std::tanh(x))
  SIMT_FUNCTION(hfloor, std::floor(x))
  SIMT_FUNCTION(hceil, std::ceil(x))
  SIMT_FUNCTION(htrunc, std::trunc(x))
  SIMT_FUNCTION(hrint, std::nearbyint(x))
#undef SIMT_FUNCTION

  friend SIMT_INLINE Self atomicAdd(Self* address, Self value) {
    return atomic_update(address, [value](const Self& old) SIMT_RAW { return old + value; });
  }

 private:
  struct Bits {};
  SIMT_INLINE constexpr SmallFloat(std::uint16_t b, Bits) : bits(b) {}
};

/// __half2 and __nv_bfloat162: two numbers that move together.
template <class Half>
struct alignas(4) SmallFloat2 {
  using Self = SmallFloat2;
  Half x, y;

  SmallFloat2() = default;
  SIMT_INLINE SmallFloat2(Half a, Half b) : x(a), y(b) {}
#if SIMT_INSTRUMENTED
  SIMT_INLINE SmallFloat2(const Self& other) { copy_vector(this, &other); }
  SIMT_INLINE Self& operator=(const Self& other) {
    copy_vector(this, &other);
    return *this;
  }
#endif

#define SIMT_OPERATOR(op, name)                                                            \
  friend SIMT_INLINE Self operator op(Self a, Self b) { return {a.x op b.x, a.y op b.y}; } \
  friend SIMT_INLINE Self& operator op##=(Self& a, Self b) { return a = a op b; }          \
  friend SIMT_INLINE Self name(Self a, Self b) { return a op b; }
  SIMT_OPERATOR(+, __hadd2)
  SIMT_OPERATOR(-, __hsub2)
  SIMT_OPERATOR(*, __hmul2)
  SIMT_OPERATOR(/, __h2div)
#undef SIMT_OPERATOR
  friend SIMT_INLINE Self operator-(Self a) { return {-a.x, -a.y}; }
  friend SIMT_INLINE bool operator==(Self a, Self b) { return a.x == b.x && a.y == b.y; }
  friend SIMT_INLINE bool operator!=(Self a, Self b) { return a.x != b.x && a.y != b.y; }

// CUDA's name of a function of two numbers, and its form for pairs.
#define SIMT_PAIRS(name2, name) \
  friend SIMT_INLINE Self name2(Self a, Self b) { return {name(a.x, b.x), name(a.y, b.y)}; }
  SIMT_PAIRS(__hadd2_rn, __hadd_rn)
  SIMT_PAIRS(__hsub2_rn, __hsub_rn)
  SIMT_PAIRS(__hmul2_rn, __hmul_rn)
  SIMT_PAIRS(__hadd2_sat, __hadd_sat)
  SIMT_PAIRS(__hsub2_sat, __hsub_sat)
  SIMT_PAIRS(__hmul2_sat, __hmul_sat)
  SIMT_PAIRS(__hmax2, __hmax)
  SIMT_PAIRS(__hmin2, __hmin)
  SIMT_PAIRS(__hmax2_nan, __hmax_nan)
  SIMT_PAIRS(__hmin2_nan, __hmin_nan)
#undef SIMT_PAIRS
  friend SIMT_INLINE Self __hfma2(Self a, Self b, Self c) {
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
  }
  friend SIMT_INLINE Self __hfma2_sat(Self a, Self b, Self c) {
    return {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)};
  }
  friend SIMT_INLINE Self __hfma2_relu(Self a, Self b, Self c) {
    return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)};
  }

// 1 or 0 for each, and both at once.
#define SIMT_COMPARE(name)                                               \
  friend SIMT_INLINE Self __h##name##2(Self a, Self b) {                 \
    return {Half(__h##name(a.x, b.x)), Half(__h##name(a.y, b.y))};       \
  }                                                                      \
  friend SIMT_INLINE Self __h##name##u2(Self a, Self b) {                \
    return {Half(__h##name##u(a.x, b.x)), Half(__h##name##u(a.y, b.y))}; \
  }                                                                      \
  friend SIMT_INLINE bool __hb##name##2(Self a, Self b) {                \
    return __h##name(a.x, b.x) && __h##name(a.y, b.y);                   \
  }
  SIMT_COMPARE(eq)
  SIMT_COMPARE(ne)
  SIMT_COMPARE(lt)
  SIMT_COMPARE(le)
  SIMT_COMPARE(gt)
  SIMT_COMPARE(ge)
#undef SIMT_COMPARE

#define SIMT_FUNCTION(name2, name) \
  friend SIMT_INLINE Self name2(Self a) { return {name(a.x), name(a.y)}; }
  SIMT_FUNCTION(__hneg2, __hneg)
  SIMT_FUNCTION(__habs2, __habs)
  SIMT_FUNCTION(h2sqrt, hsqrt)
  SIMT_FUNCTION(h2rsqrt, hrsqrt)
  SIMT_FUNCTION(h2rcp, hrcp)
  SIMT_FUNCTION(h2exp, hexp)
  SIMT_FUNCTION(h2exp2, hexp2)
  SIMT_FUNCTION(h2exp10, hexp10)
  SIMT_FUNCTION(h2log, hlog)
  SIMT_FUNCTION(h2log2, hlog2)
  SIMT_FUNCTION(h2log10, hlog10)
  SIMT_FUNCTION(h2sin, hsin)
  SIMT_FUNCTION(h2cos, hcos)
  SIMT_FUNCTION(h2tanh, htanh)
  SIMT_FUNCTION(h2floor, hfloor)
  SIMT_FUNCTION(h2ceil, hceil)
  SIMT_FUNCTION(h2trunc, htrunc)
  SIMT_FUNCTION(h2rint, hrint)
#undef SIMT_FUNCTION
  friend SIMT_INLINE Self __hisnan2(Self a) { return {Half(__hisnan(a.x)), Half(__hisnan(a.y))}; }

  friend SIMT_INLINE float __low2float(Self a) { return a.x; }
  friend SIMT_INLINE float __high2float(Self a) { return a.y; }
  friend SIMT_INLINE Self __lowhigh2highlow(Self a) { return {a.y, a.x}; }
  friend SIMT_INLINE Self __lows2half2(Self a, Self b) { return {a.x, b.x}; }
  friend SIMT_INLINE Self __highs2half2(Self a, Self b) { return {a.y, b.y}; }
  friend SIMT_INLINE Self __low2half2(Self a) { return {a.x, a.x}; }
  friend SIMT_INLINE Self __high2half2(Self a) { return {a.y, a.y}; }

  friend SIMT_INLINE Self atomicAdd(Self* address, Self value) {
    return atomic_update(address, [value](const Self& old) SIMT_RAW { return old + value; });
  }
};

}  // namespace simt

/// Conversions between `type` and the integer type T; `name` as CUDA spells it, as in
/// __half2int_rn.
#define SIMT_INTEGER_CONVERSIONS(type, short_name, T, name)       \
  SIMT_INTEGER_CONVERSION(type, short_name, T, name, rn, nearest) \
  SIMT_INTEGER_CONVERSION(type, short_name, T, name, rz, zero)    \
  SIMT_INTEGER_CONVERSION(type, short_name, T, name, rd, down)    \
  SIMT_INTEGER_CONVERSION(type, short_name, T, name, ru, up)
#define SIMT_INTEGER_CONVERSION(type, short_name, T, name, suffix, rounding) \
  SIMT_INLINE T __##short_name##2##name##_##suffix(type a) {                 \
    return simt::to_integer<T>(a, simt::Rounding::rounding);                 \
  }                                                                          \
  SIMT_INLINE type __##name##2##short_name##_##suffix(T a) {                 \
    return type::rounded(static_cast<double>(a), simt::Rounding::rounding);  \
  }
/// All conversions of `type` that do not name pairs.
#define SIMT_CONVERSIONS(type, short_name)                                                   \
  SIMT_INTEGER_CONVERSIONS(type, short_name, int, int)                                       \
  SIMT_INTEGER_CONVERSIONS(type, short_name, unsigned, uint)                                 \
  SIMT_INTEGER_CONVERSIONS(type, short_name, short, short)                                   \
  SIMT_INTEGER_CONVERSIONS(type, short_name, unsigned short, ushort)                         \
  SIMT_INTEGER_CONVERSIONS(type, short_name, long long, ll)                                  \
  SIMT_INTEGER_CONVERSIONS(type, short_name, unsigned long long, ull)                        \
  SIMT_INLINE type __float2##short_name(float a) { return type(a); }                         \
  SIMT_INLINE type __double2##short_name(double a) { return type(a); }                       \
  SIMT_INLINE type __float2##short_name##_rn(float a) { return type(a); }                    \
  SIMT_INLINE type __float2##short_name##_rz(float a) {                                      \
    return type::rounded(a, simt::Rounding::zero);                                           \
  }                                                                                          \
  SIMT_INLINE type __float2##short_name##_rd(float a) {                                      \
    return type::rounded(a, simt::Rounding::down);                                           \
  }                                                                                          \
  SIMT_INLINE type __float2##short_name##_ru(float a) {                                      \
    return type::rounded(a, simt::Rounding::up);                                             \
  }                                                                                          \
  SIMT_INLINE short __##short_name##_as_short(type a) { return static_cast<short>(a.bits); } \
  SIMT_INLINE unsigned short __##short_name##_as_ushort(type a) { return a.bits; }           \
  SIMT_INLINE type __short_as_##short_name(short a) {                                        \
    return type::from_bits(static_cast<std::uint16_t>(a));                                   \
  }                                                                                          \
  SIMT_INLINE type __ushort_as_##short_name(unsigned short a) { return type::from_bits(a); }
