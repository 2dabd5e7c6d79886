// Answers to exercise 1 of chapter 07 (floats), and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstdint>

namespace single_thread {
// 1: NOT YET: right, but one after the other
__device__ unsigned rank_of(float key) {
  const unsigned bits = __float_as_uint(key);
  return bits >> 31 != 0 ? ~bits : bits + 0x80000000u;
}
__global__ void insert_all(const float* in, float* out, int n) {
  for (int i = 0; i < n; ++i) {
    const float key = in[i];
    int k = i;
    for (; k > 0 && rank_of(key) < rank_of(out[k - 1]); --k) out[k] = out[k - 1];
    out[k] = key;
  }
}

cudaError_t sort(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  insert_all<<<1, 1, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace single_thread

// The block has 1024 threads, of which one in 32 works.
namespace one_lane_per_warp {
// 1: NOT YET: right, but one after the other
__device__ unsigned rank_of(float key) {
  const unsigned bits = __float_as_uint(key);
  return bits >> 31 != 0 ? ~bits : bits + 0x80000000u;
}
__global__ void place_some(const float* in, float* out, int n) {
  if (threadIdx.x % 32 != 0) return;
  for (int t = static_cast<int>(threadIdx.x) / 32; t < n; t += 32) {
    int before = 0;
    for (int i = 0; i < n; ++i) {
      before += rank_of(in[i]) < rank_of(in[t]) || (rank_of(in[i]) == rank_of(in[t]) && i < t);
    }
    out[before] = in[t];
  }
}

cudaError_t sort(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  place_some<<<1, 1024, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp

namespace block_of_one_thread {
// 1: NOT YET: right, but it moves
__device__ unsigned rank_of(float key) {
  const unsigned bits = __float_as_uint(key);
  return bits >> 31 != 0 ? ~bits : bits + 0x80000000u;
}
__global__ void place_one(const float* in, float* out, int n) {
  const int t = static_cast<int>(blockIdx.x);
  const unsigned mine = rank_of(in[t]);
  int before = 0;
  for (int i = 0; i < n; ++i) {
    const unsigned other = rank_of(in[i]);
    before += other < mine || (other == mine && i < t);
  }
  out[before] = in[t];
}

cudaError_t sort(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (n > 0) place_one<<<static_cast<unsigned>(n), 1, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace block_of_one_thread

namespace host_loop {
// 1: NOT YET: right, but one after the other
__device__ unsigned rank_of(float key) {
  const unsigned bits = __float_as_uint(key);
  return bits >> 31 != 0 ? ~bits : bits + 0x80000000u;
}
__global__ void place(const float* in, float* out, int n, int t) {
  const unsigned mine = rank_of(in[t]);
  int before = 0;
  for (int i = 0; i < n; ++i) {
    const unsigned other = rank_of(in[i]);
    before += other < mine || (other == mine && i < t);
  }
  out[before] = in[t];
}

cudaError_t sort(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  for (int t = 0; t < n; ++t) place<<<1, 1, 0, stream>>>(in, out, static_cast<int>(n), t);
  return cudaGetLastError();
}
}  // namespace host_loop

namespace host_sorts {
// 1: NOT YET: right, but its kernels do not read all of the inputs
float next_to(const float* keys, int n, unsigned* last) {
  int least = -1;
  unsigned best = 0xffffffffu;
  for (int i = 0; i < n; ++i) {
    const auto bits = reinterpret_cast<const unsigned*>(keys)[i];
    const unsigned rank = bits >> 31 != 0 ? ~bits : bits + 0x80000000u;
    if (rank >= *last && rank < best) best = rank, least = i;
  }
  *last = best;
  return keys[least];
}

cudaError_t sort(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  static float keys[1024], sorted[1024];
  const auto bytes = static_cast<std::size_t>(n) * sizeof(float);
  if (cudaError_t e = cudaMemcpyAsync(keys, in, bytes, cudaMemcpyDeviceToHost, stream)) return e;
  if (cudaError_t e = cudaStreamSynchronize(stream)) return e;
  unsigned last = 0;
  for (int i = 0; i < n;) {
    sorted[i] = next_to(keys, static_cast<int>(n), &last);
    int same = 0;
    for (int k = 0; k < n; ++k) {
      same += reinterpret_cast<unsigned*>(keys)[k] == reinterpret_cast<unsigned*>(sorted)[i];
    }
    for (int k = 1; k < same; ++k) sorted[i + k] = sorted[i];
    i += same;
    ++last;
  }
  if (cudaError_t e = cudaMemcpyAsync(out, sorted, bytes, cudaMemcpyHostToDevice, stream)) return e;
  return cudaStreamSynchronize(stream);
}
}  // namespace host_sorts

// `<` of floats: -0.0 and 0.0 stay in their input order.
namespace compares_floats {
// 1: NOT YET: wrong at n=
__global__ void place(const float* in, float* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  if (t >= n) return;
  int before = 0;
  for (int i = 0; i < n; ++i) before += in[i] < in[t] || (in[i] == in[t] && i < t);
  out[before] = in[t];
}

cudaError_t sort(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  place<<<1, 1024, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace compares_floats

// The bits as signed integers: negative floats come first, but in reverse order.
namespace compares_ints {
// 1: NOT YET: wrong at n=
__global__ void place(const float* in, float* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  if (t >= n) return;
  const int mine = __float_as_int(in[t]);
  int before = 0;
  for (int i = 0; i < n; ++i) {
    const int other = __float_as_int(in[i]);
    before += other < mine || (other == mine && i < t);
  }
  out[before] = in[t];
}

cudaError_t sort(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  place<<<1, 1024, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace compares_ints

// Signed integers with the lower 31 bits of negative floats flipped; eight blocks.
namespace signed_order {
// 1: PASSED
__device__ int order_of(float key) {
  const int bits = __float_as_int(key);
  return bits ^ (bits >> 31 & 0x7fffffff);
}
__global__ void place(const float* in, float* out, int n) {
  const int t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (t >= n) return;
  const float key = in[t];
  int before = 0;
  for (int i = 0; i < t; ++i) before += order_of(in[i]) <= order_of(key);
  for (int i = t + 1; i < n; ++i) before += order_of(in[i]) < order_of(key);
  out[before] = key;
}

cudaError_t sort(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  place<<<8, 128, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace signed_order

// The integers are sorted by a network in shared memory and converted back to floats.
namespace network_of_integers {
// 1: PASSED
__global__ void sort_block(const float* in, float* out, int n) {
  __shared__ unsigned s[1024];
  const unsigned t = threadIdx.x;
  const unsigned bits = static_cast<int>(t) < n ? __float_as_uint(in[t]) : 0x7fffffffu;
  s[t] = bits ^ (bits >> 31 != 0 ? 0xffffffffu : 0x80000000u);
  for (unsigned run = 2; run <= 1024; run *= 2) {
    for (unsigned step = run / 2; step > 0; step /= 2) {
      __syncthreads();
      const unsigned other = t ^ step;
      if (other < t) continue;
      const unsigned a = s[t], b = s[other];
      if ((b < a) == ((t & run) == 0)) s[t] = b, s[other] = a;
    }
  }
  __syncthreads();
  const unsigned key = s[t];
  if (static_cast<int>(t) < n) out[t] = __uint_as_float(key >> 31 != 0 ? key ^ 0x80000000u : ~key);
}

cudaError_t sort(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  sort_block<<<1, 1024, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace network_of_integers

// All keys in shared memory as integers; each of four blocks places 256 of them.
namespace keys_in_shared_memory {
// 1: PASSED
__global__ void place(const float* in, float* out, int n) {
  __shared__ unsigned s[1024];
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) {
    const unsigned bits = __float_as_uint(in[i]);
    s[i] = bits >= 0x80000000u ? 0xffffffffu - bits : 0x80000000u + bits;
  }
  __syncthreads();
  const int t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (t >= n) return;
  int before = 0;
  for (int i = 0; i < n; ++i) before += s[i] < s[t] || (s[i] == s[t] && i < t);
  out[before] = in[t];
}

cudaError_t sort(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  place<<<4, 256, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace keys_in_shared_memory

namespace warp_per_key {
// 1: PASSED
__device__ unsigned order_of(float key) {
  const int bits = __float_as_int(key);
  return static_cast<unsigned>(bits) ^ (static_cast<unsigned>(bits >> 31) | 0x80000000u);
}
__global__ void place(const float* in, float* out, int n) {
  const int t = static_cast<int>(blockIdx.x * 8 + threadIdx.x / 32);
  if (t >= n) return;
  const unsigned mine = order_of(in[t]);
  unsigned before = 0;
  for (int i = static_cast<int>(threadIdx.x % 32); i < n; i += 32) {
    const unsigned other = order_of(in[i]);
    before += other < mine || (other == mine && i < t) ? 1 : 0;
  }
  before = __reduce_add_sync(0xffffffffu, before);
  if (threadIdx.x % 32 == 0) out[before] = in[t];
}

cudaError_t sort(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  place<<<128, 256, 0, stream>>>(in, out, static_cast<int>(n));
  return cudaGetLastError();
}
}  // namespace warp_per_key
