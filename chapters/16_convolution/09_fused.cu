// Idea: both passes in one kernel, over a tile of 128 x 64 pixels in shared memory. A warp
//   convolves a row of the tile and writes the result where the row was. After one barrier each
//   thread slides down a column of four pixels.
// Predicts: the image is read and the result written once, the least traffic; the halo, 1.4 times
//   the tile with width 17, comes from the L2 cache.
// Still wrong: with a width of 3 or 5 the barrier costs more than the multiplications it saves.
#include <cuda_runtime.h>

#include <cstdint>

#include "border.cuh"
#include "halo_row.cuh"
#include "widths.cuh"

namespace fused {

constexpr int warps = 8, per_row = 4, per_thread = 8;
constexpr int block_cols = 32 * per_row, block_rows = warps * per_thread;

template <int width>
constexpr int pitch_of = block_cols + 2 * halo::margin<width / 2>;

template <int width>
__global__ void __launch_bounds__(32 * warps)
    convolve_image(const float* image, const __grid_constant__ SeparableFilter filter, float* out,
                   int rows, int cols, int rule, bool vectors) {
  constexpr int radius = width / 2, margin = halo::margin<radius>, near = (radius + 3) / 4 * 4;
  constexpr int pitch = pitch_of<width>, window_size = per_row + 2 * near;
  extern __shared__ float4 shared[];
  float* const tile = reinterpret_cast<float*>(shared);
  const int lane = threadIdx.x, warp = threadIdx.y;
  const int first_x = blockIdx.x * block_cols, first_y = blockIdx.y * block_rows;
  for (int y = warp; y < block_rows + width - 1; y += warps) {
    halo::copy_row<pitch>(tile + y * pitch, image, rows, cols, first_y + y - radius,
                          first_x - margin, rule, vectors);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncwarp();  // each warp reads the rows that it has copied

  for (int y = warp; y < block_rows + width - 1; y += warps) {
    alignas(16) float window[window_size];  // columns x - near to x + per_row + near
    float* const row = tile + y * pitch + per_row * lane;
#pragma unroll
    for (int k = 0; k < window_size; k += 4) {
      *reinterpret_cast<float4*>(window + k) =
          *reinterpret_cast<const float4*>(row + margin - near + k);
    }
    float sums[per_row] = {};
#pragma unroll
    for (int j = 0; j < width; ++j) {
#pragma unroll
      for (int k = 0; k < per_row; ++k) sums[k] += filter.row[j] * window[near - radius + j + k];
    }
    __syncwarp();  // the row is in registers
    *reinterpret_cast<float4*>(row) = make_float4(sums[0], sums[1], sums[2], sums[3]);
  }
  __syncthreads();

  const float* const from = tile + warp * per_thread * pitch + per_row * lane;
  alignas(16) float sums[per_thread][per_row] = {};
#pragma unroll
  for (int i = 0; i < per_thread + width - 1; ++i) {
    const float4 four = *reinterpret_cast<const float4*>(from + i * pitch);
#pragma unroll
    for (int r = 0; r < per_thread; ++r) {
      if (i - r < 0 || i - r >= width) continue;  // known when this is compiled
      sums[r][0] += filter.column[i - r] * four.x;
      sums[r][1] += filter.column[i - r] * four.y;
      sums[r][2] += filter.column[i - r] * four.z;
      sums[r][3] += filter.column[i - r] * four.w;
    }
  }
  const int x = first_x + per_row * lane, y = first_y + warp * per_thread;
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
  cudaError_t error = cudaSuccess;
  widths::choose<1, largest_width>(static_cast<int>(width), [&](auto w) {
    constexpr int bytes = (block_rows + w() - 1) * pitch_of<w()> * int{sizeof(float)};
    error = cudaFuncSetAttribute(convolve_image<w()>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 bytes);
    if (error != cudaSuccess) return;
    convolve_image<w()>
        <<<border::grid(rows, cols, block_rows, block_cols), dim3(32, warps), bytes, stream>>>(
            image, filter, out, static_cast<int>(rows), static_cast<int>(cols),
            static_cast<int>(rule), aligned);
    error = cudaGetLastError();
  });
  return error;
}

}  // namespace fused
