// Idea: for small filters no shared memory. A lane loads four columns of each row of the image and
//   gets the columns next to them from its neighbors by shuffles. The first and the last lane of a
//   warp have one neighbor only: they load and shuffle, but store nothing. A lane has four rows of
//   results; the window slides down over the rows that it has loaded.
// Predicts: all loads of a thread leave before it waits for the first: no barrier, no tile to wait
//   for. With width 3 and 5 the copy rate is the limit.
// Still wrong: more registers and shuffles with each row more. It takes widths up to 7.
#include <cuda_runtime.h>

#include <cstdint>

#include "border.cuh"
#include "widths.cuh"

namespace sliding {

constexpr int per_row = 4, per_thread = 4, warps = 4;
constexpr int block_cols = 30 * per_row, block_rows = warps * per_thread, largest = 7;

/// Four pixels from (y, x) on.
__device__ float4 four_pixels(const float* image, int rows, int cols, int y, int x, int rule) {
  return make_float4(border::pixel(image, rows, cols, y, x, rule),
                     border::pixel(image, rows, cols, y, x + 1, rule),
                     border::pixel(image, rows, cols, y, x + 2, rule),
                     border::pixel(image, rows, cols, y, x + 3, rule));
}

template <bool vectors>
__device__ void load_row(float (&to)[per_row], const float* from) {
  if (vectors) {
    *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
  } else {
#pragma unroll
    for (int k = 0; k < per_row; ++k) to[k] = from[k];
  }
}

/// `vectors`: all rows of the image and of out begin at multiples of 16 bytes.
template <int width, bool vectors>
__global__ void __launch_bounds__(32 * warps, 8)
    convolve_image(const float* image, const __grid_constant__ Filter filter, float* out, int rows,
                   int cols, int rule) {
  constexpr int radius = width / 2, loaded = per_thread + width - 1;
  const int lane = threadIdx.x, x = blockIdx.x * block_cols + per_row * (lane - 1);
  const int y = blockIdx.y * block_rows + threadIdx.y * per_thread;
  if (y >= rows) return;  // the whole warp
  alignas(16) float own[loaded][per_row];
  if (x >= 0 && x + per_row <= cols && y >= radius && y + per_thread + radius <= rows) {
    const float* from = image + std::int64_t{y - radius} * cols + x;
#pragma unroll
    for (int i = 0; i < loaded; ++i, from += cols) load_row<vectors>(own[i], from);
  } else {
#pragma unroll
    for (int i = 0; i < loaded; ++i) {
      *reinterpret_cast<float4*>(own[i]) = four_pixels(image, rows, cols, y + i - radius, x, rule);
    }
  }

  alignas(16) float sums[per_thread][per_row] = {};
#pragma unroll
  for (int i = 0; i < loaded; ++i) {
    float window[per_row + 2 * radius];
#pragma unroll
    for (int k = 0; k < per_row; ++k) window[radius + k] = own[i][k];
#pragma unroll
    for (int k = 0; k < radius; ++k) {
      window[k] = __shfl_up_sync(~0u, own[i][per_row - radius + k], 1);
      window[radius + per_row + k] = __shfl_down_sync(~0u, own[i][k], 1);
    }
#pragma unroll
    for (int r = 0; r < per_thread; ++r) {
      if (i - r < 0 || i - r >= width) continue;  // known when this is compiled
#pragma unroll
      for (int j = 0; j < width; ++j) {
#pragma unroll
        for (int k = 0; k < per_row; ++k) {
          sums[r][k] += filter.at[(i - r) * width + j] * window[j + k];
        }
      }
    }
  }

  if (lane == 0 || lane == 31) return;  // a window without its left or right part
#pragma unroll
  for (int r = 0; r < per_thread; ++r) {
    if (y + r >= rows || x >= cols) break;
    float* const to = out + std::int64_t{y + r} * cols + x;
    if (vectors) {
      *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(sums[r]);
    } else {
#pragma unroll
      for (int k = 0; k < per_row; ++k) {
        if (x + k < cols) to[k] = sums[r][k];
      }
    }
  }
}

/// out[y][x] = the sum of filter[i][j] image[y + i - radius][x + j - radius], radius = width / 2,
/// all row by row. image and out: device pointers. rule: a border::Rule.
/// \returns cudaErrorInvalidValue for a width that is even or not 1 to 7, rows above 1,048,560,
/// cols above 2^31 - 4097, another rule; or the error of the launch.
cudaError_t convolve(const float* image, const Filter& filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (!border::fit(rows, cols, width, rule, block_rows) || width > largest) {
    return cudaErrorInvalidValue;
  }
  if (rows == 0 || cols == 0) return cudaSuccess;
  const bool aligned = border::rows_are_aligned(image, cols) && border::rows_are_aligned(out, cols);
  const dim3 grid = border::grid(rows, cols, block_rows, block_cols), block(32, warps);
  const auto r = static_cast<int>(rows), c = static_cast<int>(cols);
  widths::choose<1, largest>(static_cast<int>(width), [&](auto w) {
    const auto kernel = aligned ? convolve_image<w(), true> : convolve_image<w(), false>;
    kernel<<<grid, block, 0, stream>>>(image, filter, out, r, c, static_cast<int>(rule));
  });
  return cudaGetLastError();
}

}  // namespace sliding
