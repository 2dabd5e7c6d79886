// Exercise 7: beat a row. Right, and slow: as many scans as there are segments, all in one go.
//   ./chapters/run 05 --exercise 7          builds, checks and times it; --hint helps
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace exercise {

constexpr int block_size = 1024;
constexpr int warps = block_size / 32;
constexpr int tile = block_size;  // elements

/// What is scanned: does a segment begin in this part, and the sum since the last that does, or of
/// all of the part.
struct alignas(8) Part {
  unsigned begins, sum;
};
__device__ Part part_of(unsigned x) { return {x % 65536 == 0 ? 1u : 0u, x}; }
__device__ Part part_of(Part part) { return part; }

/// Two parts, one behind the other. Associative; but the order matters.
__device__ Part then(Part a, Part b) {
  return {a.begins | b.begins, b.begins != 0 ? b.sum : a.sum + b.sum};
}

/// Lane k gets the parts of lanes 0 to k, put together; all 32 lanes must call.
__device__ Part warp_scan(Part x) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int step = 1; step < 32; step *= 2) {
    const Part left = {__shfl_up_sync(0xffffffffu, x.begins, step),
                       __shfl_up_sync(0xffffffffu, x.sum, step)};
    if (lane >= step) x = then(left, x);
  }
  return x;
}

/// Thread t gets the parts of threads 0 to t; all threads of the block must call.
__device__ Part block_scan(Part x) {
  __shared__ Part s[warps];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  x = warp_scan(x);
  if (lane == 31) s[warp] = x;
  __syncthreads();
  if (warp == 0) s[lane] = warp_scan(s[lane]);
  __syncthreads();
  return warp > 0 ? then(s[warp - 1], x) : x;
}

/// tiles[b] = tile b as one part.
template <class T>
__global__ void add_tiles(const T* in, Part* tiles, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * tile + threadIdx.x;
  const Part upto = block_scan(i < n ? part_of(in[i]) : Part{0, 0});
  if (threadIdx.x == tile - 1) tiles[blockIdx.x] = upto;
}

__device__ void store(unsigned* to, Part part) { *to = part.sum; }
__device__ void store(Part* to, Part part) { *to = part; }

/// Scans each tile, beginning with before[b - 1], or with nothing if before is nullptr.
template <class T>
__global__ void scan_tiles(const T* in, const Part* before, T* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * tile + threadIdx.x;
  Part upto = block_scan(i < n ? part_of(in[i]) : Part{0, 0});
  if (before != nullptr && blockIdx.x > 0) upto = then(before[blockIdx.x - 1], upto);
  if (i < n) store(out + i, upto);
}

/// Elements of scratch memory: the tiles, the tiles' tiles, and so on.
inline std::int64_t parts_for(std::int64_t n) {
  std::int64_t parts = 1;  // never none: no workspace means a question
  while (n > tile) parts += n = (n + tile - 1) / tile;
  return parts;
}

template <class T>
cudaError_t scan_levels(Part* parts, const T* in, T* out, std::int64_t n, cudaStream_t stream) {
  const std::int64_t tiles = (n + tile - 1) / tile;
  const auto blocks = static_cast<unsigned>(tiles);
  const Part* before = nullptr;
  if (tiles > 1) {
    add_tiles<<<blocks, block_size, 0, stream>>>(in, parts, n);
    if (cudaError_t error = cudaGetLastError()) return error;
    if (cudaError_t error = scan_levels<Part>(parts + tiles, parts, parts, tiles, stream))
      return error;
    before = parts;
  }
  scan_tiles<<<blocks, block_size, 0, stream>>>(in, before, out, n);
  return cudaGetLastError();
}

/// out[i] = the sum, modulo 2^32, of in[i] and of what stands before it in its segment. A segment
/// begins at element 0 and wherever the low 16 bits of an element are 0. Arrays aligned to 16
/// bytes.
cudaError_t segmented_scan(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                           unsigned* out, std::int64_t n, cudaStream_t stream) {
  const std::size_t needed = static_cast<std::size_t>(parts_for(n)) * sizeof(Part);
  if (workspace == nullptr) {
    workspace_bytes = needed;
    return cudaSuccess;
  }
  if (workspace_bytes < needed) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  return scan_levels(static_cast<Part*>(workspace), in, out, n, stream);
}

}  // namespace exercise
