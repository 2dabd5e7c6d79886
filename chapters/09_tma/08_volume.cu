// Idea: three axes, and a margin on all sides, by one order. The box begins one plane, one row and
//   four floats before the tile; at the edges of the volume the TMA fills in zeros.
// Predicts: as in 04, a copy's limit, if neighbours' margins come from the L2 cache: a box of 10 x
//   10 x 72 floats brings 8 x 8 x 64 results, 1.8 times as much.
// Still wrong: just that; larger boxes waste less and leave fewer blocks per SM.
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

#include "tensor_map.hpp"

namespace volume {

namespace ptx = cuda::ptx;

constexpr int tile_x = 64, tile_y = 8, tile_z = 8;
constexpr int margin_x = 4;  // a box begins at a multiple of 16 bytes
constexpr int box_x = tile_x + 2 * margin_x, box_y = tile_y + 2, box_z = tile_z + 2;
constexpr int box_bytes = box_z * box_y * box_x * static_cast<int>(sizeof(float));
constexpr int block_size = tile_x * tile_y;

/// out = the sum of an element and its six neighbours. A block per tile, a thread per column of it.
__global__ void __launch_bounds__(block_size)
    add_neighbours(const __grid_constant__ CUtensorMap in, float* out, int nz, int ny, int nx,
                   int tiles_x, int tiles_y) {
  __shared__ alignas(128) float s[box_z][box_y][box_x];
  __shared__ std::uint64_t there;
  const int t = static_cast<int>(threadIdx.x), block = static_cast<int>(blockIdx.x);
  const int x0 = block % tiles_x * tile_x, y0 = block / tiles_x % tiles_y * tile_y;
  const int z0 = block / tiles_x / tiles_y * tile_z;
  if (t == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    const std::int32_t at[] = {x0 - margin_x, y0 - 1, z0 - 1};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &in, at, &there);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                   box_bytes);
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  const int x = t % tile_x, y = t / tile_x;
  if (x0 + x >= nx || y0 + y >= ny) return;
  for (int z = 0; z < tile_z && z0 + z < nz; ++z) {
    const float* const middle = &s[z + 1][y + 1][x + margin_x];
    out[(std::int64_t{z0 + z} * ny + y0 + y) * nx + x0 + x] =
        middle[0] + middle[-1] + middle[1] + middle[-box_x] + middle[box_x] +
        middle[-box_y * box_x] + middle[box_y * box_x];
  }
}

/// out[z][y][x] = the sum of in[z][y][x] and its six neighbours along the axes, zero outside of the
/// volume of nz x ny x nx floats. Device pointers, multiples of 16 bytes; out must not overlap in.
/// \returns cudaErrorInvalidValue for a negative size or one beyond 2^30, nx no multiple of four,
/// other pointers, or more tiles than 2^31 - 1; or an error of CUDA.
cudaError_t sum_neighbours(const float* in, float* out, std::int64_t nz, std::int64_t ny,
                           std::int64_t nx, cudaStream_t stream) {
  for (const std::int64_t size : {nz, ny, nx}) {
    if (size < 0 || size > 1 << 30) return cudaErrorInvalidValue;
  }
  if (nz == 0 || ny == 0 || nx == 0) return cudaSuccess;
  tensor_map::Description d;
  d.address = in;
  d.axes = 3;
  d.size[0] = static_cast<std::uint64_t>(nx), d.size[1] = static_cast<std::uint64_t>(ny);
  d.size[2] = static_cast<std::uint64_t>(nz);
  d.stride[0] = d.size[0] * sizeof(float), d.stride[1] = d.stride[0] * d.size[1];
  d.box[0] = box_x, d.box[1] = box_y, d.box[2] = box_z;
  CUtensorMap map;
  if (cudaError_t error = tensor_map::make(&map, d)) return error;
  const std::int64_t tiles_x = (nx + tile_x - 1) / tile_x, tiles_y = (ny + tile_y - 1) / tile_y;
  const std::int64_t tiles_z = (nz + tile_z - 1) / tile_z;
  if (tiles_x * tiles_y > INT32_MAX / tiles_z) return cudaErrorInvalidValue;
  add_neighbours<<<static_cast<unsigned>(tiles_x * tiles_y * tiles_z), block_size, 0, stream>>>(
      map, out, static_cast<int>(nz), static_cast<int>(ny), static_cast<int>(nx),
      static_cast<int>(tiles_x), static_cast<int>(tiles_y));
  return cudaGetLastError();
}

}  // namespace volume
