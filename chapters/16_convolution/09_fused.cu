// Idea: both passes in one kernel, columns first, and each warp works alone. A lane slides down
//   four columns of the image and keeps the sums of eight rows in registers. Its warp writes them
//   to shared memory, and then convolves the eight rows.
// Predicts: DRAM reads the image and writes the result once, the least traffic. With width 17 the
//   SMs read 1.4 pixels per result from the L2 cache. No barrier: no warp waits for another.
// Still wrong: the first and the last lanes of a warp have no window of their own. They compute
//   columns, but no results: 4 of 32 with width 17, 8 with width 31.
#include <cuda_runtime.h>

#include <cstdint>

#include "border.cuh"
#include "widths.cuh"

namespace fused {

constexpr int warps = 8, per_row = 4, per_thread = 8;
constexpr int warp_cols = 32 * per_row, block_rows = warps * per_thread;

/// Columns that a warp needs on each side of its results: the radius, in whole vectors.
template <int width>
constexpr int side = (width / 2 + per_row - 1) / per_row* per_row;

template <int width>
constexpr int block_cols = warp_cols - 2 * side<width>;

template <bool vectors>
__device__ void load_four(float (&to)[per_row], const float* from) {
  if (vectors) {
    *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
  } else {
#pragma unroll
    for (int k = 0; k < per_row; ++k) to[k] = from[k];
  }
}

/// Adds what row i of the image, counted from the first that the columns need, has for each sum.
template <int width>
__device__ void add_row(float (&sums)[per_thread][per_row], const float (&pixels)[per_row],
                        const SeparableFilter& filter, int i) {
#pragma unroll
  for (int r = 0; r < per_thread; ++r) {
    if (i - r < 0 || i - r >= width) continue;
#pragma unroll
    for (int k = 0; k < per_row; ++k) sums[r][k] += filter.column[i - r] * pixels[k];
  }
}

/// `vectors`: all rows of the image and of out begin at multiples of 16 bytes.
template <int width, bool vectors>
__global__ void __launch_bounds__(32 * warps, 3)
    convolve_image(const float* image, const __grid_constant__ SeparableFilter filter, float* out,
                   int rows, int cols, int rule) {
  constexpr int radius = width / 2, near = side<width>, loaded = per_thread + width - 1;
  __shared__ alignas(16) float between[warps][per_thread][warp_cols];
  const int lane = threadIdx.x, warp = threadIdx.y;
  const int first_x = blockIdx.x * block_cols<width> - near, x = first_x + per_row * lane;
  const int y = blockIdx.y * block_rows + warp * per_thread;

  alignas(16) float sums[per_thread][per_row] = {}, pixels[per_row];
  if (first_x >= 0 && first_x + warp_cols <= cols && y >= radius &&
      y + per_thread + radius <= rows) {
    const float* from = image + std::int64_t{y - radius} * cols + x;
#pragma unroll
    for (int i = 0; i < loaded; ++i, from += cols) {
      load_four<vectors>(pixels, from);
      add_row<width>(sums, pixels, filter, i);
    }
  } else {
    int col[per_row];
    for (int k = 0; k < per_row; ++k) col[k] = border::inside(x + k, cols, rule);
#pragma unroll 4
    for (int i = 0; i < loaded; ++i) {
      const int row = border::inside(y + i - radius, rows, rule);
      for (int k = 0; k < per_row; ++k) {
        pixels[k] = row < 0 || col[k] < 0 ? 0 : image[std::int64_t{row} * cols + col[k]];
      }
      add_row<width>(sums, pixels, filter, i);
    }
  }

#pragma unroll
  for (int r = 0; r < per_thread; ++r) {
    *reinterpret_cast<float4*>(&between[warp][r][per_row * lane]) =
        *reinterpret_cast<const float4*>(sums[r]);
  }
  __syncwarp();
  if (lane < near / per_row || lane >= 32 - near / per_row || x >= cols) return;
#pragma unroll
  for (int r = 0; r < per_thread; ++r) {
    if (y + r >= rows) break;
    alignas(16) float window[per_row + 2 * near];  // columns x - near to x + per_row + near
#pragma unroll
    for (int k = 0; k < per_row + 2 * near; k += per_row) {
      *reinterpret_cast<float4*>(window + k) =
          *reinterpret_cast<const float4*>(&between[warp][r][per_row * lane - near + k]);
    }
    alignas(16) float results[per_row] = {};
#pragma unroll
    for (int j = 0; j < width; ++j) {
#pragma unroll
      for (int k = 0; k < per_row; ++k) results[k] += filter.row[j] * window[near - radius + j + k];
    }
    float* const to = out + std::int64_t{y + r} * cols + x;
    if (vectors) {
      *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(results);
    } else {
#pragma unroll
      for (int k = 0; k < per_row; ++k) {
        if (x + k < cols) to[k] = results[k];
      }
    }
  }
}

/// out[y][x] = the sum of column[i] row[j] image[y + i - radius][x + j - radius], radius = width /
/// 2, all row by row. image and out: device pointers. rule: a border::Rule.
/// \returns cudaErrorInvalidValue for a width that is even or not 1 to 31, rows above 4,194,240,
/// cols above 2^31 - 4097, another rule; or the error of the launch.
cudaError_t convolve(const float* image, const SeparableFilter& filter, float* out,
                     std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (!border::fit(rows, cols, width, rule, block_rows)) return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  const bool aligned = border::rows_are_aligned(image, cols) && border::rows_are_aligned(out, cols);
  widths::choose<1, largest_width>(static_cast<int>(width), [&](auto w) {
    const auto kernel = aligned ? convolve_image<w(), true> : convolve_image<w(), false>;
    kernel<<<border::grid(rows, cols, block_rows, block_cols<w()>), dim3(32, warps), 0, stream>>>(
        image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(rule));
  });
  return cudaGetLastError();
}

}  // namespace fused
