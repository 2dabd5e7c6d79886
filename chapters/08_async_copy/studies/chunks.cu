// Study: who should copy, the threads (16 bytes each) or the copy engine (a chunk at once)? Chunks
//   of 512 bytes to 8 KiB, always 16 KiB per block and 32 KiB per SM on their way.
// Predicts: an order to the engine costs the same for any size, so small chunks are better copied
//   by threads and large ones by the engine. A talk draws the line at one to two KiB.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/barrier>

#ifdef __CUDACC__
#pragma nv_diag_suppress static_var_with_dynamic_init  // barriers in shared memory: init() does it
#endif

namespace chunks_study {

namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int block_size = 128;
constexpr int ring_groups = 16384 / 16;  // of four floats
constexpr int blocks_per_sm = 2;

/// How many groups chunk c has of an array of so many; in groups of four floats, too, all others.
template <int chunk>
__device__ int size_of(std::int64_t c, std::int64_t groups) {
  const std::int64_t rest = groups - c * chunk;
  return rest < chunk ? static_cast<int>(rest) : chunk;
}

/// Writes a chunk from shared memory.
__device__ void store(float4* out, const float4* s, int size) {
  for (int g = threadIdx.x; g < size; g += block_size) out[g] = s[g];
}

/// out = in: each thread copies its 16 bytes of a chunk. Any number of blocks.
template <int chunk>
__global__ void copy_by_threads(const float4* in, float4* out, std::int64_t groups) {
  constexpr int stages = ring_groups / chunk;
  __shared__ float4 s[stages][chunk];
  const std::int64_t chunks = groups / chunk + (groups % chunk != 0);
  const auto begin_copy = [=](float4* to, std::int64_t c) {
    const int size = size_of<chunk>(c, groups);
    for (int g = threadIdx.x; g < size; g += block_size) {
      __pipeline_memcpy_async(&to[g], &in[c * chunk + g], sizeof(float4));
    }
  };
  std::int64_t next = blockIdx.x;  // the chunk to copy
  for (int stage = 0; stage < stages; ++stage, next += gridDim.x) {
    if (next < chunks) begin_copy(s[stage], next);
    __pipeline_commit();
  }
  int stage = 0;
  for (std::int64_t c = blockIdx.x; c < chunks; c += gridDim.x, next += gridDim.x) {
    __pipeline_wait_prior(stages - 1);
    __syncthreads();  // all of the chunk is there
    store(out + c * chunk, s[stage], size_of<chunk>(c, groups));
    __syncthreads();  // all have read it
    if (next < chunks) begin_copy(s[stage], next);
    __pipeline_commit();
    stage = (stage + 1) % stages;
  }
}

/// The same; a whole chunk is one order to the copy engine (Hopper and later).
template <int chunk>
__global__ void copy_by_engine(const float4* in, float4* out, std::int64_t groups) {
  constexpr int stages = ring_groups / chunk;
  __shared__ alignas(128) float4 s[stages][chunk];
  __shared__ Barrier there[stages];
  const cg::thread_block block = cg::this_thread_block();
  if (threadIdx.x < stages) init(&there[threadIdx.x], block_size);
  __syncthreads();  // nobody uses a barrier before it is initialised
  const std::int64_t chunks = groups / chunk + (groups % chunk != 0);
  const auto begin_copy = [&](int stage, std::int64_t c) {
    const std::size_t size = sizeof(float4) * size_of<chunk>(c, groups);
    cuda::memcpy_async(block, s[stage], in + c * chunk, cuda::aligned_size_t<16>(size),
                       there[stage]);
    static_cast<void>(there[stage].arrive());
  };
  std::int64_t next = blockIdx.x;  // the chunk to copy
  for (int stage = 0; stage < stages; ++stage, next += gridDim.x) {
    if (next < chunks) begin_copy(stage, next);
  }
  int stage = 0;
  bool parity = false;
  for (std::int64_t c = blockIdx.x; c < chunks; c += gridDim.x, next += gridDim.x) {
    there[stage].wait_parity(parity);  // all of the chunk is there
    store(out + c * chunk, s[stage], size_of<chunk>(c, groups));
    __syncthreads();  // all have read it
    if (next < chunks) begin_copy(stage, next);
    stage = (stage + 1) % stages;
    if (stage == 0) parity = !parity;
  }
}

template <bool by_engine, int chunk>
cudaError_t launch(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  int device = 0, sms = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  }
  if (error != cudaSuccess) return error;
  const float4* from = reinterpret_cast<const float4*>(in);
  float4* to = reinterpret_cast<float4*>(out);
  const unsigned blocks = static_cast<unsigned>(sms * blocks_per_sm);
  if (by_engine) {
    copy_by_engine<chunk><<<blocks, block_size, 0, stream>>>(from, to, n / 4);
  } else {
    copy_by_threads<chunk><<<blocks, block_size, 0, stream>>>(from, to, n / 4);
  }
  return cudaGetLastError();
}

template <bool by_engine>
cudaError_t copy(const float* in, float* out, std::int64_t n, int bytes, cudaStream_t stream) {
  if (n < 0 || n % 4 != 0 || reinterpret_cast<std::uintptr_t>(in) % 16 != 0 ||
      reinterpret_cast<std::uintptr_t>(out) % 16 != 0) {
    return cudaErrorInvalidValue;
  }
  switch (bytes) {
    case 512:
      return n == 0 ? cudaSuccess : launch<by_engine, 32>(in, out, n, stream);
    case 1024:
      return n == 0 ? cudaSuccess : launch<by_engine, 64>(in, out, n, stream);
    case 2048:
      return n == 0 ? cudaSuccess : launch<by_engine, 128>(in, out, n, stream);
    case 4096:
      return n == 0 ? cudaSuccess : launch<by_engine, 256>(in, out, n, stream);
    case 8192:
      return n == 0 ? cudaSuccess : launch<by_engine, 512>(in, out, n, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

/// Copies n floats, a multiple of four, in chunks of `bytes` bytes: 512, 1024, 2048, 4096 or 8192.
/// Device pointers, multiples of 16 bytes. \returns cudaErrorInvalidValue for other values, or the
/// error of the launch.
cudaError_t by_threads(const float* in, float* out, std::int64_t n, int bytes,
                       cudaStream_t stream) {
  return copy<false>(in, out, n, bytes, stream);
}
/// Each chunk by one order to the copy engine; before Hopper by threads, too.
cudaError_t by_engine(const float* in, float* out, std::int64_t n, int bytes, cudaStream_t stream) {
  return copy<true>(in, out, n, bytes, stream);
}

}  // namespace chunks_study
