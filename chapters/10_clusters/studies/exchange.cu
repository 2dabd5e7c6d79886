// Study: what the network between SMs moves. Every block of a cluster moves a tile of 16 KiB to the
//   next one, again and again, in six ways: the other one loads it (pull); or threads store it, add
//   it atomically, send it by st.async, add it by red.async, or order bulk copies (push).
// Predicts: a load waits for the way there and back, a store for nothing: push is faster than pull.
//   An atomic addition moves four bytes per packet. One order for 16 KiB costs no thread anything.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

namespace exchange_study {

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

constexpr int block_size = 512;
constexpr int vectors = 1024;  // of a tile: 16 KiB
constexpr int mine = vectors / block_size;
constexpr int tile_bytes = vectors * static_cast<int>(sizeof(uint4));
constexpr int places = 8;
constexpr int rounds = 64;

enum class Move { load, store, add, red_async, st_async, bulk };

/// Does a barrier tell that a tile has come?
template <Move way>
constexpr bool tells = way == Move::red_async || way == Move::st_async || way == Move::bulk;

__device__ void wait(std::uint64_t* barrier, unsigned parity) {
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, barrier, parity)) {
  }
}

__device__ uint4 plus(uint4 a, uint4 b) {
  return make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/// A tile per block. load: out[i] = the sum over k < rounds of w[(i + 64 k) % vectors], where w is
/// the next block's tile. Otherwise w is the tile of the block before: it is put into the places in
/// turn, and out = the sum of all places.
template <Move way>
__global__ void __launch_bounds__(block_size) exchange(const uint4* in, uint4* out) {
  extern __shared__ __align__(128) uint4 s[];  // this block's tile, then the places
  __shared__ std::uint64_t full[places];
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x);
  const int next = static_cast<int>((cluster.block_rank() + 1) % cluster.num_blocks());
  const std::int64_t first = std::int64_t{blockIdx.x} * vectors;
  uint4 v[mine], sum[mine];
  for (int k = 0; k < mine; ++k) {
    v[k] = s[t + k * block_size] = in[first + t + k * block_size];
    sum[k] = make_uint4(0, 0, 0, 0);
    for (int p = 1; p <= places; ++p) s[p * vectors + t + k * block_size] = sum[k];
  }
  if (t == 0) {
    for (std::uint64_t& barrier : full) ptx::mbarrier_init(&barrier, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  ptx::fence_proxy_async(ptx::space_shared);  // bulk copies use what threads have written
  cluster.sync();
  uint4* const there = cluster.map_shared_rank(s, next);
  for (int round = 0; round < rounds; ++round) {
    const int p = round % places;
    uint4* const to = there + (p + 1) * vectors + t;
    if (tells<way>) {
      std::uint64_t* const barrier = cluster.map_shared_rank(&full[p], next);
      if (t == 0) {
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                       &full[p], tile_bytes);
        if (way == Move::bulk) {
          ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, to, s, tile_bytes, barrier);
        }
      }
      for (int k = 0; k < mine && way == Move::st_async; ++k) {
        const unsigned words[4] = {v[k].x, v[k].y, v[k].z, v[k].w};
        ptx::st_async(&to[k * block_size].x, words, barrier);
      }
      for (int k = 0; k < mine && way == Move::red_async; ++k) {
        ptx::red_async(ptx::op_add, &to[k * block_size].x, v[k].x, barrier);
        ptx::red_async(ptx::op_add, &to[k * block_size].y, v[k].y, barrier);
        ptx::red_async(ptx::op_add, &to[k * block_size].z, v[k].z, barrier);
        ptx::red_async(ptx::op_add, &to[k * block_size].w, v[k].w, barrier);
      }
    }
    for (int k = 0; k < mine; ++k) {
      if (way == Move::load) {
        sum[k] = plus(sum[k], there[(t + k * block_size + 64 * round) % vectors]);
      }
      if (way == Move::store) to[k * block_size] = v[k];
      if (way == Move::add) {
        atomicAdd(&to[k * block_size].x, v[k].x);
        atomicAdd(&to[k * block_size].y, v[k].y);
        atomicAdd(&to[k * block_size].z, v[k].z);
        atomicAdd(&to[k * block_size].w, v[k].w);
      }
    }
    if (p != places - 1) continue;
    if (tells<way>) {
      for (std::uint64_t& barrier : full) wait(&barrier, round / places % 2);
    }
    cluster.sync();  // all places have been filled, everywhere, before they are filled again
  }
  for (int k = 0; k < mine; ++k) {
    for (int p = 1; p <= places && way != Move::load; ++p) {
      sum[k] = plus(sum[k], s[p * vectors + t + k * block_size]);
    }
    out[first + t + k * block_size] = sum[k];
  }
}

/// Exchanges among clusters of `size` blocks (1, 2, 4, 8 or 16) n words: 4096 per block. Device
/// pointers, multiples of 16 bytes. \returns cudaErrorInvalidValue for other pointers or sizes, n
/// that is no multiple of 4096 `size`, or an error of CUDA.
template <Move way>
cudaError_t exchange_by(const unsigned* in, unsigned* out, std::int64_t n, std::int64_t size,
                        cudaStream_t stream) {
  const auto aligned = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; };
  const bool fits = size > 0 && size <= 16 && (size & (size - 1)) == 0;
  if (!fits || n < 0 || n > std::int64_t{1} << 40 || n % (4 * vectors * size) != 0 ||
      !aligned(in) || !aligned(out)) {
    return cudaErrorInvalidValue;
  }
  if (n == 0) return cudaSuccess;
  constexpr int bytes = (1 + places) * tile_bytes;
  if (cudaError_t error =
          cudaFuncSetAttribute(exchange<way>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)) {
    return error;
  }
  if (cudaError_t error = cudaFuncSetAttribute(
          exchange<way>, cudaFuncAttributeNonPortableClusterSizeAllowed, size > 8)) {
    return error;
  }
  cudaLaunchAttribute shape;
  shape.id = cudaLaunchAttributeClusterDimension;
  shape.val.clusterDim.x = static_cast<unsigned>(size);
  shape.val.clusterDim.y = shape.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(n / (4 * vectors)));
  config.blockDim = dim3(block_size);
  config.dynamicSmemBytes = bytes;
  config.stream = stream;
  config.attrs = &shape;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, exchange<way>, reinterpret_cast<const uint4*>(in),
                            reinterpret_cast<uint4*>(out));
}

cudaError_t load(const unsigned* in, unsigned* out, std::int64_t n, std::int64_t size,
                 cudaStream_t stream) {
  return exchange_by<Move::load>(in, out, n, size, stream);
}
cudaError_t store(const unsigned* in, unsigned* out, std::int64_t n, std::int64_t size,
                  cudaStream_t stream) {
  return exchange_by<Move::store>(in, out, n, size, stream);
}
cudaError_t add(const unsigned* in, unsigned* out, std::int64_t n, std::int64_t size,
                cudaStream_t stream) {
  return exchange_by<Move::add>(in, out, n, size, stream);
}
cudaError_t red_async(const unsigned* in, unsigned* out, std::int64_t n, std::int64_t size,
                      cudaStream_t stream) {
  return exchange_by<Move::red_async>(in, out, n, size, stream);
}
cudaError_t st_async(const unsigned* in, unsigned* out, std::int64_t n, std::int64_t size,
                     cudaStream_t stream) {
  return exchange_by<Move::st_async>(in, out, n, size, stream);
}
cudaError_t bulk(const unsigned* in, unsigned* out, std::int64_t n, std::int64_t size,
                 cudaStream_t stream) {
  return exchange_by<Move::bulk>(in, out, n, size, stream);
}

}  // namespace exchange_study
