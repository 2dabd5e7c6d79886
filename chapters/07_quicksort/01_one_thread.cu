// Idea: the textbook's quicksort, one thread per segment. It parts the keys by a pivot, and
// launches
//   a kernel for each side (dynamic parallelism).
// Predicts: the first thread parts n keys alone while the GPU waits; a launch for every 30 keys or
//   so, and no more than 2048 may wait.
// Still wrong: one thread of thousands works where there is most to do; a launch costs more than
//   the sorting of 32 keys.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "keys.cuh"

namespace one_thread {

using keys::Ordered;
using keys::ordered;

constexpr int small = 32;        // keys that a thread sorts by itself
constexpr int most_levels = 24;  // of kernels that launch kernels: the host's is the first

template <class T>
__device__ void swap_keys(T* a, T* b) {
  const T key = *a;
  *a = *b;
  *b = key;
}

/// Finds the least key again and again: n^2 / 2 comparisons, but n is small.
template <class T>
__device__ void selection_sort(T* s, int n) {
  for (int i = 0; i < n - 1; ++i) {
    int least = i;
    for (int k = i + 1; k < n; ++k) {
      if (ordered(s[k]) < ordered(s[least])) least = k;
    }
    if (least != i) swap_keys(s + i, s + least);
  }
}

/// Lets s[i] sink until no child of it is larger.
template <class T>
__device__ void sift_down(T* s, std::int64_t i, std::int64_t n) {
  for (std::int64_t child = 2 * i + 1; child < n; child = 2 * i + 1) {
    if (child + 1 < n && ordered(s[child]) < ordered(s[child + 1])) ++child;
    if (ordered(s[child]) <= ordered(s[i])) return;
    swap_keys(s + i, s + child);
    i = child;
  }
}

/// n log n comparisons whatever the keys are. What a segment gets that may not launch any more.
template <class T>
__device__ void heap_sort(T* s, std::int64_t n) {
  for (std::int64_t i = n / 2 - 1; i >= 0; --i) sift_down(s, i, n);
  for (std::int64_t last = n - 1; last > 0; --last) {
    swap_keys(s, s + last);
    sift_down(s, 0, last);
  }
}

/// Parts s[0 .. n) by the key in its middle (Hoare). Returns where the right part begins: no key
/// before it is larger than one behind it, and neither part is empty. n >= 2.
template <class T>
__device__ std::int64_t partition(T* s, std::int64_t n) {
  const Ordered<T> pivot = ordered(s[(n - 1) / 2]);
  std::int64_t i = -1, k = n;
  while (true) {
    do ++i;
    while (ordered(s[i]) < pivot);
    do --k;
    while (pivot < ordered(s[k]));
    if (i >= k) return k + 1;
    swap_keys(s + i, s + k);
  }
}

/// Sorts s[0 .. n). Launch: one thread. `level`: how many kernels had to launch it. *fallbacks
/// counts the segments that could not be launched: too deep, or too many launches wait.
template <class T>
__global__ void sort_segment(T* s, std::int64_t n, int level, unsigned long long* fallbacks) {
  if (n <= small) {
    selection_sort(s, static_cast<int>(n));
    return;
  }
  const std::int64_t right = partition(s, n);
  for (int side = 0; side < 2; ++side) {
    T* const part = side == 0 ? s : s + right;
    const std::int64_t count = side == 0 ? right : n - right;
    if (count < 2) continue;
    if (level + 1 < most_levels) {
      // Its own stream for each: neither side waits for the other. (In this block's stream they
      // would come one after the other.)
      sort_segment<<<1, 1, 0, cudaStreamFireAndForget>>>(part, count, level + 1, fallbacks);
      if (cudaGetLastError() == cudaSuccess) continue;
    }
    atomicAdd(fallbacks, 1ull);
    heap_sort(part, count);
  }
}

/// Nothing. A graph is said to be over as soon as its last kernel is, even if kernels that this one
/// launched still run (seen on an H200 with CUDA 13.0): so the last one must launch none.
__global__ void after_all() {}

/// True unless p is a multiple of `bytes`.
inline bool misaligned(const void* p, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % bytes != 0;
}

/// out = the keys of in, in ascending order (keys.cuh). Device pointers, which must not overlap.
/// Not stable, which nobody can see: equal keys are equal bits. The first 8 bytes of the workspace
/// become the number of segments that were sorted in another way, because they could not be
/// launched. With workspace == nullptr: only writes the bytes of scratch memory that it needs.
/// \returns cudaErrorInvalidValue for too little of it or a misaligned pointer, for n < 0 or n >=
/// 2^40, or the error of a copy or launch.
template <class T>
cudaError_t sort_keys(void* workspace, std::size_t& workspace_bytes, const T* in, T* out,
                      std::int64_t n, cudaStream_t stream) {
  using Count = unsigned long long;
  if (n < 0 || n >= std::int64_t{1} << 40) return cudaErrorInvalidValue;
  if (workspace == nullptr) {
    workspace_bytes = sizeof(Count);
    return cudaSuccess;
  }
  if (workspace_bytes < sizeof(Count)) return cudaErrorInvalidValue;
  if (misaligned(workspace, alignof(Count))) return cudaErrorInvalidValue;
  if (misaligned(in, sizeof(T)) || misaligned(out, sizeof(T))) return cudaErrorInvalidValue;
  auto* const fallbacks = static_cast<Count*>(workspace);
  if (cudaError_t error = cudaMemsetAsync(fallbacks, 0, sizeof(Count), stream)) return error;
  if (n == 0) return cudaSuccess;
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
  if (cudaError_t error = cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, stream))
    return error;
  sort_segment<<<1, 1, 0, stream>>>(out, n, 0, fallbacks);
  after_all<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}

cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const unsigned* in, unsigned* out,
                 std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, stream);
}

cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const int* in, int* out,
                 std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, stream);
}

cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                 std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, stream);
}

cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const std::int64_t* in,
                 std::int64_t* out, std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, stream);
}

}  // namespace one_thread
