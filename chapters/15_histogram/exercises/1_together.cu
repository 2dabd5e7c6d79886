// Exercise 1: counts come out too small. One line is wrong.
// ./chapters/run 15 --exercise 1          builds and checks it; --hint helps
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

constexpr int block_size = 256;

/// One thread per sample.
__global__ void count_samples(const unsigned* samples, unsigned* counts, std::int64_t n,
                              unsigned bins) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  if (i < n && samples[i] < bins) ++counts[samples[i]];  // FIX: many threads add to one counter
}

/// counts[b] = how many of the n samples are b, for b < bins; larger samples are not counted.
/// Device pointers. \returns cudaErrorInvalidValue for n or bins below 0, n above 2^32 - 1, bins
/// above 2^24; or the error of the launch.
cudaError_t histogram(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  if (n < 0 || n > UINT32_MAX || bins < 0 || bins > 1 << 24) return cudaErrorInvalidValue;
  if (bins == 0) return cudaSuccess;
  const std::size_t bytes = static_cast<std::size_t>(bins) * sizeof(unsigned);
  if (cudaError_t error = cudaMemsetAsync(counts, 0, bytes, stream)) return error;
  if (n == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>((n + block_size - 1) / block_size);
  count_samples<<<blocks, block_size, 0, stream>>>(samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}

}  // namespace exercise
