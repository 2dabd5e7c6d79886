// How many bytes must be on their way to one SM before the memory is busy all the time? Two ways to
// choose the number while the work stays the same (c = a + b); studies/in_flight_bulk.cu is the
// third.
// by threads: one float of each input a thread; unused shared memory keeps other blocks away, so
//   that 256 x k threads
//               are resident: 2 KiB in flight a block, 2 to 16 KiB in all.
// by unrolling: 2048 resident threads with u floats of each input: 16 x u KiB.
#include <cuda_runtime.h>

#include <cstdint>

namespace in_flight_study {

constexpr int block_size = 256;
constexpr std::int64_t max_n = std::int64_t{INT32_MAX} * block_size;  // a grid has so many blocks

/// c[i] = a[i] + b[i]; a thread loads `unroll` elements of each input before it adds.
template <int unroll>
__global__ void add_tile(const float* a, const float* b, float* c, std::int64_t n) {
  const std::int64_t first = std::int64_t{blockIdx.x} * block_size * unroll + threadIdx.x;
  float x[unroll], y[unroll];
#pragma unroll
  for (int k = 0; k < unroll; ++k) {
    const std::int64_t i = first + k * block_size;
    x[k] = i < n ? a[i] : 0.0f;
    y[k] = i < n ? b[i] : 0.0f;
  }
#pragma unroll
  for (int k = 0; k < unroll; ++k) {
    const std::int64_t i = first + k * block_size;
    if (i < n) c[i] = x[k] + y[k];
  }
}

template <int unroll>
cudaError_t launch(const float* a, const float* b, float* c, std::int64_t n, int shared_bytes,
                   cudaStream_t stream) {
  cudaError_t error = cudaFuncSetAttribute(
      add_tile<unroll>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (error != cudaSuccess) return error;
  const std::int64_t blocks = (n + block_size * unroll - 1) / (block_size * unroll);
  add_tile<unroll>
      <<<static_cast<unsigned>(blocks), block_size, static_cast<unsigned>(shared_bytes), stream>>>(
          a, b, c, n);
  return cudaGetLastError();
}

/// Adds n floats with `kib` (2, 4, ... 16) KiB in flight per SM, chosen by the number of resident
/// threads.
/// \returns cudaErrorInvalidValue for another number, for n < 0 or above max_n; or the error of the
/// launch.
cudaError_t by_threads(const float* a, const float* b, float* c, std::int64_t n, int kib,
                       cudaStream_t stream) {
  if (kib < 2 || kib > 16 || kib % 2 != 0 || n < 0 || n > max_n) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  int device = 0, per_sm = 0, most = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error =
          cudaDeviceGetAttribute(&per_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device)) {
    return error;
  }
  if (cudaError_t error =
          cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device))
    return error;
  const int bytes = (per_sm / (kib / 2) - 2048) / 128 * 128;
  return launch<1>(a, b, c, n, kib == 16 ? 0 : bytes < most ? bytes : most, stream);
}

/// Adds n floats with `kib` (16, 32, 48, 64, 96, 128) KiB in flight per SM, chosen by unrolling.
/// \returns cudaErrorInvalidValue for another number, for n < 0 or above max_n; or the error of the
/// launch.
cudaError_t by_unrolling(const float* a, const float* b, float* c, std::int64_t n, int kib,
                         cudaStream_t stream) {
  if (n < 0 || n > max_n) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  switch (kib) {
    case 16:
      return launch<1>(a, b, c, n, 0, stream);
    case 32:
      return launch<2>(a, b, c, n, 0, stream);
    case 48:
      return launch<3>(a, b, c, n, 0, stream);
    case 64:
      return launch<4>(a, b, c, n, 0, stream);
    case 96:
      return launch<6>(a, b, c, n, 0, stream);
    case 128:
      return launch<8>(a, b, c, n, 0, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace in_flight_study
