// Idea: position and mass of a body are a float4, so that one load of 16 bytes brings all of it.
// Predicts: one load instead of four, one address instead of four: some 19 to 20 instructions per
//   interaction.
// Still wrong: every warp fetches every body through the L1 cache by itself, and waits for it.
//   Next: 04.
#include <cuda_runtime.h>

#include <cstdint>

namespace float4_loads {

constexpr int block_size = 256;

/// acceleration[i] = {ax, ay, az, 0} of body i, one per thread. A body is {x, y, z, mass}.
__global__ void accelerate_bodies(const float4* bodies, float4* acceleration, int n,
                                  float softening2) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  if (i >= n) return;
  const float4 me = bodies[i];
  float ax = 0, ay = 0, az = 0;
  for (int j = 0; j < n; ++j) {
    const float4 other = bodies[j];
    const float dx = other.x - me.x;
    const float dy = other.y - me.y;
    const float dz = other.z - me.z;
    const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
    const float pull = other.w * inverse * (inverse * inverse);
    ax += pull * dx;
    ay += pull * dy;
    az += pull * dz;
  }
  acceleration[i] = make_float4(ax, ay, az, 0);
}

/// Bodies are counted as int, also those that fill up the last block.
constexpr std::int64_t max_n = (std::int64_t{1} << 31) - block_size;

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
  const unsigned blocks = static_cast<unsigned>((n + block_size - 1) / block_size);
  accelerate_bodies<<<blocks, block_size, 0, stream>>>(bodies, acceleration, static_cast<int>(n),
                                                       softening * softening);
  return cudaGetLastError();
}

}  // namespace float4_loads
