// Idea: the host launches the levels. A kernel parts all segments of a level, a block each, and
//   lists their parts for the next launch. How many there are, only the GPU knows: the host
//   launches as many blocks and levels as there can be, and those without a segment end at once.
// Predicts: no launch per segment any more; some 20 to 60 launches whatever n is.
// Still wrong: the first levels have one, two, four segments, so one, two, four blocks.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "keys.cuh"

namespace level_by_level {

using keys::key_of;
using keys::Ordered;
using keys::ordered;

constexpr int block_size = 256;
constexpr int warps = block_size / 32;
constexpr int rows = 8;                  // of 32 keys that a warp parts, one after the other
constexpr int tile = block_size * rows;  // keys; what is not longer is sorted in shared memory

/// Keys [first, first + count), all of them from `low` to `high` (as `ordered` orders them). They
/// lie in array `place`: 0 the input, 1 the scratch array, 2 the output.
template <class U>
struct Segment {
  std::int64_t first, count;
  U low, high;
  int place, level;  // level: how many times its keys were parted
};

template <class T>
struct Arrays {
  const T* in;
  T* scratch;
  T* out;
  int most_parted;  // levels by pivots; deeper ones halve the range of values
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

/// The last key (as `ordered`) that goes left: below the median of the first, the middle and the
/// last one. Beyond most_parted levels the middle of the range of values: after 32 or 64 of those,
/// a range is a single value.
template <class T>
__device__ Ordered<T> last_of_left(const T* from, const Segment<Ordered<T>>& segment,
                                   int most_parted) {
  using U = Ordered<T>;
  if (segment.level >= most_parted) return segment.low + (segment.high - segment.low) / 2;
  const U a = ordered(from[segment.first]), b = ordered(from[segment.first + segment.count / 2]),
          c = ordered(from[segment.first + segment.count - 1]);
  const U pivot = max(min(a, b), min(max(a, b), c));
  return pivot > segment.low ? pivot - 1 : pivot;
}

/// Writes the keys of a segment to other places of it, first those up to `last`, then the others.
/// Returns how many those up to `last` are. All threads must call.
template <class T>
__device__ std::int64_t partition(const T* from, T* to, std::int64_t first, std::int64_t count,
                                  Ordered<T> last) {
  using U = Ordered<T>;
  __shared__ int lefts[warps];
  const int warp = thread_index() / 32, lane = thread_index() % 32;
  const unsigned lanes_before = (1u << lane) - 1;
  std::int64_t left = first, right = first + count;  // the free places are between them
  for (std::int64_t start = 0; start < count; start += tile) {
    const int here = static_cast<int>(min(count - start, std::int64_t{tile}));
    const int begin = warp * rows * 32;  // of this warp's keys
    U x[rows];
    unsigned goes_left[rows];
    int mine = 0;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const int i = begin + r * 32 + lane;
      x[r] = i < here ? ordered(from[first + start + i]) : U{0};
      goes_left[r] = __ballot_sync(0xffffffffu, i < here && x[r] <= last);
      mine += __popc(goes_left[r]);
    }
    if (lane == 0) lefts[warp] = mine;
    __syncthreads();
    int before = 0, all = 0;  // how many go left: of the warps before, of all
    for (int w = 0; w < warps; ++w) {
      if (w < warp) before += lefts[w];
      all += lefts[w];
    }
    std::int64_t to_left = left + before;
    std::int64_t to_right = right - 1 - (min(begin, here) - before);  // downwards
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const int i = begin + r * 32 + lane;
      const int lefts_before = __popc(goes_left[r] & lanes_before);
      const bool is_left = (goes_left[r] >> lane & 1) != 0;
      if (i < here)
        to[is_left ? to_left + lefts_before : to_right - (lane - lefts_before)] = key_of<T>(x[r]);
      to_left += __popc(goes_left[r]);
      to_right -= 32 - __popc(goes_left[r]);
    }
    left += all;
    right -= here - all;
    __syncthreads();  // lefts is written again
  }
  return left - first;
}

/// The segments of a level, and how many there are.
template <class U>
struct List {
  Segment<U>* segments;
  int* count;
};

/// Both parts of a segment, as they lie after it was parted: parts[0] up to `last`, `lefts` keys.
template <class U>
__device__ void get_parts(const Segment<U>& segment, U last, std::int64_t lefts,
                          Segment<U>* parts) {
  const int place = next_place(segment.place), parted = segment.level + 1;
  parts[0] = {segment.first, lefts, segment.low, last, place, parted};
  parts[1] = {segment.first + lefts, segment.count - lefts, last + 1, segment.high, place, parted};
}

/// Parts the segments of a list, a block each, sorts the parts that are short enough, and lists the
/// others. Launch: at least as many blocks of block_size threads as there are segments.
template <class T>
__global__ void __launch_bounds__(block_size)
    part_level(Arrays<T> arrays, List<Ordered<T>> now, List<Ordered<T>> next) {
  using U = Ordered<T>;
  __shared__ Segment<U> parts[2];
  if (static_cast<int>(blockIdx.x) >= *now.count) return;
  const Segment<U> segment = now.segments[blockIdx.x];
  const T* const from = arrays.from(segment.place);
  T* const to = arrays.to(segment.place);
  const U last = last_of_left(from, segment, arrays.most_parted);
  const std::int64_t lefts = partition(from, to, segment.first, segment.count, last);
  if (thread_index() == 0) {
    get_parts(segment, last, lefts, parts);
    for (const Segment<U>& part : parts) {
      if (part.count > tile && !is_sorted(part)) next.segments[atomicAdd(next.count, 1)] = part;
    }
  }
  __syncthreads();
  for (const Segment<U>& part : parts) {
    if (part.count > 0 && part.count <= tile) sort_leaf(arrays, part);
  }
}

/// Sorts the segments of a list to their end, a block each: those that are left after all levels by
/// pivots. Launch: at least as many blocks of block_size threads as there are segments.
template <class T>
__global__ void __launch_bounds__(block_size) finish(Arrays<T> arrays, List<Ordered<T>> left) {
  using U = Ordered<T>;
  __shared__ Segment<U> stack[64];  // the larger side waits, so each entry halves what is sorted
  __shared__ int height;
  if (static_cast<int>(blockIdx.x) >= *left.count) return;
  if (thread_index() == 0) stack[0] = left.segments[blockIdx.x], height = 1;
  __syncthreads();
  while (height > 0) {
    const Segment<U> segment = stack[height - 1];
    __syncthreads();
    if (thread_index() == 0) --height;
    if (segment.count <= tile) {
      sort_leaf(arrays, segment);
      continue;
    }
    const T* const from = arrays.from(segment.place);
    T* const to = arrays.to(segment.place);
    const U last = last_of_left(from, segment, arrays.most_parted);
    const std::int64_t lefts = partition(from, to, segment.first, segment.count, last);
    if (thread_index() == 0) {
      Segment<U> parts[2];
      get_parts(segment, last, lefts, parts);
      const int larger = parts[0].count < parts[1].count ? 1 : 0;
      if (!is_sorted(parts[larger])) stack[height++] = parts[larger];
      if (!is_sorted(parts[1 - larger])) stack[height++] = parts[1 - larger];
      atomicAdd(arrays.fallbacks, 1ull);
    }
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
  std::int64_t most_segments;  // of a level: each has more than `tile` keys
  std::size_t counts, scratch, lists, bytes;
  int levels;

  explicit Layout(std::int64_t n) : most_segments(n / (tile + 1) + 1), levels(levels_by_pivots(n)) {
    counts = sizeof(unsigned long long);
    scratch = counts + static_cast<std::size_t>(levels + 2) / 2 * 8;
    lists = scratch + (static_cast<std::size_t>(n) * sizeof(T) + 7) / 8 * 8;
    bytes = lists + 2 * static_cast<std::size_t>(most_segments) * sizeof(Segment<Ordered<T>>);
  }
};

/// Lists the whole input as the only segment. Launch: one thread.
template <class U>
__global__ void list_input(List<U> list, std::int64_t n) {
  list.segments[0] = {0, n, 0, ~U{0}, 0, 0};
  *list.count = 1;
}

/// Sorts an input that is short enough for it. Launch: one block of block_size threads.
template <class T>
__global__ void __launch_bounds__(block_size) sort_one_leaf(const T* in, T* out, int n) {
  sort_leaf(in, out, n);
}

/// out = the keys of in, in ascending order (keys.cuh). Device pointers, which must not overlap.
/// Not stable, which nobody can see: equal keys are equal bits. The first 8 bytes of the workspace
/// become the number of segments that were parted without a pivot. With workspace == nullptr: only
/// writes the bytes of scratch memory that it needs. \returns cudaErrorInvalidValue for too little
/// of it or a misaligned pointer, for n < 0 or n >= 2^40, or the error of a launch.
template <class T>
cudaError_t sort_keys(void* workspace, std::size_t& workspace_bytes, const T* in, T* out,
                      std::int64_t n, cudaStream_t stream) {
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
  const Arrays<T> arrays{in, reinterpret_cast<T*>(bytes + layout.scratch), out, layout.levels,
                         reinterpret_cast<unsigned long long*>(bytes)};
  int* const counts = reinterpret_cast<int*>(bytes + layout.counts);
  auto* const segments = reinterpret_cast<Segment<U>*>(bytes + layout.lists);
  const auto list = [&](int level) {
    return List<U>{segments + level % 2 * layout.most_segments, counts + level};
  };
  list_input<<<1, 1, 0, stream>>>(list(0), n);
  if (cudaError_t error = cudaGetLastError()) return error;
  for (int level = 0; level < layout.levels; ++level) {
    const std::int64_t most = level < 31 ? std::int64_t{1} << level : layout.most_segments;
    const auto blocks =
        static_cast<unsigned>(most < layout.most_segments ? most : layout.most_segments);
    part_level<<<blocks, block_size, 0, stream>>>(arrays, list(level), list(level + 1));
    if (cudaError_t error = cudaGetLastError()) return error;
  }
  const auto blocks = static_cast<unsigned>(layout.most_segments);
  finish<<<blocks, block_size, 0, stream>>>(arrays, list(layout.levels));
  return cudaGetLastError();
}

cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const unsigned* in, unsigned* out,
                 std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, stream);
}

cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const int* in, int* out,
                 std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, stream);
}

cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                 std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, stream);
}

cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const std::int64_t* in,
                 std::int64_t* out, std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, stream);
}

}  // namespace level_by_level
