// Exercise 4: mend a bug. Both sides are launched, and launches may not get too deep.
//   ./chapters/run 07 --exercise 4          builds and checks it; --hint helps
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
  if (n <= small) {
    selection_sort(s, n);
    return;
  }
  const int right = partition(s, n);
  // CHANGE ME: of a segment in descending order one side gets one key. How deep do launches get?
  sort_segment<<<1, 1, 0, cudaStreamFireAndForget>>>(s, right);
  sort_segment<<<1, 1, 0, cudaStreamFireAndForget>>>(s + right, n - right);
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
