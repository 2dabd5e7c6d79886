#pragma once
/// \file
/// Cooperative groups: prefix sums over the lanes of a group.

#include "reduce.h"

namespace cooperative_groups {

/// The combined values of the ranks up to the thread's own.
template <class Group, class T, class Op>
SIMT_INLINE T inclusive_scan(const Group& group, const T& value, Op op) {
  const unsigned rank = group.thread_rank(), size = group.num_threads();
  T result = value;
  for (unsigned distance = 1; distance < size; distance *= 2) {
    const T other = group.shfl_up(result, distance);
    if (rank >= distance) result = op(other, result);
  }
  return result;
}
template <class Group, class T>
SIMT_INLINE T inclusive_scan(const Group& group, const T& value) {
  return inclusive_scan(group, value, plus<T>());
}

/// The combined values of the ranks below; T{} for rank 0.
template <class Group, class T, class Op>
SIMT_INLINE T exclusive_scan(const Group& group, const T& value, Op op) {
  const T before = group.shfl_up(inclusive_scan(group, value, op), 1);
  return group.thread_rank() == 0 ? T{} : before;
}
template <class Group, class T>
SIMT_INLINE T exclusive_scan(const Group& group, const T& value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups
