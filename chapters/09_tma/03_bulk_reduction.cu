// Idea: an order that adds. `cp.reduce.async.bulk` adds a row of shared memory to a row in global
//   memory: the L2 cache does the additions, float by float, each of them atomic. A block adds up
//   some rows of the matrix in its threads, then orders its sums to be added to the result.
// Predicts: with one row per block the L2 cache adds every float of the matrix, and that, not the
//   memory, is the limit; with 64 rows it hardly matters. Against an atomic per thread: the same
//   additions, a hundredth of the instructions.
// Still wrong: the order of the additions differs from run to run, and so do the last bits.
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

namespace bulk_reduction {

namespace ptx = cuda::ptx;

constexpr int block_size = 128;
constexpr int tile_cols = 4 * block_size;  // floats: one float4 per thread

/// Adds rows of a matrix to out: a block takes `deep` neighbouring rows of tile_cols columns.
/// cols is a multiple of four.
__global__ void __launch_bounds__(block_size)
    add_rows(const float* in, float* out, std::int64_t rows, std::int64_t cols, int deep) {
  __shared__ alignas(128) float4 s[block_size];
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
    s[t] = sum;
  }
  ptx::fence_proxy_async(ptx::space_shared);  // what this thread wrote is there for the TMA
  __syncthreads();                            // all have written
  if (t == 0) {
    const std::int64_t rest = cols - col;
    const int wide = rest < tile_cols ? static_cast<int>(rest) : tile_cols;
    ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, out + col,
                              reinterpret_cast<const float*>(s),
                              static_cast<std::uint32_t>(wide * sizeof(float)));
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
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

}  // namespace bulk_reduction
