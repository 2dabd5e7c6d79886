// A yardstick: the form of the well-known CUDA sample, in our own words. A body a thread, 256 in
//   a block and in a tile; the softening added to the finished sum of squares; the root cubed
//   before the mass. The root is the fast one of 07, as if the sample were compiled with
//   -ftz=true, so that both are compared by the same rules. It runs without a GPU, too.
// Source of the form: Nyland, Harris, Prins, "Fast N-Body Simulation with CUDA", GPU Gems 3,
//   chapter 31.
#include <cuda_runtime.h>

#include <cstdint>

namespace sample_form {

constexpr int block_size = 256;

/// 1 / sqrt(x) by one instruction. PTX ISA, "rsqrt".
__device__ float reciprocal_root(float x) {
#ifdef SIMT
  return 1 / sqrtf(x);
#else
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#endif
}

/// a plus what body `other` does to body `me`.
__device__ float3 interaction(float3 a, float4 me, float4 other, float softening2) {
  const float3 r = make_float3(other.x - me.x, other.y - me.y, other.z - me.z);
  float distance2 = r.x * r.x + r.y * r.y + r.z * r.z;
  distance2 += softening2;
  const float inverse = reciprocal_root(distance2);
  const float cube = inverse * inverse * inverse;
  const float pull = other.w * cube;
  a.x += r.x * pull;
  a.y += r.y * pull;
  a.z += r.z * pull;
  return a;
}

/// acceleration[i] = {ax, ay, az, 0} of body i, one per thread. A body is {x, y, z, mass}.
__global__ void accelerate_bodies(const float4* bodies, float4* acceleration, int n,
                                  float softening2) {
  __shared__ float4 tile[block_size];
  const int t = threadIdx.x;
  const int i = blockIdx.x * block_size + t;
  const float4 nobody = make_float4(0, 0, 0, 0);
  const float4 me = i < n ? bodies[i] : nobody;
  float3 a = make_float3(0, 0, 0);
  for (int first = 0; first < n; first += block_size) {
    tile[t] = first + t < n ? bodies[first + t] : nobody;
    __syncthreads();  // A: the tile is there before anyone reads it
#pragma unroll 128
    for (int j = 0; j < block_size; ++j) a = interaction(a, me, tile[j], softening2);
    __syncthreads();  // B: all have read it before anyone overwrites it
  }
  if (i < n) acceleration[i] = make_float4(a.x, a.y, a.z, 0);
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

}  // namespace sample_form
