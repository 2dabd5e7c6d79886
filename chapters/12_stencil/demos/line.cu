// A stencil on a line: from global memory, from a tile, from vectors.
//
// next[i] = centre now[i] + sum over k = 1 .. 4 of c[k] (now[i - k] + now[i + k]), with zeros
// beyond both ends. It is a step of heat of order 8. All kernels compute the same line, and each is
// compared with the host's. The number of points is no multiple of a block or of a vector.
//
//   nvcc -std=c++17 -arch=sm_90 line.cu -o line
//   ./line

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

/// Ends the program if a CUDA call failed: one line names the call and its error, or says what this
/// machine lacks. Exit code 3: no usable GPU; 1: any other error.
void check(cudaError_t status, const char* call, int line) {
  if (status == cudaSuccess) return;
  int driver = 0;  // the newest CUDA that the driver supports (13000 is 13.0), 0 without a driver
  cudaDriverGetVersion(&driver);
  if (status == cudaErrorNoDevice) {
    std::fprintf(stderr, "no NVIDIA GPU found: its driver sees none (CUDA_VISIBLE_DEVICES set?)\n");
  } else if (status == cudaErrorInsufficientDriver && driver == 0) {
    std::fprintf(stderr, "no NVIDIA driver found: CUDA needs an NVIDIA GPU and its driver\n");
  } else if (status == cudaErrorInsufficientDriver) {
    std::fprintf(stderr, "NVIDIA driver too old: it serves CUDA %d.%d, not %d.%d; update it\n",
                 driver / 1000, driver % 100 / 10, CUDART_VERSION / 1000,
                 CUDART_VERSION % 100 / 10);
  } else {
    std::fprintf(stderr, "%s:%d: %s failed: %s: %s\n", __FILE__, line, call,
                 cudaGetErrorName(status), cudaGetErrorString(status));
    std::exit(1);
  }
  std::exit(3);
}
#define CHECK(call) check((call), #call, __LINE__)

constexpr int radius = 4;
constexpr int block = 256;     // threads
constexpr int points = 10007;  // a prime number

/// Coefficients: of the point, and of both neighbours at distance k; c[0] is not used.
struct Star {
  float centre, c[radius + 1];
};

/// Point i of a line of n points, or the zero that stands for it beyond both ends.
__device__ float point(const float* now, int n, int i) { return i >= 0 && i < n ? now[i] : 0; }

/// One thread per point. It loads the point and its neighbours from global memory.
__global__ void from_global(const float* now, float* next, int n,
                            const __grid_constant__ Star star) {
  const int i = blockIdx.x * block + threadIdx.x;
  if (i >= n) return;
  float sum = star.centre * now[i];
#pragma unroll
  for (int k = 1; k <= radius; ++k) {
    sum += star.c[k] * (point(now, n, i - k) + point(now, n, i + k));
  }
  next[i] = sum;
}

/// One thread per point. The block first loads its points and a halo to shared memory.
__global__ void from_tile(const float* now, float* next, int n, const __grid_constant__ Star star) {
  __shared__ float s[block + 2 * radius];
  const int t = threadIdx.x, i = blockIdx.x * block + t;
  s[t + radius] = point(now, n, i);
  if (t < radius) {
    s[t] = point(now, n, i - radius);
    s[t + block + radius] = point(now, n, i + block);
  }
  __syncthreads();  // the tile is filled
  if (i >= n) return;
  float sum = star.centre * s[t + radius];
#pragma unroll
  for (int k = 1; k <= radius; ++k) {
    sum += star.c[k] * (s[t + radius - k] + s[t + radius + k]);
  }
  next[i] = sum;
}

/// Points i to i + 3. A vector begins at a multiple of 16 bytes, so i must be a multiple of 4. The
/// vector that crosses the end of the line is loaded point by point.
__device__ float4 four_points(const float* now, int n, int i) {
  if (i >= 0 && i + 4 <= n) return *reinterpret_cast<const float4*>(now + i);
  return make_float4(point(now, n, i), point(now, n, i + 1), point(now, n, i + 2),
                     point(now, n, i + 3));
}

/// Stores points i to i + 3, but none beyond the end. i must also be a multiple of 4 here.
__device__ void store_four(float* next, int n, int i, const float (&sum)[4]) {
  if (i + 4 <= n) {
    *reinterpret_cast<float4*>(next + i) = make_float4(sum[0], sum[1], sum[2], sum[3]);
  } else {
    for (int j = 0; i + j < n; ++j) next[i + j] = sum[j];
  }
}

/// One thread per four points. Its window has them and four neighbours on each side, in registers.
__global__ void from_vectors(const float* now, float* next, int n,
                             const __grid_constant__ Star star) {
  static_assert(radius <= 4, "the window has four neighbours on each side");
  const int i = 4 * (blockIdx.x * block + threadIdx.x);
  if (i >= n) return;
  const float4 a = four_points(now, n, i - 4), b = four_points(now, n, i);
  const float4 c = four_points(now, n, i + 4);
  const float window[12] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z, c.w};
  float sum[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    sum[j] = star.centre * window[4 + j];
#pragma unroll
    for (int k = 1; k <= radius; ++k) {
      sum[j] += star.c[k] * (window[4 + j - k] + window[4 + j + k]);
    }
  }
  store_four(next, n, i, sum);
}

using Kernel = void (*)(const float* now, float* next, int n, Star star);

/// A kernel, and what it loads from global memory per point, but for the ends of the line.
struct Way {
  const char* name;
  Kernel kernel;
  int points_per_thread;
  double loads;
  const char* type;
};
const Way ways[] = {
    {"from_global", from_global, 1, 2 * radius + 1, "float"},
    {"from_tile", from_tile, 1, double(block + 2 * radius) / block, "float"},
    {"from_vectors", from_vectors, 4, 3.0 / 4, "float4"},
};

/// A step of heat with a quarter of the second derivative. Its weights of order 8 are those of
/// B. Fornberg, Mathematics of Computation 51, 1988.
constexpr Star heat = {1 - 205.0f / 288, {0, 2.0f / 5, -1.0f / 20, 2.0f / 315, -1.0f / 2240}};

/// The step on the host in double.
std::vector<double> step_on_host(const std::vector<float>& now) {
  const int n = static_cast<int>(now.size());
  const auto at = [&](int i) { return i >= 0 && i < n ? now[static_cast<std::size_t>(i)] : 0.0; };
  std::vector<double> next;
  for (int i = 0; i < n; ++i) {
    double sum = heat.centre * at(i);
    for (int k = 1; k <= radius; ++k) sum += heat.c[k] * (at(i - k) + at(i + k));
    next.push_back(sum);
  }
  return next;
}

/// What rounding may change. It rounds a neighbour's term at most 2 + radius times: in the sum of
/// the pair, in the product, and in each addition to the sum. Each time the term changes by at most
/// 2^-24 of itself. No input is above 1 in size, so the terms of a point add up to at most
/// |centre| + 2 sum |c|. The factor 1.01 covers the squares of 2^-24 and the host's own rounding.
double allowed() {
  double terms = std::abs(heat.centre);
  for (int k = 1; k <= radius; ++k) terms += 2 * std::abs(double(heat.c[k]));
  return 1.01 * (2 + radius) * 0x1p-24 * terms;
}

double largest_error(const std::vector<float>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double error = std::abs(a[i] - b[i]);
    if (std::isnan(error)) return error;
    largest = std::max(largest, error);
  }
  return largest;
}

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "line: bad argument '%s'; usage: line\n", argv[1]);
    return 2;
  }
  std::mt19937 random(12);
  std::vector<float> line(points);
  for (float& value : line) value = static_cast<float>(random() >> 8) * 0x1p-23f - 1;  // -1 to 1
  const std::vector<double> expected = step_on_host(line);
  const std::vector<float> poison(points,
                                  std::nanf(""));  // a point that no thread writes stays NaN
  const std::size_t bytes = points * sizeof(float);
  float *now = nullptr, *next = nullptr;
  CHECK(cudaMalloc(&now, bytes));
  CHECK(cudaMalloc(&next, bytes));
  CHECK(cudaMemcpy(now, line.data(), bytes, cudaMemcpyHostToDevice));

  std::printf("%d points, radius %d, zeros beyond both ends\n\n", points, radius);
  std::printf("kernel         loads from global memory per point   largest error\n");
  bool right = true;
  for (const Way& way : ways) {
    CHECK(cudaMemcpy(next, poison.data(), bytes, cudaMemcpyHostToDevice));
    const int per_block = block * way.points_per_thread;
    way.kernel<<<(points + per_block - 1) / per_block, block>>>(now, next, points, heat);
    CHECK(cudaGetLastError());
    std::vector<float> result(points);
    CHECK(cudaMemcpy(result.data(), next, bytes, cudaMemcpyDeviceToHost));
    const double error = largest_error(result, expected);
    const bool ok = error <= allowed();  // never with NaN
    std::printf("%-14s %4.3g %-31s %13.1e   %s\n", way.name, way.loads, way.type, error,
                ok ? "ok" : "WRONG");
    right = right && ok;
  }
  std::printf("\n(allowed: %.1e)\n", allowed());
  CHECK(cudaFree(now));
  CHECK(cudaFree(next));
  return right ? 0 : 1;
}
