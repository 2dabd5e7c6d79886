// Exercise 2: write one line, which loads a body by one instruction.
//   ./chapters/run 06 --exercise 2          passes when it is right, and on the CPU backend when it
// needs no more loads than that, too; --hint helps
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

constexpr int block_size = 256;

/// acceleration[i] = {ax, ay, az, 0} of body i, one per thread. Body j is floats 4j to 4j + 3: x,
/// y, z, mass; aligned to 16 bytes.
__global__ void accelerate_bodies(const float* bodies, float4* acceleration, int n,
                                  float softening2) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  if (i >= n) return;
  const float4 me = make_float4(bodies[4 * i], bodies[4 * i + 1], bodies[4 * i + 2], 0);
  float ax = 0, ay = 0, az = 0;
  for (int j = 0; j < n; ++j) {
    const float4 other = make_float4(0, 0, 0, 0);  // CHANGE ME: body j, by one load of 16 bytes
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

/// acceleration[i] = the sum over all j of m_j (p_j - p_i) / (|p_j - p_i|^2 + softening^2)^(3/2),
/// as {x, y, z, 0}.
cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const float* const floats = reinterpret_cast<const float*>(bodies);
  const unsigned blocks = static_cast<unsigned>((n + block_size - 1) / block_size);
  accelerate_bodies<<<blocks, block_size, 0, stream>>>(floats, acceleration, static_cast<int>(n),
                                                       softening * softening);
  return cudaGetLastError();
}

}  // namespace exercise
