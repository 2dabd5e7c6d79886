// Idea: in step k every thread adds what stands 2^k to its left (Hillis and Steele, 1986). Two
//   buffers: all read the one and write the other, so that nobody reads what was just written.
// Predicts: log2(n) steps instead of n; but n log2(n) additions: nine times too many for a block.
// Still wrong: one block, so at most 1024 elements; 131 of 132 SMs have nothing to do.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace hillis_steele {

constexpr int block_size = 1024;

/// Thread t gets the sum of x of threads 0 to t; all threads of the block must call.
template <class T>
__device__ T block_scan(T x) {
  __shared__ T s[2][block_size];  // what is read, and what is written
  const int t = static_cast<int>(threadIdx.x);
  s[0][t] = x;
  __syncthreads();
  int from = 0;
  for (int step = 1; step < block_size; step *= 2) {
    s[1 - from][t] = t >= step ? s[from][t - step] + s[from][t] : s[from][t];
    from = 1 - from;
    __syncthreads();
  }
  return s[from][t];
}

/// At most block_size elements.
template <bool exclusive, class T>
__global__ void scan_block(const T* in, T* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  const T upto = block_scan(t < n ? in[t] : T{0});
  if (!exclusive && t < n) out[t] = upto;
  if (exclusive && t + 1 < n) out[t + 1] = upto;
  if (exclusive && t == 0) out[0] = 0;
}

/// out[i] = in[0] + ... + in[i], or with `exclusive` in[0] + ... + in[i - 1], which is 0 for i = 0.
/// Device pointers; out may be in. With workspace == nullptr: only writes the bytes of scratch
/// memory that it needs: 1, to be called like the others. \returns cudaErrorInvalidValue for too
/// little of it, for n < 0 or above block_size, or the error of the launch.
template <bool exclusive, class T>
cudaError_t scan_of(void* workspace, std::size_t& workspace_bytes, const T* in, T* out,
                    std::int64_t n, cudaStream_t stream) {
  if (n < 0 || n > block_size) return cudaErrorInvalidValue;
  if (workspace == nullptr) {
    workspace_bytes = 1;
    return cudaSuccess;
  }
  if (workspace_bytes < 1) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  scan_block<exclusive><<<1, block_size, 0, stream>>>(in, out, static_cast<int>(n));
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

}  // namespace hillis_steele
