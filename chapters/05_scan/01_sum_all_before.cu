// Idea: thread i adds up everything up to element i, all on its own.
// Predicts: n (n + 1) / 2 additions instead of n - 1: at 2^20 elements half a million times too
//   many. The work is quadratic; no memory system can help.
// Still wrong: neighbours add up nearly the same elements, and share nothing.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace sum_all_before {

constexpr int block_size = 256;

template <bool exclusive, class T>
__global__ void scan_each(const T* in, T* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  if (i >= n) return;
  T sum = 0;
  for (std::int64_t k = 0; k < (exclusive ? i : i + 1); ++k) sum += in[k];
  out[i] = sum;
}

/// out[i] = in[0] + ... + in[i], or with `exclusive` in[0] + ... + in[i - 1], which is 0 for i = 0.
/// Device pointers; out may not overlap in, which every thread reads. With workspace == nullptr:
/// only writes the bytes of scratch memory that it needs: 1, to be called like the others. \returns
/// cudaErrorInvalidValue for too little of it, for n < 0 or more blocks than a grid has, or the
/// error of the launch.
template <bool exclusive, class T>
cudaError_t scan_of(void* workspace, std::size_t& workspace_bytes, const T* in, T* out,
                    std::int64_t n, cudaStream_t stream) {
  const std::int64_t blocks = (n + block_size - 1) / block_size;
  if (n < 0 || blocks > INT32_MAX) return cudaErrorInvalidValue;
  if (workspace == nullptr) {
    workspace_bytes = 1;
    return cudaSuccess;
  }
  if (workspace_bytes < 1) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  scan_each<exclusive><<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}

cudaError_t inclusive(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                      std::int64_t n, cudaStream_t stream) {
  return scan_of<false>(workspace, workspace_bytes, in, out, n, stream);
}

cudaError_t exclusive(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                      std::int64_t n, cudaStream_t stream) {
  return scan_of<true>(workspace, workspace_bytes, in, out, n, stream);
}

/// Modulo 2^32, as the next.
cudaError_t inclusive(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                      unsigned* out, std::int64_t n, cudaStream_t stream) {
  return scan_of<false>(workspace, workspace_bytes, in, out, n, stream);
}

cudaError_t exclusive(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                      unsigned* out, std::int64_t n, cudaStream_t stream) {
  return scan_of<true>(workspace, workspace_bytes, in, out, n, stream);
}

}  // namespace sum_all_before
