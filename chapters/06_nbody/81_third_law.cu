// Beyond the bound of 13 instructions: each pair once.
// Idea: body i pulls j as j pulls i, so that distance, root and cube serve two interactions. Lane
//   l of a warp meets body l + step of 32; the sum of a body j moves on to the lane that meets it
//   next, by a shuffle, and after 32 steps it is added to the result in global memory.
// Predicts: 17.6 instructions per pair, six of them with three registers: 21.7 clocks, or 10.9 per
//   interaction: 1.38 times as fast as 80.
// The price: sums of several blocks meet in an order that nobody fixes: the last bits may differ.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

namespace third_law {

constexpr int block_size = 128;
constexpr int per_thread = 8;
constexpr int row_size = per_thread * block_size;  // bodies of a block
constexpr unsigned all_lanes = 0xffffffffu;

/// A body in shared memory, so that its x and the x of a thread's own body {x, y, z, mass} come to
/// stand in registers of different banks.
struct alignas(16) MassFirst {
  float mass, x, y, z;
};

/// 1 / sqrt(x) by one instruction, off by at most a part in 2^22.9. PTX ISA, "rsqrt".
__device__ float reciprocal_root(float x) {
#ifdef SIMT
  return 1 / sqrtf(x);
#else
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#endif
}

/// Adds to an acceleration that other blocks add to, too; one instruction from compute capability
/// 9.0 on.
__device__ void add_to(float4* acceleration, float x, float y, float z) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  atomicAdd(&acceleration->x, x);
  atomicAdd(&acceleration->y, y);
  atomicAdd(&acceleration->z, z);
#else
  atomicAdd(acceleration, make_float4(x, y, z, 0));
#endif
}

/// The rows of row_size bodies stand in a ring. Each row meets itself, body by body, and the rows
/// of the half of the ring that comes next, pair by pair. A unit is a row and a tile of block_size
/// bodies that it meets; each block takes as many units. acceleration is zero before.
__global__ void __launch_bounds__(block_size)
    accelerate_pairs(const float4* bodies, float4* acceleration, int n, float softening2) {
  // 32 bodies, then the same again, so that a lane needs no modulo; and so on
  __shared__ MassFirst tile[2 * block_size];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const float4 nobody = make_float4(0, 0, 0, 0);
  const int rows = (n + row_size - 1) / row_size;
  const int half = rows / 2;
  const int units_a_row = (half + 1) * per_thread;
  const std::int64_t units = std::int64_t{rows} * units_a_row;
  std::int64_t unit = units * blockIdx.x / gridDim.x;
  const std::int64_t end = units * (blockIdx.x + 1) / gridDim.x;
  while (unit < end) {
    const int row = static_cast<int>(unit / units_a_row);
    const int from = static_cast<int>(unit % units_a_row);
    const int to = static_cast<int>(min(std::int64_t{units_a_row}, from + end - unit));
    unit += to - from;
    const int i = row * row_size + t;
    float4 me[per_thread];
    float ax[per_thread] = {}, ay[per_thread] = {}, az[per_thread] = {};
    for (int k = 0; k < per_thread; ++k) {
      me[k] = i + k * block_size < n ? bodies[i + k * block_size] : nobody;
    }
    for (int u = from; u < to; ++u) {
      const int ahead = u / per_thread;
      // two rows that face each other in an even ring meet once, not twice
      if (ahead == half && rows % 2 == 0 && row >= half) break;
      const int first = (row + ahead) % rows * row_size + u % per_thread * block_size;
      const float4 body = first + t < n ? bodies[first + t] : nobody;
      tile[64 * warp + lane] = {body.w, body.x, body.y, body.z};
      tile[64 * warp + lane + 32] = {body.w, body.x, body.y, body.z};
      __syncthreads();  // A: the tile is there before anyone reads it
      for (int c = 0; c < block_size / 32; ++c) {
        const int chunk = (c + warp) % (block_size / 32);  // each warp begins with another one
        const MassFirst* const mine = &tile[64 * chunk + lane];
        float bx = 0, by = 0, bz = 0;  // of the body that this lane meets
#pragma unroll 16
        for (int step = 0; step < 32; ++step) {
          const MassFirst other = mine[step];
          for (int k = 0; k < per_thread; ++k) {
            const float dx = other.x - me[k].x;
            const float dy = other.y - me[k].y;
            const float dz = other.z - me[k].z;
            const float inverse = reciprocal_root(softening2 + dz * dz + dy * dy + dx * dx);
            const float cube = inverse * inverse * inverse;
            const float pull = other.mass * cube, reaction = me[k].w * cube;
            ax[k] += pull * dx;
            ay[k] += pull * dy;
            az[k] += pull * dz;
            bx -= reaction * dx;
            by -= reaction * dy;
            bz -= reaction * dz;
          }
          bx = __shfl_sync(all_lanes, bx, lane + 1);
          by = __shfl_sync(all_lanes, by, lane + 1);
          bz = __shfl_sync(all_lanes, bz, lane + 1);
        }
        const int j = first + 32 * chunk + lane;
        // within a row every pair was met from both sides
        if (ahead > 0 && j < n) add_to(&acceleration[j], bx, by, bz);
      }
      __syncthreads();  // B: all have read it before anyone overwrites it
    }
    for (int k = 0; k < per_thread; ++k) {
      if (i + k * block_size < n) add_to(&acceleration[i + k * block_size], ax[k], ay[k], az[k]);
    }
  }
}

/// True if a float4 may lie there.
bool aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % alignof(float4) == 0; }

/// Bodies are counted as int, also those that fill up the last row.
constexpr std::int64_t max_n = (std::int64_t{1} << 31) - row_size;

/// acceleration[i] = the sum over all j of m_j (p_j - p_i) / (|p_j - p_i|^2 + softening^2)^(3/2),
/// as {x, y, z, 0}. Device pointers; no other memory. Two runs may differ in the last bits.
/// \returns cudaErrorInvalidValue for n < 0 or above max_n, for a softening that is not above 0, or
/// for pointers that are not aligned to 16 bytes; or the error of the launch.
cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  if (n < 0 || n > max_n || !(softening > 0)) return cudaErrorInvalidValue;
  if (!aligned(bodies) || !aligned(acceleration)) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  int device = 0, sms = 0, resident = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device)) {
    return error;
  }
  if (cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, accelerate_pairs,
                                                                        block_size, 0)) {
    return error;
  }
  const std::int64_t rows = (n + row_size - 1) / row_size;
  const std::int64_t units = rows * (rows / 2 + 1) * per_thread;
  const unsigned blocks =
      static_cast<unsigned>(std::min<std::int64_t>(units, std::int64_t{sms} * resident));
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float4);
  if (cudaError_t error = cudaMemsetAsync(acceleration, 0, bytes, stream)) return error;
  accelerate_pairs<<<blocks, block_size, 0, stream>>>(bodies, acceleration, static_cast<int>(n),
                                                      softening * softening);
  return cudaGetLastError();
}

}  // namespace third_law
