#pragma once
/// \file
/// CUDA's words for functions and variables. A function for the device is an ordinary function.

// The standard library writes __noinline__ inside attributes: it must be read before the word is
// defined below.
#include <memory>

#define SIMT 1

/// Compiled apart from its launches: a null pointer seen there must not become undefined behaviour.
#if defined(__clang__)
#define __global__ __attribute__((noinline))
#else
#define __global__ __attribute__((noipa))
#endif
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#if !defined(__clang__)
#define __builtin_assume(condition) ((condition) ? void(0) : __builtin_unreachable())
#endif
#define CUDARTAPI
#define CUDART_CB

/// Variables of namespace scope on the device; the rewriter puts them in place of __device__ and
/// __constant__. The engine knows by their section that kernels may use them.
#define SIMT_DEVICE_VARIABLE __attribute__((section("simt_device")))
#define SIMT_CONSTANT_VARIABLE __attribute__((section("simt_constant")))
