"""Submissions of exercise 1 of chapter 01, honest ones and such that try to pass without it."""
HEAD = """#include <cuda_runtime.h>
#include <cstdint>
"""
KERNEL = """__global__ void add_one(const float* a, const float* b, float* c, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
"""
SIGNATURE = """cudaError_t add(const float* a, const float* b, float* c, std::int64_t n,
                cudaStream_t stream) """
ANSWER = """{
  if (n == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>((n + 255) / 256);
  add_one<<<blocks, 256, 0, stream>>>(a, b, c, n);
  return cudaGetLastError();
}
"""
HOST = "{\n  for (std::int64_t i = 0; i < n; ++i) c[i] = a[i] + b[i];\n  return cudaSuccess;\n}\n"
# The second half, by the host.
COPIES = """  const std::int64_t from = n / 2, count = n - from;
  const auto bytes = static_cast<std::size_t>(count) * sizeof(float);
  std::vector<float> x(count), y(count);
  cudaMemcpy(x.data(), a + from, bytes, cudaMemcpyDeviceToHost);
  cudaMemcpy(y.data(), b + from, bytes, cudaMemcpyDeviceToHost);
  for (std::int64_t i = 0; i < count; ++i) x[i] += y[i];
  cudaMemcpy(c + from, x.data(), bytes, cudaMemcpyHostToDevice);
"""


def source(kernel=KERNEL, body=ANSWER, before="", inside=""):
    return (HEAD + before + "namespace exercise {\n" + inside + kernel + SIGNATURE + body
            + "}  // namespace exercise\n")


HONEST = {"honest": source(), "other": source(KERNEL.replace("add_one", "sum"),
                                              ANSWER.replace("add_one", "sum"))}
# what is submitted, and the reason that it must get
CHEATS = {
    "include": ('#include "../exercises/solution/1_tail.cu"\n', "refused: it includes"),
    "hidden_include": ("%:include \\\n  \"../exercises/solution/1_tail.cu\"\n",
                       "refused: it includes"),
    "macro_include": ("#define A <vector>\n#include A\n" + source(), "refused: it includes A"),
    "host": (source(KERNEL.replace("if (i", "if (n < 0 && i"), HOST), "not by the rules: the host, reads"),
    "half_host": (source(KERNEL.replace("i < n", "i < n / 2"),
                         ANSWER.replace("  return cudaGet", COPIES + "  return cudaGet"),
                         before="#include <vector>\n"), "its kernels do not read"),
    "exits": (source(body="{\n  std::puts(\"PASSED\");\n  std::exit(0);\n}\n",
                     before="#include <cstdio>\n#include <cstdlib>\n"), "before the tests were over"),
    "raises": (source(body="{\n  std::raise(9);\n  return cudaSuccess;\n}\n",
                      before="#include <csignal>\n"), "refused: it calls raise"),
    "own_exit": (source(body="{\n  _exit(0);\n}\n", before='extern "C" void _exit(int);\n'),
                 "refused: it calls _exit"),
    "static": (source(inside="int start() { return 0; }\nint started = start();\n"
                             "struct A { A(); int k; };\nA::A() { k = start(); }\nA one;\n"),
               "refused: it runs code before main|refused: it has functions"),
    "constructor": (source(inside="__attribute__((constructor)) void first() {}\n"),
                    "refused: it uses constructor"),
    "main": (source() + "int main() { return 0; }\n", "refused: it defines main|did not"),
    "override": (source() + "namespace course {\nint passed_all() { return 0; }\n}\n",
                 "refused: it defines course::passed_all"),
    "assembly": (source(body="{\n  asm volatile(\"syscall\" : : \"a\"(231), \"D\"(0));\n"
                             "  return cudaSuccess;\n}\n"),
                 "refused: it calls the operating|did not compile"),
    "endless": (source(body="{\n  for (volatile int k = 0; k >= 0;) k = 1;\n"
                            "  return cudaSuccess;\n}\n"), "not over after"),
    "crash": (source(body="{\n  *reinterpret_cast<volatile int*>(8) = 1;\n  return cudaSuccess;\n"
                          "}\n"), "before the tests were over"),
    "wrong": (source(body=ANSWER.replace("n + 255", "n")), "wrong at n=1"),
    "syntax": (source(body="{ return }\n"), "did not compile"),
    "empty": ("\n", "function is missing"),
}
