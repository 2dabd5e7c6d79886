// Idea: 02 with the multicast of 05. The windows of the bins lie in the blocks of one cluster, and
//   every tile of samples arrives in all of them. Each block counts at home what belongs to its
//   window, and nothing else leaves an SM.
// Predicts: the memory and the L2 cache send each sample once, whatever the number of windows. What
//   is left is looking: with W windows an SM looks at W samples to count one.
// Still wrong: from 8 windows on, looking costs more than fetching.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

namespace histogram_multicast {

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

constexpr int consumers = 512;
constexpr int block_size = 32 + consumers;  // the first warp produces
constexpr int tile = 4096;                  // samples
constexpr int tile_bytes = tile * static_cast<int>(sizeof(unsigned));
constexpr int stages = 4;
constexpr std::int64_t room = 41600;  // counters in 227 KiB less the tiles
constexpr int most_blocks = 8;        // of a cluster, on any card that has clusters

__device__ void wait(std::uint64_t* barrier, unsigned parity) {
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, barrier, parity)) {
  }
}

/// A bulk copy to the same place in all blocks of the cluster whose bits are set; each of them
/// counts the bytes at its own barrier, at the same place as this block's. PTX ISA,
/// "cp.async.bulk"; <cuda/ptx> has it for 90a, 100a, ... only.
__device__ void copy_to_all(void* to, const void* from, int bytes, std::uint64_t* barrier,
                            std::uint16_t blocks) {
#ifdef SIMT
  ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, to, from, bytes, barrier, blocks);
#else
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1], %2, [%3], %4;"
      :
      : "r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
        "l"(__cvta_generic_to_global(from)), "r"(bytes),
        "r"(static_cast<unsigned>(__cvta_generic_to_shared(barrier))), "h"(blocks)
      : "memory");
#endif
}

/// Counts a sample, if it belongs to the window. Bin b is counter b / W of window b % W, where W is
/// the number of windows, 2^shift.
__device__ void count(unsigned* s, unsigned bins, unsigned shift, unsigned window,
                      unsigned sample) {
  if (sample < bins && (sample & ((1u << shift) - 1)) == window) atomicAdd(&s[sample >> shift], 1u);
}

/// Clusters c, c + P, c + 2P, ... share the tiles among them, for pass c % P, where P is
/// W / blocks of a cluster: 1 unless there are more bins than one cluster has room for.
__global__ void __launch_bounds__(block_size)
    count_in_cluster(const unsigned* samples, unsigned* counts, std::int64_t n, unsigned bins,
                     unsigned shift) {
  extern __shared__ __align__(128) unsigned s[];  // the tiles, then the counters
  __shared__ std::uint64_t full[stages], empty[stages];
  unsigned* const counters = s + stages * tile;
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x);
  const int size = static_cast<int>(cluster.num_blocks());
  const int rank = static_cast<int>(cluster.block_rank());
  const unsigned passes = (1u << shift) / size, shares = gridDim.x / size / passes;
  const unsigned share = blockIdx.x / size / passes;
  const unsigned window = blockIdx.x / size % passes * size + rank;
  const unsigned mine = (bins - window + (1u << shift) - 1) >> shift;  // counters of the window
  for (unsigned i = t; i < mine; i += block_size) counters[i] = 0;
  if (t == 0) {
    for (int stage = 0; stage < stages; ++stage) {
      ptx::mbarrier_init(&full[stage], 1);  // this block's producer, and bytes from all
      ptx::mbarrier_init(&empty[stage], static_cast<unsigned>(size * consumers / 32));
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  cluster.sync();  // nobody reaches for a barrier before it is initialised
  const std::int64_t tiles = n / tile;
  int stage = 0;
  unsigned round = 0;  // its lowest bit is the parity of `full`
  if (t < 32) {
    const int part = tile / size;
    const std::uint16_t all = static_cast<std::uint16_t>((1u << size) - 1);
    cg::invoke_one(cg::coalesced_threads(), [&] {
      for (std::int64_t i = share; i < tiles; i += shares) {
        wait(&empty[stage], (round & 1) ^ 1);  // all blocks have read what was there
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                       &full[stage], tile_bytes);
        copy_to_all(s + stage * tile + rank * part, samples + i * tile + rank * part,
                    tile_bytes / size, &full[stage], all);
        if (++stage == stages) stage = 0, ++round;
      }
    });
  } else {
    const int lane = t % 32;
    for (std::int64_t i = share; i < tiles; i += shares) {
      wait(&full[stage], round & 1);
      const uint4* const from = reinterpret_cast<const uint4*>(s + stage * tile);
      for (int k = t - 32; k < tile / 4; k += consumers) {
        const uint4 v = from[k];
        count(counters, bins, shift, window, v.x);
        count(counters, bins, shift, window, v.y);
        count(counters, bins, shift, window, v.z);
        count(counters, bins, shift, window, v.w);
      }
      ptx::fence_proxy_async(ptx::space_shared);  // copies overwrite what this thread has read
      __syncwarp();                               // all lanes have read
      if (lane < size) {                          // every block writes here: each must know
        ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                             cluster.map_shared_rank(&empty[stage], lane));
      }
      if (++stage == stages) stage = 0, ++round;
    }
    if (share == 0) {
      for (std::int64_t i = tiles * tile + t - 32; i < n; i += consumers) {
        count(counters, bins, shift, window, samples[i]);
      }
    }
  }
  cluster.sync();  // nobody leaves before all copies and arrivals have come to it
  for (unsigned i = t; i < mine; i += block_size) {
    if (counters[i] != 0) atomicAdd(&counts[(i << shift) + window], counters[i]);
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
  const int shared = stages * tile_bytes + static_cast<int>((bins + (1 << shift) - 1) >> shift) * 4;
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
  const std::int64_t passes = (1 << shift) / size, needed = n / tile;
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

}  // namespace histogram_multicast
