// Idea: three ways instead of two. Keys that equal the pivot are not moved at all: their number
// says
//   where they belong, and their value is known, so it is only written there.
// Predicts: like 05 where keys differ; with k distinct values at most about log2(k) levels, and one
//   read and one write for keys that are all the same.
// Still wrong: every level reads and writes all keys, and a level only halves them: 17 levels for
//   2^28 keys.
#include <cuda_runtime.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cuda/atomic>

#include "keys.cuh"

namespace three_ways {

using keys::key_of;
using keys::Ordered;
using keys::ordered;

constexpr int block_size = 256;
constexpr int warps = block_size / 32;
constexpr int rows = 8;                  // of 32 keys that a warp parts, one after the other
constexpr int tile = block_size * rows;  // keys; what is not longer is sorted in shared memory
constexpr unsigned all_lanes = 0xffffffffu;

/// Keys [first, first + count), all of them from `low` to `high` (as `ordered` orders them). They
/// lie in array `place`: 0 the input, 1 the scratch array, 2 the output.
template <class U>
struct Segment {
  std::int64_t first, count;
  U low, high;
  int place, level;                  // level: how many times its keys were parted
  U pivot;                           // smaller keys go left, larger ones right
  unsigned tiles;                    // that are not parted yet
  unsigned long long lefts, rights;  // how many places are reserved at its two ends
};

template <class T>
struct Arrays {
  const T* in;
  T* scratch;
  T* out;
  int most_parted;     // levels by pivots; deeper ones halve the range of values
  std::uint64_t seed;  // where pivots are looked for

  __device__ const T* from(int place) const { return place == 0 ? in : place == 1 ? scratch : out; }
  __device__ T* to(int place) const { return place == 1 ? out : scratch; }
};

/// Where keys are after they were parted: not where they were, and not in the input.
__device__ int next_place(int place) { return place == 1 ? 2 : 1; }

__device__ int thread_index() { return static_cast<int>(threadIdx.x); }

/// Sorts at most `tile` keys of `from` into `to`: a bitonic network in shared memory, filled up
/// with keys that are larger than any. All threads must call.
template <class T>
__device__ void sort_leaf(const T* from, T* to, int count) {
  using U = Ordered<T>;
  __shared__ U s[tile];
  int size = 2;  // the power of two that holds them
  while (size < count) size *= 2;
  for (int i = thread_index(); i < size; i += block_size)
    s[i] = i < count ? ordered(from[i]) : ~U{0};
  __syncthreads();
  for (int run = 2; run <= size; run *= 2) {  // sorted runs of so many keys
    for (int step = run / 2; step > 0; step /= 2) {
      for (int i = thread_index(); i < size / 2; i += block_size) {
        const int a = i / step * 2 * step + i % step;
        const int b = step == run / 2 ? a ^ (run - 1) : a + step;  // first with its mirror image
        const U low = s[a], high = s[b];
        if (high < low) s[a] = high, s[b] = low;
      }
      __syncthreads();
    }
  }
  for (int i = thread_index(); i < count; i += block_size) to[i] = key_of<T>(s[i]);
  __syncthreads();
}

/// True for keys that are all the same: they need not be read.
template <class U>
__device__ bool is_constant(const Segment<U>& segment) {
  return segment.low == segment.high;
}

/// Sorts a segment of at most `tile` keys from where it is to the output. All threads must call.
template <class T>
__device__ void sort_leaf(const Arrays<T>& arrays, const Segment<Ordered<T>>& leaf) {
  sort_leaf(arrays.from(leaf.place) + leaf.first, arrays.out + leaf.first,
            static_cast<int>(leaf.count));
}

/// to[0 .. count) = key. All threads must call.
template <class T>
__device__ void fill(T* to, int count, Ordered<T> key) {
  for (int i = thread_index(); i < count; i += block_size) to[i] = key_of<T>(key);
}

/// 64 bits that look random (the finaliser of SplitMix64: Steele, Lea, Flood, 2014).
__device__ std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

/// All lanes get the median of their 32 values: a bitonic network of shuffles. All must call.
template <class U>
__device__ U median_of_warp(U x) {
  const int lane = thread_index() % 32;
  for (int run = 2; run <= 32; run *= 2) {
    for (int step = run / 2; step > 0; step /= 2) {
      const int partner = lane ^ (step == run / 2 ? run - 1 : step);
      const U other = __shfl_sync(all_lanes, x, partner);
      x = lane < partner ? min(x, other) : max(x, other);
    }
  }
  return __shfl_sync(all_lanes, x, 16);
}

/// The median (as `ordered`) of 32 keys at random places. Beyond most_parted levels the middle of
/// the range of values: after 32 or 64 of those, a range is a single value. All lanes of a warp
/// must call.
template <class T>
__device__ Ordered<T> pivot_of(const Arrays<T>& arrays, const Segment<Ordered<T>>& segment) {
  if (segment.level >= arrays.most_parted) return segment.low + (segment.high - segment.low) / 2;
  const auto number = static_cast<std::uint64_t>(segment.first * 64 + segment.level);
  const std::uint64_t random = mix(mix(arrays.seed + number) + threadIdx.x % 32);
  const auto at = static_cast<std::int64_t>(random % static_cast<std::uint64_t>(segment.count));
  return median_of_warp(ordered(arrays.from(segment.place)[segment.first + at]));
}

/// A tile's keys in registers, and which of them go where.
template <class U>
struct Tile {
  U x[rows];
  unsigned goes_left[rows], goes_right[rows];  // of the warp's row; the others equal the pivot
  int lefts_before, rights_before;             // how many in the warps before
  int lefts, rights;                           // how many in the tile
};

/// Reads `here` keys, at most a tile. All threads must call; what they get of the counts is valid
/// until the next call.
template <class T>
__device__ Tile<Ordered<T>> read_tile(const T* from, int here, Ordered<T> pivot) {
  using U = Ordered<T>;
  __shared__ int lefts[warps], rights[warps];
  const int warp = thread_index() / 32, lane = thread_index() % 32;
  Tile<U> t;
  int my_lefts = 0, my_rights = 0;
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const int i = (warp * rows + r) * 32 + lane;
    t.x[r] = i < here ? ordered(from[i]) : pivot;
    t.goes_left[r] = __ballot_sync(all_lanes, t.x[r] < pivot);
    t.goes_right[r] = __ballot_sync(all_lanes, t.x[r] > pivot);
    my_lefts += __popc(t.goes_left[r]);
    my_rights += __popc(t.goes_right[r]);
  }
  __syncthreads();  // nobody reads the counts of the tile before
  if (lane == 0) lefts[warp] = my_lefts, rights[warp] = my_rights;
  __syncthreads();
  t.lefts_before = t.rights_before = t.lefts = t.rights = 0;
  for (int w = 0; w < warps; ++w) {
    if (w < warp) t.lefts_before += lefts[w], t.rights_before += rights[w];
    t.lefts += lefts[w], t.rights += rights[w];
  }
  return t;
}

/// Writes a tile's keys: those that go left from to[left] on, those that go right from to[right -
/// 1] down.
template <class T>
__device__ void write_tile(const Tile<Ordered<T>>& t, T* to, std::int64_t left,
                           std::int64_t right) {
  const unsigned lanes_before = (1u << threadIdx.x % 32) - 1;
  std::int64_t to_left = left + t.lefts_before, to_right = right - 1 - t.rights_before;
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const unsigned mine = 1u << threadIdx.x % 32;
    if ((t.goes_left[r] & mine) != 0)
      to[to_left + __popc(t.goes_left[r] & lanes_before)] = key_of<T>(t.x[r]);
    if ((t.goes_right[r] & mine) != 0)
      to[to_right - __popc(t.goes_right[r] & lanes_before)] = key_of<T>(t.x[r]);
    to_left += __popc(t.goes_left[r]);
    to_right -= __popc(t.goes_right[r]);
  }
}

using Word = unsigned long long;
template <class V>
using Atomic = cuda::atomic_ref<V, cuda::thread_scope_device>;  // what blocks tell each other with

/// What all blocks count.
struct Counts {
  Word fallbacks;   // segments that were parted without a pivot
  Word taken, put;  // tasks
  Word sorted;      // keys
  Word segments;    // that were ever needed at once
};

/// A ring of tasks. A task is a word: the segment's number + 1 in the upper half, the number of the
/// tile in the lower one. 0: nothing there. Never more than `size` tasks wait: each is a tile of a
/// segment of more than `tile` keys, and no key is in two segments, so there are at most 2 n /
/// tile.
template <class U>
struct Queue {
  Segment<U>* segments;
  Word* tasks;
  Counts* counts;
  Word size;
};

/// Takes a task; 0 when all n keys are sorted. One thread calls. (Two threads may wait at the same
/// place of the ring: only one of them gets what is put there.)
template <class U>
__device__ Word take(const Queue<U>& queue, std::int64_t n) {
  const Word mine = Atomic<Word>(queue.counts->taken).fetch_add(1, cuda::memory_order_relaxed);
  Atomic<Word> task(queue.tasks[mine % queue.size]);
  Atomic<Word> sorted(queue.counts->sorted);
  while (true) {
    if (task.load(cuda::memory_order_relaxed) != 0) {
      const Word found = task.exchange(0, cuda::memory_order_acq_rel);
      if (found != 0) return found;
    }
    if (sorted.load(cuda::memory_order_relaxed) == static_cast<Word>(n)) return 0;
    __nanosleep(100);
  }
}

/// Puts all tiles of a segment into the queue. All threads of a block must call.
template <class U>
__device__ void put(const Queue<U>& queue, Word number, const Segment<U>& segment) {
  __shared__ Word base;
  const auto tiles = static_cast<Word>((segment.count + tile - 1) / tile);
  __syncthreads();
  if (thread_index() == 0) {
    queue.segments[number] = segment;
    queue.segments[number].tiles = static_cast<unsigned>(tiles);
    base = Atomic<Word>(queue.counts->put).fetch_add(tiles, cuda::memory_order_relaxed);
  }
  __syncthreads();
  for (Word k = threadIdx.x; k < tiles; k += block_size) {
    Atomic<Word> task(queue.tasks[(base + k) % queue.size]);
    while (task.load(cuda::memory_order_acquire) != 0) __nanosleep(100);  // it is being taken
    task.store((number + 1) << 32 | k, cuda::memory_order_release);
  }
}

/// The parts of a segment, as they lie after it was parted: smaller than its pivot, equal, larger.
template <class U>
__device__ void get_parts(const Segment<U>& segment, Segment<U>* parts) {
  const auto lefts = static_cast<std::int64_t>(segment.lefts);
  const auto rights = static_cast<std::int64_t>(segment.rights);
  for (int k = 0; k < 3; ++k) {
    parts[k] = segment;
    parts[k].place = next_place(segment.place);
    parts[k].level = segment.level + 1;
    parts[k].lefts = parts[k].rights = 0;
  }
  parts[0].count = lefts;
  parts[0].high = segment.pivot - 1;
  parts[1].first += lefts;
  parts[1].count -= lefts + rights;
  parts[1].low = parts[1].high = segment.pivot;
  parts[2].first += segment.count - rights;
  parts[2].count = rights;
  parts[2].low = segment.pivot + 1;
}

/// Sorts the parts of a segment or puts them into the queue. The first one that is put gets the
/// segment's number, others get new ones. So there are never more numbers than segments of more
/// than `tile` keys. All threads of a block must call.
template <class T>
__device__ void go_on(const Arrays<T>& arrays, const Queue<Ordered<T>>& queue, Word number,
                      const Segment<Ordered<T>>& segment) {
  using U = Ordered<T>;
  __shared__ Word new_number;
  Segment<U> parts[3];
  get_parts(segment, parts);
  bool has_number = true;
  for (Segment<U>& part : parts) {
    if (part.count > tile) {
      if (!is_constant(part)) part.pivot = pivot_of(arrays, part);
      if (!has_number) {
        __syncthreads();  // all have read the one before
        if (thread_index() == 0)
          new_number =
              Atomic<Word>(queue.counts->segments).fetch_add(1, cuda::memory_order_relaxed);
        __syncthreads();
      }
      put(queue, has_number ? number : new_number, part);
      has_number = false;
      continue;
    }
    if (is_constant(part))
      fill(arrays.out + part.first, static_cast<int>(part.count), part.low);
    else if (part.count > 0)
      sort_leaf(arrays, part);
    if (thread_index() == 0) atomicAdd(&queue.counts->sorted, static_cast<Word>(part.count));
  }
  if (thread_index() == 0 && segment.level >= arrays.most_parted)
    atomicAdd(&queue.counts->fallbacks, 1ull);
}

/// Puts the whole input into the queue. Launch: one block of block_size threads.
template <class T>
__global__ void __launch_bounds__(block_size)
    put_input(Arrays<T> arrays, Queue<Ordered<T>> queue, std::int64_t n) {
  Segment<Ordered<T>> all{};
  all.count = n;
  all.high = ~Ordered<T>{0};
  all.pivot = pivot_of(arrays, all);
  if (thread_index() == 0) queue.counts->segments = 1;
  put(queue, 0, all);
}

/// Works until all n keys are sorted. Launch: any number of blocks of block_size threads.
template <class T>
__global__ void __launch_bounds__(block_size)
    work(Arrays<T> arrays, Queue<Ordered<T>> queue, std::int64_t n) {
  using U = Ordered<T>;
  __shared__ Word task;
  __shared__ std::int64_t left, right;  // the block's places
  __shared__ Segment<U> parted;         // the segment, when this was its last tile
  while (true) {
    if (thread_index() == 0) task = take(queue, n);
    __syncthreads();
    if (task == 0) return;
    const Word number = (task >> 32) - 1;
    Segment<U>& segment = queue.segments[number];
    const std::int64_t start = static_cast<std::int64_t>(task & 0xffffffffu) * tile;
    const int here = static_cast<int>(min(segment.count - start, std::int64_t{tile}));
    const std::int64_t first = segment.first, end = segment.first + segment.count;
    if (is_constant(segment)) {
      fill(arrays.out + first + start, here, segment.low);
      if (thread_index() == 0) atomicAdd(&queue.counts->sorted, static_cast<Word>(here));
      __syncthreads();  // all have read the task
      continue;
    }
    T* const to = arrays.to(segment.place);
    const Tile<U> t = read_tile(arrays.from(segment.place) + first + start, here, segment.pivot);
    if (thread_index() == 0) {
      const auto lefts = static_cast<Word>(t.lefts), rights = static_cast<Word>(t.rights);
      left = first + static_cast<std::int64_t>(atomicAdd(&segment.lefts, lefts));
      right = end - static_cast<std::int64_t>(atomicAdd(&segment.rights, rights));
    }
    __syncthreads();
    write_tile(t, to, left, right);
    __syncthreads();  // the whole block has written
    if (thread_index() == 0) {
      // Releases what the block wrote, and acquires what those wrote who were done before.
      const unsigned tiles =
          Atomic<unsigned>(segment.tiles).fetch_sub(1, cuda::memory_order_acq_rel);
      parted.count = -1;
      if (tiles == 1) parted = segment;
    }
    __syncthreads();
    if (parted.count < 0) continue;
    const Segment<U> mine = parted;
    go_on(arrays, queue, number, mine);
    __syncthreads();
  }
}

/// How many levels by pivots a segment gets: twice those of halving.
inline int levels_by_pivots(std::int64_t n) {
  int levels = 2;
  for (std::int64_t size = tile; size < n; size *= 2) levels += 2;
  return levels;
}

/// True unless p is a multiple of `bytes`.
inline bool misaligned(const void* p, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % bytes != 0;
}

/// What lies where in the workspace.
template <class T>
struct Layout {
  std::int64_t most_segments;  // each has more than `tile` keys
  std::int64_t most_tasks;
  std::size_t tasks, scratch, segments, bytes;

  explicit Layout(std::int64_t n)
      : most_segments(n / (tile + 1) + 1), most_tasks(2 * (n / tile) + 2) {
    tasks = sizeof(Counts);
    scratch = tasks + static_cast<std::size_t>(most_tasks) * sizeof(Word);
    segments = scratch + (static_cast<std::size_t>(n) * sizeof(T) + 7) / 8 * 8;
    bytes = segments + static_cast<std::size_t>(most_segments) * sizeof(Segment<Ordered<T>>);
  }
};

/// Sorts an input that is short enough for it. Launch: one block of block_size threads.
template <class T>
__global__ void __launch_bounds__(block_size) sort_one_leaf(const T* in, T* out, int n) {
  sort_leaf(in, out, n);
}

/// How many blocks `work` gets: as many as the GPU holds at once. (More would end at once, fewer
/// would do: nobody waits for a block that has not started.)
template <class T>
cudaError_t blocks_to_fill_gpu(unsigned* blocks) {
  int device = 0, sms = 0, per_sm = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device))
    return error;
  if (cudaError_t error =
          cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, work<T>, block_size, 0))
    return error;
  *blocks = static_cast<unsigned>(sms * per_sm);
  return cudaSuccess;
}

/// out = the keys of in, in ascending order (keys.cuh). Device pointers, which must not overlap.
/// Not stable, which nobody can see: equal keys are equal bits. The first 8 bytes of the workspace
/// become the number of segments that were parted without a pivot. With workspace == nullptr: only
/// writes the bytes of scratch memory that it needs. `seed`: pivots are looked for at places that
/// follow from it. \returns cudaErrorInvalidValue for too little scratch memory or a misaligned
/// pointer, for n < 0 or n >= 2^40, or the error of a launch.
template <class T>
cudaError_t sort_keys(void* workspace, std::size_t& workspace_bytes, const T* in, T* out,
                      std::int64_t n, std::uint64_t seed, cudaStream_t stream) {
  using U = Ordered<T>;
  if (n < 0 || n >= std::int64_t{1} << 40) return cudaErrorInvalidValue;
  const Layout<T> layout(n);
  if (workspace == nullptr) {
    workspace_bytes = layout.bytes;
    return cudaSuccess;
  }
  if (workspace_bytes < layout.bytes) return cudaErrorInvalidValue;
  if (misaligned(workspace, alignof(Segment<U>))) return cudaErrorInvalidValue;
  if (misaligned(in, sizeof(T)) || misaligned(out, sizeof(T))) return cudaErrorInvalidValue;
  char* const bytes = static_cast<char*>(workspace);
  if (cudaError_t error = cudaMemsetAsync(bytes, 0, layout.scratch, stream)) return error;
  if (n == 0) return cudaSuccess;
  if (n <= tile) {
    sort_one_leaf<<<1, block_size, 0, stream>>>(in, out, static_cast<int>(n));
    return cudaGetLastError();
  }
  unsigned blocks = 0;
  if (cudaError_t error = blocks_to_fill_gpu<T>(&blocks)) return error;
  auto* const counts = reinterpret_cast<Counts*>(bytes);
  const Arrays<T> arrays{in, reinterpret_cast<T*>(bytes + layout.scratch), out, levels_by_pivots(n),
                         seed};
  const Queue<U> queue{reinterpret_cast<Segment<U>*>(bytes + layout.segments),
                       reinterpret_cast<Word*>(bytes + layout.tasks), counts,
                       static_cast<Word>(layout.most_tasks)};
  put_input<<<1, block_size, 0, stream>>>(arrays, queue, n);
  if (cudaError_t error = cudaGetLastError()) return error;
  work<<<blocks, block_size, 0, stream>>>(arrays, queue, n);
  return cudaGetLastError();
}

/// A seed that nobody knows who made the input.
inline std::uint64_t any_seed() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

/// The same with a seed that somebody else has chosen.
cudaError_t sort_seeded(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                        unsigned* out, std::int64_t n, std::uint64_t seed, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, seed, stream);
}

cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const unsigned* in, unsigned* out,
                 std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, any_seed(), stream);
}

cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const int* in, int* out,
                 std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, any_seed(), stream);
}

cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                 std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, any_seed(), stream);
}

cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const std::int64_t* in,
                 std::int64_t* out, std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, any_seed(), stream);
}

}  // namespace three_ways
