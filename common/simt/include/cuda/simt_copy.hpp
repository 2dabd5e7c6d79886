#pragma once
/// \file
/// What the headers with asynchronous copies share.

#include <cstddef>

#include "../../async.hpp"

namespace cuda {

/// A number of bytes of which more is known: it and the addresses are multiples of Alignment.
template <std::size_t Alignment>
struct aligned_size_t {
  static constexpr std::size_t align = Alignment;
  std::size_t value;
  SIMT_INLINE explicit constexpr aligned_size_t(std::size_t bytes) : value(bytes) {}
  SIMT_INLINE constexpr operator std::size_t() const { return value; }
};

enum class async_contract_fulfillment { none, async };

}  // namespace cuda

namespace simt {

/// Cuts a copy into pieces of 16, 8 or 4 bytes, whatever the addresses allow, for begin(to, from,
/// bytes). What they do not allow is copied at once, as CUDA does. With several threads, each takes
/// every `threads`th piece.
template <class Begin>
SIMT_INLINE void cut_copy(void* to, const void* from, std::size_t bytes, unsigned thread,
                          unsigned threads, Begin begin) {
  const std::size_t bits =
      reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  const std::size_t piece = bits % 16 == 0 ? 16 : bits % 8 == 0 ? 8 : bits % 4 == 0 ? 4 : 1;
  auto* target = static_cast<char*>(to);
  const auto* source = static_cast<const char*>(from);
  for (std::size_t at = thread * piece; at < bytes; at += threads * piece) {
    std::size_t rest = bytes - at < piece ? bytes - at : piece, done = at;
    for (std::size_t width = piece; width >= 4; width /= 2) {
      if (rest < width) continue;
      begin(target + done, source + done, width);
      done += width;
      rest -= width;
    }
    for (; rest > 0; ++done, --rest) {
      access(source + done, 1, Access::load, __builtin_return_address(0));
      access(target + done, 1, Access::store, __builtin_return_address(0));
      target[done] = source[done];
    }
  }
}

/// Queues the pieces among the running thread's copies.
SIMT_RAW inline void copy_in_pieces(void* to, const void* from, std::size_t bytes, unsigned thread,
                                    unsigned threads) {
  cut_copy(to, from, bytes, thread, threads, async_copy);
}
/// The pieces belong to the barrier's current phase.
SIMT_RAW inline void copy_in_pieces(std::uint64_t* barrier, void* to, const void* from,
                                    std::size_t bytes, unsigned thread, unsigned threads) {
  const void* const pc = __builtin_return_address(0);
  cut_copy(to, from, bytes, thread, threads, [=](void* t, const void* f, std::size_t n) {
    mbarrier_copy_piece(barrier, t, f, n, pc);
  });
}
/// By the copy engine, started by the first thread, if all are multiples of 16 bytes; else in
/// pieces.
SIMT_INLINE void copy_to_barrier(std::uint64_t* barrier, void* to, const void* from,
                                 std::size_t bytes, unsigned thread, unsigned threads) {
  if ((reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from) | bytes) %
          16 !=
      0) {
    copy_in_pieces(barrier, to, from, bytes, thread, threads);
  } else if (thread == 0) {
    mbarrier_copy(barrier, to, from, bytes, false);
  }
}

}  // namespace simt
