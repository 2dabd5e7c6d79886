// Idea: 09 for tiles of three sizes; and, where a matrix has fewer tiles than the GPU has room for
//   blocks, up to 8 blocks per tile, each with a part of k. They are a cluster, and add up through
//   each other's shared memory. The launcher takes the way with the least work per SM.
// Predicts: as 09 for large matrices; small, tall and flat ones fill the GPU, too.
// Needs: compute capability 9.0, for clusters.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "operands.hpp"
#include "ptx.cuh"

namespace limit {

namespace cg = cooperative_groups;

constexpr int tile_k = 16;                               // columns of A and rows of B at a time
constexpr int lanes_m = 4, lanes_n = 8;                  // the lanes of a warp, in rows and columns
constexpr int gap_m = 4 * lanes_m, gap_n = 4 * lanes_n;  // from group of four to group of four
constexpr int pad = 4;  // so that the 8 columns x 4 rows that a warp copies fall into 32 banks
constexpr int most_parts = 8;  // blocks per tile of C: a cluster that every GPU with clusters takes

/// A tile of C: its rows and columns, those of a thread, and how many tiles of A and B are under
/// way or in use.
template <int m, int n, int thread_m, int thread_n, int depth, int blocks>
struct Tile {
  static constexpr int tile_m = m, tile_n = n, rows = thread_m, cols = thread_n, stages = depth;
  static constexpr int per_sm = blocks;  // blocks that fit into an SM
  static constexpr int warp_m = lanes_m * rows, warp_n = lanes_n * cols;
  static constexpr int warps_n = tile_n / warp_n;
  static constexpr int block_size = tile_m / warp_m * warps_n * 32;
  static constexpr int a_floats = tile_k * (tile_m + pad), b_floats = tile_k * tile_n;
  static constexpr int copies_bytes = 4 * stages * (a_floats + b_floats);
  static constexpr int sums_bytes = 4 * tile_m * tile_n;
};
using Large = Tile<128, 256, 16, 8, 3, 1>;
using Medium = Tile<128, 128, 16, 8, 3, 2>;
using Small = Tile<64, 64, 8, 8, 3, 6>;

/// A thread's part of the tiles that a block copies, and where it continues. The first tile along k
/// may be short, all others are full. Rows that A does not have are read from its last; columns
/// that B does not have become zero: what is computed from either is never stored.
template <class Tile, bool vectors>
struct Copies {
  static constexpr int group = vectors ? 4 : 1;
  static constexpr int a_cols = 8;  // a sector; more would meet in a bank of the transposed tile
  static constexpr int a_rows = Tile::block_size / a_cols;  // from one copy to the next
  static constexpr int b_rows = Tile::block_size / (Tile::tile_n / group);
  static constexpr int a_count = Tile::tile_m / a_rows;
  static constexpr int b_count = tile_k / b_rows;
  static_assert(tile_k % b_rows == 0 && tile_k % a_cols == 0, "every thread copies as much");

  const float* a_from[a_count];
  const float* b_from;
  std::int64_t ldb;
  int b_bytes;  // of each copy
  int a_x = threadIdx.x % a_cols, a_y = threadIdx.x / a_cols;
  int b_x = threadIdx.x % (Tile::tile_n / group) * group;
  int b_y = threadIdx.x / (Tile::tile_n / group);

  /// a and b: the first column of A and row of B.
  __device__ Copies(const float* a, const float* b, int first_row, int first_col, int m, int n,
                    std::int64_t lda, std::int64_t pitch)
      : ldb(pitch) {
#pragma unroll
    for (int i = 0; i < a_count; ++i) {
      const int row = min(first_row + a_y + i * a_rows, m - 1);
      a_from[i] = a + row * lda + a_x;
    }
    const int col = first_col + b_x;
    b_from = b + b_y * ldb + (col < n ? col : 0);
    b_bytes = 4 * max(0, min(group, n - col));
  }

  /// Begins to copy the next `columns` columns of A and rows of B to a stage.
  __device__ void begin(float* stage, int columns) {
    float* const b_tile = stage + Tile::a_floats;
#pragma unroll
    for (int i = 0; i < a_count; ++i) {
#pragma unroll
      for (int x = 0; x < tile_k; x += a_cols) {
        copy_async<4>(stage + (a_x + x) * (Tile::tile_m + pad) + a_y + i * a_rows, a_from[i] + x,
                      a_x + x < columns ? 4 : 0);
      }
      a_from[i] += columns;
    }
#pragma unroll
    for (int i = 0; i < b_count; ++i) {
      const int row = b_y + i * b_rows;
      copy_async<4 * group>(b_tile + row * Tile::tile_n + b_x, b_from + i * b_rows * ldb,
                            row < columns ? b_bytes : 0);
    }
    b_from += columns * ldb;
  }
};

/// Four sums, times alpha.
__device__ float4 scaled(const float* sums, float alpha) {
  return make_float4(alpha * sums[0], alpha * sums[1], alpha * sums[2], alpha * sums[3]);
}

/// Elements col to col + 3 of a row of C, of which those from `cols` on do not exist: `four`, and
/// beta times what stands there.
template <bool vectors>
__device__ void store_four(float* row, int col, int cols, float4 four, float beta) {
  if (vectors && col + 3 < cols) {
    float4* const place = reinterpret_cast<float4*>(row + col);
    if (beta != 0) {
      const float4 before = *place;
      four.x += beta * before.x;
      four.y += beta * before.y;
      four.z += beta * before.z;
      four.w += beta * before.w;
    }
    *place = four;
    return;
  }
  const float values[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (col + i < cols) {
      row[col + i] = beta == 0 ? values[i] : values[i] + beta * row[col + i];
    }
  }
}

/// C = alpha A B + beta C. A is m x k, B k x n, C m x n, row major; beta = 0 does not read C.
/// `parts` blocks per tile of C, one after the other, a cluster; tiles row after row. vectors: all
/// rows begin at multiples of 16 bytes. Dynamic shared memory: shared_bytes().
template <class Tile, bool vectors>
__global__ void __launch_bounds__(Tile::block_size, Tile::per_sm)
    multiply_matrices(const float* a, const float* b, float* c, int m, int n, int k,
                      std::int64_t lda, std::int64_t ldb, std::int64_t ldc, float alpha, float beta,
                      int parts) {
  extern __shared__ __align__(16) float shared[];
  constexpr int stages = Tile::stages, stage_floats = Tile::a_floats + Tile::b_floats;
  const int number = static_cast<int>(blockIdx.x) / parts;
  const int part = static_cast<int>(blockIdx.x) % parts;
  const int across = (n - 1) / Tile::tile_n + 1;
  const int first_row = number / across * Tile::tile_m, first_col = number % across * Tile::tile_n;
  const int t = threadIdx.x, warp = t / 32, lane = t % 32;
  // What this thread computes, in its warp's tile: groups of four rows and of four columns. Lane
  // xor 1 has the same rows, lane xor 2 the same columns.
  const int lane_y = lane / 2 % 2 + lane / 16 * 2, lane_x = lane % 2 + lane / 4 % 4 * 2;
  const int y = warp / Tile::warps_n * Tile::warp_m + lane_y * 4;
  const int x = warp % Tile::warps_n * Tile::warp_n + lane_x * 4;

  // Its steps along k: tiles `from` to `to` - 1 of all. Tile 0 is the short one.
  const int all = (k + tile_k - 1) / tile_k;
  const int from = static_cast<int>(std::int64_t{all} * part / parts);
  const int tiles = static_cast<int>(std::int64_t{all} * (part + 1) / parts) - from;
  const int head = k - (all - 1) * tile_k;
  const std::int64_t first = from == 0 ? 0 : head + std::int64_t{from - 1} * tile_k;
  Copies<Tile, vectors> copies(a + first, b + first * ldb, first_row, first_col, m, n, lda, ldb);

  float sums[Tile::rows][Tile::cols] = {};
#pragma unroll
  for (int tile = 0; tile < stages - 1; ++tile) {
    if (tile < tiles) {
      copies.begin(shared + tile * stage_floats, from + tile == 0 ? head : tile_k);
    }
    __pipeline_commit();
  }
  int stage = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    __pipeline_wait_prior(stages - 2);  // what this thread copied of this tile is there
    __syncthreads();  // what all did is there, and all have read the stage that comes next
    if (tile + stages - 1 < tiles) {
      const int free = stage == 0 ? stages - 1 : stage - 1;
      copies.begin(shared + free * stage_floats, tile_k);
    }
    __pipeline_commit();  // empty at the end, so that the count of those under way is right
    const float* const a_tile = shared + stage * stage_floats + y;
    const float* const b_tile = shared + stage * stage_floats + Tile::a_floats + x;
#pragma unroll
    for (int i = 0; i < tile_k; ++i) {
      float4 a_values[Tile::rows / 4], b_values[Tile::cols / 4];
#pragma unroll
      for (int r = 0; r < Tile::rows / 4; ++r) {
        a_values[r] =
            *reinterpret_cast<const float4*>(a_tile + i * (Tile::tile_m + pad) + r * gap_m);
      }
#pragma unroll
      for (int s = 0; s < Tile::cols / 4; ++s) {
        b_values[s] = *reinterpret_cast<const float4*>(b_tile + i * Tile::tile_n + s * gap_n);
      }
      const float* const a_value = reinterpret_cast<const float*>(a_values);
      const float* const b_value = reinterpret_cast<const float*>(b_values);
#pragma unroll
      for (int r = 0; r < Tile::rows; ++r) {
#pragma unroll
        for (int i = 0; i < Tile::cols; ++i) {
          const int s = r % 2 == 0 ? i : Tile::cols - 1 - i;  // there and back: one operand stays
          sums[r][s] += a_value[r] * b_value[s];
        }
      }
    }
    stage = stage == stages - 1 ? 0 : stage + 1;
  }

  if (parts == 1) {
#pragma unroll
    for (int r = 0; r < Tile::rows; ++r) {
      const int row = first_row + y + r / 4 * gap_m + r % 4;
      if (row >= m) continue;
#pragma unroll
      for (int s = 0; s < Tile::cols; s += 4) {
        store_four<vectors>(c + row * ldc, first_col + x + s / 4 * gap_n, n,
                            scaled(&sums[r][s], alpha), beta);
      }
    }
    return;
  }
  // Every block lays down its sums; then each adds up the rows that are its share.
  auto cluster = cg::this_cluster();
  __syncthreads();  // all have read the last tiles
#pragma unroll
  for (int r = 0; r < Tile::rows; ++r) {
#pragma unroll
    for (int s = 0; s < Tile::cols; s += 4) {
      // In pairs, exchanged. A store of 16 bytes takes four registers side by side; so each sum
      // gets a register of the other bank than the column of B that it is made of.
      float* const place = shared + (y + r / 4 * gap_m + r % 4) * Tile::tile_n + x + s / 4 * gap_n;
      *reinterpret_cast<float4*>(place) =
          make_float4(sums[r][s + 1], sums[r][s], sums[r][s + 3], sums[r][s + 2]);
    }
  }
  cluster.sync();  // all sums are there
  constexpr int groups = Tile::tile_n / 4;
  const int end = Tile::tile_m * (part + 1) / parts * groups;
  for (int i = Tile::tile_m * part / parts * groups + t; i < end; i += Tile::block_size) {
    const int row = first_row + i / groups, col = first_col + i % groups * 4;
    if (row >= m || col >= n) continue;
    float4 total = make_float4(0, 0, 0, 0);
    for (int other = 0; other < parts; ++other) {
      const float4 four = reinterpret_cast<const float4*>(
          cluster.map_shared_rank(shared, static_cast<unsigned>(other)))[i];
      total.x += four.y;
      total.y += four.x;
      total.z += four.w;
      total.w += four.z;
    }
    store_four<vectors>(c + row * ldc, col, n, scaled(&total.x, alpha), beta);
  }
  cluster.sync();  // nobody leaves while another block may read its sums
}

/// The operands of a launch, which were checked.
struct Operands {
  const float *a, *b;
  float* c;
  std::int64_t m, n, k, lda, ldb, ldc;
  float alpha, beta;
};

template <class Tile>
std::int64_t tiles_of(const Operands& of) {
  return ((of.m - 1) / Tile::tile_m + 1) * ((of.n - 1) / Tile::tile_n + 1);
}

/// Launches `parts` blocks per tile.
template <class Tile>
cudaError_t launch(const Operands& of, int parts, cudaStream_t stream) {
  const std::int64_t blocks = tiles_of<Tile>(of) * parts;
  if (blocks > INT32_MAX) return cudaErrorInvalidValue;
  const bool vectors = operands::in_groups_of_four(of.a, of.lda) &&
                       operands::in_groups_of_four(of.b, of.ldb) &&
                       operands::in_groups_of_four(of.c, of.ldc);
  auto* kernel = multiply_matrices<Tile, true>;
  if (!vectors) {
    if constexpr (std::is_same<Tile, Large>::value) {
      return launch<Medium>(of, parts, stream);  // the large tile has no kernel for it
    } else {
      kernel = multiply_matrices<Tile, false>;
    }
  }
  const int bytes =
      parts > 1 && Tile::sums_bytes > Tile::copies_bytes ? Tile::sums_bytes : Tile::copies_bytes;
  // The most that any launch of this kernel takes: host threads that launch it in different ways
  // must not lower it for each other.
  constexpr int most = Tile::sums_bytes > Tile::copies_bytes && !std::is_same<Tile, Large>::value
                           ? Tile::sums_bytes
                           : Tile::copies_bytes;
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
  if (error != cudaSuccess) return error;
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = static_cast<unsigned>(parts);
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = static_cast<unsigned>(blocks);
  config.blockDim = Tile::block_size;
  config.dynamicSmemBytes = static_cast<std::size_t>(bytes);
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = parts > 1 ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, of.a, of.b, of.c, static_cast<int>(of.m),
                            static_cast<int>(of.n), static_cast<int>(of.k), of.lda, of.ldb, of.ldc,
                            of.alpha, of.beta, parts);
}

/// How long a method would take, in steps along k of a full SM: what is left to choose by.
template <class Tile>
double steps(const Operands& of, int parts, int sms) {
  const std::int64_t blocks = tiles_of<Tile>(of) * parts;
  const std::int64_t room = std::int64_t{sms} * Tile::per_sm;
  const std::int64_t rounds = (blocks - 1) / room + 1;
  // Blocks that share an SM take as long together as one after the other.
  const std::int64_t together = blocks < room ? (blocks - 1) / sms + 1 : Tile::per_sm;
  const double k = static_cast<double>(of.k) / parts;
  const double tile = static_cast<double>(Tile::tile_m) * Tile::tile_n;
  constexpr double loads = 1.0 / Tile::rows + 1.0 / Tile::cols;  // per multiplication, in fours
  const double begin_and_end = 20 + (parts > 1 ? 10 : 0);        // steps of a tile of 128 x 128
  return static_cast<double>(rounds * together) *
         (k * tile * (1 + loads / 4 + 8 * loads / (Tile::tile_m + Tile::tile_n)) +
          begin_and_end * 128 * 128);
}

/// Takes the method with the fewest steps.
cudaError_t choose(const Operands& of, cudaStream_t stream) {
  int device = 0, sms = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  }
  if (error != cudaSuccess) return error;
  double best = steps<Large>(of, 1, sms);
  auto* method = launch<Large>;
  int parts = 1;
  for (int p = 1; p <= most_parts && p * tile_k <= of.k + tile_k; p *= 2) {
    const double medium = steps<Medium>(of, p, sms), small = steps<Small>(of, p, sms);
    if (medium < best) best = medium, method = launch<Medium>, parts = p;
    if (small < best) best = small, method = launch<Small>, parts = p;
  }
  return method(of, parts, stream);
}

/// Checks the operands and calls body(operands) if there is something to do.
template <class Body>
cudaError_t checked(Operands of, Body body) {
  if (!operands::valid(of.a, of.b, of.c, of.m, of.n, of.k, of.lda, of.ldb, of.ldc)) {
    return cudaErrorInvalidValue;
  }
  if (of.m == 0 || of.n == 0) return cudaSuccess;
  if (of.alpha == 0) of.k = 0;
  if (of.k == 0) of.alpha = 0;  // it may be no number
  return body(of);
}

/// C = alpha A B + beta C, row major: A is m x k, B k x n, C m x n; lda, ldb and ldc elements lie
/// between the beginnings of two rows; where not all of them begin at a multiple of 16 bytes, it is
/// slower. beta = 0 does not read C, alpha = 0 neither A nor B. Device pointers. \returns
/// cudaErrorInvalidValue for what operands::valid() refuses and for more than 2^31 - 1 blocks; or
/// the error of the launch.
cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  return checked({a, b, c, m, n, k, lda, ldb, ldc, alpha, beta},
                 [=](const Operands& of) { return choose(of, stream); });
}

/// multiply() by tiles of 128 x 256, one block each.
cudaError_t multiply_large(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                           std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                           float alpha, float beta, cudaStream_t stream) {
  return checked({a, b, c, m, n, k, lda, ldb, ldc, alpha, beta},
                 [=](const Operands& of) { return launch<Large>(of, 1, stream); });
}

/// multiply() by tiles of 128 x 128, one block each.
cudaError_t multiply_medium(const float* a, const float* b, float* c, std::int64_t m,
                            std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                            std::int64_t ldc, float alpha, float beta, cudaStream_t stream) {
  return checked({a, b, c, m, n, k, lda, ldb, ldc, alpha, beta},
                 [=](const Operands& of) { return launch<Medium>(of, 1, stream); });
}

/// multiply() by tiles of 64 x 64, one block each.
cudaError_t multiply_small(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                           std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                           float alpha, float beta, cudaStream_t stream) {
  return checked({a, b, c, m, n, k, lda, ldb, ldc, alpha, beta},
                 [=](const Operands& of) { return launch<Small>(of, 1, stream); });
}

/// multiply() by tiles of 128 x 128, four blocks each.
cudaError_t multiply_medium_split(const float* a, const float* b, float* c, std::int64_t m,
                                  std::int64_t n, std::int64_t k, std::int64_t lda,
                                  std::int64_t ldb, std::int64_t ldc, float alpha, float beta,
                                  cudaStream_t stream) {
  return checked({a, b, c, m, n, k, lda, ldb, ldc, alpha, beta},
                 [=](const Operands& of) { return launch<Medium>(of, 4, stream); });
}

/// multiply() by tiles of 64 x 64, eight blocks each.
cudaError_t multiply_small_split(const float* a, const float* b, float* c, std::int64_t m,
                                 std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                                 std::int64_t ldc, float alpha, float beta, cudaStream_t stream) {
  return checked({a, b, c, m, n, k, lda, ldb, ldc, alpha, beta},
                 [=](const Operands& of) { return launch<Small>(of, 8, stream); });
}

}  // namespace limit
