// Kernels that test the harness itself: one of known length, and one that only launches.
#include <cuda_runtime.h>

#include <array>
#include <cstdint>
#include <utility>

namespace harness {

/// One thread spins until `cycles` SM clock cycles have passed, then stores that it has finished.
__global__ void spin_for(std::int64_t cycles, float* done) {
  const std::int64_t start = clock64();
  while (clock64() - start < cycles) {
  }
  *done = 1;
}

/// \returns the error of the launch.
cudaError_t spin(std::int64_t cycles, float* done, cudaStream_t stream) {
  spin_for<<<1, 1, 0, stream>>>(cycles, done);
  return cudaGetLastError();
}

/// The same as a kernel that begins while the one before it still runs (programmatic dependent
/// launch): it lets its successor begin at once and itself waits for its predecessor.
__global__ void spin_early(std::int64_t cycles, float* done) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
  const std::int64_t start = clock64();
  while (clock64() - start < cycles) {
  }
  *done = 1;
}

/// \returns the error of the launch.
cudaError_t spin_programmatic(std::int64_t cycles, float* done, cudaStream_t stream) {
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1);
  config.blockDim = dim3(1);
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, spin_early, cycles, done);
}

/// The same copy as many different kernels, one per value of `which`.
template <int which>
__global__ void copy_once(const float4* in, float4* out, std::int64_t n4) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (i < n4) out[i] = in[i];
}

using Copy = void (*)(const float4*, float4*, std::int64_t);

template <int... which>
std::array<Copy, sizeof...(which)> copies(std::integer_sequence<int, which...>) {
  return {copy_once<which>...};
}

/// Copies n floats (a multiple of 4) by a kernel that has not been launched before in this process,
/// as long as one of the 1024 is left. \returns the error of the launch.
cudaError_t copy_by_a_new_kernel(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  static const auto kernels = copies(std::make_integer_sequence<int, 1024>());
  static std::size_t next = 0;
  const Copy copy = kernels[next++ % kernels.size()];
  const std::int64_t n4 = n / 4;
  copy<<<static_cast<unsigned>((n4 + 255) / 256), 256, 0, stream>>>(
      reinterpret_cast<const float4*>(in), reinterpret_cast<float4*>(out), n4);
  return cudaGetLastError();
}

}  // namespace harness
