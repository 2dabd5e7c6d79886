// What the threads of one SM do, clock by clock, in 03 wgmma, 04 ring and 09 take turns: who waits
// for whom. Their loops once more, with stamps, in bf16. draw_timeline draws what --out writes.
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda/ptx>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "box_map.hpp"
#include "fragments.cuh"
#include "operands.hpp"
#include "ptx.cuh"

namespace {

constexpr const char* program = "11_matmul_tensor_cores_timeline";

/// Ends the program with one line: 1 an error, 2 bad usage, 3 no GPU that can do it.
struct Failure : std::runtime_error {
  Failure(const std::string& line, int exit_code) : runtime_error(line), code(exit_code) {}
  int code;
};

struct Options {
  std::int64_t m = 2048, n = 2048, k = 1024;
  std::string out;
  bool help = false;
};

#ifdef SIMT

void run(const Options&) {
  throw Failure("needs a GPU of compute capability 9.0: the CPU backend has no clocks", 3);
}

#else

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using T = __nv_bfloat16;

// ---- Stamps ----

enum What : unsigned {
  nothing,
  wait_empty,     // for a stage to be free
  order,          // of the copies of a step
  arrived,        // a stage's copies, seen by a thread that does nothing else; in 03 by thread 0
  wait_turn,      // for the other warpgroup to have begun its last products
  wait_full,      // for the copies of a step
  issue,          // of the products of a step
  wait_products,  // 03 and 04: of this step; 09: of the step before, and at the end of the last one
  meet,           // __syncthreads() of 03
  lay_down,       // the sums become C: in global memory, or with 09 on their way from shared memory
  wait_stored     // until C is written
};
constexpr const char* names[] = {"",          "wait empty", "order",      "arrived",
                                 "wait turn", "wait full",  "issue",      "wait products",
                                 "meet",      "lay down",   "wait stored"};

/// From one stamp of a thread to its next: 16 bytes, so that one instruction stores it.
struct alignas(16) Span {
  long long begin;
  unsigned clocks, code;

  What what() const { return static_cast<What>(code & 0xFF); }
  int stage() const { return static_cast<int>(code >> 8 & 0xFF); }
  int step() const { return static_cast<int>(code >> 16); }  // of all steps of a block
};

enum Role { orders, warpgroup_1, warpgroup_2, arrivals, roles };
constexpr const char* role_names[] = {"orders", "warpgroup 1", "warpgroup 2", "arrivals"};
constexpr int most_spans = 512;  // of a role in a block; later ones are not recorded

/// Where a launch records: most_spans per role per block, and the SM of each block.
struct Record {
  Span* spans;
  unsigned* sms;
};

/// Records what one thread of a role does. Without stamps it is nothing.
template <bool stamps>
class Recorder {
 public:
  __device__ Recorder(Record to, Role role, bool mine) {
    if constexpr (stamps) {
      next_ = to.spans + (blockIdx.x * roles + role) * most_spans;
      end_ = next_ + (mine ? most_spans : 0);
      begin();
    }
  }
  /// What was done until now is no span.
  __device__ void begin() {
    if constexpr (stamps) last_ = now();
  }
  /// A span from the last stamp until now.
  __device__ void lap(What what, int step, int stage) {
    if constexpr (stamps) {
      const long long time = now();
      if (next_ < end_) store(next_++, last_, time, what, step, stage);
      last_ = time;
    }
  }

 private:
  /// The clock of this SM. Volatile, so it stays between the instructions around it.
  __device__ static long long now() {
    long long clock;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(clock)::"memory");
    return clock;
  }
  __device__ static void store(Span* to, long long begin, long long end, What what, int step,
                               int stage) {
    const unsigned code =
        what | static_cast<unsigned>(stage) << 8 | static_cast<unsigned>(step) << 16;
    *reinterpret_cast<uint4*>(to) =
        make_uint4(static_cast<unsigned>(begin), static_cast<unsigned>(begin >> 32),
                   static_cast<unsigned>(end - begin), code);
  }
  Span* next_ = nullptr;
  Span* end_ = nullptr;
  long long last_ = 0;
};

template <bool stamps>
__device__ void record_sm(Record to) {
  if constexpr (stamps) {
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    if (threadIdx.x == 0) to.sms[blockIdx.x] = sm;
  }
}

// ---- Kernels: those of 03, 04 and 09, line by line, and what records ----

constexpr int tile_m = 128, tile_n = 128, consumers = 2;
constexpr int row_bytes = box_map::row_bytes;
constexpr int step_cols = row_bytes / sizeof(T);
constexpr int a_bytes = tile_m * row_bytes, b_bytes = tile_n * row_bytes;
constexpr int stage_bytes = a_bytes + b_bytes;

// wgmma and setmaxnreg exist in code for 90a only; for other architectures kernels are empty.
#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define HAS_WGMMA 1
#else
#define HAS_WGMMA 0
#endif

namespace single_buffer {  // 03

constexpr int block_size = 256;
constexpr int shared_bytes = 1024 + stage_bytes;

template <bool stamps>
__global__ void __launch_bounds__(block_size, 2)
    multiply(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
             Result<T> c, int steps, int across, Record record) {
#if HAS_WGMMA
  extern __shared__ char unaligned[];
  __shared__ std::uint64_t there;
  char* const a_tile = aligned_to_1024(unaligned);
  char* const b_tile = a_tile + a_bytes;
  const int row = static_cast<int>(blockIdx.x) / across * tile_m;
  const int col = static_cast<int>(blockIdx.x) % across * tile_n;
  const int group = static_cast<int>(threadIdx.x) / 128;
  const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
  record_sm<stamps>(record);
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  Recorder<stamps> ordering(record, orders, true), arriving(record, arrivals, true);
  Recorder<stamps> own(record, group == 0 ? warpgroup_1 : warpgroup_2, threadIdx.x % 128 == 0);
  float d[tile_n / 2] = {};
  for (int i = 0; i < steps; ++i) {
    if (threadIdx.x == 0) {
      ordering.begin();
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there,
                                     a_bytes + b_bytes);
      load_box(a_tile, &a, i * step_cols, row, &there);
      load_box(b_tile, &b, i * step_cols, col, &there);
      ordering.lap(order, i, 0);
    }
    own.begin();
    wait(&there, i & 1);
    own.lap(wait_full, i, 0);
    if (threadIdx.x == 0) arriving.lap(arrived, i, 0);
    const std::uint64_t left = matrix_at(a_tile + group * 64 * row_bytes);
    const std::uint64_t right = matrix_at(b_tile);
    wgmma_fence();
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      wgmma<T, tile_n>(d, left + 2 * part, right + 2 * part);
    }
    wgmma_commit();
    own.lap(issue, i, 0);
    wgmma_wait<0>();
    own.lap(wait_products, i, 0);
    __syncthreads();
    own.lap(meet, i, 0);
  }
  c.template store<tile_n>(d, row + group * 64 + warp * 16, col);
  own.lap(lay_down, steps - 1, 0);
#endif
}

}  // namespace single_buffer

/// A place in the ring, and the parity of the phase in which it is filled.
template <int stages>
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

/// Tells when each stage has become full, by a thread that the kernel does not have. It is one more
/// that has to say when a stage is empty, so that it misses none.
template <bool stamps, int stages>
__device__ void record_arrivals(Record to, std::uint64_t* full, std::uint64_t* empty, int steps) {
  if constexpr (stamps) {
    Recorder<stamps> arriving(to, arrivals, true);
    Stage<stages> stage;
    for (int i = 0; i < steps; ++i, stage.next()) {
      wait(&full[stage.index], stage.parity);
      arriving.lap(arrived, i, stage.index);
      ptx::mbarrier_arrive(&empty[stage.index]);
    }
  }
}

namespace ring {  // 04

constexpr int block_size = 128 * (1 + consumers), stages = 4;
constexpr int shared_bytes = 1024 + stages * stage_bytes;

template <bool stamps>
__global__ void __launch_bounds__(block_size, 1)
    multiply(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
             Result<T> c, int steps, int across, Record record) {
#if HAS_WGMMA
  extern __shared__ char unaligned[];
  __shared__ std::uint64_t full[stages], empty[stages];
  char* const shared = aligned_to_1024(unaligned);
  const int row = static_cast<int>(blockIdx.x) / across * tile_m;
  const int col = static_cast<int>(blockIdx.x) % across * tile_n;
  const int group = static_cast<int>(threadIdx.x) / 128;
  const int warp = static_cast<int>(threadIdx.x) / 32 % 4,
            lane = static_cast<int>(threadIdx.x) % 32;
  record_sm<stamps>(record);
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      ptx::mbarrier_init(&full[s], 1);
      ptx::mbarrier_init(&empty[s], 4 * consumers + stamps);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  Stage<stages> stage;
  if (group == 0) {
    fewer_registers<40>();
    if (threadIdx.x == 0) {
      Recorder<stamps> ordering(record, orders, true);
      for (int i = 0; i < steps; ++i, stage.next()) {
        wait(&empty[stage.index], stage.parity ^ 1);
        ordering.lap(wait_empty, i, stage.index);
        char* const tiles = shared + stage.index * stage_bytes;
        std::uint64_t* const barrier = &full[stage.index];
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier,
                                       stage_bytes);
        load_box(tiles, &a, i * step_cols, row, barrier);
        load_box(tiles + a_bytes, &b, i * step_cols, col, barrier);
        ordering.lap(order, i, stage.index);
      }
    } else if (threadIdx.x == 32) {
      record_arrivals<stamps, stages>(record, full, empty, steps);
    }
  } else {
    more_registers<232>();
    Recorder<stamps> own(record, group == 1 ? warpgroup_1 : warpgroup_2, threadIdx.x % 128 == 0);
    float d[tile_n / 2] = {};
    for (int i = 0; i < steps; ++i, stage.next()) {
      wait(&full[stage.index], stage.parity);
      own.lap(wait_full, i, stage.index);
      const char* const tiles = shared + stage.index * stage_bytes;
      const std::uint64_t left = matrix_at(tiles + (group - 1) * 64 * row_bytes);
      const std::uint64_t right = matrix_at(tiles + a_bytes);
      wgmma_fence();
#pragma unroll
      for (int part = 0; part < 4; ++part) {
        wgmma<T, tile_n>(d, left + 2 * part, right + 2 * part);
      }
      wgmma_commit();
      own.lap(issue, i, stage.index);
      wgmma_wait<0>();
      own.lap(wait_products, i, stage.index);
      if (lane == 0) ptx::mbarrier_arrive(&empty[stage.index]);
    }
    c.template store<tile_n>(d, row + (group - 1) * 64 + warp * 16, col);
    own.lap(lay_down, steps - 1, 0);
  }
#endif
}

}  // namespace ring

namespace take_turns {  // 09

constexpr int block_size = 128 * (1 + consumers), stages = 6, cluster_size = 2, band = 8;
[[maybe_unused]] constexpr int rows_64 = 64 * row_bytes / 16;
constexpr int box_bytes = 16 * row_bytes;
constexpr int shared_bytes = 1024 + stages * stage_bytes + consumers * 4 * 2 * box_bytes;

struct Place {
  int row, col;
};
[[maybe_unused]] __device__ Place place_of(int t, int down, int across) {
  const int first = t / (band * across) * band, in_band = t % (band * across);
  const int rows = min(band, down - first);
  return {first + in_band % rows, in_band / rows};
}

template <bool stamps>
__global__ void __launch_bounds__(block_size, 1)
    multiply(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
             const __grid_constant__ CUtensorMap out, Result<T> c, int steps, int down, int across,
             Record record) {
#if HAS_WGMMA
  extern __shared__ char unaligned[];
  __shared__ std::uint64_t full[stages], empty[stages], turn[consumers];
  char* const shared = aligned_to_1024(unaligned);
  const int pairs = down * across, first = static_cast<int>(blockIdx.x) / cluster_size;
  const int clusters = static_cast<int>(gridDim.x) / cluster_size;
  const cg::cluster_group cluster = cg::this_cluster();
  const int rank = static_cast<int>(cluster.block_rank());
  const int group = static_cast<int>(threadIdx.x) / 128;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  record_sm<stamps>(record);
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      ptx::mbarrier_init(&full[s], 1);
      ptx::mbarrier_init(&empty[s], 4 * cluster_size + stamps);
    }
    for (std::uint64_t& each : turn) ptx::mbarrier_init(&each, 4);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  cluster.sync();
  Stage<stages> stage;
  if (group == 0) {
    fewer_registers<40>();
    if (threadIdx.x == 0) {
      Recorder<stamps> ordering(record, orders, true);
      for (int t = first, tile_step = 0; t < pairs; t += clusters, tile_step += steps) {
        const Place at = place_of(t, down, across);
        const int row = (at.row * cluster_size + rank) * tile_m;
        constexpr int half = tile_n / cluster_size;
        for (int i = 0; i < steps; ++i, stage.next()) {
          wait(&empty[stage.index], stage.parity ^ 1);
          ordering.lap(wait_empty, tile_step + i, stage.index);
          char* const a_tile = shared + stage.index * stage_bytes;
          std::uint64_t* const barrier = &full[stage.index];
          ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                         barrier, stage_bytes);
          load_box(a_tile, &a, i * step_cols, row, barrier);
          load_box_to_all(a_tile + a_bytes + rank * half * row_bytes, &b, i * step_cols,
                          at.col * tile_n + rank * half, barrier, (1 << cluster_size) - 1);
          ordering.lap(order, tile_step + i, stage.index);
        }
      }
    } else if (threadIdx.x == 32) {
      const int tiles = first < pairs ? (pairs - first - 1) / clusters + 1 : 0;
      record_arrivals<stamps, stages>(record, full, empty, tiles * steps);
    }
  } else {
    more_registers<232>();
    const int warp = static_cast<int>(threadIdx.x) / 32 - 4;
    const bool rest = c.in_groups() < c.cols;  // columns that the TMA may not store
    char* const boxes = shared + stages * stage_bytes + warp * 2 * box_bytes;
    const auto release = [&](int index) {
      if (lane < cluster_size) arrive_at(&empty[index], static_cast<unsigned>(lane));
    };
    const int own = group - 1, other = 1 - own;
    Recorder<stamps> does(record, own == 0 ? warpgroup_1 : warpgroup_2, threadIdx.x % 128 == 0);
    int tile_step = own * steps;
    if (own == 1) stage.skip(steps);
    unsigned turns = 0;
    for (int t = first + own * clusters; t < pairs;
         t += consumers * clusters, ++turns, tile_step += consumers * steps) {
      const Place at = place_of(t, down, across);
      const int row = (at.row * cluster_size + rank) * tile_m + warp % 4 * 16;
      float d[tile_m / 64][tile_n / 2] = {};
      if (own == 1 || turns > 0) wait(&turn[own], (turns - (own == 0)) & 1);
      does.lap(wait_turn, tile_step, stage.index);
      for (int i = 0, before = 0; i < steps; ++i, before = stage.index, stage.next()) {
        wait(&full[stage.index], stage.parity);
        does.lap(wait_full, tile_step + i, stage.index);
        const std::uint64_t left = matrix_at(shared + stage.index * stage_bytes);
        const std::uint64_t right = matrix_at(shared + stage.index * stage_bytes + a_bytes);
        wgmma_fence();
#pragma unroll
        for (int part = 0; part < 4; ++part) {
#pragma unroll
          for (int half = 0; half < tile_m / 64; ++half) {
            wgmma<T, tile_n>(d[half], left + 2 * part + rows_64 * half, right + 2 * part);
          }
        }
        wgmma_commit();
        does.lap(issue, tile_step + i, stage.index);
        if (i == steps - 1 && lane == 0) ptx::mbarrier_arrive(&turn[other]);
        wgmma_wait<1>();
        does.lap(wait_products, tile_step + i, stage.index);
        if (i > 0) release(before);
      }
      wgmma_wait<0>();
      does.lap(wait_products, tile_step + steps - 1, (stage.index + stages - 1) % stages);
      release((stage.index + stages - 1) % stages);
      stage.skip(steps);
      constexpr int box_cols = row_bytes / sizeof(T);
#pragma unroll
      for (int i = 0; i < tile_m / 64 * (tile_n / box_cols); ++i) {
        const int half = i / (tile_n / box_cols), col = i % (tile_n / box_cols) * box_cols;
        char* const box = boxes + i % 2 * box_bytes;
        if (lane == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>());
        __syncwarp();
        c.template lay_down<box_cols>(box, d[half] + col / 2, row + 64 * half,
                                      at.col * tile_n + col);
        ptx::fence_proxy_async(ptx::space_shared);
        __syncwarp();
        if (lane == 0) {
          if (at.col * tile_n + col < c.in_groups()) {
            store_box(&out, at.col * tile_n + col, row + 64 * half, box);
          }
          ptx::cp_async_bulk_commit_group();
        }
        if (rest) c.template store_rest<box_cols>(box, row + 64 * half, at.col * tile_n + col);
      }
      does.lap(lay_down, tile_step + steps - 1, 0);
    }
    if (lane == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    if (turns > 0) does.lap(wait_stored, tile_step - (consumers - 1) * steps - 1, 0);
  }
  cluster.sync();
#endif
}

}  // namespace take_turns

// ---- Launches ----

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  const bool no_gpu = error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver;
  throw Failure(std::string(what) + ": " + cudaGetErrorString(error), no_gpu ? 3 : 1);
}

/// A product, and all that launches need: made once, so that launches follow each other closely.
struct Problem {
  operands::Product<T> of;
  CUtensorMap a, b, half_b, out;
  int steps, down, across, clusters;

  unsigned tiles() const { return static_cast<unsigned>(down) * static_cast<unsigned>(across); }
  unsigned cluster_blocks() const { return static_cast<unsigned>(2 * clusters); }
};

Problem problem_of(const operands::Product<T>& of, int sms) {
  Problem p = {};
  p.of = of;
  check(box_map::make(&p.a, of.a, of.m, of.k, of.lda, tile_m), "the tensor map of A");
  check(box_map::make(&p.b, of.b, of.n, of.k, of.ldb, tile_n), "the tensor map of B");
  check(box_map::make(&p.half_b, of.b, of.n, of.k, of.ldb, tile_n / 2), "the tensor map of B");
  check(box_map::make(&p.out, of.c, of.m, of.n, of.ldc, 16), "the tensor map of C");
  p.steps = static_cast<int>((of.k + step_cols - 1) / step_cols);
  p.down = static_cast<int>((of.m + tile_m - 1) / tile_m);
  p.across = static_cast<int>((of.n + tile_n - 1) / tile_n);
  p.clusters = std::min((p.down + 1) / 2 * p.across, std::max(sms / 2, 1));
  return p;
}

template <bool stamps>
void launch_single_buffer(const Problem& p, Record record) {
  single_buffer::multiply<stamps>
      <<<p.tiles(), single_buffer::block_size, single_buffer::shared_bytes>>>(
          p.a, p.b, result_of(p.of), p.steps, p.across, record);
}

template <bool stamps>
void launch_ring(const Problem& p, Record record) {
  ring::multiply<stamps><<<p.tiles(), ring::block_size, ring::shared_bytes>>>(
      p.a, p.b, result_of(p.of), p.steps, p.across, record);
}

template <bool stamps>
void launch_take_turns(const Problem& p, Record record) {
  cudaLaunchAttribute shape = {};
  shape.id = cudaLaunchAttributeClusterDimension;
  shape.val.clusterDim.x = take_turns::cluster_size;
  shape.val.clusterDim.y = shape.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = p.cluster_blocks();
  config.blockDim = take_turns::block_size;
  config.dynamicSmemBytes = take_turns::shared_bytes;
  config.attrs = &shape;
  config.numAttrs = 1;
  check(cudaLaunchKernelEx(&config, take_turns::multiply<stamps>, p.a, p.half_b, p.out,
                           result_of(p.of), p.steps, (p.down + 1) / 2, p.across, record),
        "a launch");
}

struct Version {
  const char* id;
  void (*plain)(const Problem&, Record);
  void (*stamped)(const Problem&, Record);
  const void* kernels[2];
  int shared_bytes;
};
template <class Kernel>
const void* address(Kernel* kernel) {
  return reinterpret_cast<const void*>(kernel);
}
std::vector<Version> versions() {
  return {{"03",
           launch_single_buffer<false>,
           launch_single_buffer<true>,
           {address(single_buffer::multiply<false>), address(single_buffer::multiply<true>)},
           single_buffer::shared_bytes},
          {"04",
           launch_ring<false>,
           launch_ring<true>,
           {address(ring::multiply<false>), address(ring::multiply<true>)},
           ring::shared_bytes},
          {"09",
           launch_take_turns<false>,
           launch_take_turns<true>,
           {address(take_turns::multiply<false>), address(take_turns::multiply<true>)},
           take_turns::shared_bytes}};
}

// ---- Inputs and check ----

/// Whole numbers from -7 to 7: products and sums are exact, in any order, up to k = 2^18.
__host__ __device__ int number(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = (i + 1) * 0x9E3779B97F4A7C15ull + seed * 0xD1B54A32D192ED03ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  return static_cast<int>((z ^ (z >> 31)) >> 33) % 15 - 7;
}

__global__ void fill(T* to, std::int64_t count, std::uint64_t seed) {
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
    to[i] = __float2bfloat16(static_cast<float>(number(seed, static_cast<std::uint64_t>(i))));
  }
}

/// Counts the elements of C that are not right, in rows 0, `every`, 2 `every` and so on.
__global__ void count_wrong(operands::Product<T> of, std::int64_t every, unsigned* wrong) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * every;
  const std::int64_t col = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= of.m || col >= of.n) return;
  float sum = 0;
  for (std::int64_t p = 0; p < of.k; ++p) {
    sum += __bfloat162float(of.a[row * of.lda + p]) * __bfloat162float(of.b[col * of.ldb + p]);
  }
  const T c = of.c[row * of.ldc + col];
  if (!(__bfloat162float(c) == __bfloat162float(__float2bfloat16(sum)))) atomicAdd(wrong, 1u);
}

template <class Element>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    check(cudaMalloc(reinterpret_cast<void**>(&data_), bytes()), "cudaMalloc");
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  Element* data() const { return data_; }
  std::size_t bytes() const { return count_ * sizeof(Element); }
  void set(int byte) const { check(cudaMemset(data_, byte, bytes()), "cudaMemset"); }
  std::vector<Element> host() const {
    std::vector<Element> host(count_);
    check(cudaMemcpy(host.data(), data_, bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return host;
  }

 private:
  Element* data_ = nullptr;
  std::size_t count_;
};

/// Launches once onto a C of NaN and compares, with a simple kernel, all of C or a part of its
/// rows.
void check_result(const char* id, const Problem& p, Record record,
                  void (*launch)(const Problem&, Record)) {
  const operands::Product<T>& of = p.of;
  check(cudaMemset(of.c, 0xFF, sizeof(T) * static_cast<std::size_t>(of.m * of.ldc)), "cudaMemset");
  launch(p, record);
  check(cudaGetLastError(), id);
  const std::int64_t every = (of.m * of.n * of.k >> 34) | 1;  // odd: all places of a tile in turn
  const DeviceArray<unsigned> wrong(1);
  wrong.set(0);
  const dim3 grid(static_cast<unsigned>((of.n + 127) / 128),
                  static_cast<unsigned>((of.m + every - 1) / every));
  count_wrong<<<grid, 128>>>(of, every, wrong.data());
  check(cudaGetLastError(), "count_wrong");
  if (const unsigned count = wrong.host()[0]) {
    throw Failure(std::string(id) + ": " + std::to_string(count) + " elements of C are wrong", 1);
  }
}

// ---- Measuring ----

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record() const { check(cudaEventRecord(event_), "cudaEventRecord"); }
  double us_since(const Event& start) const {
    float ms = 0;
    check(cudaEventSynchronize(event_), "cudaEventSynchronize");
    check(cudaEventElapsedTime(&ms, start.event_, event_), "cudaEventElapsedTime");
    return 1000.0 * static_cast<double>(ms);
  }

 private:
  cudaEvent_t event_ = nullptr;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Times {
  double plain, stamped;  // microseconds per launch
};

/// Medians of batches without and with stamps, in turns. What is read lies in the L2 cache if it
/// fits.
Times measure(const Version& version, const Problem& p, Record record) {
  constexpr int batches = 15, launches = 50;
  const Event start, stop;
  const auto batch = [&](void (*launch)(const Problem&, Record)) {
    start.record();
    for (int i = 0; i < launches; ++i) launch(p, record);
    stop.record();
    const double us = stop.us_since(start) / launches;
    check(cudaGetLastError(), version.id);
    return us;
  };
  std::vector<double> plain, stamped;
  batch(version.plain);
  batch(version.stamped);
  for (int i = 0; i < batches; ++i) {
    plain.push_back(batch(version.plain));
    stamped.push_back(batch(version.stamped));
  }
  return {median(plain), median(stamped)};
}

// ---- What one SM did ----

/// The blocks of the SM that recorded most; of those with as many, of the first.
std::vector<std::size_t> blocks_of_one_sm(const std::vector<Span>& spans,
                                          const std::vector<unsigned>& sms, std::size_t blocks) {
  constexpr std::size_t per_block = std::size_t{roles} * most_spans;
  std::vector<std::size_t> recorded(1 + *std::max_element(sms.begin(), sms.begin() + blocks));
  for (std::size_t i = 0; i < blocks * per_block; ++i) {
    recorded[sms[i / per_block]] += spans[i].what() != nothing;
  }
  const auto most = std::max_element(recorded.begin(), recorded.end());
  std::vector<std::size_t> those;
  if (*most == 0) return those;
  for (std::size_t block = 0; block < blocks; ++block) {
    if (sms[block] == static_cast<unsigned>(most - recorded.begin())) those.push_back(block);
  }
  return those;
}

struct Recorded {
  std::string lines;  // CSV
  long long clocks;   // from the first stamp to the last one
  bool complete;
};

Recorded lines_of(const char* id, const std::vector<Span>& spans, const std::vector<unsigned>& sms,
                  std::size_t blocks, int steps) {
  const std::vector<std::size_t> those = blocks_of_one_sm(spans, sms, blocks);
  if (those.empty()) {
    throw Failure("built without code for compute capability 9.0a (sm_90a): nothing was recorded",
                  3);
  }
  const auto first_of = [&](std::size_t block, std::size_t role) {
    return spans.data() + (block * roles + role) * most_spans;
  };
  long long zero = INT64_MAX, end = 0;
  bool complete = true;
  for (const std::size_t block : those) {
    for (std::size_t role = 0; role < roles; ++role) {
      const Span* const first = first_of(block, role);
      complete = complete && first[most_spans - 1].what() == nothing;
      for (const Span* s = first; s < first + most_spans && s->what() != nothing; ++s) {
        zero = std::min(zero, s->begin);
        end = std::max(end, s->begin + s->clocks);
      }
    }
  }
  std::string lines;
  for (const std::size_t block : those) {
    for (std::size_t role = 0; role < roles; ++role) {
      const Span* const first = first_of(block, role);
      for (const Span* s = first; s < first + most_spans && s->what() != nothing; ++s) {
        const long long until = s->begin + s->clocks - zero;
        char line[200];
        std::snprintf(line, sizeof line, "%s,%u,%zu,%s,%s,%d,%d,%d,%lld,%lld\n", id, sms[block],
                      block, role_names[role], names[s->what()], s->step() / steps,
                      s->step() % steps, s->stage(), s->what() == arrived ? until : s->begin - zero,
                      until);
        lines += line;
      }
    }
  }
  return {lines, end - zero, complete};
}

/// The file of --out. Opened first: a name that cannot be written costs no measurement.
class Table {
 public:
  explicit Table(const std::string& name) : name_(name) {
    if (name.empty()) return;
    file_ = std::fopen(name.c_str(), "wb");
    if (!file_) throw Failure("--out " + name + ": " + std::strerror(errno), 2);
  }
  ~Table() {
    if (file_) std::fclose(file_);
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  void write(const std::string& text) {
    if (file_ && std::fputs(text.c_str(), file_) < 0) fail();
  }
  void close() {
    std::FILE* const file = file_;
    file_ = nullptr;
    if (file && std::fclose(file) != 0) fail();
  }

 private:
  void fail() const { throw Failure("--out " + name_ + ": could not be written", 1); }
  std::string name_;
  std::FILE* file_ = nullptr;
};

void run(const Options& o) {
  cudaDeviceProp gpu{};
  check(cudaGetDeviceProperties(&gpu, 0), "no usable NVIDIA GPU");
  if (gpu.major != 9 || gpu.minor != 0) {
    throw Failure("needs a GPU of compute capability 9.0; the " + std::string(gpu.name) + " has " +
                      std::to_string(gpu.major) + "." + std::to_string(gpu.minor),
                  3);
  }
  Table table(o.out);
  const auto elements = [](std::int64_t rows, std::int64_t cols) {
    return static_cast<std::size_t>(rows * cols);
  };
  const DeviceArray<T> a(elements(o.m, o.k)), b(elements(o.n, o.k)), c(elements(o.m, o.n));
  fill<<<1024, 256>>>(a.data(), o.m * o.k, 1);
  fill<<<1024, 256>>>(b.data(), o.n * o.k, 2);
  check(cudaGetLastError(), "fill");
  const operands::Product<T> of = {a.data(), b.data(), c.data(), o.m, o.n, o.k,
                                   o.k,      o.k,      o.n,      1,   0};
  if (!operands::valid(of)) throw Failure("the kernels refuse this size", 2);
  const Problem p = problem_of(of, gpu.multiProcessorCount);
  const std::size_t most_blocks = std::max(p.tiles(), p.cluster_blocks());
  const DeviceArray<Span> spans(most_blocks * roles * most_spans);
  const DeviceArray<unsigned> sms(most_blocks);
  sms.set(0);
  const Record record = {spans.data(), sms.data()};

  char line[300];
  std::snprintf(line, sizeof line, "# %s, m = %lld, n = %lld, k = %lld, bf16\n", gpu.name,
                static_cast<long long>(o.m), static_cast<long long>(o.n),
                static_cast<long long>(o.k));
  table.write(line);
  std::fputs(line + 2, stdout);
  std::string lines;
  std::printf("%-8s %14s %12s %12s %10s\n", "version", "without stamps", "with", "their cost",
              "clocks");
  for (const Version& version : versions()) {
    for (const void* kernel : version.kernels) {
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 version.shared_bytes),
            version.id);
    }
    check_result(version.id, p, record, version.plain);
    const Times times = measure(version, p, record);
    // Last, the launch that is shown: behind others, as those that were measured.
    for (int i = 0; i < 3; ++i) version.stamped(p, record);
    spans.set(0);
    check_result(version.id, p, record, version.stamped);
    const std::size_t blocks = version.id == std::string("09") ? p.cluster_blocks() : p.tiles();
    const Recorded recorded = lines_of(version.id, spans.host(), sms.host(), blocks, p.steps);
    std::printf("%-8s %11.2f us %9.2f us %10.1f %% %10lld\n", version.id, times.plain,
                times.stamped, 100 * (times.stamped / times.plain - 1), recorded.clocks);
    if (!recorded.complete) {
      std::printf("  %s: only the first %d spans of a role in a block\n", version.id, most_spans);
    }
    std::fflush(stdout);
    std::snprintf(line, sizeof line, "# %s: %.2f us without stamps, %.2f us with\n", version.id,
                  times.plain, times.stamped);
    table.write(line);
    lines += recorded.lines;
  }
  table.write("version,sm,block,role,what,tile,step,stage,begin,end\n" + lines);
  table.close();
  std::puts(
      "Times per launch, one behind the other, medians. Clocks: of one SM, from the first stamp "
      "to\n"
      "the last. C is right, with and without stamps.");
}

#endif

// ---- Command line ----

constexpr const char* usage =
    R"(usage: 11_matmul_tensor_cores_timeline [options]
  --size MxNxK  2048x2048x1024; each a multiple of 8 from 8 to 16384
  --out FILE    write the spans of one SM as CSV, for draw_timeline
  --help
)";

[[noreturn]] void bad(const std::string& line) { throw Failure(line + " (--help lists all)", 2); }

void read_size(const std::string& text, Options& o) {
  const char* at = text.c_str();
  for (std::int64_t* const size : {&o.m, &o.n, &o.k}) {
    char* end = nullptr;
    const bool begins = *at >= '0' && *at <= '9';
    const long value = std::strtol(at, &end, 10);
    const bool ends = *end == (size == &o.k ? '\0' : 'x');
    if (!begins || !ends || value < 8 || value > 16384 || value % 8 != 0) {
      bad("--size '" + text + "': three multiples of 8 from 8 to 16384, as 2048x2048x1024");
    }
    *size = value;
    at = end + 1;
  }
}

Options parse(const std::vector<std::string>& arguments) {
  Options o;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    const auto value = [&]() -> const std::string& {
      if (i + 1 == arguments.size()) bad(name + " needs a value");
      return arguments[++i];
    };
    if (name == "--size") {
      read_size(value(), o);
    } else if (name == "--out") {
      o.out = value();
      if (o.out.empty()) bad("--out needs the name of a file");
    } else if (name == "--help" || name == "-h") {
      o.help = true;
    } else {
      bad("no option '" + name + "'");
    }
  }
  return o;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options o = parse(std::vector<std::string>(argv + 1, argv + argc));
    if (o.help) {
      std::fputs(usage, stdout);
    } else {
      run(o);
    }
    return 0;
  } catch (const Failure& failure) {
    std::fprintf(stderr, "%s: %s\n", program, failure.what());
    return failure.code;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "%s: not enough memory\n", program);
    return 1;
  }
}
