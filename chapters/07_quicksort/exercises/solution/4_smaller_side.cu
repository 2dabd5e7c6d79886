// Exercise 4, solved. A side that is launched has at most half of the keys, so after 24 levels
// there is nothing left to launch below 2^24 * 32 keys, whatever the pivots are. A side of up to
// 32 keys is sorted at once: no launch for one key.
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

constexpr int small = 32;  // keys that a thread sorts by itself

__device__ void swap_keys(unsigned* a, unsigned* b) {
  const unsigned key = *a;
  *a = *b;
  *b = key;
}

/// Finds the least key again and again.
__device__ void selection_sort(unsigned* s, int n) {
  for (int i = 0; i < n - 1; ++i) {
    int least = i;
    for (int k = i + 1; k < n; ++k) {
      if (s[k] < s[least]) least = k;
    }
    if (least != i) swap_keys(s + i, s + least);
  }
}

/// Parts s[0 .. n) by its first key (Hoare). Returns where the right part begins: no key before it
/// is larger than one behind it, and neither part is empty. n >= 2.
__device__ int partition(unsigned* s, int n) {
  const unsigned pivot = s[0];
  int i = -1, k = n;
  while (true) {
    do ++i;
    while (s[i] < pivot);
    do --k;
    while (pivot < s[k]);
    if (i >= k) return k + 1;
    swap_keys(s + i, s + k);
  }
}

/// Sorts s[0 .. n). Launch: one thread.
__global__ void sort_segment(unsigned* s, int n) {
  while (n > small) {
    const int right = partition(s, n);
    const bool is_left = right <= n - right;  // the smaller side
    unsigned* const side = is_left ? s : s + right;
    const int count = is_left ? right : n - right;
    if (count > small)
      sort_segment<<<1, 1, 0, cudaStreamFireAndForget>>>(side, count);
    else
      selection_sort(side, count);
    if (is_left) s += right;
    n -= count;
  }
  selection_sort(s, n);
}

/// Nothing. A graph is said to be over as soon as its last kernel is, even if kernels that this one
/// launched still run (seen on an H200 with CUDA 13.0): so the last one must launch none.
__global__ void after_all() {}

/// Sorts n keys, n below 2^31.
cudaError_t sort(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  if (n < 0 || n >= std::int64_t{1} << 31) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(unsigned);
  if (cudaError_t error = cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, stream))
    return error;
  sort_segment<<<1, 1, 0, stream>>>(out, static_cast<int>(n));
  after_all<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}

}  // namespace exercise
