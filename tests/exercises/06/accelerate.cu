// Answers to the exercises of chapter 06, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace one_thread {
// 1 2 3 5 6: NOT YET: right, but one after the other
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_all(const float4* bodies, float4* acceleration, int n, float softening2) {
  for (int i = 0; i < n; ++i) {
    const float4 me = bodies[i];
    float4 sum = make_float4(0, 0, 0, 0);
    for (int j = 0; j < n; ++j) pull(me, bodies[j], softening2, sum);
    acceleration[i] = sum;
  }
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  pull_all<<<1, 1, 0, stream>>>(bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace one_thread

namespace one_lane_per_warp {
// 5: NOT YET: right, but it moves
// 1 6: NOT YET: right, but one after the other
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_some(const float4* bodies, float4* acceleration, int n, float softening2) {
  const int i = blockIdx.x * 8 + threadIdx.x / 32;
  if (threadIdx.x % 32 != 0 || i >= n) return;
  const float4 me = bodies[i];
  float4 sum = make_float4(0, 0, 0, 0);
  for (int j = 0; j < n; ++j) pull(me, bodies[j], softening2, sum);
  acceleration[i] = sum;
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_some<<<static_cast<unsigned>((n + 7) / 8), 256, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp

namespace one_block {
// 1 2 3 6: NOT YET: right, but one after the other
// 5: NOT YET: right, but it moves
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_all(const float4* bodies, float4* acceleration, int n, float softening2) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    const float4 me = bodies[i];
    float4 sum = make_float4(0, 0, 0, 0);
    for (int j = 0; j < n; ++j) pull(me, bodies[j], softening2, sum);
    acceleration[i] = sum;
  }
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  pull_all<<<1, 1024, 0, stream>>>(bodies, acceleration, static_cast<int>(n),
                                   softening * softening);
  return cudaGetLastError();
}
}  // namespace one_block

// The host launches a kernel for every body.
namespace body_launches {
// 1 2 3 6: NOT YET: right, but one after the other
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_one(const float4* bodies, float4* acceleration, int n, float softening2,
                         int i) {
  const float4 me = bodies[i];
  float4 sum = make_float4(0, 0, 0, 0);
  for (int j = 0; j < n; ++j) pull(me, bodies[j], softening2, sum);
  acceleration[i] = sum;
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  for (int i = 0; i < n; ++i)
    pull_one<<<1, 1, 0, stream>>>(bodies, acceleration, static_cast<int>(n), softening * softening,
                                  i);
  return cudaGetLastError();
}
}  // namespace body_launches

namespace host_computes {
// 1 2 5 6: NOT YET: n=1: right, but not by the rules: the host, reads
// 3: NOT YET: n=256: right, but not by the rules: the host, reads
__global__ void nothing() {}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  nothing<<<1, 1, 0, stream>>>();
  cudaStreamSynchronize(stream);
  for (std::int64_t i = 0; i < n; ++i) {
    float4 sum = make_float4(0, 0, 0, 0);
    for (std::int64_t j = 0; j < n; ++j) {
      const float4 me = bodies[i], other = bodies[j];
      const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
      const float root = std::sqrt(dx * dx + dy * dy + dz * dz + softening * softening);
      const float strength = other.w / (root * root * root);
      sum = make_float4(sum.x + strength * dx, sum.y + strength * dy, sum.z + strength * dz, 0);
    }
    acceleration[i] = sum;
  }
  return cudaGetLastError();
}
}  // namespace host_computes

// Two loads of 8 bytes.
namespace half_loads {
// 2: NOT YET: right, but 512.2 load requests per 32 elements, 260 would do
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_each(const float4* bodies, float4* acceleration, int n, float softening2) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 me = bodies[i];
  const float2* const halves = reinterpret_cast<const float2*>(bodies);
  float4 sum = make_float4(0, 0, 0, 0);
  for (int j = 0; j < n; ++j) {
    const float2 place = halves[2 * j], rest = halves[2 * j + 1];
    pull(me, make_float4(place.x, place.y, rest.x, rest.y), softening2, sum);
  }
  acceleration[i] = sum;
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_each<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace half_loads

// A body is still read by four instructions, but from shared memory.
namespace floats_in_a_tile {
// 2: NOT YET: right, but
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_each(const float* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float tile[4 * 256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int mine = 4 * min(i, n - 1);
  const float4 me = make_float4(bodies[mine], bodies[mine + 1], bodies[mine + 2], 0);
  float4 sum = make_float4(0, 0, 0, 0);
  for (int first = 0; first < n; first += 256) {
    for (int e = threadIdx.x; e < 1024 && 4 * first + e < 4 * n; e += 256)
      tile[e] = bodies[4 * first + e];
    __syncthreads();
    for (int e = 0; e < 1024 && 4 * first + e < 4 * n; e += 4) {
      pull(me, make_float4(tile[e], tile[e + 1], tile[e + 2], tile[e + 3]), softening2, sum);
    }
    __syncthreads();
  }
  if (i < n) acceleration[i] = sum;
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_each<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(
      reinterpret_cast<const float*>(bodies), acceleration, static_cast<int>(n),
      softening * softening);
  return cudaGetLastError();
}
}  // namespace floats_in_a_tile

namespace no_tile {
// 1 2: PASSED
// 3 5: NOT YET: right, but it moves
// 6: NOT YET: right, but one after the other
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_each(const float4* bodies, float4* acceleration, int n, float softening2) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 me = __ldg(&bodies[i]);
  float4 sum = make_float4(0, 0, 0, 0);
  for (int j = 0; j < n; ++j) pull(me, __ldg(&bodies[j]), softening2, sum);
  acceleration[i] = sum;
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_each<<<static_cast<unsigned>((n + 63) / 64), 64, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace no_tile

namespace grid_stride {
// 1 2: PASSED
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_many(const float4* bodies, float4* acceleration, int n, float softening2) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float4 me = bodies[i];
    float4 sum = make_float4(0, 0, 0, 0);
    for (int j = 0; j < n; ++j) pull(me, bodies[j], softening2, sum);
    acceleration[i] = sum;
  }
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  pull_many<<<20, 128, 0, stream>>>(bodies, acceleration, static_cast<int>(n),
                                    softening * softening);
  return cudaGetLastError();
}
}  // namespace grid_stride

namespace loaded_as_int4 {
// 1 2: PASSED
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_each(const float4* bodies, float4* acceleration, int n, float softening2) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 me = bodies[i];
  float4 sum = make_float4(0, 0, 0, 0);
  for (int j = n - 1; j >= 0; --j) {
    const int4 bits = reinterpret_cast<const int4*>(bodies)[j];
    const float4 other = make_float4(__int_as_float(bits.x), __int_as_float(bits.y),
                                     __int_as_float(bits.z), __int_as_float(bits.w));
    pull(me, other, softening2, sum);
  }
  acceleration[i] = sum;
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_each<<<static_cast<unsigned>((n + 511) / 512), 512, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace loaded_as_int4

// Two bodies per thread, but no tile.
namespace two_without_a_tile {
// 1 2: PASSED
// 5: NOT YET: right, but it moves
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_two(const float4* bodies, float4* acceleration, int n, float softening2) {
  const int i = blockIdx.x * 256 + threadIdx.x, next = min(i + 128, n - 1);
  if (i >= n) return;
  const float4 me[2] = {bodies[i], bodies[next]};
  float4 sums[2] = {make_float4(0, 0, 0, 0), make_float4(0, 0, 0, 0)};
  for (int j = 0; j < n; ++j) {
    const float4 other = bodies[j];
    pull(me[0], other, softening2, sums[0]);
    pull(me[1], other, softening2, sums[1]);
  }
  acceleration[i] = sums[0];
  if (i + 128 < n) acceleration[i + 128] = sums[1];
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_two<<<static_cast<unsigned>((n + 255) / 256), 128, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace two_without_a_tile

namespace tile_of_256 {
// 1 2 3: PASSED
// 5: NOT YET: right, but 256 reads of shared memory per 32 elements, 128 would do
// 6: NOT YET: right, but one after the other
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_tiles(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 tile[256];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  const float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float4 sum = make_float4(0, 0, 0, 0);
  for (int first = 0; first < n; first += 256) {
    const int count = min(256, n - first);
    if (t < count) tile[t] = bodies[first + t];
    __syncthreads();
    for (int j = 0; j < count; ++j) pull(me, tile[j], softening2, sum);
    __syncthreads();
  }
  if (i < n) acceleration[i] = sum;
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_tiles<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace tile_of_256

namespace tile_of_128 {
// 3: PASSED
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_tiles(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 tile[128];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  const float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float4 sum = make_float4(0, 0, 0, 0);
  for (int first = 0; first < n; first += 128) {
    const int count = min(128, n - first);
    if (t < count) tile[t] = bodies[first + t];
    __syncthreads();
    for (int j = 0; j < count; ++j) pull(me, tile[j], softening2, sum);
    __syncthreads();
  }
  if (i < n) acceleration[i] = sum;
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_tiles<<<static_cast<unsigned>((n + 127) / 128), 128, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace tile_of_128

// As hint 1 says: more blocks, of one warp.
namespace small_blocks {
// 6: NOT YET: right, but one after the other
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_tiles(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 tile[32];
  const int t = threadIdx.x, i = blockIdx.x * 32 + t;
  const float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float4 sum = make_float4(0, 0, 0, 0);
  for (int first = 0; first < n; first += 32) {
    const int count = min(32, n - first);
    if (t < count) tile[t] = bodies[first + t];
    __syncthreads();
    for (int j = 0; j < count; ++j) pull(me, tile[j], softening2, sum);
    __syncthreads();
  }
  if (i < n) acceleration[i] = sum;
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_tiles<<<static_cast<unsigned>((n + 31) / 32), 32, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace small_blocks

// Thread 0 fills the tile for its block.
namespace one_thread_fills {
// 3: NOT YET: right, but
// 6: NOT YET: right, but one after the other
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_tiles(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 tile[256];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  const float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float4 sum = make_float4(0, 0, 0, 0);
  for (int first = 0; first < n; first += 256) {
    const int count = min(256, n - first);
    for (int j = 0; j < count && t == 0; ++j) tile[j] = bodies[first + j];
    __syncthreads();
    for (int j = 0; j < count; ++j) pull(me, tile[j], softening2, sum);
    __syncthreads();
  }
  if (i < n) acceleration[i] = sum;
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_tiles<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace one_thread_fills

namespace one_block_of_tiles {
// 3 6: NOT YET: right, but one after the other
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_tiles(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 tile[1024];
  const int t = threadIdx.x;
  for (int begin = 0; begin < n; begin += 1024) {
    const int i = begin + t;
    const float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
    float4 sum = make_float4(0, 0, 0, 0);
    for (int first = 0; first < n; first += 1024) {
      const int count = min(1024, n - first);
      if (t < count) tile[t] = bodies[first + t];
      __syncthreads();
      for (int j = 0; j < count; ++j) pull(me, tile[j], softening2, sum);
      __syncthreads();
    }
    if (i < n) acceleration[i] = sum;
  }
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  pull_tiles<<<1, 1024, 0, stream>>>(bodies, acceleration, static_cast<int>(n),
                                     softening * softening);
  return cudaGetLastError();
}
}  // namespace one_block_of_tiles

// One barrier per tile is enough, because the next tile has another buffer.
namespace two_buffers {
// 3: PASSED
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_tiles(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 tiles[2][256];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  const float4 nobody = make_float4(0, 0, 0, 0), me = i < n ? bodies[i] : nobody;
  float4 sum = nobody;
  for (int first = 0; first < n; first += 256) {
    float4* const tile = tiles[first / 256 % 2];
    tile[t] = first + t < n ? bodies[first + t] : nobody;
    __syncthreads();
    for (int j = 0; j < 256; ++j) pull(me, tile[j], softening2, sum);
  }
  if (i < n) acceleration[i] = sum;
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_tiles<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace two_buffers

namespace large_tile {
// 3: PASSED
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_tiles(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 tile[1024];
  const int i = blockIdx.x * 256 + threadIdx.x;
  const float4 me = bodies[min(i, n - 1)];
  float4 sum = make_float4(0, 0, 0, 0);
  for (int first = 0; first < n; first += 1024) {
    for (int j = threadIdx.x; j < 1024; j += 256) {
      tile[j] = bodies[min(first + j, n - 1)];
      tile[j].w *= first + j < n ? 1 : 0;
    }
    __syncthreads();
    const int count = min(1024, (n - first + 31) / 32 * 32);
#pragma unroll 32
    for (int j = 0; j < count; ++j) pull(me, tile[j], softening2, sum);
    __syncthreads();
  }
  if (i < n) acceleration[i] = sum;
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_tiles<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace large_tile

namespace potentials_of_128 {
// 4: PASSED
__device__ void pull(float4 me, float4 other, float softening2, bool itself, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
  if (!itself) sum.w -= other.w * inverse;
}
__global__ void pull_tiles(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 tile[128];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  const float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float4 sum = make_float4(0, 0, 0, 0);
  for (int first = 0; first < n; first += 128) {
    const int count = min(128, n - first);
    if (t < count) tile[t] = bodies[first + t];
    __syncthreads();
    for (int j = 0; j < count; ++j) pull(me, tile[j], softening2, first + j == i, sum);
    __syncthreads();
  }
  if (i < n) acceleration[i] = sum;
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_tiles<<<static_cast<unsigned>((n + 127) / 128), 128, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace potentials_of_128

// The loop is split so that it leaves the body out: before it, and after it.
namespace tile_without_me {
// 4: PASSED
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
  sum.w -= other.w * inverse;
}
__global__ void pull_tiles(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 tile[256];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  const float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float4 sum = make_float4(0, 0, 0, 0);
  for (int first = 0; first < n; first += 256) {
    const int count = min(256, n - first);
    if (t < count) tile[t] = bodies[first + t];
    __syncthreads();
    const int own = min(max(i - first, 0), count);
    for (int j = 0; j < own; ++j) pull(me, tile[j], softening2, sum);
    for (int j = own + 1; j < count + (i < first ? 1 : 0); ++j)
      pull(me, tile[j - (i < first ? 1 : 0)], softening2, sum);
    __syncthreads();
  }
  if (i < n) acceleration[i] = sum;
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_tiles<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace tile_without_me

// The contribution of a body to its own potential is subtracted at the end.
namespace own_share_afterwards {
// 4: PASSED
__device__ void pull(float4 me, float4 other, float softening2, bool itself, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
  if (!itself) sum.w -= other.w * inverse;
}
__global__ void pull_tiles(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 tile[256];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  const float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float4 sum = make_float4(0, 0, 0, 0);
  for (int first = 0; first < n; first += 256) {
    const int count = min(256, n - first);
    if (t < count) tile[t] = bodies[first + t];
    __syncthreads();
    for (int j = 0; j < count; ++j) pull(me, tile[j], softening2, false, sum);
    __syncthreads();
  }
  sum.w += me.w * rsqrtf(softening2);
  if (i < n) acceleration[i] = sum;
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_tiles<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace own_share_afterwards

// Thread 0 fills the tile for its block.
namespace potentials_after_one_thread {
// 4: NOT YET: right, but
__device__ void pull(float4 me, float4 other, float softening2, bool itself, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
  if (!itself) sum.w -= other.w * inverse;
}
__global__ void pull_tiles(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 tile[256];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  const float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float4 sum = make_float4(0, 0, 0, 0);
  for (int first = 0; first < n; first += 256) {
    const int count = min(256, n - first);
    for (int j = 0; j < count && t == 0; ++j) tile[j] = bodies[first + j];
    __syncthreads();
    for (int j = 0; j < count; ++j) pull(me, tile[j], softening2, first + j == i, sum);
    __syncthreads();
  }
  if (i < n) acceleration[i] = sum;
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_tiles<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace potentials_after_one_thread

// A body is left out by its distance: another body in the same place is lost.
namespace not_at_a_distance {
// 4: NOT YET: wrong at n=
__device__ void pull(float4 me, float4 other, float softening2, bool itself, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
  if (!itself) sum.w -= other.w * inverse;
}
__global__ void pull_tiles(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 tile[256];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  const float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float4 sum = make_float4(0, 0, 0, 0);
  for (int first = 0; first < n; first += 256) {
    const int count = min(256, n - first);
    if (t < count) tile[t] = bodies[first + t];
    __syncthreads();
    for (int j = 0; j < count; ++j) {
      const float4 other = tile[j];
      const bool same = other.x == me.x && other.y == me.y && other.z == me.z;
      pull(me, other, softening2, same, sum);
    }
    __syncthreads();
  }
  if (i < n) acceleration[i] = sum;
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_tiles<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace not_at_a_distance

// A thread with nothing to copy exits, and misses the barriers.
namespace barriers_in_a_branch {
// 4: NOT YET: wrong at n=257:
__device__ void pull(float4 me, float4 other, float softening2, bool itself, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
  if (!itself) sum.w -= other.w * inverse;
}
__global__ void pull_tiles(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 tile[256];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  const float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float4 sum = make_float4(0, 0, 0, 0);
  for (int first = 0; first < n; first += 256) {
    const int count = min(256, n - first);
    if (t >= count) break;
    tile[t] = bodies[first + t];
    __syncthreads();
    if (i < n) {
      for (int j = 0; j < count; ++j) pull(me, tile[j], softening2, first + j == i, sum);
    }
    __syncthreads();
  }
  if (i < n) acceleration[i] = sum;
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_tiles<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace barriers_in_a_branch

namespace potential_without_a_tile {
// 4: NOT YET: right, but it moves
__device__ void pull(float4 me, float4 other, float softening2, bool itself, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
  if (!itself) sum.w -= other.w * inverse;
}
__global__ void pull_each(const float4* bodies, float4* acceleration, int n, float softening2) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 me = bodies[i];
  float4 sum = make_float4(0, 0, 0, 0);
  for (int j = 0; j < n; ++j) pull(me, bodies[j], softening2, j == i, sum);
  acceleration[i] = sum;
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_each<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace potential_without_a_tile

namespace potential_by_one_thread {
// 4: NOT YET: right, but one after the other
__device__ void pull(float4 me, float4 other, float softening2, bool itself, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
  if (!itself) sum.w -= other.w * inverse;
}
__global__ void pull_all(const float4* bodies, float4* acceleration, int n, float softening2) {
  for (int i = 0; i < n; ++i) {
    const float4 me = bodies[i];
    float4 sum = make_float4(0, 0, 0, 0);
    for (int j = 0; j < n; ++j) pull(me, bodies[j], softening2, j == i, sum);
    acceleration[i] = sum;
  }
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  pull_all<<<1, 1, 0, stream>>>(bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace potential_by_one_thread

namespace potentials_in_one_block {
// 4: NOT YET: right, but
__device__ void pull(float4 me, float4 other, float softening2, bool itself, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
  if (!itself) sum.w -= other.w * inverse;
}
__global__ void pull_tiles(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 tile[1024];
  const int t = threadIdx.x;
  for (int i = t; i < (n + 1023) / 1024 * 1024; i += 1024) {
    const float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
    float4 sum = make_float4(0, 0, 0, 0);
    for (int first = 0; first < n; first += 1024) {
      const int count = min(1024, n - first);
      if (t < count) tile[t] = bodies[first + t];
      __syncthreads();
      for (int j = 0; j < count; ++j) pull(me, tile[j], softening2, first + j == i, sum);
      __syncthreads();
    }
    if (i < n) acceleration[i] = sum;
  }
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  pull_tiles<<<1, 1024, 0, stream>>>(bodies, acceleration, static_cast<int>(n),
                                     softening * softening);
  return cudaGetLastError();
}
}  // namespace potentials_in_one_block

namespace potentials_of_two {
// 4: PASSED
__device__ void pull(float4 me, float4 other, float softening2, bool itself, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
  if (!itself) sum.w -= other.w * inverse;
}
__global__ void pull_two(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 tile[256];
  const int t = threadIdx.x, i = blockIdx.x * 512 + t;
  const float4 nobody = make_float4(0, 0, 0, 0);
  const float4 me[2] = {i < n ? bodies[i] : nobody, i + 256 < n ? bodies[i + 256] : nobody};
  float4 sums[2] = {nobody, nobody};
  for (int first = 0; first < n; first += 256) {
    tile[t] = first + t < n ? bodies[first + t] : nobody;
    __syncthreads();
    for (int j = 0; j < 256; ++j) {
      const float4 other = tile[j];
      for (int k = 0; k < 2; ++k) pull(me[k], other, softening2, first + j == i + 256 * k, sums[k]);
    }
    __syncthreads();
  }
  for (int k = 0; k < 2 && i + 256 * k < n; ++k) acceleration[i + 256 * k] = sums[k];
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_two<<<static_cast<unsigned>((n + 511) / 512), 256, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace potentials_of_two

// A thread has two bodies, but reads the tile once for each of them.
namespace two_one_after_the_other {
// 5: NOT YET: right, but 256 reads of shared memory per 32 elements, 128 would do
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_several(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 tile[256];
  const int t = threadIdx.x, i = blockIdx.x * 512 + t;
  const float4 nobody = make_float4(0, 0, 0, 0);
  float4 me[2], sums[2];
  for (int k = 0; k < 2; ++k) {
    me[k] = i + 256 * k < n ? bodies[i + 256 * k] : nobody;
    sums[k] = nobody;
  }
  for (int first = 0; first < n; first += 256) {
    tile[t] = first + t < n ? bodies[first + t] : nobody;
    __syncthreads();
    for (int k = 0; k < 2; ++k) {
      for (int j = 0; j < 256; ++j) pull(me[k], tile[j], softening2, sums[k]);
    }
    __syncthreads();
  }
  for (int k = 0; k < 2 && i + 256 * k < n; ++k) acceleration[i + 256 * k] = sums[k];
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_several<<<static_cast<unsigned>((n + 511) / 512), 256, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace two_one_after_the_other

// As the exercise says: two bodies per thread, a full tile.
namespace two_each {
// 5: PASSED
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_several(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 tile[256];
  const int t = threadIdx.x, i = blockIdx.x * 512 + t;
  const float4 nobody = make_float4(0, 0, 0, 0);
  float4 me[2], sums[2];
  for (int k = 0; k < 2; ++k) {
    me[k] = i + 256 * k < n ? bodies[i + 256 * k] : nobody;
    sums[k] = nobody;
  }
  for (int first = 0; first < n; first += 256) {
    tile[t] = first + t < n ? bodies[first + t] : nobody;
    __syncthreads();
    for (int j = 0; j < 256; ++j) {
      const float4 other = tile[j];
      for (int k = 0; k < 2; ++k) pull(me[k], other, softening2, sums[k]);
    }
    __syncthreads();
  }
  for (int k = 0; k < 2 && i + 256 * k < n; ++k) acceleration[i + 256 * k] = sums[k];
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_several<<<static_cast<unsigned>((n + 511) / 512), 256, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace two_each

namespace two_to_the_end {
// 5: PASSED
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_several(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 tile[256];
  const int t = threadIdx.x, i = blockIdx.x * 512 + t;
  const float4 nobody = make_float4(0, 0, 0, 0);
  float4 me[2], sums[2];
  for (int k = 0; k < 2; ++k) {
    me[k] = i + 256 * k < n ? bodies[i + 256 * k] : nobody;
    sums[k] = nobody;
  }
  for (int first = 0; first < n; first += 256) {
    const int count = min(256, n - first);
    if (first + t < n) tile[t] = bodies[first + t];
    __syncthreads();
    for (int j = 0; j < count; ++j) {
      const float4 other = tile[j];
      for (int k = 0; k < 2; ++k) pull(me[k], other, softening2, sums[k]);
    }
    __syncthreads();
  }
  for (int k = 0; k < 2 && i + 256 * k < n; ++k) acceleration[i + 256 * k] = sums[k];
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_several<<<static_cast<unsigned>((n + 511) / 512), 256, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace two_to_the_end

namespace two_of_128 {
// 5: PASSED
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_several(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 tile[128];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  const float4 nobody = make_float4(0, 0, 0, 0);
  float4 me[2], sums[2];
  for (int k = 0; k < 2; ++k) {
    me[k] = i + 128 * k < n ? bodies[i + 128 * k] : nobody;
    sums[k] = nobody;
  }
  for (int first = 0; first < n; first += 128) {
    const int count = min(128, n - first);
    if (first + t < n) tile[t] = bodies[first + t];
    __syncthreads();
    for (int j = 0; j < count; ++j) {
      const float4 other = tile[j];
      for (int k = 0; k < 2; ++k) pull(me[k], other, softening2, sums[k]);
    }
    __syncthreads();
  }
  for (int k = 0; k < 2 && i + 128 * k < n; ++k) acceleration[i + 128 * k] = sums[k];
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_several<<<static_cast<unsigned>((n + 255) / 256), 128, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace two_of_128

namespace three_each {
// 5: PASSED
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_several(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 tile[256];
  const int t = threadIdx.x, i = blockIdx.x * 768 + t;
  const float4 nobody = make_float4(0, 0, 0, 0);
  float4 me[3], sums[3];
  for (int k = 0; k < 3; ++k) {
    me[k] = i + 256 * k < n ? bodies[i + 256 * k] : nobody;
    sums[k] = nobody;
  }
  for (int first = 0; first < n; first += 256) {
    tile[t] = first + t < n ? bodies[first + t] : nobody;
    __syncthreads();
    for (int j = 0; j < 256; ++j) {
      const float4 other = tile[j];
      for (int k = 0; k < 3; ++k) pull(me[k], other, softening2, sums[k]);
    }
    __syncthreads();
  }
  for (int k = 0; k < 3 && i + 256 * k < n; ++k) acceleration[i + 256 * k] = sums[k];
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_several<<<static_cast<unsigned>((n + 767) / 768), 256, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace three_each

namespace four_of_128 {
// 5: PASSED
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_several(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 tile[128];
  const int t = threadIdx.x, i = blockIdx.x * 512 + t * 4;
  const float4 nobody = make_float4(0, 0, 0, 0);
  float4 me[4], sums[4];
  for (int k = 0; k < 4; ++k) {
    me[k] = i + k < n ? bodies[i + k] : nobody;
    sums[k] = nobody;
  }
  for (int first = 0; first < n; first += 128) {
    const int count = min(128, n - first);
    if (first + t < n) tile[t] = bodies[first + t];
    __syncthreads();
    for (int j = 0; j < count; ++j) {
      const float4 other = tile[j];
      for (int k = 0; k < 4; ++k) pull(me[k], other, softening2, sums[k]);
    }
    __syncthreads();
  }
  for (int k = 0; k < 4 && i + k < n; ++k) acceleration[i + k] = sums[k];
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_several<<<static_cast<unsigned>((n + 511) / 512), 128, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace four_of_128

namespace eight_each {
// 5: PASSED
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_several(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 tile[128];
  const int t = threadIdx.x, i = blockIdx.x * 1024 + t;
  const float4 nobody = make_float4(0, 0, 0, 0);
  float4 me[8], sums[8];
  for (int k = 0; k < 8; ++k) {
    me[k] = i + 128 * k < n ? bodies[i + 128 * k] : nobody;
    sums[k] = nobody;
  }
  for (int first = 0; first < n; first += 128) {
    const int count = min(128, n - first);
    if (first + t < n) tile[t] = bodies[first + t];
    __syncthreads();
    for (int j = 0; j < count; ++j) {
      const float4 other = tile[j];
      for (int k = 0; k < 8; ++k) pull(me[k], other, softening2, sums[k]);
    }
    __syncthreads();
  }
  for (int k = 0; k < 8 && i + 128 * k < n; ++k) acceleration[i + 128 * k] = sums[k];
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_several<<<static_cast<unsigned>((n + 1023) / 1024), 128, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace eight_each

namespace two_in_one_block {
// 5: NOT YET: right, but one after the other
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_two(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 tile[256];
  const float4 nobody = make_float4(0, 0, 0, 0);
  const int t = threadIdx.x;
  for (int i = t; i < (n + 511) / 512 * 512; i += 512) {
    const float4 me[2] = {i < n ? bodies[i] : nobody, i + 256 < n ? bodies[i + 256] : nobody};
    float4 sums[2] = {nobody, nobody};
    for (int first = 0; first < n; first += 256) {
      tile[t] = first + t < n ? bodies[first + t] : nobody;
      __syncthreads();
      for (int j = 0; j < min(256, n - first); ++j) {
        const float4 other = tile[j];
        for (int k = 0; k < 2; ++k) pull(me[k], other, softening2, sums[k]);
      }
      __syncthreads();
    }
    for (int k = 0; k < 2 && i + 256 * k < n; ++k) acceleration[i + 256 * k] = sums[k];
  }
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  pull_two<<<1, 256, 0, stream>>>(bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace two_in_one_block

namespace eight_warps {
// 6: RIGHT;
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_together(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 tile[256];
  __shared__ float4 sums[8][32];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * 32 + lane;
  const float4 me = bodies[min(i, n - 1)];
  float4 sum = make_float4(0, 0, 0, 0);
  for (int first = 0; first < n; first += 256) {
    if (first + t < n) tile[t] = bodies[first + t];
    __syncthreads();
    for (int j = warp; j < min(256, n - first); j += 8) pull(me, tile[j], softening2, sum);
    __syncthreads();
  }
  sums[warp][lane] = sum;
  __syncthreads();
  if (warp > 0 || i >= n) return;
  for (int w = 1; w < 8; ++w) {
    const float4 more = sums[w][lane];
    sum = make_float4(sum.x + more.x, sum.y + more.y, sum.z + more.z, 0);
  }
  acceleration[i] = sum;
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_together<<<static_cast<unsigned>((n + 31) / 32), 256, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace eight_warps

namespace thirty_two_warps {
// 6: RIGHT;
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_together(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 tile[1024];
  __shared__ float4 sums[32][32];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * 32 + lane;
  const float4 me = bodies[min(i, n - 1)];
  float4 sum = make_float4(0, 0, 0, 0);
  for (int first = 0; first < n; first += 1024) {
    if (first + t < n) tile[t] = bodies[first + t];
    __syncthreads();
    for (int j = warp; j < min(1024, n - first); j += 32) pull(me, tile[j], softening2, sum);
    __syncthreads();
  }
  sums[warp][lane] = sum;
  __syncthreads();
  if (warp > 0 || i >= n) return;
  for (int w = 1; w < 32; ++w) {
    const float4 more = sums[w][lane];
    sum = make_float4(sum.x + more.x, sum.y + more.y, sum.z + more.z, 0);
  }
  acceleration[i] = sum;
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_together<<<static_cast<unsigned>((n + 31) / 32), 1024, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace thirty_two_warps

// All lanes of a warp read one body, from L1 cache.
namespace warps_without_a_tile {
// 6: RIGHT;
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_together(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 sums[16][32];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * 32 + lane;
  const float4 me = bodies[min(i, n - 1)];
  float4 sum = make_float4(0, 0, 0, 0);
  for (int j = warp; j < n; j += 16) pull(me, bodies[j], softening2, sum);
  sums[warp][lane] = sum;
  __syncthreads();
  if (warp > 0 || i >= n) return;
  for (int w = 1; w < 16; ++w) {
    const float4 more = sums[w][lane];
    sum = make_float4(sum.x + more.x, sum.y + more.y, sum.z + more.z, 0);
  }
  acceleration[i] = sum;
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_together<<<static_cast<unsigned>((n + 31) / 32), 512, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace warps_without_a_tile

// The lanes of a warp share the bodies j, and add up by shuffles.
namespace body_per_warp {
// 6: RIGHT;
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void __launch_bounds__(1024)
    pull_by_lanes(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 tile[1024];
  const int t = threadIdx.x, i = blockIdx.x * 32 + t / 32;
  const float4 nobody = make_float4(0, 0, 0, 0), me = bodies[min(i, n - 1)];
  float4 sum = nobody;
  for (int first = 0; first < n; first += 1024) {
    tile[t] = first + t < n ? bodies[first + t] : nobody;
    __syncthreads();
    for (int j = t % 32; j < min(1024, n - first); j += 32) pull(me, tile[j], softening2, sum);
    __syncthreads();
  }
  for (int far = 16; far > 0; far /= 2) {
    sum.x += __shfl_xor_sync(0xffffffffu, sum.x, far);
    sum.y += __shfl_xor_sync(0xffffffffu, sum.y, far);
    sum.z += __shfl_xor_sync(0xffffffffu, sum.z, far);
  }
  if (t % 32 == 0 && i < n) acceleration[i] = sum;
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  pull_by_lanes<<<static_cast<unsigned>((n + 31) / 32), 1024, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}
}  // namespace body_per_warp

// Blocks share the bodies j; a second kernel adds their sums, in order.
namespace parts_in_the_grid {
// 6: RIGHT;
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
constexpr int parts = 8;
__global__ void pull_part(const float4* bodies, float4* sums, int n, float softening2) {
  __shared__ float4 tile[128];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  const float4 nobody = make_float4(0, 0, 0, 0), me = i < n ? bodies[i] : nobody;
  float4 sum = nobody;
  for (int first = blockIdx.y * 128; first < n; first += 128 * gridDim.y) {
    tile[t] = first + t < n ? bodies[first + t] : nobody;
    __syncthreads();
    for (int j = 0; j < min(128, n - first); ++j) pull(me, tile[j], softening2, sum);
    __syncthreads();
  }
  if (i < n) sums[static_cast<int>(blockIdx.y) * n + i] = sum;
}
__global__ void add_parts(const float4* sums, float4* acceleration, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 sum = make_float4(0, 0, 0, 0);
  for (int part = 0; part < parts && i < n; ++part) {
    const float4 more = sums[part * n + i];
    sum = make_float4(sum.x + more.x, sum.y + more.y, sum.z + more.z, 0);
  }
  if (i < n) acceleration[i] = sum;
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  float4* sums = nullptr;
  const std::size_t bytes = static_cast<std::size_t>(n) * parts * sizeof(float4);
  if (const cudaError_t error = cudaMallocAsync(&sums, bytes, stream)) return error;
  const auto blocks = static_cast<unsigned>((n + 127) / 128);
  pull_part<<<dim3(blocks, parts), 128, 0, stream>>>(bodies, sums, static_cast<int>(n),
                                                     softening * softening);
  add_parts<<<blocks, 128, 0, stream>>>(sums, acceleration, static_cast<int>(n));
  cudaFreeAsync(sums, stream);
  return cudaGetLastError();
}
}  // namespace parts_in_the_grid

// Blocks share the bodies j, and add in any order: other bits in every run.
namespace parts_by_atomics {
// 6: NOT YET: right, but
__device__ void pull(float4 me, float4 other, float softening2, float4& sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
}
__global__ void pull_part(const float4* bodies, float4* acceleration, int n, float softening2) {
  __shared__ float4 tile[128];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  const float4 nobody = make_float4(0, 0, 0, 0), me = i < n ? bodies[i] : nobody;
  float4 sum = nobody;
  for (int first = blockIdx.y * 128; first < n; first += 128 * gridDim.y) {
    tile[t] = first + t < n ? bodies[first + t] : nobody;
    __syncthreads();
    for (int j = 0; j < min(128, n - first); ++j) pull(me, tile[j], softening2, sum);
    __syncthreads();
  }
  if (i >= n) return;
  atomicAdd(&acceleration[i].x, sum.x);
  atomicAdd(&acceleration[i].y, sum.y);
  atomicAdd(&acceleration[i].z, sum.z);
}

cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  cudaMemsetAsync(acceleration, 0, static_cast<std::size_t>(n) * sizeof(float4), stream);
  const dim3 blocks(static_cast<unsigned>((n + 127) / 128), 8);
  pull_part<<<blocks, 128, 0, stream>>>(bodies, acceleration, static_cast<int>(n),
                                        softening * softening);
  return cudaGetLastError();
}
}  // namespace parts_by_atomics
