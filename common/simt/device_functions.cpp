/// \file
/// The parts of the device side (include/device_functions.h) that need little of the engine.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cuda_runtime.h"
#include "engine.hpp"
#include "memory.hpp"

namespace simt {

// ---- Address spaces (device_functions.h) ----

bool in_shared_memory(const void* address) {
  return is_window(reinterpret_cast<std::uintptr_t>(address));
}
bool in_constant_memory(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) - ranges.constants < ranges.constants_bytes;
}
bool in_global_memory(const void* address) {
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  return a - ranges.heap < ranges.heap_bytes || a - ranges.variables < ranges.variables_bytes;
}
std::size_t shared_offset(const void* address) {
  return (reinterpret_cast<std::uintptr_t>(address) - ranges.windows) % window_bytes;
}

// ---- What the functions of a warp compute ----

namespace {

/// `source(lane, operand, first, last)`: which lane to read; first and last are the ends of the
/// lane's group. If that lane is outside the group, a lane keeps its own value.
template <class F>
void shuffle(WarpCall& call, F source) {
  for_lanes(call.mask, [&](int lane) {
    const int group = ~(call.width[lane] - 1) & 31;
    const int first = lane & group, last = first | (~group & 31);
    const int from = source(lane, call.argument[lane] & 31, first, last);
    call.result[lane] = from < 0 ? call.value[lane] : call.take(lane, from);
  });
}
template <class F>
void reduce(WarpCall& call, F f) {
  auto result = static_cast<std::uint32_t>(call.value[__builtin_ctz(call.mask)]);
  for_lanes(call.mask & (call.mask - 1),
            [&](int lane) { result = f(result, static_cast<std::uint32_t>(call.value[lane])); });
  for_lanes(call.mask, [&](int lane) { call.result[lane] = result; });
}
std::int32_t as_signed(std::uint32_t x) { return static_cast<std::int32_t>(x); }

}  // namespace

void shuffle_index(WarpCall& call) {
  shuffle(call,
          [](int, int operand, int first, int last) { return first | (operand & (last - first)); });
}
void shuffle_up(WarpCall& call) {
  shuffle(call, [](int lane, int operand, int first, int) {
    return lane - operand >= first ? lane - operand : -1;
  });
}
void shuffle_down(WarpCall& call) {
  shuffle(call, [](int lane, int operand, int, int last) {
    return lane + operand <= last ? lane + operand : -1;
  });
}
void shuffle_xor(WarpCall& call) {
  shuffle(call, [](int lane, int operand, int, int last) {
    return (lane ^ operand) <= last ? lane ^ operand : -1;
  });
}
void vote_ballot(WarpCall& call) {
  std::uint64_t votes = 0;
  for_lanes(call.mask, [&](int lane) { votes |= std::uint64_t{call.value[lane] != 0} << lane; });
  for_lanes(call.mask, [&](int lane) { call.result[lane] = votes; });
}
void match_any(WarpCall& call) {
  for_lanes(call.mask, [&](int lane) {
    std::uint64_t same = 0;
    for_lanes(call.mask, [&](int other) {
      same |= std::uint64_t{call.value[other] == call.value[lane]} << other;
    });
    call.result[lane] = same;
  });
}
void match_all(WarpCall& call) {
  match_any(call);
  for_lanes(call.mask, [&](int lane) {
    if (call.result[lane] != call.mask) call.result[lane] = 0;
  });
}
void reduce_add(WarpCall& call) {
  reduce(call, [](std::uint32_t a, std::uint32_t b) { return a + b; });
}
void reduce_and(WarpCall& call) {
  reduce(call, [](std::uint32_t a, std::uint32_t b) { return a & b; });
}
void reduce_or(WarpCall& call) {
  reduce(call, [](std::uint32_t a, std::uint32_t b) { return a | b; });
}
void reduce_xor(WarpCall& call) {
  reduce(call, [](std::uint32_t a, std::uint32_t b) { return a ^ b; });
}
void reduce_min_unsigned(WarpCall& call) {
  reduce(call, [](std::uint32_t a, std::uint32_t b) { return std::min(a, b); });
}
void reduce_max_unsigned(WarpCall& call) {
  reduce(call, [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
}
void reduce_min_signed(WarpCall& call) {
  reduce(call,
         [](std::uint32_t a, std::uint32_t b) { return as_signed(a) < as_signed(b) ? a : b; });
}
void reduce_max_signed(WarpCall& call) {
  reduce(call,
         [](std::uint32_t a, std::uint32_t b) { return as_signed(a) < as_signed(b) ? b : a; });
}

// ---- Atomics of 16 bytes (device_atomic_functions.h) ----

#if defined(__x86_64__)
__attribute__((target("cx16"))) Bits16 exchange_16(volatile void* p, Bits16 compare, Bits16 next,
                                                   bool always) noexcept {
  auto* const word = static_cast<volatile Bits16*>(p);
  for (;;) {
    const Bits16 before = __sync_val_compare_and_swap(word, compare, next);
    if (!always || before == compare) return before;
    compare = before;
  }
}
#else
Bits16 exchange_16(volatile void* p, Bits16 compare, Bits16 next, bool always) noexcept {
  auto* const word = static_cast<volatile Bits16*>(p);
  while (!__atomic_compare_exchange_n(word, &compare, next, false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST)) {
    if (!always) break;
  }
  return compare;
}
#endif

}  // namespace simt

long long clock64() {
  if (simt::current_thread != nullptr) {  // after this time the thread may stop waiting
    simt::current_thread->block->gang->idle_tests = 0;
  }
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void __trap() {
  simt::fail_kernel("trap", cudaErrorLaunchFailure, "calls __trap()", __builtin_return_address(0));
}
void __brkpt() {
  simt::fail_kernel("trap", cudaErrorLaunchFailure, "calls __brkpt()", __builtin_return_address(0));
}

/// Replaces the function of the C library, so that a kernel's assert() ends the kernel.
extern "C" [[noreturn]] void __assert_fail(const char* assertion, const char* file, unsigned line,
                                           const char* function) noexcept {
  if (simt::in_kernel()) {
    const simt::Unobserved unobserved;  // the strings' code may be the user's, and instrumented
    const std::string name = file;
    const std::string text = "stops at " + name.substr(name.rfind('/') + 1) + ":" +
                             std::to_string(line) + ": Assertion `" + assertion + "` failed.";
    simt::fail_kernel("assert", cudaErrorAssert, text.c_str(), nullptr);
  }
  std::fprintf(stderr, "%s:%u: %s: Assertion `%s` failed.\n", file, line, function, assertion);
  std::abort();
}
