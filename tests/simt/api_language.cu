// The language: one small kernel for each construct, its result checked.
#include <cassert>
#include <cstdint>
#include <numeric>

#include "simt_test.hpp"

// At namespace scope, typed, and shared by the kernels of the file.
extern __shared__ float namespace_shared[];

namespace {

using simt_test::Array;
using simt_test::iota;

class Language : public simt_test::Device {};

// ---- Functions, templates, lambdas, pointers ----

__device__ __host__ __forceinline__ int twice(int v) { return 2 * v; }
static __device__ int plus_one(int v) { return v + 1; }
template <class T, int n>
__global__ void __launch_bounds__(64) scale(T* __restrict__ data, const T* __restrict__ in) {
  data[threadIdx.x] = static_cast<T>(twice(static_cast<int>(in[threadIdx.x])) * n);
}
TEST_F(Language, templates_and_device_functions) {
  Array<int> in(iota<int>(64)), out(64);
  scale<int, 3><<<1, 64>>>(out.get(), in.get());
  EXPECT_EQ(out.host()[10], 60);
  Array<double> din(iota<double>(64)), dout(64);
  scale<double, 2 + (3 > 2 ? 1 : 0)><<<dim3(1), dim3(64)>>>(dout.get(), din.get());
  EXPECT_EQ(dout.host()[10], 60.0);
  EXPECT_EQ(twice(21), 42) << "on the host, too";
  expect_clean();
}

template <class F>
__global__ void apply(F f, int* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = f(threadIdx.x);
}
TEST_F(Language, lambdas_as_arguments) {
  Array<int> out(32);
  const int offset = 100;
  apply<<<1, 32>>>([=] __device__(int i) { return i + offset; }, out.get());
  EXPECT_EQ(out.host()[31], 131);
  auto square = [] __host__ __device__(int i) { return i * i; };
  apply<<<1, 32>>>(square, out.get());
  EXPECT_EQ(out.host()[31], 961);
  expect_clean();
}

__global__ void lambdas_inside(int* out) {
  int calls = 0;
  const auto add = [&](int i) { return calls += i; };
  for (int i = 0; i < 4; ++i) add(static_cast<int>(threadIdx.x));
  out[threadIdx.x] = calls;
}
TEST_F(Language, lambdas_in_kernels) {
  Array<int> out(32);
  lambdas_inside<<<1, 32>>>(out.get());
  EXPECT_EQ(out.host()[3], 12);
  expect_clean();
}

using Function = int (*)(int);
__device__ int negate(int v) { return -v; }
__device__ Function functions[2] = {plus_one, negate};
__global__ void call_pointer(int* out) {
  out[threadIdx.x] = functions[threadIdx.x % 2](threadIdx.x);
}
TEST_F(Language, function_pointers) {
  Array<int> out(32);
  call_pointer<<<1, 32>>>(out.get());
  EXPECT_EQ(out.host()[4], 5);
  EXPECT_EQ(out.host()[5], -5);
  void (*kernel)(int*) = call_pointer;
  kernel<<<1, 8>>>(out.get());
  expect_clean();
}

struct Large {
  int values[64];
  double scale;
};
__global__ void by_value(const Large large, const __grid_constant__ Large constant, int* out) {
  out[threadIdx.x] = static_cast<int>(large.values[threadIdx.x] * constant.scale);
}
TEST_F(Language, structures_by_value) {
  Large large{};
  for (int i = 0; i < 64; ++i) large.values[i] = i;
  large.scale = 3;
  Array<int> out(64);
  by_value<<<1, 64>>>(large, large, out.get());
  EXPECT_EQ(out.host()[20], 60);
  expect_clean();
}

/// An argument is converted to the parameter's type at the launch, once, on the host.
struct Counted {
  int* calls;
  operator int() const {
    ++*calls;
    return 7;
  }
};
__global__ void take_int(int value, double fraction, int* out) {
  out[threadIdx.x] = value + static_cast<int>(fraction);
}
TEST_F(Language, arguments_are_converted_at_the_launch) {
  int calls = 0;
  Array<int> out(32);
  take_int<<<1, 32>>>(Counted{&calls}, 2, out.get());
  EXPECT_EQ(out.first(), 9);
  expect_clean();
  EXPECT_EQ(calls, 1);
}

__global__ void own_parameters(int n, int* out) {
  n += threadIdx.x;
  out[threadIdx.x] = n;
}
TEST_F(Language, parameters_are_each_threads_own) {
  Array<int> out(64);
  own_parameters<<<1, 64>>>(5, out.get());
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out.host()[i], 5 + i);
  expect_clean();
}

struct Vector3 {
  float x, y, z;
  __device__ Vector3 operator+(const Vector3& b) const { return {x + b.x, y + b.y, z + b.z}; }
};
class Base {
 public:
  __device__ virtual int value() const { return 1; }
  __device__ virtual ~Base() {}
};
class Derived : public Base {
 public:
  __device__ int value() const override { return 2; }
};
__global__ void classes(float* out) {
  const Vector3 a{1, 2, 3}, b{4, 5, 6};
  const Vector3 c = a + b;
  Derived derived;
  const Base& base = derived;
  out[threadIdx.x] = c.x + c.y + c.z + static_cast<float>(base.value());
}
TEST_F(Language, classes_and_virtual_functions) {
  Array<float> out(32);
  classes<<<1, 32>>>(out.get());
  EXPECT_EQ(out.first(), 23);
  expect_clean();
}

// ---- Grids ----

__global__ void coordinates(int* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  const int w = gridDim.x * blockDim.x, h = gridDim.y * blockDim.y;
  out[(z * h + y) * w + x] = 10000 * z + 100 * y + x;
}
TEST_F(Language, grids_in_three_dimensions) {
  Array<int> out(12 * 10 * 6, -1);
  coordinates<<<dim3(3, 5, 2), dim3(4, 2, 3)>>>(out.get());
  const auto host = out.host();
  for (int z = 0; z < 6; ++z) {
    for (int y = 0; y < 10; ++y) {
      for (int x = 0; x < 12; ++x) {
        ASSERT_EQ(host[(z * 10 + y) * 12 + x], 10000 * z + 100 * y + x);
      }
    }
  }
  expect_clean();
}

__global__ void lanes_of_2d(unsigned* out) {
  const unsigned t = threadIdx.y * blockDim.x + threadIdx.x;
  out[t] = __ballot_sync(0xffffffffu, threadIdx.y % 2 == 0);
}
TEST_F(Language, warps_of_a_two_dimensional_block) {
  Array<unsigned> out(64);
  lanes_of_2d<<<1, dim3(8, 8)>>>(out.get());
  EXPECT_EQ(out.first(), 0x00ff00ffu);
  expect_clean();
}

__global__ void names_on_the_host(int* out, dim3 blockSize) {
  out[0] = blockDim.x == blockSize.x && gridDim.y == 2;
}
TEST_F(Language, host_variables_named_like_built_ins) {
  dim3 blockDim(16), gridDim(1, 2);
  Array<int> out(1);
  names_on_the_host<<<gridDim, blockDim>>>(out.get(), blockDim);
  cudaDeviceSynchronize();
  simt::take_findings();  // the two blocks write the same value
  EXPECT_EQ(out.first(), 1);
}

#define LAUNCH(kernel, blocks, threads, ...) kernel<<<blocks, threads>>>(__VA_ARGS__)
TEST_F(Language, launches_in_macros) {
  Array<int> out(32);
  LAUNCH(own_parameters, 1, 32, 1, out.get());
  EXPECT_EQ(out.host()[31], 32);
  expect_clean();
}

TEST_F(Language, grid_stride_loop_over_many_blocks) {
  Array<int> out(5000 * 32, 0);
  apply<<<5000, 32>>>([] __device__(int i) { return i; }, out.get());
  EXPECT_EQ(out.host()[4999 * 32 + 31], 31);
  expect_clean();
}

// ---- Shared memory ----

template <class T>
__global__ void reverse_in_shared(T* data) {
  extern __shared__ unsigned char bytes[];
  T* s = reinterpret_cast<T*>(bytes);
  s[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
TEST_F(Language, dynamic_shared_memory_of_a_template) {
  Array<double> doubles(iota<double>(48));
  reverse_in_shared<double><<<1, 48, 48 * sizeof(double)>>>(doubles.get());
  EXPECT_EQ(doubles.first(), 47);
  Array<short> shorts(iota<short>(48));
  reverse_in_shared<short><<<1, 48, 48 * sizeof(short)>>>(shorts.get());
  EXPECT_EQ(shorts.first(), 47);
  expect_clean();
}

__global__ void use_namespace_shared(float* out) {
  namespace_shared[threadIdx.x] = static_cast<float>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = namespace_shared[31 - threadIdx.x] + *(namespace_shared + 1);
}
TEST_F(Language, dynamic_shared_memory_at_namespace_scope) {
  Array<float> out(32);
  use_namespace_shared<<<1, 32, 128>>>(out.get());
  EXPECT_EQ(out.first(), 32);
  expect_clean();
}

__global__ void several_shared(int* out) {
  __shared__ int a[32], b[2][16];
  __shared__ double c;
  __shared__ __align__(16) char d[16];
  __shared__ volatile int e;
  extern __shared__ int dynamic[];
  const int t = threadIdx.x;
  a[t] = t;
  b[t / 16][t % 16] = 2 * t;
  dynamic[t] = 3 * t;
  if (t == 0) c = 0.5, e = 4;
  if (t < 16) d[t] = static_cast<char>(t);
  __syncthreads();
  const bool apart = &a[31] < &b[0][0] || &b[1][15] < &a[0];
  const bool aligned = reinterpret_cast<std::uintptr_t>(d) % 16 == 0 &&
                       reinterpret_cast<std::uintptr_t>(&c) % 8 == 0;
  const int u = 31 - t;
  out[t] = a[u] + b[u / 16][u % 16] + dynamic[u] + static_cast<int>(2 * c) + e + d[t % 16] -
           t % 16 + (apart && aligned ? 1000 : 0);
}
TEST_F(Language, several_shared_variables) {
  Array<int> out(32);
  several_shared<<<1, 32, 128>>>(out.get());
  for (int t = 0; t < 32; ++t) EXPECT_EQ(out.host()[t], 6 * (31 - t) + 5 + 1000);
  expect_clean();
}

template <class T, int n>
__device__ T sum_in_shared(T v) {
  __shared__ T s[n];
  s[threadIdx.x] = v;
  __syncthreads();
  T sum = 0;
  for (int i = 0; i < n; ++i) sum += s[i];
  __syncthreads();
  return sum;
}
__global__ void shared_in_functions(float* out) {
  const float a = sum_in_shared<float, 32>(1.5f);
  const int b = sum_in_shared<int, 32>(2);
  out[threadIdx.x] = a + static_cast<float>(b);
}
TEST_F(Language, shared_variables_of_device_functions) {
  Array<float> out(32);
  shared_in_functions<<<1, 32>>>(out.get());
  EXPECT_EQ(out.first(), 112);
  expect_clean();
}

struct Pair {
  float value;
  int index;
};
__global__ void shared_structures(int* out) {
  __shared__ Pair pairs[32];
  __shared__ float4 wide[8];
  const int t = threadIdx.x;
  pairs[t] = Pair{static_cast<float>(t % 7), t};
  if (t < 8) wide[t] = make_float4(1, 2, 3, static_cast<float>(t));
  __syncthreads();
  int best = 0;
  for (int i = 1; i < 32; ++i) {
    if (pairs[i].value > pairs[best].value) best = i;
  }
  out[t] = pairs[best].index + static_cast<int>(wide[t / 4].w);
}
TEST_F(Language, shared_structures) {
  Array<int> out(32);
  shared_structures<<<1, 32>>>(out.get());
  EXPECT_EQ(out.host()[31], 13);
  expect_clean();
}

// ---- Variables of the device ----

__device__ int counter;
__device__ float weights[4] = {1, 2, 3, 4};
__constant__ float coefficients[8];
__constant__ int limit = 5;
__managed__ int shared_with_host = 3;
template <class T>
__device__ T answer = T(42);

__global__ void use_variables(float* out) {
  const int t = threadIdx.x;
  atomicAdd(&counter, 1);
  out[t] = weights[t % 4] * coefficients[t % 8] + static_cast<float>(limit);
}
TEST_F(Language, device_and_constant_variables) {
  const float c[8] = {1, 10, 100, 1000, 1, 1, 1, 1};
  ASSERT_EQ(cudaMemcpyToSymbol(coefficients, c, sizeof c), cudaSuccess);
  Array<float> out(32);
  use_variables<<<1, 32>>>(out.get());
  EXPECT_EQ(out.host()[2], 305);
  int count = 0;
  ASSERT_EQ(cudaMemcpyFromSymbol(&count, counter, sizeof count), cudaSuccess);
  EXPECT_EQ(count, 32);
  const float two[2] = {20, 30};
  ASSERT_EQ(cudaMemcpyToSymbol(weights, two, sizeof two, sizeof(float)), cudaSuccess);
  use_variables<<<1, 32>>>(out.get());
  EXPECT_EQ(out.host()[2], 3005);
  EXPECT_EQ(out.host()[3], 4005);
  float back[4];
  ASSERT_EQ(cudaMemcpyFromSymbol(back, weights, sizeof back), cudaSuccess);
  EXPECT_EQ(back[1], 20);
  void* address = nullptr;
  ASSERT_EQ(cudaGetSymbolAddress(&address, weights), cudaSuccess);
  std::size_t bytes = 0;
  ASSERT_EQ(cudaGetSymbolSize(&bytes, weights), cudaSuccess);
  EXPECT_EQ(bytes, 16u);
  ASSERT_EQ(cudaMemset(address, 0, bytes), cudaSuccess);
  use_variables<<<1, 32>>>(out.get());
  EXPECT_EQ(out.host()[2], 5);
  expect_clean();
}
__global__ void use_managed() { shared_with_host += 4; }
TEST_F(Language, managed_variables) {
  use_managed<<<1, 1>>>();
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(shared_with_host, 7);
  expect_clean();
}

// ---- Vector types ----

__global__ void vectors(float4* a, int2* b, uchar4* c, double2* d, float3* e) {
  const int t = threadIdx.x;
  float4 v = a[t];
  v.x += 1, v.w *= 2;
  a[t] = v;
  a[t].y = -1;
  b[t] = make_int2(b[t].y, b[t].x);
  c[t] = make_uchar4(c[t].w, 1, 2, 3);
  d[t] = double2{d[t].y, d[t].x};
  float3 f = e[t];
  const float3& g = f;
  e[t] = {g.z, g.y, g.x};
  float4 array[2] = {{1, 2, 3, 4}, v};
  array[1] = array[0];
  if (array[1].z != 3) a[t].z = 99;
}
TEST_F(Language, vector_types) {
  Array<float4> a(32, float4{1, 2, 3, 4});
  Array<int2> b(32, int2{1, 2});
  Array<uchar4> c(32, uchar4{9, 8, 7, 6});
  Array<double2> d(32, double2{0.5, 1.5});
  Array<float3> e(32, float3{1, 2, 3});
  vectors<<<1, 32>>>(a.get(), b.get(), c.get(), d.get(), e.get());
  const float4 v = a.host()[5];
  EXPECT_EQ(v.x, 2);
  EXPECT_EQ(v.y, -1);
  EXPECT_EQ(v.z, 3);
  EXPECT_EQ(v.w, 8);
  EXPECT_EQ(b.first().x, 2);
  EXPECT_EQ(c.first().x, 6);
  EXPECT_EQ(c.first().w, 3);
  EXPECT_EQ(d.first().x, 1.5);
  EXPECT_EQ(e.first().x, 3);
  expect_clean();
  EXPECT_EQ(sizeof(float4), 16u);
  EXPECT_EQ(alignof(float4), 16u);
  EXPECT_EQ(sizeof(float3), 12u);
  EXPECT_EQ(alignof(float3), 4u);
  EXPECT_EQ(alignof(double2), 16u);
  EXPECT_EQ(alignof(uchar4), 4u);
  EXPECT_EQ(sizeof(short2), 4u);
}
__global__ void cast_to_vectors(const float* in, float* out) {
  const float4 v = reinterpret_cast<const float4*>(in)[threadIdx.x];
  reinterpret_cast<float4*>(out)[threadIdx.x] = float4{v.w, v.z, v.y, v.x};
}
TEST_F(Language, arrays_as_vectors) {
  Array<float> in(iota<float>(128)), out(128);
  cast_to_vectors<<<1, 32>>>(in.get(), out.get());
  EXPECT_EQ(out.host()[0], 3);
  EXPECT_EQ(out.host()[127], 124);
  expect_clean();
}

__global__ void cached(const float* in, const int2* pairs, float* out) {
  const int t = threadIdx.x;
  const float sum = __ldg(in + t) + __ldg(&in[t]) + __ldcs(in + t) + __ldcg(in + t) +
                    __ldca(in + t) + __ldcv(in + t) + __ldlu(in + t) + __ldg(pairs + t).y;
  if (t % 4 == 0) __stcs(out + t, sum);
  if (t % 4 == 1) __stcg(out + t, sum);
  if (t % 4 == 2) __stwb(out + t, sum);
  if (t % 4 == 3) __stwt(out + t, sum);
}
TEST_F(Language, cached_loads_and_stores) {
  Array<float> in(iota<float>(32)), out(32);
  Array<int2> pairs(32, int2{1, 2});
  cached<<<1, 32>>>(in.get(), pairs.get(), out.get());
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out.host()[i], 7 * i + 2);
  expect_clean();
}

// ---- Integer and float functions ----

__global__ void intrinsics(int* out) {
  int n = 0;
  out[n++] = __popc(0xf0f0u);
  out[n++] = __popcll(0xffff0000ffffull);
  out[n++] = __clz(1);
  out[n++] = __clzll(1);
  out[n++] = __ffs(8);
  out[n++] = __ffs(0);
  out[n++] = static_cast<int>(__brev(1u) >> 31);
  out[n++] = static_cast<int>(__umulhi(0x80000000u, 6u));
  out[n++] = __mul24(7, 6);
  out[n++] = static_cast<int>(__byte_perm(0x33221100u, 0x77665544u, 0x7410u) & 0xff);
  out[n++] = __float2int_rn(2.5f);
  out[n++] = __float2int_rz(-2.7f);
  out[n++] = __float_as_int(1.0f) == 0x3f800000;
  out[n++] = __int_as_float(0x40000000) == 2.0f;
  out[n++] = min(3, 4) + max(3, 4) + abs(-2);
  out[n++] = static_cast<int>(fminf(1.5f, 2.5f) + rsqrtf(4.0f) * 2 + fmaf(2, 3, 4));
  out[n++] = __double2int_rn(3.5);
  out[n++] = static_cast<int>(__saturatef(3.0f) + __fdividef(6, 3) + __fmul_rn(2, 2));
  out[n++] = static_cast<int>(__funnelshift_l(0x80000000u, 1u, 1));
}
TEST_F(Language, integer_and_float_functions) {
  Array<int> out(19);
  intrinsics<<<1, 1>>>(out.get());
  EXPECT_EQ(out.host(),
            (std::vector<int>{8, 32, 31, 63, 4, 0, 1, 3, 42, 0, 2, -2, 1, 1, 9, 12, 4, 7, 3}));
  expect_clean();
}

// ---- Synchronisation of blocks ----

__global__ void barrier_forms(int* out) {
  const int t = threadIdx.x;
  const int count = __syncthreads_count(t % 3 == 0);
  const int all = __syncthreads_and(t >= 0), none = __syncthreads_and(t != 50);
  const int any = __syncthreads_or(t == 50), nobody = __syncthreads_or(t > 1000);
  out[t] = count * 10000 + (all != 0) * 1000 + (none != 0) * 100 + (any != 0) * 10 + (nobody != 0);
}
/// The simd functions, with results worked out by hand.
__global__ void simd(unsigned* out) {
  const unsigned a = 0x7F80FF01, b = 0x01FF0102;
  out[0] = __vadd4(a, b);
  out[1] = __vaddss4(a, b);
  out[2] = __vaddus4(a, b);
  out[3] = __vsub2(a, b);
  out[4] = __vmaxs4(a, b);
  out[5] = __vmaxu4(a, b);
  out[6] = __vcmpgts4(a, b);
  out[7] = __vsetltu4(a, b);
  out[8] = __vsadu4(a, b);
  out[9] = __vabsdiffs4(a, b);
  out[10] = __vavgu2(a, b);
  out[11] = __vnegss4(a);
}
TEST_F(Language, words_of_bytes_and_halves) {
  Array<unsigned> out(12);
  simd<<<1, 1>>>(out.get());
  expect_clean();
  EXPECT_EQ(out.host(),
            (std::vector<unsigned>{0x807F0003, 0x7F800003, 0x80FFFF03, 0x7D81FDFF, 0x7FFF0102,
                                   0x7FFFFF02, 0xFF000000, 0x00010001, 0x7E + 0x7F + 0xFE + 1,
                                   0x7E7F0201, 0x40C08002, 0x817F01FF}));
}
/// The largest and smallest of sums, of three and of two, with results worked out by hand.
__global__ void extremes(unsigned* out) {
  const int most = 0x7FFFFFFF;
  bool first = false, high = false, low = false;
  out[0] = __viaddmax_s32(1, 2, 5) * 10 + __viaddmin_s32(1, 2, 5);
  out[1] = __viaddmax_s32(most, 1, 5);  // the sum wraps
  out[2] = __viaddmax_u32(0x7FFFFFFF, 1, 5);
  out[3] = __viaddmin_s32_relu(-9, 2, 5) * 10 + __viaddmax_s32_relu(-9, 2, -5);
  out[4] = __vimax3_s32(1, 9, -5) * 10 + __vimin3_u32(4, 9, 5);
  out[5] = __vimin3_s32(1, 9, -5);
  out[6] = __vimax_s32_relu(-1, -2) + 10 * __vimin_s32_relu(3, 7);
  out[7] = __vibmin_s32(1, 2, &first) * 10 + first;
  out[8] = __vibmax_u32(1, 2, &first) * 10 + first;
  out[9] = __vibmax_s32(2, 2, &first) * 10 + first;
  out[10] = __viaddmax_s16x2(0x7FFF0001, 0x00010002, 0x00050001);
  out[11] = __viaddmin_u16x2(0xFFFF0001, 0x00010002, 0x00050001);
  out[12] = __vimax3_s16x2(0xFFFF0001, 0xFFFE0002, 0xFFFD0003);
  out[13] = __vimin3_s16x2_relu(0xFFFF0001, 0xFFFE0002, 0xFFFD0003);
  out[14] = __vibmax_s16x2(0xFFFF0001, 0x00010001, &high, &low);
  out[15] = high * 10 + low;
  out[16] = __vibmin_u16x2(0xFFFF0001, 0x00010001, &high, &low);
  out[17] = high * 10 + low;
  out[18] = __vavgs2(0xFFFEFFFD, 0x0001FFFC);  // -2 and 1; -3 and -4
}
TEST_F(Language, largest_and_smallest_words) {
  Array<unsigned> out(19);
  extremes<<<1, 1>>>(out.get());
  expect_clean();
  EXPECT_EQ(out.host(), (std::vector<unsigned>{53, 5, 0x80000000, 0, 94, 0xFFFFFFFB, 30, 11, 20, 21,
                                               0x00050003, 0x00000001, 0xFFFF0003, 0x00000001,
                                               0x00010001, 1, 0x00010001, 1, 0xFFFFFFFC}));
}
/// Dot products of halves and bytes, and counts of bits.
__global__ void dots(int* out) {
  out[0] = __dp2a_lo(0x00020001, 0x7FFF0403, 1);
  out[1] = __dp2a_hi(0x00020001, 0x04030000, 1);
  out[2] = __dp2a_lo(static_cast<int>(0xFFFE0001), 0x0000FF80, 0);  // -2 * -1 + 1 * -128
  out[3] = __dp2a_lo(0xFFFE0001u, 0x0000FF80u, 0u) == 0xFFFEu * 0xFFu + 0x80u;
  out[4] = __dp2a_hi(make_short2(3, -4), make_char4(1, 1, 5, -6), 100);
  out[5] = __dp2a_lo(make_ushort2(3, 4), make_uchar4(1, 200, 5, 6), 0);
  out[6] = __fns(0xF0, 0, 2);
  out[7] = __fns(0xF0, 6, -2);
  out[8] = __fns(0xF0, 4, 0);
  out[9] = __fns(0xF0, 3, 0);
  out[10] = __fns(0xF0, 6, 3);
  out[11] = __fns(0xF0, 6, 1);
}
TEST_F(Language, products_of_two_and_bits_that_are_counted) {
  Array<int> out(12);
  dots<<<1, 1>>>(out.get());
  expect_clean();
  EXPECT_EQ(out.host(), (std::vector<int>{12, 12, -126, 1, 139, 803, 5, 5, 4, -1, -1, 6}));
}
__global__ void lengths_and_bessel(double* out) {
  const float f[4] = {1, 1, 1, 1};
  const double d[3] = {2e200, 3e200, 6e200};
  out[0] = normf(4, f);
  out[1] = rnormf(4, f);
  out[2] = norm(3, d) / 7e200;
  out[3] = rnorm(3, d) * 7e200;
  out[4] = cyl_bessel_i0(0.0);
  out[5] = cyl_bessel_i0(1.0);  // Abramowitz and Stegun, table 9.8 and 9.11
  out[6] = cyl_bessel_i1(-1.0);
  out[7] = cyl_bessel_i0(10.0);
  out[8] = cyl_bessel_i1(100.0);
  out[9] = cyl_bessel_i1f(1.0f);
  out[10] = cyl_bessel_i0f(100.0f);
}
TEST_F(Language, lengths_and_bessel_functions) {
  Array<double> out(11);
  lengths_and_bessel<<<1, 1>>>(out.get());
  expect_clean();
  const double want[] = {2,
                         0.5,
                         1,
                         1,
                         1,
                         1.2660658777520084,
                         -0.5651591039924851,
                         2815.716628466254,
                         1.0683693903381625e42};
  for (int k = 0; k < 9; ++k) EXPECT_NEAR(out.host()[k] / want[k], 1, 1e-14) << k;
  EXPECT_EQ(static_cast<float>(out.host()[9]), 0.5651591039924851f);
  EXPECT_EQ(out.host()[10], INFINITY) << "too large for a float";
}
__global__ void inverses(double* out, float* floats) {
  const double x[] = {1e-300, 1e-10, 0.3, 0.9, 1, 1.5, 1.999999};
  const int t = threadIdx.x;
  out[t] = erfc(erfcinv(x[t])) / x[t];
  out[7 + t] = t < 4 ? erf(erfinv(x[t])) / x[t] : 1;
  out[14 + t] = normcdf(normcdfinv(x[t] / 2)) / (x[t] / 2);
  floats[t] = erfcinvf(static_cast<float>(x[t]));
}
TEST_F(Language, inverses_of_the_error_function) {
  Array<double> out(21);
  Array<float> floats(7);
  inverses<<<1, 7>>>(out.get(), floats.get());
  for (const double one : out.host()) EXPECT_NEAR(one, 1, 1e-13);
  EXPECT_NEAR(floats.host()[2], 0.732869077959217, 1e-7);
  EXPECT_EQ(floats.host()[4], 0);
  EXPECT_EQ(floats.host()[0], INFINITY) << "0 in float";
}

TEST_F(Language, barrier_forms) {
  Array<int> out(96);
  barrier_forms<<<1, 96>>>(out.get());
  EXPECT_EQ(out.host(), std::vector<int>(96, 321010));
  expect_clean();
}

__global__ void many_barriers(int* out) {
  __shared__ int s[1024];
  const int t = threadIdx.x;
  int v = t;
  for (int i = 0; i < 20; ++i) {
    s[t] = v;
    __syncthreads();
    v = s[(t + 1) % blockDim.x];
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + t] = v;
}
TEST_F(Language, blocks_of_1024_threads) {
  Array<int> out(2048);
  many_barriers<<<2, 1024>>>(out.get());
  EXPECT_EQ(out.host()[0], 20);
  EXPECT_EQ(out.host()[2047], 19);
  expect_clean();
}

__global__ void clocks(long long* out) {
  const long long a = clock64();
  __threadfence_block();
  const long long b = clock64();
  out[threadIdx.x] = b - a;
  out[32] = clock() != 0 || true;
}
TEST_F(Language, clocks_do_not_run_backwards) {
  Array<long long> out(33);
  clocks<<<1, 1>>>(out.get());
  EXPECT_GE(out.first(), 0);
  expect_clean();
}

__global__ void print() {
  if (threadIdx.x == 3) printf("thread %d of %u, %.2f %s\n", threadIdx.x, blockDim.x, 1.5, "text");
}
TEST_F(Language, printf_in_kernels) {
  testing::internal::CaptureStdout();
  print<<<1, 8>>>();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "thread 3 of 8, 1.50 text\n");
  expect_clean();
}

#ifndef SIMT
#error "the backend says what it is"
#endif

}  // namespace
