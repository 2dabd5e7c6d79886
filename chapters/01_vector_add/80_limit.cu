// The record, after the readable ladder ended. Needs compute capability 9.0; chapter 09 teaches every line.
// Idea: the copy engine of the SM moves whole tiles into shared memory, so the bytes in flight no longer depend on how
//   many registers threads can spare. We choose them: 6 blocks x 2 tiles x 4 KiB = 48 KiB per SM.
// Predicts: at 48 KiB the memory is just saturated and its queues are as short as they can be; with 32 KiB it starves,
//   with 128 KiB requests disturb each other (07 showed it).
// Still wrong: one launch and its tail cost some microseconds; chapter 21 works on those.
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

namespace limit {

namespace ptx = cuda::ptx;

constexpr int block_size = 256;
constexpr int tile = 4 * block_size;  // floats: one float4 a thread
constexpr int tile_bytes = tile * static_cast<int>(sizeof(float));
constexpr int blocks_per_sm = 6;

/// c[i] = a[i] + b[i]; a block adds one tile. The arrays are aligned to 16 bytes. A tile that is not full, the last, is
/// loaded by the threads.
__global__ void __launch_bounds__(block_size) add_tile(const float* a, const float* b, float* c, std::int64_t n) {
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
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);  // the copy engine must see the barrier
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &arrived, 2 * tile_bytes);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, shared, a + first, tile_bytes, &arrived);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, shared + block_size, b + first, tile_bytes, &arrived);
  }
  __syncthreads();  // the barrier exists before anybody waits on it
  while (!ptx::mbarrier_try_wait_parity(&arrived, 0)) {
  }
  const float4 x = shared[t], y = shared[block_size + t];
  reinterpret_cast<float4*>(c + first)[t] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

/// Adds n floats. Device pointers, 16-byte aligned arrays of n; c may not overlap a or b. \returns the error of the
/// launch.
cudaError_t add(const float* a, const float* b, float* c, std::int64_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  int device = 0, per_sm = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error = cudaDeviceGetAttribute(&per_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device)) {
    return error;
  }
  // More shared memory than the tiles need, so that exactly blocks_per_sm blocks fit on an SM (1 KiB each is the
  // system's).
  const int bytes = (per_sm / blocks_per_sm - 2048) / 128 * 128;
  if (cudaError_t error = cudaFuncSetAttribute(add_tile, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)) {
    return error;
  }
  const std::int64_t blocks = (n + tile - 1) / tile;
  add_tile<<<static_cast<unsigned>(blocks), block_size, static_cast<unsigned>(bytes), stream>>>(a, b, c, n);
  return cudaGetLastError();
}

}  // namespace limit
