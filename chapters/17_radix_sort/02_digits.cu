// Idea: 4 bits per pass, so 8 passes. Each block sorts its tile by the digit in shared memory, with
//   01's split of one bit, four times. Then equal digits are together and go to consecutive places.
// Predicts: 96 bytes per key instead of 384. A split in shared memory costs far less than a pass.
// Still wrong: a tile is split four times per pass, which takes two barriers and two accesses of
//   shared memory each time; and there are 8 passes.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "scan.cuh"
#include "workspace.hpp"

namespace radix_digits {

constexpr int block_size = 256;
constexpr int warps = block_size / 32;
constexpr int rows = 8;                  // of 32 keys per warp
constexpr int tile = block_size * rows;  // keys
constexpr int bits = 4;                  // per pass
constexpr int digits = 1 << bits;
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
  if (threadIdx.x < digits) all[threadIdx.x] = 0;
  __syncthreads();
  for (int r = 0; r < rows; ++r) {
    const std::int64_t i = index_of(r);
    if (i < n) atomicAdd(&all[in[i] >> bit & (digits - 1)], 1u);
  }
  __syncthreads();
  if (threadIdx.x < digits) counts[threadIdx.x * gridDim.x + blockIdx.x] = all[threadIdx.x];
}

/// Moves the tile's keys with a 0 in this bit to its front and the others behind them, in the same
/// order. key[r] is the key of row r before and after. All threads must call.
// snippet: split
__device__ void split(unsigned (&key)[rows], unsigned* s_keys, int bit) {
  __shared__ unsigned ones_of_warp[warps];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  unsigned ones[rows];  // of each row, as bits
  unsigned all = 0;
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    ones[r] = __ballot_sync(0xffffffffu, (key[r] >> bit & 1) != 0);
    all += __popc(ones[r]);
  }
  if (lane == 0) ones_of_warp[warp] = all;
  __syncthreads();
  unsigned ones_before = 0, first_one = tile;  // in the tile
  for (unsigned w = 0; w < warps; ++w) {
    ones_before += w < warp ? ones_of_warp[w] : 0;
    first_one -= ones_of_warp[w];
  }
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const unsigned keys_before = (warp * rows + r) * 32 + lane;
    const unsigned before = ones_before + __popc(ones[r] & ((1u << lane) - 1));
    const bool is_one = (ones[r] >> lane & 1) != 0;
    s_keys[is_one ? first_one + before : keys_before - before] = key[r];
    ones_before += __popc(ones[r]);
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < rows; ++r) key[r] = s_keys[(warp * rows + r) * 32 + lane];
}
// /snippet

/// starts[d * tiles + b]: where the first key of tile b with digit d goes. A block per tile.
// snippet: move
__global__ void __launch_bounds__(block_size)
    move_keys(const unsigned* in, unsigned* out, const unsigned* starts, std::int64_t n, int bit) {
  __shared__ unsigned s_keys[tile], first_of[digits];  // where a digit begins in the sorted tile
  const std::int64_t begin = std::int64_t{blockIdx.x} * tile;
  const auto digit_of = [bit](unsigned key) { return key >> bit & (digits - 1); };
  unsigned key[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r) key[r] = index_of(r) < n ? in[index_of(r)] : ~0u;
  for (int b = 0; b < bits; ++b) split(key, s_keys, bit + b);
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const auto i = static_cast<unsigned>(index_of(r) - begin);
    const unsigned digit = digit_of(key[r]);
    if (i == 0 || digit_of(s_keys[i - 1]) != digit) first_of[digit] = i;
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const auto i = static_cast<unsigned>(index_of(r) - begin);
    const unsigned digit = digit_of(key[r]);
    const std::size_t to = starts[digit * gridDim.x + blockIdx.x] + i - first_of[digit];
    if (index_of(r) < n) out[to] = key[r];
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

}  // namespace radix_digits
