// A use of the scan: pack keeps the elements above 0, in their order, and drops the others (stream
// compaction). What is scanned are counts: how many elements are kept before mine is where mine
// goes. Needs compute capability 9.0.
// Each block takes every gridDim-th tile. While it waits for the counts of others, its next tile is
// already counted and the one after that is on its way. What a warp keeps is put together in shared
// memory, so that neighbours store to neighbours, and whole cache lines.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cuda/atomic>
#include <cuda/ptx>

namespace pack_study {

namespace ptx = cuda::ptx;

constexpr unsigned all_lanes = 0xffffffffu;
constexpr int block_size = 512, blocks_per_sm = 2;
constexpr int warps = block_size / 32;
constexpr int stages = 3;      // tiles on their way through a block
constexpr int most_rows = 16;  // of 32 elements, in a warp's part of a tile; fewer in small arrays
constexpr int line = 32;       // floats of a cache line

/// What blocks hand to each other: 0 for nothing yet, or one more than a tile keeps.
using Word = unsigned;
using Shared = cuda::atomic_ref<Word, cuda::thread_scope_device>;

/// One tile on its way through the block; warp w has elements [w * part, (w + 1) * part).
template <int rows>
struct alignas(128) Stage {
  static constexpr int part = 32 * rows, tile = warps * part;
  float data[tile];
  std::uint64_t loaded;  // an mbarrier
  unsigned end[warps];   // elements kept in the parts up to this one, with it
};

__device__ bool is_kept(float x) { return x > 0; }

/// The block's k-th tile. All blocks run at the same time, so each may wait for any other.
__device__ std::int64_t number_of(int k) { return blockIdx.x + std::int64_t{k} * gridDim.x; }

/// How many elements the tile has: only the last may not be full.
template <int rows>
__device__ int elements_of(std::int64_t number, std::int64_t n) {
  const std::int64_t left = n - number * Stage<rows>::tile;
  return left < Stage<rows>::tile ? static_cast<int>(left) : Stage<rows>::tile;
}

/// One thread: asks for a tile.
template <int rows>
__device__ void load(Stage<rows>& stage, std::int64_t number, const float* in, std::int64_t n) {
  const float* const from = in + number * Stage<rows>::tile;
  const int count = elements_of<rows>(number, n), in_groups = count / 4 * 4;
  for (int i = in_groups; i < count; ++i) stage.data[i] = from[i];
  const unsigned bytes = static_cast<unsigned>(in_groups) * 4;
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &stage.loaded,
                                 bytes);
  if (bytes > 0) {
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, stage.data, from, bytes,
                       &stage.loaded);
  }
}

/// One warp: moves the elements of its part that are kept to the front, in their order. \returns
/// how many.
template <int rows>
__device__ int put_together(float* part, int elements, int lane) {
  constexpr int at_once = rows < 8 ? rows : 8;
  const unsigned lanes_before = (1u << lane) - 1;
  int to = 0;
#pragma unroll
  for (int r = 0; r < rows; r += at_once) {
    float x[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const int i = (r + k) * 32 + lane;
      x[k] = i < elements ? part[i] : 0;  // 0 is not kept
    }
    __syncwarp();  // read before anything is written there
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const bool kept = is_kept(x[k]);
      const int before = __popc(__ballot_sync(all_lanes, kept) & lanes_before);
      if (kept) part[to + before] = x[k];
      to += __shfl_sync(all_lanes, before + kept, 31);
    }
    __syncwarp();
  }
  return to;
}

/// Lane k gets x[0] + ... + x[k]; all 32 lanes must call.
__device__ unsigned warp_scan(unsigned x, int lane) {
  for (int step = 1; step < 32; step *= 2) {
    const unsigned left = __shfl_up_sync(all_lanes, x, step);
    if (lane >= step) x += left;
  }
  return x;
}

/// The block: waits for a tile, puts it together, and makes public how many it keeps. All may read
/// stage.end behind the next __syncthreads().
template <int rows>
__device__ void count(Stage<rows>& stage, int round, std::int64_t number, std::int64_t n,
                      Word* words, int warp, int lane) {
  constexpr int part = Stage<rows>::part;
  while (
      !ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cta, &stage.loaded, round & 1)) {
  }
  const int elements = elements_of<rows>(number, n) - warp * part;
  const int kept = put_together<rows>(stage.data + warp * part, elements, lane);
  if (lane == 0) stage.end[warp] = static_cast<unsigned>(kept);
  __syncthreads();
  if (warp == 0) {
    const unsigned upto = warp_scan(lane < warps ? stage.end[lane] : 0, lane);
    if (lane == warps - 1) Shared(words[number]).store(upto + 1, cuda::memory_order_relaxed);
    if (lane < warps) stage.end[lane] = upto;
  }
}

/// One warp: how many elements tiles [first, last) keep, as soon as all have said so. A lane asks
/// `each` tiles at once: up to 288 tiles are a single trip to the L2 cache, and between two of one
/// block are 263 on 132 SMs. Relaxed is enough: a word is all that is handed over.
__device__ std::int64_t gather(Word* words, std::int64_t first, std::int64_t last, int lane) {
  constexpr int each = 9;
  std::int64_t sum = 0;
  for (; first < last; first += 32 * each) {
    Word word[each];
#pragma unroll
    for (int k = 0; k < each; ++k) word[k] = first + 32 * k + lane < last ? 0 : 1;
    bool all;
    do {
      all = true;
#pragma unroll
      for (int k = 0; k < each; ++k) {
        if (word[k] == 0) {
          word[k] = Shared(words[first + 32 * k + lane]).load(cuda::memory_order_relaxed);
        }
      }
#pragma unroll
      for (int k = 0; k < each; ++k) all = all && word[k] != 0;
    } while (!__all_sync(all_lanes, all));
    unsigned kept = 0;
#pragma unroll
    for (int k = 0; k < each; ++k) kept += word[k] - 1;
    for (int step = 16; step > 0; step /= 2) kept += __shfl_xor_sync(all_lanes, kept, step);
    sum += kept;
  }
  return sum;
}

/// Clears the workspace.
__global__ void clear(Word* words, std::int64_t tiles) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < tiles) words[i] = 0;
}

/// out = the kept elements of in, *kept their number. words: one for each tile, all 0. All blocks
/// run at the same time.
template <int rows>
__global__ void __launch_bounds__(block_size, blocks_per_sm)
    pack_tiles(const float* in, float* out, std::int64_t* kept, Word* words, std::int64_t n,
               std::int64_t tiles) {
  extern __shared__ __align__(128) unsigned char memory[];
  auto* const ring = reinterpret_cast<Stage<rows>*>(memory);
  __shared__ std::int64_t before_of_block;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const bool loads = warp == warps - 1 && lane == 0;
  if (loads) {
    for (int k = 0; k < stages; ++k) ptx::mbarrier_init(&ring[k].loaded, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    for (int k = 0; k < stages && number_of(k) < tiles; ++k) load(ring[k], number_of(k), in, n);
  }
  __syncthreads();
  count(ring[0], 0, number_of(0), n, words, warp, lane);

  std::int64_t before = 0, next = 0;  // elements kept in the tiles before `next`: warp 0 knows
  for (int k = 0; number_of(k) < tiles; ++k) {
    Stage<rows>& stage = ring[k % stages];
    if (number_of(k + 1) < tiles) {
      count(ring[(k + 1) % stages], (k + 1) / stages, number_of(k + 1), n, words, warp, lane);
    } else {
      __syncthreads();
    }
    // Behind this __syncthreads(), which `count` has, too: tile k - 1 is stored, its place is free.
    if (loads && k > 0 && number_of(k - 1 + stages) < tiles)
      load(ring[(k - 1) % stages], number_of(k - 1 + stages), in, n);
    if (warp == 0) {
      const std::int64_t number = number_of(k);
      before += gather(words, next, number, lane);
      if (lane == 0) before_of_block = before;
      before += stage.end[warps - 1];
      next = number + 1;
      if (lane == 0 && next == tiles) *kept = before;
    }
    __syncthreads();

    const float* const part = stage.data + warp * Stage<rows>::part;
    const unsigned start = warp > 0 ? stage.end[warp - 1] : 0;
    const int count = static_cast<int>(stage.end[warp] - start);
    float* const to = out + before_of_block + start;
    const auto shift = reinterpret_cast<std::uintptr_t>(to) / sizeof(float) % line;
    for (int i = lane - static_cast<int>(shift); i < count; i += 32) {  // lane 0: a line's first
      if (i >= 0) to[i] = part[i];
    }
    ptx::fence_proxy_async(ptx::space_shared);  // before the TMA unit writes to the same place
  }
}

/// True unless p is a multiple of `bytes`.
inline bool misaligned(const void* p, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % bytes != 0;
}

template <int rows>
cudaError_t pack_by(Word* words, const float* in, float* out, std::int64_t* kept, std::int64_t n,
                    std::int64_t tiles, int sms, cudaStream_t stream) {
  constexpr auto kernel = pack_tiles<rows>;
  constexpr int shared_bytes = stages * static_cast<int>(sizeof(Stage<rows>));
  if (cudaError_t error =
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes))
    return error;
  cudaLaunchAttribute together = {};  // all blocks run at the same time
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(std::min<std::int64_t>(tiles, sms * blocks_per_sm)));
  config.blockDim = dim3(block_size);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &together;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, in, out, kept, words, n, tiles);
}

/// Rows of a warp's part: the fewest with which one tile is enough, up to 8; or else, with which
/// there is at most one tile for each SM; or the most.
inline int rows_for(std::int64_t n, int sms) {
  for (const int rows : {2, 4, 8}) {
    if (n <= block_size * rows) return rows;
  }
  for (const int rows : {2, 4, 8}) {
    if (n <= std::int64_t{sms} * block_size * rows) return rows;
  }
  return most_rows;
}

/// out = the elements of in that are above 0, in their order; *kept = how many. Device pointers, in
/// aligned to 16 bytes, out with room for n elements; out may not overlap in. With workspace ==
/// nullptr: only writes the bytes of scratch memory that it needs. \returns cudaErrorInvalidValue
/// for too little of it, for misaligned scratch memory or in, for n < 0 or 2^31 tiles or more; or
/// the error of a launch. Each SM has to hold two blocks: 195 KiB of shared memory.
cudaError_t pack(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                 std::int64_t* kept, std::int64_t n, cudaStream_t stream) {
  int device = 0, sms = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device))
    return error;
  const int rows = rows_for(n, sms), tile = block_size * rows;
  const std::int64_t tiles = n / tile + (n % tile > 0);
  if (n < 0 || tiles > INT32_MAX) return cudaErrorInvalidValue;
  const std::size_t needed =
      static_cast<std::size_t>(std::max<std::int64_t>(tiles, 1)) * sizeof(Word);
  if (workspace == nullptr) {
    workspace_bytes = needed;
    return cudaSuccess;
  }
  if (workspace_bytes < needed) return cudaErrorInvalidValue;
  if (misaligned(workspace, alignof(Word)) || misaligned(in, 16)) return cudaErrorInvalidValue;
  if (n == 0) return cudaMemsetAsync(kept, 0, sizeof *kept, stream);
  Word* const words = static_cast<Word*>(workspace);
  if (tiles > 1) {  // nobody asks for the count of the only tile
    clear<<<static_cast<unsigned>((tiles + 255) / 256), 256, 0, stream>>>(words, tiles);
    if (cudaError_t error = cudaGetLastError()) return error;
  }
  switch (rows) {
    case 2:
      return pack_by<2>(words, in, out, kept, n, tiles, sms, stream);
    case 4:
      return pack_by<4>(words, in, out, kept, n, tiles, sms, stream);
    case 8:
      return pack_by<8>(words, in, out, kept, n, tiles, sms, stream);
    default:
      return pack_by<most_rows>(words, in, out, kept, n, tiles, sms, stream);
  }
}

}  // namespace pack_study
