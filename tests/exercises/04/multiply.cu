// Answers to the exercises of chapter 04, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstdint>

namespace one_thread {
// 1 2 3 4 5 6: NOT YET: right, but one after the other
__global__ void multiply_all(const float* a, const float* b, float* c, std::int64_t m,
                             std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                             std::int64_t ldc, float alpha, float beta) {
  for (std::int64_t row = 0; row < m; ++row) {
    for (std::int64_t col = 0; col < n; ++col) {
      float sum = 0;
      for (std::int64_t i = 0; i < k; ++i) sum += a[row * lda + i] * b[i * ldb + col];
      float* const out = c + row * ldc + col;
      *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
    }
  }
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  multiply_all<<<1, 1, 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace one_thread

namespace one_lane_per_warp {
// 1 3 5: NOT YET: right, but one after the other
__global__ void multiply_some(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  if (threadIdx.x % 32 != 0) return;
  const std::int64_t row = blockIdx.x, col = blockIdx.y * 8 + threadIdx.x / 32;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (std::int64_t i = 0; i < k; ++i) sum += a[row * lda + i] * b[i * ldb + col];
  float* const out = c + row * ldc + col;
  *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const dim3 blocks(static_cast<unsigned>(m), static_cast<unsigned>((n + 7) / 8));
  multiply_some<<<blocks, 256, 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp

namespace one_block {
// 1 2 3 4 5 6: NOT YET: right, but one after the other
__global__ void multiply_all(const float* a, const float* b, float* c, std::int64_t m,
                             std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                             std::int64_t ldc, float alpha, float beta) {
  for (std::int64_t e = threadIdx.x; e < m * n; e += blockDim.x) {
    const std::int64_t row = e / n, col = e % n;
    float sum = 0;
    for (std::int64_t i = 0; i < k; ++i) sum += a[row * lda + i] * b[i * ldb + col];
    float* const out = c + row * ldc + col;
    *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
  }
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  multiply_all<<<1, 1024, 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace one_block

namespace row_per_thread {
// 1 2 3 4 5 6: NOT YET: right, but one after the other
__global__ void multiply_row(const float* a, const float* b, float* c, std::int64_t m,
                             std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                             std::int64_t ldc, float alpha, float beta) {
  const std::int64_t row = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= m) return;
  for (std::int64_t col = 0; col < n; ++col) {
    float sum = 0;
    for (std::int64_t i = 0; i < k; ++i) sum += a[row * lda + i] * b[i * ldb + col];
    float* const out = c + row * ldc + col;
    *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
  }
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  multiply_row<<<static_cast<unsigned>((m + 63) / 64), 64, 0, stream>>>(a, b, c, m, n, k, lda, ldb,
                                                                        ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace row_per_thread

// The host launches a kernel for every row.
namespace row_launches {
// 1 2 3 4 5 6: NOT YET: right, but one after the other
__global__ void multiply_row(const float* a, const float* b, float* c, std::int64_t n,
                             std::int64_t k, std::int64_t ldb, float alpha, float beta) {
  const std::int64_t col = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (col >= n) return;
  float sum = 0;
  for (std::int64_t i = 0; i < k; ++i) sum += a[i] * b[i * ldb + col];
  c[col] = beta == 0 ? alpha * sum : alpha * sum + beta * c[col];
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  for (std::int64_t row = 0; row < m && n > 0; ++row) {
    multiply_row<<<static_cast<unsigned>((n + 127) / 128), 128, 0, stream>>>(
        a + row * lda, b, c + row * ldc, n, k, ldb, alpha, beta);
  }
  return cudaGetLastError();
}
}  // namespace row_launches

// The host launches a kernel for every column of A, which adds its products to C.
namespace rank_one_launches {
// 1: NOT YET: right, but it moves
__global__ void add_product(const float* a, const float* b, float* c, std::int64_t m,
                            std::int64_t n, std::int64_t lda, std::int64_t ldc, float alpha,
                            float beta) {
  const std::int64_t row = blockIdx.y, col = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  float* const out = c + row * ldc + col;
  const float product = a == nullptr ? 0 : alpha * a[row * lda] * b[col];
  *out = beta == 0 ? product : product + beta * *out;
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const dim3 blocks(static_cast<unsigned>((n + 127) / 128), static_cast<unsigned>(m));
  if (k == 0) add_product<<<blocks, 128, 0, stream>>>(nullptr, b, c, m, n, lda, ldc, alpha, beta);
  for (std::int64_t i = 0; i < k; ++i) {
    add_product<<<blocks, 128, 0, stream>>>(a + i, b + i * ldb, c, m, n, lda, ldc, alpha,
                                            i == 0 ? beta : 1);
  }
  return cudaGetLastError();
}
}  // namespace rank_one_launches

// m x n x k threads, and atomics.
namespace thread_per_product {
// 3: NOT YET: right, but it moves
__global__ void prepare(float* c, std::int64_t m, std::int64_t n, std::int64_t ldc, float beta) {
  const std::int64_t e = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (e >= m * n) return;
  float* const out = c + e / n * ldc + e % n;
  *out = beta == 0 ? 0 : beta * *out;
}
__global__ void add_products(const float* a, const float* b, float* c, std::int64_t m,
                             std::int64_t n, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                             float alpha) {
  const std::int64_t e = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x, i = blockIdx.y;
  if (e < m * n)
    atomicAdd(&c[e / n * ldc + e % n], alpha * a[e / n * lda + i] * b[i * ldb + e % n]);
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>((m * n + 255) / 256);
  prepare<<<blocks, 256, 0, stream>>>(c, m, n, ldc, beta);
  const dim3 all(blocks, static_cast<unsigned>(k));
  if (k > 0) add_products<<<all, 256, 0, stream>>>(a, b, c, m, n, lda, ldb, ldc, alpha);
  return cudaGetLastError();
}
}  // namespace thread_per_product

namespace host_computes {
// 1 2 3 4 5 6: NOT YET: rows=32 cols=32 depth=32: right, but not by the rules: the host, reads
__global__ void nothing() {}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  nothing<<<1, 1, 0, stream>>>();
  cudaStreamSynchronize(stream);
  for (std::int64_t row = 0; row < m; ++row) {
    for (std::int64_t col = 0; col < n; ++col) {
      float sum = 0;
      for (std::int64_t i = 0; i < k; ++i) sum += a[row * lda + i] * b[i * ldb + col];
      float* const out = c + row * ldc + col;
      *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
    }
  }
  return cudaGetLastError();
}
}  // namespace host_computes

// A thread per element, in blocks of one row.
namespace no_tile {
// 3: NOT YET: right, but it moves
// 4 5: NOT YET: right, but 256 load requests per 32 elements, 8 would do
// 1 2: PASSED
// 6: NOT YET: right, but
__global__ void multiply_each(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  const std::int64_t row = blockIdx.y, col = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (std::int64_t i = 0; i < k; ++i) sum += a[row * lda + i] * b[i * ldb + col];
  float* const out = c + row * ldc + col;
  *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const dim3 blocks(static_cast<unsigned>((n + 127) / 128), static_cast<unsigned>(m));
  multiply_each<<<blocks, 128, 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace no_tile

namespace only_b_in_a_tile {
// 3: NOT YET: right, but it moves
// 4 5: NOT YET: right, but 132 load requests per 32 elements, 8 would do
__global__ void multiply_tile(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  __shared__ float b_tile[32][32];
  const int x = threadIdx.x, y = threadIdx.y;
  const std::int64_t row = std::int64_t{blockIdx.y} * 32 + y,
                     col = std::int64_t{blockIdx.x} * 32 + x;
  float sum = 0;
  for (std::int64_t first = 0; first < k; first += 32) {
    b_tile[y][x] = first + y < k && col < n ? b[(first + y) * ldb + col] : 0;
    __syncthreads();
    for (int i = 0; i < 32 && first + i < k && row < m; ++i)
      sum += a[row * lda + first + i] * b_tile[i][x];
    __syncthreads();
  }
  if (row >= m || col >= n) return;
  float* const out = c + row * ldc + col;
  *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const dim3 blocks(static_cast<unsigned>((n + 31) / 32), static_cast<unsigned>((m + 31) / 32));
  multiply_tile<<<blocks, dim3(32, 32), 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace only_b_in_a_tile

// Thread 0 fills the tiles for its block.
namespace one_thread_fills {
// 3 4 5: NOT YET: right, but one after the other
__global__ void multiply_tile(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  __shared__ float a_tile[32][32], b_tile[32][32];
  const int x = threadIdx.x, y = threadIdx.y;
  const std::int64_t top = std::int64_t{blockIdx.y} * 32, left = std::int64_t{blockIdx.x} * 32;
  const std::int64_t row = top + y, col = left + x;
  float sum = 0;
  for (std::int64_t first = 0; first < k; first += 32) {
    for (int e = 0; e < 1024 && x == 0 && y == 0; ++e) {
      const int r = e / 32, s = e % 32;
      a_tile[r][s] = top + r < m && first + s < k ? a[(top + r) * lda + first + s] : 0;
      b_tile[r][s] = first + r < k && left + s < n ? b[(first + r) * ldb + left + s] : 0;
    }
    __syncthreads();
    for (int i = 0; i < 32; ++i) sum += a_tile[y][i] * b_tile[i][x];
    __syncthreads();
  }
  if (row >= m || col >= n) return;
  float* const out = c + row * ldc + col;
  *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const dim3 blocks(static_cast<unsigned>((n + 31) / 32), static_cast<unsigned>((m + 31) / 32));
  multiply_tile<<<blocks, dim3(32, 32), 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace one_thread_fills

namespace one_block_of_tiles {
// 3: NOT YET: right, but one after the other
__global__ void multiply_tiles(const float* a, const float* b, float* c, std::int64_t m,
                               std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                               std::int64_t ldc, float alpha, float beta) {
  __shared__ float a_tile[32][32], b_tile[32][32];
  const int x = threadIdx.x, y = threadIdx.y;
  const std::int64_t across = (n + 31) / 32, tiles = across * ((m + 31) / 32);
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    const std::int64_t row = tile / across * 32 + y, col = tile % across * 32 + x;
    float sum = 0;
    for (std::int64_t first = 0; first < k; first += 32) {
      a_tile[y][x] = row < m && first + x < k ? a[row * lda + first + x] : 0;
      b_tile[y][x] = first + y < k && col < n ? b[(first + y) * ldb + col] : 0;
      __syncthreads();
      for (int i = 0; i < 32; ++i) sum += a_tile[y][i] * b_tile[i][x];
      __syncthreads();
    }
    if (row >= m || col >= n) continue;
    float* const out = c + row * ldc + col;
    *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
  }
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  multiply_tiles<<<1, dim3(32, 32), 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace one_block_of_tiles

namespace blocks_of_16 {
// 1 2: PASSED
__global__ void multiply_each(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  const std::int64_t row = std::int64_t{blockIdx.y} * 16 + threadIdx.y;
  const std::int64_t col = std::int64_t{blockIdx.x} * 16 + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (std::int64_t i = 0; i < k; ++i) sum += a[row * lda + i] * b[i * ldb + col];
  float* const out = c + row * ldc + col;
  *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const dim3 blocks(static_cast<unsigned>((n + 15) / 16), static_cast<unsigned>((m + 15) / 16));
  multiply_each<<<blocks, dim3(16, 16), 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace blocks_of_16

namespace grid_stride {
// 1 2: PASSED
__global__ void multiply_many(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t e = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; e < m * n;
       e += stride) {
    const std::int64_t row = e / n, col = e % n;
    float sum = 0;
    for (std::int64_t i = 0; i < k; ++i) sum += a[row * lda + i] * b[i * ldb + col];
    float* const out = c + row * ldc + col;
    *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
  }
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  multiply_many<<<32, 256, 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace grid_stride

namespace two_rows_per_thread {
// 1 2: PASSED
__global__ void multiply_two(const float* a, const float* b, float* c, std::int64_t m,
                             std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                             std::int64_t ldc, float alpha, float beta) {
  const std::int64_t top = std::int64_t{blockIdx.y} * 2,
                     col = std::int64_t{blockIdx.x} * 64 + threadIdx.x;
  if (col >= n) return;
  const bool both = top + 1 < m;
  float sums[2] = {};
  for (std::int64_t i = 0; i < k; ++i) {
    const float b_value = b[i * ldb + col];
    sums[0] += a[top * lda + i] * b_value;
    if (both) sums[1] += a[(top + 1) * lda + i] * b_value;
  }
  for (int r = 0; r < (both ? 2 : 1); ++r) {
    float* const out = c + (top + r) * ldc + col;
    *out = beta == 0 ? alpha * sums[r] : alpha * sums[r] + beta * *out;
  }
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const dim3 blocks(static_cast<unsigned>((n + 63) / 64), static_cast<unsigned>((m + 1) / 2));
  multiply_two<<<blocks, 64, 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace two_rows_per_thread

// The host zeroes C if beta is 0, so the kernel may read it.
namespace zeroed_first {
// 2: PASSED
__global__ void add_product(const float* a, const float* b, float* c, std::int64_t m,
                            std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                            std::int64_t ldc, float alpha, float beta) {
  const std::int64_t row = blockIdx.y, col = std::int64_t{blockIdx.x} * 128 + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (std::int64_t i = 0; i < k; ++i) sum += a[row * lda + i] * b[i * ldb + col];
  c[row * ldc + col] = alpha * sum + beta * c[row * ldc + col];
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  if (beta == 0) {
    const auto width = static_cast<std::size_t>(4 * n), pitch = static_cast<std::size_t>(4 * ldc);
    cudaMemset2DAsync(c, pitch, 0, width, static_cast<std::size_t>(m), stream);
  }
  const dim3 blocks(static_cast<unsigned>((n + 127) / 128), static_cast<unsigned>(m));
  add_product<<<blocks, 128, 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace zeroed_first

namespace two_kernels {
// 2: PASSED
template <bool adds>
__global__ void multiply_each(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  const std::int64_t row = blockIdx.y, col = std::int64_t{blockIdx.x} * 32 + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  if (adds) sum = beta * c[row * ldc + col];
  for (std::int64_t i = 0; i < k; ++i) sum += alpha * a[row * lda + i] * b[i * ldb + col];
  c[row * ldc + col] = sum;
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const auto kernel = beta == 0 ? multiply_each<false> : multiply_each<true>;
  const dim3 blocks(static_cast<unsigned>((n + 31) / 32), static_cast<unsigned>(m));
  kernel<<<blocks, 32, 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace two_kernels

namespace flat_tile {
// 1 2 3: PASSED
// 4: NOT YET: right, but 2 wavefronts of shared memory per multiplication of a warp, 1.25 would
// 5: NOT YET: right, but 2 wavefronts of shared memory per multiplication of a warp, 0.5 would do
__global__ void multiply_tile(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  __shared__ float a_tile[32][33], b_tile[32][33];
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  const std::int64_t row = std::int64_t{blockIdx.y} * 32 + y,
                     col = std::int64_t{blockIdx.x} * 32 + x;
  float sum = 0;
  for (std::int64_t first = 0; first < k; first += 32) {
    a_tile[y][x] = row < m && first + x < k ? a[row * lda + first + x] : 0;
    b_tile[y][x] = first + y < k && col < n ? b[(first + y) * ldb + col] : 0;
    __syncthreads();
    for (int i = 0; i < 32; ++i) sum += a_tile[y][i] * b_tile[i][x];
    __syncthreads();
  }
  if (row >= m || col >= n) return;
  float* const out = c + row * ldc + col;
  *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const dim3 blocks(static_cast<unsigned>((n + 31) / 32), static_cast<unsigned>((m + 31) / 32));
  multiply_tile<<<blocks, 1024, 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace flat_tile

namespace tile_of_16 {
// 3: PASSED
__global__ void multiply_tile(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  __shared__ float a_tile[16][16], b_tile[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  const std::int64_t row = std::int64_t{blockIdx.y} * 16 + y,
                     col = std::int64_t{blockIdx.x} * 16 + x;
  float sum = 0;
  for (std::int64_t first = 0; first < k; first += 16) {
    a_tile[y][x] = row < m && first + x < k ? a[row * lda + first + x] : 0;
    b_tile[y][x] = first + y < k && col < n ? b[(first + y) * ldb + col] : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += a_tile[y][i] * b_tile[i][x];
    __syncthreads();
  }
  if (row >= m || col >= n) return;
  float* const out = c + row * ldc + col;
  *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const dim3 blocks(static_cast<unsigned>((n + 15) / 16), static_cast<unsigned>((m + 15) / 16));
  multiply_tile<<<blocks, dim3(16, 16), 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace tile_of_16

// One barrier per iteration is enough: no warp writes a buffer that another one still reads.
namespace two_buffers {
// 3: PASSED
__global__ void multiply_tile(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  __shared__ float a_tiles[2][32][32], b_tiles[2][32][32];
  const int x = threadIdx.x, y = threadIdx.y;
  const std::int64_t row = std::int64_t{blockIdx.y} * 32 + y,
                     col = std::int64_t{blockIdx.x} * 32 + x;
  float sum = 0;
  for (std::int64_t first = 0; first < k; first += 32) {
    auto& a_tile = a_tiles[first / 32 % 2];
    auto& b_tile = b_tiles[first / 32 % 2];
    a_tile[y][x] = row < m && first + x < k ? a[row * lda + first + x] : 0;
    b_tile[y][x] = first + y < k && col < n ? b[(first + y) * ldb + col] : 0;
    __syncthreads();
    for (int i = 0; i < 32; ++i) sum += a_tile[y][i] * b_tile[i][x];
  }
  if (row >= m || col >= n) return;
  float* const out = c + row * ldc + col;
  *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const dim3 blocks(static_cast<unsigned>((n + 31) / 32), static_cast<unsigned>((m + 31) / 32));
  multiply_tile<<<blocks, dim3(32, 32), 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace two_buffers

// The tile is not padded; the loop ends with the matrices.
namespace counts_to_the_end {
// 3: PASSED
__global__ void multiply_tile(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  __shared__ float a_tile[32][32], b_tile[32][32];
  const int x = threadIdx.x, y = threadIdx.y;
  const std::int64_t row = std::int64_t{blockIdx.y} * 32 + y,
                     col = std::int64_t{blockIdx.x} * 32 + x;
  const bool mine = row < m && col < n;
  float sum = 0;
  for (std::int64_t first = 0; first < k; first += 32) {
    const int count = k - first < 32 ? static_cast<int>(k - first) : 32;
    if (row < m && x < count) a_tile[y][x] = a[row * lda + first + x];
    if (col < n && y < count) b_tile[y][x] = b[(first + y) * ldb + col];
    __syncthreads();
    for (int i = 0; i < count && mine; ++i) sum += a_tile[y][i] * b_tile[i][x];
    __syncthreads();
  }
  if (!mine) return;
  float* const out = c + row * ldc + col;
  *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const dim3 blocks(static_cast<unsigned>((n + 31) / 32), static_cast<unsigned>((m + 31) / 32));
  multiply_tile<<<blocks, dim3(32, 32), 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace counts_to_the_end

namespace two_in_a_column {
// 4: NOT YET: right, but 1.5 wavefronts of shared memory per multiplication of a warp, 1.25 would
// 3: PASSED
constexpr int rows = 2, threads_y = 16;
__global__ void multiply_tile(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  __shared__ float a_tile[32][32], b_tile[32][32];
  const int x = threadIdx.x;
  const std::int64_t top = std::int64_t{blockIdx.y} * 32, col = std::int64_t{blockIdx.x} * 32 + x;
  float sums[rows] = {};
  for (std::int64_t first = 0; first < k; first += 32) {
    for (int y = threadIdx.y; y < 32; y += threads_y) {
      const std::int64_t row = top + y;
      a_tile[y][x] = row < m && first + x < k ? a[row * lda + first + x] : 0;
      b_tile[y][x] = first + y < k && col < n ? b[(first + y) * ldb + col] : 0;
    }
    __syncthreads();
    for (int i = 0; i < 32; ++i) {
      const float b_value = b_tile[i][x];
      for (int r = 0; r < rows; ++r) sums[r] += a_tile[threadIdx.y + r * threads_y][i] * b_value;
    }
    __syncthreads();
  }
  for (int r = 0; r < rows; ++r) {
    const std::int64_t row = top + threadIdx.y + r * threads_y;
    const float sum = sums[r];
    if (row >= m || col >= n) break;
    float* const out = c + row * ldc + col;
    *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
  }
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const dim3 blocks(static_cast<unsigned>((n + 31) / 32), static_cast<unsigned>((m + 31) / 32));
  multiply_tile<<<blocks, dim3(32, threads_y), 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha,
                                                            beta);
  return cudaGetLastError();
}
}  // namespace two_in_a_column

namespace neighbouring_rows {
// 3 4: PASSED
// 5: NOT YET: right, but 1.25 wavefronts of shared memory per multiplication of a warp, 0.5 would
constexpr int rows = 4, threads_y = 8;
__global__ void multiply_tile(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  __shared__ float a_tile[32][32], b_tile[32][32];
  const int x = threadIdx.x;
  const std::int64_t top = std::int64_t{blockIdx.y} * 32, col = std::int64_t{blockIdx.x} * 32 + x;
  float sums[rows] = {};
  for (std::int64_t first = 0; first < k; first += 32) {
    for (int y = threadIdx.y; y < 32; y += threads_y) {
      const std::int64_t row = top + y;
      a_tile[y][x] = row < m && first + x < k ? a[row * lda + first + x] : 0;
      b_tile[y][x] = first + y < k && col < n ? b[(first + y) * ldb + col] : 0;
    }
    __syncthreads();
    for (int i = 0; i < 32; ++i) {
      const float b_value = b_tile[i][x];
      for (int r = 0; r < rows; ++r) sums[r] += a_tile[threadIdx.y * rows + r][i] * b_value;
    }
    __syncthreads();
  }
  for (int r = 0; r < rows; ++r) {
    const std::int64_t row = top + threadIdx.y * rows + r;
    const float sum = sums[r];
    if (row >= m || col >= n) break;
    float* const out = c + row * ldc + col;
    *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
  }
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const dim3 blocks(static_cast<unsigned>((n + 31) / 32), static_cast<unsigned>((m + 31) / 32));
  multiply_tile<<<blocks, dim3(32, threads_y), 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha,
                                                            beta);
  return cudaGetLastError();
}
}  // namespace neighbouring_rows

namespace eight_in_a_column {
// 3 4: PASSED
constexpr int rows = 8, threads_y = 4;
__global__ void multiply_tile(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  __shared__ float a_tile[32][32], b_tile[32][32];
  const int x = threadIdx.x;
  const std::int64_t top = std::int64_t{blockIdx.y} * 32, col = std::int64_t{blockIdx.x} * 32 + x;
  float sums[rows] = {};
  for (std::int64_t first = 0; first < k; first += 32) {
    for (int y = threadIdx.y; y < 32; y += threads_y) {
      const std::int64_t row = top + y;
      a_tile[y][x] = row < m && first + x < k ? a[row * lda + first + x] : 0;
      b_tile[y][x] = first + y < k && col < n ? b[(first + y) * ldb + col] : 0;
    }
    __syncthreads();
    for (int i = 0; i < 32; ++i) {
      const float b_value = b_tile[i][x];
      for (int r = 0; r < rows; ++r) sums[r] += a_tile[threadIdx.y + r * threads_y][i] * b_value;
    }
    __syncthreads();
  }
  for (int r = 0; r < rows; ++r) {
    const std::int64_t row = top + threadIdx.y + r * threads_y;
    const float sum = sums[r];
    if (row >= m || col >= n) break;
    float* const out = c + row * ldc + col;
    *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
  }
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const dim3 blocks(static_cast<unsigned>((n + 31) / 32), static_cast<unsigned>((m + 31) / 32));
  multiply_tile<<<blocks, dim3(32, threads_y), 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha,
                                                            beta);
  return cudaGetLastError();
}
}  // namespace eight_in_a_column

// An element of A serves four columns.
namespace four_in_a_row {
// 4: PASSED
__global__ void multiply_tile(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  __shared__ float a_tile[32][33], b_tile[32][32];
  const int t = threadIdx.x, x = t % 8, y = t / 8;
  const std::int64_t top = std::int64_t{blockIdx.y} * 32, left = std::int64_t{blockIdx.x} * 32;
  float sums[4] = {};
  for (std::int64_t first = 0; first < k; first += 32) {
    for (int e = t; e < 1024; e += 256) {
      const int r = e / 32, s = e % 32;
      a_tile[r][s] = top + r < m && first + s < k ? a[(top + r) * lda + first + s] : 0;
      b_tile[r][s] = first + r < k && left + s < n ? b[(first + r) * ldb + left + s] : 0;
    }
    __syncthreads();
    for (int i = 0; i < 32; ++i) {
      const float a_value = a_tile[y][i];
      for (int s = 0; s < 4; ++s) sums[s] += a_value * b_tile[i][x + 8 * s];
    }
    __syncthreads();
  }
  for (int s = 0; s < 4; ++s) {
    const std::int64_t row = top + y, col = left + x + 8 * s;
    if (row >= m || col >= n) continue;
    const float sum = sums[s];
    float* const out = c + row * ldc + col;
    *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
  }
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const dim3 blocks(static_cast<unsigned>((n + 31) / 32), static_cast<unsigned>((m + 31) / 32));
  multiply_tile<<<blocks, 256, 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace four_in_a_row

namespace one_block_of_columns {
// 4: NOT YET: right, but one after the other
constexpr int rows = 4, threads_y = 8;
__global__ void multiply_tiles(const float* a, const float* b, float* c, std::int64_t m,
                               std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                               std::int64_t ldc, float alpha, float beta) {
  __shared__ float a_tile[32][32], b_tile[32][32];
  const int x = threadIdx.x;
  const std::int64_t across = (n + 31) / 32, tiles = across * ((m + 31) / 32);
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    const std::int64_t top = tile / across * 32, col = tile % across * 32 + x;
    float sums[rows] = {};
    for (std::int64_t first = 0; first < k; first += 32) {
      for (int y = threadIdx.y; y < 32; y += threads_y) {
        const std::int64_t row = top + y;
        a_tile[y][x] = row < m && first + x < k ? a[row * lda + first + x] : 0;
        b_tile[y][x] = first + y < k && col < n ? b[(first + y) * ldb + col] : 0;
      }
      __syncthreads();
      for (int i = 0; i < 32; ++i) {
        const float b_value = b_tile[i][x];
        for (int r = 0; r < rows; ++r) sums[r] += a_tile[threadIdx.y + r * threads_y][i] * b_value;
      }
      __syncthreads();
    }
    for (int r = 0; r < rows; ++r) {
      const std::int64_t row = top + threadIdx.y + r * threads_y;
      const float sum = sums[r];
      if (row >= m || col >= n) break;
      float* const out = c + row * ldc + col;
      *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
    }
  }
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  multiply_tiles<<<1, dim3(32, threads_y), 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha,
                                                        beta);
  return cudaGetLastError();
}
}  // namespace one_block_of_columns

namespace neighbouring_columns {
// 5: NOT YET: right, but bank conflicts
constexpr int tile_m = 64, tile_n = 64, tile_k = 16, rows = 4, cols = 4;
constexpr int down = tile_m / rows, across = tile_n / cols, threads = down * across;
__global__ void multiply_tile(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  __shared__ float a_tile[tile_m][tile_k + 1], b_tile[tile_k][tile_n];
  const int t = threadIdx.x, y = t / across, x = t % across;
  const std::int64_t tiles = (n - 1) / tile_n + 1;
  const std::int64_t top = blockIdx.x / tiles * tile_m, left = blockIdx.x % tiles * tile_n;
  float sums[rows][cols] = {};
  for (std::int64_t first = 0; first < k; first += tile_k) {
    for (int e = t; e < tile_m * tile_k; e += threads) {
      const std::int64_t row = top + e / tile_k, col = first + e % tile_k;
      a_tile[e / tile_k][e % tile_k] = row < m && col < k ? a[row * lda + col] : 0;
    }
    for (int e = t; e < tile_k * tile_n; e += threads) {
      const std::int64_t row = first + e / tile_n, col = left + e % tile_n;
      b_tile[e / tile_n][e % tile_n] = row < k && col < n ? b[row * ldb + col] : 0;
    }
    __syncthreads();
    for (int i = 0; i < tile_k; ++i) {
      float b_values[cols];
      for (int s = 0; s < cols; ++s) b_values[s] = b_tile[i][x * cols + s];
      for (int r = 0; r < rows; ++r) {
        const float a_value = a_tile[y + r * down][i];
        for (int s = 0; s < cols; ++s) sums[r][s] += a_value * b_values[s];
      }
    }
    __syncthreads();
  }
  for (int e = 0; e < rows * cols; ++e) {
    const int r = e / cols, s = e % cols;
    const std::int64_t row = top + y + r * down, col = left + x * cols + s;
    if (row >= m || col >= n) continue;
    const float sum = sums[r][s];
    float* const out = c + row * ldc + col;
    *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
  }
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const std::int64_t blocks = ((m - 1) / tile_m + 1) * ((n - 1) / tile_n + 1);
  multiply_tile<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(a, b, c, m, n, k, lda, ldb,
                                                                       ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace neighbouring_columns

namespace one_block_of_squares {
// 5: NOT YET: right, but one after the other
constexpr int tile_m = 64, tile_n = 64, tile_k = 16, rows = 4, cols = 4;
constexpr int down = tile_m / rows, across = tile_n / cols, threads = down * across;
__global__ void multiply_tile(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  __shared__ float a_tile[tile_m][tile_k + 1], b_tile[tile_k][tile_n];
  const int t = threadIdx.x, y = t / across, x = t % across;
  for (std::int64_t top = 0; top < m; top += tile_m) {
    for (std::int64_t left = 0; left < n; left += tile_n) {
      float sums[rows][cols] = {};
      for (std::int64_t first = 0; first < k; first += tile_k) {
        for (int e = t; e < tile_m * tile_k; e += threads) {
          const std::int64_t row = top + e / tile_k, col = first + e % tile_k;
          a_tile[e / tile_k][e % tile_k] = row < m && col < k ? a[row * lda + col] : 0;
        }
        for (int e = t; e < tile_k * tile_n; e += threads) {
          const std::int64_t row = first + e / tile_n, col = left + e % tile_n;
          b_tile[e / tile_n][e % tile_n] = row < k && col < n ? b[row * ldb + col] : 0;
        }
        __syncthreads();
        for (int i = 0; i < tile_k; ++i) {
          float b_values[cols];
          for (int s = 0; s < cols; ++s) b_values[s] = b_tile[i][x + s * across];
          for (int r = 0; r < rows; ++r) {
            const float a_value = a_tile[y + r * down][i];
            for (int s = 0; s < cols; ++s) sums[r][s] += a_value * b_values[s];
          }
        }
        __syncthreads();
      }
      for (int e = 0; e < rows * cols; ++e) {
        const int r = e / cols, s = e % cols;
        const std::int64_t row = top + y + r * down, col = left + x + s * across;
        if (row >= m || col >= n) continue;
        const float sum = sums[r][s];
        float* const out = c + row * ldc + col;
        *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
      }
    }
  }
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  multiply_tile<<<1, threads, 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace one_block_of_squares

// The host launches a block for every tile of C.
namespace square_launches {
// 5: NOT YET: right, but one after the other
constexpr int tile_m = 64, tile_n = 64, tile_k = 16, rows = 4, cols = 4;
constexpr int down = tile_m / rows, across = tile_n / cols, threads = down * across;
__global__ void multiply_tile(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta, std::int64_t top,
                              std::int64_t left) {
  __shared__ float a_tile[tile_m][tile_k + 1], b_tile[tile_k][tile_n];
  const int t = threadIdx.x, y = t / across, x = t % across;
  float sums[rows][cols] = {};
  for (std::int64_t first = 0; first < k; first += tile_k) {
    for (int e = t; e < tile_m * tile_k; e += threads) {
      const std::int64_t row = top + e / tile_k, col = first + e % tile_k;
      a_tile[e / tile_k][e % tile_k] = row < m && col < k ? a[row * lda + col] : 0;
    }
    for (int e = t; e < tile_k * tile_n; e += threads) {
      const std::int64_t row = first + e / tile_n, col = left + e % tile_n;
      b_tile[e / tile_n][e % tile_n] = row < k && col < n ? b[row * ldb + col] : 0;
    }
    __syncthreads();
    for (int i = 0; i < tile_k; ++i) {
      float b_values[cols];
      for (int s = 0; s < cols; ++s) b_values[s] = b_tile[i][x + s * across];
      for (int r = 0; r < rows; ++r) {
        const float a_value = a_tile[y + r * down][i];
        for (int s = 0; s < cols; ++s) sums[r][s] += a_value * b_values[s];
      }
    }
    __syncthreads();
  }
  for (int e = 0; e < rows * cols; ++e) {
    const int r = e / cols, s = e % cols;
    const std::int64_t row = top + y + r * down, col = left + x + s * across;
    if (row >= m || col >= n) continue;
    const float sum = sums[r][s];
    float* const out = c + row * ldc + col;
    *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
  }
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  for (std::int64_t top = 0; top < m; top += tile_m) {
    for (std::int64_t left = 0; left < n; left += tile_n) {
      multiply_tile<<<1, threads, 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha, beta, top,
                                               left);
    }
  }
  return cudaGetLastError();
}
}  // namespace square_launches

namespace four_by_four {
// 3 4 5: PASSED
// 6: NOT YET: right, but
constexpr int tile_m = 64, tile_n = 64, tile_k = 32, rows = 4, cols = 4;
constexpr int down = tile_m / rows, across = tile_n / cols, threads = down * across;
__global__ void multiply_tile(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  __shared__ float a_tile[tile_m][tile_k + 1], b_tile[tile_k][tile_n];
  const int t = threadIdx.x, y = t / across, x = t % across;
  const std::int64_t tiles = (n - 1) / tile_n + 1;
  const std::int64_t top = blockIdx.x / tiles * tile_m, left = blockIdx.x % tiles * tile_n;
  float sums[rows][cols] = {};
  for (std::int64_t first = 0; first < k; first += tile_k) {
    for (int e = t; e < tile_m * tile_k; e += threads) {
      const std::int64_t row = top + e / tile_k, col = first + e % tile_k;
      a_tile[e / tile_k][e % tile_k] = row < m && col < k ? a[row * lda + col] : 0;
    }
    for (int e = t; e < tile_k * tile_n; e += threads) {
      const std::int64_t row = first + e / tile_n, col = left + e % tile_n;
      b_tile[e / tile_n][e % tile_n] = row < k && col < n ? b[row * ldb + col] : 0;
    }
    __syncthreads();
    for (int i = 0; i < tile_k; ++i) {
      float b_values[cols];
      for (int s = 0; s < cols; ++s) b_values[s] = b_tile[i][x + s * across];
      for (int r = 0; r < rows; ++r) {
        const float a_value = a_tile[y + r * down][i];
        for (int s = 0; s < cols; ++s) sums[r][s] += a_value * b_values[s];
      }
    }
    __syncthreads();
  }
  for (int e = 0; e < rows * cols; ++e) {
    const int r = e / cols, s = e % cols;
    const std::int64_t row = top + y + r * down, col = left + x + s * across;
    if (row >= m || col >= n) continue;
    const float sum = sums[r][s];
    float* const out = c + row * ldc + col;
    *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
  }
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const std::int64_t blocks = ((m - 1) / tile_m + 1) * ((n - 1) / tile_n + 1);
  multiply_tile<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(a, b, c, m, n, k, lda, ldb,
                                                                       ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace four_by_four

namespace tile_32_by_64 {
// 5: PASSED
constexpr int tile_m = 32, tile_n = 64, tile_k = 16, rows = 4, cols = 4;
constexpr int down = tile_m / rows, across = tile_n / cols, threads = down * across;
__global__ void multiply_tile(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  __shared__ float a_tile[tile_m][tile_k + 1], b_tile[tile_k][tile_n];
  const int t = threadIdx.x, y = t / across, x = t % across;
  const std::int64_t tiles = (n - 1) / tile_n + 1;
  const std::int64_t top = blockIdx.x / tiles * tile_m, left = blockIdx.x % tiles * tile_n;
  float sums[rows][cols] = {};
  for (std::int64_t first = 0; first < k; first += tile_k) {
    for (int e = t; e < tile_m * tile_k; e += threads) {
      const std::int64_t row = top + e / tile_k, col = first + e % tile_k;
      a_tile[e / tile_k][e % tile_k] = row < m && col < k ? a[row * lda + col] : 0;
    }
    for (int e = t; e < tile_k * tile_n; e += threads) {
      const std::int64_t row = first + e / tile_n, col = left + e % tile_n;
      b_tile[e / tile_n][e % tile_n] = row < k && col < n ? b[row * ldb + col] : 0;
    }
    __syncthreads();
    for (int i = 0; i < tile_k; ++i) {
      float b_values[cols];
      for (int s = 0; s < cols; ++s) b_values[s] = b_tile[i][x + s * across];
      for (int r = 0; r < rows; ++r) {
        const float a_value = a_tile[y + r * down][i];
        for (int s = 0; s < cols; ++s) sums[r][s] += a_value * b_values[s];
      }
    }
    __syncthreads();
  }
  for (int e = 0; e < rows * cols; ++e) {
    const int r = e / cols, s = e % cols;
    const std::int64_t row = top + y + r * down, col = left + x + s * across;
    if (row >= m || col >= n) continue;
    const float sum = sums[r][s];
    float* const out = c + row * ldc + col;
    *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
  }
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const std::int64_t blocks = ((m - 1) / tile_m + 1) * ((n - 1) / tile_n + 1);
  multiply_tile<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(a, b, c, m, n, k, lda, ldb,
                                                                       ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace tile_32_by_64

namespace eight_by_four {
// 5: PASSED
constexpr int tile_m = 128, tile_n = 64, tile_k = 8, rows = 8, cols = 4;
constexpr int down = tile_m / rows, across = tile_n / cols, threads = down * across;
__global__ void multiply_tile(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  __shared__ float a_tile[tile_m][tile_k + 1], b_tile[tile_k][tile_n];
  const int t = threadIdx.x, y = t / across, x = t % across;
  const std::int64_t tiles = (n - 1) / tile_n + 1;
  const std::int64_t top = blockIdx.x / tiles * tile_m, left = blockIdx.x % tiles * tile_n;
  float sums[rows][cols] = {};
  for (std::int64_t first = 0; first < k; first += tile_k) {
    for (int e = t; e < tile_m * tile_k; e += threads) {
      const std::int64_t row = top + e / tile_k, col = first + e % tile_k;
      a_tile[e / tile_k][e % tile_k] = row < m && col < k ? a[row * lda + col] : 0;
    }
    for (int e = t; e < tile_k * tile_n; e += threads) {
      const std::int64_t row = first + e / tile_n, col = left + e % tile_n;
      b_tile[e / tile_n][e % tile_n] = row < k && col < n ? b[row * ldb + col] : 0;
    }
    __syncthreads();
    for (int i = 0; i < tile_k; ++i) {
      float b_values[cols];
      for (int s = 0; s < cols; ++s) b_values[s] = b_tile[i][x + s * across];
      for (int r = 0; r < rows; ++r) {
        const float a_value = a_tile[y + r * down][i];
        for (int s = 0; s < cols; ++s) sums[r][s] += a_value * b_values[s];
      }
    }
    __syncthreads();
  }
  for (int e = 0; e < rows * cols; ++e) {
    const int r = e / cols, s = e % cols;
    const std::int64_t row = top + y + r * down, col = left + x + s * across;
    if (row >= m || col >= n) continue;
    const float sum = sums[r][s];
    float* const out = c + row * ldc + col;
    *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
  }
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const std::int64_t blocks = ((m - 1) / tile_m + 1) * ((n - 1) / tile_n + 1);
  multiply_tile<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(a, b, c, m, n, k, lda, ldb,
                                                                       ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace eight_by_four

namespace eight_by_eight {
// 5: PASSED
// 6: NOT YET: right, but
constexpr int tile_m = 64, tile_n = 64, tile_k = 16, rows = 8, cols = 8;
constexpr int down = tile_m / rows, across = tile_n / cols, threads = down * across;
__global__ void multiply_tile(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  __shared__ float a_tile[tile_m][tile_k + 1], b_tile[tile_k][tile_n];
  const int t = threadIdx.x, y = t / across, x = t % across;
  const std::int64_t tiles = (n - 1) / tile_n + 1;
  const std::int64_t top = blockIdx.x / tiles * tile_m, left = blockIdx.x % tiles * tile_n;
  float sums[rows][cols] = {};
  for (std::int64_t first = 0; first < k; first += tile_k) {
    for (int e = t; e < tile_m * tile_k; e += threads) {
      const std::int64_t row = top + e / tile_k, col = first + e % tile_k;
      a_tile[e / tile_k][e % tile_k] = row < m && col < k ? a[row * lda + col] : 0;
    }
    for (int e = t; e < tile_k * tile_n; e += threads) {
      const std::int64_t row = first + e / tile_n, col = left + e % tile_n;
      b_tile[e / tile_n][e % tile_n] = row < k && col < n ? b[row * ldb + col] : 0;
    }
    __syncthreads();
    for (int i = 0; i < tile_k; ++i) {
      float b_values[cols];
      for (int s = 0; s < cols; ++s) b_values[s] = b_tile[i][x + s * across];
      for (int r = 0; r < rows; ++r) {
        const float a_value = a_tile[y + r * down][i];
        for (int s = 0; s < cols; ++s) sums[r][s] += a_value * b_values[s];
      }
    }
    __syncthreads();
  }
  for (int e = 0; e < rows * cols; ++e) {
    const int r = e / cols, s = e % cols;
    const std::int64_t row = top + y + r * down, col = left + x + s * across;
    if (row >= m || col >= n) continue;
    const float sum = sums[r][s];
    float* const out = c + row * ldc + col;
    *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
  }
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const std::int64_t blocks = ((m - 1) / tile_m + 1) * ((n - 1) / tile_n + 1);
  multiply_tile<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(a, b, c, m, n, k, lda, ldb,
                                                                       ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace eight_by_eight

namespace block_of_1024 {
// 5: PASSED
constexpr int tile_m = 128, tile_n = 128, tile_k = 16, rows = 4, cols = 4;
constexpr int down = tile_m / rows, across = tile_n / cols, threads = down * across;
__global__ void multiply_tile(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  __shared__ float a_tile[tile_m][tile_k + 1], b_tile[tile_k][tile_n];
  const int t = threadIdx.x, y = t / across, x = t % across;
  const std::int64_t tiles = (n - 1) / tile_n + 1;
  const std::int64_t top = blockIdx.x / tiles * tile_m, left = blockIdx.x % tiles * tile_n;
  float sums[rows][cols] = {};
  for (std::int64_t first = 0; first < k; first += tile_k) {
    for (int e = t; e < tile_m * tile_k; e += threads) {
      const std::int64_t row = top + e / tile_k, col = first + e % tile_k;
      a_tile[e / tile_k][e % tile_k] = row < m && col < k ? a[row * lda + col] : 0;
    }
    for (int e = t; e < tile_k * tile_n; e += threads) {
      const std::int64_t row = first + e / tile_n, col = left + e % tile_n;
      b_tile[e / tile_n][e % tile_n] = row < k && col < n ? b[row * ldb + col] : 0;
    }
    __syncthreads();
    for (int i = 0; i < tile_k; ++i) {
      float b_values[cols];
      for (int s = 0; s < cols; ++s) b_values[s] = b_tile[i][x + s * across];
      for (int r = 0; r < rows; ++r) {
        const float a_value = a_tile[y + r * down][i];
        for (int s = 0; s < cols; ++s) sums[r][s] += a_value * b_values[s];
      }
    }
    __syncthreads();
  }
  for (int e = 0; e < rows * cols; ++e) {
    const int r = e / cols, s = e % cols;
    const std::int64_t row = top + y + r * down, col = left + x + s * across;
    if (row >= m || col >= n) continue;
    const float sum = sums[r][s];
    float* const out = c + row * ldc + col;
    *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
  }
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const std::int64_t blocks = ((m - 1) / tile_m + 1) * ((n - 1) / tile_n + 1);
  multiply_tile<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(a, b, c, m, n, k, lda, ldb,
                                                                       ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace block_of_1024

namespace only_b_in_vectors {
// 6: NOT YET: right, but
constexpr int tile_m = 128, tile_n = 128, tile_k = 8;
constexpr int down = tile_m / 8, across = tile_n / 8, threads = down * across;
__device__ void four(float* to, const float* from) {
  const float4 v = *reinterpret_cast<const float4*>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}
__global__ void multiply_tile(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  __shared__ __align__(16) float a_tile[tile_k][tile_m + 4];
  __shared__ __align__(16) float b_tile[tile_k][tile_n];
  const int t = threadIdx.x, y = t / across, x = t % across;
  const std::int64_t tiles = (n - 1) / tile_n + 1;
  const std::int64_t top = blockIdx.x / tiles * tile_m, left = blockIdx.x % tiles * tile_n;
  float sums[8][8] = {};
  for (std::int64_t first = 0; first < k; first += tile_k) {
    for (int e = t; e < tile_m * tile_k; e += threads) {
      const std::int64_t row = top + e / tile_k, col = first + e % tile_k;
      a_tile[e % tile_k][e / tile_k] = row < m && col < k ? a[row * lda + col] : 0;
    }
    for (int e = t; e < tile_k * tile_n; e += threads) {
      const std::int64_t row = first + e / tile_n, col = left + e % tile_n;
      b_tile[e / tile_n][e % tile_n] = row < k && col < n ? b[row * ldb + col] : 0;
    }
    __syncthreads();
    for (int i = 0; i < tile_k; ++i) {
      float a_values[8], b_values[8];
      for (int r = 0; r < 8; ++r) a_values[r] = a_tile[i][y + r * down];
      four(b_values, &b_tile[i][x * 4]);
      four(b_values + 4, &b_tile[i][x * 4 + tile_n / 2]);
      for (int e = 0; e < 64; ++e) sums[e / 8][e % 8] += a_values[e / 8] * b_values[e % 8];
    }
    __syncthreads();
  }
  for (int e = 0; e < 64; e += 4) {
    const int r = e / 8, s = e % 8;
    const std::int64_t row = top + y + r * down, col = left + x * 4 + s % 4 + s / 4 * (tile_n / 2);
    float* const out = c + row * ldc + col;
    const float* const sum = &sums[r][s];
    if (beta == 0 && row < m && col + 3 < n && reinterpret_cast<std::uintptr_t>(out) % 16 == 0) {
      *reinterpret_cast<float4*>(out) =
          make_float4(alpha * sum[0], alpha * sum[1], alpha * sum[2], alpha * sum[3]);
      continue;
    }
    for (int i = 0; i < 4 && row < m && col + i < n; ++i)
      out[i] = beta == 0 ? alpha * sum[i] : alpha * sum[i] + beta * out[i];
  }
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const std::int64_t blocks = ((m - 1) / tile_m + 1) * ((n - 1) / tile_n + 1);
  multiply_tile<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(a, b, c, m, n, k, lda, ldb,
                                                                       ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace only_b_in_vectors

namespace one_block_of_vectors {
// 6: NOT YET: right, but one after the other
constexpr int tile_m = 128, tile_n = 128, tile_k = 8;
constexpr int down = tile_m / 8, across = tile_n / 8, threads = down * across;
__device__ void four(float* to, const float* from) {
  const float4 v = *reinterpret_cast<const float4*>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}
__global__ void multiply_tile(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  __shared__ __align__(16) float a_tile[tile_k][tile_m + 4];
  __shared__ __align__(16) float b_tile[tile_k][tile_n];
  const int t = threadIdx.x, y = t / across, x = t % across;
  for (std::int64_t top = 0; top < m; top += tile_m) {
    for (std::int64_t left = 0; left < n; left += tile_n) {
      float sums[8][8] = {};
      for (std::int64_t first = 0; first < k; first += tile_k) {
        for (int e = t; e < tile_m * tile_k; e += threads) {
          const std::int64_t row = top + e / tile_k, col = first + e % tile_k;
          a_tile[e % tile_k][e / tile_k] = row < m && col < k ? a[row * lda + col] : 0;
        }
        for (int e = t; e < tile_k * tile_n; e += threads) {
          const std::int64_t row = first + e / tile_n, col = left + e % tile_n;
          b_tile[e / tile_n][e % tile_n] = row < k && col < n ? b[row * ldb + col] : 0;
        }
        __syncthreads();
        for (int i = 0; i < tile_k; ++i) {
          float a_values[8], b_values[8];
          four(a_values, &a_tile[i][y * 4]);
          four(a_values + 4, &a_tile[i][y * 4 + tile_m / 2]);
          four(b_values, &b_tile[i][x * 4]);
          four(b_values + 4, &b_tile[i][x * 4 + tile_n / 2]);
          for (int e = 0; e < 64; ++e) sums[e / 8][e % 8] += a_values[e / 8] * b_values[e % 8];
        }
        __syncthreads();
      }
      for (int e = 0; e < 64; e += 4) {
        const int r = e / 8, s = e % 8;
        const std::int64_t row = top + y * 4 + r % 4 + r / 4 * (tile_m / 2),
                           col = left + x * 4 + s % 4 + s / 4 * (tile_n / 2);
        float* const out = c + row * ldc + col;
        const float* const sum = &sums[r][s];
        if (beta == 0 && row < m && col + 3 < n &&
            reinterpret_cast<std::uintptr_t>(out) % 16 == 0) {
          *reinterpret_cast<float4*>(out) =
              make_float4(alpha * sum[0], alpha * sum[1], alpha * sum[2], alpha * sum[3]);
          continue;
        }
        for (int i = 0; i < 4 && row < m && col + i < n; ++i)
          out[i] = beta == 0 ? alpha * sum[i] : alpha * sum[i] + beta * out[i];
      }
    }
  }
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  multiply_tile<<<1, threads, 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace one_block_of_vectors

// The host launches a block for every tile of C.
namespace vector_launches {
// 6: NOT YET: right, but one after the other
constexpr int tile_m = 128, tile_n = 128, tile_k = 8;
constexpr int down = tile_m / 8, across = tile_n / 8, threads = down * across;
__device__ void four(float* to, const float* from) {
  const float4 v = *reinterpret_cast<const float4*>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}
__global__ void multiply_tile(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta, std::int64_t top,
                              std::int64_t left) {
  __shared__ __align__(16) float a_tile[tile_k][tile_m + 4];
  __shared__ __align__(16) float b_tile[tile_k][tile_n];
  const int t = threadIdx.x, y = t / across, x = t % across;
  float sums[8][8] = {};
  for (std::int64_t first = 0; first < k; first += tile_k) {
    for (int e = t; e < tile_m * tile_k; e += threads) {
      const std::int64_t row = top + e / tile_k, col = first + e % tile_k;
      a_tile[e % tile_k][e / tile_k] = row < m && col < k ? a[row * lda + col] : 0;
    }
    for (int e = t; e < tile_k * tile_n; e += threads) {
      const std::int64_t row = first + e / tile_n, col = left + e % tile_n;
      b_tile[e / tile_n][e % tile_n] = row < k && col < n ? b[row * ldb + col] : 0;
    }
    __syncthreads();
    for (int i = 0; i < tile_k; ++i) {
      float a_values[8], b_values[8];
      four(a_values, &a_tile[i][y * 4]);
      four(a_values + 4, &a_tile[i][y * 4 + tile_m / 2]);
      four(b_values, &b_tile[i][x * 4]);
      four(b_values + 4, &b_tile[i][x * 4 + tile_n / 2]);
      for (int e = 0; e < 64; ++e) sums[e / 8][e % 8] += a_values[e / 8] * b_values[e % 8];
    }
    __syncthreads();
  }
  for (int e = 0; e < 64; e += 4) {
    const int r = e / 8, s = e % 8;
    const std::int64_t row = top + y * 4 + r % 4 + r / 4 * (tile_m / 2),
                       col = left + x * 4 + s % 4 + s / 4 * (tile_n / 2);
    float* const out = c + row * ldc + col;
    const float* const sum = &sums[r][s];
    if (beta == 0 && row < m && col + 3 < n && reinterpret_cast<std::uintptr_t>(out) % 16 == 0) {
      *reinterpret_cast<float4*>(out) =
          make_float4(alpha * sum[0], alpha * sum[1], alpha * sum[2], alpha * sum[3]);
      continue;
    }
    for (int i = 0; i < 4 && row < m && col + i < n; ++i)
      out[i] = beta == 0 ? alpha * sum[i] : alpha * sum[i] + beta * out[i];
  }
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  for (std::int64_t top = 0; top < m; top += tile_m) {
    for (std::int64_t left = 0; left < n; left += tile_n) {
      multiply_tile<<<1, threads, 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha, beta, top,
                                               left);
    }
  }
  return cudaGetLastError();
}
}  // namespace vector_launches

// As hints 1 to 3 say: reads of 16 bytes, loads and stores of 4.
namespace stores_one_by_one {
// 6: PASSED
constexpr int tile_m = 128, tile_n = 128, tile_k = 8;
constexpr int down = tile_m / 8, across = tile_n / 8, threads = down * across;
__device__ void four(float* to, const float* from) {
  const float4 v = *reinterpret_cast<const float4*>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}
__global__ void multiply_tile(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  __shared__ __align__(16) float a_tile[tile_k][tile_m + 4];
  __shared__ __align__(16) float b_tile[tile_k][tile_n];
  const int t = threadIdx.x, y = t / across, x = t % across;
  const std::int64_t tiles = (n - 1) / tile_n + 1;
  const std::int64_t top = blockIdx.x / tiles * tile_m, left = blockIdx.x % tiles * tile_n;
  float sums[8][8] = {};
  for (std::int64_t first = 0; first < k; first += tile_k) {
    for (int e = t; e < tile_m * tile_k; e += threads) {
      const std::int64_t row = top + e / tile_k, col = first + e % tile_k;
      a_tile[e % tile_k][e / tile_k] = row < m && col < k ? a[row * lda + col] : 0;
    }
    for (int e = t; e < tile_k * tile_n; e += threads) {
      const std::int64_t row = first + e / tile_n, col = left + e % tile_n;
      b_tile[e / tile_n][e % tile_n] = row < k && col < n ? b[row * ldb + col] : 0;
    }
    __syncthreads();
    for (int i = 0; i < tile_k; ++i) {
      float a_values[8], b_values[8];
      four(a_values, &a_tile[i][y * 4]);
      four(a_values + 4, &a_tile[i][y * 4 + tile_m / 2]);
      four(b_values, &b_tile[i][x * 4]);
      four(b_values + 4, &b_tile[i][x * 4 + tile_n / 2]);
      for (int e = 0; e < 64; ++e) sums[e / 8][e % 8] += a_values[e / 8] * b_values[e % 8];
    }
    __syncthreads();
  }
  for (int e = 0; e < 64; ++e) {
    const int r = e / 8, s = e % 8;
    const std::int64_t row = top + y * 4 + r % 4 + r / 4 * (tile_m / 2),
                       col = left + x * 4 + s % 4 + s / 4 * (tile_n / 2);
    if (row >= m || col >= n) continue;
    const float sum = sums[r][s];
    float* const out = c + row * ldc + col;
    *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
  }
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const std::int64_t blocks = ((m - 1) / tile_m + 1) * ((n - 1) / tile_n + 1);
  multiply_tile<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(a, b, c, m, n, k, lda, ldb,
                                                                       ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace stores_one_by_one

namespace vectors_128 {
// 6: PASSED
constexpr int tile_m = 128, tile_n = 128, tile_k = 8;
constexpr int down = tile_m / 8, across = tile_n / 8, threads = down * across;
__device__ void four(float* to, const float* from) {
  const float4 v = *reinterpret_cast<const float4*>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}
__global__ void multiply_tile(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  __shared__ __align__(16) float a_tile[tile_k][tile_m + 4];
  __shared__ __align__(16) float b_tile[tile_k][tile_n];
  const int t = threadIdx.x, y = t / across, x = t % across;
  const std::int64_t tiles = (n - 1) / tile_n + 1;
  const std::int64_t top = blockIdx.x / tiles * tile_m, left = blockIdx.x % tiles * tile_n;
  float sums[8][8] = {};
  for (std::int64_t first = 0; first < k; first += tile_k) {
    for (int e = t; e < tile_m * tile_k; e += threads) {
      const std::int64_t row = top + e / tile_k, col = first + e % tile_k;
      a_tile[e % tile_k][e / tile_k] = row < m && col < k ? a[row * lda + col] : 0;
    }
    for (int e = t; e < tile_k * tile_n; e += threads) {
      const std::int64_t row = first + e / tile_n, col = left + e % tile_n;
      b_tile[e / tile_n][e % tile_n] = row < k && col < n ? b[row * ldb + col] : 0;
    }
    __syncthreads();
    for (int i = 0; i < tile_k; ++i) {
      float a_values[8], b_values[8];
      four(a_values, &a_tile[i][y * 4]);
      four(a_values + 4, &a_tile[i][y * 4 + tile_m / 2]);
      four(b_values, &b_tile[i][x * 4]);
      four(b_values + 4, &b_tile[i][x * 4 + tile_n / 2]);
      for (int e = 0; e < 64; ++e) sums[e / 8][e % 8] += a_values[e / 8] * b_values[e % 8];
    }
    __syncthreads();
  }
  for (int e = 0; e < 64; e += 4) {
    const int r = e / 8, s = e % 8;
    const std::int64_t row = top + y * 4 + r % 4 + r / 4 * (tile_m / 2),
                       col = left + x * 4 + s % 4 + s / 4 * (tile_n / 2);
    float* const out = c + row * ldc + col;
    const float* const sum = &sums[r][s];
    if (beta == 0 && row < m && col + 3 < n && reinterpret_cast<std::uintptr_t>(out) % 16 == 0) {
      *reinterpret_cast<float4*>(out) =
          make_float4(alpha * sum[0], alpha * sum[1], alpha * sum[2], alpha * sum[3]);
      continue;
    }
    for (int i = 0; i < 4 && row < m && col + i < n; ++i)
      out[i] = beta == 0 ? alpha * sum[i] : alpha * sum[i] + beta * out[i];
  }
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const std::int64_t blocks = ((m - 1) / tile_m + 1) * ((n - 1) / tile_n + 1);
  multiply_tile<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(a, b, c, m, n, k, lda, ldb,
                                                                       ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace vectors_128

namespace vectors_64 {
// 6: PASSED
constexpr int tile_m = 64, tile_n = 64, tile_k = 8;
constexpr int down = tile_m / 8, across = tile_n / 8, threads = down * across;
__device__ void four(float* to, const float* from) {
  const float4 v = *reinterpret_cast<const float4*>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}
__global__ void multiply_tile(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  __shared__ __align__(16) float a_tile[tile_k][tile_m + 4];
  __shared__ __align__(16) float b_tile[tile_k][tile_n];
  const int t = threadIdx.x, y = t / across, x = t % across;
  const std::int64_t tiles = (n - 1) / tile_n + 1;
  const std::int64_t top = blockIdx.x / tiles * tile_m, left = blockIdx.x % tiles * tile_n;
  float sums[8][8] = {};
  for (std::int64_t first = 0; first < k; first += tile_k) {
    for (int e = t; e < tile_m * tile_k; e += threads) {
      const std::int64_t row = top + e / tile_k, col = first + e % tile_k;
      a_tile[e % tile_k][e / tile_k] = row < m && col < k ? a[row * lda + col] : 0;
    }
    for (int e = t; e < tile_k * tile_n; e += threads) {
      const std::int64_t row = first + e / tile_n, col = left + e % tile_n;
      b_tile[e / tile_n][e % tile_n] = row < k && col < n ? b[row * ldb + col] : 0;
    }
    __syncthreads();
    for (int i = 0; i < tile_k; ++i) {
      float a_values[8], b_values[8];
      four(a_values, &a_tile[i][y * 4]);
      four(a_values + 4, &a_tile[i][y * 4 + tile_m / 2]);
      four(b_values, &b_tile[i][x * 4]);
      four(b_values + 4, &b_tile[i][x * 4 + tile_n / 2]);
      for (int e = 0; e < 64; ++e) sums[e / 8][e % 8] += a_values[e / 8] * b_values[e % 8];
    }
    __syncthreads();
  }
  for (int e = 0; e < 64; e += 4) {
    const int r = e / 8, s = e % 8;
    const std::int64_t row = top + y * 4 + r % 4 + r / 4 * (tile_m / 2),
                       col = left + x * 4 + s % 4 + s / 4 * (tile_n / 2);
    float* const out = c + row * ldc + col;
    const float* const sum = &sums[r][s];
    if (beta == 0 && row < m && col + 3 < n && reinterpret_cast<std::uintptr_t>(out) % 16 == 0) {
      *reinterpret_cast<float4*>(out) =
          make_float4(alpha * sum[0], alpha * sum[1], alpha * sum[2], alpha * sum[3]);
      continue;
    }
    for (int i = 0; i < 4 && row < m && col + i < n; ++i)
      out[i] = beta == 0 ? alpha * sum[i] : alpha * sum[i] + beta * out[i];
  }
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const std::int64_t blocks = ((m - 1) / tile_m + 1) * ((n - 1) / tile_n + 1);
  multiply_tile<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(a, b, c, m, n, k, lda, ldb,
                                                                       ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace vectors_64

namespace vectors_128_by_64 {
// 6: PASSED
constexpr int tile_m = 128, tile_n = 64, tile_k = 16;
constexpr int down = tile_m / 8, across = tile_n / 8, threads = down * across;
__device__ void four(float* to, const float* from) {
  const float4 v = *reinterpret_cast<const float4*>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}
__global__ void multiply_tile(const float* a, const float* b, float* c, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc, float alpha, float beta) {
  __shared__ __align__(16) float a_tile[tile_k][tile_m + 4];
  __shared__ __align__(16) float b_tile[tile_k][tile_n];
  const int t = threadIdx.x, y = t / across, x = t % across;
  const std::int64_t tiles = (n - 1) / tile_n + 1;
  const std::int64_t top = blockIdx.x / tiles * tile_m, left = blockIdx.x % tiles * tile_n;
  float sums[8][8] = {};
  for (std::int64_t first = 0; first < k; first += tile_k) {
    for (int e = t; e < tile_m * tile_k; e += threads) {
      const std::int64_t row = top + e / tile_k, col = first + e % tile_k;
      a_tile[e % tile_k][e / tile_k] = row < m && col < k ? a[row * lda + col] : 0;
    }
    for (int e = t; e < tile_k * tile_n; e += threads) {
      const std::int64_t row = first + e / tile_n, col = left + e % tile_n;
      b_tile[e / tile_n][e % tile_n] = row < k && col < n ? b[row * ldb + col] : 0;
    }
    __syncthreads();
    for (int i = 0; i < tile_k; ++i) {
      float a_values[8], b_values[8];
      four(a_values, &a_tile[i][y * 4]);
      four(a_values + 4, &a_tile[i][y * 4 + tile_m / 2]);
      four(b_values, &b_tile[i][x * 4]);
      four(b_values + 4, &b_tile[i][x * 4 + tile_n / 2]);
      for (int e = 0; e < 64; ++e) sums[e / 8][e % 8] += a_values[e / 8] * b_values[e % 8];
    }
    __syncthreads();
  }
  for (int e = 0; e < 64; e += 4) {
    const int r = e / 8, s = e % 8;
    const std::int64_t row = top + y * 4 + r % 4 + r / 4 * (tile_m / 2),
                       col = left + x * 4 + s % 4 + s / 4 * (tile_n / 2);
    float* const out = c + row * ldc + col;
    const float* const sum = &sums[r][s];
    if (beta == 0 && row < m && col + 3 < n && reinterpret_cast<std::uintptr_t>(out) % 16 == 0) {
      *reinterpret_cast<float4*>(out) =
          make_float4(alpha * sum[0], alpha * sum[1], alpha * sum[2], alpha * sum[3]);
      continue;
    }
    for (int i = 0; i < 4 && row < m && col + i < n; ++i)
      out[i] = beta == 0 ? alpha * sum[i] : alpha * sum[i] + beta * out[i];
  }
}

cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (m == 0 || n == 0) return cudaSuccess;
  const std::int64_t blocks = ((m - 1) / tile_m + 1) * ((n - 1) / tile_n + 1);
  multiply_tile<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(a, b, c, m, n, k, lda, ldb,
                                                                       ldc, alpha, beta);
  return cudaGetLastError();
}
}  // namespace vectors_128_by_64
