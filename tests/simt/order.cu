// SIMT_ORDER sets the order in which threads and blocks run: here they log it.
#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "simt_test.hpp"

namespace {

using simt_test::Array;

class Order : public simt_test::Device {};

__global__ void log_threads(int* ticket, int* log) { log[atomicAdd(ticket, 1)] = threadIdx.x; }
__global__ void log_blocks(int* ticket, int* log) {
  if (threadIdx.x == 0) log[atomicAdd(ticket, 1)] = blockIdx.x;
}
__global__ void log_after_barrier(int* ticket, int* log) {
  __syncthreads();
  log[atomicAdd(ticket, 1)] = threadIdx.x;
  __syncthreads();
}
__global__ void log_warps(int* ticket, int* log) {
  __syncwarp();
  if (threadIdx.x % 32 == 0) log[atomicAdd(ticket, 1)] = threadIdx.x / 32;
}

template <class Kernel>
std::vector<int> logged(Kernel kernel, int blocks, int threads, int n) {
  Array<int> ticket(1, 0), log(n, -1);
  kernel(blocks, threads, ticket.get(), log.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  return log.host();
}
std::vector<int> thread_order(int threads = 96) {
  return logged([](int b, int t, int* ticket, int* log) { log_threads<<<b, t>>>(ticket, log); }, 1,
                threads, threads);
}
std::vector<int> block_order(int blocks = 40) {
  return logged([](int b, int t, int* ticket, int* log) { log_blocks<<<b, t>>>(ticket, log); },
                blocks, 32, blocks);
}
std::vector<int> after_barrier(int threads = 96) {
  return logged(
      [](int b, int t, int* ticket, int* log) { log_after_barrier<<<b, t>>>(ticket, log); }, 1,
      threads, threads);
}

std::vector<int> forward(int n) { return simt_test::iota<int>(n); }
std::vector<int> reverse(int n) {
  auto result = forward(n);
  std::reverse(result.begin(), result.end());
  return result;
}
bool is_permutation(std::vector<int> v) {
  std::sort(v.begin(), v.end());
  return v == forward(static_cast<int>(v.size()));
}

std::string asked() {
  const char* order = std::getenv("SIMT_ORDER");
  return order == nullptr ? "forward" : order;
}
void expect_order(const std::vector<int>& seen) {
  const int n = static_cast<int>(seen.size());
  if (asked() == "forward") EXPECT_EQ(seen, forward(n));
  if (asked() == "reverse") EXPECT_EQ(seen, reverse(n));
  if (asked().rfind("random", 0) == 0) {
    EXPECT_TRUE(is_permutation(seen));
    EXPECT_NE(seen, forward(n));
    EXPECT_NE(seen, reverse(n));
  }
}

TEST_F(Order, is_the_one_asked_for) { EXPECT_EQ(simt::order(), asked()); }
TEST_F(Order, of_threads) {
  expect_order(thread_order());
  expect_clean();
}
TEST_F(Order, of_threads_after_a_barrier) {
  expect_order(after_barrier());
  expect_clean();
}
TEST_F(Order, of_blocks) {
  const char* workers = std::getenv("SIMT_THREADS");
  if (workers == nullptr || std::string(workers) != "1") {
    GTEST_SKIP() << "blocks have one order on one OS thread only";
  }
  expect_order(block_order());
  expect_clean();
}
TEST_F(Order, runs_every_thread_once) {
  EXPECT_TRUE(is_permutation(thread_order(1024)));
  EXPECT_TRUE(is_permutation(after_barrier(1000)));
  EXPECT_TRUE(is_permutation(block_order(300)));
}

// ---- In programs of their own ----

template <std::vector<int> (*f)(int)>
int print() {
  for (const int i : f(64)) std::printf("%d ", i);
  return 0;
}
simt_test::RegisterChild threads("threads", print<thread_order>);
simt_test::RegisterChild blocks("blocks", print<block_order>);
simt_test::RegisterChild barrier("barrier", print<after_barrier>);

std::vector<int> child(const std::string& name, const std::string& order) {
  const auto ended =
      simt_test::run_self({"--child=" + name}, {"SIMT_ORDER=" + order, "SIMT_THREADS=1"});
  EXPECT_EQ(ended.code, 0) << ended.output;
  std::istringstream stream(ended.output);
  return {std::istream_iterator<int>(stream), {}};
}
TEST(OrderOfPrograms, forward_and_reverse) {
  for (const char* name : {"threads", "blocks", "barrier"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(child(name, "forward"), forward(64));
    EXPECT_EQ(child(name, "reverse"), reverse(64));
  }
}
TEST(OrderOfPrograms, random_depends_on_the_seed_only) {
  for (const char* name : {"threads", "blocks", "barrier"}) {
    SCOPED_TRACE(name);
    const auto one = child(name, "random:1");
    EXPECT_TRUE(is_permutation(one));
    EXPECT_EQ(one.size(), 64u);
    EXPECT_EQ(one, child(name, "random:1"));
    EXPECT_NE(one, child(name, "random:2"));
    EXPECT_NE(one, forward(64));
  }
}

/// Without its barrier the result depends on the order.
__global__ void missing_barrier(int* data, int* out) {
  data[threadIdx.x] = 1;
  out[threadIdx.x] = data[(threadIdx.x + 1) % blockDim.x];
}
int missing() {
  simt::expect_findings(true);
  Array<int> data(64, 0), out(64);
  missing_barrier<<<1, 64>>>(data.get(), out.get());
  cudaDeviceSynchronize();
  int sum = 0;
  for (const int i : out.host()) sum += i;
  std::printf("%d", sum);
  return 0;
}
simt_test::RegisterChild missing_child("missing", missing);
TEST(OrderOfPrograms, changes_the_result_of_a_missing_barrier) {
  EXPECT_EQ(child("missing", "forward"), std::vector<int>{1});
  EXPECT_EQ(child("missing", "reverse"), std::vector<int>{63});
}

}  // namespace
