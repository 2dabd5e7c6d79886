// Products of small matrices by a warp: every type, shape and layout against a plain loop; which
// bits of a tf32 are used; changes of single elements; and planted faults.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "simt_test.hpp"

using namespace nvcuda;

namespace {

using simt_test::Array;
using wmma::accumulator;
using wmma::col_major;
using wmma::fragment;
using wmma::matrix_a;
using wmma::matrix_b;
using wmma::mem_col_major;
using wmma::mem_row_major;
using wmma::row_major;
using wmma::precision::tf32;

class Mma : public simt_test::Device {};
class MmaFault : public simt_test::Device {};

std::string at(const std::string& name) { return simt_test::here("api_mma.cu", name); }

template <class Fragment>
using Stored = typename Fragment::storage_element_type;

std::uint32_t bits(float x) {
  std::uint32_t b;
  std::memcpy(&b, &x, sizeof b);
  return b;
}
float from_bits(std::uint32_t b) {
  float x;
  std::memcpy(&x, &b, sizeof x);
  return x;
}

// ---- Products ----

template <class A, class B, class C, class D, class TA, class TC, class TD>
__global__ void product(const TA* a, const TA* b, const TC* c, TD* d, unsigned lda, unsigned ldb,
                        unsigned ldc, unsigned ldd, wmma::layout_t of_c, wmma::layout_t of_d) {
  A left;
  B right;
  C sum;
  D result;
  wmma::load_matrix_sync(left, a, lda);
  wmma::load_matrix_sync(right, b, ldb);
  wmma::load_matrix_sync(sum, c, ldc, of_c);
  wmma::mma_sync(result, left, right, sum);
  wmma::store_matrix_sync(d, result, ldd, of_d);
}

/// A matrix of small integers, with unused elements after every row or column.
template <class T>
struct Matrix {
  int rows, columns;
  bool by_rows;
  unsigned ld;
  std::vector<T> elements;

  Matrix(int r, int c, bool in_rows, int seed)
      : rows(r),
        columns(c),
        by_rows(in_rows),
        ld(static_cast<unsigned>(by_rows ? c : r) + 16 / sizeof(T)),
        elements(static_cast<std::size_t>(ld) * static_cast<unsigned>(by_rows ? r : c),
                 static_cast<T>(99)) {
    constexpr int least = std::is_same_v<T, unsigned char> ? 0 : -3;
    for (int y = 0; y < rows; ++y) {
      for (int x = 0; x < columns; ++x) {
        elements[place(y, x)] = static_cast<T>(least + (y * 5 + x * 3 + y * x + seed) % 7);
      }
    }
  }
  std::size_t place(int y, int x) const {
    return by_rows ? static_cast<std::size_t>(y) * ld + static_cast<std::size_t>(x)
                   : static_cast<std::size_t>(x) * ld + static_cast<std::size_t>(y);
  }
  int value(int y, int x) const {
    return static_cast<int>(static_cast<float>(elements[place(y, x)]));
  }
};

/// The layouts of C and D in memory: one bit each.
template <class T, class TC, class TD, int m, int n, int k, class LA, class LB>
void expect_product_in(int layouts) {
  using A = fragment<matrix_a, m, n, k, T, LA>;
  using B = fragment<matrix_b, m, n, k, T, LB>;
  using C = fragment<accumulator, m, n, k, TC>;
  using D = fragment<accumulator, m, n, k, TD>;
  const bool c_rows = (layouts & 1) == 0, d_rows = (layouts & 2) == 0;
  const Matrix<Stored<A>> a(m, k, std::is_same_v<LA, row_major>, 1);
  const Matrix<Stored<A>> b(k, n, std::is_same_v<LB, row_major>, 2);
  const Matrix<TC> c(m, n, c_rows, 3);
  Matrix<TD> d(m, n, d_rows, 4);
  Array<Stored<A>> da(a.elements), db(b.elements);
  Array<TC> dc(c.elements);
  Array<TD> dd(d.elements);
  product<A, B, C, D><<<1, 32>>>(da.get(), db.get(), dc.get(), dd.get(), a.ld, b.ld, c.ld, d.ld,
                                 c_rows ? mem_row_major : mem_col_major,
                                 d_rows ? mem_row_major : mem_col_major);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const std::vector<TD> before = d.elements;
  d.elements = dd.host();
  std::vector<bool> of_matrix(before.size(), false);
  for (int y = 0; y < m; ++y) {
    for (int x = 0; x < n; ++x) {
      int want = c.value(y, x);
      for (int i = 0; i < k; ++i) want += a.value(y, i) * b.value(i, x);
      ASSERT_EQ(d.value(y, x), want) << y << ", " << x << " of " << m << "x" << n << "x" << k;
      of_matrix[d.place(y, x)] = true;
    }
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!of_matrix[i]) {
      ASSERT_EQ(static_cast<float>(d.elements[i]), static_cast<float>(before[i])) << i;
    }
  }
}
template <class T, class TC, class TD, int m, int n, int k>
void expect_product() {
  for (int layouts = 0; layouts < 4; ++layouts) {
    expect_product_in<T, TC, TD, m, n, k, row_major, row_major>(layouts);
    expect_product_in<T, TC, TD, m, n, k, row_major, col_major>(layouts);
    expect_product_in<T, TC, TD, m, n, k, col_major, row_major>(layouts);
    expect_product_in<T, TC, TD, m, n, k, col_major, col_major>(layouts);
  }
}
template <class T, class TC, class TD>
void expect_products() {
  expect_product<T, TC, TD, 16, 16, 16>();
  expect_product<T, TC, TD, 32, 8, 16>();
  expect_product<T, TC, TD, 8, 32, 16>();
}
TEST_F(Mma, half_to_float) {
  expect_products<__half, float, float>();
  expect_clean();
}
TEST_F(Mma, half_to_half) {
  expect_products<__half, __half, __half>();
  expect_clean();
}
TEST_F(Mma, half_and_back) {
  expect_product<__half, __half, float, 16, 16, 16>();
  expect_product<__half, float, __half, 16, 16, 16>();
  expect_clean();
}
TEST_F(Mma, bfloat16) {
  expect_products<__nv_bfloat16, float, float>();
  expect_clean();
}
TEST_F(Mma, signed_bytes) {
  expect_products<signed char, int, int>();
  expect_clean();
}
TEST_F(Mma, unsigned_bytes) {
  expect_products<unsigned char, int, int>();
  expect_clean();
}
TEST_F(Mma, tf32) {
  expect_product<tf32, float, float, 16, 16, 8>();
  expect_clean();
}

template <class Use, class T, int m, int n, int k, class Layout = void>
constexpr int elements = fragment<Use, m, n, k, T, Layout>::num_elements;
static_assert(elements<matrix_a, __half, 16, 16, 16, row_major> == 16);
static_assert(elements<matrix_a, __half, 8, 32, 16, row_major> == 16);
static_assert(elements<matrix_a, __nv_bfloat16, 16, 16, 16, col_major> == 8);
static_assert(elements<matrix_a, __nv_bfloat16, 32, 8, 16, col_major> == 16);
static_assert(elements<matrix_b, signed char, 32, 8, 16, col_major> == 4);
static_assert(elements<matrix_b, tf32, 16, 16, 8, col_major> == 4);
static_assert(elements<accumulator, float, 16, 16, 8> == 8);
static_assert(elements<accumulator, __half, 32, 8, 16> == 8);

// ---- Arithmetic ----

/// All elements of A are x, of B y, of C z.
template <class T, class TC, class TD>
__global__ void constant(Stored<fragment<matrix_a, 16, 16, 16, T, row_major>> x,
                         Stored<fragment<matrix_a, 16, 16, 16, T, row_major>> y, TC z, TD* d) {
  fragment<matrix_a, 16, 16, 16, T, row_major> a;
  fragment<matrix_b, 16, 16, 16, T, row_major> b;
  fragment<accumulator, 16, 16, 16, TC> c;
  fragment<accumulator, 16, 16, 16, TD> sum;
  wmma::fill_fragment(a, x);
  wmma::fill_fragment(b, y);
  wmma::fill_fragment(c, z);
  wmma::mma_sync(sum, a, b, c);
  wmma::store_matrix_sync(d, sum, 16, mem_row_major);
}
TEST_F(Mma, sums_are_rounded_once) {
  Array<float> d(256);
  constant<__half, float, float><<<1, 32>>>(__half(1), __half(5.9604645e-8f), 16777216.0f, d.get());
  EXPECT_EQ(d.first(), 16777216.0f);
  constant<__half, float, float><<<1, 32>>>(__half(0.25f), __half(0.25f), 16777216.0f, d.get());
  EXPECT_EQ(d.first(), 16777216.0f) << "half-way: to even";
  constant<__half, float, float><<<1, 32>>>(__half(0.5f), __half(0.25f), 16777216.0f, d.get());
  EXPECT_EQ(d.first(), 16777218.0f) << "16 times an eighth is 2";
  constant<__nv_bfloat16, float, float>
      <<<1, 32>>>(__nv_bfloat16(0x1p100f), __nv_bfloat16(0x1p100f), 0.0f, d.get());
  EXPECT_EQ(d.first(), std::numeric_limits<float>::infinity());
  Array<__half> h(256);
  constant<__half, __half, __half><<<1, 32>>>(__half(64), __half(64), __half(1), h.get());
  EXPECT_TRUE(std::isinf(static_cast<float>(h.first()))) << "65537 is no half";
  expect_clean();
}

__global__ void saturated(int z, bool saturate, int* d) {
  fragment<matrix_a, 16, 16, 16, signed char, row_major> a;
  fragment<matrix_b, 16, 16, 16, signed char, col_major> b;
  fragment<accumulator, 16, 16, 16, int> c;
  wmma::fill_fragment(a, static_cast<signed char>(-128));
  wmma::fill_fragment(b, static_cast<signed char>(z < 0 ? 127 : -128));
  wmma::fill_fragment(c, z);
  wmma::mma_sync(c, a, b, c, saturate);
  wmma::store_matrix_sync(d, c, 16, mem_row_major);
}
TEST_F(Mma, integers_wrap_or_saturate) {
  constexpr int most = std::numeric_limits<int>::max(), least = std::numeric_limits<int>::min();
  Array<int> d(256);
  saturated<<<1, 32>>>(most, true, d.get());
  EXPECT_EQ(d.first(), most);
  saturated<<<1, 32>>>(most, false, d.get());
  EXPECT_EQ(d.first(), least + 16 * 128 * 128 - 1);
  saturated<<<1, 32>>>(least, true, d.get());
  EXPECT_EQ(d.first(), least);
  saturated<<<1, 32>>>(least, false, d.get());
  EXPECT_EQ(d.first(), most - 16 * 128 * 127 + 1);
  expect_clean();
}

__global__ void rounded(const float* in, float* out) {
  out[threadIdx.x] = wmma::__float_to_tf32(in[threadIdx.x]);
}
TEST_F(Mma, rounding_to_tf32) {
  const std::uint32_t wanted[][2] = {
      {0x3f800000, 0x3f800000},                            // 1
      {0x3f800fff, 0x3f800000}, {0x3f801000, 0x3f802000},  // below half-way, and half-way
      {0x3f801001, 0x3f802000}, {0x3f803000, 0x3f804000},  // half-way: away from zero, not to even
      {0xbf801000, 0xbf802000}, {0xbf800fff, 0xbf800000},  // away from zero on both sides
      {0x3fffffff, 0x40000000},                            // a carry into the exponent
      {0x00000fff, 0x00000000}, {0x00001000, 0x00002000},  // denormal numbers
      {0x80000001, 0x80000000}, {0x00000000, 0x00000000},  // zeros
      {0x7f7fffff, 0x7f800000}, {0xff7ff000, 0xff800000},  // too large
      {0x7f7fefff, 0x7f7fe000},                            // the largest tf32
      {0x7f800000, 0x7f800000}, {0xff800000, 0xff800000},  // infinity
      {0x7f800001, 0x7fffffff}, {0xffc00000, 0x7fffffff},  // not a number
  };
  std::vector<float> in;
  for (const auto& pair : wanted) in.push_back(from_bits(pair[0]));
  Array<float> device(in), out(in.size());
  rounded<<<1, static_cast<unsigned>(in.size())>>>(device.get(), out.get());
  const auto got = out.host();
  for (std::size_t i = 0; i < in.size(); ++i) {
    EXPECT_EQ(bits(got[i]), wanted[i][1]) << std::hex << wanted[i][0];
  }
  expect_clean();
}

/// D = A B, with the numbers unchanged, or rounded first.
__global__ void tf32_product(const float* a, const float* b, float* d, bool rounds) {
  fragment<matrix_a, 16, 16, 8, tf32, row_major> left;
  fragment<matrix_b, 16, 16, 8, tf32, col_major> right;
  fragment<accumulator, 16, 16, 8, float> sum;
  wmma::load_matrix_sync(left, a, 8);
  wmma::load_matrix_sync(right, b, 8);
  if (rounds) {
    for (auto& x : left.x) x = wmma::__float_to_tf32(x);
    for (int i = 0; i < right.num_elements; ++i) right.x[i] = wmma::__float_to_tf32(right.x[i]);
  }
  wmma::fill_fragment(sum, 0.0f);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(d, sum, 16, mem_row_major);
}
TEST_F(Mma, tf32_is_cut_off_or_rounded) {
  const float x = from_bits(0x3f803fff);  // 1 + 2^-9, nearly
  std::vector<float> a(128, 0.0f), b(128, 0.0f);
  for (int y = 0; y < 16; ++y) a[8 * y] = y % 2 == 0 ? x : -x;
  for (int col = 0; col < 16; ++col) b[8 * col] = static_cast<float>(col);
  Array<float> da(a), db(b), d(256);
  for (const bool rounds : {false, true}) {
    tf32_product<<<1, 32>>>(da.get(), db.get(), d.get(), rounds);
    const auto got = d.host();
    const float of_x = from_bits(rounds ? 0x3f804000 : 0x3f802000);
    for (int i = 0; i < 256; ++i) {
      ASSERT_EQ(got[i], (i / 16 % 2 == 0 ? of_x : -of_x) * static_cast<float>(i % 16));
    }
  }
  expect_clean();
}

/// D = alpha A B + beta C, with C loaded separately.
__global__ void scaled(const __half* a, const __half* b, float* c, float alpha, float beta) {
  fragment<matrix_a, 8, 32, 16, __half, row_major> left;
  fragment<matrix_b, 8, 32, 16, __half, row_major> right;
  fragment<accumulator, 8, 32, 16, float> sum, old;
  wmma::load_matrix_sync(left, a, 16);
  wmma::load_matrix_sync(right, b, 32);
  for (auto& x : left.x) x = x * __half(2);
  wmma::fill_fragment(sum, 0.0f);
  wmma::mma_sync(sum, left, right, sum);
  wmma::load_matrix_sync(old, c, 32, mem_row_major);
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = alpha * sum.x[i] + beta * old.x[i];
  wmma::store_matrix_sync(c, sum, 32, mem_row_major);
}
TEST_F(Mma, elements_are_changed) {
  Array<__half> a(128, __half(3)), b(512, __half(2));
  Array<float> c(simt_test::iota<float>(256));
  scaled<<<1, 32>>>(a.get(), b.get(), c.get(), 0.5f, 10.0f);
  const auto got = c.host();
  for (int i = 0; i < 256; ++i) ASSERT_EQ(got[i], 96 + 10 * i);
  expect_clean();
}

/// Every warp squares a matrix of its own in shared memory.
__global__ void squares(const __nv_bfloat16* in, float* out) {
  __shared__ __align__(32) __nv_bfloat16 tile[4][256];
  const unsigned warp = threadIdx.x / 32;
  for (unsigned i = threadIdx.x % 32; i < 256; i += 32) tile[warp][i] = in[256 * warp + i];
  __syncwarp();
  fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major> a;
  fragment<matrix_b, 16, 16, 16, __nv_bfloat16, row_major> b;
  fragment<accumulator, 16, 16, 16, float> c;
  wmma::load_matrix_sync(a, tile[warp], 16);
  wmma::load_matrix_sync(b, tile[warp], 16);
  wmma::fill_fragment(c, 0.0f);
  wmma::mma_sync(c, a, b, c);
  wmma::store_matrix_sync(out + 256 * warp, c, 16, mem_row_major);
}
TEST_F(Mma, four_warps) {
  std::vector<__nv_bfloat16> in(1024);
  for (int i = 0; i < 1024; ++i) in[i] = __nv_bfloat16(i % 16 == i / 16 % 16 ? i / 256 + 1 : 0);
  Array<__nv_bfloat16> device(in);
  Array<float> out(1024);
  squares<<<1, 128>>>(device.get(), out.get());
  const auto got = out.host();
  for (int i = 0; i < 1024; ++i) {
    ASSERT_EQ(got[i], i % 16 == i / 16 % 16 ? (i / 256 + 1) * (i / 256 + 1) : 0);
  }
  expect_clean();
}

// ---- Faults ----

__global__ void load_half(const __half* a, unsigned ld, float* out) {
  fragment<matrix_a, 16, 16, 16, __half, row_major> f;
  wmma::load_matrix_sync(f, a, ld);  // HERE load half
  out[threadIdx.x] = f.x[0];
}
__global__ void load_float(const float* a, unsigned ld, float* out) {
  fragment<accumulator, 16, 16, 16, float> f;
  wmma::load_matrix_sync(f, a, ld, mem_col_major);  // HERE load float
  out[threadIdx.x] = f.x[0];
}
__global__ void store_float(float* a, unsigned ld) {
  fragment<accumulator, 16, 16, 16, float> f;
  wmma::fill_fragment(f, 1.0f);
  wmma::store_matrix_sync(a, f, ld, mem_row_major);  // HERE store float
}
TEST_F(MmaFault, places_that_are_right) {
  Array<__half> a(512, __half(1));
  Array<float> b(512, 1.0f), out(32);
  load_half<<<1, 32>>>(a.get() + 16, 24, out.get());
  load_float<<<1, 32>>>(b.get() + 8, 20, out.get());
  store_float<<<1, 32>>>(b.get() + 8, 20);
  expect_clean();
}
TEST_F(MmaFault, misaligned_pointer) {
  Array<__half> a(512, __half(1));
  Array<float> out(32);
  load_half<<<1, 32>>>(a.get() + 8, 16, out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
  expect_finding("misaligned", "load_half",
                 {at("load half"), "wmma::load_matrix_sync", "multiple of 32 bytes"});
}
TEST_F(MmaFault, misaligned_accumulator) {
  Array<float> a(512, 1.0f), out(32);
  load_float<<<1, 32>>>(a.get() + 4, 16, out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
  expect_finding("misaligned", "load_float", {at("load float"), "multiple of 32 bytes"});
}
TEST_F(MmaFault, ldm_of_halves) {
  Array<__half> a(512, __half(1));
  Array<float> out(32);
  load_half<<<1, 32>>>(a.get(), 20, out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
  expect_finding("misaligned", "load_half", {at("load half"), "ldm of 20", "multiple of 8"});
}
TEST_F(MmaFault, ldm_of_a_store) {
  Array<float> a(512);
  store_float<<<1, 32>>>(a.get(), 18);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
  expect_finding("misaligned", "store_float",
                 {at("store float"), "wmma::store_matrix_sync", "ldm of 18", "multiple of 4"});
}
TEST_F(MmaFault, load_behind_the_end) {
  if (!simt::instrumented()) GTEST_SKIP() << "needs the checks";
  Array<__half> a(240, __half(1));
  Array<float> out(32);
  load_half<<<1, 32>>>(a.get(), 16, out.get());
  expect_finding("bounds", "load_half", {at("load half")});
}
TEST_F(MmaFault, store_behind_the_end) {
  if (!simt::instrumented()) GTEST_SKIP() << "needs the checks";
  Array<float> a(240);
  store_float<<<1, 32>>>(a.get(), 16);
  expect_finding("bounds", "store_float", {at("store float")});
}
TEST_F(MmaFault, load_of_what_nobody_wrote) {
  if (!simt::instrumented()) GTEST_SKIP() << "needs the checks";
  Array<__half> a(256);
  Array<float> out(32);
  load_half<<<1, 32>>>(a.get(), 16, out.get());
  expect_finding("uninitialised", "load_half", {at("load half")});
}

/// The first warp stores a matrix, and the second loads it.
template <bool waits>
__global__ void handed_on(float* out) {
  __shared__ __align__(32) float tile[256];
  fragment<accumulator, 16, 16, 16, float> f;
  if (threadIdx.x >= 32) {
    wmma::fill_fragment(f, 2.0f);
    wmma::store_matrix_sync(tile, f, 16, mem_row_major);
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    wmma::fill_fragment(f, 3.0f);
    wmma::store_matrix_sync(tile, f, 16, mem_row_major);  // HERE store
  }
  if (waits) __syncthreads();
  if (threadIdx.x >= 32) {
    wmma::load_matrix_sync(f, tile, 16, mem_row_major);  // HERE load
    wmma::store_matrix_sync(out, f, 16, mem_row_major);
  }
}
TEST_F(MmaFault, handed_on_is_right) {
  Array<float> out(256);
  handed_on<true><<<1, 64>>>(out.get());
  EXPECT_EQ(out.host(), std::vector<float>(256, 3.0f));
  expect_clean();
}
TEST_F(MmaFault, handed_on_without_a_barrier) {
  if (!simt::instrumented()) GTEST_SKIP() << "needs the checks";
  Array<float> out(256);
  handed_on<false><<<1, 64>>>(out.get());
  expect_finding("race", "handed_on<false>", {at("store"), at("load")});
}
/// After a warp's store a lane may load another lane's elements: the lanes must synchronize.
template <bool waits>
__global__ void transposed(float* out) {
  __shared__ __align__(32) float tile[256];
  fragment<accumulator, 16, 16, 16, float> f;
  wmma::fill_fragment(f, 2.0f);
  wmma::store_matrix_sync(tile, f, 16, mem_row_major);  // HERE by rows
  if (waits) __syncwarp();
  wmma::load_matrix_sync(f, tile, 16, mem_col_major);  // HERE by columns
  wmma::store_matrix_sync(out, f, 16, mem_row_major);
}
TEST_F(MmaFault, transposed_is_right) {
  Array<float> out(256);
  transposed<true><<<1, 32>>>(out.get());
  expect_clean();
}
TEST_F(MmaFault, transposed_without_a_barrier) {
  if (!simt::instrumented()) GTEST_SKIP() << "needs the checks";
  Array<float> out(256);
  transposed<false><<<1, 32>>>(out.get());
  expect_finding("race|uninitialised", "transposed<false>", {at("by columns")});
}

/// variant 0: right; 1: half of the lanes have returned; 2: they call something else; 3: they
/// multiply elsewhere; 4: they store to another place.
template <int variant>
__global__ void parted(float* out) {
  fragment<matrix_a, 16, 16, 16, __half, row_major> a;
  fragment<matrix_b, 16, 16, 16, __half, row_major> b;
  fragment<accumulator, 16, 16, 16, float> c;
  wmma::fill_fragment(a, __half(1));
  wmma::fill_fragment(b, __half(1));
  wmma::fill_fragment(c, 0.0f);
  if (variant == 0 || variant == 4 || threadIdx.x < 16) {
    wmma::mma_sync(c, a, b, c);  // HERE product
  } else if (variant == 2) {
    __syncwarp();  // HERE elsewhere
  } else if (variant == 3) {
    wmma::mma_sync(c, a, b, c);  // HERE other product
  }
  if (variant == 1) return;
  if (variant == 4 && threadIdx.x >= 16) out += 256;
  wmma::store_matrix_sync(out, c, 16, mem_row_major);  // HERE store of parts
}
template <int variant>
void run_parted(unsigned threads = 32) {
  Array<float> out(512, 0.0f);
  parted<variant><<<1, threads>>>(out.get());
  EXPECT_EQ(variant == 0 && threads == 32, cudaDeviceSynchronize() == cudaSuccess);
  if (variant == 0 && threads == 32) {
    EXPECT_EQ(out.host()[255], 16);
  }
}
TEST_F(MmaFault, all_lanes_are_right) {
  run_parted<0>();
  expect_clean();
}
TEST_F(MmaFault, half_a_warp) {
  run_parted<0>(16);
  expect_finding("mask", "parted<variant>", {at("product"), "wmma::mma_sync", "all 32 lanes"});
}
TEST_F(MmaFault, lanes_that_have_returned) {
  run_parted<1>();
  expect_finding("mask", "parted<variant>", {at("product"), "wmma::mma_sync", "all 32 lanes"});
}
TEST_F(MmaFault, lanes_that_do_something_else) {
  if (!simt::instrumented()) GTEST_SKIP() << "needs the checks";
  run_parted<2>();
  expect_finding("mask|deadlock", "parted<variant>", {at("product"), "wmma::mma_sync"});
}
TEST_F(MmaFault, lanes_that_multiply_elsewhere) {
  run_parted<3>();
  expect_finding("mask", "parted<variant>", {"wmma::mma_sync", "another line"});
}
TEST_F(MmaFault, lanes_that_store_elsewhere) {
  run_parted<4>();
  expect_finding("mask", "parted<variant>",
                 {at("store of parts"), "wmma::store_matrix_sync", "another address"});
}

}  // namespace
