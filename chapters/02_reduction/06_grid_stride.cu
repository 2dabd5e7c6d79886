// Idea: start only as many blocks as fit on the GPU at once, and large ones. Each thread first adds
//   up its share of the array in a register; the tree runs once per block, not once every 256
//   floats.
// Predicts: the tree's cost vanishes for large n; two launches, and a few hundred partial sums.
// Also: one block must be able to add up what all blocks leave. So a block has 1024 threads, and
//   their number is known to the compiler (static shared memory); and no loop on the host is left.
// Still wrong: at small n the tree is all there is, and it takes ten barriers; at large n, loads of
//   4 bytes, as many in flight as the compiler happens to unroll. Next: 07.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace grid_stride_sum {

constexpr int block_size = 1024;

/// out[b] = the sum of the elements that block b strides over.
template <class T>
__global__ void reduce_strided(const T* in, T* out, std::int64_t n) {
  __shared__ T s[block_size];
  const unsigned t = threadIdx.x;
  const std::int64_t step = std::int64_t{gridDim.x} * block_size;
  T sum = 0;
  for (std::int64_t i = std::int64_t{blockIdx.x} * block_size + t; i < n; i += step) sum += in[i];
  s[t] = sum;
  __syncthreads();
  for (unsigned stride = block_size / 2; stride > 0; stride /= 2) {
    if (t < stride) s[t] += s[t + stride];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

/// The number of blocks that the current device runs at once.
template <class T>
cudaError_t resident_blocks(std::int64_t* blocks) {
  int device = 0, sms = 0, per_sm = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device))
    return error;
  const cudaError_t error =
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, reduce_strided<T>, block_size, 0);
  *blocks = std::int64_t{sms} * per_sm;
  return error;
}

/// True unless p is a multiple of `bytes`.
inline bool misaligned(const void* p, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % bytes != 0;
}

/// out[0] = the sum of n elements. Device pointers. With workspace == nullptr: only writes
/// the bytes of scratch memory that it needs. \returns cudaErrorInvalidValue for too little of it
/// or a misaligned pointer, for n < 0, or the error of a launch.
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
  if (misaligned(workspace, alignof(T))) return cudaErrorInvalidValue;
  if (n == 0) return cudaMemsetAsync(out, 0, sizeof(T), stream);
  T* const partial = static_cast<T*>(workspace);
  const std::int64_t blocks = std::min(resident, (n + block_size - 1) / block_size);
  reduce_strided<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(in, partial, n);
  if (cudaError_t error = cudaGetLastError()) return error;
  reduce_strided<<<1, block_size, 0, stream>>>(partial, out, blocks);
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

}  // namespace grid_stride_sum
