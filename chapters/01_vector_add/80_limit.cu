// The record, after the readable ladder ended. Needs compute capability 9.0; see chapter 09.
// Idea: the SM's TMA unit moves whole tiles into shared memory, so that we can choose the bytes
//   in flight: 6 blocks x 2 x 4 KiB = 48 KiB per SM. And the L2 cache is told to keep what was
//   read, so that it writes the results back sooner. Below 3 * 2^24 elements, where a barrier and
//   shared memory cost more than they win, version 06 does the work.
// Predicts: 48 KiB just saturate the memory; less starves it, more disturbs it (07). The hint may
//   save some of the memory's changes between reading and writing.
// Still wrong: one launch and its tail cost some microseconds; chapter 21 works on those.
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

// Calls 06_vectors.cu
namespace vectors {
cudaError_t add(const float* a, const float* b, float* c, std::int64_t n, cudaStream_t stream);
}  // namespace vectors

namespace limit {

namespace ptx = cuda::ptx;

constexpr int block_size = 256;
constexpr int tile = 4 * block_size;  // floats: one float4 per thread
constexpr int tile_bytes = tile * static_cast<int>(sizeof(float));
constexpr int blocks_per_sm = 6;
constexpr std::int64_t least = 3 << 24;  // elements; measured: below, 06 is as fast or faster

/// A cache policy: evict other lines first. PTX ISA, "createpolicy".
__device__ std::uint64_t keep_in_l2() {
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

/// Starts a copy from global to shared memory that counts its bytes at a barrier, with a cache
/// policy, which <cuda/ptx> leaves out. PTX ISA, "cp.async.bulk".
__device__ void copy_bulk(void* to, const void* from, int bytes, std::uint64_t* barrier,
                          std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
      " [%0], [%1], %2, [%3], %4;"
      :
      : "r"(static_cast<unsigned>(__cvta_generic_to_shared(to))), "l"(from), "r"(bytes),
        "r"(static_cast<unsigned>(__cvta_generic_to_shared(barrier))), "l"(policy)
      : "memory");
}

/// c[i] = a[i] + b[i]; a block adds one tile. The arrays are aligned to 16 bytes. A tile that is
/// not full, the last, is loaded by the threads.
__global__ void __launch_bounds__(block_size)
    add_tile(const float* a, const float* b, float* c, std::int64_t n) {
  extern __shared__ __align__(128) float4 shared[];
  __shared__ std::uint64_t arrived;  // an mbarrier: counts the bytes that have arrived
  const std::int64_t first = std::int64_t{blockIdx.x} * tile;
  const int t = static_cast<int>(threadIdx.x);
  if (first + tile > n) {
    for (std::int64_t i = first + t; i < n; i += block_size) c[i] = a[i] + b[i];
    return;
  }
  if (t == 0) {
    ptx::mbarrier_init(&arrived, 1);
    // The TMA unit must see the barrier before it counts on it.
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &arrived,
                                   2 * tile_bytes);
    const std::uint64_t policy = keep_in_l2();
    copy_bulk(shared, a + first, tile_bytes, &arrived, policy);
    copy_bulk(shared + block_size, b + first, tile_bytes, &arrived, policy);
  }
  __syncthreads();  // the barrier exists before anybody waits on it
  while (!ptx::mbarrier_try_wait_parity(&arrived, 0)) {
  }
  const float4 x = shared[t], y = shared[block_size + t];
  reinterpret_cast<float4*>(c + first)[t] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

/// True if a float4 may lie there.
bool aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % alignof(float4) == 0; }

/// Adds n floats. Device pointers, 16-byte aligned arrays of n; c may not overlap a or b. \returns
/// cudaErrorInvalidValue for other pointers, for n < 0 or for more blocks than a grid has, or the
/// error of the launch.
cudaError_t add(const float* a, const float* b, float* c, std::int64_t n, cudaStream_t stream) {
  if (n < least) return vectors::add(a, b, c, n, stream);
  const std::int64_t blocks = (n + tile - 1) / tile;
  if (blocks > INT32_MAX) return cudaErrorInvalidValue;
  if (!aligned(a) || !aligned(b) || !aligned(c)) return cudaErrorInvalidValue;
  int device = 0, per_sm = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error =
          cudaDeviceGetAttribute(&per_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device)) {
    return error;
  }
  // More shared memory than the tiles need, so that exactly blocks_per_sm blocks fit on an SM (1
  // KiB each is the system's).
  const int bytes = (per_sm / blocks_per_sm - 2048) / 128 * 128;
  if (cudaError_t error =
          cudaFuncSetAttribute(add_tile, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)) {
    return error;
  }
  add_tile<<<static_cast<unsigned>(blocks), block_size, static_cast<unsigned>(bytes), stream>>>(
      a, b, c, n);
  return cudaGetLastError();
}

}  // namespace limit
