// Exercise 3, solved: each warp has counters of its own, and its lanes rank a row of 32 keys
// together: the keys of a digit keep the order of warps, rows and lanes.
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

/// How many keys with this digit the warp had before, in the rows before and at lower lanes of this
/// row. Counts this row. All 32 lanes must call.
__device__ unsigned rank_in_warp(unsigned* counts, unsigned digit) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned same = __match_any_sync(0xffffffffu, digit);
  const unsigned lower = __popc(same & ((1u << lane) - 1));
  const unsigned before = counts[digit];
  __syncwarp();  // all lanes have read before one of them writes
  if (lower == 0) counts[digit] = before + __popc(same);
  __syncwarp();
  return before + lower;
}

/// starts[d * tiles + b]: where the first key of tile b with digit d goes. A block per tile.
__global__ void __launch_bounds__(block_size)
    move_pairs(const unsigned* keys, const unsigned* values, unsigned* keys_out,
               unsigned* values_out, const unsigned* starts, std::int64_t n, int bit) {
  __shared__ unsigned counts[warps][digits];  // of each warp, later where its first key goes
  const unsigned warp = threadIdx.x / 32;
  for (unsigned w = 0; w < warps; ++w) counts[w][threadIdx.x] = 0;
  __syncthreads();
  unsigned digit[rows], rank[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r) {  // past the end: the last digit, after all keys that have it
    digit[r] = index_of(r) < n ? keys[index_of(r)] >> bit & (digits - 1) : digits - 1;
    rank[r] = rank_in_warp(counts[warp], digit[r]);
  }
  __syncthreads();
  unsigned start = starts[threadIdx.x * gridDim.x + blockIdx.x];  // a thread per digit
  for (unsigned w = 0; w < warps; ++w) {
    const unsigned count = counts[w][threadIdx.x];
    counts[w][threadIdx.x] = start;
    start += count;
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const std::int64_t i = index_of(r);
    if (i >= n) continue;
    const std::size_t to = counts[warp][digit[r]] + rank[r];
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
