// Idea: the two warpgroups take turns. Each has a tile of 128 x 128 of its own; while one
//   multiplies, the other lays down and stores. Who has begun its last products says so, and the
//   other begins.
// Predicts: the tensor cores always have products. But tiles are half as large, so 48 bytes per
//   clock and SM come from the L2 cache instead of 32.
// Still wrong: the last round. Some clusters have no tile in it.
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cuda/ptx>

#include "box_map.hpp"
#include "fragments.cuh"
#include "operands.hpp"
#include "ptx.cuh"

namespace take_turns {

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using operands::Product;

constexpr int tile_m = 128, tile_n = 128;
constexpr int consumers = 2;                       // warpgroups, each takes every other tile
constexpr int block_size = 128 * (1 + consumers);  // a warpgroup that orders copies comes first
constexpr int stages = 6;
constexpr int cluster_size = 2;  // blocks whose tiles lie below each other
constexpr int band = 8;          // rows of clusters
constexpr int row_bytes = box_map::row_bytes;
constexpr int a_bytes = tile_m * row_bytes, b_bytes = tile_n * row_bytes;
constexpr int stage_bytes = a_bytes + b_bytes;
constexpr int rows_64 = 64 * row_bytes / 16;  // as a matrix's address counts
constexpr int box_bytes = 16 * row_bytes;     // of C; a warp has two, which leave in turn
constexpr int shared_bytes = 1024 + stages * stage_bytes + consumers * 4 * 2 * box_bytes;

/// A place in the ring, and the parity of the phase in which it is filled.
struct Stage {
  int index = 0;
  unsigned parity = 0;
  __device__ void next() {
    if (++index == stages) index = 0, parity ^= 1;
  }
  __device__ void skip(int count) {
    const int sum = index + count;
    index = sum % stages;
    parity ^= sum / stages & 1;
  }
};

/// Where the tiles of cluster t of `down` x `across` lie: column after column in a band of rows.
struct Place {
  int row, col;
};
__device__ Place place_of(int t, int down, int across) {
  const int first = t / (band * across) * band, in_band = t % (band * across);
  const int rows = min(band, down - first);
  return {first + in_band % rows, in_band / rows};
}

/// C = alpha A B^T + beta C, in `steps` times 128 bytes of each row of A and B. A cluster
/// takes one of down x across pairs of tiles, then another.
template <class T>
__global__ void __launch_bounds__(block_size, 1)
    multiply_tiles(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                   const __grid_constant__ CUtensorMap out, Result<T> c, int steps, int down,
                   int across) {
  constexpr int step = row_bytes / sizeof(T);
  extern __shared__ char unaligned[];
  __shared__ std::uint64_t full[stages], empty[stages], turn[consumers];
  char* const shared = aligned_to_1024(unaligned);
  const int pairs = down * across, first = static_cast<int>(blockIdx.x) / cluster_size;
  const int clusters = static_cast<int>(gridDim.x) / cluster_size;
  const cg::cluster_group cluster = cg::this_cluster();
  const int rank = static_cast<int>(cluster.block_rank());
  // The same in all lanes, and by the shuffle the compiler knows it: what follows from it then
  // takes one register of the warp instead of one per thread.
  const int group = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 128, 0);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      ptx::mbarrier_init(&full[s], 1);                  // the copies' bytes, and who orders them
      ptx::mbarrier_init(&empty[s], 4 * cluster_size);  // a warpgroup of each block
    }
    for (std::uint64_t& each : turn) ptx::mbarrier_init(&each, 4);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  cluster.sync();  // nobody reaches for a barrier before it is initialised
  Stage stage;
  if (group == 0) {
    fewer_registers<40>();
    if (threadIdx.x == 0) {
      for (int t = first; t < pairs; t += clusters) {
        const Place at = place_of(t, down, across);
        const int row = (at.row * cluster_size + rank) * tile_m;
        constexpr int half = tile_n / cluster_size;
        for (int i = 0; i < steps; ++i, stage.next()) {
          wait(&empty[stage.index], stage.parity ^ 1);  // the first time at once
          char* const a_tile = shared + stage.index * stage_bytes;
          std::uint64_t* const barrier = &full[stage.index];
          ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                         barrier, stage_bytes);
          load_box(a_tile, &a, i * step, row, barrier);
          load_box_to_all(a_tile + a_bytes + rank * half * row_bytes, &b, i * step,
                          at.col * tile_n + rank * half, barrier, (1 << cluster_size) - 1);
        }
      }
    }
  } else {
    more_registers<232>();
    const int warp = static_cast<int>(threadIdx.x) / 32 - 4;
    const bool rest = c.in_groups() < c.cols;  // columns that the TMA may not store
    char* const boxes = shared + stages * stage_bytes + warp * 2 * box_bytes;
    // Both blocks write to a stage: both must know that this warp has done with it.
    const auto release = [&](int index) {
      if (lane < cluster_size) arrive_at(&empty[index], static_cast<unsigned>(lane));
    };
    const int own = group - 1, other = 1 - own;
    if (own == 1) stage.skip(steps);  // the first tile is the other's
    unsigned turns = 0;
    for (int t = first + own * clusters; t < pairs; t += consumers * clusters, ++turns) {
      const Place at = place_of(t, down, across);
      const int row = (at.row * cluster_size + rank) * tile_m + warp % 4 * 16;
      float d[tile_m / 64][tile_n / 2] = {};
      // A stage's parity says which of two phases: so nobody may be a phase ahead.
      if (own == 1 || turns > 0) wait(&turn[own], (turns - (own == 0)) & 1);
      for (int i = 0, before = 0; i < steps; ++i, before = stage.index, stage.next()) {
        wait(&full[stage.index], stage.parity);
        const std::uint64_t left = matrix_at(shared + stage.index * stage_bytes);
        const std::uint64_t right = matrix_at(shared + stage.index * stage_bytes + a_bytes);
        wgmma_fence();
        // All parts of one half first: they add to the same sums.
#pragma unroll
        for (int half = 0; half < tile_m / 64; ++half) {
#pragma unroll
          for (int part = 0; part < 4; ++part) {  // 32 bytes of each row
            wgmma<T, tile_n>(d[half], left + 2 * part + rows_64 * half, right + 2 * part);
          }
        }
        wgmma_commit();
        if (i == steps - 1 && lane == 0) ptx::mbarrier_arrive(&turn[other]);
        wgmma_wait<1>();  // those of the stage before
        if (i > 0) release(before);
      }
      wgmma_wait<0>();
      if (steps > 0) {
        release((stage.index + stages - 1) % stages);
      } else if (lane == 0) {
        ptx::mbarrier_arrive(&turn[other]);
      }
      stage.skip(steps);
      constexpr int box_cols = row_bytes / sizeof(T);
#pragma unroll
      for (int i = 0; i < tile_m / 64 * (tile_n / box_cols); ++i) {
        const int half = i / (tile_n / box_cols), col = i % (tile_n / box_cols) * box_cols;
        char* const box = boxes + i % 2 * box_bytes;
        if (lane == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>());
        __syncwarp();  // the box is free
        c.template lay_down<box_cols>(box, d[half] + col / 2, row + 64 * half,
                                      at.col * tile_n + col);
        ptx::fence_proxy_async(ptx::space_shared);
        __syncwarp();  // all of it is laid down
        if (lane == 0) {
          if (at.col * tile_n + col < c.in_groups()) {
            store_box(&out, at.col * tile_n + col, row + 64 * half, box);
          }
          ptx::cp_async_bulk_commit_group();
        }
        if (rest) c.template store_rest<box_cols>(box, row + 64 * half, at.col * tile_n + col);
      }
    }
    if (lane == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
  cluster.sync();  // nobody leaves whose barriers the other block may still reach for
}

template <class T>
cudaError_t run(Product<T> of, cudaStream_t stream) {
  if (!operands::valid(of)) return cudaErrorInvalidValue;
  if (of.m == 0 || of.n == 0) return cudaSuccess;
  of = operands::needed(of);
  constexpr std::int64_t rows = tile_m * cluster_size;
  const std::int64_t down = (of.m + rows - 1) / rows, across = (of.n + tile_n - 1) / tile_n;
  if (down > INT32_MAX / across) return cudaErrorInvalidValue;
  CUtensorMap a, b, out;
  if (cudaError_t error = box_map::make(&a, of.a, of.m, of.k, of.lda, tile_m)) return error;
  if (cudaError_t error = box_map::make(&b, of.b, of.n, of.k, of.ldb, tile_n / cluster_size)) {
    return error;
  }
  const Result<T> c = result_of(of);
  if (cudaError_t error = box_map::make(&out, of.c, of.m, c.in_groups(), of.ldc, 16)) return error;
  if (cudaError_t error = cudaFuncSetAttribute(
          multiply_tiles<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes)) {
    return error;
  }
  int device = 0, sms = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device)) {
    return error;
  }
  constexpr int step = row_bytes / sizeof(T);
  cudaLaunchAttribute shape = {};
  shape.id = cudaLaunchAttributeClusterDimension;
  shape.val.clusterDim.x = cluster_size;
  shape.val.clusterDim.y = shape.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  const std::int64_t clusters =
      std::min<std::int64_t>(down * across, std::max(sms / cluster_size, 1));
  config.gridDim = static_cast<unsigned>(clusters * cluster_size);
  config.blockDim = block_size;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &shape;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, multiply_tiles<T>, a, b, out, c,
                            static_cast<int>((of.k + step - 1) / step), static_cast<int>(down),
                            static_cast<int>(across));
}

/// C = alpha A B^T + beta C. \returns cudaErrorInvalidValue for what operands::valid() refuses and
/// for more than 2^31 - 1 pairs of tiles; or an error of CUDA.
cudaError_t multiply(const Product<__nv_bfloat16>& of, cudaStream_t stream) {
  return run(of, stream);
}
/// The same of floats, of which the 10 highest bits of the fraction take part (tf32).
cudaError_t multiply(const Product<float>& of, cudaStream_t stream) { return run(of, stream); }

}  // namespace take_turns
