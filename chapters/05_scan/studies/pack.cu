// A use of the scan: pack keeps the elements above 0, in their order, and drops the others (stream
// compaction). The kernel of version 13, scanning counts: how many elements are kept before mine is
// where mine goes. What a tile keeps is put together in shared memory first, so that neighbours are
// stored by neighbours.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cuda/atomic>

namespace pack_study {

constexpr int block_size = 512;
constexpr int warps = block_size / 32;
/// A warp takes `rows` of 32 vectors, one after the other: more for large arrays; fewer make more
/// blocks of a small one, so that every SM has one.
constexpr int large_rows = 8, small_rows = 4;
constexpr std::int64_t large = 1 << 22;  // elements; measured
template <int rows>
constexpr int tile = block_size* rows * 4;  // elements

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

constexpr int line = 32;  // elements of a cache line of 128 bytes

/// Asks the L2 cache for a line of the array. PTX ISA, "prefetch".
__device__ void prefetch(const float* at, const float* end) {
#ifndef SIMT  // no caches there
  if (at < end) asm volatile("prefetch.global.L2 [%0];" : : "l"(at));
#else
  static_cast<void>(at), static_cast<void>(end);
#endif
}

/// Clears the workspace: the next tile's number, then a word for each tile.
__global__ void clear(Word* words, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) words[i] = 0;
}

/// out = the kept elements of in, *kept their number. words: one for each tile, all zero, behind
/// the number of the next tile; one tile needs none.
template <int rows>
__global__ void __launch_bounds__(block_size, 2)
    pack_tiles(const float* in, float* out, std::int64_t* kept, unsigned* next, Word* words,
               std::int64_t n, int tiles, int ahead) {
  extern __shared__ float packed[];  // what the tile keeps
  __shared__ unsigned s[warps];
  __shared__ unsigned number_of_block;
  __shared__ std::int64_t before_of_block;
  const int t = static_cast<int>(threadIdx.x), warp = t / 32, lane = t % 32;
  if (t == 0) number_of_block = tiles > 1 ? atomicAdd(next, 1u) : 0;
  __syncthreads();
  const int number = static_cast<int>(number_of_block);
  const std::int64_t first = std::int64_t{number} * tile<rows> + warp * (rows * 128) + lane * 4;
  float4 v[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r) v[r] = load(in, first + r * 128, n);
  if (t * line < tile<rows>)
    prefetch(in + (std::int64_t{number} + ahead) * tile<rows> + t * line, in + n);

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
  if (t == 0 && tiles > 1) publish(words + number, number > 0 ? of_tile : of_all, count);

  const unsigned start = warp > 0 ? s[warp - 1] : 0;
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    unsigned at = start + place[r];
    if (is_kept(v[r].x)) packed[at++] = v[r].x;
    if (is_kept(v[r].y)) packed[at++] = v[r].y;
    if (is_kept(v[r].z)) packed[at++] = v[r].z;
    if (is_kept(v[r].w)) packed[at++] = v[r].w;
  }
  if (warp == 0) {
    const std::int64_t before = number > 0 ? look_back(words, number) : 0;
    if (t == 0) {
      if (number > 0) publish(words + number, of_all, before + count);
      if (number == tiles - 1) *kept = before + count;
      before_of_block = before;
    }
  }
  __syncthreads();
  float* const to = out + before_of_block;
  for (unsigned i = threadIdx.x; i < count; i += block_size) __stcs(to + i, packed[i]);
}

/// True unless p is a multiple of `bytes`.
inline bool misaligned(const void* p, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % bytes != 0;
}

template <int rows>
cudaError_t pack_by(Word* words, const float* in, float* out, std::int64_t* kept, std::int64_t n,
                    cudaStream_t stream) {
  constexpr auto kernel = pack_tiles<rows>;
  constexpr int shared_bytes = tile<rows> * static_cast<int>(sizeof(float));
  const std::int64_t tiles = (n + tile<rows> - 1) / tile<rows>;
  int device = 0, sms = 0, per_sm = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device))
    return error;
  if (cudaError_t error =
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes))
    return error;
  if (cudaError_t error =
          cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, block_size, shared_bytes))
    return error;
  if (tiles > 1) {
    clear<<<static_cast<unsigned>((1 + tiles + 255) / 256), 256, 0, stream>>>(words, 1 + tiles);
    if (cudaError_t error = cudaGetLastError()) return error;
  }
  kernel<<<static_cast<unsigned>(tiles), block_size, shared_bytes, stream>>>(
      in, out, kept, reinterpret_cast<unsigned*>(words), words + 1, n, static_cast<int>(tiles),
      sms * per_sm);
  return cudaGetLastError();
}

/// out = the elements of in that are above 0, in their order; *kept = how many. Device pointers, in
/// aligned to 16 bytes, out with room for n elements; out may not overlap in. With workspace ==
/// nullptr: only writes the bytes of scratch memory that it needs. \returns cudaErrorInvalidValue
/// for too little of it, for a misaligned pointer, for n < 0 or 2^31 tiles or more; or the error of
/// a launch.
cudaError_t pack(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                 std::int64_t* kept, std::int64_t n, cudaStream_t stream) {
  const bool one = n > tile<small_rows> && n <= tile<large_rows>;  // large tile instead of two
  const bool many_rows = n >= large || one;
  const int elements = many_rows ? tile<large_rows> : tile<small_rows>;
  const std::int64_t tiles = (n + elements - 1) / elements;
  if (n < 0 || tiles > INT32_MAX) return cudaErrorInvalidValue;
  const std::size_t needed = static_cast<std::size_t>(1 + tiles) * sizeof(Word);
  if (workspace == nullptr) {
    workspace_bytes = needed;
    return cudaSuccess;
  }
  if (workspace_bytes < needed) return cudaErrorInvalidValue;
  if (misaligned(workspace, alignof(Word)) || misaligned(in, 16)) return cudaErrorInvalidValue;
  if (n == 0) return cudaMemsetAsync(kept, 0, sizeof *kept, stream);
  Word* const words = static_cast<Word*>(workspace);
  return many_rows ? pack_by<large_rows>(words, in, out, kept, n, stream)
                   : pack_by<small_rows>(words, in, out, kept, n, stream);
}

}  // namespace pack_study
