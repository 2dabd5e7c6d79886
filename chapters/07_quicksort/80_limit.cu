// Idea: look every key up once, and remember its bucket (2 bytes) and each tile's counts. Leaves
//   are small; in them shared memory deals keys out so that nearly all partners meet in a thread,
//   and what must descend is sorted upside down.
// Predicts: a third of 09's instructions per key in a leaf, and half of its walks down the tree.
// Still wrong: leaves are five eighths full, and deep levels of the tree share banks.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "keys.cuh"

namespace limit {

using keys::key_of;
using keys::Ordered;
using keys::ordered;

constexpr int block_size = 512;  // leaves: 128, 256 or 512
constexpr int warps = block_size / 32;
constexpr int each = 16;                   // keys of a thread
constexpr int of_warp = 32 * each;         // keys of a warp
constexpr int sample = block_size * each;  // keys that splitters are chosen from
constexpr int most_buckets = 512;  // of a segment, and again as many for keys like a splitter
constexpr int sure_buckets = 410;  // of a segment of mean length: others get more, or fewer
constexpr unsigned all_lanes = 0xffffffffu;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int looking_up = 2;  // blocks of an SM: it has 1024 threads
#else
constexpr int looking_up = 3;
#endif

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
__device__ int threads_of_block() { return static_cast<int>(blockDim.x); }

/// Keys that a block sorts, and how many of them splitting aims at: a sample is not exact.
__host__ __device__ constexpr int leaf(int threads) { return threads * each; }
__host__ __device__ constexpr int mean_leaf(int threads) { return 5 * leaf(threads) / 8; }

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
  // The upper half of a product instead of a remainder: a division of 64 bits takes far longer.
  return static_cast<std::int64_t>(
      __umul64hi(mix(number + static_cast<std::uint64_t>(k)), static_cast<unsigned long long>(n)));
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

/// How many words of 32 bits an item has, and the w-th of them.
template <class Item>
constexpr int words_of = sizeof(Item) / 4;
template <class U>
constexpr int words_of<Tagged<U>> = words_of<U> + 1;
template <class U>
__device__ unsigned word_of(const U& item, int w) {
  return static_cast<unsigned>(w == 0 ? item : item >> 31 >> 1);
}
template <class U>
__device__ unsigned word_of(const Tagged<U>& item, int w) {
  return w < words_of<U> ? word_of(item.key, w) : item.origin;
}
template <class U>
__device__ void set_word(U& item, int w, unsigned word) {
  const U rest = words_of<U> == 1 ? U{0} : w == 0 ? item >> 31 >> 1 << 31 << 1 : item & ~0u;
  item = rest | (w == 0 ? U{word} : U{word} << 31 << 1);
}
template <class U>
__device__ void set_word(Tagged<U>& item, int w, unsigned word) {
  w < words_of<U> ? set_word(item.key, w, word) : static_cast<void>(item.origin = word);
}

/// The item if `upside_down` is 0; if it is -1, one that comes before another one's if the item
/// comes behind the other.
template <class U>
__device__ U turned(U key, int upside_down) {
  return key ^ static_cast<U>(static_cast<std::int64_t>(upside_down));
}
template <class U>
__device__ Tagged<U> turned(const Tagged<U>& item, int upside_down) {
  return {turned(item.key, upside_down), turned(item.origin, upside_down)};
}

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
  Item other = item;
#pragma unroll
  for (int w = 0; w < words_of<Item>; ++w)
    set_word(other, w, __shfl_xor_sync(all_lanes, word_of(item, w), mask));
  return other;
}

/// The rows of a merge whose partners are `step` to `last` places of x apart, powers of two.
template <int step, int last, class Item>
__device__ void rows_in_thread(Item (&x)[each]) {
#pragma unroll
  for (int k = 0; k < each; ++k) {
    if ((k & step) == 0) order(x[k], x[k | step]);
  }
  if constexpr (step > last) rows_in_thread<step / 2, last>(x);
}

/// The row whose partners are `lanes` lanes apart. All lanes must call.
template <class Item>
__device__ void row_of_lanes(Item (&x)[each], int lanes) {
  const bool smaller = (thread_index() & lanes) == 0;
#pragma unroll
  for (int k = 0; k < each; ++k) {
    const Item other = shuffle_xor(x[k], lanes);
    x[k] = (x[k] < other) == smaller ? x[k] : other;
  }
}

/// Sorts a thread's items (Batcher's odd-even merge sort: 63 pairs).
template <class Item>
__device__ void sort_in_thread(Item (&x)[each]) {
#pragma unroll
  for (int run = 1; run < each; run *= 2) {
#pragma unroll
    for (int step = run; step > 0; step /= 2) {
#pragma unroll
      for (int k = 0; k < each; ++k) {
        const int low = k - step % run;  // what pairs of this row are counted from
        const bool is_lower = low >= 0 && low / step % 2 == 0 && k + step < each;
        if (is_lower && k / (2 * run) == (k + step) / (2 * run)) order(x[k], x[k + step]);
      }
    }
  }
}

/// Where element i lies in shared memory: a gap of 4 words every 32, so that neither 32 lanes that
/// are side by side nor 8 lanes that are `each` elements apart and take 4 at once meet in a bank.
/// slot(i) + slot(k) = slot(i + k) if i and k have no bit in common, and k slot(i) = slot(k i) if i
/// is a multiple of 32.
__host__ __device__ constexpr int slot(int i) { return i + (i >> 5) * 4; }
constexpr int slots(int threads) { return slot(leaf(threads)); }

/// How items are dealt out to threads: in `rows` a thread has `each` that lie side by side; in
/// `warps` every 32nd of its warp's; in `runs` every (run / each)th of a run, a power of two.
enum class Deal { rows, warps, runs };

/// How far apart a thread's elements are, a power of two, and its first element.
template <Deal deal>
__device__ int distance(int run = 0) {
  return deal == Deal::rows ? 1 : deal == Deal::warps ? 32 : run / each;
}
template <Deal deal>
__device__ int first_element(int run = 0) {
  const int t = thread_index(), lower_bits = distance<deal>(run) - 1;
  return each * (t & ~lower_bits) + (t & lower_bits);
}

/// Deals items out anew, word for word. A thread writes the places that it read last: so no barrier
/// is needed before. All must call: lanes of the warp, or threads of the block if runs come in.
template <Deal from, Deal to, class Item>
__device__ void deal_out(Item (&x)[each], unsigned* s, int run = 0) {
  constexpr int words = words_of<Item>;
  constexpr bool in_warp = from != Deal::runs && to != Deal::runs;
  const auto synchronize = [] {
    if constexpr (in_warp)
      __syncwarp();
    else
      __syncthreads();
  };
  unsigned* const put = s + slot(first_element<from>(run));
  const unsigned* const get = s + slot(first_element<to>(run));
  const int put_step = slot(distance<from>(run)), get_step = slot(distance<to>(run));
#pragma unroll
  for (int w = 0; w < words; ++w) {
    if (w > 0) synchronize();  // the words before are read
#pragma unroll
    for (int k = 0; k < each; ++k) {
      if constexpr (from == Deal::rows) {
        if (k % 4 == 0)
          reinterpret_cast<uint4*>(put)[k / 4] = {word_of(x[k], w), word_of(x[k + 1], w),
                                                  word_of(x[k + 2], w), word_of(x[k + 3], w)};
      } else {
        put[k * put_step] = word_of(x[k], w);
      }
    }
    synchronize();
#pragma unroll
    for (int k = 0; k < each; ++k) {
      if constexpr (to == Deal::rows) {
        if (k % 4 != 0) continue;
        const uint4 four = reinterpret_cast<const uint4*>(get)[k / 4];
        set_word(x[k], w, four.x), set_word(x[k + 1], w, four.y);
        set_word(x[k + 2], w, four.z), set_word(x[k + 3], w, four.w);
      } else {
        set_word(x[k], w, get[k * get_step]);
      }
    }
  }
}

/// Turns items round where the run that they are merged into next descends, and back where the one
/// before did. run: elements of the next one.
template <class Item>
__device__ void turn(Item (&x)[each], int run) {
  const int element = first_element<Deal::rows>();
  const int upside_down = ((element & run) != 0) != ((element & run / 2) != 0) ? -1 : 0;
#pragma unroll
  for (int k = 0; k < each; ++k) x[k] = turned(x[k], upside_down);
}

/// Merges two runs of a warp's items into one of `run`; one of the two descends. All lanes must
/// call.
template <int run, class Item>
__device__ void merge_in_warp(Item (&x)[each], unsigned* s) {
  if constexpr (run > 64) {
    deal_out<Deal::rows, Deal::warps>(x, s);
    rows_in_thread<run / 64, 1>(x);
    deal_out<Deal::warps, Deal::rows>(x, s);
  } else if constexpr (run == 64) {
    row_of_lanes(x, 2);
  }
  row_of_lanes(x, 1);
  rows_in_thread<each / 2, 1>(x);
}

/// Sorts a warp's items: runs of 16 elements, 32, and so on, every second one upside down. All
/// lanes must call.
template <int run, class Item>
__device__ void sort_in_warp(Item (&x)[each], unsigned* s) {
  if constexpr (run > 2 * each) sort_in_warp<run / 2>(x, s);
  turn(x, run);
  merge_in_warp<run>(x, s);
}

/// Sorts items of which the first `count` are keys of the leaf and the others as large as can be.
/// At first a thread has any of its warp's, then those of Deal::warps. All threads of the block
/// must call.
template <class Item>
__device__ void sort_in_block(Item (&x)[each], unsigned* s, int count) {
  const int first_of_warp = thread_index() / 32 * of_warp;
#pragma unroll
  for (int k = 0; k < each; ++k) x[k] = turned(x[k], (thread_index() & 1) != 0 ? -1 : 0);
  if (first_of_warp < count) {
    sort_in_thread(x);
    sort_in_warp<of_warp>(x, s);
  } else {  // all are as large as can be
#pragma unroll
    for (int run = 2 * each; run <= of_warp; run *= 2) turn(x, run);
  }
  for (int run = 2 * of_warp; run / 2 < count; run *= 2) {
    turn(x, run);
    const bool has_any = (first_of_warp & ~(run - 1)) < count;  // in its run
    deal_out<Deal::rows, Deal::runs>(x, s, run);
    if (has_any) rows_in_thread<each / 2, 1>(x);
    deal_out<Deal::runs, Deal::warps>(x, s, run);
    // Some of these rows are in order already, by those above: nothing changes.
    if (has_any) rows_in_thread<each / 2, 1>(x);
    deal_out<Deal::warps, Deal::rows>(x, s);
    if (!has_any) continue;
    row_of_lanes(x, 1);
    rows_in_thread<each / 2, 1>(x);
  }
  deal_out<Deal::rows, Deal::warps>(x, s);
}

/// Sorts at most leaf(threads_of_block()) keys of `from` into `to`, which may be the same. s: their
/// slots in shared memory. All threads must call.
template <class T, class V>
__device__ void sort_leaf(Pairs<const T, const V> from, Pairs<T, V> to, int count, unsigned* s) {
  using U = Ordered<T>;
  constexpr bool has_values = !std::is_same_v<V, NoValue>;
  using Item = std::conditional_t<has_values, Tagged<U>, U>;
  const auto row = [&](int k) { return first_element<Deal::warps>() + 32 * k; };  // coalesced
  Item x[each];
#pragma unroll
  for (int k = 0; k < each; ++k) {
    const U key = row(k) < count ? ordered(from.keys[row(k)]) : ~U{0};
    if constexpr (has_values)
      x[k] = {key, row(k) < count ? static_cast<unsigned>(row(k)) : ~0u};
    else
      x[k] = key;
  }
  sort_in_block(x, s, count);
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
  for (std::int64_t start = 0; start < part.count; start += threads_of_block()) {
    const int here = static_cast<int>(min(part.count - start, std::int64_t{threads_of_block()}));
    const bool is_there = thread_index() < here;
    const auto mine = from + (part.first + start + thread_index());
    const U x = is_there ? ordered(mine.keys[0]) : U{0};
    const bool is_left = is_there && x <= last;
    const unsigned goes_left = __ballot_sync(all_lanes, is_left);
    if (lane == 0) counts[warp] = __popc(goes_left);
    __syncthreads();
    int before = __popc(goes_left & lanes_before), all = 0;  // of the block's keys that go left
    for (int w = 0; w < threads_of_block() / 32; ++w) {
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
/// s: slots in shared memory. All threads must call.
template <class T, class V>
__device__ void sort_with_block(const Arrays<T, V>& arrays, std::int64_t first, std::int64_t count,
                                int place, unsigned* s) {
  using U = Ordered<T>;
  __shared__ Part<U> stack[64];  // the larger side waits, so each entry halves what is sorted
  __shared__ int height;
  if (thread_index() == 0) {
    stack[0] = {first, count, 0, ~U{0}, place, 0};
    height = 1;
    if (count > leaf(threads_of_block())) atomicAdd(arrays.fallbacks, 1ull);
  }
  __syncthreads();
  while (height > 0) {
    const Part<U> part = stack[height - 1];
    __syncthreads();
    if (thread_index() == 0) --height;
    if (part.count <= leaf(threads_of_block())) {
      sort_leaf(arrays.from(part.place) + part.first, arrays.out + part.first,
                static_cast<int>(part.count), s);
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

/// What a level works on: `count` segments in array `place`, each with at most `buckets` buckets.
template <class T>
struct Level {
  Segment* segments;
  std::int64_t* first_tile;    // of each segment; behind the last one: how many tiles there are
  Ordered<T>* splitters;       // buckets - 1 for each segment, in ascending order, and one unused
  unsigned long long* places;  // 2 buckets for each segment: how many keys, then where they go
  unsigned short* ids;         // of each key: its bucket
  unsigned short* counts;      // for each tile, of buckets between splitters, then of the others
  int count, buckets, place, keys_per_bucket;

  /// How many buckets a segment really has.
  __device__ int buckets_of(const Segment& segment) const {
    const std::int64_t wanted = (segment.count + keys_per_bucket - 1) / keys_per_bucket;
    return static_cast<int>(max(std::int64_t{1}, min(wanted, std::int64_t{buckets})));
  }
};

/// Which bucket a key of a segment belongs to. In shared memory.
template <class U>
struct Splitters {
  U tree[most_buckets];  // of node i the children are 2 i and 2 i + 1; the root is 1
  int nodes;             // a power of two: the walk ends beyond them

  /// All threads must call; then __syncthreads(). Splitters that fill the tree up are as large as
  /// can be: no key is larger.
  __device__ void load(const U* from, int buckets) {
    int size = 2;
    while (size < buckets) size *= 2;
    if (thread_index() == 0) nodes = size;
    for (int i = thread_index(); i < size; i += block_size) {
      if (i == 0) continue;
      const int level = 31 - __clz(i), below = size >> level;  // leaves below node i
      const int middle = (i - (1 << level)) * below + below / 2 - 1;
      tree[i] = middle < buckets - 1 ? from[middle] : ~U{0};
    }
  }

  /// For each key: b if it is between splitters b - 1 and b, most_buckets + b if it is like
  /// splitter b: the last one that a walk went left at. A step of all walks, then the next one: so
  /// many loads are under way.
  template <int count>
  __device__ void find_buckets(const U (&keys)[count], int (&found)[count], int buckets) const {
    constexpr int size = sizeof(U);  // nodes are counted in bytes: an address without a shift
    const char* const root = reinterpret_cast<const char*>(tree);
    U above[count];
#pragma unroll
    for (int k = 0; k < count; ++k) found[k] = size;
    for (int level = 1; level < nodes; level *= 2) {
#pragma unroll
      for (int k = 0; k < count; ++k) {
        const U splitter = *reinterpret_cast<const U*>(root + found[k]);
        const bool is_above = splitter >= keys[k];
        found[k] = 2 * found[k] + (is_above ? 0 : size);
        if (is_above) above[k] = splitter;
      }
    }
#pragma unroll
    for (int k = 0; k < count; ++k) {  // who never went left is in the last bucket: nothing above
      found[k] = found[k] / size - nodes;
      if (found[k] < buckets - 1 && above[k] == keys[k]) found[k] += most_buckets;
    }
  }
};

/// Chooses the splitters of a segment: from `sample` keys at random places, sorted, those at equal
/// distances. Launch: a block of block_size threads, and their slots in shared memory, for each
/// segment.
template <class T>
__global__ void __launch_bounds__(block_size)
    choose_splitters(const T* all, Level<T> level, std::uint64_t seed) {
  using U = Ordered<T>;
  extern __shared__ __align__(16) unsigned slots_of_block[];
  const Segment segment = level.segments[blockIdx.x];
  const int buckets = level.buckets_of(segment);
  if (buckets == 1) return;
  const T* const keys = all + segment.first;
  U x[each];
#pragma unroll
  for (int k = 0; k < each; ++k) {
    const int i = each * thread_index() + k;
    x[k] = ordered(keys[random_below(segment.count, seed, segment.first, i)]);
  }
  sort_in_block(x, slots_of_block, sample);
  U* const splitters = level.splitters + std::int64_t{blockIdx.x} * level.buckets;
#pragma unroll
  for (int k = 0; k < each; ++k) {  // element i * sample / buckets becomes splitter i - 1
    const int element = first_element<Deal::warps>() + 32 * k;
    const int i = (element * buckets + sample - 1) / sample;
    if (i > 0 && i * sample / buckets == element) splitters[i - 1] = x[k];
  }
}

/// A tile of a segment.
template <class T>
struct Tile {
  int segment;
  std::int64_t first;  // key
  int count;

  /// The tile of this block; count 0 if there are not so many. Each thread asks whether the tile is
  /// its segment's: one round of loads instead of nine that wait for each other. All must call.
  __device__ explicit Tile(const Level<T>& level) : segment(0), first(0), count(0) {
    __shared__ int found;
    const std::int64_t number = blockIdx.x;
    if (number >= level.first_tile[level.count]) return;
    const int i = thread_index();
    if (i < level.count && level.first_tile[i] <= number && number < level.first_tile[i + 1])
      found = i;
    __syncthreads();
    segment = found;
    const Segment mine = level.segments[segment];
    const std::int64_t start = (number - level.first_tile[segment]) * tile<T>;
    first = mine.first + start;
    count = static_cast<int>(min(mine.count - start, std::int64_t{tile<T>}));
  }
};

/// Sums up a value per thread of a block of block_size. Returns the sum of those before this
/// thread's. of_warps: shared memory. All threads must call.
template <class Sum>
__device__ Sum sum_before(Sum value, Sum* of_warps) {
  const int warp = thread_index() / 32, lane = thread_index() % 32;
  Sum sum = value;
  for (int step = 1; step < 32; step *= 2) {
    const Sum before = __shfl_up_sync(all_lanes, sum, step);
    if (lane >= step) sum += before;
  }
  if (lane == 31) of_warps[warp] = sum;
  __syncthreads();
  Sum before_warp = 0;
  for (int w = 0; w < warp; ++w) before_warp += of_warps[w];
  return before_warp + sum - value;
}

/// Looks up the buckets of a tile's keys, remembers and counts them. `whole`: the tile has all of
/// its keys. All threads must call.
template <bool whole, class T>
__device__ void look_up_tile(const Splitters<Ordered<T>>& splitters, int buckets, const T* keys,
                             int count, unsigned short* ids, int* counts) {
  constexpr int at_once = keys_per_thread<T> / 2;  // all: too many registers for three blocks
#pragma unroll
  for (int first = 0; first < tile<T>; first += at_once * block_size) {
    const auto element = [=](int k) { return first + k * block_size + thread_index(); };
    Ordered<T> x[at_once];
    int bucket[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k)
      x[k] = whole || element(k) < count ? ordered(keys[element(k)]) : Ordered<T>{0};
    splitters.find_buckets(x, bucket, buckets);
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      if (!whole && element(k) >= count) continue;
      ids[element(k)] = static_cast<unsigned short>(bucket[k]);
      atomicAdd(&counts[bucket[k]], 1);
    }
  }
}

/// Looks up each key's bucket, remembers it, and counts the keys of each bucket. Launch: a block of
/// block_size threads for each tile, or more.
template <class T>
__global__ void __launch_bounds__(block_size, looking_up) look_up(const T* all, Level<T> level) {
  __shared__ Splitters<Ordered<T>> splitters;
  __shared__ int counts[2 * most_buckets];
  const Tile<T> mine(level);
  if (mine.count == 0) return;
  const int buckets = level.buckets_of(level.segments[mine.segment]);
  splitters.load(level.splitters + std::int64_t{mine.segment} * level.buckets, buckets);
  for (int i = thread_index(); i < 2 * most_buckets; i += block_size) counts[i] = 0;
  __syncthreads();
  const T* const keys = all + mine.first;
  unsigned short* const ids = level.ids + mine.first;
  if (mine.count == tile<T>)
    look_up_tile<true>(splitters, buckets, keys, mine.count, ids, counts);
  else
    look_up_tile<false>(splitters, buckets, keys, mine.count, ids, counts);
  __syncthreads();
  const int b = thread_index();
  if (b >= level.buckets) return;
  unsigned long long* const sums = level.places + std::int64_t{mine.segment} * 2 * level.buckets;
  unsigned short* const of_tile = level.counts + std::int64_t{blockIdx.x} * 2 * level.buckets;
  const int between = counts[b], equal = counts[most_buckets + b];
  of_tile[b] = static_cast<unsigned short>(between);
  of_tile[level.buckets + b] = static_cast<unsigned short>(equal);
  if (between > 0) atomicAdd(&sums[2 * b], static_cast<unsigned long long>(between));
  if (equal > 0) atomicAdd(&sums[2 * b + 1], static_cast<unsigned long long>(equal));
}

/// Turns each bucket's number of keys into the place of its first one, and lists the buckets as the
/// segments of the next level, or leaves. Launch: a block of block_size threads for each segment.
template <class T>
__global__ void __launch_bounds__(block_size) make_places(Level<T> level, Segment* next) {
  __shared__ std::int64_t of_warps[warps];
  const std::int64_t first = std::int64_t{blockIdx.x} * level.buckets;
  unsigned long long* const places = level.places + 2 * first;
  const int b = thread_index();
  const bool is_there = b < level.buckets;
  const auto between = static_cast<std::int64_t>(is_there ? places[2 * b] : 0);
  const auto equal = static_cast<std::int64_t>(is_there ? places[2 * b + 1] : 0);
  const std::int64_t place =
      level.segments[blockIdx.x].first + sum_before(between + equal, of_warps);
  if (!is_there) return;
  places[2 * b] = static_cast<unsigned long long>(place);
  places[2 * b + 1] = static_cast<unsigned long long>(place + between);
  next[first + b] = {place, between};
}

/// Numbers the tiles of a level's segments, at most most_buckets. Launch: one block of block_size
/// threads.
template <class T>
__global__ void __launch_bounds__(block_size) number_tiles(Level<T> level) {
  __shared__ std::int64_t of_warps[warps];
  const int i = thread_index();
  const std::int64_t count = i < level.count ? level.segments[i].count : 0;
  const std::int64_t tiles = (count + tile<T> - 1) / tile<T>;
  const std::int64_t before = sum_before(tiles, of_warps);
  if (i < level.count) level.first_tile[i] = before;
  if (i == level.count - 1) level.first_tile[level.count] = before + tiles;
}

/// What a block of `scatter` has in shared memory.
template <class T>
struct Stage {
  std::int64_t to[2 * most_buckets];  // of a bucket: where its keys go, less where they are here
  int next[2 * most_buckets];         // of a bucket: the place of its next key here
  int of_warps[warps];
  Ordered<T> keys[tile<T>];  // in the order of their buckets; then the values
  unsigned short bucket[tile<T>];
};

/// Puts a tile's keys in order in shared memory, then writes them, each bucket's to its place; the
/// values likewise. All threads must call; they have written s.next and s.to.
template <bool whole, class T, class V>
__device__ void move_tile(Stage<T>& s, Pairs<const T, const V> from, const unsigned short* ids,
                          int count, Pairs<T, V> between, Pairs<T, V> equal) {
  constexpr int per_thread = keys_per_thread<T>;
  Ordered<T> x[per_thread];
  int bucket[per_thread], place[per_thread];
  const auto element = [](int k) { return k * block_size + thread_index(); };
  const auto is_there = [&](int k) { return whole || element(k) < count; };
#pragma unroll
  for (int k = 0; k < per_thread; ++k) {
    x[k] = is_there(k) ? ordered(from.keys[element(k)]) : Ordered<T>{0};
    bucket[k] = is_there(k) ? ids[element(k)] : 0;
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < per_thread; ++k)
    if (is_there(k)) place[k] = atomicAdd(&s.next[bucket[k]], 1);
#pragma unroll
  for (int k = 0; k < per_thread; ++k) {
    if (!is_there(k)) continue;
    s.keys[place[k]] = x[k];
    s.bucket[place[k]] = static_cast<unsigned short>(bucket[k]);
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < per_thread; ++k) {
    if (!is_there(k)) continue;
    const int b = s.bucket[element(k)];
    (b >= most_buckets ? equal : between).keys[s.to[b] + element(k)] =
        key_of<T>(s.keys[element(k)]);
  }
  if constexpr (!std::is_same_v<V, NoValue>) {
    static_assert(sizeof(V) <= sizeof(T), "values take the keys' place");
    V* const values = reinterpret_cast<V*>(s.keys);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < per_thread; ++k)
      if (is_there(k)) values[place[k]] = from.values[element(k)];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < per_thread; ++k) {
      if (!is_there(k)) continue;
      const int b = s.bucket[element(k)];
      (b >= most_buckets ? equal : between).values[s.to[b] + element(k)] = values[element(k)];
    }
  }
}

/// Writes each key to its bucket; those like a splitter to the output, where they belong. Launch: a
/// block of block_size threads and a Stage of dynamic shared memory for each tile, or more.
template <class T, class V>
__global__ void __launch_bounds__(block_size, 2) scatter(Arrays<T, V> arrays, Level<T> level) {
  extern __shared__ __align__(16) unsigned char memory[];
  Stage<T>& s = *reinterpret_cast<Stage<T>*>(memory);
  const Tile<T> mine(level);
  if (mine.count == 0) return;
  // Where each bucket begins in the tile: a scan, two buckets per thread.
  const int b = thread_index(), like_b = most_buckets + b;
  const unsigned short* const counts = level.counts + std::int64_t{blockIdx.x} * 2 * level.buckets;
  const bool is_there = b < level.buckets;
  const int between = is_there ? counts[b] : 0, equal = is_there ? counts[level.buckets + b] : 0;
  const int start = sum_before(between + equal, s.of_warps);
  s.next[b] = start;
  s.next[like_b] = start + between;
  unsigned long long* const places =
      level.places + (std::int64_t{mine.segment} * level.buckets + b) * 2;
  const auto reserve = [](unsigned long long* place, int count) {
    return static_cast<std::int64_t>(atomicAdd(place, static_cast<unsigned long long>(count)));
  };
  if (between > 0) s.to[b] = reserve(&places[0], between) - start;
  if (equal > 0) s.to[like_b] = reserve(&places[1], equal) - (start + between);
  const Pairs<const T, const V> from = arrays.from(level.place) + mine.first;
  const unsigned short* const ids = level.ids + mine.first;
  const Pairs<T, V> to = arrays.to(level.place);
  if (mine.count == tile<T>)
    move_tile<true>(s, from, ids, mine.count, to, arrays.out);
  else
    move_tile<false>(s, from, ids, mine.count, to, arrays.out);
}

/// Sorts the leaves, a block each of 128, 256 or 512 threads with their slots in shared memory.
/// leaves == nullptr: the whole input, n keys.
template <class T, class V>
__global__ void __launch_bounds__(block_size)
    sort_leaves(Arrays<T, V> arrays, const Segment* leaves, int place, std::int64_t n) {
  extern __shared__ __align__(16) unsigned slots_of_block[];
  const Segment mine = leaves == nullptr ? Segment{0, n} : leaves[blockIdx.x];
  if (mine.count > 0) sort_with_block(arrays, mine.first, mine.count, place, slots_of_block);
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

/// How many threads sort a leaf, how many levels there are, and how many buckets a segment may
/// have. Leaves are as short as one level of buckets allows, or else two. (Of more than 1.07e9 keys
/// leaves are longer.)
struct Plan {
  int threads = block_size, levels = 0, buckets[2] = {1, 1}, keys_per_bucket[2] = {1, 1};

  Plan() = default;
  explicit Plan(std::int64_t n) {
    if (n <= leaf(block_size)) return;
    const auto over = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
    const auto least_threads = [&](std::int64_t most_leaves) {
      int found = 128;
      while (found < block_size && over(n, mean_leaf(found)) > most_leaves) found *= 2;
      return found;
    };
    const std::int64_t most = most_buckets, sure = sure_buckets;
    threads = least_threads(most);
    std::int64_t leaves = over(n, mean_leaf(threads));
    levels = leaves <= most ? 1 : 2;
    if (levels == 1) {
      buckets[0] = static_cast<int>(leaves);
      return;
    }
    threads = least_threads(most * sure);
    leaves = over(n, mean_leaf(threads));
    std::int64_t first = 1;  // not so few that a segment needs more than sure_buckets
    while (first < most && std::min(first, sure) * first < leaves) ++first;
    const std::int64_t second = over(leaves, first);
    buckets[0] = static_cast<int>(first);
    buckets[1] = static_cast<int>(second * most / sure < most ? second * most / sure : most);
    keys_per_bucket[1] = mean_leaf(threads);
  }
};

/// What lies where in the workspace, each at a multiple of 8 bytes; first what must be 0 at first.
template <class T, class V>
struct Layout {
  std::size_t places[2], zeros, first_tiles, splitters, segments, scratch, values, ids, counts,
      bytes;

  Layout(std::int64_t n, const Plan& plan) {
    const std::size_t word = 8, keys = static_cast<std::size_t>(n),
                      first = static_cast<std::size_t>(plan.buckets[0]),
                      leaves = first * static_cast<std::size_t>(plan.buckets[1]);
    const auto words = [&](std::size_t count) { return (count + word - 1) / word * word; };
    places[0] = word;  // behind the number of fallbacks
    places[1] = places[0] + 2 * first * word;
    zeros = places[1] + 2 * leaves * word;
    first_tiles = zeros;
    splitters = first_tiles + (first + 1) * word;
    segments = splitters + leaves * word;
    scratch = segments + (1 + first + leaves) * sizeof(Segment);
    values = scratch + words(keys * sizeof(T));
    ids = values + (std::is_same_v<V, NoValue> ? 0 : words(keys * sizeof(V)));
    counts = ids + words(keys * sizeof(unsigned short));
    const std::size_t tiles = keys / tile<T>;
    const std::size_t of_tiles[2] = {(tiles + 1) * 2 * first,
                                     (tiles + first) * 2 * (leaves / first)};
    bytes = counts +
            words((of_tiles[0] < of_tiles[1] ? of_tiles[1] : of_tiles[0]) * sizeof(unsigned short));
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
  const std::size_t of_sample = sizeof(unsigned) * slots(block_size),
                    of_leaf = sizeof(unsigned) * slots(plan.threads);
  if (cudaError_t error = cudaFuncSetAttribute(
          scatter<T, V>, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Stage<T>)))
    return error;
  int count = 1;
  for (int k = 0; k < plan.levels; ++k) {
    const Level<T> level{segments,
                         reinterpret_cast<std::int64_t*>(bytes + layout.first_tiles),
                         splitters,
                         reinterpret_cast<unsigned long long*>(bytes + layout.places[k]),
                         reinterpret_cast<unsigned short*>(bytes + layout.ids),
                         reinterpret_cast<unsigned short*>(bytes + layout.counts),
                         count,
                         plan.buckets[k],
                         k,
                         plan.keys_per_bucket[k]};
    const auto blocks = static_cast<unsigned>(count);
    const auto tiles = static_cast<unsigned>(n / tile<T> + count);
    const T* const keys = k == 0 ? in.keys : arrays.scratch.keys;
    if (k == 0)
      list_input<<<1, 1, 0, stream>>>(level, n);
    else
      number_tiles<<<1, block_size, 0, stream>>>(level);
    choose_splitters<<<blocks, block_size, of_sample, stream>>>(keys, level, seed);
    look_up<<<tiles, block_size, 0, stream>>>(keys, level);
    make_places<<<blocks, block_size, 0, stream>>>(level, segments + count);
    scatter<<<tiles, block_size, sizeof(Stage<T>), stream>>>(arrays, level);
    if (cudaError_t error = cudaGetLastError()) return error;
    segments += count;
    count *= plan.buckets[k];
  }
  if (plan.levels == 0) segments = nullptr;
  sort_leaves<<<static_cast<unsigned>(count), static_cast<unsigned>(plan.threads), of_leaf,
                stream>>>(arrays, segments, plan.levels, n);
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

/// A plan that somebody else has made. A segment of the second level gets second_buckets if it has
/// its share of the keys or more, otherwise fewer.
Plan plan_as_told(std::int64_t n, int levels, int first_buckets, int second_buckets) {
  Plan plan;
  plan.levels = levels;
  plan.buckets[0] = first_buckets;
  plan.buckets[1] = second_buckets;
  const std::int64_t share = n / first_buckets / second_buckets + 1;
  plan.keys_per_bucket[1] = static_cast<int>(std::min(share, std::int64_t{INT32_MAX}));
  return plan;
}

cudaError_t sort_as_told(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                         unsigned* out, std::int64_t n, int levels, int first_buckets,
                         int second_buckets, std::uint64_t seed, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n,
                   plan_as_told(n, levels, first_buckets, second_buckets), seed, stream);
}

cudaError_t sort_pairs_as_told(void* workspace, std::size_t& workspace_bytes,
                               const unsigned* keys_in, const unsigned* values_in,
                               unsigned* keys_out, unsigned* values_out, std::int64_t n, int levels,
                               int first_buckets, int second_buckets, std::uint64_t seed,
                               cudaStream_t stream) {
  return sort_any<unsigned, unsigned>(
      workspace, workspace_bytes, {keys_in, values_in}, {keys_out, values_out}, n,
      plan_as_told(n, levels, first_buckets, second_buckets), seed, stream);
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

}  // namespace limit
