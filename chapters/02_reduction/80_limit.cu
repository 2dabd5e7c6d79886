// The record, after the readable ladder ended. Needs compute capability 9.0; chapters 10 and 21
// teach what it uses. Idea: each size gets what is fastest for it. Up to 2^16 elements: one launch,
// whose eight blocks
//   are a cluster and write into each other's shared memory. Above: tiles, then a block that adds
//   up their sums. And a launch starts while the one before it still ends (programmatic dependent
//   launch), waiting only before it touches memory.
// Predicts: small n: a launch and two trips, to the memory and to a neighbour's shared memory.
// Large
//   n: a kernel that only reads, and one or two microseconds.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace limit {

namespace cg = cooperative_groups;

constexpr int blocks_in_cluster = 8;  // the most that every GPU with clusters allows
constexpr std::int64_t most_blocks = 1
                                     << 14;  // of the first kernel: the second adds up as many sums

/// Four elements that one instruction loads.
template <class T>
struct alignas(16) Vector {
  T x, y, z, w;
};

/// Loads 16 bytes that nobody needs twice: past the L1 cache. PTX ISA, "ld".
template <class T>
__device__ Vector<T> load_once(const Vector<T>* from) {
#ifdef SIMT
  return *from;
#else
  uint4 bits;
  asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(bits.x), "=r"(bits.y), "=r"(bits.z), "=r"(bits.w)
               : "l"(from)
               : "memory");
  return reinterpret_cast<const Vector<T>&>(bits);
#endif
}

/// Lane 0 gets the sum of its warp's values; all 32 lanes must call.
template <class T>
__device__ T warp_sum(T x) {
  for (int step = 16; step > 0; step /= 2) x += __shfl_down_sync(0xffffffffu, x, step);
  return x;
}

/// Thread 0 gets the sum of its block's values; all threads must call, once.
template <int block_size, class T>
__device__ T block_sum(T x) {
  __shared__ T s[32];
  const unsigned t = threadIdx.x;
  x = warp_sum(x);
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  return t < 32 ? warp_sum(t < block_size / 32 ? s[t] : T{0}) : T{0};
}

/// This thread's share of tiles first, first + step, ... of in: `unroll` vectors a tile, all loads
/// before the first sum. Only the array's last tile may not be full.
template <int block_size, int unroll, class T>
__device__ T sum_of_tiles(const T* in, std::int64_t n, std::int64_t first, std::int64_t step) {
  constexpr int tile = block_size * unroll * 4;
  T sum = 0;
  std::int64_t start = first * tile;
  for (; start + tile <= n; start += step * tile) {
    const Vector<T>* from = reinterpret_cast<const Vector<T>*>(in + start) + threadIdx.x;
    Vector<T> v[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u) v[u] = load_once(from + u * block_size);
#pragma unroll
    for (int u = 0; u < unroll; ++u) sum += (v[u].x + v[u].y) + (v[u].z + v[u].w);
  }
#pragma unroll 4
  for (std::int64_t i = start + threadIdx.x; i < n; i += block_size) sum += in[i];
  return sum;
}

/// out[0] = the sum of n elements, by one block or one cluster: the grid is the cluster.
template <int block_size, int unroll, class T>
__global__ void __launch_bounds__(block_size) reduce_cluster(const T* in, T* out, std::int64_t n) {
  __shared__ T partial[blocks_in_cluster];    // of rank 0: a sum from each block
  cudaTriggerProgrammaticLaunchCompletion();  // the next kernel may get ready
  cg::cluster_group cluster = cg::this_cluster();
  if (gridDim.x == 1) {
    cudaGridDependencySynchronize();  // the kernel before is complete
    const T sum = block_sum<block_size>(sum_of_tiles<block_size, unroll>(in, n, 0, 1));
    if (threadIdx.x == 0) *out = sum;
    return;
  }
  auto started = cluster.barrier_arrive();
  cudaGridDependencySynchronize();
  const T sum =
      block_sum<block_size>(sum_of_tiles<block_size, unroll>(in, n, blockIdx.x, gridDim.x));
  cluster.barrier_wait(std::move(started));  // rank 0 runs, so its shared memory exists
  if (threadIdx.x == 0) *cluster.map_shared_rank(&partial[blockIdx.x], 0) = sum;
  cluster.sync();
  if (blockIdx.x == 0 && threadIdx.x < 32) {
    const T all = warp_sum(threadIdx.x < blocks_in_cluster ? partial[threadIdx.x] : T{0});
    if (threadIdx.x == 0) *out = all;
  }
}

/// out[b] = the sum of tiles b, b + gridDim.x, ...
template <int block_size, int unroll, class T>
__global__ void __launch_bounds__(block_size) reduce_tiles(const T* in, T* out, std::int64_t n) {
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
  const T sum =
      block_sum<block_size>(sum_of_tiles<block_size, unroll>(in, n, blockIdx.x, gridDim.x));
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

/// Launches a kernel that may begin before the one before it in the stream has ended; the kernel
/// waits by itself. cluster: blocks of one cluster, or 1.
template <class T>
cudaError_t launch(void (*kernel)(const T*, T*, std::int64_t), std::int64_t blocks, int block_size,
                   int cluster, const T* in, T* out, std::int64_t n, cudaStream_t stream) {
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim.x = static_cast<unsigned>(cluster);
  attributes[1].val.clusterDim.y = attributes[1].val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(static_cast<unsigned>(block_size));
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = cluster > 1 ? 2 : 1;
  return cudaLaunchKernelEx(&config, kernel, in, out, n);
}

template <int block_size, int unroll, class T>
cudaError_t sum_by_tiles(T* partial, const T* in, T* out, std::int64_t n, cudaStream_t stream) {
  constexpr int tile = block_size * unroll * 4;
  const std::int64_t blocks = std::min((n + tile - 1) / tile, most_blocks);
  if (cudaError_t error = launch(reduce_tiles<block_size, unroll, T>, blocks, block_size, 1, in,
                                 partial, n, stream)) {
    return error;
  }
  return launch<T>(reduce_tiles<1024, 1, T>, 1, 1024, 1, partial, out, blocks, stream);
}

/// out[0] = the sum of n elements. Device pointers, in aligned to 16 bytes. With workspace ==
/// nullptr: only writes the bytes of scratch memory that it needs. \returns cudaErrorInvalidValue
/// for too little of it, or the error of a launch.
template <class T>
cudaError_t sum_of(void* workspace, std::size_t& workspace_bytes, const T* in, T* out,
                   std::int64_t n, cudaStream_t stream) {
  const std::size_t needed = static_cast<std::size_t>(most_blocks) * sizeof(T);
  if (workspace == nullptr) {
    workspace_bytes = needed;
    return cudaSuccess;
  }
  if (workspace_bytes < needed) return cudaErrorInvalidValue;
  if (n == 0) return cudaMemsetAsync(out, 0, sizeof(T), stream);
  T* const partial = static_cast<T*>(workspace);
  if (n <= 1 << 12) return launch(reduce_cluster<256, 4, T>, 1, 256, 1, in, out, n, stream);
  if (n <= 1 << 15) {
    return launch(reduce_cluster<256, 4, T>, blocks_in_cluster, 256, blocks_in_cluster, in, out, n,
                  stream);
  }
  if (n <= 1 << 16) {
    return launch(reduce_cluster<512, 4, T>, blocks_in_cluster, 512, blocks_in_cluster, in, out, n,
                  stream);
  }
  if (n <= 1 << 21) return sum_by_tiles<256, 2>(partial, in, out, n, stream);
  return sum_by_tiles<1024, 4>(partial, in, out, n, stream);
}

cudaError_t sum(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                std::int64_t n, cudaStream_t stream) {
  return sum_of(workspace, workspace_bytes, in, out, n, stream);
}

/// Modulo 2^32.
cudaError_t sum(void* workspace, std::size_t& workspace_bytes, const unsigned* in, unsigned* out,
                std::int64_t n, cudaStream_t stream) {
  return sum_of(workspace, workspace_bytes, in, out, n, stream);
}

}  // namespace limit
