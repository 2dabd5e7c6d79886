// Exercise 1: change one line. Each body also meets itself, at no distance.
//   ./chapters/run 06 --exercise 1          builds and checks it; --hint helps
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

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
    const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz);  // CHANGE ME
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
  const unsigned blocks = static_cast<unsigned>((n + block_size - 1) / block_size);
  accelerate_bodies<<<blocks, block_size, 0, stream>>>(bodies, acceleration, static_cast<int>(n),
                                                       softening * softening);
  return cudaGetLastError();
}

}  // namespace exercise
