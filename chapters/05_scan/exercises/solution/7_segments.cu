// Exercise 7, solved: version 13. A tile in which a segment begins knows all that is needed behind
// it, whatever comes before: it publishes of_all at once. So the look-back knows nothing of
// segments. In a warp a ballot says where each lane's segment begins, and a step that would reach
// beyond that adds nothing: one shuffle a step, as without segments.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cuda/atomic>

namespace exercise {

constexpr int block_size = 384;  // with two blocks per SM: 80 registers per thread, not 64
constexpr int warps = block_size / 32;
constexpr int rows = 8;                      // of 32 vectors that a warp scans, one after the other
constexpr int tile = block_size * rows * 4;  // elements
constexpr unsigned all_lanes = 0xffffffffu;

__device__ bool begins(unsigned x) { return x % 65536 == 0; }

/// What blocks hand to each other: a sum, and in the same word what it is.
using Word = std::uint64_t;
using Shared = cuda::atomic_ref<Word, cuda::thread_scope_device>;
enum Mark : unsigned {
  nothing,
  of_tile,
  of_all
};  // the sum of one tile in which no segment
    // begins, or all that matters behind the tile

__device__ void publish(Word* at, Mark mark, unsigned sum) {
  Shared(*at).store(Word{mark} << 32 | sum, cuda::memory_order_relaxed);
}

/// All lanes get the sum of the segment that is open before tile `number`: of 32 tiles at once, the
/// nearest at lane 0, until one knows it all. All lanes of a warp must call.
__device__ unsigned look_back(Word* words, int number) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  unsigned before = 0;
  for (int nearest = number - 1;; nearest -= 32) {
    const int seen = nearest - lane;
    Word word = seen >= 0 ? Word{nothing} : Word{of_all} << 32;  // before tile 0 comes nothing
    unsigned known, needed;
    do {
      if (word >> 32 == nothing) word = Shared(words[seen]).load(cuda::memory_order_relaxed);
      known = __ballot_sync(all_lanes, word >> 32 == of_all);
      needed = known != 0 ? known ^ (known - 1) : all_lanes;  // the lanes up to the first of them
    } while ((__ballot_sync(all_lanes, word >> 32 == nothing) & needed) != 0);
    unsigned sum = (needed >> lane & 1) != 0 ? static_cast<unsigned>(word) : 0;
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(all_lanes, sum, step);
    before += sum;
    if (known != 0) return before;
  }
}

/// Lane k gets the sum of x since the last lane at or before it that has its bit in `heads`. All 32
/// lanes must call.
__device__ unsigned warp_scan(unsigned x, unsigned heads) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const unsigned upto = heads & (all_lanes >> (31 - lane));
  const int begin = upto != 0 ? 31 - __clz(static_cast<int>(upto)) : 0;
  for (int step = 1; step < 32; step *= 2) {
    const unsigned left = __shfl_up_sync(all_lanes, x, step);
    if (lane - step >= begin) x += left;
  }
  return x;
}

constexpr int part = rows * 128;  // elements of a warp

/// What a block's scan leaves for later. A thread must add to those of its elements that stand
/// before `first_begin` what comes before its warp's part.
struct Scanned {
  int first_begin;        // where the first segment begins in the warp's part; `part`: none does
  unsigned warps_before;  // the open segment's sum in the warps before
  bool open_to_tile;      // no segment begins in them
  unsigned sum;           // of the tile, since the last segment that begins in it
  bool has_begin;         // one does
};

/// Each thread brings a vector of each row of its warp, which gets the sums up to each of its
/// elements within the warp's part. All threads must call.
__device__ Scanned block_scan(uint4 (&v)[rows]) {
  __shared__ unsigned s[warps];
  __shared__ bool has_begin[warps];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  unsigned carry = 0;      // the rows so far
  int first_begin = part;  // of this lane
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const uint4 in = v[r];
    const bool bx = begins(in.x), by = begins(in.y), bz = begins(in.z), bw = begins(in.w);
    // lane 0 hands on what came before this row
    const unsigned x = in.x + (lane > 0 || bx ? 0 : carry), y = in.y + (by ? 0 : x),
                   z = in.z + (bz ? 0 : y), w = in.w + (bw ? 0 : z);
    const int begin = bx ? 0 : by ? 1 : bz ? 2 : bw ? 3 : 4;
    const unsigned heads = __ballot_sync(all_lanes, begin < 4);
    if (begin < 4) first_begin = min(first_begin, r * 128 + lane * 4 + begin);
    const unsigned upto = warp_scan(w, heads);
    const unsigned left = __shfl_up_sync(all_lanes, upto, 1);
    const unsigned before = lane > 0 ? left : 0;
    v[r] = make_uint4(x + (begin > 0 ? before : 0), y + (begin > 1 ? before : 0),
                      z + (begin > 2 ? before : 0), w + (begin > 3 ? before : 0));
    carry = __shfl_sync(all_lanes, upto, 31);
  }
  for (int step = 16; step > 0; step /= 2)
    first_begin = min(first_begin, __shfl_xor_sync(all_lanes, first_begin, step));
  if (lane == 0) s[warp] = carry, has_begin[warp] = first_begin < part;
  __syncthreads();
  // every warp scans the sums of all: no second barrier, and nothing to write
  const unsigned heads = __ballot_sync(all_lanes, lane < warps && has_begin[lane % warps]);
  const unsigned upto = warp_scan(lane < warps ? s[lane] : 0, heads);
  Scanned result;
  result.first_begin = first_begin;
  result.warps_before = warp > 0 ? __shfl_sync(all_lanes, upto, warp - 1) : 0;
  result.open_to_tile = (heads & ~(all_lanes << warp)) == 0;
  result.sum = __shfl_sync(all_lanes, upto, warps - 1);
  result.has_begin = heads != 0;
  return result;
}

/// The vector at element i; nobody sees what lies behind the end.
__device__ uint4 load(const unsigned* in, std::int64_t i, std::int64_t n) {
  if (i + 4 <= n) return __ldcs(reinterpret_cast<const uint4*>(in + i));
  return make_uint4(i < n ? in[i] : 1, i + 1 < n ? in[i + 1] : 1, i + 2 < n ? in[i + 2] : 1, 1);
}

__device__ void store(unsigned* out, std::int64_t i, std::int64_t n, uint4 y) {
  if (i + 4 <= n) {
    __stcs(reinterpret_cast<uint4*>(out + i), y);
    return;
  }
  if (i < n) out[i] = y.x;
  if (i + 1 < n) out[i + 1] = y.y;
  if (i + 2 < n) out[i + 2] = y.z;
}

constexpr int line = 32;  // elements of a cache line of 128 bytes
static_assert(block_size * line == tile, "a thread asks for one line of a tile");

/// Asks the L2 cache for a line of the array. PTX ISA, "prefetch".
__device__ void prefetch(const unsigned* at, const unsigned* end) {
#ifndef SIMT  // no caches there
  if (at < end) asm volatile("prefetch.global.L2 [%0];" : : "l"(at));
#else
  static_cast<void>(at), static_cast<void>(end);
#endif
}

/// words: one for each tile, all zero, behind the number of the next tile. ahead: how many tiles
/// further on to prefetch.
__global__ void __launch_bounds__(block_size, 2)
    scan_tiles(const unsigned* in, unsigned* out, unsigned* next, Word* words, std::int64_t n,
               int ahead) {
  __shared__ unsigned number_of_block;
  __shared__ unsigned before_of_block;
  if (threadIdx.x == 0) number_of_block = atomicAdd(next, 1u);
  __syncthreads();
  const int number = static_cast<int>(number_of_block);
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::int64_t first = std::int64_t{number} * tile + warp * part + lane * 4;
  uint4 v[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r) v[r] = load(in, first + r * 128, n);
  prefetch(in + (std::int64_t{number} + ahead) * tile + threadIdx.x * line, in + n);
  const Scanned scanned = block_scan(v);
  if (threadIdx.x < 32) {
    const bool knows_all = number == 0 || scanned.has_begin;
    if (threadIdx.x == 0) publish(words + number, knows_all ? of_all : of_tile, scanned.sum);
    const unsigned before = number > 0 ? look_back(words, number) : 0;
    if (threadIdx.x == 0) {
      if (!knows_all) publish(words + number, of_all, before + scanned.sum);
      before_of_block = before;
    }
  }
  __syncthreads();
  const unsigned start = scanned.warps_before + (scanned.open_to_tile ? before_of_block : 0);
  const int open = scanned.first_begin - static_cast<int>(lane) * 4;
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const int k = r * 128;
    store(out, first + k, n,
          make_uint4(v[r].x + (k < open ? start : 0), v[r].y + (k + 1 < open ? start : 0),
                     v[r].z + (k + 2 < open ? start : 0), v[r].w + (k + 3 < open ? start : 0)));
  }
}

/// out[i] = the sum, modulo 2^32, of in[i] and of what stands before it in its segment. A segment
/// begins at element 0 and wherever the low 16 bits of an element are 0. Arrays aligned to 16
/// bytes.
cudaError_t segmented_scan(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                           unsigned* out, std::int64_t n, cudaStream_t stream) {
  const std::int64_t tiles = (n + tile - 1) / tile;
  const std::size_t needed = static_cast<std::size_t>(1 + tiles) * sizeof(Word);
  if (workspace == nullptr) {
    workspace_bytes = needed;
    return cudaSuccess;
  }
  if (workspace_bytes < needed) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  int device = 0, sms = 0, per_sm = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device))
    return error;
  if (cudaError_t error =
          cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, scan_tiles, block_size, 0))
    return error;
  if (cudaError_t error = cudaMemsetAsync(workspace, 0, needed, stream)) return error;
  unsigned* const next = static_cast<unsigned*>(workspace);
  Word* const words = static_cast<Word*>(workspace) + 1;
  scan_tiles<<<static_cast<unsigned>(tiles), block_size, 0, stream>>>(in, out, next, words, n,
                                                                      sms * per_sm);
  return cudaGetLastError();
}

}  // namespace exercise
