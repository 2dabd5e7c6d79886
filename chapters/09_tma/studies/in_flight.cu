// Study: a copy by bulk copies alone, both ways: chunks of 1 to 64 KiB, 4 to 192 KiB per SM on
//   their way. One thread per block; shared memory limits the blocks.
// Predicts: what is on its way counts, not the size of a chunk (as long as an order costs less than
//   its bytes take): a curve for all, the one of chapter 01.
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

namespace in_flight_study {

namespace ptx = cuda::ptx;

/// out = in, a chunk of `bytes` bytes per block; the last one may be shorter.
__global__ void copy_chunk(const char* in, char* out, std::int64_t total, int bytes) {
  extern __shared__ __align__(128) char s[];
  __shared__ std::uint64_t there;
  const std::int64_t first = std::int64_t{blockIdx.x} * bytes;
  const std::uint32_t size =
      static_cast<std::uint32_t>(total - first < bytes ? total - first : bytes);
  ptx::mbarrier_init(&there, 1);
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, in + first, size, &there);
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there, size);
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + first, s, size);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
}

bool is_aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; }

/// Copies n floats in chunks of `chunk` KiB (1, 4, 16 or 64), `kib` KiB per SM on their way, a
/// multiple of chunk, at most 16 chunks. n is a multiple of four. Device pointers, multiples of 16
/// bytes; out must not overlap in. \returns cudaErrorInvalidValue for other values, for n < 0 and
/// more blocks than a grid has, or an error of CUDA.
cudaError_t copy(const float* in, float* out, std::int64_t n, std::int64_t chunk, std::int64_t kib,
                 cudaStream_t stream) {
  if (n < 0 || n % 4 != 0 || !is_aligned(in) || !is_aligned(out)) return cudaErrorInvalidValue;
  if (chunk != 1 && chunk != 4 && chunk != 16 && chunk != 64) return cudaErrorInvalidValue;
  if (kib < chunk || kib % chunk != 0 || kib / chunk > 16 || kib > 192)
    return cudaErrorInvalidValue;
  const std::int64_t floats = chunk * 256, blocks = n / floats + (n % floats != 0);
  if (blocks > INT32_MAX) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  int device = 0, per_sm = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error =
          cudaDeviceGetAttribute(&per_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device)) {
    return error;
  }
  // So much that exactly kib / chunk blocks fit on an SM (1 KiB each is the system's, 1 KiB at most
  // the barrier's), and no more than a block may have.
  const int needed = static_cast<int>(chunk) * 1024;
  const int fair = (per_sm / static_cast<int>(kib / chunk) - 2048) / 128 * 128;
  const int bytes = fair < needed ? needed : fair > 224 * 1024 ? 224 * 1024 : fair;
  if (cudaError_t error =
          cudaFuncSetAttribute(copy_chunk, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)) {
    return error;
  }
  copy_chunk<<<static_cast<unsigned>(blocks), 1, static_cast<unsigned>(bytes), stream>>>(
      reinterpret_cast<const char*>(in), reinterpret_cast<char*>(out), 4 * n, needed);
  return cudaGetLastError();
}

}  // namespace in_flight_study
