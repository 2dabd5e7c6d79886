// Exercise 4: beat a row, with one line. Version 04: the nodes of its tree meet in few banks.
// ./chapters/run 05 --exercise 4          passes when nothing conflicts (CPU backend) or when it is
// at least 1.2x as fast as version 04 (GPU)
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace exercise {

constexpr int block_size = 512;
constexpr int tile = 2 * block_size;    // elements
constexpr int room = tile + tile / 16;  // words of shared memory that there are for them

/// Where element k of a tile lies in s: a place below `room`, and for each k another one.
__device__ int at(int k) {
  return k;  // CHANGE ME
}

/// Each thread brings elements t and t + block_size of a tile, and gets the sums of all elements
/// before each; returns the tile's sum. All threads of the block must call.
__device__ float block_scan(float& x, float& y) {
  __shared__ float s[room];
  const int t = static_cast<int>(threadIdx.x);
  s[at(t)] = x;
  s[at(t + block_size)] = y;
  for (int step = 1; step < tile; step *= 2) {  // up: sums of pairs, of fours, ...
    __syncthreads();
    const int right = (2 * t + 2) * step - 1;
    if (right < tile) s[at(right)] += s[at(right - step)];
  }
  __syncthreads();
  const float sum = s[at(tile - 1)];
  __syncthreads();
  if (t == 0) s[at(tile - 1)] = 0;
  for (int step = tile / 2; step > 0; step /= 2) {  // down: what comes before each half
    __syncthreads();
    const int right = (2 * t + 2) * step - 1;
    if (right < tile) {
      const float left = s[at(right - step)];
      s[at(right - step)] = s[at(right)];
      s[at(right)] += left;
    }
  }
  __syncthreads();
  x = s[at(t)];
  y = s[at(t + block_size)];
  return sum;
}

/// Scans each tile on its own; sums[b] = the sum of tile b, unless sums is nullptr.
__global__ void scan_tiles(const float* in, float* out, float* sums, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * tile + threadIdx.x, j = i + block_size;
  float x = i < n ? in[i] : 0.0f, y = j < n ? in[j] : 0.0f;
  const float sum = block_scan(x, y);
  if (i < n) out[i] = x;
  if (j < n) out[j] = y;
  if (sums != nullptr && threadIdx.x == 0) sums[blockIdx.x] = sum;
}

/// Adds to each tile what comes before it; sums: scanned.
__global__ void add_before(const float* sums, float* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * tile + threadIdx.x, j = i + block_size;
  if (i < n) out[i] += sums[blockIdx.x];
  if (j < n) out[j] += sums[blockIdx.x];
}

/// Scans n elements; sums: scratch memory for the sums of the tiles, of the sums' tiles, and so on.
cudaError_t scan_levels(float* sums, const float* in, float* out, std::int64_t n,
                        cudaStream_t stream) {
  const std::int64_t tiles = (n + tile - 1) / tile;
  const auto blocks = static_cast<unsigned>(tiles);
  scan_tiles<<<blocks, block_size, 0, stream>>>(in, out, tiles > 1 ? sums : nullptr, n);
  if (cudaError_t error = cudaGetLastError()) return error;
  if (tiles == 1) return cudaSuccess;
  if (cudaError_t error = scan_levels(sums + tiles, sums, sums, tiles, stream)) return error;
  add_before<<<blocks, block_size, 0, stream>>>(sums, out, n);
  return cudaGetLastError();
}

/// out[i] = in[0] + ... + in[i - 1], which is 0 for i = 0.
cudaError_t exclusive(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                      std::int64_t n, cudaStream_t stream) {
  std::int64_t sums = 1;
  for (std::int64_t left = n; left > tile; sums += left) left = (left + tile - 1) / tile;
  const std::size_t needed = static_cast<std::size_t>(sums) * sizeof(float);
  if (workspace == nullptr) {
    workspace_bytes = needed;
    return cudaSuccess;
  }
  if (workspace_bytes < needed) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  return scan_levels(static_cast<float*>(workspace), in, out, n, stream);
}

}  // namespace exercise
