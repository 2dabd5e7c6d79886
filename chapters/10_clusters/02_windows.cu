// Idea: count in shared memory. A block has room for 58,111 counters, so the bins are cut into
//   windows, and a block counts for one window: half of the blocks look at all samples and count
//   the lower half of 75,000 bins, the other half look again and count the upper one.
// Predicts: additions in shared memory, 32 banks side by side, cost little. With W windows each
//   sample enters W SMs: the L2 cache sends W times the bytes, and each SM looks at W samples to
//   count one.
// Still wrong: just that. An SM looks at what it does not count.
#include <cuda_runtime.h>

#include <cstdint>

namespace windows {

constexpr int block_size = 1024;
constexpr int loads = 4;              // of 16 bytes, on their way at once per thread
constexpr std::int64_t room = 58111;  // counters in the 227 KiB of a block, and one more

/// Counts a sample, if it is one of the `mine` bins from `first` on. The others are counted, too,
/// in a counter behind these that nobody reads: no branch, and lanes that add 1 to the same counter
/// are one addition. (What is below `first` is very large without a sign.)
__device__ void count(unsigned* s, unsigned first, unsigned mine, unsigned sample) {
  atomicAdd(&s[min(sample - first, mine)], 1u);
}

/// Blocks b, b + W, b + 2W, ... share the samples among them, for window b % W of W windows, `per`
/// bins each.
__global__ void __launch_bounds__(block_size, 1)
    count_window(const unsigned* samples, unsigned* counts, std::int64_t n, unsigned bins,
                 unsigned windows, unsigned per) {
  extern __shared__ unsigned s[];
  const int t = static_cast<int>(threadIdx.x);
  const unsigned first = blockIdx.x % windows * per, mine = min(per, bins - first);
  const unsigned share = blockIdx.x / windows, shares = gridDim.x / windows;
  for (unsigned i = t; i <= mine; i += block_size) s[i] = 0;
  __syncthreads();
  const uint4* const in = reinterpret_cast<const uint4*>(samples);
  const uint4 none = make_uint4(~0u, ~0u, ~0u, ~0u);  // no bin's
  const std::int64_t vectors = n / 4, step = std::int64_t{shares} * block_size;
  for (std::int64_t i = std::int64_t{share} * block_size + t; i < vectors; i += loads * step) {
    uint4 v[loads];
    for (int k = 0; k < loads; ++k) v[k] = i + k * step < vectors ? in[i + k * step] : none;
    for (int k = 0; k < loads; ++k) {
      count(s, first, mine, v[k].x);
      count(s, first, mine, v[k].y);
      count(s, first, mine, v[k].z);
      count(s, first, mine, v[k].w);
    }
  }
  if (share == 0 && t < n % 4) count(s, first, mine, samples[4 * vectors + t]);
  __syncthreads();
  for (unsigned i = t; i < mine; i += block_size) {
    if (s[i] != 0) atomicAdd(&counts[first + i], s[i]);
  }
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
  const std::int64_t windows = (bins + room - 1) / room, per = (bins + windows - 1) / windows;
  const int shared = static_cast<int>(per + 1) * 4;
  int device = 0, sms = 0, per_sm = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device)) {
    return error;
  }
  if (cudaError_t error =
          cudaFuncSetAttribute(count_window, cudaFuncAttributeMaxDynamicSharedMemorySize, shared)) {
    return error;
  }
  if (cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          &per_sm, count_window, block_size, static_cast<std::size_t>(shared))) {
    return error;
  }
  const std::int64_t needed = (n / 4 + block_size - 1) / block_size;
  const std::int64_t most = sms * per_sm < windows ? 1 : sms * per_sm / windows;
  const std::int64_t shares = needed < 1 ? 1 : needed < most ? needed : most;
  count_window<<<static_cast<unsigned>(shares * windows), block_size,
                 static_cast<std::size_t>(shared), stream>>>(
      samples, counts, n, static_cast<unsigned>(bins), static_cast<unsigned>(windows),
      static_cast<unsigned>(per));
  return cudaGetLastError();
}

}  // namespace windows
