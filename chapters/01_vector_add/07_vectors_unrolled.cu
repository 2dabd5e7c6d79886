// Idea: both at once: two float4 of each input a thread, all four loads first.
// Predicts: 128 KiB in flight per SM, far above what the memory needs, so no gain. A loss would be
//   news: it would mean that too many open requests disturb each other.
// Still wrong: the count in flight is whatever the code happens to give. 80_limit chooses it.
#include <cuda_runtime.h>

#include <cstdint>

namespace vectors_unrolled {

constexpr int block_size = 256;
constexpr int unroll = 2;
constexpr int tile = block_size * unroll;  // float4 that a block adds

/// c[i] = a[i] + b[i]; a block adds one tile of float4, a thread `unroll` of them. The arrays are
/// aligned to 16 bytes.
__global__ void add_vector_tile(const float* a, const float* b, float* c, std::int64_t n) {
  const std::int64_t first = std::int64_t{blockIdx.x} * tile + threadIdx.x;
  if ((std::int64_t{blockIdx.x} + 1) * tile * 4 <= n) {
    float4 x[unroll], y[unroll];
#pragma unroll
    for (int k = 0; k < unroll; ++k) {
      x[k] = reinterpret_cast<const float4*>(a)[first + k * block_size];
      y[k] = reinterpret_cast<const float4*>(b)[first + k * block_size];
    }
#pragma unroll
    for (int k = 0; k < unroll; ++k) {
      reinterpret_cast<float4*>(c)[first + k * block_size] =
          make_float4(x[k].x + y[k].x, x[k].y + y[k].y, x[k].z + y[k].z, x[k].w + y[k].w);
    }
  } else {  // the last block: element by element
    for (std::int64_t j = std::int64_t{blockIdx.x} * tile * 4 + threadIdx.x; j < n; j += block_size)
      c[j] = a[j] + b[j];
  }
}

/// True if a float4 may lie there.
bool aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % alignof(float4) == 0; }

/// Adds n floats. Device pointers, 16-byte aligned arrays of n; c may not overlap a or b. \returns
/// cudaErrorInvalidValue for other pointers, for n < 0 or for more blocks than a grid has, or the
/// error of the launch.
cudaError_t add(const float* a, const float* b, float* c, std::int64_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const std::int64_t blocks = (n + 4 * tile - 1) / (4 * tile);
  if (n < 0 || blocks > INT32_MAX) return cudaErrorInvalidValue;
  if (!aligned(a) || !aligned(b) || !aligned(c)) return cudaErrorInvalidValue;
  add_vector_tile<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(a, b, c, n);
  return cudaGetLastError();
}

}  // namespace vectors_unrolled
