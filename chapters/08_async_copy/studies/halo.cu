// Study: halo, centre and halo in conditional code, one element per thread, as a conference talk
//   has it: through registers; copied past them; in two stages, in three. 4 or 8 bytes each.
// Predicts: an SM's 2048 threads with 4 bytes each have 8 KiB on their way at most, a sixth of what
//   an H200 needs (chapter 01), and the first warp's three loads wait one for the other. Elements
//   of 8 bytes: twice as much on its way, so less to gain.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace halo_study {

constexpr int tiles_per_block = 8;  // neighbours; blocks that end keep the order of the array
constexpr int most = 1 << 30;       // elements: an int counts them, and a grid's worth beyond

/// Loads an element, or begins to copy it; zero outside of the array of n.
template <bool asynchronous, class T>
__device__ void copy_one(T* s, const T* in, int i, int n) {
  if (static_cast<unsigned>(i) >= static_cast<unsigned>(n)) {
    *s = 0;
  } else if (asynchronous) {
    __pipeline_memcpy_async(s, in + i, sizeof(T));
  } else {
    *s = in[i];
  }
}

/// Copies the elements from `first` on, one per thread, and one more on each side.
template <bool asynchronous, class T, int block_size>
__device__ void copy_tile(T* s, const T* in, int first, int n) {
  const int t = threadIdx.x;
  if (t == 0) copy_one<asynchronous>(&s[0], in, first - 1, n);
  copy_one<asynchronous>(&s[t + 1], in, first + t, n);
  if (t == 0) copy_one<asynchronous>(&s[block_size + 1], in, first + block_size, n);
}

/// out[i] = in[i - 1] + 2 in[i] + in[i + 1], tiles_per_block tiles per block of block_size threads.
/// stages = 0: through registers.
template <class T, int block_size, int stages>
__global__ void __launch_bounds__(block_size, 2048 / block_size)
    filter_tiles(const T* in, T* out, int n) {
  constexpr int buffers = stages == 0 ? 1 : stages;
  __shared__ T s[buffers][block_size + 2];
  const int t = threadIdx.x;
  const int begin = blockIdx.x * tiles_per_block * block_size;
  const int end =
      n - begin < tiles_per_block * block_size ? n : begin + tiles_per_block * block_size;
  int next = begin;  // the tile to copy
#pragma unroll
  for (int stage = 0; stage < buffers; ++stage, next += block_size) {
    if (next < end) copy_tile<(stages > 0), T, block_size>(s[stage], in, next, n);
    if (stages > 0) __pipeline_commit();
  }
  int stage = 0;
  for (int first = begin; first < end; first += block_size, next += block_size) {
    if (stages > 0) __pipeline_wait_prior(buffers - 1);
    __syncthreads();  // all of the tile is there
    const T sum = s[stage][t] + 2 * s[stage][t + 1] + s[stage][t + 2];
    if (first + t < end) out[first + t] = sum;
    __syncthreads();  // all have read it
    if (next < end) copy_tile<(stages > 0), T, block_size>(s[stage], in, next, n);
    if (stages > 0) __pipeline_commit();
    stage = stage + 1 == buffers ? 0 : stage + 1;
  }
}

template <class T, int block_size, int stages>
cudaError_t launch(const T* in, T* out, int n, cudaStream_t stream) {
  constexpr int per_block = tiles_per_block * block_size;
  const int blocks = n / per_block + (n % per_block != 0);
  filter_tiles<T, block_size, stages>
      <<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}

/// out[i] = in[i - 1] + 2 in[i] + in[i + 1]; in is zero outside of its n elements. n at most 2^30;
/// blocks of 256, 512 or 1024 threads. \returns cudaErrorInvalidValue for others, or the error of
/// the launch.
template <class T, int stages>
cudaError_t filter(const T* in, T* out, std::int64_t n, int block_size, cudaStream_t stream) {
  if (n < 0 || n > most) return cudaErrorInvalidValue;
  if (block_size != 256 && block_size != 512 && block_size != 1024) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  const int count = static_cast<int>(n);
  if (block_size == 256) return launch<T, 256, stages>(in, out, count, stream);
  if (block_size == 512) return launch<T, 512, stages>(in, out, count, stream);
  return launch<T, 1024, stages>(in, out, count, stream);
}

/// Through registers; one barrier when the tile is there, one when it has been read.
cudaError_t synchronous(const float* in, float* out, std::int64_t n, int block_size,
                        cudaStream_t stream) {
  return filter<float, 0>(in, out, n, block_size, stream);
}
cudaError_t synchronous(const double* in, double* out, std::int64_t n, int block_size,
                        cudaStream_t stream) {
  return filter<double, 0>(in, out, n, block_size, stream);
}
/// Copies past the registers, one buffer.
cudaError_t unstaged(const float* in, float* out, std::int64_t n, int block_size,
                     cudaStream_t stream) {
  return filter<float, 1>(in, out, n, block_size, stream);
}
cudaError_t unstaged(const double* in, double* out, std::int64_t n, int block_size,
                     cudaStream_t stream) {
  return filter<double, 1>(in, out, n, block_size, stream);
}
/// Two buffers.
cudaError_t two_stages(const float* in, float* out, std::int64_t n, int block_size,
                       cudaStream_t stream) {
  return filter<float, 2>(in, out, n, block_size, stream);
}
cudaError_t two_stages(const double* in, double* out, std::int64_t n, int block_size,
                       cudaStream_t stream) {
  return filter<double, 2>(in, out, n, block_size, stream);
}
/// Three.
cudaError_t three_stages(const float* in, float* out, std::int64_t n, int block_size,
                         cudaStream_t stream) {
  return filter<float, 3>(in, out, n, block_size, stream);
}
cudaError_t three_stages(const double* in, double* out, std::int64_t n, int block_size,
                         cudaStream_t stream) {
  return filter<double, 3>(in, out, n, block_size, stream);
}

}  // namespace halo_study
