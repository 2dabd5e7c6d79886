// Exercise 6: beat a row. Two ways are here; make three of them, with as many bytes.
//   ./chapters/run 07 --exercise 6          passes when it is right and fast; --hint helps
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

constexpr int block_size = 256;
constexpr int warps = block_size / 32;
constexpr int rows = 8;                  // of 32 keys that a warp parts, one after the other
constexpr int tile = block_size * rows;  // keys

/// Parts the keys of a tile into the places that it reserves: those below the pivot from the front
/// of out, the others from its end. counts[0], counts[1]: how many of both are reserved; 0 before
/// the launch. Launch: a block of block_size threads for each tile.
__global__ void part_tiles(const unsigned* in, unsigned* out, unsigned* counts, int n,
                           unsigned pivot) {
  __shared__ int lefts[warps];
  __shared__ int first_left, end_right;  // the block's places: from here on, and up to here
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const unsigned lanes_before = (1u << lane) - 1;
  const int start = static_cast<int>(blockIdx.x) * tile;
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
  if (threadIdx.x == 0) {
    first_left = static_cast<int>(atomicAdd(&counts[0], static_cast<unsigned>(all)));
    end_right = n - static_cast<int>(atomicAdd(&counts[1], static_cast<unsigned>(here - all)));
  }
  __syncthreads();
  int to_left = first_left + before;
  int to_right = end_right - 1 - (begin - before);  // downwards
  for (int r = 0; r < rows; ++r) {
    const int i = begin + r * 32 + lane;
    const int lefts_before = __popc(goes_left[r] & lanes_before);
    const bool is_left = (goes_left[r] >> lane & 1) != 0;
    if (i < here) out[is_left ? to_left + lefts_before : to_right - (lane - lefts_before)] = x[r];
    to_left += __popc(goes_left[r]);
    to_right -= 32 - __popc(goes_left[r]);
  }
}

/// CHANGE ME. out = the keys of in: first those below the pivot, then those that equal it, then
/// those above, in any order among each other. counts[0] = how many are below it, counts[1] = how
/// many above. n below 2^31 - tile.
cudaError_t partition(const unsigned* in, unsigned* out, unsigned* counts, std::int64_t n,
                      unsigned pivot, cudaStream_t stream) {
  if (n < 0 || n >= (std::int64_t{1} << 31) - tile) return cudaErrorInvalidValue;
  if (cudaError_t error = cudaMemsetAsync(counts, 0, 2 * sizeof(unsigned), stream)) return error;
  if (n == 0) return cudaSuccess;
  const auto tiles = static_cast<unsigned>((n + tile - 1) / tile);
  part_tiles<<<tiles, block_size, 0, stream>>>(in, out, counts, static_cast<int>(n), pivot);
  return cudaGetLastError();
}

}  // namespace exercise
