// Study: the scan of 11 through global memory. The same eight blocks, launched as 11's are, pass
//   their sums on as words of 64 bits: a sum and the number of its round, so that one read brings
//   both.
// Predicts: slower than 11 by the way to the L2 cache and back, in each round.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cuda/atomic>
#include <utility>

namespace global_scan_study {

namespace cg = cooperative_groups;

constexpr int block_size = 512;
constexpr int blocks = 8;  // a cluster, so that all of them run at the same time
constexpr int warps = block_size / 32;
constexpr int per_thread = 16;  // floats
constexpr int tile = block_size * per_thread;

/// The sum of x over the lanes up to this one.
__device__ float scan_warp(float x, int lane) {
  for (int distance = 1; distance < 32; distance *= 2) {
    const float before = __shfl_up_sync(~0u, x, distance);
    if (lane >= distance) x += before;
  }
  return x;
}

using Word = cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>;

/// Block r takes tile r of each round of eight tiles. A warp takes 512 neighbouring
/// floats, in four rows of 128: four floats per lane and row.
__global__ void __cluster_dims__(blocks, 1, 1) __launch_bounds__(block_size)
    scan_in_blocks(const float* in, float* out, std::int64_t n, unsigned long long* words) {
  __shared__ float of_warps[warps];
  __shared__ float sums[blocks];
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t / 32;
  const int rank = static_cast<int>(blockIdx.x);
  float carry = 0;  // the sum of all rounds before
  unsigned round = 1;
  if (rank == 0 && t < 2 * blocks) words[t] = 0;
  const cg::cluster_group cluster = cg::this_cluster();
  auto words_are_zero = cluster.barrier_arrive();  // the cluster's only use: no second launch
  for (std::int64_t begin = 0; begin < n; begin += tile * blocks, ++round) {
    const std::int64_t first = begin + rank * tile + warp * 32 * per_thread + 4 * lane;
    constexpr int rows = per_thread / 4;
    float4 v[rows];
    float before[rows], of_warp = 0;
    for (int k = 0; k < rows; ++k) {
      const std::int64_t i = first + k * 128;
      v[k] = make_float4(0, 0, 0, 0);
      if (i + 4 <= n) {
        v[k] = *reinterpret_cast<const float4*>(in + i);
      } else {
        if (i < n) v[k].x = in[i];
        if (i + 1 < n) v[k].y = in[i + 1];
        if (i + 2 < n) v[k].z = in[i + 2];
      }
    }
    for (int k = 0; k < rows; ++k) {
      v[k].y += v[k].x, v[k].z += v[k].y, v[k].w += v[k].z;
      const float up_to_here = scan_warp(v[k].w, lane);
      const float lanes_before = __shfl_up_sync(~0u, up_to_here, 1);
      before[k] = of_warp + (lane == 0 ? 0 : lanes_before);
      of_warp += __shfl_sync(~0u, up_to_here, 31);
    }
    if (lane == 0) of_warps[warp] = of_warp;
    __syncthreads();
    const float up_to_warp = scan_warp(of_warps[lane % warps], lane);  // every warp, for itself
    const float of_warps_before = __shfl_sync(~0u, up_to_warp, (warp + warps - 1) % warps);
    const float of_block = __shfl_sync(~0u, up_to_warp, warps - 1);
    if (round == 1) cluster.barrier_wait(std::move(words_are_zero));
    if (t < blocks) {
      // A word has two places, so that no block is overtaken: nobody is two rounds ahead.
      unsigned long long* const of_round = words + round % 2 * blocks;
      if (t == rank) {
        Word(of_round[t])
            .store(std::uint64_t{round} << 32 | __float_as_uint(of_block),
                   cuda::memory_order_relaxed);
      }
      unsigned long long word = 0;
      do {
        word = Word(of_round[t]).load(cuda::memory_order_relaxed);
      } while (word >> 32 != round);
      sums[t] = __uint_as_float(static_cast<unsigned>(word));
    }
    __syncthreads();
    float start = carry;
    for (int r = 0; r < blocks; ++r) {
      if (r < rank) start += sums[r];
      carry += sums[r];
    }
    if (warp > 0) start += of_warps_before;
    for (int k = 0; k < rows; ++k) {
      const std::int64_t i = first + k * 128;
      const float add = start + before[k];
      const float4 o = make_float4(add + v[k].x, add + v[k].y, add + v[k].z, add + v[k].w);
      if (i + 4 <= n) {
        *reinterpret_cast<float4*>(out + i) = o;
      } else {
        if (i < n) out[i] = o.x;
        if (i + 1 < n) out[i + 1] = o.y;
        if (i + 2 < n) out[i + 2] = o.z;
      }
    }
  }
}

/// out[i] = in[0] + ... + in[i] for n floats, always in the same order. Device pointers, multiples
/// of 16 bytes. With workspace == nullptr: only writes the bytes of scratch memory that it needs.
/// \returns cudaErrorInvalidValue for other pointers, too little scratch memory or n below 0, or an
/// error of CUDA.
cudaError_t scan(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                 std::int64_t n, cudaStream_t stream) {
  const auto aligned = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; };
  constexpr std::size_t bytes = 2 * blocks * sizeof(unsigned long long);
  if (n < 0) return cudaErrorInvalidValue;
  if (workspace == nullptr) {
    workspace_bytes = bytes;
    return cudaSuccess;
  }
  if (workspace_bytes < bytes || !aligned(workspace) || !aligned(in) || !aligned(out)) {
    return cudaErrorInvalidValue;
  }
  if (n == 0) return cudaSuccess;
  scan_in_blocks<<<blocks, block_size, 0, stream>>>(in, out, n,
                                                    static_cast<unsigned long long*>(workspace));
  return cudaGetLastError();
}

}  // namespace global_scan_study
