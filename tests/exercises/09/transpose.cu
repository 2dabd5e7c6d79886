// Answers to the exercises of chapter 09, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

#include "tensor_map.hpp"

namespace one_thread {
// 5 6: NOT YET: right, but one after the other
__global__ void transpose_all(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < cols; ++c) out[c * rows + r] = in[r * cols + c];
  }
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  if (rows * cols > 0) transpose_all<<<1, 1, 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
}  // namespace one_thread

// The tile arrives swizzled; lane 0 of each warp transposes it.
namespace one_lane_per_warp {
// 5: NOT YET: right, but one after the other
// 6: NOT YET: right, but
namespace ptx = cuda::ptx;

__global__ void transpose_some(const __grid_constant__ CUtensorMap in, float* out, int rows,
                               int cols) {
  __shared__ alignas(1024) float s[32 * 32];
  __shared__ std::uint64_t there;
  const int across = (cols + 31) / 32, b = static_cast<int>(blockIdx.x);
  const int row0 = b / across * 32, col0 = b % across * 32;
  if (threadIdx.x == 0) {
    const std::int32_t at[] = {col0, row0};
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &in, at, &there);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                   sizeof s);
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  if (threadIdx.x % 32 != 0) return;
  for (int i = threadIdx.x / 32; i < 1024; i += 8) {
    const int r = i % 32, c = i / 32;
    if (row0 + r >= rows || col0 + c >= cols) continue;
    out[std::int64_t{col0 + c} * rows + row0 + r] = s[r * 32 + (c ^ r % 8 * 4)];
  }
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>((rows + 31) / 32 * ((cols + 31) / 32));
  if (blocks == 0) return cudaSuccess;
  CUtensorMap map;
  const auto boxes = tensor_map::matrix(in, rows, cols, 32, 32, CU_TENSOR_MAP_SWIZZLE_128B);
  if (const cudaError_t error = tensor_map::make(&map, boxes)) return error;
  transpose_some<<<blocks, 256, 0, stream>>>(map, out, static_cast<int>(rows),
                                             static_cast<int>(cols));
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp

// The host launches a block for each tile.
namespace host_loop {
// 5: NOT YET: right, but one after the other
// 6: NOT YET: right, but
namespace ptx = cuda::ptx;

__global__ void transpose_box(const __grid_constant__ CUtensorMap in, float* out, int rows,
                              int cols, int row0, int col0) {
  __shared__ alignas(1024) float s[32 * 32];
  __shared__ std::uint64_t there;
  if (threadIdx.x == 0) {
    const std::int32_t at[] = {col0, row0};
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &in, at, &there);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                   sizeof s);
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  for (int i = threadIdx.x; i < 1024; i += 256) {
    const int r = i % 32, c = i / 32;
    if (row0 + r >= rows || col0 + c >= cols) continue;
    out[std::int64_t{col0 + c} * rows + row0 + r] = s[r * 32 + (c ^ r % 8 * 4)];
  }
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  if (rows * cols == 0) return cudaSuccess;
  CUtensorMap map;
  const auto boxes = tensor_map::matrix(in, rows, cols, 32, 32, CU_TENSOR_MAP_SWIZZLE_128B);
  if (const cudaError_t error = tensor_map::make(&map, boxes)) return error;
  for (int r = 0; r < rows; r += 32) {
    for (int c = 0; c < cols; c += 32) {
      transpose_box<<<1, 256, 0, stream>>>(map, out, static_cast<int>(rows), static_cast<int>(cols),
                                           r, c);
    }
  }
  return cudaGetLastError();
}
}  // namespace host_loop

// One block takes one tile after the other.
namespace one_block {
// 5: NOT YET: right, but one after the other
// 6: NOT YET: right, but
namespace ptx = cuda::ptx;

__global__ void transpose_boxes(const __grid_constant__ CUtensorMap in, float* out, int rows,
                                int cols) {
  __shared__ alignas(1024) float s[32 * 32];
  __shared__ std::uint64_t there;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  unsigned parity = 0;
  for (int row0 = 0; row0 < rows; row0 += 32) {
    for (int col0 = 0; col0 < cols; col0 += 32, parity ^= 1) {
      const std::int32_t at[] = {col0, row0};
      if (threadIdx.x == 0) {
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &in, at, &there);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                       sizeof s);
      }
      while (!ptx::mbarrier_try_wait_parity(&there, parity)) {
      }
      const int r = threadIdx.x % 32, c = threadIdx.x / 32;
      if (row0 + r < rows && col0 + c < cols) {
        out[std::int64_t{col0 + c} * rows + row0 + r] = s[r * 32 + (c ^ r % 8 * 4)];
      }
      ptx::fence_proxy_async(ptx::space_shared);
      __syncthreads();
    }
  }
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  if (rows * cols == 0) return cudaSuccess;
  CUtensorMap map;
  const auto boxes = tensor_map::matrix(in, rows, cols, 32, 32, CU_TENSOR_MAP_SWIZZLE_128B);
  if (const cudaError_t error = tensor_map::make(&map, boxes)) return error;
  transpose_boxes<<<1, 1024, 0, stream>>>(map, out, static_cast<int>(rows), static_cast<int>(cols));
  return cudaGetLastError();
}
}  // namespace one_block

// As in chapter 03: threads copy the tile, and a column of padding prevents bank conflicts.
namespace padded_by_threads {
// 5: NOT YET: right, but
// 6: NOT YET: right, but bulk copies read
__global__ void transpose_padded(const float* in, float* out, int rows, int cols) {
  __shared__ float s[32][33];
  const int across = (cols + 31) / 32, b = static_cast<int>(blockIdx.x);
  const int row0 = b / across * 32, col0 = b % across * 32, x = threadIdx.x;
  for (int y = threadIdx.y; y < 32; y += 8) {
    if (row0 + y < rows && col0 + x < cols) s[y][x] = in[std::int64_t{row0 + y} * cols + col0 + x];
  }
  __syncthreads();
  for (int y = threadIdx.y; y < 32; y += 8) {
    if (row0 + x < rows && col0 + y < cols) out[std::int64_t{col0 + y} * rows + row0 + x] = s[x][y];
  }
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>((rows + 31) / 32 * ((cols + 31) / 32));
  if (blocks == 0) return cudaSuccess;
  transpose_padded<<<blocks, dim3(32, 8), 0, stream>>>(in, out, static_cast<int>(rows),
                                                       static_cast<int>(cols));
  return cudaGetLastError();
}
}  // namespace padded_by_threads

// No shared memory, no TMA: a thread transposes 4 x 4 floats in registers.
namespace registers_only {
// 5 6: NOT YET: right, but
__global__ void transpose_squares(const float* in, float* out, int rows, int cols) {
  const int down = rows / 4, i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int pair = i / (2 * down), k = i % (2 * down);  // two squares next to each other
  const std::int64_t r = k / 2 * 4, c = pair * 8 + k % 2 * 4;
  if (c >= cols) return;
  float v[4][4];
  for (int j = 0; j < 4; ++j) {
    const float4 row = *reinterpret_cast<const float4*>(in + (r + j) * cols + c);
    v[0][j] = row.x, v[1][j] = row.y, v[2][j] = row.z, v[3][j] = row.w;
  }
  for (int j = 0; j < 4; ++j) {
    *reinterpret_cast<float4*>(out + (c + j) * rows + r) =
        make_float4(v[j][0], v[j][1], v[j][2], v[j][3]);
  }
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  const std::int64_t squares = rows / 4 * ((cols + 7) / 8 * 2);
  if (squares == 0) return cudaSuccess;
  transpose_squares<<<static_cast<unsigned>((squares + 255) / 256), 256, 0, stream>>>(
      in, out, static_cast<int>(rows), static_cast<int>(cols));
  return cudaGetLastError();
}
}  // namespace registers_only

// The tile without swizzle, read along diagonals: no bank conflict, but each lane stores to another
// row.
namespace diagonals {
// 5: NOT YET: right, but it moves
namespace ptx = cuda::ptx;

__global__ void transpose_diagonals(const __grid_constant__ CUtensorMap in, float* out, int rows,
                                    int cols) {
  __shared__ alignas(1024) float s[32 * 32];
  __shared__ std::uint64_t there;
  const int across = (cols + 31) / 32, b = static_cast<int>(blockIdx.x);
  const int row0 = b / across * 32, col0 = b % across * 32;
  if (threadIdx.x == 0) {
    const std::int32_t at[] = {col0, row0};
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &in, at, &there);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                   sizeof s);
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  for (int i = threadIdx.x; i < 1024; i += 256) {
    const int r = i % 32, c = (i / 32 + r) % 32;
    if (row0 + r >= rows || col0 + c >= cols) continue;
    out[std::int64_t{col0 + c} * rows + row0 + r] = s[r * 32 + c];
  }
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>((rows + 31) / 32 * ((cols + 31) / 32));
  if (blocks == 0) return cudaSuccess;
  CUtensorMap map;
  if (const cudaError_t error =
          tensor_map::make(&map, tensor_map::matrix(in, rows, cols, 32, 32))) {
    return error;
  }
  transpose_diagonals<<<blocks, 256, 0, stream>>>(map, out, static_cast<int>(rows),
                                                  static_cast<int>(cols));
  return cudaGetLastError();
}
}  // namespace diagonals

// Two boxes of 16 columns with the shorter swizzle: rows of 64 bytes, four chunks.
namespace shorter_swizzle {
// 5: PASSED
namespace ptx = cuda::ptx;

__global__ void transpose_halves(const __grid_constant__ CUtensorMap in, float* out, int rows,
                                 int cols) {
  __shared__ alignas(1024) float s[2][32 * 16];
  __shared__ std::uint64_t there;
  const int across = (cols + 31) / 32, b = static_cast<int>(blockIdx.x);
  const int row0 = b / across * 32, col0 = b % across * 32;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                   sizeof s);
    for (int half = 0; half < 2; ++half) {
      const std::int32_t at[] = {col0 + 16 * half, row0};
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s[half], &in, at, &there);
    }
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  for (int i = threadIdx.x; i < 1024; i += 128) {
    const int r = i % 32, c = i / 32;
    if (row0 + r >= rows || col0 + c >= cols) continue;
    out[std::int64_t{col0 + c} * rows + row0 + r] = s[c / 16][r * 16 + (c % 16 ^ r / 2 % 4 * 4)];
  }
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>((rows + 31) / 32 * ((cols + 31) / 32));
  if (blocks == 0) return cudaSuccess;
  CUtensorMap map;
  const auto boxes = tensor_map::matrix(in, rows, cols, 32, 16, CU_TENSOR_MAP_SWIZZLE_64B);
  if (const cudaError_t error = tensor_map::make(&map, boxes)) return error;
  transpose_halves<<<blocks, 128, 0, stream>>>(map, out, static_cast<int>(rows),
                                               static_cast<int>(cols));
  return cudaGetLastError();
}
}  // namespace shorter_swizzle

// A tile of 64 rows, a grid of two axes.
namespace tall_tiles {
// 5: PASSED
namespace ptx = cuda::ptx;

__global__ void transpose_tall(const __grid_constant__ CUtensorMap in, float* out, int rows,
                               int cols) {
  __shared__ alignas(1024) float s[64][32];
  __shared__ std::uint64_t there;
  const int row0 = 64 * static_cast<int>(blockIdx.x), col0 = 32 * static_cast<int>(blockIdx.y);
  const int r = static_cast<int>(threadIdx.x);
  if (r == 0 && threadIdx.y == 0) {
    const std::int32_t at[] = {col0, row0};
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &in, at, &there);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                   sizeof s);
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  for (int c = threadIdx.y; c < 32 && row0 + r < rows && col0 + c < cols; c += 4) {
    out[std::int64_t{col0 + c} * rows + row0 + r] = s[r][(c / 4 ^ r % 8) * 4 + c % 4];
  }
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  if (rows * cols == 0) return cudaSuccess;
  CUtensorMap map;
  const auto boxes = tensor_map::matrix(in, rows, cols, 64, 32, CU_TENSOR_MAP_SWIZZLE_128B);
  if (const cudaError_t error = tensor_map::make(&map, boxes)) return error;
  const dim3 grid(static_cast<unsigned>(rows + 63) / 64, static_cast<unsigned>(cols + 31) / 32);
  transpose_tall<<<grid, dim3(64, 4), 0, stream>>>(map, out, static_cast<int>(rows),
                                                   static_cast<int>(cols));
  return cudaGetLastError();
}
}  // namespace tall_tiles

// A small tile of one box; each thread of a block of 64 transposes 4 x 4 floats.
namespace small_squares {
// 5 6: PASSED
namespace ptx = cuda::ptx;

__global__ void transpose_small(const __grid_constant__ CUtensorMap in, float* out, int rows,
                                int cols) {
  __shared__ alignas(1024) float4 s[32][8];
  __shared__ std::uint64_t there;
  const int across = (cols + 31) / 32, b = static_cast<int>(blockIdx.x);
  const int row0 = b / across * 32, col0 = b % across * 32, t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    const std::int32_t at[] = {col0, row0};
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &in, at, &there);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                   sizeof s);
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  const int y = t / 4 % 8 * 4, x = t / 32 * 4 + t % 4;  // first row, chunk
  const auto chunk = [&](int r) { return s[r][x ^ r % 8]; };
  const float4 a = chunk(y), e = chunk(y + 1), i = chunk(y + 2), m = chunk(y + 3);
  if (row0 + y >= rows || col0 + 4 * x >= cols) return;
  const auto store = [&](int k, float4 v) {
    *reinterpret_cast<float4*>(out + std::int64_t{col0 + 4 * x + k} * rows + row0 + y) = v;
  };
  store(0, make_float4(a.x, e.x, i.x, m.x));
  store(1, make_float4(a.y, e.y, i.y, m.y));
  store(2, make_float4(a.z, e.z, i.z, m.z));
  store(3, make_float4(a.w, e.w, i.w, m.w));
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>((rows + 31) / 32 * ((cols + 31) / 32));
  if (blocks == 0) return cudaSuccess;
  CUtensorMap map;
  const auto boxes = tensor_map::matrix(in, rows, cols, 32, 32, CU_TENSOR_MAP_SWIZZLE_128B);
  if (const cudaError_t error = tensor_map::make(&map, boxes)) return error;
  transpose_small<<<blocks, 64, 0, stream>>>(map, out, static_cast<int>(rows),
                                             static_cast<int>(cols));
  return cudaGetLastError();
}
}  // namespace small_squares

// A tile of 128 rows x 32 columns; a thread transposes two squares, one after the other.
namespace long_columns {
// 6: PASSED
namespace ptx = cuda::ptx;

__global__ void transpose_long(const __grid_constant__ CUtensorMap in, float* out, int rows,
                               int cols) {
  __shared__ alignas(1024) float4 s[128][8];
  __shared__ std::uint64_t there;
  const int row0 = 128 * static_cast<int>(blockIdx.x), col0 = 32 * static_cast<int>(blockIdx.y);
  if (threadIdx.x == 0) {
    const std::int32_t at[] = {col0, row0};
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                   sizeof s);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &in, at, &there);
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  for (int square = threadIdx.x; square < 256; square += 128) {
    const int x = square % 4 + square / 128 * 4, y = square / 4 % 32 * 4;
    float v[4][4];
    for (int k = 0; k < 4; ++k) {
      const float4 row = s[y + k][x ^ (y + k) % 8];
      v[0][k] = row.x, v[1][k] = row.y, v[2][k] = row.z, v[3][k] = row.w;
    }
    if (row0 + y >= rows || col0 + 4 * x >= cols) continue;
    for (int k = 0; k < 4; ++k) {
      *reinterpret_cast<float4*>(out + std::int64_t{col0 + 4 * x + k} * rows + row0 + y) =
          make_float4(v[k][0], v[k][1], v[k][2], v[k][3]);
    }
  }
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  if (rows * cols == 0) return cudaSuccess;
  CUtensorMap map;
  const auto boxes = tensor_map::matrix(in, rows, cols, 128, 32, CU_TENSOR_MAP_SWIZZLE_128B);
  if (const cudaError_t error = tensor_map::make(&map, boxes)) return error;
  const dim3 grid(static_cast<unsigned>(rows + 127) / 128, static_cast<unsigned>(cols + 31) / 32);
  transpose_long<<<grid, 128, 0, stream>>>(map, out, static_cast<int>(rows),
                                           static_cast<int>(cols));
  return cudaGetLastError();
}
}  // namespace long_columns

// Each block transposes one tile after the other, with the next one in flight.
namespace one_tile_ahead {
// 6: PASSED
namespace ptx = cuda::ptx;

__global__ void transpose_in_turn(const __grid_constant__ CUtensorMap in, float* out, int rows,
                                  int cols) {
  __shared__ alignas(1024) float4 s[2][64][8];
  __shared__ std::uint64_t full[2];
  const int down = (rows + 63) / 64, tiles = down * ((cols + 31) / 32);
  const int t = static_cast<int>(threadIdx.x), x = t / 16 % 2 * 4 + t % 4;
  const int y = (t / 32 * 4 + t / 4 % 4) * 4;
  const auto order = [&](int i, int p) {
    const std::int32_t at[] = {i / down * 32, i % down * 64};
    if (t != 0 || i >= tiles) return;
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s[p], &in, at, &full[p]);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[p],
                                   sizeof s[0]);
  };
  if (t == 0) {
    ptx::mbarrier_init(&full[0], 1);
    ptx::mbarrier_init(&full[1], 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  order(static_cast<int>(blockIdx.x), 0);
  int k = 0;  // the block's k-th tile
  for (int i = static_cast<int>(blockIdx.x); i < tiles; i += gridDim.x, ++k) {
    order(i + static_cast<int>(gridDim.x), (k + 1) % 2);
    while (!ptx::mbarrier_try_wait_parity(&full[k % 2], k / 2 % 2)) {
    }
    float4 v[4];
    for (int j = 0; j < 4; ++j) v[j] = s[k % 2][y + j][x ^ (y + j) % 8];
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    const int row = i % down * 64 + y, col = i / down * 32 + 4 * x;
    if (row >= rows || col >= cols) continue;
    float4* const to = reinterpret_cast<float4*>(out + std::int64_t{col} * rows + row);
    to[0] = make_float4(v[0].x, v[1].x, v[2].x, v[3].x);
    to[rows / 4] = make_float4(v[0].y, v[1].y, v[2].y, v[3].y);
    to[rows / 4 * 2] = make_float4(v[0].z, v[1].z, v[2].z, v[3].z);
    to[rows / 4 * 3] = make_float4(v[0].w, v[1].w, v[2].w, v[3].w);
  }
}

cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  if (rows * cols == 0) return cudaSuccess;
  CUtensorMap map;
  const auto boxes = tensor_map::matrix(in, rows, cols, 64, 32, CU_TENSOR_MAP_SWIZZLE_128B);
  if (const cudaError_t error = tensor_map::make(&map, boxes)) return error;
  int sms = 0;
  if (const cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0)) {
    return error;
  }
  transpose_in_turn<<<static_cast<unsigned>(8 * sms), 128, 0, stream>>>(
      map, out, static_cast<int>(rows), static_cast<int>(cols));
  return cudaGetLastError();
}
}  // namespace one_tile_ahead
