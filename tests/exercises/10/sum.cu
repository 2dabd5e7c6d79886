// Answers to the exercises of chapter 10, and the verdicts that the CPU backend must give.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace one_thread {
// 2: NOT YET: right, but one after the other
__global__ void add_all(const float* in, float* out, std::int64_t n) {
  float parts[8] = {};  // eight sums, so that their errors stay small
  for (std::int64_t i = 0; i < n; ++i) parts[i % 8] += in[i];
  *out = 0;
  for (const float part : parts) *out += part;
}

cudaError_t sum(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  add_all<<<1, 1, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_thread

namespace one_lane_per_warp {
// 2: NOT YET: right, but one after the other
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(4, 1, 1) add_some(const float* in, float* out, std::int64_t n) {
  __shared__ float of_warps[32];  // in block 0: the sums of all warps of the cluster
  const cg::cluster_group cluster = cg::this_cluster();
  const int warp = static_cast<int>(cluster.block_rank() * 8 + threadIdx.x / 32);
  float sum = 0;
  cluster.sync();
  if (threadIdx.x % 32 == 0) {
    for (std::int64_t i = warp; i < n; i += 32) sum += in[i];
    cluster.map_shared_rank(of_warps, 0)[warp] = sum;
  }
  cluster.sync();
  if (warp > 0 || threadIdx.x > 0) return;
  sum = 0;
  for (const float of_warp : of_warps) sum += of_warp;
  *out = sum;
}

cudaError_t sum(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  add_some<<<4, 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp

// The first thread of each block adds up the sums of its 256 threads, one after the other.
namespace one_thread_per_block_adds {
// 2: NOT YET: right, but one after the other
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(4, 1, 1) add_up(const float* in, float* out, std::int64_t n) {
  __shared__ float each[256];
  const cg::cluster_group cluster = cg::this_cluster();
  float sum = 0;
  for (std::int64_t i = cluster.thread_rank(); i < n; i += 1024) sum += in[i];
  each[threadIdx.x] = sum;
  cluster.sync();
  if (cluster.thread_rank() == 0) {
    sum = 0;
    for (int i = 0; i < 1024; ++i) sum += cluster.map_shared_rank(each, i / 256)[i % 256];
    *out = sum;
  }
  cluster.sync();
}

cudaError_t sum(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  add_up<<<4, 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_thread_per_block_adds

// No cluster: all threads add to one address, so their atomics are serialised.
namespace atomic_each {
// 2: NOT YET: right, but
__global__ void add_each(const float* in, float* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (i < n) atomicAdd(out, in[i]);
}

cudaError_t sum(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (cudaError_t error = cudaMemsetAsync(out, 0, sizeof *out, stream)) return error;
  if (n > 0) add_each<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace atomic_each

namespace host_adds_blocks {
// 2: NOT YET: right, but
__device__ float of_block[4];
__global__ void add_block(const float* in, std::int64_t n) {
  __shared__ float total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  float sum = 0;
  for (std::int64_t i = blockIdx.x * 256 + threadIdx.x; i < n; i += 1024) sum += in[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) atomicAdd(&total, sum);
  __syncthreads();
  if (threadIdx.x == 0) of_block[blockIdx.x] = total;
}

cudaError_t sum(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  add_block<<<4, 256, 0, stream>>>(in, n);
  float sums[4];
  cudaStreamSynchronize(stream);
  cudaMemcpyFromSymbol(sums, of_block, sizeof sums);
  const float total = sums[0] + sums[1] + sums[2] + sums[3];
  return cudaMemcpyAsync(out, &total, sizeof total, cudaMemcpyHostToDevice, stream);
}
}  // namespace host_adds_blocks

// All warps write into block 0, so no block reads from another one at the end.
namespace sends_to_the_first {
// 2: PASSED
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(4, 1, 1) add_up(const float* in, float* out, std::int64_t n) {
  __shared__ float of_warps[32];
  const cg::cluster_group cluster = cg::this_cluster();
  const int i0 = static_cast<int>(cluster.thread_rank());
  float sum = 0;
  for (std::int64_t i = i0; i < n; i += 1024) sum += in[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  cluster.sync();  // block 0 has begun
  if (i0 % 32 == 0) cluster.map_shared_rank(of_warps, 0)[i0 / 32] = sum;
  cluster.sync();  // all sums have arrived
  if (i0 >= 32) return;
  sum = of_warps[i0];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (i0 == 0) *out = sum;
}

cudaError_t sum(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  add_up<<<4, 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace sends_to_the_first

// A cluster of eight; each of eight lanes of the first warp reads the sum of one block.
namespace lane_per_block {
// 2: PASSED
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(8, 1, 1)
    add_by_lanes(const float* in, float* out, std::int64_t n) {
  __shared__ float total;
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  float sum = 0;
  for (std::int64_t i = cluster.thread_rank(); i < n; i += 1024) sum += in[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) atomicAdd(&total, sum);
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x < 8) {
    float one = *cluster.map_shared_rank(&total, static_cast<int>(threadIdx.x));
    for (int d = 4; d > 0; d /= 2) one += __shfl_down_sync(0xFFu, one, d, 8);
    if (threadIdx.x == 0) *out = one;
  }
  cluster.sync();
}

cudaError_t sum(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  add_by_lanes<<<8, 128, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace lane_per_block

// Blocks arrive after their reads, and wait for the others only before they exit.
namespace arrives_then_waits {
// 2: PASSED
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(4, 1, 1) add_up(const float* in, float* out, std::int64_t n) {
  __shared__ float all[256];
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned t = threadIdx.x;
  float sum = 0;
  for (std::int64_t i = cluster.thread_rank(); i < n; i += 1024) sum += in[i];
  all[t] = sum;
  for (unsigned half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) all[t] += all[t + half];
  }
  cluster.sync();
  float total = 0;
  if (t == 0) {
    for (int r = 0; r < 4; ++r) total += *cluster.map_shared_rank(all, r);
  }
  auto token = cluster.barrier_arrive();
  if (cluster.thread_rank() == 0) *out = total;
  cluster.barrier_wait(static_cast<decltype(token)&&>(token));
}

cudaError_t sum(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  add_up<<<4, 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace arrives_then_waits
