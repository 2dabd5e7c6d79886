// Idea: 10 for floats, with stores of whole sectors where the rows of out begin anywhere. Each row
//   of a tile is moved back to the sector in which its first element lies: then all its stores are
//   16 bytes, at the price of seven rows that two blocks load. Matrices of few rows or columns get
//   tiles of all of them, which are one piece of out or of in.
// Predicts: 10's rate for windows whose `out` is aligned, less what the seven rows cost: they come
//   from the L2 cache.
// Still wrong: loads of single elements.
#include <cuda_runtime.h>

#include <cstdint>

// Calls 10_any.cu
namespace any_matrix {
cudaError_t transpose(const float* in, std::int64_t in_pitch, float* out, std::int64_t out_pitch,
                      std::int64_t rows, std::int64_t cols, cudaStream_t stream);
}

namespace whole_sectors {

constexpr int block_size = 256;
constexpr int sector = 32 / sizeof(float);   // elements
constexpr int more = sector - 1;             // rows that are loaded twice
constexpr int side = 64, groups = side / 4;  // of a tile; and groups of four elements of its rows
constexpr std::int64_t few = 96;             // rows or columns: a block takes all of them
constexpr std::int64_t least = side / 2;     // rows and columns that 10 has full warps for
constexpr std::int64_t small = 1 << 18;      // elements; measured
constexpr int at_once = 9;                   // elements that a thread loads, then puts away
constexpr int room = (side + more) * side;   // of a tile with few columns or rows: elements

/// How far back the sector begins in which an element lies, in elements.
__device__ int into_sector(const float* element) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(element) / sizeof(float) % sector);
}

/// Where group g of the tile's column c lies in its row of shared memory. Lanes side by side store
/// elements of columns side by side, in up to three groups.
__device__ int place(int c, int g) { return g ^ (c / 8 * 2 & 7); }

/// A tile of out = in transposed: rows from `row` on, moved back column by column, and columns from
/// col on. full: all of it lies inside of the matrix. s: room for the transposed tile.
template <bool full>
__device__ void transpose_tile(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                               std::int64_t row, std::int64_t col, float4 (*s)[groups]) {
  constexpr int step = block_size / side, loads = (side + more + step - 1) / step;
  const int t = static_cast<int>(threadIdx.x);
  in += row * cols + col;
  out += col * rows + row;
  // Counted from the tile's first row: where the matrix begins (at most a sector before), and ends.
  const int begin = row < more ? -static_cast<int>(row) : -more;
  const int end = rows - row < side ? static_cast<int>(rows - row) : side;
  const int width = cols - col < side ? static_cast<int>(cols - col) : side;
  {
    const int c = t % side, first = t / side - more;  // the first row that this thread loads
    const float* const from = in + first * cols + c;
    float v[loads];
#pragma unroll
    for (int k = 0; k < loads; ++k) {
      const int r = first + step * k;
      const bool inside = full ? r < side : begin <= r && r < end && c < width;
      v[k] = inside ? from[step * k * cols] : 0;
    }
    const int place_of_first = first + into_sector(out + c * rows);
#pragma unroll
    for (int k = 0; k < loads; ++k) {
      const int at = place_of_first + step * k;
      if (0 <= at && at < side) reinterpret_cast<float*>(&s[c][place(c, at / 4)])[at % 4] = v[k];
    }
  }
  __syncthreads();
#pragma unroll
  for (int c = t / groups; c < side; c += block_size / groups) {
    float* const to = out + c * rows;
    const int r = 4 * (t % groups) - into_sector(to);
    const float4 w = s[c][place(c, t % groups)];
    if (full || (c < width && begin <= r && r + 4 <= end)) {
      *reinterpret_cast<float4*>(to + r) = w;
    } else if (c < width) {
      const float each[] = {w.x, w.y, w.z, w.w};
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        if (begin <= r + e && r + e < end) to[r + e] = each[e];
      }
    }
  }
}

/// out = in transposed, a tile a block, in the order of 09. in: rows x cols, out: cols x rows.
__global__ void __launch_bounds__(block_size)
    transpose_tiles(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  __shared__ float4 s[side][groups];  // the transposed tile: s[column][group of rows]
  const std::int64_t tiles_down = (rows + more + side - 1) / side;
  const std::int64_t row = blockIdx.x % tiles_down * side;
  const std::int64_t col = blockIdx.x / tiles_down * side;
  if (row >= more && row + side <= rows && col + side <= cols) {
    transpose_tile<true>(in, out, rows, cols, row, col, s);
  } else {
    transpose_tile<false>(in, out, rows, cols, row, col, s);
  }
}

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

/// The same for few columns: a block takes all of them, and `down` rows, which are one piece of in.
/// down is a multiple of a sector, so that all tiles of a row of out move back by the same: where
/// one ends the next begins.
__global__ void __launch_bounds__(block_size)
    transpose_few_columns(const float* in, float* out, std::int64_t rows, int cols, int down) {
  __shared__ float s[room];  // s[column][row]
  const int pitch = down + more;
  const std::int64_t row = std::int64_t{blockIdx.x} * down - more;  // the first that is loaded
  Walk load(cols);
  for (int done = 0; done < pitch * cols; done += at_once * block_size) {
    float v[at_once];
    Walk put = load;
#pragma unroll
    for (int k = 0; k < at_once; ++k, load.step()) {
      const std::int64_t r = row + load.row;
      v[k] = load.row < pitch && 0 <= r && r < rows ? in[r * cols + load.place] : 0;
    }
#pragma unroll
    for (int k = 0; k < at_once; ++k, put.step()) {
      if (put.row < pitch) s[put.place * pitch + put.row] = v[k];
    }
  }
  __syncthreads();
  for (Walk store(down); store.row < cols; store.step()) {
    float* const to = out + store.row * rows + row;
    const int r = more - into_sector(to + more) + store.place;
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
  if (rows >= least && cols >= least) {
    // 10 stores 16 bytes, too, or the launch takes most of the time.
    const bool vectors = rows % 4 == 0 && (cols % 4 == 0 || cols >= few);
    if (vectors || rows < small / cols) {
      return any_matrix::transpose(in, cols, out, rows, rows, cols, stream);
    }
  }
  if (rows < few) {
    int shift = 5;
    while ((2 << shift) * (rows | 1) <= room) ++shift;
    const std::int64_t tiles = (cols + (1 << shift) - 1) >> shift;
    if (tiles > INT32_MAX) return cudaErrorInvalidValue;
    transpose_few_rows<<<static_cast<unsigned>(tiles), block_size, 0, stream>>>(
        in, out, static_cast<int>(rows), cols, shift);
    return cudaGetLastError();
  }
  const std::int64_t down = cols < few ? (room / cols - more) / sector * sector : side;
  const std::int64_t tiles_down = (rows + more + down - 1) / down;
  const std::int64_t tiles_across = cols < few ? 1 : (cols + side - 1) / side;
  if (tiles_across > INT32_MAX / tiles_down) return cudaErrorInvalidValue;
  const unsigned tiles = static_cast<unsigned>(tiles_down * tiles_across);
  if (cols < few) {
    transpose_few_columns<<<tiles, block_size, 0, stream>>>(in, out, rows, static_cast<int>(cols),
                                                            static_cast<int>(down));
  } else {
    transpose_tiles<<<tiles, block_size, 0, stream>>>(in, out, rows, cols);
  }
  return cudaGetLastError();
}

}  // namespace whole_sectors
