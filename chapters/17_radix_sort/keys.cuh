#pragma once
/// \file
/// The order of keys: every type is sorted as unsigned integers that are ordered as its values are.
/// Floats: -NaN, -infinity, ..., -0.0, 0.0, ..., infinity, NaN (the order of IEEE 754, totalOrder).

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

namespace keys {

/// The unsigned integer as wide as a key.
template <class K>
using Bits = std::conditional_t<
    sizeof(K) == 8, std::uint64_t,
    std::conditional_t<sizeof(K) == 4, std::uint32_t,
                       std::conditional_t<sizeof(K) == 2, std::uint16_t, std::uint8_t>>>;

/// Which bits of a key change, by its highest bit.
template <class U>
struct Flip {
  U if_set, if_clear;

  __host__ __device__ U operator()(U bits) const {
    const bool is_set = bits >> (sizeof(U) * 8 - 1) != 0;
    return static_cast<U>(bits ^ (is_set ? if_set : if_clear));
  }
};

/// From the bits of keys to integers in the keys' order, and back.
template <class U>
struct Order {
  Flip<U> to, back;
};

enum class Kind { of_unsigned, of_signed, of_float };

template <class U>
Order<U> order_of(Kind kind, bool descending) {
  const U all = static_cast<U>(~U{0}), sign = static_cast<U>(U{1} << (sizeof(U) * 8 - 1));
  const U rest = static_cast<U>(all ^ sign);
  switch (kind) {
    case Kind::of_float:  // of negative numbers, the larger magnitude comes first
      if (descending) return {{0, rest}, {0, rest}};
      return {{all, sign}, {sign, all}};
    case Kind::of_signed:
      if (descending) return {{rest, rest}, {rest, rest}};
      return {{sign, sign}, {sign, sign}};
    default:
      if (descending) return {{all, all}, {all, all}};
      return {{0, 0}, {0, 0}};
  }
}

}  // namespace keys
