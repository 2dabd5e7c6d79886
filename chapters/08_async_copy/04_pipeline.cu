// Idea: several buffers, stages, in a ring: while a block computes with one, the next ones are on
//   their way. cuda::pipeline keeps the order: acquire a stage, copy, commit; wait, use, release.
// Predicts: with two stages a copy has the time of a computation to arrive, and twice as many bytes
//   are on their way per SM. Each stage costs 4160 bytes of shared memory per block.
// Still wrong: every thread does everything: copies, waits, computes. Next: 05.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/pipeline>

#include "filter.cuh"

#ifdef __CUDACC__
#pragma nv_diag_suppress static_var_with_dynamic_init  // barriers in shared memory: init() does it
#endif

namespace staged {

namespace cg = cooperative_groups;
using Pipeline = cuda::pipeline<cuda::thread_scope_block>;

/// Begins to copy a group; at the edges of the array it is there at once.
__device__ void copy_group(float4* s, const float* in, std::int64_t group, std::int64_t n,
                           Pipeline& pipeline) {
  if (filter::is_whole(group, n)) {
    cuda::memcpy_async(s, reinterpret_cast<const float4*>(in) + group,
                       cuda::aligned_size_t<16>(sizeof(float4)), pipeline);
  } else {
    *s = filter::load_group(in, group, n);
  }
}

/// Begins to copy a tile and its halos.
__device__ void copy_tile(float4* s, const float* in, std::int64_t tile, std::int64_t n,
                          Pipeline& pipeline) {
  const int t = threadIdx.x;
  const std::int64_t group = tile * filter::block_size + t;
  if (t < filter::halo) copy_group(&s[t], in, group - filter::halo, n, pipeline);
  copy_group(&s[t + filter::halo], in, group, n, pipeline);
  if (t >= filter::block_size - filter::halo) {
    copy_group(&s[t + 2 * filter::halo], in, group + filter::halo, n, pipeline);
  }
}

/// Filters n floats. Any number of blocks of block_size threads.
template <int stages>
__global__ void filter_tiles(const float* in, float* out, std::int64_t n) {
  __shared__ float4 s[stages][filter::tile_size];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  Pipeline pipeline = cuda::make_pipeline(cg::this_thread_block(), &state);
  const int t = threadIdx.x;
  const std::int64_t tiles = filter::tiles_of(n);
  std::int64_t next = blockIdx.x;  // the tile to copy
  int filling = 0, using_ = 0;     // stages
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    for (; next < tiles && next < tile + std::int64_t{stages} * gridDim.x; next += gridDim.x) {
      pipeline.producer_acquire();  // all have read what was in this stage
      copy_tile(s[filling], in, next, n, pipeline);
      pipeline.producer_commit();
      filling = (filling + 1) % stages;
    }
    pipeline.consumer_wait();  // all of the tile is there
    const float4 four = filter::filter_group(&s[using_][t]);
    pipeline.consumer_release();
    filter::store_group(out, tile * filter::block_size + t, n, four);
    using_ = (using_ + 1) % stages;
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

}  // namespace staged
