// Exercise 6: fill a gap. Run lengths by a scan: three small kernels around version 08.
//   ./chapters/run 05 --exercise 6          passes when it is right; --hint helps
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

/// Version 08: out[i] = in[0] + ... + in[i - 1], modulo 2^32; out[0] = 0. It is linked, so call it.
namespace reduce_first {
cudaError_t exclusive(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                      unsigned* out, std::int64_t n, cudaStream_t stream);
}

namespace exercise {

constexpr int block_size = 256;

/// flags[i] = 1 where a run begins, and 0 elsewhere.
__global__ void mark_starts(const unsigned* in, unsigned* flags, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  if (i >= n) return;
  // FILL ME IN: a run begins at element 0, and wherever an element differs from the one before.
  static_cast<void>(in), static_cast<void>(flags);
}

/// Run k: keys[k] = its key, starts[k] = where it begins. places: flags, scanned.
__global__ void store_starts(const unsigned* in, const unsigned* flags, const unsigned* places,
                             unsigned* keys, unsigned* starts, unsigned* runs, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  if (i >= n) return;
  // FILL ME IN: who has a flag stores the key, and i, in the place of its run. Who else knows how
  // many runs there are?
  static_cast<void>(in), static_cast<void>(flags), static_cast<void>(places);
  static_cast<void>(keys), static_cast<void>(starts), static_cast<void>(runs);
}

/// lengths[k] = the length of run k.
__global__ void store_lengths(const unsigned* starts, const unsigned* runs, unsigned* lengths,
                              unsigned n) {
  const std::int64_t k = std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  if (k >= *runs) return;
  // FILL ME IN: a run ends where the next one begins; and the last?
  static_cast<void>(starts), static_cast<void>(lengths), static_cast<void>(n);
}

/// keys[k], lengths[k] = key and length of the k-th run of equal neighbours in in[0 .. n), which
/// has fewer than 2^32 elements; *runs = how many there are. Room for all of them is there.
cudaError_t run_lengths(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                        unsigned* keys, unsigned* lengths, unsigned* runs, std::int64_t n,
                        cudaStream_t stream) {
  return cudaErrorNotYetImplemented;  // delete this line once the three kernels are written
  std::size_t scan_bytes = 0;
  if (cudaError_t error = reduce_first::exclusive(nullptr, scan_bytes, nullptr, nullptr, n, stream))
    return error;
  const std::int64_t room = (n + 63) / 64 * 64;  // elements, so that all arrays are aligned
  const std::size_t needed = static_cast<std::size_t>(3 * room) * sizeof(unsigned) + scan_bytes;
  if (workspace == nullptr) {
    workspace_bytes = needed;
    return cudaSuccess;
  }
  if (workspace_bytes < needed) return cudaErrorInvalidValue;
  if (n == 0) return cudaMemsetAsync(runs, 0, sizeof *runs, stream);
  unsigned* const flags = static_cast<unsigned*>(workspace);
  unsigned* const places = flags + room;
  unsigned* const starts = places + room;
  const auto blocks = static_cast<unsigned>((n + block_size - 1) / block_size);
  mark_starts<<<blocks, block_size, 0, stream>>>(in, flags, n);
  if (cudaError_t error = cudaGetLastError()) return error;
  if (cudaError_t error =
          reduce_first::exclusive(starts + room, scan_bytes, flags, places, n, stream))
    return error;
  store_starts<<<blocks, block_size, 0, stream>>>(in, flags, places, keys, starts, runs, n);
  if (cudaError_t error = cudaGetLastError()) return error;
  store_lengths<<<blocks, block_size, 0, stream>>>(starts, runs, lengths,  // n runs at most
                                                   static_cast<unsigned>(n));
  return cudaGetLastError();
}

}  // namespace exercise
