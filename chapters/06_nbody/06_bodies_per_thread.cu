// Idea: a thread takes four bodies. What it loads from shared memory then serves four
//   interactions, which do not depend on each other.
// Predicts: a quarter of the loads, so 0.75 instructions less an interaction, some 17; and four
//   chains of arithmetic side by side, so that a warp rarely has to wait for itself.
// Still wrong: rsqrtf() is four instructions where the GPU has one for it. Next: 07.
#include <cuda_runtime.h>

#include <cstdint>

namespace bodies_per_thread {

constexpr int block_size = 256;
constexpr int per_thread = 4;

/// acceleration[i] = {ax, ay, az, 0} of body i, four per thread, block_size apart. A body is {x, y,
/// z, mass}.
__global__ void accelerate_bodies(const float4* bodies, float4* acceleration, int n,
                                  float softening2) {
  __shared__ float4 tile[block_size];
  const int t = threadIdx.x;
  const int i = blockIdx.x * (per_thread * block_size) + t;
  const float4 nobody = make_float4(0, 0, 0, 0);
  float4 me[per_thread];
  float ax[per_thread] = {}, ay[per_thread] = {}, az[per_thread] = {};
  for (int k = 0; k < per_thread; ++k) {
    me[k] = i + k * block_size < n ? bodies[i + k * block_size] : nobody;
  }
  for (int first = 0; first < n; first += block_size) {
    tile[t] = first + t < n ? bodies[first + t] : nobody;
    __syncthreads();  // A: the tile is there before anyone reads it
#pragma unroll 32
    for (int j = 0; j < block_size; ++j) {
      const float4 other = tile[j];
      for (int k = 0; k < per_thread; ++k) {
        const float dx = other.x - me[k].x;
        const float dy = other.y - me[k].y;
        const float dz = other.z - me[k].z;
        const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
        const float pull = other.w * inverse * (inverse * inverse);
        ax[k] += pull * dx;
        ay[k] += pull * dy;
        az[k] += pull * dz;
      }
    }
    __syncthreads();  // B: all have read it before anyone overwrites it
  }
  for (int k = 0; k < per_thread; ++k) {
    if (i + k * block_size < n) {
      acceleration[i + k * block_size] = make_float4(ax[k], ay[k], az[k], 0);
    }
  }
}

/// Bodies are counted as int, also those that fill up the last block.
constexpr std::int64_t max_n = (std::int64_t{1} << 31) - per_thread * block_size;

/// True if a float4 may lie there.
bool aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % alignof(float4) == 0; }

/// acceleration[i] = the sum over all j of m_j (p_j - p_i) / (|p_j - p_i|^2 + softening^2)^(3/2),
/// as {x, y, z, 0}. Device pointers. \returns cudaErrorInvalidValue for n < 0 or above max_n, for a
/// softening that is not above 0, or for pointers that are not aligned to 16 bytes; or the error of
/// the launch.
cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n < 0 || n > max_n || !(softening > 0)) return cudaErrorInvalidValue;
  if (!aligned(bodies) || !aligned(acceleration)) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  const int tile = per_thread * block_size;
  const unsigned blocks = static_cast<unsigned>((n + tile - 1) / tile);
  accelerate_bodies<<<blocks, block_size, 0, stream>>>(bodies, acceleration, static_cast<int>(n),
                                                       softening * softening);
  return cudaGetLastError();
}

}  // namespace bodies_per_thread
