// Idea: 09 for everything: elements of 1, 2, 4 and 8 bytes, any rows and cols, and matrices that
// are
//   windows of larger ones (leading dimensions). Four elements are one access where the addresses
//   allow it; where they do not, four accesses, of lanes side by side.
// Predicts: 09's rate where all is aligned. With an odd leading dimension on one side, four times
// the
//   instructions there, and a sector more a request.
// Still wrong: rows that begin in the middle of a sector cost what they cost. 80 shaves the rest.
#include <cuda_runtime.h>

#include <cstdint>

namespace any_matrix {

/// Tile and block for elements of one size. 1- and 2-byte elements take larger tiles, so that a row
/// of the tile is at least a line of 128 bytes.
template <class T>
struct Shape {
  static constexpr int tile = sizeof(T) < 4 ? 128 : 64;
  static constexpr int groups = tile / 4;
  static constexpr int block_size = 256;
  static constexpr int each = groups * groups / block_size;  // blocks of 4 x 4 a thread
};

/// Four elements that one access moves (two, if they are of 8 bytes).
template <class T>
struct alignas(sizeof(T) < 8 ? 4 * sizeof(T) : 16) Group {
  T e[4];
};

/// Where group g of the tile's column c lies in its row of shared memory. Neighbouring lanes store
/// columns four apart (loads of groups) or one apart (loads of elements): both spread out.
__device__ int place(int c, int g) { return g ^ ((c ^ (c >> 2)) & 7); }

/// out = in transposed. in: rows x cols, a row every in_pitch elements; out: cols x rows, a row
/// every out_pitch elements. groups_in, groups_out: all rows there begin at addresses aligned for a
/// Group.
template <class T, bool groups_in, bool groups_out>
__global__ void __launch_bounds__(Shape<T>::block_size)
    transpose_any(const T* in, std::int64_t in_pitch, T* out, std::int64_t out_pitch,
                  std::int64_t rows, std::int64_t cols) {
  constexpr int tile = Shape<T>::tile, groups = Shape<T>::groups;
  constexpr int block_size = Shape<T>::block_size, each = Shape<T>::each;
  __shared__ Group<T> s[tile][groups];
  const std::int64_t tiles_down = (rows + tile - 1) / tile;
  const std::int64_t row = blockIdx.x % tiles_down * tile;
  const std::int64_t col = blockIdx.x / tiles_down * tile;
  const int t = static_cast<int>(threadIdx.x);

  // The thread's columns: four neighbours if one access loads them, else every groups-th, so that
  // neighbouring lanes load neighbours.
  const auto column = [](int x, int e) { return groups_in ? 4 * x + e : x + e * groups; };
  Group<T> v[each][4];  // [block][row]
#pragma unroll
  for (int b = 0; b < each; ++b) {
    const int x = (t + b * block_size) % groups, y = (t + b * block_size) / groups;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const std::int64_t r = row + 4 * y + k;
      const T* const from = in + r * in_pitch + col;
      if (groups_in && r < rows && col + 4 * x + 4 <= cols) {
        v[b][k] = *reinterpret_cast<const Group<T>*>(from + 4 * x);
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int c = column(x, e);
          v[b][k].e[e] = r < rows && col + c < cols ? from[c] : T{};
        }
      }
    }
  }
#pragma unroll
  for (int b = 0; b < each; ++b) {
    const int x = (t + b * block_size) % groups, y = (t + b * block_size) / groups;
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int c = column(x, e);
      s[c][place(c, y)] = {{v[b][0].e[e], v[b][1].e[e], v[b][2].e[e], v[b][3].e[e]}};
    }
  }
  __syncthreads();
  if (groups_out) {
#pragma unroll
    for (int i = t; i < tile * groups; i += block_size) {
      const int c = i / groups, g = i % groups;
      const std::int64_t r = row + 4 * g;
      if (col + c >= cols) continue;
      T* const to = out + (col + c) * out_pitch + r;
      const Group<T> w = s[c][place(c, g)];
      if (r + 4 <= rows) {
        *reinterpret_cast<Group<T>*>(to) = w;
      } else {
        for (int e = 0; e < 4 && r + e < rows; ++e) to[e] = w.e[e];
      }
    }
  } else {
#pragma unroll 4
    for (int i = t; i < tile * tile; i += block_size) {
      const int c = i / tile, r = i % tile;
      if (col + c < cols && row + r < rows) {
        out[(col + c) * out_pitch + row + r] = s[c][place(c, r / 4)].e[r % 4];
      }
    }
  }
}

/// Whether rows that begin every `pitch` elements from `first` on are all aligned for a Group.
template <class T>
bool aligned(const T* first, std::int64_t pitch) {
  return reinterpret_cast<std::uintptr_t>(first) % alignof(Group<T>) == 0 &&
         pitch * static_cast<std::int64_t>(sizeof(T)) % alignof(Group<T>) == 0;
}

/// Transposes rows x cols elements of in, whose rows begin every in_pitch elements, into cols x
/// rows elements of out, whose rows begin every out_pitch elements; what lies between is left
/// alone. Device pointers; in and out may not overlap. \returns cudaErrorInvalidValue for a
/// negative size or a pitch shorter than a row, or the error of the launch.
template <class T>
cudaError_t transpose_pitched(const T* in, std::int64_t in_pitch, T* out, std::int64_t out_pitch,
                              std::int64_t rows, std::int64_t cols, cudaStream_t stream) {
  if (rows < 0 || cols < 0 || in_pitch < cols || out_pitch < rows) return cudaErrorInvalidValue;
  constexpr int tile = Shape<T>::tile;
  const std::int64_t tiles = (rows + tile - 1) / tile * ((cols + tile - 1) / tile);
  if (tiles == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>(tiles);
  constexpr int block_size = Shape<T>::block_size;
  const bool groups_in = aligned(in, in_pitch), groups_out = aligned<T>(out, out_pitch);
  auto* const kernel =
      groups_in ? (groups_out ? transpose_any<T, true, true> : transpose_any<T, true, false>)
                : (groups_out ? transpose_any<T, false, true> : transpose_any<T, false, false>);
  kernel<<<blocks, block_size, 0, stream>>>(in, in_pitch, out, out_pitch, rows, cols);
  return cudaGetLastError();
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
