// Study: the transpose without the TMA, chapter 03's record: threads load 16 bytes each, with the
//   cache hint of 11, into a tile that they swizzle themselves. Small matrices stream through the
//   cache; the launch gets ready while the one before it still runs.
// Predicts: as fast as 14: both wait for the memory.
#include <cuda_runtime.h>

#include <cstdint>

namespace by_threads_study {

constexpr int tile_cols = 64;
constexpr int across = tile_cols / 4;                          // groups of four columns
constexpr std::int64_t small_bytes = std::int64_t{256} << 20;  // read and written

/// What the L2 cache should do with a line.
enum class Cache { stream, keep_input };

/// Loads 16 bytes. PTX ISA, "ld" and "createpolicy".
template <Cache cache>
__device__ float4 load(const float4* from) {
#ifdef SIMT
  return *from;
#else
  if (cache == Cache::stream) return __ldcs(from);
  std::uint64_t policy;
  float4 v;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("ld.global.L1::no_allocate.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(from), "l"(policy)
               : "memory");
  return v;
#endif
}

template <Cache cache>
__device__ void store(float4* to, float4 v) {
  if (cache == Cache::stream) {
    __stcs(to, v);
  } else {
    *to = v;
  }
}

/// Where group g of the tile's column c lies in its row of shared memory.
__device__ int place(int c, int g) { return g ^ (c / 4 % 8); }

/// out = in transposed, a tile of tile_rows x 64 per block. in: rows x cols, out: cols x rows, both
/// row by row and aligned to 16 bytes; rows and cols are multiples of four.
template <int tile_rows, Cache cache>
__global__ void __launch_bounds__(tile_rows / 4 * across)
    transpose_groups(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  constexpr int down = tile_rows / 4, block_size = down * across;
  __shared__ float4 s[tile_cols][down];  // the transposed tile: s[column][group of rows]
  const int t = static_cast<int>(threadIdx.x);
  const std::int64_t tiles_down = (rows + tile_rows - 1) / tile_rows;
  const std::int64_t row = blockIdx.x % tiles_down * tile_rows;
  const std::int64_t col = blockIdx.x / tiles_down * tile_cols;
  cudaTriggerProgrammaticLaunchCompletion();  // the next kernel may get ready
  cudaGridDependencySynchronize();            // the kernel before is complete
  const int x = t % across, y = t / across;
  if (row + 4 * y < rows && col + 4 * x < cols) {
    float4 v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      v[k] =
          load<cache>(reinterpret_cast<const float4*>(in + (row + 4 * y + k) * cols + col + 4 * x));
    }
    s[4 * x + 0][place(4 * x, y)] = make_float4(v[0].x, v[1].x, v[2].x, v[3].x);
    s[4 * x + 1][place(4 * x, y)] = make_float4(v[0].y, v[1].y, v[2].y, v[3].y);
    s[4 * x + 2][place(4 * x, y)] = make_float4(v[0].z, v[1].z, v[2].z, v[3].z);
    s[4 * x + 3][place(4 * x, y)] = make_float4(v[0].w, v[1].w, v[2].w, v[3].w);
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < tile_cols * down; k += block_size) {
    const int c = (t + k) / down, g = (t + k) % down;
    if (col + c < cols && row + 4 * g < rows) {
      store<cache>(reinterpret_cast<float4*>(out + (col + c) * rows + row + 4 * g),
                   s[c][place(c, g)]);
    }
  }
}

template <int tile_rows, Cache cache>
cudaError_t launch(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                   cudaStream_t stream) {
  const std::int64_t tiles_down = (rows + tile_rows - 1) / tile_rows;
  const std::int64_t tiles_across = (cols + tile_cols - 1) / tile_cols;
  if (tiles_down == 0 || tiles_across == 0) return cudaSuccess;
  if (tiles_across > INT32_MAX / tiles_down) return cudaErrorInvalidValue;
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(tiles_down * tiles_across));
  config.blockDim = dim3(tile_rows / 4 * across);
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, transpose_groups<tile_rows, cache>, in, out, rows, cols);
}

/// True if a float4 may lie there.
bool aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % alignof(float4) == 0; }

/// Transposes rows x cols floats. Device pointers, aligned to 16 bytes; in and out may not overlap.
/// \returns cudaErrorInvalidValue for other pointers, if rows or cols is no multiple of four, for a
/// negative size or more tiles than a grid has blocks; or the error of the launch.
cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  if (rows < 0 || cols < 0 || rows % 4 != 0 || cols % 4 != 0) return cudaErrorInvalidValue;
  if (!aligned(in) || !aligned(out)) return cudaErrorInvalidValue;
  return rows == 0 || cols <= small_bytes / 8 / rows
             ? launch<64, Cache::stream>(in, out, rows, cols, stream)
             : launch<128, Cache::keep_input>(in, out, rows, cols, stream);
}

}  // namespace by_threads_study
