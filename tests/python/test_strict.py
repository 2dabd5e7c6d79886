"""What nvcc refuses, the CPU backend refuses in one line; what nvcc takes, it takes."""
from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import List, Tuple

from tools import find_nvcc

ROOT = Path(__file__).resolve().parents[2]
SIMT = ROOT / "common" / "simt"
ADD = "__global__ void add(int* a, int* b, int* c, int n) { c[n] = a[n] + b[n]; }\n"
DOUBLED = "int doubled(int x) { return 2 * x; }\n"

# (name, source, what the CPU backend says after a.cu:). nvcc refuses them, too.
REFUSED: List[Tuple[str, str, str]] = [
    ("no __global__", "void add(int* a) { a[0] = 1; }\nint main() { add<<<1, 1>>>(nullptr); }",
     "2: error: 'add' is launched but is no kernel; write __global__ before it in line 1"),
    ("launch of a __device__ function", "__device__ void add(int* a) {}\nint main() { add<<<1, 1>>>(nullptr); }",
     "2: error: 'add' is launched but is no kernel; write __global__ in place of __device__ in line 1"),
    ("no __device__", DOUBLED + "__global__ void k(int* a) {\n  a[0] = doubled(1);\n}\n",
     "3: error: 'doubled' is a host function, called in device code; write __device__ before it in line 1"),
    ("no __device__ for a __device__ function", DOUBLED + "__device__ int f(int x) { return 1 + doubled(x); }\n"
     "__global__ void k(int* a) { a[0] = f(1); }",
     "2: error: 'doubled' is a host function, called in device code; write __device__ before it in line 1"),
    ("no __device__ in a namespace", "namespace a {\n" + DOUBLED + "namespace {\n"
     "__global__ void k(int* p) { if (p) p[0] = doubled(1); }\n}\n}\n",
     "4: error: 'doubled' is a host function, called in device code; write __device__ before it in line 2"),
    ("no __device__ for a template", "template <class T> T halve(T x) { return x / 2; }\n"
     "__global__ void k(float* a) { a[0] = halve<float>(a[1]); }",
     "2: error: 'halve' is a host function, called in device code; write __device__ before it in line 1"),
    ("kernel as a function", ADD + "int main() {\n  add(nullptr, nullptr, nullptr, 1);\n}\n",
     "3: error: kernel 'add' is called as a function; launch it: add<<<blocks, threads>>>(...)"),
    ("kernel as a function, after if", ADD + "int main() { if (true) add(nullptr, nullptr, nullptr, 1); }\n",
     "2: error: kernel 'add' is called as a function; launch it: add<<<blocks, threads>>>(...)"),
    ("__device__ from the host", "__device__ int f(int x) { return x; }\nint main() { return f(0); }\n",
     "2: error: 'f' is a __device__ function, called in host code; call it in a kernel, or write __host__ __device__ "
     "before it in line 1"),
    ("a barrier on the host", "void k(float* a) {\n  __syncthreads();\n}\n",
     "2: error: '__syncthreads' is for device code; 'k' is host code: write __global__ or __device__ before it"),
    ("a kernel that waits", "__global__ void a() {}\n__global__ void b() {\n  a<<<1, 1>>>();\n"
     "  cudaDeviceSynchronize();\n}\n",
     "4: error: 'cudaDeviceSynchronize' is a host function, called in device code; a kernel cannot wait for what it "
     "launches: launch what comes after it into cudaStreamTailLaunch"),
    ("a stream of the host's kind", "__device__ void f() {\n  cudaStream_t s; cudaStreamCreate(&s);\n}\n",
     "2: error: 'cudaStreamCreate' is a host function, called in device code; call "
     "cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)"),
    ("too few arguments", ADD + "int main() { add<<<1, 1>>>(nullptr, nullptr, nullptr); }\n",
     "2: error: kernel 'add' takes 4 arguments, the launch gives 3; give what line 1 lists"),
    ("too many arguments for a template", "template <class T> __global__ void one(T* a) {}\n"
     "int main() { one<float><<<1, 1>>>(nullptr, 1); }\n",
     "2: error: kernel 'one' takes 1 argument, the launch gives 2; give what line 1 lists"),
    ("too many arguments with defaults", "__global__ void k(int a, int b = 1) {}\nint main() { k<<<1, 1>>>(1, 2, 3); }",
     "2: error: kernel 'k' takes 1 to 2 arguments, the launch gives 3; give what line 1 lists"),
    ("a misspelled kernel", ADD + "int main() { ad<<<1, 1>>>(nullptr, nullptr, nullptr, 1); }\n",
     "2: error: there is no kernel 'ad'; did you mean 'add'?"),
    ("another kernel", ADD + "int main() { multiply<<<1, 1>>>(1); }\n",
     "2: error: there is no kernel 'multiply'; the kernels are add"),
    ("std::max", "#include <algorithm>\n__global__ void k(int* a) { a[0] = std::max(a[1], a[2]); }\n",
     "2: error: 'std::max' is a function for the host, called in device code; use max()"),
    ("std::swap", "#include <utility>\n__device__ void f(int& a, int& b) {\n  std::swap(a, b);\n}\n",
     "3: error: 'std::swap' is a function for the host, called in device code; use a third variable"),
    ("rand", "#include <cstdlib>\n__global__ void k(int* a) {\n  a[0] = rand() % 6;\n}\n",
     "3: error: 'rand' is a function for the host, called in device code; use cuRAND, or a hash of the thread's number"),
    ("exit", "#include <cstdlib>\n__global__ void k(int* a) {\n  if (a[0] < 0) exit(1);\n}\n",
     "3: error: 'exit' is a function for the host, called in device code; return, or use __trap()"),
    ("std::cout", "#include <iostream>\n__global__ void k() { std::cout << threadIdx.x; }\n",
     "2: error: 'std::cout' is for the host, used in device code; use printf()"),
    ("std::vector", "#include <vector>\n__global__ void k(int* a) {\n  std::vector<int> v(4, 1);\n  a[0] = v[0];\n}\n",
     "3: error: 'std::vector' is for the host, used in device code; use arrays, and pass pointers to the kernel"),
    ("a method without __device__", "struct Dice {\n  int s = 1;\n  int thrown() { return s = s * 5 + 1; }\n};\n"
     "__global__ void k(int* a) { Dice d; a[0] = d.thrown(); }\n",
     "5: error: 'thrown' is a method for the host, called in device code; write __device__ before it in line 3"),
    ("a const array of the host", "static const float weights[3] = {.25f, .5f, .25f};\n"
     "__global__ void k(float* a, int i) { a[0] = weights[i] * a[1]; }\n",
     "2: error: 'weights' is an array of the host, used in device code; write __constant__ in place of const in line 1"),
    ("a kernel that returns a value", "__global__ int sum(int* a) { return a[0] + a[1]; }\n",
     "1: error: kernel 'sum' returns a value, and nobody could take it; write void, and give it a pointer for the result"),
    ("throw", "__global__ void k(int* a) {\n  if (a[0] < 0) throw 1;\n}\n",
     "2: error: 'throw' in device code, which has no exceptions; write what went wrong to memory that the host reads, or "
     "call __trap()"),
    ("try", "__device__ void f(int* a) {\n  try { a[0] = 1; } catch (...) {}\n}\n",
     "2: error: 'try' in device code, which has no exceptions; write what went wrong to memory that the host reads, or "
     "call __trap()"),
    ("an initial value of shared memory", "__global__ void k(int* a) {\n  __shared__ int s[2] = {1, 2};\n  a[0] = s[1];\n}\n",
     "2: error: 's' is a __shared__ variable, which cannot have an initial value; let one thread set it, and call "
     "__syncthreads()"),
]

# 64 KiB: nvcc says so when it writes machine code.
TOO_MUCH = ("#define ROWS 128\nconstexpr int columns = 2 * 64;\n__global__ void k(float* a) {\n"
            "  __shared__ float s[ROWS][columns];\n  s[threadIdx.x][0] = a[0];\n  __syncthreads();\n"
            "  a[1] = s[31 - threadIdx.x][0];\n}\n",
            "4: error: kernel 'k' has 65536 bytes of static shared memory, a block has 49152; make the arrays smaller, "
            "or use extern __shared__")

# nvcc takes these, and so does the CPU backend.
ACCEPTED: List[Tuple[str, str]] = [
    ("file-scope dynamic shared memory", "extern __shared__ float array[];\n__global__ void k(float* out) {\n"
     "  short* a = (short*)array;\n  float* b = (float*)&a[128];\n  int* c = reinterpret_cast<int*>(array);\n"
     "  a[threadIdx.x] = 1; b[0] = 2; c[1] = 3; array[4] = 5;\n  out[0] = array[4] + *array;\n}\n"
     "int main() { k<<<1, 32, 4096>>>(nullptr); }\n"),
    ("default arguments", "__global__ void k(int* p = nullptr, float f = 0) {}\n"
     "template <class T> __global__ void t(T* p, T f = T(1)) {}\n"
     "int main() { k<<<1, 1>>>(); k<<<1, 1>>>(nullptr); k<<<1, 1>>>(nullptr, 1); t<int><<<1, 1>>>(nullptr); }\n"),
    ("grids in braces", "__global__ void k(int n) {}\nint main() { k<<<{2, 1}, {8, 8}>>>(1);\n"
     "  k<<<{2, 1},\n   {8, 8}, 16>>>(1); k<<<2, {8}, 0, nullptr>>>(1); }\n"),
    ("launches with spaces", "__global__ void k(int a) {}\n"
     "int main() { k << <1, 32 >> > (1); k<< < 1, 32 >> >(2); k<<<1, 32>> >(1 << 2 >> 1); }\n"),
    ("under __CUDACC__", "#ifdef __CUDACC__\n__global__ void k(int* p) { __shared__ int s; s = 1; p[0] = s; }\n#endif\n"
     "#if !defined(__CUDACC__)\nthis is not C++\n#endif\nint main() { k<<<1, 1>>>(nullptr); }\n"),
    ("variables of structures", "struct P { int a, b; };\nstruct Node { Node* next; };\n__constant__ struct P p;\n"
     "__device__ struct Node* head;\n__device__ struct { int a, b; } two;\n__constant__ struct Q { int a; } q[4];\n"
     "__device__ union { int i; float f; } either;\n__device__ struct P make(struct P x) { return x; }\n"
     "__global__ void k(int* o) { o[0] = p.a + two.b + q[1].a + either.i + (head != nullptr) + make(p).a; }\n"
     "int main() { P h{}; cudaMemcpyToSymbol(p, &h, sizeof(h)); }\n"),
    ("overloads for both sides", "#include <cmath>\n__device__ int f(int x) { return x; }\n"
     "float f(float x) { return x; }\n__host__ __device__ int g(int x) { return x; }\n"
     "__global__ void k(int* a) { a[0] = f(1) + g(2); }\nint main() { return int(f(1.f)) + g(1); }\n"),
    ("macros and constexpr", "#define HD __host__ __device__\nHD int f(int x) { return x; }\n"
     "constexpr __host__ __device__ int size() { return 4; }\n"
     "__global__ void k(int* a) { int s[size()]; a[0] = f(a[1]) + sizeof(s); }\n"
     "int main() { return f(0); }\n"),
    ("names that mean something else", "#include <algorithm>\nint sum(int a) { return a; }\n"
     "__global__ void scale(int* p) { int sum(2); p[0] = sum; }\n"
     "struct A { __device__ int value() const { return 1; } __device__ int twice() const { return 2 * value(); } };\n"
     "template <class F> __global__ void apply(F f, int* p) { p[0] = f(1); }\n"
     "namespace ref { float exp(float x) { return x; } int max(int a, int) { return a; } }\n"
     "__global__ void math(float* p) { A a; p[0] = exp(p[1]) + max(1, 2) + a.twice(); }\n"
     "int f(int x) { return x; }\n"
     "int main() {\n  auto scale = [](int* p) { *p = 1; };\n  int i = 0;\n  scale(&i);\n  std::max(1, 2);\n"
     "  return sum(i) + f(0);\n}\n"),
    ("names that the standard library has, too", "#include <algorithm>\n#include <vector>\n#define GPU __device__\n"
     "#define MAKE(T) __global__ void add_##T(T* a) { a[0] += 1; }\nMAKE(float)\nusing namespace std;\n"
     "GPU int f(int x) { return x; }\n__device__ void swap(int& a, int& b) { int c = a; a = b; b = c; }\n"
     "__global__ void copy(const float* a, float* b, int n) { b[n] = a[n]; }\n"
     "__global__ void flags(bool a, bool b) {}\ntemplate <class F> __global__ void each(F g, int n) { g(n); }\n"
     "int main() {\n  struct L { GPU int operator()(int x) const { return f(x); } };\n  vector<int> a(3), b(3);\n"
     "  swap(a, b);\n  copy(a.begin(), a.end(), b.begin());\n  int i = 1, n = 2;\n  flags<<<1, 1>>>(i<n, n>2);\n"
     "  add_float<<<1, 1>>>(nullptr);\n}\n"),
    ("kernels by pasted names", "struct A { int x; };\nclass B final : public A {};\n"
     "template <class T> struct alignas(16) Four { T x[4]; };\n"
     "#define COPY(T) __global__ void copy_##T(T* p) { p[0] = p[1]; }\nCOPY(A)\nCOPY(B)\n"
     "__global__ void fill_by_copy(Four<float>* p) { p[0] = p[1]; }\n"
     "#define RUN(T, v) copy_ ## T<<<1, 1>>>(v); fill_##v##_copy<<<1, 1>>>(nullptr)\n"
     "int main() { A* by = nullptr; RUN(A, by); }\n"),
    ("kernels through pointers", "__global__ void one(int* p) {}\n__global__ void two(int* p) {}\n"
     "using Kernel = void (*)(int*);\nvoid run(Kernel kernel) { kernel<<<1, 1>>>(nullptr); }\n"
     "template <Kernel k> void twice() { k<<<1, 1>>>(nullptr); }\n"
     "int main(int n, char**) {\n  auto kernel = n > 1 ? one : two;\n  kernel<<<1, 1>>>(nullptr);\n  run(two);\n"
     "  twice<one>();\n}\n"),
    ("any number of arguments", "template <class... A> __global__ void k(A... a) {}\n"
     "template <class... A> void run(A... a) { k<<<1, 1>>>(a...); k<A...><<<1, 1>>>(a...); }\n"
     "int main() { k<<<1, 1>>>(1, 2.f); k<<<1, 1>>>(); run(1, 2); }\n"),
    ("declared, then defined", "__global__ void k(int a, int b);\n__device__ int f(int);\n"
     "int main() { k<<<1, 1>>>(1, 2); }\n__global__ void k(int a, int b) { f(a); }\n"
     "__device__ int f(int x) { return x; }\n"),
    ("launches by kernels", "__global__ void a(int* p) { if (p) *p = cudaGetLastError(); }\n"
     "__global__ void b(int* p) {\n  cudaStream_t s;\n  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);\n"
     "  a<<<1, 1, 0, s>>>(p); a<<<1, 1, 0, cudaStreamFireAndForget>>>(p); a<<<1, 1, 0, cudaStreamTailLaunch>>>(p);\n"
     "  cudaStreamDestroy(s);\n}\nint main() { b<<<1, 1>>>(nullptr); return cudaDeviceSynchronize(); }\n"),
    ("what device code has of the standard library", "#include <cmath>\n#include <cstdio>\n#include <cstring>\n#include <utility>\n"
     "#include <limits>\nconstexpr int table[2] = {3, 4};\nconst int four = 4;\n"
     "struct Clock { __host__ __device__ int time() const { return 1; } int host_only() const { return 2; } };\n"
     "namespace mine { __device__ int rand() { return 4; } __device__ int max(int a, int b) { return a < b ? b : a; } }\n"
     "__device__ float both(float x) { return std::sqrt(x) + std::abs(-x) + std::fma(x, x, x) + std::isnan(x); }\n"
     "__global__ void k(float* a, int n) {\n  constexpr int first = table[0];\n  float b = std::move(a[0]);\n"
     "  memcpy(&a[1], &b, sizeof(b));\n  a[2] = both(b) + first + four + mine::rand() + mine::max(n, 2) + max(1, 2);\n"
     "  Clock clock; a[3] = clock.time(); printf(\"%d\", n); const float own[2] = {1, 2}; a[4] = own[n % 2];\n"
     "  std::size_t bytes = std::size_t(n); a[5] = bytes;\n}\n"
     "int main() { Clock clock; return clock.host_only() + table[1] - 6; }\n"),
    ("kernels and functions of one name", "struct Soa { int* r; };\n__global__ void brighten(Soa s) { s.r[0] += 1; }\n"
     "__global__ void brighten(int* r, int by) { r[0] += by; }\n"
     "void brighten() { Soa s{nullptr}; brighten<<<1, 1>>>(s); brighten<<<1, 1>>>(s.r, 1); }\n"
     "int main() { brighten(); }\n"),
    ("a default argument of a declaration", "__global__ void later(int* o, int n = 2);\n"
     "int main() { later<<<1, 1>>>(nullptr); }\n__global__ void later(int* o, int n) { if (o) o[0] = n; }\n"),
    ("a parameter that is a reference", "__global__ void k(int& n, const float& f, int* x) { if (x) x[0] = n + f; }\n"
     "int main() { int n = 3; float f = 1; k<<<1, 1>>>(n, f, nullptr); }\n"),
    ("bounds of launches", "#define MOST 128\nconstexpr int few = 64;\n"
     "__global__ void __launch_bounds__(MOST, 4) a(int* x) {}\n__global__ __launch_bounds__(few) void b(int* x) {}\n"
     "template <int n> __global__ void __launch_bounds__(n) c(int* x) {}\n"
     "int main() { a<<<1, 128>>>(nullptr); b<<<1, few>>>(nullptr); c<32><<<1, 32>>>(nullptr); }\n"),
    ("the most static shared memory", "__global__ void k(float* a) {\n  __shared__ float s[12288];\n"
     "  s[threadIdx.x] = 1; a[0] = s[1];\n}\n"),
    ("one name for two constants", "__global__ void k(int* a) {\n  const int N = 32;\n  __shared__ int s[N];\n"
     "  s[threadIdx.x] = 1;\n  a[0] = s[0];\n}\nint main() { const int N = 1 << 20; k<<<1, 32>>>(nullptr); return N == 0; }\n"
     "namespace b { const int rows = 1 << 20; }\nconst int rows = 4;\nnamespace b {\n"
     "__global__ void k(int* a) { __shared__ int s[2][4]; s[0][0] = rows; a[0] = s[0][0]; }\n}\n"),
    ("a size by a condition", "#ifdef BIG\n#define TILE 16\n#else\n#define TILE 8\n#endif\n#ifndef MORE\n#define ROWS 8\n"
     "#else\n#define ROWS 1024\n#endif\n__global__ void k(float* a) {\n  __shared__ float s[ROWS][TILE];\n"
     "  s[threadIdx.x][0] = 1;\n  a[0] = s[0][0];\n}\n"),
    ("names of members and parameters of templates", "#include <cstdlib>\ndouble f(double x) { return 2 * x; }\n"
     "int op(int x) { return x; }\nconst float w[2] = {1, 2};\n"
     "struct Host { double a; double eval(double x) const { return a * x; } };\ntypedef double (*Fn)(double);\n"
     "struct Twice { __device__ double operator()(double x = 1) const { return 2 * x; } };\n"
     "struct Rule { Fn eval; };\nstruct Base { float w[2]; };\n"
     "struct Derived : Base { __device__ float at(int i) const { return w[i]; } };\n"
     "template <class F> struct M { F f; Twice rand; float w[2];\n"
     "  __device__ double piece(int i) const { return f(i) + w[i]; }\n  __device__ double any() const { return rand(); } };\n"
     "template <int (*op)(int)> __global__ void map(int* x) { x[0] = op(x[1]); }\n"
     "template <class F, F op> struct Map { __device__ static int at(int x) { return op(x); } };\n"
     "__global__ void k(M<Twice> m, Rule r, Derived d, double* x) {\n"
     "  x[0] = m.piece(1) + m.any() + r.eval(2) + d.at(1); }\n"
     "int main() { Host h{1}; return int(h.eval(f(0)) + op(0) + w[0] + rand()) < 0; }\n"),
    ("variables called surface and texture", "__device__ float tex2D(const float* p, int w, int h, float x, float y) {\n"
     "  return p[int(y) * w + int(x) % h]; }\n__global__ void k(float* p, int surface) {\n  int texture = 2;\n"
     "  p[0] = texture < surface && surface < 3 && (surface < texture || 2 > texture) ? tex2D(p, 1, 1, 0.f, 0.f) : 1;\n}\n"),
    ("assembly of the host", "#include <cstdint>\n#define PAUSE() asm volatile(\"pause\")\n"
     "static inline uint64_t now() {\n  uint32_t low, high;\n"
     "  asm volatile(\"rdtsc\" : \"=a\"(low), \"=d\"(high));\n  return (uint64_t)high << 32 | low;\n}\n"
     "struct Clock { uint64_t at() { asm(\"nop\"); return now(); } };\n"
     "__global__ void k(int* a) { a[0] = 1; }\nint main() { PAUSE(); return Clock().at() == 0; }\n"),
    ("kernels that enable_if chooses", "#include <type_traits>\ntemplate <class T>\n"
     "__global__ typename std::enable_if<std::is_same<T, int>::value || sizeof(T) == 1>::type k(T* x) { *x = 1; }\n"
     "template <class T>\n__global__ std::enable_if_t<std::is_same<T, float>::value, void> k(T* x) { *x = 2; }\n"
     "int main() { k<int><<<1, 1>>>(nullptr); k<float><<<1, 1>>>(nullptr); }\n"),
]

# What needs a GPU, or NVIDIA's toolkit; nvcc takes it.
NOT_HERE: List[Tuple[str, str, str]] = [
    ("textures", "__global__ void k(cudaTextureObject_t t, float* p) { p[0] = tex1Dfetch<float>(t, 0); }",
     "1: error: textures are not supported on the CPU backend; they need a GPU and nvcc"),
    ("surfaces", "\n__global__ void k(cudaSurfaceObject_t s) {}",
     "2: error: surfaces are not supported on the CPU backend; they need a GPU and nvcc"),
    ("CUB", "#include <vector>\n#include <cub/cub.cuh>\n", "2:10: fatal error: <cub/cub.cuh> (CUB) "),
    ("Thrust", "#include <thrust/sort.h>\n", "1:10: fatal error: <thrust/sort.h> (Thrust) "),
    ("the driver API", "#include <cuda.h>\nint main() {\n  return cuInit(0);\n}\n",
     "3: error: functions of the driver API other than cuTensorMapEncodeTiled() are not supported on the CPU backend"),
    ("memory of the driver API", "#include <cuda.h>\nint main() { CUdeviceptr p; return cuMemAlloc(&p, 4); }\n",
     "2: error: functions of the driver API other than cuTensorMapEncodeTiled() are not supported on the CPU backend"),
    ("tensor maps by im2col", "#include <cuda.h>\nint f() { return cuTensorMapEncodeIm2col(); }\n",
     "2: error: functions of the driver API other than cuTensorMapEncodeTiled() are not supported on the CPU backend"),
    ("cuComplex", '#include "cuComplex.h"\n', "1:10: fatal error: <cuComplex.h> (cuComplex) "),
    ("cuRAND", "#include <curand_kernel.h>\n", "1:10: fatal error: <curand_kernel.h> (cuRAND) "),
]


class Strict(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp()).resolve()
        self.addCleanup(shutil.rmtree, self.folder, True)

    def call(self, *command: str) -> Tuple[int, str]:
        done = subprocess.run(command, cwd=str(self.folder), text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def rewrite(self, source: str, name: str = "a") -> Tuple[int, str]:
        (self.folder / f"{name}.cu").write_text(source)
        return self.call(sys.executable, str(SIMT / "rewrite.py"), f"{name}.cu", "-o", f"{name}.cpp")

    def compile(self, name: str = "a", compiler: str = "g++") -> Tuple[int, str]:
        return self.call(compiler, "-fsyntax-only", "-std=c++17", "-I", str(SIMT / "include"), "-I", str(SIMT),
                         f"{name}.cpp")

    def test_refused(self) -> None:
        for name, source, line in [*REFUSED, ("static shared memory", *TOO_MUCH)]:
            with self.subTest(name=name):
                self.assertEqual((1, f"a.cu:{line}\n"), self.rewrite(source))

    def test_accepted(self) -> None:
        for name, source in ACCEPTED:
            with self.subTest(name=name):
                self.assertEqual((0, ""), self.rewrite(source))
                for compiler in ("g++", "clang++"):
                    if shutil.which(compiler):
                        self.assertEqual((0, ""), self.compile(compiler=compiler))

    def test_what_is_not_here(self) -> None:
        for name, source, line in NOT_HERE:
            with self.subTest(name=name):
                code, said = self.rewrite(source)
                code, said = self.compile() if code == 0 else (code, said)
                errors = [text for text in said.splitlines() if "error" in text]
                self.assertEqual((1, 1), (code, len(errors)), said)
                self.assertTrue(errors[0].startswith(f"a.cu:{line}"), said)

    def test_left_out_by_a_condition(self) -> None:
        source = "#ifndef SIMT\n#include <cub/cub.cuh>\n#endif\n#if __has_include(<cub/none.cuh>)\n" \
                 "#include <cub/none.cuh>\ncudaTextureObject_t t;\n#endif\n" \
                 "#ifdef SIMT\nint f() { return 1; }\n#else\n__device__ int f() { return 1; }\n#endif\n" \
                 "__global__ void k(int* p) { p[0] = f(); }\n"
        self.assertEqual((0, ""), self.rewrite(source))
        self.assertEqual((0, ""), self.compile())

    def test_a_pointer_to_a_kernel_says_how_many_arguments(self) -> None:
        self.assertEqual((0, ""), self.rewrite("void run(void (*k)(int, int)) { k<<<1, 1>>>(1); }\n"))
        code, said = self.compile()
        errors = [text for text in said.splitlines() if "error" in text]
        self.assertEqual((1, 1), (code, len(errors)), said)
        self.assertIn("this launch gives another number of arguments than its kernel takes", errors[0])

    def test_headers_count(self) -> None:
        """A kernel of a header is known; a header that is not found may hold anything."""
        (self.folder / "k.cuh").write_text("#pragma once\n" + ADD)
        self.assertEqual((1, "a.cu:2: error: there is no kernel 'adds'; did you mean 'add'?\n"),
                         self.rewrite('#include "k.cuh"\nint main() { adds<<<1, 1>>>(); }\n'))
        self.assertEqual((0, ""), self.rewrite('#include "k.cuh"\n#include "no.cuh"\n'
                                               'int main() { adds<<<1, 1>>>(); }\n'))

    @unittest.skipUnless(find_nvcc(), "no nvcc")
    def test_structures_move_as_nvcc_moves_them(self) -> None:
        tests = SIMT.parents[1] / "tests" / "simt"
        wanted = {name: (int(count), int(size)) for name, count, size in re.findall(
            r'{"(copy_\w+)", (\d+), (\d+)}', (tests / "counts_structures.cu").read_text(encoding="utf-8"))}
        self.assertGreaterEqual(len(wanted), 9)
        (self.folder / "s.cu").write_text(f'#include "{tests / "structures.cuh"}"\n')
        code, said = self.call(find_nvcc(), "-std=c++17", "-arch=sm_90", "-ptx", "s.cu", "-o", "s.ptx")
        self.assertEqual(0, code, said)
        found = {}
        for kernel in (self.folder / "s.ptx").read_text().split(".entry ")[1:]:
            name = next(name for name in wanted if name in kernel.partition("(")[0])
            for what in ("ld", "st"):
                pieces = re.findall(rf"\b{what}\.global(?:\.nc)?(?:\.v(\d))?\.\w(\d+)\b", kernel)
                found[name, what] = (len(pieces), int(pieces[0][0] or 1) * int(pieces[0][1]) // 8)
        self.assertEqual({(name, what): pieces for name, pieces in wanted.items() for what in ("ld", "st")}, found)

    def test_branches_by_architecture_are_told(self) -> None:
        text = "__host__ __device__ int f() {\n%s\n  return 1;\n#endif\n  return 2;\n}\n__global__ void k() { f(); }\n"
        for line in ("#ifdef __CUDA_ARCH__", "#if !defined(__CUDA_ARCH__)", "# ifndef __CUDA_ARCH__",
                     "#if __CUDA_ARCH__ >= 800", "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700",
                     "#if X\n#elif __CUDA_ARCH__ > 350"):
            code, said = self.rewrite(text % line)
            self.assertEqual(0, code)
            self.assertRegex(said, r"^a.cu:[23]:1: warning: __CUDA_ARCH__ is never defined")
        for line in ("#ifdef SIMT", "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900",
                     "#ifdef SIMT\n#elif __CUDA_ARCH__ >= 800", "#if __CUDA_ARCH__ > 900"):
            self.assertEqual((0, ""), self.rewrite(text % line))
        outside = "#if %s\n__device__ int f() { return 1; }\n#else\n__device__ int f() { return 2; }\n#endif\n"
        self.assertIn("a.cu:1:1: warning", self.rewrite(outside % "__CUDA_ARCH__ >= 800")[1])
        self.assertEqual((0, ""), self.rewrite(outside % "defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800"))

    @unittest.skipUnless(find_nvcc(), "no nvcc")
    def test_nvcc_agrees(self) -> None:
        cases = [(name, source, "-cuda", False) for name, source, _ in REFUSED]
        cases += [("static shared memory", TOO_MUCH[0], "-cubin", False)]
        cases += [(name, source, "-cuda", True) for name, source in ACCEPTED]
        self.assertLessEqual(len(cases), 60)  # each takes a second

        def verdict(case: Tuple[str, str, str, bool]) -> Tuple[str, bool, bool, str]:
            name, source, how, wanted = case
            stem = re.sub(r"\W+", "_", name)
            (self.folder / f"{stem}.nv.cu").write_text(source)
            link = ["-rdc=true"] if "by kernels" in name else []
            code, said = self.call(find_nvcc(), "-std=c++17", "-arch=sm_80", *link, how, f"{stem}.nv.cu", "-o", f"{stem}.out")
            return name, wanted, code == 0, said

        with ThreadPoolExecutor(2) as pool:
            for name, wanted, got, said in pool.map(verdict, cases):
                with self.subTest(name=name):
                    self.assertEqual(wanted, got, said)


if __name__ == "__main__":
    unittest.main()
