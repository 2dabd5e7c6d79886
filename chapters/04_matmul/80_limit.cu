// Idea: three warps per scheduler instead of the two of 09, and loads from shared memory a step
//   ahead. Tiles of three sizes. And where a matrix has too few tiles, k is shared: by up to six
//   teams of a block, and up to 8 blocks, which are a cluster and add up through each other's
//   shared memory. The launcher takes the way that costs least.
// Predicts: more than 09 for large matrices; small, tall and flat ones fill the GPU, too.
// Needs: compute capability 9.0, for clusters; 149 KiB of shared memory per block.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "operands.hpp"
#include "ptx.cuh"

namespace limit {

namespace cg = cooperative_groups;

constexpr int tile_k = 16;                               // columns of A and rows of B at a time
constexpr int lanes_m = 4, lanes_n = 8;                  // the lanes of a warp, in rows and columns
constexpr int gap_m = 4 * lanes_m, gap_n = 4 * lanes_n;  // from group of four to group of four
constexpr int stages = 3;      // tiles of A and B that are under way or in use
constexpr int pad = 4;         // floats: keeps what a warp writes at once in different banks
constexpr int most_parts = 8;  // blocks per tile of C: a cluster that every GPU with clusters takes

/// A tile of C: its rows and columns, those of a thread, how many teams of threads share the sum
/// along k in a block, how many blocks fit into an SM, and what a multiplication takes there, in
/// percent of the large tile.
template <int m, int n, int thread_m, int thread_n, int block_teams, int blocks, int percent>
struct Tile {
  static constexpr int tile_m = m, tile_n = n, rows = thread_m, cols = thread_n;
  static constexpr int teams = block_teams, per_sm = blocks;
  static constexpr double price = percent / 100.0;
  static constexpr int warp_m = lanes_m * rows, warp_n = lanes_n * cols;
  static constexpr int warps_n = tile_n / warp_n;
  static constexpr int team_size = tile_m / warp_m * warps_n * 32, block_size = teams * team_size;
  static constexpr int pitch = tile_m + pad;  // of A's tile in shared memory, and of the sums
  static constexpr int a_floats = tile_k * pitch, b_floats = tile_k * tile_n;
  static constexpr int stage_floats = a_floats + b_floats;
  static constexpr int sums_floats = tile_n * pitch;
  static constexpr int copies_bytes = 4 * teams * stages * stage_floats;
  static constexpr int sums_bytes = 4 * teams * sums_floats;
};
using Large = Tile<96, 128, 12, 8, 1, 3, 100>;
using Medium = Tile<64, 128, 8, 8, 1, 3, 106>;
using Small = Tile<64, 64, 8, 8, 1, 6, 104>;
using Deep = Tile<64, 64, 8, 8, 6, 1, 108>;

/// A thread's part of the tiles that its team copies, and where it continues. What A and B do not
/// have in a row or column is read from a place that they have: nothing computed from it is stored.
template <class Tile, bool vectors>
struct Copies {
  static constexpr int group = vectors ? 4 : 1;
  static constexpr int a_cols = 8;  // a sector; more would meet in a bank of the transposed tile
  static constexpr int a_rows = Tile::team_size / a_cols;  // from one copy to the next
  static constexpr int b_rows = Tile::team_size / (Tile::tile_n / group);
  static constexpr int a_count = Tile::tile_m / a_rows;
  static constexpr int b_count = tile_k / b_rows;
  static_assert(tile_k % b_rows == 0 && tile_k % a_cols == 0, "every thread copies as much");

  const float* a_from[a_count];
  const float* b_from;
  std::int64_t ldb;
  int a_x, a_y, b_x, b_y;

  /// a and b: the first column of A and row of B; t: the thread in its team.
  __device__ Copies(const float* a, const float* b, int t, int first_row, int first_col, int m,
                    int n, std::int64_t lda, std::int64_t pitch)
      : ldb(pitch),
        a_x(t % a_cols),
        a_y(t / a_cols),
        b_x(t % (Tile::tile_n / group) * group),
        b_y(t / (Tile::tile_n / group)) {
#pragma unroll
    for (int i = 0; i < a_count; ++i) {
      a_from[i] = a + min(first_row + a_y + i * a_rows, m - 1) * lda + a_x;
    }
    b_from = b + b_y * ldb + (first_col + b_x < n ? first_col + b_x : 0);
  }

  /// Begins to copy the next `columns` columns of A and rows of B to a stage; the others become
  /// zero. whole: all of them.
  template <bool whole>
  __device__ void begin(float* stage, int columns) {
    float* const b_tile = stage + Tile::a_floats;
#pragma unroll
    for (int i = 0; i < a_count; ++i) {
#pragma unroll
      for (int x = 0; x < tile_k; x += a_cols) {
        copy_async<4>(stage + (a_x + x) * Tile::pitch + a_y + i * a_rows, a_from[i] + x,
                      whole || a_x + x < columns ? 4 : 0);
      }
      a_from[i] += columns;
    }
#pragma unroll
    for (int i = 0; i < b_count; ++i) {
      const int row = b_y + i * b_rows;
      copy_async<4 * group>(b_tile + row * Tile::tile_n + b_x, b_from + i * b_rows * ldb,
                            whole || row < columns ? 4 * group : 0);
    }
    b_from += columns * ldb;
  }
};

/// What a thread needs for one step along k: a column of A and a row of B, in groups of four.
template <class Tile>
struct Step {
  float4 a[Tile::rows / 4], b[Tile::cols / 4];

  __device__ void load(const float* a_column, const float* b_row) {
#pragma unroll
    for (int r = 0; r < Tile::rows / 4; ++r) {
      a[r] = load_here(a_column + r * gap_m);
    }
#pragma unroll
    for (int s = 0; s < Tile::cols / 4; ++s) {
      b[s] = load_here(b_row + s * gap_n);
    }
  }
  __device__ void multiply(float (&sums)[Tile::rows][Tile::cols]) const {
    const float* const a_value = reinterpret_cast<const float*>(a);
    const float* const b_value = reinterpret_cast<const float*>(b);
#pragma unroll
    for (int s = 0; s < Tile::cols; ++s) {
#pragma unroll
      for (int i = 0; i < Tile::rows; ++i) {
        const int r = s % 2 == 0 ? i : Tile::rows - 1 - i;  // there and back: one operand stays
        sums[r][s] += a_value[r] * b_value[s];
      }
    }
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
/// `parts` blocks per tile of C, one after the other, a cluster; tiles row after row. vectors: n is
/// a multiple of four, and all rows of B and C begin at multiples of 16 bytes. Dynamic shared
/// memory: that of the copies, and that of the sums if more than one team adds up.
template <class Tile, bool vectors>
__global__ void __launch_bounds__(Tile::block_size, Tile::per_sm)
    multiply_matrices(const float* a, const float* b, float* c, int m, int n, int k,
                      std::int64_t lda, std::int64_t ldb, std::int64_t ldc, float alpha, float beta,
                      int parts) {
  extern __shared__ __align__(16) float shared[];
  const int number = static_cast<int>(blockIdx.x) / parts;
  const int part = static_cast<int>(blockIdx.x) % parts;
  const int across = (n - 1) / Tile::tile_n + 1;
  const int first_row = number / across * Tile::tile_m, first_col = number % across * Tile::tile_n;
  const int team = Tile::teams == 1 ? 0 : threadIdx.x / Tile::team_size;
  const int t = threadIdx.x % Tile::team_size, warp = t / 32, lane = t % 32;
  // What this thread computes, in its warp's tile: groups of four rows and of four columns. Lane
  // xor 1 has the same rows, lane xor 2 the same columns.
  const int lane_y = lane / 2 % 2 + lane / 16 * 2, lane_x = lane % 2 + lane / 4 % 4 * 2;
  const int y = warp / Tile::warps_n * Tile::warp_m + lane_y * 4;
  const int x = warp % Tile::warps_n * Tile::warp_n + lane_x * 4;

  // The team's steps along k: tiles `from` to `to` - 1 of all. Tile 0 is the short one. All teams
  // go through as many, `tiles`; who has one less begins with one of zeros.
  const int all = (k + tile_k - 1) / tile_k, head = k - (all - 1) * tile_k;
  const int teams = Tile::teams * parts, number_of_team = part * Tile::teams + team;
  const int from = static_cast<int>(std::int64_t{all} * number_of_team / teams);
  const int to = static_cast<int>(std::int64_t{all} * (number_of_team + 1) / teams);
  const int tiles = (all + teams - 1) / teams, zeros = tiles - (to - from);
  const std::int64_t first = from == 0 ? 0 : head + std::int64_t{from - 1} * tile_k;
  Copies<Tile, vectors> copies(a + first, b + first * ldb, t, first_row, first_col, m, n, lda, ldb);

  float* const own = shared + team * stages * Tile::stage_floats;
#pragma unroll
  for (int tile = 0; tile < stages - 1; ++tile) {
    if (tile < tiles) {
      const int columns = tile < zeros ? 0 : from + tile == zeros ? head : tile_k;
      copies.template begin<false>(own + tile * Tile::stage_floats, columns);
    }
    __pipeline_commit();
  }
  float sums[Tile::rows][Tile::cols] = {};
  Step<Tile> steps[2];  // the one that is computed, and the next
  int stage = 0;
  const float* a_tile = own + y;
  const float* b_tile = own + Tile::a_floats + x;
  __pipeline_wait_prior(stages - 2);    // what this thread copied of tile 0 is there
  team_barrier(team, Tile::team_size);  // what its team did is there
  if (tiles > 0) steps[0].load(a_tile, b_tile);
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + stages - 1 < tiles) {
      const int free = stage == 0 ? stages - 1 : stage - 1;
      copies.template begin<true>(own + free * Tile::stage_floats, tile_k);
    }
    __pipeline_commit();  // empty at the end, so that the count of those under way is right
#pragma unroll
    for (int i = 0; i < tile_k; ++i) {
      if (i == tile_k - 1) {
        // The next tile: what this thread copied of it is there; what its team did is there; and
        // all have loaded what they need of this one.
        __pipeline_wait_prior(stages - 2);
        team_barrier(team, Tile::team_size);
        stage = stage == stages - 1 ? 0 : stage + 1;
        a_tile = own + stage * Tile::stage_floats + y;
        b_tile = own + stage * Tile::stage_floats + Tile::a_floats + x;
      }
      const int next = (i + 1) % tile_k;
      if (next > 0 || tile + 1 < tiles) {
        steps[(i + 1) % 2].load(a_tile + next * Tile::pitch, b_tile + next * Tile::tile_n);
      }
      steps[i % 2].multiply(sums);
    }
  }

  if (teams == 1) {
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
  // Every team lays down its sums, over the tiles that nobody needs any more; then each block adds
  // up a share of the patches of 4 x 4.
  auto cluster = cg::this_cluster();
  if (Tile::teams > 1) __syncthreads();  // a team's sums reach into the tiles of others
#pragma unroll
  for (int s = 0; s < Tile::cols; ++s) {
#pragma unroll
    for (int r = 0; r < Tile::rows; r += 4) {
      // In pairs, exchanged. A store of 16 bytes takes four registers side by side; so each sum
      // gets a register of the other bank than the row of A that it is made of.
      float* const place = shared + team * Tile::sums_floats +
                           (x + s / 4 * gap_n + s % 4) * Tile::pitch + y + r / 4 * gap_m;
      *reinterpret_cast<float4*>(place) =
          make_float4(sums[r + 1][s], sums[r][s], sums[r + 3][s], sums[r + 2][s]);
    }
  }
  cluster.sync();  // all sums are there
  constexpr int down = Tile::tile_m / 4, patches = down * Tile::tile_n / 4;
  const int end = patches * (part + 1) / parts;
  for (int i = patches * part / parts + static_cast<int>(threadIdx.x); i < end;
       i += Tile::block_size) {
    // Two patches side by side, then below: no two lanes in a bank, and whole sectors of C.
    const int y = i / 2 % down * 4, x = (i % 2 + i / 2 / down * 2) * 4;
    const int row = first_row + y, col = first_col + x;
    if (row >= m || col >= n) continue;
    float total[4][4] = {};
    for (int other = 0; other < parts; ++other) {
      const float* const place =
          cluster.map_shared_rank(shared, static_cast<unsigned>(other)) + x * Tile::pitch + y;
#pragma unroll
      for (int of = 0; of < Tile::teams; ++of) {
#pragma unroll
        for (int s = 0; s < 4; ++s) {
          const float4 four =
              *reinterpret_cast<const float4*>(place + of * Tile::sums_floats + s * Tile::pitch);
          total[0][s] += four.y;
          total[1][s] += four.x;
          total[2][s] += four.w;
          total[3][s] += four.z;
        }
      }
    }
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      if (row + r >= m) continue;
      store_four<vectors>(c + (row + r) * ldc, col, n, scaled(total[r], alpha), beta);
    }
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

/// Can a thread copy four elements of B, and store four of C, at a time?
bool in_vectors(const Operands& of) {
  return of.n % 4 == 0 && operands::in_groups_of_four(of.b, of.ldb) &&
         operands::in_groups_of_four(of.c, of.ldc);
}

/// Launches `parts` blocks per tile.
template <class Tile>
cudaError_t launch(const Operands& of, int parts, cudaStream_t stream) {
  const std::int64_t blocks = tiles_of<Tile>(of) * parts;
  if (blocks > INT32_MAX) return cudaErrorInvalidValue;
  auto* const kernel =
      in_vectors(of) ? multiply_matrices<Tile, true> : multiply_matrices<Tile, false>;
  // All launches of this kernel ask for the same: host threads that launch it in different ways
  // must not lower it for each other.
  constexpr int bytes =
      Tile::sums_bytes > Tile::copies_bytes ? Tile::sums_bytes : Tile::copies_bytes;
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return error;
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = static_cast<unsigned>(parts);
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = static_cast<unsigned>(blocks);
  config.blockDim = Tile::block_size;
  config.dynamicSmemBytes = static_cast<std::size_t>(parts == 1 ? int{Tile::copies_bytes} : bytes);
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = parts > 1 ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, of.a, of.b, of.c, static_cast<int>(of.m),
                            static_cast<int>(of.n), static_cast<int>(of.k), of.lda, of.ldb, of.ldc,
                            of.alpha, of.beta, parts);
}

/// How long a method would take, in units of a multiplication by the large tile: what is left to
/// choose by. The constants were fitted to measurements of 53 shapes on an H200 (more.md).
template <class Tile>
double cost(const Operands& of, int parts, int sms) {
  // The blocks of the SM that gets most: waves of as many as fit, and a rest, which takes longer
  // per block: with one warp for each scheduler, or none for some.
  const std::int64_t blocks = (tiles_of<Tile>(of) * parts - 1) / sms + 1;
  const std::int64_t waves = blocks / Tile::per_sm, rest = blocks % Tile::per_sm;
  const double warps = static_cast<double>(rest * Tile::block_size / 32);
  double turns = static_cast<double>(rest);
  if (rest > 0 && warps < 8) turns *= warps < 4 ? 1.25 * 4 / warps : 1.25;
  // Not all SMs finish a wave at once, and who is first takes more than its share of the rest.
  if (waves > 0 && rest > 0) turns += 0.2 * (Tile::per_sm - turns);
  turns += static_cast<double>(waves * Tile::per_sm);
  // Each team's steps along k, and what they are worth to begin, to end, and to add up.
  const int teams = parts * Tile::teams;
  const double steps = std::ceil(static_cast<double>(of.k) / teams) + 12 + (teams > 1 ? 28 : 0);
  const double clustered = parts > 2 ? 1.15 : 1;  // large clusters do not fit everywhere
  return turns * steps * clustered * Tile::teams * Tile::tile_m * Tile::tile_n * Tile::price;
}

/// A way to multiply.
struct Method {
  cudaError_t (*launch)(const Operands&, int, cudaStream_t);
  int parts;
  double cost;
};
template <class Tile>
Method method(const Operands& of, int parts, int sms) {
  return {launch<Tile>, parts, cost<Tile>(of, parts, sms)};
}

/// Takes the method that costs least.
cudaError_t choose(const Operands& of, cudaStream_t stream) {
  int device = 0, sms = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  }
  if (error != cudaSuccess) return error;
  Method best = method<Large>(of, 1, sms);
  for (int parts = 1; parts <= most_parts; parts *= 2) {
    // Clusters of 8 blocks that fill an SM each: an H200 has no room for 16 of these at once.
    const int deep = parts < 8 ? parts : 6;
    for (const Method& each : {method<Large>(of, parts, sms), method<Medium>(of, parts, sms),
                               method<Small>(of, parts, sms), method<Deep>(of, deep, sms)}) {
      if (each.cost < best.cost) best = each;
    }
  }
  return best.launch(of, best.parts, stream);
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

/// multiply() by tiles of 96 x 128, one block each.
cudaError_t multiply_large(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                           std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                           float alpha, float beta, cudaStream_t stream) {
  return checked({a, b, c, m, n, k, lda, ldb, ldc, alpha, beta},
                 [=](const Operands& of) { return launch<Large>(of, 1, stream); });
}

/// multiply() by tiles of 64 x 128, one block each.
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

/// multiply() by tiles of 64 x 64, one block of six teams each.
cudaError_t multiply_deep(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                          std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                          float alpha, float beta, cudaStream_t stream) {
  return checked({a, b, c, m, n, k, lda, ldb, ldc, alpha, beta},
                 [=](const Operands& of) { return launch<Deep>(of, 1, stream); });
}

/// multiply() by tiles of 64 x 128, four blocks each.
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

/// multiply() by tiles of 64 x 64, eight blocks of six teams each.
cudaError_t multiply_deep_split(const float* a, const float* b, float* c, std::int64_t m,
                                std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                                std::int64_t ldc, float alpha, float beta, cudaStream_t stream) {
  return checked({a, b, c, m, n, k, lda, ldb, ldc, alpha, beta},
                 [=](const Operands& of) { return launch<Deep>(of, 8, stream); });
}

}  // namespace limit
