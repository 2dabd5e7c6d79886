// Small kernels of the kinds that a course is made of, each launched once: reductions, transposes,
// products, histograms, branches, loops that end early, gathers. The program runs all of them, or
// those that are named, and prints one line per kernel: its name and a checksum of its results,
// which must be the same everywhere. Run under Nsight Compute by `collect kernels`, the i-th line
// belongs to the i-th kernel of the report. On the CPU backend the line also holds the modelled
// counts, for `compare kernels`. Loops whose iterations a compiler would merge are kept rolled, so
// that the GPU makes the accesses written here. Where a compiler still makes fewer, the kernel says
// so.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#ifdef SIMT
#include "findings.hpp"
#endif

namespace {

constexpr unsigned all_lanes = 0xffffffffu;

__device__ int global_index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

// ---- Reductions ----

__global__ void tree_sum(const float* in, float* out, int n) {
  __shared__ float s[256];
  const int t = threadIdx.x, i = global_index();
  s[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
#pragma unroll 1
  for (int d = 128; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void interleaved_sum(const float* in, float* out, int n) {
  __shared__ float s[256];
  const int t = threadIdx.x, i = global_index();
  s[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
#pragma unroll 1
  for (int d = 1; d < 256; d *= 2) {
    const int k = 2 * d * t;
    if (k < 256) s[k] += s[k + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void shuffle_sum(const int* in, int* out, int n) {
  const int i = global_index();
  int v = i < n ? in[i] : 0;
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(all_lanes, v, d);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}

// ---- Transposes: out[x][y] = in[y][x] ----

__global__ void transpose_naive(const float* in, float* out, int rows, int columns) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < columns && y < rows) out[x * rows + y] = in[y * columns + x];
}

template <int pitch>
__device__ void transpose_by_tile(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[32][pitch];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int left = blockIdx.x * 32, top = blockIdx.y * 32;
#pragma unroll 1
  for (int j = ty; j < 32; j += 8) {
    if (left + tx < columns && top + j < rows) {
      tile[j][tx] = in[(top + j) * columns + left + tx];
    }
  }
  __syncthreads();
#pragma unroll 1
  for (int j = ty; j < 32; j += 8) {
    if (left + j < columns && top + tx < rows) {
      out[(left + j) * rows + top + tx] = tile[tx][j];
    }
  }
}
__global__ void transpose_tile(const float* in, float* out, int rows, int columns) {
  transpose_by_tile<32>(in, out, rows, columns);
}
__global__ void transpose_padded(const float* in, float* out, int rows, int columns) {
  transpose_by_tile<33>(in, out, rows, columns);
}

/// Rows and columns are multiples of 4; a thread moves 4 floats at once.
__global__ void transpose_vectors(const float4* in, float4* out, int rows, int columns) {
  __shared__ float tile[32][33];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int left = blockIdx.x * 32, top = blockIdx.y * 32;
  if (left + 4 * tx < columns && top + ty < rows) {
    const float4 v = in[((top + ty) * columns + left) / 4 + tx];
    tile[ty][4 * tx] = v.x;
    tile[ty][4 * tx + 1] = v.y;
    tile[ty][4 * tx + 2] = v.z;
    tile[ty][4 * tx + 3] = v.w;
  }
  __syncthreads();
  if (left + ty < columns && top + 4 * tx < rows) {
    const float a = tile[4 * tx][ty], b = tile[4 * tx + 1][ty];
    const float c = tile[4 * tx + 2][ty], d = tile[4 * tx + 3][ty];
    out[((left + ty) * rows + top) / 4 + tx] = make_float4(a, b, c, d);
  }
}

// ---- Products: c = a x b, a of m x k, b of k x n ----

template <int size, bool rolled>
__device__ void multiply(const float* a, const float* b, float* c, int m, int k, int n) {
  __shared__ float at[size][size], bt[size][size];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * size + tx, y = blockIdx.y * size + ty;
  float sum = 0;
#pragma unroll 1
  for (int first = 0; first < k; first += size) {
    at[ty][tx] = y < m && first + tx < k ? a[y * k + first + tx] : 0.0f;
    bt[ty][tx] = first + ty < k && x < n ? b[(first + ty) * n + x] : 0.0f;
    __syncthreads();
    if (rolled) {
#pragma unroll 1
      for (int j = 0; j < size; ++j) sum += at[ty][j] * bt[j][tx];
    } else {
#pragma unroll
      for (int j = 0; j < size; ++j) sum += at[ty][j] * bt[j][tx];
    }
    __syncthreads();
  }
  if (x < n && y < m) c[y * n + x] = sum;
}
__global__ void product_16(const float* a, const float* b, float* c, int m, int k, int n) {
  multiply<16, true>(a, b, c, m, k, n);
}
__global__ void product_32(const float* a, const float* b, float* c, int m, int k, int n) {
  multiply<32, true>(a, b, c, m, k, n);
}
/// Merged by the GPU's compiler: four neighbours in a row of `at` are one load of 16 bytes.
__global__ void product_16_unrolled(const float* a, const float* b, float* c, int m, int k, int n) {
  multiply<16, false>(a, b, c, m, k, n);
}

// ---- Shared memory ----

constexpr int bins = 61;

/// The sum of the values of each key.
__global__ void histogram(const int* keys, const int* values, int* out, int* overflows, int n) {
  __shared__ int sums[bins];
  for (int b = threadIdx.x; b < bins; b += blockDim.x) sums[b] = 0;
  __syncthreads();
#pragma unroll 1
  for (int i = global_index(); i < n; i += gridDim.x * blockDim.x) {
    if (atomicAdd(&sums[keys[i]], values[i]) < 0) overflows[0] = 1;
  }
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += blockDim.x) atomicAdd(&out[b], sums[b]);
}

/// Running sums within each block.
__global__ void block_scan(const int* in, int* out, int n) {
  __shared__ int sums[8];
  const int i = global_index(), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int v = i < n ? in[i] : 0;
  for (int d = 1; d < 32; d *= 2) {
    const int before = __shfl_up_sync(all_lanes, v, d);
    if (lane >= d) v += before;
  }
  if (lane == 31) sums[warp] = v;
  __syncthreads();
  if (warp == 0) {
    int w = lane < 8 ? sums[lane] : 0;
    for (int d = 1; d < 8; d *= 2) {
      const int before = __shfl_up_sync(all_lanes, w, d);
      if (lane >= d) w += before;
    }
    if (lane < 8) sums[lane] = w;
  }
  __syncthreads();
  if (warp > 0) v += sums[warp - 1];
  if (i < n) out[i] = v;
}

/// Sums of 7 neighbours. The first threads of a block also load the elements next to it.
__global__ void stencil(const float* in, float* out, int n) {
  __shared__ float tile[128 + 6];
  const int t = threadIdx.x, i = global_index();
  tile[t + 3] = i < n ? in[i] : 0.0f;
  if (t < 3) {
    tile[t] = i >= 3 ? in[i - 3] : 0.0f;
    tile[t + 131] = i + 128 < n ? in[i + 128] : 0.0f;
  }
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 7; ++k) sum += tile[t + k];
  if (i < n) out[i] = sum;
}

/// Sorts 256 numbers in each block.
__global__ void bitonic_sort(int* data) {
  __shared__ int s[256];
  const int t = threadIdx.x, i = global_index();
  s[t] = data[i];
  __syncthreads();
#pragma unroll 1
  for (int size = 2; size <= 256; size *= 2) {
#pragma unroll 1
    for (int d = size / 2; d > 0; d /= 2) {
      const int partner = t ^ d;
      if (partner > t) {
        const int a = s[t], b = s[partner];
        if ((a > b) == ((t & size) == 0)) {
          s[t] = b;
          s[partner] = a;
        }
      }
      __syncthreads();
    }
  }
  data[i] = s[t];
}

// ---- Branches ----

__global__ void if_else(const float* a, const float* b, float* out, int n) {
  const int i = global_index();
  if (i >= n) return;
  float v;
  if (i % 3 == 1) {
    v = a[i] * 2.0f;
  } else {
    v = b[i] + 1.0f;
  }
  out[i] = v;
}

/// Merged by the GPU's compiler: it chooses the address and loads once.
__global__ void either(const int* flags, const float* a, const float* b, float* out, int n) {
  const int i = global_index();
  if (i >= n) return;
  out[i] = flags[i] != 0 ? a[i] : b[i];
}

__global__ void switch_fall_through(const int* keys, const int* a, const short* b,
                                    const unsigned char* c, int* out, int n) {
  const int i = global_index();
  if (i >= n) return;
  int v = 0;
  switch (keys[i]) {
    case 0:
      v = a[i] + 1;
      break;
    case 1:
      v = b[i] * 3;
      [[fallthrough]];
    case 2:
      v ^= c[i];
      break;
    case 3:
      v = c[n - 1 - i] - 7;
      break;
    default:
      v = -1;
  }
  out[i] = v;
}

__global__ void early_return(const int* a, const int* b, int* out, int n) {
  const int i = global_index();
  if (i >= n || i % 4 == 3) return;
  const int v = a[i];
  if (v % 5 == 0) return;
  const int w = b[v];
  if (w % 2 == 0) return;
  out[i] = w;
}

__device__ __noinline__ int fetch(const int* p, int i) { return p[i]; }

__global__ void calls_on_both_sides(const int* a, const int* b, int* out, int n) {
  const int i = global_index();
  if (i >= n) return;
  int v;
  if (i % 2 == 0) {
    v = fetch(a, i) + 1;
  } else {
    v = fetch(a, n - 1 - i) * 2;
  }
  v ^= fetch(b, i);
  out[i] = v;
}

// ---- Loops ----

__global__ void trip_counts(const int* trips, const int* a, int* out, int n) {
  const int i = global_index();
  if (i >= n) return;
  const int rounds = trips[i];
  int sum = 0;
#pragma unroll 1
  for (int k = 0; k < rounds; ++k) sum += a[k * n + i];
  out[i] = sum;
}

__global__ void skip_one_round(const int* a, const int* b, int* out, int n) {
  const int i = global_index();
  if (i >= n) return;
  int sum = 0;
#pragma unroll 1
  for (int k = 0; k < 8; ++k) {
    if (!(k == 0 && (i & 1) != 0)) sum += a[k * n + i];
    sum ^= b[k * n + i];
  }
  out[i] = sum;
}

__global__ void nested_loops(const int* a, const int* b, int* out, int n) {
  const int i = global_index();
  if (i >= n) return;
  int sum = 0;
#pragma unroll 1
  for (int j = 0; j < 4; ++j) {
    const int rounds = (i + j) % 4;
#pragma unroll 1
    for (int k = 0; k <= rounds; ++k) sum += a[k * n + i];
    sum ^= b[j * n + i];
  }
  out[i] = sum;
}

__global__ void continue_and_break(const int* a, const int* b, const int* c, int* out, int n) {
  const int i = global_index();
  if (i >= n) return;
  int sum = 0;
#pragma unroll 1
  for (int k = 0; k < 8; ++k) {
    const int v = a[k * n + i];
    sum += v;
    if (v % 2 == 0) continue;
    sum ^= b[k * n + i];
    if (v > 80) break;
    sum += c[k * n + i];
  }
  out[i] = sum;
}

/// A row of a sparse matrix times a vector, one row per thread.
__global__ void sparse_rows(const int* starts, const int* columns, const float* values,
                            const float* x, float* out, int rows) {
  const int row = global_index();
  if (row >= rows) return;
  const int end = starts[row + 1];
  float sum = 0;
#pragma unroll 1
  for (int k = starts[row]; k < end; ++k) sum += values[k] * x[columns[k]];
  out[row] = sum;
}

/// How many of the sorted elements are smaller.
__global__ void binary_search(const int* sorted, int size, const int* wanted, int* out, int n) {
  const int i = global_index();
  if (i >= n) return;
  const int key = wanted[i];
  int low = 0, high = size;
#pragma unroll 1
  while (low < high) {
    const int middle = (low + high) / 2;
    if (sorted[middle] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  out[i] = low;
}

__global__ void grid_stride(const float* a, const float* b, float* out, int n) {
#pragma unroll 1
  for (int i = global_index(); i < n; i += gridDim.x * blockDim.x) out[i] = a[i] + b[i];
}

// ---- Widths and strides ----

__global__ void gather(const int* index, const float* in, float* out, int n) {
  const int i = global_index();
  if (i < n) out[i] = in[index[i]];
}

__global__ void strided_stores(const float* in, float* out, int n) {
  const int i = global_index();
  if (i < n) out[3 * i + 1] = in[i];
}

template <class T>
__device__ void add_arrays(const T* a, const T* b, T* out, int n) {
  const int i = global_index();
  if (i < n) out[i] = static_cast<T>(a[i] + b[i]);
}
__global__ void chars(const unsigned char* a, const unsigned char* b, unsigned char* out, int n) {
  add_arrays(a, b, out, n);
}
__global__ void doubles(const double* a, const double* b, double* out, int n) {
  add_arrays(a, b, out, n);
}
__global__ void vectors(const float4* a, const float4* b, float4* out, int n) {
  const int i = global_index();
  if (i >= n) return;
  const float4 v = a[i], w = b[i];
  out[i] = make_float4(v.x + w.x, v.y + w.y, v.z + w.z, v.w + w.w);
}

struct Point {
  float x, y, z, w;
};
struct alignas(16) AlignedPoint {
  float x, y, z, w;
};

template <class P>
__device__ void length_squared(const P* points, float* out, int n) {
  const int i = global_index();
  if (i >= n) return;
  const float x = points[i].x, y = points[i].y, z = points[i].z, w = points[i].w;
  out[i] = x * x + y * y + z * z + w * w;
}
__global__ void points(const Point* in, float* out, int n) { length_squared(in, out, n); }
/// Merged by the GPU's compiler: the four members are one load of 16 bytes.
__global__ void points_aligned(const AlignedPoint* in, float* out, int n) {
  length_squared(in, out, n);
}

// ---- Inputs and outputs ----

void require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "kernels: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(3);
}

std::vector<void*> allocated;  ///< for the kernel that runs

void* allocate(std::size_t bytes) {
  void* p = nullptr;
  require(cudaMalloc(&p, bytes), "cudaMalloc");
  allocated.push_back(p);
  return p;
}

template <class T>
T* upload(const std::vector<T>& values) {
  void* p = allocate(values.size() * sizeof(T));
  require(cudaMemcpy(p, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
          "upload");
  return static_cast<T*>(p);
}

/// Small, and the same on every system, unlike the distributions of <random>.
int below(std::mt19937& random, int limit) {
  return static_cast<int>(std::uint64_t{random()} * static_cast<unsigned>(limit) >> 32);
}

std::vector<int> numbers(unsigned seed, std::size_t n, int limit) {
  std::mt19937 random(seed);
  std::vector<int> values(n);
  for (int& value : values) value = below(random, limit);
  return values;
}

/// Integers below `limit` on the device: sums of them are exact in every type.
template <class T>
T* input(unsigned seed, std::size_t n, int limit = 100) {
  const std::vector<int> values = numbers(seed, n, limit);
  std::vector<T> converted(n);
  for (std::size_t k = 0; k < n; ++k) converted[k] = static_cast<T>(values[k]);
  return upload(converted);
}
/// The same as elements of four floats.
template <class T>
T* input_of_four(unsigned seed, std::size_t n) {
  static_assert(sizeof(T) == 4 * sizeof(float));
  return reinterpret_cast<T*>(input<float>(seed, 4 * n));
}

struct Output {
  void* data = nullptr;
  std::size_t bytes = 0;
};
Output output;

/// Zeros, whose checksum is printed after the kernel.
template <class T>
T* result(std::size_t n) {
  output = {upload(std::vector<T>(n)), n * sizeof(T)};
  return static_cast<T*>(output.data);
}

std::uint64_t checksum() {
  std::vector<unsigned char> bytes(output.bytes);
  require(cudaMemcpy(bytes.data(), output.data, output.bytes, cudaMemcpyDeviceToHost), "download");
  std::uint64_t sum = 14695981039346656037u;
  for (const unsigned char byte : bytes) sum = (sum ^ byte) * 1099511628211u;
  return sum;
}

// ---- Launches ----

#ifdef SIMT
void print_model() {
  using simt::Space;
  const std::vector<simt::KernelCount> counts = simt::take_counts();
  if (counts.size() != 1 || counts[0].launches != 1) {
    std::fprintf(stderr, "kernels: nothing was counted: built without counters?\n");
    std::exit(3);
  }
  for (const Space space : {Space::global, Space::shared}) {
    for (const char* access : {"load", "store", "atomic"}) {
      std::printf(",%llu,%llu", static_cast<unsigned long long>(counts[0].requests(space, access)),
                  static_cast<unsigned long long>(counts[0].units(space, access)));
    }
  }
  std::printf(
      ",%llu,%.2f", static_cast<unsigned long long>(counts[0].barriers),
      static_cast<double>(counts[0].lane_steps) / static_cast<double>(counts[0].warp_steps));
}
void print_header() {
  std::printf("index,kernel,checksum");
  for (const char* access : {"loads", "stores", "atomics"}) {
    std::printf(",global_%s_requests,global_%s_sectors", access, access);
  }
  for (const char* access : {"loads", "stores", "atomics"}) {
    std::printf(",shared_%s_requests,shared_%s_wavefronts", access, access);
  }
  std::printf(",barriers,lanes_per_step\n");
}
#else
void print_model() {}
void print_header() { std::printf("index,kernel,checksum\n"); }
#endif

struct Kernel {
  const char* name;
  std::function<void()> launch;
};

int blocks(int n, int threads) { return (n + threads - 1) / threads; }

std::vector<Kernel> reductions_and_transposes() {
  static constexpr int n = 10007, rows = 101, columns = 77, rows4 = 100, columns4 = 76;
  static const dim3 tiles(3, 4), threads(32, 8);
  return {
      {"tree_sum", [] { tree_sum<<<40, 256>>>(input<float>(1, n), result<float>(40), n); }},
      {"interleaved_sum",
       [] { interleaved_sum<<<40, 256>>>(input<float>(2, n), result<float>(40), n); }},
      {"shuffle_sum", [] { shuffle_sum<<<40, 256>>>(input<int>(3, n), result<int>(1), n); }},
      {"transpose_naive",
       [] {
         transpose_naive<<<dim3(3, 13), threads>>>(input<float>(4, rows * columns),
                                                   result<float>(rows * columns), rows, columns);
       }},
      {"transpose_tile",
       [] {
         transpose_tile<<<tiles, threads>>>(input<float>(5, rows * columns),
                                            result<float>(rows * columns), rows, columns);
       }},
      {"transpose_padded",
       [] {
         transpose_padded<<<tiles, threads>>>(input<float>(6, rows * columns),
                                              result<float>(rows * columns), rows, columns);
       }},
      {"transpose_vectors",
       [] {
         transpose_vectors<<<tiles, dim3(8, 32)>>>(input_of_four<float4>(7, rows4 * columns4 / 4),
                                                   result<float4>(rows4 * columns4 / 4), rows4,
                                                   columns4);
       }},
  };
}

std::vector<Kernel> products_and_shared_memory() {
  static constexpr int m = 45, k = 37, n = 53, many = 10007;
  return {
      {"product_16",
       [] {
         product_16<<<dim3(4, 3), dim3(16, 16)>>>(input<float>(8, m * k), input<float>(9, k * n),
                                                  result<float>(m * n), m, k, n);
       }},
      {"product_32",
       [] {
         product_32<<<dim3(2, 2), dim3(32, 32)>>>(input<float>(10, m * k), input<float>(11, k * n),
                                                  result<float>(m * n), m, k, n);
       }},
      {"product_16_unrolled",
       [] {
         product_16_unrolled<<<dim3(4, 3), dim3(16, 16)>>>(
             input<float>(12, m * k), input<float>(13, k * n), result<float>(m * n), m, k, n);
       }},
      {"histogram",
       [] {
         histogram<<<5, 224>>>(input<int>(14, many, bins), input<int>(15, many), result<int>(bins),
                               upload(std::vector<int>(1)), many);
       }},
      {"block_scan", [] { block_scan<<<4, 256>>>(input<int>(16, 1001), result<int>(1001), 1001); }},
      {"stencil", [] { stencil<<<8, 128>>>(input<float>(17, 1001), result<float>(1001), 1001); }},
      {"bitonic_sort",
       [] {
         int* data = input<int>(18, 3 * 256, 1000);
         output = {data, 3 * 256 * sizeof(int)};
         bitonic_sort<<<3, 256>>>(data);
       }},
  };
}

std::vector<Kernel> branches() {
  static constexpr int n = 3001;
  return {
      {"if_else",
       [] {
         if_else<<<blocks(n, 96), 96>>>(input<float>(19, n), input<float>(20, n), result<float>(n),
                                        n);
       }},
      {"either",
       [] {
         either<<<blocks(n, 96), 96>>>(input<int>(21, n, 2), input<float>(22, n),
                                       input<float>(23, n), result<float>(n), n);
       }},
      {"switch_fall_through",
       [] {
         switch_fall_through<<<blocks(n, 96), 96>>>(input<int>(24, n, 6), input<int>(25, n),
                                                    input<short>(26, n),
                                                    input<unsigned char>(27, n), result<int>(n), n);
       }},
      {"early_return",
       [] {
         early_return<<<blocks(n, 96), 96>>>(input<int>(28, n), input<int>(29, 100), result<int>(n),
                                             n);
       }},
      {"calls_on_both_sides",
       [] {
         calls_on_both_sides<<<blocks(n, 96), 96>>>(input<int>(30, n), input<int>(31, n),
                                                    result<int>(n), n);
       }},
  };
}

std::vector<Kernel> loops() {
  static constexpr int n = 1001;
  return {
      {"trip_counts",
       [] {
         trip_counts<<<blocks(n, 160), 160>>>(input<int>(32, n, 12), input<int>(33, 11 * n),
                                              result<int>(n), n);
       }},
      {"skip_one_round",
       [] {
         skip_one_round<<<blocks(n, 160), 160>>>(input<int>(34, 8 * n), input<int>(35, 8 * n),
                                                 result<int>(n), n);
       }},
      {"nested_loops",
       [] {
         nested_loops<<<blocks(n, 160), 160>>>(input<int>(36, 4 * n), input<int>(37, 4 * n),
                                               result<int>(n), n);
       }},
      {"continue_and_break",
       [] {
         continue_and_break<<<blocks(n, 160), 160>>>(input<int>(38, 8 * n), input<int>(39, 8 * n),
                                                     input<int>(40, 8 * n), result<int>(n), n);
       }},
      {"sparse_rows",
       [] {
         std::vector<int> starts = numbers(41, n + 1, 20);
         int sum = 0;
         for (int& start : starts) {
           const int entries = start;
           start = sum;
           sum += entries;
         }
         sparse_rows<<<blocks(n, 160), 160>>>(upload(starts), input<int>(42, sum, 700),
                                              input<float>(43, sum, 10), input<float>(44, 700),
                                              result<float>(n), n);
       }},
      {"binary_search",
       [] {
         std::vector<int> sorted = numbers(45, 777, 30);
         for (std::size_t k = 1; k < sorted.size(); ++k) sorted[k] += sorted[k - 1];
         binary_search<<<blocks(n, 160), 160>>>(upload(sorted), 777, input<int>(46, n, 12000),
                                                result<int>(n), n);
       }},
      {"grid_stride",
       [] {
         grid_stride<<<7, 96>>>(input<float>(47, 10007), input<float>(48, 10007),
                                result<float>(10007), 10007);
       }},
  };
}

std::vector<Kernel> widths_and_strides() {
  static constexpr int n = 3001;
  return {
      {"gather",
       [] {
         gather<<<blocks(n, 96), 96>>>(input<int>(49, n, 5000), input<float>(50, 5000),
                                       result<float>(n), n);
       }},
      {"strided_stores",
       [] { strided_stores<<<blocks(n, 96), 96>>>(input<float>(51, n), result<float>(3 * n), n); }},
      {"chars",
       [] {
         chars<<<blocks(n, 96), 96>>>(input<unsigned char>(52, n), input<unsigned char>(53, n),
                                      result<unsigned char>(n), n);
       }},
      {"doubles",
       [] {
         doubles<<<blocks(n, 96), 96>>>(input<double>(54, n), input<double>(55, n),
                                        result<double>(n), n);
       }},
      {"vectors",
       [] {
         vectors<<<blocks(n, 96), 96>>>(input_of_four<float4>(56, n), input_of_four<float4>(57, n),
                                        result<float4>(n), n);
       }},
      {"points",
       [] { points<<<blocks(n, 96), 96>>>(input_of_four<Point>(58, n), result<float>(n), n); }},
      {"points_aligned",
       [] {
         points_aligned<<<blocks(n, 96), 96>>>(input_of_four<AlignedPoint>(59, n), result<float>(n),
                                               n);
       }},
  };
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Kernel> kernels;
  for (const auto& part : {reductions_and_transposes(), products_and_shared_memory(), branches(),
                           loops(), widths_and_strides()}) {
    kernels.insert(kernels.end(), part.begin(), part.end());
  }
  for (int k = 1; k < argc; ++k) {
    bool known = false;
    for (const Kernel& kernel : kernels) known = known || std::strcmp(kernel.name, argv[k]) == 0;
    if (!known) {
      std::fprintf(stderr, "usage: kernels [NAME...]   '%s' is none of its kernels\n", argv[k]);
      return 2;
    }
  }
#ifdef SIMT
  simt::set_counting(true);
#endif
  print_header();
  int index = 0;
  for (const Kernel& kernel : kernels) {
    bool wanted = argc == 1;
    for (int k = 1; k < argc; ++k) wanted = wanted || std::strcmp(kernel.name, argv[k]) == 0;
    if (!wanted) continue;
    kernel.launch();
    require(cudaGetLastError(), kernel.name);
    require(cudaDeviceSynchronize(), kernel.name);
    std::printf("%d,%s,%016llx", index++, kernel.name, static_cast<unsigned long long>(checksum()));
    print_model();
    std::printf("\n");
    for (void* p : allocated) require(cudaFree(p), "cudaFree");
    allocated.clear();
  }
  return 0;
}
