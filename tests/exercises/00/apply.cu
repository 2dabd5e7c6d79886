// Answers to exercises 1 and 2 of chapter 00, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

// The host computes, and a kernel is launched that does nothing.
namespace host_computes {
// 1 2: NOT YET: n=256: right, but not by the rules: the host, reads
__global__ void nothing(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 0;
}

cudaError_t apply(const float* in, float* out, int n) {
  nothing<<<(n + 255) / 256, 256>>>(out, n);
  cudaDeviceSynchronize();
  for (int i = 0; i < n; ++i) out[i] = 2 * in[i];
  return cudaGetLastError();
}
}  // namespace host_computes

// Allowed by the rules, but no thread of the GPU has any work.
namespace host_copies {
// 1 2: NOT YET: right, but its kernels do not read
cudaError_t apply(const float* in, float* out, int n) {
  std::vector<float> here(n);
  cudaMemcpy(here.data(), in, n * sizeof(float), cudaMemcpyDeviceToHost);
  for (float& x : here) x *= 2;
  return cudaMemcpy(out, here.data(), n * sizeof(float), cudaMemcpyHostToDevice);
}
}  // namespace host_copies

namespace one_thread {
// 1 2: NOT YET: right, but one after the other
__global__ void double_all(const float* in, float* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = 2 * in[i];
}

cudaError_t apply(const float* in, float* out, int n) {
  double_all<<<1, 1>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_thread

namespace one_thread_per_block {
// 1 2: NOT YET: right, but one after the other
__global__ void double_one(const float* in, float* out) { out[blockIdx.x] = 2 * in[blockIdx.x]; }

cudaError_t apply(const float* in, float* out, int n) {
  double_one<<<n, 1>>>(in, out);
  return cudaGetLastError();
}
}  // namespace one_thread_per_block

namespace one_lane_per_warp {
// 1 2: NOT YET: right, but one after the other
__global__ void double_some(const float* in, float* out, int n) {
  if (threadIdx.x % 32 != 0) return;
  for (int i = blockIdx.x * 8 + threadIdx.x / 32; i < n; i += gridDim.x * 8) out[i] = 2 * in[i];
}

cudaError_t apply(const float* in, float* out, int n) {
  double_some<<<256, 256>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp

namespace one_block {
// 1 2: NOT YET: right, but one after the other
__global__ void double_all(const float* in, float* out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = 2 * in[i];
}

cudaError_t apply(const float* in, float* out, int n) {
  double_all<<<1, 256>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace one_block

// The host goes through the array, 256 elements at a time.
namespace launches_in_a_loop {
// 1 2: NOT YET: right, but one after the other
__global__ void double_here(const float* in, float* out, int n) {
  const int i = threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}

cudaError_t apply(const float* in, float* out, int n) {
  for (int first = 0; first < n; first += 256)
    double_here<<<1, 256>>>(in + first, out + first, n - first);
  return cudaGetLastError();
}
}  // namespace launches_in_a_loop

// Right, because all blocks write the same values.
namespace each_block_does_all {
// 1 2: NOT YET: n=2^10: right, but not by the rules: double_all
__global__ void double_all(const float* in, float* out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = 2 * in[i];
}

cudaError_t apply(const float* in, float* out, int n) {
  double_all<<<(n + 255) / 256, 256>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace each_block_does_all

// Neighbouring elements go to different blocks, so a warp's accesses are not coalesced.
namespace dealt_out {
// 1 2: NOT YET: right, but it moves 2
__global__ void double_one(const float* in, float* out, int n) {
  const int i = threadIdx.x * gridDim.x + blockIdx.x;
  if (i < n) out[i] = 2 * in[i];
}

cudaError_t apply(const float* in, float* out, int n) {
  double_one<<<(n + 255) / 256, 256>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace dealt_out

namespace small_blocks {
// 1 2: PASSED
__global__ void double_one(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = in[i] + in[i];
}

cudaError_t apply(const float* in, float* out, int n) {
  double_one<<<(n - 1) / 64 + 1, 64>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace small_blocks

namespace some_each {
// 1 2: PASSED
__global__ void double_some(const float* in, float* out, int n) {
  const int all = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all) out[i] = 2 * in[i];
}

cudaError_t apply(const float* in, float* out, int n) {
  double_some<<<32, 512>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace some_each

namespace from_the_end {
// 1 2: PASSED
__global__ void double_one(const float* in, float* out, int n) {
  const int i = n - 1 - static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= 0) out[i] = 2 * in[i];
}

cudaError_t apply(const float* in, float* out, int n) {
  double_one<<<n / 1024 + 1, 1024>>>(in, out, n);
  return cudaGetLastError();
}
}  // namespace from_the_end

namespace full_blocks_and_the_rest {
// 1 2: PASSED
__global__ void double_one(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2 * in[i];
}

cudaError_t apply(const float* in, float* out, int n) {
  const int full = n / 256 * 256, rest = n - full;
  if (full > 0) double_one<<<full / 256, 256>>>(in, out);
  if (rest > 0) double_one<<<1, rest>>>(in + full, out + full);
  return cudaGetLastError();
}
}  // namespace full_blocks_and_the_rest
