// Idea: multicast. All blocks look through the same values, each for a query of its own. In a
//   cluster each block orders one part of a tile, for all: the copy arrives in the shared memory
//   of every block, at the same place, and is counted at every block's barrier.
// Predicts: without clusters each SM fetches all values from the L2 cache, and the way from there
//   to the SMs is the limit. A cluster of C blocks fetches them once: up to C times as fast, until
//   comparing is the limit, 128 bytes per clock and SM from shared memory.
// Still wrong: each SM takes in all bytes, as before; and clusters of four and more leave SMs idle.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

namespace multicast {

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

constexpr int stages = 6;
constexpr int consumers = 512;
constexpr int block_size = 32 * stages + consumers;  // a warp per stage fills it
constexpr int vectors = 4;                           // of four values, per consumer and tile
constexpr int tile = consumers * vectors * 4;        // values
constexpr int tile_bytes = tile * static_cast<int>(sizeof(unsigned));

/// Waits for what threads and copies of this block or others have done.
__device__ void wait(std::uint64_t* barrier, unsigned parity) {
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, barrier, parity)) {
  }
}

/// A bulk copy to the same place in all blocks of the cluster whose bits are set; each of them
/// counts the bytes at its own barrier, at the same place as this block's. PTX ISA,
/// "cp.async.bulk"; <cuda/ptx> has it for 90a, 100a, ... only.
__device__ void copy_to_all(void* to, const void* from, int bytes, std::uint64_t* barrier,
                            std::uint16_t blocks) {
#ifdef SIMT
  ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, to, from, bytes, barrier, blocks);
#else
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1], %2, [%3], %4;"
      :
      : "r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
        "l"(__cvta_generic_to_global(from)), "r"(bytes),
        "r"(static_cast<unsigned>(__cvta_generic_to_shared(barrier))), "h"(blocks)
      : "memory");
#endif
}

/// ranks[q] = how many of the values are less than queries[q]: a block per query, whole tiles and
/// the rest. queries[m - 1] is asked more often where blocks of the last cluster have no query.
__global__ void __launch_bounds__(block_size)
    rank_queries(const unsigned* values, const unsigned* queries, unsigned* ranks, std::int64_t n,
                 std::int64_t m) {
  extern __shared__ __align__(128) unsigned s[];  // s[stages][tile]
  // A stage is filled; all warps of this block have read it; those of all blocks have.
  __shared__ std::uint64_t full[stages], read[stages], empty[stages];
  __shared__ unsigned sums[consumers / 32];
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t / 32;
  const int size = static_cast<int>(cluster.num_blocks());
  const int rank = static_cast<int>(cluster.block_rank());
  if (t == 0) {
    for (int stage = 0; stage < stages; ++stage) {
      ptx::mbarrier_init(&full[stage], 1);  // this block's producer, and bytes from all
      ptx::mbarrier_init(&read[stage], consumers / 32);
      ptx::mbarrier_init(&empty[stage], static_cast<unsigned>(size));
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  cluster.sync();  // nobody reaches for a barrier before it is initialised
  const std::int64_t tiles = n / tile;
  if (warp < stages) {
    const int part = tile / size;
    unsigned* const to = s + warp * tile + rank * part;
    const std::uint16_t all = static_cast<std::uint16_t>((1u << size) - 1);
    unsigned round = 0;
    for (std::int64_t i = warp; i < tiles; i += stages, ++round) {
      if (round > 0) {
        // Every block writes here, so each must know. One warp tells them for all of its block: an
        // arrival that others may rely on waits for the memory.
        wait(&read[warp], (round - 1) & 1);
        if (lane < size) {
          ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                               cluster.map_shared_rank(&empty[warp], lane));
        }
        wait(&empty[warp], (round - 1) & 1);
      }
      __syncwarp();  // all lanes have waited: one of all of them orders
      cg::invoke_one(cg::coalesced_threads(), [&] {
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                       &full[warp], tile_bytes);
        copy_to_all(to, values + i * tile + rank * part, tile_bytes / size, &full[warp], all);
      });
    }
  } else {
    const int c = t - 32 * stages;
    const std::int64_t q = blockIdx.x < m ? blockIdx.x : m - 1;
    const unsigned query = queries[q];
    unsigned less = 0, round = 0;
    int stage = 0;
    for (std::int64_t i = 0; i < tiles; ++i) {
      wait(&full[stage], round & 1);
      const uint4* const from = reinterpret_cast<const uint4*>(s + stage * tile);
      uint4 v[vectors];
      for (int k = 0; k < vectors; ++k) v[k] = from[c + k * consumers];
      ptx::fence_proxy_async(ptx::space_shared);  // copies overwrite what this thread has read
      __syncwarp();                               // all lanes have read
      if (lane == 0) ptx::mbarrier_arrive(&read[stage]);
      if (++stage == stages) stage = 0, ++round;
      for (int k = 0; k < vectors; ++k) {
        less += (v[k].x < query) + (v[k].y < query) + (v[k].z < query) + (v[k].w < query);
      }
    }
    for (std::int64_t i = tiles * tile + c; i < n; i += consumers) less += values[i] < query;
    less = __reduce_add_sync(~0u, less);
    if (lane == 0) sums[c / 32] = less;
  }
  cluster.sync();  // what this block has ordered has come to all
  if (t == 0 && blockIdx.x < m) {
    unsigned sum = 0;
    for (const unsigned part : sums) sum += part;
    ranks[blockIdx.x] = sum;
  }
}

/// ranks[q] = how many of n values are less than queries[q], for m queries, by clusters of `size`
/// blocks: 1, 2, 4, 8 or 16 (8 is what every card takes). Device pointers, values at a multiple of
/// 16 bytes. \returns cudaErrorInvalidValue for another pointer or size, n or m below 0, n above
/// 2^32 - 1, m above 2^24, or an error of CUDA.
cudaError_t rank_of_each(const unsigned* values, const unsigned* queries, unsigned* ranks,
                         std::int64_t n, std::int64_t m, std::int64_t size, cudaStream_t stream) {
  const bool fits = size > 0 && size <= 16 && (size & (size - 1)) == 0;
  if (n < 0 || n > UINT32_MAX || m < 0 || m > 1 << 24 || !fits ||
      reinterpret_cast<std::uintptr_t>(values) % 16 != 0) {
    return cudaErrorInvalidValue;
  }
  if (m == 0) return cudaSuccess;
  if (n == 0) return cudaMemsetAsync(ranks, 0, static_cast<std::size_t>(m) * sizeof *ranks, stream);
  constexpr int bytes = stages * tile_bytes;
  if (cudaError_t error =
          cudaFuncSetAttribute(rank_queries, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)) {
    return error;
  }
  if (cudaError_t error = cudaFuncSetAttribute(
          rank_queries, cudaFuncAttributeNonPortableClusterSizeAllowed, size > 8)) {
    return error;
  }
  cudaLaunchAttribute shape;
  shape.id = cudaLaunchAttributeClusterDimension;
  shape.val.clusterDim.x = static_cast<unsigned>(size);
  shape.val.clusterDim.y = shape.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>((m + size - 1) / size * size));
  config.blockDim = dim3(block_size);
  config.dynamicSmemBytes = bytes;
  config.stream = stream;
  config.attrs = &shape;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, rank_queries, values, queries, ranks, n, m);
}

}  // namespace multicast
