// Answers to the exercises of chapter 03, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

// Allowed by the rules, but no thread of the GPU has any work.
namespace host_copies {
// 1 2 3 4 5 6: NOT YET: right, but its kernels do not read
cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  std::vector<float> x(rows * cols), y(rows * cols);
  cudaMemcpyAsync(x.data(), in, x.size() * sizeof(float), cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t col = 0; col < cols; ++col) y[col * rows + row] = x[row * cols + col];
  }
  cudaMemcpyAsync(out, y.data(), y.size() * sizeof(float), cudaMemcpyHostToDevice, stream);
  return cudaStreamSynchronize(stream);
}
}  // namespace host_copies

// Without a kernel: each copy picks a column.
namespace copies_in_a_loop {
// 1 2 3 4 5 6: NOT YET: right, but its kernels do not read
cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  if (rows == 0) return cudaSuccess;
  for (std::int64_t col = 0; col < cols; ++col) {
    if (cudaError_t error =
            cudaMemcpy2DAsync(out + col * rows, sizeof(float), in + col, cols * sizeof(float),
                              sizeof(float), rows, cudaMemcpyDeviceToDevice, stream))
      return error;
  }
  return cudaSuccess;
}
}  // namespace copies_in_a_loop

namespace one_thread {
// 1 2 3 4 5 6: NOT YET: right, but one after the other
__global__ void transpose_all(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t col = 0; col < cols; ++col) out[col * rows + row] = in[row * cols + col];
  }
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  transpose_all<<<1, 1, 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
}  // namespace one_thread

namespace one_lane_per_warp {
// 1 2 3 4 5 6: NOT YET: right, but one after the other
__global__ void transpose_some(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  if (threadIdx.x != 0) return;
  const std::int64_t row = blockIdx.x;
  for (std::int64_t col = threadIdx.y; col < cols; col += blockDim.y)
    out[col * rows + row] = in[row * cols + col];
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  transpose_some<<<static_cast<unsigned>(rows), dim3(32, 32), 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp

// One block moves one tile after the other, each in the best way.
namespace one_block {
// 1 2 3 4 5 6: NOT YET: right, but one after the other
__global__ void transpose_all(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  __shared__ float s[32][32];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  for (std::int64_t row = 0; row < rows; row += 32) {
    for (std::int64_t col = 0; col < cols; col += 32) {
      __syncthreads();
      if (row + y < rows && col + x < cols) s[y][x ^ y] = in[(row + y) * cols + col + x];
      __syncthreads();
      if (col + y < cols && row + x < rows) out[(col + y) * rows + row + x] = s[x][y ^ x];
    }
  }
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  transpose_all<<<1, dim3(32, 32), 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
}  // namespace one_block

namespace one_thread_per_row {
// 1 2 3: NOT YET: right, but one after the other
// 4 5 6: NOT YET: right, but
__global__ void transpose_rows(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  const std::int64_t row = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (row >= rows) return;
  for (std::int64_t col = 0; col < cols; ++col) out[col * rows + row] = in[row * cols + col];
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  if (rows == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>((rows + 255) / 256);
  transpose_rows<<<blocks, 256, 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
}  // namespace one_thread_per_row

namespace launches_in_a_loop {
// 1 2 3: NOT YET: right, but one after the other
// 4 5 6: NOT YET: right, but
__global__ void transpose_row(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  const std::int64_t col = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (col < cols) out[col * rows] = in[col];
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((cols + 255) / 256);
  for (std::int64_t row = 0; row < rows; ++row)
    transpose_row<<<blocks, 256, 0, stream>>>(in + row * cols, out + row, rows, cols);
  return cudaGetLastError();
}
}  // namespace launches_in_a_loop

namespace coalesced_loads_only {
// 1: PASSED
// 2 3: NOT YET: right, but it moves
// 4 5 6: NOT YET: right, but uncoalesced: 32 sectors per store request, 4 would do
__global__ void transpose_each(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  const std::int64_t col = std::int64_t{blockIdx.x} * 64 + threadIdx.x;
  const std::int64_t row = std::int64_t{blockIdx.y} * 4 + threadIdx.y;
  if (row < rows && col < cols) out[col * rows + row] = in[row * cols + col];
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const dim3 grid(static_cast<unsigned>((cols + 63) / 64), static_cast<unsigned>((rows + 3) / 4));
  transpose_each<<<grid, dim3(64, 4), 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
}  // namespace coalesced_loads_only

// A thread per element of the result.
namespace coalesced_stores_only {
// 1: PASSED
// 2 3: NOT YET: right, but it moves
// 4 5 6: NOT YET: right, but uncoalesced: 32 sectors per load request, 4 would do
__global__ void transpose_each(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (i < rows * cols) out[i] = in[i % rows * cols + i / rows];
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((rows * cols + 255) / 256);
  if (blocks > 0) transpose_each<<<blocks, 256, 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
}  // namespace coalesced_stores_only

// Each thread reads from the tile what it wrote there: the tile is useless.
namespace tile_for_show {
// 2 3: NOT YET: right, but it moves
// 4 5 6: NOT YET: right, but uncoalesced: 32 sectors per store request, 4 would do
__global__ void transpose_tile(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  __shared__ float s[32][32];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::int64_t row = std::int64_t{blockIdx.y} * 32 + y,
                     col = std::int64_t{blockIdx.x} * 32 + x;
  if (row < rows && col < cols) s[y][x] = in[row * cols + col];
  __syncthreads();
  if (row < rows && col < cols) out[col * rows + row] = s[y][x];
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const dim3 grid(static_cast<unsigned>((cols + 31) / 32), static_cast<unsigned>((rows + 31) / 32));
  transpose_tile<<<grid, dim3(32, 32), 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
}  // namespace tile_for_show

// Transposed when written into the tile: now the writes conflict.
namespace conflicts_on_the_way_in {
// 2 5: NOT YET: right, but bank conflicts: 32 wavefronts per write of shared memory, 1 would do
// 4: PASSED
// 6: NOT YET: right, but shared memory takes
__global__ void transpose_tile(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  __shared__ float s[32][32];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::int64_t row = std::int64_t{blockIdx.y} * 32, col = std::int64_t{blockIdx.x} * 32;
  if (row + y < rows && col + x < cols) s[x][y] = in[(row + y) * cols + col + x];
  __syncthreads();
  if (col + y < cols && row + x < rows) out[(col + y) * rows + row + x] = s[y][x];
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const dim3 grid(static_cast<unsigned>((cols + 31) / 32), static_cast<unsigned>((rows + 31) / 32));
  transpose_tile<<<grid, dim3(32, 32), 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
}  // namespace conflicts_on_the_way_in

// Version 05, which the hint of exercise 4 leads to.
namespace tile_without_padding {
// 1: PASSED
// 2 5: NOT YET: right, but bank conflicts: 32 wavefronts per read of shared memory, 1 would do
// 4: PASSED
// 6: NOT YET: right, but shared memory takes
__global__ void transpose_tile(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  __shared__ float s[32][32];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::int64_t row = std::int64_t{blockIdx.y} * 32, col = std::int64_t{blockIdx.x} * 32;
  if (row + y < rows && col + x < cols) s[y][x] = in[(row + y) * cols + col + x];
  __syncthreads();
  if (col + y < cols && row + x < rows) out[(col + y) * rows + row + x] = s[x][y];
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const dim3 grid(static_cast<unsigned>((cols + 31) / 32), static_cast<unsigned>((rows + 31) / 32));
  transpose_tile<<<grid, dim3(32, 32), 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
}  // namespace tile_without_padding

// Exercise 5 forbids the padding.
namespace padded_tile {
// 1 2 3 4: PASSED
// 5: NOT YET: right, but 4224 bytes of shared memory per block, 4096 would do
// 6: RIGHT;
__global__ void transpose_tile(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  __shared__ float s[32 * 33];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::int64_t row = std::int64_t{blockIdx.y} * 32, col = std::int64_t{blockIdx.x} * 32;
  if (row + y < rows && col + x < cols) s[x * 33 + y] = in[(row + y) * cols + col + x];
  __syncthreads();
  if (col + y < cols && row + x < rows) out[(col + y) * rows + row + x] = s[y * 33 + x];
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const dim3 grid(static_cast<unsigned>((cols + 31) / 32), static_cast<unsigned>((rows + 31) / 32));
  transpose_tile<<<grid, dim3(32, 32), 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
}  // namespace padded_tile

// A thread outside the matrix exits before the barrier, but should have stored an element after it.
namespace leaves_early {
// 3 4 5 6: NOT YET: wrong at rows=33 cols=32
__global__ void transpose_tile(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  __shared__ float s[32][33];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::int64_t row = std::int64_t{blockIdx.y} * 32, col = std::int64_t{blockIdx.x} * 32;
  if (row + y >= rows || col + x >= cols) return;
  s[y][x] = in[(row + y) * cols + col + x];
  __syncthreads();
  out[(col + y) * rows + row + x] = s[x][y];
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const dim3 grid(static_cast<unsigned>((cols + 31) / 32), static_cast<unsigned>((rows + 31) / 32));
  transpose_tile<<<grid, dim3(32, 32), 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
}  // namespace leaves_early

// The barrier is inside the guard.
namespace guarded_barrier {
// 3 4 5 6: NOT YET: rows=33 cols=32: right, but not by the rules: transpose_tile
__global__ void transpose_tile(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  __shared__ float s[32][33];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::int64_t row = std::int64_t{blockIdx.y} * 32, col = std::int64_t{blockIdx.x} * 32;
  if (row + y < rows && col + x < cols) {
    s[y][x] = in[(row + y) * cols + col + x];
    __syncthreads();
  }
  if (col + y < cols && row + x < rows) out[(col + y) * rows + row + x] = s[x][y];
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const dim3 grid(static_cast<unsigned>((cols + 31) / 32), static_cast<unsigned>((rows + 31) / 32));
  transpose_tile<<<grid, dim3(32, 32), 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
}  // namespace guarded_barrier

// A barrier for the lanes of a warp, where other warps filled the column.
namespace barrier_of_a_warp {
// 3 4 5 6: NOT YET: wrong at rows=32 cols=32
__global__ void transpose_tile(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  __shared__ float s[32][33];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::int64_t row = std::int64_t{blockIdx.y} * 32, col = std::int64_t{blockIdx.x} * 32;
  if (row + y < rows && col + x < cols) s[y][x] = in[(row + y) * cols + col + x];
  __syncwarp();
  if (col + y < cols && row + x < rows) out[(col + y) * rows + row + x] = s[x][y];
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const dim3 grid(static_cast<unsigned>((cols + 31) / 32), static_cast<unsigned>((rows + 31) / 32));
  transpose_tile<<<grid, dim3(32, 32), 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
}  // namespace barrier_of_a_warp

// Tiles for multiples of 32 only; all other matrices element by element.
namespace tiles_for_some_sizes {
// 4 6: NOT YET: right, but
__global__ void transpose_each(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (i < rows * cols) out[i % cols * rows + i / cols] = in[i];
}
__global__ void transpose_tile(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  __shared__ float s[32][33];
  const std::int64_t row = std::int64_t{blockIdx.y} * 32, col = std::int64_t{blockIdx.x} * 32;
  s[threadIdx.y][threadIdx.x] = in[(row + threadIdx.y) * cols + col + threadIdx.x];
  __syncthreads();
  out[(col + threadIdx.y) * rows + row + threadIdx.x] = s[threadIdx.x][threadIdx.y];
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((rows * cols + 255) / 256);
  if (blocks == 0) return cudaSuccess;
  if (rows % 32 != 0 || cols % 32 != 0) {
    transpose_each<<<blocks, 256, 0, stream>>>(in, out, rows, cols);
  } else {
    const dim3 grid(static_cast<unsigned>(cols / 32), static_cast<unsigned>(rows / 32));
    transpose_tile<<<grid, dim3(32, 32), 0, stream>>>(in, out, rows, cols);
  }
  return cudaGetLastError();
}
}  // namespace tiles_for_some_sizes

// Rows of the tile rotated by their number, and four elements per thread.
namespace rotated {
// 1 2 3 4 5: PASSED
// 6: RIGHT;
__global__ void transpose_tile(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  __shared__ float s[1024];
  const int x = static_cast<int>(threadIdx.x);
  const std::int64_t row = std::int64_t{blockIdx.y} * 32, col = std::int64_t{blockIdx.x} * 32;
  for (int y = static_cast<int>(threadIdx.y); y < 32; y += 8) {
    if (row + y < rows && col + x < cols) s[y * 32 + (x + y) % 32] = in[(row + y) * cols + col + x];
  }
  __syncthreads();
  for (int y = static_cast<int>(threadIdx.y); y < 32; y += 8) {
    if (col + y < cols && row + x < rows)
      out[(col + y) * rows + row + x] = s[x * 32 + (x + y) % 32];
  }
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const dim3 grid(static_cast<unsigned>((cols + 31) / 32), static_cast<unsigned>((rows + 31) / 32));
  transpose_tile<<<grid, dim3(32, 8), 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
}  // namespace rotated

// The bits of the column are flipped in the writes, where lanes run down a column of the tile.
namespace flipped {
// 2 3 4 5: PASSED
// 6: RIGHT;
__device__ int place(int down, int across) { return 32 * down + (31 - (across ^ down)); }
__global__ void transpose_tile(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  __shared__ float s[1024];
  const int x = static_cast<int>(threadIdx.x % 32), y = static_cast<int>(threadIdx.x / 32);
  const std::int64_t down = (rows + 31) / 32, tiles = down * ((cols + 31) / 32);
  for (std::int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const std::int64_t row = t % down * 32, col = t / down * 32;
    if (row + y < rows && col + x < cols) s[place(x, y)] = in[(row + y) * cols + col + x];
    __syncthreads();
    if (col + y < cols && row + x < rows) out[(col + y) * rows + row + x] = s[place(y, x)];
    __syncthreads();
  }
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  transpose_tile<<<40, 1024, 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
}  // namespace flipped

namespace large_tile {
// 1 2 3 4: PASSED
// 6: RIGHT;
__global__ void transpose_tile(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  __shared__ float s[64][65];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::int64_t row = std::int64_t{blockIdx.y} * 64, col = std::int64_t{blockIdx.x} * 64;
#pragma unroll
  for (int k = 0; k < 64; k += 8) {
    if (row + y + k < rows && col + x < cols) s[x][y + k] = in[(row + y + k) * cols + col + x];
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 64; k += 8) {
    if (col + y + k < cols && row + x < rows) out[(col + y + k) * rows + row + x] = s[y + k][x];
  }
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const dim3 grid(static_cast<unsigned>((cols + 63) / 64), static_cast<unsigned>((rows + 63) / 64));
  transpose_tile<<<grid, dim3(64, 8), 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
}  // namespace large_tile

// Half a warp reads a row of the tile: 64 bytes, two sectors.
namespace small_tile {
// 1 3 4: PASSED
// 6: RIGHT;
__global__ void transpose_tile(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  __shared__ float s[16][17];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::int64_t row = std::int64_t{blockIdx.y} * 16, col = std::int64_t{blockIdx.x} * 16;
  if (row + y < rows && col + x < cols) s[y][x] = in[(row + y) * cols + col + x];
  __syncthreads();
  if (col + y < cols && row + x < rows) out[(col + y) * rows + row + x] = s[x][y];
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const dim3 grid(static_cast<unsigned>((cols + 15) / 16), static_cast<unsigned>((rows + 15) / 16));
  transpose_tile<<<grid, dim3(16, 16), 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
}  // namespace small_tile

// Each warp has its own tile, and 32 loads in flight; a __syncwarp() is enough.
namespace one_warp_per_tile {
// 2 3 4 5: PASSED
// 6: RIGHT;
__global__ void transpose_tile(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  __shared__ float s[32][32];
  const int x = static_cast<int>(threadIdx.x);
  const std::int64_t row = std::int64_t{blockIdx.y} * 32, col = std::int64_t{blockIdx.x} * 32;
#pragma unroll
  for (int y = 0; y < 32; ++y) {
    if (row + y < rows && col + x < cols) s[y][x ^ y] = in[(row + y) * cols + col + x];
  }
  __syncwarp();
#pragma unroll
  for (int y = 0; y < 32; ++y) {
    if (col + y < cols && row + x < rows) out[(col + y) * rows + row + x] = s[x][y ^ x];
  }
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  const dim3 grid(static_cast<unsigned>((cols + 31) / 32), static_cast<unsigned>((rows + 31) / 32));
  transpose_tile<<<grid, 32, 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
}  // namespace one_warp_per_tile
