// Exercise 4, solved: the body itself is left out by its number. Its pull is zero without help, its
// potential is not.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

namespace exercise {

constexpr int block_size = 256;

/// result[i] = {ax, ay, az, potential} of body i, one per thread. A body is {x, y, z, mass}.
__global__ void accelerate_bodies(const float4* bodies, float4* result, int n, float softening2) {
  __shared__ float4 tile[block_size];
  const int t = threadIdx.x;
  const int i = blockIdx.x * block_size + t;
  const float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float ax = 0, ay = 0, az = 0, potential = 0;
  for (int first = 0; first < n; first += block_size) {
    const int count = min(block_size, n - first);
    if (t < count) tile[t] = bodies[first + t];
    __syncthreads();  // A: the tile is there before anyone reads it
    for (int j = 0; j < count; ++j) {
      const float4 other = tile[j];
      const float dx = other.x - me.x;
      const float dy = other.y - me.y;
      const float dz = other.z - me.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
      const float depth = other.w * inverse;
      const float pull = depth * (inverse * inverse);
      ax += pull * dx;
      ay += pull * dy;
      az += pull * dz;
      potential -= first + j == i ? 0 : depth;
    }
    __syncthreads();  // B: all have read it before anyone overwrites it
  }
  if (i < n) result[i] = make_float4(ax, ay, az, potential);
}

/// result[i] = {x, y, z, potential}:
/// the sum over all j of m_j (p_j - p_i) / (|p_j - p_i|^2 + softening^2)^(3/2), and
/// minus the sum over all j other than i of m_j / (|p_j - p_i|^2 + softening^2)^(1/2).
cudaError_t accelerate(const float4* bodies, float4* result, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const unsigned blocks = static_cast<unsigned>((n + block_size - 1) / block_size);
  accelerate_bodies<<<blocks, block_size, 0, stream>>>(bodies, result, static_cast<int>(n),
                                                       softening * softening);
  return cudaGetLastError();
}

}  // namespace exercise
