// Dynamic parallelism as CUDA 12 defines it: no device-side wait; a grid has ended when its
// children have; tail launches run after all other work of the grid.
#include "simt_test.hpp"

namespace {

using simt_test::Array;

class Dynamic : public simt_test::Device {};

__global__ void add(int* data, int value) { atomicAdd(&data[threadIdx.x], value); }
__global__ void parent(int* data) {
  if (threadIdx.x == 0) add<<<1, 32>>>(data, 10 + static_cast<int>(blockIdx.x));
}
TEST_F(Dynamic, children_have_ended_when_the_host_waits) {
  Array<int> data(32, 1);
  parent<<<3, 64>>>(data.get());
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(data.host(), std::vector<int>(32, 34));
  expect_clean();
}
TEST_F(Dynamic, the_next_launch_of_the_stream_sees_them) {
  Array<int> data(32, 0);
  parent<<<1, 32>>>(data.get());
  add<<<1, 32>>>(data.get(), 5);
  parent<<<1, 32>>>(data.get());
  EXPECT_EQ(data.host(), std::vector<int>(32, 25));
  expect_clean();
}

__global__ void nest(int* log, int* ticket, int depth) {
  log[atomicAdd(ticket, 1)] = depth;
  if (depth < 3) {
    nest<<<1, 1>>>(log, ticket, depth + 1);
    nest<<<1, 1>>>(log, ticket, depth + 1);
  }
}
TEST_F(Dynamic, three_levels) {
  Array<int> log(16, -1), ticket(1, 0);
  nest<<<1, 1>>>(log.get(), ticket.get(), 0);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(ticket.first(), 15);
  int levels[4] = {};
  const auto host = log.host();
  for (int i = 0; i < 15; ++i) ++levels[host[i]];
  EXPECT_EQ(levels[0] * 1000 + levels[1] * 100 + levels[2] * 10 + levels[3], 1248);
  EXPECT_EQ(host[0], 0);
  expect_clean();
}

/// A child sees its parent thread's writes from before the launch; children of one stream run in
/// order.
__global__ void multiply(int* data, int factor) { *data = *data * factor; }
__global__ void write_then_launch(int* data) {
  *data = 7;
  multiply<<<1, 1>>>(data, 3);
  multiply<<<1, 1>>>(data, -1);
}
TEST_F(Dynamic, child_sees_what_was_written_before) {
  Array<int> data(1, 0);
  write_then_launch<<<1, 1>>>(data.get());
  EXPECT_EQ(data.first(), -21);
  expect_clean();
}

__global__ void append(int* log, int* ticket, int what) { log[atomicAdd(ticket, 1)] = what; }
__global__ void tail_and_others(int* log, int* ticket) {
  append<<<1, 1, 0, cudaStreamTailLaunch>>>(log, ticket, 3);
  append<<<1, 1>>>(log, ticket, 1);
  append<<<1, 1, 0, cudaStreamFireAndForget>>>(log, ticket, 1);
  append<<<1, 1, 0, cudaStreamTailLaunch>>>(log, ticket, 4);
  append<<<1, 1>>>(log, ticket, 1);
  log[atomicAdd(ticket, 1)] = 0;
}
TEST_F(Dynamic, tail_launches_come_last_and_in_order) {
  Array<int> log(6, -1), ticket(1, 0);
  tail_and_others<<<1, 1>>>(log.get(), ticket.get());
  auto host = log.host();
  EXPECT_EQ(host[4], 3);
  EXPECT_EQ(host[5], 4);
  int parents = 0, children = 0;
  for (int i = 0; i < 4; ++i) host[i] == 0 ? ++parents : ++children;
  EXPECT_EQ(parents, 1);
  EXPECT_EQ(children, 3);
  expect_clean();
}

/// A tail launch waits for grandchildren as well.
__global__ void child_with_child(int* log, int* ticket) {
  append<<<1, 1>>>(log, ticket, 2);
  log[atomicAdd(ticket, 1)] = 1;
}
__global__ void tail_and_grandchildren(int* log, int* ticket) {
  append<<<1, 1, 0, cudaStreamTailLaunch>>>(log, ticket, 9);
  child_with_child<<<1, 1>>>(log, ticket);
}
TEST_F(Dynamic, tail_launch_waits_for_grandchildren) {
  Array<int> log(3, -1), ticket(1, 0);
  tail_and_grandchildren<<<1, 1>>>(log.get(), ticket.get());
  EXPECT_EQ(log.host()[2], 9);
  expect_clean();
}

/// A step that launches the next one as its tail launch: n steps without the host, on one level.
__global__ void countdown(int* data, int n) {
  *data += n;
  if (n > 1) countdown<<<1, 1, 0, cudaStreamTailLaunch>>>(data, n - 1);
}
TEST_F(Dynamic, chain_of_tail_launches) {
  Array<int> data(1, 0);
  countdown<<<1, 1>>>(data.get(), 2000);
  EXPECT_EQ(data.first(), 2001000);
  expect_clean();
}

/// Sum of a range by halves, one grid per node.
__global__ void sum_by_halves(const int* in, int n, int* out) {
  if (n <= 4) {
    for (int i = 0; i < n; ++i) atomicAdd(out, in[i]);
    return;
  }
  if (threadIdx.x == 0) {
    sum_by_halves<<<1, 2>>>(in, n / 2, out);
  } else {
    sum_by_halves<<<1, 2>>>(in + n / 2, n - n / 2, out);
  }
}
TEST_F(Dynamic, recursion_of_grids) {
  Array<int> in(64, 1), out(1, 0);
  sum_by_halves<<<1, 2>>>(in.get(), 64, out.get());
  // Leaves hold 4 elements, and each of their two threads adds them all.
  EXPECT_EQ(out.first(), 128);
  expect_clean();
}

__global__ void bad_launch(int* out) {
  add<<<1, 2000>>>(out, 1);
  *out = cudaGetLastError() == cudaErrorInvalidConfiguration;
}
TEST_F(Dynamic, wrong_configuration_in_a_kernel) {
  Array<int> out(1, 5);
  bad_launch<<<1, 1>>>(out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out.first(), 1);
  expect_clean();
}

__global__ void child_out_of_bounds(int* p) { p[1 << 20] = 1; }
__global__ void parent_of_a_fault(int* p) { child_out_of_bounds<<<1, 1>>>(p); }
TEST_F(Dynamic, error_of_a_child) {
  Array<int> data(4, 0);
  parent_of_a_fault<<<1, 1>>>(data.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect_finding("bounds", "child_out_of_bounds", {"dynamic.cu"});
}

/// The tail launch sees the writes of all children, though nothing else orders them.
__global__ void put(int* data, int i) { data[i] = i * i; }
__global__ void total(const int* data, int n, int* out) {
  for (int i = 0; i < n; ++i) *out += data[i];
}
__global__ void squares_by_children(int* data, int n, int* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) put<<<1, 1, 0, cudaStreamFireAndForget>>>(data, i);
  if (i == 0) total<<<1, 1, 0, cudaStreamTailLaunch>>>(data, n, out);
}
TEST_F(Dynamic, tail_launch_sees_what_free_children_wrote) {
  Array<int> data(100), out(1, 0);
  squares_by_children<<<4, 32>>>(data.get(), 100, out.get());
  EXPECT_EQ(out.first(), 328350);
  expect_clean();
}

/// Launches of two threads into the block's stream are in order, and a tail launch of the first has
/// ended before the second begins.
__global__ void set_by_tail(int* data, int value) {
  if (value != 0) set_by_tail<<<1, 1, 0, cudaStreamTailLaunch>>>(data, 0);
  *data = value == 0 ? *data + 1 : value;
}
__global__ void two_threads_one_stream(int* data) {
  if (threadIdx.x == 40) set_by_tail<<<1, 1>>>(data, 5);
  __syncthreads();
  if (threadIdx.x == 0) multiply<<<1, 1>>>(data, 3);
}
TEST_F(Dynamic, one_stream_for_all_threads_of_a_block) {
  Array<int> data(1, 0);
  two_threads_one_stream<<<1, 64>>>(data.get());
  EXPECT_EQ(data.first(), 18);
  expect_clean();
}

__global__ void named_stream(int* data) {
  cudaStream_t stream, other;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamDefault) != cudaErrorInvalidValue) return;
  cudaGetLastError();
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  multiply<<<1, 1, 0, stream>>>(data, 3);
  cudaStreamDestroy(stream);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);  // may get the same address
  multiply<<<1, 1, 0, other>>>(data + 1, 4);
  multiply<<<1, 1, 0, other>>>(data + 1, 5);
  cudaStreamDestroy(other);
}
TEST_F(Dynamic, streams_made_in_a_kernel) {
  Array<int> data(2, 2);
  named_stream<<<1, 1>>>(data.get());
  EXPECT_EQ(data.host(), (std::vector<int>{6, 40}));
  expect_clean();
}

/// Which of two streams runs first is not defined: every order occurs.
__global__ void two_streams(int* log, int* ticket) {
  append<<<1, 1, 0, cudaStreamFireAndForget>>>(log, ticket, 0);
  append<<<1, 1, 0, cudaStreamFireAndForget>>>(log, ticket, 1);
}
TEST_F(Dynamic, the_order_that_was_asked_for) {
  Array<int> log(2, -1), ticket(1, 0);
  two_streams<<<1, 1>>>(log.get(), ticket.get());
  if (simt::order() == "forward" || simt::order() == "reverse") {
    EXPECT_EQ(log.first(), simt::order() == "reverse");
  }
  expect_clean();
}

}  // namespace
