#pragma once
/// \file
/// The order of keys: every type is sorted as unsigned integers that are ordered as its values are.
/// Floats: -NaN, -infinity, ..., -0.0, 0.0, ..., infinity, NaN (the order of IEEE 754, totalOrder).

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace keys {

/// The unsigned integer as wide as a key.
template <class T>
using Ordered = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

/// An integer that is less than another one if, and only if, its key comes before the other's.
template <class T>
__host__ __device__ Ordered<T> ordered(T key) {
  using U = Ordered<T>;
  constexpr U sign = U{1} << (sizeof(U) * 8 - 1);
  U bits;
  memcpy(&bits, &key, sizeof bits);
  if (std::is_floating_point<T>::value) return bits ^ ((bits & sign) != 0 ? ~U{0} : sign);
  return std::is_signed<T>::value ? bits ^ sign : bits;
}

/// The key that `ordered` made this integer of.
template <class T>
__host__ __device__ T key_of(Ordered<T> bits) {
  using U = Ordered<T>;
  constexpr U sign = U{1} << (sizeof(U) * 8 - 1);
  if (std::is_floating_point<T>::value)
    bits ^= (bits & sign) != 0 ? sign : ~U{0};
  else if (std::is_signed<T>::value)
    bits ^= sign;
  T key;
  memcpy(&key, &bits, sizeof key);
  return key;
}

}  // namespace keys
