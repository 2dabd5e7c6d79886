// Answers to the exercises of chapter 08, and the verdicts that the CPU backend must give.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/barrier>
#include <cuda/pipeline>

#include "filter.cuh"

namespace one_thread {
// 1 2 3 4 5: NOT YET: right, but one after the other
// 6: NOT YET: right, but
__global__ void filter_all(const float* in, float* out, std::int64_t n) {
  for (std::int64_t g = 0; 4 * g < n; ++g) {
    float4 near[5];
    for (int k = 0; k < 5; ++k) near[k] = filter::load_group(in, g + k - 2, n);
    filter::store_group(out, g, n, filter::filter_group(near));
  }
}

cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (n > 0) filter_all<<<1, 1, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_thread

namespace one_lane_per_warp {
// 1 2 3 4 5: NOT YET: right, but one after the other
// 6: NOT YET: right, but
__global__ void filter_tiles(const float* in, float* out, std::int64_t n) {
  if (threadIdx.x % 32 != 0) return;
  const std::int64_t first = std::int64_t{blockIdx.x} * filter::block_size + threadIdx.x;
  for (std::int64_t g = first; g < first + 32 && 4 * g < n; ++g) {
    float4 near[5];
    for (int k = 0; k < 5; ++k) near[k] = filter::load_group(in, g + k - 2, n);
    filter::store_group(out, g, n, filter::filter_group(near));
  }
}

cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const unsigned blocks = static_cast<unsigned>(filter::tiles_of(n));
  filter_tiles<<<blocks, filter::block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp

// One block of 256 threads copies, waits and computes, one tile after the other.
namespace one_block {
// 1 3 4: NOT YET: right, but one after the other
// 5 6: NOT YET: right, but
__global__ void filter_tiles(const float* in, float* out, std::int64_t n) {
  __shared__ float4 s[filter::tile_size];
  for (std::int64_t tile = 0; tile < filter::tiles_of(n); ++tile) {
    const std::int64_t first = tile * filter::block_size;
    for (int g = threadIdx.x; g < filter::tile_size; g += filter::block_size) {
      const std::int64_t from = first + g - filter::halo;
      if (filter::is_whole(from, n)) {
        __pipeline_memcpy_async(&s[g], in + 4 * from, 16);
      } else {
        s[g] = filter::load_group(in, from, n);
      }
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    filter::store_group(out, first + threadIdx.x, n, filter::filter_group(&s[threadIdx.x]));
    __syncthreads();
  }
}

cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (n > 0) filter_tiles<<<1, filter::block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_block

// The largest possible block does all the work: 131 of 132 SMs are idle.
namespace one_large_block {
// 1 3 4 5 6: NOT YET: right, but one after the other
constexpr int threads = 1024;

__global__ void filter_tiles(const float* in, float* out, std::int64_t n) {
  __shared__ float4 s[threads + 4];
  for (std::int64_t first = 0; 4 * first < n; first += threads) {
    for (int g = threadIdx.x; g < threads + 4; g += threads) {
      const std::int64_t from = first + g - filter::halo;
      if (filter::is_whole(from, n)) {
        __pipeline_memcpy_async(&s[g], in + 4 * from, 16);
      } else {
        s[g] = filter::load_group(in, from, n);
      }
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    filter::store_group(out, first + threadIdx.x, n, filter::filter_group(&s[threadIdx.x]));
    __syncthreads();
  }
}

cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (n > 0) filter_tiles<<<1, threads, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_large_block

// The host launches a kernel for each tile.
namespace host_loop {
// 1 2 3 4 5 6: NOT YET: right, but one after the other
__global__ void filter_tile(const float* in, float* out, std::int64_t first, std::int64_t n) {
  __shared__ float4 s[filter::tile_size];
  for (int g = threadIdx.x; g < filter::tile_size; g += filter::block_size) {
    const std::int64_t from = first + g - filter::halo;
    if (filter::is_whole(from, n)) {
      __pipeline_memcpy_async(&s[g], in + 4 * from, 16);
    } else {
      s[g] = filter::load_group(in, from, n);
    }
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  filter::store_group(out, first + threadIdx.x, n, filter::filter_group(&s[threadIdx.x]));
}

cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  for (std::int64_t first = 0; 4 * first < n; first += filter::block_size) {
    filter_tile<<<1, filter::block_size, 0, stream>>>(in, out, first, n);
  }
  return cudaGetLastError();
}
}  // namespace host_loop

// Each thread loads its five groups itself.
namespace no_shared_memory {
// 2: NOT YET: right, but it moves
// 1 3 4 5 6: NOT YET: right, but asynchronous copies read
__global__ void filter_each(const float* in, float* out, std::int64_t n) {
  const std::int64_t g = std::int64_t{blockIdx.x} * filter::block_size + threadIdx.x;
  float4 near[5];
  for (int k = 0; k < 5; ++k) near[k] = filter::load_group(in, g + k - 2, n);
  filter::store_group(out, g, n, filter::filter_group(near));
}

cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const unsigned blocks = static_cast<unsigned>(filter::tiles_of(n));
  filter_each<<<blocks, filter::block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace no_shared_memory

// Version 01: through registers. No wait, but no asynchronous copy either.
namespace through_registers {
// 1 3 4: NOT YET: right, but
// 5 6: NOT YET: right, but asynchronous copies read
__global__ void filter_tiles(const float* in, float* out, std::int64_t n) {
  __shared__ float4 s[filter::tile_size];
  for (std::int64_t i = blockIdx.x; i < filter::tiles_of(n); i += gridDim.x) {
    const std::int64_t first = i * filter::block_size;
    for (int g = threadIdx.x; g < filter::tile_size; g += filter::block_size) {
      s[g] = filter::load_group(in, first + g - filter::halo, n);
    }
    __syncthreads();
    filter::store_group(out, first + threadIdx.x, n, filter::filter_group(&s[threadIdx.x]));
    __syncthreads();
  }
}

cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  unsigned blocks = 0;
  if (const cudaError_t error = filter::count_blocks(n, 2, &blocks)) return error;
  if (n > 0) filter_tiles<<<blocks, filter::block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace through_registers

// Without the mbarrier whose phase never ended: the block synchronizes with __syncthreads().
namespace no_memory_barrier {
// 2: NOT YET: right, but
__global__ void filter_tiles(const float* in, float* out, std::int64_t n) {
  __shared__ float4 s[filter::tile_size];
  for (std::int64_t i = blockIdx.x; i < filter::tiles_of(n); i += gridDim.x) {
    const std::int64_t first = i * filter::block_size;
    for (int g = threadIdx.x; g < filter::tile_size; g += filter::block_size) {
      s[g] = filter::load_group(in, first + g - filter::halo, n);
    }
    __syncthreads();
    filter::store_group(out, first + threadIdx.x, n, filter::filter_group(&s[threadIdx.x]));
    __syncthreads();
  }
}

cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  unsigned blocks = 0;
  if (const cudaError_t error = filter::count_blocks(n, 2, &blocks)) return error;
  if (n > 0) filter_tiles<<<blocks, filter::block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace no_memory_barrier

// Neither shared memory nor barriers nor copies: lanes exchange values by shuffles.
namespace shuffles_only {
// 1 3 4: NOT YET: right, but
__device__ float4 of_lane(float4 v, int lane) {
  return make_float4(__shfl_sync(~0u, v.x, lane), __shfl_sync(~0u, v.y, lane),
                     __shfl_sync(~0u, v.z, lane), __shfl_sync(~0u, v.w, lane));
}

__global__ void filter_by_warps(const float* in, float* out, std::int64_t n) {
  const int lane = threadIdx.x % 32;
  const std::int64_t warp = std::int64_t{blockIdx.x} * 8 + threadIdx.x / 32;
  const std::int64_t g = warp * 28 + lane - 2;
  const float4 mine = filter::load_group(in, g, n);
  float4 near[5];
  for (int k = 0; k < 5; ++k) near[k] = of_lane(mine, (lane + k + 30) % 32);
  if (lane >= 2 && lane < 30) filter::store_group(out, g, n, filter::filter_group(near));
}

cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>((n + 8 * 112 - 1) / (8 * 112));
  if (n > 0) filter_by_warps<<<blocks, 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace shuffles_only

// A wide tile, but a thread has two neighbouring groups: each request reads every other group.
namespace every_other_group {
// 6: NOT YET: right, but it moves
constexpr int groups = 512;

__global__ void filter_tiles(const float* in, float* out, std::int64_t n) {
  __shared__ float4 s[groups + 4];
  for (std::int64_t first = groups * blockIdx.x; 4 * first < n; first += groups * gridDim.x) {
    const auto begin = [&](int g) {
      const std::int64_t from = first + g - filter::halo;
      if (filter::is_whole(from, n)) {
        __pipeline_memcpy_async(&s[g], in + 4 * from, 16);
      } else {
        s[g] = filter::load_group(in, from, n);
      }
    };
    for (int k = 0; k < 2; ++k) begin(2 * threadIdx.x + k);
    if (threadIdx.x < 4) begin(groups + threadIdx.x);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int k = 0; k < 2; ++k) {
      const int g = 2 * threadIdx.x + k;
      filter::store_group(out, first + g, n, filter::filter_group(&s[g]));
    }
    __syncthreads();
  }
}

cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  unsigned blocks = 0;
  if (const cudaError_t error = filter::count_blocks(n, 2, &blocks)) return error;
  if (n > 0) filter_tiles<<<blocks, 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace every_other_group

// Cooperative groups copy for the block, one buffer, and wait.
namespace group_copies {
// 1 3 4: PASSED
namespace cg = cooperative_groups;

__global__ void filter_tiles(const float* in, float* out, std::int64_t n) {
  __shared__ float4 s[filter::tile_size];
  const cg::thread_block block = cg::this_thread_block();
  for (std::int64_t i = blockIdx.x; i < filter::tiles_of(n); i += gridDim.x) {
    const std::int64_t first = i * filter::block_size - filter::halo;
    if (filter::is_whole(first, n) && filter::is_whole(first + filter::tile_size - 1, n)) {
      cg::memcpy_async(block, s, reinterpret_cast<const float4*>(in) + first, sizeof s);
    } else {
      for (int g = threadIdx.x; g < filter::tile_size; g += filter::block_size) {
        s[g] = filter::load_group(in, first + g, n);
      }
    }
    cg::wait(block);
    filter::store_group(out, i * 256 + threadIdx.x, n, filter::filter_group(&s[threadIdx.x]));
    block.sync();
  }
}

cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  unsigned blocks = 0;
  if (const cudaError_t error = filter::count_blocks(n, 2, &blocks)) return error;
  if (n > 0) filter_tiles<<<blocks, filter::block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace group_copies

// A small block per small tile: no loop, no buffer to refill, many blocks at a time.
namespace block_per_tile {
// 1 3 4: PASSED
constexpr int threads = 128;

__global__ void filter_tile(const float* in, float* out, std::int64_t n) {
  __shared__ float4 s[threads + 4];
  const std::int64_t first = std::int64_t{blockIdx.x} * threads;
  for (int g = threadIdx.x; g < threads + 4; g += threads) {
    const std::int64_t from = first + g - filter::halo;
    if (filter::is_whole(from, n)) {
      __pipeline_memcpy_async(&s[g], in + 4 * from, 16);
    } else {
      s[g] = filter::load_group(in, from, n);
    }
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  filter::store_group(out, first + threadIdx.x, n, filter::filter_group(&s[threadIdx.x]));
}

cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>((n + 4 * threads - 1) / (4 * threads));
  if (n > 0) filter_tile<<<blocks, threads, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace block_per_tile

// Two buffers, one tile in flight, one barrier: after it all warps have read the other buffer.
namespace one_ahead {
// 1 3 4 5: PASSED
__device__ void begin(float4* s, const float* in, std::int64_t tile, std::int64_t n) {
  for (int g = threadIdx.x; tile < filter::tiles_of(n) && g < filter::tile_size; g += 256) {
    const std::int64_t from = tile * filter::block_size + g - filter::halo;
    if (filter::is_whole(from, n)) {
      __pipeline_memcpy_async(&s[g], in + 4 * from, 16);
    } else {
      s[g] = filter::load_group(in, from, n);
    }
  }
  __pipeline_commit();
}

__global__ void filter_tiles(const float* in, float* out, std::int64_t n) {
  __shared__ float4 s[2][filter::tile_size];
  begin(s[0], in, blockIdx.x, n);
  int b = 0;
  for (std::int64_t i = blockIdx.x; i < filter::tiles_of(n); i += gridDim.x, b ^= 1) {
    __pipeline_wait_prior(0);
    __syncthreads();
    begin(s[b ^ 1], in, i + gridDim.x, n);
    filter::store_group(out, i * 256 + threadIdx.x, n, filter::filter_group(&s[b][threadIdx.x]));
  }
}

cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  unsigned blocks = 0;
  if (const cudaError_t error = filter::count_blocks(n, 2, &blocks)) return error;
  if (n > 0) filter_tiles<<<blocks, filter::block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_ahead

// Four buffers, three tiles in flight; each block has contiguous tiles.
namespace three_ahead {
// 3 4 5: PASSED
__global__ void filter_tiles(const float* in, float* out, std::int64_t n, std::int64_t each) {
  __shared__ float4 s[4][filter::tile_size];
  const std::int64_t first = blockIdx.x * each, tiles = filter::tiles_of(n);
  const std::int64_t last = first + each < tiles ? first + each : tiles;
  const auto begin = [&](std::int64_t tile) {
    for (int g = threadIdx.x; tile < last && g < filter::tile_size; g += filter::block_size) {
      const std::int64_t from = tile * filter::block_size + g - filter::halo;
      float4* const to = &s[tile % 4][g];
      if (filter::is_whole(from, n)) {
        __pipeline_memcpy_async(to, in + 4 * from, 16);
      } else {
        *to = filter::load_group(in, from, n);
      }
    }
    __pipeline_commit();
  };
  for (int k = 0; k < 3; ++k) begin(first + k);
  for (std::int64_t i = first; i < last; ++i) {
    __pipeline_wait_prior(2);
    __syncthreads();
    begin(i + 3);
    filter::store_group(out, i * 256 + threadIdx.x, n,
                        filter::filter_group(&s[i % 4][threadIdx.x]));
  }
}

cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  unsigned blocks = 0;
  if (const cudaError_t error = filter::count_blocks(n, 2, &blocks)) return error;
  if (n == 0) return cudaSuccess;
  const std::int64_t each = (filter::tiles_of(n) + blocks - 1) / blocks;
  filter_tiles<<<blocks, filter::block_size, 0, stream>>>(in, out, n, each);
  return cudaGetLastError();
}
}  // namespace three_ahead

// The pipeline of the C++ library, one per thread: three buffers, two tiles in flight.
namespace library_pipeline {
// 3 4 5: PASSED
using Pipeline = cuda::pipeline<cuda::thread_scope_thread>;

__device__ void begin(float4* s, const float* in, std::int64_t tile, std::int64_t n,
                      Pipeline& pipeline) {
  pipeline.producer_acquire();
  for (int g = threadIdx.x; tile < filter::tiles_of(n) && g < filter::tile_size; g += 256) {
    const std::int64_t from = tile * filter::block_size + g - filter::halo;
    if (filter::is_whole(from, n)) {
      cuda::memcpy_async(&s[g], reinterpret_cast<const float4*>(in) + from,
                         cuda::aligned_size_t<16>(16), pipeline);
    } else {
      s[g] = filter::load_group(in, from, n);
    }
  }
  pipeline.producer_commit();
}

__global__ void filter_tiles(const float* in, float* out, std::int64_t n) {
  __shared__ float4 s[3][filter::tile_size];
  Pipeline pipeline = cuda::make_pipeline();
  begin(s[0], in, blockIdx.x, n, pipeline);
  begin(s[1], in, blockIdx.x + gridDim.x, n, pipeline);
  int b = 0;
  for (std::int64_t i = blockIdx.x; i < filter::tiles_of(n); i += gridDim.x, b = (b + 1) % 3) {
    cuda::pipeline_consumer_wait_prior<1>(pipeline);
    __syncthreads();
    begin(s[(b + 2) % 3], in, i + 2 * gridDim.x, n, pipeline);
    filter::store_group(out, i * 256 + threadIdx.x, n, filter::filter_group(&s[b][threadIdx.x]));
    pipeline.consumer_release();
  }
}

cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  unsigned blocks = 0;
  if (const cudaError_t error = filter::count_blocks(n, 2, &blocks)) return error;
  if (n > 0) filter_tiles<<<blocks, filter::block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace library_pipeline

// Every thread arrives, and keeps the phase of its arrival as a token.
namespace all_arrive {
// 2: PASSED
__global__ void filter_tiles(const float* in, float* out, std::int64_t n) {
  __shared__ float4 s[filter::tile_size];
  __shared__ __mbarrier_t barrier;
  if (threadIdx.x == 0) __mbarrier_init(&barrier, blockDim.x);
  __syncthreads();
  const auto meet = [&] {
    const __mbarrier_token_t token = __mbarrier_arrive(&barrier);
    while (!__mbarrier_test_wait(&barrier, token)) {
    }
  };
  for (std::int64_t i = blockIdx.x; i < filter::tiles_of(n); i += gridDim.x) {
    const std::int64_t first = i * filter::block_size;
    for (int g = threadIdx.x; g < filter::tile_size; g += filter::block_size) {
      s[g] = filter::load_group(in, first + g - filter::halo, n);
    }
    meet();
    filter::store_group(out, first + threadIdx.x, n, filter::filter_group(&s[threadIdx.x]));
    meet();
  }
}

cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  unsigned blocks = 0;
  if (const cudaError_t error = filter::count_blocks(n, 2, &blocks)) return error;
  if (n > 0) filter_tiles<<<blocks, filter::block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace all_arrive

// The barrier of the C++ library; lane 31 arrives for its warp.
namespace library_barrier {
// 2: PASSED
using Barrier = cuda::barrier<cuda::thread_scope_block>;

__device__ void meet(Barrier& barrier, bool parity) {
  __syncwarp();
  if (threadIdx.x % 32 == 31) static_cast<void>(barrier.arrive());
  barrier.wait_parity(parity);
}

__global__ void filter_tiles(const float* in, float* out, std::int64_t n) {
  __shared__ float4 s[filter::tile_size];
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) init(&barrier, 8);
  __syncthreads();
  for (std::int64_t i = blockIdx.x; i < filter::tiles_of(n); i += gridDim.x) {
    const std::int64_t first = i * filter::block_size;
    for (int g = threadIdx.x; g < filter::tile_size; g += filter::block_size) {
      s[g] = filter::load_group(in, first + g - filter::halo, n);
    }
    meet(barrier, false);
    filter::store_group(out, first + threadIdx.x, n, filter::filter_group(&s[threadIdx.x]));
    meet(barrier, true);
  }
}

cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  unsigned blocks = 0;
  if (const cudaError_t error = filter::count_blocks(n, 2, &blocks)) return error;
  if (n > 0) filter_tiles<<<blocks, filter::block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace library_barrier

// A barrier for "full", one for "empty", two buffers; a lane arrives for its warp.
namespace full_and_empty {
// 2: PASSED
__device__ void pass(__mbarrier_t* barrier, bool parity) {
  __syncwarp();
  if (threadIdx.x % 32 == 0) __mbarrier_arrive(barrier);
  while (!__mbarrier_test_wait_parity(barrier, parity)) {
  }
}

__global__ void filter_tiles(const float* in, float* out, std::int64_t n) {
  __shared__ float4 s[filter::tile_size];
  __shared__ __mbarrier_t full, empty;
  if (threadIdx.x == 64) __mbarrier_init(&full, 8), __mbarrier_init(&empty, 8);
  __syncthreads();
  bool parity = false;
  for (std::int64_t i = blockIdx.x; i < filter::tiles_of(n); i += gridDim.x, parity = !parity) {
    const std::int64_t first = i * filter::block_size;
    for (int g = threadIdx.x; g < filter::tile_size; g += filter::block_size) {
      s[g] = filter::load_group(in, first + g - filter::halo, n);
    }
    pass(&full, parity);
    const float4 four = filter::filter_group(&s[threadIdx.x]);
    pass(&empty, parity);
    filter::store_group(out, first + threadIdx.x, n, four);
  }
}

cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  unsigned blocks = 0;
  if (const cudaError_t error = filter::count_blocks(n, 2, &blocks)) return error;
  if (n > 0) filter_tiles<<<blocks, filter::block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace full_and_empty

// Four groups per thread: a quarter of the halos.
namespace four_groups {
// 6: PASSED
constexpr int groups = 4 * filter::block_size;

__device__ void begin(float4* s, const float* in, std::int64_t first, std::int64_t n) {
  for (int g = threadIdx.x; 4 * first < n && g < groups + 4; g += filter::block_size) {
    const std::int64_t from = first + g - filter::halo;
    if (filter::is_whole(from, n)) {
      __pipeline_memcpy_async(&s[g], in + 4 * from, 16);
    } else {
      s[g] = filter::load_group(in, from, n);
    }
  }
  __pipeline_commit();
}

__global__ void filter_tiles(const float* in, float* out, std::int64_t n) {
  __shared__ float4 s[2][groups + 4];
  const std::int64_t step = std::int64_t{groups} * gridDim.x;
  int b = 0;
  begin(s[0], in, std::int64_t{groups} * blockIdx.x, n);
  for (std::int64_t i = std::int64_t{groups} * blockIdx.x; 4 * i < n; i += step, b ^= 1) {
    begin(s[b ^ 1], in, i + step, n);
    __pipeline_wait_prior(1);
    __syncthreads();
    for (int g = threadIdx.x; g < groups; g += filter::block_size) {
      filter::store_group(out, i + g, n, filter::filter_group(&s[b][g]));
    }
    __syncthreads();
  }
}

cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  unsigned blocks = 0;
  if (const cudaError_t error = filter::count_blocks(n, 2, &blocks)) return error;
  if (n > 0) filter_tiles<<<blocks, filter::block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace four_groups

// Two groups per thread, three buffers and one barrier: exercises 5 and 6 in one.
namespace wide_and_one_barrier {
// 6: PASSED
constexpr int groups = 2 * filter::block_size;

__global__ void filter_tiles(const float* in, float* out, std::int64_t n) {
  __shared__ float4 s[3][groups + 4];
  const std::int64_t step = std::int64_t{groups} * gridDim.x;
  const auto begin = [&](float4* to, std::int64_t first) {
    for (int g = threadIdx.x; 4 * first < n && g < groups + 4; g += filter::block_size) {
      const std::int64_t from = first + g - filter::halo;
      if (filter::is_whole(from, n)) {
        __pipeline_memcpy_async(&to[g], in + 4 * from, 16);
      } else {
        to[g] = filter::load_group(in, from, n);
      }
    }
    __pipeline_commit();
  };
  const std::int64_t first = std::int64_t{groups} * blockIdx.x;
  begin(s[0], first);
  begin(s[1], first + step);
  int b = 0;
  for (std::int64_t i = first; 4 * i < n; i += step, b = (b + 1) % 3) {
    __pipeline_wait_prior(1);
    __syncthreads();
    begin(s[(b + 2) % 3], i + 2 * step);
    for (int g = threadIdx.x; g < groups; g += filter::block_size) {
      filter::store_group(out, i + g, n, filter::filter_group(&s[b][g]));
    }
  }
}

cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  unsigned blocks = 0;
  if (const cudaError_t error = filter::count_blocks(n, 2, &blocks)) return error;
  if (n > 0) filter_tiles<<<blocks, filter::block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace wide_and_one_barrier

// Three groups per thread, one tile in flight, a single barrier.
namespace three_groups {
// 6: PASSED
constexpr int groups = 3 * filter::block_size;

__device__ void begin(float4* s, const float* in, std::int64_t first, std::int64_t n) {
  for (int g = threadIdx.x; 4 * first < n && g < groups + 4; g += filter::block_size) {
    const std::int64_t from = first + g - filter::halo;
    if (filter::is_whole(from, n)) {
      __pipeline_memcpy_async(&s[g], in + 4 * from, 16);
    } else {
      s[g] = filter::load_group(in, from, n);
    }
  }
  __pipeline_commit();
}

__global__ void filter_tiles(const float* in, float* out, std::int64_t n) {
  __shared__ float4 s[2][groups + 4];
  const std::int64_t step = std::int64_t{groups} * gridDim.x;
  int b = 0;
  begin(s[0], in, std::int64_t{groups} * blockIdx.x, n);
  for (std::int64_t i = std::int64_t{groups} * blockIdx.x; 4 * i < n; i += step, b ^= 1) {
    __pipeline_wait_prior(0);
    __syncthreads();
    begin(s[b ^ 1], in, i + step, n);
    for (int g = threadIdx.x; g < groups; g += filter::block_size) {
      filter::store_group(out, i + g, n, filter::filter_group(&s[b][g]));
    }
  }
}

cudaError_t apply(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  unsigned blocks = 0;
  if (const cudaError_t error = filter::count_blocks(n, 2, &blocks)) return error;
  if (n > 0) filter_tiles<<<blocks, filter::block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace three_groups
