// Answers to exercise 3 of chapter 00, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

namespace host_paints {
// 3: NOT YET: rows=16 columns=16: right, but not by the rules: the host, writes
cudaError_t chessboard(float* picture, int rows, int columns) {
  for (int i = 0; i < rows * columns; ++i)
    picture[i] = static_cast<float>((i / columns / 8 + i % columns / 8) % 2);
  return cudaGetLastError();
}
}  // namespace host_paints

// Allowed by the rules, but no thread of the GPU has any work.
namespace host_copies {
// 3: NOT YET: right, but its kernels do not read
cudaError_t chessboard(float* picture, int rows, int columns) {
  std::vector<float> here(rows * columns);
  for (int i = 0; i < rows * columns; ++i)
    here[i] = static_cast<float>((i / columns / 8 + i % columns / 8) % 2);
  return cudaMemcpy(picture, here.data(), here.size() * sizeof(float), cudaMemcpyHostToDevice);
}
}  // namespace host_copies

namespace one_thread {
// 3: NOT YET: right, but one after the other
__global__ void paint_all(float* picture, int rows, int columns) {
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column)
      picture[row * columns + column] = static_cast<float>((row / 8 + column / 8) % 2);
  }
}

cudaError_t chessboard(float* picture, int rows, int columns) {
  paint_all<<<1, 1>>>(picture, rows, columns);
  return cudaGetLastError();
}
}  // namespace one_thread

namespace one_thread_per_row {
// 3: NOT YET: right, but one after the other
__global__ void paint_row(float* picture, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  for (int column = 0; column < columns; ++column)
    picture[row * columns + column] = static_cast<float>((row / 8 + column / 8) % 2);
}

cudaError_t chessboard(float* picture, int rows, int columns) {
  paint_row<<<(rows + 63) / 64, 64>>>(picture, rows, columns);
  return cudaGetLastError();
}
}  // namespace one_thread_per_row

namespace one_thread_per_column {
// 3: NOT YET: right, but one after the other
__global__ void paint_column(float* picture, int rows, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  for (int row = 0; row < rows; ++row)
    picture[row * columns + column] = static_cast<float>((row / 8 + column / 8) % 2);
}

cudaError_t chessboard(float* picture, int rows, int columns) {
  paint_column<<<(columns + 63) / 64, 64>>>(picture, rows, columns);
  return cudaGetLastError();
}
}  // namespace one_thread_per_column

namespace one_lane_per_warp {
// 3: NOT YET: right, but
__global__ void paint_some(float* picture, int columns) {
  const int row = blockIdx.y, column = blockIdx.x * 8 + threadIdx.x / 32;
  if (threadIdx.x % 32 == 0 && column < columns)
    picture[row * columns + column] = static_cast<float>((row / 8 + column / 8) % 2);
}

cudaError_t chessboard(float* picture, int rows, int columns) {
  paint_some<<<dim3((columns + 7) / 8, rows), 256>>>(picture, columns);
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp

namespace one_thread_per_block {
// 3: NOT YET: right, but
__global__ void paint_one(float* picture) {
  const int row = blockIdx.y, column = blockIdx.x;
  picture[row * gridDim.x + column] = static_cast<float>((row / 8 + column / 8) % 2);
}

cudaError_t chessboard(float* picture, int rows, int columns) {
  paint_one<<<dim3(columns, rows), 1>>>(picture);
  return cudaGetLastError();
}
}  // namespace one_thread_per_block

// A grid of one block, which paints one square after the other.
namespace one_block {
// 3: NOT YET: right, but one after the other
__global__ void paint_all(float* picture, int rows, int columns) {
  for (int row = threadIdx.y; row < rows; row += blockDim.y) {
    for (int column = threadIdx.x; column < columns; column += blockDim.x)
      picture[row * columns + column] = static_cast<float>((row / 8 + column / 8) % 2);
  }
}

cudaError_t chessboard(float* picture, int rows, int columns) {
  paint_all<<<1, dim3(16, 16)>>>(picture, rows, columns);
  return cudaGetLastError();
}
}  // namespace one_block

namespace launches_in_a_loop {
// 3: NOT YET: right, but one after the other
__global__ void paint_row(float* picture, int row, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column < columns)
    picture[row * columns + column] = static_cast<float>((row / 8 + column / 8) % 2);
}

cudaError_t chessboard(float* picture, int rows, int columns) {
  for (int row = 0; row < rows; ++row)
    paint_row<<<(columns + 255) / 256, 256>>>(picture, row, columns);
  return cudaGetLastError();
}
}  // namespace launches_in_a_loop

// x runs down a column.
namespace sideways {
// 3: NOT YET: right, but it moves
__global__ void paint(float* picture, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && column < columns)
    picture[row * columns + column] = static_cast<float>((row / 8 + column / 8) % 2);
}

cudaError_t chessboard(float* picture, int rows, int columns) {
  paint<<<dim3((rows + 15) / 16, (columns + 15) / 16), dim3(16, 16)>>>(picture, rows, columns);
  return cudaGetLastError();
}
}  // namespace sideways

// The threads that have no pixel paint the last one again.
namespace clamped {
// 3: NOT YET: rows=40 columns=50: right, but not by the rules: paint
__global__ void paint(float* picture, int rows, int columns) {
  const int row = min(static_cast<int>(blockIdx.y * 16 + threadIdx.y), rows - 1);
  const int column = min(static_cast<int>(blockIdx.x * 16 + threadIdx.x), columns - 1);
  picture[row * columns + column] = static_cast<float>((row / 8 + column / 8) % 2);
}

cudaError_t chessboard(float* picture, int rows, int columns) {
  paint<<<dim3((columns + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(picture, rows, columns);
  return cudaGetLastError();
}
}  // namespace clamped

// Each block is a square of the board.
namespace square_blocks {
// 3: PASSED
__global__ void paint(float* picture, int rows, int columns) {
  const int row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 8 + threadIdx.x;
  if (row < rows && column < columns)
    picture[row * columns + column] = (blockIdx.x + blockIdx.y) % 2 == 0 ? 0.0f : 1.0f;
}

cudaError_t chessboard(float* picture, int rows, int columns) {
  paint<<<dim3((columns + 7) / 8, (rows + 7) / 8), dim3(8, 8)>>>(picture, rows, columns);
  return cudaGetLastError();
}
}  // namespace square_blocks

namespace one_dimension {
// 3: PASSED
__global__ void paint(float* picture, int columns, int pixels) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pixels) picture[i] = static_cast<float>((i / columns / 8 ^ i % columns / 8) & 1);
}

cudaError_t chessboard(float* picture, int rows, int columns) {
  const int pixels = rows * columns;
  paint<<<(pixels + 127) / 128, 128>>>(picture, columns, pixels);
  return cudaGetLastError();
}
}  // namespace one_dimension

namespace one_block_per_row {
// 3: PASSED
__global__ void paint_row(float* picture, int columns) {
  const int row = blockIdx.x;
  for (int column = threadIdx.x; column < columns; column += blockDim.x)
    picture[row * columns + column] = static_cast<float>((row / 8 + column / 8) % 2);
}

cudaError_t chessboard(float* picture, int rows, int columns) {
  paint_row<<<rows, 64>>>(picture, columns);
  return cudaGetLastError();
}
}  // namespace one_block_per_row

namespace flat_blocks {
// 3: PASSED
__global__ void paint(float* picture, int rows, int columns) {
  const int row = blockIdx.y * 4 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  if (row >= rows || column >= columns) return;
  const bool white = (row / 8 % 2 != 0) != (column / 8 % 2 != 0);
  picture[row * columns + column] = white;
}

cudaError_t chessboard(float* picture, int rows, int columns) {
  const dim3 grid(columns / 32 + 1, rows / 4 + 1);
  paint<<<grid, dim3(32, 4)>>>(picture, rows, columns);
  return cudaGetLastError();
}
}  // namespace flat_blocks
