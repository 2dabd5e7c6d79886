// Idea: many blocks part one segment. A block takes a tile, counts which of its keys go left and
//   which right, reserves places for both with two atomic additions, and writes. When segments are
//   short, a block sorts one to its end. The pivot is the median of 32 keys at random places.
// Predicts: every level keeps the GPU busy: a read and a write of 4 bytes per key and level.
// Still wrong: the host launches as many levels as the worst case has, two kernels each, and all
//   blocks wait for the slowest one of a level.
#include <cuda_runtime.h>

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "keys.cuh"

namespace reserve_places {

using keys::key_of;
using keys::Ordered;
using keys::ordered;

constexpr int block_size = 256;
constexpr int warps = block_size / 32;
constexpr int rows = 8;                  // of 32 keys that a warp parts, one after the other
constexpr int tile = block_size * rows;  // keys; what is not longer is sorted in shared memory
constexpr int many = 8 * tile;           // keys; what is longer is parted by many blocks
constexpr unsigned all_lanes = 0xffffffffu;

/// Keys [first, first + count), all of them from `low` to `high` (as `ordered` orders them). They
/// lie in array `place`: 0 the input, 1 the scratch array, 2 the output.
template <class U>
struct Segment {
  std::int64_t first, count;
  U low, high;
  int place, level;                  // level: how many times its keys were parted
  U last;                            // the last key that goes left
  int first_tile;                    // of the level's tiles, its own begin here
  unsigned long long lefts, rights;  // how many places are reserved at its two ends
};

template <class T>
struct Arrays {
  const T* in;
  T* scratch;
  T* out;
  int most_parted;     // levels by pivots; deeper ones halve the range of values
  std::uint64_t seed;  // where pivots are looked for
  unsigned long long* fallbacks;

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

/// True for keys that are all the same and lie where they belong.
template <class U>
__device__ bool is_sorted(const Segment<U>& segment) {
  return segment.count == 0 || (segment.low == segment.high && segment.place == 2);
}

/// Sorts a segment of at most `tile` keys from where it is to the output.
template <class T>
__device__ void sort_leaf(const Arrays<T>& arrays, const Segment<Ordered<T>>& leaf) {
  sort_leaf(arrays.from(leaf.place) + leaf.first, arrays.out + leaf.first,
            static_cast<int>(leaf.count));
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

/// The last key (as `ordered`) that goes left: below the median of 32 keys at random places. Beyond
/// most_parted levels the middle of the range of values: after 32 or 64 of those, a range is a
/// single value. All lanes of a warp must call.
template <class T>
__device__ Ordered<T> last_of_left(const Arrays<T>& arrays, const Segment<Ordered<T>>& segment) {
  using U = Ordered<T>;
  if (segment.level >= arrays.most_parted) return segment.low + (segment.high - segment.low) / 2;
  const auto number = static_cast<std::uint64_t>(segment.first * 64 + segment.level);
  const std::uint64_t random = mix(mix(arrays.seed + number) + threadIdx.x % 32);
  const auto at = static_cast<std::int64_t>(random % static_cast<std::uint64_t>(segment.count));
  const U pivot = median_of_warp(ordered(arrays.from(segment.place)[segment.first + at]));
  return pivot > segment.low ? pivot - 1 : pivot;
}

/// A tile's keys in registers, and which of them go left.
template <class U>
struct Tile {
  U x[rows];
  unsigned goes_left[rows];  // of the warp's row
  int before, lefts;         // how many go left: in the warps before, in the tile
};

/// Reads `here` keys, at most a tile. All threads must call; what they get of the counts is valid
/// until the next call.
template <class T>
__device__ Tile<Ordered<T>> read_tile(const T* from, int here, Ordered<T> last) {
  using U = Ordered<T>;
  __shared__ int lefts[warps];
  const int warp = thread_index() / 32, lane = thread_index() % 32;
  Tile<U> t;
  int mine = 0;
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const int i = (warp * rows + r) * 32 + lane;
    t.x[r] = i < here ? ordered(from[i]) : U{0};
    t.goes_left[r] = __ballot_sync(all_lanes, i < here && t.x[r] <= last);
    mine += __popc(t.goes_left[r]);
  }
  __syncthreads();  // nobody reads the counts of the tile before
  if (lane == 0) lefts[warp] = mine;
  __syncthreads();
  t.before = t.lefts = 0;
  for (int w = 0; w < warps; ++w) {
    if (w < warp) t.before += lefts[w];
    t.lefts += lefts[w];
  }
  return t;
}

/// Writes a tile's keys: those that go left from to[left] on, the others from to[right - 1] down.
template <class T>
__device__ void write_tile(const Tile<Ordered<T>>& t, T* to, int here, std::int64_t left,
                           std::int64_t right) {
  const int warp = thread_index() / 32, lane = thread_index() % 32;
  const unsigned lanes_before = (1u << lane) - 1;
  const int begin = warp * rows * 32;
  std::int64_t to_left = left + t.before, to_right = right - 1 - (min(begin, here) - t.before);
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const int i = begin + r * 32 + lane;
    const int lefts_before = __popc(t.goes_left[r] & lanes_before);
    const bool is_left = (t.goes_left[r] >> lane & 1) != 0;
    if (i < here)
      to[is_left ? to_left + lefts_before : to_right - (lane - lefts_before)] = key_of<T>(t.x[r]);
    to_left += __popc(t.goes_left[r]);
    to_right -= 32 - __popc(t.goes_left[r]);
  }
}

/// Parts a segment with one block. Returns how many keys go left. All threads must call.
template <class T>
__device__ std::int64_t partition(const T* from, T* to, const Segment<Ordered<T>>& segment) {
  std::int64_t left = segment.first, right = segment.first + segment.count;
  for (std::int64_t start = 0; start < segment.count; start += tile) {
    const int here = static_cast<int>(min(segment.count - start, std::int64_t{tile}));
    const Tile<Ordered<T>> t = read_tile(from + segment.first + start, here, segment.last);
    write_tile(t, to, here, left, right);
    left += t.lefts;
    right -= here - t.lefts;
  }
  return left - segment.first;
}

/// The segments of a level. counts: how many there are, and in the upper half how many tiles.
template <class U>
struct List {
  Segment<U>* segments;
  unsigned long long* counts;
};
constexpr unsigned long long one_segment = 1, one_tile = 1ull << 32;

/// Both parts of a segment, as they lie after it was parted: parts[0] up to its last key.
template <class U>
__device__ void get_parts(const Segment<U>& segment, std::int64_t lefts, Segment<U>* parts) {
  parts[0] = parts[1] = segment;
  parts[0].place = parts[1].place = next_place(segment.place);
  parts[0].level = parts[1].level = segment.level + 1;
  parts[0].lefts = parts[1].lefts = parts[0].rights = parts[1].rights = 0;
  parts[0].count = lefts;
  parts[0].high = segment.last;
  parts[1].first += lefts;
  parts[1].count -= lefts;
  parts[1].low = segment.last + 1;
}

/// Parts the tiles of all segments of a list, a block each. Launch: at least as many blocks of
/// block_size threads as there are tiles.
template <class T>
__global__ void __launch_bounds__(block_size) part_tiles(Arrays<T> arrays, List<Ordered<T>> now) {
  using U = Ordered<T>;
  __shared__ std::int64_t left, right;  // the block's places
  const auto number = static_cast<int>(blockIdx.x);
  if (number >= static_cast<int>(*now.counts / one_tile)) return;
  int mine = 0, end = static_cast<int>(*now.counts % one_tile);  // the tile's segment is in between
  while (end - mine > 1) {
    const int middle = (mine + end) / 2;
    (now.segments[middle].first_tile <= number ? mine : end) = middle;
  }
  Segment<U>& segment = now.segments[mine];
  const std::int64_t start = std::int64_t{number - segment.first_tile} * tile;
  const int here = static_cast<int>(min(segment.count - start, std::int64_t{tile}));
  const std::int64_t first = segment.first;
  const Tile<U> t = read_tile(arrays.from(segment.place) + first + start, here, segment.last);
  if (thread_index() == 0) {
    const auto lefts = static_cast<unsigned long long>(t.lefts);
    const auto rights = static_cast<unsigned long long>(here - t.lefts);
    left = first + static_cast<std::int64_t>(atomicAdd(&segment.lefts, lefts));
    right = first + segment.count - static_cast<std::int64_t>(atomicAdd(&segment.rights, rights));
  }
  __syncthreads();
  write_tile(t, arrays.to(segment.place), here, left, right);
}

/// Lists the parts of the segments of a list, a warp each: long ones with their pivots for the next
/// level, the others as short. Launch: at least as many warps as there are segments.
template <class T>
__global__ void __launch_bounds__(block_size)
    list_parts(Arrays<T> arrays, List<Ordered<T>> now, List<Ordered<T>> next,
               List<Ordered<T>> short_ones) {
  using U = Ordered<T>;
  const unsigned number = blockIdx.x * warps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (number >= *now.counts % one_tile) return;
  const Segment<U>& segment = now.segments[number];
  Segment<U> parts[2];
  get_parts(segment, static_cast<std::int64_t>(segment.lefts), parts);
  for (Segment<U>& part : parts) {
    if (is_sorted(part)) continue;
    const bool is_long = part.count > many;
    if (is_long) part.last = last_of_left(arrays, part);
    if (lane != 0) continue;
    const auto tiles = static_cast<unsigned long long>((part.count + tile - 1) / tile);
    const List<U>& list = is_long ? next : short_ones;
    const unsigned long long place =
        atomicAdd(list.counts, one_segment + (is_long ? tiles * one_tile : 0));
    part.first_tile = static_cast<int>(place / one_tile);
    list.segments[place % one_tile] = part;
  }
}

/// Lists the whole input as the only segment. Launch: one warp.
template <class T>
__global__ void list_input(Arrays<T> arrays, List<Ordered<T>> list, std::int64_t n) {
  Segment<Ordered<T>> all{};
  all.count = n;
  all.high = ~Ordered<T>{0};
  all.last = last_of_left(arrays, all);
  if (threadIdx.x != 0) return;
  list.segments[0] = all;
  *list.counts = one_segment + static_cast<unsigned long long>((n + tile - 1) / tile) * one_tile;
}

/// Sorts segments to their end, a block each: the short ones, and what is left after all levels by
/// pivots. *taken, 0 at first, counts those that blocks have taken. Launch: any number of blocks of
/// block_size threads.
template <class T>
__global__ void __launch_bounds__(block_size)
    finish(Arrays<T> arrays, List<Ordered<T>> short_ones, List<Ordered<T>> left, unsigned* taken) {
  using U = Ordered<T>;
  __shared__ Segment<U> stack[64];  // the larger side waits, so each entry halves what is sorted
  __shared__ int height;
  const auto shorts = static_cast<unsigned>(*short_ones.counts % one_tile);
  const auto all = shorts + static_cast<unsigned>(*left.counts % one_tile);
  while (true) {
    if (thread_index() == 0) {
      const unsigned mine = atomicAdd(taken, 1u);
      height = mine < all ? 1 : -1;
      if (mine < all)
        stack[0] = mine < shorts ? short_ones.segments[mine] : left.segments[mine - shorts];
    }
    __syncthreads();
    if (height < 0) return;
    while (height > 0) {
      Segment<U> segment = stack[height - 1];
      __syncthreads();
      if (thread_index() == 0) --height;
      if (segment.count <= tile) {
        sort_leaf(arrays, segment);
        continue;
      }
      segment.last = last_of_left(arrays, segment);
      const std::int64_t lefts =
          partition(arrays.from(segment.place), arrays.to(segment.place), segment);
      if (thread_index() == 0) {
        if (segment.level >= arrays.most_parted) atomicAdd(arrays.fallbacks, 1ull);
        Segment<U> parts[2];
        get_parts(segment, lefts, parts);
        const int larger = parts[0].count < parts[1].count ? 1 : 0;
        if (!is_sorted(parts[larger])) stack[height++] = parts[larger];
        if (!is_sorted(parts[1 - larger])) stack[height++] = parts[1 - larger];
      }
      __syncthreads();
    }
    __syncthreads();  // all have seen that the stack is empty
  }
}

/// How many levels by pivots a segment gets: twice those of halving down to `last` keys.
inline int levels_by_pivots(std::int64_t n, std::int64_t last) {
  int levels = 2;
  for (std::int64_t size = last; size < n; size *= 2) levels += 2;
  return levels;
}

/// True unless p is a multiple of `bytes`.
inline bool misaligned(const void* p, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % bytes != 0;
}

/// What lies where in the workspace.
template <class T>
struct Layout {
  int levels;
  std::int64_t most_long;   // segments of a level: each has more than `many` keys
  std::int64_t most_short;  // each level parts most_long segments at most, in two
  std::size_t taken, counts, scratch, lists, bytes;

  explicit Layout(std::int64_t n)
      : levels(levels_by_pivots(n, many)),
        most_long(n / (many + 1) + 1),
        most_short(2 * levels * most_long) {
    taken = sizeof(unsigned long long);
    counts = 2 * taken;
    scratch = counts + static_cast<std::size_t>(levels + 2) * sizeof(unsigned long long);
    lists = scratch + (static_cast<std::size_t>(n) * sizeof(T) + 7) / 8 * 8;
    bytes =
        lists + static_cast<std::size_t>(2 * most_long + most_short) * sizeof(Segment<Ordered<T>>);
  }
};

/// Sorts an input that is short enough for it. Launch: one block of block_size threads.
template <class T>
__global__ void __launch_bounds__(block_size) sort_one_leaf(const T* in, T* out, int n) {
  sort_leaf(in, out, n);
}

/// How many blocks `finish` gets: enough to fill the GPU.
inline cudaError_t blocks_to_fill_gpu(unsigned* blocks) {
  int device = 0, sms = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device))
    return error;
  *blocks = static_cast<unsigned>(sms) * (2048 / block_size);
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
  unsigned fill = 0;
  if (cudaError_t error = blocks_to_fill_gpu(&fill)) return error;
  const Arrays<T> arrays{in,   reinterpret_cast<T*>(bytes + layout.scratch),
                         out,  levels_by_pivots(n, tile),
                         seed, reinterpret_cast<unsigned long long*>(bytes)};
  auto* const counts = reinterpret_cast<unsigned long long*>(bytes + layout.counts);
  auto* const segments = reinterpret_cast<Segment<U>*>(bytes + layout.lists);
  const List<U> short_ones{segments + 2 * layout.most_long, counts + layout.levels + 1};
  const auto list = [&](int level) {
    return List<U>{segments + level % 2 * layout.most_long, counts + level};
  };
  list_input<<<1, 32, 0, stream>>>(arrays, list(0), n);
  if (cudaError_t error = cudaGetLastError()) return error;
  for (int level = 0; level < layout.levels; ++level) {
    std::int64_t most = level < 31 ? std::int64_t{1} << level : layout.most_long;
    if (most > layout.most_long) most = layout.most_long;
    const auto tiles = static_cast<unsigned>(n / tile + most);
    part_tiles<<<tiles, block_size, 0, stream>>>(arrays, list(level));
    if (cudaError_t error = cudaGetLastError()) return error;
    const auto blocks = static_cast<unsigned>((most + warps - 1) / warps);
    list_parts<<<blocks, block_size, 0, stream>>>(arrays, list(level), list(level + 1), short_ones);
    if (cudaError_t error = cudaGetLastError()) return error;
  }
  finish<<<fill, block_size, 0, stream>>>(arrays, short_ones, list(layout.levels),
                                          reinterpret_cast<unsigned*>(bytes + layout.taken));
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

}  // namespace reserve_places
