// Exercise 6, solved. Two groups per thread, block_size apart, so that a warp's lanes stay side by
// side. A tile has twice the floats, and still two groups of halo on each side.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "filter.cuh"

namespace exercise {

constexpr int stages = 2;
constexpr int per_thread = 2;  // groups
constexpr int centre = per_thread * filter::block_size;
constexpr int tile_size = filter::halo + centre + filter::halo;

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
  const std::int64_t first = tile * centre;
  if (t < filter::halo) copy_group(&s[t], in, first - filter::halo + t, n);
#pragma unroll
  for (int k = 0; k < per_thread; ++k) {
    const int g = t + k * filter::block_size;
    copy_group(&s[filter::halo + g], in, first + g, n);
  }
  if (t >= filter::block_size - filter::halo) {
    const int g = t - (filter::block_size - filter::halo);
    copy_group(&s[filter::halo + centre + g], in, first + centre + g, n);
  }
}

/// How many tiles an array of n floats has; the last one may be short.
__host__ __device__ std::int64_t tiles_of(std::int64_t n) {
  constexpr int floats = 4 * centre;
  return n / floats + (n % floats != 0);
}

/// Filters n floats. Any number of blocks of block_size threads.
__global__ void filter_tiles(const float* in, float* out, std::int64_t n) {
  __shared__ float4 s[stages][tile_size];
  const int t = threadIdx.x;
  const std::int64_t tiles = tiles_of(n);
  std::int64_t next = blockIdx.x;  // the tile to copy
  for (int stage = 0; stage < stages; ++stage, next += gridDim.x) {
    if (next < tiles) copy_tile(s[stage], in, next, n);
    __pipeline_commit();  // a group per stage, even if it is empty: so that counting them works
  }
  int stage = 0;
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x, next += gridDim.x) {
    __pipeline_wait_prior(stages - 1);  // what this thread copied is there
    __syncthreads();                    // what all did is there
#pragma unroll
    for (int k = 0; k < per_thread; ++k) {
      const int g = t + k * filter::block_size;
      filter::store_group(out, tile * centre + g, n, filter::filter_group(&s[stage][g]));
    }
    __syncthreads();  // all have read it
    if (next < tiles) copy_tile(s[stage], in, next, n);
    __pipeline_commit();
    stage = (stage + 1) % stages;
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
  if (blocks > tiles_of(n)) blocks = static_cast<unsigned>(tiles_of(n));  // wide ones
  filter_tiles<<<blocks, filter::block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}

}  // namespace exercise
