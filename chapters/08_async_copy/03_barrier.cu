// Idea: a barrier in shared memory, in two halves: arrive, do something else, wait. The copy is the
//   barrier's: its phase ends when all threads have arrived and the bytes are there.
// Predicts: the results of one tile are stored while the next one comes. On Hopper the library has
//   the copy engine fetch a whole tile: one instruction of one thread instead of one per thread.
// Still wrong: one buffer. A copy begins only when the tile before has been read. Next: 04.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/barrier>
#include <cuda/ptx>
#include <utility>

#include "filter.cuh"

#ifdef __CUDACC__
#pragma nv_diag_suppress static_var_with_dynamic_init  // barriers in shared memory: init() does it
#endif

namespace barrier_copy {

namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

/// Begins to copy a tile and its halos: the groups that the array has as a whole. The others, at
/// its edges, are there at once.
__device__ void copy_tile(const cg::thread_block& block, float4* s, const float* in,
                          std::int64_t tile, std::int64_t n, Barrier& there) {
  const std::int64_t first = tile * filter::block_size - filter::halo;
  const std::int64_t begin = first > 0 ? first : 0;
  const std::int64_t whole = n / 4, last = first + filter::tile_size;
  const std::int64_t end = last < whole ? last : whole;
  if (begin < end) {
    cuda::memcpy_async(
        block, s + (begin - first), reinterpret_cast<const float4*>(in) + begin,
        cuda::aligned_size_t<16>(sizeof(float4) * static_cast<std::size_t>(end - begin)), there);
  }
  for (int g = threadIdx.x; g < filter::tile_size; g += filter::block_size) {
    if (filter::is_whole(first + g, n)) continue;
    s[g] = filter::load_group(in, first + g, n);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);  // before a later copy writes here
#endif
  }
}

/// Filters n floats. Any number of blocks of block_size threads.
__global__ void filter_tiles(const float* in, float* out, std::int64_t n) {
  __shared__ float4 s[filter::tile_size];
  __shared__ Barrier there;
  const cg::thread_block block = cg::this_thread_block();
  const int t = threadIdx.x;
  if (t == 0) init(&there, filter::block_size);
  __syncthreads();  // nobody uses a barrier before it is initialised
  const std::int64_t tiles = filter::tiles_of(n);
  std::int64_t before = -1;  // the tile that four is of
  float4 four = make_float4(0, 0, 0, 0);
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    copy_tile(block, s, in, tile, n, there);
    Barrier::arrival_token token = there.arrive();
    if (before >= 0) filter::store_group(out, before * filter::block_size + t, n, four);
    there.wait(std::move(token));  // all of the tile is there
    four = filter::filter_group(&s[t]);
    before = tile;
    __syncthreads();  // all have read it
  }
  if (before >= 0) filter::store_group(out, before * filter::block_size + t, n, four);
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

}  // namespace barrier_copy
