// Idea: the sum of squares begins with the softening, not with zero: softening^2 + dz * dz is one
//   fused multiply-add, and so are the two after it.
// Predicts: one instruction less an interaction, some 13: 12 of arithmetic, the root, and a
//   quarter of a load.
// Still wrong: three additions read both their registers from one bank, which takes them longer;
//   the loads; and the end, when SMs with fewer blocks than others have nothing to do. Next: 80.
#include <cuda_runtime.h>

#include <cstdint>

namespace folded {

constexpr int block_size = 256;
constexpr int per_thread = 4;

/// 1 / sqrt(x) by one instruction, off by at most a part in 2^22.9. A denormal x counts as zero;
/// here x is at least softening^2. PTX ISA, "rsqrt".
__device__ float reciprocal_root(float x) {
#ifdef SIMT
  return 1 / sqrtf(x);
#else
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#endif
}

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
        const float inverse = reciprocal_root(softening2 + dz * dz + dy * dy + dx * dx);
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

}  // namespace folded
