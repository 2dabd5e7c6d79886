#pragma once
/// \file
/// Declarations of launchers, for lists of rows. Host C++ only; a version knows nothing of it.

#include <cstdint>

/// Declares launchers of one type in the namespaces of up to 16 versions:
///
///     COURSE_LAUNCHERS(Transpose, (transpose), shared_tile, padded, swizzled);
///
/// Any of them may be missing from the link, so a file that does not compile stops only its own
/// row. (A test of every chapter, rows.AllAreThere, names launchers that are missing because their
/// declaration differs from their definition.)
#define COURSE_LAUNCHERS(type, names, ...)                   \
  COURSE_EACH(COURSE_DECLARE_IN, (type, names), __VA_ARGS__) \
  static_assert(true, "for the semicolon")

/// The same for launchers that a version has for several element types: `type` is a template.
/// Declared for every type that an array can hold; those that no row calls need not exist.
#define COURSE_TYPED_LAUNCHERS(type, names, ...)                 \
  COURSE_EACH(COURSE_DECLARE_ALL_IN, (type, names), __VA_ARGS__) \
  static_assert(true, "for the semicolon")

// clang-format off
#define COURSE_DECLARE_IN(of, space) namespace space { COURSE_DECLARE of }
#define COURSE_DECLARE_ALL_IN(of, space) namespace space { COURSE_DECLARE_ALL of }
#define COURSE_DECLARE(type, names) __attribute__((weak)) type COURSE_LIST names;
#define COURSE_DECLARE_ALL(type, names) \
  COURSE_DECLARE(type<float>, names) COURSE_DECLARE(type<double>, names) \
  COURSE_DECLARE(type<std::int32_t>, names) COURSE_DECLARE(type<std::int64_t>, names) \
  COURSE_DECLARE(type<std::uint8_t>, names) COURSE_DECLARE(type<std::uint16_t>, names) \
  COURSE_DECLARE(type<std::uint32_t>, names)
#define COURSE_LIST(...) __VA_ARGS__

// COURSE_EACH(each, of, a, b, ...) is each(of, a) each(of, b) ...
#define COURSE_EACH(each, of, ...) \
  COURSE_NTH(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)(each, of, __VA_ARGS__)
#define COURSE_NTH(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, n, ...) COURSE_EACH_##n
#define COURSE_EACH_1(each, of, a) each(of, a)
#define COURSE_EACH_2(each, of, a, ...) each(of, a) COURSE_EACH_1(each, of, __VA_ARGS__)
#define COURSE_EACH_3(each, of, a, ...) each(of, a) COURSE_EACH_2(each, of, __VA_ARGS__)
#define COURSE_EACH_4(each, of, a, ...) each(of, a) COURSE_EACH_3(each, of, __VA_ARGS__)
#define COURSE_EACH_5(each, of, a, ...) each(of, a) COURSE_EACH_4(each, of, __VA_ARGS__)
#define COURSE_EACH_6(each, of, a, ...) each(of, a) COURSE_EACH_5(each, of, __VA_ARGS__)
#define COURSE_EACH_7(each, of, a, ...) each(of, a) COURSE_EACH_6(each, of, __VA_ARGS__)
#define COURSE_EACH_8(each, of, a, ...) each(of, a) COURSE_EACH_7(each, of, __VA_ARGS__)
#define COURSE_EACH_9(each, of, a, ...) each(of, a) COURSE_EACH_8(each, of, __VA_ARGS__)
#define COURSE_EACH_10(each, of, a, ...) each(of, a) COURSE_EACH_9(each, of, __VA_ARGS__)
#define COURSE_EACH_11(each, of, a, ...) each(of, a) COURSE_EACH_10(each, of, __VA_ARGS__)
#define COURSE_EACH_12(each, of, a, ...) each(of, a) COURSE_EACH_11(each, of, __VA_ARGS__)
#define COURSE_EACH_13(each, of, a, ...) each(of, a) COURSE_EACH_12(each, of, __VA_ARGS__)
#define COURSE_EACH_14(each, of, a, ...) each(of, a) COURSE_EACH_13(each, of, __VA_ARGS__)
#define COURSE_EACH_15(each, of, a, ...) each(of, a) COURSE_EACH_14(each, of, __VA_ARGS__)
#define COURSE_EACH_16(each, of, a, ...) each(of, a) COURSE_EACH_15(each, of, __VA_ARGS__)
// clang-format on
