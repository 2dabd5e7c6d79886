// A pixel has eight fields; a kernel needs three of them. Where should the other five live?
// Array of structures: beside them, so a warp's 32 loads of one field touch 32 sectors of 32 bytes.
// Structure of arrays: elsewhere, so the same 32 loads touch four.
#include <cuda_runtime.h>

#include <cstdint>

namespace layout_study {

constexpr int block_size = 256;
constexpr int fields = 8;

struct Pixel {
  float red, green, blue, hue, saturation, maximum, minimum, result;
};
static_assert(sizeof(Pixel) == fields * sizeof(float), "a pixel fills one sector of 32 bytes");

__device__ float grey(float red, float green, float blue) {
  return 0.25f * red + 0.5f * green + 0.25f * blue;
}

__global__ void grey_from_structures(const Pixel* pixels, float* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  if (i < n) out[i] = grey(pixels[i].red, pixels[i].green, pixels[i].blue);
}

__global__ void grey_from_arrays(const float* red, const float* green, const float* blue,
                                 float* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  if (i < n) out[i] = grey(red[i], green[i], blue[i]);
}

/// in: n pixels one after the other. Device pointers. \returns cudaErrorInvalidValue for n < 0 or
/// for more blocks than a grid has, or the error of the launch.
cudaError_t array_of_structures(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const std::int64_t blocks = (n + block_size - 1) / block_size;
  if (n < 0 || blocks > INT32_MAX) return cudaErrorInvalidValue;
  grey_from_structures<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(
      reinterpret_cast<const Pixel*>(in), out, n);
  return cudaGetLastError();
}

/// in: n values of the first field, then n of the second, and so on. Device pointers. \returns
/// cudaErrorInvalidValue for n < 0 or for more blocks than a grid has, or the error of the launch.
cudaError_t structure_of_arrays(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const std::int64_t blocks = (n + block_size - 1) / block_size;
  if (n < 0 || blocks > INT32_MAX) return cudaErrorInvalidValue;
  grey_from_arrays<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(in, in + n, in + 2 * n,
                                                                             out, n);
  return cudaGetLastError();
}

}  // namespace layout_study
