// Answers to exercise 4 of chapter 15, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstdint>

namespace one_thread_counts_bytes {
// 4: NOT YET: right, but one after the other
__global__ void count_all(const std::uint8_t* samples, unsigned* counts, std::int64_t n,
                          unsigned bins) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (samples[i] < bins) ++counts[samples[i]];
  }
}

cudaError_t histogram(const std::uint8_t* samples, unsigned* counts, std::int64_t n,
                      std::int64_t bins, cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  cudaMemsetAsync(counts, 0, static_cast<std::size_t>(bins) * 4, stream);
  count_all<<<1, 1, 0, stream>>>(samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace one_thread_counts_bytes

namespace one_lane_per_warp_counts {
// 4: NOT YET: right, but one after the other
__global__ void count_by_leaders(const std::uint8_t* samples, unsigned* counts, std::int64_t n,
                                 unsigned bins) {
  __shared__ unsigned mine[256];
  for (unsigned b = threadIdx.x; b < 256; b += 1024) mine[b] = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    const std::int64_t each = (n + 511) / 512, first = (blockIdx.x * 32 + threadIdx.x / 32) * each;
    for (std::int64_t i = first; i < first + each && i < n; ++i) atomicAdd(&mine[samples[i]], 1u);
  }
  __syncthreads();
  if (threadIdx.x < bins) atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}

cudaError_t histogram(const std::uint8_t* samples, unsigned* counts, std::int64_t n,
                      std::int64_t bins, cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  cudaMemsetAsync(counts, 0, static_cast<std::size_t>(bins) * 4, stream);
  count_by_leaders<<<16, 1024, 0, stream>>>(samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp_counts

namespace bytes_in_global_memory {
// 4: NOT YET: right, but it moves
__global__ void count_each(const std::uint8_t* samples, unsigned* counts, std::int64_t n,
                           unsigned bins) {
  for (std::int64_t i = blockIdx.x * 1024 + threadIdx.x; i < n; i += 1024 * gridDim.x) {
    if (samples[i] < bins) atomicAdd(&counts[samples[i]], 1u);
  }
}

cudaError_t histogram(const std::uint8_t* samples, unsigned* counts, std::int64_t n,
                      std::int64_t bins, cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  cudaMemsetAsync(counts, 0, static_cast<std::size_t>(bins) * 4, stream);
  count_each<<<16, 1024, 0, stream>>>(samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace bytes_in_global_memory

namespace equal_bytes_first {
// 4: NOT YET: right, but bank conflicts: 3.
__global__ void count_equal_lanes(const unsigned* samples, unsigned* counts, std::int64_t n,
                                  unsigned bins) {
  __shared__ unsigned mine[256];
  if (threadIdx.x < 256) mine[threadIdx.x] = 0;
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  const std::int64_t words = n / 4;
  for (std::int64_t first = blockIdx.x * 1024; first < words; first += 1024 * gridDim.x) {
    const std::int64_t i = first + threadIdx.x;
    const unsigned word = i < words ? samples[i] : 0;
    for (int byte = 0; byte < 4; ++byte) {
      const unsigned sample = i < words ? word >> (8 * byte) & 0xffu : 256;
      const unsigned equal = __match_any_sync(~0u, sample);
      if (sample < 256 && (equal & ((1u << lane) - 1)) == 0) {
        atomicAdd(&mine[sample], static_cast<unsigned>(__popc(equal)));
      }
    }
  }
  if (blockIdx.x == 0 && threadIdx.x < n % 4) {
    const std::uint8_t* const end = reinterpret_cast<const std::uint8_t*>(samples + words);
    atomicAdd(&mine[end[threadIdx.x]], 1u);
  }
  __syncthreads();
  if (threadIdx.x < bins) atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}

cudaError_t histogram(const std::uint8_t* samples, unsigned* counts, std::int64_t n,
                      std::int64_t bins, cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  cudaMemsetAsync(counts, 0, static_cast<std::size_t>(bins) * 4, stream);
  count_equal_lanes<<<16, 1024, 0, stream>>>(reinterpret_cast<const unsigned*>(samples), counts, n,
                                             static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace equal_bytes_first

namespace halves_of_words {
// 4: PASSED
// Counters of 16 bits: bins v and v + 128 of lane l share word 32 v + l. They are emptied before
// one of them may overflow: 64 times 32 warps add 16.
__device__ void count(unsigned* mine, unsigned sample) {
  atomicAdd(&mine[32 * (sample % 128)], sample < 128 ? 1u : 1u << 16);
}

__device__ void empty(unsigned* mine, unsigned* counts, unsigned bins) {
  __syncthreads();
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (unsigned v = warp; v < 128; v += 32) {
    const unsigned word = mine[32 * v + lane];
    mine[32 * v + lane] = 0;
    const unsigned low = __reduce_add_sync(~0u, word & 0xffffu);
    const unsigned high = __reduce_add_sync(~0u, word >> 16);
    if (lane == 0 && v < bins && low > 0) atomicAdd(&counts[v], low);
    if (lane == 1 && v + 128 < bins && high > 0) atomicAdd(&counts[v + 128], high);
  }
  __syncthreads();
}

__global__ void count_in_halves(const std::uint8_t* samples, unsigned* counts, std::int64_t n,
                                unsigned bins) {
  __shared__ unsigned all[128 * 32];
  for (unsigned k = threadIdx.x; k < 128 * 32; k += 1024) all[k] = 0;
  __syncthreads();
  unsigned* const mine = all + threadIdx.x % 32;
  const std::int64_t step = 1024 * gridDim.x;
  int turn = 0;
  for (std::int64_t first = blockIdx.x * 1024; first < n / 16; first += step) {
    const std::int64_t i = first + threadIdx.x;
    if (i < n / 16) {
      const uint4 v = reinterpret_cast<const uint4*>(samples)[i];
      for (const unsigned word : {v.x, v.y, v.z, v.w}) {
        for (int shift = 0; shift < 32; shift += 8) count(mine, word >> shift & 0xffu);
      }
    }
    if (++turn % 64 == 0) empty(all, counts, bins);
  }
  if (blockIdx.x == 0 && threadIdx.x < n % 16) count(mine, samples[n - 1 - threadIdx.x]);
  empty(all, counts, bins);
}

cudaError_t histogram(const std::uint8_t* samples, unsigned* counts, std::int64_t n,
                      std::int64_t bins, cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  cudaMemsetAsync(counts, 0, static_cast<std::size_t>(bins) * 4, stream);
  count_in_halves<<<16, 1024, 0, stream>>>(samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace halves_of_words

namespace runs_in_registers {
// 4: PASSED
// A thread adds equal neighbours up before it adds them to its lane's copy.
__global__ void count_runs(const std::uint8_t* samples, unsigned* counts, std::int64_t n,
                           unsigned bins) {
  extern __shared__ unsigned all[];
  for (unsigned k = threadIdx.x; k < 256 * 32; k += 512) all[k] = 0;
  __syncthreads();
  unsigned* const mine = all + threadIdx.x % 32;
  for (std::int64_t i = blockIdx.x * 512 + threadIdx.x; i < n / 8; i += 512 * gridDim.x) {
    const uint2 v = reinterpret_cast<const uint2*>(samples)[i];
    unsigned last = v.x & 0xffu, times = 0;
    for (const unsigned word : {v.x, v.y}) {
      for (int shift = 0; shift < 32; shift += 8) {
        const unsigned sample = word >> shift & 0xffu;
        if (sample != last) {
          atomicAdd(&mine[32 * last], times);
          times = 0;
        }
        last = sample;
        ++times;
      }
    }
    atomicAdd(&mine[32 * last], times);
  }
  if (blockIdx.x == 0 && threadIdx.x < n % 8) {
    atomicAdd(&mine[32 * samples[n / 8 * 8 + threadIdx.x]], 1u);
  }
  __syncthreads();
  for (unsigned b = threadIdx.x / 32; b < bins; b += 16) {  // one warp per bin
    const unsigned sum = __reduce_add_sync(~0u, all[32 * b + threadIdx.x % 32]);
    if (threadIdx.x % 32 == 0) atomicAdd(&counts[b], sum);
  }
}

cudaError_t histogram(const std::uint8_t* samples, unsigned* counts, std::int64_t n,
                      std::int64_t bins, cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  cudaMemsetAsync(counts, 0, static_cast<std::size_t>(bins) * 4, stream);
  count_runs<<<32, 512, 256 * 32 * 4, stream>>>(samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace runs_in_registers
