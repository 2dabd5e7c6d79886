// Faulty launches by kernels: what is refused, and races in a tree of launches. Next to each race
// is the same code without it.
#include "simt_test.hpp"

namespace {

using simt_test::Array;

class DynamicFaults : public simt_test::Device {};

std::string at(const std::string& name) { return simt_test::here("dynamic_faults.cu", name); }

// ---- What is refused ----

__global__ void deeper(int* runs, int levels) {
  ++*runs;
  if (levels > 0) deeper<<<1, 1>>>(runs, levels - 1);  // HERE deeper
}
TEST_F(DynamicFaults, too_deep) {
  Array<int> runs(1, 0);
  deeper<<<1, 1>>>(runs.get(), 100);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);  // the host has an error state of its own
  EXPECT_EQ(runs.first(), 25);
  expect_finding("unchecked", "deeper",
                 {at("deeper"), "24 levels deep", "cudaErrorLaunchMaxDepthExceeded"});
}
TEST_F(DynamicFaults, just_not_too_deep) {
  Array<int> runs(1, 0);
  deeper<<<1, 1>>>(runs.get(), 24);
  EXPECT_EQ(runs.first(), 25);
  expect_clean();
}

__global__ void count(int* runs) { atomicAdd(runs, 1); }
__global__ void ask(int* runs, int launches, int* error) {
  for (int i = 0; i < launches; ++i) count<<<1, 1>>>(runs);
  error[0] = cudaPeekAtLastError();
  error[1] = cudaGetLastError();
  error[2] = cudaGetLastError();
}
TEST_F(DynamicFaults, too_many_pending_and_asked) {
  Array<int> runs(1, 0), error(3, -1);
  ask<<<1, 1>>>(runs.get(), 2050, error.get());
  EXPECT_EQ(runs.first(), 2048);
  constexpr int expected = cudaErrorLaunchPendingCountExceeded;
  EXPECT_EQ(error.host(), (std::vector<int>{expected, expected, 0}));
  expect_clean();
}
TEST_F(DynamicFaults, more_allowed_by_the_host) {
  Array<int> runs(1, 0), error(3, -1);
  EXPECT_EQ(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 2050), cudaSuccess);
  ask<<<1, 1>>>(runs.get(), 2050, error.get());
  EXPECT_EQ(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 2048), cudaSuccess);
  EXPECT_EQ(runs.first(), 2050);
  EXPECT_EQ(error.host(), std::vector<int>(3, 0));
  expect_clean();
}
__global__ void one_each(int* runs) {
  count<<<1, 1>>>(runs);  // HERE one each
}
TEST_F(DynamicFaults, too_many_pending) {
  Array<int> runs(1, 0);
  one_each<<<65, 32>>>(runs.get());
  EXPECT_EQ(runs.first(), 2048);
  expect_finding("unchecked", "one_each",
                 {at("one each"), "cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, n)",
                  "cudaErrorLaunchPendingCountExceeded"});
}
/// Launches that have started no longer count as pending.
TEST_F(DynamicFaults, only_what_waits_is_pending) {
  Array<int> runs(1, 0);
  for (int i = 0; i < 3; ++i) one_each<<<40, 32>>>(runs.get());
  EXPECT_EQ(runs.first(), 3 * 1280);
  expect_clean();
}

/// A thread's error is its own.
__global__ void another_asks(int* runs, int* error) {
  if (threadIdx.x == 0) count<<<1, 4096>>>(runs);  // HERE another asks
  __syncthreads();
  if (threadIdx.x == 1) *error = cudaGetLastError();
}
TEST_F(DynamicFaults, another_thread_asks) {
  Array<int> runs(1, 0), error(1, -1);
  another_asks<<<1, 64>>>(runs.get(), error.get());
  EXPECT_EQ(error.first(), 0);
  expect_finding("unchecked", "another_asks", {at("another asks"), "4096 threads per block"});
}

__global__ void into(cudaStream_t stream, int* runs) {
  count<<<1, 1, 0, stream>>>(runs);  // HERE into
}
TEST_F(DynamicFaults, stream_of_the_host) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  Array<int> runs(1, 0);
  into<<<1, 1>>>(stream, runs.get());
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(runs.first(), 0);
  expect_finding("unchecked", "into", {at("into"), "cudaErrorInvalidResourceHandle"});
}
__global__ void lend_stream(int* runs) {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  into<<<1, 1>>>(stream, runs);
}
TEST_F(DynamicFaults, stream_of_the_parent) {
  Array<int> runs(1, 0);
  lend_stream<<<1, 1>>>(runs.get());
  EXPECT_EQ(runs.first(), 0);
  expect_finding("unchecked", "into", {at("into"), "cudaErrorInvalidResourceHandle"});
}

__global__ void event_in_kernel(int* runs) {
  cudaEvent_t event;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  count<<<1, 1>>>(runs);
  cudaEventRecord(event, nullptr);
}
int run_event_in_kernel() {
  int* runs = nullptr;
  cudaMalloc(&runs, sizeof(int));
  event_in_kernel<<<1, 1>>>(runs);
  if (cudaDeviceSynchronize() == cudaErrorNotSupported) std::puts("as it should be");
  return 0;
}
const simt_test::RegisterChild event_child("event_in_kernel", run_event_in_kernel);
TEST_F(DynamicFaults, events_are_for_the_host) {
  const auto ended = simt_test::run_self({"--child=event_in_kernel"});
  EXPECT_EQ(ended.code, 66) << ended.output;  // a finding
  EXPECT_NE(ended.output.find("as it should be"), std::string::npos) << ended.output;
  EXPECT_NE(ended.output.find("launch: event_in_kernel, block (0,0,0), thread (0,0,0) calls "
                              "cudaEventRecord() in a kernel: not on the CPU backend"),
            std::string::npos)
      << ended.output;
}

/// A child must not get memory of a block or a thread.
__global__ void ignore(const int*) {}
__global__ void pass(int which, int* global) {
  __shared__ int s;
  int local = 1;
  s = 1;
  if (which == 0) ignore<<<1, 1>>>(global);
  if (which == 1) ignore<<<1, 1>>>(&s);      // HERE shared
  if (which == 2) ignore<<<1, 1>>>(&local);  // HERE local
}
TEST_F(DynamicFaults, pointer_to_global_memory) {
  Array<int> global(1, 0);
  pass<<<1, 1>>>(0, global.get());
  expect_clean();
}
TEST_F(DynamicFaults, pointer_to_shared_memory) {
  pass<<<1, 1>>>(1, nullptr);
  expect_finding("launch", "pass", {at("shared"), "shared memory", "ignore", "global memory"});
}
TEST_F(DynamicFaults, pointer_to_local_memory) {
  pass<<<1, 1>>>(2, nullptr);
  expect_finding("launch", "pass", {at("local"), "local memory", "ignore", "global memory"});
}

// ---- Parent and child ----

__global__ void store(int* p, int value) {
  *p = value;  // HERE child writes
}
__global__ void load(const int* p, int* out) {
  *out = *p;  // HERE child reads
}

enum class Way { wrong, right, also_right };

template <Way way>
__global__ void use_result(int* data, int* out) {
  *data = 1;
  store<<<1, 1>>>(data, 2);
  if (way == Way::wrong) {
    *out = *data;  // HERE parent reads
  } else {
    load<<<1, 1, 0, way == Way::right ? cudaStreamTailLaunch : nullptr>>>(data, out);
  }
}
TEST_F(DynamicFaults, parent_reads_what_its_child_writes) {
  Array<int> data(1, 0), out(1, 0);
  use_result<Way::wrong><<<1, 1>>>(data.get(), out.get());
  EXPECT_EQ(out.first(), 1);  // never the child's
  expect_finding("race", "store",
                 {"use_result<Way::wrong>, block (0,0,0)", at("parent reads"), at("child writes"),
                  "cudaStreamTailLaunch"});
}
TEST_F(DynamicFaults, tail_launch_reads_it) {
  Array<int> data(1, 0), out(1, 0);
  use_result<Way::right><<<1, 1>>>(data.get(), out.get());
  EXPECT_EQ(out.first(), 2);
  expect_clean();
}
TEST_F(DynamicFaults, next_launch_of_the_stream_reads_it) {
  Array<int> data(1, 0), out(1, 0);
  use_result<Way::also_right><<<1, 1>>>(data.get(), out.get());
  EXPECT_EQ(out.first(), 2);
  expect_clean();
}

__global__ void write_late(int* data, int* out) {
  load<<<1, 1>>>(data, out);
  *data = 3;  // HERE written late
}
TEST_F(DynamicFaults, parent_writes_after_the_launch) {
  Array<int> data(1, 0), out(1, 0);
  write_late<<<1, 1>>>(data.get(), out.get());
  expect_finding("race", "load", {at("written late"), at("child reads"), "before the launch"});
}

enum class Wait { nothing, warp, block, late };

/// A child reads a word that another thread of its parent wrote.
template <Wait wait>
__global__ void of_another(int* data, int* out, unsigned writer) {
  if (threadIdx.x == writer) *data = 4;  // HERE another wrote
  if (wait == Wait::warp) __syncwarp();
  if (wait == Wait::block) __syncthreads();
  if (threadIdx.x == 0) load<<<1, 1>>>(data, out);
  if (wait == Wait::late) __syncthreads();
}
template <Wait wait>
void run_of_another(unsigned writer) {
  Array<int> data(1, 0), out(1, 0);
  of_another<wait><<<1, 64>>>(data.get(), out.get(), writer);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}
TEST_F(DynamicFaults, written_by_another_thread) {
  run_of_another<Wait::nothing>(1);
  expect_finding("race", "load", {at("another wrote"), "thread (1,0,0)", at("child reads")});
}
TEST_F(DynamicFaults, written_by_another_warp) {
  run_of_another<Wait::warp>(33);
  expect_finding("race", "load", {at("another wrote"), "thread (33,0,0)", at("child reads")});
}
TEST_F(DynamicFaults, barrier_after_the_launch) {
  run_of_another<Wait::late>(33);
  expect_finding("race", "load", {at("another wrote"), at("child reads")});
}
TEST_F(DynamicFaults, barrier_before_the_launch_is_right) {
  run_of_another<Wait::block>(33);
  expect_clean();
}
TEST_F(DynamicFaults, warp_barrier_before_the_launch_is_right) {
  run_of_another<Wait::warp>(1);
  expect_clean();
}

/// A child knows what the launching thread has learned by a flag.
template <bool acquires>
__global__ void told_by_flag(int* data, int* flag, int* ticket, int* out) {
  if (atomicAdd(ticket, 1) == 0) {
    *data = 5;  // HERE behind the flag
    __threadfence();
    atomicExch(flag, 1);
    return;
  }
  while (atomicAdd(flag, 0) == 0) {
  }
  if (acquires) __threadfence();
  load<<<1, 1>>>(data, out);
}
TEST_F(DynamicFaults, fence_and_flag_before_the_launch_are_right) {
  Array<int> data(1, 0), flag(1, 0), ticket(1, 0), out(1, 0);
  told_by_flag<true><<<2, 1>>>(data.get(), flag.get(), ticket.get(), out.get());
  EXPECT_EQ(out.first(), 5);
  expect_clean();
}
TEST_F(DynamicFaults, flag_without_a_fence_before_the_launch) {
  Array<int> data(1, 0), flag(1, 0), ticket(1, 0), out(1, 0);
  told_by_flag<false><<<2, 1>>>(data.get(), flag.get(), ticket.get(), out.get());
  expect_finding("order", "load", {at("behind the flag"), at("child reads")});
}

// ---- Siblings ----

template <bool one_block>
__global__ void same_address(int* data) {
  if (one_block ? blockIdx.x == 0 : threadIdx.x == 0) {
    store<<<1, 1>>>(data, static_cast<int>(blockIdx.x + threadIdx.x));
  }
}
TEST_F(DynamicFaults, siblings_of_two_blocks) {
  Array<int> data(1, 0);
  same_address<false><<<2, 2>>>(data.get());
  expect_finding("race", "store", {"store, block", at("child writes"), "in one stream"});
}
TEST_F(DynamicFaults, siblings_of_one_block_are_in_order) {
  Array<int> data(1, 0);
  same_address<true><<<2, 2>>>(data.get());
  expect_clean();
}

template <bool free>
__global__ void two_streams(int* data, int* out) {
  cudaStream_t one = cudaStreamFireAndForget, two = cudaStreamFireAndForget;
  if (!free) cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  if (!free) cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  store<<<1, 1, 0, one>>>(data, 1);
  load<<<1, 1, 0, two>>>(data, out);
}
TEST_F(DynamicFaults, siblings_in_two_streams) {
  Array<int> data(1, 0), out(1, 0);
  two_streams<false><<<1, 1>>>(data.get(), out.get());
  expect_finding("race", simt::order() == "forward" ? "load" : "store",
                 {at("child writes"), at("child reads")});
}
TEST_F(DynamicFaults, siblings_that_wait_for_nothing) {
  Array<int> data(1, 0), out(1, 0);
  two_streams<true><<<1, 1>>>(data.get(), out.get());
  expect_finding("race", simt::order() == "forward" ? "load" : "store",
                 {at("child writes"), at("child reads")});
}

/// Siblings that nothing orders pass on a flag: the last of them adds up.
__global__ void last_adds_up(int* parts, int* ticket, int me, int all, int* out) {
  parts[me] = me;
  __threadfence();
  const bool last = atomicAdd(ticket, 1) == all - 1;
  __threadfence();
  if (!last) return;
  for (int i = 0; i < all; ++i) *out += parts[i];
}
__global__ void parts_of_children(int* parts, int* ticket, int* out) {
  last_adds_up<<<1, 1, 0, cudaStreamFireAndForget>>>(parts, ticket, static_cast<int>(blockIdx.x),
                                                     static_cast<int>(gridDim.x), out);
}
TEST_F(DynamicFaults, siblings_with_a_ticket_are_right) {
  Array<int> parts(10), ticket(1, 0), out(1, 0);
  parts_of_children<<<10, 1>>>(parts.get(), ticket.get(), out.get());
  EXPECT_EQ(out.first(), 45);
  expect_clean();
}

/// Later kernels know what the last one has learned by its ticket: the kernel that it launches, or
/// the next one of its stream.
__global__ void add_up(const int* parts, int all, const int* is_last, int* out) {
  if (is_last != nullptr && *is_last == 0) return;
  for (int i = 0; i < all; ++i) *out += parts[i];  // HERE added up
}
template <Way way>
__global__ void take_ticket(int* parts, int* ticket, int me, int all, int* is_last, int* out) {
  parts[me] = me;  // HERE part
  if (way != Way::wrong) __threadfence();
  is_last[me] = atomicAdd(ticket, 1) == all - 1;
  __threadfence();
  if (way == Way::also_right && is_last[me]) add_up<<<1, 1>>>(parts, all, nullptr, out);
}
template <Way way>
__global__ void tell_others(int* parts, int* ticket, int* is_last, int* out) {
  const int me = static_cast<int>(blockIdx.x), all = static_cast<int>(gridDim.x);
  take_ticket<way><<<1, 1>>>(parts, ticket, me, all, is_last, out);
  if (way != Way::also_right) add_up<<<1, 1>>>(parts, all, is_last + me, out);
}
template <Way way>
void run_tell_others() {
  Array<int> parts(5), ticket(1, 0), is_last(5, 0), out(1, 0);
  tell_others<way><<<5, 1>>>(parts.get(), ticket.get(), is_last.get(), out.get());
  EXPECT_EQ(out.first(), 10);
}
TEST_F(DynamicFaults, next_of_the_stream_knows_of_the_ticket) {
  run_tell_others<Way::right>();
  expect_clean();
}
TEST_F(DynamicFaults, child_knows_of_the_ticket) {
  run_tell_others<Way::also_right>();
  expect_clean();
}
TEST_F(DynamicFaults, ticket_without_a_fence_tells_nothing) {
  run_tell_others<Way::wrong>();
  expect_finding("race", "add_up", {at("part"), at("added up")});
}

// ---- Grandchildren ----

template <Way way>
__global__ void grandparent(int* data, int* out);
template <Way way>
__global__ void between(int* data, int* out) {
  if (way == Way::also_right) {
    load<<<1, 1, 0, cudaStreamTailLaunch>>>(data, out);
  } else {
    load<<<1, 1>>>(data, out);
  }
}
template <Way way>
__global__ void grandparent(int* data, int* out) {
  if (way != Way::wrong) *data = 6;
  between<way><<<1, 1>>>(data, out);
  if (way == Way::wrong) *data = 7;  // HERE grandparent writes
}
TEST_F(DynamicFaults, grandparent_writes_after_the_launch) {
  Array<int> data(1, 0), out(1, 0);
  grandparent<Way::wrong><<<1, 1>>>(data.get(), out.get());
  expect_finding("race", "load", {"grandparent<Way::wrong>", at("grandparent writes")});
}
TEST_F(DynamicFaults, grandchild_sees_what_was_before) {
  Array<int> data(1, 0), out(2, 0);
  grandparent<Way::right><<<1, 1>>>(data.get(), out.get());
  grandparent<Way::also_right><<<1, 1>>>(data.get(), out.get() + 1);
  EXPECT_EQ(out.host(), (std::vector<int>{6, 6}));
  expect_clean();
}

/// Cousins: the children of two blocks, or of one, launch in turn.
__global__ void launch_store(int* data, int value) { store<<<1, 1>>>(data, value); }
__global__ void cousins(int* data) {
  launch_store<<<1, 1>>>(data, static_cast<int>(blockIdx.x + threadIdx.x));
}
TEST_F(DynamicFaults, cousins_are_not_in_order) {
  Array<int> data(1, 0);
  cousins<<<2, 1>>>(data.get());
  expect_finding("race", "store", {at("child writes"), "in one stream"});
}
TEST_F(DynamicFaults, cousins_by_one_block_are_in_order) {
  Array<int> data(1, 0);
  cousins<<<1, 2>>>(data.get());
  cousins<<<1, 1>>>(data.get());
  expect_clean();
}

}  // namespace
