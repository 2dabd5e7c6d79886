// Exercise 4: fill a gap. The tiled kernel without its tiles, with one result more: the potential
// of each body, which a check of the energy needs.
//   ./chapters/run 06 --exercise 4          passes when it is right; --hint helps
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
    // FILL ME IN: the block copies bodies first, first + 1, ... into its tile, one per thread. And
    // two barriers, each in its place.
    for (int j = 0; j < count; ++j) {
      const float4 other = tile[j];
      const float dx = other.x - me.x;
      const float dy = other.y - me.y;
      const float dz = other.z - me.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
      const float pull = other.w * inverse * (inverse * inverse);
      ax += pull * dx;
      ay += pull * dy;
      az += pull * dz;
      // FILL ME IN: the body's share of the potential.
    }
  }
  if (i < n) result[i] = make_float4(ax, ay, az, potential);
}

/// result[i] = {x, y, z, potential}:
/// the sum over all j of m_j (p_j - p_i) / (|p_j - p_i|^2 + softening^2)^(3/2), and
/// minus the sum over all j other than i of m_j / (|p_j - p_i|^2 + softening^2)^(1/2).
cudaError_t accelerate(const float4* bodies, float4* result, std::int64_t n, float softening,
                       cudaStream_t stream) {
  return cudaErrorNotYetImplemented;  // delete this line once the kernel is written
  if (n == 0) return cudaSuccess;
  const unsigned blocks = static_cast<unsigned>((n + block_size - 1) / block_size);
  accelerate_bodies<<<blocks, block_size, 0, stream>>>(bodies, result, static_cast<int>(n),
                                                       softening * softening);
  return cudaGetLastError();
}

}  // namespace exercise
