// Idea: leaves are sorted in registers. A thread has 16 keys: partners of the network are in the
//   thread, or in the warp (shuffles), and only the few steps in between go through shared memory.
// Predicts: 81 of 91 steps without shared memory; leaves of 8192 keys, so fewer buckets.
// Still wrong: scattered writes, one sector per key; every key is looked up twice.
#include <cuda_runtime.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "keys.cuh"

namespace register_leaves {

using keys::key_of;
using keys::Ordered;
using keys::ordered;

constexpr int block_size = 512;
constexpr int warps = block_size / 32;
constexpr int each = 16;                 // keys of a thread
constexpr int leaf = block_size * each;  // keys that a block sorts
constexpr int mean_leaf = 5 * leaf / 8;  // what splitting aims at: a sample is not exact
constexpr int most_buckets = 512;        // of a segment, and again as many for keys like a splitter
constexpr unsigned all_lanes = 0xffffffffu;

/// Keys that a block sends to their buckets: 16 of 4 bytes per thread, or 8 of 8.
template <class T>
constexpr int keys_per_thread = 64 / static_cast<int>(sizeof(T));
template <class T>
constexpr int tile = block_size* keys_per_thread<T>;

/// For sorts of keys alone.
struct NoValue {};

/// Keys and their values; pointers to the same places of both.
template <class T, class V>
struct Pairs {
  T* keys;
  V* values;
  __device__ Pairs operator+(std::int64_t i) const {
    if constexpr (std::is_same_v<std::remove_const_t<V>, NoValue>)
      return {keys + i, values};
    else
      return {keys + i, values + i};
  }
};

template <class T, class V>
struct Arrays {
  Pairs<const T, const V> in;
  Pairs<T, V> scratch, out;
  std::uint64_t seed;  // where samples are looked for
  unsigned long long* fallbacks;

  /// 0 the input, 1 the scratch array, 2 the output.
  __device__ Pairs<const T, const V> from(int place) const {
    if (place == 0) return in;
    const Pairs<T, V>& array = place == 1 ? scratch : out;
    return {array.keys, array.values};
  }
  __device__ Pairs<T, V> to(int place) const { return place == 1 ? out : scratch; }
};

/// Where keys are after they were parted: not where they were, and not in the input.
__device__ int next_place(int place) { return place == 1 ? 2 : 1; }

__device__ int thread_index() { return static_cast<int>(threadIdx.x); }

/// 64 bits that look random (the finaliser of SplitMix64: Steele, Lea, Flood, 2014).
__device__ std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

/// A random number below n; others for each seed, first and k.
__device__ std::int64_t random_below(std::int64_t n, std::uint64_t seed, std::int64_t first,
                                     int k) {
  const std::uint64_t number = mix(seed + static_cast<std::uint64_t>(first) * 64);
  return static_cast<std::int64_t>(mix(number + static_cast<std::uint64_t>(k)) %
                                   static_cast<std::uint64_t>(n));
}

// ---- Leaves ----

/// A key and where it was: values follow by it. Of equal keys the one that was first comes first.
template <class U>
struct Tagged {
  U key;
  unsigned origin;
  __device__ friend bool operator<(const Tagged& a, const Tagged& b) {
    return bool(int(a.key < b.key) | (int(a.key == b.key) & int(a.origin < b.origin)));
  }
};

template <class Item>
__device__ Item smaller_of(const Item& a, const Item& b) {
  if constexpr (std::is_integral_v<Item>)
    return min(a, b);
  else
    return b < a ? b : a;
}

template <class Item>
__device__ Item larger_of(const Item& a, const Item& b) {
  if constexpr (std::is_integral_v<Item>)
    return max(a, b);
  else
    return b < a ? a : b;
}

/// Puts the smaller of two items first.
template <class Item>
__device__ void order(Item& a, Item& b) {
  const Item low = smaller_of(a, b), high = larger_of(a, b);
  a = low, b = high;
}

/// Each lane gets the item of lane (its own number ^ mask), word for word. All lanes must call.
template <class Item>
__device__ Item shuffle_xor(const Item& item, int mask) {
  constexpr int words = sizeof(Item) / 4;
  unsigned from[words], to[words];
  memcpy(from, &item, sizeof item);
#pragma unroll
  for (int w = 0; w < words; ++w) to[w] = __shfl_xor_sync(all_lanes, from[w], mask);
  Item other;
  memcpy(&other, to, sizeof other);
  return other;
}

template <class Item>
__device__ Item either_of(const Item& a, const Item& b, bool smaller) {
  return smaller ? smaller_of(a, b) : larger_of(a, b);
}

/// Sorts x[0 .. each) where x[0 .. each / 2) ascends and the rest descends, or the other way round.
template <class Item>
__device__ void merge_in_thread(Item (&x)[each]) {
#pragma unroll
  for (int step = each / 2; step > 0; step /= 2) {
#pragma unroll
    for (int k = 0; k < each; ++k) {
      if ((k & step) == 0) order(x[k], x[k + step]);
    }
  }
}

/// Sorts a thread's items.
template <class Item>
__device__ void sort_in_thread(Item (&x)[each]) {
#pragma unroll
  for (int run = 2; run <= each; run *= 2) {
#pragma unroll
    for (int k = 0; k < each; ++k) {  // each with its mirror image: two ascending runs become one
      if (k < (k ^ (run - 1))) order(x[k], x[k ^ (run - 1)]);
    }
#pragma unroll
    for (int step = run / 4; step > 0; step /= 2) {
#pragma unroll
      for (int k = 0; k < each; ++k) {
        if ((k & step) == 0) order(x[k], x[k + step]);
      }
    }
  }
}

/// The steps of a merge whose partners are `lanes` / 2 lanes and less apart, then those in the
/// thread. All lanes must call.
template <class Item>
__device__ void merge_in_warp(Item (&x)[each], int lanes) {
  const int lane = thread_index() % 32;
  for (int step = lanes / 2; step > 0; step /= 2) {
#pragma unroll
    for (int k = 0; k < each; ++k)
      x[k] = either_of(x[k], shuffle_xor(x[k], step), (lane & step) == 0);
  }
  merge_in_thread(x);
}

/// Sorts a warp's items: those of a lane, of 2, 4, 8, 16 and 32 lanes. All lanes must call.
template <class Item>
__device__ void sort_in_warp(Item (&x)[each]) {
  const int lane = thread_index() % 32;
  sort_in_thread(x);
  for (int lanes = 2; lanes <= 32; lanes *= 2) {
    const bool smaller = (lane & lanes / 2) == 0;
#pragma unroll
    for (int k = 0; k < each / 2; ++k) {  // the mirror image
      const Item a = shuffle_xor(x[each - 1 - k], lanes - 1), b = shuffle_xor(x[k], lanes - 1);
      x[k] = either_of(x[k], a, smaller);
      x[each - 1 - k] = either_of(x[each - 1 - k], b, smaller);
    }
    merge_in_warp(x, lanes / 2);
  }
}

/// Where element i lies in shared memory: a gap every 32 words, so that 32 lanes that are `each`
/// elements apart find 32 banks.
__device__ int slot(int i) { return i + i / 32; }
constexpr int slots = leaf + leaf / 32;

/// Hands items around in the block: thread t's k-th item becomes element put(k), and get(k) is its
/// next k-th one; word for word. The first `threads` threads take part, all must call.
template <class Item, class Put, class Get>
__device__ void exchange(Item (&x)[each], unsigned* s, int threads, Put put, Get get) {
  constexpr int words = sizeof(Item) / 4;
  const bool takes_part = thread_index() < threads;
#pragma unroll
  for (int w = 0; w < words; ++w) {
#pragma unroll
    for (int k = 0; k < each; ++k) {
      unsigned all[words];
      memcpy(all, &x[k], sizeof x[k]);
      if (takes_part) s[slot(put(k))] = all[w];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < each; ++k) {
      unsigned all[words];
      memcpy(all, &x[k], sizeof x[k]);
      if (takes_part) all[w] = s[slot(get(k))];
      memcpy(&x[k], all, sizeof x[k]);
    }
    __syncthreads();
  }
}

/// Sorts the first `count` of each * threads items, a power of two and 32 threads or more; the
/// others are as large as can be. Thread t has items each * t + k, or any of its warp's at first.
/// All threads of the block must call.
template <class Item>
__device__ void sort_in_block(Item (&x)[each], unsigned* s, int count, int threads) {
  constexpr int of_warp = 32 * each;
  const int thread = thread_index();
  // Nothing to do where all is filled up: that stays at the end.
  const bool has_any = thread / 32 * of_warp < count && thread < threads;
  const auto blocked = [&](int k) { return each * thread + k; };
  const auto striped = [&](int k) { return thread + threads * k; };
  if (has_any) sort_in_warp(x);
  for (int run = 2 * of_warp; run <= each * threads; run *= 2) {
    // The second half of a run is turned round: then partners are half a run apart, a quarter, and
    // so on. Those that are not in a warp are in a thread when the items are dealt out.
    const auto turned = [&](int k) {
      const int i = blocked(k);
      return (i & run / 2) != 0 ? i ^ (run / 2 - 1) : i;
    };
    exchange(x, s, threads, turned, striped);
#pragma unroll
    for (int step = each / 2; step > 0; step /= 2) {
      if (step * threads > run / 2 || step * threads < of_warp) continue;
#pragma unroll
      for (int k = 0; k < each; ++k) {
        if ((k & step) == 0) order(x[k], x[k + step]);
      }
    }
    exchange(x, s, threads, striped, blocked);
    if (has_any) merge_in_warp(x, 32);
  }
}

/// Sorts at most `leaf` keys of `from` into `to`, which may be the same. All threads must call.
template <class T, class V>
__device__ void sort_leaf(Pairs<const T, const V> from, Pairs<T, V> to, int count) {
  using U = Ordered<T>;
  constexpr bool has_values = !std::is_same_v<V, NoValue>;
  using Item = std::conditional_t<has_values, Tagged<U>, U>;
  __shared__ unsigned s[slots];
  int threads = 32;
  while (each * threads < count) threads *= 2;
  const int warp = thread_index() / 32, lane = thread_index() % 32;
  const auto row = [&](int k) { return (warp * each + k) * 32 + lane; };  // coalesced
  Item x[each];
#pragma unroll
  for (int k = 0; k < each; ++k) {
    const U key = row(k) < count ? ordered(from.keys[row(k)]) : ~U{0};
    if constexpr (has_values)
      x[k] = {key, static_cast<unsigned>(row(k))};
    else
      x[k] = key;
  }
  sort_in_block(x, s, count, threads);
  const auto blocked = [&](int k) { return each * thread_index() + k; };
  exchange(x, s, threads, blocked, row);
  V values[has_values ? each : 1];
  if constexpr (has_values) {
#pragma unroll
    for (int k = 0; k < each; ++k) {
      if (row(k) < count) values[k] = from.values[x[k].origin];
    }
    __syncthreads();  // all values are read: now they may be written
  }
#pragma unroll
  for (int k = 0; k < each; ++k) {
    if (row(k) >= count) continue;
    if constexpr (has_values) {
      to.keys[row(k)] = key_of<T>(x[k].key);
      to.values[row(k)] = values[k];
    } else {
      to.keys[row(k)] = key_of<T>(x[k]);
    }
  }
  __syncthreads();
}

/// Keys [first, first + count) of array `place`, all of them from `low` to `high`; for a block
/// alone.
template <class U>
struct Part {
  std::int64_t first, count;
  U low, high;
  int place, level;  // level: how many times its keys were parted
};

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

/// Parts a part in two, by the median of 32 keys, or, from the 24th level on, by the middle of its
/// range of values. Returns what it parted by: the last key that goes left. *lefts: how many do.
/// All threads must call.
template <class T, class V>
__device__ Ordered<T> part_in_two(const Arrays<T, V>& arrays, const Part<Ordered<T>>& part,
                                  std::int64_t* lefts) {
  using U = Ordered<T>;
  __shared__ int counts[warps];
  const Pairs<const T, const V> from = arrays.from(part.place);
  const Pairs<T, V> to = arrays.to(part.place);
  const int warp = thread_index() / 32, lane = thread_index() % 32;
  const unsigned lanes_before = (1u << lane) - 1;
  U last = part.low + (part.high - part.low) / 2;
  if (part.level < 24) {
    const std::int64_t at = random_below(part.count, arrays.seed + part.level, part.first, lane);
    const U pivot = median_of_warp(ordered(from.keys[part.first + at]));
    last = pivot > part.low ? pivot - 1 : pivot;
  }
  std::int64_t left = part.first, right = part.first + part.count;  // the free places in between
  for (std::int64_t start = 0; start < part.count; start += block_size) {
    const int here = static_cast<int>(min(part.count - start, std::int64_t{block_size}));
    const bool is_there = thread_index() < here;
    const auto mine = from + (part.first + start + thread_index());
    const U x = is_there ? ordered(mine.keys[0]) : U{0};
    const bool is_left = is_there && x <= last;
    const unsigned goes_left = __ballot_sync(all_lanes, is_left);
    if (lane == 0) counts[warp] = __popc(goes_left);
    __syncthreads();
    int before = __popc(goes_left & lanes_before), all = 0;  // of the block's keys that go left
    for (int w = 0; w < warps; ++w) {
      if (w < warp) before += counts[w];
      all += counts[w];
    }
    const std::int64_t place = is_left ? left + before : right - 1 - (thread_index() - before);
    if (is_there) {
      to.keys[place] = key_of<T>(x);
      if constexpr (!std::is_same_v<V, NoValue>) to.values[place] = mine.values[0];
    }
    left += all;
    right -= here - all;
    __syncthreads();  // the counts are written again
  }
  *lefts = left - part.first;
  return last;
}

/// Sorts keys with one block however many they are: for leaves that are too long, and short inputs.
/// All threads must call.
template <class T, class V>
__device__ void sort_with_block(const Arrays<T, V>& arrays, std::int64_t first, std::int64_t count,
                                int place) {
  using U = Ordered<T>;
  __shared__ Part<U> stack[64];  // the larger side waits, so each entry halves what is sorted
  __shared__ int height;
  if (thread_index() == 0) {
    stack[0] = {first, count, 0, ~U{0}, place, 0};
    height = 1;
    if (count > leaf) atomicAdd(arrays.fallbacks, 1ull);
  }
  __syncthreads();
  while (height > 0) {
    const Part<U> part = stack[height - 1];
    __syncthreads();
    if (thread_index() == 0) --height;
    if (part.count <= leaf) {
      sort_leaf(arrays.from(part.place) + part.first, arrays.out + part.first,
                static_cast<int>(part.count));
      continue;
    }
    std::int64_t lefts = 0;
    const U last = part_in_two(arrays, part, &lefts);
    if (thread_index() == 0) {
      const int place_now = next_place(part.place), level = part.level + 1;
      const Part<U> parts[2] = {
          {part.first, lefts, part.low, last, place_now, level},
          {part.first + lefts, part.count - lefts, last + 1, part.high, place_now, level}};
      const int larger = parts[0].count < parts[1].count ? 1 : 0;
      for (const int k : {larger, 1 - larger}) {
        const bool is_sorted = parts[k].low == parts[k].high && place_now == 2;
        if (parts[k].count > 0 && !is_sorted) stack[height++] = parts[k];
      }
    }
    __syncthreads();
  }
}

// ---- Levels ----

/// A segment whose keys go to buckets.
struct Segment {
  std::int64_t first, count;
};

/// What a level works on: `segments` segments in array `place`, each with `buckets` buckets.
template <class T>
struct Level {
  Segment* segments;
  std::int64_t* first_tile;    // of each segment; behind the last one: how many tiles there are
  Ordered<T>* splitters;       // buckets - 1 for each segment, in ascending order, and one unused
  unsigned long long* places;  // 2 buckets for each segment: how many keys, then where they go
  int count, buckets, place;
};

/// Which bucket a key of a segment belongs to. In shared memory.
template <class U>
struct Splitters {
  U tree[most_buckets];    // of node i the children are 2 i and 2 i + 1; the root is 1
  U sorted[most_buckets];  // the same splitters in ascending order
  int nodes;               // a power of two: the walk ends beyond them

  /// All threads must call; then __syncthreads(). Splitters that fill the tree up are as large as
  /// can be: no key is larger.
  __device__ void load(const U* from, int buckets) {
    int size = 2;
    while (size < buckets) size *= 2;
    if (thread_index() == 0) nodes = size;
    for (int i = thread_index(); i < size; i += block_size) {
      if (i < buckets - 1) sorted[i] = from[i];
      if (i == 0) continue;
      const int level = 31 - __clz(i), below = size >> level;  // leaves below node i
      const int middle = (i - (1 << level)) * below + below / 2 - 1;
      tree[i] = middle < buckets - 1 ? from[middle] : ~U{0};
    }
  }

  /// 2 b for keys between splitters b - 1 and b, 2 b + 1 for keys like splitter b.
  __device__ int bucket_of(U key, int buckets) const {
    int node = 1;
    while (node < nodes) node = 2 * node + (tree[node] < key ? 1 : 0);
    const int b = node - nodes;
    return 2 * b + (b < buckets - 1 && sorted[b] == key ? 1 : 0);
  }
};

/// Chooses the splitters of a segment: from `leaf` keys at random places, sorted, those at equal
/// distances. Launch: a block of block_size threads for each segment.
template <class T>
__global__ void __launch_bounds__(block_size)
    choose_splitters(const T* all, Level<T> level, std::uint64_t seed) {
  using U = Ordered<T>;
  __shared__ unsigned s[slots];
  const Segment segment = level.segments[blockIdx.x];
  if (segment.count == 0) return;
  const T* const keys = all + segment.first;
  U x[each];
#pragma unroll
  for (int k = 0; k < each; ++k) {
    const int i = each * thread_index() + k;
    x[k] = ordered(keys[random_below(segment.count, seed, segment.first, i)]);
  }
  sort_in_block(x, s, leaf, block_size);
  U* const splitters = level.splitters + std::int64_t{blockIdx.x} * level.buckets;
#pragma unroll
  for (int k = 0; k < each; ++k) {  // element i * leaf / buckets becomes splitter i - 1
    const int element = each * thread_index() + k;
    const int i = (element * level.buckets + leaf - 1) / leaf;
    if (i > 0 && i * leaf / level.buckets == element) splitters[i - 1] = x[k];
  }
}

/// A tile of a segment.
template <class T>
struct Tile {
  int segment;
  std::int64_t first;  // key
  int count;

  /// The tile of this block; count 0 if there are not so many.
  __device__ explicit Tile(const Level<T>& level) : segment(0), first(0), count(0) {
    const std::int64_t number = blockIdx.x;
    if (number >= level.first_tile[level.count]) return;
    int end = level.count;  // the tile's segment is in between
    while (end - segment > 1) {
      const int middle = (segment + end) / 2;
      (level.first_tile[middle] <= number ? segment : end) = middle;
    }
    const Segment mine = level.segments[segment];
    const std::int64_t start = (number - level.first_tile[segment]) * tile<T>;
    first = mine.first + start;
    count = static_cast<int>(min(mine.count - start, std::int64_t{tile<T>}));
  }
};

/// Counts the keys of each bucket. Launch: a block of block_size threads for each tile, or more.
template <class T>
__global__ void __launch_bounds__(block_size) count_buckets(const T* all, Level<T> level) {
  using U = Ordered<T>;
  __shared__ Splitters<U> splitters;
  __shared__ int counts[2 * most_buckets];
  const Tile<T> mine(level);
  if (mine.count == 0) return;
  splitters.load(level.splitters + std::int64_t{mine.segment} * level.buckets, level.buckets);
  for (int i = thread_index(); i < 2 * level.buckets; i += block_size) counts[i] = 0;
  __syncthreads();
  const T* const keys = all + mine.first;
#pragma unroll
  for (int k = 0; k < keys_per_thread<T>; ++k) {
    const int i = k * block_size + thread_index();
    if (i < mine.count) atomicAdd(&counts[splitters.bucket_of(ordered(keys[i]), level.buckets)], 1);
  }
  __syncthreads();
  unsigned long long* const sums = level.places + std::int64_t{mine.segment} * 2 * level.buckets;
  for (int i = thread_index(); i < 2 * level.buckets; i += block_size) {
    if (counts[i] > 0) atomicAdd(&sums[i], static_cast<unsigned long long>(counts[i]));
  }
}

/// Turns each bucket's number of keys into the place of its first one, and lists the buckets as the
/// segments of the next level, or leaves. Launch: a block of block_size threads for each segment.
template <class T>
__global__ void __launch_bounds__(block_size) make_places(Level<T> level, Segment* next) {
  __shared__ std::int64_t sums[block_size];
  const std::int64_t first = std::int64_t{blockIdx.x} * level.buckets;
  unsigned long long* const places = level.places + 2 * first;
  const int b = thread_index();
  const bool is_there = b < level.buckets;
  const auto between = static_cast<std::int64_t>(is_there ? places[2 * b] : 0);
  const auto equal = static_cast<std::int64_t>(is_there ? places[2 * b + 1] : 0);
  sums[b] = between + equal;
  __syncthreads();
  for (int step = 1; step < block_size; step *= 2) {
    const std::int64_t before = b >= step ? sums[b - step] : 0;
    __syncthreads();
    sums[b] += before;
    __syncthreads();
  }
  if (!is_there) return;
  const std::int64_t place = level.segments[blockIdx.x].first + sums[b] - between - equal;
  places[2 * b] = static_cast<unsigned long long>(place);
  places[2 * b + 1] = static_cast<unsigned long long>(place + between);
  next[first + b] = {place, between};
}

/// Numbers the tiles of a level's segments, at most most_buckets. Launch: one block of block_size
/// threads.
template <class T>
__global__ void __launch_bounds__(block_size) number_tiles(Level<T> level) {
  __shared__ std::int64_t sums[block_size];
  const int i = thread_index();
  const std::int64_t count = i < level.count ? level.segments[i].count : 0;
  const std::int64_t tiles = (count + tile<T> - 1) / tile<T>;
  sums[i] = tiles;
  __syncthreads();
  for (int step = 1; step < block_size; step *= 2) {
    const std::int64_t before = i >= step ? sums[i - step] : 0;
    __syncthreads();
    sums[i] += before;
    __syncthreads();
  }
  if (i < level.count) level.first_tile[i] = sums[i] - tiles;
  if (i == level.count - 1) level.first_tile[level.count] = sums[i];
}

/// Writes each key to its bucket; those like a splitter to the output, where they belong. Launch: a
/// block of block_size threads for each tile, or more.
template <class T, class V>
__global__ void __launch_bounds__(block_size) scatter(Arrays<T, V> arrays, Level<T> level) {
  using U = Ordered<T>;
  __shared__ Splitters<U> splitters;
  __shared__ int counts[2 * most_buckets];
  __shared__ std::int64_t firsts[2 * most_buckets];
  const Tile<T> mine(level);
  if (mine.count == 0) return;
  splitters.load(level.splitters + std::int64_t{mine.segment} * level.buckets, level.buckets);
  for (int i = thread_index(); i < 2 * level.buckets; i += block_size) counts[i] = 0;
  __syncthreads();
  const Pairs<const T, const V> from = arrays.from(level.place) + mine.first;
  U x[keys_per_thread<T>];
  int bucket[keys_per_thread<T>], rank[keys_per_thread<T>];  // rank: among the tile's of its bucket
#pragma unroll
  for (int k = 0; k < keys_per_thread<T>; ++k) {
    const int i = k * block_size + thread_index();
    if (i >= mine.count) continue;
    x[k] = ordered(from.keys[i]);
    bucket[k] = splitters.bucket_of(x[k], level.buckets);
    rank[k] = atomicAdd(&counts[bucket[k]], 1);
  }
  __syncthreads();
  unsigned long long* const all = level.places + std::int64_t{mine.segment} * 2 * level.buckets;
  for (int i = thread_index(); i < 2 * level.buckets; i += block_size) {
    if (counts[i] > 0)
      firsts[i] =
          static_cast<std::int64_t>(atomicAdd(&all[i], static_cast<unsigned long long>(counts[i])));
  }
  __syncthreads();
  const Pairs<T, V> to = arrays.to(level.place);
#pragma unroll
  for (int k = 0; k < keys_per_thread<T>; ++k) {
    const int i = k * block_size + thread_index();
    if (i >= mine.count) continue;
    const std::int64_t place = firsts[bucket[k]] + rank[k];
    const Pairs<T, V>& array = bucket[k] % 2 != 0 ? arrays.out : to;
    array.keys[place] = key_of<T>(x[k]);
    if constexpr (!std::is_same_v<V, NoValue>) array.values[place] = from.values[i];
  }
}

/// Sorts the leaves, a block of block_size threads each. leaves == nullptr: the whole input, n
/// keys.
template <class T, class V>
__global__ void __launch_bounds__(block_size)
    sort_leaves(Arrays<T, V> arrays, const Segment* leaves, int place, std::int64_t n) {
  const Segment mine = leaves == nullptr ? Segment{0, n} : leaves[blockIdx.x];
  if (mine.count > 0) sort_with_block(arrays, mine.first, mine.count, place);
}

/// The whole input as the only segment. Launch: one thread.
template <class T>
__global__ void list_input(Level<T> level, std::int64_t n) {
  level.segments[0] = {0, n};
  level.first_tile[0] = 0;
  level.first_tile[1] = (n + tile<T> - 1) / tile<T>;
}

// ---- Host ----

/// True unless p is a multiple of `bytes`.
inline bool misaligned(const void* p, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % bytes != 0;
}

/// The least number whose square is not below n.
inline std::int64_t root_of(std::int64_t n) {
  std::int64_t root = 1;
  while (root * root < n) ++root;
  return root;
}

/// How many levels there are and how many buckets their segments have: for n keys so many that a
/// leaf has mean_leaf keys, but not more than most_buckets per level. (Then leaves are longer.)
struct Plan {
  int levels = 0, buckets[2] = {1, 1};

  Plan() = default;
  explicit Plan(std::int64_t n) {
    if (n <= leaf) return;
    const std::int64_t most = most_buckets, leaves = (n + mean_leaf - 1) / mean_leaf;
    levels = leaves <= most ? 1 : 2;
    const std::int64_t first = levels == 1 ? leaves : leaves > most * most ? most : root_of(leaves);
    const std::int64_t second = (leaves + first - 1) / first;
    buckets[0] = static_cast<int>(first);
    buckets[1] = static_cast<int>(second < most ? second : most);
  }
};

/// What lies where in the workspace: all of it 8-byte words, first those that must be 0 at first.
template <class T, class V>
struct Layout {
  std::size_t places[2], zeros, first_tiles, splitters, segments, scratch, values, bytes;

  Layout(std::int64_t n, const Plan& plan) {
    const std::size_t word = 8, first = static_cast<std::size_t>(plan.buckets[0]),
                      leaves = first * static_cast<std::size_t>(plan.buckets[1]);
    const auto words = [&](std::size_t count) { return (count + word - 1) / word * word; };
    places[0] = word;  // behind the number of fallbacks
    places[1] = places[0] + 2 * first * word;
    zeros = places[1] + 2 * leaves * word;
    first_tiles = zeros;
    splitters = first_tiles + (first + 1) * word;
    segments = splitters + leaves * word;
    scratch = segments + (1 + first + leaves) * sizeof(Segment);
    values = scratch + words(static_cast<std::size_t>(n) * sizeof(T));
    bytes = values;
    if (!std::is_same_v<V, NoValue>) bytes += words(static_cast<std::size_t>(n) * sizeof(V));
  }
};

/// out = the keys of in, in ascending order (keys.cuh), and their values with them. Device
/// pointers; inputs and outputs must not overlap. Not stable: values of equal keys come in any
/// order. The first 8 bytes of the workspace become the number of leaves that were too long for
/// shared memory. With workspace == nullptr: only writes the bytes of scratch memory that it needs.
/// `seed`: samples are taken at places that follow from it. \returns cudaErrorInvalidValue for too
/// little scratch memory or a misaligned pointer, for n < 0 or n >= 2^40, or the error of a launch.
template <class T, class V>
cudaError_t sort_any(void* workspace, std::size_t& workspace_bytes, Pairs<const T, const V> in,
                     Pairs<T, V> out, std::int64_t n, const Plan& plan, std::uint64_t seed,
                     cudaStream_t stream) {
  if (n < 0 || n >= std::int64_t{1} << 40) return cudaErrorInvalidValue;
  const Layout<T, V> layout(n, plan);
  if (workspace == nullptr) {
    workspace_bytes = layout.bytes;
    return cudaSuccess;
  }
  if (workspace_bytes < layout.bytes) return cudaErrorInvalidValue;
  if (misaligned(workspace, 8)) return cudaErrorInvalidValue;
  if (misaligned(in.keys, sizeof(T)) || misaligned(out.keys, sizeof(T)))
    return cudaErrorInvalidValue;
  if (misaligned(in.values, alignof(V)) || misaligned(out.values, alignof(V)))
    return cudaErrorInvalidValue;
  char* const bytes = static_cast<char*>(workspace);
  if (cudaError_t error = cudaMemsetAsync(bytes, 0, layout.zeros, stream)) return error;
  if (n == 0) return cudaSuccess;
  const Arrays<T, V> arrays{
      in,
      {reinterpret_cast<T*>(bytes + layout.scratch), reinterpret_cast<V*>(bytes + layout.values)},
      out,
      seed,
      reinterpret_cast<unsigned long long*>(bytes)};
  auto* segments = reinterpret_cast<Segment*>(bytes + layout.segments);
  auto* splitters = reinterpret_cast<Ordered<T>*>(bytes + layout.splitters);
  int count = 1;
  for (int k = 0; k < plan.levels; ++k) {
    const Level<T> level{segments,  reinterpret_cast<std::int64_t*>(bytes + layout.first_tiles),
                         splitters, reinterpret_cast<unsigned long long*>(bytes + layout.places[k]),
                         count,     plan.buckets[k],
                         k};
    const auto blocks = static_cast<unsigned>(count);
    const auto tiles = static_cast<unsigned>(n / tile<T> + count);
    const T* const keys = k == 0 ? in.keys : arrays.scratch.keys;
    if (k == 0)
      list_input<<<1, 1, 0, stream>>>(level, n);
    else
      number_tiles<<<1, block_size, 0, stream>>>(level);
    choose_splitters<<<blocks, block_size, 0, stream>>>(keys, level, seed);
    count_buckets<<<tiles, block_size, 0, stream>>>(keys, level);
    make_places<<<blocks, block_size, 0, stream>>>(level, segments + count);
    scatter<<<tiles, block_size, 0, stream>>>(arrays, level);
    if (cudaError_t error = cudaGetLastError()) return error;
    segments += count;
    count *= plan.buckets[k];
  }
  if (plan.levels == 0) segments = nullptr;
  sort_leaves<<<static_cast<unsigned>(count), block_size, 0, stream>>>(arrays, segments,
                                                                       plan.levels, n);
  return cudaGetLastError();
}

/// A seed that nobody knows who made the input.
inline std::uint64_t any_seed() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

template <class T>
cudaError_t sort_keys(void* workspace, std::size_t& workspace_bytes, const T* in, T* out,
                      std::int64_t n, const Plan& plan, std::uint64_t seed, cudaStream_t stream) {
  return sort_any<T, NoValue>(workspace, workspace_bytes, {in, nullptr}, {out, nullptr}, n, plan,
                              seed, stream);
}

/// A plan that somebody else has made.
Plan plan_as_told(int levels, int first_buckets, int second_buckets) {
  Plan plan;
  plan.levels = levels;
  plan.buckets[0] = first_buckets;
  plan.buckets[1] = second_buckets;
  return plan;
}

cudaError_t sort_as_told(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                         unsigned* out, std::int64_t n, int levels, int first_buckets,
                         int second_buckets, std::uint64_t seed, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n,
                   plan_as_told(levels, first_buckets, second_buckets), seed, stream);
}

cudaError_t sort_pairs_as_told(void* workspace, std::size_t& workspace_bytes,
                               const unsigned* keys_in, const unsigned* values_in,
                               unsigned* keys_out, unsigned* values_out, std::int64_t n, int levels,
                               int first_buckets, int second_buckets, std::uint64_t seed,
                               cudaStream_t stream) {
  return sort_any<unsigned, unsigned>(
      workspace, workspace_bytes, {keys_in, values_in}, {keys_out, values_out}, n,
      plan_as_told(levels, first_buckets, second_buckets), seed, stream);
}

cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const unsigned* in, unsigned* out,
                 std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, Plan(n), any_seed(), stream);
}

cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const int* in, int* out,
                 std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, Plan(n), any_seed(), stream);
}

cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                 std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, Plan(n), any_seed(), stream);
}

cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const std::int64_t* in,
                 std::int64_t* out, std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, Plan(n), any_seed(), stream);
}

cudaError_t sort_pairs(void* workspace, std::size_t& workspace_bytes, const unsigned* keys_in,
                       const unsigned* values_in, unsigned* keys_out, unsigned* values_out,
                       std::int64_t n, cudaStream_t stream) {
  return sort_any<unsigned, unsigned>(workspace, workspace_bytes, {keys_in, values_in},
                                      {keys_out, values_out}, n, Plan(n), any_seed(), stream);
}

cudaError_t sort_pairs(void* workspace, std::size_t& workspace_bytes, const std::int64_t* keys_in,
                       const unsigned* values_in, std::int64_t* keys_out, unsigned* values_out,
                       std::int64_t n, cudaStream_t stream) {
  return sort_any<std::int64_t, unsigned>(workspace, workspace_bytes, {keys_in, values_in},
                                          {keys_out, values_out}, n, Plan(n), any_seed(), stream);
}

}  // namespace register_leaves
