// Idea: a tree, up and down (Blelloch, 1990). Up: each node becomes the sum of its half of the
//   tile. Down: each node hands what comes before it to its left child, and that plus the left
//   child's sum to the right one.
// Predicts: two additions per element instead of ten; twice as many steps.
// Still wrong: the nodes of a level stand a power of two apart, and so in few banks: up to 32 lanes
//   want the same one. And most threads have nothing to do in most steps.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace blelloch {

constexpr int block_size = 512;
constexpr int tile = 2 * block_size;  // elements

/// Each thread brings elements t and t + block_size of a tile, and gets the sums of all elements
/// before each; returns the tile's sum. All threads of the block must call.
template <class T>
__device__ T block_scan(T& x, T& y) {
  __shared__ T s[tile];
  const int t = static_cast<int>(threadIdx.x);
  s[t] = x;
  s[t + block_size] = y;
  for (int step = 1; step < tile; step *= 2) {  // up: sums of pairs, of fours, ...
    __syncthreads();
    const int right = (2 * t + 2) * step - 1;
    if (right < tile) s[right] += s[right - step];
  }
  __syncthreads();
  const T sum = s[tile - 1];
  __syncthreads();
  if (t == 0) s[tile - 1] = 0;
  for (int step = tile / 2; step > 0; step /= 2) {  // down: what comes before each half
    __syncthreads();
    const int right = (2 * t + 2) * step - 1;
    if (right < tile) {
      const T left = s[right - step];
      s[right - step] = s[right];
      s[right] += left;
    }
  }
  __syncthreads();
  x = s[t];
  y = s[t + block_size];
  return sum;
}

/// Scans each tile on its own; sums[b] = the sum of tile b, unless sums is nullptr.
template <bool exclusive, class T>
__global__ void scan_tiles(const T* in, T* out, T* sums, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * tile + threadIdx.x, j = i + block_size;
  const T x = i < n ? in[i] : T{0}, y = j < n ? in[j] : T{0};
  T before_x = x, before_y = y;
  const T sum = block_scan(before_x, before_y);
  if (i < n) out[i] = exclusive ? before_x : before_x + x;
  if (j < n) out[j] = exclusive ? before_y : before_y + y;
  if (sums != nullptr && threadIdx.x == 0) sums[blockIdx.x] = sum;
}

/// Adds to each tile what comes before it; sums: scanned, exclusive.
template <class T>
__global__ void add_before(const T* sums, T* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * tile + threadIdx.x, j = i + block_size;
  if (i < n) out[i] += sums[blockIdx.x];
  if (j < n) out[j] += sums[blockIdx.x];
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

}  // namespace blelloch
