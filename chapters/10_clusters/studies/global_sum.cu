// Study: the sum of 10 with a meeting in global memory. The same eight blocks, launched as 10's
//   are; each stores its sum there, and who comes last, by an atomic ticket, adds them up.
// Predicts: slower than 10 by a fence, an atomic and a read, each there and back to the L2 cache.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace global_sum_study {

namespace cg = cooperative_groups;

constexpr int block_size = 512;
constexpr int blocks = 8;
constexpr int loads = 4;  // of 16 bytes, on their way at once per thread

struct Meeting {
  unsigned ticket;
  float of_blocks[blocks];
};

__device__ float add_up(float x) {
  for (int distance = 16; distance > 0; distance /= 2) x += __shfl_xor_sync(~0u, x, distance);
  return x;
}

__global__ void __cluster_dims__(blocks, 1, 1) __launch_bounds__(block_size)
    add_in_blocks(const float* in, float* out, std::int64_t n, Meeting* meeting) {
  __shared__ float of_warps[block_size / 32];
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x), rank = static_cast<int>(blockIdx.x);
  if (rank == 0 && t == 0) meeting->ticket = 0;
  auto ticket_is_zero = cluster.barrier_arrive();  // the cluster's only use: no second launch
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
  cluster.barrier_wait(std::move(ticket_is_zero));
  if (t >= 32) return;
  const float of_block = add_up(t < block_size / 32 ? of_warps[t] : 0);
  if (t != 0) return;
  meeting->of_blocks[rank] = of_block;
  __threadfence();  // whoever sees the ticket sees the sum
  if (atomicAdd(&meeting->ticket, 1u) != blocks - 1) return;
  __threadfence();
  float total = 0;
  for (int r = 0; r < blocks; ++r) {
    total += *const_cast<const volatile float*>(&meeting->of_blocks[r]);
  }
  *out = total;
}

/// out[0] = the sum of n floats, always in the same order. Device pointers, in at a multiple of 16
/// bytes. With workspace == nullptr: only writes the bytes of scratch memory that it needs.
/// \returns cudaErrorInvalidValue for another pointer, too little scratch memory or n below 0, or
/// the error of the launch.
cudaError_t sum(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                std::int64_t n, cudaStream_t stream) {
  if (n < 0) return cudaErrorInvalidValue;
  if (workspace == nullptr) {
    workspace_bytes = sizeof(Meeting);
    return cudaSuccess;
  }
  if (workspace_bytes < sizeof(Meeting) ||
      reinterpret_cast<std::uintptr_t>(workspace) % alignof(Meeting) != 0 ||
      reinterpret_cast<std::uintptr_t>(in) % 16 != 0) {
    return cudaErrorInvalidValue;
  }
  add_in_blocks<<<blocks, block_size, 0, stream>>>(in, out, n, static_cast<Meeting*>(workspace));
  return cudaGetLastError();
}

}  // namespace global_sum_study
