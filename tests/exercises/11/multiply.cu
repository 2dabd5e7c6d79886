// Answers to the exercises of chapter 11, and the verdicts that the CPU backend must give.
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <cstdint>
#include <cstring>
#include <cuda/ptx>

#include "box_map.hpp"
#include "fragments.cuh"
#include "operands.hpp"
#include "ptx.cuh"

using operands::Product;

namespace one_thread {
// 1 2 4 5: NOT YET: right, but one after the other
__global__ void multiply_all(Product<__nv_bfloat16> of, Result<__nv_bfloat16> c) {
  for (int row = 0; row < of.m; ++row) {
    for (int col = 0; col < of.n; ++col) {
      float sum = 0;
      for (int j = 0; j < of.k; ++j) {
        sum +=
            static_cast<float>(of.a[row * of.lda + j]) * static_cast<float>(of.b[col * of.ldb + j]);
      }
      of.c[row * of.ldc + col] = static_cast<__nv_bfloat16>(c.combined(sum, row, col));
    }
  }
}

cudaError_t multiply(const Product<__nv_bfloat16>& product, cudaStream_t stream) {
  const Product<__nv_bfloat16> of = operands::needed(product);
  multiply_all<<<1, 1, 0, stream>>>(of, result_of(of));
  return cudaGetLastError();
}
}  // namespace one_thread

// No tensor cores: one thread per element.
namespace plain_floats {
// 1: NOT YET: right, but one after the other
// 2: NOT YET: right, but no tensor core
__global__ void multiply_each(Product<__nv_bfloat16> of, Result<__nv_bfloat16> c) {
  const int row = static_cast<int>(blockIdx.y * 8 + threadIdx.y);
  const int col = static_cast<int>(blockIdx.x * 32 + threadIdx.x);
  if (row >= c.rows || col >= c.cols) return;
  float sum = 0;
  for (int j = 0; j < of.k; ++j) {
    sum += static_cast<float>(of.a[row * of.lda + j]) * static_cast<float>(of.b[col * of.ldb + j]);
  }
  of.c[row * of.ldc + col] = static_cast<__nv_bfloat16>(c.combined(sum, row, col));
}

cudaError_t multiply(const Product<__nv_bfloat16>& product, cudaStream_t stream) {
  if (product.m == 0 || product.n == 0) return cudaSuccess;
  const Product<__nv_bfloat16> of = operands::needed(product);
  const dim3 grid(static_cast<unsigned>(of.n + 31) / 32, static_cast<unsigned>(of.m + 7) / 8);
  multiply_each<<<grid, dim3(32, 8), 0, stream>>>(of, result_of(of));
  return cudaGetLastError();
}
}  // namespace plain_floats

// No tensor cores: a thread per element, 16 bytes of a row at a time, 8 x 4 elements per warp.
namespace plain_floats_by_eight {
// 1: NOT YET: right, but
__global__ void multiply_by_eight(Product<__nv_bfloat16> of, Result<__nv_bfloat16> c) {
  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
  const int row = static_cast<int>(blockIdx.y) * 8 + lane / 4;
  const int col = static_cast<int>(blockIdx.x) * 16 + warp * 4 + lane % 4;
  if (row >= c.rows || col >= c.cols) return;
  const __nv_bfloat16 *const a = of.a + row * of.lda, *const b = of.b + col * of.ldb;
  float sum = 0;
  int j = 0;
  for (; j + 8 <= of.k; j += 8) {
    const uint4 x = *reinterpret_cast<const uint4*>(a + j);
    const uint4 y = *reinterpret_cast<const uint4*>(b + j);
    __nv_bfloat16 left[8], right[8];
    memcpy(left, &x, 16);
    memcpy(right, &y, 16);
    for (int i = 0; i < 8; ++i) {
      sum += static_cast<float>(left[i]) * static_cast<float>(right[i]);
    }
  }
  for (; j < of.k; ++j) sum += static_cast<float>(a[j]) * static_cast<float>(b[j]);
  of.c[row * of.ldc + col] = static_cast<__nv_bfloat16>(c.combined(sum, row, col));
}

cudaError_t multiply(const Product<__nv_bfloat16>& product, cudaStream_t stream) {
  if (product.m == 0 || product.n == 0) return cudaSuccess;
  const Product<__nv_bfloat16> of = operands::needed(product);
  const dim3 grid(static_cast<unsigned>(of.n + 15) / 16, static_cast<unsigned>(of.m + 7) / 8);
  multiply_by_eight<<<grid, dim3(32, 4), 0, stream>>>(of, result_of(of));
  return cudaGetLastError();
}
}  // namespace plain_floats_by_eight

// No tensor cores: tiles of 64 x 64 in shared memory, 4 x 4 sums per thread, as in chapter 04.
namespace tiles_of_floats {
// 1 2 3 4 5 6: NOT YET: right, but
__global__ void multiply_tiles(Product<__nv_bfloat16> of, Result<__nv_bfloat16> c) {
  __shared__ float a[16][65], b[16][65];
  const int t = static_cast<int>(threadIdx.x), y = t / 16, x = t % 16;
  const int row0 = static_cast<int>(blockIdx.y) * 64, col0 = static_cast<int>(blockIdx.x) * 64;
  float sum[4][4] = {};
  for (int first = 0; first < of.k; first += 16) {
    for (int i = t; i < 1024; i += 256) {
      const int r = i / 16, j = first + i % 16;
      const bool left = row0 + r < of.m && j < of.k, right = col0 + r < of.n && j < of.k;
      a[i % 16][r] = left ? static_cast<float>(of.a[(row0 + r) * of.lda + j]) : 0.0f;
      b[i % 16][r] = right ? static_cast<float>(of.b[(col0 + r) * of.ldb + j]) : 0.0f;
    }
    __syncthreads();
    for (int j = 0; j < 16; ++j) {
      float left[4], right[4];
      for (int i = 0; i < 4; ++i) left[i] = a[j][y + 16 * i], right[i] = b[j][x + 16 * i];
      for (int i = 0; i < 16; ++i) sum[i / 4][i % 4] += left[i / 4] * right[i % 4];
    }
    __syncthreads();
  }
  for (int i = 0; i < 16; ++i) {
    const int row = row0 + y + i / 4 * 16, col = col0 + x + i % 4 * 16;
    if (row >= c.rows || col >= c.cols) continue;
    of.c[row * of.ldc + col] = static_cast<__nv_bfloat16>(c.combined(sum[i / 4][i % 4], row, col));
  }
}

cudaError_t multiply(const Product<__nv_bfloat16>& product, cudaStream_t stream) {
  if (product.m == 0 || product.n == 0) return cudaSuccess;
  const Product<__nv_bfloat16> of = operands::needed(product);
  const dim3 grid(static_cast<unsigned>(of.n + 63) / 64, static_cast<unsigned>(of.m + 63) / 64);
  multiply_tiles<<<grid, 256, 0, stream>>>(of, result_of(of));
  return cudaGetLastError();
}
}  // namespace tiles_of_floats

// By mma, from global memory, one tile of 16 x 8 after the other: all by one warp.
namespace one_warp {
// 1: NOT YET: right, but one after the other
constexpr int warps = 1;
__device__ unsigned pair_of(const __nv_bfloat16* m, std::int64_t ld, int row, int col, int rows,
                            int cols) {
  const float x = row < rows && col < cols ? static_cast<float>(m[row * ld + col]) : 0;
  const float y = row < rows && col + 1 < cols ? static_cast<float>(m[row * ld + col + 1]) : 0;
  return Result<__nv_bfloat16>::as_pair(x, y);
}
__global__ void multiply_by_warp(Product<__nv_bfloat16> of, Result<__nv_bfloat16> c, int k,
                                 int across, int tiles) {
  const int lane = static_cast<int>(threadIdx.x) % 32, y = lane / 4, x = lane % 4 * 2;
  for (int tile = static_cast<int>(threadIdx.x) / 32; tile < tiles; tile += warps) {
    const int row = tile / across * 16, col = tile % across * 8;
    float d[4] = {};
    for (int j = x; j - x < k; j += 16) {
      const unsigned left[] = {pair_of(of.a, of.lda, row + y, j, c.rows, k),
                               pair_of(of.a, of.lda, row + y + 8, j, c.rows, k),
                               pair_of(of.a, of.lda, row + y, j + 8, c.rows, k),
                               pair_of(of.a, of.lda, row + y + 8, j + 8, c.rows, k)};
      mma<__nv_bfloat16>(d, left, pair_of(of.b, of.ldb, col + y, j, c.cols, k),
                         pair_of(of.b, of.ldb, col + y, j + 8, c.cols, k));
    }
    c.store<8>(d, row, col);
  }
}

cudaError_t multiply(const Product<__nv_bfloat16>& product, cudaStream_t stream) {
  if (product.m == 0 || product.n == 0) return cudaSuccess;
  const Product<__nv_bfloat16> of = operands::needed(product);
  const int down = static_cast<int>(of.m + 15) / 16, across = static_cast<int>(of.n + 7) / 8;
  multiply_by_warp<<<1, 32 * warps, 0, stream>>>(of, result_of(of), static_cast<int>(of.k), across,
                                                 down * across);
  return cudaGetLastError();
}
}  // namespace one_warp

// The same by the 32 warps of one block.
namespace one_block {
// 1: NOT YET: right, but
constexpr int warps = 32;
__device__ unsigned pair_of(const __nv_bfloat16* m, std::int64_t ld, int row, int col, int rows,
                            int cols) {
  const float x = row < rows && col < cols ? static_cast<float>(m[row * ld + col]) : 0;
  const float y = row < rows && col + 1 < cols ? static_cast<float>(m[row * ld + col + 1]) : 0;
  return Result<__nv_bfloat16>::as_pair(x, y);
}
__global__ void multiply_by_block(Product<__nv_bfloat16> of, Result<__nv_bfloat16> c, int k,
                                  int across, int tiles) {
  const int lane = static_cast<int>(threadIdx.x) % 32, y = lane / 4, x = lane % 4 * 2;
  for (int tile = static_cast<int>(threadIdx.x) / 32; tile < tiles; tile += warps) {
    const int row = tile / across * 16, col = tile % across * 8;
    float d[4] = {};
    for (int j = x; j - x < k; j += 16) {
      const unsigned left[] = {pair_of(of.a, of.lda, row + y, j, c.rows, k),
                               pair_of(of.a, of.lda, row + y + 8, j, c.rows, k),
                               pair_of(of.a, of.lda, row + y, j + 8, c.rows, k),
                               pair_of(of.a, of.lda, row + y + 8, j + 8, c.rows, k)};
      mma<__nv_bfloat16>(d, left, pair_of(of.b, of.ldb, col + y, j, c.cols, k),
                         pair_of(of.b, of.ldb, col + y, j + 8, c.cols, k));
    }
    c.store<8>(d, row, col);
  }
}

cudaError_t multiply(const Product<__nv_bfloat16>& product, cudaStream_t stream) {
  if (product.m == 0 || product.n == 0) return cudaSuccess;
  const Product<__nv_bfloat16> of = operands::needed(product);
  const int down = static_cast<int>(of.m + 15) / 16, across = static_cast<int>(of.n + 7) / 8;
  multiply_by_block<<<1, 32 * warps, 0, stream>>>(of, result_of(of), static_cast<int>(of.k), across,
                                                  down * across);
  return cudaGetLastError();
}
}  // namespace one_block

// Transposed: a tile of 8 x 16 of C is one of 16 x 8 of B A^T.
namespace turned {
// 1: PASSED
__device__ unsigned pair_of(const __nv_bfloat16* m, std::int64_t ld, int row, int col, int rows,
                            int cols) {
  const float x = row < rows && col < cols ? static_cast<float>(m[row * ld + col]) : 0;
  const float y = row < rows && col + 1 < cols ? static_cast<float>(m[row * ld + col + 1]) : 0;
  return Result<__nv_bfloat16>::as_pair(x, y);
}
__global__ void multiply_turned(Product<__nv_bfloat16> of, Result<__nv_bfloat16> c, int k) {
  const int lane = static_cast<int>(threadIdx.x), y = lane / 4, x = lane % 4 * 2;
  const int row = static_cast<int>(blockIdx.y) * 8;
  const int col = static_cast<int>(blockIdx.x * 4 + threadIdx.y) * 16;
  float d[4] = {};
  for (int j = x; j - x < k; j += 16) {
    const unsigned left[] = {pair_of(of.b, of.ldb, col + y, j, c.cols, k),
                             pair_of(of.b, of.ldb, col + y + 8, j, c.cols, k),
                             pair_of(of.b, of.ldb, col + y, j + 8, c.cols, k),
                             pair_of(of.b, of.ldb, col + y + 8, j + 8, c.cols, k)};
    mma<__nv_bfloat16>(d, left, pair_of(of.a, of.lda, row + y, j, c.rows, k),
                       pair_of(of.a, of.lda, row + y, j + 8, c.rows, k));
  }
  for (int i = 0; i < 4; ++i) {
    const int r = row + x + i % 2, s = col + y + i / 2 * 8;
    if (r < c.rows && s < c.cols) {
      of.c[r * of.ldc + s] = static_cast<__nv_bfloat16>(c.combined(d[i], r, s));
    }
  }
}

cudaError_t multiply(const Product<__nv_bfloat16>& product, cudaStream_t stream) {
  if (product.m == 0 || product.n == 0) return cudaSuccess;
  const Product<__nv_bfloat16> of = operands::needed(product);
  const dim3 grid(static_cast<unsigned>(of.n + 63) / 64, static_cast<unsigned>(of.m + 7) / 8);
  multiply_turned<<<grid, dim3(32, 4), 0, stream>>>(of, result_of(of), static_cast<int>(of.k));
  return cudaGetLastError();
}
}  // namespace turned

// By the functions of CUDA C++, which hide the layout of the elements.
namespace by_wmma {
// 1: PASSED
namespace wmma = nvcuda::wmma;
__global__ void multiply_wmma(Product<__nv_bfloat16> of, Result<__nv_bfloat16> c) {
  __shared__ __align__(128) __nv_bfloat16 a[16 * 16], b[16 * 16];
  __shared__ __align__(128) float sums[16 * 16];
  const int lane = static_cast<int>(threadIdx.x);
  const int row0 = static_cast<int>(blockIdx.y) * 16, col0 = static_cast<int>(blockIdx.x) * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> d;
  wmma::fill_fragment(d, 0.0f);
  for (int first = 0; first < of.k; first += 16) {
    for (int i = lane; i < 256; i += 32) {
      const int r = i / 16, j = first + i % 16;
      const bool left = row0 + r < of.m && j < of.k, right = col0 + r < of.n && j < of.k;
      a[i] = left ? of.a[(row0 + r) * of.lda + j] : static_cast<__nv_bfloat16>(0.0f);
      b[i] = right ? of.b[(col0 + r) * of.ldb + j] : static_cast<__nv_bfloat16>(0.0f);
    }
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> y;
    wmma::load_matrix_sync(x, a, 16);
    wmma::load_matrix_sync(y, b, 16);
    wmma::mma_sync(d, x, y, d);
    __syncwarp();
  }
  wmma::store_matrix_sync(sums, d, 16, wmma::mem_row_major);
  __syncwarp();
  for (int i = lane; i < 256; i += 32) {
    const int row = row0 + i / 16, col = col0 + i % 16;
    if (row >= c.rows || col >= c.cols) continue;
    of.c[row * of.ldc + col] = static_cast<__nv_bfloat16>(c.combined(sums[i], row, col));
  }
}

cudaError_t multiply(const Product<__nv_bfloat16>& product, cudaStream_t stream) {
  if (product.m == 0 || product.n == 0) return cudaSuccess;
  const Product<__nv_bfloat16> of = operands::needed(product);
  const dim3 grid(static_cast<unsigned>(of.n + 15) / 16, static_cast<unsigned>(of.m + 15) / 16);
  multiply_wmma<<<grid, 32, 0, stream>>>(of, result_of(of));
  return cudaGetLastError();
}
}  // namespace by_wmma

// mma of tiles of 64 x 64 in shared memory, whose rows begin every 144 bytes: no swizzle. The
// exercises that ask for wgmma or the TMA refuse it.
namespace small_tiles {
// 1 2: PASSED
// 3 4: NOT YET: right, but
// 5 6: NOT YET: right, but
__device__ void copy_tile(char* to, const __nv_bfloat16* from, std::int64_t ld, int row0, int col,
                          int rows, int cols) {
  for (int i = static_cast<int>(threadIdx.x); i < 64 * 8; i += 128) {
    const int y = i / 8, x = col + i % 8 * 8, there = 2 * min(max(cols - x, 0), 8);
    const bool exists = row0 + y < rows && there > 0;
    copy_async(to + y * 144 + i % 8 * 16, exists ? from + (row0 + y) * ld + x : from,
               exists ? there : 0);
  }
}
__global__ void multiply_small(Product<__nv_bfloat16> of, Result<__nv_bfloat16> c, int k) {
  __shared__ __align__(128) char a[64 * 144], b[64 * 144];
  const int row0 = static_cast<int>(blockIdx.y) * 64, col0 = static_cast<int>(blockIdx.x) * 64;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int y = warp / 2 * 32, x = warp % 2 * 32;
  float d[2][4][4] = {};
  for (int first = 0; first < k; first += 64) {
    copy_tile(a, of.a, of.lda, row0, first, c.rows, k);
    copy_tile(b, of.b, of.ldb, col0, first, c.cols, k);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int byte = 0; byte < 128; byte += 32) {
      unsigned left[2][4], right[2][4];
      for (int r = 0; r < 2; ++r) {
        load_matrices(left[r], a + (y + 16 * r + lane % 16) * 144 + byte + lane / 16 * 16);
        load_matrices(right[r], b + (x + 16 * r + lane % 16) * 144 + byte + lane / 16 * 16);
      }
      for (int r = 0; r < 2; ++r) {
        for (int s = 0; s < 4; ++s) {
          mma<__nv_bfloat16>(d[r][s], left[r], right[s / 2][s % 2], right[s / 2][s % 2 + 2]);
        }
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < 2; ++r) {
    for (int s = 0; s < 4; ++s) c.store<8>(d[r][s], row0 + y + 16 * r, col0 + x + 8 * s);
  }
}

cudaError_t multiply(const Product<__nv_bfloat16>& product, cudaStream_t stream) {
  if (product.m == 0 || product.n == 0) return cudaSuccess;
  const Product<__nv_bfloat16> of = operands::needed(product);
  const dim3 grid(static_cast<unsigned>(of.n + 63) / 64, static_cast<unsigned>(of.m + 63) / 64);
  multiply_small<<<grid, 128, 0, stream>>>(of, result_of(of), static_cast<int>(of.k));
  return cudaGetLastError();
}
}  // namespace small_tiles

// A warpgroup per block, and one stage: no copy is in flight while it multiplies. Exercise 4 needs
// no ring.
namespace no_ring {
// 4: PASSED
namespace ptx = cuda::ptx;
__global__ void __launch_bounds__(128)
    multiply_one_stage(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                       Result<__nv_bfloat16> c, int steps, int across) {
  extern __shared__ char unaligned[];
  __shared__ std::uint64_t there;
  char *const left = aligned_to_1024(unaligned), *const right = left + 64 * 128;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  unsigned parity = 0;
  const int tile = static_cast<int>(blockIdx.x);
  const int row = tile / across * 64, col = tile % across * 128;
  float d[64] = {};
  for (int i = 0; i < steps; ++i, parity ^= 1) {
    if (threadIdx.x == 0) {
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                     (64 + 128) * 128);
      load_box(left, &a, i * 64, row, &there);
      load_box(right, &b, i * 64, col, &there);
    }
    wait(&there, parity);
    wgmma_fence();
    for (int part = 0; part < 4; ++part) {
      wgmma<__nv_bfloat16, 128>(d, matrix_at(left) + 2 * part, matrix_at(right) + 2 * part);
    }
    wgmma_commit();
    wgmma_wait<0>();
    __syncthreads();  // all have read the tiles
  }
  c.store<128>(d, row + 16 * warp, col);
}

cudaError_t multiply(const Product<__nv_bfloat16>& product, cudaStream_t stream) {
  if (product.m == 0 || product.n == 0) return cudaSuccess;
  const Product<__nv_bfloat16> of = operands::needed(product);
  const int down = static_cast<int>((of.m + 63) / 64),
            across = static_cast<int>((of.n + 127) / 128);
  CUtensorMap a, b;
  if (cudaError_t error = box_map::make(&a, of.a, of.m, of.k, of.lda, 64)) return error;
  if (cudaError_t error = box_map::make(&b, of.b, of.n, of.k, of.ldb, 128)) return error;
  cudaFuncSetAttribute(multiply_one_stage, cudaFuncAttributeMaxDynamicSharedMemorySize, 25600);
  const int steps = static_cast<int>((of.k + 63) / 64);
  multiply_one_stage<<<static_cast<unsigned>(down * across), 128, 25600, stream>>>(
      a, b, result_of(of), steps, across);
  return cudaGetLastError();
}
}  // namespace no_ring

// One block for all tiles, one after the other.
namespace one_block_of_wgmma {
// 3 4: NOT YET: right, but
namespace ptx = cuda::ptx;
__global__ void __launch_bounds__(128)
    multiply_in_one_block(const __grid_constant__ CUtensorMap a,
                          const __grid_constant__ CUtensorMap b, Result<__nv_bfloat16> c, int steps,
                          int across) {
  extern __shared__ char unaligned[];
  __shared__ std::uint64_t there;
  char *const left = aligned_to_1024(unaligned), *const right = left + 64 * 128;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  unsigned parity = 0;
  for (int tile = 0; tile < (c.rows + 63) / 64 * across; ++tile) {
    const int row = tile / across * 64, col = tile % across * 128;
    float d[64] = {};
    for (int i = 0; i < steps; ++i, parity ^= 1) {
      if (threadIdx.x == 0) {
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                       (64 + 128) * 128);
        load_box(left, &a, i * 64, row, &there);
        load_box(right, &b, i * 64, col, &there);
      }
      wait(&there, parity);
      wgmma_fence();
      for (int part = 0; part < 4; ++part) {
        wgmma<__nv_bfloat16, 128>(d, matrix_at(left) + 2 * part, matrix_at(right) + 2 * part);
      }
      wgmma_commit();
      wgmma_wait<0>();
      __syncthreads();  // all have read the tiles
    }
    c.store<128>(d, row + 16 * warp, col);
  }
}

cudaError_t multiply(const Product<__nv_bfloat16>& product, cudaStream_t stream) {
  if (product.m == 0 || product.n == 0) return cudaSuccess;
  const Product<__nv_bfloat16> of = operands::needed(product);
  const int across = static_cast<int>((of.n + 127) / 128);
  CUtensorMap a, b;
  if (cudaError_t error = box_map::make(&a, of.a, of.m, of.k, of.lda, 64)) return error;
  if (cudaError_t error = box_map::make(&b, of.b, of.n, of.k, of.ldb, 128)) return error;
  cudaFuncSetAttribute(multiply_in_one_block, cudaFuncAttributeMaxDynamicSharedMemorySize, 25600);
  const int steps = static_cast<int>((of.k + 63) / 64);
  multiply_in_one_block<<<1, 128, 25600, stream>>>(a, b, result_of(of), steps, across);
  return cudaGetLastError();
}
}  // namespace one_block_of_wgmma

// Tiles of 64 x 128: a warpgroup multiplies, and one more warp issues copies, four stages ahead.
namespace group_and_a_warp {
// 3 4: PASSED
// 5: NOT YET: right, but bulk copies read 6 bytes per element, 3 would do
// 6: NOT YET: right, but bulk copies read 96 KiB per block, 32 would do
namespace ptx = cuda::ptx;
__global__ void __launch_bounds__(160)
    multiply_beside_a_warp(const __grid_constant__ CUtensorMap a,
                           const __grid_constant__ CUtensorMap b, Result<__nv_bfloat16> c,
                           int steps, int across) {
  extern __shared__ char unaligned[];
  __shared__ std::uint64_t full[4], empty[4];
  char* const shared = aligned_to_1024(unaligned);
  const int row = static_cast<int>(blockIdx.x) / across * 64;
  const int col = static_cast<int>(blockIdx.x) % across * 128;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (threadIdx.x == 0) {
    for (std::uint64_t& barrier : full) ptx::mbarrier_init(&barrier, 1);
    for (std::uint64_t& barrier : empty) ptx::mbarrier_init(&barrier, 128);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (warp == 4) {
    for (int i = 0; threadIdx.x == 128 && i < steps; ++i) {
      char* const to = shared + i % 4 * 24576;
      std::uint64_t* const there = &full[i % 4];
      if (i >= 4) wait(&empty[i % 4], (i / 4 - 1) & 1);
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, there,
                                     24576);
      load_box(to, &a, i * 64, row, there);
      load_box(to + 8192, &b, i * 64, col, there);
    }
    return;
  }
  float d[64] = {};
  for (int i = 0; i < steps; ++i) {
    const char* const left = shared + i % 4 * 24576;
    wait(&full[i % 4], i / 4 & 1);
    wgmma_fence();
    for (int part = 0; part < 4; ++part) {
      wgmma<__nv_bfloat16, 128>(d, matrix_at(left) + 2 * part, matrix_at(left + 8192) + 2 * part);
    }
    wgmma_commit();
    wgmma_wait<1>();
    if (i > 0) ptx::mbarrier_arrive(&empty[(i - 1) % 4]);
  }
  wgmma_wait<0>();
  c.store<128>(d, row + 16 * warp, col);
}

cudaError_t multiply(const Product<__nv_bfloat16>& product, cudaStream_t stream) {
  if (product.m == 0 || product.n == 0) return cudaSuccess;
  const Product<__nv_bfloat16> of = operands::needed(product);
  const int down = static_cast<int>((of.m + 63) / 64),
            across = static_cast<int>((of.n + 127) / 128);
  CUtensorMap a, b;
  if (cudaError_t error = box_map::make(&a, of.a, of.m, of.k, of.lda, 64)) return error;
  if (cudaError_t error = box_map::make(&b, of.b, of.n, of.k, of.ldb, 128)) return error;
  cudaFuncSetAttribute(multiply_beside_a_warp, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       1024 + 4 * 24576);
  const int steps = static_cast<int>((of.k + 63) / 64);
  multiply_beside_a_warp<<<static_cast<unsigned>(down * across), 160, 1024 + 4 * 24576, stream>>>(
      a, b, result_of(of), steps, across);
  return cudaGetLastError();
}
}  // namespace group_and_a_warp

// wgmma without the TMA: the threads copy the tiles themselves.
namespace no_tma {
// 5 6: NOT YET: right, but
// 3 4: NOT YET: right, but bulk copies read
namespace ptx = cuda::ptx;
__device__ void copy_tile(char* to, const __nv_bfloat16* from, std::int64_t ld, int row0, int col,
                          std::int64_t rows, int cols) {
  for (int i = static_cast<int>(threadIdx.x); i < 128 * 8; i += 256) {
    const int y = i / 8, x = i % 8, first = col + 8 * x;
    const __nv_bfloat16* const at = from + (row0 + y) * ld + first;
    uint4 v = make_uint4(0, 0, 0, 0);
    if (row0 + y < rows && first + 8 <= cols) {
      v = *reinterpret_cast<const uint4*>(at);
    } else if (row0 + y < rows) {
      alignas(16) __nv_bfloat16 some[8] = {};
      for (int j = 0; first + j < cols; ++j) some[j] = at[j];
      v = *reinterpret_cast<const uint4*>(some);
    }
    *reinterpret_cast<uint4*>(to + y * 128 + (x ^ y % 8) * 16) = v;
  }
}
__global__ void __launch_bounds__(256)
    multiply_copied(Product<__nv_bfloat16> of, Result<__nv_bfloat16> c, int steps, int across) {
  extern __shared__ char unaligned[];
  char *const left = aligned_to_1024(unaligned), *const right = left + 16384;
  const int row = static_cast<int>(blockIdx.x) / across * 128;
  const int col = static_cast<int>(blockIdx.x) % across * 128;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  float d[64] = {};
  for (int i = 0; i < steps; ++i) {
    copy_tile(left, of.a, of.lda, row, i * 64, of.m, static_cast<int>(of.k));
    copy_tile(right, of.b, of.ldb, col, i * 64, of.n, static_cast<int>(of.k));
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    wgmma_fence();
    for (int part = 0; part < 4; ++part) {
      wgmma<__nv_bfloat16, 128>(d, matrix_at(left + warp / 4 * 8192) + 2 * part,
                                matrix_at(right) + 2 * part);
    }
    wgmma_commit();
    wgmma_wait<0>();
    __syncthreads();
  }
  c.store<128>(d, row + 16 * warp, col);
}

cudaError_t multiply(const Product<__nv_bfloat16>& product, cudaStream_t stream) {
  if (product.m == 0 || product.n == 0) return cudaSuccess;
  const Product<__nv_bfloat16> of = operands::needed(product);
  const int down = static_cast<int>((of.m + 127) / 128),
            across = static_cast<int>((of.n + 127) / 128);
  cudaFuncSetAttribute(multiply_copied, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024 + 32768);
  const int steps = static_cast<int>((of.k + 63) / 64);
  multiply_copied<<<static_cast<unsigned>(down * across), 256, 1024 + 32768, stream>>>(
      of, result_of(of), steps, across);
  return cudaGetLastError();
}
}  // namespace no_tma

namespace host_computes {
// 1 2 5 6: NOT YET: rows=
namespace ptx = cuda::ptx;
__global__ void nothing(__nv_bfloat16*) {}

cudaError_t multiply(const Product<__nv_bfloat16>& of, cudaStream_t stream) {
  if (of.m == 0 || of.n == 0) return cudaSuccess;
  nothing<<<1, 32, 0, stream>>>(of.c);
  cudaStreamSynchronize(stream);
  for (std::int64_t i = 0; i < of.m * of.n; ++i) {
    const std::int64_t row = i / of.n, col = i % of.n;
    float sum = 0;
    for (std::int64_t j = 0; j < of.k; ++j) {
      sum +=
          static_cast<float>(of.a[row * of.lda + j]) * static_cast<float>(of.b[col * of.ldb + j]);
    }
    __nv_bfloat16& to = of.c[row * of.ldc + col];
    const float before = of.beta == 0 ? 0 : of.beta * static_cast<float>(to);
    to = static_cast<__nv_bfloat16>(of.alpha * sum + before);
  }
  return cudaGetLastError();
}
}  // namespace host_computes

// Each of four blocks of 64 rows issues a quarter of B for all; one stage, and a cluster barrier
// per step.
namespace four_meet_per_step {
// 5: PASSED
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
__global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(128)
    multiply_by_four(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                     Result<__nv_bfloat16> c, int steps, int across) {
  extern __shared__ char unaligned[];
  __shared__ std::uint64_t there;
  char *const left = aligned_to_1024(unaligned), *const right = left + 64 * 128;
  const cg::cluster_group cluster = cg::this_cluster();
  const int rank = static_cast<int>(cluster.block_rank()), four = static_cast<int>(blockIdx.x) / 4;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int row = four / across * 256 + rank * 64, col = four % across * 128;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  cluster.sync();
  float d[64] = {};
  for (int i = 0; i < steps; ++i) {
    if (threadIdx.x == 0) {
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                     (64 + 128) * 128);
      load_box(left, &a, i * 64, row, &there);
      load_box_to_all(right + rank * 4096, &b, i * 64, col + rank * 32, &there, 15);
    }
    wait(&there, i & 1);
    wgmma_fence();
    for (int part = 0; part < 4; ++part) {
      wgmma<__nv_bfloat16, 128>(d, matrix_at(left) + 2 * part, matrix_at(right) + 2 * part);
    }
    wgmma_commit();
    wgmma_wait<0>();
    cluster.sync();  // all blocks have read the tiles
  }
  c.store<128>(d, row + 16 * warp, col);
}

cudaError_t multiply(const Product<__nv_bfloat16>& product, cudaStream_t stream) {
  if (product.m == 0 || product.n == 0) return cudaSuccess;
  const Product<__nv_bfloat16> of = operands::needed(product);
  const int down = static_cast<int>((of.m + 255) / 256),
            across = static_cast<int>((of.n + 127) / 128);
  CUtensorMap a, b;
  if (cudaError_t error = box_map::make(&a, of.a, of.m, of.k, of.lda, 64)) return error;
  if (cudaError_t error = box_map::make(&b, of.b, of.n, of.k, of.ldb, 32)) return error;
  cudaFuncSetAttribute(multiply_by_four, cudaFuncAttributeMaxDynamicSharedMemorySize, 25600);
  const int steps = static_cast<int>((of.k + 63) / 64);
  multiply_by_four<<<static_cast<unsigned>(down * across * 4), 128, 25600, stream>>>(
      a, b, result_of(of), steps, across);
  return cudaGetLastError();
}
}  // namespace four_meet_per_step

// Each block takes every fourth step and sends each of the others a quarter of its sums.
namespace sends_quarters {
// 6: PASSED
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
__global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(128)
    multiply_and_send(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                      Result<__nv_bfloat16> c, int steps, int across) {
  extern __shared__ char unaligned[];
  __shared__ std::uint64_t there;
  char *const left = aligned_to_1024(unaligned), *const right = left + 64 * 128;
  const cg::cluster_group cluster = cg::this_cluster();
  const int rank = static_cast<int>(cluster.block_rank());
  const int t = static_cast<int>(threadIdx.x), warp = t / 32;
  const int tile = static_cast<int>(blockIdx.x) / 4;
  const int row = tile / across * 64, col = tile % across * 128;
  float* const sums = reinterpret_cast<float*>(right + 128 * 128);  // [block][16][128]
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  float d[64] = {};
  for (int i = rank, turn = 0; i < steps; i += 4, ++turn) {
    if (t == 0) {
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                     (64 + 128) * 128);
      load_box(left, &a, i * 64, row, &there);
      load_box(right, &b, i * 64, col, &there);
    }
    wait(&there, turn & 1);
    wgmma_fence();
    for (int part = 0; part < 4; ++part) {
      wgmma<__nv_bfloat16, 128>(d, matrix_at(left) + 2 * part, matrix_at(right) + 2 * part);
    }
    wgmma_commit();
    wgmma_wait<0>();
    __syncthreads();
  }
  cluster.sync();  // all blocks have begun
  for (int i = 0; i < 64; ++i) {
    cluster.map_shared_rank(sums, i / 16)[(rank * 16 + i % 16) * 128 + t] = d[i];
  }
  cluster.sync();  // all sums have arrived
  float total[16] = {};
  for (int i = 0; i < 64; ++i) total[i % 16] += sums[i * 128 + t];
  c.store<32>(total, row + 16 * warp, col + 32 * rank);
}

cudaError_t multiply(const Product<__nv_bfloat16>& product, cudaStream_t stream) {
  if (product.m == 0 || product.n == 0) return cudaSuccess;
  const Product<__nv_bfloat16> of = operands::needed(product);
  const int down = static_cast<int>((of.m + 63) / 64),
            across = static_cast<int>((of.n + 127) / 128);
  CUtensorMap a, b;
  if (cudaError_t error = box_map::make(&a, of.a, of.m, of.k, of.lda, 64)) return error;
  if (cudaError_t error = box_map::make(&b, of.b, of.n, of.k, of.ldb, 128)) return error;
  cudaFuncSetAttribute(multiply_and_send, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       25600 + 32768);
  const int steps = static_cast<int>((of.k + 63) / 64);
  multiply_and_send<<<static_cast<unsigned>(down * across * 4), 128, 25600 + 32768, stream>>>(
      a, b, result_of(of), steps, across);
  return cudaGetLastError();
}
}  // namespace sends_quarters

// Blocks 2 and 3 send their sums to 0 and 1, which add them; then 1 sends to 0.
namespace two_by_two {
// 6: PASSED
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
__global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(128)
    multiply_two_by_two(const __grid_constant__ CUtensorMap a,
                        const __grid_constant__ CUtensorMap b, Result<__nv_bfloat16> c, int steps,
                        int across) {
  extern __shared__ char unaligned[];
  __shared__ std::uint64_t there;
  char *const left = aligned_to_1024(unaligned), *const right = left + 64 * 128;
  const cg::cluster_group cluster = cg::this_cluster();
  const int rank = static_cast<int>(cluster.block_rank());
  const int t = static_cast<int>(threadIdx.x), warp = t / 32;
  const int tile = static_cast<int>(blockIdx.x) / 4;
  const int row = tile / across * 64, col = tile % across * 128;
  float* const sums = reinterpret_cast<float*>(right + 128 * 128);  // [64][128]
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  float d[64] = {};
  for (int i = rank, turn = 0; i < steps; i += 4, ++turn) {
    if (t == 0) {
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                     (64 + 128) * 128);
      load_box(left, &a, i * 64, row, &there);
      load_box(right, &b, i * 64, col, &there);
    }
    wait(&there, turn & 1);
    wgmma_fence();
    for (int part = 0; part < 4; ++part) {
      wgmma<__nv_bfloat16, 128>(d, matrix_at(left) + 2 * part, matrix_at(right) + 2 * part);
    }
    wgmma_commit();
    wgmma_wait<0>();
    __syncthreads();
  }
  for (int half = 2; half > 0; half /= 2) {
    cluster.sync();  // the others have begun, or have added the last sums
    if (rank >= half && rank < 2 * half) {
      float* const to = cluster.map_shared_rank(sums, rank - half);
      for (int i = 0; i < 64; ++i) to[i * 128 + t] = d[i];
    }
    cluster.sync();  // the sums have arrived
    for (int i = 0; rank < half && i < 64; ++i) d[i] += sums[i * 128 + t];
  }
  if (rank == 0) c.store<128>(d, row + 16 * warp, col);
}

cudaError_t multiply(const Product<__nv_bfloat16>& product, cudaStream_t stream) {
  if (product.m == 0 || product.n == 0) return cudaSuccess;
  const Product<__nv_bfloat16> of = operands::needed(product);
  const int down = static_cast<int>((of.m + 63) / 64),
            across = static_cast<int>((of.n + 127) / 128);
  CUtensorMap a, b;
  if (cudaError_t error = box_map::make(&a, of.a, of.m, of.k, of.lda, 64)) return error;
  if (cudaError_t error = box_map::make(&b, of.b, of.n, of.k, of.ldb, 128)) return error;
  cudaFuncSetAttribute(multiply_two_by_two, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       25600 + 32768);
  const int steps = static_cast<int>((of.k + 63) / 64);
  multiply_two_by_two<<<static_cast<unsigned>(down * across * 4), 128, 25600 + 32768, stream>>>(
      a, b, result_of(of), steps, across);
  return cudaGetLastError();
}
}  // namespace two_by_two

// Four blocks per tile, but they add through global memory, with one more kernel.
namespace through_global_memory {
// 6: NOT YET: right, but it moves
namespace ptx = cuda::ptx;
__global__ void __launch_bounds__(128)
    multiply_parts(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                   int steps, int across, float* parts) {
  extern __shared__ char unaligned[];
  __shared__ std::uint64_t there;
  char *const left = aligned_to_1024(unaligned), *const right = left + 64 * 128;
  const int rank = static_cast<int>(blockIdx.x) % 4;
  const int t = static_cast<int>(threadIdx.x);
  const int tile = static_cast<int>(blockIdx.x) / 4;
  const int row = tile / across * 64, col = tile % across * 128;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  float d[64] = {};
  for (int i = rank, turn = 0; i < steps; i += 4, ++turn) {
    if (t == 0) {
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                     (64 + 128) * 128);
      load_box(left, &a, i * 64, row, &there);
      load_box(right, &b, i * 64, col, &there);
    }
    wait(&there, turn & 1);
    wgmma_fence();
    for (int part = 0; part < 4; ++part) {
      wgmma<__nv_bfloat16, 128>(d, matrix_at(left) + 2 * part, matrix_at(right) + 2 * part);
    }
    wgmma_commit();
    wgmma_wait<0>();
    __syncthreads();
  }
  for (int i = 0; i < 64; ++i) {
    parts[(std::int64_t{blockIdx.x} * 64 + i) * 128 + t] = d[i];
  }
}
__global__ void add_parts(const float* parts, Result<__nv_bfloat16> c, int across) {
  const int tile = static_cast<int>(blockIdx.x), t = static_cast<int>(threadIdx.x);
  float d[64] = {};
  for (int i = 0; i < 256; ++i) d[i % 64] += parts[(tile * 256 + i) * 128 + t];
  c.store<128>(d, tile / across * 64 + t / 32 * 16, tile % across * 128);
}

cudaError_t multiply(const Product<__nv_bfloat16>& product, cudaStream_t stream) {
  if (product.m == 0 || product.n == 0) return cudaSuccess;
  const Product<__nv_bfloat16> of = operands::needed(product);
  const int down = static_cast<int>((of.m + 63) / 64),
            across = static_cast<int>((of.n + 127) / 128);
  CUtensorMap a, b;
  if (cudaError_t error = box_map::make(&a, of.a, of.m, of.k, of.lda, 64)) return error;
  if (cudaError_t error = box_map::make(&b, of.b, of.n, of.k, of.ldb, 128)) return error;
  cudaFuncSetAttribute(multiply_parts, cudaFuncAttributeMaxDynamicSharedMemorySize, 25600);
  float* parts = nullptr;
  const auto bytes = static_cast<std::size_t>(down * across) * 4 * 32768;
  if (cudaError_t error = cudaMallocAsync(&parts, bytes, stream)) return error;
  const int steps = static_cast<int>((of.k + 63) / 64);
  multiply_parts<<<static_cast<unsigned>(down * across * 4), 128, 25600, stream>>>(a, b, steps,
                                                                                   across, parts);
  add_parts<<<static_cast<unsigned>(down * across), 128, 0, stream>>>(parts, result_of(of), across);
  cudaFreeAsync(parts, stream);
  return cudaGetLastError();
}
}  // namespace through_global_memory
