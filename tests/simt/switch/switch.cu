// A few kernels that switch between threads in every way, for engines built with another context
// switch (SIMT_SWITCH).
#include <cooperative_groups.h>

#include "simt_test.hpp"

namespace {

using simt_test::Array;

class Switch : public simt_test::Device {};

__global__ void tree(const double* in, double* out) {
  __shared__ double s[256];
  const int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
TEST_F(Switch, barriers_keep_floating_point_state) {
  Array<double> in(20 * 256, 0.125), out(20);
  tree<<<20, 256>>>(in.get(), out.get());
  EXPECT_EQ(out.host(), std::vector<double>(20, 32.0));
  expect_clean();
}
__global__ void shuffles(int* out) {
  int v = threadIdx.x;
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
TEST_F(Switch, warps) {
  Array<int> out(128);
  shuffles<<<2, 64>>>(out.get());
  EXPECT_EQ(out.host()[0], 496);
  EXPECT_EQ(out.host()[127], 496 + 1024);
  expect_clean();
}
__global__ void grid(int* data, int* out) {
  data[blockIdx.x] = static_cast<int>(blockIdx.x);
  cooperative_groups::this_grid().sync();
  out[blockIdx.x] = data[(blockIdx.x + 1) % gridDim.x];
}
TEST_F(Switch, grids) {
  Array<int> data(16), out(16);
  int *a = data.get(), *b = out.get();
  void* arguments[] = {&a, &b};
  ASSERT_EQ(cudaLaunchCooperativeKernel((void*)grid, dim3(16), dim3(1), arguments, 0, nullptr),
            cudaSuccess);
  EXPECT_EQ(out.host()[15], 0);
  EXPECT_EQ(out.first(), 1);
  expect_clean();
}
__global__ void deep(int* out, int depth);
__device__ __noinline__ int descend(int depth) {
  volatile char frame[400];
  frame[depth % 400] = 1;
  __syncthreads();
  return depth == 0 ? 0 : descend(depth - 1) + frame[depth % 400];
}
__global__ void deep(int* out, int depth) { out[threadIdx.x] = descend(depth); }
TEST_F(Switch, stacks_are_each_threads_own) {
  Array<int> out(96);
  deep<<<1, 96>>>(out.get(), 40);
  EXPECT_EQ(out.host(), std::vector<int>(96, 40));
  expect_clean();
}
__global__ void fault(int* p) { p[1 << 22] = 1; }
TEST_F(Switch, error_in_a_thread_ends_the_kernel) {
  Array<int> data(1, 0);
  fault<<<2, 64>>>(data.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  simt::take_findings();
}

}  // namespace
