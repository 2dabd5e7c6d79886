// Answers to the exercises of chapter 02, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace host_computes_maximum {
// 3: NOT YET: n=256: right, but not by the rules: the host, reads
__global__ void store(float* out, float largest) { *out = largest; }

cudaError_t maximum(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                    std::int64_t n, cudaStream_t stream) {
  if (workspace == nullptr) return workspace_bytes = sizeof(float), cudaSuccess;
  cudaStreamSynchronize(stream);
  float largest = -INFINITY;
  for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, in[i]);
  store<<<1, 1, 0, stream>>>(out, largest);
  return cudaGetLastError();
}
}  // namespace host_computes_maximum

namespace one_thread_compares {
// 3: NOT YET: right, but one after the other
__global__ void largest_of_all(const float* in, float* out, std::int64_t n) {
  float largest = -INFINITY;
  for (std::int64_t i = 0; i < n; ++i) largest = fmaxf(largest, in[i]);
  *out = largest;
}

cudaError_t maximum(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                    std::int64_t n, cudaStream_t stream) {
  if (workspace == nullptr) return workspace_bytes = sizeof(float), cudaSuccess;
  largest_of_all<<<1, 1, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_thread_compares

// Needs no padding: one thread of each block reads all the elements that its block has.
namespace one_thread_per_block_compares {
// 3: NOT YET: right, but
__global__ void largest_of_blocks(const float* in, float* out, std::int64_t n) {
  if (threadIdx.x > 0) return;
  const std::int64_t begin = std::int64_t{blockIdx.x} * 256;
  float largest = -INFINITY;
  for (std::int64_t i = begin; i < begin + 256 && i < n; ++i) largest = fmaxf(largest, in[i]);
  out[blockIdx.x] = largest;
}

cudaError_t maximum(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                    std::int64_t n, cudaStream_t stream) {
  const std::int64_t most = (n + 255) / 256, next = (most + 255) / 256;
  if (workspace == nullptr) return workspace_bytes = 4 * (most + next + 1), cudaSuccess;
  float *to = static_cast<float*>(workspace), *other = to + most;
  for (; n > 256; n = (n + 255) / 256) {
    largest_of_blocks<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, to, n);
    in = to;
    std::swap(to, other);
  }
  largest_of_blocks<<<1, 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_thread_per_block_compares

namespace one_lane_per_warp_compares {
// 3: NOT YET: right, but
__global__ void largest_of_warps(const float* in, float* out, std::int64_t n) {
  if (threadIdx.x % 32 > 0) return;
  const std::int64_t begin = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (begin >= n && begin > 0) return;
  float largest = -INFINITY;
  for (std::int64_t i = begin; i < begin + 32 && i < n; ++i) largest = fmaxf(largest, in[i]);
  out[begin / 32] = largest;
}

cudaError_t maximum(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                    std::int64_t n, cudaStream_t stream) {
  const std::int64_t most = (n + 31) / 32, next = (most + 31) / 32;
  if (workspace == nullptr) return workspace_bytes = 4 * (most + next + 1), cudaSuccess;
  float *to = static_cast<float*>(workspace), *other = to + most;
  for (; n > 32; n = (n + 31) / 32) {
    largest_of_warps<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, to, n);
    in = to;
    std::swap(to, other);
  }
  largest_of_warps<<<1, 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp_compares

// One launch per 256 elements; the last block has as many threads as there are elements left.
namespace host_loop_of_blocks {
// 3: NOT YET: right, but one after the other
__global__ void start(float* out) { *out = -INFINITY; }
__global__ void compare_block(const float* in, float* out) {
  __shared__ float s[256];
  const unsigned t = threadIdx.x;
  s[t] = in[t];
  for (unsigned left = blockDim.x; left > 1; left = (left + 1) / 2) {
    __syncthreads();
    const unsigned half = (left + 1) / 2;
    if (t + half < left) s[t] = fmaxf(s[t], s[t + half]);
  }
  if (t == 0) *out = fmaxf(*out, s[0]);
}

cudaError_t maximum(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                    std::int64_t n, cudaStream_t stream) {
  if (workspace == nullptr) return workspace_bytes = sizeof(float), cudaSuccess;
  start<<<1, 1, 0, stream>>>(out);
  for (std::int64_t i = 0; i < n; i += 256) {
    const auto count = static_cast<unsigned>(std::min<std::int64_t>(n - i, 256));
    compare_block<<<1, count, 0, stream>>>(in + i, out);
  }
  return cudaGetLastError();
}
}  // namespace host_loop_of_blocks

// Compares the bits of floats as int: right only for floats without a sign.
namespace bits_as_int {
// 3: NOT YET: wrong at n=
__global__ void start(float* out) { *out = -INFINITY; }
__global__ void compare(const float* in, float* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicMax(reinterpret_cast<int*>(out), __float_as_int(in[i]));
}

cudaError_t maximum(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                    std::int64_t n, cudaStream_t stream) {
  if (workspace == nullptr) return workspace_bytes = sizeof(float), cudaSuccess;
  start<<<1, 1, 0, stream>>>(out);
  if (n == 0) return cudaGetLastError();
  compare<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace bits_as_int

// The same, right for both signs, and an atomic for each element: all of them are serialised.
namespace atomic_per_element_on_bits {
// 3: NOT YET: right, but
__global__ void start(float* out) { *out = -INFINITY; }
__global__ void compare(const float* in, float* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (in[i] >= 0) {
    atomicMax(reinterpret_cast<int*>(out), __float_as_int(in[i]));
  } else {
    atomicMin(reinterpret_cast<unsigned*>(out), __float_as_uint(in[i]));
  }
}

cudaError_t maximum(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                    std::int64_t n, cudaStream_t stream) {
  if (workspace == nullptr) return workspace_bytes = sizeof(float), cudaSuccess;
  start<<<1, 1, 0, stream>>>(out);
  if (n == 0) return cudaGetLastError();
  compare<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace atomic_per_element_on_bits

// Needs no padding value: the tree leaves out the elements beyond n.
namespace guarded_tree {
// 3: PASSED
__global__ void largest_of_blocks(const float* in, float* out, std::int64_t n) {
  __shared__ float s[128];
  const unsigned t = threadIdx.x;
  const std::int64_t begin = std::int64_t{blockIdx.x} * 128;
  const auto count = static_cast<unsigned>(n - begin < 128 ? n - begin : 128);
  if (t < count) s[t] = in[begin + t];
  for (unsigned half = 64; half > 0; half /= 2) {
    __syncthreads();
    if (t < half && t + half < count) s[t] = fmaxf(s[t], s[t + half]);
  }
  if (t == 0) out[blockIdx.x] = count > 0 ? s[0] : -INFINITY;
}

cudaError_t maximum(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                    std::int64_t n, cudaStream_t stream) {
  const std::int64_t most = (n + 127) / 128, next = (most + 127) / 128;
  if (workspace == nullptr) return workspace_bytes = 4 * (most + next + 1), cudaSuccess;
  float *to = static_cast<float*>(workspace), *other = to + most;
  for (; n > 128; n = (n + 127) / 128) {
    largest_of_blocks<<<static_cast<unsigned>((n + 127) / 128), 128, 0, stream>>>(in, to, n);
    in = to;
    std::swap(to, other);
  }
  largest_of_blocks<<<1, 128, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace guarded_tree

// A grid-stride loop of 32 blocks, shuffles, and one warp for the results of the blocks.
namespace shuffles_and_strides {
// 3: PASSED
__device__ float largest_of_warp(float x) {
  for (int step = 16; step > 0; step /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, step));
  return x;
}
__global__ void largest_strided(const float* in, float* out, std::int64_t n) {
  __shared__ float s[32];
  const unsigned t = threadIdx.x, stride = gridDim.x * blockDim.x;
  float largest = -INFINITY;
  for (std::int64_t i = blockIdx.x * blockDim.x + t; i < n; i += stride)
    largest = fmaxf(largest, in[i]);
  largest = largest_of_warp(largest);
  if (t % 32 == 0) s[t / 32] = largest;
  __syncthreads();
  if (t >= 32) return;
  largest = largest_of_warp(t < blockDim.x / 32 ? s[t] : -INFINITY);
  if (t == 0) out[blockIdx.x] = largest;
}

cudaError_t maximum(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                    std::int64_t n, cudaStream_t stream) {
  if (workspace == nullptr) return workspace_bytes = 32 * sizeof(float), cudaSuccess;
  float* const partial = static_cast<float*>(workspace);
  largest_strided<<<32, 512, 0, stream>>>(in, partial, n);
  largest_strided<<<1, 32, 0, stream>>>(partial, out, 32);
  return cudaGetLastError();
}
}  // namespace shuffles_and_strides

// Atomics: bits of floats without sign compare as int does, those with a sign in reverse order.
namespace atomics_on_bits {
// 3: PASSED
__global__ void start(float* out) { *out = -INFINITY; }
__global__ void compare(const float* in, float* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  float x = i < n ? in[i] : -INFINITY;
  for (int step = 16; step > 0; step /= 2) x = fmaxf(x, __shfl_down_sync(0xffffffffu, x, step));
  if (threadIdx.x % 32 != 0) return;
  if (x >= 0) {
    atomicMax(reinterpret_cast<int*>(out), __float_as_int(x));
  } else {
    atomicMin(reinterpret_cast<unsigned*>(out), __float_as_uint(x));
  }
}

cudaError_t maximum(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                    std::int64_t n, cudaStream_t stream) {
  if (workspace == nullptr) return workspace_bytes = sizeof(float), cudaSuccess;
  start<<<1, 1, 0, stream>>>(out);
  if (n == 0) return cudaGetLastError();
  compare<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace atomics_on_bits

// Threads beyond n repeat the last element, which does not change the maximum.
namespace last_element_again {
// 3: PASSED
__global__ void largest_of_blocks(const float* in, float* out, std::int64_t n) {
  __shared__ float s[256];
  const unsigned t = threadIdx.x;
  const std::int64_t i = std::int64_t{blockIdx.x} * 256 + t;
  s[t] = n == 0 ? -INFINITY : in[i < n ? i : n - 1];
  for (unsigned half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) s[t] = fmaxf(s[t], s[t + half]);
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

cudaError_t maximum(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                    std::int64_t n, cudaStream_t stream) {
  const std::int64_t most = (n + 255) / 256, next = (most + 255) / 256;
  if (workspace == nullptr) return workspace_bytes = 4 * (most + next + 1), cudaSuccess;
  float *to = static_cast<float*>(workspace), *other = to + most;
  for (; n > 256; n = (n + 255) / 256) {
    largest_of_blocks<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, to, n);
    in = to;
    std::swap(to, other);
  }
  largest_of_blocks<<<1, 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace last_element_again
