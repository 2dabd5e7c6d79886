#pragma once
/// \file
/// Instructions that CUDA C++ has no function for, each with a body for the CPU backend.

#include <cuda_pipeline.h>

/// Begins to copy `bytes` bytes, 4 or 16, from global to shared memory. Those from `there` on are
/// not read and become zero. Both addresses are multiples of `bytes`. __pipeline_commit() and
/// __pipeline_wait_prior() count it. (__pipeline_memcpy_async() can do so, too; but if `there` is
/// no constant, it becomes branches.)
/// PTX ISA, "cp.async". GPUs before compute capability 8.0 copy at once.
template <int bytes>
__device__ inline void copy_async(float* to, const float* from, int there) {
  static_assert(bytes == 4 || bytes == 16, "a float or four");
#ifdef SIMT
  __pipeline_memcpy_async(to, from, bytes, static_cast<std::size_t>(bytes - there));
#elif __CUDA_ARCH__ >= 800
  const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if (bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from),
                 "r"(there)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared), "l"(from), "r"(there)
                 : "memory");
  }
#else
  for (int i = 0; i < bytes / 4; ++i) to[i] = 4 * i < there ? from[i] : 0;
#endif
}

/// Loads 16 bytes from shared memory, and stays where it is written: the compiler moves it neither
/// past another one nor past a barrier. (An ordinary load may sink to just before its first use,
/// where there is no time left to wait for it.) `from`: a multiple of 16 bytes.
/// PTX ISA, "ld": volatile.
__device__ inline float4 load_here(const float* from) {
#ifdef SIMT
  return *reinterpret_cast<const float4*>(from);
#else
  const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(from));
  float4 four;
  asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(four.x), "=f"(four.y), "=f"(four.z), "=f"(four.w)
               : "r"(shared));
  return four;
#endif
}

/// __syncthreads() for `size` threads, whole warps: those who name the same team, 0 to 14. All
/// teams of a block come to it equally often. (The CPU backend lets the whole block wait.) PTX ISA,
/// "bar": bar.sync.
__device__ inline void team_barrier(int team, int size) {
#ifdef SIMT
  static_cast<void>(team), static_cast<void>(size);
  __syncthreads();
#else
  asm volatile("bar.sync %0, %1;" ::"r"(team + 1), "r"(size) : "memory");
#endif
}
