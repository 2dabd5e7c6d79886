// Idea: 10 for floats, with stores of whole sectors where the rows of out begin anywhere. Each row
//   of a tile is moved back to the sector in which its first element lies, so a block loads seven
//   rows more than it stores. Matrices of few rows or columns get tiles of all of them, which are
//   one piece of out or of in.
// Predicts: a sector that two blocks store a part of is merged in the L2 cache, if it is still
//   there when the second comes. Without such sectors: 10's rate for aligned rows, less what the
//   seven rows cost: they come from the L2 cache.
// Still wrong: single elements, four times as many loads and stores as 09.
#include <cuda_runtime.h>

#include <cstdint>

// Calls 10_any.cu
namespace any_matrix {
cudaError_t transpose(const float* in, std::int64_t in_pitch, float* out, std::int64_t out_pitch,
                      std::int64_t rows, std::int64_t cols, cudaStream_t stream);
}

namespace whole_sectors {

constexpr int block_size = 256;
constexpr int sector = 32 / sizeof(float);  // elements
constexpr int more = sector - 1;            // rows that are loaded twice
constexpr int side = 64;                    // of a tile
constexpr int room = side * (side + more);  // elements in shared memory
constexpr int at_once = 9;                  // elements that a thread loads, then puts away

/// What thread t takes of a tile whose rows have `width` elements: row and place in it, every
/// block_size elements. (A division per element would take longer.)
struct Walk {
  int width, row, place, rows, places;
  __device__ Walk(int width)
      : width(width),
        row(static_cast<int>(threadIdx.x) / width),
        place(static_cast<int>(threadIdx.x) % width),
        rows(block_size / width),
        places(block_size % width) {}
  __device__ void step() {
    row += rows;
    place += places;
    if (place >= width) place -= width, ++row;
  }
};

/// out = in transposed, a tile of down x across per block: known to the compiler as `known` x
/// `known` unless that is 0. down is a multiple of a sector, so that all tiles of a row of out move
/// back by the same: where one ends the next begins. in: rows x cols, out: cols x rows.
template <int known>
__global__ void __launch_bounds__(block_size)
    transpose_tiles(const float* in, float* out, std::int64_t rows, std::int64_t cols, int any_down,
                    int any_across) {
  __shared__ float s[room];  // s[column][row]
  const int down = known != 0 ? known : any_down, across = known != 0 ? known : any_across;
  const int pitch = down + more;
  const std::int64_t tiles_down = (rows + more + down - 1) / down;
  const std::int64_t row = blockIdx.x % tiles_down * down - more;  // the first that is loaded
  const std::int64_t col = blockIdx.x / tiles_down * across;
  Walk load(across);
  for (int done = 0; done < pitch * across; done += at_once * block_size) {
    float v[at_once];
    Walk put = load;
#pragma unroll
    for (int k = 0; k < at_once; ++k, load.step()) {
      const std::int64_t r = row + load.row, c = col + load.place;
      v[k] = load.row < pitch && 0 <= r && r < rows && c < cols ? in[r * cols + c] : 0;
    }
#pragma unroll
    for (int k = 0; k < at_once; ++k, put.step()) {
      if (put.row < pitch) s[put.place * pitch + put.row] = v[k];
    }
  }
  __syncthreads();
  for (Walk store(down); store.row < across && col + store.row < cols; store.step()) {
    float* const to = out + (col + store.row) * rows + row;
    const std::uintptr_t place = reinterpret_cast<std::uintptr_t>(to + more) / sizeof(float);
    const int r = more - static_cast<int>(place % sector) + store.place;
    if (0 <= row + r && row + r < rows) to[r] = s[store.row * pitch + r];
  }
}

/// The same for few rows: a block takes all of them, and 2^shift columns, which are one piece of
/// out, at the begin of a sector.
__global__ void __launch_bounds__(block_size)
    transpose_few_rows(const float* in, float* out, int rows, std::int64_t cols, int shift) {
  __shared__ float s[room];                         // s[column][row]
  const int pitch = rows | 1, all = rows << shift;  // odd: lanes store to different banks
  const std::int64_t col = std::int64_t{blockIdx.x} << shift;
  for (int done = static_cast<int>(threadIdx.x); done < all; done += at_once * block_size) {
    float v[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const int i = done + k * block_size, r = i >> shift;
      const std::int64_t c = col + (i & ((1 << shift) - 1));
      v[k] = i < all && c < cols ? in[r * cols + c] : 0;
    }
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const int i = done + k * block_size;
      if (i < all) s[(i & ((1 << shift) - 1)) * pitch + (i >> shift)] = v[k];
    }
  }
  __syncthreads();
  for (Walk store(rows); store.row < 1 << shift && col + store.row < cols; store.step()) {
    out[(col + store.row) * rows + store.place] = s[store.row * pitch + store.place];
  }
}

/// Transposes rows x cols floats. Device pointers; in and out may not overlap. \returns
/// cudaErrorInvalidValue for a negative size or more tiles than a grid has blocks, or the error of
/// the launch.
cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  if (rows < 0 || cols < 0) return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  if (rows < side) {
    int shift = 6;
    while ((2 << shift) * (rows | 1) <= room) ++shift;
    const std::int64_t tiles = (cols + (1 << shift) - 1) >> shift;
    if (tiles > INT32_MAX) return cudaErrorInvalidValue;
    transpose_few_rows<<<static_cast<unsigned>(tiles), block_size, 0, stream>>>(
        in, out, static_cast<int>(rows), cols, shift);
    return cudaGetLastError();
  }
  if (cols >= side && rows % sector == 0) {  // all rows of out begin alike
    return any_matrix::transpose(in, cols, out, rows, rows, cols, stream);
  }
  const int across = cols < side ? static_cast<int>(cols) : side;
  const int down = cols < side ? (room / across - more) / sector * sector : side;
  const std::int64_t tiles_down = (rows + more + down - 1) / down;
  const std::int64_t tiles_across = (cols + across - 1) / across;
  if (tiles_across > INT32_MAX / tiles_down) return cudaErrorInvalidValue;
  const unsigned tiles = static_cast<unsigned>(tiles_down * tiles_across);
  if (across == side) {
    transpose_tiles<side><<<tiles, block_size, 0, stream>>>(in, out, rows, cols, down, across);
  } else {
    transpose_tiles<0><<<tiles, block_size, 0, stream>>>(in, out, rows, cols, down, across);
  }
  return cudaGetLastError();
}

}  // namespace whole_sectors
