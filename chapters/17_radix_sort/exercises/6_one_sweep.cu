// Exercise 6: version 04. It is right, but each pass reads the keys twice, and takes four launches.
// Sort by one launch per pass: a tile finds out by looking back what the tiles before it have.
// ./chapters/run 17 --exercise 6          builds and checks it; --hint helps
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cuda/atomic>

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
constexpr std::int64_t most_keys = (1u << 30) - 1;  // two bits of a word are free

/// Where this thread finds its key of row r. A warp has rows * 32 consecutive keys.
__device__ std::int64_t index_of(int r) {
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  return std::int64_t{blockIdx.x} * tile + (warp * rows + r) * 32 + lane;
}

// CHANGE: one launch for all passes, which reads a key once: how many of all keys have digit d in
// pass p. A scan of 256 of these counts gives where the first key with a digit goes.
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

// FILL IN: look back. How many keys of this thread's digit do the tiles before have? There is a
// word per tile and digit: a count, and in its upper two bits a mark that says what it counts.

// CHANGE: a ticket says which tile a block takes, in place of blockIdx.x
/// starts[d * tiles + b]: where the first key of tile b with digit d goes. A block per tile.
__global__ void __launch_bounds__(block_size)
    move_keys(const unsigned* in, unsigned* out, const unsigned* starts, std::int64_t n, int bit) {
  __shared__ unsigned counts[warps][digits];  // of each warp, later its first place in s_keys
  __shared__ unsigned s_keys[tile], s_sums[warps], shift[digits];  // from a place in s_keys to out
  const unsigned warp = threadIdx.x / 32;
  for (unsigned w = 0; w < warps; ++w) counts[w][threadIdx.x] = 0;
  unsigned key[rows], rank[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r) key[r] = index_of(r) < n ? in[index_of(r)] : ~0u;
  __syncthreads();
#pragma unroll
  for (int r = 0; r < rows; ++r) rank[r] = ranks::next(counts[warp], key[r] >> bit & (digits - 1));
  __syncthreads();
  unsigned count = 0, all;  // a thread per digit
  for (unsigned w = 0; w < warps; ++w) count += counts[w][threadIdx.x];
  unsigned place = scan::block_scan<block_size>(count, s_sums, &all);
  // CHANGE: where the first key of the digit goes, and how many the tiles before have of it
  shift[threadIdx.x] = starts[threadIdx.x * gridDim.x + blockIdx.x] - place;
  for (unsigned w = 0; w < warps; ++w) {
    const unsigned of_warp = counts[w][threadIdx.x];
    counts[w][threadIdx.x] = place;
    place += of_warp;
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    s_keys[counts[warp][key[r] >> bit & (digits - 1)] + rank[r]] = key[r];
  }
  __syncthreads();
  const std::int64_t begin = std::int64_t{blockIdx.x} * tile;
  for (unsigned i = threadIdx.x; i < tile && begin + i < n; i += block_size) {
    const unsigned moved = s_keys[i];
    out[shift[moved >> bit & (digits - 1)] + i] = moved;  // modulo 2^32
  }
}

/// out = the n keys of in, in ascending order. Device pointers; in is not changed and is not out.
/// Stable. With workspace == nullptr: only writes the bytes of scratch memory that it needs.
/// \returns cudaErrorInvalidValue for n < 0 or above 2^30 - 1, a misaligned pointer or too little
/// scratch memory, or the error of a launch.
cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const unsigned* in, unsigned* out,
                 std::int64_t n, cudaStream_t stream) {
  if (n < 0 || n > most_keys) return cudaErrorInvalidValue;
  const std::int64_t tiles = (n + tile - 1) / tile;
  workspace::Parts parts(workspace);
  unsigned* const spare = parts.take<unsigned>(n);
  unsigned* const counts =
      parts.take<unsigned>(digits * tiles);  // CHANGE, and zero: words, tickets
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
  unsigned* to = spare;                       // after an even number of passes, the keys are in out
  for (int bit = 0; bit < 32; bit += bits) {  // CHANGE: one launch per pass
    count_digits<<<blocks, block_size, 0, stream>>>(from, counts, n, bit);
    if (cudaError_t error = scan::exclusive(counts, sums, digits * tiles, stream)) return error;
    move_keys<<<blocks, block_size, 0, stream>>>(from, to, counts, n, bit);
    from = to;
    to = to == spare ? out : spare;
  }
  return cudaGetLastError();
}

}  // namespace exercise
