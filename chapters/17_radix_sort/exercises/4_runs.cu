// Exercise 4: version 03. It is right, but the lanes of a store write to places far apart. Put the
// keys of a tile in order in shared memory, and store them from there in runs.
// ./chapters/run 17 --exercise 4          builds and checks it; --hint helps
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "block_scan.cuh"
#include "ranks.cuh"
#include "scan.cuh"
#include "workspace.hpp"

namespace exercise {

constexpr int block_size = 256;
constexpr int warps = block_size / 32;
constexpr int rows = 16;                 // of 32 keys per warp
constexpr int tile = block_size * rows;  // keys
constexpr int bits = 8;                  // per pass
constexpr int digits = 1 << bits;
static_assert(digits == block_size, "a thread per digit");
constexpr std::int64_t most_keys = UINT32_MAX;  // counters have 32 bits

/// Where this thread finds its key of row r. A warp has rows * 32 consecutive keys.
__device__ std::int64_t index_of(int r) {
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  return std::int64_t{blockIdx.x} * tile + (warp * rows + r) * 32 + lane;
}

/// counts[d * tiles + b] = how many keys of tile b have digit d. A block per tile.
__global__ void __launch_bounds__(block_size)
    count_digits(const unsigned* in, unsigned* counts, std::int64_t n, int bit) {
  __shared__ unsigned all[digits];
  all[threadIdx.x] = 0;
  __syncthreads();
  for (int r = 0; r < rows; ++r) {
    const std::int64_t i = index_of(r);
    if (i < n) atomicAdd(&all[in[i] >> bit & (digits - 1)], 1u);
  }
  __syncthreads();
  counts[threadIdx.x * gridDim.x + blockIdx.x] = all[threadIdx.x];
}

/// starts[d * tiles + b]: where the first key of tile b with digit d goes. A block per tile.
__global__ void __launch_bounds__(block_size)
    move_keys(const unsigned* in, unsigned* out, const unsigned* starts, std::int64_t n, int bit) {
  __shared__ unsigned counts[warps][digits];  // of each warp, later where its first key goes
  // FILL IN: a place for the keys of the tile
  const unsigned warp = threadIdx.x / 32;
  for (unsigned w = 0; w < warps; ++w) counts[w][threadIdx.x] = 0;
  unsigned key[rows], rank[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r) key[r] = index_of(r) < n ? in[index_of(r)] : ~0u;
  __syncthreads();
#pragma unroll
  for (int r = 0; r < rows; ++r) rank[r] = ranks::next(counts[warp], key[r] >> bit & (digits - 1));
  __syncthreads();
  // CHANGE: to where the first key of the warp goes in shared memory. A thread per digit.
  unsigned start = starts[threadIdx.x * gridDim.x + blockIdx.x];
  for (unsigned w = 0; w < warps; ++w) {
    const unsigned count = counts[w][threadIdx.x];
    counts[w][threadIdx.x] = start;
    start += count;
  }
  __syncthreads();
  // CHANGE: first to shared memory, then from there to out, in the order of shared memory
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const std::size_t to = counts[warp][key[r] >> bit & (digits - 1)] + rank[r];
    if (index_of(r) < n) out[to] = key[r];
  }
}

/// out = the n keys of in, in ascending order. Device pointers; in is not changed and is not out.
/// Stable. With workspace == nullptr: only writes the bytes of scratch memory that it needs.
/// \returns cudaErrorInvalidValue for n < 0 or above 2^32 - 1, a misaligned pointer or too little
/// scratch memory, or the error of a launch.
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
  if (workspace::misaligned(in, out, spare)) return cudaErrorInvalidValue;
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
