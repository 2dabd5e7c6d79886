// Idea: neighbours pair up. One thread adds one pair and writes the sum to an array half as long;
//   the next launch does the same to that array, until one number is left. Blocks cannot wait for
//   each other, so the end of a launch is the barrier.
// Predicts: 4 + 2 bytes per float, then half of it, then a quarter: 12 in all, where 4 are needed.
// At
//   best a third of the limit, and log2(n) launches.
// Still wrong: every partial sum goes to global memory only to be fetched back. Next: 02.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace global_memory {

constexpr int block_size = 256;

/// out[i] = in[2 i] + in[2 i + 1] for the (n + 1) / 2 pairs of n elements; the last may have no
/// right neighbour. One thread a pair. out is never in: a thread would overwrite what another still
/// has to read.
template <class T>
__global__ void reduce_pairs(const T* in, T* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  const std::int64_t left = 2 * i, right = left + 1;
  if (left < n) out[i] = in[left] + (right < n ? in[right] : T{0});
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
  const std::int64_t half = (n + 1) / 2, quarter = (half + 1) / 2;
  if (n < 0 || half > std::int64_t{INT32_MAX} * block_size) return cudaErrorInvalidValue;
  const std::size_t needed = static_cast<std::size_t>(half + quarter + 1) * sizeof(T);
  if (workspace == nullptr) {
    workspace_bytes = needed;
    return cudaSuccess;
  }
  if (workspace_bytes < needed) return cudaErrorInvalidValue;
  if (misaligned(workspace, alignof(T))) return cudaErrorInvalidValue;
  if (n == 0) return cudaMemsetAsync(out, 0, sizeof(T), stream);
  T* const partial[2] = {static_cast<T*>(workspace), static_cast<T*>(workspace) + half};
  for (int pass = 0;; ++pass) {
    const std::int64_t pairs = (n + 1) / 2;
    const std::int64_t blocks = (pairs + block_size - 1) / block_size;
    T* const to = pairs == 1 ? out : partial[pass % 2];
    reduce_pairs<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(in, to, n);
    if (cudaError_t error = cudaGetLastError()) return error;
    if (pairs == 1) return cudaSuccess;
    in = to;
    n = pairs;
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

}  // namespace global_memory
