// Faults that only clusters have: accesses to a block that has not started or has ended, a refill
// of what another block still reads, waits where a thread cannot wait.
#include <cooperative_groups.h>

#include <cuda/ptx>

#include "simt_test.hpp"

namespace {

using simt_test::Array;
using simt_test::iota;
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

class Cluster : public simt_test::Device {};

std::string at(const std::string& name) { return simt_test::here("faults_cluster.cu", name); }

constexpr int n = 64;
constexpr int bytes = n * static_cast<int>(sizeof(int));

__device__ void wait(std::uint64_t* barrier, unsigned parity) {
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, barrier, parity)) {
  }
}

/// Two blocks copy 2 tiles into one stage in both: block r issues half r, for both. variant 0:
/// right; 1: a block reports its reads only to itself; 2: no proxy fence after the reads; 3: no
/// cluster barrier after the initialisation; 4: none before the blocks end.
template <int variant>
__global__ void __cluster_dims__(2, 1, 1) halves(const int* in, int* out) {
  __shared__ alignas(128) int tile[n];
  __shared__ std::uint64_t full, empty;
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = threadIdx.x, rank = static_cast<int>(cluster.block_rank());
  if (t == 0) {
    ptx::mbarrier_init(&full, 1);  // HERE initialised
    ptx::mbarrier_init(&empty, variant == 1 ? 32 : 64);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  if (variant == 3) {
    __syncthreads();
  } else {
    cluster.sync();
  }
  int sum = 0;
  for (unsigned round = 0; round < 2; ++round) {
    if (t == 0) {
      wait(&empty, (round & 1) ^ 1);
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full,
                                     bytes);
      int* const to = tile + rank * n / 2;
      const int* const from = in + round * n + rank * n / 2;
      const std::uint16_t both = 3;
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, to, from,  // HERE ordered
                         bytes / 2, &full, both);
    }
    __syncwarp();
    wait(&full, round & 1);
    sum += tile[t] + tile[t + 32];  // HERE read
    if (variant != 2) ptx::fence_proxy_async(ptx::space_shared);
    for (int r = 0; r < 2; ++r) {
      if (variant == 1 && r != rank) continue;
      std::uint64_t* const there = cluster.map_shared_rank(&empty, r);
      ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,  // HERE told
                           there);
    }
  }
  if (variant != 4) cluster.sync();
  out[blockIdx.x * 32 + t] = sum;
}
template <int variant>
std::vector<int> run_halves() {
  Array<int> in(iota<int>(2 * n)), out(n);
  halves<variant><<<2, 32>>>(in.get(), out.get());
  return cudaDeviceSynchronize() == cudaSuccess ? out.host() : std::vector<int>(n);
}
TEST_F(Cluster, tiles_for_two_blocks) {
  const std::vector<int> out = run_halves<0>();
  expect_clean();
  for (int i = 0; i < n; ++i) EXPECT_EQ(out[i], 4 * (i % 32) + 2 * 32 + 2 * n);
}
TEST_F(Cluster, refilled_while_another_block_reads) {
  run_halves<1>();
  expect_finding("race", "halves<variant>", {at("read"), at("ordered"), "shared memory of block"});
}
TEST_F(Cluster, no_proxy_fence_before_another_block_refills) {
  run_halves<2>();
  expect_finding("order", "halves<variant>", {at("read"), at("ordered"), "fence_proxy_async"});
}
TEST_F(Cluster, barriers_of_a_block_that_may_not_have_begun) {
  run_halves<3>();
  expect_finding("race|uninitialised", "halves<variant>", {at("ordered"), "initialise"});
}
TEST_F(Cluster, leaves_while_others_arrive) {
  run_halves<4>();
  expect_finding("lifetime", "halves<variant>", {at("told"), "let all blocks meet"});
}

/// Block 1 is late on a GPU; here the order of threads decides. In every order its read races with
/// the end of block 0.
__global__ void __cluster_dims__(2, 1, 1) reads_the_first(int* out) {
  __shared__ int s;
  const auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) s = 7;
  cluster.sync();
  if (cluster.block_rank() == 1)
    out[threadIdx.x] = *cluster.map_shared_rank(&s, 0);  // HERE reads the first
}
TEST_F(Cluster, nothing_orders_a_read_before_the_end) {
  Array<int> out(32);
  reads_the_first<<<2, 32>>>(out.get());
  expect_finding("lifetime", "reads_the_first", {at("reads the first"), "let all blocks meet"});
}

__global__ void __cluster_dims__(2, 1, 1) waits_elsewhere(int* out) {
  __shared__ std::uint64_t barrier;
  const auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) ptx::mbarrier_init(&barrier, 1);
  cluster.sync();
  if (threadIdx.x == 0) {
    const unsigned other = 1 - cluster.block_rank();
    out[other] = ptx::mbarrier_test_wait_parity(cluster.map_shared_rank(&barrier, other),
                                                1);  // HERE elsewhere
  }
  cluster.sync();
}
TEST_F(Cluster, waits_at_the_barrier_of_another_block) {
  Array<int> out(2);
  waits_elsewhere<<<2, 32>>>(out.get());
  expect_finding("barrier", "waits_elsewhere", {"its own block's only"});
}

/// Sends 4 words to the other block, whose barrier expects `expected` bytes.
__global__ void __cluster_dims__(2, 1, 1) send_four(int* out, unsigned expected) {
  __shared__ alignas(16) int words[4];
  __shared__ std::uint64_t full;
  const auto cluster = cg::this_cluster();
  const int other = 1 - static_cast<int>(cluster.block_rank());
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full,
                                   expected);
  }
  cluster.sync();
  if (threadIdx.x == 0) {
    const int first[2] = {1, 2}, second[2] = {3, 4};
    int* const to = cluster.map_shared_rank(words, other);
    ptx::st_async(to, first, cluster.map_shared_rank(&full, other));
    ptx::st_async(to + 2, second, cluster.map_shared_rank(&full, other));
  }
  wait(&full, 0);
  if (threadIdx.x < 4) out[4 * other + threadIdx.x] = words[threadIdx.x];
}
TEST_F(Cluster, vectors_by_st_async) {
  Array<int> out(8);
  send_four<<<2, 32>>>(out.get(), 16);
  expect_clean();
  EXPECT_EQ(out.host(), (std::vector<int>{1, 2, 3, 4, 1, 2, 3, 4}));
}
TEST_F(Cluster, more_is_sent_than_expected) {
  Array<int> out(8);
  send_four<<<2, 32>>>(out.get(), 8);
  expect_finding("race|barrier", "send_four", {"more bytes"});
}
TEST_F(Cluster, less_is_sent_than_expected) {
  Array<int> out(8);
  send_four<<<2, 32>>>(out.get(), 24);
  expect_finding("deadlock", "send_four", {"no thread can go on"});
}

/// Each lane adds 1 to a counter of the other block and, from both blocks, to one of block 0.
/// `waits`: for the sent values.
template <bool waits>
__global__ void __cluster_dims__(2, 1, 1) add_there(unsigned* out) {
  __shared__ unsigned mine, shared_by_both;
  __shared__ std::uint64_t full;
  const auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), other = 1 - rank;
  if (threadIdx.x == 0) {
    mine = shared_by_both = 0;
    ptx::mbarrier_init(&full, 1);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full,
                                   4 * 32 * (rank == 0 ? 3 : 1));
  }
  cluster.sync();
  ptx::red_async(ptx::op_add, cluster.map_shared_rank(&mine, other), 1u,
                 cluster.map_shared_rank(&full, other));
  ptx::red_async(ptx::op_add, cluster.map_shared_rank(&shared_by_both, 0), 1u,
                 cluster.map_shared_rank(&full, 0));
  if (waits) wait(&full, 0);
  if (threadIdx.x == 0) {
    out[2 * rank] = mine;  // HERE red
    out[2 * rank + 1] = shared_by_both;
  }
  cluster.sync();
}
TEST_F(Cluster, sums_by_red_async) {
  Array<unsigned> out(4);
  add_there<true><<<2, 32>>>(out.get());
  expect_clean();
  EXPECT_EQ(out.host(), (std::vector<unsigned>{32, 64, 32, 0}));
}
TEST_F(Cluster, sums_by_red_async_not_awaited) {
  Array<unsigned> out(4);
  add_there<false><<<2, 32>>>(out.get());
  expect_finding("race", "add_there<false>", {"updated it"});
}

/// Reads words that the other block and another thread of this block wrote before all arrived;
/// waits only if `waits`. Block 0 arrives last.
template <bool waits>
__global__ void __cluster_dims__(2, 1, 1) arrive_and_read(int* out, int from_other) {
  __shared__ int mine[64];
  const auto cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x), rank = static_cast<int>(cluster.block_rank());
  mine[t] = t;
  auto token = cluster.barrier_arrive();
  for (int k = 0; k < 3; ++k) __nanosleep(100);  // by now all have arrived
  if (waits) cluster.barrier_wait(std::move(token));
  const int* const from = from_other != 0 ? cluster.map_shared_rank(mine, 1 - rank) : mine;
  out[64 * rank + t] = from[63 - t];
  if (!waits) cluster.barrier_wait(std::move(token));
  cluster.sync();
}
TEST_F(Cluster, reads_after_the_wait) {
  Array<int> out(128);
  arrive_and_read<true><<<2, 64>>>(out.get(), 1);
  arrive_and_read<true><<<2, 64>>>(out.get(), 0);
  expect_clean();
}
TEST_F(Cluster, reads_another_block_before_the_wait) {
  Array<int> out(128);
  arrive_and_read<false><<<2, 64>>>(out.get(), 1);
  expect_finding("race", "arrive_and_read<false>", {"wrote it"});
}
TEST_F(Cluster, reads_its_own_block_before_the_wait) {
  Array<int> out(128);
  arrive_and_read<false><<<2, 64>>>(out.get(), 0);
  expect_finding("race", "arrive_and_read<false>", {"wrote it"});
}

}  // namespace
