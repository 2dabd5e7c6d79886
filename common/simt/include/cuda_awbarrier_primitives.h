#pragma once
/// \file
/// The primitives of barriers in shared memory: __mbarrier_init and its kin.

#include <cstdint>

#include "../async.hpp"

using __mbarrier_t = std::uint64_t;
using __mbarrier_token_t = std::uint64_t;

SIMT_INLINE constexpr std::uint32_t __mbarrier_maximum_count() { return (1 << 20) - 1; }
SIMT_INLINE void __mbarrier_init(__mbarrier_t* barrier, std::uint32_t expected) {
  simt::mbarrier_init(barrier, expected);
}
SIMT_INLINE void __mbarrier_inval(__mbarrier_t* barrier) { simt::mbarrier_invalidate(barrier); }
SIMT_INLINE __mbarrier_token_t __mbarrier_arrive(__mbarrier_t* barrier) {
  return simt::mbarrier_arrive(barrier);
}
SIMT_INLINE __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t* barrier) {
  return simt::mbarrier_arrive(barrier, 1, 0, true);
}
SIMT_INLINE std::uint32_t __mbarrier_token_pending_count(__mbarrier_token_t token) {
  return simt::mbarrier_pending(token);
}
SIMT_INLINE bool __mbarrier_test_wait_parity(__mbarrier_t* barrier, bool parity) {
  if (simt::mbarrier_test(barrier, parity)) return true;
  simt::yield();
  return false;
}
SIMT_INLINE bool __mbarrier_test_wait(__mbarrier_t* barrier, __mbarrier_token_t token) {
  return __mbarrier_test_wait_parity(barrier, simt::mbarrier_parity(token));
}
/// The longest time to sleep, in nanoseconds, has no meaning here.
SIMT_INLINE bool __mbarrier_try_wait_parity(__mbarrier_t* barrier, bool parity, std::uint32_t) {
  return __mbarrier_test_wait_parity(barrier, parity);
}
SIMT_INLINE bool __mbarrier_try_wait(__mbarrier_t* barrier, __mbarrier_token_t token,
                                     std::uint32_t) {
  return __mbarrier_test_wait(barrier, token);
}
