// Modelled counters against numbers worked out by hand. A warp of 32 lanes with 4 bytes each
// requests 128 bytes: 4 sectors of 32 bytes, or 1 wavefront of 32 banks with 4 bytes.
#include <algorithm>
#include <cstdlib>

#include "simt_test.hpp"

namespace {

using simt::LineCount;
using simt::Space;
using simt_test::Array;

std::string at(const std::string& name) { return simt_test::here("counts.cu", name); }

class Counts : public simt_test::Device {
 protected:
  void SetUp() override {
    Device::SetUp();
    if (!simt::instrumented()) GTEST_SKIP() << "only instrumented code is counted";
    simt::set_counting(true);
    simt::take_counts();
  }
  /// Ends the launches that are counted.
  void take() {
    expect_clean();
    counts_ = simt::take_counts();
  }
  LineCount line(const std::string& kernel, const std::string& mark, const std::string& access,
                 Space space = Space::global) {
    return simt_test::line_count(counts_, kernel, at(mark), access, space);
  }
  const simt::KernelCount& kernel(const std::string& name) {
    return simt_test::kernel_count(counts_, name);
  }
  /// Checks requests, lanes, units, and that they are marked as exact.
  void expect_line(const LineCount& line, unsigned long requests, unsigned long lanes,
                   unsigned long units) {
    EXPECT_EQ(line.requests, requests) << where(line);
    EXPECT_EQ(line.lanes, lanes) << where(line);
    EXPECT_EQ(line.units, units) << where(line);
    EXPECT_TRUE(line.exact) << where(line);
    EXPECT_EQ(line.bytes_asked, lanes * line.bytes) << where(line);
    EXPECT_EQ(line.bytes_moved, units * (line.space == Space::global ? 32 : 128)) << where(line);
  }

  std::vector<simt::KernelCount> counts_;

 private:
  static std::string where(const LineCount& line) {
    return line.file + ":" + std::to_string(line.line) + " " + line.access;
  }
};

// ---- Global: strides, offsets, sizes ----

template <class T>
__global__ void strided(const T* in, T* out, int stride, int offset, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const T v = in[i * stride + offset];  // HERE strided load
  out[i] = v;                           // HERE strided store
}

TEST_F(Counts, strides_of_float) {
  Array<float> in(64 * 32, 1.0f), out(64);
  for (int stride = 1; stride <= 32; ++stride) {
    SCOPED_TRACE(stride);
    strided<float><<<1, 64>>>(in.get(), out.get(), stride, 0, 64);
    take();
    const auto load = line("strided<float>", "strided load", "load");
    expect_line(load, 2, 64, 2 * std::min(4 * stride, 32));
    EXPECT_EQ(load.bytes, 4u);
    EXPECT_EQ(load.ideal, 8u);
    EXPECT_EQ(load.hint, stride == 1 ? "" : "uncoalesced");
    const auto store = line("strided<float>", "strided store", "store");
    expect_line(store, 2, 64, 8);
    EXPECT_EQ(store.ideal, 8u);
    EXPECT_EQ(store.hint, "");
  }
}

TEST_F(Counts, offsets_of_float) {
  Array<float> in(64, 1.0f), out(32);
  for (int offset = 0; offset <= 32; ++offset) {
    SCOPED_TRACE(offset);
    strided<float><<<1, 32>>>(in.get(), out.get(), 1, offset, 32);
    take();
    const auto load = line("strided<float>", "strided load", "load");
    expect_line(load, 1, 32, offset % 8 == 0 ? 4 : 5);
    EXPECT_EQ(load.ideal, 4u);
  }
}

TEST_F(Counts, one_address_for_all) {
  Array<float> in(1, 1.0f), out(64);
  strided<float><<<2, 32>>>(in.get(), out.get(), 0, 0, 64);
  take();
  expect_line(line("strided<float>", "strided load", "load"), 2, 64, 2);
}

template <class T>
void expect_size(unsigned long sectors, std::vector<simt::KernelCount>* counts) {
  Array<T> in(128), out(128);
  EXPECT_EQ(cudaMemset(in, 0, 128 * sizeof(T)), cudaSuccess);
  strided<T><<<1, 128>>>(in.get(), out.get(), 1, 0, 128);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  *counts = simt::take_counts();
  for (const char* access : {"load", "store"}) {
    SCOPED_TRACE(access);
    const std::string mark = std::string("strided ") + access;
    const auto line = simt_test::line_count(*counts, "strided<T>", at(mark), access);
    EXPECT_EQ(line.requests, 4u);
    EXPECT_EQ(line.lanes, 128u);
    EXPECT_EQ(line.units, 4 * sectors);
    EXPECT_EQ(line.ideal, 4 * sectors);
    EXPECT_EQ(line.bytes, sizeof(T));
    EXPECT_EQ(line.bytes_asked, 128 * sizeof(T));
    EXPECT_EQ(line.bytes_moved, 128 * sectors);
    EXPECT_EQ(line.hint, "");
  }
}
TEST_F(Counts, bytes_1) { expect_size<unsigned char>(1, &counts_); }
TEST_F(Counts, bytes_2) { expect_size<short>(2, &counts_); }
TEST_F(Counts, bytes_4) { expect_size<int>(4, &counts_); }
TEST_F(Counts, bytes_8) { expect_size<double>(8, &counts_); }
TEST_F(Counts, bytes_8_vector) { expect_size<float2>(8, &counts_); }
TEST_F(Counts, bytes_16) { expect_size<float4>(16, &counts_); }
TEST_F(Counts, bytes_16_integers) { expect_size<uint4>(16, &counts_); }

TEST_F(Counts, partial_warps) {
  Array<float> in(128, 1.0f), out(128);
  strided<float><<<1, 128>>>(in.get(), out.get(), 1, 0, 100);
  take();
  auto load = line("strided<float>", "strided load", "load");
  expect_line(load, 4, 100, 13);  // the last warp: 4 lanes, one sector
  EXPECT_EQ(load.ideal, 13u);
  strided<float><<<1, 128>>>(in.get(), out.get(), 1, 0, 33);
  take();
  expect_line(line("strided<float>", "strided load", "load"), 2, 33, 5);
  strided<float><<<1, 17>>>(in.get(), out.get(), 1, 0, 100);
  take();
  load = line("strided<float>", "strided load", "load");
  expect_line(load, 1, 17, 3);
  EXPECT_EQ(load.ideal, 3u);
}

__global__ void vectors(const float4* in, float4* out, float* sums) {
  const int i = threadIdx.x;
  const float4 v = in[i];                // HERE vector load
  sums[i] = v.x + v.y + v.z + v.w;       // HERE vector sum
  out[i] = make_float4(v.w, v.z, 1, 2);  // HERE vector store
}
TEST_F(Counts, vectors_are_one_request) {
  Array<float4> in(64, float4{1, 2, 3, 4}), out(64);
  Array<float> sums(64);
  vectors<<<1, 64>>>(in.get(), out.get(), sums.get());
  take();
  expect_line(line("vectors", "vector load", "load"), 2, 64, 32);
  EXPECT_EQ(line("vectors", "vector load", "load").bytes, 16u);
  expect_line(line("vectors", "vector sum", "store"), 2, 64, 8);
  expect_line(line("vectors", "vector store", "store"), 2, 64, 32);
  EXPECT_EQ(kernel("vectors").requests(Space::global, "load"), 2u);
  EXPECT_EQ(kernel("vectors").units(Space::global, "store"), 40u);
}

__global__ void ldg(const float* in, const float4* in4, float* out) {
  const int i = threadIdx.x;
  const float a = __ldg(in + 2 * i);  // HERE ldg
  const float4 b = __ldg(in4 + i);    // HERE ldg vector
  const float c = __ldcs(in + i);     // HERE ldcs
  __stcs(out + i, a + b.y + c);       // HERE stcs
}
TEST_F(Counts, load_functions) {
  Array<float> in(64, 1.0f), out(32);
  Array<float4> in4(32, float4{1, 2, 3, 4});
  ldg<<<1, 32>>>(in.get(), in4.get(), out.get());
  take();
  expect_line(line("ldg", "ldg", "load"), 1, 32, 8);
  expect_line(line("ldg", "ldg vector", "load"), 1, 32, 16);
  expect_line(line("ldg", "ldcs", "load"), 1, 32, 4);
  expect_line(line("ldg", "stcs", "store"), 1, 32, 4);
}

__global__ void two_arrays(const float* a, const float* b, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = a[i] + b[2 * i];  // HERE two arrays
}
TEST_F(Counts, two_arrays_on_one_line) {
  Array<float> a(256, 1.0f), b(512, 1.0f), out(256);
  two_arrays<<<4, 64>>>(a.get(), b.get(), out.get());
  take();
  expect_line(line("two_arrays", "two arrays", "load"), 16, 512, 8 * 4 + 8 * 8);
  expect_line(line("two_arrays", "two arrays", "store"), 8, 256, 32);
  EXPECT_EQ(kernel("two_arrays").launches, 1u);
  EXPECT_EQ(kernel("two_arrays").blocks, 4u);
  EXPECT_EQ(kernel("two_arrays").threads, 256u);
  EXPECT_EQ(kernel("two_arrays").barriers, 0u);
}

TEST_F(Counts, launches_are_summed) {
  Array<float> a(256, 1.0f), b(512, 1.0f), out(256);
  two_arrays<<<4, 64>>>(a.get(), b.get(), out.get());
  two_arrays<<<2, 128>>>(a.get(), b.get(), out.get());
  take();
  EXPECT_EQ(kernel("two_arrays").launches, 2u);
  EXPECT_EQ(kernel("two_arrays").blocks, 6u);
  EXPECT_EQ(kernel("two_arrays").threads, 512u);
  expect_line(line("two_arrays", "two arrays", "store"), 16, 512, 64);
  take();
  EXPECT_TRUE(counts_.empty()) << "taken is gone";
}

__global__ void square(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  out[x * n + y] = in[y * n + x];  // HERE square
}
TEST_F(Counts, naive_transpose) {
  Array<float> in(64 * 64, 1.0f), out(64 * 64);
  square<<<dim3(2, 8), dim3(32, 8)>>>(in.get(), out.get(), 64);
  take();
  expect_line(line("square", "square", "load"), 128, 4096, 512);
  expect_line(line("square", "square", "store"), 128, 4096, 4096);
  EXPECT_EQ(line("square", "square", "store").hint, "uncoalesced");
  // Blocks of 16x16: a warp is two rows of 16.
  square<<<dim3(4, 4), dim3(16, 16)>>>(in.get(), out.get(), 64);
  take();
  expect_line(line("square", "square", "load"), 128, 4096, 512);
  // Columns x = 0..15 of out, each with two neighbours y: 16 sectors.
  expect_line(line("square", "square", "store"), 128, 4096, 2048);
}

// ---- Divergence: one request is one instruction of the lanes that are converged ----

__global__ void both_sides(const float* a, const int* b, float* out) {
  const int t = threadIdx.x;
  float v;
  if (t % 2 == 1) {
    v = a[t] * 2;  // HERE odd side
  } else {
    v = static_cast<float>(b[t] + 1);  // HERE even side
  }
  out[t] = v;  // HERE joined
}
TEST_F(Counts, both_sides_of_an_if) {
  Array<float> a(64, 1.0f), out(64);
  Array<int> b(64, 1);
  both_sides<<<1, 64>>>(a.get(), b.get(), out.get());
  take();
  const auto odd = line("both_sides", "odd side", "load");
  expect_line(odd, 2, 32, 8);
  EXPECT_EQ(odd.ideal, 4u);
  expect_line(line("both_sides", "even side", "load"), 2, 32, 8);
  expect_line(line("both_sides", "joined", "store"), 2, 64, 8);
}

__global__ void trip_counts(const int* a, const int* trips, int* out) {
  const int t = threadIdx.x;
  const int n = trips[t];
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += a[i * 32 + t];  // HERE trips
  }
  out[t] = sum;  // HERE after trips
}
TEST_F(Counts, trip_counts_of_lanes) {
  Array<int> a(32 * 32, 1), trips(32), out(32);
  std::vector<int> n(32);
  for (int t = 0; t < 32; ++t) n[t] = t % 4 + 1;
  cudaMemcpy(trips, n.data(), 128, cudaMemcpyHostToDevice);
  trip_counts<<<1, 32>>>(a.get(), trips.get(), out.get());
  take();
  const auto load = line("trip_counts", "trips", "load");
  expect_line(load, 4, 80, 16);  // 32, 24, 16, 8 lanes, each time in all 4 sectors
  EXPECT_EQ(load.ideal, 10u);    // 4 + 3 + 2 + 1
  expect_line(line("trip_counts", "after trips", "store"), 1, 32, 4);

  for (int t = 0; t < 32; ++t) n[t] = 31 - t;
  cudaMemcpy(trips, n.data(), 128, cudaMemcpyHostToDevice);
  trip_counts<<<1, 32>>>(a.get(), trips.get(), out.get());
  take();
  // Iteration i: lanes 0..30-i. Sectors: ceil((31 - i) / 8).
  expect_line(line("trip_counts", "trips", "load"), 31, 31 * 16, 7 * 4 + 8 * 3 + 8 * 2 + 8 * 1);
  expect_line(line("trip_counts", "after trips", "store"), 1, 32, 4);
}

__global__ void skip_one(const int* a, const int* b, int* out) {
  const int t = threadIdx.x;
  int sum = 0;
  for (int i = 0; i < 8; ++i) {
    if (i != t % 8) {
      sum += a[i * 32 + t];  // HERE skipped
    }
    sum += b[i * 32 + t];  // HERE never skipped
  }
  out[t] = sum;  // HERE after skips
}
TEST_F(Counts, lanes_that_skip_one_round) {
  Array<int> a(256, 1), b(256, 1), out(32);
  skip_one<<<1, 32>>>(a.get(), b.get(), out.get());
  take();
  expect_line(line("skip_one", "skipped", "load"), 8, 8 * 28, 32);
  expect_line(line("skip_one", "never skipped", "load"), 8, 256, 32);
  expect_line(line("skip_one", "after skips", "store"), 1, 32, 4);
}

/// Lanes skip in different iterations and leave the loop at different times.
__global__ void continue_and_break(const int* a, const int* b, int* out) {
  const int t = threadIdx.x;
  int sum = 0;
  for (int i = 0; i < 8; ++i) {
    sum += a[i * 32 + t];  // HERE before continue
    if ((i + t) % 2 == 0) continue;
    sum += b[i * 32 + t];  // HERE between
    if (i >= 4 + t % 4) break;
    sum ^= b[i * 32 + t + 256];  // HERE before next
  }
  out[t] = sum;  // HERE after break
}
TEST_F(Counts, continue_and_break) {
  Array<int> a(256, 1), b(512, 1), out(32);
  continue_and_break<<<1, 32>>>(a.get(), b.get(), out.get());
  take();
  // The same loop in plain code: which lanes are where in each iteration.
  unsigned long first = 0, second = 0, third = 0, lanes[3] = {};
  bool gone[32] = {};
  for (int i = 0; i < 8; ++i) {
    bool any[3] = {};
    for (int t = 0; t < 32; ++t) {
      if (gone[t]) continue;
      any[0] = true;
      ++lanes[0];
      if ((i + t) % 2 == 0) continue;
      any[1] = true;
      ++lanes[1];
      if (i >= 4 + t % 4) {
        gone[t] = true;
        continue;
      }
      any[2] = true;
      ++lanes[2];
    }
    first += any[0], second += any[1], third += any[2];
  }
  const auto check = [&](const char* mark, unsigned long requests, unsigned long n) {
    const auto l = line("continue_and_break", mark, "load");
    EXPECT_EQ(l.requests, requests) << mark;
    EXPECT_EQ(l.lanes, n) << mark;
    EXPECT_EQ(l.units, 4 * requests) << mark;  // of every 8 contiguous lanes some are active
    EXPECT_TRUE(l.exact) << mark;
  };
  check("before continue", first, lanes[0]);
  check("between", second, lanes[1]);
  check("before next", third, lanes[2]);
  expect_line(line("continue_and_break", "after break", "store"), 1, 32, 4);
}

/// The same with only one of the two.
__global__ void continues(const int* a, const int* b, int* out) {
  const int t = threadIdx.x;
  int sum = 0;
  for (int i = 0; i < 8; ++i) {
    sum += a[i * 32 + t];  // HERE continues
    if ((i + t) % 2 == 0) continue;
    sum ^= b[i * 32 + t];  // HERE not continued
  }
  out[t] = sum;
}
TEST_F(Counts, continue_only) {
  Array<int> a(256, 1), b(256, 1), out(32);
  continues<<<1, 32>>>(a.get(), b.get(), out.get());
  take();
  expect_line(line("continues", "continues", "load"), 8, 256, 32);
  expect_line(line("continues", "not continued", "load"), 8, 128, 32);
}
__global__ void breaks(const int* a, const int* b, int* out) {
  const int t = threadIdx.x;
  int sum = 0;
  for (int i = 0; i < 8; ++i) {
    sum += a[i * 32 + t];  // HERE breaks
    if (i >= 4 + t % 4) break;
    sum ^= b[i * 32 + t];  // HERE not broken
  }
  out[t] = sum;  // HERE after breaks
}
TEST_F(Counts, break_only) {
  Array<int> a(256, 1), b(256, 1), out(32);
  breaks<<<1, 32>>>(a.get(), b.get(), out.get());
  take();
  // Lanes of t % 4 == k are in iterations 0..4 + k before the break, and in 0..3 + k after it.
  expect_line(line("breaks", "breaks", "load"), 8, 8 * (5 + 6 + 7 + 8), 32);
  expect_line(line("breaks", "not broken", "load"), 7, 8 * (4 + 5 + 6 + 7), 28);
  expect_line(line("breaks", "after breaks", "store"), 1, 32, 4);
}

__global__ void early_return(const int* a, int* out, int n) {
  const int t = threadIdx.x;
  if (t % 4 == 3) return;
  const int v = a[t];  // HERE survivors
  if (v >= n) return;
  out[t] = v;  // HERE fewer survivors
}
TEST_F(Counts, early_returns) {
  Array<int> a(simt_test::iota<int>(64)), out(64);
  early_return<<<1, 64>>>(a.get(), out.get(), 16);
  take();
  expect_line(line("early_return", "survivors", "load"), 2, 48, 8);
  expect_line(line("early_return", "fewer survivors", "store"), 1, 12, 2);
}

__global__ void nested(const int* a, const int* b, int* out) {
  const int t = threadIdx.x;
  int sum = 0;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j <= (t + i) % 4; ++j) {
      sum += a[j * 32 + t];  // HERE inner
    }
    sum ^= b[i * 32 + t];  // HERE outer
  }
  out[t] = sum;
}
TEST_F(Counts, nested_loops) {
  Array<int> a(128, 1), b(128, 1), out(32);
  nested<<<1, 32>>>(a.get(), b.get(), out.get());
  take();
  expect_line(line("nested", "inner", "load"), 16, 4 * 80, 64);
  expect_line(line("nested", "outer", "load"), 4, 128, 16);
}

__global__ void switched(const int* a, int* out) {
  const int t = threadIdx.x;
  int v = 0;
  switch (t % 4) {
    case 0:
      v = a[t] + 1;  // HERE case 0
      break;
    case 1:
      v = a[t] * 3;  // HERE case 1
      [[fallthrough]];
    case 2:
      v ^= a[t + 32];  // HERE case 2
      break;
    default:
      v = -1;
  }
  out[t] = v;  // HERE after switch
}
TEST_F(Counts, switch_with_fall_through) {
  Array<int> a(64, 1), out(32);
  switched<<<1, 32>>>(a.get(), out.get());
  take();
  expect_line(line("switched", "case 0", "load"), 1, 8, 4);
  expect_line(line("switched", "case 1", "load"), 1, 8, 4);
  // The lanes of cases 1 and 2 join where 1 falls through to 2.
  expect_line(line("switched", "case 2", "load"), 1, 16, 4);
  expect_line(line("switched", "after switch", "store"), 1, 32, 4);
}

__device__ __noinline__ int fetch(const int* a, int i) {
  return a[i];  // HERE fetch
}
__global__ void divergent_calls(const int* a, int* out) {
  const int t = threadIdx.x;
  int v;
  if (t % 2 == 0) {
    v = fetch(a, t) + 1;
  } else {
    v = fetch(a, t + 32) * 2;
  }
  v += fetch(a, t);
  out[t] = v;  // HERE after calls
}
TEST_F(Counts, calls_from_divergent_code) {
  Array<int> a(64, 1), out(32);
  divergent_calls<<<1, 32>>>(a.get(), out.get());
  take();
  expect_line(line("divergent_calls", "fetch", "load"), 3, 64, 12);
  expect_line(line("divergent_calls", "after calls", "store"), 1, 32, 4);
}

__global__ void calls_in_a_loop(const int* a, int* out) {
  const int t = threadIdx.x;
  int v = 0;
  for (int i = 0; i < 4; ++i) {
    if (i != t % 4) v += fetch(a, i * 32 + t);
  }
  out[t] = v;  // HERE after loop of calls
}
TEST_F(Counts, calls_in_a_divergent_loop) {
  Array<int> a(128, 1), out(32);
  calls_in_a_loop<<<1, 32>>>(a.get(), out.get());
  take();
  expect_line(line("calls_in_a_loop", "fetch", "load"), 4, 96, 16);
  expect_line(line("calls_in_a_loop", "after loop of calls", "store"), 1, 32, 4);
}

__device__ __noinline__ int walk(const int* a, int depth) {
  int v = a[depth * 32 + threadIdx.x];  // HERE walk
  if (depth > 0) v += walk(a, depth - 1);
  return v;
}
__global__ void recursive(const int* a, int* out) {
  const int v = walk(a, threadIdx.x % 3);
  out[threadIdx.x] = v;  // HERE after walk
}
TEST_F(Counts, recursion) {
  Array<int> a(96, 1), out(32);
  recursive<<<1, 32>>>(a.get(), out.get());
  take();
  // First calls: 32 lanes, each eighth of them in three rows: 12 sectors. Then 21 lanes in two
  // rows, then 10 in one.
  expect_line(line("recursive", "walk", "load"), 3, 63, 12 + 8 + 4);
  expect_line(line("recursive", "after walk", "store"), 1, 32, 4);
}

__global__ void unrolled(const float* in, float* out) {
  const int t = threadIdx.x;
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    sum += in[i * 64 + t];  // HERE unrolled
  }
  out[t] = sum;
}
TEST_F(Counts, unrolled_loop) {
  Array<float> in(256, 1.0f), out(64);
  unrolled<<<1, 64>>>(in.get(), out.get());
  take();
  expect_line(line("unrolled", "unrolled", "load"), 8, 256, 32);
}

/// Divergence around a barrier and around warp functions.
__global__ void around_barriers(const int* a, int* out) {
  const int t = threadIdx.x;
  int v = 0;
  for (int round = 0; round < 3; ++round) {
    if (t % 3 == round) {
      v += a[t];  // HERE third
    }
    __syncthreads();
    v += __shfl_xor_sync(0xffffffffu, v, 1);
    if (t < 16) {
      v += a[t + 32];  // HERE half
    }
    __syncwarp();
    v += a[t + 16];  // HERE whole
  }
  out[t] = v;
}
TEST_F(Counts, around_barriers) {
  Array<int> a(64, 1), out(32);
  around_barriers<<<1, 32>>>(a.get(), out.get());
  take();
  expect_line(line("around_barriers", "third", "load"), 3, 32, 12);
  expect_line(line("around_barriers", "half", "load"), 3, 48, 6);
  expect_line(line("around_barriers", "whole", "load"), 3, 96, 12);
  EXPECT_EQ(kernel("around_barriers").barriers, 3u);
}

// ---- Shared memory ----

__global__ void conflicts(int stride, int* out) {
  __shared__ int s[32 * 33];
  const int t = threadIdx.x;
  for (int i = t; i < 32 * 33; i += 32) s[i] = i;
  __syncwarp();
  const int v = s[t * stride];  // HERE shared load
  __syncwarp();
  s[t * stride] = v + 1;  // HERE shared store
  out[t] = v;
}
TEST_F(Counts, bank_conflicts) {
  Array<int> out(32);
  for (int stride = 1; stride <= 33; ++stride) {
    SCOPED_TRACE(stride);
    conflicts<<<1, 32>>>(stride, out.get());
    take();
    // The number of lanes that hit one bank is the greatest common divisor of the stride and 32.
    const unsigned ways = std::min(stride & -stride, 32);
    for (const char* access : {"load", "store"}) {
      const auto l = line("conflicts", std::string("shared ") + access, access, Space::shared);
      expect_line(l, 1, 32, ways);
      EXPECT_EQ(l.ideal, 1u);
      EXPECT_EQ(l.bytes, 4u);
      EXPECT_EQ(l.hint, ways == 1 ? "" : std::to_string(ways) + "-way bank conflict");
    }
  }
}
__global__ void broadcasts(int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = t, s[t + 32] = t;
  __syncwarp();
  const int one = s[5];                 // HERE broadcast
  const int pairs = s[t / 2];           // HERE pairs
  const int two = s[(t % 2) * 32 + 3];  // HERE two words of a bank
  out[t] = one + pairs + two;
}
TEST_F(Counts, broadcasts) {
  Array<int> out(32);
  broadcasts<<<1, 32>>>(out.get());
  take();
  expect_line(line("broadcasts", "broadcast", "load", Space::shared), 1, 32, 1);
  expect_line(line("broadcasts", "pairs", "load", Space::shared), 1, 32, 1);
  expect_line(line("broadcasts", "two words of a bank", "load", Space::shared), 1, 32, 2);
}

template <class T>
__global__ void shared_sizes(int stride, T* out) {
  __shared__ T s[64];
  const int t = threadIdx.x;
  s[t] = out[t];
  s[t + 32] = out[t];
  __syncwarp();
  out[t] = s[t * stride];  // HERE shared size
}
template <class T>
LineCount shared_size(int stride) {
  Array<T> out(32);
  cudaMemset(out, 0, 32 * sizeof(T));
  shared_sizes<T><<<1, 32>>>(stride, out.get());
  cudaDeviceSynchronize();
  return simt_test::line_count(simt::take_counts(), "shared_sizes<T>", at("shared size"), "load",
                               Space::shared);
}
TEST_F(Counts, shared_sizes) {
  expect_line(shared_size<unsigned char>(1), 1, 32, 1);
  expect_line(shared_size<short>(1), 1, 32, 1);
  expect_line(shared_size<short>(2), 1, 32, 1);
  expect_line(shared_size<double>(1), 1, 32, 2);  // two halves of a warp
  EXPECT_EQ(shared_size<double>(1).ideal, 2u);
  expect_line(shared_size<double>(2), 1, 32, 4);
  expect_line(shared_size<float2>(1), 1, 32, 2);
  const auto quarter = shared_size<float4>(1);  // four quarters
  expect_line(quarter, 1, 32, 4);
  EXPECT_EQ(quarter.ideal, 4u);
  EXPECT_EQ(quarter.bytes, 16u);
  EXPECT_EQ(quarter.hint, "");
  expect_line(shared_size<float4>(2), 1, 32, 8);
}

/// Lanes that agree in pairs, neighbours or two apart, need half as many groups.
__global__ void pairs_of_doubles(double* out) {
  __shared__ double s[32];
  const int t = threadIdx.x;
  s[t] = t;
  __syncwarp();
  const double beside = s[t / 2];                  // HERE beside
  const double two_apart = s[t % 2 + t / 4 * 2];   // HERE two apart
  const double four_apart = s[t % 4 + t / 8 * 4];  // HERE four apart
  out[t] = beside + two_apart + four_apart;
}
TEST_F(Counts, pairs_of_doubles) {
  Array<double> out(32);
  pairs_of_doubles<<<1, 32>>>(out.get());
  take();
  const auto load = [&](const char* where) {
    return line("pairs_of_doubles", where, "load", Space::shared);
  };
  expect_line(load("beside"), 1, 32, 1);
  expect_line(load("two apart"), 1, 32, 1);
  expect_line(load("four apart"), 1, 32, 2);
}

template <int pad>
__global__ void tile(const float* in, float* out) {
  __shared__ float s[32][32 + pad];
  const int x = threadIdx.x, y = threadIdx.y;
  for (int j = 0; j < 32; j += 8) {
    s[y + j][x] = in[(y + j) * 32 + x];  // HERE tile in
  }
  __syncthreads();
  for (int j = 0; j < 32; j += 8) {
    out[(y + j) * 32 + x] = s[x][y + j];  // HERE tile out
  }
}
TEST_F(Counts, tile_and_padding) {
  Array<float> in(1024, 1.0f), out(1024);
  tile<0><<<1, dim3(32, 8)>>>(in.get(), out.get());
  tile<1><<<1, dim3(32, 8)>>>(in.get(), out.get());
  take();
  expect_line(line("tile<0>", "tile in", "store", Space::shared), 32, 1024, 32);
  expect_line(line("tile<0>", "tile out", "load", Space::shared), 32, 1024, 1024);
  EXPECT_EQ(line("tile<0>", "tile out", "load", Space::shared).hint, "32-way bank conflict");
  expect_line(line("tile<1>", "tile in", "store", Space::shared), 32, 1024, 32);
  expect_line(line("tile<1>", "tile out", "load", Space::shared), 32, 1024, 32);
  EXPECT_EQ(line("tile<1>", "tile out", "load", Space::shared).hint, "");
  for (const char* name : {"tile<0>", "tile<1>"}) {
    expect_line(line(name, "tile in", "load"), 32, 1024, 128);
    expect_line(line(name, "tile out", "store"), 32, 1024, 128);
    EXPECT_EQ(kernel(name).barriers, 8u) << "one for each warp";
    EXPECT_EQ(kernel(name).requests(Space::shared, "load"), 32u);
    EXPECT_EQ(kernel(name).requests(Space::global, "load"), 32u);
  }
  const auto table = simt::table(counts_);
  EXPECT_NE(table.find("32-way bank conflict"), std::string::npos) << table;
  EXPECT_NE(table.find("tile<1>"), std::string::npos) << table;
}

__global__ void tree(const float* in, float* out) {
  extern __shared__ float s[];
  const int t = threadIdx.x;
  s[t] = in[t];  // HERE tree in
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d) {
      s[t] += s[t + d];  // HERE tree step
    }
    __syncthreads();
  }
  if (t == 0) *out = s[0];
}
TEST_F(Counts, tree_reduction) {
  Array<float> in(256, 1.0f), out(1);
  tree<<<1, 256, 1024>>>(in.get(), out.get());
  take();
  // Warps with lanes t < d: 4, 2, 1, 1, 1, 1, 1, 1; lanes 255.
  expect_line(line("tree", "tree step", "load", Space::shared), 24, 510, 24);
  expect_line(line("tree", "tree step", "store", Space::shared), 12, 255, 12);
  expect_line(line("tree", "tree in", "store", Space::shared), 8, 256, 8);
  EXPECT_EQ(kernel("tree").barriers, 9u * 8);
}

__global__ void interleaved(const float* in, float* out) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    const int k = 2 * d * t;
    if (k < 256) {
      s[k] += s[k + d];  // HERE interleaved
    }
    __syncthreads();
  }
  if (t == 0) *out = s[0];
}
TEST_F(Counts, interleaved_reduction) {
  Array<float> in(256, 1.0f), out(1);
  interleaved<<<1, 256>>>(in.get(), out.get());
  take();
  // Stride 2: 4 warps x 2; 4: 2 x 4; 8: 1 x 8; then 16, 8, 4, 2, 1 lanes on one bank each, of which
  // 16 lanes at stride 16 share two banks (8 each), and so on: 8, 8, 4, 2, 1.
  const auto store = line("interleaved", "interleaved", "store", Space::shared);
  expect_line(store, 12, 255, 8 + 8 + 8 + 8 + 8 + 4 + 2 + 1);
  expect_line(line("interleaved", "interleaved", "load", Space::shared), 24, 510, 94);
}

__global__ void all_wait(const int* in, int* out) {
  const int v = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = v;
}
/// Stacks for many threads are added later, on either side of the arrays: accesses to memory
/// between the stacks must not be taken for accesses to local variables.
TEST_F(Counts, arrays_between_stacks) {
  for (const unsigned threads : {32u, 256u, 1024u, 64u}) {
    Array<int> in(threads, 1), out(threads), far(1 << 24);
    all_wait<<<1, threads>>>(in.get(), out.get());
    take();
    EXPECT_EQ(kernel("all_wait").requests(Space::global, "load"), threads / 32) << threads;
    EXPECT_EQ(kernel("all_wait").requests(Space::global, "store"), threads / 32) << threads;
  }
}

// ---- Atomics, barriers, steps ----

__global__ void atomics(int* data, int* out) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = 0;
  __syncwarp();
  atomicAdd(&s[t], 1);      // HERE shared atomic
  atomicAdd(&data[t], 1);   // HERE spread atomic
  atomicAdd(&data[64], 1);  // HERE one atomic
  if (t % 2 == 0) {
    atomicMax(&data[2 * t], t);  // HERE half atomic
  }
  out[t] = s[t];
}
TEST_F(Counts, atomics) {
  Array<int> data(65, 0), out(32);
  atomics<<<1, 32>>>(data.get(), out.get());
  take();
  expect_line(line("atomics", "spread atomic", "atomic"), 1, 32, 4);
  // An H200 visits the sector once for each lane (tests/evidence/h200-patterns.csv, "same").
  expect_line(line("atomics", "one atomic", "atomic"), 1, 32, 32);
  expect_line(line("atomics", "half atomic", "atomic"), 1, 16, 8);
  const auto shared = line("atomics", "shared atomic", "atomic", Space::shared);
  EXPECT_EQ(shared.requests, 1u);
  EXPECT_EQ(shared.lanes, 32u);
  EXPECT_EQ(kernel("atomics").requests(Space::global, "atomic"), 3u);
}

__global__ void votes(const int* in, int* out) {
  const int n = __syncthreads_count(in[threadIdx.x]);
  const int a = __syncthreads_and(in[threadIdx.x]);
  const int o = __syncthreads_or(in[threadIdx.x]);
  out[threadIdx.x] = n + a + o;
}
TEST_F(Counts, barriers_per_warp) {
  Array<int> in(96, 1), out(96);
  votes<<<1, 96>>>(in.get(), out.get());
  take();
  EXPECT_EQ(kernel("votes").barriers, 9u);
  Array<int> in2(40, 1), out2(40);
  votes<<<1, 40>>>(in2.get(), out2.get());
  take();
  EXPECT_EQ(kernel("votes").barriers, 6u) << "a warp that is not full counts";
}

__global__ void steps(const int* trips, int* out) {
  int v = 1;
  for (int i = 0; i < trips[threadIdx.x]; ++i) v = v * 3 + i;
  out[threadIdx.x] = v;
}
TEST_F(Counts, steps_of_full_warps) {
  Array<int> trips(64, 100), out(64);
  steps<<<1, 64>>>(trips.get(), out.get());
  take();
  EXPECT_GE(kernel("steps").warp_steps, 200u) << "two warps, a hundred rounds";
  EXPECT_EQ(kernel("steps").lane_steps, 32 * kernel("steps").warp_steps);
}
TEST_F(Counts, steps_of_a_small_block) {
  Array<int> trips(8, 100), out(8);
  steps<<<1, 8>>>(trips.get(), out.get());
  take();
  EXPECT_EQ(kernel("steps").lane_steps, 8 * kernel("steps").warp_steps);
}
TEST_F(Counts, steps_of_one_busy_lane) {
  std::vector<int> n(32, 0);
  n[7] = 1000;
  Array<int> trips(n), out(32);
  steps<<<1, 32>>>(trips.get(), out.get());
  take();
  const auto& k = kernel("steps");
  EXPECT_GE(k.warp_steps, 1000u);
  EXPECT_LT(k.lane_steps, k.warp_steps + 32 * 10) << "one lane in almost all steps";
}

__global__ void either_side(const int* in, int* out) {
  const int t = threadIdx.x;
  int v = in[t];
  if (t % 2 == 0) {
    for (int i = 0; i < in[32]; ++i) v = v * 3 + i;
  } else {
    for (int i = 0; i < in[32]; ++i) v = v * 5 - i;
  }
  out[t] = v;
}
TEST_F(Counts, steps_of_two_sides) {
  Array<int> in(33, 500), out(32);
  either_side<<<1, 32>>>(in.get(), out.get());
  take();
  const auto& k = kernel("either_side");
  const double lanes = static_cast<double>(k.lane_steps) / k.warp_steps;
  EXPECT_GT(lanes, 15.9);
  EXPECT_LT(lanes, 16.5);
}

// ---- Counts that do not depend on the order of threads ----

__global__ void irregular(const int* index, const float* in, float* out, int n) {
  __shared__ float s[96];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
  float v = 0;
  for (int k = i; k < n; k += 1 + index[i] % 7) {
    if (index[k] % 3 != 0) v += in[index[k]];  // HERE irregular
  }
  s[t] = v;
  __syncthreads();
  if (index[i] % 2) v += s[index[i] % 96];  // HERE irregular shared
  out[i] = v;
}
TEST_F(Counts, same_in_every_order) {
  // Each order runs this test and must find the same numbers. They are worked out here, lane by
  // lane, not taken from a first run.
  const int n = 480;
  std::vector<int> index(n);
  unsigned x = 12345;
  for (int& i : index) i = static_cast<int>((x = x * 1664525u + 1013904223u) >> 8) % n;
  unsigned long requests = 0, lanes = 0, sectors = 0;
  for (int warp = 0; warp < n / 32; ++warp) {
    int k[32];
    for (int l = 0; l < 32; ++l) k[l] = warp * 32 + l;
    for (bool any = true; any;) {
      any = false;
      std::vector<int> touched;
      unsigned long active = 0;
      for (int l = 0; l < 32; ++l) {
        if (k[l] >= n) continue;
        any = true;
        if (index[k[l]] % 3 != 0) {
          ++active;
          touched.push_back(index[k[l]] / 8);
        }
        k[l] += 1 + index[warp * 32 + l] % 7;
      }
      std::sort(touched.begin(), touched.end());
      requests += active > 0;
      lanes += active;
      sectors += std::unique(touched.begin(), touched.end()) - touched.begin();
    }
  }
  Array<int> device_index(index);
  Array<float> in(n, 1.0f), out(n);
  irregular<<<5, 96>>>(device_index.get(), in.get(), out.get(), n);
  take();
  // This line has the loads of index[k] and of in[...]: in some iterations both, in the others only
  // the former.
  const auto l = line("irregular", "irregular", "load");
  unsigned long rounds = 0, all = 0, index_sectors = 0;
  for (int warp = 0; warp < n / 32; ++warp) {
    int k[32];
    for (int i = 0; i < 32; ++i) k[i] = warp * 32 + i;
    for (;;) {
      std::vector<int> touched;
      for (int i = 0; i < 32; ++i) {
        if (k[i] >= n) continue;
        touched.push_back(k[i] / 8);
        k[i] += 1 + index[warp * 32 + i] % 7;
      }
      if (touched.empty()) break;
      ++rounds;
      all += touched.size();
      std::sort(touched.begin(), touched.end());
      index_sectors += std::unique(touched.begin(), touched.end()) - touched.begin();
    }
  }
  // A compiler may load index[k] once for test and use, or twice.
  const unsigned long again = l.lanes - all - lanes;
  EXPECT_TRUE(again == 0 || again == lanes) << again;
  if (again == 0) expect_line(l, rounds + requests, all + lanes, index_sectors + sectors);
}

__global__ void by_tens(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x];  // HERE by tens
}
TEST_F(Counts, off_counts_nothing) {
  Array<float> in(32, 1.0f), out(32);
  simt::set_counting(false);
  by_tens<<<1, 32>>>(in.get(), out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_TRUE(simt::take_counts().empty());
}

int count_at_exit() {
  Array<float> in(32, 1.0f), out(32);
  by_tens<<<1, 32>>>(in.get(), out.get());
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
simt_test::RegisterChild counting("count", count_at_exit);
TEST_F(Counts, table_at_exit) {
  const auto with = simt_test::run_self({"--child=count"}, {"SIMT_COUNT=1"});
  EXPECT_EQ(with.code, 0);
  EXPECT_NE(with.output.find("by_tens: 1 launch, "), std::string::npos) << with.output;
  EXPECT_NE(with.output.find("\n\n  lanes active  of a warp's 32"), std::string::npos)
      << with.output;
  const auto without = simt_test::run_self({"--child=count"});
  EXPECT_EQ(without.output.find("by_tens"), std::string::npos) << without.output;
}

}  // namespace
