// Idea: a block takes one tile after the other: load its halo, its centre and the other halo into
//   shared memory, wait for all, compute, wait for all. Two blocks per SM.
// Predicts: a tile takes as long as its steps one after the other: loads through registers, each
//   stored before the next if the compiler keeps their order; two barriers. 8 KiB per SM on their
//   way at most, and most of the time less: far below what memory could do.
// Still wrong: a thread waits for its load only to store what came. Next: 02.
#include <cuda_runtime.h>

#include <cstdint>

#include "filter.cuh"

namespace synchronous {

/// The first group of a tile is that of number tile * block_size; its halo begins two before it.
__device__ void copy_tile(float4* s, const float* in, std::int64_t tile, std::int64_t n) {
  const int t = threadIdx.x;
  const std::int64_t group = tile * filter::block_size + t;
  if (t < filter::halo) s[t] = filter::load_group(in, group - filter::halo, n);
  s[t + filter::halo] = filter::load_group(in, group, n);
  if (t >= filter::block_size - filter::halo) {
    s[t + 2 * filter::halo] = filter::load_group(in, group + filter::halo, n);
  }
}

/// Filters n floats. Any number of blocks of block_size threads.
__global__ void filter_tiles(const float* in, float* out, std::int64_t n) {
  __shared__ float4 s[filter::tile_size];
  const int t = threadIdx.x;
  const std::int64_t tiles = filter::tiles_of(n);
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    copy_tile(s, in, tile, n);
    __syncthreads();  // all of the tile is there
    const float4 four = filter::filter_group(&s[t]);
    filter::store_group(out, tile * filter::block_size + t, n, four);
    __syncthreads();  // all have read it
  }
}

/// The filter with per_sm blocks per SM, otherwise like apply(). \returns cudaErrorInvalidValue for
/// none, too.
cudaError_t apply_with_blocks(const float* in, float* out, std::int64_t n, int per_sm,
                              cudaStream_t stream) {
  if (!filter::is_valid(in, out, n)) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  unsigned blocks = 0;
  const cudaError_t error = filter::count_blocks(n, per_sm, &blocks);
  if (error != cudaSuccess) return error;
  filter_tiles<<<blocks, filter::block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}

/// out[i] = sum of (9 - |k|) in[i + k] for |k| <= 8; in is zero outside of its n floats. Device
/// pointers, multiples of 16 bytes; out must not overlap in. \returns cudaErrorInvalidValue for
/// what filter::is_valid() refuses, or the error of the launch.
cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  return apply_with_blocks(in, out, n, filter::blocks_per_sm, stream);
}

}  // namespace synchronous
