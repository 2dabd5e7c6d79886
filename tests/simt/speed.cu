// How fast the CPU backend runs: five kernels and two launches, the best of several runs. Prints
// one line each. --floor: fails if a rate is below a tenth of what two cores should reach
// (instrumented: a two-hundredth). --against PROGRAM: also runs the other build, and prints how
// much faster that one is.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "findings.hpp"

namespace {

__global__ void vector_add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
__global__ void reduce_tree(const float* in, float* out) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void transpose_tile(const float* in, float* out, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
template <int size>
__global__ void multiply_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float s[size][size], t[size][size];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * size + y, column = blockIdx.x * size + x;
  float sum = 0;
  for (int k = 0; k < n; k += size) {
    s[y][x] = a[row * n + k + x];
    t[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (int j = 0; j < size; ++j) sum += s[y][j] * t[j][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
__global__ void nothing() {}
__global__ void barrier() { __syncthreads(); }

/// Seconds of the fastest of several calls, after one that does not count.
template <class F>
double seconds(F call) {
  using Clock = std::chrono::steady_clock;
  call();
  cudaDeviceSynchronize();
  double best = 1e30;
  const auto begin = Clock::now();
  for (int i = 0; i < 200 && Clock::now() - begin < std::chrono::milliseconds(1500); ++i) {
    const auto start = Clock::now();
    call();
    cudaDeviceSynchronize();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

bool failed = false, with_floor = false;
FILE* other = nullptr;  // the output of the other build

/// The other build's number on its line of this name.
double figure_of_other(const char* name) {
  char line[256];
  while (other != nullptr && std::fgets(line, sizeof line, other) != nullptr) {
    if (std::strncmp(line, name, std::strlen(name)) == 0) return std::atof(line + 28);
  }
  return 0;
}

void rate(const char* name, double work, double s, const char* unit, double wanted) {
  const double got = work / s;
  const bool low = with_floor && got < wanted / (simt::instrumented() ? 200 : 10);
  failed = failed || low;
  std::printf("%-28s %9.2e %-10s %6.2f x wanted%s", name, got, unit, got / wanted,
              low ? "  TOO SLOW" : "");
  const double faster = figure_of_other(name) / got;
  if (faster > 0) std::printf("  other build: %.1f times as fast", faster);
  std::printf("\n");
}
void latency(const char* name, double s, double wanted) {
  const bool low = with_floor && s > wanted * (simt::instrumented() ? 200 : 10);
  failed = failed || low;
  std::printf("%-28s %9.2f %-10s %6.2f x wanted%s", name, s * 1e6, "us", wanted / s,
              low ? "  TOO SLOW" : "");
  const double micros = figure_of_other(name);
  if (micros > 0) std::printf("  other build: %.1f times as fast", s * 1e6 / micros);
  std::printf("\n");
}
void expect(bool right, const char* name) {
  if (!right) std::printf("%s: wrong result\n", name);
  failed = failed || !right;
}

float* filled(int n, float value) {
  float* p = nullptr;
  const std::vector<float> host(n, value);
  if (cudaMalloc(&p, n * sizeof(float)) != cudaSuccess) std::printf("out of memory\n");
  cudaMemcpy(p, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  return p;
}
float last(const float* p, int n) {
  float value = 0;
  cudaMemcpy(&value, p + n - 1, sizeof value, cudaMemcpyDeviceToHost);
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--floor") == 0) with_floor = true;
    if (std::strcmp(argv[i], "--against") == 0 && i + 1 < argc) {
      // It ends before any measurement here, because both programs use all cores.
      other = std::tmpfile();
      FILE* pipe = popen(argv[i + 1], "r");
      for (int c; pipe != nullptr && (c = std::fgetc(pipe)) != EOF;) std::fputc(c, other);
      if (pipe == nullptr || pclose(pipe) != 0)
        std::printf("%s failed\n", argv[i + 1]), failed = true;
      std::rewind(other);
    }
  }
  const bool small = simt::instrumented();
  std::printf("%s, order %s\n", small ? "instrumented" : "plain", simt::order().c_str());
  const int n = small ? 1 << 18 : 1 << 22;
  float *a = filled(n, 1), *b = filled(n, 2), *c = filled(n, 0);

  rate("vector add", n, seconds([&] { vector_add<<<(n + 255) / 256, 256>>>(a, b, c, n); }),
       "elements/s", 1.0e8);
  expect(last(c, n) == 3, "vector add");
  rate("tree reduction, 256 threads", n, seconds([&] { reduce_tree<<<n / 256, 256>>>(a, c); }),
       "elements/s", 1.5e7);
  expect(last(c, n / 256) == 256, "tree reduction");
  const int side = small ? 512 : 2048;
  rate("transpose, 32x32 tiles", double(side) * side,
       seconds([&] { transpose_tile<<<dim3(side / 32, side / 32), dim3(32, 8)>>>(a, c, side); }),
       "elements/s", 1.0e8);
  expect(last(c, side * side) == 1, "transpose");
  const int m = small ? 128 : 256;
  rate("matmul, 16x16 tiles", double(m) * m * m,
       seconds([&] { multiply_tiled<16><<<dim3(m / 16, m / 16), dim3(16, 16)>>>(a, b, c, m); }),
       "MAC/s", 4e8);
  expect(last(c, m * m) == 2.0f * m, "matmul");
  rate("matmul, 32x32 tiles", double(m) * m * m,
       seconds([&] { multiply_tiled<32><<<dim3(m / 32, m / 32), dim3(32, 32)>>>(a, b, c, m); }),
       "MAC/s", 4e8);
  expect(last(c, m * m) == 2.0f * m, "matmul");
  latency("launch <<<1, 32>>>", seconds([] { nothing<<<1, 32>>>(); }), 5e-6);
  latency("launch <<<16, 1024>>>, sync", seconds([] { barrier<<<16, 1024>>>(); }), 300e-6);
  return failed || cudaGetLastError() != cudaSuccess ? 1 : 0;
}
