// Idea: a thread a body. It walks over all bodies, adds up how each of them pulls, and writes one
//   acceleration. A body is a structure, as a C++ program would have it.
// Predicts: all lanes of a warp read the same body at the same time: one address for 32 lanes,
//   and the caches serve almost all of it. Some 22 instructions per interaction.
// Still wrong: 16 of them are arithmetic. The values of a body are loaded one by one, and 12 of
//   its 28 bytes, the velocity, are in the way. Next: 02.
#include <cuda_runtime.h>

#include <cstdint>

namespace array_of_structures {

constexpr int block_size = 256;

/// Position, velocity, mass: 28 bytes.
struct Body {
  float x, y, z, vx, vy, vz, m;
};

/// acceleration[i] = {ax, ay, az, 0} of body i, one per thread.
__global__ void accelerate_bodies(const Body* bodies, float4* acceleration, int n,
                                  float softening2) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  if (i >= n) return;
  const float x = bodies[i].x, y = bodies[i].y, z = bodies[i].z;
  float ax = 0, ay = 0, az = 0;
  for (int j = 0; j < n; ++j) {
    const float dx = bodies[j].x - x;
    const float dy = bodies[j].y - y;
    const float dz = bodies[j].z - z;
    const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
    const float pull = bodies[j].m * inverse * (inverse * inverse);
    ax += pull * dx;
    ay += pull * dy;
    az += pull * dz;
  }
  acceleration[i] = make_float4(ax, ay, az, 0);
}

/// Bodies are counted as int, also those that fill up the last block.
constexpr std::int64_t max_n = (std::int64_t{1} << 31) - block_size;

/// acceleration[i] = the sum over all j of m_j (p_j - p_i) / (|p_j - p_i|^2 + softening^2)^(3/2),
/// as {x, y, z, 0}. Device pointers. \returns cudaErrorInvalidValue for n < 0 or above max_n, for a
/// softening that is not above 0; or the error of the launch.
cudaError_t accelerate(const Body* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n < 0 || n > max_n || !(softening > 0)) return cudaErrorInvalidValue;
  if (reinterpret_cast<std::uintptr_t>(acceleration) % alignof(float4) != 0) {
    return cudaErrorInvalidValue;
  }
  if (n == 0) return cudaSuccess;
  const unsigned blocks = static_cast<unsigned>((n + block_size - 1) / block_size);
  accelerate_bodies<<<blocks, block_size, 0, stream>>>(bodies, acceleration, static_cast<int>(n),
                                                       softening * softening);
  return cudaGetLastError();
}

}  // namespace array_of_structures
