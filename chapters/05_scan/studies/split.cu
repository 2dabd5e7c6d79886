// A use of the scan: the even numbers first, then the odd ones, both in their order. A radix sort
// does this for one bit after the other. In the way of version 08: the first pass counts, and what
// comes before each tile is known before the second pass puts everything in its place.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace split_study {

constexpr int block_size = 512;
constexpr int rows = 8;                      // of 32 vectors that a warp takes, one after the other
constexpr int tile = block_size * rows * 4;  // elements

__device__ bool is_even(unsigned x) { return x % 2 == 0; }

template <class T>
__device__ T warp_scan(T x) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int step = 1; step < 32; step *= 2) {
    const T left = __shfl_up_sync(0xffffffffu, x, step);
    if (lane >= step) x += left;
  }
  return x;
}

/// Thread t gets the sum of x of threads 0 to t; all threads of a block of `threads` must call.
template <int threads, class T>
__device__ T block_scan(T x) {
  __shared__ T s[32];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  x = warp_scan(x);
  __syncthreads();  // nobody reads s any more
  if (lane == 31) s[warp] = x;
  __syncthreads();
  if (warp == 0) s[lane] = warp_scan(lane < threads / 32 ? s[lane] : T{0});
  __syncthreads();
  return warp > 0 ? s[warp - 1] + x : x;
}

/// The first element of this thread; row r is 128 r further on.
__device__ std::int64_t first_element() {
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  return std::int64_t{blockIdx.x} * tile + warp * (rows * 128) + lane * 4;
}

/// The vector at element i; what lies behind the end is odd.
__device__ uint4 load(const unsigned* in, std::int64_t i, std::int64_t n) {
  if (i + 4 <= n) return __ldcs(reinterpret_cast<const uint4*>(in + i));
  return make_uint4(i < n ? in[i] : 1, i + 1 < n ? in[i + 1] : 1, i + 2 < n ? in[i + 2] : 1, 1);
}

/// evens[b] = how many even numbers tile b has.
__global__ void __launch_bounds__(block_size)
    count_tiles(const unsigned* in, std::int64_t* evens, std::int64_t n) {
  const std::int64_t first = first_element();
  uint4 v[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r) v[r] = load(in, first + r * 128, n);
  unsigned count = 0;
#pragma unroll
  for (int r = 0; r < rows; ++r)
    count += is_even(v[r].x) + is_even(v[r].y) + is_even(v[r].z) + is_even(v[r].w);
  count = block_scan<block_size>(count);
  if (threadIdx.x == block_size - 1) evens[blockIdx.x] = count;
}

/// evens[b] = how many even numbers come before tile b; evens[tiles] = how many there are. One
/// block.
__global__ void __launch_bounds__(1024) scan_counts(std::int64_t* evens, int tiles) {
  __shared__ std::int64_t carry_of_block;
  if (threadIdx.x == 0) carry_of_block = 0;
  for (int first = 0; first < tiles; first += 1024) {
    const int b = first + static_cast<int>(threadIdx.x);
    const std::int64_t x = b < tiles ? evens[b] : 0;
    const std::int64_t upto = block_scan<1024>(x);
    const std::int64_t carry = carry_of_block;
    if (b < tiles) evens[b] = carry + upto - x;
    __syncthreads();  // all have read the carry
    if (threadIdx.x == 1023) carry_of_block = carry + upto;
    __syncthreads();
  }
  if (threadIdx.x == 0) evens[tiles] = carry_of_block;
}

/// Puts each tile together in shared memory, even numbers first, and stores both parts.
__global__ void __launch_bounds__(block_size, 2)
    split_tiles(const unsigned* in, const std::int64_t* evens, unsigned* out, std::int64_t n,
                int tiles) {
  extern __shared__ unsigned sorted[];
  const std::int64_t first = first_element();
  uint4 v[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r) v[r] = load(in, first + r * 128, n);
  const std::int64_t before = evens[blockIdx.x], all = evens[tiles];
  const int even_here = static_cast<int>(evens[blockIdx.x + 1] - before);

  // Even numbers before this lane's, row by row; the counts of four rows share a word, see pack.
  unsigned place[rows], carry = 0;
#pragma unroll
  for (int r = 0; r < rows; r += 4) {
    unsigned counts = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const uint4 x = v[r + k];
      const unsigned count = is_even(x.x) + is_even(x.y) + is_even(x.z) + is_even(x.w);
      counts |= count << (8 * k);
    }
    const unsigned upto = warp_scan(counts), in_rows = __shfl_sync(0xffffffffu, upto, 31);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      place[r + k] = carry + ((upto - counts) >> (8 * k) & 0xffu);
      carry += in_rows >> (8 * k) & 0xffu;
    }
  }
  // The even numbers of the warps before: the block's scan of what each warp has, at its lane 31.
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const unsigned upto = block_scan<block_size>(lane == 31 ? carry : 0);
  const unsigned start = __shfl_sync(0xffffffffu, upto, 31) - carry;
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    unsigned even = start + place[r];
    const unsigned index = static_cast<unsigned>(warp * (rows * 128) + r * 128 + lane * 4);
    unsigned odd = static_cast<unsigned>(even_here) + index - even;
    sorted[is_even(v[r].x) ? even++ : odd++] = v[r].x;
    sorted[is_even(v[r].y) ? even++ : odd++] = v[r].y;
    sorted[is_even(v[r].z) ? even++ : odd++] = v[r].z;
    sorted[is_even(v[r].w) ? even++ : odd++] = v[r].w;
  }
  __syncthreads();
  const std::int64_t start_of_tile = std::int64_t{blockIdx.x} * tile;
  const int count = static_cast<int>(n - start_of_tile < tile ? n - start_of_tile : tile);
  unsigned* const to_even = out + before;
  unsigned* const to_odd = out + all + (start_of_tile - before) - even_here;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += block_size)
    __stcs((i < even_here ? to_even : to_odd) + i, sorted[i]);
}

/// True unless p is a multiple of `bytes`.
inline bool misaligned(const void* p, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % bytes != 0;
}

/// out = the even numbers of in, then the odd ones, both in their order. Device pointers, in
/// aligned to 16 bytes; out may not overlap in. With workspace == nullptr: only writes the bytes of
/// scratch memory that it needs. \returns cudaErrorInvalidValue for too little of it, for a
/// misaligned pointer, for n < 0 or 2^31 tiles or more; or the error of a launch.
cudaError_t split(void* workspace, std::size_t& workspace_bytes, const unsigned* in, unsigned* out,
                  std::int64_t n, cudaStream_t stream) {
  if (n < 0 || (n + tile - 1) / tile > INT32_MAX) return cudaErrorInvalidValue;
  const int tiles = static_cast<int>((n + tile - 1) / tile);
  const std::size_t needed = (static_cast<std::size_t>(tiles) + 1) * sizeof(std::int64_t);
  if (workspace == nullptr) {
    workspace_bytes = needed;
    return cudaSuccess;
  }
  if (workspace_bytes < needed) return cudaErrorInvalidValue;
  if (misaligned(workspace, alignof(std::int64_t)) || misaligned(in, 16)) {
    return cudaErrorInvalidValue;
  }
  if (n == 0) return cudaSuccess;
  constexpr int shared_bytes = tile * static_cast<int>(sizeof(unsigned));
  if (cudaError_t error = cudaFuncSetAttribute(
          split_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes))
    return error;
  std::int64_t* const evens = static_cast<std::int64_t*>(workspace);
  const auto blocks = static_cast<unsigned>(tiles);
  count_tiles<<<blocks, block_size, 0, stream>>>(in, evens, n);
  if (cudaError_t error = cudaGetLastError()) return error;
  scan_counts<<<1, 1024, 0, stream>>>(evens, tiles);
  if (cudaError_t error = cudaGetLastError()) return error;
  split_tiles<<<blocks, block_size, shared_bytes, stream>>>(in, evens, out, n, tiles);
  return cudaGetLastError();
}

}  // namespace split_study
