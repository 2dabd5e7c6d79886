// Idea: a warp scans its 32 elements by shuffles, with no shared memory and no barrier; one warp
//   scans the sums of the warps; then every warp adds what comes before it.
// Predicts: two barriers per tile instead of 23. Five additions per element again, not two: lanes
//   that would wait for the others add instead, at no cost.
// Still wrong: a tile of 1024 elements is little for what it costs: two barriers, two trips to the
//   memory, one after the other.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace warp_shuffle {

constexpr int block_size = 1024;
constexpr int warps = block_size / 32;
constexpr int tile = block_size;  // elements

/// Lane k gets the sum of x of lanes 0 to k; all 32 lanes must call.
template <class T>
__device__ T warp_scan(T x) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int step = 1; step < 32; step *= 2) {
    const T left = __shfl_up_sync(0xffffffffu, x, step);
    if (lane >= step) x += left;
  }
  return x;
}

/// Thread t gets the sum of x of threads 0 to t; all threads of the block must call.
template <class T>
__device__ T block_scan(T x) {
  __shared__ T s[warps];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  x = warp_scan(x);
  if (lane == 31) s[warp] = x;
  __syncthreads();
  if (warp == 0) s[lane] = warp_scan(s[lane]);
  __syncthreads();
  return warp > 0 ? s[warp - 1] + x : x;
}

/// Scans each tile on its own; sums[b] = the sum of tile b, unless sums is nullptr.
template <bool exclusive, class T>
__global__ void scan_tiles(const T* in, T* out, T* sums, std::int64_t n) {
  const int t = static_cast<int>(threadIdx.x);
  const std::int64_t i = std::int64_t{blockIdx.x} * tile + t;
  const T upto = block_scan(i < n ? in[i] : T{0});
  if (!exclusive && i < n) out[i] = upto;
  if (exclusive && t + 1 < tile && i + 1 < n) out[i + 1] = upto;
  if (exclusive && t == 0) out[i] = 0;
  if (sums != nullptr && t == tile - 1) sums[blockIdx.x] = upto;
}

/// Adds to each tile what comes before it; sums: scanned, exclusive.
template <class T>
__global__ void add_before(const T* sums, T* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * tile + threadIdx.x;
  if (i < n) out[i] += sums[blockIdx.x];
}

/// Elements of scratch memory: the sums of the tiles, the sums of the sums' tiles, and so on.
inline std::int64_t sums_for(std::int64_t n) {
  std::int64_t sums = 1;  // never none: no workspace means a question
  while (n > tile) sums += n = (n + tile - 1) / tile;
  return sums;
}

/// Scans n elements, with as many of scratch memory as sums_for(n) says.
template <bool exclusive, class T>
cudaError_t scan_levels(T* sums, const T* in, T* out, std::int64_t n, cudaStream_t stream) {
  const std::int64_t tiles = (n + tile - 1) / tile;
  const auto blocks = static_cast<unsigned>(tiles);
  scan_tiles<exclusive><<<blocks, block_size, 0, stream>>>(in, out, tiles > 1 ? sums : nullptr, n);
  if (cudaError_t error = cudaGetLastError()) return error;
  if (tiles == 1) return cudaSuccess;
  if (cudaError_t error = scan_levels<true>(sums + tiles, sums, sums, tiles, stream)) return error;
  add_before<<<blocks, block_size, 0, stream>>>(sums, out, n);
  return cudaGetLastError();
}

/// True unless p is a multiple of `bytes`.
inline bool misaligned(const void* p, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % bytes != 0;
}

/// out[i] = in[0] + ... + in[i], or with `exclusive` in[0] + ... + in[i - 1], which is 0 for i = 0.
/// Device pointers; out may be in. With workspace == nullptr: only writes the bytes of scratch
/// memory that it needs. \returns cudaErrorInvalidValue for too little of it or a misaligned
/// pointer, for n < 0 or more tiles than a grid has blocks, or the error of a launch.
template <bool exclusive, class T>
cudaError_t scan_of(void* workspace, std::size_t& workspace_bytes, const T* in, T* out,
                    std::int64_t n, cudaStream_t stream) {
  if (n < 0 || (n + tile - 1) / tile > INT32_MAX) return cudaErrorInvalidValue;
  const std::size_t needed = static_cast<std::size_t>(sums_for(n)) * sizeof(T);
  if (workspace == nullptr) {
    workspace_bytes = needed;
    return cudaSuccess;
  }
  if (workspace_bytes < needed) return cudaErrorInvalidValue;
  if (misaligned(workspace, alignof(T))) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  return scan_levels<exclusive>(static_cast<T*>(workspace), in, out, n, stream);
}

cudaError_t inclusive(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                      std::int64_t n, cudaStream_t stream) {
  return scan_of<false>(workspace, workspace_bytes, in, out, n, stream);
}

cudaError_t exclusive(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                      std::int64_t n, cudaStream_t stream) {
  return scan_of<true>(workspace, workspace_bytes, in, out, n, stream);
}

/// Modulo 2^32, as the next.
cudaError_t inclusive(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                      unsigned* out, std::int64_t n, cudaStream_t stream) {
  return scan_of<false>(workspace, workspace_bytes, in, out, n, stream);
}

cudaError_t exclusive(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                      unsigned* out, std::int64_t n, cudaStream_t stream) {
  return scan_of<true>(workspace, workspace_bytes, in, out, n, stream);
}

}  // namespace warp_shuffle
