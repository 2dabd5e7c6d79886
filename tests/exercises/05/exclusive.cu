// Answers to the exercises of chapter 05, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace one_thread {
// 4: NOT YET: right, but one after the other
__global__ void scan_all(const float* in, float* out, std::int64_t n) {
  float sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    out[i] = sum;
    sum += in[i];
  }
}

cudaError_t exclusive(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                      std::int64_t n, cudaStream_t stream) {
  workspace_bytes = 4;
  if (workspace != nullptr) scan_all<<<1, 1, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_thread

// No bank conflicts, but only one block works.
namespace one_block {
// 4: NOT YET: right, but one after the other
__global__ void scan_all(const float* in, float* out, std::int64_t n) {
  __shared__ float s[32];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  float carry = 0;
  for (std::int64_t first = 0; first < n; first += 1024) {
    const std::int64_t i = first + threadIdx.x;
    float x = i < n ? in[i] : 0.0f, y = 0;
    const float own = x;
    for (int step = 1; step < 32; step *= 2) {
      const float left = __shfl_up_sync(0xffffffffu, x, step);
      if (lane >= step) x += left;
    }
    __syncthreads();
    if (lane == 31) s[warp] = x;
    __syncthreads();
    y = s[lane];
    for (int step = 1; step < 32; step *= 2) {
      const float left = __shfl_up_sync(0xffffffffu, y, step);
      if (lane >= step) y += left;
    }
    const float before = __shfl_sync(0xffffffffu, y, (warp + 31) % 32);
    if (i < n) out[i] = carry + (warp > 0 ? before : 0.0f) + (x - own);
    carry += __shfl_sync(0xffffffffu, y, 31);
  }
}

cudaError_t exclusive(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                      std::int64_t n, cudaStream_t stream) {
  workspace_bytes = 4;
  if (workspace != nullptr) scan_all<<<1, 1024, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_block

namespace host_loop {
// 4: NOT YET: right, but one after the other
__global__ void scan_row(const float* in, float* out, float* carry, int n) {
  const int lane = static_cast<int>(threadIdx.x);
  const float x = lane < n ? in[lane] : 0.0f;
  const float before = __shfl_sync(0xffffffffu, lane == 31 ? *carry : 0.0f, 31);
  float upto = x;
  for (int step = 1; step < 32; step *= 2) {
    const float left = __shfl_up_sync(0xffffffffu, upto, step);
    if (lane >= step) upto += left;
  }
  if (lane < n) out[lane] = before + (upto - x);
  if (lane == 31) *carry = before + upto;
}

cudaError_t exclusive(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                      std::int64_t n, cudaStream_t stream) {
  workspace_bytes = 4;
  if (workspace == nullptr) return cudaSuccess;
  cudaMemsetAsync(workspace, 0, 4, stream);
  for (std::int64_t i = 0; i < n; i += 32)
    scan_row<<<1, 32, 0, stream>>>(in + i, out + i, static_cast<float*>(workspace),
                                   static_cast<int>(n - i < 32 ? n - i : 32));
  return cudaGetLastError();
}
}  // namespace host_loop

// The tree in global memory has no banks.
namespace no_shared_memory {
// 4: NOT YET: right, but it moves
__global__ void copy(const float* in, float* to, std::int64_t n, std::int64_t all) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (i < all) to[i] = i < n ? in[i] : 0.0f;
}
__global__ void up(float* s, std::int64_t step, std::int64_t all) {
  const std::int64_t right = (std::int64_t{blockIdx.x} * 256 + threadIdx.x + 1) * 2 * step - 1;
  if (right < all) s[right] += s[right - step];
}
__global__ void down(float* s, std::int64_t step, std::int64_t all) {
  const std::int64_t right = (std::int64_t{blockIdx.x} * 256 + threadIdx.x + 1) * 2 * step - 1;
  if (right >= all) return;
  const float left = s[right - step];
  s[right - step] = 2 * step == all ? 0.0f : s[right];
  s[right] = (2 * step == all ? 0.0f : s[right]) + left;
}

cudaError_t exclusive(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                      std::int64_t n, cudaStream_t stream) {
  std::int64_t all = 2;
  while (all < n) all *= 2;
  workspace_bytes = static_cast<std::size_t>(all) * sizeof(float);
  if (workspace == nullptr || n == 0) return cudaSuccess;
  float* const s = static_cast<float*>(workspace);
  const auto blocks = [](std::int64_t of) { return static_cast<unsigned>((of + 255) / 256); };
  copy<<<blocks(all), 256, 0, stream>>>(in, s, n, all);
  for (std::int64_t step = 1; step < all; step *= 2)
    up<<<blocks(all / step / 2), 256, 0, stream>>>(s, step, all);
  for (std::int64_t step = all / 2; step > 0; step /= 2)
    down<<<blocks(all / step / 2), 256, 0, stream>>>(s, step, all);
  copy<<<blocks(n), 256, 0, stream>>>(s, out, n, n);
  return cudaGetLastError();
}
}  // namespace no_shared_memory

// A tile's sum first, then its scan, by shuffles: a warp's rows of 32 elements.
namespace sums_first {
// 4: PASSED
constexpr int rows = 8, tile = 128 * rows;
__device__ float warp_scan(float x) {
  for (int step = 1; step < 32; step *= 2) {
    const float left = __shfl_up_sync(0xffffffffu, x, step);
    if (static_cast<int>(threadIdx.x) % 32 >= step) x += left;
  }
  return x;
}
/// Scans tiles, each beginning with its entry of `before`; or adds up each tile, if out is nullptr.
__global__ void go(const float* in, const float* before, float* out, float* sums, std::int64_t n) {
  __shared__ float s[4];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t first = std::int64_t{blockIdx.x} * tile + warp * rows * 32 + lane;
  float y[rows], carry = 0;
  for (int r = 0; r < rows; ++r) {
    const float x = first + r * 32 < n ? in[first + r * 32] : 0.0f, upto = warp_scan(x);
    y[r] = carry + (upto - x);
    carry += __shfl_sync(0xffffffffu, upto, 31);
  }
  if (lane == 0) s[warp] = carry;
  __syncthreads();
  if (out == nullptr) {
    if (threadIdx.x == 0) sums[blockIdx.x] = s[0] + s[1] + s[2] + s[3];
    return;
  }
  float start = before == nullptr ? 0.0f : before[blockIdx.x];
  for (int w = 0; w < warp; ++w) start += s[w];
  for (int r = 0; r < rows; ++r)
    if (first + r * 32 < n) out[first + r * 32] = start + y[r];
}

cudaError_t scan_levels(float* sums, const float* in, float* out, std::int64_t n,
                        cudaStream_t stream) {
  const auto tiles = static_cast<unsigned>((n + tile - 1) / tile);
  if (tiles > 1) {
    go<<<tiles, 128, 0, stream>>>(in, nullptr, nullptr, sums, n);
    if (cudaError_t error = scan_levels(sums + tiles, sums, sums, tiles, stream)) return error;
  }
  go<<<tiles, 128, 0, stream>>>(in, tiles > 1 ? sums : nullptr, out, nullptr, n);
  return cudaGetLastError();
}
cudaError_t exclusive(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                      std::int64_t n, cudaStream_t stream) {
  workspace_bytes = static_cast<std::size_t>(n / 512 + 16) * sizeof(float);
  if (workspace == nullptr || n == 0) return cudaSuccess;
  return scan_levels(static_cast<float*>(workspace), in, out, n, stream);
}
}  // namespace sums_first

// A lane of one warp scans a row of 32 elements; rows lie 33 words apart.
namespace raking {
// 4: PASSED
__device__ int at(int k) { return k + k / 32; }
__global__ void scan_tiles(const float* in, float* out, float* sums, std::int64_t n) {
  __shared__ float s[1024 + 32], warps[32];
  const int t = static_cast<int>(threadIdx.x);
  const std::int64_t first = std::int64_t{blockIdx.x} * 1024;
  for (int i = t; i < 1024; i += 256) s[at(i)] = first + i < n ? in[first + i] : 0.0f;
  __syncthreads();
  if (t < 32) {
    float sum = 0;
    for (int k = 0; k < 32; ++k) sum += s[33 * t + k];
    warps[t] = sum;
    __syncwarp();
    float before = 0;
    for (int k = 0; k < 32; ++k) before += k < t ? warps[k] : 0.0f;
    if (t == 31) sums[blockIdx.x] = before + sum;
    for (int k = 0; k < 32; ++k) {
      const float x = s[33 * t + k];
      s[33 * t + k] = before;
      before += x;
    }
  }
  __syncthreads();
  for (int i = t; i < 1024; i += 256)
    if (first + i < n) out[first + i] = s[at(i)];
}
__global__ void add_before(float* out, const float* sums, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 1024 + threadIdx.x;
  if (i < n) out[i] += sums[blockIdx.x];
}

cudaError_t scan_levels(float* sums, const float* in, float* out, std::int64_t n,
                        cudaStream_t stream) {
  const auto tiles = static_cast<unsigned>((n + 1023) / 1024);
  scan_tiles<<<tiles, 256, 0, stream>>>(in, out, sums, n);
  if (tiles == 1) return cudaGetLastError();
  if (cudaError_t error = scan_levels(sums + tiles, sums, sums, tiles, stream)) return error;
  add_before<<<tiles, 1024, 0, stream>>>(out, sums, n);
  return cudaGetLastError();
}
cudaError_t exclusive(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                      std::int64_t n, cudaStream_t stream) {
  workspace_bytes = static_cast<std::size_t>(n / 512 + 16) * sizeof(float);
  if (workspace == nullptr || n == 0) return cudaSuccess;
  return scan_levels(static_cast<float*>(workspace), in, out, n, stream);
}
}  // namespace raking
