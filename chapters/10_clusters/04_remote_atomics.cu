// Idea: a cluster. Its blocks run at the same time on neighbouring SMs and can reach each other's
//   shared memory. The W windows lie in the W blocks of one cluster, bin b in window b % W; a
//   thread counts each sample where its bin is, by an atomic addition in that SM's shared memory.
// Predicts: each sample enters one SM once, as in 03, for up to 464,896 bins in 8 blocks. Of W
//   windows (W - 1)/W of the additions leave the SM: one by one, through a network that moves 16
//   bytes per clock and SM.
// Still wrong: an addition is four bytes of work and a whole packet on the way.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace remote_atomics {

namespace cg = cooperative_groups;

constexpr int block_size = 1024;
constexpr int loads = 4;              // of 16 bytes, on their way at once per thread
constexpr std::int64_t room = 58112;  // counters in the 227 KiB of a block
constexpr int most_blocks = 8;        // of a cluster, on any card that has clusters

/// Counts a sample, if the bin is one of this cluster's. Bin b is counter b / W of window b % W;
/// of the windows a cluster has as many as blocks, one after the other.
__device__ void count(const cg::cluster_group& cluster, unsigned* s, unsigned bins, unsigned shift,
                      unsigned first_window, unsigned sample) {
  const unsigned rank = (sample & ((1u << shift) - 1)) - first_window;
  if (sample < bins && rank < cluster.num_blocks()) {
    atomicAdd(cluster.map_shared_rank(s, static_cast<int>(rank)) + (sample >> shift), 1u);
  }
}

/// Clusters c, c + P, c + 2P, ... share the samples among them, for pass c % P, where P is
/// W / blocks of a cluster: 1 unless there are more bins than one cluster has room for.
__global__ void __launch_bounds__(block_size)
    count_in_cluster(const unsigned* samples, unsigned* counts, std::int64_t n, unsigned bins,
                     unsigned shift) {
  extern __shared__ unsigned s[];
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x);
  const unsigned size = cluster.num_blocks(), passes = (1u << shift) / size;
  const unsigned first_window = blockIdx.x / size % passes * size;
  const unsigned window = first_window + cluster.block_rank();
  // Shares go to blocks: each block of a cluster reads samples of its own.
  const unsigned share = blockIdx.x / size / passes * size + cluster.block_rank();
  const unsigned shares = gridDim.x / passes;
  const unsigned mine = (bins - window + (1u << shift) - 1) >> shift;  // counters of the window
  for (unsigned i = t; i < mine; i += block_size) s[i] = 0;
  cluster.sync();  // all blocks have begun, and all their counters are 0
  const uint4* const in = reinterpret_cast<const uint4*>(samples);
  const uint4 none = make_uint4(~0u, ~0u, ~0u, ~0u);  // no bin's
  const std::int64_t vectors = n / 4, step = std::int64_t{shares} * block_size;
  for (std::int64_t i = std::int64_t{share} * block_size + t; i < vectors; i += loads * step) {
    uint4 v[loads];
    for (int k = 0; k < loads; ++k) v[k] = i + k * step < vectors ? in[i + k * step] : none;
    for (int k = 0; k < loads; ++k) {
      count(cluster, s, bins, shift, first_window, v[k].x);
      count(cluster, s, bins, shift, first_window, v[k].y);
      count(cluster, s, bins, shift, first_window, v[k].z);
      count(cluster, s, bins, shift, first_window, v[k].w);
    }
  }
  if (share == 0 && t < n % 4) {
    count(cluster, s, bins, shift, first_window, samples[4 * vectors + t]);
  }
  cluster.sync();  // nobody counts in this block any more; it may go after what follows
  for (unsigned i = t; i < mine; i += block_size) {
    if (s[i] != 0) atomicAdd(&counts[(i << shift) + window], s[i]);
  }
}

bool is_power_of_two(std::int64_t x) { return x > 0 && (x & (x - 1)) == 0; }

/// The same with clusters of `size` blocks, a power of two of at most 16 (8 is what every card
/// takes).
cudaError_t histogram_by(const unsigned* samples, unsigned* counts, std::int64_t n,
                         std::int64_t bins, std::int64_t size, cudaStream_t stream) {
  if (n < 0 || n > UINT32_MAX || bins < 0 || bins > 1 << 24 || size > 16 ||
      !is_power_of_two(size) || reinterpret_cast<std::uintptr_t>(samples) % 16 != 0) {
    return cudaErrorInvalidValue;
  }
  if (bins == 0) return cudaSuccess;
  const std::size_t bytes = static_cast<std::size_t>(bins) * sizeof(unsigned);
  if (cudaError_t error = cudaMemsetAsync(counts, 0, bytes, stream)) return error;
  if (n == 0) return cudaSuccess;
  int shift = 0;
  while ((bins + (1 << shift) - 1) >> shift > room || 1 << shift < size) ++shift;
  const int shared = static_cast<int>((bins + (1 << shift) - 1) >> shift) * 4;
  if (cudaError_t error = cudaFuncSetAttribute(
          count_in_cluster, cudaFuncAttributeMaxDynamicSharedMemorySize, shared)) {
    return error;
  }
  if (cudaError_t error = cudaFuncSetAttribute(
          count_in_cluster, cudaFuncAttributeNonPortableClusterSizeAllowed, size > most_blocks)) {
    return error;
  }
  cudaLaunchAttribute shape;
  shape.id = cudaLaunchAttributeClusterDimension;
  shape.val.clusterDim.x = static_cast<unsigned>(size);
  shape.val.clusterDim.y = shape.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(size));
  config.blockDim = dim3(block_size);
  config.dynamicSmemBytes = static_cast<std::size_t>(shared);
  config.stream = stream;
  config.attrs = &shape;
  config.numAttrs = 1;
  int at_once = 0;  // clusters that the GPU runs at the same time
  if (cudaError_t error = cudaOccupancyMaxActiveClusters(&at_once, count_in_cluster, &config)) {
    return error;
  }
  const std::int64_t passes = (1 << shift) / size;
  const std::int64_t needed = (n / 4 + block_size * size - 1) / (block_size * size);
  const std::int64_t most = at_once < passes ? 1 : at_once / passes;
  const std::int64_t shares = needed < 1 ? 1 : needed < most ? needed : most;
  config.gridDim = dim3(static_cast<unsigned>(shares * passes * size));
  return cudaLaunchKernelEx(&config, count_in_cluster, samples, counts, n,
                            static_cast<unsigned>(bins), static_cast<unsigned>(shift));
}

/// counts[b] = how many of the n samples are b, for b < bins; larger samples are not counted.
/// Device pointers, samples at a multiple of 16 bytes. \returns cudaErrorInvalidValue for another
/// pointer, n or bins below 0, n above 2^32 - 1, bins above 2^24, or an error of CUDA.
cudaError_t histogram(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  std::int64_t size = 1;  // the smallest cluster that has room
  while (size < most_blocks && size * room < bins) size *= 2;
  return histogram_by(samples, counts, n, bins, size, stream);
}

}  // namespace remote_atomics
