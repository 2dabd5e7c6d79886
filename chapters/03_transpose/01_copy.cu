// Not a transposition: the ceiling. Whoever transposes reads and writes each element once, as a
//   copy does.
// Idea: one thread copies one float, neighbouring threads neighbouring floats.
// Predicts: chapter 01 says it: one load of 4 bytes per thread, 8 KiB in flight per SM, too little.
// Still wrong: that. Next: 02, the ceiling to measure by.
#include <cuda_runtime.h>

#include <cstdint>

namespace copy_floats {

constexpr int block_size = 256;

/// out[i] = in[i], one element a thread.
__global__ void copy(const float* in, float* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  if (i < n) out[i] = in[i];
}

/// Copies rows x cols floats without transposing them. Device pointers; in and out may not overlap.
/// \returns cudaErrorInvalidValue for a negative size or more blocks than a grid has, or the error
/// of the launch.
cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  constexpr std::int64_t max_n = std::int64_t{INT32_MAX} * block_size;  // a grid has so many blocks
  if (rows < 0 || cols < 0 || (rows > 0 && cols > max_n / rows)) return cudaErrorInvalidValue;
  const std::int64_t n = rows * cols;
  if (n == 0) return cudaSuccess;
  const std::int64_t blocks = (n + block_size - 1) / block_size;
  copy<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}

}  // namespace copy_floats
