#pragma once
/// \file
/// Cooperative groups: reductions over the lanes of a group.

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class T>
struct plus {
  SIMT_INLINE T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  SIMT_INLINE T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  SIMT_INLINE T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  SIMT_INLINE T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
  SIMT_INLINE T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
  SIMT_INLINE T operator()(T a, T b) const { return a ^ b; }
};

/// The combined values of all threads of the group, for all of them. Tiles: lanes whose ranks
/// differ in one bit exchange values.
template <unsigned Size, class Parent, class T, class Op>
SIMT_INLINE T reduce(const thread_block_tile<Size, Parent>& group, const T& value, Op op) {
  T result = value;
  for (unsigned mask = Size / 2; mask > 0; mask /= 2) {
    result = op(result, group.shfl_xor(result, mask));
  }
  return result;
}
/// Groups of any size: a tree to rank 0.
template <class T, class Op>
SIMT_INLINE T reduce(const coalesced_group& group, const T& value, Op op) {
  const unsigned rank = group.thread_rank(), size = group.num_threads();
  T result = value;
  for (unsigned distance = 1; distance < size; distance *= 2) {
    const T other = group.shfl_down(result, distance);
    if (rank % (2 * distance) == 0 && rank + distance < size) result = op(result, other);
  }
  return group.shfl(result, 0);
}

}  // namespace cooperative_groups
