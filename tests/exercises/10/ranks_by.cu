// Answers to the exercises of chapter 10, and the verdicts that the CPU backend must give.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

namespace one_thread {
// 3: NOT YET: right, but one after the other
__global__ void rank_all(const unsigned* values, const unsigned* queries, unsigned* ranks,
                         std::int64_t n, std::int64_t m) {
  for (std::int64_t q = 0; q < m; ++q) {
    unsigned less = 0;
    for (std::int64_t i = 0; i < n; ++i) less += values[i] < queries[q];
    ranks[q] = less;
  }
}

cudaError_t rank_of_each(const unsigned* values, const unsigned* queries, unsigned* ranks,
                         std::int64_t n, std::int64_t m, std::int64_t, cudaStream_t stream) {
  rank_all<<<1, 1, 0, stream>>>(values, queries, ranks, n, m);
  return cudaGetLastError();
}
}  // namespace one_thread

namespace one_lane_per_warp {
// 3: NOT YET: right, but one after the other
__global__ void rank_some(const unsigned* values, const unsigned* queries, unsigned* ranks,
                          std::int64_t n) {
  __shared__ unsigned total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  const unsigned query = queries[blockIdx.x];
  unsigned less = 0;
  if (threadIdx.x % 32 == 0) {
    for (std::int64_t i = threadIdx.x / 32; i < n; i += 8) less += values[i] < query;
    atomicAdd(&total, less);
  }
  __syncthreads();
  if (threadIdx.x == 0) ranks[blockIdx.x] = total;
}

cudaError_t rank_of_each(const unsigned* values, const unsigned* queries, unsigned* ranks,
                         std::int64_t n, std::int64_t m, std::int64_t, cudaStream_t stream) {
  rank_some<<<static_cast<unsigned>(m), 256, 0, stream>>>(values, queries, ranks, n);
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp

namespace launch_per_query {
// 3: NOT YET: right, but it moves
__global__ void rank_one(const unsigned* values, const unsigned* query, unsigned* rank,
                         std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  const unsigned less = __reduce_add_sync(~0u, i < n && values[i] < *query ? 1u : 0u);
  if (threadIdx.x % 32 == 0) atomicAdd(rank, less);
}

cudaError_t rank_of_each(const unsigned* values, const unsigned* queries, unsigned* ranks,
                         std::int64_t n, std::int64_t m, std::int64_t, cudaStream_t stream) {
  if (m > 0) cudaMemsetAsync(ranks, 0, static_cast<std::size_t>(m) * 4, stream);
  const auto blocks = static_cast<unsigned>((n + 255) / 256);
  for (std::int64_t q = 0; q < m && n > 0; ++q) {
    rank_one<<<blocks, 256, 0, stream>>>(values, queries + q, ranks + q, n);
  }
  return cudaGetLastError();
}
}  // namespace launch_per_query

// A block per query, and no cluster: each reads all values itself.
namespace each_alone {
// 3: NOT YET: right, but it moves
__global__ void rank_by_block(const unsigned* values, const unsigned* queries, unsigned* ranks,
                              std::int64_t n) {
  __shared__ unsigned total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  const unsigned query = queries[blockIdx.x];
  unsigned less = 0;
  for (std::int64_t i = threadIdx.x; i < n; i += 256) less += values[i] < query;
  less = __reduce_add_sync(~0u, less);
  if (threadIdx.x % 32 == 0) atomicAdd(&total, less);
  __syncthreads();
  if (threadIdx.x == 0) ranks[blockIdx.x] = total;
}

cudaError_t rank_of_each(const unsigned* values, const unsigned* queries, unsigned* ranks,
                         std::int64_t n, std::int64_t m, std::int64_t, cudaStream_t stream) {
  if (m > 0) {
    rank_by_block<<<static_cast<unsigned>(m), 256, 0, stream>>>(values, queries, ranks, n);
  }
  return cudaGetLastError();
}
}  // namespace each_alone

namespace copies_alone {
// 3: NOT YET: right, but it moves
namespace ptx = cuda::ptx;
constexpr int tile = 2048;  // values
__global__ void rank_copied(const unsigned* values, const unsigned* queries, unsigned* ranks,
                            std::int64_t n, std::int64_t m) {
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
                         std::int64_t n, std::int64_t m, std::int64_t size, cudaStream_t stream) {
  if (m == 0) return cudaSuccess;
  cudaLaunchAttribute shape;
  shape.id = cudaLaunchAttributeClusterDimension;
  shape.val.clusterDim.x = static_cast<unsigned>(size);
  shape.val.clusterDim.y = shape.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>((m + size - 1) / size * size));
  config.blockDim = dim3(256);
  config.dynamicSmemBytes = 0;
  config.stream = stream;
  config.attrs = &shape;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, rank_copied, values, queries, ranks, n, m);
}
}  // namespace copies_alone

// One stage: all blocks synchronize after they have read it.
namespace meets_per_tile {
// 3: PASSED
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
constexpr int tile = 4096;  // values
__global__ void rank_and_meet(const unsigned* values, const unsigned* queries, unsigned* ranks,
                              std::int64_t n, std::int64_t m) {
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
                         std::int64_t n, std::int64_t m, std::int64_t size, cudaStream_t stream) {
  if (m == 0) return cudaSuccess;
  cudaLaunchAttribute shape;
  shape.id = cudaLaunchAttributeClusterDimension;
  shape.val.clusterDim.x = static_cast<unsigned>(size);
  shape.val.clusterDim.y = shape.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>((m + size - 1) / size * size));
  config.blockDim = dim3(256);
  config.dynamicSmemBytes = 0;
  config.stream = stream;
  config.attrs = &shape;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, rank_and_meet, values, queries, ranks, n, m);
}
}  // namespace meets_per_tile

// Each block copies a segment for itself, and reads the other segments from their blocks.
namespace reads_from_the_others {
// 3: PASSED
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
constexpr int tile = 8192;  // values
__global__ void rank_fetched(const unsigned* values, const unsigned* queries, unsigned* ranks,
                             std::int64_t n, std::int64_t m) {
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
                         std::int64_t n, std::int64_t m, std::int64_t size, cudaStream_t stream) {
  if (m == 0) return cudaSuccess;
  cudaLaunchAttribute shape;
  shape.id = cudaLaunchAttributeClusterDimension;
  shape.val.clusterDim.x = static_cast<unsigned>(size);
  shape.val.clusterDim.y = shape.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>((m + size - 1) / size * size));
  config.blockDim = dim3(256);
  config.dynamicSmemBytes = 0;
  config.stream = stream;
  config.attrs = &shape;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, rank_fetched, values, queries, ranks, n, m);
}
}  // namespace reads_from_the_others

// The blocks alternate: one issues the copy of a whole tile for all.
namespace whole_tiles_by_turns {
// 3: PASSED
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
constexpr int tile = 2048;  // values
__global__ void rank_by_turns(const unsigned* values, const unsigned* queries, unsigned* ranks,
                              std::int64_t n, std::int64_t m) {
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
                         std::int64_t n, std::int64_t m, std::int64_t size, cudaStream_t stream) {
  if (m == 0) return cudaSuccess;
  cudaFuncSetAttribute(rank_by_turns, cudaFuncAttributeMaxDynamicSharedMemorySize, 3 * 4 * tile);
  cudaLaunchAttribute shape;
  shape.id = cudaLaunchAttributeClusterDimension;
  shape.val.clusterDim.x = static_cast<unsigned>(size);
  shape.val.clusterDim.y = shape.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>((m + size - 1) / size * size));
  config.blockDim = dim3(256);
  config.dynamicSmemBytes = 3 * 4 * tile;
  config.stream = stream;
  config.attrs = &shape;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, rank_by_turns, values, queries, ranks, n, m);
}
}  // namespace whole_tiles_by_turns
