// Study: how long the ways take, one after the other. A chain of loads, each of which says where
//   the next one looks: in the block's own shared memory, in that of another block of the
//   cluster, in the L2 cache. A ball that two blocks send each other, by st.async or through
//   global memory. And meetings: of a block, of a cluster, and what an arrival costs that others
//   may rely on.
// Predicts: the way to another SM costs some 200 clocks, a tenth of a microsecond: less than the
//   way to the L2 cache and back. A ball takes one way per throw, not two.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/atomic>
#include <cuda/ptx>

namespace latency_study {

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

constexpr int places = 64;  // of a chain
constexpr int block_size = 256;

enum class Chain { own, other, l2 };
enum class Ball { st_async, global };
enum class Meeting { block, cluster, arrive_block, arrive_cluster };

__device__ void wait(std::uint64_t* barrier, unsigned parity) {
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, barrier, parity)) {
  }
}

/// out[0] = where a chain of n loads ends. chain[i] < 64 for i < 64. A cluster; its first thread
/// works, on its last block's memory if the chain lies in another block's.
template <Chain way>
__global__ void __launch_bounds__(block_size)
    follow(const unsigned* chain, unsigned* out, std::int64_t n) {
  __shared__ unsigned shared[places];
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x);
  if (t < places) shared[t] = chain[t];
  cluster.sync();
  if (cluster.block_rank() == 0 && t == 0) {
    const unsigned* from = chain;
    if (way == Chain::own) from = shared;
    if (way == Chain::other) {
      from = cluster.map_shared_rank(shared, static_cast<int>(cluster.num_blocks()) - 1);
    }
    unsigned at = 0;
#pragma unroll 8
    for (std::int64_t i = 0; i < n; ++i) at = way == Chain::l2 ? __ldcg(&from[at]) : from[at];
    out[0] = at;
  }
  cluster.sync();  // nobody leaves while another block reads
}

/// out[0] = n add[0]: a ball that two blocks of a cluster, the first and the last one, throw n
/// times; each throw adds. `global`: two places in global memory.
template <Ball way>
__global__ void __launch_bounds__(block_size)
    play(unsigned long long* global, const unsigned* add, unsigned* out, std::int64_t n) {
  using Place = cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>;
  __shared__ unsigned ball;
  __shared__ std::uint64_t there;
  const cg::cluster_group cluster = cg::this_cluster();
  const int last = static_cast<int>(cluster.num_blocks()) - 1;
  const int rank = static_cast<int>(cluster.block_rank()), me = rank == 0 ? 0 : 1;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    if (rank == 0) global[0] = global[1] = 0;
  }
  cluster.sync();
  if (threadIdx.x == 0 && (rank == 0 || rank == last)) {
    const int other = me == 0 ? last : 0;
    unsigned value = 0, parity = 0;
    const unsigned each = add[0];
    // Throw i = 1, 2, ... goes to block i % 2 of the two. A throw, then the catch of the next one.
    for (std::int64_t i = 1 - me; i <= n; i += 2) {
      if (i > 0 && way == Ball::st_async) {
        ptx::st_async(cluster.map_shared_rank(&ball, other), value + each,
                      cluster.map_shared_rank(&there, other));
      }
      if (i > 0 && way == Ball::global) {
        const auto number = static_cast<unsigned long long>(i) << 32;
        Place(global[1 - me]).store(number | (value + each), cuda::memory_order_release);
      }
      if (i == n) break;
      if (way == Ball::st_async) {
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                       sizeof ball);
        wait(&there, parity);
        parity ^= 1;
        value = ball;
      } else {
        unsigned long long seen = 0;
        do {
          seen = Place(global[me]).load(cuda::memory_order_acquire);
        } while (static_cast<std::int64_t>(seen >> 32) != i + 1);
        value = static_cast<unsigned>(seen);
      }
    }
    if (me == static_cast<int>(n % 2)) out[0] = value;  // who has caught the last one
  }
  cluster.sync();
}

/// So many arrivals are a phase of the barrier: rare enough that waiting for its end costs nothing.
constexpr unsigned phase = 1 << 19;

/// out[0] = n add[0], after n meetings.
template <Meeting way>
__global__ void __launch_bounds__(block_size)
    meet(const unsigned* add, unsigned* out, std::int64_t n) {
  __shared__ std::uint64_t barrier;
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&barrier, unsigned{phase});
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  cluster.sync();
  const unsigned each = add[0];
  unsigned sum = 0, parity = 0;
  for (std::int64_t i = 0; i < n; ++i, sum += each) {
    if (way == Meeting::block) __syncthreads();
    if (way == Meeting::cluster) cluster.sync();
    if (threadIdx.x != 0) continue;
    if (way == Meeting::arrive_block) {
      ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &barrier);
    }
    if (way == Meeting::arrive_cluster) {
      ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_shared, &barrier);
    }
    if (way >= Meeting::arrive_block && (i + 1) % phase == 0) {
      wait(&barrier, parity);
      parity ^= 1;
    }
  }
  if (cluster.block_rank() == 0 && threadIdx.x == 0) out[0] = sum;
}

/// One cluster of `size` blocks (1, 2, 4, 8 or 16). The kernel's last
/// arguments are out and n.
template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), std::int64_t size, unsigned* out, std::int64_t n,
                   cudaStream_t stream, Arguments... arguments) {
  if (n == 0) return cudaMemsetAsync(out, 0, sizeof *out, stream);
  if (cudaError_t error =
          cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, size > 8)) {
    return error;
  }
  cudaLaunchAttribute shape;
  shape.id = cudaLaunchAttributeClusterDimension;
  shape.val.clusterDim.x = static_cast<unsigned>(size);
  shape.val.clusterDim.y = shape.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(size));
  config.blockDim = dim3(block_size);
  config.stream = stream;
  config.attrs = &shape;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, arguments..., out, n);
}

bool is_valid(std::int64_t n, std::int64_t size) {
  return n >= 0 && n <= INT32_MAX && size > 0 && size <= 16 && (size & (size - 1)) == 0;
}

template <Chain way>
cudaError_t follow_by(const unsigned* chain, unsigned* out, std::int64_t n, std::int64_t size,
                      cudaStream_t stream) {
  if (!is_valid(n, size)) return cudaErrorInvalidValue;
  return launch(follow<way>, size, out, n, stream, chain);
}
/// out[0] = where a chain of n loads through 64 places ends that begins in place 0, in a cluster of
/// `size` blocks. Device pointers. \returns cudaErrorInvalidValue for n below 0 or above 2^31 - 1
/// or another size, or an error of CUDA.
cudaError_t own_memory(const unsigned* chain, unsigned* out, std::int64_t n, std::int64_t size,
                       cudaStream_t stream) {
  return follow_by<Chain::own>(chain, out, n, size, stream);
}
cudaError_t other_memory(const unsigned* chain, unsigned* out, std::int64_t n, std::int64_t size,
                         cudaStream_t stream) {
  return follow_by<Chain::other>(chain, out, n, size, stream);
}
cudaError_t l2_cache(const unsigned* chain, unsigned* out, std::int64_t n, std::int64_t size,
                     cudaStream_t stream) {
  return follow_by<Chain::l2>(chain, out, n, size, stream);
}

template <Ball way>
cudaError_t play_by(void* workspace, std::size_t& workspace_bytes, const unsigned* add,
                    unsigned* out, std::int64_t n, std::int64_t size, cudaStream_t stream) {
  constexpr std::size_t bytes = 2 * sizeof(unsigned long long);
  if (!is_valid(n, size) || size < 2) return cudaErrorInvalidValue;
  if (workspace == nullptr) {
    workspace_bytes = bytes;
    return cudaSuccess;
  }
  if (workspace_bytes < bytes ||
      reinterpret_cast<std::uintptr_t>(workspace) % sizeof(unsigned long long) != 0) {
    return cudaErrorInvalidValue;
  }
  return launch(play<way>, size, out, n, stream, static_cast<unsigned long long*>(workspace), add);
}
/// out[0] = n add[0], after n throws between two blocks of a cluster of `size` blocks, two or
/// more. With workspace == nullptr: only writes the bytes of scratch memory that it needs. \returns
/// cudaErrorInvalidValue for n below 0 or above 2^31 - 1, another size, too little scratch memory,
/// or an error of CUDA.
cudaError_t ball_by_st_async(void* workspace, std::size_t& workspace_bytes, const unsigned* add,
                             unsigned* out, std::int64_t n, std::int64_t size,
                             cudaStream_t stream) {
  return play_by<Ball::st_async>(workspace, workspace_bytes, add, out, n, size, stream);
}
cudaError_t ball_through_global(void* workspace, std::size_t& workspace_bytes, const unsigned* add,
                                unsigned* out, std::int64_t n, std::int64_t size,
                                cudaStream_t stream) {
  return play_by<Ball::global>(workspace, workspace_bytes, add, out, n, size, stream);
}

template <Meeting way>
cudaError_t meet_by(const unsigned* add, unsigned* out, std::int64_t n, std::int64_t size,
                    cudaStream_t stream) {
  if (!is_valid(n, size)) return cudaErrorInvalidValue;
  return launch(meet<way>, size, out, n, stream, add);
}
/// out[0] = n add[0], after n meetings or arrivals in a cluster of `size` blocks of 256
/// threads. \returns cudaErrorInvalidValue for n below 0 or above 2^31 - 1 or another size, or an
/// error of CUDA.
cudaError_t meet_in_block(const unsigned* add, unsigned* out, std::int64_t n, std::int64_t size,
                          cudaStream_t stream) {
  return meet_by<Meeting::block>(add, out, n, size, stream);
}
cudaError_t meet_in_cluster(const unsigned* add, unsigned* out, std::int64_t n, std::int64_t size,
                            cudaStream_t stream) {
  return meet_by<Meeting::cluster>(add, out, n, size, stream);
}
cudaError_t arrive_for_block(const unsigned* add, unsigned* out, std::int64_t n, std::int64_t size,
                             cudaStream_t stream) {
  return meet_by<Meeting::arrive_block>(add, out, n, size, stream);
}
cudaError_t arrive_for_cluster(const unsigned* add, unsigned* out, std::int64_t n,
                               std::int64_t size, cudaStream_t stream) {
  return meet_by<Meeting::arrive_cluster>(add, out, n, size, stream);
}

}  // namespace latency_study
