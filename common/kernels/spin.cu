// Kernels that only measuring needs, with PTX that needs a GPU: one that keeps the GPU busy while
// launches are queued, and one that reads the SMs' clocks.
#include "kernels/device_ops.hpp"

namespace course {
namespace {

__device__ std::int64_t nanoseconds_now() {
  std::int64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void spin_kernel(std::int64_t cycles, std::int64_t* passed) {
  const std::int64_t nanoseconds_before = nanoseconds_now();
  const std::int64_t before = clock64();
  std::int64_t now = before;
  while (now - before < cycles) now = clock64();
  if (passed == nullptr) return;
  passed[0] = now - before;
  passed[1] = nanoseconds_now() - nanoseconds_before;
}

/// One block per SM, as long as nothing else runs; of two on one SM, the later stamp stays.
__global__ void stamp_kernel(ClockStamp* stamps) {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  if (threadIdx.x != 0 || sm >= most_stamps) return;
  stamps[sm].nanoseconds = static_cast<std::uint64_t>(nanoseconds_now());
  stamps[sm].cycles = static_cast<std::uint64_t>(clock64());
}

}  // namespace

cudaError_t launch_spin(std::int64_t cycles, std::int64_t* passed, cudaStream_t stream) {
  spin_kernel<<<1, 1, 0, stream>>>(cycles, passed);
  return cudaGetLastError();
}

cudaError_t launch_stamps(ClockStamp* stamps, int sm_count, cudaStream_t stream) {
  stamp_kernel<<<static_cast<unsigned>(sm_count), 32, 0, stream>>>(stamps);
  return cudaGetLastError();
}

}  // namespace course
