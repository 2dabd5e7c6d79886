// Answers to the exercises of chapter 09, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

#include "tensor_map.hpp"

namespace one_thread {
// 2: NOT YET: right, but one after the other
__global__ void double_all(const float* in, float* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = 2 * in[i];
}

cudaError_t scale(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                  cudaStream_t stream) {
  if (rows * cols > 0) double_all<<<1, 1, 0, stream>>>(in, out, rows * cols);
  return cudaGetLastError();
}
}  // namespace one_thread

namespace one_lane_per_warp {
// 2: NOT YET: right, but one after the other
__global__ void double_some(const float* in, float* out, std::int64_t n) {
  if (threadIdx.x % 32 != 0) return;
  const std::int64_t first = std::int64_t{blockIdx.x} * 1024 + threadIdx.x * 8;
  for (std::int64_t i = first; i < first + 256 && i < n; ++i) out[i] = 2 * in[i];
}

cudaError_t scale(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                  cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>((rows * cols + 1023) / 1024);
  if (blocks > 0) double_some<<<blocks, 128, 0, stream>>>(in, out, rows * cols);
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp

// A matrix without gaps is an array: no boxes, no coordinates, no TMA.
namespace no_bulk_copy {
// 2: NOT YET: right, but
__global__ void double_each(const float* in, float* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}

cudaError_t scale(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                  cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>((rows * cols + 255) / 256);
  if (blocks > 0) double_each<<<blocks, 256, 0, stream>>>(in, out, rows * cols);
  return cudaGetLastError();
}
}  // namespace no_bulk_copy

// The host computes the coordinates of each tile, and launches one block for it.
namespace host_loop {
// 2: NOT YET: right, but one after the other
namespace ptx = cuda::ptx;

__global__ void double_box(const __grid_constant__ CUtensorMap in,
                           const __grid_constant__ CUtensorMap out, int row, int col) {
  __shared__ alignas(128) float s[1024];
  __shared__ std::uint64_t there;
  const std::int32_t at[] = {col, row};
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &in, at, &there);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                   sizeof s);
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  for (int k = threadIdx.x; k < 1024; k += 128) s[k] *= 2;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x != 0) return;
  ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &out, at, s);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
}

cudaError_t scale(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                  cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  CUtensorMap from, to;
  cudaError_t error = tensor_map::make(&from, tensor_map::matrix(in, rows, cols, 8, 128));
  if (error == cudaSuccess) {
    error = tensor_map::make(&to, tensor_map::matrix(out, rows, cols, 8, 128));
  }
  if (error != cudaSuccess) return error;
  for (int r = 0; r < rows; r += 8) {
    for (int c = 0; c < cols; c += 128) double_box<<<1, 128, 0, stream>>>(from, to, r, c);
  }
  return cudaGetLastError();
}
}  // namespace host_loop

// One block takes one box after the other.
namespace one_block {
// 2: NOT YET: right, but one after the other
namespace ptx = cuda::ptx;

__global__ void double_boxes(const __grid_constant__ CUtensorMap in, float* out, int rows,
                             int cols) {
  __shared__ alignas(128) float s[1024];
  __shared__ std::uint64_t there;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  const int across = (cols + 127) / 128, boxes = (rows + 7) / 8 * across;
  for (int b = 0; b < boxes; ++b) {
    const std::int32_t at[] = {b % across * 128, b / across * 8};
    if (threadIdx.x == 0) {
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &in, at, &there);
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                     sizeof s);
    }
    while (!ptx::mbarrier_try_wait_parity(&there, b % 2)) {
    }
    for (int k = threadIdx.x; k < 1024; k += 128) {
      const int r = at[1] + k / 128, c = at[0] + k % 128;
      if (r < rows && c < cols) out[std::int64_t{r} * cols + c] = 2 * s[k];
    }
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
  }
}

cudaError_t scale(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                  cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  CUtensorMap from;
  if (const cudaError_t error =
          tensor_map::make(&from, tensor_map::matrix(in, rows, cols, 8, 128))) {
    return error;
  }
  double_boxes<<<1, 128, 0, stream>>>(from, out, static_cast<int>(rows), static_cast<int>(cols));
  return cudaGetLastError();
}
}  // namespace one_block

// A grid of two axes, so no division is needed.
namespace grid_of_two_axes {
// 2: PASSED
namespace ptx = cuda::ptx;

__global__ void double_box(const __grid_constant__ CUtensorMap in,
                           const __grid_constant__ CUtensorMap out) {
  __shared__ alignas(128) float s[16][64];
  __shared__ std::uint64_t there;
  const std::int32_t at[] = {64 * static_cast<int>(blockIdx.x), 16 * static_cast<int>(blockIdx.y)};
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &in, at, &there);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                   sizeof s);
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  for (int r = threadIdx.y; r < 16; r += 4) s[r][threadIdx.x] *= 2;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x != 0 || threadIdx.y != 0) return;
  ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &out, at, s);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
}

cudaError_t scale(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                  cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  CUtensorMap from, to;
  cudaError_t error = tensor_map::make(&from, tensor_map::matrix(in, rows, cols, 16, 64));
  if (error == cudaSuccess) {
    error = tensor_map::make(&to, tensor_map::matrix(out, rows, cols, 16, 64));
  }
  if (error != cudaSuccess) return error;
  const dim3 grid(static_cast<unsigned>(cols + 63) / 64, static_cast<unsigned>(rows + 15) / 16);
  double_box<<<grid, dim3(64, 4), 0, stream>>>(from, to);
  return cudaGetLastError();
}
}  // namespace grid_of_two_axes

// The TMA loads the boxes, threads store the elements inside the matrix.
namespace threads_store {
// 2: PASSED
namespace ptx = cuda::ptx;

__global__ void double_box(const __grid_constant__ CUtensorMap in, float* out, int rows, int cols) {
  __shared__ alignas(128) float s[32 * 32];
  __shared__ std::uint64_t there;
  const int down = (rows + 31) / 32, b = static_cast<int>(blockIdx.x);
  const std::int32_t at[] = {b / down * 32, b % down * 32};
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&there, blockDim.x);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &in, at, &there);
    ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, &there, sizeof s);
  }
  static_cast<void>(ptx::mbarrier_arrive(&there));
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) {
    const int r = at[1] + k / 32, c = at[0] + k % 32;
    if (r < rows && c < cols) out[std::int64_t{r} * cols + c] = 2 * s[k];
  }
}

cudaError_t scale(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                  cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>((rows + 31) / 32 * ((cols + 31) / 32));
  if (blocks == 0) return cudaSuccess;
  CUtensorMap from;
  if (const cudaError_t error =
          tensor_map::make(&from, tensor_map::matrix(in, rows, cols, 32, 32))) {
    return error;
  }
  double_box<<<blocks, 256, 0, stream>>>(from, out, static_cast<int>(rows), static_cast<int>(cols));
  return cudaGetLastError();
}
}  // namespace threads_store

// Each block takes a column of boxes, one after the other.
namespace block_per_column {
// 2: PASSED
namespace ptx = cuda::ptx;

__global__ void double_boxes(const __grid_constant__ CUtensorMap in,
                             const __grid_constant__ CUtensorMap out, int rows) {
  __shared__ alignas(128) float s[8 * 32];
  __shared__ std::uint64_t there;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  unsigned parity = 0;
  for (int row = 8 * static_cast<int>(blockIdx.y); row < rows; row += 8 * gridDim.y, parity ^= 1) {
    const std::int32_t at[] = {32 * static_cast<int>(blockIdx.x), row};
    if (t == 0) {
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &in, at, &there);
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                     sizeof s);
    }
    while (!ptx::mbarrier_try_wait_parity(&there, parity)) {
    }
    s[t] *= 2;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (t == 0) {
      ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &out, at, s);
      ptx::cp_async_bulk_commit_group();
      ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
    }
  }
}

cudaError_t scale(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                  cudaStream_t stream) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  CUtensorMap from, to;
  cudaError_t error = tensor_map::make(&from, tensor_map::matrix(in, rows, cols, 8, 32));
  if (error == cudaSuccess) {
    error = tensor_map::make(&to, tensor_map::matrix(out, rows, cols, 8, 32));
  }
  if (error != cudaSuccess) return error;
  const dim3 grid(static_cast<unsigned>(cols + 31) / 32, 8);
  double_boxes<<<grid, 256, 0, stream>>>(from, to, static_cast<int>(rows));
  return cudaGetLastError();
}
}  // namespace block_per_column
