// Answers to exercise 5 of chapter 15, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstdint>

namespace one_thread_equalises {
// 5: NOT YET: right, but one after the other
__global__ void equalise_all(const std::uint8_t* pixels, const unsigned* counts,
                             std::uint8_t* table, std::uint8_t* out, std::int64_t n) {
  std::uint64_t all = 0, sum = 0, darkest = 0;
  for (int v = 0; v < 256; ++v) all += counts[v];
  for (int v = 0; v < 256; ++v) {
    if (sum == 0) darkest = counts[v];
    sum += counts[v];
    table[v] = sum <= darkest ? 0 : (sum - darkest) * 255 / (all - darkest);
  }
  for (std::int64_t i = 0; i < n; ++i) out[i] = table[pixels[i]];
}

cudaError_t equalise(const std::uint8_t* pixels, const unsigned* counts, std::uint8_t* table,
                     std::uint8_t* out, std::int64_t n, cudaStream_t stream) {
  equalise_all<<<1, 1, 0, stream>>>(pixels, counts, table, out, n);
  return cudaGetLastError();
}
}  // namespace one_thread_equalises

namespace one_thread_makes_the_table {
// 5: NOT YET: right, but one after the other
__global__ void make_table(const unsigned* counts, std::uint8_t* table) {
  std::uint64_t all = 0, sum = 0, darkest = 0;
  for (int v = 0; v < 256; ++v) all += counts[v];
  for (int v = 0; v < 256; ++v) {
    if (sum == 0) darkest = counts[v];
    sum += counts[v];
    table[v] = sum <= darkest ? 0 : (sum - darkest) * 255 / (all - darkest);
  }
}

__global__ void look_up(const std::uint8_t* pixels, const std::uint8_t* table, std::uint8_t* out,
                        std::int64_t n) {
  __shared__ std::uint8_t grey[256];
  grey[threadIdx.x] = table[threadIdx.x];
  __syncthreads();
  for (std::int64_t i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x) {
    out[i] = grey[pixels[i]];
  }
}

cudaError_t equalise(const std::uint8_t* pixels, const unsigned* counts, std::uint8_t* table,
                     std::uint8_t* out, std::int64_t n, cudaStream_t stream) {
  make_table<<<1, 1, 0, stream>>>(counts, table);
  look_up<<<64, 256, 0, stream>>>(pixels, table, out, n);
  return cudaGetLastError();
}
}  // namespace one_thread_makes_the_table

namespace one_block_equalises {
// 5: NOT YET: right, but one after the other
__global__ void equalise_in_one(const std::uint8_t* pixels, const unsigned* counts,
                                std::uint8_t* table, std::uint8_t* out, std::int64_t n) {
  __shared__ unsigned sums[256];
  __shared__ std::uint8_t grey[256];
  __shared__ unsigned darkest;
  const unsigned t = threadIdx.x;
  unsigned sum = sums[t] = counts[t];
  if (t == 0) darkest = 0;
  for (unsigned distance = 1; distance < 256; distance *= 2) {
    __syncthreads();
    const unsigned lower = t < distance ? 0 : sums[t - distance];
    __syncthreads();
    sums[t] = sum += lower;
  }
  if (counts[t] > 0 && sum == counts[t]) darkest = sum;
  __syncthreads();
  const std::uint64_t brighter = sum - darkest;
  grey[t] = sum <= darkest ? 0 : 255 * brighter / (sums[255] - darkest);
  table[t] = grey[t];
  __syncthreads();
  for (std::int64_t i = t; i < n; i += 256) out[i] = grey[pixels[i]];
}

cudaError_t equalise(const std::uint8_t* pixels, const unsigned* counts, std::uint8_t* table,
                     std::uint8_t* out, std::int64_t n, cudaStream_t stream) {
  equalise_in_one<<<1, 256, 0, stream>>>(pixels, counts, table, out, n);
  return cudaGetLastError();
}
}  // namespace one_block_equalises

namespace two_kernels {
// 5: PASSED
// One warp scans, eight counts per lane; the second kernel looks up four pixels at once.
__global__ void make_table(const unsigned* counts, std::uint8_t* table) {
  const unsigned lane = threadIdx.x;
  unsigned own[8], sum = 0, first = 0;
  for (unsigned k = 0; k < 8; ++k) {
    const unsigned count = counts[8 * lane + k];
    if (first == 0) first = count;
    own[k] = sum += count;
  }
  unsigned upto = sum;
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const unsigned lower = __shfl_up_sync(~0u, upto, distance);
    if (lane >= distance) upto += lower;
  }
  const unsigned all = __shfl_sync(~0u, upto, 31), before = upto - sum;
  const unsigned some = __ballot_sync(~0u, first != 0);
  const unsigned darkest =
      some == 0 ? 0 : __shfl_sync(~0u, first, __ffs(static_cast<int>(some)) - 1);
  for (unsigned k = 0; k < 8; ++k) {
    const unsigned cdf = before + own[k];
    const std::uint64_t brighter = cdf - darkest;
    table[8 * lane + k] = cdf <= darkest ? 0 : 255 * brighter / (all - darkest);
  }
}

__global__ void look_up(const std::uint8_t* pixels, const std::uint8_t* table, std::uint8_t* out,
                        std::int64_t n) {
  __shared__ std::uint8_t grey[256];
  if (threadIdx.x < 256) grey[threadIdx.x] = table[threadIdx.x];
  __syncthreads();
  const std::int64_t i = std::int64_t{blockIdx.x} * 1024 + threadIdx.x;
  if (i < n / 4) {
    const uchar4 v = reinterpret_cast<const uchar4*>(pixels)[i];
    reinterpret_cast<uchar4*>(out)[i] = make_uchar4(grey[v.x], grey[v.y], grey[v.z], grey[v.w]);
  }
  if (i < n % 4) out[n / 4 * 4 + i] = grey[pixels[n / 4 * 4 + i]];
}

cudaError_t equalise(const std::uint8_t* pixels, const unsigned* counts, std::uint8_t* table,
                     std::uint8_t* out, std::int64_t n, cudaStream_t stream) {
  make_table<<<1, 32, 0, stream>>>(counts, table);
  look_up<<<static_cast<unsigned>(n / 4096 + 1), 1024, 0, stream>>>(pixels, table, out, n);
  return cudaGetLastError();
}
}  // namespace two_kernels

namespace looks_up_in_global_memory {
// 5: NOT YET: right, but it moves
__global__ void look_up_there(const std::uint8_t* pixels, const std::uint8_t* table,
                              std::uint8_t* out, std::int64_t n) {
  for (std::int64_t i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x) {
    out[i] = table[pixels[i]];
  }
}

cudaError_t equalise(const std::uint8_t* pixels, const unsigned* counts, std::uint8_t* table,
                     std::uint8_t* out, std::int64_t n, cudaStream_t stream) {
  two_kernels::make_table<<<1, 32, 0, stream>>>(counts, table);
  look_up_there<<<64, 256, 0, stream>>>(pixels, table, out, n);
  return cudaGetLastError();
}
}  // namespace looks_up_in_global_memory

namespace one_lane_per_warp_looks_up {
// 5: NOT YET: right, but one after the other
__global__ void look_up_by_leaders(const std::uint8_t* pixels, const std::uint8_t* table,
                                   std::uint8_t* out, std::int64_t n) {
  __shared__ std::uint8_t grey[256];
  grey[threadIdx.x] = table[threadIdx.x];
  __syncthreads();
  if (threadIdx.x % 32 != 0) return;
  for (std::int64_t i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x) {
    for (std::int64_t k = i; k < i + 32 && k < n; ++k) out[k] = grey[pixels[k]];
  }
}

cudaError_t equalise(const std::uint8_t* pixels, const unsigned* counts, std::uint8_t* table,
                     std::uint8_t* out, std::int64_t n, cudaStream_t stream) {
  two_kernels::make_table<<<1, 32, 0, stream>>>(counts, table);
  look_up_by_leaders<<<64, 256, 0, stream>>>(pixels, table, out, n);
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp_looks_up

namespace sixteen_pixels_per_load {
// 5: PASSED
__device__ unsigned look_up(const std::uint8_t* grey, unsigned word) {
  unsigned result = 0;
  for (int shift = 0; shift < 32; shift += 8) {
    result |= static_cast<unsigned>(grey[word >> shift & 0xffu]) << shift;
  }
  return result;
}

__global__ void look_up_vectors(const std::uint8_t* pixels, const std::uint8_t* table,
                                std::uint8_t* out, std::int64_t n) {
  __shared__ std::uint8_t grey[256];
  grey[threadIdx.x] = table[threadIdx.x];
  __syncthreads();
  const std::int64_t first = blockIdx.x * 256 + threadIdx.x;
  for (std::int64_t i = first; i < n / 16; i += 256 * gridDim.x) {
    uint4 v = reinterpret_cast<const uint4*>(pixels)[i];
    v = make_uint4(look_up(grey, v.x), look_up(grey, v.y), look_up(grey, v.z), look_up(grey, v.w));
    reinterpret_cast<uint4*>(out)[i] = v;
  }
  if (first < n % 16) out[n - 1 - first] = grey[pixels[n - 1 - first]];
}

cudaError_t equalise(const std::uint8_t* pixels, const unsigned* counts, std::uint8_t* table,
                     std::uint8_t* out, std::int64_t n, cudaStream_t stream) {
  two_kernels::make_table<<<1, 32, 0, stream>>>(counts, table);
  look_up_vectors<<<64, 256, 0, stream>>>(pixels, table, out, n);
  return cudaGetLastError();
}
}  // namespace sixteen_pixels_per_load
