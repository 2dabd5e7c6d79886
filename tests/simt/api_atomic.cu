// Atomics of every type and scope against sums on the host.
#include <algorithm>
#include <cstdint>

#include "simt_test.hpp"

namespace {

using simt_test::Array;

class Atomic : public simt_test::Device {};

template <class T>
__global__ void add(T* sum, const T* in) {
  atomicAdd(sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
}
template <class T>
void expect_add() {
  std::vector<T> in(256);
  T want = 3;
  for (int i = 0; i < 256; ++i) want = static_cast<T>(want + (in[i] = static_cast<T>(i % 17)));
  Array<T> device(in), sum(1, T(3));
  add<T><<<4, 64>>>(sum.get(), device.get());
  EXPECT_EQ(sum.first(), want);
}
TEST_F(Atomic, add_of_every_type) {
  expect_add<int>();
  expect_add<unsigned>();
  expect_add<unsigned long long>();
  expect_add<float>();
  expect_add<double>();
  expect_clean();
}

template <class T>
__global__ void others(T* data) {
  const T i = static_cast<T>(blockIdx.x * blockDim.x + threadIdx.x);
  atomicSub(&data[0], i);
  atomicMin(&data[1], i);
  atomicMax(&data[2], i);
  atomicAnd(&data[3], ~(T(1) << (i % 20)));
  atomicOr(&data[4], T(1) << (i % 20));
  atomicXor(&data[5], i);
}
template <class T>
void expect_others() {
  Array<T> data(std::vector<T>{T(100000), T(77), T(77), T(-1), T(0), T(0)});
  others<T><<<2, 64>>>(data.get());
  const auto got = data.host();
  EXPECT_EQ(got[0], T(100000 - 127 * 64));
  EXPECT_EQ(got[1], T(0));
  EXPECT_EQ(got[2], T(127));
  EXPECT_EQ(got[3], T(~T(0xfffff)));
  EXPECT_EQ(got[4], T(0xfffff));
  T x = 0;
  for (int i = 0; i < 128; ++i) x ^= T(i);
  EXPECT_EQ(got[5], x);
}
TEST_F(Atomic, integers) {
  expect_others<int>();
  expect_others<unsigned>();
  expect_clean();
}
__global__ void wide(unsigned long long* data, long long* low, long long* high) {
  const unsigned long long i = threadIdx.x;
  atomicMin(&data[0], i + (1ull << 40));
  atomicMax(&data[1], i + (1ull << 40));
  atomicAnd(&data[2], ~(1ull << (i + 10)));
  atomicOr(&data[3], 1ull << (i + 10));
  atomicXor(&data[4], 1ull << 50);
  atomicExch(&data[5], i);
  atomicCAS(&data[6], 5ull, 1ull << 60);
  atomicMin(low, -static_cast<long long>(i));
  atomicMax(high, static_cast<long long>(i) - 40);
}
TEST_F(Atomic, sixty_four_bits) {
  Array<unsigned long long> data(std::vector<unsigned long long>{~0ull, 0, ~0ull, 0, 0, 99, 5});
  Array<long long> low(1, 0ll), high(1, -100ll);
  wide<<<1, 32>>>(data.get(), low.get(), high.get());
  const auto got = data.host();
  EXPECT_EQ(got[0], 1ull << 40);
  EXPECT_EQ(got[1], (1ull << 40) + 31);
  EXPECT_EQ(got[2], ~(0xffffffffull << 10));
  EXPECT_EQ(got[3], 0xffffffffull << 10);
  EXPECT_EQ(got[4], 0u);
  EXPECT_LT(got[5], 32u);
  EXPECT_EQ(got[6], 1ull << 60);
  EXPECT_EQ(low.first(), -31);
  EXPECT_EQ(high.first(), -9);
  expect_clean();
}

/// The values returned before each addition are all different.
__global__ void tickets(int* counter, int* seen) { atomicAdd(&seen[atomicAdd(counter, 1)], 1); }
TEST_F(Atomic, return_the_old_value) {
  Array<int> counter(1, 0), seen(512, 0);
  tickets<<<4, 128>>>(counter.get(), seen.get());
  EXPECT_EQ(seen.host(), std::vector<int>(512, 1));
  expect_clean();
}

__global__ void wrap(unsigned* data, unsigned* out) {
  out[threadIdx.x] = atomicInc(&data[0], 9u);
  atomicDec(&data[1], 9u);
}
TEST_F(Atomic, increments_that_wrap) {
  Array<unsigned> data(2, 0u), out(32);
  wrap<<<1, 32>>>(data.get(), out.get());
  EXPECT_EQ(data.host()[0], 2u);
  EXPECT_EQ(data.host()[1], 8u);  // 0 -> 9 -> 8 ...: 32 steps of 10
  for (const unsigned v : out.host()) EXPECT_LE(v, 9u);
  expect_clean();
}

__global__ void exchange(int* data, float* fdata, int* out) {
  out[threadIdx.x] = atomicExch(data, static_cast<int>(threadIdx.x));
  atomicExch(fdata, 2.5f);
}
TEST_F(Atomic, exchange) {
  Array<int> data(1, -1), out(32);
  Array<float> fdata(1, 0.0f);
  exchange<<<1, 32>>>(data.get(), fdata.get(), out.get());
  auto all = out.host();
  all.push_back(data.first());
  std::sort(all.begin(), all.end());
  for (int i = 0; i < 33; ++i) EXPECT_EQ(all[i], i - 1) << "each value is seen once";
  EXPECT_EQ(fdata.first(), 2.5f);
  expect_clean();
}

/// A maximum of floats by compare-and-swap.
__device__ float atomic_max_float(float* p, float v) {
  int* word = reinterpret_cast<int*>(p);
  int old = atomicCAS(word, 0, 0), assumed;
  do {
    assumed = old;
    old = atomicCAS(word, assumed, __float_as_int(fmaxf(v, __int_as_float(assumed))));
  } while (assumed != old);
  return __int_as_float(old);
}
__global__ void maximum(const float* in, float* out) {
  atomic_max_float(out, in[blockIdx.x * blockDim.x + threadIdx.x]);
}
TEST_F(Atomic, compare_and_swap_loop) {
  std::vector<float> in(256);
  for (int i = 0; i < 256; ++i) in[i] = static_cast<float>(i * 37 % 256) - 0.5f;
  Array<float> device(in), out(1, 0.0f);
  maximum<<<2, 128>>>(device.get(), out.get());
  EXPECT_EQ(out.first(), 254.5f);
  expect_clean();
}
__global__ void short_swap(unsigned short* p) {
  atomicCAS(&p[1], (unsigned short)7, (unsigned short)9);
}
TEST_F(Atomic, sixteen_bits) {
  Array<unsigned short> data(4, (unsigned short)7);
  short_swap<<<1, 32>>>(data.get());
  EXPECT_EQ(data.host(), (std::vector<unsigned short>{7, 9, 7, 7}));
  expect_clean();
}

struct __align__(16) Pair {
  long long key, count;
};
__global__ void pairs(Pair* p, Pair* last, float4* v) {
  Pair want{0, 0}, seen = atomicCAS(p, want, want);
  do {
    want = seen;
    seen = atomicCAS(p, want, Pair{want.key + 1, want.count + 2});
  } while (seen.key != want.key || seen.count != want.count);
  atomicExch(last, Pair{threadIdx.x, -static_cast<long long>(threadIdx.x)});
  atomicExch_block(v, make_float4(1, 2, 3, 4));
}
TEST_F(Atomic, sixteen_bytes) {
  Array<Pair> sum(1, Pair{0, 0}), last(1, Pair{0, 0});
  Array<float4> v(1, float4{0, 0, 0, 0});
  pairs<<<4, 64>>>(sum.get(), last.get(), v.get());
  const Pair p = sum.first(), q = last.first();
  EXPECT_EQ(p.key, 256);
  EXPECT_EQ(p.count, 512);
  EXPECT_EQ(q.key, -q.count) << "both halves are of one thread";
  EXPECT_EQ(v.first().w, 4);
  expect_clean();
}
__global__ void scopes(int* data, double* ddata) {
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  atomicAdd_block(&s, 1);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd_system(data, s);
  atomicMax_system(data + 1, static_cast<int>(threadIdx.x));
  atomicAdd_block(ddata + blockIdx.x, 0.5);
}
TEST_F(Atomic, scopes) {
  Array<int> data(2, 0);
  Array<double> ddata(3, 0.0);
  scopes<<<3, 64>>>(data.get(), ddata.get());
  EXPECT_EQ(data.host(), (std::vector<int>{192, 63}));
  EXPECT_EQ(ddata.host()[2], 32.0);
  expect_clean();
}

__global__ void lock_between_blocks(int* lock, volatile int* sum) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *sum = *sum + 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}
TEST_F(Atomic, lock_between_blocks) {
  Array<int> lock(1, 0), sum(1, 0);
  lock_between_blocks<<<50, 32>>>(lock.get(), sum.get());
  EXPECT_EQ(sum.first(), 50);
  expect_clean();
}

}  // namespace
