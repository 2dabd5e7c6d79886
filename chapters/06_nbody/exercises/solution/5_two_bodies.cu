// Exercise 5, solved: four bodies per thread. Each read of the tile serves four interactions of a
// thread, and their roots do not wait for each other.
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

constexpr int block_size = 256;

constexpr int per_thread = 4;

/// acceleration[i] = {ax, ay, az, 0} of body i, per_thread bodies per thread, block_size apart. A
/// body is {x, y, z, mass}.
__global__ void accelerate_bodies(const float4* bodies, float4* acceleration, int n,
                                  float softening2) {
  __shared__ float4 tile[block_size];
  const int t = threadIdx.x;
  const int i = blockIdx.x * (per_thread * block_size) + t;
  const float4 nobody = make_float4(0, 0, 0, 0);  // without mass
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
    const int body = i + k * block_size;
    if (body < n) acceleration[body] = make_float4(ax[k], ay[k], az[k], 0);
  }
}

/// acceleration[i] = the sum over all j of m_j (p_j - p_i) / (|p_j - p_i|^2 + softening^2)^(3/2),
/// as {x, y, z, 0}.
cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const int bodies_per_block = per_thread * block_size;
  const unsigned blocks = static_cast<unsigned>((n + bodies_per_block - 1) / bodies_per_block);
  accelerate_bodies<<<blocks, block_size, 0, stream>>>(bodies, acceleration, static_cast<int>(n),
                                                       softening * softening);
  return cudaGetLastError();
}

}  // namespace exercise
