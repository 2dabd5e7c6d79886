// Idea: a ring of eight blocks. Each holds a chunk; in every step all pass their chunk to the
//   next block, by stores into its shared memory, and the barrier of the cluster tells all of
//   them that all chunks have arrived. After seven steps each block has seen all chunks, in its
//   own order.
// Predicts: a step is the time of the stores, half a microsecond, and of a barrier of 8 x 512
//   threads in eight SMs, a fifth of one.
// Still wrong: a block needs one neighbour's chunk, and waits for eight blocks.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace ring_sync {

namespace cg = cooperative_groups;

constexpr int block_size = 512;
constexpr int blocks = 8;                    // of a ring
constexpr int vectors = 2;                   // of four floats, per thread
constexpr int chunk = block_size * vectors;  // float4
constexpr int chunk_bytes = chunk * static_cast<int>(sizeof(float4));

__device__ float4 add_times(float4 sum, float factor, float4 v) {
  return make_float4(sum.x + factor * v.x, sum.y + factor * v.y, sum.z + factor * v.z,
                     sum.w + factor * v.w);
}

/// The floats from 4 i on; zeros beyond the end.
__device__ float4 load(const float* in, std::int64_t i, std::int64_t n) {
  if (4 * i + 4 <= n) return reinterpret_cast<const float4*>(in)[i];
  const auto one = [&](int k) { return 4 * i + k < n ? in[4 * i + k] : 0.0f; };
  return make_float4(one(0), one(1), one(2), one(3));
}
__device__ void store(float* out, std::int64_t i, std::int64_t n, float4 v) {
  if (4 * i + 4 <= n) {
    reinterpret_cast<float4*>(out)[i] = v;
  } else {
    if (4 * i < n) out[4 * i] = v.x;
    if (4 * i + 1 < n) out[4 * i + 1] = v.y;
    if (4 * i + 2 < n) out[4 * i + 2] = v.z;
  }
}

/// A ring of blocks takes `blocks` neighbouring chunks. Block r of it: out = 1 c_r + 2 c_(r-1) +
/// 3 c_(r-2) + ... + 8 c_(r-7), where c_(-1) is c_7, element by element, in this order.
__global__ void __cluster_dims__(blocks, 1, 1) __launch_bounds__(block_size)
    add_round_the_ring(const float* in, float* out, std::int64_t n) {
  extern __shared__ float4 s[];  // s[2][chunk]
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x);
  const int next = static_cast<int>(cluster.block_rank() + 1) % blocks;
  const std::int64_t first = std::int64_t{blockIdx.x} * chunk + t;
  float4 v[vectors], sum[vectors];
  for (int k = 0; k < vectors; ++k) {
    v[k] = load(in, first + k * block_size, n);
    sum[k] = v[k];
  }
  cluster.sync();  // all blocks have begun: their shared memory is there
  for (int step = 1; step < blocks; ++step) {
    const int place = step % 2 * chunk + t;
    float4* const to = cluster.map_shared_rank(s, next);
    for (int k = 0; k < vectors; ++k) to[place + k * block_size] = v[k];
    cluster.sync();  // all chunks have arrived; and in the step after next the place is free
    for (int k = 0; k < vectors; ++k) {
      v[k] = s[place + k * block_size];
      sum[k] = add_times(sum[k], static_cast<float>(step + 1), v[k]);
    }
  }
  for (int k = 0; k < vectors; ++k) store(out, first + k * block_size, n, sum[k]);
}

/// Sums round rings, see add_round_the_ring(), of n floats; floats beyond the end count as zeros.
/// Device pointers, multiples of 16 bytes. \returns cudaErrorInvalidValue for other pointers, n
/// below 0 or above 2^40, or an error of CUDA.
cudaError_t add_rings(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  const auto aligned = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; };
  if (n < 0 || n > std::int64_t{1} << 40 || !aligned(in) || !aligned(out)) {
    return cudaErrorInvalidValue;
  }
  if (n == 0) return cudaSuccess;
  constexpr int bytes = 2 * chunk_bytes;
  if (cudaError_t error = cudaFuncSetAttribute(
          add_round_the_ring, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)) {
    return error;
  }
  const std::int64_t ring = 4 * chunk * blocks, rings = (n + ring - 1) / ring;
  add_round_the_ring<<<static_cast<unsigned>(rings * blocks), block_size, bytes, stream>>>(in, out,
                                                                                           n);
  return cudaGetLastError();
}

}  // namespace ring_sync
