// What kernels take from C++ and its library: structures, new and delete, memcpy; and what they may
// not: divide by zero.
#include <cstring>

#include "simt_test.hpp"

namespace {

using simt_test::Array;

std::string at(const std::string& name) { return simt_test::here("faults_library.cu", name); }

class Misaligned : public simt_test::Device {};
class Library : public simt_test::Device {};
class Division : public simt_test::Device {};

// ---- Structures copied whole ----

struct Pair {
  double x, y;
};
struct Body {
  double mass;
  Pair at;
};
__global__ void copy_member(Pair* out, const Body* in) { out[threadIdx.x] = in[threadIdx.x].at; }
TEST_F(Misaligned, structure_of_doubles_at_eight_bytes_is_right) {
  Array<Body> in(std::vector<Body>(8, Body{1, {2, 3}}));
  Array<Pair> out(8);
  copy_member<<<1, 8>>>(out.get(), in.get());
  expect_clean();
  EXPECT_EQ(out.host()[7].y, 3);
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
__global__ void clear_and_read(int* out, const int* in, int n) {
  __shared__ int s[64];
  __shared__ int copy[8][3];
  if (threadIdx.x == 0) memset(s, 0, sizeof s);
  if (threadIdx.x < 8) memcpy(copy[threadIdx.x], in + 3 * threadIdx.x, 3 * sizeof(int));
  __syncthreads();
  memcpy(out + n * threadIdx.x, in + n * threadIdx.x, n * sizeof(int));  // HERE memcpy
  if (threadIdx.x < 8) out[threadIdx.x] += s[threadIdx.x] + copy[threadIdx.x][1] - 1;
}
TEST_F(Library, memset_and_memcpy_write) {
  Array<int> in(64, 1), out(64);
  clear_and_read<<<1, 32>>>(out.get(), in.get(), 2);
  expect_finding("race", "clear_and_read", {});
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
TEST_F(Library, memcpy_past_the_end) {
  Array<int> in(64, 1), out(63);
  clear_and_read<<<1, 32>>>(out.get(), in.get(), 2);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect_finding("bounds|race", "clear_and_read", {at("memcpy"), "an allocation of 252 bytes"});
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

}  // namespace
