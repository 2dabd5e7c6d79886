// Study: the sums of 03 added by the threads, one atomic per float.
// Predicts: the L2 cache adds as many floats as in 03. But each needs an instruction and a lane,
//   and with one row per block that is an atomic per float of the matrix.
#include <cuda_runtime.h>

#include <cstdint>

namespace atomics_study {

constexpr int block_size = 128;
constexpr int tile_cols = 4 * block_size;  // floats: one float4 per thread

/// Adds rows of a matrix to out: a block takes `deep` neighbouring rows of tile_cols columns.
/// cols is a multiple of four.
__global__ void __launch_bounds__(block_size)
    add_rows(const float* in, float* out, std::int64_t rows, std::int64_t cols, int deep) {
  const std::int64_t across = (cols + tile_cols - 1) / tile_cols;
  const std::int64_t col = blockIdx.x % across * tile_cols;
  const std::int64_t row = blockIdx.x / across * deep;
  const std::int64_t end = rows < row + deep ? rows : row + deep;
  const int t = static_cast<int>(threadIdx.x);
  if (col + 4 * t < cols) {
    float4 sum = make_float4(0, 0, 0, 0);
    for (std::int64_t r = row; r < end; ++r) {
      const float4 v = *reinterpret_cast<const float4*>(in + r * cols + col + 4 * t);
      sum = make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
    }
    float* const to = out + col + 4 * t;
    atomicAdd(to, sum.x);
    atomicAdd(to + 1, sum.y);
    atomicAdd(to + 2, sum.z);
    atomicAdd(to + 3, sum.w);
  }
}

bool is_aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; }

/// out[c] = sum of in[r][c] over all rows r of a matrix of rows x cols floats; a block adds `deep`
/// rows. Device pointers, multiples of 16 bytes; out must not overlap in. \returns
/// cudaErrorInvalidValue for other pointers, a negative size, cols no multiple of four, deep < 1 or
/// more blocks than a grid has, or an error of CUDA.
cudaError_t sum_columns(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                        std::int64_t deep, cudaStream_t stream) {
  if (rows < 0 || cols < 0 || cols % 4 != 0 || deep < 1 || deep > INT32_MAX) {
    return cudaErrorInvalidValue;
  }
  if (!is_aligned(in) || !is_aligned(out)) return cudaErrorInvalidValue;
  if (cols == 0) return cudaSuccess;
  const std::int64_t across = cols / tile_cols + (cols % tile_cols != 0);
  const std::int64_t down = rows / deep + (rows % deep != 0);
  if (down > 0 && across > INT32_MAX / down) return cudaErrorInvalidValue;
  if (cudaError_t error =
          cudaMemsetAsync(out, 0, static_cast<std::size_t>(cols) * sizeof(float), stream)) {
    return error;
  }
  if (down > 0) {
    add_rows<<<static_cast<unsigned>(across * down), block_size, 0, stream>>>(
        in, out, rows, cols, static_cast<int>(deep));
  }
  return cudaGetLastError();
}

}  // namespace atomics_study
