// Answers to the exercises of chapter 09, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

#include "tensor_map.hpp"

// No tensor map: the thread of each element tests whether it lies in the matrix.
namespace no_bulk_copy {
// 4: NOT YET: right, but
__global__ void copy_each(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                          std::int64_t width, std::int64_t count, std::int64_t row0,
                          std::int64_t col0, float outside) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const std::int64_t r = row0 + i / width, c = col0 + i % width;
  out[i] = r >= 0 && r < rows && c >= 0 && c < cols ? in[r * cols + c] : outside;
}

cudaError_t cut(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                std::int64_t height, std::int64_t width, std::int64_t row0, std::int64_t col0,
                std::int64_t nan, cudaStream_t stream) {
  const std::int64_t count = height * width;
  const unsigned bits = nan != 0 ? 0x7ff77ff7 : 0;
  float outside;
  static_assert(sizeof outside == sizeof bits);
  __builtin_memcpy(&outside, &bits, sizeof bits);
  const unsigned blocks = static_cast<unsigned>((count + 255) / 256);
  if (count > 0) {
    copy_each<<<blocks, 256, 0, stream>>>(in, out, rows, cols, width, count, row0, col0, outside);
  }
  return cudaGetLastError();
}
}  // namespace no_bulk_copy

namespace one_thread {
// 4: NOT YET: right, but one after the other
__global__ void copy_all(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                         std::int64_t width, std::int64_t count, std::int64_t row0,
                         std::int64_t col0, unsigned outside) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t r = row0 + i / width, c = col0 + i % width;
    const bool has = r >= 0 && r < rows && c >= 0 && c < cols;
    out[i] = has ? in[r * cols + c] : __uint_as_float(outside);
  }
}

cudaError_t cut(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                std::int64_t height, std::int64_t width, std::int64_t row0, std::int64_t col0,
                std::int64_t nan, cudaStream_t stream) {
  if (height * width == 0) return cudaSuccess;
  copy_all<<<1, 1, 0, stream>>>(in, out, rows, cols, width, height * width, row0, col0,
                                nan != 0 ? 0x7ff77ff7 : 0);
  return cudaGetLastError();
}
}  // namespace one_thread

// All boxes by tensor maps, but one thread of one block issues one copy after the other.
namespace one_block {
// 4: NOT YET: right, but
namespace ptx = cuda::ptx;

__global__ void copy_boxes(const __grid_constant__ CUtensorMap in,
                           const __grid_constant__ CUtensorMap out, int height, int width, int row0,
                           int col0) {
  __shared__ alignas(128) float s[16 * 64];
  __shared__ std::uint64_t there;
  ptx::mbarrier_init(&there, 1);
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  unsigned parity = 0;
  for (int r = 0; r < height; r += 16) {
    for (int c = 0; c < width; c += 64, parity ^= 1) {
      const std::int32_t from[] = {col0 + c, row0 + r}, to[] = {c, r};
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &in, from, &there);
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                     sizeof s);
      while (!ptx::mbarrier_try_wait_parity(&there, parity)) {
      }
      ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &out, to, s);
      ptx::cp_async_bulk_commit_group();
      ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
    }
  }
}

cudaError_t cut(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                std::int64_t height, std::int64_t width, std::int64_t row0, std::int64_t col0,
                std::int64_t nan, cudaStream_t stream) {
  if (height == 0 || width == 0) return cudaSuccess;
  tensor_map::Description matrix = tensor_map::matrix(in, rows, cols, 16, 64);
  if (nan != 0) matrix.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  CUtensorMap from, to;
  cudaError_t error = tensor_map::make(&from, matrix);
  if (error == cudaSuccess) {
    error = tensor_map::make(&to, tensor_map::matrix(out, height, width, 16, 64));
  }
  if (error != cudaSuccess) return error;
  copy_boxes<<<1, 1, 0, stream>>>(from, to, static_cast<int>(height), static_cast<int>(width),
                                  static_cast<int>(row0), static_cast<int>(col0));
  return cudaGetLastError();
}
}  // namespace one_block

// All boxes by tensor maps, but the host launches one block per box.
namespace host_loop {
// 4: NOT YET: right, but
namespace ptx = cuda::ptx;

__global__ void copy_box(const __grid_constant__ CUtensorMap in,
                         const __grid_constant__ CUtensorMap out, int r, int c, int row0,
                         int col0) {
  __shared__ alignas(128) float s[16 * 64];
  __shared__ std::uint64_t there;
  const std::int32_t from[] = {col0 + c, row0 + r}, to[] = {c, r};
  ptx::mbarrier_init(&there, 1);
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &in, from, &there);
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                 sizeof s);
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &out, to, s);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
}

cudaError_t cut(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                std::int64_t height, std::int64_t width, std::int64_t row0, std::int64_t col0,
                std::int64_t nan, cudaStream_t stream) {
  if (height == 0 || width == 0) return cudaSuccess;
  tensor_map::Description matrix = tensor_map::matrix(in, rows, cols, 16, 64);
  if (nan != 0) matrix.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  CUtensorMap from, to;
  cudaError_t error = tensor_map::make(&from, matrix);
  if (error == cudaSuccess) {
    error = tensor_map::make(&to, tensor_map::matrix(out, height, width, 16, 64));
  }
  if (error != cudaSuccess) return error;
  for (int r = 0; r < height; r += 16) {
    for (int c = 0; c < width; c += 64) {
      copy_box<<<1, 1, 0, stream>>>(from, to, r, c, static_cast<int>(row0), static_cast<int>(col0));
    }
  }
  return cudaGetLastError();
}
}  // namespace host_loop

// Square boxes, a grid of two axes, and a warp with one thread that issues the copies.
namespace square_boxes {
// 4: PASSED
namespace ptx = cuda::ptx;

__global__ void copy_square(const __grid_constant__ CUtensorMap in,
                            const __grid_constant__ CUtensorMap out, int row0, int col0) {
  __shared__ alignas(128) float s[32 * 32];
  __shared__ std::uint64_t there;
  if (threadIdx.x != 0) return;
  const int r = 32 * static_cast<int>(blockIdx.y), c = 32 * static_cast<int>(blockIdx.x);
  const std::int32_t from[] = {col0 + c, row0 + r}, to[] = {c, r};
  ptx::mbarrier_init(&there, 1);
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  const std::uint64_t token = ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta,
                                                             ptx::space_shared, &there, sizeof s);
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &in, from, &there);
  while (!ptx::mbarrier_try_wait(&there, token)) {
  }
  ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &out, to, s);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
}

cudaError_t cut(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                std::int64_t height, std::int64_t width, std::int64_t row0, std::int64_t col0,
                std::int64_t nan, cudaStream_t stream) {
  if (height == 0 || width == 0) return cudaSuccess;
  tensor_map::Description matrix = tensor_map::matrix(in, rows, cols, 32, 32);
  if (nan != 0) matrix.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  CUtensorMap from, to;
  cudaError_t error = tensor_map::make(&from, matrix);
  if (error == cudaSuccess) {
    error = tensor_map::make(&to, tensor_map::matrix(out, height, width, 32, 32));
  }
  if (error != cudaSuccess) return error;
  const dim3 grid(static_cast<unsigned>(width + 31) / 32, static_cast<unsigned>(height + 31) / 32);
  copy_square<<<grid, 32, 0, stream>>>(from, to, static_cast<int>(row0), static_cast<int>(col0));
  return cudaGetLastError();
}
}  // namespace square_boxes

// The TMA loads and fills; threads store, so no second map is needed.
namespace threads_store {
// 4: PASSED
namespace ptx = cuda::ptx;

__global__ void copy_by_threads(const __grid_constant__ CUtensorMap in, float* out, int height,
                                int width, int row0, int col0) {
  __shared__ alignas(128) float s[8 * 128];
  __shared__ std::uint64_t there;
  const int across = (width + 127) / 128, b = static_cast<int>(blockIdx.x);
  const int r = b / across * 8, c = b % across * 128;
  if (threadIdx.x == 0) {
    const std::int32_t from[] = {col0 + c, row0 + r};
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &in, from, &there);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                   sizeof s);
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  const int x = c + static_cast<int>(threadIdx.x);
  for (int y = 0; y < 8 && r + y < height && x < width; ++y) {
    out[std::int64_t{r + y} * width + x] = s[y * 128 + threadIdx.x];
  }
}

cudaError_t cut(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                std::int64_t height, std::int64_t width, std::int64_t row0, std::int64_t col0,
                std::int64_t nan, cudaStream_t stream) {
  const std::int64_t blocks = (height + 7) / 8 * ((width + 127) / 128);
  if (blocks == 0) return cudaSuccess;
  tensor_map::Description matrix = tensor_map::matrix(in, rows, cols, 8, 128);
  if (nan != 0) matrix.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  CUtensorMap from;
  if (const cudaError_t error = tensor_map::make(&from, matrix)) return error;
  copy_by_threads<<<static_cast<unsigned>(blocks), 128, 0, stream>>>(
      from, out, static_cast<int>(height), static_cast<int>(width), static_cast<int>(row0),
      static_cast<int>(col0));
  return cudaGetLastError();
}
}  // namespace threads_store

// A block takes a row of boxes, two in flight at a time, with two barriers.
namespace rows_of_boxes {
// 4: PASSED
namespace ptx = cuda::ptx;

__global__ void copy_row(const __grid_constant__ CUtensorMap in,
                         const __grid_constant__ CUtensorMap out, int width, int row0, int col0) {
  __shared__ alignas(128) float s[2][4 * 32];
  __shared__ std::uint64_t there[2];
  const int r = 4 * static_cast<int>(blockIdx.x);
  for (int b = 0; b < 2; ++b) ptx::mbarrier_init(&there[b], 1);
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  const auto order = [&](int k) {
    const std::int32_t from[] = {col0 + 32 * k, row0 + r};
    if (32 * k >= width) return;
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s[k % 2], &in, from,
                              &there[k % 2]);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                   &there[k % 2], sizeof s[0]);
  };
  order(0);
  for (int k = 0; 32 * k < width; ++k) {
    order(k + 1);
    while (!ptx::mbarrier_try_wait_parity(&there[k % 2], k / 2 % 2)) {
    }
    const std::int32_t to[] = {32 * k, r};
    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &out, to, s[k % 2]);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
  }
}

cudaError_t cut(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                std::int64_t height, std::int64_t width, std::int64_t row0, std::int64_t col0,
                std::int64_t nan, cudaStream_t stream) {
  if (height == 0 || width == 0) return cudaSuccess;
  tensor_map::Description matrix = tensor_map::matrix(in, rows, cols, 4, 32);
  if (nan != 0) matrix.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  CUtensorMap from, to;
  cudaError_t error = tensor_map::make(&from, matrix);
  if (error == cudaSuccess) {
    error = tensor_map::make(&to, tensor_map::matrix(out, height, width, 4, 32));
  }
  if (error != cudaSuccess) return error;
  copy_row<<<static_cast<unsigned>(height + 3) / 4, 1, 0, stream>>>(
      from, to, static_cast<int>(width), static_cast<int>(row0), static_cast<int>(col0));
  return cudaGetLastError();
}
}  // namespace rows_of_boxes
