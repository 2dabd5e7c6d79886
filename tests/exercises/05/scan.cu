// Answers to the exercises of chapter 05, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstdint>

namespace one_thread {
// 2 3: NOT YET: right, but one after the other
__global__ void scan_all(const unsigned* in, unsigned* out, int n) {
  unsigned sum = 0;
  for (int i = 0; i < n; ++i) out[i] = sum += in[i];
}

cudaError_t scan(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  scan_all<<<1, 1, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace one_thread

namespace one_thread_sums_before {
// 1: NOT YET: right, but one after the other
__global__ void scan_all(const unsigned* in, unsigned* out, int n) {
  unsigned sum = 0;
  for (int i = 0; i < n; ++i) {
    out[i] = sum;
    sum += in[i];
  }
}

cudaError_t scan(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  scan_all<<<1, 1, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace one_thread_sums_before

// In shared memory, while 1023 threads are idle.
namespace one_thread_in_shared_memory {
// 2 3: NOT YET: right, but one after the other
__global__ void scan_all(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned s[1024];
  const int t = static_cast<int>(threadIdx.x);
  if (t < n) s[t] = in[t];
  __syncthreads();
  for (int i = 1; t == 0 && i < n; ++i) s[i] += s[i - 1];
  __syncthreads();
  if (t < n) out[t] = s[t];
}

cudaError_t scan(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  scan_all<<<1, 1024, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace one_thread_in_shared_memory

// Lane 0 of each warp adds up 32 elements, then adds the sums of the warps before it.
namespace one_lane_per_warp {
// 2: NOT YET: right, but one after the other
// 3: NOT YET: right, but it moves
__global__ void scan_parts(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned sums[32];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const bool works = threadIdx.x % 32 == 0;
  unsigned sum = 0;
  for (int i = warp * 32; works && i < min(n, warp * 32 + 32); ++i) sum += in[i];
  if (works) sums[warp] = sum;
  __syncthreads();
  sum = 0;
  for (int w = 0; works && w < warp; ++w) sum += sums[w];
  for (int i = warp * 32; works && i < min(n, warp * 32 + 32); ++i) out[i] = sum += in[i];
}

cudaError_t scan(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  scan_parts<<<1, 1024, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp

namespace one_lane_scans_its_warp {
// 2: NOT YET: right, but one after the other
// 3: NOT YET: right, but shared memory takes
__global__ void scan_parts(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned s[1024];
  const int t = static_cast<int>(threadIdx.x), lane = t % 32;
  s[t] = t < n ? in[t] : 0;
  __syncwarp();
  for (int i = 1; lane == 0 && i < 32; ++i) s[t + i] += s[t + i - 1];
  __syncthreads();
  unsigned sum = s[t];
  for (int w = 0; w < t / 32; ++w) sum += s[w * 32 + 31];
  if (t < n) out[t] = sum;
}

cudaError_t scan(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  scan_parts<<<1, 1024, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace one_lane_scans_its_warp

namespace each_adds_all_before {
// 1: NOT YET: right, but one after the other
__global__ void add_before(const unsigned* in, unsigned* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  unsigned sum = 0;
  for (int i = 0; i < t && t < n; ++i) sum += in[i];
  if (t < n) out[t] = sum;
}

cudaError_t scan(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  add_before<<<1, 1024, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace each_adds_all_before

namespace each_adds_all {
// 2 3: NOT YET: right, but one after the other
__global__ void add_upto(const unsigned* in, unsigned* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  unsigned sum = 0;
  for (int i = 0; i <= t && t < n; ++i) sum += in[i];
  if (t < n) out[t] = sum;
}

cudaError_t scan(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  add_upto<<<1, 1024, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace each_adds_all

namespace host_loop {
// 2 3: NOT YET: right, but one after the other
__global__ void add_one(const unsigned* in, unsigned* out, int i) {
  out[i] = i > 0 ? out[i - 1] + in[i] : in[i];
}

cudaError_t scan(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  for (int i = 0; i < n; ++i) add_one<<<1, 1, 0, stream>>>(in, out, i);
  return cudaGetLastError();
}
}  // namespace host_loop

namespace host_computes {
// 1: NOT YET: n=2: right, but not by the rules: the host, reads
__global__ void nothing(unsigned* out, int n) {
  if (static_cast<int>(threadIdx.x) < n) out[threadIdx.x] = 0;
}

cudaError_t scan(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  nothing<<<1, 1024, 0, stream>>>(out, static_cast<int>(n));
  cudaStreamSynchronize(stream);
  for (std::int64_t i = 1; i < n; ++i) out[i] = out[i - 1] + in[i - 1];
  return cudaGetLastError();
}
}  // namespace host_computes

// One launch for each step, which passes its results on in global memory.
namespace host_doubles {
// 2 3: NOT YET: right, but it moves
__global__ void copy(const unsigned* in, unsigned* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  if (t < n) out[t] = in[t];
}
__global__ void add_left(unsigned* out, int n, int step) {
  const int t = static_cast<int>(threadIdx.x);
  const unsigned left = t >= step && t < n ? out[t - step] : 0;
  __syncthreads();
  if (t < n) out[t] += left;
}

cudaError_t scan(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  copy<<<1, 1024, 0, stream>>>(in, out, static_cast<int>(n));
  for (int step = 1; step < n; step *= 2)
    add_left<<<1, 1024, 0, stream>>>(out, static_cast<int>(n), step);
  return cudaGetLastError();
}
}  // namespace host_doubles

// Each lane of a warp reads its segment of the input again.
namespace each_adds_its_warp {
// 2 3: NOT YET: right, but it moves
__global__ void add_parts(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned s[32];
  const int t = static_cast<int>(threadIdx.x), lane = t % 32;
  unsigned sum = 0;
  for (int i = t - lane; i <= t && i < n; ++i) sum += in[i];
  if (lane == 31) s[t / 32] = sum;
  __syncthreads();
  unsigned before = lane < t / 32 ? s[lane] : 0;
  for (int step = 16; step > 0; step /= 2) before += __shfl_xor_sync(0xffffffffu, before, step);
  if (t < n) out[t] = before + sum;
}

cudaError_t scan(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  add_parts<<<1, 1024, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace each_adds_its_warp

// Right for exercise 3. Exercise 2 has a warp scan without barriers.
namespace steps_of_the_block {
// 2: NOT YET: right, but 21 barriers per block, 2 would do
// 3: PASSED
__global__ void scan_block(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned s[1024];
  const int t = static_cast<int>(threadIdx.x);
  unsigned x = t < n ? in[t] : 0;
  s[t] = x;
  __syncthreads();
  for (int step = 1; step < 1024; step *= 2) {
    if (t >= step) x += s[t - step];
    __syncthreads();
    s[t] = x;
    __syncthreads();
  }
  if (t < n) out[t] = x;
}

cudaError_t scan(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  scan_block<<<1, 1024, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace steps_of_the_block

// A warp's steps through shared memory, without shuffles.
namespace steps_in_shared_memory {
// 2: NOT YET: right, but shared memory takes
// 3: PASSED
__device__ unsigned warp_scan(unsigned x, unsigned* s) {
  const int t = static_cast<int>(threadIdx.x), lane = t % 32;
  for (int step = 1; step < 32; step *= 2) {
    s[t] = x;
    __syncwarp();
    if (lane >= step) x += s[t - step];
    __syncwarp();
  }
  return x;
}
__global__ void scan_block(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned s[1024], sums[32];
  const int t = static_cast<int>(threadIdx.x), warp = t / 32;
  const unsigned upto = warp_scan(t < n ? in[t] : 0, s);
  if (t % 32 == 31) sums[warp] = upto;
  __syncthreads();
  if (warp == 0) sums[t] = warp_scan(sums[t], s);
  __syncthreads();
  if (t < n) out[t] = warp > 0 ? sums[warp - 1] + upto : upto;
}

cudaError_t scan(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  scan_block<<<1, 1024, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace steps_in_shared_memory

// The hint's first idea, which is not enough.
namespace barrier_between {
// 3: NOT YET: n=2: right, but not by the rules: scan_block, shared memory
__global__ void scan_block(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned s[1024];
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < 1024; i += 256) s[i] = i < n ? in[i] : 0;
  __syncthreads();
  for (int step = 1; step < 1024; step *= 2) {
    for (int i = t; i < 1024; i += 256) {
      const unsigned left = i >= step ? s[i - step] : 0;
      __syncthreads();
      s[i] += left;
    }
    __syncthreads();
  }
  for (int i = t; i < n; i += 256) out[i] = s[i];
}

cudaError_t scan(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  scan_block<<<1, 256, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace barrier_between

// From the right, so that a thread has read s[i - step] before it writes there; other threads have
// not.
namespace from_the_right {
// 3: NOT YET: n=2: right, but not by the rules: scan_block, shared memory
__global__ void scan_block(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned s[1024];
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < 1024; i += 256) s[i] = i < n ? in[i] : 0;
  __syncthreads();
  for (int step = 1; step < 1024; step *= 2) {
    for (int i = t + 768; i >= step; i -= 256) s[i] += s[i - step];
    __syncthreads();
  }
  for (int i = t; i < n; i += 256) out[i] = s[i];
}

cudaError_t scan(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  scan_block<<<1, 256, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace from_the_right

// No race, but a thread may read a sum from before the step or from after it.
namespace atomics_for_barriers {
// 3: NOT YET: wrong at n=
__global__ void scan_block(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned s[1024];
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < 1024; i += 256) s[i] = i < n ? in[i] : 0;
  __syncthreads();
  for (int step = 1; step < 1024; step *= 2) {
    for (int i = t; i < 1024; i += 256)
      if (i >= step) atomicAdd(&s[i], atomicAdd(&s[i - step], 0u));
    __syncthreads();
  }
  for (int i = t; i < n; i += 256) out[i] = s[i];
}

cudaError_t scan(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  scan_block<<<1, 256, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace atomics_for_barriers

namespace read_again {
// 1: PASSED
__device__ unsigned warp_scan(unsigned x) {
  for (int step = 1; step < 32; step *= 2) {
    const unsigned left = __shfl_up_sync(0xffffffffu, x, step);
    x += static_cast<int>(threadIdx.x) % 32 >= step ? left : 0;
  }
  return x;
}
__global__ void scan_block(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned sums[32];
  const int t = static_cast<int>(threadIdx.x), warp = t / 32;
  const unsigned upto = warp_scan(t < n ? in[t] : 0);
  if (t % 32 == 31) sums[warp] = upto;
  __syncthreads();
  const unsigned warps_upto = warp_scan(sums[t % 32]);
  const unsigned before = warp > 0 ? __shfl_sync(0xffffffffu, warps_upto, warp - 1) : 0;
  if (t < n) out[t] = before + upto - in[t];
}

cudaError_t scan(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  scan_block<<<1, 1024, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace read_again

namespace shifted_loads {
// 1: PASSED
__global__ void scan_block(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned s[1024];
  const int t = static_cast<int>(threadIdx.x);
  unsigned x = t > 0 && t < n ? in[t - 1] : 0;
  for (int step = 1; step < 1024; step *= 2) {
    s[t] = x;
    __syncthreads();
    x += t >= step ? s[t - step] : 0;
    __syncthreads();
  }
  if (t < n) out[t] = x;
}

cudaError_t scan(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  scan_block<<<1, 1024, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace shifted_loads

namespace shifted_stores {
// 1: PASSED
__global__ void scan_block(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned s[2][1024];
  const int t = static_cast<int>(threadIdx.x);
  s[0][t] = t < n ? in[t] : 0;
  __syncthreads();
  for (int step = 1, from = 0; step < 1024; step *= 2, from ^= 1) {
    s[from ^ 1][t] = s[from][t] + (t >= step ? s[from][t - step] : 0);
    __syncthreads();
  }
  if (t + 1 < n) out[t + 1] = s[0][t];
  if (t == 0 && n > 0) out[0] = 0;
}

cudaError_t scan(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  scan_block<<<1, 1024, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace shifted_stores

// Halves of 2, 4, 8, ... lanes: the right half adds the last sum of the left one.
namespace halves {
// 2 3: PASSED
__device__ unsigned warp_scan(unsigned x) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned half = 1; half < 32; half *= 2) {
    const unsigned last =
        __shfl_sync(0xffffffffu, x, static_cast<int>((lane & ~half) | (half - 1)));
    if ((lane & half) != 0) x += last;
  }
  return x;
}
__global__ void scan_block(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned s[32];
  const int t = static_cast<int>(threadIdx.x), warp = t / 32;
  const unsigned upto = warp_scan(t < n ? in[t] : 0);
  if (t % 32 == 31) s[warp] = upto;
  __syncthreads();
  if (warp == 0) s[t] = warp_scan(s[t]);
  __syncthreads();
  if (t < n) out[t] = warp > 0 ? s[warp - 1] + upto : upto;
}

cudaError_t scan(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  scan_block<<<1, 1024, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace halves

namespace four_rows_per_warp {
// 2 3: PASSED
__global__ void scan_block(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned s[8];
  const int t = static_cast<int>(threadIdx.x), warp = t / 32, lane = t % 32;
  const int first = warp * 128 + lane;
  unsigned x[4], carry = 0;
  for (int r = 0; r < 4; ++r) {
    x[r] = first + r * 32 < n ? in[first + r * 32] : 0;
    for (int step = 1; step < 32; step *= 2) {
      const unsigned left = __shfl_up_sync(0xffffffffu, x[r], step);
      if (lane >= step) x[r] += left;
    }
    x[r] += carry;
    carry = __shfl_sync(0xffffffffu, x[r], 31);
  }
  if (lane == 0) s[warp] = carry;
  __syncthreads();
  unsigned before = 0;
  for (int w = 0; w < warp; ++w) before += s[w];
  for (int r = 0; r < 4; ++r)
    if (first + r * 32 < n) out[first + r * 32] = before + x[r];
}

cudaError_t scan(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  scan_block<<<1, 256, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace four_rows_per_warp

namespace four_registers {
// 3: PASSED
__global__ void scan_block(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned s[1024];
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < 1024; i += 256) s[i] = i < n ? in[i] : 0;
  __syncthreads();
  for (int step = 1; step < 1024; step *= 2) {
    unsigned left[4];
    for (int r = 0; r < 4; ++r) left[r] = t + r * 256 >= step ? s[t + r * 256 - step] : 0;
    __syncthreads();
    for (int r = 0; r < 4; ++r) s[t + r * 256] += left[r];
    __syncthreads();
  }
  for (int i = t; i < n; i += 256) out[i] = s[i];
}

cudaError_t scan(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  scan_block<<<1, 256, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace four_registers

// Four neighbours per thread, and the doubling steps only over the threads' sums.
namespace four_neighbours {
// 3: PASSED
__global__ void scan_block(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned s[2][256];
  __shared__ uint4 v[256];
  unsigned* const words = reinterpret_cast<unsigned*>(v);
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < 1024; i += 256) words[i] = i < n ? in[i] : 0;
  __syncthreads();
  uint4 x = v[t];
  x.y += x.x, x.z += x.y, x.w += x.z;
  s[0][t] = x.w;
  __syncthreads();
  for (int step = 1, from = 0; step < 256; step *= 2, from ^= 1) {
    s[from ^ 1][t] = s[from][t] + (t >= step ? s[from][t - step] : 0);
    __syncthreads();
  }
  const unsigned before = s[0][t] - x.w;
  v[t] = make_uint4(before + x.x, before + x.y, before + x.z, before + x.w);
  __syncthreads();
  for (int i = t; i < n; i += 256) out[i] = words[i];
}

cudaError_t scan(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  scan_block<<<1, 256, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace four_neighbours

// Every warp scans the sums of all warps: one barrier.
namespace one_barrier {
// 2 3: PASSED
__device__ unsigned warp_scan(unsigned x) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int step = 1; step < 32; step *= 2) {
    const unsigned left = __shfl_sync(0xffffffffu, x, lane - step);
    x += lane < step ? 0 : left;
  }
  return x;
}
__global__ void scan_block(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned s[32];
  const int t = static_cast<int>(threadIdx.x), warp = t / 32;
  const unsigned upto = warp_scan(t < n ? in[t] : 0);
  if (t % 32 == 31) s[warp] = upto;
  __syncthreads();
  const unsigned sums = warp_scan(s[t % 32]);
  const unsigned before = __shfl_sync(0xffffffffu, sums, warp - 1);
  if (t < n) out[t] = warp > 0 ? before + upto : upto;
}

cudaError_t scan(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  scan_block<<<1, 1024, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace one_barrier
