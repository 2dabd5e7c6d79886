#pragma once
/// \file
/// CUDA's words for functions and variables. A function for the device is an ordinary function.

#define SIMT 1

/// The words of CUDA as the rewriter writes them: `__device__` becomes SIM_DEVICE. Macros of CUDA's
/// own names would reach every header that is included after this one, and other libraries use
/// those names: libstdc++ writes `__attribute__((__noinline__))`.
/// A kernel is compiled apart from its launches: a null pointer seen there must not become
/// undefined behaviour.
#if defined(__clang__)
#define SIM_GLOBAL __attribute__((noinline))
#define SIM_BUILTIN_ASSUME __builtin_assume
#else
#define SIM_GLOBAL __attribute__((noipa))
#define SIM_BUILTIN_ASSUME(condition) ((condition) ? void(0) : __builtin_unreachable())
#endif
#define SIM_DEVICE
#define SIM_HOST
#define SIM_CONSTANT
#define SIM_MANAGED
#define SIM_GRID_CONSTANT
#define SIM_LAUNCH_BOUNDS(...)
#define SIM_MAXNREG(...)
#define SIM_CLUSTER_DIMS(...)
#define SIM_FORCEINLINE __inline__ __attribute__((always_inline))
#define SIM_NOINLINE __attribute__((noinline))
#define SIM_ALIGN(bytes) __attribute__((aligned(bytes)))

/// A C++ file is not rewritten. There the words mean what the toolkit's own header makes of them.
#if !defined(SIMT_REWRITTEN)
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ SIM_FORCEINLINE
#define __align__(bytes) SIM_ALIGN(bytes)
#endif
#define CUDARTAPI
#define CUDART_CB

/// Variables of namespace scope on the device; the rewriter puts them in place of __device__ and
/// __constant__. The engine knows by their section that kernels may use them.
#define SIMT_DEVICE_VARIABLE SIMT_IN_SECTION("simt_device")
#define SIMT_CONSTANT_VARIABLE SIMT_IN_SECTION("simt_constant")
#if defined(__clang__)
#define SIMT_IN_SECTION(name) __attribute__((section(name)))
#else
#define SIMT_IN_SECTION(name) __attribute__((section(name), no_reorder))
#endif

/// Behind the structures of a kernel's file (structures.py): how a GPU copies them.
/// Pointers in a section of their own: no code runs before main().
#define SIMT_TYPE(T) SIMT_TYPE_AT((::simt::know_type<T>), __COUNTER__)
#define SIMT_UNION(T) SIMT_TYPE_AT((::simt::know_union<T>), __COUNTER__)
#define SIMT_TYPE_OF(bytes, alignment) \
  SIMT_TYPE_AT((::simt::know_template<bytes, alignment>), __COUNTER__)
#define SIMT_TYPE_AT(know, number) SIMT_TYPE_NAMED(know, number)
#define SIMT_TYPE_NAMED(know, number) \
  __attribute__((used, section("simt_types"))) static void (*simt_type_##number)() = know;

/// Before each of them, what nobody may touch: 256 bytes that begin where the variable before ends,
/// and 64 that end where this one begins.
#define SIMT_GAP(section, text) \
  SIMT_GAP_OF(SIMT_IN_SECTION(section) __attribute__((used)), __COUNTER__, text)
#define SIMT_GAP_OF(attributes, number, text) SIMT_GAP_NAMED(attributes, number, text)
#define SIMT_GAP_NAMED(attributes, number, text)                                    \
  static attributes __attribute__((aligned(1))) char simt_gap_##number[256] = text; \
  static attributes __attribute__((aligned(64))) char simt_gap_end_##number[64] = {};
#define SIMT_DEVICE_GAP SIMT_GAP("simt_device", SIMT_GAP_TEXT)
#define SIMT_MANAGED_GAP SIMT_GAP("simt_device", SIMT_MANAGED_GAP_TEXT)
#define SIMT_CONSTANT_GAP SIMT_GAP("simt_constant", SIMT_GAP_TEXT)
