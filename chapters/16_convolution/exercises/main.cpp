// The program behind an exercise: one file of yours, next to the version that it has to match or to
// beat. Passed means: right on every size below, and, where the exercise asks for it, fast enough:
// by its rate on a GPU, by what is counted on the CPU backend.
#include <cmath>

#include "chapter/rows.hpp"
#include "convolution.hpp"
#include "exercise/exercise.hpp"

COURSE_LAUNCHERS(ConvolveFromMemory, (convolve), exercise);
COURSE_LAUNCHERS(Convolve, (convolve), exercise);
COURSE_LAUNCHERS(ConvolveSeparable, (convolve), exercise);

using ConvolveBy = cudaError_t(const float* image, const float* coefficients, const Filter& filter,
                               float* out, std::int64_t rows, std::int64_t cols, std::int64_t width,
                               std::int64_t rule, cudaStream_t stream);
COURSE_LAUNCHERS(ConvolveBy, (convolve_by), exercise);

using Smooth = cudaError_t(const float* image, float* out, std::int64_t rows, std::int64_t cols,
                           std::int64_t width, std::int64_t rule, float s, float t,
                           cudaStream_t stream);
COURSE_LAUNCHERS(Smooth, (smooth), exercise);

namespace {

using namespace course;

/// Every border, sizes that divide nothing, images smaller than the filter; then one of `width`
/// whose requests are counted: a multiple of most tiles.
std::vector<Size> sizes_up_to(std::int64_t width) {
  return {image_size(32, 64, 5, by_zero),     image_size(32, 64, 5, by_clamp),
          image_size(32, 64, 5, by_reflect),  image_size(1, 1, 3, by_reflect),
          image_size(2, 3, 31, by_clamp),     image_size(3, 2, 9, by_reflect),
          image_size(1, 259, 7, by_zero),     image_size(133, 1, 7, by_clamp),
          image_size(0, 5, 3, by_zero),       image_size(5, 0, 3, by_clamp),
          image_size(67, 131, 5, by_clamp),   image_size(37, 70, 9, by_reflect),
          image_size(65, 33, 1, by_zero),     image_size(20, 40, 17, by_zero),
          image_size(16, 40, 31, by_reflect), image_size(64, 128, width, by_clamp)};
}

/// The weighted mean of a window. Weights fall with the distance and with the difference.
class Bilateral : public Convolution {
 public:
  using Convolution::Convolution;
  const void* object() const override { return nullptr; }
  std::vector<Array> inputs() const override { return {{"image", pixels(), Type::f32, seed()}}; }
  /// s, in pixels, and t: numbers that a float holds exactly.
  double scalar(int k) const override {
    return k == 0 ? static_cast<double>(width()) / 4 : largest() / 2;
  }
  /// With u = 2^-24, half a unit in the last place: an exponent e is off by up to 8 roundings, 8 u
  /// e, and the exponential function by 4 u, or 4 u + 2.4 u e for __expf(). So a weight exp(-e) is
  /// off by less than (4 + 11 e) exp(-e) u, which is at most 8.1 u, since e exp(-e) < 0.37. A
  /// weight multiplies the difference of a pixel and the mean, at most 2 largest(); the sum of the
  /// weights is at least 1, that of the pixel itself. For each pixel of the window that makes 16.2
  /// u largest(), and its additions to both sums make 2 more: below 20 u, 10 epsilon.
  Tolerance tolerance(int) const override {
    const double epsilon = std::numeric_limits<float>::epsilon();
    return {10 * epsilon * static_cast<double>(taps()) * largest(), 0, false};
  }

 protected:
  double result(std::int64_t y, std::int64_t x) const override {
    const std::int64_t radius = width() / 2;
    const double own = pixel(y, x), s = scalar(0), t = scalar(1);
    double sum = 0, weights = 0;
    for (std::int64_t dy = -radius; dy <= radius; ++dy) {
      for (std::int64_t dx = -radius; dx <= radius; ++dx) {
        const double p = pixel(y + dy, x + dx);
        const double weight = std::exp(-static_cast<double>(dx * dx + dy * dy) / (2 * s * s)) *
                              std::exp(-(p - own) * (p - own) / (2 * t * t));
        sum += weight * p;
        weights += weight;
      }
    }
    return sum / weights;
  }

 private:
  /// In magnitude, of all pixels.
  double largest() const { return input() == Input::integers ? 7 : 1; }
};

}  // namespace

int main(int argc, char** argv) {
  Exercise exercise;
  exercise.chapter = "16_convolution";
  // sectors, wavefronts and requests in turn
  exercise.solutions = {{150016, 0, 102},    {381952, 0, 155},    {16192, 176640, 354},
                        {11872, 20736, 188}, {12472, 62160, 344}, {14464, 87040, 178}};
  exercise.make = make_problem<Convolution>();
  const std::int64_t width[] = {5, 9, 13, 9, 31, 9};  // of what is counted
  const std::int64_t counted = width[exercise.number - 1];
  exercise.test_sizes = sizes_up_to(counted);
  // So large that one block takes more requests in turn than a grid, even if it takes few.
  exercise.counted = image_size(128, exercise.number == 5 ? 192 : 256, counted, by_clamp);
  if (exercise.number == 1) {
    exercise.yours =
        row("yours", "your version", static_cast<ConvolveFromMemory*>(exercise::convolve));
    exercise.room.in_turn = 2;
  } else if (exercise.number == 2) {
    exercise.yours = row("yours", "your version", exercise::convolve_by);
    exercise.untimed = "requests to global memory";
    // A pixel of the image for each of 81 multiplications. Coefficients that are loaded by four, or
    // for eight pixels, take 20 and 10 more.
    exercise.most.load_requests = 1.05 * 81;
    exercise.room.in_turn = 2.7;  // coefficients in shared memory are read 81 times as well
  } else if (exercise.number == 3) {
    exercise.yours = row("yours", "your version", static_cast<Convolve*>(exercise::convolve));
    exercise.untimed = "bytes of shared memory";
    // 32 x 16 pixels take 44 x 28 floats, 4928 bytes. Blocks of 32 x 32 take 7744; of 32 x 8 with
    // room for the largest filter, 9576. With twice the width more than the block: 9744.
    exercise.most.shared_bytes = 9600;
    exercise.room.wavefronts = 2.2;  // in rows of 16 pixels the halves of a warp may conflict
    exercise.room.in_turn = 2;
  } else if (exercise.number == 4) {
    exercise.yours = row("yours", "your version", static_cast<Convolve*>(exercise::convolve));
    exercise.untimed = "wavefronts of shared memory";
    // Version 03 reads 81 pixels for 81 multiplications, a wavefront each. Two pixels of a column
    // take 9 + 1 reads for 2 x 9 multiplications: 0.556; three 0.407, four 0.333, eight 0.222.
    exercise.most.read_wavefronts_per_multiply = 0.4;
    exercise.most.read_wavefronts = 1.5;
    exercise.room.sectors = exercise.room.wavefronts = 2;  // small tiles, four pixels per thread
    exercise.room.in_turn = 3;
  } else if (exercise.number == 5) {
    exercise.make = make_problem<SeparableConvolution>();
    exercise.yours =
        row("yours", "your version", static_cast<ConvolveSeparable*>(exercise::convolve));
    exercise.untimed = "wavefronts of shared memory";
    // The problem has 2 x 31 multiplications per pixel. In a tile of h rows, h + 30 rows take 31
    // reads per pixel, and results 31 more: 1.94 per multiplication for h = 16, 1.47 for 32, 1.23
    // for 64. With all 31 x 31 products: 15.5; 8 pixels per thread: 2.38; 16: 1.44, but too many
    // in turn.
    exercise.most.read_wavefronts_per_multiply = 1.5;
    exercise.room.sectors = 2.5;  // smaller tiles load more halo
    // All products take 4.2 times as many, but their wavefronts say more. One block: 6 times.
    exercise.room.in_turn = 4.25;
  } else {
    exercise.make = make_problem<Bilateral>();
    exercise.yours = row("yours", "your version", exercise::smooth);
    exercise.untimed = "loads from global memory";
    // A block of 32 x 16 pixels loads 24 rows of 40 pixels by two requests each: 3 for 32 results.
    // Other tiles take up to three times as many. From global memory: 81.
    exercise.most.load_requests = 10;
    exercise.room.sectors = 2.5;
    exercise.room.wavefronts = 2.2;  // rows of 16 pixels; a table of weights
    exercise.room.in_turn = 2.5;
  }
  return run_exercise(argc, argv, exercise);
}
