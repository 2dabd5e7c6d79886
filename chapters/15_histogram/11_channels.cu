// Idea: an image has 1 to 4 channels side by side, one byte each: r g b r g b ... Each channel has
//   256 counters of its own. Which channel a byte belongs to follows from its position.
// Predicts: as many additions per byte as 06. 16 copies in place of 32 leave room for two blocks on
//   an SM with four channels, and two lanes share a word of each bank.
// Still wrong: see 80, which takes one channel.
#include <cuda_runtime.h>

#include <cstdint>

#include "launch.hpp"

namespace channels {

constexpr int block_size = 1024;
constexpr int loads = 2;    // of 16 bytes, in flight at the same time per thread
constexpr int copies = 16;  // of the counters: one for each two lanes
constexpr int bins = 256;   // per channel

/// Counts 16 bytes, the first of which is byte `first` of the image.
template <int of>
__device__ void count_sixteen(unsigned* mine, uint4 v, unsigned first) {
  const unsigned word[4] = {v.x, v.y, v.z, v.w};
  unsigned* of_channel[of];  // of_channel[k % of]: the counters of the channel of byte first + k
  for (unsigned k = 0; k < of; ++k) of_channel[k] = &mine[copies * bins * ((first + k) % of)];
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    const unsigned sample = word[k / 4] >> (8 * (k % 4)) & 0xffu;
    atomicAdd(&of_channel[k % of][copies * sample], 1u);
  }
}

template <int of>
__global__ void __launch_bounds__(block_size, 2)
    count_samples(const std::uint8_t* samples, unsigned* counts, std::int64_t n) {
  extern __shared__ unsigned counters[];
  const int t = static_cast<int>(threadIdx.x);
  for (int c = t; c < copies * of * bins; c += block_size) counters[c] = 0;
  unsigned* const mine = &counters[t % copies];
  __syncthreads();
  const uint4* const in = reinterpret_cast<const uint4*>(samples);
  const std::int64_t all = n / 16, step = std::int64_t{gridDim.x} * block_size;
  std::int64_t i = std::int64_t{blockIdx.x} * block_size + t;
  // Byte 16 j is of channel 16 j % of, which is j % of for three channels and 0 for the others.
  for (; i + (loads - 1) * step < all; i += loads * step) {
    uint4 v[loads];
    for (int k = 0; k < loads; ++k) v[k] = __ldcs(&in[i + k * step]);
    for (int k = 0; k < loads; ++k) {
      count_sixteen<of>(mine, v[k], of == 3 ? static_cast<unsigned>((i + k * step) % 3) : 0);
    }
  }
  for (; i < all; i += step) {
    count_sixteen<of>(mine, in[i], of == 3 ? static_cast<unsigned>(i % 3) : 0);
  }
  if (blockIdx.x == 0 && t < n % 16) {
    const std::int64_t at = 16 * all + t;
    atomicAdd(&mine[copies * (static_cast<unsigned>(at % of) * bins + samples[at])], 1u);
  }
  __syncthreads();
  for (int c = t; c < of * bins; c += block_size) {
    unsigned sum = 0;
    for (int k = 0; k < copies; ++k) sum += counters[copies * c + (t + k) % copies];
    if (sum != 0) atomicAdd(&counts[c], sum);
  }
}

template <int of>
cudaError_t run(const std::uint8_t* samples, unsigned* counts, std::int64_t n,
                cudaStream_t stream) {
  constexpr std::size_t bytes = sizeof(unsigned) * copies * of * bins;
  std::int64_t resident = 0;
  if (cudaError_t error =
          launch::resident_blocks(count_samples<of>, block_size, bytes, &resident)) {
    return error;
  }
  if (cudaError_t error = cudaMemsetAsync(counts, 0, sizeof(unsigned) * of * bins, stream)) {
    return error;
  }
  if (n == 0) return cudaSuccess;
  count_samples<of>
      <<<launch::blocks_for(n / 16, block_size, resident), block_size, bytes, stream>>>(samples,
                                                                                        counts, n);
  return cudaGetLastError();
}

/// counts[256 c + b] = in how many of the n pixels channel c is b. A pixel is `channels` bytes, 1
/// to 4. Device pointers, pixels at a multiple of 16 bytes. \returns cudaErrorInvalidValue for
/// another pointer, another number of channels, n below 0 or above 2^32 - 1; or an error of CUDA.
cudaError_t histogram(const std::uint8_t* pixels, unsigned* counts, std::int64_t n,
                      std::int64_t channels, cudaStream_t stream) {
  if (n < 0 || n > UINT32_MAX || !launch::aligned(pixels)) return cudaErrorInvalidValue;
  switch (channels) {
    case 1:
      return run<1>(pixels, counts, n, stream);
    case 2:
      return run<2>(pixels, counts, 2 * n, stream);
    case 3:
      return run<3>(pixels, counts, 3 * n, stream);
    case 4:
      return run<4>(pixels, counts, 4 * n, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace channels
