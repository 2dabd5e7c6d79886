// Idea: start only as many threads as fit on the GPU at once; each strides over the array by the
//   size of the grid.
// Predicts: no blocks to start and retire while the kernel runs, and the index arithmetic is paid
//   once per thread. The bytes in flight stay what they were, 16 KiB per SM, so the memory should
//   hardly notice.
// Still wrong: an iteration's loads wait for the store before them to be issued. Still 16 KiB in
//   flight. Next: 04.
#include <cuda_runtime.h>

#include <cstdint>

namespace grid_stride {

constexpr int block_size = 256;
constexpr int threads_per_sm =
    2048;  // of compute capability 8.0 and 9.0; fewer fit on others, and the rest queue

/// c[i] = a[i] + b[i] with any grid: each thread takes every (grid size)-th element.
__global__ void add_strided(const float* a, const float* b, float* c, std::int64_t n) {
  const std::int64_t stride = std::int64_t{gridDim.x} * block_size;
  for (std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x; i < n; i += stride) {
    c[i] = a[i] + b[i];
  }
}

/// Adds n floats. Device pointers, arrays of n; c may not overlap a or b. \returns
/// cudaErrorInvalidValue for n < 0, or the error of the launch.
cudaError_t add(const float* a, const float* b, float* c, std::int64_t n, cudaStream_t stream) {
  if (n < 0) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  int device = 0, sms = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device))
    return error;
  const std::int64_t needed = (n + block_size - 1) / block_size;
  const std::int64_t resident = std::int64_t{sms} * (threads_per_sm / block_size);
  const std::int64_t blocks = needed < resident ? needed : resident;
  add_strided<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(a, b, c, n);
  return cudaGetLastError();
}

}  // namespace grid_stride
