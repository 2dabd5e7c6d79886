// Answers to the exercises of chapter 05, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cuda/atomic>

namespace one_thread {
// 7: NOT YET: right, but one after the other
__global__ void scan_all(const unsigned* in, unsigned* out, std::int64_t n) {
  unsigned sum = 0;
  for (std::int64_t i = 0; i < n; ++i) out[i] = sum = in[i] % 65536 == 0 ? in[i] : sum + in[i];
}

cudaError_t segmented_scan(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                           unsigned* out, std::int64_t n, cudaStream_t stream) {
  workspace_bytes = 4;
  if (workspace != nullptr) scan_all<<<1, 1, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_thread

// Each element is read once, by one block.
namespace one_block {
// 7: NOT YET: right, but one after the other
struct Part {
  unsigned begins, sum;
};
__device__ Part then(Part a, Part b) {
  return {a.begins | b.begins, b.begins != 0 ? b.sum : a.sum + b.sum};
}
__device__ Part warp_scan(Part x) {
  for (int step = 1; step < 32; step *= 2) {
    const Part left = {__shfl_up_sync(0xffffffffu, x.begins, step),
                       __shfl_up_sync(0xffffffffu, x.sum, step)};
    if (static_cast<int>(threadIdx.x) % 32 >= step) x = then(left, x);
  }
  return x;
}
__global__ void scan_all(const unsigned* in, unsigned* out, std::int64_t n) {
  __shared__ Part s[2][32];
  const int t = static_cast<int>(threadIdx.x), warp = t / 32;
  Part so_far = {0, 0};
  int now = 0;
  for (std::int64_t i = t; i - t < n; i += 1024, now ^= 1) {
    const unsigned x = i < n ? in[i] : 1;
    const Part upto = warp_scan({x % 65536 == 0, x});
    if (t % 32 == 31) s[now][warp] = upto;
    __syncthreads();
    const Part all = warp_scan(s[now][t % 32]);
    const int last = (warp + 31) % 32;
    Part before = {__shfl_sync(0xffffffffu, all.begins, last),
                   __shfl_sync(0xffffffffu, all.sum, last)};
    before = warp > 0 ? then(so_far, before) : so_far;
    if (i < n) out[i] = then(before, upto).sum;
    so_far = then(
        so_far, {__shfl_sync(0xffffffffu, all.begins, 31), __shfl_sync(0xffffffffu, all.sum, 31)});
  }
}

cudaError_t segmented_scan(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                           unsigned* out, std::int64_t n, cudaStream_t stream) {
  workspace_bytes = 4;
  if (workspace != nullptr) scan_all<<<1, 1024, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_block

// One launch per tile, which passes on the sum of the open segment.
namespace host_loop {
// 7: NOT YET: right, but one after the other
__device__ unsigned warp_scan(unsigned x, unsigned begins) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int begin = 31 - __clz(static_cast<int>(begins & 0xffffffffu >> (31 - lane)));
  for (int step = 1; step < 32; step *= 2) {
    const unsigned left = __shfl_up_sync(0xffffffffu, x, step);
    if (lane - step >= max(begin, 0)) x += left;
  }
  return x;
}
__global__ void scan_tile(const unsigned* in, unsigned* out, unsigned* open, int n) {
  __shared__ unsigned s[32], begin[32];
  const int t = static_cast<int>(threadIdx.x), warp = t / 32, lane = t % 32;
  const unsigned so_far = *open, x = t < n ? in[t] : 1;
  const unsigned begins = __ballot_sync(0xffffffffu, x % 65536 == 0);
  const unsigned upto = warp_scan(x, begins);
  if (lane == 31) s[warp] = upto, begin[warp] = begins;
  __syncthreads();
  const unsigned warps = __ballot_sync(0xffffffffu, begin[lane] != 0);
  unsigned all = warp_scan(s[lane], warps);
  if ((warps & 0xffffffffu >> (31 - lane)) == 0) all += so_far;
  const unsigned before = __shfl_sync(0xffffffffu, all, (warp + 31) % 32);
  const bool is_open = (begins & 0xffffffffu >> (31 - lane)) == 0;
  if (t < n) out[t] = upto + (is_open ? (warp > 0 ? before : so_far) : 0);
  if (t == 1023) *open = all;
}

cudaError_t segmented_scan(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                           unsigned* out, std::int64_t n, cudaStream_t stream) {
  workspace_bytes = 4;
  if (workspace == nullptr) return cudaSuccess;
  cudaMemsetAsync(workspace, 0, 4, stream);
  for (std::int64_t i = 0; i < n; i += 1024)
    scan_tile<<<1, 1024, 0, stream>>>(in + i, out + i, static_cast<unsigned*>(workspace),
                                      static_cast<int>(n - i < 1024 ? n - i : 1024));
  return cudaGetLastError();
}
}  // namespace host_loop

// Larger tiles than the starter's, and votes: but everything is still read twice.
namespace reads_twice {
// 7: NOT YET: right, but one after the other
struct Part {
  unsigned begins, sum;
};
__device__ Part then(Part a, Part b) {
  return {a.begins | b.begins, b.begins != 0 ? b.sum : a.sum + b.sum};
}
__device__ Part warp_scan(Part x) {
  for (int step = 1; step < 32; step *= 2) {
    const Part left = {__shfl_up_sync(0xffffffffu, x.begins, step),
                       __shfl_up_sync(0xffffffffu, x.sum, step)};
    if (static_cast<int>(threadIdx.x) % 32 >= step) x = then(left, x);
  }
  return x;
}
__device__ Part last_of(Part x) {
  return {__shfl_sync(0xffffffffu, x.begins, 31), __shfl_sync(0xffffffffu, x.sum, 31)};
}
/// One warp per tile of 4096 elements; without `out` it only computes the tile's Part.
__global__ void scan_tiles(const unsigned* in, Part* parts, unsigned* out, std::int64_t n) {
  Part carry = out != nullptr && blockIdx.x > 0 ? parts[blockIdx.x - 1] : Part{0, 0};
  for (int r = 0; r < 128; ++r) {
    const std::int64_t i = std::int64_t{blockIdx.x} * 4096 + r * 32 + threadIdx.x;
    const unsigned x = i < n ? in[i] : 1;
    const Part upto = then(carry, warp_scan({x % 65536 == 0, x}));
    if (out != nullptr && i < n) out[i] = upto.sum;
    carry = last_of(upto);
  }
  if (out == nullptr && threadIdx.x == 0) parts[blockIdx.x] = carry;
}
__global__ void scan_parts(Part* parts, unsigned tiles) {
  Part carry = {0, 0};
  for (unsigned i = threadIdx.x; i - threadIdx.x < tiles; i += 32) {
    const Part upto = then(carry, warp_scan(i < tiles ? parts[i] : Part{0, 0}));
    if (i < tiles) parts[i] = upto;
    carry = last_of(upto);
  }
}

cudaError_t segmented_scan(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                           unsigned* out, std::int64_t n, cudaStream_t stream) {
  const auto tiles = static_cast<unsigned>((n + 4095) / 4096);
  workspace_bytes = (tiles + 1) * sizeof(Part);
  if (workspace == nullptr || n == 0) return cudaSuccess;
  Part* const parts = static_cast<Part*>(workspace);
  scan_tiles<<<tiles, 32, 0, stream>>>(in, parts, nullptr, n);
  scan_parts<<<1, 32, 0, stream>>>(parts, tiles);
  scan_tiles<<<tiles, 32, 0, stream>>>(in, parts, out, n);
  return cudaGetLastError();
}
}  // namespace reads_twice

// Lane 0 of each warp scans 128 elements of its own.
namespace one_lane_per_warp {
// 7: NOT YET: right, but
__global__ void scan_tiles(const unsigned* in, unsigned* out, unsigned* next, std::uint64_t* words,
                           std::int64_t n) {
  using Shared = cuda::atomic_ref<std::uint64_t, cuda::thread_scope_device>;
  if (threadIdx.x != 0) return;
  const unsigned number = atomicAdd(next, 1u);
  const std::int64_t first = std::int64_t{number} * 128, end = min(n, first + 128);
  unsigned sum = 0;
  std::int64_t begin = end;
  for (std::int64_t i = first; i < end; ++i) {
    if (in[i] % 65536 == 0) sum = 0, begin = min(begin, i);
    sum += in[i];
  }
  const auto publish = [&](unsigned x) {
    Shared(words[number]).store(std::uint64_t{1} << 32 | x, cuda::memory_order_relaxed);
  };
  if (begin < end) publish(sum);
  std::uint64_t word = number == 0 ? std::uint64_t{1} << 32 : 0;
  while (word == 0) word = Shared(words[number - 1]).load(cuda::memory_order_relaxed);
  const auto before = static_cast<unsigned>(word);
  if (begin == end) publish(before + sum);
  sum = before;
  for (std::int64_t i = first; i < end; ++i)
    out[i] = sum = in[i] % 65536 == 0 ? in[i] : sum + in[i];
}

cudaError_t segmented_scan(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                           unsigned* out, std::int64_t n, cudaStream_t stream) {
  const std::int64_t tiles = (n + 127) / 128;
  workspace_bytes = static_cast<std::size_t>(tiles + 1) * sizeof(std::uint64_t);
  if (workspace == nullptr || n == 0) return cudaSuccess;
  if (cudaError_t error = cudaMemsetAsync(workspace, 0, workspace_bytes, stream)) return error;
  scan_tiles<<<static_cast<unsigned>(tiles), 32, 0, stream>>>(
      in, out, static_cast<unsigned*>(workspace), static_cast<std::uint64_t*>(workspace) + 1, n);
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp

// One pass: a tile waits for the one before it, unless a segment begins in it. Pairs, two shuffles.
namespace waits_for_the_one_before {
// 7: PASSED
struct Part {
  unsigned begins, sum;
};
__device__ Part then(Part a, Part b) {
  return {a.begins | b.begins, b.begins != 0 ? b.sum : a.sum + b.sum};
}
__device__ Part warp_scan(Part x) {
  for (int step = 1; step < 32; step *= 2) {
    const Part left = {__shfl_up_sync(0xffffffffu, x.begins, step),
                       __shfl_up_sync(0xffffffffu, x.sum, step)};
    if (static_cast<int>(threadIdx.x) % 32 >= step) x = then(left, x);
  }
  return x;
}
__global__ void scan_tiles(const unsigned* in, unsigned* out, unsigned* next, std::uint64_t* words,
                           std::int64_t n) {
  using Shared = cuda::atomic_ref<std::uint64_t, cuda::thread_scope_device>;
  __shared__ Part s[8];
  __shared__ unsigned number_of_block, before_of_block;
  const int t = static_cast<int>(threadIdx.x), warp = t / 32;
  if (t == 0) number_of_block = atomicAdd(next, 1u);
  __syncthreads();
  const unsigned number = number_of_block;
  const std::int64_t first = std::int64_t{number} * 8192 + warp * 1024 + t % 32;
  Part x[32], carry = {0, 0};
  for (int r = 0; r < 32; ++r) {
    const unsigned y = first + r * 32 < n ? in[first + r * 32] : 1;
    x[r] = then(carry, warp_scan({y % 65536 == 0, y}));
    carry = {__shfl_sync(0xffffffffu, x[r].begins, 31), __shfl_sync(0xffffffffu, x[r].sum, 31)};
  }
  if (t % 32 == 0) s[warp] = carry;
  __syncthreads();
  if (t == 0) {
    Part all = {0, 0};
    for (const Part of_warp : s) all = then(all, of_warp);
    const auto publish = [&](unsigned sum) {
      Shared(words[number]).store(std::uint64_t{1} << 32 | sum, cuda::memory_order_relaxed);
    };
    if (all.begins != 0) publish(all.sum);
    std::uint64_t word = number == 0 ? std::uint64_t{1} << 32 : 0;
    while (word == 0) word = Shared(words[number - 1]).load(cuda::memory_order_relaxed);
    before_of_block = static_cast<unsigned>(word);
    if (all.begins == 0) publish(before_of_block + all.sum);
  }
  __syncthreads();
  Part before = {0, before_of_block};
  for (int w = 0; w < warp; ++w) before = then(before, s[w]);
  for (int r = 0; r < 32; ++r)
    if (first + r * 32 < n) out[first + r * 32] = then(before, x[r]).sum;
}

cudaError_t segmented_scan(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                           unsigned* out, std::int64_t n, cudaStream_t stream) {
  const std::int64_t tiles = (n + 8191) / 8192;
  workspace_bytes = static_cast<std::size_t>(tiles + 1) * sizeof(std::uint64_t);
  if (workspace == nullptr || n == 0) return cudaSuccess;
  if (cudaError_t error = cudaMemsetAsync(workspace, 0, workspace_bytes, stream)) return error;
  scan_tiles<<<static_cast<unsigned>(tiles), 256, 0, stream>>>(
      in, out, static_cast<unsigned*>(workspace), static_cast<std::uint64_t*>(workspace) + 1, n);
  return cudaGetLastError();
}
}  // namespace waits_for_the_one_before

// Looks back tile by tile, and a thread reads four neighbours as a vector.
namespace vectors_and_pairs {
// 7: PASSED
enum Mark : std::uint64_t { nothing, of_tile, of_all };
struct Part {
  unsigned begins, sum;
};
__device__ Part then(Part a, Part b) {
  return {a.begins | b.begins, b.begins != 0 ? b.sum : a.sum + b.sum};
}
__device__ Part then(Part a, unsigned x) { return then(a, Part{x % 65536 == 0 ? 1u : 0u, x}); }
__device__ Part left_of(Part x, int step) {
  return {__shfl_up_sync(0xffffffffu, x.begins, step), __shfl_up_sync(0xffffffffu, x.sum, step)};
}
__global__ void scan_each(const unsigned* in, unsigned* out, unsigned* next, std::uint64_t* words,
                          std::int64_t n) {
  using Shared = cuda::atomic_ref<std::uint64_t, cuda::thread_scope_device>;
  __shared__ Part s[32];
  __shared__ unsigned number_of_block, before_of_block;
  const int t = static_cast<int>(threadIdx.x), warp = t / 32, lane = t % 32;
  if (t == 0) number_of_block = atomicAdd(next, 1u);
  __syncthreads();
  const unsigned number = number_of_block;
  const std::int64_t i = std::int64_t{number} * 4096 + t * 4;
  uint4 v = make_uint4(1, 1, 1, 1);
  if (i + 4 <= n)
    v = *reinterpret_cast<const uint4*>(in + i);
  else if (i < n)
    v = make_uint4(in[i], i + 1 < n ? in[i + 1] : 1, i + 2 < n ? in[i + 2] : 1, 1);
  const Part own = then(then(then(then(Part{0, 0}, v.x), v.y), v.z), v.w);
  Part upto = own;
  for (int step = 1; step < 32; step *= 2) {
    const Part left = left_of(upto, step);
    if (lane >= step) upto = then(left, upto);
  }
  if (lane == 31) s[warp] = upto;
  __syncthreads();
  if (t == 0) {
    Part all = {0, 0};
    for (const Part of_warp : s) all = then(all, of_warp);
    const auto publish = [&](Mark mark, unsigned sum) {
      Shared(words[number]).store(mark << 32 | sum, cuda::memory_order_relaxed);
    };
    publish(all.begins != 0 || number == 0 ? of_all : of_tile, all.sum);
    unsigned before = 0;
    for (std::uint64_t seen = number, mark = of_tile; seen > 0 && mark != of_all; --seen) {
      std::uint64_t word = 0;
      while (word == 0) word = Shared(words[seen - 1]).load(cuda::memory_order_relaxed);
      before += static_cast<unsigned>(word), mark = word >> 32;
    }
    if (all.begins == 0 && number > 0) publish(of_all, before + all.sum);
    before_of_block = before;
  }
  __syncthreads();
  Part before = {0, before_of_block};
  for (int w = 0; w < warp; ++w) before = then(before, s[w]);
  const Part left = left_of(upto, 1);
  if (lane > 0) before = then(before, left);
  const Part x = then(before, v.x), y = then(x, v.y), z = then(y, v.z), w = then(z, v.w);
  if (i + 4 <= n)
    *reinterpret_cast<uint4*>(out + i) = make_uint4(x.sum, y.sum, z.sum, w.sum);
  else if (i < n)
    out[i] = x.sum;
  if (i + 4 > n && i + 1 < n) out[i + 1] = y.sum;
  if (i + 4 > n && i + 2 < n) out[i + 2] = z.sum;
}

cudaError_t segmented_scan(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                           unsigned* out, std::int64_t n, cudaStream_t stream) {
  const std::int64_t tiles = (n + 4095) / 4096;
  workspace_bytes = static_cast<std::size_t>(tiles + 1) * sizeof(std::uint64_t);
  if (workspace == nullptr || n == 0) return cudaSuccess;
  if (cudaError_t error = cudaMemsetAsync(workspace, 0, workspace_bytes, stream)) return error;
  scan_each<<<static_cast<unsigned>(tiles), 1024, 0, stream>>>(
      in, out, static_cast<unsigned*>(workspace), static_cast<std::uint64_t*>(workspace) + 1, n);
  return cudaGetLastError();
}
}  // namespace vectors_and_pairs
