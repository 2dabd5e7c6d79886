// Tells filters that are a column times a row, by their singular values.
//
// A filter of rank k is a sum of k products of a column and a row, so k pairs of passes compute it:
// 2 w k multiplications per pixel in place of w x w. The singular values tell the rank. Each filter
// is applied to a small random image in both ways, and the results are compared.
//
//   nvcc -std=c++17 -arch=sm_90 separate.cu -o separate
//   ./separate

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "../separate.hpp"

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

constexpr int rows = 64, cols = 96, block_cols = 32, block_rows = 8, shown = 7;
constexpr double allowed = 1e-5;  // difference of the results, as a share of the sum of |filter|
using Pixels = std::vector<float>;

/// Element i of n; outside of them the first or the last.
__device__ int inside(int i, int n) { return i < 0 ? 0 : i < n ? i : n - 1; }

/// out[y][x] = the sum of filter[i][j] image[y + i - radius][x + j - radius]. One thread per pixel.
__global__ void convolve_image(const float* image, const __grid_constant__ Filter filter,
                               float* out, int width) {
  const int x = blockIdx.x * block_cols + threadIdx.x, y = blockIdx.y * block_rows + threadIdx.y;
  if (x >= cols || y >= rows) return;
  float sum = 0;
  for (int i = 0; i < width; ++i) {
    for (int j = 0; j < width; ++j) {
      const int from_y = inside(y + i - width / 2, rows), from_x = inside(x + j - width / 2, cols);
      sum += filter.at[i * width + j] * image[from_y * cols + from_x];
    }
  }
  out[y * cols + x] = sum;
}

/// out[y][x] = the sum of row[j] image[y][x + j - radius]. One thread per pixel.
__global__ void convolve_rows(const float* image, const __grid_constant__ SeparableFilter filter,
                              float* out, int width) {
  const int x = blockIdx.x * block_cols + threadIdx.x, y = blockIdx.y * block_rows + threadIdx.y;
  if (x >= cols || y >= rows) return;
  float sum = 0;
  for (int j = 0; j < width; ++j) {
    sum += filter.row[j] * image[y * cols + inside(x + j - width / 2, cols)];
  }
  out[y * cols + x] = sum;
}

/// out[y][x] += the sum of column[i] image[y + i - radius][x]. One thread per pixel.
__global__ void add_columns(const float* image, const __grid_constant__ SeparableFilter filter,
                            float* out, int width) {
  const int x = blockIdx.x * block_cols + threadIdx.x, y = blockIdx.y * block_rows + threadIdx.y;
  if (x >= cols || y >= rows) return;
  float sum = 0;
  for (int i = 0; i < width; ++i) {
    sum += filter.column[i] * image[inside(y + i - width / 2, rows) * cols + x];
  }
  out[y * cols + x] += sum;
}

/// The largest difference between the direct result and the sum of the first `pairs` pairs of
/// passes.
double largest_difference(const Pixels& image, const Filter& filter, int width,
                          const std::vector<Term>& terms, int pairs) {
  const std::size_t bytes = image.size() * sizeof(float);
  float *image_on_gpu = nullptr, *direct = nullptr, *middle = nullptr, *sum = nullptr;
  CHECK(cudaMalloc(&image_on_gpu, bytes));
  CHECK(cudaMalloc(&direct, bytes));
  CHECK(cudaMalloc(&middle, bytes));
  CHECK(cudaMalloc(&sum, bytes));
  CHECK(cudaMemcpy(image_on_gpu, image.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(sum, 0, bytes));
  const dim3 block(block_cols, block_rows);
  const dim3 grid((cols + block_cols - 1) / block_cols, (rows + block_rows - 1) / block_rows);
  convolve_image<<<grid, block>>>(image_on_gpu, filter, direct, width);
  CHECK(cudaGetLastError());
  for (int k = 0; k < pairs; ++k) {
    convolve_rows<<<grid, block>>>(image_on_gpu, terms[k].passes, middle, width);
    CHECK(cudaGetLastError());
    add_columns<<<grid, block>>>(middle, terms[k].passes, sum, width);
    CHECK(cudaGetLastError());
  }
  Pixels expected(image.size()), result(image.size());
  CHECK(cudaMemcpy(expected.data(), direct, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(result.data(), sum, bytes, cudaMemcpyDeviceToHost));
  for (float* const memory : {image_on_gpu, direct, middle, sum}) CHECK(cudaFree(memory));
  double largest = 0;
  for (std::size_t i = 0; i < image.size(); ++i) {
    const double difference = std::abs(double(result[i]) - expected[i]);
    if (!(difference <= largest)) largest = difference;  // NaN stays
  }
  return largest;
}

/// Of width x width coefficients at(y, x), where (0, 0) is the middle.
template <class Function>
Filter filter_of(int width, Function at) {
  Filter filter = {};
  const int radius = width / 2;
  for (int i = 0; i < width; ++i) {
    for (int j = 0; j < width; ++j) {
      filter.at[i * width + j] = static_cast<float>(at(i - radius, j - radius));
    }
  }
  return filter;
}

/// Divides the coefficients by their sum, so that a grey area keeps its grey.
Filter to_sum_one(Filter filter) {
  double sum = 0;
  for (const float c : filter.at) sum += c;
  for (float& c : filter.at) c = static_cast<float>(c / sum);
  return filter;
}

/// exp(-(x^2 + y^2) / (2 sigma^2)), sigma = 2.5.
double bell(int y, int x) { return std::exp(-(x * x + y * y) / 12.5); }

struct Named {
  const char* name;
  int width, rank;  // as we expect it
  Filter filter;
};

std::vector<Named> filters() {
  return {
      {"Gaussian, sigma 2.5", 15, 1, to_sum_one(filter_of(15, bell))},
      {"box", 15, 1, to_sum_one(filter_of(15, [](int, int) { return 1; }))},
      {"Sobel, derivative along x", 3, 1, {{-1, 0, 1, -2, 0, 2, -1, 0, 1}}},
      {"Laplacian", 3, 2, {{0, 1, 0, 1, -4, 1, 0, 1, 0}}},
      {"sharpen", 3, 2, {{0, -1, 0, -1, 5, -1, 0, -1, 0}}},
      {"Laplacian of the Gaussian", 15, 2,
       filter_of(15,
                 [](int y, int x) { return ((x * x + y * y) / 6.25 - 2) / 6.25 * bell(y, x); })},
      // Its rows have six lengths.
      {"disc of radius 7", 15, 6,
       to_sum_one(filter_of(15, [](int y, int x) { return x * x + y * y <= 49; }))},
      {"diagonal line", 9, 9, to_sum_one(filter_of(9, [](int y, int x) { return x == y; }))},
  };
}

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "separate: bad argument '%s'; usage: separate\n", argv[1]);
    return 2;
  }
  std::mt19937 random(16);
  Pixels image(std::size_t{rows} * cols);
  for (float& pixel : image) pixel = static_cast<float>(random() >> 8) * 0x1p-24f;  // 0 to 1

  std::printf("%-25s     w  rank  w x w  2 w rank  difference  singular values / the largest\n",
              "filter of w x w");
  bool right = true;
  for (const Named& of : filters()) {
    const int w = of.width;
    const std::vector<Term> terms = decompose(of.filter, w);
    const int k = rank(terms);
    const double difference = largest_difference(image, of.filter, w, terms, k);
    double size = 0;
    for (const float c : of.filter.at) size += std::abs(c);
    right = right && k == of.rank && difference <= allowed * size;
    std::printf("%-25s %5d %5d %6d %9d %11.1e ", of.name, w, k, w * w, 2 * w * k, difference);
    const int last = std::min({w, k + 1, shown});
    for (int i = 0; i < last; ++i) {
      std::printf(i == k ? " | %.1g" : " %.2g", terms[i].singular_value / terms[0].singular_value);
    }
    std::printf(last < w ? " ...\n" : "\n");
  }
  std::printf(
      "\nThe rank is the number of singular values above 2^-20 of the largest, here before the "
      "bar.\n"
      "w x w: multiplications per pixel of the filter as it is. 2 w rank: of `rank` pairs of "
      "passes.\n"
      "They are fewer where 2 rank < w. difference: the largest between both results; the pixels\n"
      "are from 0 to 1. Both are sums in float, added in different orders.\n");
  return right ? 0 : 1;
}
