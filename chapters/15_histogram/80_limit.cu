// The fastest version: samples of one, two or four bytes, any number of bins. It takes one of three
//   ways:
//   - alone: one block counts in shared memory and stores. Nothing is cleared before, nothing
//   added.
//   - private: 03's counters, 07's windows, 06's copies for bytes.
//   - global: additions in the L2 cache; lanes and neighbours that are equal are added up before.
// Still wrong: with W windows an SM examines W samples to count one.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "launch.hpp"

namespace limit {

constexpr int block_size = 1024;
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

/// Share `share` of `shares` of the samples: calls count_vector() for 16 bytes, `loads` of them in
/// flight per thread, and count(sample) for the rest. `once`: no other block reads these samples,
/// so they need not stay in the caches. `together`: all threads of the block call count_vector().
template <class T, int loads, bool once, bool together, class CountVector, class Count>
__device__ void for_share(const T* samples, std::int64_t n, unsigned share, unsigned shares,
                          CountVector count_vector, Count count) {
  const uint4* const in = reinterpret_cast<const uint4*>(samples);
  const int t = static_cast<int>(threadIdx.x);
  const std::int64_t all = n / per_vector<T>, step = std::int64_t{shares} * block_size;
  const std::int64_t end = together ? all - (block_size - 1 - t) : all;
  std::int64_t i = std::int64_t{share} * block_size + t;
  for (; i + (loads - 1) * step < end; i += loads * step) {
    uint4 v[loads];
#pragma unroll
    for (int k = 0; k < loads; ++k) v[k] = once ? __ldcs(&in[i + k * step]) : in[i + k * step];
#pragma unroll
    for (int k = 0; k < loads; ++k) count_vector(v[k]);
  }
  for (; i < end; i += step) count_vector(in[i]);
  if (i < all) for_each<T>(in[i], count);
  if (share == 0 && t < n % per_vector<T>) count(samples[per_vector<T> * all + t]);
}

/// Private counters for one of `windows` windows, of `per` bins each: block b counts for window b %
/// windows, and the blocks of a window share the samples. A lane counts in copy lane % copies of a
/// counter; the copies of a counter are neighbours. With copies, every sample has a counter. Two
/// blocks per SM: there is one window. `alone`: one block, whose counters are the result.
template <class T, int copies, int loads, int per_sm, bool alone>
__global__ void __launch_bounds__(block_size, per_sm)
    count_private(const T* samples, unsigned* counts, std::int64_t n, unsigned bins,
                  unsigned windows, unsigned per) {
  extern __shared__ unsigned counters[];
  const int t = static_cast<int>(threadIdx.x);
  constexpr bool one_window = per_sm == 2;
  const unsigned first = one_window ? 0 : blockIdx.x % windows * per;
  const unsigned size = one_window ? bins : min(per, bins - first);
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
  for_share<T, loads, one_window, false>(
      samples, n, one_window ? blockIdx.x : blockIdx.x / windows,
      one_window ? gridDim.x : gridDim.x / windows, [=](uint4 v) { for_each<T>(v, count); }, count);
  __syncthreads();
  for (unsigned b = t; b < size; b += block_size) {
    unsigned sum = 0;
#pragma unroll 4
    for (int k = 0; k < copies; ++k) sum += counters[copies * b + (t + k) % copies];
    if (alone) {
      counts[first + b] = sum;
    } else if (sum != 0) {
      atomicAdd(&counts[first + b], sum);
    }
  }
}

/// Additions in the L2 cache: one for all lanes where the whole warp has one sample, else one for
/// each run of equal samples in a thread's vector.
template <class T>
__global__ void __launch_bounds__(block_size, 1)
    count_global(const T* samples, unsigned* counts, std::int64_t n, unsigned bins) {
  const auto add = [=](unsigned sample, unsigned times) {
    if (sample < bins) atomicAdd(&counts[sample], times);
  };
  const auto count_vector = [=](uint4 v) {
    const unsigned a = __shfl_sync(~0u, v.x, 0), first = static_cast<T>(a);
    const bool one_word = v.x == a && v.y == a && v.z == a && v.w == a;
    if (__all_sync(~0u, one_word && a == first * (~0u / static_cast<T>(~T{0})))) {
      if (threadIdx.x % 32 == 0) add(first, 32 * per_vector<T>);
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
  for_share<T, 4, true, true>(samples, n, blockIdx.x, gridDim.x, count_vector,
                              [=](unsigned sample) { add(sample, 1); });
}

enum Way { any, alone, private_counters, global_counters };

/// The way that was fastest, over many sizes and kinds of input on an H100 (study `ways`).
Way best_way(std::int64_t n, std::int64_t bins) {
  if (bins > 1 << 14 && n <= 1 << 12) return global_counters;
  if (bins <= room && n <= 1 << 14) return alone;
  return bins <= 20 * room ? private_counters : global_counters;
}

template <class T, int copies, int loads, int per_sm, bool alone>
cudaError_t count_in_windows(const T* samples, unsigned* counts, std::int64_t n, std::int64_t bins,
                             cudaStream_t stream) {
  const std::int64_t windows = (bins + room - 1) / room;
  const std::int64_t per = copies > 1 ? 256 : (bins + windows - 1) / windows;
  const std::size_t bytes = static_cast<std::size_t>(per) * copies * sizeof(unsigned);
  const auto kernel = count_private<T, copies, loads, per_sm, alone>;
  std::int64_t resident = 0;
  if (cudaError_t error = launch::resident_blocks(kernel, block_size, bytes, &resident)) {
    return error;
  }
  // More blocks count faster, but each adds all its counters to the result. A block counts a sample
  // in the time of some hundred of these additions, which all blocks share.
  const auto worth = static_cast<std::int64_t>(
      std::sqrt(100.0 * static_cast<double>(n) / static_cast<double>(bins)));
  std::int64_t shares = launch::blocks_for(n / per_vector<T>, block_size, resident / windows);
  if (shares > worth) shares = worth < 1 ? 1 : worth;
  if (alone) shares = 1;
  kernel<<<static_cast<unsigned>(shares * windows), block_size, bytes, stream>>>(
      samples, counts, n, static_cast<unsigned>(bins), static_cast<unsigned>(windows),
      static_cast<unsigned>(per));
  return cudaGetLastError();
}

template <class T>
cudaError_t run(const T* samples, unsigned* counts, std::int64_t n, std::int64_t bins, Way way,
                cudaStream_t stream) {
  if (n < 0 || n > UINT32_MAX || bins < 0 || bins > 1 << 24 || !launch::aligned(samples)) {
    return cudaErrorInvalidValue;
  }
  if (bins == 0) return cudaSuccess;
  if (way == any) way = best_way(n, bins);
  if (way == alone) {
    if (bins > room) return cudaErrorInvalidValue;
    return count_in_windows<T, 1, 4, 1, true>(samples, counts, n, bins, stream);
  }
  const std::size_t bytes = static_cast<std::size_t>(bins) * sizeof(unsigned);
  if (cudaError_t error = cudaMemsetAsync(counts, 0, bytes, stream)) return error;
  if (n == 0) return cudaSuccess;
  if (way == private_counters) {
    if constexpr (sizeof(T) == 1) {
      if (bins <= 256 && n >= 1 << 22) {
        return count_in_windows<T, 32, 2, 2, false>(samples, counts, n, bins, stream);
      }
    }
    if (bins <= 1 << 14) {
      return count_in_windows<T, 1, 4, 2, false>(samples, counts, n, bins, stream);
    }
    return count_in_windows<T, 1, 8, 1, false>(samples, counts, n, bins, stream);
  }
  std::int64_t resident = 0;
  if (cudaError_t error = launch::resident_blocks(count_global<T>, block_size, 0, &resident)) {
    return error;
  }
  count_global<T>
      <<<launch::blocks_for(n / per_vector<T>, block_size, resident), block_size, 0, stream>>>(
          samples, counts, n, static_cast<unsigned>(bins));
  return cudaGetLastError();
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

/// As histogram(), always by private counters, or always by additions in the L2 cache.
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
