// Idea: few tiles are another problem. A block takes one tile and goes: no cluster, no turns, and
//   its first boxes are ordered before the block has met. The launcher takes this kernel, with
//   tiles of three sizes, or 10 or 11, whichever costs least.
// Predicts: small products begin as much earlier as a cluster and a meeting take; large ones run as
//   10 and 11 do.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cuda/ptx>
#include <iterator>
#include <type_traits>

#include "box_map.hpp"
#include "fragments.cuh"
#include "operands.hpp"
#include "ptx.cuh"

// Calls 10_full_rounds.cu
namespace full_rounds {
cudaError_t multiply(const operands::Product<__nv_bfloat16>& of, cudaStream_t stream);
cudaError_t multiply(const operands::Product<float>& of, cudaStream_t stream);
}  // namespace full_rounds
// Calls 11_full_turns.cu
namespace full_turns {
cudaError_t multiply(const operands::Product<__nv_bfloat16>& of, cudaStream_t stream);
cudaError_t multiply(const operands::Product<float>& of, cudaStream_t stream);
}  // namespace full_turns

namespace limit {

namespace ptx = cuda::ptx;
using operands::Product;

constexpr int row_bytes = box_map::row_bytes;
constexpr int box_bytes = 16 * row_bytes;  // of C; a warp has two, which leave in turn

/// Rows and columns of a block's tile of C, and the stages of its ring.
template <int rows, int cols, int stage_count>
struct Tile {
  static constexpr int m = rows, n = cols, stages = stage_count;
  static constexpr int groups = m / 64;                 // warpgroups, each 64 rows of the tile
  static constexpr int block_size = 128 * groups + 32;  // and a warp that orders copies
  static constexpr int a_bytes = m * row_bytes, b_bytes = n * row_bytes;
  static constexpr int stage_bytes = a_bytes + b_bytes;
  static constexpr int shared_bytes = 1024 + stages * stage_bytes + groups * 4 * 2 * box_bytes;
};
using Large = Tile<128, 256, 4>;
using Medium = Tile<64, 128, 8>;
using Small = Tile<64, 64, 6>;

/// A place in a ring of so many stages, and the parity of the phase in which it is filled.
template <int stages>
struct Stage {
  int index = 0;
  unsigned parity = 0;
  __device__ void next() {
    if (++index == stages) index = 0, parity ^= 1;
  }
};

/// C = alpha A B^T + beta C, in `steps` times 128 bytes of each row of A and B. A block for each
/// tile, `across` of them side by side.
template <class T, class Tile>
__global__ void __launch_bounds__(Tile::block_size, 1)
    multiply_tile(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                  const __grid_constant__ CUtensorMap out, Result<T> c, int steps, int across) {
  constexpr int step = row_bytes / sizeof(T), stages = Tile::stages, tile_n = Tile::n;
  extern __shared__ char unaligned[];
  __shared__ std::uint64_t full[stages], empty[stages];
  char* const shared = aligned_to_1024(unaligned);
  const int first_row = static_cast<int>(blockIdx.x) / across * Tile::m;
  const int first_col = static_cast<int>(blockIdx.x) % across * tile_n;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const bool orders = warp == 4 * Tile::groups && lane == 0;
  Stage<stages> stage;
  const auto order = [&](int i) {
    char* const a_tile = shared + stage.index * Tile::stage_bytes;
    std::uint64_t* const barrier = &full[stage.index];
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier,
                                   Tile::stage_bytes);
    load_box(a_tile, &a, i * step, first_row, barrier);
    load_box(a_tile + Tile::a_bytes, &b, i * step, first_col, barrier);
    stage.next();
  };
  if (orders) {
    for (int s = 0; s < stages; ++s) {
      ptx::mbarrier_init(&full[s], 1);                  // the copies' bytes, and who orders them
      ptx::mbarrier_init(&empty[s], 4 * Tile::groups);  // the warps that multiply
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    for (int i = 0; i < min(stages, steps); ++i) order(i);  // all are empty
  }
  __syncthreads();  // the barriers are initialised
  if (warp == 4 * Tile::groups) {
    if (orders) {
      for (int i = stages; i < steps; ++i) {
        wait(&empty[stage.index], stage.parity ^ 1);
        order(i);
      }
    }
    return;
  }
  float d[tile_n / 2] = {};
  for (int i = 0, before = 0; i < steps; ++i, before = stage.index, stage.next()) {
    wait(&full[stage.index], stage.parity);
    const char* const a_tile = shared + stage.index * Tile::stage_bytes;
    const std::uint64_t left = matrix_at(a_tile + warp / 4 * 64 * row_bytes);
    const std::uint64_t right = matrix_at(a_tile + Tile::a_bytes);
    wgmma_fence();
#pragma unroll
    for (int part = 0; part < 4; ++part) {  // 32 bytes of each row
      wgmma<T, tile_n>(d, left + 2 * part, right + 2 * part);
    }
    wgmma_commit();
    wgmma_wait<1>();  // those of the stage before
    if (i > 0 && lane == 0) ptx::mbarrier_arrive(&empty[before]);
  }
  wgmma_wait<0>();
  const bool rest = c.in_groups() < c.cols;  // columns that the TMA may not store
  char* const boxes = shared + stages * Tile::stage_bytes + warp * 2 * box_bytes;
  const int row = first_row + warp * 16;
  constexpr int box_cols = row_bytes / sizeof(T);
#pragma unroll
  for (int at = 0; at < tile_n; at += box_cols) {
    const int col = first_col + at;
    char* const box = boxes + at / box_cols % 2 * box_bytes;
    if (lane == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>());
    __syncwarp();  // the box is free
    c.template lay_down<box_cols>(box, d + at / 2, row, col);
    ptx::fence_proxy_async(ptx::space_shared);
    __syncwarp();  // all of it is laid down
    if (lane == 0) {
      if (col < c.in_groups()) store_box(&out, col, row, box);
      ptx::cp_async_bulk_commit_group();
    }
    if (rest) c.template store_rest<box_cols>(box, row, col);
  }
  if (lane == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}

/// How many tiles lie below each other and side by side.
struct Tiles {
  std::int64_t down, across;
  template <class T>
  Tiles(const Product<T>& of, int rows, int cols)
      : down((of.m + rows - 1) / rows), across((of.n + cols - 1) / cols) {}
  double all() const { return static_cast<double>(down) * static_cast<double>(across); }
  /// How many of them the busiest of so many blocks, or clusters, takes.
  double rounds(int blocks) const { return std::ceil(all() / std::max(blocks, 1)); }
  /// The same in tiles of full width where the rounds are filled up with narrower ones, down to 15
  /// sixteenths.
  double filled(int blocks) const {
    const double most = static_cast<double>(down) * static_cast<double>(across * 16 / 15);
    return rounds(blocks) * all() / std::min(rounds(blocks) * std::max(blocks, 1), most);
  }
};

template <class Tile, class T>
cudaError_t launch(const Product<T>& of, cudaStream_t stream) {
  const Tiles tiles(of, Tile::m, Tile::n);
  if (tiles.down > INT32_MAX / tiles.across) return cudaErrorInvalidValue;
  CUtensorMap a, b, out;
  if (cudaError_t error = box_map::make(&a, of.a, of.m, of.k, of.lda, Tile::m)) return error;
  if (cudaError_t error = box_map::make(&b, of.b, of.n, of.k, of.ldb, Tile::n)) return error;
  const Result<T> c = result_of(of);
  if (cudaError_t error = box_map::make(&out, of.c, of.m, c.in_groups(), of.ldc, 16)) return error;
  auto* const kernel = multiply_tile<T, Tile>;
  if (cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                               Tile::shared_bytes)) {
    return error;
  }
  constexpr int step = row_bytes / sizeof(T);
  kernel<<<static_cast<unsigned>(tiles.down * tiles.across), Tile::block_size, Tile::shared_bytes,
           stream>>>(a, b, out, c, static_cast<int>((of.k + step - 1) / step),
                     static_cast<int>(tiles.across));
  return cudaGetLastError();
}

/// Clocks that a way takes, about. `steps` are the 128 bytes of k in each row. The numbers come
/// from the study `ways` on an H200.
///
/// A block per tile: it begins and ends in 3900 clocks, and a step takes what the tensor cores take
/// for it or what the L2 cache takes to deliver it, 60 bytes per clock and SM. (Two blocks of Small
/// fit on an SM; they share what it does.)
template <class Tile>
double cost_of_blocks(const Tiles& tiles, double steps, int sms) {
  const double each = std::max(Tile::m * Tile::n / 32.0, Tile::stage_bytes / 60.0);
  return 500 + tiles.rounds(sms) * (3900 + steps * each);
}
/// 10: clusters begin later. At the end of each tile nobody multiplies for 2200 clocks.
inline double cost_of_rounds(const Tiles& tiles, double steps, int sms) {
  return 6700 + tiles.filled(sms / 2) * steps * 1024 + tiles.rounds(sms / 2) * 2200;
}
/// 11: no such end, but more bytes per product, and so more power: 2.5 %.
inline double cost_of_turns(const Tiles& tiles, double steps, int sms) {
  return 6700 + tiles.filled(sms / 2) * steps * 512 * 1.025;
}

/// The way that costs least.
template <class T>
cudaError_t launch_best(const Product<T>& of, cudaStream_t stream) {
  int device = 0, sms = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device)) {
    return error;
  }
  const double steps = std::ceil(static_cast<double>(of.k) * sizeof(T) / row_bytes);
  const double costs[] = {
      cost_of_blocks<Small>(Tiles(of, Small::m, Small::n), steps, sms),
      cost_of_blocks<Medium>(Tiles(of, Medium::m, Medium::n), steps, sms),
      cost_of_blocks<Large>(Tiles(of, Large::m, Large::n), steps, sms),
      cost_of_rounds(Tiles(of, 256, 256), steps, sms),  // a cluster's pair of tiles
      cost_of_turns(Tiles(of, 256, 128), steps, sms)};
  switch (std::min_element(std::begin(costs), std::end(costs)) - costs) {
    case 0:
      return launch<Small>(of, stream);
    case 1:
      return launch<Medium>(of, stream);
    case 2:
      return launch<Large>(of, stream);
    case 3:
      return full_rounds::multiply(of, stream);
    default:
      return full_turns::multiply(of, stream);
  }
}

/// Checks, and launches a block per tile of one size, or what costs least.
template <class Only = void, class T>
cudaError_t run(Product<T> of, cudaStream_t stream) {
  if (!operands::valid(of)) return cudaErrorInvalidValue;
  if (of.m == 0 || of.n == 0) return cudaSuccess;
  of = operands::needed(of);
  if constexpr (std::is_void_v<Only>) {
    return launch_best(of, stream);
  } else {
    return launch<Only>(of, stream);
  }
}

/// C = alpha A B^T + beta C. \returns cudaErrorInvalidValue for what operands::valid() refuses and
/// for more than 2^31 - 1 tiles; or an error of CUDA.
cudaError_t multiply(const Product<__nv_bfloat16>& of, cudaStream_t stream) {
  return run(of, stream);
}
/// The same of floats, of which the 10 highest bits of the fraction take part (tf32).
cudaError_t multiply(const Product<float>& of, cudaStream_t stream) { return run(of, stream); }

/// multiply() by a block per tile of 128 x 256 in any case.
cudaError_t multiply_large(const Product<__nv_bfloat16>& of, cudaStream_t stream) {
  return run<Large>(of, stream);
}
cudaError_t multiply_large(const Product<float>& of, cudaStream_t stream) {
  return run<Large>(of, stream);
}
/// multiply() by a block per tile of 64 x 128 in any case.
cudaError_t multiply_medium(const Product<__nv_bfloat16>& of, cudaStream_t stream) {
  return run<Medium>(of, stream);
}
cudaError_t multiply_medium(const Product<float>& of, cudaStream_t stream) {
  return run<Medium>(of, stream);
}
/// multiply() by a block per tile of 64 x 64 in any case.
cudaError_t multiply_small(const Product<__nv_bfloat16>& of, cudaStream_t stream) {
  return run<Small>(of, stream);
}
cudaError_t multiply_small(const Product<float>& of, cudaStream_t stream) {
  return run<Small>(of, stream);
}

}  // namespace limit
