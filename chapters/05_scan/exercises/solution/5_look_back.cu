// Exercise 5, solved: mark and sum share a word, so that nobody sees the one without the other, or
// one with another's sum.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cuda/atomic>

namespace exercise {

constexpr int block_size = 512;
constexpr int warps = block_size / 32;
constexpr int rows = 8;                  // of 32 elements that a warp scans, one after the other
constexpr int tile = block_size * rows;  // elements

/// What blocks hand to each other: a sum, and in the same word what it is.
using Word = std::uint64_t;
using Shared = cuda::atomic_ref<Word, cuda::thread_scope_device>;
enum Mark : unsigned { nothing, of_tile, of_all };  // the sum of one tile, or of all up to its end

__device__ void publish(Word* words, int number, Mark mark, float sum) {
  std::uint32_t bits;
  std::memcpy(&bits, &sum, sizeof bits);
  Shared(words[number]).store(Word{mark} << 32 | bits, cuda::memory_order_relaxed);
}

__device__ float sum_in(Word word) {
  const auto bits = static_cast<std::uint32_t>(word);
  float sum;
  std::memcpy(&sum, &bits, sizeof sum);
  return sum;
}

/// All lanes get the sum of all tiles before tile `number`: of 32 tiles at once, the nearest at
/// lane 0, until one knows the sum of all before it. All lanes of a warp must call.
__device__ float look_back(Word* words, int number) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  float before = 0;
  for (int nearest = number - 1;; nearest -= 32) {
    const int seen = nearest - lane;
    Word word = seen >= 0 ? Word{nothing} : Word{of_all} << 32;  // before tile 0 comes nothing
    unsigned known, needed;
    do {
      if (word >> 32 == nothing) word = Shared(words[seen]).load(cuda::memory_order_relaxed);
      known = __ballot_sync(0xffffffffu, word >> 32 == of_all);
      needed = known != 0 ? known ^ (known - 1) : 0xffffffffu;  // the lanes up to the first of them
    } while ((__ballot_sync(0xffffffffu, word >> 32 == nothing) & needed) != 0);
    float sum = (needed >> lane & 1) != 0 ? sum_in(word) : 0.0f;
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    before += sum;
    if (known != 0) return before;
  }
}

/// Lane k gets the sum of x of lanes 0 to k; all 32 lanes must call.
__device__ float warp_scan(float x) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int step = 1; step < 32; step *= 2) {
    const float left = __shfl_up_sync(0xffffffffu, x, step);
    if (lane >= step) x += left;
  }
  return x;
}

/// Each thread brings an element of each row of its warp, and gets their sums up to there. Returns
/// the tile's sum. All threads must call.
__device__ float block_scan(float (&x)[rows]) {
  __shared__ float s[warps];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  float carry = 0;  // the rows so far
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const float upto = warp_scan(x[r]);
    x[r] = carry + upto;
    carry += __shfl_sync(0xffffffffu, upto, 31);
  }
  if (lane == 0) s[warp] = carry;
  __syncthreads();
  if (warp == 0) {
    const float upto = warp_scan(lane < warps ? s[lane] : 0.0f);
    if (lane < warps) s[lane] = upto;
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    if (warp > 0) x[r] += s[warp - 1];
  }
  return s[warps - 1];
}

/// words: one for each tile, all zero. Tiles are numbered as blocks start, so
/// that nobody waits for a block that has not started.
__global__ void __launch_bounds__(block_size)
    scan_tiles(const float* in, float* out, unsigned* next, Word* words, std::int64_t n) {
  __shared__ unsigned number_of_block;
  __shared__ float before_of_block;
  if (threadIdx.x == 0) number_of_block = atomicAdd(next, 1u);
  __syncthreads();
  const int number = static_cast<int>(number_of_block);
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::int64_t first = std::int64_t{number} * tile + warp * (rows * 32) + lane;
  float x[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r) x[r] = first + r * 32 < n ? in[first + r * 32] : 0.0f;
  const float sum = block_scan(x);
  if (threadIdx.x < 32) {
    if (threadIdx.x == 0) publish(words, number, number > 0 ? of_tile : of_all, sum);
    const float before = number > 0 ? look_back(words, number) : 0.0f;
    if (threadIdx.x == 0) {
      if (number > 0) publish(words, number, of_all, before + sum);
      before_of_block = before;
    }
  }
  __syncthreads();
  const float before = before_of_block;
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    if (first + r * 32 < n) out[first + r * 32] = before + x[r];
  }
}

/// out[i] = in[0] + ... + in[i].
cudaError_t inclusive(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                      std::int64_t n, cudaStream_t stream) {
  const std::int64_t tiles = (n + tile - 1) / tile;
  const std::size_t needed = static_cast<std::size_t>(1 + tiles) * sizeof(Word);
  if (workspace == nullptr) {
    workspace_bytes = needed;
    return cudaSuccess;
  }
  if (workspace_bytes < needed) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  if (cudaError_t error = cudaMemsetAsync(workspace, 0, needed, stream)) return error;
  unsigned* const next = static_cast<unsigned*>(workspace);
  Word* const words = static_cast<Word*>(workspace) + 1;
  scan_tiles<<<static_cast<unsigned>(tiles), block_size, 0, stream>>>(in, out, next, words, n);
  return cudaGetLastError();
}

}  // namespace exercise
