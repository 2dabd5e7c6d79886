// Four effects on a photograph: blur, edges, sharpening, smoothing.
//
// One kernel per effect. A block loads its tile of the picture and a halo around it into shared
// memory, where pixels outside of the picture are the nearest one inside (clamp). Results are
// rounded to the nearest grey, halves up, and limited to 0 to 255. A loop of the host computes each
// pixel again in double; the program fails where a grey is further from that than `allowed`.
//
// Written to FOLDER or next to the program: blurred.pgm, edges.pgm, sharpened.pgm, smoothed.pgm. Of
// a color picture (PPM) the luminance is taken, so the results are gray.
//
// The default picture is photo.pgm of common/image: photograph by Lav R. Varshney (2006), CC0 1.0,
// from scikit-image (camera.png, decoded without loss). photo.txt there names source and licence.
//
//   nvcc -std=c++17 -arch=sm_90 -I ../../../common effects.cu -o effects
//   ./effects [PICTURE [FOLDER]]

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
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

constexpr int block_cols = 32, block_rows = 16;
constexpr int largest_side = 65535 * block_rows;  // a grid has at most 65,535 rows of blocks
/// Half a grey of rounding; the rest is for sums in float, in another order than the host's.
constexpr double allowed = 0.51;

constexpr int blur_radius = 6, smooth_radius = 4;
constexpr double blur_sigma = 2;  // pixels
constexpr float sharpen_amount = 1.5f;
constexpr float smooth_sigma = 2.5f, grey_sigma = 25;  // pixels; greys

using Pixels = std::vector<std::uint8_t>;

/// rows x cols pixels, row by row.
struct Picture {
  Pixels pixels;
  int rows, cols;
  /// The pixel, or the nearest one inside.
  double at(int y, int x) const {
    const int row = std::clamp(y, 0, rows - 1), col = std::clamp(x, 0, cols - 1);
    return pixels[static_cast<std::size_t>(row) * cols + col];
  }
};

/// The pixels that a block reads: its own, and `radius` more on each side.
template <int radius>
struct Tile {
  std::uint8_t at[block_rows + 2 * radius][block_cols + 2 * radius];
};

/// The Gaussian of one dimension: weights whose sum is 1.
struct Bell {
  float at[2 * blur_radius + 1];
};

/// Loads the tile of this block; waits for all of it.
template <int radius>
__device__ void load_tile(const std::uint8_t* image, int rows, int cols, Tile<radius>* tile) {
  const int first_y = blockIdx.y * block_rows - radius, first_x = blockIdx.x * block_cols - radius;
  for (int y = threadIdx.y; y < block_rows + 2 * radius; y += block_rows) {
    const int row = min(max(first_y + y, 0), rows - 1);
    for (int x = threadIdx.x; x < block_cols + 2 * radius; x += block_cols) {
      tile->at[y][x] = image[row * cols + min(max(first_x + x, 0), cols - 1)];
    }
  }
  __syncthreads();
}

/// Stores the result of this thread, rounded, if its pixel is inside of the picture.
__device__ void store_grey(std::uint8_t* out, int rows, int cols, float value) {
  const int y = blockIdx.y * block_rows + threadIdx.y, x = blockIdx.x * block_cols + threadIdx.x;
  if (y >= rows || x >= cols) return;
  out[y * cols + x] = static_cast<std::uint8_t>(fminf(fmaxf(value, 0), 255) + 0.5f);
}

/// The blurred pixel of this thread: a pass along the rows of the tile, halo included, then one
/// along the columns. All threads of the block call it.
__device__ float blur(const Tile<blur_radius>& tile, const Bell& bell) {
  __shared__ float middle[block_rows + 2 * blur_radius][block_cols];
  for (int y = threadIdx.y; y < block_rows + 2 * blur_radius; y += block_rows) {
    float sum = 0;
    for (int j = 0; j <= 2 * blur_radius; ++j) sum += bell.at[j] * tile.at[y][threadIdx.x + j];
    middle[y][threadIdx.x] = sum;
  }
  __syncthreads();
  float sum = 0;
  for (int i = 0; i <= 2 * blur_radius; ++i)
    sum += bell.at[i] * middle[threadIdx.y + i][threadIdx.x];
  return sum;
}

/// A weighted mean of the neighbours. One thread per pixel, as in all these kernels.
__global__ void blur_image(const std::uint8_t* image, std::uint8_t* out, int rows, int cols,
                           const __grid_constant__ Bell bell) {
  __shared__ Tile<blur_radius> tile;
  load_tile(image, rows, cols, &tile);
  store_grey(out, rows, cols, blur(tile, bell));
}

/// image + amount (image - blurred), unsharp masking: what the blur takes away is added.
__global__ void sharpen_image(const std::uint8_t* image, std::uint8_t* out, int rows, int cols,
                              const __grid_constant__ Bell bell) {
  __shared__ Tile<blur_radius> tile;
  load_tile(image, rows, cols, &tile);
  const float blurred = blur(tile, bell);
  const float own = tile.at[threadIdx.y + blur_radius][threadIdx.x + blur_radius];
  store_grey(out, rows, cols, own + sharpen_amount * (own - blurred));
}

/// Half the length of the gradient. I. Sobel and G. Feldman, 1968: in each direction a difference,
/// across it the weights 1 2 1. Both derivatives from one window of 3 x 3 pixels, in registers.
__global__ void find_edges(const std::uint8_t* image, std::uint8_t* out, int rows, int cols) {
  __shared__ Tile<1> tile;
  load_tile(image, rows, cols, &tile);
  int window[3][3];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) window[i][j] = tile.at[threadIdx.y + i][threadIdx.x + j];
  }
  int along_x = 0, along_y = 0;
  for (int k = 0; k < 3; ++k) {
    const int weight = k == 1 ? 2 : 1;
    along_x += weight * (window[k][2] - window[k][0]);
    along_y += weight * (window[2][k] - window[0][k]);
  }
  // At most 2 x 1020^2, which float has exactly.
  store_grey(out, rows, cols, 0.5f * sqrtf(float(along_x * along_x + along_y * along_y)));
}

/// Bilateral filter: a mean whose weights fall with the distance, and with the difference of the
/// greys. So it does not mix the two sides of an edge. The weights depend on the picture: this is
/// no convolution, and no product of a column and a row.
/// C. Tomasi and R. Manduchi, Bilateral filtering for gray and color images, ICCV 1998.
__global__ void smooth_image(const std::uint8_t* image, std::uint8_t* out, int rows, int cols) {
  __shared__ Tile<smooth_radius> tile;
  load_tile(image, rows, cols, &tile);
  constexpr float by_distance = 0.5f / (smooth_sigma * smooth_sigma),
                  by_grey = 0.5f / (grey_sigma * grey_sigma);
  const float own = tile.at[threadIdx.y + smooth_radius][threadIdx.x + smooth_radius];
  float sum = 0, weights = 0;
  for (int i = -smooth_radius; i <= smooth_radius; ++i) {
    for (int j = -smooth_radius; j <= smooth_radius; ++j) {
      const float grey = tile.at[threadIdx.y + smooth_radius + i][threadIdx.x + smooth_radius + j];
      const float weight =
          expf(-by_distance * float(i * i + j * j) - by_grey * (grey - own) * (grey - own));
      sum += weight * grey;
      weights += weight;
    }
  }
  store_grey(out, rows, cols, sum / weights);  // the pixel itself has weight 1
}

Bell bell_of(double sigma) {
  double weights[2 * blur_radius + 1], sum = 0;
  for (int i = 0; i <= 2 * blur_radius; ++i) {
    const int distance = i - blur_radius;
    sum += weights[i] = std::exp(-0.5 * distance * distance / (sigma * sigma));
  }
  Bell bell;
  for (int i = 0; i <= 2 * blur_radius; ++i) bell.at[i] = static_cast<float>(weights[i] / sum);
  return bell;
}

/// What the kernels must store, before it is rounded: functions of a picture and a place.
double expected_blur(const Picture& image, int y, int x, const Bell& bell) {
  double sum = 0;
  for (int i = 0; i <= 2 * blur_radius; ++i) {
    for (int j = 0; j <= 2 * blur_radius; ++j) {
      sum += double(bell.at[i]) * bell.at[j] * image.at(y + i - blur_radius, x + j - blur_radius);
    }
  }
  return sum;
}
double expected_sharp(const Picture& image, int y, int x, const Bell& bell) {
  const double own = image.at(y, x);
  return own + double(sharpen_amount) * (own - expected_blur(image, y, x, bell));
}
double expected_edge(const Picture& image, int y, int x) {
  const auto across = [&](int dy, int dx) {  // three pixels on one side, along a row or a column
    return image.at(y + dy - dx, x + dx - dy) + 2 * image.at(y + dy, x + dx) +
           image.at(y + dy + dx, x + dx + dy);
  };
  return 0.5 * std::hypot(across(0, 1) - across(0, -1), across(1, 0) - across(-1, 0));
}
double expected_smooth(const Picture& image, int y, int x) {
  double sum = 0, weights = 0;
  for (int i = -smooth_radius; i <= smooth_radius; ++i) {
    for (int j = -smooth_radius; j <= smooth_radius; ++j) {
      const double grey = image.at(y + i, x + j), unlike = (grey - image.at(y, x)) / grey_sigma;
      const double distance = std::hypot(i, j) / smooth_sigma;
      const double weight = std::exp(-0.5 * (distance * distance + unlike * unlike));
      sum += weight * grey;
      weights += weight;
    }
  }
  return sum / weights;
}

/// Computes a picture by launch(image, out, grid, block), writes it, and prints what it is and the
/// largest difference from expected(image, y, x). \returns whether that is at most `allowed`.
template <class Launch, class Expected>
bool show(const Picture& image, const std::string& file, const char* what, Launch launch,
          Expected expected) {
  const std::size_t bytes = image.pixels.size();
  std::uint8_t *in = nullptr, *out = nullptr;
  CHECK(cudaMalloc(&in, bytes));
  CHECK(cudaMalloc(&out, bytes));
  CHECK(cudaMemcpy(in, image.pixels.data(), bytes, cudaMemcpyHostToDevice));
  const dim3 grid(static_cast<unsigned>((image.cols + block_cols - 1) / block_cols),
                  static_cast<unsigned>((image.rows + block_rows - 1) / block_rows));
  launch(in, out, grid, dim3(block_cols, block_rows));
  CHECK(cudaGetLastError());
  Pixels result(bytes);
  CHECK(cudaMemcpy(result.data(), out, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));

  double largest = 0;
  for (int y = 0; y < image.rows; ++y) {
    for (int x = 0; x < image.cols; ++x) {
      const double right = std::clamp(expected(image, y, x), 0.0, 255.0);
      const std::size_t at = static_cast<std::size_t>(y) * image.cols + x;
      largest = std::max(largest, std::abs(result[at] - right));
    }
  }
  course::write_pnm(file, {image.cols, image.rows, 1, 255, {result.begin(), result.end()}});
  const std::string name = file.substr(file.rfind('/') + 1);
  std::printf("%-13s  %5.3f  %s\n", name.c_str(), largest, what);
  return largest <= allowed;
}

int effects(const std::string& path, const std::string& folder) {
  const course::Image read = course::read_pnm(path);
  if (std::max(read.width, read.height) > largest_side) {
    throw course::Error("cannot take " + path + ": a side of more than " +
                            std::to_string(largest_side) + " pixels; make it smaller",
                        2);
  }
  const Picture image = {read.luminance(), read.height, read.width};
  std::printf("%s: %d x %d, %s\n", path.c_str(), image.cols, image.rows,
              read.channels == 1 ? "gray" : "the luminance of a color picture");
  std::printf("%-13s  largest difference from the host's result before rounding (allowed: %.2f)\n",
              "", allowed);

  const Bell bell = bell_of(blur_sigma);
  const int rows = image.rows, cols = image.cols;
  bool right = show(
      image, folder + "/blurred.pgm", "a Gaussian of 13 x 13 pixels, sigma 2, in two passes",
      [&](const std::uint8_t* in, std::uint8_t* out, dim3 grid, dim3 block) {
        blur_image<<<grid, block>>>(in, out, rows, cols, bell);
      },
      [&](const Picture& of, int y, int x) { return expected_blur(of, y, x, bell); });
  right &= show(
      image, folder + "/edges.pgm", "half the length of the gradient, by Sobel's 3 x 3 pixels",
      [&](const std::uint8_t* in, std::uint8_t* out, dim3 grid, dim3 block) {
        find_edges<<<grid, block>>>(in, out, rows, cols);
      },
      expected_edge);
  right &= show(
      image, folder + "/sharpened.pgm", "the picture + 1.5 (the picture - that Gaussian)",
      [&](const std::uint8_t* in, std::uint8_t* out, dim3 grid, dim3 block) {
        sharpen_image<<<grid, block>>>(in, out, rows, cols, bell);
      },
      [&](const Picture& of, int y, int x) { return expected_sharp(of, y, x, bell); });
  right &= show(
      image, folder + "/smoothed.pgm", "a mean of the pixels that are near and of a similar grey",
      [&](const std::uint8_t* in, std::uint8_t* out, dim3 grid, dim3 block) {
        smooth_image<<<grid, block>>>(in, out, rows, cols);
      },
      expected_smooth);
  std::printf("written to %s\n", folder.c_str());
  if (!right) std::printf("WRONG: a difference is above %.2f\n", allowed);
  return right ? 0 : 1;
}

int main(int argc, char** argv) {
  const bool option = argc > 1 && argv[1][0] == '-';
  if (argc > 3 || option) {
    std::fprintf(stderr, "effects: bad argument '%s'; usage: effects [PICTURE [FOLDER]]\n",
                 argv[option ? 1 : 3]);
    return 2;
  }
  const std::string picture = argc > 1 ? argv[1] : course::photo_path();
  const std::string folder = argc > 2 ? argv[2] : course::folder_of(argv[0]);
  return course::run_reporting_errors("effects", [&] { return effects(picture, folder); });
}
