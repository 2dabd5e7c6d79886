// Planted faults in global memory: races, bounds, freed and host memory, alignment, uninitialised
// reads. Each group ends with its near miss: code that looks alike and is right.
#include <algorithm>

#include "simt_test.hpp"

namespace {

using simt_test::Array;

std::string at(const std::string& name) { return simt_test::here("faults_global.cu", name); }

class GlobalRace : public simt_test::Device {};
class GlobalBounds : public simt_test::Device {};
class Freed : public simt_test::Device {};
class HostMemory : public simt_test::Device {};
class Misaligned : public simt_test::Device {};
class GlobalUninitialised : public simt_test::Device {};

// ---- Races ----

__global__ void exchange(int* data, int* out) {
  const int t = threadIdx.x;
  data[t] = t;            // HERE exchange write
  out[t] = data[63 - t];  // HERE exchange read
}
TEST_F(GlobalRace, inside_a_block) {
  Array<int> data(64, 0), out(64);
  exchange<<<1, 64>>>(data.get(), out.get());
  expect_finding("race", "exchange", {at("exchange write"), at("exchange read"), "block (0,0,0)"});
}

__global__ void exchange_synced(int* data, int* out) {
  const int t = threadIdx.x;
  data[blockIdx.x * 64 + t] = t;
  __syncthreads();
  out[blockIdx.x * 64 + t] = data[blockIdx.x * 64 + 63 - t];
}
TEST_F(GlobalRace, inside_a_block_with_barrier_is_right) {
  Array<int> data(128), out(128);
  exchange_synced<<<2, 64>>>(data.get(), out.get());
  expect_clean();
  EXPECT_EQ(out.first(), 63);
}

__global__ void every_block_writes(int* data) {
  if (threadIdx.x == 0) data[0] = blockIdx.x;  // HERE blocks write
}
TEST_F(GlobalRace, two_blocks_write) {
  Array<int> data(1);
  every_block_writes<<<2, 32>>>(data.get());
  expect_finding("race", "every_block_writes",
                 {at("blocks write"), "block (0,0,0)", "block (1,0,0)"});
}

__global__ void next_block(int* data, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = i;  // HERE next write
  __syncthreads();
  out[i] = data[(i + 1) % (gridDim.x * blockDim.x)];  // HERE next read
}
TEST_F(GlobalRace, reads_the_next_block) {
  Array<int> data(128, 0), out(128);
  next_block<<<4, 32>>>(data.get(), out.get());
  expect_finding("race", "next_block", {at("next write"), at("next read")});
}
TEST_F(GlobalRace, launches_follow_one_another) {
  Array<int> data(1);
  every_block_writes<<<1, 32>>>(data.get());
  every_block_writes<<<1, 64>>>(data.get());
  expect_clean();
}
__global__ void add_one(int* data) { data[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
TEST_F(GlobalRace, own_elements_over_launches_are_right) {
  Array<int> data(256, 0);
  add_one<<<4, 64>>>(data.get());
  add_one<<<2, 128>>>(data.get());
  add_one<<<8, 32>>>(data.get());
  expect_clean();
  EXPECT_EQ(data.host(), std::vector<int>(256, 3));
}

__global__ void byte_blocks(unsigned char* data) { data[blockIdx.x] += 1; }
TEST_F(GlobalRace, neighbouring_bytes_of_blocks_are_right) {
  Array<unsigned char> data(16, 1);
  byte_blocks<<<16, 1>>>(data.get());
  expect_clean();
  EXPECT_EQ(data.host()[15], 2);
}

/// All blocks read a word, and one of them then writes it.
__global__ void all_read_one_writes(int* data, int* out) {
  out[blockIdx.x] = data[0];                     // HERE all read
  if (blockIdx.x == gridDim.x / 2) data[0] = 5;  // HERE one writes
}
TEST_F(GlobalRace, one_writes_what_all_read) {
  Array<int> data(1, 0), out(8);
  all_read_one_writes<<<8, 1>>>(data.get(), out.get());
  expect_finding("race", "all_read_one_writes", {at("all read"), at("one writes")});
}

/// Words that a launch only reads are marked with the launch's number, which wraps around.
__global__ void read_by_all(const int* data, int* out) { out[blockIdx.x] = data[0]; }
__global__ void read_and_write(int* data, int* out) {
  if (blockIdx.x == 0) {
    out[0] = data[0];  // HERE read by one
  } else {
    data[0] = 1;  // HERE written by another
  }
}
TEST_F(GlobalRace, after_many_launches_that_only_read) {
  Array<int> data(1, 0), other(1, 0), out(4);
  read_by_all<<<4, 1>>>(data.get(), out.get());
  for (int launches = 1; launches < 255; ++launches) {
    read_by_all<<<1, 1>>>(other.get(), out.get());
  }
  read_and_write<<<2, 1>>>(data.get(), out.get());
  expect_finding("race", "read_and_write", {at("read by one"), at("written by another")});
}
/// Three blocks read, the last one writes: whichever reader the checks kept, the write races.
__global__ void many_read_one_writes(int* data, int* out) {
  if (blockIdx.x == gridDim.x / 2) {
    data[0] = 1;  // HERE one of many writes
  } else {
    out[blockIdx.x] = data[0];  // HERE the others read
  }
}
TEST_F(GlobalRace, one_writes_what_many_blocks_read) {
  Array<int> data(1, 0), out(9);
  many_read_one_writes<<<9, 1>>>(data.get(), out.get());
  expect_finding("race", "many_read_one_writes", {at("one of many writes"), at("the others read")});
}

/// The last block adds up what the others left. variant 0: no fence; 1: only one on the writer's
/// side; 2: a fence on both sides; 3: the fence comes after the ticket; 4: thread 0 fences for its
/// block after a barrier; 5: a fence that only reaches the own block.
template <int variant>
__global__ void last_block(const int* in, volatile int* partial, unsigned* ticket, int* sum) {
  __shared__ bool last;
  const int t = threadIdx.x;
  if (variant == 4) {
    partial[blockIdx.x * 32 + t] = in[blockIdx.x * 32 + t];
    __syncthreads();
  } else if (t == 0) {
    int mine = 0;
    for (int i = 0; i < 32; ++i) mine += in[blockIdx.x * 32 + i];
    const_cast<int*>(partial)[blockIdx.x] = mine;  // HERE partial written
  }
  if (t == 0) {
    if (variant == 5) __threadfence_block();
    if (variant == 1 || variant == 2 || variant == 4) __threadfence();
    last = atomicInc(ticket, gridDim.x) == gridDim.x - 1;
    if (variant == 2 || variant == 3 || variant == 4) __threadfence();
  }
  __syncthreads();
  if (last && t == 0) {
    const int n = variant == 4 ? gridDim.x * 32 : gridDim.x;
    int total = 0;
    for (int i = 0; i < n; ++i) {
      total += const_cast<const int*>(partial)[i];  // HERE partial read
    }
    *sum = total;
  }
}
template <int variant>
int run_last_block() {
  Array<int> in(8 * 32, 1), partial(8 * 32), sum(1, 0);
  Array<unsigned> ticket(1, 0);
  last_block<variant><<<8, 32>>>(in.get(), partial.get(), ticket.get(), sum.get());
  return sum.first();
}
TEST_F(GlobalRace, last_block_without_fence) {
  run_last_block<0>();
  expect_finding("race", "last_block<variant>", {at("partial written"), at("partial read")});
}
TEST_F(GlobalRace, last_block_without_the_fence_of_the_reader) {
  EXPECT_EQ(run_last_block<1>(), 256);
  expect_finding("order", "last_block<variant>", {at("partial written"), at("partial read")});
}
TEST_F(GlobalRace, last_block_with_two_fences_is_right) {
  EXPECT_EQ(run_last_block<2>(), 256);
  expect_clean();
}
TEST_F(GlobalRace, last_block_with_the_fence_too_late) {
  run_last_block<3>();
  expect_finding("race", "last_block<variant>", {at("partial written"), at("partial read")});
}
TEST_F(GlobalRace, last_block_with_one_fence_for_the_block_is_right) {
  EXPECT_EQ(run_last_block<4>(), 256);
  expect_clean();
}
TEST_F(GlobalRace, last_block_with_a_fence_of_the_block) {
  run_last_block<5>();
  expect_finding("race", "last_block<variant>", {at("partial written"), at("partial read")});
}

/// The first block sends, the other polls: works in either order.
template <bool fenced>
__global__ void flag_between_blocks(int* data, volatile int* flag, int* ticket, int* out) {
  if (atomicAdd(ticket, 1) == 0) {
    *data = 42;  // HERE sent
    if (fenced) __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    if (fenced) __threadfence();
    *out = *data;  // HERE received
  }
}
TEST_F(GlobalRace, flag_without_fence) {
  Array<int> data(1, 0), flag(1, 0), ticket(1, 0), out(1);
  flag_between_blocks<false><<<2, 1>>>(data.get(), flag.get(), ticket.get(), out.get());
  expect_finding("race", "flag_between_blocks<false>", {at("sent"), at("received")});
}
TEST_F(GlobalRace, flag_with_fence_is_right) {
  Array<int> data(1, 0), flag(1, 0), ticket(1, 0), out(1);
  flag_between_blocks<true><<<2, 1>>>(data.get(), flag.get(), ticket.get(), out.get());
  expect_clean();
  EXPECT_EQ(out.first(), 42);
}

/// A chain as in a single-pass scan: each block, in ticket order, waits for the one before.
__global__ void chained_sum(const int* in, int* sums, int* flags, int* ticket) {
  __shared__ int order;
  if (threadIdx.x == 0) order = atomicAdd(ticket, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = in[order];
    if (order > 0) {
      while (atomicAdd(&flags[order - 1], 0) == 0) {
      }
      __threadfence();
      sum += sums[order - 1];
    }
    sums[order] = sum;
    __threadfence();
    atomicExch(&flags[order], 1);
  }
}
TEST_F(GlobalRace, chained_blocks_are_right) {
  Array<int> in(simt_test::iota<int>(40)), sums(40), flags(40, 0), ticket(1, 0);
  chained_sum<<<40, 32>>>(in.get(), sums.get(), flags.get(), ticket.get());
  expect_clean();
  EXPECT_EQ(sums.host()[39], 39 * 20);
}

__global__ void atomic_and_plain(int* data, int* out) {
  atomicAdd(data, 1);                                     // HERE global atomic
  if (blockIdx.x == 1 && threadIdx.x == 0) *out = *data;  // HERE global plain
}
TEST_F(GlobalRace, atomic_and_plain_read) {
  Array<int> data(1, 0), out(1);
  atomic_and_plain<<<3, 32>>>(data.get(), out.get());
  expect_finding("race", "atomic_and_plain", {at("global atomic"), at("global plain")});
}

__global__ void zero_then_atomic(int* data) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *data = 0;  // HERE zeroed by one
  atomicAdd(data, 1);                                  // HERE added by all
}
TEST_F(GlobalRace, zeroed_by_one_block) {
  Array<int> data(1, 0);
  zero_then_atomic<<<3, 32>>>(data.get());
  expect_finding("race", "zero_then_atomic", {at("zeroed by one"), at("added by all")});
}

__global__ void only_atomics(int* data) {
  atomicAdd(data, 1);
  atomicMax(data + 1, static_cast<int>(threadIdx.x));
  atomicCAS(data + 2, 0, 7);
}
TEST_F(GlobalRace, atomics_alone_are_right) {
  Array<int> data(3, 0);
  only_atomics<<<5, 64>>>(data.get());
  expect_clean();
  EXPECT_EQ(data.host(), (std::vector<int>{320, 63, 7}));
}

// ---- Bounds ----

__global__ void off_by_one(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) data[i] = 1;  // HERE off by one
}
TEST_F(GlobalBounds, one_past_the_end) {
  Array<float> data(100);
  off_by_one<<<2, 64>>>(data.get(), 100);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  float* more = nullptr;
  EXPECT_EQ(cudaMalloc(&more, 4), cudaErrorIllegalAddress) << "the error sticks";
  expect_finding("bounds", "off_by_one", {at("off by one"), "block (1,0,0)", "thread (36,0,0)"});
}
TEST_F(GlobalBounds, last_element_is_right) {
  Array<float> data(100);
  off_by_one<<<2, 64>>>(data.get(), 99);
  expect_clean();
}

__global__ void read_at(const float* data, long index, float* out) {
  *out = data[index];  // HERE read at
}
TEST_F(GlobalBounds, before_the_start) {
  Array<float> data(100, 1.0f), out(1);
  read_at<<<1, 1>>>(data.get(), -1, out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect_finding("bounds", "read_at", {at("read at"), "thread (0,0,0)"});
}
TEST_F(GlobalBounds, far_away) {
  Array<float> data(100, 1.0f), out(1);
  read_at<<<1, 1>>>(data.get(), 1l << 40, out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect_finding("bounds|host memory", "read_at", {at("read at")});
}
TEST_F(GlobalBounds, between_two_allocations) {
  Array<float> one(10, 1.0f), two(10, 1.0f), out(1);
  const float* low = std::min(one.get(), two.get());
  const float* high = std::max(one.get(), two.get());
  ASSERT_GE(high - low, 10);
  ASSERT_EQ((high - low) % 64, 0) << "allocations are aligned to 256 bytes";
  read_at<<<1, 1>>>(low, high - low - 1, out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect_finding("bounds", "read_at", {at("read at")});
}
/// After an array there is a gap, even if its size is a multiple of the alignment of allocations.
TEST_F(GlobalBounds, one_past_an_array_of_whole_lines) {
  Array<float> one(64, 1.0f), two(64, 1.0f), out(1);
  read_at<<<1, 1>>>(std::min(one.get(), two.get()), 64, out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect_finding("bounds", "read_at", {at("read at")});
}
/// Of the last word only the first two bytes are in the array.
__global__ void last_word(const unsigned char* data, int* out) {
  *out = reinterpret_cast<const int*>(data)[1];  // HERE half past
}
TEST_F(GlobalBounds, word_that_begins_in_an_array) {
  Array<unsigned char> six(6, 1), eight(8, 1);
  Array<int> out(1);
  last_word<<<1, 1>>>(eight.get(), out.get());
  expect_clean();
  last_word<<<1, 1>>>(six.get(), out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect_finding("bounds", "last_word", {at("half past"), "reads 4 byte(s)"});
}
/// After one array comes the next: the nearest allocation is not the intended one.
TEST_F(GlobalBounds, far_behind_the_end_of_an_argument) {
  Array<float> one(1, 1.0f), two(1, 1.0f);
  ASSERT_EQ(two.get() - one.get(), 128);
  read_at<<<1, 1>>>(one.get(), 256, two.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect_finding("bounds", "read_at",
                 {at("read at"), "508 bytes behind the end of the nearest allocation, of 4 bytes",
                  "that is byte 1024 of argument 1, which has 4, byte 512 of argument 3"});
}
TEST_F(GlobalBounds, next_to_an_argument) {
  Array<float> one(1, 1.0f), two(1, 1.0f);
  read_at<<<1, 1>>>(two.get(), 1, one.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  const std::vector<simt::Finding> found = simt::take_findings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].text.substr(found[0].text.find(": ")),
            ": 0 bytes behind the end of the nearest allocation, of 4 bytes");
}
__global__ void read_double(const double* data, double* out) {
  *out = *data;  // HERE half out
}
TEST_F(GlobalBounds, second_half_of_a_double) {
  Array<float> data(101, 1.0f);
  Array<double> out(1);
  read_double<<<1, 1>>>(reinterpret_cast<const double*>(data.get() + 100), out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect_finding("bounds", "read_double", {at("half out")});
}
TEST_F(GlobalBounds, null) {
  Array<float> out(1);
  read_at<<<1, 1>>>(nullptr, 0, out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect_finding("bounds|host memory", "read_at", {at("read at")});
}
__global__ void write_null(int* p) {
  *p = 1;  // HERE write null
}
TEST_F(GlobalBounds, write_to_null) {
  write_null<<<1, 1>>>(nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect_finding("bounds|host memory", "write_null", {at("write null")});
}
__global__ void atomic_past(int* p, int n) {
  atomicAdd(p + n, 1);  // HERE atomic past
}
TEST_F(GlobalBounds, atomic_past_the_end) {
  Array<int> data(7, 0);
  atomic_past<<<1, 1>>>(data.get(), 7);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect_finding("bounds", "atomic_past", {at("atomic past")});
}
__global__ void read_vector(const float4* data, float4* out) {
  out[threadIdx.x] = data[threadIdx.x];  // HERE vector past
}
TEST_F(GlobalBounds, vector_past_the_end) {
  Array<float> data(30, 1.0f);
  Array<float4> out(8);
  read_vector<<<1, 8>>>(reinterpret_cast<const float4*>(data.get()), out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect_finding("bounds", "read_vector", {at("vector past"), "thread (7,0,0)"});
}
}  // namespace
// Not in an unnamed namespace: a compiler would remove a variable that is only written.
__device__ int table[16];
__device__ int beside_the_table = 5;
namespace {
__global__ void past_variable(int i) {
  table[i] = 1;  // HERE past variable
}
TEST_F(GlobalBounds, device_variable_is_right) {
  past_variable<<<1, 1>>>(15);
  expect_clean();
}

TEST_F(GlobalBounds, past_a_device_variable) {
  past_variable<<<1, 1>>>(16);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect_finding("bounds", "past_variable", {at("past variable"), "beside a __device__ variable"});
}
__constant__ float weights[32] = {1, 2, 3};
__constant__ float more_weights[32] = {4};
__global__ void before_variable(int* out, int i) {
  out[0] = (&beside_the_table)[i];  // HERE before variable
}
TEST_F(GlobalBounds, before_a_device_variable) {
  Array<int> out(1);
  before_variable<<<1, 1>>>(out.get(), -1);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect_finding("bounds", "before_variable", {at("before variable")});
}
__global__ void read_weights(float* out, int i) {
  out[0] = weights[i] + more_weights[0];  // HERE weights
}
TEST_F(GlobalBounds, constant_is_right) {
  Array<float> out(1);
  read_weights<<<1, 1>>>(out.get(), 2);
  expect_clean();
  EXPECT_EQ(out.first(), 7);
}
TEST_F(GlobalBounds, past_a_constant) {
  Array<float> out(1);
  read_weights<<<1, 1>>>(out.get(), 32);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect_finding("bounds", "read_weights", {at("weights"), "beside a __constant__ variable"});
}

// ---- The host in device memory ----

class HostAccess : public simt_test::Device {};
__managed__ int managed[4];

TEST_F(HostAccess, reads_device_memory) {
  Array<int> data(100, 3);
  const volatile int* p = data.get();
  EXPECT_EQ(p[7], 3);  // HERE host reads
  expect_finding("host access", "the host",
                 {"reads 4", "byte 28 of an allocation of 400", "cudaMemcpy()"});
}
TEST_F(HostAccess, writes_device_memory) {
  Array<double> data(10, 0.0);
  data.get()[1] = 2;  // HERE host writes
  expect_finding("host access", "the host", {at("host writes"), "writes 8"});
}
TEST_F(HostAccess, writes_a_device_variable) {
  Array<int> anything(1);  // the checks begin with the first allocation or launch
  beside_the_table = 6;    // HERE host sets
  expect_finding("host access", "the host", {at("host sets"), "cudaMemcpyToSymbol()"});
}
TEST_F(HostAccess, reads_freed_memory) {
  int* data = nullptr;
  ASSERT_EQ(cudaMalloc(&data, 400), cudaSuccess);
  ASSERT_EQ(cudaFree(data), cudaSuccess);
  EXPECT_EQ(static_cast<volatile int*>(data)[0], static_cast<volatile int*>(data)[0]);
  expect_finding("host access", "the host", {"not allocated"});
}
TEST_F(HostAccess, memory_for_both_is_right) {
  int *shared = nullptr, *pinned = nullptr, *mapped = nullptr;
  ASSERT_EQ(cudaMallocManaged(&shared, 400), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&pinned, 400), cudaSuccess);
  ASSERT_EQ(cudaHostAlloc(&mapped, 400, cudaHostAllocMapped), cudaSuccess);
  for (int i = 0; i < 100; ++i) shared[i] = pinned[i] = mapped[i] = i;
  for (int i = 0; i < 4; ++i) managed[i] = shared[i] + pinned[i];
  EXPECT_EQ(managed[3] + mapped[99], 105);
  ASSERT_EQ(cudaMemcpyToSymbol(weights, shared, 8), cudaSuccess);
  expect_clean();
  cudaFree(shared);
  cudaFreeHost(pinned);
  cudaFreeHost(mapped);
}

__global__ void increase(int* p) { p[threadIdx.x] += 1; }
TEST_F(HostAccess, registered_memory_is_right) {
  std::vector<int> host(32, 1);
  int* p = nullptr;
  ASSERT_EQ(cudaHostRegister(host.data(), 128, cudaHostRegisterMapped), cudaSuccess);
  ASSERT_EQ(cudaHostGetDevicePointer(reinterpret_cast<void**>(&p), host.data(), 0), cudaSuccess);
  increase<<<1, 32>>>(p);
  expect_clean();
  EXPECT_EQ(host, std::vector<int>(32, 2));
  ASSERT_EQ(cudaHostUnregister(host.data()), cudaSuccess);
}
TEST_F(HostAccess, copies_of_registered_memory_are_right) {
  std::vector<int> host(32, 1);
  Array<int> data(32);
  ASSERT_EQ(cudaHostRegister(host.data(), 128, cudaHostRegisterDefault), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(data.get(), host.data(), 128, cudaMemcpyHostToDevice), cudaSuccess);
  increase<<<1, 32>>>(data.get());
  ASSERT_EQ(cudaMemcpy(host.data(), data.get(), 128, cudaMemcpyDeviceToHost), cudaSuccess);
  expect_clean();
  EXPECT_EQ(host, std::vector<int>(32, 2));
  ASSERT_EQ(cudaHostUnregister(host.data()), cudaSuccess);
}
TEST_F(HostAccess, memory_that_is_registered_no_more) {
  std::vector<int> host(32, 1);
  ASSERT_EQ(cudaHostRegister(host.data(), 128, cudaHostRegisterMapped), cudaSuccess);
  ASSERT_EQ(cudaHostUnregister(host.data()), cudaSuccess);
  increase<<<1, 32>>>(host.data());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect_finding("host memory", "increase", {"as from malloc"});
}

// ---- Unions ----

union Slot {
  int i;
  double d;
};
struct Tagged {
  int kind;
  union {
    int i;
    float v[4];
  };
};
/// One member is written, and the whole union is copied.
template <class T>
__global__ void rotate(T* out, bool written) {
  __shared__ T s[32];
  const int t = threadIdx.x;
  if (written) s[t].i = t;
  __syncthreads();
  out[t] = s[31 - t];  // HERE union
  if (written) out[t].i += out[t].i;
}
TEST_F(GlobalUninitialised, unions_of_which_one_member_was_written) {
  Array<Slot> slots(32);
  rotate<<<1, 32>>>(slots.get(), true);
  expect_clean();
  Array<Tagged> tagged(32);
  rotate<<<1, 32>>>(tagged.get(), true);
  expect_clean();
}
TEST_F(GlobalUninitialised, unions_that_nobody_has_written) {
  Array<Slot> slots(32);
  rotate<<<1, 32>>>(slots.get(), false);
  expect_finding("uninitialised", "rotate", {at("union")});
}

// ---- Padding ----

struct Padded {
  char a;
  int b;
  double c;
  int d;
};
template <bool all>
__global__ void set_members(Padded* p) {
  p[threadIdx.x].a = 1;
  if (all) p[threadIdx.x].b = 2;
  p[threadIdx.x].c = 3;
  p[threadIdx.x].d = 4;
}
__global__ void copy_padded(const Padded* from, Padded* to) {
  to[threadIdx.x] = from[threadIdx.x];  // HERE copied whole
}
class Padding : public simt_test::Device {};
TEST_F(Padding, need_not_be_written) {
  Array<char> from(8 * sizeof(Padded)), to(8 * sizeof(Padded));
  set_members<true><<<1, 8>>>(reinterpret_cast<Padded*>(from.get()));
  copy_padded<<<1, 8>>>(reinterpret_cast<Padded*>(from.get()), reinterpret_cast<Padded*>(to.get()));
  expect_clean();
}
TEST_F(Padding, members_must_be) {
  Array<char> from(8 * sizeof(Padded)), to(8 * sizeof(Padded));
  set_members<false><<<1, 8>>>(reinterpret_cast<Padded*>(from.get()));
  copy_padded<<<1, 8>>>(reinterpret_cast<Padded*>(from.get()), reinterpret_cast<Padded*>(to.get()));
  expect_finding("uninitialised", "copy_padded", {at("copied whole")});
}

// ---- Freed memory, host memory ----

TEST_F(Freed, read_after_free) {
  float* data = nullptr;
  Array<float> out(1);
  ASSERT_EQ(cudaMalloc(&data, 400), cudaSuccess);
  ASSERT_EQ(cudaMemset(data, 0, 400), cudaSuccess);
  ASSERT_EQ(cudaFree(data), cudaSuccess);
  read_at<<<1, 1>>>(data, 5, out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect_finding("lifetime", "read_at", {at("read at"), "thread (0,0,0)"});
}
TEST_F(Freed, memory_given_out_again_is_right) {
  Array<float> out(1);
  for (int i = 0; i < 100; ++i) {
    Array<float> data(1000, 1.0f);
    read_at<<<1, 1>>>(data.get(), 999, out.get());
  }
  expect_clean();
}
TEST_F(Freed, memory_given_out_again_is_uninitialised) {
  Array<float> out(1);
  { Array<float> data(1000, 1.0f); }
  Array<float> data(1000);
  read_at<<<1, 1>>>(data.get(), 999, out.get());
  expect_finding("uninitialised", "read_at", {at("read at")});
}

TEST_F(HostMemory, heap) {
  std::vector<float> host(16, 1.0f);
  Array<float> out(1);
  read_at<<<1, 1>>>(host.data(), 3, out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect_finding("host memory", "read_at", {at("read at"), "thread (0,0,0)"});
}
TEST_F(HostMemory, stack) {
  float host = 1;
  Array<float> out(1);
  read_at<<<1, 1>>>(&host, 0, out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect_finding("host memory", "read_at", {at("read at")});
}
float host_variable = 1;
TEST_F(HostMemory, variable) {
  Array<float> out(1);
  read_at<<<1, 1>>>(&host_variable, 0, out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect_finding("host memory", "read_at", {at("read at")});
}
TEST_F(HostMemory, pinned_and_managed_are_right) {
  float *pinned = nullptr, *managed = nullptr;
  Array<float> out(1);
  ASSERT_EQ(cudaMallocHost(&pinned, 64), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(&managed, 64), cudaSuccess);
  pinned[3] = 3;
  managed[4] = 4;
  read_at<<<1, 1>>>(pinned, 3, out.get());
  EXPECT_EQ(out.first(), 3);
  read_at<<<1, 1>>>(managed, 4, out.get());
  EXPECT_EQ(out.first(), 4);
  expect_clean();
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  EXPECT_EQ(cudaFree(managed), cudaSuccess);
}
__global__ void through_local(const float* data, float* out) {
  float local[8];
  for (int i = 0; i < 8; ++i) local[i] = data[i];
  float* volatile p = local;
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += p[(i * 3 + threadIdx.x) % 8];
  out[threadIdx.x] = sum;
}
TEST_F(HostMemory, local_arrays_are_right) {
  Array<float> data(8, 2.0f), out(32);
  through_local<<<1, 32>>>(data.get(), out.get());
  expect_clean();
  EXPECT_EQ(out.first(), 16);
}

// ---- Alignment ----

TEST_F(Misaligned, float4_at_an_odd_float) {
  Array<float> data(64, 1.0f);
  Array<float4> out(8);
  read_vector<<<1, 8>>>(reinterpret_cast<const float4*>(data.get() + 1), out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMisalignedAddress);
  expect_finding("misaligned", "read_vector", {at("vector past"), "block (0,0,0)"});
}
TEST_F(Misaligned, float4_at_eight_bytes) {
  Array<float> data(64, 1.0f);
  Array<float4> out(8);
  read_vector<<<1, 8>>>(reinterpret_cast<const float4*>(data.get() + 2), out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
  expect_finding("misaligned", "read_vector", {at("vector past")});
}
TEST_F(Misaligned, double_at_an_odd_float) {
  Array<float> data(64, 1.0f);
  Array<double> out(1);
  read_double<<<1, 1>>>(reinterpret_cast<const double*>(data.get() + 1), out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
  expect_finding("misaligned", "read_double", {at("half out")});
}
__global__ void shared_vector(float4* out, int offset) {
  __shared__ __align__(16) float s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x < 8) {
    out[threadIdx.x] = *reinterpret_cast<const float4*>(s + 4 * threadIdx.x + offset);  // HERE odd
  }
}
TEST_F(Misaligned, float4_in_shared_memory) {
  Array<float4> out(8);
  shared_vector<<<1, 64>>>(out.get(), 1);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
  expect_finding("misaligned", "shared_vector", {at("odd")});
}
TEST_F(Misaligned, float4_at_four_floats_is_right) {
  Array<float> data(64, 1.0f);
  Array<float4> out(8);
  read_vector<<<1, 8>>>(reinterpret_cast<const float4*>(data.get() + 4), out.get());
  shared_vector<<<1, 64>>>(out.get(), 4);
  expect_clean();
  EXPECT_EQ(out.first().x, 4);
}

// ---- Uninitialised ----

TEST_F(GlobalUninitialised, never_written) {
  Array<float> data(100), out(1);
  read_at<<<1, 1>>>(data.get(), 50, out.get());
  expect_finding("uninitialised", "read_at", {at("read at"), "block (0,0,0)", "thread (0,0,0)"});
}
TEST_F(GlobalUninitialised, memset_is_enough) {
  Array<float> data(100), out(1);
  EXPECT_EQ(cudaMemset(data, 0, 400), cudaSuccess);
  read_at<<<1, 1>>>(data.get(), 99, out.get());
  expect_clean();
}
TEST_F(GlobalUninitialised, copy_of_a_part) {
  Array<float> data(100), out(1);
  const std::vector<float> host(50, 1.0f);
  EXPECT_EQ(cudaMemcpy(data, host.data(), 200, cudaMemcpyHostToDevice), cudaSuccess);
  read_at<<<1, 1>>>(data.get(), 49, out.get());
  expect_clean();
  read_at<<<1, 1>>>(data.get(), 50, out.get());
  expect_finding("uninitialised", "read_at", {at("read at")});
}
TEST_F(GlobalUninitialised, device_copy_of_written_data_is_right) {
  Array<float> one(100, 1.0f), two(100), out(1);
  EXPECT_EQ(cudaMemcpy(two, one, 400, cudaMemcpyDeviceToDevice), cudaSuccess);
  read_at<<<1, 1>>>(two.get(), 99, out.get());
  expect_clean();
}
TEST_F(GlobalUninitialised, device_copy_of_nothing) {
  Array<float> one(100), two(100, 1.0f), out(1);
  EXPECT_EQ(cudaMemcpyAsync(two, one, 400, cudaMemcpyDeviceToDevice, nullptr), cudaSuccess);
  read_at<<<1, 1>>>(two.get(), 99, out.get());
  expect_finding("uninitialised", "read_at", {at("read at")});
}
TEST_F(GlobalUninitialised, gap_of_a_pitched_copy) {
  char* data = nullptr;
  std::size_t pitch = 0;
  Array<float> out(1);
  ASSERT_EQ(cudaMallocPitch(reinterpret_cast<void**>(&data), &pitch, 40, 4), cudaSuccess);
  ASSERT_GT(pitch, 40u);
  const std::vector<float> host(40, 1.0f);
  ASSERT_EQ(cudaMemcpy2D(data, pitch, host.data(), 40, 40, 4, cudaMemcpyHostToDevice), cudaSuccess);
  read_at<<<1, 1>>>(reinterpret_cast<const float*>(data + 3 * pitch), 9, out.get());
  expect_clean();
  read_at<<<1, 1>>>(reinterpret_cast<const float*>(data + pitch), 10, out.get());
  expect_finding("uninitialised", "read_at", {at("read at")});
  cudaFree(data);
}
TEST_F(GlobalUninitialised, written_by_a_kernel_is_right) {
  Array<float> data(100), out(1);
  off_by_one<<<2, 64>>>(data.get(), 99);
  read_at<<<1, 1>>>(data.get(), 99, out.get());
  expect_clean();
}
__global__ void bytes_then_word(unsigned char* data, int bytes, int* out) {
  for (int i = 0; i < bytes; ++i) data[i] = 1;
  *out = *reinterpret_cast<const int*>(data);  // HERE word
}
TEST_F(GlobalUninitialised, word_partly_written) {
  Array<unsigned char> data(4);
  Array<int> out(1);
  bytes_then_word<<<1, 1>>>(data.get(), 3, out.get());
  expect_finding("uninitialised", "bytes_then_word", {at("word")});
}
TEST_F(GlobalUninitialised, word_written_by_bytes_is_right) {
  Array<unsigned char> data(4);
  Array<int> out(1);
  bytes_then_word<<<1, 1>>>(data.get(), 4, out.get());
  expect_clean();
  EXPECT_EQ(out.first(), 0x01010101);
}
TEST_F(GlobalUninitialised, atomic_on_nothing) {
  Array<int> data(1);
  atomic_past<<<1, 1>>>(data.get(), 0);
  expect_finding("uninitialised", "atomic_past", {at("atomic past")});
}
__device__ int zero_at_start;
__global__ void read_variable(int* out) { *out = zero_at_start; }
TEST_F(GlobalUninitialised, device_variables_start_as_zero) {
  Array<int> out(1);
  read_variable<<<1, 1>>>(out.get());
  EXPECT_EQ(out.first(), 0);
  expect_clean();
}
__global__ void copy_struct(const char* data, char* out) {
  for (int i = threadIdx.x; i < 24; i += blockDim.x) out[i] = data[i];
}
TEST_F(GlobalUninitialised, copied_byte_by_byte_is_right) {
  struct Padded {
    char c;
    double d;
    int i;
  };
  Array<Padded> data(1, Padded{'a', 1, 2}), out(1);
  copy_struct<<<1, 8>>>(reinterpret_cast<const char*>(data.get()),
                        reinterpret_cast<char*>(out.get()));
  expect_clean();
}

}  // namespace
