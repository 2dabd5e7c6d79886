// Idea: sort by the lowest bit, then by the next one: 32 stable passes. A pass counts the zeros and
//   ones of each tile, scans the counts, and moves each key behind the keys that come before it.
// Predicts: a pass reads the keys twice and writes them once, 12 bytes per key: 384 bytes in all.
//   At the rate of a copy, that is a few percent of what the least traffic of 8 bytes would take.
// Still wrong: 32 passes, where each moves all keys and decides one bit.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "scan.cuh"
#include "workspace.hpp"

namespace bit_by_bit {

constexpr int block_size = 256;
constexpr int warps = block_size / 32;
constexpr int rows = 8;                  // of 32 keys per warp
constexpr int tile = block_size * rows;  // keys
constexpr int bits = 1;                  // per pass
constexpr int digits = 1 << bits;
constexpr std::int64_t most_keys = UINT32_MAX;  // counters have 32 bits

/// Where this thread finds its key of row r. A warp has rows * 32 consecutive keys.
__device__ std::int64_t index_of(int r) {
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  return std::int64_t{blockIdx.x} * tile + (warp * rows + r) * 32 + lane;
}

/// counts[d * tiles + b] = how many keys of tile b have d in this bit. A block per tile.
__global__ void __launch_bounds__(block_size)
    count_digits(const unsigned* in, unsigned* counts, std::int64_t n, int bit) {
  __shared__ unsigned all[digits];
  if (threadIdx.x < digits) all[threadIdx.x] = 0;
  __syncthreads();
  unsigned ones = 0, keys = 0;  // of the warp
  for (int r = 0; r < rows; ++r) {
    const std::int64_t i = index_of(r);
    ones += __popc(__ballot_sync(0xffffffffu, i < n && (in[i] >> bit & 1) != 0));
    keys += __popc(__ballot_sync(0xffffffffu, i < n));
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&all[0], keys - ones);
    atomicAdd(&all[1], ones);
  }
  __syncthreads();
  if (threadIdx.x < digits) counts[threadIdx.x * gridDim.x + blockIdx.x] = all[threadIdx.x];
}

/// starts[d * tiles + b]: where the first key of tile b with this bit goes. A block per tile.
// snippet: move
__global__ void __launch_bounds__(block_size)
    move_keys(const unsigned* in, unsigned* out, const unsigned* starts, std::int64_t n, int bit) {
  __shared__ unsigned ones_of_warp[warps];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  unsigned key[rows], ones[rows];  // the ones of each row, as bits
  unsigned all = 0;
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const std::int64_t i = index_of(r);
    key[r] = i < n ? in[i] : ~0u;
    ones[r] = __ballot_sync(0xffffffffu, (key[r] >> bit & 1) != 0);
    all += __popc(ones[r]);
  }
  if (lane == 0) ones_of_warp[warp] = all;
  __syncthreads();
  unsigned ones_before = 0;  // in the tile, before this row
  for (unsigned w = 0; w < warp; ++w) ones_before += ones_of_warp[w];
  const unsigned first_zero = starts[blockIdx.x], first_one = starts[gridDim.x + blockIdx.x];
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const unsigned keys_before = (warp * rows + r) * 32 + lane;
    const unsigned before = ones_before + __popc(ones[r] & ((1u << lane) - 1));
    const bool is_one = (ones[r] >> lane & 1) != 0;
    const std::size_t to = is_one ? first_one + before : first_zero + keys_before - before;
    if (index_of(r) < n) out[to] = key[r];
    ones_before += __popc(ones[r]);
  }
}
// /snippet

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

}  // namespace bit_by_bit
