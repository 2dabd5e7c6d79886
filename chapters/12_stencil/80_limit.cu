// Idea: 05 with less work for each point. A thread computes two rows. The loop over planes is
//   unrolled as often as the ring has planes, so that the queue never moves and every address is
//   known. No warp waits for another that is less than a plane behind. Two or three planes are in
//   flight, not as many as the ring has place for.
// Predicts: with radius 4, 14 vectors from shared memory for 8 results instead of 22, and no
//   instruction for the queue or for an address: the time that the bytes take.
// Still wrong: needs compute capability 9.0, rows of whole vectors and zeros beyond the edges;
//   other fields go to 04, or to a thread per point.
// Calls 04_vectors.cu
// Calls 03_tile.cu
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cuda/ptx>

#include "box.hpp"
#include "edge.cuh"
#include "four.cuh"
#include "pieces.hpp"
#include "plain.cuh"

namespace limit {

enum Equation {
  heat,   ///< next = star(now): 8 bytes per point
  wave,   ///< next = 2 now - before + star(now): 12
  layers  ///< next = 2 now - before + speed star(now): 16
};

namespace ptx = cuda::ptx;

constexpr int warps = 16, rows_each = 2;
constexpr int block_cols = 128, block_rows = warps * rows_each;
constexpr int most_planes = 64;  // of a block; longer pieces are slower
constexpr int halo_cols = 4;     // columns left and right of a block: as many as the largest radius
constexpr int row_bytes = 4 * block_cols, halo_bytes = 4 * halo_cols;

template <int radius>
struct Ring {
  static constexpr int queue = 2 * radius + 1;
  static constexpr int stages = radius <= 2 ? 2 * queue : queue;  // so that places never move
  static constexpr int rows = block_rows + 2 * radius;
  // A stage holds three boxes: the block's columns with the halo above and below, and the halo left
  // and right of the block's rows. So the rows of the large box are whole lines of 128 bytes.
  static constexpr int side_bytes = block_rows * halo_bytes;
  static constexpr int left = rows * row_bytes, right = left + side_bytes;  // where they begin
  static constexpr int bytes = right + side_bytes;
  // One block per SM: with two, more planes are in flight, and DRAM is slower.
  static constexpr int shared_bytes = std::max(stages * bytes, 116 * 1024);
};

__device__ void wait(std::uint64_t* barrier, int parity) {
  while (!ptx::mbarrier_try_wait_parity(barrier, parity)) {
  }
}

// snippet: kernel
/// Arrays that the equation does not have are null.
template <int radius, Equation equation>
__global__ void __launch_bounds__(32 * warps)
    step(const __grid_constant__ CUtensorMap now, const __grid_constant__ CUtensorMap halo_map,
         const float* before, const float* speed, const __grid_constant__ Star star, float* next,
         edge::Field f, int planes_each) {
  using R = Ring<radius>;
  constexpr int stages = R::stages, queued = R::queue;
  // Planes in flight once the ring has been filled: with fewer DRAM waits, with more it is slower.
  constexpr int fetched = equation == heat ? 3 : 2;
  static_assert(radius + 1 + fetched <= stages, "a plane is held for radius + 1 planes");
  extern __shared__ __align__(128) char ring[];
  __shared__ std::uint64_t full[stages], empty[stages];
  const int lane = threadIdx.x, warp = threadIdx.y;
  const int x0 = blockIdx.x * block_cols, y0 = blockIdx.y * block_rows;
  const int first = blockIdx.z * planes_each, last = min(first + planes_each, f.planes);
  // Planes are counted from first - radius on; plane p lies in stage p % stages.
  const int count = last - first + 2 * radius;
  const bool producer = warp == 0 && lane == 0;
  const auto fetch = [&](int stage, int p) {
    const auto copy = [&](int to, const CUtensorMap& map, int x, int y) {
      const std::int32_t at[] = {x, y, first - radius + p};
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, ring + stage * R::bytes + to,
                                &map, at, &full[stage]);
    };
    copy(0, now, x0, y0 - radius);
    copy(R::left, halo_map, x0 - halo_cols, y0);
    copy(R::right, halo_map, x0 + block_cols, y0);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                   &full[stage], R::bytes);
  };
  if (producer) {
    for (int stage = 0; stage < stages; ++stage) {
      ptx::mbarrier_init(&full[stage], 1);
      ptx::mbarrier_init(&empty[stage], warps);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    for (int stage = 0; stage < min(stages, count); ++stage) fetch(stage, stage);
  }
  __syncthreads();  // no thread uses a barrier before it is initialised

  const int x = x0 + 4 * lane, y = y0 + warp * rows_each;
  // Where in a stage: this lane's vector, `radius` rows above the warp's first, and those left and
  // right of it in the warp's first row.
  const int own_at = warp * rows_each * row_bytes + 16 * lane,
            side_at = warp * rows_each * halo_bytes;
  const int left_at = lane > 0 ? own_at + radius * row_bytes - 16 : R::left + side_at;
  const int right_at = lane < 31 ? own_at + radius * row_bytes + 16 : R::right + side_at;
  const int left_pitch = lane > 0 ? row_bytes : halo_bytes;
  const int right_pitch = lane < 31 ? row_bytes : halo_bytes;
  const auto vector = [&](int stage, int at) {
    return *reinterpret_cast<const float4*>(ring + stage * R::bytes + at);
  };
  const std::int64_t plane_points = std::int64_t{f.rows} * f.cols;
  std::int64_t at = edge::offset(f, first, y, x);
  bool there[rows_each];
#pragma unroll
  for (int r = 0; r < rows_each; ++r) there[r] = x < f.cols && y + r < f.rows;
  float4 queue[queued][rows_each], past[rows_each] = {}, factor[rows_each] = {};
  const auto load = [&](int r, std::int64_t from) {  // the parts of a result that no other needs
    if (!there[r]) return;
    if (equation != heat) past[r] = *reinterpret_cast<const float4*>(before + from + r * f.cols);
    if (equation == layers) factor[r] = *reinterpret_cast<const float4*>(speed + from + r * f.cols);
  };
#pragma unroll
  for (int r = 0; r < rows_each; ++r) load(r, at);
  int parity = 0;
  for (int base = 0; base < count; base += stages, parity ^= 1) {
#pragma unroll
    for (int j = 0; j < stages; ++j) {
      const int p = base + j, middle = (j + stages - radius) % stages;
      if (p >= count) break;
      wait(&full[j], parity);
      const auto of_plane = [&](int back) { return (j + stages - back) % queued; };
#pragma unroll
      for (int r = 0; r < rows_each; ++r)
        queue[j % queued][r] = vector(j, own_at + (radius + r) * row_bytes);
      if (p >= 2 * radius) {  // the plane `radius` before this one has all its neighbours
        float4 sum[rows_each], start[rows_each], times[rows_each];
#pragma unroll
        for (int r = 0; r < rows_each; ++r) {
          const float4 own = queue[of_plane(radius)][r];
          start[r] = four::extrapolated(own, past[r]), times[r] = factor[r];
          if (p + 1 < count) load(r, at + plane_points);
          sum[r] = equation == wave ? start[r] : float4{};
          four::add(sum[r], star.centre, own);
          alignas(16) float window[12];  // from x - 4 to x + 7
          *reinterpret_cast<float4*>(window) = vector(middle, left_at + r * left_pitch);
          *reinterpret_cast<float4*>(window + 4) = own;
          *reinterpret_cast<float4*>(window + 8) = vector(middle, right_at + r * right_pitch);
          four::add_along_x<radius>(sum[r], star.x, window);
#pragma unroll
          for (int k = 1; k <= radius; ++k)
            four::add(sum[r], star.z[k], queue[of_plane(radius - k)][r],
                      queue[of_plane(radius + k)][r]);
        }
#pragma unroll
        for (int row = -radius; row < rows_each + radius; ++row) {
          const float4 v = row >= 0 && row < rows_each
                               ? queue[of_plane(radius)][row]
                               : vector(middle, own_at + (radius + row) * row_bytes);
#pragma unroll
          for (int r = 0; r < rows_each; ++r) {
            const int k = row < r ? r - row : row - r;
            if (k >= 1 && k <= radius) four::add(sum[r], star.y[k], v);
          }
        }
#pragma unroll
        for (int r = 0; r < rows_each; ++r) {
          if (equation == layers) sum[r] = four::multiply_add(times[r], sum[r], start[r]);
          if (there[r]) *reinterpret_cast<float4*>(next + at + r * f.cols) = sum[r];
        }
        at += plane_points;
      }
      if (p >= radius) {
        ptx::fence_proxy_async(ptx::space_shared);  // the TMA overwrites what this thread has read
        __syncwarp();
        if (lane == 0) ptx::mbarrier_arrive(&empty[middle]);
      }
      const int later = p + fetched, to = (j + fetched) % stages;
      if (producer && later >= stages && later < count) {
        wait(&empty[to], j + fetched >= stages ? parity : parity ^ 1);  // plane later - stages
        fetch(to, later);
      }
    }
  }
}
// /snippet

}  // namespace limit

namespace vectors {
cudaError_t step(const float* now, const float* before, const Star& star, float* next,
                 std::int64_t planes, std::int64_t rows, std::int64_t cols, std::int64_t radius,
                 std::int64_t rule, cudaStream_t stream);
}

namespace limit {

/// Launches a step whose size and field were checked. \returns an error of CUDA.
template <Equation equation>
cudaError_t launch(const float* now, const float* before, const float* speed, const Star& star,
                   float* next, const edge::Field& f, std::int64_t radius, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  edge::choose<4>(radius, [&](auto r) {
    CUtensorMap map, halo_map;
    using R = Ring<r()>;
    error = box::make(&map, now, f, R::rows, block_cols, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
    if (error != cudaSuccess) return;
    error = box::make(&halo_map, now, f, block_rows, halo_cols, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
    if (error != cudaSuccess) return;
    const auto kernel = step<r(), equation>;
    error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, R::shared_bytes);
    if (error != cudaSuccess) return;
    dim3 grid = edge::grid(f, 1, block_rows, block_cols);
    int each = 0;
    error = pieces::choose(f.planes, std::int64_t{grid.x} * grid.y, 1, 2 * r(), most_planes, &each);
    if (error != cudaSuccess) return;
    grid.z = static_cast<unsigned>((f.planes + each - 1) / each);
    kernel<<<grid, dim3(32, warps), R::shared_bytes, stream>>>(map, halo_map, before, speed, star,
                                                               next, f, each);
    error = cudaGetLastError();
  });
  return error;
}

/// One step of a wave: next = 2 now - before + star(now), point by point, where star(now) is the
/// sum of a point and its neighbours, times their coefficients. Fields of planes x rows x cols
/// floats, device pointers; next must not overlap the others. rule: an edge::Rule.
/// \returns cudaErrorInvalidValue for a radius that is not 1 to 4, planes above 4,194,240, rows
/// above 1,048,560, cols above 2^31 - 4097, another rule; or an error of CUDA.
cudaError_t step(const float* now, const float* before, const Star& star, float* next,
                 std::int64_t planes, std::int64_t rows, std::int64_t cols, std::int64_t radius,
                 std::int64_t rule, cudaStream_t stream) {
  if (!edge::fit(planes, rows, cols, rule, most_planes, 16) || radius < 1 || radius > 4)
    return cudaErrorInvalidValue;
  if (planes == 0 || rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(planes, rows, cols, rule, now, before, next);
  if (!f.vectors || rule != edge::fixed)
    return vectors::step(now, before, star, next, planes, rows, cols, radius, rule, stream);
  return launch<wave>(now, before, nullptr, star, next, f, radius, stream);
}

/// One step of heat: next = star(now). The rest as above, but planes are at most 65,535.
cudaError_t step_heat(const float* now, const Star& star, float* next, std::int64_t planes,
                      std::int64_t rows, std::int64_t cols, std::int64_t radius, std::int64_t rule,
                      cudaStream_t stream) {
  if (!edge::fit(planes, rows, cols, rule, 1, plain::block_rows) || radius < 1 || radius > 4)
    return cudaErrorInvalidValue;
  if (planes == 0 || rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(planes, rows, cols, rule, now, next);
  if (!f.vectors || rule != edge::fixed)
    return plain::launch(now, nullptr, nullptr, star, next, f, radius, stream);
  return launch<heat>(now, nullptr, nullptr, star, next, f, radius, stream);
}

/// One step of a wave whose speed depends on the point: next = 2 now - before + speed star(now).
/// speed: the square of the speed, in units of the coefficients, a field of its own. The rest as
/// for heat.
cudaError_t step_layers(const float* now, const float* before, const float* speed, const Star& star,
                        float* next, std::int64_t planes, std::int64_t rows, std::int64_t cols,
                        std::int64_t radius, std::int64_t rule, cudaStream_t stream) {
  if (!edge::fit(planes, rows, cols, rule, 1, plain::block_rows) || radius < 1 || radius > 4)
    return cudaErrorInvalidValue;
  if (planes == 0 || rows == 0 || cols == 0) return cudaSuccess;
  const edge::Field f = edge::field(planes, rows, cols, rule, now, before, speed, next);
  if (!f.vectors || rule != edge::fixed)
    return plain::launch(now, before, speed, star, next, f, radius, stream);
  return launch<layers>(now, before, speed, star, next, f, radius, stream);
}

}  // namespace limit
