// Idea: element strides. A map may say "every k-th" along an axis, k from 1 to 8: the box reaches
//   over k times as many rows and brings only every k-th.
// Predicts: only the rows that are wanted are read: as many bytes per second as in 05, whatever k.
// Still wrong: not along a row. There the TMA ignores the stride (measured; some texts promise the
//   real parts of complex numbers by a stride of two).
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

#include "tensor_map.hpp"

namespace every_kth_row {

namespace ptx = cuda::ptx;

constexpr int tile_rows = 16, tile_cols = 64;  // in shared memory
constexpr int tile_bytes = tile_rows * tile_cols * static_cast<int>(sizeof(float));

/// Copies a tile: rows every * r of the matrix become rows r of the result.
__global__ void copy_tile(const __grid_constant__ CUtensorMap in,
                          const __grid_constant__ CUtensorMap out, int across, int every) {
  __shared__ alignas(128) float s[tile_rows * tile_cols];
  __shared__ std::uint64_t there;
  const std::int32_t to[] = {static_cast<int>(blockIdx.x % across) * tile_cols,
                             static_cast<int>(blockIdx.x / across) * tile_rows};
  const std::int32_t from[] = {to[0], every * to[1]};  // coordinates count all elements
  ptx::mbarrier_init(&there, 1);
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &in, from, &there);
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                 tile_bytes);
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &out, to, s);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
}

/// out[r][c] = in[every * r][c]: the rows 0, every, 2 every ... of a matrix of rows x cols floats.
/// Device pointers, multiples of 16 bytes; out must not overlap in. \returns cudaErrorInvalidValue
/// for a negative size or one beyond 2^30, cols no multiple of four, every not from 1 to 8, and
/// other pointers; or an error of CUDA.
cudaError_t pick(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                 std::int64_t every, cudaStream_t stream) {
  constexpr std::int64_t most = 1 << 30;
  if (rows < 0 || cols < 0 || rows > most || cols > most || every < 1 || every > 8) {
    return cudaErrorInvalidValue;
  }
  if (rows == 0 || cols == 0) return cudaSuccess;
  const std::int64_t picked = (rows + every - 1) / every;
  tensor_map::Description matrix =
      tensor_map::matrix(in, rows, cols, tile_rows * static_cast<int>(every), tile_cols);
  matrix.every[1] = static_cast<std::uint32_t>(every);
  const tensor_map::Description result =
      tensor_map::matrix(out, picked, cols, tile_rows, tile_cols);
  CUtensorMap from, to;
  if (cudaError_t error = tensor_map::make(&from, matrix)) return error;
  if (cudaError_t error = tensor_map::make(&to, result)) return error;
  const std::int64_t across = (cols + tile_cols - 1) / tile_cols;
  const std::int64_t down = (picked + tile_rows - 1) / tile_rows;
  if (across > INT32_MAX / down) return cudaErrorInvalidValue;
  copy_tile<<<static_cast<unsigned>(across * down), 1, 0, stream>>>(
      from, to, static_cast<int>(across), static_cast<int>(every));
  return cudaGetLastError();
}

}  // namespace every_kth_row
