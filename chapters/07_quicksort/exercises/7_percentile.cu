// Exercise 7: beat a row. Right, and slow: it sorts all keys to find one.
//   ./chapters/run 07 --exercise 7          builds, checks and times it; --hint helps
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

/// Version 07: out = the keys of in, in ascending order. It is linked, so call it.
namespace many_splitters {
cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const unsigned* in, unsigned* out,
                 std::int64_t n, cudaStream_t stream);
}

namespace exercise {

/// *out = *key. Launch: one thread.
__global__ void copy_key(const unsigned* key, unsigned* out) { *out = *key; }

/// *out = the key of rank (n - 1) * percent / 100, rounded down, in the n keys of in: 0 the
/// smallest, 50 the median, 100 the largest. n from 1 to 2^32 - 1. With workspace == nullptr: only
/// writes the bytes of scratch memory that it needs.
cudaError_t percentile(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                       unsigned* out, std::int64_t n, int percent, cudaStream_t stream) {
  std::size_t sort_bytes = 0;
  if (cudaError_t error = many_splitters::sort(nullptr, sort_bytes, nullptr, nullptr, n, stream))
    return error;
  const std::size_t room = static_cast<std::size_t>(n + 63) / 64 * 64;  // keys, to stay aligned
  const std::size_t needed = room * sizeof(unsigned) + sort_bytes;
  if (workspace == nullptr) {
    workspace_bytes = needed;
    return cudaSuccess;
  }
  if (n < 1 || n >= std::int64_t{1} << 32 || percent < 0 || percent > 100)
    return cudaErrorInvalidValue;
  if (workspace_bytes < needed) return cudaErrorInvalidValue;
  unsigned* const sorted = static_cast<unsigned*>(workspace);
  if (cudaError_t error = many_splitters::sort(sorted + room, sort_bytes, in, sorted, n, stream))
    return error;
  copy_key<<<1, 1, 0, stream>>>(sorted + (n - 1) * percent / 100, out);
  return cudaGetLastError();
}

}  // namespace exercise
