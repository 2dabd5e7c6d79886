// Idea: the copy goes from global to shared memory without passing through registers: the threads
//   of the block call it together, and wait for it together.
// Predicts: no thread waits between its load and its store, and the halos come along with the
//   centre, in one copy. One buffer: what was computed must be read before the next copy begins.
// Still wrong: between a copy's beginning and its end, the block does nothing. Next: 03.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/barrier>  // aligned_size_t

#include "filter.cuh"

namespace group_copy {

namespace cg = cooperative_groups;

/// Begins to copy a tile and its halos: the groups that the array has as a whole. The others, at
/// its edges, are there at once.
__device__ void copy_tile(const cg::thread_block& block, float4* s, const float* in,
                          std::int64_t tile, std::int64_t n) {
  const std::int64_t first = tile * filter::block_size - filter::halo;
  const std::int64_t begin = first > 0 ? first : 0;
  const std::int64_t whole = n / 4, last = first + filter::tile_size;
  const std::int64_t end = last < whole ? last : whole;
  if (begin < end) {
    cg::memcpy_async(
        block, s + (begin - first), reinterpret_cast<const float4*>(in) + begin,
        cuda::aligned_size_t<16>(sizeof(float4) * static_cast<std::size_t>(end - begin)));
  }
  for (int g = threadIdx.x; g < filter::tile_size; g += filter::block_size) {
    if (!filter::is_whole(first + g, n)) s[g] = filter::load_group(in, first + g, n);
  }
}

/// Filters n floats. Any number of blocks of block_size threads.
__global__ void filter_tiles(const float* in, float* out, std::int64_t n) {
  __shared__ float4 s[filter::tile_size];
  const cg::thread_block block = cg::this_thread_block();
  const int t = threadIdx.x;
  const std::int64_t tiles = filter::tiles_of(n);
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    copy_tile(block, s, in, tile, n);
    cg::wait(block);  // all of the tile is there
    const float4 four = filter::filter_group(&s[t]);
    filter::store_group(out, tile * filter::block_size + t, n, four);
    __syncthreads();  // all have read it
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
  filter_tiles<<<blocks, filter::block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}

}  // namespace group_copy
