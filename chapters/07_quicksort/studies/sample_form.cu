// For comparison: a quicksort in the form of the CUDA samples' advanced one. A warp parts 32 keys
//   and reserves their places with an atomic addition for each side; the block that is done last
//   launches a kernel for each part, in a stream of its own; segments of up to 1024 keys are sorted
//   by a bitonic network. Up to 16 levels.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "../keys.cuh"

namespace sample_form {

using keys::key_of;
using keys::Ordered;
using keys::ordered;

constexpr int block_size = 512;
constexpr int small = 2 * block_size;  // keys that a block sorts
constexpr int most_levels = 16;
constexpr unsigned all_lanes = 0xffffffffu;

/// A segment that is being parted.
struct State {
  unsigned lefts, rights;  // places that are reserved at its ends
  unsigned blocks;         // that are done
};

/// State is allocated by counting: each segment of more than `small` keys gets one for each time it
/// is parted.
template <class T>
struct Arrays {
  State* states;
  unsigned* used;  // states
  unsigned most;
};

/// Sorts keys[0 .. n) into to, whatever n is: a bitonic network, in global memory if n is too large
/// for shared memory. All threads of a block must call.
template <class T>
__device__ void sort_with_block(const T* keys, T* to, std::int64_t n) {
  using U = Ordered<T>;
  __shared__ U s[small];
  const bool fits = n <= small;
  std::int64_t size = 2;
  while (size < n) size *= 2;
  for (std::int64_t i = threadIdx.x; i < (fits ? size : n); i += block_size) {
    if (fits)
      s[i] = i < n ? ordered(keys[i]) : ~U{0};
    else if (to != keys)
      to[i] = keys[i];
  }
  __syncthreads();
  for (std::int64_t run = 2; run <= size; run *= 2) {
    for (std::int64_t step = run / 2; step > 0; step /= 2) {
      for (std::int64_t i = threadIdx.x; i < size / 2; i += block_size) {
        const std::int64_t a = i / step * 2 * step + i % step;
        const std::int64_t b = step == run / 2 ? a ^ (run - 1) : a + step;
        if (fits && s[b] < s[a]) {
          const U key = s[a];
          s[a] = s[b], s[b] = key;
        } else if (!fits && b < n && ordered(to[b]) < ordered(to[a])) {
          const T key = to[a];
          to[a] = to[b], to[b] = key;
        }
      }
      __syncthreads();
    }
  }
  for (std::int64_t i = threadIdx.x; fits && i < n; i += block_size) to[i] = key_of<T>(s[i]);
  __syncthreads();
}

template <class T>
__global__ void __launch_bounds__(block_size) sort_bitonic(const T* keys, T* to, std::int64_t n) {
  sort_with_block(keys, to, n);
}

inline __host__ __device__ unsigned blocks_for(std::int64_t n) {
  return static_cast<unsigned>((n + block_size - 1) / block_size);
}

/// Parts keys[0 .. n) into other: those below the key in the middle to its front, the rest to its
/// end. The block that is done last launches what sorts both parts into `final`. Launch: a thread
/// of block_size for each key; *state is 0.
template <class T>
__global__ void __launch_bounds__(block_size)
    part(Arrays<T> arrays, T* keys, T* other, T* final, std::int64_t n, State* state, int level) {
  __shared__ bool is_last;
  __shared__ bool refused[2];
  const std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  const unsigned lane = threadIdx.x % 32, lanes_before = (1u << lane) - 1;
  const Ordered<T> pivot = ordered(keys[n / 2]);
  const T key = i < n ? keys[i] : T{};
  const unsigned lefts = __ballot_sync(all_lanes, i < n && ordered(key) < pivot);
  const unsigned rights = __ballot_sync(all_lanes, i < n && ordered(key) >= pivot);
  std::int64_t left = 0, right = 0;
  if (lane == 0) {
    left = atomicAdd(&state->lefts, static_cast<unsigned>(__popc(lefts)));
    right = atomicAdd(&state->rights, static_cast<unsigned>(__popc(rights)));
  }
  left = __shfl_sync(all_lanes, left, 0);
  right = __shfl_sync(all_lanes, right, 0);
  if ((lefts >> lane & 1) != 0) other[left + __popc(lefts & lanes_before)] = key;
  if ((rights >> lane & 1) != 0) other[n - 1 - right - __popc(rights & lanes_before)] = key;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    is_last = atomicAdd(&state->blocks, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!is_last) return;
  const std::int64_t below = atomicAdd(&state->lefts, 0u);
  T* const parts[2] = {other, other + below};
  T* const spaces[2] = {keys, keys + below};
  T* const finals[2] = {final, final + below};
  const std::int64_t counts[2] = {below, n - below};
  for (int k = 0; k < 2; ++k) {
    if (threadIdx.x == 0) {
      State* next = nullptr;
      if (counts[k] > small && level + 1 < most_levels) {
        const unsigned mine = atomicAdd(arrays.used, 1u);
        if (mine < arrays.most) next = arrays.states + mine;
      }
      cudaStream_t stream;
      cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
      if (next != nullptr) {
        part<<<blocks_for(counts[k]), block_size, 0, stream>>>(
            arrays, parts[k], spaces[k], finals[k], counts[k], next, level + 1);
      } else if (counts[k] > 0) {
        sort_bitonic<<<1, block_size, 0, stream>>>(parts[k], finals[k], counts[k]);
      }
      refused[k] = cudaGetLastError() != cudaSuccess;
      cudaStreamDestroy(stream);
    }
    __syncthreads();
    if (refused[k]) sort_with_block(parts[k], finals[k], counts[k]);  // too many launches wait
  }
}

/// Nothing. A graph is said to be over as soon as its last kernel is, even if kernels that this one
/// launched still run (seen on an H200 with CUDA 13.0): so the last one must launch none.
__global__ void after_all() {}

/// True unless p is a multiple of `bytes`.
inline bool misaligned(const void* p, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % bytes != 0;
}

/// out = the n keys of in, in ascending order. Device pointers, which must not overlap. With
/// workspace == nullptr: only writes the bytes of scratch memory that it needs. \returns
/// cudaErrorInvalidValue for too little of it or a misaligned pointer, for n < 0 or n >= 2^31, or
/// the error of a copy or launch.
cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const unsigned* in, unsigned* out,
                 std::int64_t n, cudaStream_t stream) {
  if (n < 0 || n > INT32_MAX) return cudaErrorInvalidValue;
  const auto most = static_cast<unsigned>(most_levels * (n / small + 1));  // of a level n / small
  const std::size_t states = most * sizeof(State);
  const std::size_t needed = sizeof(unsigned) + states + static_cast<std::size_t>(n) * sizeof *in;
  if (workspace == nullptr) {
    workspace_bytes = needed;
    return cudaSuccess;
  }
  if (workspace_bytes < needed) return cudaErrorInvalidValue;
  if (misaligned(workspace, 4) || misaligned(in, 4) || misaligned(out, 4))
    return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  auto* const used = static_cast<unsigned*>(workspace);
  auto* const first = reinterpret_cast<State*>(used + 1);
  auto* const scratch = reinterpret_cast<unsigned*>(first + most);
  if (cudaError_t error = cudaMemsetAsync(workspace, 0, sizeof(unsigned) + states, stream))
    return error;
  const auto bytes = static_cast<std::size_t>(n) * sizeof *in;
  if (cudaError_t error = cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, stream))
    return error;
  if (n <= small) {
    sort_bitonic<<<1, block_size, 0, stream>>>(out, out, n);
    return cudaGetLastError();
  }
  const Arrays<unsigned> arrays{first + 1, used, most - 1};
  part<<<blocks_for(n), block_size, 0, stream>>>(arrays, out, scratch, out, n, first, 0);
  after_all<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}

}  // namespace sample_form
