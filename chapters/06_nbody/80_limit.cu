// The record, after the readable ladder ended.
// Idea: eight bodies per thread, so that a load serves eight interactions; as many blocks as fit on
//   the GPU, each with the same number of tiles, and smaller ones where there are few bodies. And
//   the tile holds {mass, x, y, z}, so that x of i and x of j come to stand in registers of
//   different banks (odd and even numbers).
// Predicts: 13.16 instructions. By the model of the banks (issue_slots) 15.05 clocks for a warp,
//   where 08 has 16.84: none of these differences reads two registers of one bank.
// Still wrong: three instructions read three registers, so two of one bank.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

namespace limit {

/// 1 / sqrt(x) by one instruction, off by at most a part in 2^22.9. A denormal x counts as zero;
/// here x is at least softening^2. PTX ISA, "rsqrt".
__device__ float reciprocal_root(float x) {
#ifdef SIMT
  return 1 / sqrtf(x);
#else
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#endif
}

/// A body in shared memory: loaded into four registers in a row, of which the first has an even
/// number. Bodies {x, y, z, mass} are loaded from global memory the same way.
struct alignas(16) MassFirst {
  float mass, x, y, z;
};

/// The work is a matrix of units, a row for each per_thread * block_size bodies i, a column for
/// each block_size bodies j; each block takes as many units in reading order. acceleration is zero
/// before. blocks_an_sm: as many are resident at least, so this is how many registers they have.
template <int per_thread, int block_size, int blocks_an_sm>
__global__ void __launch_bounds__(block_size, blocks_an_sm)
    accelerate_bodies(const float4* bodies, float4* acceleration, int n, float softening2) {
  constexpr int row_size = per_thread * block_size;
  __shared__ MassFirst tile[block_size];
  const int t = threadIdx.x;
  const float4 nobody = make_float4(0, 0, 0, 0);
  const int columns = (n + block_size - 1) / block_size;
  const std::int64_t units = std::int64_t{(n + row_size - 1) / row_size} * columns;
  std::int64_t unit = units * blockIdx.x / gridDim.x;
  const std::int64_t end = units * (blockIdx.x + 1) / gridDim.x;
  while (unit < end) {
    const int row = static_cast<int>(unit / columns);
    const int from = static_cast<int>(unit % columns);
    const int to = static_cast<int>(min(std::int64_t{columns}, from + end - unit));
    unit += to - from;
    const int i = row * row_size + t;
    float4 me[per_thread];
    float ax[per_thread] = {}, ay[per_thread] = {}, az[per_thread] = {};
    for (int k = 0; k < per_thread; ++k) {
      me[k] = i + k * block_size < n ? bodies[i + k * block_size] : nobody;
    }
    for (int first = from * block_size; first < to * block_size; first += block_size) {
      const float4 body = first + t < n ? bodies[first + t] : nobody;
      tile[t] = {body.w, body.x, body.y, body.z};
      __syncthreads();  // A: the tile is there before anyone reads it
#pragma unroll 16
      for (int j = 0; j < block_size; ++j) {
        const MassFirst other = tile[j];
        for (int k = 0; k < per_thread; ++k) {
          const float dx = other.x - me[k].x;
          const float dy = other.y - me[k].y;
          const float dz = other.z - me[k].z;
          const float inverse = reciprocal_root(softening2 + dz * dz + dy * dy + dx * dx);
          const float pull = other.mass * inverse * (inverse * inverse);
          ax[k] += pull * dx;
          ay[k] += pull * dy;
          az[k] += pull * dz;
        }
      }
      __syncthreads();  // B: all have read it before anyone overwrites it
    }
    for (int k = 0; k < per_thread; ++k) {
      if (i + k * block_size >= n) continue;
      float4* const out = &acceleration[i + k * block_size];
      if (to - from == columns) {
        *out = make_float4(ax[k], ay[k], az[k], 0);
      } else {
        atomicAdd(&out->x, ax[k]);
        atomicAdd(&out->y, ay[k]);
        atomicAdd(&out->z, az[k]);
      }
    }
  }
}

/// True if a float4 may lie there.
bool aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % alignof(float4) == 0; }

/// Bodies are counted as int, also those that fill up the largest last row.
constexpr std::int64_t max_n = (std::int64_t{1} << 31) - 8 * 512;

/// A launch of the kernel above with as many blocks as are resident, and the memory cleared for it.
template <int per_thread, int block_size, int blocks_an_sm>
cudaError_t accelerate_by(const float4* bodies, float4* acceleration, std::int64_t n,
                          float softening, cudaStream_t stream) {
  if (n < 0 || n > max_n || !(softening > 0)) return cudaErrorInvalidValue;
  if (!aligned(bodies) || !aligned(acceleration)) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  int device = 0, sms = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device)) {
    return error;
  }
  constexpr int row_size = per_thread * block_size;
  const std::int64_t units = (n + row_size - 1) / row_size * ((n + block_size - 1) / block_size);
  const auto blocks =
      static_cast<unsigned>(std::min<std::int64_t>(units, std::int64_t{sms} * blocks_an_sm));
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float4);
  if (cudaError_t error = cudaMemsetAsync(acceleration, 0, bytes, stream)) return error;
  accelerate_bodies<per_thread, block_size, blocks_an_sm><<<blocks, block_size, 0, stream>>>(
      bodies, acceleration, static_cast<int>(n), softening * softening);
  return cudaGetLastError();
}

/// Units of 64 x 64 interactions: for few bodies, whatever n is.
cudaError_t accelerate_few(const float4* bodies, float4* acceleration, std::int64_t n,
                           float softening, cudaStream_t stream) {
  return accelerate_by<1, 64, 16>(bodies, acceleration, n, softening, stream);
}

/// Units of 256 x 64 interactions, whatever n is.
cudaError_t accelerate_some(const float4* bodies, float4* acceleration, std::int64_t n,
                            float softening, cudaStream_t stream) {
  return accelerate_by<4, 64, 10>(bodies, acceleration, n, softening, stream);
}

/// Units of 4096 x 512 interactions: for many bodies, whatever n is.
cudaError_t accelerate_many(const float4* bodies, float4* acceleration, std::int64_t n,
                            float softening, cudaStream_t stream) {
  return accelerate_by<8, 512, 1>(bodies, acceleration, n, softening, stream);
}

/// acceleration[i] = the sum over all j of m_j (p_j - p_i) / (|p_j - p_i|^2 + softening^2)^(3/2),
/// as {x, y, z, 0}. Device pointers; no other memory. Where three blocks share a row, which may be
/// so below 4096 bodies for each SM, the last bits may differ from run to run. \returns
/// cudaErrorInvalidValue for n < 0 or above max_n, for a softening that is not above 0, or for
/// pointers that are not aligned to 16 bytes; or the error of a launch.
cudaError_t accelerate(const float4* bodies, float4* acceleration, std::int64_t n, float softening,
                       cudaStream_t stream) {
  const auto by = n <= 1 << 13 ? accelerate_few : n <= 1 << 16 ? accelerate_some : accelerate_many;
  return by(bodies, acceleration, n, softening, stream);
}

}  // namespace limit
