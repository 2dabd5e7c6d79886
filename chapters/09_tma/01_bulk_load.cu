// Idea: one order for a whole tile. A single thread names source, target and size; the SM's TMA
//   unit moves 4 KiB into shared memory and counts the bytes at an mbarrier. All threads wait
//   there, compute, and store the results as always.
// Predicts: at the limit of a copy. 16 blocks per SM have 64 KiB on their way, and no thread spends
//   an instruction or a register on a load.
// Still wrong: the results leave through the threads, 16 bytes per instruction.
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

namespace bulk_load {

namespace ptx = cuda::ptx;

constexpr int block_size = 128;
constexpr int tile = 8 * block_size;  // floats: two float4 per thread
constexpr int tile_bytes = tile * static_cast<int>(sizeof(float));

__device__ float4 doubled(float4 v) { return make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w); }

/// out = 2 in. A block of block_size threads per tile; a tile that is not full, the last, is left
/// to the threads.
__global__ void __launch_bounds__(block_size)
    double_tile(const float* in, float* out, std::int64_t n) {
  __shared__ alignas(128) float4 s[tile / 4];
  __shared__ std::uint64_t there;  // an mbarrier: counts arrivals and bytes
  const int t = static_cast<int>(threadIdx.x);
  const std::int64_t first = std::int64_t{blockIdx.x} * tile;
  if (n - first < tile) {
    for (std::int64_t i = first + t; i < n; i += block_size) out[i] = 2 * in[i];
    return;
  }
  if (t == 0) {
    ptx::mbarrier_init(&there, 1);  // one arrival: this thread's
    // The TMA must see the barrier before it counts there.
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, in + first, tile_bytes, &there);
    // Arrives, and lets the phase end only after so many bytes.
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                   tile_bytes);
  }
  __syncthreads();  // nobody waits at a barrier before it is initialised
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  float4* const to = reinterpret_cast<float4*>(out + first);
  to[t] = doubled(s[t]);
  to[t + block_size] = doubled(s[t + block_size]);
}

/// out = 2 in, a float per thread: for arrays that no bulk copy takes.
__global__ void double_by_threads(const float* in, float* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}

bool is_aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; }

/// out[i] = 2 in[i] for n floats. Device pointers; out must not overlap in. Arrays that do not
/// begin at a multiple of 16 bytes go through the threads. \returns cudaErrorInvalidValue for n < 0
/// and for more blocks than a grid has (2^38 floats), or the error of the launch.
cudaError_t scale(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  const bool aligned = is_aligned(in) && is_aligned(out);
  const int per_block = aligned ? tile : block_size;
  if (n < 0 || n > std::int64_t{INT32_MAX} * block_size) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  const unsigned blocks = static_cast<unsigned>((n + per_block - 1) / per_block);
  if (aligned) {
    double_tile<<<blocks, block_size, 0, stream>>>(in, out, n);
  } else {
    double_by_threads<<<blocks, block_size, 0, stream>>>(in, out, n);
  }
  return cudaGetLastError();
}

}  // namespace bulk_load
