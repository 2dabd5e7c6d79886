#pragma once
/// \file
/// Counter-based inputs: element i of an array is a pure function of (family, seed, i), the same on
/// the host and on the device, so that no array of inputs ever has to be copied or kept.

#include <cstdint>
#include <cstring>

#include "chapter/problem.hpp"

#ifdef __CUDACC__
#define COURSE_HOST_DEVICE __host__ __device__
#else
#define COURSE_HOST_DEVICE
#endif

namespace course {

/// 64 well mixed bits from a counter (the finaliser of SplitMix64: Steele, Lea, Flood, OOPSLA
/// 2014).
COURSE_HOST_DEVICE inline std::uint64_t mix(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = (i + 1) * 0x9E3779B97F4A7C15ull + seed * 0xD1B54A32D192ED03ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

/// Uniform in [-1, 1), a multiple of 2^-23, so exact as float and as double.
COURSE_HOST_DEVICE inline double uniform(std::uint64_t bits) {
  return static_cast<double>(static_cast<std::int64_t>(bits >> 40) - (1 << 23)) * 0x1p-23;
}

/// Near-normal: the sum of four uniform numbers. Mean 0, standard deviation 1, below 3.5 in
/// magnitude.
COURSE_HOST_DEVICE inline float near_normal(std::uint64_t bits) {
  const int sum = static_cast<int>(bits & 0xFFFF) + static_cast<int>(bits >> 16 & 0xFFFF) +
                  static_cast<int>(bits >> 32 & 0xFFFF) + static_cast<int>(bits >> 48);
  return static_cast<float>((sum - 2 * 0xFFFF) * (1 / 37837.2));
}

/// The upper half of a float, rounded to nearest even, as in __nv_bfloat16, but also for host code.
struct bf16 {
  std::uint16_t bits;

  bf16() = default;
  COURSE_HOST_DEVICE explicit bf16(float x) {
    std::uint32_t word;
    memcpy(&word, &x, sizeof word);
    const bool is_nan = (word & 0x7FFFFFFFu) > 0x7F800000u;
    bits = is_nan ? 0x7FFF : static_cast<std::uint16_t>((word + 0x7FFFu + (word >> 16 & 1u)) >> 16);
  }
  COURSE_HOST_DEVICE operator float() const {
    const std::uint32_t word = static_cast<std::uint32_t>(bits) << 16;
    float x;
    memcpy(&x, &word, sizeof x);
    return x;
  }
};

/// Element i of an array, as a double that T holds exactly.
template <class T>
COURSE_HOST_DEVICE T value(Input input, std::uint64_t seed, std::int64_t i) {
  const std::uint64_t bits = mix(seed, static_cast<std::uint64_t>(i));
  constexpr bool is_integer = static_cast<T>(0.5) == static_cast<T>(0);
  switch (input) {
    case Input::integers:
      // As often below zero as above, so that sums of very many of them stay small as well.
      return static_cast<T>(static_cast<int>(bits >> 40) % 15 + (is_integer ? 0 : -7));
    case Input::equal:
      return static_cast<T>(1);
    case Input::ascending:
      return static_cast<T>(i % (1 << 24));
    case Input::descending:
      return static_cast<T>((1 << 24) - 1 - i % (1 << 24));
    case Input::few_distinct:
      return static_cast<T>(bits >> 62);
    case Input::denormal:
      return static_cast<T>(uniform(bits) * 0x1p-126);
    case Input::zeros:
      return static_cast<T>(0);
    case Input::large:
      return static_cast<T>(is_integer ? bits >> 36 : uniform(bits) * 0x1p120);
    case Input::random:
      break;
  }
  return is_integer ? static_cast<T>(bits >> 33) : static_cast<T>(uniform(bits));
}

/// Rounded to the nearest bf16.
template <>
COURSE_HOST_DEVICE inline bf16 value<bf16>(Input input, std::uint64_t seed, std::int64_t i) {
  return bf16(value<float>(input, seed, i));
}

/// The same, but near-normal for Input::random.
template <class T>
COURSE_HOST_DEVICE T normal_value(Input input, std::uint64_t seed, std::int64_t i) {
  if (input != Input::random) return value<T>(input, seed, i);
  return static_cast<T>(near_normal(mix(seed, static_cast<std::uint64_t>(i))));
}

/// value(), but element k - 1, 2k - 1, ... loses its sign, for k = magnitude_every > 0.
template <class T>
COURSE_HOST_DEVICE T value(Input input, std::uint64_t seed, std::int64_t i,
                           std::int64_t magnitude_every) {
  const T x = value<T>(input, seed, i);
  constexpr bool has_sign = static_cast<T>(-1) < static_cast<T>(1);
  if constexpr (has_sign) {
    if (magnitude_every > 0 && (i + 1) % magnitude_every == 0 && x < 0) return -x;
  }
  return x;
}

template <>
COURSE_HOST_DEVICE inline bf16 value<bf16>(Input input, std::uint64_t seed, std::int64_t i,
                                           std::int64_t magnitude_every) {
  return bf16(value<float>(input, seed, i, magnitude_every));
}

}  // namespace course
