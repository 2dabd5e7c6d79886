// Answers to exercises 1 and 2 of chapter 15, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstdint>

namespace one_thread {
// 1 2: NOT YET: right, but one after the other
__global__ void count_all(const unsigned* samples, unsigned* counts, std::int64_t n,
                          unsigned bins) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (samples[i] < bins) ++counts[samples[i]];
  }
}

cudaError_t histogram(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  cudaMemsetAsync(counts, 0, static_cast<std::size_t>(bins) * 4, stream);
  count_all<<<1, 1, 0, stream>>>(samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace one_thread

namespace one_lane_per_warp {
// 1 2: NOT YET: right, but one after the other
__global__ void count_by_leaders(const unsigned* samples, unsigned* counts, std::int64_t n,
                                 unsigned bins) {
  const std::int64_t first = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (threadIdx.x % 32 != 0) return;
  for (std::int64_t i = first; i < first + 32 && i < n; ++i) {
    if (samples[i] < bins) atomicAdd(&counts[samples[i]], 1u);
  }
}

cudaError_t histogram(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  cudaMemsetAsync(counts, 0, static_cast<std::size_t>(bins) * 4, stream);
  if (n == 0) return cudaSuccess;
  count_by_leaders<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(
      samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp

namespace one_block {
// 1 2: NOT YET: right, but one after the other
__global__ void count_in_one(const unsigned* samples, unsigned* counts, std::int64_t n,
                             unsigned bins) {
  __shared__ unsigned mine[4096];
  for (unsigned b = threadIdx.x; b < bins; b += 1024) mine[b] = 0;
  __syncthreads();
  for (std::int64_t i = threadIdx.x; i < n; i += 1024) {
    if (samples[i] < bins) atomicAdd(&mine[samples[i]], 1u);
  }
  __syncthreads();
  for (unsigned b = threadIdx.x; b < bins; b += 1024) counts[b] = mine[b];
}

cudaError_t histogram(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  count_in_one<<<1, 1024, 0, stream>>>(samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace one_block

namespace a_thread_per_bin {
// 1: NOT YET: right, but one after the other
__global__ void count_own_bin(const unsigned* samples, unsigned* counts, std::int64_t n,
                              unsigned bins) {
  const unsigned b = blockIdx.x * 32 + threadIdx.x;
  unsigned count = 0;
  for (std::int64_t i = 0; i < n; ++i) count += samples[i] == b;
  if (b < bins) counts[b] = count;
}

cudaError_t histogram(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  count_own_bin<<<static_cast<unsigned>((bins + 31) / 32), 32, 0, stream>>>(
      samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace a_thread_per_bin

namespace equal_lanes_together {
// 1: PASSED
// 2: NOT YET: right, but 1 atomics per 32 elements, 0.25 would do
__global__ void count_equal_lanes(const unsigned* samples, unsigned* counts, std::int64_t n,
                                  unsigned bins) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  const unsigned sample = i < n ? samples[i] : ~0u;
  const unsigned equal = __match_any_sync(~0u, sample);
  const unsigned lane = threadIdx.x % 32;
  if (sample < bins && (equal & ((1u << lane) - 1)) == 0) {
    atomicAdd(&counts[sample], static_cast<unsigned>(__popc(equal)));
  }
}

cudaError_t histogram(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  cudaMemsetAsync(counts, 0, static_cast<std::size_t>(bins) * 4, stream);
  if (n == 0) return cudaSuccess;
  count_equal_lanes<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(
      samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace equal_lanes_together

namespace strided_grid {
// 1: PASSED
// 2: NOT YET: right, but 1 atomics per 32 elements, 0.25 would do
__global__ void count_with_strides(const unsigned* samples, unsigned* counts, std::int64_t n,
                                   unsigned bins) {
  for (std::int64_t i = blockIdx.x * 512 + threadIdx.x; i < n; i += 512 * gridDim.x) {
    const unsigned sample = samples[i];
    if (sample < bins) atomicAdd(counts + sample, 1u);
  }
}

cudaError_t histogram(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  cudaMemsetAsync(counts, 0, static_cast<std::size_t>(bins) * 4, stream);
  count_with_strides<<<32, 512, 0, stream>>>(samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace strided_grid

namespace static_counters {
// 1 2: PASSED
__global__ void count_in_array(const unsigned* samples, unsigned* counts, std::int64_t n,
                               unsigned bins) {
  __shared__ unsigned mine[4096];
  for (int b = static_cast<int>(threadIdx.x); b < 4096; b += 1024) mine[b] = 0;
  __syncthreads();
  for (std::int64_t i = blockIdx.x * 1024 + threadIdx.x; i < n; i += 1024 * gridDim.x) {
    if (samples[i] < bins) atomicAdd(&mine[samples[i]], 1u);
  }
  __syncthreads();
  for (unsigned b = threadIdx.x; b < bins; b += 1024) atomicAdd(&counts[b], mine[b]);
}

cudaError_t histogram(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  cudaMemsetAsync(counts, 0, static_cast<std::size_t>(bins) * 4, stream);
  count_in_array<<<16, 1024, 0, stream>>>(samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace static_counters

namespace two_copies {
// 1 2: PASSED
constexpr int copies = 2;  // for even and odd warps
__global__ void count_in_copies(const unsigned* samples, unsigned* counts, std::int64_t n,
                                unsigned bins) {
  extern __shared__ unsigned all[];
  for (unsigned b = threadIdx.x; b < copies * bins; b += 512) all[b] = 0;
  __syncthreads();
  unsigned* const mine = all + threadIdx.x / 32 % copies * bins;
  for (std::int64_t i = blockIdx.x * 512 + threadIdx.x; i < n; i += 512 * gridDim.x) {
    const unsigned sample = samples[i];
    if (sample < bins) atomicAdd(&mine[sample], 1u);
  }
  __syncthreads();
  for (unsigned b = threadIdx.x; b < bins; b += 512) {
    const unsigned sum = all[b] + all[bins + b];
    if (sum > 0) atomicAdd(&counts[b], sum);
  }
}

cudaError_t histogram(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  const std::size_t bytes = static_cast<std::size_t>(bins) * 4;
  cudaMemsetAsync(counts, 0, bytes, stream);
  count_in_copies<<<32, 512, copies * bytes, stream>>>(samples, counts, n,
                                                       static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace two_copies

namespace four_samples_per_load {
// 1 2: PASSED
__device__ void count(unsigned* mine, unsigned bins, unsigned sample) {
  if (sample < bins) atomicAdd(&mine[sample], 1u);
}

__global__ void count_vectors(const uint4* samples, unsigned* counts, std::int64_t n,
                              unsigned bins) {
  extern __shared__ unsigned mine[];
  for (unsigned b = threadIdx.x; b < bins; b += 256) mine[b] = 0;
  __syncthreads();
  const unsigned first = blockIdx.x * 256 + threadIdx.x;
  for (std::int64_t i = first; i < n / 4; i += 256 * gridDim.x) {
    const uint4 v = samples[i];
    count(mine, bins, v.x);
    count(mine, bins, v.y);
    count(mine, bins, v.z);
    count(mine, bins, v.w);
  }
  if (first < n % 4) {
    count(mine, bins, reinterpret_cast<const unsigned*>(samples)[n - n % 4 + first]);
  }
  __syncthreads();
  for (unsigned b = threadIdx.x; b < bins; b += 256) {
    if (mine[b] != 0) atomicAdd(&counts[b], mine[b]);
  }
}

cudaError_t histogram(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  const std::size_t bytes = static_cast<std::size_t>(bins) * 4;
  cudaMemsetAsync(counts, 0, bytes, stream);
  count_vectors<<<64, 256, bytes, stream>>>(reinterpret_cast<const uint4*>(samples), counts, n,
                                            static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace four_samples_per_load
