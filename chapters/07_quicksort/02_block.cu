// Idea: a block per segment. Its threads part a tile of keys at once: each warp's votes say which
//   keys go left, their counts say where to. Segments of up to 2048 keys a block sorts itself.
// Predicts: 2048 keys per step instead of one, and a launch for some 1000 keys instead of some 20.
// Still wrong: still one block where there is most to do, and a launch for each segment, whose
//   order and number only the GPU knows.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "keys.cuh"

namespace block_per_segment {

using keys::key_of;
using keys::Ordered;
using keys::ordered;

constexpr int block_size = 256;
constexpr int warps = block_size / 32;
constexpr int rows = 8;                  // of 32 keys that a warp parts, one after the other
constexpr int tile = block_size * rows;  // keys; what is not longer is sorted in shared memory
constexpr int most_levels = 24;          // of kernels that launch kernels: the host's is the first

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
  return segment.low == segment.high && segment.place == 2;
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

/// Sorts a segment. Launch: one block of block_size threads. Each part is launched, or, where that
/// is refused or too deep, done here. `level`: how many kernels had to launch this one.
template <class T>
__global__ void __launch_bounds__(block_size)
    sort_segment(Arrays<T> arrays, Segment<Ordered<T>> given, int level) {
  using U = Ordered<T>;
  __shared__ Segment<U> stack[64];  // the larger side waits, so each entry halves what is sorted
  __shared__ int height;
  if (thread_index() == 0) height = 0;
  Segment<U> segment = given;
  while (true) {
    const T* const from = arrays.from(segment.place);
    T* const to = arrays.to(segment.place);
    __syncthreads();  // all have read the top of the stack
    if (segment.count <= tile) {
      sort_leaf(from + segment.first, arrays.out + segment.first, static_cast<int>(segment.count));
    } else {
      const U last = last_of_left(from, segment, arrays.most_parted);
      const std::int64_t lefts = partition(from, to, segment.first, segment.count, last);
      if (thread_index() == 0) {
        if (segment.level >= arrays.most_parted) atomicAdd(arrays.fallbacks, 1ull);
        const int place = next_place(segment.place), parted = segment.level + 1;
        const Segment<U> parts[2] = {
            {segment.first, lefts, segment.low, last, place, parted},
            {segment.first + lefts, segment.count - lefts, last + 1, segment.high, place, parted}};
        const int larger = parts[0].count < parts[1].count ? 1 : 0;
        for (const int k : {larger, 1 - larger}) {
          if (parts[k].count == 0 || is_sorted(parts[k])) continue;
          if (level + 1 < most_levels) {
            sort_segment<<<1, block_size, 0, cudaStreamFireAndForget>>>(arrays, parts[k],
                                                                        level + 1);
            if (cudaGetLastError() == cudaSuccess) continue;
          }
          atomicAdd(arrays.fallbacks, 1ull);
          stack[height++] = parts[k];
        }
      }
    }
    __syncthreads();
    if (height == 0) return;
    segment = stack[height - 1];
    __syncthreads();
    if (thread_index() == 0) --height;
  }
}

/// How many levels by pivots a segment gets: twice those of halving.
inline int levels_by_pivots(std::int64_t n) {
  int levels = 2;
  for (std::int64_t size = tile; size < n; size *= 2) levels += 2;
  return levels;
}

/// Nothing. A graph is said to be over as soon as its last kernel is, even if kernels that this one
/// launched still run (seen on an H200 with CUDA 13.0): so the last one must launch none.
__global__ void after_all() {}

/// True unless p is a multiple of `bytes`.
inline bool misaligned(const void* p, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % bytes != 0;
}

/// out = the keys of in, in ascending order (keys.cuh). Device pointers, which must not overlap.
/// Not stable, which nobody can see: equal keys are equal bits. The first 8 bytes of the workspace
/// become the number of segments that could not be launched, or were parted without a pivot. With
/// workspace == nullptr: only writes the bytes of scratch memory that it needs. \returns
/// cudaErrorInvalidValue for too little of it or a misaligned pointer, for n < 0 or n >= 2^40, or
/// the error of a launch.
template <class T>
cudaError_t sort_keys(void* workspace, std::size_t& workspace_bytes, const T* in, T* out,
                      std::int64_t n, cudaStream_t stream) {
  using U = Ordered<T>;
  using Count = unsigned long long;
  if (n < 0 || n >= std::int64_t{1} << 40) return cudaErrorInvalidValue;
  const std::size_t needed = sizeof(Count) + static_cast<std::size_t>(n) * sizeof(T);
  if (workspace == nullptr) {
    workspace_bytes = needed;
    return cudaSuccess;
  }
  if (workspace_bytes < needed) return cudaErrorInvalidValue;
  if (misaligned(workspace, alignof(Count))) return cudaErrorInvalidValue;
  if (misaligned(in, sizeof(T)) || misaligned(out, sizeof(T))) return cudaErrorInvalidValue;
  auto* const fallbacks = static_cast<Count*>(workspace);
  if (cudaError_t error = cudaMemsetAsync(fallbacks, 0, sizeof(Count), stream)) return error;
  if (n == 0) return cudaSuccess;
  auto* const scratch = reinterpret_cast<T*>(fallbacks + 1);
  const Arrays<T> arrays{in, scratch, out, levels_by_pivots(n), fallbacks};
  sort_segment<<<1, block_size, 0, stream>>>(arrays, Segment<U>{0, n, 0, ~U{0}, 0, 0}, 0);
  after_all<<<1, 1, 0, stream>>>();
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

}  // namespace block_per_segment
