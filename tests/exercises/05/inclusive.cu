// Answers to the exercises of chapter 05, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cuda/atomic>

namespace one_thread {
// 5: NOT YET: right, but one after the other
__global__ void scan_all(const float* in, float* out, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(sum += in[i]);
}

cudaError_t inclusive(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                      std::int64_t n, cudaStream_t stream) {
  workspace_bytes = 4;
  if (workspace != nullptr) scan_all<<<1, 1, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_thread

// Each tile alone, then the sum before it is added: the array is read and written twice.
namespace tiles_then_added {
// 5: NOT YET: right, but it moves
__device__ float warp_scan(float x) {
  for (int step = 1; step < 32; step *= 2) {
    const float left = __shfl_up_sync(0xffffffffu, x, step);
    if (static_cast<int>(threadIdx.x) % 32 >= step) x += left;
  }
  return x;
}
__global__ void scan_each(const float* in, float* out, float* sums, std::int64_t n) {
  __shared__ float s[32];
  const int t = static_cast<int>(threadIdx.x), warp = t / 32;
  const std::int64_t i = std::int64_t{blockIdx.x} * 1024 + t;
  const float upto = warp_scan(i < n ? in[i] : 0.0f);
  if (t % 32 == 31) s[warp] = upto;
  __syncthreads();
  const float all = warp_scan(s[t % 32]);
  const float before = __shfl_sync(0xffffffffu, all, (warp + 31) % 32);
  if (i < n) out[i] = warp > 0 ? before + upto : upto;
  if (t == 1023) sums[blockIdx.x] = all;
}
__global__ void add_before(float* out, const float* sums, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 1024 + threadIdx.x;
  if (blockIdx.x > 0 && i < n) out[i] += sums[blockIdx.x - 1];
}

cudaError_t scan_levels(float* sums, const float* in, float* out, std::int64_t n,
                        cudaStream_t stream) {
  const auto tiles = static_cast<unsigned>((n + 1023) / 1024);
  scan_each<<<tiles, 1024, 0, stream>>>(in, out, sums, n);
  if (tiles == 1) return cudaGetLastError();
  if (cudaError_t error = scan_levels(sums + tiles, sums, sums, tiles, stream)) return error;
  add_before<<<tiles, 1024, 0, stream>>>(out, sums, n);
  return cudaGetLastError();
}
cudaError_t inclusive(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                      std::int64_t n, cudaStream_t stream) {
  workspace_bytes = static_cast<std::size_t>(n / 512 + 16) * sizeof(float);
  if (workspace == nullptr || n == 0) return cudaSuccess;
  return scan_levels(static_cast<float*>(workspace), in, out, n, stream);
}
}  // namespace tiles_then_added

// As version 09: a tile waits for the sum of all tiles before it, mark and sum in one word.
namespace waits_for_the_one_before {
// 5: PASSED
using Word = std::uint64_t;
__device__ float warp_scan(float x) {
  for (int step = 1; step < 32; step *= 2) {
    const float left = __shfl_up_sync(0xffffffffu, x, step);
    if (static_cast<int>(threadIdx.x) % 32 >= step) x += left;
  }
  return x;
}
__global__ void scan_tiles(const float* in, float* out, unsigned* next, Word* words,
                           std::int64_t n) {
  using Shared = cuda::atomic_ref<Word, cuda::thread_scope_device>;
  __shared__ float s[8], before_of_block;
  __shared__ unsigned number_of_block;
  const int t = static_cast<int>(threadIdx.x), warp = t / 32;
  if (t == 0) number_of_block = atomicAdd(next, 1u);
  __syncthreads();
  const unsigned number = number_of_block;
  const std::int64_t first = std::int64_t{number} * 4096 + warp * 512 + t % 32;
  float x[16], carry = 0;
  for (int r = 0; r < 16; ++r) {
    x[r] = carry + warp_scan(first + r * 32 < n ? in[first + r * 32] : 0.0f);
    carry = __shfl_sync(0xffffffffu, x[r], 31);
  }
  if (t % 32 == 0) s[warp] = carry;
  __syncthreads();
  if (t == 0) {
    Word word = number == 0 ? Word{1} << 32 : 0;
    while (word >> 32 == 0) word = Shared(words[number - 1]).load(cuda::memory_order_relaxed);
    float sum = before_of_block = __uint_as_float(static_cast<unsigned>(word));
    for (const float of_warp : s) sum += of_warp;
    Shared(words[number]).store(Word{1} << 32 | __float_as_uint(sum), cuda::memory_order_relaxed);
  }
  __syncthreads();
  float start = before_of_block;
  for (int w = 0; w < warp; ++w) start += s[w];
  for (int r = 0; r < 16; ++r)
    if (first + r * 32 < n) out[first + r * 32] = start + x[r];
}

cudaError_t inclusive(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                      std::int64_t n, cudaStream_t stream) {
  const std::int64_t tiles = (n + 4095) / 4096;
  workspace_bytes = static_cast<std::size_t>(tiles + 1) * sizeof(Word);
  if (workspace == nullptr || n == 0) return cudaSuccess;
  if (cudaError_t error = cudaMemsetAsync(workspace, 0, workspace_bytes, stream)) return error;
  scan_tiles<<<static_cast<unsigned>(tiles), 256, 0, stream>>>(
      in, out, static_cast<unsigned*>(workspace), static_cast<Word*>(workspace) + 1, n);
  return cudaGetLastError();
}
}  // namespace waits_for_the_one_before

// One launch adds up the tiles, one scans the sums, one scans the tiles: no block waits.
namespace three_launches {
// 5: PASSED
__device__ float warp_scan(float x) {
  for (int step = 1; step < 32; step *= 2) {
    const float left = __shfl_up_sync(0xffffffffu, x, step);
    if (static_cast<int>(threadIdx.x) % 32 >= step) x += left;
  }
  return x;
}
__global__ void add_tiles(const float* in, float* sums, std::int64_t n) {
  float sum = 0;
  for (int r = 0; r < 128; ++r) {
    const std::int64_t i = std::int64_t{blockIdx.x} * 4096 + r * 32 + threadIdx.x;
    sum += i < n ? in[i] : 0.0f;
  }
  sum = warp_scan(sum);
  if (threadIdx.x == 31) sums[blockIdx.x] = sum;
}
__global__ void scan_sums(float* sums, int tiles) {
  float carry = 0;
  for (int i = static_cast<int>(threadIdx.x); i < (tiles + 31) / 32 * 32; i += 32) {
    const float upto = carry + warp_scan(i < tiles ? sums[i] : 0.0f);
    if (i < tiles) sums[i] = upto;
    carry = __shfl_sync(0xffffffffu, upto, 31);
  }
}
__global__ void scan_tiles(const float* in, const float* sums, float* out, std::int64_t n) {
  float carry = blockIdx.x > 0 ? sums[blockIdx.x - 1] : 0.0f;
  for (int r = 0; r < 128; ++r) {
    const std::int64_t i = std::int64_t{blockIdx.x} * 4096 + r * 32 + threadIdx.x;
    const float upto = carry + warp_scan(i < n ? in[i] : 0.0f);
    if (i < n) out[i] = upto;
    carry = __shfl_sync(0xffffffffu, upto, 31);
  }
}

cudaError_t inclusive(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                      std::int64_t n, cudaStream_t stream) {
  const auto tiles = static_cast<unsigned>((n + 4095) / 4096);
  workspace_bytes = (tiles + 1) * sizeof(float);
  if (workspace == nullptr || n == 0) return cudaSuccess;
  float* const sums = static_cast<float*>(workspace);
  add_tiles<<<tiles, 32, 0, stream>>>(in, sums, n);
  scan_sums<<<1, 32, 0, stream>>>(sums, static_cast<int>(tiles));
  scan_tiles<<<tiles, 32, 0, stream>>>(in, sums, out, n);
  return cudaGetLastError();
}
}  // namespace three_launches
