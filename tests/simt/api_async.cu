// Asynchronous copies, barriers and atomics of libcu++: right code runs, and a copy without a wait
// is found.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

#include "simt_test.hpp"

namespace {

namespace cg = cooperative_groups;
using simt_test::Array;
using simt_test::iota;

class Async : public simt_test::Device {};

std::string at(const std::string& name) { return simt_test::here("api_async.cu", name); }

// ---- Copies of a thread ----

template <int variant>
__global__ void copy_own(const float4* in, float4* out) {
  __shared__ float4 s[32];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &in[t], sizeof(float4));
  if (variant != 1) __pipeline_commit();
  if (variant == 0) __pipeline_wait_prior(0);
  if (variant == 2) __pipeline_wait_prior(1);
  out[t] = s[t];  // HERE own copy
}
TEST_F(Async, copy_and_wait) {
  Array<float4> in(32, float4{1, 2, 3, 4}), out(32);
  copy_own<0><<<1, 32>>>(in.get(), out.get());
  EXPECT_EQ(out.host()[31].w, 4);
  expect_clean();
}
TEST_F(Async, copy_that_is_not_waited_for) {
  if (!simt::instrumented()) GTEST_SKIP() << "needs the checks";
  Array<float4> in(32, float4{1, 2, 3, 4}), out(32);
  copy_own<1><<<1, 32>>>(in.get(), out.get());
  expect_finding("race|uninitialised", "copy_own<1>", {at("own copy")});
}
TEST_F(Async, wait_for_all_but_the_copy) {
  if (!simt::instrumented()) GTEST_SKIP() << "needs the checks";
  Array<float4> in(32, float4{1, 2, 3, 4}), out(32);
  copy_own<2><<<1, 32>>>(in.get(), out.get());
  expect_finding("race|uninitialised", "copy_own<2>", {at("own copy")});
}

/// Each thread waits for its own copies; those of other threads also need a barrier.
template <bool barrier>
__global__ void copy_for_others(const int* in, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &in[t], sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (barrier) __syncthreads();
  out[t] = s[63 - t];  // HERE others' copy
}
TEST_F(Async, copies_of_others_with_barrier) {
  Array<int> in(iota<int>(64)), out(64);
  copy_for_others<true><<<1, 64>>>(in.get(), out.get());
  EXPECT_EQ(out.first(), 63);
  expect_clean();
}
TEST_F(Async, copies_of_others_without_barrier) {
  if (!simt::instrumented()) GTEST_SKIP() << "needs the checks";
  Array<int> in(iota<int>(64)), out(64);
  copy_for_others<false><<<1, 64>>>(in.get(), out.get());
  expect_finding("race|uninitialised", "copy_for_others<false>", {at("others' copy")});
}

/// Two stages: the next tile is in flight while this one is used.
__global__ void two_stages(const int* in, int tiles, int* out) {
  __shared__ int s[2][32];
  const int t = threadIdx.x;
  int sum = 0;
  __pipeline_memcpy_async(&s[0][t], &in[t], sizeof(int));
  __pipeline_commit();
  for (int k = 0; k < tiles; ++k) {
    if (k + 1 < tiles)
      __pipeline_memcpy_async(&s[(k + 1) % 2][t], &in[(k + 1) * 32 + t], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += s[k % 2][31 - t];
    __syncthreads();
  }
  out[t] = sum;
}
TEST_F(Async, two_stages) {
  Array<int> in(iota<int>(256)), out(32);
  two_stages<<<1, 32>>>(in.get(), 8, out.get());
  EXPECT_EQ(out.first(), 8 * 31 + 32 * 28);
  expect_clean();
}

// ---- Copies of a group ----

template <bool wait>
__global__ void group_copy(const int* in, int* out) {
  __shared__ int s[64];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, in, sizeof(int) * 64);
  if (wait) cg::wait(block);
  out[threadIdx.x] = s[63 - threadIdx.x];  // HERE group copy
}
TEST_F(Async, group_copy) {
  Array<int> in(iota<int>(64)), out(64);
  group_copy<true><<<1, 64>>>(in.get(), out.get());
  EXPECT_EQ(out.first(), 63);
  expect_clean();
}
TEST_F(Async, group_copy_without_wait) {
  if (!simt::instrumented()) GTEST_SKIP() << "needs the checks";
  Array<int> in(iota<int>(64)), out(64);
  group_copy<false><<<1, 64>>>(in.get(), out.get());
  expect_finding("race|uninitialised", "group_copy<false>", {at("group copy")});
}

// ---- Barriers in shared memory ----

__global__ void split_barrier(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int s[64];
  const int t = threadIdx.x;
  if (t == 0) init(&barrier, blockDim.x);
  __syncthreads();
  for (int round = 0; round < 3; ++round) {
    s[t] = t + round;
    auto token = barrier.arrive();
    barrier.wait(std::move(token));
    const int v = s[63 - t];
    barrier.arrive_and_wait();
    out[t] = v;
  }
}
TEST_F(Async, barrier_in_shared_memory) {
  Array<int> out(64);
  split_barrier<<<1, 64>>>(out.get());
  EXPECT_EQ(out.first(), 65);
  expect_clean();
}
/// The later phases wait for those who have stayed.
__global__ void half_of_them_drop(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  const int t = threadIdx.x;
  if (t == 0) init(&barrier, blockDim.x);
  __syncthreads();
  if (t >= 32) {
    barrier.arrive_and_drop();
    return;
  }
  for (int phase = 0; phase < 3; ++phase) barrier.arrive_and_wait();
  out[t] = t;
}
TEST_F(Async, barrier_that_half_of_them_drop) {
  Array<int> out(32, 0);
  half_of_them_drop<<<1, 64>>>(out.get());
  EXPECT_EQ(out.host(), iota<int>(32));
  expect_clean();
}
__global__ void too_few_arrive(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x + 1);
  __syncthreads();
  barrier.arrive_and_wait();  // HERE too few arrive
  out[threadIdx.x] = 1;
}
TEST_F(Async, barrier_that_waits_for_one_more) {
  Array<int> out(32);
  too_few_arrive<<<1, 32>>>(out.get());
  EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
  expect_finding("deadlock", "too_few_arrive",
                 {at("too few arrive"), "waits for 33 arrivals"});  // at once, without a timeout
}

/// One thread initialises a barrier; without __syncthreads() others may use it too early.
template <bool told>
__global__ void initialise_and_use(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);  // HERE initialised
  if (told) __syncthreads();
  barrier.arrive_and_wait();  // HERE used
  out[threadIdx.x] = 1;
}
TEST_F(Async, barrier_that_is_ready) {
  Array<int> out(64);
  initialise_and_use<true><<<1, 64>>>(out.get());
  EXPECT_EQ(out.first(), 1);
  expect_clean();
}
TEST_F(Async, barrier_that_may_not_be_ready) {
  if (!simt::instrumented()) GTEST_SKIP() << "needs the checks";
  Array<int> out(64);
  initialise_and_use<false><<<1, 64>>>(out.get());
  expect_finding("race|uninitialised", "initialise_and_use<false>", {at("used")});
}

/// Copies that arrive at a barrier themselves; its phases by parity.
template <bool arrive_on, bool turn>
__global__ void arriving_copies(const int* in, int tiles, int* out) {
  __shared__ __mbarrier_t full;
  __shared__ int s[64];
  const int t = threadIdx.x;
  if (t == 0) __mbarrier_init(&full, blockDim.x);
  __syncthreads();
  int sum = 0;
  bool parity = false;
  for (int k = 0; k < tiles; ++k) {
    __pipeline_memcpy_async(&s[t], &in[k * 64 + t], sizeof(int));
    if (arrive_on) __pipeline_arrive_on(&full);
    __mbarrier_arrive(&full);
    while (!__mbarrier_test_wait_parity(&full, parity)) {  // HERE parity
    }
    if (turn) parity = !parity;
    sum += s[63 - t];  // HERE arrived
    __syncthreads();
  }
  out[t] = sum;
}
TEST_F(Async, copies_that_arrive_at_a_barrier) {
  Array<int> in(iota<int>(256)), out(64);
  arriving_copies<true, true><<<1, 64>>>(in.get(), 4, out.get());
  EXPECT_EQ(out.first(), 4 * 63 + 64 * 6);
  expect_clean();
}
TEST_F(Async, copies_that_do_not_arrive) {
  if (!simt::instrumented()) GTEST_SKIP() << "needs the checks";
  Array<int> in(iota<int>(256)), out(64);
  arriving_copies<false, true><<<1, 64>>>(in.get(), 4, out.get());
  expect_finding("uninitialised", "arriving_copies<false, true>", {at("arrived")});
}
/// The second phase has the other parity. A thread that waits with the first parity again does not
/// wait; if it does so after the second phase has ended, it waits for the third one for ever.
TEST_F(Async, parity_that_does_not_turn) {
  Array<int> in(iota<int>(256)), out(64);
  arriving_copies<true, false><<<1, 64>>>(in.get(), 2, out.get());
  EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
  expect_finding("deadlock", "arriving_copies<true, false>", {at("parity")});
}

// ---- Atomic references ----

template <bool ordered>
__global__ void message(int* data, int* flag, int* ticket, int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
  if (atomicAdd(ticket, 1) == 0) {
    *data = 42;  // HERE message sent
    f.store(1, ordered ? cuda::memory_order_release : cuda::memory_order_relaxed);
  } else {
    while (f.load(ordered ? cuda::memory_order_acquire : cuda::memory_order_relaxed) == 0) {
    }
    *out = *data;  // HERE message received
  }
}
TEST_F(Async, release_and_acquire) {
  Array<int> data(1, 0), flag(1, 0), ticket(1, 0), out(1);
  message<true><<<2, 1>>>(data.get(), flag.get(), ticket.get(), out.get());
  EXPECT_EQ(out.first(), 42);
  expect_clean();
}
TEST_F(Async, relaxed_is_not_enough) {
  if (!simt::instrumented()) GTEST_SKIP() << "needs the checks";
  Array<int> data(1, 0), flag(1, 0), ticket(1, 0), out(1);
  message<false><<<2, 1>>>(data.get(), flag.get(), ticket.get(), out.get());
  expect_finding("race", "message<false>", {at("message sent"), at("message received")});
}
__global__ void references(int* data, unsigned* udata) {
  cuda::atomic_ref<int, cuda::thread_scope_device> a(data[0]);
  a.fetch_add(2);
  a.fetch_sub(1, cuda::memory_order_relaxed);
  cuda::atomic_ref<unsigned, cuda::thread_scope_system> b(*udata);
  b.fetch_or(1u << threadIdx.x);
  int expected = 0;
  cuda::atomic_ref<int, cuda::thread_scope_block>(data[1 + blockIdx.x])
      .compare_exchange_strong(expected, 9);
}
TEST_F(Async, atomic_references) {
  Array<int> data(3, 0);
  Array<unsigned> udata(1, 0u);
  references<<<2, 32>>>(data.get(), udata.get());
  EXPECT_EQ(data.host(), (std::vector<int>{64, 9, 9}));
  EXPECT_EQ(udata.first(), 0xffffffffu);
  expect_clean();
}

}  // namespace
