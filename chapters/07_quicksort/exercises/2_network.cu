// Exercise 2: change two lines. A sorting network: which two keys does a thread compare?
//   ./chapters/run 07 --exercise 2          builds and checks it; --hint helps
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

constexpr int block_size = 256;
constexpr int most = 2048;  // keys

/// Sorts s[0 .. size), size a power of two. All threads must call.
__device__ void sort_shared(unsigned* s, int size) {
  for (int run = 2; run <= size; run *= 2) {  // sorted runs of so many keys
    for (int step = run / 2; step > 0; step /= 2) {
      for (int i = threadIdx.x; i < size / 2; i += block_size) {  // pair i of size / 2
        // CHANGE ME: which two keys meet? Two neighbours is right where step is 1.
        const int a = 2 * i;
        const int b = 2 * i + 1;
        const unsigned low = s[a], high = s[b];
        if (high < low) s[a] = high, s[b] = low;
      }
      __syncthreads();
    }
  }
}

__global__ void sort_block(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned s[most];
  int size = 2;  // the power of two that holds them
  while (size < n) size *= 2;
  for (int i = threadIdx.x; i < size; i += block_size) s[i] = i < n ? in[i] : 0xffffffffu;
  __syncthreads();
  sort_shared(s, size);
  for (int i = threadIdx.x; i < n; i += block_size) out[i] = s[i];
}

/// Sorts up to 2048 keys with one block.
cudaError_t sort(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  if (n < 0 || n > most) return cudaErrorInvalidValue;
  sort_block<<<1, block_size, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}

}  // namespace exercise
