// Idea: blocks that end. Each takes four neighbouring tiles; when one ends, the GPU starts the next
//   in the order of the array. As many blocks as an SM holds, with two stages each.
// Predicts: blocks that live as long as the kernel drift apart, until what is on its way lies all
//   over the array, and memory likes neighbours. Blocks that end cannot drift. The price: at the
//   end of a block nothing of its own is on its way; other blocks of the SM fill that.
// Still wrong: one instruction per thread and 16 bytes. Next: chapter 09, one per tile.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "filter.cuh"

namespace short_blocks {

constexpr int stages = 2;
constexpr int tiles_per_block = 4;

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

/// Filters n floats. A block of block_size threads for each tiles_per_block tiles.
__global__ void filter_tiles(const float* in, float* out, std::int64_t n) {
  __shared__ float4 s[stages][filter::tile_size];
  const int t = threadIdx.x;
  const std::int64_t tiles = filter::tiles_of(n);
  const std::int64_t first = std::int64_t{blockIdx.x} * tiles_per_block;
  const std::int64_t end = tiles < first + tiles_per_block ? tiles : first + tiles_per_block;
  std::int64_t next = first;  // the tile to copy
#pragma unroll
  for (int stage = 0; stage < stages; ++stage, ++next) {
    if (next < end) copy_tile(s[stage], in, next, n);
    __pipeline_commit();  // a group per stage, even if it is empty: so that counting them works
  }
  int stage = 0;
  for (std::int64_t tile = first; tile < end; ++tile, ++next) {
    __pipeline_wait_prior(stages - 1);  // what this thread copied is there
    __syncthreads();                    // what all did is there
    const float4 four = filter::filter_group(&s[stage][t]);
    filter::store_group(out, tile * filter::block_size + t, n, four);
    __syncthreads();  // all have read it
    if (next < end) copy_tile(s[stage], in, next, n);
    __pipeline_commit();
    stage = (stage + 1) % stages;
  }
}

/// out[i] = sum of (9 - |k|) in[i + k] for |k| <= 8; in is zero outside of its n floats. Device
/// pointers, multiples of 16 bytes; out must not overlap in. \returns cudaErrorInvalidValue for
/// what filter::is_valid() refuses and for more tiles than a grid has blocks for (2^43 floats), or
/// the error of the launch.
cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (!filter::is_valid(in, out, n)) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  const std::int64_t tiles = filter::tiles_of(n);
  const std::int64_t blocks = tiles / tiles_per_block + (tiles % tiles_per_block != 0);
  if (blocks > INT32_MAX) return cudaErrorInvalidValue;
  filter_tiles<<<static_cast<unsigned>(blocks), filter::block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}

}  // namespace short_blocks
