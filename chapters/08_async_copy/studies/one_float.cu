// Study: the same filter with one float per thread and load, as the talk has it: halo, centre and
//   halo in conditional code. Three shapes: loads through registers; copies past them; two stages.
// Predicts: 2048 threads with 4 bytes each are 8 KiB on their way per SM at most, a sixth of what
//   an H200 needs (chapter 01). Two stages double that.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace one_float {

constexpr int block_size = 256;
constexpr int halo = 8;
constexpr int tile_size = halo + block_size + halo;

/// The filter around s[halo].
__device__ float filter_one(const float* s) {
  float sum = 0;
#pragma unroll
  for (int k = 0; k <= 2 * halo; ++k) {
    sum += static_cast<float>(k <= halo ? k + 1 : 2 * halo + 1 - k) * s[k];
  }
  return sum;
}

/// Loads a float, or begins to copy it; zero outside of the array of n.
template <bool asynchronous>
__device__ void copy_one(float* s, const float* in, std::int64_t i, std::int64_t n) {
  if (i < 0 || i >= n) {
    *s = 0;
  } else if (asynchronous) {
    __pipeline_memcpy_async(s, in + i, sizeof(float));
  } else {
    *s = in[i];
  }
}

/// Copies a tile and its halos.
template <bool asynchronous>
__device__ void copy_tile(float* s, const float* in, std::int64_t tile, std::int64_t n) {
  const int t = threadIdx.x;
  const std::int64_t i = tile * block_size + t;
  if (t < halo) copy_one<asynchronous>(&s[t], in, i - halo, n);
  copy_one<asynchronous>(&s[t + halo], in, i, n);
  if (t >= block_size - halo) copy_one<asynchronous>(&s[t + 2 * halo], in, i + halo, n);
}

/// Filters n floats. Any number of blocks of block_size threads. stages = 0: through registers.
template <int stages>
__global__ void filter_tiles(const float* in, float* out, std::int64_t n) {
  constexpr int buffers = stages == 0 ? 1 : stages;
  __shared__ float s[buffers][tile_size];
  const int t = threadIdx.x;
  const std::int64_t tiles = n / block_size + (n % block_size != 0);
  std::int64_t next = blockIdx.x;  // the tile to copy
#pragma unroll
  for (int stage = 0; stage < buffers; ++stage, next += gridDim.x) {
    if (next < tiles) copy_tile<(stages > 0)>(s[stage], in, next, n);
    if (stages > 0) __pipeline_commit();
  }
  int stage = 0;
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x, next += gridDim.x) {
    if (stages > 0) __pipeline_wait_prior(buffers - 1);
    __syncthreads();  // all of the tile is there
    const std::int64_t i = tile * block_size + t;
    const float sum = filter_one(&s[stage][t]);
    if (i < n) out[i] = sum;
    __syncthreads();  // all have read it
    if (next < tiles) copy_tile<(stages > 0)>(s[stage], in, next, n);
    if (stages > 0) __pipeline_commit();
    stage = (stage + 1) % buffers;
  }
}

template <int stages>
cudaError_t launch(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (n < 0) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  int device = 0, sms = 0, per_sm = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  }
  if (error == cudaSuccess) {
    error =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, filter_tiles<stages>, block_size, 0);
  }
  if (error != cudaSuccess) return error;
  const std::int64_t tiles = n / block_size + (n % block_size != 0);
  const std::int64_t most = std::int64_t{sms} * per_sm;
  filter_tiles<stages>
      <<<static_cast<unsigned>(tiles < most ? tiles : most), block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}

/// The filter of the chapter (filter.cuh); arrays of n floats, any alignment.
cudaError_t synchronous(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  return launch<0>(in, out, n, stream);
}
/// Copies past the registers, one buffer.
cudaError_t unstaged(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  return launch<1>(in, out, n, stream);
}
/// Two buffers.
cudaError_t two_stages(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  return launch<2>(in, out, n, stream);
}

}  // namespace one_float
