// Exercise 6: each block looks through the same values, for a query of its own, and copies all of
// them. The blocks are in clusters of four. Let a cluster copy every value once.
//   ./chapters/run 10 --exercise 6          builds, checks and times it; --hint helps
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

namespace exercise {

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

constexpr int size = 4;  // blocks of a cluster
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
__global__ void __cluster_dims__(size, 1, 1) __launch_bounds__(block_size)
    rank_queries(const unsigned* values, const unsigned* queries, unsigned* ranks, std::int64_t n,
                 std::int64_t m) {
  extern __shared__ __align__(128) unsigned s[];        // s[stages][tile]
  __shared__ std::uint64_t full[stages], read[stages];  // a stage is filled; all warps have read it
  __shared__ unsigned sums[consumers / 32];
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t / 32;
  const int rank = static_cast<int>(cluster.block_rank());
  if (t == 0) {
    for (int stage = 0; stage < stages; ++stage) {
      ptx::mbarrier_init(&full[stage], 1);  // this block's producer, and bytes
      ptx::mbarrier_init(&read[stage], consumers / 32);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  cluster.sync();  // nobody reaches for a barrier before it is initialised
  const std::int64_t tiles = n / tile;
  if (warp < stages) {
    const std::uint16_t me = static_cast<std::uint16_t>(1u << rank);
    unsigned round = 0;
    for (std::int64_t i = warp; i < tiles; i += stages, ++round) {
      if (round > 0) wait(&read[warp], (round - 1) & 1);
      __syncwarp();  // all lanes have waited: one of all of them orders
      cg::invoke_one(cg::coalesced_threads(), [&] {
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                       &full[warp], tile_bytes);
        copy_to_all(s + warp * tile, values + i * tile, tile_bytes, &full[warp], me);  // for itself
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

/// ranks[q] = how many of n values are less than queries[q], for m queries. Device pointers, values
/// at a multiple of 16 bytes. \returns cudaErrorInvalidValue for another pointer, n or m below 0, n
/// above 2^32 - 1, m above 2^24, or an error of CUDA.
cudaError_t rank_of_each(const unsigned* values, const unsigned* queries, unsigned* ranks,
                         std::int64_t n, std::int64_t m, cudaStream_t stream) {
  if (n < 0 || n > UINT32_MAX || m < 0 || m > 1 << 24 ||
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
  const auto clusters = static_cast<unsigned>((m + size - 1) / size);
  rank_queries<<<clusters * size, block_size, bytes, stream>>>(values, queries, ranks, n, m);
  return cudaGetLastError();
}

}  // namespace exercise
