// Exercise 3, solved: what one dimension does for an array, two do for a picture: an index, a
// number of blocks rounded up, and a guard for each of them. x runs along a row.
#include <cuda_runtime.h>

namespace exercise {

/// A chessboard with squares of 8 x 8 pixels, black is 0; one pixel per thread.
__global__ void paint(float* picture, int rows, int columns) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows || column >= columns) return;
  picture[row * columns + column] = static_cast<float>((row / 8 + column / 8) % 2);
}

/// picture: rows x columns floats of device memory, row by row.
cudaError_t chessboard(float* picture, int rows, int columns) {
  const dim3 block(16, 16);
  const dim3 grid((columns + 15) / 16, (rows + 15) / 16);
  paint<<<grid, block>>>(picture, rows, columns);
  return cudaGetLastError();
}

}  // namespace exercise
