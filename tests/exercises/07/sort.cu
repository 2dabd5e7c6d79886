// Answers to exercises 2 and 4 of chapter 07, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstdint>

namespace single_thread {
// 2 4: NOT YET: right, but one after the other
__global__ void insert_all(const unsigned* in, unsigned* out, int n) {
  for (int i = 0; i < n; ++i) {
    const unsigned key = in[i];
    int k = i;
    for (; k > 0 && key < out[k - 1]; --k) out[k] = out[k - 1];
    out[k] = key;
  }
}

cudaError_t sort(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  insert_all<<<1, 1, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace single_thread

// A network in shared memory, but each of its eight warps has only one active lane.
namespace one_lane_per_warp {
// 2: NOT YET: right, but one after the other
__global__ void sort_block(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned s[2048];
  for (int i = static_cast<int>(threadIdx.x); i < 2048; i += 256) s[i] = i < n ? in[i] : ~0u;
  __syncthreads();
  for (int run = 2; run <= 2048; run *= 2) {
    for (int step = run / 2; step > 0; step /= 2) {
      for (int a = static_cast<int>(threadIdx.x) / 32; a < 2048; a += 8) {
        const int b = step == run / 2 ? a ^ (run - 1) : a ^ step;
        if (threadIdx.x % 32 != 0 || b < a) continue;
        const unsigned low = min(s[a], s[b]), high = max(s[a], s[b]);
        s[a] = low, s[b] = high;
      }
      __syncthreads();
    }
  }
  for (int i = static_cast<int>(threadIdx.x); i < n; i += 256) out[i] = s[i];
}

cudaError_t sort(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  sort_block<<<1, 256, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp

namespace network_by_one_thread {
// 2: NOT YET: right, but one after the other
__global__ void sort_block(const unsigned* in, unsigned* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = in[i];
  for (int run = 2; run < 2 * n; run *= 2) {
    for (int step = run / 2; step > 0; step /= 2) {
      for (int a = 0; a < n; ++a) {
        const int b = step == run / 2 ? a ^ (run - 1) : a ^ step;
        if (b < a || b >= n) continue;
        const unsigned x = out[a], y = out[b];
        if (y < x) out[a] = y, out[b] = x;
      }
    }
  }
}

cudaError_t sort(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  sort_block<<<1, 1, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace network_by_one_thread

namespace no_shared_memory {
// 2: NOT YET: right, but it moves
__global__ void sort_block(const unsigned* in, unsigned* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < n; i += 1024) out[i] = in[i];
  __syncthreads();
  for (int run = 2; run < 2 * n; run *= 2) {
    for (int step = run / 2; step > 0; step /= 2) {
      const int a = t / step * 2 * step + t % step;
      const int b = step == run / 2 ? a ^ (run - 1) : a + step;
      if (b < n && out[b] < out[a]) {
        const unsigned key = out[a];
        out[a] = out[b], out[b] = key;
      }
      __syncthreads();
    }
  }
}

cudaError_t sort(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  sort_block<<<1, 1024, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace no_shared_memory

// The host launches each step of the network.
namespace kernel_per_step {
// 2: NOT YET: right, but it moves
__global__ void compare(unsigned* s, int n, int run, int step) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int a = i / step * 2 * step + i % step;
  const int b = step == run / 2 ? a ^ (run - 1) : a + step;
  if (b >= n) return;
  const unsigned x = s[a], y = s[b];
  if (y < x) s[a] = y, s[b] = x;
}

cudaError_t sort(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  const auto bytes = static_cast<std::size_t>(n) * sizeof(unsigned);
  cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, stream);
  for (int run = 2; run < 2 * n; run *= 2) {
    for (int step = run / 2; step > 0; step /= 2)
      compare<<<8, 128, 0, stream>>>(out, static_cast<int>(n), run, step);
  }
  return cudaGetLastError();
}
}  // namespace kernel_per_step

// No network: each key counts the keys before it.
namespace counts_smaller_ones {
// 2: NOT YET: right, but shared memory takes
__global__ void place(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned s[2048];
  for (int i = static_cast<int>(threadIdx.x); i < n; i += 1024) s[i] = in[i];
  __syncthreads();
  for (int t = static_cast<int>(threadIdx.x); t < n; t += 1024) {
    int before = 0;
    for (int i = 0; i < n; ++i) before += s[i] < s[t] || (s[i] == s[t] && i < t);
    out[before] = s[t];
  }
}

cudaError_t sort(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  place<<<1, 1024, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace counts_smaller_ones

// A network of n steps that compares only neighbours.
namespace neighbours_meet {
// 2: NOT YET: right, but one after the other
__global__ void sort_block(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned s[2048];
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < n; i += 1024) s[i] = in[i];
  for (int step = 0; step < n; ++step) {
    __syncthreads();
    const int a = 2 * t + step % 2;
    if (a + 1 >= n) continue;
    const unsigned x = s[a], y = s[a + 1];
    if (y < x) s[a] = y, s[a + 1] = x;
  }
  __syncthreads();
  for (int i = t; i < n; i += 1024) out[i] = s[i];
}

cudaError_t sort(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  sort_block<<<1, 1024, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace neighbours_meet

// Every second run in descending order, so no step is mirrored; one thread per pair.
namespace two_directions {
// 2: PASSED
__global__ void sort_block(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned s[2048];
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < 2048; i += 1024) s[i] = i < n ? in[i] : 0xffffffffu;
  for (int run = 2; run <= 2048; run *= 2) {
    for (int step = run / 2; step > 0; step /= 2) {
      __syncthreads();
      const int a = 2 * t - (t & (step - 1)), b = a + step;
      const unsigned x = s[a], y = s[b];
      if ((y < x) == ((a & run) == 0)) s[a] = y, s[b] = x;
    }
  }
  __syncthreads();
  for (int i = t; i < n; i += 1024) out[i] = s[i];
}

cudaError_t sort(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  sort_block<<<1, 1024, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace two_directions

// Batcher's other network: two sorted runs are merged by their odd and even keys.
namespace odd_even_merge {
// 2: PASSED
__global__ void sort_block(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned s[2048];
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < n; i += 512) s[i] = in[i];
  for (int run = 1; run < n; run *= 2) {
    for (int step = run; step > 0; step /= 2) {
      __syncthreads();
      for (int a = t; a + step < n; a += 512) {
        const int b = a + step, first = step % run;
        if (a < first || (a - first) / step % 2 != 0 || a / (2 * run) != b / (2 * run)) continue;
        const unsigned x = s[a], y = s[b];
        if (y < x) s[a] = y, s[b] = x;
      }
    }
  }
  __syncthreads();
  for (int i = t; i < n; i += 512) out[i] = s[i];
}

cudaError_t sort(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  sort_block<<<1, 512, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace odd_even_merge

// Two keys in the registers of each thread; keys up to 32 apart are exchanged within a warp.
namespace keys_in_registers {
// 2: PASSED
__device__ void meet(unsigned* mine, unsigned other, int i, int run, int step) {
  const bool takes_low = ((i & step) == 0) == ((i & run) == 0);
  *mine = takes_low ? min(*mine, other) : max(*mine, other);
}
__global__ void sort_block(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned s[2048];
  const int t = static_cast<int>(threadIdx.x), i = t / 32 * 64 + t % 32, k = i + 32;
  unsigned x = i < n ? in[i] : 0xffffffffu, y = k < n ? in[k] : 0xffffffffu;
  for (int run = 2; run <= 2048; run *= 2) {
    for (int step = run / 2; step > 32; step /= 2) {
      s[i] = x, s[k] = y;
      __syncthreads();
      meet(&x, s[i ^ step], i, run, step), meet(&y, s[k ^ step], k, run, step);
      __syncthreads();
    }
    if (run >= 64) {
      const unsigned was = x;
      meet(&x, y, i, run, 32), meet(&y, was, k, run, 32);
    }
    for (int step = min(16, run / 2); step > 0; step /= 2) {
      meet(&x, __shfl_xor_sync(0xffffffffu, x, step), i, run, step);
      meet(&y, __shfl_xor_sync(0xffffffffu, y, step), k, run, step);
    }
  }
  if (i < n) out[i] = x;
  if (k < n) out[k] = y;
}

cudaError_t sort(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  sort_block<<<1, 1024, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace keys_in_registers

// A quicksort by one thread without launches: the larger sides wait on a stack.
namespace no_launches {
// 4: NOT YET: right, but no kernel launches another
__global__ void sort_all(unsigned* s, int n) {
  int waiting[32][2], count = 1;
  waiting[0][0] = 0, waiting[0][1] = n;
  while (count > 0) {
    int begin = waiting[--count][0], end = waiting[count][1];
    while (end - begin > 1) {
      const unsigned pivot = s[begin];
      int left = begin;  // s[begin + 1 .. left] are below the pivot
      for (int i = begin + 1; i < end; ++i) {
        const unsigned key = s[i];
        if (key < pivot) s[i] = s[++left], s[left] = key;
      }
      s[begin] = s[left], s[left] = pivot;
      const bool left_waits = left - begin > end - left - 1;
      waiting[count][0] = left_waits ? begin : left + 1;
      waiting[count++][1] = left_waits ? left : end;
      (left_waits ? begin : end) = left_waits ? left + 1 : left;
    }
  }
}

cudaError_t sort(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  const auto bytes = static_cast<std::size_t>(n) * sizeof(unsigned);
  cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, stream);
  sort_all<<<1, 1, 0, stream>>>(out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace no_launches

// Both sides are launched, down to a depth of log2(n); deeper segments are sorted by a heap.
namespace depth_limited {
// 4: PASSED
__device__ void sift(unsigned* s, int i, int n) {
  const unsigned key = s[i];
  for (int k = 2 * i + 1; k < n; k = 2 * i + 1) {
    if (k + 1 < n && s[k] < s[k + 1]) ++k;
    if (s[k] <= key) break;
    s[i] = s[k], i = k;
  }
  s[i] = key;
}
__global__ void sort_segment(unsigned* s, int n, int levels) {
  if (n <= 32 || levels == 0) {
    for (int i = n / 2 - 1; i >= 0; --i) sift(s, i, n);
    for (int last = n - 1; last > 0; --last) {
      const unsigned key = s[last];
      s[last] = s[0], s[0] = key;
      sift(s, 0, last);
    }
    return;
  }
  int left = 0;
  for (int i = 1; i < n; ++i) {
    const unsigned key = s[i];
    if (key < s[0]) s[i] = s[++left], s[left] = key;
  }
  const unsigned pivot = s[0];
  s[0] = s[left], s[left] = pivot;
  for (int side = 0; side < 2; ++side) {
    unsigned* const begin = side == 0 ? s : s + left + 1;
    const int count = side == 0 ? left : n - left - 1;
    if (count > 32) sort_segment<<<1, 1, 0, cudaStreamFireAndForget>>>(begin, count, levels - 1);
    for (int i = 1; count <= 32 && i < count; ++i) {
      const unsigned key = begin[i];
      int k = i;
      for (; k > 0 && key < begin[k - 1]; --k) begin[k] = begin[k - 1];
      begin[k] = key;
    }
  }
}
__global__ void after_all() {}

cudaError_t sort(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  const auto bytes = static_cast<std::size_t>(n) * sizeof(unsigned);
  cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, stream);
  int levels = 0;
  while (std::int64_t{2} << levels <= n) ++levels;
  sort_segment<<<1, 1, 0, stream>>>(out, static_cast<int>(n), levels < 23 ? levels : 23);
  after_all<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}
}  // namespace depth_limited

// A pointer to either end moves; up to 64 keys are inserted one by one.
namespace ends_move {
// 4: PASSED
__device__ void insert(unsigned* begin, unsigned* end) {
  for (unsigned* at = begin; at < end; ++at) {
    const unsigned key = *at;
    unsigned* k = at;
    for (; k > begin && key < k[-1]; --k) *k = k[-1];
    *k = key;
  }
}
__global__ void sort_between(unsigned* begin, unsigned* end) {
  while (end - begin > 64) {
    const unsigned pivot = *begin;
    unsigned* last = begin;  // of the keys below the pivot
    for (unsigned* at = begin + 1; at < end; ++at) {
      const unsigned key = *at;
      if (key < pivot) *at = *++last, *last = key;
    }
    *begin = *last, *last = pivot;
    const bool left_is_small = last - begin < end - last;
    unsigned* const from = left_is_small ? begin : last + 1;
    unsigned* const to = left_is_small ? last : end;
    if (to - from > 64)
      sort_between<<<1, 1, 0, cudaStreamFireAndForget>>>(from, to);
    else
      insert(from, to);
    (left_is_small ? begin : end) = left_is_small ? last + 1 : last;
  }
  insert(begin, end);
}
__global__ void after_all() {}

cudaError_t sort(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  const auto bytes = static_cast<std::size_t>(n) * sizeof(unsigned);
  cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, stream);
  sort_between<<<1, 1, 0, stream>>>(out, out + n);
  after_all<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}
}  // namespace ends_move

// Keys that equal the pivot stay; the smaller of the other sides is launched from 48 keys on.
namespace equal_keys_stay {
// 4: PASSED
__global__ void sort_segment(unsigned* s, int n) {
  while (n > 1) {
    const unsigned pivot = s[0];
    int left = 0, right = n;  // where the equal keys begin, and end
    for (int i = 1; i < right;) {
      const unsigned key = s[i];
      if (key < pivot) s[i] = s[left], s[left++] = key;
      if (key > pivot) s[i] = s[--right], s[right] = key;
      i += key <= pivot ? 1 : 0;
    }
    const bool left_goes = left < n - right;
    unsigned* const side = left_goes ? s : s + right;
    const int count = left_goes ? left : n - right;
    if (count >= 48) {
      sort_segment<<<1, 1, 0, cudaStreamFireAndForget>>>(side, count);
    } else {
      for (int i = 1; i < count; ++i) {
        const unsigned key = side[i];
        int k = i;
        for (; k > 0 && key < side[k - 1]; --k) side[k] = side[k - 1];
        side[k] = key;
      }
    }
    s += left_goes ? right : 0;
    n = left_goes ? n - right : left;
  }
}
__global__ void after_all() {}

cudaError_t sort(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  const auto bytes = static_cast<std::size_t>(n) * sizeof(unsigned);
  cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, stream);
  sort_segment<<<1, 1, 0, stream>>>(out, static_cast<int>(n));
  after_all<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}
}  // namespace equal_keys_stay
