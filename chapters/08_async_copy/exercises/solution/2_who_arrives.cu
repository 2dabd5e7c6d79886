// Exercise 2, solved. A barrier counts arrivals, not threads: one for each warp. Who only waits is
// not counted.
#include <cuda_awbarrier_primitives.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "filter.cuh"

namespace exercise {

/// The whole block meets: lane 0 of each warp arrives for its warp, everybody waits for the end of
/// the phase of this parity. Who has asked millions of times ends the launch with an error: a GPU
/// would let it wait for ever.
__device__ void meet(__mbarrier_t* barrier, bool parity) {
  __syncwarp();  // all lanes are here, and done with shared memory
  if (threadIdx.x % 32 == 0) __mbarrier_arrive(barrier);
  for (int asked = 0; !__mbarrier_test_wait_parity(barrier, parity); ++asked) {
    if (asked == 1 << 24) __trap();
  }
}

/// Copies a tile and its halos, through registers.
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
  __shared__ __mbarrier_t barrier;
  const int t = threadIdx.x;
  if (t == 0) __mbarrier_init(&barrier, filter::block_size / 32);  // one arrival per warp
  __syncthreads();  // nobody uses a barrier before it is initialised
  const std::int64_t tiles = filter::tiles_of(n);
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    copy_tile(s, in, tile, n);
    meet(&barrier, false);  // all of the tile is there: phases 0, 2, 4, ...
    const float4 four = filter::filter_group(&s[t]);
    filter::store_group(out, tile * filter::block_size + t, n, four);
    meet(&barrier, true);  // all have read it: phases 1, 3, 5, ...
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
