// The third way to choose the bytes in flight: bulk copies, whose count depends on shared memory
// alone. The kernel of 80_limit with 128 threads per block; k resident blocks hold 8 x k KiB. Needs
// compute capability 9.0.
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

namespace in_flight_bulk_study {

namespace ptx = cuda::ptx;

constexpr int block_size = 128;
constexpr int vectors = 2;  // float4 of each input a thread
constexpr int tile = 4 * vectors * block_size;
constexpr int tile_bytes = tile * static_cast<int>(sizeof(float));

__global__ void __launch_bounds__(block_size)
    add_tile(const float* a, const float* b, float* c, std::int64_t n) {
  extern __shared__ __align__(128) float4 shared[];
  __shared__ std::uint64_t arrived;
  const std::int64_t first = std::int64_t{blockIdx.x} * tile;
  const int t = static_cast<int>(threadIdx.x);
  if (first + tile > n) {
    for (std::int64_t i = first + t; i < n; i += block_size) c[i] = a[i] + b[i];
    return;
  }
  if (t == 0) {
    ptx::mbarrier_init(&arrived, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &arrived,
                                   2 * tile_bytes);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, shared, a + first, tile_bytes,
                       &arrived);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, shared + vectors * block_size,
                       b + first, tile_bytes, &arrived);
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&arrived, 0)) {
  }
#pragma unroll
  for (int k = 0; k < vectors; ++k) {
    const int i = t + k * block_size;
    const float4 x = shared[i], y = shared[vectors * block_size + i];
    reinterpret_cast<float4*>(c + first)[i] =
        make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
  }
}

/// True if a float4 may lie there.
bool aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % alignof(float4) == 0; }

/// Adds n floats with `kib` (8, 16, ... 128) KiB in flight per SM, chosen by the number of resident
/// blocks. The arrays are aligned to 16 bytes.
/// \returns cudaErrorInvalidValue for another number, for other pointers, for n < 0 or for more
/// blocks than a grid has; or the error of the launch.
cudaError_t by_bulk_copies(const float* a, const float* b, float* c, std::int64_t n, int kib,
                           cudaStream_t stream) {
  if (kib < 8 || kib > 128 || kib % 8 != 0) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  const std::int64_t blocks = (n + tile - 1) / tile;
  if (n < 0 || blocks > INT32_MAX) return cudaErrorInvalidValue;
  if (!aligned(a) || !aligned(b) || !aligned(c)) return cudaErrorInvalidValue;
  int device = 0, per_sm = 0, most = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error =
          cudaDeviceGetAttribute(&per_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device)) {
    return error;
  }
  if (cudaError_t error =
          cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device))
    return error;
  int bytes = (per_sm / (kib / 8) - 2048) / 128 * 128;
  bytes = bytes < most - 128 ? bytes : most - 128;  // the barrier needs some, too
  if (cudaError_t error =
          cudaFuncSetAttribute(add_tile, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)) {
    return error;
  }
  add_tile<<<static_cast<unsigned>(blocks), block_size, static_cast<unsigned>(bytes), stream>>>(
      a, b, c, n);
  return cudaGetLastError();
}

}  // namespace in_flight_bulk_study
