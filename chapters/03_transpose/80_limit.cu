// The record, after the readable ladder ended: 09 with one thing more. Needs compute capability
//   9.0.
// Idea: of large matrices, as in chapter 01, the loads ask the L2 cache to keep their lines; what
//   it evicts instead are the results, which leave for the memory sooner. Small ones: as 09.
// Predicts: one or two percent, for large matrices.
#include <cuda_runtime.h>

#include <cstdint>

namespace limit {

constexpr int tile_cols = 64;
constexpr int across = tile_cols / 4;                          // groups of four columns
constexpr std::int64_t small_bytes = std::int64_t{256} << 20;  // read and written

/// Loads 16 bytes; with keep_input, the L2 cache is asked to keep them. PTX ISA, "ld" and
/// "createpolicy".
template <bool keep_input>
__device__ float4 load(const float4* from) {
#ifdef SIMT
  return *from;
#else
  if (!keep_input) return *from;
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

/// Where group g of the tile's column c lies in its row of shared memory, as in 09.
__device__ int place(int c, int g) { return g ^ (c / 4 % 8); }

/// out = in transposed, a tile of tile_rows x 64 per block. in: rows x cols, out: cols x rows, both
/// row by row and aligned to 16 bytes; rows and cols are multiples of four.
template <int tile_rows, bool keep_input>
__global__ void __launch_bounds__(tile_rows / 4 * across)
    transpose_groups(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  constexpr int down = tile_rows / 4, block_size = down * across;
  __shared__ float4 s[tile_cols][down];  // the transposed tile: s[column][group of rows]
  const int t = static_cast<int>(threadIdx.x);
  const std::int64_t tiles_down = (rows + tile_rows - 1) / tile_rows;
  const std::int64_t row = blockIdx.x % tiles_down * tile_rows;
  const std::int64_t col = blockIdx.x / tiles_down * tile_cols;
  const int x = t % across, y = t / across;
  if (row + 4 * y < rows && col + 4 * x < cols) {
    float4 v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      v[k] = load<keep_input>(
          reinterpret_cast<const float4*>(in + (row + 4 * y + k) * cols + col + 4 * x));
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
      *reinterpret_cast<float4*>(out + (col + c) * rows + row + 4 * g) = s[c][place(c, g)];
    }
  }
}

template <int tile_rows, bool keep_input>
cudaError_t launch(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                   cudaStream_t stream) {
  const std::int64_t tiles_down = (rows + tile_rows - 1) / tile_rows;
  const std::int64_t tiles_across = (cols + tile_cols - 1) / tile_cols;
  if (tiles_down == 0 || tiles_across == 0) return cudaSuccess;
  if (tiles_across > INT32_MAX / tiles_down) return cudaErrorInvalidValue;
  transpose_groups<tile_rows, keep_input>
      <<<static_cast<unsigned>(tiles_down * tiles_across), tile_rows / 4 * across, 0, stream>>>(
          in, out, rows, cols);
  return cudaGetLastError();
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
             ? launch<64, false>(in, out, rows, cols, stream)
             : launch<128, true>(in, out, rows, cols, stream);
}

}  // namespace limit
