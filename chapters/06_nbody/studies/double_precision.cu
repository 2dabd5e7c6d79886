// Idea: steps 03, 05 and 08 in double, to see which of them still matter.
// Predicts: an SM of an H200 has 64 lanes for double, half as many as for float. MUFU only
//   guesses the root, right to some 20 bits; multiply-adds improve it. 16 to 18 instructions in
//   double, so at most 4 interactions per clock and SM: loads and loops fit in between.
#include <cuda_runtime.h>

#include <cstdint>

namespace double_precision {

constexpr int block_size = 256;

/// Position and mass. double4 is aligned to 16 or to 32 bytes, as the toolkit likes it; this is
/// always two loads of 16 bytes.
struct alignas(16) Body {
  double x, y, z, m;
};

/// The acceleration of a body.
struct alignas(16) Vector {
  double x, y, z, zero;
};

/// m / sqrt(x)^3 for x that is neither tiny nor huge. The GPU's guess y of 1 / sqrt(x) is right to
/// some 20 bits; with e = 1 - x y^2 the result is m y^3 (1 - e)^(-3/2), and three terms of its
/// series are enough. rsqrt() does such a step, too, and looks for zero, infinity and denormals
/// first.
__device__ double pull_of(double m, double x) {
#ifdef SIMT
  return m / (x * sqrt(x));
#else
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  const double y2 = y * y;
  const double e = fma(-x, y2, 1.0);
  const double first = m * y * y2;
  return fma(first * e, fma(e, 1.875, 1.5), first);
#endif
}

/// acceleration[i], one body a thread, all from global memory.
__global__ void accelerate_from_global(const Body* bodies, Vector* acceleration, int n,
                                       double softening2) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  if (i >= n) return;
  const Body me = bodies[i];
  double ax = 0, ay = 0, az = 0;
  for (int j = 0; j < n; ++j) {
    const Body other = bodies[j];
    const double dx = other.x - me.x;
    const double dy = other.y - me.y;
    const double dz = other.z - me.z;
    const double inverse = rsqrt(dx * dx + dy * dy + dz * dz + softening2);
    const double pull = other.m * inverse * (inverse * inverse);
    ax += pull * dx;
    ay += pull * dy;
    az += pull * dz;
  }
  acceleration[i] = {ax, ay, az, 0};
}

/// acceleration[i], per_thread bodies per thread, block_size apart, tile by tile.
template <int per_thread, bool fast>
__global__ void accelerate_by_tiles(const Body* bodies, Vector* acceleration, int n,
                                    double softening2) {
  __shared__ Body tile[block_size];
  const int t = threadIdx.x;
  const int i = blockIdx.x * (per_thread * block_size) + t;
  const Body nobody = {0, 0, 0, 0};
  Body me[per_thread];
  double ax[per_thread] = {}, ay[per_thread] = {}, az[per_thread] = {};
  for (int k = 0; k < per_thread; ++k) {
    me[k] = i + k * block_size < n ? bodies[i + k * block_size] : nobody;
  }
  for (int first = 0; first < n; first += block_size) {
    tile[t] = first + t < n ? bodies[first + t] : nobody;
    __syncthreads();  // A: the tile is there before anyone reads it
#pragma unroll 16
    for (int j = 0; j < block_size; ++j) {
      const Body other = tile[j];
      for (int k = 0; k < per_thread; ++k) {
        const double dx = other.x - me[k].x;
        const double dy = other.y - me[k].y;
        const double dz = other.z - me[k].z;
        const double distance2 = softening2 + dz * dz + dy * dy + dx * dx;
        const double inverse = fast ? 0 : rsqrt(distance2);
        const double pull =
            fast ? pull_of(other.m, distance2) : other.m * inverse * (inverse * inverse);
        ax[k] += pull * dx;
        ay[k] += pull * dy;
        az[k] += pull * dz;
      }
    }
    __syncthreads();  // B: all have read it before anyone overwrites it
  }
  for (int k = 0; k < per_thread; ++k) {
    if (i + k * block_size < n) acceleration[i + k * block_size] = {ax[k], ay[k], az[k], 0};
  }
}

/// Bodies are counted as int, also those that fill up the last block.
constexpr std::int64_t max_n = (std::int64_t{1} << 31) - 2 * block_size;

/// What all launchers refuse: n < 0 or above max_n, a softening that is not above 0, pointers that
/// are not aligned to 16 bytes.
bool refused(const Body* bodies, const Vector* acceleration, std::int64_t n, double softening) {
  return n < 0 || n > max_n || !(softening > 0) ||
         reinterpret_cast<std::uintptr_t>(bodies) % alignof(Body) != 0 ||
         reinterpret_cast<std::uintptr_t>(acceleration) % alignof(Vector) != 0;
}

/// acceleration[i] = the sum over all j of m_j (p_j - p_i) / (|p_j - p_i|^2 + softening^2)^(3/2),
/// as {x, y, z, 0}. Device pointers. \returns cudaErrorInvalidValue for what is refused (above), or
/// the error of the launch.
cudaError_t global_memory(const Body* bodies, Vector* acceleration, std::int64_t n,
                          double softening, cudaStream_t stream) {
  if (refused(bodies, acceleration, n, softening)) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  const unsigned blocks = static_cast<unsigned>((n + block_size - 1) / block_size);
  accelerate_from_global<<<blocks, block_size, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}

/// The same from tiles in shared memory, a body a thread.
cudaError_t shared_tile(const Body* bodies, Vector* acceleration, std::int64_t n, double softening,
                        cudaStream_t stream) {
  if (refused(bodies, acceleration, n, softening)) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  const unsigned blocks = static_cast<unsigned>((n + block_size - 1) / block_size);
  accelerate_by_tiles<1, false><<<blocks, block_size, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}

/// The same with two bodies per thread and a root that leaves out the special cases: softening^2
/// and the squares of all distances lie between 2^-1000 and 2^1000.
cudaError_t fast_root(const Body* bodies, Vector* acceleration, std::int64_t n, double softening,
                      cudaStream_t stream) {
  if (refused(bodies, acceleration, n, softening)) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  constexpr int per_thread = 2;
  const int row = per_thread * block_size;
  const unsigned blocks = static_cast<unsigned>((n + row - 1) / row);
  accelerate_by_tiles<per_thread, true><<<blocks, block_size, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}

}  // namespace double_precision
