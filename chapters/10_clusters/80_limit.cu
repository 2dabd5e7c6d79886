// The record: 05, and two things more. Where many lanes of a warp have the same sample, one of them
//   counts for all. And the size of the clusters follows from what counting and adding up take: two
//   blocks, which leave no SM idle, for many samples per bin; eight for few.
// Predicts: a constant input is as fast as a uniform one, and few samples per bin as with 05.
// Still wrong: a constant input has two thirds of a uniform one's rate; and with W windows each SM
//   looks at W samples to count one.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace histogram_limit {

namespace cg = cooperative_groups;

constexpr int block_size = 1024;
constexpr int loads = 4;               // of 16 bytes, on their way at once per thread
constexpr std::int64_t room = 116224;  // counters in the 227 KiB of a block
constexpr unsigned tops = 0x80008000;  // the highest bits of both halves
constexpr int crowd = 6;               // lanes with one sample, from which on one counts for all

/// Where a sample is counted, if it is one of the `mine` bins from `first` on. The first `words`
/// counters are low halves, the others high ones.
struct Place {
  unsigned word, one;  ///< one: 1, 2^16, or 0 for a sample of another window or no bin's
};
__device__ Place place_of(unsigned words, unsigned first, unsigned mine, unsigned sample) {
  const unsigned counter = sample - first;
  const bool high = counter >= words;
  if (counter >= mine) return {threadIdx.x % 32, 0};  // adds 0 anywhere, each lane in its own bank
  return {high ? counter - words : counter, high ? 1u << 16 : 1u};
}

/// Counts a sample so many times. \returns the highest bits that have appeared.
__device__ unsigned count(unsigned* s, Place p, unsigned times) {
  const unsigned add = p.one * times;
  const unsigned before = atomicAdd(&s[times == 0 ? threadIdx.x % 32 : p.word], add);
  return (before + add) & ~before & tops;
}

/// How often a lane counts its sample: of the lanes whose sample is a, and of those whose sample is
/// b, one counts for all.
__device__ unsigned times_of(unsigned sample, unsigned a, unsigned b) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned all_a = __ballot_sync(~0u, sample == a), all_b = __ballot_sync(~0u, sample == b);
  const unsigned mates = sample == a ? all_a : sample == b ? all_b : 1u << lane;
  return mates >> lane == 1 ? __popc(mates) : 0;  // the last of them
}

/// Moves 2^15 to the result if the half's highest bit is set: for one of the threads that ask.
__device__ void empty(unsigned* s, Place p, unsigned* counts, unsigned sample) {
  const unsigned top = p.one << 15;
  if (atomicAnd(&s[p.word], ~top) & top) atomicAdd(&counts[sample], 1u << 15);
}

template <class PlaceOf, class TimesOf>
__device__ void count_four(unsigned* s, unsigned* counts, uint4 v, PlaceOf place_of,
                           TimesOf times_of) {
  const Place x = place_of(v.x), y = place_of(v.y), z = place_of(v.z), w = place_of(v.w);
  unsigned full = count(s, x, times_of(v.x)) | count(s, y, times_of(v.y));
  full |= count(s, z, times_of(v.z)) | count(s, w, times_of(v.w));
  if (full == 0) return;
  empty(s, x, counts, v.x);
  empty(s, y, counts, v.y);
  empty(s, z, counts, v.z);
  empty(s, w, counts, v.w);
}

/// Clusters c, c + W, c + 2W, ... share the samples among their blocks, for window c % W of W
/// windows, `per` bins each. No half overflows into the other one: between two barriers a block
/// counts 1024 x 16 = 2^14 samples, and a counter whose highest bit appears is emptied before the
/// next barrier.
__global__ void __launch_bounds__(block_size, 1)
    count_window(const unsigned* samples, unsigned* counts, std::int64_t n, unsigned bins,
                 unsigned windows, unsigned per, unsigned words) {
  extern __shared__ unsigned s[];
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x);
  const unsigned size = cluster.num_blocks(), rank = cluster.block_rank();
  const unsigned cluster_index = blockIdx.x / size;
  const unsigned first = cluster_index % windows * per, mine = min(per, bins - first);
  const unsigned share = cluster_index / windows * size + rank, shares = gridDim.x / windows;
  for (unsigned i = t; i < words; i += block_size) s[i] = 0;
  const uint4* const in = reinterpret_cast<const uint4*>(samples);
  const uint4 none = make_uint4(~0u, ~0u, ~0u, ~0u);  // no bin's
  const std::int64_t vectors = n / 4, step = std::int64_t{shares} * block_size;
  std::int64_t i = std::int64_t{share} * block_size + t;
  uint4 v[loads];
  for (int k = 0; k < loads; ++k) v[k] = i + k * step < vectors ? in[i + k * step] : none;
  // All threads of the block go round equally often: i - t is the same for all of them.
  for (; i - t < vectors; i += loads * step) {
    const auto place = [&](unsigned sample) { return place_of(words, first, mine, sample); };
    uint4 next[loads];  // on their way while this round is counted: the barrier stops all warps
    for (int k = 0; k < loads; ++k) {
      const std::int64_t j = i + (loads + k) * step;
      next[k] = j < vectors ? in[j] : none;
    }
    __syncthreads();  // counters are 0, or those that were full have been emptied
    const unsigned a = __shfl_sync(~0u, v[0].x, 0), b = __shfl_sync(~0u, v[0].x, 16);
    if (__popc(__ballot_sync(~0u, v[0].x == a)) >= crowd ||
        __popc(__ballot_sync(~0u, v[0].x == b)) >= crowd) {
      for (int k = 0; k < loads; ++k) {
        count_four(s, counts, v[k], place, [&](unsigned x) { return times_of(x, a, b); });
      }
    } else {
      for (int k = 0; k < loads; ++k) {
        count_four(s, counts, v[k], place, [](unsigned) { return 1u; });
      }
    }
    for (int k = 0; k < loads; ++k) v[k] = next[k];
  }
  __syncthreads();
  if (share == 0 && t < n % 4) {
    const unsigned sample = samples[4 * vectors + t];
    count(s, place_of(words, first, mine, sample), 1);
  }
  cluster.sync();  // all blocks have counted
  for (unsigned i = rank * block_size + t; i < words; i += size * block_size) {
    unsigned low = 0, high = 0;
#pragma unroll 4
    for (unsigned r = 0; r < size; ++r) {
      const unsigned both = cluster.map_shared_rank(s, static_cast<int>((rank + r) % size))[i];
      low += both & 0xffffu, high += both >> 16;
    }
    if (low != 0) atomicAdd(&counts[first + i], low);
    if (high != 0) atomicAdd(&counts[first + i + words], high);
  }
  cluster.sync();  // nobody leaves while another block reads its counters
}

/// A launch by clusters of some size.
struct Launch {
  cudaLaunchAttribute size;
  cudaLaunchConfig_t config;
  std::int64_t windows, per, words;
  double cost;  ///< in additions of the L2 cache
};

/// Fills in a launch by clusters of `size` blocks; config.attrs is left to who launches.
cudaError_t prepare(std::int64_t n, std::int64_t bins, int size, cudaStream_t stream,
                    Launch* launch) {
  const std::int64_t windows = (bins + room - 1) / room, per = (bins + windows - 1) / windows;
  const std::int64_t half = (per + 1) / 2, words = half < 32 ? 32 : half;
  const int shared = static_cast<int>(words) * 4;
  *launch = {};
  launch->windows = windows, launch->per = per, launch->words = words;
  launch->size.id = cudaLaunchAttributeClusterDimension;
  launch->size.val.clusterDim.x = static_cast<unsigned>(size);
  launch->size.val.clusterDim.y = launch->size.val.clusterDim.z = 1;
  cudaLaunchConfig_t& config = launch->config;
  config.gridDim = dim3(static_cast<unsigned>(size));
  config.blockDim = dim3(block_size);
  config.dynamicSmemBytes = static_cast<std::size_t>(shared);
  config.stream = stream;
  config.attrs = &launch->size;
  config.numAttrs = 1;
  if (cudaError_t error =
          cudaFuncSetAttribute(count_window, cudaFuncAttributeMaxDynamicSharedMemorySize, shared)) {
    return error;
  }
  int at_once = 0;  // clusters that the GPU runs at the same time
  if (cudaError_t error = cudaOccupancyMaxActiveClusters(&at_once, count_window, &config)) {
    return error;
  }
  const std::int64_t needed = (n / 4 + block_size * size - 1) / (block_size * size);
  const std::int64_t most = at_once < windows ? 1 : at_once / windows;
  const std::int64_t clusters = needed < 1 ? 1 : needed < most ? needed : most;
  const std::int64_t blocks = clusters * windows * size;
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  launch->cost =
      100.0 * static_cast<double>(n) * static_cast<double>(windows) / static_cast<double>(blocks) +
      static_cast<double>(bins) * static_cast<double>(clusters);
  return cudaSuccess;
}

/// counts[b] = how many of the n samples are b, for b < bins; larger samples are not counted.
/// Device pointers, samples at a multiple of 16 bytes. \returns cudaErrorInvalidValue for another
/// pointer, n or bins below 0, n above 2^32 - 1, bins above 2^24, or an error of CUDA.
cudaError_t histogram(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  if (n < 0 || n > UINT32_MAX || bins < 0 || bins > 1 << 24 ||
      reinterpret_cast<std::uintptr_t>(samples) % 16 != 0) {
    return cudaErrorInvalidValue;
  }
  if (bins == 0) return cudaSuccess;
  const std::size_t bytes = static_cast<std::size_t>(bins) * sizeof(unsigned);
  if (cudaError_t error = cudaMemsetAsync(counts, 0, bytes, stream)) return error;
  if (n == 0) return cudaSuccess;
  // Larger clusters make fewer additions in the L2 cache, and leave more SMs idle. A block counts a
  // sample in the time of some 100 of these additions (on an H200).
  Launch best;
  if (cudaError_t error = prepare(n, bins, 2, stream, &best)) return error;
  for (const int size : {4, 8}) {
    Launch launch;
    if (cudaError_t error = prepare(n, bins, size, stream, &launch)) return error;
    if (launch.cost < best.cost) best = launch;
  }
  best.config.attrs = &best.size;
  return cudaLaunchKernelEx(&best.config, count_window, samples, counts, n,
                            static_cast<unsigned>(bins), static_cast<unsigned>(best.windows),
                            static_cast<unsigned>(best.per), static_cast<unsigned>(best.words));
}

}  // namespace histogram_limit
