// Idea: 8-bit pixels. A lane has 16 pixels in four words, and __dp4a multiplies four pixels by four
//   coefficients and adds up. Windows that begin between two words are shifted out of both.
// Predicts: a quarter of the bytes, and for width 3 one instruction per row of the filter in place
//   of three. The copy rate of bytes is the limit.
// Still wrong: an image whose rows do not begin at multiples of 16 bytes is read byte by byte.
#include <cuda_runtime.h>

#include <cstdint>

#include "border.cuh"
#include "widths.cuh"

namespace bytes {

constexpr int per_row = 16, words = per_row / 4, warps = 2, block_cols = 32 * per_row;
constexpr int words_per_row = (largest_width + 3) / 4;

/// The coefficients of a row in words of four, zeros behind the last. __dp4a takes both factors
/// with a sign, so the kernel takes 128 from each pixel; `start`, at which a sum begins, makes up
/// for it and has the half that rounds.
struct Coefficients {
  int at[largest_width * words_per_row];
  int start, shift;
};

inline Coefficients coefficients_of(const ByteFilter& filter, int width) {
  Coefficients all = {};
  all.shift = filter.shift;
  all.start = filter.shift > 0 ? 1 << (filter.shift - 1) : 0;
  for (int i = 0; i < width; ++i) {
    for (int j = 0; j < width; ++j) {
      const int coefficient = filter.at[i * width + j];
      all.start += 128 * coefficient;
      all.at[i * words_per_row + j / 4] |= (coefficient & 0xFF) << (j % 4 * 8);
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

/// The same, quickly inside of the image, and each pixel less 128.
__device__ unsigned load_word(const std::uint8_t* image, int rows, int cols, int y, int x, int rule,
                              bool vectors) {
  const bool is_inside = vectors && y >= 0 && y < rows && x >= 0 && x < cols;
  const std::uint8_t* const from = image + std::int64_t{y} * cols + x;
  return 0x80808080u ^ (is_inside ? *reinterpret_cast<const unsigned*>(from)
                                  : four_pixels(image, rows, cols, y, x, rule));
}

/// Words of four pixels from (y, x) on, each pixel less 128.
__device__ void load_words(unsigned (&to)[words], const std::uint8_t* image, int rows, int cols,
                           int y, int x, int rule, bool vectors) {
  if (vectors && y >= 0 && y < rows && x >= 0 && x + per_row <= cols) {
    *reinterpret_cast<uint4*>(to) =
        *reinterpret_cast<const uint4*>(image + std::int64_t{y} * cols + x);
  } else {
#pragma unroll
    for (int k = 0; k < words; ++k) to[k] = four_pixels(image, rows, cols, y, x + 4 * k, rule);
  }
#pragma unroll
  for (int k = 0; k < words; ++k) to[k] ^= 0x80808080u;
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

/// A warp computes 512 columns of per_thread rows. `together`: how many rows of the image are
/// loaded before the first is used.
template <int width, int per_thread, int together>
__global__ void __launch_bounds__(32 * warps)
    convolve_image(const std::uint8_t* image, const __grid_constant__ Coefficients filter,
                   std::uint8_t* out, int rows, int cols, int rule, bool vectors) {
  constexpr int radius = width / 2, taps = (width + 3) / 4;  // words of a row of the filter
  constexpr int near = (radius + 3) / 4;                     // words of the lane to the left
  constexpr int after = (4 * taps - 1 - radius + 3) / 4;     // and of the one to the right
  constexpr int beyond = near > after ? near : after;
  const int lane = threadIdx.x, x = blockIdx.x * block_cols + per_row * lane;
  const int y = (blockIdx.y * warps + threadIdx.y) * per_thread;
  if (y >= rows) return;  // the whole warp
  const bool first = lane == 0, last = lane == 31;
  int sums[per_thread][per_row];
#pragma unroll
  for (int r = 0; r < per_thread; ++r) {
#pragma unroll
    for (int k = 0; k < per_row; ++k) sums[r][k] = filter.start;
  }

#pragma unroll 1
  for (int begin = 0; begin < per_thread + width - 1; begin += together) {
    unsigned own[together][words], beside[together][beyond > 0 ? beyond : 1];
#pragma unroll
    for (int n = 0; n < together; ++n) {
      const int row = y + begin + n - radius;
      load_words(own[n], image, rows, cols, row, x, rule, vectors);
      if (first || last) {  // the words that no lane of the warp has
#pragma unroll
        for (int k = 0; k < beyond; ++k) {
          const int col = first ? x + 4 * (k - near) : x + per_row + 4 * k;
          beside[n][k] = load_word(image, rows, cols, row, col, rule, vectors);
        }
      }
    }
#pragma unroll
    for (int n = 0; n < together; ++n) {
      unsigned window[near + words + after];
#pragma unroll
      for (int k = 0; k < near; ++k) {
        const unsigned left = __shfl_up_sync(~0u, own[n][words - near + k], 1);
        window[k] = first ? beside[n][k] : left;
      }
#pragma unroll
      for (int k = 0; k < words; ++k) window[near + k] = own[n][k];
#pragma unroll
      for (int k = 0; k < after; ++k) {
        const unsigned right = __shfl_down_sync(~0u, own[n][k], 1);
        window[near + words + k] = last ? beside[n][k] : right;
      }
#pragma unroll
      for (int k = 0; k < per_row; ++k) {
#pragma unroll
        for (int m = 0; m < taps; ++m) {
          const int from = 4 * near - radius + k + 4 * m;  // the byte that begins the window
          const unsigned four =
              from % 4 == 0
                  ? window[from / 4]
                  : __funnelshift_r(window[from / 4], window[from / 4 + 1], 8 * (from % 4));
#pragma unroll
          for (int r = 0; r < per_thread; ++r) {
            const int i = begin + n - r;
            if (i < 0 || i >= width) continue;
            sums[r][k] =
                __dp4a(static_cast<int>(four), filter.at[i * words_per_row + m], sums[r][k]);
          }
        }
      }
    }
  }

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
      if (x < cols) *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(packed);
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
/// that is even or not 1 to 31, rows above 131,070, cols above 2^31 - 4097, another rule, a shift
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
    // A small filter: two rows of results, and all rows of the image that they take at once.
    constexpr int per_thread = w() <= 7 ? 2 : 1, together = w() <= 7 ? per_thread + w() - 1 : 1;
    convolve_image<w(), per_thread, together>
        <<<border::grid(rows, cols, warps * per_thread, block_cols), dim3(32, warps), 0, stream>>>(
            image, coefficients, out, static_cast<int>(rows), static_cast<int>(cols),
            static_cast<int>(rule), aligned);
  });
  return cudaGetLastError();
}

}  // namespace bytes
