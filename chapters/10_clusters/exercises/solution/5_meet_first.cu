// Exercise 5, solved: each block adds up an eighth of the counters of all eight.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

namespace cg = cooperative_groups;

constexpr int block_size = 1024;
constexpr int blocks = 8;             // of a cluster
constexpr int loads = 4;              // of 16 bytes, on their way at once per thread
constexpr std::int64_t room = 58111;  // counters in the 227 KiB of a block, and one more

/// Counts a sample. Those that are no bin's are counted behind the others, where nobody looks.
__device__ void count(unsigned* s, unsigned bins, unsigned sample) {
  atomicAdd(&s[min(sample, bins)], 1u);
}

/// All blocks share the samples among them.
__global__ void __launch_bounds__(block_size, 1)
    count_samples(const unsigned* samples, unsigned* counts, std::int64_t n, unsigned bins) {
  extern __shared__ unsigned s[];
  const int t = static_cast<int>(threadIdx.x);
  for (unsigned i = t; i <= bins; i += block_size) s[i] = 0;
  __syncthreads();
  const uint4* const in = reinterpret_cast<const uint4*>(samples);
  const uint4 none = make_uint4(~0u, ~0u, ~0u, ~0u);  // no bin's
  const std::int64_t vectors = n / 4, step = std::int64_t{gridDim.x} * block_size;
  for (std::int64_t i = std::int64_t{blockIdx.x} * block_size + t; i < vectors; i += loads * step) {
    uint4 v[loads];
    for (int k = 0; k < loads; ++k) v[k] = i + k * step < vectors ? in[i + k * step] : none;
    for (int k = 0; k < loads; ++k) {
      count(s, bins, v[k].x);
      count(s, bins, v[k].y);
      count(s, bins, v[k].z);
      count(s, bins, v[k].w);
    }
  }
  if (blockIdx.x == 0 && t < n % 4) count(s, bins, samples[4 * vectors + t]);
  const cg::cluster_group cluster = cg::this_cluster();
  const int rank = static_cast<int>(cluster.block_rank());
  cluster.sync();  // all blocks have counted
  for (unsigned i = rank * block_size + t; i < bins; i += blocks * block_size) {
    unsigned sum = 0;
    for (int r = 0; r < blocks; ++r) sum += cluster.map_shared_rank(s, (rank + r) % blocks)[i];
    if (sum != 0) atomicAdd(&counts[i], sum);
  }
  cluster.sync();  // nobody leaves while another block reads its counters
}

/// counts[b] = how many of the n samples are b, for b < bins; larger samples are not counted.
/// Device pointers, samples at a multiple of 16 bytes. \returns cudaErrorInvalidValue for another
/// pointer, n or bins below 0, n above 2^32 - 1, bins above 58,111, or an error of CUDA.
cudaError_t histogram(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  if (n < 0 || n > UINT32_MAX || bins < 0 || bins > room ||
      reinterpret_cast<std::uintptr_t>(samples) % 16 != 0) {
    return cudaErrorInvalidValue;
  }
  if (bins == 0) return cudaSuccess;
  const std::size_t bytes = static_cast<std::size_t>(bins) * sizeof(unsigned);
  if (cudaError_t error = cudaMemsetAsync(counts, 0, bytes, stream)) return error;
  if (n == 0) return cudaSuccess;
  const int shared = static_cast<int>(bins + 1) * 4;
  if (cudaError_t error = cudaFuncSetAttribute(
          count_samples, cudaFuncAttributeMaxDynamicSharedMemorySize, shared)) {
    return error;
  }
  cudaLaunchAttribute shape;
  shape.id = cudaLaunchAttributeClusterDimension;
  shape.val.clusterDim.x = blocks;
  shape.val.clusterDim.y = shape.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(block_size);
  config.dynamicSmemBytes = static_cast<std::size_t>(shared);
  config.stream = stream;
  config.attrs = &shape;
  config.numAttrs = 1;
  int at_once = 0;  // clusters that the GPU runs at the same time
  if (cudaError_t error = cudaOccupancyMaxActiveClusters(&at_once, count_samples, &config)) {
    return error;
  }
  const std::int64_t needed = (n / 4 + block_size * blocks - 1) / (block_size * blocks);
  const std::int64_t most = at_once < 1 ? 1 : at_once;
  const std::int64_t clusters = needed < 1 ? 1 : needed < most ? needed : most;
  config.gridDim = dim3(static_cast<unsigned>(clusters * blocks));
  return cudaLaunchKernelEx(&config, count_samples, samples, counts, n,
                            static_cast<unsigned>(bins));
}

}  // namespace exercise
