// Idea: copies that arrive at a barrier themselves. Two per stage, "full" and "empty": a phase of
//   full ends when all threads have arrived and their copies are there.
// Predicts: no __syncthreads() in the loop and no wait for one's own copies: one wait per tile for
//   full, one for empty before a stage is filled again. Waits by parity: a bit instead of a token.
// Still wrong: two blocks per SM, and no order between what they read. Next: 09.
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "filter.cuh"

namespace mbarrier {

/// Waits until the phase of this parity has ended.
__device__ void wait(__mbarrier_t* barrier, bool parity) {
  while (!__mbarrier_test_wait_parity(barrier, parity)) {
  }
}

/// Begins to copy a group; at the edges of the array it is there at once.
__device__ void copy_group(float4* s, const float* in, std::int64_t group, std::int64_t n) {
  if (filter::is_whole(group, n)) {
    __pipeline_memcpy_async(s, in + 4 * group, sizeof(float4));
  } else {
    *s = filter::load_group(in, group, n);
  }
}

/// Begins to copy a tile and its halos.
__device__ void copy_tile(float4* s, const float* in, std::int64_t tile, std::int64_t n) {
  const int t = threadIdx.x;
  const std::int64_t group = tile * filter::block_size + t;
  if (t < filter::halo) copy_group(&s[t], in, group - filter::halo, n);
  copy_group(&s[t + filter::halo], in, group, n);
  if (t >= filter::block_size - filter::halo) {
    copy_group(&s[t + 2 * filter::halo], in, group + filter::halo, n);
  }
}

/// Filters n floats. Any number of blocks of block_size threads.
template <int stages>
__global__ void filter_tiles(const float* in, float* out, std::int64_t n) {
  __shared__ float4 s[stages][filter::tile_size];
  __shared__ __mbarrier_t full[stages], empty[stages];
  const int t = threadIdx.x;
  if (t < stages) {
    __mbarrier_init(&full[t], filter::block_size);
    __mbarrier_init(&empty[t], filter::block_size);
  }
  __syncthreads();  // nobody uses a barrier before it is initialised
  const std::int64_t tiles = filter::tiles_of(n);
  std::int64_t next = blockIdx.x;  // the tile to copy
  int filling = 0, using_ = 0;     // stages
  bool empty_parity = true;        // of the phase before the first: it has ended
  bool full_parity = false;
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    for (; next < tiles && next < tile + std::int64_t{stages} * gridDim.x; next += gridDim.x) {
      wait(&empty[filling], empty_parity);  // all have read what was in this stage
      copy_tile(s[filling], in, next, n);
      __pipeline_arrive_on(&full[filling]);  // the phase waits for this thread's copies
      __mbarrier_arrive(&full[filling]);     // and for this thread: stores at the edges
      filling = (filling + 1) % stages;
      if (filling == 0) empty_parity = !empty_parity;
    }
    wait(&full[using_], full_parity);  // all of the tile is there
    const float4 four = filter::filter_group(&s[using_][t]);
    __mbarrier_arrive(&empty[using_]);
    filter::store_group(out, tile * filter::block_size + t, n, four);
    using_ = (using_ + 1) % stages;
    if (using_ == 0) full_parity = !full_parity;
  }
}

/// The launch, for one number of stages.
template <int stages>
cudaError_t filter_in_stages(const float* in, float* out, std::int64_t n, int per_sm,
                             cudaStream_t stream) {
  if (!filter::is_valid(in, out, n)) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  unsigned blocks = 0;
  const cudaError_t error = filter::count_blocks(n, per_sm, &blocks);
  if (error != cudaSuccess) return error;
  filter_tiles<stages><<<blocks, filter::block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}

/// The filter with 1 to 4 stages and per_sm blocks per SM, otherwise like apply(). \returns
/// cudaErrorInvalidValue for another number of stages, or none of blocks, too.
cudaError_t apply_staged(const float* in, float* out, std::int64_t n, int stages, int per_sm,
                         cudaStream_t stream) {
  switch (stages) {
    case 1:
      return filter_in_stages<1>(in, out, n, per_sm, stream);
    case 2:
      return filter_in_stages<2>(in, out, n, per_sm, stream);
    case 3:
      return filter_in_stages<3>(in, out, n, per_sm, stream);
    case 4:
      return filter_in_stages<4>(in, out, n, per_sm, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

/// out[i] = sum of (9 - |k|) in[i + k] for |k| <= 8; in is zero outside of its n floats. Device
/// pointers, multiples of 16 bytes; out must not overlap in. \returns cudaErrorInvalidValue for
/// what filter::is_valid() refuses, or the error of the launch.
cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  return filter_in_stages<2>(in, out, n, filter::blocks_per_sm, stream);
}

}  // namespace mbarrier
