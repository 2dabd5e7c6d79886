// Idea: a thread computes 8 columns of 4 rows and reads shared memory 16 bytes at a time. A row of
//   coefficients stays in registers for all 4 rows. The tile comes by asynchronous copies.
// Predicts: with width 17, six loads per 136 multiplications. What is left is the multiplications.
//   The lanes of a warp are 4 across and 8 down, in rows whose distance is 4 banks more than a
//   multiple of 8: eight lanes that are served together use all 32 banks.
// Still wrong: a small filter leaves little to compute while a block waits for its tile.
#include <cuda_runtime.h>

#include <cstdint>

#include "border.cuh"
#include "halo_row.cuh"
#include "widths.cuh"

namespace vectors {

constexpr int warps = 4, per_row = 8, lanes_x = 4, lanes_y = 8;
constexpr int warp_cols = lanes_x * per_row, block_cols = warps * warp_cols;

/// Computes block_cols columns of lanes_y * per_thread rows with a block of warps * 32 threads.
/// A thread's rows are lanes_y apart.
template <int width, int per_thread>
__global__ void __launch_bounds__(warps * 32)
    convolve_image(const float* image, const __grid_constant__ Filter filter, float* out, int rows,
                   int cols, int rule, bool in_vectors, bool out_vectors) {
  constexpr int radius = width / 2, margin = halo::margin<radius>, near = (radius + 3) / 4 * 4;
  constexpr int pitch = block_cols + 2 * margin + 4, block_rows = lanes_y * per_thread;
  constexpr int window_size = per_row + 2 * near;
  __shared__ alignas(16) float tile[(block_rows + width - 1) * pitch];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int first_x = blockIdx.x * block_cols, first_y = blockIdx.y * block_rows;
  for (int y = warp; y < block_rows + width - 1; y += warps) {
    halo::copy_row<block_cols + 2 * margin>(tile + y * pitch, image, rows, cols,
                                            first_y + y - radius, first_x - margin, rule,
                                            in_vectors);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();

  const int x = warp * warp_cols + lane % lanes_x * per_row, y = lane / lanes_x;
  const float* from = tile + y * pitch + x + margin - near;
  alignas(16) float sums[per_thread][per_row] = {};
#pragma unroll 1
  for (int i = 0; i < width; ++i, from += pitch) {
    float coefficients[width];
    for (int j = 0; j < width; ++j) coefficients[j] = filter.at[i * width + j];
#pragma unroll
    for (int r = 0; r < per_thread; ++r) {
      alignas(16) float window[window_size];  // columns x - near to x + per_row + near
#pragma unroll
      for (int k = 0; k < window_size; k += 4) {
        *reinterpret_cast<float4*>(window + k) =
            *reinterpret_cast<const float4*>(from + r * lanes_y * pitch + k);
      }
#pragma unroll
      for (int j = 0; j < width; ++j) {
#pragma unroll
        for (int k = 0; k < per_row; ++k) {
          sums[r][k] += coefficients[j] * window[near - radius + j + k];
        }
      }
    }
  }

  if (out_vectors) {
#pragma unroll
    for (int r = 0; r < per_thread; ++r) {
      const int row = first_y + y + r * lanes_y;
      float* const to = out + std::int64_t{row} * cols + first_x + x;
#pragma unroll
      for (int k = 0; k < per_row; k += 4) {
        if (row < rows && first_x + x + k < cols) {
          *reinterpret_cast<float4*>(to + k) = *reinterpret_cast<const float4*>(&sums[r][k]);
        }
      }
    }
    return;
  }
  // Rows that begin anywhere: through shared memory, so that neighbors store neighbors.
  __syncthreads();
#pragma unroll
  for (int r = 0; r < per_thread; ++r) {
#pragma unroll
    for (int k = 0; k < per_row; k += 4) {
      *reinterpret_cast<float4*>(tile + (y + r * lanes_y) * pitch + x + k) =
          *reinterpret_cast<const float4*>(&sums[r][k]);
    }
  }
  __syncwarp();
  const int col = warp * warp_cols + lane;
  for (int r = 0; r < block_rows && first_y + r < rows; ++r) {
    if (first_x + col < cols) {
      out[std::int64_t{first_y + r} * cols + first_x + col] = tile[r * pitch + col];
    }
  }
}

template <int per_thread>
cudaError_t launch(const float* image, const Filter& filter, float* out, std::int64_t rows,
                   std::int64_t cols, std::int64_t width, std::int64_t rule, cudaStream_t stream) {
  const dim3 grid = border::grid(rows, cols, lanes_y * per_thread, block_cols);
  widths::choose<1, largest_width>(static_cast<int>(width), [&](auto w) {
    convolve_image<w(), per_thread><<<grid, warps * 32, 0, stream>>>(
        image, filter, out, static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(rule),
        border::rows_are_aligned(image, cols), border::rows_are_aligned(out, cols));
  });
  return cudaGetLastError();
}

/// out[y][x] = the sum of filter[i][j] image[y + i - radius][x + j - radius], radius = width / 2,
/// all row by row. image and out: device pointers. rule: a border::Rule.
/// \returns cudaErrorInvalidValue for a width that is even or not 1 to 31, rows above 524,280, cols
/// above 2^31 - 4097, another rule; or the error of the launch.
cudaError_t convolve(const float* image, const Filter& filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (!border::fit(rows, cols, width, rule, lanes_y)) return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  // A small image: smaller tiles, so that each SM gets blocks.
  int device = 0, sms = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device)) {
    return error;
  }
  const dim3 grid = border::grid(rows, cols, lanes_y * 4, block_cols);
  return std::int64_t{grid.x} * grid.y < 2 * sms
             ? launch<1>(image, filter, out, rows, cols, width, rule, stream)
             : launch<4>(image, filter, out, rows, cols, width, rule, stream);
}

}  // namespace vectors
