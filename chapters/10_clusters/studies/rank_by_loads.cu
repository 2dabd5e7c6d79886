// Study: the ranks of 06 by ordinary loads. Each block reads all values from the L2 cache.
// Predicts: as 06 with clusters of one block: the way from the L2 cache to the SMs is the limit.
//   (Twice as fast: blocks that share an SM find some of the values in its L1 cache.)
#include <cuda_runtime.h>

#include <cstdint>

namespace rank_by_loads_study {

constexpr int block_size = 512;
constexpr int loads = 4;  // of 16 bytes, on their way at once per thread

/// ranks[q] = how many of the values are less than queries[q]: a block per query.
__global__ void __launch_bounds__(block_size)
    rank_queries(const unsigned* values, const unsigned* queries, unsigned* ranks, std::int64_t n) {
  __shared__ unsigned sums[block_size / 32];
  const int t = static_cast<int>(threadIdx.x);
  const unsigned query = queries[blockIdx.x];
  const uint4* const in = reinterpret_cast<const uint4*>(values);
  const uint4 none = make_uint4(~0u, ~0u, ~0u, ~0u);  // less than no query
  const std::int64_t vectors = n / 4;
  unsigned less = 0;
  for (std::int64_t i = t; i < vectors; i += loads * block_size) {
    uint4 v[loads];
    for (int k = 0; k < loads; ++k)
      v[k] = i + k * block_size < vectors ? in[i + k * block_size] : none;
    for (int k = 0; k < loads; ++k) {
      less += (v[k].x < query) + (v[k].y < query) + (v[k].z < query) + (v[k].w < query);
    }
  }
  if (t < n % 4) less += values[4 * vectors + t] < query;
  less = __reduce_add_sync(~0u, less);
  if (t % 32 == 0) sums[t / 32] = less;
  __syncthreads();
  if (t == 0) {
    unsigned sum = 0;
    for (const unsigned part : sums) sum += part;
    ranks[blockIdx.x] = sum;
  }
}

/// ranks[q] = how many of n values are less than queries[q], for m queries. Device pointers, values
/// at a multiple of 16 bytes. \returns cudaErrorInvalidValue for another pointer, n or m below 0, n
/// above 2^32 - 1, m above 2^24, or an error of CUDA.
cudaError_t rank_of_each(const unsigned* values, const unsigned* queries, unsigned* ranks,
                         std::int64_t n, std::int64_t m, cudaStream_t stream) {
  if (n < 0 || n > UINT32_MAX || m < 0 || m > 1 << 24 ||
      reinterpret_cast<std::uintptr_t>(values) % 16 != 0) {
    return cudaErrorInvalidValue;
  }
  if (m == 0) return cudaSuccess;
  if (n == 0) return cudaMemsetAsync(ranks, 0, static_cast<std::size_t>(m) * sizeof *ranks, stream);
  rank_queries<<<static_cast<unsigned>(m), block_size, 0, stream>>>(values, queries, ranks, n);
  return cudaGetLastError();
}

}  // namespace rank_by_loads_study
