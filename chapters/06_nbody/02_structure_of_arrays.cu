// Idea: an array for each of x, y, z and the mass; what the sum does not need stays away.
// Predicts: little. Side by side in memory are now the values of neighbouring bodies, and a warp
//   reads those of one body at a time. Four arrays are also four addresses to move along, where
//   there was one: some 24 instructions per interaction.
// Still wrong: still four loads per interaction. Next: 03.
#include <cuda_runtime.h>

#include <cstdint>

namespace structure_of_arrays {

constexpr int block_size = 256;

/// acceleration[i] = {ax, ay, az, 0} of body i, one per thread.
__global__ void accelerate_bodies(const float* xs, const float* ys, const float* zs,
                                  const float* masses, float4* acceleration, int n,
                                  float softening2) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  if (i >= n) return;
  const float x = xs[i], y = ys[i], z = zs[i];
  float ax = 0, ay = 0, az = 0;
  for (int j = 0; j < n; ++j) {
    const float dx = xs[j] - x;
    const float dy = ys[j] - y;
    const float dz = zs[j] - z;
    const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
    const float pull = masses[j] * inverse * (inverse * inverse);
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
cudaError_t accelerate(const float* xs, const float* ys, const float* zs, const float* masses,
                       float4* acceleration, std::int64_t n, float softening, cudaStream_t stream) {
  if (n < 0 || n > max_n || !(softening > 0)) return cudaErrorInvalidValue;
  if (reinterpret_cast<std::uintptr_t>(acceleration) % alignof(float4) != 0) {
    return cudaErrorInvalidValue;
  }
  if (n == 0) return cudaSuccess;
  const unsigned blocks = static_cast<unsigned>((n + block_size - 1) / block_size);
  accelerate_bodies<<<blocks, block_size, 0, stream>>>(xs, ys, zs, masses, acceleration,
                                                       static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}

}  // namespace structure_of_arrays
