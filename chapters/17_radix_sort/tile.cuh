#pragma once
/// \file
/// A tile of keys that a block of version 80 sorts by one digit, and what the tiles tell each
/// other.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cuda/atomic>

#include "votes.cuh"

namespace radix_limit {

constexpr int bits = 8;  // per pass
constexpr int digits = 1 << bits;
constexpr int ahead = 4;  // words that the look-back reads at a time

/// What a tile tells of a digit, in one word: a count, and in its upper two bits of what.
using Word = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
enum Mark : unsigned { nothing, of_tile, of_all };  // of one tile, or of all up to its end
constexpr unsigned in_word = (1u << 30) - 1;

/// A digit of keys: the bits from `first` on that the mask has.
struct Digit {
  int first;
  unsigned mask;

  template <class U>
  __device__ unsigned operator()(U key) const {
    return static_cast<unsigned>(key >> first) & mask;
  }
};

/// The digit of pass p of bits first to last - 1.
__host__ __device__ inline Digit digit_of_pass(int p, int first, int last) {
  const int begin = first + p * bits, width = last - begin < bits ? last - begin : bits;
  return {begin, (1u << width) - 1};
}

/// How many keys earlier tiles of this launch have of this thread's digit. Four words are read at a
/// time. `word`: of this tile and digit.
// snippet: look_back
__device__ inline unsigned look_back(unsigned* word, unsigned tile_number) {
  unsigned before = 0;
  for (unsigned left = tile_number; left > 0;) {  // tiles that are not counted yet
    unsigned seen[ahead];
#pragma unroll
    for (unsigned k = 0; k < ahead; ++k) {
      unsigned* const earlier = word - std::size_t{tile_number - left + k + 1} * digits;
      seen[k] = k < left ? Word(*earlier).load(cuda::memory_order_relaxed) : of_all << 30;
    }
#pragma unroll
    for (unsigned k = 0; k < ahead; ++k) {
      unsigned* const earlier = word - std::size_t{tile_number - left + 1} * digits;
      while (seen[k] >> 30 == nothing) {
        seen[k] = Word(*earlier).load(cuda::memory_order_relaxed);
      }
      before += seen[k] & in_word;
      if (seen[k] >> 30 == of_all) return before;
      --left;
    }
  }
  return before;
}
// /snippet

/// Keys of one tile in registers, in the order of warps, rows and lanes. All threads must call its
/// functions.
template <class U, int threads, int rows>
struct Tile {
  static constexpr int size = threads * rows;
  static constexpr unsigned warps = threads / 32;
  static_assert(threads >= digits, "a thread per digit");
  U key[rows];

  /// Where this thread finds its key of row 0 in the tile; row r is r * 32 further on.
  __device__ static unsigned first_index() {
    return threadIdx.x / 32 * (rows * 32) + threadIdx.x % 32;
  }

  /// counts[w][d] = how many keys of warp w have digit d. \returns those of the digit of this
  /// thread, of all warps; 0 for threads without a digit.
  __device__ unsigned count(unsigned (&counts)[warps][digits], Digit digit) const {
    unsigned* const all = &counts[0][0];
    for (unsigned k = threadIdx.x; k < warps * digits; k += threads) all[k] = 0;
    __syncthreads();
#pragma unroll
    for (int r = 0; r < rows; ++r) atomicAdd(&counts[threadIdx.x / 32][digit(key[r])], 1u);
    __syncthreads();
    unsigned sum = 0;
    for (unsigned w = 0; w < warps && threadIdx.x < digits; ++w) sum += counts[w][threadIdx.x];
    return sum;
  }

  /// Counts become places: where in the sorted tile the first key of warp w with digit d goes.
  /// `place`: of the first key with this thread's digit.
  __device__ static void make_places(unsigned (&counts)[warps][digits], unsigned place) {
    for (unsigned w = 0; w < warps && threadIdx.x < digits; ++w) {
      const unsigned of_warp = counts[w][threadIdx.x];
      counts[w][threadIdx.x] = place;
      place += of_warp;
    }
    __syncthreads();
  }

  /// Moves each key to its place, stably: `store(r, place)`.
  // snippet: place
  template <class Store>
  __device__ void place_keys(unsigned (&places)[warps][digits], Digit digit, Store store) const {
    unsigned* const mine = places[threadIdx.x / 32];
    const unsigned lower_lanes = (1u << threadIdx.x % 32) - 1;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const unsigned d = digit(key[r]), same = votes::lanes_with<bits>(d);
      const unsigned lower = __popc(same & lower_lanes), first = mine[d];
      __syncwarp();
      if (lower == 0) mine[d] = first + __popc(same);
      __syncwarp();
      store(r, first + lower);
    }
  }
  // /snippet
};

}  // namespace radix_limit
