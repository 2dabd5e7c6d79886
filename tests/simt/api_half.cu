// fp16 and bf16 scalars: conversions bit for bit, arithmetic rounded once.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "simt_test.hpp"

namespace {

using simt_test::Array;

class SmallFloat : public simt_test::Device {};

unsigned short bits(__half h) {
  unsigned short b;
  std::memcpy(&b, &h, 2);
  return b;
}
unsigned short bits(__nv_bfloat16 h) {
  unsigned short b;
  std::memcpy(&b, &h, 2);
  return b;
}

TEST_F(SmallFloat, known_values) {
  EXPECT_EQ(bits(__float2half(1.0f)), 0x3c00);
  EXPECT_EQ(bits(__float2half(-2.0f)), 0xc000);
  EXPECT_EQ(bits(__float2half(65504.0f)), 0x7bff);
  EXPECT_EQ(bits(__float2half(65520.0f)), 0x7c00) << "rounds to infinity";
  EXPECT_EQ(bits(__float2half(65519.0f)), 0x7bff);
  EXPECT_EQ(bits(__float2half(5.9604645e-8f)), 0x0001) << "smallest denormal";
  EXPECT_EQ(bits(__float2half(2.9802322e-8f)), 0x0000) << "half of it: to even";
  EXPECT_EQ(bits(__float2half(8.940697e-8f)), 0x0002) << "one and a half of it: to even";
  EXPECT_EQ(bits(__float2half(-0.0f)), 0x8000);
  EXPECT_EQ(bits(__float2half(1.0f + 1.0f / 2048)), 0x3c00) << "halfway: to even";
  EXPECT_EQ(bits(__float2half(1.0f + 3.0f / 2048)), 0x3c02) << "halfway: to even";
  EXPECT_EQ(bits(__float2bfloat16(1.0f)), 0x3f80);
  EXPECT_EQ(bits(__float2bfloat16(1.0f + 1.0f / 256)), 0x3f80) << "halfway: to even";
  EXPECT_EQ(bits(__float2bfloat16(1.0f + 3.0f / 256)), 0x3f82);
  EXPECT_EQ(bits(__float2bfloat16(-3.4028235e38f)), 0xff80) << "rounds to infinity";
  EXPECT_TRUE(std::isnan(__half2float(__float2half(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_TRUE(
      std::isnan(__bfloat162float(__float2bfloat16(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_EQ(sizeof(__half), 2u);
  EXPECT_EQ(sizeof(__nv_bfloat16), 2u);
  EXPECT_EQ(sizeof(__half2), 4u);
}
TEST_F(SmallFloat, every_half_survives_float) {
  for (unsigned i = 0; i < 0x10000; ++i) {
    const auto b = static_cast<unsigned short>(i);
    if ((b & 0x7c00) == 0x7c00 && (b & 0x3ff)) continue;  // not a number
    __half h;
    std::memcpy(static_cast<void*>(&h), &b, 2);
    ASSERT_EQ(bits(__float2half(__half2float(h))), b);
    if ((b & 0x7f80) == 0x7f80) continue;
    __nv_bfloat16 f;
    std::memcpy(static_cast<void*>(&f), &b, 2);
    ASSERT_EQ(bits(__float2bfloat16(__bfloat162float(f))), b);
  }
}

template <class T>
__global__ void arithmetic(const T* a, const T* b, T* out) {
  const int t = threadIdx.x;
  out[5 * t] = a[t] + b[t];
  out[5 * t + 1] = a[t] - b[t];
  out[5 * t + 2] = a[t] * b[t];
  out[5 * t + 3] = a[t] / b[t];
  out[5 * t + 4] = a[t] < b[t] ? a[t] : b[t];
}
TEST_F(SmallFloat, arithmetic_rounds_once) {
  std::vector<__half> a(64), b(64);
  std::vector<__nv_bfloat16> c(64), d(64);
  for (int i = 0; i < 64; ++i) {
    const float x = 0.37f * static_cast<float>(i) - 7, y = 1.9f * static_cast<float>(i % 9) + 0.3f;
    a[i] = __float2half(x), b[i] = __float2half(y);
    c[i] = __float2bfloat16(x), d[i] = __float2bfloat16(y);
  }
  Array<__half> da(a), db(b), out(320);
  arithmetic<__half><<<1, 64>>>(da.get(), db.get(), out.get());
  const auto h = out.host();
  Array<__nv_bfloat16> dc(c), dd(d), out2(320);
  arithmetic<__nv_bfloat16><<<1, 64>>>(dc.get(), dd.get(), out2.get());
  const auto g = out2.host();
  for (int i = 0; i < 64; ++i) {
    const float x = __half2float(a[i]), y = __half2float(b[i]);
    EXPECT_EQ(bits(h[5 * i]), bits(__float2half(x + y)));
    EXPECT_EQ(bits(h[5 * i + 1]), bits(__float2half(x - y)));
    EXPECT_EQ(bits(h[5 * i + 2]), bits(__float2half(x * y)));
    EXPECT_EQ(bits(h[5 * i + 3]), bits(__float2half(x / y)));
    EXPECT_EQ(bits(h[5 * i + 4]), bits(x < y ? a[i] : b[i]));
    const float u = __bfloat162float(c[i]), v = __bfloat162float(d[i]);
    EXPECT_EQ(bits(g[5 * i]), bits(__float2bfloat16(u + v)));
    EXPECT_EQ(bits(g[5 * i + 2]), bits(__float2bfloat16(u * v)));
  }
  expect_clean();
}

__global__ void functions(const __half* in, __half2* pairs, float* out) {
  const int t = threadIdx.x;
  const __half a = in[t];
  out[t] = __half2float(__hadd(a, a)) + __half2float(__hmul(a, __float2half(2.0f))) +
           __half2float(__hfma(a, a, a)) + (__hgt(a, __float2half(3.0f)) ? 100.0f : 0.0f);
  const __half2 pair = __halves2half2(a, __hneg(a));
  pairs[t] = __hadd2(pair, pair);
}
TEST_F(SmallFloat, functions) {
  std::vector<__half> in(32);
  for (int i = 0; i < 32; ++i) in[i] = __float2half(static_cast<float>(i));
  Array<__half> device(in);
  Array<__half2> pairs(32);
  Array<float> out(32);
  functions<<<1, 32>>>(device.get(), pairs.get(), out.get());
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(out.host()[i], 4 * i + i * i + i + (i > 3 ? 100 : 0));
    EXPECT_EQ(__low2float(pairs.host()[i]), 2 * i);
    EXPECT_EQ(__high2float(pairs.host()[i]), -2 * i);
  }
  expect_clean();
}

__global__ void halves_add(__half* h, __half2* h2, __nv_bfloat16* b) {
  atomicAdd(h, __float2half(1.0f));
  atomicAdd(h2, __floats2half2_rn(1.0f, 2.0f));
  atomicAdd(b, __float2bfloat16(1.0f));
}
TEST_F(SmallFloat, atomics) {
  Array<__half> h(1, __float2half(0.0f));
  Array<__half2> h2(1, __floats2half2_rn(0.0f, 0.0f));
  Array<__nv_bfloat16> b(1, __float2bfloat16(0.0f));
  halves_add<<<2, 32>>>(h.get(), h2.get(), b.get());
  EXPECT_EQ(__half2float(h.first()), 64);
  EXPECT_EQ(__low2float(h2.first()), 64);
  EXPECT_EQ(__high2float(h2.first()), 128);
  EXPECT_EQ(__bfloat162float(b.first()), 64);
  expect_clean();
}

__global__ void shuffled(const __half* in, __half* out) {
  out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, in[threadIdx.x], 1);
}
TEST_F(SmallFloat, shuffles) {
  std::vector<__half> in(32);
  for (int i = 0; i < 32; ++i) in[i] = __float2half(static_cast<float>(i));
  Array<__half> device(in), out(32);
  shuffled<<<1, 32>>>(device.get(), out.get());
  EXPECT_EQ(__half2float(out.host()[4]), 5);
  expect_clean();
}

}  // namespace
