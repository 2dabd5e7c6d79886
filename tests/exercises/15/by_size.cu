// Answers to exercise 3 of chapter 15, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstdint>

namespace one_thread_of_each_block {
// 3: NOT YET: right, but one after the other
__global__ void count_by_first(const unsigned* samples, unsigned* counts, std::int64_t n,
                               unsigned bins) {
  extern __shared__ unsigned mine[];
  if (threadIdx.x == 0) {
    for (unsigned b = 0; b < bins; ++b) mine[b] = 0;
  }
  __syncthreads();
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    if (samples[i] < bins) atomicAdd(&mine[samples[i]], 1u);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned b = 0; b < bins; ++b) {
      if (mine[b] != 0) atomicAdd(&counts[b], mine[b]);
    }
  }
}

cudaError_t histogram_by(const unsigned* samples, unsigned* counts, std::int64_t n,
                         std::int64_t bins, std::int64_t size, cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  const std::size_t bytes = static_cast<std::size_t>(bins) * 4;
  cudaMemsetAsync(counts, 0, bytes, stream);
  count_by_first<<<32, static_cast<unsigned>(size), bytes, stream>>>(samples, counts, n,
                                                                     static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace one_thread_of_each_block

namespace one_block_of_any_size {
// 3: NOT YET: right, but one after the other
__global__ void count_alone(const unsigned* samples, unsigned* counts, std::int64_t n,
                            unsigned bins) {
  extern __shared__ unsigned mine[];
  for (unsigned b = threadIdx.x; b < bins; b += blockDim.x) mine[b] = 0;
  __syncthreads();
  for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x) {
    if (samples[i] < bins) atomicAdd(&mine[samples[i]], 1u);
  }
  __syncthreads();
  for (unsigned b = threadIdx.x; b < bins; b += blockDim.x) counts[b] = mine[b];
}

cudaError_t histogram_by(const unsigned* samples, unsigned* counts, std::int64_t n,
                         std::int64_t bins, std::int64_t size, cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  count_alone<<<1, static_cast<unsigned>(size), static_cast<std::size_t>(bins) * 4, stream>>>(
      samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace one_block_of_any_size

namespace in_global_memory {
// 3: NOT YET: right, but 1 atomics per 32 elements, 0.25 would do
__global__ void count_each(const unsigned* samples, unsigned* counts, std::int64_t n,
                           unsigned bins) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n && samples[i] < bins) atomicAdd(&counts[samples[i]], 1u);
}

cudaError_t histogram_by(const unsigned* samples, unsigned* counts, std::int64_t n,
                         std::int64_t bins, std::int64_t size, cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  cudaMemsetAsync(counts, 0, static_cast<std::size_t>(bins) * 4, stream);
  if (n == 0) return cudaSuccess;
  count_each<<<static_cast<unsigned>((n + size - 1) / size), static_cast<unsigned>(size), 0,
               stream>>>(samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace in_global_memory

namespace bins_from_the_last_one {
// 3: PASSED
__global__ void count_backwards(const unsigned* samples, unsigned* counts, std::int64_t n,
                                int bins) {
  __shared__ unsigned mine[4096];
  const int t = static_cast<int>(threadIdx.x), size = static_cast<int>(blockDim.x);
  for (int b = bins - 1 - t; b >= 0; b -= size) mine[b] = 0;
  __syncthreads();
  for (std::int64_t i = n - 1 - (blockIdx.x * size + t); i >= 0; i -= gridDim.x * size) {
    const unsigned sample = samples[i];
    if (sample < static_cast<unsigned>(bins)) atomicAdd(&mine[sample], 1u);
  }
  __syncthreads();
  for (int b = bins - 1 - t; b >= 0; b -= size) atomicAdd(&counts[b], mine[b]);
}

cudaError_t histogram_by(const unsigned* samples, unsigned* counts, std::int64_t n,
                         std::int64_t bins, std::int64_t size, cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  cudaMemsetAsync(counts, 0, static_cast<std::size_t>(bins) * 4, stream);
  count_backwards<<<32, static_cast<unsigned>(size), 0, stream>>>(samples, counts, n,
                                                                  static_cast<int>(bins));
  return cudaGetLastError();
}
}  // namespace bins_from_the_last_one

namespace a_window_of_bins_per_turn {
// 3: PASSED
__global__ void count_with_turns(const unsigned* samples, unsigned* counts, std::int64_t n,
                                 unsigned bins) {
  extern __shared__ unsigned mine[];
  const unsigned turns = (bins + blockDim.x - 1) / blockDim.x;
  for (unsigned turn = 0; turn < turns; ++turn) {
    const unsigned b = turn * blockDim.x + threadIdx.x;
    if (b < bins) mine[b] = 0;
  }
  __syncthreads();
  const std::int64_t each = (n + gridDim.x - 1) / gridDim.x;  // consecutive ones
  const std::int64_t first = blockIdx.x * each, last = first + each < n ? first + each : n;
  for (std::int64_t i = first + threadIdx.x; i < last; i += blockDim.x) {
    if (samples[i] < bins) atomicAdd(&mine[samples[i]], 1u);
  }
  __syncthreads();
  for (unsigned turn = 0; turn < turns; ++turn) {
    const unsigned b = turn * blockDim.x + threadIdx.x;
    if (b < bins && mine[b] > 0) atomicAdd(counts + b, mine[b]);
  }
}

cudaError_t histogram_by(const unsigned* samples, unsigned* counts, std::int64_t n,
                         std::int64_t bins, std::int64_t size, cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  const std::size_t bytes = static_cast<std::size_t>(bins) * 4;
  cudaMemsetAsync(counts, 0, bytes, stream);
  count_with_turns<<<24, static_cast<unsigned>(size), bytes, stream>>>(samples, counts, n,
                                                                       static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace a_window_of_bins_per_turn
