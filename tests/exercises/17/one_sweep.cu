// Answers to exercise 6 of chapter 17, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cuda/atomic>

#include "block_scan.cuh"
#include "ranks.cuh"
#include "workspace.hpp"

namespace mark_and_count_in_two_words {
// 6: NOT YET:
constexpr int block_size = 256;
constexpr int warps = block_size / 32;
constexpr int rows = 16;                 // of 32 keys per warp
constexpr int tile = block_size * rows;  // keys
constexpr int bits = 8;                  // per pass
constexpr int digits = 1 << bits;
static_assert(digits == block_size, "a thread per digit");
constexpr int passes = 32 / bits;
constexpr unsigned most_counting = 1024;  // blocks: each adds all its counts to global ones
constexpr std::int64_t most_keys = (1u << 30) - 1;  // two bits of a word are its mark

/// The word of a tile and a digit: a count, and in its upper two bits a mark that says what it
/// counts.
using Word = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
enum Mark : unsigned { nothing, of_tile, of_all };  // of one tile, or of all up to its end

/// counts[p * digits + d] = how many keys have digit d in pass p. The counts are zero at first.
__global__ void __launch_bounds__(block_size)
    count_digits(const unsigned* in, unsigned* counts, std::int64_t n) {
  __shared__ unsigned all[passes][digits];
  for (int p = 0; p < passes; ++p) all[p][threadIdx.x] = 0;
  __syncthreads();
  const std::int64_t step = std::int64_t{gridDim.x} * block_size;
  for (std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x; i < n; i += step) {
    const unsigned key = in[i];
    for (int p = 0; p < passes; ++p) atomicAdd(&all[p][key >> p * bits & (digits - 1)], 1u);
  }
  __syncthreads();
  for (int p = 0; p < passes; ++p) {
    if (all[p][threadIdx.x] != 0) atomicAdd(&counts[p * digits + threadIdx.x], all[p][threadIdx.x]);
  }
}

/// counts becomes starts: of each digit in each pass, where its first key goes. A block per pass.
__global__ void __launch_bounds__(block_size) scan_counts(unsigned* counts) {
  __shared__ unsigned s_sums[warps];
  unsigned* const mine = counts + blockIdx.x * digits + threadIdx.x;
  unsigned all;
  *mine = scan::block_scan<block_size>(*mine, s_sums, &all);
}

/// How many keys the tiles before `tile_number` have of this thread's digit, of which the tile
/// itself has `count`. Publishes both sums.
__device__ unsigned look_back(unsigned* words, unsigned tile_number, unsigned count) {
  unsigned* const marks = words;
  unsigned* const sums = words + std::size_t{gridDim.x} * digits;
  const std::size_t mine = std::size_t{tile_number} * digits + threadIdx.x;
  sums[2 * mine] = count;
  Word(marks[mine]).store(tile_number == 0 ? of_all : of_tile, cuda::memory_order_relaxed);
  if (tile_number == 0) return 0;
  unsigned before = 0, mark;
  std::size_t earlier = mine;
  do {
    earlier -= digits;
    do {
      mark = Word(marks[earlier]).load(cuda::memory_order_relaxed);
    } while (mark == nothing);
    const unsigned which = mark == of_all && earlier >= digits ? 1 : 0;
    before += sums[2 * earlier + which];
  } while (mark != of_all);
  sums[2 * mine + 1] = before + count;
  Word(marks[mine]).store(of_all, cuda::memory_order_relaxed);
  return before;
}

/// starts[d]: where the first key with digit d goes. `next`: the number of the next tile; blocks
/// take them as they start, so that no block waits for one that has not started. words: one per
/// tile and digit. `next` and the words are zero at first.
__global__ void __launch_bounds__(block_size)
    move_keys(const unsigned* in, unsigned* out, const unsigned* starts, unsigned* next,
              unsigned* words, std::int64_t n, int bit) {
  __shared__ unsigned counts[warps][digits];  // of each warp, later its first place in s_keys
  __shared__ unsigned s_keys[tile], s_sums[warps], shift[digits];  // from a place in s_keys to out
  __shared__ unsigned number_of_block;
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (unsigned w = 0; w < warps; ++w) counts[w][threadIdx.x] = 0;
  if (threadIdx.x == 0) number_of_block = atomicAdd(next, 1u);
  __syncthreads();
  const unsigned tile_number = number_of_block;
  const std::int64_t begin = std::int64_t{tile_number} * tile;
  const std::int64_t first = begin + warp * (rows * 32) + lane;
  unsigned key[rows], rank[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r) key[r] = first + r * 32 < n ? in[first + r * 32] : ~0u;
#pragma unroll
  for (int r = 0; r < rows; ++r) rank[r] = ranks::next(counts[warp], key[r] >> bit & (digits - 1));
  __syncthreads();
  unsigned count = 0, all;  // a thread per digit
  for (unsigned w = 0; w < warps; ++w) count += counts[w][threadIdx.x];
  unsigned place = scan::block_scan<block_size>(count, s_sums, &all);
  const unsigned before = look_back(words, tile_number, count);
  shift[threadIdx.x] = starts[threadIdx.x] + before - place;
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
  unsigned* const zeroed = parts.take<unsigned>(passes * (digits + 1 + 3 * digits * tiles));
  if (workspace == nullptr) {
    workspace_bytes = parts.bytes();
    return cudaSuccess;
  }
  if (workspace_bytes < parts.bytes()) return cudaErrorInvalidValue;
  if (workspace::misaligned(in, out, spare)) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  unsigned *const counts = zeroed, *const next = counts + passes * digits;
  unsigned* const words = next + passes;
  const std::size_t bytes =
      static_cast<std::size_t>(passes * (digits + 1 + 3 * digits * tiles)) * 4;
  if (cudaError_t error = cudaMemsetAsync(zeroed, 0, bytes, stream)) return error;
  const auto blocks = static_cast<unsigned>(tiles);
  count_digits<<<std::min(blocks, most_counting), block_size, 0, stream>>>(in, counts, n);
  scan_counts<<<passes, block_size, 0, stream>>>(counts);
  const unsigned* from = in;
  unsigned* to = spare;  // after an even number of passes, the keys are in out
  for (int p = 0; p < passes; ++p) {
    move_keys<<<blocks, block_size, 0, stream>>>(from, to, counts + p * digits, next + p,
                                                 words + p * 3 * digits * tiles, n, p * bits);
    from = to;
    to = to == spare ? out : spare;
  }
  return cudaGetLastError();
}

}  // namespace mark_and_count_in_two_words

namespace mark_released_after_the_count {
// 6: PASSED
constexpr int block_size = 256;
constexpr int warps = block_size / 32;
constexpr int rows = 16;                 // of 32 keys per warp
constexpr int tile = block_size * rows;  // keys
constexpr int bits = 8;                  // per pass
constexpr int digits = 1 << bits;
static_assert(digits == block_size, "a thread per digit");
constexpr int passes = 32 / bits;
constexpr unsigned most_counting = 1024;  // blocks: each adds all its counts to global ones
constexpr std::int64_t most_keys = (1u << 30) - 1;  // two bits of a word are its mark

/// The word of a tile and a digit: a count, and in its upper two bits a mark that says what it
/// counts.
using Word = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
enum Mark : unsigned { nothing, of_tile, of_all };  // of one tile, or of all up to its end

/// counts[p * digits + d] = how many keys have digit d in pass p. The counts are zero at first.
__global__ void __launch_bounds__(block_size)
    count_digits(const unsigned* in, unsigned* counts, std::int64_t n) {
  __shared__ unsigned all[passes][digits];
  for (int p = 0; p < passes; ++p) all[p][threadIdx.x] = 0;
  __syncthreads();
  const std::int64_t step = std::int64_t{gridDim.x} * block_size;
  for (std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x; i < n; i += step) {
    const unsigned key = in[i];
    for (int p = 0; p < passes; ++p) atomicAdd(&all[p][key >> p * bits & (digits - 1)], 1u);
  }
  __syncthreads();
  for (int p = 0; p < passes; ++p) {
    if (all[p][threadIdx.x] != 0) atomicAdd(&counts[p * digits + threadIdx.x], all[p][threadIdx.x]);
  }
}

/// counts becomes starts: of each digit in each pass, where its first key goes. A block per pass.
__global__ void __launch_bounds__(block_size) scan_counts(unsigned* counts) {
  __shared__ unsigned s_sums[warps];
  unsigned* const mine = counts + blockIdx.x * digits + threadIdx.x;
  unsigned all;
  *mine = scan::block_scan<block_size>(*mine, s_sums, &all);
}

/// How many keys the tiles before `tile_number` have of this thread's digit, of which the tile
/// itself has `count`. Publishes both sums.
__device__ unsigned look_back(unsigned* words, unsigned tile_number, unsigned count) {
  unsigned* const marks = words;
  unsigned* const sums = words + std::size_t{gridDim.x} * digits;
  const std::size_t mine = std::size_t{tile_number} * digits + threadIdx.x;
  sums[2 * mine] = count;
  Word(marks[mine]).store(tile_number == 0 ? of_all : of_tile, cuda::memory_order_release);
  if (tile_number == 0) return 0;
  unsigned before = 0, mark;
  std::size_t earlier = mine;
  do {
    earlier -= digits;
    do {
      mark = Word(marks[earlier]).load(cuda::memory_order_acquire);
    } while (mark == nothing);
    const unsigned which = mark == of_all && earlier >= digits ? 1 : 0;
    before += sums[2 * earlier + which];
  } while (mark != of_all);
  sums[2 * mine + 1] = before + count;
  Word(marks[mine]).store(of_all, cuda::memory_order_release);
  return before;
}

/// starts[d]: where the first key with digit d goes. `next`: the number of the next tile; blocks
/// take them as they start, so that no block waits for one that has not started. words: one per
/// tile and digit. `next` and the words are zero at first.
__global__ void __launch_bounds__(block_size)
    move_keys(const unsigned* in, unsigned* out, const unsigned* starts, unsigned* next,
              unsigned* words, std::int64_t n, int bit) {
  __shared__ unsigned counts[warps][digits];  // of each warp, later its first place in s_keys
  __shared__ unsigned s_keys[tile], s_sums[warps], shift[digits];  // from a place in s_keys to out
  __shared__ unsigned number_of_block;
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (unsigned w = 0; w < warps; ++w) counts[w][threadIdx.x] = 0;
  if (threadIdx.x == 0) number_of_block = atomicAdd(next, 1u);
  __syncthreads();
  const unsigned tile_number = number_of_block;
  const std::int64_t begin = std::int64_t{tile_number} * tile;
  const std::int64_t first = begin + warp * (rows * 32) + lane;
  unsigned key[rows], rank[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r) key[r] = first + r * 32 < n ? in[first + r * 32] : ~0u;
#pragma unroll
  for (int r = 0; r < rows; ++r) rank[r] = ranks::next(counts[warp], key[r] >> bit & (digits - 1));
  __syncthreads();
  unsigned count = 0, all;  // a thread per digit
  for (unsigned w = 0; w < warps; ++w) count += counts[w][threadIdx.x];
  unsigned place = scan::block_scan<block_size>(count, s_sums, &all);
  const unsigned before = look_back(words, tile_number, count);
  shift[threadIdx.x] = starts[threadIdx.x] + before - place;
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
  unsigned* const zeroed = parts.take<unsigned>(passes * (digits + 1 + 3 * digits * tiles));
  if (workspace == nullptr) {
    workspace_bytes = parts.bytes();
    return cudaSuccess;
  }
  if (workspace_bytes < parts.bytes()) return cudaErrorInvalidValue;
  if (workspace::misaligned(in, out, spare)) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  unsigned *const counts = zeroed, *const next = counts + passes * digits;
  unsigned* const words = next + passes;
  const std::size_t bytes =
      static_cast<std::size_t>(passes * (digits + 1 + 3 * digits * tiles)) * 4;
  if (cudaError_t error = cudaMemsetAsync(zeroed, 0, bytes, stream)) return error;
  const auto blocks = static_cast<unsigned>(tiles);
  count_digits<<<std::min(blocks, most_counting), block_size, 0, stream>>>(in, counts, n);
  scan_counts<<<passes, block_size, 0, stream>>>(counts);
  const unsigned* from = in;
  unsigned* to = spare;  // after an even number of passes, the keys are in out
  for (int p = 0; p < passes; ++p) {
    move_keys<<<blocks, block_size, 0, stream>>>(from, to, counts + p * digits, next + p,
                                                 words + p * 3 * digits * tiles, n, p * bits);
    from = to;
    to = to == spare ? out : spare;
  }
  return cudaGetLastError();
}

}  // namespace mark_released_after_the_count
