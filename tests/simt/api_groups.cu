// Cooperative groups: blocks, tiles, coalesced threads, grids, clusters.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "simt_test.hpp"

namespace {

namespace cg = cooperative_groups;
using simt_test::Array;
using simt_test::iota;

class Groups : public simt_test::Device {};

__global__ void block_group(int* out) {
  const cg::thread_block block = cg::this_thread_block();
  __shared__ int s[64];
  s[block.thread_rank()] = static_cast<int>(block.thread_rank());
  block.sync();
  const bool right = block.size() == 64 && block.num_threads() == 64 &&
                     block.group_index().x == blockIdx.x && block.thread_index().y == threadIdx.y &&
                     block.dim_threads().x == 16;
  out[block.thread_rank()] = right ? s[63 - block.thread_rank()] : -1;
}
TEST_F(Groups, block) {
  Array<int> out(64);
  block_group<<<1, dim3(16, 4)>>>(out.get());
  EXPECT_EQ(out.host()[0], 63);
  EXPECT_EQ(out.host()[63], 0);
  expect_clean();
}

/// The coalesced lanes, including numbers of them that are no power of two.
__global__ void sum_of_the_first(int n, int* out) {
  if (static_cast<int>(threadIdx.x) >= n) return;
  const auto met = cg::coalesced_threads();
  const int sum = cg::reduce(met, static_cast<int>(threadIdx.x) + 1, cg::plus<int>());
  out[threadIdx.x] = sum;
}
TEST_F(Groups, reductions_of_any_number_of_lanes) {
  for (const int n : {1, 2, 3, 5, 6, 7, 12, 19, 31, 32}) {
    Array<int> out(32, 0);
    sum_of_the_first<<<1, 32>>>(n, out.get());
    const std::vector<int> sums = out.host();
    for (int k = 0; k < n; ++k) EXPECT_EQ(sums[k], n * (n + 1) / 2) << n << " lanes, lane " << k;
  }
  expect_clean();
}

template <int size>
__global__ void tiles(const int* in, int* out) {
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<size>(block);
  const int t = threadIdx.x;
  int sum = in[t];
  for (unsigned d = tile.size() / 2; d > 0; d /= 2) sum += tile.shfl_down(sum, d);
  sum = tile.shfl(sum, 0);
  const int same = cg::reduce(tile, in[t], cg::plus<int>());
  const int low = cg::reduce(tile, in[t], cg::less<int>());
  const unsigned ballot = tile.ballot(t % 2 == 0);
  const int scan = cg::inclusive_scan(tile, 1);
  const int before = cg::exclusive_scan(tile, 1, cg::plus<int>());
  bool right = sum == same && low == static_cast<int>(tile.meta_group_rank() * size);
  right = right && tile.thread_rank() == t % size && tile.meta_group_size() == blockDim.x / size;
  right = right && scan == t % size + 1 && before == t % size && tile.any(t % size == 0);
  right = right && (size == 1 || !tile.all(t % size == 0));
  right = right && ballot == (size == 32 ? 0x55555555u : 0x55555555u & ((1u << size % 32) - 1));
  right = right && tile.shfl_xor(t, 1 % size) == (t ^ (1 % size));
  out[t] = right ? sum : -1;
  tile.sync();
}
template <int size>
void expect_tiles() {
  Array<int> in(iota<int>(64)), out(64);
  tiles<size><<<1, 64>>>(in.get(), out.get());
  const auto host = out.host();
  for (int t = 0; t < 64; ++t) {
    const int first = t / size * size;
    ASSERT_EQ(host[t], size * first + size * (size - 1) / 2) << size;
  }
}
TEST_F(Groups, tiles) {
  expect_tiles<32>();
  expect_tiles<16>();
  expect_tiles<8>();
  expect_tiles<4>();
  expect_tiles<2>();
  expect_clean();
}

/// A tile that synchronizes without the other lanes.
__global__ void one_tile_only(int* out) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int t = threadIdx.x;
  out[t] = 0;
  if (tile.meta_group_rank() == 2) {
    tile.sync();
    out[t] = tile.shfl(t, 3);
  }
}
TEST_F(Groups, one_tile_in_a_branch) {
  Array<int> out(32);
  one_tile_only<<<1, 32>>>(out.get());
  EXPECT_EQ(out.host()[16], 19);
  EXPECT_EQ(out.host()[0], 0);
  expect_clean();
}

__global__ void coalesced(const int* in, int* out, int* counter) {
  const int t = threadIdx.x;
  out[t] = -1;
  if (in[t] % 3 == 0) {
    const auto active = cg::coalesced_threads();
    int first = 0;
    if (active.thread_rank() == 0) first = atomicAdd(counter, static_cast<int>(active.size()));
    out[t] = active.shfl(first, 0) + static_cast<int>(active.thread_rank());
  }
}
TEST_F(Groups, coalesced_threads) {
  Array<int> in(iota<int>(64)), out(64), counter(1, 0);
  coalesced<<<1, 64>>>(in.get(), out.get(), counter.get());
  EXPECT_EQ(counter.first(), 22);
  std::vector<int> seen(22, 0);
  const auto host = out.host();
  for (int t = 0; t < 64; ++t) {
    if (t % 3 == 0) {
      ASSERT_GE(host[t], 0);
      ASSERT_LT(host[t], 22);
      ++seen[host[t]];
    } else {
      EXPECT_EQ(host[t], -1);
    }
  }
  EXPECT_EQ(seen, std::vector<int>(22, 1)) << "each place is taken once";
  expect_clean();
}

// ---- Grids ----

__global__ void grid_sum(const int* in, int* partial, int* out) {
  const cg::grid_group grid = cg::this_grid();
  const int t = static_cast<int>(grid.thread_rank());
  if (threadIdx.x == 0) partial[blockIdx.x] = 0;
  grid.sync();
  atomicAdd(&partial[(blockIdx.x + 1) % gridDim.x], in[t]);
  grid.sync();
  if (t == 0) {
    int sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) sum += partial[b];
    *out = grid.is_valid() && grid.size() == gridDim.x * blockDim.x ? sum : -1;
  }
}
TEST_F(Groups, grid_of_64_blocks) {
  Array<int> in(64 * 32, 1), partial(64), out(1);
  int *a = in.get(), *b = partial.get(), *c = out.get();
  void* arguments[] = {&a, &b, &c};
  ASSERT_EQ(cudaLaunchCooperativeKernel((void*)grid_sum, dim3(64), dim3(32), arguments, 0, nullptr),
            cudaSuccess);
  EXPECT_EQ(out.first(), 2048);
  expect_clean();
}
__global__ void ping_pong(int* a, int* b, int rounds) {
  const auto grid = cg::this_grid();
  const unsigned n = gridDim.x * blockDim.x;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    b[i] = a[(i + 1) % n] + 1;
    grid.sync();
    a[i] = b[(i + 1) % n] + 1;
    grid.sync();
  }
}
TEST_F(Groups, grid_many_rounds) {
  Array<int> one(iota<int>(8 * 64)), two(8 * 64);
  int *a = one.get(), *b = two.get(), rounds = 5;
  void* arguments[] = {&a, &b, &rounds};
  ASSERT_EQ(cudaLaunchCooperativeKernel((void*)ping_pong, dim3(8), dim3(64), arguments, 0, nullptr),
            cudaSuccess);
  EXPECT_EQ(one.first(), 20);
  expect_clean();
}
TEST_F(Groups, grid_too_large_to_be_resident) {
  Array<int> in(1), partial(1), out(1);
  int *a = in.get(), *b = partial.get(), *c = out.get();
  void* arguments[] = {&a, &b, &c};
  EXPECT_EQ(cudaLaunchCooperativeKernel((void*)grid_sum, dim3(1 << 20), dim3(1024), arguments, 0,
                                        nullptr),
            cudaErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
  expect_clean();
}

// ---- Clusters ----

__global__ void __cluster_dims__(4, 1, 1) neighbours(int* out) {
  __shared__ int s[32];
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), t = threadIdx.x;
  s[t] = static_cast<int>(blockIdx.x * 100 + t);
  cluster.sync();
  const int* next = cluster.map_shared_rank(s, (rank + 1) % cluster.num_blocks());
  out[blockIdx.x * 32 + t] = next[31 - t];
  cluster.sync();
}
__global__ void histogram(const int* in, int n, int* out) {
  __shared__ int bins[16];
  const auto cluster = cg::this_cluster();
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int bin = in[i] % 32;
    atomicAdd(cluster.map_shared_rank(bins, bin / 16) + bin % 16, 1);
  }
  cluster.sync();
  if (threadIdx.x < 16) atomicAdd(&out[cluster.block_rank() * 16 + threadIdx.x], bins[threadIdx.x]);
}
TEST_F(Groups, cluster_of_the_kernel) {
  Array<int> out(8 * 32);
  neighbours<<<8, 32>>>(out.get());
  const auto host = out.host();
  for (int b = 0; b < 8; ++b) {
    const int next = b / 4 * 4 + (b % 4 + 1) % 4;
    for (int t = 0; t < 32; ++t) ASSERT_EQ(host[b * 32 + t], next * 100 + 31 - t);
  }
  expect_clean();
}
TEST_F(Groups, cluster_of_the_launch) {
  Array<int> in(iota<int>(1000)), out(32, 0);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 2;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(6);
  config.blockDim = dim3(64);
  config.attrs = &attribute;
  config.numAttrs = 1;
  ASSERT_EQ(
      cudaLaunchKernelEx(&config, histogram, static_cast<const int*>(in.get()), 1000, out.get()),
      cudaSuccess);
  const auto host = out.host();
  for (int i = 0; i < 32; ++i) EXPECT_EQ(host[i], i < 1000 % 32 ? 32 : 31);
  config.gridDim = dim3(5);
  EXPECT_NE(
      cudaLaunchKernelEx(&config, histogram, static_cast<const int*>(in.get()), 1000, out.get()),
      cudaSuccess)
      << "5 blocks are not clusters of 2";
  cudaGetLastError();
  expect_clean();
}

/// A block's shared memory is read after the block may have ended: the last cluster.sync() is
/// missing. In every order one of the two comes second, and finds the other gone.
__global__ void __cluster_dims__(2, 1, 1) no_last_sync(int* out) {
  __shared__ int s;
  const auto cluster = cg::this_cluster();
  s = static_cast<int>(cluster.block_rank());
  cluster.sync();
  out[cluster.block_rank()] =
      *cluster.map_shared_rank(&s, 1 - cluster.block_rank());  // HERE left block
}
TEST_F(Groups, shared_memory_of_a_block_that_has_left) {
  if (!simt::instrumented()) GTEST_SKIP() << "needs the checks";
  Array<int> out(2);
  no_last_sync<<<2, 1>>>(out.get());
  expect_finding("lifetime", "no_last_sync",
                 {simt_test::here("api_groups.cu", "left block"), "which has left: let all"});
}

__global__ void __cluster_dims__(2, 1, 1) cluster_race(int* out) {
  __shared__ int s;
  const auto cluster = cg::this_cluster();
  s = 1;
  cluster.sync();
  s = 2;  // HERE cluster write
  out[cluster.block_rank()] =
      *cluster.map_shared_rank(&s, 1 - cluster.block_rank());  // HERE cluster read
  cluster.sync();
}
TEST_F(Groups, race_between_blocks_of_a_cluster) {
  if (!simt::instrumented()) GTEST_SKIP() << "needs the checks";
  Array<int> out(2);
  cluster_race<<<2, 1>>>(out.get());
  expect_finding("race", "cluster_race",
                 {simt_test::here("api_groups.cu", "cluster write"),
                  simt_test::here("api_groups.cu", "cluster read"), "shared memory of block"});
}

}  // namespace
