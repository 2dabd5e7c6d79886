// Study: stages x bytes per stage x work per float, without a halo: when do more stages, and when
//   does more per stage help, and when neither?
// Predicts: bandwidth needs bytes on their way (stages x bytes), but work on a tile needs time that
//   only a copy of another stage can fill. With one stage, the two add up.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace work_study {

constexpr int block_size = 256;
constexpr int most_stages = 4;

/// out = in, each float after `work` steps x = zero - x; an even number of them changes nothing.
/// `zero` is 0: the compiler must not know. Groups of four floats; per_stage of them per thread in
/// a tile. One block per SM or any other number; shared memory: the tiles of all stages.
template <int stages>
__global__ void work_on_tiles(const float4* in, float4* out, std::int64_t groups, int per_stage,
                              int work, float zero) {
  extern __shared__ float4 s[];
  const int t = threadIdx.x, tile_size = per_stage * block_size;
  const std::int64_t tiles = groups / tile_size + (groups % tile_size != 0);
  const auto copy_tile = [=](int stage, std::int64_t tile) {
    for (int k = 0; k < per_stage; ++k) {
      const int at = k * block_size + t;
      const std::int64_t group = tile * tile_size + at;
      if (group >= groups) break;
      __pipeline_memcpy_async(&s[stage * tile_size + at], &in[group], sizeof(float4));
    }
  };
  std::int64_t next = blockIdx.x;  // the tile to copy
#pragma unroll
  for (int stage = 0; stage < stages; ++stage, next += gridDim.x) {
    if (next < tiles) copy_tile(stage, next);
    __pipeline_commit();
  }
  int stage = 0;
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x, next += gridDim.x) {
    __pipeline_wait_prior(stages - 1);
    __syncthreads();
    for (int k = 0; k < per_stage; ++k) {
      const int at = k * block_size + t;
      const std::int64_t group = tile * tile_size + at;
      if (group >= groups) break;
      float4 x = s[stage * tile_size + at];
      for (int step = 0; step < work; step += 2) {
        x.x = zero - x.x, x.y = zero - x.y, x.z = zero - x.z, x.w = zero - x.w;
        x.x = zero - x.x, x.y = zero - x.y, x.z = zero - x.z, x.w = zero - x.w;
      }
      out[group] = x;
    }
    __syncthreads();
    if (next < tiles) copy_tile(stage, next);
    __pipeline_commit();
    stage = (stage + 1) % stages;
  }
}

template <int stages>
cudaError_t launch(const float* in, float* out, std::int64_t n, int kib, int work,
                   cudaStream_t stream) {
  int device = 0, sms = 0;
  const int bytes = stages * kib * 1024;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  }
  if (error == cudaSuccess) {
    error = cudaFuncSetAttribute(work_on_tiles<stages>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 bytes);
  }
  if (error != cudaSuccess) return error;
  const int per_stage = kib * 1024 / (block_size * static_cast<int>(sizeof(float4)));
  work_on_tiles<stages>
      <<<static_cast<unsigned>(sms), block_size, static_cast<std::size_t>(bytes), stream>>>(
          reinterpret_cast<const float4*>(in), reinterpret_cast<float4*>(out), n / 4, per_stage,
          work, 0.0f);
  return cudaGetLastError();
}

/// One block of 256 threads per SM, `stages` (1 to 4) tiles of `kib` KiB (a multiple of 4, at most
/// 48) each, `work` steps (even) per float. Device pointers, multiples of 16 bytes; n, a multiple
/// of four, floats. \returns cudaErrorInvalidValue for other values, or the error of the launch.
cudaError_t copy(const float* in, float* out, std::int64_t n, int stages, int kib, int work,
                 cudaStream_t stream) {
  if (n < 0 || n % 4 != 0 || kib < 4 || kib > 48 || kib % 4 != 0 || work < 0 || work % 2 != 0 ||
      reinterpret_cast<std::uintptr_t>(in) % 16 != 0 ||
      reinterpret_cast<std::uintptr_t>(out) % 16 != 0) {
    return cudaErrorInvalidValue;
  }
  if (stages < 1 || stages > most_stages) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  switch (stages) {
    case 1:
      return launch<1>(in, out, n, kib, work, stream);
    case 2:
      return launch<2>(in, out, n, kib, work, stream);
    case 3:
      return launch<3>(in, out, n, kib, work, stream);
    default:
      return launch<4>(in, out, n, kib, work, stream);
  }
}

}  // namespace work_study
