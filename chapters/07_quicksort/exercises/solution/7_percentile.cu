// Exercise 7, solved: 2048 buckets per pass, told by 11 bits of a key, so no pivot has to be chosen
// and three passes are enough for any input. A pass counts, and moves nothing: 12 bytes per key.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace exercise {

constexpr int block_size = 512;
constexpr int keys_per_thread = 8;
constexpr int tile = block_size * keys_per_thread;
constexpr int passes = 3;
constexpr int buckets = 2048;

/// What a pass looks for: the key with `rank` others before it, among those that begin with the
/// bits `prefix`.
struct Search {
  unsigned prefix, rank;
};

/// The bits of a key that pass 0, 1 or 2 tells buckets by, and those before them, are above
/// `shift`.
__device__ int shift_of(int pass) { return pass == 0 ? 21 : pass == 1 ? 10 : 0; }
__device__ int bits_of(int pass) { return pass == 2 ? 10 : 11; }

/// Adds to counts[b], 0 before the first launch, how many keys that begin as they must lie in
/// bucket b. Launch: any number of blocks of block_size threads.
__global__ void count_buckets(const unsigned* in, std::int64_t n, int pass, const Search* search,
                              unsigned* counts) {
  __shared__ unsigned s[buckets];
  for (int b = static_cast<int>(threadIdx.x); b < buckets; b += block_size) s[b] = 0;
  const unsigned prefix = search->prefix;
  __syncthreads();
  const std::int64_t all = std::int64_t{gridDim.x} * tile;
  for (std::int64_t start = std::int64_t{blockIdx.x} * tile; start < n; start += all) {
    unsigned x[keys_per_thread];  // all on their way at once
    for (int k = 0; k < keys_per_thread; ++k) {
      const std::int64_t i = start + k * block_size + threadIdx.x;
      x[k] = i < n ? in[i] : 0;
    }
    for (int k = 0; k < keys_per_thread; ++k) {
      const bool is_there = start + k * block_size + threadIdx.x < n;
      const unsigned begins = x[k] >> shift_of(pass);
      if (is_there && (pass == 0 || begins >> bits_of(pass) == prefix))
        atomicAdd(&s[begins % (1u << bits_of(pass))], 1u);
    }
  }
  __syncthreads();
  for (int b = static_cast<int>(threadIdx.x); b < buckets; b += block_size) {
    if (s[b] > 0) atomicAdd(&counts[b], s[b]);
  }
}

/// Takes the bucket that has the key: the first one that ends behind its rank. After the last pass
/// *out is the key. Launch: one block of block_size threads.
__global__ void choose_bucket(const unsigned* counts, int pass, Search* search, unsigned* out) {
  constexpr int each = buckets / block_size;
  __shared__ unsigned sums[block_size];
  const int t = static_cast<int>(threadIdx.x);
  const Search now = *search;
  unsigned mine = 0;
  for (int k = 0; k < each; ++k) mine += counts[t * each + k];
  sums[t] = mine;
  __syncthreads();
  for (int step = 1; step < block_size; step *= 2) {
    const unsigned before = t >= step ? sums[t - step] : 0;
    __syncthreads();
    sums[t] += before;
    __syncthreads();
  }
  unsigned first = sums[t] - mine;  // how many keys are in the buckets before this one
  for (int k = 0; k < each; ++k) {
    const unsigned count = counts[t * each + k];
    if (first <= now.rank && now.rank - first < count) {
      const unsigned bucket = static_cast<unsigned>(t * each + k);
      const unsigned prefix = now.prefix << bits_of(pass) | bucket;
      *search = {prefix, now.rank - first};
      if (pass == passes - 1) *out = prefix;
    }
    first += count;
  }
}

/// Launch: one thread.
__global__ void begin_search(Search* search, unsigned rank) { *search = {0, rank}; }

/// How many blocks fill the GPU.
inline cudaError_t blocks_to_fill_gpu(unsigned* blocks) {
  int device = 0, sms = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device))
    return error;
  *blocks = static_cast<unsigned>(sms) * (2048 / block_size);
  return cudaSuccess;
}

/// *out = the key of rank (n - 1) * percent / 100, rounded down, in the n keys of in: 0 the
/// smallest, 50 the median, 100 the largest. n from 1 to 2^32 - 1. With workspace == nullptr: only
/// writes the bytes of scratch memory that it needs.
cudaError_t percentile(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                       unsigned* out, std::int64_t n, int percent, cudaStream_t stream) {
  const std::size_t needed = sizeof(Search) + passes * buckets * sizeof(unsigned);
  if (workspace == nullptr) {
    workspace_bytes = needed;
    return cudaSuccess;
  }
  if (n < 1 || n >= std::int64_t{1} << 32 || percent < 0 || percent > 100)
    return cudaErrorInvalidValue;
  if (workspace_bytes < needed) return cudaErrorInvalidValue;
  unsigned blocks = 0;
  if (cudaError_t error = blocks_to_fill_gpu(&blocks)) return error;
  if (cudaError_t error = cudaMemsetAsync(workspace, 0, needed, stream)) return error;
  auto* const search = static_cast<Search*>(workspace);
  auto* const counts = reinterpret_cast<unsigned*>(search + 1);
  begin_search<<<1, 1, 0, stream>>>(search, static_cast<unsigned>((n - 1) * percent / 100));
  for (int pass = 0; pass < passes; ++pass) {
    unsigned* const mine = counts + pass * buckets;
    count_buckets<<<blocks, block_size, 0, stream>>>(in, n, pass, search, mine);
    if (cudaError_t error = cudaGetLastError()) return error;
    choose_bucket<<<1, block_size, 0, stream>>>(mine, pass, search, out);
    if (cudaError_t error = cudaGetLastError()) return error;
  }
  return cudaSuccess;
}

}  // namespace exercise
