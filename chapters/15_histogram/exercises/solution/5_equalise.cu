// Exercise 5, solved: each block scans the counts by itself, 256 threads and 8 warps, writes the
// table to its shared memory, and looks up four pixels per load.
#include <cuda_runtime.h>

#include <cstdint>

#include "launch.hpp"

namespace exercise {

constexpr int block_size = 256;  // one thread per grey
constexpr int warps = block_size / 32;

/// The sum of x of this lane and all lower ones.
__device__ unsigned scan_warp(unsigned x) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const unsigned lower = __shfl_up_sync(~0u, x, distance);
    if (lane >= distance) x += lower;
  }
  return x;
}

/// Pixels that are not darker than the darkest one: 0 to 255, over the sum of all others.
__device__ std::uint8_t new_grey(unsigned cdf, unsigned darkest, unsigned all) {
  if (cdf <= darkest) return 0;
  return static_cast<std::uint8_t>(std::uint64_t{255} * (cdf - darkest) / (all - darkest));
}

__global__ void __launch_bounds__(block_size)
    equalise_pixels(const std::uint8_t* pixels, const unsigned* counts, std::uint8_t* table,
                    std::uint8_t* out, std::int64_t n) {
  __shared__ unsigned sums[warps], darkest, all;
  __shared__ std::uint8_t grey[block_size];
  const unsigned t = threadIdx.x;
  const unsigned count = counts[t];
  unsigned cdf = scan_warp(count);
  if (t % 32 == 31) sums[t / 32] = cdf;
  if (t == 0) darkest = 0;
  __syncthreads();
  for (unsigned warp = 0; warp < t / 32; ++warp) cdf += sums[warp];
  if (count != 0 && cdf == count) darkest = count;  // no grey below has pixels
  if (t == block_size - 1) all = cdf;
  __syncthreads();
  grey[t] = new_grey(cdf, darkest, all);
  if (blockIdx.x == 0) table[t] = grey[t];
  __syncthreads();
  const std::int64_t step = std::int64_t{gridDim.x} * block_size;
  std::int64_t i = std::int64_t{blockIdx.x} * block_size + t;
  if (i < n % 4) out[n - 1 - i] = grey[pixels[n - 1 - i]];
  for (; i < n / 4; i += step) {
    const uchar4 v = reinterpret_cast<const uchar4*>(pixels)[i];
    reinterpret_cast<uchar4*>(out)[i] = make_uchar4(grey[v.x], grey[v.y], grey[v.z], grey[v.w]);
  }
}

/// Writes table[v], the new grey of grey v, and out[i] = table[pixels[i]] for n pixels. With cdf(v)
/// = counts[0] + ... + counts[v], and d = cdf of the darkest grey whose count is not 0 (d = 0 if
/// there is none): table[v] = 255 (cdf(v) - d) / (cdf(255) - d), rounded down, and 0 where cdf(v)
/// <= d. The n pixels may be a part of the image that was counted: cdf(255) is up to 2^32 - 1.
/// Device pointers, pixels and out at multiples of 4 bytes. \returns cudaErrorInvalidValue for n
/// below 0 or another pointer; or an error of CUDA.
cudaError_t equalise(const std::uint8_t* pixels, const unsigned* counts, std::uint8_t* table,
                     std::uint8_t* out, std::int64_t n, cudaStream_t stream) {
  const auto places =
      reinterpret_cast<std::uintptr_t>(pixels) | reinterpret_cast<std::uintptr_t>(out);
  if (n < 0 || places % 4 != 0) return cudaErrorInvalidValue;
  std::int64_t resident = 0;  // as many blocks as the GPU runs at one time
  if (cudaError_t error = launch::resident_blocks(equalise_pixels, block_size, 0, &resident)) {
    return error;
  }
  equalise_pixels<<<launch::blocks_for(n, 16 * block_size, resident), block_size, 0, stream>>>(
      pixels, counts, table, out, n);
  return cudaGetLastError();
}

}  // namespace exercise
