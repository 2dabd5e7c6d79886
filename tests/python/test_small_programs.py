"""Small programs of people who learn CUDA: each gets the verdict that is right, with the real CPU backend.

What nvcc refuses is in test_strict.py.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import NamedTuple, Tuple

ROOT = Path(__file__).resolve().parents[2]
FOUND = 66


class Program(NamedTuple):
    name: str
    source: str
    says: Tuple[str, ...]  # patterns, in any order
    code: int = 0


BESIDE = r"beside a __{}__ variable: an index outside of it"
PROGRAMS = [
    # ---- Right programs ----
    Program("a structure of 32 MiB", r"""#include <cstdio>
        #include <cstdlib>
        struct Samples { float at[8 << 20]; };
        __global__ void set(Samples* s) { s->at[8000000 + threadIdx.x] = threadIdx.x; }
        int main() {
          Samples* d;
          float last;
          cudaMalloc(&d, sizeof(Samples));
          set<<<1, 8>>>(d);
          cudaMemcpy(&last, &d->at[8000007], sizeof(last), cudaMemcpyDeviceToHost);
          std::printf("%g\n", last);
        }""", (r"^7$", "^No findings")),
    Program("own names that <algorithm> and others have, too", r"""#include <iostream>
        using namespace std;
        __device__ int count = 0;
        __constant__ int limit = 3;
        template <class T> __device__ T clamp(T x, T low, T high) { return x < low ? low : x > high ? high : x; }
        template <class T> __global__ void transform(T* x) { x[threadIdx.x] = clamp(x[threadIdx.x], T(2), T(5)); }
        __global__ void apply(int* x) { if (x[threadIdx.x] > limit) atomicAdd(&count, 1); }
        int main() {
          int h[] = {0, 1, 2, 3, 4, 5, 6, 7}, *d, found = 0;
          cudaMalloc(&d, sizeof h);
          cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
          transform<<<1, 8>>>(d);
          apply<<<1, 8>>>(d);
          cudaMemcpyFromSymbol(&found, count, sizeof found);
          cout << "found " << found << endl;
          cudaFree(d);
        }""", (r"^found 4$", "^No findings")),
    Program("what nvcc does not warn of", r"""
        struct Three { int a, b, c; };
        int main() {
          Three three = {1};
          for (unsigned i = 0; i < three.a; ++i) three.b += 1;
          return three.b - 1;
        }""", (r"\A(?![\s\S]*warning)", "^No findings")),
    Program("a kernel in a table of pointers to void", r"""#include <cstdio>
        __global__ void k(int* x) { *x = 1; }
        const void* table[] = {(const void*)k};
        int main() {
          int* d;
          cudaMalloc(&d, 4);
          void* arguments[] = {&d};
          std::puts(cudaGetErrorString(cudaLaunchKernel(table[0], 1, 1, arguments, 0, 0)));
          cudaFree(d);
        }""", ("^invalid device function$", "^No findings, but not all of it ran: a pointer to void .* need a GPU")),
    Program("a tile of more than one warp", r"""
        #include <cooperative_groups.h>
        namespace cg = cooperative_groups;
        __global__ void k() {
          __shared__ cg::block_tile_memory<128> scratch;
          cg::tiled_partition<64>(cg::this_thread_block(scratch)).sync();
        }
        int main() { k<<<1, 128>>>(); return cudaDeviceSynchronize(); }""",
            ("tiles of more than one warp need a GPU",), 1),
    Program("a failed copy that the program looks at", r"""#include <cstdio>
        int main() {
          int h = 0;
          int* d;
          if (cudaMalloc(&d, 4) != cudaSuccess) return 1;
          const cudaError_t wrong = cudaMemcpy(&h, d, 4, cudaMemcpyHostToDevice);
          std::printf("%s\n", cudaGetErrorString(wrong));
          return cudaFree(d) == cudaSuccess ? 0 : 1;
        }""", ("^invalid argument$", "^No findings")),
    Program("a failed copy that nobody looks at", r"""
        int main() {
          int h = 0;
          int* d;
          cudaMalloc(&d, 4);
          cudaMemcpy(&h, d, 4, cudaMemcpyHostToDevice);
          if (h == 0) cudaFree(d);
        }""", (r"unchecked: cudaMemcpy\(\) at small.cu:6",), FOUND),
    Program("kernels of one name, each with its own bounds", r"""
        namespace small {
        constexpr int threads = 64;
        __global__ void __launch_bounds__(threads) set(int* out) { out[threadIdx.x] = 1; }
        void launch(int* out) { set<<<1, 64>>>(out); }
        }
        namespace large {
        constexpr int threads = 256;
        __global__ void __launch_bounds__(threads) set(int* out) { out[threadIdx.x] = 2; }
        void launch(int* out) { set<<<1, 256>>>(out); }
        }
        namespace unbounded {
        __global__ void set(int* out) { out[threadIdx.x] = 3; }
        void launch(int* out) { set<<<1, 512>>>(out); }
        }
        int main() {
          int* out;
          cudaMalloc(&out, 2048);
          small::launch(out);
          large::launch(out);
          unbounded::launch(out);
          return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
        }""", ("^No findings",)),
    Program("values that C++ leaves open and a GPU defines", r"""#include <cstdio>
        __global__ void rank(int* ranks, unsigned* parts, float x) {
          const unsigned lane = threadIdx.x, below = (1u << (lane + 1)) - 1;
          ranks[lane] = __popc(__ballot_sync(~0u, 1) & below);
          parts[lane] = static_cast<unsigned>(x - lane);
        }
        int main() {
          int* ranks;
          unsigned* parts;
          if (cudaMalloc(&ranks, 128) || cudaMalloc(&parts, 128)) return 1;
          const int by = 32;
          const float negative = -3.5f;
          std::printf("%u %u\n", 1u << by, static_cast<unsigned>(negative));
          rank<<<1, 32>>>(ranks, parts, 3.5f);
          return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
        }""", (r"undefined: rank, .*thread \(31,0,0\) shifts by 32, .* at small.cu:3",
               r"undefined: rank, .* makes an integer of a floating-point value .* at small.cu:5",
               "^2 findings: .*shown only")),
    Program("objects with virtual functions, made by one kernel and used by the next", r"""#include <cstdio>
        struct Shape {
          __device__ virtual ~Shape() {}
          __device__ virtual float area() const = 0;
        };
        struct Square : Shape {
          float side;
          __device__ explicit Square(float s) : side(s) {}
          __device__ float area() const override { return side * side; }
        };
        __global__ void create(Shape** shapes) { shapes[threadIdx.x] = new Square(threadIdx.x); }
        __global__ void sum(Shape* const* shapes, float* out) {
          for (int i = 0; i < 4; ++i) *out += shapes[i]->area();
        }
        __global__ void destroy(Shape** shapes) { delete shapes[threadIdx.x]; }
        int main() {
          Shape** shapes;
          float *out, total;
          cudaMalloc(&shapes, 4 * sizeof(Shape*));
          cudaMalloc(&out, sizeof(float));
          cudaMemset(out, 0, sizeof(float));
          create<<<1, 4>>>(shapes);
          sum<<<1, 1>>>(shapes, out);
          destroy<<<1, 4>>>(shapes);
          cudaMemcpy(&total, out, sizeof(float), cudaMemcpyDeviceToHost);
          std::printf("%g\n", total);
        }""", (r"^14$", "^No findings")),
    Program("two kernels and a function of one name, and a default of a declaration", r"""#include <cstdio>
        struct Row { int* x; };
        __global__ void add(int* x, int by = 5);
        __global__ void add(Row row) { row.x[threadIdx.x] += 1; }
        __global__ void add(int* x, int by) { x[threadIdx.x] += by; }
        void add() {
          int h[2] = {0, 0};
          Row row;
          cudaMalloc(&row.x, sizeof(h));
          cudaMemcpy(row.x, h, sizeof(h), cudaMemcpyHostToDevice);
          add<<<1, 2>>>(row);
          add<<<1, 1>>>(row.x, 20);
          add<<<1, 2>>>(row.x);
          cudaMemcpy(h, row.x, sizeof(h), cudaMemcpyDeviceToHost);
          std::printf("%d %d\n", h[0], h[1]);
        }
        int main() { add(); }""", ("^26 6$", "^No findings")),
    Program("OpenMP on the host", r"""#include <omp.h>
        #include <cstdio>
        int main() {
          int sum = 0;
        #pragma omp parallel for reduction(+ : sum)
          for (int i = 0; i < 32; ++i) sum += i;
          std::printf("%d %d\n", sum, omp_get_max_threads() > 0);
        }""", ("^496 1$", "^No findings")),
    # ---- Shown, and no error ----
    Program("the loop of atomicCAS() whose first read is plain", r"""#include <cstdio>
        __device__ float largest(float* place, float mine) {
          int* bits = reinterpret_cast<int*>(place);
          int old = *bits, assumed;
          do {
            assumed = old;
            old = atomicCAS(bits, assumed, __float_as_int(fmaxf(mine, __int_as_float(assumed))));
          } while (assumed != old);
          return __int_as_float(old);
        }
        __global__ void k(float* most) { largest(most, threadIdx.x ^ 37); }
        int main() {
          float *d, h;
          cudaMalloc(&d, 4);
          cudaMemset(d, 0, 4);
          k<<<2, 100>>>(d);
          cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
          std::printf("%g\n", h);
        }""", ("^127$", "^simt: order: k.* is a guess, which atomicCAS")),
    Program("a grid that ends before the array", r"""#include <vector>
        __global__ void fill(float* x, int n) {
          const int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i < n) x[i] = 1;
        }
        int main() {
          const int n = 1000;
          std::vector<float> h(n);
          float* d;
          cudaMalloc(&d, n * sizeof(float));
          fill<<<n / 256, 256>>>(d, n);
          cudaMemcpy(h.data(), d, n * sizeof(float), cudaMemcpyDeviceToHost);
        }""", (r"^simt: unwritten: the host, cudaMemcpy\(\) at small.cu:12 copies 928 bytes .* from byte 3072 on",
               r"^1 finding: unwritten at small.cu:12 \(shown only")),
    Program("printf() and no wait", r"""#include <cstdio>
        __global__ void hello() { printf("hello %d\n", threadIdx.x); }
        int main() {
          hello<<<1, 2>>>();
        }""", (r"^simt: order: hello, the program ends, and nobody waited for hello, launched at small.cu:4",)),
    Program("managed memory read before the kernel is over", r"""#include <cstdio>
        __global__ void set(int* x) { x[threadIdx.x] = 7; }
        int main() {
          int* x;
          cudaMallocManaged(&x, 32 * sizeof(int));
          x[0] = 1;
          set<<<1, 32>>>(x);
          std::printf("%d\n", x[3]);
          cudaDeviceSynchronize();
          std::printf("%d\n", x[4]);
          cudaFree(x);
        }""", (r"^simt: order: the host, reads at small.cu:8 memory that set, launched at small.cu:7, or a later kernel has",
               r"^1 finding: order")),
    Program("managed memory written before the kernel that reads it is over", r"""
        __global__ void copy(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x]; }
        int main() {
          int *in, *out;
          cudaMallocManaged(&in, 128);
          cudaMalloc(&out, 128);
          for (int i = 0; i < 32; ++i) in[i] = i;
          copy<<<1, 32>>>(in, out);
          in[0] = 7;
          cudaDeviceSynchronize();
          in[1] = 7;
          cudaFree(in);
          cudaFree(out);
        }""", (r"^simt: order: the host, writes at small.cu:9 memory that copy, launched at small.cu:8, or a later kernel reads",
               r"^1 finding: order")),
    # ---- Findings ----
    Program("a table larger than its __constant__ array", r"""
        __constant__ float weights[5];
        int main() {
          const float all[7] = {};
          cudaMemcpyToSymbol(weights, all, sizeof(all));
        }""", (r"^simt: unchecked: cudaMemcpyToSymbol\(\) at small.cu:5 returned",), FOUND),
    Program("memory of a variable of the device", r"""
        __device__ float* table;
        int main() {
          cudaMalloc(reinterpret_cast<void**>(&table), 64);
        }""", (r"^simt: host access: the host, cudaMalloc\(\) at small.cu:4 stores the address into memory of the device",),
            FOUND),
    Program("volatile in global memory inside a warp", r"""#include <cstdio>
        __global__ void sum(volatile int* x) {
          const int t = threadIdx.x;
          if (t < 16) x[t] += x[t + 16];
          if (t < 8) x[t] += x[t + 8];
          if (t < 4) x[t] += x[t + 4];
          if (t < 2) x[t] += x[t + 2];
          if (t < 1) x[t] += x[t + 1];
        }
        int main() {
          int* d;
          cudaMalloc(&d, 128);
          cudaMemset(d, 0, 128);
          sum<<<1, 32>>>(d);
          cudaDeviceSynchronize();
        }""", (r"^simt: race: sum, global memory.* volatile orders nothing between the lanes of a warp",
               r"^simt: and \d+ more of the kind race in sum: mend these first", r"^8 findings: "), FOUND),
    Program("one past a __device__ array of 17", r"""
        __device__ int table[17], other[17];
        __device__ int third[5];
        __global__ void k() { table[threadIdx.x] = 1; }
        int main() {
          k<<<1, 18>>>();
          cudaDeviceSynchronize();
        }""", (r"^simt: bounds: k.*thread \(17,0,0\) writes 4 byte.* at small.cu:4",), FOUND),
    Program("one past a __device__ array of 3 chars", r"""
        __device__ char few[3];
        __device__ char more[3];
        __global__ void k() { few[threadIdx.x] = 1; }
        int main() {
          k<<<1, 4>>>();
          cudaDeviceSynchronize();
        }""", (r"^simt: bounds: k.*thread \(3,0,0\) writes 1 byte.*" + BESIDE.format("device"),), FOUND),
    Program("one before a __device__ array", r"""
        __device__ int table[17];
        __device__ int other[17];
        __global__ void k() { other[int(threadIdx.x) - 1] = 1; }
        int main() {
          k<<<1, 2>>>();
          cudaDeviceSynchronize();
        }""", (r"^simt: bounds: k.*thread \(0,0,0\) writes 4 byte.*" + BESIDE.format("device"),), FOUND),
    Program("one past a __constant__ array of 5", r"""
        __constant__ float weights[5];
        __constant__ float others[5];
        __global__ void k(float* x) { x[threadIdx.x] = weights[threadIdx.x]; }
        int main() {
          float* x;
          cudaMalloc(&x, 100);
          k<<<1, 6>>>(x);
          cudaDeviceSynchronize();
        }""", (r"^simt: bounds: k.*thread \(5,0,0\) reads 4 byte.*" + BESIDE.format("constant"),), FOUND),
    Program("an index below a __shared__ array", r"""
        __global__ void k(int* x) {
          __shared__ int s[64];
          s[threadIdx.x] = 1;
          __syncthreads();
          x[threadIdx.x] = s[int(threadIdx.x) - 1];
        }
        int main() {
          int* x;
          cudaMalloc(&x, 256);
          k<<<1, 64>>>(x);
          cudaDeviceSynchronize();
        }""", (r"^simt: bounds: k.* at small.cu:6: 4 byte\(s\) before the block's shared memory",), FOUND),
    Program("no bytes of dynamic shared memory", r"""
        __global__ void k(int* x) {
          extern __shared__ int s[];
          s[threadIdx.x] = INT_MAX;
          x[threadIdx.x] = s[threadIdx.x];
        }
        int main() {
          int* x;
          cudaMalloc(&x, 256);
          k<<<1, 64>>>(x);
          cudaDeviceSynchronize();
        }""", (r"^simt: bounds: k.* at small.cu:4: shared memory, and the launch gives the block none",), FOUND),
    Program("a function without return", r"""
        __device__ int square(int x) {
          if (x > 1) return x * x;
        }
        __global__ void k(int* x) { x[threadIdx.x] = square(threadIdx.x); }
        int main() {
          int* x;
          cudaMalloc(&x, 256);
          k<<<1, 64>>>(x);
          cudaDeviceSynchronize();
        }""", (r"^simt: uninitialised: k.* reaches the end of a function that returns a value, .* at small.cu:2",
               r"warning: .*non-void function"), FOUND),
    Program("more threads than the bounds of a launch", r"""#include <cstdio>
        constexpr int most = 128;
        __global__ void __launch_bounds__(most, 4) k(int* x) { x[threadIdx.x] = 1; }
        int main() {
          int* x;
          cudaMalloc(&x, 4096);
          k<<<1, most>>>(x);
          std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
          k<<<1, 2 * most>>>(x);
          cudaDeviceSynchronize();
        }""", ("^no error$", "^simt: unchecked: the launch of k at small.cu:9 was refused: 256 threads per block, its "
               "__launch_bounds__ says 128"), FOUND),
    Program("a reference to a variable of the host", r"""
        __global__ void k(int& n, int* x) { x[0] = n; }
        int main() {
          int n = 3;
          int* x;
          cudaMalloc(&x, 4);
          k<<<1, 1>>>(n, x);
          cudaDeviceSynchronize();
        }""", (r"^simt: host memory: k.* at small.cu:2: host memory, a local variable of the host",), FOUND),
    Program("free() of device memory", r"""#include <cstdlib>
        int main() {
          int* x;
          cudaMalloc(&x, 4);
          free(x);
        }""", (r"^simt: host access: the host, frees at small.cu:5",), FOUND),
    Program("dynamic shared memory of two types", r"""
        template <class T>
        __global__ void turn(T* x, int n) {
          extern __shared__ T tile[];
          tile[threadIdx.x] = x[threadIdx.x];
          __syncthreads();
          x[threadIdx.x] = tile[n - 1 - threadIdx.x];
        }
        int main() {
          double* x;
          cudaMalloc(&x, 256);
          cudaMemset(x, 0, 256);
          turn<float><<<1, 32, 128>>>(reinterpret_cast<float*>(x), 32);
          turn<double><<<1, 32, 256>>>(x, 32);
          cudaDeviceSynchronize();
        }""", (r"^simt: launch: .*extern __shared__ tile\[\] is (float and double|double and float) in small.cu",), FOUND),
    # ---- What does not build, or not all of it runs ----
    Program("the linker's reason", r"""
        int twice(int);
        int main() { return twice(0); }""", (r"undefined reference to .twice\(int\)", r"^hint: is what is missing in another "
                                             r"file\? Name them all: chapters/run small.cu OTHER.cu"), 1),
    Program("a header that is not there", "#include <helper_cuda.h>\nint main() {}\n", (
        r"small.cu:1:10: fatal error: '?helper_cuda.h", r"^hint: helper_cuda.h: NVIDIA/cuda-samples has it"), 1),
    Program("C++20", "#include <concepts>\ntemplate <std::integral T> T twice(T x) { return 2 * x; }\n"
            "int main() { return twice(0); }\n", (r"^hint: C\+\+20\? chapters/run small.cu --std 20",), 1),
    Program("an answer without main()", "__global__ void k() {}\nextern \"C\" void solve() { k<<<1, 1>>>(); }\n", (
        r"small.cu has no main\(\): solve\(\) is called by the site",), 1),
    Program("a graph", r"""
        int main() {
          cudaStream_t s;
          cudaStreamCreate(&s);
          return cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal) == cudaErrorNotSupported ? 0 : 1;
        }""", ("^No findings, but not all of it ran: stream capture and graphs need a GPU",)),
    Program("shared memory named in lambdas, local classes and outside of functions", r"""#include <cstdio>
        __shared__ bool last;
        __shared__ float total[2];
        __device__ unsigned done = 0;
        __global__ void flip(const float* in, float* out, int n) {
          __shared__ float s[64];
          __shared__ int count;
          extern __shared__ float pool[];
          struct Add { __device__ void operator()(int v) const { atomicAdd(&count, v); } };
          const int t = threadIdx.x;
          auto mirrored = [=](int k) { return s[n - 1 - k]; };
          auto put = [](int k, float v) { s[k] = v, pool[k] = 2 * v; };
          auto counted = [=] { return count; };
          if (t == 0) count = 0, last = atomicAdd(&done, 1u) == gridDim.x - 1, total[0] = total[1] = 0;
          put(t, in[t]);
          __syncthreads();
          Add{}(1);
          atomicAdd(&total[t % 2], s[t]);
          __syncthreads();
          if (last) out[t] = mirrored(t) + pool[t] + 1000 * counted() + total[1];
        }
        int main() {
          float h[64], *a, *b;
          int wrong = 0;
          for (int i = 0; i < 64; ++i) h[i] = i;
          cudaMalloc(&a, sizeof h), cudaMalloc(&b, sizeof h);
          cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
          flip<<<3, 64, sizeof h>>>(a, b, 64);
          cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost);
          for (int i = 0; i < 64; ++i) wrong += h[i] != 63 + i + 64000 + 1024;
          std::printf("%d wrong\n", wrong);
        }""", ("^0 wrong$", "^No findings")),
    Program("launches and functions as headers of others write them", r"""#include <cstdio>
        #ifdef __INTELLISENSE__
        #define ON(blocks, threads)
        #else
        #define ON(blocks, threads) <<<blocks, threads>>>
        #endif
        #define shared __shared__
        struct Line { float slope, start; };
        __device__ float3 fmaxf(float3 a, float3 b) { return make_float3(fmaxf(a.x, b.x), fmaxf(a.y, b.y), fmaxf(a.z, b.z)); }
        __device__ float twice(float x) { return 2 * x; }
        __device__ float same(float x) { return x; }
        __device__ float (*const functions[])(float) = {twice, same};
        template <int n> class Sum {
          template <bool Twice> __device__ int get() const { return Twice ? 2 * n : n; }
         public:
          __device__ static int run() {
            shared Sum<n> sum;
            return sum.get<true>();
          }
        };
        __device__ unsigned number() {
          static unsigned next = 0;
          return atomicAdd(&next, 1u);
        }
        __global__ void k(float* out, const float* more, Line line, int2 range) {
          const int i = range.x + threadIdx.x;
          if (i >= range.y) return;
          const float3 a = fmaxf(make_float3(i, 1, 2), make_float3(5, 0, 0));
          out[i] = functions[i % 2](line.slope * i + line.start) + a.x + Sum<3>::run() + (more ? 1000 : 0) + 0 * number();
        }
        int main() {
          float h[40], *d;
          int wrong = 0;
          cudaMalloc(&d, sizeof h);
          k ON(1, 64)(d, 0, {2.f, 1.f}, {0, 40});
          cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
          for (int i = 0; i < 40; ++i) wrong += h[i] != (2 - i % 2) * (2 * i + 1) + (i > 5 ? i : 5) + 6;
          std::printf("%d wrong\n", wrong);
        }""", ("^0 wrong$", "^No findings")),
    Program("a program that crashes", r"""
        int* volatile nowhere = nullptr;
        int main() { return *nowhere; }""", ("^No findings before it ended",), 139),
]


class SmallPrograms(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="small program "))
        self.addCleanup(shutil.rmtree, self.folder, True)

    def run_files(self, *words: str) -> Tuple[int, str]:
        done = subprocess.run([sys.executable, str(ROOT / "chapters" / "run"), "--backend", "cpu", *words],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                              universal_newlines=True, cwd=str(self.folder), check=False)
        self.assertNotIn("Traceback", done.stdout)
        return done.returncode, done.stdout

    def test_verdicts(self) -> None:
        for program in PROGRAMS:
            with self.subTest(program.name):
                (self.folder / "small.cu").write_text(re.sub(r"(?m)^ {8}", "", program.source), encoding="utf-8")
                code, said = self.run_files("small.cu")
                self.assertEqual(program.code, code, said)
                for pattern in program.says:
                    self.assertRegex(said, f"(?m){pattern}")

    def test_several_files_and_flags(self) -> None:
        (self.folder / "my headers").mkdir()
        for name, text in {
                "my headers/twice.h": "__device__ inline int twice(int x) { return N * x; }\n",
                "my headers/helper_cuda.h": "#if !defined(__CUDA_RUNTIME_H__) || !defined(__DRIVER_TYPES_H__)\n"
                                            "#error not known by these names\n#endif\n",
                "part.cu": "__device__ int bias(int x) { return x + 1; }\n",
                "sum.cpp": "#include <cuda_runtime.h>\nint sum(int a, int b) { return a + b + N; }\n",
                "small.cu": "#include <cstdio>\n#include <helper_cuda.h>\n#include <concepts>\n#include \"twice.h\"\n"
                           "int sum(int, int);\n__device__ int bias(int);\ntemplate <std::integral T>\n"
                           "__global__ void k(T* x) { x[threadIdx.x] = bias(twice(threadIdx.x)); }\n"
                           "int main(int n, char**) {\n  int h[4], *d;\n  cudaMalloc(&d, sizeof(h));\n"
                           "  k<<<1, 4>>>(d);\n  cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost);\n"
                           "  std::printf(\"%d %d %d\\n\", h[3], sum(1, 2), n);\n}\n"}.items():
            (self.folder / name).write_text(text, encoding="utf-8")
        words = ["small.cu", "part.cu", "sum.cpp", "-I", "my headers", "-D", "N=1000", "--std", "20"]
        code, said = self.run_files(*words, "--", "one")
        self.assertEqual(code, 0, said)
        self.assertRegex(said, "(?m)^3001 1003 2$")
        (self.folder / "sum.cpp").rename(self.folder / "total.cpp")  # the first program's file is gone
        words[2] = "total.cpp"
        code, said = self.run_files(*(word.replace("1000", "10") for word in words))
        self.assertEqual(code, 0, said)
        self.assertRegex(said, "(?m)^31 13 1$")

    def test_c_files_and_which_file_is_wrong(self) -> None:
        (self.folder / "sub").mkdir()
        for name, text in {
                "small.cu": "#include <cstdio>\nextern \"C\" int twice(int);\nvoid go(int*);\nint main() {\n"
                            "  int h, *d;\n  cudaMalloc(&d, 4);\n  go(d);\n"
                            "  cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);\n  std::printf(\"%d\\n\", twice(h));\n}\n",
                "sub/go.cu": "__global__ void k(int* x) { *x = 4; }\nvoid go(int* d) { k<<<1, 1>>>(d); }\n",
                "sub/twice.c": "#include <stdlib.h>\nint twice(int n) {\n  int *new = malloc(4);\n  *new = 2 * n;\n"
                               "  n = *new;\n  free(new);\n  return n;\n}\n",
                "sub/wrong.cu": '#include "go.h"\nvoid go(int* d) { k<<<1, 1>>>(d); }\n',
                "sub/go.h": "__global__ void k(int* x) { *x = y; }\n",
                "sub/wrong.c": "int twice(int n) { return 2 * m; }\n"}.items():
            (self.folder / name).write_text(text, encoding="utf-8")
        code, said = self.run_files("small.cu", "sub/go.cu", "sub/twice.c")
        self.assertEqual(code, 0, said)
        self.assertRegex(said, "(?m)^8$")
        for words, error, wrong in ((("sub/wrong.cu", "sub/twice.c"), "sub/go.h:1", "sub/wrong.cu"),
                                    (("sub/go.cu", "sub/wrong.c"), "sub/wrong.c:1", "sub/wrong.c")):
            code, said = self.run_files("small.cu", *words)
            self.assertEqual(code, 1, said)
            self.assertRegex(said, rf"(?m)^{error}:\d+: error: ")
            self.assertRegex(said, rf"(?m)^chapters/run: {wrong} did not build")


if __name__ == "__main__":
    unittest.main()
