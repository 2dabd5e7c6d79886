// The peer whose time does not depend on the width: a product of two Fourier transforms by cuFFT.
//   The image is extended by its border to a size that has only factors 2, 3, 5 and 7.
#include <cuda_runtime.h>
#include <cufft.h>

#include <cstdint>
#include <map>
#include <tuple>

#include "border.cuh"
#include "smooth.hpp"

namespace fft {

/// Transforms of real images of rows x cols to their spectra, in place, and back.
struct Plan {
  cufftHandle forward = 0, inverse = 0;
  std::size_t work_bytes = 0;
};

cufftResult make(Plan* plan, int rows, int cols) {
  std::size_t forward = 0, inverse = 0;
  for (cufftHandle* each : {&plan->forward, &plan->inverse}) {
    if (cufftResult result = cufftCreate(each)) return result;
    if (cufftResult result = cufftSetAutoAllocation(*each, 0)) return result;
  }
  if (cufftResult result = cufftMakePlan2d(plan->forward, rows, cols, CUFFT_R2C, &forward)) {
    return result;
  }
  if (cufftResult result = cufftMakePlan2d(plan->inverse, rows, cols, CUFFT_C2R, &inverse)) {
    return result;
  }
  plan->work_bytes = forward > inverse ? forward : inverse;
  return CUFFT_SUCCESS;
}

/// Pixel (y, x) of the extended image is pixel (y - radius, x - radius) of the image. A row has
/// `pitch` floats; cuFFT reads, but does not use, those that no pixel has.
__global__ void extend_image(const float* image, float* to, int rows, int cols, int radius,
                             int rule, int to_rows, int pitch) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= pitch || y >= to_rows) return;
  const bool is_used = y < rows + 2 * radius && x < cols + 2 * radius;
  to[std::int64_t{y} * pitch + x] =
      is_used ? border::pixel(image, rows, cols, y - radius, x - radius, rule) : 0;
}

__global__ void place_filter(const float* filter, float* to, int width, int to_rows, int pitch) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= pitch || y >= to_rows) return;
  to[std::int64_t{y} * pitch + x] = x < width && y < width ? filter[y * width + x] : 0;
}

/// spectrum times the conjugate of the filter's, which makes it a correlation.
__global__ void multiply(float2* spectrum, const float2* filter, float scale, std::int64_t n) {
  const std::int64_t k = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (k >= n) return;
  const float2 a = spectrum[k], b = filter[k];
  spectrum[k] = make_float2((a.x * b.x + a.y * b.y) * scale, (a.y * b.x - a.x * b.y) * scale);
}

__global__ void crop_image(const float* from, float* out, int rows, int cols, int pitch) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < cols && y < rows) out[std::int64_t{y} * cols + x] = from[std::int64_t{y} * pitch + x];
}

/// `spectrum`: that of the filter, or nullptr: it is computed from `filter`.
cudaError_t run(void* workspace, std::size_t& workspace_bytes, const float* image,
                const float* filter, const float* spectrum, float* out, std::int64_t rows,
                std::int64_t cols, std::int64_t width, std::int64_t rule, bool of_filter,
                cudaStream_t stream) {
  // Blocks of 8 rows, with room for the border and for smooth().
  if (!border::fit(rows, cols, width, rule, 7) || (cols > 0 && rows > INT32_MAX / 2 / cols)) {
    return cudaErrorInvalidValue;
  }
  if (rows == 0 || cols == 0) {
    if (workspace == nullptr) workspace_bytes = 1;
    return cudaSuccess;
  }
  static thread_local std::map<std::tuple<int, int, int>, Plan> plans;
  int device = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  const auto r = static_cast<int>(rows), c = static_cast<int>(cols), w = static_cast<int>(width);
  const auto to_rows = static_cast<int>(smooth(r + w - 1));
  const auto to_cols = static_cast<int>(smooth(c + w - 1));
  if (to_rows > INT32_MAX / to_cols) return cudaErrorInvalidValue;
  const int pitch = to_cols + 2;
  const auto key = std::make_tuple(device, to_rows, to_cols);
  if (plans.count(key) == 0) {
    Plan plan;
    if (make(&plan, to_rows, to_cols) != CUFFT_SUCCESS) return cudaErrorUnknown;
    plans[key] = plan;
  }
  const Plan& plan = plans[key];
  const std::size_t one =
      (sizeof(float) * static_cast<std::size_t>(to_rows) * static_cast<std::size_t>(pitch) + 255) /
      256 * 256;
  const std::size_t needed = one * (of_filter ? 2 : 1) + plan.work_bytes;
  if (workspace == nullptr) {
    workspace_bytes = needed;
    return cudaSuccess;
  }
  if (workspace_bytes < needed || reinterpret_cast<std::uintptr_t>(workspace) % 256 != 0) {
    return cudaErrorInvalidValue;
  }
  auto* const bytes = static_cast<char*>(workspace);
  auto* const extended = reinterpret_cast<float*>(bytes);
  auto* const second = reinterpret_cast<float*>(bytes + one);
  for (const cufftHandle each : {plan.forward, plan.inverse}) {
    if (cufftSetStream(each, stream) != CUFFT_SUCCESS ||
        cufftSetWorkArea(each, bytes + one * (of_filter ? 2 : 1)) != CUFFT_SUCCESS) {
      return cudaErrorUnknown;
    }
  }
  const dim3 block(32, 8), grid = border::grid(to_rows, pitch, 8, 32);
  extend_image<<<grid, block, 0, stream>>>(image, extended, r, c, w / 2, static_cast<int>(rule),
                                           to_rows, pitch);
  auto* const product = reinterpret_cast<cufftComplex*>(extended);
  if (cufftExecR2C(plan.forward, extended, product) != CUFFT_SUCCESS) return cudaErrorUnknown;
  if (of_filter) {
    place_filter<<<grid, block, 0, stream>>>(filter, second, w, to_rows, pitch);
    if (cufftExecR2C(plan.forward, second, reinterpret_cast<cufftComplex*>(second)) !=
        CUFFT_SUCCESS) {
      return cudaErrorUnknown;
    }
    spectrum = second;
  }
  const std::int64_t n = std::int64_t{to_rows} * (pitch / 2);
  const float scale = 1 / (static_cast<float>(to_rows) * static_cast<float>(to_cols));
  multiply<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(
      product, reinterpret_cast<const float2*>(spectrum), scale, n);
  if (cufftExecC2R(plan.inverse, product, extended) != CUFFT_SUCCESS) return cudaErrorUnknown;
  crop_image<<<border::grid(rows, cols, 8, 32), block, 0, stream>>>(extended, out, r, c, pitch);
  return cudaGetLastError();
}

/// out[y][x] = the sum of filter[i][j] image[y + i - radius][x + j - radius]. Device pointers. With
/// workspace == nullptr: only writes the bytes of scratch memory that it needs, and makes the plan.
/// \returns cudaErrorInvalidValue for a width that is even or not 1 to 31, rows above 458,745, an
/// image of 2^30 pixels or more, or of 2^31 when it is extended, another rule; cudaErrorUnknown if
/// cuFFT fails.
cudaError_t convolve(void* workspace, std::size_t& workspace_bytes, const float* image,
                     const float* filter, float* out, std::int64_t rows, std::int64_t cols,
                     std::int64_t width, std::int64_t rule, cudaStream_t stream) {
  return run(workspace, workspace_bytes, image, filter, nullptr, out, rows, cols, width, rule, true,
             stream);
}

/// The same with the spectrum of the filter, which a program computes once for many images: complex
/// numbers, smooth(rows + width - 1) rows of smooth(cols + width - 1) / 2 + 1, at a multiple of 8
/// bytes.
cudaError_t convolve_by_spectrum(void* workspace, std::size_t& workspace_bytes, const float* image,
                                 const float*, const float* spectrum, float* out, std::int64_t rows,
                                 std::int64_t cols, std::int64_t width, std::int64_t rule,
                                 cudaStream_t stream) {
  if (reinterpret_cast<std::uintptr_t>(spectrum) % 8 != 0) return cudaErrorInvalidValue;
  return run(workspace, workspace_bytes, image, nullptr, spectrum, out, rows, cols, width, rule,
             false, stream);
}

}  // namespace fft
