// Idea: 09 for everything: elements of 1, 2, 4 and 8 bytes, any rows and cols, and matrices that
//   are windows of larger ones (pitches). A group of elements is one access where the addresses
//   allow it; where they do not, lanes side by side take single elements. Full tiles check no
//   bounds.
// Predicts: 09's rate where all is aligned. With an odd pitch on one side as many accesses there as
//   elements, and rows that begin in the middle of a sector.
// Still wrong: that. 80 shaves the aligned case.
#include <cuda_runtime.h>

#include <cstdint>

namespace any_matrix {

/// Groups and tiles of elements T. An access moves 8 bytes (of 1- and 2-byte elements) or 16, a row
/// of a tile is 128 bytes or more.
template <class T>
struct Shape {
  static constexpr int group = sizeof(T) == 1 ? 8 : sizeof(T) == 8 ? 2 : 4;
  static constexpr int tile = sizeof(T) < 4 ? 128 : 64;
  static constexpr int groups = tile / group;
  static constexpr int block_size = 256;
  static constexpr int each = groups * groups / block_size;  // squares of group x group a thread
};

/// Elements that one access moves.
template <class T>
struct alignas(Shape<T>::group * sizeof(T)) Group {
  T e[Shape<T>::group];
};

/// Where group g of the tile's column c lies in its row of shared memory. Neighbouring lanes store
/// columns a group apart (loads of groups) or one apart (loads of elements): both spread out.
template <class T>
__device__ int place(int c, int g) {
  return g ^ ((c ^ (c / Shape<T>::group)) & 7);
}

/// A tile of out = in transposed. in, out: its first elements there, rows every in_pitch and
/// out_pitch elements. rows, cols: what is left of the matrix from there on. groups_in, groups_out:
/// all rows there are aligned for a Group. full: the tile ends inside of the matrix. s: room for
/// the transposed tile, s[column][group of rows].
template <class T, bool groups_in, bool groups_out, bool full>
__device__ void transpose_tile(const T* in, std::int64_t in_pitch, T* out, std::int64_t out_pitch,
                               std::int64_t rows, std::int64_t cols,
                               Group<T> (*s)[Shape<T>::groups]) {
  constexpr int group = Shape<T>::group, tile = Shape<T>::tile, groups = Shape<T>::groups;
  constexpr int block_size = Shape<T>::block_size, each = Shape<T>::each;
  const int t = static_cast<int>(threadIdx.x);
  // The thread's columns: neighbours if one access loads them, else every groups-th, so that
  // neighbouring lanes load neighbours.
  const auto column = [](int x, int e) { return groups_in ? group * x + e : x + e * groups; };

  Group<T> v[each][group];  // [square][row]
#pragma unroll
  for (int i = 0; i < each; ++i) {
    const int x = (t + i * block_size) % groups, y = (t + i * block_size) / groups;
#pragma unroll
    for (int k = 0; k < group; ++k) {
      const int r = group * y + k;
      const T* const from = in + r * in_pitch;
      if (groups_in && (full || (r < rows && group * (x + 1) <= cols))) {
        v[i][k] = *reinterpret_cast<const Group<T>*>(from + group * x);
      } else {
#pragma unroll
        for (int e = 0; e < group; ++e) {
          const int c = column(x, e);
          v[i][k].e[e] = full || (r < rows && c < cols) ? from[c] : T{};
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < each; ++i) {
    const int x = (t + i * block_size) % groups, y = (t + i * block_size) / groups;
#pragma unroll
    for (int e = 0; e < group; ++e) {
      Group<T> w;
#pragma unroll
      for (int k = 0; k < group; ++k) w.e[k] = v[i][k].e[e];
      const int c = column(x, e);
      s[c][place<T>(c, y)] = w;
    }
  }
  __syncthreads();
  if (groups_out) {
#pragma unroll
    for (int k = 0; k < tile * groups; k += block_size) {
      const int c = (t + k) / groups, g = (t + k) % groups, r = group * g;
      T* const to = out + c * out_pitch + r;
      const Group<T> w = s[c][place<T>(c, g)];
      if (full || (c < cols && r + group <= rows)) {
        *reinterpret_cast<Group<T>*>(to) = w;
      } else if (c < cols) {
#pragma unroll
        for (int e = 0; e < group; ++e) {
          if (r + e < rows) to[e] = w.e[e];
        }
      }
    }
  } else {
#pragma unroll 2
    for (int k = 0; k < tile * tile; k += block_size) {
      const int c = (t + k) / tile, r = (t + k) % tile;
      if (full || (c < cols && r < rows)) {
        out[c * out_pitch + r] = s[c][place<T>(c, r / group)].e[r % group];
      }
    }
  }
}

/// out = in transposed, a tile a block. in: rows x cols, out: cols x rows. groups_in, groups_out:
/// all rows there begin at addresses aligned for a Group.
template <class T, bool groups_in, bool groups_out>
__global__ void __launch_bounds__(Shape<T>::block_size)
    transpose_any(const T* in, std::int64_t in_pitch, T* out, std::int64_t out_pitch,
                  std::int64_t rows, std::int64_t cols) {
  constexpr int tile = Shape<T>::tile;
  __shared__ Group<T> s[tile][Shape<T>::groups];
  const std::int64_t tiles_down = (rows + tile - 1) / tile;
  const std::int64_t row = blockIdx.x % tiles_down * tile;
  const std::int64_t col = blockIdx.x / tiles_down * tile;
  in += row * in_pitch + col;
  out += col * out_pitch + row;
  rows -= row;
  cols -= col;
  if (tile <= rows && tile <= cols) {
    transpose_tile<T, groups_in, groups_out, true>(in, in_pitch, out, out_pitch, rows, cols, s);
  } else {
    transpose_tile<T, groups_in, groups_out, false>(in, in_pitch, out, out_pitch, rows, cols, s);
  }
}

/// Whether rows that begin every `pitch` elements from `first` on are all aligned for a Group.
template <class T>
bool aligned(const T* first, std::int64_t pitch) {
  return reinterpret_cast<std::uintptr_t>(first) % alignof(Group<T>) == 0 &&
         pitch * static_cast<std::int64_t>(sizeof(T)) % alignof(Group<T>) == 0;
}

template <class T, bool groups_in, bool groups_out>
cudaError_t launch(const T* in, std::int64_t in_pitch, T* out, std::int64_t out_pitch,
                   std::int64_t rows, std::int64_t cols, cudaStream_t stream) {
  constexpr int tile = Shape<T>::tile;
  const std::int64_t down = (rows + tile - 1) / tile, across = (cols + tile - 1) / tile;
  if (down == 0 || across == 0) return cudaSuccess;
  if (across > INT32_MAX / down) return cudaErrorInvalidValue;
  const std::int64_t tiles = down * across;
  transpose_any<T, groups_in, groups_out>
      <<<static_cast<unsigned>(tiles), Shape<T>::block_size, 0, stream>>>(in, in_pitch, out,
                                                                          out_pitch, rows, cols);
  return cudaGetLastError();
}

/// Transposes rows x cols elements of in, whose rows begin every in_pitch elements, into cols x
/// rows elements of out, whose rows begin every out_pitch elements; what lies between is left
/// alone. Device pointers, any alignment; in and out may not overlap. \returns
/// cudaErrorInvalidValue for a negative size, a pitch shorter than a row or more tiles than a grid
/// has blocks, or the error of the launch.
template <class T>
cudaError_t transpose_pitched(const T* in, std::int64_t in_pitch, T* out, std::int64_t out_pitch,
                              std::int64_t rows, std::int64_t cols, cudaStream_t stream) {
  if (rows < 0 || cols < 0 || in_pitch < cols || out_pitch < rows) return cudaErrorInvalidValue;
  const bool groups_in = aligned(in, in_pitch), groups_out = aligned<T>(out, out_pitch);
  if (groups_in && groups_out) {
    return launch<T, true, true>(in, in_pitch, out, out_pitch, rows, cols, stream);
  }
  if (groups_in) return launch<T, true, false>(in, in_pitch, out, out_pitch, rows, cols, stream);
  if (groups_out) return launch<T, false, true>(in, in_pitch, out, out_pitch, rows, cols, stream);
  return launch<T, false, false>(in, in_pitch, out, out_pitch, rows, cols, stream);
}

cudaError_t transpose(const std::uint8_t* in, std::int64_t in_pitch, std::uint8_t* out,
                      std::int64_t out_pitch, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  return transpose_pitched(in, in_pitch, out, out_pitch, rows, cols, stream);
}
cudaError_t transpose(const std::uint16_t* in, std::int64_t in_pitch, std::uint16_t* out,
                      std::int64_t out_pitch, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  return transpose_pitched(in, in_pitch, out, out_pitch, rows, cols, stream);
}
cudaError_t transpose(const std::uint32_t* in, std::int64_t in_pitch, std::uint32_t* out,
                      std::int64_t out_pitch, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  return transpose_pitched(in, in_pitch, out, out_pitch, rows, cols, stream);
}
cudaError_t transpose(const float* in, std::int64_t in_pitch, float* out, std::int64_t out_pitch,
                      std::int64_t rows, std::int64_t cols, cudaStream_t stream) {
  return transpose_pitched(in, in_pitch, out, out_pitch, rows, cols, stream);
}
cudaError_t transpose(const double* in, std::int64_t in_pitch, double* out, std::int64_t out_pitch,
                      std::int64_t rows, std::int64_t cols, cudaStream_t stream) {
  return transpose_pitched(in, in_pitch, out, out_pitch, rows, cols, stream);
}

}  // namespace any_matrix
