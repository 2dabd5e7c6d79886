// For comparison: std::sort on one core of the host.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace std_sort {

/// What the last sort took, without the copies.
double last_seconds = 0;

/// Copies n keys to the host, sorts them there and copies them back; waits for all that. \returns
/// cudaErrorInvalidValue for n < 0 or n >= 2^40, or the error of a copy.
cudaError_t sort_on_host(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  if (n < 0 || n >= std::int64_t{1} << 40) return cudaErrorInvalidValue;
  std::vector<unsigned> keys(static_cast<std::size_t>(n));
  const std::size_t bytes = keys.size() * sizeof(unsigned);
  if (n == 0) return cudaSuccess;
  if (cudaError_t error = cudaMemcpyAsync(keys.data(), in, bytes, cudaMemcpyDeviceToHost, stream))
    return error;
  if (cudaError_t error = cudaStreamSynchronize(stream)) return error;
  const auto start = std::chrono::steady_clock::now();
  std::sort(keys.begin(), keys.end());
  last_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (cudaError_t error = cudaMemcpyAsync(out, keys.data(), bytes, cudaMemcpyHostToDevice, stream))
    return error;
  return cudaStreamSynchronize(stream);
}

}  // namespace std_sort
