// Idea: 8-bit pixels, four in a word. dp4a multiplies four pixels by four coefficients and adds up.
//   Where a window begins inside a word, a row of coefficients with zeros before it is taken, if
//   its words have so many zeros and w is at most 15; else the pixels are shifted.
// Predicts: a quarter of the bytes, and for width 3 one instruction per row of the filter in place
//   of three. The copy rate of bytes is the limit.
// Still wrong: where rows of image or out do not begin at multiples of 16 bytes, the image is read
//   byte by byte.
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "border.cuh"
#include "widths.cuh"

namespace bytes {

constexpr int warps = 4, words_per_row = (largest_width + 3) / 4;

/// The coefficients of row i in words of four: at[zeros][i * words_per_row + m]. Each row begins
/// with `zeros` zeros, and others fill its last word. A sum begins with `start`, the half that
/// rounds.
struct Coefficients {
  int at[4][largest_width * words_per_row];
  int start, shift;
};

inline Coefficients coefficients_of(const ByteFilter& filter, int width) {
  Coefficients all = {};
  all.shift = filter.shift;
  all.start = filter.shift > 0 ? 1 << (filter.shift - 1) : 0;
  for (int zeros = 0; zeros <= (4 - width % 4) % 4; ++zeros) {
    for (int i = 0; i < width; ++i) {
      for (int j = 0; j < width; ++j) {
        const int coefficient = filter.at[i * width + j] & 0xFF, to = j + zeros;
        all.at[zeros][i * words_per_row + to / 4] |= coefficient << (to % 4 * 8);
      }
    }
  }
  return all;
}

/// Four pixels from (y, x) on, which may lie outside, in a word. A function that is called, not
/// copied to each place that calls it: only the border needs it.
__noinline__ __device__ unsigned four_pixels(const std::uint8_t* image, int rows, int cols, int y,
                                             int x, int rule) {
  unsigned all = 0;
  for (int b = 0; b < 4; ++b) {
    all |= unsigned{border::pixel(image, rows, cols, y, x + b, rule)} << (8 * b);
  }
  return all;
}

/// sum + the products of four pixels, without a sign, and four coefficients, with one. __dp4a has
/// no such mixture, the instruction has.
__device__ int add_products(unsigned four, int coefficients, int sum) {
#ifdef SIMT
  for (int b = 0; b < 32; b += 8) {
    sum += static_cast<int>(four >> b & 0xFF) * static_cast<std::int8_t>(coefficients >> b & 0xFF);
  }
  return sum;
#else
  int result;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(four), "r"(coefficients), "r"(sum));
  return result;
#endif
}

/// Four numbers, limited to 0 to 255, in a word: two instructions on a GPU, where min, max and
/// shifts would be a dozen.
__device__ unsigned pack_limited(const int (&four)[4]) {
#ifdef SIMT
  unsigned all = 0;
  for (int b = 0; b < 4; ++b) {
    all |= static_cast<unsigned>(min(max(four[b], 0), 255)) << (8 * b);
  }
  return all;
#else
  unsigned high, all;
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(high) : "r"(four[3]), "r"(four[2]), "r"(0));
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
      : "=r"(all)
      : "r"(four[1]), "r"(four[0]), "r"(high));
  return all;
#endif
}

/// A lane computes `words` words of per_thread rows; the first and the last lane store none.
/// `together`: how many rows of the image are loaded before the first is used.
template <int width, int words, int per_thread, int together>
__global__ void __launch_bounds__(32 * warps)
    convolve_image(const std::uint8_t* image, const __grid_constant__ Coefficients filter,
                   std::uint8_t* out, int rows, int cols, int rule, bool vectors) {
  using Vector = std::conditional_t<words == 2, uint2, uint4>;
  constexpr int radius = width / 2, taps = (width + 3) / 4;  // words of a row of the filter
  constexpr int near = (radius + 3) / 4;                     // words of the lane on each side
  constexpr int per_row = 4 * words, size = near + words + near;
  // Shifted coefficients where the number of their row is known when this is compiled.
  constexpr int most_zeros = together > 1 ? 4 * taps - width : 0;
  const int lane = threadIdx.x, x = blockIdx.x * 30 * per_row + per_row * (lane - 1);
  const int y = (blockIdx.y * warps + threadIdx.y) * per_thread;
  if (y >= rows) return;  // the whole warp
  const bool inside =
      vectors && x >= 0 && x < cols && y >= radius && y + per_thread + radius <= rows;
  const std::uint8_t* const from = image + std::int64_t{y - radius} * cols + x;
  int sums[per_thread][per_row];
#pragma unroll
  for (int r = 0; r < per_thread; ++r) {
#pragma unroll
    for (int k = 0; k < per_row; ++k) sums[r][k] = filter.start;
  }

#pragma unroll 1
  for (int begin = 0; begin < per_thread + width - 1; begin += together) {
    alignas(16) unsigned own[together][words];
    if (inside) {
#pragma unroll
      for (int n = 0; n < together; ++n) {
        *reinterpret_cast<Vector*>(own[n]) =
            *reinterpret_cast<const Vector*>(from + std::int64_t{begin + n} * cols);
      }
    } else {
#pragma unroll
      for (int n = 0; n < together; ++n) {
#pragma unroll
        for (int k = 0; k < words; ++k) {
          own[n][k] = four_pixels(image, rows, cols, y + begin + n - radius, x + 4 * k, rule);
        }
      }
    }
#pragma unroll
    for (int n = 0; n < together; ++n) {
      unsigned window[size];
#pragma unroll
      for (int k = 0; k < words; ++k) window[near + k] = own[n][k];
#pragma unroll
      for (int k = 0; k < near; ++k) {
        window[k] = __shfl_up_sync(~0u, own[n][words - near + k], 1);
        window[near + words + k] = __shfl_down_sync(~0u, own[n][k], 1);
      }
#pragma unroll
      for (int k = 0; k < per_row; ++k) {
        const int first = 4 * near - radius + k;  // the byte that begins the window
        const int zeros = first % 4 <= most_zeros ? first % 4 : 0, shift = first % 4 - zeros;
#pragma unroll
        for (int m = 0; m < taps; ++m) {
          const int at = first / 4 + m, next = at + 1 < size ? at + 1 : at;
          const unsigned four = __funnelshift_r(window[at], window[next], 8 * shift);
#pragma unroll
          for (int r = 0; r < per_thread; ++r) {
            const int i = begin + n - r;
            if (i < 0 || i >= width) continue;
            sums[r][k] = add_products(four, filter.at[zeros][i * words_per_row + m], sums[r][k]);
          }
        }
      }
    }
  }

  if (lane == 0 || lane == 31) return;  // a window without its left or right part
#pragma unroll
  for (int r = 0; r < per_thread; ++r) {
    if (y + r >= rows) break;
    alignas(16) unsigned packed[words];
#pragma unroll
    for (int k = 0; k < words; ++k) {
      int four[4];
#pragma unroll
      for (int b = 0; b < 4; ++b) four[b] = sums[r][4 * k + b] >> filter.shift;
      packed[k] = pack_limited(four);
    }
    std::uint8_t* const to = out + std::int64_t{y + r} * cols + x;
    if (vectors) {
      if (x < cols) *reinterpret_cast<Vector*>(to) = *reinterpret_cast<const Vector*>(packed);
    } else {
#pragma unroll
      for (int k = 0; k < per_row; ++k) {
        if (x + k < cols) to[k] = static_cast<std::uint8_t>(packed[k / 4] >> (8 * (k % 4)));
      }
    }
  }
}

/// out[y][x] = the sum of filter[i][j] image[y + i - radius][x + j - radius] in whole numbers,
/// radius = width / 2, divided by 2^shift, rounded to the nearest (halves up), limited to 0 to 255.
/// image and out: device pointers. rule: a border::Rule. \returns cudaErrorInvalidValue for a width
/// that is even or not 1 to 31, rows above 262,140, cols above 2^31 - 4097, another rule, a shift
/// below 0 or above 30; or the error of the launch.
cudaError_t convolve(const std::uint8_t* image, const ByteFilter& filter, std::uint8_t* out,
                     std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (!border::fit(rows, cols, width, rule, warps) || filter.shift < 0 || filter.shift > 30) {
    return cudaErrorInvalidValue;
  }
  if (rows == 0 || cols == 0) return cudaSuccess;
  const bool aligned = border::rows_are_aligned(image, cols) && border::rows_are_aligned(out, cols);
  const Coefficients coefficients = coefficients_of(filter, static_cast<int>(width));
  widths::choose<1, largest_width>(static_cast<int>(width), [&](auto w) {
    // A small filter: four rows of results, and all rows of the image that they take at once.
    constexpr bool small = w() <= 15;
    constexpr int words = small ? 2 : 4, per_thread = small ? 4 : 1;
    constexpr int together = small ? per_thread + w() - 1 : 1;
    convolve_image<w(), words, per_thread, together>
        <<<border::grid(rows, cols, warps * per_thread, 30 * 4 * words), dim3(32, warps), 0,
           stream>>>(image, coefficients, out, static_cast<int>(rows), static_cast<int>(cols),
                     static_cast<int>(rule), aligned);
  });
  return cudaGetLastError();
}

}  // namespace bytes
