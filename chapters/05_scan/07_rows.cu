// Idea: a warp takes eight rows of 32 elements, all loaded before the first is scanned. A tile has
//   4096 elements, and its barriers serve four times as many.
// Predicts: eight loads in flight a thread; a quarter of the tiles, of their barriers and of the
//   sums. Near the rate that 16 bytes per element allow.
// Also: blocks of 512 threads instead of 1024. Eight rows wait in registers, and the smaller block
//   may have twice as many of them for each thread.
// Still wrong: those 16 bytes. The first pass writes all results, only for the second to read them
//   again.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace rows_of_warps {

constexpr int block_size = 512;
constexpr int warps = block_size / 32;
constexpr int rows = 8;                  // of 32 elements that a warp scans, one after the other
constexpr int tile = block_size * rows;  // elements

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

/// Each thread brings an element of each row of its warp, and gets their sums up to there (with
/// `exclusive`: up to the element before). Returns the tile's sum. All threads must call.
template <bool exclusive, class T>
__device__ T block_scan(T (&x)[rows]) {
  __shared__ T s[warps];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  T carry = 0;  // the rows so far
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const T upto = warp_scan(x[r]);
    const T left = __shfl_up_sync(0xffffffffu, upto, 1);
    x[r] = carry + (!exclusive ? upto : lane > 0 ? left : T{0});
    carry += __shfl_sync(0xffffffffu, upto, 31);
  }
  if (lane == 0) s[warp] = carry;
  __syncthreads();
  if (warp == 0) {
    const T upto = warp_scan(lane < warps ? s[lane] : T{0});
    if (lane < warps) s[lane] = upto;
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    if (warp > 0) x[r] += s[warp - 1];
  }
  return s[warps - 1];
}

/// The first element of this thread; row r is 32 r further on.
__device__ std::int64_t first_element(std::int64_t tile_number) {
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  return tile_number * tile + warp * (rows * 32) + lane;
}

/// Scans each tile on its own; sums[b] = the sum of tile b, unless sums is nullptr.
template <bool exclusive, class T>
__global__ void __launch_bounds__(block_size)
    scan_tiles(const T* in, T* out, T* sums, std::int64_t n) {
  const std::int64_t first = first_element(blockIdx.x);
  T x[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r) x[r] = first + r * 32 < n ? in[first + r * 32] : T{0};
  const T sum = block_scan<exclusive>(x);
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    if (first + r * 32 < n) out[first + r * 32] = x[r];
  }
  if (sums != nullptr && threadIdx.x == 0) sums[blockIdx.x] = sum;
}

/// Adds to each tile what comes before it; sums: scanned, exclusive.
template <class T>
__global__ void __launch_bounds__(block_size) add_before(const T* sums, T* out, std::int64_t n) {
  const std::int64_t first = first_element(blockIdx.x);
  const T before = sums[blockIdx.x];
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    if (first + r * 32 < n) out[first + r * 32] += before;
  }
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

}  // namespace rows_of_warps
