// Spreads the greys of a photograph over 0 to 255: histogram equalisation.
//
// The GPU counts the greys in private counters, one histogram per block. The host scans the 256
// counts and looks up every pixel. Of a color picture (PPM) the luminance is taken, so the result
// is gray. Two files are written, to FOLDER or next to the program: equalised.pgm; histogram.pgm,
// 256 x 100, with the counts before in the upper half, those after in the lower half, to one scale.
//
// The default picture is photo.pgm of common/image: photograph by Lav R. Varshney (2006), CC0 1.0,
// from scikit-image (camera.png, decoded without loss). photo.txt there names source and licence.
//
//   nvcc -std=c++17 -arch=sm_90 -I ../../../common equalise.cu -o equalise
//   ./equalise [PICTURE [FOLDER]]

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "image/pnm.hpp"

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

constexpr int greys = 256, block_size = 256, chart_rows = 50;
using Counts = std::vector<unsigned>;
using Pixels = std::vector<std::uint8_t>;

/// counts[v] += how many of the n pixels are v. One thread per grey.
__global__ void count_greys(const std::uint8_t* pixels, unsigned* counts, std::int64_t n) {
  __shared__ unsigned mine[greys];
  const unsigned t = threadIdx.x;
  mine[t] = 0;
  __syncthreads();
  const std::int64_t step = std::int64_t{gridDim.x} * block_size;
  for (std::int64_t i = std::int64_t{blockIdx.x} * block_size + t; i < n; i += step) {
    atomicAdd(&mine[pixels[i]], 1u);
  }
  __syncthreads();
  if (mine[t] != 0) atomicAdd(&counts[t], mine[t]);
}

/// How many pixels are of each grey.
Counts count(const Pixels& pixels) {
  const std::size_t n = pixels.size(), bytes = greys * sizeof(unsigned);
  std::uint8_t* pixels_on_gpu = nullptr;
  unsigned* counts_on_gpu = nullptr;
  Counts counts(greys);
  CHECK(cudaMalloc(&pixels_on_gpu, n));
  CHECK(cudaMalloc(&counts_on_gpu, bytes));
  CHECK(cudaMemcpy(pixels_on_gpu, pixels.data(), n, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(counts_on_gpu, 0, bytes));
  const auto blocks = static_cast<unsigned>(std::min<std::size_t>((n + 4095) / 4096, 1024));
  count_greys<<<blocks, block_size>>>(pixels_on_gpu, counts_on_gpu, static_cast<std::int64_t>(n));
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(counts.data(), counts_on_gpu, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(pixels_on_gpu));
  CHECK(cudaFree(counts_on_gpu));
  return counts;
}

/// The new grey of each grey: 255 times the share of pixels that are not brighter. The pixels of
/// the darkest grey are left out, so that it becomes 0.
Pixels table_of(const Counts& counts) {
  Pixels table(greys);
  const unsigned all = std::accumulate(counts.begin(), counts.end(), 0u);
  const unsigned darkest =
      *std::find_if(counts.begin(), counts.end(), [](unsigned c) { return c > 0; });
  unsigned cdf = 0;
  for (int v = 0; v < greys; ++v) {
    cdf += counts[v];
    const double share = cdf > darkest ? double(cdf - darkest) / double(all - darkest) : 0;
    table[v] = static_cast<std::uint8_t>(255 * share + 0.5);
  }
  return table;
}

/// A bar per grey: 256 x 100, `before` above `after`.
course::Image chart(const Counts& before, const Counts& after) {
  const double most = std::max(*std::max_element(before.begin(), before.end()),
                               *std::max_element(after.begin(), after.end()));
  course::Image image{greys, 2 * chart_rows, 1, 255, {}};
  for (int row = 0; row < 2 * chart_rows; ++row) {
    const Counts& counts = row < chart_rows ? before : after;
    const int height = chart_rows - row % chart_rows;  // the lowest row of a chart has height 1
    for (const unsigned count : counts) {
      const bool black = count > 0 && height <= 1 + (chart_rows - 2) * (count / most);
      image.samples.push_back(black ? 0 : 255);
    }
  }
  return image;
}

void print_classes(const Counts& before, const Counts& after, double n) {
  std::printf("%-9s %-33s %s\n", "grey", "before (2 % per character)", "after");
  for (int first = 0; first < greys; first += 16) {
    std::printf("%3d - %3d", first, first + 15);
    for (const Counts* counts : {&before, &after}) {
      const auto from = counts->begin() + first;
      const double percent = 100 * std::accumulate(from, from + 16, 0u) / n;
      const std::string bar(static_cast<std::size_t>(percent / 2 + 0.5), '#');
      const bool last = counts == &after;
      std::printf(last ? " %5.1f %%%s%.24s" : " %5.1f %%%s%-24.24s", percent,
                  last && bar.empty() ? "" : " ", bar.c_str());
    }
    std::printf("\n");
  }
}

int equalise(const std::string& picture, const std::string& folder) {
  const course::Image image = course::read_pnm(picture);
  Pixels pixels = image.luminance();
  const Counts before = count(pixels);
  const Pixels table = table_of(before);
  for (std::uint8_t& pixel : pixels) pixel = table[pixel];
  const Counts after = count(pixels);
  std::printf("%s: %d x %d, %s\n", picture.c_str(), image.width, image.height,
              image.channels == 1 ? "gray" : "the luminance of a color picture");
  print_classes(before, after, static_cast<double>(pixels.size()));
  const std::string equalised = folder + "/equalised.pgm", charts = folder + "/histogram.pgm";
  course::write_pnm(equalised, {image.width, image.height, 1, 255, {pixels.begin(), pixels.end()}});
  course::write_pnm(charts, chart(before, after));
  std::printf("written: %s and %s\n", equalised.c_str(), charts.c_str());
  Counts moved(greys);  // all pixels of a grey have its new grey
  for (int v = 0; v < greys; ++v) moved[table[v]] += before[v];
  return after == moved ? 0 : 1;
}

int main(int argc, char** argv) {
  const bool option = argc > 1 && argv[1][0] == '-';
  if (argc > 3 || option) {
    std::fprintf(stderr, "equalise: bad argument '%s'; usage: equalise [PICTURE [FOLDER]]\n",
                 argv[option ? 1 : 3]);
    return 2;
  }
  const std::string picture = argc > 1 ? argv[1] : course::photo_path();
  const std::string folder = argc > 2 ? argv[2] : course::folder_of(argv[0]);
  return course::run_reporting_errors("equalise", [&] { return equalise(picture, folder); });
}
