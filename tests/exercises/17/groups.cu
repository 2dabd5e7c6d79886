// Answers to exercise 1 of chapter 17, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstdint>

static unsigned groups_of(std::int64_t n, std::int64_t each) {
  return static_cast<unsigned>((n + each - 1) / each);
}

namespace one_lane_sorts_in_shared_memory {
// 1: NOT YET: right, but
__global__ void sort_by_leaders(const unsigned* in, unsigned* out, std::int64_t n) {
  __shared__ unsigned s[256];
  const unsigned first = threadIdx.x / 32 * 32;
  const std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  s[threadIdx.x] = i < n ? in[i] : ~0u;
  __syncwarp();
  if (threadIdx.x == first) {
    for (unsigned k = 1; k < 32; ++k) {
      const unsigned key = s[first + k];
      unsigned to = k;
      for (; to > 0 && s[first + to - 1] > key; --to) s[first + to] = s[first + to - 1];
      s[first + to] = key;
    }
  }
  __syncwarp();
  if (i < n) out[i] = s[threadIdx.x];
}

cudaError_t sort_groups(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  if (n > 0) sort_by_leaders<<<groups_of(n, 256), 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_lane_sorts_in_shared_memory

namespace one_lane_loads_all {
// 1: NOT YET: right, but
__global__ void sort_by_leaders(const unsigned* in, unsigned* out, std::int64_t n) {
  const std::int64_t first = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (threadIdx.x % 32 != 0 || first >= n) return;
  unsigned key[32];
  const int count = n - first < 32 ? static_cast<int>(n - first) : 32;
  for (int k = 0; k < count; ++k) {
    const unsigned next = in[first + k];
    int to = k;
    for (; to > 0 && key[to - 1] > next; --to) key[to] = key[to - 1];
    key[to] = next;
  }
  for (int k = 0; k < count; ++k) out[first + k] = key[k];
}

cudaError_t sort_groups(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  if (n > 0) sort_by_leaders<<<groups_of(n, 256), 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_lane_loads_all

namespace a_thread_per_group {
// 1: NOT YET: right, but
__global__ void sort_by_threads(const unsigned* in, unsigned* out, std::int64_t n) {
  const std::int64_t first = (std::int64_t{blockIdx.x} * 64 + threadIdx.x) * 32;
  if (first >= n) return;
  unsigned key[32];
  const int count = n - first < 32 ? static_cast<int>(n - first) : 32;
  for (int k = 0; k < count; ++k) {
    const unsigned next = in[first + k];
    int to = k;
    for (; to > 0 && key[to - 1] > next; --to) key[to] = key[to - 1];
    key[to] = next;
  }
  for (int k = 0; k < count; ++k) out[first + k] = key[k];
}

cudaError_t sort_groups(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  if (n > 0) sort_by_threads<<<groups_of(n, 64 * 32), 64, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace a_thread_per_group

namespace a_thread_per_group_from_shared_memory {
// 1: NOT YET: right, but one after the other
__global__ void sort_by_threads(const unsigned* in, unsigned* out, std::int64_t n) {
  __shared__ unsigned s[32][33];
  const std::int64_t first = std::int64_t{blockIdx.x} * 1024;
  for (unsigned k = 0; k < 32; ++k) {
    const std::int64_t i = first + k * 32 + threadIdx.x;
    s[k][threadIdx.x] = i < n ? in[i] : ~0u;
  }
  __syncwarp();
  unsigned key[32];
  for (unsigned k = 0; k < 32; ++k) {
    const unsigned next = s[threadIdx.x][k];
    unsigned to = k;
    for (; to > 0 && key[to - 1] > next; --to) key[to] = key[to - 1];
    key[to] = next;
  }
  for (unsigned k = 0; k < 32; ++k) s[threadIdx.x][k] = key[k];
  __syncwarp();
  for (unsigned k = 0; k < 32; ++k) {
    const std::int64_t i = first + k * 32 + threadIdx.x;
    if (i < n) out[i] = s[k][threadIdx.x];
  }
}

cudaError_t sort_groups(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  if (n > 0) sort_by_threads<<<groups_of(n, 1024), 32, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace a_thread_per_group_from_shared_memory

namespace bitonic_network {
// 1: PASSED
__global__ void sort_by_network(const unsigned* in, unsigned* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 128 + threadIdx.x;
  const unsigned lane = threadIdx.x % 32;
  unsigned key = i < n ? in[i] : ~0u;
  for (unsigned size = 2; size <= 32; size *= 2) {
    for (unsigned step = size / 2; step > 0; step /= 2) {
      const unsigned other = __shfl_xor_sync(~0u, key, static_cast<int>(step));
      const bool keeps_smaller = ((lane & step) == 0) == ((lane & size) == 0);
      key = (key < other) == keeps_smaller ? key : other;
    }
  }
  if (i < n) out[i] = key;
}

cudaError_t sort_groups(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  if (n > 0) sort_by_network<<<groups_of(n, 128), 128, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace bitonic_network

namespace compares_with_all_lanes {
// 1: PASSED
// A lane counts the keys that come before its own, and stores its key there.
__global__ void sort_by_counts(const unsigned* in, unsigned* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  const unsigned lane = threadIdx.x % 32, key = i < n ? in[i] : ~0u;
  unsigned before = 0;
  for (unsigned other = 0; other < 32; ++other) {
    const unsigned its = __shfl_sync(~0u, key, static_cast<int>(other));
    before += its < key || (its == key && other < lane);
  }
  if (i < n) out[i - lane + before] = key;
}

cudaError_t sort_groups(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  if (n > 0) sort_by_counts<<<groups_of(n, 256), 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace compares_with_all_lanes

namespace ranks_from_the_highest_bit {
// 1: PASSED
// The keys stay where they are: a lane with a one comes after the lanes that were equal so far and
// have a zero.
__global__ void rank_by_ballots(const unsigned* in, unsigned* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 512 + threadIdx.x;
  const unsigned lane = threadIdx.x % 32, key = i < n ? in[i] : ~0u;
  unsigned equal = ~0u, before = 0;
  for (int bit = 31; bit >= 0; --bit) {
    const bool is_one = (key >> bit & 1) != 0;
    const unsigned ones = __ballot_sync(~0u, is_one);
    if (is_one) before += __popc(equal & ~ones);
    equal &= is_one ? ones : ~ones;
  }
  before += __popc(equal & ((1u << lane) - 1));
  if (i < n) out[i - lane + before] = key;
}

cudaError_t sort_groups(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  if (n > 0) rank_by_ballots<<<groups_of(n, 512), 512, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace ranks_from_the_highest_bit

namespace keys_by_shuffles {
// 1: PASSED
// A lane takes the key of the lane that holds the zero or the one of its rank.
__device__ unsigned place_of(unsigned bits, unsigned rank) {
  for (; rank > 0; --rank) bits &= bits - 1;
  return __ffs(static_cast<int>(bits)) - 1;
}

__global__ void sort_by_shuffles(const unsigned* in, unsigned* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  const unsigned lane = threadIdx.x % 32;
  unsigned key = i < n ? in[i] : ~0u;
  for (int bit = 0; bit < 32; ++bit) {
    const unsigned ones = __ballot_sync(~0u, (key >> bit & 1) != 0);
    const unsigned zeros = 32 - __popc(ones);
    const unsigned from = lane < zeros ? place_of(~ones, lane) : place_of(ones, lane - zeros);
    key = __shfl_sync(~0u, key, static_cast<int>(from));
  }
  if (i < n) out[i] = key;
}

cudaError_t sort_groups(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  if (n > 0) sort_by_shuffles<<<groups_of(n, 256), 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace keys_by_shuffles

namespace a_warp_for_two_groups {
// 1: PASSED
__global__ void sort_in_turn(const unsigned* in, unsigned* out, std::int64_t n) {
  __shared__ unsigned s[8][2][32];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::int64_t first = (std::int64_t{blockIdx.x} * 8 + warp) * 64;
  for (std::int64_t i = first + lane; i < first + 64; i += 32) {
    unsigned key = i < n ? in[i] : ~0u;
    for (int bit = 0; bit < 32; ++bit) {
      const unsigned ones = __ballot_sync(~0u, (key >> bit & 1) != 0);
      const unsigned before = __popc(ones & ((1u << lane) - 1));
      unsigned* const keys = s[warp][bit % 2];  // two, so that one barrier per bit is enough
      keys[(ones >> lane & 1) != 0 ? 32 - __popc(ones) + before : lane - before] = key;
      __syncwarp();
      key = keys[lane];
    }
    __syncwarp();
    if (i < n) out[i] = key;
  }
}

cudaError_t sort_groups(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  if (n > 0) sort_in_turn<<<groups_of(n, 512), 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace a_warp_for_two_groups
