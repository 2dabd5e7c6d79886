// Answers to exercise 4 of chapter 12, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstdint>

#include "edge.cuh"
#include "four.cuh"

constexpr int star_radius = 4;

/// The four points of a row from (y, x) on: vectors[0] to [2] are those from x - 4, x and x + 4 on.
__device__ float4 star_of_row(const Star& star, const float4 (&vectors)[3]) {
  const float window[] = {vectors[0].x, vectors[0].y, vectors[0].z, vectors[0].w,
                          vectors[1].x, vectors[1].y, vectors[1].z, vectors[1].w,
                          vectors[2].x, vectors[2].y, vectors[2].z, vectors[2].w};
  float4 sum = make_float4(0, 0, 0, 0);
  four::add(sum, star.centre, vectors[1]);
  four::add_along_x<star_radius>(sum, star.x, window);
  return sum;
}

/// Loads a tile of rows of vectors, by all threads of a block.
__device__ void load_vectors(float4* s, int rows, int pitch, const float* now, const edge::Field& f,
                             int y0, int x0) {
  const int threads = blockDim.x * blockDim.y;
  for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < rows * pitch; k += threads)
    s[k] = four::load(now, f, 0, y0 + k / pitch, x0 + 4 * (k % pitch));
}

__device__ float star_from_memory(const float* now, const Star& star, const edge::Field& f, int y,
                                  int x) {
  float sum = star.centre * edge::point(now, f, 0, y, x);
  for (int k = 1; k <= star_radius; ++k) {
    sum += star.x[k] * (edge::point(now, f, 0, y, x - k) + edge::point(now, f, 0, y, x + k));
    sum += star.y[k] * (edge::point(now, f, 0, y - k, x) + edge::point(now, f, 0, y + k, x));
  }
  return sum;
}

using KernelOfPlane = void(const float*, Star, float*, edge::Field);

/// Launches a kernel whose blocks compute block_rows x block_cols points.
inline cudaError_t launch_plane(KernelOfPlane* kernel, dim3 block, int block_rows, int block_cols,
                                const float* now, const Star& star, float* next, std::int64_t rows,
                                std::int64_t cols, std::int64_t rule, cudaStream_t stream,
                                bool one_block = false) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(1, rows, cols, rule, now, next);
  const dim3 grid = one_block ? dim3(1) : edge::grid(f, 1, block_rows, block_cols);
  kernel<<<grid, block, 0, stream>>>(now, star, next, f);
  return cudaGetLastError();
}

namespace one_thread_for_all {
// 4: NOT YET: right, but one after the other
__global__ void step_all(const float* now, Star star, float* next, edge::Field f) {
  for (int y = 0; y < f.rows; ++y) {
    for (int x = 0; x < f.cols; ++x)
      next[edge::offset(f, 0, y, x)] = star_from_memory(now, star, f, y, x);
  }
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t, std::int64_t rule, cudaStream_t stream) {
  return launch_plane(step_all, dim3(1), 1, 1, now, star, next, rows, cols, rule, stream, true);
}
}  // namespace one_thread_for_all

namespace from_global_memory {
// 4: NOT YET: right, but it moves
__global__ void step_directly(const float* now, Star star, float* next, edge::Field f) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (y < f.rows && x < f.cols)
    next[edge::offset(f, 0, y, x)] = star_from_memory(now, star, f, y, x);
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t, std::int64_t rule, cudaStream_t stream) {
  return launch_plane(step_directly, dim3(32, 8), 8, 32, now, star, next, rows, cols, rule, stream);
}
}  // namespace from_global_memory

namespace vectors_from_global_memory {
// 4: NOT YET: right, but it moves
__global__ void step_vectors(const float* now, Star star, float* next, edge::Field f) {
  const int x = 4 * (blockIdx.x * 32 + threadIdx.x), y = blockIdx.y * 8 + threadIdx.y;
  if (y >= f.rows || x >= f.cols) return;
  const float4 vectors[] = {four::load(now, f, 0, y, x - 4), four::load(now, f, 0, y, x),
                            four::load(now, f, 0, y, x + 4)};
  float4 sum = star_of_row(star, vectors);
  for (int k = 1; k <= star_radius; ++k)
    four::add(sum, star.y[k], four::load(now, f, 0, y - k, x), four::load(now, f, 0, y + k, x));
  four::store(next, f, 0, y, x, sum);
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t, std::int64_t rule, cudaStream_t stream) {
  return launch_plane(step_vectors, dim3(32, 8), 8, 128, now, star, next, rows, cols, rule, stream);
}
}  // namespace vectors_from_global_memory

namespace one_row_of_vectors {
// 4: NOT YET: right, but 0.6471 wavefronts of shared memory per multiplication of a warp
__global__ void step_rows(const float* now, Star star, float* next, edge::Field f) {
  __shared__ float4 s[16][34];
  const int x0 = blockIdx.x * 128, y0 = blockIdx.y * 8, v = threadIdx.x + 1;
  load_vectors(s[0], 16, 34, now, f, y0 - 4, x0 - 4);
  __syncthreads();
  const int row = threadIdx.y + 4;
  const float4 vectors[] = {s[row][v - 1], s[row][v], s[row][v + 1]};
  float4 sum = star_of_row(star, vectors);
  for (int k = 1; k <= star_radius; ++k) four::add(sum, star.y[k], s[row - k][v], s[row + k][v]);
  four::store(next, f, 0, y0 + static_cast<int>(threadIdx.y),
              x0 + 4 * static_cast<int>(threadIdx.x), sum);
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t, std::int64_t rule, cudaStream_t stream) {
  return launch_plane(step_rows, dim3(32, 8), 8, 128, now, star, next, rows, cols, rule, stream);
}
}  // namespace one_row_of_vectors

namespace two_rows_each_alone {
// 4: NOT YET: right, but 0.6471 wavefronts of shared memory per multiplication of a warp
__global__ void step_rows(const float* now, Star star, float* next, edge::Field f) {
  __shared__ float4 s[24][34];
  const int x0 = blockIdx.x * 128, y0 = blockIdx.y * 16, v = threadIdx.x + 1;
  load_vectors(s[0], 24, 34, now, f, y0 - 4, x0 - 4);
  __syncthreads();
  for (int r = 0; r < 2; ++r) {
    const int y = threadIdx.y + 8 * r, row = y + 4;  // eight rows apart: no vector in common
    const float4 vectors[] = {s[row][v - 1], s[row][v], s[row][v + 1]};
    float4 sum = star_of_row(star, vectors);
    for (int k = 1; k <= star_radius; ++k) four::add(sum, star.y[k], s[row - k][v], s[row + k][v]);
    four::store(next, f, 0, y0 + y, x0 + 4 * static_cast<int>(threadIdx.x), sum);
  }
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t, std::int64_t rule, cudaStream_t stream) {
  return launch_plane(step_rows, dim3(32, 8), 16, 128, now, star, next, rows, cols, rule, stream);
}
}  // namespace two_rows_each_alone

namespace four_points_as_floats {
// 4: NOT YET: right, but bank conflicts: 4 wavefronts per read of shared memory, 1.5 would do
// Four points of a row per thread, but each is read alone: the lanes are four words apart.
__global__ void step_floats(const float* now, Star star, float* next, edge::Field f) {
  __shared__ float s[16][136];
  const int x0 = blockIdx.x * 128, y0 = blockIdx.y * 8;
  for (int row = threadIdx.y; row < 16; row += 8) {
    for (int col = threadIdx.x; col < 136; col += 32)
      s[row][col] = edge::point(now, f, 0, y0 + row - 4, x0 + col - 4);
  }
  __syncthreads();
  const int row = threadIdx.y + 4, col = 4 * threadIdx.x + 4;
  float window[12];
  for (int k = 0; k < 12; ++k) window[k] = s[row][col - 4 + k];
  for (int p = 0; p < 4; ++p) {
    float sum = star.centre * window[4 + p];
    for (int k = 1; k <= star_radius; ++k) {
      sum += star.x[k] * (window[4 + p - k] + window[4 + p + k]);
      sum += star.y[k] * (s[row - k][col + p] + s[row + k][col + p]);
    }
    const int y = y0 + static_cast<int>(threadIdx.y);
    const int x = x0 + 4 * static_cast<int>(threadIdx.x) + p;
    if (y < f.rows && x < f.cols) next[edge::offset(f, 0, y, x)] = sum;
  }
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t, std::int64_t rule, cudaStream_t stream) {
  return launch_plane(step_floats, dim3(32, 8), 8, 128, now, star, next, rows, cols, rule, stream);
}
}  // namespace four_points_as_floats

namespace columns_of_floats {
// 4: NOT YET: right, but 0.6471 wavefronts of shared memory per multiplication of a warp
// Four points of a column per thread: those along y are used four times, those along x once.
__global__ void step_columns(const float* now, Star star, float* next, edge::Field f) {
  __shared__ float s[40][40];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 32;
  for (int row = threadIdx.y; row < 40; row += 8) {
    for (int col = threadIdx.x; col < 40; col += 32)
      s[row][col] = edge::point(now, f, 0, y0 + row - 4, x0 + col - 4);
  }
  __syncthreads();
  const int first = 4 * threadIdx.y, col = threadIdx.x + 4;
  float column[12];
  for (int k = 0; k < 12; ++k) column[k] = s[first + k][col];
  for (int p = 0; p < 4; ++p) {
    float sum = star.centre * column[p + 4];
    for (int k = 1; k <= star_radius; ++k) {
      sum += star.x[k] * (s[first + p + 4][col - k] + s[first + p + 4][col + k]);
      sum += star.y[k] * (column[p + 4 - k] + column[p + 4 + k]);
    }
    const int y = y0 + first + p, x = x0 + static_cast<int>(threadIdx.x);
    if (y < f.rows && x < f.cols) next[edge::offset(f, 0, y, x)] = sum;
  }
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t, std::int64_t rule, cudaStream_t stream) {
  return launch_plane(step_columns, dim3(32, 8), 32, 32, now, star, next, rows, cols, rule, stream);
}
}  // namespace columns_of_floats

namespace no_barrier {
// 4: NOT YET: wrong at rows=32 cols=128 radius=4 edge=0:
__global__ void step_rows(const float* now, Star star, float* next, edge::Field f) {
  __shared__ float4 s[24][34];
  const int x0 = blockIdx.x * 128, y0 = blockIdx.y * 16, v = threadIdx.x + 1;
  load_vectors(s[0], 24, 34, now, f, y0 - 4, x0 - 4);
  const int first = 2 * threadIdx.y;
  float4 column[10];
  for (int k = 0; k < 10; ++k) column[k] = s[first + k][v];
  for (int r = 0; r < 2; ++r) {
    const float4 vectors[] = {s[first + r + 4][v - 1], column[r + 4], s[first + r + 4][v + 1]};
    float4 sum = star_of_row(star, vectors);
    for (int k = 1; k <= 4; ++k) four::add(sum, star.y[k], column[r + 4 - k], column[r + 4 + k]);
    four::store(next, f, 0, y0 + first + r, x0 + 4 * static_cast<int>(threadIdx.x), sum);
  }
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t, std::int64_t rule, cudaStream_t stream) {
  return launch_plane(step_rows, dim3(32, 8), 16, 128, now, star, next, rows, cols, rule, stream);
}
}  // namespace no_barrier

namespace vectors_whatever_the_rows {
// 4: NOT YET: wrong at rows=35 cols=131 radius=4 edge=0:
// Stores vectors even where a row is no multiple of 16 bytes.
__global__ void step_rows(const float* now, Star star, float* next, edge::Field f) {
  __shared__ float4 s[24][34];
  const int x0 = blockIdx.x * 128, y0 = blockIdx.y * 16, v = threadIdx.x + 1;
  load_vectors(s[0], 24, 34, now, f, y0 - 4, x0 - 4);
  __syncthreads();
  const int first = 2 * threadIdx.y;
  for (int r = 0; r < 2; ++r) {
    const int row = first + r + 4, y = y0 + first + r, x = x0 + 4 * static_cast<int>(threadIdx.x);
    const float4 vectors[] = {s[row][v - 1], s[row][v], s[row][v + 1]};
    float4 sum = star_of_row(star, vectors);
    for (int k = 1; k <= 4; ++k) four::add(sum, star.y[k], s[row - k][v], s[row + k][v]);
    if (y < f.rows && x < f.cols) *reinterpret_cast<float4*>(&next[edge::offset(f, 0, y, x)]) = sum;
  }
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t, std::int64_t rule, cudaStream_t stream) {
  return launch_plane(step_rows, dim3(32, 8), 16, 128, now, star, next, rows, cols, rule, stream);
}
}  // namespace vectors_whatever_the_rows

namespace one_block_of_vectors {
// 4: NOT YET: right, but one after the other
__global__ void step_tiles(const float* now, Star star, float* next, edge::Field f) {
  __shared__ float4 s[40][34];
  const int v = threadIdx.x + 1, row = threadIdx.y + 4;
  for (int y0 = 0; y0 < f.rows; y0 += 32) {
    for (int x0 = 0; x0 < f.cols; x0 += 128) {
      __syncthreads();
      load_vectors(s[0], 40, 34, now, f, y0 - 4, x0 - 4);
      __syncthreads();
      const float4 vectors[] = {s[row][v - 1], s[row][v], s[row][v + 1]};
      float4 sum = star_of_row(star, vectors);
      for (int k = 1; k <= 4; ++k) four::add(sum, star.y[k], s[row - k][v], s[row + k][v]);
      four::store(next, f, 0, y0 + static_cast<int>(threadIdx.y),
                  x0 + 4 * static_cast<int>(threadIdx.x), sum);
    }
  }
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t, std::int64_t rule, cudaStream_t stream) {
  return launch_plane(step_tiles, dim3(32, 32), 32, 128, now, star, next, rows, cols, rule, stream,
                      true);
}
}  // namespace one_block_of_vectors

namespace four_rows_of_vectors {
// 4: PASSED
__global__ void step_rows(const float* now, Star star, float* next, edge::Field f) {
  __shared__ float4 s[40][34];
  const int x0 = blockIdx.x * 128, y0 = blockIdx.y * 32, v = threadIdx.x + 1;
  load_vectors(s[0], 40, 34, now, f, y0 - 4, x0 - 4);
  __syncthreads();
  const int first = 4 * threadIdx.y;
  float4 column[12];
  for (int k = 0; k < 12; ++k) column[k] = s[first + k][v];
  for (int r = 0; r < 4; ++r) {
    const float4 vectors[] = {s[first + r + 4][v - 1], column[r + 4], s[first + r + 4][v + 1]};
    float4 sum = star_of_row(star, vectors);
    for (int k = 1; k <= 4; ++k) four::add(sum, star.y[k], column[r + 4 - k], column[r + 4 + k]);
    four::store(next, f, 0, y0 + first + r, x0 + 4 * static_cast<int>(threadIdx.x), sum);
  }
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t, std::int64_t rule, cudaStream_t stream) {
  return launch_plane(step_rows, dim3(32, 8), 32, 128, now, star, next, rows, cols, rule, stream);
}
}  // namespace four_rows_of_vectors

namespace narrow_blocks {
// 4: PASSED
// A warp computes 32 columns of eight rows; the middles are read a second time.
__global__ void step_rows(const float* now, Star star, float* next, edge::Field f) {
  __shared__ alignas(16) float s[40][40];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 32, first = 2 * threadIdx.y;
  load_vectors(reinterpret_cast<float4*>(s), 40, 10, now, f, y0 - 4, x0 - 4);
  __syncthreads();
  const auto vector = [&](int row, int v) { return *reinterpret_cast<float4*>(&s[row][4 * v]); };
  const int v = threadIdx.x + 1;
  float4 sums[2];
  for (int r = 0; r < 2; ++r) {
    const int row = first + r + 4;
    const float4 vectors[] = {vector(row, v - 1), vector(row, v), vector(row, v + 1)};
    sums[r] = star_of_row(star, vectors);
  }
  for (int k = 0; k < 10; ++k) {
    const float4 point = vector(first + k, v);
    for (int r = 0; r < 2; ++r) {
      const int away = abs(k - 4 - r);
      if (away >= 1 && away <= 4) four::add(sums[r], star.y[away], point);
    }
  }
  for (int r = 0; r < 2; ++r)
    four::store(next, f, 0, y0 + first + r, x0 + 4 * static_cast<int>(threadIdx.x), sums[r]);
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t, std::int64_t rule, cudaStream_t stream) {
  return launch_plane(step_rows, dim3(8, 16), 32, 32, now, star, next, rows, cols, rule, stream);
}
}  // namespace narrow_blocks

namespace neighbours_by_shuffle {
// 4: PASSED
// Vectors left and right come from other lanes, but for the first and the last lane.
__global__ void step_rows(const float* now, Star star, float* next, edge::Field f) {
  __shared__ float4 s[24][34];
  const int x0 = blockIdx.x * 128, y0 = blockIdx.y * 16, lane = threadIdx.x, v = lane + 1;
  load_vectors(s[0], 24, 34, now, f, y0 - 4, x0 - 4);
  __syncthreads();
  const int first = 2 * threadIdx.y;
  float4 column[10];
  for (int k = 0; k < 10; ++k) column[k] = s[first + k][v];
  for (int r = 0; r < 2; ++r) {
    const float4 own = column[r + 4];
    float4 left, right;
    left.x = __shfl_up_sync(~0u, own.x, 1), right.x = __shfl_down_sync(~0u, own.x, 1);
    left.y = __shfl_up_sync(~0u, own.y, 1), right.y = __shfl_down_sync(~0u, own.y, 1);
    left.z = __shfl_up_sync(~0u, own.z, 1), right.z = __shfl_down_sync(~0u, own.z, 1);
    left.w = __shfl_up_sync(~0u, own.w, 1), right.w = __shfl_down_sync(~0u, own.w, 1);
    if (lane == 0) left = s[first + r + 4][0];
    if (lane == 31) right = s[first + r + 4][33];
    const float4 vectors[] = {left, own, right};
    float4 sum = star_of_row(star, vectors);
    for (int k = 1; k <= 4; ++k) four::add(sum, star.y[k], column[r + 4 - k], column[r + 4 + k]);
    four::store(next, f, 0, y0 + first + r, x0 + 4 * lane, sum);
  }
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t, std::int64_t rule, cudaStream_t stream) {
  return launch_plane(step_rows, dim3(32, 8), 16, 128, now, star, next, rows, cols, rule, stream);
}
}  // namespace neighbours_by_shuffle

namespace queue_of_rows {
// 4: PASSED
// A thread moves down eight rows; its column of nine vectors is a queue.
__global__ void step_rows(const float* now, Star star, float* next, edge::Field f) {
  __shared__ float4 s[40][34];
  const int x0 = blockIdx.x * 128, y0 = blockIdx.y * 32, v = threadIdx.x + 1;
  load_vectors(s[0], 40, 34, now, f, y0 - 4, x0 - 4);
  __syncthreads();
  const int first = 8 * threadIdx.y;
  float4 queue[9];
  for (int k = 0; k < 8; ++k) queue[k + 1] = s[first + k][v];
  for (int r = 0; r < 8; ++r) {
    for (int k = 0; k < 8; ++k) queue[k] = queue[k + 1];
    queue[8] = s[first + r + 8][v];
    const float4 vectors[] = {s[first + r + 4][v - 1], queue[4], s[first + r + 4][v + 1]};
    float4 sum = star_of_row(star, vectors);
    for (int k = 1; k <= 4; ++k) four::add(sum, star.y[k], queue[4 - k], queue[4 + k]);
    four::store(next, f, 0, y0 + first + r, x0 + 4 * static_cast<int>(threadIdx.x), sum);
  }
}

cudaError_t step(const float* now, const Star& star, float* next, std::int64_t rows,
                 std::int64_t cols, std::int64_t, std::int64_t rule, cudaStream_t stream) {
  return launch_plane(step_rows, dim3(32, 4), 32, 128, now, star, next, rows, cols, rule, stream);
}
}  // namespace queue_of_rows
