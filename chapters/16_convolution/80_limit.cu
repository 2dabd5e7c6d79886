// Idea: for each width the kernel that fits. Up to width 7 version 07. From 13 on version 06. For
//   widths 9 and 11 a kernel between them, in this file: no tile, and no shuffles either. A lane
//   loads its whole window, row by row; what its neighbors also load comes from the L1 cache.
//   A separable filter takes version 09; but up to width 5 its product with 25 coefficients,
//   because bytes limit both.
// Predicts: at each width the better of the two limits, less what a block waits.
// Calls 06_vectors.cu
// Calls 07_sliding.cu
// Calls 09_fused.cu
#include <cuda_runtime.h>

#include <cstdint>

#include "border.cuh"
#include "widths.cuh"

namespace vectors {
cudaError_t convolve(const float* image, const Filter& filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule, cudaStream_t stream);
}
namespace sliding {
cudaError_t convolve(const float* image, const Filter& filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule, cudaStream_t stream);
}
namespace fused {
cudaError_t convolve(const float* image, const SeparableFilter& filter, float* out,
                     std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream);
}

namespace limit {

constexpr int small = 7, middle = 11;  // the widest filters of 07 and of the kernel in this file
constexpr int as_product = 5;          // the widest separable filter that bytes limit as a product
constexpr int per_row = 4, per_thread = 4, warps = 4;
constexpr int block_cols = 32 * per_row, block_rows = warps * per_thread;

/// Adds what row i of the image, counted from the first that the window covers, has for each sum.
/// `window`: the columns from x - near on.
template <int width, int near>
__device__ void add_row(float (&sums)[per_thread][per_row],
                        const float (&window)[per_row + 2 * near], const Filter& filter, int i) {
#pragma unroll
  for (int r = 0; r < per_thread; ++r) {
    if (i - r < 0 || i - r >= width) continue;
#pragma unroll
    for (int j = 0; j < width; ++j) {
#pragma unroll
      for (int k = 0; k < per_row; ++k) {
        sums[r][k] += filter.at[(i - r) * width + j] * window[near - width / 2 + j + k];
      }
    }
  }
}

/// Four pixels from (y, x) on, which may lie outside of an image with aligned rows.
__device__ float4 four_pixels(const float* image, int rows, int cols, int y, int x, int rule) {
  if (y >= 0 && y < rows && x >= 0 && x < cols) {
    return *reinterpret_cast<const float4*>(image + std::int64_t{y} * cols + x);
  }
  float four[4];
  for (int k = 0; k < 4; ++k) four[k] = border::pixel(image, rows, cols, y, x + k, rule);
  return make_float4(four[0], four[1], four[2], four[3]);
}

/// All rows of the image and of out begin at multiples of 16 bytes. The bound of ten blocks per SM
/// keeps a thread at 48 registers.
template <int width>
__global__ void __launch_bounds__(32 * warps, 10)
    convolve_image(const float* image, const __grid_constant__ Filter filter, float* out, int rows,
                   int cols, int rule) {
  constexpr int radius = width / 2, near = (radius + 3) / 4 * 4, loaded = per_thread + width - 1;
  const int first_x = blockIdx.x * block_cols, x = first_x + per_row * threadIdx.x;
  const int y = blockIdx.y * block_rows + threadIdx.y * per_thread;
  alignas(16) float sums[per_thread][per_row] = {}, window[per_row + 2 * near];
  if (first_x >= near && first_x + block_cols + near <= cols && y >= radius &&
      y + per_thread + radius <= rows) {
    const float* from = image + std::int64_t{y - radius} * cols + x - near;
#pragma unroll
    for (int i = 0; i < loaded; ++i, from += cols) {
#pragma unroll
      for (int k = 0; k < per_row + 2 * near; k += 4) {
        *reinterpret_cast<float4*>(window + k) = *reinterpret_cast<const float4*>(from + k);
      }
      add_row<width, near>(sums, window, filter, i);
    }
  } else {
#pragma unroll 1
    for (int i = 0; i < loaded; ++i) {
#pragma unroll
      for (int k = 0; k < per_row + 2 * near; k += 4) {
        *reinterpret_cast<float4*>(window + k) =
            four_pixels(image, rows, cols, y + i - radius, x - near + k, rule);
      }
      add_row<width, near>(sums, window, filter, i);
    }
  }
#pragma unroll
  for (int r = 0; r < per_thread; ++r) {
    if (y + r >= rows || x >= cols) break;
    *reinterpret_cast<float4*>(out + std::int64_t{y + r} * cols + x) =
        *reinterpret_cast<const float4*>(sums[r]);
  }
}

/// out[y][x] = the sum of filter[i][j] image[y + i - radius][x + j - radius], radius = width / 2,
/// all row by row. image and out: device pointers. rule: a border::Rule.
/// \returns cudaErrorInvalidValue for a width that is even or not 1 to 31, more rows than its
/// kernel takes (524,280 at least), cols above 2^31 - 4097, another rule; or the error of the
/// launch.
cudaError_t convolve(const float* image, const Filter& filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (width <= small) return sliding::convolve(image, filter, out, rows, cols, width, rule, stream);
  // The kernel above takes aligned rows only.
  if (width > middle || !border::rows_are_aligned(image, cols) ||
      !border::rows_are_aligned(out, cols) || !border::fit(rows, cols, width, rule, block_rows)) {
    return vectors::convolve(image, filter, out, rows, cols, width, rule, stream);
  }
  if (rows == 0 || cols == 0) return cudaSuccess;
  widths::choose<small + 2, middle>(static_cast<int>(width), [&](auto w) {
    convolve_image<w()>
        <<<border::grid(rows, cols, block_rows, block_cols), dim3(32, warps), 0, stream>>>(
            image, filter, out, static_cast<int>(rows), static_cast<int>(cols),
            static_cast<int>(rule));
  });
  return cudaGetLastError();
}

/// The same for filter[i][j] = column[i] row[j]; up to width 5 each product is rounded to a float.
/// \returns as convolve().
cudaError_t convolve(const float* image, const SeparableFilter& filter, float* out,
                     std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (width > as_product || width < 1) {
    return fused::convolve(image, filter, out, rows, cols, width, rule, stream);
  }
  Filter product;
  for (std::int64_t i = 0; i < width; ++i) {
    for (std::int64_t j = 0; j < width; ++j) {
      product.at[i * width + j] = filter.column[i] * filter.row[j];
    }
  }
  return convolve(image, product, out, rows, cols, width, rule, stream);
}

}  // namespace limit
