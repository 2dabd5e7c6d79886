// Idea: the step halves instead of doubling. Thread t adds entry t + stride: neighbouring lanes
//   read neighbouring entries.
// Predicts: as few adding warp-steps as 04, and no bank conflict.
// Still wrong: each block loads 256 elements, then spends eight barriers on adding them. Next: 06.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace sequential {

constexpr int block_size = 256;

/// out[b] = the sum of block b's elements of in, one per thread. Dynamic shared memory: one T per
/// thread. blockDim.x is a power of two.
template <class T>
__global__ void reduce_blocks(const T* in, T* out, std::int64_t n) {
  extern __shared__ __align__(16) unsigned char memory[];
  T* const s = reinterpret_cast<T*>(memory);
  const unsigned t = threadIdx.x;
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + t;
  s[t] = i < n ? in[i] : T{0};
  __syncthreads();  // A: all of s is filled before anyone reads a neighbour's entry
  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (t < stride) s[t] += s[t + stride];
    __syncthreads();  // B: this step's sums are written before the next step reads them
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

/// True unless p is a multiple of `bytes`.
inline bool misaligned(const void* p, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % bytes != 0;
}

/// out[0] = the sum of n elements. Device pointers. With workspace == nullptr: only writes
/// the bytes of scratch memory that it needs. \returns cudaErrorInvalidValue for too little of it
/// or a misaligned pointer, for n < 0 or more blocks than a grid has, or the error of a launch.
template <class T>
cudaError_t sum_of(void* workspace, std::size_t& workspace_bytes, const T* in, T* out,
                   std::int64_t n, cudaStream_t stream) {
  const std::int64_t most = (n + block_size - 1) / block_size;  // partial sums of the first pass
  if (n < 0 || most > INT32_MAX) return cudaErrorInvalidValue;
  const std::int64_t next = (most + block_size - 1) / block_size;
  const std::size_t needed = static_cast<std::size_t>(most + next + 1) * sizeof(T);
  if (workspace == nullptr) {
    workspace_bytes = needed;
    return cudaSuccess;
  }
  if (workspace_bytes < needed) return cudaErrorInvalidValue;
  if (misaligned(workspace, alignof(T))) return cudaErrorInvalidValue;
  if (n == 0) return cudaMemsetAsync(out, 0, sizeof(T), stream);
  T* const partial[2] = {static_cast<T*>(workspace), static_cast<T*>(workspace) + most};
  for (int pass = 0;; ++pass) {
    const std::int64_t blocks = (n + block_size - 1) / block_size;
    T* const to = blocks == 1 ? out : partial[pass % 2];
    reduce_blocks<<<static_cast<unsigned>(blocks), block_size, block_size * sizeof(T), stream>>>(
        in, to, n);
    if (cudaError_t error = cudaGetLastError()) return error;
    if (blocks == 1) return cudaSuccess;
    in = to;
    n = blocks;
  }
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

}  // namespace sequential
