// Exercise 6, solved: two votes per row. Keys that equal the pivot are only counted, by nobody:
// they are what is left between the two sides. A second kernel writes the pivot there, and reads
// none of the keys again.
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

constexpr int block_size = 256;
constexpr int warps = block_size / 32;
constexpr int rows = 8;                  // of 32 keys that a warp parts, one after the other
constexpr int tile = block_size * rows;  // keys

/// Parts the keys of a tile into the places that it reserves: smaller ones than the pivot from the
/// front of out, larger ones from its end. counts[0], counts[1]: how many of both are reserved; 0
/// before the launch. Launch: a block of block_size threads for each tile.
__global__ void part_tiles(const unsigned* in, unsigned* out, unsigned* counts, int n,
                           unsigned pivot) {
  __shared__ int lefts[warps], rights[warps];
  __shared__ int first_left, end_right;  // the block's places: from here on, and up to here
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const unsigned lanes_before = (1u << lane) - 1;
  const int start = static_cast<int>(blockIdx.x) * tile;
  const int here = min(n - start, tile);
  const int begin = warp * rows * 32;  // of this warp's keys
  unsigned x[rows], goes_left[rows], goes_right[rows];
  int my_lefts = 0, my_rights = 0;
  for (int r = 0; r < rows; ++r) {
    const int i = begin + r * 32 + lane;
    x[r] = i < here ? in[start + i] : pivot;  // which goes nowhere
    goes_left[r] = __ballot_sync(0xffffffffu, x[r] < pivot);
    goes_right[r] = __ballot_sync(0xffffffffu, x[r] > pivot);
    my_lefts += __popc(goes_left[r]);
    my_rights += __popc(goes_right[r]);
  }
  if (lane == 0) lefts[warp] = my_lefts, rights[warp] = my_rights;
  __syncthreads();
  int lefts_before = 0, rights_before = 0, all_lefts = 0, all_rights = 0;
  for (int w = 0; w < warps; ++w) {
    if (w < warp) lefts_before += lefts[w], rights_before += rights[w];
    all_lefts += lefts[w], all_rights += rights[w];
  }
  if (threadIdx.x == 0) {
    first_left = static_cast<int>(atomicAdd(&counts[0], static_cast<unsigned>(all_lefts)));
    end_right = n - static_cast<int>(atomicAdd(&counts[1], static_cast<unsigned>(all_rights)));
  }
  __syncthreads();
  int to_left = first_left + lefts_before;
  int to_right = end_right - 1 - rights_before;  // downwards
  for (int r = 0; r < rows; ++r) {
    if (x[r] < pivot) out[to_left + __popc(goes_left[r] & lanes_before)] = x[r];
    if (x[r] > pivot) out[to_right - __popc(goes_right[r] & lanes_before)] = x[r];
    to_left += __popc(goes_left[r]);
    to_right -= __popc(goes_right[r]);
  }
}

/// Writes the pivot between the two sides. Launch: a block of block_size threads for each tile.
__global__ void fill_middle(unsigned* out, const unsigned* counts, int n, unsigned pivot) {
  const int start = static_cast<int>(blockIdx.x) * tile;
  const int first = static_cast<int>(counts[0]), end = n - static_cast<int>(counts[1]);
  for (int i = start + static_cast<int>(threadIdx.x); i < start + tile; i += block_size) {
    if (i >= first && i < end) out[i] = pivot;
  }
}

/// out = the keys of in: first those below the pivot, then those that equal it, then those above,
/// in any order among each other. counts[0] = how many are below it, counts[1] = how many above. n
/// below 2^31 - tile.
cudaError_t partition(const unsigned* in, unsigned* out, unsigned* counts, std::int64_t n,
                      unsigned pivot, cudaStream_t stream) {
  if (n < 0 || n >= (std::int64_t{1} << 31) - tile) return cudaErrorInvalidValue;
  if (cudaError_t error = cudaMemsetAsync(counts, 0, 2 * sizeof(unsigned), stream)) return error;
  if (n == 0) return cudaSuccess;
  const auto tiles = static_cast<unsigned>((n + tile - 1) / tile);
  part_tiles<<<tiles, block_size, 0, stream>>>(in, out, counts, static_cast<int>(n), pivot);
  if (cudaError_t error = cudaGetLastError()) return error;
  fill_middle<<<tiles, block_size, 0, stream>>>(out, counts, static_cast<int>(n), pivot);
  return cudaGetLastError();
}

}  // namespace exercise
