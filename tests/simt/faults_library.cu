// What kernels use of C++ and its library: structures, new and delete, memcpy; and a fault:
// division by zero.
#include <cstring>

#include "simt_test.hpp"

namespace {

using simt_test::Array;

std::string at(const std::string& name) { return simt_test::here("faults_library.cu", name); }

class Misaligned : public simt_test::Device {};
class Library : public simt_test::Device {};
class Division : public simt_test::Device {};
class SharedGaps : public simt_test::Device {};
class SharedLimits : public simt_test::Device {};
class HostMemory : public simt_test::Device {};

// ---- Structures copied whole ----

struct Pair {
  double x, y;
};
struct Body {
  double mass;
  Pair at;
};
__global__ void copy_member(Pair* out, const Body* in) {
  out[threadIdx.x] = in[threadIdx.x].at;  // HERE member
}
TEST_F(Misaligned, structure_of_doubles_at_eight_bytes_is_right) {
  Array<Body> in(std::vector<Body>(8, Body{1, {2, 3}}));
  Array<Pair> out(8);
  copy_member<<<1, 8>>>(out.get(), in.get());
  expect_clean();
  EXPECT_EQ(out.host()[7].y, 3);
}
TEST_F(Misaligned, structure_of_doubles_counts_as_two_accesses) {
  Array<Body> in(std::vector<Body>(32, Body{1, {2, 3}}));
  Array<Pair> out(32);
  simt::set_counting(true);
  simt::take_counts();
  copy_member<<<1, 32>>>(out.get(), in.get());
  const auto line = simt_test::line_count(simt::take_counts(), "copy_member", at("member"), "load");
  simt::set_counting(false);
  EXPECT_EQ(line.requests, 2u);
  EXPECT_EQ(line.bytes, 8u);
  EXPECT_EQ(line.bytes_asked, 512u);
  EXPECT_EQ(line.units, 48u);  // 8 of every 24 bytes: all 24 sectors, twice
}
struct alignas(16) Quad {
  float a, b, c, d;
};
__global__ void copy_quad(Quad* out, const Quad* in) {
  out[threadIdx.x] = in[threadIdx.x];  // HERE quad
}
TEST_F(Misaligned, structure_aligned_to_sixteen_at_eight_bytes) {
  Array<float> in(64, 1.0f);
  Array<Quad> out(8);
  copy_quad<<<1, 8>>>(out.get(), reinterpret_cast<const Quad*>(in.get() + 2));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
  expect_finding("misaligned", "copy_quad", {at("quad"), "16 bytes"});
}

// ---- The C library in kernels ----

__global__ void own_array(int* out, int n) {
  int* mine = static_cast<int*>(malloc(n * sizeof(int)));
  if (mine == nullptr) {
    out[threadIdx.x] = -1;
    return;
  }
  for (int i = 0; i < n; ++i) mine[i] = i;
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += mine[i];
  out[threadIdx.x] = sum;
  free(mine);
}
TEST_F(Library, malloc_and_free_are_right) {
  Array<int> out(64, 0);
  own_array<<<1, 64>>>(out.get(), 10);
  expect_clean();
  EXPECT_EQ(out.first(), 45);
  own_array<<<1, 1>>>(out.get(), 1 << 28);  // more than the heap has
  expect_clean();
  EXPECT_EQ(out.first(), -1);
}
struct Node {
  int value;
  Node* next;
};
__global__ void own_list(int* out) {
  Node* list = nullptr;
  for (int i = 0; i < 5; ++i) list = new Node{i, list};
  int sum = 0;
  while (list != nullptr) {
    sum += list->value;
    Node* old = list;
    list = list->next;
    delete old;
  }
  int* array = new int[3];
  array[2] = sum;
  out[threadIdx.x] = array[2];
  delete[] array;
}
TEST_F(Library, new_and_delete_are_right) {
  Array<int> out(32, 0);
  own_list<<<1, 32>>>(out.get());
  expect_clean();
  EXPECT_EQ(out.host()[31], 10);
}
__global__ void past_own_array(int* out, int n) {
  int* volatile slot = new int[n];
  int* mine = slot;
  mine[n] = 1;  // HERE past own
  *out = mine[0];
}
TEST_F(Library, past_the_end_of_new) {
  Array<int> out(1);
  past_own_array<<<1, 1>>>(out.get(), 5);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect_finding("bounds", "past_own_array", {at("past own"), "20 bytes"});
}
__global__ void after_free(int* out) {
  int* mine = static_cast<int*>(malloc(4));
  *mine = 1;
  int* volatile old = mine;
  free(mine);
  *out = *old;  // HERE after free
}
TEST_F(Library, after_free) {
  Array<int> out(1);
  after_free<<<1, 1>>>(out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect_finding("lifetime", "after_free", {at("after free")});
}
__global__ void free_twice(int** slot) {
  if (threadIdx.x == 0) *slot = new int(3);
  __syncthreads();
  delete *slot;  // HERE free twice
}
TEST_F(Library, free_twice) {
  Array<int*> slot(1);
  free_twice<<<1, 2>>>(slot.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect_finding("lifetime", "free_twice", {at("free twice")});
}
__global__ void copy_pieces(int* out, const int* in, int n) {
  memcpy(out + n * threadIdx.x, in + n * threadIdx.x, n * sizeof(int));  // HERE memcpy
}
__global__ void clear_then_read(int* out, const int* in) {
  __shared__ int s[64];
  __shared__ int copy[8][3];
  if (threadIdx.x == 0) memset(s, 0, sizeof s);
  if (threadIdx.x < 8) memcpy(copy[threadIdx.x], in + 3 * threadIdx.x, 3 * sizeof(int));
  __syncthreads();
  if (threadIdx.x < 8) out[threadIdx.x] = s[threadIdx.x] + copy[threadIdx.x][1];
}
TEST_F(Library, memset_and_memcpy_are_right) {
  Array<int> in(64, 1), out(8);
  clear_then_read<<<1, 32>>>(out.get(), in.get());
  expect_clean();
  EXPECT_EQ(out.host()[7], 1);
}
TEST_F(Library, memcpy_of_pieces_is_right) {
  Array<int> in(64, 1), out(64);
  copy_pieces<<<1, 32>>>(out.get(), in.get(), 2);
  expect_clean();
  EXPECT_EQ(out.host()[63], 1);
}
TEST_F(Library, memcpy_past_the_end) {
  Array<int> in(64, 1), out(63);
  copy_pieces<<<1, 32>>>(out.get(), in.get(), 2);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect_finding("bounds", "copy_pieces", {at("memcpy"), "the nearest allocation, of 252 bytes"});
}

// ---- Division ----

__global__ void divide(int* out, const int* by) {
  out[threadIdx.x] = 100 / by[threadIdx.x];  // HERE division
}
TEST_F(Division, by_zero) {
  std::vector<int> by(32, 3);
  by[5] = 0;
  Array<int> divisors(by), out(32);
  divide<<<1, 32>>>(out.get(), divisors.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  expect_finding("division", "divide", {at("division"), "thread (5,0,0)"});
}
TEST_F(Division, by_three_is_right) {
  Array<int> by(32, 3), out(32);
  divide<<<1, 32>>>(out.get(), by.get());
  expect_clean();
  EXPECT_EQ(out.first(), 33);
}

// ---- Shared memory: gaps between variables, and how much there is ----

__global__ void past_first(float* out, int shift) {
  __shared__ float a[32], b[32];
  const int t = threadIdx.x;
  a[t] = t;
  b[t] = 2 * t;
  __syncthreads();
  out[t] = a[t + shift] + b[t];  // HERE past first
}
TEST_F(SharedGaps, past_the_first_of_two_arrays) {
  Array<float> out(32);
  past_first<<<1, 32>>>(out.get(), 1);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect_finding(
      "bounds", "past_first",
      {at("past first"), "0 bytes behind the end of a __shared__ variable of 128 bytes"});
}
TEST_F(SharedGaps, inside_is_right) {
  Array<float> out(32);
  past_first<<<1, 32>>>(out.get(), 0);
  expect_clean();
  EXPECT_EQ(out.host()[31], 93);
}
__global__ void banks(unsigned* out) {
  __shared__ char c;
  __shared__ float a[33];
  __shared__ float b[32];
  __shared__ __align__(1024) float d[4];
  c = 0;
  const auto offset = [&](const void* p) {
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(p) / 4 % 32);
  };
  out[0] = offset(a);
  out[1] = offset(b);
  out[2] = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(d) % 1024);
}
TEST_F(SharedGaps, banks_are_those_without_gaps) {
  Array<unsigned> out(3);
  banks<<<1, 1>>>(out.get());
  expect_clean();
  EXPECT_EQ(out.host(), (std::vector<unsigned>{1, 2, 0}));
}

template <int bytes>
__global__ void fixed_and_dynamic(char* out) {
  extern __shared__ char dynamic[];
  __shared__ char fixed[bytes];
  fixed[threadIdx.x] = 1;
  dynamic[threadIdx.x] = 2;
  out[threadIdx.x] = fixed[threadIdx.x] + dynamic[threadIdx.x];
}
TEST_F(SharedLimits, more_than_48_KiB_of_variables) {
  Array<char> out(32);
  fixed_and_dynamic<65536><<<1, 32, 32>>>(out.get());
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  expect_clean();
}
TEST_F(SharedLimits, both_together_without_the_attribute) {
  Array<char> out(32);
  fixed_and_dynamic<32768><<<1, 32, 40960>>>(out.get());
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  fixed_and_dynamic<32768><<<1, 32, 16384>>>(out.get());
  expect_clean();
  EXPECT_EQ(out.first(), 3);
}
TEST_F(SharedLimits, both_together_with_the_attribute) {
  Array<char> out(32);
  ASSERT_EQ(cudaFuncSetAttribute(fixed_and_dynamic<32000>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, 40960),
            cudaSuccess);
  fixed_and_dynamic<32000><<<1, 32, 40960>>>(out.get());
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  expect_clean();
  EXPECT_EQ(out.first(), 3);
}

// ---- Whose memory it is ----

__global__ void read(float* out, const float* in) { *out = *in; }
float of_the_host = 1;
__device__ float of_the_device[4];

void expect_host_memory(const float* in, const std::string& what) {
  float* out = nullptr;
  ASSERT_EQ(cudaMalloc(&out, 4), cudaSuccess);
  read<<<1, 1>>>(out, in);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  const auto findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "host memory");
  EXPECT_NE(findings[0].text.find(what), std::string::npos) << findings[0].text;
}
TEST_F(HostMemory, from_new) {
  const std::vector<float> in(10, 1.0f);
  expect_host_memory(in.data(), "cudaMalloc()");
}
TEST_F(HostMemory, local_variable) {
  const float in = 1;
  expect_host_memory(&in, "a local variable of the host");
}
TEST_F(HostMemory, global_variable) { expect_host_memory(&of_the_host, "variable of the host"); }
TEST_F(HostMemory, beside_a_device_variable) {
  void* place = nullptr;
  ASSERT_EQ(cudaGetSymbolAddress(&place, of_the_device), cudaSuccess);
  expect_host_memory(static_cast<float*>(place) + 100, "beside the __device__ variables");
}

// ---- What a program ends with ----

__global__ void nothing() {}
int refused_launch(bool ask) {
  nothing<<<1, 2048>>>();  // HERE refused
  return ask && cudaGetLastError() == cudaSuccess ? 1 : 0;
}
simt_test::RegisterChild unasked("unasked", [] { return refused_launch(false); });
simt_test::RegisterChild asked("asked", [] { return refused_launch(true); });
simt_test::RegisterChild refused_api("refused_api", [] {
  void* none = nullptr;
  return cudaLaunchKernel(nothing, dim3(1), dim3(2048), &none) == cudaSuccess ? 1 : 0;
});
int copy_too_much(int exit_code) {
  float host[4] = {};
  float* device = nullptr;
  cudaMalloc(&device, 8);
  cudaMemcpy(device, host, 16, cudaMemcpyHostToDevice);  // HERE too much
  cudaFree(device);
  return exit_code;
}
simt_test::RegisterChild wrong_copy("wrong_copy", [] { return copy_too_much(0); });
simt_test::RegisterChild wrong_copy_3("wrong_copy_3", [] { return copy_too_much(3); });

TEST(Unchecked, refused_launch) {
  const auto ended = simt_test::run_self({"--child=unasked"});
  EXPECT_EQ(ended.code, 66) << ended.output;
  EXPECT_NE(ended.output.find("the launch of nothing at " + at("refused")), std::string::npos)
      << ended.output;
  EXPECT_NE(ended.output.find("2048 threads per block"), std::string::npos) << ended.output;
}
TEST(Unchecked, launch_that_was_asked_about_is_right) {
  for (const char* child : {"--child=asked", "--child=refused_api"}) {
    const auto ended = simt_test::run_self({child});
    EXPECT_EQ(ended.code, 0);
    EXPECT_EQ(ended.output, "");
  }
}
TEST(Unchecked, calls) {
  const auto ended = simt_test::run_self({"--child=wrong_copy"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_NE(
      ended.output.find("cudaMemcpy() at " + at("too much") + " returned cudaErrorInvalidValue"),
      std::string::npos)
      << ended.output;
  EXPECT_EQ(simt_test::run_self({"--child=wrong_copy_3"}).output, "");
}

__global__ void race(float4* out) {
  const float4 mine = make_float4(threadIdx.x, 0, 0, 0);
  out[0] = mine;  // HERE race
}
simt_test::RegisterChild race_counted("race_counted", [] {
  float4* out = nullptr;
  cudaMalloc(&out, 16);
  race<<<1, 64>>>(out);
  return static_cast<int>(cudaDeviceSynchronize());
});
TEST(Unchecked, table_of_a_program_with_findings_names_lines) {
  const auto ended = simt_test::run_self({"--child=race_counted"}, {"SIMT_COUNT=1"});
  EXPECT_EQ(ended.code, 66);
  EXPECT_NE(ended.output.find(at("race") + " "), std::string::npos) << ended.output;
  EXPECT_NE(ended.output.find("  " + at("race")), std::string::npos) << ended.output;
}

}  // namespace
