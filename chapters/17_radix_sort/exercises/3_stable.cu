// Exercise 3: one pass over pairs. Every key comes to its digit, but equal digits lose their order.
// Rank them stably: warps, rows and lanes in their order.
// ./chapters/run 17 --exercise 3          builds and checks it; --hint helps
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "scan.cuh"
#include "workspace.hpp"

namespace exercise {

constexpr int block_size = 256;
constexpr int warps = block_size / 32;
constexpr int rows = 16;                 // of 32 keys per warp
constexpr int tile = block_size * rows;  // keys
constexpr int bits = 8;
constexpr int digits = 1 << bits;
static_assert(digits == block_size, "a thread per digit");

/// Where this thread finds its key of row r. A warp has rows * 32 consecutive keys.
__device__ std::int64_t index_of(int r) {
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  return std::int64_t{blockIdx.x} * tile + (warp * rows + r) * 32 + lane;
}

/// counts[d * tiles + b] = how many keys of tile b have digit d. A block per tile.
__global__ void __launch_bounds__(block_size)
    count_digits(const unsigned* keys, unsigned* counts, std::int64_t n, int bit) {
  __shared__ unsigned all[digits];
  all[threadIdx.x] = 0;
  __syncthreads();
  for (int r = 0; r < rows; ++r) {
    const std::int64_t i = index_of(r);
    if (i < n) atomicAdd(&all[keys[i] >> bit & (digits - 1)], 1u);
  }
  __syncthreads();
  counts[threadIdx.x * gridDim.x + blockIdx.x] = all[threadIdx.x];
}

// FILL IN: how many keys with this digit the warp had before, in the rows before and at lower lanes
// of this row; by all 32 lanes together

/// starts[d * tiles + b]: where the first key of tile b with digit d goes. A block per tile.
__global__ void __launch_bounds__(block_size)
    move_pairs(const unsigned* keys, const unsigned* values, unsigned* keys_out,
               unsigned* values_out, const unsigned* starts, std::int64_t n, int bit) {
  __shared__ unsigned counts[digits];  // CHANGE: of each warp, later where its first key goes
  counts[threadIdx.x] = 0;
  __syncthreads();
  unsigned digit[rows], rank[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r) {  // past the end: the last digit, after all keys that have it
    digit[r] = index_of(r) < n ? keys[index_of(r)] >> bit & (digits - 1) : digits - 1;
    rank[r] = 0;
    if (index_of(r) < n) rank[r] = atomicAdd(&counts[digit[r]], 1u);  // CHANGE: in any order
  }
  __syncthreads();
  // CHANGE: the keys of a warp go after those of the warps before
  counts[threadIdx.x] = starts[threadIdx.x * gridDim.x + blockIdx.x];  // a thread per digit
  __syncthreads();
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const std::int64_t i = index_of(r);
    if (i >= n) continue;
    const std::size_t to = counts[digit[r]] + rank[r];  // CHANGE
    keys_out[to] = keys[i];
    values_out[to] = values[i];
  }
}

/// One pass: the n keys, in ascending order of their bits `bit` to `bit` + 7 alone, each with its
/// value. Equal digits keep their order. Device pointers; the outputs are not the inputs. With
/// workspace == nullptr: only writes the bytes of scratch memory that it needs. \returns
/// cudaErrorInvalidValue for n < 0 or above 2^32 - 1, bit below 0 or above 24, or too little
/// scratch memory; or the error of a launch.
cudaError_t sort_by_digit(void* workspace, std::size_t& workspace_bytes, const unsigned* keys,
                          const unsigned* values, unsigned* keys_out, unsigned* values_out,
                          std::int64_t n, int bit, cudaStream_t stream) {
  if (n < 0 || n > UINT32_MAX || bit < 0 || bit > 24) return cudaErrorInvalidValue;
  const std::int64_t tiles = (n + tile - 1) / tile;
  workspace::Parts parts(workspace);
  unsigned* const counts = parts.take<unsigned>(digits * tiles);
  unsigned* const sums = parts.take<unsigned>(scan::most_blocks);
  if (workspace == nullptr) {
    workspace_bytes = parts.bytes();
    return cudaSuccess;
  }
  if (workspace_bytes < parts.bytes()) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>(tiles);
  count_digits<<<blocks, block_size, 0, stream>>>(keys, counts, n, bit);
  if (cudaError_t error = scan::exclusive(counts, sums, digits * tiles, stream)) return error;
  move_pairs<<<blocks, block_size, 0, stream>>>(keys, values, keys_out, values_out, counts, n, bit);
  return cudaGetLastError();
}

}  // namespace exercise
