// Planted faults of control: barriers that do not match, wrong masks, deadlocks, endless loops,
// assertions and stacks. Each group ends with its near miss: code that looks alike and is right.
#include <cooperative_groups.h>

#undef NDEBUG  // a release build has no assertions
#include <cassert>

#include "simt_test.hpp"

namespace {

using simt_test::Array;

std::string at(const std::string& name) { return simt_test::here("faults_control.cu", name); }

class Barrier : public simt_test::Device {};
class Mask : public simt_test::Device {};
class Deadlock : public simt_test::Device {};
class Spin : public simt_test::Device {};
class KernelError : public simt_test::Device {};

// ---- Barriers ----

__global__ void two_barriers(int* out) {
  if (threadIdx.x < 32) {
    __syncthreads();  // HERE barrier one
    out[threadIdx.x] = 1;
  } else {
    __syncthreads();  // HERE barrier two
    out[threadIdx.x] = 2;
  }
}
TEST_F(Barrier, different_ones_between_warps) {
  Array<int> out(64);
  two_barriers<<<1, 64>>>(out.get());
  expect_finding("barrier", "two_barriers",
                 {at("barrier one"), at("barrier two"), "block (0,0,0)"});
}

__global__ void two_barriers_in_a_warp(int* out) {
  if (threadIdx.x % 2 == 0) {
    out[threadIdx.x] = 1;
    __syncthreads();  // HERE barrier even
  } else {
    out[threadIdx.x] = 2;
    __syncthreads();  // HERE barrier odd
  }
}
TEST_F(Barrier, different_ones_inside_a_warp) {
  Array<int> out(32);
  two_barriers_in_a_warp<<<1, 32>>>(out.get());
  expect_finding("barrier", "two_barriers_in_a_warp", {at("barrier even"), at("barrier odd")});
}

/// One more iteration for the second warp: its third barrier matches the first warp's last one.
__global__ void uneven_rounds(int* out) {
  int sum = 0;
  for (int i = 0; i < 2 + static_cast<int>(threadIdx.x / 32); ++i) {
    sum += i;
    __syncthreads();  // HERE barrier round
  }
  out[threadIdx.x] = sum;
  __syncthreads();  // HERE barrier last
  out[threadIdx.x] += 1;
}
TEST_F(Barrier, different_numbers_of_rounds) {
  Array<int> out(64);
  uneven_rounds<<<1, 64>>>(out.get());
  expect_finding("barrier", "uneven_rounds", {at("barrier round"), at("barrier last")});
}

__device__ __noinline__ void meet() { __syncthreads(); }
__global__ void same_barrier_two_ways(const int* in, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  int v;
  if (t < 32) {
    v = in[t] * 3;
  } else {
    v = in[t] + 5;
    if (t > 40) v ^= 9;
  }
  s[t] = v;
  __syncthreads();
  v = s[63 - t];
  meet();
  if (gridDim.x > 0) __syncthreads();
  for (int i = 0; i < 3; ++i) {
    s[t] = v + i;
    meet();
    v = s[(t + 1) % 64];
    meet();
  }
  out[t] = v;
}
TEST_F(Barrier, one_barrier_after_divergent_code_is_right) {
  Array<int> in(simt_test::iota<int>(64)), out(64);
  same_barrier_two_ways<<<1, 64>>>(in.get(), out.get());
  expect_clean();
}

/// Guide, compute capability 7.x and above: a barrier waits for all threads that have not exited.
__global__ void early_return(const int* in, int n, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  if (t >= n) return;
  s[t] = in[t];
  __syncthreads();
  out[t] = s[n - 1 - t];
}
TEST_F(Barrier, after_an_early_return_is_right) {
  Array<int> in(simt_test::iota<int>(64)), out(64, -1);
  for (const int n : {41, 20, 64}) {
    early_return<<<1, 64>>>(in.get(), n, out.get());
    expect_clean();
    EXPECT_EQ(out.host()[0], n - 1);
  }
}
/// Returning is no fault if no barrier follows.
__global__ void return_behind_the_last_barrier(const int* in, int n, int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (static_cast<int>(threadIdx.x) >= n) return;
  out[threadIdx.x] = s[63 - threadIdx.x];
}
TEST_F(Barrier, return_behind_the_last_one_is_right) {
  Array<int> in(simt_test::iota<int>(64)), out(64, -1);
  return_behind_the_last_barrier<<<2, 64>>>(in.get(), 0, out.get());
  return_behind_the_last_barrier<<<1, 64>>>(in.get(), 33, out.get());
  expect_clean();
}

/// Half a warp waits for the block, the other half for its warp: neither can continue.
__global__ void barrier_in_half_a_warp(int* out) {
  const int t = threadIdx.x;
  int v = t;
  if (t < 16) {
    __syncthreads();  // HERE half barrier
    v += 1;
  }
  v = __shfl_xor_sync(0xffffffffu, v, 1);  // HERE half shuffle
  out[t] = v;
}
TEST_F(Barrier, in_a_divergent_branch_hangs) {
  Array<int> out(32);
  barrier_in_half_a_warp<<<1, 32>>>(out.get());
  EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
  expect_finding("deadlock|barrier", "barrier_in_half_a_warp",
                 {at("half barrier"), at("half shuffle")});
}

__global__ void barrier_in_a_thread_loop(const int* trips, int* out) {
  const int t = threadIdx.x;
  int v = 0;
  for (int i = 0; i < trips[t]; ++i) {
    v += i;
    __syncthreads();  // HERE loop barrier
  }
  out[t] = __shfl_down_sync(0xffffffffu, v, 1);  // HERE after loop
}
TEST_F(Barrier, in_a_loop_of_different_lengths_hangs) {
  Array<int> trips(simt_test::iota<int>(32)), out(32);
  barrier_in_a_thread_loop<<<1, 32>>>(trips.get(), out.get());
  EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
  expect_finding("deadlock|barrier", "barrier_in_a_thread_loop",
                 {at("loop barrier"), at("after loop")});
}
TEST_F(Barrier, in_a_loop_of_equal_lengths_is_right) {
  Array<int> trips(32, 5), out(32);
  barrier_in_a_thread_loop<<<1, 32>>>(trips.get(), out.get());
  expect_clean();
}

// ---- Masks ----

__global__ void caller_not_in_mask(int* out) {
  out[threadIdx.x] =
      __shfl_sync(0x0000ffffu, static_cast<int>(threadIdx.x), 0);  // HERE not in mask
}
TEST_F(Mask, caller_is_not_in_it) {
  Array<int> out(32);
  caller_not_in_mask<<<1, 32>>>(out.get());
  expect_finding("mask", "caller_not_in_mask", {at("not in mask"), "block (0,0,0)"});
}
TEST_F(Mask, only_callers_are_in_it_is_right) {
  Array<int> out(32);
  caller_not_in_mask<<<1, 16>>>(out.get());
  expect_clean();
}

__global__ void source_not_in_mask(int* out, int source) {
  const int t = threadIdx.x;
  if (t < 16) out[t] = __shfl_sync(0x0000ffffu, t, source);  // HERE source
}
TEST_F(Mask, source_lane_is_not_in_it) {
  Array<int> out(32);
  source_not_in_mask<<<1, 32>>>(out.get(), 20);
  expect_finding("mask", "source_not_in_mask", {at("source")});
}
TEST_F(Mask, source_lane_is_in_it_is_right) {
  Array<int> out(32, 0);
  source_not_in_mask<<<1, 32>>>(out.get(), 15);
  expect_clean();
  EXPECT_EQ(out.first(), 15);
}

/// The lanes above `n` have ended: what lanes below read from them is undefined.
__global__ void source_has_returned(int* out, int n) {
  const int t = threadIdx.x;
  if (t >= n) return;
  out[t] = __shfl_down_sync(0xffffffffu, t, 8);  // HERE returned
}
TEST_F(Mask, source_lane_has_returned) {
  Array<int> out(32);
  source_has_returned<<<1, 32>>>(out.get(), 16);
  expect_finding("mask", "source_has_returned", {at("returned")});
}
TEST_F(Mask, down_over_the_end_of_the_warp_is_right) {
  Array<int> out(32);
  source_has_returned<<<1, 32>>>(out.get(), 32);
  expect_clean();
  EXPECT_EQ(out.host()[31], 31);
  EXPECT_EQ(out.host()[23], 31);
}

/// A full mask in a branch that half the warp takes, while the others call something else.
__global__ void full_mask_in_a_branch(const int* in, int n, int* out) {
  const int t = threadIdx.x;
  int v = t;
  if (t < n) {
    v = in[t];
    v += __shfl_down_sync(0xffffffffu, v, 4);  // HERE in branch
  }
  out[t] = v;
  __syncthreads();  // HERE behind branch
}
TEST_F(Mask, full_mask_in_a_branch) {
  Array<int> in(32, 1), out(32);
  full_mask_in_a_branch<<<1, 32>>>(in.get(), 8, out.get());
  expect_finding("deadlock|mask|barrier", "full_mask_in_a_branch",
                 {at("in branch"), at("behind branch")});
}
TEST_F(Mask, full_mask_in_a_branch_that_all_take_is_right) {
  Array<int> in(32, 1), out(32);
  full_mask_in_a_branch<<<1, 32>>>(in.get(), 32, out.get());
  expect_clean();
}

__global__ void overlapping_masks(int* out) {
  const int t = threadIdx.x;
  int v = t;
  if (t < 8) {
    v = __shfl_sync(0x000000ffu, t, 0);  // HERE low mask
  } else {
    v = __shfl_sync(0xffffff80u, t, 9);  // HERE high mask
  }
  __syncthreads();  // lane 7 does not exit before the others have called
  out[t] = v;
}
TEST_F(Mask, two_overlapping_masks) {
  Array<int> out(32);
  overlapping_masks<<<1, 32>>>(out.get());
  expect_finding("mask|deadlock", "overlapping_masks", {at("high mask")});
}

__global__ void disjoint_masks(int* out) {
  const int t = threadIdx.x;
  if (t % 2 == 0) {
    out[t] = __shfl_sync(0x55555555u, t, 4);
  } else {
    out[t] = __reduce_add_sync(0xaaaaaaaau, static_cast<unsigned>(t));
  }
}
TEST_F(Mask, two_disjoint_masks_are_right) {
  Array<int> out(32);
  disjoint_masks<<<1, 32>>>(out.get());
  expect_clean();
  EXPECT_EQ(out.host()[2], 4);
  EXPECT_EQ(out.host()[3], 256);
}

__global__ void different_masks(int* out) {
  const int t = threadIdx.x;
  const unsigned mask = t < 16 ? 0xffffffffu : 0xffff0000u;
  const int any = __any_sync(mask, t == 3);  // HERE different masks
  __syncthreads();
  out[t] = any;
}
TEST_F(Mask, lanes_name_different_masks) {
  Array<int> out(32);
  different_masks<<<1, 32>>>(out.get());
  expect_finding("mask|deadlock", "different_masks", {at("different masks")});
}

__global__ void different_functions(int* out) {
  const int t = threadIdx.x;
  if (t < 16) {
    out[t] = __any_sync(0xffffffffu, 1);  // HERE any
  } else {
    out[t] = static_cast<int>(__ballot_sync(0xffffffffu, 1));  // HERE ballot
  }
}
TEST_F(Mask, lanes_meet_at_different_functions) {
  Array<int> out(32);
  different_functions<<<1, 32>>>(out.get());
  expect_finding("mask|deadlock", "different_functions", {"faults_control.cu"});
}

__global__ void empty_mask(int* out) {
  __syncwarp(0);  // HERE empty mask
  out[threadIdx.x] = 1;
}
TEST_F(Mask, empty) {
  Array<int> out(32);
  empty_mask<<<1, 32>>>(out.get());
  expect_finding("mask", "empty_mask", {at("empty mask")});
}

__global__ void syncwarp_in_two_places(int* out) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  if (t < 16) {
    s[t] = t;
    __syncwarp();
  } else {
    s[t] = 2 * t;
    __syncwarp();
  }
  out[t] = s[31 - t];
}
TEST_F(Mask, syncwarp_in_both_branches_is_right) {
  Array<int> out(32);
  syncwarp_in_two_places<<<1, 32>>>(out.get());
  expect_clean();
  EXPECT_EQ(out.host()[0], 62);
}

// ---- Deadlocks ----

/// Warp 1 polls for a value that warp 0 sets only after a barrier that warp 1 never reaches.
__global__ void flag_behind_barrier(int* flag, int* out) {
  if (threadIdx.x < 32) {
    __syncthreads();  // HERE waits at barrier
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {  // HERE polls
    }
    __syncthreads();
  }
  out[threadIdx.x] = 1;
}
TEST_F(Deadlock, flag_behind_a_barrier) {
  Array<int> flag(1, 0), out(64);
  flag_behind_barrier<<<1, 64>>>(flag.get(), out.get());
  EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
  expect_finding("deadlock|spin", "flag_behind_barrier",
                 {at("waits at barrier"), at("polls"), "block (0,0,0)"});
}

/// The lock is taken twice by one thread.
__global__ void lock_twice(int* lock, int* out) {
  for (int i = 0; i < 2; ++i) {
    while (atomicCAS(lock, 0, 1) != 0) {  // HERE lock twice
    }
  }
  *out = 1;
}
TEST_F(Deadlock, lock_taken_twice) {
  Array<int> lock(1, 0), out(1);
  lock_twice<<<1, 1>>>(lock.get(), out.get());
  EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
  expect_finding("deadlock|spin", "lock_twice", {at("lock twice"), "thread (0,0,0)"});
}

/// One block exits; the others wait for it.
__global__ void block_leaves_the_grid(int* out) {
  if (blockIdx.x == 2) return;
  cooperative_groups::this_grid().sync();  // HERE grid sync
  if (threadIdx.x == 0) out[blockIdx.x] = 1;
}
TEST_F(Deadlock, grid_without_one_block) {
  Array<int> out(4);
  int* p = out;
  void* arguments[] = {&p};
  ASSERT_EQ(cudaLaunchCooperativeKernel((void*)block_leaves_the_grid, dim3(4), dim3(32), arguments,
                                        0, nullptr),
            cudaSuccess);
  EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
  expect_finding("deadlock|barrier", "block_leaves_the_grid", {"faults_control.cu"});
}
__global__ void all_blocks_stay(int* out) {
  cooperative_groups::this_grid().sync();
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
TEST_F(Deadlock, whole_grid_is_right) {
  Array<int> out(4 * 32);
  int* p = out;
  void* arguments[] = {&p};
  ASSERT_EQ(
      cudaLaunchCooperativeKernel((void*)all_blocks_stay, dim3(4), dim3(32), arguments, 0, nullptr),
      cudaSuccess);
  expect_clean();
}

// ---- Endless loops (SIMT_TIMEOUT is small in these tests) ----

__global__ void wait_for_ever(const volatile int* flag) {
  while (*flag == 0) {  // HERE for ever
  }
}
TEST_F(Spin, on_a_volatile) {
  Array<int> flag(1, 0);
  wait_for_ever<<<1, 1>>>(flag.get());
  EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
  expect_finding("spin|deadlock", "wait_for_ever",
                 {at("for ever"), "block (0,0,0)", "thread (0,0,0)"});
}

/// An even number stays even, so the loop never ends.
__global__ void no_access(unsigned start, unsigned* out) {
  unsigned x = start;
  while (x != 1) x = 2 * x + 2;  // HERE no access
  *out = x;
}
TEST_F(Spin, without_any_access) {
  if (!simt::instrumented()) GTEST_SKIP() << "only instrumented code can be interrupted";
  Array<unsigned> out(1);
  no_access<<<1, 1>>>(4, out.get());
  EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
  expect_finding("spin", "no_access", {at("no access"), "thread (0,0,0)"});
}

__global__ void long_loop(unsigned n, unsigned* out) {
  unsigned x = threadIdx.x;
  for (unsigned i = 0; i < n; ++i) x = x * 1664525u + 1013904223u;
  out[threadIdx.x] = x;
}
TEST_F(Spin, long_loop_is_right) {
  Array<unsigned> out(32);
  long_loop<<<1, 32>>>(100000, out.get());
  expect_clean();
}

__global__ void poll_late_sender(int* flag, int* out) {
  if (threadIdx.x == 0) {
    unsigned x = 1;
    for (int i = 0; i < 200000; ++i) x = x * 1664525u + 1013904223u;
    *out = static_cast<int>(x);
    __threadfence();
    atomicExch(flag, 1);
  } else {
    while (*static_cast<volatile int*>(flag) == 0) {
    }
  }
}
TEST_F(Spin, late_sender_is_right) {
  Array<int> flag(1, 0), out(1);
  poll_late_sender<<<1, 33>>>(flag.get(), out.get());
  expect_clean();
}

// ---- Errors of kernels ----

__global__ void check(const int* in) { assert(in[threadIdx.x] < 40); }  // HERE assertion
TEST_F(KernelError, assertion) {
  Array<int> in(simt_test::iota<int>(64));
  check<<<1, 64>>>(in.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorAssert);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorAssert) << "the error sticks";
  expect_finding("assert", "check", {at("assertion"), "`in[threadIdx.x] < 40` failed"});
}
TEST_F(KernelError, assertion_that_holds_is_right) {
  Array<int> in(simt_test::iota<int>(32));
  check<<<1, 32>>>(in.get());
  expect_clean();
}

__global__ void trap() { __trap(); }  // HERE trap
TEST_F(KernelError, trap) {
  trap<<<1, 1>>>();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  expect_finding("trap", "trap", {at("trap")});
}

__global__ void waits_for_the_grid() {
  cooperative_groups::this_grid().sync();  // HERE not cooperative
}
TEST_F(KernelError, grid_barrier_without_a_cooperative_launch) {
  waits_for_the_grid<<<2, 1>>>();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorCooperativeLaunchTooLarge);
  expect_finding("barrier", "waits_for_the_grid", {at("not cooperative")});
}

__device__ __noinline__ int deep(const int* in, int depth) {
  volatile int local[256];
  for (int i = 0; i < 256; ++i) local[i] = in[0] + depth;
  return depth == 0 ? local[3] : deep(in, depth - 1) + local[depth % 256];  // HERE deep
}
__global__ void recurse(const int* in, int depth, int* out) { out[threadIdx.x] = deep(in, depth); }
int child_stack_overflow() {
  int *in = nullptr, *out = nullptr;
  cudaMalloc(&in, sizeof(int));
  cudaMalloc(&out, 32 * sizeof(int));
  cudaMemset(in, 0, sizeof(int));
  recurse<<<1, 32>>>(in, 1000000, out);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
simt_test::RegisterChild stack_overflow("stack_overflow", child_stack_overflow);
/// An overflow may end the whole program, but with a message.
TEST(Program, stack_overflow) {
  const auto ended = simt_test::run_self({"--child=stack_overflow"});
  EXPECT_NE(ended.code, 0);
  EXPECT_LT(ended.code, 128) << "ended by a signal";
  EXPECT_NE(ended.output.find("simt: stack: recurse, block (0,0,0), thread ("), std::string::npos)
      << ended.output;
  EXPECT_NE(ended.output.find("faults_control.cu"), std::string::npos) << ended.output;
}
TEST_F(KernelError, shallow_recursion_is_right) {
  Array<int> in(1, 1), out(32);
  recurse<<<1, 32>>>(in.get(), 20, out.get());
  expect_clean();
}

// ---- The exit code, and the switches ----

__global__ void uninitialised_read(int* out) {
  __shared__ int s;
  *out = s;
}
int child_with_finding() {
  int* out = nullptr;
  cudaMalloc(&out, sizeof(int));
  uninitialised_read<<<1, 1>>>(out);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
int child_without_finding() {
  int* out = nullptr;
  cudaMalloc(&out, 64 * sizeof(int));
  unsigned* words = reinterpret_cast<unsigned*>(out);
  long_loop<<<1, 32>>>(3, words);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
simt_test::RegisterChild with_finding("with_finding", child_with_finding);
simt_test::RegisterChild without_finding("without_finding", child_without_finding);

TEST(Program, with_a_finding_exits_with_66) {
  if (!simt::instrumented()) GTEST_SKIP() << "needs the checks";
  const auto ended = simt_test::run_self({"--child=with_finding"});
  EXPECT_EQ(ended.code, 66) << ended.output;
  EXPECT_NE(
      ended.output.find("simt: uninitialised: uninitialised_read, block (0,0,0), thread (0,0,0)"),
      std::string::npos)
      << ended.output;
}
TEST(Program, without_a_finding_exits_with_0) {
  const auto ended = simt_test::run_self({"--child=without_finding"});
  EXPECT_EQ(ended.code, 0) << ended.output;
  EXPECT_EQ(ended.output, "");
}
TEST(Program, finds_nothing_with_checks_off) {
  const auto ended = simt_test::run_self({"--child=with_finding"}, {"SIMT_CHECK=0"});
  EXPECT_EQ(ended.code, 0) << ended.output;
}
TEST_F(KernelError, set_checking_switches_findings) {
  Array<int> out(1);
  simt::set_checking(false);
  uninitialised_read<<<1, 1>>>(out.get());
  expect_clean();
  simt::set_checking(true);
  uninitialised_read<<<1, 1>>>(out.get());
  expect_finding("uninitialised", "uninitialised_read", {"thread (0,0,0)"});
}

}  // namespace
