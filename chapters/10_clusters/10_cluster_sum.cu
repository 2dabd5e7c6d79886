// Idea: a sum by one cluster. Each block adds up its share as in chapter 02 and sends its sum to
//   block 0 by st.async, which counts the bytes at a barrier there. Only block 0 waits.
// Predicts: for small arrays a launch, a read and one way between SMs, about 1 us over an empty
//   kernel. Through global memory the meeting costs a fence, an atomic and another read.
// Still wrong: eight SMs do not draw the bandwidth of the memory. From some 2^17 floats on, chapter
//   02's sum over all SMs is ahead.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>
#include <utility>

namespace cluster_sum {

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

constexpr int block_size = 512;
constexpr int blocks = 8;  // one cluster
constexpr int loads = 4;   // of 16 bytes, on their way at once per thread

__device__ float add_up(float x) {
  for (int distance = 16; distance > 0; distance /= 2) x += __shfl_xor_sync(~0u, x, distance);
  return x;
}

__global__ void __cluster_dims__(blocks, 1, 1) __launch_bounds__(block_size)
    add_in_cluster(const float* in, float* out, std::int64_t n) {
  __shared__ float of_warps[block_size / 32], of_blocks[blocks];
  __shared__ std::uint64_t there;  // block 0's: the sums of all blocks have come
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x);
  const int rank = static_cast<int>(cluster.block_rank());
  if (rank == 0 && t == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  auto all_have_begun = cluster.barrier_arrive();
  constexpr int step = blocks * block_size;
  const float4* const in4 = reinterpret_cast<const float4*>(in);
  const std::int64_t vectors = n / 4;
  float sum[loads] = {};
  for (std::int64_t i = rank * block_size + t; i < vectors; i += loads * step) {
    float4 v[loads];
    for (int k = 0; k < loads; ++k) {
      v[k] = i + k * step < vectors ? in4[i + k * step] : make_float4(0, 0, 0, 0);
    }
    for (int k = 0; k < loads; ++k) sum[k] += (v[k].x + v[k].y) + (v[k].z + v[k].w);
  }
  if (rank == 0 && t < n % 4) sum[0] += in[4 * vectors + t];
  const float of_warp = add_up((sum[0] + sum[1]) + (sum[2] + sum[3]));
  if (t % 32 == 0) of_warps[t / 32] = of_warp;
  __syncthreads();
  cluster.barrier_wait(std::move(all_have_begun));  // by now they have: block 0's barrier is there
  if (t >= 32) return;
  const float of_block = add_up(t < block_size / 32 ? of_warps[t] : 0);
  if (t != 0) return;
  ptx::st_async(&cluster.map_shared_rank(of_blocks, 0)[rank], of_block,
                cluster.map_shared_rank(&there, 0));
  if (rank != 0) return;  // nobody reaches for this block
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                 sizeof of_blocks);
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &there, 0)) {
  }
  float total = 0;
  for (const float part : of_blocks) total += part;
  *out = total;
}

/// out[0] = the sum of n floats, always in the same order. Device pointers, in at a multiple of 16
/// bytes. \returns cudaErrorInvalidValue for another pointer or n below 0, or the error of the
/// launch.
cudaError_t sum(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (n < 0 || reinterpret_cast<std::uintptr_t>(in) % 16 != 0) return cudaErrorInvalidValue;
  add_in_cluster<<<blocks, block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}

}  // namespace cluster_sum
