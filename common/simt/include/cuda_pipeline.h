#pragma once
/// \file
/// The primitives of asynchronous copies: __pipeline_memcpy_async and its kin.

#include <cstddef>

#include "../async.hpp"
#include "cuda_awbarrier_primitives.h"

/// Copies 4, 8 or 16 bytes; the last `zeros` of them are zeros instead.
SIMT_INLINE void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes,
                                         std::size_t zeros = 0) {
  static constexpr char nothing[16] = {};
  const std::size_t copied = bytes - zeros;
  if (copied > 0) simt::async_copy(to, from, copied);
  if (zeros > 0) simt::async_copy(static_cast<char*>(to) + copied, nothing, zeros);
}
SIMT_INLINE void __pipeline_commit() { simt::async_commit(); }
SIMT_INLINE void __pipeline_wait_prior(std::size_t groups) {
  simt::async_wait(static_cast<unsigned>(groups));
}
/// The barrier's current phase ends only when what this thread has begun to copy is there. Does not
/// count as an arrival.
SIMT_INLINE void __pipeline_arrive_on(__mbarrier_t* barrier) {
  simt::mbarrier_take_copies(barrier);
}
