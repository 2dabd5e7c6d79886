// A wave in a plane: fixed edges reflect it, absorbing edges do not.
//
// Order 8 in space (radius 4), order 2 in time: next = 2 now - before + C^2 star(now), where C is
// speed x time step / distance of the points. The source is a point in the slower upper layer.
// Beyond fixed edges the wave is zero. An absorbing edge is a sponge: near it each step multiplies
// now and before by a factor below 1 (Cerjan, Kosloff, Kosloff and Reshef, Geophysics 50, 1985).
// With FOLDER the plane is larger, and stills are written, numbered by steps: fixed_0008.pgm, ...
//
//   nvcc -std=c++17 -arch=sm_90 -I ../../../common wave.cu -o wave
//   ./wave [FOLDER]
//   ../draw FOLDER                      a figure of four stills: FOLDER/wave.svg
//   ../draw FOLDER --animate wave.gif   a film of all stills

#include <algorithm>
#include <cmath>
#include <cstddef>
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

constexpr int radius = 4, block_cols = 32, block_rows = 8;

/// rows x cols points, row by row, within a rim of `radius` zeros. The upper half is slower.
struct Plane {
  int rows, cols;
  __host__ __device__ int pitch() const { return cols + 2 * radius; }
  /// Where point (y, x) lies in memory.
  __host__ __device__ int at(int y, int x) const { return (y + radius) * pitch() + x + radius; }
  __host__ __device__ int source() const { return at(rows * 3 / 10, cols * 3 / 8); }
  std::size_t points() const { return static_cast<std::size_t>(rows + 2 * radius) * pitch(); }
  int steps() const { return 4 * rows; }
};
constexpr Plane small = {60, 80}, large = {96, 128};  // large where stills are written

/// C of each layer. Order 8 in a plane is stable up to 0.55.
constexpr float upper = 0.3f, lower = 0.5f;
constexpr int period = 30;         // of the source, in steps: waves of 9 points above, 15 below
constexpr int quiet = 2 * period;  // the source is silent from this step on
constexpr int every = 60, still_every = 8;
constexpr int sponge = 16;              // points at each edge
constexpr double sponge_slope = 0.019;  // the factor is exp(-(slope x depth)^2)
constexpr float white = 0.15f;          // of a still

/// Difference from the host's wave, as a share of its largest value at that step
constexpr double allowed = 1e-3;
constexpr double keeps = 1e-4;    // fixed edges change the energy by at most this share
constexpr double absorbs = 0.97;  // of the energy leaves through absorbing edges, or more

/// Weights of the second derivative, order 8: of the point, and of both neighbours at distance k.
/// B. Fornberg, Mathematics of Computation 51, 1988.
constexpr double weights[radius + 1] = {-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560};

struct Star {
  float at[radius + 1];
};

/// One step: `other` holds the step before, and gets the next. C2: C^2 of each point; factor: of
/// the sponge, 1 elsewhere. One thread per point. No thread writes the rim.
__global__ void step_wave(const float* now, float* other, const float* C2, const float* factor,
                          const __grid_constant__ Star star, float source, Plane plane) {
  const int x = blockIdx.x * block_cols + threadIdx.x, y = blockIdx.y * block_rows + threadIdx.y;
  if (x >= plane.cols || y >= plane.rows) return;
  const int at = plane.at(y, x), pitch = plane.pitch();
  const float own = now[at], keep = factor[at];
  float sum = 2 * star.at[0] * own;
#pragma unroll
  for (int k = 1; k <= radius; ++k) {
    sum += star.at[k] * (now[at - k] + now[at + k] + now[at - k * pitch] + now[at + k * pitch]);
  }
  // The factor is applied twice to a step: when it is written, and when it is the step before.
  const float next = keep * (2 * own - keep * other[at] + C2[at] * sum);
  other[at] = next + (at == plane.source() ? source : 0);
}

/// The source in a step: a wavelet of Ricker, the second derivative of a Gaussian.
float source_at(int step) {
  if (step >= quiet) return 0;
  const double phase = 3.14159265358979 * (step - period) / period;
  return static_cast<float>((1 - 2 * phase * phase) * std::exp(-phase * phase));
}

/// What the wave runs through, on the host.
struct Medium {
  Plane plane;
  std::vector<float> C2, factor;

  Medium(const Plane& of, bool absorbing) : plane(of), C2(of.points()), factor(of.points()) {
    for_points([&](int y, int x, std::size_t at) {
      const float C = y < plane.rows / 2 ? upper : lower;
      const int from_edge = std::min({y, x, plane.rows - 1 - y, plane.cols - 1 - x});
      const double depth = absorbing ? std::max(sponge - from_edge, 0) : 0;
      C2[at] = C * C;
      factor[at] = static_cast<float>(std::exp(-sponge_slope * sponge_slope * depth * depth));
    });
  }

  /// Calls body(y, x, place in memory) for all points, row by row.
  template <class Body>
  void for_points(Body body) const {
    for (int y = 0; y < plane.rows; ++y) {
      for (int x = 0; x < plane.cols; ++x) body(y, x, static_cast<std::size_t>(plane.at(y, x)));
    }
  }
  template <class T>
  double star_at(const std::vector<T>& field, std::size_t at) const {
    const std::size_t pitch = static_cast<std::size_t>(plane.pitch());
    double sum = 2 * weights[0] * field[at];
    for (std::size_t k = 1; k <= radius; ++k) {
      sum += weights[k] * (double(field[at - k]) + field[at + k] + field[at - k * pitch] +
                           field[at + k * pitch]);
    }
    return sum;
  }
  /// The kernel's step in double.
  void step(const std::vector<double>& now, std::vector<double>* other, float source) const {
    for_points([&](int, int, std::size_t at) {
      const double own =
          2 * now[at] - factor[at] * (*other)[at] + double(C2[at]) * star_at(now, at);
      (*other)[at] = factor[at] * own;
    });
    (*other)[static_cast<std::size_t>(plane.source())] += source;
  }
  /// Energy of a wave between two steps: of motion, the change per step divided by C, squared; and
  /// of tension, - now star(before), because the star is minus the square of a derivative. Without
  /// rounding, fixed edges would keep their sum.
  double energy(const std::vector<float>& now, const std::vector<float>& before) const {
    double sum = 0;
    for_points([&](int, int, std::size_t at) {
      const double change = double(now[at]) - before[at];
      sum += 0.5 * (change * change / C2[at] - now[at] * star_at(before, at));
    });
    return sum;
  }
  /// Zero is gray; `white` and above are white, -`white` and below are black.
  void write_still(const std::string& file, const std::vector<float>& field) const {
    course::Image image = {plane.cols, plane.rows, 1, 255, {}};
    for_points([&](int, int, std::size_t at) {
      const float share = std::clamp(field[at] / white, -1.0f, 1.0f);
      image.samples.push_back(static_cast<std::uint16_t>(std::lround(128 + 127 * share)));
    });
    course::write_pnm(file, image);
  }
};

/// The largest |a - b| as a share of the largest |b|.
double largest_difference(const std::vector<float>& a, const std::vector<double>& b) {
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(b[i]));
    const double own = std::abs(a[i] - b[i]);
    if (!(own <= difference)) difference = own;  // NaN stays
  }
  return difference / largest;
}

struct Run {
  std::vector<double> energies;  // after each `every` steps, as a share of the first
  double difference = 0;         // the largest from the host's wave at these steps
};

/// All steps of a wave, and of the host's.
Run run(const Plane& plane, bool absorbing, const std::string& folder) {
  const Medium medium(plane, absorbing);
  Star star;
  for (int k = 0; k <= radius; ++k) star.at[k] = static_cast<float>(weights[k]);
  const std::size_t bytes = plane.points() * sizeof(float);
  float *now = nullptr, *other = nullptr, *C2 = nullptr, *factor = nullptr;
  for (float** const memory : {&now, &other, &C2, &factor}) {
    CHECK(cudaMalloc(memory, bytes));
    CHECK(cudaMemset(*memory, 0, bytes));
  }
  CHECK(cudaMemcpy(C2, medium.C2.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(factor, medium.factor.data(), bytes, cudaMemcpyHostToDevice));

  const dim3 block(block_cols, block_rows);
  const dim3 grid(static_cast<unsigned>((plane.cols + block_cols - 1) / block_cols),
                  static_cast<unsigned>((plane.rows + block_rows - 1) / block_rows));
  std::vector<float> field(plane.points()), before(plane.points());
  std::vector<double> host_now(plane.points()), host_other(plane.points());
  Run result;
  double first = 0;
  for (int step = 1; step <= plane.steps(); ++step) {
    const float source = source_at(step - 1);
    step_wave<<<grid, block>>>(now, other, C2, factor, star, source, plane);
    CHECK(cudaGetLastError());
    std::swap(now, other);
    medium.step(host_now, &host_other, source);
    host_now.swap(host_other);
    const bool still = !folder.empty() && step % still_every == 0, measured = step % every == 0;
    if (still || measured) {
      CHECK(cudaMemcpy(field.data(), now, bytes, cudaMemcpyDeviceToHost));
    }
    if (still) {
      char name[32];
      std::snprintf(name, sizeof name, "/%s_%04d.pgm", absorbing ? "absorbing" : "fixed", step);
      medium.write_still(folder + name, field);
    }
    if (measured) {
      CHECK(cudaMemcpy(before.data(), other, bytes, cudaMemcpyDeviceToHost));
      const double own = largest_difference(field, host_now);
      if (!(own <= result.difference)) result.difference = own;
      const double left = medium.energy(field, before);
      if (step == every) first = left;
      result.energies.push_back(left / first);
    }
  }
  for (float* const memory : {now, other, C2, factor}) CHECK(cudaFree(memory));
  return result;
}

int wave(const std::string& folder) {
  const Plane plane = folder.empty() ? small : large;
  const Run fixed = run(plane, false, folder), absorbing = run(plane, true, folder);
  std::printf("%d x %d points, %d steps, order 8. The source is silent after %d steps.\n",
              plane.rows, plane.cols, plane.steps(), quiet);
  std::printf("Energy in the plane, as a share of that after %d steps:\n\n", every);
  std::printf("  step   fixed edges   absorbing edges\n");
  bool right = true;
  for (std::size_t i = 0; i < fixed.energies.size(); ++i) {
    std::printf("%6d %11.3f %% %15.3f %%\n", every * static_cast<int>(i + 1),
                100 * fixed.energies[i], 100 * absorbing.energies[i]);
    right = right && std::abs(fixed.energies[i] - 1) <= keeps;
  }
  std::printf("\nlargest difference from the host's wave, as a share of its largest value: %.0e\n",
              std::max(fixed.difference, absorbing.difference));
  std::printf("(allowed: %.0e)\n", allowed);
  if (!folder.empty()) {
    std::printf("written to %s: fixed_NNNN.pgm and absorbing_NNNN.pgm, every %d steps\n",
                folder.c_str(), still_every);
  }
  right = right && 1 - absorbing.energies.back() >= absorbs && fixed.difference <= allowed &&
          absorbing.difference <= allowed;
  if (!right) std::printf("WRONG: another wave than the host's, or another energy\n");
  return right ? 0 : 1;
}

int main(int argc, char** argv) {
  const bool option = argc > 1 && argv[1][0] == '-';
  if (argc > 2 || option) {
    std::fprintf(stderr, "wave: bad argument '%s'; usage: wave [FOLDER]\n", argv[option ? 1 : 2]);
    return 2;
  }
  const std::string folder = argc > 1 ? argv[1] : "";
  return course::run_reporting_errors("wave", [&] { return wave(folder); });
}
