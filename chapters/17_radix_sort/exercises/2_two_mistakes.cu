// Exercise 2: a radix sort with 4 bits per pass, and two mistakes. One of them is in two lines.
// ./chapters/run 17 --exercise 2          builds and checks it; --hint helps
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "ranks.cuh"
#include "scan.cuh"
#include "workspace.hpp"

namespace exercise {

constexpr int block_size = 256;
constexpr int tile = block_size;  // keys, one per thread
constexpr int bits = 4;           // per pass
constexpr int digits = 1 << bits;
constexpr std::int64_t most_keys = UINT32_MAX;  // counters have 32 bits

/// How many keys of each tile have each digit. A block per tile.
__global__ void __launch_bounds__(block_size)
    count_digits(const unsigned* in, unsigned* counts, std::int64_t n, int bit) {
  __shared__ unsigned all[digits];
  if (threadIdx.x < digits) all[threadIdx.x] = 0;
  __syncthreads();
  const std::int64_t i = std::int64_t{blockIdx.x} * tile + threadIdx.x;
  if (i < n) atomicAdd(&all[in[i] >> bit & (digits - 1)], 1u);
  __syncthreads();
  if (threadIdx.x < digits) counts[blockIdx.x * digits + threadIdx.x] = all[threadIdx.x];
}

/// starts: the counts after their exclusive scan. A block per tile.
__global__ void __launch_bounds__(block_size)
    move_keys(const unsigned* in, unsigned* out, const unsigned* starts, std::int64_t n, int bit) {
  __shared__ unsigned taken[digits];  // places of each digit
  if (threadIdx.x < digits) taken[threadIdx.x] = 0;
  __syncthreads();
  const std::int64_t i = std::int64_t{blockIdx.x} * tile + threadIdx.x;
  if (i < n) {
    const unsigned key = in[i], digit = key >> bit & (digits - 1);
    const unsigned rank = atomicAdd(&taken[digit], 1u);
    out[starts[blockIdx.x * digits + digit] + rank] = key;
  }
}

/// out = the n keys of in, in ascending order. Device pointers; in is not changed and is not out.
/// With workspace == nullptr: only writes the bytes of scratch memory that it needs. \returns
/// cudaErrorInvalidValue for n < 0 or above 2^32 - 1 or too little scratch memory, or the error of
/// a launch.
cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const unsigned* in, unsigned* out,
                 std::int64_t n, cudaStream_t stream) {
  if (n < 0 || n > most_keys) return cudaErrorInvalidValue;
  const std::int64_t tiles = (n + tile - 1) / tile;
  workspace::Parts parts(workspace);
  unsigned* const spare = parts.take<unsigned>(n);
  unsigned* const counts = parts.take<unsigned>(digits * tiles);
  unsigned* const sums = parts.take<unsigned>(scan::most_blocks);
  if (workspace == nullptr) {
    workspace_bytes = parts.bytes();
    return cudaSuccess;
  }
  if (workspace_bytes < parts.bytes()) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>(tiles);
  const unsigned* from = in;
  unsigned* to = spare;  // after an even number of passes, the keys are in out
  for (int bit = 0; bit < 32; bit += bits) {
    count_digits<<<blocks, block_size, 0, stream>>>(from, counts, n, bit);
    if (cudaError_t error = scan::exclusive(counts, sums, digits * tiles, stream)) return error;
    move_keys<<<blocks, block_size, 0, stream>>>(from, to, counts, n, bit);
    from = to;
    to = to == spare ? out : spare;
  }
  return cudaGetLastError();
}

}  // namespace exercise
