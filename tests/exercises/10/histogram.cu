// Answers to the exercises of chapter 10, and the verdicts that the CPU backend must give.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace one_thread {
// 5: NOT YET: right, but
__global__ void count_all(const unsigned* samples, unsigned* counts, std::int64_t n,
                          std::int64_t bins) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (samples[i] < bins) ++counts[samples[i]];
  }
}

cudaError_t histogram(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  cudaMemsetAsync(counts, 0, static_cast<std::size_t>(bins) * 4, stream);
  count_all<<<1, 1, 0, stream>>>(samples, counts, n, bins);
  return cudaGetLastError();
}
}  // namespace one_thread

namespace in_global_memory {
// 5: NOT YET: right, but one after the other
__global__ void count_each(const unsigned* samples, unsigned* counts, std::int64_t n,
                           std::int64_t bins) {
  for (std::int64_t i = blockIdx.x * 32 + threadIdx.x / 32; i < n; i += gridDim.x * 32) {
    if (threadIdx.x % 32 == 0 && samples[i] < bins) atomicAdd(&counts[samples[i]], 1u);
  }
}

cudaError_t histogram(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  cudaMemsetAsync(counts, 0, static_cast<std::size_t>(bins) * 4, stream);
  count_each<<<64, 1024, 0, stream>>>(samples, counts, n, bins);
  return cudaGetLastError();
}
}  // namespace in_global_memory

// So few blocks that they add few counters: without a cluster, but with most SMs idle.
namespace one_block {
// 5: NOT YET: right, but one after the other
constexpr unsigned blocks = 1;
__global__ void count_in_one(const unsigned* samples, unsigned* counts, std::int64_t n,
                             unsigned bins) {
  extern __shared__ unsigned s[];
  for (unsigned i = threadIdx.x; i < bins; i += 1024) s[i] = 0;
  __syncthreads();
  for (std::int64_t i = blockIdx.x * 1024 + threadIdx.x; i < n; i += 1024 * blocks) {
    if (samples[i] < bins) atomicAdd(&s[samples[i]], 1u);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < bins; i += 1024) atomicAdd(&counts[i], s[i]);
}

cudaError_t histogram(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  const std::size_t bytes = static_cast<std::size_t>(bins) * 4;
  cudaMemsetAsync(counts, 0, bytes, stream);
  cudaFuncSetAttribute(count_in_one, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(bytes));
  count_in_one<<<blocks, 1024, bytes, stream>>>(samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace one_block

namespace two_blocks {
// 5: NOT YET: right, but
constexpr unsigned blocks = 2;
__global__ void count_in_two(const unsigned* samples, unsigned* counts, std::int64_t n,
                             unsigned bins) {
  extern __shared__ unsigned s[];
  for (unsigned i = threadIdx.x; i < bins; i += 1024) s[i] = 0;
  __syncthreads();
  for (std::int64_t i = blockIdx.x * 1024 + threadIdx.x; i < n; i += 1024 * blocks) {
    if (samples[i] < bins) atomicAdd(&s[samples[i]], 1u);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < bins; i += 1024) atomicAdd(&counts[i], s[i]);
}

cudaError_t histogram(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  const std::size_t bytes = static_cast<std::size_t>(bins) * 4;
  cudaMemsetAsync(counts, 0, bytes, stream);
  cudaFuncSetAttribute(count_in_two, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(bytes));
  count_in_two<<<blocks, 1024, bytes, stream>>>(samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace two_blocks

// The eighths are contiguous, one after the other.
namespace eighth_by_eighth {
// 5: PASSED
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(8, 1, 1)
    count_eighths(const unsigned* samples, unsigned* counts, std::int64_t n, unsigned bins) {
  extern __shared__ unsigned s[];
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned t = threadIdx.x, rank = cluster.block_rank();
  for (unsigned i = t; i < bins; i += blockDim.x) s[i] = 0;
  __syncthreads();
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + t; i < n; i += step) {
    const unsigned sample = samples[i];
    if (sample < bins) atomicAdd(&s[sample], 1u);
  }
  cluster.sync();
  const unsigned eighth = (bins + 7) / 8, end = min(bins, (rank + 1) * eighth);
  for (unsigned i = rank * eighth + t; i < end; i += blockDim.x) {
    unsigned sum = s[i];
    for (unsigned r = 1; r < 8; ++r) {
      sum += cluster.map_shared_rank(s, static_cast<int>((rank + r) % 8))[i];
    }
    if (sum != 0) atomicAdd(&counts[i], sum);
  }
  cluster.sync();
}

cudaError_t histogram(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  const std::size_t bytes = static_cast<std::size_t>(bins) * 4;
  cudaMemsetAsync(counts, 0, bytes, stream);
  cudaFuncSetAttribute(count_eighths, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(bytes));
  count_eighths<<<16, 1024, bytes, stream>>>(samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace eighth_by_eighth

// In three steps: a block adds its partner's counters to a half of its own, and keeps that half.
namespace halves_of_halves {
// 5: PASSED
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(8, 1, 1)
    count_and_halve(const unsigned* samples, unsigned* counts, std::int64_t n, unsigned bins) {
  extern __shared__ unsigned s[];
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned t = threadIdx.x, rank = cluster.block_rank();
  for (unsigned i = t; i < bins; i += blockDim.x) s[i] = 0;
  __syncthreads();
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + t; i < n; i += step) {
    const unsigned sample = samples[i];
    if (sample < bins) atomicAdd(&s[sample], 1u);
  }
  cluster.sync();
  unsigned first = 0, end = bins;
  for (unsigned bit = 4; bit > 0; bit /= 2) {
    const unsigned middle = first + (end - first) / 2;
    if ((rank & bit) == 0) end = middle;
    if ((rank & bit) != 0) first = middle;
    const unsigned* const theirs = cluster.map_shared_rank(s, static_cast<int>(rank ^ bit));
    for (unsigned i = first + t; i < end; i += blockDim.x) s[i] += theirs[i];
    cluster.sync();
  }
  for (unsigned i = first + t; i < end; i += blockDim.x) {
    if (s[i] != 0) atomicAdd(&counts[i], s[i]);
  }
}

cudaError_t histogram(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  const std::size_t bytes = static_cast<std::size_t>(bins) * 4;
  cudaMemsetAsync(counts, 0, bytes, stream);
  cudaFuncSetAttribute(count_and_halve, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(bytes));
  count_and_halve<<<16, 1024, bytes, stream>>>(samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace halves_of_halves

// Each block adds its counters to those of the block that owns the bins, by atomics there.
namespace adds_to_the_owner {
// 5: PASSED
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(8, 1, 1)
    count_and_send(const unsigned* samples, unsigned* counts, std::int64_t n, unsigned bins) {
  extern __shared__ unsigned s[];
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned t = threadIdx.x, rank = cluster.block_rank();
  for (unsigned i = t; i < bins; i += blockDim.x) s[i] = 0;
  __syncthreads();
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + t; i < n; i += step) {
    const unsigned sample = samples[i];
    if (sample < bins) atomicAdd(&s[sample], 1u);
  }
  cluster.sync();
  for (unsigned k = 1; k < 8; ++k) {
    unsigned* const owner = cluster.map_shared_rank(s, static_cast<int>((rank + k) % 8));
    for (unsigned i = (rank + k) % 8 * 1024 + t; i < bins; i += 8192) {
      if (s[i] != 0) atomicAdd(&owner[i], s[i]);
    }
  }
  cluster.sync();
  for (unsigned i = rank * 1024 + t; i < bins; i += 8192) {
    if (s[i] != 0) atomicAdd(&counts[i], s[i]);
  }
}

cudaError_t histogram(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  const std::size_t bytes = static_cast<std::size_t>(bins) * 4;
  cudaMemsetAsync(counts, 0, bytes, stream);
  cudaFuncSetAttribute(count_and_send, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(bytes));
  count_and_send<<<16, 1024, bytes, stream>>>(samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace adds_to_the_owner

// Blocks of 512 threads, so twice as many clusters share the samples.
namespace small_blocks {
// 5: PASSED
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(8, 1, 1)
    count_by_512(const unsigned* samples, unsigned* counts, std::int64_t n, unsigned bins) {
  extern __shared__ unsigned s[];
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned t = threadIdx.x, rank = cluster.block_rank();
  for (unsigned i = t; i < bins; i += blockDim.x) s[i] = 0;
  __syncthreads();
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + t; i < n; i += step) {
    const unsigned sample = samples[i];
    if (sample < bins) atomicAdd(&s[sample], 1u);
  }
  cluster.sync();
  for (unsigned i = rank * blockDim.x + t; i < bins; i += 8 * blockDim.x) {
    unsigned sum = 0;
    for (unsigned r = 0; r < 8; ++r) {
      sum += cluster.map_shared_rank(s, static_cast<int>((rank + r) % 8))[i];
    }
    if (sum != 0) atomicAdd(&counts[i], sum);
  }
  cluster.sync();
}

cudaError_t histogram(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  if (bins == 0) return cudaSuccess;
  const std::size_t bytes = static_cast<std::size_t>(bins) * 4;
  cudaMemsetAsync(counts, 0, bytes, stream);
  cudaFuncSetAttribute(count_by_512, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(bytes));
  count_by_512<<<32, 512, bytes, stream>>>(samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
}
}  // namespace small_blocks
