// Idea: for small filters no shared memory. A warp loads each row of the image once, four columns
//   per lane, and lanes hand the columns at the edge of their four to their neighbors by shuffles.
//   A lane has four rows of results; the window slides down over the rows that it has loaded.
// Predicts: all loads of a thread leave before it waits for the first: no barrier, no tile to wait
//   for. With width 3 and 5 the copy rate is the limit.
// Still wrong: more registers with each row more. It takes widths up to 7.
#include <cuda_runtime.h>

#include <cstdint>

#include "border.cuh"
#include "widths.cuh"

namespace sliding {

constexpr int per_row = 4, per_thread = 4, warps = 4;
constexpr int block_cols = 32 * per_row, block_rows = warps * per_thread, largest = 7;

/// Four pixels from (y, x) on.
__device__ float4 four_pixels(const float* image, int rows, int cols, int y, int x, int rule) {
  return make_float4(border::pixel(image, rows, cols, y, x, rule),
                     border::pixel(image, rows, cols, y, x + 1, rule),
                     border::pixel(image, rows, cols, y, x + 2, rule),
                     border::pixel(image, rows, cols, y, x + 3, rule));
}

template <int width>
__global__ void __launch_bounds__(32 * warps)
    convolve_image(const float* image, const __grid_constant__ Filter filter, float* out, int rows,
                   int cols, int rule, bool vectors) {
  constexpr int radius = width / 2, loaded = per_thread + width - 1;
  const int lane = threadIdx.x, first_x = blockIdx.x * block_cols, x = first_x + per_row * lane;
  const int y = blockIdx.y * block_rows + threadIdx.y * per_thread;
  if (y >= rows) return;  // the whole warp
  const bool first = lane == 0, last = lane == 31;
  const int next = first ? -4 : 4;  // where the columns beside the warp's 128 are
  float own[loaded][4], beside[loaded][4];
  if (vectors && first_x >= 4 && first_x + block_cols + 4 <= cols && y >= radius &&
      y + per_thread + radius <= rows) {
    const float* from = image + std::int64_t{y - radius} * cols + x;
#pragma unroll
    for (int i = 0; i < loaded; ++i, from += cols) {
      *reinterpret_cast<float4*>(own[i]) = *reinterpret_cast<const float4*>(from);
      if (first || last) {
        *reinterpret_cast<float4*>(beside[i]) = *reinterpret_cast<const float4*>(from + next);
      }
    }
  } else {
#pragma unroll
    for (int i = 0; i < loaded; ++i) {
      const int row = y + i - radius;
      *reinterpret_cast<float4*>(own[i]) = four_pixels(image, rows, cols, row, x, rule);
      if (first || last) {
        *reinterpret_cast<float4*>(beside[i]) = four_pixels(image, rows, cols, row, x + next, rule);
      }
    }
  }

  float sums[per_thread][per_row] = {};
#pragma unroll
  for (int i = 0; i < loaded; ++i) {
    float window[per_row + 2 * radius];
#pragma unroll
    for (int k = 0; k < per_row; ++k) window[radius + k] = own[i][k];
#pragma unroll
    for (int k = 0; k < radius; ++k) {
      const float left = __shfl_up_sync(~0u, own[i][4 - radius + k], 1);
      const float right = __shfl_down_sync(~0u, own[i][k], 1);
      window[k] = first ? beside[i][4 - radius + k] : left;
      window[radius + per_row + k] = last ? beside[i][k] : right;
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
  widths::choose<1, largest>(static_cast<int>(width), [&](auto w) {
    convolve_image<w()>
        <<<border::grid(rows, cols, block_rows, block_cols), dim3(32, warps), 0, stream>>>(
            image, filter, out, static_cast<int>(rows), static_cast<int>(cols),
            static_cast<int>(rule), aligned);
  });
  return cudaGetLastError();
}

}  // namespace sliding
