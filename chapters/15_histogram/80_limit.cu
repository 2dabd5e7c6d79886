// The fastest version: samples of one, two or four bytes, any number of bins. It takes one of four
//   ways:
//   - alone: one block counts in shared memory and stores its counters.
//   - few: a short kernel, whose blocks add their counters to the result.
//   - private: 03's counters, 07's windows, 06's copies for bytes.
//   - global: additions in the L2 cache; lanes and neighbours that are equal are added up before.
// Still wrong: with W windows an SM examines W samples to count one.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "launch.hpp"

namespace limit {

constexpr std::int64_t room = 58112;  // counters in the 227 KiB of a block

template <class T>
constexpr int per_vector = 16 / static_cast<int>(sizeof(T));

/// Calls count(sample) for all samples of 16 bytes, in their order.
template <class T, class Count>
__device__ void for_each(uint4 v, Count count) {
  const unsigned word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int k = 0; k < per_vector<T>; ++k) {
    constexpr int per_word = per_vector<T> / 4, bits = 8 * static_cast<int>(sizeof(T));
    const unsigned shifted = word[k / per_word] >> (k % per_word * bits);
    count(static_cast<unsigned>(static_cast<T>(shifted)));
  }
}

/// Whether all samples of the warp's vectors are equal; all lanes ask. *sample: the one of lane 0.
template <class T>
__device__ bool all_equal(uint4 v, unsigned* sample) {
  const unsigned word = __shfl_sync(~0u, v.x, 0);
  *sample = static_cast<T>(word);
  const bool mine = v.x == word && v.y == word && v.z == word && v.w == word;
  constexpr unsigned repeat = sizeof(T) == 1 ? 0x01010101 : sizeof(T) == 2 ? 0x00010001 : 1;
  return __all_sync(~0u, mine && word == *sample * repeat);
}

/// Share `share` of `shares` of the samples: calls count_vector() for 16 bytes and count(sample)
/// for the rest. Each thread has the next `loads` vectors in flight while it counts. `together`:
/// all threads of the block call count_vector().
template <class T, int block_size, int loads, bool together, class CountVector, class Count>
__device__ void for_share(const T* samples, std::int64_t n, unsigned share, unsigned shares,
                          CountVector count_vector, Count count) {
  const uint4* const in = reinterpret_cast<const uint4*>(samples);
  const int t = static_cast<int>(threadIdx.x);
  const std::int64_t all = n / per_vector<T>, groups = all / block_size;
  const std::int64_t end = together ? groups * block_size : all;
  const std::int64_t step = std::int64_t{shares} * block_size, round = loads * step;
  std::int64_t i = std::int64_t{share} * block_size + t;
  uint4 v[loads], next[loads];
  bool whole = i + round - step < end;  // all loads of this round exist
  for (int k = 0; k < loads; ++k) {
    if (whole) v[k] = in[i + k * step];
  }
  while (whole) {
    whole = i + 2 * round - step < end;
    for (int k = 0; k < loads; ++k) {
      if (whole) next[k] = in[i + round + k * step];
    }
    for (int k = 0; k < loads; ++k) count_vector(v[k]);
    for (int k = 0; k < loads; ++k) v[k] = next[k];
    i += round;
  }
  for (int k = 0; k < loads; ++k) {
    if (i + k * step < end) v[k] = in[i + k * step];
  }
  for (int k = 0; k < loads; ++k) {
    if (i + k * step < end) count_vector(v[k]);
  }
  if (together && share == groups % shares && end + t < all) for_each<T>(in[end + t], count);
  if (share == 0 && t < n % per_vector<T>) count(samples[per_vector<T> * all + t]);
}

/// Counters per block of count_few(): one for each byte, so that no byte is compared with `bins`.
template <class T>
__host__ __device__ constexpr unsigned few_counters(unsigned bins) {
  return sizeof(T) == 1 && bins < 256 ? 256 : bins;
}

/// Few samples: what counts is the time from one step to the next. The first vector is on its way
/// before the counters are zero, and the code is short, as instructions are loaded too. `alone`:
/// one block, whose counters are the result.
template <class T, int block_size, bool alone>
__global__ void __launch_bounds__(block_size)
    count_few(const T* samples, unsigned* counts, std::int64_t n, unsigned bins) {
  extern __shared__ unsigned counters[];
  const int t = static_cast<int>(threadIdx.x);
  const uint4* const in = reinterpret_cast<const uint4*>(samples);
  const std::int64_t all = n / per_vector<T>, step = std::int64_t{gridDim.x} * block_size;
  std::int64_t i = std::int64_t{blockIdx.x} * block_size + t;
  uint4 v = {};
  if (i < all) v = in[i];
  for (unsigned b = t; b < few_counters<T>(bins); b += block_size) counters[b] = 0;
  __syncthreads();
  const auto count = [=](unsigned sample) {
    if (sizeof(T) == 1 || sample < bins) atomicAdd(&counters[sample], 1u);
  };
  for (; i < all; i += step) {
    uint4 next = {};
    if (i + step < all) next = in[i + step];
    for_each<T>(v, count);
    v = next;
  }
  if (blockIdx.x == 0 && t < n % per_vector<T>) count(samples[per_vector<T> * all + t]);
  __syncthreads();
  if (!alone) cudaGridDependencySynchronize();  // the result is zero
  for (unsigned b = t; b < bins; b += block_size) {
    if (alone) {
      counts[b] = counters[b];
    } else if (counters[b] != 0) {
      atomicAdd(&counts[b], counters[b]);
    }
  }
}

/// Private counters for one of `windows` windows, of `per` bins each: block b counts for window b %
/// windows, and the blocks of a window share the samples. A lane counts in copy lane % copies of a
/// counter; the copies of a counter are neighbours. With copies, every sample has a counter.
template <class T, int block_size, int per_sm, int copies, int loads>
__global__ void __launch_bounds__(block_size, per_sm)
    count_private(const T* samples, unsigned* counts, std::int64_t n, unsigned bins,
                  unsigned windows, unsigned per) {
  extern __shared__ unsigned counters[];
  const int t = static_cast<int>(threadIdx.x);
  const unsigned first = blockIdx.x % windows * per, size = min(per, bins - first);
  for (unsigned c = t; c < copies * per; c += block_size) counters[c] = 0;
  unsigned* const mine = &counters[t % copies];
  __syncthreads();
  const auto count = [=](unsigned sample) {
    if (copies > 1) {
      atomicAdd(&mine[copies * sample], 1u);
    } else if (sample - first < size) {
      atomicAdd(&mine[sample - first], 1u);
    }
  };
  const auto count_vector = [=](uint4 v) {
    unsigned sample;
    if (sizeof(T) == 1 && all_equal<T>(v, &sample)) {
      if (t % 32 == 0 && sample - first < size) {
        atomicAdd(&mine[copies * (sample - first)], 32u * per_vector<T>);
      }
      return;
    }
    for_each<T>(v, count);
  };
  for_share<T, block_size, loads, sizeof(T) == 1>(samples, n, blockIdx.x / windows,
                                                  gridDim.x / windows, count_vector, count);
  __syncthreads();
  cudaGridDependencySynchronize();  // the result is zero
  for (unsigned b = t; b < size; b += block_size) {
    unsigned sum = 0;
#pragma unroll 4
    for (int k = 0; k < copies; ++k) sum += counters[copies * b + (t + k) % copies];
    if (sum != 0) atomicAdd(&counts[first + b], sum);
  }
}

/// Clears the result. The next kernel may start at once; it waits before it adds.
__global__ void __launch_bounds__(1024) clear(unsigned* counts, unsigned bins) {
  cudaTriggerProgrammaticLaunchCompletion();
  for (unsigned b = blockIdx.x * 1024 + threadIdx.x; b < bins; b += gridDim.x * 1024) counts[b] = 0;
}

/// Additions in the L2 cache: one for all lanes where the whole warp has one sample, else one for
/// each run of equal samples in a thread's vector.
template <class T, int block_size>
__global__ void __launch_bounds__(block_size, 1)
    count_global(const T* samples, unsigned* counts, std::int64_t n, unsigned bins) {
  cudaGridDependencySynchronize();  // the result is zero
  const auto add = [=](unsigned sample, unsigned times) {
    if (sample < bins) atomicAdd(&counts[sample], times);
  };
  const auto count_vector = [=](uint4 v) {
    unsigned sample;
    if (all_equal<T>(v, &sample)) {
      if (threadIdx.x % 32 == 0) add(sample, 32 * per_vector<T>);
      return;
    }
    unsigned before = static_cast<T>(v.x), times = 0;
    for_each<T>(v, [&](unsigned sample) {
      if (sample != before) {
        add(before, times);
        times = 0;
      }
      before = sample;
      ++times;
    });
    add(before, times);
  };
  for_share<T, block_size, 4, true>(samples, n, blockIdx.x, gridDim.x, count_vector,
                                    [=](unsigned sample) { add(sample, 1); });
}

enum Way { any, alone, few, private_counters, global_counters };

/// The way that was fastest, over many sizes and kinds of input on an H100 (study `ways`).
template <class T>
Way best_way(std::int64_t n, std::int64_t bins) {
  if (bins > 1 << 14 && n <= 1 << 12) return global_counters;
  if (bins <= room && n <= (bins < 1 << 13 ? 1 << 13 : 1 << 14)) return alone;
  if (bins <= 1 << 12 && n <= (sizeof(T) == 1 ? 1 << 22 : 1 << 21)) return few;
  return bins <= 20 * room ? private_counters : global_counters;
}

/// A launch whose blocks may start before the kernel in front of them, clear(), has ended.
struct AfterClear {
  cudaLaunchAttribute attribute = {};
  cudaLaunchConfig_t config = {};
  AfterClear(std::int64_t blocks, int block_size, std::size_t bytes, cudaStream_t stream) {
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(static_cast<unsigned>(block_size));
    config.dynamicSmemBytes = bytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
  }
  AfterClear(const AfterClear&) = delete;  // config points into it
};

/// More blocks count faster, but each adds all its counters to the result. A block counts a sample
/// in the time of some hundred of these additions, which all blocks share.
std::int64_t worth(std::int64_t n, std::int64_t bins) {
  const double blocks = std::sqrt(100.0 * static_cast<double>(n) / static_cast<double>(bins));
  return blocks < 1 ? 1 : static_cast<std::int64_t>(blocks);
}

template <class T>
cudaError_t launch_few(const T* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                       bool alone, cudaStream_t stream) {
  const int block_size = alone ? 1024 : 384;
  const std::size_t bytes = few_counters<T>(static_cast<unsigned>(bins)) * sizeof(unsigned);
  const auto kernel = alone ? count_few<T, 1024, true> : count_few<T, 384, false>;
  std::int64_t resident = 0;
  if (cudaError_t error = launch::resident_blocks(kernel, block_size, bytes, &resident)) {
    return error;
  }
  if (alone) {
    kernel<<<1, block_size, bytes, stream>>>(samples, counts, n, static_cast<unsigned>(bins));
    return cudaGetLastError();
  }
  int device = 0, sms = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device)) {
    return error;
  }
  const std::int64_t most = sms < worth(n, bins) ? sms : worth(n, bins);
  const AfterClear launch(launch::blocks_for(n / per_vector<T>, block_size, most), block_size,
                          bytes, stream);
  return cudaLaunchKernelEx(&launch.config, kernel, samples, counts, n,
                            static_cast<unsigned>(bins));
}

template <class T, int block_size, int per_sm, int copies, int loads>
cudaError_t count_in_windows(const T* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                             cudaStream_t stream) {
  const std::int64_t windows = (bins + room - 1) / room;
  const std::int64_t per = copies > 1 ? 256 : (bins + windows - 1) / windows;
  const std::size_t bytes = static_cast<std::size_t>(per) * copies * sizeof(unsigned);
  const auto kernel = count_private<T, block_size, per_sm, copies, loads>;
  std::int64_t resident = 0;
  if (cudaError_t error = launch::resident_blocks(kernel, block_size, bytes, &resident)) {
    return error;
  }
  std::int64_t shares = launch::blocks_for(n / per_vector<T>, block_size, resident / windows);
  if (shares > worth(n, bins)) shares = worth(n, bins);
  const AfterClear launch(shares * windows, block_size, bytes, stream);
  return cudaLaunchKernelEx(&launch.config, kernel, samples, counts, n, static_cast<unsigned>(bins),
                            static_cast<unsigned>(windows), static_cast<unsigned>(per));
}

template <class T>
cudaError_t run(const T* samples, unsigned* counts, std::int64_t n, std::int64_t bins, Way way,
                cudaStream_t stream) {
  if (n < 0 || n > UINT32_MAX || bins < 0 || bins > 1 << 24 || !launch::aligned(samples)) {
    return cudaErrorInvalidValue;
  }
  if (bins == 0) return cudaSuccess;
  if (way == any) way = best_way<T>(n, bins);
  if ((way == alone || way == few) && bins > room) return cudaErrorInvalidValue;
  if (way == alone) return launch_few(samples, counts, n, bins, true, stream);
  clear<<<launch::blocks_for(bins, 4096, 1024), 1024, 0, stream>>>(counts,
                                                                   static_cast<unsigned>(bins));
  if (cudaError_t error = cudaGetLastError()) return error;
  if (n == 0) return cudaSuccess;
  if (way == few) return launch_few(samples, counts, n, bins, false, stream);
  if (way == private_counters) {
    if constexpr (sizeof(T) == 1) {  // copies, so that lanes do not wait for each other
      bins = bins < 256 ? bins : 256;
      return count_in_windows<T, 1024, 1, 32, 4>(samples, counts, n, bins, stream);
    } else {
      if (bins <= 1 << 14 && n >= 1 << 23) {
        return count_in_windows<T, 1024, 2, 1, 2>(samples, counts, n, bins, stream);
      }
      return count_in_windows<T, 1024, 1, 1, 4>(samples, counts, n, bins, stream);
    }
  }
  std::int64_t resident = 0;
  const auto kernel = count_global<T, 1024>;
  if (cudaError_t error = launch::resident_blocks(kernel, 1024, 0, &resident)) return error;
  const AfterClear launch(launch::blocks_for(n / per_vector<T>, 1024, resident), 1024, 0, stream);
  return cudaLaunchKernelEx(&launch.config, kernel, samples, counts, n,
                            static_cast<unsigned>(bins));
}

/// counts[b] = how many of the n samples are b, for b < bins; larger samples are not counted.
/// Device pointers, samples at a multiple of 16 bytes. \returns cudaErrorInvalidValue for another
/// pointer, n or bins below 0, n above 2^32 - 1, bins above 2^24; or an error of CUDA. Needs 227
/// KiB of shared memory per block for more than 58,112 bins.
cudaError_t histogram(const std::uint8_t* samples, unsigned* counts, std::int64_t n,
                      std::int64_t bins, cudaStream_t stream) {
  return run(samples, counts, n, bins, any, stream);
}
cudaError_t histogram(const std::uint16_t* samples, unsigned* counts, std::int64_t n,
                      std::int64_t bins, cudaStream_t stream) {
  return run(samples, counts, n, bins, any, stream);
}
cudaError_t histogram(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  return run(samples, counts, n, bins, any, stream);
}

/// As histogram(), always one way.
cudaError_t by_few(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                   cudaStream_t stream) {
  return run(samples, counts, n, bins, few, stream);
}
cudaError_t by_private(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                       cudaStream_t stream) {
  return run(samples, counts, n, bins, private_counters, stream);
}
cudaError_t by_global(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                      cudaStream_t stream) {
  return run(samples, counts, n, bins, global_counters, stream);
}
cudaError_t by_alone(const unsigned* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                     cudaStream_t stream) {
  return run(samples, counts, n, bins, alone, stream);
}

}  // namespace limit
