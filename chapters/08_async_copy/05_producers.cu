// Idea: one warp produces: it does nothing but begin copies; the others consume. The pipeline is
//   told who does what.
// Predicts: whoever computes issues no copies, and the producer runs ahead as far as there are
//   stages. Roles by threads instead (every ninth one) cost every warp both ways.
// Still wrong: a pipeline object, and no way to see what it does. Next: 06.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/pipeline>

#include "filter.cuh"

#ifdef __CUDACC__
#pragma nv_diag_suppress static_var_with_dynamic_init  // barriers in shared memory: init() does it
#endif

namespace producers {

namespace cg = cooperative_groups;
using Pipeline = cuda::pipeline<cuda::thread_scope_block>;

constexpr int stages = 2;
constexpr int producers = 32;
constexpr int threads = filter::block_size + producers;

/// The producers begin to copy a tile and its halos, group after group; those at the edges of the
/// array are there at once. rank: of the producer, 0 to 31.
__device__ void copy_tile(float4* s, const float* in, std::int64_t tile, std::int64_t n, int rank,
                          Pipeline& pipeline) {
  const std::int64_t first = tile * filter::block_size - filter::halo;
  for (int g = rank; g < filter::tile_size; g += producers) {
    if (filter::is_whole(first + g, n)) {
      cuda::memcpy_async(&s[g], reinterpret_cast<const float4*>(in) + first + g,
                         cuda::aligned_size_t<16>(sizeof(float4)), pipeline);
    } else {
      s[g] = filter::load_group(in, first + g, n);
    }
  }
}

/// Filters n floats. Any number of blocks of `threads` threads. by_warps: the last warp produces;
/// otherwise every ninth thread does.
template <bool by_warps>
__global__ void filter_tiles(const float* in, float* out, std::int64_t n) {
  __shared__ float4 s[stages][filter::tile_size];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  constexpr int every = threads / producers;
  const int t = threadIdx.x;
  const bool produces = by_warps ? t >= filter::block_size : t % every == every - 1;
  Pipeline pipeline =
      cuda::make_pipeline(cg::this_thread_block(), &state,
                          produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  const std::int64_t tiles = filter::tiles_of(n);
  int stage = 0;
  if (produces) {
    const int rank = by_warps ? t - filter::block_size : t / every;
    for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      pipeline.producer_acquire();  // all consumers have read what was in this stage
      copy_tile(s[stage], in, tile, n, rank, pipeline);
      pipeline.producer_commit();
      stage = (stage + 1) % stages;
    }
  } else {
    const int rank = by_warps ? t : t - t / every;
    for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      pipeline.consumer_wait();  // all of the tile is there
      const float4 four = filter::filter_group(&s[stage][rank]);
      pipeline.consumer_release();
      filter::store_group(out, tile * filter::block_size + rank, n, four);
      stage = (stage + 1) % stages;
    }
  }
}

template <bool by_warps>
cudaError_t launch(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (!filter::is_valid(in, out, n)) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  unsigned blocks = 0;
  const cudaError_t error = filter::count_blocks(n, filter::blocks_per_sm, &blocks);
  if (error != cudaSuccess) return error;
  filter_tiles<by_warps><<<blocks, threads, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}

/// out[i] = sum of (9 - |k|) in[i + k] for |k| <= 8; in is zero outside of its n floats. Device
/// pointers, multiples of 16 bytes; out must not overlap in. \returns cudaErrorInvalidValue for
/// what filter::is_valid() refuses, or the error of the launch.
cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  return launch<true>(in, out, n, stream);
}

/// The same with roles by threads: every warp has both.
cudaError_t apply_by_threads(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  return launch<false>(in, out, n, stream);
}

}  // namespace producers
