// Study: the pipeline of 04, but of one thread each: it has no state in shared memory and knows of
//   no other thread's copies.
// Predicts: the machine code of 07, from the interface of 04: groups of copies are counted, and
//   __syncthreads() says what the barriers of 04 said.
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/pipeline>

#include "../filter.cuh"

namespace thread_scope_study {

using Pipeline = cuda::pipeline<cuda::thread_scope_thread>;

constexpr int stages = 2;

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
__global__ void filter_tiles(const float* in, float* out, std::int64_t n) {
  __shared__ float4 s[stages][filter::tile_size];
  Pipeline pipeline = cuda::make_pipeline();
  const int t = threadIdx.x;
  const std::int64_t tiles = filter::tiles_of(n);
  std::int64_t next = blockIdx.x;  // the tile to copy
  for (int stage = 0; stage < stages; ++stage, next += gridDim.x) {
    pipeline.producer_acquire();
    if (next < tiles) copy_tile(s[stage], in, next, n, pipeline);
    pipeline.producer_commit();
  }
  int stage = 0;
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x, next += gridDim.x) {
    cuda::pipeline_consumer_wait_prior<stages - 1>(pipeline);  // what this thread copied is there
    __syncthreads();                                           // what all did is there
    const float4 four = filter::filter_group(&s[stage][t]);
    filter::store_group(out, tile * filter::block_size + t, n, four);
    __syncthreads();  // all have read it
    pipeline.consumer_release();
    pipeline.producer_acquire();
    if (next < tiles) copy_tile(s[stage], in, next, n, pipeline);
    pipeline.producer_commit();
    stage = (stage + 1) % stages;
  }
}

/// The filter of the chapter (filter.cuh), two blocks per SM. \returns cudaErrorInvalidValue for
/// what filter::is_valid() refuses, or the error of the launch.
cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (!filter::is_valid(in, out, n)) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  unsigned blocks = 0;
  const cudaError_t error = filter::count_blocks(n, filter::blocks_per_sm, &blocks);
  if (error != cudaSuccess) return error;
  filter_tiles<<<blocks, filter::block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}

}  // namespace thread_scope_study
