// Answers to the exercises of chapter 05, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace reduce_first {
cudaError_t exclusive(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                      unsigned* out, std::int64_t n, cudaStream_t stream);
}

namespace one_thread {
// 6: NOT YET: right, but one after the other
__global__ void count_all(const unsigned* in, unsigned* keys, unsigned* lengths, unsigned* runs,
                          std::int64_t n) {
  unsigned k = 0, length = 1;
  for (std::int64_t i = 0; i < n; ++i, ++length) {
    if (i + 1 < n && in[i + 1] == in[i]) continue;
    keys[k] = in[i];
    lengths[k++] = length;
    length = 0;
  }
  *runs = k;
}

cudaError_t run_lengths(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                        unsigned* keys, unsigned* lengths, unsigned* runs, std::int64_t n,
                        cudaStream_t stream) {
  workspace_bytes = 4;
  if (workspace != nullptr) count_all<<<1, 1, 0, stream>>>(in, keys, lengths, runs, n);
  return cudaGetLastError();
}
}  // namespace one_thread

// A vote and its population count give the place of each run; but one block does all the work.
namespace one_block {
// 6: NOT YET: right, but one after the other
__global__ void count_all(const unsigned* in, unsigned* keys, unsigned* starts, unsigned* lengths,
                          unsigned* runs, std::int64_t n) {
  __shared__ unsigned s[32];
  const unsigned t = threadIdx.x, lanes_before = (1u << t % 32) - 1;
  unsigned so_far = 0;
  for (std::int64_t i = t; i - t < n; i += 1024) {
    const bool begins = i < n && (i == 0 || in[i] != in[i - 1]);
    const unsigned votes = __ballot_sync(0xffffffffu, begins);
    __syncthreads();
    if (t % 32 == 0) s[t / 32] = static_cast<unsigned>(__popc(votes));
    __syncthreads();
    unsigned k = so_far + static_cast<unsigned>(__popc(votes & lanes_before));
    for (unsigned w = 0; w < 32; ++w) so_far += s[w], k += w < t / 32 ? s[w] : 0;
    if (begins) keys[k] = in[i], starts[k] = static_cast<unsigned>(i);
  }
  __syncthreads();
  for (unsigned k = t; k < so_far; k += 1024)
    lengths[k] = (k + 1 < so_far ? starts[k + 1] : static_cast<unsigned>(n)) - starts[k];
  if (t == 0) *runs = so_far;
}

cudaError_t run_lengths(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                        unsigned* keys, unsigned* lengths, unsigned* runs, std::int64_t n,
                        cudaStream_t stream) {
  workspace_bytes = static_cast<std::size_t>(n + 1) * sizeof(unsigned);
  if (workspace != nullptr)
    count_all<<<1, 1024, 0, stream>>>(in, keys, static_cast<unsigned*>(workspace), lengths, runs,
                                      n);
  return cudaGetLastError();
}
}  // namespace one_block

namespace host_computes {
// 6: NOT YET: n=1 distinct=1: right, but not by the rules: the host, reads
__global__ void nothing(unsigned* runs) { *runs = 0; }

cudaError_t run_lengths(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                        unsigned* keys, unsigned* lengths, unsigned* runs, std::int64_t n,
                        cudaStream_t stream) {
  workspace_bytes = 4;
  if (workspace == nullptr) return cudaSuccess;
  nothing<<<1, 1, 0, stream>>>(runs);
  cudaStreamSynchronize(stream);
  for (std::int64_t i = 0; i < n; ++i) {
    if (i == 0 || in[i] != in[i - 1]) keys[*runs] = in[i], lengths[(*runs)++] = 0;
    ++lengths[*runs - 1];
  }
  return cudaSuccess;
}
}  // namespace host_computes

// Atomics give a place to each run, but not in their order.
namespace places_by_atomics {
// 6: NOT YET: wrong at n=
__global__ void count_runs(const unsigned* in, unsigned* keys, unsigned* lengths, unsigned* runs,
                           std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (i >= n || (i > 0 && in[i] == in[i - 1])) return;
  std::int64_t end = i + 1;
  while (end < n && in[end] == in[i]) ++end;
  const unsigned k = atomicAdd(runs, 1u);
  keys[k] = in[i];
  lengths[k] = static_cast<unsigned>(end - i);
}

cudaError_t run_lengths(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                        unsigned* keys, unsigned* lengths, unsigned* runs, std::int64_t n,
                        cudaStream_t stream) {
  workspace_bytes = 4;
  if (workspace == nullptr) return cudaSuccess;
  if (cudaError_t error = cudaMemsetAsync(runs, 0, sizeof *runs, stream)) return error;
  if (n > 0)
    count_runs<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, keys, lengths, runs,
                                                                           n);
  return cudaGetLastError();
}
}  // namespace places_by_atomics

// The thread at the beginning of a run reads to its end: with one long run, one thread works.
namespace walks_to_the_end {
// 6: NOT YET: right, but
__global__ void mark(const unsigned* in, unsigned* flags, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (i < n) flags[i] = i == 0 || in[i] != in[i - 1];
}
__global__ void walk(const unsigned* in, const unsigned* flags, const unsigned* places,
                     unsigned* keys, unsigned* lengths, unsigned* runs, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (i == n - 1) *runs = places[i] + flags[i];
  if (i >= n || flags[i] == 0) return;
  std::int64_t end = i + 1;
  while (end < n && in[end] == in[i]) ++end;
  keys[places[i]] = in[i];
  lengths[places[i]] = static_cast<unsigned>(end - i);
}

cudaError_t run_lengths(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                        unsigned* keys, unsigned* lengths, unsigned* runs, std::int64_t n,
                        cudaStream_t stream) {
  const std::int64_t room = (n + 63) / 64 * 64;
  std::size_t left = 0;
  reduce_first::exclusive(nullptr, left, nullptr, nullptr, n, stream);
  workspace_bytes = static_cast<std::size_t>(2 * room) * sizeof(unsigned) + left;
  if (workspace == nullptr) return cudaSuccess;
  if (n == 0) return cudaMemsetAsync(runs, 0, sizeof *runs, stream);
  unsigned* const flags = static_cast<unsigned*>(workspace);
  const auto blocks = static_cast<unsigned>((n + 255) / 256);
  mark<<<blocks, 256, 0, stream>>>(in, flags, n);
  reduce_first::exclusive(flags + 2 * room, left, flags, flags + room, n, stream);
  walk<<<blocks, 256, 0, stream>>>(in, flags, flags + room, keys, lengths, runs, n);
  return cudaGetLastError();
}
}  // namespace walks_to_the_end

// Every element adds 1 to the length of its run: with one long run, all at one address.
namespace lengths_by_atomics {
// 6: NOT YET: right, but
__global__ void mark(const unsigned* in, unsigned* flags, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (i < n) flags[i] = i == 0 || in[i] != in[i - 1];
}
__global__ void clear(const unsigned* flags, const unsigned* places, unsigned* lengths,
                      unsigned* runs, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (i < n && flags[i] != 0) lengths[places[i]] = 0;
  if (i == n - 1) *runs = places[i] + flags[i];
}
__global__ void count(const unsigned* in, const unsigned* flags, const unsigned* places,
                      unsigned* keys, unsigned* lengths, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (i >= n) return;
  if (flags[i] != 0) keys[places[i]] = in[i];
  atomicAdd(&lengths[places[i] + flags[i] - 1], 1u);
}

cudaError_t run_lengths(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                        unsigned* keys, unsigned* lengths, unsigned* runs, std::int64_t n,
                        cudaStream_t stream) {
  const std::int64_t room = (n + 63) / 64 * 64;
  std::size_t left = 0;
  reduce_first::exclusive(nullptr, left, nullptr, nullptr, n, stream);
  workspace_bytes = static_cast<std::size_t>(2 * room) * sizeof(unsigned) + left;
  if (workspace == nullptr) return cudaSuccess;
  if (n == 0) return cudaMemsetAsync(runs, 0, sizeof *runs, stream);
  unsigned* const flags = static_cast<unsigned*>(workspace);
  const auto blocks = static_cast<unsigned>((n + 255) / 256);
  mark<<<blocks, 256, 0, stream>>>(in, flags, n);
  reduce_first::exclusive(flags + 2 * room, left, flags, flags + room, n, stream);
  clear<<<blocks, 256, 0, stream>>>(flags, flags + room, lengths, runs, n);
  count<<<blocks, 256, 0, stream>>>(in, flags, flags + room, keys, lengths, n);
  return cudaGetLastError();
}
}  // namespace lengths_by_atomics

// Lane 0 of each warp does the work of 32 lanes.
namespace one_lane_per_warp {
// 6: NOT YET: right, but
__global__ void mark(const unsigned* in, unsigned* flags, std::int64_t n) {
  const std::int64_t first = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (threadIdx.x % 32 != 0) return;
  for (std::int64_t i = first; i < first + 32 && i < n; ++i)
    flags[i] = i == 0 || in[i] != in[i - 1];
}
__global__ void store(const unsigned* in, const unsigned* flags, const unsigned* places,
                      unsigned* keys, unsigned* starts, unsigned* runs, std::int64_t n) {
  const std::int64_t first = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (threadIdx.x % 32 != 0) return;
  for (std::int64_t i = first; i < first + 32 && i < n; ++i) {
    if (flags[i] != 0) keys[places[i]] = in[i], starts[places[i]] = static_cast<unsigned>(i);
    if (i == n - 1) *runs = places[i] + flags[i];
  }
}
__global__ void subtract(const unsigned* starts, const unsigned* runs, unsigned* lengths,
                         unsigned n) {
  const std::int64_t first = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (threadIdx.x % 32 != 0) return;
  for (std::int64_t k = first; k < first + 32 && k < *runs; ++k)
    lengths[k] = (k + 1 < *runs ? starts[k + 1] : n) - starts[k];
}

cudaError_t run_lengths(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                        unsigned* keys, unsigned* lengths, unsigned* runs, std::int64_t n,
                        cudaStream_t stream) {
  const std::int64_t room = (n + 63) / 64 * 64;
  std::size_t left = 0;
  reduce_first::exclusive(nullptr, left, nullptr, nullptr, n, stream);
  workspace_bytes = static_cast<std::size_t>(3 * room) * sizeof(unsigned) + left;
  if (workspace == nullptr) return cudaSuccess;
  if (n == 0) return cudaMemsetAsync(runs, 0, sizeof *runs, stream);
  unsigned *const flags = static_cast<unsigned*>(workspace), *const places = flags + room;
  unsigned* const starts = places + room;
  const auto blocks = static_cast<unsigned>((n + 255) / 256);
  mark<<<blocks, 256, 0, stream>>>(in, flags, n);
  reduce_first::exclusive(starts + room, left, flags, places, n, stream);
  store<<<blocks, 256, 0, stream>>>(in, flags, places, keys, starts, runs, n);
  subtract<<<blocks, 256, 0, stream>>>(starts, runs, lengths, static_cast<unsigned>(n));
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp

// The starts are in `lengths` and become lengths in place: a neighbour may already have changed.
namespace starts_in_lengths {
// 6: NOT YET: n=2 distinct=4: right, but not by the rules: subtract, global memory
__global__ void mark(const unsigned* in, unsigned* flags, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (i < n) flags[i] = i == 0 || in[i] != in[i - 1];
}
__global__ void store(const unsigned* in, const unsigned* flags, const unsigned* places,
                      unsigned* keys, unsigned* starts, unsigned* runs, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (i < n && flags[i] != 0) keys[places[i]] = in[i], starts[places[i]] = static_cast<unsigned>(i);
  if (i == n - 1) *runs = places[i] + flags[i];
}
__global__ void subtract(unsigned* lengths, const unsigned* runs, unsigned n) {
  const std::int64_t k = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (k < *runs) lengths[k] = (k + 1 < *runs ? lengths[k + 1] : n) - lengths[k];
}

cudaError_t run_lengths(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                        unsigned* keys, unsigned* lengths, unsigned* runs, std::int64_t n,
                        cudaStream_t stream) {
  const std::int64_t room = (n + 63) / 64 * 64;
  std::size_t left = 0;
  reduce_first::exclusive(nullptr, left, nullptr, nullptr, n, stream);
  workspace_bytes = static_cast<std::size_t>(2 * room) * sizeof(unsigned) + left;
  if (workspace == nullptr) return cudaSuccess;
  if (n == 0) return cudaMemsetAsync(runs, 0, sizeof *runs, stream);
  unsigned* const flags = static_cast<unsigned*>(workspace);
  const auto blocks = static_cast<unsigned>((n + 255) / 256);
  mark<<<blocks, 256, 0, stream>>>(in, flags, n);
  reduce_first::exclusive(flags + 2 * room, left, flags, flags + room, n, stream);
  store<<<blocks, 256, 0, stream>>>(in, flags, flags + room, keys, lengths, runs, n);
  subtract<<<blocks, 256, 0, stream>>>(lengths, runs, static_cast<unsigned>(n));
  return cudaGetLastError();
}
}  // namespace starts_in_lengths

// The flags mark the last element of each run, in blocks of 128; the last one stores.
namespace ends {
// 6: PASSED
__global__ void mark(const unsigned* in, unsigned* flags, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 128 + threadIdx.x;
  if (i < n) flags[i] = i + 1 == n || in[i] != in[i + 1];
}
__global__ void store(const unsigned* in, const unsigned* flags, const unsigned* places,
                      unsigned* keys, unsigned* ends, unsigned* runs, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 128 + threadIdx.x;
  if (i >= n || flags[i] == 0) return;
  keys[places[i]] = in[i];
  ends[places[i]] = static_cast<unsigned>(i + 1);
  if (i + 1 == n) *runs = places[i] + 1;
}
__global__ void subtract(const unsigned* ends, const unsigned* runs, unsigned* lengths) {
  const std::int64_t k = std::int64_t{blockIdx.x} * 128 + threadIdx.x;
  if (k < *runs) lengths[k] = ends[k] - (k > 0 ? ends[k - 1] : 0);
}

cudaError_t run_lengths(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                        unsigned* keys, unsigned* lengths, unsigned* runs, std::int64_t n,
                        cudaStream_t stream) {
  const std::int64_t room = (n + 63) / 64 * 64;
  std::size_t left = 0;
  reduce_first::exclusive(nullptr, left, nullptr, nullptr, n, stream);
  workspace_bytes = static_cast<std::size_t>(3 * room) * sizeof(unsigned) + left;
  if (workspace == nullptr) return cudaSuccess;
  if (n == 0) return cudaMemsetAsync(runs, 0, sizeof *runs, stream);
  unsigned *const flags = static_cast<unsigned*>(workspace), *const places = flags + room;
  unsigned* const ends = places + room;
  const auto blocks = static_cast<unsigned>((n + 127) / 128);
  mark<<<blocks, 128, 0, stream>>>(in, flags, n);
  reduce_first::exclusive(ends + room, left, flags, places, n, stream);
  store<<<blocks, 128, 0, stream>>>(in, flags, places, keys, ends, runs, n);
  subtract<<<blocks, 128, 0, stream>>>(ends, runs, lengths);
  return cudaGetLastError();
}
}  // namespace ends

// The flags are not read again: an element and its neighbour give the same. Grid-stride loops.
namespace grid_strides {
// 6: PASSED
__device__ bool begins(const unsigned* in, std::int64_t i) { return i == 0 || in[i] != in[i - 1]; }
__global__ void mark(const unsigned* in, unsigned* flags, std::int64_t n) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
    flags[i] = begins(in, i) ? 1 : 0;
}
__global__ void store(const unsigned* in, const unsigned* places, unsigned* keys, unsigned* starts,
                      unsigned* runs, std::int64_t n) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    const bool begin = begins(in, i);
    if (begin) keys[places[i]] = in[i], starts[places[i]] = static_cast<unsigned>(i);
    if (i == n - 1) *runs = places[i] + (begin ? 1 : 0);
  }
}
__global__ void subtract(const unsigned* starts, const unsigned* runs, unsigned* lengths,
                         unsigned n) {
  const unsigned all = *runs;
  for (unsigned k = blockIdx.x * 256 + threadIdx.x; k < all; k += gridDim.x * 256)
    lengths[k] = (k + 1 < all ? starts[k + 1] : n) - starts[k];
}

cudaError_t run_lengths(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                        unsigned* keys, unsigned* lengths, unsigned* runs, std::int64_t n,
                        cudaStream_t stream) {
  const std::int64_t room = (n + 63) / 64 * 64;
  std::size_t left = 0;
  reduce_first::exclusive(nullptr, left, nullptr, nullptr, n, stream);
  workspace_bytes = static_cast<std::size_t>(2 * room) * sizeof(unsigned) + left;
  if (workspace == nullptr) return cudaSuccess;
  if (n == 0) return cudaMemsetAsync(runs, 0, sizeof *runs, stream);
  unsigned* const flags = static_cast<unsigned*>(workspace);  // then starts
  unsigned* const places = flags + room;
  mark<<<64, 256, 0, stream>>>(in, flags, n);
  reduce_first::exclusive(places + room, left, flags, places, n, stream);
  store<<<64, 256, 0, stream>>>(in, places, keys, flags, runs, n);
  subtract<<<64, 256, 0, stream>>>(flags, runs, lengths, static_cast<unsigned>(n));
  return cudaGetLastError();
}
}  // namespace grid_strides

// Flags are votes of a warp, and only the number of runs in a warp's 32 elements is scanned.
namespace votes {
// 6: PASSED
__device__ unsigned vote(const unsigned* in, std::int64_t i, std::int64_t n) {
  return __ballot_sync(0xffffffffu, i < n && (i == 0 || in[i] != in[i - 1]));
}
__global__ void count(const unsigned* in, unsigned* counts, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 512 + threadIdx.x;
  const unsigned begins = vote(in, i, n);
  if (i < n && i % 32 == 0) counts[i / 32] = static_cast<unsigned>(__popc(begins));
}
__global__ void store(const unsigned* in, const unsigned* places, unsigned* keys, unsigned* starts,
                      unsigned* runs, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 512 + threadIdx.x;
  const unsigned begins = vote(in, i, n), lane = threadIdx.x % 32;
  if (i >= n) return;
  const unsigned k = places[i / 32] + static_cast<unsigned>(__popc(begins & ((1u << lane) - 1)));
  const bool here = (begins >> lane & 1) != 0;
  if (here) keys[k] = in[i], starts[k] = static_cast<unsigned>(i);
  if (i == n - 1) *runs = here ? k + 1 : k;
}
__global__ void subtract(const unsigned* starts, const unsigned* runs, unsigned* lengths,
                         unsigned n) {
  const unsigned k = blockIdx.x * 512 + threadIdx.x;
  if (k < *runs) lengths[k] = (k + 1 == *runs ? n : starts[k + 1]) - starts[k];
}

cudaError_t run_lengths(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                        unsigned* keys, unsigned* lengths, unsigned* runs, std::int64_t n,
                        cudaStream_t stream) {
  const std::int64_t warps = (n + 31) / 32, room = (warps + 63) / 64 * 64;
  std::size_t left = 0;
  reduce_first::exclusive(nullptr, left, nullptr, nullptr, warps, stream);
  workspace_bytes = static_cast<std::size_t>(34 * room) * sizeof(unsigned) + left;
  if (workspace == nullptr) return cudaSuccess;
  if (n == 0) return cudaMemsetAsync(runs, 0, sizeof *runs, stream);
  unsigned *const counts = static_cast<unsigned*>(workspace), *const places = counts + room;
  unsigned* const starts = places + room;
  const auto blocks = static_cast<unsigned>((n + 511) / 512);
  count<<<blocks, 512, 0, stream>>>(in, counts, n);
  reduce_first::exclusive(starts + 32 * room, left, counts, places, warps, stream);
  store<<<blocks, 512, 0, stream>>>(in, places, keys, starts, runs, n);
  subtract<<<blocks, 512, 0, stream>>>(starts, runs, lengths, static_cast<unsigned>(n));
  return cudaGetLastError();
}
}  // namespace votes
