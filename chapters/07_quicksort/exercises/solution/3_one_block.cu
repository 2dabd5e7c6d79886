// Exercise 3, solved. Lanes behind the last key do not vote, and a second barrier keeps the warps
// that are done with a tile from counting the next one while others still read.
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

constexpr int block_size = 256;
constexpr int warps = block_size / 32;
constexpr int rows = 8;                  // of 32 keys that a warp parts, one after the other
constexpr int tile = block_size * rows;  // keys

/// out = the keys of in: first those below the pivot, then the others. counts[0] = how many are
/// below it, counts[1] = how many are not. Launch: one block of block_size threads.
__global__ void part_keys(const unsigned* in, unsigned* out, unsigned* counts, int n,
                          unsigned pivot) {
  __shared__ int lefts[warps];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const unsigned lanes_before = (1u << lane) - 1;
  int left = 0, right = n;  // the free places are between them
  for (int start = 0; start < n; start += tile) {
    const int here = min(n - start, tile);
    const int begin = warp * rows * 32;  // of this warp's keys
    unsigned x[rows], goes_left[rows];
    int mine = 0;
    for (int r = 0; r < rows; ++r) {
      const int i = begin + r * 32 + lane;
      x[r] = i < here ? in[start + i] : 0;
      goes_left[r] = __ballot_sync(0xffffffffu, i < here && x[r] < pivot);
      mine += __popc(goes_left[r]);
    }
    if (lane == 0) lefts[warp] = mine;
    __syncthreads();
    int before = 0, all = 0;  // how many go left: of the warps before, of all
    for (int w = 0; w < warps; ++w) {
      if (w < warp) before += lefts[w];
      all += lefts[w];
    }
    int to_left = left + before;
    int to_right = right - 1 - (begin - before);  // downwards
    for (int r = 0; r < rows; ++r) {
      const int i = begin + r * 32 + lane;
      const int lefts_before = __popc(goes_left[r] & lanes_before);
      const bool is_left = (goes_left[r] >> lane & 1) != 0;
      if (i < here) out[is_left ? to_left + lefts_before : to_right - (lane - lefts_before)] = x[r];
      to_left += __popc(goes_left[r]);
      to_right -= 32 - __popc(goes_left[r]);
    }
    left += all;
    right -= here - all;
    __syncthreads();  // lefts is written again
  }
  if (threadIdx.x == 0) counts[0] = left, counts[1] = n - left;
}

/// Parts n keys, n below 2^31, with one block.
cudaError_t partition(const unsigned* in, unsigned* out, unsigned* counts, std::int64_t n,
                      unsigned pivot, cudaStream_t stream) {
  if (n < 0 || n >= std::int64_t{1} << 31) return cudaErrorInvalidValue;
  part_keys<<<1, block_size, 0, stream>>>(in, out, counts, static_cast<int>(n), pivot);
  return cudaGetLastError();
}

}  // namespace exercise
