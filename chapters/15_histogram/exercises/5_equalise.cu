// Exercise 5: the histogram of an image is there. Spread its greys over 0 to 255: compute the table
// by a scan of the counts, and look up every pixel.
// ./chapters/run 15 --exercise 5          builds and checks it; --hint helps
#include <cuda_runtime.h>

#include <cstdint>

#include "launch.hpp"

namespace exercise {

constexpr int block_size = 256;  // one thread per grey

__global__ void __launch_bounds__(block_size)
    equalise_pixels(const std::uint8_t* pixels, const unsigned* counts, std::uint8_t* table,
                    std::uint8_t* out, std::int64_t n) {
  __shared__ std::uint8_t grey[block_size];
  const unsigned t = threadIdx.x;
  unsigned cdf = counts[t];  // FILL IN: the sum of counts[0] to counts[t], by all threads together
  // FILL IN: the number of pixels of the darkest grey that occurs, and the number of all pixels
  grey[t] = static_cast<std::uint8_t>(cdf);  // CHANGE: the formula
  if (blockIdx.x == 0) table[t] = grey[t];
  __syncthreads();
  const std::int64_t step = std::int64_t{gridDim.x} * block_size;
  for (std::int64_t i = std::int64_t{blockIdx.x} * block_size + t; i < n; i += step) {
    out[i] = grey[pixels[i]];
  }
}

/// Writes table[v], the new grey of grey v, and out[i] = table[pixels[i]] for n pixels. With cdf(v)
/// = counts[0] + ... + counts[v], and d = cdf of the darkest grey whose count is not 0 (d = 0 if
/// there is none): table[v] = 255 (cdf(v) - d) / (cdf(255) - d), rounded down, and 0 where cdf(v)
/// <= d. The n pixels may be a part of the image that was counted: cdf(255) is up to 2^32 - 1.
/// Device pointers. \returns cudaErrorInvalidValue for n below 0; or an error of CUDA.
cudaError_t equalise(const std::uint8_t* pixels, const unsigned* counts, std::uint8_t* table,
                     std::uint8_t* out, std::int64_t n, cudaStream_t stream) {
  if (n < 0) return cudaErrorInvalidValue;
  std::int64_t resident = 0;  // as many blocks as the GPU runs at one time
  if (cudaError_t error = launch::resident_blocks(equalise_pixels, block_size, 0, &resident)) {
    return error;
  }
  equalise_pixels<<<launch::blocks_for(n, 16 * block_size, resident), block_size, 0, stream>>>(
      pixels, counts, table, out, n);
  return cudaGetLastError();
}

}  // namespace exercise
