// Answers to exercise 6 of chapter 15, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstdint>

namespace one_thread_adds_weights {
// 6: NOT YET: right, but one after the other
__global__ void add_one_by_one(const unsigned* samples, const unsigned* weights, unsigned* sums,
                               std::int64_t n, unsigned bins) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (samples[i] < bins) sums[samples[i]] += weights[i];
  }
}

cudaError_t add_weights(const unsigned* samples, const unsigned* weights, unsigned* sums,
                        std::int64_t n, std::int64_t bins, cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  cudaMemsetAsync(sums, 0, static_cast<std::size_t>(bins) * 4, stream);
  add_one_by_one<<<1, 1, 0, stream>>>(samples, weights, sums, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace one_thread_adds_weights

namespace one_lane_per_warp_adds_runs {
// 6: NOT YET: right, but one after the other
__global__ void add_by_leaders(const unsigned* samples, const unsigned* weights, unsigned* sums,
                               std::int64_t n, unsigned bins) {
  __shared__ unsigned mine[4096];
  for (unsigned b = threadIdx.x; b < bins; b += 512) mine[b] = 0;
  __syncthreads();
  for (std::int64_t i = blockIdx.x * 512 + threadIdx.x; i < n; i += 512 * gridDim.x) {
    if (threadIdx.x % 32 != 0) continue;
    unsigned bin = samples[i], sum = 0;
    for (std::int64_t k = i; k < i + 32 && k < n; ++k) {
      if (samples[k] != bin) {
        if (bin < bins) atomicAdd(&mine[bin], sum);
        bin = samples[k];
        sum = 0;
      }
      sum += weights[k];
    }
    if (bin < bins) atomicAdd(&mine[bin], sum);
  }
  __syncthreads();
  for (unsigned b = threadIdx.x; b < bins; b += 512) atomicAdd(&sums[b], mine[b]);
}

cudaError_t add_weights(const unsigned* samples, const unsigned* weights, unsigned* sums,
                        std::int64_t n, std::int64_t bins, cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  cudaMemsetAsync(sums, 0, static_cast<std::size_t>(bins) * 4, stream);
  add_by_leaders<<<32, 512, 0, stream>>>(samples, weights, sums, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp_adds_runs

namespace equal_lanes_in_global_memory {
// 6: NOT YET: right, but 1 atomics per 32 elements, 0.25 would do
__global__ void add_equal_lanes(const unsigned* samples, const unsigned* weights, unsigned* sums,
                                std::int64_t n, unsigned bins) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  const unsigned bin = i < n ? samples[i] : ~0u;
  const unsigned equal = __match_any_sync(~0u, bin);
  const unsigned sum = __reduce_add_sync(equal, i < n ? weights[i] : 0);
  if (bin < bins && __ffs(static_cast<int>(equal)) - 1 == static_cast<int>(threadIdx.x % 32)) {
    atomicAdd(&sums[bin], sum);
  }
}

cudaError_t add_weights(const unsigned* samples, const unsigned* weights, unsigned* sums,
                        std::int64_t n, std::int64_t bins, cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  cudaMemsetAsync(sums, 0, static_cast<std::size_t>(bins) * 4, stream);
  if (n == 0) return cudaSuccess;
  add_equal_lanes<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(
      samples, weights, sums, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace equal_lanes_in_global_memory

namespace runs_of_a_thread {
// 6: PASSED
// A thread adds up its own run of 16 samples before it adds to shared memory.
__global__ void add_runs(const unsigned* samples, const unsigned* weights, unsigned* sums,
                         std::int64_t n, unsigned bins) {
  extern __shared__ unsigned mine[];
  for (unsigned b = threadIdx.x; b < bins; b += 512) mine[b] = 0;
  __syncthreads();
  constexpr int run = 16;
  for (std::int64_t first = (blockIdx.x * 512 + threadIdx.x) * run; first < n;
       first += 512 * run * gridDim.x) {
    unsigned bin = ~0u, sum = 0;
    for (std::int64_t i = first; i < first + run; i += 4) {
      uint4 b = make_uint4(~0u, ~0u, ~0u, ~0u), w = make_uint4(0, 0, 0, 0);
      if (i + 4 <= n) {
        b = *reinterpret_cast<const uint4*>(samples + i);
        w = *reinterpret_cast<const uint4*>(weights + i);
      } else {
        if (i < n) b.x = samples[i], w.x = weights[i];
        if (i + 1 < n) b.y = samples[i + 1], w.y = weights[i + 1];
        if (i + 2 < n) b.z = samples[i + 2], w.z = weights[i + 2];
      }
      const unsigned next[] = {b.x, b.y, b.z, b.w}, more[] = {w.x, w.y, w.z, w.w};
      for (int k = 0; k < 4; ++k) {
        if (next[k] != bin) {
          if (bin < bins) atomicAdd(&mine[bin], sum);
          sum = 0;
        }
        bin = next[k];
        sum += more[k];
      }
    }
    if (bin < bins) atomicAdd(&mine[bin], sum);
  }
  __syncthreads();
  for (unsigned b = threadIdx.x; b < bins; b += 512) {
    if (mine[b] != 0) atomicAdd(&sums[b], mine[b]);
  }
}

cudaError_t add_weights(const unsigned* samples, const unsigned* weights, unsigned* sums,
                        std::int64_t n, std::int64_t bins, cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  const std::size_t bytes = static_cast<std::size_t>(bins) * 4;
  cudaMemsetAsync(sums, 0, bytes, stream);
  add_runs<<<16, 512, bytes, stream>>>(samples, weights, sums, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace runs_of_a_thread

namespace scan_of_runs {
// 6: PASSED
// A segmented scan by shuffles; the last lane of each run of lanes adds the run's sum.
__global__ void add_scanned_runs(const unsigned* samples, const unsigned* weights, unsigned* sums,
                                 std::int64_t n, unsigned bins) {
  __shared__ unsigned mine[4096];
  for (unsigned b = threadIdx.x; b < bins; b += 1024) mine[b] = 0;
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  for (std::int64_t first = blockIdx.x * 1024; first < n; first += 1024 * gridDim.x) {
    const std::int64_t i = first + threadIdx.x;
    const unsigned bin = i < n ? samples[i] : ~0u;
    unsigned sum = i < n ? weights[i] : 0;
    const unsigned before = __shfl_up_sync(~0u, bin, 1), behind = __shfl_down_sync(~0u, bin, 1);
    const unsigned begins = __ballot_sync(~0u, lane == 0 || before != bin);
    const unsigned begin = 31 - __clz(static_cast<int>(begins & (~0u >> (31 - lane))));
    for (unsigned distance = 1; distance < 32; distance *= 2) {
      const unsigned lower = __shfl_up_sync(~0u, sum, distance);
      if (lane >= begin + distance) sum += lower;
    }
    if (bin < bins && (lane == 31 || behind != bin)) atomicAdd(&mine[bin], sum);
  }
  __syncthreads();
  for (unsigned b = threadIdx.x; b < bins; b += 1024) {
    if (mine[b] != 0) atomicAdd(&sums[b], mine[b]);
  }
}

cudaError_t add_weights(const unsigned* samples, const unsigned* weights, unsigned* sums,
                        std::int64_t n, std::int64_t bins, cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  cudaMemsetAsync(sums, 0, static_cast<std::size_t>(bins) * 4, stream);
  add_scanned_runs<<<16, 1024, 0, stream>>>(samples, weights, sums, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace scan_of_runs

namespace one_leader_after_the_other {
// 6: PASSED
// The first lane that is left names its bin; all lanes of that bin add up, and are finished.
__global__ void add_by_ballots(const unsigned* samples, const unsigned* weights, unsigned* sums,
                               std::int64_t n, unsigned bins) {
  extern __shared__ unsigned mine[];
  for (unsigned b = threadIdx.x; b < bins; b += 512) mine[b] = 0;
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  for (std::int64_t first = blockIdx.x * 512; first < n; first += 512 * gridDim.x) {
    const std::int64_t i = first + threadIdx.x;
    const unsigned bin = i < n ? samples[i] : ~0u, weight = i < n ? weights[i] : 0;
    unsigned left = __ballot_sync(~0u, bin < bins);
    while (left != 0) {
      const unsigned leader = static_cast<unsigned>(__ffs(static_cast<int>(left)) - 1);
      const bool is_equal = bin == __shfl_sync(~0u, bin, leader);
      unsigned sum = is_equal ? weight : 0;
      for (unsigned other = 16; other > 0; other /= 2) sum += __shfl_xor_sync(~0u, sum, other);
      if (lane == leader) atomicAdd(&mine[bin], sum);
      left &= ~__ballot_sync(~0u, is_equal);
    }
  }
  __syncthreads();
  for (unsigned b = threadIdx.x; b < bins; b += 512) {
    if (mine[b] != 0) atomicAdd(&sums[b], mine[b]);
  }
}

cudaError_t add_weights(const unsigned* samples, const unsigned* weights, unsigned* sums,
                        std::int64_t n, std::int64_t bins, cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  const std::size_t bytes = static_cast<std::size_t>(bins) * 4;
  cudaMemsetAsync(sums, 0, bytes, stream);
  add_by_ballots<<<32, 512, bytes, stream>>>(samples, weights, sums, n,
                                             static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace one_leader_after_the_other

namespace sums_for_lanes {
// 6: PASSED
// A copy for each lane, where they fit; else lanes share eight copies.
__global__ void add_in_copies(const unsigned* samples, const unsigned* weights, unsigned* sums,
                              std::int64_t n, unsigned bins, unsigned copies) {
  extern __shared__ unsigned all[];
  for (unsigned k = threadIdx.x; k < copies * bins; k += 1024) all[k] = 0;
  __syncthreads();
  unsigned* const mine = all + threadIdx.x % copies;
  for (std::int64_t i = blockIdx.x * 1024 + threadIdx.x; i < n; i += 1024 * gridDim.x) {
    if (samples[i] < bins) atomicAdd(&mine[copies * samples[i]], weights[i]);
  }
  __syncthreads();
  for (unsigned b = threadIdx.x; b < bins; b += 1024) {
    unsigned sum = 0;
    for (unsigned k = 0; k < copies; ++k) sum += all[copies * b + (b + k) % copies];
    if (sum != 0) atomicAdd(&sums[b], sum);
  }
}

cudaError_t add_weights(const unsigned* samples, const unsigned* weights, unsigned* sums,
                        std::int64_t n, std::int64_t bins, cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  const unsigned copies = bins <= 1024 ? 32 : 8;
  const std::size_t bytes = static_cast<std::size_t>(bins) * 4;
  cudaMemsetAsync(sums, 0, bytes, stream);
  cudaFuncSetAttribute(add_in_copies, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(copies * bytes));
  add_in_copies<<<16, 1024, copies * bytes, stream>>>(samples, weights, sums, n,
                                                      static_cast<unsigned>(bins), copies);
  return cudaGetLastError();
}
}  // namespace sums_for_lanes
