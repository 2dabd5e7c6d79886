// Idea: chapter 03's best, with the TMA. A thread takes 4 x 4 floats: four loads of 16 bytes from
//   the swizzled tile, turned round in registers, four stores of 16 bytes. Tiles of 64 x 64, as two
//   boxes of 32 columns, since a swizzle's row has 128 bytes; four blocks per SM, 64 KiB on their
//   way. The cache hint of 11, and the L2 cache fetches 256 bytes at once.
// Predicts: the limit of a copy, less what short rows of 256 bytes cost: chapter 03's record.
// Still wrong: rows and cols are multiples of four.
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

#include "tensor_map.hpp"

namespace transpose_groups {

namespace ptx = cuda::ptx;

constexpr int side = 64;
constexpr int box_cols = 32;  // 128 bytes, the longest row of a swizzle
constexpr int boxes = side / box_cols;
constexpr int box = side * box_cols;               // floats
constexpr int block_size = side / 4 * (side / 4);  // a thread per 4 x 4 floats
constexpr int tile_bytes = side * side * static_cast<int>(sizeof(float));
constexpr int blocks_per_sm = 4;

/// A cache policy: evict other lines first. PTX ISA, "createpolicy".
__device__ std::uint64_t evict_last() {
  std::uint64_t policy = 0;
#ifndef SIMT
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
#endif
  return policy;
}

/// Orders a box with a cache policy, which <cuda/ptx> leaves out. PTX ISA, "cp.async.bulk.tensor".
__device__ void load_box(void* to, const CUtensorMap* map, int col, int row, std::uint64_t* barrier,
                         std::uint64_t policy) {
#ifdef SIMT
  const std::int32_t at[] = {col, row};
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, map, at, barrier);
#else
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
      " [%0], [%1, {%2, %3}], [%4], %5;"
      :
      : "r"(static_cast<unsigned>(__cvta_generic_to_shared(to))), "l"(map), "r"(col), "r"(row),
        "r"(static_cast<unsigned>(__cvta_generic_to_shared(barrier))), "l"(policy)
      : "memory");
#endif
}

/// out = in transposed, a tile per block; `down` tiles lie below each other. rows and cols are
/// multiples of four.
__global__ void __launch_bounds__(block_size)
    transpose_tile(const __grid_constant__ CUtensorMap in, float* out, int rows, int cols,
                   int down) {
  extern __shared__ __align__(1024) float4 shared[];
  __shared__ std::uint64_t there;
  const float* const s = reinterpret_cast<const float*>(shared);  // s[boxes][side][box_cols]
  const int row0 = static_cast<int>(blockIdx.x) % down * side;
  const int col0 = static_cast<int>(blockIdx.x) / down * side;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    const std::uint64_t policy = evict_last();
    for (int b = 0; b < boxes; ++b) {
      load_box(shared + b * box / 4, &in, col0 + b * box_cols, row0, &there, policy);
    }
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                   tile_bytes);
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  // Eight neighbouring lanes read eight chunks: four columns of chunks by two groups of rows, whose
  // rows differ by four. A warp stores four rows of 128 bytes.
  const int warp = t / 32, lane = t % 32;
  const int x = warp / 2 * 4 + lane % 4;  // group of four columns
  const int y = warp % 2 * 8 + lane / 4;  // group of four rows
  const float* const rows_of_box = s + x / 8 * box;
  float4 v[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int r = 4 * y + k;
    v[k] = *reinterpret_cast<const float4*>(rows_of_box + r * box_cols + 4 * (x % 8 ^ r % 8));
  }
  const float4 turned[] = {
      make_float4(v[0].x, v[1].x, v[2].x, v[3].x), make_float4(v[0].y, v[1].y, v[2].y, v[3].y),
      make_float4(v[0].z, v[1].z, v[2].z, v[3].z), make_float4(v[0].w, v[1].w, v[2].w, v[3].w)};
  const int row = row0 + 4 * y, col = col0 + 4 * x;
  if (row >= rows || col >= cols) return;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    *reinterpret_cast<float4*>(out + std::int64_t{col + k} * rows + row) = turned[k];
  }
}

/// out = in transposed: rows x cols floats to cols x rows. Device pointers, multiples of 16 bytes;
/// out must not overlap in. \returns cudaErrorInvalidValue for a negative size or one beyond 2^30,
/// rows or cols no multiple of four, other pointers, or more than 2^31 - 1 tiles; or an error of
/// CUDA.
cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  constexpr std::int64_t most = 1 << 30;
  if (rows < 0 || cols < 0 || rows > most || cols > most || rows % 4 != 0 || cols % 4 != 0) {
    return cudaErrorInvalidValue;
  }
  if (reinterpret_cast<std::uintptr_t>(out) % 16 != 0) return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  tensor_map::Description tiles =
      tensor_map::matrix(in, rows, cols, side, box_cols, CU_TENSOR_MAP_SWIZZLE_128B);
  tiles.promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_256B;  // the L2 cache fetches 256 bytes at once
  CUtensorMap map;
  if (cudaError_t error = tensor_map::make(&map, tiles)) return error;
  const std::int64_t down = (rows + side - 1) / side, across = (cols + side - 1) / side;
  if (across > INT32_MAX / down) return cudaErrorInvalidValue;
  int device = 0, per_sm = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error =
          cudaDeviceGetAttribute(&per_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device)) {
    return error;
  }
  // More shared memory than the tile needs, so that exactly blocks_per_sm blocks fit on an SM (1
  // KiB each is the system's).
  const int bytes = (per_sm / blocks_per_sm - 2048) / 1024 * 1024;
  if (cudaError_t error = cudaFuncSetAttribute(
          transpose_tile, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)) {
    return error;
  }
  transpose_tile<<<static_cast<unsigned>(across * down), block_size, static_cast<unsigned>(bytes),
                   stream>>>(map, out, static_cast<int>(rows), static_cast<int>(cols),
                             static_cast<int>(down));
  return cudaGetLastError();
}

}  // namespace transpose_groups
