"""The rewriter of the CPU backend: each construct of CUDA that C++ lacks, and what it must leave alone."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Dict, List

ROOT = Path(__file__).resolve().parents[2]
SIMT = ROOT / "common" / "simt"
sys.path.insert(0, str(SIMT))
import rewrite  # noqa: E402

# Inline PTX without a body of its own for the CPU backend.
NEEDS_A_GPU = {"common/kernels/bulk_copy.cu", "common/kernels/spin.cu", "chapters/01_vector_add/80_limit.cu"}

# All that other people's code does at once. It compiles with nvcc, too.
TORTURE = r'''
// k<<<1, 1>>>(); __shared__ float in_a_comment[4]; a line that goes on \
k<<<1>>>( don't
/* __device__ int no; asm("exit;"); */
#include <cstdio>
#include <vector>
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
__device__ void wait() { asm volatile("cp.async.wait_all;"); }
#elif defined(SIMT)
__device__ void wait() {}
#else
this is not C++ <<< ( {
#endif
#ifndef SIMT
asm("exit;");
#else
__device__ int kept = 1'000'000;
#endif
#if 0
don't <<<
#endif
#define GRID_OF(n) dim3((n + 31) / 32, 2)
#define BLOCK 32
#define SHARED __shared__
#define RUN(k, n, ...) k<<<n, 32>>>(__VA_ARGS__)
#define RUN_TYPED(k, T, n)    \
  do {                        \
    k<T, 2>                   \
        <<<n, dim3(32)>>>(    \
            (T*)nullptr);     \
  } while (0)
#define SHOW(call) std::printf("%s\n", #call), call
#define TILE(T, n) __shared__ T tile[n][n + 1]

const char* text = "k<<<1, 1>>>(); __shared__ int x; \" asm(\"exit;\")";
const char* raw = R"x(k<<<1, 1>>>(" __shared__ )x";
constexpr char quote = '"', bracket = '(', back = '\\';

__device__ int counter;
__device__ volatile int flag = 0;
static __device__ float table[4] = {1, 2, 3, 4};
__constant__ float coefficients[64];
__constant__ __device__ int both = 3;
__device__ __managed__ int managed = 7, second;
__managed__ float4 pixel;
__device__ const float pi = 3.14f;
__device__ constexpr int limits[] = {1, 2};
__device__ const float* pointer_to_const = nullptr;
extern __device__ int elsewhere;
__align__(16) __device__ unsigned char bytes[32];
__device__ float (*function_pointer)(float) = nullptr;
__device__ std::pair<int, float> pair_of{1, 2.f};
__device__ float plus(float a, float b) { return a + b; }
__device__ float (*operations[])(float, float) = {plus};
__host__ __device__ inline float minus(float a, float b = (1 < 2));
__host__ __device__ inline float minus(float a, float b) { return a - b; }
namespace {
__device__ unsigned hidden[2];
}
namespace a::b {
__device__ int nested = 2;
struct __align__(8) Pair {
  float x, y;
  __device__ Pair operator+(const Pair& o) const { return {x + o.x, y + o.y}; }
  __device__ bool operator<(const Pair& o) const { return x < o.x; }
  __device__ explicit operator bool() const { return x != 0; }
  __device__ float& operator[](int i) { return i ? y : x; }
};
template <typename T, int n>
struct Box {
  struct Storage {
    T data[n];
  };
  template <int m>
  static void go(cudaStream_t stream);
};
}  // namespace a::b

template <typename T, int n, bool flag = (n > 4)>
__global__ void __launch_bounds__(256, (n > 2) ? 2 : 1) work(T* out) {
  __shared__ float grid[n][n + 1];
  __shared__ T row[n], column[n * (n > 1 ? 2 : 1)], one;
  static __shared__ int count;
  float __shared__ after[4];
  __shared__ volatile int seen[32];
  volatile __shared__ int seen2[32];
  __shared__ alignas(16) unsigned char raw[64];
  __shared__ __align__(alignof(double)) char aligned[64];
  alignas(128) __shared__ float lines[32];
  __shared__ typename a::b::Box<T, n>::Storage storage;
  __shared__ a::b::Box<T, (n > 2)>* where;
  __shared__ int *pointer, *pointers[2];
  __shared__ union {
    int i[4];  // both
    float f[4];
  } mixed;
  __shared__ struct Named { int a; } named[2];
  SHARED float by_macro[8];
  TILE(float, 4);
  __shared__ unsigned long long
      big[4],  // two lines
      bigger[8];
  if (threadIdx.x == 0) {
    count = 0, one = T(), where = nullptr, pointer = &count, pointers[1] = pointer;
    grid[0][0] = after[0] = lines[0] = by_macro[0] = tile[1][2] = 1;
    row[0] = column[0] = T(), seen[0] = seen2[0] = raw[0] = aligned[0] = 1;
    mixed.i[0] = named[1].a = 1, big[0] = bigger[0] = 1ull << 40 >> 3;
    storage.data[0] = T(), out[0] = row[0];
  }
}
__global__ void dynamic(int n) {
  extern __shared__ __align__(16) unsigned char everything[];
  float* floats = reinterpret_cast<float*>(everything);
  floats[n] = 1;
}
__global__ void dynamic_volatile() {
  extern volatile __shared__ int s[];
  s[threadIdx.x] = 1;
}
__global__ void dynamic_rows() {
  extern __shared__ float rows[][32];
  rows[1][threadIdx.x] = 1;
}
extern __shared__ float at_file_scope[];
__global__ void uses_file_scope() { at_file_scope[threadIdx.x] = blockIdx.x; }
__global__ void plain(int* p = nullptr, float f = 0) {}
__device__ float reads(__shared__ float* p, const __shared__ int& i) { return p[i]; }
__global__ void parent() { plain<<<1, 1>>>(nullptr, 1); }
template <class F>
__global__ void apply(F f, int* out) { f(out); }
struct Table { void (*kernel)(int*, float); static void run(); };
using Kernel = void (*)(int*, float);
Kernel choose(int i) { return plain; }
template <int a, int b = 1> int rounded(int n) { return n / a; }
template <class T, int n>
template <int m>
void a::b::Box<T, n>::go(cudaStream_t stream) {
  work<T, n, (m > n)><<<1, 32, 0, stream>>>(static_cast<T*>(nullptr));
}
template <class B> void dependent(cudaStream_t s) { B::template go<4>(s); }

int main(int argc, char**) {
  cudaStream_t stream = nullptr;
  dim3 blockDim(32, 8), gridDim{2, 2};
  const int n = 1 << 4 >> 2;
  int* data = nullptr;
  plain<<<gridDim, blockDim>>>(data, 1.f);
  plain <<< n * (2 + 1), 32 >>> (NULL, 2.5f);
  ::plain<<<1, 1, sizeof(std::vector<std::vector<int>>)>>>(nullptr, 0);
  plain<<<rounded<4, 8>(n), n < 2 ? 1 : 2, 0, stream>>>(data, float(1));
  plain<<<(n + 31) / 32,  // blocks
          32,             // threads
          4 * sizeof(float) /* bytes */,
          stream  // the stream
          >>>(data,  // p
              2.f);
  work<a::b::Pair, 4><<<1, 32>>>((a::b::Pair*)nullptr);
  work<float, (8 >> 1)><<<1, 32>>>((float*)data);
  work<float, 1 << 2, true> <<<1, 32>>>((float*)data);
  ON_MACROS: plain<<<GRID_OF(n), BLOCK>>>(data, 1.f);
  RUN(plain, 2, data, 1.f);
  RUN(parent, 2);
  RUN_TYPED(work, float, 3);
  SHOW((plain<<<1, 1>>>(data, "\t"[0])));
  SHOW(cudaGetLastError());
  Kernel table[2] = {plain, plain};
  Table entry{plain}, *pointer = &entry;
  table[argc % 2]<<<1, 1>>>(data, 1);
  entry.kernel<<<1, 1>>>(data, 1);
  pointer->kernel<<<1, 1>>>(data, 1);
  (*table)<<<1, 1>>>(data, 1);
  choose(1)<<<1, 1>>>(data, 1);
  if (argc > 1) plain<<<1, 1>>>(data, 1);
  else plain<<<1, 1>>>(data, 1);
  for (int i = 0; i < n; ++i) apply<<<1, 1>>>([=] __device__(int* p) { *p = i << 2; }, data);
  apply<<<1, 1>>>([=] __host__ __device__(int* p) { plain<<<1, 1>>>(p, 1); }, data);
  auto pick = [=]() { return plain<<<1, 1>>>(data, 1); };
  cudaFuncSetAttribute(work<float, 4>, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024);
  cudaFuncSetAttribute((const void*)plain, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024);
  cudaFuncSetAttribute(reinterpret_cast<const void*>(&work<float, 4>),
                       cudaFuncAttributeMaxDynamicSharedMemorySize, 1024);
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, plain);
  int blocks, threads;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 128, 0);
  cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, plain, 0, 0);
  void* arguments[] = {&data, &data};
  cudaLaunchCooperativeKernel((void*)plain, dim3(1), dim3(32), arguments, 0, stream);
  pick();
  return counter = n;
}
'''


# Memory of each kind in a kernel that is launched in two ways.
PROGRAM = r'''
#include <cassert>
#include <cstdio>
#include "tile.cuh"
__device__ int total;
__constant__ int weights[4];
__device__ __managed__ int seen;
template <typename T, int n>
__global__ void rows(T* out) {
  TILE(T, n);
  __shared__ alignas(64) T line[n];
  __shared__ struct { T a[n]; } s;
  extern __shared__ __align__(16) unsigned char raw[];
  T* dynamic = reinterpret_cast<T*>(raw);
  const int i = threadIdx.x;
  assert(reinterpret_cast<size_t>(&line) % 64 == 0);
  tile[i][i] = T(i), line[i] = T(1), s.a[i] = T(2), dynamic[i] = T(3);
  __syncthreads();
  const int j = n - 1 - i;
  out[blockIdx.x * n + i] = tile[j][j] + line[j] + s.a[j] + dynamic[j];
  atomicAdd(&total, weights[i % 4]);
  if (i == 0) atomicAdd(&seen, 1);
}
void run() {
  const int w[4] = {1, 2, 3, 4};
  cudaMemcpyToSymbol(weights, w, sizeof(w));
  float *out, got[64];
  cudaMalloc(&out, sizeof(got));
  rows<float, ROWS>
      <<<2, 32, 32 * sizeof(float)>>>(out);
  void (*kernel)(float*) = rows<float, ROWS>;
  kernel<<<dim3(2), 32, 128, nullptr>>>(out);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaMemcpy(got, out, sizeof(got), cudaMemcpyDeviceToHost);
  int sum = 0;
  cudaMemcpyFromSymbol(&sum, total, sizeof(sum));
  printf("%g %g %g %d %d\n", got[0], got[31], got[63], sum, seen);
}
'''

PROJECT = '''cmake_minimum_required(VERSION 3.21)
project(outside CXX)
include("@SIMT@/simt.cmake")
simt_add_executable(checked sub/memory.cu main.cpp)
simt_add_executable(fast PLAIN sub/memory.cu main.cpp)
foreach(target checked fast)
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/my inc")
  target_compile_definitions(${target} PRIVATE ROWS=32)
endforeach()
'''


# What makes nothing else of the text: gaps before variables, the sizes of structures.
ADDED = (r"SIMT_(?:DEVICE|CONSTANT|MANAGED)_GAP | SIMT_(?:TYPE|TYPE_OF|UNION)\([\w, ]+\)|struct simt_name_\d+ \{.*?\} \}; |"
         r", simt_name_\d+(?=>)")


class Rewriter(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp()).resolve()
        self.addCleanup(shutil.rmtree, self.folder, True)

    def run_it(self, files: Dict[str, str], *options: str) -> "subprocess.CompletedProcess[str]":
        """Writes files, rewrites the first of them to out.cpp."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        command = [sys.executable, str(SIMT / "rewrite.py"), next(iter(files)), "-o", "out.cpp", *options]
        return subprocess.run(command, cwd=str(self.folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def rewritten(self, text: str) -> str:
        """Without a process of its own."""
        job = rewrite.Job([], str(self.folder))
        return rewrite.File("a.cu", text, job).rewrite() or text

    def check(self, text: str, wanted: str) -> None:
        """But for gaps, types and CUDA's words, which have tests of their own."""
        wanted = rewrite.our_words(wanted)
        self.assertEqual(wanted, re.sub(ADDED, "", self.rewritten(text)))
        self.assertEqual(text.count("\n"), wanted.count("\n"), "lines moved")

    def unchanged(self, text: str) -> None:
        self.check(text, text)

    def refused(self, text: str, message: str) -> None:
        with self.assertRaises(rewrite.Problem) as caught:
            self.rewritten(text)
        self.assertEqual(message, str(caught.exception))

    def compile(self, *options: str) -> None:
        for compiler in ("g++", "clang++"):
            if shutil.which(compiler):
                command = [compiler, "-fsyntax-only", "-std=c++17", "-I", str(SIMT / "include"), "-I", str(SIMT),
                           *options, "out.cpp"]
                done = subprocess.run(command, cwd=str(self.folder), stderr=subprocess.PIPE, text=True)
                self.assertEqual(0, done.returncode, done.stderr)


def call(kernel: str, values: str, arguments: str = "", capture: str = "=", called: str = "") -> str:
    """What a launch becomes; values: grid, block, bytes and stream."""
    return (f'simt::launch(simt::Launch{{{values}, "{kernel}"}}, [{capture}](auto... simt_a) '
            f"{{ {called or kernel}(simt_a...); }}, SIMT_KERNEL_PARAMETERS({kernel})"
            f"{', ' + arguments if arguments else ''})")


class Launches(Rewriter):
    def test_values(self) -> None:
        two = "dim3(g), dim3(b), 0, nullptr"
        self.check("k<<<g, b>>>();", call("k", two) + ";")
        self.check("k<<<g, b>>>(x, y);", call("k", two, "x, y") + ";")
        self.check("k<<<g,b,s>>>(x);", call("k", "dim3(g), dim3(b), std::size_t(s), nullptr", "x") + ";")
        self.check("k<<<g, b, s, t>>>(x);", call("k", "dim3(g), dim3(b), std::size_t(s), (cudaStream_t)(t)", "x") + ";")
        self.check("k<<<f(1, 2), r<4, 8>(n)>>>();", call("k", "dim3(f(1, 2)), dim3(r<4, 8>(n)), 0, nullptr") + ";")
        self.check("k<<<n < 2 ? 1 : 2, N<int>>>>(x);",
                   call("k", "dim3(n < 2 ? 1 : 2), dim3(N<int>), 0, nullptr", "x") + ";")
        self.check("k<<<n >> 2, 1 << 3>>>();", call("k", "dim3(n >> 2), dim3(1 << 3), 0, nullptr") + ";")

    def test_kernels(self) -> None:
        one = "dim3(1), dim3(1), 0, nullptr"
        for kernel in ("k<4>", "k<(n > 4), f(a, b)>", "a::k", "::k", "a::B<int>::k<2>", "k<A<B<int>>>", "k<A < B>",
                       "k<1 << 2>", "T::template k<4>", "k<&S::x>", "k<'>'>", "k<decltype(p->x)>"):
            with self.subTest(kernel=kernel):
                self.check(f"{kernel}<<<1, 1>>>(x);", call(kernel, one, "x") + ";")
                self.check(f"if (y) {kernel}<<<1, 1>>>(x);", "if (y) " + call(kernel, one, "x") + ";")
                self.check(f"return {kernel} <<<1, 1>>>(x);", "return " + call(kernel, one, "x") + ";")
        for kernel in ("table[i]", "o.k", "p->k", "f(1)", "(*p)", "t[f(i)].k"):
            with self.subTest(kernel=kernel):
                self.check(f"{kernel}<<<1, 1>>>(x);", call(kernel, one, "x", f"simt_k = {kernel}", "simt_k") + ";")

    def test_lines_and_null(self) -> None:
        self.check("k<T>\n  <<<g,  // grid\n    b>>>(\n  NULL, y);",
                   'simt::launch(simt::Launch{dim3(\ng), dim3(// grid\n    b), 0, nullptr, "k<T>"}, '
                   "[=](auto... simt_a) { k<T>(simt_a...); }, SIMT_KERNEL_PARAMETERS(k<T>), \n  nullptr, y);")

    def test_in_arguments(self) -> None:
        one = "dim3(1), dim3(1), 0, nullptr"
        self.check("a<<<1, 1>>>([=] __device__(int i) { b<<<1, 1>>>(i); });",
                   call("a", one, "[=] __device__(int i) { " + call("b", one, "i") + "; }") + ";")

    def test_macros(self) -> None:
        self.check("#define RUN(k, T, ...) \\\n  k<T, 2><<<1, \\\n 1>>>(__VA_ARGS__)\n",
                   "#define RUN(k, T, ...) \\\n  simt::launch(simt::Launch{dim3(1), dim3(\\\n 1), 0, nullptr, "
                   '#k "<" #T "," "2" ">"}, [=](auto... simt_a) { k<T, 2>(simt_a...); }, '
                   'SIMT_KERNEL_PARAMETERS(k<T, 2>) __VA_OPT__(,) __VA_ARGS__)\n')

    def test_a_macro_that_prints_its_argument_prints_the_source(self) -> None:
        text = self.rewritten('#define SHOW(call) puts(#call), call\nvoid f() { SHOW(k<<<1,  1>>>("x")); SHOW(g(1)); }')
        self.assertIn('SHOW("k<<<1, 1>>>(\\"x\\")", simt::launch(', text)
        self.assertIn('SHOW("g(1)", g(1))', text)
        self.unchanged("#define SHOW(call) puts(#call), call\nvoid f() { SHOW(g(1)); }")

    def test_macros_that_stand_for_the_launch(self) -> None:
        """Written out where they are used; nothing is left of them."""
        launch = call("k", "dim3(f(1, 2)), dim3(3), 0, nullptr", "x").replace(" ", "")
        for macro, used in (("ON(b, t) <<< b, t >>>", "k ON(f(1, 2), 3)(x)"), ("ON <<<f(1, 2), 3>>>", "k ON (x)"),
                            ("ON(a) a<<<f(1, 2), 3>>>", "ON(k)(x)"), ("ON(...) <<<__VA_ARGS__>>>", "k ON(f(1, 2), 3) (x)"),
                            ("ON(b) <<<b, \\\n 3>>>", "k ON(f(1, 2))(x)")):
            with self.subTest(macro=macro):
                text = self.rewritten(f"#define {macro}\n{used};\n#ifdef ON\n#undef ON\n#endif\n")
                self.assertIn(f"\n{launch};#ifdef", re.sub(r" |(?<=;)\n", "", text))
        text = self.rewritten("#define ON(b) <<<b, 1>>>\n#define RUN(k) k ON(2)\nRUN(k)();")
        self.assertEqual(["#define ON(b)", "#define RUN(k)", call("k", "dim3(2), dim3(1), 0, nullptr") + ";"],
                         [line.rstrip() for line in text.split("\n")])
        self.refused("#if X\n#define ON <<<1, 2>>>\n#else\n#define ON <<<2, 1>>>\n#endif\n",
                     "'ON' stands for several <<< >>>; write the launches out: a.cu:4")

    def test_arguments_without_a_type(self) -> None:
        one = "dim3(1), dim3(1), 0, nullptr"
        kernel = "__global__ void k(int* p, int n, A a, const float* __restrict__ f);\n"
        self.check(kernel + "void g() { k<<<1, 1>>>(0, 0, {1, 2}, 0); }", kernel + "void g() { " + call(
            "k", one, "nullptr, 0, std::remove_pointer_t<decltype(simt::parameter_of<2>(k))>{1, 2}, "
            "nullptr") + "; }")
        self.refused("template <class T> __global__ void k(T a);\nvoid g() { k<<<1, 1>>>({1, 2}); }",
                     "a launch of a template does not tell the type of {...}; write it before {: a.cu:2")

    def test_cluster_of_the_kernel(self) -> None:
        text = "__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(4) k(int x);\nvoid f() { k<<<8, 4>>>(1); }"
        self.assertIn('0, nullptr, "k", dim3(2, 1, 1)}', self.rewritten(text))

    def test_bounds_of_the_kernel(self) -> None:
        """By the constants of its place, and none where macros, conditions or overloads leave it open."""
        kernel, launch = "__global__ void __launch_bounds__(N) k(int x) {}\n", "void f() { k<<<8, 4>>>(1); }"
        for before, most in (("const int N = 64;\n", "64"), ("#define N 64\n#undef N\n#define N (2 * 8)\n", "16"),
                             ("const int M = 4;\nconst int N = M * 8;\n", "32"), ("#if X\n#define N 4\n#endif\n", ""),
                             ("#ifndef X\n#define N 4\n#else\n#define N 8\n#endif\n", ""), ("const int N = g();\n", ""),
                             ("void g() { const int N = 4; }\n", ""), ("const int N = 4;\ntemplate <int N>\n", ""),
                             ("const int N = 4;\nvoid g(int N);\n", "4"),
                             ("namespace a { const int N = 4; }\nusing namespace a;\n", ""),
                             ("namespace { const int N = 4; }\n", "4"),
                             ("const int N = 4;\n__global__ void __launch_bounds__(8) k(float x) {}\n", ""),
                             ("const int N = 4;\n__global__ void __launch_bounds__(4) k(float);\n", "4"),
                             ("const int N = 4;\n__global__ void k(int);\n", "4")):
            with self.subTest(before=before):
                text = self.rewritten(before + kernel + "const int N_after = 2; void h() { const int N = 1024; }\n" + launch)
                self.assertEqual([most] if most else [], re.findall(r"simt::bounded\((\d+)", text))

    def test_no_launch(self) -> None:
        self.unchanged("std::cout << 1 << 2; x = y >> 3; // k<<<1, 1>>>()\n/* k<<< */ auto s = \"k<<<1>>>()\";"
                       "auto r = R\"a(k<<<\" )a\"; A<B<C<int>>> d; char c = '\"'; int big = 1'000;"
                       "dim3 blockDim(32), gridDim;")
        self.unchanged("std::ostream& operator<<<T>(std::ostream&, T);")

    def test_errors(self) -> None:
        self.refused("\nvoid f() { k<<<1, 1; }", "<<< without >>>(: a.cu:2")
        self.refused("\n\nk<<<1, 1>>>(x;", "'(' is never closed: a.cu:3")
        self.refused("k<<<1>>>();", "a launch has 2 to 4 values in <<< >>>, not 1: a.cu:1")
        self.refused("k<<<1, 2, 3, 4, 5>>>();", "a launch has 2 to 4 values in <<< >>>, not 5: a.cu:1")
        self.refused("= <<<1, 2>>>();", "no kernel before <<<: a.cu:1")


class Shared(Rewriter):
    def declared(self, text: str, *wanted: str) -> None:
        self.check(f"void f() {{ {text}; }}", f"void f() {{ {'; '.join(wanted)}; }}")

    def variable(self, number: int, name: str, kind: str) -> str:
        of, dims = re.fullmatch(r"(.*?)((?:\[.*\])?)(?:, (?:\d+|alignof.*))?", kind).groups()
        declared = f"{of} (&{name}){dims}" if dims else f"{of}& {name}"
        return f"static char simt_key_{number}[] = \"{name}\"; {declared} = simt::shared<{kind}>(&simt_key_{number})"

    def test_types(self) -> None:
        for text, kind in (("__shared__ float s", "float"), ("__shared__ float s[4]", "float[4]"),
                           ("__shared__ T s[n][n + 1]", "T[n][n + 1]"), ("static __shared__ int s", "int"),
                           ("float __shared__ s[4]", "float[4]"), ("__shared__ volatile int s[2]", "volatile int[2]"),
                           ("volatile __shared__ int s", "volatile int"), ("__shared__ int *s[2]", "int *[2]"),
                           ("__shared__ typename A<T, 2>::B s", "typename A<T, 2>::B"),
                           ("__shared__ A<(n > 2)> s[sizeof (T)]", "A<(n > 2)>[sizeof (T)]"),
                           ("__shared__ A<(n > 2), int> s", "A<(n > 2), int>"),
                           ("__shared__ int s[n > 2 ? 1 : 2]", "int[(n > 2 ? 1 : 2)]"),
                           ("__shared__ int s[sizes[2]]", "int[sizes[2]]"),
                           ("__shared__ unsigned char s[4]", "unsigned char[4]"),
                           ("__shared__ alignas(16) char s[4]", "char[4], 16"),
                           ("__align__(8) __shared__ char s[4]", "char[4], 8"),
                           ("__shared__ char s[4] __attribute__((aligned(16)))", "char[4], 16")):
            with self.subTest(text=text):
                self.declared(text, self.variable(1, "s", kind))

    def test_several(self) -> None:
        self.declared("__shared__ A<1, 2> x, *y[2], z[3][4]", self.variable(1, "x", "A<1, 2>"),
                      self.variable(2, "y", "A<1, 2> *[2]"), self.variable(3, "z", "A<1, 2>[3][4]"))
        self.declared("__shared__ int *x, y", self.variable(1, "x", "int *"), self.variable(2, "y", "int"))

    def test_aligned_by_an_expression(self) -> None:
        self.declared("__shared__ alignas(alignof(T)) char s[4]", "struct alignas(alignof(T)) simt_align_1 {}",
                      self.variable(1, "s", "char[4], alignof(simt_align_1)"))

    def test_with_a_body(self) -> None:
        self.assertEqual("void f() { struct Named { int a; }; " + self.variable(1, "s", "Named[2]") + "; }",
                         re.sub(" +", " ", self.rewritten("void f() { __shared__ struct Named { int a; } s[2]; }")))
        self.assertIn("simt::shared<simt_type_1>",
                      self.rewritten("void f() { __shared__ union { int a;\n float b; } s; }"))

        self.assertIn("simt::shared<simt_type_1[2], 16>",
                      self.rewritten("void f() { __shared__ alignas(16) struct { int a; } s[2]; }"))

    def test_dynamic(self) -> None:
        self.declared("extern __shared__ float s[]", "float* s = simt::dynamic_shared<float>()")
        self.declared("extern __shared__ __align__(16) unsigned char s[]",
                      "unsigned char* s = simt::dynamic_shared<unsigned char>()")
        self.declared("extern volatile __shared__ int s[]", "volatile int* s = simt::dynamic_shared<volatile int>()")
        self.declared("extern __shared__ float s[][32]", "auto* s = simt::dynamic_shared<float[32]>()")
        self.declared("extern __shared__ Big s", "Big& s = *simt::dynamic_shared<Big>()")
        self.check("namespace a { extern __shared__ T s[]; }", "namespace a { static simt::DynamicShared<T> s; }")

    def test_macros(self) -> None:
        self.check("#define SHARED __shared__\nvoid f() { SHARED int s; }",
                   "#define SHARED\nvoid f() { " + self.variable(1, "s", "int") + "; }")
        self.check("#define TILE(T) __shared__ T s[4]\n", "#define TILE(T) " + self.variable(1, "s", "T[4]") + "\n")

    def test_in_lambdas(self) -> None:
        """There the variable is not captured: it is named by what its reference is made of."""
        call = "simt::shared<int[4]>(&simt_key_1)"
        for before, after in (("[=](int k) { return s[k]; }", f"[=](int k) {{ return {call}[k]; }}"),
                              ("[] { s[0] = t.s + t->s; }", f"[] {{ {call}[0] = t.s + t->s; }}"),
                              ("[t] __device__(T x) mutable { [&] { ++s[1]; }(); }",
                               f"[t] __device__(T x) mutable {{ [&] {{ ++{call}[1]; }}(); }}"),
                              ("[&](int k) { return s[k]; }", ""), ("[&, t](int k) { return s[k]; }", ""),
                              ("[=](int* s) { return s[1]; }", ""), ("a[s[1]]", ""),
                              ("0; struct A { void f() { s[0] = 1; } }", f"0; struct A {{ void f() {{ {call}[0] = 1; }} }}"),
                              ("0; struct A { int s[2]; void f() { s[0] = 1; } }", "")):
            with self.subTest(before=before):
                declared = self.variable(1, "s", "int[4]").replace("; ", "; [[maybe_unused]] " if after else "; ")
                self.check(f"void f() {{ {{ __shared__ int s[4]; auto x = {before}; }} auto y = [=] {{ s = 1; }}; }}",
                           f"void f() {{ {{ {declared}; auto x = {after or before}; }} auto y = [=] {{ s = 1; }}; }}")
        self.assertIn("[] { return simt::dynamic_shared<float>()[0]; }",
                      self.rewritten("void f() { extern __shared__ float s[]; auto x = [] { return s[0]; }; }"))
        self.assertIn("[=] { return s[0]; }",
                      self.rewritten("void f() { extern __shared__ float s[]; auto x = [=] { return s[0]; }; }"))

    def test_outside_of_functions(self) -> None:
        self.check("__shared__ int s[2], n;\n#define N n\nvoid f(int* p) { s[0] = n + p->n + p.n + a::n; }\n"
                   "void g(int n) { f(s); n = 1; }\nvoid h() { int *s = 0; s[n * 2] = 2 * n; }",
                   'static char simt_key_1[] = "s"; static inline auto& simt_shared_1() '
                   "{ return simt::shared<int[2]>(&simt_key_1); }; "
                   'static char simt_key_2[] = "n"; static inline auto& simt_shared_2() '
                   "{ return simt::shared<int>(&simt_key_2); };\n#define N simt_shared_2()\n"
                   "void f(int* p) { simt_shared_1()[0] = simt_shared_2() + p->n + p.n + a::simt_shared_2(); }\n"
                   "void g(int n) { f(simt_shared_1()); n = 1; }\n"
                   "void h() { int *s = 0; s[simt_shared_2() * 2] = 2 * simt_shared_2(); }")

        before = "struct S { int n; int get() { return n; } };\nint f() { return g(n); }\n"
        self.assertTrue(self.rewritten(before + "__shared__ int n;\n").startswith(before))

    def test_a_macro_called_shared(self) -> None:
        self.check("#define shared __shared__\nvoid f() { shared int s; }",
                   "#define simt_shared\nvoid f() { " + self.variable(1, "s", "int") + "; }")

    def test_elsewhere(self) -> None:
        self.unchanged('// __shared__ int a;\nauto s = "__shared__ int x;"; int my__shared__;')
        self.check("void f(__shared__ float* p);", "void f( float* p);")

    def test_errors(self) -> None:
        self.refused("struct S {\n__shared__ int x; };", "a __shared__ variable outside of a function (x): a.cu:2")
        for value in (" = 1", "{}", "(1)", "[2] = {1}"):
            self.refused(f"void f() {{\n __shared__ int a, x{value}; }}", "a.cu:2: error: 'x' is a __shared__ variable, "
                         "which cannot have an initial value; let one thread set it, and call __syncthreads()")
        self.refused("void f() {\n __shared__ int (*x)(int); }",
                     "cannot read this __shared__ declaration (int (*x)(int)): a.cu:2")


class Variables(Rewriter):
    def test_variables(self) -> None:
        for text in ("__device__ int x;", "static __device__ float t[4] = {1, 2};", "__device__ volatile int x = 0;",
                     "extern __device__ int x;", "__device__ float (*f)(float) = nullptr;",
                     "__device__ A<int, 2> a{1};",
                     "__align__(16) __device__ char b[32];", "__device__ const float* p;",
                     "namespace a { __device__ T x; }",
                     'extern "C" { __device__ int x; }', "int f(int);\n__device__ unsigned long long int x;",
                     "__device__ void (*table[])(int) = {a, b};", "__device__ A (*f)(const int);",
                     "void f() { static __device__ int x; }"):
            with self.subTest(text=text):
                for word, macro in (("__device__", "DEVICE"), ("__managed__", "DEVICE"), ("__constant__", "CONSTANT")):
                    self.check(text.replace("__device__", word), text.replace("__device__", f"SIMT_{macro}_VARIABLE"))
        self.check("__device__ static float *a, b[2] = {1, 2};",
                   "SIMT_DEVICE_VARIABLE static float *a; SIMT_DEVICE_VARIABLE static float  b[2] = {1, 2};")
        self.check("__device__ __managed__ int m;", "SIMT_DEVICE_VARIABLE  int m;")
        self.check("__device__ __constant__ int m;", "SIMT_CONSTANT_VARIABLE  int m;")

    def test_gaps(self) -> None:
        for text, wanted in {
                "static __device__ int x; __constant__ int y;":
                    "SIMT_DEVICE_GAP static SIMT_DEVICE_VARIABLE int x; SIMT_CONSTANT_GAP SIMT_CONSTANT_VARIABLE int y;",
                "namespace a {\n  __managed__ int x;\n}":
                    "namespace a {\n  SIMT_MANAGED_GAP SIMT_DEVICE_VARIABLE int x;\n}",
                "extern __device__ int x;": "extern SIMT_DEVICE_VARIABLE int x;",
                "void f() { static __device__ int x; }": "void f() { static SIMT_DEVICE_VARIABLE int x; }",
                "#define X __device__ int x;\nX": "#define X SIMT_DEVICE_VARIABLE int x;\nX"}.items():
            with self.subTest(text=text):
                self.assertEqual(wanted, self.rewritten(text))

    def test_structures(self) -> None:
        kernel = "\n__global__ void k() { struct L { int x; }; }"
        for text, added in {"struct A { int x; };": " SIMT_TYPE(A)", "class B final : A, C<int> { } ;": " SIMT_TYPE(B)",
                            "union U { int i; double d; };": " SIMT_TYPE(U) SIMT_UNION(U)",
                            "struct A { int k; union { int i; float f; }; };": " SIMT_TYPE(A) SIMT_UNION(A)",
                            "namespace n { struct alignas(8) A { struct I { int x; }; }; }": " SIMT_TYPE(A)",
                            "template <class T> struct A { T x; };": "",
                            "template <class T> struct __align__(16) A { T x; };": " SIMT_TYPE_OF(16, 16)",
                            "struct A { int x; } a;": "", "struct A;": "", "enum class E { a };": "",
                            "typedef struct { int x; } A;": "", "#define S struct A { int x; };": "",
                            "struct A f() { return {}; }": ""}.items():
            with self.subTest(text=text):
                out = self.rewritten(text + kernel)
                self.assertEqual(rewrite.our_words(text + kernel), re.sub(ADDED, "", out))
                self.assertEqual(added, "".join(re.findall(ADDED, out)))
        self.unchanged("struct A { int x; };")

    def test_static_variables_of_functions(self) -> None:
        for text in ("__device__ int f() { static int n = 0; return ++n; }",
                     "__global__ void f() { int a; { static A<2> b[2]; } }"):
            self.check(text, text.replace("static ", "static SIMT_DEVICE_VARIABLE "))
        for text in ("void f() { static int n; }", "__host__ __device__ void f() { static int n; }",
                     "__device__ inline int f() { static int n; return ++n; }",
                     "template <class T> __device__ int f() { static T n; return ++n; }",
                     "struct S { __device__ int f() { static int n; return ++n; } };",
                     "__device__ int f() { static const int n[] = {1}; static constexpr int m = 2; return n[m]; }",
                     "__device__ int f() { struct A { static int g() { return 1; } }; return A::g(); }"):
            self.unchanged(text)

    def test_no_variables(self) -> None:
        for text in ("__device__ int f();", "__device__ T f(int a = 1) { return a; }",
                     "template <class T> __device__ T x;",
                     "__host__ __device__ A operator=(A);",
                     "struct S { static __device__ int x; __device__ S() : x{1} {} };",
                     "__device__ int (*const f[2])(int) = {a, b};", "__device__ constexpr int n = 4;",
                     "__device__ const int n[] = {1};",
                     "auto f = [=] __device__ { };",
                     "auto f = [=] __device__(int x) { return x; };", "[[nodiscard]] __device__ int f();",
                     "struct S { __device__ operator bool() const; __device__ ~S(); };", "__device__ auto f() -> int;",
                     "__device__ void __launch_bounds__(4) f();", "f([&] __device__ { });"):
            with self.subTest(text=text):
                self.unchanged(text)


class Kernels(Rewriter):
    def test_arguments(self) -> None:
        for before, after in (("k", 'simt::kernel(k, "k")'), ("(const void*)k", 'simt::kernel(k, "k")'),
                              ("(void *)&k", 'simt::kernel(k, "k")'), ("k<a, 2>", 'simt::kernel(k<a, 2>, "k<a, 2>")'),
                              ("reinterpret_cast<const void*>(k<2>)", 'simt::kernel(k<2>, "k<2>")'), ('"k"', '"k"'),
                              ("nullptr", "nullptr")):
            for form in ("cudaFuncSetAttribute(%s, a, b);", "cudaLaunchKernel(%s, g, b, p);",
                         "cudaLaunchKernelEx(&c, %s, x);",
                         "CHECK(cudaLaunchCooperativeKernel(%s, g, b, p));", "::cudaFuncGetAttributes(&a, %s);",
                         "cudaOccupancyMaxPotentialBlockSize(&a, &b, %s, 0, 0);", "cudaFuncSetCacheConfig(%s, c);",
                         "cudaOccupancyMaxActiveBlocksPerMultiprocessor(&a, %s, 1, 0);",
                         "cudaOccupancyMaxActiveClusters(&a, %s, &c);"):
                with self.subTest(before=before, form=form):
                    self.check(form % before, form % after)


class Assembly(Rewriter):
    def test_errors(self) -> None:
        for asm in ("asm", "asm volatile", "__asm__ __volatile__"):
            self.refused(f'__global__ void k() {{\n  {asm}("exit;"); }}', "inline PTX needs a GPU: a.cu:2")
        self.unchanged('__device__ void f() { asm volatile("" ::: "memory"); }')
        self.unchanged('inline void pause() { asm("pause"); }')

    def test_conditions(self) -> None:
        text = '__device__ void f();\n%s\nasm("exit;");\n#endif\n'
        for condition in ("#ifndef SIMT", "#if !defined(SIMT)", "#if !defined SIMT && defined(X)",
                          "#ifdef __CUDA_ARCH__",
                          "#if __CUDA_ARCH__ >= 900", "#if X\n#elif !SIMT", "#ifdef SIMT\n#else", "#if 1\n#elif 1",
                          "#if 0",
                          "#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 800 || X > 2)",
                          "#ifdef X\n#elif defined(SIMT)\n#else"):
            with self.subTest(condition=condition):
                self.unchanged(text % condition)
        for condition in ("#ifdef SIMT", "#if X", "#ifndef X", "#if 1", "#if __has_include(<x>)", "#ifndef SIMT\n#else",
                          "#if !defined(SIMT) || X", "#if X == 2 ? 1 : 0",
                          "#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ > 1"):
            with self.subTest(condition=condition):
                line = (text % condition).split("asm")[0].count("\n") + 1
                self.refused(text % condition, f"inline PTX needs a GPU: a.cu:{line}")
        self.check('#ifdef SIMT\n__device__ int x;\n#else\nasm("exit;"); k<<<\n#endif\n',
                   '#ifdef SIMT\nSIMT_DEVICE_VARIABLE int x;\n#else\nasm("exit;"); k<<<\n#endif\n')


class Includes(Rewriter):
    def test_recursive(self) -> None:
        done = self.run_it({"src/a.cu": '#include "b.cuh"\n#include "host.hpp"\n#include <d.cuh>\n#include "no.h"\n',
                            "src/b.cuh": '#pragma once\n#include "c.cuh"\n',
                            "src/c.cuh": '#include "b.cuh"\n__device__ int x;\n',
                            "src/host.hpp": "int y;\n", "my inc/d.cuh": "__global__ void k() { __shared__ int s; }\n"},
                           "-I", "my inc", "--depfile", "out.d")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        text = (self.folder / "out.cpp").read_text()
        self.assertIn(f'#include "{self.folder}/src/host.hpp"', text)
        self.assertIn('#include "no.h"', text)
        copies = sorted((self.folder / "out.cpp.includes").iterdir())
        self.assertEqual(["b.cuh", "c.cuh", "d.cuh"], sorted(p.name[9:] for p in copies))
        by_name = {p.name[9:]: p for p in copies}
        self.assertIn(f'#include "{by_name["b.cuh"]}"', text)
        self.assertIn(f'#include "{by_name["d.cuh"]}"', text)
        self.assertIn(f'#include "{by_name["c.cuh"]}"', by_name["b.cuh"].read_text())
        self.assertIn("SIMT_DEVICE_VARIABLE int x;", by_name["c.cuh"].read_text())
        self.assertTrue(by_name["c.cuh"].read_text().startswith(f'#line 1 "{self.folder}/src/c.cuh"\n'))
        rule = (self.folder / "out.d").read_text()
        self.assertTrue(rule.startswith(f"{self.folder}/out.cpp:"))
        for name in ("src/a.cu", "src/b.cuh", "src/c.cuh", "src/host.hpp", "my\\ inc/d.cuh"):
            self.assertIn(f"{self.folder}/{name}", rule)

    def test_errors_name_the_header(self) -> None:
        done = self.run_it({"a.cu": '#include "b.cuh"\n', "b.cuh": '\n__device__ void f() { asm("exit;"); }\n'})
        self.assertEqual((1, f"inline PTX needs a GPU: {self.folder}/b.cuh:2\n"), (done.returncode, done.stderr))
        self.assertFalse((self.folder / "out.cpp").exists())
        self.assertFalse((self.folder / "out.cpp.includes").exists())

    def test_byte_order_mark_and_line_ends(self) -> None:
        done = self.run_it({"a.cu": "\ufeffint x;\r\nk<<<1>>>();\r\n"})
        self.assertEqual((1, "a launch has 2 to 4 values in <<< >>>, not 1: a.cu:2\n"), (done.returncode, done.stderr))

    def test_what_was_written_before_stays(self) -> None:
        done = self.run_it({"a.cu": "\nk<<<1>>>();", "out.cpp": "of before"})
        self.assertEqual((1, "", "a launch has 2 to 4 values in <<< >>>, not 1: a.cu:2\n"),
                         (done.returncode, done.stdout, done.stderr))
        self.assertEqual("of before", (self.folder / "out.cpp").read_text())
        self.assertEqual({"a.cu", "out.cpp"}, {p.name for p in self.folder.iterdir()})

    def test_output(self) -> None:
        for text in ("int x;\n", "__device__ int x;\n"):
            done = self.run_it({"a.cu": text})
            self.assertEqual((0, "", ""), (done.returncode, done.stdout, done.stderr))
            *head, rest = (self.folder / "out.cpp").read_text().split("\n", 3)
            self.assertEqual(["#define SIMT_REWRITTEN", "#include <cuda_runtime.h>", '#line 1 "a.cu"'], head)
            self.assertEqual(text.replace("__device__", "SIMT_DEVICE_GAP SIMT_DEVICE_VARIABLE"), rest)

    def test_missing_file(self) -> None:
        command = [sys.executable, str(SIMT / "rewrite.py"), "none.cu", "-o", "none.cpp"]
        done = subprocess.run(command, cwd=str(self.folder), stderr=subprocess.PIPE, text=True)
        self.assertEqual((2, "rewrite.py: none.cu: No such file or directory\n"), (done.returncode, done.stderr))
        self.assertFalse((self.folder / "none.cpp").exists())


class Words(Rewriter):
    """CUDA's words reach the program's own text, and no header of another library."""

    def test_replaced_at_the_same_column(self) -> None:
        self.assertIn("SIM_GLOBAL void SIM_LAUNCH_BOUNDS(64) k(const SIM_GRID_CONSTANT int n) {}",
                      self.rewritten("__global__ void __launch_bounds__(64) k(const __grid_constant__ int n) {}"))
        self.assertIn("struct SIM_ALIGN(16) A {};", self.rewritten("struct __align__(16) A {};"))
        self.assertIn("#define HD SIM_HOST SIM_DEVICE", self.rewritten("#define HD __host__ __device__"))
        self.assertIn("SIM_FMINF(a, SIM_FMAXF(b, c))", self.rewritten("float m = fminf(a, fmaxf(b, c));"))
        for word in rewrite.WORDS:
            self.assertEqual(len(f"__{word}__"), len(rewrite.our_words(f"__{word}__")))

    def test_left_alone(self) -> None:
        for text in ("struct S { __attribute__((__noinline__, __cold__)) void f(); };", "[[gnu::__noinline__]] void f();",
                     "#ifndef __device__\n#define __device__\n#endif", 'const char* s = "__host__";',
                     "// __global__", "float m = std::fminf(a, b) + s.fmaxf(a) + p->fminf(a);", "int my__align__x;"):
            self.assertIn(text, self.rewritten(text))

    def test_functions_of_the_program(self) -> None:
        """helper_math.h of NVIDIA's samples has fminf() of its own."""
        text = "__device__ float3 fminf(float3, float3);\n__device__ float f(float a) { return fmaxf(a, fminf(a, 1.f)); }"
        self.assertIn("SIM_FMAXF(a, fminf(a, 1.f))", self.rewritten(text))

    def test_no_macro_of_ours_has_a_name_of_others(self) -> None:
        """A header after cuda_runtime.h sees names of CUDA's API and SIM_, SIMT_ ... of ours; of the words, none."""
        compiler = os.environ.get("CXX") or shutil.which("c++") or "g++"
        text = "".join(f"#include <{file.name}>\n" for file in sorted((SIMT / "include").glob("*.h"))
                       if file.name != "simt_errors.h")
        done = subprocess.run([compiler, "-std=c++17", "-DSIMT_REWRITTEN", "-E", "-dD", "-x", "c++", "-I",
                               str(SIMT / "include"), "-I", str(SIMT), "-"], input=text, stdout=subprocess.PIPE,
                              universal_newlines=True, check=True)
        file, found = "", set()
        for line in done.stdout.splitlines():
            marker = re.match(r'# \d+ "([^"]*)"', line)
            if marker:
                file = marker[1]
            if file.startswith(str(SIMT)) and line.startswith("#define "):
                found.add(re.split(r"[ (]", line)[1])
            elif line.startswith("#undef "):
                found.discard(line.split()[1])
        others = sorted(name for name in found if not re.match(r"SIMT?_|SIMT$|CU[A-Z]|cuda[A-Z]|__(?:CUDA_RUNTIME|DRIVER_TYPES)_H__$",
                                                                   name))
        self.assertGreater(len(found), 50)
        self.assertEqual(others, [])

    def test_headers_of_others_may_use_the_words(self) -> None:
        """One beside the program, which the rewriter reads, and one of the system, which it does not."""
        files = {"own.cu": r"""#include "foreign.hpp"
#include <string>
#include <words.hpp>
__noinline__ __device__ int twice(int i) { return 2 * i; }
__global__ void __launch_bounds__(32) k(int* out) { *out = twice(21); }
int main() {
  int *out, got = 0;
  cudaMalloc(&out, sizeof got);
  k<<<1, 1>>>(out);
  cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost);
  return got == 42 && Foreign().f() + Foreign().g() == 3 ? 0 : 1;
}
""", "foreign.hpp": r"""#pragma once
struct Foreign {
  __attribute__((__noinline__)) int f() { return 1; }
  [[gnu::__noinline__]] int g() { return 2; }
};
""", "system/words.hpp": "".join(f"inline int __{word}__() {{ return 1; }}\n" for word in rewrite.WORDS)}
        self.assertEqual(0, self.run_it(files).returncode)
        self.compile("-isystem", "system", "-Wall", "-Werror", "-Wno-unknown-pragmas", "-Wno-unused-function")


class Sources(Rewriter):
    def test_torture(self) -> None:
        done = self.run_it({"a.cu": TORTURE})
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.compile()

    def test_the_course(self) -> None:
        sources = [p for folder in ("chapters", "common", "tests") for p in sorted((ROOT / folder).rglob("*.cu"))
                   if not {"my", "build"} & set(p.relative_to(ROOT).parts)]
        self.assertTrue(sources)
        for source in sources:
            with self.subTest(source=str(source.relative_to(ROOT))):
                done = subprocess.run(
                    [sys.executable, str(SIMT / "rewrite.py"), str(source), "-o", str(self.folder / "out.cpp"), "-I",
                     str(ROOT / "common")], stderr=subprocess.PIPE, text=True)
                if source.relative_to(ROOT).as_posix() in NEEDS_A_GPU:
                    line = 1 + source.read_text().split("asm")[0].count("\n")
                    self.assertEqual((1, f"inline PTX needs a GPU: {source}:{line}\n"), (done.returncode, done.stderr))
                else:
                    self.assertEqual((0, ""), (done.returncode, done.stderr))


@unittest.skipUnless(shutil.which("cmake"), "no cmake")
class Project(Rewriter):
    """simt.cmake in a project of somebody else."""

    def cmake(self, *options: str, code: int = 0) -> str:
        done = subprocess.run(["cmake", *options], cwd=str(self.folder), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(code == 0, done.returncode == 0, done.stdout)
        return done.stdout

    def test_build_and_run(self) -> None:
        files = {"CMakeLists.txt": PROJECT.replace("@SIMT@", str(SIMT)),
                 "main.cpp": "void run();\nint main() { run(); }\n",
                 "sub/memory.cu": PROGRAM, "my inc/tile.cuh": "#define TILE(T, n) __shared__ T tile[n][n + 1]\n"}
        for name, text in files.items():
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_text(text)
        built = Path(os.environ.get("COURSE_BUILD", "")) / "libsimt.a"
        ready = [f"-DSIMT_BUILT={built}"] if built.is_file() else []  # saves half a minute
        self.cmake("-S", ".", "-B", "build", *ready)
        self.assertEqual(2, self.cmake("--build", "build").count("Rewriting memory.cu"))
        for name in ("checked", "fast"):
            done = subprocess.run([str(self.folder / "build" / name)], stdout=subprocess.PIPE, text=True)
            self.assertEqual((0, "cudaSuccess\n37 6 6 320 4\n"), (done.returncode, done.stdout))
        self.assertNotIn("Rewriting", self.cmake("--build", "build"))
        header = self.folder / "my inc" / "tile.cuh"
        header.write_text("#define TILE(T, n) __shared__ T tile[n]\n\n__device__ void f() { asm(\"exit;\"); }\n")
        os.utime(header, (time.time() + 2,) * 2)
        self.assertIn(f"inline PTX needs a GPU: {header}:3\n", self.cmake("--build", "build", code=1))


if __name__ == "__main__":
    unittest.main()
