// Planted faults in shared memory: races, bounds, uninitialised reads, pointers that outlive their
// block. Each group ends with its near miss: code that looks alike and is right.
#include "simt_test.hpp"

namespace {

using simt_test::Array;

std::string at(const std::string& name) { return simt_test::here("faults_shared.cu", name); }

class SharedRace : public simt_test::Device {};
class SharedBounds : public simt_test::Device {};
class SharedUninitialised : public simt_test::Device {};
class Lifetime : public simt_test::Device {};

// ---- Between warps ----

__global__ void write_write(int* out) {
  __shared__ int s;
  if (threadIdx.x % 32 == 0) s = threadIdx.x;  // HERE write_write
  __syncthreads();
  if (threadIdx.x == 0) *out = s;
}
TEST_F(SharedRace, write_write) {
  Array<int> out(1);
  write_write<<<1, 64>>>(out.get());
  expect_finding("race", "write_write",
                 {at("write_write"), "block (0,0,0)", "thread (0,0,0)", "thread (32,0,0)"});
}

__global__ void missing_barrier(int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = t;                 // HERE missing write
  const int v = s[63 - t];  // HERE missing read
  out[t] = v;
}
TEST_F(SharedRace, missing_barrier_names_both_sides) {
  Array<int> out(64);
  missing_barrier<<<1, 64>>>(out.get());
  // Which half of the pairs reads too early, and so reads nothing, depends on the order.
  expect_finding("race|uninitialised", "missing_barrier",
                 {at("missing write"), at("missing read"), "block (0,0,0)"});
}

__global__ void with_barrier(int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  out[t] = s[63 - t];
}
TEST_F(SharedRace, with_barrier_is_right) {
  Array<int> out(64);
  with_barrier<<<1, 64>>>(out.get());
  expect_clean();
  for (int t = 0; t < 64; ++t) EXPECT_EQ(out.host()[t], 63 - t);
}

/// The second barrier of a tile loop is missing: the next tile overwrites one that is still read.
template <bool both>
__global__ void tile_loop(const int* in, int* out) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  int sum = 0;
  for (int k = 0; k < 4; ++k) {
    tile[t] = in[k * 64 + t];  // HERE loop write
    __syncthreads();
    for (int j = 0; j < 64; ++j) {
      sum += tile[j];  // HERE loop read
    }
    if (both) __syncthreads();
  }
  out[t] = sum;
}
TEST_F(SharedRace, second_barrier_of_a_loop) {
  Array<int> in(simt_test::iota<int>(256)), out(64);
  tile_loop<false><<<1, 64>>>(in.get(), out.get());
  expect_finding("race", "tile_loop<false>", {at("loop write"), at("loop read")});
}
TEST_F(SharedRace, both_barriers_of_a_loop_are_right) {
  Array<int> in(simt_test::iota<int>(256)), out(64);
  tile_loop<true><<<1, 64>>>(in.get(), out.get());
  expect_clean();
  EXPECT_EQ(out.first(), 255 * 128);
}

/// Two buffers need only one barrier per iteration.
__global__ void double_buffer(const int* in, int* out) {
  __shared__ int tile[2][64];
  const int t = threadIdx.x;
  int sum = 0;
  tile[0][t] = in[t];
  __syncthreads();
  for (int k = 0; k < 4; ++k) {
    if (k < 3) tile[(k + 1) % 2][t] = in[(k + 1) * 64 + t];
    sum += tile[k % 2][63 - t];
    __syncthreads();
  }
  out[t] = sum;
}
TEST_F(SharedRace, double_buffer_is_right) {
  Array<int> in(simt_test::iota<int>(256)), out(64);
  double_buffer<<<1, 64>>>(in.get(), out.get());
  expect_clean();
}

/// Thread 0 and thread 33 read; thread 32 writes after it has synchronized with thread 33, not with
/// thread 0. A checker that remembers only the last reader misses the race.
__global__ void first_reader(int* out) {
  __shared__ int s;
  const int t = threadIdx.x;
  if (t == 5) s = 7;
  __syncthreads();
  if (t == 0) out[0] = s;  // HERE first reader
  if (t == 33) out[1] = s;
  if (t >= 32) __syncwarp();
  if (t == 32) s = 8;  // HERE late writer
}
TEST_F(SharedRace, first_of_several_readers) {
  Array<int> out(2);
  first_reader<<<1, 64>>>(out.get());
  expect_finding("race", "first_reader",
                 {at("first reader"), at("late writer"), "thread (0,0,0)", "thread (32,0,0)"});
}

/// Threads 32 and 33 read, and thread 64; thread 32 writes after it has synchronized with thread
/// 33, not with thread 64. A checker that remembers only the first two readers misses the race.
__global__ void third_reader(int* out) {
  __shared__ int s;
  const int t = threadIdx.x;
  if (t == 5) s = 7;
  __syncthreads();
  if (t == 32 || t == 33) out[t - 32] = s;
  if (t == 64) out[2] = s;  // HERE third reader
  if (t / 32 == 1) __syncwarp();
  if (t == 32) s = 8;  // HERE writer of a pair
}
TEST_F(SharedRace, third_of_several_readers) {
  Array<int> out(3);
  third_reader<<<1, 96>>>(out.get());
  expect_finding(
      "race", "third_reader",
      {at("third reader"), at("writer of a pair"), "thread (64,0,0)", "thread (32,0,0)"});
}

/// One lane's 16 bytes cover another lane's 4.
__global__ void wide_and_narrow(int* out) {
  __shared__ __align__(16) float s[64];
  const int t = threadIdx.x;
  s[t] = 0;
  __syncthreads();
  if (t == 0) *reinterpret_cast<float4*>(s) = make_float4(1, 2, 3, 4);  // HERE wide
  if (t == 40) out[0] = static_cast<int>(s[2]);                         // HERE narrow
}
TEST_F(SharedRace, wide_store_covers_narrow_load) {
  Array<int> out(1);
  wide_and_narrow<<<1, 64>>>(out.get());
  expect_finding("race", "wide_and_narrow", {at("wide"), at("narrow")});
}

__global__ void byte_neighbours(unsigned char* out) {
  __shared__ unsigned char s[128];
  const int t = threadIdx.x;
  s[t] = static_cast<unsigned char>(t);
  s[t] = s[t] + 1;
  out[t] = s[t];
}
TEST_F(SharedRace, neighbouring_bytes_are_right) {
  Array<unsigned char> out(128);
  byte_neighbours<<<1, 128>>>(out.get());
  expect_clean();
  EXPECT_EQ(out.host()[127], 128);
}

__global__ void own_block_only(int* out) {
  __shared__ int s[32];
  s[threadIdx.x] = blockIdx.x;
  __syncthreads();
  out[blockIdx.x * 32 + threadIdx.x] = s[31 - threadIdx.x];
}
TEST_F(SharedRace, blocks_do_not_share) {
  Array<int> out(64 * 32);
  own_block_only<<<64, 32>>>(out.get());
  expect_clean();
  for (int i = 0; i < 64 * 32; ++i) ASSERT_EQ(out.host()[i], i / 32);
}

__global__ void half_a_reduction(const int* in, int* out) {
  __shared__ int s[256];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int d = 128; d > 32; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t < 32) {
    s[t] += s[t + 32];  // HERE tail
    s[t] += s[t + 16];
    s[t] += s[t + 8];
    s[t] += s[t + 4];
    s[t] += s[t + 2];
    s[t] += s[t + 1];
  }
  if (t == 0) *out = s[0];
}
TEST_F(SharedRace, last_warp_without_syncwarp) {
  Array<int> in(256, 1), out(1);
  half_a_reduction<<<1, 256>>>(in.get(), out.get());
  expect_finding("race", "half_a_reduction", {"faults_shared.cu", "block (0,0,0)"});
}

// ---- Inside a warp ----

__global__ void neighbour_lane(int* out) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = 0;
  __syncwarp();
  s[t] = t;           // HERE lane write
  out[t] = s[t ^ 1];  // HERE lane read
}
TEST_F(SharedRace, inside_a_warp) {
  Array<int> out(32);
  neighbour_lane<<<1, 32>>>(out.get());
  expect_finding("race", "neighbour_lane", {at("lane write"), at("lane read")});
}

__global__ void neighbour_lane_synced(int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = t;
  __syncwarp();
  const int v = s[t ^ 1];
  __syncwarp();
  s[t] = v;
  out[t] = s[t];
}
TEST_F(SharedRace, inside_a_warp_with_syncwarp_is_right) {
  Array<int> out(64);
  neighbour_lane_synced<<<1, 64>>>(out.get());
  expect_clean();
  EXPECT_EQ(out.host()[6], 7);
}

/// __syncwarp() orders one warp, not two.
__global__ void syncwarp_is_not_enough(int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = 1;
  __syncthreads();
  s[t] = t;  // HERE other warp write
  __syncwarp();
  out[t] = s[63 - t];  // HERE other warp read
}
TEST_F(SharedRace, syncwarp_between_warps) {
  Array<int> out(64);
  syncwarp_is_not_enough<<<1, 64>>>(out.get());
  expect_finding("race", "syncwarp_is_not_enough", {at("other warp write"), at("other warp read")});
}

/// Right on GPUs whose warps ran in lockstep; a race since Volta.
__global__ void volatile_idiom(const int* in, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = in[t];
  s[t + 32] = in[t + 32];
  __syncwarp();
  volatile int* v = s;
  v[t] += v[t + 32];
  v[t] += v[t + 16];  // HERE volatile 16
  v[t] += v[t + 8];
  v[t] += v[t + 4];
  v[t] += v[t + 2];
  v[t] += v[t + 1];
  if (t == 0) *out = v[0];
}
TEST_F(SharedRace, volatile_warp_synchronous_idiom) {
  Array<int> in(64, 1), out(1);
  volatile_idiom<<<1, 32>>>(in.get(), out.get());
  expect_finding("race", "volatile_idiom", {"faults_shared.cu", "block (0,0,0)"});
}

template <bool meet>
__global__ void volatile_between_warps(int* out) {
  __shared__ volatile int s[64];
  const int t = threadIdx.x;
  s[t] = 0;
  __syncthreads();
  s[t] = t + 1;  // HERE late write
  if (meet) __syncthreads();
  out[t] = s[63 - t];  // HERE early read
}
TEST_F(SharedRace, volatile_read_before_another_warp_wrote) {
  Array<int> out(64);
  volatile_between_warps<false><<<1, 64>>>(out.get());
  expect_finding("order", "volatile_between_warps<false>", {at("late write"), at("early read")});
}
TEST_F(SharedRace, volatile_and_a_barrier_are_right) {
  Array<int> out(64);
  volatile_between_warps<true><<<1, 64>>>(out.get());
  expect_clean();
}

/// A tree without a barrier between the warps; volatile hides the race.
template <bool meet>
__global__ void volatile_tree(const int* in, int* out) {
  __shared__ volatile int s[256];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int k = 128; k > 0; k /= 2) {
    int sum = 0;
    if (t < k) sum = s[t] + s[t + k];  // HERE tree read
    if (meet) __syncthreads();
    if (t < k) s[t] = sum;
    if (meet) __syncthreads();
    if (!meet) __syncwarp();
  }
  if (t == 0) *out = s[0];
}
TEST_F(SharedRace, volatile_tree_without_barriers) {
  if (simt::order() != "forward") GTEST_SKIP() << "sums may be there before they are read";
  Array<int> in(256, 1), out(1);
  volatile_tree<false><<<1, 256>>>(in.get(), out.get());
  expect_finding("order", "volatile_tree<false>", {at("tree read")});
}
TEST_F(SharedRace, volatile_tree_with_barriers_is_right) {
  Array<int> in(256, 1), out(1);
  volatile_tree<true><<<1, 256>>>(in.get(), out.get());
  expect_clean();
  EXPECT_EQ(out.first(), 256);
}

/// One warp produces, another consumes, with two stages: each polls how far the other is.
__global__ void two_places(int* out) {
  __shared__ int place[2];
  __shared__ volatile int made, taken;
  const int t = threadIdx.x;
  if (t == 0) made = taken = 0;
  __syncthreads();
  if (t == 0) {
    for (int k = 0; k < 9; ++k) {
      while (k - taken > 1) {
      }
      __threadfence_block();
      place[k % 2] = k;
      __threadfence_block();
      made = k + 1;
    }
  }
  if (t == 32) {
    for (int k = 0; k < 9; ++k) {
      while (made <= k) {
      }
      __threadfence_block();
      out[k] = place[k % 2];
      __threadfence_block();
      taken = k + 1;
    }
  }
}
TEST_F(SharedRace, volatile_ring_of_two_places_is_right) {
  Array<int> out(9);
  two_places<<<1, 64>>>(out.get());
  expect_clean();
  EXPECT_EQ(out.host(), simt_test::iota<int>(9));
}

/// Guide, warp shuffle functions: they imply no memory barrier.
__global__ void shuffle_orders_nothing(int* out) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = 0;
  __syncwarp();
  s[t] = t;  // HERE shuffle write
  const int v = __shfl_xor_sync(0xffffffffu, t, 1);
  out[t] = s[t ^ 1] + v;  // HERE shuffle read
}
TEST_F(SharedRace, shuffle_is_no_barrier) {
  Array<int> out(32);
  shuffle_orders_nothing<<<1, 32>>>(out.get());
  expect_finding("race", "shuffle_orders_nothing", {at("shuffle write"), at("shuffle read")});
}

/// Lanes 0-15 synchronize; lane 20 reads lane 0's word without having synchronized with it.
__global__ void partial_mask(int* out, int reader) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = 0;
  __syncwarp();
  if (t == 0) s[0] = 1;  // HERE partial write
  if (t < 16) __syncwarp(0x0000ffff);
  if (t == reader) out[0] = s[0];  // HERE partial read
}
TEST_F(SharedRace, lane_outside_of_the_mask) {
  Array<int> out(1);
  partial_mask<<<1, 32>>>(out.get(), 20);
  expect_finding("race", "partial_mask",
                 {at("partial write"), at("partial read"), "thread (0,0,0)", "thread (20,0,0)"});
}
TEST_F(SharedRace, lane_inside_of_the_mask_is_right) {
  Array<int> out(1);
  partial_mask<<<1, 32>>>(out.get(), 12);
  expect_clean();
  EXPECT_EQ(out.first(), 1);
}

/// Groups of four lanes, each synchronized with its own mask.
__global__ void groups_of_four(int* out, int distance) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = 0;
  __syncwarp();
  s[t] = t;  // HERE four write
  __syncwarp(0xfu << (t / 4 * 4));
  out[t] = s[(t + distance) % 32];  // HERE four read
}
TEST_F(SharedRace, next_group_of_four) {
  Array<int> out(32);
  groups_of_four<<<1, 32>>>(out.get(), 4);
  expect_finding("race", "groups_of_four", {at("four write"), at("four read")});
}
TEST_F(SharedRace, own_group_of_four_is_right) {
  Array<int> out(32);
  groups_of_four<<<1, 32>>>(out.get(), 0);
  expect_clean();
}

// ---- Atomics and flags ----

__global__ void atomic_then_plain(int* out) {
  __shared__ int s;
  const int t = threadIdx.x;
  if (t == 0) s = 0;
  __syncthreads();
  atomicAdd(&s, 1);       // HERE shared atomic
  if (t == 63) *out = s;  // HERE shared plain
}
TEST_F(SharedRace, atomic_and_plain) {
  Array<int> out(1);
  atomic_then_plain<<<1, 64>>>(out.get());
  expect_finding("race", "atomic_then_plain", {at("shared atomic"), at("shared plain")});
}

__global__ void unset_before_atomic(int* out) {
  __shared__ int s[2];
  const int t = threadIdx.x;
  if (t < 2) s[t] = 0;  // HERE zeroed
  atomicAdd(&s[1], t);  // HERE too early
  __syncthreads();
  if (t == 0) *out = s[1];
}
TEST_F(SharedRace, zeroing_and_atomic) {
  Array<int> out(1);
  unset_before_atomic<<<1, 64>>>(out.get());
  expect_finding("race|uninitialised", "unset_before_atomic", {at("zeroed"), at("too early")});
}

__global__ void shared_histogram(const int* in, int n, int* out) {
  __shared__ int bins[8];
  const int t = threadIdx.x;
  if (t < 8) bins[t] = 0;
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x) atomicAdd(&bins[in[i] % 8], 1);
  __syncthreads();
  if (t < 8) atomicAdd(&out[t], bins[t]);
}
TEST_F(SharedRace, histogram_is_right) {
  Array<int> in(simt_test::iota<int>(1000)), out(8, 0);
  shared_histogram<<<4, 96>>>(in.get(), 1000, out.get());
  expect_clean();
  EXPECT_EQ(out.host(), std::vector<int>(8, 500));
}

template <bool fenced>
__global__ void flag_in_block(int* out) {
  __shared__ int data;
  __shared__ volatile int flag;
  const int t = threadIdx.x;
  if (t == 0) flag = 0;
  if (t == 32) data = 0;
  __syncthreads();
  if (t == 0) {
    data = 42;  // HERE flag data
    if (fenced) __threadfence_block();
    flag = 1;
  }
  if (t == 32) {
    while (flag == 0) {
    }
    if (fenced) __threadfence_block();
    *out = data;  // HERE flag read
  }
}
TEST_F(SharedRace, flag_without_fence) {
  Array<int> out(1);
  flag_in_block<false><<<1, 64>>>(out.get());
  expect_finding("race", "flag_in_block<false>", {at("flag data"), at("flag read")});
}
TEST_F(SharedRace, flag_with_fence_is_right) {
  Array<int> out(1);
  flag_in_block<true><<<1, 64>>>(out.get());
  expect_clean();
  EXPECT_EQ(out.first(), 42);
}

__global__ void lock_in_block(int* out) {
  __shared__ int lock, sum;
  if (threadIdx.x == 0) lock = sum = 0;
  __syncthreads();
  while (atomicCAS(&lock, 0, 1) != 0) {
  }
  __threadfence_block();
  sum += threadIdx.x;
  __threadfence_block();
  atomicExch(&lock, 0);
  __syncthreads();
  if (threadIdx.x == 0) *out = sum;
}
TEST_F(SharedRace, lock_is_right) {
  Array<int> out(1);
  lock_in_block<<<1, 64>>>(out.get());
  expect_clean();
  EXPECT_EQ(out.first(), 63 * 32);
}

// ---- One value from all lanes ----

/// Guide, writes to one location by several threads of a warp: one of them is performed.
__global__ void same_value(const int* in, int* out) {
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  if (in[threadIdx.x] % 3 == 0) found = 1;
  __syncthreads();
  if (threadIdx.x == 0) *out = found;
}
TEST_F(SharedRace, one_value_of_all_lanes_is_right) {
  Array<int> in(simt_test::iota<int>(32)), out(1);
  same_value<<<1, 32>>>(in.get(), out.get());
  expect_clean();
  EXPECT_EQ(out.first(), 1);
}

// ---- Bounds ----

__global__ void past_static(int* out, int past) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  if (t == 9) s[64 + past] = 1;  // HERE past static
  __syncthreads();
  out[t] = s[63 - t];
}
TEST_F(SharedBounds, one_past_a_static_array) {
  Array<int> out(64);
  past_static<<<1, 64>>>(out.get(), 0);
  expect_finding("bounds", "past_static", {at("past static"), "block (0,0,0)", "thread (9,0,0)"});
}
TEST_F(SharedBounds, far_past_a_static_array) {
  Array<int> out(64);
  past_static<<<1, 64>>>(out.get(), 1 << 20);
  // It may be in another block's memory, as may the word before the first variable.
  expect_finding("bounds|lifetime", "past_static", {at("past static"), "thread (9,0,0)"});
}
TEST_F(SharedBounds, last_of_a_static_array_is_right) {
  Array<int> out(64);
  past_static<<<1, 64>>>(out.get(), -1);
  expect_clean();
}
TEST_F(SharedBounds, before_the_first_variable) {
  Array<int> out(64);
  past_static<<<1, 64>>>(out.get(), -65);
  expect_finding("bounds|lifetime", "past_static", {at("past static"), "thread (9,0,0)"});
}

__global__ void dynamic_sized(int* out) {
  extern __shared__ int s[];
  const int t = threadIdx.x;
  s[t] = t;  // HERE dynamic
  out[t] = s[t];
}
TEST_F(SharedBounds, too_few_bytes_at_the_launch) {
  Array<int> out(64);
  dynamic_sized<<<1, 64, 63 * sizeof(int)>>>(out.get());
  expect_finding("bounds", "dynamic_sized", {at("dynamic"), "thread (63,0,0)"});
}
TEST_F(SharedBounds, no_bytes_at_the_launch) {
  Array<int> out(64);
  dynamic_sized<<<1, 64>>>(out.get());
  expect_finding("bounds", "dynamic_sized", {at("dynamic")});
}
TEST_F(SharedBounds, enough_bytes_are_right) {
  Array<int> out(64);
  dynamic_sized<<<1, 64, 64 * sizeof(int)>>>(out.get());
  expect_clean();
}

// ---- Uninitialised ----

__global__ void never_written(int* out) {
  __shared__ int s[32];
  if (threadIdx.x != 3) s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];  // HERE never written
}
TEST_F(SharedUninitialised, one_word) {
  Array<int> out(32);
  never_written<<<1, 32>>>(out.get());
  expect_finding("uninitialised", "never_written",
                 {at("never written"), "block (0,0,0)", "thread (3,0,0)"});
}

/// An earlier block left values in the same place; to this block they are uninitialised.
__global__ void left_by_another_block(int* out, int* ticket) {
  __shared__ int s[32];
  __shared__ int order;
  if (threadIdx.x == 0) order = atomicAdd(ticket, 1);
  __syncthreads();
  if (order == 0) s[threadIdx.x] = 5;
  __syncthreads();
  out[order * 32 + threadIdx.x] = s[threadIdx.x];  // HERE left over
}
TEST_F(SharedUninitialised, values_of_another_block) {
  Array<int> out(64), ticket(1, 0);
  left_by_another_block<<<2, 32>>>(out.get(), ticket.get());
  expect_finding("uninitialised", "left_by_another_block", {at("left over")});
}

__global__ void one_byte_of_four(int* out, int bytes) {
  __shared__ int s;
  if (threadIdx.x == 0) {
    for (int i = 0; i < bytes; ++i) reinterpret_cast<char*>(&s)[i] = 0;
  }
  __syncthreads();
  if (threadIdx.x == 1) *out = s;  // HERE partly written
}
TEST_F(SharedUninitialised, word_partly_written) {
  Array<int> out(1);
  one_byte_of_four<<<1, 32>>>(out.get(), 3);
  expect_finding("uninitialised", "one_byte_of_four", {at("partly written"), "thread (1,0,0)"});
}
TEST_F(SharedUninitialised, word_written_by_bytes_is_right) {
  Array<int> out(1);
  one_byte_of_four<<<1, 32>>>(out.get(), 4);
  expect_clean();
}

__global__ void guarded_tail(const int* in, int n, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  if (t < n) s[t] = in[t];
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];  // HERE tail not zeroed
    __syncthreads();
  }
  if (t == 0) *out = s[0];
}
TEST_F(SharedUninitialised, tail_that_is_not_zeroed) {
  Array<int> in(50, 1), out(1);
  guarded_tail<<<1, 64>>>(in.get(), 50, out.get());
  expect_finding("uninitialised", "guarded_tail", {at("tail not zeroed")});
}
TEST_F(SharedUninitialised, full_block_is_right) {
  Array<int> in(64, 1), out(1);
  guarded_tail<<<1, 64>>>(in.get(), 64, out.get());
  expect_clean();
  EXPECT_EQ(out.first(), 64);
}

// ---- A pointer that outlives its block ----

__device__ int* kept;

__global__ void keep() {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) kept = s;
}
__global__ void use_kept(int* out) {
  *out = *kept;  // HERE kept
}
TEST_F(Lifetime, shared_memory_of_the_launch_before) {
  Array<int> out(1);
  keep<<<1, 32>>>();
  expect_clean();
  use_kept<<<1, 1>>>(out.get());
  expect_finding("lifetime|bounds", "use_kept", {at("kept"), "thread (0,0,0)"});
}

__global__ void pass_on(int** pointer, int* ticket, int* out) {
  __shared__ int s[32];
  __shared__ int order;
  if (threadIdx.x == 0) order = atomicAdd(ticket, 1);
  __syncthreads();
  if (order == 0) {
    s[threadIdx.x] = 1;
    if (threadIdx.x == 0) {
      *pointer = s;
      __threadfence();
      atomicAdd(ticket + 1, 1);
    }
  } else if (threadIdx.x == 0) {
    while (atomicAdd(ticket + 1, 0) == 0) {
    }
    __threadfence();
    *out = **pointer;  // HERE passed on
  }
}
TEST_F(Lifetime, shared_memory_of_another_block) {
  Array<int*> pointer(1);
  Array<int> ticket(2, 0), out(1);
  pass_on<<<2, 32>>>(pointer.get(), ticket.get(), out.get());
  // If both blocks' memory has the same address, it is this block's own and unwritten.
  expect_finding("lifetime|bounds|uninitialised", "pass_on", {at("passed on")});
}

__global__ void hand_around(int* out) {
  __shared__ int s[32];
  __shared__ int* pointer;
  s[threadIdx.x] = threadIdx.x;
  if (threadIdx.x == 0) pointer = s;
  __syncthreads();
  out[threadIdx.x] = pointer[31 - threadIdx.x];
}
TEST_F(Lifetime, pointer_inside_its_block_is_right) {
  Array<int> out(32);
  hand_around<<<1, 32>>>(out.get());
  expect_clean();
}

}  // namespace
