// Idea: four loads of 16 bytes per thread, all of them before the first addition.
// Predicts: 2048 threads x 64 bytes, 128 KiB in flight per SM instead of 32: chapter 01 says that
//   48 are enough, so the memory should be the limit now.
// Still wrong: the second launch finds one block's worth of work, and the GPU starts and ends a
//   kernel for it. Next: 09.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace vector_loads {

constexpr int block_size = 1024;
constexpr int warps = block_size / 32;
constexpr int unroll = 4;                      // loads of 16 bytes in flight a thread
constexpr int tile = unroll * 4 * block_size;  // elements

/// Four elements that one instruction loads.
template <class T>
struct alignas(16) Vector {
  T x, y, z, w;
};
static_assert(sizeof(Vector<float>) == 16, "a load of 16 bytes");

/// Lane 0 gets the sum of its warp's values; all 32 lanes must call.
template <class T>
__device__ T warp_sum(T x) {
  for (int step = 16; step > 0; step /= 2) x += __shfl_down_sync(0xffffffffu, x, step);
  return x;
}

/// Thread 0 gets the sum of its block's values; all threads must call.
template <class T>
__device__ T block_sum(T x) {
  __shared__ T s[warps];
  const unsigned t = threadIdx.x;
  x = warp_sum(x);
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  return t < 32 ? warp_sum(t < warps ? s[t] : T{0}) : T{0};
}

/// The sum of the elements that this thread strides over: tiles in vectors, then what fills no
/// tile.
template <class T>
__device__ T thread_sum(const T* in, std::int64_t n) {
  const std::int64_t tiles = n / tile;
  T sum = 0;
  for (std::int64_t k = blockIdx.x; k < tiles; k += gridDim.x) {
    const Vector<T>* from = reinterpret_cast<const Vector<T>*>(in + k * tile) + threadIdx.x;
    Vector<T> v[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u) v[u] = from[u * block_size];  // all loads before the first sum
#pragma unroll
    for (int u = 0; u < unroll; ++u) sum += (v[u].x + v[u].y) + (v[u].z + v[u].w);
  }
  const std::int64_t step = std::int64_t{gridDim.x} * block_size;
  std::int64_t i = tiles * tile + std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  for (; i < n; i += step) sum += in[i];
  return sum;
}

/// out[b] = the sum of the elements that block b strides over.
template <class T>
__global__ void reduce_vectors(const T* in, T* out, std::int64_t n) {
  const T sum = block_sum(thread_sum(in, n));
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

/// The number of blocks that the current device runs at once.
template <class T>
cudaError_t resident_blocks(std::int64_t* blocks) {
  int device = 0, sms = 0, per_sm = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device))
    return error;
  const cudaError_t error =
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, reduce_vectors<T>, block_size, 0);
  *blocks = std::int64_t{sms} * per_sm;
  return error;
}

/// True unless p is a multiple of `bytes`.
inline bool misaligned(const void* p, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % bytes != 0;
}

/// out[0] = the sum of n elements. Device pointers, in aligned to 16 bytes. With workspace ==
/// nullptr: only writes the bytes of scratch memory that it needs. \returns cudaErrorInvalidValue
/// for too little of it or a misaligned pointer, for n < 0, or the error of a launch.
template <class T>
cudaError_t sum_of(void* workspace, std::size_t& workspace_bytes, const T* in, T* out,
                   std::int64_t n, cudaStream_t stream) {
  if (n < 0) return cudaErrorInvalidValue;
  std::int64_t resident = 0;
  if (cudaError_t error = resident_blocks<T>(&resident)) return error;
  const std::size_t needed = static_cast<std::size_t>(resident) * sizeof(T);
  if (workspace == nullptr) {
    workspace_bytes = needed;
    return cudaSuccess;
  }
  if (workspace_bytes < needed) return cudaErrorInvalidValue;
  if (misaligned(workspace, alignof(T)) || misaligned(in, 16)) return cudaErrorInvalidValue;
  if (n == 0) return cudaMemsetAsync(out, 0, sizeof(T), stream);
  T* const partial = static_cast<T*>(workspace);
  const std::int64_t blocks = std::min(resident, (n + block_size - 1) / block_size);
  reduce_vectors<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(in, partial, n);
  if (cudaError_t error = cudaGetLastError()) return error;
  reduce_vectors<<<1, block_size, 0, stream>>>(partial, out, blocks);
  return cudaGetLastError();
}

cudaError_t sum(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                std::int64_t n, cudaStream_t stream) {
  return sum_of(workspace, workspace_bytes, in, out, n, stream);
}

/// Modulo 2^32.
cudaError_t sum(void* workspace, std::size_t& workspace_bytes, const unsigned* in, unsigned* out,
                std::int64_t n, cudaStream_t stream) {
  return sum_of(workspace, workspace_bytes, in, out, n, stream);
}

}  // namespace vector_loads
