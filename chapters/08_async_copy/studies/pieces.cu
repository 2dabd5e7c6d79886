// Study: pieces of 4, 8 and 16 bytes per copy. Those of 16 go past the L1 cache (LDGSTS.BYPASS),
//   the others through it. And inputs that do not begin at a multiple of 128 bytes.
// Predicts: the same bytes in 4 times as many instructions for 4 as for 16.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace pieces_study {

constexpr int block_size = 256;
constexpr int stages = 2;
constexpr int tile_size = 4 * block_size;  // floats: 4 KiB, whatever the pieces

/// out = in, n floats, in pieces of `floats` floats. Any number of blocks of block_size threads.
template <int floats>
__global__ void copy_pieces(const float* in, float* out, std::int64_t n) {
  __shared__ __align__(16) float s[stages][tile_size];
  const int t = threadIdx.x;
  const std::int64_t tiles = n / tile_size + (n % tile_size != 0);
  const auto copy_tile = [=](float* to, std::int64_t tile) {
#pragma unroll
    for (int k = 0; k < tile_size / block_size / floats; ++k) {
      const int at = (k * block_size + t) * floats;
      const std::int64_t i = tile * tile_size + at;
      if (i < n) __pipeline_memcpy_async(&to[at], &in[i], floats * sizeof(float));
    }
  };
  std::int64_t next = blockIdx.x;  // the tile to copy
#pragma unroll
  for (int stage = 0; stage < stages; ++stage, next += gridDim.x) {
    if (next < tiles) copy_tile(s[stage], next);
    __pipeline_commit();
  }
  int stage = 0;
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x, next += gridDim.x) {
    __pipeline_wait_prior(stages - 1);
    __syncthreads();
    const std::int64_t i = tile * tile_size + 4 * t;
    if (i < n) {
      *reinterpret_cast<float4*>(out + i) = *reinterpret_cast<const float4*>(&s[stage][4 * t]);
    }
    __syncthreads();
    if (next < tiles) copy_tile(s[stage], next);
    __pipeline_commit();
    stage = (stage + 1) % stages;
  }
}

template <int floats>
cudaError_t launch(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  int device = 0, sms = 0, per_sm = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  }
  if (error == cudaSuccess) {
    error =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, copy_pieces<floats>, block_size, 0);
  }
  if (error != cudaSuccess) return error;
  const std::int64_t tiles = n / tile_size + (n % tile_size != 0);
  const std::int64_t most = std::int64_t{sms} * per_sm;
  copy_pieces<floats>
      <<<static_cast<unsigned>(tiles < most ? tiles : most), block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}

/// Copies n floats, a multiple of four, in pieces of `bytes` bytes: 4, 8 or 16. Device pointers; in
/// a multiple of `bytes`, out of 16. \returns cudaErrorInvalidValue for other values, or the error
/// of the launch.
cudaError_t copy(const float* in, float* out, std::int64_t n, int bytes, cudaStream_t stream) {
  if (bytes != 4 && bytes != 8 && bytes != 16) return cudaErrorInvalidValue;
  if (n < 0 || n % 4 != 0 || reinterpret_cast<std::uintptr_t>(in) % bytes != 0 ||
      reinterpret_cast<std::uintptr_t>(out) % 16 != 0) {
    return cudaErrorInvalidValue;
  }
  if (n == 0) return cudaSuccess;
  if (bytes == 4) return launch<1>(in, out, n, stream);
  return bytes == 8 ? launch<2>(in, out, n, stream) : launch<4>(in, out, n, stream);
}

}  // namespace pieces_study
