// A use of the scan, the inverse of pack: the elements of a packed array go back to where they came
// from, which are the places of an array `in` that hold something above 0; all others become 0. The
// kernel of version 13, scanning counts: how many are kept before a tile says which ones to fetch.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cuda/atomic>

namespace unpack_study {

constexpr int block_size = 512;
constexpr int warps = block_size / 32;
constexpr int rows = 8;                      // of 32 vectors that a warp takes, one after the other
constexpr int tile = block_size * rows * 4;  // elements

/// What blocks hand to each other: a count, and in the same word what it is.
using Word = std::uint64_t;
using Shared = cuda::atomic_ref<Word, cuda::thread_scope_device>;
enum Mark : unsigned { nothing, of_tile, of_all };  // kept in one tile, or in all up to its end

__device__ void publish(Word* at, Mark mark, std::int64_t count) {
  Shared(*at).store(static_cast<Word>(count) << 2 | mark, cuda::memory_order_relaxed);
}

/// All lanes get how many elements are kept before tile `number`; see version 10.
__device__ std::int64_t look_back(Word* words, int number) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  std::int64_t before = 0;
  for (int nearest = number - 1;; nearest -= 32) {
    const int seen = nearest - lane;
    Word word = seen >= 0 ? Word{nothing} : Word{of_all};
    unsigned known, needed;
    do {
      if (word == nothing) word = Shared(words[seen]).load(cuda::memory_order_relaxed);
      known = __ballot_sync(0xffffffffu, (word & 3) == of_all);
      needed = known != 0 ? known ^ (known - 1) : 0xffffffffu;
    } while ((__ballot_sync(0xffffffffu, word == nothing) & needed) != 0);
    std::int64_t count = needed >> lane & 1 ? static_cast<std::int64_t>(word >> 2) : 0;
    for (int step = 16; step > 0; step /= 2) count += __shfl_xor_sync(0xffffffffu, count, step);
    before += count;
    if (known != 0) return before;
  }
}

__device__ bool is_kept(float x) { return x > 0; }

__device__ unsigned warp_scan(unsigned x) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int step = 1; step < 32; step *= 2) {
    const unsigned left = __shfl_up_sync(0xffffffffu, x, step);
    if (lane >= step) x += left;
  }
  return x;
}

/// The vector at element i; what lies behind the end is 0, and not kept.
__device__ float4 load(const float* in, std::int64_t i, std::int64_t n) {
  if (i + 4 <= n) return __ldcs(reinterpret_cast<const float4*>(in + i));
  return make_float4(i < n ? in[i] : 0, i + 1 < n ? in[i + 1] : 0, i + 2 < n ? in[i + 2] : 0, 0);
}

__device__ void store(float* out, std::int64_t i, std::int64_t n, float4 y) {
  if (i + 4 <= n) {
    __stcs(reinterpret_cast<float4*>(out + i), y);
    return;
  }
  if (i < n) out[i] = y.x;
  if (i + 1 < n) out[i + 1] = y.y;
  if (i + 2 < n) out[i + 2] = y.z;
}

constexpr int line = 32;  // elements of a cache line of 128 bytes

/// Asks the L2 cache for a line of the array. PTX ISA, "prefetch".
__device__ void prefetch(const float* at, const float* end) {
#ifndef SIMT  // no caches there
  if (at < end) asm volatile("prefetch.global.L2 [%0];" : : "l"(at));
#else
  static_cast<void>(at), static_cast<void>(end);
#endif
}

/// True unless p is a multiple of `bytes`.
inline bool misaligned(const void* p, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % bytes != 0;
}

/// out[i] = the next element of packed where in[i] is kept, elsewhere 0. words: one for each tile,
/// all zero, behind the number of the next tile.
__global__ void __launch_bounds__(block_size, 2)
    unpack_tiles(const float* in, const float* packed, float* out, unsigned* next, Word* words,
                 std::int64_t n, int ahead) {
  extern __shared__ float fetched[];  // the packed elements that go into this tile
  __shared__ unsigned s[warps];
  __shared__ unsigned number_of_block;
  __shared__ std::int64_t before_of_block;
  const int t = static_cast<int>(threadIdx.x), warp = t / 32, lane = t % 32;
  if (t == 0) number_of_block = atomicAdd(next, 1u);
  __syncthreads();
  const int number = static_cast<int>(number_of_block);
  const std::int64_t first = std::int64_t{number} * tile + warp * (rows * 128) + lane * 4;
  float4 v[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r) v[r] = load(in, first + r * 128, n);
  prefetch(in + (std::int64_t{number} + ahead) * tile + t * line, in + n);

  // Where each lane's elements of each row go, within the warp. A row keeps at most 128, so that
  // the counts of four rows fit into the bytes of one word, and one scan serves them all.
  unsigned place[rows], carry = 0;
#pragma unroll
  for (int r = 0; r < rows; r += 4) {
    unsigned counts = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float4 x = v[r + k];
      const unsigned count = is_kept(x.x) + is_kept(x.y) + is_kept(x.z) + is_kept(x.w);
      counts |= count << (8 * k);
    }
    const unsigned upto = warp_scan(counts), all = __shfl_sync(0xffffffffu, upto, 31);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      place[r + k] = carry + ((upto - counts) >> (8 * k) & 0xffu);
      carry += all >> (8 * k) & 0xffu;
    }
  }
  if (lane == 0) s[warp] = carry;
  __syncthreads();
  if (warp == 0) {
    const unsigned upto = warp_scan(lane < warps ? s[lane] : 0);
    if (lane < warps) s[lane] = upto;
  }
  __syncthreads();
  const unsigned count = s[warps - 1];
  if (t == 0) publish(words + number, number > 0 ? of_tile : of_all, count);

  if (warp == 0) {
    const std::int64_t before = number > 0 ? look_back(words, number) : 0;
    if (t == 0) {
      if (number > 0) publish(words + number, of_all, before + count);
      before_of_block = before;
    }
  }
  __syncthreads();
  const float* const from = packed + before_of_block;
  for (unsigned i = threadIdx.x; i < count; i += block_size) fetched[i] = __ldcs(from + i);
  __syncthreads();
  const unsigned start = warp > 0 ? s[warp - 1] : 0;
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    unsigned at = start + place[r];
    float4 y;
    y.x = is_kept(v[r].x) ? fetched[at++] : 0;
    y.y = is_kept(v[r].y) ? fetched[at++] : 0;
    y.z = is_kept(v[r].z) ? fetched[at++] : 0;
    y.w = is_kept(v[r].w) ? fetched[at++] : 0;
    store(out, first + r * 128, n, y);
  }
}

/// out[i] = the next element of packed where in[i] is above 0, elsewhere 0. Device pointers, in and
/// out of n elements, aligned to 16 bytes; packed has as many as in has above 0; out may be in.
/// With workspace == nullptr: only writes the bytes of scratch memory that it needs. \returns
/// cudaErrorInvalidValue for too little of it, for a misaligned pointer, for n < 0 or 2^31 tiles or
/// more; or the error of a launch.
cudaError_t unpack(void* workspace, std::size_t& workspace_bytes, const float* in,
                   const float* packed, float* out, std::int64_t n, cudaStream_t stream) {
  const std::int64_t tiles = (n + tile - 1) / tile;
  if (n < 0 || tiles > INT32_MAX) return cudaErrorInvalidValue;
  const std::size_t needed = static_cast<std::size_t>(1 + tiles) * sizeof(Word);
  if (workspace == nullptr) {
    workspace_bytes = needed;
    return cudaSuccess;
  }
  if (workspace_bytes < needed) return cudaErrorInvalidValue;
  if (misaligned(workspace, alignof(Word)) || misaligned(in, 16) || misaligned(out, 16)) {
    return cudaErrorInvalidValue;
  }
  if (n == 0) return cudaSuccess;
  constexpr int shared_bytes = tile * static_cast<int>(sizeof(float));
  int device = 0, sms = 0, per_sm = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device))
    return error;
  if (cudaError_t error = cudaFuncSetAttribute(
          unpack_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes))
    return error;
  if (cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, unpack_tiles,
                                                                        block_size, shared_bytes))
    return error;
  if (cudaError_t error = cudaMemsetAsync(workspace, 0, needed, stream)) return error;
  unsigned* const next = static_cast<unsigned*>(workspace);
  Word* const words = static_cast<Word*>(workspace) + 1;
  unpack_tiles<<<static_cast<unsigned>(tiles), block_size, shared_bytes, stream>>>(
      in, packed, out, next, words, n, sms * per_sm);
  return cudaGetLastError();
}

}  // namespace unpack_study
