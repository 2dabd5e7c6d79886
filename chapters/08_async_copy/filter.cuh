#pragma once
/// \file
/// What all versions of the filter have in common: the arithmetic, the edges of the array, the size
/// of the grid.

#include <cuda_runtime.h>

#include <cstdint>

namespace filter {

constexpr int block_size = 256;  // groups in a tile: each thread computes one
constexpr int halo = 2;          // groups beside a tile on each side: the filter reaches 8 floats
constexpr int tile_size = halo + block_size + halo;
constexpr int blocks_per_sm = 2;  // a quarter of the threads that an SM could hold

/// Has the array of n floats all four of this group? (A negative one is too large without a sign.)
__device__ inline bool is_whole(std::int64_t group, std::int64_t n) {
  return static_cast<std::uint64_t>(group) < static_cast<std::uint64_t>(n / 4);
}

/// Floats 4 group to 4 group + 3 of an array of n; zero where it has none.
__device__ inline float4 load_group(const float* in, std::int64_t group, std::int64_t n) {
  const std::int64_t i = 4 * group;
  if (is_whole(group, n)) return *reinterpret_cast<const float4*>(in + i);
  float4 four = make_float4(0, 0, 0, 0);
  if (i < 0) return four;
  if (i < n) four.x = in[i];
  if (i + 1 < n) four.y = in[i + 1];
  if (i + 2 < n) four.z = in[i + 2];
  return four;
}

/// The filter's result for the third of five neighbouring groups: out[i] = 9 in[i] + 8 (in[i - 1] +
/// in[i + 1]) + ... + 1 (in[i - 8] + in[i + 8]).
__device__ inline float4 filter_group(const float4* groups) {
  float x[4 * (2 * halo + 1)], sums[4];
#pragma unroll
  for (int g = 0; g < 2 * halo + 1; ++g) {
    const float4 four = groups[g];
    x[4 * g] = four.x, x[4 * g + 1] = four.y, x[4 * g + 2] = four.z, x[4 * g + 3] = four.w;
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    sums[j] = 0;
#pragma unroll
    for (int k = 0; k <= 16; ++k) sums[j] += static_cast<float>(k < 9 ? k + 1 : 17 - k) * x[j + k];
  }
  return make_float4(sums[0], sums[1], sums[2], sums[3]);
}

/// Stores those of the four that an array of n floats has.
__device__ inline void store_group(float* out, std::int64_t group, std::int64_t n, float4 four) {
  const std::int64_t i = 4 * group;
  if (is_whole(group, n)) {
    *reinterpret_cast<float4*>(out + i) = four;
    return;
  }
  if (i < n) out[i] = four.x;
  if (i + 1 < n) out[i + 1] = four.y;
  if (i + 2 < n) out[i + 2] = four.z;
}

/// How many tiles an array of n floats has; the last one may be short.
__host__ __device__ inline std::int64_t tiles_of(std::int64_t n) {
  constexpr int floats = 4 * block_size;
  return n / floats + (n % floats != 0);
}

/// What no version takes: n < 0, arrays that do not begin at a multiple of 16 bytes.
inline bool is_valid(const float* in, const float* out, std::int64_t n) {
  return n >= 0 && reinterpret_cast<std::uintptr_t>(in) % 16 == 0 &&
         reinterpret_cast<std::uintptr_t>(out) % 16 == 0;
}

/// per_sm blocks for each SM of the GPU, but no more than tiles: each takes one tile after the
/// other. \returns cudaErrorInvalidValue if per_sm is not positive, or the error of asking for the
/// GPU.
inline cudaError_t count_blocks(std::int64_t n, int per_sm, unsigned* blocks) {
  if (per_sm < 1) return cudaErrorInvalidValue;
  int device = 0, sms = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  }
  const std::int64_t most = std::int64_t{sms} * per_sm, tiles = tiles_of(n);
  *blocks = static_cast<unsigned>(tiles < most ? tiles : most);
  return error;
}

}  // namespace filter
