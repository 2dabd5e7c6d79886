// Answers to the exercises of chapter 01, and what the CPU backend must say of each.
#include <cuda_runtime.h>

#include <cstdint>

// The host computes, and a kernel is launched for show.
namespace host_computes {
// 1: NOT YET: n=1: right, but not by the rules: the host, reads
__global__ void nothing(float* c, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) c[i] = 0;
}

cudaError_t add(const float* a, const float* b, float* c, std::int64_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  nothing<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(c, n);
  cudaStreamSynchronize(stream);
  for (std::int64_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
  return cudaGetLastError();
}
}  // namespace host_computes

namespace one_thread {
// 1: NOT YET: right, but one after the other
__global__ void add_all(const float* a, const float* b, float* c, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

cudaError_t add(const float* a, const float* b, float* c, std::int64_t n, cudaStream_t stream) {
  add_all<<<1, 1, 0, stream>>>(a, b, c, n);
  return cudaGetLastError();
}
}  // namespace one_thread

namespace one_lane_per_warp {
// 1: NOT YET: right, but one after the other
__global__ void add_some(const float* a, const float* b, float* c, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 8 + threadIdx.x / 32;
  if (threadIdx.x % 32 == 0 && i < n) c[i] = a[i] + b[i];
}

cudaError_t add(const float* a, const float* b, float* c, std::int64_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  add_some<<<static_cast<unsigned>((n + 7) / 8), 256, 0, stream>>>(a, b, c, n);
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp

namespace one_block {
// 1: NOT YET: right, but one after the other
__global__ void add_all(const float* a, const float* b, float* c, std::int64_t n) {
  for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x) c[i] = a[i] + b[i];
}

cudaError_t add(const float* a, const float* b, float* c, std::int64_t n, cudaStream_t stream) {
  add_all<<<1, 1024, 0, stream>>>(a, b, c, n);
  return cudaGetLastError();
}
}  // namespace one_block

namespace small_blocks {
// 1: PASSED
__global__ void add_each(const float* a, const float* b, float* c, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

cudaError_t add(const float* a, const float* b, float* c, std::int64_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  add_each<<<static_cast<unsigned>((n + 63) / 64), 64, 0, stream>>>(a, b, c, n);
  return cudaGetLastError();
}
}  // namespace small_blocks

namespace grid_stride {
// 1: PASSED
__global__ void add_many(const float* a, const float* b, float* c, std::int64_t n) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride)
    c[i] = a[i] + b[i];
}

cudaError_t add(const float* a, const float* b, float* c, std::int64_t n, cudaStream_t stream) {
  add_many<<<64, 256, 0, stream>>>(a, b, c, n);
  return cudaGetLastError();
}
}  // namespace grid_stride

namespace four_each {
// 1: PASSED
__global__ void add_four(const float4* a, const float4* b, float4* c, std::int64_t vectors) {
  const std::int64_t v = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (v >= vectors) return;
  const float4 x = a[v], y = b[v];
  c[v] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}
__global__ void add_tail(const float* a, const float* b, float* c, std::int64_t first,
                         std::int64_t n) {
  const std::int64_t i = first + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

cudaError_t add(const float* a, const float* b, float* c, std::int64_t n, cudaStream_t stream) {
  const std::int64_t vectors = n / 4;
  if (vectors > 0) {
    add_four<<<static_cast<unsigned>((vectors + 127) / 128), 128, 0, stream>>>(
        reinterpret_cast<const float4*>(a), reinterpret_cast<const float4*>(b),
        reinterpret_cast<float4*>(c), vectors);
  }
  if (n % 4 != 0) add_tail<<<1, 4, 0, stream>>>(a, b, c, 4 * vectors, n);
  return cudaGetLastError();
}
}  // namespace four_each
