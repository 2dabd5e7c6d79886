#pragma once
/// \file
/// CUDA's mathematics beyond the standard library's: min and max, fast forms, forms with a rounding
/// mode, conversions, and functions that C++ lacks. The fast forms are exact here.

#include <math.h>
#include <stdlib.h>

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "../access.hpp"

// ---- min and max ----

#define SIMT_MIN_MAX(T, A, B)                             \
  SIMT_INLINE T min(A a, B b) {                           \
    const T x = static_cast<T>(a), y = static_cast<T>(b); \
    return y < x ? y : x;                                 \
  }                                                       \
  SIMT_INLINE T max(A a, B b) {                           \
    const T x = static_cast<T>(a), y = static_cast<T>(b); \
    return x < y ? y : x;                                 \
  }
/// A type and its unsigned form; mixed, the unsigned one wins.
#define SIMT_MIN_MAX_INTEGER(T)                    \
  SIMT_MIN_MAX(T, T, T)                            \
  SIMT_MIN_MAX(unsigned T, unsigned T, unsigned T) \
  SIMT_MIN_MAX(unsigned T, T, unsigned T)          \
  SIMT_MIN_MAX(unsigned T, unsigned T, T)
SIMT_MIN_MAX_INTEGER(int)
SIMT_MIN_MAX_INTEGER(long)
SIMT_MIN_MAX_INTEGER(long long)
#undef SIMT_MIN_MAX_INTEGER
#undef SIMT_MIN_MAX

namespace simt {
/// As a GPU's instructions: of NaN and a number the number, and -0.0 is smaller than 0.0 (PTX ISA,
/// "min"). The host's fmin and fmax leave the second open.
template <class T>
SIMT_INLINE T smaller(T a, T b) {
  return a == b ? (std::signbit(a) ? a : b) : std::fmin(a, b);
}
template <class T>
SIMT_INLINE T larger(T a, T b) {
  return a == b ? (std::signbit(a) ? b : a) : std::fmax(a, b);
}
}  // namespace simt
/// What the rewriter writes for fminf and fmaxf.
#define SIM_FMINF simt::smaller<float>
#define SIM_FMAXF simt::larger<float>

#define SIMT_MIN_MAX(T, A, B)                                       \
  SIMT_INLINE T min(A a, B b) { return simt::smaller(T(a), T(b)); } \
  SIMT_INLINE T max(A a, B b) { return simt::larger(T(a), T(b)); }
SIMT_MIN_MAX(float, float, float)
SIMT_MIN_MAX(double, double, double)
SIMT_MIN_MAX(double, float, double)
SIMT_MIN_MAX(double, double, float)
#undef SIMT_MIN_MAX

#define SIMT_NAMED_MIN_MAX(name, T, function) \
  SIMT_INLINE T name(T a, T b) { return function(a, b); }
SIMT_NAMED_MIN_MAX(umin, unsigned, min)
SIMT_NAMED_MIN_MAX(umax, unsigned, max)
SIMT_NAMED_MIN_MAX(llmin, long long, min)
SIMT_NAMED_MIN_MAX(llmax, long long, max)
SIMT_NAMED_MIN_MAX(ullmin, unsigned long long, min)
SIMT_NAMED_MIN_MAX(ullmax, unsigned long long, max)
#undef SIMT_NAMED_MIN_MAX

// ---- Functions that C++ lacks, for float (with f) and double ----

namespace simt {
constexpr double pi = 3.14159265358979323846;

/// sin(pi x): the argument is reduced exactly first.
template <class T>
T sin_pi(T x) {
  const T r = std::remainder(x, T(2));  // -1 .. 1
  if (std::fabs(r) == T(1)) return std::copysign(T(0), x);
  return static_cast<T>(std::sin(pi * static_cast<double>(r)));
}
template <class T>
T cos_pi(T x) {
  const T r = std::fabs(std::remainder(x, T(2)));
  if (r == T(0.5)) return T(0);
  return static_cast<T>(std::cos(pi * static_cast<double>(r)));
}
/// exp(x^2) erfc(x), by its continued fraction where the factors would overflow or vanish.
inline double scaled_erfc(double x) {
  if (x < 10) return std::exp(x * x) * std::erfc(x);
  double fraction = x;
  for (int k = 30; k > 0; --k) fraction = x + 0.5 * k / fraction;
  return 1 / (fraction * std::sqrt(pi));
}
/// What erf() has the value y for, |y| <= 0.5: Halley's method from the slope at 0.
inline double inverse_erf_of_small(double y) {
  double x = std::sqrt(pi) / 2 * y;
  for (int step = 0; step < 4; ++step) {
    const double error = std::erf(x) - y;
    x -= error / (2 / std::sqrt(pi) * std::exp(-x * x) + x * error);
  }
  return x;
}
/// What erfc() has the value y for: a rational approximation of the normal distribution's quantile
/// (Abramowitz and Stegun, 26.2.22), then three steps by Halley's method.
inline double inverse_erfc(double y) {
  if (!(y >= 0 && y <= 2)) return std::nan("");
  if (y == 0 || y == 2) return y == 0 ? INFINITY : -INFINITY;
  if (y >= 0.5 && y <= 1.5) return inverse_erf_of_small(1 - y);
  const double tail = y < 1 ? y : 2 - y, t = std::sqrt(-2 * std::log(tail / 2));
  double x = (t - (2.30753 + 0.27061 * t) / (1 + t * (0.99229 + 0.04481 * t))) / std::sqrt(2.0);
  for (int step = 0; step < 3; ++step) {
    const double error = std::erfc(x) - tail;
    x += error / (2 / std::sqrt(pi) * std::exp(-x * x) - x * error);
  }
  return y < 1 ? x : -x;
}
inline double inverse_erf(double y) {
  if (std::fabs(y) <= 0.5) return inverse_erf_of_small(y);
  return y > 0 ? inverse_erfc(1 - y) : -inverse_erfc(1 + y);
}
/// The regular modified cylindrical Bessel function of order 0 or 1, by its series: all of its
/// terms have one sign.
inline double bessel_i(int order, double x) {
  if (std::fabs(x) > 714) return order == 1 && x < 0 ? -HUGE_VAL : HUGE_VAL;  // too large
  double term = order == 0 ? 1 : x / 2, sum = term;
  for (int k = 1; std::fabs(term) > std::fabs(sum) * 1e-17; ++k) {
    term *= x * x / 4 / k / (k + order);
    sum += term;
  }
  return sum;
}
template <class T>
double length_of(int count, const T* p) {
  double length = 0;
  for (int k = 0; k < count; ++k) length = std::hypot(length, double(p[k]));
  return length;
}
}  // namespace simt

/// One formula, computed in double for float.
#define SIMT_MATH1(name, formula)                       \
  SIMT_INLINE double name(double x) { return formula; } \
  SIMT_INLINE float name##f(float value) {              \
    const double x = static_cast<double>(value);        \
    return static_cast<float>(formula);                 \
  }                                                     \
  SIMT_INLINE float name(float value) { return name##f(value); }
SIMT_MATH1(rsqrt, 1 / std::sqrt(x))
SIMT_MATH1(rcbrt, 1 / std::cbrt(x))
SIMT_MATH1(sinpi, simt::sin_pi(x))
SIMT_MATH1(cospi, simt::cos_pi(x))
SIMT_MATH1(erfcx, simt::scaled_erfc(x))
SIMT_MATH1(normcdf, 0.5 * std::erfc(-x / std::sqrt(2.0)))
SIMT_MATH1(erfinv, simt::inverse_erf(x))
SIMT_MATH1(erfcinv, simt::inverse_erfc(x))
SIMT_MATH1(normcdfinv, -std::sqrt(2.0) * simt::inverse_erfc(2 * x))
SIMT_MATH1(cyl_bessel_i0, simt::bessel_i(0, x))
SIMT_MATH1(cyl_bessel_i1, simt::bessel_i(1, x))
#undef SIMT_MATH1
#define SIMT_MATH(name, doubles, floats, formula)     \
  SIMT_INLINE double name doubles { return formula; } \
  SIMT_INLINE float name##f floats { return static_cast<float>(formula); }
SIMT_MATH(rhypot, (double x, double y), (float x, float y), 1 / std::hypot(double(x), double(y)))
SIMT_MATH(norm3d, (double x, double y, double z), (float x, float y, float z),
          std::hypot(double(x), double(y), double(z)))
SIMT_MATH(rnorm3d, (double x, double y, double z), (float x, float y, float z),
          1 / std::hypot(double(x), double(y), double(z)))
SIMT_MATH(norm4d, (double x, double y, double z, double w), (float x, float y, float z, float w),
          std::hypot(std::hypot(double(x), double(y)), std::hypot(double(z), double(w))))
SIMT_MATH(rnorm4d, (double x, double y, double z, double w), (float x, float y, float z, float w),
          1 / std::hypot(std::hypot(double(x), double(y)), std::hypot(double(z), double(w))))
#undef SIMT_MATH
SIMT_INLINE double norm(int count, const double* p) { return simt::length_of(count, p); }
SIMT_INLINE double rnorm(int count, const double* p) { return 1 / simt::length_of(count, p); }
SIMT_INLINE float normf(int count, const float* p) {
  return static_cast<float>(simt::length_of(count, p));
}
SIMT_INLINE float rnormf(int count, const float* p) {
  return static_cast<float>(1 / simt::length_of(count, p));
}
SIMT_INLINE void sincospi(double x, double* sine, double* cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}
SIMT_INLINE void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
SIMT_INLINE float fdividef(float x, float y) { return x / y; }

// ---- Fast forms ----

SIMT_INLINE float __sinf(float x) { return std::sin(x); }
SIMT_INLINE float __cosf(float x) { return std::cos(x); }
SIMT_INLINE float __tanf(float x) { return std::tan(x); }
SIMT_INLINE void __sincosf(float x, float* sine, float* cosine) {
  *sine = std::sin(x);
  *cosine = std::cos(x);
}
SIMT_INLINE float __tanhf(float x) { return std::tanh(x); }
SIMT_INLINE float __expf(float x) { return std::exp(x); }
SIMT_INLINE float __exp10f(float x) { return static_cast<float>(std::pow(10.0, double(x))); }
SIMT_INLINE float __exp2f(float x) { return std::exp2(x); }
SIMT_INLINE float __logf(float x) { return std::log(x); }
SIMT_INLINE float __log2f(float x) { return std::log2(x); }
SIMT_INLINE float __log10f(float x) { return std::log10(x); }
SIMT_INLINE float __powf(float x, float y) { return std::pow(x, y); }
SIMT_INLINE float __fdividef(float x, float y) { return x / y; }
SIMT_INLINE float __frsqrt_rn(float x) { return rsqrtf(x); }
SIMT_INLINE float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }

// ---- Forms with a rounding mode: to nearest (rn), to zero (rz), up (ru), down (rd) ----

namespace simt {
/// f() in another rounding mode. f must not let the compiler compute anything elsewhere.
template <class F>
SIMT_RAW auto rounded(int mode, F f) {
  const int before = std::fegetround();
  std::fesetround(mode);
  const auto result = f();
  std::fesetround(before);
  return result;
}
}  // namespace simt

#define SIMT_ROUNDED(name, T, mode, formula) \
  SIMT_INLINE T name(SIMT_PARAMETERS) {      \
    return simt::rounded(mode, [=] {         \
      volatile SIMT_OPERANDS;                \
      volatile T result = formula;           \
      return T(result);                      \
    });                                      \
  }
#define SIMT_ROUNDINGS(name, T, formula)             \
  SIMT_INLINE T name##_rn(SIMT_PARAMETERS) {         \
    const SIMT_OPERANDS;                             \
    return formula;                                  \
  }                                                  \
  SIMT_ROUNDED(name##_rz, T, FE_TOWARDZERO, formula) \
  SIMT_ROUNDED(name##_ru, T, FE_UPWARD, formula)     \
  SIMT_ROUNDED(name##_rd, T, FE_DOWNWARD, formula)

#define SIMT_PARAMETERS float x_, float y_
#define SIMT_OPERANDS float x = x_, y = y_
SIMT_ROUNDINGS(__fadd, float, x + y)
SIMT_ROUNDINGS(__fsub, float, x - y)
SIMT_ROUNDINGS(__fmul, float, x* y)
SIMT_ROUNDINGS(__fdiv, float, x / y)
#undef SIMT_PARAMETERS
#undef SIMT_OPERANDS
#define SIMT_PARAMETERS double x_, double y_
#define SIMT_OPERANDS double x = x_, y = y_
SIMT_ROUNDINGS(__dadd, double, x + y)
SIMT_ROUNDINGS(__dsub, double, x - y)
SIMT_ROUNDINGS(__dmul, double, x* y)
SIMT_ROUNDINGS(__ddiv, double, x / y)
#undef SIMT_PARAMETERS
#undef SIMT_OPERANDS
#define SIMT_PARAMETERS float x_, float y_, float z_
#define SIMT_OPERANDS float x = x_, y = y_, z = z_
SIMT_ROUNDINGS(__fmaf, float, std::fma(float(x), float(y), float(z)))
#undef SIMT_PARAMETERS
#undef SIMT_OPERANDS
#define SIMT_PARAMETERS double x_, double y_, double z_
#define SIMT_OPERANDS double x = x_, y = y_, z = z_
SIMT_ROUNDINGS(__fma, double, std::fma(double(x), double(y), double(z)))
#undef SIMT_PARAMETERS
#undef SIMT_OPERANDS
#define SIMT_PARAMETERS float x_
#define SIMT_OPERANDS float x = x_
SIMT_ROUNDINGS(__frcp, float, 1.0f / x)
SIMT_ROUNDINGS(__fsqrt, float, std::sqrt(float(x)))
#undef SIMT_PARAMETERS
#undef SIMT_OPERANDS
#define SIMT_PARAMETERS double x_
#define SIMT_OPERANDS double x = x_
SIMT_ROUNDINGS(__drcp, double, 1.0 / x)
SIMT_ROUNDINGS(__dsqrt, double, std::sqrt(double(x)))
SIMT_ROUNDINGS(__double2float, float, static_cast<float>(x))
#undef SIMT_PARAMETERS
#undef SIMT_OPERANDS

// Integers to floating point. int and unsigned fit into double exactly.
#define SIMT_PARAMETERS int x_
#define SIMT_OPERANDS int x = x_
SIMT_ROUNDINGS(__int2float, float, static_cast<float>(x))
#undef SIMT_PARAMETERS
#undef SIMT_OPERANDS
#define SIMT_PARAMETERS unsigned x_
#define SIMT_OPERANDS unsigned x = x_
SIMT_ROUNDINGS(__uint2float, float, static_cast<float>(x))
#undef SIMT_PARAMETERS
#undef SIMT_OPERANDS
#define SIMT_PARAMETERS long long x_
#define SIMT_OPERANDS long long x = x_
SIMT_ROUNDINGS(__ll2float, float, static_cast<float>(x))
SIMT_ROUNDINGS(__ll2double, double, static_cast<double>(x))
#undef SIMT_PARAMETERS
#undef SIMT_OPERANDS
#define SIMT_PARAMETERS unsigned long long x_
#define SIMT_OPERANDS unsigned long long x = x_
SIMT_ROUNDINGS(__ull2float, float, static_cast<float>(x))
SIMT_ROUNDINGS(__ull2double, double, static_cast<double>(x))
#undef SIMT_PARAMETERS
#undef SIMT_OPERANDS
#undef SIMT_ROUNDINGS
#undef SIMT_ROUNDED
SIMT_INLINE double __int2double_rn(int x) { return x; }
SIMT_INLINE double __uint2double_rn(unsigned x) { return x; }

namespace simt {
/// To an integer as the hardware does it: what does not fit becomes the nearest that does; NaN
/// becomes 0, or the highest bit alone where the result has 64 bits.
template <class I, class F>
SIMT_INLINE I to_integer(F x) {
  if (x != x) return sizeof(I) == 8 ? I(std::uint64_t{1} << 63) : I(0);
  const F low = static_cast<F>(std::numeric_limits<I>::min());
  const F high = static_cast<F>(std::numeric_limits<I>::max());  // may be one too large
  if (x <= low) return std::numeric_limits<I>::min();
  if (x >= high) return std::numeric_limits<I>::max();
  return static_cast<I>(x);
}
}  // namespace simt

#define SIMT_TO_INTEGER(From, from, I, to)                                                      \
  SIMT_INLINE I __##from##2##to##_rn(From x) { return simt::to_integer<I>(std::nearbyint(x)); } \
  SIMT_INLINE I __##from##2##to##_rz(From x) { return simt::to_integer<I>(std::trunc(x)); }     \
  SIMT_INLINE I __##from##2##to##_ru(From x) { return simt::to_integer<I>(std::ceil(x)); }      \
  SIMT_INLINE I __##from##2##to##_rd(From x) { return simt::to_integer<I>(std::floor(x)); }
#define SIMT_TO_INTEGERS(From, from)          \
  SIMT_TO_INTEGER(From, from, int, int)       \
  SIMT_TO_INTEGER(From, from, unsigned, uint) \
  SIMT_TO_INTEGER(From, from, long long, ll)  \
  SIMT_TO_INTEGER(From, from, unsigned long long, ull)
SIMT_TO_INTEGERS(float, float)
SIMT_TO_INTEGERS(double, double)
#undef SIMT_TO_INTEGERS
#undef SIMT_TO_INTEGER
