// Answers to the exercises of chapter 10, and the verdicts that the CPU backend must give.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

namespace one_thread {
// 6: NOT YET: right, but one after the other
__global__ void rank_all(const unsigned* values, const unsigned* queries, unsigned* ranks,
                         std::int64_t n, std::int64_t m) {
  for (std::int64_t q = 0; q < m; ++q) {
    unsigned less = 0;
    for (std::int64_t i = 0; i < n; ++i) less += values[i] < queries[q];
    ranks[q] = less;
  }
}

cudaError_t rank_of_each(const unsigned* values, const unsigned* queries, unsigned* ranks,
                         std::int64_t n, std::int64_t m, cudaStream_t stream) {
  rank_all<<<1, 1, 0, stream>>>(values, queries, ranks, n, m);
  return cudaGetLastError();
}
}  // namespace one_thread

// A block per query, and no cluster: each reads all values itself, by loads.
namespace each_alone {
// 6: NOT YET: right, but
__global__ void rank_by_block(const unsigned* values, const unsigned* queries, unsigned* ranks,
                              std::int64_t n) {
  __shared__ unsigned total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  const unsigned query = queries[blockIdx.x];
  unsigned less = 0;
  for (std::int64_t i = threadIdx.x; i < n; i += 512) less += values[i] < query;
  less = __reduce_add_sync(~0u, less);
  if (threadIdx.x % 32 == 0) atomicAdd(&total, less);
  __syncthreads();
  if (threadIdx.x == 0) ranks[blockIdx.x] = total;
}

cudaError_t rank_of_each(const unsigned* values, const unsigned* queries, unsigned* ranks,
                         std::int64_t n, std::int64_t m, cudaStream_t stream) {
  if (m > 0) {
    rank_by_block<<<static_cast<unsigned>(m), 512, 0, stream>>>(values, queries, ranks, n);
  }
  return cudaGetLastError();
}
}  // namespace each_alone

// Neither clusters nor bulk copies: a block handles four queries, or sixteen, by plain loads.
namespace four_queries_per_block {
// 6: NOT YET: right, but
template <int each>
__global__ void rank_several(const unsigned* values, const unsigned* queries, unsigned* ranks,
                             std::int64_t n, std::int64_t m) {
  __shared__ unsigned total[each];
  const unsigned t = threadIdx.x;
  const std::int64_t q0 = std::int64_t{blockIdx.x} * each;
  if (t < each) total[t] = 0;
  __syncthreads();
  unsigned query[each], less[each] = {};
  for (int k = 0; k < each; ++k) query[k] = q0 + k < m ? queries[q0 + k] : 0;
  for (std::int64_t i = t; i < n; i += 512) {
    const unsigned value = values[i];
    for (int k = 0; k < each; ++k) less[k] += value < query[k];
  }
  for (int k = 0; k < each; ++k) {
    const unsigned sum = __reduce_add_sync(~0u, less[k]);
    if (t % 32 == 0) atomicAdd(&total[k], sum);
  }
  __syncthreads();
  if (t < each && q0 + t < m) ranks[q0 + t] = total[t];
}

cudaError_t rank_of_each(const unsigned* values, const unsigned* queries, unsigned* ranks,
                         std::int64_t n, std::int64_t m, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((m + 3) / 4);
  if (m > 0) rank_several<4><<<blocks, 512, 0, stream>>>(values, queries, ranks, n, m);
  return cudaGetLastError();
}
}  // namespace four_queries_per_block

namespace one_block {
// 6: NOT YET: right, but
__global__ void rank_in_one(const unsigned* values, const unsigned* queries, unsigned* ranks,
                            std::int64_t n, std::int64_t m) {
  __shared__ unsigned total[16];
  const unsigned t = threadIdx.x;
  for (std::int64_t q0 = 0; q0 < m; q0 += 16) {
    if (t < 16) total[t] = 0;
    __syncthreads();
    unsigned query[16], less[16] = {};
    for (int k = 0; k < 16; ++k) query[k] = q0 + k < m ? queries[q0 + k] : 0;
    for (std::int64_t i = t; i < n; i += 1024) {
      const unsigned value = values[i];
      for (int k = 0; k < 16; ++k) less[k] += value < query[k];
    }
    for (int k = 0; k < 16; ++k) {
      const unsigned sum = __reduce_add_sync(~0u, less[k]);
      if (t % 32 == 0) atomicAdd(&total[k], sum);
    }
    __syncthreads();
    if (t < 16 && q0 + t < m) ranks[q0 + t] = total[t];
    __syncthreads();
  }
}

cudaError_t rank_of_each(const unsigned* values, const unsigned* queries, unsigned* ranks,
                         std::int64_t n, std::int64_t m, cudaStream_t stream) {
  rank_in_one<<<1, 1024, 0, stream>>>(values, queries, ranks, n, m);
  return cudaGetLastError();
}
}  // namespace one_block

namespace copies_alone {
// 6: NOT YET: right, but bulk copies read
namespace ptx = cuda::ptx;
constexpr int tile = 2048;  // values
__global__ void __cluster_dims__(4, 1, 1)
    rank_copied(const unsigned* values, const unsigned* queries, unsigned* ranks, std::int64_t n,
                std::int64_t m) {
  __shared__ __align__(128) unsigned s[tile];
  __shared__ std::uint64_t full;
  __shared__ unsigned total;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    total = 0;
    ptx::mbarrier_init(&full, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  const unsigned query = queries[blockIdx.x < m ? blockIdx.x : m - 1];
  const std::int64_t tiles = n / tile;
  unsigned less = 0;
  __syncthreads();
  for (std::int64_t i = 0; i < tiles; ++i) {
    if (t == 0) {
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full,
                                     4 * tile);
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, values + i * tile, 4 * tile,
                         &full);
    }
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &full, i & 1)) {
    }
    for (int k = t; k < tile; k += 256) less += s[k] < query;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
  }
  for (std::int64_t i = tiles * tile + t; i < n; i += 256) less += values[i] < query;
  atomicAdd(&total, less);
  __syncthreads();
  if (t == 0 && blockIdx.x < m) ranks[blockIdx.x] = total;
}

cudaError_t rank_of_each(const unsigned* values, const unsigned* queries, unsigned* ranks,
                         std::int64_t n, std::int64_t m, cudaStream_t stream) {
  if (m == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>((m + 3) / 4 * 4);
  rank_copied<<<blocks, 256, 0, stream>>>(values, queries, ranks, n, m);
  return cudaGetLastError();
}
}  // namespace copies_alone

// One stage: all blocks synchronize after they have read it.
namespace meets_per_tile {
// 6: PASSED
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
constexpr int tile = 4096;  // values
__global__ void __cluster_dims__(4, 1, 1)
    rank_and_meet(const unsigned* values, const unsigned* queries, unsigned* ranks, std::int64_t n,
                  std::int64_t m) {
  __shared__ __align__(128) unsigned s[tile];
  __shared__ std::uint64_t full;
  __shared__ unsigned total;
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x);
  const int size = static_cast<int>(cluster.num_blocks());
  const int rank = static_cast<int>(cluster.block_rank());
  if (t == 0) {
    total = 0;
    ptx::mbarrier_init(&full, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  const unsigned query = queries[blockIdx.x < m ? blockIdx.x : m - 1];
  const std::int64_t tiles = n / tile;
  unsigned less = 0;
  const int part = tile / size;
  const auto all = static_cast<std::uint16_t>((1 << size) - 1);
  cluster.sync();
  for (std::int64_t i = 0; i < tiles; ++i) {
    if (t == 0) {
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full,
                                     4 * tile);
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s + rank * part,
                         values + i * tile + rank * part, 4 * part, &full, all);
    }
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &full, i & 1)) {
    }
    for (int k = t; k < tile; k += 256) less += s[k] < query;
    ptx::fence_proxy_async(ptx::space_shared);
    cluster.sync();  // all blocks have read the tile
  }
  for (std::int64_t i = tiles * tile + t; i < n; i += 256) less += values[i] < query;
  atomicAdd(&total, less);
  __syncthreads();
  if (t == 0 && blockIdx.x < m) ranks[blockIdx.x] = total;
}

cudaError_t rank_of_each(const unsigned* values, const unsigned* queries, unsigned* ranks,
                         std::int64_t n, std::int64_t m, cudaStream_t stream) {
  if (m == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>((m + 3) / 4 * 4);
  rank_and_meet<<<blocks, 256, 0, stream>>>(values, queries, ranks, n, m);
  return cudaGetLastError();
}
}  // namespace meets_per_tile

// Each block copies a segment for itself, and reads the other segments from their blocks.
namespace reads_from_the_others {
// 6: PASSED
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
constexpr int tile = 8192;  // values
__global__ void __cluster_dims__(4, 1, 1)
    rank_fetched(const unsigned* values, const unsigned* queries, unsigned* ranks, std::int64_t n,
                 std::int64_t m) {
  __shared__ __align__(128) unsigned s[tile];
  __shared__ std::uint64_t full;
  __shared__ unsigned total;
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x);
  const int size = static_cast<int>(cluster.num_blocks());
  const int rank = static_cast<int>(cluster.block_rank());
  if (t == 0) {
    total = 0;
    ptx::mbarrier_init(&full, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  const unsigned query = queries[blockIdx.x < m ? blockIdx.x : m - 1];
  const std::int64_t tiles = n / tile;
  unsigned less = 0;
  const int part = tile / size;
  cluster.sync();
  for (std::int64_t i = 0; i < tiles; ++i) {
    if (t == 0) {
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full,
                                     4 * part);
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, values + i * tile + rank * part,
                         4 * part, &full);
    }
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &full, i & 1)) {
    }
    cluster.sync();  // every block has its segment
    for (int r = 0; r < size; ++r) {
      const unsigned* const from = cluster.map_shared_rank(s, (rank + r) % size);
      for (int k = t; k < part; k += 256) less += from[k] < query;
    }
    ptx::fence_proxy_async(ptx::space_shared);
    cluster.sync();  // all blocks have read the segments
  }
  for (std::int64_t i = tiles * tile + t; i < n; i += 256) less += values[i] < query;
  atomicAdd(&total, less);
  __syncthreads();
  if (t == 0 && blockIdx.x < m) ranks[blockIdx.x] = total;
}

cudaError_t rank_of_each(const unsigned* values, const unsigned* queries, unsigned* ranks,
                         std::int64_t n, std::int64_t m, cudaStream_t stream) {
  if (m == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>((m + 3) / 4 * 4);
  rank_fetched<<<blocks, 256, 0, stream>>>(values, queries, ranks, n, m);
  return cudaGetLastError();
}
}  // namespace reads_from_the_others

// The blocks alternate: one issues the copy of a whole tile for all.
namespace whole_tiles_by_turns {
// 6: PASSED
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
constexpr int tile = 2048;  // values
__global__ void __cluster_dims__(4, 1, 1)
    rank_by_turns(const unsigned* values, const unsigned* queries, unsigned* ranks, std::int64_t n,
                  std::int64_t m) {
  extern __shared__ __align__(128) unsigned s[];  // s[3][tile]
  __shared__ std::uint64_t full[3], empty[3];
  __shared__ unsigned total;
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x);
  const int size = static_cast<int>(cluster.num_blocks());
  const int rank = static_cast<int>(cluster.block_rank());
  if (t == 0) {
    total = 0;
    for (int k = 0; k < 3; ++k) ptx::mbarrier_init(&full[k], 1);
    for (int k = 0; k < 3; ++k) ptx::mbarrier_init(&empty[k], static_cast<unsigned>(size));
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  const unsigned query = queries[blockIdx.x < m ? blockIdx.x : m - 1];
  const std::int64_t tiles = n / tile;
  unsigned less = 0;
  const auto wait = [](std::uint64_t* barrier, std::int64_t phase) {
    const auto parity = static_cast<unsigned>(phase & 1);
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, barrier, parity)) {
    }
  };
  const auto order = [&](std::int64_t i) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                   &full[i % 3], 4 * tile);
    if (i % size != rank) return;
    if (i >= 3) wait(&empty[i % 3], i / 3 - 1);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s + i % 3 * tile, values + i * tile,
                       4 * tile, &full[i % 3], static_cast<std::uint16_t>((1 << size) - 1));
  };
  cluster.sync();
  for (std::int64_t i = 0; t == 0 && i < 2 && i < tiles; ++i) order(i);
  for (std::int64_t i = 0; i < tiles; ++i) {
    if (t == 0 && i + 2 < tiles) order(i + 2);
    wait(&full[i % 3], i / 3);
    for (int k = t; k < tile; k += 256) less += s[i % 3 * tile + k] < query;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (t < size) {
      ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                           cluster.map_shared_rank(&empty[i % 3], t));
    }
  }
  cluster.sync();
  for (std::int64_t i = tiles * tile + t; i < n; i += 256) less += values[i] < query;
  atomicAdd(&total, less);
  __syncthreads();
  if (t == 0 && blockIdx.x < m) ranks[blockIdx.x] = total;
}

cudaError_t rank_of_each(const unsigned* values, const unsigned* queries, unsigned* ranks,
                         std::int64_t n, std::int64_t m, cudaStream_t stream) {
  if (m == 0) return cudaSuccess;
  cudaFuncSetAttribute(rank_by_turns, cudaFuncAttributeMaxDynamicSharedMemorySize, 3 * 4 * tile);
  const auto blocks = static_cast<unsigned>((m + 3) / 4 * 4);
  rank_by_turns<<<blocks, 256, 3 * 4 * tile, stream>>>(values, queries, ranks, n, m);
  return cudaGetLastError();
}
}  // namespace whole_tiles_by_turns
