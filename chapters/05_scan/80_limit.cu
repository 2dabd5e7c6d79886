// The record, after the readable ladder ended. Needs compute capability 9.0; chapters 09 and 10
//   teach what it uses.
// Idea: nobody waits for a prefix. Blocks publish the sums of their tiles long before they need to
//   know what comes before; each block adds up all sums itself, as they come in. Warps have roles:
//   load tiles ahead, add them up, publish, gather the sums of others, scan and store.
// Predicts: a sum is public before anybody asks for it, so that memory is all there is to wait for:
//   nearly a copy's time. Small arrays: one tile per block, in one launch as long as a cluster is
//   enough, which shares its sums in shared memory; above, one look at all sums.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cuda/atomic>
#include <cuda/ptx>

namespace limit {

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

constexpr unsigned all_lanes = 0xffffffffu;
constexpr int group = 320;  // threads that add tiles up; as many scan them
constexpr int group_warps = group / 32;
constexpr int block_size = 2 * group + 96;  // and three warps: load, publish, gather
constexpr int large_rows = 9;               // vectors of a thread: tiles of 45 KiB
constexpr int large_stages = 5;             // tiles on their way through a block
constexpr int sums_a_lane = 5;              // of other tiles, that a lane reads at once

/// Elements that one instruction loads.
template <class T>
struct alignas(16) Vector {
  static constexpr int size = 16 / sizeof(T);
  T x[size];
};

/// A sum that blocks hand to each other, with the mark that it is there in the same word, so that
/// nobody sees the one without the other. Sums of 8 bytes take two words.
using Word = std::uint64_t;

template <class T>
constexpr int words_of = static_cast<int>(sizeof(T) / 4);

/// Where half k of a tile's sum is: apart, 32 tiles' lower halves and then their upper ones, so
/// that lanes side by side ask for words side by side, which hundreds of blocks do at once; or both
/// halves side by side, where few ask.
template <class T, bool apart>
__device__ std::int64_t place_of(std::int64_t tile, int k) {
  return apart ? (tile / 32 * words_of<T> + k) * 32 + tile % 32 : tile * words_of<T> + k;
}

template <bool apart, class T>
__device__ void publish(Word* sums, std::int64_t tile, T sum) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "one or two words");
  std::uint32_t half[words_of<T>];
  std::memcpy(half, &sum, sizeof sum);
  for (int k = 0; k < words_of<T>; ++k) {
    cuda::atomic_ref<Word, cuda::thread_scope_device> word(sums[place_of<T, apart>(tile, k)]);
    word.store(Word{1} << 32 | half[k], cuda::memory_order_relaxed);
  }
}

/// Lane k gets x[0] op ... op x[k]; all 32 lanes must call.
template <class T, class Op>
__device__ T warp_scan(T x, int lane, Op op) {
  for (int step = 1; step < 32; step *= 2) {
    const T before = __shfl_up_sync(all_lanes, x, step);
    if (lane >= step) x = op(before, x);
  }
  return x;
}

/// All lanes get x[0] op ... op x[lanes - 1], in this order; all 32 lanes must call.
template <class T, class Op>
__device__ T warp_reduce(T x, int lane, int lanes, Op op) {
  for (int step = 1; step < 32; step *= 2) {
    const T behind = __shfl_down_sync(all_lanes, x, step);
    if (lane + step < lanes) x = op(x, behind);
  }
  return __shfl_sync(all_lanes, x, 0);
}

__device__ void wait_for(std::uint64_t* barrier, int round) {
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cta, barrier, round & 1)) {
  }
}

__device__ void arrive(std::uint64_t* barrier) {
  ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier);
}

/// One tile on its way through the block. Each barrier completes once per round.
template <class T, int rows>
struct Stage {
  static constexpr int tile = group * rows * Vector<T>::size;  // elements
  Vector<T> data[group * rows];
  std::uint64_t loaded, added, known, free;  // barriers; at the last three threads arrive
  int number;                                // of the tile; -1: no more
  T sums[group_warps];                       // of each warp's part
  T before[group_warps];                     // all that comes before each warp's part
};

template <class T, int rows, int stages>
struct Ring {
  Stage<T, rows> stage[stages];
  __device__ Stage<T, rows>& operator[](int k) { return stage[k % stages]; }
};

/// How many elements the tile has: only the last may not be full.
template <class T, int rows>
__device__ int elements_of(int number, std::int64_t n) {
  const std::int64_t left = n - std::int64_t{number} * Stage<T, rows>::tile;
  return left < Stage<T, rows>::tile ? static_cast<int>(left) : Stage<T, rows>::tile;
}

/// Vector r of this thread's part of a tile: `rows` vectors, one behind the other. `rows` is odd,
/// so that the lanes of a warp are in different banks. What lies behind the array's end comes
/// after all elements: no result depends on it.
template <class T, int rows>
__device__ Vector<T> vector_of(const Stage<T, rows>& stage, int thread, int r, int count) {
  const int at = thread * rows + r;
  if (count == Stage<T, rows>::tile) return stage.data[at];
  Vector<T> v{};
  for (int k = 0; k < Vector<T>::size; ++k) {
    if (at * Vector<T>::size + k < count) v.x[k] = stage.data[at].x[k];
  }
  return v;
}

/// Draws the number of each tile, so that faster blocks take more tiles. Of 8-byte elements a block
/// takes its first `stages` tiles by its index: 1.5 us less at 2^22, in a trial. All blocks run at
/// the same time, so nobody waits for a block that has not started.
template <class T, int rows, int stages>
__device__ void load_tiles(Ring<T, rows, stages>& ring, const T* in, std::int64_t n, int tiles,
                           unsigned* next) {
  constexpr int tile = Stage<T, rows>::tile, size = Vector<T>::size;
  constexpr int by_index = sizeof(T) == 8 ? stages : 0;
  for (int k = 0;; ++k) {
    Stage<T, rows>& stage = ring[k];
    if (k >= stages) wait_for(&stage.free, k / stages - 1);
    const unsigned number =
        k < by_index ? k * gridDim.x + blockIdx.x : by_index * gridDim.x + atomicAdd(next, 1u);
    const bool more = number < static_cast<unsigned>(tiles);
    stage.number = more ? static_cast<int>(number) : -1;
    if (!more) return arrive(&stage.loaded);
    const T* from = in + std::int64_t{number} * tile;
    const int count = elements_of<T, rows>(stage.number, n);
    const unsigned bytes = static_cast<unsigned>(count / size) * 16;
    T* const data = &stage.data[0].x[0];
    for (int i = count / size * size; i < count; ++i) data[i] = from[i];
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                   &stage.loaded, bytes);
    if (bytes > 0) {
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, data, from, bytes, &stage.loaded);
    }
  }
}

/// The sum of each warp's part, in order.
template <class T, int rows, int stages, class Op>
__device__ void add_tiles(Ring<T, rows, stages>& ring, std::int64_t n, int thread, Op op) {
  const int warp = thread / 32, lane = thread % 32;
  for (int k = 0;; ++k) {
    Stage<T, rows>& stage = ring[k];
    wait_for(&stage.loaded, k / stages);
    if (stage.number < 0) return;
    const int count = elements_of<T, rows>(stage.number, n);
    T sum{};
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const Vector<T> v = vector_of(stage, thread, r, count);
      T x = v.x[0];
      for (int i = 1; i < Vector<T>::size; ++i) x = op(x, v.x[i]);
      sum = r == 0 ? x : op(sum, x);
    }
    sum = warp_reduce(sum, lane, 32, op);
    if (lane == 0) stage.sums[warp] = sum;
    ptx::fence_proxy_async(ptx::space_shared);  // the TMA unit overwrites what this thread has read
    arrive(&stage.added);
  }
}

/// Makes each tile's sum public.
template <class T, int rows, int stages, class Op>
__device__ void publish_sums(Ring<T, rows, stages>& ring, Word* sums, int lane, Op op) {
  for (int k = 0;; ++k) {
    Stage<T, rows>& stage = ring[k];
    wait_for(&stage.loaded, k / stages);
    if (stage.number < 0) return;
    wait_for(&stage.added, k / stages);
    const T x = lane < group_warps ? stage.sums[lane] : T{};
    const T sum = warp_reduce(x, lane, group_warps, op);
    if (lane == 0) publish<false>(sums, stage.number, sum);
    arrive(&stage.free);
  }
}

/// All lanes get sum op the sums of tiles [first, last), in order, as soon as all are public,
/// `each` per lane at once. Lanes side by side ask for sums side by side; a lane's questions are on
/// their way together, and what it knows it does not ask again.
template <int each, bool apart, class T, class Op>
__device__ T gather(T sum, bool have, Word* sums, int first, int last, int lane, Op op) {
  for (; first < last; first += 32 * each) {
    std::uint32_t half[each][words_of<T>] = {};
    bool there[each], all = false;
#pragma unroll
    for (int k = 0; k < each; ++k) there[k] = last - first <= 32 * k + lane;
    while (!__all_sync(all_lanes, all)) {
      Word now[each][words_of<T>] = {};
#pragma unroll
      for (int k = 0; k < each; ++k) {
        for (int w = 0; w < words_of<T>; ++w) {
          cuda::atomic_ref<Word, cuda::thread_scope_device> word(
              sums[place_of<T, apart>(first + 32 * k + lane, w)]);
          if (!there[k]) now[k][w] = word.load(cuda::memory_order_relaxed);
        }
      }
      all = true;
#pragma unroll
      for (int k = 0; k < each; ++k) {
        if (!there[k]) {
          there[k] = true;
          for (int w = 0; w < words_of<T>; ++w) {
            there[k] = there[k] && now[k][w] >> 32 != 0;
            half[k][w] = static_cast<std::uint32_t>(now[k][w]);
          }
        }
        all = all && there[k];
      }
    }
    T total[each];  // without a branch, so that none waits for another
#pragma unroll
    for (int k = 0; k < each; ++k) {
      std::memcpy(&total[k], half[k], sizeof(T));
      total[k] = warp_reduce(total[k], lane, last - first - 32 * k, op);
    }
#pragma unroll
    for (int k = 0; k < each; ++k) {
      if (first + 32 * k < last) sum = have ? op(sum, total[k]) : total[k];
      have = have || first + 32 * k < last;
    }
  }
  return sum;
}

/// Finds what comes before each warp's part of each of this block's tiles.
template <bool exclusive, class T, int rows, int stages, class Op>
__device__ void find_prefixes(Ring<T, rows, stages>& ring, Word* sums, T initial, int lane, Op op) {
  T prefix = initial;
  bool have = exclusive;
  int next = 0;  // the first tile that is not in prefix
  for (int k = 0;; ++k) {
    Stage<T, rows>& stage = ring[k];
    wait_for(&stage.loaded, k / stages);
    const int number = stage.number;
    if (number < 0) return;
    prefix = gather<sums_a_lane, false>(prefix, have, sums, next, number, lane, op);
    have = have || number > next;
    wait_for(&stage.added, k / stages);
    const T x = lane < group_warps ? stage.sums[lane] : T{};
    const T upto = warp_scan(x, lane, op);
    const T before = __shfl_up_sync(all_lanes, upto, 1);
    if (lane < group_warps) {
      stage.before[lane] = lane == 0 ? prefix : have ? op(prefix, before) : before;
    }
    arrive(&stage.known);
    const T total = __shfl_sync(all_lanes, upto, group_warps - 1);
    prefix = have ? op(prefix, total) : total;
    have = true;
    next = number + 1;
  }
}

/// Scans tiles, puts the results in their places in shared memory, and stores them from there.
template <bool exclusive, class T, int rows, int stages, class Op>
__device__ void scan_tiles(Ring<T, rows, stages>& ring, T* out, std::int64_t n, int thread, Op op) {
  constexpr int size = Vector<T>::size, last = size - 1;
  const int warp = thread / 32, lane = thread % 32;
  for (int k = 0;; ++k) {
    Stage<T, rows>& stage = ring[k];
    wait_for(&stage.loaded, k / stages);
    const int number = stage.number;
    if (number < 0) return;
    const int count = elements_of<T, rows>(number, n);
    Vector<T> v[rows];
    T upto{};  // this element, of the thread's
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      v[r] = vector_of(stage, thread, r, count);
#pragma unroll
      for (int i = 0; i < size; ++i) {
        upto = r == 0 && i == 0 ? v[r].x[i] : op(upto, v[r].x[i]);
        v[r].x[i] = upto;
      }
    }
    T before = __shfl_up_sync(all_lanes, warp_scan(upto, lane, op), 1);
    wait_for(&stage.known, k / stages);
    const bool have = exclusive || number > 0 || warp > 0;  // anything before the warp's part
    if (have) before = lane == 0 ? stage.before[warp] : op(stage.before[warp], before);
    const bool first = !have && lane == 0;
#pragma unroll
    for (int r = rows - 1; r >= 0; --r) {
      Vector<T> y;
#pragma unroll
      for (int i = 0; i < size; ++i) {
        if (!exclusive) {
          y.x[i] = first ? v[r].x[i] : op(before, v[r].x[i]);
        } else if (r == 0 && i == 0) {
          y.x[i] = before;
        } else {
          y.x[i] = op(before, i > 0 ? v[r].x[i > 0 ? i - 1 : 0] : v[r > 0 ? r - 1 : 0].x[last]);
        }
      }
      stage.data[thread * rows + r] = y;
    }
    T* const to = out + std::int64_t{number} * Stage<T, rows>::tile;
    const int part = 32 * rows;  // vectors of a warp
    __syncwarp();
    if (count == Stage<T, rows>::tile) {
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        const int at = warp * part + r * 32 + lane;
        __stcs(reinterpret_cast<uint4*>(to) + at, reinterpret_cast<const uint4&>(stage.data[at]));
      }
    } else {
      const T* const results = &stage.data[0].x[0];
      const int end = min((warp + 1) * part * size, count);
      for (int i = warp * part * size + lane; i < end; i += 32) to[i] = results[i];
    }
    ptx::fence_proxy_async(ptx::space_shared);  // before the TMA unit writes to the same place
    arrive(&stage.free);
  }
}

/// Clears the workspace of a scan: the next tile's number, then the tiles' sums.
__global__ void clear(Word* words, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) words[i] = 0;
}

/// One block per SM, or fewer; all run at the same time. words: cleared.
template <bool exclusive, int rows, int stages, class T, class Op>
__global__ void __launch_bounds__(block_size, 1)
    scan(const T* in, T* out, Word* words, std::int64_t n, int tiles, Op op, T initial) {
  extern __shared__ __align__(128) unsigned char memory[];
  auto& ring = *reinterpret_cast<Ring<T, rows, stages>*>(memory);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  if (threadIdx.x < stages) {
    Stage<T, rows>& stage = ring[static_cast<int>(threadIdx.x)];
    ptx::mbarrier_init(&stage.loaded, 1);
    ptx::mbarrier_init(&stage.added, group);
    ptx::mbarrier_init(&stage.known, 32);
    ptx::mbarrier_init(&stage.free, group + 32);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  unsigned* const next = reinterpret_cast<unsigned*>(words);
  Word* const sums = words + 1;
  if (warp < group_warps) {
    scan_tiles<exclusive>(ring, out, n, static_cast<int>(threadIdx.x), op);
  } else if (warp < 2 * group_warps) {
    add_tiles(ring, n, static_cast<int>(threadIdx.x) - group, op);
  } else if (warp == 2 * group_warps) {
    if (lane == 0) load_tiles(ring, in, n, tiles, next);
  } else if (warp == 2 * group_warps + 1) {
    publish_sums(ring, sums, lane, op);
  } else {
    find_prefixes<exclusive>(ring, sums, initial, lane, op);
  }
}

constexpr int small_block = 512;
constexpr int small_warps = small_block / 32;
template <class T, int rows>
constexpr int small_tile = small_block* rows* Vector<T>::size;  // elements

/// How blocks that hold a tile each learn what comes before it: one block need not; blocks of one
/// cluster write their sums into each other's shared memory; others publish them in words, which
/// are cleared, and a look at all of them finds what is needed.
enum class Way { alone, cluster, words };
constexpr int blocks_in_cluster = 8;           // the most that every GPU with clusters allows
constexpr int most_blocks = 32 * small_warps;  // so that each warp asks for 32 sums at most

/// One tile per block, in registers. Way::words: the words are cleared, and all blocks run at the
/// same time.
template <bool exclusive, int rows, Way way, class T, class Op>
__global__ void __launch_bounds__(small_block, 2)
    scan_once(const T* in, T* out, Word* words, std::int64_t n, Op op, T initial) {
  constexpr int size = Vector<T>::size, last = size - 1;
  __shared__ T sums[small_warps];   // of each warp; then of those before it
  __shared__ T parts[small_warps];  // sums of the blocks before this one, or of 32 of them each
  const int t = static_cast<int>(threadIdx.x), warp = t / 32, lane = t % 32;
  const int number = static_cast<int>(blockIdx.x);
  const cg::cluster_group cluster = cg::this_cluster();
  const std::int64_t start =
      std::int64_t{number} * small_tile<T, rows> + (warp * rows * 32 + lane) * size;
  Vector<T> v[rows];
  // One branch around all loads. With one for each, the compiler may copy registers where both ways
  // join, and each copy waits for its load.
  if (std::int64_t{number + 1} * small_tile<T, rows> <= n) {
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      reinterpret_cast<uint4&>(v[r]) =
          __ldcs(reinterpret_cast<const uint4*>(in + start + r * 32 * size));
    }
  } else {
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const std::int64_t i = start + r * 32 * size;
      for (int k = 0; k < size; ++k) v[r].x[k] = i + k < n ? in[i + k] : T{};
    }
  }
  T carry{};
#pragma unroll
  for (int r = 0; r < rows; ++r) {  // each element becomes the scan of the warp's part up to it
    for (int i = 1; i < size; ++i) v[r].x[i] = op(v[r].x[i - 1], v[r].x[i]);
    const T upto = warp_scan(v[r].x[last], lane, op);
    const T left = __shfl_up_sync(all_lanes, upto, 1);
    const T row = __shfl_sync(all_lanes, upto, 31);
    const T before = r == 0 ? left : lane == 0 ? carry : op(carry, left);
    if (r > 0 || lane > 0) {
      for (int i = 0; i < size; ++i) v[r].x[i] = op(before, v[r].x[i]);
    }
    carry = r == 0 ? row : op(carry, row);
  }
  if (lane == 0) sums[warp] = carry;
  if (way == Way::cluster) {
    cluster.sync();  // all blocks have begun: now one may write into another's shared memory
  } else {
    __syncthreads();
  }
  if (warp == 0) {
    const T upto = warp_scan(lane < small_warps ? sums[lane] : T{}, lane, op);
    const T left = __shfl_up_sync(all_lanes, upto, 1);
    if (way == Way::cluster) {
      const T all = __shfl_sync(all_lanes, upto, small_warps - 1);
      if (number < lane && lane < static_cast<int>(cluster.num_blocks()))
        *cluster.map_shared_rank(&parts[number], lane) = all;
    } else if (way == Way::words && lane == small_warps - 1) {
      publish<true>(words + 1, number, upto);
    }
    if (0 < lane && lane < small_warps) sums[lane] = left;
  }
  if (way == Way::words) __syncthreads();         // publish first: the questions would delay it
  if (way == Way::words && 32 * warp < number) {  // each warp asks for the sums of 32 blocks
    const T part =
        gather<1, true>(T{}, false, words + 1, 32 * warp, min(32 * warp + 32, number), lane, op);
    if (lane == 0) parts[warp] = part;
  }
  if (way == Way::cluster) {
    cluster.sync();
  } else {
    __syncthreads();
  }
  T prefix = initial;  // of this warp, once there is anything: `have`
  bool have = exclusive;
  const int count = way == Way::words ? (number + 31) / 32 : number;
  for (int k = 0; k < count; ++k) {
    prefix = have ? op(prefix, parts[k]) : parts[k];
    have = true;
  }
  if (warp > 0) {
    prefix = have ? op(prefix, sums[warp]) : sums[warp];
    have = true;
  }
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    T left{};  // the element before the lane's first, for an exclusive scan
    if (exclusive) {
      left = __shfl_up_sync(all_lanes, v[r].x[last], 1);
      const T row = __shfl_sync(all_lanes, v[r > 0 ? r - 1 : 0].x[last], 31);
      if (lane == 0) left = row;
    }
    Vector<T> y;
    for (int i = 0; i < size; ++i) {
      const T x = !exclusive ? v[r].x[i] : i > 0 ? v[r].x[i > 0 ? i - 1 : 0] : left;
      const bool first = exclusive && r == 0 && i == 0 && lane == 0;
      y.x[i] = first ? prefix : have ? op(prefix, x) : x;
    }
    const std::int64_t i = start + r * 32 * size;
    if (i + size <= n) {
      *reinterpret_cast<uint4*>(out + i) = reinterpret_cast<const uint4&>(y);
    } else {
      for (int k = 0; k < size && i + k < n; ++k) out[i + k] = y.x[k];
    }
  }
}

/// A launch: of blocks that all run at the same time, so that they may wait for each other (a
/// cooperative launch); of one cluster, whose blocks do so, too; or an ordinary one.
struct Launch {
  enum How { ordinary, cluster, together };
  cudaLaunchAttribute attribute = {};
  cudaLaunchConfig_t config = {};
  Launch(How how, std::int64_t blocks, int threads, std::size_t shared_bytes, cudaStream_t stream) {
    if (how == cluster) {
      attribute.id = cudaLaunchAttributeClusterDimension;
      attribute.val.clusterDim.x = static_cast<unsigned>(blocks);
      attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    } else {
      attribute.id = cudaLaunchAttributeCooperative;
      attribute.val.cooperative = 1;
    }
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = how == ordinary ? 0 : 1;
  }
  Launch(const Launch&) = delete;  // config points into it
};

/// How a scan of n elements is done.
template <class T>
struct Plan {
  int vectors;  // per thread, where a block holds one tile; or `streaming`
  Way way;
  std::int64_t tiles, words;
  static constexpr int streaming = 0;  // the kernel for large arrays
  Plan(std::int64_t n, int vectors) : vectors(vectors) {
    const std::int64_t tile = vectors == streaming ? std::int64_t{Stage<T, large_rows>::tile}
                                                   : small_block * vectors * Vector<T>::size;
    tiles = (n + tile - 1) / tile;
    const bool few = vectors != streaming && tiles <= blocks_in_cluster;
    way = !few ? Way::words : tiles > 1 ? Way::cluster : Way::alone;
    words = 1 + (few ? 0 : (tiles + 31) / 32 * 32 * words_of<T>);
  }
};

/// The smallest tiles with which one cluster is enough; or else, with which all blocks run at the
/// same time, two on each SM. If not even the largest are enough: the kernel for large arrays.
template <class T>
Plan<T> plan_for(std::int64_t n, int sms) {
  for (const int vectors : {2, 4}) {
    const Plan<T> plan(n, vectors);
    if (plan.tiles <= blocks_in_cluster) return plan;
  }
  for (const int vectors : {2, 4, 8}) {
    const Plan<T> plan(n, vectors);
    if (plan.tiles <= std::min(2 * sms, most_blocks)) return plan;
  }
  return {n, Plan<T>::streaming};
}

/// True unless p is a multiple of `bytes`.
inline bool misaligned(const void* p, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % bytes != 0;
}

template <bool exclusive, int rows, class T, class Op>
cudaError_t scan_small(Word* words, const T* in, T* out, std::int64_t n, const Plan<T>& plan, Op op,
                       T initial, cudaStream_t stream) {
  const Launch launch(plan.way == Way::words     ? Launch::together
                      : plan.way == Way::cluster ? Launch::cluster
                                                 : Launch::ordinary,
                      plan.tiles, small_block, 0, stream);
  return cudaLaunchKernelEx(&launch.config,
                            plan.way == Way::words ? scan_once<exclusive, rows, Way::words, T, Op>
                            : plan.way == Way::cluster
                                ? scan_once<exclusive, rows, Way::cluster, T, Op>
                                : scan_once<exclusive, rows, Way::alone, T, Op>,
                            in, out, words, n, op, initial);
}

template <bool exclusive, class T, class Op>
cudaError_t scan_large(Word* words, const T* in, T* out, std::int64_t n, std::int64_t tiles,
                       int sms, Op op, T initial, cudaStream_t stream) {
  constexpr auto kernel = scan<exclusive, large_rows, large_stages, T, Op>;
  constexpr int shared_bytes = sizeof(Ring<T, large_rows, large_stages>);
  if (cudaError_t error =
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes))
    return error;
  const Launch launch(Launch::together, std::min<std::int64_t>(tiles, sms), block_size,
                      shared_bytes, stream);
  return cudaLaunchKernelEx(&launch.config, kernel, in, out, words, n, static_cast<int>(tiles), op,
                            initial);
}

/// out[i] = in[0] op ... op in[i], or with `exclusive` initial op in[0] op ... op in[i - 1]. op:
/// associative; it need not be commutative nor have a neutral element. T: 4 or 8 bytes. Device
/// pointers, arrays aligned to 16 bytes; out may be in. With workspace == nullptr: only writes the
/// bytes of scratch memory that it needs. \returns cudaErrorInvalidValue for too little of it, for
/// a misaligned pointer, for n < 0 or 2^31 tiles or more; or the error of a launch. `streaming`:
/// by the kernel for large arrays, whatever n is.
template <bool exclusive, class T, class Op>
cudaError_t scan_with(void* workspace, std::size_t& workspace_bytes, const T* in, T* out,
                      std::int64_t n, Op op, T initial, cudaStream_t stream,
                      bool streaming = false) {
  int device = 0, sms = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device))
    return error;
  const Plan<T> plan = streaming ? Plan<T>(n, Plan<T>::streaming) : plan_for<T>(n, sms);
  if (n < 0 || plan.tiles > INT32_MAX) return cudaErrorInvalidValue;
  const std::size_t needed = static_cast<std::size_t>(plan.words) * sizeof(Word);
  if (workspace == nullptr) {
    workspace_bytes = needed;
    return cudaSuccess;
  }
  if (workspace_bytes < needed) return cudaErrorInvalidValue;
  if (misaligned(workspace, alignof(Word)) || misaligned(in, 16) || misaligned(out, 16)) {
    return cudaErrorInvalidValue;
  }
  if (n == 0) return cudaSuccess;
  Word* const words = static_cast<Word*>(workspace);
  if (plan.way == Way::words) {
    const Launch launch(Launch::ordinary, (plan.words + 255) / 256, 256, 0, stream);
    if (cudaError_t error = cudaLaunchKernelEx(&launch.config, clear, words, plan.words))
      return error;
  }
  switch (plan.vectors) {
    case 2:
      return scan_small<exclusive, 2>(words, in, out, n, plan, op, initial, stream);
    case 4:
      return scan_small<exclusive, 4>(words, in, out, n, plan, op, initial, stream);
    case 8:
      return scan_small<exclusive, 8>(words, in, out, n, plan, op, initial, stream);
    default:
      return scan_large<exclusive>(words, in, out, n, plan.tiles, sms, op, initial, stream);
  }
}

struct Sum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

/// The larger one; of NaN and a number the number, and 0.0 is larger than -0.0. (`b > a ? b : a`
/// is not associative with NaN: it forgets what came before.)
struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

/// Of maps x -> a x + b modulo 2^16, each held as a << 16 | b: first f, then g. Order matters.
struct Compose {
  __device__ unsigned operator()(unsigned f, unsigned g) const {
    const unsigned a = (f >> 16) * (g >> 16), b = (g >> 16) * (f & 0xffffu) + g;
    return a << 16 | (b & 0xffffu);
  }
};

cudaError_t inclusive(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                      std::int64_t n, cudaStream_t stream) {
  return scan_with<false>(workspace, workspace_bytes, in, out, n, Sum{}, 0.0f, stream);
}

cudaError_t exclusive(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                      std::int64_t n, cudaStream_t stream) {
  return scan_with<true>(workspace, workspace_bytes, in, out, n, Sum{}, 0.0f, stream);
}

/// Modulo 2^32, as the next.
cudaError_t inclusive(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                      unsigned* out, std::int64_t n, cudaStream_t stream) {
  return scan_with<false>(workspace, workspace_bytes, in, out, n, Sum{}, 0u, stream);
}

cudaError_t exclusive(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                      unsigned* out, std::int64_t n, cudaStream_t stream) {
  return scan_with<true>(workspace, workspace_bytes, in, out, n, Sum{}, 0u, stream);
}

cudaError_t inclusive(void* workspace, std::size_t& workspace_bytes, const std::int64_t* in,
                      std::int64_t* out, std::int64_t n, cudaStream_t stream) {
  return scan_with<false>(workspace, workspace_bytes, in, out, n, Sum{}, std::int64_t{0}, stream);
}

cudaError_t exclusive(void* workspace, std::size_t& workspace_bytes, const std::int64_t* in,
                      std::int64_t* out, std::int64_t n, cudaStream_t stream) {
  return scan_with<true>(workspace, workspace_bytes, in, out, n, Sum{}, std::int64_t{0}, stream);
}

/// Starts with NaN for NaN, until there is a number.
cudaError_t inclusive_max(void* workspace, std::size_t& workspace_bytes, const float* in,
                          float* out, std::int64_t n, cudaStream_t stream) {
  return scan_with<false>(workspace, workspace_bytes, in, out, n, Max{}, 0.0f, stream);
}

cudaError_t inclusive_compose(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                              unsigned* out, std::int64_t n, cudaStream_t stream) {
  return scan_with<false>(workspace, workspace_bytes, in, out, n, Compose{}, 0u, stream);
}

/// Starts with the map that changes nothing.
cudaError_t exclusive_compose(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                              unsigned* out, std::int64_t n, cudaStream_t stream) {
  return scan_with<true>(workspace, workspace_bytes, in, out, n, Compose{}, 1u << 16, stream);
}

/// The kernel for large arrays, whatever n is.
cudaError_t inclusive_large(void* workspace, std::size_t& workspace_bytes, const float* in,
                            float* out, std::int64_t n, cudaStream_t stream) {
  return scan_with<false>(workspace, workspace_bytes, in, out, n, Sum{}, 0.0f, stream, true);
}

cudaError_t exclusive_large(void* workspace, std::size_t& workspace_bytes, const std::int64_t* in,
                            std::int64_t* out, std::int64_t n, cudaStream_t stream) {
  using T = std::int64_t;
  return scan_with<true>(workspace, workspace_bytes, in, out, n, Sum{}, T{0}, stream, true);
}

cudaError_t inclusive_compose_large(void* workspace, std::size_t& workspace_bytes,
                                    const unsigned* in, unsigned* out, std::int64_t n,
                                    cudaStream_t stream) {
  return scan_with<false>(workspace, workspace_bytes, in, out, n, Compose{}, 0u, stream, true);
}

}  // namespace limit
