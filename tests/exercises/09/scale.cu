// Answers to the exercises of chapter 09, and the verdicts that the CPU backend must give.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

namespace one_thread {
// 1 3: NOT YET: right, but one after the other
__global__ void double_all(const float* in, float* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = 2 * in[i];
}

cudaError_t scale(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (n > 0) double_all<<<1, 1, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_thread

// The TMA delivers the tile, and the thread that issued its copy does all the rest.
namespace one_thread_per_block {
// 1 3: NOT YET: right, but one after the other
namespace ptx = cuda::ptx;

__global__ void double_tile(const float* in, float* out, std::int64_t n) {
  __shared__ alignas(128) float s[1024];
  __shared__ std::uint64_t there;
  if (threadIdx.x != 0) return;
  const std::int64_t first = std::int64_t{blockIdx.x} * 1024;
  if (n - first < 1024) {
    for (std::int64_t i = first; i < n; ++i) out[i] = 2 * in[i];
    return;
  }
  ptx::mbarrier_init(&there, 1);
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, in + first, sizeof s, &there);
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                 sizeof s);
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  for (int i = 0; i < 1024; ++i) out[first + i] = 2 * s[i];
}

cudaError_t scale(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>((n + 1023) / 1024);
  if (n > 0) double_tile<<<blocks, 128, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_thread_per_block

namespace one_lane_per_warp {
// 1 3: NOT YET: right, but one after the other
__global__ void double_some(const float* in, float* out, std::int64_t n) {
  if (threadIdx.x % 32 != 0) return;
  const std::int64_t first = std::int64_t{blockIdx.x} * 1024 + threadIdx.x * 8;
  for (std::int64_t i = first; i < first + 256 && i < n; ++i) out[i] = 2 * in[i];
}

cudaError_t scale(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>((n + 1023) / 1024);
  if (n > 0) double_some<<<blocks, 128, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp

// Without anything that the exercise is about: a thread per float, as in chapter 01.
namespace no_bulk_copy {
// 1 3: NOT YET: right, but
__global__ void double_each(const float* in, float* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}

cudaError_t scale(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>((n + 255) / 256);
  if (n > 0) double_each<<<blocks, 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace no_bulk_copy

// Shared memory, but the threads copy the tile, and the wait at the barrier is for no bytes.
namespace threads_copy {
// 1: NOT YET: right, but
namespace ptx = cuda::ptx;

__global__ void double_tile(const float* in, float* out, std::int64_t n) {
  __shared__ float s[1024];
  __shared__ std::uint64_t there;
  const std::int64_t first = std::int64_t{blockIdx.x} * 1024;
  if (threadIdx.x == 0) ptx::mbarrier_init(&there, 128);
  __syncthreads();
  for (int k = threadIdx.x; k < 1024; k += 128) {
    if (first + k < n) s[k] = in[first + k];
  }
  static_cast<void>(ptx::mbarrier_arrive(&there));
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  for (int k = threadIdx.x; k < 1024; k += 128) {
    if (first + k < n) out[first + k] = 2 * s[k];
  }
}

cudaError_t scale(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>((n + 1023) / 1024);
  if (n > 0) double_tile<<<blocks, 128, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace threads_copy

namespace host_loop {
// 1 3: NOT YET: right, but one after the other
namespace ptx = cuda::ptx;

__global__ void double_tile(const float* in, float* out, int count) {
  __shared__ alignas(128) float s[1024];
  __shared__ std::uint64_t there;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    const int bytes = count / 4 * 16;
    if (bytes > 0) {
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, in, bytes, &there);
    }
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                   bytes);
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  for (int k = threadIdx.x; k < count; k += blockDim.x) {
    out[k] = 2 * (k < count / 4 * 4 ? s[k] : in[k]);
  }
}

cudaError_t scale(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  for (std::int64_t i = 0; i < n; i += 1024) {
    double_tile<<<1, 128, 0, stream>>>(in + i, out + i, n - i < 1024 ? n - i : 1024);
  }
  return cudaGetLastError();
}
}  // namespace host_loop

// One block of 128 threads takes one tile after the other.
namespace one_block {
// 1 3: NOT YET: right, but one after the other
namespace ptx = cuda::ptx;

__global__ void double_tiles(const float* in, float* out, std::int64_t n) {
  __shared__ alignas(128) float s[1024];
  __shared__ std::uint64_t there;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  unsigned parity = 0;
  for (std::int64_t i = 0; i + 1024 <= n; i += 1024, parity ^= 1) {
    if (threadIdx.x == 0) {
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, in + i, sizeof s, &there);
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                     sizeof s);
    }
    while (!ptx::mbarrier_try_wait_parity(&there, parity)) {
    }
    for (int k = threadIdx.x; k < 1024; k += blockDim.x) out[i + k] = 2 * s[k];
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
  }
  for (std::int64_t i = n / 1024 * 1024 + threadIdx.x; i < n; i += 128) out[i] = 2 * in[i];
}

cudaError_t scale(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (n > 0) double_tiles<<<1, 128, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_block

// One block of the largest possible size, with vectors: 131 of 132 SMs are idle.
namespace one_large_block {
// 1 3: NOT YET: right, but one after the other
namespace ptx = cuda::ptx;

__global__ void double_large_tiles(const float* in, float* out, std::int64_t n) {
  __shared__ alignas(128) float4 s[1024];
  __shared__ std::uint64_t there;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  unsigned parity = 0;
  for (std::int64_t i = 0; i + 4096 <= n; i += 4096, parity ^= 1) {
    if (t == 0) {
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, in + i, sizeof s, &there);
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                     sizeof s);
    }
    while (!ptx::mbarrier_try_wait_parity(&there, parity)) {
    }
    const float4 v = s[t];
    reinterpret_cast<float4*>(out + i)[t] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
  }
  for (std::int64_t i = n / 4096 * 4096 + t; i < n; i += 1024) out[i] = 2 * in[i];
}

cudaError_t scale(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (n > 0) double_large_tiles<<<1, 1024, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_large_block

// Larger tiles, two bulk copies each; expects the bytes before it issues them, waits by a token.
namespace two_orders {
// 1: PASSED
namespace ptx = cuda::ptx;

constexpr int tile = 2048;  // floats

__global__ void double_large_tile(const float* in, float* out, std::int64_t n) {
  __shared__ alignas(128) float s[tile];
  __shared__ std::uint64_t there;
  const std::int64_t first = std::int64_t{blockIdx.x} * tile;
  const int count = static_cast<int>(n - first < tile ? n - first : tile);
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&there, blockDim.x);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (threadIdx.x == 0 && count == tile) {
    ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, &there, sizeof s);
    for (int half = 0; half < tile; half += tile / 2) {
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s + half, in + first + half,
                         sizeof s / 2, &there);
    }
  }
  const std::uint64_t token = ptx::mbarrier_arrive(&there);
  while (!ptx::mbarrier_try_wait(&there, token)) {
  }
  const float* const from = count == tile ? s : in + first;
  for (int k = threadIdx.x; k < count; k += blockDim.x) out[first + k] = 2 * from[k];
}

cudaError_t scale(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>((n + tile - 1) / tile);
  if (n > 0) double_large_tile<<<blocks, 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace two_orders

// Results leave by bulk copies as well, as in version 02; the TMA loads as much of a short tile as
// it can.
namespace both_ways {
// 1: PASSED
namespace ptx = cuda::ptx;

__global__ void double_tile(const float* in, float* out, std::int64_t n) {
  __shared__ alignas(128) float s[1024];
  __shared__ std::uint64_t there;
  const std::int64_t first = std::int64_t{blockIdx.x} * 1024;
  const int count = static_cast<int>(n - first < 1024 ? n - first : 1024);
  const unsigned bytes = count / 4 * 16;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                   bytes);
    if (bytes > 0) {
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, in + first, bytes, &there);
    }
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  for (int k = threadIdx.x; k < count / 4 * 4; k += 128) s[k] *= 2;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  const int rest = count / 4 * 4 + static_cast<int>(threadIdx.x);
  if (rest < count) out[first + rest] = 2 * in[first + rest];
  if (threadIdx.x != 0 || bytes == 0) return;
  ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + first, s, bytes);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
}

cudaError_t scale(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>((n + 1023) / 1024);
  if (n > 0) double_tile<<<blocks, 128, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace both_ways

// Two stages, one tile ahead; the whole block computes, and its barrier frees a stage.
namespace two_places {
// 1 3: PASSED
namespace ptx = cuda::ptx;

__global__ void double_in_turn(const float* in, float* out, std::int64_t n) {
  __shared__ alignas(128) float4 s[2][256];
  __shared__ std::uint64_t full[2];
  const std::int64_t tiles = n / 1024;
  const auto order = [&](std::int64_t i, int p) {
    if (threadIdx.x != 0 || i >= tiles) return;
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[p],
                                   4096);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s[p], in + 1024 * i, 4096, &full[p]);
  };
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&full[0], 1);
    ptx::mbarrier_init(&full[1], 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  order(blockIdx.x, 0);
  unsigned k = 0;  // the block's k-th tile
  for (std::int64_t i = blockIdx.x; i < tiles; i += gridDim.x, ++k) {
    order(i + gridDim.x, (k + 1) % 2);
    while (!ptx::mbarrier_try_wait_parity(&full[k % 2], k / 2 % 2)) {
    }
    const float4 v = s[k % 2][threadIdx.x];
    reinterpret_cast<float4*>(out + 1024 * i)[threadIdx.x] =
        make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
  }
  for (std::int64_t i = 1024 * tiles + threadIdx.x; blockIdx.x == 0 && i < n; i += 256) {
    out[i] = 2 * in[i];
  }
}

cudaError_t scale(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  int sms = 0;
  if (const cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0)) {
    return error;
  }
  if (n > 0) double_in_turn<<<static_cast<unsigned>(4 * sms), 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace two_places

// The stages are released at the start: all consumers arrive once before the first tile.
namespace given_back_first {
// 3: PASSED
namespace ptx = cuda::ptx;

__global__ void double_tiles(const float* in, float* out, std::int64_t tiles) {
  constexpr int places = 3, consumers = 128;
  __shared__ alignas(128) float4 s[places][256];
  __shared__ std::uint64_t full[places], empty[places];
  const int t = static_cast<int>(threadIdx.x);
  if (t < places) {
    ptx::mbarrier_init(&full[t], 1);
    ptx::mbarrier_init(&empty[t], consumers);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  const bool produces = t == consumers;
  for (int p = 0; p < places && t < consumers; ++p) ptx::mbarrier_arrive(&empty[p]);
  int k = 0;  // the block's k-th tile
  for (std::int64_t i = blockIdx.x; i < tiles && t <= consumers; i += gridDim.x, ++k) {
    const int p = k % places;
    while (!ptx::mbarrier_try_wait_parity(produces ? &empty[p] : &full[p], k / places % 2)) {
    }
    if (produces) {
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[p],
                                     4096);
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s[p], in + i * 1024, 4096,
                         &full[p]);
      continue;
    }
    for (int j = t; j < 256; j += consumers) {
      const float4 v = s[p][j];
      reinterpret_cast<float4*>(out)[i * 256 + j] =
          make_float4(v.x + v.x, v.y + v.y, v.z + v.z, v.w + v.w);
    }
    ptx::fence_proxy_async(ptx::space_shared);
    ptx::mbarrier_arrive(&empty[p]);
  }
}

__global__ void double_rest(const float* in, float* out, std::int64_t n) {
  const std::int64_t i = n / 1024 * 1024 + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}

cudaError_t scale(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  int sms = 0;
  if (const cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0)) {
    return error;
  }
  const unsigned blocks = static_cast<unsigned>(3 * sms);
  if (n >= 1024) double_tiles<<<blocks, 160, 0, stream>>>(in, out, n / 1024);
  if (n % 1024 != 0) double_rest<<<1, 1024, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace given_back_first

// Eight stages of 2 KiB; the last warp produces, and a block has contiguous tiles.
namespace eight_places {
// 3: PASSED
namespace ptx = cuda::ptx;

__global__ void double_tiles(const float* in, float* out, std::int64_t n) {
  constexpr int places = 8, floats = 512;
  __shared__ alignas(128) float s[places][floats];
  __shared__ std::uint64_t full[places], empty[places];
  const int t = static_cast<int>(threadIdx.x), warp = t / 32;
  if (t == 0) {
    for (int p = 0; p < places; ++p) {
      ptx::mbarrier_init(&full[p], 1);
      ptx::mbarrier_init(&empty[p], 4);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  const std::int64_t tiles = n / floats, each = (tiles + gridDim.x - 1) / gridDim.x;
  const std::int64_t first = blockIdx.x * each;
  for (std::int64_t k = 0; k < each && first + k < tiles; ++k) {
    const int p = static_cast<int>(k % places);
    const unsigned parity = static_cast<unsigned>(k / places % 2);
    const std::int64_t at = (first + k) * floats;
    if (warp < 4) {
      while (!ptx::mbarrier_try_wait_parity(&full[p], parity)) {
      }
      for (int j = t; j < floats; j += 128) out[at + j] = 2 * s[p][j];
      ptx::fence_proxy_async(ptx::space_shared);
      __syncwarp();
      if (t % 32 == 31) ptx::mbarrier_arrive(&empty[p]);
    } else if (t == 128) {
      while (k >= places && !ptx::mbarrier_try_wait_parity(&empty[p], parity ^ 1)) {
      }
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[p],
                                     sizeof s[p]);
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s[p], in + at, sizeof s[p],
                         &full[p]);
    }
  }
  const std::int64_t rest = tiles * floats + t;
  for (std::int64_t i = rest; blockIdx.x == 0 && i < n; i += blockDim.x) out[i] = 2 * in[i];
}

cudaError_t scale(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  int sms = 0;
  if (const cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0)) {
    return error;
  }
  if (n > 0) double_tiles<<<static_cast<unsigned>(3 * sms), 160, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace eight_places
