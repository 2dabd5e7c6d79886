// Answers to exercise 5 of chapter 12, and the verdicts that the CPU backend must give.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "edge.cuh"

/// The star of point (y, x): its old value, and its neighbours as `neighbours` has them.
__device__ float star_of_neighbours(const Star& star, const float* now, const float* neighbours,
                                    const edge::Field& f, int y, int x) {
  return star.centre * now[edge::offset(f, 0, y, x)] +
         star.x[1] *
             (edge::point(neighbours, f, 0, y, x - 1) + edge::point(neighbours, f, 0, y, x + 1)) +
         star.y[1] *
             (edge::point(neighbours, f, 0, y - 1, x) + edge::point(neighbours, f, 0, y + 1, x));
}

/// A thread per point; those of the other colour do nothing.
__global__ void update_half(const float* now, const float* neighbours, Star star, float* next,
                            edge::Field f, int colour) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (y >= f.rows || x >= f.cols || (x + y) % 2 != colour) return;
  next[edge::offset(f, 0, y, x)] = star_of_neighbours(star, now, neighbours, f, y, x);
}

namespace one_thread_for_all {
// 5: NOT YET: right, but one after the other
__global__ void sweep_all(const float* now, Star star, float* next, edge::Field f) {
  for (int colour = 0; colour < 2; ++colour) {
    for (int y = 0; y < f.rows; ++y) {
      for (int x = (y + colour) % 2; x < f.cols; x += 2) {
        next[edge::offset(f, 0, y, x)] =
            star_of_neighbours(star, now, colour == 0 ? now : next, f, y, x);
      }
    }
  }
}

cudaError_t sweep(const float* now, const Star& star, float* next, std::int64_t rows,
                  std::int64_t cols, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  sweep_all<<<1, 1, 0, stream>>>(now, star, next, edge::field(1, rows, cols, edge::fixed));
  return cudaGetLastError();
}
}  // namespace one_thread_for_all

namespace one_block_for_all {
// 5: NOT YET: right, but one after the other
__global__ void sweep_by_block(const float* now, Star star, float* next, edge::Field f) {
  for (int colour = 0; colour < 2; ++colour) {
    for (int y = threadIdx.y; y < f.rows; y += 32) {
      for (int x = 2 * threadIdx.x + (y + colour) % 2; x < f.cols; x += 64) {
        next[edge::offset(f, 0, y, x)] =
            star_of_neighbours(star, now, colour == 0 ? now : next, f, y, x);
      }
    }
    __syncthreads();
  }
}

cudaError_t sweep(const float* now, const Star& star, float* next, std::int64_t rows,
                  std::int64_t cols, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  sweep_by_block<<<1, dim3(32, 32), 0, stream>>>(now, star, next,
                                                 edge::field(1, rows, cols, edge::fixed));
  return cudaGetLastError();
}
}  // namespace one_block_for_all

namespace one_lane_per_row {
// 5: NOT YET: right, but one after the other
__global__ void update_rows(const float* now, const float* neighbours, Star star, float* next,
                            edge::Field f, int colour) {
  const int y = blockIdx.x;
  for (int x = (y + colour) % 2; x < f.cols; x += 2)
    next[edge::offset(f, 0, y, x)] = star_of_neighbours(star, now, neighbours, f, y, x);
}

cudaError_t sweep(const float* now, const Star& star, float* next, std::int64_t rows,
                  std::int64_t cols, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, edge::fixed);
  const auto blocks = static_cast<unsigned>(rows);
  update_rows<<<blocks, 1, 0, stream>>>(now, now, star, next, f, 0);
  update_rows<<<blocks, 1, 0, stream>>>(now, next, star, next, f, 1);
  return cudaGetLastError();
}
}  // namespace one_lane_per_row

namespace jacobi {
// 5: NOT YET: wrong at rows=64 cols=256:
// All points at once, from old values.
__global__ void step_all(const float* now, Star star, float* next, edge::Field f) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (y < f.rows && x < f.cols)
    next[edge::offset(f, 0, y, x)] = star_of_neighbours(star, now, now, f, y, x);
}

cudaError_t sweep(const float* now, const Star& star, float* next, std::int64_t rows,
                  std::int64_t cols, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, edge::fixed);
  step_all<<<edge::grid(f, 1, 8, 32), dim3(32, 8), 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace jacobi

namespace two_launches_of_jacobi {
// 5: NOT YET: wrong at rows=64 cols=256:
cudaError_t sweep(const float* now, const Star& star, float* next, std::int64_t rows,
                  std::int64_t cols, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, edge::fixed);
  const dim3 grid = edge::grid(f, 1, 8, 32), block(32, 8);
  update_half<<<grid, block, 0, stream>>>(now, now, star, next, f, 0);
  update_half<<<grid, block, 0, stream>>>(now, now, star, next, f, 1);
  return cudaGetLastError();
}
}  // namespace two_launches_of_jacobi

namespace black_points_first {
// 5: NOT YET: wrong at rows=64 cols=256:
cudaError_t sweep(const float* now, const Star& star, float* next, std::int64_t rows,
                  std::int64_t cols, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, edge::fixed);
  const dim3 grid = edge::grid(f, 1, 8, 32), block(32, 8);
  update_half<<<grid, block, 0, stream>>>(now, now, star, next, f, 1);
  update_half<<<grid, block, 0, stream>>>(now, next, star, next, f, 0);
  return cudaGetLastError();
}
}  // namespace black_points_first

namespace red_points_only {
// 5: NOT YET: wrong at rows=64 cols=256:
cudaError_t sweep(const float* now, const Star& star, float* next, std::int64_t rows,
                  std::int64_t cols, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, edge::fixed);
  update_half<<<edge::grid(f, 1, 8, 32), dim3(32, 8), 0, stream>>>(now, now, star, next, f, 0);
  return cudaGetLastError();
}
}  // namespace red_points_only

namespace own_value_from_next {
// 5: NOT YET: wrong at rows=64 cols=256:
// A black point takes its old value from where its new one will be.
cudaError_t sweep(const float* now, const Star& star, float* next, std::int64_t rows,
                  std::int64_t cols, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, edge::fixed);
  const dim3 grid = edge::grid(f, 1, 8, 32), block(32, 8);
  update_half<<<grid, block, 0, stream>>>(now, now, star, next, f, 0);
  update_half<<<grid, block, 0, stream>>>(next, next, star, next, f, 1);
  return cudaGetLastError();
}
}  // namespace own_value_from_next

namespace fence_in_place_of_a_barrier {
// 5: NOT YET: wrong at rows=64 cols=256:
__global__ void sweep_with_fence(const float* now, Star star, float* next, edge::Field f) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const bool inside = x < f.cols && y < f.rows, red = (x + y) % 2 == 0;
  if (inside && red) next[edge::offset(f, 0, y, x)] = star_of_neighbours(star, now, now, f, y, x);
  __threadfence();
  __syncthreads();
  if (inside && !red) next[edge::offset(f, 0, y, x)] = star_of_neighbours(star, now, next, f, y, x);
}

cudaError_t sweep(const float* now, const Star& star, float* next, std::int64_t rows,
                  std::int64_t cols, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, edge::fixed);
  sweep_with_fence<<<edge::grid(f, 1, 8, 32), dim3(32, 8), 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace fence_in_place_of_a_barrier

namespace tile_without_halo_of_red {
// 5: NOT YET: wrong at rows=64 cols=256:
// The red points around the tile are old ones.
__global__ void sweep_tile(const float* now, Star star, float* next, edge::Field f) {
  __shared__ float s[10][34];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 8;
  for (int row = threadIdx.y; row < 10; row += 8) {
    for (int col = threadIdx.x; col < 34; col += 32)
      s[row][col] = edge::point(now, f, 0, y0 + row - 1, x0 + col - 1);
  }
  const int row = threadIdx.y + 1, col = threadIdx.x + 1;
  const int y = y0 + threadIdx.y, x = x0 + threadIdx.x;
  for (int colour = 0; colour < 2; ++colour) {
    __syncthreads();
    if ((x + y) % 2 == colour) {
      s[row][col] = star.centre * s[row][col] + star.x[1] * (s[row][col - 1] + s[row][col + 1]) +
                    star.y[1] * (s[row - 1][col] + s[row + 1][col]);
    }
  }
  if (y < f.rows && x < f.cols) next[edge::offset(f, 0, y, x)] = s[row][col];
}

cudaError_t sweep(const float* now, const Star& star, float* next, std::int64_t rows,
                  std::int64_t cols, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, edge::fixed);
  sweep_tile<<<edge::grid(f, 1, 8, 32), dim3(32, 8), 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace tile_without_halo_of_red

namespace a_thread_per_point {
// 5: PASSED
cudaError_t sweep(const float* now, const Star& star, float* next, std::int64_t rows,
                  std::int64_t cols, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, edge::fixed);
  const dim3 grid = edge::grid(f, 1, 8, 32), block(32, 8);
  update_half<<<grid, block, 0, stream>>>(now, now, star, next, f, 0);
  update_half<<<grid, block, 0, stream>>>(now, next, star, next, f, 1);
  return cudaGetLastError();
}
}  // namespace a_thread_per_point

namespace copy_and_then_in_place {
// 5: PASSED
// The field is copied first; both launches then work in place.
cudaError_t sweep(const float* now, const Star& star, float* next, std::int64_t rows,
                  std::int64_t cols, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, edge::fixed);
  const dim3 grid = edge::grid(f, 1, 8, 32), block(32, 8);
  const auto bytes = static_cast<std::size_t>(rows * cols) * sizeof(float);
  const cudaError_t error = cudaMemcpyAsync(next, now, bytes, cudaMemcpyDeviceToDevice, stream);
  if (error != cudaSuccess) return error;
  update_half<<<grid, block, 0, stream>>>(next, next, star, next, f, 0);
  update_half<<<grid, block, 0, stream>>>(next, next, star, next, f, 1);
  return cudaGetLastError();
}
}  // namespace copy_and_then_in_place

namespace grid_barrier {
// 5: PASSED
// One cooperative launch: all its blocks are resident, so a barrier of the grid is possible.
__global__ void sweep_at_once(const float* now, Star star, float* next, edge::Field f) {
  const int threads = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;
  const int half = (f.cols + 1) / 2;
  for (int colour = 0; colour < 2; ++colour) {
    for (int k = first; k < f.rows * half; k += threads) {
      const int y = k / half, x = 2 * (k % half) + (y + colour) % 2;
      if (x < f.cols) {
        next[edge::offset(f, 0, y, x)] =
            star_of_neighbours(star, now, colour == 0 ? now : next, f, y, x);
      }
    }
    cooperative_groups::this_grid().sync();
  }
}

cudaError_t sweep(const float* now, const Star& star, float* next, std::int64_t rows,
                  std::int64_t cols, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  int device = 0, sms = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  edge::Field f = edge::field(1, rows, cols, edge::fixed);
  Star own = star;
  void* arguments[] = {&now, &own, &next, &f};
  return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(sweep_at_once), dim3(2 * sms),
                                     dim3(256), arguments, 0, stream);
}
}  // namespace grid_barrier

namespace tile_with_red_halo {
// 5: PASSED
// One launch: red points around the tile are computed by this block as well.
__global__ void sweep_tile(const float* now, Star star, float* next, edge::Field f) {
  __shared__ float s[20][36];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 16;
  for (int row = threadIdx.y; row < 20; row += 8) {
    for (int col = threadIdx.x; col < 36; col += 32)
      s[row][col] = edge::point(now, f, 0, y0 + row - 2, x0 + col - 2);
  }
  for (int colour = 0; colour < 2; ++colour) {
    __syncthreads();
    const int halo = 1 - colour;
    for (int row = 2 - halo + threadIdx.y; row < 18 + halo; row += 8) {
      for (int col = 2 - halo + threadIdx.x; col < 34 + halo; col += 32) {
        const int y = y0 + row - 2, x = x0 + col - 2;
        const bool inside = y >= 0 && y < f.rows && x >= 0 && x < f.cols;
        if (!inside || (x + y) % 2 != colour) continue;
        s[row][col] = star.centre * s[row][col] + star.x[1] * (s[row][col - 1] + s[row][col + 1]) +
                      star.y[1] * (s[row - 1][col] + s[row + 1][col]);
      }
    }
  }
  __syncthreads();
  for (int row = threadIdx.y; row < 16; row += 8) {
    const int y = y0 + row, x = x0 + threadIdx.x;
    if (y < f.rows && x < f.cols) next[edge::offset(f, 0, y, x)] = s[row + 2][threadIdx.x + 2];
  }
}

cudaError_t sweep(const float* now, const Star& star, float* next, std::int64_t rows,
                  std::int64_t cols, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, edge::fixed);
  sweep_tile<<<edge::grid(f, 1, 16, 32), dim3(32, 8), 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace tile_with_red_halo

namespace red_points_from_global_memory {
// 5: NOT YET: right, but it moves
// One launch without shared memory: a black point computes its four red neighbours itself.
__device__ float red(const Star& star, const float* now, const edge::Field& f, int y, int x) {
  const bool inside = y >= 0 && y < f.rows && x >= 0 && x < f.cols;
  return inside ? star_of_neighbours(star, now, now, f, y, x) : 0;
}

__global__ void sweep_points(const float* now, Star star, float* next, edge::Field f) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (y >= f.rows || x >= f.cols) return;
  const std::int64_t at = edge::offset(f, 0, y, x);
  if ((x + y) % 2 == 0) {
    next[at] = red(star, now, f, y, x);
  } else {
    next[at] = star.centre * now[at] +
               star.x[1] * (red(star, now, f, y, x - 1) + red(star, now, f, y, x + 1)) +
               star.y[1] * (red(star, now, f, y - 1, x) + red(star, now, f, y + 1, x));
  }
}

cudaError_t sweep(const float* now, const Star& star, float* next, std::int64_t rows,
                  std::int64_t cols, cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, edge::fixed);
  sweep_points<<<edge::grid(f, 1, 8, 32), dim3(32, 8), 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}
}  // namespace red_points_from_global_memory
