// Idea: neighbouring lanes take neighbouring rows, so they write neighbouring floats.
// Predicts: 32 sectors a load, 4 a store. A load's sector stays in the cache for the warp that
//   wants the next column; a lane waits for its load, and for its store nobody waits. Better or
//   worse than 03? Guess before you look.
// Still wrong: one side or the other. Next: 05 turns the tile where it costs less.
#include <cuda_runtime.h>

#include <cstdint>

namespace coalesced_writes {

constexpr int tile = 32;  // a block moves tile x tile elements, one per thread

/// out = in transposed. in: rows x cols, out: cols x rows, both row by row.
__global__ void transpose_elements(const float* in, float* out, std::int64_t rows,
                                   std::int64_t cols) {
  const std::int64_t tiles_across = (cols + tile - 1) / tile;
  const std::int64_t r = blockIdx.x / tiles_across * tile + threadIdx.x;
  const std::int64_t c = blockIdx.x % tiles_across * tile + threadIdx.y;
  if (r < rows && c < cols) out[c * rows + r] = in[r * cols + c];
}

/// How many tiles a matrix has; -1 for a negative size, and if a grid cannot have as many blocks.
std::int64_t tiles_of(std::int64_t rows, std::int64_t cols) {
  if (rows < 0 || cols < 0) return -1;
  const std::int64_t down = (rows + tile - 1) / tile, across = (cols + tile - 1) / tile;
  return down > 0 && across > INT32_MAX / down ? -1 : down * across;
}

/// Transposes rows x cols floats. Device pointers; in and out may not overlap. \returns
/// cudaErrorInvalidValue for a negative size or more tiles than a grid has blocks, or the error of
/// the launch.
cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  const std::int64_t tiles = tiles_of(rows, cols);
  if (tiles < 0) return cudaErrorInvalidValue;
  if (tiles == 0) return cudaSuccess;
  transpose_elements<<<static_cast<unsigned>(tiles), dim3(tile, tile), 0, stream>>>(in, out, rows,
                                                                                    cols);
  return cudaGetLastError();
}

}  // namespace coalesced_writes
