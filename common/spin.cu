// The kernel that keeps the GPU busy while launches are queued, and reads its clock. Only measuring
// needs it, and its inline PTX needs a GPU.
#include "device_ops.hpp"

namespace course {
namespace {

__global__ void spin_kernel(std::int64_t cycles, std::int64_t* passed) {
  std::int64_t nanoseconds_before, nanoseconds_after;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds_before));
  const std::int64_t before = clock64();
  std::int64_t now = before;
  while (now - before < cycles) now = clock64();
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds_after));
  passed[0] = now - before;
  passed[1] = nanoseconds_after - nanoseconds_before;
}

}  // namespace

cudaError_t launch_spin(std::int64_t cycles, std::int64_t* passed, cudaStream_t stream) {
  spin_kernel<<<1, 1, 0, stream>>>(cycles, passed);
  return cudaGetLastError();
}

}  // namespace course
