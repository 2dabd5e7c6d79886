// Idea: 05 taken apart. Two buffers, two barriers for each: "filled" and "empty". The producing
//   warp waits for empty, copies through its registers, arrives at filled; the others the reverse.
// Predicts: the same overlap with ordinary loads: a warp that does nothing else may wait for them.
//   Nine loads per lane are on their way at once: 4 KiB per producer, at 36 registers per lane.
// Still wrong: the producer's loads pass through registers again. Next: 07.
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/barrier>
#include <utility>

#include "filter.cuh"

#ifdef __CUDACC__
#pragma nv_diag_suppress static_var_with_dynamic_init  // barriers in shared memory: init() does it
#endif

namespace four_barriers {

using Barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int buffers = 2;
constexpr int producers = 32;
constexpr int threads = filter::block_size + producers;
constexpr int per_producer = (filter::tile_size + producers - 1) / producers;  // groups of a tile

/// The producers copy a tile and its halos: all loads first, then all stores.
__device__ void copy_tile(float4* s, const float* in, std::int64_t tile, std::int64_t n, int rank) {
  const std::int64_t first = tile * filter::block_size - filter::halo;
  float4 groups[per_producer];
#pragma unroll
  for (int k = 0; k < per_producer; ++k) {
    groups[k] = filter::load_group(in, first + rank + k * producers, n);
  }
#pragma unroll
  for (int k = 0; k < per_producer; ++k) {
    const int g = rank + k * producers;
    if (g < filter::tile_size) s[g] = groups[k];
  }
}

/// Filters n floats. Any number of blocks of `threads` threads.
__global__ void filter_tiles(const float* in, float* out, std::int64_t n) {
  __shared__ float4 s[buffers][filter::tile_size];
  __shared__ Barrier filled[buffers], empty[buffers];
  const int t = threadIdx.x;
  if (t < buffers) {
    init(&filled[t], threads);  // producers arrive, consumers arrive and wait
    init(&empty[t], threads);
  }
  __syncthreads();  // nobody uses a barrier before it is initialised
  const std::int64_t tiles = filter::tiles_of(n);
  int buffer = 0;
  if (t >= filter::block_size) {
    for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      empty[buffer].arrive_and_wait();
      copy_tile(s[buffer], in, tile, n, t - filter::block_size);
      static_cast<void>(filled[buffer].arrive());
      buffer = 1 - buffer;
    }
  } else {
    for (int b = 0; b < buffers; ++b) static_cast<void>(empty[b].arrive());  // both are
    for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      filled[buffer].arrive_and_wait();
      const float4 four = filter::filter_group(&s[buffer][t]);
      static_cast<void>(empty[buffer].arrive());
      filter::store_group(out, tile * filter::block_size + t, n, four);
      buffer = 1 - buffer;
    }
  }
}

/// out[i] = sum of (9 - |k|) in[i + k] for |k| <= 8; in is zero outside of its n floats. Device
/// pointers, multiples of 16 bytes; out must not overlap in. \returns cudaErrorInvalidValue for
/// what filter::is_valid() refuses, or the error of the launch.
cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (!filter::is_valid(in, out, n)) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  unsigned blocks = 0;
  const cudaError_t error = filter::count_blocks(n, filter::blocks_per_sm, &blocks);
  if (error != cudaSuccess) return error;
  filter_tiles<<<blocks, threads, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}

}  // namespace four_barriers
