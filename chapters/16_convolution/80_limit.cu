// Idea: for each width the kernel that fits. Up to width 5 version 07, whose limit is the bytes;
// from
//   7 on version 06, which keeps fewer rows in registers. A separable filter takes version 09; but
//   up to width 5 its product with 25 coefficients, because bytes limit both.
// Predicts: at each width the better of the two limits, less what a block waits.
// Calls 06_vectors.cu
// Calls 07_sliding.cu
// Calls 09_fused.cu
#include <cuda_runtime.h>

#include <cstdint>

#include "border.cuh"

namespace vectors {
cudaError_t convolve(const float* image, const Filter& filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule, cudaStream_t stream);
}
namespace sliding {
cudaError_t convolve(const float* image, const Filter& filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule, cudaStream_t stream);
}
namespace fused {
cudaError_t convolve(const float* image, const SeparableFilter& filter, float* out,
                     std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream);
}

namespace limit {

constexpr int small = 5;  // the widest filter that bytes limit

/// out[y][x] = the sum of filter[i][j] image[y + i - radius][x + j - radius], radius = width / 2,
/// all row by row. image and out: device pointers. rule: a border::Rule.
/// \returns cudaErrorInvalidValue for a width that is even or not 1 to 31, rows above 524,280, cols
/// above 2^31 - 4097, another rule; or the error of the launch.
cudaError_t convolve(const float* image, const Filter& filter, float* out, std::int64_t rows,
                     std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  // 07 reads other images pixel by pixel.
  const bool aligned = border::rows_are_aligned(image, cols) && border::rows_are_aligned(out, cols);
  return width <= small && aligned
             ? sliding::convolve(image, filter, out, rows, cols, width, rule, stream)
             : vectors::convolve(image, filter, out, rows, cols, width, rule, stream);
}

/// The same for filter[i][j] = column[i] row[j]. \returns as convolve().
cudaError_t convolve(const float* image, const SeparableFilter& filter, float* out,
                     std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t rule,
                     cudaStream_t stream) {
  if (width > small || width < 1) {
    return fused::convolve(image, filter, out, rows, cols, width, rule, stream);
  }
  Filter product;
  for (std::int64_t i = 0; i < width; ++i) {
    for (std::int64_t j = 0; j < width; ++j) {
      product.at[i * width + j] = filter.column[i] * filter.row[j];
    }
  }
  return convolve(image, product, out, rows, cols, width, rule, stream);
}

}  // namespace limit
