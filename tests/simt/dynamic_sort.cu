// Recursion by launches: a tree of grids that adds, and a quicksort; and the counts of both.
#include <algorithm>
#include <cstdint>

#include "simt_test.hpp"

namespace {

using simt_test::Array;

class DynamicSort : public simt_test::Device {};

__global__ void fibonacci(int n, unsigned* sum) {
  if (n < 2) {
    atomicAdd(sum, n);  // HERE leaf
    return;
  }
  fibonacci<<<1, 1>>>(n - 1, sum);
  fibonacci<<<1, 1>>>(n - 2, sum);
}
TEST_F(DynamicSort, a_tree_of_launches_adds_up) {
  Array<unsigned> sum(1, 0u);
  fibonacci<<<1, 1>>>(12, sum.get());
  EXPECT_EQ(sum.first(), 144u);
  expect_clean();
}
TEST_F(DynamicSort, launches_of_kernels_are_counted) {
  Array<unsigned> sum(1, 0u);
  simt::take_counts();
  simt::set_counting(true);
  fibonacci<<<1, 1>>>(10, sum.get());
  fibonacci<<<1, 1>>>(1, sum.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  simt::set_counting(false);
  const auto counts = simt::take_counts();
  const auto& count = simt_test::kernel_count(counts, "fibonacci");
  EXPECT_EQ(count.launches, 178u);  // 2 F(11) - 1 of the first
  EXPECT_EQ(count.by_kernels, 176u);
  EXPECT_EQ(count.threads, 178u);
  const std::string leaf = simt_test::here("dynamic_sort.cu", "leaf");
  EXPECT_EQ(simt_test::line_count(counts, "fibonacci", leaf, "atomic").requests, 90u);
  EXPECT_NE(simt::table(counts).find("\n  176 of the launches by kernels\n"), std::string::npos);
  expect_clean();
}

// ---- Quicksort: a thread partitions its range and launches a grid per segment ----

constexpr int deepest = 16, smallest = 32;

__device__ void selection_sort(unsigned* data, int left, int right) {
  for (int i = left; i <= right; ++i) {
    int least = i;
    for (int j = i + 1; j <= right; ++j) {
      if (data[j] < data[least]) least = j;
    }
    const unsigned value = data[i];
    data[i] = data[least];
    data[least] = value;
  }
}

/// The streams of the two launches: one of its own for each, or one for both.
template <bool streams>
__global__ void quicksort(unsigned* data, int left, int right, int depth) {
  if (depth >= deepest || right - left <= smallest) {
    selection_sort(data, left, right);
    return;
  }
  int l = left, r = right;
  const unsigned pivot = data[(left + right) / 2];
  while (l <= r) {
    while (data[l] < pivot) ++l;
    while (data[r] > pivot) --r;
    if (l > r) break;
    const unsigned value = data[l];
    data[l++] = data[r];
    data[r--] = value;
  }
  cudaStream_t stream = nullptr;
  if (left < r) {
    if (streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    quicksort<streams><<<1, 1, 0, stream>>>(data, left, r, depth + 1);
    if (streams) cudaStreamDestroy(stream);
  }
  if (l < right) {
    if (streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    quicksort<streams><<<1, 1, 0, stream>>>(data, l, right, depth + 1);
    if (streams) cudaStreamDestroy(stream);
  }
}

unsigned key(unsigned kind, unsigned i, unsigned n) {
  const std::uint32_t mixed = (i + 1) * 2654435761u;
  const unsigned keys[] = {mixed ^ mixed >> 15, i, n - i, 7, mixed >> 30};
  return keys[kind];
}
template <bool streams>
void sorts(unsigned n) {
  for (unsigned kind = 0; kind < 5; ++kind) {
    std::vector<unsigned> keys(n);
    for (unsigned i = 0; i < n; ++i) keys[i] = key(kind, i, n);
    Array<unsigned> data(keys);
    quicksort<streams><<<1, 1>>>(data.get(), 0, static_cast<int>(n) - 1, 0);
    std::sort(keys.begin(), keys.end());
    EXPECT_EQ(data.host(), keys) << "kind " << kind << ", n " << n;
  }
}
TEST_F(DynamicSort, quicksort_in_two_streams) {
  for (const unsigned n : {1u, 2u, 33u, 34u, 500u}) sorts<true>(n);
  expect_clean();
}
TEST_F(DynamicSort, quicksort_in_one_stream) {
  sorts<false>(500);
  expect_clean();
}

/// Segments that overlap by one key, in streams that nothing orders.
__global__ void overlapping_parts(unsigned* data, int left, int right) {
  if (right - left <= smallest) {
    selection_sort(data, left, right);
    return;
  }
  const int middle = (left + right) / 2;
  overlapping_parts<<<1, 1, 0, cudaStreamFireAndForget>>>(data, left, middle);
  overlapping_parts<<<1, 1, 0, cudaStreamFireAndForget>>>(data, middle, right);
}
TEST_F(DynamicSort, parts_that_overlap_are_a_race) {
  Array<unsigned> data(100, 3u);
  overlapping_parts<<<1, 1>>>(data.get(), 0, 99);
  expect_finding("race|order", "overlapping_parts",
                 {"overlapping_parts, block", "dynamic_sort.cu"});
}

}  // namespace
