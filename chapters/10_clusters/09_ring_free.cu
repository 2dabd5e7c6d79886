// Idea: two barriers per place. `full` says that a chunk has arrived; `empty`, in the block that
//   sends, that the place has been read and may be filled again. With both of them two places are
//   enough, and each block waits for its neighbours only.
// Predicts: as fast per step as 08. With 32 KiB instead of 112 KiB four blocks fit on an SM, the
//   most that 2048 threads allow, and other rings work while one waits.
// Still wrong: slower than 08. Each "you may fill it again" is a release for the cluster, and waits
//   for the memory; 08 says nothing but by the stores themselves.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

namespace ring_free {

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

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

__device__ void wait(std::uint64_t* barrier, unsigned parity) {
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, barrier, parity)) {
  }
}

/// Lets the phase end when a whole chunk has come.
__device__ void expect_chunk(std::uint64_t* barrier) {
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier,
                                 chunk_bytes);
}

/// Stores a vector into another block, and counts its bytes at a barrier there.
__device__ void send(float4* to, float4 v, std::uint64_t* barrier) {
  const float values[4] = {v.x, v.y, v.z, v.w};
  ptx::st_async(&to->x, values, barrier);
}

/// A ring of blocks takes `blocks` neighbouring chunks. Block r of it: out = 1 c_r + 2 c_(r-1) +
/// 3 c_(r-2) + ... + 8 c_(r-7), where c_(-1) is c_7, element by element, in this order.
__global__ void __cluster_dims__(blocks, 1, 1) __launch_bounds__(block_size)
    add_round_the_ring(const float* in, float* out, std::int64_t n) {
  extern __shared__ float4 s[];  // s[2][chunk]
  __shared__ std::uint64_t full[2], empty[2];
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x);
  const int next = static_cast<int>(cluster.block_rank() + 1) % blocks;
  const int previous = static_cast<int>(cluster.block_rank() + blocks - 1) % blocks;
  const std::int64_t first = std::int64_t{blockIdx.x} * chunk + t;
  float4 v[vectors], sum[vectors];
  for (int k = 0; k < vectors; ++k) {
    v[k] = load(in, first + k * block_size, n);
    sum[k] = v[k];
  }
  if (t == 0) {
    for (int p = 0; p < 2; ++p) {
      ptx::mbarrier_init(&full[p], 1);
      ptx::mbarrier_init(&empty[p], block_size / 32);  // a thread of each warp of the next block
      expect_chunk(&full[p]);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  cluster.sync();  // all blocks have begun: their shared memory and their barriers are there
  for (int step = 1; step < blocks; ++step) {
    const int p = step % 2, place = p * chunk + t;
    const unsigned parity = static_cast<unsigned>((step - 1) / 2 % 2);
    float4* const to = cluster.map_shared_rank(s, next);
    std::uint64_t* const there = cluster.map_shared_rank(&full[p], next);
    wait(&empty[p], parity ^ 1);  // passes at once in the first two steps: nothing to wait for
    for (int k = 0; k < vectors; ++k) send(&to[place + k * block_size], v[k], there);
    wait(&full[p], parity);  // the chunk of the block before this one has arrived
    for (int k = 0; k < vectors; ++k) {
      v[k] = s[place + k * block_size];
      sum[k] = add_times(sum[k], static_cast<float>(step + 1), v[k]);
    }
    if (step + 2 < blocks) {  // the place will be filled again
      if (t == 0) expect_chunk(&full[p]);
      __syncwarp();  // all lanes have read
      if (t % 32 == 0) {
        ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                             cluster.map_shared_rank(&empty[p], previous));
      }
    }
  }
  for (int k = 0; k < vectors; ++k) store(out, first + k * block_size, n, sum[k]);
  // A block leaves when all chunks that were sent to it are there: nobody reaches for it any more.
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

}  // namespace ring_free
