#pragma once
/// \file
/// The exclusive scan of one number per thread, in a block.

#include <cuda_runtime.h>

namespace scan {

/// Lane k gets the sum of x of lanes 0 to k. All 32 lanes must call.
template <class T>
__device__ T warp_scan(T x) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned step = 1; step < 32; step *= 2) {
    const T left = __shfl_up_sync(0xffffffffu, x, step);
    if (lane >= step) x += left;
  }
  return x;
}

/// The sum of x of the threads before this one; `all` gets the sum of all. `s` has an element per
/// warp. All threads must call.
template <int threads, class T>
__device__ T block_scan(T x, T* s, T* all) {
  static_assert(threads % 32 == 0 && threads <= 1024, "a warp scans the sums of all warps");
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const T upto = warp_scan(x);
  if (lane == 31) s[warp] = upto;
  __syncthreads();
  const T of_warps = warp_scan(lane < threads / 32 ? s[lane] : T{0});  // the same in all warps
  const T before = __shfl_sync(0xffffffffu, of_warps, warp == 0 ? 0 : warp - 1);
  *all = __shfl_sync(0xffffffffu, of_warps, threads / 32 - 1);
  __syncthreads();
  return (warp == 0 ? T{0} : before) + upto - x;
}

}  // namespace scan
