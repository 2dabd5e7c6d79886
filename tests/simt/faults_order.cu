// What CUDA's memory model requires besides freedom from races: an acquire with the flag's load,
// and a fence between ordinary accesses and the copy engine. And stores in different iterations.
#include <cuda/atomic>
#include <cuda/ptx>

#include "simt_test.hpp"

namespace {

using simt_test::Array;
using simt_test::iota;
namespace ptx = cuda::ptx;

class Acquire : public simt_test::Device {};
class Proxy : public simt_test::Device {};
class Turns : public simt_test::Device {};

std::string at(const std::string& name) { return simt_test::here("faults_order.cu", name); }

// ---- The acquire side ----

/// The programming guide's own code: the partial sums are volatile, and only thread 0 takes
/// tickets.
__global__ void sum_of_the_guide(const float* in, unsigned n, volatile float* result,
                                 unsigned* count) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    float sum = 0;
    for (unsigned i = blockIdx.x; i < n; i += gridDim.x) sum += in[i];
    result[blockIdx.x] = sum;
    __threadfence();
    is_last = atomicInc(count, gridDim.x) == gridDim.x - 1;  // HERE ticket
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    float total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += result[b];
    result[0] = total;
    *count = 0;  // HERE reset
  }
}
TEST_F(Acquire, sum_of_the_guide_has_no_error) {
  Array<float> in(100, 1.0f), result(8);
  Array<unsigned> count(1, 0u);
  sum_of_the_guide<<<8, 32>>>(in.get(), 100, result.get(), count.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(result.first(), 100);
  expect_finding("order", "sum_of_the_guide",
                 {at("ticket"), at("reset"), "make this access atomic"});
}

enum class Reader { nothing, fence, acquire_load, acquire_fence, release_fence, block_fence };

template <Reader how>
__device__ void wait_for(int* flag) {
  cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
  if (how == Reader::acquire_load) {
    while (f.load(cuda::memory_order_acquire) == 0) {
    }
    return;
  }
  while (f.load(cuda::memory_order_relaxed) == 0) {  // HERE flag loaded
  }
  if (how == Reader::fence) __threadfence();
  if (how == Reader::block_fence) __threadfence_block();
  if (how == Reader::acquire_fence)
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
  if (how == Reader::release_fence)
    cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
}
__device__ void set(int* flag) {
  cuda::atomic_ref<int, cuda::thread_scope_device>(*flag).store(1, cuda::memory_order_release);
}

/// The first block sends.
template <Reader how>
__global__ void between_blocks(int* data, int* flag, int* ticket, int* out) {
  if (atomicAdd(ticket, 1) == 0) {
    *data = 42;  // HERE sent
    set(flag);
  } else {
    wait_for<how>(flag);
    *out = *data;  // HERE received
  }
}
template <Reader how>
void run_between_blocks() {
  Array<int> data(1, 0), flag(1, 0), ticket(1, 0), out(1);
  between_blocks<how><<<2, 1>>>(data.get(), flag.get(), ticket.get(), out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out.first(), 42);
}
TEST_F(Acquire, relaxed_load_alone) {
  run_between_blocks<Reader::nothing>();
  expect_finding("order", "between_blocks<how>",
                 {at("sent"), at("received"), at("flag loaded"), "__threadfence()"});
}
TEST_F(Acquire, relaxed_load_and_fence_is_right) {
  run_between_blocks<Reader::fence>();
  expect_clean();
}
TEST_F(Acquire, acquire_load_is_right) {
  run_between_blocks<Reader::acquire_load>();
  expect_clean();
}
TEST_F(Acquire, acquire_fence_is_right) {
  run_between_blocks<Reader::acquire_fence>();
  expect_clean();
}
TEST_F(Acquire, release_fence_acquires_nothing) {
  run_between_blocks<Reader::release_fence>();
  expect_finding("order", "between_blocks<how>", {at("sent"), at("received")});
}
TEST_F(Acquire, fence_of_the_block_does_not_reach_other_blocks) {
  run_between_blocks<Reader::block_fence>();
  expect_finding("order", "between_blocks<how>", {at("sent"), at("received")});
}

/// From warp 0 to warp 1 of a block.
template <Reader how>
__global__ void between_warps(int* out) {
  __shared__ int data, flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    data = 42;  // HERE sent in a block
    set(&flag);
  } else if (threadIdx.x == 32) {
    wait_for<how>(&flag);
    *out = data;  // HERE received in a block
  }
}
template <Reader how>
void run_between_warps() {
  Array<int> out(1);
  between_warps<how><<<1, 64>>>(out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out.first(), 42);
}
TEST_F(Acquire, within_a_block_relaxed_load_alone) {
  run_between_warps<Reader::nothing>();
  expect_finding("order", "between_warps<how>", {at("sent in a block"), at("received in a block")});
}
TEST_F(Acquire, within_a_block_its_fence_is_enough) {
  run_between_warps<Reader::block_fence>();
  expect_clean();
}

/// The middle thread passes on what it has not acquired.
template <Reader how>
__global__ void chain(int* data, int* flags, int* ticket, int* out) {
  const int number = atomicAdd(ticket, 1);
  if (number == 0) {
    *data = 42;  // HERE start of the chain
    set(&flags[0]);
  } else if (number == 1) {
    wait_for<how>(&flags[0]);
    set(&flags[1]);
  } else {
    wait_for<Reader::acquire_load>(&flags[1]);
    *out = *data;  // HERE end of the chain
  }
}
template <Reader how>
void run_chain() {
  Array<int> data(1, 0), flags(2, 0), ticket(1, 0), out(1);
  chain<how><<<3, 1>>>(data.get(), flags.get(), ticket.get(), out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}
TEST_F(Acquire, chain_is_as_strong_as_its_weakest) {
  run_chain<Reader::nothing>();
  expect_finding("order", "chain<how>",
                 {at("start of the chain"), at("end of the chain"), at("flag loaded")});
}
TEST_F(Acquire, chain_is_right) {
  run_chain<Reader::fence>();
  expect_clean();
}

/// One thread loads the flag for its block. variant 0: it fences; 1: all others fence, after a
/// barrier.
template <int variant>
__global__ void look_for_the_block(int* data, volatile int* flag, int* ticket, int* out) {
  __shared__ bool sends;
  if (threadIdx.x == 0) sends = atomicAdd(ticket, 1) == 0;
  __syncthreads();
  if (sends) {
    if (threadIdx.x != 0) return;
    *data = 42;
    __threadfence();
    *flag = 1;
    return;
  }
  if (threadIdx.x == 0) {
    while (*flag == 0) {
    }
    if (variant == 0) __threadfence();
  }
  __syncthreads();
  if (variant == 1 && threadIdx.x != 0) __threadfence();
  out[threadIdx.x] = *data;  // HERE the whole block reads
}
template <int variant>
void run_look_for_the_block() {
  Array<int> data(1, 0), flag(1, 0), ticket(1, 0), out(64);
  look_for_the_block<variant><<<2, 64>>>(data.get(), flag.get(), ticket.get(), out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out.host(), std::vector<int>(64, 42));
}
TEST_F(Acquire, one_thread_for_its_block_is_right) {
  run_look_for_the_block<0>();
  expect_clean();
}
TEST_F(Acquire, fences_of_those_who_did_not_look) {
  run_look_for_the_block<1>();
  expect_finding("order", "look_for_the_block<variant>", {at("the whole block reads")});
}

// ---- Bulk copies ----

constexpr int n = 256;  // one element per thread

/// Writes a tile in shared memory and copies it out. variant 0: each thread fences before the
/// barrier; 1: no fence; 2: the copying thread fences after the barrier; 3: it fences before it.
template <int variant>
__global__ void copy_out(int* out) {
  __shared__ alignas(128) int tile[n];
  const int t = threadIdx.x;
  if (variant == 3 && t == 0) ptx::fence_proxy_async(ptx::space_shared);
  tile[t] = t;  // HERE tile written
  if (variant == 0) ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (t != 0) return;
  if (variant == 2) ptx::fence_proxy_async(ptx::space_shared);
  ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, tile, sizeof tile);  // HERE out
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group(ptx::n32<0>);
}
template <int variant>
void run_copy_out() {
  Array<int> out(n);
  copy_out<variant><<<1, n>>>(out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out.host(), iota<int>(n));
}
TEST_F(Proxy, fence_of_the_writers_is_right) {
  run_copy_out<0>();
  expect_clean();
}
TEST_F(Proxy, fence_of_who_copies_is_right) {
  run_copy_out<2>();
  expect_clean();
}
TEST_F(Proxy, no_fence_before_a_copy) {
  run_copy_out<1>();
  expect_finding("order", "copy_out<variant>",
                 {at("tile written"), at("out"), "reads it", "fence_proxy_async"});
}
TEST_F(Proxy, fence_before_the_write) {
  run_copy_out<3>();
  expect_finding("order", "copy_out<variant>", {at("tile written"), at("out")});
}

__device__ void wait_for_phase(std::uint64_t* barrier, unsigned parity) {
  while (!ptx::mbarrier_try_wait_parity(barrier, parity)) {
  }
}
/// Copies n elements in and waits for them.
__device__ void copy_in(int* tile, const int* in, std::uint64_t* barrier, unsigned parity) {
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in, n * sizeof(int),
                       barrier);  // HERE in
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier,
                                   n * sizeof(int));
  }
  wait_for_phase(barrier, parity);
}

/// variant 0: right; 1: the barrier's initialisation without a fence; 2: with a proxy fence
/// instead; 3: the tile is written between two copies; 4: the same with a fence; 5: no fence after
/// the reads.
template <int variant>
__global__ void copy_twice(const int* in, int* out) {
  __shared__ alignas(128) int tile[n];
  __shared__ alignas(8) std::uint64_t barrier;
  const int t = threadIdx.x;
  if (t == 0) {
    ptx::mbarrier_init(&barrier, 1);  // HERE initialised
    if (variant == 2) ptx::fence_proxy_async(ptx::space_shared);
    if (variant != 1 && variant != 2)
      ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  copy_in(tile, in, &barrier, 0);
  const int mine = tile[(t + 1) % n];  // HERE read
  if (variant != 5) ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (variant == 3 || variant == 4) tile[t] = 0;  // HERE overwritten
  if (variant == 4) ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  copy_in(tile, in, &barrier, 1);
  out[t] = mine + tile[t];
}
template <int variant>
void run_copy_twice() {
  Array<int> in(n, 1), out(n);
  copy_twice<variant><<<1, n>>>(in.get(), out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out.host(), std::vector<int>(n, 2));
}
TEST_F(Proxy, copies_into_a_tile_that_was_read_are_right_behind_a_fence) {
  run_copy_twice<0>();
  expect_clean();
}
TEST_F(Proxy, no_fence_after_a_tile_was_read) {  // on an H200: chapters/09_tma/demos/refill.cu
  run_copy_twice<5>();
  expect_finding("order", "copy_twice<variant>", {at("read"), "read it"});
}
TEST_F(Proxy, barrier_without_a_fence) {
  run_copy_twice<1>();
  expect_finding("order", "copy_twice<variant>", {at("initialised"), "fence_mbarrier_init"});
}
TEST_F(Proxy, barrier_with_a_proxy_fence_is_right) {
  run_copy_twice<2>();
  expect_clean();
}
TEST_F(Proxy, no_fence_before_a_tile_is_overwritten) {
  run_copy_twice<3>();
  expect_finding("order", "copy_twice<variant>", {at("overwritten"), "writes it"});
}
TEST_F(Proxy, fence_before_a_tile_is_overwritten_is_right) {
  run_copy_twice<4>();
  expect_clean();
}

/// The last thread copies a tile in twice. Between the copies all threads read, and then
/// synchronize, or the last thread only waits for some time.
template <bool synchronized>
__global__ void refill(const int* in, int* out) {
  __shared__ alignas(128) int tile[n];
  __shared__ alignas(8) std::uint64_t full[2];
  const int t = threadIdx.x;
  const bool copies = t == n - 1;
  if (copies) {
    for (std::uint64_t& barrier : full) ptx::mbarrier_init(&barrier, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  int sum = 0;
  for (int round = 0; round < 2; ++round) {
    if (copies) {
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                     &full[round], sizeof tile);
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in,  // HERE refilled
                         sizeof tile, &full[round]);
    }
    wait_for_phase(&full[round], 0);
    sum += tile[t];  // HERE tile read
    ptx::fence_proxy_async(ptx::space_shared);
    if (synchronized) __syncthreads();
    if (!synchronized && copies) __nanosleep(1000);  // the others read meanwhile
  }
  out[t] = sum;
}
template <bool synchronized>
void run_refill() {
  Array<int> in(n, 1), out(n);
  refill<synchronized><<<1, n>>>(in.get(), out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out.host(), std::vector<int>(n, 2));
}
TEST_F(Proxy, refilled_after_a_barrier_is_right) {
  run_refill<true>();
  expect_clean();
}
// The copy lands when a reader waits for it, but the reader's own reads do not race with it.
TEST_F(Proxy, refilled_while_others_may_read) {
  run_refill<false>();
  expect_finding("race", "refill<synchronized>", {at("tile read"), at("refilled"), "writes it"});
}

/// A ring of two tiles. Each tile is refilled when all threads have read it, or one tile early:
/// then the copy lands later than the reads here, and the sums are right all the same.
template <int early>
__global__ void ring(const int* in, int* out, int tiles) {
  __shared__ alignas(128) int tile[2][n];
  __shared__ alignas(8) std::uint64_t full[2];
  const int t = threadIdx.x;
  const auto fetch = [&](int k) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                   &full[k % 2], sizeof tile[0]);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile[k % 2], in,  // HERE ring filled
                       sizeof tile[0], &full[k % 2]);
  };
  if (t == 0) {
    for (std::uint64_t& barrier : full) ptx::mbarrier_init(&barrier, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    for (int k = 0; k < 2; ++k) fetch(k);
  }
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < tiles; ++k) {
    wait_for_phase(&full[k % 2], k / 2 % 2);
    if (early == 0) sum += tile[k % 2][t];
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (t == 0 && k + 2 < tiles) fetch(k + 2);
    if (early == 1) sum += tile[k % 2][t];  // HERE ring read
  }
  out[t] = sum;
}
template <int early>
void run_ring() {
  Array<int> in(n, 1), out(n);
  ring<early><<<1, n>>>(in.get(), out.get(), 5);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out.host(), std::vector<int>(n, 5));
}
TEST_F(Proxy, ring_refilled_after_the_reads_is_right) {
  run_ring<0>();
  expect_clean();
}
TEST_F(Proxy, ring_refilled_before_the_reads) {
  run_ring<1>();
  expect_finding("race", "ring<early>", {at("ring read"), at("ring filled")});  // in any order
}

/// In and out again: the copy engine sees its own writes.
__global__ void through(const int* in, int* out) {
  __shared__ alignas(128) int tile[n];
  __shared__ alignas(8) std::uint64_t barrier;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&barrier, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  copy_in(tile, in, &barrier, 0);
  if (threadIdx.x != 0) return;
  ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, tile, sizeof tile);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group(ptx::n32<0>);
}
TEST_F(Proxy, through_shared_memory_needs_no_fence) {
  Array<int> in(iota<int>(n)), out(n);
  through<<<1, n>>>(in.get(), out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out.host(), iota<int>(n));
  expect_clean();
}

/// Copies in what threads wrote to global memory in this launch.
template <bool fenced>
__global__ void global_then_copy(int* data, int* out) {
  __shared__ alignas(128) int tile[n];
  __shared__ alignas(8) std::uint64_t barrier;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&barrier, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  data[threadIdx.x] = 3;  // HERE global written
  if (fenced) ptx::fence_proxy_async(ptx::space_global);
  __syncthreads();
  copy_in(tile, data, &barrier, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}
TEST_F(Proxy, global_memory_without_a_fence) {
  Array<int> data(n), out(n);
  global_then_copy<false><<<1, n>>>(data.get(), out.get());
  expect_finding("order", "global_then_copy<false>", {at("global written"), "reads it"});
}
TEST_F(Proxy, global_memory_with_a_fence_is_right) {
  Array<int> data(n), out(n);
  global_then_copy<true><<<1, n>>>(data.get(), out.get());
  expect_clean();
}

// ---- Bulk copies without a wait ----

enum class Waits { not_at_all, for_reading, for_all, for_all_but_one };

/// Copies a tile out in two groups; then the thread that issued them ends.
template <Waits how, bool committed = true>
__global__ void leave_while_copying_out(int* out) {
  __shared__ alignas(128) int tile[n];
  tile[threadIdx.x] = threadIdx.x;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x != 0) return;
  ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, tile,  // HERE half
                     sizeof tile / 2);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + n / 2,  // HERE other half
                     tile + n / 2, sizeof tile / 2);
  if (committed) ptx::cp_async_bulk_commit_group();
  if (how == Waits::for_reading) ptx::cp_async_bulk_wait_group_read(ptx::n32<0>);
  if (how == Waits::for_all) ptx::cp_async_bulk_wait_group(ptx::n32<0>);
  if (how == Waits::for_all_but_one) ptx::cp_async_bulk_wait_group(ptx::n32<1>);
}
template <Waits how, bool committed = true>
std::vector<int> copied_out() {
  Array<int> out(std::vector<int>(n, -1));
  leave_while_copying_out<how, committed><<<1, n>>>(out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  return out.host();
}
TEST_F(Proxy, thread_that_has_waited_for_its_copies_may_end) {
  EXPECT_EQ(copied_out<Waits::for_all>(), iota<int>(n));
  expect_clean();
}
TEST_F(Proxy, thread_whose_copies_have_read_may_end) {
  EXPECT_EQ(copied_out<Waits::for_reading>(), iota<int>(n));
  expect_clean();
}
TEST_F(Proxy, thread_ends_before_its_copies_have_read) {
  copied_out<Waits::not_at_all>();
  expect_finding("lifetime", "leave_while_copying_out<how, committed>",
                 {at("half"), "thread (0,0,0)", "cp_async_bulk_wait_group_read()"});
}
TEST_F(Proxy, thread_ends_before_its_last_copy_has_read) {
  copied_out<Waits::for_all_but_one>();
  expect_finding("lifetime", "leave_while_copying_out<how, committed>", {at("other half")});
}
TEST_F(Proxy, copy_in_no_group_cannot_be_waited_for) {
  copied_out<Waits::for_all, false>();
  expect_finding("lifetime", "leave_while_copying_out<how, committed>", {at("other half")});
}

/// Copies in, once more than any thread waits for. `awaited`: waits for the last copy as well.
template <bool awaited>
__global__ void leave_while_copying_in(const int* in, int* out) {
  __shared__ alignas(128) int tile[2][n];
  __shared__ alignas(8) std::uint64_t barriers[2];
  if (threadIdx.x == 0) {
    for (auto& barrier : barriers) ptx::mbarrier_init(&barrier, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    for (int i = 0; i < 2; ++i) {
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                     &barriers[i], sizeof tile[i]);
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile[i], in,  // HERE too many
                         sizeof tile[i], &barriers[i]);
    }
  }
  __syncthreads();
  wait_for_phase(&barriers[0], 0);
  out[threadIdx.x] = tile[0][threadIdx.x];
  if (awaited && threadIdx.x == 32) wait_for_phase(&barriers[1], 0);
}
TEST_F(Proxy, block_leaves_before_a_copy_has_landed) {
  Array<int> in(iota<int>(n)), out(n);
  leave_while_copying_in<false><<<1, n>>>(in.get(), out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out.host(), iota<int>(n));
  expect_finding("lifetime", "leave_while_copying_in<false>", {at("too many"), "leaves"});
}
TEST_F(Proxy, copy_that_one_thread_awaits_has_landed) {
  Array<int> in(iota<int>(n)), out(n);
  leave_while_copying_in<true><<<1, n>>>(in.get(), out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out.host(), iota<int>(n));
  expect_clean();
}

// ---- Iterations of a loop ----

/// Lane t writes entry t + i in iteration i. `synced`: the lanes synchronize between iterations.
template <bool synced>
__global__ void rotate(int* out) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  for (int i = 0; i < 4; ++i) {
    s[(t + i) % 32] = t * 10 + i;  // HERE rotated
    if (synced) __syncwarp();
  }
  __syncwarp();
  out[t] = s[t];
}
TEST_F(Turns, stores_of_other_turns_race) {
  Array<int> out(32);
  rotate<false><<<1, 32>>>(out.get());
  expect_finding("race", "rotate<false>", {at("rotated"), "different turns of a loop"});
}
TEST_F(Turns, lanes_that_meet_are_right) {
  Array<int> out(32);
  rotate<true><<<1, 32>>>(out.get());
  expect_clean();
}

/// All lanes store at once: one of them wins.
__global__ void one_wins(int* out) {
  for (int i = 0; i < 4; ++i) {
    out[i] = threadIdx.x;
    __syncwarp();
  }
  out[4] = threadIdx.x;
}
TEST_F(Turns, one_lane_of_an_instruction_wins) {
  Array<int> out(5);
  one_wins<<<1, 32>>>(out.get());
  expect_clean();
}

/// Each thread that finds something reports it, in any iteration.
__global__ void any_negative(const int* in, int* found) {
  for (int i = threadIdx.x; i < 256; i += 32) {
    if (in[i] < 0) *found = 1;
  }
}
TEST_F(Turns, same_value_in_other_turns_is_right) {
  std::vector<int> values(256, 1);
  values[3] = values[40] = values[100] = values[101] = -1;
  Array<int> in(values), found(1, 0);
  any_negative<<<1, 32>>>(in.get(), found.get());
  expect_clean();
  EXPECT_EQ(found.first(), 1);
}

/// Each thread that finds something reports it: another warp writes the same value.
__global__ void any_of_all(const int* in, int* found) {
  if (in[threadIdx.x] < 0) *found = 1 - in[threadIdx.x] / 100;  // HERE found
}
TEST_F(Turns, same_value_of_other_warps_is_about_order) {
  std::vector<int> values(128, 1);
  values[3] = values[40] = values[100] = -1;
  Array<int> in(values), found(1, 0);
  any_of_all<<<1, 128>>>(in.get(), found.get());
  EXPECT_EQ(found.first(), 1);
  expect_finding("order", "any_of_all", {at("found"), "they write the same"});
}
/// Two doubles whose lower halves are equal: still a race, because the upper halves differ.
__global__ void one_or_two(double* found) {
  if (threadIdx.x % 32 == 0) *found = 1.0 + threadIdx.x / 32;  // HERE double
}
TEST_F(Turns, doubles_that_are_equal_in_part_race) {
  Array<double> found(1, 0.0);
  one_or_two<<<1, 64>>>(found.get());
  expect_finding("race", "one_or_two", {at("double")});
}
TEST_F(Turns, other_values_of_other_warps_race) {
  std::vector<int> values(128, 1);
  values[3] = -1;
  values[100] = -200;
  Array<int> in(values), found(1, 0);
  any_of_all<<<1, 128>>>(in.get(), found.get());
  expect_finding("race", "any_of_all", {at("found"), "nothing orders the two"});
}

// ---- Programs ----

int without_acquire() {
  run_between_blocks<Reader::nothing>();
  return 0;
}
simt_test::RegisterChild without_acquire_child("without_acquire", without_acquire);
TEST(OrderOfAProgram, changes_the_exit_code_if_strict) {
  if (!simt::instrumented()) GTEST_SKIP() << "needs the checks";
  const auto shown = simt_test::run_self({"--child=without_acquire"}, {"SIMT_STRICT=0"});
  EXPECT_EQ(shown.code, 0) << shown.output;
  EXPECT_NE(shown.output.find("simt: order: between_blocks"), std::string::npos) << shown.output;
  EXPECT_NE(shown.output.find("1 finding(s) about order; the exit code stays; SIMT_STRICT=1 would"),
            std::string::npos)
      << shown.output;
  const auto strict = simt_test::run_self({"--child=without_acquire"}, {"SIMT_STRICT=1"});
  EXPECT_EQ(strict.code, 66) << strict.output;
}

}  // namespace
