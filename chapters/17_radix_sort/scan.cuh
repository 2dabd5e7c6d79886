#pragma once
/// \file
/// The exclusive scan of counters, for the versions that count per tile (chapter 05 has faster
/// ones). Two launches: each block sums its chunk, then scans it after the sums of the chunks
/// before.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "block_scan.cuh"

namespace scan {

constexpr int block_size = 512;
constexpr int most_blocks = block_size;  // a thread per chunk adds up the chunks before
constexpr int each = 4;                  // consecutive counters per thread
constexpr int tile = block_size * each;

/// sums[b] = the sum of chunk b of the counts.
static __global__ void __launch_bounds__(block_size)
    sum_chunks(const unsigned* counts, unsigned* sums, std::int64_t m, std::int64_t chunk) {
  __shared__ unsigned s[block_size / 32];
  const std::int64_t first = blockIdx.x * chunk, last = first + chunk < m ? first + chunk : m;
  unsigned mine = 0, all;
  for (std::int64_t i = first + threadIdx.x; i < last; i += block_size) mine += counts[i];
  block_scan<block_size>(mine, s, &all);
  if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

/// counts[i] = the sum of all counts before i.
static __global__ void __launch_bounds__(block_size)
    scan_chunks(unsigned* counts, const unsigned* sums, std::int64_t m, std::int64_t chunk) {
  __shared__ unsigned s[block_size / 32];
  const std::int64_t first = blockIdx.x * chunk, last = first + chunk < m ? first + chunk : m;
  unsigned before;
  block_scan<block_size>(threadIdx.x < blockIdx.x ? sums[threadIdx.x] : 0, s, &before);
  for (std::int64_t begin = first; begin < last; begin += tile) {
    const std::int64_t i = begin + threadIdx.x * each;
    unsigned x[each], sum = 0, all;
    for (int k = 0; k < each; ++k) {
      x[k] = i + k < last ? counts[i + k] : 0;
      sum += x[k];
    }
    unsigned at = before + block_scan<block_size>(sum, s, &all);
    for (int k = 0; k < each; ++k) {
      if (i + k < last) counts[i + k] = at;
      at += x[k];
    }
    before += all;
  }
}

/// counts[i] = counts[0] + ... + counts[i - 1], for i < m. `sums`: scratch memory of most_blocks
/// elements.
inline cudaError_t exclusive(unsigned* counts, unsigned* sums, std::int64_t m,
                             cudaStream_t stream) {
  const std::int64_t tiles = (m + tile - 1) / tile;
  const std::int64_t chunk = (tiles + most_blocks - 1) / most_blocks * tile;
  const auto blocks = static_cast<unsigned>((m + chunk - 1) / chunk);
  sum_chunks<<<blocks, block_size, 0, stream>>>(counts, sums, m, chunk);
  scan_chunks<<<blocks, block_size, 0, stream>>>(counts, sums, m, chunk);
  return cudaGetLastError();
}

}  // namespace scan
