// Answers to exercise 7 of chapter 07, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace single_thread {
// 7: NOT YET: right, but one after the other
__global__ void find(const unsigned* in, unsigned* out, std::int64_t n, std::int64_t rank) {
  __shared__ unsigned s[2048];
  unsigned long long found = 0;
  for (int shift = 22; shift >= 0; shift -= 11) {
    for (int b = 0; b < 2048; ++b) s[b] = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const unsigned long long key = in[i];
      if (key >> (shift + 11) == found) ++s[key >> shift & 2047];
    }
    unsigned bucket = 0;
    while (s[bucket] <= rank) rank -= s[bucket++];
    found = found << 11 | bucket;
  }
  *out = static_cast<unsigned>(found);
}

cudaError_t percentile(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                       unsigned* out, std::int64_t n, int percent, cudaStream_t stream) {
  if (workspace == nullptr) workspace_bytes = 64;
  if (workspace != nullptr) find<<<1, 1, 0, stream>>>(in, out, n, (n - 1) * percent / 100);
  return cudaGetLastError();
}
}  // namespace single_thread

// One block reads all keys, three times.
namespace one_block {
// 7: NOT YET: right, but one after the other
__global__ void find(const unsigned* in, unsigned* out, std::int64_t n, unsigned rank) {
  __shared__ unsigned s[2048];
  __shared__ unsigned found, left;
  const unsigned t = threadIdx.x;
  if (t == 0) found = 0, left = rank;
  for (int shift = 22; shift >= 0; shift -= 11) {
    s[t] = 0, s[t + 1024] = 0;
    __syncthreads();
    for (std::int64_t i = t; i < n; i += 1024) {
      const unsigned long long key = in[i];
      if (key >> (shift + 11) == found) atomicAdd(&s[key >> shift & 2047], 1u);
    }
    __syncthreads();
    if (t == 0) {
      unsigned bucket = 0;
      while (s[bucket] <= left) left -= s[bucket++];
      found = found << 11 | bucket;
    }
    __syncthreads();
  }
  if (t == 0) *out = found;
}

cudaError_t percentile(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                       unsigned* out, std::int64_t n, int percent, cudaStream_t stream) {
  if (workspace == nullptr) workspace_bytes = 64;
  const auto rank = static_cast<unsigned>((n - 1) * percent / 100);
  if (workspace != nullptr) find<<<1, 1024, 0, stream>>>(in, out, n, rank);
  return cudaGetLastError();
}
}  // namespace one_block

// Many blocks count, but each bit needs a pass.
namespace bit_by_bit {
// 7: NOT YET: right, but it moves 1
struct Search {
  unsigned found, below[32];
};
__global__ void count(const unsigned* in, std::int64_t n, int bit, Search* search) {
  const unsigned tried = search->found | 1u << bit;
  unsigned mine = 0;
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride)
    mine += in[i] < tried ? 1 : 0;
  mine = __reduce_add_sync(0xffffffffu, mine);
  if (threadIdx.x % 32 == 0) atomicAdd(&search->below[bit], mine);
}
__global__ void decide(Search* search, int bit, unsigned rank, unsigned* out) {
  if (search->below[bit] <= rank) search->found |= 1u << bit;
  *out = search->found;
}

cudaError_t percentile(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                       unsigned* out, std::int64_t n, int percent, cudaStream_t stream) {
  workspace_bytes = sizeof(Search);
  if (workspace == nullptr) return cudaSuccess;
  auto* const search = static_cast<Search*>(workspace);
  cudaMemsetAsync(search, 0, sizeof(Search), stream);
  for (int bit = 31; bit >= 0; --bit) {
    count<<<8, 512, 0, stream>>>(in, n, bit, search);
    decide<<<1, 1, 0, stream>>>(search, bit, static_cast<unsigned>((n - 1) * percent / 100), out);
  }
  return cudaGetLastError();
}
}  // namespace bit_by_bit

// Each key is counted in global memory, and one thread searches for the bucket.
namespace no_shared_memory {
// 7: NOT YET: right, but
struct Search {
  unsigned found, left, counts[3][2048];
};
__global__ void begin(Search* search, unsigned rank) { search->left = rank; }
__global__ void count(const unsigned* in, std::int64_t n, int pass, Search* search) {
  const int shift = 22 - 11 * pass;
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned long long key = in[i];
  if (key >> (shift + 11) == search->found)
    atomicAdd(&search->counts[pass][key >> shift & 2047], 1u);
}
__global__ void choose(Search* search, int pass, unsigned* out) {
  unsigned bucket = 0, left = search->left;
  while (search->counts[pass][bucket] <= left) left -= search->counts[pass][bucket++];
  *out = search->found << 11 | bucket;
  search->found = *out, search->left = left;
}

cudaError_t percentile(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                       unsigned* out, std::int64_t n, int percent, cudaStream_t stream) {
  workspace_bytes = sizeof(Search);
  if (workspace == nullptr) return cudaSuccess;
  auto* const search = static_cast<Search*>(workspace);
  cudaMemsetAsync(search, 0, sizeof(Search), stream);
  begin<<<1, 1, 0, stream>>>(search, static_cast<unsigned>((n - 1) * percent / 100));
  for (int pass = 0; pass < 3; ++pass) {
    count<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, n, pass, search);
    choose<<<1, 1, 0, stream>>>(search, pass, out);
  }
  return cudaGetLastError();
}
}  // namespace no_shared_memory

// Only the first lane of each warp reads keys.
namespace one_lane_per_warp {
// 7: NOT YET: right, but
struct Search {
  unsigned found, left, counts[4][256];
};
__global__ void begin(Search* search, unsigned rank) { search->left = rank; }
__global__ void count(const unsigned* in, std::int64_t n, int pass, Search* search) {
  __shared__ unsigned s[256];
  s[threadIdx.x] = 0;
  __syncthreads();
  const int shift = 24 - 8 * pass;
  const std::int64_t first = std::int64_t{blockIdx.x} * 8 + threadIdx.x / 32;
  for (std::int64_t i = first; threadIdx.x % 32 == 0 && i < n; i += std::int64_t{gridDim.x} * 8) {
    const unsigned long long key = in[i];
    if (key >> (shift + 8) == search->found) atomicAdd(&s[key >> shift & 255], 1u);
  }
  __syncthreads();
  if (s[threadIdx.x] > 0) atomicAdd(&search->counts[pass][threadIdx.x], s[threadIdx.x]);
}
__global__ void choose(Search* search, int pass, unsigned* out) {
  unsigned bucket = 0, left = search->left;
  while (search->counts[pass][bucket] <= left) left -= search->counts[pass][bucket++];
  *out = search->found << 8 | bucket;
  search->found = *out, search->left = left;
}

cudaError_t percentile(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                       unsigned* out, std::int64_t n, int percent, cudaStream_t stream) {
  workspace_bytes = sizeof(Search);
  if (workspace == nullptr) return cudaSuccess;
  auto* const search = static_cast<Search*>(workspace);
  cudaMemsetAsync(search, 0, sizeof(Search), stream);
  begin<<<1, 1, 0, stream>>>(search, static_cast<unsigned>((n - 1) * percent / 100));
  for (int pass = 0; pass < 4; ++pass) {
    count<<<32, 256, 0, stream>>>(in, n, pass, search);
    choose<<<1, 1, 0, stream>>>(search, pass, out);
  }
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp

// Four passes of 8 bits; a block of 256 threads finds the bucket.
namespace four_passes {
// 7: PASSED
struct Search {
  unsigned found, left, counts[4][256];
};
__global__ void begin(Search* search, unsigned rank) { search->left = rank; }
__global__ void count(const unsigned* in, std::int64_t n, int pass, Search* search) {
  __shared__ unsigned s[256];
  s[threadIdx.x] = 0;
  __syncthreads();
  const int shift = 24 - 8 * pass;
  const unsigned found = search->found;
  const std::int64_t stride = std::int64_t{gridDim.x} * 256;
  for (std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x; i < n; i += stride) {
    const unsigned long long key = in[i];
    if (key >> (shift + 8) == found) atomicAdd(&s[key >> shift & 255], 1u);
  }
  __syncthreads();
  if (s[threadIdx.x] > 0) atomicAdd(&search->counts[pass][threadIdx.x], s[threadIdx.x]);
}
__global__ void choose(Search* search, int pass, unsigned* out) {
  __shared__ unsigned sums[8];
  const unsigned t = threadIdx.x, lane = t % 32, mine = search->counts[pass][t];
  const unsigned left = search->left, found = search->found;
  const unsigned sum = __reduce_add_sync(0xffffffffu, mine);
  if (lane == 0) sums[t / 32] = sum;
  unsigned end = mine;
  for (unsigned step = 1; step < 32; step *= 2) {
    const unsigned other = __shfl_up_sync(0xffffffffu, end, step);
    if (lane >= step) end += other;
  }
  __syncthreads();
  for (unsigned w = 0; w < t / 32; ++w) end += sums[w];
  if (end - mine > left || left >= end) return;
  *out = found << 8 | t;
  search->found = found << 8 | t, search->left = left - (end - mine);
}

cudaError_t percentile(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                       unsigned* out, std::int64_t n, int percent, cudaStream_t stream) {
  workspace_bytes = sizeof(Search);
  if (workspace == nullptr) return cudaSuccess;
  auto* const search = static_cast<Search*>(workspace);
  cudaMemsetAsync(search, 0, sizeof(Search), stream);
  begin<<<1, 1, 0, stream>>>(search, static_cast<unsigned>((n - 1) * percent / 100));
  for (int pass = 0; pass < 4; ++pass) {
    count<<<256, 256, 0, stream>>>(in, n, pass, search);
    choose<<<1, 256, 0, stream>>>(search, pass, out);
  }
  return cudaGetLastError();
}
}  // namespace four_passes

// Three passes over four keys at once; every block finds the previous pass's bucket by itself.
namespace each_block_chooses {
// 7: PASSED
struct Search {
  unsigned found, left;
};
__device__ Search next(Search now, const unsigned* counts) {  // 1024 threads
  __shared__ unsigned sums[32];
  __shared__ Search then;
  const unsigned t = threadIdx.x, lane = t % 32;
  const uint2 mine = reinterpret_cast<const uint2*>(counts)[t];
  unsigned end = mine.x + mine.y;
  for (unsigned step = 1; step < 32; step *= 2) {
    const unsigned other = __shfl_up_sync(0xffffffffu, end, step);
    if (lane >= step) end += other;
  }
  __syncthreads();
  if (lane == 31) sums[t / 32] = end;
  __syncthreads();
  end += __reduce_add_sync(0xffffffffu, lane < t / 32 ? sums[lane] : 0);
  const unsigned rest = now.left - (end - mine.x - mine.y);
  const unsigned bucket = now.found << 11 | 2 * t;
  if (rest < mine.x) then = {bucket, rest};
  if (rest >= mine.x && rest - mine.x < mine.y) then = {bucket + 1, rest - mine.x};
  __syncthreads();
  return then;
}
__global__ void count(const unsigned* in, std::int64_t n, int pass, unsigned rank, unsigned* counts,
                      unsigned* out) {
  __shared__ unsigned s[2048];
  const unsigned t = threadIdx.x;
  Search now{0, rank};
  for (int p = 0; p < pass; ++p) now = next(now, counts + p * 2048);
  if (pass == 3 && t == 0) *out = now.found;
  if (pass == 3) return;
  s[t] = 0, s[t + 1024] = 0;
  __syncthreads();
  const int shift = 22 - 11 * pass;
  const std::int64_t stride = std::int64_t{gridDim.x} * 1024;
  for (std::int64_t v = std::int64_t{blockIdx.x} * 1024 + t; 4 * v < n; v += stride) {
    unsigned x[4] = {};
    for (int k = 0; 4 * v + 4 > n && 4 * v + k < n; ++k) x[k] = in[4 * v + k];
    if (4 * v + 4 <= n) {
      const uint4 keys = reinterpret_cast<const uint4*>(in)[v];
      x[0] = keys.x, x[1] = keys.y, x[2] = keys.z, x[3] = keys.w;
    }
    for (int k = 0; k < 4 && 4 * v + k < n; ++k) {
      const unsigned long long key = x[k];
      if (key >> (shift + 11) == now.found) atomicAdd(&s[key >> shift & 2047], 1u);
    }
  }
  __syncthreads();
  for (unsigned b = t; b < 2048; b += 1024) {
    if (s[b] > 0) atomicAdd(&counts[pass * 2048 + b], s[b]);
  }
}

cudaError_t percentile(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                       unsigned* out, std::int64_t n, int percent, cudaStream_t stream) {
  workspace_bytes = 3 * 2048 * sizeof(unsigned);
  if (workspace == nullptr) return cudaSuccess;
  auto* const counts = static_cast<unsigned*>(workspace);
  cudaMemsetAsync(counts, 0, workspace_bytes, stream);
  const auto rank = static_cast<unsigned>((n - 1) * percent / 100);
  for (int pass = 0; pass < 4; ++pass) {
    const int blocks = pass == 3 ? 1 : 16;
    count<<<blocks, 1024, 0, stream>>>(in, n, pass, rank, counts, out);
  }
  return cudaGetLastError();
}
}  // namespace each_block_chooses

// The keys of the first pass's bucket are copied, and the other passes read only these.
namespace bucket_is_copied {
// 7: PASSED
struct Search {
  unsigned found, left, size, counts[4][256];
};
__global__ void begin(Search* search, unsigned rank) { search->left = rank; }
__global__ void count(const unsigned* in, std::int64_t n, int pass, Search* search) {
  __shared__ unsigned s[256];
  s[threadIdx.x] = 0;
  __syncthreads();
  const int shift = 24 - 8 * pass;
  if (pass > 0) n = search->size;
  const std::int64_t stride = std::int64_t{gridDim.x} * 256;
  for (std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x; i < n; i += stride) {
    const unsigned long long key = in[i];
    if (key >> (shift + 8) == search->found) atomicAdd(&s[key >> shift & 255], 1u);
  }
  __syncthreads();
  if (s[threadIdx.x] > 0) atomicAdd(&search->counts[pass][threadIdx.x], s[threadIdx.x]);
}
__global__ void choose(Search* search, int pass, unsigned* out) {
  __shared__ unsigned s[256];
  const unsigned t = threadIdx.x, left = search->left, found = search->found;
  s[t] = search->counts[pass][t];
  __syncthreads();
  unsigned before = 0;
  for (unsigned b = 0; b < t; ++b) before += s[b];
  if (before > left || left - before >= s[t]) return;
  *out = found << 8 | t;
  search->found = found << 8 | t, search->left = left - before;
}
__global__ void copy_bucket(const unsigned* in, std::int64_t n, Search* search, unsigned* keys) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  const unsigned lane = threadIdx.x % 32, key = i < n ? in[i] : 0;
  const unsigned votes = __ballot_sync(0xffffffffu, i < n && key >> 24 == search->found);
  unsigned first = 0;
  if (lane == 0 && votes != 0) first = atomicAdd(&search->size, __popc(votes));
  first = __shfl_sync(0xffffffffu, first, 0);
  if (votes >> lane & 1) keys[first + __popc(votes & ((1u << lane) - 1))] = key;
}

cudaError_t percentile(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                       unsigned* out, std::int64_t n, int percent, cudaStream_t stream) {
  workspace_bytes = sizeof(Search) + static_cast<std::size_t>(n) * sizeof(unsigned);
  if (workspace == nullptr) return cudaSuccess;
  auto* const search = static_cast<Search*>(workspace);
  auto* const keys = reinterpret_cast<unsigned*>(search + 1);
  cudaMemsetAsync(search, 0, sizeof(Search), stream);
  begin<<<1, 1, 0, stream>>>(search, static_cast<unsigned>((n - 1) * percent / 100));
  for (int pass = 0; pass < 4; ++pass) {
    count<<<128, 256, 0, stream>>>(pass == 0 ? in : keys, n, pass, search);
    choose<<<1, 256, 0, stream>>>(search, pass, out);
    const auto blocks = static_cast<unsigned>((n + 255) / 256);
    if (pass == 0) copy_bucket<<<blocks, 256, 0, stream>>>(in, n, search, keys);
  }
  return cudaGetLastError();
}
}  // namespace bucket_is_copied
