#pragma once
/// \file
/// Cooperative groups: copies that the threads of a group share and that land at wait().

#include "../cooperative_groups.h"
#include "../cuda/simt_copy.hpp"

namespace cooperative_groups {

/// Copies `bytes` (a number or a cuda::aligned_size_t). Each call is one stage for wait_prior().
template <class Group, class T, class Size>
SIMT_INLINE void memcpy_async(const Group& group, T* to, const T* from, const Size& bytes) {
  simt::copy_in_pieces(to, from, static_cast<std::size_t>(bytes),
                       static_cast<unsigned>(group.thread_rank()),
                       static_cast<unsigned>(group.num_threads()));
  simt::async_commit();
}
/// Copies as many elements as both have.
template <class Group, class T, class ToSize, class FromSize>
SIMT_INLINE void memcpy_async(const Group& group, T* to, const ToSize& to_elements, const T* from,
                              const FromSize& from_elements) {
  const std::size_t n = to_elements, m = from_elements;
  memcpy_async(group, to, from, sizeof(T) * (n < m ? n : m));
}

/// Until all but the last `Stages` copies have landed; then all threads of the group meet.
template <unsigned Stages, class Group>
SIMT_INLINE void wait_prior(const Group& group) {
  simt::async_wait(Stages);
  group.sync();
}
template <class Group>
SIMT_INLINE void wait(const Group& group) {
  simt::async_wait(0);
  group.sync();
}

}  // namespace cooperative_groups
