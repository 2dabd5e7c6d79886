// Exercise 1, solved. Each thread waits for its own copies, all of them: none may be left over. The
// barrier then says that every thread has done so.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "filter.cuh"

namespace exercise {

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
__global__ void filter_tiles(const float* in, float* out, std::int64_t n) {
  __shared__ float4 s[filter::tile_size];
  const int t = threadIdx.x;
  const std::int64_t tiles = filter::tiles_of(n);
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    copy_tile(s, in, tile, n);
    __pipeline_commit();
    __pipeline_wait_prior(0);  // what this thread copied is there
    __syncthreads();           // what all of them copied is there
    const float4 four = filter::filter_group(&s[t]);
    filter::store_group(out, tile * filter::block_size + t, n, four);
    __syncthreads();  // all have read it
  }
}

/// out[i] = sum of (9 - |k|) in[i + k] for |k| <= 8; in is zero outside of its n floats. Device
/// pointers, multiples of 16 bytes; out must not overlap in.
cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (!filter::is_valid(in, out, n)) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  unsigned blocks = 0;
  const cudaError_t error = filter::count_blocks(n, filter::blocks_per_sm, &blocks);
  if (error != cudaSuccess) return error;
  filter_tiles<<<blocks, filter::block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}

}  // namespace exercise
