// Any operator, with version 10's kernel: the addition becomes op(x, y), the zero becomes the
//   operator's identity. The operator must be associative and commutative: lanes and blocks take
//   turns in the array.
// The index of the smallest element: a value carries its index; of equal values the smaller index
//   wins, which keeps the operator commutative.
// NaN: `b < a ? b : a` would be neither. It drops b beside a NaN, and on the next level the NaN is
//   dropped for something else. fminf and fmaxf skip NaN, wherever it stands.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace generic_study {

constexpr int block_size = 1024;
constexpr int warps = block_size / 32;
constexpr int unroll = 4;
constexpr int tile = unroll * 4 * block_size;

struct Min {
  using Value = float;
  static __device__ Value identity() { return INFINITY; }
  static __device__ Value from(float x, std::int64_t) { return x; }
  static __device__ Value op(Value a, Value b) { return fminf(a, b); }
  static __device__ Value down(Value x, int step) { return __shfl_down_sync(0xffffffffu, x, step); }
  static __device__ float result(Value x) { return x; }
};

struct Max {
  using Value = float;
  static __device__ Value identity() { return -INFINITY; }
  static __device__ Value from(float x, std::int64_t) { return x; }
  static __device__ Value op(Value a, Value b) { return fmaxf(a, b); }
  static __device__ Value down(Value x, int step) { return __shfl_down_sync(0xffffffffu, x, step); }
  static __device__ float result(Value x) { return x; }
};

/// An element and where it stands.
struct alignas(16) Indexed {
  float value;
  std::int64_t index;
};

/// NaN counts as infinity.
struct IndexOfMin {
  using Value = Indexed;
  static __device__ Value identity() { return {INFINITY, INT64_MAX}; }
  static __device__ Value from(float x, std::int64_t i) { return {fminf(x, INFINITY), i}; }
  static __device__ Value op(Value a, Value b) {
    return b.value < a.value || (b.value == a.value && b.index < a.index) ? b : a;
  }
  static __device__ Value down(Value x, int step) {
    return {__shfl_down_sync(0xffffffffu, x.value, step),
            __shfl_down_sync(0xffffffffu, x.index, step)};
  }
  static __device__ std::int64_t result(Value x) { return x.index == INT64_MAX ? 0 : x.index; }
};

template <class Op>
__device__ typename Op::Value warp_reduce(typename Op::Value x) {
  for (int step = 16; step > 0; step /= 2) x = Op::op(x, Op::down(x, step));
  return x;
}

/// Thread 0 gets the result of its block's values; all threads must call.
template <class Op>
__device__ typename Op::Value block_reduce(typename Op::Value x) {
  __shared__ typename Op::Value s[warps];
  const unsigned t = threadIdx.x;
  x = warp_reduce<Op>(x);
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  return t < 32 ? warp_reduce<Op>(t < warps ? s[t] : Op::identity()) : Op::identity();
}

template <class Op>
__device__ typename Op::Value thread_reduce(const float* in, std::int64_t n) {
  const std::int64_t tiles = n / tile;
  typename Op::Value sum = Op::identity();
  for (std::int64_t k = blockIdx.x; k < tiles; k += gridDim.x) {
    const float4* from = reinterpret_cast<const float4*>(in + k * tile) + threadIdx.x;
    float4 v[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u) v[u] = from[u * block_size];
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      const std::int64_t i = k * tile + 4 * (u * block_size + std::int64_t{threadIdx.x});
      sum = Op::op(sum, Op::op(Op::op(Op::from(v[u].x, i), Op::from(v[u].y, i + 1)),
                               Op::op(Op::from(v[u].z, i + 2), Op::from(v[u].w, i + 3))));
    }
  }
  const std::int64_t step = std::int64_t{gridDim.x} * block_size;
  std::int64_t i = tiles * tile + std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  for (; i < n; i += step) sum = Op::op(sum, Op::from(in[i], i));
  return sum;
}

/// out[0] = op over n elements, the identity's result if there are none. finished: 0 before the
/// launch.
template <class Op, class Result>
__global__ void reduce_generic(const float* in, typename Op::Value* partial, unsigned* finished,
                               Result* out, std::int64_t n) {
  __shared__ bool is_last;
  const unsigned t = threadIdx.x;
  typename Op::Value sum = block_reduce<Op>(thread_reduce<Op>(in, n));
  if (t == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    is_last = atomicAdd(finished, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!is_last) return;
  sum = Op::identity();
  for (unsigned b = t; b < gridDim.x; b += block_size) sum = Op::op(sum, partial[b]);
  sum = block_reduce<Op>(sum);
  if (t == 0) *out = Op::result(sum);
}

/// True unless p is a multiple of `bytes`.
inline bool misaligned(const void* p, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % bytes != 0;
}

template <class Op, class Result>
cudaError_t reduce(void* workspace, std::size_t& workspace_bytes, const float* in, Result* out,
                   std::int64_t n, cudaStream_t stream) {
  using Value = typename Op::Value;
  if (n < 0) return cudaErrorInvalidValue;
  int device = 0, sms = 0, per_sm = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device))
    return error;
  if (cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          &per_sm, reduce_generic<Op, Result>, block_size, 0)) {
    return error;
  }
  const std::int64_t resident = std::int64_t{sms} * per_sm;
  constexpr std::size_t count_bytes = 16;  // the counter, and what aligns the values behind it
  const std::size_t needed = count_bytes + static_cast<std::size_t>(resident) * sizeof(Value);
  if (workspace == nullptr) {
    workspace_bytes = needed;
    return cudaSuccess;
  }
  if (workspace_bytes < needed) return cudaErrorInvalidValue;
  if (misaligned(workspace, alignof(Value)) || misaligned(in, 16)) return cudaErrorInvalidValue;
  unsigned* const finished = static_cast<unsigned*>(workspace);
  Value* const partial = reinterpret_cast<Value*>(static_cast<char*>(workspace) + count_bytes);
  if (cudaError_t error = cudaMemsetAsync(finished, 0, sizeof *finished, stream)) return error;
  const std::int64_t blocks =
      std::clamp<std::int64_t>((n + block_size - 1) / block_size, 1, resident);
  reduce_generic<Op>
      <<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(in, partial, finished, out, n);
  return cudaGetLastError();
}

/// out[0] = the smallest of n elements that is a number, infinity if there is none; -0.0 is smaller
/// than 0.0. Device pointers, in and workspace aligned to 16 bytes. With workspace == nullptr: only
/// writes the bytes of scratch memory that it needs. \returns cudaErrorInvalidValue for too little
/// of it or another pointer, for n < 0, or the error of a launch.
cudaError_t minimum(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                    std::int64_t n, cudaStream_t stream) {
  return reduce<Min>(workspace, workspace_bytes, in, out, n, stream);
}

/// The largest, as above; -infinity if there is none.
cudaError_t maximum(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                    std::int64_t n, cudaStream_t stream) {
  return reduce<Max>(workspace, workspace_bytes, in, out, n, stream);
}

/// The index of the smallest, where NaN counts as infinity; of equal ones (-0.0 and 0.0 are equal
/// here) the first; 0 if n is 0. Otherwise as above.
cudaError_t index_of_minimum(void* workspace, std::size_t& workspace_bytes, const float* in,
                             std::int64_t* out, std::int64_t n, cudaStream_t stream) {
  return reduce<IndexOfMin>(workspace, workspace_bytes, in, out, n, stream);
}

}  // namespace generic_study
