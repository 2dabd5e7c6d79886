// The record, after the readable ladder ended. Needs compute capability 9.0; chapters 10 and 21
//   teach what it uses.
// Idea: each size gets what is fastest for it: one block; up to 2^16 elements eight blocks that are
//   a cluster and write into each other's shared memory; above, a sum a block, then one warp or
//   block for those sums, whose launch gets ready while the first kernel runs (programmatic
//   dependent launch). A block knows all its loads before it waits for the first.
// Predicts: small n: a launch, a trip to the memory and one to a neighbour. Large n: the read-only
//   kernel, and a microsecond or two.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cuda/ptx>
#include <memory>
#include <utility>

namespace limit {

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

constexpr int blocks_in_cluster = 8;  // the most that every GPU with clusters allows
/// Of the first kernel of two: the second adds up as many sums.
constexpr int most_blocks = 1 << 14;

/// Four elements that one instruction loads.
template <class T>
struct alignas(16) Vector {
  T x, y, z, w;
};

/// Loads 16 bytes that nobody needs twice: past the L1 cache. PTX ISA, "ld".
template <class T>
__device__ void load_once(Vector<T>& to, const Vector<T>* from) {
#ifdef SIMT
  to = *from;
#else
  uint4 bits;
  asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(bits.x), "=r"(bits.y), "=r"(bits.z), "=r"(bits.w)
               : "l"(from)
               : "memory");
  to = reinterpret_cast<const Vector<T>&>(bits);
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

/// A tile's elements, where `left` are left of the array, or less than none.
template <int tile>
__device__ int in_tile(std::int64_t left) {
  return left < 0 ? 0 : left < tile ? static_cast<int>(left) : tile;
}

/// This thread's share of a block's n elements: at most `each` vectors, all loads before the first
/// sum.
template <int block_size, int each, class T>
__device__ T sum_of_tile(const T* in, int n) {
  const int t = static_cast<int>(threadIdx.x), last = n - n % 4 + t;
  const Vector<T>* const from = reinterpret_cast<const Vector<T>*>(in);
  Vector<T> v[each];
#pragma unroll
  for (int u = 0; u < each; ++u) {
    const int i = t + u * block_size;
    v[u] = Vector<T>{};
    if (4 * i + 4 <= n) load_once(v[u], from + i);
  }
  T sum = last < n ? in[last] : T{0};
#pragma unroll
  for (int u = 0; u < each; ++u) sum += (v[u].x + v[u].y) + (v[u].z + v[u].w);
  return sum;
}

/// This thread's share of tiles first, first + step, ... of in. Only the array's last tile may not
/// be full.
template <int block_size, int each, class T>
__device__ T sum_of_tiles(const T* in, std::int64_t n, std::int64_t first, std::int64_t step) {
  constexpr int tile = block_size * each * 4;
  T sum = 0;
  std::int64_t start = first * tile;
  for (; start + tile <= n; start += step * tile) {
    const Vector<T>* const from = reinterpret_cast<const Vector<T>*>(in + start) + threadIdx.x;
    Vector<T> v[each];
#pragma unroll
    for (int u = 0; u < each; ++u) load_once(v[u], from + u * block_size);
#pragma unroll
    for (int u = 0; u < each; ++u) sum += (v[u].x + v[u].y) + (v[u].z + v[u].w);
  }
  if (start < n) sum += sum_of_tile<block_size, each>(in + start, static_cast<int>(n - start));
  return sum;
}

/// out[0] = the sum of n elements, by one cluster, which is the whole grid. Each block sends its
/// sum to the shared memory of rank 0, where a barrier counts the bytes that arrive: nobody waits
/// but rank 0. PTX ISA, "st.async".
template <int block_size, int each, class T>
__global__ void __launch_bounds__(block_size) reduce_cluster(const T* in, T* out, int n) {
  constexpr int tile = block_size * each * 4;
  __shared__ T partial[blocks_in_cluster];  // of rank 0: a sum from each block
  __shared__ std::uint64_t arrived;         // of rank 0: an mbarrier
  const unsigned t = threadIdx.x;
  cg::cluster_group cluster = cg::this_cluster();
  if (blockIdx.x == 0 && t == 0) {
    ptx::mbarrier_init(&arrived, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &arrived,
                                   sizeof partial);
  }
  auto ready = cluster.barrier_arrive();  // the barrier exists; wait for it only when it is needed
  const int first = static_cast<int>(blockIdx.x) * tile;
  const T sum =
      block_sum<block_size>(sum_of_tile<block_size, each>(in + first, in_tile<tile>(n - first)));
  cluster.barrier_wait(std::move(ready));
  if (t == 0) {
    ptx::st_async(cluster.map_shared_rank(&partial[blockIdx.x], 0), sum,
                  cluster.map_shared_rank(&arrived, 0));
  }
  if (blockIdx.x == 0 && t < 32) {
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &arrived, 0)) {
    }
    const T all = warp_sum(t < blocks_in_cluster ? partial[t] : T{0});
    if (t == 0) *out = all;
  }
}

/// The sum of n elements, by one block: of the array, or of the sums of the kernel before it.
template <int block_size, int each, bool of_sums, class T>
__global__ void __launch_bounds__(block_size) reduce_block(const T* in, T* out, int n) {
  if (of_sums) cudaGridDependencySynchronize();  // they are there
  const T mine = sum_of_tile<block_size, each>(in, n);
  const T sum = block_size == 32 ? warp_sum(mine) : block_sum<block_size>(mine);
  if (threadIdx.x == 0) *out = sum;
}

/// out[b] = the sum of tiles b, b + gridDim.x, ... many: there may be more tiles than blocks.
template <int block_size, int each, bool many, class T>
__global__ void __launch_bounds__(block_size) reduce_tiles(const T* in, T* out, std::int64_t n) {
  constexpr int tile = block_size * each * 4;
  cudaTriggerProgrammaticLaunchCompletion();  // who adds up the sums may get ready
  const std::int64_t first = std::int64_t{blockIdx.x} * tile;
  const T mine = many ? sum_of_tiles<block_size, each>(in, n, blockIdx.x, gridDim.x)
                      : sum_of_tile<block_size, each>(in + first, in_tile<tile>(n - first));
  const T sum = block_sum<block_size>(mine);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

/// A launch with one attribute: as one cluster; or so that the blocks may begin before the kernel
/// in front of them has ended, and wait by themselves. (Behind another's kernel that costs more
/// than it saves.)
struct Launch {
  cudaLaunchAttribute attribute = {};
  cudaLaunchConfig_t config = {};
  Launch(cudaLaunchAttributeID id, int blocks, int block_size, cudaStream_t stream) {
    attribute.id = id;
    if (id == cudaLaunchAttributeClusterDimension) {
      attribute.val.clusterDim.x = static_cast<unsigned>(blocks);
      attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    } else {
      attribute.val.programmaticStreamSerializationAllowed = 1;
    }
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(static_cast<unsigned>(block_size));
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
  }
  Launch(const Launch&) = delete;  // config points into it
};

/// Up to block_size * each * 4 elements: a block.
template <int block_size, int each, class T>
cudaError_t sum_by_block(const T* in, T* out, std::int64_t n, cudaStream_t stream) {
  reduce_block<block_size, each, false><<<1, block_size, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}

/// Up to eight times as many: a tile a block, in one cluster.
template <int block_size, int each, class T>
cudaError_t sum_by_cluster(const T* in, T* out, std::int64_t n, cudaStream_t stream) {
  const Launch launch(cudaLaunchAttributeClusterDimension, blocks_in_cluster, block_size, stream);
  return cudaLaunchKernelEx(&launch.config, reduce_cluster<block_size, each, T>, in, out,
                            static_cast<int>(n));
}

/// Any n: a sum a block, then a block of `finishers` threads that adds up at most
/// finishers * finisher_each * 4 of them.
template <int block_size, int each, int finishers, int finisher_each, class T>
cudaError_t sum_by_tiles(T* partial, const T* in, T* out, std::int64_t n, cudaStream_t stream) {
  constexpr int tile = block_size * each * 4;
  constexpr std::int64_t most = std::min(most_blocks, finishers * finisher_each * 4);
  const std::int64_t tiles = (n + tile - 1) / tile;
  const int blocks = static_cast<int>(std::min(tiles, most));
  if (tiles > most) {
    reduce_tiles<block_size, each, true><<<blocks, block_size, 0, stream>>>(in, partial, n);
  } else {
    reduce_tiles<block_size, each, false><<<blocks, block_size, 0, stream>>>(in, partial, n);
  }
  if (cudaError_t error = cudaGetLastError()) return error;
  const Launch launch(cudaLaunchAttributeProgrammaticStreamSerialization, 1, finishers, stream);
  return cudaLaunchKernelEx(&launch.config, reduce_block<finishers, finisher_each, true, T>,
                            static_cast<const T*>(partial), out, blocks);
}

/// True unless p is a multiple of `bytes`.
inline bool misaligned(const void* p, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % bytes != 0;
}

/// out[0] = the sum of n elements. Device pointers, in aligned to 16 bytes. With workspace ==
/// nullptr: only writes the bytes of scratch memory that it needs. \returns cudaErrorInvalidValue
/// for too little of it or a misaligned pointer, for n < 0, or the error of a launch.
template <class T>
cudaError_t sum_of(void* workspace, std::size_t& workspace_bytes, const T* in, T* out,
                   std::int64_t n, cudaStream_t stream) {
  if (n < 0) return cudaErrorInvalidValue;
  const std::size_t needed = static_cast<std::size_t>(most_blocks) * sizeof(T) + alignof(Vector<T>);
  if (workspace == nullptr) {
    workspace_bytes = needed;
    return cudaSuccess;
  }
  if (workspace_bytes < needed) return cudaErrorInvalidValue;
  if (misaligned(workspace, alignof(T)) || misaligned(in, 16)) return cudaErrorInvalidValue;
  if (n == 0) return cudaMemsetAsync(out, 0, sizeof(T), stream);
  std::size_t room = needed;  // vectors are loaded of what is stored there
  T* const partial =
      static_cast<T*>(std::align(alignof(Vector<T>), most_blocks * sizeof(T), workspace, room));
  if (n <= 1 << 12) return sum_by_block<256, 4>(in, out, n, stream);
  if (n <= 1 << 15) return sum_by_cluster<256, 4>(in, out, n, stream);
  if (n <= 1 << 16) return sum_by_cluster<512, 4>(in, out, n, stream);
  if (n <= 1 << 21) return sum_by_tiles<512, 2, 32, 4>(partial, in, out, n, stream);
  return sum_by_tiles<1024, 4, 1024, 4>(partial, in, out, n, stream);
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
