#pragma once
/// \file
/// CUDA's SIMD functions on 32-bit words: two halves of 16 bits (__vadd2) or four bytes (__vadd4);
/// and the largest or smallest of three (__vimax3_s32), of halves and of whole words.

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include "../simt.hpp"

namespace simt {

/// f(a, b) on each part of two words; T: the type of a part. What f returns is cut to its size.
template <class T, class F>
SIMT_RAW unsigned by_parts(unsigned a, unsigned b, F f) {
  using Bits = std::make_unsigned_t<T>;
  unsigned result = 0;
  for (unsigned at = 0; at < 32; at += 8 * sizeof(T)) {
    const int x = static_cast<T>(static_cast<Bits>(a >> at));
    const int y = static_cast<T>(static_cast<Bits>(b >> at));
    result |= static_cast<unsigned>(static_cast<Bits>(f(x, y))) << at;
  }
  return result;
}
/// The sum of f(a, b) over the parts.
template <class T, class F>
SIMT_RAW unsigned sum_of_parts(unsigned a, unsigned b, F f) {
  unsigned sum = 0;
  by_parts<T>(a, b, [&](int x, int y) { return sum += static_cast<unsigned>(f(x, y)), 0; });
  return sum;
}
template <class T>
SIMT_RAW int saturated(int x) {
  constexpr int least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  return x < least ? least : x > most ? most : x;
}

}  // namespace simt

#define SIMT_PARTS(name, T, formula)                                               \
  SIMT_INLINE unsigned name(unsigned a, unsigned b) {                              \
    return simt::by_parts<T>(a, b, [](int x, int y) SIMT_RAW { return formula; }); \
  }
#define SIMT_PARTS1(name, T, formula)                                            \
  SIMT_INLINE unsigned name(unsigned a) {                                        \
    return simt::by_parts<T>(a, 0, [](int x, int) SIMT_RAW { return formula; }); \
  }
#define SIMT_SUM_OF_PARTS(name, T, formula)                                            \
  SIMT_INLINE unsigned name(unsigned a, unsigned b) {                                  \
    return simt::sum_of_parts<T>(a, b, [](int x, int y) SIMT_RAW { return formula; }); \
  }
/// All bits of the part, and the lowest alone.
#define SIMT_COMPARE(name, n, T, comparison)            \
  SIMT_PARTS(__vcmp##name##n, T, (comparison) ? -1 : 0) \
  SIMT_PARTS(__vset##name##n, T, (comparison) ? 1 : 0)
#define SIMT_SIMD(n, S, U)                                     \
  SIMT_PARTS(__vadd##n, U, x + y)                              \
  SIMT_PARTS(__vaddss##n, S, simt::saturated<S>(x + y))        \
  SIMT_PARTS(__vaddus##n, U, simt::saturated<U>(x + y))        \
  SIMT_PARTS(__vsub##n, U, x - y)                              \
  SIMT_PARTS(__vsubss##n, S, simt::saturated<S>(x - y))        \
  SIMT_PARTS(__vsubus##n, U, simt::saturated<U>(x - y))        \
  SIMT_PARTS(__vmaxs##n, S, x < y ? y : x)                     \
  SIMT_PARTS(__vmaxu##n, U, x < y ? y : x)                     \
  SIMT_PARTS(__vmins##n, S, x < y ? x : y)                     \
  SIMT_PARTS(__vminu##n, U, x < y ? x : y)                     \
  SIMT_PARTS(__vabsdiffs##n, S, std::abs(x - y))               \
  SIMT_PARTS(__vabsdiffu##n, U, std::abs(x - y))               \
  SIMT_PARTS(__vavgs##n, S, (x + y + (x + y >= 0)) >> 1)       \
  SIMT_PARTS(__vavgu##n, U, (x + y + 1) / 2)                   \
  SIMT_PARTS(__vhaddu##n, U, (x + y) / 2)                      \
  SIMT_PARTS1(__vabs##n, S, std::abs(x))                       \
  SIMT_PARTS1(__vabsss##n, S, simt::saturated<S>(std::abs(x))) \
  SIMT_PARTS1(__vneg##n, S, -x)                                \
  SIMT_PARTS1(__vnegss##n, S, simt::saturated<S>(-x))          \
  SIMT_SUM_OF_PARTS(__vsads##n, S, std::abs(x - y))            \
  SIMT_SUM_OF_PARTS(__vsadu##n, U, std::abs(x - y))            \
  SIMT_COMPARE(eq, n, U, x == y)                               \
  SIMT_COMPARE(ne, n, U, x != y)                               \
  SIMT_COMPARE(ges, n, S, x >= y)                              \
  SIMT_COMPARE(geu, n, U, x >= y)                              \
  SIMT_COMPARE(gts, n, S, x > y)                               \
  SIMT_COMPARE(gtu, n, U, x > y)                               \
  SIMT_COMPARE(les, n, S, x <= y)                              \
  SIMT_COMPARE(leu, n, U, x <= y)                              \
  SIMT_COMPARE(lts, n, S, x < y)                               \
  SIMT_COMPARE(ltu, n, U, x < y)
SIMT_SIMD(2, std::int16_t, std::uint16_t)
SIMT_SIMD(4, std::int8_t, std::uint8_t)
#undef SIMT_SIMD
#undef SIMT_COMPARE
#undef SIMT_SUM_OF_PARTS
#undef SIMT_PARTS1
#undef SIMT_PARTS

// ---- The largest and the smallest of a sum and a number, of three, of two and which one ----

namespace simt {
template <class T>
SIMT_INLINE T larger_of(T a, T b) {
  return a < b ? b : a;
}
template <class T>
SIMT_INLINE T smaller_of(T a, T b) {
  return b < a ? b : a;
}
/// a + b cut to its size, as the hardware adds.
template <class T>
SIMT_INLINE T wrapped_sum(T a, T b) {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                        static_cast<std::make_unsigned_t<T>>(b));
}
template <class T>
SIMT_INLINE T low_half(unsigned word) {
  return static_cast<T>(static_cast<std::uint16_t>(word));
}
/// f(low, low, ...) and f(high, high, ...) of words of two T.
template <class T, class F, class... Words>
SIMT_INLINE unsigned by_halves(F f, Words... words) {
  return static_cast<std::uint16_t>(f(low_half<T>(words)...)) |
         static_cast<unsigned>(static_cast<std::uint16_t>(f(low_half<T>(words >> 16)...))) << 16;
}
}  // namespace simt

/// The forms for T itself, and the words of two halves H; `end` is the type in the name.
#define SIMT_EXTREMES(extreme, pick, not_worse, T, end, H, end2)                                   \
  SIMT_INLINE T __viadd##extreme##_##end(T a, T b, T c) {                                          \
    return simt::pick(simt::wrapped_sum(a, b), c);                                                 \
  }                                                                                                \
  SIMT_INLINE T __vi##extreme##3_##end(T a, T b, T c) { return simt::pick(simt::pick(a, b), c); }  \
  SIMT_INLINE T __vib##extreme##_##end(T a, T b, bool* first) {                                    \
    *first = a not_worse b;                                                                        \
    return simt::pick(a, b);                                                                       \
  }                                                                                                \
  SIMT_INLINE unsigned __viadd##extreme##_##end2(unsigned a, unsigned b, unsigned c) {             \
    return simt::by_halves<H>(                                                                     \
        [](H x, H y, H z) { return simt::pick(simt::wrapped_sum(x, y), z); }, a, b, c);            \
  }                                                                                                \
  SIMT_INLINE unsigned __vi##extreme##3_##end2(unsigned a, unsigned b, unsigned c) {               \
    return simt::by_halves<H>([](H x, H y, H z) { return simt::pick(simt::pick(x, y), z); }, a, b, \
                              c);                                                                  \
  }                                                                                                \
  SIMT_INLINE unsigned __vib##extreme##_##end2(unsigned a, unsigned b, bool* first_high,           \
                                               bool* first_low) {                                  \
    *first_high = simt::low_half<H>(a >> 16) not_worse simt::low_half<H>(b >> 16);                 \
    *first_low = simt::low_half<H>(a) not_worse simt::low_half<H>(b);                              \
    return simt::by_halves<H>([](H x, H y) { return simt::pick(x, y); }, a, b);                    \
  }
/// The signed ones with a floor of 0.
#define SIMT_EXTREMES_RELU(extreme)                                         \
  SIMT_INLINE int __vi##extreme##_s32_relu(int a, int b) {                  \
    return __vi##extreme##3_s32_relu(a, b, b);                              \
  }                                                                         \
  SIMT_INLINE unsigned __vi##extreme##_s16x2_relu(unsigned a, unsigned b) { \
    return __vi##extreme##3_s16x2_relu(a, b, b);                            \
  }
#define SIMT_EXTREME_RELU(name)                                                \
  SIMT_INLINE int name##_s32_relu(int a, int b, int c) {                       \
    return simt::larger_of(name##_s32(a, b, c), 0);                            \
  }                                                                            \
  SIMT_INLINE unsigned name##_s16x2_relu(unsigned a, unsigned b, unsigned c) { \
    return __vmaxs2(name##_s16x2(a, b, c), 0);                                 \
  }
SIMT_EXTREMES(max, larger_of, >=, int, s32, std::int16_t, s16x2)
SIMT_EXTREMES(max, larger_of, >=, unsigned, u32, std::uint16_t, u16x2)
SIMT_EXTREMES(min, smaller_of, <=, int, s32, std::int16_t, s16x2)
SIMT_EXTREMES(min, smaller_of, <=, unsigned, u32, std::uint16_t, u16x2)
SIMT_EXTREME_RELU(__viaddmax)
SIMT_EXTREME_RELU(__viaddmin)
SIMT_EXTREME_RELU(__vimax3)
SIMT_EXTREME_RELU(__vimin3)
SIMT_EXTREMES_RELU(max)
SIMT_EXTREMES_RELU(min)
#undef SIMT_EXTREMES
#undef SIMT_EXTREME_RELU
#undef SIMT_EXTREMES_RELU
