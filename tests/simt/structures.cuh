#pragma once
// Structures as programs have them, and a kernel for each that copies one per thread. A header of
// its own, so that tests/python/test_strict.py can compile it with nvcc.

namespace structures {

struct TwoDoubles {
  double a, b;
};
struct Mixed {
  int a;
  double b;
};
struct WithPadding {
  char a;
  int b;
  double c;
};
struct ThreeDoubles {
  double a, b, c;
};
class Five {
  long long a[5];
};
struct TwoFloats {
  float x, y;
};
struct alignas(8) AlignedFloats {
  float x, y;
};
struct FourFloats {
  float x, y, z, w;
};
struct Body {
  double mass;
  TwoDoubles position;
};

template <class T>
__device__ void copy(const T* in, T* out) {
  out[threadIdx.x] = in[threadIdx.x];  // HERE structure
}
__global__ void copy_two_doubles(const TwoDoubles* in, TwoDoubles* out) { copy(in, out); }
__global__ void copy_mixed(const Mixed* in, Mixed* out) { copy(in, out); }
__global__ void copy_with_padding(const WithPadding* in, WithPadding* out) { copy(in, out); }
__global__ void copy_three_doubles(const ThreeDoubles* in, ThreeDoubles* out) { copy(in, out); }
__global__ void copy_five(const Five* in, Five* out) { copy(in, out); }
__global__ void copy_two_floats(const TwoFloats* in, TwoFloats* out) { copy(in, out); }
__global__ void copy_aligned_floats(const AlignedFloats* in, AlignedFloats* out) { copy(in, out); }
__global__ void copy_four_floats(const FourFloats* in, FourFloats* out) { copy(in, out); }
__global__ void copy_body(const Body* in, Body* out) { copy(in, out); }

}  // namespace structures
