#pragma once
/// \file
/// malloc, new, memcpy and memset of the C library, as kernels call them. In instrumented code the
/// assembler puts the engine's functions (device_heap.cpp) in their places, which go on to the
/// library's own when the host calls.

#include <cstddef>
#include <cstring>

#if SIMT_INSTRUMENTED && defined(__ELF__)
extern "C" {
void* simt_memcpy(void* to, const void* from, std::size_t bytes) noexcept;
void* simt_memmove(void* to, const void* from, std::size_t bytes) noexcept;
void* simt_memset(void* to, int value, std::size_t bytes) noexcept;

#if !defined(__clang__)
// GCC would expand calls of a known size and report nothing. The sizes of one access it reports.
#define SIMT_ONE_ACCESS(bytes) \
  (__builtin_constant_p(bytes) && (bytes) <= 16 && ((bytes) & ((bytes)-1)) == 0)
#define SIMT_LIBRARY extern inline __attribute__((always_inline, gnu_inline, artificial)) void*
SIMT_LIBRARY memcpy(void* __restrict to, const void* __restrict from, std::size_t bytes) noexcept {
  if (SIMT_ONE_ACCESS(bytes)) return __builtin_memcpy(to, from, bytes);
  return simt_memcpy(to, from, bytes);
}
SIMT_LIBRARY memmove(void* to, const void* from, std::size_t bytes) noexcept {
  if (SIMT_ONE_ACCESS(bytes)) return __builtin_memmove(to, from, bytes);
  return simt_memmove(to, from, bytes);
}
SIMT_LIBRARY memset(void* to, int value, std::size_t bytes) noexcept {
  if (SIMT_ONE_ACCESS(bytes) && bytes <= 8) return __builtin_memset(to, value, bytes);
  return simt_memset(to, value, bytes);
}
#undef SIMT_LIBRARY
#undef SIMT_ONE_ACCESS
#endif
}

__asm__(
    ".set memcpy, simt_memcpy\n"
    ".set memmove, simt_memmove\n"
    ".set memset, simt_memset\n"
    ".set malloc, simt_malloc\n"
    ".set free, simt_free\n"
    ".set _Znwm, simt_new\n"
    ".set _Znam, simt_new\n"
    ".set _ZnwmRKSt9nothrow_t, simt_new_nothrow\n"
    ".set _ZnamRKSt9nothrow_t, simt_new_nothrow\n"
    ".set _ZdlPv, simt_delete\n"
    ".set _ZdaPv, simt_delete\n"
    ".set _ZdlPvm, simt_delete\n"
    ".set _ZdaPvm, simt_delete\n");
#endif
