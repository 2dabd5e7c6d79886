// Answers to exercises 3, 5 and 6 of chapter 07, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstdint>

namespace single_thread {
// 3 5: NOT YET: right, but one after the other
__global__ void part(const unsigned* in, unsigned* out, unsigned* counts, int n, unsigned pivot) {
  int left = 0, right = n;
  for (int i = 0; i < n; ++i) out[in[i] < pivot ? left++ : --right] = in[i];
  counts[0] = static_cast<unsigned>(left), counts[1] = static_cast<unsigned>(n - left);
}

cudaError_t partition(const unsigned* in, unsigned* out, unsigned* counts, std::int64_t n,
                      unsigned pivot, cudaStream_t stream) {
  part<<<1, 1, 0, stream>>>(in, out, counts, static_cast<int>(n), pivot);
  return cudaGetLastError();
}
}  // namespace single_thread

namespace thread_parts_three_ways {
// 6: NOT YET: right, but one after the other
__global__ void part(const unsigned* in, unsigned* out, unsigned* counts, int n, unsigned pivot) {
  int left = 0, right = n;
  for (int i = 0; i < n; ++i) {
    const unsigned key = in[i];
    if (key < pivot) out[left++] = key;
    if (key > pivot) out[--right] = key;
  }
  for (int i = left; i < right; ++i) out[i] = pivot;
  counts[0] = static_cast<unsigned>(left), counts[1] = static_cast<unsigned>(n - right);
}

cudaError_t partition(const unsigned* in, unsigned* out, unsigned* counts, std::int64_t n,
                      unsigned pivot, cudaStream_t stream) {
  part<<<1, 1, 0, stream>>>(in, out, counts, static_cast<int>(n), pivot);
  return cudaGetLastError();
}
}  // namespace thread_parts_three_ways

// A warp has 32 keys, and its first lane moves them all.
namespace one_lane_per_warp {
// 3: NOT YET: right, but it moves
// 5: NOT YET: right, but one after the other
__global__ void part(const unsigned* in, unsigned* out, unsigned* counts, int n, unsigned pivot) {
  const int begin = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (threadIdx.x % 32 != 0 || begin >= n) return;
  const int end = min(n, begin + 32);
  unsigned lefts = 0;
  for (int i = begin; i < end; ++i) lefts += in[i] < pivot ? 1 : 0;
  unsigned left = atomicAdd(&counts[0], lefts);
  unsigned right = n - atomicAdd(&counts[1], end - begin - lefts);
  for (int i = begin; i < end; ++i) out[in[i] < pivot ? left++ : --right] = in[i];
}

cudaError_t partition(const unsigned* in, unsigned* out, unsigned* counts, std::int64_t n,
                      unsigned pivot, cudaStream_t stream) {
  if (cudaError_t error = cudaMemsetAsync(counts, 0, 2 * sizeof(unsigned), stream)) return error;
  const auto blocks = static_cast<unsigned>((n + 255) / 256);
  if (n > 0) part<<<blocks, 256, 0, stream>>>(in, out, counts, static_cast<int>(n), pivot);
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp

namespace place_for_each_key {
// 3: NOT YET: right, but it moves
__global__ void part(const unsigned* in, unsigned* out, unsigned* counts, int n, unsigned pivot) {
  for (int i = static_cast<int>(threadIdx.x); i < n; i += 1024) {
    const unsigned key = in[i];
    out[key < pivot ? atomicAdd(&counts[0], 1u) : n - 1 - atomicAdd(&counts[1], 1u)] = key;
  }
}

cudaError_t partition(const unsigned* in, unsigned* out, unsigned* counts, std::int64_t n,
                      unsigned pivot, cudaStream_t stream) {
  if (cudaError_t error = cudaMemsetAsync(counts, 0, 2 * sizeof(unsigned), stream)) return error;
  part<<<1, 1024, 0, stream>>>(in, out, counts, static_cast<int>(n), pivot);
  return cudaGetLastError();
}
}  // namespace place_for_each_key

// Few atomics of global memory, but one of shared memory for each key.
namespace block_counts_by_atomics {
// 3 5: NOT YET: right, but it moves
__global__ void part(const unsigned* in, unsigned* out, unsigned* counts, int n, unsigned pivot) {
  __shared__ unsigned found[2], first[2];
  if (threadIdx.x < 2) found[threadIdx.x] = 0;
  __syncthreads();
  const int start = static_cast<int>(blockIdx.x) * 2048 + static_cast<int>(threadIdx.x);
  unsigned x[8], place[8];
  for (int r = 0; r < 8; ++r) {
    if (start + r * 256 >= n) continue;
    x[r] = in[start + r * 256];
    place[r] = atomicAdd(&found[x[r] < pivot ? 0 : 1], 1u);
  }
  __syncthreads();
  if (threadIdx.x < 2) first[threadIdx.x] = atomicAdd(&counts[threadIdx.x], found[threadIdx.x]);
  __syncthreads();
  for (int r = 0; r < 8; ++r) {
    if (start + r * 256 >= n) continue;
    out[x[r] < pivot ? first[0] + place[r] : n - 1 - first[1] - place[r]] = x[r];
  }
}

cudaError_t partition(const unsigned* in, unsigned* out, unsigned* counts, std::int64_t n,
                      unsigned pivot, cudaStream_t stream) {
  if (cudaError_t error = cudaMemsetAsync(counts, 0, 2 * sizeof(unsigned), stream)) return error;
  const auto tiles = static_cast<unsigned>((n + 2047) / 2048);
  if (n > 0) part<<<tiles, 256, 0, stream>>>(in, out, counts, static_cast<int>(n), pivot);
  return cudaGetLastError();
}
}  // namespace block_counts_by_atomics

// A thread reads eight contiguous keys, and writes them one by one.
namespace eight_neighbours_each {
// 3 5: NOT YET: right, but it moves
__global__ void part(const unsigned* in, unsigned* out, unsigned* counts, int n, unsigned pivot) {
  __shared__ int lefts[256];
  __shared__ int first_left, first_right;
  const int t = static_cast<int>(threadIdx.x), start = static_cast<int>(blockIdx.x) * 2048;
  const int begin = min(n, start + 8 * t), end = min(n, begin + 8);
  int mine = 0, before = 0;
  for (int i = begin; i < end; ++i) mine += in[i] < pivot ? 1 : 0;
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, mine + before, step);
    if (t % 32 >= step) before += other;
  }
  lefts[t] = before + mine;
  __syncthreads();
  for (int w = 0; w < t / 32; ++w) before += lefts[32 * w + 31];
  if (t == 255) {
    const int all = before + mine, here = min(2048, n - start);
    first_left = static_cast<int>(atomicAdd(&counts[0], static_cast<unsigned>(all)));
    first_right = n - static_cast<int>(atomicAdd(&counts[1], static_cast<unsigned>(here - all)));
  }
  __syncthreads();
  int left = first_left + before, right = first_right - (begin - start - before);
  for (int i = begin; i < end; ++i) out[in[i] < pivot ? left++ : --right] = in[i];
}

cudaError_t partition(const unsigned* in, unsigned* out, unsigned* counts, std::int64_t n,
                      unsigned pivot, cudaStream_t stream) {
  if (cudaError_t error = cudaMemsetAsync(counts, 0, 2 * sizeof(unsigned), stream)) return error;
  const auto tiles = static_cast<unsigned>((n + 2047) / 2048);
  if (n > 0) part<<<tiles, 256, 0, stream>>>(in, out, counts, static_cast<int>(n), pivot);
  return cudaGetLastError();
}
}  // namespace eight_neighbours_each

// One block: two alternating buffers for the warps' counts, so one barrier per tile is enough.
namespace two_buffers {
// 3: PASSED
// 5: NOT YET: right, but one after the other
__global__ void part(const unsigned* in, unsigned* out, unsigned* counts, int n, unsigned pivot) {
  __shared__ int lefts[2][32];
  const int t = static_cast<int>(threadIdx.x), warp = t / 32, lane = t % 32;
  int left = 0;
  for (int start = 0, buffer = 0; start < n; start += 1024, buffer ^= 1) {
    const int i = start + t;
    const unsigned key = i < n ? in[i] : 0xffffffffu;  // a key that goes right
    const unsigned votes = __ballot_sync(0xffffffffu, key < pivot);
    if (lane == 0) lefts[buffer][warp] = __popc(votes);
    __syncthreads();
    const int of_lane = lefts[buffer][lane];
    const int before = __reduce_add_sync(0xffffffffu, lane < warp ? of_lane : 0);
    const int to_left = left + before + __popc(votes & ((1u << lane) - 1));
    if (i < n) out[key < pivot ? to_left : n - 1 - (i - to_left)] = key;
    left += __reduce_add_sync(0xffffffffu, of_lane);
  }
  if (t == 0) counts[0] = static_cast<unsigned>(left), counts[1] = static_cast<unsigned>(n - left);
}

cudaError_t partition(const unsigned* in, unsigned* out, unsigned* counts, std::int64_t n,
                      unsigned pivot, cudaStream_t stream) {
  part<<<1, 1024, 0, stream>>>(in, out, counts, static_cast<int>(n), pivot);
  return cudaGetLastError();
}
}  // namespace two_buffers

// The host launches a block for each tile, one after the other.
namespace kernel_per_tile {
// 5: NOT YET: right, but one after the other
__global__ void part(const unsigned* in, unsigned* out, unsigned* counts, int n, int start,
                     unsigned pivot) {
  __shared__ int lefts[32];
  const int t = static_cast<int>(threadIdx.x), warp = t / 32, lane = t % 32, i = start + t;
  const int left = static_cast<int>(counts[0]);
  const unsigned key = i < n ? in[i] : 0xffffffffu;
  const unsigned votes = __ballot_sync(0xffffffffu, key < pivot);
  if (lane == 0) lefts[warp] = __popc(votes);
  __syncthreads();
  const int of_lane = lefts[lane], all = __reduce_add_sync(0xffffffffu, of_lane);
  const int before = __reduce_add_sync(0xffffffffu, lane < warp ? of_lane : 0);
  const int to_left = left + before + __popc(votes & ((1u << lane) - 1));
  if (i < n) out[key < pivot ? to_left : n - 1 - (i - to_left)] = key;
  if (t == 0) counts[0] = static_cast<unsigned>(left + all);
  if (t == 0) counts[1] = static_cast<unsigned>(min(n, start + 1024) - left - all);
}

cudaError_t partition(const unsigned* in, unsigned* out, unsigned* counts, std::int64_t n,
                      unsigned pivot, cudaStream_t stream) {
  if (cudaError_t error = cudaMemsetAsync(counts, 0, 2 * sizeof(unsigned), stream)) return error;
  for (int start = 0; start < n; start += 1024)
    part<<<1, 1024, 0, stream>>>(in, out, counts, static_cast<int>(n), start, pivot);
  return cudaGetLastError();
}
}  // namespace kernel_per_tile

// A block has one key for each of its 256 threads.
namespace one_key_each {
// 3 5: PASSED
__global__ void part(const unsigned* in, unsigned* out, unsigned* counts, int n, unsigned pivot) {
  __shared__ int lefts[8], first[2];
  const int t = static_cast<int>(threadIdx.x), warp = t / 32, lane = t % 32;
  const int start = static_cast<int>(blockIdx.x) * 256, here = min(256, n - start);
  const unsigned key = t < here ? in[start + t] : 0xffffffffu;
  const unsigned votes = __ballot_sync(0xffffffffu, key < pivot);
  if (lane == 0) lefts[warp] = __popc(votes);
  __syncthreads();
  int before = __popc(votes & ((1u << lane) - 1)), all = 0;
  for (int w = 0; w < 8; ++w) {
    if (w < warp) before += lefts[w];
    all += lefts[w];
  }
  if (t < 2) first[t] = static_cast<int>(atomicAdd(&counts[t], t == 0 ? all : here - all));
  __syncthreads();
  if (t < here) out[key < pivot ? first[0] + before : n - 1 - first[1] - (t - before)] = key;
}

cudaError_t partition(const unsigned* in, unsigned* out, unsigned* counts, std::int64_t n,
                      unsigned pivot, cudaStream_t stream) {
  if (cudaError_t error = cudaMemsetAsync(counts, 0, 2 * sizeof(unsigned), stream)) return error;
  const auto tiles = static_cast<unsigned>((n + 255) / 256);
  if (n > 0) part<<<tiles, 256, 0, stream>>>(in, out, counts, static_cast<int>(n), pivot);
  return cudaGetLastError();
}
}  // namespace one_key_each

// Each warp reserves places for its own 512 keys: no shared memory, no barrier.
namespace warp_reserves {
// 3 5: PASSED
__global__ void part(const unsigned* in, unsigned* out, unsigned* counts, int n, unsigned pivot) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int start = (static_cast<int>(blockIdx.x) * 4 + static_cast<int>(threadIdx.x) / 32) * 512;
  unsigned x[16], votes[16];
  int all = 0;
  for (int r = 0; r < 16; ++r) {
    const int i = start + 32 * r + lane;
    x[r] = i < n ? in[i] : 0xffffffffu;
    votes[r] = __ballot_sync(0xffffffffu, x[r] < pivot);
    all += __popc(votes[r]);
  }
  int first = 0;
  if (lane == 0) first = static_cast<int>(atomicAdd(&counts[0], static_cast<unsigned>(all)));
  const int others = max(0, min(512, n - start)) - all;
  if (lane == 1) first = static_cast<int>(atomicAdd(&counts[1], static_cast<unsigned>(others)));
  int left = __shfl_sync(0xffffffffu, first, 0);
  int right = n - 1 - __shfl_sync(0xffffffffu, first, 1);
  for (int r = 0; r < 16; ++r) {
    const int before = __popc(votes[r] & ((1u << lane) - 1));
    const bool goes_left = x[r] < pivot;
    if (start + 32 * r + lane < n) out[goes_left ? left + before : right - (lane - before)] = x[r];
    left += __popc(votes[r]);
    right -= 32 - __popc(votes[r]);
  }
}

cudaError_t partition(const unsigned* in, unsigned* out, unsigned* counts, std::int64_t n,
                      unsigned pivot, cudaStream_t stream) {
  if (cudaError_t error = cudaMemsetAsync(counts, 0, 2 * sizeof(unsigned), stream)) return error;
  const auto blocks = static_cast<unsigned>((n + 2047) / 2048);
  if (n > 0) part<<<blocks, 128, 0, stream>>>(in, out, counts, static_cast<int>(n), pivot);
  return cudaGetLastError();
}
}  // namespace warp_reserves

// The tile is first partitioned in shared memory; one atomic operation reserves at both ends.
namespace ordered_tile {
// 3 5: PASSED
__global__ void part(const unsigned* in, unsigned* out, unsigned* counts, int n, unsigned pivot) {
  __shared__ unsigned s[2048];
  __shared__ int lefts[64];
  __shared__ unsigned long long reserved;
  const int t = static_cast<int>(threadIdx.x), lane = t % 32;
  const int start = static_cast<int>(blockIdx.x) * 2048, here = min(2048, n - start);
  const unsigned x[2] = {t < here ? in[start + t] : ~0u,
                         t + 1024 < here ? in[start + t + 1024] : ~0u};
  unsigned votes[2];
  for (int r = 0; r < 2; ++r) votes[r] = __ballot_sync(0xffffffffu, x[r] < pivot);
  if (lane < 2) lefts[lane * 32 + t / 32] = __popc(votes[lane == 1]);
  __syncthreads();
  const int low = lefts[lane], high = lefts[32 + lane];
  const int all_low = __reduce_add_sync(0xffffffffu, low);
  const int all = all_low + static_cast<int>(__reduce_add_sync(0xffffffffu, high));
  for (int r = 0; r < 2; ++r) {
    const int of_lane = lane < t / 32 ? (r == 0 ? low : high) : 0;
    int before = __reduce_add_sync(0xffffffffu, of_lane) + (r == 0 ? 0 : all_low);
    before += __popc(votes[r] & ((1u << lane) - 1));
    s[x[r] < pivot ? before : all + r * 1024 + t - before] = x[r];
  }
  if (t == 0) {
    const auto lower = static_cast<unsigned long long>(all);
    const auto upper = static_cast<unsigned long long>(here - all) << 32;
    reserved = atomicAdd(reinterpret_cast<unsigned long long*>(counts), upper | lower);
  }
  __syncthreads();
  const int left = static_cast<int>(reserved & 0xffffffffu);
  const int right = n - static_cast<int>(reserved >> 32) - (here - all);
  for (int i = t; i < here; i += 1024) out[i < all ? left + i : right + i - all] = s[i];
}

cudaError_t partition(const unsigned* in, unsigned* out, unsigned* counts, std::int64_t n,
                      unsigned pivot, cudaStream_t stream) {
  if (cudaError_t error = cudaMemsetAsync(counts, 0, 2 * sizeof(unsigned), stream)) return error;
  const auto tiles = static_cast<unsigned>((n + 2047) / 2048);
  if (n > 0) part<<<tiles, 1024, 0, stream>>>(in, out, counts, static_cast<int>(n), pivot);
  return cudaGetLastError();
}
}  // namespace ordered_tile

// One block partitions all keys, and gets the number of equal keys as the rest.
namespace one_block {
// 6: NOT YET: right, but one after the other
__global__ void part(const unsigned* in, unsigned* out, unsigned* counts, int n, unsigned pivot) {
  __shared__ int sides[2][2][8];
  const int t = static_cast<int>(threadIdx.x), warp = t / 32, lane = t % 32;
  int left = 0, right = n;
  for (int start = 0, buffer = 0; start < n; start += 256, buffer ^= 1) {
    const unsigned key = start + t < n ? in[start + t] : pivot;
    const unsigned below = __ballot_sync(0xffffffffu, key < pivot);
    const unsigned above = __ballot_sync(0xffffffffu, key > pivot);
    if (lane < 2) sides[buffer][lane][warp] = __popc(lane == 0 ? below : above);
    __syncthreads();
    int to_left = left + __popc(below & ((1u << lane) - 1));
    int to_right = right - 1 - __popc(above & ((1u << lane) - 1));
    for (int w = 0; w < 8; ++w) {
      const int lefts = sides[buffer][0][w], rights = sides[buffer][1][w];
      if (w < warp) to_left += lefts, to_right -= rights;
      left += lefts, right -= rights;
    }
    if (key != pivot) out[key < pivot ? to_left : to_right] = key;
  }
  for (int i = left + t; i < right; i += 256) out[i] = pivot;
  if (t == 0) counts[0] = static_cast<unsigned>(left), counts[1] = static_cast<unsigned>(n - right);
}

cudaError_t partition(const unsigned* in, unsigned* out, unsigned* counts, std::int64_t n,
                      unsigned pivot, cudaStream_t stream) {
  part<<<1, 256, 0, stream>>>(in, out, counts, static_cast<int>(n), pivot);
  return cudaGetLastError();
}
}  // namespace one_block

namespace place_for_each {
// 6: NOT YET: right, but 2
__global__ void part(const unsigned* in, unsigned* out, unsigned* counts, int n, unsigned pivot) {
  const int i = static_cast<int>(blockIdx.x * 256 + threadIdx.x);
  if (i >= n) return;
  const unsigned key = in[i];
  if (key < pivot) out[atomicAdd(&counts[0], 1u)] = key;
  if (key > pivot) out[n - 1 - atomicAdd(&counts[1], 1u)] = key;
}
__global__ void fill(unsigned* out, const unsigned* counts, int n, unsigned pivot) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i >= counts[0] && i < n - counts[1]) out[i] = pivot;
}

cudaError_t partition(const unsigned* in, unsigned* out, unsigned* counts, std::int64_t n,
                      unsigned pivot, cudaStream_t stream) {
  if (cudaError_t error = cudaMemsetAsync(counts, 0, 2 * sizeof(unsigned), stream)) return error;
  const auto tiles = static_cast<unsigned>((n + 255) / 256);
  if (n > 0) part<<<tiles, 256, 0, stream>>>(in, out, counts, static_cast<int>(n), pivot);
  if (n > 0) fill<<<tiles, 256, 0, stream>>>(out, counts, static_cast<int>(n), pivot);
  return cudaGetLastError();
}
}  // namespace place_for_each

// A warp reserves places for 512 keys; the middle is filled by as many blocks.
namespace warp_parts_three_ways {
// 6: PASSED
__global__ void part(const unsigned* in, unsigned* out, unsigned* counts, int n, unsigned pivot) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int start = (static_cast<int>(blockIdx.x) * 4 + static_cast<int>(threadIdx.x) / 32) * 512;
  unsigned x[16];
  unsigned lefts = 0, rights = 0;
  for (int r = 0; r < 16; ++r) {
    const int i = start + 32 * r + lane;
    x[r] = i < n ? in[i] : pivot;
    lefts += __popc(__ballot_sync(0xffffffffu, x[r] < pivot));
    rights += __popc(__ballot_sync(0xffffffffu, x[r] > pivot));
  }
  unsigned first = lane < 2 ? atomicAdd(&counts[lane], lane == 0 ? lefts : rights) : 0;
  unsigned left = __shfl_sync(0xffffffffu, first, 0);
  unsigned right = n - 1 - __shfl_sync(0xffffffffu, first, 1);
  const unsigned lanes_before = (1u << lane) - 1;
  for (int r = 0; r < 16; ++r) {
    const unsigned below = __ballot_sync(0xffffffffu, x[r] < pivot);
    const unsigned above = __ballot_sync(0xffffffffu, x[r] > pivot);
    if (x[r] < pivot) out[left + __popc(below & lanes_before)] = x[r];
    if (x[r] > pivot) out[right - __popc(above & lanes_before)] = x[r];
    left += __popc(below), right -= __popc(above);
  }
}
__global__ void fill(unsigned* out, const unsigned* counts, unsigned n, unsigned pivot) {
  const unsigned end = n - counts[1];
  unsigned i = counts[0] + blockIdx.x * blockDim.x + threadIdx.x;
  for (; i < end; i += gridDim.x * blockDim.x) out[i] = pivot;
}

cudaError_t partition(const unsigned* in, unsigned* out, unsigned* counts, std::int64_t n,
                      unsigned pivot, cudaStream_t stream) {
  if (cudaError_t error = cudaMemsetAsync(counts, 0, 2 * sizeof(unsigned), stream)) return error;
  if (n == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>((n + 2047) / 2048);
  part<<<blocks, 128, 0, stream>>>(in, out, counts, static_cast<int>(n), pivot);
  fill<<<blocks, 128, 0, stream>>>(out, counts, static_cast<unsigned>(n), pivot);
  return cudaGetLastError();
}
}  // namespace warp_parts_three_ways

// All places get the pivot first, and two thirds of them are overwritten.
namespace fills_all_places {
// 6: NOT YET: right, but it moves
__global__ void part(const unsigned* in, unsigned* out, unsigned* counts, int n, unsigned pivot) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int start = (static_cast<int>(blockIdx.x) * 4 + static_cast<int>(threadIdx.x) / 32) * 512;
  unsigned x[16];
  unsigned lefts = 0, rights = 0;
  for (int r = 0; r < 16; ++r) {
    const int i = start + 32 * r + lane;
    x[r] = i < n ? in[i] : pivot;
    lefts += __popc(__ballot_sync(0xffffffffu, x[r] < pivot));
    rights += __popc(__ballot_sync(0xffffffffu, x[r] > pivot));
  }
  unsigned first = lane < 2 ? atomicAdd(&counts[lane], lane == 0 ? lefts : rights) : 0;
  unsigned left = __shfl_sync(0xffffffffu, first, 0);
  unsigned right = n - 1 - __shfl_sync(0xffffffffu, first, 1);
  const unsigned lanes_before = (1u << lane) - 1;
  for (int r = 0; r < 16; ++r) {
    const unsigned below = __ballot_sync(0xffffffffu, x[r] < pivot);
    const unsigned above = __ballot_sync(0xffffffffu, x[r] > pivot);
    if (x[r] < pivot) out[left + __popc(below & lanes_before)] = x[r];
    if (x[r] > pivot) out[right - __popc(above & lanes_before)] = x[r];
    left += __popc(below), right -= __popc(above);
  }
}
__global__ void fill(unsigned* out, int n, unsigned pivot) {
  const int i = static_cast<int>(blockIdx.x * 2048 + threadIdx.x);
  for (int k = i; k < min(n, i + 2048); k += 128) out[k] = pivot;
}

cudaError_t partition(const unsigned* in, unsigned* out, unsigned* counts, std::int64_t n,
                      unsigned pivot, cudaStream_t stream) {
  if (cudaError_t error = cudaMemsetAsync(counts, 0, 2 * sizeof(unsigned), stream)) return error;
  if (n == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>((n + 2047) / 2048);
  fill<<<blocks, 128, 0, stream>>>(out, static_cast<int>(n), pivot);
  part<<<blocks, 128, 0, stream>>>(in, out, counts, static_cast<int>(n), pivot);
  return cudaGetLastError();
}
}  // namespace fills_all_places

// The second kernel has one block, however long the middle is.
namespace one_block_fills {
// 6: NOT YET: right, but one after the other
__global__ void part(const unsigned* in, unsigned* out, unsigned* counts, int n, unsigned pivot) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int start = (static_cast<int>(blockIdx.x) * 4 + static_cast<int>(threadIdx.x) / 32) * 512;
  unsigned x[16];
  unsigned lefts = 0, rights = 0;
  for (int r = 0; r < 16; ++r) {
    const int i = start + 32 * r + lane;
    x[r] = i < n ? in[i] : pivot;
    lefts += __popc(__ballot_sync(0xffffffffu, x[r] < pivot));
    rights += __popc(__ballot_sync(0xffffffffu, x[r] > pivot));
  }
  unsigned first = lane < 2 ? atomicAdd(&counts[lane], lane == 0 ? lefts : rights) : 0;
  unsigned left = __shfl_sync(0xffffffffu, first, 0);
  unsigned right = n - 1 - __shfl_sync(0xffffffffu, first, 1);
  const unsigned lanes_before = (1u << lane) - 1;
  for (int r = 0; r < 16; ++r) {
    const unsigned below = __ballot_sync(0xffffffffu, x[r] < pivot);
    const unsigned above = __ballot_sync(0xffffffffu, x[r] > pivot);
    if (x[r] < pivot) out[left + __popc(below & lanes_before)] = x[r];
    if (x[r] > pivot) out[right - __popc(above & lanes_before)] = x[r];
    left += __popc(below), right -= __popc(above);
  }
}
__global__ void fill(unsigned* out, const unsigned* counts, unsigned n, unsigned pivot) {
  const unsigned end = n - counts[1];
  unsigned i = counts[0] + blockIdx.x * blockDim.x + threadIdx.x;
  for (; i < end; i += gridDim.x * blockDim.x) out[i] = pivot;
}

cudaError_t partition(const unsigned* in, unsigned* out, unsigned* counts, std::int64_t n,
                      unsigned pivot, cudaStream_t stream) {
  if (cudaError_t error = cudaMemsetAsync(counts, 0, 2 * sizeof(unsigned), stream)) return error;
  if (n == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>((n + 2047) / 2048);
  part<<<blocks, 128, 0, stream>>>(in, out, counts, static_cast<int>(n), pivot);
  fill<<<1, 128, 0, stream>>>(out, counts, static_cast<unsigned>(n), pivot);
  return cudaGetLastError();
}
}  // namespace one_block_fills

// The first lane of a warp has 512 keys, the others none.
namespace lane_parts_three_ways {
// 6: NOT YET: right, but
__global__ void part(const unsigned* in, unsigned* out, unsigned* counts, int n, unsigned pivot) {
  const int begin = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * 16;
  if (threadIdx.x % 32 != 0 || begin >= n) return;
  const int end = min(n, begin + 512);
  unsigned lefts = 0, rights = 0;
  for (int i = begin; i < end; ++i) lefts += in[i] < pivot ? 1 : 0;
  for (int i = begin; i < end; ++i) rights += in[i] > pivot ? 1 : 0;
  unsigned left = atomicAdd(&counts[0], lefts);
  unsigned right = n - atomicAdd(&counts[1], rights);
  for (int i = begin; i < end; ++i) {
    const unsigned key = in[i];
    if (key < pivot) out[left++] = key;
    if (key > pivot) out[--right] = key;
  }
}
__global__ void fill(unsigned* out, const unsigned* counts, int n, unsigned pivot) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i >= counts[0] && i < n - counts[1]) out[i] = pivot;
}

cudaError_t partition(const unsigned* in, unsigned* out, unsigned* counts, std::int64_t n,
                      unsigned pivot, cudaStream_t stream) {
  if (cudaError_t error = cudaMemsetAsync(counts, 0, 2 * sizeof(unsigned), stream)) return error;
  if (n == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>((n + 255) / 256);
  part<<<(blocks + 15) / 16, 256, 0, stream>>>(in, out, counts, static_cast<int>(n), pivot);
  fill<<<blocks, 256, 0, stream>>>(out, counts, static_cast<int>(n), pivot);
  return cudaGetLastError();
}
}  // namespace lane_parts_three_ways

// Smaller keys by one kernel, larger ones by another, which reads all keys again.
namespace one_side_per_kernel {
// 6: NOT YET: right, but it moves
__global__ void part(const unsigned* in, unsigned* out, unsigned* counts, int n, unsigned pivot,
                     bool is_left) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int start = (static_cast<int>(blockIdx.x) * 4 + static_cast<int>(threadIdx.x) / 32) * 512;
  unsigned x[16], votes[16], all = 0;
  for (int r = 0; r < 16; ++r) {
    const int i = start + 32 * r + lane;
    x[r] = i < n ? in[i] : pivot;
    votes[r] = __ballot_sync(0xffffffffu, is_left ? x[r] < pivot : x[r] > pivot);
    all += __popc(votes[r]);
  }
  unsigned to = lane == 0 ? atomicAdd(&counts[is_left ? 0 : 1], all) : 0;
  to = __shfl_sync(0xffffffffu, to, 0);
  for (int r = 0; r < 16; ++r) {
    const unsigned place = to + __popc(votes[r] & ((1u << lane) - 1));
    if (votes[r] >> lane & 1) out[is_left ? place : n - 1 - place] = x[r];
    to += __popc(votes[r]);
  }
}
__global__ void fill(unsigned* out, const unsigned* counts, unsigned n, unsigned pivot) {
  const unsigned end = n - counts[1];
  unsigned i = counts[0] + blockIdx.x * blockDim.x + threadIdx.x;
  for (; i < end; i += gridDim.x * blockDim.x) out[i] = pivot;
}

cudaError_t partition(const unsigned* in, unsigned* out, unsigned* counts, std::int64_t n,
                      unsigned pivot, cudaStream_t stream) {
  if (cudaError_t error = cudaMemsetAsync(counts, 0, 2 * sizeof(unsigned), stream)) return error;
  if (n == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>((n + 2047) / 2048);
  part<<<blocks, 128, 0, stream>>>(in, out, counts, static_cast<int>(n), pivot, true);
  part<<<blocks, 128, 0, stream>>>(in, out, counts, static_cast<int>(n), pivot, false);
  fill<<<blocks, 128, 0, stream>>>(out, counts, static_cast<unsigned>(n), pivot);
  return cudaGetLastError();
}
}  // namespace one_side_per_kernel

// A block has one key for each of its 256 threads, and one place of the middle.
namespace one_key_three_ways {
// 6: PASSED
__global__ void part(const unsigned* in, unsigned* out, unsigned* counts, int n, unsigned pivot) {
  __shared__ int sides[2][8], first[2];
  const int t = static_cast<int>(threadIdx.x), warp = t / 32, lane = t % 32;
  const int i = static_cast<int>(blockIdx.x) * 256 + t;
  const unsigned key = i < n ? in[i] : pivot;
  const unsigned below = __ballot_sync(0xffffffffu, key < pivot);
  const unsigned above = __ballot_sync(0xffffffffu, key > pivot);
  if (lane == 0) sides[0][warp] = __popc(below), sides[1][warp] = __popc(above);
  __syncthreads();
  if (t < 2) {
    int all = 0;
    for (int w = 0; w < 8; ++w) all += sides[t][w];
    first[t] = static_cast<int>(atomicAdd(&counts[t], static_cast<unsigned>(all)));
  }
  __syncthreads();
  if (key == pivot) return;
  const int side = key < pivot ? 0 : 1;
  int place = first[side] + __popc((side == 0 ? below : above) & ((1u << lane) - 1));
  for (int w = 0; w < warp; ++w) place += sides[side][w];
  out[side == 0 ? place : n - 1 - place] = key;
}
__global__ void fill(unsigned* out, const unsigned* counts, int n, unsigned pivot) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i >= counts[0] && i < n - counts[1]) out[i] = pivot;
}

cudaError_t partition(const unsigned* in, unsigned* out, unsigned* counts, std::int64_t n,
                      unsigned pivot, cudaStream_t stream) {
  if (cudaError_t error = cudaMemsetAsync(counts, 0, 2 * sizeof(unsigned), stream)) return error;
  const auto tiles = static_cast<unsigned>((n + 255) / 256);
  if (n > 0) part<<<tiles, 256, 0, stream>>>(in, out, counts, static_cast<int>(n), pivot);
  if (n > 0) fill<<<tiles, 256, 0, stream>>>(out, counts, static_cast<int>(n), pivot);
  return cudaGetLastError();
}
}  // namespace one_key_three_ways

// Both sides of a tile are gathered in shared memory and stored in whole sectors.
namespace gathered_sides {
// 6: PASSED
__global__ void part(const unsigned* in, unsigned* out, unsigned* counts, int n, unsigned pivot) {
  __shared__ unsigned s[1024];
  __shared__ unsigned sides[2][32], first[2];  // of each warp, and of the block
  const unsigned t = threadIdx.x, warp = t / 32, lane = t % 32;
  const unsigned i = blockIdx.x * 1024 + t, before = (1u << lane) - 1;
  const unsigned key = i < static_cast<unsigned>(n) ? in[i] : pivot;
  const unsigned below = __ballot_sync(0xffffffffu, key < pivot);
  const unsigned above = __ballot_sync(0xffffffffu, key > pivot);
  if (lane == 0) sides[0][warp] = __popc(below), sides[1][warp] = __popc(above);
  __syncthreads();
  const unsigned lefts = sides[0][lane], rights = sides[1][lane];
  const unsigned all_lefts = __reduce_add_sync(~0u, lefts);
  const unsigned all_rights = __reduce_add_sync(~0u, rights);
  const unsigned left = __reduce_add_sync(~0u, lane < warp ? lefts : 0) + __popc(below & before);
  const unsigned right = __reduce_add_sync(~0u, lane < warp ? rights : 0) + __popc(above & before);
  if (key < pivot) s[left] = key;
  if (key > pivot) s[1023 - right] = key;
  if (t < 2) first[t] = atomicAdd(&counts[t], t == 0 ? all_lefts : all_rights);
  __syncthreads();
  if (t < all_lefts) out[first[0] + t] = s[t];
  if (t >= 1024 - all_rights) out[n - first[1] - (1024 - t)] = s[t];
}
__global__ void fill(unsigned* out, const unsigned* counts, unsigned n, unsigned pivot) {
  const unsigned end = n - counts[1];
  for (unsigned i = counts[0] + blockIdx.x * 512 + threadIdx.x; i < end; i += gridDim.x * 512)
    out[i] = pivot;
}

cudaError_t partition(const unsigned* in, unsigned* out, unsigned* counts, std::int64_t n,
                      unsigned pivot, cudaStream_t stream) {
  if (cudaError_t error = cudaMemsetAsync(counts, 0, 2 * sizeof(unsigned), stream)) return error;
  if (n == 0) return cudaSuccess;
  const auto tiles = static_cast<unsigned>((n + 1023) / 1024);
  part<<<tiles, 1024, 0, stream>>>(in, out, counts, static_cast<int>(n), pivot);
  fill<<<(tiles + 1) / 2, 512, 0, stream>>>(out, counts, static_cast<unsigned>(n), pivot);
  return cudaGetLastError();
}
}  // namespace gathered_sides
