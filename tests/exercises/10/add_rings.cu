// Answers to the exercises of chapter 10, and the verdicts that the CPU backend must give.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

namespace one_thread {
// 1 4: NOT YET: right, but one after the other
__global__ void add_all(const float* in, float* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    float sum = 0;
    for (int step = 0; step < 8; ++step) {
      const std::int64_t from = i / 32768 * 32768 + (i + 32768 - step * 4096) % 32768;
      if (from < n) sum += static_cast<float>(step + 1) * in[from];
    }
    out[i] = sum;
  }
}

cudaError_t add_rings(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  add_all<<<1, 1, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_thread

namespace one_lane_per_warp {
// 1 4: NOT YET: right, but one after the other
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(8, 1, 1) add_some(const float* in, float* out, std::int64_t n) {
  __shared__ float chunk[4096];
  const cg::cluster_group cluster = cg::this_cluster();
  const int warp = static_cast<int>(threadIdx.x) / 32, r = static_cast<int>(cluster.block_rank());
  const std::int64_t first = std::int64_t{blockIdx.x} * 4096;
  const bool works = threadIdx.x % 32 == 0;
  for (int i = warp; works && i < 4096; i += 16) chunk[i] = first + i < n ? in[first + i] : 0;
  cluster.sync();
  for (int i = warp; works && first + i < n && i < 4096; i += 16) {
    float sum = 0;
    for (int k = 0; k < 8; ++k) {
      sum += static_cast<float>(k + 1) * cluster.map_shared_rank(chunk, (r + 8 - k) % 8)[i];
    }
    out[first + i] = sum;
  }
  cluster.sync();
}

cudaError_t add_rings(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const auto rings = static_cast<unsigned>((n + 32767) / 32768);
  add_some<<<8 * rings, 512, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp

// One block has all eight chunks of a ring in its shared memory, so no block has a neighbour.
namespace one_block_per_ring {
// 1 4: NOT YET: right, but one after the other
__global__ void add_ring(const float* in, float* out, std::int64_t n) {
  extern __shared__ float s[];  // 8 chunks of 4096
  const std::int64_t first = std::int64_t{blockIdx.x} * 32768;
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < 32768; i += 1024) s[i] = first + i < n ? in[first + i] : 0;
  __syncthreads();
  for (int i = t; i < 32768 && first + i < n; i += 1024) {
    float sum = 0;
    for (int k = 0; k < 8; ++k) {
      sum += static_cast<float>(k + 1) * s[(i + 32768 - 4096 * k) % 32768];
    }
    out[first + i] = sum;
  }
}

cudaError_t add_rings(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  cudaFuncSetAttribute(add_ring, cudaFuncAttributeMaxDynamicSharedMemorySize, 131072);
  add_ring<<<static_cast<unsigned>((n + 32767) / 32768), 1024, 131072, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_block_per_ring

namespace all_from_global_memory {
// 1 4: NOT YET: right, but it moves
__global__ void add_each(const float* in, float* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int step = 0; step < 8; ++step) {
    const std::int64_t from = i / 32768 * 32768 + (i + 32768 - step * 4096) % 32768;
    if (from < n) sum += static_cast<float>(step + 1) * in[from];
  }
  out[i] = sum;
}

cudaError_t add_rings(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  add_each<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace all_from_global_memory

namespace launch_per_step {
// 1 4: NOT YET: right, but it moves
__global__ void add_step(const float* in, float* out, std::int64_t n, int step) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  const std::int64_t from = i / 32768 * 32768 + (i + 32768 - step * 4096) % 32768;
  if (i >= n) return;
  const float x = from < n ? static_cast<float>(step + 1) * in[from] : 0;
  out[i] = step == 0 ? x : out[i] + x;
}

cudaError_t add_rings(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  for (int step = 0; step < 8; ++step) {
    add_step<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, n, step);
  }
  return cudaGetLastError();
}
}  // namespace launch_per_step

// One buffer, so all blocks synchronize twice per step. Exercise 4 refuses it: nothing is sent.
namespace two_meetings_per_step {
// 1: PASSED
// 4: NOT YET: right, but
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(8, 1, 1) go_round(const float* in, float* out, std::int64_t n) {
  __shared__ float arrived[4096];
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank();
  float* const next = cluster.map_shared_rank(arrived, static_cast<int>(rank == 7 ? 0 : rank + 1));
  const std::int64_t first = std::int64_t{blockIdx.x} * 4096;
  const int t = static_cast<int>(threadIdx.x);
  float x[4], sum[4];
  for (int k = 0; k < 4; ++k) {
    const std::int64_t i = first + t + 1024 * k;
    x[k] = sum[k] = i < n ? in[i] : 0;
  }
  for (int step = 2; step <= 8; ++step) {
    cluster.sync();  // all have read the previous chunk
    for (int k = 0; k < 4; ++k) next[t + 1024 * k] = x[k];
    cluster.sync();  // all chunks have arrived
    for (int k = 0; k < 4; ++k) {
      x[k] = arrived[t + 1024 * k];
      sum[k] += static_cast<float>(step) * x[k];
    }
  }
  for (int k = 0; k < 4; ++k) {
    const std::int64_t i = first + t + 1024 * k;
    if (i < n) out[i] = sum[k];
  }
}

cudaError_t add_rings(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const auto rings = static_cast<unsigned>((n + 32767) / 32768);
  go_round<<<8 * rings, 1024, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace two_meetings_per_step

// Each block reads the other seven chunks from their blocks.
namespace fetches {
// 1: PASSED
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(8, 1, 1) add_fetched(const float* in, float* out, std::int64_t n) {
  __shared__ float chunk[4096];
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x), rank = static_cast<int>(cluster.block_rank());
  const std::int64_t first = std::int64_t{blockIdx.x} * 4096;
  for (int i = t; i < 4096; i += 512) chunk[i] = first + i < n ? in[first + i] : 0;
  cluster.sync();
  for (int i = t; i < 4096; i += 512) {
    float sum = chunk[i];
    for (int k = 1; k < 8; ++k) {
      sum += static_cast<float>(k + 1) * cluster.map_shared_rank(chunk, (rank + 8 - k) % 8)[i];
    }
    if (first + i < n) out[first + i] = sum;
  }
  cluster.sync();  // no block exits while others read
}

cudaError_t add_rings(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const auto rings = static_cast<unsigned>((n + 32767) / 32768);
  add_fetched<<<8 * rings, 512, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace fetches

// A thread passes a whole chunk on, by a bulk copy from block to block.
namespace bulk_sends {
// 1 4: PASSED
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
__global__ void __cluster_dims__(8, 1, 1) go_round(const float* in, float* out, std::int64_t n) {
  extern __shared__ __align__(128) float s[];  // the block's own chunk, then those that arrive
  __shared__ std::uint64_t full[8];
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x);
  const int next = static_cast<int>(cluster.block_rank() + 1) % 8;
  const std::int64_t first = std::int64_t{blockIdx.x} * 4096;
  for (int i = t; i < 4096; i += 1024) s[i] = first + i < n ? in[first + i] : 0;
  if (t == 0) {
    for (int step = 1; step < 8; ++step) ptx::mbarrier_init(&full[step], 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  ptx::fence_proxy_async(ptx::space_shared);  // copies read what threads have written
  cluster.sync();
  float sum[4] = {s[t], s[t + 1024], s[t + 2048], s[t + 3072]};
  for (int step = 1; step < 8; ++step) {
    if (t == 0) {
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                     &full[step], 16384);
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared,
                         cluster.map_shared_rank(s + step * 4096, next), s + (step - 1) * 4096,
                         16384, cluster.map_shared_rank(&full[step], next));
    }
    while (!ptx::mbarrier_try_wait_parity(&full[step], 0)) {
    }
    for (int k = 0; k < 4; ++k) {
      sum[k] += static_cast<float>(step + 1) * s[step * 4096 + t + 1024 * k];
    }
  }
  for (int k = 0; k < 4; ++k) {
    if (first + t + 1024 * k < n) out[first + t + 1024 * k] = sum[k];
  }
  cluster.sync();  // what this block has sent has been read
}

cudaError_t add_rings(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  cudaFuncSetAttribute(go_round, cudaFuncAttributeMaxDynamicSharedMemorySize, 131072);
  const auto rings = static_cast<unsigned>((n + 32767) / 32768);
  go_round<<<8 * rings, 1024, 131072, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace bulk_sends

// Each warp has its own barriers, and waits only for its segment of the chunk.
namespace warp_to_warp {
// 1 4: PASSED
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
__global__ void __cluster_dims__(8, 1, 1) go_round(const float* in, float* out, std::int64_t n) {
  extern __shared__ float s[];  // s[7][4096]
  __shared__ std::uint64_t full[7][16];
  const cg::cluster_group cluster = cg::this_cluster();
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int next = static_cast<int>(cluster.block_rank() + 1) % 8, mine = 256 * warp + lane;
  const std::int64_t first = std::int64_t{blockIdx.x} * 4096 + mine;
  float x[8], sum[8];
  for (int k = 0; k < 8; ++k) x[k] = sum[k] = first + 32 * k < n ? in[first + 32 * k] : 0;
  for (int step = 0; step < 7 && lane == 0; ++step) {
    ptx::mbarrier_init(&full[step][warp], 1);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                   &full[step][warp], 1024);
  }
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  cluster.sync();
  for (int step = 0; step < 7; ++step) {
    std::uint64_t* const there = cluster.map_shared_rank(&full[step][warp], next);
    float* const to = cluster.map_shared_rank(s + step * 4096 + mine, next);
    for (int k = 0; k < 8; ++k) ptx::st_async(to + 32 * k, x[k], there);
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &full[step][warp],
                                          0)) {
    }
    for (int k = 0; k < 8; ++k) {
      x[k] = s[step * 4096 + mine + 32 * k];
      sum[k] += static_cast<float>(step + 2) * x[k];
    }
  }
  for (int k = 0; k < 8; ++k) {
    if (first + 32 * k < n) out[first + 32 * k] = sum[k];
  }
}

cudaError_t add_rings(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  cudaFuncSetAttribute(go_round, cudaFuncAttributeMaxDynamicSharedMemorySize, 7 * 16384);
  const auto rings = static_cast<unsigned>((n + 32767) / 32768);
  go_round<<<8 * rings, 512, 7 * 16384, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace warp_to_warp

// 1024 threads, a vector each; each step expects its bytes in that step, even after they arrived.
namespace announced_late {
// 4: PASSED
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
__global__ void __cluster_dims__(8, 1, 1) go_round(const float* in, float* out, std::int64_t n) {
  extern __shared__ __align__(16) float4 s4[];  // s4[7][1024]
  __shared__ std::uint64_t full[7];
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x);
  const int next = static_cast<int>(cluster.block_rank() + 1) % 8;
  const std::int64_t first = std::int64_t{blockIdx.x} * 4096 + t;
  float x[4], sum[4];
  for (int k = 0; k < 4; ++k) x[k] = sum[k] = first + 1024 * k < n ? in[first + 1024 * k] : 0;
  if (t < 7) ptx::mbarrier_init(&full[t], 1);
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  cluster.sync();
  for (int step = 0; step < 7; ++step) {
    ptx::st_async(&cluster.map_shared_rank(s4 + step * 1024 + t, next)->x, x,
                  cluster.map_shared_rank(&full[step], next));
    if (t == 0) {
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                     &full[step], 16384);
    }
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &full[step], 0)) {
    }
    const float4 v = s4[step * 1024 + t];
    x[0] = v.x, x[1] = v.y, x[2] = v.z, x[3] = v.w;
    for (int k = 0; k < 4; ++k) sum[k] += static_cast<float>(step + 2) * x[k];
  }
  for (int k = 0; k < 4; ++k) {
    if (first + 1024 * k < n) out[first + 1024 * k] = sum[k];
  }
}

cudaError_t add_rings(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  cudaFuncSetAttribute(go_round, cudaFuncAttributeMaxDynamicSharedMemorySize, 7 * 16384);
  const auto rings = static_cast<unsigned>((n + 32767) / 32768);
  go_round<<<8 * rings, 1024, 7 * 16384, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace announced_late
